//! What many iterations add to at once, on every device: the CPU on one thread and on several, the
//! interpreter, the emulator of a GPU, and a GPU where there is one.
#![allow(clippy::unwrap_used)] // helpers of tests

use approx::abs_diff_eq;
use rev::prelude::*;
use rev_kernels::gates;

/// Every device, deterministic or not.
fn devices(deterministic: bool) -> Vec<Box<dyn Device>> {
    let options = rev::tolerance::Options { deterministic, ..Default::default() };
    let mut devices: Vec<Box<dyn Device>> = vec![
        Box::new(Interpreter::with_options(options)),
        Box::new(Cpu::with_threads(1).deterministic(deterministic)),
        Box::new(Cpu::with_threads(3).deterministic(deterministic)),
        Box::new(rev::Emulator::new().deterministic(deterministic)),
    ];
    match rev::Cuda::new(0) {
        Ok(gpu) => devices.push(Box::new(gpu.deterministic(deterministic))),
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
    devices
}

/// A scalar that every iteration reads.
#[reversible]
fn scalar<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += a * x[i];
    }
}

/// One number for each iteration.
#[reversible]
fn each<T: Real>(y: &mut [T], a: &[T], x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += a[i] * x[i];
    }
}

/// The only element of an array, which every iteration reads.
#[reversible]
fn element<T: Real>(y: &mut [T], a: &[T], x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += a[0] * x[i];
    }
}

/// Whole numbers: their products add up without rounding in any order.
fn wholes(n: usize, factor: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * factor) % 13) as f64 - 6.0).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn axpy_with_its_factor_shared_and_not() {
    for device in devices(false) {
        let d = &*device;
        for n in [1, 31, 32, 33, 1023] {
            let (y, x, seed) = (vec![0.0; n], wholes(n, 7), wholes(n, 5));
            let products: Vec<f64> = x.iter().zip(&seed).map(|(x, s)| x * s).collect();
            let sum: f64 = products.iter().sum();
            assert_eq!(scalar::vjp(d, &seed, &y, 0.4, &x).unwrap().a_bar, sum, "{n}, {}", d.name());
            assert_eq!(element::vjp(d, &seed, &y, &[0.4], &x).unwrap().a_bar, [sum], "{n}, {}", d.name());
            assert_eq!(each::vjp(d, &seed, &y, &vec![0.4; n], &x).unwrap().a_bar, products, "{n}");
        }
    }
}

#[test]
fn a_million_iterations_share_a_scalar() {
    for device in devices(false) {
        // the emulator looks at every access of every thread, and takes minutes where it isn't optimized
        let slow = device.name() == "emulator" && cfg!(debug_assertions);
        let n = if slow { 50_000 } else { 1_000_000 };
        let (y, x, seed) = (vec![0.0; n], wholes(n, 7), wholes(n, 5));
        let sum: f64 = x.iter().zip(&seed).map(|(x, s)| x * s).sum();
        let found = scalar::vjp(&*device, &seed, &y, 0.4, &x).unwrap().a_bar;
        assert_eq!(found, sum, "{}", device.name());
    }
}

/// A parallel loop inside a parallel loop, with sums of both.
#[reversible]
fn nested<T: Real>(rows: &mut [T], bins: &mut [T], total: &mut T, x: &[T], to: &[usize]) {
    for i in par(0..rows.len()) {
        for j in par(0..x.len()) {
            rows[i] += x[j] * x[j];
            bins[to[j]] += x[j];
            *total += x[j];
        }
    }
}

#[test]
fn sums_inside_sums_have_the_same_bits_everywhere() {
    for (m, n) in [(300, 3), (5, 256), (5, 257), (3, 700)] {
        let x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
        let to: Vec<usize> = (0..n).map(|i| (i * i) % 3).collect();
        let mut all = Vec::new();
        for device in devices(true) {
            for _ in 0..2 {
                let (mut rows, mut bins, mut total) = (vec![0.1; m], vec![0.2; 4], 0.3);
                nested::run(&*device, &mut rows, &mut bins, &mut total, &x, &to).unwrap();
                let v = nested::vjp(&*device, &rows, &bins, 0.7, &rows, &bins, &total, &x, &to).unwrap();
                let found = (bits(&rows), bits(&bins), total.to_bits(), bits(&v.x_bar));
                all.push((device.name().to_string(), found));
            }
        }
        for (name, found) in &all {
            assert_eq!(*found, all[0].1, "{name} and {}, {m} by {n}", all[0].0);
        }
    }
}

/// Sums of each iteration's own row.
#[reversible]
fn rows<T: Real>(table: &mut Array2<T>, x: &[T]) {
    for i in par(0..table.dim().0) {
        for j in par(0..x.len()) {
            table[[i, j % 3]] += x[j] * x[j];
        }
    }
}

#[test]
fn an_iteration_adds_to_no_row_that_is_anothers() {
    let x: Vec<f64> = (0..260).map(|i| (i as f64 * 0.7).sin()).collect();
    let mut first: Option<Vec<u64>> = None;
    for device in devices(true) {
        for _ in 0..3 {
            let mut table = ndarray::Array2::from_elem((600, 3), 0.1);
            rows::run(&*device, &mut table, &x).unwrap();
            let found = bits(table.as_slice().unwrap());
            assert_eq!(first.get_or_insert(found.clone()), &found, "{}", device.name());
        }
    }
}

/// The last iteration's row is missing.
#[reversible]
fn next_rows<T: Real>(table: &mut Array2<T>, x: &[T], to: &[usize]) {
    for i in par(0..table.dim().0) {
        for j in par(0..x.len()) {
            table[[i + 1, to[j]]] += x[j];
        }
    }
}

/// The sum of an element whose index is looked up.
#[reversible]
fn looked_up<T: Real>(y: &mut [T], x: &[T], to: &[usize]) {
    for j in par(0..x.len()) {
        y[to[3]] += x[j];
    }
}

#[test]
fn an_element_is_looked_up_where_something_is_added_to_it() {
    let devices: [&dyn Device; 2] = [&Interpreter::new(), &Cpu::with_threads(2)];
    for device in devices {
        let mut y = vec![0.5];
        looked_up::run(device, &mut y, &[], &[0, 0]).unwrap();
        looked_up::run(device, &mut y, &[0.25, 0.25], &[0; 4]).unwrap();
        assert_eq!(y, [1.0]);
        for (to, found) in [(&[0; 2][..], "`to[3]`"), (&[0, 0, 0, 9], "`y[to[3]]`")] {
            let error = looked_up::run(device, &mut y, &[1.0], to).unwrap_err();
            assert!(error.to_string().contains(found), "{}: {error}", device.name());
        }
    }
}

#[test]
fn a_row_is_missed_where_something_is_added_to_it() {
    for threads in [1, 3] {
        for deterministic in [false, true] {
            let cpu = Cpu::with_threads(threads).deterministic(deterministic);
            let mut table = ndarray::Array2::from_elem((2, 3), 0.5);
            next_rows::run(&cpu, &mut table, &[], &[]).unwrap();
            assert_eq!(table, ndarray::Array2::from_elem((2, 3), 0.5));
            let error = next_rows::run(&cpu, &mut table, &[1.0, 2.0], &[0, 2]).unwrap_err();
            assert!(
                error.to_string().contains("index [2, 0] is out of range for the shape [2, 3]"),
                "{error}"
            );
        }
    }
}

#[test]
fn the_gradient_of_an_expectation_value_of_a_circuit() {
    let (a, b, c) = (0.7f64, -1.3, 0.4);
    let analytic = [
        -a.sin() * b.cos() - a.cos() * b.sin() * c.sin(),
        -a.cos() * b.sin() - a.sin() * b.cos() * c.sin(),
        -a.sin() * b.sin() * c.cos(),
    ];
    for (low, high) in [(0, 1), (2, 6)] {
        let state = gates::product_state(7, low);
        for device in devices(false) {
            let g = gates::expectation::gradient(&*device, &state, a, b, c, low, high).unwrap();
            for (found, exact) in [g.a, g.b, g.c].into_iter().zip(analytic) {
                assert!(abs_diff_eq!(found, exact, epsilon = 1e-14), "{found} {exact}, {}", device.name());
            }
        }
        let mut all = devices(true).into_iter().map(|device| {
            let g = gates::expectation::gradient(&*device, &state, a, b, c, low, high).unwrap();
            bits(&[g.value, g.a, g.b, g.c])
        });
        let first = all.next().unwrap();
        assert!(all.all(|found| found == first));
    }
}

/// A part with a field of its own.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Part<T: Real> {
    u: T,
    v: [T; 2],
}

/// What has one beside a number.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Whole<T: Real> {
    part: Part<T>,
    c: T,
}

/// Reads a field of a struct and a part of that field, and adds to another field.
#[reversible]
fn field_and_part<T: Real>(y: &mut [Part<T>], s: &mut Whole<T>, x: &[T]) {
    for i in par(0..x.len()) {
        y[i] += fields(s.part);
        y[i].u += s.part.u * x[i];
        s.c += x[i];
    }
}

#[test]
fn a_field_that_is_read_with_a_part_of_it_leaves_sums_into_others_their_order() {
    let x: Vec<f64> = (0..300).map(|i| (0.7 * f64::from(i)).sin()).collect();
    let part = Part { u: 0.3, v: [0.1, -0.2] };
    let found = devices(true).into_iter().map(|device| {
        let mut y = vec![part.clone(); 300];
        let mut s = Whole { part: part.clone(), c: 0.25 };
        field_and_part::run(&*device, &mut y, &mut s, &x).unwrap();
        (y, s)
    });
    let found: Vec<_> = found.collect();
    assert!(
        found.iter().all(|other| *other == found[0]),
        "{:?}",
        found.iter().map(|f| f.1.c).collect::<Vec<_>>()
    );
}

/// Adds to a part of what other parts of are read, which can't be given to threads apart from each other.
#[reversible]
fn parts_of_numbers<T: Real>(z: &mut Complex<T>, t: &mut (T, T), x: &[T]) {
    for i in par(0..x.len()) {
        z.re += x[i] * z.im;
        t.0 += x[i] * t.1;
    }
}

/// The same with elements of small arrays, one of them in a struct, and one that is looked up.
#[reversible]
fn elements_beside_others<T: Real>(z: &mut [T; 3], p: &mut [Part<T>; 2], s: &mut Part<T>, k: usize, x: &[T]) {
    for i in par(0..x.len()) {
        z[0] += x[i] * z[1];
        p[k].u += x[i] * p[k].v[1];
        s.v[0] += x[i] * s.v[1];
    }
}

/// Reads all of an array in a struct, and elements of it, and adds to another field.
#[reversible]
fn array_and_elements<T: Real>(y: &mut [[T; 2]], s: &mut Whole<T>, x: &[T]) {
    for i in par(0..x.len()) {
        y[i] += entries(s.part.v);
        y[i][1] += s.part.v[0];
        s.c += x[i] * s.part.v[1];
    }
}

/// The loops of which the CPU runs the iterations in order, and one that it did: sums have the order of the other devices there too.
#[test]
fn sums_beside_other_parts_have_the_same_order_on_every_device() {
    let part = Part { u: 0.3, v: [0.1, -0.2] };
    for n in [0, 1, 256, 257, 1500] {
        let x: Vec<f64> = (0..n).map(|i| (0.7 * f64::from(i)).sin()).collect();
        let found = devices(true).into_iter().map(|device| {
            let d = &*device;
            let (mut z, mut t) = (Complex::new(0.3, 0.7), (0.3, 0.7));
            parts_of_numbers::run(d, &mut z, &mut t, &x).unwrap();
            let (mut e, mut p, mut s) = ([0.3, 0.7, 0.1], [part.clone(), part.clone()], part.clone());
            elements_beside_others::run(d, &mut e, &mut p, &mut s, 1, &x).unwrap();
            let (mut y, mut w) = (vec![[0.0; 2]; x.len()], Whole { part: part.clone(), c: 0.25 });
            array_and_elements::run(d, &mut y, &mut w, &x).unwrap();
            (z, t, e, p, s, y, w)
        });
        let found: Vec<_> = found.collect();
        assert!(found.iter().all(|other| *other == found[0]), "{n}: {found:?}");
        // by hand, in blocks of 256 that are added pairwise
        let blocks: Vec<f64> = x.chunks(256).map(|x| x.iter().fold(0.0, |sum, x| sum + x * 0.7)).collect();
        let total = match *blocks.as_slice() {
            [] => 0.0,
            [a] => a,
            [a, b] => a + b,
            [a, b, c, d, e, f] => ((a + b) + (c + d)) + (e + f),
            _ => panic!("{n}"),
        };
        assert_eq!(found[0].0.re, 0.3 + total, "{n}");
    }
}

#[test]
fn their_gradients_have_it_too() {
    let x: Vec<f64> = (0..1500).map(|i| (0.7 * f64::from(i)).sin()).collect();
    let part = |u: f64| Part { u, v: [0.1 * u, -0.2] };
    let seed = |u: f64| PartShadow { u: Batch([u]), v: [Batch([0.1 * u]), Batch([-0.2])] };
    let found = devices(true).into_iter().map(|device| {
        let d = &*device;
        let one = elements_beside_others::vjp(
            d,
            [1.0, 0.5, 0.25],
            [seed(0.0), seed(1.0)],
            seed(1.0),
            &[0.3, 0.7, 0.1],
            &[part(0.2), part(0.3)],
            &part(0.4),
            1,
            &x,
        )
        .unwrap();
        let other = parts_of_numbers::vjp(
            d,
            Complex::new(1.0, 0.5),
            (0.5, 1.0),
            &Complex::new(0.3, 0.7),
            &(0.2, 0.9),
            &x,
        )
        .unwrap();
        (one.z_bar, one.p_bar, one.s_bar, one.x_bar, other.z_bar, other.t_bar, other.x_bar)
    });
    let found: Vec<_> = found.collect();
    assert!(found.iter().all(|other| *other == found[0]));
    let (z_bar, p_bar, .., x_bar) = &found[0];
    assert!(abs_diff_eq!(z_bar[1], 0.5 + x.iter().sum::<f64>(), epsilon = 1e-10), "{z_bar:?}");
    assert!(abs_diff_eq!(p_bar[1].v[1].0[0], -0.2 + x.iter().sum::<f64>(), epsilon = 1e-10), "{p_bar:?}");
    assert!(abs_diff_eq!(x_bar[7], 0.7 + 0.5 * 0.9, epsilon = 1e-12), "{}", x_bar[7]);
}

/// Adds to a part beside another one until an index is out of range.
#[reversible]
fn until_there_is_no_more(z: &mut (i64, i64), x: &[i64], n: usize) {
    for i in par(0..n) {
        z.0 += x[i] * z.1;
    }
}

/// What was added before an iteration failed isn't lost.
#[test]
fn an_error_leaves_the_sum_of_what_went_before() {
    let x: Vec<i64> = (0..600).collect();
    for deterministic in [false, true] {
        let mut z = (5, 2);
        let cpu = Cpu::with_threads(1).deterministic(deterministic);
        assert!(until_there_is_no_more::run(&cpu, &mut z, &x, 601).is_err());
        assert_eq!(z, (5 + 599 * 600, 2));
    }
}
