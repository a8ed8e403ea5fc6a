//! The number systems: their values, that products are undone, their derivatives, and that every device has the same bits.

#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{Array2, ArrayView2};
use rev_core::interp::Interpreter;
use rev_core::scalar::fraction::{U100, U16, U20};
use rev_cpu::prelude::*;
use rev_cuda::Emulator;
use rev_numbers::{Log, MaxPlus, MinPlus, Odd};

/// Every kind of factor.
#[reversible(tangent)]
fn products<T: Real>(x: &mut [Log<T>; 6], y: &Log<T>, z: &Log<T>, p: T) {
    x[0] *= y + z;
    x[1] *= z - y;
    x[2] *= z.powf(p);
    x[3] *= 3.0;
    x[4] *= y * z / p;
    x[5] /= (y + z).sqrt() * (y + p).powi(2);
}

#[reversible(tangent)]
fn total<T: Real>(loss: &mut T, y: &Log<T>, z: &Log<T>, p: T) {
    let mut x = [Log::<T>::zero(); 6];
    products(&mut x, &y, &z, p);
    for i in 0..6 {
        *loss += x[i].repr * (i as T);
    }
}

#[test]
fn every_factor_of_logarithmic_numbers() {
    let mut x = [Log { repr: 7.0 }; 6];
    let (y, z) = (Log { repr: 2.0 }, Log { repr: 3.0f64 });
    products(&mut x, &y, &z, 3.4).unwrap();
    let sum = 2f64.exp() + 3f64.exp();
    let expected = [
        10.313261687518223,
        7.0 + (3f64.exp() - 2f64.exp()).ln(),
        7.0 + 3.0 * 3.4,
        8.09861228866811,
        7.0 + 5.0 - 3.4f64.ln(),
        7.0 - sum.ln() / 2.0 - 2.0 * (2f64.exp() + 3.4).ln(),
    ];
    for (found, expected) in x.iter().zip(expected) {
        assert_abs_diff_eq!(found.repr, expected, epsilon = 4e-15);
    }
    // of 7, 5 and 3
    assert_eq!(7.0 + Log::<f64>::sub(5.0, 3.0), 11.854586542131141);
    assert_eq!(7.0 + Log::<f64>::powf(5.0, 3.4), 24.0);
    products::inverse(&mut x, &y, &z, 3.4).unwrap();
    assert!(x.iter().all(|x| abs_diff_eq!(x.repr, 7.0, epsilon = 4e-15)));
}

#[test]
fn derivatives_of_logarithmic_numbers() {
    let (y, z) = (Log { repr: 0.25f64 }, Log { repr: 0.75 });
    let report = total::check_gradient(&Cpu::new(), &0.0, &y, &z, 1.25).unwrap();
    assert!(report.passed(), "{report}");
    let report = products::check_inverse(&Cpu::new(), &[Log { repr: 0.5 }; 6], &y, &z, 1.25).unwrap();
    assert!(report.passed(), "{report}");
    let g = total::gradient(&Cpu::new(), &y, &z, 1.25).unwrap();
    assert_eq!(g, total::gradient(&Interpreter::new(), &y, &z, 1.25).unwrap());
    assert_eq!(g, total::gradient(&Emulator::new().deterministic(true), &y, &z, 1.25).unwrap());
    // where the operands of a sum are equal, each has half of it
    let g = tie::gradient(&Cpu::new(), &y, &y).unwrap();
    assert_eq!((g.a.repr.get(), g.b.repr.get()), (0.5, 0.5));
}

#[reversible]
fn tie<T: Real>(loss: &mut T, a: &Log<T>, b: &Log<T>) {
    let mut x = Log::<T>::zero();
    x *= a + b;
    *loss += x.repr;
}

/// `J_ν(x)` by its series, whose terms are products and quotients of one number.
#[reversible(tangent)]
fn bessel<T: Real>(out: &mut T, x: T, nu: usize, terms: usize) {
    let mut term = Log::<T>::zero();
    term *= (x / 2.0).powi(nu as i32);
    for i in 1..=nu {
        term /= T::from_usize(i);
    }
    *out += term.repr.exp();
    for k in 1..terms {
        term *= x * x / 4.0 / (T::from_usize(k) * T::from_usize(k + nu));
        *out += if k % 2 == 0 { term.repr.exp() } else { -term.repr.exp() };
    }
}

#[test]
fn a_bessel_function_through_logarithmic_numbers() {
    let cpu = Cpu::new();
    let g = bessel::gradient(&cpu, 1.0f64, 2, 12).unwrap();
    assert_abs_diff_eq!(g.value, 0.11490348493190047, epsilon = 1e-15);
    assert_abs_diff_eq!(g.x, 0.21024361588113258, epsilon = 1e-14);
    let second: f64 = bessel::hvp(&cpu, 1.0, 1.0, 2, 12).unwrap().x;
    assert_abs_diff_eq!(second, 0.1344668389145689, epsilon = 1e-13);
    let devices: [&dyn Device; 2] = [&Interpreter::new(), &Emulator::new().deterministic(true)];
    for device in devices {
        assert_eq!(bessel::gradient(device, 1.0, 2, 12).unwrap(), g, "{}", device.name());
    }
}

/// `y += xⁿ` by products, for fixed-point numbers too, on which there is no exact product.
#[reversible]
fn power<T: Real>(y: &mut T, x: T, n: usize) {
    let mut p = Log::<T>::zero();
    for _ in 0..n {
        p *= x;
    }
    *y += p.repr.exp();
}

#[test]
fn powers_of_fixed_point_numbers_come_back_exactly() {
    fn comes_back<T: Real>(device: &dyn Device, accuracy: f64) {
        let (x, start) = (T::from_f64(1.5), T::from_f64(0.25));
        let mut y = start;
        power::run(device, &mut y, x, 10).unwrap();
        let expected = 0.25 + 1.5f64.powi(10);
        assert!(abs_diff_eq!(y.to_f64(), expected, epsilon = accuracy), "{y:?} on {}", device.name());
        power::run_inverse(device, &mut y, x, 10).unwrap();
        assert_eq!(y, start, "{}", device.name());
    }
    let x = Fixed43::from_num(1.5);
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new(), &Emulator::new()] {
        comes_back::<Fixed43>(device, 1e-9);
        comes_back::<FixedI32<U16>>(device, 0.01);
        comes_back::<FixedI64<U20>>(device, 1e-3);
    }
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        comes_back::<FixedI128<U100>>(device, 1e-12);
    }
    let mut p = [Log { repr: x }];
    let start = p;
    let factors: Vec<Fixed43> = (1..200).map(|k| Fixed43::from_num(k) / 7).collect();
    scaled(&mut p, &factors).unwrap();
    assert_ne!(p, start);
    scaled::inverse(&mut p, &factors).unwrap();
    assert_eq!(p, start);
}

#[reversible]
fn scaled<T: Real>(p: &mut [Log<T>], by: &[T]) {
    for i in 0..p.len() {
        for j in 0..by.len() {
            p[i] *= by[j];
        }
    }
}

macro_rules! paths {
    ($step:ident, $name:ident, $total:ident, $number:ident) => {
        /// One edge more, `w[i, j]` from `i` to `j`: sums over nodes of products.
        #[reversible]
        fn $step<T: Real>(next: &mut [$number<T>], at: &[$number<T>], w: ArrayView2<T>) {
            for j in 0..next.len() {
                let mut sum = vec![$number::<T>::zero(); at.len()];
                sum[0] *= at[0] * w[[0, j]];
                for i in 1..at.len() {
                    sum[i] *= sum[i - 1] + at[i] * w[[i, j]];
                }
                next[j] *= sum[at.len() - 1];
            }
        }

        /// The best of all paths of `steps` edges from node 0 to each one.
        #[reversible]
        fn $name<T: Real>(best: &mut [$number<T>], w: ArrayView2<T>, steps: usize) {
            let n = w.nrows();
            let mut at = vec![$number::<T>::zero(); (steps + 1) * n];
            // no path leads to the others yet
            for j in 1..n {
                at[j] *= w[[0, 0]];
            }
            for k in 0..steps {
                $step(&mut at[(k + 1) * n..(k + 2) * n], &at[k * n..(k + 1) * n], w);
            }
            for j in 0..n {
                best[j] *= at[steps * n + j];
            }
        }

        #[reversible]
        fn $total<T: Real>(loss: &mut T, w: ArrayView2<T>, steps: usize, to: usize) {
            let mut best = vec![$number::<T>::zero(); w.nrows()];
            $name(&mut best, w, steps);
            *loss += best[to].repr;
        }
    };
}

paths!(shortened, shortest, shortest_to, MinPlus);
paths!(lengthened, longest, longest_to, MaxPlus);

#[test]
fn shortest_and_longest_paths_and_their_gradients() {
    const NONE: f64 = 1000.0;
    let edges = [(0, 1, 7.0), (0, 2, 3.0), (2, 1, 2.0), (1, 3, 1.5), (2, 3, 6.0), (3, 4, 2.5), (1, 4, 5.5)];
    let graph = |none: f64| {
        let mut w = Array2::from_elem((5, 5), none);
        edges.iter().for_each(|&(i, j, length)| w[[i, j]] = length);
        w
    };
    let along = |path: &[(usize, usize)]| {
        let mut on = Array2::<f64>::zeros((5, 5));
        path.iter().for_each(|&edge| on[edge] += 1.0);
        on
    };
    let devices: [&dyn Device; 3] = [&Cpu::new(), &Interpreter::new(), &Emulator::new().deterministic(true)];
    for device in devices {
        // of exactly four edges: 0, 2, 1, 3, 4
        let g = shortest_to::gradient(device, graph(NONE).view(), 4, 4).unwrap();
        assert_eq!(g.value, 3.0 + 2.0 + 1.5 + 2.5, "{}", device.name());
        assert_eq!(g.w, along(&[(0, 2), (2, 1), (1, 3), (3, 4)]), "{}", device.name());
        let g = longest_to::gradient(device, graph(-NONE).view(), 3, 4).unwrap();
        assert_eq!(g.value, 3.0 + 6.0 + 2.5, "{}", device.name());
        assert_eq!(g.w, along(&[(0, 2), (2, 3), (3, 4)]), "{}", device.name());
    }
    let mut best = vec![MinPlus { repr: 0.0 }; 5];
    shortest(&mut best, graph(NONE).view(), 4).unwrap();
    shortest::inverse(&mut best, graph(NONE).view(), 4).unwrap();
    assert_eq!(best, vec![MinPlus { repr: 0.0 }; 5]);
}

/// At a tie the first operand is the sum.
#[reversible]
fn ties<T: Real>(loss: &mut T, x: &MaxPlus<T>, y: &MinPlus<T>, a: T, b: T) {
    let mut u = MaxPlus::<T>::zero();
    let mut v = MinPlus::<T>::zero();
    u *= (x + a) * b;
    v *= b + y.powi(2);
    *loss += u.repr + v.repr;
}

#[test]
fn a_tie_of_tropical_numbers_is_the_first_one() {
    let g = ties::gradient(&Cpu::new(), &MaxPlus { repr: 1.5f64 }, &MinPlus { repr: 1.0 }, 1.5, 2.0).unwrap();
    assert_eq!((g.value, g.x.repr.get(), g.y.repr.get(), g.a, g.b), (5.5, 1.0, 0.0, 0.0, 2.0));
}

/// Factors of every kind.
#[reversible]
fn odd_products<I: Integer>(x: &mut Odd<I>, y: &[Odd<I>], n: I) {
    for i in 0..y.len() {
        *x *= y[i] * 3;
        *x /= -y[i] / n;
    }
}

#[test]
fn odd_integers_come_back_exactly() {
    let odd = |x: u64| Odd { repr: x / 2 };
    let y: Vec<Odd<u64>> = [1, 3, 0x9e37_79b9_7f4a_7c15, u64::MAX, 7].map(odd).to_vec();
    let start = odd(0xdead_beef_dead_beef);
    let mut expected = 0xdead_beef_dead_beef_u64;
    for _ in &y {
        // the factor itself leaves it again
        expected = expected.wrapping_mul(3).wrapping_mul(11).wrapping_neg();
    }
    // on a GPU a division by zero is an error where checks are on
    let emulator = Emulator::new().checks(true);
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new(), &emulator] {
        let mut x = start;
        odd_products::run(device, &mut x, &y, 11).unwrap();
        assert_eq!(x.repr.wrapping_mul(2).wrapping_add(1), expected, "{}", device.name());
        odd_products::run_inverse(device, &mut x, &y, 11).unwrap();
        assert_eq!(x, start, "{}", device.name());
        let error = odd_products::run(device, &mut x, &y, 6).unwrap_err().to_string();
        assert!(error.contains("divided by zero"), "{}: {error}", device.name());
        assert!(error.contains("in `odd_products` at"), "{}: {error}", device.name());
    }
    // every one of 9 bits by every other
    for a in 0..=u8::MAX {
        for b in 0..=u8::MAX {
            let mut x = Odd { repr: a };
            x.mul_assign(b).unwrap();
            assert_eq!(2 * u32::from(x.repr) + 1, (2 * u32::from(a) + 1) * (2 * u32::from(b) + 1) % 512);
            rev_numbers::Odd_mul_assign::inverse(&mut x, b).unwrap();
            assert_eq!(x.repr, a);
        }
    }
}

/// A product in each element, by lanes and threads, and what a loop leaves.
#[reversible]
fn each<T: Real>(x: &mut [Log<T>], y: &[Log<T>], p: &[T]) {
    for i in par(0..x.len()) {
        let mut t = Log::<T>::zero();
        t *= y[i] + p[i];
        x[i] *= t.powi(3) / y[0];
    }
}

#[test]
fn products_in_parallel_loops() {
    let number = |k: usize| Log { repr: (k % 17) as f64 / 8.0 };
    let (x, y): (Vec<_>, Vec<_>) = (0..100).map(|k| (number(k), number(3 * k + 1))).unzip();
    let p: Vec<f64> = (0..100).map(|k| 1.0 + k as f64 / 50.0).collect();
    let report = each::check_inverse(&Cpu::new(), &x, &y, &p).unwrap();
    assert!(report.passed(), "{report}");
    let report = each::check_gradient(&Cpu::new(), &x, &y, &p).unwrap();
    assert!(report.passed(), "{report}");
    let run = |device: &dyn Device| {
        let mut x = x.clone();
        each::run(device, &mut x, &y, &p).unwrap();
        x
    };
    let expected = run(&Interpreter::new());
    assert_eq!(run(&Cpu::new()), expected);
    assert_eq!(run(&Cpu::new().checks(false)), expected);
    assert_eq!(run(&Emulator::new().deterministic(true)), expected);
}

/// A number of a system beside an ordinary one.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Weighted<T: Real> {
    weight: Log<T>,
    path: MinPlus<T>,
    odd: Odd<u32>,
    sum: T,
}

#[reversible(tangent)]
fn gather<T: Real>(all: &mut [Weighted<T>], x: &[T], k: &[usize]) {
    for i in par(0..x.len()) {
        all[k[i]].sum += x[i];
    }
}

/// Tasks have copies of whole structs, and what isn't added to comes back as it was.
#[test]
fn sums_beside_numbers_of_a_system_leave_these_alone() {
    let of = |weight, path, sum| Weighted {
        weight: Log { repr: weight },
        path: MinPlus { repr: path },
        odd: Odd { repr: 7 },
        sum,
    };
    let start = vec![of(2.5, f64::INFINITY, 0.25), of(f64::NEG_INFINITY, -1.5, 4.0)];
    let x = vec![0.5; 600];
    let k: Vec<usize> = (0..600).map(|i| i % 2).collect();
    let expected = vec![of(2.5, f64::INFINITY, 150.25), of(f64::NEG_INFINITY, -1.5, 154.0)];
    let cpu = Cpu::with_threads(3).parallel_from(0);
    let fixed_order = cpu.clone().deterministic(true);
    for device in [&cpu as &dyn Device, &fixed_order, &cpu.clone().checks(false), &Interpreter::new()] {
        let mut all = start.clone();
        gather::run(device, &mut all, &x, &k).unwrap();
        assert_eq!(all, expected, "{}", device.name());
        gather::run_inverse(device, &mut all, &x, &k).unwrap();
        assert_eq!(all, start, "{}", device.name());
    }
}
