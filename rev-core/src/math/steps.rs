//! Sequences of operations that the functions share: operations with a constant, polynomials,
//! unevaluated sums of two floats, powers of two.
//!
//! A pair `(high, low)` stands for `high + low`, `|low|` being at most about an ulp of `high`.

use super::machine::Machine;

/// The unevaluated sum of two floats.
pub(super) type Pair<A> = (<A as Machine>::F, <A as Machine>::F);

/// Short sequences on any machine.
#[allow(clippy::wrong_self_convention)] // `from_int` makes a value of this machine
pub(super) trait Steps: Machine + Sized {
    /// `a + c`
    #[cfg_attr(optimized, inline(always))]
    fn plus(&mut self, a: &Self::F, c: f64) -> Self::F {
        let c = self.float(c);
        self.add(a, &c)
    }
    /// `c - a`
    #[cfg_attr(optimized, inline(always))]
    fn minus_from(&mut self, c: f64, a: &Self::F) -> Self::F {
        let c = self.float(c);
        self.sub(&c, a)
    }
    /// `c a`
    #[cfg_attr(optimized, inline(always))]
    fn times(&mut self, c: f64, a: &Self::F) -> Self::F {
        let c = self.float(c);
        self.mul(a, &c)
    }
    /// `c a + b`
    #[cfg_attr(optimized, inline(always))]
    fn times_plus(&mut self, c: f64, a: &Self::F, b: &Self::F) -> Self::F {
        let c = self.float(c);
        self.fma(a, &c, b)
    }
    /// `c - a b`
    #[cfg_attr(optimized, inline(always))]
    fn less_product(&mut self, c: &Self::F, a: &Self::F, b: &Self::F) -> Self::F {
        let a = self.neg(a);
        self.fma(&a, b, c)
    }
    /// `a < c`
    #[cfg_attr(optimized, inline(always))]
    fn below(&mut self, a: &Self::F, c: f64) -> Self::M {
        let c = self.float(c);
        self.lt(a, &c)
    }
    /// `a > c`
    #[cfg_attr(optimized, inline(always))]
    fn above(&mut self, a: &Self::F, c: f64) -> Self::M {
        let c = self.float(c);
        self.lt(&c, a)
    }
    /// `a == c`
    #[cfg_attr(optimized, inline(always))]
    fn equals(&mut self, a: &Self::F, c: f64) -> Self::M {
        let c = self.float(c);
        self.eq(a, &c)
    }
    /// `a` is NaN.
    #[cfg_attr(optimized, inline(always))]
    fn is_nan(&mut self, a: &Self::F) -> Self::M {
        let same = self.eq(a, a);
        self.not(&same)
    }
    /// `2⁻ᵏ ≤ a` and `b ≤ 2ᵏ` for `k` a third of the largest exponent.
    #[cfg_attr(optimized, inline(always))]
    fn is_moderate(&mut self, a: &Self::F, b: &Self::F) -> Self::M {
        let limit = f64::from_bits(((1023 + Self::NUMBERS.bias / 3) as u64) << 52);
        let (least, most) = (self.float(1.0 / limit), self.float(limit));
        let not_small = self.le(&least, a);
        let not_large = self.le(b, &most);
        self.both(&not_small, &not_large)
    }
    /// `value` where the condition holds, else `a`.
    #[cfg_attr(optimized, inline(always))]
    fn replace(&mut self, a: &Self::F, condition: &Self::M, value: f64) -> Self::F {
        let value = self.float(value);
        self.select(condition, &value, a)
    }
    /// `a`, but `x` where `x` is 0, whose sign it keeps.
    #[cfg_attr(optimized, inline(always))]
    fn keep_zero(&mut self, x: &Self::F, a: &Self::F) -> Self::F {
        let zero = self.equals(x, 0.0);
        self.select(&zero, x, a)
    }
    /// `a`, with the sign turned where the lowest bit of `n` is set.
    #[cfg_attr(optimized, inline(always))]
    fn flip_sign(&mut self, a: &Self::F, n: &Self::I) -> Self::F {
        let sign = self.shl(n, Self::NUMBERS.width - 1);
        let bits = self.to_bits(a);
        let bits = self.xor(&bits, &sign);
        self.from_bits(&bits)
    }
    /// The lowest bit of `n` is set.
    #[cfg_attr(optimized, inline(always))]
    fn odd(&mut self, n: &Self::I) -> Self::M {
        let one = self.int(1);
        let bit = self.and(n, &one);
        self.int_eq(&bit, &one)
    }
    /// The smaller integer of `a` and `c`.
    #[cfg_attr(optimized, inline(always))]
    fn at_most(&mut self, a: &Self::I, c: i64) -> Self::I {
        let c = self.int(c);
        let less = self.int_lt(a, &c);
        self.select_int(&less, a, &c)
    }
    /// The larger integer of `a` and `c`.
    #[cfg_attr(optimized, inline(always))]
    fn at_least(&mut self, a: &Self::I, c: i64) -> Self::I {
        let c = self.int(c);
        let less = self.int_lt(a, &c);
        self.select_int(&less, &c, a)
    }

    /// `a + b` exactly, for `|a| ≥ |b|` or `a = 0` (Dekker 1971).
    #[cfg_attr(optimized, inline(always))]
    fn fast_sum(&mut self, a: &Self::F, b: &Self::F) -> Pair<Self> {
        let high = self.add(a, b);
        let rest = self.sub(&high, a);
        let low = self.sub(b, &rest);
        (high, low)
    }
    /// `a + b` exactly (Knuth 1969).
    #[cfg_attr(optimized, inline(always))]
    fn sum(&mut self, a: &Self::F, b: &Self::F) -> Pair<Self> {
        let high = self.add(a, b);
        let from_a = self.sub(&high, b);
        let from_b = self.sub(&high, &from_a);
        let error_a = self.sub(a, &from_a);
        let error_b = self.sub(b, &from_b);
        let low = self.add(&error_a, &error_b);
        (high, low)
    }
    /// `a b` exactly, short of underflow.
    #[cfg_attr(optimized, inline(always))]
    fn product(&mut self, a: &Self::F, b: &Self::F) -> Pair<Self> {
        let high = self.mul(a, b);
        let minus = self.neg(&high);
        let low = self.fma(a, b, &minus);
        (high, low)
    }
    /// The product of two pairs, with a relative error of a few `2⁻²ᵖ`.
    #[cfg_attr(optimized, inline(always))]
    fn pair_product(&mut self, a: &Pair<Self>, b: &Pair<Self>) -> Pair<Self> {
        let (high, low) = self.product(&a.0, &b.0);
        let low = self.fma(&a.0, &b.1, &low);
        let low = self.fma(&a.1, &b.0, &low);
        (high, low)
    }
    /// The sum of two pairs, the first the larger or 0.
    #[cfg_attr(optimized, inline(always))]
    fn pair_sum(&mut self, a: &Pair<Self>, b: &Pair<Self>) -> Pair<Self> {
        let (high, low) = self.fast_sum(&a.0, &b.0);
        let rest = self.add(&a.1, &b.1);
        let low = self.add(&low, &rest);
        self.fast_sum(&high, &low)
    }
    /// A constant as a pair.
    #[cfg_attr(optimized, inline(always))]
    fn pair(&mut self, c: &[f64]) -> Pair<Self> {
        let high = self.float(c.first().copied().unwrap_or(0.0));
        let low = self.float(c.get(1).copied().unwrap_or(0.0));
        (high, low)
    }
    /// The quotient of two pairs: with `i = 1/d`, `q = n i` and then `q + (n - q d) i`.
    #[cfg_attr(optimized, inline(always))]
    fn pair_quotient(&mut self, n: &Pair<Self>, d: &Pair<Self>) -> Pair<Self> {
        let one = self.float(1.0);
        let inverse = self.div(&one, &d.0);
        let q = self.mul(&n.0, &inverse);
        let rest = self.less_product(&n.0, &q, &d.0);
        let rest = self.add(&rest, &n.1);
        let rest = self.less_product(&rest, &q, &d.1);
        let low = self.mul(&rest, &inverse);
        (q, low)
    }

    /// `c₀ + c₁ x + …` by Horner's rule; from five terms on even and odd powers apart, so that their
    /// chains overlap.
    #[cfg_attr(optimized, inline(always))]
    fn polynomial(&mut self, x: &Self::F, c: &[f64]) -> Self::F {
        let [first @ .., second, last] = c else {
            return self.float(c.first().copied().unwrap_or(0.0));
        };
        // `lower` is the chain with the lowest power so far, `upper` that with the power above
        let (mut upper, mut lower) = (self.float(*last), self.float(*second));
        if first.len() < 3 {
            lower = self.fma(&upper, x, &lower);
            for c in first.iter().rev() {
                let c = self.float(*c);
                lower = self.fma(&lower, x, &c);
            }
            return lower;
        }
        let square = self.mul(x, x);
        for c in first.iter().rev() {
            let c = self.float(*c);
            let next = self.fma(&upper, &square, &c);
            upper = std::mem::replace(&mut lower, next);
        }
        self.fma(&upper, x, &lower)
    }

    /// The nearest integer of `c x`, as a float and as an integer, for less than `2^(mantissa-2)`.
    #[cfg_attr(optimized, inline(always))]
    fn nearest_multiple(&mut self, x: &Self::F, c: f64) -> (Self::F, Self::I) {
        let magic = self.float(Self::NUMBERS.magic);
        let shifted = self.times_plus(c, x, &magic);
        let n = self.sub(&shifted, &magic);
        let base = self.to_bits(&magic);
        let bits = self.to_bits(&shifted);
        let int = self.int_sub(&bits, &base);
        (n, int)
    }
    /// An integer below `2^(mantissa-2)` in size as a float.
    #[cfg_attr(optimized, inline(always))]
    fn from_int(&mut self, n: &Self::I) -> Self::F {
        let magic = self.float(Self::NUMBERS.magic);
        let bits = self.to_bits(&magic);
        let bits = self.int_add(&bits, n);
        let shifted = self.from_bits(&bits);
        self.sub(&shifted, &magic)
    }
    /// `2ⁿ` for exponents of normal numbers.
    #[cfg_attr(optimized, inline(always))]
    fn power_of_two(&mut self, n: &Self::I) -> Self::F {
        let bias = self.int(Self::NUMBERS.bias);
        let biased = self.int_add(n, &bias);
        let bits = self.shl(&biased, Self::NUMBERS.mantissa);
        self.from_bits(&bits)
    }
    /// `2ⁿ a`, for `n` up to twice the range of exponents: two multiplications, of which the first is
    /// exact.
    #[cfg_attr(optimized, inline(always))]
    fn scale(&mut self, a: &Self::F, n: &Self::I) -> Self::F {
        let half = self.sar(n, 1);
        let rest = self.int_sub(n, &half);
        let first = self.power_of_two(&half);
        let second = self.power_of_two(&rest);
        let a = self.mul(a, &first);
        self.mul(&a, &second)
    }
}

impl<A: Machine> Steps for A {}
