//! Matrices of derivatives and products with them, by chosen arguments and into the caller's memory, against differences.

#![allow(clippy::unwrap_used)]

use approx::assert_abs_diff_eq;
use ndarray::{s, Array2, ArrayView2};
use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_core::sparse::{Branches, Order, Plan};
use rev_cpu::prelude::*;

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Lens<T> {
    focal: T,
    kind: i64,
    shift: [T; 2],
}

/// Outputs that are added to, one that is turned, complex numbers, structs, a matrix, integers and a constant.
#[reversible(tangent, loss = loss, constant(weights))]
fn project<T: Real>(
    out: &mut [T],
    turned: &mut [T; 2],
    z: &mut Complex<T>,
    loss: &mut T,
    lenses: &[Lens<T>],
    x: ArrayView2<T>,
    k: T,
    of: &[usize],
    weights: &[T],
) {
    for i in par(0..of.len()) {
        let a = lenses[of[i]].focal * x[[i, 0]] + lenses[of[i]].shift[0];
        let b = x[[i, 1]] * k - lenses[of[i]].shift[1];
        out[i] += (a * b).sin() * weights[i];
        *loss += a * a * b * k + weights[i] * b;
    }
    for i in 0..of.len() {
        *z += complex(x[[i, 0]] * k, x[[i, 1]] * x[[i, 0]]);
    }
    rot(turned[0], turned[1], k * x[[0, 0]]);
}

/// All its arguments but integers and constants, one number after the other.
#[derive(Clone)]
struct Point {
    numbers: Vec<f64>,
    of: Vec<usize>,
    weights: Vec<f64>,
    lenses: usize,
}

impl Point {
    /// At numbers that a seed says.
    fn random(seed: u64, observations: usize, lenses: usize) -> Point {
        let mut state = seed.wrapping_mul(2) + 1;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let count = observations + 2 + 2 + 1 + 3 * lenses + 2 * observations + 1;
        let numbers = (0..count).map(|_| next()).collect();
        let weights = (0..observations).map(|_| next()).collect();
        let of = (0..observations).map(|i| (i * i + seed as usize) % lenses).collect();
        Point { numbers, of, weights, lenses }
    }

    fn moved(&self, k: usize, by: f64) -> Point {
        let mut other = self.clone();
        other.numbers[k] += by;
        other
    }

    /// The arguments in their order.
    #[allow(clippy::type_complexity)]
    fn parts(&self) -> (Vec<f64>, [f64; 2], Complex<f64>, f64, Vec<Lens<f64>>, Array2<f64>, f64) {
        let n = self.of.len();
        let mut left = self.numbers.iter().copied();
        let mut next = || left.next().unwrap();
        let out = (0..n).map(|_| next()).collect();
        let turned = [next(), next()];
        let z = Complex::new(next(), next());
        let loss = next();
        let lens = |_| Lens { focal: next(), kind: 7, shift: [next(), next()] };
        let lenses = (0..self.lenses).map(lens).collect();
        let x = Array2::from_shape_fn((n, 2), |_| next());
        (out, turned, z, loss, lenses, x, next())
    }

    fn after(&self) -> Vec<f64> {
        let (mut out, mut turned, mut z, mut loss, lenses, x, k) = self.parts();
        project(&mut out, &mut turned, &mut z, &mut loss, &lenses, x.view(), k, &self.of, &self.weights)
            .unwrap();
        out.into_iter().chain(turned).chain([z.re, z.im, loss]).collect()
    }

    /// The gradient of the loss by all but the loss.
    fn gradient(&self) -> Vec<f64> {
        let (out, turned, z, _, lenses, x, k) = self.parts();
        let cpu = Cpu::new();
        let g = project::gradient(&cpu, &out, &turned, &z, &lenses, x.view(), k, &self.of, &self.weights);
        let g = g.unwrap();
        let lenses = g.lenses.iter().flat_map(|l| [l.focal.0[0], l.shift[0].0[0], l.shift[1].0[0]]);
        let outputs = g.out.iter().chain(&g.turned).copied().chain([g.z.re, g.z.im]);
        outputs.chain(lenses).chain(g.x.iter().copied()).chain([g.k]).collect()
    }

    /// The Jacobian by differences.
    fn jacobian(&self) -> Array2<f64> {
        differences(self.after().len(), self.numbers.len(), |k, h| self.moved(k, h).after())
    }

    /// The Hessian by differences.
    fn hessian(&self) -> Array2<f64> {
        let (loss, n) = (self.of.len() + 4, self.numbers.len() - 1);
        differences(n, n, |k, h| self.moved(k + usize::from(k >= loss), h).gradient())
    }
}

fn differences(rows: usize, columns: usize, at: impl Fn(usize, f64) -> Vec<f64>) -> Array2<f64> {
    let h = 1e-5;
    let mut matrix = Array2::zeros((rows, columns));
    for k in 0..columns {
        let slopes = at(k, h).into_iter().zip(at(k, -h)).map(|(a, b)| (a - b) / (2.0 * h));
        matrix.column_mut(k).iter_mut().zip(slopes).for_each(|(to, slope)| *to = slope);
    }
    matrix
}

fn near(found: ArrayView2<f64>, expected: ArrayView2<f64>) {
    approx::assert_relative_eq!(found, expected, epsilon = 1e-8, max_relative = 1e-8);
}

fn devices() -> [Box<dyn Device>; 4] {
    let few = Cpu::with_threads(3).parallel_from(0);
    [Box::new(Cpu::new()), Box::new(Cpu::new().checks(false)), Box::new(few), Box::new(Interpreter::new())]
}

type By = rev_cpu::gradient::Columns<project>;

#[test]
fn jacobians_by_chosen_arguments_in_each_mode_are_differences() {
    for (seed, n, m) in [(1, 1, 1), (2, 5, 2), (3, 11, 3)] {
        let p = Point::random(seed, n, m);
        let all = p.jacobian();
        let (out, turned, z, loss, lenses, x, k) = p.parts();
        let (first, numbers) = (n + 5, p.numbers.len());
        for device in devices() {
            let of = |by: By| {
                project::jacobian_wrt(
                    &*device,
                    by,
                    &out,
                    &turned,
                    &z,
                    &loss,
                    &lenses,
                    x.view(),
                    k,
                    &p.of,
                    &p.weights,
                )
                .unwrap()
            };
            let whole = project::jacobian(
                &*device,
                &out,
                &turned,
                &z,
                &loss,
                &lenses,
                x.view(),
                k,
                &p.of,
                &p.weights,
            );
            near(whole.unwrap().matrix(), all.view());
            near(of(project::ALL.forward()).matrix(), all.view());
            near(of(project::ALL.reverse()).matrix(), all.view());
            let of_lenses = all.slice(s![.., first..first + 3 * m]);
            let of_rest = all.slice(s![.., first + 3 * m..]);
            let of_state = all.slice(s![.., n..n + 2]);
            for by in [project::LENSES.into(), project::LENSES.forward(), project::LENSES.reverse()] {
                let found = of(by);
                near(found.matrix(), of_lenses);
                near(found.block("out", "lenses").unwrap(), of_lenses.slice(s![..n, ..]));
                assert!(found.block("out", "x").is_none());
            }
            for by in [(project::X | project::K).forward(), (project::K | project::X).reverse()] {
                let found = of(by);
                near(found.matrix(), of_rest);
                let columns: Vec<_> =
                    found.columns().map(|(name, range)| (name.to_string(), range)).collect();
                let end = numbers - first - 3 * m;
                assert_eq!(columns, [("x".into(), 0..end - 1), ("k".into(), end - 1..end)]);
            }
            near(of(project::TURNED.into()).matrix(), of_state);
        }
    }
}

#[test]
fn hessians_by_chosen_arguments_are_differences_of_gradients() {
    for (seed, n, m) in [(4, 1, 1), (5, 4, 3)] {
        let p = Point::random(seed, n, m);
        let all = p.hessian();
        let (out, turned, z, _, lenses, x, k) = p.parts();
        let first = n + 4;
        for device in devices() {
            let of = |wrt| {
                project::hessian_wrt(
                    &*device,
                    wrt,
                    &out,
                    &turned,
                    &z,
                    &lenses,
                    x.view(),
                    k,
                    &p.of,
                    &p.weights,
                )
                .unwrap()
            };
            let whole = of(project::ALL);
            near(whole.matrix(), all.view());
            assert_eq!(whole.matrix(), whole.matrix().t());
            near(of(project::X | project::K).matrix(), all.slice(s![first + 3 * m.., first + 3 * m..]));
            let own = first..first + 3 * m;
            near(of(project::LENSES).block("lenses", "lenses").unwrap(), all.slice(s![own.clone(), own]));
        }
    }
}

#[test]
fn sparse_matrices_of_chosen_arguments_are_parts_of_the_dense_ones() {
    let p = Point::random(6, 9, 2);
    let (out, turned, z, loss, lenses, x, k) = p.parts();
    let (cpu, x) = (Cpu::new(), x.view());
    for wrt in [project::ALL, project::LENSES | project::X, project::K] {
        let dense =
            project::jacobian_wrt(&cpu, wrt, &out, &turned, &z, &loss, &lenses, x, k, &p.of, &p.weights)
                .unwrap();
        let by = (Branches::Taken, wrt);
        let pattern =
            project::jacobian_pattern(by, &out, &turned, &z, &loss, &lenses, x, k, &p.of, &p.weights);
        let pattern = std::sync::Arc::new(pattern.unwrap());
        for plan in [
            Plan::by_columns(pattern.clone(), Order::LargestFirst),
            Plan::by_rows(pattern.clone(), Order::Natural),
        ] {
            let found = project::jacobian_sparse(
                &cpu,
                (&plan, wrt),
                &out,
                &turned,
                &z,
                &loss,
                &lenses,
                x,
                k,
                &p.of,
                &p.weights,
            );
            let found = found.unwrap().to_dense();
            near(Array2::from_shape_fn(dense.matrix().dim(), |(i, j)| found[i][j]).view(), dense.matrix());
        }
        let dense =
            project::hessian_wrt(&cpu, wrt, &out, &turned, &z, &lenses, x, k, &p.of, &p.weights).unwrap();
        let pattern = project::hessian_pattern(by, &out, &turned, &z, &lenses, x, k, &p.of, &p.weights);
        let plan = Plan::by_star(pattern.unwrap(), Order::LargestFirst).unwrap();
        let found =
            project::hessian_sparse(&cpu, (&plan, wrt), &out, &turned, &z, &lenses, x, k, &p.of, &p.weights);
        let found = found.unwrap().to_dense();
        near(Array2::from_shape_fn(dense.matrix().dim(), |(i, j)| found[i][j]).view(), dense.matrix());
    }
}

#[reversible(tangent)]
fn energy<T: Real>(e: &mut T, x: &[T], a: ArrayView2<T>, k: T, n: usize) {
    for i in 0..n {
        for j in 0..n {
            *e += k * x[i] * a[[i, j]] * x[j] * x[j];
        }
    }
}

#[reversible]
fn without_loss(y: &mut [f64], x: &[f64]) {
    for i in 0..x.len() {
        y[i] += x[i];
    }
}

#[test]
fn directions_along_some_arguments_are_zero_along_the_others() {
    let (x, a) = ([0.5, -1.5], ndarray::arr2(&[[1.0, 2.0], [-0.5, 0.25]]));
    let (v, w) = ([1.0, -2.0], ndarray::arr2(&[[0.5, 0.0], [1.0, 3.0]]));
    let (still, none) = ([0.0; 2], Array2::zeros((2, 2)));
    let a = a.view();
    for device in devices() {
        let device = &*device;
        let found = energy::jvp_wrt(device, &[energy::X.along(&v)], &1.0, &x, a, 0.7, 2).unwrap();
        assert_eq!(found, energy::jvp(device, &0.0, &v, none.view(), 0.0, &1.0, &x, a, 0.7, 2).unwrap());
        let both = [energy::A.along(&w), energy::E.along(&2.0)];
        let found = energy::jvp_wrt(device, &both, &1.0, &x, a, 0.7, 2).unwrap();
        assert_eq!(found, energy::jvp(device, &2.0, &still, w.view(), 0.0, &1.0, &x, a, 0.7, 2).unwrap());
        let found = energy::hvp_wrt(device, &[energy::K.along(&1.0)], &x, a, 0.7, 2).unwrap();
        assert_eq!(found, energy::hvp(device, &still, none.view(), 1.0, &x, a, 0.7, 2).unwrap());
        let (g, h) = energy::gradient_and_hvp_wrt(device, &both[..1], &x, a, 0.7, 2).unwrap();
        assert_eq!((g, h), energy::gradient_and_hvp(device, &still, w.view(), 0.0, &x, a, 0.7, 2).unwrap());
        let sides = [Batch([1.0, 0.0]), Batch([-2.0, 1.0])];
        let all = energy::jvp_batch_wrt::<f64, 2>(device, &[energy::X.along(&sides)], &1.0, &x, a, 0.7, 2);
        let zeros = Array2::from_elem((2, 2), Batch([0.0; 2]));
        let (zeros, zero) = (zeros.view(), Batch([0.0; 2]));
        let expected = energy::jvp_batch::<f64, 2>(device, zero, &sides, zeros, zero, &1.0, &x, a, 0.7, 2);
        assert_eq!(all.unwrap(), expected.unwrap());
        let all = energy::hvp_batch_wrt::<f64, 2>(device, &[energy::X.along(&sides)], &x, a, 0.7, 2);
        let expected = energy::hvp_batch::<f64, 2>(device, &sides, zeros, zero, &x, a, 0.7, 2);
        assert_eq!(all.unwrap(), expected.unwrap());
    }
}

#[test]
fn errors_name_the_argument() {
    let (cpu, x, a) = (Cpu::new(), [0.5, -1.5], Array2::<f64>::zeros((2, 2)));
    let a = a.view();
    let says = |error: Error, text: &str| assert!(error.to_string().contains(text), "{error}");
    let integer = "there is no derivative by `n`: its type carries none";
    says(energy::gradient_wrt(&cpu, energy::N, &x, a, 1.0, 2).unwrap_err(), integer);
    says(energy::jacobian_wrt(&cpu, energy::X | energy::N, &0.0, &x, a, 1.0, 2).unwrap_err(), integer);
    says(energy::hessian_wrt(&cpu, energy::N, &x, a, 1.0, 2).unwrap_err(), integer);
    let by = (Branches::Taken, energy::N);
    says(energy::jacobian_pattern(by, &0.0, &x, a, 1.0, 2).unwrap_err(), integer);
    says(energy::hessian_pattern(by, &x, a, 1.0, 2).unwrap_err(), integer);
    says(energy::jvp_wrt(&cpu, &[energy::N.along(&2.0)], &0.0, &x, a, 1.0, 2).unwrap_err(), integer);
    says(energy::hvp_wrt(&cpu, &[energy::N.along(&2.0)], &x, a, 1.0, 2).unwrap_err(), integer);
    let loss = "there is no derivative by `e`: it is the loss";
    says(energy::gradient_wrt(&cpu, energy::E, &x, a, 1.0, 2).unwrap_err(), loss);
    says(energy::hessian_wrt(&cpu, energy::X | energy::E, &x, a, 1.0, 2).unwrap_err(), loss);
    says(energy::hvp_wrt(&cpu, &[energy::E.along(&1.0)], &x, a, 1.0, 2).unwrap_err(), loss);
    let p = Point::random(7, 2, 1);
    let (out, turned, z, start, lenses, y, k) = p.parts();
    let y = y.view();
    let wrong = project::jacobian_wrt(
        &cpu,
        project::WEIGHTS,
        &out,
        &turned,
        &z,
        &start,
        &lenses,
        y,
        k,
        &p.of,
        &p.weights,
    );
    says(wrong.unwrap_err(), "there is no derivative by `weights`: it is declared constant");
    // shapes of directions
    let jvp = |along| energy::jvp_wrt(&cpu, &[along], &0.0, &x, a, 1.0, 2).unwrap_err();
    let (three, four) = (vec![1.0; 3], vec![1.0; 4]);
    says(jvp(energy::X.along(&[1.0; 3])), "`x_dot` must have the shape [2, 1] and has [3, 1]");
    says(jvp(energy::X.along(&three)), "`x_dot` must have the shape [2] and has [3]");
    says(jvp(energy::A.along(&four)), "`a_dot` must have the shape [2, 2] and has [4]");
    says(jvp(energy::X.along(&[Batch([1.0; 2]); 2])), "`x_dot` must have the shape [2, 1] and has [2, 2]");
    says(jvp((energy::X | energy::K).along(&1.0)), "the direction `x_dot`: expected one argument");
    let twice = [energy::K.along(&1.0), energy::K.along(&2.0)];
    says(
        energy::jvp_wrt(&cpu, &twice, &0.0, &x, a, 1.0, 2).unwrap_err(),
        "the direction `k_dot`: expected one direction, found two",
    );
    says(
        energy::hvp(&cpu, &[1.0; 3], a, 0.0, &x, a, 1.0, 2).unwrap_err(),
        "`x_dot` must have the shape [2] and has [3]",
    );
    says(
        energy::jvp_batch::<f64, 1>(
            &cpu,
            Batch([0.0]),
            &[Batch([1.0])],
            a.map(|_| Batch([0.0])).view(),
            Batch([0.0]),
            &0.0,
            &x,
            a,
            1.0,
            2,
        )
        .unwrap_err(),
        "`x_dot` must have the shape [2] and has [1]",
    );
    // seeds
    let seeds = without_loss::vjp(&cpu, &[1.0; 3], &[0.0; 2], &[0.0; 2]).unwrap_err();
    says(seeds, "`y_bar` must have the shape [2] and has [3]");
}

#[test]
fn matrices_are_filled_again_at_other_values() {
    let mut space = Workspace::new();
    let p = Point::random(8, 4, 2);
    let (out, turned, z, loss, lenses, x, k) = p.parts();
    let cpu = Cpu::new();
    let of = |by: By| {
        project::jacobian_wrt(&cpu, by, &out, &turned, &z, &loss, &lenses, x.view(), k, &p.of, &p.weights)
            .unwrap()
    };
    let other = Point::random(9, 4, 2);
    let (out, turned, z, loss, lenses, x, k) = other.parts();
    let all = other.jacobian();
    for mut matrix in [of(project::ALL.forward()), of(project::ALL.reverse()), of(project::X.into())] {
        let into = |matrix: &mut DerivativeMatrix,
                    space: &mut Workspace,
                    x: ArrayView2<f64>,
                    of: &[usize]| {
            let weights = &other.weights[..of.len()];
            project::jacobian_into(&cpu, matrix, space, &out, &turned, &z, &loss, &lenses, x, k, of, weights)
        };
        for _ in 0..2 {
            into(&mut matrix, &mut space, x.view(), &p.of).unwrap_or_default();
            into(&mut matrix, &mut space, x.view(), &other.of).unwrap();
            let found = matrix.block("loss", "x").unwrap();
            near(found, all.slice(s![8..9, 15..23]));
        }
        let wrong = into(&mut matrix, &mut space, x.slice(s![..3, ..]), &other.of[..3]).unwrap_err();
        assert!(wrong.to_string().contains("`matrix` must have the shape"), "{wrong}");
    }
    let mut matrix =
        project::hessian(&cpu, &out, &turned, &z, &lenses, x.view(), k, &other.of, &other.weights).unwrap();
    let expected = matrix.clone();
    let (out, turned, z, _, lenses, x, k) = p.parts();
    let (view, args) = (x.view(), (&p.of, &p.weights));
    project::hessian_into(&cpu, &mut matrix, &mut space, &out, &turned, &z, &lenses, view, k, args.0, args.1)
        .unwrap();
    near(matrix.matrix(), p.hessian().view());
    assert_ne!(matrix, expected);
    let pattern =
        project::hessian_pattern(Branches::Taken, &out, &turned, &z, &lenses, view, k, args.0, args.1);
    let plan = Plan::by_acyclic(pattern.unwrap(), Order::Natural).unwrap();
    let mut values = vec![0.0; plan.pattern().nonzeros()];
    project::hessian_sparse_into(
        &cpu,
        &plan,
        &mut values,
        &mut space,
        &out,
        &turned,
        &z,
        &lenses,
        view,
        k,
        args.0,
        args.1,
    )
    .unwrap();
    for ((i, j), value) in plan.pattern().iter().zip(&values) {
        assert_abs_diff_eq!(matrix.matrix()[[i, j]], value, epsilon = 1e-12);
    }
    values.pop();
    let short =
        energy::hessian_sparse_into(&cpu, &plan, &mut values, &mut space, &[0.0; 2], x.view(), 1.0, 2);
    assert!(short.unwrap_err().to_string().contains("`plan`"));
}
