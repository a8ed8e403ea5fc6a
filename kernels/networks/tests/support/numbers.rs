//! Numbers without a pattern, and their comparison.
#![allow(dead_code)]

use ndarray::{ArrayBase, Data, Dimension, ShapeBuilder};

/// An array of numbers between -1 and 1, other ones for each seed.
pub fn numbers<D: Dimension, S: ShapeBuilder<Dim = D>>(shape: S, seed: u64) -> ndarray::Array<f64, D> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed + 1);
    ndarray::Array::from_shape_simple_fn(shape, || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 / (1u64 << 53) as f64) * 2.0 - 1.0
    })
}

/// The largest difference.
pub fn apart<D: Dimension>(
    a: &ArrayBase<impl Data<Elem = f64>, D>,
    b: &ArrayBase<impl Data<Elem = f64>, D>,
) -> f64 {
    assert_eq!(a.shape(), b.shape());
    let largest = a.iter().zip(b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(a.iter().chain(b).all(|v| v.is_finite()));
    largest
}
