//! What enums and `Option`s hold has tangents and second derivatives.

use rev_core::interp::Interpreter;
use rev_core::scalar::{Batch, Primal, Variants};
use rev_core::Options;
use rev_cpu::prelude::*;

/// A spring: one that pulls with k x, or one whose force grows as k x + c x³, or nothing.
#[derive(Clone, Debug, PartialEq, Reversible)]
enum Spring<T: Real> {
    Slack,
    Linear(T),
    Hardening { k: T, c: T },
    Table([T; 2], usize),
}

/// The energy of a spring at an extension, and its rest length that may be missing.
#[reversible(tangent)]
fn energy<T: Real>(e: &mut T, spring: &Spring<T>, rest: Option<T>, x: T) {
    let l = match rest {
        Some(l) => x - l,
        None => x,
    };
    match spring {
        Spring::Slack => {}
        Spring::Linear(k) => *e += k * l * l * 0.5,
        Spring::Hardening { k, c } => *e += k * k * l * l * 0.5 + c * l * l * l * l,
        Spring::Table(t, n) => {
            for i in 0..2 {
                *e += t[i] * t[i] * l * T::from(n);
            }
        }
    }
}

fn devices() -> [Box<dyn Device>; 5] {
    let several = Cpu::with_threads(3).parallel_from(0);
    let fixed_order = Cpu::with_threads(2).parallel_from(0).deterministic(true);
    let in_order = Interpreter::with_options(Options { deterministic: true, ..Options::default() });
    let interpreter = Interpreter::new();
    [
        Box::new(Cpu::new()),
        Box::new(several),
        Box::new(fixed_order),
        Box::new(interpreter),
        Box::new(in_order),
    ]
}

#[test]
fn tangents_and_second_derivatives() {
    let spring = Spring::Hardening { k: 3.0, c: 2.0 };
    let along = Spring::Hardening { k: 1.0, c: 5.0 };
    for device in devices() {
        let (device, rest, still) = (&*device, Some(1.0), Some(0.0));
        // k² l²/2 + c l⁴ at l = 2, along k, c and x
        let found = energy::jvp(device, &0.0, &along, still, 1.0, &0.0, &spring, rest, 3.0).unwrap();
        assert_eq!((found.e, found.e_dot), (50.0, 12.0 + 80.0 + 18.0 + 64.0));
        let mut both = (0.0, 0.0);
        energy::tangent(device, &mut both.0, &mut both.1, &spring, &along, rest, still, 3.0, 1.0).unwrap();
        assert_eq!(both, (50.0, 174.0));
        // by k: l² + 2 k l, by c: 4 l³, by x: k² + 12 c l² + 2 k l + 5 · 4 l³
        let by_x = 9.0 + 96.0 + 12.0 + 160.0;
        let h = energy::hvp(device, &along, still, 1.0, &spring, rest, 3.0).unwrap();
        assert_eq!((h.spring.hardening_k, h.spring.hardening_c), (Batch([16.0]), Batch([32.0])));
        assert_eq!((h.spring.linear_0, h.spring.table_0), (Batch([0.0]), [Batch([0.0]); 2]));
        assert_eq!((h.rest, h.x), (-by_x, by_x));
        let (g, h) = energy::gradient_and_hvp(device, &along, still, 1.0, &spring, rest, 3.0).unwrap();
        assert_eq!((g.value, g.x, g.rest), (50.0, 82.0, -82.0));
        assert_eq!((g.spring.hardening_k, g.spring.hardening_c), (Batch([12.0]), Batch([16.0])));
        assert_eq!((h.spring.hardening_k, h.x), (Batch([16.0]), by_x));
        let directions = [energy::SPRING.along(&along), energy::X.along(&1.0)];
        let h = energy::hvp_wrt(device, &directions, &spring, rest, 3.0).unwrap();
        assert_eq!((h.spring.hardening_k, h.x), (Batch([16.0]), by_x));
        // what is missing has no derivative
        let h = energy::hvp(device, &Spring::Slack, None, 1.0, &Spring::Slack, None, 3.0).unwrap();
        assert_eq!((h.rest, h.x), (0.0, 0.0));
    }
}

#[test]
fn directions_of_another_variant_are_errors() {
    let (spring, other) = (Spring::Linear(2.0), Spring::Hardening { k: 1.0, c: 1.0 });
    let device = &Cpu::new();
    let message = "the variant of `spring_dot`: expected linear, found hardening";
    let found = energy::jvp(device, &0.0, &other, None, 1.0, &0.0, &spring, None, 3.0);
    assert_eq!(found.unwrap_err().to_string(), message);
    let found = energy::hvp(device, &other, None, 1.0, &spring, None, 3.0);
    assert_eq!(found.unwrap_err().to_string(), message);
    let found = energy::gradient_and_hvp(device, &other, None, 1.0, &spring, None, 3.0);
    assert_eq!(found.unwrap_err().to_string(), message);
    let found = energy::tangent(device, &mut 0.0, &mut 0.0, &spring, &other, None, None, 3.0, 1.0);
    assert_eq!(found.unwrap_err().to_string(), message);
    let found = energy::hvp(device, &spring, Some(1.0), 1.0, &spring, None, 3.0);
    assert_eq!(found.unwrap_err().to_string(), "the variant of `rest_dot`: expected None, found Some");
    let found = energy::hvp_wrt(device, &[energy::SPRING.along(&other)], &spring, None, 3.0);
    let message = "the direction `spring_dot`: expected an enum of the argument's variant, found another";
    assert_eq!(found.unwrap_err().to_string(), message);
    let (linear, hardening) = ([spring], [other.clone()]);
    assert!(total::jvp(device, &0.0, &linear, &other, &[1.0], &0.0, &linear, &other, &[1.0]).is_ok());
    let found = total::jvp(device, &0.0, &hardening, &other, &[1.0], &0.0, &[Spring::Slack], &other, &[1.0]);
    let message = "the variant of `springs_dot[0]`: expected slack, found hardening";
    assert_eq!(found.unwrap_err().to_string(), message);
}

/// The energy of many springs, on each of which a shared one pulls too.
#[reversible(tangent)]
fn total<T: Real>(e: &mut T, springs: &[Spring<T>], shared: &Spring<T>, x: &[T]) {
    for i in par(0..springs.len()) {
        match springs[i] {
            Spring::Linear(k) => *e += k * k * x[i] * x[i],
            Spring::Hardening { k, c } => *e += k * c * x[i],
            Spring::Slack | Spring::Table(_, _) => {}
        }
        if let Spring::Hardening { k, c } = shared {
            *e += k * k * c * x[i];
        }
    }
}

#[test]
fn parallel_loops_over_enums() {
    let n = 100;
    let each = |k: usize| match k % 3 {
        0 => Spring::Slack,
        1 => Spring::Linear(k as f64 / 8.0),
        _ => Spring::Hardening { k: 0.5, c: k as f64 },
    };
    let springs: Vec<_> = (0..n).map(each).collect();
    let along: Vec<_> = springs
        .iter()
        .map(|s| match s {
            Spring::Linear(_) => Spring::Linear(1.0),
            Spring::Hardening { .. } => Spring::Hardening { k: 1.0, c: 2.0 },
            Spring::Slack | Spring::Table(..) => s.clone(),
        })
        .collect();
    let x: Vec<f64> = (0..n).map(|k| 1.0 + (k % 5) as f64).collect();
    let (shared, shared_along) = (Spring::Hardening { k: 3.0, c: 2.0 }, Spring::Hardening { k: 1.0, c: 0.5 });
    let still = vec![0.0; n];
    let sum: f64 = x.iter().sum();
    for device in devices() {
        let h = total::hvp(&*device, &along, &shared_along, &still, &springs, &shared, &x).unwrap();
        for (k, found) in h.springs.iter().enumerate() {
            let (linear, by_k, by_c) = match k % 3 {
                0 => (0.0, 0.0, 0.0),
                1 => (2.0 * x[k] * x[k], 0.0, 0.0),
                _ => (0.0, 2.0 * x[k], x[k]),
            };
            let all = (found.linear_0.0[0], found.hardening_k.0[0], found.hardening_c.0[0]);
            assert_eq!(all, (linear, by_k, by_c), "spring {k}");
        }
        // of k² c Σ x: by k 2 c k̇ + 2 k ċ, by c 2 k k̇
        let found = (h.shared.hardening_k.0[0], h.shared.hardening_c.0[0]);
        assert_eq!(found, ((4.0 + 3.0) * sum, 6.0 * sum));
    }
}

#[test]
fn a_sum_of_cotangents_is_added_to_what_was_given() {
    let springs = [Spring::Linear(2.0), Spring::Slack, Spring::Slack];
    let (shared, x) = (Spring::Hardening { k: 3.0, c: 2.0 }, [1.0, 2.0, 3.0]);
    let (each_dot, shared_dot, still) =
        (springs.clone().map(|s| s.zero_shadow::<1>()), shared.zero_shadow::<1>(), [Batch([0.0]); 3]);
    for device in devices() {
        let (mut e, mut e_dot, mut e_bar, mut e_bar_dot) = (0.0, Batch([0.0]), 1.0, Batch([0.0]));
        total::run(&*device, &mut e, &springs, &shared, &x).unwrap();
        let mut each_bar = [Spring::Linear(0.125), Spring::Slack, Spring::Slack];
        let mut shared_bar = Spring::Hardening { k: 0.5, c: 0.25 };
        let (mut each_bar_dot, mut shared_bar_dot) = (each_dot.clone(), shared_dot.clone());
        let (mut x_bar, mut x_bar_dot) = ([0.0; 3], still);
        total::adjoint_tangents::<f64, 1>(
            &*device,
            &mut e,
            &mut e_dot,
            &mut e_bar,
            &mut e_bar_dot,
            &springs,
            &each_dot,
            &mut each_bar,
            &mut each_bar_dot,
            &shared,
            &shared_dot,
            &mut shared_bar,
            &mut shared_bar_dot,
            &x,
            &still,
            &mut x_bar,
            &mut x_bar_dot,
        )
        .unwrap();
        // of k² x₀² + k² c Σ x
        assert_eq!(each_bar[0], Spring::Linear(0.125 + 4.0));
        assert_eq!(shared_bar, Spring::Hardening { k: 0.5 + 72.0, c: 0.25 + 54.0 });
        assert_eq!(x_bar, [8.0 + 18.0, 18.0, 18.0]);
    }
}

/// The energy of a spring that is exchanged with another, kept on a stack and taken back.
#[reversible(tangent)]
fn moved<T: Real>(e: &mut T, a: &mut Spring<T>, b: &mut Spring<T>, kept: &mut Stack<Spring<T>>, x: T) {
    swap(a, b);
    match a {
        Spring::Linear(k) => *e += k * k * x,
        _ => {}
    }
    push(kept, b);
    match a {
        Spring::Linear(k) => *e += k * x * x,
        _ => {}
    }
    pop(kept, b);
    match b {
        Spring::Hardening { k, c } => *e += k * k * c * x,
        _ => {}
    }
}

#[test]
fn enums_that_are_exchanged_and_kept() {
    let (a, b) = (Spring::Hardening { k: 3.0, c: 2.0 }, Spring::Linear(2.0));
    let (a_dot, b_dot) = (Spring::Hardening { k: 1.0, c: 0.0 }, Spring::Linear(1.0));
    for device in devices() {
        let none = Stack::new();
        let found = moved::jvp(&*device, &0.0, &a_dot, &b_dot, &none, 0.0, &0.0, &a, &b, &none, 2.0).unwrap();
        // k² x + k x² + k² c x
        assert_eq!((found.e, found.e_dot), (8.0 + 8.0 + 36.0, 8.0 + 4.0 + 24.0));
        assert_eq!((&found.a, &found.b), (&b, &a));
        assert_eq!((&found.a_dot, &found.b_dot), (&b_dot, &a_dot));
        let h = moved::hvp(&*device, &a_dot, &b_dot, &none, 0.0, &a, &b, &none, 2.0).unwrap();
        assert_eq!((h.a.hardening_k, h.a.hardening_c), (Batch([8.0]), Batch([12.0])));
        assert_eq!(h.b.linear_0, Batch([4.0]));
        assert_eq!(h.x, 4.0 + 4.0 + 12.0);
    }
}

/// The energies of springs by calls, of which one is given the same spring twice, and another what a spring holds.
#[reversible(tangent)]
fn of_two<T: Real>(e: &mut T, spring: &Spring<T>, other: &Spring<T>, rest: Option<T>, x: T) {
    energy(&mut *e, spring, rest, x);
    energy(&mut *e, other, rest, x);
    stretch(&mut *e, spring, spring, x);
}

#[reversible(tangent)]
fn stretch<T: Real>(e: &mut T, a: &Spring<T>, b: &Spring<T>, x: T) {
    if let (Spring::Linear(k), Spring::Linear(l)) = (a, b) {
        *e += k * l * x;
        area(&mut *e, k, x);
    }
}

#[reversible(tangent)]
fn area<T: Real>(e: &mut T, k: T, x: T) {
    *e += k * k * x;
}

#[test]
fn calls_with_what_enums_hold() {
    for device in devices() {
        let device = &*device;
        // k x²/2 + (l (x - x²)²)/2 + k² x + k² x
        let (k, l) = (Spring::Linear(3.0), Spring::Linear(2.0));
        let h = of_two::hvp(device, &Spring::Linear(1.0), &Spring::Linear(0.0), None, 0.0, &k, &l, None, 2.0)
            .unwrap();
        assert_eq!(h.x, 2.0 + 12.0);
        assert_eq!(h.spring.linear_0, Batch([8.0]));
    }
}

/// An enum in an enum.
#[derive(Clone, Copy, Debug, PartialEq, Reversible)]
enum Guess<T: Real> {
    Sure { at: Option<i64>, value: T },
    Pair(T, T),
    Nothing,
}

#[reversible(tangent, inverse_adjoint)]
fn guessed(y: &mut f64, all: &mut [Guess<f64>]) {
    for i in 0..all.len() {
        *y += (match all[i] {
            Guess::Sure { at: Some(k @ 0..), value } => value,
            Guess::Pair(a, _) => a,
            _ => 1.0,
        })
        .tanh();
    }
}

#[test]
fn what_an_enum_in_an_enum_stands_beside_has_derivatives() {
    let all = [
        Guess::Sure { at: Some(3), value: 0.3 },
        Guess::Sure { at: Some(-3), value: 0.7 },
        Guess::Sure { at: None, value: 0.9 },
        Guess::Pair(-0.4, 0.2),
        Guess::Nothing,
    ];
    let mut y = 0.0;
    guessed(&mut y, &mut all.clone()).unwrap();
    let expected = 0.3f64.tanh() - 0.4f64.tanh() + 3.0 * 1f64.tanh();
    assert!((y - expected).abs() < 1e-12, "{y}");
    assert!(guessed::check_gradient(&Cpu::new(), &0.0, &all).unwrap().passed());
}

/// An enum with arrays and with enums in them, whose elements patterns name.
#[derive(Clone, Debug, PartialEq, Reversible)]
enum Spots<T: Real> {
    Nowhere,
    Pair([T; 2], T),
    Grid(Option<[[T; 2]; 2]>, ([T; 2], i64)),
    Each([Option<T>; 2]),
}

#[reversible(tangent, adjoint)]
fn spotted<T: Real>(y: &mut T, pair: Option<[T; 2]>, spots: &Spots<T>) {
    if let Some([a, b]) = pair {
        *y += a * b;
    }
    match spots {
        Spots::Nowhere => {}
        Spots::Pair([a, _], b) => *y += a * a * b,
        Spots::Grid(Some([[a, b], [_, c]]), ([d, e], 1..=2)) => *y += a * b * c + d * e,
        Spots::Grid(_, ([d, _], _)) => *y += d * d,
        Spots::Each([Some(a), None] | [None, Some(a)]) => *y += a * a,
        Spots::Each([Some(a), Some(b)]) => *y += a * b,
        Spots::Each(_) => {}
    }
}

/// What the adjoint leaves in enums of their own.
#[reversible(tangent)]
fn slopes<T: Real>(
    y: &mut T,
    y_bar: &mut T,
    pair: Option<[T; 2]>,
    pair_bar: &mut Option<[T; 2]>,
    spots: &Spots<T>,
    spots_bar: &mut Spots<T>,
) {
    spotted::adjoint(&mut y, &mut y_bar, pair, &mut pair_bar, &spots, &mut spots_bar);
}

#[test]
fn elements_of_arrays_in_enums_have_derivatives() {
    let (pair, still) = (Some([3.0, 5.0]), Spots::Nowhere);
    let all = [
        Spots::Nowhere,
        Spots::Pair([2.0, 7.0], 3.0),
        Spots::Grid(Some([[2.0, 3.0], [11.0, 5.0]]), ([7.0, 4.0], 1)),
        Spots::Grid(Some([[2.0, 3.0], [11.0, 5.0]]), ([7.0, 4.0], 3)),
        Spots::Grid(None, ([7.0, 4.0], 2)),
        Spots::Each([None, Some(3.0)]),
        Spots::Each([Some(2.0), Some(3.0)]),
    ];
    // of a b, a² b, a b c + d e, d² and a²
    let values = [0.0, 12.0, 58.0, 49.0, 49.0, 9.0, 6.0];
    let by_each = [
        Spots::Nowhere,
        Spots::Pair([12.0, 0.0], 4.0),
        Spots::Grid(Some([[15.0, 10.0], [0.0, 6.0]]), ([4.0, 7.0], 0)),
        Spots::Grid(Some([[0.0; 2]; 2]), ([14.0, 0.0], 0)),
        Spots::Grid(None, ([14.0, 0.0], 0)),
        Spots::Each([None, Some(6.0)]),
        Spots::Each([Some(3.0), Some(2.0)]),
    ];
    for device in devices() {
        let device = &*device;
        let found = spotted::jvp(device, &0.0, Some([1.0, 2.0]), &still, &0.0, pair, &still).unwrap();
        assert_eq!((found.y, found.y_dot), (15.0, 5.0 + 6.0));
        let h = spotted::hvp(device, Some([1.0, 2.0]), &still, pair, &still).unwrap();
        assert_eq!(h.pair, [2.0, 1.0]);
        // along a and b, of a² b
        let along = Spots::Pair([1.0, 4.0], 2.0);
        let found = spotted::jvp(device, &0.0, Some([0.0; 2]), &along, &0.0, pair, &all[1]).unwrap();
        assert_eq!((found.y, found.y_dot), (27.0, 12.0 + 8.0));
        let h = spotted::hvp(device, Some([0.0; 2]), &along, pair, &all[1]).unwrap();
        assert_eq!(h.spots.pair_0, [Batch([6.0 + 8.0]), Batch([0.0])]);
        assert_eq!(h.spots.pair_1, Batch([4.0]));
        for ((spots, value), by) in all.iter().zip(values).zip(&by_each) {
            assert_eq!(spotted::gradient(device, pair, spots).unwrap().value, 15.0 + value);
            assert!(spotted::check_gradient(device, &0.0, pair, spots).unwrap().passed(), "{spots:?}");
            let (mut y, mut y_bar) = (15.0 + value, 1.0);
            let (mut pair_bar, mut spots_bar) = (Some([0.5, 0.0]), by.clone());
            // they start at zero, of the variant
            spots_bar.add_fields(by, true);
            slopes::run(device, &mut y, &mut y_bar, pair, &mut pair_bar, spots, &mut spots_bar).unwrap();
            assert_eq!((y, pair_bar), (0.0, Some([5.5, 3.0])));
            assert_eq!(&spots_bar, by);
        }
    }
}

/// Their elements as arguments, and in a parallel loop.
#[reversible(tangent, adjoint)]
fn all_spotted<T: Real>(y: &mut [T], sum: &mut T, pairs: &[Option<[T; 2]>], shared: &Spots<T>) {
    for i in par(0..y.len()) {
        if let Some([a, b]) = pairs[i] {
            y[i] += a * b * b;
        }
        if let (Some([a, _]), Spots::Pair([b, c], _)) = (pairs[i], shared) {
            *sum += a * b * c;
        }
    }
    for i in 0..y.len() {
        if let Some([a, b]) = pairs[i] {
            weighed(&mut y[i], a, [a, b]);
        }
    }
}

#[reversible(tangent, adjoint)]
fn weighed<T: Real>(y: &mut T, a: T, both: &[T; 2]) {
    *y += a * both[1];
}

#[test]
fn elements_of_arrays_in_enums_in_loops_and_calls() {
    let n = 60;
    let pairs: Vec<_> = (0..n).map(|i| (i % 3 > 0).then_some([f64::from(i), 2.0])).collect();
    let along: Vec<_> = pairs.iter().map(|pair| pair.map(|_| [1.0, 0.5])).collect();
    let (shared, shared_along) = (Spots::Pair([2.0, 3.0], 1.0), Spots::Pair([0.0, 1.0], 0.0));
    let (zeros, held) = (vec![0.0; pairs.len()], pairs.iter().flatten());
    let sum: f64 = held.clone().map(|[a, _]| a * 6.0).sum();
    let sum_dot: f64 = held.map(|[a, _]| 6.0 + a * 2.0).sum();
    for device in devices() {
        let device = &*device;
        let found =
            all_spotted::jvp(device, &zeros, &0.0, &along, &shared_along, &zeros, &0.0, &pairs, &shared)
                .unwrap();
        assert_eq!((found.sum, found.sum_dot), (sum, sum_dot));
        for (i, pair) in pairs.iter().enumerate() {
            // of a b² + a b
            let expected = pair.map_or((0.0, 0.0), |[a, _]| (a * 6.0, 4.0 + a * 2.0 + 2.0 + a * 0.5));
            assert_eq!((found.y[i], found.y_dot[i]), expected, "{i}");
        }
        assert!(all_spotted::check_gradient(device, &zeros, &0.0, &pairs, &shared).unwrap().passed());
    }
}

const LAST: usize = 3;
const LOW: i64 = -2;
const ON: bool = true;

/// What has a constant.
struct Limits;

impl Limits {
    const TOP: i64 = 7;
    const SIZE: usize = 4;
}

/// Constants beside enums, of which the numbers are matched by value.
#[reversible(tangent, adjoint)]
fn beside<T: Real>(y: &mut T, spring: &Spring<T>, i: usize, n: i64, on: bool, at: Option<usize>) {
    match (spring, i) {
        (Spring::Linear(k), LAST) => *y += k * k,
        (Spring::Hardening { k, .. }, 1 | LAST) => *y += k,
        _ => {}
    }
    match ((n, spring), (i + 1, at)) {
        ((LOW | Limits::TOP, Spring::Linear(k)), (LAST, Some(LAST))) => *y += k * 10.0,
        ((i64::MIN, Spring::Linear(k)), _) => *y += k * k * k,
        ((low @ LOW, Spring::Linear(k)), (_, None)) => *y += k * (low as T),
        _ => {}
    }
    if let (ON, Spring::Table([a, _], LAST)) = (on, spring) {
        *y += a * a;
    }
    if let Some(Limits::SIZE) = at {
        *y += 1.0;
    }
    *y += match (spring, on) {
        (Spring::Linear(k), ON) => k * 100.0,
        (_, _) => T::zero(),
    };
}

fn beside_plainly(spring: &Spring<f64>, i: usize, n: i64, on: bool, at: Option<usize>) -> f64 {
    let mut y = match (spring, &i) {
        (Spring::Linear(k), &LAST) => k * k,
        (Spring::Hardening { k, .. }, 1 | &LAST) => *k,
        _ => 0.0,
    };
    y += match ((n, spring), (i + 1, at)) {
        ((LOW | Limits::TOP, Spring::Linear(k)), (LAST, Some(LAST))) => k * 10.0,
        ((i64::MIN, Spring::Linear(k)), _) => k * k * k,
        ((low @ LOW, Spring::Linear(k)), (_, None)) => k * low as f64,
        _ => 0.0,
    };
    if let (ON, Spring::Table([a, _], LAST)) = (on, spring) {
        y += a * a;
    }
    if let Some(Limits::SIZE) = at {
        y += 1.0;
    }
    y + if let (Spring::Linear(k), ON) = (spring, on) { k * 100.0 } else { 0.0 }
}

#[test]
fn constants_beside_enums() {
    let springs = [
        Spring::Slack,
        Spring::Linear(3.0),
        Spring::Hardening { k: 5.0, c: 2.0 },
        Spring::Table([2.0, 1.0], 3),
        Spring::Table([2.0, 1.0], 4),
    ];
    let numbers = [LOW, Limits::TOP, i64::MIN, 0];
    for device in devices() {
        let device = &*device;
        for (k, spring) in springs.iter().enumerate() {
            for (i, n) in (1..5).flat_map(|i| numbers.map(|n| (i, n))) {
                for (on, at) in [(false, None), (true, Some(3)), (true, Some(4)), (false, Some(3))] {
                    let found = beside::gradient(device, spring, i, n, on, at).unwrap();
                    let case = format!("{spring:?} {i} {n} {on} {at:?}");
                    assert_eq!(found.value, beside_plainly(spring, i, n, on, at), "{case}");
                    let h = 0.5;
                    // of at most three degrees, so that this is exact but for h² of k³
                    let slope = |of: &dyn Fn(f64) -> Spring<f64>| {
                        let value = |h| beside_plainly(&of(h), i, n, on, at);
                        (value(h) - value(-h)) / (2.0 * h)
                    };
                    let cubic = if k == 1 && n == i64::MIN { h * h } else { 0.0 };
                    let by = found.spring;
                    assert_eq!(
                        by.linear_0.get(),
                        if k == 1 { slope(&|h| Spring::Linear(3.0 + h)) - cubic } else { 0.0 },
                        "{case}"
                    );
                    let of_k =
                        if k == 2 { slope(&|h| Spring::Hardening { k: 5.0 + h, c: 2.0 }) } else { 0.0 };
                    assert_eq!(by.hardening_k.get(), of_k, "{case}");
                    let of_a = if k == 3 { slope(&|h| Spring::Table([2.0 + h, 1.0], 3)) } else { 0.0 };
                    assert_eq!(by.table_0[0].get(), of_a, "{case}");
                }
            }
        }
        // along k, of k² + 100 k at 3
        let (spring, along) = (Spring::Linear(3.0), Spring::Linear(2.0));
        let found = beside::jvp(device, &0.0, &along, None, &0.0, &spring, 3, 7, true, None).unwrap();
        assert_eq!((found.y, found.y_dot), (309.0, 12.0 + 200.0));
    }
}

/// What is matched in a parallel loop, in fields that are lent to it, and in a loop that a pattern ends.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Chain<T: Real> {
    shared: Spring<T>,
    marks: Vec<i64>,
    kind: usize,
}

#[reversible(tangent)]
fn chained<T: Real>(y: &mut [T], e: &mut T, chain: &Chain<T>, springs: &[Spring<T>], counts: &[usize]) {
    for i in par(0..y.len()) {
        match (springs[i], counts[i], chain.marks[i]) {
            (Spring::Linear(k), LAST, _) => y[i] += k * k,
            (Spring::Linear(k), _, LOW) => y[i] += k,
            _ => {}
        }
        if let (Spring::Linear(k), LAST, LOW) = (chain.shared, chain.kind, chain.marks[i]) {
            *e += k * k;
        }
    }
    let mut first = 0usize;
    #[compute]
    {
        #[post(first > 0)]
        while let (Spring::Linear(_), LAST) = (springs[first], counts[first]) {
            inc(first);
        }
    }
    *e += first as T;
}

#[test]
fn constants_beside_enums_in_loops() {
    let n = 90;
    let springs: Vec<_> =
        (0..n).map(|i| if i % 4 == 2 { Spring::Slack } else { Spring::Linear(f64::from(i)) }).collect();
    let along: Vec<_> = springs
        .iter()
        .map(|s| if let Spring::Linear(_) = s { Spring::Linear(1.0) } else { Spring::Slack })
        .collect();
    let counts: Vec<usize> = (0..springs.len()).map(|i| if i % 3 < 2 { 3 } else { 5 }).collect();
    let marks: Vec<i64> = (0..n).map(|i| i64::from(i % 5) - 2).collect();
    let chain = Chain { shared: Spring::Linear(4.0), marks, kind: 3 };
    let still = Chain { shared: Spring::Linear(1.0), ..chain.clone() };
    let zeros = vec![0.0; springs.len()];
    for device in devices() {
        let device = &*device;
        let found =
            chained::jvp(device, &zeros, &0.0, &still, &along, &zeros, &0.0, &chain, &springs, &counts)
                .unwrap();
        // each fifth mark is low; the first two springs are linear and counted three times
        assert_eq!((found.e, found.e_dot), (18.0 * 16.0 + 2.0, 18.0 * 8.0));
        for i in 0..springs.len() {
            let k = i as f64;
            let expected = match (i % 4, i % 3, i % 5) {
                (2, ..) => (0.0, 0.0),
                (_, 0 | 1, _) => (k * k, 2.0 * k),
                (_, _, 0) => (k, 1.0),
                _ => (0.0, 0.0),
            };
            assert_eq!((found.y[i], found.y_dot[i]), expected, "{i}");
        }
        assert!(chained::check_gradient(device, &zeros, &0.0, &chain, &springs, &counts).unwrap().passed());
    }
}

#[reversible(tangent)]
fn squares<T: Real>(y: &mut T, x: &[T]) {
    for i in 0..x.len() {
        *y += x[i] * x[i];
    }
}

/// Arrays that an enum holds are passed on by the names that patterns give them.
#[reversible(tangent)]
fn squares_of<T: Real>(y: &mut T, pair: Option<[T; 2]>, more: &[Option<[T; 3]>]) {
    if let Some(both) = pair {
        squares(&mut y, &both);
    }
    for i in 0..more.len() {
        if let Some(three) = more[i] {
            squares(&mut y, &three);
        }
    }
}

#[test]
fn arrays_in_enums_are_passed_on() {
    let more = vec![Some([1.0, 2.0, -1.0]), None, Some([0.5, 0.0, 1.0])];
    for device in devices() {
        let device = &*device;
        let g = squares_of::gradient(device, Some([3.0, -1.0]), &more).unwrap();
        assert_eq!(g.value, 10.0 + 6.0 + 1.25);
        let slope = squares_of::jvp(device, &0.0, Some([1.0, 2.0]), &more, &0.0, Some([3.0, -1.0]), &more);
        assert_eq!(slope.unwrap().y_dot, 2.0 * (3.0 - 2.0) + 2.0 * 7.25);
        assert!(squares_of::check_gradient(device, &0.0, Some([3.0, -1.0]), &more).unwrap().passed());
    }
}

/// Patterns of several values in statements that run forward and back in one program, where the second time their variables have
/// other names.
#[reversible(tangent)]
fn computed_twice<T: Real>(e: &mut T, springs: &[Spring<T>], counts: &[usize]) {
    let mut sum = T::zero();
    #[compute]
    {
        for i in 0..counts.len() {
            match (springs[i], counts[i]) {
                (Spring::Linear(k), 1..=3) => sum += k,
                (Spring::Linear(k), _) => sum += k * k,
                _ => {}
            }
        }
    }
    *e += sum;
    let mut last = T::zero();
    #[checkpoint(every = 2)]
    for i in 0..counts.len() {
        last = 0.5 * last
            + match (counts[i] % 2, springs[i]) {
                (1, Spring::Linear(k)) => k,
                _ => T::one(),
            };
    }
    *e += last;
}

#[test]
fn several_values_are_matched_in_what_runs_forward_and_back() {
    let springs = [Spring::Linear(3.0f64), Spring::Slack, Spring::Linear(5.0)];
    for device in devices() {
        let g = computed_twice::gradient(&*device, &springs, &[1, 2, 4]).unwrap();
        assert_eq!(g.value, 28.0 + (3.0 / 4.0 + 0.5 + 1.0));
        assert_eq!((g.springs[0].linear_0.get(), g.springs[2].linear_0.get()), (1.25, 10.0));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Reversible)]
enum Counted<T: Real> {
    Pair { counts: [i64; 2] },
    Weight(T),
}

/// A computed value beside others in a pattern, where an enum's names are that no derivative needs.
#[reversible(tangent)]
fn counted<T: Real>(y: &mut T, e: &Counted<T>, x: T) {
    match e {
        Counted::Pair { counts: [n, m] } => {
            if let (1, rest) = (m, (n % 3) % 4) {
                *y += x.sin();
            }
        }
        Counted::Weight(w) => *y += w * x,
    }
}

#[test]
fn a_computed_value_is_matched_beside_others() {
    for device in devices() {
        let device = &*device;
        for (counts, taken) in [([5, 1], 1.0), ([5, 2], 0.0)] {
            let g = counted::gradient(device, &Counted::Pair { counts }, 0.5f64).unwrap();
            assert_eq!((g.value, g.x), (taken * 0.5f64.sin(), taken * 0.5f64.cos()));
        }
        let g = counted::gradient(device, &Counted::Weight(2.0), 0.5f64).unwrap();
        assert_eq!((g.value, g.x, g.e.weight_0.get()), (1.0, 2.0, 0.5));
    }
}
