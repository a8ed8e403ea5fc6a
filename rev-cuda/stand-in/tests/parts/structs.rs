//! Structs that hold arrays, which a GPU refuses, and structs of numbers, which it adds whole.

use approx::abs_diff_eq;
use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

use super::gpus;

fn devices() -> Vec<(&'static str, Box<dyn Device>)> {
    let mut all: Vec<(&str, Box<dyn Device>)> = vec![
        ("interpreter", Box::new(Interpreter::new())),
        ("cpu", Box::new(Cpu::with_threads(3).parallel_from(0))),
        ("cpu without checks", Box::new(Cpu::new().checks(false))),
    ];
    all.extend([true, false].into_iter().flat_map(|checks| gpus(checks, false)));
    all
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Layer<T: Real> {
    w: Vec<T>,
    b: T,
}

#[reversible]
fn sum<T: Real>(y: &mut T, layer: &Layer<T>) {
    for i in par(0..layer.w.len()) {
        *y += layer.w[i] * layer.b;
    }
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Point<T: Real> {
    at: [T; 2],
    weight: T,
    seen: bool,
}

#[reversible]
fn moved<T: Real>(points: &mut [Point<T>], by: &Point<T>, x: &[T]) {
    for i in par(0..points.len()) {
        let own = Point::<T> { at: [x[i], 1.0], weight: x[i] * by.weight, seen: true };
        points[i] += fields(own);
        points[i] -= fields(by);
        points[i] += Point { weight: own.at[0] };
    }
}

#[test]
fn structs_with_arrays_are_refused() {
    for (name, device) in devices() {
        let layer = Layer { w: vec![1.0, 2.0], b: 3.0 };
        let error =
            sum::run(&*device, &mut 0.0, &layer).map(|()| String::new()).unwrap_or_else(|e| e.to_string());
        let runs = !["emulator", "cuda"].contains(&name);
        assert!(runs || error.contains("a `Layer` holds arrays or stacks"), "{name}: {error}");
        assert!(!runs || error.is_empty(), "{name}: {error}");
    }
}

#[test]
fn whole_structs_are_added() {
    let start: Vec<Point<f64>> =
        (0..40).map(|k| Point { at: [k as f64, 0.5], weight: 0.1 * k as f64, seen: k % 3 == 0 }).collect();
    let by = Point { at: [0.25, 2.0], weight: 1.5, seen: false };
    let x: Vec<f64> = (0..40).map(|k| 0.5 * k as f64).collect();
    for (name, device) in devices() {
        let mut points = start.clone();
        moved::run(&*device, &mut points, &by, &x).unwrap();
        for (k, (p, q)) in points.iter().zip(&start).enumerate() {
            let at = [q.at[0] + x[k] - 0.25, 0.5 + 1.0 - 2.0];
            let expected = Point { at, weight: q.weight + x[k] * 1.5 - 1.5 + x[k], seen: !q.seen };
            let near = abs_diff_eq!(p.weight, expected.weight, epsilon = 1e-12);
            let near = near && p.at == expected.at && p.seen == expected.seen;
            assert!(near, "{name}: {p:?} {expected:?}");
        }
        moved::run_inverse(&*device, &mut points, &by, &x).unwrap();
        assert!(points.iter().zip(&start).all(|(p, q)| p.at == q.at && p.seen == q.seen), "{name}");
        let mut seeds: Vec<_> = start.iter().map(|p| p.zero_shadow::<1>()).collect();
        seeds.iter_mut().for_each(|s| (s.weight, s.at[0]) = (Batch([2.0]), Batch([3.0])));
        let v = moved::vjp(&*device, &seeds, &start, &by, &x).unwrap();
        assert!(
            v.x_bar.iter().all(|&g| abs_diff_eq!(g, 2.0 * 1.5 + 2.0 + 3.0, epsilon = 1e-12)),
            "{name}: {:?}",
            v.x_bar
        );
        let weight = v.by_bar.weight.get();
        assert!(
            abs_diff_eq!(weight, x.iter().map(|x| 2.0 * x - 2.0).sum::<f64>(), epsilon = 1e-9),
            "{name}: {weight}"
        );
    }
}
