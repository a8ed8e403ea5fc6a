//! Files of programs in the text form, each after a line `// case: ...`, and what the checks say
//! about each.

use rev_core::check::{check, check_module};
use rev_core::diag::Diagnostics;
use rev_core::text::{parse_located, parse_located_module, ParseError};

/// The programs of a file. Each keeps its line numbers by empty lines in front.
pub fn programs(text: &str) -> Vec<(String, String)> {
    let mut programs: Vec<(String, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("// case: "), programs.last_mut()) {
            (Some(title), _) => programs.push((title.to_string(), "\n".repeat(number + 1))),
            (None, Some((_, program))) => {
                program.push_str(line);
                program.push('\n');
            }
            (None, None) => {}
        }
    }
    programs
}

/// What the checks say about each program of a file.
pub fn verdicts(file: &str, text: &str) -> String {
    let each = programs(text).into_iter().map(|(title, program)| {
        let verdict = match wrong(&program) {
            Err(e) => format!("not a program: {e}\n"),
            Ok(None) => "nothing is wrong\n".to_string(),
            Ok(Some(diagnostics)) => diagnostics.render(file, text),
        };
        format!("// case: {title}\n{verdict}")
    });
    each.collect::<Vec<_>>().join("\n")
}

/// Whether a program is a module, not a function alone.
pub fn is_module(program: &str) -> bool {
    program.trim_start().starts_with("module ")
}

fn wrong(program: &str) -> Result<Option<Diagnostics>, ParseError> {
    match is_module(program) {
        true => Ok(check_module(parse_located_module(program)?).err()),
        false => Ok(check(parse_located(program)?).err()),
    }
}
