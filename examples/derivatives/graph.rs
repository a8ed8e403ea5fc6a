//! The embedding of a graph, whose loss has a dense Hessian, and four ways to that. `rev_networks::graph_embedding` has the graph and a loss of lengths too;
//! this is compiled without the library.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};
use rev::prelude::*;

/// How far a graph is from being drawn with all edges of one length and all other pairs of vertices at another, larger
/// one: the variances of both squared lengths, and `e^(n - f + 0.1) - 1` where the means `n` and `f` are in the wrong order.
/// A row of `x` is a vertex; the pairs `a[e], b[e]` below `near` are edges.
#[reversible(tangent, adjoint)]
pub fn embedding<T: Real>(loss: &mut T, x: ArrayView2<T>, a: &[usize], b: &[usize], near: usize) {
    let pairs = a.len();
    let mut length = vec![T::zero(); pairs];
    for e in 0..pairs {
        for k in 0..x.ncols() {
            let apart = x[[a[e], k]] - x[[b[e], k]];
            length[e] += apart * apart;
        }
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
        *loss += off * off / (near as T);
    }
    for e in near..pairs {
        let off = length[e] - mean[1];
        *loss += off * off / ((pairs - near) as T);
    }
    *loss += (mean[0] - mean[1] + 0.1).max(T::zero()).exp() - 1.0;
}

/// `slope += ∂loss/∂x` of the embedding: the gradient as a program, of which the tangent and the adjoint are two more
/// ways to a Hessian.
#[reversible(tangent)]
pub fn embedding_slope<T: Real>(
    mut slope: ArrayViewMut2<T>,
    x: ArrayView2<T>,
    a: &[usize],
    b: &[usize],
    near: usize,
) {
    embedding::gradient(x, slope.view_mut(), a, b, near);
}

/// The Petersen graph: pairs of vertices, edges first.
pub struct Graph {
    /// One of each pair.
    pub a: Vec<usize>,
    /// The other.
    pub b: Vec<usize>,
}

/// How many edges it has.
pub const EDGES: usize = 15;

impl Graph {
    pub fn petersen() -> Graph {
        let edges = (0..5).flat_map(|k| [(k, (k + 1) % 5), (k, k + 5), (k + 5, (k + 2) % 5 + 5)]);
        let mut pairs: Vec<(usize, usize)> = edges.map(|(a, b)| (a.min(b), a.max(b))).collect();
        let others = (0..10).flat_map(|a| (a + 1..10).map(move |b| (a, b)));
        let others: Vec<_> = others.filter(|pair| !pairs.contains(pair)).collect();
        pairs.extend(others);
        let (a, b) = pairs.into_iter().unzip();
        Graph { a, b }
    }

    pub fn start(dimensions: usize) -> Array2<f64> {
        Array2::from_shape_fn((10, dimensions), |(i, k)| (1.3 * i as f64 + 2.1 * (k * k) as f64 + 0.4).sin())
    }

    /// The tangents of the adjoint, eight at a time.
    pub fn hessian(&self, device: &Cpu, x: ArrayView2<f64>) -> Result<Array2<f64>, Error> {
        let whole = embedding::hessian(device, x, &self.a, &self.b, EDGES)?;
        Ok(whole.block("x", "x").map(|block| block.to_owned()).unwrap_or_default())
    }

    /// The same one column at a time, as they are computed: a Hessian is made symmetric.
    pub fn products(&self, device: &Cpu, x: ArrayView2<f64>) -> Result<Array2<f64>, Error> {
        each_unit(x.dim(), |unit| Ok(embedding::hvp(device, unit, x, &self.a, &self.b, EDGES)?.x))
    }

    /// The tangent of the gradient, column by column.
    pub fn forward_over_reverse(&self, device: &Cpu, x: ArrayView2<f64>) -> Result<Array2<f64>, Error> {
        let still = Array2::zeros(x.dim());
        each_unit(x.dim(), |unit| {
            let found =
                embedding_slope::jvp(device, still.view(), unit, still.view(), x, &self.a, &self.b, EDGES)?;
            Ok(found.slope_dot)
        })
    }

    /// The adjoint of the gradient, row by row.
    pub fn reverse_over_reverse(&self, device: &Cpu, x: ArrayView2<f64>) -> Result<Array2<f64>, Error> {
        let still = Array2::zeros(x.dim());
        each_unit(x.dim(), |unit| {
            Ok(embedding_slope::vjp(device, unit, still.view(), x, &self.a, &self.b, EDGES)?.x_bar)
        })
    }

    /// Second derivatives that are changed as each statement is undone, on the interpreter.
    pub fn pushed(&self, x: ArrayView2<f64>) -> Result<Array2<f64>, Error> {
        let rows = embedding::hessian_pushed(x, &self.a, &self.b, EDGES)?.to_dense();
        Ok(Array2::from_shape_fn((rows.len(), rows.len()), |(i, j)| rows[i][j]))
    }
}

/// The matrix whose columns are what a function gives for the unit directions.
pub fn each_unit(
    shape: (usize, usize),
    mut column: impl FnMut(ArrayView2<f64>) -> Result<Array2<f64>, Error>,
) -> Result<Array2<f64>, Error> {
    let n = shape.0 * shape.1;
    let mut out = Array2::zeros((n, n));
    for k in 0..n {
        let mut unit = Array2::zeros(shape);
        unit[[k / shape.1, k % shape.1]] = 1.0;
        out.column_mut(k).assign(&Array1::from_iter(column(unit.view())?));
    }
    Ok(out)
}
