//! A device over a driver that counts, with a plan made by hand: `y[i] += k * x[i]`.

use super::*;
use crate::fake::{Fake, Memory};
use crate::kernel::Kernel;
use crate::lower::{ArgumentType, LowerOptions};
use crate::plan::{Buffer, BufferId, Failure, KernelArg, Program, Step, Word};
use rev_core::device::{Device, DynamicDevice};
use rev_core::error::{Cause, Error};
use rev_core::ir::{Direction, Function, Module};
use rev_core::value::DynArg;

fn axpy() -> Module {
    let text = "fn axpy(y: &mut [f64], x: [f64], k: i64) {\n}\n";
    let function: Function = rev_core::text::parse_function(text).unwrap();
    let mut module = Module { entry: "axpy".into(), ..Module::default() };
    module.functions.insert("axpy".into(), function);
    module
}

/// The plan of any of its directions, as far as these tests are concerned.
fn plan(
    module: &Module,
    direction: Direction,
    types: &[ArgumentType],
    _: &LowerOptions,
) -> Result<Program, Error> {
    if direction.inverse {
        return Err(Cause::Rejected("no inverse here".into()).into());
    }
    let names = ["y", "y_bar", "x", "x_bar", "k", "k_bar"];
    let names = names.iter().step_by(2 - usize::from(direction.adjoint)).copied();
    let buffers = names.zip(types).map(|(name, ty)| Buffer {
        name: name.into(),
        leaves: ty.leaves(),
        rank: ty.rank(),
        stack: matches!(ty, ArgumentType::Stack(_)),
        written: name == "y",
    });
    let [y, x, k] = [0, 1, 2].map(BufferId);
    Ok(Program {
        name: module.entry.clone(),
        kernels: vec![Kernel { name: "axpy".into(), block: 32, ..Kernel::default() }],
        buffers: buffers.collect(),
        arguments: types.len(),
        steps: vec![Step::Launch {
            kernel: 0,
            args: vec![
                KernelArg::Buffer(y),
                KernelArg::Buffer(x),
                KernelArg::Word(Word::Argument(k)),
                KernelArg::Word(Word::Length(x, 0)),
                KernelArg::ErrorRecord,
            ],
            threads: Word::Length(y, 0),
            max_blocks: None,
        }],
        failures: vec![Failure {
            cause: Cause::DivisionByZero,
            trace: vec![],
            loops: vec![],
            detail: vec![],
        }],
        ..Program::default()
    })
}

fn floats(memory: &mut Memory, at: u64) -> &mut Vec<u8> {
    memory.get_mut(&at).unwrap()
}

/// Fails where `k` is 0, after it has changed `y`.
fn driver() -> Fake {
    Fake::default().kernel("axpy", |m, _, _, p| {
        let x = floats(m, p[1]).clone();
        for at in (0..8 * p[3] as usize).step_by(8) {
            let number = |b: &[u8]| f64::from_le_bytes(b[at..at + 8].try_into().unwrap());
            let y = floats(m, p[0]);
            let sum = number(y) + p[2] as i64 as f64 * number(&x);
            y[at..at + 8].copy_from_slice(&sum.to_le_bytes());
        }
        if p[2] == 0 {
            floats(m, p[0]).fill(0xff);
            floats(m, p[4])[0] = 1;
        }
    })
}

fn run(gpu: &Gpu<Fake>, y: &mut impl DynArg, x: &[f64], k: i64) -> Result<(), Error> {
    let (mut x, mut k) = (x.to_vec(), k);
    gpu.execute(&axpy(), Direction::FORWARD, &mut [y, &mut x, &mut k])
}

#[test]
fn a_second_call_compiles_and_allocates_nothing() {
    let gpu = Gpu::with_generator(driver(), plan);
    assert_eq!(gpu.name(), "fake");
    let mut y = vec![1.0, 2.0, 3.0];
    run(&gpu, &mut y, &[10.0, 20.0, 30.0], -2).unwrap();
    assert_eq!(y, [-19.0, -38.0, -57.0]);
    let before = gpu.driver().allocations.lock().unwrap().clone();
    // `k` is known to the host, and no kernel is given it
    assert_eq!(before, ["y", "x", "the error record"]);
    run(&gpu.clone(), &mut y, &[1.0, 1.0, 1.0], 1).unwrap();
    assert_eq!(y, [-18.0, -37.0, -56.0]);
    run(&gpu, &mut vec![0.0], &[1.0], 1).unwrap();
    assert_eq!(*gpu.driver().allocations.lock().unwrap(), before);
    assert_eq!((*gpu.driver().loads.lock().unwrap(), gpu.compiled()), (1, 1));
    // Other options, another program.
    run(&gpu.clone().deterministic(true), &mut y, &[1.0, 1.0, 1.0], 1).unwrap();
    assert_eq!(gpu.compiled(), 2);
    gpu.forget();
    assert!(gpu.driver().memory.lock().unwrap().is_empty());
}

#[test]
fn after_an_error_the_arguments_are_as_they_were() {
    let gpu = Gpu::with_generator(driver(), plan);
    let mut y = vec![1.0, 2.0];
    let error = run(&gpu, &mut y, &[1.0, 1.0], 0).unwrap_err();
    assert_eq!((error.to_string().as_str(), &y), ("an integer is divided by zero", &vec![1.0, 2.0]));
    let mut small = driver();
    small.capacity = Some(300);
    let gpu = Gpu::with_generator(small, plan);
    let error = run(&gpu, &mut y, &[1.0; 64], 1).unwrap_err();
    assert_eq!((error.to_string().as_str(), &y), ("fake: no room for `x`: 512 bytes", &vec![1.0, 2.0]));
    let inverse = gpu.execute(&axpy(), Direction::INVERSE, &mut [&mut y, &mut vec![1.0], &mut 1i64]);
    assert_eq!(inverse.unwrap_err().to_string(), "no inverse here");
}

#[test]
fn shadows_have_the_shape_of_their_values() {
    let gpu = Gpu::with_generator(driver(), plan);
    let direction = Direction::ADJOINT;
    let (mut y, mut y_bar, mut x, mut k) = (vec![1.0; 3], vec![1.0; 3], vec![1.0; 3], 1i64);
    let mut short = vec![1.0; 2];
    let error = gpu
        .execute(&axpy(), direction, &mut [&mut y, &mut y_bar, &mut x, &mut short, &mut k, &mut ()])
        .unwrap_err();
    assert_eq!(error.to_string(), "`x_bar` must have the shape [3] and has [2]");
}

#[test]
fn arrays_stay_on_the_device() {
    let gpu = Gpu::with_generator(driver(), plan);
    let (y, x) = (vec![1.0, 2.0], vec![1.0, 1.0]);
    let prepared = gpu.prepare(&axpy(), Direction::FORWARD, &[&y, &x, &3i64]).unwrap();
    assert!(prepared.ptx().contains(".visible .entry axpy("));
    let on_device = prepared.upload(0, &y).unwrap();
    let mut factor = prepared.upload(2, &3i64).unwrap();
    let other = prepared.upload(1, &x).unwrap();
    prepared.run(&[&on_device, &other, &factor]).unwrap();
    prepared.run(&[&on_device, &other, &factor]).unwrap();
    factor.replace(&100i64).unwrap();
    prepared.run(&[&on_device, &other, &factor]).unwrap();
    let mut back = vec![0.0; 2];
    on_device.download(&mut back).unwrap();
    assert_eq!((back, on_device.shape(), on_device.bytes()), (vec![107.0, 108.0], &[2][..], 128));
    let message = |args: &[&DeviceArray<Fake>]| prepared.run(args).unwrap_err().to_string();
    assert_eq!(message(&[&on_device]), "`axpy` takes 3 arguments, not 1");
    assert!(message(&[&on_device, &on_device, &factor]).starts_with("`y` and `x` are the same"));
    assert_eq!(
        message(&[&on_device, &factor, &factor]),
        "argument `x`: expected an array of f64 with 1 axes, found i64"
    );
    let mut other_size = vec![0.5; 3];
    let error = on_device.download(&mut other_size).unwrap_err();
    assert_eq!(error.to_string(), "`y` must have the shape [3] and has [2]");
    assert_eq!(other_size, [0.5; 3]);
    let error = factor.replace(&vec![1.0]).unwrap_err();
    assert_eq!(error.to_string(), "argument `k`: expected i64, found an array of shape [1]");
    factor.clear().unwrap();
    assert_eq!(message(&[&on_device, &other, &factor]), "an integer is divided by zero");
}

#[test]
fn an_array_of_another_device_is_an_error_that_names_both() {
    let on = |label| {
        let mut driver = driver();
        driver.label = label;
        Gpu::with_generator(driver, plan)
    };
    let (own, other, same) = (on(None), on(Some("fake:1 (model)")), on(None));
    let (y, x, k) = (vec![1.0, 2.0], vec![3.0, 4.0], 5i64);
    let prepare = |gpu: &Gpu<Fake>| gpu.prepare(&axpy(), Direction::FORWARD, &[&y, &x, &k]).unwrap();
    let program = prepare(&own);
    let here = [program.upload(0, &y).unwrap(), program.upload(1, &x).unwrap()];
    let factor = program.upload(2, &k).unwrap();
    for (gpu, place) in [(&other, "`fake:1 (model)`"), (&same, "another handle of `fake`")] {
        let there = [prepare(gpu).upload(0, &y).unwrap(), prepare(gpu).upload(1, &x).unwrap()];
        for (args, what) in [
            ([&here[0], &there[1], &factor], "`x` of shape [2] (128 bytes), passed as `x`"),
            ([&there[1], &here[1], &factor], "`x` of shape [2] (128 bytes), passed as `y`"),
        ] {
            assert_eq!(
                program.run(&args).unwrap_err().to_string(),
                format!("fake: {what}, is an array of another device: it lies on {place}")
            );
        }
        for (array, value) in here.iter().zip([&y, &x]).chain(there.iter().zip([&y, &x])) {
            let mut back = vec![0.0; 2];
            array.download(&mut back).unwrap();
            assert_eq!(back, *value);
        }
    }
    assert_eq!((y, x), (vec![1.0, 2.0], vec![3.0, 4.0]));
}
