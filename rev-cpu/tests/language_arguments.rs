//! Arguments of every kind, each read and written, forward, back and differentiated.

use ndarray::{
    Array1, Array2, Array3, Array4, ArrayD, ArrayView1, ArrayView2, ArrayView3, ArrayView4, ArrayViewD,
    ArrayViewMut1, ArrayViewMut2,
};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

fn devices() -> [Box<dyn Device>; 2] {
    [Box::new(Cpu::new()), Box::new(Interpreter::new())]
}

#[reversible]
fn scalars<T: Real>(y: &mut T, a: T, b: &T, n: usize, up: bool) {
    if up {
        *y += a * *b * T::from_usize(n);
    }
}

#[test]
fn scalars_by_value_and_by_reference() {
    for device in devices() {
        let mut y = 1.0;
        scalars::run(&*device, &mut y, 2.0, &3.0, 4, true).unwrap();
        assert_eq!(y, 25.0);
        scalars::run_inverse(&*device, &mut y, 2.0, &3.0, 4, true).unwrap();
        assert_eq!(y, 1.0);
        let g = scalars::gradient(&*device, 2.0, &3.0, 4, true).unwrap();
        assert_eq!((g.value, g.a, g.b, g.n), (24.0, 12.0, 8.0, ()));
        let mut single = 1.0f32;
        scalars::run(&*device, &mut single, 2.0, &3.0, 4, true).unwrap();
        assert_eq!(single, 25.0);
        let mut fixed = Fixed43::from_num(1);
        scalars::run(&*device, &mut fixed, Fixed43::from_num(2), &Fixed43::from_num(0.5), 4, true).unwrap();
        assert_eq!(fixed, Fixed43::from_num(5));
    }
}

#[reversible]
fn rank_one<T: Real>(y: &mut [T], x: &[T], v: ArrayView1<T>, w: &mut ArrayViewMut1<T>, a: &Array1<T>) {
    for i in 0..y.len() {
        y[i] += x[i] * v[i] + a[i];
        w[i] += x[i];
    }
}

#[test]
fn one_dimension() {
    for device in devices() {
        let (mut y, x, a) = ([0.0, 0.0], [1.0, 2.0], Array1::from(vec![5.0, 6.0]));
        // every second element, backwards
        let v = Array1::from(vec![10.0, 0.0, 20.0]);
        let v = v.slice(ndarray::s![..;-2]);
        let mut w = Array2::zeros((2, 2));
        let mut column = w.column_mut(1);
        rank_one::run(&*device, &mut y, &x, v, &mut column, &a).unwrap();
        assert_eq!(y, [25.0, 26.0]);
        assert_eq!(column.to_vec(), [1.0, 2.0]);
        rank_one::run_inverse(&*device, &mut y, &x, v, &mut column, &a).unwrap();
        assert_eq!((y, w.sum()), ([0.0, 0.0], 0.0));
    }
}

#[reversible]
fn matrices<T: Real>(loss: &mut T, x: ArrayView2<T>, t: ArrayView3<T>, q: ArrayView4<T>, d: ArrayViewD<T>) {
    for i in 0..x.nrows() {
        for j in 0..x.ncols() {
            *loss += x[[i, j]] * t[[i, j, 0]] * q[(0, 0, i, j)] * d[[j, i]];
        }
    }
    *loss += T::from_usize(x.len() + t.shape()[2] + q.dim().3 + d.len_of(Axis(0)));
}

#[test]
fn more_dimensions() {
    for device in devices() {
        let x = Array2::from_shape_fn((2, 3), |(i, j)| (1 + i + 2 * j) as f64);
        let t = Array3::from_shape_fn((2, 3, 2), |(i, j, k)| (i + j + k) as f64);
        let q = Array4::from_elem((1, 1, 2, 3), 2.0);
        let d = ArrayD::from_shape_fn(vec![3, 2], |i| (i[0] * i[1]) as f64);
        let g = matrices::gradient(&*device, x.view(), t.view(), q.view(), d.view()).unwrap();
        let mut expected = (6 + 2 + 3 + 3) as f64;
        for i in 0..2 {
            for j in 0..3 {
                let terms = (x[[i, j]], t[[i, j, 0]], d[[j, i]]);
                expected += terms.0 * terms.1 * 2.0 * terms.2;
                assert_eq!(g.x[[i, j]], terms.1 * 2.0 * terms.2);
                assert_eq!(g.t[[i, j, 0]], terms.0 * 2.0 * terms.2);
                assert_eq!(g.q[[0, 0, i, j]], terms.0 * terms.1 * terms.2);
                assert_eq!(g.d[[j, i]], terms.0 * terms.1 * 2.0);
            }
        }
        assert_eq!(g.value, expected);
        assert_eq!(g.x.dim(), (2, 3));
        assert_eq!(g.d.shape(), [3, 2]);
        // the same numbers in another order in memory
        let transposed = x.t().to_owned();
        let other = matrices::gradient(&*device, transposed.t(), t.view(), q.view(), d.view()).unwrap();
        assert_eq!((other.value, other.x), (g.value, g.x));
    }
}

#[reversible]
fn transpose_add<T: Real>(y: ArrayViewMut2<T>, x: &Array2<T>, z: &mut Array2<T>, v: &mut Vec<T>) {
    for i in 0..x.nrows() {
        for j in 0..x.ncols() {
            y[[j, i]] += x[[i, j]];
            z[[i, j]] += x[[i, j]];
            v[i] += x[[i, j]];
        }
    }
}

#[test]
fn owned_arrays_and_mutable_views() {
    for device in devices() {
        let x = Array2::from_shape_fn((2, 3), |(i, j)| (3 * i + j) as f64);
        let (mut y, mut z, mut v) = (Array2::zeros((3, 2)), Array2::zeros((2, 3)), vec![0.0; 2]);
        transpose_add::run(&*device, y.view_mut(), &x, &mut z, &mut v).unwrap();
        assert_eq!((y.t().to_owned(), &z, &v[..]), (x.clone(), &x, &[3.0, 12.0][..]));
        transpose_add::run_inverse(&*device, y.view_mut(), &x, &mut z, &mut v).unwrap();
        assert_eq!((y.sum(), z.sum(), v), (0.0, 0.0, vec![0.0; 2]));
    }
}

#[reversible]
fn fixed<T: Real, const N: usize>(y: &mut [T; N], m: &[[T; N]; 2], p: (T, T), q: &mut (T, [T; 2])) {
    for i in 0..N {
        y[i] += m[0][i] * p.0 + m[1][i] * p.1;
    }
    q.0 += p.0 * T::from_usize(N);
    q.1[1] += p.1 * T::from_usize(m[0].len());
}

#[reversible]
fn fixed_lengths(y: &mut f64, x: [f64; 3]) {
    let mut sums = [0.0; 3];
    let scale = [1.0, 10.0, 100.0];
    for i in 0..3 {
        sums[i] += x[i] * scale[i];
    }
    *y += sums[0] + sums[1] + sums[2];
}

#[test]
fn fixed_arrays_and_tuples() {
    for device in devices() {
        let (mut y, mut q) = ([0.0; 3], (0.0, [0.0; 2]));
        let m = [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]];
        fixed::run(&*device, &mut y, &m, (2.0, 1.0), &mut q).unwrap();
        assert_eq!((y, q), ([12.0, 24.0, 36.0], (6.0, [0.0, 3.0])));
        fixed::run_inverse(&*device, &mut y, &m, (2.0, 1.0), &mut q).unwrap();
        assert_eq!((y, q), ([0.0; 3], (0.0, [0.0; 2])));
        let g = fixed_lengths::gradient(&*device, [1.0, 2.0, 3.0]).unwrap();
        assert_eq!((g.value, g.x), (321.0, [1.0, 10.0, 100.0]));
    }
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Pose<T: Real> {
    axis: [T; 3],
    angle: T,
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Camera<T: Real> {
    pose: Pose<T>,
    focal: T,
    center: (T, T),
    used: usize,
}

#[reversible]
fn project<T: Real>(y: &mut T, cameras: &[Camera<T>], state: &mut Camera<T>, k: usize) {
    *y += cameras[k].focal * cameras[k].pose.axis[2] + cameras[k].center.1;
    state.pose.angle += cameras[k].pose.angle * 2.0;
    state.used += cameras[k].used;
    swap(state.center.0, state.center.1);
    let mut scratch = Pose::<T>::zero();
    for i in 0..3 {
        scratch.axis[i] += cameras[k].pose.axis[i];
    }
    *y += scratch.axis[0] * scratch.axis[1];
}

#[test]
fn structs() {
    let camera = |s: f64| Camera {
        pose: Pose { axis: [s, 2.0 * s, 3.0 * s], angle: s },
        focal: 10.0 * s,
        center: (s, -s),
        used: 1,
    };
    for device in devices() {
        let cameras = [camera(1.0), camera(2.0)];
        let (mut y, mut state) = (0.0, camera(5.0));
        project::run(&*device, &mut y, &cameras, &mut state, 1).unwrap();
        assert_eq!(y, 20.0 * 6.0 - 2.0 + 8.0);
        assert_eq!((state.pose.angle, state.center, state.used), (9.0, (-5.0, 5.0), 2));
        project::run_inverse(&*device, &mut y, &cameras, &mut state, 1).unwrap();
        assert_eq!((y, &state), (0.0, &camera(5.0)));
        let report = project::check_gradient(&*device, &0.0, &cameras, &state, 1).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[reversible]
fn complex_numbers<T: Real>(loss: &mut T, w: &[Complex<T>], z: Complex<T>) {
    let mut s = Complex::<T>::zero();
    for i in 0..w.len() {
        s += w[i] * z.exp();
    }
    *loss += s.norm_sqr() + s.re;
}

#[reversible]
fn any_field<T: Field>(y: &mut T, x: T) {
    *y += x * x + 1.0;
}

#[reversible]
fn any_integer<T: Integer>(y: &mut T, x: T) {
    *y += x / T::from_usize(2) + x % T::from_usize(3);
    *y ^= x & T::one();
}

#[test]
fn generic_over_the_scalar() {
    for device in devices() {
        let w = [Complex::new(1.0, 2.0), Complex::new(0.5, -1.0)];
        let report = complex_numbers::check_gradient(&*device, &0.0, &w, Complex::new(0.3, 0.4)).unwrap();
        assert!(report.passed(), "{report}");
        let mut y = Complex::new(0.0, 0.0);
        any_field::run(&*device, &mut y, Complex::new(0.0, 2.0)).unwrap();
        assert_eq!(y, Complex::new(-3.0, 0.0));
        let mut k = 100u8;
        any_integer::run(&*device, &mut k, 200).unwrap();
        assert_eq!(k, 202);
        any_integer::run_inverse(&*device, &mut k, 200).unwrap();
        assert_eq!(k, 100);
        let mut k = -5i64;
        any_integer::run(&*device, &mut k, -7).unwrap();
        assert_eq!(k, -10);
    }
}

#[reversible(loss = total)]
fn outputs<T: Real>(first: &mut T, total: &mut T, x: T) {
    *first += x;
    *total += x * x;
}

#[test]
fn the_loss_can_be_named() {
    for device in devices() {
        let g = outputs::gradient(&*device, &0.0, 3.0).unwrap();
        assert_eq!((g.value, g.x), (9.0, 6.0));
    }
}

/// The sum of what is at an index for the first time.
#[reversible]
fn first_uses(y: &mut f64, x: &[f64], at: &[usize]) {
    let mut used: Vec<bool> = zeros(x.len());
    let mut again: Array2<bool> = zeros((at.len(), 1));
    let mut turned = Array2::<bool>::zeros((1, 1));
    for k in 0..at.len() {
        again[[k, 0]] ^= used[at[k]];
        if !again[[k, 0]] {
            used[at[k]] ^= true;
            *y += x[at[k]];
        }
    }
    turned[[0, 0]] ^= true;
}

#[test]
fn arrays_of_false_are_zeros() {
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let g = first_uses::gradient(device, &[1.0, 2.0, 4.0], &[2, 0, 2, 0]).unwrap();
        assert_eq!((g.value, g.x), (5.0, vec![1.0, 0.0, 1.0]));
    }
}
