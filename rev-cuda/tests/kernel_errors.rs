//! What fails in a kernel comes back as the error value of the interpreter, with function, statement,
//! calls and iterations: from the PTX text, on the emulator, and on a GPU where there is one. The
//! arguments stay as they were, and the next run isn't disturbed.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use rev_core::device::DynamicDevice;
use rev_core::error::{Cause, Error};
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module};
use rev_core::value::{Data, DynArg, Stack};
use rev_cuda::driver::Driver;
use rev_cuda::lower::LowerOptions;
use rev_cuda::{Cuda, Emulator, Gpu};

fn module(text: &str) -> Module {
    let module = rev_core::text::parse_module(text).unwrap();
    rev_core::check::check_module(module).unwrap_or_else(|d| panic!("{}", d.render("", "")))
}

/// A hundred numbers and lists of indices of which one entry, 71, may be wrong.
#[derive(Clone, Debug, PartialEq)]
struct State {
    y: Vec<f64>,
    x: Vec<f64>,
    to: Vec<usize>,
    k: Vec<usize>,
    s: Stack<f64>,
}

const WRONG: usize = 71;

impl State {
    fn good() -> State {
        let to = (0..100).map(|i| (i * 37) % 100).collect();
        let s = Stack::from(vec![0.5, 0.25, 2.0]);
        State { y: vec![1.0; 100], x: vec![0.0; 100], to, k: vec![3; 100], s }
    }

    fn wrong(to: usize) -> State {
        let mut state = State::good();
        (state.x[WRONG], state.to[WRONG], state.k[WRONG]) = (0.125, to, 0);
        state.s = Stack::new();
        state
    }

    fn args(&mut self) -> [&mut dyn DynArg; 5] {
        [&mut self.y, &mut self.x, &mut self.to, &mut self.k, &mut self.s]
    }
}

/// The program of a body of a function `f`, with a function that it may call.
fn program(body: &str) -> Module {
    module(&format!(
        "module f
         fn add<T: Real>(y: &mut T, x: [T], i: usize, k: usize) {{ y += x[i] * ((6 / k) as T) }}
         fn f<T: Real>(y: &mut [T], x: &mut [T], to: [usize], k: [usize], s: &mut Stack<T>) {{ {body} }}"
    ))
}

fn interpret(m: &Module, state: &State) -> Result<(), Error> {
    let args: Vec<Data> = state.clone().args().iter().map(|a| a.load()).collect();
    Machine::new(m, "f", Direction::FORWARD, args)?.run()
}

struct Fails {
    body: &'static str,
    /// What the index array names in the wrong iteration.
    to: usize,
    is: fn(&Cause) -> bool,
    /// Whether kernels find it that aren't checked.
    always: bool,
}

impl Fails {
    fn on<D: Driver>(&self, gpu: &Gpu<D>) {
        let (m, checked) = (program(self.body), gpu.clone().checks(true));
        let mut good = State::good();
        checked.execute(&m, Direction::FORWARD, &mut good.args()).unwrap_or_else(|e| panic!("{e}"));
        let start = State::wrong(self.to);
        let expected = interpret(&m, &start).unwrap_err();
        assert!((self.is)(expected.cause()), "{expected}");
        for gpu in std::iter::once(&checked).chain(self.always.then_some(gpu)) {
            for _ in 0..2 {
                let mut state = start.clone();
                let found = gpu.execute(&m, Direction::FORWARD, &mut state.args()).unwrap_err();
                assert_eq!(found, expected, "\n{found}\n{expected}");
                assert_eq!(state, start, "{found}");
            }
        }
        let mut again = State::good();
        checked.execute(&m, Direction::FORWARD, &mut again.args()).unwrap();
        assert_eq!(again, good);
    }
}

/// Does something on the emulator, and on a GPU where there is one.
fn on_devices(check: &Fails) {
    check.on(&Emulator::new());
    match Cuda::new(0) {
        Ok(gpu) => check.on(&gpu),
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
}

#[test]
fn checked_kernels_say_what_the_interpreter_says() {
    for fails in [
        Fails {
            body: "par for i in 0..len(y) { anc t: T = 2 { t += x[i] y[i] += t release t = 2 } }",
            to: WRONG,
            is: |c| matches!(c, Cause::Release { .. }),
            always: false,
        },
        Fails {
            body: "par for i in 0..len(y) { if x[i] > 0 { y[i] += 1 } else { y[i] += 2 } post y[i] < 2 }",
            to: WRONG,
            is: |c| matches!(c, Cause::Condition { .. }),
            always: false,
        },
        Fails {
            body: "par for i in 0..len(y) injective(to) { y[to[i]] += 1 }",
            to: 0,
            is: |c| matches!(c, Cause::NotInjective { first: 0, second: WRONG, .. }),
            always: false,
        },
        Fails {
            body: "par for i in 0..len(y) { y[i] += x[to[i]] }",
            to: 100,
            is: |c| matches!(c, Cause::IndexOutOfRange { .. }),
            always: false,
        },
        Fails {
            body: "par for i in 0..len(y) { for j in 1..3 { call add(&mut y[i], &x, i, k[i] * j) } }",
            to: WRONG,
            is: |c| matches!(c, Cause::DivisionByZero),
            always: false,
        },
        // what no kernel may go on after
        Fails {
            body: "anc t: T = 0 { pop(s, t) y[0] += t push(s, t) }",
            to: WRONG,
            is: |c| matches!(c, Cause::StackUnderflow { .. }),
            always: true,
        },
        Fails {
            body: "par for i in 0..len(y) {
                       anc a: Stack<T> = stack() {
                           for j in 0..k[i] { anc t: T = 0 { t += 1 push(a, t) } }
                           for j in 0..3 { anc t: T = 0 { pop(a, t) y[i] += t t -= 1 } }
                       }
                   }",
            to: WRONG,
            is: |c| matches!(c, Cause::StackUnderflow { .. }),
            always: true,
        },
    ] {
        on_devices(&fails);
    }
}

/// Which of two iterations is named depends on who comes first.
#[test]
fn a_false_declaration_is_found_like_the_interpreter_does() {
    let m = program("par for i in 0..len(y) disjoint(y) { y[to[i]] += 1 y[to[i]] += 2 * x[i] }");
    let gpu = Emulator::new().checks(true);
    gpu.execute(&m, Direction::FORWARD, &mut State::good().args()).unwrap();
    interpret(&m, &State::good()).unwrap();
    let start = State::wrong(5);
    let mut state = start.clone();
    let found = gpu.execute(&m, Direction::FORWARD, &mut state.args()).unwrap_err();
    let expected = interpret(&m, &start).unwrap_err();
    assert_eq!(state, start);
    assert_eq!(found.cause(), expected.cause());
    let second = "an element that another iteration uses";
    assert!(matches!(found.cause(), Cause::Alias { second: s, .. } if s == second), "{found}");
    let of = |e: &Error| e.site().unwrap().iterations[0].value;
    let shared = State::good().to.iter().position(|k| *k == 5).unwrap();
    assert!([shared, WRONG].contains(&(of(&found) as usize)) && of(&expected) == WRONG.max(shared) as i128);
}

/// Stacks of the host grow, so the interpreter can't say it: the same value that it has for other
/// errors of the statement, with every iteration around it.
#[test]
fn a_full_stack_names_its_push_and_the_iterations() {
    let m = program(
        "par for i in 0..len(y) {
             anc a: Stack<T> = stack() {
                 for j in 0..k[i] { anc t: T = 0 { t += 1 push(a, t) } }
                 for j in 0..k[i] { anc t: T = 0 { pop(a, t) y[i] += t t -= 1 } }
             }
         }",
    );
    for checks in [false, true] {
        let options = LowerOptions { stack_capacity: 4, ..LowerOptions::default() };
        let gpu = Emulator::new().kernels(options).checks(checks);
        let mut state = State::good();
        gpu.execute(&m, Direction::FORWARD, &mut state.args()).unwrap();
        assert_eq!(state.y, [4.0; 100]);
        let mut start = State::good();
        start.k[WRONG] = 6;
        let mut state = start.clone();
        let error = gpu.execute(&m, Direction::FORWARD, &mut state.args()).unwrap_err();
        assert_eq!(*error.cause(), Cause::StackOverflow { stack: "a".into(), capacity: 4 });
        let [site] = error.trace() else { panic!("{error:?}") };
        assert_eq!((&*site.function, &*site.statement), ("f", "push(a, t)"));
        let iterations = site.iterations.iter().map(|i| (&*i.variable, i.value));
        assert_eq!(iterations.collect::<Vec<_>>(), [("i", WRONG as i128), ("j", 4)]);
        assert_eq!(state, start);
    }
    // an argument's room is counted with what it holds already
    let m = program("for j in 0..3 { anc t: T = 0 { t += x[j] + 1 push(s, t) } }");
    let gpu = Emulator::new().kernels(LowerOptions { stack_capacity: 5, ..LowerOptions::default() });
    let mut state = State::good();
    let error = gpu.execute(&m, Direction::FORWARD, &mut state.args()).unwrap_err();
    assert_eq!(*error.cause(), Cause::StackOverflow { stack: "s".into(), capacity: 5 });
    assert_eq!(error.site().unwrap().iterations[0].value, 2);
    assert_eq!(state, State::good());
}

/// Without checks only what a kernel can't go on after is found.
#[test]
fn reversibility_is_not_checked_unless_it_is_asked_for() {
    let m = program("par for i in 0..len(y) { anc t: T = 2 { t += x[i] y[i] += t release t = 2 } }");
    let mut state = State::wrong(WRONG);
    Emulator::new().execute(&m, Direction::FORWARD, &mut state.args()).unwrap();
    assert_eq!((state.y[0], state.y[WRONG]), (3.0, 3.125));
    let text = |gpu: Emulator| {
        let mut state = State::good();
        let [y, x, to, k, s] = state.args();
        gpu.ptx(&m, Direction::FORWARD, &[y, x, to, k, s]).unwrap()
    };
    let (plain, checked) = (text(Emulator::new()), text(Emulator::new().checks(true)));
    assert!(plain.len() < checked.len());
}
