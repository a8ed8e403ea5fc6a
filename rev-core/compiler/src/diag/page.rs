//! The table of codes as the page `docs/diagnostics.md`.

use std::fmt::Write;

use super::Code;

const INTRODUCTION: &str = "\
# Diagnostics

A wrong program is rejected when it is compiled, with the piece of source at fault, the other place
that matters, and a way to repair it. All errors of a function are reported at once. Each kind of
error has a code; this page says for each code what the rule is, why it exists, and how programs that
break it are repaired. Two words are in most of them: a *place* is what a statement can change (a
variable, an element, a field), an *ancilla* is storage of a function's own
([ancillas](language.md#ancillas)).

This page is made from the table in `rev-core/compiler/src/diag/code.rs`, which the compiler uses
(`cargo run -p rev-compiler --example diagnostics > docs/diagnostics.md` writes it, a test compares it).
";

/// The page, in Markdown.
pub fn page() -> String {
    let mut out = String::from(INTRODUCTION);
    let mut family = "";
    for code in Code::ALL {
        let e = code.entry();
        if e.family != family {
            family = e.family;
            let _ = write!(out, "\n## {family}\n");
        }
        let _ = write!(
            out,
            "\n### {}: {}\n\n{}\n\n*Why.* {}\n\n*Repair.* {}\n",
            e.id,
            e.title,
            wrap(e.what),
            wrap_after(e.why, 7),
            wrap_after(e.repair, 10)
        );
    }
    out
}

fn wrap(text: &str) -> String {
    wrap_after(text, 0)
}

/// Breaks a paragraph into lines of at most 100 characters, the first `used` of which are taken.
fn wrap_after(text: &str, used: usize) -> String {
    let mut out = String::new();
    let mut column = used;
    for (i, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && column + 1 + length > 100 {
            out.push('\n');
            column = 0;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}
