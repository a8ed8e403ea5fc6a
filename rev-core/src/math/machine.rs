//! What a function is written against: the operations that every device does bit for bit.
//!
//! An implementation computes (`f64` and `f32` on the CPU, SIMD lanes) or writes instructions down
//! (a PTX builder, whose values are names of registers). Each operation is rounded once, to nearest,
//! halves to even; none may be fused with another, approximated, or flush subnormals to zero.
//! There is no control flow but [`Machine::rarely`], whose result doesn't depend on whether it
//! branches.
//!
//! | method | IEEE 754 | PTX (64 bit) |
//! | --- | --- | --- |
//! | `add`, `sub`, `mul`, `div`, `sqrt`, `fma` | the operation of that name | `add.rn.f64`, …, `fma.rn.f64` |
//! | `neg`, `abs`, `copysign` | sign bit only | `neg.f64`, `abs.f64`, `copysign.f64` |
//! | `lt`, `le`, `eq` | false where an argument is NaN; `-0 = +0` | `setp.lt.f64`, … |
//! | `select`, `select_int` | the first where the mask holds, bits unchanged | `selp.f64`, `selp.b64` |
//! | `to_bits`, `from_bits` | the encoding | `mov.b64` |
//! | `int_add`, `int_sub`, `int_mul` | modulo 2⁶⁴ | `add.s64`, `sub.s64`, `mul.lo.s64` |
//! | `int_mul_high` | upper half of the unsigned product | `mul.hi.u64` |
//! | `shl`, `shr`, `sar` | by a constant less than the width: left, logical, arithmetic | `shl.b64`, `shr.u64`, `shr.s64` |
//! | `shl_by`, `shr_by` | by a variable from 0 to the width less one: left, logical | `shl.b64`, `shr.u64` |
//! | `int_lt`, `int_eq` | signed | `setp.lt.s64`, `setp.eq.s64` |
//!
//! A result that is NaN is some NaN: its sign and payload differ between processors even for an
//! addition, and no function here looks at them.

use super::numbers::Numbers;

/// A machine with floats of one width, 64 or 32 bits.
///
/// Values are passed by reference and are only cloned, because a builder's value may be a name.
#[allow(clippy::wrong_self_convention)] // `from_bits` makes a value of this machine
pub trait Machine {
    /// A float.
    type F: Clone;
    /// The integer of the same width, two's complement.
    type I: Clone;
    /// A truth value, one for each lane.
    type M: Clone;

    /// The encoding of the floats and the constants of their width: `&numbers::DOUBLE` or
    /// `&numbers::SINGLE`.
    const NUMBERS: &'static Numbers;

    /// A constant; at 32 bits the nearest `f32` (all constants used here are exact).
    fn float(&mut self, c: f64) -> Self::F;
    /// A constant; at 32 bits the lower half.
    fn int(&mut self, c: i64) -> Self::I;

    /// `a + b`
    fn add(&mut self, a: &Self::F, b: &Self::F) -> Self::F;
    /// `a - b`
    fn sub(&mut self, a: &Self::F, b: &Self::F) -> Self::F;
    /// `a · b`
    fn mul(&mut self, a: &Self::F, b: &Self::F) -> Self::F;
    /// `a / b`
    fn div(&mut self, a: &Self::F, b: &Self::F) -> Self::F;
    /// `a · b + c`, rounded once.
    fn fma(&mut self, a: &Self::F, b: &Self::F, c: &Self::F) -> Self::F;
    /// `√a`
    fn sqrt(&mut self, a: &Self::F) -> Self::F;
    /// `-a`, also of zeros.
    fn neg(&mut self, a: &Self::F) -> Self::F;
    /// `|a|`
    fn abs(&mut self, a: &Self::F) -> Self::F;
    /// `|a|` with the sign bit of `b`.
    fn copysign(&mut self, a: &Self::F, b: &Self::F) -> Self::F;

    /// `a < b`
    fn lt(&mut self, a: &Self::F, b: &Self::F) -> Self::M;
    /// `a <= b`
    fn le(&mut self, a: &Self::F, b: &Self::F) -> Self::M;
    /// `a == b`
    fn eq(&mut self, a: &Self::F, b: &Self::F) -> Self::M;
    /// `a < b`, signed.
    fn int_lt(&mut self, a: &Self::I, b: &Self::I) -> Self::M;
    /// `a == b`
    fn int_eq(&mut self, a: &Self::I, b: &Self::I) -> Self::M;
    /// Both hold.
    fn both(&mut self, a: &Self::M, b: &Self::M) -> Self::M;
    /// One of them holds, or both.
    fn either(&mut self, a: &Self::M, b: &Self::M) -> Self::M;
    /// It doesn't hold.
    fn not(&mut self, a: &Self::M) -> Self::M;
    /// `a` where `c` holds, else `b`.
    fn select(&mut self, c: &Self::M, a: &Self::F, b: &Self::F) -> Self::F;
    /// `a` where `c` holds, else `b`.
    fn select_int(&mut self, c: &Self::M, a: &Self::I, b: &Self::I) -> Self::I;

    /// The encoding.
    fn to_bits(&mut self, a: &Self::F) -> Self::I;
    /// The float with an encoding.
    fn from_bits(&mut self, a: &Self::I) -> Self::F;
    /// `a + b`, wrapping.
    fn int_add(&mut self, a: &Self::I, b: &Self::I) -> Self::I;
    /// `a - b`, wrapping.
    fn int_sub(&mut self, a: &Self::I, b: &Self::I) -> Self::I;
    /// `a · b`, wrapping.
    fn int_mul(&mut self, a: &Self::I, b: &Self::I) -> Self::I;
    /// The upper half of `a · b`, both taken as unsigned.
    fn int_mul_high(&mut self, a: &Self::I, b: &Self::I) -> Self::I;
    /// `a & b`
    fn and(&mut self, a: &Self::I, b: &Self::I) -> Self::I;
    /// `a | b`
    fn or(&mut self, a: &Self::I, b: &Self::I) -> Self::I;
    /// `a ^ b`
    fn xor(&mut self, a: &Self::I, b: &Self::I) -> Self::I;
    /// `a << n` for a constant `n` less than the width.
    fn shl(&mut self, a: &Self::I, n: u32) -> Self::I;
    /// `a >> n`, zeros moving in, for a constant `n` less than the width.
    fn shr(&mut self, a: &Self::I, n: u32) -> Self::I;
    /// `a >> n`, the sign moving in, for a constant `n` less than the width.
    fn sar(&mut self, a: &Self::I, n: u32) -> Self::I;
    /// `a << n` for `0 ≤ n <` the width.
    fn shl_by(&mut self, a: &Self::I, n: &Self::I) -> Self::I;
    /// `a >> n`, zeros moving in, for `0 ≤ n <` the width.
    fn shr_by(&mut self, a: &Self::I, n: &Self::I) -> Self::I;
    /// `table[index]`, its lower half at 32 bits. The index is in range, whatever the arguments of
    /// the function were. Only used within [`Machine::rarely`].
    fn lookup(&mut self, table: &'static [u64], index: &Self::I) -> Self::I;

    /// `slow()` where the condition holds, which is seldom, and `fast` elsewhere.
    ///
    /// As it stands, both are computed. A machine that can branch does so when the condition holds
    /// nowhere; the values are the same.
    fn rarely<const N: usize>(
        &mut self,
        condition: &Self::M,
        fast: [Self::F; N],
        slow: impl FnOnce(&mut Self) -> [Self::F; N],
    ) -> [Self::F; N]
    where
        Self: Sized,
    {
        let mut slow = slow(self).into_iter();
        fast.map(|fast| match slow.next() {
            Some(slow) => self.select(condition, &slow, &fast),
            None => fast,
        })
    }
}

/// A machine with 64-bit floats that converts 32-bit ones: the few functions of `f32` that are
/// computed in `f64` ([`super::cpu::single`]) are written against it.
pub trait Convert: Machine {
    /// A 32-bit float, as wide (in lanes) as [`Machine::F`].
    type Narrow: Clone;
    /// The same number, exactly.
    fn widen(&mut self, a: &Self::Narrow) -> Self::F;
    /// The nearest 32-bit float.
    fn narrow(&mut self, a: &Self::F) -> Self::Narrow;
}
