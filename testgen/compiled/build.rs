//! Writes random programs as Rust source, each with a function that runs it on any device.
//!
//! `REV_PROGRAMS` says how many, `REV_SEED` from which seed on, as for every suite. They are spread over as
//! many files as there are test targets, which cargo compiles side by side.

use std::fmt::Write;
use std::path::PathBuf;

use rev_core::ir::{GenericKind, Mode};
use rev_core::value::Data;
use rev_testgen::suite::COMPILED;
use rev_testgen::{rust_prelude, Element, Param, Program, What};

/// The test targets: `tests/part_0.rs` and so on.
const PARTS: u64 = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=REV_PROGRAMS");
    println!("cargo::rerun-if-env-changed=REV_SEED");
    if std::env::var("REV_SEED").is_ok_and(|seed| seed == "next") {
        println!("cargo::rerun-if-changed=../ledger.md");
    }
    let seeds = COMPILED.seeds()?;
    let (first, count) = (seeds.start, seeds.end - seeds.start);
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(folder.join("prelude.rs"), rust_prelude())?;
    for part in 0..PARTS {
        let seeds = first + part * count / PARTS..first + (part + 1) * count / PARTS;
        std::fs::write(folder.join(format!("part_{part}.rs")), programs(seeds)?)?;
    }
    Ok(())
}

/// The programs of some seeds, each in a module, and the list of them.
fn programs(seeds: impl Iterator<Item = u64>) -> Result<String, std::fmt::Error> {
    let (mut out, mut cases) = (String::new(), String::new());
    for seed in seeds {
        let name = format!("program_{seed}");
        let program = Program::compiled(seed, &name);
        write!(
            out,
            "mod {name}_ {{\n#![allow(unused_imports, clippy::all)]\nuse rev_testgen_compiled::prelude::*;\n{}{}",
            program.rust(),
            runner(&program, "run_on", &name, (1, program.has_tangent()))?
        )?;
        let tangent = match program.has_tangent() {
            true => {
                let path = format!("<{name} as HasTangent>::Tangent");
                out.push_str(&runner(&program, "run_tangent_on", &path, (2, false))?);
                format!("Some({name}_::run_tangent_on)")
            }
            false => "None".into(),
        };
        out.push_str("}\n");
        writeln!(cases, "    Cases {{ seed: {seed}, function: {name}_::run_on, tangent: {tangent} }},")?;
    }
    writeln!(out, "/// The programs with their seeds.\npub static CASES: &[Cases] = &[\n{cases}];")?;
    Ok(out)
}

/// One of the programs of the function at a path on arguments of its own, each of the program's `times` times; that for
/// tangents side by side, if it has one.
fn runner(
    program: &Program,
    runner: &str,
    path: &str,
    (times, tangents): (usize, bool),
) -> Result<String, std::fmt::Error> {
    let arguments = program.arguments::<f64>(0);
    let params = program.signature().params.iter().zip(&arguments);
    let params: Vec<_> = params.flat_map(|both| std::iter::repeat_n(both, times)).collect();
    let generics: Vec<&str> = program
        .entry()
        .generics
        .iter()
        .map(|g| match g.kind {
            GenericKind::Const => "3",
            GenericKind::Scalar(_) | GenericKind::Function(_) => "f64",
        })
        .collect();
    let generics = generics.join(", ");
    let mut s = format!(
        "\npub fn {runner}(device: &dyn Device, run: Run, values: &mut [Data], shadows: &mut [Data]) -> Result<(), Error> {{\n",
    );
    let (mut plain, mut both, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    let (mut load, mut store) = (String::new(), String::new());
    for (k, (param, data)) in params.iter().enumerate() {
        writeln!(s, "    let mut a{k} = {};\n    a{k}.store(&values[{k}])?;", start(&param.what, data))?;
        writeln!(
            load,
            "            let mut s{k} = {};\n            s{k}.store(&shadows[{k}])?;",
            shadow(&param.what, k)
        )?;
        writeln!(store, "            shadows[{k}] = s{k}.load();")?;
        plain.push(passed(param, k));
        both.push(passed(param, k));
        beside.push(lent(param, "a", k));
        beside.push(lent(param, "s", k));
        both.push(if param.what == What::Matrix { format!("s{k}.view_mut()") } else { format!("&mut s{k}") });
    }
    let (plain, both, beside) = (plain.join(", "), both.join(", "), beside.join(", "));
    writeln!(s, "    match run {{")?;
    writeln!(s, "        Run::Forward => {path}::run::<{generics}>(device, {plain})?,")?;
    writeln!(s, "        Run::Inverse => {path}::run_inverse::<{generics}>(device, {plain})?,")?;
    writeln!(
        s,
        "        Run::Adjoint => {{\n{load}            {path}::adjoint::<{generics}, 1>(device, {both})?;"
    )?;
    writeln!(s, "{store}        }}")?;
    match tangents {
        true => {
            write!(s, "        Run::Tangents => {{\n{load}")?;
            writeln!(
                s,
                "            {path}::tangents::<{generics}, 1>(device, {beside})?;\n{store}        }}"
            )?;
        }
        false => writeln!(s, "        Run::Tangents => {{}}")?,
    }
    writeln!(s, "    }}")?;
    for k in 0..params.len() {
        writeln!(s, "    values[{k}] = a{k}.load();")?;
    }
    s.push_str("    Ok(())\n}\n");
    Ok(s)
}

/// A value of the type and shape that is filled with the argument.
fn start(what: &What, data: &Data) -> String {
    let length = match data {
        Data::Array(a) => a.shape.clone(),
        _ => Vec::new(),
    };
    match what {
        What::Real => "0.0f64".into(),
        What::Complex => "Complex::new(0.0f64, 0.0)".into(),
        What::Int => "0i64".into(),
        What::Index(_) => "0usize".into(),
        What::Bool => "false".into(),
        What::Reals => format!("vec![0.0f64; {}]", length[0]),
        What::Matrix => format!("Array2::<f64>::zeros(({}, {}))", length[0], length[1]),
        What::Triple { .. } => format!("[0.0f64; {}]", length[0]),
        What::Ints => format!("vec![0i64; {}]", length[0]),
        What::Indices { .. } => format!("vec![0usize; {}]", length[0]),
        What::Duo => "(0.0f64, 0.0f64)".into(),
        What::Body => "Body { mass: 0.0f64, arm: [0.0; 2] }".into(),
        What::Stack(of) => {
            let of = match of {
                Element::Real => "f64",
                Element::Complex => "Complex<f64>",
                Element::Int => "i64",
                Element::Bool => "bool",
            };
            format!("Stack::<{of}>::new()")
        }
        What::Depth => "0usize".into(),
        What::Narrow(_) | What::Function => "()".into(),
    }
}

/// The argument as the signature wants it.
fn passed(param: &Param, k: usize) -> String {
    let written = param.mode == Mode::Write;
    match param.what {
        What::Matrix if written => format!("a{k}.view_mut()"),
        What::Matrix => format!("a{k}.view()"),
        _ if written => format!("&mut a{k}"),
        What::Reals | What::Ints | What::Indices { .. } => format!("&a{k}"),
        _ if param.by_reference => format!("&a{k}"),
        _ => format!("a{k}.clone()"),
    }
}

/// The argument, or its shadow, in place.
fn lent(param: &Param, name: &str, k: usize) -> String {
    match (&param.what, param.mode == Mode::Write) {
        (What::Matrix, true) => format!("{name}{k}.view_mut()"),
        (What::Matrix, false) => format!("{name}{k}.view()"),
        (_, true) => format!("&mut {name}{k}"),
        (_, false) => format!("&{name}{k}"),
    }
}

fn shadow(what: &What, k: usize) -> String {
    match what {
        What::Reals | What::Ints | What::Indices { .. } => {
            format!("a{k}.iter().map(Primal::zero_shadow::<1>).collect::<Vec<_>>()")
        }
        What::Matrix => format!("a{k}.map(|e| e.zero_shadow::<1>())"),
        _ => format!("a{k}.zero_shadow::<1>()"),
    }
}
