//! Random programs through lowering, printer and emulator, and on a GPU where there is one, against the reference interpreter.
//!
//! Sums that iterations share are added up in the one order of the deterministic mode, so that every
//! result must have the interpreter's bits; without that mode they may differ by rounding.
//!
//! How many programs, from which seed on, and whether the run goes into the ledger: `rev_testgen::suite`.

#![allow(clippy::panic)] // tests

use num_complex::Complex;
use rev_core::device::DynamicDevice;
use rev_core::error::Error;
use rev_core::facts::recursive;
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Mode, Module, VarKind};
use rev_core::scalar::fraction::{U16, U20};
use rev_core::scalar::{bf16, f16, Fixed43, FixedI32, FixedI64, Scalar};
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg};
use rev_cuda::driver::{Driver, Target};
use rev_cuda::emulator::Emulator;
use rev_cuda::lower::LowerOptions;
use rev_cuda::runtime::Gpu;
use rev_cuda::Cuda;
use rev_testgen::reals::{cotangent, difference, replace};
use rev_testgen::suite::interpreter::generate;
use rev_testgen::suite::{Failure, Suite, Tally};
use rev_testgen::{corpus, mangle, Dice, Number, Program};
use std::sync::OnceLock;

const ADJOINT: Direction = Direction::ADJOINT;

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

/// Small blocks, so that also short loops have several.
fn small<D: Driver>(gpu: Gpu<D>, deterministic: bool) -> Gpu<D> {
    let kernels = LowerOptions { block: 32, max_blocks: 2, ..LowerOptions::default() };
    gpu.kernels(kernels).deterministic(deterministic)
}

fn emulator(deterministic: bool) -> Gpu<Emulator> {
    small(Gpu::over(Emulator::new().with_step_limit(1 << 24)), deterministic)
}

/// A GPU, where there is one.
fn cuda() -> Option<&'static Cuda> {
    static GPU: OnceLock<Option<Cuda>> = OnceLock::new();
    GPU.get_or_init(|| Cuda::new(0).inspect_err(|e| eprintln!("skipped on CUDA: {e}")).ok()).as_ref()
}

fn on_gpu<D: Driver>(
    gpu: &Gpu<D>,
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

/// The numbers of an argument, to be read: the first ones of each.
fn shown(values: &[Data]) -> String {
    values.iter().map(|d| format!("{d:?}").chars().take(200).collect::<String>() + "\n").collect()
}

/// One run of a program on both: what it gives.
fn compare(
    module: &Module,
    direction: Direction,
    args: &[Data],
    exactly: bool,
) -> Result<Vec<Data>, Failure> {
    compare_on_zeros(module, direction, args, &[], exactly)
}

/// The same where the device knows that some arguments hold zeros.
fn compare_on_zeros(
    module: &Module,
    direction: Direction,
    args: &[Data],
    zeros: &[usize],
    exactly: bool,
) -> Result<Vec<Data>, Failure> {
    let expected = interpret(module, direction, args, exactly)
        .map_err(|e| Failure::new("the interpreter runs it", format!("{direction:?}: {e}")))?;
    let emulated = on_gpu(&emulator(exactly), module, direction, args, zeros);
    let on_cuda = cuda().map(|gpu| on_gpu(&small(gpu.clone(), exactly), module, direction, args, zeros));
    for (name, found) in [("the emulator", Some(emulated)), ("CUDA", on_cuda)] {
        let Some(found) = found else { continue };
        let found =
            found.map_err(|e| Failure::new("a GPU runs it", format!("{name}, {direction:?}: {e}")))?;
        let same = match exactly {
            true => format!("{expected:?}") == format!("{found:?}"),
            false => difference(&expected, &found) < 1e-9,
        };
        if same {
            continue;
        }
        let differs = expected.iter().zip(&found).position(|(a, b)| format!("{a:?}") != format!("{b:?}"));
        let (given, expected, found) = (shown(args), shown(&expected), shown(&found));
        let message = format!(
            "{name}, {direction:?}, argument {differs:?}, of\n{given}gives\n{found}expected\n{expected}"
        );
        let property = if exactly { "the interpreter's bits" } else { "the same up to rounding" };
        return Err(Failure::new(property, message));
    }
    Ok(expected)
}

/// Forward, inverse and adjoint.
fn agrees<T: Number>(program: &Program, module: &Module, exactly: bool) -> Result<(), Failure>
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

/// The tangent of a program likewise.
fn tangent_agrees(program: &Program, module: &Module) -> Result<(), Failure> {
    let tangent = module.tangent().map_err(|e| Failure::new("it has a tangent", e.to_string()))?;
    let mut dice = Dice::new(program.seed + 1);
    let before = program.arguments::<f64>(1);
    let direction = |d: &Data, dice: &mut Dice| replace(d, &mut |_| dice.real(-1.0, 1.0));
    let both: Vec<Data> = before.iter().flat_map(|d| [d.clone(), direction(d, &mut dice)]).collect();
    let beside = before.iter().flat_map(|d| [d.clone(), cotangent(d, &mut dice)]).collect::<Vec<_>>();
    let ended = compare(module, Direction::TANGENTS, &beside, true)?;
    compare(module, Direction { inverse: true, ..Direction::TANGENTS }, &ended, true)?;
    let adjoint = module.pullback().map_err(|e| Failure::new("its adjoint is a function", e.to_string()))?;
    let pairs = ended.chunks(2).flat_map(|pair| [pair[0].clone(), direction(&pair[0], &mut dice)]);
    let pairs: Vec<Data> = pairs.collect();
    let beside = pairs.iter().flat_map(|d| [d.clone(), cotangent(d, &mut dice)]).collect::<Vec<_>>();
    compare(&adjoint, Direction::TANGENTS, &beside, true)?;
    let after = compare(&tangent, Direction::FORWARD, &both, true)?;
    compare(&tangent, Direction::INVERSE, &after, true)?;
    let mut dice = Dice::new(program.seed);
    let both: Vec<Data> = after.iter().flat_map(|a| [a.clone(), cotangent(a, &mut dice)]).collect();
    compare(&tangent, ADJOINT, &both, true).map(drop)
}

/// Its Taylor coefficients likewise, up to order 2 or 3.
fn taylor_agrees(program: &Program, module: &Module) -> Result<(), Failure> {
    let order = 2 + (program.seed / 6 % 2) as usize;
    let taylor = module.taylor(order);
    let taylor = taylor.map_err(|e| Failure::new("it has Taylor coefficients", e.to_string()))?;
    let mut dice = Dice::new(program.seed + 2);
    let mut curve = Vec::new();
    for value in program.arguments::<f64>(1) {
        let coefficients = (0..order).map(|_| replace(&value, &mut |_| dice.real(-1.0, 1.0)));
        curve.extend([value.clone()].into_iter().chain(coefficients));
    }
    let after = compare(&taylor, Direction::FORWARD, &curve, true)?;
    compare(&taylor, Direction::INVERSE, &after, true)?;
    let both: Vec<Data> = after.iter().flat_map(|a| [a.clone(), cotangent(a, &mut dice)]).collect();
    compare(&taylor, ADJOINT, &both, true).map(drop)
}

/// The program and its adjoint as one, as `f::vjp` runs it: the cotangents of what is only read begin
/// as zeros.
fn fused_agrees(program: &Program, module: &Module, fused: &Module) -> Result<(), Failure> {
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
    compare_on_zeros(fused, Direction::FORWARD, &both, &zeros, true).map(drop)
}

/// Every program as one of doubles, and as one of another scalar; fused where it can be.
fn check(program: &Program, tally: &mut Tally) -> Result<(), Failure> {
    let module = program.checked_module();
    let module = module.map_err(|e| Failure::new("its functions make a module", e.to_string()))?;
    let mut count = |what| *tally.entry(what).or_default() += 1;
    // refused on a GPU, as a test of its own says
    if recursive(&module, &module.entry) {
        count("recursive");
        return Ok(());
    }
    count("f64");
    agrees::<f64>(program, &module, true)?;
    if let Some(fused) = module.fused() {
        count("fused");
        fused_agrees(program, &module, &fused)?;
    }
    if program.seed.is_multiple_of(3) {
        count("any order");
        agrees::<f64>(program, &module, false)?;
    }
    if program.seed.is_multiple_of(4) {
        count("tangents");
        tangent_agrees(program, &module)?;
    }
    if program.seed.is_multiple_of(6) {
        count("Taylor coefficients");
        taylor_agrees(program, &module)?;
    }
    match program.seed % 12 {
        0 => count("Fixed43"),
        4 => count("FixedI32"),
        8 => count("FixedI64"),
        2 | 5 => count("f16"),
        7 | 11 => count("bf16"),
        _ => count("f32"),
    }
    match program.seed % 12 {
        0 => agrees::<Fixed43>(program, &module, true),
        4 => agrees::<FixedI32<U16>>(program, &module, true),
        8 => agrees::<FixedI64<U20>>(program, &module, true),
        2 | 5 => agrees::<f16>(program, &module, true),
        7 | 11 => agrees::<bf16>(program, &module, true),
        _ => agrees::<f32>(program, &module, true),
    }
}

const SUITE: Suite =
    Suite { name: "emulator", command: "cargo test --release -p rev-cuda --test random", programs: 120 };

#[test]
fn programs_have_the_interpreters_bits() {
    let tally = SUITE.run(generate, &check).unwrap_or_else(|report| panic!("{report}"));
    // one program in fifteen is one of the last two
    let kinds = [
        "f64",
        "f32",
        "f16",
        "bf16",
        "Fixed43",
        "FixedI32",
        "FixedI64",
        "tangents",
        "Taylor coefficients",
        "any order",
        "fused",
    ];
    let among = |kinds: &[&str], programs| {
        tally["programs"] < programs || kinds.iter().all(|kind| tally.contains_key(kind))
    };
    assert!(among(&kinds[..9], 100) && among(&kinds, 300), "{tally:?}");
}

/// Damaged PTX is refused with a message, or is PTX: reading it doesn't panic.
#[test]
fn damaged_ptx_is_refused_or_loaded() {
    const WORDS: &[&str] = &[
        ".reg",
        ".f64",
        ".u32",
        ".pred",
        "%r1",
        "%rd0",
        "%p1",
        "@%p1",
        "bra",
        "$L1",
        "ld.global.f64",
        "mov.u64",
        "0d3FF0000000000000",
        "0x",
        "-1",
        "99999999999999999999",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ";",
        ",",
        "+",
        ".param",
        ".entry",
        ".shared",
        "ret",
        "atom.add",
        "\"",
        "//",
        "/*",
    ];
    let (mut loaded, mut refused) = (0, 0);
    for program in 0..4 {
        let program = generate(program);
        let Ok(module) = program.checked_module() else { continue };
        let args = held(&program.arguments::<f64>(1));
        let args: Vec<&dyn DynArg> = args.iter().map(|a| a as &dyn DynArg).collect();
        let Ok(text) = emulator(true).ptx(&module, Direction::FORWARD, &args) else { continue };
        let mut dice = Dice::new(program.seed);
        for _ in 0..60 {
            let text = mangle(&text, WORDS, &mut dice);
            match Emulator::new().load(&text) {
                Ok(_) => loaded += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(loaded > 0 && refused > 0, "{loaded} loaded, {refused} refused");
}

/// The texts that the fuzzer has found worth keeping (`testgen/fuzz`).
#[test]
fn the_fuzzers_ptx_is_refused_or_loaded() {
    let (mut loaded, mut refused) = (0, 0);
    for (_, text) in corpus("ptx") {
        match Emulator::new().with_target(Target(90)).load(&String::from_utf8_lossy(&text)) {
            Ok(_) => loaded += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(loaded > 10 && refused > 10, "{loaded} loaded, {refused} refused");
}
