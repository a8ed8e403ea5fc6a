//! Lowered programs, run without their text, against the reference interpreter.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod checked;
mod choices;
mod fixed;
mod kernels;
mod leftovers;
mod nested;
mod random;
mod simplified;
mod sizes;
mod spread;
mod stacks;
mod statements;
mod wide;

use std::sync::Arc;

use rev_core::device::{Backend, Device, DynamicDevice};
use rev_core::error::Error;
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module};
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg};

use super::{lower, ArgumentType, LowerOptions};
use crate::driver::Driver;
use crate::fake::Fake;
use crate::plan::Program;
use crate::runtime::{pack, unpack, Given, Loaded, Packed};

const ADJOINT: Direction = Direction::ADJOINT;

/// A module from its text, with explicit uncomputation.
fn module(text: &str) -> Module {
    let module = rev_core::text::parse_module(text).unwrap();
    rev_core::check::check_module(module).unwrap_or_else(|d| panic!("{}", d.render("", "")))
}

fn run_plan(program: Program, types: &[ArgumentType], args: &[Data]) -> Result<Vec<Data>, Error> {
    let driver = Arc::new(Fake::of(program.kernels.clone()));
    let packed: Vec<Packed> = args.iter().zip(types).map(|(d, t)| pack(d, t, 8).unwrap()).collect();
    let mut given = Vec::new();
    for (p, t) in packed.iter().zip(types) {
        let address = driver.allocate("", p.bytes.len().max(1))?;
        driver.upload(address, &p.bytes)?;
        given.push(Given { address, shape: p.shape.clone(), integer: p.integer(t) });
    }
    let mut loaded = Loaded::new(driver.clone(), program, "")?;
    loaded.run(given.clone())?;
    let mut out = Vec::new();
    for ((p, t), g) in packed.iter().zip(types).zip(&given) {
        let mut bytes = vec![0; p.bytes.len()];
        driver.download(g.address, &mut bytes)?;
        out.push(unpack(&Packed { bytes, shape: p.shape.clone() }, t).unwrap());
    }
    Ok(out)
}

fn simulate(
    module: &Module,
    direction: Direction,
    args: &[Data],
    options: &LowerOptions,
) -> Result<Vec<Data>, Error> {
    let types = ArgumentType::of_arguments(module, direction, args)?;
    let program = lower(module, direction, &types, options)?;
    let left = leftovers::leftovers(&program);
    assert!(left.is_empty(), "{}: {left:?}\n{program:#?}", module.entry);
    run_plan(program, &types, args)
}

fn interpret(module: &Module, direction: Direction, args: &[Data], deterministic: bool) -> Vec<Data> {
    let options = Options { checks: false, deterministic, ..Options::default() };
    let mut machine =
        Machine::new(module, &module.entry, direction, args.to_vec()).unwrap().with_options(options);
    machine.run().unwrap();
    machine.arguments()
}

/// Forward, inverse and adjoint in the deterministic mode, bit for bit as the interpreter.
fn agrees(module: &Module, args: &[Data], seeds: &[Data]) {
    let options = LowerOptions { deterministic: true, ..LowerOptions::default() };
    let compare = |direction: Direction, args: &[Data]| {
        let expected = interpret(module, direction, args, true);
        let found =
            simulate(module, direction, args, &options).unwrap_or_else(|e| panic!("{direction:?}: {e}"));
        assert_eq!(format!("{expected:?}"), format!("{found:?}"), "{direction:?}");
        expected
    };
    let after = compare(Direction::FORWARD, args);
    compare(Direction::INVERSE, &after);
    let both: Vec<Data> = after.iter().zip(seeds).flat_map(|(a, s)| [a.clone(), s.clone()]).collect();
    compare(ADJOINT, &both);
}

/// The same with sums in any order, up to rounding.
fn agrees_in_any_order(module: &Module, args: &[Data], seeds: &[Data]) {
    let options = LowerOptions::default();
    let compare = |direction: Direction, args: &[Data]| {
        let expected = interpret(module, direction, args, false);
        let found =
            simulate(module, direction, args, &options).unwrap_or_else(|e| panic!("{direction:?}: {e}"));
        let off = rev_testgen::reals::difference(&expected, &found);
        assert!(off < 1e-9, "{direction:?}, off by {off}\n{expected:?}\n{found:?}");
        expected
    };
    let after = compare(Direction::FORWARD, args);
    compare(Direction::INVERSE, &after);
    let both: Vec<Data> = after.iter().zip(seeds).flat_map(|(a, s)| [a.clone(), s.clone()]).collect();
    compare(ADJOINT, &both);
}

fn reals(values: impl IntoIterator<Item = f64>) -> Data {
    Data::vector(values.into_iter().map(Data::scalar).collect())
}

#[test]
fn a_shared_scalar_and_an_owned_array() {
    let m = module(
        "module axpy
         fn axpy<T: Real>(y: &mut [T], a: T, x: [T]) {
             par for i in 0..len(y) { y[i] += a * x[i] }
         }",
    );
    for n in [0, 1, 31, 32, 33, 255, 256, 257, 1023, 5000] {
        let x = reals((0..n).map(|i| (f64::from(i) * 0.7).sin()));
        let y = reals((0..n).map(|i| (f64::from(i) * 0.3).cos()));
        let seeds = [y.clone(), Data::scalar(0.25), x.zero_like()];
        agrees(&m, &[y, Data::scalar(1.5), x], &seeds);
    }
}

/// The lowered program as a device.
struct Lowered(LowerOptions, Options);

impl Lowered {
    fn deterministic() -> Lowered {
        let options = LowerOptions { deterministic: true, ..LowerOptions::default() };
        Lowered(options, Options { deterministic: true, ..Options::default() })
    }
}

impl Device for Lowered {
    fn name(&self) -> &str {
        "lowered"
    }
    fn backend(&self) -> Backend<'_> {
        Backend::Dynamic(self)
    }
}

impl DynamicDevice for Lowered {
    fn options(&self) -> &Options {
        &self.1
    }
    fn execute(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
    ) -> Result<(), Error> {
        let data: Vec<Data> = args.iter().map(|a| a.load()).collect();
        let after = simulate(module, direction, &data, &self.0)?;
        args.iter_mut().zip(after).try_for_each(|(arg, data)| arg.store(&data))
    }
}
