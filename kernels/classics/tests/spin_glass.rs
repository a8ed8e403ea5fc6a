//! Ground states of spin glasses against exhaustive search.
#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{s, Array2};
use rev_classics::spin_glass::{self, plain, Glass, GlassError};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

/// Numbers between -1 and 1.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

/// Couplings of ±1 with a share of a number that looks random, on a torus or with open sides.
fn glass(rows: usize, columns: usize, seed: u64, share: f64, around: bool) -> Glass {
    let mut next = noise(seed);
    let mut bond = || next().signum() + share * next();
    let mut right = Array2::from_shape_simple_fn((rows, columns), &mut bond);
    let down = Array2::from_shape_simple_fn((rows - 1, columns), &mut bond);
    let field = Array2::from_shape_simple_fn((rows, columns), || 0.5 * share * next());
    if !around {
        right.column_mut(columns - 1).fill(0.0);
    }
    Glass::new(right, down, field).unwrap()
}

#[test]
fn ground_states_as_by_exhaustive_search() {
    let sizes = [(4, 4), (4, 4), (4, 4), (3, 5), (5, 2), (1, 6), (6, 1), (1, 1), (5, 5)];
    for (seed, (rows, columns)) in sizes.into_iter().enumerate() {
        let glass = glass(rows, columns, seed as u64 + 1, 0.4, seed % 2 == 0);
        let expected = plain::exhaustive(&glass);
        assert_abs_diff_eq!(plain::ground_energy(&glass), expected.energy, epsilon = 1e-9);
        for device in [&Cpu::with_threads(2) as &dyn Device, &Interpreter::new()] {
            if device.name() == Interpreter::new().name() && rows * columns > 16 {
                continue;
            }
            let found = glass.ground(device).unwrap();
            assert!(abs_diff_eq!(found.energy, expected.energy, epsilon = 1e-9), "{found:?} {expected:?}");
            assert_eq!(found.spins, expected.spins);
        }
    }
}

#[test]
fn degenerate_ground_states() {
    for seed in 10..14 {
        let glass = glass(4, 4, seed, 0.0, seed % 2 == 0);
        let found = glass.ground(&Cpu::new()).unwrap();
        // couplings of ±1 add up exactly, and the gradient is one of many ground states
        assert_eq!(found.energy, plain::exhaustive(&glass).energy);
        assert_eq!(glass.energy(&found.spins), found.energy);
    }
}

#[test]
fn a_ferromagnet() {
    let field = Array2::from_elem((6, 7), 0.25);
    let glass = Glass::new(Array2::ones((6, 7)), Array2::ones((5, 7)), field).unwrap();
    let ground = glass.ground(&Cpu::new()).unwrap();
    assert_eq!(ground.energy, -(42.0 + 35.0 + 42.0 / 4.0));
    assert_eq!(ground.spins, Array2::<i8>::ones((6, 7)));
}

#[test]
fn the_gradient_is_the_configuration() {
    let mut next = noise(99);
    let mut strengths = |rows| Array2::from_shape_simple_fn((rows, 4), &mut next);
    let (right, down, field) = (strengths(3), strengths(2), strengths(3));
    let views = (right.view(), down.view(), field.view());
    let g = spin_glass::ground_energy::gradient(&Cpu::new(), views.0, views.1, views.2).unwrap();
    let spins = g.field.mapv(|slope: f64| -slope);
    assert!(spins.iter().all(|s| s.abs() == 1.0));
    for ((i, j), slope) in g.right.indexed_iter() {
        assert_eq!(*slope, -spins[[i, j]] * spins[[i, (j + 1) % 4]]);
    }
    for ((i, j), slope) in g.down.indexed_iter() {
        assert_eq!(*slope, -spins[[i, j]] * spins[[i + 1, j]]);
    }
    // and finite differences, which are exact where the ground state stays the same
    let energy = |right: &Array2<f64>, down: &Array2<f64>, field: &Array2<f64>| {
        plain::ground_energy(&Glass::new(right.clone(), down.clone(), field.clone()).unwrap())
    };
    let h = 1e-6;
    let (mut right, mut down, mut field) = (right, down, field);
    for (i, j) in [(0, 0), (1, 2), (1, 3)] {
        let mut slope = |which: usize| {
            let mut at = |h: f64| {
                [&mut right, &mut down, &mut field][which][[i, j]] += h;
                energy(&right, &down, &field)
            };
            let (up, down) = (at(h), at(-2.0 * h));
            at(h);
            (up - down) / (2.0 * h)
        };
        let slopes = [slope(0), slope(1), slope(2)];
        for (found, slope) in [g.right[[i, j]], g.down[[i, j]], g.field[[i, j]]].into_iter().zip(slopes) {
            assert_abs_diff_eq!(found, slope, epsilon = 1e-8);
        }
    }
}

#[test]
fn the_inverse_brings_the_energy_back() {
    let field = Array2::from_shape_fn((3, 3), |(i, j)| 0.3 * i as f64 - 0.2 * j as f64);
    let (right, down) = (&field + 0.7, field.slice(s![1.., ..]).mapv(|x| x - 0.4));
    let mut energy = 2.0;
    spin_glass::ground_energy(&mut energy, right.view(), down.view(), field.view()).unwrap();
    assert!(energy < 0.0);
    spin_glass::ground_energy::inverse(&mut energy, right.view(), down.view(), field.view()).unwrap();
    assert_abs_diff_eq!(energy, 2.0, epsilon = 1e-12);
}

#[test]
fn lattices_that_cannot_be() {
    let zeros = |rows, columns| Array2::<f64>::zeros((rows, columns));
    let error = |right, down, field| Glass::new(right, down, field).unwrap_err();
    assert_eq!(error(zeros(0, 3), zeros(0, 3), zeros(0, 3)), GlassError::Size(0, 3));
    assert_eq!(error(zeros(1, 25), zeros(0, 25), zeros(1, 25)), GlassError::Size(1, 25));
    let shape = error(zeros(2, 3), zeros(2, 3), zeros(2, 3)).to_string();
    assert_eq!(shape, "`down` must have the shape (1, 3) and has (2, 3)");
    let mut down = zeros(1, 3);
    down[[0, 2]] = f64::NAN;
    assert_eq!(error(zeros(2, 3), down, zeros(2, 3)).to_string(), "`down` at (0, 2) isn't finite");
}
