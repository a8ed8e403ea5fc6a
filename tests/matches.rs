//! `match` and `if let`, on numbers and enums.

#![allow(clippy::unwrap_used, clippy::needless_range_loop)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev::prelude::*;
use rev::Emulator;

const LIMIT: i64 = 9;

#[pure]
fn weighted<T: Real>(x: T, n: i64) -> T {
    match n {
        i64::MIN..=-1 => T::zero(),
        0 => x,
        _ => {
            let y = x * x;
            y * x
        }
    }
}

#[reversible]
fn by_number<T: Real>(y: &mut T, x: T, n: i64) {
    match n {
        0 => *y += x,
        1 | 2 => {
            *y += x * x;
            *y += 1.0;
        }
        3..=5 => *y -= x.sin(),
        LIMIT => {}
        k @ 6..=8 => *y += (k as T) * x,
        k if k < 0 => *y += 100.0,
        k => {
            *y += (k as T) * x * x;
        }
    }
    *y += match n % 2 {
        0 => x,
        -1 | 1 => x * x * x,
        _ => T::zero(),
    };
    *y += weighted(x, n);
}

fn by_number_plainly(x: f64, n: i64) -> f64 {
    let mut y = 0.0;
    match n {
        0 => y += x,
        1 | 2 => {
            y += x * x;
            y += 1.0;
        }
        3..=5 => y -= x.sin(),
        LIMIT => {}
        k @ 6..=8 => y += (k as f64) * x,
        k if k < 0 => y += 100.0,
        k => y += (k as f64) * x * x,
    }
    y += match n % 2 {
        0 => x,
        -1 | 1 => x * x * x,
        _ => 0.0,
    };
    y + if n < 0 {
        0.0
    } else if n == 0 {
        x
    } else {
        x * x * x
    }
}

#[reversible]
fn all_by_number(y: &mut [f64], x: &[f64], n: &[i64]) {
    for i in par(0..x.len()) {
        match n[i] {
            0 => y[i] += x[i],
            1 | 2 => {
                y[i] += x[i] * x[i];
                y[i] += 1.0;
            }
            3..=5 => y[i] -= x[i].sin(),
            LIMIT => {}
            k @ 6..=8 => y[i] += (k as f64) * x[i],
            k if k < 0 => y[i] += 100.0,
            k => y[i] += (k as f64) * x[i] * x[i],
        }
        y[i] += match n[i] % 2 {
            0 => x[i],
            -1 | 1 => x[i] * x[i] * x[i],
            _ => 0.0,
        };
        y[i] += weighted(x[i], n[i]);
    }
}

#[test]
fn matched_numbers() {
    fn on<D: Device>(device: &D) {
        let x = 0.7;
        for n in -3..14 {
            let mut y = 0.0;
            by_number::run(device, &mut y, x, n).unwrap();
            assert_eq!(y, by_number_plainly(x, n), "{n}");
            by_number::run_inverse(device, &mut y, x, n).unwrap();
            assert_abs_diff_eq!(y, 0.0, epsilon = 1e-12);
            let h = 1e-6;
            let slope = (by_number_plainly(x + h, n) - by_number_plainly(x - h, n)) / (2.0 * h);
            let g = by_number::gradient(device, x, n).unwrap();
            assert!(abs_diff_eq!(g.x, slope, epsilon = 1e-6 * (1.0 + slope.abs())), "{n}: {} {slope}", g.x);
        }
        let n: Vec<i64> = (0..300).map(|i| i % 17 - 3).collect();
        let x: Vec<f64> = (0..300).map(|i| (i as f64) / 64.0).collect();
        let mut y = vec![0.0; 300];
        all_by_number::run(device, &mut y, &x, &n).unwrap();
        let plain: Vec<f64> = x.iter().zip(&n).map(|(x, n)| by_number_plainly(*x, *n)).collect();
        for i in 0..300 {
            assert_abs_diff_eq!(y[i], plain[i], epsilon = 1e-12 * (1.0 + plain[i].abs()));
        }
        all_by_number::run_inverse(device, &mut y, &x, &n).unwrap();
        assert!(y.iter().all(|&y| abs_diff_eq!(y, 0.0, epsilon = 1e-12)));
        let v = all_by_number::vjp(device, &vec![1.0; 300], &y, &x, &n).unwrap();
        for i in 0..300 {
            let g = by_number::gradient(device, x[i], n[i]).unwrap();
            assert_abs_diff_eq!(v.x_bar[i], g.x, epsilon = 1e-12 * (1.0 + g.x.abs()));
        }
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Interpreter::new());
    on(&Emulator::new());
}

/// What a sensor does with what it measures.
#[derive(Clone, Copy, Debug, PartialEq, Reversible)]
enum Response {
    Off,
    Linear,
    LogLike,
}

#[derive(Clone, Debug, PartialEq, Reversible)]
enum Shape<T: Real> {
    Point,
    Circle(T),
    Box { width: T, height: T, sides: [T; 2], count: u32 },
}

#[reversible]
fn responses<T: Real>(y: &mut [T], x: &[T], kinds: &[Response], gain: Option<T>, skip: Option<usize>) {
    for i in par(0..x.len()) {
        match kinds[i] {
            Response::Off => {}
            Response::Linear => y[i] += x[i],
            Response::LogLike => y[i] += x[i].ln_1p(),
        }
        if let Some(g) = gain {
            y[i] += g * x[i] * x[i];
        }
        y[i] += match skip {
            Some(k) if k == i => T::zero(),
            Some(_) | None => x[i],
        };
    }
}

fn responses_plainly(x: &[f64], kinds: &[Response], gain: Option<f64>, skip: Option<usize>) -> Vec<f64> {
    (0..x.len())
        .map(|i| {
            let mut y = match kinds[i] {
                Response::Off => 0.0,
                Response::Linear => x[i],
                Response::LogLike => x[i].ln_1p(),
            };
            y += gain.map_or(0.0, |g| g * x[i] * x[i]);
            y + if skip == Some(i) { 0.0 } else { x[i] }
        })
        .collect()
}

#[reversible]
fn area<T: Real>(y: &mut T, shape: &Shape<T>, scale: T) {
    match shape {
        Shape::Point => {}
        Shape::Circle(r) => *y += T::pi() * r * r * scale,
        Shape::Box { width, height, sides, count: 0 } => {
            *y += width * height;
            *y += sides[0] * sides[1] * scale;
        }
        Shape::Box { width: w, count, .. } => *y += w * (*count as T),
    }
}

#[reversible]
fn areas<T: Real>(y: &mut T, shapes: &[Shape<T>], scale: T) {
    for shape in shapes {
        area(&mut y, &shape, scale);
    }
    for i in 0..shapes.len() {
        if let Shape::Circle(r) = shapes[i] {
            *y += r;
        } else {
            *y -= scale;
        }
    }
}

#[test]
fn matched_enums() {
    fn on<D: Device>(device: &D) {
        let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 32.0).collect();
        let all = [Response::Off, Response::Linear, Response::LogLike];
        let kinds: Vec<Response> = (0..100).map(|i| all[i * i % 3]).collect();
        for (gain, skip) in [(None, None), (Some(0.5), Some(3)), (Some(-1.0), None)] {
            let mut y = vec![0.0; 100];
            responses::run(device, &mut y, &x, &kinds, gain, skip).unwrap();
            let plain = responses_plainly(&x, &kinds, gain, skip);
            assert_abs_diff_eq!(y[..], plain[..], epsilon = 1e-12);
            responses::run_inverse(device, &mut y, &x, &kinds, gain, skip).unwrap();
            assert!(y.iter().all(|&y| abs_diff_eq!(y, 0.0, epsilon = 1e-12)));
            let v = responses::vjp(device, &vec![1.0; 100], &y, &x, &kinds, gain, skip).unwrap();
            let sum = |gain, x: &[f64]| responses_plainly(x, &kinds, gain, skip).iter().sum::<f64>();
            let h = 1e-5;
            for i in 0..100 {
                let (mut up, mut down) = (x.clone(), x.clone());
                up[i] += h;
                down[i] -= h;
                let slope = (sum(gain, &up) - sum(gain, &down)) / (2.0 * h);
                assert!(abs_diff_eq!(v.x_bar[i], slope, epsilon = 1e-6), "{i} {} {slope}", v.x_bar[i]);
            }
            let slope = if gain.is_some() { x.iter().map(|x| x * x).sum() } else { 0.0 };
            assert_abs_diff_eq!(v.gain_bar, slope, epsilon = 1e-9);
        }
        let shapes = [
            Shape::Point,
            Shape::Circle(2.0),
            Shape::Box { width: 3.0, height: 4.0, sides: [5.0, 6.0], count: 0 },
            Shape::Box { width: 3.0, height: 4.0, sides: [5.0, 6.0], count: 7 },
        ];
        let g = areas::gradient(device, &shapes, 0.5).unwrap();
        let pi = std::f64::consts::PI;
        assert_abs_diff_eq!(g.value, 2.0 * pi + 12.0 + 15.0 + 21.0 + 2.0 - 1.5, epsilon = 1e-12);
        assert_abs_diff_eq!(g.scale, 4.0 * pi + 30.0 - 3.0, epsilon = 1e-12);
        assert_abs_diff_eq!(g.shapes[1].circle_0.get(), 2.0 * pi + 1.0, epsilon = 1e-12);
        assert_eq!((g.shapes[2].box_width.get(), g.shapes[2].box_height.get()), (4.0, 3.0));
        assert_eq!((g.shapes[2].box_sides[0].get(), g.shapes[2].box_sides[1].get()), (3.0, 2.5));
        assert_eq!((g.shapes[3].box_width.get(), g.shapes[3].box_height.get()), (7.0, 0.0));
        assert_eq!(g.shapes[0].circle_0.get(), 0.0);
        let (mut y, start) = (1.0, shapes.clone());
        areas::run(device, &mut y, &shapes, 0.5).unwrap();
        areas::run_inverse(device, &mut y, &shapes, 0.5).unwrap();
        assert_abs_diff_eq!(y, 1.0f64, epsilon = 1e-12);
        assert_eq!(shapes, start);
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Interpreter::new());
    on(&Emulator::new());
}

/// An enum in an enum in a struct, of a length that is a parameter.
#[derive(Clone, Debug, PartialEq, Reversible)]
enum Rule<T: Real, const N: usize> {
    Weights([T; N]),
    Nested { inner: Shape<T>, response: Response },
    Missing(Option<T>, Option<u8>),
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Part<T: Real> {
    rule: Rule<T, 2>,
    factor: T,
    last: Option<T>,
}

#[reversible]
fn rules<T: Real>(y: &mut T, parts: &[Part<T>]) {
    for i in 0..parts.len() {
        match parts[i].rule {
            Rule::Weights(w) => *y += w[0] * w[1] * parts[i].factor,
            Rule::Nested { inner: Shape::Circle(r), response: Response::Off | Response::Linear } => {
                *y += r * r
            }
            Rule::Nested { inner, response: Response::LogLike } => {
                area(&mut y, &inner, parts[i].factor);
            }
            Rule::Nested { .. } => {}
            Rule::Missing(Some(x), None | Some(0..=9)) => *y += x * x * x,
            Rule::Missing(x, n) => {
                *y += if let Some(x) = x { x } else { T::one() };
                *y += match n {
                    Some(n) => n as T,
                    None => T::zero(),
                };
            }
        }
        if let Some(last) = parts[i].last {
            *y += last * parts[i].factor;
        }
    }
}

fn rules_plainly(parts: &[Part<f64>]) -> f64 {
    let of = |shape: &Shape<f64>, scale: f64| match shape {
        Shape::Point => 0.0,
        Shape::Circle(r) => std::f64::consts::PI * r * r * scale,
        Shape::Box { width, height, sides, count: 0 } => width * height + sides[0] * sides[1] * scale,
        Shape::Box { width, count, .. } => width * f64::from(*count),
    };
    let part = |p: &Part<f64>| {
        let y = match &p.rule {
            Rule::Weights(w) => w[0] * w[1] * p.factor,
            Rule::Nested { inner: Shape::Circle(r), response: Response::Off | Response::Linear } => r * r,
            Rule::Nested { inner, response: Response::LogLike } => of(inner, p.factor),
            Rule::Nested { .. } => 0.0,
            Rule::Missing(Some(x), None | Some(0..=9)) => x * x * x,
            Rule::Missing(x, n) => x.unwrap_or(1.0) + f64::from(n.unwrap_or(0)),
        };
        y + p.last.map_or(0.0, |last| last * p.factor)
    };
    parts.iter().map(part).sum()
}

fn some_rules() -> Vec<Part<f64>> {
    let boxed = Shape::Box { width: 1.5, height: 2.5, sides: [0.5, 0.25], count: 0 };
    let rules = [
        Rule::Weights([2.0, 3.0]),
        Rule::Nested { inner: Shape::Circle(3.0), response: Response::Linear },
        Rule::Nested { inner: Shape::Circle(3.0), response: Response::LogLike },
        Rule::Nested { inner: boxed, response: Response::LogLike },
        Rule::Nested { inner: Shape::Point, response: Response::Off },
        Rule::Missing(Some(2.0), None),
        Rule::Missing(Some(2.0), Some(4)),
        Rule::Missing(Some(2.0), Some(40)),
        Rule::Missing(None, Some(4)),
        Rule::Missing(None, None),
    ];
    let part = |(k, rule)| Part { rule, factor: 0.5 + k as f64, last: (k % 2 == 1).then_some(0.25) };
    rules.into_iter().enumerate().map(part).collect()
}

#[test]
fn enums_in_enums_and_structs() {
    fn on<D: Device>(device: &D) {
        let mut parts = some_rules();
        let g = rules::gradient(device, &parts).unwrap();
        assert_abs_diff_eq!(g.value, rules_plainly(&parts), epsilon = 1e-12);
        for i in 0..parts.len() {
            let h = 1e-6;
            let mut slope = |change: &dyn Fn(&mut Part<f64>, f64)| {
                let mut at = |h| {
                    let old = parts[i].clone();
                    change(&mut parts[i], h);
                    let value = rules_plainly(&parts);
                    parts[i] = old;
                    value
                };
                (at(h) - at(-h)) / (2.0 * h)
            };
            let close = |a: f64, b: f64| assert!(abs_diff_eq!(a, b, epsilon = 1e-6), "{i}: {a} {b}");
            close(g.parts[i].factor.get(), slope(&|p, h| p.factor += h));
            close(g.parts[i].last.1.get(), slope(&|p, h| p.last = p.last.map(|x| x + h)));
            let rule = &g.parts[i].rule;
            let weights = |p: &mut Part<f64>, h: f64| {
                if let Rule::Weights(w) = &mut p.rule {
                    w[1] += h;
                }
            };
            close(rule.weights_0[1].get(), slope(&weights));
            let circle = |p: &mut Part<f64>, h: f64| {
                if let Rule::Nested { inner: Shape::Circle(r), .. } = &mut p.rule {
                    *r += h;
                }
            };
            close(rule.nested_inner.circle_0.get(), slope(&circle));
            let height = |p: &mut Part<f64>, h: f64| {
                if let Rule::Nested { inner: Shape::Box { height, .. }, .. } = &mut p.rule {
                    *height += h;
                }
            };
            close(rule.nested_inner.box_height.get(), slope(&height));
            let missing = |p: &mut Part<f64>, h: f64| {
                if let Rule::Missing(Some(x), _) = &mut p.rule {
                    *x += h;
                }
            };
            close(rule.missing_0.1.get(), slope(&missing));
        }
        let mut y = 0.0;
        rules::run(device, &mut y, &parts).unwrap();
        rules::run_inverse(device, &mut y, &parts).unwrap();
        assert_abs_diff_eq!(y, 0.0, epsilon = 1e-12);
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Interpreter::new());
    on(&Emulator::new());
}

/// Enums that move: exchanged, kept on a stack, and matched again.
#[reversible]
fn moved(kinds: &mut [Response], kept: &mut Stack<Response>, count: &mut u32) {
    let n = kinds.len();
    for i in 0..n / 2 {
        swap(kinds[i], kinds[n - 1 - i]);
    }
    for i in 0..n {
        match kinds[i] {
            Response::Off => *count += 1,
            Response::Linear => *count += 10,
            Response::LogLike => *count += 100,
        }
    }
    push(kept, kinds[0]);
}

#[test]
fn enums_that_move() {
    fn on<D: Device>(device: &D) {
        let start = [Response::LogLike, Response::Linear, Response::Off, Response::Linear];
        let (mut kinds, mut kept, mut count) = (start, Stack::new(), 0);
        moved::run(device, &mut kinds, &mut kept, &mut count).unwrap();
        assert_eq!(kinds, [Response::Off, Response::Off, Response::Linear, Response::LogLike]);
        assert_eq!((kept.as_slice(), count), (&[Response::Linear][..], 121));
        moved::run_inverse(device, &mut kinds, &mut kept, &mut count).unwrap();
        assert_eq!((kinds, kept.len(), count), (start, 0, 0));
    }
    on(&Cpu::new());
    on(&Interpreter::new());
    on(&Emulator::new());
}

/// Tangents, and functions of an enum.
#[reversible]
impl<T: Real> Shape<T> {
    #[reversible]
    fn perimeter(&self, y: &mut T, by: T) {
        match self {
            Self::Point => {}
            Shape::Circle(r) => *y += T::pi() * r * by * by,
            Self::Box { width, height, .. } => *y += width * height * by,
        }
    }
}

/// A constant choice, which leaves tangents as they are.
#[reversible(tangent, constant(x))]
fn filled<T: Real>(y: &mut T, x: Option<T>, kind: Response, z: T) {
    *y += match x {
        Some(x) => x * z * z,
        None => z,
    };
    match kind {
        Response::Off => {}
        _ => *y += z,
    }
}

#[test]
fn functions_of_enums_and_tangents() {
    let cpu = Cpu::new();
    let d = filled::jvp(&cpu, &0.0, Response::Off, 0.5, &0.0, Some(3.0), Response::Linear, 2.0).unwrap();
    assert_eq!((d.y, d.y_dot), (14.0, 6.5));
    let (g, h) = filled::gradient_and_hvp(&cpu, Response::Off, 0.5, Some(3.0), Response::Off, 2.0).unwrap();
    assert_eq!((g.value, g.z, h.z), (12.0, 12.0, 3.0));
    let shape = Shape::Box { width: 2.0_f64, height: 3.0, sides: [0.0; 2], count: 0 };
    let mut y = 0.0;
    shape.perimeter(&mut y, 0.5).unwrap();
    assert_eq!(y, 3.0);
    let g = Shape_perimeter::gradient(&cpu, &shape, 0.5).unwrap();
    assert_eq!((g.this.box_width.get(), g.this.box_height.get(), g.by), (1.5, 1.0, 6.0));
    let g = Shape_perimeter::gradient(&Interpreter::new(), &shape, 0.5).unwrap();
    assert_eq!((g.this.box_width.get(), g.this.box_height.get(), g.by), (1.5, 1.0, 6.0));
}

/// Arms that only have guards, and one that asks behind one that doesn't.
#[reversible]
fn only_guards(y: &mut i64, k: i64, on: bool) {
    match k {
        k if k > 5 => *y += 1,
        _ if on => *y += 10,
        _ => *y += 100,
    }
    match k {
        _ if on => *y += 1000,
        0 => *y += 2000,
        _ => *y += 3000,
    }
    *y += match on {
        true if k == 1 => 10000,
        false => 20000,
        true => 30000,
    };
}

#[test]
fn guards() {
    let plainly = |k, on| {
        let y = match k {
            k if k > 5 => 1,
            _ if on => 10,
            _ => 100,
        };
        let y = y + match k {
            _ if on => 1000,
            0 => 2000,
            _ => 3000,
        };
        y + match on {
            true if k == 1 => 10000,
            false => 20000,
            true => 30000,
        }
    };
    for (k, on) in (0..8).flat_map(|k| [(k, false), (k, true)]) {
        let (mut a, mut b, mut c) = (0, 0, 0);
        only_guards::run(&Cpu::new(), &mut a, k, on).unwrap();
        only_guards::run(&Interpreter::new(), &mut b, k, on).unwrap();
        only_guards::run(&Emulator::new(), &mut c, k, on).unwrap();
        assert_eq!([a, b, c], [plainly(k, on); 3], "{k} {on}");
        only_guards::inverse(&mut a, k, on).unwrap();
        assert_eq!(a, 0);
    }
}

/// Arms in which something is lost.
#[reversible]
fn stepped<T: Real>(y: &mut T, x: &[T], kinds: &[Response]) {
    let mut s = T::one();
    #[checkpoint]
    for t in 0..x.len() {
        match kinds[t] {
            Response::Off => s = x[t],
            Response::Linear => s = s * x[t] + 1.0,
            Response::LogLike => {}
        }
    }
    *y += s * s;
}

#[test]
fn arms_that_assign() {
    let all = [
        Response::Linear,
        Response::LogLike,
        Response::Linear,
        Response::Off,
        Response::LogLike,
        Response::Linear,
    ];
    let x = [0.5, 2.0, -1.5, 0.25, 3.0, 0.75];
    let plainly = |x: &[f64]| {
        let s = x.iter().zip(&all).fold(1.0, |s, (x, kind)| match kind {
            Response::Off => *x,
            Response::Linear => s * x + 1.0,
            Response::LogLike => s,
        });
        s * s
    };
    fn on<D: Device>(device: &D, all: &[Response], x: &[f64], plainly: &dyn Fn(&[f64]) -> f64) {
        for n in 0..=x.len() {
            let (x, all) = (&x[..n], &all[..n]);
            let g = stepped::gradient(device, x, all).unwrap();
            assert_abs_diff_eq!(g.value, plainly(x), epsilon = 1e-12);
            for i in 0..n {
                let at = |h: f64| {
                    plainly(&(0..n).map(|k| x[k] + if k == i { h } else { 0.0 }).collect::<Vec<_>>())
                };
                assert!(abs_diff_eq!(g.x[i], (at(1e-6) - at(-1e-6)) / 2e-6, epsilon = 1e-6), "{i}");
            }
        }
    }
    on(&Cpu::new(), &all, &x, &plainly);
    on(&Interpreter::new(), &all, &x, &plainly);
}

/// A pair of numbers.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Pair<T: Real> {
    a: T,
    b: T,
}

#[reversible]
fn product<T: Real>(y: &mut T, pair: &Pair<T>) {
    *y += pair.a * pair.b;
}

/// An argument that is made of what a pattern names, in an arm without braces.
#[reversible]
fn made<T: Real>(y: &mut T, x: Option<T>) {
    match x {
        Some(x) => product(&mut y, &Pair::<T> { a: x, b: 2.0 * x }),
        None => {}
    }
}

#[test]
fn arms_that_make_arguments() {
    let g = made::gradient(&Cpu::new(), Some(3.0)).unwrap();
    assert_eq!((g.value, g.x), (18.0, 12.0));
    assert_eq!(made::gradient(&Interpreter::new(), None::<f64>).unwrap().value, 0.0);
}

/// Options of structs, tuples and arrays, in a struct.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Joint<T: Real> {
    spring: Option<Pair<T>>,
    limit: Option<(T, u8)>,
    at: Option<[T; 2]>,
}

#[derive(Clone, Debug, PartialEq, Reversible)]
enum Drive<T: Real> {
    None_,
    Motor { joint: Option<Pair<T>>, gain: T },
    Gears(Option<[T; 3]>),
}

#[reversible]
fn joints<T: Real>(
    y: &mut T,
    joints: &[Joint<T>],
    drive: &Drive<T>,
    last: Option<Pair<T>>,
    ends: Option<(T, [T; 2])>,
    x: T,
) {
    for i in 0..joints.len() {
        match joints[i].spring {
            Some(p) => {
                *y += p.a * p.b * x;
                product(&mut y, &p);
            }
            None => *y += x,
        }
        if let Some((limit, n)) = joints[i].limit {
            *y += limit * limit * (n as T);
        }
        *y += match joints[i].at {
            Some([u, v]) => u * v * x,
            None => x * x,
        };
    }
    match (drive, last) {
        (Drive::Motor { joint: Some(j), gain }, Some(l)) => *y += j.a * l.b * gain,
        (Drive::Motor { joint: None, gain }, _) => *y += gain * x,
        (Drive::Gears(Some(g)), None) => *y += g[0] * g[1] * g[2],
        (_, Some(l)) => *y -= l.a,
        _ => {}
    }
    if let Some((first, rest)) = ends {
        *y += first * rest[0] * rest[1] * rest[1];
    }
}

type Joints = (Vec<Joint<f64>>, Drive<f64>, Option<Pair<f64>>, Option<(f64, [f64; 2])>);

fn joints_plainly((joints, drive, last, ends): &Joints, x: f64) -> f64 {
    let mut y = 0.0;
    for j in joints {
        y += j.spring.as_ref().map_or(x, |p| p.a * p.b * x + p.a * p.b);
        y += j.limit.map_or(0.0, |(limit, n)| limit * limit * f64::from(n));
        y += j.at.map_or(x * x, |[u, v]| u * v * x);
    }
    y += match (drive, last) {
        (Drive::Motor { joint: Some(j), gain }, Some(l)) => j.a * l.b * gain,
        (Drive::Motor { joint: None, gain }, _) => gain * x,
        (Drive::Gears(Some(g)), None) => g[0] * g[1] * g[2],
        (_, Some(l)) => -l.a,
        _ => 0.0,
    };
    y + ends.map_or(0.0, |(first, rest)| first * rest[0] * rest[1] * rest[1])
}

#[test]
fn options_of_structs_tuples_and_arrays() {
    fn on<D: Device>(device: &D) {
        let pair = |a, b| Some(Pair { a, b });
        let all = vec![
            Joint { spring: pair(0.5, -2.0), limit: Some((1.5, 3)), at: Some([2.0, 0.25]) },
            Joint { spring: None, limit: None, at: None },
            Joint { spring: pair(3.0, 0.75), limit: None, at: Some([-1.0, 4.0]) },
        ];
        let drives = [
            Drive::None_,
            Drive::Motor { joint: pair(1.25, 2.0), gain: 0.5 },
            Drive::Motor { joint: None, gain: -1.5 },
            Drive::Gears(Some([2.0, 3.0, 0.5])),
            Drive::Gears(None),
        ];
        let (x, h) = (0.75, 1e-6);
        for drive in drives {
            for (last, ends) in [(pair(0.25, 5.0), None), (None, Some((1.5, [2.0, -0.5])))] {
                let state: Joints = (all.clone(), drive.clone(), last, ends);
                let (js, drive, last, ends) = state.clone();
                let mut y = 0.0;
                joints::run(device, &mut y, &js, &drive, last.clone(), ends, x).unwrap();
                assert_abs_diff_eq!(y, joints_plainly(&state, x), epsilon = 1e-12);
                joints::run_inverse(device, &mut y, &js, &drive, last.clone(), ends, x).unwrap();
                assert_abs_diff_eq!(y, 0.0, epsilon = 1e-12);
                let g = joints::gradient(device, &js, &drive, last, ends, x).unwrap();
                let slope = |change: &dyn Fn(&mut Joints, f64)| {
                    let at = |h| {
                        let mut state = state.clone();
                        change(&mut state, h);
                        joints_plainly(&state, x)
                    };
                    (at(h) - at(-h)) / (2.0 * h)
                };
                let close = |a: f64, b: f64| assert_abs_diff_eq!(a, b, epsilon = 1e-7);
                close(g.x, (joints_plainly(&state, x + h) - joints_plainly(&state, x - h)) / (2.0 * h));
                for i in 0..3 {
                    let of = &g.joints[i];
                    let spring = |s: &mut Joints, h: f64, a: bool| {
                        if let Some(p) = &mut s.0[i].spring {
                            *(if a { &mut p.a } else { &mut p.b }) += h;
                        }
                    };
                    close(of.spring.1.a.get(), slope(&|s, h| spring(s, h, true)));
                    close(of.spring.1.b.get(), slope(&|s, h| spring(s, h, false)));
                    close(
                        of.limit.1 .0.get(),
                        slope(&|s, h| s.0[i].limit = s.0[i].limit.map(|(l, n)| (l + h, n))),
                    );
                    for k in 0..2 {
                        let at = |s: &mut Joints, h: f64| {
                            if let Some(at) = &mut s.0[i].at {
                                at[k] += h;
                            }
                        };
                        close(of.at.1[k].get(), slope(&at));
                    }
                }
                let motor = |s: &mut Joints, h: f64| {
                    if let Drive::Motor { joint: Some(j), .. } = &mut s.1 {
                        j.a += h;
                    }
                };
                close(g.drive.motor_joint.1.a.get(), slope(&motor));
                let gain = |s: &mut Joints, h: f64| {
                    if let Drive::Motor { gain, .. } = &mut s.1 {
                        *gain += h;
                    }
                };
                close(g.drive.motor_gain.get(), slope(&gain));
                let gears = |s: &mut Joints, h: f64| {
                    if let Drive::Gears(Some(g)) = &mut s.1 {
                        g[1] += h;
                    }
                };
                close(g.drive.gears_0.1[1].get(), slope(&gears));
                let of_last = |s: &mut Joints, h: f64, a: bool| {
                    if let Some(p) = &mut s.2 {
                        *(if a { &mut p.a } else { &mut p.b }) += h;
                    }
                };
                close(g.last.a.get(), slope(&|s, h| of_last(s, h, true)));
                close(g.last.b.get(), slope(&|s, h| of_last(s, h, false)));
                let of_ends = |s: &mut Joints, h: f64| {
                    if let Some((_, rest)) = &mut s.3 {
                        rest[1] += h;
                    }
                };
                close(g.ends.1[1], slope(&of_ends));
            }
        }
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Interpreter::new());
    on(&Emulator::new());
}
