//! The forms of the language: value, inverse, gradient.

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{array, Array2, ArrayD, ArrayView1, ArrayView2, ArrayView3, ArrayViewD, ArrayViewMut2};
use rev_core::error::Cause;
use rev_cpu::prelude::*;

/// Central differences of a function of one number.
fn slope(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h = 1e-6;
    (f(x + h) - f(x - h)) / (2.0 * h)
}

fn close(a: f64, b: f64) {
    approx::assert_relative_eq!(a, b, epsilon = 1e-7, max_relative = 1e-7);
}

// structs, tuples, fixed-size arrays

#[derive(Clone, Copy, Debug, PartialEq, Reversible)]
struct Camera<T> {
    rot: [T; 3],
    focal: T,
    id: usize,
    shift: (T, T),
}

#[reversible]
fn project<T: Real>(out: &mut (T, T), cam: &Camera<T>, x: &[T; 3]) {
    let mut s = T::zero();
    for k in 0..3 {
        s += cam.rot[k] * x[k];
    }
    out.0 += s * cam.focal + cam.shift.0;
    out.1 += s.sin() - cam.shift.1 * x[0];
}

#[reversible]
fn all_cameras<T: Real>(loss: &mut T, cams: &[Camera<T>], xs: &[[T; 3]]) {
    for i in par(0..xs.len()) {
        let mut p = (T::zero(), T::zero());
        project(&mut p, &cams[i % cams.len()], &xs[i]);
        *loss += p.0 * p.0 + p.1;
    }
}

fn cameras() -> Vec<Camera<f64>> {
    vec![
        Camera { rot: [0.1, 0.2, 0.3], focal: 1.5, id: 0, shift: (0.5, -0.5) },
        Camera { rot: [-0.1, 0.4, 0.2], focal: 0.7, id: 1, shift: (0.1, 0.9) },
    ]
}

#[test]
fn structs_and_tuples() {
    let (cams, xs) = (cameras(), [[1.0, 2.0, 3.0], [0.5, -1.0, 0.25], [2.0, 0.0, 1.0]]);
    let g = all_cameras::gradient(&Cpu::new(), &cams, &xs).unwrap();
    let at = |f: &dyn Fn(&mut Vec<Camera<f64>>, f64), v: f64| {
        slope(
            |v| {
                let mut cams = cams.clone();
                f(&mut cams, v);
                all_cameras::gradient(&Cpu::new(), &cams, &xs).unwrap().value
            },
            v,
        )
    };
    close(g.cams[0].focal.get(), at(&|c, v| c[0].focal = v, cams[0].focal));
    close(g.cams[1].rot[1].get(), at(&|c, v| c[1].rot[1] = v, cams[1].rot[1]));
    close(g.cams[0].shift.1.get(), at(&|c, v| c[0].shift.1 = v, cams[0].shift.1));
    assert_eq!(g.xs.len(), 3);
    let mut out = (0.0, 0.0);
    project(&mut out, &cams[0], &xs[0]).unwrap();
    project::inverse(&mut out, &cams[0], &xs[0]).unwrap();
    assert_eq!(out, (0.0, 0.0));
}

// ndarray, any rank and strides

#[reversible]
fn bilinear<T: Real>(y: &mut T, a: ArrayView2<T>, u: ArrayView1<T>, v: &[T]) {
    for i in 0..a.nrows() {
        for j in 0..a.ncols() {
            *y += a[[i, j]] * u[i] * v[j];
        }
    }
}

#[reversible]
fn trace3<T: Real>(y: &mut T, a: ArrayView3<T>, b: ArrayViewD<T>) {
    for i in 0..a.dim(0) {
        *y += a[[i, i, i]] * b[[i, 0]];
    }
}

#[reversible]
fn update<T: Real>(mut out: ArrayViewMut2<T>, a: &Array2<T>, own: &mut Array2<T>) {
    for i in par(0..a.nrows()) {
        for j in 0..a.ncols() {
            out[[i, j]] += a[[i, j]] * a[[i, j]];
            own[[i, j]] += out[[i, j]];
        }
    }
}

#[test]
fn arrays() {
    let a = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let (u, v) = (array![1.0, -1.0, 2.0], [0.5, 0.25]);
    let g = bilinear::gradient(&Cpu::new(), a.view(), u.view(), &v).unwrap();
    assert_eq!(g.value, u.dot(&a.dot(&array![0.5, 0.25])));
    assert_eq!(g.a, array![[0.5, 0.25], [-0.5, -0.25], [1.0, 0.5]]);
    assert_eq!(g.v, vec![8.0, 10.0]);
    let t = bilinear::gradient(&Cpu::new(), a.t(), array![0.5, 0.25].view(), &[1.0, -1.0, 2.0]).unwrap();
    assert_eq!((t.value, t.a.t().to_owned()), (g.value, g.a));

    let cube = ndarray::Array3::from_shape_fn((2, 2, 2), |(i, j, k)| (i + 2 * j + 4 * k) as f64);
    let d = ArrayD::from_shape_vec(vec![2, 1], vec![10.0, 100.0]).unwrap();
    let g = trace3::gradient(&Cpu::new(), cube.view(), d.view()).unwrap();
    assert_eq!((g.value, g.b[[1, 0]], g.a[[1, 1, 1]]), (700.0, 7.0, 100.0));

    let (mut out, mut own) = (Array2::zeros((3, 2)), Array2::ones((3, 2)));
    update(out.view_mut(), &a, &mut own).unwrap();
    assert_eq!((out[[2, 1]], own[[2, 1]]), (36.0, 37.0));
    update::inverse(out.view_mut(), &a, &mut own).unwrap();
    assert_eq!((out, own), (Array2::zeros((3, 2)), Array2::ones((3, 2))));
}

// control flow

#[reversible]
fn rfib(a: &mut usize, b: &mut usize, n: usize) {
    for _k in 0..n {
        *a += *b;
        swap(a, b);
    }
}

/// The first index from which the Fibonacci numbers are at least `z`.
#[reversible]
fn rfibn(n: &mut usize, z: usize) {
    let mut a = 0usize;
    let mut b = 1usize;
    #[compute]
    {
        #[post(*n != 0)]
        while a < z {
            a += b;
            swap(a, b);
            *n += 1;
        }
    }
}

#[reversible]
fn stepped(visited: &mut [usize], count: &mut usize) {
    for i in (1..=4).step_by(2) {
        visited[*count] += i;
        *count += 1;
    }
}

#[reversible]
fn clip<T: Real>(y: &mut T, x: &mut T, limit: T) {
    #[post(*x > limit + T::one())]
    if *x > limit {
        *x += T::one();
        *y += *x * limit;
    } else {
        *y -= *x;
    }
}

#[test]
fn control_flow() {
    let (mut a, mut b) = (0, 1);
    rfib(&mut a, &mut b, 10).unwrap();
    assert_eq!((a, b), (55, 89));
    rfib::inverse(&mut a, &mut b, 10).unwrap();
    assert_eq!((a, b), (0, 1));

    let (mut visited, mut count) = ([0; 4], 0);
    stepped(&mut visited, &mut count).unwrap();
    assert_eq!((visited, count), ([1, 3, 0, 0], 2));
    stepped::inverse(&mut visited, &mut count).unwrap();
    assert_eq!((visited, count), ([0; 4], 0));

    let (mut y, mut x) = (0.0, 3.0);
    clip(&mut y, &mut x, 1.0).unwrap();
    assert_eq!((y, x), (4.0, 4.0));
    clip::inverse(&mut y, &mut x, 1.0).unwrap();
    assert_eq!((y, x), (0.0, 3.0));
    let e = clip(&mut y, &mut 2.5f64, 3.0);
    assert!(e.is_ok());
    let mut x = 0.5;
    clip(&mut y, &mut x, -2.0).unwrap();
}

// instructions

#[reversible]
fn instructions(a: &mut f64, b: &mut f64, k: &mut i32, f: &mut bool, z: &mut Complex<f64>, t: f64) {
    neg(a);
    rot(a, b, t);
    hadamard(a, b);
    inc(k);
    mul_int(k, 3);
    flip(f);
    conj(z);
    inv(a);
    swap(a, b);
    z.re += t;
    *k ^= 5;
}

#[test]
fn every_instruction() {
    let (mut a, mut b, mut k, mut f, mut z) = (1.5, -0.5, 4, true, Complex::new(1.0, 2.0));
    instructions(&mut a, &mut b, &mut k, &mut f, &mut z, 0.3).unwrap();
    assert_eq!((k, f, z), (15 ^ 5, false, Complex::new(1.3, -2.0)));
    instructions::inverse(&mut a, &mut b, &mut k, &mut f, &mut z, 0.3).unwrap();
    assert_eq!((k, f), (4, true));
    close(a, 1.5);
    close(b, -0.5);
    close(z.re, 1.0);
    let value = |a: f64, t: f64| {
        let (mut a, mut b) = (a, -0.5);
        let (mut k, mut f, mut z) = (4, true, Complex::new(1.0, 2.0));
        instructions(&mut a, &mut b, &mut k, &mut f, &mut z, t).unwrap();
        2.0 * a + 3.0 * b + z.re
    };
    let one = Complex::new(1.0, 0.0);
    let z = Complex::new(1.0, 2.0);
    let g = instructions::vjp(&Cpu::new(), 2.0, 3.0, (), (), one, &1.5, &-0.5, &4, &true, &z, 0.3).unwrap();
    close(g.a_bar, slope(|a| value(a, 0.3), 1.5));
    close(g.t_bar, slope(|t| value(1.5, t), 0.3));
}

// calls

mod inner {
    use rev_cpu::prelude::*;

    #[reversible]
    pub fn square<T: Real>(y: &mut T, x: &T) {
        *y += *x * *x;
    }

    #[pure]
    pub fn half<T: Real>(x: T) -> T {
        x / 2.0
    }
}

#[reversible]
fn nested<T: Real>(y: &mut T, x: &T) {
    let mut s = T::zero();
    inner::square(&mut s, &x);
    inner::square(&mut y, &s);
    *y += inner::half(s);
}

#[reversible]
fn halves<T: Real>(x: &mut [T], k: usize) {
    let n = x.len();
    add_all(&mut x[0..k], &x[k..n]);
    inner::square(&mut x[0], &x[k]);
}

#[reversible]
fn add_all<T: Real>(a: &mut [T], b: &[T]) {
    for i in 0..a.len() {
        a[i] += b[i];
    }
}

/// Recursive: `out` gets the n-th Fibonacci number.
#[reversible]
fn rrfib(out: &mut i64, n: i64) {
    if n <= 2 {
        *out += 1;
    } else {
        let a = n - 1;
        let b = n - 2;
        rrfib(&mut out, a);
        rrfib(&mut out, b);
    }
}

#[reversible]
fn power<T: Real>(y: &mut T, x: T, n: usize) {
    if n == 0 {
        *y += T::one();
    } else {
        let mut rest = T::zero();
        power(&mut rest, x, n - 1);
        *y += rest * x;
    }
}

#[test]
fn calls() {
    let g = nested::gradient(&Cpu::new(), &3.0).unwrap();
    assert_eq!((g.value, g.x), (81.0 + 4.5, 4.0 * 27.0 + 3.0));
    let mut x = [1.0, 2.0, 10.0, 20.0];
    halves(&mut x, 2).unwrap();
    assert_eq!(x, [111.0, 22.0, 10.0, 20.0]);
    halves::inverse(&mut x, 2).unwrap();
    assert_eq!(x, [1.0, 2.0, 10.0, 20.0]);
    let v = halves::vjp(&Cpu::new(), &[1.0, 1.0, 0.0, 0.0], &x, 2).unwrap();
    assert_eq!(v.x_bar, [1.0, 1.0, 21.0, 1.0]);
    let e = halves(&mut x, 3).unwrap_err();
    assert_eq!(e.trace().len(), 2, "{e}");
    let mut out = 0;
    rrfib(&mut out, 10).unwrap();
    assert_eq!(out, 55);
    rrfib::inverse(&mut out, 10).unwrap();
    assert_eq!(out, 0);
    let g = power::gradient(&Cpu::new(), 3.0, 4).unwrap();
    assert_eq!((g.value, g.x), (81.0, 108.0));
}

// functions as arguments

#[reversible]
fn twice<T: Real, F: Reversible<(&mut T, &T)>>(f: F, y: &mut T, x: &T) {
    let mut s = T::zero();
    f(&mut s, &x);
    f(&mut y, &s);
}

#[reversible]
fn fourth<T: Real>(y: &mut T, x: &T) {
    twice(inner::square, &mut y, &x);
}

#[reversible]
fn apply<T: Real>(f: impl Reversible<(&mut [T], usize)>, x: &mut [T]) {
    f(&mut x, 1);
    f.inverse(&mut x, 2);
}

#[test]
fn functions_as_arguments() {
    let g = fourth::gradient(&Cpu::new(), &3.0).unwrap();
    assert_eq!((g.value, g.x), (81.0, 108.0));
    let mut y = 0.0;
    twice(inner::square {}, &mut y, &2.0).unwrap();
    assert_eq!(y, 16.0);
    twice::inverse(inner::square {}, &mut y, &2.0).unwrap();
    assert_eq!(y, 0.0);
    let g = twice::gradient(&Cpu::new(), inner::square {}, &3.0).unwrap();
    assert_eq!(g.x, 108.0);
    let mut x = [1.0, 2.0, 3.0];
    let _ = apply(halves {}, &mut x);
    let error = apply::vjp(&Cpu::new(), &[1.0; 4], halves {}, &[1.0, 2.0, 3.0, 4.0]).unwrap_err().to_string();
    assert!(error.contains("halves, without `#[reversible(inverse_adjoint)]`"), "{error}");
}

// stacks, external and unchecked blocks, arrays as ancillas

/// The number of steps until 1; which steps were odd is kept.
#[reversible]
fn collatz(n: &mut u64, steps: &mut usize, odd: &mut Stack<bool>) {
    #[post(*steps != 0)]
    while *n != 1 {
        let mut r = false;
        r ^= *n % 2 == 1;
        if r {
            mul_int(n, 3);
            *n += 1;
        } else {
            div_int(n, 2);
        }
        push(odd, r);
        *steps += 1;
        release(r);
    }
}

#[reversible]
fn windowed<T: Real>(y: &mut [T], x: &[T], n: usize) {
    let mut sums = vec![T::zero(); n];
    for i in 0..x.len() {
        sums[i % n] += x[i];
    }
    for i in par(0..y.len()) {
        y[i] += sums[i % n] * sums[(i + 1) % n];
    }
}

#[reversible]
fn traced<T: Real>(y: &mut T, x: T) {
    #[external]
    {
        assert!(x == x);
    }
    #[unchecked]
    {
        let mut s = T::zero();
        s += x;
        *y += s * s;
    }
}

#[test]
fn stacks() {
    let (mut n, mut steps, mut odd) = (6, 0, Stack::new());
    collatz(&mut n, &mut steps, &mut odd).unwrap();
    assert_eq!((n, steps, odd.len()), (1, 8, 8));
    collatz::inverse(&mut n, &mut steps, &mut odd).unwrap();
    assert_eq!((n, steps, odd.len()), (6, 0, 0));
    let e = collatz::inverse(&mut 1, &mut 3, &mut odd).unwrap_err();
    assert!(e.to_string().starts_with("the stack `odd` is empty"), "{e}");
}

#[test]
fn arrays_as_ancillas() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0];
    let mut y = [0.0; 3];
    windowed(&mut y, &x, 2).unwrap();
    assert_eq!(y, [54.0, 54.0, 54.0]);
    let v = windowed::vjp(&Cpu::new(), &[1.0, 0.0, 0.0], &[0.0; 3], &x, 2).unwrap();
    assert_eq!(v.x_bar, [6.0, 9.0, 6.0, 9.0, 6.0]);
    let g = traced::gradient(&Cpu::new(), 3.0).unwrap();
    assert_eq!((g.value, g.x), (9.0, 6.0));
}

/// Points on lines that an index chooses, of which a part is read at a time: in lanes each has its own element.
#[reversible]
fn on_lines<T: Real>(y: &mut [T], lines: &[[T; 2]], of: &[usize], x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += lines[of[i]][0] * x[i] + lines[of[i]][1];
    }
}

#[test]
fn parts_of_elements_that_an_index_chooses() {
    let n = 2 * 32 + 19;
    let lines: Vec<[f64; 2]> = (0..7).map(|k| [0.5 * f64::from(k), 3.0 - f64::from(k)]).collect();
    let of: Vec<usize> = (0..n).map(|i| i * 5 % 7).collect();
    let x: Vec<f64> = (0..n).map(|i| 0.25 * (i % 9) as f64).collect();
    let y = vec![0.0; n];
    let seeds: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
    let mut bars = vec![[0.0; 2]; lines.len()];
    for i in 0..n {
        bars[of[i]][0] += seeds[i] * x[i];
        bars[of[i]][1] += seeds[i];
    }
    let cpu = Cpu::with_threads(1);
    for cpu in [cpu.clone(), cpu.lanes(false), Cpu::with_threads(2).parallel_from(0)] {
        let found = on_lines::vjp(&cpu, &seeds, &y, &lines, &of, &x).unwrap();
        for i in 0..n {
            assert_eq!(found.y[i], lines[of[i]][0] * x[i] + lines[of[i]][1]);
            assert_eq!(found.x_bar[i], seeds[i] * lines[of[i]][0]);
        }
        let found: Vec<[f64; 2]> = found.lines_bar.iter().map(|bar| [bar[0], bar[1]]).collect();
        assert_eq!(found, bars);
    }
}

// branches that change what they ask

/// Two numbers that change each other by branches on what these change; which way each of `n` rounds went stays in `went` and on `stack`.
#[reversible]
fn bounce<T: Real>(y: &mut T, x: &mut [T], went: &mut [bool], stack: &mut Stack<bool>, n: usize) {
    for i in 0..n {
        #[keep(went[i])]
        if x[0] > 1.0 {
            x[0] -= x[1] * x[1];
        } else if x[1] > 0.0 {
            x[0] += 2.0 * x[1];
        }
        #[keep(stack)]
        if x[0] < 1.0 {
            neg(x[0]);
            x[1] += x[0].sin();
        } else {
            x[1] -= 0.25;
        }
    }
    *y += x[0] * x[1];
}

/// The same in plain Rust.
fn bounced(x: [f64; 2], n: usize) -> (f64, [f64; 2], Vec<bool>, Vec<bool>) {
    let [mut a, mut b] = x;
    let (mut went, mut stack) = (Vec::new(), Vec::new());
    for _ in 0..n {
        went.push(a > 1.0);
        if a > 1.0 {
            a -= b * b;
        } else if b > 0.0 {
            a += 2.0 * b;
        }
        stack.push(a < 1.0);
        if a < 1.0 {
            a = -a;
            b += a.sin();
        } else {
            b -= 0.25;
        }
    }
    (a * b, [a, b], went, stack)
}

#[test]
fn branches_that_change_what_they_ask() {
    let n = 9;
    for start in [[0.3, 0.7], [2.0, -0.4], [-1.5, 1.2], [1.1, 0.9]] {
        let (mut y, mut x, mut went, mut stack) = (0.0, start, vec![false; n], Stack::new());
        bounce(&mut y, &mut x, &mut went, &mut stack, n).unwrap();
        let expected = bounced(start, n);
        close(y, expected.0);
        (0..2).for_each(|k| close(x[k], expected.1[k]));
        assert_eq!(went, expected.2);
        assert_eq!(stack.as_slice(), expected.3);
        bounce::inverse(&mut y, &mut x, &mut went, &mut stack, n).unwrap();
        assert_abs_diff_eq!(y, 0.0, epsilon = 1e-12);
        assert!((0..2).all(|k| abs_diff_eq!(x[k], start[k], epsilon = 1e-12)));
        assert!(went.iter().all(|w| !w) && stack.is_empty());

        let g = bounce::gradient(&Cpu::new(), &start, &vec![false; n], &Stack::new(), n).unwrap();
        close(g.value, expected.0);
        for k in 0..2 {
            let at = |v: f64| bounced(if k == 0 { [v, start[1]] } else { [start[0], v] }, n).0;
            close(g.x[k], slope(at, start[k]));
        }
    }
}

/// Each iteration on its own, in lanes and on threads.
#[reversible]
fn soften<T: Real>(loss: &mut T, x: &mut [T], went: &mut [bool]) {
    for i in par(0..x.len()) {
        #[keep(went[i])]
        if x[i] > 0.5 {
            x[i] -= 0.75;
        } else {
            x[i] += 0.25;
        }
        *loss += x[i] * x[i];
    }
}

#[test]
fn branches_that_change_what_they_ask_in_lanes() {
    let start: Vec<f64> = (0..101).map(|i| (f64::from(i) * 0.37).sin()).collect();
    let after = |x: f64| if x > 0.5 { x - 0.75 } else { x + 0.25 };
    for device in [Cpu::new(), Cpu::new().threads(3), Cpu::new().lanes(false), Cpu::new().checks(false)] {
        let g = soften::gradient(&device, &start, &vec![false; start.len()]).unwrap();
        close(g.value, start.iter().map(|x| after(*x).powi(2)).sum());
        (0..start.len()).for_each(|i| close(g.x[i], 2.0 * after(start[i])));
    }
    let (mut loss, mut x, mut went) = (0.0, start.clone(), vec![false; start.len()]);
    soften(&mut loss, &mut x, &mut went).unwrap();
    assert!(start.iter().zip(&went).all(|(x, w)| *w == (*x > 0.5)));
    soften::inverse(&mut loss, &mut x, &mut went).unwrap();
    assert_abs_diff_eq!(x[..], start[..], epsilon = 1e-12);
    assert!(went.iter().all(|w| !w));
}

#[test]
fn what_keeps_a_branch_starts_at_false() {
    let (mut loss, mut x, mut went) = (0.0, vec![0.1; 70], vec![false; 70]);
    went[66] = true;
    let error = soften(&mut loss, &mut x, &mut went).unwrap_err();
    assert!(matches!(error.cause(), Cause::Release { place, .. } if place == "kept"), "{error}");
    assert!(error.to_string().contains("i = 66"), "{error}");

    // `went` says another branch than the numbers do: 0.25 isn't above 0.5
    let (mut loss, mut x, mut went) = (0.0, vec![-0.5], vec![true]);
    let error = soften::inverse(&mut loss, &mut x, &mut went).unwrap_err();
    assert!(matches!(error.cause(), Cause::Release { place, .. } if place == "kept"), "{error}");
}

/// Names of literals alone are whole numbers or `f64`, whatever becomes of them.
#[reversible(tangent)]
fn names_of_literals<T: Real>(y: &mut T, n: &mut i64, x: T) {
    let k = 0.3 * 4.0;
    let m = k + 1.5;
    let mut few = 7;
    few += 2;
    let unused = (x, (1.0, 2.0));
    let half = sin(0.5);
    *n += (m as i64) + (few as i64);
    if half > 0.4 && few > 8 {
        *y += unused.0 * unused.1 .0 * x * ((k as usize) as T);
    }
    *y += also_named(x);
}

#[pure]
fn also_named<T: Real>(x: T) -> T {
    let k = 2.5 + 1.0;
    let unused = 4.5;
    x * ((k as u8) as T)
}

#[test]
fn names_of_literals_alone_have_a_type() {
    for device in [&Cpu::new() as &dyn Device, &rev_core::interp::Interpreter::new()] {
        let (mut y, mut n) = (0.0f32, 0);
        names_of_literals::run(device, &mut y, &mut n, 1.5).unwrap();
        assert_eq!((y, n), (1.5 * 1.5 + 3.0 * 1.5, 2 + 9));
        assert_eq!(names_of_literals::gradient(device, &0, 1.5f32).unwrap().x, 2.0 * 1.5 + 3.0);
        assert_eq!(names_of_literals::hvp(device, 1.0, &0, 1.5f32).unwrap().x, 2.0);
    }
}
