//! Diagnostics: what is wrong with a program, where, and how to repair it.
//!
//! Every check collects all its diagnostics before it gives up, each at the smallest piece of
//! source at fault, with the second place labelled where there is one. A diagnostic has a [`Code`]
//! whose row in the table says what the rule is, why it exists and how programs are repaired;
//! `docs/diagnostics.md` is that table as a page.

mod code;
mod page;
mod render;

pub use code::{Code, Entry};
pub use page::page;

use crate::ir::Span;

/// One thing that is wrong with a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The rule that is broken.
    pub code: Code,
    /// What is wrong here, in one sentence without a full stop.
    pub message: String,
    /// The smallest piece of source at fault.
    pub span: Span,
    /// Other places that matter, with what they have to do with it.
    pub labels: Vec<(Span, String)>,
    /// Repairs that fit this program.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic without labels or help.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, message: message.into(), span, labels: Vec::new(), help: Vec::new() }
    }

    /// The same with a second place labelled.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }

    /// The same with a repair proposed.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }
}

/// What rev is to blame for: something that every program satisfies doesn't hold of this one.
pub fn defect(span: Span, what: impl std::fmt::Display) -> Diagnostic {
    let message = format!("this is a defect of rev, not of the program: {what}");
    Diagnostic::new(Code::Defect, span, message)
        .help("please report it, with the function; written in another way it may work")
}

/// Everything that is wrong with a program, in the order of the source.
#[derive(Clone, Default, PartialEq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The diagnostics.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, d: Diagnostic) {
        self.0.push(d)
    }

    /// Adds all of another list.
    pub fn append(&mut self, other: Diagnostics) {
        self.0.extend(other.0)
    }

    /// Brings them into the order of the source and drops repetitions.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|d| (d.span, d.code));
        self.0.dedup();
    }

    /// `value` when nothing is wrong, else the diagnostics in the order of the source.
    pub fn or<T>(mut self, value: T) -> Result<T, Diagnostics> {
        if self.is_empty() {
            return Ok(value);
        }
        self.sort();
        Err(self)
    }
}

impl std::error::Error for Diagnostics {}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(d: Diagnostic) -> Diagnostics {
        Diagnostics(vec![d])
    }
}
