//! Writes random programs as Rust source, each with a function that runs it on any device.
//!
//! `REV_PROGRAMS` says how many, `REV_SEED` from which seed on, as for every suite. They are spread over as
//! many files as there are test targets, which cargo compiles side by side.

use std::fmt::Write;
use std::path::PathBuf;

use rev_core::ir::{GenericKind, Mode};
use rev_core::value::Data;
use rev_testgen::forms::{Form, ODD};
use rev_testgen::suite::{COMPILED, FORMS};
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
    std::fs::write(folder.join("odd.rs"), ODD)?;
    std::fs::write(folder.join("forms.rs"), forms(FORMS.seeds()?))?;
    Ok(())
}

/// The programs of source forms, each in a module, and the list of them.
fn forms(seeds: impl Iterator<Item = u64>) -> String {
    let (mut out, mut cases) = (String::new(), String::new());
    for seed in seeds {
        let allowed = "#![allow(unused, unreachable_patterns, overlapping_range_endpoints, non_snake_case, clippy::all, clippy::unwrap_used)]";
        let text = Form::generate(seed).module();
        out += &format!(
            "mod form_{seed} {{\n{allowed}\nuse rev_testgen_compiled::forms_prelude::*;\n{text}}}\n"
        );
        cases += &format!("&form_{seed}::FORM, ");
    }
    out + &format!("/// The programs.\npub static FORMS: &[&Case] = &[{cases}];\n")
}

/// The programs of some seeds, each in a module, and the list of them.
fn programs(seeds: impl Iterator<Item = u64>) -> Result<String, Failure> {
    let (mut out, mut cases) = (String::new(), String::new());
    for seed in seeds {
        let name = format!("program_{seed}");
        let program = Program::compiled(seed, &name);
        let own = parameters(&program);
        write!(
            out,
            "mod {name}_ {{\n#![allow(unused_imports, clippy::all)]\nuse rev_testgen_compiled::prelude::*;\n{}",
            program.rust()
        )?;
        let function = runners(&mut out, &program, &own)?;
        let adjoint = match program.has_adjoint() {
            true => {
                let caller = program.calling_adjoint()?;
                out.push_str(&caller.rust_with([(program.has_tangent(), "tangent"), (false, "adjoint")]));
                let twice = own.iter().flat_map(|(_, data)| [data.clone(), data.clone()]);
                let both: Vec<_> = caller.signature().params.iter().cloned().zip(twice).collect();
                format!("Some({})", runners(&mut out, &caller, &both)?)
            }
            false => "None".into(),
        };
        out.push_str("}\n");
        writeln!(cases, "    Cases {{ seed: {seed}, function: {function}, adjoint: {adjoint} }},")?;
    }
    writeln!(out, "/// The programs with their seeds.\npub static CASES: &[Cases] = &[\n{cases}];")?;
    Ok(out)
}

/// Writes functions that run a program on arguments of its own in every way that it has; the list of them.
fn runners(out: &mut String, program: &Program, own: &[Given]) -> Result<String, Failure> {
    let (name, module) = (&program.entry().name, format!("program_{}_", program.seed));
    let has_tangent = program.has_tangent();
    out.push_str(&runner(program, &format!("run_{name}"), name, (own, has_tangent))?);
    let (mut tangent, mut matrix) = ("None".to_string(), "None".to_string());
    if has_tangent {
        let twice: Vec<Given> = own.iter().flat_map(|given| [given.clone(), given.clone()]).collect();
        let path = format!("<{name} as HasTangent>::Tangent");
        out.push_str(&runner(program, &format!("run_tangent_of_{name}"), &path, (&twice, false))?);
        tangent = format!("Some({module}::run_tangent_of_{name})");
    }
    if has_tangent && writes_reals(program) {
        out.push_str(&jacobian(program, name, own)?);
        matrix = format!("Some({module}::jacobian_of_{name})");
    }
    Ok(format!(
        "rev_testgen_compiled::Runners {{ function: {module}::run_{name}, tangent: {tangent}, \
         jacobian: {matrix} }}"
    ))
}

type Failure = Box<dyn std::error::Error>;

/// A parameter, and something that has the type and shape of its argument.
type Given = (Param, Data);

fn parameters(program: &Program) -> Vec<Given> {
    program.signature().params.iter().cloned().zip(program.arguments::<f64>(0)).collect()
}

/// Whether something is written that carries a derivative: else there is no Jacobian.
fn writes_reals(program: &Program) -> bool {
    let f = program.entry();
    let params = f.params.iter().zip(&program.signature().params);
    params.into_iter().any(|(var, param)| {
        let inactive = f.constants.contains(var) || f.var(*var).ty.is_inactive(&f.generics);
        param.mode == Mode::Write && !inactive
    })
}

/// The function's Jacobian on arguments of its own, by columns or by rows.
fn jacobian(program: &Program, path: &str, params: &[Given]) -> Result<String, Failure> {
    let mut s = format!(
        "\npub fn jacobian_of_{path}(device: &dyn Device, by_rows: bool, values: &[Data]) -> \
         Result<DerivativeMatrix, Error> {{\n",
    );
    let mut given = Vec::new();
    for (k, (param, data)) in params.iter().enumerate() {
        writeln!(s, "    let mut a{k} = {};\n    a{k}.store(&values[{k}])?;", start(&param.what, data))?;
        given.push(match param.mode == Mode::Write {
            true => lent(&Param { mode: Mode::Read, ..param.clone() }, "a", k),
            false => passed(param, k),
        });
    }
    let (generics, given) = (generics(program), given.join(", "));
    writeln!(s, "    let wrt = if by_rows {{ {path}::ALL.reverse() }} else {{ {path}::ALL.forward() }};")?;
    writeln!(s, "    {path}::jacobian_wrt::<{generics}>(device, wrt, {given})\n}}")?;
    Ok(s)
}

/// The arguments for the program's generics.
fn generics(program: &Program) -> String {
    let generics: Vec<&str> = program
        .entry()
        .generics
        .iter()
        .map(|g| match g.kind {
            GenericKind::Const => "3",
            GenericKind::Scalar(_) | GenericKind::Function(_) => "f64",
        })
        .collect();
    generics.join(", ")
}

/// One of the programs of the function at a path on arguments of its own; that for tangents side by side, if it has one.
fn runner(
    program: &Program,
    runner: &str,
    path: &str,
    (params, tangents): (&[Given], bool),
) -> Result<String, Failure> {
    let generics = generics(program);
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
    writeln!(s, "    let outcome = match run {{")?;
    writeln!(s, "        Run::Forward => {path}::run::<{generics}>(device, {plain}),")?;
    writeln!(s, "        Run::Inverse => {path}::run_inverse::<{generics}>(device, {plain}),")?;
    let adjoint = format!("{path}::adjoint::<{generics}, 1>(device, {both})");
    writeln!(s, "        Run::Adjoint => {{\n{load}            let outcome = {adjoint};")?;
    writeln!(s, "{store}            outcome\n        }}")?;
    match tangents {
        true => {
            write!(s, "        Run::Tangents => {{\n{load}")?;
            let tangents = format!("{path}::tangents::<{generics}, 1>(device, {beside})");
            writeln!(s, "            let outcome = {tangents};\n{store}            outcome\n        }}")?;
        }
        false => writeln!(s, "        Run::Tangents => Ok(()),")?,
    }
    writeln!(s, "    }};")?;
    for k in 0..params.len() {
        writeln!(s, "    values[{k}] = a{k}.load();")?;
    }
    s.push_str("    outcome\n}\n");
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
        What::Rows => format!("vec![[0.0f64; 3]; {}]", length[0]),
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
        What::Mixed | What::Narrow(_) | What::Function => "()".into(),
    }
}

/// The argument as the signature wants it.
fn passed(param: &Param, k: usize) -> String {
    let written = param.mode == Mode::Write;
    match param.what {
        What::Matrix if written => format!("a{k}.view_mut()"),
        What::Matrix => format!("a{k}.view()"),
        _ if written => format!("&mut a{k}"),
        What::Reals | What::Rows | What::Ints | What::Indices { .. } => format!("&a{k}"),
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
        What::Reals | What::Rows | What::Ints | What::Indices { .. } => {
            format!("a{k}.iter().map(Primal::zero_shadow::<1>).collect::<Vec<_>>()")
        }
        What::Matrix => format!("a{k}.map(|e| e.zero_shadow::<1>())"),
        _ => format!("a{k}.zero_shadow::<1>()"),
    }
}
