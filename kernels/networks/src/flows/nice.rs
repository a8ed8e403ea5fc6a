//! NICE: additive coupling layers that keep volumes, and a scale for each number at the end.
//!
//! Dinh, Krueger and Bengio, "NICE: Non-linear independent components estimation" (2015), sections 3.2 and 3.3. Samples are rows of D numbers,
//! D even. Layer `l` changes the second half by the first where `l` is even, else the first by the second. Memory: that of one layer.

use ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayViewMut2};
use rev_cpu::prelude::*;

use super::coupling::additive;

/// Turns samples N by D in place: L layers with H hidden numbers, whose weights are `w`, L by H by D/2, and `shift`, L by D/2 by H, with
/// biases `b`, L by H, and `t`, L by D/2; then every number times `e^scale` of its column. `log_det` gets the sum of `scale`, which is that
/// of every sample.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn nice<T: Real>(
    mut x: ArrayViewMut2<T>,
    log_det: &mut T,
    w: ArrayView3<T>,
    b: ArrayView2<T>,
    shift: ArrayView3<T>,
    t: ArrayView2<T>,
    scale: ArrayView1<T>,
) {
    let half = x.ncols() / 2;
    for l in 0..w.dim(0) {
        if l % 2 == 0 {
            additive(
                x.slice_mut(s![.., half..]),
                x.slice(s![.., ..half]),
                w.index_axis(Axis(0), l),
                b.row(l),
                shift.index_axis(Axis(0), l),
                t.row(l),
            );
        } else {
            additive(
                x.slice_mut(s![.., ..half]),
                x.slice(s![.., half..]),
                w.index_axis(Axis(0), l),
                b.row(l),
                shift.index_axis(Axis(0), l),
                t.row(l),
            );
        }
    }
    for i in par(0..x.nrows()) {
        for j in 0..x.ncols() {
            scale_by(x[[i, j]], scale[j].exp());
        }
    }
    *log_det += sum(scale);
}

/// The same as plain Rust.
pub mod plain {
    use crate::flows::coupling::plain::additive;
    use ndarray::{s, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut2, Axis};

    /// Turns samples in place, and gives the logarithm of the determinant.
    pub fn nice(
        mut x: ArrayViewMut2<f64>,
        w: ArrayView3<f64>,
        b: ArrayView2<f64>,
        shift: ArrayView3<f64>,
        t: ArrayView2<f64>,
        scale: ArrayView1<f64>,
    ) -> f64 {
        let half = x.ncols() / 2;
        for l in 0..w.dim().0 {
            let (first, second) = x.multi_slice_mut((s![.., ..half], s![.., half..]));
            let (read, written) = if l % 2 == 0 { (first, second) } else { (second, first) };
            let network = (w.index_axis(Axis(0), l), b.row(l));
            additive(written, read.view(), network, (shift.index_axis(Axis(0), l), t.row(l)));
        }
        x *= &scale.mapv(f64::exp);
        scale.sum()
    }
}
