//! Stacks that keep arrays of run-time length.

#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev::prelude::*;
use rev::Emulator;

#[reversible]
fn moved(kept: &mut Stack<Vec<f64>>, x: &mut [f64], mut y: ArrayViewMut1<f64>) {
    push(kept, x);
    push(kept, y);
    pop(kept, x);
}

#[reversible]
fn taken(kept: &mut Stack<Vec<i32>>, x: &mut Vec<i32>) {
    pop(kept, x);
}

#[test]
fn arrays_go_to_a_stack_and_come_back() {
    fn on<D: Device>(device: &D) {
        let (mut kept, mut x, mut y) = (Stack::new(), [1.0, 2.0, -0.0], ndarray::arr1(&[4.0, f64::NAN, 6.0]));
        moved::run(device, &mut kept, &mut x, y.view_mut()).unwrap();
        assert_eq!((kept.as_slice(), y), (&[vec![1.0, 2.0, 0.0]][..], ndarray::arr1(&[0.0; 3])));
        assert!(x[0] == 4.0 && x[1].is_nan() && x[2] == 6.0);
        let mut y = ndarray::arr1(&[0.0; 3]);
        moved::run_inverse(device, &mut kept, &mut x, y.view_mut()).unwrap();
        assert_eq!((kept.len(), x.map(f64::to_bits)), (0, [1.0, 2.0, -0.0].map(f64::to_bits)));
        assert!(y[0] == 4.0 && y[1].is_nan() && y[2] == 6.0);

        let (mut kept, mut x) = (Stack::from(vec![vec![7], vec![1, 2, 3]]), vec![0, 0]);
        let error = taken::run(device, &mut kept, &mut x).unwrap_err().to_string();
        assert!(error.contains("`x` must have the shape [3] and has [2]"), "{error}");
        assert_eq!((kept.len(), &x), (2, &vec![0, 0]));
        let mut x = vec![0, 0, 5];
        let error = taken::run(device, &mut kept, &mut x).unwrap_err().to_string();
        assert!(error.contains("must hold zero to be popped into, and holds 5"), "{error}");
        let mut x = vec![0, 0, 0];
        taken::run(device, &mut kept, &mut x).unwrap();
        assert_eq!((kept.as_slice(), x), (&[vec![7]][..], vec![1, 2, 3]));
        let error = taken::run(device, &mut Stack::new(), &mut vec![0]).unwrap_err().to_string();
        assert!(error.contains("the stack `kept` is empty"), "{error}");
    }
    on(&Cpu::new());
    on(&Cpu::new().threads(3));
    on(&Interpreter::new());
    let refused = taken::run(&Emulator::new(), &mut Stack::from(vec![vec![1]]), &mut vec![0]).unwrap_err();
    assert!(refused.to_string().contains("a stack of arrays"), "{refused}");
}

/// A map that isn't reversible, many times: the state before each step is kept.
#[reversible(tangent)]
fn mixed<T: Real>(y: &mut T, x: &[T], steps: usize) {
    let mut kept = Stack::new();
    let mut state = vec![T::zero(); x.len()];
    let mut next = vec![T::zero(); x.len()];
    #[compute]
    {
        state += entries(x);
        for _ in 0..steps {
            for i in 0..state.len() {
                next[i] += state[i] * state[(i + 1) % state.len()] + state[i].sin();
            }
            swap(state, next);
            push(kept, next);
        }
    }
    for i in 0..state.len() {
        *y += state[i] * state[i];
    }
}

fn mixed_plainly(x: &[f64], steps: usize) -> f64 {
    let mut state = x.to_vec();
    for _ in 0..steps {
        let n = state.len();
        state = (0..n).map(|i| state[i] * state[(i + 1) % n] + state[i].sin()).collect();
    }
    state.iter().map(|x| x * x).sum()
}

/// The same for each row, with a stack of its own.
#[reversible]
fn all_mixed<T: Real>(y: &mut [T], x: &[T], steps: usize) {
    for i in par(0..y.len()) {
        let mut kept = Stack::new();
        let mut state = vec![T::zero(); 3];
        let mut next = vec![T::zero(); 3];
        #[compute]
        {
            for k in 0..3 {
                state[k] += x[3 * i + k];
            }
            for _ in 0..steps {
                for k in 0..3 {
                    next[k] += state[k] * state[(k + 1) % 3] + state[k].sin();
                }
                swap(state, next);
                push(kept, next);
            }
        }
        for k in 0..3 {
            y[i] += state[k] * state[k];
        }
    }
}

#[test]
fn derivatives_through_kept_arrays() {
    fn on<D: Device>(device: &D) {
        for (x, steps) in [(vec![0.3, -0.5, 0.7, 0.2], 3), (vec![0.4], 5), (vec![], 2), (vec![1.0, 0.5], 0)] {
            let g = mixed::gradient(device, &x, steps).unwrap();
            assert_abs_diff_eq!(g.value, mixed_plainly(&x, steps), epsilon = 1e-12);
            for i in 0..x.len() {
                let h = 1e-6;
                let at = |h| {
                    mixed_plainly(
                        &(0..x.len()).map(|k| x[k] + if k == i { h } else { 0.0 }).collect::<Vec<_>>(),
                        steps,
                    )
                };
                let slope = (at(h) - at(-h)) / (2.0 * h);
                assert!(
                    abs_diff_eq!(g.x[i], slope, epsilon = 1e-7 * (1.0 + slope.abs())),
                    "{i}: {} {slope}",
                    g.x[i]
                );
            }
        }
        let x: Vec<f64> = (0..600).map(|i| f64::from(i) / 600.0).collect();
        let mut y = vec![0.0; 200];
        all_mixed::run(device, &mut y, &x, 3).unwrap();
        let v = all_mixed::vjp(device, &vec![1.0; 200], &vec![0.0; 200], &x, 3).unwrap();
        for i in 0..200 {
            let g = mixed::gradient(device, &x[3 * i..3 * i + 3], 3).unwrap();
            assert_abs_diff_eq!(y[i], g.value, epsilon = 1e-12 * (1.0 + g.value));
            (0..3).for_each(|k| assert_abs_diff_eq!(v.x_bar[3 * i + k], g.x[k], epsilon = 1e-12));
        }
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Cpu::new().threads(3));
    on(&Interpreter::new());
    let (x, v) = ([0.3, -0.5, 0.7], [1.0, 0.5, -0.25]);
    let g = mixed::gradient(&Cpu::new(), &x, 3).unwrap();
    let d = mixed::jvp(&Cpu::new(), &0.0, &v, &0.0, &x, 3).unwrap();
    assert_abs_diff_eq!(d.y_dot, g.x.iter().zip(&v).map(|(g, v)| g * v).sum::<f64>(), epsilon = 1e-12);
    let h = 1e-5;
    let shifted =
        |h: f64| mixed::gradient(&Cpu::new(), &[x[0] + h, x[1] + h / 2.0, x[2] - h / 4.0], 3).unwrap().x;
    let (_, product) = mixed::gradient_and_hvp(&Cpu::new(), &v, &x, 3).unwrap();
    let (up, down) = (shifted(h), shifted(-h));
    (0..3).for_each(|i| assert_abs_diff_eq!(product.x[i], (up[i] - down[i]) / (2.0 * h), epsilon = 1e-6));
    let refused = mixed::gradient(&Emulator::new(), &x, 3).unwrap_err();
    assert!(refused.to_string().contains("a stack of arrays"), "{refused}");
}
