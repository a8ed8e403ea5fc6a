//! Random programs through lowering, printer and emulator against the reference interpreter.
//!
//! Sums that iterations share are added up in the one order of the deterministic mode, so that every
//! result must have the interpreter's bits; without that mode they may differ by rounding.
//!
//! `REV_GPU_PROGRAMS` says how many programs are compared, `REV_SEED` with which seed they start.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use num_complex::Complex;
use rev_core::device::DynamicDevice;
use rev_core::error::Error;
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Function, Mode, Module, VarKind};
use rev_core::scalar::{bf16, f16, Fixed43, Scalar};
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg};
use rev_cuda::emulator::Emulator;
use rev_cuda::lower::LowerOptions;
use rev_cuda::runtime::Gpu;
use rev_testgen::reals::{cotangent, difference};
use rev_testgen::{Dice, Number, Program};

const ADJOINT: Direction = Direction { adjoint: 1, inverse: false };

/// An argument of any type.
struct Held(Data);

impl DynArg for Held {
    fn load(&self) -> Data {
        self.0.clone()
    }

    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.0 = data.clone();
        Ok(())
    }
}

fn held(args: &[Data]) -> Vec<Held> {
    args.iter().cloned().map(Held).collect()
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// Small blocks, so that also short loops have several.
fn gpu(deterministic: bool) -> Gpu<Emulator> {
    let kernels = LowerOptions { block: 32, max_blocks: 2, ..LowerOptions::default() };
    let emulator = Emulator::new().with_step_limit(1 << 24);
    Gpu::over(emulator).kernels(kernels).deterministic(deterministic)
}

fn emulate(
    gpu: &Gpu<Emulator>,
    module: &Module,
    direction: Direction,
    args: &[Data],
    zeros: &[usize],
) -> Result<Vec<Data>, Error> {
    let mut args = held(args);
    let mut given: Vec<&mut dyn DynArg> = args.iter_mut().map(|a| a as &mut dyn DynArg).collect();
    gpu.execute_on_zeros(module, direction, &mut given, zeros)?;
    Ok(args.into_iter().map(|a| a.0).collect())
}

fn interpret(
    module: &Module,
    direction: Direction,
    args: &[Data],
    deterministic: bool,
) -> Result<Vec<Data>, Error> {
    let options = Options { checks: false, deterministic, ..Options::default() };
    let mut machine = Machine::new(module, &module.entry, direction, args.to_vec())?.with_options(options);
    machine.run()?;
    Ok(machine.arguments())
}

/// What is wrong with one run, if anything.
fn compare(module: &Module, direction: Direction, args: &[Data], exactly: bool) -> Result<Vec<Data>, String> {
    compare_on_zeros(module, direction, args, &[], exactly)
}

/// The same where the device knows that some arguments hold zeros.
fn compare_on_zeros(
    module: &Module,
    direction: Direction,
    args: &[Data],
    zeros: &[usize],
    exactly: bool,
) -> Result<Vec<Data>, String> {
    let expected = interpret(module, direction, args, exactly)
        .map_err(|e| format!("the interpreter, {direction:?}: {e}"))?;
    let gpu = gpu(exactly);
    let found = emulate(&gpu, module, direction, args, zeros).map_err(|e| format!("{direction:?}: {e}"))?;
    let same = match exactly {
        true => format!("{expected:?}") == format!("{found:?}"),
        false => difference(&expected, &found) < 1e-9,
    };
    if same {
        return Ok(expected);
    }
    let given = held(args);
    let given: Vec<&dyn DynArg> = given.iter().map(|a| a as &dyn DynArg).collect();
    let text = gpu.ptx(module, direction, &given).unwrap_or_default();
    Err(format!("{direction:?} of {args:?}\ngives     {found:?}\nexpected  {expected:?}\n{text}"))
}

/// Forward, inverse and adjoint.
fn agrees<T: Number>(program: &Program, module: &Module, exactly: bool) -> Result<(), String>
where
    Complex<T>: Scalar,
{
    let before = program.arguments::<T>(1);
    let after = compare(module, Direction::FORWARD, &before, exactly)?;
    compare(module, Direction::INVERSE, &after, exactly)?;
    let mut dice = Dice::new(program.seed);
    let both: Vec<Data> = after.iter().flat_map(|a| [a.clone(), cotangent(a, &mut dice)]).collect();
    compare(module, ADJOINT, &both, exactly)?;
    Ok(())
}

/// The program and its adjoint as one, as `f::vjp` runs it: the cotangents of what is only read begin
/// as zeros.
fn fused_agrees(program: &Program, module: &Module) -> Result<(), String> {
    let Some(fused) = module.fused() else { return Ok(()) };
    let before = program.arguments::<f64>(1);
    let Some(entry) = module.entry() else { return Ok(()) };
    let (mut both, mut zeros, mut dice) = (Vec::new(), Vec::new(), Dice::new(program.seed));
    for (param, value) in entry.params.iter().zip(before) {
        let read = matches!(entry.var(*param).kind, VarKind::Param(Mode::Read));
        let seed = if read { value.zero_shadow() } else { cotangent(&value, &mut dice) };
        both.push(value);
        zeros.extend(read.then_some(both.len()));
        both.push(seed);
    }
    compare_on_zeros(&fused, Direction::FORWARD, &both, &zeros, true).map(drop)
}

fn attempt(program: &Program, check: &dyn Fn(&Program, &Module) -> Result<(), String>) -> Result<(), String> {
    let module = program.checked_module().map_err(|e| e.to_string())?;
    check(program, &module)
}

/// Checks a program; says what is wrong with the smallest one of its kind that fails alike.
fn verify(seed: u64, check: &dyn Fn(&Program, &Module) -> Result<(), String>) -> Result<(), String> {
    let program = Program::generate(seed, "program");
    let Err(message) = attempt(&program, check) else { return Ok(()) };
    if message.contains("can't be run on a GPU") {
        return Err(message);
    }
    let with = |f: &Function| {
        let mut small = program.clone();
        *small.functions.last_mut().unwrap() = f.clone();
        small
    };
    let kind = |m: &str| (m.contains("\ngives "), m.starts_with("the interpreter"));
    let fails = |f: &Function| {
        let small = with(f);
        small.checked_module().is_ok() && attempt(&small, check).is_err_and(|m| kind(&m) == kind(&message))
    };
    let small = with(&rev_testgen::shrink(program.entry(), &fails));
    let message = attempt(&small, check).err().unwrap_or(message);
    let text: String = small.functions.iter().map(|f| f.to_string()).collect();
    Err(format!("seed {seed}\n{text}\n{message}"))
}

/// Compares a share of `REV_GPU_PROGRAMS` programs of a kind. None may be refused.
fn verify_all(share: u64, of: fn(&Program) -> bool, check: &dyn Fn(&Program, &Module) -> Result<(), String>) {
    let wanted = setting("REV_GPU_PROGRAMS", 210) / share;
    let first = setting("REV_SEED", 0);
    let (mut compared, mut failures) = (0, Vec::new());
    for seed in first.. {
        if compared == wanted {
            break;
        }
        match verify(seed, check) {
            _ if !of(&Program::generate(seed, "program")) => {}
            Ok(()) => compared += 1,
            Err(message) => {
                failures.push(message);
                compared += 1;
            }
        }
    }
    println!("{compared} compared");
    assert!(failures.is_empty(), "{} programs differ:\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn doubles_have_the_interpreters_bits() {
    verify_all(1, |_| true, &|p, m| agrees::<f64>(p, m, true));
}

#[test]
fn fused_programs_have_the_interpreters_bits() {
    verify_all(7, |p| p.checked_module().is_ok_and(|m| m.fused().is_some()), &fused_agrees);
}

#[test]
fn singles_have_the_interpreters_bits() {
    verify_all(3, |_| true, &|p, m| agrees::<f32>(p, m, true));
}

#[test]
fn halves_have_the_interpreters_bits() {
    verify_all(6, |_| true, &|p, m| agrees::<f16>(p, m, true));
    verify_all(6, |_| true, &|p, m| agrees::<bf16>(p, m, true));
}

#[test]
fn fixed_point_has_the_interpreters_bits() {
    verify_all(3, Program::is_exact, &|p, m| agrees::<Fixed43>(p, m, true));
}

#[test]
fn sums_in_any_order_differ_by_rounding() {
    verify_all(3, |_| true, &|p, m| agrees::<f64>(p, m, false));
}
