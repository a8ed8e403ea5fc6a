//! What a wave runs through, and what starts it.

use std::f64::consts::PI;

use ndarray::Array2;

/// The absorbing layer at an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Its width in cells.
    pub cells: usize,
    /// The speed for which it is made.
    pub speed: f64,
    /// The part of such a wave that it sends back.
    pub reflection: f64,
}

/// The ground: squared speeds, damping, and the steps in space and time.
#[derive(Clone, Debug, PartialEq)]
pub struct Medium {
    /// The squared speed in each cell.
    pub c: Array2<f64>,
    /// The damping by x, of each row.
    pub sigma: Vec<f64>,
    /// The damping by y, of each column.
    pub tau: Vec<f64>,
    /// The time of a step.
    pub dt: f64,
    /// The size of a cell by x.
    pub hx: f64,
    /// The size of a cell by y.
    pub hy: f64,
}

impl Medium {
    /// With layers at all four edges.
    pub fn new(c: Array2<f64>, dt: f64, (hx, hy): (f64, f64), layer: Layer) -> Medium {
        let (sigma, tau) = (damping(c.nrows(), hx, layer), damping(c.ncols(), hy, layer));
        Medium { c, sigma, tau, dt, hx, hy }
    }
}

/// The damping of `n` cells of size `h` in a row, with a layer at both ends: `ξ (d/L - sin(2π d/L) / 2π)` at the depth `d` in a
/// layer of width `L`, `ξ = v/L ln(1/R)` for the speed `v` and the reflection `R`.
pub fn damping(n: usize, h: f64, layer: Layer) -> Vec<f64> {
    let width = layer.cells as f64 * h;
    let strength = layer.speed / width * (1.0 / layer.reflection).ln();
    let end = (n + 1) as f64 * h;
    let at = |i: usize| {
        let x = (i + 1) as f64 * h;
        let depth = if x < width { width - x } else { (x - (end - width)).max(0.0) };
        let d = depth / width;
        strength * (d - (2.0 * PI * d).sin() / (2.0 * PI))
    };
    if layer.cells == 0 {
        return vec![0.0; n];
    }
    (0..n).map(at).collect()
}

/// Ricker's wavelet at the steps 1 to `steps`: `A (1 - x²/a²) exp(-x²/2a²)`, `A = 2 / (√(3a) π^¼)`, of width `a`, `x` steps from its
/// middle.
pub fn ricker(steps: usize, a: f64, middle: f64) -> Vec<f64> {
    let top = 2.0 / ((3.0 * a).sqrt() * PI.powf(0.25));
    let at = |n: usize| {
        let square = (n as f64 - middle).powi(2) / (a * a);
        top * (1.0 - square) * (-square / 2.0).exp()
    };
    (1..=steps).map(at).collect()
}
