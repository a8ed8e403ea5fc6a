//! `particle` and `saddle` of GradBench: derivatives of programs that take derivatives in a `while` loop, in all four orders of
//! reverse and forward mode.

use rev::prelude::*;
use serde::Serialize;

use super::programs::*;

/// What the implementations of GradBench give.
pub const PARTICLE: f64 = 0.207_191_874_648_611_6;
/// See there.
pub const SADDLE: f64 = 8.246_324_826_140_356e-6;

/// A number for each order of modes, the outer one first: `r` reverse, `f` forward.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Modes<T> {
    pub rr: T,
    pub ff: T,
    pub fr: T,
    pub rf: T,
}

impl<T> Modes<T> {
    pub fn each(self) -> [(&'static str, T); 4] {
        [("rr", self.rr), ("ff", self.ff), ("fr", self.fr), ("rf", self.rf)]
    }
}

/// Gradient descent of GradBench: steps that are taken ten times in a row become twice as long, others half as long.
/// Ends where the gradient or the step is at most 1e-5 long.
fn descend<const N: usize>(
    mut x: [f64; N],
    value: impl Fn(&[f64; N]) -> Result<f64, Error>,
    gradient: impl Fn(&[f64; N]) -> Result<[f64; N], Error>,
) -> Result<[f64; N], Error> {
    const SMALL: f64 = 1e-5;
    let length = |v: &[f64; N]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (mut at, mut slope, mut step, mut taken) = (value(&x)?, gradient(&x)?, 1e-5, 0);
    while length(&slope) > SMALL {
        if taken == 10 {
            (step, taken) = (2.0 * step, 0);
            continue;
        }
        if step * length(&slope) <= SMALL {
            break;
        }
        let next = std::array::from_fn(|k| x[k] - step * slope[k]);
        let there = value(&next)?;
        if there < at {
            (x, at, slope, taken) = (next, there, gradient(&next)?, taken + 1);
        } else {
            (step, taken) = (0.5 * step, 0);
        }
    }
    Ok(x)
}

/// The steps that a particle may take, and the second player.
pub const MOST: usize = 2048;

/// Where the upper charge has to be for the particle to arrive at 0, by each pair of modes.
pub fn particles(device: &Cpu) -> Result<Modes<f64>, Error> {
    let reverse_value = |w: &[f64; 1]| Ok(particle::gradient(device, force_reverse {}, w[0], MOST)?.value);
    let forward_value = |w: &[f64; 1]| Ok(particle::gradient(device, force_forward {}, w[0], MOST)?.value);
    let rr = |w: &[f64; 1]| Ok([particle::gradient(device, force_reverse {}, w[0], MOST)?.w]);
    let rf = |w: &[f64; 1]| Ok([particle::gradient(device, force_forward {}, w[0], MOST)?.w]);
    let fr = |w: &[f64; 1]| {
        Ok([particle::jvp(device, &0.0, force_reverse::TANGENT, 1.0, &0.0, force_reverse {}, w[0], MOST)?
            .loss_dot])
    };
    let ff = |w: &[f64; 1]| {
        Ok([particle::jvp(device, &0.0, force_forward::TANGENT, 1.0, &0.0, force_forward {}, w[0], MOST)?
            .loss_dot])
    };
    Ok(Modes {
        rr: descend([0.0], reverse_value, rr)?[0],
        ff: descend([0.0], forward_value, ff)?[0],
        fr: descend([0.0], reverse_value, fr)?[0],
        rf: descend([0.0], forward_value, rf)?[0],
    })
}

/// A point of the first player with the answer to it, where neither gains, by each pair of modes.
pub fn saddles(device: &Cpu) -> Result<Modes<[f64; 4]>, Error> {
    let still = [0.0; 2];
    let by_reverse =
        |x: &[f64; 2]| answer::vjp(device, 1.0, still, &0.0, &still, climb_reverse {}, x[0], x[1], MOST);
    let by_forward =
        |x: &[f64; 2]| answer::vjp(device, 1.0, still, &0.0, &still, climb_forward {}, x[0], x[1], MOST);
    let along_reverse = |x: &[f64; 2], (dx, dy): (f64, f64)| {
        let (of, climb) = (climb_reverse::TANGENT, climb_reverse {});
        answer::jvp(device, &0.0, &still, of, dx, dy, &0.0, &still, climb, x[0], x[1], MOST)
    };
    let along_forward = |x: &[f64; 2], (dx, dy): (f64, f64)| {
        let (of, climb) = (climb_forward::TANGENT, climb_forward {});
        answer::jvp(device, &0.0, &still, of, dx, dy, &0.0, &still, climb, x[0], x[1], MOST)
    };
    let (right, up) = ((1.0, 0.0), (0.0, 1.0));
    let gain_reverse = |x: &[f64; 2]| Ok(by_reverse(x)?.gain);
    let gain_forward = |x: &[f64; 2]| Ok(by_forward(x)?.gain);
    let rr = |x: &[f64; 2]| by_reverse(x).map(|v| [v.x1_bar, v.y1_bar]);
    let rf = |x: &[f64; 2]| by_forward(x).map(|v| [v.x1_bar, v.y1_bar]);
    let fr = |x: &[f64; 2]| Ok([along_reverse(x, right)?.gain_dot, along_reverse(x, up)?.gain_dot]);
    let ff = |x: &[f64; 2]| Ok([along_forward(x, right)?.gain_dot, along_forward(x, up)?.gain_dot]);
    let with_answer = |x: [f64; 2]| {
        let best = by_reverse(&x)?.best;
        Ok::<_, Error>([x[0], x[1], best[0], best[1]])
    };
    Ok(Modes {
        rr: with_answer(descend([1.0; 2], gain_reverse, rr)?)?,
        ff: with_answer(descend([1.0; 2], gain_forward, ff)?)?,
        fr: with_answer(descend([1.0; 2], gain_reverse, fr)?)?,
        rf: with_answer(descend([1.0; 2], gain_forward, rf)?)?,
    })
}
