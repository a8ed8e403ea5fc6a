//! Recursion: programs that take values and return them where nothing can fail, and programs by reference
//! everywhere else. The interpreter knows neither kind.
#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_relative_eq};
use rev_core::error::Cause;
use rev_core::interp::Interpreter;
use rev_core::tolerance::Options;
use rev_cpu::prelude::*;

/// The calls that programs by value may have inside each other here.
const CALLS: usize = 100;

fn devices() -> [Box<dyn Device>; 4] {
    let interpreter = |checks| Interpreter::with_options(Options { checks, ..Options::default() });
    [
        Box::new(interpreter(true)),
        Box::new(interpreter(false)),
        Box::new(Cpu::with_threads(1)),
        Box::new(Cpu::with_threads(1).checks(false)),
    ]
}

/// That all devices give the same, and what.
fn agreed<R: PartialEq + std::fmt::Debug>(run: impl Fn(&dyn Device) -> R) -> R {
    let [first, others @ ..] = devices().map(|device| run(&*device));
    others.into_iter().for_each(|other| assert_eq!(other, first));
    first
}

/// What a function seems to have in place of a program by value that it lacks: associated functions of its
/// own go first, and those take arguments.
trait ByReference {
    fn __forward_by_value() {}
    fn __inverse_by_value() {}
}

// two numbers that are written, whose places change from call to call

#[reversible]
fn crossed<T: Real>(a: &mut T, b: &mut T, x: T, n: usize) {
    if n > 0 {
        *a += *b * x;
        crossed(&mut *b, &mut *a, x, n - 1);
        *b -= x;
        crossed::<T>(&mut *a, &mut *b, 0.5 * x, n - 1);
    }
}

fn crossed_in_rust(a: f64, b: f64, x: f64, n: usize) -> (f64, f64) {
    if n == 0 {
        return (a, b);
    }
    let (b, a) = crossed_in_rust(b, a + b * x, x, n - 1);
    crossed_in_rust(a, b - x, 0.5 * x, n - 1)
}

#[test]
fn two_written_numbers_of_any_type() {
    let run = |d: &dyn Device| {
        let (mut a, mut b, mut c, mut e) = (1.5, -0.25, 1.5f32, -0.25f32);
        crossed::run(d, &mut a, &mut b, 0.3, 7).unwrap();
        crossed::run(d, &mut c, &mut e, 0.3, 7).unwrap();
        (a, b, c, e)
    };
    let (a, b, ..) = agreed(run);
    assert_eq!((a, b), crossed_in_rust(1.5, -0.25, 0.3, 7));
    assert_eq!((a, b), crossed::__forward_by_value(1.5, -0.25, 0.3, 7, CALLS));
    let back = agreed(|d| {
        let (mut a, mut b) = (a, b);
        crossed::run_inverse(d, &mut a, &mut b, 0.3, 7).unwrap();
        (a, b)
    });
    assert_eq!(back, crossed::__inverse_by_value(a, b, 0.3, 7, CALLS));
    assert!(abs_diff_eq!(back.0, 1.5, epsilon = 1e-9), "{back:?}");
    assert!(abs_diff_eq!(back.1, -0.25, epsilon = 1e-9), "{back:?}");
    let x_bar: f64 = agreed(|d| crossed::vjp(d, 1.0, 2.0, &1.5, &-0.25, 0.3, 5).unwrap().x_bar);
    let along = |h: f64| {
        let (a, b) = crossed_in_rust(1.5, -0.25, 0.3 + h, 5);
        a + 2.0 * b
    };
    let slope = (along(1e-6) - along(-1e-6)) / 2e-6;
    assert_relative_eq!(x_bar, slope, epsilon = 0.0, max_relative = 1e-7);
}

// the inverse of a program that computes what it takes back calls the program itself

#[reversible]
fn triangle(out: &mut i64, n: i64) {
    if n > 0 {
        let mut before: i64 = 0;
        triangle(&mut before, n - 1);
        *out += before + n;
    }
}

// and a program may call its inverse

#[reversible]
fn there_and_back(a: &mut i64, n: i64) {
    if n > 0 {
        there_and_back(&mut *a, n - 1);
        *a += n;
        there_and_back::inverse(&mut *a, n - 2);
        *a ^= 5;
    }
}

fn there_and_back_in_rust(a: i64, n: i64, inverse: bool) -> i64 {
    match (n > 0, inverse) {
        (false, _) => a,
        (true, false) => {
            let a = there_and_back_in_rust(a, n - 1, false) + n;
            there_and_back_in_rust(a, n - 2, true) ^ 5
        }
        (true, true) => {
            let a = there_and_back_in_rust(a ^ 5, n - 2, false) - n;
            there_and_back_in_rust(a, n - 1, true)
        }
    }
}

#[test]
fn both_directions_at_once() {
    let run = |d: &dyn Device| {
        let (mut out, mut a) = (3, 100);
        triangle::run(d, &mut out, 10).unwrap();
        there_and_back::run(d, &mut a, 8).unwrap();
        (out, a)
    };
    let (out, a) = agreed(run);
    assert_eq!((out, a), (3 + 55, there_and_back_in_rust(100, 8, false)));
    assert_eq!(
        (out, a),
        (triangle::__forward_by_value(3, 10, CALLS), there_and_back::__forward_by_value(100, 8, CALLS))
    );
    let back = |d: &dyn Device| {
        let (mut out, mut a) = (out, a);
        triangle::run_inverse(d, &mut out, 10).unwrap();
        there_and_back::run_inverse(d, &mut a, 8).unwrap();
        (out, a)
    };
    assert_eq!(agreed(back), (3, 100));
    let by_value =
        (triangle::__inverse_by_value(out, 10, CALLS), there_and_back::__inverse_by_value(a, 8, CALLS));
    assert_eq!(by_value, (3, 100));
}

// parts of local values, loops, instructions, integers that wrap around

#[reversible]
fn in_parts(a: &mut i64, b: &mut i64, n: i64) {
    if n > 0 {
        let mut pair: (i64, i64) = (0, 1);
        in_parts(&mut pair.1, &mut pair.0, n - 1);
        *a += 3 * pair.0;
        *b += pair.1 - n;
    }
}

#[reversible]
fn counted(sum: &mut u8, z: &mut Complex<f64>, odd: &mut bool, n: u8) {
    *sum += 77 * n;
    let mut k: u8 = 0;
    #[post(k > 0)]
    while k < n {
        inc(k);
        counted(&mut *sum, &mut *z, &mut *odd, n - k);
        *z += Complex::new(0.5, 2.0);
    }
    neg(z);
    flip(odd);
}

#[test]
fn scalars_of_all_kinds() {
    fn in_rust(sum: &mut u8, z: &mut (f64, f64), odd: &mut bool, n: u8) {
        *sum = sum.wrapping_add(n.wrapping_mul(77));
        for k in 1..=n {
            in_rust(sum, z, odd, n - k);
            *z = (z.0 + 0.5, z.1 + 2.0);
        }
        *z = (-z.0, -z.1);
        *odd = !*odd;
    }
    let (mut sum, mut z, mut odd) = (11, (1.0, 0.0), false);
    in_rust(&mut sum, &mut z, &mut odd, 6);
    let there = agreed(|d| {
        let (mut sum, mut z, mut odd) = (11, Complex::new(1.0, 0.0), false);
        counted::run(d, &mut sum, &mut z, &mut odd, 6).unwrap();
        (sum, z, odd)
    });
    assert_eq!(there, (sum, Complex::new(z.0, z.1), odd));
    assert_eq!(there, counted::__forward_by_value(11, Complex::new(1.0, 0.0), false, 6, CALLS));
    let back = agreed(|d| {
        let (mut sum, mut z, mut odd) = there;
        counted::run_inverse(d, &mut sum, &mut z, &mut odd, 6).unwrap();
        (sum, z, odd)
    });
    assert_eq!(back, (11, Complex::new(1.0, 0.0), false));
}

#[test]
fn parts_of_local_values() {
    fn in_rust(a: i64, b: i64, n: i64) -> (i64, i64) {
        if n == 0 {
            return (a, b);
        }
        let (second, first) = in_rust(1, 0, n - 1);
        (a + 3 * first, b + second - n)
    }
    let there = agreed(|d| {
        let (mut a, mut b) = (7, -2);
        in_parts::run(d, &mut a, &mut b, 9).unwrap();
        (a, b)
    });
    assert_eq!(there, in_rust(7, -2, 9));
    assert_eq!(there, in_parts::__forward_by_value(7, -2, 9, CALLS));
    assert_eq!(in_parts::__inverse_by_value(there.0, there.1, 9, CALLS), (7, -2));
}

// what can fail, or needs more than values

#[reversible]
fn quotients(out: &mut i64, n: i64, d: i64) {
    if n > 0 {
        quotients(&mut *out, n - 1, d - 1);
        *out += 100 / d;
    }
}

impl ByReference for quotients {}

#[test]
fn a_recursion_that_can_fail_says_where() {
    quotients::__forward_by_value();
    quotients::__inverse_by_value();
    assert_eq!(agreed(|d| sum_of(d, 3, 7)), Ok(20 + 16 + 14));
    assert_eq!(agreed(|d| sum_of(d, 3, 3)), Ok(100 + 50 + 33));
    for device in devices() {
        let error = sum_of(&*device, 3, 2).unwrap_err();
        assert_eq!(*error.cause(), Cause::DivisionByZero);
        assert_eq!(error.trace().len(), 3, "{error}");
    }
}

fn sum_of(d: &dyn Device, n: i64, divisor: i64) -> Result<i64, Error> {
    let mut out = 0;
    quotients::run(d, &mut out, n, divisor)?;
    Ok(out)
}

#[reversible]
fn over_elements<T: Real>(y: &mut T, x: &[T], n: usize) {
    if n > 0 {
        *y += x[n - 1] * x[n - 1];
        over_elements(&mut *y, x, n - 1);
    }
}

impl ByReference for over_elements {}

#[reversible]
fn of_an_array(y: &mut f64, x: f64, n: usize) {
    let powers = [x, x * x, x * x * x];
    if n > 0 {
        *y += powers[n % 3];
        of_an_array(&mut *y, 0.5 * x, n - 1);
    }
}

impl ByReference for of_an_array {}

#[reversible]
fn product(y: &mut f64, a: f64, b: f64) {
    *y += a * b;
}

#[reversible]
fn through_another(y: &mut f64, x: f64, n: usize) {
    if n > 0 {
        product(&mut *y, x, 3.0);
        through_another(&mut *y, 0.5 * x, n - 1);
    }
}

impl ByReference for through_another {}

#[pure]
fn cube(x: f64) -> f64 {
    x * x * x
}

#[reversible]
fn of_a_pure_function(y: &mut f64, x: f64, n: usize) {
    if n > 0 {
        *y += cube(x);
        of_a_pure_function(&mut *y, x + 1.0, n - 1);
    }
}

impl ByReference for of_a_pure_function {}

#[reversible]
fn in_parallel(y: &mut f64, x: f64, n: usize) {
    if n > 0 {
        for k in par(0..n) {
            *y += x * f64::from_usize(k);
        }
        in_parallel(&mut *y, 2.0 * x, n - 1);
    }
}

impl ByReference for in_parallel {}

#[test]
fn a_recursion_over_arrays_or_with_calls() {
    over_elements::__forward_by_value();
    of_an_array::__forward_by_value();
    through_another::__forward_by_value();
    of_a_pure_function::__forward_by_value();
    in_parallel::__forward_by_value();
    let there = agreed(|d| {
        let mut y = [0.0; 5];
        let [a, b, c, e, f] = &mut y;
        over_elements::run(d, a, &[1.0, 2.0, 3.0], 3).unwrap();
        of_an_array::run(d, b, 2.0, 3).unwrap();
        through_another::run(d, c, 2.0, 3).unwrap();
        of_a_pure_function::run(d, e, 1.0, 3).unwrap();
        in_parallel::run(d, f, 1.0, 4).unwrap();
        y
    });
    // 2 + 1 + 0.25; 3 (2 + 1 + 0.5); 1 + 8 + 27; 6 + 2 * 3 + 4 * 1
    assert_eq!(there, [14.0, 2.0 + 1.0 + 0.25, 6.0 + 3.0 + 1.5, 36.0, 16.0]);
}

// how deep

/// `n + 1` calls inside each other, by value.
#[reversible]
fn nested(out: &mut i64, n: i64) {
    if n > 0 {
        *out += n;
        nested(&mut *out, n - 1);
        *out ^= 3;
    }
}

/// The same with nothing after the call.
#[reversible]
fn chain(out: &mut i64, n: i64) {
    if n > 0 {
        *out += n;
        chain(&mut *out, n - 1);
    }
}

/// The same by way of another function.
#[reversible]
fn even(y: &mut f64, x: f64, n: usize) {
    if n > 0 {
        odd(&mut *y, x, n - 1);
        *y += x;
    }
}

#[reversible]
fn odd(y: &mut f64, x: f64, n: usize) {
    *y += x * x;
    if n > 0 {
        even(&mut *y, 0.5 * x, n - 1);
    }
}

/// The same by way of a function that is given.
#[reversible]
fn applied<F: Reversible<(&mut f64, f64, usize)>>(f: F, y: &mut f64, x: f64, n: usize) {
    f(&mut *y, x, n);
}

#[reversible]
fn by_a_given_one(y: &mut f64, x: f64, n: usize) {
    if n > 1 {
        applied(by_a_given_one, &mut *y, x, n - 2);
    }
    *y += x;
}

/// Many recursions at once.
#[reversible]
fn side_by_side(y: &mut [f64], x: f64, n: usize) {
    for i in par(0..y.len()) {
        even(&mut y[i], x, n);
    }
}

/// Devices with this limit.
fn shallow(depth: usize) -> Vec<Box<dyn Device>> {
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    for checks in [true, false] {
        devices.push(Box::new(Interpreter::with_options(Options { checks, depth, ..Options::default() })));
        for threads in [1, 3] {
            devices.push(Box::new(Cpu::with_threads(threads).checks(checks).parallel_from(0).depth(depth)));
        }
    }
    devices
}

/// That `n` calls inside each other are as many as there may be, and one more is an error, for runs that make so many
/// calls as they are told.
fn at_the_limit(limit: usize, device: &dyn Device, run: &dyn Fn(&dyn Device, usize) -> Result<(), Error>) {
    assert_eq!(run(device, limit), Ok(()), "{}", device.name());
    for calls in [limit + 1, 1_000_000] {
        let error = run(device, calls).unwrap_err();
        assert_eq!(*error.cause(), Cause::Depth { limit }, "{}", device.name());
        assert!(error.trace().len() <= 64, "{error}");
    }
    assert_eq!(run(device, limit), Ok(()), "{}", device.name());
}

type Run = fn(&dyn Device, usize) -> Result<(), Error>;

/// One recursion of each kind, in each direction, with as many calls inside each other as it is told.
const RUNS: [Run; 12] = [
    |d, n| nested::run(d, &mut 7, n as i64 - 1),
    |d, n| nested::run_inverse(d, &mut 7, n as i64 - 1),
    |d, n| chain::run(d, &mut 7, n as i64 - 1),
    |d, n| chain::run_inverse(d, &mut 7, n as i64 - 1),
    |d, n| even::run(d, &mut 0.5, 0.25, n - 1),
    |d, n| even::run_inverse(d, &mut 0.5, 0.25, n - 1),
    |d, n| even::gradient(d, 0.25, n - 1).map(drop),
    |d, n| even::vjp(d, 1.0, &0.5, 0.25, n - 1).map(drop),
    |d, n| over_elements::run(d, &mut 0.5, &vec![0.0; n - 1], n - 1),
    |d, n| over_elements::gradient(d, &vec![1.0; n - 1], n - 1).map(drop),
    |d, n| by_a_given_one::run(d, &mut 0.5, 0.25, n),
    |d, n| side_by_side::run(d, &mut [0.0; 70], 0.25, n - 2),
];

#[test]
fn a_recursion_is_as_deep_as_the_device_allows_and_no_deeper() {
    for device in shallow(51) {
        RUNS.iter().for_each(|run| at_the_limit(51, &*device, run));
    }
}

#[test]
fn the_stack_grows_with_the_recursion() {
    for cpu in [Cpu::with_threads(1), Cpu::with_threads(1).checks(false)] {
        // by value, by reference, a gradient
        [0, 3, 4, 6].iter().for_each(|&k| at_the_limit(100_000, &cpu, &RUNS[k]));
        let mut out = 0;
        nested::run(&cpu.clone().depth(300_001), &mut out, 300_000).unwrap();
        nested::run_inverse(&cpu.depth(300_001), &mut out, 300_000).unwrap();
        assert_eq!(out, 0);
    }
    let interpreter = Interpreter::new();
    at_the_limit(100_000, &interpreter, &RUNS[0]);
}

#[test]
fn an_error_says_where_the_recursion_was() {
    for device in shallow(100) {
        let error = over_elements::run(&*device, &mut 0.0, &[0.0; 200], 200).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("the recursion is more than 100 calls deep: it has no end, or"), "{text}");
        assert!(text.ends_with("and 36 calls around these"), "{text}");
        assert!(error.site().unwrap().function.ends_with("over_elements"), "{text}");
    }
}

/// A recursion in a loop, whose postcondition is false where a counter meets `bad`.
#[reversible]
fn stepwise(out: &mut i64, n: i64, bad: i64) {
    let mut k: i64 = 0;
    k += n;
    #[post(k != n && k != bad)]
    while k > 1 {
        stepwise(&mut *out, k - 1, bad);
        k -= 2;
    }
    *out += k;
}

/// By value with checks too, and where one fails, the error of the program by reference.
#[test]
fn a_recursion_by_value_with_checks() {
    let run = |device: &dyn Device, bad| {
        let mut out = 7;
        let there = stepwise::run(device, &mut out, 14, bad);
        let after = out;
        let back = there.clone().and_then(|()| stepwise::run_inverse(device, &mut out, 14, bad));
        (there, after, back, out)
    };
    let (there, after, ..) = agreed(|d| run(d, -9));
    assert_eq!((there, stepwise::__forward_by_value_checked(7, 14, -9, CALLS)), (Ok(()), after));
    assert_eq!(stepwise::__inverse_by_value_checked(after, 14, -9, CALLS), 7);
    let (interpreter, cpu) = (Interpreter::new(), Cpu::with_threads(1));
    for bad in [1, 2, 3, 4, 9, 12] {
        let (expected, found) = (run(&interpreter, bad), run(&cpu, bad));
        assert_eq!((found.1, found.3), (expected.1, expected.3), "{bad}");
        let [here, there] = [found.0, expected.0].map(|run| run.unwrap_err());
        assert_eq!(here.cause(), there.cause());
        assert_eq!(here.trace().len(), there.trace().len());
        let places = [&here, &there].map(|e| e.site().map(|s| (s.span.line, s.iterations.clone())));
        assert_eq!(places[0], places[1], "{here}\n{there}");
        assert_eq!(run(&cpu.clone().checks(false), bad).0, Ok(()));
    }
}
