//! Diagnostics as text: with the lines of the source and carets under them where the source is at
//! hand, else with positions. Lines and columns are shown from 1.

use std::fmt::{self, Display, Write};

use super::{Diagnostic, Diagnostics};
use crate::ir::Span;

impl Diagnostic {
    /// The diagnostic with source lines; `source` is the text that the spans point into and `file`
    /// its name, shown as it is given.
    pub fn render(&self, file: &str, source: &str) -> String {
        let lines: Vec<&str> = source.lines().collect();
        let width = self.spans().map(|s| digits(s.line)).max().unwrap_or(1);
        let mut out = format!("error[{}]: {}\n", self.code, self.message);
        if self.span.is_some() {
            let _ = writeln!(out, "{:width$}--> {file}:{}", "", position(self.span));
        }
        let mut marks: Vec<(Span, &str)> = self.labels.iter().map(|(s, t)| (*s, t.as_str())).collect();
        marks.push((self.span, ""));
        marks.retain(|(s, _)| s.is_some());
        marks.sort_by_key(|(s, _)| (s.line, *s != self.span, s.column));
        snippet(&mut out, &lines, &marks, self.span, width);
        for (_, text) in self.labels.iter().filter(|(s, _)| !s.is_some()) {
            let _ = writeln!(out, "{:width$} = note: {text}", "");
        }
        for text in &self.help {
            let _ = writeln!(out, "{:width$} = help: {text}", "");
        }
        out
    }

    fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        std::iter::once(self.span).chain(self.labels.iter().map(|(s, _)| *s))
    }
}

/// The marked lines in the order of the source, each followed by one row for each of its marks.
fn snippet(out: &mut String, lines: &[&str], marks: &[(Span, &str)], primary: Span, width: usize) {
    let mut last = None;
    for (span, text) in marks {
        if last.is_none() {
            let _ = writeln!(out, "{:width$} |", "");
        }
        let line = lines.get(span.line as usize - 1).copied().unwrap_or("");
        if last != Some(span.line) {
            if last.is_some_and(|l| l + 1 < span.line) {
                let _ = writeln!(out, "{:.<width$}", "");
            }
            let _ = writeln!(out, "{:>width$} | {}", span.line, line);
            last = Some(span.line);
        }
        let tick = if *span == primary && text.is_empty() { "^" } else { "-" };
        let row = format!("{}{} {text}", " ".repeat(span.column as usize), tick.repeat(marked(*span, line)));
        let _ = writeln!(out, "{:width$} | {}", "", row.trim_end());
    }
}

/// How many characters of its first line a span covers, at least one.
fn marked(span: Span, line: &str) -> usize {
    let length = line.chars().count();
    let end = if span.end_line == span.line { span.end_column as usize } else { length };
    end.saturating_sub(span.column as usize).max(1)
}

fn digits(n: u32) -> usize {
    n.to_string().len()
}

fn position(span: Span) -> String {
    format!("{}:{}", span.line, span.column + 1)
}

impl Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code, self.message)?;
        if self.span.is_some() {
            write!(f, " (at {})", position(self.span))?;
        }
        for (span, text) in &self.labels {
            match span.is_some() {
                true => write!(f, "\n  note: {text} (at {})", position(*span))?,
                false => write!(f, "\n  note: {text}")?,
            }
        }
        self.help.iter().try_for_each(|h| write!(f, "\n  help: {h}"))
    }
}

impl Diagnostics {
    /// All diagnostics with source lines, a blank line between them.
    pub fn render(&self, file: &str, source: &str) -> String {
        let each: Vec<String> = self.iter().map(|d| d.render(file, source)).collect();
        each.join("\n")
    }
}

/// The messages too: they are what `unwrap` shows.
impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{d}")?;
        }
        Ok(())
    }
}
