//! Ten functions with their gradients, six of them parallel loops with a branch, as a user's crate has them. `scripts/compiling`
//! says what it costs to compile them; run, the program compares each gradient with finite differences.

use std::process::ExitCode;

use rev::prelude::*;

/// Huber's loss of a line through points.
#[reversible]
fn huber<T: Real>(loss: &mut T, x: &[T], y: &[T], slope: T, offset: T) {
    for i in par(0..x.len()) {
        let r = slope * x[i] + offset - y[i];
        if r.abs() < 1.0 {
            *loss += 0.5 * r * r;
        } else {
            *loss += r.abs() - 0.5;
        }
    }
}

/// The logistic loss, in the form that doesn't overflow.
#[reversible]
fn logistic<T: Real>(loss: &mut T, x: &[[T; 2]], positive: &[bool], w: [T; 2], bias: T) {
    for i in par(0..x.len()) {
        let score = w[0] * x[i][0] + w[1] * x[i][1] + bias;
        let margin = select(positive[i], score, -score);
        if margin > 0.0 {
            *loss += (-margin).exp().ln_1p();
        } else {
            *loss += margin.exp().ln_1p() - margin;
        }
    }
}

/// The potential of Lennard and Jones between neighbours on a line, cut off.
#[reversible]
fn neighbours<T: Real>(energy: &mut T, x: &[T], cutoff: T) {
    for i in par(0..x.len() - 1) {
        let r = x[i + 1] - x[i];
        if r < cutoff {
            let s = 1.0 / (r * r * r * r * r * r);
            *energy += 4.0 * (s * s - s);
        }
    }
}

/// Distances from the nearer of two centers.
#[reversible]
fn nearer<T: Real>(loss: &mut T, x: &[[T; 3]], a: [T; 3], b: [T; 3]) {
    for i in par(0..x.len()) {
        let from_a = (x[i][0] - a[0]).powi(2) + (x[i][1] - a[1]).powi(2) + (x[i][2] - a[2]).powi(2);
        let from_b = (x[i][0] - b[0]).powi(2) + (x[i][1] - b[1]).powi(2) + (x[i][2] - b[2]).powi(2);
        if from_a < from_b {
            *loss += from_a.sqrt();
        } else {
            *loss += from_b.sqrt();
        }
    }
}

/// The value of options at their end, over many paths.
#[reversible]
fn payoff<T: Real>(value: &mut T, noise: &[T], spot: T, strike: T, rate: T, sigma: T) {
    for i in par(0..noise.len()) {
        let end = spot * (rate - 0.5 * sigma * sigma + sigma * noise[i]).exp();
        if end > strike {
            *value += (end - strike) * (-rate).exp();
        }
    }
}

/// What springs that only pull hold.
#[reversible]
fn springs<T: Real>(energy: &mut T, x: &[[T; 2]], ends: &[[usize; 2]], length: T, stiffness: T) {
    for k in par(0..ends.len()) {
        let dx = x[ends[k][0]][0] - x[ends[k][1]][0];
        let dy = x[ends[k][0]][1] - x[ends[k][1]][1];
        let stretched = (dx * dx + dy * dy).sqrt();
        if stretched > length {
            *energy += 0.5 * stiffness * (stretched - length) * (stretched - length);
        }
    }
}

/// Rosenbrock's function.
#[reversible]
fn rosenbrock<T: Real>(f: &mut T, x: &[T]) {
    for i in 0..x.len() - 1 {
        *f += 100.0 * (x[i + 1] - x[i] * x[i]).powi(2) + (1.0 - x[i]).powi(2);
    }
}

/// The square of where a pendulum is after some steps of leapfrog.
#[reversible]
fn pendulum<T: Real>(square: &mut T, angle: T, speed: T, h: T, steps: usize) {
    let mut q = T::zero();
    let mut p = T::zero();
    q += angle;
    p += speed;
    for _ in 0..steps {
        q += 0.5 * h * p;
        p -= h * q.sin();
        q += 0.5 * h * p;
    }
    *square += q * q;
}

/// A layer of a network, and the loss of what it gives.
#[reversible]
fn layer<T: Real>(loss: &mut T, w: &[[T; 3]], x: [T; 3], y: &[T]) {
    for i in 0..w.len() {
        let out = (w[i][0] * x[0] + w[i][1] * x[1] + w[i][2] * x[2]).tanh();
        *loss += (out - y[i]).powi(2);
    }
}

/// The entropy of weights that are made to add up to one.
#[reversible]
fn entropy<T: Real>(h: &mut T, w: &[T]) {
    let mut sum = T::zero();
    for i in 0..w.len() {
        sum += w[i].exp();
    }
    for i in 0..w.len() {
        let p = w[i].exp() / sum;
        *h -= p * p.ln();
    }
}

fn main() -> ExitCode {
    match checked() {
        Ok(wrong) if wrong.is_empty() => {
            println!("ten gradients agree with finite differences");
            ExitCode::SUCCESS
        }
        Ok(wrong) => {
            eprintln!("gradients that differ from finite differences: {}", wrong.join(", "));
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

/// The names of the functions whose gradients aren't what finite differences give. Each gradient is taken as well.
fn checked() -> Result<Vec<&'static str>, Error> {
    let cpu = Cpu::new();
    let x: Vec<f64> = (0..100).map(|i| 1.2 * i as f64 + 0.1 * (i as f64).sin()).collect();
    let noise: Vec<f64> = (0..100).map(|i| (1.7 * i as f64).sin()).collect();
    let pairs: Vec<[f64; 2]> = noise.iter().zip(&x).map(|(a, b)| [*a, b.cos()]).collect();
    let triples: Vec<[f64; 3]> = noise.iter().zip(&x).map(|(a, b)| [*a, b.cos(), a * b.sin()]).collect();
    let positive: Vec<bool> = (0..100).map(|i| i % 3 == 0).collect();
    let ends: Vec<[usize; 2]> = (0..60).map(|i| [i, (7 * i + 3) % 100]).collect();
    let mut wrong = Vec::new();
    macro_rules! check {
        ($f:ident($($arg:expr),*)) => {
            $f::gradient(&cpu, $($arg),*)?;
            if !$f::check_gradient(&cpu, &0.0, $($arg),*)?.passed() {
                wrong.push(stringify!($f));
            }
        };
    }
    check!(huber(&x, &noise, 0.1, -0.3));
    check!(logistic(&pairs, &positive, [0.4, -1.1], 0.2));
    check!(neighbours(&x, 1.25));
    check!(nearer(&triples, [0.5, 0.1, -0.2], [-0.4, 0.3, 0.9]));
    check!(payoff(&noise, 1.0, 1.1, 0.02, 0.3));
    check!(springs(&pairs, &ends, 0.9, 2.0));
    check!(rosenbrock(&noise));
    check!(pendulum(1.0, 0.2, 0.05, 100));
    check!(layer(&triples, [0.3, -0.2, 0.7], &noise));
    check!(entropy(&noise));
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    #[test]
    fn gradients_agree_with_finite_differences() {
        assert_eq!(super::checked().unwrap(), Vec::<&str>::new());
    }
}
