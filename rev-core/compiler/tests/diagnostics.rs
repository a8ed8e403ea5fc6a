//! The table of diagnostic codes: its numbers, and the page made from it.

use rev_compiler::diag::{page, Code, Diagnostic};
use rev_compiler::ir::Span;

#[test]
fn the_page_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnostics.md");
    let on_file = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        on_file == page(),
        "docs/diagnostics.md is not what the table says; \
         run `cargo run -p rev-compiler --example diagnostics > docs/diagnostics.md` and read what changed"
    );
}

#[test]
fn numbers_are_unique_and_ascend() {
    let ids: Vec<&str> = Code::ALL.iter().map(|c| c.id()).collect();
    assert!(ids.windows(2).all(|w| w[0] < w[1]), "{ids:?}");
}

#[test]
fn every_text_is_a_sentence() {
    for code in Code::ALL {
        let e = code.entry();
        for text in [e.what, e.why, e.repair] {
            assert!(text.ends_with('.'), "{}: {text}", e.id);
        }
        assert!(!e.title.ends_with('.'), "{}", e.id);
    }
}

fn span(line: u32, column: u32, end_column: u32) -> Span {
    Span { line, column, end_line: line, end_column }
}

#[test]
fn a_diagnostic_shows_its_lines() {
    let source = "fn f(y) {\n    y += x * y;\n\n\n    z += 1;\n}\n";
    let d = Diagnostic::new(Code::ReadsTarget, span(2, 13, 14), "`y` is read in its own update")
        .label(span(2, 4, 5), "written here")
        .label(span(5, 4, 5), "and here")
        .help("use an ancilla");
    let expected = "\
error[R0101]: `y` is read in its own update
 --> f.rev:2:14
  |
2 |     y += x * y;
  |              ^
  |     - written here
.
5 |     z += 1;
  |     - and here
  = help: use an ancilla
";
    assert_eq!(d.render("f.rev", source), expected);
}

#[test]
fn without_a_source_there_are_positions() {
    let d = Diagnostic::new(Code::ReadsTarget, span(2, 13, 14), "`y` is read in its own update")
        .label(Span::NONE, "made by a pass")
        .help("use an ancilla");
    let expected = "\
error[R0101]: `y` is read in its own update (at 2:14)
  note: made by a pass
  help: use an ancilla";
    assert_eq!(d.to_string(), expected);
}
