//! Files of programs in the text form, each after a line `// case: ...`, and what the checks say
//! about each.

use rev_core::check::check;
use rev_core::text::parse_located;

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
        let verdict = match parse_located(&program) {
            Err(e) => format!("not a program: {e}\n"),
            Ok(function) => match check(function) {
                Ok(_) => "nothing is wrong\n".to_string(),
                Err(diagnostics) => diagnostics.render(file, text),
            },
        };
        format!("// case: {title}\n{verdict}")
    });
    each.collect::<Vec<_>>().join("\n")
}
