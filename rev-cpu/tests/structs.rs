//! Structs that hold arrays of run-time shape and stacks, as arguments, ancillas and gradients.

#![allow(clippy::needless_range_loop)] // by index, as the programs are

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{arr2, Array2};
use rev_core::interp::Interpreter;
use rev_core::tolerance::Options;
use rev_cpu::prelude::*;

/// A layer: `tanh(w x + b)`.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Layer<T: Real> {
    w: Array2<T>,
    b: Vec<T>,
}

/// Two layers, a scale, and what is no number to differentiate by.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Net<T: Real> {
    first: Layer<T>,
    second: Layer<T>,
    scale: T,
    picks: Vec<usize>,
    calls: u32,
}

#[reversible(tangent)]
fn layer<T: Real>(y: &mut [T], layer: &Layer<T>, x: &[T]) {
    for i in 0..layer.w.nrows() {
        let mut s = T::zero();
        for j in 0..layer.w.ncols() {
            s += layer.w[[i, j]] * x[j];
        }
        s += layer.b[i];
        y[i] += s.tanh();
    }
}

#[reversible(tangent)]
fn loss<T: Real>(e: &mut T, net: &Net<T>, x: &[T]) {
    let mut h = vec![T::zero(); net.first.b.len()];
    let mut y = vec![T::zero(); net.second.b.len()];
    layer(&mut h, &net.first, &x);
    layer(&mut y, &net.second, &h);
    for k in 0..net.picks.len() {
        *e += net.scale * y[net.picks[k]].powi(2);
    }
}

fn net() -> (Net<f64>, Vec<f64>) {
    let first = Layer { w: arr2(&[[0.1, -0.2], [0.3, 0.4], [-0.5, 0.6]]), b: vec![0.05, -0.1, 0.2] };
    let second = Layer { w: arr2(&[[0.7, -0.3, 0.2], [0.1, 0.5, -0.6]]), b: vec![0.3, -0.4] };
    (Net { first, second, scale: 1.5, picks: vec![0, 1, 1], calls: 3 }, vec![0.8, -1.1])
}

/// The loss in plain Rust.
fn plain(net: &Net<f64>, x: &[f64]) -> f64 {
    let layer = |l: &Layer<f64>, x: &[f64]| -> Vec<f64> {
        (0..l.b.len())
            .map(|i| (l.b[i] + x.iter().enumerate().map(|(j, x)| l.w[[i, j]] * x).sum::<f64>()).tanh())
            .collect()
    };
    let y = layer(&net.second, &layer(&net.first, x));
    net.picks.iter().map(|&k| net.scale * y[k] * y[k]).sum()
}

#[test]
fn a_network_is_one_argument() {
    let (net, x) = net();
    let mut e = 0.0;
    loss(&mut e, &net, &x).unwrap();
    assert_abs_diff_eq!(e, plain(&net, &x), epsilon = 1e-14);
    loss::inverse(&mut e, &net, &x).unwrap();
    assert_abs_diff_eq!(e, 0.0, epsilon = 1e-15);
    let g = loss::gradient(&Cpu::new(), &net, &x).unwrap();
    assert_eq!(g, loss::gradient(&Interpreter::new(), &net, &x).unwrap());
    println!("{g:?}");
    assert!(loss::check_gradient(&Cpu::new(), &0.0, &net, &x).unwrap().passed());
}

#[reversible]
fn stir<T: Real>(net: &mut Net<T>, x: &[T], dt: T) {
    for i in 0..net.first.w.nrows() {
        for j in 0..net.first.w.ncols() {
            net.first.w[[i, j]] += dt * x[j];
        }
        net.first.b[i] -= net.scale;
    }
    swap(net.second.b[0], net.second.b[1]);
    inc(net.calls);
}

/// `w[i] += x[i] scale`, `total += w[i]²`, `bins[picks[i]] += w[i]`, elements in parallel.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Model<T: Real> {
    w: Vec<T>,
    scale: T,
    matrix: Array2<T>,
    bins: [T; 4],
    picks: Vec<usize>,
}

#[reversible(tangent)]
fn spread<T: Real>(model: &mut Model<T>, x: &[T]) {
    for i in par(0..x.len()) {
        model.w[i] += x[i] * model.scale;
    }
    for i in par(0..model.matrix.nrows()) {
        for j in 0..model.matrix.ncols() {
            model.matrix[[i, j]] += model.w[i] * x[j];
        }
    }
}

#[reversible(tangent)]
fn measured<T: Real>(total: &mut T, bins: &mut [T], model: &Model<T>) {
    for i in par(0..model.w.len()) {
        let mut t = T::zero();
        for j in 0..model.matrix.ncols() {
            t += model.matrix[[i, j]] * model.w[i];
        }
        *total += t * model.scale + model.bins[i % 4];
        bins[model.picks[i]] += t * t;
    }
}

#[reversible(tangent)]
fn whole<T: Real>(total: &mut T, bins: &mut [T], model: &Model<T>, x: &[T]) {
    let mut own = zeros_like(model);
    spread(&mut own, &x);
    measured(&mut total, &mut bins, &own);
    measured(&mut total, &mut bins, &model);
    for k in 0..bins.len() {
        *total += bins[k] * bins[k];
    }
}

fn model(n: usize) -> (Model<f64>, Vec<f64>) {
    let f = |k: usize| (k as f64 * 0.7).sin();
    let matrix = Array2::from_shape_fn((n, 3), |(i, j)| f(i * 3 + j + 5));
    let model = Model {
        w: (0..n).map(|k| f(k + 1)).collect(),
        scale: 0.6,
        matrix,
        bins: [0.1, 0.2, -0.3, 0.4],
        picks: (0..n).map(|k| k * k % 3).collect(),
    };
    (model, (0..n).map(|k| f(2 * k + 3)).collect())
}

#[test]
fn fields_are_used_by_parallel_loops() {
    let (start, x) = model(100);
    let mut expected = start.clone();
    for i in 0..100 {
        expected.w[i] += x[i] * start.scale;
    }
    for i in 0..100 {
        for j in 0..3 {
            expected.matrix[[i, j]] += expected.w[i] * x[j];
        }
    }
    let plain = |m: &Model<f64>, bins: &mut [f64; 3]| -> f64 {
        (0..100)
            .map(|i| {
                let t: f64 = (0..3).map(|j| m.matrix[[i, j]] * m.w[i]).sum();
                bins[m.picks[i]] += t * t;
                t * m.scale + m.bins[i % 4]
            })
            .sum()
    };
    let mut bins = [0.0; 3];
    let total = plain(&expected, &mut bins);
    for cpu in [
        Cpu::with_threads(1),
        Cpu::with_threads(3).parallel_from(0),
        Cpu::new().lanes(false),
        Cpu::new().checks(false),
    ] {
        let mut model = start.clone();
        spread::run(&cpu, &mut model, &x).unwrap();
        assert_eq!(model, expected);
        let (mut t, mut b) = (0.0, [0.0; 3]);
        measured::run(&cpu, &mut t, &mut b, &model).unwrap();
        assert_abs_diff_eq!(t, total, epsilon = 1e-12);
        assert_abs_diff_eq!(b[..], bins[..], epsilon = 1e-12);
        spread::run_inverse(&cpu, &mut model, &x).unwrap();
        assert_abs_diff_eq!(model.w[..], start.w[..], epsilon = 1e-14);
        assert!(whole::check_gradient(&cpu, &0.0, &[0.5; 3], &start, &x[..3]).unwrap().passed());
    }
}

/// Sums into a number, an element, elements by an index array, and all of the structs in an array.
#[reversible(tangent)]
fn collected<T: Real>(model: &mut Model<T>, units: &mut [Model<T>], unit: &Model<T>, x: &[T], k: &[usize]) {
    for i in par(0..x.len()) {
        model.scale += x[i] * x[i];
        model.bins[1] -= x[i];
        model.w[k[i]] += x[i] * unit.w[1];
        units[k[i]] += fields(unit);
        units[0].scale -= x[i];
    }
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Kept<T: Real> {
    total: T,
    count: usize,
    old: Stack<T>,
}

#[reversible(tangent)]
fn gathered<T: Real>(all: &mut [Kept<T>], one: &Kept<T>, k: &[usize]) {
    for i in par(0..k.len()) {
        all[k[i]] += fields(one);
    }
}

#[test]
fn sums_of_structs_with_stacks_run_on_threads() {
    let kept = |total, count, old: &[f64]| Kept { total, count, old: Stack::from(old.to_vec()) };
    let one = kept(0.5, 1, &[0.25, -1.0]);
    let start = [kept(f64::INFINITY, 3, &[f64::NAN, 2.0]), kept(0.0, 0, &[1.0, 2.0])];
    let k: Vec<usize> = (0..600).map(|i| i % 2).collect();
    let expected = "[Kept { total: inf, count: 303, old: Stack([NaN, -298.0]) }, Kept { total: 150.0, count: 300, old: Stack([76.0, -298.0]) }]";
    let fixed_order = Options { deterministic: true, ..Options::default() };
    let cpu = Cpu::with_threads(3).parallel_from(0);
    for device in [
        &cpu as &dyn Device,
        &cpu.clone().deterministic(true),
        &cpu.clone().checks(false),
        &Interpreter::with_options(fixed_order),
    ] {
        let mut all = start.clone();
        gathered::run(device, &mut all, &one, &k).unwrap();
        assert_eq!(format!("{all:?}"), expected, "{}", device.name());
    }
}

#[test]
fn sums_into_fields_run_on_threads() {
    let (start, x) = model(600);
    let k: Vec<usize> = (0..600).map(|i| i * i % 3).collect();
    let unit = model(3).0;
    let bits = |device: &dyn Device| {
        let (mut model, mut units) = (start.clone(), vec![unit.clone(); 3]);
        collected::run(device, &mut model, &mut units, &unit, &x, &k).unwrap();
        let there = format!("{model:?} {units:?}");
        collected::run_inverse(device, &mut model, &mut units, &unit, &x, &k).unwrap();
        assert_abs_diff_eq!(model.scale, start.scale, epsilon = 1e-10);
        assert_abs_diff_eq!(model.w[..], start.w[..], epsilon = 1e-12);
        there
    };
    let first = bits(&Interpreter::with_options(Options { deterministic: true, ..Options::default() }));
    for threads in [1, 3] {
        let cpu = Cpu::with_threads(threads).parallel_from(0);
        bits(&cpu);
        assert_eq!(bits(&cpu.clone().deterministic(true)), first);
        assert_eq!(bits(&cpu.deterministic(true).checks(false)), first);
    }
}

/// Its adjoint adds to the cotangents of all of `by`.
#[reversible(tangent)]
fn driven<T: Real>(unit: &mut Kept<T>, by: &Kept<T>, x: T) {
    *unit += fields(by);
    unit.total += by.total * x;
}

#[reversible(tangent)]
fn all_driven<T: Real>(units: &mut [Kept<T>], by: &Kept<T>, x: &[T]) {
    for i in par(0..x.len()) {
        driven(&mut units[i], &by, x[i]);
    }
}

/// What called functions add to a struct is summed like what the loop itself adds, where cotangents are numbers too.
#[test]
fn sums_into_fields_by_calls_have_one_order() {
    const N: usize = 600;
    let number = |i: usize| ((i * 37) % 64) as f64 / 64.0 - 0.4371;
    let kept = |i: usize| Kept { total: number(i), count: i, old: Stack::from(vec![number(i + 1), 0.1]) };
    let (units, by): (Vec<_>, _) = ((0..N).map(kept).collect(), kept(N));
    let x: Vec<f64> = (0..N).map(|i| number(i + 2)).collect();
    let bits = |device: &dyn Device| {
        let (mut units, mut units_bar, mut by_bar) = (units.clone(), units.clone(), by.clone());
        let mut units_dot: Vec<_> = units.iter().map(Primal::zero_shadow::<1>).collect();
        units_dot.iter_mut().for_each(|unit| unit.total = Batch([0.7]));
        let (mut units_bar_dot, by_dot) = (units_dot.clone(), by.zero_shadow::<1>());
        let mut by_bar_dot = by_dot.clone();
        let (x_dot, mut x_bar) = (vec![Batch([0.3]); N], vec![0.0; N]);
        let mut x_bar_dot = vec![Batch([0.0]); N];
        all_driven::adjoint_tangents(
            device,
            &mut units,
            &mut units_dot,
            &mut units_bar,
            &mut units_bar_dot,
            &by,
            &by_dot,
            &mut by_bar,
            &mut by_bar_dot,
            &x,
            &x_dot,
            &mut x_bar,
            &mut x_bar_dot,
        )
        .unwrap();
        let expected = by.total + (0..N).map(|i| number(i) * (1.0 + x[i])).sum::<f64>();
        assert_abs_diff_eq!(by_bar.total, expected, epsilon = 1e-10);
        format!("{units:?} {units_bar:?} {by_bar:?} {by_bar_dot:?} {x_bar:?} {x_bar_dot:?}")
    };
    let first = bits(&Interpreter::with_options(Options { deterministic: true, ..Options::default() }));
    for threads in [1, 3] {
        let cpu = Cpu::with_threads(threads).parallel_from(0);
        bits(&cpu);
        assert_eq!(bits(&cpu.clone().deterministic(true)), first);
        assert_eq!(bits(&cpu.deterministic(true).checks(false)), first);
    }
}

#[test]
fn shapes_have_to_fit() {
    let (model, x) = model(4);
    let mut short = model.clone();
    short.w.pop();
    let error = measured::jvp(&Cpu::new(), &0.0, &[0.0; 3], &short, &0.0, &[0.0; 3], &model).unwrap_err();
    println!("{error}");
    assert!(error.to_string().contains("`model_dot.w` must have the shape [4] and has [3]"), "{error}");
    let _ = x;
}

/// Products, parts, calls on fields, lengths, exchanges, a stack.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Unit<T: Real> {
    w: Array2<T>,
    state: Vec<T>,
    old: Stack<T>,
    pairs: Vec<(T, T)>,
    table: [[T; 2]; 2],
    at: (T, bool),
}

#[reversible(tangent)]
fn scaled<T: Real>(y: &mut [T], x: ndarray::ArrayView1<T>, c: T) {
    for k in 0..y.len() {
        y[k] += c * x[k];
    }
}

#[reversible(tangent)]
fn evolve<T: Real>(cell: &mut Unit<T>, other: &mut Unit<T>, x: &[T]) {
    cell.state += matvec(other.w, x);
    strict_lower(cell.w) += matmul(other.w, other.w.t());
    cell.w += entries(other.w);
    scaled(&mut cell.state, &other.w.row(0), x[1]);
    scaled(&mut other.state, &cell.w.column(1), x[0]);
    cell.w += outer(x, other.state);
    swap(cell.state, other.state);
    swap(cell.at, other.at);
    let n = cell.state.len();
    for i in 0..n {
        cell.pairs[i].0 += cell.state[i] * cell.table[i][0];
        cell.pairs[i].1 -= x[i];
        swap(cell.pairs[i].0, other.pairs[n - 1 - i].1);
        cell.table[i][1] += cell.state[n - 1 - i];
    }
    cell.state[0] += other.state[1];
    other.at.0 += dot(cell.state, other.state) + cell.w.dim(0) as f64 as T;
    other.at.1 ^= cell.at.1;
}

/// A state that is overwritten is kept on a stack.
#[reversible]
fn remember<T: Real>(cell: &mut Unit<T>, e: &mut T, x: &[T]) {
    push(cell.old, cell.state[0]);
    cell.state[0] += x[0] + cell.state[1];
    *e += cell.state[0] * cell.state[0];
}

#[reversible]
fn remembered<T: Real>(e: &mut T, cell: &Unit<T>, x: &[T]) {
    let mut own = zeros_like(cell);
    let mut square = T::zero();
    #[compute]
    {
        own += fields(cell);
        remember(&mut own, &mut square, &x);
    }
    *e += square;
}

/// A loss of all of it.
#[reversible(tangent)]
fn energy<T: Real>(e: &mut T, cell: &Unit<T>, other: &Unit<T>, x: &[T]) {
    let mut a = zeros_like(cell);
    let mut b = zeros_like(other);
    a += fields(cell);
    b += fields(other);
    evolve(&mut a, &mut b, &x);
    for i in par(0..2) {
        for j in 0..2 {
            *e += a.w[[i, j]].powi(2) * b.w[[j, i]] + a.table[i][j] * a.state[i] + b.state[j];
        }
        *e += a.pairs[i].0 * b.pairs[i].1 + b.pairs[i].0 * a.at.0 + b.at.0;
    }
}

fn cells() -> (Unit<f64>, Unit<f64>, [f64; 2]) {
    let cell = |s: f64| Unit {
        w: arr2(&[[s, 2.0 - s], [0.3 * s, -1.0]]),
        state: vec![0.5 + s, -0.25],
        old: Stack::new(),
        pairs: vec![(0.1, 0.2 * s), (0.3, -0.4)],
        table: [[1.5, s], [-s, 0.5]],
        at: (0.7 * s, s > 0.5),
    };
    (cell(0.4), cell(0.9), [0.6, -1.2])
}

fn close(a: &Unit<f64>, b: &Unit<f64>) -> bool {
    let near = |a: f64, b: f64| abs_diff_eq!(a, b, epsilon = 1e-12);
    a.w.iter().zip(&b.w).chain(a.state.iter().zip(&b.state)).all(|(a, b)| near(*a, *b))
        && a.pairs.iter().zip(&b.pairs).all(|(a, b)| near(a.0, b.0) && near(a.1, b.1))
        && a.table.as_flattened().iter().zip(b.table.as_flattened()).all(|(a, b)| near(*a, *b))
        && near(a.at.0, b.at.0)
        && (a.at.1, a.old.len()) == (b.at.1, b.old.len())
}

#[test]
fn everything_that_arrays_can_do() {
    let (start, beside, x) = cells();
    let (mut a, mut b) = (start.clone(), beside.clone());
    evolve(&mut a, &mut b, &x).unwrap();
    let (mut c, mut d) = (start.clone(), beside.clone());
    evolve::run(&Interpreter::new(), &mut c, &mut d, &x).unwrap();
    assert_eq!((&a, &b), (&c, &d));
    // by hand
    let (mut p, mut q) = (start.clone(), beside.clone());
    for i in 0..2 {
        p.state[i] += q.w[[i, 0]] * x[0] + q.w[[i, 1]] * x[1];
    }
    p.w[[1, 0]] += q.w[[1, 0]] * q.w[[0, 0]] + q.w[[1, 1]] * q.w[[0, 1]];
    p.w += &q.w;
    for k in 0..2 {
        p.state[k] += x[1] * q.w[[0, k]];
    }
    for k in 0..2 {
        q.state[k] += x[0] * p.w[[k, 1]];
    }
    for i in 0..2 {
        for j in 0..2 {
            p.w[[i, j]] += x[i] * q.state[j];
        }
    }
    std::mem::swap(&mut p.state, &mut q.state);
    std::mem::swap(&mut p.at, &mut q.at);
    for i in 0..2 {
        p.pairs[i].0 += p.state[i] * p.table[i][0];
        p.pairs[i].1 -= x[i];
        std::mem::swap(&mut p.pairs[i].0, &mut q.pairs[1 - i].1);
        p.table[i][1] += p.state[1 - i];
    }
    p.state[0] += q.state[1];
    q.at.0 += p.state[0] * q.state[0] + p.state[1] * q.state[1] + 2.0;
    q.at.1 ^= p.at.1;
    assert!(close(&a, &p) && close(&b, &q), "{a:?} {p:?}");
    evolve::inverse(&mut a, &mut b, &x).unwrap();
    assert!(close(&a, &start) && close(&b, &beside));
    for cpu in [Cpu::new(), Cpu::with_threads(3).parallel_from(0), Cpu::new().checks(false)] {
        assert!(energy::check_gradient(&cpu, &0.0, &start, &beside, &x).unwrap().passed());
        let g = energy::gradient(&cpu, &start, &beside, &x).unwrap();
        let i = energy::gradient(&Interpreter::new(), &start, &beside, &x).unwrap();
        assert_abs_diff_eq!(g.value, i.value, epsilon = 1e-12);
        let of = |s: &UnitShadow<f64, 1>| Unit::of_tangent(s, &start).unwrap();
        assert!(close(&of(&g.cell), &of(&i.cell)) && close(&of(&g.other), &of(&i.other)));
    }
}

#[test]
fn the_shadow_of_a_stack_has_its_height() {
    let (start, _, x) = cells();
    let (mut cell, mut e) = (start.clone(), 0.0);
    remember(&mut cell, &mut e, &x).unwrap();
    let (mut bar, mut e_bar, mut x_bar) = (start.zero_shadow::<1>(), Batch([1.0]), [Batch([0.0]); 2]);
    let error =
        remember::adjoint(&Cpu::new(), &mut cell, &mut bar, &mut e, &mut e_bar, &x, &mut x_bar).unwrap_err();
    assert!(error.to_string().contains("`cell_bar.old` must have the shape [1] and has [0]"), "{error}");
    for device in [Cpu::new(), Cpu::new().checks(false)] {
        let g = remembered::gradient(&device, &start, &x).unwrap();
        assert_eq!(g.x, [2.0 * (x[0] + start.state[1]), 0.0]);
        assert!(remembered::check_gradient(&device, &0.0, &start, &x).unwrap().passed());
    }
}

#[test]
fn directions_are_structs() {
    let (cell, other, x) = cells();
    let zero = |c: &Unit<f64>| c.zero_like();
    let mut direction = zero(&cell);
    direction.w[[0, 1]] = 1.0;
    direction.state[1] = -2.0;
    direction.pairs[0].1 = 0.5;
    let v = energy::jvp(&Cpu::new(), &0.0, &direction, &zero(&other), &[0.0; 2], &0.0, &cell, &other, &x)
        .unwrap();
    let g = energy::gradient(&Cpu::new(), &cell, &other, &x).unwrap();
    let slope = g.cell.w[[0, 1]].get() - 2.0 * g.cell.state[1].get() + 0.5 * g.cell.pairs[0].1.get();
    assert_abs_diff_eq!(v.e_dot, slope, epsilon = 1e-12);
    // the Hessian times the direction, against the difference of gradients
    let h = energy::hvp(&Cpu::new(), &direction, &zero(&other), &[0.0; 2], &cell, &other, &x).unwrap();
    let at = |s: f64| {
        let mut moved = cell.clone();
        moved.w[[0, 1]] += s;
        moved.state[1] -= 2.0 * s;
        moved.pairs[0].1 += 0.5 * s;
        Unit::of_tangent(&energy::gradient(&Cpu::new(), &moved, &other, &x).unwrap().cell, &cell).unwrap()
    };
    let (up, down) = (at(1e-5), at(-1e-5));
    let product = Unit::of_tangent(&h.cell, &cell).unwrap();
    for i in 0..2 {
        for j in 0..2 {
            assert_abs_diff_eq!(product.w[[i, j]], (up.w[[i, j]] - down.w[[i, j]]) / 2e-5, epsilon = 1e-7);
        }
        assert_abs_diff_eq!(product.state[i], (up.state[i] - down.state[i]) / 2e-5, epsilon = 1e-7);
    }
}

/// Layers in a vector, the private state of an iteration, of any length.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Deep<T: Real> {
    layers: Vec<Layer<T>>,
    rates: Vec<T>,
}

#[reversible(tangent)]
fn deep<T: Real>(y: &mut [T], net: &Deep<T>, x: &[T]) {
    for i in par(0..y.len()) {
        // a copy of its own, which is made and taken back for each iteration
        let mut own = zeros_like(net);
        let mut h = vec![T::zero(); 2];
        own += fields(net);
        own.rates[0] += x[i];
        own.layers[0].b[0] += x[i] * net.rates[1];
        for k in 0..own.layers.len() {
            layer(&mut h, &own.layers[k], &own.rates);
        }
        y[i] += h[0] * h[1] + net.layers[0].w[[0, 1]];
    }
}

#[reversible(tangent)]
fn deep_loss<T: Real>(e: &mut T, net: &Deep<T>, x: &[T]) {
    let mut y = vec![T::zero(); x.len()];
    deep(&mut y, &net, &x);
    *e += dot(y, y);
}

#[test]
fn structs_in_vectors_and_in_iterations() {
    let l = |s: f64| Layer { w: arr2(&[[s, 0.1], [-0.3, 0.2 * s]]), b: vec![0.1, s] };
    let net = Deep { layers: vec![l(0.5), l(-0.7), l(0.9)], rates: vec![0.3, -0.6] };
    let x: Vec<f64> = (0..40).map(|k| (k as f64).cos()).collect();
    let mut expected = vec![0.0; 40];
    for (i, y) in expected.iter_mut().enumerate() {
        let mut own = net.clone();
        own.rates[0] += x[i];
        own.layers[0].b[0] += x[i] * net.rates[1];
        let mut h = [0.0; 2];
        for l in &own.layers {
            for (k, h) in h.iter_mut().enumerate() {
                *h += (l.b[k] + l.w[[k, 0]] * own.rates[0] + l.w[[k, 1]] * own.rates[1]).tanh();
            }
        }
        *y = h[0] * h[1] + net.layers[0].w[[0, 1]];
    }
    for cpu in [Cpu::with_threads(1), Cpu::with_threads(3).parallel_from(0), Cpu::new().checks(false)] {
        let mut y = vec![0.0; 40];
        deep::run(&cpu, &mut y, &net, &x).unwrap();
        assert_abs_diff_eq!(y[..], expected[..], epsilon = 1e-12);
        assert!(deep_loss::check_gradient(&cpu, &0.0, &net, &x[..5]).unwrap().passed());
    }
    let g = deep_loss::gradient(&Cpu::new(), &net, &x[..5]).unwrap();
    let i = deep_loss::gradient(&Interpreter::new(), &net, &x[..5]).unwrap();
    assert_abs_diff_eq!(g.net.layers[2].w[[1, 0]].get(), i.net.layers[2].w[[1, 0]].get(), epsilon = 1e-12);
}

/// A point.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Point<T: Real> {
    x: T,
    y: T,
    seen: bool,
}

#[reversible(tangent)]
fn between<T: Real>(d: &mut T, p: &Point<T>, q: &Point<T>) {
    *d += (p.x - q.x).powi(2) + (p.y - q.y).powi(2);
}

#[reversible(tangent)]
fn moved<T: Real>(d: &mut T, p: &mut Point<T>, points: &mut [Point<T>], a: T, b: T) {
    let q = Point::<T> { x: a, y: b * 2.0, seen: false };
    between(&mut d, &p, &q);
    between(&mut d, &Point::<T> { x: q.y, y: 1.0, seen: true }, p);
    *p += Point { x: a * b, y: q.x, seen: true };
    *p -= fields(q);
    for i in par(0..points.len()) {
        points[i] += fields(p);
    }
    swap(p, points[0]);
}

#[test]
fn whole_structs() {
    let point = |x, y, seen| Point { x, y, seen };
    let start = (0.5, point(1.0, 2.0, true), vec![point(3.0, 4.0, false), point(5.0, 6.0, true)]);
    let (mut d, mut p, mut points) = start.clone();
    moved(&mut d, &mut p, &mut points, 0.3, 0.7).unwrap();
    assert_abs_diff_eq!(d, 0.5 + 0.7f64.powi(2) + 0.6f64.powi(2) + 0.4f64.powi(2) + 1.0, epsilon = 1e-12);
    let end = (1.0 + 0.3 * 0.7 - 0.3, 2.0 + 0.3 - 1.4);
    let near = |p: &Point<f64>, x: f64, y: f64, seen| {
        abs_diff_eq!(p.x, x, epsilon = 1e-12) && abs_diff_eq!(p.y, y, epsilon = 1e-12) && p.seen == seen
    };
    assert!(near(&points[0], end.0, end.1, false));
    assert!(near(&p, 3.0 + end.0, 4.0 + end.1, false) && near(&points[1], 5.0 + end.0, 6.0 + end.1, true));
    let mut i = start.clone();
    moved::run(&Interpreter::new(), &mut i.0, &mut i.1, &mut i.2, 0.3, 0.7).unwrap();
    assert_eq!((d, &p, &points), (i.0, &i.1, &i.2));
    moved::inverse(&mut d, &mut p, &mut points, 0.3, 0.7).unwrap();
    assert_abs_diff_eq!(d, 0.5, epsilon = 1e-12);
    assert!(near(&p, 1.0, 2.0, true));
    assert!(near(&points[1], 5.0, 6.0, true));
    for device in [Cpu::new(), Cpu::new().checks(false), Cpu::with_threads(2).parallel_from(0)] {
        assert!(moved::check_gradient(&device, &start.0, &start.1, &start.2, 0.3, 0.7).unwrap().passed());
    }
}

/// `N` outputs of `M` inputs, and how often it ran.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Dense<T: Real, const N: usize, const M: usize> {
    w: [[T; M]; N],
    b: [T; N],
    seen: Vec<T>,
}

#[reversible(tangent)]
fn dense<T: Real, const N: usize, const M: usize>(y: &mut [T; N], layer: &Dense<T, N, M>, x: &[T; M]) {
    for i in 0..N {
        for j in 0..M {
            y[i] += layer.w[i][j] * x[j];
        }
        y[i] += layer.b[i] * layer.seen[i];
    }
}

#[reversible(tangent)]
fn dense_loss<T: Real, const N: usize>(
    e: &mut T,
    first: &Dense<T, N, 2>,
    second: &Dense<T, 1, N>,
    x: &[T; 2],
) {
    let mut h = [T::zero(); N];
    let mut y = [T::zero(); 1];
    dense(&mut h, &first, &x);
    dense(&mut y, &second, &h);
    *e += y[0] * y[0];
}

#[test]
fn const_generic_structs() {
    let first = Dense { w: [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]], b: [1.0, 2.0, 3.0], seen: vec![0.5; 3] };
    let second = Dense { w: [[0.7, 0.8, -0.9]], b: [0.1], seen: vec![2.0] };
    let x = [1.5, -0.5];
    let h: Vec<f64> =
        (0..3).map(|i| first.w[i][0] * x[0] + first.w[i][1] * x[1] + first.b[i] * 0.5).collect();
    let y = 0.7 * h[0] + 0.8 * h[1] - 0.9 * h[2] + 0.2;
    let mut e = 0.0;
    dense_loss(&mut e, &first, &second, &x).unwrap();
    assert_abs_diff_eq!(e, y * y, epsilon = 1e-12);
    let g = dense_loss::gradient(&Cpu::new(), &first, &second, &x).unwrap();
    assert_abs_diff_eq!(g.second.w[0][1].get(), 2.0 * y * h[1], epsilon = 1e-12);
    assert_abs_diff_eq!(g.first.seen[2].get(), 2.0 * y * -0.9 * 3.0, epsilon = 1e-12);
    let i = dense_loss::gradient(&Interpreter::new(), &first, &second, &x).unwrap();
    assert_eq!((g.value, &g.first.w, &g.second.seen), (i.value, &i.first.w, &i.second.seen));
}

#[reversible(constant(net))]
fn of_data<T: Real>(e: &mut T, net: &Net<T>, scale: T) {
    for k in 0..net.picks.len() {
        *e += scale * net.first.b[net.picks[k]] * net.scale;
    }
}

#[test]
fn a_struct_can_be_constant() {
    let (net, _) = net();
    let g = of_data::gradient(&Cpu::new(), &net, 2.0).unwrap();
    assert_eq!(g.net, ());
    assert_abs_diff_eq!(g.scale, 1.5 * (0.05 - 0.1 - 0.1), epsilon = 1e-15);
}

/// Layers that are moved to a stack and back.
#[reversible]
fn kept<T: Real>(a: &mut Layer<T>, b: &mut Layer<T>) {
    let mut old = Stack::new();
    push(old, a);
    swap(a, b);
    pop(old, b);
    release(old);
}

#[test]
fn shapes_stay_as_they_are() {
    let a = Layer { w: arr2(&[[1.0, 2.0]]), b: vec![3.0] };
    let b = Layer { w: arr2(&[[4.0, 5.0]]), b: vec![6.0] };
    let (mut p, mut q) = (a.clone(), b.clone());
    kept(&mut p, &mut q).unwrap();
    assert_eq!((&p, &q), (&b, &a));
    kept::inverse(&mut p, &mut q).unwrap();
    assert_eq!((&p, &q), (&a, &b));
    kept::run(&Interpreter::new(), &mut p, &mut q).unwrap();
    assert_eq!((&p, &q), (&b, &a));
    // a layer of another shape can't take the place of one
    for checks in [true, false] {
        let long = Layer { w: arr2(&[[4.0, 5.0]]), b: vec![6.0, 7.0] };
        let cpu = Cpu::new().checks(checks);
        let errors = [
            kept::run(&cpu, &mut p.clone(), &mut long.clone()).unwrap_err().to_string(),
            kept::run(&Interpreter::new(), &mut p.clone(), &mut long.clone()).unwrap_err().to_string(),
        ];
        println!("{errors:?}");
        assert!(errors.iter().all(|e| e.contains("must have the shape [1] and has [2]")));
    }
}

#[reversible]
fn added<T: Real>(a: &mut Layer<T>, b: &Layer<T>) {
    *a += fields(b);
}

#[test]
fn sums_of_structs_compare_shapes() {
    let mut a = Layer { w: arr2(&[[1.0, 2.0]]), b: vec![3.0] };
    let b = Layer { w: arr2(&[[4.0], [5.0]]), b: vec![6.0] };
    let error = added(&mut a, &b).unwrap_err().to_string();
    assert!(error.contains("a.w` must have the shape [1, 2] and has [2, 1]"), "{error}");
    let error = added::run(&Interpreter::new(), &mut a, &b).unwrap_err().to_string();
    assert!(error.contains("must have the shape [1, 2] and has [2, 1]"), "{error}");
    let c = a.clone();
    added(&mut a, &c).unwrap();
    assert_eq!(a, Layer { w: arr2(&[[2.0, 4.0]]), b: vec![6.0] });
    added::inverse(&mut a, &c).unwrap();
    assert_eq!(a, c);
}

#[reversible(tangent, adjoint)]
fn pushed<T: Real>(old: &mut Stack<T>, y: &mut T, x: T) {
    *y += x * x;
    push(old, y);
    *y += x;
}

#[reversible(tangent)]
fn of_pushed<T: Real>(e: &mut T, x: T) {
    let mut old = Stack::new();
    let mut y = T::zero();
    let mut z = T::zero();
    #[compute]
    {
        pushed(&mut old, &mut y, x);
        pop(old, z);
    }
    *e += y * z;
}

#[test]
fn what_a_called_function_pushed_has_a_gradient() {
    let g = of_pushed::gradient(&Cpu::new(), 2.0).unwrap();
    assert_eq!((g.value, g.x), (8.0, 12.0));
    assert_eq!(of_pushed::gradient(&Interpreter::new(), 2.0).unwrap().x, 12.0);
    // of x³: the cotangents of the stack are numbers here, and as high as the stack
    assert_eq!(of_pushed::hvp(&Cpu::new(), 1.0, 2.0).unwrap().x, 12.0);
    assert_eq!(of_pushed::hvp(&Interpreter::new(), 1.0, 2.0).unwrap().x, 12.0);
}

/// The sum of x y³ over pairs that are taken from a stack.
#[reversible(tangent)]
fn taken<T: Real>(e: &mut T, values: &mut Stack<T>, y: T, n: usize) {
    let mut x = T::zero();
    for _ in 0..n {
        pop(values, x);
        *e += x * y * y * y;
        push(values, x);
    }
    pop(values, x);
    *e += x * x;
    push(values, x);
}

#[test]
fn a_stack_that_comes_filled_has_tangents_and_second_derivatives() {
    let values = Stack::from(vec![5.0, 2.0]);
    let along = Stack::from(vec![7.0, 0.5]);
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let found = taken::jvp(device, &0.0, &along, 3.0, &1.0, &values, 2.0, 3).unwrap();
        // 3 x y³ + x² at x = 2, y = 2 along (1/2, 3)
        assert_eq!((found.e, found.e_dot), (53.0, 1.0 * 24.0 * 0.5 + 3.0 * 2.0 * 12.0 * 3.0 + 2.0));
        assert_eq!(found.values_dot, along);
        let h = taken::hvp(device, &along, 3.0, &values, 2.0, 3).unwrap();
        // the second derivatives: by x twice 2, by x and y 9 y², by y twice 18 x y
        assert_eq!(h.y, 36.0 * 0.5 + 72.0 * 3.0);
        assert_eq!(h.values, Stack::from(vec![0.0, 2.0 * 0.5 + 36.0 * 3.0]));
    }
}
