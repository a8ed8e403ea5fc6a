//! What can go wrong when a program runs. An error is a value: it says what failed ([`Cause`]) and
//! where ([`Site`]: function, line, statement and the iterations it was in, for the failing
//! statement first and then for each call around it).
//!
//! # The arguments after an error
//!
//! On sequential paths they hold the state in which the failing statement found them; inside a
//! parallel loop they are unspecified. The interpreter can step back from there.

use crate::ir::Span;
use crate::scalar::rt::instr::InstrError;
use crate::scalar::Mismatch;
use rev_compiler::ops::Misfit;
use rev_compiler::pass::Undirected;
use std::borrow::Cow;
use std::fmt;

/// Text that is usually known at compile time.
pub type Text = Cow<'static, str>;

/// An error of a run. One pointer wide, so that `Result<(), Error>` costs nothing when all is well.
#[derive(Clone)]
pub struct Error(Box<Kept>);

#[derive(Clone)]
struct Kept {
    failure: Failure,
    /// Which of several iterations at once it is about, as long as there are several.
    lane: Option<usize>,
}

impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        self.0.failure == other.0.failure
    }
}

/// What an [`Error`] holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What failed.
    pub cause: Cause,
    /// Where: the failing statement, then the call that led to it, and so on outwards. Empty where
    /// no statement was run yet. At most [`SITES`].
    pub trace: Vec<Site>,
    /// How many calls there are around those.
    pub left_out: usize,
}

/// How many statements of a trace are kept: those of a deep recursion are alike.
pub const SITES: usize = 64;

/// A statement of a function, in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    /// The function's name.
    pub function: Text,
    /// The file, empty where unknown.
    pub file: Text,
    /// Where the statement stands.
    pub span: Span,
    /// The statement's text.
    pub statement: Text,
    /// The iteration of each enclosing loop, outermost first.
    pub iterations: Vec<Iteration>,
}

/// The iteration of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// The loop's variable; `while` for a loop without one, which counts its iterations from 0.
    pub variable: Text,
    /// Its value.
    pub value: i128,
}

impl From<Undirected> for Error {
    fn from(why: Undirected) -> Error {
        match why {
            Undirected::Missing(name) => Cause::Missing { kind: "function".into(), name },
            Undirected::Rejected(message) => Cause::Rejected(message),
        }
        .into()
    }
}

impl Cause {
    /// That arrays with these names and shapes, in the order target, factors, don't fit a formula.
    pub fn misfit(misfit: &Misfit, operands: &[(&str, &[usize])]) -> Cause {
        let [place, expected, found] = misfit.about(operands);
        Cause::Shape { place: place.into(), expected, found }
    }
}

/// What failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Cause {
    /// An ancilla doesn't hold its first value when it is released.
    #[error("`{place}` must be released as {expected} and holds {found} (tolerance {tolerance:e})")]
    Release {
        /// The ancilla, with the element at fault.
        place: String,
        /// Its first value.
        expected: String,
        /// What it holds.
        found: String,
        /// The difference that would have passed; 0 for exact types.
        tolerance: f64,
    },
    /// An argument doesn't come back as it was: rounded, it decided otherwise on the way back how often a loop runs or which
    /// branch is taken.
    #[error(
        "`{place}` decides how often a loop runs or which branch is taken; it was {expected} and comes back as {found}. On the way back it is \
         rounded: keep what the postcondition compares it with well apart from the values that it takes"
    )]
    NotBack {
        /// The argument, with the element at fault.
        place: String,
        /// What it was.
        expected: String,
        /// What it came back as.
        found: String,
    },
    /// A postcondition of a branch or loop (backwards its condition) doesn't hold where it has to.
    #[error("the postcondition `{condition}` must be {expected} {when}")]
    Condition {
        /// Its text.
        condition: Text,
        /// What it must be; it was the opposite.
        expected: bool,
        /// At which point: "after the branch where the condition was true", ….
        when: Text,
    },
    /// A loop's bounds have changed while it ran.
    #[error("the loop's range was {expected} and is {found} after it")]
    RangeChanged {
        /// The values it visits when it starts.
        expected: String,
        /// The values it would visit now.
        found: String,
    },
    /// A range whose step isn't positive.
    #[error("the step of a range must be at least 1 and is {found}")]
    Step {
        /// The step.
        found: i128,
    },
    /// What a binding stands for has changed within its scope.
    #[error(
        "`{name}` stands for {expected}, and what it was computed from gives {found} at the end of its scope"
    )]
    BindingChanged {
        /// The binding.
        name: Text,
        /// Its value.
        expected: String,
        /// The value now.
        found: String,
    },
    /// A statement reads or writes twice what it may only touch once.
    #[error("`{first}` and `{second}` are the same element here, and the statement writes one of them")]
    Alias {
        /// The place written.
        first: Text,
        /// The other place.
        second: Text,
    },
    /// A variable that is popped into must hold zero.
    #[error("`{place}` must hold zero to be popped into, and holds {found}")]
    PopTarget {
        /// The place.
        place: String,
        /// What it holds.
        found: String,
    },
    /// A pop from an empty stack.
    #[error("the stack `{stack}` is empty")]
    StackUnderflow {
        /// The stack.
        stack: Text,
    },
    /// A push to a stack that has no room left. Stacks on the host grow; those on a device don't.
    #[error("the stack `{stack}` is full: it has room for {capacity} values")]
    StackOverflow {
        /// The stack.
        stack: Text,
        /// How many values it has room for.
        capacity: usize,
    },
    /// An index array that is declared injective holds a value twice.
    #[error("`{place}` is declared injective and holds {value} at {first} and at {second}")]
    NotInjective {
        /// The index array.
        place: Text,
        /// The value.
        value: String,
        /// Its first position.
        first: usize,
        /// Another position.
        second: usize,
    },
    /// An index that isn't in the array, checked or not.
    #[error("`{place}`: index {index:?} is out of range for the shape {shape:?}")]
    IndexOutOfRange {
        /// The place.
        place: Text,
        /// The index.
        index: Vec<i128>,
        /// The array's shape.
        shape: Vec<usize>,
    },
    /// An integer divided by zero.
    #[error("an integer is divided by zero")]
    DivisionByZero,
    /// An instruction that can't be undone on these values.
    #[error("{instr} of `{place}`: {reason}")]
    Instruction {
        /// The instruction.
        instr: Text,
        /// The place.
        place: Text,
        /// Why.
        reason: InstrError,
    },
    /// Two shapes that should agree, or a shape that an argument can't have.
    #[error("`{place}` must have the shape {expected} and has {found}")]
    Shape {
        /// The argument or place.
        place: Text,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Values of a type that the operation isn't defined for. Emitted code can't have it.
    #[error("{operation}: expected {expected}, found {found}")]
    Type {
        /// The operation.
        operation: Text,
        /// What it works on.
        expected: Text,
        /// What it was given.
        found: String,
    },
    /// A wrong number of arguments.
    #[error("`{function}` takes {expected} arguments, not {found}")]
    Arguments {
        /// The function.
        function: String,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A function, pure function, constant or type argument that the module doesn't have.
    #[error("the module has no {kind} `{name}`")]
    Missing {
        /// What it should be.
        kind: Text,
        /// Its name.
        name: String,
    },
    /// A program that isn't reversible as it is written.
    #[error("{0}")]
    Rejected(String),
    /// Which derivatives are zero can't be found.
    #[error("the sparsity of the derivatives can't be found: {0}")]
    Sparsity(String),
    /// A recursion that goes deeper than the run allows ([`crate::tolerance::Options::depth`]).
    #[error("the recursion is more than {limit} calls deep: it has no end, or the device's `depth` must be higher")]
    Depth {
        /// How many calls may be inside each other.
        limit: usize,
    },
    /// A derivative that doesn't exist.
    #[error(transparent)]
    NotDifferentiable(#[from] crate::pass::NotDifferentiable),
    /// A derivative by an argument that has none.
    #[error("there is no derivative by `{argument}`: {reason}")]
    NoDerivative {
        /// The argument.
        argument: Text,
        /// Why.
        reason: Text,
    },
    /// A device that isn't there, or can't run the program.
    #[error("{device}: {reason}")]
    Device {
        /// The device.
        device: Text,
        /// Why not.
        reason: String,
    },
}

impl Cause {
    /// A postcondition that isn't what it must be.
    pub fn postcondition(condition: impl Into<Text>, expected: bool, when: &'static str) -> Cause {
        Cause::Condition { condition: condition.into(), expected, when: when.into() }
    }

    /// A failed release of the variable `name`.
    pub fn release(name: &str, mismatch: Mismatch, tolerance: f64) -> Cause {
        Cause::Release {
            place: format!("{name}{}", mismatch.path),
            expected: mismatch.expected,
            found: mismatch.found,
            tolerance,
        }
    }
}

impl Error {
    /// An error that isn't at a statement yet.
    #[cold]
    pub fn new(cause: Cause) -> Error {
        let failure = Failure { cause, trace: Vec::new(), left_out: 0 };
        Error(Box::new(Kept { failure, lane: None }))
    }

    /// The same error seen from one call further out, or from the failing statement itself where it
    /// has no site yet.
    #[cold]
    pub fn at(mut self, site: Site) -> Error {
        if self.0.failure.trace.len() < SITES {
            self.0.failure.trace.push(site);
        } else {
            self.0.failure.left_out += 1;
        }
        self
    }

    /// Adds an enclosing loop to the outermost site known so far.
    #[cold]
    pub fn in_iteration(mut self, variable: impl Into<Text>, value: i128) -> Error {
        if let Some(site) = self.0.failure.trace.last_mut().filter(|_| self.0.failure.left_out == 0) {
            site.iterations.insert(0, Iteration { variable: variable.into(), value });
        }
        self
    }

    /// What failed.
    pub fn cause(&self) -> &Cause {
        &self.0.failure.cause
    }

    /// Where, the failing statement first.
    pub fn trace(&self) -> &[Site] {
        &self.0.failure.trace
    }

    /// The failing statement.
    pub fn site(&self) -> Option<&Site> {
        self.0.failure.trace.first()
    }

    /// All of it.
    pub fn into_failure(self) -> Failure {
        self.0.failure
    }

    /// The same of one of several iterations that a program called by all of them runs at once.
    #[doc(hidden)]
    #[cold]
    pub fn in_lane(mut self, lane: usize) -> Error {
        self.0.lane = Some(lane);
        self
    }

    /// Which of the iterations it is about, if that was said.
    #[doc(hidden)]
    pub fn lane(&self) -> Option<usize> {
        self.0.lane
    }
}

impl From<Cause> for Error {
    #[cold]
    fn from(cause: Cause) -> Error {
        Error::new(cause)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`", self.function)?;
        if self.span.is_some() {
            let file = if self.file.is_empty() { "line " } else { &self.file };
            let colon = if self.file.is_empty() { "" } else { ":" };
            write!(f, " at {file}{colon}{}", self.span.line)?;
        }
        if !self.statement.is_empty() {
            write!(f, ": `{}`", self.statement)?;
        }
        for (k, i) in self.iterations.iter().enumerate() {
            let lead = if k == 0 { " with" } else { "," };
            write!(f, "{lead} {} = {}", i.variable, i.value)?;
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.failure.cause)?;
        for (k, site) in self.0.failure.trace.iter().enumerate() {
            write!(f, "\n  {}{site}", if k == 0 { "" } else { "called " })?;
        }
        if self.0.failure.left_out > 0 {
            write!(f, "\n  and {} calls around these", self.0.failure.left_out)?;
        }
        Ok(())
    }
}

/// The message too: it is what `unwrap` shows. [`Error::into_failure`] has the parts.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_and_where() {
        let mismatch = Mismatch { path: "[2]".into(), expected: "0.0".into(), found: "NaN".into() };
        let span = Span { line: 12, column: 4, end_line: 12, end_column: 14 };
        let site = |function: &'static str, file: &'static str, statement: &'static str| Site {
            function: function.into(),
            file: file.into(),
            span,
            statement: statement.into(),
            iterations: vec![],
        };
        let error = Error::new(Cause::release("p", mismatch, 1e-8))
            .at(site("dot", "src/a.rs", "let mut p = 0.0"))
            .in_iteration("j", 3)
            .in_iteration("i", 1)
            .at(site("fit", "", "dot(&mut y, &x)"));
        assert_eq!(
            error.to_string(),
            "`p[2]` must be released as 0.0 and holds NaN (tolerance 1e-8)\n  \
             in `dot` at src/a.rs:12: `let mut p = 0.0` with i = 1, j = 3\n  \
             called in `fit` at line 12: `dot(&mut y, &x)`"
        );
        // what `unwrap` shows
        assert_eq!(format!("{error:?}"), error.to_string());
        assert_eq!(error.site().map(|s| s.iterations.len()), Some(2));
        assert_eq!(std::mem::size_of::<Result<(), Error>>(), std::mem::size_of::<usize>());
    }
}
