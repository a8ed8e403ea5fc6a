//! The interpreter's tests: programs in the text form, run forward, back, by their inverse and by
//! their adjoint.

mod checks;
mod conformance;
mod derivatives;
mod forms;
mod limits;
mod patterns;
mod stepping;

use super::Machine;
use crate::error::{Cause, Error};
use crate::ir::{Direction, Module};
use crate::text::parse_module;
use crate::tolerance::{Options, Tolerances};
use crate::value::{Data, DynArg};

const ADJOINT: Direction = Direction::ADJOINT;

/// The module of functions whose entry is `f`, as it is written.
fn raw(text: &str) -> Module {
    crate::validate::switch_on();
    parse_module(&format!("module f\n{text}")).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The same with its static rules checked.
fn module(text: &str) -> Module {
    let mut module = raw(text);
    for function in module.functions.values_mut() {
        *function = crate::check::check(function.clone())
            .unwrap_or_else(|found| panic!("{:?}\n{text}", found.0))
            .into_inner();
    }
    module
}

fn args<const K: usize>(args: [&dyn DynArg; K]) -> Vec<Data> {
    args.iter().map(|a| a.load()).collect()
}

fn run(module: &Module, direction: Direction, args: &[Data]) -> Result<Vec<Data>, Error> {
    let mut machine = Machine::new(module, "f", direction, args.to_vec())?;
    machine.run()?;
    assert!(machine.is_at_end());
    Ok(machine.arguments())
}

fn assert_close(found: &[Data], expected: &[Data], what: &str) {
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        if let Err(m) = a.compare(b, &Tolerances::default(), None) {
            panic!("{what}: argument {k}{}: {} instead of {}", m.path, m.found, m.expected);
        }
    }
}

/// Runs a program forward; its inverse, and the machine itself, must come back from there.
fn there_and_back(module: &Module, args: &[Data]) -> Vec<Data> {
    let mut machine = Machine::new(module, "f", Direction::FORWARD, args.to_vec()).unwrap();
    machine.run().unwrap_or_else(|e| panic!("{e}"));
    let out = machine.arguments();
    machine.run_back().unwrap_or_else(|e| panic!("back: {e}"));
    assert_close(&machine.arguments(), args, "run back");
    assert!(machine.is_at_start());
    let back = run(module, Direction::INVERSE, &out).unwrap_or_else(|e| panic!("inverse: {e}"));
    assert_close(&back, args, "inverse");
    let again = run(module, Direction::FORWARD, &back).unwrap();
    assert_close(&again, &out, "forward again");
    out
}

/// The cause of the error of a forward run.
fn failure(text: &str, args: &[Data]) -> Cause {
    error(text, args).cause().clone()
}

fn error(text: &str, args: &[Data]) -> Error {
    let module = module(text);
    run(&module, Direction::FORWARD, args).expect_err("the program must fail")
}

/// Arguments with zero shadows, except for the first leaf of one argument, whose cotangent is 1.
fn seeded(args: &[Data], seed: usize) -> Vec<Data> {
    let mut out = Vec::new();
    for (k, arg) in args.iter().enumerate() {
        let mut shadow = arg.zero_shadow();
        if k == seed {
            shadow = match shadow {
                Data::Scalar(v) => Data::Scalar(v.same_type(crate::scalar::Num::Int(1)).unwrap()),
                other => panic!("a seed needs a scalar, not {other}"),
            };
        }
        out.extend([arg.clone(), shadow]);
    }
    out
}

/// The gradient of argument `seed` after the program by every argument before it. The machine that
/// finds it must come back, and the values must be those before.
fn gradient(module: &Module, args: &[Data], seed: usize) -> Vec<Data> {
    let out = run(module, Direction::FORWARD, args).unwrap_or_else(|e| panic!("{e}"));
    let start = seeded(&out, seed);
    let mut machine = Machine::new(module, "f", ADJOINT, start.clone()).unwrap();
    machine.run().unwrap_or_else(|e| panic!("adjoint: {e}"));
    let end = machine.arguments();
    machine.run_back().unwrap_or_else(|e| panic!("adjoint back: {e}"));
    assert_close(&machine.arguments(), &start, "adjoint back");
    let values: Vec<Data> = end.iter().step_by(2).cloned().collect();
    assert_close(&values, args, "values after the adjoint");
    end.into_iter().skip(1).step_by(2).collect()
}

/// The gradient by finite differences of the same.
fn differences(module: &Module, args: &[Data], seed: usize) -> Vec<Data> {
    let value = |args: &[Data]| match &run(module, Direction::FORWARD, args).unwrap()[seed] {
        Data::Scalar(v) => v.to_num().to_f64(),
        other => panic!("{other}"),
    };
    let mut all = args.to_vec();
    (0..args.len())
        .map(|k| {
            let shadow = std::cell::RefCell::new(args[k].zero_shadow());
            each_real(&args[k], &mut Vec::new(), &mut |path, x| {
                let h = 1e-6 * x.abs().max(1.0);
                let mut at = |x: f64| {
                    set(&mut all[k], path, x);
                    value(&all)
                };
                let d = (at(x + h) - at(x - h)) / (2.0 * h);
                at(x);
                set(&mut shadow.borrow_mut(), path, d);
            });
            shadow.into_inner()
        })
        .collect()
}

/// Calls `f` with the path and value of every `f64`; parts of complex numbers are children 0 and 1.
fn each_real(data: &Data, path: &mut Vec<usize>, f: &mut dyn FnMut(&[usize], f64)) {
    use crate::value::Value;
    match data {
        Data::Scalar(Value::F64(x)) => f(path, *x),
        Data::Scalar(Value::Complex64(z)) => {
            for (k, x) in [z.re, z.im].into_iter().enumerate() {
                path.push(k);
                f(path, x);
                path.pop();
            }
        }
        _ => {
            for (k, child) in data.children().enumerate() {
                path.push(k);
                each_real(child, path, f);
                path.pop();
            }
        }
    }
}

fn set(data: &mut Data, path: &[usize], x: f64) {
    use crate::value::Value;
    match (data, path) {
        (Data::Scalar(Value::F64(v)), []) => *v = x,
        (Data::Scalar(Value::Complex64(z)), [0]) => z.re = x,
        (Data::Scalar(Value::Complex64(z)), [_]) => z.im = x,
        (Data::Array(a), [k, rest @ ..]) => set(&mut a.elements[*k], rest, x),
        (Data::Tuple(es) | Data::Stack(es), [k, rest @ ..]) => set(&mut es[*k], rest, x),
        (Data::Struct(r), [k, rest @ ..]) => set(&mut r.fields[*k].1, rest, x),
        (other, path) => panic!("{other} at {path:?}"),
    }
}

/// Forward, back, and the gradient of the first argument against finite differences.
fn check_program(text: &str, args: &[Data]) -> Vec<Data> {
    check_module(&module(text), args)
}

fn check_module(module: &Module, args: &[Data]) -> Vec<Data> {
    let out = there_and_back(module, args);
    let options = Tolerances {
        f64: crate::tolerance::Tolerance { absolute: 1e-6, relative: 1e-6 },
        ..Tolerances::default()
    };
    for (k, (a, b)) in gradient(module, args, 0).iter().zip(differences(module, args, 0)).enumerate() {
        if let Err(m) = a.compare(&b, &options, None) {
            panic!("gradient by argument {k}{}: {} instead of {}", m.path, m.found, m.expected);
        }
    }
    out
}

fn unchecked() -> Options {
    Options { checks: false, ..Options::default() }
}
