//! Functions of pairs, with nearly all of a pair's 106 bits: what log-gamma and the polygamma functions
//! are put together from, so that little is left wrong where their terms cancel. For 64-bit machines.

use super::logarithm::split;
use super::machine::Machine;
use super::numbers::gamma::{ARTANH, COS, LN_2, PI, SIN};
use super::numbers::Series;
use super::steps::{Pair, Steps};

/// `1/x`: with `q` the nearest float, `q + (1 - q x) q`.
#[cfg_attr(optimized, inline(always))]
pub(super) fn reciprocal<A: Machine>(m: &mut A, x: &Pair<A>) -> Pair<A> {
    let one = m.float(1.0);
    let q = m.div(&one, &x.0);
    let rest = m.less_product(&one, &q, &x.0);
    let rest = m.less_product(&rest, &q, &x.1);
    let low = m.mul(&rest, &q);
    (q, low)
}

/// `-x`
#[cfg_attr(optimized, inline(always))]
pub(super) fn opposite<A: Machine>(m: &mut A, x: &Pair<A>) -> Pair<A> {
    (m.neg(&x.0), m.neg(&x.1))
}

/// `a + b`, whichever is the larger; the error is small beside the larger of them.
#[cfg_attr(optimized, inline(always))]
pub(super) fn total<A: Machine>(m: &mut A, a: &Pair<A>, b: &Pair<A>) -> Pair<A> {
    let (high, low) = m.sum(&a.0, &b.0);
    let rest = m.add(&a.1, &b.1);
    let low = m.add(&low, &rest);
    m.fast_sum(&high, &low)
}

/// `c a`
#[cfg_attr(optimized, inline(always))]
pub(super) fn multiple<A: Machine>(m: &mut A, c: f64, a: &Pair<A>) -> Pair<A> {
    let c = m.float(c);
    let (high, low) = m.product(&a.0, &c);
    let low = m.fma(&a.1, &c, &low);
    (high, low)
}

/// The first where the condition holds, else the second.
#[cfg_attr(optimized, inline(always))]
pub(super) fn either<A: Machine>(m: &mut A, condition: &A::M, a: &Pair<A>, b: &Pair<A>) -> Pair<A> {
    (m.select(condition, &a.0, &b.0), m.select(condition, &a.1, &b.1))
}

/// `c + w (c₁ + w (c₂ + …))`, each term smaller than the one before it.
#[cfg_attr(optimized, inline(always))]
pub(super) fn horner<A: Machine>(
    m: &mut A,
    w: &Pair<A>,
    first: [f64; 2],
    pairs: &[[f64; 2]],
    rest: &[f64],
) -> Pair<A> {
    let mut sum = (m.polynomial(&w.0, rest), m.float(0.0));
    for c in pairs.iter().rev().chain([&first]) {
        let c = m.pair(c);
        let (high, low) = m.pair_product(&sum, w);
        let (high, error) = m.fast_sum(&c.0, &high);
        let low = m.add(&low, &c.1);
        sum = (high, m.add(&low, &error));
    }
    sum
}

/// `first` and a series.
#[cfg_attr(optimized, inline(always))]
pub(super) fn series<A: Machine, const P: usize, const R: usize>(
    m: &mut A,
    w: &Pair<A>,
    first: f64,
    s: &Series<P, R>,
) -> Pair<A> {
    horner(m, w, [first, 0.0], &s.pairs, &s.rest)
}

/// `ln x` for positive finite `x`: `k ln 2 + 2 artanh s` with `s = f/(2 + f)` for `x = 2ᵏ (1 + f)`.
#[cfg_attr(optimized, inline(always))]
pub(super) fn ln<A: Machine>(m: &mut A, x: &Pair<A>) -> Pair<A> {
    let (k, f) = split(m, &x.0);
    let zero = m.int(0);
    let down = m.int_sub(&zero, &k);
    let low = m.scale(&x.1, &down);
    let two = m.float(2.0);
    let (d, rest) = m.fast_sum(&two, &f);
    let rest = m.add(&rest, &low);
    let s = m.pair_quotient(&(f, low), &(d, rest));
    let s = m.fast_sum(&s.0, &s.1);
    let w = m.pair_product(&s, &s);
    let w = m.fast_sum(&w.0, &w.1);
    let sum = series(m, &w, 1.0, &ARTANH);
    let log = m.pair_product(&s, &sum);
    let log = (m.times(2.0, &log.0), m.times(2.0, &log.1));
    let k = m.from_int(&k);
    let [a, b, c] = LN_2.map(|c| m.times(c, &k));
    let constant = m.fast_sum(&a, &b);
    let constant = (constant.0, m.add(&constant.1, &c));
    total(m, &constant, &log)
}

/// `sin πr` and `cos πr` for `0 ≤ r ≤ ½`, by their series up to ¼ and of the other one from there.
#[cfg_attr(optimized, inline(always))]
pub(super) fn sin_cos_pi<A: Machine>(m: &mut A, r: &A::F) -> (Pair<A>, Pair<A>) {
    let beyond = m.above(r, 0.25);
    let other = m.minus_from(0.5, r);
    let r = m.select(&beyond, &other, r);
    let pi = m.pair(&PI);
    let zero = m.float(0.0);
    let u = m.pair_product(&pi, &(r, zero));
    let u = m.fast_sum(&u.0, &u.1);
    let w = m.pair_product(&u, &u);
    let w = m.fast_sum(&w.0, &w.1);
    let sine = series(m, &w, 1.0, &SIN);
    let sine = m.pair_product(&u, &sine);
    let cosine = series(m, &w, 1.0, &COS);
    (either(m, &beyond, &cosine, &sine), either(m, &beyond, &sine, &cosine))
}
