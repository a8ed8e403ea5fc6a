//! Drawing a graph in some dimensions so that its edges have one length: how far a placement of the vertices is from one in which all edges
//! have a length `l1`, all other pairs of vertices another length `l2`, and `l2 > l1`. And the Petersen graph, for which that is possible from
//! five dimensions on, with `l2 / l1 = √2`.
//!
//! ```text
//! loss = Var(d over edges) + Var(d over other pairs) + e^max(0, l1 - l2 + 0.1) - 1
//! ```
//!
//! `d` is the distance of a pair, `l1` and `l2` are the means of both kinds, `Var` is the sample variance, divided by one less than the
//! number of pairs: equation 8 of Liu and Zhao, "Differentiate everything with a reversible programming language", and their
//! program in its appendix D.
//!
//! With the feature `embedding`, which is a part of `tangents`, it has products with its Hessian, and that.

use ndarray::ArrayView2;
use rev_cpu::prelude::*;

/// `loss +=` the formula above. A row of `x` is a vertex; the pairs `a[e], b[e]` below `near` are edges. Memory: a number for each pair.
///
/// # Errors
///
/// Vertices that `x` has no row for.
#[cfg_attr(feature = "embedding", reversible(tangent))]
#[cfg_attr(not(feature = "embedding"), reversible)]
pub fn embedding<T: Real>(loss: &mut T, x: ArrayView2<T>, a: &[usize], b: &[usize], near: usize) {
    let pairs = a.len();
    let mut length = vec![T::zero(); pairs];
    for e in par(0..pairs) {
        let mut square = T::zero();
        for k in 0..x.ncols() {
            let apart = x[[a[e], k]] - x[[b[e], k]];
            square += apart * apart;
        }
        length[e] += square.sqrt();
    }
    let mut mean = [T::zero(); 2];
    for e in 0..near {
        mean[0] += length[e] / (near as T);
    }
    for e in near..pairs {
        mean[1] += length[e] / ((pairs - near) as T);
    }
    for e in 0..near {
        let off = length[e] - mean[0];
        *loss += off * off / ((near - 1) as T);
    }
    for e in near..pairs {
        let off = length[e] - mean[1];
        *loss += off * off / ((pairs - near - 1) as T);
    }
    *loss += (mean[0] - mean[1] + 0.1).max(T::zero()).exp() - 1.0;
}

/// Vertices of the Petersen graph.
pub const VERTICES: usize = 10;

/// Its edges.
pub const EDGES: usize = 15;

/// The Petersen graph: pairs of vertices, edges first.
#[derive(Clone, Debug)]
pub struct Petersen {
    /// One of each pair.
    pub a: Vec<usize>,
    /// The other.
    pub b: Vec<usize>,
}

impl Petersen {
    /// A ring of five vertices, a star of the other five in it, and a spoke from each vertex of the ring to the star.
    pub fn new() -> Petersen {
        let edges = (0..5).flat_map(|k| [(k, (k + 1) % 5), (k, k + 5), (k + 5, (k + 2) % 5 + 5)]);
        let edges: Vec<(usize, usize)> = edges.map(|(a, b)| (a.min(b), a.max(b))).collect();
        let all = (0..VERTICES).flat_map(|a| (a + 1..VERTICES).map(move |b| (a, b)));
        let others = all.filter(|pair| !edges.contains(pair));
        let (a, b) = edges.iter().copied().chain(others).unzip();
        Petersen { a, b }
    }
}

impl Default for Petersen {
    fn default() -> Petersen {
        Petersen::new()
    }
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::ArrayView2;

    /// Two kinds of lengths in a placement: means and sample variances.
    #[derive(Clone, Copy, Debug)]
    pub struct Lengths {
        /// Of edges, of other pairs.
        pub means: [f64; 2],
        /// The same of the variances.
        pub variances: [f64; 2],
    }

    impl Lengths {
        /// The loss that they have.
        pub fn loss(&self) -> f64 {
            let [l1, l2] = self.means;
            self.variances[0] + self.variances[1] + (l1 - l2 + 0.1).max(0.0).exp() - 1.0
        }
    }

    /// The lengths in a placement.
    pub fn lengths(x: ArrayView2<f64>, a: &[usize], b: &[usize], near: usize) -> Lengths {
        let apart = |(&a, &b): (&usize, &usize)| {
            let squares = x.row(a).into_iter().zip(x.row(b)).map(|(p, q)| (p - q) * (p - q));
            squares.sum::<f64>().sqrt()
        };
        let all: Vec<f64> = a.iter().zip(b).map(apart).collect();
        let (edges, others) = all.split_at(near.min(all.len()));
        let mean = |kind: &[f64]| kind.iter().sum::<f64>() / kind.len() as f64;
        let means = [mean(edges), mean(others)];
        let variance = |kind: &[f64], mean: f64| {
            kind.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (kind.len() - 1) as f64
        };
        Lengths { means, variances: [variance(edges, means[0]), variance(others, means[1])] }
    }
}
