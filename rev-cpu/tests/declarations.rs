//! What a parallel loop declares about itself and the compiler can't prove: it isn't believed. A false
//! declaration is an error wherever it could make two threads use one element, checks on or off.

use rev_core::error::Cause;
use rev_core::interp::Interpreter;
use rev_core::tolerance::Options;
use rev_cpu::prelude::*;

/// Every way to run a loop: whether a false declaration is found is the second part.
fn devices() -> [(Box<dyn Device>, bool); 6] {
    let several = || Cpu::with_threads(3).parallel_from(0);
    let interpreter = |checks| Interpreter::with_options(Options { checks, ..Options::default() });
    [
        (Box::new(Cpu::with_threads(1)), true),
        (Box::new(Cpu::with_threads(1).checks(false)), false),
        (Box::new(several()), true),
        (Box::new(several().checks(false)), true),
        (Box::new(interpreter(true)), true),
        (Box::new(interpreter(false)), false),
    ]
}

#[reversible]
fn shifted<T: Real>(a: &mut [T], x: &[T], step: usize) {
    #[disjoint(a)]
    for i in par(0..x.len()) {
        a[i * step] += x[i];
        a[i * step + 1] += 2 * a[i * step];
    }
}

#[test]
fn elements_that_are_declared_disjoint() {
    for (device, _) in devices() {
        let device = &*device;
        let mut a = [0.0; 6];
        shifted::run(device, &mut a, &[1.0, 2.0, 3.0], 2).unwrap();
        assert_eq!(a, [1.0, 2.0, 2.0, 4.0, 3.0, 6.0]);
        let v = shifted::vjp(device, &[1.0; 6], &[0.0; 6], &[1.0, 2.0, 3.0], 2).unwrap();
        assert_eq!((v.a_bar, v.x_bar), (vec![3.0, 1.0, 3.0, 1.0, 3.0, 1.0], vec![3.0; 3]));
        shifted::run_inverse(device, &mut a, &[1.0, 2.0, 3.0], 2).unwrap();
        assert_eq!(a, [0.0; 6]);
    }
}

#[test]
fn elements_that_are_not() {
    for (device, found) in devices() {
        let device = &*device;
        let outcome = shifted::run(device, &mut [0.0; 6], &[1.0, 2.0, 3.0], 1);
        let inverse = shifted::run_inverse(device, &mut [0.0; 6], &[1.0, 2.0, 3.0], 1);
        let adjoint = shifted::vjp(device, &[1.0; 6], &[0.0; 6], &[1.0, 2.0, 3.0], 1).map(|_| ());
        for outcome in [outcome, inverse, adjoint] {
            assert_eq!(outcome.is_err(), found, "{}: {outcome:?}", device.name());
            if let Err(e) = outcome {
                assert!(matches!(e.cause(), Cause::Alias { .. }), "{e}");
            }
        }
    }
}

/// Iterations of every number, the last ones of their types among them.
macro_rules! numbered {
    ($($name:ident $t:ident;)*) => {$(
        #[reversible]
        fn $name(a: &mut [f64], from: $t, to: $t, step: usize, apart: usize) {
            #[disjoint(a)]
            for i in par((from..=to).step_by(step)) {
                neg(a[((i as i128) / (step as i128)) as usize * apart % 4]);
            }
        }
    )*};
}
numbered! { of_i8 i8; of_i32 i32; of_i64 i64; of_u64 u64; of_i128 i128; of_u128 u128; }

#[test]
fn iterations_of_every_number_claim_elements() {
    for (device, found) in devices() {
        let device = &*device;
        let check = |run: &dyn Fn(&mut [f64], usize) -> Result<(), Error>, count: usize| {
            let mut a = [1.0; 4];
            run(&mut a, 1).unwrap_or_else(|e| panic!("{}: {e}", device.name()));
            assert_eq!(a.iter().filter(|a| **a < 0.0).count(), count);
            assert_eq!(run(&mut a, 0).is_err(), found, "{}", device.name());
        };
        check(&|a, apart| of_i8::run(device, a, -1, 1, 1, apart), 3);
        check(&|a, apart| of_i32::run(device, a, -2, 1, 1, apart), 4);
        check(&|a, apart| of_i64::run(device, a, -1, 1, 1, apart), 3);
        check(&|a, apart| of_u64::run(device, a, 0, u64::MAX, 1 << 63, apart), 2);
        check(&|a, apart| of_u64::run(device, a, u64::MAX - 2, u64::MAX, 1, apart), 3);
        check(&|a, apart| of_i128::run(device, a, -(1 << 64), 1 << 63, 1 << 63, apart), 4);
        check(&|a, apart| of_u128::run(device, a, 0, 3 << 63, 1 << 63, apart), 4);
    }
}

#[reversible]
fn add_one<T: Real>(a: &mut [T]) {
    for i in 0..a.len() {
        a[i] += 1;
    }
}

#[reversible]
fn pieces(a: &mut [f64], starts: &[usize]) {
    #[disjoint(a)]
    for i in par(0..starts.len() - 1) {
        add_one(&mut a[starts[i]..starts[i + 1]]);
    }
}

#[test]
fn slices_that_are_declared_disjoint() {
    for (device, found) in devices() {
        let device = &*device;
        let mut a = [0.0; 6];
        pieces::run(device, &mut a, &[0, 2, 2, 5]).unwrap();
        assert_eq!(a, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
        assert!(pieces::run(device, &mut a, &[0, 0, 3, 0, 4]).is_err(), "not a slice");
        let overlapping = Overlapping { from: vec![0, 2, 1], to: vec![2, 4, 3] };
        let outcome = windows::run(device, &mut a, &overlapping.from, &overlapping.to);
        assert_eq!(outcome.is_err(), found, "{}", device.name());
    }
}

struct Overlapping {
    from: Vec<usize>,
    to: Vec<usize>,
}

#[reversible]
fn windows(a: &mut [f64], from: &[usize], to: &[usize]) {
    #[disjoint(a)]
    for i in par(0..from.len()) {
        add_one(&mut a[from[i]..to[i]]);
    }
}

#[reversible]
fn negated(a: &mut [f64], idx: &[usize]) {
    #[injective(idx)]
    for i in par(0..idx.len()) {
        neg(a[idx[i]]);
    }
}

#[test]
fn an_index_array_is_checked_on_several_threads_in_any_case() {
    for (device, found) in devices() {
        let device = &*device;
        let mut a = [1.0, 2.0, 3.0];
        negated::run(device, &mut a, &[2, 0]).unwrap();
        assert_eq!(a, [-1.0, 2.0, -3.0]);
        let outcome = negated::run(device, &mut a, &[1, 0, 1]);
        assert_eq!(outcome.is_err(), found, "{}", device.name());
    }
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Frame<T: Real> {
    base: T,
    arms: [T; 3],
}

/// Threads reach the parts of a struct through references to the whole, so such loops stay on one.
#[reversible]
fn parts_of_structs<T: Real>(frame: &mut Frame<T>, z: &mut [Complex<T>], x: &[T; 3]) {
    for i in par(0..3) {
        frame.arms[i] += x[i] * x[i];
    }
    for i in par(0..2) {
        z[i].re += x[i];
        z[i + 1].im += 2 * x[i];
    }
}

#[test]
fn parts_of_structs_and_elements() {
    for (device, _) in devices() {
        let device = &*device;
        let mut frame = Frame { base: 1.0, arms: [0.0; 3] };
        let mut z = [Complex::new(0.0, 0.0); 3];
        parts_of_structs::run(device, &mut frame, &mut z, &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(frame, Frame { base: 1.0, arms: [1.0, 4.0, 9.0] });
        assert_eq!(z, [Complex::new(1.0, 0.0), Complex::new(2.0, 2.0), Complex::new(0.0, 4.0)]);
        let report = parts_of_structs::check_gradient(device, &frame, &z, &[1.0, 2.0, 3.0]).unwrap();
        assert!(report.passed(), "{report}");
    }
}
