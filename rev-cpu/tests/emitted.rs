//! Programs whose emitted Rust was wrong once, or didn't compile. Most were found by the random programs
//! of `testgen/compiled`; each stands here by its name.

use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq};
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
        assert_relative_eq!(v.g_bar, g_bar, epsilon = 0.0, max_relative = 1e-14);
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
        y.iter().zip(&expected).for_each(|(y, e)| assert_abs_diff_eq!(y, e, epsilon = 1e-5));
        let g = typed_by_names::vjp(&cpu, &[1.0; 50], &[0.0; 50], &x).unwrap();
        let slopes = x.iter().map(|x| 1.0 + x.cos() + 2.0 * x.sin());
        g.x_bar.iter().zip(slopes).for_each(|(g, e)| assert_abs_diff_eq!(*g, e, epsilon = 1e-5));
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

fn all_devices() -> [Box<dyn Device>; 5] {
    let [one, several] = cpus();
    let interpreter = rev_core::interp::Interpreter::new();
    [
        Box::new(one.clone()),
        Box::new(one.checks(false)),
        Box::new(several.clone()),
        Box::new(several.checks(false)),
        Box::new(interpreter),
    ]
}

/// Loops over each type of integer, with steps that its numbers may be too small for: what they visit, in order,
/// and the sum of squares over parallel iterations and over lanes with steps of their own.
macro_rules! wide_steps {
    ($($of:ident $t:ident;)*) => {$(
        #[allow(dead_code)] // plain calls
        mod $of {
            use super::*;

            #[reversible]
            pub fn order(order: &mut [i128], from: $t, to: $t, k: usize) {
                let mut at = 0usize;
                for i in (from..=to).step_by(k) {
                    order[at] += i as i128;
                    inc(at);
                }
                for i in (from..=to).step_by(k).rev() {
                    order[at] += i as i128;
                    inc(at);
                }
                for i in (from..to).rev().step_by(k) {
                    order[at] += i as i128;
                    inc(at);
                }
                for i in (from..to).rev().step_by(k).rev() {
                    order[at] += i as i128;
                    inc(at);
                }
            }

            #[reversible]
            pub fn sums(s: &mut i64, each: &mut [i64], from: $t, to: $t, k: usize) {
                for i in par((from..=to).step_by(k)) {
                    *s += (i as i64) * (i as i64) + 3 * (i as i64);
                }
                for i in par((from..to).rev().step_by(k)) {
                    *s += 5 * (i as i64) + 1;
                }
                for j in par(0..each.len()) {
                    for i in (from..=to).step_by(k + j).rev() {
                        each[j] += 7 * (i as i64) + 1;
                    }
                }
            }

            pub fn check(device: &dyn Device, from: $t, to: $t, k: usize) {
                let text = format!("{from}..{to} by {k} on {}", device.name());
                let up = || (from..=to).step_by(k);
                let down = || (from..to).rev().step_by(k);
                let (ups, downs): (Vec<$t>, Vec<$t>) = (up().collect(), down().collect());
                let all = ups.iter().chain(ups.iter().rev()).chain(&downs).chain(downs.iter().rev());
                let expected: Vec<i128> = all.map(|i| *i as i128).collect();
                let mut found = vec![0; expected.len()];
                order::run(device, &mut found, from, to, k).unwrap();
                assert_eq!(found, expected, "{text}");
                order::run_inverse(device, &mut found, from, to, k).unwrap();
                assert_eq!(found, vec![0; expected.len()], "{text}");

                let sum = |values: &[$t], f: fn(i64) -> i64| values.iter().fold(0i64, |s, i| s.wrapping_add(f(*i as i64)));
                let expected = sum(&ups, |i| i.wrapping_mul(i).wrapping_add(i.wrapping_mul(3)))
                    .wrapping_add(sum(&downs, |i| i.wrapping_mul(5).wrapping_add(1)));
                let of_each = |j| sum(&(from..=to).step_by(k + j).collect::<Vec<_>>(), |i| i.wrapping_mul(7).wrapping_add(1));
                let each: Vec<i64> = (0..20).map(of_each).collect();
                let (mut s, mut found) = (0, vec![0; 20]);
                sums::run(device, &mut s, &mut found, from, to, k).unwrap();
                assert_eq!((s, &found), (expected, &each), "{text}");
                sums::run_inverse(device, &mut s, &mut found, from, to, k).unwrap();
                assert_eq!((s, found), (0, vec![0; 20]), "{text}");
            }
        }
    )*};
}
wide_steps! {
    of_i8 i8; of_i16 i16; of_i32 i32; of_i64 i64; of_i128 i128; of_isize isize;
    of_u8 u8; of_u16 u16; of_u32 u32; of_u64 u64; of_u128 u128; of_usize usize;
}

#[test]
fn steps_wider_than_the_loop_variable() {
    for device in all_devices() {
        let device = &*device;
        for k in [100, 127, 128, 200, 255, 256, 1 << 40] {
            of_i8::check(device, i8::MIN, i8::MAX, k);
            of_i8::check(device, -100, 100, k);
            of_i8::check(device, 100, -100, k);
            of_u8::check(device, 0, u8::MAX, k);
        }
        for k in [30_000, 40_000, 65_535, 65_536] {
            of_i16::check(device, i16::MIN, i16::MAX, k);
            of_u16::check(device, 0, u16::MAX, k);
        }
        for k in [1 << 30, (1 << 31) - 1, 3 << 30, (1 << 32) - 1, 1 << 32] {
            of_i32::check(device, i32::MIN, i32::MAX, k);
            of_u32::check(device, 0, u32::MAX, k);
        }
        for k in [1 << 62, (1 << 63) - 1, 1 << 63, 3 << 62, usize::MAX - 20] {
            of_i64::check(device, i64::MIN, i64::MAX, k);
            of_i64::check(device, i64::MAX, i64::MIN, k);
            of_isize::check(device, isize::MIN, isize::MAX, k);
            of_u64::check(device, 0, u64::MAX, k);
            of_u64::check(device, u64::MAX, 0, k);
            of_usize::check(device, 3, usize::MAX, k);
            of_i128::check(device, -(1 << 64), 1 << 64, k);
            of_i128::check(device, i128::MAX - (1 << 65), i128::MAX, k);
            of_i128::check(device, i128::MIN, i128::MIN + (1 << 65), k);
            of_u128::check(device, u128::MAX - (1 << 65), u128::MAX, k);
            of_u128::check(device, u128::MAX, 0, k);
        }
    }
}

/// A step that is a literal has its own type too, and so has a product of steps.
#[reversible]
fn literal_steps(order: &mut [i64], n: u8, by: u8) {
    let mut at = 0usize;
    for i in (-128i8..=127).step_by(200) {
        order[at] += i as i64;
        inc(at);
    }
    for i in (-128i8..=127).rev().step_by(2 * 100) {
        order[at] += i as i64;
        inc(at);
    }
    for i in (0u8..=255).step_by(3_000_000_000) {
        order[at] += i as i64 + 1;
        inc(at);
    }
    for i in (0u8..=n).step_by(16).step_by(15) {
        order[at] += i as i64;
        inc(at);
    }
    for i in (0u64..1000).step_by(n).step_by(by) {
        order[at] += i as i64;
        inc(at);
    }
}

#[test]
fn steps_without_a_type() {
    let mut expected: Vec<i64> = vec![-128, 72, 127, -73, 1, 0, 240];
    expected.extend((0..1000).step_by(250).step_by(2));
    assert_eq!(expected[7..], [0, 500]);
    for device in all_devices() {
        let mut order = [0; 9];
        literal_steps::run(&*device, &mut order, 250, 2).unwrap();
        assert_eq!(order[..], expected, "{}", device.name());
        literal_steps::run_inverse(&*device, &mut order, 250, 2).unwrap();
        assert_eq!(order, [0; 9], "{}", device.name());
    }
}

/// Pivoting: exchanging an element with itself needs no branch.
#[reversible]
fn pivoted<T: Real>(a: &mut [[T; 2]], x: &mut [T], pivots: &[usize]) {
    for k in 0..pivots.len() {
        swap(a[k], a[pivots[k]]);
        swap(a[k][0], a[pivots[k]][0]);
        swap(x[k], x[pivots[k]]);
    }
}

/// The middle of an odd array is exchanged with itself.
#[reversible]
fn mirrored<T: Real>(x: &mut [T]) {
    let n = x.len();
    #[disjoint(x)]
    for i in par(0..(n + 1) / 2) {
        swap(x[i], x[n - 1 - i]);
    }
}

/// Elements of each iteration's own, in lanes.
#[reversible]
fn in_rows<T: Real>(x: &mut [[T; 3]], at: &[usize]) {
    for i in par(0..x.len()) {
        swap(x[i][1], x[i][at[i]]);
    }
}

#[test]
fn an_element_is_exchanged_with_itself() {
    for device in all_devices() {
        let device = &*device;
        let start: Vec<f64> = (0..41).map(f64::from).collect();
        let rows: Vec<[f64; 2]> = start.iter().map(|x| [*x, -x]).collect();
        let pivots = [3, 1, 2, 3, 40];
        let (mut a, mut x) = (rows.clone(), start.clone());
        pivoted::run(device, &mut a, &mut x, &pivots).unwrap();
        let mut expected = start.clone();
        pivots.iter().enumerate().for_each(|(k, p)| expected.swap(k, *p));
        assert_eq!(x, expected, "{}", device.name());
        let v = pivoted::vjp(device, &rows, &start, &rows, &start, &pivots).unwrap();
        assert_eq!(v.x, expected);
        let mut back = start.clone();
        pivots.iter().enumerate().rev().for_each(|(k, p)| back.swap(k, *p));
        assert_eq!(v.x_bar, back);
        pivoted::run_inverse(device, &mut a, &mut x, &pivots).unwrap();
        assert_eq!((&a, &x), (&rows, &start), "{}", device.name());

        let mut x = start.clone();
        mirrored::run(device, &mut x).unwrap();
        assert!(x.iter().rev().eq(&start), "{}", device.name());
        let v = mirrored::vjp(device, &start, &x).unwrap();
        assert_eq!((&v.x, &v.x_bar), (&start, &x));
        mirrored::run_inverse(device, &mut x).unwrap();
        assert_eq!(x, start);

        let at: Vec<usize> = (0..41).map(|i| i % 3).collect();
        let rows: Vec<[f64; 3]> = start.iter().map(|x| [*x, x + 0.25, x + 0.5]).collect();
        let mut x = rows.clone();
        in_rows::run(device, &mut x, &at).unwrap();
        let mut expected = rows.clone();
        expected.iter_mut().zip(&at).for_each(|(x, at)| x.swap(1, *at));
        assert_eq!(x, expected);
        let v = in_rows::vjp(device, &rows, &rows, &at).unwrap();
        assert_eq!(v.x_bar, expected);
        in_rows::run_inverse(device, &mut x, &at).unwrap();
        assert_eq!(x, rows);
    }
}

/// Rows of which several elements change, in branches and loops, at places of each iteration's own; one under two names.
#[reversible]
#[allow(clippy::too_many_arguments)]
fn changed_rows<T: Real>(
    x: &mut [[T; 3]],
    y: &mut [[T; 2]],
    z: &mut [[T; 2]],
    w: &[[T; 3]],
    to: &[usize],
    steps: usize,
) {
    #[injective(to)]
    for i in par(0..x.len()) {
        x[i][0] += w[i][1] * w[i][2];
        y[to[i]][1] += w[i][0];
        if w[i][0] > 0.0 {
            x[i][1] += x[i][0] * w[i][0];
        } else {
            x[i][2] -= x[i][0];
        }
        for _ in 0..steps {
            x[i][1] += w[i][2];
        }
        y[to[i]][0] += x[i][0] * y[to[i]][1];
        x[i][2] += x[i][1] * w[i][1];
        z[i][0] += w[i][0];
        let next = i + 1;
        z[next - 1][0] += w[i][1];
        z[i][1] += z[next - 1][0] * w[i][2];
    }
}

#[test]
fn rows_of_which_several_elements_change() {
    let n = 37;
    let row = |i: usize| -> [f64; 3] { std::array::from_fn(|k| ((3 * i + k) as f64 * 0.7).sin()) };
    let w: Vec<[f64; 3]> = (0..n).map(row).collect();
    let (x, y) = (vec![[0.5, 0.25, -1.5]; n], vec![[0.125, 2.0]; n]);
    let z = y.clone();
    let mut to: Vec<usize> = (0..n).map(|i| (5 * i + 3) % n).collect();
    let (mut x_after, mut y_after, mut z_after) = (x.clone(), y.clone(), z.clone());
    for (i, w) in w.iter().enumerate() {
        let (x, y, z) = (&mut x_after[i], &mut y_after[to[i]], &mut z_after[i]);
        x[0] += w[1] * w[2];
        y[1] += w[0];
        match w[0] > 0.0 {
            true => x[1] += x[0] * w[0],
            false => x[2] -= x[0],
        }
        (0..3).for_each(|_| x[1] += w[2]);
        y[0] += x[0] * y[1];
        x[2] += x[1] * w[1];
        z[0] += w[0];
        z[0] += w[1];
        z[1] += z[0] * w[2];
    }
    let mut first = None;
    for device in all_devices() {
        let device = &*device;
        let (mut x_now, mut y_now, mut z_now) = (x.clone(), y.clone(), z.clone());
        changed_rows::run(device, &mut x_now, &mut y_now, &mut z_now, &w, &to, 3).unwrap();
        assert_eq!((&x_now, &y_now, &z_now), (&x_after, &y_after, &z_after), "{}", device.name());
        let bars = (&x_after, &y_after, &z_after);
        let v = changed_rows::vjp(device, &x, &y, &z, bars.0, bars.1, bars.2, &w, &to, 3).unwrap();
        let (x_bar, z_bar, w_bar) = (v.x_bar, v.z_bar, v.w_bar);
        let expected = first.get_or_insert_with(|| (x_bar.clone(), z_bar.clone(), w_bar.clone()));
        assert_eq!((&x_bar, &z_bar, &w_bar), (&expected.0, &expected.1, &expected.2), "{}", device.name());
        changed_rows::run_inverse(device, &mut x_now, &mut y_now, &mut z_now, &w, &to, 3).unwrap();
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(
            x_now.iter().zip(&x).all(|(a, b)| near(a, b)) && y_now.iter().zip(&y).all(|(a, b)| near(a, b))
        );
        assert!(z_now.iter().zip(&z).all(|(a, b)| near(a, b)));
    }
    // an element that isn't there is told of as it is written
    to[20] = n;
    for device in all_devices() {
        let (mut x_now, mut y_now, mut z_now) = (x.clone(), y.clone(), z.clone());
        let error = changed_rows::run(&*device, &mut x_now, &mut y_now, &mut z_now, &w, &to, 3)
            .unwrap_err()
            .to_string();
        assert!(error.contains("y[to[i]][1]") && error.contains("37"), "{}: {error}", device.name());
    }
}

macro_rules! leaves {
    () => {
        return
    };
}

static SEEN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

fn seen(n: usize) {
    SEEN.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
}

/// What a macro in an external block expands to can leave that block only, and closures can be left.
#[reversible]
fn observed(y: &mut f64, x: &[f64]) {
    for i in 0..x.len() {
        *y += x[i];
        #[external]
        {
            let early = |x: f64| {
                if x > 1.0 {
                    return 1;
                }
                0
            };
            for k in 0..10 {
                if k == 3 {
                    break;
                }
                seen(early(x[i]));
            }
            if x[i] > 1.0 {
                leaves!();
            }
            seen(100);
        }
        *y += 1.0;
    }
}

#[test]
fn an_external_block_is_left_at_its_end() {
    let mut y = 0.0;
    observed(&mut y, &[0.5, 2.0, 0.25]).unwrap();
    assert_eq!((y, SEEN.load(std::sync::atomic::Ordering::Relaxed)), (5.75, 203));
    observed::inverse(&mut y, &[0.5, 2.0, 0.25]).unwrap();
    assert_eq!((y, SEEN.load(std::sync::atomic::Ordering::Relaxed)), (0.0, 406));
}

/// What needs nothing of its scalar may still be called with numbers that carry a derivative.
#[reversible]
fn exchanged<T: Scalar>(a: &mut T, b: &mut T) {
    swap(a, b);
}

#[reversible]
fn through_storage<T: Real>(y: &mut T, x: &[T]) {
    for i in 0..x.len() {
        let mut a = T::zero();
        let mut b = T::zero();
        a += x[i] * x[i];
        exchanged(&mut a, &mut b);
        *y += b * x[i];
    }
}

#[test]
fn storage_carries_derivatives() {
    for device in all_devices() {
        let g = through_storage::gradient(&*device, &[2.0, 3.0]).unwrap();
        assert_eq!((g.value, g.x), (35.0, vec![12.0, 27.0]), "{}", device.name());
    }
}

/// A function with a statement doubled for each number.
macro_rules! doubled {
    ([] $head:tt $($statement:tt)*) => { doubled! { @ $head $($statement)* } };
    ([$one:tt $($more:tt)*] $head:tt $($statement:tt)*) => {
        doubled! { [$($more)*] $head $($statement)* $($statement)* }
    };
    (@ { { $($item:tt)* } { $($first:tt)* } { $($last:tt)* } } $($statement:tt)*) => {
        #[reversible]
        $($item)* { $($first)* $($statement)* $($last)* }
    };
}

doubled! {
    [2 2 2 2 2 2 2 2]
    { { fn deep_names<T: Real>(y: &mut T, x: T) } { let t = x; } { *y += t; } }
    let t = t * x;
}

doubled! {
    [2 2 2 2 2 2 2 2]
    { { fn long_sums<T: Real>(y: &mut T, x: T) } { let mut a = T::zero(); } { *y += a; } }
    a += x * x;
}

/// Each name's scope is inside that of the one before: 257 of them.
#[test]
fn long_programs_have_their_ir_and_their_gradient() {
    let x = 1.0 - 1e-3;
    assert!(deep_names::ir().entry().is_some());
    assert!(deep_names::ir().adjoint().entry().is_some());
    assert!(long_sums::ir().entry().is_some());
    for device in all_devices() {
        let g = deep_names::gradient(&*device, x).unwrap();
        let expected = [f64::powi(x, 257), 257.0 * f64::powi(x, 256)];
        for (got, expected) in [g.value, g.x].into_iter().zip(expected) {
            assert!(
                abs_diff_eq!(got, expected, epsilon = 1e-12 * expected),
                "{}: {got} {expected}",
                device.name()
            );
        }
        let g = long_sums::gradient(&*device, 0.5).unwrap();
        assert_eq!((g.value, g.x), (64.0, 256.0), "{}", device.name());
    }
}
