//! Functions: the table of pure functions, `#[pure]`, calls and uncalls, generic, recursive,
//! higher-order, and across modules and crates.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev::prelude::*;

fn devices() -> [Box<dyn Device>; 2] {
    [Box::new(Cpu::new()), Box::new(Interpreter::new())]
}

#[reversible]
fn table<T: Real>(y: &mut [T], x: T, z: T, n: i32) {
    y[0] += x.min(z) + x.max(z) + x.abs();
    y[1] += x.sqrt() + x.exp() + x.ln() + x.log2() + x.log10() + x.ln_1p() + x.exp_m1();
    y[2] += x.sin() + x.cos() + x.tan() + x.sinh() + x.cosh() + x.tanh();
    y[3] += asin(x / 4.0) + acos(x / 4.0) + x.atan() + x.atan2(z);
    y[4] += x.powi(n) + x.powf(z) + x.hypot(z) + x.recip() + x.mul_add(z, 1.0);
    y[5] += select(x > z, x, z * 2.0) + x.ln_gamma() + x.signum() + x.copysign(z);
    y[6] += x.floor() + x.ceil() + x.round() + x.trunc() + log1p(x) + expm1(x);
    y[7] += x.abs2() + x.re() + x.im() + x.conj() + x.norm();
}

#[test]
fn the_functions_of_the_table() {
    let (x, z): (f64, f64) = (1.25, 0.75);
    let expected = [
        z + x + x,
        x.sqrt() + x.exp() + x.ln() + x.log2() + x.log10() + x.ln_1p() + x.exp_m1(),
        x.sin() + x.cos() + x.tan() + x.sinh() + x.cosh() + x.tanh(),
        (x / 4.0).asin() + (x / 4.0).acos() + x.atan() + x.atan2(z),
        x.powi(3) + x.powf(z) + x.hypot(z) + x.recip() + x.mul_add(z, 1.0),
        x + rev::scalar::rt::ln_gamma(x) + 1.0 + x,
        1.0 + 2.0 + 1.0 + 1.0 + x.ln_1p() + x.exp_m1(),
        x * x + x + x + x,
    ];
    for device in devices() {
        let mut y = [0.0; 8];
        table::run(&*device, &mut y, x, z, 3).unwrap();
        for (found, expected) in y.iter().zip(expected) {
            assert!(abs_diff_eq!(*found, expected, epsilon = 1e-12), "{y:?} {expected}");
        }
        table::run_inverse(&*device, &mut y, x, z, 3).unwrap();
        assert!(y.iter().all(|&y| abs_diff_eq!(y, 0.0, epsilon = 1e-14)));
        let report = table::check_gradient(&*device, &[0.0; 8], x, z, 3).unwrap();
        assert!(report.passed(), "{report}");
    }
}

/// A number whose parameter is a constant.
#[reversible(tangent, adjoint, taylor = 2, constant(w))]
fn product<T: Real>(y: &mut T, x: T, w: T) {
    *y += x * w;
}

/// `Σ x³`, whose square is stopped, in lanes and through a constant, and what follows from stopped numbers alone.
#[reversible(tangent, adjoint, taylor = 2)]
fn stopped<T: Real>(y: &mut T, x: &[T]) {
    let mut squares = vec![T::zero(); x.len()];
    for i in 0..x.len() {
        squares[i] += (x[i] * x[i]).stop_gradient();
    }
    let mut half = T::zero();
    for i in par(0..x.len()) {
        half += 0.5 * x[i] * squares[i];
    }
    *y += half;
    for i in 0..x.len() {
        product(&mut *y, 0.5 * x[i], squares[i]);
    }
}

#[test]
fn what_is_stopped_has_no_derivative() {
    let x: Vec<f64> = (0..19).map(|i| 0.25 * (i - 9) as f64).collect();
    let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
    let ones = vec![1.0; x.len()];
    for device in devices() {
        let g = stopped::gradient(&*device, &x).unwrap();
        assert_abs_diff_eq!(g.value, x.iter().map(|x| x * x * x).sum::<f64>(), epsilon = 1e-13);
        assert_eq!(g.x, squares);
        let product = stopped::gradient_and_hvp(&*device, &ones, &x).unwrap().1;
        assert_eq!(product.x, vec![0.0; x.len()]);
        assert_eq!(stopped::jvp(&*device, &0.0, &ones, &0.0, &x).unwrap().y_dot, squares.iter().sum::<f64>());
        let curve = stopped::directional(&*device, &0.0, &ones, &0.0, &x).unwrap().y;
        assert_eq!(curve[1..], [squares.iter().sum::<f64>(), 0.0]);
        let report = stopped::check_gradient(&*device, &0.0, &x).unwrap();
        assert!(!report.passed(), "{report}");
    }
}

/// References that are passed on by their names, with tangents too.
#[reversible(tangent)]
fn passed_on<T: Real>(y: &mut T, x: &[T]) {
    for i in 0..x.len() {
        add_scaled(y, x[i], 2.0);
    }
    add_scaled(y, -x[0], 1.0);
}

#[reversible(tangent)]
fn add_scaled<T: Real>(y: &mut T, x: T, by: T) {
    *y += by * x;
}

#[test]
fn a_reference_to_a_number_is_passed_on_by_its_name() {
    for device in devices() {
        let g = passed_on::gradient(&*device, &[3.0, 4.0]).unwrap();
        assert_eq!((g.value, g.x), (11.0, vec![1.0, 2.0]));
        let d = passed_on::jvp(&*device, &0.0, &[1.0, 10.0], &0.0, &[3.0, 4.0]).unwrap();
        assert_eq!((d.y, d.y_dot), (11.0, 21.0));
    }
}

const GAIN: f64 = 2.5;

mod consts {
    pub const SHIFT: f64 = 1.0;
}

#[reversible]
fn expressions(y: &mut f64, x: f64, n: usize, m: i64, b: bool) {
    *y += GAIN * x + consts::SHIFT + std::f64::consts::PI + f64::EPSILON * 0.0;
    *y += if n > 2 && !b || m == -7 {
        x
    } else {
        let t = x * x;
        t + 1.0
    };
    *y += (m / 2) as f64 + (m % 3) as f64 + (n >> 1) as f64 + (n << 2) as f64;
    *y += ((n & 5) | (n ^ 3)) as f64;
    *y += f64::from(m as i32) + (n, x).1 + (x.sin_cos().0);
    *y += -x + (-2.0) - (-x);
}

#[test]
fn expressions_mean_what_they_mean_in_rust() {
    let (x, n, m) = (1.5f64, 6usize, -7i64);
    let mut expected = GAIN * x + consts::SHIFT + std::f64::consts::PI;
    expected += x;
    expected += -3.0 - 1.0 + 3.0 + 24.0;
    expected += ((n & 5) | (n ^ 3)) as f64;
    expected += -7.0 + x + x.sin();
    expected += -2.0;
    for device in devices() {
        let mut y = 0.0;
        expressions::run(&*device, &mut y, x, n, m, true).unwrap();
        assert_abs_diff_eq!(y, expected, epsilon = 1e-12);
    }
}

/// `x² sin x`, with its derivative left to the compiler.
#[pure]
fn wave<T: Real>(x: T, n: usize) -> T {
    let square = x * x;
    if n == 0 {
        square
    } else {
        square * x.sin() * T::from_usize(n)
    }
}

/// `ln(1 + eˣ)`, with a derivative that doesn't overflow.
#[pure(d(x) = 1.0 / (1.0 + (-x).exp()))]
fn ramp<T: Real>(x: T) -> T {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[pure]
fn polar<T: Real>(x: T, y: T) -> (T, T) {
    (x.hypot(y), y.atan2(x))
}

#[pure]
fn nested<T: Real>(x: T) -> T {
    let (r, angle) = polar(x, wave(x, 1));
    r * angle + ramp(x)
}

#[reversible]
fn pure_calls<T: Real>(y: &mut T, r: &mut T, a: &mut T, x: T) {
    *y += wave(x, 2) * ramp(x) + nested(x);
    (*r, *a) += polar(x, x + 1.0);
    *y += polar(x, 2.0).0;
}

#[test]
fn pure_functions() {
    assert_eq!(wave(2.0, 0), 4.0);
    assert_abs_diff_eq!(ramp(0.0f64), 2f64.ln(), epsilon = 1e-15);
    for device in devices() {
        let report = pure_calls::check_gradient(&*device, &0.0, &0.0, &0.0, 0.7).unwrap();
        assert!(report.passed(), "{report}");
        let (mut y, mut r, mut a) = (0.0, 0.0, 0.0);
        pure_calls::run(&*device, &mut y, &mut r, &mut a, 3.0).unwrap();
        assert_eq!((r, a), (5.0, 4f64.atan2(3.0)));
        pure_calls::run_inverse(&*device, &mut y, &mut r, &mut a, 3.0).unwrap();
        assert_eq!((r, a), (0.0, 0.0));
    }
}

/// The given derivative is used, not the derived one.
#[pure(d(x) = T::from_f64(100.0))]
fn pretend<T: Real>(x: T) -> T {
    x * 2.0
}

/// One derivative for each element of the result.
#[pure(d(x) = (T::from_f64(10.0), T::from_f64(20.0)))]
fn pretend_both<T: Real>(x: T, n: usize) -> (T, T) {
    (x, x * T::from_usize(n))
}

#[reversible]
fn pretending<T: Real>(y: &mut T, z: &mut T, x: T) {
    *y += pretend(x) * 3.0;
    (*y, *z) += pretend_both(x, 2);
}

#[test]
fn a_given_derivative_is_used() {
    for device in devices() {
        let v = pretending::vjp(&*device, 1.0, 2.0, &0.0, &0.0, 1.0).unwrap();
        assert_eq!((v.y, v.z, v.x_bar), (7.0, 2.0, 300.0 + 10.0 + 2.0 * 20.0));
    }
}

mod library {
    use rev::prelude::*;

    /// `y += a x`
    #[reversible(inverse_adjoint)]
    pub fn axpy<T: Real>(y: &mut [T], x: &[T], a: T) {
        for i in 0..x.len() {
            y[i] += a * x[i];
        }
    }

    pub mod deep {
        use rev::prelude::*;

        #[reversible]
        pub fn scale_pair<T: Real>(p: &mut (T, T), angle: T) {
            rot(p.0, p.1, angle);
        }
    }
}

use library::deep;

#[reversible]
fn calls<T: Real>(y: &mut [T], p: &mut (T, T), x: &[T], n: usize) {
    library::axpy(&mut y[..n], &x, 2.0);
    library::axpy::<T>(&mut y[n..], x, T::one() + T::one());
    deep::scale_pair(&mut p, y[0]);
    library::axpy::inverse(&mut y[0..n], &x, 1.0);
    let mut scratch = vec![T::zero(); n];
    library::axpy(&mut scratch, &x, 1.0);
    for i in 0..n {
        y[i] += scratch[i];
    }
}

#[test]
fn calls_and_uncalls() {
    for device in devices() {
        let (mut y, mut p, x) = (vec![0.0; 4], (1.0, 0.0), [1.0, 2.0]);
        calls::run(&*device, &mut y, &mut p, &x, 2).unwrap();
        assert_eq!(y, [2.0, 4.0, 2.0, 4.0]);
        assert_abs_diff_eq!(p.0, 2f64.cos(), epsilon = 1e-15);
        assert_abs_diff_eq!(p.1, 2f64.sin(), epsilon = 1e-15);
        calls::run_inverse(&*device, &mut y, &mut p, &x, 2).unwrap();
        assert_eq!(y, [0.0; 4]);
        let report = calls::check_gradient(&*device, &[0.5; 4], &(1.0, 0.5), &x, 2).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[reversible]
fn across_crates(y: &mut f64, z: Complex<f64>) {
    let mut logarithm = Complex::<f64>::zero();
    rev_kernels::multiplier::multiplier(&mut y, z.re, z.im);
    logarithm += z.ln();
    *y += logarithm.re;
}

#[test]
fn calls_across_crates() {
    for device in devices() {
        let mut y = 0.0;
        across_crates::run(&*device, &mut y, Complex::new(0.6, 0.8)).unwrap();
        assert_abs_diff_eq!(y, 0.48, epsilon = 1e-15);
        across_crates::run_inverse(&*device, &mut y, Complex::new(0.6, 0.8)).unwrap();
        assert_abs_diff_eq!(y, 0.0, epsilon = 1e-15);
    }
}

#[reversible]
fn fibonacci(n_th: &mut u64, n: u64) {
    if n < 2 {
        *n_th += n;
    } else {
        let mut a = 0;
        let mut b = 0;
        fibonacci(&mut a, n - 1);
        fibonacci(&mut b, n - 2);
        *n_th += a + b;
    }
}

#[test]
fn recursion() {
    for device in devices() {
        let mut f = 0;
        fibonacci::run(&*device, &mut f, 10).unwrap();
        assert_eq!(f, 55);
        fibonacci::run_inverse(&*device, &mut f, 10).unwrap();
        assert_eq!(f, 0);
    }
}

/// `y += f²(x)` by Bennett's scheme: the middle value is uncomputed.
#[reversible(inverse_adjoint)]
fn twice<T: Real, F: Reversible<(&mut T, &T)>>(y: &mut T, x: &T, f: F) {
    let mut middle = T::zero();
    #[compute]
    {
        f(&mut middle, &x);
    }
    f(&mut y, &middle);
}

#[reversible]
fn undo<T: Real>(y: &mut T, x: &T, f: impl Reversible<(&mut T, &T)>) {
    f.inverse(&mut y, &x);
}

#[reversible(inverse_adjoint)]
fn square_plus<T: Real>(y: &mut T, x: &T) {
    *y += *x * *x + 1.0;
}

#[reversible]
fn four_times<T: Real>(y: &mut T, x: &T) {
    let mut middle = T::zero();
    #[compute]
    {
        twice(&mut middle, &x, square_plus);
    }
    twice(&mut y, &middle, square_plus);
}

#[test]
fn functions_as_arguments() {
    for device in devices() {
        let mut y = 0.0;
        twice::run(&*device, &mut y, &2.0, square_plus {}).unwrap();
        assert_eq!(y, 26.0);
        twice::run_inverse(&*device, &mut y, &2.0, square_plus {}).unwrap();
        assert_eq!(y, 0.0);
        undo::run(&*device, &mut y, &2.0, square_plus {}).unwrap();
        assert_eq!(y, -5.0);
        let g = four_times::gradient(&*device, &1.0).unwrap();
        // 1, 2, 5, 26, 677; the derivative is the product of 2x
        assert_eq!((g.value, g.x), (677.0, 2.0 * 4.0 * 10.0 * 52.0));
    }
}

#[reversible]
fn doubled<T: Real, const N: usize>(y: &mut [T; N], x: &[T; N]) {
    for i in 0..N {
        y[i] += x[i] * 2.0;
    }
}

#[reversible]
fn generic_calls(y: &mut [f64; 3], x: &[f64; 3], k: &mut [f32; 2]) {
    doubled(&mut y, &x);
    doubled::<f64, 3>(&mut y, &x);
    let ones = [1.0f32; 2];
    doubled(&mut k, &ones);
}

#[test]
fn generic_functions() {
    for device in devices() {
        let (mut y, mut k) = ([0.0; 3], [0.0; 2]);
        generic_calls::run(&*device, &mut y, &[1.0, 2.0, 3.0], &mut k).unwrap();
        assert_eq!((y, k), ([4.0, 8.0, 12.0], [2.0, 2.0]));
        generic_calls::run_inverse(&*device, &mut y, &[1.0, 2.0, 3.0], &mut k).unwrap();
        assert_eq!((y, k), ([0.0; 3], [0.0; 2]));
    }
}

/// Reversible functions may be declared inside functions and macros.
macro_rules! adder {
    ($name:ident, $by:expr) => {
        #[reversible]
        fn $name(y: &mut f64) {
            *y += $by;
        }
    };
}
adder!(add_two, 2.0);
adder!(add_three, 1.0 + 2.0);

#[test]
fn functions_from_macros_and_inside_functions() {
    #[reversible]
    fn local(y: &mut f64) {
        add_two(&mut y);
        add_three::inverse(&mut y);
    }
    let mut y = 0.0;
    local(&mut y).unwrap();
    assert_eq!(y, -1.0);
    local::inverse(&mut y).unwrap();
    assert_eq!(y, 0.0);
}

#[test]
fn the_program_is_data() {
    let module = four_times::ir();
    let text = rev::text::encode_module(&module);
    assert_eq!(rev::text::parse_module(&text).unwrap(), module);
    assert_eq!(module.functions.len(), 3);
    let printed = module.entry().unwrap().to_string();
    assert!(printed.contains("call twice(&mut y, &middle, named square_plus)"), "{printed}");
}
