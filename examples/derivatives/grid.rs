//! The energy of a grid of springs, whose Hessian is a Laplacian: at most five nonzeros in a row, however large the grid is.

use rev::prelude::*;
use rev::sparse::{Branches, Order, Pattern, PatternError, Plan, SparseMatrix};

/// `½ Σ (u_i - u_j)²` over the neighbours in a grid whose rows are `side` long.
#[reversible(tangent)]
pub fn springs<T: Real>(energy: &mut T, u: &[T], side: usize) {
    for i in par(0..u.len()) {
        if i % side > 0 {
            let left = u[i] - u[i - 1];
            *energy += 0.5 * left * left;
        }
        if i >= side {
            let up = u[i] - u[i - side];
            *energy += 0.5 * up * up;
        }
    }
}

/// Where the grid is; its Hessian is the same everywhere.
pub fn heights(side: usize) -> Vec<f64> {
    (0..side * side).map(|k| (0.7 * k as f64).sin()).collect()
}

/// The places of the nonzeros.
pub fn pattern(u: &[f64], side: usize) -> Result<Pattern, Error> {
    springs::hessian_pattern(Branches::All, u, side)
}

/// The products that give them.
pub fn plan(pattern: Pattern) -> Result<Plan, PatternError> {
    Plan::by_star(pattern, Order::SmallestLast)
}

/// Whether a matrix has the stencil in each row: -1 for each neighbour, and their number on the diagonal.
pub fn is_laplacian(matrix: &SparseMatrix, side: usize) -> bool {
    let neighbours = |i: usize| {
        let (row, column) = (i / side, i % side);
        [(row > 0).then(|| i - side), (column > 0).then(|| i - 1)]
            .into_iter()
            .chain([(column + 1 < side).then_some(i + 1), (row + 1 < side).then_some(i + side)])
            .flatten()
    };
    let row = |i: usize| {
        let (before, behind): (Vec<usize>, Vec<usize>) = neighbours(i).partition(|&j| j < i);
        let diagonal = (side > 1).then(|| (i, i, neighbours(i).count() as f64));
        let of = |all: Vec<usize>| all.into_iter().map(move |j| (i, j, -1.0));
        of(before).chain(diagonal).chain(of(behind))
    };
    matrix.triplets().eq((0..side * side).flat_map(row))
}
