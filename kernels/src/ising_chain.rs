//! The ground state of a chain of spins in a transverse field by a variational circuit, of which the energy's derivatives by all angles take the
//! memory of two states.
//!
//! ```text
//! H = -J Σ Z_q Z_(q+1) - h Σ X_q,   n qubits, open ends
//! |ψ⟩ = Π_layers Π_q Rx_q(β_q) Π_q exp(-i γ_q Z_q Z_(q+1) / 2) |+ … +⟩,   E = ⟨ψ|H|ψ⟩
//! ```
//!
//! The circuit is the Hamiltonian's own, with an angle for each of its terms (D. Wecker, M. B. Hastings and M. Troyer, Phys. Rev. A 92
//! (2015), 042303). Gates are their own record: the adjoint takes the state back gate by gate, so that it needs no more memory for more
//! layers. A state has `2ⁿ` amplitudes; a layer reads and writes them `n + 1` times.

use ndarray::{ArrayView1, ArrayView2};
use rev_cpu::prelude::*;

use crate::gates::rx;

/// All amplitudes, which are 0, become equal: each qubit is 0 and 1 with the same amplitude.
#[reversible]
pub fn uniform<T: Real>(state: &mut [Complex<T>]) {
    let amplitude = (T::one() / (state.len() as T)).sqrt();
    for k in par(0..state.len()) {
        state[k].re += amplitude;
    }
}

/// `exp(-i γ_q Z_q Z_(q+1) / 2)` on all pairs of neighbours: one turn of each amplitude.
#[reversible]
pub fn couple<T: Real>(state: &mut [Complex<T>], angles: ArrayView1<T>) {
    for k in par(0..state.len()) {
        let mut phase = T::zero();
        for q in 0..angles.len() {
            phase += if ((k >> q) ^ (k >> (q + 1))) & 1 == 0 { angles[q] } else { -angles[q] };
        }
        irot(state[k].re, state[k].im, 0.5 * phase);
    }
}

/// `energy += ⟨ψ|H|ψ⟩`, of a state of `qubits`.
#[reversible]
pub fn expect<T: Real>(energy: &mut T, state: &[Complex<T>], coupling: T, field: T, qubits: usize) {
    for k in par(0..state.len()) {
        let mut bonds = 0i64;
        for q in 1..qubits {
            bonds += if ((k >> q) ^ (k >> (q - 1))) & 1 == 0 { 1 } else { -1 };
        }
        *energy -= coupling * (bonds as T) * (state[k].re * state[k].re + state[k].im * state[k].im);
    }
    for q in 0..qubits {
        // pairs of amplitudes that differ in the qubit's bit
        for k in par(0..state.len() / 2) {
            let bit = 1usize << q;
            let i = 2 * k - (k & (bit - 1));
            let j = i + bit;
            *energy -= 2.0 * field * (state[i].re * state[j].re + state[i].im * state[j].im);
        }
    }
}

/// The circuit: `field_angles` has a row for each layer and a column for each qubit, `bond_angles` a column less.
#[reversible]
pub fn circuit<T: Real>(state: &mut [Complex<T>], bond_angles: ArrayView2<T>, field_angles: ArrayView2<T>) {
    uniform(&mut state);
    for layer in 0..field_angles.nrows() {
        couple(&mut state, &bond_angles.row(layer));
        for q in 0..field_angles.ncols() {
            rx(&mut state, field_angles[[layer, q]], q);
        }
    }
}

/// `energy +=` that of the circuit's state, by all angles: `bond_angles` (layers x (n - 1)) and `field_angles` (layers x n).
#[reversible]
pub fn energy<T: Real>(
    energy: &mut T,
    bond_angles: ArrayView2<T>,
    field_angles: ArrayView2<T>,
    coupling: T,
    field: T,
) {
    let qubits = field_angles.ncols();
    let mut state = vec![Complex::new(T::zero(), T::zero()); 1usize << qubits];
    circuit(&mut state, &bond_angles, &field_angles);
    expect(&mut energy, &state, coupling, field, qubits);
}

/// The same as plain Rust.
pub mod plain {
    use crate::gates::plain::{apply, rx};
    use ndarray::ArrayView2;
    use num_complex::Complex;

    fn aligned(k: usize, q: usize) -> f64 {
        if (k >> q ^ k >> (q + 1)) & 1 == 0 {
            1.0
        } else {
            -1.0
        }
    }

    /// The circuit's state.
    pub fn state(bond_angles: ArrayView2<f64>, field_angles: ArrayView2<f64>) -> Vec<Complex<f64>> {
        let n = field_angles.ncols();
        let mut state = vec![Complex::new((0.5f64).powi(n as i32).sqrt(), 0.0); 1 << n];
        for (bonds, fields) in bond_angles.rows().into_iter().zip(field_angles.rows()) {
            for (k, amplitude) in state.iter_mut().enumerate() {
                let phase: f64 = bonds.iter().enumerate().map(|(q, angle)| angle * aligned(k, q)).sum();
                *amplitude *= Complex::from_polar(1.0, -phase / 2.0);
            }
            fields.iter().enumerate().for_each(|(q, angle)| apply(&mut state, &rx(*angle), q));
        }
        state
    }

    /// `⟨ψ|H|ψ⟩`.
    pub fn expect(state: &[Complex<f64>], coupling: f64, field: f64) -> f64 {
        let n = state.len().trailing_zeros() as usize;
        let of = |(k, amplitude): (usize, &Complex<f64>)| {
            let bonds: f64 = (1..n).map(|q| aligned(k, q - 1)).sum();
            let turned: f64 = (0..n).map(|q| (amplitude.conj() * state[k ^ 1 << q]).re).sum();
            -coupling * bonds * amplitude.norm_sqr() - field * turned
        };
        state.iter().enumerate().map(of).sum()
    }

    /// The ground state's energy: less the sum of the singular values of the matrix with `h` on the diagonal and `J` beside it (E. Lieb,
    /// T. Schultz and D. Mattis, Ann. Phys. 16 (1961), 407).
    ///
    /// They are the positive eigenvalues of the tridiagonal matrix with zeros on the diagonal and `h, J, h, …, h` beside it, found by
    /// counting those below a number and halving.
    pub fn ground_energy(qubits: usize, coupling: f64, field: f64) -> f64 {
        let beside = |i: usize| if i.is_multiple_of(2) { field } else { coupling };
        let below = |x: f64| {
            let (mut count, mut pivot) = (0, -x);
            for i in 1..=2 * qubits {
                count += usize::from(pivot < 0.0);
                let safe = if pivot.abs() < 1e-300 { 1e-300 } else { pivot };
                pivot = -x - beside(i - 1).powi(2) / safe;
            }
            count
        };
        let eigenvalue = |k: usize| {
            let (mut low, mut high) = (0.0, coupling.abs() + field.abs());
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                if below(middle) > k {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            0.5 * (low + high)
        };
        -(qubits..2 * qubits).map(eigenvalue).sum::<f64>()
    }
}
