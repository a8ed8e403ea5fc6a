//! The variational circuit of a chain of spins: its energy against plain Rust and exact diagonalisation, its derivatives against finite
//! differences and shifted angles, its memory, and its search for the ground state.
#![allow(clippy::unwrap_used)]

#[path = "support/hessian.rs"]
mod support;

use allocation_counter::measure;
use approx::{abs_diff_eq, assert_abs_diff_eq};
use nalgebra::DMatrix;
use ndarray::Array2;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use rev_cpu::scratch;
use rev_kernels::ising_chain::{self, plain};
use std::f64::consts::FRAC_PI_2;
use support::hessian;

/// Angles that look random.
fn angles(layers: usize, n: usize, by: f64) -> Array2<f64> {
    Array2::from_shape_fn((layers, n), |(i, j)| 0.9 * f64::sin(by * (n * i + j + 1) as f64))
}

/// The Hamiltonian as a matrix, by its definition.
fn hamiltonian(n: usize, coupling: f64, field: f64) -> DMatrix<f64> {
    let sign = |k: usize, q: usize| if k >> q & 1 == 0 { 1.0 } else { -1.0 };
    DMatrix::from_fn(1 << n, 1 << n, |a, b| match (a ^ b).count_ones() {
        0 => -coupling * (1..n).map(|q| sign(a, q - 1) * sign(a, q)).sum::<f64>(),
        1 => -field,
        _ => 0.0,
    })
}

#[test]
fn energies_as_by_plain_rust_and_the_matrix() {
    for (n, layers) in [(1, 1), (2, 3), (5, 2), (7, 3)] {
        let (bonds, fields) = (angles(layers, n - 1, 1.7), angles(layers, n, 0.6));
        let state = plain::state(bonds.view(), fields.view());
        let expected = plain::expect(&state, 1.1, 0.6);
        let matrix = hamiltonian(n, 1.1, 0.6);
        let of = |(a, b): (usize, usize)| matrix[(a, b)] * (state[a].conj() * state[b]).re;
        let by_matrix: f64 = (0..1 << n).flat_map(|a| (0..1 << n).map(move |b| (a, b))).map(of).sum();
        assert_abs_diff_eq!(expected, by_matrix, epsilon = 1e-12);
        for device in [&Cpu::with_threads(2) as &dyn Device, &Interpreter::new()] {
            let mut energy = 0.5;
            ising_chain::energy::run(device, &mut energy, bonds.view(), fields.view(), 1.1, 0.6).unwrap();
            assert!(abs_diff_eq!(energy - 0.5, expected, epsilon = 1e-12), "{energy} {expected}");
            ising_chain::energy::run_inverse(device, &mut energy, bonds.view(), fields.view(), 1.1, 0.6)
                .unwrap();
            assert_abs_diff_eq!(energy, 0.5, epsilon = 1e-14);
        }
    }
}

#[test]
fn the_circuit_goes_back() {
    let (bonds, fields) = (angles(4, 5, 1.3), angles(4, 6, 0.4));
    let mut state = vec![Complex::new(0.0, 0.0); 64];
    ising_chain::circuit(&mut state, bonds.view(), fields.view()).unwrap();
    let norm: f64 = state.iter().map(|a: &Complex<f64>| a.norm_sqr()).sum();
    assert_abs_diff_eq!(norm, 1.0, epsilon = 1e-14);
    ising_chain::circuit::inverse(&mut state, bonds.view(), fields.view()).unwrap();
    assert!(state.iter().all(|a| abs_diff_eq!(a.norm(), 0.0, epsilon = 1e-15)));
}

#[test]
fn derivatives_by_all_angles() {
    let (mut bonds, mut fields) = (angles(3, 4, 1.7), angles(3, 5, 0.6));
    let g =
        ising_chain::energy::gradient(&Cpu::with_threads(2), bonds.view(), fields.view(), 1.1, 0.6).unwrap();
    let energy = |bonds: &Array2<f64>, fields: &Array2<f64>, coupling, field| {
        plain::expect(&plain::state(bonds.view(), fields.view()), coupling, field)
    };
    let h = 1e-5;
    for (i, j) in (0..3).flat_map(|i| (0..5).map(move |j| (i, j))) {
        let mut at = |h: f64| {
            fields[[i, j]] += h;
            energy(&bonds, &fields, 1.1, 0.6)
        };
        let (up, down) = (at(h), at(-2.0 * h));
        at(h);
        assert_abs_diff_eq!(g.field_angles[[i, j]], (up - down) / (2.0 * h), epsilon = 1e-8);
    }
    for (i, j) in (0..3).flat_map(|i| (0..4).map(move |j| (i, j))) {
        let mut at = |h: f64| {
            bonds[[i, j]] += h;
            energy(&bonds, &fields, 1.1, 0.6)
        };
        let (up, down) = (at(h), at(-2.0 * h));
        at(h);
        assert_abs_diff_eq!(g.bond_angles[[i, j]], (up - down) / (2.0 * h), epsilon = 1e-8);
    }
    // the energy is linear in both strengths
    assert_abs_diff_eq!(g.coupling, energy(&bonds, &fields, 1.0, 0.0), epsilon = 1e-10);
    assert_abs_diff_eq!(g.field, energy(&bonds, &fields, 0.0, 1.0), epsilon = 1e-10);
}

/// Second derivatives by all angles and both strengths. The energy is `a + b cos θ + c sin θ` in each angle, so that
/// `(E(θ + π/2) - E(θ - π/2))/2` is its derivative (K. Mitarai et al., Phys. Rev. A 98 (2018), 032309), and linear in the strengths.
#[test]
fn second_derivatives_by_shifted_angles() {
    let (layers, n, strengths) = (2, 3, [1.1, 0.6]);
    let (bonds, fields) = (angles(layers, n - 1, 1.7), angles(layers, n, 0.6));
    let flat: Vec<f64> = bonds.iter().chain(&fields).chain(&strengths).copied().collect();
    let (first, second) = (bonds.len(), bonds.len() + fields.len());
    let energy = |moves: [(usize, f64); 2]| {
        let mut at = flat.clone();
        moves.iter().for_each(|(p, by)| at[*p] += by);
        let bonds = Array2::from_shape_vec(bonds.dim(), at[..first].to_vec()).unwrap();
        let fields = Array2::from_shape_vec(fields.dim(), at[first..second].to_vec()).unwrap();
        plain::expect(&plain::state(bonds.view(), fields.view()), at[second], at[second + 1])
    };
    let steps = |p: usize| match p < second {
        true => [(FRAC_PI_2, 0.5), (-FRAC_PI_2, -0.5)],
        false => [(1.0, 1.0), (0.0, -1.0)],
    };
    let found = hessian!(ising_chain::energy, bonds, fields, strengths[0], strengths[1]);
    assert_eq!(found.len(), flat.len());
    for (p, q) in (0..flat.len()).flat_map(|p| (0..flat.len()).map(move |q| (p, q))) {
        let pairs = steps(p).into_iter().flat_map(|a| steps(q).into_iter().map(move |b| (a, b)));
        let expected: f64 = pairs.map(|((a, by_a), (b, by_b))| by_a * by_b * energy([(p, a), (q, b)])).sum();
        assert_abs_diff_eq!(found[p][q], expected, epsilon = 1e-12);
    }
}

/// The most bytes at a time that the adjoint of the energy takes beside its arguments, and those that a gradient takes.
fn bytes(layers: usize, n: usize) -> [u64; 2] {
    let (bonds, fields) = (angles(layers, n - 1, 1.7), angles(layers, n, 0.6));
    let cpu = Cpu::with_threads(1);
    let mut bars = [&bonds, &fields].map(|a| a.map(|x| x.zero_shadow::<1>()));
    let mut adjoint = || {
        let ([bonds_bar, fields_bar], mut energy) = (&mut bars, 0.0);
        let (mut coupling_bar, mut field_bar) = (Batch([0.0]), Batch([0.0]));
        ising_chain::energy::run(&cpu, &mut energy, bonds.view(), fields.view(), 1.0, 1.0).unwrap();
        ising_chain::energy::adjoint(
            &cpu,
            &mut energy,
            &mut Batch([1.0]),
            bonds.view(),
            bonds_bar.view_mut(),
            fields.view(),
            fields_bar.view_mut(),
            1.0,
            &mut coupling_bar,
            1.0,
            &mut field_bar,
        )
        .unwrap();
    };
    let mut gradient = || {
        ising_chain::energy::gradient(&cpu, bonds.view(), fields.view(), 1.0, 1.0).unwrap();
    };
    let runs: [&mut dyn FnMut(); 2] = [&mut adjoint, &mut gradient];
    let peaks = runs.map(|run| {
        // what is made once in a process isn't counted
        run();
        scratch::clear();
        measure(run).bytes_max
    });
    assert!(bars[0].iter().any(|v| v.0[0] != 0.0));
    peaks
}

#[test]
fn derivatives_take_two_states() {
    let n = 10;
    let state = 16 << n;
    let [adjoint, gradient] = bytes(2, n);
    let deep = bytes(32, n);
    assert_eq!(deep[0], adjoint);
    // the state, its cotangent, and less than a tenth of one
    assert!((2 * state..2 * state + state / 10).contains(&adjoint), "{adjoint}");
    // beside them what is returned, a number for each angle
    let returned = |layers: usize| (layers * (2 * n - 1) * 8) as u64;
    assert!(gradient < adjoint + returned(2) + 1024, "{gradient}");
    assert!(deep[1] < adjoint + 2 * returned(32) + 1024, "{deep:?}");
}

#[test]
fn ground_energies_as_by_diagonalisation() {
    for (n, coupling, field) in [(1, 1.0, 0.7), (2, 1.0, 0.5), (4, 1.0, 1.0), (5, 0.8, 1.3), (6, 1.0, 0.2)] {
        let least = hamiltonian(n, coupling, field).symmetric_eigenvalues().min();
        let found = plain::ground_energy(n, coupling, field);
        assert!(abs_diff_eq!(found, least, epsilon = 1e-10), "{n}: {found} {least}");
    }
}

#[test]
fn four_qubits_reach_their_ground_state() {
    let (mut bonds, mut fields) = (angles(4, 3, 0.9), angles(4, 4, 0.5));
    let least = hamiltonian(4, 1.0, 0.8).symmetric_eigenvalues().min();
    let mut reached = 0.0;
    for _ in 0..1500 {
        let g = ising_chain::energy::gradient(&Cpu::new(), bonds.view(), fields.view(), 1.0, 0.8).unwrap();
        bonds.scaled_add(-0.05, &g.bond_angles);
        fields.scaled_add(-0.05, &g.field_angles);
        reached = g.value;
        assert!(reached > least - 1e-12);
    }
    assert!(reached - least < 1e-3, "{reached} {least}");
}
