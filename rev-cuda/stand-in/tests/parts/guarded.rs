//! Elements that are there only where a choice asks for them: neighbours in a row of numbers.

use super::{devices, near, Tested};
use approx::abs_diff_eq;
use rev_cpu::prelude::*;

#[reversible]
fn neighbours<T: Real>(y: &mut [T], x: &[T], w: T) {
    for i in par(0..y.len()) {
        y[i] += if i + 1 < x.len() { x[i + 1] * x[i + 1] * w } else { w };
        y[i] -= if i > 0 { (x[i - 1] * w).sin() } else { T::zero() };
    }
}

/// One after the other, by a name, with a divisor that is guarded too.
#[reversible]
fn in_turn<T: Real>(y: &mut [T], x: &[T], w: T) {
    for i in 0..y.len() {
        let next = if i + 1 < x.len() { x[i + 1] * x[i + 1] } else { T::one() };
        y[i] += next * w;
        y[i] -= if i > 0 { (x[i - 1] * w).sin() * T::from_usize(12 / i) } else { T::zero() };
    }
}

#[test]
fn neighbours_that_are_there() {
    let w = 0.7;
    for (n, Tested { device, name, .. }) in
        [1, 2, 5, 100].into_iter().flat_map(|n| devices().into_iter().map(move |d| (n, d)))
    {
        let numbers =
            |seed: usize| (0..n).map(move |i| ((i * 7 + seed * 3) % 11) as f64 / 3.0 - 1.5).collect();
        let [y, x, seeds]: [Vec<f64>; 3] = [1, 2, 3].map(numbers);
        let next = |i: usize| x.get(i + 1).map_or(1.0, |x| x * x);
        let last = |i: usize| i.checked_sub(1).map_or(0.0, |k| x[k]);
        for divided in [false, true] {
            let times = |i: usize| if divided { 12usize.checked_div(i).unwrap_or(0) as f64 } else { 1.0 };
            let value = |i: usize| y[i] + next(i) * w - (last(i) * w).sin() * times(i);
            let of_next = |i: usize| if i > 0 { seeds[i - 1] * 2.0 * x[i] * w } else { 0.0 };
            let of_last =
                |i: usize| seeds.get(i + 1).map_or(0.0, |s| s * (x[i] * w).cos() * w * times(i + 1));
            let of_w = |i: usize| seeds[i] * (next(i) - (last(i) * w).cos() * last(i) * times(i));
            let expected: Vec<f64> = (0..n).map(value).collect();
            let x_bar: Vec<f64> = (0..n).map(|i| of_next(i) - of_last(i)).collect();
            let w_bar: f64 = (0..n).map(of_w).sum();
            let (found, found_x, found_w) = match divided {
                false => {
                    neighbours::vjp(&*device, &seeds, &y, &x, w).map(|v| (v.y, v.x_bar, v.w_bar)).unwrap()
                }
                true => in_turn::vjp(&*device, &seeds, &y, &x, w).map(|v| (v.y, v.x_bar, v.w_bar)).unwrap(),
            };
            assert!(near(&found, &expected) && near(&found_x, &x_bar), "{name}: {found_x:?} for {x_bar:?}");
            assert!(abs_diff_eq!(found_w, w_bar, epsilon = 1e-9), "{name}: {found_w} for {w_bar}");
        }
    }
}
