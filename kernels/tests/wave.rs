//! Waves: the twin, the numbers of others, derivatives, devices.

#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, relative_eq};
use ndarray::Array2;
use rev_core::check::check;
use rev_core::interp::Interpreter;
use rev_core::plan::{plan, Standing};
use rev_core::verify::{compare, Outputs};
use rev_core::Options;
use rev_cpu::prelude::*;
use rev_cuda::Emulator;
use rev_kernels::wave::{advance, back, filled, plain, ricker, step, zero_bars, Bars, Field, Layer, Medium};

const LAYER: Layer = Layer { cells: 12, speed: 1000.0, reflection: 0.2 };

/// Uneven everywhere, with layers that meet.
fn medium((n, m): (usize, usize)) -> Medium {
    let c = Array2::from_shape_fn((n, m), |(i, j)| 900.0 + 30.0 * (0.7 * i as f64 + 1.3 * j as f64).sin());
    Medium::new(c, 0.05, (20.0, 17.0), Layer { cells: 7, ..LAYER })
}

/// Numbers in every cell.
fn field(cells: (usize, usize), seed: f64) -> Field<f64> {
    let one =
        |k: f64| Array2::from_shape_fn(cells, |(i, j)| (seed + k + 0.9 * i as f64 + 0.4 * j as f64).sin());
    (one(0.1), one(0.5), one(0.9), one(1.7))
}

fn all(field: &Field<f64>) -> impl Iterator<Item = &f64> {
    field.0.iter().chain(&field.1).chain(&field.2).chain(&field.3)
}

#[test]
fn the_program_and_its_twin_agree() {
    for cells in [(1, 1), (1, 9), (5, 1), (2, 3), (32, 5), (33, 6), (64, 4), (70, 41)] {
        let medium = medium(cells);
        let (mut found, mut expected) = (field(cells, 0.3), field(cells, 0.3));
        for _ in 0..20 {
            advance(&Cpu::new(), &mut found, &medium, ([0, 0], 0.7)).unwrap();
            plain::step(&mut expected, &medium);
            expected.1[[0, 0]] += 0.7 * medium.dt * medium.dt;
        }
        for (a, b) in all(&found).zip(all(&expected)) {
            assert!(abs_diff_eq!(a, b, epsilon = 1e-11), "{cells:?}: {a} {b}");
        }
    }
}

/// ReversibleSeismic.jl's numbers, for the twin; the example `seismic --verify` computes them by the program.
#[test]
fn the_twin_has_the_numbers_of_others() {
    let medium = Medium::new(Array2::from_elem((100, 100), 1000.0), 0.05, (20.0, 20.0), LAYER);
    let mut field = filled((100, 100), 0.0);
    let mut sum = 0.0;
    for amount in &ricker(2000, 100.0, 500.0)[..1999] {
        plain::step(&mut field, &medium);
        field.1[[48, 48]] += amount * medium.dt * medium.dt;
        sum += field.1.iter().map(|u| u * u).sum::<f64>();
    }
    let last: f64 = field.1.iter().map(|u| u * u).sum();
    assert!(abs_diff_eq!(sum / 10.931_466_822_080_788, 1.0, epsilon = 1e-12), "{sum}");
    assert!(abs_diff_eq!(last / 6.234_873_084_873_294e-5, 1.0, epsilon = 1e-10), "{last}");
}

const CELLS: (usize, usize) = (35, 9);
const STEPS: usize = 25;

/// `Σ_n Σ u_n² / 2`, with its cotangents where they are asked for, every state kept.
fn loss(medium: &Medium, sources: &[f64], bars: Option<&mut Bars>) -> (f64, Vec<f64>) {
    let cpu = Cpu::new();
    let mut states = vec![field(CELLS, 0.2)];
    for amount in sources {
        let mut next = states[states.len() - 1].clone();
        advance(&cpu, &mut next, medium, ([20, 4], *amount)).unwrap();
        states.push(next);
    }
    let value = states[1..].iter().flat_map(|s| &s.1).map(|u| u * u / 2.0).sum();
    let mut by_source = Vec::new();
    if let Some(bars) = bars {
        for (n, amount) in sources.iter().enumerate().rev() {
            bars.0 .1.zip_mut_with(&states[n + 1].1, |bar, u| bar.0[0] += u);
            by_source.push(back(&cpu, &mut states[n + 1], bars, medium, ([20, 4], *amount)).unwrap());
        }
    }
    by_source.reverse();
    (value, by_source)
}

#[test]
fn gradients_agree_with_differences() {
    let (medium, sources) =
        (medium(CELLS), ricker(STEPS, 5.0, 8.0).iter().map(|s| 100.0 * s).collect::<Vec<_>>());
    let mut bars = zero_bars(CELLS);
    let (_, by_source) = loss(&medium, &sources, Some(&mut bars));
    let slope =
        |f: &dyn Fn(f64) -> f64, h: f64| (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h);
    for cell in [[0, 0], [3, 8], [17, 4], [31, 2], [32, 2], [34, 8]] {
        let moved = |h: f64| {
            let mut medium = medium.clone();
            medium.c[cell] += h;
            loss(&medium, &sources, None).0
        };
        let (found, expected) = (bars.1[cell].0[0], slope(&moved, 0.5));
        assert!(
            relative_eq!(found, expected, epsilon = 1e-2 * 1e-8, max_relative = 1e-8),
            "{cell:?}: {found} {expected}"
        );
    }
    for step in [0, 7, STEPS - 1] {
        let moved = |h: f64| {
            let mut sources = sources.clone();
            sources[step] += h;
            loss(&medium, &sources, None).0
        };
        let (found, expected) = (by_source[step], slope(&moved, 0.5));
        assert!(
            relative_eq!(found, expected, epsilon = 1e-6 * 1e-8, max_relative = 1e-8),
            "{step}: {found} {expected}"
        );
    }
}

/// A step without a source is linear in the field, so `⟨A v, w⟩ = ⟨v, Aᵀ w⟩`.
#[test]
fn the_adjoint_is_the_transpose() {
    for cells in [(1, 1), (4, 7), (33, 6), (65, 20)] {
        let (medium, v, w) = (medium(cells), field(cells, 0.1), field(cells, 2.3));
        let mut av = v.clone();
        advance(&Cpu::new(), &mut av, &medium, ([0, 0], 0.0)).unwrap();
        let bar = |a: &Array2<f64>| a.mapv(|x| Batch([x]));
        let mut bars = zero_bars(cells);
        bars.0 = (bar(&w.0), bar(&w.1), bar(&w.2), bar(&w.3));
        let there: f64 = all(&av).zip(all(&w)).map(|(a, b)| a * b).sum();
        back(&Cpu::new(), &mut av, &mut bars, &medium, ([0, 0], 0.0)).unwrap();
        let plain = |a: &Array2<Batch<f64, 1>>| a.mapv(|x| x.0[0]);
        let f = bars.0;
        let transposed = (plain(&f.0), plain(&f.1), plain(&f.2), plain(&f.3));
        let back: f64 = all(&v).zip(all(&transposed)).map(|(a, b)| a * b).sum();
        assert!(
            relative_eq!(there, back, epsilon = 1e-11, max_relative = 1e-11),
            "{cells:?}: {there} {back}"
        );
    }
}

/// No loop adds to what its iterations share, in any program: nothing is atomic, no field is copied for a thread. What stands in for
/// the cotangents of constants in calls (`arg_bar`) is never added to.
#[test]
fn every_element_is_an_iteration_s_own() {
    let module = step::ir();
    assert_eq!(module.functions.len(), 5);
    for (name, function) in &module.functions {
        let text = plan(&check(function.clone()).unwrap(), Standing::WRITTEN).to_string();
        let planned = |line: &&str| line.trim_start().starts_with("par ") || line.contains("in order");
        let lines: Vec<&str> = text.lines().filter(planned).collect();
        assert!(lines.len() > 4, "{name}: {text}");
        for line in lines {
            let sums =
                line.split([':', ',']).filter(|role| role.contains(" sum") && !role.contains("arg_bar"));
            assert!(sums.count() == 0 && !line.contains("in order"), "{name}: {line}");
            assert!(name.contains("step") || line.contains("linear"), "{name} isn't in lanes: {line}");
        }
    }
}

#[test]
fn every_device_has_the_same_bits() {
    let cells = (34, 5);
    let run = |d: &dyn Device| {
        let (medium, mut field, mut bars) = (medium(cells), field(cells, 0.4), zero_bars(cells));
        bars.0 .1.fill(Batch([1.0]));
        for _ in 0..3 {
            advance(d, &mut field, &medium, ([33, 2], 0.3))?;
        }
        let there = field.clone();
        let by_source = back(d, &mut field, &mut bars, &medium, ([33, 2], 0.3))?;
        let outputs = Outputs::new().with("u", &there.1).with("psi", &there.3);
        let outputs = outputs.with("u_bar", &bars.0 .1).with("c_bar", &bars.1).with("phi_bar", &bars.0 .2);
        Ok(outputs.with("by_source", &by_source))
    };
    let options = Options { deterministic: true, ..Options::default() };
    // not deterministic: there is no sum whose order could differ
    let cpus =
        [Cpu::with_threads(1), Cpu::with_threads(2).parallel_from(0), Cpu::with_threads(1).lanes(false)];
    let (interpreter, emulator) =
        (Interpreter::with_options(options.clone()), Emulator::new().with_options(options));
    let devices: [&dyn Device; 5] = [&interpreter, &emulator, &cpus[0], &cpus[1], &cpus[2]];
    for device in &devices[1..] {
        let outcome = compare([devices[0], *device], run).unwrap();
        assert!(outcome.identical(), "{}: {outcome}", device.name());
    }
}

/// A GPU takes the step by cells, whose sums have any order.
#[test]
fn the_step_by_cells_is_the_same_function() {
    for cells in [(1, 1), (1, 9), (5, 1), (34, 5), (40, 33)] {
        let run = |d: &dyn Device| {
            let (medium, mut field, mut bars) = (medium(cells), field(cells, 0.4), zero_bars(cells));
            bars.0 = field_of_bars(cells);
            for _ in 0..3 {
                advance(d, &mut field, &medium, ([0, 0], 0.3)).unwrap();
            }
            let there = field.clone();
            let by_source = back(d, &mut field, &mut bars, &medium, ([0, 0], 0.3)).unwrap();
            let found = all(&there).copied().collect::<Vec<_>>();
            let (bars, by_c) = (bars.0, bars.1);
            let bars = [bars.0, bars.1, bars.2, bars.3, by_c].into_iter().flatten().map(|bar| bar.0[0]);
            found.into_iter().chain(bars).chain([by_source]).collect::<Vec<f64>>()
        };
        let (by_rows, by_cells) = (run(&Cpu::new()), run(&Emulator::new()));
        for (a, b) in by_rows.iter().zip(&by_cells) {
            assert!(abs_diff_eq!(a, b, epsilon = 1e-10 * (1.0 + a.abs())), "{cells:?}: {a} {b}");
        }
    }
}

fn field_of_bars(cells: (usize, usize)) -> Field<rev_kernels::wave::Bar> {
    let field = field(cells, 1.1);
    let bars = |a: Array2<f64>| a.mapv(|v| Batch([v]));
    (bars(field.0), bars(field.1), bars(field.2), bars(field.3))
}

#[test]
fn a_source_outside_and_too_strong_a_layer_are_errors() {
    let cells = (4, 4);
    let mut medium = medium(cells);
    let error = advance(&Cpu::new(), &mut field(cells, 0.0), &medium, ([4, 0], 1.0)).unwrap_err();
    assert!(error.to_string().contains("before"), "{error}");
    medium.sigma[2] = 1.0 / medium.dt;
    let error = advance(&Cpu::new(), &mut field(cells, 0.0), &medium, ([0, 0], 1.0)).unwrap_err();
    assert!(error.to_string().contains("scale_by"), "{error}");
}
