//! GMM and bundle adjustment: values, inverses and gradients against the plain twins.
#![allow(clippy::unwrap_used)]

use rev_kernels::{ba, bal, gmm, rotation};

fn close(got: f64, expected: f64) {
    let difference = (got - expected).abs() / (got.abs() + expected.abs()).max(1.0);
    assert!(difference <= 1e-10, "{got} against {expected}");
}

#[test]
fn gmm_there_and_back() {
    for (d, k, n, gamma, m) in
        [(1, 1, 1, 1.0, 0), (2, 5, 50, 1.0, 0), (5, 3, 20, 1.3, 4), (10, 25, 30, 0.7, 1)]
    {
        let i = gmm::Instance { gamma, m, ..gmm::Instance::random(d, k, n, 3) };
        let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
        let alphas = i.alphas.as_slice().unwrap();
        let mut loss = 0.0;
        gmm::objective(&mut loss, alphas, means, icf, points, gamma, m).unwrap();
        close(loss, gmm::plain::objective(i.alphas.view(), means, icf, points, gamma, m));
        gmm::objective::inverse(&mut loss, alphas, means, icf, points, gamma, m).unwrap();
        close(loss, 0.0);
    }
}

#[test]
fn gmm_in_single_precision() {
    let i = gmm::Instance::random(3, 4, 50, 7);
    let single = |a: &ndarray::Array2<f64>| a.mapv(|x| x as f32);
    let (alphas, means, icf, points) =
        (i.alphas.mapv(|x| x as f32), single(&i.means), single(&i.icf), single(&i.points));
    let mut loss = 0f32;
    gmm::objective(&mut loss, alphas.as_slice().unwrap(), means.view(), icf.view(), points.view(), 1.0, 0)
        .unwrap();
    let expected =
        gmm::plain::objective(i.alphas.view(), i.means.view(), i.icf.view(), i.points.view(), 1.0, 0);
    assert!((f64::from(loss) - expected).abs() < 1e-4 * expected.abs());
}

#[test]
fn rotation_there_and_back_also_at_angle_zero() {
    for r in [[0.4, -1.1, 0.7], [0.0; 3], [1e-9, 0.0, 0.0]] {
        let (v, mut out) = ([0.3, -1.2, 2.5], [0.0; 3]);
        rotation::rotate(&mut out, &r, &v).unwrap();
        let expected = rotation::plain::rotate(&r, &v);
        (0..3).for_each(|j| close(out[j], expected[j]));
        rotation::rotate::inverse(&mut out, &r, &v).unwrap();
        assert_eq!(out, [0.0; 3]);
    }
}

#[test]
fn ba_errors_and_objective() {
    let mut i = ba::Instance::random(3, 7, 40, 5);
    i.cameras[1][..6].copy_from_slice(&[0.0, 0.0, 0.0, 0.1, 0.2, -6.0]);
    let (mut residuals, mut weight_errors) = (vec![[0.0; 2]; 40], vec![0.0; 40]);
    let (camera_of, point_of) = (i.camera_of.as_slice(), i.point_of.as_slice());
    ba::errors(
        &mut residuals,
        &mut weight_errors,
        &i.cameras,
        &i.points,
        &i.weights,
        camera_of,
        point_of,
        &i.features,
    )
    .unwrap();
    let expected = ba::plain::residuals(&i);
    (0..40).for_each(|j| (0..2).for_each(|c| close(residuals[j][c], expected[j][c])));
    assert_eq!(weight_errors, ba::plain::weight_errors(&i));
    ba::errors::inverse(
        &mut residuals,
        &mut weight_errors,
        &i.cameras,
        &i.points,
        &i.weights,
        camera_of,
        point_of,
        &i.features,
    )
    .unwrap();
    assert_eq!((residuals, weight_errors), (vec![[0.0; 2]; 40], vec![0.0; 40]));
    let mut loss = 0.0;
    ba::objective(&mut loss, &i.cameras, &i.points, &i.weights, camera_of, point_of, &i.features).unwrap();
    close(loss, ba::plain::gradient(&i).value);
}

#[test]
fn bal_errors_and_objective() {
    let i = bal::Instance::random(3, 7, 40, 5);
    let mut residuals = vec![[0.0; 2]; 40];
    let (camera_of, point_of) = (i.camera_of.as_slice(), i.point_of.as_slice());
    bal::errors(&mut residuals, &i.cameras, &i.points, camera_of, point_of, &i.features).unwrap();
    let expected = bal::plain::residuals(&i);
    (0..40).for_each(|j| (0..2).for_each(|c| close(residuals[j][c], expected[j][c])));
    bal::errors::inverse(&mut residuals, &i.cameras, &i.points, camera_of, point_of, &i.features).unwrap();
    assert_eq!(residuals, vec![[0.0; 2]; 40]);
    let mut loss = 0.0;
    bal::objective(&mut loss, &i.cameras, &i.points, camera_of, point_of, &i.features).unwrap();
    close(loss, bal::plain::gradient(&i).value);
}
