//! Statement forms, strategies and checks.

use rev_core::error::Cause;
use rev_core::ir::Direction;
use rev_core::value::Data;

use super::{agrees, interpret, module, reals, simulate, ADJOINT};
use crate::lower::{lower, ArgumentType, LowerOptions};
use crate::plan::Strategy;

fn indices(values: impl IntoIterator<Item = usize>) -> Data {
    Data::vector(values.into_iter().map(Data::scalar).collect())
}

/// Numbers whose sums are exact in any order.
fn wholes(n: usize) -> Data {
    reals((0..n).map(|i| ((i * 7) % 13) as f64 - 6.0))
}

#[test]
fn a_loop_around_parallel_loops() {
    let m = module(
        "module waves
         fn waves<T: Real>(u: &mut [T], v: &mut [T], steps: usize) {
             for t in 0..steps {
                 par for i in 0..len(u) { u[i] += 0.5 * v[i] }
                 if t % 2 == 0 {
                     par for i in 1..len(u) { v[i] -= 0.25 * u[i] * u[i - 1] }
                 } else {
                     v[0] += u[1]
                 }
             }
         }",
    );
    let (u, v) = (reals((0..40).map(|i| f64::from(i) * 0.1)), reals((0..40).map(|i| f64::from(i % 7) * 0.1)));
    agrees(&m, &[u.clone(), v.clone(), Data::scalar(5usize)], &[v, u, Data::None]);
}

#[test]
fn ranges_of_every_kind() {
    let m = module(
        "module ranges
         fn ranges<T: Real>(y: &mut [T], a: usize, b: usize) {
             par for i in (a..=b).step_by(3) { y[i] += 1 }
             par for i in (a..b).rev().step_by(2) { y[i] += 2 }
             for i in (a..b).step_by(4).rev() { y[0] += (i as T) * y[i] }
             for i in (a..=b).rev() { y[0] += 0.5 * (i as T) }
         }",
    );
    for (a, b) in [(1, 9), (2, 2), (5, 3), (1, 10)] {
        let args = [reals((0..12).map(f64::from)), Data::scalar(a as usize), Data::scalar(b as usize)];
        agrees(&m, &args, &[reals((0..12).map(f64::from)), Data::None, Data::None]);
    }
}

#[test]
fn scattered_sums_in_both_modes() {
    let m = module(
        "module scatter
         fn scatter<T: Real>(total: &mut T, y: &mut [T], x: [T], to: [usize]) {
             par for i in 0..len(x) { y[to[i]] += x[i] total += x[i] }
         }",
    );
    for n in [0, 1, 31, 33, 1023, 3000] {
        let to = indices((0..n).map(|i| (i * i) % 5));
        let args = [Data::scalar(1.0), wholes(5), wholes(n), to];
        let seeds = [Data::scalar(2.0), wholes(5), wholes(n), args[3].zero_shadow()];
        agrees(&m, &args, &seeds);
        // sums of whole numbers are the same in any order
        let options = LowerOptions { max_blocks: 3, ..LowerOptions::default() };
        let forced = LowerOptions { force: Some(Strategy::Atomic), ..options.clone() };
        let expected = interpret(&m, Direction::FORWARD, &args, false);
        for options in [options, forced] {
            let found = simulate(&m, Direction::FORWARD, &args, &options).unwrap();
            assert_eq!(format!("{expected:?}"), format!("{found:?}"), "{n}");
            let both: Vec<Data> =
                expected.iter().zip(&seeds).flat_map(|(a, s)| [a.clone(), s.clone()]).collect();
            let back = interpret(&m, ADJOINT, &both, false);
            let found = simulate(&m, ADJOINT, &both, &options).unwrap();
            assert_eq!(format!("{back:?}"), format!("{found:?}"), "{n}");
        }
    }
}

#[test]
fn strategies_are_said() {
    let m = module(
        "module scatter
         fn scatter<T: Real>(total: &mut T, y: &mut [T], x: [T], to: [usize]) {
             par for i in 0..len(x) { y[to[i]] += x[i] total += x[i] }
         }",
    );
    let args = [Data::scalar(1.0), wholes(5), wholes(3), indices([0, 1, 2])];
    let types = ArgumentType::of_arguments(&m, Direction::FORWARD, &args).unwrap();
    let plan = lower(&m, Direction::FORWARD, &types, &LowerOptions::default()).unwrap();
    let said: Vec<(&str, Strategy)> = plan.accumulations.iter().map(|a| (&*a.place, a.strategy)).collect();
    assert_eq!(said, [("total", Strategy::Uniform), ("y", Strategy::Atomic)]);
}

#[test]
fn checked_kernels_say_what_the_interpreter_says() {
    let m = module(
        "module wrong
         fn wrong<T: Real>(y: &mut [T], x: [T], at: [usize]) {
             par for i in 0..len(at) injective(at) {
                 anc s: T = 0 {
                     s += x[at[i]]
                     y[at[i]] += s
                     s -= 2
                 }
             }
         }",
    );
    let checked = LowerOptions { checks: true, ..LowerOptions::default() };
    let run = |x: Data, at: Data| {
        let args = [wholes(4), x, at];
        let mut machine =
            rev_core::interp::Machine::new(&m, "wrong", Direction::FORWARD, args.to_vec()).unwrap();
        let expected = machine.run();
        (expected, simulate(&m, Direction::FORWARD, &args, &checked))
    };
    let (expected, found) = run(reals([2.0; 4]), indices([3, 1]));
    assert_eq!(expected, Ok(()));
    assert!(found.is_ok(), "{found:?}");
    let (expected, found) = run(reals([2.0; 4]), indices([3, 4]));
    assert_eq!(expected.unwrap_err().to_string(), found.unwrap_err().to_string());
    let (expected, found) = run(reals([2.0, 2.0, 2.5, 2.0]), indices([3, 2]));
    let (expected, found) = (expected.unwrap_err(), found.unwrap_err());
    assert_eq!(expected.site(), found.site());
    assert!(matches!(found.cause(), Cause::Release { .. }), "{found}");
}

#[test]
fn integers_wrap_and_divide() {
    let m = module(
        "module whole
         fn whole(a: &mut [i32], b: &mut [u8], c: [i32], d: &mut [i64]) {
             par for i in 0..len(a) {
                 a[i] += c[i] * 65536 + c[i] / 7 - c[i] % 5
                 b[i] += (c[i] as u8) * 3u8
                 d[i] += ((c[i] as i64) << 40) ^ ((c[i] as i64) >> 3)
                 mul_int(d[i], 3)
                 neg(a[i])
                 inc(b[i])
             }
         }",
    );
    let int = |v: i32| Data::scalar(v);
    let c = Data::vector([0, -1, 77, i32::MIN, i32::MAX, -123_456].map(int).to_vec());
    let a = Data::vector([5; 6].map(int).to_vec());
    let b = Data::vector(vec![Data::scalar(250u8); 6]);
    let d = Data::vector(vec![Data::scalar(9i64); 6]);
    let args = [a, b, c, d];
    let options = LowerOptions::default();
    let expected = interpret(&m, Direction::FORWARD, &args, false);
    assert_eq!(expected, simulate(&m, Direction::FORWARD, &args, &options).unwrap());
    let back = interpret(&m, Direction::INVERSE, &expected, false);
    assert_eq!(back, simulate(&m, Direction::INVERSE, &expected, &options).unwrap());
}

#[test]
fn what_a_gpu_cannot_do_is_named() {
    let m = module(
        "module deep
         fn deep(n: &mut i64, k: i64) { if k > 0 { n += k call deep(&mut n, k - 1) } }",
    );
    let args = [Data::scalar(0i64), Data::scalar(3i64)];
    let error = simulate(&m, Direction::FORWARD, &args, &LowerOptions::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the recursion of `deep` can't be run on a GPU"), "{text}");
    assert!(text.contains("call deep(&mut n, k - 1)"), "{text}");
}
