//! What users of other tools for automatic differentiation report: derivatives that are silently wrong or zero, or that
//! there are none. Each thread as a program of its kind, the derivatives against formulas by hand. `continue`
//! and `break`, which some of the threads are about, don't compile here
//! (`rev-cpu/tests/ui/fail/r0603_break.rs`): what they skip is in a branch.

mod common;

use approx::{assert_abs_diff_eq, assert_relative_eq};
use common::{devices, verify};
use rev_core::sparse::{Branches, Order, Pattern, Plan};
use rev_cpu::prelude::*;

fn near(a: f64, b: f64) {
    approx::assert_relative_eq!(a, b, epsilon = 1e-12, max_relative = 1e-12);
}

/// The square of a step's length, of a function that is differentiated twice.
#[reversible(tangent, adjoint)]
fn evaluate<T: Real>(y: &mut T, x: &[T]) {
    for i in 0..x.len() {
        *y += x[i] * x[i] * x[i];
    }
}

/// rust-lang/rust#160567: a function that calls a gradient has a derivative by forward mode.
#[reversible(tangent)]
fn slope<T: Real>(out: &mut [T], x: &[T]) {
    evaluate::gradient(x, &mut *out);
}

#[test]
fn forward_over_reverse_of_a_gradient() {
    let (x, v, still) = ([1.0, -2.0, 0.5], [0.25, 1.0, -3.0], [0.0; 3]);
    for device in devices() {
        let d = slope::jvp(&*device, &still, &v, &still, &x).unwrap();
        for k in 0..3 {
            near(d.out[k], 3.0 * x[k] * x[k]);
            near(d.out_dot[k], 6.0 * x[k] * v[k]);
        }
    }
}

/// rust-lang/rust#160806: a loop with a branch that goes on with the next iteration, and with parts of a slice.
#[reversible]
fn halves<T: Real>(y: &mut T, x: &[T], n: usize) {
    for i in 0..n {
        if x[i] > T::zero() {
            *y += x[i] * x[n + i];
        }
    }
}

#[test]
fn a_loop_with_a_branch_over_parts_of_a_slice() {
    let x = [1.5, -2.0, 0.5, 3.0, 4.0, -5.0];
    for device in devices() {
        let g = halves::gradient(&*device, &x, 3).unwrap();
        assert_eq!((g.value, g.x), (1.5 * 3.0 - 0.5 * 5.0, vec![3.0, 0.0, -5.0, 1.5, 0.0, 0.5]));
    }
    verify!(halves, &0.0, &x, 3);
}

/// rust-lang/rust#152470: powers by `powi`, the thread's program.
#[reversible(tangent)]
fn rosenbrock<T: Real>(z: &mut T, x: T, y: T, a: T, b: T) {
    *z += (a - x).powi(2) + b * (y - x.powi(2)).powi(2);
}

#[test]
fn whole_powers() {
    for device in devices() {
        let g = rosenbrock::gradient(&*device, 3.0, 5.0, 1.0, 100.0).unwrap();
        assert_eq!((g.value, g.x, g.y), (1604.0, 4804.0, -800.0));
        let h = rosenbrock::hessian(&*device, 3.0, 5.0, 1.0, 100.0).unwrap();
        let h = |row, column| h.block(row, column).unwrap()[[0, 0]];
        assert_eq!((h("x", "x"), h("x", "y"), h("y", "x"), h("y", "y")), (8802.0, -1200.0, -1200.0, 200.0));
    }
}

/// tracel-ai/burn#1942, huggingface/candle#2462: second derivatives of a small network, `½ (Σ v tanh(w x + b) - y)²`.
#[reversible(tangent)]
fn network<T: Real>(loss: &mut T, w: &[T], b: &[T], v: &[T], x: T, y: T) {
    let mut off = T::zero();
    off -= y;
    for k in 0..w.len() {
        off += v[k] * (w[k] * x + b[k]).tanh();
    }
    *loss += 0.5 * off * off;
}

#[test]
fn the_hessian_of_a_network() {
    const N: usize = 3;
    let (w, b, v, x, y) = ([0.5, -1.25, 0.75], [0.1, 0.2, -0.3], [1.5, -0.5, 2.0], 0.8, 0.4);
    // the prediction and its derivatives by w, b and v, in this order
    let (mut p, mut first, mut second) = (0.0, [0.0; 3 * N], [[0.0; 3 * N]; 3 * N]);
    for k in 0..N {
        let t = f64::tanh(w[k] * x + b[k]);
        let s = 1.0 - t * t;
        p += v[k] * t;
        (first[k], first[N + k], first[2 * N + k]) = (v[k] * s * x, v[k] * s, t);
        let bend = -2.0 * v[k] * t * s;
        second[k][k] = bend * x * x;
        second[k][N + k] = bend * x;
        second[N + k][N + k] = bend;
        second[k][2 * N + k] = s * x;
        second[N + k][2 * N + k] = s;
    }
    for device in devices() {
        let h = network::hessian(&*device, &w, &b, &v, x, y).unwrap();
        for i in 0..3 * N {
            for j in i..3 * N {
                let expected = first[i] * first[j] + (p - y) * second[i][j];
                near(h.matrix()[[i, j]], expected);
                near(h.matrix()[[j, i]], expected);
            }
        }
    }
}

/// NVIDIA/warp#1694 (and #140): a value from before a loop whose bound is an argument, used after it.
#[reversible]
fn before_and_after<T: Real>(out: &mut T, x: T, s: &[T], n: usize) {
    let before = x * x;
    let mut sum = T::zero();
    for i in 0..n {
        sum += s[i] * x;
    }
    *out += before * sum;
}

#[test]
fn a_value_from_before_a_loop_is_used_after_it() {
    let (x, s) = (1.5, [0.5, -2.0, 4.0, 1.0]);
    for n in 0..=s.len() {
        let sum: f64 = s[..n].iter().sum();
        for device in devices() {
            let g = before_and_after::gradient(&*device, x, &s, n).unwrap();
            near(g.x, 3.0 * x * x * sum);
            (0..s.len()).for_each(|i| near(g.s[i], if i < n { x * x * x } else { 0.0 }));
        }
    }
}

/// NVIDIA/warp#1552: the largest product with coefficients that aren't zero, each element with a largest one of its own.
#[reversible]
fn largest<T: Real>(out: &mut [T], c: &[T], x: &[T]) {
    for i in par(0..out.len()) {
        let mut best: Array1<usize> = zeros(c.len() + 1);
        for k in 0..c.len() {
            best[k + 1] += if c[k] != T::zero() && (best[k] == 0 || x[i] * c[k] > x[i] * c[best[k] - 1]) {
                k + 1
            } else {
                best[k]
            };
        }
        out[i] += x[i] * c[best[c.len()] - 1];
    }
}

#[test]
fn each_iteration_has_a_largest_element_of_its_own() {
    let c = [0.0, 2.0, 0.0, -3.0, 1.0];
    let x: Vec<f64> = (0..40).map(|i| f64::from(i - 20) + 0.5).collect();
    for device in devices() {
        let seeds = vec![1.0; 40];
        let v = largest::vjp(&*device, &seeds, &vec![0.0; 40], &c, &x).unwrap();
        let mut by_c = [0.0; 5];
        for (i, x) in x.iter().enumerate() {
            let k = if *x > 0.0 { 1 } else { 3 };
            assert_eq!((v.out[i], v.x_bar[i]), (x * c[k], c[k]));
            by_c[k] += x;
        }
        assert_eq!(v.c_bar, by_c);
    }
}

/// NVIDIA/warp#1740, #1754, #729, #174: a sum in a loop in a function, and what isn't linear in it in the same function.
#[reversible(tangent)]
fn looped<T: Real>(out: &mut T, x: &[T], start: T, n: usize) {
    let mut sum = T::zero();
    sum += start;
    for i in 0..n {
        sum += x[i];
    }
    *out += T::one() / sum + sum * sum;
}

#[reversible(tangent)]
fn calls_looped<T: Real>(out: &mut [T], x: &[T], start: T, n: usize) {
    for i in par(0..out.len()) {
        looped(&mut out[i], x, start, n);
    }
}

#[test]
fn what_is_not_linear_in_a_sum_is_derived_at_the_whole_sum() {
    let x = [1.0, 0.9, 2.0];
    for (start, n) in [(0.0, 1), (0.0, 3), (1.0, 1), (1.0, 3), (0.5, 2)] {
        let sum = start + x[..n].iter().sum::<f64>();
        let (first, second) = (2.0 * sum - 1.0 / (sum * sum), 2.0 + 2.0 / (sum * sum * sum));
        for device in devices() {
            let v = calls_looped::vjp(&*device, &[1.0; 40], &[0.0; 40], &x, start, n).unwrap();
            (0..3).for_each(|i| near(v.x_bar[i], if i < n { 40.0 * first } else { 0.0 }));
            near(v.start_bar, 40.0 * first);
            let h = looped::hvp(&*device, &[1.0, 0.0, 0.0], 0.0, &x, start, n).unwrap();
            (0..3).for_each(|i| near(h.x[i], if i < n { second } else { 0.0 }));
        }
    }
}

/// NVIDIA/warp#1293: a loop over the joints of a body in a loop over bodies, both bounds from data; where an arm of them ends.
#[reversible]
fn arm<T: Real>(end: &mut [T; 2], angle: &[T], length: &[T], joints: &[usize]) {
    let mut turned: Array1<T> = zeros(angle.len() + 1);
    let mut k = 0usize;
    for i in 0..length.len() {
        for j in 0..joints[i] {
            turned[k + j + 1] += turned[k + j] + angle[k + j];
        }
        k += joints[i];
        end[0] += length[i] * turned[k].cos();
        end[1] += length[i] * turned[k].sin();
    }
}

#[test]
fn loops_in_loops_with_bounds_from_data() {
    let (angle, length, joints) = ([0.3, -0.5, 1.1, 0.2, 0.7], [1.0, 2.0, 0.5, 1.5], [2, 0, 1, 2]);
    let whole: Vec<f64> = [2, 2, 3, 5].map(|n| angle[..n].iter().sum::<f64>()).to_vec();
    for device in devices() {
        let v = arm::vjp(&*device, [1.0, 0.0], &[0.0; 2], &angle, &length, &joints).unwrap();
        // a joint moves all bodies from its own on
        for (k, first) in [0, 0, 2, 3, 3].into_iter().enumerate() {
            near(v.angle_bar[k], -(first..4).map(|i| length[i] * whole[i].sin()).sum::<f64>());
        }
        (0..4).for_each(|i| near(v.length_bar[i], whole[i].cos()));
    }
    verify!(arm, &[0.0; 2], &angle, &length, &joints);
}

/// NVIDIA/warp#1294, #1062: an array that is changed in place, used, changed again and used again.
#[reversible]
fn in_place<T: Real>(loss: &mut T, data: &mut [T], x: &[T]) {
    for i in par(0..data.len()) {
        data[i] += T::one();
    }
    for i in par(0..data.len()) {
        *loss += data[i] * x[i];
    }
    for i in 1..data.len() {
        data[i] += data[i - 1] * x[i];
    }
    for i in par(0..data.len()) {
        *loss += data[i] * data[i];
    }
}

#[test]
fn arrays_are_changed_in_place() {
    let (data, x) = ([0.5, -1.0, 2.0, 0.25], [1.0, 0.5, -0.75, 2.0]);
    // forward, the values that the loops leave, and back by hand
    let once = data.map(|d| d + 1.0);
    let mut twice = once;
    (1..4).for_each(|i| twice[i] += twice[i - 1] * x[i]);
    let mut data_bar = twice.map(|d| 2.0 * d);
    let mut x_bar = once;
    for i in (1..4).rev() {
        x_bar[i] += data_bar[i] * twice[i - 1];
        data_bar[i - 1] += data_bar[i] * x[i];
    }
    (0..4).for_each(|i| data_bar[i] += x[i]);
    for device in devices() {
        let v = in_place::vjp(&*device, 1.0, &[0.0; 4], &0.0, &data, &x).unwrap();
        for i in 0..4 {
            near(v.data_bar[i], data_bar[i]);
            near(v.x_bar[i], x_bar[i]);
        }
    }
    verify!(in_place, &0.0, &data, &x);
}

/// NVIDIA/warp#1697: sums in the components of a small matrix, in steps that follow each other.
#[reversible]
fn steps<T: Real>(f: &mut T, u: T, n: usize) {
    let mut state: Array1<T> = zeros(n + 1);
    state[0] += u;
    for step in 0..n {
        let mut k = [T::zero(); 4];
        for point in 0..4 {
            let w = 0.1 * T::from_usize(point + 1);
            k[0] += w * state[step];
            k[1] += w;
            k[2] += w * state[step] * state[step];
        }
        state[step + 1] += k[0] * k[1] - 0.5 * k[2];
    }
    *f += state[n];
}

#[test]
fn sums_in_components_over_many_steps() {
    for n in [5, 10, 40, 200] {
        // x becomes x - x²/2, for the weights add up to one
        let (mut x, mut dx) = (0.5, 1.0);
        for _ in 0..n {
            (x, dx) = (x - 0.5 * x * x, dx * (1.0 - x));
        }
        for device in devices() {
            let g = steps::gradient(&*device, 0.5, n).unwrap();
            near(g.value, x);
            assert_relative_eq!(g.u, dx, epsilon = 0.0, max_relative = 1e-12);
        }
    }
}

/// NVIDIA/warp#1350: what a derivative is evaluated at is changed after it was used.
#[reversible]
fn changed_later<T: Real>(y: &mut T, x: &mut T) {
    *y += *x * *x;
    *x += 97.0;
    *y += *x * *x * *x;
    *x -= *y;
}

#[test]
fn a_derivative_is_evaluated_where_the_value_was() {
    for device in devices() {
        let v = changed_later::vjp(&*device, 1.0, 0.0, &0.0, &3.0).unwrap();
        assert_eq!(v.x_bar, 2.0 * 3.0 + 3.0 * 100.0 * 100.0);
        let (mut y, mut x) = (v.y, v.x);
        assert_eq!((y, x), (9.0 + 1e6, 100.0 - 1_000_009.0));
        changed_later::run_inverse(&*device, &mut y, &mut x).unwrap();
        assert_eq!((y, x), (0.0, 3.0));
    }
}

/// jax-ml/jax#2139, #8239, #18311, #25759, #27748, wilson-labs/cola#120: a `while` loop that ends by its numbers, Newton's
/// method for √a, in reverse mode. Each iterate is kept.
#[reversible(tangent)]
fn root<T: Real>(out: &mut T, a: T, most: usize) {
    let mut x: Array1<T> = zeros(most);
    let mut k = 0usize;
    x[0] += T::one();
    #[post(k > 0)]
    while (x[k] * x[k] - a).abs() > 1e-13 * a {
        x[k + 1] += 0.5 * (x[k] + a / x[k]);
        k += 1;
    }
    *out += x[k];
}

/// The same where nothing is kept: an oscillation in small steps until a time is reached. On the way back `t` is zero only up
/// to rounding, so the loop ends half a step before.
#[reversible(tangent)]
fn swing<T: Real>(loss: &mut T, x: &mut T, v: &mut T, k: T, dt: T, until: T) {
    let mut t = T::zero();
    #[post(t > 0.5 * dt)]
    while t < until {
        *v -= k * dt * *x;
        *x += dt * *v;
        t += dt;
    }
    *loss += *x;
}

#[test]
fn while_loops_in_reverse_mode() {
    for device in devices() {
        for a in [2.0f64, 9.0, 0.3] {
            let g = root::gradient(&*device, a, 50).unwrap();
            near(g.value, a.sqrt());
            near(g.a, 0.5 / a.sqrt());
            near(root::hvp(&*device, 1.0, a, 50).unwrap().a, -0.25 / (a * a.sqrt()));
        }
    }
    // each step is a linear map, so x is a polynomial in the start, and linear in it
    let (k, dt, until) = (1.0, 0.001, 3.0);
    for device in devices() {
        let at = |x: f64, v: f64| {
            let (mut loss, mut x, mut v) = (0.0, x, v);
            swing::run(&*device, &mut loss, &mut x, &mut v, k, dt, until).unwrap();
            loss
        };
        let g = swing::vjp(&*device, 1.0, 0.0, 0.0, &0.0, &1.0, &0.5, k, dt, until).unwrap();
        assert_abs_diff_eq!(g.x_bar, at(1.0, 0.0), epsilon = 1e-10);
        assert_abs_diff_eq!(g.v_bar, at(0.0, 1.0), epsilon = 1e-10);
        assert_abs_diff_eq!(g.x_bar, 3f64.cos(), epsilon = 2e-3);
        assert_abs_diff_eq!(g.v_bar, 3f64.sin(), epsilon = 2e-3);
    }
}

/// jax-ml/jax#1052, #5798: what isn't taken leaves no NaN where its value or derivative isn't finite, in the Hessian neither.
#[reversible(tangent)]
fn masked<T: Real>(y: &mut T, x: &[T]) {
    for i in par(0..x.len()) {
        *y += if x[i] > T::zero() { x[i].ln() } else { x[i] };
        *y += if x[i] == T::zero() { T::one() } else { x[i].sin() / x[i] };
        *y += select(x[i] <= T::one(), x[i] * x[i], (x[i] - T::one()).sqrt());
    }
}

#[test]
fn what_is_not_taken_leaves_no_nan() {
    let x: Vec<f64> = (0..40).map(|i| f64::from(i % 5) - 2.0).collect();
    let slope = |x: f64| {
        let wave = if x == 0.0 { 0.0 } else { (x.cos() - x.sin() / x) / x };
        let root = if x <= 1.0 { 2.0 * x } else { 0.5 / (x - 1.0).sqrt() };
        wave + root + if x > 0.0 { 1.0 / x } else { 1.0 }
    };
    let curvature = |x: f64| {
        let wave = if x == 0.0 { 0.0 } else { -(x.sin() + 2.0 * (x.cos() - x.sin() / x) / x) / x };
        let root = if x <= 1.0 { 2.0 } else { -0.25 / (x - 1.0).powf(1.5) };
        wave + root + if x > 0.0 { -1.0 / (x * x) } else { 0.0 }
    };
    for device in devices() {
        let g = masked::gradient(&*device, &x).unwrap();
        let h = masked::hvp(&*device, &[1.0; 40], &x).unwrap();
        for (x, (g, h)) in x.iter().zip(g.x.iter().zip(&h.x)) {
            near(*g, slope(*x));
            near(*h, curvature(*x));
        }
    }
    verify!(masked, &0.0, &x[4..5]);
}

/// EnzymeAD/Enzyme.jl#2072: a Hessian through a long loop, and through the same steps as a loop in a loop.
#[reversible(tangent)]
fn cosines<T: Real>(y: &mut T, x: &[T; 2], outer: usize, inner: usize) {
    let mut z: Array2<T> = zeros((outer * inner + 1, 2));
    for c in 0..2 {
        z[[0, c]] += x[c];
    }
    for i in 0..outer {
        for j in 0..inner {
            for c in 0..2 {
                z[[i * inner + j + 1, c]] += z[[i * inner + j, c]].cos();
            }
        }
    }
    for c in 0..2 {
        *y += z[[outer * inner, c]] * z[[outer * inner, c]];
    }
}

#[test]
fn a_hessian_through_a_long_loop() {
    let x = [1.0, 0.25];
    for (outer, inner) in [(1, 1), (21, 1), (7, 3), (1, 21), (401, 1), (200, 2)] {
        let second = x.map(|x: f64| {
            let (mut z, mut first, mut second) = (x, 1.0, 0.0);
            for _ in 0..outer * inner {
                (z, first, second) = (z.cos(), -z.sin() * first, -z.cos() * first * first - z.sin() * second);
            }
            2.0 * (first * first + z * second)
        });
        for device in devices() {
            let h = cosines::hessian(&*device, &x, outer, inner).unwrap();
            for (i, second) in second.iter().enumerate() {
                assert_relative_eq!(h.matrix()[[i, i]], second, epsilon = 0.0, max_relative = 1e-10);
                assert_eq!(h.matrix()[[i, 1 - i]], 0.0);
            }
        }
    }
}

/// EnzymeAD/Enzyme.jl#2987: branches that conditions choose which have no derivative.
#[reversible]
fn bounded<T: Real>(y: &mut T, x: T, lower: bool, upper: T) {
    let finite = upper < T::from_f64(1e300);
    if lower && finite {
        *y += (x / upper).ln();
    } else if lower || finite {
        *y += x.ln();
    } else {
        *y += x;
    }
}

#[test]
fn branches_by_conditions_without_derivatives() {
    for device in devices() {
        let by_x = |x, lower, upper| bounded::gradient(&*device, x, lower, upper).unwrap().x;
        assert_eq!(by_x(0.5, true, 1.0), 2.0);
        assert_eq!(by_x(0.5, false, 1.0), 2.0);
        assert_eq!(by_x(0.5, true, f64::INFINITY), 2.0);
        assert_eq!(by_x(0.5, false, f64::INFINITY), 1.0);
    }
}

/// jkitchin/pounce#83, #98, JuliaControl/ModelPredictiveControl.jl#280: a pattern without probing, and as many products as it has
/// colours. A probe at zero doesn't see what is multiplied by it.
#[reversible(tangent)]
fn banded<T: Real>(y: &mut T, x: &[T]) {
    for i in 1..x.len() {
        *y += x[i - 1] * x[i - 1] * x[i];
    }
}

#[test]
fn a_sparse_hessian_needs_no_probes() {
    let n = 200;
    let still = vec![0.0; n];
    let pattern = banded::hessian_pattern(Branches::All, &still).unwrap();
    let off = (1..n).flat_map(|i| [(i - 1, i), (i, i - 1)]);
    let expected = Pattern::new(n, n, (0..n - 1).map(|i| (i, i)).chain(off)).unwrap();
    assert_eq!(pattern, expected);
    let plan = Plan::by_star(pattern.clone(), Order::Natural).unwrap();
    let by_substitution = Plan::by_acyclic(pattern, Order::Natural).unwrap();
    assert_eq!((plan.groups(), by_substitution.groups()), (3, 2));
    let x: Vec<f64> = (0..n).map(|i| (0.3 * i as f64).sin()).collect();
    for device in devices() {
        for plan in [&plan, &by_substitution] {
            let h = banded::hessian_sparse(&*device, plan, &x).unwrap();
            for i in 1..n {
                near(h.get(i - 1, i - 1).unwrap(), 2.0 * x[i]);
                near(h.get(i, i - 1).unwrap(), 2.0 * x[i - 1]);
                near(h.get(i - 1, i).unwrap(), 2.0 * x[i - 1]);
            }
        }
    }
}

/// JuliaDiff/DifferentiationInterface.jl#855, EnzymeAD/Enzyme.jl#2437, #2348: products with the Hessian of what is linear, by forward mode
/// over forward mode and forward over reverse. Each is zero, and has the shape of the argument; patterns are empty.
#[reversible(tangent, taylor = 2)]
fn total<T: Real>(y: &mut T, x: &[T]) {
    for v in x {
        *y += *v;
    }
}

/// The sum of the differences of neighbours, `x[n - 1] - x[0]`, which are stored on the way.
#[reversible(tangent, taylor = 2)]
fn total_difference<T: Real>(y: &mut T, x: &[T]) {
    let mut differences = vec![T::zero(); x.len() - 1];
    for i in 0..differences.len() {
        differences[i] += x[i + 1] - x[i];
    }
    for d in &differences {
        *y += *d;
    }
}

macro_rules! linear {
    ($f:ident, $x:expr, $gradient:expr) => {
        let (x, gradient): (&[f64], &[f64]) = (&$x, &$gradient);
        let v: Vec<f64> = (0..x.len()).map(|i| 6.0 + i as f64).collect();
        for device in devices() {
            let d = &*device;
            let zeros = vec![0.0; x.len()];
            let (slope, product) = $f::gradient_and_hvp(d, &v, x).unwrap();
            assert_eq!((&slope.x[..], &product.x), (gradient, &zeros));
            assert_eq!($f::hvp(d, &v, x).unwrap().x, zeros);
            let along = $f::directional(d, &0.0, &v, &0.0, x).unwrap();
            let slope: f64 = gradient.iter().zip(&v).map(|(g, v)| g * v).sum();
            assert_eq!(along.y, [x.iter().zip(gradient).map(|(x, g)| x * g).sum::<f64>(), slope, 0.0]);
            assert!($f::hessian(d, x).unwrap().matrix().iter().all(|h| *h == 0.0));
        }
        assert_eq!($f::hessian_pattern(Branches::All, x).unwrap().nonzeros(), 0);
        assert!($f::hessian_pushed(x).unwrap().values().is_empty());
    };
}

#[test]
fn the_hessian_of_what_is_linear() {
    linear!(total, [1.0], [1.0]);
    linear!(total, [1.0, -2.0, 0.5], [1.0; 3]);
    linear!(total_difference, [1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, 0.0, 0.0, 0.0, 1.0]);
}
