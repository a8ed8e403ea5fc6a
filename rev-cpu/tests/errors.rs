//! Errors are values that say what failed and where, and the arguments keep a known state.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev_core::error::{Cause, Iteration};
use rev_cpu::prelude::*;

#[reversible]
fn gather(y: &mut [f64], x: &[f64], idx: &[usize]) {
    for i in 0..y.len() {
        for _k in 0..1 {
            y[i] += x[idx[i]];
        }
    }
}

#[test]
fn an_index_out_of_range() {
    let mut y = [0.0; 3];
    let e = gather(&mut y, &[1.0, 2.0], &[1, 0, 7]).unwrap_err();
    assert_eq!(
        *e.cause(),
        Cause::IndexOutOfRange { place: "x[idx[i]]".into(), index: vec![7], shape: vec![2] }
    );
    let site = e.site().unwrap();
    assert_eq!((site.function.as_ref(), site.statement.as_ref()), ("gather", "y[i] += x[idx[i]]"));
    assert_eq!(site.file, file!());
    assert_eq!(site.span.line, 11);
    let at = |variable: &'static str, value| Iteration { variable: variable.into(), value };
    assert_eq!(site.iterations, [at("i", 2), at("_k", 0)]);
    // the state at the failing statement
    assert_eq!(y, [2.0, 1.0, 0.0]);
    // also with checks off
    let unchecked = Cpu::new().checks(false);
    assert!(gather::run(&unchecked, &mut y, &[1.0, 2.0], &[1, 0, 7]).is_err());
}

/// What is read or computed once for several places.
#[reversible]
fn repeated(y: &mut f64, z: &mut f64, x: &[f64], k: usize, l: usize) {
    *y += x[k] * x[k];
    *y += x[l].exp();
    *z += x[l].exp() * x[k];
}

#[test]
fn an_element_that_is_read_once_is_quoted_as_written() {
    for device in [Cpu::new(), Cpu::new().checks(false)] {
        for (k, l, place) in [(2, 0, "x[k]"), (0, 2, "x[l]")] {
            let e = repeated::run(&device, &mut 0.0, &mut 0.0, &[1.0, 2.0], k, l).unwrap_err();
            let cause = Cause::IndexOutOfRange { place: place.into(), index: vec![2], shape: vec![2] };
            assert_eq!(*e.cause(), cause);
        }
    }
}

/// Parts of elements that lanes find in a pack, beside an element that comes first.
#[reversible]
fn exchanged_with_parts(a: &mut [f64], z: &mut [[f64; 2]], n: usize) {
    for i in par(0..n) {
        swap(a[i], z[i][0]);
        neg(z[i][1]);
    }
}

#[test]
fn of_an_instruction_s_places_the_first_one_is_told() {
    for device in
        [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &rev_core::interp::Interpreter::new()]
    {
        for (a, z, place) in [(20, 20, "a[i]"), (40, 20, "z[i][0]")] {
            let (mut a, mut z) = (vec![1.0; a], vec![[2.0, 3.0]; z]);
            let e = exchanged_with_parts::run(device, &mut a, &mut z, 40).unwrap_err();
            let Cause::IndexOutOfRange { place: told, .. } = e.cause() else { panic!("{e}") };
            assert_eq!(told, place, "{}", device.name());
        }
    }
}

/// An element that is read in a block and behind it, and another one before both.
#[reversible]
fn read_in_order(y: &mut [f64], x: &[f64], k: usize, l: usize) {
    {
        let t = x[l] * 2.0;
        y[0] += x[k] * t + x[k].exp();
    }
    y[1] += x[k] + x[k].exp();
}

#[test]
fn of_two_errors_the_first_one_is_told() {
    let devices =
        [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &rev_core::interp::Interpreter::new()];
    for device in devices {
        for (k, l, place, out, at) in [(7, 9, "x[l]", 9, "let t"), (7, 0, "x[k]", 7, "y[0]")] {
            let e = read_in_order::run(device, &mut [0.0; 2], &[1.0, 2.0], k, l).unwrap_err();
            let cause = Cause::IndexOutOfRange { place: place.into(), index: vec![out], shape: vec![2] };
            assert_eq!(*e.cause(), cause);
            assert!(e.to_string().contains(at), "{e}");
        }
    }
}

#[reversible]
fn shifted(x: &mut [f64], i: usize, j: usize) {
    x[i] += x[j] * 2.0;
}

#[reversible]
fn exchanged(x: &mut [f64], i: usize, j: usize) {
    swap(x[i], x[j]);
}

#[reversible]
fn turned(x: &mut [f64], i: usize, j: usize) {
    rot(x[i], x[j], 0.5);
}

#[reversible]
fn add(y: &mut f64, x: &f64) {
    *y += *x;
}

#[reversible]
fn passed(x: &mut [f64], i: usize, j: usize) {
    add(&mut x[i], &x[j]);
}

#[test]
fn indices_that_meet_at_run_time() {
    let mut x = [1.0, 2.0];
    shifted(&mut x, 0, 1).unwrap();
    assert_eq!(x, [5.0, 2.0]);
    let e = shifted(&mut x, 1, 1).unwrap_err();
    assert_eq!(*e.cause(), Cause::Alias { first: "x[i]".into(), second: "x[j]".into() });
    assert!(turned(&mut x, 0, 0).is_err());
    exchanged(&mut x, 0, 1).unwrap();
    assert_eq!(x, [2.0, 5.0]);
    let e = passed(&mut x, 1, 1).unwrap_err();
    assert!(matches!(e.cause(), Cause::Alias { .. }));
    let unchecked = Cpu::new().checks(false);
    assert!(passed::run(&unchecked, &mut x, 1, 1).is_err(), "two references to one element are never made");
}

#[reversible]
fn divided(y: &mut i64, a: i64, b: i64) {
    *y += a / b + a % b;
}

#[pure]
fn ratio(a: i64, b: i64) -> i64 {
    a / b
}

#[reversible]
fn divided_in_a_pure_function(y: &mut i64, a: i64, b: i64) {
    *y += ratio(a, b);
}

#[test]
fn integer_division_by_zero() {
    let mut y = 1;
    divided(&mut y, 7, 2).unwrap();
    assert_eq!(y, 5);
    assert_eq!(*divided(&mut y, 7, 0).unwrap_err().cause(), Cause::DivisionByZero);
    assert_eq!(*divided_in_a_pure_function(&mut y, 7, 0).unwrap_err().cause(), Cause::DivisionByZero);
    divided(&mut y, i64::MIN, -1).unwrap();
    divided::inverse(&mut y, i64::MIN, -1).unwrap();
    assert_eq!(y, 5);
}

/// An ancilla that the program releases itself, wrongly.
#[reversible]
fn careless(y: &mut f64, x: f64) {
    let mut s = 0.0;
    s += x;
    *y += s;
    s -= x * (1.0 + 1e-3);
    release(s);
}

#[reversible]
fn caller(y: &mut f64, xs: &[f64]) {
    for i in 0..xs.len() {
        careless(&mut y, xs[i]);
    }
}

#[test]
fn an_ancilla_that_is_not_restored() {
    let mut y = 0.0;
    let e = caller(&mut y, &[0.0, 1.0]).unwrap_err();
    let Cause::Release { place, expected, tolerance, .. } = e.cause() else { panic!("{e}") };
    assert_eq!((place.as_str(), expected.as_str()), ("s", "0.0"));
    assert!(abs_diff_eq!(*tolerance, 1e-8, epsilon = 1e-12), "relative to the largest magnitude held, 1");
    assert_eq!(e.trace().iter().map(|s| s.function.as_ref()).collect::<Vec<_>>(), ["careless", "caller"]);
    assert_eq!(e.trace()[1].iterations[0].value, 1);
    assert_eq!(y, 1.0);
    // a wider tolerance lets it pass, and so do checks that are off
    let loose = rev_core::tolerance::Tolerance { absolute: 0.01, relative: 0.01 };
    let tolerances = rev_core::tolerance::Tolerances { f64: loose, ..Default::default() };
    caller::run(&Cpu::new().tolerances(tolerances), &mut y, &[0.0, 1.0]).unwrap();
    caller::run(&Cpu::new().checks(false), &mut y, &[0.0, 1.0]).unwrap();
}

#[test]
fn a_nan_never_passes_a_check() {
    let e = careless(&mut 0.0, f64::NAN).unwrap_err();
    assert!(matches!(e.cause(), Cause::Release { .. }));
}

#[reversible]
fn guarded(x: &mut f64) {
    #[post(*x > 1.0)]
    if *x > 0.0 {
        *x += 1.0;
    } else {
        *x -= 1.0;
    }
}

#[reversible]
fn counted(k: &mut i32, n: i32) {
    #[post(*k > 0)]
    while *k < n {
        *k += 1;
    }
}

#[test]
fn postconditions() {
    let mut x = 2.5;
    guarded(&mut x).unwrap();
    guarded(&mut -1.0).unwrap();
    // nothing that the function gives lies between -1 and 1
    let e = guarded::inverse(&mut 0.5).unwrap_err();
    let Cause::Condition { condition, expected, .. } = e.cause() else { panic!("{e}") };
    assert_eq!((condition.as_ref(), *expected), ("*x > 0.0", false));
    let e = counted(&mut 2, 3).unwrap_err();
    assert_eq!(
        e.to_string().lines().next().unwrap(),
        "the postcondition `*k > 0` must be false before the loop"
    );
    assert!(e.site().unwrap().statement.starts_with("while *k < n"), "{e}");
    let e = counted(&mut -2, 3).unwrap_err();
    assert!(e.to_string().contains("after each iteration"), "{e}");
}

#[reversible]
fn parallel_gather(y: &mut [f64], x: &[f64], idx: &[usize]) {
    for i in par(0..y.len()) {
        y[i] += x[idx[i]];
    }
}

#[reversible]
fn permuted(y: &mut [f64], x: &[f64], idx: &[usize]) {
    #[injective(idx)]
    for i in par(0..idx.len()) {
        y[idx[i]] += x[i];
    }
}

#[test]
fn an_array_that_is_declared_injective() {
    let mut y = [0.0; 4];
    permuted(&mut y, &[1.0, 2.0, 3.0], &[2, 0, 3]).unwrap();
    assert_eq!(y, [2.0, 0.0, 1.0, 3.0]);
    let e = permuted(&mut y, &[1.0, 2.0, 3.0], &[2, 0, 2]).unwrap_err();
    let cause = Cause::NotInjective { place: "idx".into(), value: "2".into(), first: 0, second: 2 };
    assert_eq!(*e.cause(), cause);
}

#[test]
fn errors_inside_parallel_loops() {
    let n = 100_000;
    let mut idx = vec![0; n];
    idx[70_000] = 5;
    idx[90_000] = 9;
    for threads in [1, 2, 8] {
        let mut y = vec![0.0; n];
        let e = parallel_gather::run(&Cpu::with_threads(threads), &mut y, &[1.0], &idx).unwrap_err();
        assert_eq!(e.site().unwrap().iterations[0].value, 70_000, "the first in the range");
    }
}

/// Explicit steps in time, which the way back counts by the time itself: rounded, it isn't quite zero after the last.
#[reversible]
fn oscillator(x: &mut f64, v: &mut f64, until: f64, step: f64, margin: f64) {
    let mut t = 0.0;
    #[post(t > margin)]
    while t < until {
        *v -= step * *x;
        *x += step * *v;
        t += step;
    }
}

/// An ancilla that rounding keeps from deciding as on the way there isn't taken for brought back.
#[test]
fn a_loop_that_is_left_by_a_rounded_number() {
    let interpreter = rev_core::interp::Interpreter::new();
    for device in [&Cpu::with_threads(1) as &dyn Device, &interpreter] {
        let run = |margin| oscillator::run(device, &mut 1.0, &mut 0.5, 3.0, 1e-3, margin);
        let back = |margin| {
            let (mut x, mut v) = (1.0, 0.5);
            oscillator::run(device, &mut x, &mut v, 3.0, 1e-3, 5e-4).unwrap();
            oscillator::run_inverse(device, &mut x, &mut v, 3.0, 1e-3, margin).map(|()| [x, v])
        };
        let gradient = |margin| {
            oscillator::vjp(device, 1.0, 0.0, &1.0, &0.5, 3.0, 1e-3, margin).map(|v| (v.x_bar, v.v_bar))
        };
        assert!(run(5e-4).is_ok() && gradient(5e-4).is_ok());
        let [x, v] = back(5e-4).unwrap();
        assert!(abs_diff_eq!(x, 1.0, epsilon = 1e-12), "{x} {v}");
        assert!(abs_diff_eq!(v, 0.5, epsilon = 1e-12), "{x} {v}");
        // one step too many: `t` holds 0.001 less than it started with
        for error in [run(0.0).err(), back(0.0).err(), gradient(0.0).err()] {
            let error = error.unwrap_or_else(|| panic!("{} finds nothing", device.name()));
            assert!(matches!(error.cause(), Cause::Release { place, .. } if place == "t"), "{error}");
        }
    }
}

/// An area up to a time that is an argument, and decides itself on the way back how many steps there were.
#[reversible(tangent, loss = area)]
fn area_until(t: &mut f64, area: &mut f64, scale: f64, until: f64, margin: f64) {
    #[post(*t > margin)]
    while *t < until {
        *area += scale * *t * *t * 1e-3;
        *t += 1e-3;
    }
}

#[test]
fn an_argument_that_rounding_keeps_from_deciding_as_on_the_way_there() {
    let interpreter = rev_core::interp::Interpreter::new();
    for device in [&Cpu::with_threads(1) as &dyn Device, &interpreter] {
        let gradient = |margin: f64| area_until::gradient(device, &0.0, 2.0, 3.0, margin).map(|g| g.scale);
        let vjp = |margin: f64| {
            area_until::vjp(device, 0.0, 1.0, &0.0, &0.0, 2.0, 3.0, margin).map(|v| v.scale_bar)
        };
        let product =
            |margin: f64| area_until::hvp(device, &1.0, 1.0, 0.0, 0.0, &0.0, 2.0, 3.0, margin).map(|h| h.t);
        let both = |margin: f64| {
            area_until::gradient_and_hvp(device, &1.0, 1.0, 0.0, 0.0, &0.0, 2.0, 3.0, margin)
                .map(|(g, _)| g.scale)
        };
        let jacobian = |margin: f64| {
            let chosen = area_until::SCALE.reverse();
            let all = area_until::jacobian_wrt(device, chosen, &0.0, &0.0, 2.0, 3.0, margin)?;
            Ok(all.block("area", "scale").unwrap()[[0, 0]])
        };
        // the sum of the squares of 0, 1, … 3000 thousandths: rounded, 3000 of them are less than 3
        let exact = 3000.0 * 3001.0 * 6001.0 / 6.0 * 1e-9;
        for found in [gradient(5e-4), vjp(5e-4), both(5e-4), jacobian(5e-4)] {
            let found = found.unwrap();
            assert_abs_diff_eq!(found, exact, epsilon = 1e-9);
        }
        assert!(product(5e-4).is_ok());
        // one step too many
        for found in [gradient(0.0), vjp(0.0), product(0.0), both(0.0), jacobian(0.0)] {
            let error = found.expect_err(device.name());
            assert!(matches!(error.cause(), Cause::NotBack { place, .. } if place == "t"), "{error}");
        }
    }
    assert!(area_until::gradient(&Cpu::new().checks(false), &0.0, 2.0, 3.0, 0.0).is_ok());
}

/// Iterations that run in lanes, with what can go wrong in them: `a` may become NaN, the branch's postcondition false
/// for a value in (0, 1.5], the loop's for one of 9 and more.
#[reversible]
fn laned(y: &mut [f64], x: &[f64], k: &[i32]) {
    for i in par(0..y.len()) {
        let mut a = 0.0;
        a += 2.0 * x[i];
        #[post(x[i] > 1.5)]
        if x[i] > 0.0 {
            a += 1.0;
        } else {
            a -= 1.0;
        }
        let mut n = 0;
        #[post(n > 0 && x[i] < 9.0)]
        while n < k[i] {
            n += 1;
        }
        y[i] += a * (n as f64);
    }
}

/// The first that goes wrong, on the CPU and on the interpreter.
#[test]
fn faults_in_lanes_are_those_of_the_interpreter() {
    let n = 2 * 32 + 19;
    let k: Vec<i32> = (0..n).map(|i| 1 + (i * 7 % 5) as i32).collect();
    let regular: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 2.0 + i as f64 / 50.0 }).collect();
    let devices = |threads| {
        let cpu = Cpu::with_threads(threads).parallel_from(0);
        [cpu.clone(), cpu.lanes(false)]
    };
    let interpreter = rev_core::interp::Interpreter::new();
    let mut right = vec![0.25; n];
    laned::run(&interpreter, &mut right, &regular, &k).unwrap();
    for fault in [f64::NAN, f64::INFINITY, 1.0, 9.5] {
        for at in [0, 5, 31, 32, 63, 64, n - 1] {
            let mut x = regular.clone();
            x[at] = fault;
            let fails = |d: &dyn Device| laned::run(d, &mut vec![0.25; n], &x, &k).unwrap_err();
            let expected = fails(&interpreter);
            assert_eq!(expected.site().unwrap().iterations[0].value, at as i128);
            for device in [1, 2, 3, 7].into_iter().flat_map(devices) {
                let found = fails(&device);
                let [here, there] = [&found, &expected].map(|e| e.site().unwrap());
                assert_eq!(here.span.line, there.span.line, "{fault} at {at}: {found}\n{expected}");
                assert_eq!(here.iterations, there.iterations, "{fault} at {at}: {found}\n{expected}");
                assert_eq!(found.cause(), expected.cause(), "{fault} at {at}");
            }
        }
    }
    for device in [1, 2, 3, 7].into_iter().flat_map(devices) {
        for device in [device.clone(), device.checks(false)] {
            let mut y = vec![0.25; n];
            laned::run(&device, &mut y, &regular, &k).unwrap();
            assert_eq!(y, right);
            laned::run_inverse(&device, &mut y, &regular, &k).unwrap();
            assert!(y.iter().all(|&y| abs_diff_eq!(y, 0.25, epsilon = 1e-12)), "{y:?}");
        }
    }
}

/// An ancilla that the program brings back itself, but for what `left` says.
#[reversible]
fn left_over(y: &mut [f64], x: &[f64], left: &[f64], _k: &[usize]) {
    for i in par(0..y.len()) {
        let mut a = 0.0;
        a += x[i] * x[i];
        y[i] += a;
        a -= x[i] * x[i] + left[i];
        release(a);
    }
}

/// An index out of range where `k` is no element of `x`.
#[reversible]
fn gathered(y: &mut [f64], x: &[f64], _left: &[f64], k: &[usize]) {
    for i in par(0..y.len()) {
        y[i] += x[k[i]];
    }
}

/// Two places that are one where `k` is 0.
#[reversible]
fn meeting(y: &mut [f64], x: &[f64], _left: &[f64], k: &[usize]) {
    for i in par(0..y.len()) {
        let mut pair = [0.0; 2];
        pair[0] += x[i];
        pair[k[i] % 2] += pair[0];
        y[i] += pair[1];
    }
}

/// Iterations that use one element where two of `k` are equal.
#[reversible]
fn declared(y: &mut [f64], x: &[f64], _left: &[f64], k: &[usize]) {
    #[disjoint(y)]
    for i in par(0..x.len()) {
        y[k[i]] += x[i];
    }
}

/// A fault in one iteration of many, in full groups of lanes and in what is left over.
#[test]
fn planted_faults_are_found_as_the_interpreter_finds_them() {
    type Program = fn(&dyn Device, &mut [f64], &[f64], &[f64], &[usize]) -> Result<(), Error>;
    /// Makes something wrong at an iteration, perhaps with another one, which it gives.
    type Plant = fn(usize, &mut [f64], &mut [usize]) -> usize;
    let programs: [(Program, Plant); 4] = [
        (
            |d, y, x, left, k| left_over::run(d, y, x, left, k),
            |at, left, _| {
                left[at] = 0.5;
                at
            },
        ),
        (
            |d, y, x, left, k| gathered::run(d, y, x, left, k),
            |at, _, k| {
                k[at] = 1000 + at;
                at
            },
        ),
        (
            |d, y, x, left, k| meeting::run(d, y, x, left, k),
            |at, _, k| {
                k[at] = 0;
                at
            },
        ),
        (
            |d, y, x, left, k| declared::run(d, y, x, left, k),
            |at, _, k| {
                let other = (at + 40) % k.len();
                k[at] = k[other];
                other
            },
        ),
    ];
    let n = 2 * 32 + 19;
    let x: Vec<f64> = (0..n).map(|i| 0.5 + i as f64 / 50.0).collect();
    let interpreter = rev_core::interp::Interpreter::new();
    for (which, (program, plant)) in programs.into_iter().enumerate() {
        // each its own element, and odd ones where the parity counts
        let regular: Vec<usize> = (0..n).map(|i| if which == 2 { 2 * i + 1 } else { (i * 7) % n }).collect();
        let run = |device: &dyn Device, left: &[f64], k: &[usize]| {
            let mut y = vec![0.25; n];
            program(device, &mut y, &x, left, k).map(|()| y)
        };
        let right = run(&interpreter, &vec![0.0; n], &regular).unwrap();
        for threads in [1, 2, 3, 7] {
            let cpu = Cpu::with_threads(threads).parallel_from(0);
            for device in [cpu.clone(), cpu.lanes(false)] {
                assert_eq!(run(&device, &vec![0.0; n], &regular).unwrap(), right);
                for at in [0, 5, 31, 32, 63, 64, n - 1] {
                    let (mut left, mut k) = (vec![0.0; n], regular.clone());
                    let other = plant(at, &mut left, &mut k);
                    let (found, expected) =
                        (run(&device, &left, &k).unwrap_err(), run(&interpreter, &left, &k).unwrap_err());
                    let [here, there] = [&found, &expected].map(|e| e.site().unwrap());
                    assert_eq!(here.span.line, there.span.line, "{found}\n{expected}");
                    let iteration = here.iterations[0].value as usize;
                    assert!(iteration == at || iteration == other, "{found}\n{expected}");
                    match (found.cause(), expected.cause()) {
                        (Cause::Alias { .. }, Cause::Alias { .. }) => {}
                        (found, expected) => assert_eq!(found, expected),
                    }
                }
            }
        }
    }
}

/// What the compiler brings back isn't brought back to be compared: rounding in it is no error, a NaN is one.
#[reversible]
fn cancelling(y: &mut f64, x: f64) {
    let mut a = 0.0;
    a += 1e20;
    a += x;
    *y += a;
}

#[test]
fn an_ancilla_that_the_compiler_uncomputes() {
    let exact = Cpu::new().tolerances(rev_core::tolerance::Tolerances::EXACT);
    cancelling::run(&exact, &mut 0.0, 0.3).unwrap();
    for x in [f64::NAN, f64::INFINITY] {
        let e = cancelling(&mut 0.0, x).unwrap_err();
        let Cause::Release { place, expected, .. } = e.cause() else { panic!("{e}") };
        assert_eq!((place.as_str(), expected.as_str()), ("a", "0.0"));
        let e = cancelling::gradient(&Cpu::new(), x).unwrap_err();
        assert!(matches!(e.cause(), Cause::Release { .. }), "{e}");
    }
    assert!(cancelling::run(&exact.checks(false), &mut 0.0, f64::NAN).is_ok());
}

#[reversible]
fn exact(n: &mut i32) {
    div_int(n, 2);
}

#[reversible]
fn strided(y: &mut usize, step: usize) {
    for i in (0..10).step_by(step) {
        *y += i;
    }
}

#[test]
fn what_cannot_be_undone() {
    exact(&mut 4).unwrap();
    let e = exact(&mut 5).unwrap_err();
    assert!(matches!(e.cause(), Cause::Instruction { .. }), "{e}");
    strided(&mut 0, 3).unwrap();
    assert!(strided(&mut 0, 0).is_err());
}

#[reversible]
fn halved(n: &mut [i32], x: &mut [f64], c: &[f64]) {
    for i in par(0..n.len()) {
        scale_by(x[i], c[i]);
        div_int(n[i], 2);
    }
}

/// In lanes the error tells of the iteration that fails first, in groups and in what is left over.
#[test]
fn what_cannot_be_undone_in_lanes() {
    let fails = |threads, n: &[i32], c: &[f64]| {
        let (mut n, mut x) = (n.to_vec(), vec![1.0; n.len()]);
        let e = halved::run(&Cpu::with_threads(threads), &mut n, &mut x, c).unwrap_err();
        assert!(matches!(e.cause(), Cause::Instruction { .. }), "{e}");
        e.trace()[0].iterations[0].value as usize
    };
    for count in [33, 40, 64] {
        let last = count - 1;
        for at in [0, 5, 31, last] {
            let (mut n, mut c) = (vec![4; count], vec![2.0; count]);
            (n[at], n[last]) = (5, 7);
            assert_eq!(fails(1, &n, &c), at);
            assert!([at, last].contains(&fails(2, &n, &c)));
            c[at] = 0.0;
            assert_eq!(fails(1, &vec![4; count], &c), at);
        }
    }
}

#[reversible]
fn scaled(y: &mut [f64], x: &[f64]) {
    for i in 0..x.len() {
        y[i] += 2.0 * x[i];
    }
}

#[test]
fn seeds_and_shadows_of_another_shape() {
    let e = scaled::vjp(&Cpu::new(), &[1.0], &[0.0, 0.0], &[1.0, 2.0]).unwrap_err();
    assert!(matches!(e.cause(), Cause::Shape { .. }), "{e}");
    let (mut y, mut y_bar, mut x_bar) = ([2.0, 4.0], [Batch([1.0]), Batch([10.0])], [Batch([0.5]); 2]);
    scaled::adjoint(&Cpu::new(), &mut y, &mut y_bar, &[1.0, 2.0], &mut x_bar).unwrap();
    assert_eq!((y, x_bar), ([0.0, 0.0], [Batch([2.5]), Batch([20.5])]));
    let e = scaled::adjoint(&Cpu::new(), &mut y, &mut y_bar, &[1.0, 2.0], &mut x_bar[..1]).unwrap_err();
    assert!(matches!(e.cause(), Cause::Shape { .. }), "{e}");
}
