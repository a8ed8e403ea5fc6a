//! The error function and its complement: a polynomial near 0; elsewhere `erfc x = e^(-x²) R(x)/(1 + 2x)`, where
//! `R = (1 + 2x) e^(x²) erfc x` is between 1 and 5/4, and a polynomial in `(x - k)/(x + k)` for all positive `x`
//! (Shepherd and Laframboise 1981; the polynomials are our own).

use super::exponential::exp_pair_times;
use super::machine::Machine;
use super::steps::Steps;

/// Where the polynomial of `erf` ends.
const NEAR: f64 = 0.5;

/// `erf x` for `|x| ≤ 1/2`.
#[cfg_attr(optimized, inline(always))]
fn near<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let square = m.mul(x, x);
    let p = m.polynomial(&square, A::NUMBERS.erf);
    m.fma(x, &p, x)
}

/// `erfc x` for `x ≥ 1/2`.
#[cfg_attr(optimized, inline(always))]
fn tail<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    // beyond, it is 0
    let far = m.above(x, 28.0);
    let x = m.replace(x, &far, 28.0);
    let (over, under) = (m.plus(&x, -3.5), m.plus(&x, 3.5));
    let q = m.div(&over, &under);
    let p = m.polynomial(&q, A::NUMBERS.erfc);
    let one = m.float(1.0);
    let scaled = m.fast_sum(&one, &p);
    let twice = m.add(&x, &x);
    let scale = m.fast_sum(&twice, &one);
    let ratio = m.pair_quotient(&scaled, &scale);
    let (square, square_low) = m.product(&x, &x);
    let minus = (m.neg(&square), m.neg(&square_low));
    exp_pair_times(m, &minus, &ratio)
}

/// `erf x = 2/√π ∫₀ˣ e^(-t²) dt`.
#[cfg_attr(optimized, inline(always))]
pub fn erf<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    let small = m.below(&size, NEAR);
    let rest = tail(m, &size);
    let large = m.minus_from(1.0, &rest);
    let large = m.copysign(&large, x);
    let near = near(m, x);
    m.select(&small, &near, &large)
}

/// `erfc x = 1 - erf x`, accurate where it is small.
#[cfg_attr(optimized, inline(always))]
pub fn erfc<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    let small = m.below(&size, NEAR);
    let rest = tail(m, &size);
    let negative = m.below(x, 0.0);
    let other = m.minus_from(2.0, &rest);
    let large = m.select(&negative, &other, &rest);
    let near = near(m, x);
    let near = m.minus_from(1.0, &near);
    m.select(&small, &near, &large)
}
