//! Tangents and compiled Hessians of the programs on real numbers: what they keep, formulas, and edge pushing.
#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{arr2, Array1, Array2};
use rev_classics::{advection, kepler, pyramid, spin_glass};
use rev_cpu::prelude::*;

fn numbers(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| (seed + 12.9898 * i as f64).sin()).collect()
}

/// The derivatives of an orbit's end by its beginning keep areas: `Jᵀ Ω J = Ω`, as the method is symplectic.
#[test]
fn an_orbit_keeps_areas() {
    let (position, velocity) = kepler::perihelion(0.4);
    let j = kepler::orbit::jacobian(&Cpu::new(), &position, &velocity, 0.05, 40).unwrap();
    let whole = j.matrix();
    let by_state = Array2::from_shape_fn((4, 4), |(i, k)| whole[[i, k]]);
    let pairs =
        arr2(&[[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [-1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0]]);
    let kept = by_state.t().dot(&pairs).dot(&by_state);
    assert!(kept.iter().zip(&pairs).all(|(k, p)| abs_diff_eq!(k, p, epsilon = 1e-11)), "{kept}");
    assert!(by_state.iter().any(|d| d.abs() > 1.5));
    // by the length of a step: 40 steps end where the time ends, and the orbit's change there is its velocity
    let exact = [0, 1, 2, 3].map(|i| whole[[i, 4]] / 40.0);
    let at = |dt: f64| {
        let (mut x, mut v) = (position, velocity);
        kepler::plain::orbit(&mut x, &mut v, dt, 40);
        [x[0], x[1], v[0], v[1]]
    };
    let h = 1e-5;
    let (up, down) = (at(0.05 + h), at(0.05 - h));
    (0..4).for_each(|i| assert_abs_diff_eq!(exact[i], (up[i] - down[i]) / (80.0 * h), epsilon = 1e-7));
}

/// `e +=` the energy after a number of steps.
#[reversible(tangent)]
fn energy_after<T: Real>(e: &mut T, position: &[T; 2], velocity: &[T; 2], dt: T, steps: usize) {
    let mut x = [T::zero(); 2];
    let mut v = [T::zero(); 2];
    for k in 0..2 {
        x[k] += position[k];
        v[k] += velocity[k];
    }
    kepler::orbit(&mut x, &mut v, dt, steps);
    *e += 0.5 * (v[0] * v[0] + v[1] * v[1]) - 1.0 / (x[0] * x[0] + x[1] * x[1]).sqrt();
}

/// Without a step the Hessian is that of `|v|²/2 - 1/r`: ones by the velocity, `δ_ij/r³ - 3 x_i x_j/r⁵` by the position. After steps it is near
/// that, as the energy is kept up to the square of their length, and it is what edge pushing has.
#[test]
fn the_energy_of_an_orbit() {
    let (cpu, x, v) = (Cpu::new(), [0.6, -0.3], [0.5, 1.1]);
    let wrt = energy_after::POSITION | energy_after::VELOCITY;
    let r = f64::hypot(x[0], x[1]);
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    let expected = |i: usize, j: usize| match (i / 2, j / 2) {
        (0, 0) => unit(i, j) / r.powi(3) - 3.0 * x[i] * x[j] / r.powi(5),
        (1, 1) => unit(i, j),
        _ => 0.0,
    };
    for (dt, steps, tolerance) in [(0.1, 0, 1e-12), (1e-3, 20, 1e-3)] {
        let h = energy_after::hessian_wrt(&cpu, wrt, &x, &v, dt, steps).unwrap();
        for ((i, j), h) in h.matrix().indexed_iter() {
            assert!(
                abs_diff_eq!(*h, expected(i, j), epsilon = tolerance),
                "({i}, {j}): {h} {}",
                expected(i, j)
            );
        }
    }
    let pushed = energy_after::hessian_pushed(&x, &v, 0.1, 10).unwrap().to_dense();
    let h = energy_after::hessian(&cpu, &x, &v, 0.1, 10).unwrap();
    for ((i, j), h) in h.matrix().indexed_iter() {
        assert!(abs_diff_eq!(*h, pushed[i][j], epsilon = 1e-10), "({i}, {j}): {h} {}", pushed[i][j]);
    }
}

#[test]
fn a_pyramid() {
    // of sin(a) cos(b)
    let (a, b) = (0.4f64, 1.3);
    let h = pyramid::pyramid::hessian(&Cpu::new(), &[a, b]).unwrap();
    let (same, mixed) = (-a.sin() * b.cos(), -a.cos() * b.sin());
    let expected = arr2(&[[same, mixed], [mixed, same]]);
    assert!(h.matrix().iter().zip(&expected).all(|(h, e)| abs_diff_eq!(h, e, epsilon = 1e-15)));
    for (n, cpu) in [(3, Cpu::new()), (12, Cpu::with_threads(2).parallel_from(0))] {
        let x = numbers(n, 0.3);
        let pushed = pyramid::pyramid::hessian_pushed(&x).unwrap().to_dense();
        let h = pyramid::pyramid::hessian(&cpu, &x).unwrap();
        let largest = pushed.iter().flatten().fold(0.0f64, |most, v| most.max(v.abs()));
        for ((i, j), h) in h.matrix().indexed_iter() {
            assert!(abs_diff_eq!(*h, pushed[i][j], epsilon = 1e-12 * largest), "({i}, {j})");
        }
    }
}

/// A step is linear in the state, so its tangent runs along; by the speed it is `-(right - left)/2 + c (right - 2 here + left)`.
#[test]
fn a_wave_on_a_ring() {
    let (n, c) = (6, 0.3);
    let [q, v] = [0.2, 0.7].map(|seed| Array1::from(numbers(n, seed)));
    let zero = Array1::zeros(n);
    let d = advection::step::jvp(&Cpu::new(), zero.view(), v.view(), 1.0, zero.view(), q.view(), c).unwrap();
    let moved = advection::plain::advance(v.as_slice().unwrap(), c, 1);
    for i in 0..n {
        let (left, right) = (q[(i + n - 1) % n], q[(i + 1) % n]);
        let by_speed = -0.5 * (right - left) + c * (right - 2.0 * q[i] + left);
        assert_abs_diff_eq!(d.next_dot[i], moved[i] + by_speed, epsilon = 1e-14);
    }
    let mut first = Array2::zeros((4, n));
    let mut along = Array2::zeros((4, n));
    first.row_mut(0).assign(&q);
    along.row_mut(0).assign(&v);
    let d = advection::advance::jvp(&Cpu::new(), along.view(), 0.0, first.view(), c).unwrap();
    let moved = advection::plain::advance(v.as_slice().unwrap(), c, 3);
    (0..n).for_each(|i| assert_abs_diff_eq!(d.states_dot[[3, i]], moved[i], epsilon = 1e-14));
}

/// The energy of a ground state is linear near the couplings: along a direction it changes as that configuration's energy.
#[test]
fn a_ground_state() {
    let array = |rows: usize, columns: usize, seed: f64| {
        Array2::from_shape_vec((rows, columns), numbers(rows * columns, seed)).unwrap()
    };
    let (right, down, field) = (array(3, 4, 0.1), array(2, 4, 0.4), array(3, 4, 0.8));
    let (v, w, u) = (array(3, 4, 0.9), array(2, 4, 0.6), array(3, 4, 0.2));
    let cpu = Cpu::new();
    let glass = spin_glass::Glass::new(right.clone(), down.clone(), field.clone()).unwrap();
    let ground = spin_glass::plain::exhaustive(&glass);
    let along = spin_glass::Glass::new(v.clone(), w.clone(), u.clone()).unwrap();
    let views = (right.view(), down.view(), field.view());
    let d = spin_glass::ground_energy::jvp(
        &cpu,
        &0.0,
        v.view(),
        w.view(),
        u.view(),
        &0.0,
        views.0,
        views.1,
        views.2,
    );
    let d = d.unwrap();
    assert_abs_diff_eq!(d.energy, ground.energy, epsilon = 1e-12);
    assert_abs_diff_eq!(d.energy_dot, along.energy(&ground.spins), epsilon = 1e-12);
    let h = spin_glass::ground_energy::hvp(&cpu, v.view(), w.view(), u.view(), views.0, views.1, views.2)
        .unwrap();
    assert!(h.right.iter().chain(&h.down).chain(&h.field).all(|h| *h == 0.0));
}
