//! What every generated program may use: pure functions, small reversible functions, a struct and a
//! constant, in the text form and as Rust source.

use rev_core::ir::{Function, Mode, Module, Number};
use rev_core::text::{parse_module, ParseError};

use crate::scope::What;
use crate::signature::{Param, Signature};

/// The prelude as a module in the text form.
pub const TEXT: &str = "\
module axpy

const HALF = 0.5
const TABLE = [0.5f64, -0.25f64, 0.125f64, 0.75f64]

struct Body<T: Real> {
    mass: T,
    arm: [T; 2],
}

pure fn bend<T: Real>(x: T, n: usize) -> T {
    let t: T = x * x;
    if n > 1 { 0.5 * sin(x) } else { t / (1 + t) }
}

pure fn given<T: Real>(x: T, y: T) -> T {
    x * sin(y)
} partials (sin(y), x * cos(y))

pure fn polar<T: Real>(r: T, a: T) -> (T, T) {
    let c: T = cos(a);
    (0.5 * r * c, 0.5 * r * sin(a))
}

pure fn which(n: i64, b: bool) -> i64 {
    if b { quot(n, 3) } else { n - 1 }
}

pure fn gauge<T: Real>(n: i64, x: T, b: bool) -> (bool, T, i64) {
    let k: i64 = which(n, !b);
    (k > 1 || b, if b { 0.5 * sin(x) } else { 0.25 * tanh(x) }, k)
}

fn axpy<T: Real>(y: &mut [T], a: T, x: [T]) {
    for i in 0..len(y) {
        y[i] += a * x[i]
    }
}

fn blend<T: Real>(y: &mut [T], a: T, x: [T]) {
    for i in 0..len(y) {
        y[i] += a * sin(x[i])
    }
}

fn turn<T: Real>(a: &mut T, b: &mut T, t: T) {
    rot(a, b, t)
    a += 0.25 * sin(t)
}

fn tally<T: Real>(sum: &mut T, count: &mut i64, x: T, n: usize) {
    for i in 0..n {
        sum += x
        count += 1
    }
}

fn lift<T: Real>(y: &mut T, x: T) {
    y += 0.5 * sin(x)
}

fn fade<T: Real>(y: &mut T, x: T) {
    if x > 0 {
        y -= 0.25 * x
    } else {
        y -= tanh(x)
    }
}

fn twice<T: Real, F: fn(&mut T, T)>(y: &mut T, x: T, f: F) {
    managed anc s: T = 0_T {
        call f(&mut s, x)
        call f(&mut y, s)
        uncall f(&mut y, x)
    }
}
";

/// The constant table of the prelude, and the name of the binding that stands for it.
pub const TABLE: &str = "TABLE";
/// How many numbers it has.
pub const TABLE_LENGTH: usize = 4;

/// The functions that `twice` can be given.
pub const FUNCTIONS: [&str; 2] = ["lift", "fade"];

/// The same in Rust.
pub const RUST: &str = "\
/// A named constant.
pub const HALF: f64 = 0.5;

/// A constant table.
pub const TABLE: [f64; 4] = [0.5, -0.25, 0.125, 0.75];

/// A struct of numbers.
#[derive(Clone, Debug, PartialEq, Reversible)]
pub struct Body<T: Real> {
    /// A number.
    pub mass: T,
    /// Two more.
    pub arm: [T; 2],
}

/// A pure function with a branch.
#[pure(order = 3)]
pub fn bend<T: Real>(x: T, n: usize) -> T {
    let t = x * x;
    if n > 1 {
        0.5 * sin(x)
    } else {
        t / (1 + t)
    }
}

/// A pure function with given derivatives.
#[pure(order = 3, d(x) = sin(y), d(y) = x * cos(y))]
pub fn given<T: Real>(x: T, y: T) -> T {
    x * sin(y)
}

/// A pure function of two results.
#[pure(order = 3)]
pub fn polar<T: Real>(r: T, a: T) -> (T, T) {
    let c = cos(a);
    (0.5 * r * c, 0.5 * r * sin(a))
}

/// A pure function of what carries no derivative.
#[pure(order = 3)]
pub fn which(n: i64, b: bool) -> i64 {
    if b { n / 3 } else { n - 1 }
}

/// A pure function of numbers of several types.
#[pure(order = 3)]
pub fn gauge<T: Real>(n: i64, x: T, b: bool) -> (bool, T, i64) {
    let k = which(n, !b);
    (k > 1 || b, if b { 0.5 * sin(x) } else { 0.25 * tanh(x) }, k)
}

/// `y += a x`
#[reversible(tangent, adjoint)]
pub fn axpy<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for i in 0..y.len() {
        y[i] += a * x[i];
    }
}

/// The same of sines, for arrays of any strides.
#[reversible(tangent, adjoint)]
pub fn blend<T: Real>(mut y: ArrayViewMut1<T>, a: T, x: ArrayView1<T>) {
    for i in 0..y.len() {
        y[i] += a * sin(x[i]);
    }
}

/// A rotation and a shift.
#[reversible(tangent, adjoint)]
pub fn turn<T: Real>(a: &mut T, b: &mut T, t: T) {
    rot(a, b, t);
    a += 0.25 * sin(t);
}

/// A sum and a count.
#[reversible(tangent, adjoint)]
pub fn tally<T: Real>(sum: &mut T, count: &mut i64, x: T, n: usize) {
    for i in 0..n {
        sum += x;
        count += 1;
    }
}

/// To be passed to `twice`.
#[reversible(tangent, adjoint)]
pub fn lift<T: Real>(y: &mut T, x: T) {
    y += 0.5 * sin(x);
}

/// To be passed to `twice`.
#[reversible(tangent, adjoint)]
pub fn fade<T: Real>(y: &mut T, x: T) {
    if x > 0 {
        y -= 0.25 * x;
    } else {
        y -= tanh(x);
    }
}

/// A function that takes one.
#[reversible(tangent, adjoint)]
pub fn twice<T: Real>(y: &mut T, x: T, f: impl Reversible<(&mut T, T)>) {
    let mut s = T::zero();
    f(&mut s, x);
    f(&mut y, s);
    f.inverse(&mut y, x);
}
";

/// The prelude.
pub fn module() -> Result<Module, ParseError> {
    parse_module(TEXT)
}

/// The reversible functions of the prelude.
pub fn signatures() -> Vec<Signature> {
    let param = |name: &str, what, mode| Param { name: name.into(), what, mode, by_reference: false };
    let function = |name: &str, exact, params| Signature {
        name: name.into(),
        params,
        exact,
        any_length: matches!(name, "axpy" | "blend"),
        strided: name == "blend",
        accumulates: name != "turn",
        loops_allowed: if matches!(name, "axpy" | "blend") { 1 } else { 2 },
    };
    use Mode::{Read, Write};
    let sum =
        || vec![param("y", What::Reals, Write), param("a", What::Real, Read), param("x", What::Reals, Read)];
    vec![
        function("axpy", true, sum()),
        function("blend", true, sum()),
        function(
            "turn",
            false,
            vec![param("a", What::Real, Write), param("b", What::Real, Write), param("t", What::Real, Read)],
        ),
        function(
            "tally",
            true,
            vec![
                param("sum", What::Real, Write),
                param("count", What::Int, Write),
                param("x", What::Real, Read),
                param("n", What::Index(3), Read),
            ],
        ),
        function("lift", true, vec![param("y", What::Real, Write), param("x", What::Real, Read)]),
        function("fade", true, vec![param("y", What::Real, Write), param("x", What::Real, Read)]),
        function(
            "twice",
            true,
            vec![
                param("y", What::Real, Write),
                param("x", What::Real, Read),
                param("f", What::Function, Read),
            ],
        ),
    ]
}

/// A module with functions beside those of the prelude, about the last of them.
pub fn with(functions: &[Function]) -> Result<Module, ParseError> {
    let mut m = module()?;
    for f in functions {
        m.entry = f.name.clone();
        m.functions.insert(f.name.clone(), f.clone());
    }
    debug_assert!(matches!(m.constants.get("HALF"), Some(Number::Float(_))));
    Ok(m)
}
