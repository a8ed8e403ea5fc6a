//! The emulator against the manual: instruction by instruction, then whole kernels written by hand,
//! then everything that must be refused. Where there is a `ptxas`, it must take what the emulator
//! takes, and refuse what is wrong.

mod control;
mod faults;
mod float;
mod integer;
mod kernels;
mod refused;
mod transfer;

use super::Emulator;
use crate::driver::{Driver, Target};
use crate::ptxas::Assembler;
use std::sync::OnceLock;

/// A module for sm_90 with one kernel.
fn module(kernel: &str) -> String {
    format!(".version 8.0\n.target sm_90\n.address_size 64\n{kernel}")
}

fn emulator() -> Emulator {
    Emulator::new().with_target(Target(90))
}

/// What NVIDIA's assembler says of a text; `None` where there is no assembler.
fn assembled(text: &str) -> Option<Result<(), String>> {
    static FOUND: OnceLock<Option<Assembler>> = OnceLock::new();
    let assembler = FOUND.get_or_init(Assembler::find).as_ref()?;
    let target = text.split("sm_").nth(1)?.split_whitespace().next()?.parse().ok()?;
    Some(assembler.assemble(text, Target(target)).map(|_| ()).map_err(|e| e.to_string()))
}

/// Loads a text, and runs its kernel `k` on buffers, which follow one another as parameters.
fn launch(text: &str, grid: u32, block: u32, buffers: &mut [Vec<u8>]) -> Result<(), String> {
    launch_on(&emulator(), text, grid, block, buffers)
}

fn launch_on(
    device: &Emulator,
    text: &str,
    grid: u32,
    block: u32,
    buffers: &mut [Vec<u8>],
) -> Result<(), String> {
    let module = device.load(text).map_err(|e| e.to_string())?;
    if let Some(Err(message)) = assembled(text) {
        panic!("{message}\n{text}");
    }
    let mut addresses = Vec::new();
    for (n, buffer) in buffers.iter().enumerate() {
        let address = device.allocate(&format!("b{n}"), buffer.len()).unwrap();
        device.upload(address, buffer).unwrap();
        addresses.push(address);
    }
    let params: Vec<Vec<u8>> = addresses.iter().map(|a| a.to_le_bytes().to_vec()).collect();
    device.launch(module, "k", grid, block, &params).map_err(|e| e.to_string())?;
    for (buffer, address) in buffers.iter_mut().zip(&addresses) {
        device.download(*address, buffer).unwrap();
        device.free(*address);
    }
    Ok(())
}

/// The kernel `k(b0, b1, ..)` with registers of all kinds (`%h` 16, `%r` 32, `%l` 64 bits, `%p`
/// predicates, `%f` and `%d` floats), `%l10, %l11, ..` holding the addresses of its buffers and `%r30`
/// the thread's number.
fn kernel(buffers: usize, body: &str) -> String {
    let params: Vec<String> = (0..buffers).map(|n| format!(".param .u64 b{n}")).collect();
    let loads: String = (0..buffers).map(|n| format!("ld.param.u64 %l1{n}, [b{n}];\n")).collect();
    module(&format!(
        ".visible .entry k({}) {{\n.reg .b16 %h<20>;\n.reg .b32 %r<40>;\n.reg .b64 %l<40>;\n.reg .pred %p<10>;\n\
         .reg .f32 %f<10>;\n.reg .f64 %d<10>;\n{loads}mov.u32 %r30, %tid.x;\nmov.u32 %r31, %ctaid.x;\n\
         mov.u32 %r32, %ntid.x;\nmad.lo.u32 %r30, %r31, %r32, %r30;\n{body}\n}}\n",
        params.join(", ")
    ))
}

/// The result of one instruction, or of several: operands are in `%h1..`, `%r1..`, `%l1..` (each with
/// the low bits of `args`), the result in the register with number 0 of the kind given.
fn eval(body: &str, kind: char, args: &[u64]) -> Result<u64, String> {
    let mut text = String::new();
    for n in 1..=args.len() {
        let at = 8 * n;
        text += &format!(
            "ld.global.b64 %l{n}, [%l10+{at}];\ncvt.u32.u64 %r{n}, %l{n};\ncvt.u16.u64 %h{n}, %l{n};\n"
        );
    }
    text += body;
    text += match kind {
        'h' => "\ncvt.u64.u16 %l0, %h0;",
        'r' => "\ncvt.u64.u32 %l0, %r0;",
        'p' => "\nselp.b64 %l0, 1, 0, %p0;",
        _ => "",
    };
    text += "\nst.global.b64 [%l10], %l0;\nret;";
    let words: Vec<u64> = std::iter::once(0).chain(args.iter().copied()).collect();
    let mut buffers = [words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>()];
    launch(&kernel(1, &text), 1, 1, &mut buffers)?;
    Ok(u64::from_le_bytes(buffers[0][..8].try_into().unwrap()))
}

/// `(instruction, operands, result)`; the kind of the result is that of the first operand.
fn check(table: &[(&str, &[u64], u64)]) {
    for (text, args, expected) in table {
        let kind = text.split('%').nth(1).and_then(|t| t.chars().next()).unwrap();
        let found = eval(&format!("{text};"), kind, args).unwrap();
        assert_eq!(found, *expected, "{text} of {args:x?}: {found:#x}, expected {expected:#x}");
    }
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn read_words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn read_doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect()
}
