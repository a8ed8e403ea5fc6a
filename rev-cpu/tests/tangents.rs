//! Tangents and adjoints of compiled programs as functions: jvp, Hessians, sparse ones too, and calls in programs.

use approx::relative_eq;
use ndarray::ArrayView2;
use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

#[reversible(tangent)]
fn rosenbrock<T: Real>(y: &mut T, x: &[T]) {
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = T::one() - x[i];
        *y += a * a * T::from_f64(100.0) + b * b;
    }
}

#[test]
fn rosenbrock_by_hand() {
    let x = [0.5, -0.25, 1.5];
    let v = [1.0, 2.0, -1.0];
    let cpu = Cpu::new();
    let jvp = rosenbrock::jvp(&cpu, &0.0, &v, &0.0, &x).unwrap();
    let gradient = rosenbrock::gradient(&cpu, &x).unwrap();
    let slope: f64 = gradient.x.iter().zip(&v).map(|(g, v)| g * v).sum();
    assert!(relative_eq!(jvp.y_dot, slope, epsilon = 0.0, max_relative = 1e-12), "{jvp:?} {slope}");
    let (g, h) = rosenbrock::gradient_and_hvp(&cpu, &v, &x).unwrap();
    assert_eq!(g.x, gradient.x);
    assert_eq!(g.value, gradient.value);
    // the Hessian by hand
    let diagonal = |i: usize| {
        let mut d = 0.0;
        if i + 1 < 3 {
            d += 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0;
        }
        if i > 0 {
            d += 200.0;
        }
        d
    };
    for i in 0..3 {
        let mut expected = diagonal(i) * v[i];
        if i > 0 {
            expected += -400.0 * x[i - 1] * v[i - 1];
        }
        if i + 1 < 3 {
            expected += -400.0 * x[i] * v[i + 1];
        }
        assert!(relative_eq!(h.x[i], expected, epsilon = 1e-10, max_relative = 1e-10), "{h:?} {expected}");
    }
}

#[test]
fn directions_side_by_side() {
    let x = [0.5, -0.25, 1.5];
    let directions = [[1.0, 2.0, -1.0], [0.0, 1.0, 0.0], [-0.5, 0.25, 3.0]];
    let batch: Vec<Batch<f64, 3>> = (0..3).map(|k| Batch(directions.map(|v| v[k]))).collect();
    let still = Batch([0.0, 1.0, 0.0]);
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let all = rosenbrock::jvp_batch::<f64, 3>(device, still, &batch, &2.0, &x).unwrap();
        let products = rosenbrock::hvp_batch::<f64, 3>(device, &batch, &x).unwrap();
        for (k, v) in directions.iter().enumerate() {
            let hvp = rosenbrock::hvp(device, v, &x).unwrap();
            hvp.x.iter().zip(&products.x).for_each(|(one, all)| near(*one, all.0[k]));
            let one = rosenbrock::jvp(device, &still.0[k], v, &2.0, &x).unwrap();
            assert_eq!(one.y, all.y);
            near(one.y_dot, all.y_dot.0[k]);
        }
    }
    let short = rosenbrock::jvp_batch::<f64, 3>(&Cpu::new(), still, &batch[..2], &2.0, &x).unwrap_err();
    assert!(short.to_string().contains("x_dot"), "{short}");
}

/// A struct, a complex number, a fixed array, an integer, and a product that calls another function.
#[reversible(tangent)]
fn mixed<T: Real>(y: &mut T, z: &mut Complex<T>, layer: &Layer<T>, x: ArrayView2<T>, n: usize) {
    for i in 0..n {
        let a = layer.weight[0] * x[[i, 0]] + layer.weight[1] * x[[i, 1]] + layer.bias;
        *y += a.sin();
        *z += complex(a * a, x[[i, 1]]);
        let mut all = vec![T::zero(); 3];
        all[0] += a;
        all[1] += x[[i, 0]];
        all[2] += x[[i, 1]];
        rosenbrock(&mut *y, &all);
    }
}

#[test]
fn matrices_eight_directions_at_a_time_are_products_one_by_one() {
    let layer = Layer { weight: [0.3, -0.7], bias: 0.2, steps: 4 };
    let x = ndarray::arr2(&[[0.5, 1.5], [-0.25, 0.75], [1.25, -1.0], [0.1, 0.2]]);
    let still = Layer { weight: [0.0; 2], bias: 0.0, steps: 0 };
    let zero = Complex::new(0.0, 0.0);
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let all = mixed::jacobian(device, &0.0, &zero, &layer, x.view(), 4).unwrap();
        assert_eq!(all.matrix().dim(), (3, 14));
        let whole = mixed::hessian(device, &zero, &layer, x.view(), 4).unwrap();
        assert_eq!(whole.matrix().dim(), (13, 13));
        for k in 0..8 {
            let mut unit = ndarray::Array2::zeros((4, 2));
            unit[[k / 2, k % 2]] = 1.0;
            let one = mixed::jvp(device, &0.0, &zero, &still, unit.view(), &0.0, &zero, &layer, x.view(), 4)
                .unwrap();
            let column = all.matrix().column(6 + k).to_vec();
            [one.y_dot, one.z_dot.re, one.z_dot.im].iter().zip(&column).for_each(|(a, b)| near(*a, *b));
            let (_, one) =
                mixed::gradient_and_hvp(device, &zero, &still, unit.view(), &zero, &layer, x.view(), 4)
                    .unwrap();
            let again = mixed::hvp(device, &zero, &still, unit.view(), &zero, &layer, x.view(), 4).unwrap();
            let numbers = [one.z.re, one.z.im].into_iter().chain(one.layer.weight.map(|v| v.get()));
            let numbers = numbers.chain([one.layer.bias.get()]).chain(one.x.iter().copied());
            numbers.zip(whole.matrix().column(5 + k)).for_each(|(a, b)| near(a, *b));
            again.x.iter().zip(&one.x).for_each(|(a, b)| near(*a, *b));
        }
    }
}

#[pure]
fn round_point<T: Real>(r: T, a: T) -> (T, T) {
    (r * a.cos(), r * a.sin())
}

/// One of two results is used, in lanes.
#[reversible(tangent)]
fn heights<T: Real>(y: &mut [T], x: &[T]) {
    for i in par(0..y.len()) {
        let n = round_point(T::from_f64(0.5), x[i].sigmoid());
        y[i] -= n.1;
    }
}

#[test]
fn a_result_that_is_not_used_has_a_tangent_of_its_type() {
    let (x, still) = (vec![0.25; 40], vec![0.0; 40]);
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let found = heights::jvp(device, &still, &[1.0; 40], &still, &x).unwrap();
        let slope = |h: f64| -0.5 * (1.0 / (1.0 + (-(0.25 + h)).exp())).sin();
        found.y_dot.iter().for_each(|v| near(*v, difference(slope)));
    }
}

/// A branch that is constant, of tuples, nested ones and arrays.
#[reversible(tangent, taylor = 2)]
fn constant_arms<T: Real>(y: &mut T, z: &mut [T; 2], x: T, n: usize) {
    let (p, q) = if n > 1 { (x, x * x) } else { (T::one(), T::zero()) };
    *y += p * q;
    let (p, k) = match n {
        1 => (T::one(), 0usize),
        _ => (x, n),
    };
    *y += p * p * T::from_usize(k);
    let t = if n > 1 { (x, (T::one(), T::from_f64(3.0))) } else { (T::from_f64(4.0), (T::one(), x)) };
    *y += t.0 * t.1 .0 * t.1 .1 * x;
    let a = if n > 1 { [x.recip(), x * x] } else { [T::one(); 2] };
    *y += a[0] * a[1] * x;
    let given = (T::from_f64(5.0), T::one());
    let (p, q) = if n < 2 { given } else { (x, x * x) };
    *y += p * q;
    (z[0], z[1]) += if n > 1 { (x, x * x) } else { (T::one(), T::zero()) };
}

#[test]
fn a_branch_that_is_constant_as_a_whole_has_a_tangent_of_its_form() {
    let x = 0.75_f64;
    // 2x³ + 6x² and 4x² + x + 5
    let many = [2.0 * x * x * x + 6.0 * x * x, 6.0 * x * x + 12.0 * x, 12.0 * x + 12.0];
    let one = [4.0 * x * x + x + 5.0, 8.0 * x + 1.0, 8.0];
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        for (n, y, z_dot) in [(2, many, [1.0, 2.0 * x]), (1, one, [0.0; 2])] {
            let zero = [0.0; 2];
            let found = constant_arms::jvp(device, &0.0, &zero, 1.0, &0.0, &zero, x, n).unwrap();
            near(found.y, y[0]);
            near(found.y_dot, y[1]);
            found.z_dot.iter().zip(z_dot).for_each(|(a, b)| near(*a, b));
            let (g, h) = constant_arms::gradient_and_hvp(device, &zero, 1.0, &zero, x, n).unwrap();
            near(g.value, y[0]);
            near(g.x, y[1]);
            near(h.x, y[2]);
            let found = constant_arms::directional(device, &0.0, &zero, 1.0, &0.0, &zero, x, n).unwrap();
            found.y.iter().zip(y).for_each(|(a, b)| near(*a, b));
        }
    }
}

#[pure(order = 3)]
fn squared<T: Real>(x: T, n: usize) -> (T, usize) {
    (x * x, n / 2)
}

#[pure]
fn halved(n: usize, x: f64) -> (usize, f64) {
    (n / 2, x * x)
}

/// Integers that are results of one function and arguments of another.
#[reversible(tangent, taylor = 2)]
fn eighth_power<T: Real>(y: &mut T, x: T, n: usize) {
    let (a, k) = squared(x, n);
    let (b, l) = squared(a, k);
    let (c, m) = squared(b, l);
    *y += c * T::from_usize(m);
}

#[reversible(tangent)]
fn eighth_powers(y: &mut f64, x: &[f64], n: usize) {
    for i in par(0..x.len()) {
        let (a, k) = squared(x[i], n);
        let (l, b) = halved(k, a);
        let (m, c) = halved(l, b);
        *y += c * m as f64;
    }
}

#[test]
fn integers_between_pure_functions_carry_no_tangent() {
    let x = 0.75_f64;
    // 2x⁸
    let expected = [2.0 * x.powi(8), 16.0 * x.powi(7), 112.0 * x.powi(6)];
    let (many, ones) = ([x; 40], [1.0; 40]);
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let found = eighth_power::jvp(device, &0.0, 1.0, &0.0, x, 16).unwrap();
        near(found.y, expected[0]);
        near(found.y_dot, expected[1]);
        let (g, h) = eighth_power::gradient_and_hvp(device, 1.0, x, 16).unwrap();
        near(g.x, expected[1]);
        near(h.x, expected[2]);
        let found = eighth_power::directional(device, &0.0, 1.0, &0.0, x, 16).unwrap();
        found.y.iter().zip(expected).for_each(|(a, b)| near(*a, b));
        let found = eighth_powers::jvp(device, &0.0, &ones, &0.0, &many, 16).unwrap();
        near(found.y_dot, 40.0 * expected[1]);
        let (g, h) = eighth_powers::gradient_and_hvp(device, &ones, &many, 16).unwrap();
        g.x.iter().for_each(|v| near(*v, expected[1]));
        h.x.iter().for_each(|v| near(*v, expected[2]));
    }
}

/// The derivative of `f` along a direction, by central differences.
fn difference(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-5;
    (f(h) - f(-h)) / (2.0 * h)
}

fn moved(x: &[f64], v: &[f64], h: f64) -> Vec<f64> {
    x.iter().zip(v).map(|(x, v)| x + h * v).collect()
}

fn near(a: f64, b: f64) {
    approx::assert_relative_eq!(a, b, epsilon = 1e-7, max_relative = 1e-7);
}

#[pure]
fn logistic<T: Real>(x: T) -> T {
    T::one() / (T::one() + (-x).exp())
}

#[pure(d(a) = b, d(b) = a)]
fn product<T: Real>(a: T, b: T) -> T {
    a * b
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Layer<T> {
    weight: [T; 2],
    bias: T,
    steps: i64,
}

#[reversible(tangent)]
fn axpy<T: Real>(y: &mut T, a: T, x: T) {
    *y += a * x;
}

#[reversible(tangent)]
fn apply<T: Real>(y: &mut T, f: impl Reversible<(&mut T, T, T)>, a: T, x: T) {
    f(&mut y, a, x);
    f(&mut y, x, x);
}

#[reversible(tangent)]
fn power<T: Real>(y: &mut T, x: T, n: u32) {
    if n == 0 {
        *y += T::one();
    } else {
        let mut half = T::zero();
        power(&mut half, x, n - 1);
        *y += half * x;
    }
}

#[reversible(tangent, constant(data))]
fn everything<T: Real>(
    loss: &mut T,
    layer: &Layer<T>,
    x: &[T],
    index: &[usize],
    data: &[T],
    table: ArrayView2<T>,
) {
    let n = x.len();
    let mut hidden = vec![T::zero(); n];
    for i in par(0..n) {
        let k = index[i];
        hidden[i] += logistic(layer.weight[0] * x[k] + layer.bias) * data[i] + table[[0, k]];
        hidden[i] += T::from_f64(layer.steps as f64).sqrt() * x[i].abs().sqrt();
    }
    let mut sum = T::zero();
    for i in 0..n {
        axpy(&mut sum, hidden[i], x[i]);
        apply(&mut sum, axpy, data[i], hidden[i]);
        power(&mut sum, x[i], 3);
        if hidden[i] > T::one() {
            sum += product(hidden[i], layer.weight[1]);
        } else {
            sum -= hidden[i].max(x[i]).ln_1p();
        }
    }
    let mut turned = T::zero();
    turned += sum * T::from_f64(0.1);
    let mut other = T::zero();
    other += layer.bias;
    rot(turned, other, x[0] * layer.bias);
    *loss += turned * other;
}

type Arguments = (Layer<f64>, Vec<f64>, Vec<usize>, Vec<f64>, ndarray::Array2<f64>);

fn arguments() -> Arguments {
    let n = 70;
    let layer = Layer { weight: [0.7, -0.4], bias: 0.3, steps: 4 };
    let x = (0..n).map(|k| 0.2 + 0.013 * k as f64).collect();
    let index = (0..n).map(|k| (7 * k + 3) % n).collect();
    let data = (0..n).map(|k| 0.5 - 0.01 * k as f64).collect();
    let table = ndarray::Array2::from_shape_fn((2, n), |(i, k)| 0.1 * i as f64 + 0.02 * k as f64);
    (layer, x, index, data, table)
}

fn direction() -> (Layer<f64>, Vec<f64>, ndarray::Array2<f64>) {
    let n = 70;
    // the tangent of an integer means nothing
    let layer = Layer { weight: [0.3, 1.1], bias: -0.6, steps: 17 };
    let x = (0..n).map(|k| (k as f64 * 0.7).sin()).collect();
    let table = ndarray::Array2::from_shape_fn((2, n), |(i, k)| ((i + 3 * k) as f64).cos());
    (layer, x, table)
}

/// The arguments moved along the direction.
fn along(h: f64) -> Arguments {
    let (layer, x, index, data, table) = arguments();
    let (v, w, t) = direction();
    let weight = [layer.weight[0] + h * v.weight[0], layer.weight[1] + h * v.weight[1]];
    let layer = Layer { weight, bias: layer.bias + h * v.bias, steps: layer.steps };
    (layer, moved(&x, &w, h), index, data, table + t * h)
}

#[test]
fn a_jvp_is_a_difference_on_each_device() {
    let value = |h: f64| {
        let (layer, x, index, data, table) = along(h);
        let mut loss = 0.0;
        everything(&mut loss, &layer, &x, &index, &data, table.view()).unwrap();
        loss
    };
    let (layer, x, index, data, table) = arguments();
    let (v, w, t) = direction();
    let on = |device: &dyn Device| {
        let d =
            everything::jvp(device, &1.0, &v, &w, t.view(), &2.0, &layer, &x, &index, &data, table.view());
        d.unwrap()
    };
    let found = on(&Cpu::new());
    near(found.loss, 2.0 + value(0.0));
    near(found.loss_dot, 1.0 + difference(value));
    for device in [&Cpu::new().checks(false) as &dyn Device, &Cpu::new().threads(3), &Interpreter::new()] {
        let other = on(device);
        near(found.loss, other.loss);
        near(found.loss_dot, other.loss_dot);
    }
}

#[test]
fn a_hessian_vector_product_is_a_difference_of_gradients() {
    let gradient = |h: f64| {
        let (layer, x, index, data, table) = along(h);
        everything::gradient(&Cpu::new(), &layer, &x, &index, &data, table.view()).unwrap()
    };
    let (layer, x, index, data, table) = arguments();
    let (v, w, t) = direction();
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let found =
            everything::gradient_and_hvp(device, &v, &w, t.view(), &layer, &x, &index, &data, table.view());
        let (g, h) = found.unwrap();
        let expected = gradient(0.0);
        near(g.value, expected.value);
        for k in 0..x.len() {
            near(g.x[k], expected.x[k]);
            near(h.x[k], difference(|e| gradient(e).x[k]));
            near(h.table[[0, k]], difference(|e| gradient(e).table[[0, k]]));
        }
        near(h.layer.bias.0[0], difference(|e| gradient(e).layer.bias.0[0]));
        near(h.layer.weight[1].0[0], difference(|e| gradient(e).layer.weight[1].0[0]));
        assert_eq!(h.data, ());
    }
}

/// Newton's method on what `everything` isn't: a tangent in a program.
#[reversible(tangent = 3)]
fn cubic<T: Real>(y: &mut T, x: T) {
    *y += x * x * x - x - T::one();
}

#[reversible(tangent = 2)]
fn slope<T: Real>(y: &mut T, x: T) {
    let mut value = T::zero();
    let mut value_dot = T::zero();
    cubic::tangent(&mut value, &mut value_dot, x, T::one());
    *y += value_dot;
}

#[test]
fn tangents_are_called_in_programs_and_taken_again() {
    let cpu = Cpu::new();
    let mut y = 0.0;
    slope(&mut y, 2.0).unwrap();
    assert_eq!(y, 11.0);
    assert_eq!(slope::gradient(&cpu, 2.0).unwrap().x, 12.0);
    assert_eq!(slope::hvp(&cpu, 3.0, 2.0).unwrap().x, 18.0);
    let (mut y, mut y_dot) = (0.0, 0.0);
    slope::tangent(&Interpreter::new(), &mut y, &mut y_dot, 2.0, 1.0).unwrap();
    assert_eq!((y, y_dot), (11.0, 12.0));
}

#[reversible(tangent)]
fn polar<T: Real>(out: &mut [T; 2], area: &mut T, r: T, angle: T) {
    out[0] += r * angle.cos();
    out[1] += r * angle.sin();
    *area += r * r * angle;
}

#[test]
fn a_jacobian_has_a_block_for_each_pair_of_names() {
    let j = polar::jacobian(&Cpu::new(), &[0.0; 2], &0.0, 2.0, 0.5).unwrap();
    assert_eq!(
        j.rows().map(|(name, rows)| (name.to_string(), rows)).collect::<Vec<_>>(),
        [("out".to_string(), 0..2), ("area".to_string(), 2..3)]
    );
    let (c, s) = (0.5f64.cos(), 0.5f64.sin());
    let by_r = j.block("out", "r").unwrap();
    near(by_r[[0, 0]], c);
    near(by_r[[1, 0]], s);
    let by_angle = j.block("out", "angle").unwrap();
    near(by_angle[[0, 0]], -2.0 * s);
    near(by_angle[[1, 0]], 2.0 * c);
    near(j.block("area", "r").unwrap()[[0, 0]], 2.0);
    near(j.block("area", "angle").unwrap()[[0, 0]], 4.0);
    assert_eq!(j.block("out", "out").unwrap(), ndarray::Array2::<f64>::eye(2));
    assert_eq!(j.block("out", "area").unwrap(), ndarray::Array2::<f64>::zeros((2, 1)));
    assert!(j.block("out", "nothing").is_none());
    // the same by columns and by rows
    let both = polar::jvp(&Cpu::new(), &[0.0; 2], &0.0, 1.0, 0.0, &[0.0; 2], &0.0, 2.0, 0.5).unwrap();
    near(both.area_dot, j.block("area", "r").unwrap()[[0, 0]]);
}

#[test]
fn a_hessian_is_symmetric_and_its_columns_are_products() {
    let (layer, x, index, data, table) = arguments();
    let h = everything::hessian(&Cpu::new(), &layer, &x, &index, &data, table.view()).unwrap();
    let n = h.matrix().ncols();
    assert_eq!(n, 3 + 70 + 140);
    for i in 0..n {
        for j in 0..i {
            near(h.matrix()[[i, j]], h.matrix()[[j, i]]);
        }
    }
    let (v, w, t) = direction();
    let product =
        everything::hvp(&Cpu::new(), &v, &w, t.view(), &layer, &x, &index, &data, table.view()).unwrap();
    let along: Vec<f64> = v.weight.iter().chain([&v.bias]).chain(&w).chain(&t).copied().collect();
    let rows = h.matrix().dot(&ndarray::Array1::from(along));
    near(rows[2], product.layer.bias.0[0]);
    for k in 0..70 {
        near(rows[3 + k], product.x[k]);
    }
    assert!(h.block("x", "data").is_none());
}

#[reversible(tangent, adjoint)]
fn well<T: Real>(energy: &mut T, x: &[T], k: T) {
    for i in 0..x.len() {
        *energy += k * x[i] * x[i] + (x[i] * x[i]).exp();
    }
}

/// The square of the length of a gradient: a program about a derivative.
#[reversible(tangent)]
fn roughness<T: Real>(y: &mut T, x: &[T], k: T) {
    let mut g = vec![T::zero(); x.len()];
    let mut k_bar = T::zero();
    well::gradient(x, &mut g, k, &mut k_bar);
    for i in 0..x.len() {
        *y += g[i] * g[i];
    }
    *y += k_bar * T::from_f64(0.5);
}

/// The same with the adjoint itself.
#[reversible]
fn roughness_by_hand<T: Real>(y: &mut T, x: &[T], k: T) {
    let mut energy = T::zero();
    let mut energy_bar = T::one();
    let mut g = vec![T::zero(); x.len()];
    let mut k_bar = T::zero();
    well(&mut energy, &x, k);
    well::adjoint(&mut energy, &mut energy_bar, &x, &mut g, k, &mut k_bar);
    for i in 0..x.len() {
        *y += g[i] * g[i];
    }
    *y += k_bar * T::from_f64(0.5);
}

#[test]
fn gradients_and_adjoints_are_called_in_programs() {
    let (x, k) = ([0.3, -0.7, 0.1], 0.8);
    let by_hand = |x: &[f64]| -> f64 {
        let g = x.iter().map(|x| 2.0 * k * x + 2.0 * x * (x * x).exp());
        g.map(|g| g * g).sum::<f64>() + 0.5 * x.iter().map(|x| x * x).sum::<f64>()
    };
    let mut y = 0.0;
    roughness(&mut y, &x, k).unwrap();
    near(y, by_hand(&x));
    let mut other = 0.0;
    roughness_by_hand(&mut other, &x, k).unwrap();
    near(other, y);
    // reverse over reverse
    let g = roughness::gradient(&Cpu::new(), &x, k).unwrap();
    let on_interpreter = roughness::gradient(&Interpreter::new(), &x, k).unwrap();
    for i in 0..3 {
        let derivative = difference(|h| {
            let mut x = x;
            x[i] += h;
            by_hand(&x)
        });
        near(g.x[i], derivative);
        near(on_interpreter.x[i], derivative);
        // forward over reverse
        let mut unit = [0.0; 3];
        unit[i] = 1.0;
        let j = roughness::jvp(&Cpu::new(), &0.0, &unit, 0.0, &0.0, &x, k).unwrap();
        near(j.y_dot, derivative);
    }
    roughness::inverse(&mut y, &x, k).unwrap();
    near(y, 0.0);
}

#[test]
fn a_sparse_hessian_needs_as_many_products_as_it_has_colours() {
    use rev_core::sparse::{Branches, Order, Pattern, Plan};
    let n = 200;
    let x: Vec<f64> = (0..n).map(|k| (k as f64 * 0.3).sin()).collect();
    let band = (0..n).flat_map(|i: usize| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j)));
    let pattern = std::sync::Arc::new(Pattern::new(n, n, band).unwrap());
    for branches in [Branches::Taken, Branches::All] {
        assert_eq!(rosenbrock::hessian_pattern(branches, &x).unwrap(), *pattern);
    }
    let dense = rosenbrock::hessian(&Cpu::new(), &x).unwrap();
    let pushed = rosenbrock::hessian_pushed(&x).unwrap();
    // x[0] is 0, and so is the derivative by it and x[1], which is left out
    assert_eq!(pushed.nonzeros() + 2, pattern.nonzeros());
    for (i, j) in pattern.iter() {
        near(pushed.get(i, j).unwrap(), dense.matrix()[[i, j]]);
    }
    for (plan, groups) in [
        (Plan::by_star(pattern.clone(), Order::Natural).unwrap(), 3),
        (Plan::by_acyclic(pattern.clone(), Order::Natural).unwrap(), 2),
        (Plan::by_columns(pattern.clone(), Order::Natural), 3),
    ] {
        assert_eq!(plan.groups(), groups);
        let sparse = rosenbrock::hessian_sparse(&Cpu::new(), &plan, &x).unwrap();
        for i in 0..n {
            for j in 0..n {
                near(sparse.get(i, j).unwrap(), dense.matrix()[[i, j]]);
            }
        }
        let wrong = rosenbrock::hessian_sparse(&Cpu::new(), &plan, &x[1..]).unwrap_err();
        assert!(wrong.to_string().contains("plan"), "{wrong}");
    }
    let rows = Plan::by_rows(pattern, Order::Natural);
    let wrong = rosenbrock::hessian_sparse(&Cpu::new(), &rows, &x).unwrap_err();
    assert!(wrong.to_string().contains("by rows"), "{wrong}");
}

#[reversible(tangent)]
fn stencil<T: Real>(y: &mut [T], x: &[T]) {
    for i in par(1..x.len() - 1) {
        y[i] += x[i - 1] * x[i] - x[i + 1].sin();
    }
}

#[test]
fn a_sparse_jacobian_by_columns_and_by_rows() {
    use rev_core::sparse::{Branches, Order, Pattern, Plan};
    let n = 50;
    let x: Vec<f64> = (0..n).map(|k| (k as f64 * 0.7).cos()).collect();
    let y = vec![0.0; n];
    // by y itself, then by x
    let own = (0..n).map(|i| (i, i));
    let band = (1..n - 1).flat_map(|i| [(i, n + i - 1), (i, n + i), (i, n + i + 1)]);
    let pattern = std::sync::Arc::new(Pattern::new(n, 2 * n, own.chain(band)).unwrap());
    assert_eq!(stencil::jacobian_pattern(Branches::Taken, &y, &x).unwrap(), *pattern);
    let dense = stencil::jacobian(&Cpu::new(), &y, &x).unwrap();
    for plan in
        [Plan::by_columns(pattern.clone(), Order::SmallestLast), Plan::by_rows(pattern, Order::Natural)]
    {
        assert!(plan.groups() < 8, "{}", plan.groups());
        let sparse = stencil::jacobian_sparse(&Cpu::new(), &plan, &y, &x).unwrap();
        for i in 0..n {
            for j in 0..2 * n {
                near(sparse.get(i, j).unwrap(), dense.matrix()[[i, j]]);
            }
        }
    }
}

#[reversible(tangent, adjoint)]
fn ratio<T: Real>(y: &mut T, x: &[T], at: usize) {
    *y += x[at] / x[0];
}

#[reversible]
fn ratio_slope<T: Real>(g: &mut [T], x: &[T], at: usize) {
    ratio::gradient(&x, &mut g, at);
}

#[test]
fn errors_name_the_derived_function_on_each_device() {
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let tangent = ratio::jvp(device, &0.0, &[1.0], &0.0, &[2.0], 3).unwrap_err();
        assert_eq!(tangent.site().unwrap().function, "ratio::tangent", "{tangent}");
        let gradient = ratio_slope::run(device, &mut [0.0], &[2.0], 3).unwrap_err();
        assert!(gradient.to_string().contains("ratio"), "{gradient}");
        let shape = ratio::jvp(device, &0.0, &[1.0, 1.0], &0.0, &[2.0], 0).unwrap_err();
        assert!(shape.to_string().contains("`x_dot` must have the shape [1]"), "{shape}");
    }
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Spring<T> {
    stiffness: T,
    rest: T,
}

#[reversible]
impl<T: Real> Spring<T> {
    #[reversible(tangent, adjoint)]
    fn energy(&self, e: &mut T, x: T) {
        let apart = x - self.rest;
        *e += 0.5 * self.stiffness * apart * apart;
    }
}

#[reversible(tangent)]
fn two_springs<T: Real>(e: &mut T, a: &Spring<T>, x: T) {
    a.energy(&mut *e, x);
    a.energy(&mut *e, x * x);
}

#[test]
fn functions_of_a_type_have_tangents() {
    let a = Spring { stiffness: 3.0, rest: 0.5 };
    let da = Spring { stiffness: 1.0, rest: -2.0 };
    let value = |h: f64| {
        let a = Spring { stiffness: 3.0 + h, rest: 0.5 - 2.0 * h };
        let mut e = 0.0;
        two_springs(&mut e, &a, 1.5 + 0.7 * h).unwrap();
        e
    };
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let d = two_springs::jvp(device, &0.0, &da, 0.7, &0.0, &a, 1.5).unwrap();
        near(d.e, value(0.0));
        near(d.e_dot, difference(value));
        let own = Spring_energy::hvp(device, &da, 0.7, &a, 1.5).unwrap();
        near(own.x, 1.0 * 1.0 + 3.0 * (0.7 + 2.0));
    }
}

#[reversible(tangent, adjoint)]
fn both_of<T: Real>(y: &mut T, f: impl Reversible<(&mut T, T, T)>, x: T) {
    let mut inner = T::zero();
    f(&mut inner, x, x);
    f(&mut y, inner, x);
}

#[reversible(tangent, adjoint)]
fn times<T: Real>(y: &mut T, a: T, x: T) {
    *y += a * x.sin();
}

#[reversible(tangent)]
fn slope_of_both<T: Real>(g: &mut T, x: T) {
    both_of::gradient(times, times::adjoint, x, &mut *g);
}

#[test]
fn functions_that_are_arguments_have_derivatives() {
    let f = |x: f64| x * x.sin() * x.sin();
    let slope = |x: f64| x.sin() * x.sin() + 2.0 * x * x.sin() * x.cos();
    let mut y = 0.0;
    both_of(&mut y, times {}, 0.8).unwrap();
    near(y, f(0.8));
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let mut g = 0.0;
        slope_of_both::run(device, &mut g, 0.8).unwrap();
        near(g, slope(0.8));
        let second = difference(|h| slope(0.8 + h));
        near(slope_of_both::gradient(device, 0.8).unwrap().x, second);
        near(slope_of_both::jvp(device, &0.0, 1.0, &0.0, 0.8).unwrap().g_dot, second);
    }
}

#[reversible(tangent = 2)]
fn modulus<R: Real, const N: usize>(y: &mut R, z: &[Complex<R>; N]) {
    for i in 0..N {
        *y += (z[i] * z[i]).norm_sqr() + z[i].re * z[i].conj().im;
    }
}

#[reversible(tangent)]
fn first_two<R: Real>(y: &mut R, z: &[Complex<R>; 2]) {
    let mut value = R::zero();
    let mut value_dot = R::zero();
    modulus::<R, 2>::tangent(&mut value, &mut value_dot, z, z);
    *y += value + value_dot;
}

#[test]
fn complex_numbers_have_tangents() {
    let z = [Complex::new(0.4, -0.3), Complex::new(1.1, 0.6)];
    let v = [Complex::new(-0.7, 0.2), Complex::new(0.5, 0.9)];
    let at = |h: f64| [z[0] + v[0] * h, z[1] + v[1] * h];
    let value = |h: f64| {
        let mut y = 0.0;
        modulus(&mut y, &at(h)).unwrap();
        y
    };
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        near(modulus::jvp(device, &0.0, &v, &0.0, &z).unwrap().y_dot, difference(value));
        let along = difference(|h| {
            let mut y = 0.0;
            first_two(&mut y, &at(h)).unwrap();
            y
        });
        near(first_two::jvp(device, &0.0, &v, &0.0, &z).unwrap().y_dot, along);
        let h = modulus::hvp(device, &v, &z).unwrap();
        let g = |e: f64| modulus::gradient(&Cpu::new(), &at(e)).unwrap().z[1].im;
        near(h.z[1].im, difference(g));
    }
}

#[reversible(tangent, adjoint)]
fn chain<T: Real>(energy: &mut T, x: &[T], index: &[usize], k: T) {
    for i in par(0..x.len() - 1) {
        let apart = x[i + 1] - x[i] * x[index[i]];
        let mut link = T::zero();
        well_depth(&mut link, apart, k);
        *energy += link * k + apart.cos();
    }
}

#[reversible(tangent, adjoint)]
fn well_depth<T: Real>(y: &mut T, x: T, k: T) {
    *y += k * x * x - (k * x).sin();
}

#[reversible(tangent)]
fn chain_slope<T: Real>(g: &mut [T], k_bar: &mut T, x: &[T], index: &[usize], k: T) {
    chain::gradient(&x, &mut g, index, k, &mut *k_bar);
}

#[test]
fn gradients_in_programs_add_up_over_threads_and_lanes() {
    let n = 150;
    let x: Vec<f64> = (0..n).map(|i| (0.37 * i as f64).sin()).collect();
    let v: Vec<f64> = (0..n).map(|i| (0.71 * i as f64).cos()).collect();
    let index: Vec<usize> = (0..n).map(|i| (i * i + 3) % 11).collect();
    let expected = chain::gradient(&Interpreter::new(), &x, &index, 0.6).unwrap();
    let product = chain::hvp(&Interpreter::new(), &v, 0.0, &x, &index, 0.6).unwrap();
    let threads = [1, 2, 3, 7].map(|t| Cpu::with_threads(t).parallel_from(0));
    for cpu in threads.into_iter().flat_map(|cpu| [cpu.clone(), cpu.clone().checks(false), cpu.lanes(false)])
    {
        let (mut g, mut k_bar) = (vec![0.0; n], 0.0);
        chain_slope::run(&cpu, &mut g, &mut k_bar, &x, &index, 0.6).unwrap();
        near(k_bar, expected.k);
        let zeros = vec![0.0; n];
        // forward over reverse, and reverse over reverse
        let pushed = chain_slope::jvp(&cpu, &zeros, &0.0, &v, 0.0, &zeros, &0.0, &x, &index, 0.6).unwrap();
        let pulled = chain_slope::vjp(&cpu, &v, 0.0, &zeros, &0.0, &x, &index, 0.6).unwrap();
        let own = chain::hvp(&cpu, &v, 0.0, &x, &index, 0.6).unwrap();
        for (i, slope) in g.iter().enumerate() {
            near(*slope, expected.x[i]);
            near(pushed.g_dot[i], product.x[i]);
            near(pulled.x_bar[i], product.x[i]);
            near(own.x[i], product.x[i]);
        }
        near(pushed.k_bar_dot, product.k);
    }
}

/// Patterns and edge pushing take what the function takes: matrices, structs, integers, functions.
#[reversible(tangent)]
fn bent<T: Real>(
    y: &mut T,
    bend: impl Reversible<(&mut T, T)>,
    a: ArrayView2<T>,
    layer: &Layer<T>,
    k: usize,
) {
    let mut t = T::zero();
    bend(&mut t, a[[0, k]] + layer.bias);
    *y += t * a[[1, 0]];
}

#[reversible(tangent)]
fn square<T: Real>(y: &mut T, x: T) {
    *y += x * x;
}

#[test]
fn patterns_of_a_function_of_many_things() {
    use rev_core::sparse::Branches;
    let a = ndarray::arr2(&[[0.5, 1.5], [2.0, -1.0]]);
    let layer = Layer { weight: [0.25, 0.5], bias: 0.75, steps: 3 };
    let pattern = bent::hessian_pattern(Branches::All, square {}, a.view(), &layer, 1).unwrap();
    let pushed = bent::hessian_pushed(square {}, a.view(), &layer, 1).unwrap();
    let dense = bent::hessian(&Cpu::new(), square::TANGENT, square {}, a.view(), &layer, 1).unwrap();
    assert_eq!(pushed.pattern(), &std::sync::Arc::new(pattern));
    for ((i, j), value) in dense.matrix().indexed_iter() {
        near(pushed.get(i, j).unwrap(), *value);
    }
    let rows = bent::jacobian_pattern(Branches::Taken, &0.0, square {}, a.view(), &layer, 1).unwrap();
    // y, the elements of a that are read, the bias
    assert_eq!(rows.row(0), [0, 2, 3, 7]);
}
