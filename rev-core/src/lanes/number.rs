//! Numbers on their way from one scalar type to another, in lanes ([`Num`]).

use super::linear::LinearRows;
use super::pack::collect;
use super::rows::Rows;
use super::{Each, Isa, Pack, Vector};
use crate::scalar::{rt, Linear, Num, Real, Scalar};

/// The numbers of all lanes, kept exactly; for the types that vector instructions convert.
#[derive(Clone, Copy, Debug)]
pub enum Numbers {
    /// Signed integers of up to 64 bits.
    Int(Vector<i64>),
    /// Unsigned integers of up to 64 bits, and `bool`.
    Uint(Vector<u64>),
    /// `f32` or `f64`.
    Float(Vector<f64>),
}

impl Numbers {
    /// The number in lane `k`.
    #[cfg_attr(optimized, inline(always))]
    pub fn at(&self, k: usize) -> Num {
        match self {
            Numbers::Int(v) => Num::Int(v.0[k]),
            Numbers::Uint(v) => Num::Uint(v.0[k]),
            Numbers::Float(v) => Num::Float(v.0[k]),
        }
    }
}

/// `rt::cast`(crate::scalar::rt::cast) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn cast<S: Isa, A: Scalar, B: Scalar>(s: S, a: Pack<A>) -> Pack<B> {
    match A::Rows::numbers(s, &a) {
        Some(numbers) => B::Rows::from_numbers(s, numbers),
        None => collect(s, |k| rt::cast(A::lane(&a, k))),
    }
}

/// `rt::cast_shadow`(crate::scalar::rt::cast_shadow) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn cast_shadow<S: Isa, R: Linear, P: Linear>(s: S, shadow: Pack<P>) -> Pack<R> {
    let mut result = R::broadcast(s, R::zero());
    for k in 0..R::width().min(P::width()) {
        match P::InLanes::cotangents(s, &shadow, k) {
            Some(numbers) => R::InLanes::set_cotangents(s, &mut result, k, numbers),
            None => return collect(s, |lane| rt::cast_shadow(P::lane(&shadow, lane))),
        }
    }
    result
}

/// Integers as real numbers.
#[cfg_attr(optimized, inline(always))]
pub(super) fn from_longs<S: Isa, T: Real>(s: S, n: impl Each<i64>) -> Pack<T> {
    match n.uniform() {
        Some(n) => T::broadcast(s, T::from_int(n.into())),
        None => cast(s, n.pack(s)),
    }
}
