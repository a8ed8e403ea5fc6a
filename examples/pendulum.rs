//! The program of the book's first hour: a pendulum, its inverse, and the gradient of where it ends.

use rev::prelude::*;

/// `steps` steps of `dt` seconds of a pendulum of `length` metres, in place.
#[reversible]
fn swing<T: Real>(angle: &mut T, speed: &mut T, length: T, dt: T, steps: usize) {
    for _ in 0..steps {
        *speed -= dt * 9.81 / length * angle.sin();
        *angle += dt * *speed;
    }
}

/// `loss +=` the square of how far a pendulum that starts at rest, at angle `start`, ends from `target`.
#[reversible]
fn miss<T: Real>(loss: &mut T, start: T, length: T, target: T, dt: T, steps: usize) {
    let mut angle = T::zero();
    let mut speed = T::zero();
    angle += start;
    swing(&mut angle, &mut speed, length, dt, steps);
    *loss += (angle - target).powi(2);
}

fn main() -> Result<(), Error> {
    let (start, target, dt, steps) = (0.5, -0.3, 0.001, 2500);

    let (mut angle, mut speed) = (start, 0.0);
    swing(&mut angle, &mut speed, 1.0, dt, steps)?;
    println!("after 2.5 s: angle {angle:.6}, speed {speed:.6}");
    swing::inverse(&mut angle, &mut speed, 1.0, dt, steps)?;
    println!("and back: angle {angle:.6}");

    let cpu = Cpu::new();
    let g = miss::gradient(&cpu, start, 1.0, target, dt, steps)?;
    println!("loss {:.6}, by length {:.6}", g.value, g.length);

    let h = 1e-6;
    let (mut above, mut below) = (0.0, 0.0);
    miss(&mut above, start, 1.0 + h, target, dt, steps)?;
    miss(&mut below, start, 1.0 - h, target, dt, steps)?;
    println!("finite differences: {:.6}", (above - below) / (2.0 * h));
    println!("{}", miss::check_gradient(&cpu, &0.0, start, 1.0, target, dt, steps)?);

    let mut length = 1.0;
    for _ in 0..30 {
        length -= 0.1 * miss::gradient(&cpu, start, length, target, dt, steps)?.length;
    }
    let mut loss = 0.0;
    miss(&mut loss, start, length, target, dt, steps)?;
    println!("length {length:.6}, loss {loss:.6}");
    Ok(())
}
