//! What a parallel loop declares about itself and the compiler can't prove: it isn't believed. A false
//! declaration is an error wherever it could make two threads use one element, checks on or off.

use rev_core::error::Cause;
use rev_core::interp::Interpreter;
use rev_core::tolerance::Options;
use rev_cpu::prelude::*;

/// Every way to run a loop: whether a false declaration is found is the second part.
fn devices() -> [(Box<dyn Device>, bool); 6] {
    let several = || Cpu::with_threads(3).parallel_from(0);
    let interpreter = |checks| Interpreter::with_options(Options { checks, ..Options::default() });
    [
        (Box::new(Cpu::with_threads(1)), true),
        (Box::new(Cpu::with_threads(1).checks(false)), false),
        (Box::new(several()), true),
        (Box::new(several().checks(false)), true),
        (Box::new(interpreter(true)), true),
        (Box::new(interpreter(false)), false),
    ]
}

#[reversible]
fn shifted<T: Real>(a: &mut [T], x: &[T], step: usize) {
    #[disjoint(a)]
    for i in par(0..x.len()) {
        a[i * step] += x[i];
        a[i * step + 1] += 2 * a[i * step];
    }
}

#[test]
fn elements_that_are_declared_disjoint() {
    for (device, _) in devices() {
        let device = &*device;
        let mut a = [0.0; 6];
        shifted::run(device, &mut a, &[1.0, 2.0, 3.0], 2).unwrap();
        assert_eq!(a, [1.0, 2.0, 2.0, 4.0, 3.0, 6.0]);
        let v = shifted::vjp(device, &[1.0; 6], &[0.0; 6], &[1.0, 2.0, 3.0], 2).unwrap();
        assert_eq!((v.a_bar, v.x_bar), (vec![3.0, 1.0, 3.0, 1.0, 3.0, 1.0], vec![3.0; 3]));
        shifted::run_inverse(device, &mut a, &[1.0, 2.0, 3.0], 2).unwrap();
        assert_eq!(a, [0.0; 6]);
    }
}

#[pure]
fn weight<T: Real>(x: T) -> T {
    sin(x)
}

/// What its derivatives compute of the two factors has nothing to do with the elements.
#[reversible(tangent, constant(c))]
fn scaled<T: Real>(a: &mut [T], at: &[usize], x: &T, c: &T) {
    #[disjoint(a)]
    for i in par(0..at.len()) {
        for j in 0..2 {
            a[at[i]] += 0.25 * min(0.5 * exp(c), 0.5 * weight(x));
        }
        a[at[i] + 1] += a[at[i]];
    }
}

#[test]
fn numbers_that_have_nothing_to_do_with_the_elements() {
    let (at, x, c) = ([2, 0, 4], 0.3f64, 1.0);
    for (device, _) in devices() {
        let mut a = [0.0; 6];
        scaled::run(&*device, &mut a, &at, &x, &c).unwrap();
        assert_eq!(a, [0.25 * x.sin(); 6]);
        let v = scaled::vjp(&*device, &[1.0; 6], &[0.0; 6], &at, &x, &c).unwrap();
        assert!((v.x_bar - 1.5 * x.cos()).abs() < 1e-15);
    }
}

#[test]
fn elements_that_are_not() {
    for (device, found) in devices() {
        let device = &*device;
        let outcome = shifted::run(device, &mut [0.0; 6], &[1.0, 2.0, 3.0], 1);
        let inverse = shifted::run_inverse(device, &mut [0.0; 6], &[1.0, 2.0, 3.0], 1);
        let adjoint = shifted::vjp(device, &[1.0; 6], &[0.0; 6], &[1.0, 2.0, 3.0], 1).map(|_| ());
        for outcome in [outcome, inverse, adjoint] {
            assert_eq!(outcome.is_err(), found, "{}: {outcome:?}", device.name());
            if let Err(e) = outcome {
                assert!(matches!(e.cause(), Cause::Alias { .. }), "{e}");
            }
        }
    }
}

/// Iterations of every number, the last ones of their types among them.
macro_rules! numbered {
    ($($name:ident $t:ident;)*) => {$(
        #[reversible]
        fn $name(a: &mut [f64], from: $t, to: $t, step: usize, apart: usize) {
            #[disjoint(a)]
            for i in par((from..=to).step_by(step)) {
                neg(a[((i as i128) / (step as i128)) as usize * apart % 4]);
            }
        }
    )*};
}
numbered! { of_i8 i8; of_i32 i32; of_i64 i64; of_u64 u64; of_i128 i128; of_u128 u128; }

#[test]
fn iterations_of_every_number_claim_elements() {
    for (device, found) in devices() {
        let device = &*device;
        type Run<'a> = &'a dyn Fn(&mut [f64], usize) -> Result<(), Error>;
        let check = |run: Run, count: usize| {
            let mut a = [1.0; 4];
            run(&mut a, 1).unwrap_or_else(|e| panic!("{}: {e}", device.name()));
            assert_eq!(a.iter().filter(|a| **a < 0.0).count(), count);
            assert_eq!(run(&mut a, 0).is_err(), found, "{}", device.name());
        };
        check(&|a, apart| of_i8::run(device, a, -1, 1, 1, apart), 3);
        check(&|a, apart| of_i32::run(device, a, -2, 1, 1, apart), 4);
        check(&|a, apart| of_i64::run(device, a, -1, 1, 1, apart), 3);
        check(&|a, apart| of_u64::run(device, a, 0, u64::MAX, 1 << 63, apart), 2);
        check(&|a, apart| of_u64::run(device, a, u64::MAX - 2, u64::MAX, 1, apart), 3);
        check(&|a, apart| of_i128::run(device, a, -(1 << 64), 1 << 63, 1 << 63, apart), 4);
        check(&|a, apart| of_u128::run(device, a, 0, 3 << 63, 1 << 63, apart), 4);
    }
}

#[reversible]
fn add_one<T: Real>(a: &mut [T]) {
    for i in 0..a.len() {
        a[i] += 1;
    }
}

#[reversible]
fn pieces(a: &mut [f64], starts: &[usize]) {
    #[disjoint(a)]
    for i in par(0..starts.len() - 1) {
        add_one(&mut a[starts[i]..starts[i + 1]]);
    }
}

#[test]
fn slices_that_are_declared_disjoint() {
    for (device, found) in devices() {
        let device = &*device;
        let mut a = [0.0; 6];
        pieces::run(device, &mut a, &[0, 2, 2, 5]).unwrap();
        assert_eq!(a, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
        assert!(pieces::run(device, &mut a, &[0, 0, 3, 0, 4]).is_err(), "not a slice");
        let overlapping = Overlapping { from: vec![0, 2, 1], to: vec![2, 4, 3] };
        let outcome = windows::run(device, &mut a, &overlapping.from, &overlapping.to);
        assert_eq!(outcome.is_err(), found, "{}", device.name());
    }
}

/// Before the loop it is known which elements its iterations use, but not by which branch.
#[reversible]
fn one_or_the_other(a: &mut [f64], x: &[f64], to: &[usize], or: &[usize]) {
    #[disjoint(a)]
    for i in par(0..x.len()) {
        if x[i] > 0.0 {
            a[to[i]] += x[i];
        } else {
            a[or[i]] += x[i];
            a[or[i] + 1] += x[i];
        }
    }
}

#[test]
fn what_a_branch_might_use_is_no_error() {
    for (device, found) in devices() {
        let (device, x) = (&*device, [1.0, -2.0, 3.0]);
        let mut a = [0.0; 6];
        one_or_the_other::run(device, &mut a, &x, &[4, 0, 0], &[0, 1, 2]).unwrap();
        assert_eq!(a, [3.0, -2.0, -2.0, 0.0, 1.0, 0.0], "{}", device.name());
        one_or_the_other::run_inverse(device, &mut a, &x, &[4, 0, 0], &[0, 1, 2]).unwrap();
        assert_eq!(a, [0.0; 6], "{}", device.name());
        let outcome = one_or_the_other::run(device, &mut a, &x, &[4, 0, 2], &[0, 1, 2]);
        assert_eq!(outcome.is_err(), found, "{}", device.name());
        // the elements of the branch that isn't taken needn't be there
        let mut a = [0.0; 6];
        one_or_the_other::run(device, &mut a, &x, &[4, 0, 0], &[9, 1, usize::MAX - 1]).unwrap();
        let mut b = [0.0; 6];
        let outcome = one_or_the_other::run(device, &mut b, &x, &[4, 0, 0], &[0, 5, 2]).unwrap_err();
        assert!(matches!(outcome.cause(), Cause::IndexOutOfRange { .. }), "{outcome}");
    }
}

/// What a branch claims isn't claimed after it; an index that changes is another element.
#[reversible]
fn by_branches(a: &mut [f64], x: &[f64], to: &[usize], also: &[usize]) {
    #[disjoint(a)]
    for i in par(0..x.len()) {
        let (j, k) = (to[i], also[i]);
        neg(a[j]);
        a[j] += x[i];
        if x[i] > 0.0 {
            a[k] += 1.0;
        }
        a[k] += x[i];
        let mut at = 0;
        at += j;
        neg(a[at]);
        at += 1;
        neg(a[at]);
    }
}

#[test]
fn elements_are_claimed_wherever_they_are_reached_first() {
    for (device, found) in devices() {
        let device = &*device;
        let run = |x: [f64; 2], to: [usize; 2], also: [usize; 2]| {
            let mut a = [0.0; 8];
            by_branches::run(device, &mut a, &x, &to, &also).map(|()| a)
        };
        let right = [-1.0, 0.0, 2.0, 0.0, 2.0, 0.0, -2.0, 0.0];
        assert_eq!(run([1.0, -2.0], [0, 4], [2, 6]).unwrap(), right);
        let false_ones = [
            ([1.0, 2.0], [0, 0], [4, 6]),
            ([1.0, 2.0], [0, 2], [4, 4]),
            ([1.0, -2.0], [0, 2], [4, 4]),
            ([-1.0, -2.0], [0, 2], [4, 4]),
            ([-1.0, 2.0], [0, 2], [4, 1]),
            ([1.0, 2.0], [0, 1], [4, 6]),
        ];
        for (x, to, also) in false_ones {
            let outcome = run(x, to, also);
            assert_eq!(outcome.is_err(), found, "{}: {x:?} {to:?} {also:?}", device.name());
        }
    }
}

/// A declaration inside of one: an element of an iteration of the outer loop is one iteration's of the inner loop.
#[reversible]
fn declared_twice(a: &mut [f64], rows: &[usize], columns: &[usize]) {
    #[disjoint(a)]
    for i in par(0..rows.len()) {
        let row = rows[i];
        neg(a[row]);
        #[disjoint(a)]
        for j in par(0..columns.len()) {
            let at = row + columns[j];
            neg(a[at]);
            a[at] += 1.0;
        }
    }
}

#[test]
fn declarations_inside_of_each_other() {
    for (device, found) in devices() {
        let device = &*device;
        let run = |rows: &[usize], columns: &[usize]| {
            let mut a = [1.0; 8];
            declared_twice::run(device, &mut a, rows, columns).map(|()| a)
        };
        assert_eq!(run(&[0, 4], &[0, 1]).unwrap(), [2.0, 0.0, 1.0, 1.0, 2.0, 0.0, 1.0, 1.0]);
        for (rows, columns) in [([0, 0], [0, 1]), ([0, 1], [1, 2]), ([0, 3], [1, 4])] {
            assert_eq!(run(&rows, &columns).is_err(), found, "{}: {rows:?} {columns:?}", device.name());
        }
    }
    // without checks an inner loop that one thread runs believes what it declares
    for (device, _) in devices().into_iter().step_by(2) {
        let (rows, columns) = (&[0, 4], &[1, 1]);
        let e = declared_twice::run(&*device, &mut [1.0; 8], rows, columns).unwrap_err();
        assert!(matches!(e.cause(), Cause::Alias { .. }), "{}: {e}", device.name());
    }
}

/// Declarations of a loop inside of one whose iterations could run in lanes.
#[reversible]
fn declared_inside<T: Real>(y: &mut [T], x: &[T], to: &[usize], wrong: usize) {
    for i in par(0..y.len()) {
        let mut a = [T::zero(); 3];
        #[disjoint(a)]
        for j in par(0..3) {
            a[if i == wrong { 0 } else { j }] += x[i];
        }
        #[injective(to)]
        for j in par(0..to.len()) {
            a[to[j]] += x[i];
        }
        y[i] += a[0] + a[2];
    }
}

#[test]
fn declarations_inside_of_loops_that_lanes_would_run() {
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let expected: Vec<f64> = x.iter().map(|x| 3.0 * x).collect();
    let lanes = (Box::new(Cpu::with_threads(1).lanes(false)) as Box<dyn Device>, true);
    // without checks an inner loop that one thread runs believes what it declares
    for (device, _) in devices().into_iter().step_by(2).chain([lanes]) {
        let device = &*device;
        let run = |to: &[usize], wrong: usize| {
            let mut y = vec![0.0; 40];
            declared_inside::run(device, &mut y, &x, to, wrong).map(|()| y)
        };
        assert_eq!(run(&[0, 1], 40).unwrap(), expected, "{}", device.name());
        for wrong in [0, 17, 39] {
            let e = run(&[0, 1], wrong).unwrap_err();
            assert!(matches!(e.cause(), Cause::Alias { .. }), "{}: {e}", device.name());
            assert!(e.to_string().contains(&format!("i = {wrong}")), "{}: {e}", device.name());
        }
        assert!(run(&[1, 1], 40).is_err(), "{}", device.name());
    }
}

struct Overlapping {
    from: Vec<usize>,
    to: Vec<usize>,
}

#[reversible]
fn windows(a: &mut [f64], from: &[usize], to: &[usize]) {
    #[disjoint(a)]
    for i in par(0..from.len()) {
        add_one(&mut a[from[i]..to[i]]);
    }
}

#[reversible]
fn negated(a: &mut [f64], idx: &[usize]) {
    #[injective(idx)]
    for i in par(0..idx.len()) {
        neg(a[idx[i]]);
    }
}

#[test]
fn an_index_array_is_checked_on_several_threads_in_any_case() {
    for (device, found) in devices() {
        let device = &*device;
        let mut a = [1.0, 2.0, 3.0];
        negated::run(device, &mut a, &[2, 0]).unwrap();
        assert_eq!(a, [-1.0, 2.0, -3.0]);
        let outcome = negated::run(device, &mut a, &[1, 0, 1]);
        assert_eq!(outcome.is_err(), found, "{}", device.name());
    }
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Frame<T: Real> {
    base: T,
    arms: [T; 3],
}

/// Threads reach the parts of a struct through references to the whole, so such loops stay on one.
#[reversible]
fn parts_of_structs<T: Real>(frame: &mut Frame<T>, z: &mut [Complex<T>], x: &[T; 3]) {
    for i in par(0..3) {
        frame.arms[i] += x[i] * x[i];
    }
    for i in par(0..2) {
        z[i].re += x[i];
        z[i + 1].im += 2 * x[i];
    }
}

#[test]
fn parts_of_structs_and_elements() {
    for (device, _) in devices() {
        let device = &*device;
        let mut frame = Frame { base: 1.0, arms: [0.0; 3] };
        let mut z = [Complex::new(0.0, 0.0); 3];
        parts_of_structs::run(device, &mut frame, &mut z, &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(frame, Frame { base: 1.0, arms: [1.0, 4.0, 9.0] });
        assert_eq!(z, [Complex::new(1.0, 0.0), Complex::new(2.0, 2.0), Complex::new(0.0, 4.0)]);
        let report = parts_of_structs::check_gradient(device, &frame, &z, &[1.0, 2.0, 3.0]).unwrap();
        assert!(report.passed(), "{report}");
    }
}

/// Names that generated code, the language or the standard library has too, in every position. Which names are
/// refused is a test of the macros.
#[allow(non_snake_case, unused, clippy::all)]
mod names {
    use rev_core::interp::Interpreter;
    use rev_cpu::prelude::*;

    macro_rules! functions {
        ($($name:ident)*) => {
            mod functions {
                use rev_cpu::prelude::*;
                $(#[reversible] pub fn $name(y: &mut f64, x: f64) { *y += x * x; })*
            }
            #[reversible]
            fn all_functions(y: &mut f64, x: f64) {
                $(functions::$name(&mut y, x);)*
            }
            const FUNCTIONS: usize = [$(stringify!($name)),*].len();
        };
    }
    functions! {
        main run vjp jvp hvp ir _1 r#type value device größe 関数 drop new inline test vec
        step2 step_2 step__2 step_b stepB step_B 関_数
    }

    #[reversible]
    fn calls(y: &mut f64, x: f64) {
        use_first(&mut y, x);
        inline(&mut y, x);
    }
    use functions::{inline, run as use_first};

    mod fields {
        use rev_cpu::prelude::*;

        pub const N: usize = 2;

        #[derive(Clone, Debug, PartialEq, Reversible)]
        pub struct Fields<Vec: Real, Option: Real> {
            pub _1: Vec,
            pub r#type: Option,
            pub f64: f64,
            pub str: Vec,
            pub value: Vec,
            pub re: Vec,
            pub größe: Vec,
            pub s: u32,
            pub self_: Vec,
            pub m: [Vec; N],
        }
    }
    use fields::Fields;

    #[reversible]
    fn variables<Result: Real, String: Real, const K: usize>(
        y: &mut Result,
        _1: Result,
        r#type: Result,
        f64: String,
        str: &[Result; K],
        value: Result,
        device: Result,
        Vec: Result,
        N: usize,
        x: Result,
        X: Result,
        x_bar: &mut Result,
        fields: &Fields<Result, String>,
        größe: Result,
    ) {
        let mut usize = Result::zero();
        let Box = x + X + _1 * r#type;
        usize += Box * str[0] + value + device + Vec + größe;
        for bool in 0..N {
            let t = usize * usize;
            *y += t + fields._1 + fields.str * fields.value + fields.m[1] + fields.re + fields.größe;
            let s = bool as f64;
            *x_bar += Result::from_usize(bool) + Result::from_f64(0.5);
        }
    }

    #[test]
    fn any_name_works() {
        let g = all_functions::gradient(&Cpu::new(), 2.0).unwrap();
        assert_eq!((g.value, g.x), (4.0 * FUNCTIONS as f64, 4.0 * FUNCTIONS as f64));
        assert_eq!(g, all_functions::gradient(&Interpreter::new(), 2.0).unwrap());
        assert_eq!(calls::gradient(&Cpu::new(), 1.0).unwrap().x, 4.0);
        let fields: Fields<f64, f32> = Fields {
            _1: 1.0,
            r#type: 2.0,
            f64: 3.0,
            str: 4.0,
            value: 5.0,
            re: 6.0,
            größe: 7.0,
            s: 8,
            self_: 9.0,
            m: [1.0; fields::N],
        };
        let by = |device: &dyn Device| {
            variables::gradient(
                device,
                2.0,
                3.0,
                1f32,
                &[4.0],
                5.0,
                6.0,
                7.0,
                2,
                1.0,
                1.0,
                &0.0,
                &fields,
                0.5,
            )
            .unwrap()
        };
        let g = by(&Cpu::new());
        // usize = (1 + 1 + 2 3) 4 + 5 + 6 + 7 + 0.5 = 50.5
        assert_eq!(g.value, 2.0 * (50.5 * 50.5 + 1.0 + 20.0 + 1.0 + 6.0 + 7.0));
        assert_eq!((g.x, g.X, g._1, g.value_), (808.0, 808.0, 2424.0, 202.0));
        assert_eq!(g.fields.m.map(|m| m.0), [[0.0], [2.0]]);
        assert_eq!(g.fields.str.0, [10.0]);
        assert_eq!(g, by(&Interpreter::new()));
        let chosen = variables::gradient_wrt(
            &Cpu::new(),
            variables::X_,
            2.0,
            3.0,
            1f32,
            &[4.0],
            5.0,
            6.0,
            7.0,
            2,
            1.0,
            1.0,
            &0.0,
            &fields,
            0.5,
        );
        assert_eq!(chosen.unwrap().X, Some(808.0));
    }
}

/// Two functions that mean different numbers by one name: a device that runs the IR never takes one for the other.
mod constants {
    use rev_core::interp::Interpreter;
    use rev_cpu::prelude::*;

    mod other {
        use rev_cpu::prelude::*;

        const GAIN: f64 = 3.0;

        #[reversible]
        pub fn inner(y: &mut f64, x: f64) {
            *y += GAIN * x;
        }
    }

    const GAIN: f64 = 2.0;

    #[reversible]
    fn outer(y: &mut f64, x: f64) {
        *y += GAIN * x;
        other::inner(&mut y, x);
    }

    #[test]
    fn one_name_for_two_constants_is_never_mistaken() {
        assert_eq!(outer::gradient(&Cpu::new(), 1.0).unwrap().x, 5.0);
        let error = outer::gradient(&Interpreter::new(), 1.0).unwrap_err().to_string();
        assert!(error.contains("GAIN"), "{error}");
    }
}
