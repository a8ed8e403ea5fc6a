//! The manual's section on floating-point instructions: `f32` and `f64`.
//!
//! Only what the manual defines to the bit is here: `.approx` and `.full` are errors, and so are
//! additions and multiplications without a rounding, which an assembler may contract.

use super::lanes::{for_types, lanes, Float};
use super::{Decoder, Form};
use crate::emulator::code::{Alu, Mode, Op};
use crate::emulator::soft::{Format, Rounding, F32, F64};
use crate::emulator::syntax::Type;
use crate::emulator::SyntaxError;

/// `floats!(ty, |a, b, c| result)` for `f32` and `f64`.
macro_rules! floats {
    ($ty:expr, |$a:pat_param, $b:pat_param, $c:pat_param| $e:expr) => {
        for_types!($ty, T in [f32 f64], lanes!(T, |$a, $b, $c| $e))
    };
}

/// The same in a direction other than to nearest, on bits: `F` and `M` are format and direction.
macro_rules! directed {
    ($ty:expr, $mode:expr, |$F:ident, $M:ident, $a:pat_param, $b:pat_param, $c:pat_param| $e:expr) => {
        match ($ty.bits, $mode) {
            (32, Rounding::Zero) => directed!(@ F32, Zero, $F, $M, $a, $b, $c, $e),
            (32, Rounding::Down) => directed!(@ F32, Down, $F, $M, $a, $b, $c, $e),
            (32, _) => directed!(@ F32, Up, $F, $M, $a, $b, $c, $e),
            (_, Rounding::Zero) => directed!(@ F64, Zero, $F, $M, $a, $b, $c, $e),
            (_, Rounding::Down) => directed!(@ F64, Down, $F, $M, $a, $b, $c, $e),
            (_, _) => directed!(@ F64, Up, $F, $M, $a, $b, $c, $e),
        }
    };
    (@ $format:ident, $direction:ident, $F:ident, $M:ident, $a:pat_param, $b:pat_param, $c:pat_param, $e:expr) => {{
        const $F: Format = $format;
        const $M: Rounding = Rounding::$direction;
        Some(lanes!(u64, |$a, $b, $c| $e))
    }};
}

impl Decoder<'_> {
    /// `ty`: where the caller looked at it already.
    pub(super) fn float(&mut self, form: &mut Form<'_>, ty: Option<Type>) -> Result<Op, SyntaxError> {
        if let Some(ty) = ty.filter(|t| t.bits == 16) {
            return Err(self.error(format!("arithmetic on `{ty}` isn't supported here")));
        }
        match form.name {
            "min" | "max" => return self.extremum(form),
            "neg" | "abs" | "copysign" => return self.sign(form),
            _ => {}
        }
        if let Some(m @ ("approx" | "full")) = form.mods.first().map(String::as_str) {
            let name = form.name;
            return Err(self
                .error(format!("`{name}.{m}` is an approximation, whose value the manual doesn't define")));
        }
        let rounding = self.rounding(form);
        let flush = form.accept("ftz");
        let saturate = matches!(form.name, "add" | "sub" | "mul" | "mad" | "fma") && form.accept("sat");
        let ty = self.ty(form)?;
        if !ty.is_float() || ty.bits == 16 {
            return Err(self.no_type(form, ty));
        }
        let Some(rounding) = rounding else {
            let why = match form.name {
                "add" | "sub" | "mul" => "may be contracted",
                _ => "isn't allowed",
            };
            return Err(self.error(format!("`{}{ty}` without a rounding {why}", form.name)));
        };
        let mode = self.single(form, ty, flush, saturate)?;
        let arity = match form.name {
            "sqrt" | "rcp" => 1,
            "mad" | "fma" => 3,
            "add" | "sub" | "mul" | "div" => 2,
            other => return Err(self.error(format!("`{other}` doesn't exist for `{ty}`"))),
        };
        self.alu(form, &[ty; 3][..arity], ty, rounded(form.name, ty, rounding), mode)
    }

    pub(super) fn rounding(&self, form: &mut Form<'_>) -> Option<Rounding> {
        Some(match form.one_of(&["rn", "rz", "rm", "rp"])? {
            "rn" => Rounding::Nearest,
            "rz" => Rounding::Zero,
            "rm" => Rounding::Down,
            _ => Rounding::Up,
        })
    }

    /// `.ftz` and `.sat` exist only for `f32`.
    fn single(&self, form: &Form<'_>, ty: Type, flush: bool, saturate: bool) -> Result<Mode, SyntaxError> {
        if (flush || saturate) && ty != Type::F32 {
            return Err(self.error(format!("`.ftz` and `.sat` of `{}` exist only for `.f32`", form.name)));
        }
        Ok(if flush || saturate { Mode::Single { flush, saturate } } else { Mode::Plain })
    }

    /// `min` and `max`: of a number and a NaN the number (the NaN with `.NaN`); `-0` is below `+0`.
    fn extremum(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let flush = form.accept("ftz");
        let nan = form.accept("NaN");
        if nan {
            self.since("`.NaN`", (7, 0), 80)?;
        }
        let ty = self.ty(form)?;
        if nan && ty != Type::F32 {
            return Err(self.error("`.NaN` exists only for `.f32`"));
        }
        let mode = self.single(form, ty, flush, false)?;
        let f = match (form.name, nan) {
            ("min", false) => {
                floats!(ty, |a, b, _| if b.is_nan() || a.below(b) { a } else { b })
            }
            ("max", false) => {
                floats!(ty, |a, b, _| if b.is_nan() || b.below(a) { a } else { b })
            }
            ("min", true) => {
                floats!(ty, |a, b, _| if a.is_nan() || a.below(b) { a } else { b })
            }
            (_, _) => floats!(ty, |a, b, _| if a.is_nan() || b.below(a) { a } else { b }),
        };
        self.alu(form, &[ty; 2], ty, f, mode)
    }

    /// Operations on the sign bit. (The manual gives `copysign d, a, b` the sign of `a` and the rest
    /// of `b`.)
    fn sign(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let flush = form.name != "copysign" && form.accept("ftz");
        let ty = self.ty(form)?;
        let mode = self.single(form, ty, flush, false)?;
        const S: u64 = 1 << 31;
        const D: u64 = 1 << 63;
        let f: Alu = match (form.name, ty.bits) {
            _ if !ty.is_float() || ty.bits == 16 => return Err(self.no_type(form, ty)),
            ("neg", 32) => lanes!(u64, |a, _, _| a ^ S),
            ("neg", _) => lanes!(u64, |a, _, _| a ^ D),
            ("abs", 32) => lanes!(u64, |a, _, _| a & !S),
            ("abs", _) => lanes!(u64, |a, _, _| a & !D),
            (_, 32) => lanes!(u64, |a, b, _| a & S | b & !S),
            (_, _) => lanes!(u64, |a, b, _| a & D | b & !D),
        };
        let arity = if form.name == "copysign" { 2 } else { 1 };
        self.alu(form, &[ty; 2][..arity], ty, Some(f), mode)
    }
}

fn rounded(name: &str, ty: Type, mode: Rounding) -> Option<Alu> {
    match (name, mode) {
        ("add", Rounding::Nearest) => floats!(ty, |a, b, _| a + b),
        ("sub", Rounding::Nearest) => floats!(ty, |a, b, _| a - b),
        ("mul", Rounding::Nearest) => floats!(ty, |a, b, _| a * b),
        ("div", Rounding::Nearest) => floats!(ty, |a, b, _| a / b),
        ("rcp", Rounding::Nearest) => floats!(ty, |a, _, _| 1.0 / a),
        ("sqrt", Rounding::Nearest) => floats!(ty, |a, _, _| a.sqrt()),
        (_, Rounding::Nearest) => floats!(ty, |a, b, c| a.mul_add(b, c)),
        ("add", _) => directed!(ty, mode, |F, M, a, b, _| F.add(a, b, M)),
        ("sub", _) => directed!(ty, mode, |F, M, a, b, _| F.add(a, F.negated(b), M)),
        ("mul", _) => directed!(ty, mode, |F, M, a, b, _| F.mul(a, b, M)),
        ("div", _) => directed!(ty, mode, |F, M, a, b, _| F.div(a, b, M)),
        ("rcp", _) => directed!(ty, mode, |F, M, a, _, _| F.div(F.one(), a, M)),
        ("sqrt", _) => directed!(ty, mode, |F, M, a, _, _| F.sqrt(a, M)),
        (_, _) => directed!(ty, mode, |F, M, a, b, c| F.fma(a, b, c, M)),
    }
}
