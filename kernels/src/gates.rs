//! Quantum gates on a state vector of `n` qubits: `2ⁿ` complex amplitudes, of which a gate on one qubit
//! turns pairs that differ in its bit. All pairs are turned at once, by an angle that they share; in the
//! adjoint they all add to that angle's cotangent.
//!
//! ```text
//! Rx(θ) = ( cos θ/2   -i sin θ/2 )   Ry(θ) = ( cos θ/2  -sin θ/2 )   Rz(θ) = ( e^(-iθ/2)     0     )
//!         ( -i sin θ/2   cos θ/2 )           ( sin θ/2   cos θ/2 )           (     0      e^(iθ/2) )
//! ```

use rev_cpu::prelude::*;

/// The `k`-th number in which a bit is 0: the bits of `k` from that one on, which is a power of two, moved up.
#[pure]
fn with_zero(k: usize, bit: usize) -> usize {
    2 * k - (k & (bit - 1))
}

/// `Rx(θ)` on a qubit. Its pairs of amplitudes are disjoint, which can't be read off bits.
#[reversible(inverse_adjoint)]
pub fn rx<T: Real>(state: &mut [Complex<T>], theta: T, qubit: usize) {
    #[disjoint(state)]
    for k in par(0..state.len() / 2) {
        let bit = 1usize << qubit;
        let i = with_zero(k, bit);
        let j = i + bit;
        irot(state[i].re, state[j].im, 0.5 * theta);
        rot(state[i].im, state[j].re, 0.5 * theta);
    }
}

/// `Ry(θ)` on a qubit.
#[reversible(inverse_adjoint)]
pub fn ry<T: Real>(state: &mut [Complex<T>], theta: T, qubit: usize) {
    #[disjoint(state)]
    for k in par(0..state.len() / 2) {
        let bit = 1usize << qubit;
        let i = with_zero(k, bit);
        let j = i + bit;
        rot(state[i].re, state[j].re, 0.5 * theta);
        rot(state[i].im, state[j].im, 0.5 * theta);
    }
}

/// `Rz(θ)` on a qubit.
#[reversible(inverse_adjoint)]
pub fn rz<T: Real>(state: &mut [Complex<T>], theta: T, qubit: usize) {
    #[disjoint(state)]
    for k in par(0..state.len() / 2) {
        let bit = 1usize << qubit;
        let i = with_zero(k, bit);
        let j = i + bit;
        irot(state[i].re, state[i].im, 0.5 * theta);
        rot(state[j].re, state[j].im, 0.5 * theta);
    }
}

/// Exchanges two different qubits, `low` the one of the lower bit.
#[reversible(inverse_adjoint)]
pub fn swap_qubits<T: Real>(state: &mut [Complex<T>], low: usize, high: usize) {
    #[disjoint(state)]
    for k in par(0..state.len() / 4) {
        let low_bit = 1usize << low;
        let high_bit = 1usize << high;
        let both = with_zero(with_zero(k, low_bit), high_bit);
        let i = both + low_bit;
        let j = both + high_bit;
        swap(state[i], state[j]);
    }
}

/// `value += ⟨ψ|Z|ψ⟩`: the probability that a qubit is 0, less that it is 1.
#[reversible]
pub fn measure<T: Real>(value: &mut T, state: &[Complex<T>], qubit: usize) {
    for k in par(0..state.len()) {
        let sign = if k & (1 << qubit) == 0 { T::one() } else { -T::one() };
        *value += sign * (state[k].re * state[k].re + state[k].im * state[k].im);
    }
}

/// Turns a qubit by `Rx(a)`, `Rz(c)` and `Ry(b)`, exchanges it with another one, measures that, and goes
/// back: the state is as it was.
///
/// Where the qubit starts as 0, independent of the others, `⟨Z⟩ = cos a cos b - sin a sin b sin c`.
#[reversible]
pub fn expectation<T: Real>(
    value: &mut T,
    state: &mut [Complex<T>],
    a: T,
    b: T,
    c: T,
    low: usize,
    high: usize,
) {
    #[compute]
    {
        rx(&mut state, a, low);
        rz(&mut state, c, low);
        ry(&mut state, b, low);
        swap_qubits(&mut state, low, high);
    }
    measure(&mut value, &state, high);
}

/// The same as plain Rust.
pub mod plain {
    use num_complex::Complex;
    use num_traits::Float;

    /// A gate's matrix, by rows.
    pub type Gate<T> = [[Complex<T>; 2]; 2];

    fn half<T: Float>(theta: T) -> (T, T) {
        (theta / (T::one() + T::one())).sin_cos()
    }

    /// `Rx(θ)`.
    pub fn rx<T: Float>(theta: T) -> Gate<T> {
        let (s, c) = half(theta);
        let (on, off) = (Complex::new(c, T::zero()), Complex::new(T::zero(), -s));
        [[on, off], [off, on]]
    }

    /// `Ry(θ)`.
    pub fn ry<T: Float>(theta: T) -> Gate<T> {
        let (s, c) = half(theta);
        let real = |x| Complex::new(x, T::zero());
        [[real(c), real(-s)], [real(s), real(c)]]
    }

    /// `Rz(θ)`.
    pub fn rz<T: Float>(theta: T) -> Gate<T> {
        let (s, c) = half(theta);
        let zero = Complex::new(T::zero(), T::zero());
        [[Complex::new(c, -s), zero], [zero, Complex::new(c, s)]]
    }

    /// A gate on a qubit.
    pub fn apply<T: Float>(state: &mut [Complex<T>], gate: &Gate<T>, qubit: usize) {
        for i in (0..state.len()).filter(|i| i >> qubit & 1 == 0) {
            let j = i | 1 << qubit;
            let (x, y) = (state[i], state[j]);
            (state[i], state[j]) = (gate[0][0] * x + gate[0][1] * y, gate[1][0] * x + gate[1][1] * y);
        }
    }

    /// Exchanges two qubits.
    pub fn swap_qubits<T: Float>(state: &mut [Complex<T>], p: usize, q: usize) {
        for i in (0..state.len()).filter(|i| i >> p & 1 == 1 && i >> q & 1 == 0) {
            state.swap(i, i ^ (1 << p | 1 << q));
        }
    }

    /// The probability that a qubit is 0, less that it is 1.
    pub fn measure<T: Float>(state: &[Complex<T>], qubit: usize) -> T {
        let signed = |(k, x): (usize, &Complex<T>)| {
            let p = x.norm_sqr();
            if k >> qubit & 1 == 0 {
                p
            } else {
                -p
            }
        };
        state.iter().enumerate().map(signed).fold(T::zero(), |sum, p| sum + p)
    }
}

/// A product state of `n` qubits: 0 in `zero`, the others turned each by its own angle.
pub fn product_state(n: usize, zero: usize) -> Vec<Complex<f64>> {
    let mut state = vec![Complex::new(0.0, 0.0); 1 << n];
    state[0].re = 1.0;
    for qubit in (0..n).filter(|q| *q != zero) {
        plain::apply(&mut state, &plain::ry(0.3 + qubit as f64), qubit);
        plain::apply(&mut state, &plain::rz(0.7 * qubit as f64), qubit);
    }
    state
}
