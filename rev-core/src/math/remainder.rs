//! The remainder of a division, exactly: long division in steps, of which one is enough where the quotient is an
//! ordinary number.

use super::machine::Machine;
use super::steps::Steps;

/// What is left of `x` by the whole multiple of `y` nearest to it, plus `y` if that is negative: exactly, for `x ≥ 0`,
/// `y > 0` and a quotient below `2^(mantissa-2)`.
#[cfg_attr(optimized, inline(always))]
fn step<A: Machine>(m: &mut A, x: &A::F, y: &A::F) -> A::F {
    let q = m.div(x, y);
    let (n, _) = m.nearest_multiple(&q, 1.0);
    let rest = m.less_product(x, &n, y);
    let negative = m.below(&rest, 0.0);
    let other = m.add(&rest, y);
    m.select(&negative, &other, &rest)
}

/// `x - n y` for the integer `n` next to `x/y` towards zero, with the sign of `x`; exact. NaN where `x` is infinite or `y` is 0.
#[cfg_attr(optimized, inline(always))]
pub fn fmod<A: Machine>(m: &mut A, x: &A::F, y: &A::F) -> A::F {
    let (size, divisor) = (m.abs(x), m.abs(y));
    let q = m.div(&size, &divisor);
    let numbers = A::NUMBERS;
    let near = m.below(&q, (1u64 << (numbers.mantissa - 2)) as f64);
    let far = m.not(&near);
    let fast = step(m, &size, &divisor);
    let [rest] = m.rarely(&far, [fast], |m| {
        let most = m.float(f64::INFINITY);
        // how many bits of the quotient a step takes, and how many there can be
        let bits = i64::from(numbers.mantissa) - 3;
        let steps = (2 * numbers.bias + i64::from(numbers.mantissa) + 2) / bits;
        let mut rest = size.clone();
        for k in (0..=steps).rev() {
            // in two, as all of it may be more than the range of exponents
            let (half, other) = (m.int(k * bits / 2), m.int(k * bits - k * bits / 2));
            let multiple = m.scale(&divisor, &half);
            let multiple = m.scale(&multiple, &other);
            let less = step(m, &rest, &multiple);
            let finite = m.lt(&multiple, &most);
            rest = m.select(&finite, &less, &rest);
        }
        let inside = m.lt(&size, &most);
        let positive = m.above(&divisor, 0.0);
        let defined = m.both(&inside, &positive);
        let other = m.not(&defined);
        [m.replace(&rest, &other, f64::NAN)]
    });
    // by an infinite one, or a larger one
    let whole = m.lt(&size, &divisor);
    let rest = m.select(&whole, &size, &rest);
    m.copysign(&rest, x)
}
