//! IEEE arithmetic in every rounding direction, by integers.
//!
//! The machine's own arithmetic rounds to nearest; the directed modes, and the narrow formats, are
//! computed here: an exact (or sticky, IEEE 754-2008 section 4) significand of up to 127 bits, then
//! one rounding.

/// A direction of rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To nearest, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
}

/// A binary format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Bits of the significand, the hidden one included.
    pub precision: u32,
    /// Bits of the exponent.
    pub exponent: u32,
}

pub(crate) const F16: Format = Format { precision: 11, exponent: 5 };
pub(crate) const BF16: Format = Format { precision: 8, exponent: 8 };
pub(crate) const F32: Format = Format { precision: 24, exponent: 8 };
pub(crate) const F64: Format = Format { precision: 53, exponent: 11 };

/// A value taken apart: `±mantissa · 2^exp`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Nan,
    Infinite { negative: bool },
    Finite { negative: bool, mantissa: u64, exp: i32 },
}

impl Format {
    /// The exponent of the lowest bit of a subnormal number.
    fn lowest(self) -> i32 {
        3 - (1 << (self.exponent - 1)) - self.precision as i32
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << (self.precision - 1)
    }

    /// The quiet NaN that PTX calls canonical: all ones in 32 and 16 bits.
    pub fn nan(self) -> u64 {
        match self.precision {
            53 => 0x7ff8_0000_0000_0000,
            _ => (1 << (self.exponent + self.precision - 1)) - 1,
        }
    }

    fn sign(self, negative: bool) -> u64 {
        u64::from(negative) << (self.exponent + self.precision - 1)
    }

    pub fn decode(self, bits: u64) -> Number {
        let negative = bits & self.sign(true) != 0;
        let fraction = bits & ((1 << (self.precision - 1)) - 1);
        let biased = (bits >> (self.precision - 1)) & ((1 << self.exponent) - 1);
        if biased == (1 << self.exponent) - 1 {
            return if fraction == 0 { Number::Infinite { negative } } else { Number::Nan };
        }
        let hidden = u64::from(biased > 0) << (self.precision - 1);
        let exp = self.lowest() + (biased as i32 - 1).max(0);
        Number::Finite { negative, mantissa: hidden | fraction, exp }
    }

    /// `±mantissa · 2^exp` rounded once. `mantissa` is below 2^127; where bits were lost below it,
    /// its lowest bit is set and it has at least two more bits than the format.
    pub fn round(self, negative: bool, mantissa: u128, exp: i32, mode: Rounding) -> u64 {
        let sign = self.sign(negative);
        if mantissa == 0 {
            return sign;
        }
        let length = (128 - mantissa.leading_zeros()) as i32;
        let lsb = (exp + length - self.precision as i32).max(self.lowest());
        let shift = lsb - exp;
        let (mut kept, rest, half) = match shift {
            ..=0 => (mantissa << -shift, 0, 1),
            1..=127 => (mantissa >> shift, mantissa & ((1 << shift) - 1), 1 << (shift - 1)),
            _ => (0, 1, 2),
        };
        let up = match mode {
            Rounding::Nearest => rest > half || (rest == half && kept & 1 == 1),
            Rounding::Zero => false,
            Rounding::Down => negative && rest > 0,
            Rounding::Up => !negative && rest > 0,
        };
        kept += u128::from(up);
        // A carry into the next power of two runs on into the exponent field.
        let hidden = 1u128 << (self.precision - 1);
        let bits = if kept < hidden {
            kept as u64
        } else {
            (((lsb - self.lowest()) as u64) << (self.precision - 1)) + kept as u64
        };
        if bits < self.infinity() {
            return sign | bits;
        }
        let towards_zero = match mode {
            Rounding::Nearest => false,
            Rounding::Zero => true,
            Rounding::Down => !negative,
            Rounding::Up => negative,
        };
        sign | (self.infinity() - u64::from(towards_zero))
    }

    /// A value of this format in another one.
    pub fn convert(self, bits: u64, to: Format, mode: Rounding) -> u64 {
        match self.decode(bits) {
            Number::Nan => to.nan(),
            Number::Infinite { negative } => to.sign(negative) | to.infinity(),
            Number::Finite { negative, mantissa, exp } => to.round(negative, mantissa.into(), exp, mode),
        }
    }

    /// `a · b + c`, rounded once.
    pub fn fma(self, a: u64, b: u64, c: u64, mode: Rounding) -> u64 {
        use Number::{Finite, Infinite, Nan};
        let product = match (self.decode(a), self.decode(b)) {
            (Nan, _) | (_, Nan) => return self.nan(),
            (Infinite { negative: s }, Infinite { negative: t }) => Err(s ^ t),
            (Infinite { negative: s }, Finite { negative: t, mantissa, .. })
            | (Finite { negative: t, mantissa, .. }, Infinite { negative: s }) => {
                if mantissa == 0 {
                    return self.nan();
                }
                Err(s ^ t)
            }
            (Finite { negative: s, mantissa: m, exp: e }, Finite { negative: t, mantissa: n, exp: f }) => {
                Ok((s ^ t, u128::from(m) * u128::from(n), e + f))
            }
        };
        match (product, self.decode(c)) {
            (_, Nan) => self.nan(),
            (Err(s), Infinite { negative: t }) if s != t => self.nan(),
            (Err(negative), _) | (Ok(_), Infinite { negative }) => self.sign(negative) | self.infinity(),
            (Ok(p), Finite { negative, mantissa, exp }) => {
                self.sum(p, (negative, mantissa.into(), exp), mode)
            }
        }
    }

    /// 1.
    pub fn one(self) -> u64 {
        ((1 << (self.exponent - 1)) - 1) << (self.precision - 1)
    }

    /// The other sign.
    pub fn negated(self, a: u64) -> u64 {
        a ^ self.sign(true)
    }

    pub fn add(self, a: u64, b: u64, mode: Rounding) -> u64 {
        self.fma(a, self.one(), b, mode)
    }

    pub fn mul(self, a: u64, b: u64, mode: Rounding) -> u64 {
        use Number::{Finite, Infinite, Nan};
        match (self.decode(a), self.decode(b)) {
            (Finite { negative: s, mantissa: m, exp: e }, Finite { negative: t, mantissa: n, exp: f }) => {
                self.round(s ^ t, u128::from(m) * u128::from(n), e + f, mode)
            }
            (Nan, _) | (_, Nan) => self.nan(),
            // Nothing is added that could change an infinity or make a NaN.
            (Infinite { .. }, _) | (_, Infinite { .. }) => self.fma(a, b, 0, mode),
        }
    }

    pub fn div(self, a: u64, b: u64, mode: Rounding) -> u64 {
        use Number::{Finite, Infinite, Nan};
        match (self.decode(a), self.decode(b)) {
            (Nan, _) | (_, Nan) | (Infinite { .. }, Infinite { .. }) => self.nan(),
            (Infinite { negative: s }, Finite { negative: t, .. }) => self.sign(s ^ t) | self.infinity(),
            (Finite { negative: s, .. }, Infinite { negative: t }) => self.sign(s ^ t),
            (Finite { negative: s, mantissa: m, exp: e }, Finite { negative: t, mantissa: n, exp: f }) => {
                match (m, n) {
                    (0, 0) => self.nan(),
                    (_, 0) => self.sign(s ^ t) | self.infinity(),
                    _ => {
                        // 64 more bits than the divisor has at most.
                        let up = 117 - (64 - m.leading_zeros());
                        let dividend = u128::from(m) << up;
                        let quotient = dividend / u128::from(n);
                        let sticky = u128::from(dividend % u128::from(n) != 0);
                        self.round(s ^ t, quotient | sticky, e - f - up as i32, mode)
                    }
                }
            }
        }
    }

    pub fn sqrt(self, a: u64, mode: Rounding) -> u64 {
        use Number::{Finite, Infinite, Nan};
        match self.decode(a) {
            Nan | Infinite { negative: true } => self.nan(),
            Infinite { negative: false } => a,
            Finite { mantissa: 0, .. } => a,
            Finite { negative: true, .. } => self.nan(),
            Finite { mantissa, exp, .. } => {
                let mut up = 120 - (64 - mantissa.leading_zeros()) as i32;
                up += (exp - up) & 1;
                let square = u128::from(mantissa) << up;
                let root = square.isqrt();
                let sticky = u128::from(root * root != square);
                self.round(false, root << 1 | sticky, (exp - up) / 2 - 1, mode)
            }
        }
    }

    /// The sum of two exact values of up to 106 bits.
    fn sum(self, a: (bool, u128, i32), b: (bool, u128, i32), mode: Rounding) -> u64 {
        if a.1 == 0 && b.1 == 0 {
            return self.sign(if a.0 == b.0 { a.0 } else { mode == Rounding::Down });
        }
        let top = |(_, m, e): (bool, u128, i32)| e + 128 - m.leading_zeros() as i32;
        let (large, small) = if b.1 == 0 || (a.1 != 0 && top(a) >= top(b)) { (a, b) } else { (b, a) };
        // The larger one's highest bit goes to bit 125.
        let up = large.1.leading_zeros() as i32 - 2;
        let (m, exp) = (large.1 << up, large.2 - up);
        let n = shift_sticky(small.1, small.2 - exp);
        let (negative, sum) = match (large.0 == small.0, m >= n) {
            (true, _) => (large.0, m + n),
            (false, true) => (large.0, m - n),
            (false, false) => (small.0, n - m),
        };
        if sum == 0 {
            return self.sign(mode == Rounding::Down);
        }
        self.round(negative, sum, exp, mode)
    }
}

/// `m · 2^by` with a lowest bit that says whether bits were lost.
fn shift_sticky(m: u128, by: i32) -> u128 {
    match by {
        0.. => m << by.min(127),
        -127..=-1 => (m >> -by) | u128::from(m & ((1 << -by) - 1) != 0),
        _ => u128::from(m != 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all magnitudes, and the edges.
    fn samples() -> Vec<u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut list: Vec<u64> = (0..300).map(|_| next()).collect();
        list.extend(
            (0..200).map(|_| (next() >> 12) | ((1023 - 20 + next() % 40) << 52) | (next() & 1) << 63),
        );
        for v in [0.0, -0.0, 1.0, -1.0, 1.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NAN] {
            list.push(v.to_bits());
        }
        list
    }

    fn same(soft: u64, hard: f64) -> bool {
        (f64::from_bits(soft).is_nan() && hard.is_nan()) || soft == hard.to_bits()
    }

    #[test]
    fn to_nearest_is_the_machines_own_arithmetic() {
        let list = samples();
        let near = Rounding::Nearest;
        for (i, &a) in list.iter().enumerate() {
            let (b, c) = (list[(i * 7 + 3) % list.len()], list[(i * 13 + 5) % list.len()]);
            let [x, y, z] = [a, b, c].map(f64::from_bits);
            assert!(same(F64.add(a, b, near), x + y), "{x:e} + {y:e}");
            assert!(same(F64.mul(a, b, near), x * y), "{x:e} * {y:e}");
            assert!(same(F64.div(a, b, near), x / y), "{x:e} / {y:e}");
            assert!(same(F64.sqrt(a, near), x.sqrt()), "sqrt {x:e}");
            assert!(same(F64.fma(a, b, c, near), x.mul_add(y, z)), "{x:e} * {y:e} + {z:e}");
            let single = f32::from_bits(F64.convert(a, F32, near) as u32);
            assert!(single == x as f32 || x.is_nan() && single.is_nan(), "{x:e}");
        }
        // Cancellation.
        for (a, b, c) in [(1.1, 1.1, -1.21), (3.0, 1.0 / 3.0, -1.0), (1e200, 1e200, f64::NEG_INFINITY)] {
            let bits = [a, b, c].map(f64::to_bits);
            assert!(same(F64.fma(bits[0], bits[1], bits[2], near), f64::mul_add(a, b, c)));
        }
    }

    #[test]
    fn the_directions_enclose_the_nearest() {
        let list = samples();
        for (i, &a) in list.iter().enumerate() {
            let b = list[(i * 11 + 1) % list.len()];
            let results = [Rounding::Down, Rounding::Nearest, Rounding::Up, Rounding::Zero]
                .map(|mode| f64::from_bits(F64.div(a, b, mode)));
            let [down, near, up, zero] = results;
            if near.is_nan() {
                continue;
            }
            assert!(down <= near && near <= up, "{results:?}");
            assert!(up == down || up == down.next_up(), "{results:?}");
            assert_eq!(zero.to_bits(), if near.is_sign_negative() { up.to_bits() } else { down.to_bits() });
        }
    }

    #[test]
    fn narrow_formats() {
        let half = |v: f64, mode| F64.convert(v.to_bits(), F16, mode);
        assert_eq!(half(1.0, Rounding::Nearest), 0x3c00);
        assert_eq!(half(65504.0, Rounding::Nearest), 0x7bff);
        assert_eq!(half(65520.0, Rounding::Nearest), 0x7c00);
        assert_eq!(half(65520.0, Rounding::Zero), 0x7bff);
        assert_eq!(half(-1e9, Rounding::Up), 0xfbff);
        assert_eq!(half(5.960464477539063e-8, Rounding::Nearest), 1);
        assert_eq!(half(1e-9, Rounding::Up), 1);
        assert_eq!(half(1e-9, Rounding::Nearest), 0);
        assert_eq!(half(f64::NAN, Rounding::Nearest), 0x7fff);
        assert_eq!(F32.convert(0x3f80_8000, BF16, Rounding::Nearest), 0x3f80);
        assert_eq!(F32.convert(0x3f81_8000, BF16, Rounding::Nearest), 0x3f82);
        assert_eq!(BF16.convert(0xc000, F32, Rounding::Nearest), 0xc000_0000);
    }
}
