//! Whether a program is one at all: what every program satisfies that a pass makes, however it was made.
//!
//! [`check`](crate::check) says what a user's program must satisfy, and passes keep that by construction. Here it is
//! tried, after every pass, by code that shares nothing with the passes and little with the rules: in this
//! crate's tests and the random programs' always, elsewhere where the environment variable `REV_VERIFY` asks for it. Only what is surely wrong is found
//! (two places that surely share storage), in one walk over the program:
//!
//! * every variable that is used exists, is what it is used as, and is in scope; none is bound inside its own
//!   scope; names are unique (`scope`);
//! * nothing is written that can't be, a statement doesn't read what it writes, and what bindings,
//!   ranges, conditions and first values read stays while it has to (`held`);
//! * a call of a derived program gives each argument's shadow after it, that of the same place, in the mode that
//!   goes with the argument's; where the callee is known, as many and such as it takes (`calls`);
//! * an inverse is the inverse of its inverse, an adjoint has each parameter's shadow after it (`derived`).
//!
//! What is found is a defect of rev. It is kept with the function ([`Function::defects`]), which nothing then runs or
//! compiles.

mod calls;
mod derived;
mod held;
mod scope;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::OnceLock;

use crate::diag::{defect, Diagnostics};
use crate::ir::{Function, Module};

pub(crate) use derived::{adjoint_of, inverse_of};

/// What a program is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It has an inverse and an adjoint.
    Reversible,
    /// It is run forward without checks, and nothing else.
    Forward,
}

/// What is wrong with a program.
pub fn validate(function: &Function, form: Form) -> Diagnostics {
    function.grown(|| scope::walk(function, form, None))
}

/// The same for all functions of a module, whose calls it knows.
pub fn validate_module(module: &Module, form: Form) -> Diagnostics {
    let mut found = Diagnostics::default();
    for function in module.functions.values() {
        found.append(function.defects.clone());
        found.append(function.grown(|| scope::walk(function, form, Some(module))));
    }
    found
}

static SWITCHED_ON: AtomicBool = AtomicBool::new(false);

/// Has passes verified in this process from here on: for tests.
pub fn switch_on() {
    SWITCHED_ON.store(true, Relaxed);
}

/// Whether passes are verified. A debug build alone is no reason: the macro is one in every build of a user's tests.
pub(crate) fn is_on() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    cfg!(test)
        || SWITCHED_ON.load(Relaxed)
        || *ASKED.get_or_init(|| std::env::var_os("REV_VERIFY").is_some_and(|v| !v.is_empty() && v != "0"))
}

/// What a pass made, with what is wrong with it.
pub(crate) fn verified(mut function: Function, form: Form, pass: &str) -> Function {
    verify(&mut function, form, pass);
    function
}

/// Notes what is wrong with what a pass made.
pub(crate) fn verify(function: &mut Function, form: Form, pass: &str) {
    if is_on() && function.defects.is_empty() {
        let found = validate(function, form);
        note(function, found, pass);
    }
}

/// Keeps what is wrong with a function that a pass made.
pub(crate) fn note(function: &mut Function, found: Diagnostics, pass: &str) {
    for d in found {
        let message = format!("{} ({pass} of `{}`)", d.message, function.name);
        function.defects.push(crate::diag::Diagnostic { message, ..d });
    }
}

/// Whether something is true of a program that has to be.
fn expect(holds: bool, out: &mut Diagnostics, span: crate::ir::Span, what: impl FnOnce() -> String) {
    // one cause has many effects: the first few say it
    if !holds && out.0.len() < 8 {
        out.push(defect(span, what()));
    }
}
