//! Forms of the language on every device: the same values, and the same errors.

#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq, relative_eq};
use rev::prelude::*;
use rev::Emulator;

/// Weights of a rule of integration.
const WEIGHTS: [f64; 6] = [0.5, 1.5, -0.25, 2.0, 0.125, 3.0];

mod numbers {
    /// A matrix.
    pub const MIX: [[f64; 3]; 2] = [[1.0, 2.0, 3.0], [-1.0, 0.5, 0.25]];
    /// Where a table of weights starts.
    pub const FIRST: [u8; 4] = [3, 0, 2, 1];
}

#[reversible]
fn weighted(y: &mut f64, z: &mut [f64], x: &[f64], at: &[usize]) {
    for i in par(0..x.len()) {
        z[i] += WEIGHTS[at[i]] * x[i] * x[i] + numbers::MIX[i % 2][at[i] % 3] * x[i];
        *y += x[i] * WEIGHTS[numbers::FIRST[i % numbers::FIRST.len()] as usize];
    }
    for (k, w) in WEIGHTS.iter().enumerate() {
        if w > 1.0 {
            *y += w * x[k];
        }
    }
}

fn weighted_plainly(z: &mut [f64], x: &[f64], at: &[usize]) -> f64 {
    let mut y = 0.0;
    for i in 0..x.len() {
        z[i] += WEIGHTS[at[i]] * x[i] * x[i] + numbers::MIX[i % 2][at[i] % 3] * x[i];
        y += x[i] * WEIGHTS[usize::from(numbers::FIRST[i % 4])];
    }
    (0..WEIGHTS.len()).filter(|k| WEIGHTS[*k] > 1.0).for_each(|k| y += WEIGHTS[k] * x[k]);
    y
}

#[test]
fn tables_by_an_index_of_the_run() {
    let n = 100;
    let x: Vec<f64> = (0..n).map(|i| f64::from(i as u8) / 16.0 - 1.0).collect();
    let at: Vec<usize> = (0..n).map(|i| i * i % 6).collect();
    let mut expected = vec![0.0; n];
    let sum = weighted_plainly(&mut expected, &x, &at);
    fn on<D: Device>(device: &D, x: &[f64], at: &[usize], expected: &[f64], sum: f64) {
        let (mut y, mut z) = (0.0, vec![0.0; x.len()]);
        weighted::run(device, &mut y, &mut z, x, at).unwrap();
        assert_eq!(z, expected);
        assert_relative_eq!(y, sum, epsilon = 0.0, max_relative = 1e-12);
        weighted::run_inverse(device, &mut y, &mut z, x, at).unwrap();
        assert_abs_diff_eq!(y, 0.0, epsilon = 1e-10);
        assert!(z.iter().all(|&z| abs_diff_eq!(z, 0.0, epsilon = 1e-10)));
        let v = weighted::vjp(device, 1.0, &vec![2.0; x.len()], &0.0, &vec![0.0; x.len()], x, at).unwrap();
        for (i, (x, at)) in x.iter().zip(at).enumerate() {
            let mut slope = 2.0 * (2.0 * WEIGHTS[*at] * x + numbers::MIX[i % 2][at % 3]);
            slope += WEIGHTS[usize::from(numbers::FIRST[i % 4])];
            slope += if i < 6 && WEIGHTS[i] > 1.0 { WEIGHTS[i] } else { 0.0 };
            assert!(abs_diff_eq!(v.x_bar[i], slope, epsilon = 1e-12), "{i}: {} {slope}", v.x_bar[i]);
        }
        let wrong = weighted::run(device, &mut y, &mut z, x, &vec![6; x.len()]).unwrap_err().to_string();
        assert!(wrong.contains("WEIGHTS[at[i]]") && wrong.contains('6'), "{wrong}");
    }
    on(&Cpu::new(), &x, &at, &expected, sum);
    on(&Cpu::with_threads(3).parallel_from(0), &x, &at, &expected, sum);
    on(&Cpu::new().deterministic(true), &x, &at, &expected, sum);
    on(&Interpreter::new(), &x, &at, &expected, sum);
    on(&Emulator::new().checks(true), &x, &at, &expected, sum);
}

const DECAYS: [f32; 5] = [0.5, 0.25, 1.5, 2.0, 3.0];
const UNITS: [Complex<f64>; 5] = [
    Complex::new(1.0, 0.0),
    Complex::new(0.0, 1.0),
    Complex::new(-1.0, 0.0),
    Complex::new(0.0, -1.0),
    Complex::new(0.5, 0.25),
];
const SIGNS: [bool; 5] = [true, false, true, true, false];

/// `y += d eˣ`, or its opposite.
#[reversible(tangent, adjoint, taylor = 2)]
fn term<T: Real>(y: &mut T, x: T, k: usize) {
    let d = T::from_f32(DECAYS[k]);
    if SIGNS[k] {
        *y += d * x.exp();
    } else {
        *y -= d * x.exp();
    }
}

#[reversible(tangent)]
fn terms<T: Real>(y: &mut [T], x: &[T], k: &[usize]) {
    for i in par(0..x.len()) {
        term(&mut y[i], x[i], k[i]);
    }
}

#[reversible]
fn turned(z: &mut [Complex<f64>], x: &[f64]) {
    for i in par(0..x.len()) {
        z[i] += UNITS[i % UNITS.len()] * Complex::new(x[i], 0.0);
    }
}

fn sign(k: usize) -> f64 {
    if SIGNS[k] {
        1.0
    } else {
        -1.0
    }
}

#[test]
fn tables_of_other_numbers_in_functions_that_lanes_call() {
    let n = 70;
    let x: Vec<f64> = (0..n).map(|i| f64::from(i as u8) / 32.0 - 1.0).collect();
    let k: Vec<usize> = (0..n).map(|i| i * 3 % 5).collect();
    let slope = |i: usize| sign(k[i]) * f64::from(DECAYS[k[i]]) * x[i].exp();
    fn on<D: Device>(device: &D, x: &[f64], k: &[usize], slope: &dyn Fn(usize) -> f64) {
        let mut y = vec![0.0; x.len()];
        terms::run(device, &mut y, x, k).unwrap();
        let v = terms::vjp(device, &vec![1.0; x.len()], &vec![0.0; x.len()], x, k).unwrap();
        let (zeros, ones) = (vec![0.0; x.len()], vec![1.0; x.len()]);
        let d = terms::jvp(device, &zeros, &ones, &zeros, x, k).unwrap();
        for (i, &value) in y.iter().enumerate() {
            for found in [value, v.x_bar[i], d.y_dot[i]] {
                assert!(
                    relative_eq!(found, slope(i), epsilon = 0.0, max_relative = 1e-13),
                    "{i}: {found} {}",
                    slope(i)
                );
            }
        }
        let h = term::hvp(device, 1.0, x[3], k[3]).unwrap();
        assert_abs_diff_eq!(h.x, slope(3), epsilon = 1e-13);
        let mut z = vec![Complex::new(0.0, 0.0); x.len()];
        turned::run(device, &mut z, x).unwrap();
        (0..x.len()).for_each(|i| assert_eq!(z[i], UNITS[i % 5] * x[i]));
        let v = turned::vjp(device, &vec![Complex::new(1.0, 2.0); x.len()], &z, x).unwrap();
        (0..x.len()).for_each(|i| assert_eq!(v.x_bar[i], UNITS[i % 5].re + 2.0 * UNITS[i % 5].im));
    }
    on(&Cpu::new(), &x, &k, &slope);
    on(&Cpu::new().checks(false), &x, &k, &slope);
    on(&Interpreter::new(), &x, &k, &slope);
    on(&Emulator::new(), &x, &k, &slope);
    on(&Emulator::new().checks(true), &x, &k, &slope);
    assert_eq!(term::second_derivative(&Cpu::new(), &0.0, x[3], k[3]).unwrap().y, slope(3));
}

/// The distance of 1 from the next number, in a function that is called and in its place.
#[pure]
fn finest<T: Real>(x: T) -> T {
    x * T::epsilon()
}

#[reversible]
fn limits<T: Real>(y: &mut [T], x: T) {
    y[0] += T::epsilon();
    y[1] += finest(x) * x;
    y[2] += if x < T::infinity() && x > T::neg_infinity() { x } else { T::zero() };
}

#[reversible]
fn limits_by_name(y: &mut f32, z: &mut f64) {
    *y += f32::epsilon() + f32::EPSILON;
    *z += f64::epsilon() + f64::EPSILON;
}

#[test]
fn limits_of_numbers() {
    fn on<D: Device, T: Real + std::fmt::Debug + Into<f64>>(device: &D, x: T, epsilon: f64) {
        let mut y = [T::zero(); 3];
        limits::run(device, &mut y, x).unwrap();
        assert_eq!(y.map(Into::into), [epsilon, 4.0 * epsilon, 2.0]);
        limits::run_inverse(device, &mut y, x).unwrap();
        assert_eq!(y.map(Into::into), [0.0; 3]);
    }
    fn of<D: Device>(device: &D) {
        on(device, 2.0f64, f64::EPSILON);
        on(device, 2.0f32, f32::EPSILON.into());
        on(device, f16::from_f32(2.0), f16::EPSILON.into());
        on(device, bf16::from_f32(2.0), bf16::EPSILON.into());
        let mut y = [Fixed43::ZERO; 3];
        limits::run(device, &mut y, Fixed43::from_num(2)).unwrap();
        assert_eq!(y.map(Fixed43::to_bits), [1, 4, 1 << 44]);
        let v = limits::vjp(device, &[1.0, 1.0, 1.0], &[0.0; 3], 2.0).unwrap();
        assert_eq!(v.x_bar, 1.0 + 4.0 * f64::EPSILON);
        let (mut y, mut z) = (0.0, 0.0);
        limits_by_name::run(device, &mut y, &mut z).unwrap();
        assert_eq!((y, z), (2.0 * f32::EPSILON, 2.0 * f64::EPSILON));
    }
    of(&Cpu::new());
    of(&Interpreter::new());
    of(&Emulator::new());
}

/// A value and its weight.
#[derive(Clone, Copy, Debug, PartialEq, Reversible)]
struct Weighted<T: Real>(T, pub T);

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Pairs<T: Real>([Weighted<T>; 2], (T, u32));

#[reversible]
impl<T: Real> Weighted<T> {
    #[reversible]
    fn add(&self, y: &mut T) {
        *y += self.0 * self.1;
    }
}

#[reversible]
fn weigh<T: Real>(y: &mut T, sums: &mut [Weighted<T>], of: &[Weighted<T>]) {
    let mut all = Weighted::<T>::zero();
    for i in 0..of.len() {
        all.0 += of[i].0 * of[i].1;
        all.1 += of[i].1;
    }
    *y += all.0 / all.1;
    for i in par(0..of.len()) {
        let w = of[i];
        sums[i].0 += w.0 * w.1;
        sums[i].1 -= w.1;
    }
}

#[reversible]
fn pairs<T: Real>(y: &mut T, p: &mut Pairs<T>, x: T) {
    p.0[0].0 += x * p.0[1].1;
    swap(p.0[0], p.0[1]);
    p.1 .0 += x;
    inc(p.1 .1);
    Weighted::<T>::add(&p.0[1], &mut y);
}

#[test]
fn tuple_structs() {
    fn on<D: Device>(device: &D) {
        let of: [Weighted<f64>; 3] = [Weighted(2.0, 1.0), Weighted(5.0, 3.0), Weighted(-1.0, 4.0)];
        let (mut y, mut sums) = (0.0, [Weighted(0.0, 0.0); 3]);
        weigh::run(device, &mut y, &mut sums, &of).unwrap();
        let mean = 13.0 / 8.0;
        assert_eq!(y, mean);
        assert_eq!(sums, [Weighted(2.0, -1.0), Weighted(15.0, -3.0), Weighted(-4.0, -4.0)]);
        let (again, mut back) = (sums, sums);
        weigh::run_inverse(device, &mut y, &mut back, &of).unwrap();
        assert_eq!((y, back), (0.0, [Weighted(0.0, 0.0); 3]));
        let g = weigh::gradient(device, &again, &of).unwrap();
        for (g, w) in g.of.iter().zip(&of) {
            assert_abs_diff_eq!(g.0.get(), w.1 / 8.0, epsilon = 1e-15);
            assert_abs_diff_eq!(g.1.get(), (w.0 - mean) / 8.0, epsilon = 1e-15);
        }
        let start: Pairs<f64> = Pairs([Weighted(1.0, 2.0), Weighted(3.0, 4.0)], (0.5, 7));
        let (mut p, mut y) = (start.clone(), 0.0);
        pairs::run(device, &mut y, &mut p, 0.25).unwrap();
        assert_eq!(p, Pairs([Weighted(3.0, 4.0), Weighted(2.0, 2.0)], (0.75, 8)));
        assert_eq!(y, 4.0);
        pairs::run_inverse(device, &mut y, &mut p, 0.25).unwrap();
        assert_eq!((&p, y), (&start, 0.0));
        let g = pairs::gradient(device, &start, 0.25).unwrap();
        assert_eq!((g.value, g.x, g.p.0[1].1.get()), (4.0, 8.0, 0.5));
    }
    on(&Cpu::new());
    on(&Cpu::with_threads(2).parallel_from(0));
    on(&Interpreter::new());
    on(&Emulator::new().checks(true));
    assert!(weigh::check_gradient(
        &Cpu::new(),
        &0.0,
        &[Weighted(0.0, 0.0); 2],
        &[Weighted(0.3, 1.5), Weighted(2.5, 0.7)]
    )
    .unwrap()
    .passed());
}

/// An element is added to others by its name.
#[reversible]
fn added_by_name<T: Real>(x: &mut [T], i: usize, j: usize, k: usize, s: T) {
    let a = x[i];
    let b = a * a * s;
    x[j] += b + a;
    x[k] -= a;
}

#[test]
fn elements_by_name_are_compared() {
    fn on<D: Device>(device: &D) {
        let mut x = [2.0, 3.0, 5.0];
        added_by_name::run(device, &mut x, 1, 0, 2, 0.5).unwrap();
        assert_eq!(x, [9.5, 3.0, 2.0]);
        let v = added_by_name::vjp(device, &[1.0, 10.0, 100.0], &[2.0, 3.0, 5.0], 1, 0, 2, 0.5).unwrap();
        assert_eq!((v.x_bar, v.s_bar), (vec![1.0, 10.0 + 1.0 + 3.0 - 100.0, 100.0], 9.0));
        added_by_name::run_inverse(device, &mut x, 1, 0, 2, 0.5).unwrap();
        assert_eq!(x, [2.0, 3.0, 5.0]);
        // also where nothing would change
        for (i, j, k, x) in [(1, 1, 2, [2.0, 3.0, 5.0]), (1, 0, 1, [2.0, 3.0, 5.0]), (1, 1, 0, [0.0; 3])] {
            let mut state = x;
            for error in [
                added_by_name::run(device, &mut state, i, j, k, 0.5).unwrap_err(),
                added_by_name::run_inverse(device, &mut state, i, j, k, 0.5).unwrap_err(),
                added_by_name::vjp(device, &[1.0; 3], &x, i, j, k, 0.5).unwrap_err(),
            ] {
                let text = error.to_string();
                assert!(text.contains("x[i]"), "{text}");
            }
        }
    }
    on(&Cpu::new());
    on(&Interpreter::new());
    on(&Emulator::new().checks(true));
}

/// `y` is where a value is popped to, so it starts at zero.
#[reversible]
fn kept<T: Real>(s: &mut Stack<T>, y: &mut T, z: &mut T, x: T) {
    pop(s, y);
    *z += *y * x;
}

/// The sum of the numbers that aren't missing.
#[reversible]
fn known<T: Real>(y: &mut T, x: &[T], w: &[T]) {
    let mut sum = T::zero();
    for i in 0..x.len() {
        if x[i] == x[i] {
            sum += x[i] * w[i];
        }
    }
    *y += sum * sum;
    for i in par(0..x.len()) {
        *y += if x[i] == x[i] { x[i] * w[i] } else { w[i] };
        *y += select(x[i] == x[i], x[i] * w[i], 0.0);
    }
}

#[test]
fn checks_of_gradients_name_what_must_start_at_a_value() {
    let mut s = Stack::new();
    s.push(2.0);
    let report = kept::check_gradient(&Cpu::new(), &s, &0.0, &0.5, 3.0).unwrap();
    assert!(report.passed(), "{report}");
    assert_eq!(report.fixed.len(), 1, "{report}");
    assert!(
        report.to_string().contains("`y` must start at 0.0: moved from it, `y` must hold zero"),
        "{report}"
    );
    let wrong = kept::check_gradient(&Cpu::new(), &s, &1.0, &0.5, 3.0).unwrap_err().to_string();
    assert!(wrong.contains("`y` must hold zero"), "{wrong}");
}

#[test]
fn missing_numbers_that_a_branch_leaves_out() {
    let n = 40;
    let x: Vec<f64> = (0..n).map(|i| if i % 3 == 1 { f64::NAN } else { f64::from(i as u8) / 8.0 }).collect();
    let w: Vec<f64> = (0..n).map(|i| 1.0 + f64::from(i as u8) / 64.0).collect();
    let sum: f64 = (0..n).filter(|i| i % 3 != 1).map(|i| x[i] * w[i]).sum();
    fn on<D: Device>(device: &D, x: &[f64], w: &[f64], sum: f64) {
        let g = known::gradient(device, x, w).unwrap();
        assert!(g.value.is_finite());
        for i in 0..x.len() {
            let (of_x, of_w) =
                if x[i].is_nan() { (0.0, 1.0) } else { ((2.0 * sum + 2.0) * w[i], (2.0 * sum + 2.0) * x[i]) };
            assert!(abs_diff_eq!(g.x[i], of_x, epsilon = 1e-9), "{i}: {} {}", g.x[i], g.w[i]);
            assert!(abs_diff_eq!(g.w[i], of_w, epsilon = 1e-9), "{i}: {} {}", g.x[i], g.w[i]);
        }
        let report = known::check_gradient(device, &0.0, x, w).unwrap();
        assert!(report.passed(), "{report}");
    }
    on(&Cpu::new(), &x, &w, sum);
    on(&Interpreter::new(), &x, &w, sum);
    on(&Emulator::new().checks(true), &x, &w, sum);
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Ball<T: Real> {
    at: [T; 2],
    speed: Weighted<T>,
    steps: u32,
    up: bool,
}

/// A ball that is thrown: how far it is after some steps.
#[reversible]
fn thrown<T: Real>(y: &mut T, count: &mut u32, speed: T, n: usize) {
    let mut ball =
        Ball::<T> { at: [T::zero(), 1.0], speed: Weighted(speed, 2.0 * speed), steps: 3, up: true };
    let mut gravity = Weighted::<T>(0.0, -0.5);
    for _ in 0..n {
        ball.speed.1 += gravity.1;
        ball.at[0] += ball.speed.0;
        ball.at[1] += ball.speed.1;
        inc(ball.steps);
    }
    if ball.up {
        *y += ball.at[0] * ball.at[1];
    }
    *count += ball.steps;
}

#[test]
fn structs_start_at_their_fields() {
    fn on<D: Device>(device: &D) {
        let (mut y, mut count) = (0.0, 0);
        thrown::run(device, &mut y, &mut count, 2.0, 3).unwrap();
        // 3 v (1 + 6 v - 3), with v = 2
        assert_eq!((y, count), (60.0, 6));
        thrown::run_inverse(device, &mut y, &mut count, 2.0, 3).unwrap();
        assert_eq!((y, count), (0.0, 0));
        let g = thrown::gradient(device, &0, 2.0, 3).unwrap();
        assert_eq!((g.value, g.speed), (60.0, 36.0 * 2.0 - 6.0));
    }
    on(&Cpu::new());
    on(&Interpreter::new());
    on(&Emulator::new().checks(true));
    assert!(thrown::check_gradient(&Cpu::new(), &0.0, &0, 0.7, 5).unwrap().passed());
}
