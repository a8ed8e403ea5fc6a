//! Structs as values of the language: their zero, shadow, comparison, dynamic form and definition.

use approx::assert_abs_diff_eq;
use rev_core::interp::Interpreter;
use rev_core::ir::{Class, Generic, GenericKind, Length, ScalarType, Type};
use rev_core::scalar::{Batch, Linear, Primal, Zero};
use rev_core::structure::{Structs, Structure};
use rev_core::tolerance::Tolerances;
use rev_core::value::{Data, DynArg};
use rev_cpu::prelude::*;

/// A pose.
#[derive(Clone, Debug, PartialEq, Reversible)]
pub struct Pose<T> {
    /// An axis times an angle.
    pub rotation: [T; 3],
    /// A position.
    pub center: (T, T, T),
}

/// Fields of every kind.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Camera<T: Real, const K: usize> {
    pose: Pose<T>,
    lens: [T; K],
    phase: Complex<T>,
    frame: usize,
    fixed: f64,
    used: bool,
}

fn camera() -> Camera<f64, 2> {
    Camera {
        pose: Pose { rotation: [1.0, 2.0, 3.0], center: (4.0, 5.0, -6.0) },
        lens: [0.5, 0.25],
        phase: Complex::new(0.0, 1.0),
        frame: 7,
        fixed: 8.0,
        used: true,
    }
}

#[test]
fn zero_and_magnitude() {
    let zero = Camera::<f64, 2>::zero();
    assert_eq!(zero, camera().zero_like());
    assert_eq!(zero.pose.center, (0.0, 0.0, 0.0));
    assert_eq!(zero.magnitude(), 0.0);
    assert_eq!(camera().magnitude(), 8.0);
}

#[test]
fn a_shadow_has_the_same_fields() {
    let mut shadow = camera().zero_shadow::<1>();
    assert!(shadow.is_zero());
    shadow.pose.rotation[1].accumulate(&Batch([2.0]));
    shadow.phase.im.accumulate(&Batch([1.0]));
    let mut twice = shadow.clone();
    twice.accumulate(&shadow);
    assert_eq!(twice.pose.rotation[1].get(), 4.0);
    twice.deduct(&shadow);
    twice.negate();
    assert_eq!((twice.pose.rotation[1].get(), twice.phase.im.get()), (-2.0, -1.0));
    twice.set_zero();
    assert!(twice.is_zero() && !shadow.is_zero());
}

#[test]
fn a_difference_has_its_path() {
    let mut other = camera();
    other.pose.rotation[2] = 3.5;
    let mismatch = other.compare(&camera(), &Tolerances::default(), None).unwrap_err();
    assert_eq!(mismatch.path, ".pose.rotation[2]");
    assert!(camera().compare(&camera(), &Tolerances::default(), None).is_ok());
    other = camera();
    other.lens[0] = f64::NAN;
    assert!(other.compare(&other.clone(), &Tolerances::default(), None).is_err());
}

#[test]
fn dynamic_values_and_back() {
    let data = camera().load();
    assert_eq!(data.field("frame").unwrap(), &7usize.load());
    let mut copy = Camera::<f64, 2>::zero();
    copy.store(&data).unwrap();
    assert_eq!(copy, camera());
    assert!(copy.store(&Data::None).is_err());
    let shadow = camera().zero_shadow::<2>();
    let mut back = shadow.clone();
    back.store(&shadow.load()).unwrap();
    assert!(back.is_zero());
}

#[test]
fn the_definition_names_the_structs_inside() {
    let mut structs = Structs::default();
    Camera::<f64, 2>::define("m::Camera", &mut structs);
    let structs = structs.definitions();
    assert_eq!(structs.keys().collect::<Vec<_>>(), ["Pose", "m::Camera"]);
    let camera = &structs["m::Camera"];
    assert_eq!(camera.name, "Camera");
    let t = Type::Generic("T".into());
    assert_eq!(
        camera.fields,
        [
            ("pose".to_string(), Type::Struct("Pose".into(), vec![t.clone()])),
            ("lens".to_string(), Type::Fixed(Box::new(t.clone()), Length::Named("K".into()))),
            ("phase".to_string(), Type::Complex(Box::new(t))),
            ("frame".to_string(), Type::Scalar(ScalarType::Usize)),
            ("fixed".to_string(), Type::Scalar(ScalarType::F64)),
            ("used".to_string(), Type::Scalar(ScalarType::Bool)),
        ]
    );
    assert_eq!(
        camera.generics,
        [
            Generic { name: "T".into(), kind: GenericKind::Scalar(Class::Real) },
            Generic { name: "K".into(), kind: GenericKind::Const },
        ]
    );
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Body<T: Real> {
    x: T,
    v: T,
    steps: u32,
}

#[reversible]
impl<T: Real> Body<T> {
    /// A step of a harmonic oscillator.
    #[reversible(inverse_adjoint)]
    fn step(&mut self, dt: T) {
        self.x += self.v * dt;
        self.v -= self.x * dt;
        inc(self.steps);
    }

    #[reversible]
    fn energy(&self, e: &mut T) {
        *e += square(self.x) + Self::half(self.v) * self.v;
    }

    #[pure]
    fn half(v: T) -> T {
        v / 2.0
    }

    #[reversible]
    fn steps(&mut self, n: usize, dt: T) {
        for _ in 0..n {
            self.step(dt);
        }
        Self::step::inverse(&mut self, dt);
        Self::step(self, dt);
    }

    #[reversible(constant(dt))]
    fn loss(e: &mut T, start: &Self, dt: T) {
        let mut b = Self::zero();
        b.x += start.x;
        b.v += start.v;
        Body::steps(&mut b, 3, dt);
        (&b).energy(&mut e);
    }

    fn position(&self) -> T {
        self.x
    }
}

#[pure]
fn square<T: Real>(x: T) -> T {
    x * x
}

#[reversible]
fn energies<T: Real>(e: &mut T, bodies: &[Body<T>], dt: T) {
    for i in par(0..bodies.len()) {
        let mut one = T::zero();
        Body::<T>::loss(&mut one, &bodies[i], T::from_f64(0.1));
        bodies[i].energy(&mut one);
        *e += one * dt;
    }
}

/// What `loss` is, without anything of the language.
fn expected(x: f64, v: f64) -> f64 {
    let (mut x, mut v) = (x, v);
    for _ in 0..3 {
        x += v * 0.1;
        v -= x * 0.1;
    }
    x * x + v / 2.0 * v
}

#[test]
fn functions_of_a_type() {
    let start = Body { x: 1.0, v: 0.5, steps: 0 };
    let mut b = start.clone();
    b.step(0.1).unwrap();
    assert_eq!((b.position(), b.steps), (1.05, 1));
    Body_step::inverse(&mut b, 0.1).unwrap();
    Body::steps(&mut b, 3, 0.1).unwrap();
    let mut e = 0.0;
    b.energy(&mut e).unwrap();
    assert_abs_diff_eq!(e, expected(1.0, 0.5), epsilon = 1e-14);
    Body_steps::run_inverse(&Cpu::new().checks(false), &mut b, 3, 0.1).unwrap();
    assert_abs_diff_eq!(b.x, 1.0, epsilon = 1e-15);
    assert_eq!(b.steps, 0);

    let h = 1e-6;
    let by_x = (expected(1.0 + h, 0.5) - expected(1.0 - h, 0.5)) / (2.0 * h);
    let by_v = (expected(1.0, 0.5 + h) - expected(1.0, 0.5 - h)) / (2.0 * h);
    for checks in [true, false] {
        let g = Body_loss::gradient(&Cpu::new().checks(checks), &start, 0.1).unwrap();
        assert_abs_diff_eq!(g.start.x.0[0], by_x, epsilon = 1e-8);
        assert_abs_diff_eq!(g.start.v.0[0], by_v, epsilon = 1e-8);
        assert_eq!(g.dt, ());
    }
    let interpreted = Body_loss::gradient(&Interpreter::new(), &start, 0.1).unwrap();
    assert_eq!(interpreted, Body_loss::gradient(&Cpu::new(), &start, 0.1).unwrap());
    let seed = Body::<f64> { x: 0.0, v: 0.0, steps: 0 }.zero_shadow();
    let v = Body_steps::vjp(&Cpu::new(), seed, &start, 3, 0.1).unwrap();
    assert_eq!((v.this.steps, v.this_bar.x.0), (3, [0.0]));

    // in lanes, and for one call after the other
    let bodies: Vec<_> = (0..50).map(|k| Body { x: f64::from(k), v: 0.5, steps: k as u32 }).collect();
    let laned = energies::gradient(&Cpu::new().checks(false), &bodies, 1.0).unwrap();
    let checked = energies::gradient(&Cpu::new(), &bodies, 1.0).unwrap();
    assert_abs_diff_eq!(laned.value / checked.value, 1.0, epsilon = 1e-12);
    for (a, b) in laned.bodies.iter().zip(&checked.bodies) {
        assert_abs_diff_eq!(a.x.0[0], b.x.0[0], epsilon = 1e-10);
    }
}

/// What has been measured so far.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Meter {
    total: f64,
}

#[reversible]
impl Meter {
    #[reversible]
    fn accumulate(y: &mut f64, x: &f64) {
        *y += *x * *x;
    }

    #[reversible]
    fn take(&mut self, x: &f64, f: impl Reversible<(&mut f64, &f64)>) {
        f(&mut self.total, &x);
        f(&mut self.total, &x);
    }

    #[reversible]
    fn measure(&mut self, x: &f64) {
        Meter::take(&mut self, &x, Meter::accumulate);
    }
}

#[test]
fn functions_of_a_type_as_arguments() {
    let mut m = Meter { total: 0.0 };
    m.measure(&3.0).unwrap();
    assert_eq!(m.total, 18.0);
    m.take(&1.0, Meter_accumulate {}).unwrap();
    assert_eq!(m.total, 20.0);
    Meter_measure::inverse(&mut m, &3.0).unwrap();
    assert_eq!(m.total, 2.0);
    let mut m = Meter { total: 1.0 };
    Meter_measure::run(&Interpreter::new(), &mut m, &3.0).unwrap();
    assert_eq!(m.total, 19.0);
}

/// A polynomial around a point.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Poly<T: Real, const N: usize> {
    c: [T; N],
    center: T,
}

#[reversible]
impl<T: Real, const N: usize> Poly<T, N> {
    #[reversible]
    fn at(&self, y: &mut T, x: T) {
        for k in 0..N {
            *y += self.c[k] * (x - self.center).powi(k as i32);
        }
    }
}

#[reversible]
fn sum_at<T: Real, const M: usize>(y: &mut T, p: &[Poly<T, M>], x: T) {
    for i in par(0..p.len()) {
        let mut t = T::zero();
        p[i].at(&mut t, x);
        *y += t * p[i].c[0];
    }
}

#[reversible]
fn doubled<T: Real>(y: &mut T, p: &Poly<T, 3>, x: T) {
    let mut q = Poly::<T, 3>::zero();
    for k in 0..3 {
        q.c[k] += p.c[k] * 2.0;
    }
    (&q).at(&mut y, x);
}

#[test]
fn structs_with_lengths() {
    let p: Poly<f64, 3> = Poly { c: [1.0, 2.0, 3.0], center: 0.5 };
    let g = Poly_at::gradient(&Cpu::new(), &p, 2.0).unwrap();
    assert_eq!((g.value, g.this.c.map(|c| c.0), g.x), (10.75, [[1.0], [1.5], [2.25]], 11.0));
    assert_eq!(g, Poly_at::gradient(&Interpreter::new(), &p, 2.0).unwrap());
    let g = doubled::gradient(&Cpu::new(), &p, 2.0).unwrap();
    assert_eq!((g.value, g.p.c.map(|c| c.0), g.p.center.0, g.x), (34.0, [[2.0], [4.0], [8.0]], [0.0], 28.0));
    assert_eq!(g, doubled::gradient(&Interpreter::new(), &p, 2.0).unwrap());
    assert!(doubled::check_inverse(&Interpreter::new(), &1.0, &p, 2.0).unwrap().passed());
    let many = vec![p; 40];
    let laned = sum_at::gradient(&Cpu::new().checks(false), &many, 2.0).unwrap();
    assert_eq!((laned.value, laned.x, laned.p[7].c[2].0), (430.0, 440.0, [2.25]));
    assert_eq!(laned, sum_at::gradient(&Interpreter::new(), &many, 2.0).unwrap());
}

/// Two modules with a struct of the same name, made of structs of the same name.
mod near {
    use rev_cpu::prelude::*;

    #[derive(Clone, Debug, PartialEq, Reversible)]
    pub struct Part<T: Real> {
        pub x: T,
    }

    #[derive(Clone, Debug, PartialEq, Reversible)]
    pub struct Whole<T: Real> {
        pub n: i32,
        pub part: Part<T>,
    }

    #[reversible]
    pub fn add<T: Real>(y: &mut T, s: &Whole<T>) {
        y += s.part.x * s.part.x;
    }
}

mod far {
    use rev_cpu::prelude::*;

    #[derive(Clone, Debug, PartialEq, Reversible)]
    pub struct Part<T: Real> {
        pub y: [T; 2],
        pub x: T,
    }

    #[derive(Clone, Debug, PartialEq, Reversible)]
    pub struct Whole<T: Real> {
        pub n: i32,
        pub part: Part<T>,
    }

    #[reversible]
    pub fn add<T: Real>(y: &mut T, s: &Whole<T>) {
        y += s.part.x * s.part.y[1];
    }
}

#[reversible]
fn both<T: Real>(y: &mut T, a: &near::Whole<T>, b: &far::Whole<T>) {
    near::add(&mut y, &a);
    far::add(&mut y, &b);
}

#[test]
fn structs_of_one_name_in_two_modules_are_two() {
    let module = both::ir();
    let fields = |name: &str| module.structs[name].fields.clone();
    let t = || Type::Generic("T".into());
    assert_eq!(module.structs.len(), 6);
    assert_eq!(fields("Part")[0], ("y".to_string(), Type::Fixed(Box::new(t()), Length::Literal(2))));
    let other = "derive::near::Part";
    assert_eq!(fields(other), [("x".to_string(), t())]);
    for name in ["near::Whole", "derive::near::Whole"] {
        assert_eq!(module.structs[name].fields[1].1, Type::Struct(other.into(), vec![t()]), "{name}");
    }
    let callee = &module.functions["derive::near::add"];
    assert_eq!(callee.vars[1].ty, Type::Struct("derive::near::Whole".into(), vec![t()]));
    let (a, b) = (
        near::Whole { n: 1, part: near::Part { x: 3.0 } },
        far::Whole { n: 2, part: far::Part { y: [5.0, 7.0], x: 2.0 } },
    );
    for device in [&Cpu::new() as &dyn Device, &rev_core::interp::Interpreter::new()] {
        let v = both::vjp(device, 1.0, &0.0, &a, &b).unwrap();
        assert_eq!((v.y, v.a_bar.part.x, v.b_bar.part.x), (23.0, Batch([6.0]), Batch([7.0])));
        assert_eq!(v.b_bar.part.y, [Batch([0.0]), Batch([2.0])]);
    }
}
