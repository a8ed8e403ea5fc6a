//! The table of pure functions, operators among them: one row each.
//!
//! A row says: the variant, the name (in the text form, in the source as a function or method, and
//! of the generic Rust function in `rev_core::scalar::rt` that computes it), the class of scalar
//! that it needs, the shape of its arguments and result, and its derivative.
//!
//! Shapes: `T` a scalar of the row's class, `R` its real part's type, `C` the complex type over it,
//! `I` an `i32`, `B` a truth value, `S` a shadow (cotangent) of a `T`, `SR` one of an `R`, `SC` one of a `C`.
//!
//! Derivatives at points where the function has none (issue of convention): `|x|` and `hypot` at 0
//! have subgradient 0; `max` and `min` give the whole gradient to the first argument at ties;
//! `sqrt`, `asin`, `acos` and `powf` have infinite derivatives at the ends of their domains, and a
//! cotangent of zero stays zero there; `powf(0, y)` has derivative 0 in `y`; `atan2(0, 0)` has
//! gradient 0. Rounding functions have derivative 0.

use crate::ir::{Class, Expr, ExprKind};

/// How the cotangent of a function's result becomes cotangents of its arguments.
///
/// `a` are the argument expressions and `v` the expression of the value itself.
#[derive(Clone, Copy)]
pub enum Derivative {
    /// None: the result or the arguments carry no derivative.
    Zero,
    /// The partial derivative for each argument. For complex scalars the function is holomorphic
    /// and the cotangent is multiplied by the conjugate of the partial derivative.
    Partials(fn(a: &[Expr], v: &Expr) -> Vec<Expr>),
    /// The same, where a partial derivative may be infinite at a point at which a zero cotangent
    /// has to stay zero (multiplied by [`Func::Absorb`]).
    Singular(fn(a: &[Expr], v: &Expr) -> Vec<Expr>),
    /// The result is argument `.1` where the condition holds, else argument `.2`.
    Choice(fn(a: &[Expr]) -> Expr, usize, usize),
    /// The function isn't holomorphic, or acts on shadows: for each argument its cotangent as an
    /// expression in the cotangent `c` of the result, `None` for arguments that get none; and the tangent of
    /// the result as one in the tangents `t` of the arguments, `None` where there is none.
    Pullback(fn(a: &[Expr], v: &Expr, c: &Expr) -> Vec<Option<Expr>>, Push),
}

/// The tangent of a function's value `v`, from those `t` of its arguments `a`.
pub type Push = fn(a: &[Expr], v: &Expr, t: &[Option<Expr>]) -> Option<Expr>;

/// A type in the signature of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Shape {
    T,
    R,
    C,
    I,
    B,
    S,
    SR,
    SC,
}

/// One row of the table.
pub struct FuncRow {
    /// The function.
    pub func: Func,
    /// Its name.
    pub name: &'static str,
    /// What `T` has to be able to do.
    pub class: Class,
    /// The arguments.
    pub args: &'static [Shape],
    /// The result.
    pub result: Shape,
    /// The derivative.
    pub derivative: Derivative,
}

fn int(n: i128) -> Expr {
    Expr::int(n)
}
fn call(f: Func, args: &[&Expr]) -> Expr {
    Expr::func(f, args.iter().map(|e| (*e).clone()).collect())
}
fn sq(e: &Expr) -> Expr {
    e.clone() * e.clone()
}
fn at_zero(x: &Expr, value: Expr, elsewhere: Expr) -> Expr {
    call(Func::Eq, &[x, &int(0)]).choose(value, elsewhere)
}
/// One where a number is zero, else the number: for what is divided by it, or its logarithm, where that counts for nothing.
fn nonzero(x: &Expr) -> Expr {
    at_zero(x, int(1), x.clone())
}
/// `a/b`; where `b` is zero, zero with all its derivatives.
fn quotient(a: &Expr, b: &Expr) -> Expr {
    at_zero(b, int(0), a.clone()) / nonzero(b)
}
/// Zero where both arguments are, else the value.
fn but_at_origin(a: &[Expr], elsewhere: Expr) -> Expr {
    let [x, y] = [0, 1].map(|k| call(Func::Eq, &[&a[k], &int(0)]));
    Expr::func(Func::And, vec![x, y]).choose(int(0), elsewhere)
}

/// The tangent of a function that is linear in its first argument.
fn linear(f: Func, t: &[Option<Expr>]) -> Option<Expr> {
    t[0].as_ref().map(|t| call(f, &[t]))
}
/// The tangent of a real function of a number, by its gradient `g`: `Re(conj(g) t)`.
fn along(g: &Expr, t: &[Option<Expr>]) -> Option<Expr> {
    t[0].as_ref().map(|t| call(Func::Re, &[&(call(Func::Conj, &[g]) * t.clone())]))
}
/// The tangent of a function of two arguments that is linear in each.
fn bilinear(
    f: fn(&Expr, &Expr) -> Expr,
    g: fn(&Expr, &Expr) -> Expr,
    a: &[Expr],
    t: &[Option<Expr>],
) -> Option<Expr> {
    let first = t[0].as_ref().map(|t| f(t, &a[1]));
    let second = t[1].as_ref().map(|t| g(&a[0], t));
    first.into_iter().chain(second).reduce(|a, b| a + b)
}
fn scaled(s: &Expr, by: &Expr) -> Expr {
    call(Func::Scale, &[s, by])
}

/// The real or imaginary part of a complex cotangent, taken back where it was put in: `None` for
/// the part that isn't there.
fn part(which: Func, c: &Expr) -> Option<Expr> {
    match (&c.kind, which) {
        (ExprKind::Func(Func::ShadowFromRe, args), Func::ShadowRe)
        | (ExprKind::Func(Func::ShadowFromIm, args), Func::ShadowIm) => args.first().cloned(),
        (ExprKind::Func(Func::ShadowFromRe | Func::ShadowFromIm, _), _) => None,
        _ => Some(call(which, &[c])),
    }
}

/// Calls a macro with every row of the table: `(Variant name Class (args) result derivative)`, those of
/// [`elementary_table`](crate::elementary_table) among them.
#[macro_export]
macro_rules! func_table {
    ($callback:ident) => {
        $crate::elementary_table!($crate::all_functions, $callback);
    };
}

/// The rows of other functions, with those of the elementary ones.
#[doc(hidden)]
#[macro_export]
macro_rules! all_functions {
    ($callback:ident $(($variant:ident $name:ident($($arg:ident)*) $doc:literal $($row:tt)*))*) => {
        $callback! {
            $(($variant $name $($row)*))*
            // arithmetic
            (Add add Ring (T T) T Partials(|_, _| vec![int(1), int(1)]))
            (Sub sub Ring (T T) T Partials(|_, _| vec![int(1), int(-1)]))
            (Mul mul Ring (T T) T Partials(|a, _| vec![a[1].clone(), a[0].clone()]))
            (Div div Field (T T) T Partials(|a, v| {
                // one division for both
                let r = int(1) / a[1].clone();
                vec![r.clone(), -(v.clone() * r)] }))
            (Neg neg Ring (T) T Partials(|_, _| vec![int(-1)]))
            (MulAdd mul_add Ring (T T T) T Partials(|a, _| vec![a[1].clone(), a[0].clone(), int(1)]))
            // the product itself; added as the whole right side of an update, it is rounded with the sum
            (Fused fused Ring (T) T Pullback(|_, _, c| vec![Some(c.clone())], |_, _, t| t[0].clone()))
            // the number, which counts as a constant for all derivatives
            (StopGradient stop_gradient Ring (T) T Zero)
            // a tangent of which only rustc knows whether it has one: the number, but 0 for an integer
            (Differentiable differentiable Scalar (T) T Pullback(|_, _, c| vec![Some(c.clone())], |_, _, t| t[0].clone()))
            // integers
            (Quot quot Integer (T T) T Zero)
            (Rem rem Integer (T T) T Zero)
            (BitAnd bit_and Integer (T T) T Zero)
            (BitOr bit_or Integer (T T) T Zero)
            (BitXor bit_xor Scalar (T T) T Zero)
            (Shl shl Integer (T I) T Zero)
            (Shr shr Integer (T I) T Zero)
            // comparison and logic
            (Eq eq Scalar (T T) B Zero)
            (Ne ne Scalar (T T) B Zero)
            (Lt lt Scalar (T T) B Zero)
            (Le le Scalar (T T) B Zero)
            (Gt gt Scalar (T T) B Zero)
            (Ge ge Scalar (T T) B Zero)
            (And and Scalar (B B) B Zero)
            (Or or Scalar (B B) B Zero)
            (Not not Scalar (B) B Zero)
            (Select select Scalar (B T T) T Choice(|a| a[0].clone(), 1, 2))
            // order; also for integers
            (Min min Scalar (T T) T Choice(|a| call(Func::Le, &[&a[0], &a[1]]), 0, 1))
            (Max max Scalar (T T) T Choice(|a| call(Func::Ge, &[&a[0], &a[1]]), 0, 1))
            (Abs abs Ring (T) T Partials(|a, _| vec![call(Func::Unit, &[&a[0]])]))
            // rounding
            (Floor floor Real (T) T Zero)
            (Ceil ceil Real (T) T Zero)
            (Round round Real (T) T Zero)
            (Trunc trunc Real (T) T Zero)
            (CopySign copysign Real (T T) T Partials(|a, _| vec![
                call(Func::CopySign, &[&int(1), &a[0]]) * call(Func::CopySign, &[&int(1), &a[1]]), int(0)]))
            // powers and roots
            // a program that divides by the root as well divides once
            (Sqrt sqrt Field (T) T Singular(|_, v| vec![Expr::float(0.5) * (int(1) / v.clone())]))
            (Recip recip Field (T) T Partials(|_, v| vec![-sq(v)]))
            (Powi powi Field (T I) T Partials(|a, _| vec![call(Func::PowiDerivative, &[&a[0], &a[1], &int(1)]), int(0)]))
            (PowiDerivative powi_derivative Field (T I I) T Partials(|a, _| vec![
                call(Func::PowiDerivative, &[&a[0], &a[1], &call(Func::Add, &[&a[2], &int(1)])]), int(0), int(0)]))
            // special functions
            (LnGamma ln_gamma Real (T) T Partials(|a, _| vec![call(Func::Polygamma, &[&int(0), &a[0]])]))
            (Polygamma polygamma Real (I T) T Partials(|a, _| vec![
                int(0), call(Func::Polygamma, &[&call(Func::Add, &[&a[0], &int(1)]), &a[1]])]))
            // complex numbers; on real ones the identity, the modulus and so on
            (Conj conj Ring (T) T Pullback(|_, _, c| vec![Some(call(Func::ShadowConj, &[c]))],
                |_, _, t| linear(Func::Conj, t)))
            (Re re Field (T) R Pullback(|_, _, c| vec![Some(call(Func::ShadowFromRe, &[c]))],
                |_, _, t| linear(Func::Re, t)))
            (Im im Field (T) R Pullback(|_, _, c| vec![Some(call(Func::ShadowFromIm, &[c]))],
                |_, _, t| linear(Func::Im, t)))
            (Complex complex Real (T T) C Pullback(|_, _, c| vec![
                part(Func::ShadowRe, c), part(Func::ShadowIm, c)],
                |_, _, t| {
                    let of = |k: usize| t[k].clone().unwrap_or_else(|| int(0));
                    t.iter().any(Option::is_some).then(|| call(Func::Complex, &[&of(0), &of(1)])) }))
            (Abs2 abs2 Field (T) R Pullback(|a, _, c| vec![
                Some(call(Func::ScaleReal, &[c, &(a[0].clone() + a[0].clone())]))],
                |a, _, t| along(&(a[0].clone() + a[0].clone()), t)))
            (Norm norm Field (T) R Pullback(|a, _, c| vec![Some(call(Func::ScaleReal, &[c, &call(Func::Unit, &[&a[0]])]))],
                |a, _, t| along(&call(Func::Unit, &[&a[0]]), t)))
            (Arg arg Field (T) R Pullback(|a, _, c| vec![Some(call(Func::ScaleReal, &[c, &call(Func::ArgGradient, &[&a[0]])]))],
                |a, _, t| along(&call(Func::ArgGradient, &[&a[0]]), t)))
            // w = i z/|z|² = i/conj(z): dw = -w/conj(z) conj(dz); on real numbers w is 0
            (ArgGradient arg_gradient Field (T) T Pullback(|a, v, c| vec![
                Some(call(Func::Scale, &[&call(Func::ShadowConj, &[c]),
                    &-(v.clone() / call(Func::Conj, &[&nonzero(&a[0])]))]))],
                |a, v, t| t[0].as_ref().map(|t|
                    -(v.clone() / call(Func::Conj, &[&nonzero(&a[0])]) * call(Func::Conj, &[t])))))
            // u = z/|z|: only the angle counts, du = i u d(arg z); on real numbers u is constant. With
            // i u d(arg z) = (dz - u² conj(dz))/(2|z|) and |z| = z conj(u) the tangent is one of any number
            (Unit unit Ring (T) T Pullback(|a, v, c| vec![
                Some(call(Func::ScaleReal, &[
                    &call(Func::ShadowIm, &[&call(Func::Scale, &[c, &call(Func::Conj, &[v])])]),
                    &call(Func::ArgGradient, &[&a[0]])]))],
                |a, v, t| t[0].as_ref().map(|t| at_zero(&a[0], int(0),
                    (t.clone() - sq(v) * call(Func::Conj, &[t]))
                        / ((a[0].clone() + a[0].clone()) * call(Func::Conj, &[v]))))))
            // shadows: what adjoints are made of; all linear in the shadow
            (Scale scale Ring (S T) S Pullback(|a, _, c| vec![
                Some(call(Func::Scale, &[c, &call(Func::Conj, &[&a[1]])])),
                Some(call(Func::Scale, &[c, &call(Func::Conj, &[&a[0]])]))],
                |a, _, t| bilinear(scaled, scaled, a, t)))
            (Absorb absorb Ring (S T) S Pullback(|a, _, c| vec![
                Some(call(Func::Absorb, &[c, &call(Func::Conj, &[&a[1]])])),
                Some(call(Func::Scale, &[c, &call(Func::Conj, &[&a[0]])]))],
                |a, _, t| bilinear(|s, by| call(Func::Absorb, &[s, by]), scaled, a, t)))
            (ScaleReal scale_real Field (SR T) S Pullback(|a, _, c| vec![
                Some(call(Func::ShadowRe, &[&call(Func::Scale, &[c, &call(Func::Conj, &[&a[1]])])])),
                Some(call(Func::ScaleReal, &[&a[0], c]))],
                |a, _, t| bilinear(|s, by| call(Func::ScaleReal, &[s, by]), |s, by| call(Func::ScaleReal, &[s, by]), a, t)))
            // the same cotangent, where only the value says of what type it is
            (ShadowOf shadow_of Scalar (S T) S Pullback(|_, _, c| vec![Some(c.clone()), None],
                |a, _, t| t[0].as_ref().map(|t| call(Func::ShadowOf, &[t, &a[1]]))))
            (ShadowConj shadow_conj Ring (S) S Pullback(|_, _, c| vec![Some(call(Func::ShadowConj, &[c]))],
                |_, _, t| linear(Func::ShadowConj, t)))
            (ShadowRe shadow_re Field (S) SR Pullback(|_, _, c| vec![Some(call(Func::ShadowFromRe, &[c]))],
                |_, _, t| linear(Func::ShadowRe, t)))
            (ShadowIm shadow_im Field (S) SR Pullback(|_, _, c| vec![Some(call(Func::ShadowFromIm, &[c]))],
                |_, _, t| linear(Func::ShadowIm, t)))
            (ShadowFromRe shadow_from_re Field (SR) S Pullback(|_, _, c| vec![Some(call(Func::ShadowRe, &[c]))],
                |_, _, t| linear(Func::ShadowFromRe, t)))
            (ShadowFromIm shadow_from_im Field (SR) S Pullback(|_, _, c| vec![Some(call(Func::ShadowIm, &[c]))],
                |_, _, t| linear(Func::ShadowFromIm, t)))
        }
    };
}

macro_rules! define_funcs {
    ($(($variant:ident $name:ident $class:ident ($($arg:ident)*) $result:ident $kind:ident $(($($derivative:tt)*))?))*) => {
        /// A pure function of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Func { $($variant),* }

        impl Func {
            /// Every function.
            pub const ALL: &'static [Func] = &[$(Func::$variant),*];

            /// The function's row.
            pub fn row(self) -> FuncRow {
                match self {
                    $(Func::$variant => FuncRow {
                        func: self,
                        name: stringify!($name),
                        class: Class::$class,
                        args: &[$(Shape::$arg),*],
                        result: Shape::$result,
                        derivative: Derivative::$kind $(($($derivative)*))?,
                    },)*
                }
            }

            /// The function's name.
            pub fn name(self) -> &'static str {
                match self { $(Func::$variant => stringify!($name)),* }
            }

            /// The function with a name.
            pub fn from_name(name: &str) -> Option<Func> {
                match name { $(stringify!($name) => Some(Func::$variant),)* _ => None }
            }
        }
    };
}

func_table!(define_funcs);
