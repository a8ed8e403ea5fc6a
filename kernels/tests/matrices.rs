//! Bundle adjustment's whole Jacobian as a sparse matrix, its 2 x 15 blocks and the Gauss-Newton matrix, against
//! derivatives by hand.

#![allow(clippy::unwrap_used)]

use approx::assert_relative_eq;
use std::sync::Arc;

use rev_core::sparse::{Branches, Order, Plan, SparseMatrix};
use rev_cpu::prelude::*;
use rev_kernels::ba::{plain, residual, Instance, CAMERA, COLUMNS};

/// The residuals of observations that say which camera saw which point.
#[reversible(tangent, constant(features))]
fn reprojection<T: Real>(
    residuals: &mut [[T; 2]],
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    weights: &[T],
    camera_of: &[usize],
    point_of: &[usize],
    features: &[[T; 2]],
) {
    for i in par(0..features.len()) {
        residual(&mut residuals[i], &cameras[camera_of[i]], &points[point_of[i]], weights[i], &features[i]);
    }
}

/// The same where every observation has a camera and a point of its own.
#[reversible(tangent, constant(features))]
fn apart<T: Real>(
    residuals: &mut [[T; 2]],
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    weights: &[T],
    features: &[[T; 2]],
) {
    for i in par(0..features.len()) {
        residual(&mut residuals[i], &cameras[i], &points[i], weights[i], &features[i]);
    }
}

/// The blocks of a matrix with two rows for each observation, against those by hand. Where the columns of an
/// observation begin, `starts` says: camera, point, weight.
fn check_blocks(matrix: &SparseMatrix, i: &Instance, starts: impl Fn(usize) -> [usize; 3]) {
    let mut count = 0;
    for (k, block) in matrix.blocks(2).unwrap().enumerate() {
        let (camera, point) = (&i.cameras[i.camera_of[k]], &i.points[i.point_of[k]]);
        let (_, expected) = plain::residual_jacobian(camera, point, i.weights[k], &i.features[k]);
        let [c, x, w] = starts(k);
        let columns: Vec<usize> = (c..c + CAMERA).chain(x..x + 3).chain([w]).collect();
        assert_eq!((block.row, block.columns), (2 * k, &columns[..]));
        for (found, expected) in block.values.iter().zip(expected.as_flattened()) {
            assert_relative_eq!(found, expected, epsilon = 1e-9, max_relative = 1e-9);
        }
        assert_eq!(block.values.len(), 2 * COLUMNS);
        count += 1;
    }
    assert_eq!(count, i.features.len());
}

#[test]
fn the_whole_jacobian_has_a_block_for_each_observation() {
    let cpu = Cpu::new();
    for (seed, [n, m, p]) in [(1, [1, 1, 1]), (2, [3, 10, 40]), (3, [5, 30, 200])] {
        let i = Instance::random(n, m, p, seed);
        let (e, wrt) =
            (vec![[0.0; 2]; p], reprojection::CAMERAS | reprojection::POINTS | reprojection::WEIGHTS);
        let pattern = reprojection::jacobian_pattern(
            (Branches::All, wrt),
            &e,
            &i.cameras,
            &i.points,
            &i.weights,
            &i.camera_of,
            &i.point_of,
            &i.features,
        );
        let pattern = Arc::new(pattern.unwrap().joined(2));
        // as many products as columns of a block, however many observations there are
        let plan = Plan::by_columns(pattern, Order::Natural);
        assert_eq!(plan.groups(), COLUMNS);
        let jacobian = reprojection::jacobian_sparse(
            &cpu,
            (&plan, wrt),
            &e,
            &i.cameras,
            &i.points,
            &i.weights,
            &i.camera_of,
            &i.point_of,
            &i.features,
        )
        .unwrap();
        let (points, weights) = (CAMERA * n, CAMERA * n + 3 * m);
        check_blocks(&jacobian, &i, |k| [CAMERA * i.camera_of[k], points + 3 * i.point_of[k], weights + k]);
        check_normal_equations(&jacobian, &i);
    }
}

/// `JᵀJ` by its blocks, and `Jᵀe` against the gradient by hand.
fn check_normal_equations(jacobian: &SparseMatrix, i: &Instance) {
    let (gram, dense) = (jacobian.gram(), jacobian.to_dense());
    for (a, b, value) in gram.triplets() {
        let expected: f64 = dense.iter().map(|row| row[a] * row[b]).sum();
        assert_relative_eq!(value, expected, epsilon = 1e-9, max_relative = 1e-9);
    }
    // no more places than pairs of columns in blocks; two cameras are in none
    assert!(gram.nonzeros() <= i.features.len() * COLUMNS * COLUMNS);
    assert!(i.cameras.len() == 1 || !gram.pattern().contains(0, CAMERA));
    let residuals = plain::residuals(i);
    let pulled = jacobian.transposed().times(residuals.as_flattened()).unwrap();
    let g = plain::gradient(i);
    let cameras = g.cameras.as_flattened().iter().chain(g.points.as_flattened());
    pulled.iter().zip(cameras).for_each(|(a, b)| {
        assert_relative_eq!(a, b, epsilon = 1e-9, max_relative = 1e-9);
    });
}

#[test]
fn iterations_that_are_apart_take_a_product_for_each_row_of_a_block() {
    let (n, p) = (4, 33);
    let i = Instance::random(n, p, p, 5);
    let cameras: Vec<_> = i.camera_of.iter().map(|c| i.cameras[*c]).collect();
    let points: Vec<_> = i.point_of.iter().map(|x| i.points[*x]).collect();
    let (e, wrt) = (vec![[0.0; 2]; p], apart::CAMERAS | apart::POINTS | apart::WEIGHTS);
    let by = (Branches::All, wrt);
    let pattern = apart::jacobian_pattern(by, &e, &cameras, &points, &i.weights, &i.features).unwrap();
    let plan = Plan::by_fewer(pattern.joined(2), Order::Natural);
    assert!(plan.is_by_rows() && plan.groups() == 2);
    for device in [Cpu::new(), Cpu::new().checks(false)] {
        let j = apart::jacobian_sparse(&device, (&plan, wrt), &e, &cameras, &points, &i.weights, &i.features);
        check_blocks(&j.unwrap(), &i, |k| [CAMERA * k, CAMERA * p + 3 * k, (CAMERA + 3) * p + k]);
    }
}
