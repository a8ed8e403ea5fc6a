//! The elementary functions: rows of [`Func`](super::Func) that are one algorithm (a generic function of that name and
//! with these arguments in `rev_core::math`) for every number and device. From the rows are made
//! the methods of the scalars, the functions in lanes, and what a GPU's kernels write down.
//!
//! A row: the variant, the name with its arguments, what it is, and then as other rows: class, shapes, derivative. Those of
//! class `Field` have a form for complex numbers, in `rev_core::scalar` and in `rev_cuda`.

/// Calls a macro with some tokens and every row.
#[macro_export]
macro_rules! elementary_table {
    ($callback:path, $($with:tt)*) => {
        $callback! { $($with)*
            // powers and roots
            (Powf powf(x y) "`xʸ`" Real (T T) T Singular(|a, v| vec![
                // away from the origin the derivative of this is right where the exponent is zero, and `x^(y - 1)` may be infinite
                call(Func::Absorb, &[&but_at_origin(a, a[1].clone()),
                    &call(Func::Powf, &[&a[0], &but_at_origin(a, a[1].clone() - int(1))])]),
                at_zero(&a[0], int(0), v.clone()) * call(Func::Ln, &[&nonzero(&a[0])])]))
            (Hypot hypot(x y) "`√(x² + y²)` without overflow on the way." Real (T T) T Partials(|a, v| vec![
                quotient(&a[0], v), quotient(&a[1], v)]))
            (Fmod fmod(x y) "`x - n y` for the integer `n` next to `x/y` towards zero, exactly; with the sign of `x`." Real (T T) T
                Partials(|a, v| vec![int(1), call(Func::Round, &[&((v.clone() - a[0].clone()) / a[1].clone())])]))
            (Cbrt cbrt(x) "The cube root, of negative numbers too." Real (T) T
                Singular(|_, v| vec![int(1) / (int(3) * sq(v))]))
            // exponentials and logarithms
            (Exp exp(x) "`eˣ`" Field (T) T Partials(|_, v| vec![v.clone()]))
            (Expm1 expm1(x) "`eˣ - 1`, accurate near 0." Real (T) T Partials(|a, _| vec![call(Func::Exp, &[&a[0]])]))
            (Exp2 exp2(x) "`2ˣ`" Real (T) T Partials(|_, v| vec![Expr::float(std::f64::consts::LN_2) * v.clone()]))
            (Ln ln(x) "`ln x`, of a complex number its principal branch." Field (T) T
                Partials(|a, _| vec![int(1) / a[0].clone()]))
            (Log2 log2(x) "`log₂ x`" Real (T) T
                Partials(|a, _| vec![Expr::float(std::f64::consts::LOG2_E) / a[0].clone()]))
            (Log10 log10(x) "`log₁₀ x`" Real (T) T
                Partials(|a, _| vec![Expr::float(std::f64::consts::LOG10_E) / a[0].clone()]))
            (Log1p log1p(x) "`ln(1 + x)`, accurate near 0." Real (T) T
                Partials(|a, _| vec![int(1) / (int(1) + a[0].clone())]))
            (Sigmoid sigmoid(x) "`1/(1 + e⁻ˣ)`" Real (T) T
                Partials(|a, v| vec![v.clone() * call(Func::Sigmoid, &[&-a[0].clone()])]))
            (Softplus softplus(x) "`ln(1 + eˣ)`" Real (T) T
                Partials(|a, _| vec![call(Func::Sigmoid, &[&a[0]])]))
            (Erf erf(x) "The error function, `2/√π ∫₀ˣ e^(-t²) dt`." Real (T) T
                Partials(|a, _| vec![Expr::float(std::f64::consts::FRAC_2_SQRT_PI) * call(Func::Exp, &[&-sq(&a[0])])]))
            (Erfc erfc(x) "`1 - erf x`, accurate where it is small." Real (T) T
                Partials(|a, _| vec![Expr::float(-std::f64::consts::FRAC_2_SQRT_PI) * call(Func::Exp, &[&-sq(&a[0])])]))
            // trigonometric and hyperbolic
            (Sin sin(x) "The sine." Field (T) T Partials(|a, _| vec![call(Func::Cos, &[&a[0]])]))
            (Cos cos(x) "The cosine." Field (T) T Partials(|a, _| vec![-call(Func::Sin, &[&a[0]])]))
            (Tan tan(x) "The tangent." Field (T) T Partials(|_, v| vec![int(1) + sq(v)]))
            (Sinh sinh(x) "The hyperbolic sine." Field (T) T Partials(|a, _| vec![call(Func::Cosh, &[&a[0]])]))
            (Cosh cosh(x) "The hyperbolic cosine." Field (T) T Partials(|a, _| vec![call(Func::Sinh, &[&a[0]])]))
            (Tanh tanh(x) "The hyperbolic tangent." Field (T) T Partials(|_, v| vec![int(1) - sq(v)]))
            (Asinh asinh(x) "The inverse hyperbolic sine." Real (T) T
                Partials(|a, _| vec![int(1) / call(Func::Hypot, &[&a[0], &int(1)])]))
            (Acosh acosh(x) "The inverse hyperbolic cosine." Real (T) T Singular(|a, _| vec![
                int(1) / (call(Func::Sqrt, &[&(a[0].clone() - int(1))]) * call(Func::Sqrt, &[&(a[0].clone() + int(1))]))]))
            (Atanh atanh(x) "The inverse hyperbolic tangent." Real (T) T Singular(|a, _| vec![
                int(1) / ((int(1) - a[0].clone()) * (int(1) + a[0].clone()))]))
            (Asin asin(x) "The inverse sine." Real (T) T Singular(|a, _| vec![
                int(1) / call(Func::Sqrt, &[&((int(1) - a[0].clone()) * (int(1) + a[0].clone()))])]))
            (Acos acos(x) "The inverse cosine." Real (T) T Singular(|a, _| vec![
                -(int(1) / call(Func::Sqrt, &[&((int(1) - a[0].clone()) * (int(1) + a[0].clone()))]))]))
            (Atan atan(x) "The inverse tangent." Real (T) T Partials(|a, _| vec![int(1) / (int(1) + sq(&a[0]))]))
            (Atan2 atan2(y x) "The angle of the point `(x, y)`." Real (T T) T Partials(|a, _| {
                let r2 = sq(&a[0]) + sq(&a[1]);
                vec![quotient(&a[1], &r2), -quotient(&a[0], &r2)]
            }))
        }
    };
}

macro_rules! is_one {
    ($(($variant:ident $($rest:tt)*))*) => {
        impl super::Func {
            /// Whether it is one of the elementary functions.
            pub fn is_elementary(self) -> bool {
                matches!(self, $(super::Func::$variant)|*)
            }
        }
    };
}
elementary_table!(is_one,);
