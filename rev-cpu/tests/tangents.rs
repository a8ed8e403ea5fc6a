//! Tangents of compiled programs: jvp, Hessian-vector products, and calls of tangents in programs.

use rev_cpu::prelude::*;

#[reversible(tangent)]
fn rosenbrock<T: Real>(y: &mut T, x: &[T]) {
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = T::one() - x[i];
        *y += a * a * T::from_f64(100.0) + b * b;
    }
}

#[test]
fn rosenbrock_by_hand() {
    let x = [0.5, -0.25, 1.5];
    let v = [1.0, 2.0, -1.0];
    let cpu = Cpu::new();
    let jvp = rosenbrock::jvp(&cpu, &0.0, &v, &0.0, &x).unwrap();
    let gradient = rosenbrock::gradient(&cpu, &x).unwrap();
    let slope: f64 = gradient.x.iter().zip(&v).map(|(g, v)| g * v).sum();
    assert!((jvp.y_dot - slope).abs() < 1e-12 * slope.abs(), "{jvp:?} {slope}");
    let (g, h) = rosenbrock::gradient_and_hvp(&cpu, &v, &x).unwrap();
    assert_eq!(g.x, gradient.x);
    assert_eq!(g.value, gradient.value);
    // the Hessian by hand
    let diagonal = |i: usize| {
        let mut d = 0.0;
        if i + 1 < 3 {
            d += 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0;
        }
        if i > 0 {
            d += 200.0;
        }
        d
    };
    for i in 0..3 {
        let mut expected = diagonal(i) * v[i];
        if i > 0 {
            expected += -400.0 * x[i - 1] * v[i - 1];
        }
        if i + 1 < 3 {
            expected += -400.0 * x[i] * v[i + 1];
        }
        assert!((h.x[i] - expected).abs() < 1e-10 * expected.abs().max(1.0), "{h:?} {expected}");
    }
}
