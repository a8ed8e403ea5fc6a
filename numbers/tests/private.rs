//! Variables of an iteration of a parallel loop may be of every type: what they leave has the same bits on every device, comes back,
//! and has the derivatives that differences have.

use approx::{abs_diff_eq, relative_eq};
use rev_core::interp::Interpreter;
use rev_core::tolerance::Options;
use rev_cpu::prelude::*;
use rev_cuda::Emulator;
use rev_numbers::{Exact, Log, MaxPlus, MinPlus, Odd};

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Scaled<T: Real>(T, [T; 2]);

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Model<T: Real, const N: usize> {
    w: Vec<T>,
    bias: [T; N],
    scaled: Scaled<T>,
    kept: Stack<T>,
}

#[derive(Clone, Debug, PartialEq, Reversible)]
enum Kind<T: Real> {
    Still,
    Moving(T),
}

/// Numbers of systems, tuples, structs of known size, fixed-point and complex numbers.
#[reversible(tangent)]
fn numbers<T: Real>(y: &mut [T], total: &mut T, x: &[T], start: &Scaled<T>) {
    for i in par(0..y.len()) {
        let mut log = Log::<T>::zero();
        let mut high = MaxPlus::<T>::zero();
        let mut low = MinPlus::<T>::zero();
        let mut pair = (T::zero(), 3i64);
        let mut scaled = zeros_like(start);
        let mut z = Complex::<T>::zero();
        #[compute]
        {
            log *= 2.0 + x[i] * x[i];
            high *= x[i] + x[0];
            low *= x[i] * 0.5;
            pair.0 += x[i];
            pair.1 += i as i64;
            scaled += fields(start);
            scaled.1[1] += x[i] * x[i];
            z += Complex::new(x[i], scaled.0);
        }
        y[i] += log.repr * high.repr + low.repr * pair.0;
        y[i] += (pair.1 as T) * scaled.1[1];
        *total += z.re * z.im;
    }
}

/// Arrays of run-time shape, stacks, and structs that hold them.
#[reversible(tangent)]
fn arrays<T: Real, const N: usize>(y: &mut [T], x: &[T], model: &Model<T, N>) {
    for i in par(0..y.len()) {
        let mut own = zeros_like(model);
        let mut row = vec![T::zero(); x.len()];
        let mut kept = Stack::new();
        let mut piles: Stack<Vec<T>> = Stack::new();
        let mut t = T::zero();
        #[compute]
        {
            for k in 0..x.len() {
                row[k] += x[k] * x[i];
                own.w[k] += model.w[k] * x[i];
            }
            own.bias[0] += model.bias[1] * x[i];
            push(piles, row);
            row[0] += x[i];
            t += own.w[0];
            push(kept, t);
            t += own.bias[0] * row[0];
            push(own.kept, t);
            pop(kept, t);
        }
        y[i] += t * own.w[1];
    }
}

/// Enums and what may be missing, which are exchanged with the iteration's own.
#[reversible(tangent)]
fn enums<T: Real>(y: &mut [T], kinds: &mut [Kind<T>], seen: &mut [Option<T>], x: &[T]) {
    for i in par(0..y.len()) {
        let mut kind = Kind::<T>::zero();
        let mut one = zeros_like(seen[i]);
        #[compute]
        {
            swap(kind, kinds[i]);
            swap(one, seen[i]);
        }
        match kind {
            Kind::Still => {}
            Kind::Moving(v) => y[i] += v * v * x[i],
        }
        if let Some(s) = one {
            y[i] += s * x[i] * x[i];
        }
    }
}

/// Exact sums, and odd numbers.
#[reversible]
fn exactly(y: &mut [f64], x: &[f64]) {
    for i in par(0..y.len()) {
        let mut sum = Exact::<f64>::zero();
        let mut odd = Odd::<u32>::zero();
        #[compute]
        {
            odd *= 5;
            odd *= 7;
            for k in 0..x.len() {
                sum += x[k];
                sum -= x[i];
            }
        }
        (&sum).read(&mut y[i]);
        y[i] += odd.repr as f64;
    }
}

fn devices() -> Vec<(&'static str, Box<dyn Device>)> {
    let threads = || Cpu::with_threads(3).parallel_from(0).deterministic(true);
    let interpreter = Interpreter::with_options(Options { deterministic: true, ..Options::default() });
    vec![
        ("in order", Box::new(Cpu::with_threads(1).lanes(false))),
        ("in lanes", Box::new(Cpu::with_threads(1).deterministic(true))),
        ("threads", Box::new(threads())),
        ("threads without checks", Box::new(threads().checks(false))),
        ("interpreter", Box::new(interpreter)),
        ("emulator", Box::new(Emulator::new().deterministic(true))),
    ]
}

const N: usize = 37;

const ZEROS: [f64; N] = [0.0; N];

fn x() -> Vec<f64> {
    (0..N).map(|k| 0.5 + (k % 7) as f64 / 8.0).collect()
}

#[test]
fn numbers_of_every_type_are_private() {
    let (x, start) = (x(), Scaled(0.75, [0.25, -0.5]));
    let expected: Vec<f64> = x
        .iter()
        .enumerate()
        .map(|(i, x0)| {
            (2.0 + x0 * x0).ln() * (x0 + x[0]) + x0 * 0.5 * x0 + (3.0 + i as f64) * (-0.5 + x0 * x0)
        })
        .collect();
    for (name, device) in devices() {
        let (mut y, mut total) = (vec![0.0; N], 0.0);
        numbers::run(&*device, &mut y, &mut total, &x, &start).unwrap();
        assert!(relative_eq!(y[..], expected[..], epsilon = 1e-12, max_relative = 1e-12), "{name}: {y:?}");
        assert!(abs_diff_eq!(total, 0.75 * x.iter().sum::<f64>(), epsilon = 1e-9), "{name}: {total}");
        numbers::run_inverse(&*device, &mut y, &mut total, &x, &start).unwrap();
        assert!(abs_diff_eq!(y[..], ZEROS[..], epsilon = 1e-12), "{name}: {y:?}");
        assert!(abs_diff_eq!(total, 0.0, epsilon = 1e-12), "{name}: {total}");
    }
    let report = numbers::check_gradient(&Cpu::new(), &vec![0.0; N], &0.0, &x, &start).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn arrays_and_stacks_are_private() {
    let x = x();
    let model = Model {
        w: x.iter().map(|v| v * v - 0.3).collect(),
        bias: [0.5, 0.75, 0.25],
        scaled: Scaled(0.5, [1.0, 2.0]),
        kept: Stack::new(),
    };
    let expected: Vec<f64> = x.iter().map(|v| model.w[0] * v * model.w[1] * v).collect();
    for (name, device) in devices().into_iter().filter(|(name, _)| *name != "emulator") {
        let mut y = vec![0.0; N];
        arrays::run(&*device, &mut y, &x, &model).unwrap();
        assert!(abs_diff_eq!(y[..], expected[..], epsilon = 1e-12), "{name}: {y:?}");
        arrays::run_inverse(&*device, &mut y, &x, &model).unwrap();
        assert!(abs_diff_eq!(y[..], ZEROS[..], epsilon = 1e-12), "{name}: {y:?}");
    }
    let report = arrays::check_gradient(&Cpu::new(), &vec![0.0; N], &x, &model).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn enums_are_private() {
    let x = x();
    let kinds: Vec<_> =
        (0..N).map(|k| if k % 3 == 0 { Kind::Still } else { Kind::Moving(k as f64 / 8.0) }).collect();
    let seen: Vec<_> = (0..N).map(|k| (k % 2 == 0).then_some(k as f64 / 16.0)).collect();
    let expected: Vec<f64> = (0..N)
        .map(|k| {
            let moving = if k % 3 == 0 { 0.0 } else { (k as f64 / 8.0).powi(2) * x[k] };
            moving + seen[k].map_or(0.0, |s| s * x[k] * x[k])
        })
        .collect();
    for (name, device) in devices() {
        let (mut y, mut k, mut s) = (vec![0.0; N], kinds.clone(), seen.clone());
        enums::run(&*device, &mut y, &mut k, &mut s, &x).unwrap();
        assert!(abs_diff_eq!(y[..], expected[..], epsilon = 1e-12), "{name}: {y:?}");
        assert_eq!((&k, &s), (&kinds, &seen), "{name}");
        enums::run_inverse(&*device, &mut y, &mut k, &mut s, &x).unwrap();
        assert!(abs_diff_eq!(y[..], ZEROS[..], epsilon = 1e-12), "{name}: {y:?}");
    }
    let report = enums::check_gradient(&Cpu::new(), &vec![0.0; N], &kinds, &seen, &x).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn exact_sums_are_private() {
    let x = x();
    for (name, device) in devices().into_iter().filter(|(name, _)| *name != "emulator") {
        let mut y = vec![0.0; N];
        exactly::run(&*device, &mut y, &x).unwrap();
        let sum: f64 = x.iter().sum();
        assert!(y.iter().zip(&x).all(|(y, x)| *y == sum - N as f64 * x + 17.0), "{name}: {y:?}");
    }
}
