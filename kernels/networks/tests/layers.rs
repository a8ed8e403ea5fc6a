//! Layers against loops in plain Rust, their inverses and gradients.
#![allow(clippy::unwrap_used)]

#[path = "support/numbers.rs"]
mod support;

use approx::assert_abs_diff_eq;
use ndarray::{arr1, arr2, Array3, Array4};
use rev_cpu::prelude::*;
use rev_networks::layers::*;
use support::{apart, numbers};

#[test]
fn a_dense_layer() {
    let (x, w, b, before) = (numbers((4, 3), 1), numbers((2, 3), 2), numbers(2, 3), numbers((4, 2), 4));
    let mut y = before.clone();
    dense(y.view_mut(), x.view(), w.view(), b.view()).unwrap();
    assert!(apart(&y, &(&before + &plain::dense(x.view(), w.view(), b.view()))) < 1e-14);
    dense::inverse(y.view_mut(), x.view(), w.view(), b.view()).unwrap();
    assert!(apart(&y, &before) < 1e-14);
    let report = dense::check_gradient(&Cpu::new(), before.view(), x.view(), w.view(), b.view()).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn a_convolution_by_hand() {
    let x = Array3::from_shape_vec((1, 1, 4), vec![1.0, 2.0, 4.0, 8.0]).unwrap();
    let kernel = Array3::from_shape_vec((1, 1, 3), vec![1.0, 10.0, 100.0]).unwrap();
    let mut y = Array3::zeros((1, 1, output_length(4, 3, 1, 1).unwrap()));
    convolution_1d(y.view_mut(), x.view(), kernel.view(), arr1(&[0.5]).view(), 1, 1).unwrap();
    assert_eq!(y.into_raw_vec_and_offset().0, [210.5, 421.5, 842.5, 84.5]);
    let mut y = Array3::zeros((1, 1, output_length(4, 3, 2, 0).unwrap()));
    convolution_1d(y.view_mut(), x.view(), kernel.view(), arr1(&[0.0]).view(), 2, 0).unwrap();
    assert_eq!(y.into_raw_vec_and_offset().0, [421.0]);
}

#[test]
fn convolutions_of_signals() {
    for (stride, padding) in [(1, 0), (1, 2), (2, 1), (3, 4)] {
        let length = output_length(7, 3, stride, padding).unwrap();
        let (x, kernel, b) = (numbers((2, 3, 7), 1), numbers((2, 3, 3), 2), numbers(2, 3));
        let before = numbers((2, 2, length), 4);
        let mut y = before.clone();
        convolution_1d(y.view_mut(), x.view(), kernel.view(), b.view(), stride, padding).unwrap();
        let expected = plain::convolution_1d(x.view(), kernel.view(), b.view(), (stride, padding, length));
        assert!(apart(&y, &(&before + &expected)) < 1e-14);
        convolution_1d::inverse(y.view_mut(), x.view(), kernel.view(), b.view(), stride, padding).unwrap();
        assert!(apart(&y, &before) < 1e-14);
        let (x, kernel, b) = (x.view(), kernel.view(), b.view());
        let report =
            convolution_1d::check_gradient(&Cpu::new(), before.view(), x, kernel, b, stride, padding)
                .unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn convolutions_of_pictures() {
    for (stride, padding) in [(1, 0), (2, 1)] {
        let height = output_length(5, 3, stride, padding).unwrap();
        let width = output_length(6, 2, stride, padding).unwrap();
        let (x, kernel, b) = (numbers((2, 2, 5, 6), 1), numbers((3, 2, 3, 2), 2), numbers(3, 3));
        let before: Array4<f64> = numbers((2, 3, height, width), 4);
        let mut y = before.clone();
        convolution_2d(y.view_mut(), x.view(), kernel.view(), b.view(), stride, padding).unwrap();
        let sizes = (stride, padding, [height, width]);
        let expected = plain::convolution_2d(x.view(), kernel.view(), b.view(), sizes);
        assert!(apart(&y, &(&before + &expected)) < 1e-14);
        convolution_2d::inverse(y.view_mut(), x.view(), kernel.view(), b.view(), stride, padding).unwrap();
        assert!(apart(&y, &before) < 1e-14);
        let (x, kernel, b) = (x.view(), kernel.view(), b.view());
        let report =
            convolution_2d::check_gradient(&Cpu::new(), before.view(), x, kernel, b, stride, padding)
                .unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn lengths_that_do_not_fit() {
    assert_eq!(output_length(8, 3, 1, 1), Ok(8));
    assert_eq!(output_length(8, 3, 0, 1), Err(SizeError::Stride));
    let error = output_length(2, 5, 1, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a kernel of length 5 doesn't fit into a signal of length 2 with a padding of 1"
    );
    assert!(output_length(2, 0, 1, 1).is_err());
    assert!(output_length(2, 1, 1, usize::MAX).is_err());
}

#[test]
fn activations() {
    // values of other implementations
    let close = |a: f64, b: f64| assert_abs_diff_eq!(a, b, epsilon = 1e-12);
    close(gelu(1.0), 0.841_344_746_068_542_9);
    close(gelu(-0.5), -0.154_268_769_362_722_8);
    close(silu(1.0), 0.731_058_578_630_004_9);
    close(elu(-1.0), -0.632_120_558_828_557_7);
    assert_eq!([relu(2.0), relu(-2.0), relu(0.0)], [2.0, 0.0, 0.0]);
    assert_eq!([leaky_relu(2.0, 0.1), leaky_relu(-2.0, 0.1)], [2.0, -0.2]);
    assert_eq!(plain::relu(-1.0), 0.0);
    let x = arr2(&[[0.3, -0.7], [1.5, -2.5]]);
    let mut y = x.clone();
    activate(y.view_mut(), x.view(), add_gelu {}).unwrap();
    assert!(apart(&y, &x.mapv(|v| v + gelu(v))) < 1e-15);
    let v = activate::vjp(&Cpu::new(), arr2(&[[1.0; 2]; 2]).view(), y.view(), x.view(), add_gelu {}).unwrap();
    let h = 1e-5;
    assert!(apart(&v.x_bar, &x.mapv(|v| (gelu(v + h) - gelu(v - h)) / (2.0 * h))) < 1e-9);
}
