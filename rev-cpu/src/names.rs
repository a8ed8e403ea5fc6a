//! What the names in a program have to stand for, and what rustc says where they don't.
//!
//! A macro sees the tokens of one function, so it can't know whether `f` in `f(&mut y)` is a reversible
//! function. The emitted code asks for a trait, whose message is ours. A name that isn't the name of a
//! type at all (a plain function, a slip of the pen) is [`Unknown`].

use rev_core::scalar::Primal;
use rev_core::structure::Structure;

/// What stands behind a name that no reversible and no pure function has.
#[derive(Clone, Copy, Debug)]
pub struct Unknown;

/// A function under `#[reversible]`.
#[diagnostic::on_unimplemented(
    message = "[R0607] this isn't a `#[reversible]` function, so nothing is known about what it changes",
    label = "called here",
    note = "mark the function `#[reversible]`, or call it in a block `#[external] {{ ... }}` if it leaves the program's variables alone"
)]
pub trait IsReversible {
    /// The type whose associated functions are its programs.
    type Programs;
    /// The value of that type.
    const PROGRAMS: Self::Programs;
}

/// A function under `#[reversible(tangent)]`.
#[diagnostic::on_unimplemented(
    message = "[R0607] this function has no tangent",
    label = "its tangent is asked for here",
    note = "say `#[reversible(tangent)]` where it is declared, and at all that it calls; `tangent = 2` for the tangent of a tangent"
)]
pub trait HasTangent {
    /// The reversible function that its tangent is.
    type Tangent: IsReversible;
    /// The value of it, to be passed where a function is an argument.
    const TANGENT: Self::Tangent;
}

/// A function under `#[reversible(taylor = 3)]`, of an order.
#[diagnostic::on_unimplemented(
    message = "[R0607] this function has no Taylor coefficients up to order {ORDER}",
    label = "they are asked for here",
    note = "say `#[reversible(taylor = {ORDER})]` where it is declared, and at all that it calls"
)]
pub trait HasTaylor<const ORDER: usize> {
    /// The reversible function that gives them.
    type Taylor: IsReversible;
    /// The value of it, to be passed where a function is an argument.
    const TAYLOR: Self::Taylor;
}

/// A function under `#[reversible(adjoint)]`.
#[diagnostic::on_unimplemented(
    message = "[R0607] this function has no adjoint that a program can call",
    label = "its adjoint is asked for here",
    note = "say `#[reversible(adjoint)]` where it is declared, and at all that it calls; `adjoint = 2` for the adjoint of a gradient or an adjoint"
)]
pub trait HasAdjoint {
    /// The reversible function that its adjoint is.
    type Adjoint: IsReversible;
    /// The value of it, to be passed where a function is an argument.
    const ADJOINT: Self::Adjoint;
}

/// A function under `#[reversible(adjoint)]` that has a loss.
#[diagnostic::on_unimplemented(
    message = "[R0607] this function has no gradient that a program can call",
    label = "its gradient is asked for here",
    note = "say `#[reversible(adjoint)]` where it is declared, and at all that it calls; its loss is its first `&mut` real number",
    note = "for the gradient of a function that calls the gradient of `g`, `#[reversible(adjoint = 2)]` at `g`"
)]
pub trait HasGradient {
    /// The reversible function that its gradient is.
    type Gradient: IsReversible;
    /// The value of it, to be passed where a function is an argument.
    const GRADIENT: Self::Gradient;
}

/// A function under `#[pure]`.
#[diagnostic::on_unimplemented(
    message = "[R0607] this isn't a `#[pure]` function, so an expression can't call it",
    label = "called here",
    note = "mark the function `#[pure]`, or call a `#[reversible]` one as a statement, with an ancilla for its result"
)]
pub trait IsPure {
    /// The type whose associated functions are its programs.
    type Programs;
    /// The value of that type.
    const PROGRAMS: Self::Programs;
}

/// A pure function of which the partial derivatives of an order are compiled.
#[diagnostic::on_unimplemented(
    message = "[R0607] this pure function has no partial derivatives of order {ORDER}",
    label = "they are asked for here",
    note = "say `#[pure(order = {ORDER})]` where it is declared, and at all that it calls; where nothing is said they are there up to order 2",
    note = "what isn't holomorphic has none, of any order, nor has a function of a tuple, a struct or an array: give it their parts"
)]
pub trait HasPartials<const ORDER: usize> {
    /// The type whose associated functions are its programs.
    type Programs;
    /// The value of that type.
    const PROGRAMS: Self::Programs;
}

/// A type that has a reversible function of its own, by the hash of the function's name.
#[diagnostic::on_unimplemented(
    message = "[R0607] `{Self}` has no reversible function of this name",
    label = "called here",
    note = "functions of a type are marked twice: `#[reversible] impl S {{ #[reversible] fn f(&mut self) {{ .. }} }}`"
)]
pub trait HasReversible<const NAME: u64> {
    /// The type whose associated functions are its programs.
    type Programs;
    /// The value of that type.
    const PROGRAMS: Self::Programs;
}

/// A type that has a pure function of its own, by the hash of the function's name.
#[diagnostic::on_unimplemented(
    message = "[R0607] `{Self}` has no pure function of this name",
    label = "called here",
    note = "functions of a type are marked twice: `#[reversible] impl S {{ #[pure] fn f(&self) -> T {{ .. }} }}`"
)]
pub trait HasPure<const NAME: u64> {
    /// The type whose associated functions are its programs.
    type Programs;
    /// The value of that type.
    const PROGRAMS: Self::Programs;
}

/// A type that has the reversible function behind an update: `'*'` for `*=` and `/=`, `'+'` for `+=` and `-=`, `'^'`
/// for `^=`.
#[diagnostic::on_unimplemented(
    message = "[R0402] nothing says how a `{Self}` is updated by {OPERATOR}, and that this can be undone",
    label = "updated here",
    note = "`*=` and `/=` run the type's reversible function `mul_assign(&mut self, by: T)`, `+=` and `-=` its `add_assign`, `^=` its `bitxor_assign`",
    note = "a struct that is no number is updated field by field by `p += fields(q)` and `p += S {{ .. }}`"
)]
pub trait HasUpdate<const OPERATOR: char> {
    /// The type whose associated functions are its programs.
    type Programs;
    /// The value of that type.
    const PROGRAMS: Self::Programs;
}

/// A type that has the pure function behind an operator.
#[diagnostic::on_unimplemented(
    message = "[R0402] `{Self}` has no pure function for {OPERATOR}",
    label = "computed here",
    note = "`+ - * / %` of such numbers are the type's pure functions `add`, `sub`, `mul`, `div` and `rem` on what represents them: `#[pure] fn mul(a: T, b: T) -> T`"
)]
pub trait HasOperator<const OPERATOR: char> {
    /// The type whose associated functions are its programs.
    type Programs;
    /// The value of that type.
    const PROGRAMS: Self::Programs;
}

/// A type whose numbers other numbers become.
#[diagnostic::on_unimplemented(
    message = "[R0402] this isn't a `{Self}`, and nothing says how it becomes one",
    label = "a number of another type",
    note = "what isn't a number of the type becomes one by its pure function `of`: `#[pure] fn of(x: T) -> T`"
)]
pub trait HasConversion {
    /// The type whose associated functions are its programs.
    type Programs;
    /// The value of that type.
    const PROGRAMS: Self::Programs;
}

/// A struct that can be a part of another one.
#[diagnostic::on_unimplemented(
    message = "[R0612] `{Self}` isn't a value of the language, so a struct with it isn't one",
    label = "this type",
    note = "derive `Reversible` (and `Clone`, `Debug`) for it, or leave the field out"
)]
pub trait Part: Primal + Structure {}

impl<T: rev_core::scalar::Scalar> Part for Option<T> {}
