//! `cvt`: the manual's table of conversions, with every rounding.

use super::lanes::lanes;
use super::operands::Size;
use super::{Decoder, Form};
use crate::emulator::code::{Alu, Mode, Op};
use crate::emulator::soft::{Format, Number, Rounding, BF16, F16, F32, F64};
use crate::emulator::syntax::{Class, Type};
use crate::emulator::SyntaxError;

/// A conversion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversion {
    to: Type,
    from: Type,
    rounding: Rounding,
    /// Rounded to an integer (`.rni` and its like).
    integral: bool,
    flush: bool,
    saturate: bool,
}

impl Decoder<'_> {
    /// `cvt{.irnd|.frnd}{.ftz}{.sat}.dtype.atype d, a`
    pub(super) fn cvt(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let integral = form.one_of(&["rni", "rzi", "rmi", "rpi"]);
        let named = match integral {
            Some("rni") => Some(Rounding::Nearest),
            Some("rzi") => Some(Rounding::Zero),
            Some("rmi") => Some(Rounding::Down),
            Some(_) => Some(Rounding::Up),
            None => self.rounding(form),
        };
        let (flush, saturate) = (form.accept("ftz"), form.accept("sat"));
        let (to, from) = (self.ty(form)?, self.ty(form)?);
        let integral = integral.is_some();
        self.conversion_exists(to, from)?;
        let (needs_integral, needs_rounding) = (
            from.is_float() && !to.is_float(),
            to.is_float() && (!from.is_float() || to.bits < from.bits || (to.bits == 16 && from != to)),
        );
        let may_be_integral = needs_integral || (to == from && from.is_float());
        match (named.is_some(), integral) {
            (false, _) if needs_integral || needs_rounding => {
                return Err(self.error(format!("`cvt{to}{from}` needs a rounding")));
            }
            (true, true) if !may_be_integral => {
                return Err(self.error(format!("`cvt{to}{from}` can't be rounded to an integer")));
            }
            (true, false) if !needs_rounding => {
                return Err(self.error(format!("`cvt{to}{from}` takes no floating-point rounding")));
            }
            _ => {}
        }
        if flush && to != Type::F32 && from != Type::F32 {
            return Err(self.error("`.ftz` exists only where one type is `.f32`"));
        }
        let [d, a] = self.operands(form)?;
        let special = match a {
            crate::emulator::syntax::Operand::Name(name, 0) => self.special(name).is_some(),
            _ => false,
        };
        if special {
            return Err(self.error("special registers are read by `mov`"));
        }
        let a = self.source(a, from, Size::Wider)?;
        let (d, register) = self.result(d, to, Size::Wider)?;
        let extend = to.is_signed() && register.bits > to.bits;
        if !to.is_float() && !from.is_float() && !saturate {
            let (f, mode) = integer_copy(to, from, extend.then_some(register.bits));
            let zero = self.constant(0);
            return Ok(Op::Alu { f, mode, d, a, b: zero, c: zero });
        }
        let rounding = named.unwrap_or(Rounding::Nearest);
        let how = Conversion { to, from, rounding, integral, flush, saturate };
        Ok(Op::Convert { how, sign_to: extend.then_some(register.bits), d, a })
    }

    fn conversion_exists(&self, to: Type, from: Type) -> Result<(), SyntaxError> {
        for ty in [to, from] {
            if ty.is_bits() || ty == Type::PRED {
                return Err(self.error(format!("`cvt` doesn't exist for `{ty}`")));
            }
        }
        match (to.class, from.class) {
            (Class::Brain, Class::Float) if from.bits == 32 => self.since("`cvt.bf16.f32`", (7, 0), 80),
            (Class::Brain, _) | (_, Class::Brain) => self.since("this conversion of `.bf16`", (7, 8), 90),
            _ => Ok(()),
        }
    }
}

/// Truncation or extension: the source's sign or zeros, cut to the result's width; a signed result
/// in a wider register carries its sign on.
fn integer_copy(to: Type, from: Type, register: Option<u32>) -> (Alu, Mode) {
    let f: Alu = match (from.is_signed(), from.bits.min(to.bits), to.bits) {
        (_, 8, 8) => lanes!(u64, |a, _, _| a as u8),
        (_, 16, 16) => lanes!(u64, |a, _, _| a as u16),
        (_, 32, 32) => lanes!(u64, |a, _, _| a as u32),
        (_, 64, 64) => lanes!(u64, |a, _, _| a),
        (false, 8, _) => lanes!(u64, |a, _, _| a as u8),
        (false, 16, _) => lanes!(u64, |a, _, _| a as u16),
        (false, _, _) => lanes!(u64, |a, _, _| a as u32),
        (true, 8, 16) => lanes!(u64, |a, _, _| a as i8 as i16),
        (true, 8, 32) => lanes!(u64, |a, _, _| a as i8 as i32),
        (true, 8, _) => lanes!(u64, |a, _, _| a as i8 as i64),
        (true, 16, 32) => lanes!(u64, |a, _, _| a as i16 as i32),
        (true, 16, _) => lanes!(u64, |a, _, _| a as i16 as i64),
        (true, _, _) => lanes!(u64, |a, _, _| a as i32 as i64),
    };
    (f, register.map_or(Mode::Plain, |bits| Mode::Extend { from: to.bits, to: bits }))
}

fn format(ty: Type) -> Format {
    match (ty.class, ty.bits) {
        (Class::Brain, _) => BF16,
        (_, 16) => F16,
        (_, 32) => F32,
        _ => F64,
    }
}

impl Conversion {
    /// The width of the result.
    pub fn bits(self) -> u32 {
        self.to.bits
    }

    /// The bits of a result from those of an operand.
    pub fn apply(self, a: u64) -> u64 {
        let a = a & (u64::MAX >> (64 - self.from.bits));
        match (self.from.is_float(), self.to.is_float()) {
            (false, false) => self.clamped(self.integer(a)),
            (false, true) => {
                let v = self.integer(a);
                let bits = format(self.to).round(v < 0, v.unsigned_abs(), 0, self.rounding);
                self.finished(bits)
            }
            (true, false) => self.float_to_integer(a),
            (true, true) => self.float_to_float(a),
        }
    }

    fn integer(self, a: u64) -> i128 {
        let up = 64 - self.from.bits;
        if self.from.is_signed() {
            i128::from((a << up) as i64 >> up)
        } else {
            a.into()
        }
    }

    /// Clamped to the type's range.
    fn clamped(self, v: i128) -> u64 {
        let bits = self.to.bits;
        let (low, high) = if self.to.is_signed() {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        v.clamp(low, high) as u64 & (u64::MAX >> (64 - bits))
    }

    fn operand(self, a: u64) -> u64 {
        let subnormal = a & 0x7f80_0000 == 0;
        if self.flush && self.from == Type::F32 && subnormal {
            a & 0x8000_0000
        } else {
            a
        }
    }

    /// Out of range: the nearest value. NaN: zero, or where the source is `.f64` or the result has 64
    /// bits, the highest bit alone.
    fn float_to_integer(self, a: u64) -> u64 {
        match format(self.from).decode(self.operand(a)) {
            Number::Nan if self.from == Type::F64 || self.to.bits == 64 => 1 << (self.to.bits - 1),
            Number::Nan => 0,
            Number::Infinite { negative } => self.clamped(if negative { i128::MIN } else { i128::MAX }),
            Number::Finite { negative, mantissa, exp } => {
                let m = rounded(negative, mantissa, exp, self.rounding) as i128;
                self.clamped(if negative { -m } else { m })
            }
        }
    }

    fn float_to_float(self, a: u64) -> u64 {
        let a = self.operand(a);
        let (from, to) = (format(self.from), format(self.to));
        if self.integral {
            if let Number::Finite { negative, mantissa, exp } = from.decode(a) {
                if exp < 0 {
                    let m = rounded(negative, mantissa, exp, self.rounding);
                    return self.finished(to.round(negative, m, 0, Rounding::Nearest));
                }
            }
        }
        let bits = match from.decode(a) {
            // A payload is kept where it fits.
            Number::Nan if self.to == self.from => a,
            _ => from.convert(a, to, self.rounding),
        };
        self.finished(bits)
    }

    /// `.ftz` and `.sat` of a floating-point result.
    fn finished(self, bits: u64) -> u64 {
        let format = format(self.to);
        if self.saturate {
            return match format.decode(bits) {
                Number::Nan | Number::Infinite { negative: true } | Number::Finite { negative: true, .. } => {
                    0
                }
                Number::Infinite { .. } => format.one(),
                Number::Finite { .. } => bits.min(format.one()),
            };
        }
        let subnormal = bits & 0x7f80_0000 == 0;
        if self.flush && self.to == Type::F32 && subnormal {
            bits & 0x8000_0000
        } else {
            bits
        }
    }
}

/// The magnitude of `±mantissa · 2^exp` rounded to an integer; beyond 2^127 some huge number.
fn rounded(negative: bool, mantissa: u64, exp: i32, mode: Rounding) -> u128 {
    let m = u128::from(mantissa);
    if exp >= 0 {
        return if mantissa == 0 { 0 } else { m << exp.min(62) };
    }
    let shift = (-exp).min(100) as u32;
    let (kept, rest, half) = (m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1));
    let up = match mode {
        Rounding::Nearest => rest > half || (rest == half && kept & 1 == 1),
        Rounding::Zero => false,
        Rounding::Down => negative && rest > 0,
        Rounding::Up => !negative && rest > 0,
    };
    kept + u128::from(up)
}
