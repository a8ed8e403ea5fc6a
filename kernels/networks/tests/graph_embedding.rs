//! The embedding of a graph against plain Rust, a placement known from algebra, and differences.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/support/hessian.rs"]
mod second;
#[path = "support/numbers.rs"]
mod support;

use approx::assert_abs_diff_eq;
use ndarray::Array2;
use rev_cpu::prelude::*;
use rev_networks::graph_embedding::{embedding, plain, Petersen, EDGES, VERTICES};
use support::{apart, numbers};

fn loss(x: &Array2<f64>) -> f64 {
    let (mut loss, graph) = (0.0, Petersen::new());
    embedding(&mut loss, x.view(), &graph.a, &graph.b, EDGES).unwrap();
    loss
}

#[test]
fn values_and_gradients() {
    let graph = Petersen::new();
    assert_eq!((graph.a.len(), graph.b.len()), (VERTICES * (VERTICES - 1) / 2, 45));
    for k in 1..=10 {
        let x: Array2<f64> = numbers((VERTICES, k), k as u64);
        let lengths = plain::lengths(x.view(), &graph.a, &graph.b, EDGES);
        assert_abs_diff_eq!(loss(&x), lengths.loss(), epsilon = 1e-13);
        let mut back = loss(&x);
        embedding::inverse(&mut back, x.view(), &graph.a, &graph.b, EDGES).unwrap();
        assert_abs_diff_eq!(back, 0.0, epsilon = 1e-14);
        let report =
            embedding::check_gradient(&Cpu::new(), &0.0, x.view(), &graph.a, &graph.b, EDGES).unwrap();
        assert!(report.passed(), "{k}: {report}");
    }
}

/// The projection on the eigenvectors of the adjacency matrix with eigenvalue 1, which are five: `(4 + 2 A - J) / 6`. Its rows are placements
/// with the squared lengths 2/3 and 4/3.
fn spectral() -> Array2<f64> {
    let graph = Petersen::new();
    let mut x = Array2::from_shape_fn((VERTICES, VERTICES), |(i, j)| if i == j { 0.5 } else { -1.0 / 6.0 });
    for (&a, &b) in graph.a.iter().zip(&graph.b).take(EDGES) {
        (x[[a, b]], x[[b, a]]) = (1.0 / 6.0, 1.0 / 6.0);
    }
    x
}

#[test]
fn a_placement_in_five_dimensions_has_no_loss() {
    let (graph, x) = (Petersen::new(), spectral());
    assert!(apart(&x.dot(&x), &x) < 1e-15);
    assert_abs_diff_eq!(x.diag().sum(), 5.0, epsilon = 1e-15);
    let [l1, l2] = plain::lengths(x.view(), &graph.a, &graph.b, EDGES).means;
    assert_abs_diff_eq!(l1, (2.0f64 / 3.0).sqrt(), epsilon = 1e-15);
    assert_abs_diff_eq!(l2 / l1, 2f64.sqrt(), epsilon = 1e-14);
    assert!(loss(&x) < 1e-28);
    let g = embedding::gradient(&Cpu::new(), x.view(), &graph.a, &graph.b, EDGES).unwrap();
    assert!(g.x.iter().all(|v| v.abs() < 1e-14));
    // not so in four: without one of the five directions
    let direction = x.row(0).to_owned();
    let along = x.dot(&direction) / direction.dot(&direction).sqrt();
    let flat = &x
        - &Array2::from_shape_fn(x.dim(), |(i, j)| {
            along[i] * direction[j] / direction.dot(&direction).sqrt()
        });
    assert!(loss(&flat) > 1e-3, "{}", loss(&flat));
}

#[test]
fn its_hessian() {
    let graph = Petersen::new();
    let x: Array2<f64> = numbers((VERTICES, 3), 1);
    let gradient =
        |x: &Array2<f64>| embedding::gradient(&Cpu::new(), x.view(), &graph.a, &graph.b, EDGES).unwrap().x;
    let found = second::hessian!(embedding, x.view(), &graph.a[..], &graph.b[..], EDGES);
    let h = 1e-5;
    for (column, found) in found.iter().enumerate() {
        let moved = |by: f64| {
            let mut x = x.clone();
            x.iter_mut().nth(column).into_iter().for_each(|v| *v += by);
            gradient(&x)
        };
        let difference = (moved(h) - moved(-h)) / (2.0 * h);
        for (row, expected) in difference.iter().enumerate() {
            assert_abs_diff_eq!(found[row], *expected, epsilon = 1e-7);
        }
    }
}
