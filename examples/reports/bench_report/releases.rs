//! Programs of which checks ask more than what every program is asked: what ancillas hold that they release by hand, and
//! whether elements are one that only the values of indices tell apart.

use ndarray::ArrayViewMut2;
use rev::prelude::*;

/// `y[i] += x[i]² + x[i]⁴`, in lanes.
#[reversible]
pub fn of_numbers(y: &mut [f64], x: &[f64]) {
    for i in par(0..x.len()) {
        let mut square = 0.0;
        square += x[i] * x[i];
        y[i] += square + square * square;
        square -= x[i] * x[i];
        release(square);
    }
}

/// `y += Σ x[i]⁴` by an array of squares.
#[reversible]
pub fn of_an_array(y: &mut f64, x: &[f64]) {
    let mut squares = vec![0.0; x.len()];
    for i in par(0..x.len()) {
        squares[i] += x[i] * x[i];
    }
    for i in par(0..x.len()) {
        *y += squares[i] * squares[i];
    }
    for i in par(0..x.len()) {
        squares[i] -= x[i] * x[i];
    }
    release(squares);
}

/// `a[i, 0] += exp(a[i, j[i]])`, in lanes; `j` holds no 0.
#[reversible]
pub fn of_elements(mut a: ArrayViewMut2<f64>, j: &[usize]) {
    for i in par(0..j.len()) {
        a[[i, 0]] += a[[i, j[i]]].exp();
    }
}
