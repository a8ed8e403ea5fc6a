//! A number system in a crate of its own: the odds of a hypothesis, to which evidence is multiplied and from which it is
//! taken back.

use rev::prelude::*;

/// Odds `p / (1 - p)`, by their logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Reversible)]
pub struct Odds<T: Real> {
    pub repr: T,
}

#[reversible]
impl<T: Real> Odds<T> {
    /// `odds *= evidence`, and `/=`, which derivatives go through.
    #[reversible(inverse_adjoint)]
    pub fn mul_assign(&mut self, by: T) {
        self.repr += by;
    }

    /// A probability as odds.
    #[pure]
    pub fn of(p: T) -> T {
        p.ln() - (-p).ln_1p()
    }

    /// Two independent pieces of evidence.
    #[pure]
    pub fn mul(a: T, b: T) -> T {
        a + b
    }

    /// Evidence that is counted as a part of itself, or several times.
    #[pure]
    pub fn powf(a: T, weight: T) -> T {
        a * weight
    }
}

/// Counts evidence with weights, and takes back what was found to be wrong.
#[reversible]
fn weigh<T: Real>(odds: &mut Odds<T>, evidence: &[Odds<T>], weights: &[T], wrong: T) {
    for i in 0..evidence.len() {
        *odds *= evidence[i].powf(weights[i]);
    }
    *odds /= evidence[0] * wrong;
}

/// How surprising the hypothesis is then: the negative logarithm of its probability.
#[reversible]
fn surprise<T: Real>(loss: &mut T, evidence: &[Odds<T>], weights: &[T], wrong: T) {
    let mut odds = Odds::<T>::zero();
    weigh(&mut odds, &evidence, &weights, wrong);
    *loss += (-odds.repr).softplus();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let evidence = [0.9, 0.25, 0.6].map(|p| Odds { repr: Odds::<f64>::of(p) });
    let (weights, wrong) = ([1.0, 0.5, 2.0], 0.75);

    let mut odds = Odds { repr: 0.0 };
    weigh(&mut odds, &evidence, &weights, wrong)?;
    // 9 is taken back, the square root of 1/3, the square of 3/2, and 3 is taken back
    let expected = (1f64 / 3.0).sqrt() * 2.25 / 3.0;
    assert!((odds.repr.exp() - expected).abs() < 1e-12);
    println!("odds {:.6}", odds.repr.exp());
    weigh::inverse(&mut odds, &evidence, &weights, wrong)?;
    assert!(odds.repr.abs() < 1e-12);

    let (cpu, emulator) = (Cpu::new(), rev::Emulator::new().deterministic(true));
    let report = surprise::check_gradient(&cpu, &0.0, &evidence, &weights, wrong)?;
    assert!(report.passed(), "{report}");
    let g = surprise::gradient(&cpu, &evidence, &weights, wrong)?;
    assert_eq!(g, surprise::gradient(&Interpreter::new(), &evidence, &weights, wrong)?);
    assert_eq!(g, surprise::gradient(&emulator, &evidence, &weights, wrong)?);
    println!("surprise {:.6}, by the weights {:.6?}", g.value, g.weights);
    Ok(())
}
