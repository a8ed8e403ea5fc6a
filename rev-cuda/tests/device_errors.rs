//! What goes wrong between the host and a device: no room, a shape that doesn't fit, an array of another
//! device. The error names the array and its size, the host's arrays stay as they were, and the device
//! can be used afterwards.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use rev_core::device::DynamicDevice;
use rev_core::error::{Cause, Error};
use rev_core::ir::{Direction, Module};
use rev_core::value::DynArg;
use rev_cuda::emulator;
use rev_cuda::{Emulator, Gpu};

const ADJOINT: Direction = Direction::ADJOINT;

/// `y[i] += a·x[i]²`, by an array of as many elements as `room` says.
fn squares() -> Module {
    let module = rev_core::text::parse_module(
        "module squares
         fn squares<T: Real>(y: &mut [T], a: T, x: [T], room: usize) {
             managed anc t: [T] = fill(0, room) {
                 par for i in 0..len(x) { t[i] += x[i] * x[i] }
                 par for i in 0..len(y) { y[i] += a * t[i] }
             }
         }",
    )
    .unwrap();
    rev_core::check::check_module(module).unwrap_or_else(|d| panic!("{}", d.render("", "")))
}

fn of_bytes(bytes: usize) -> Emulator {
    Gpu::over(emulator::Emulator::new().with_memory(bytes))
}

/// The arguments of [`squares`] and their shadows.
#[derive(Clone, Debug, PartialEq)]
struct State {
    y: Vec<f64>,
    y_bar: Vec<f64>,
    a: f64,
    a_bar: f64,
    x: Vec<f64>,
    x_bar: Vec<f64>,
    room: usize,
}

impl State {
    fn new(n: usize) -> State {
        let x = (0..n).map(|i| 0.5 * i as f64).collect();
        let (y, y_bar, x_bar) = (vec![1.0; n], vec![2.0; n], vec![0.25; n]);
        State { y, y_bar, a: 3.0, a_bar: -1.0, x, x_bar, room: n }
    }

    fn run(&mut self, gpu: &Emulator, direction: Direction) -> Result<(), Error> {
        let State { y, y_bar, a, a_bar, x, x_bar, room } = self;
        let mut args: Vec<&mut dyn DynArg> = vec![y, a, x, room];
        let mut nothing = ();
        if direction.adjoint == 1 {
            let shadows: [&mut dyn DynArg; 4] = [y_bar, a_bar, x_bar, &mut nothing];
            args = args.into_iter().zip(shadows).flat_map(|(arg, bar)| [arg, bar]).collect();
        }
        gpu.execute(&squares(), direction, &mut args)
    }

    /// What running it says, which leaves it as it was.
    fn fails(&self, gpu: &Emulator, direction: Direction) -> Cause {
        let mut after = self.clone();
        let error = after.run(gpu, direction).unwrap_err();
        assert_eq!(after, *self, "{error}");
        error.cause().clone()
    }
}

#[test]
fn without_room_the_error_names_the_array_and_its_size() {
    // arrays of 8192 bytes, in the order in which they are made; scalars and the error record are small
    for (direction, arrays) in [
        (Direction::FORWARD, &["y", "x", "t"][..]),
        (Direction::INVERSE, &["y", "x", "t"]),
        (ADJOINT, &["y", "y_bar", "x", "x_bar", "t", "t_bar"]),
    ] {
        for (fit, name) in arrays.iter().enumerate() {
            let limit = 8192 * fit + 4096;
            let gpu = of_bytes(limit);
            let (large, small) = (State::new(1024), State::new(100));
            let Cause::Device { device, reason } = large.fails(&gpu, direction) else { panic!("{name}") };
            assert_eq!(device, "emulator");
            let what = format!("no room for the 8192 bytes of `{name}`: ");
            assert!(
                reason.starts_with(&what) && reason.ends_with(&format!(" of {limit} are in use")),
                "{direction:?}, {fit}: {reason}"
            );
            // what fits still runs there, once what the other call left is given back
            gpu.forget();
            if fit > 0 {
                let (mut found, mut expected) = (small.clone(), small.clone());
                found.run(&gpu, direction).unwrap();
                expected.run(&Emulator::new(), direction).unwrap();
                assert_eq!(found, expected);
            }
        }
        // with room for all of them it runs
        let mut large = State::new(1024);
        large.run(&of_bytes(8192 * arrays.len() + 4096), direction).unwrap();
    }
}

#[test]
fn a_shape_that_does_not_fit_is_named_with_both_sizes() {
    let gpu = Emulator::new();
    let shape = |place: &'static str, expected: &str, found: &str| Cause::Shape {
        place: place.into(),
        expected: expected.into(),
        found: found.into(),
    };
    let mut s = State::new(5);
    s.x_bar.pop();
    assert_eq!(s.fails(&gpu, ADJOINT), shape("x_bar", "[5]", "[4]"));
    let mut s = State::new(5);
    s.y_bar.push(0.5);
    assert_eq!(s.fails(&gpu, ADJOINT), shape("y_bar", "[5]", "[6]"));
    // an array too short for the indices of a loop is found where bounds are checked
    let mut s = State::new(5);
    s.room = 3;
    let cause = s.fails(&Emulator::new().checks(true), Direction::FORWARD);
    let Cause::IndexOutOfRange { place, index, shape } = cause else { panic!("{cause}") };
    assert_eq!((&*place, shape), ("t[i]", vec![3]));
    assert!([3, 4].contains(&index[0]), "{index:?}");
}

#[test]
fn arrays_of_other_devices_sizes_and_types_are_refused() {
    let (own, other) = (Emulator::new(), Emulator::new());
    let s = State::new(3);
    let of =
        |gpu: &Emulator| gpu.prepare(&squares(), Direction::FORWARD, &[&s.y, &s.a, &s.x, &s.room]).unwrap();
    let (program, elsewhere) = (of(&own), of(&other));
    let upload = |k: usize, value: &dyn DynArg| program.upload(k, value).unwrap();
    let (y, a, x, room) = (upload(0, &s.y), upload(1, &s.a), upload(2, &s.x), upload(3, &s.room));
    let foreign = elsewhere.upload(2, &s.x).unwrap();
    assert_eq!(
        program.run(&[&y, &a, &foreign, &room]).unwrap_err().to_string(),
        "emulator: `x` of shape [3] (128 bytes), passed as `x`, is an array of another device: it lies on \
         another handle of `emulator`"
    );
    assert_eq!(
        program.run(&[&y, &a, &a, &room]).unwrap_err().to_string(),
        "argument `x`: expected an array of f64 with 1 axes, found f64"
    );
    let wrong = program.upload(2, &vec![1i64]).err().unwrap();
    assert_eq!(wrong.to_string(), "argument `x`: expected f64, found i64");
    let mut short = vec![7.0; 2];
    let error = y.download(&mut short).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), short),
        ("`y` must have the shape [2] and has [3]", vec![7.0; 2])
    );
    // a clone of the handle is the same device, and nothing has changed so far
    of(&own.clone()).run(&[&y, &a, &x, &room]).unwrap();
    let mut back = vec![0.0; 3];
    y.download(&mut back).unwrap();
    assert_eq!(back, [1.0, 1.0 + 3.0 * 0.25, 1.0 + 3.0]);
    foreign.download(&mut back).unwrap();
    assert_eq!((back, s), (vec![0.0, 0.5, 1.0], State::new(3)));
}
