//! Programs whose emitted Rust was wrong once, or didn't compile. Most were found by the random programs
//! of `testgen/compiled`; each stands here by its name.

use ndarray::{ArrayView1, ArrayViewMut1};
use rev_cpu::prelude::*;

fn cpus() -> [Cpu; 2] {
    [Cpu::with_threads(1), Cpu::with_threads(3).parallel_from(0)]
}

/// A name inside an expression isn't one that the tasks of the loop take along from outside.
#[reversible]
fn local_names_in_parallel<T: Real>(y: &mut T, z: &mut [T], x: &[T]) {
    for i in par(0..x.len()) {
        *y += {
            let t = x[i] * x[i];
            t + t * x[i]
        };
        z[i] += if x[i] > 0 {
            let t = 2 * x[i];
            t * t
        } else {
            x[i]
        };
    }
}

#[test]
fn local_names_inside_expressions_of_parallel_loops() {
    for cpu in cpus() {
        let mut z = [0.0; 3];
        let mut y = 0.0;
        local_names_in_parallel::run(&cpu, &mut y, &mut z, &[2.0, -1.0, 0.5]).unwrap();
        assert_eq!((y, z), (12.375, [16.0, -1.0, 1.0]));
        let v =
            local_names_in_parallel::vjp(&cpu, 1.0, &[1.0, 0.0, 10.0], &0.0, &[0.0; 3], &[2.0, -1.0, 0.5])
                .unwrap();
        // 2x + 3x², and 8x or 1 times the seed
        assert_eq!(v.x_bar, [16.0 + 16.0, 1.0, 1.75 + 40.0]);
    }
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Polar<T: Real> {
    radius: T,
    angle: T,
}

/// The cotangent of a complex number made of reals on the way has no place that says its type.
#[reversible]
fn complex_on_the_way<T: Real>(y: &mut T, a: T, b: T, p: &Polar<T>) {
    *y += re(Complex::new(a, b)) + 2 * im(Complex::new(b, a));
    *y += re(0.5 * Complex::new(p.radius, p.angle));
    *y += im(Complex::new(p.radius, p.angle) * Complex::new(a, b));
    *y += re(conj(Complex::new(a * p.radius, b)) + Complex::new(b, p.angle));
    *y += abs2(Complex::new(p.radius, 1.0) + Complex::new(a, p.angle));
    *y += re(sqrt(Complex::new(p.radius, p.angle)));
}

#[test]
fn complex_numbers_made_on_the_way() {
    let p = Polar { radius: 0.75, angle: 0.5 };
    let report = complex_on_the_way::check_gradient(&Cpu::new(), &0.25, 1.5, -0.5, &p).unwrap();
    assert!(report.passed(), "{report}");
}

#[reversible]
fn named_like_cotangents(y: &mut f64, y_bar: &mut f64, x: f64) {
    *y += x * x;
    *y_bar += 3.0 * x;
}

#[test]
fn a_parameter_named_like_a_cotangent() {
    let v = named_like_cotangents::vjp(&Cpu::new(), 1.0, 10.0, &0.0, &0.0, 2.0).unwrap();
    assert_eq!((v.y, v.y_bar, v.y_bar_, v.y_bar_bar, v.x_bar), (4.0, 6.0, 1.0, 10.0, 34.0));
}

#[reversible]
fn keywords(r#type: &mut [f64], r#match: f64) {
    for r#loop in 0..r#type.len() {
        r#type[r#loop] += r#match;
    }
}

#[test]
fn raw_identifiers() {
    let v = keywords::vjp(&Cpu::new(), &[1.0, 2.0], &[0.0; 2], 4.0).unwrap();
    assert_eq!((v.r#type, v.match_bar), (vec![4.0; 2], 3.0));
    assert!(keywords::check_inverse(&Cpu::new(), &[0.0; 2], 4.0).unwrap().passed());
}

fn one() -> rev_core::ir::Module {
    #[reversible]
    fn local(y: &mut f64) {
        *y += 1.0;
    }
    #[reversible]
    fn calls(y: &mut f64) {
        local(&mut y);
    }
    calls::ir()
}

fn two() -> rev_core::ir::Module {
    #[reversible]
    fn local(y: &mut f64) {
        *y += 2.0;
    }
    local::ir()
}

#[test]
fn functions_of_one_name_inside_functions() {
    let (one, two) = (one(), two());
    assert_eq!((one.functions.len(), two.functions.len()), (2, 1));
    assert!(!one.functions.contains_key(&two.entry), "{}", two.entry);
}

/// Moves a stack's values to another one, whose top is then what was the bottom.
#[reversible]
fn turned_over<T: Real>(from: &mut Stack<T>, to: &mut Stack<T>, sum: &mut T) {
    #[post(to.len() > 0)]
    while from.len() > 0 {
        let mut top = T::zero();
        pop(from, top);
        *sum += top * T::from_usize(3);
        push(to, top);
        release(top);
    }
}

#[test]
fn the_length_of_a_stack() {
    let (mut from, mut to, mut sum) = (Stack::from(vec![1.0, 2.0, 4.0]), Stack::new(), 0.0);
    turned_over(&mut from, &mut to, &mut sum).unwrap();
    assert_eq!((from.len(), to.as_slice(), sum), (0, &[4.0, 2.0, 1.0][..], 21.0));
    turned_over::inverse(&mut from, &mut to, &mut sum).unwrap();
    assert_eq!((from.as_slice(), to.len(), sum), (&[1.0, 2.0, 4.0][..], 0, 0.0));
    // a stack that must be empty isn't
    to = Stack::from(vec![1.0]);
    assert!(turned_over(&mut from, &mut to, &mut sum).is_err());
}

#[reversible]
fn doubled<T: Real>(y: &mut [T], x: &[T]) {
    for i in 0..y.len() {
        y[i] += 2 * x[i];
    }
}

#[reversible]
fn doubled_view<T: Real>(y: ArrayViewMut1<T>, x: ArrayView1<T>) {
    for i in 0..y.len() {
        y[i] += 2 * x[i];
    }
}

#[reversible]
fn tripled<T: Real>(y: &mut [T; 3], x: &[T; 3]) {
    for i in 0..3 {
        y[i] += 3 * x[i];
    }
}

#[reversible]
fn arrays_for_slices<T: Real>(y: &mut [T; 3], x: &[T; 3]) {
    let mut a = [T::zero(); 3];
    #[compute]
    {
        doubled(&mut a, &x);
    }
    doubled_view(&mut y, &a);
    tripled(&mut y, &a);
}

#[test]
fn fixed_size_arrays_for_slices() {
    let v = arrays_for_slices::vjp(&Cpu::new(), [1.0, 2.0, 3.0], &[0.0; 3], &[1.0, 1.0, 2.0]).unwrap();
    assert_eq!((v.y, v.x_bar), ([10.0, 10.0, 20.0], [10.0, 20.0, 30.0]));
}

#[reversible]
fn product_into<T: Real>(a: &mut T, b: T, c: T) {
    *a += b * c;
}

#[reversible]
fn elements_of_one_array<T: Real>(y: &mut [T; 3]) {
    product_into(&mut y[0], y[1], 2.0 * y[2]);
}

#[test]
fn an_element_is_lent_while_others_are_read() {
    let v = elements_of_one_array::vjp(&Cpu::new(), [1.0, 0.0, 0.0], &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!((v.y, v.y_bar), ([13.0, 2.0, 3.0], [1.0, 6.0, 4.0]));
}

/// Products that are rounded with the sum, in each element and in what all iterations add to.
#[reversible]
fn products_rounded_once<T: Real>(y: &mut [T], x: &[T], w: &[T], g: T) {
    for i in par(0..y.len()) {
        y[i] += fused(x[i] * w[i]);
        y[i] -= fused(g * x[i]);
    }
}

#[test]
fn fused_products_have_the_bits_of_the_processor() {
    let number = |k: usize| 1.0 / (k as f64 + 3.0);
    let (x, w): (Vec<f64>, Vec<f64>) = ((0..77).map(number).collect(), (100..177).map(number).collect());
    let g = 0.7;
    let expected: Vec<f64> = (0..77).map(|k| f64::mul_add(-g, x[k], f64::mul_add(x[k], w[k], 0.1))).collect();
    let apart: Vec<f64> = (0..77).map(|k| 0.1 + x[k] * w[k] - g * x[k]).collect();
    assert_ne!(expected, apart);
    let seed: Vec<f64> = (0..77).map(|k| 1.0 + number(k)).collect();
    // x̄ gets the second product first, on a zero
    let x_bar: Vec<f64> = (0..77).map(|k| f64::mul_add(seed[k], w[k], -(seed[k] * g))).collect();
    for cpu in
        cpus().into_iter().flat_map(|c| [c.clone(), c.clone().checks(false), c.checks(false).lanes(false)])
    {
        let mut y = vec![0.1; 77];
        products_rounded_once::run(&cpu, &mut y, &x, &w, g).unwrap();
        assert_eq!(y, expected);
        let v = products_rounded_once::vjp(&cpu, &seed, &y, &x, &w, g).unwrap();
        assert_eq!(v.x_bar, x_bar);
        let g_bar: f64 = -(0..77).map(|k| seed[k] * x[k]).sum::<f64>();
        assert!((v.g_bar - g_bar).abs() < 1e-14 * g_bar.abs());
    }
}

/// The sine and the cosine of a number whose type only their names tell.
#[reversible]
fn typed_by_names(y: &mut [f32], x: &[f32]) {
    for i in par(0..x.len()) {
        let angle = 0.5;
        let s: f32 = sin(angle);
        let c: f32 = cos(angle);
        y[i] += if s < c { x[i] } else { -x[i] };
        let cosine = x[i].cos();
        let sine = x[i].sin();
        y[i] += sine - 2.0 * cosine;
    }
}

#[test]
fn sine_and_cosine_at_once() {
    let x: Vec<f32> = (0..50).map(|i| i as f32 * 0.37 - 5.0).collect();
    let expected: Vec<f32> = x.iter().map(|x| x + (x.sin() - 2.0 * x.cos())).collect();
    for cpu in cpus().into_iter().chain(cpus().map(|cpu| cpu.checks(false))) {
        let mut y = vec![0.0; 50];
        typed_by_names::run(&cpu, &mut y, &x).unwrap();
        y.iter().zip(&expected).for_each(|(y, e)| assert!((y - e).abs() <= 1e-5, "{y} instead of {e}"));
        let g = typed_by_names::vjp(&cpu, &[1.0; 50], &[0.0; 50], &x).unwrap();
        let slopes = x.iter().map(|x| 1.0 + x.cos() + 2.0 * x.sin());
        g.x_bar.iter().zip(slopes).for_each(|(g, e)| assert!((g - e).abs() <= 1e-5, "{g} instead of {e}"));
    }
}

#[reversible(constant(x))]
fn weighted<T: Real>(y: &mut [T], a: &[T], b: &[T], x: &[T]) {
    for i in 0..x.len() {
        y[i] += a[i] * b[i] * x[i];
    }
}

#[reversible(constant(x))]
fn weighted_in_a_loop<T: Real>(y: &mut [T], z: &mut T, w: T, v: &[T], x: &[T]) {
    let n = w;
    for i in 0..2 {
        weighted(&mut y, &v, &v, &x);
        weighted(&mut y, &v, &v, &x);
        *z -= n;
    }
}

#[reversible(constant(x))]
fn scaled<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for i in 0..x.len() {
        y[i] += a * x[i];
    }
}

#[reversible(constant(x))]
fn scaled_in_a_branch<T: Real>(y: &mut [T], z: &mut [T], w: T, x: &[T]) {
    let n = w;
    for i in 0..2 {
        if w > 0.5 {
            scaled(&mut y, x[i].exp(), &x);
        } else {
            z[i] -= n;
        }
    }
}

/// A constant's shadow that calls in a loop leave what they find in: the loop's adjoint is made more than once.
#[test]
fn constants_passed_to_calls_in_loops() {
    let interpreter = rev_core::interp::Interpreter::new();
    let cpus = cpus().into_iter().flat_map(|cpu| [cpu.clone(), cpu.checks(false)]);
    let mut devices: Vec<Box<dyn rev_core::device::Device>> = cpus.map(|cpu| Box::new(cpu) as _).collect();
    devices.push(Box::new(interpreter));
    let (y, v, x) = ([0.0; 3], [1.0, 2.0, 3.0], [0.5, 0.25, 4.0]);
    for device in &devices {
        let g = weighted_in_a_loop::vjp(&**device, &[1.0; 3], 1.0, &y, &0.0, 2.0, &v, &x).unwrap();
        assert_eq!((g.v_bar, g.w_bar), (vec![4.0, 4.0, 96.0], -2.0), "{}", device.name());
        let g = scaled_in_a_branch::vjp(&**device, &[1.0; 2], &[1.0; 2], &x[..2], &x[..2], 0.25, &x[..2]);
        assert_eq!(g.unwrap().w_bar, -2.0, "{}", device.name());
        let g = scaled_in_a_branch::vjp(&**device, &[1.0; 2], &[1.0; 2], &x[..2], &x[..2], 0.75, &x[..2]);
        assert_eq!(g.unwrap().w_bar, 0.0, "{}", device.name());
    }
}

/// The adjoint's coefficient is a choice of numbers inside a branch; on a GPU it was the constant 0.
#[reversible]
fn chosen_twice<T: Real>(y: &mut [T], p: &mut T, q: &mut T, x: i32) {
    let n0 = *q;
    let n1 = T::from_f64(0.41);
    y[1] -= select(n1 <= y[0], if x % 2 != 0 { *p } else { n0 }, n0);
}

#[test]
fn a_choice_inside_a_choice() {
    let interpreter = rev_core::interp::Interpreter::new();
    let cpu = Cpu::new().checks(false);
    let devices: [&dyn rev_core::device::Device; 3] = [&interpreter, &Cpu::new(), &cpu];
    for (first, x, p_bar, q_bar) in [(0.0, 1, 0.0, -0.25), (1.0, 1, -0.25, 0.0), (1.0, 2, 0.0, -0.25)] {
        for device in devices {
            let g = chosen_twice::vjp(device, &[0.5, 0.25], 0.0, 0.0, &[first, 2.0], &3.0, &5.0, x).unwrap();
            assert_eq!((g.p_bar, g.q_bar), (p_bar, q_bar), "{}", device.name());
        }
    }
}
