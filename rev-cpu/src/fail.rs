//! The errors of emitted code, made in cold functions so that the programs stay small.

use std::any::TypeId;
use std::fmt::Debug;

use rev_core::error::{Cause, Error, Iteration, Site as ErrorSite, Text};
use rev_core::ir::Span;
use rev_core::scalar::rt::instr::InstrError;
use rev_core::scalar::Mismatch;
use rev_core::tolerance::Tolerances;
use rev_core::value::{DynArg, Shapes as ArrayShapes};

use crate::arrays::{shape_of, Shapes};
use crate::view::{Extents, Taken};

/// A statement of a function, which its programs share.
#[derive(Debug)]
pub struct Site {
    file: &'static str,
    span: Span,
    statement: &'static str,
    loops: &'static [&'static str],
}

impl Site {
    /// The statement at `line` and `column` (from 0) of a file, in loops with these variables, outermost first.
    pub const fn new(
        file: &'static str,
        line: u32,
        column: u32,
        statement: &'static str,
        loops: &'static [&'static str],
    ) -> Site {
        let end_column = column + statement.len() as u32;
        Site { file, span: Span { line, column, end_line: line, end_column }, statement, loops }
    }

    /// The statement in a run of one of the function's programs.
    #[cfg_attr(optimized, inline(always))]
    pub fn at<const N: usize>(&'static self, program: &'static str, iterations: [i128; N]) -> At<[i128; N]> {
        At { site: self, program, iterations }
    }
}

/// A statement in a run: its site, the program's name, and the values of the variables of the loops around it.
#[derive(Debug)]
pub struct At<I: ?Sized = [i128]> {
    site: &'static Site,
    program: &'static str,
    iterations: I,
}

/// A closure that emitted code names, and that is inlined by an attribute, which can't stand behind `let`.
#[cfg_attr(optimized, inline(always))]
pub fn named<F>(closure: F) -> F {
    closure
}

impl At {
    fn error(&self, cause: Cause) -> Error {
        Error::new(cause).at(self.site())
    }

    fn site(&self) -> ErrorSite {
        let loops = self.site.loops.iter().zip(&self.iterations);
        let iteration =
            |(&variable, &value): (&&'static str, &i128)| Iteration { variable: variable.into(), value };
        ErrorSite {
            function: self.program.into(),
            file: self.site.file.into(),
            span: self.site.span,
            statement: self.site.statement.into(),
            iterations: loops.map(iteration).collect(),
        }
    }
}

/// Stands for a value that a program doesn't compute, in code that doesn't run and is there for rustc to check.
#[cold]
pub fn erased<T>() -> T {
    std::process::abort()
}

/// An index out of range.
#[cold]
#[inline(never)]
pub fn out_of_range(at: &At, place: &'static str, index: &[usize], shape: &[usize]) -> Error {
    index_error(at, place, index, shape.to_vec())
}

/// What an access asked for where its array has no such element: the index, and the array's sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent<const R: usize> {
    pub(crate) index: [usize; R],
    pub(crate) shape: [usize; R],
}

impl<const R: usize> Absent<R> {
    /// An index that an array doesn't have.
    #[cfg_attr(optimized, inline(always))]
    pub fn of(array: &impl Extents, index: [usize; R]) -> Absent<R> {
        Absent { index, shape: array.extents() }
    }

    /// The error.
    #[cfg_attr(optimized, inline(always))]
    pub fn error(self, at: &At, place: &'static str) -> Error {
        out_of_range(at, place, &self.index, &self.shape)
    }
}

/// A part of an array out of range.
#[cold]
#[inline(never)]
pub fn part_out_of_range(at: &At, place: &'static str, taken: &[Taken], array: &impl Extents) -> Error {
    let numbers = |t: &Taken| match *t {
        Taken::At(i) => vec![i],
        Taken::Range(i, j) => vec![i, j],
        Taken::Whole => Vec::new(),
    };
    index_error(at, place, &taken.iter().flat_map(numbers).collect::<Vec<_>>(), shape_of(array))
}

fn index_error(at: &At, place: &'static str, index: &[usize], shape: Vec<usize>) -> Error {
    let index = index.iter().map(|&i| i as i128).collect();
    at.error(Cause::IndexOutOfRange { place: place.into(), index, shape })
}

/// An integer divided by zero.
#[cold]
#[inline(never)]
pub fn zero_divisor(at: &At) -> Error {
    at.error(Cause::DivisionByZero)
}

/// A loop whose step isn't positive.
#[cold]
#[inline(never)]
pub fn step_below_one(at: &At, step: i128) -> Error {
    at.error(Cause::Step { found: step })
}

/// An ancilla that doesn't hold its first value when it is released.
#[cold]
#[inline(never)]
pub fn not_restored(at: &At, tolerance: f64, name: &'static str, mismatch: Mismatch) -> Error {
    at.error(Cause::release(name, mismatch, tolerance))
}

/// A postcondition that differs from the condition of its branch.
#[cold]
#[inline(never)]
pub fn after_branch(at: &At, condition: &'static str, taken: bool) -> Error {
    let when = match taken {
        true => "after the branch where the condition was true",
        false => "after the branch where the condition was false",
    };
    at.error(Cause::postcondition(condition, taken, when))
}

/// The postcondition of a loop that holds before it, or doesn't after each iteration.
#[cold]
#[inline(never)]
pub fn around_iteration(at: &At, condition: &'static str, after: bool) -> Error {
    let when = if after { "after each iteration" } else { "before the loop" };
    at.error(Cause::postcondition(condition, after, when))
}

/// Two places that are one.
#[cold]
#[inline(never)]
pub fn aliased(at: &At, first: &'static str, second: &'static str) -> Error {
    at.error(Cause::Alias { first: first.into(), second: second.into() })
}

/// An instruction that can't be undone on its values.
#[cold]
#[inline(never)]
pub fn inexact(at: &At, instr: &'static str, place: &'static str, reason: InstrError) -> Error {
    at.error(Cause::Instruction { instr: instr.into(), place: place.into(), reason })
}

/// Arrays whose shapes don't fit the product that they are in.
#[cold]
#[inline(never)]
#[allow(clippy::boxed_local)] // as the kernels give it
pub fn misfit(at: &At, cause: Box<Cause>) -> Error {
    at.error(*cause)
}

/// Two arrays of one statement whose shapes differ.
#[cold]
#[inline(never)]
pub fn shapes(at: &At, place: &'static str, shapes: Shapes) -> Error {
    at.error(shape(place, &shapes.first, &shapes.second))
}

fn shape(place: impl Into<Text>, expected: &dyn Debug, found: &dyn Debug) -> Cause {
    Cause::Shape { place: place.into(), expected: format!("{expected:?}"), found: format!("{found:?}") }
}

/// An index array that is declared to hold no value twice, and holds one twice; or no memory to find out.
#[cold]
#[inline(never)]
pub fn not_injective(at: &At, place: &'static str, twice: Option<crate::checks::Twice>) -> Error {
    let Some(twice) = twice else { return no_memory(at) };
    at.error(Cause::NotInjective {
        place: place.into(),
        value: twice.value.to_string(),
        first: twice.first,
        second: twice.second,
    })
}

/// A pop from an empty stack.
#[cold]
#[inline(never)]
pub fn stack_empty(at: &At, stack: &'static str) -> Error {
    at.error(Cause::StackUnderflow { stack: stack.into() })
}

/// A pop onto a place that isn't zero.
#[cold]
#[inline(never)]
pub fn pop_onto(at: &At, place: &'static str, mismatch: Mismatch) -> Error {
    at.error(Cause::PopTarget { place: format!("{place}{}", mismatch.path), found: mismatch.found })
}

/// No memory for an array of the program's own.
#[cold]
#[inline(never)]
pub fn no_memory(at: &At) -> Error {
    at.error(memory())
}

/// No memory for the private copies of a parallel loop.
#[cold]
#[inline(never)]
pub fn no_copy() -> Error {
    Error::new(memory())
}

/// A derivative by an argument that has none.
pub fn no_derivative(argument: &'static str, reason: &'static str) -> Error {
    Error::new(Cause::NoDerivative { argument: argument.into(), reason: reason.into() })
}

/// Directions that don't say what each argument's is.
pub fn directions(name: &'static str, expected: &'static str, found: &'static str) -> Error {
    let operation = format!("the direction `{name}`");
    Error::new(Cause::Type { operation: operation.into(), expected: expected.into(), found: found.into() })
}

/// A plan that has products of rows where a function gives those of columns.
pub fn plan_by_rows() -> Error {
    let expected = "a plan by columns, or of a symmetric matrix";
    Error::new(Cause::Type {
        operation: "the plan".into(),
        expected: expected.into(),
        found: "a plan by rows".into(),
    })
}

/// A matrix to be filled that is of other arguments.
pub fn other_matrix(found: &dyn Debug, expected: &dyn Debug) -> Error {
    let expected = format!("{expected:?}, with the same names");
    Error::new(Cause::Shape { place: "matrix".into(), expected, found: format!("{found:?}") })
}

/// Products that a plan can't make a matrix of.
pub fn plan(wrong: &rev_core::sparse::LengthError) -> Error {
    let expected = "as many products as the plan has groups";
    Error::new(Cause::Type {
        operation: "the plan".into(),
        expected: expected.into(),
        found: wrong.to_string(),
    })
}

fn memory() -> Cause {
    Cause::Device { device: "cpu".into(), reason: "out of memory".into() }
}

/// An array argument with a number of dimensions that isn't the declared one.
#[cold]
#[inline(never)]
pub fn rank(found: usize, expected: usize) -> Error {
    let dimensions = |n: usize| format!("{n} dimensions");
    Error::new(Cause::Shape {
        place: "an array".into(),
        expected: dimensions(expected),
        found: dimensions(found),
    })
}

/// An argument whose shape has to be that of another.
#[cold]
#[inline(never)]
pub fn argument_shape(name: &'static str, expected: &[usize], found: &[usize]) -> Error {
    Error::new(shape(name, &expected, &found))
}

/// An error of a callee, seen from the call.
#[cold]
#[inline(never)]
pub fn called(at: &At, error: Error) -> Error {
    error.at(at.site())
}

/// The difference that would have passed, for messages. `T` is the type of the numbers.
pub fn tolerance<T: 'static>(tolerances: &Tolerances, mismatch: &Mismatch, held: Option<f64>) -> f64 {
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite()).unwrap_or(0.0);
    let (found, expected) = (number(&mismatch.found), number(&mismatch.expected));
    if TypeId::of::<T>() == TypeId::of::<f64>() {
        tolerances.f64.limit(found, expected, held)
    } else if TypeId::of::<T>() == TypeId::of::<f32>() {
        tolerances.f32.limit(found, expected, held)
    } else {
        0.0
    }
}

/// That a function has no fused program.
///
/// # Errors
///
/// Always.
#[cold]
pub fn no_fused_program(name: &'static str) -> Result<(), Error> {
    Err(Cause::Missing { kind: "fused program".into(), name: name.into() }.into())
}

/// A function whose tangents aren't compiled.
pub fn no_tangents(name: &'static str) -> Error {
    let name = format!("{name}, without `#[reversible(tangent)]`");
    Cause::Missing { kind: "tangent".into(), name }.into()
}

/// A function of which the adjoint of the inverse isn't compiled.
pub fn no_inverse_adjoint(name: &'static str) -> Error {
    let name = format!("{name}, without `#[reversible(inverse_adjoint)]`");
    Cause::Missing { kind: "adjoint of the inverse".into(), name }.into()
}

/// A function that has no derivative by a single number.
///
/// # Errors
///
/// Always.
#[cold]
pub fn no_single_number<T>(why: &str) -> Result<T, Error> {
    Err(Cause::Rejected(why.to_string()).into())
}

/// Two values that don't have arrays of the same shapes.
#[cold]
#[inline(never)]
pub fn misshapen(at: &At, place: &'static str, m: Mismatch) -> Error {
    at.error(misfit_of_arrays(place, m))
}

fn misfit_of_arrays(place: &'static str, m: Mismatch) -> Cause {
    Cause::Shape { place: format!("{place}{}", m.path).into(), expected: m.expected, found: m.found }
}

/// Checks that the arrays in an argument have the shapes of those in the one that it belongs to, and its stacks the
/// heights, where these count.
///
/// # Errors
///
/// When they haven't.
pub fn same_shapes<A: DynArg, B: DynArg>(
    name: &'static str,
    expected: &A,
    found: &B,
    stacks: bool,
) -> Result<(), Error> {
    rev_core::value::same_shapes(expected, found, stacks).map_err(|m| misfit_of_arrays(name, m).into())
}

/// The same of the elements of slices of one length.
///
/// # Errors
///
/// When they haven't.
pub fn same_shapes_in<A: DynArg, B: DynArg>(
    name: &'static str,
    expected: &[A],
    found: &[B],
    stacks: bool,
) -> Result<(), Error> {
    if A::is_shaped() {
        same_shapes(name, &expected, &found, stacks)
    } else {
        Ok(())
    }
}

/// Checks that the enums in a tangent or cotangent are of the variants of those that it belongs to: what another variant holds
/// would be lost.
///
/// # Errors
///
/// When they aren't.
pub fn same_variants<A: DynArg + ?Sized, B: DynArg + ?Sized>(
    name: &'static str,
    expected: &A,
    found: &B,
) -> Result<(), Error> {
    rev_core::value::same_variants(&expected.load(), &found.load()).map_err(|m| {
        let operation = format!("the variant of `{name}{}`", m.path).into();
        Cause::Type { operation, expected: m.expected.into(), found: m.found }.into()
    })
}

/// The same of the shapes themselves.
///
/// # Errors
///
/// Where they differ.
pub fn alike(name: &'static str, expected: &ArrayShapes, found: &ArrayShapes) -> Result<(), Error> {
    expected.expect(found).map_err(|m| misfit_of_arrays(name, m).into())
}

/// Checks that an argument has the shape of the one that it belongs to.
///
/// # Errors
///
/// When it hasn't.
pub fn same_shape(name: &'static str, expected: &[usize], found: &[usize]) -> Result<(), Error> {
    if expected == found {
        Ok(())
    } else {
        Err(argument_shape(name, expected, found))
    }
}
