//! What runs a program: values to start from, and a function that runs the program in each of its ways, or the plain one.

use std::fmt::Write;

use super::tree::*;
use super::Form;
use crate::Dice;

/// The functions `start`, `run`, `run_fixed`, and the constant `FORM` that has all of them.
pub fn runner(form: &Form) -> String {
    let Some(f) = form.functions.last() else { return String::new() };
    let mut out = String::new();
    values(form, f, &mut out);
    run(form, f, "f64", true, &mut out);
    if let Some(fixed) = form.fixed {
        run(form, f, fixed, false, &mut out);
    }
    let list = |of: &dyn Fn(&Param) -> bool| {
        let each: Vec<String> = f.params.iter().map(|p| of(p).to_string()).collect();
        format!("&[{}]", each.join(", "))
    };
    let fixed = form.fixed.map_or("None".to_string(), |name| {
        format!("Some(Fixed {{ name: \"{name}\", start: start_fixed, run: run_fixed }})")
    });
    let _ = write!(
        out,
        "pub static FORM: Case = Case {{ seed: {}, run, start, shadows, fixed: {fixed}, tangent: {}, \
         is_for_gpus: {}, is_constant: {}, is_zero: {}, source: SOURCE }};\n\
         const SOURCE: &str = r#####\"{}{}\"#####;\n",
        form.seed,
        form.tangent,
        form.is_for_gpus(),
        list(&|p| form.is_constant(p)),
        list(&|p| p.zero),
        form.declarations(),
        form.source(),
    );
    out
}

/// `given::<T>()`: an argument for each parameter.
fn values(form: &Form, f: &Function, out: &mut String) {
    let mut dice = Dice::new(form.seed ^ 0x7a1e);
    let t = if form.generic { "T" } else { "f64" };
    let types: String = f.params.iter().map(|p| form.ty(&p.ty, t, "3") + ", ").collect();
    let values: String = f
        .params
        .iter()
        .map(|p| match p.zero {
            true => format!("    vec![{}; {}],\n", if form.is_real(&p.ty) { "0.0" } else { "0" }, form.long),
            false => format!("    {},\n", value(form, &p.ty, &mut dice)),
        })
        .collect();
    let generics = if form.generic { "<T: Real>" } else { "" };
    let _ = write!(out, "fn given{generics}() -> ({types}) {{\n(\n{values})\n}}\n\n");
}

fn value(form: &Form, ty: &Type, dice: &mut Dice) -> String {
    let list = |dice: &mut Dice, of: &Type, n: usize| {
        (0..n).map(|_| value(form, of, dice)).collect::<Vec<_>>().join(", ")
    };
    match ty {
        // multiples of 1/64, which every type has, and a difference in an `f32` too
        Type::Real => format!("r({:?})", number(dice)),
        Type::Of("bool") => dice.chance(50).to_string(),
        Type::Of(name) if name.starts_with('f') => format!("{:?}{name}", number(dice)),
        Type::Of(_) => (dice.below(11) as i64 - 3).to_string(),
        Type::Fixed(n) => format!("[{}]", list(dice, &Type::Real, *n)),
        Type::Ints(n) => format!("[{}]", list(dice, &Type::Of("i64"), *n)),
        Type::Named => format!("[{}]", list(dice, &Type::Real, 3)),
        Type::Pair => format!("({})", list(dice, &Type::Real, 2)),
        Type::Vector(of, n) | Type::Slice(of, n) => format!("vec![{}]", list(dice, of, *n)),
        Type::Matrix(n, m) => {
            let rows: Vec<String> = (0..*n).map(|_| format!("[{}]", list(dice, &Type::Real, *m))).collect();
            format!("ndarray::arr2(&[{}])", rows.join(", "))
        }
        Type::Stack(of) => format!("Stack::from(vec![{}])", list(dice, of, 2)),
        Type::Option(of) => match dice.chance(65) {
            true => format!("Some({})", value(form, of, dice)),
            false => "None".into(),
        },
        Type::Number(System::Odd) => format!("Odd {{ repr: {} }}", dice.below(1 << 32)),
        Type::Number(system) => format!("{system:?} {{ repr: {} }}", value(form, &Type::Real, dice)),
        Type::Declared(name) => match form.declared(name).map(|d| &d.of) {
            Some(Parts::Struct(fields)) => {
                let fields: Vec<String> =
                    fields.iter().map(|(f, ty)| format!("{f}: {}", value(form, ty, dice))).collect();
                format!("{name} {{ {} }}", fields.join(", "))
            }
            Some(Parts::Enum(variants)) => {
                let (variant, fields) = &variants[dice.below(variants.len())];
                let named = fields.first().is_some_and(|(f, _)| f.parse::<usize>().is_err());
                let each: Vec<String> = fields
                    .iter()
                    .map(|(f, ty)| match named {
                        true => format!("{f}: {}", value(form, ty, dice)),
                        false => value(form, ty, dice),
                    })
                    .collect();
                match (each.is_empty(), named) {
                    (true, _) => format!("{name}::{variant}"),
                    (false, true) => format!("{name}::{variant} {{ {} }}", each.join(", ")),
                    (false, false) => format!("{name}::{variant}({})", each.join(", ")),
                }
            }
            None => String::new(),
        },
    }
}

fn number(dice: &mut Dice) -> f64 {
    (dice.below(129) as f64 - 64.0) / 64.0
}

/// The function as it is called with arguments of a scalar type; with derivatives and the plain program, or without.
fn run(form: &Form, f: &Function, scalar: &str, derivatives: bool, out: &mut String) {
    let suffix = if derivatives { "" } else { "_fixed" };
    let names: Vec<String> = (0..f.params.len()).map(|k| format!("a{k}")).collect();
    let mut generics = Vec::new();
    generics.extend(form.generic.then(|| scalar.to_string()));
    generics.extend(form.uses_named(f).then(|| "3".to_string()));
    let with = |more: &[&str]| {
        let all: Vec<&str> = generics.iter().map(String::as_str).chain(more.iter().copied()).collect();
        if all.is_empty() {
            String::new()
        } else {
            format!("::<{}>", all.join(", "))
        }
    };
    let of_values = if form.generic { format!("::<{scalar}>") } else { String::new() };
    let lets = |mutable: bool| {
        let each: Vec<String> =
            names.iter().map(|n| if mutable { format!("mut {n}") } else { n.clone() }).collect();
        let parts: String = each.iter().map(|n| format!("{n}, ")).collect();
        format!("    let ({parts}) = given{of_values}();\n")
    };
    let loads: String = names.iter().map(|n| format!("{n}.load(), ")).collect();
    let _ = write!(out, "fn start{suffix}() -> Vec<Data> {{\n{}    vec![{loads}]\n}}\n\n", lets(false));
    let shadow = |p: &Param, n: &str| match p.ty {
        Type::Slice(..) => format!("{n}.iter().map(Primal::zero_shadow::<1>).collect::<Vec<_>>()"),
        _ => format!("{n}.zero_shadow::<1>()"),
    };
    let store: String =
        names.iter().enumerate().map(|(k, n)| format!("    {n}.store(&values[{k}])?;\n")).collect();
    if derivatives {
        let shadows: String =
            f.params.iter().zip(&names).map(|(p, n)| format!("({}).load(), ", shadow(p, n))).collect();
        let _ = write!(
            out,
            "fn shadows(values: &[Data]) -> Result<Vec<Data>, Error> {{\n{}{store}    Ok(vec![{shadows}])\n}}\n\n",
            lets(true)
        );
    }
    let passed = |p: &Param, n: &str| match (p.written, form.is_reference(p)) {
        (true, _) => format!("&mut {n}"),
        (false, true) => format!("&{n}"),
        (false, false) => format!("{n}.clone()"),
    };
    let plain: Vec<String> = f.params.iter().zip(&names).map(|(p, n)| passed(p, n)).collect();
    let plain = plain.join(", ");
    let (path, run) = (&f.name, with(&[]));
    let _ = write!(
        out,
        "fn run{suffix}(device: &dyn Device, run: Run, values: &mut [Data], shadows: &mut [Data]) -> Result<(), Error> {{\n\
         {}{store}    let outcome = match run {{\n\
         \x20       Run::Keep => Ok(()),\n\
         \x20       Run::Forward => {path}::run{run}(device, {plain}),\n\
         \x20       Run::Inverse => {path}::run_inverse{run}(device, {plain}),\n",
        lets(true)
    );
    if derivatives {
        let begin: String = f
            .params
            .iter()
            .zip(&names)
            .enumerate()
            .map(|(k, (p, n))| {
                format!(
                    "            let mut s{k} = {};\n            s{k}.store(&shadows[{k}])?;\n",
                    shadow(p, n)
                )
            })
            .collect();
        let end: String =
            (0..names.len()).map(|k| format!("            shadows[{k}] = s{k}.load();\n")).collect();
        let both: Vec<String> = f
            .params
            .iter()
            .zip(&names)
            .enumerate()
            .map(|(k, (p, n))| format!("{}, &mut s{k}", passed(p, n)))
            .collect();
        let beside: Vec<String> = f
            .params
            .iter()
            .zip(&names)
            .enumerate()
            .map(|(k, (p, n))| match p.written {
                true => format!("&mut {n}, &mut s{k}"),
                false => format!("&{n}, &s{k}"),
            })
            .collect();
        let generics = with(&["1"]);
        let _ = write!(
            out,
            "        Run::Plain => {{ plain_{path}({plain}); Ok(()) }}\n\
             \x20       Run::PlainBack => {{ plain_{path}_back({plain}); Ok(()) }}\n\
             \x20       Run::Adjoint => {{\n{begin}            let outcome = {path}::adjoint{generics}(device, {});\n{end}\
             \x20           outcome\n        }}\n",
            both.join(", ")
        );
        if form.tangent {
            let bars: String = (0..names.len())
                .map(|k| {
                    format!(
                        "            let (mut b{k}, mut t{k}) = (a{k}.clone(), s{k}.clone());\n\
                         \x20           b{k}.store(&bars[{k}])?;\n            t{k}.store(&bar_dots[{k}])?;\n"
                    )
                })
                .collect();
            let four: Vec<String> =
                beside.iter().enumerate().map(|(k, both)| format!("{both}, &mut b{k}, &mut t{k}")).collect();
            let kept: String = (0..names.len())
                .map(|k| {
                    format!(
                        "            bars[{k}] = b{k}.load();\n            bar_dots[{k}] = t{k}.load();\n"
                    )
                })
                .collect();
            let _ = write!(
                out,
                "        Run::Second => {{\n            let (values, bars) = values.split_at_mut({0});\n\
                 \x20           let (shadows, bar_dots) = shadows.split_at_mut({0});\n{begin}{bars}\
                 \x20           let outcome = {path}::adjoint_tangents{generics}(device, {1});\n{end}{kept}\
                 \x20           outcome\n        }}\n",
                names.len(),
                four.join(", "),
            );
            let _ = write!(
                out,
                "        Run::Tangents => {{\n{begin}            let outcome = {path}::tangents{generics}(device, {});\n{end}\
                 \x20           outcome\n        }}\n",
                beside.join(", ")
            );
        } else {
            out.push_str("        Run::Tangents | Run::Second => Ok(()),\n");
        }
    } else {
        out.push_str(
            "        Run::Plain | Run::PlainBack | Run::Adjoint | Run::Tangents | Run::Second => Ok(()),\n",
        );
    }
    out.push_str("    };\n");
    for (k, n) in names.iter().enumerate() {
        let _ = writeln!(out, "    values[{k}] = {n}.load();");
    }
    out.push_str("    outcome\n}\n\n");
}
