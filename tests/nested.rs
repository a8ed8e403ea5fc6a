//! Derivatives of programs that take derivatives, in all four orders of forward and reverse mode: GradBench's `particle` and `saddle`,
//! with the inner derivative in a `while` loop whose trips depend on data, and that no perturbation is taken for another.

#![allow(clippy::unwrap_used)]

#[path = "../examples/derivatives/gradbench.rs"]
mod gradbench;
#[path = "../examples/derivatives/programs.rs"]
mod programs;

use approx::{assert_relative_eq, relative_eq};
use gradbench::{particles, saddles, MOST, PARTICLE, SADDLE};
use programs::{force_forward, force_reverse, particle};
use rev::prelude::*;

/// The interpreter, the CPU, the emulator, and a GPU where there is one.
fn devices() -> Vec<Box<dyn Device>> {
    let mut devices: Vec<Box<dyn Device>> =
        vec![Box::new(Interpreter::new()), Box::new(Cpu::new()), Box::new(rev::Emulator::new())];
    match rev::Cuda::new(0) {
        Ok(gpu) => devices.push(Box::new(gpu)),
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
    devices
}

#[test]
fn the_particle_arrives_at_zero() {
    for device in [Cpu::new(), Cpu::with_threads(1).checks(false)] {
        for (modes, w) in particles(&device).unwrap().each() {
            assert!(relative_eq!(w, PARTICLE, epsilon = 0.0, max_relative = 1e-10), "{modes}: {w}");
        }
    }
}

#[test]
fn neither_player_gains() {
    for device in [Cpu::new(), Cpu::with_threads(1).checks(false)] {
        for (modes, found) in saddles(&device).unwrap().each() {
            let near = |v: &f64| relative_eq!(*v, SADDLE, epsilon = 0.0, max_relative = 1e-9);
            assert!(found.iter().all(near), "{modes}: {found:?}");
        }
    }
}

/// 353 steps: where the particle crosses the line, and the derivative of its square, as other implementations have them.
#[test]
fn the_particle_at_the_start_on_every_device() {
    for device in devices() {
        let d = &*device;
        let reverse = particle::gradient(d, force_reverse {}, 0.0, MOST).unwrap();
        let forward = particle::gradient(d, force_forward {}, 0.0, MOST).unwrap();
        let along_reverse =
            particle::jvp(d, &0.0, force_reverse::TANGENT, 1.0, &0.0, force_reverse {}, 0.0, MOST).unwrap();
        let along_forward =
            particle::jvp(d, &0.0, force_forward::TANGENT, 1.0, &0.0, force_forward {}, 0.0, MOST).unwrap();
        for (loss, slope) in [
            (reverse.value, reverse.w),
            (forward.value, forward.w),
            (along_reverse.loss, along_reverse.loss_dot),
            (along_forward.loss, along_forward.loss_dot),
        ] {
            assert_relative_eq!(loss, 3.199_079_002_508_205_4, epsilon = 0.0, max_relative = 1e-11);
            assert_relative_eq!(slope, -19.404_636_45, epsilon = 0.0, max_relative = 1e-9);
        }
    }
}

#[reversible(tangent = 2, adjoint = 2)]
fn sum<T: Real>(s: &mut T, x: T, y: T) {
    *s += x + y;
}

#[reversible(tangent = 2, adjoint = 2)]
fn product<T: Real>(p: &mut T, x: T, y: T) {
    *p += x * x * y * y * y;
}

/// Two programs for `x ∂f/∂y`, by the tangent of `f` and by its gradient.
macro_rules! times_slope {
    ($f:ident, $forward:ident, $reverse:ident) => {
        #[reversible(tangent, adjoint)]
        fn $forward<T: Real>(out: &mut T, x: T, y: T) {
            let (mut f, mut f_dot) = (T::zero(), T::zero());
            $f::tangent(&mut f, &mut f_dot, x, T::zero(), y, T::one());
            *out += x * f_dot;
        }

        #[reversible(tangent, adjoint)]
        fn $reverse<T: Real>(out: &mut T, x: T, y: T) {
            let (mut x_bar, mut y_bar) = (T::zero(), T::zero());
            $f::gradient(x, &mut x_bar, y, &mut y_bar);
            *out += x * y_bar;
        }
    };
}

times_slope!(sum, sum_forward, sum_reverse);
times_slope!(product, product_forward, product_reverse);

/// Both derivatives of a function of `x` and `y`, in both modes, on every device.
macro_rules! derivatives {
    ($f:ident, $x:expr, $y:expr, $expected:expr) => {
        for device in devices() {
            let (d, x, y): (&dyn Device, f64, f64) = (&*device, $x, $y);
            let along = |v, w| $f::jvp(d, &0.0, v, w, &0.0, x, y).unwrap().out_dot;
            let slope = $f::gradient(d, x, y).unwrap();
            let [by_x, by_y]: [f64; 2] = $expected;
            let near = |found: f64, expected: f64| {
                assert_relative_eq!(found, expected, epsilon = 1e-14, max_relative = 1e-14);
            };
            near(slope.x, by_x);
            near(slope.y, by_y);
            near(along(1.0, 0.0), by_x);
            near(along(0.0, 1.0), by_y);
            near(along(1.0, 1.0), by_x + by_y);
        }
    };
}

/// `x ∂/∂y (x + y)` is `x`: confused, its derivative by `x` would be 2.
#[test]
fn no_perturbation_is_taken_for_another() {
    derivatives!(sum_forward, 1.0, 1.0, [1.0, 0.0]);
    derivatives!(sum_reverse, 1.0, 1.0, [1.0, 0.0]);
    let (x, y) = (0.7f64, -1.3f64);
    let expected = [9.0 * x * x * y * y, 6.0 * x.powi(3) * y];
    derivatives!(product_forward, x, y, expected);
    derivatives!(product_reverse, x, y, expected);
}

/// `x ∂/∂x (x ∂/∂y (x² y³))`, which is `9 x³ y²`, by a tangent of a gradient.
#[reversible]
fn three_forward<T: Real>(out: &mut T, x: T, y: T) {
    let (mut f, mut f_dot) = (T::zero(), T::zero());
    product_reverse::tangent(&mut f, &mut f_dot, x, T::one(), y, T::zero());
    *out += x * f_dot;
}

/// The same by a gradient of a tangent.
#[reversible(tangent)]
fn three_reverse<T: Real>(out: &mut T, x: T, y: T) {
    let (mut x_bar, mut y_bar) = (T::zero(), T::zero());
    product_forward::gradient(x, &mut x_bar, y, &mut y_bar);
    *out += x * x_bar;
}

/// The same by a gradient of a gradient, which is differentiated by a third.
#[reversible(tangent)]
fn three_in_reverse<T: Real>(out: &mut T, x: T, y: T) {
    let (mut x_bar, mut y_bar) = (T::zero(), T::zero());
    product_reverse::gradient(x, &mut x_bar, y, &mut y_bar);
    *out += x * x_bar;
}

#[test]
fn nor_among_three() {
    let (x, y) = (0.7f64, -1.3f64);
    let expected = [27.0 * x * x * y * y, 18.0 * x.powi(3) * y];
    derivatives!(three_reverse, x, y, expected);
    derivatives!(three_in_reverse, x, y, expected);
    for device in devices() {
        let slope = three_forward::gradient(&*device, x, y).unwrap();
        assert_relative_eq!(&[slope.x, slope.y][..], &expected[..], epsilon = 0.0, max_relative = 1e-14);
    }
}
