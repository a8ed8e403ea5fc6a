//! The programs that the passes make: they satisfy the static rules, read as they are printed, and what is
//! without its dead code, fused or shared gives the bits of the plain one.

use rev_core::check::{check, check_module, Checked};
use rev_core::diag::{Code, Diagnostics};
use rev_core::ir::{Block, Direction, Function, Module, Release, StmtKind};
use rev_core::pass::{adjoint, directed, erase_program, erase_unproven, inverse, Adjoint, Erased, Wanted};
use rev_core::text;
use rev_core::validate::{validate, validate_module, Form};
use rev_core::value::Data;

use super::super::{Failure, Tally};
use super::runs::{alike, apart, interleave, run_forgetting, run_unchecked, Ends, Subject, ADJOINT};
use crate::Program;

/// Whether the functions are accepted, as they are printed.
pub(super) fn static_rules(program: &Program) -> Result<(), Failure> {
    program
        .functions
        .iter()
        .try_for_each(|f| accepted("the static rules accept it", &text::print_function(f)))
}

fn accepted(property: &'static str, source: &str) -> Result<(), Failure> {
    let unread = |e| Failure::new("the text form can be read", format!("{e}\n{source}"));
    let located = text::parse_located(source).map_err(unread)?;
    match check(located) {
        Ok(_) => Ok(()),
        Err(d) => {
            let failure = Failure::new(property, format!("{}\n{source}", d.render("program", source)));
            Err(failure.of_kind(d.iter().next().map_or(Code::Defect, |d| d.code)))
        }
    }
}

/// Whether printing and reading give each function and the module back.
pub(super) fn text_form(program: &Program) -> Result<(), Failure> {
    let property = "the text form gives it back";
    let lost = |what: &str, text: &str| Failure::new(property, format!("{what}\n{text}"));
    for f in &program.functions {
        let clean = text::print_function(f);
        let read = text::parse_function(&clean).map_err(|e| lost(&e.to_string(), &clean))?;
        if read != *f || text::print_function(&read) != clean {
            return Err(lost("printed", &clean));
        }
    }
    let module = program.module().map_err(|e| lost(&e.to_string(), ""))?;
    for text in [text::encode_module(&module), module.to_string()] {
        if text::parse_module(&text).map_err(|e| lost(&e.to_string(), &text))? != module {
            return Err(lost("the module", &text));
        }
    }
    Ok(())
}

/// Inverses and adjoints of each function: programs again, which the static rules accept.
pub(super) fn of_each_function(program: &Program) -> Result<(), Failure> {
    for f in &program.functions {
        let f = check(f.clone()).map_err(|d| Failure::new("the static rules accept it", d.render("", "")))?;
        if inverse(&inverse(&f)) != f {
            return Err(Failure::new("the inverse is an involution", f.to_string()));
        }
        let reversible = adjoint(&f, Adjoint::REVERSIBLE);
        still_right("its inverse is a program", &inverse(&f))?;
        still_right("its adjoint is a program", &reversible)?;
        still_right("its lean adjoint is a program", &adjoint(&f, Adjoint::LEAN))?;
        still_right("the inverse of its adjoint is a program", &inverse(&reversible))?;
    }
    Ok(())
}

/// A pass's result is accepted by the static rules, which it satisfies by construction.
fn still_right(property: &'static str, f: &Checked) -> Result<(), Failure> {
    valid(property, &**f, &f.defects)?;
    valid(property, &**f, &validate(f, Form::Reversible))?;
    // run backwards, a release is where an ancilla's use begins
    let source: String = text::print_function(f)
        .split_inclusive('\n')
        .filter(|line| !line.trim_start().starts_with("release "))
        .collect();
    accepted(property, &source)?;
    let read = text::parse_function(&text::encode_function(f));
    match read.as_ref() == Ok(&**f) {
        true => Ok(()),
        false => Err(Failure::new(property, format!("{read:?}"))),
    }
}

fn valid(
    property: &'static str,
    program: &dyn std::fmt::Display,
    found: &Diagnostics,
) -> Result<(), Failure> {
    match found.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(property, format!("{found:?}\n{program}"))),
    }
}

/// Whatever is made of the module, its functions are programs, and their calls fit.
pub(super) fn of_the_module(program: &Program) -> Result<(), Failure> {
    let failed =
        |e: rev_core::pass::Undirected| Failure::new("the module's programs can be made", e.to_string());
    let module = program.module().map_err(|e| Failure::new("the module is one", e.to_string()))?;
    let module =
        check_module(module).map_err(|d| Failure::new("the module is accepted", format!("{d:?}")))?;
    let (inverse, adjoint) = (module.inverse(), module.adjoint());
    let reversible = [
        ("the inverse is valid", inverse.clone()),
        ("the adjoint is valid", adjoint.clone()),
        ("the adjoint of the inverse is valid", inverse.adjoint()),
        ("the inverse of the adjoint is valid", adjoint.inverse()),
        ("the adjoint of the adjoint is valid", adjoint.adjoint()),
    ];
    for (property, made) in reversible {
        valid(property, &made, &validate_module(&made, Form::Reversible))?;
    }
    let forward = [
        ("the erased program is valid", Some(module.erased().map_err(failed)?)),
        ("the erased adjoint is valid", Some(adjoint.erased().map_err(failed)?)),
        ("the fused program is valid", module.fused()),
    ];
    for (property, made) in forward.into_iter().filter_map(|(p, made)| Some((p, made?))) {
        valid(property, &made, &validate_module(&made, Form::Forward))?;
    }
    valid("the program is valid", &module, &validate_module(&module, Form::Reversible))
}

/// The module about one function more, which calls what the entry calls.
fn about(module: &Module, mut function: Function) -> Module {
    let mut module = module.clone();
    let links = module.links.get(&module.entry).cloned().unwrap_or_default();
    // what calls itself calls the function as it was
    function.name.push_str("::made");
    module.entry = function.name.clone();
    module.links.insert(function.name.clone(), links);
    module.functions.insert(function.name.clone(), function);
    module
}

/// What is left of the program, its inverse and its adjoint without dead code, and that with repeated
/// functions computed once.
pub(super) fn erased(s: &Subject, ends: &Ends) -> Result<(), Failure> {
    let both = interleave(&ends.after, &ends.seeds);
    // one of two for each program: they take as long as the other properties together
    match s.program.seed % 3 {
        0 => same(s, Direction::FORWARD, &ends.before, Wanted::All)
            .and_then(|()| same(s, Direction::INVERSE, &ends.after, Wanted::All)),
        1 => same(s, ADJOINT, &both, Wanted::All),
        _ => same(s, ADJOINT, &both, Wanted::Shadows),
    }
}

fn same(s: &Subject, direction: Direction, args: &[Data], wanted: Wanted) -> Result<(), Failure> {
    let property = "without dead code it gives the same";
    let failed =
        |e: rev_core::error::Error| Failure::new(property, format!("{direction:?}, {wanted:?}: {e}"));
    let program = directed(s.module, &s.module.entry, direction).map_err(|e| failed(e.into()))?;
    let erased = erase_program(&program, wanted);
    let wanted_of = |all: Vec<Data>| match wanted {
        Wanted::All => all,
        // each value is followed by its shadow
        Wanted::Shadows => all.into_iter().skip(1).step_by(2).collect(),
    };
    // what it claims holds, as far as that is kept
    let mut unproven = erase_unproven(&program, wanted).into_inner();
    drop_uncomputed(&mut unproven.body);
    let unproven = Erased::whole(unproven);
    let expected = wanted_of(run_unchecked(&about(s.module, program), args).map_err(failed)?);
    let forms = [
        ("erased", erased.clone(), false),
        ("shared", erased.shared(), false),
        ("with its checks", unproven.shared(), true),
    ];
    for (how, erased, checks) in forms {
        let erased = erased.into_inner();
        let text = format!("{direction:?}, {wanted:?}, {how}\n{erased}");
        let module = about(s.module, erased);
        let found = wanted_of(run_forgetting(&module, args, checks).map_err(failed)?);
        alike(property, &expected, &found, 0.0)
            .map_err(|f| Failure::new(property, f.message + "\n" + &text))?;
    }
    Ok(())
}

fn drop_uncomputed(block: &mut Block) {
    for stmt in block {
        if let StmtKind::Ancilla { release, .. } = &mut stmt.kind {
            if *release == Release::Uncomputed {
                *release = Release::Dropped;
            }
        }
        stmt.blocks_mut().into_iter().for_each(drop_uncomputed);
    }
}

/// The fused program, where there is one, against the program and its adjoint.
pub(super) fn fused(s: &Subject, ends: &Ends, tally: &mut Tally) -> Result<(), Failure> {
    let Some(fused) = s.module.fused() else { return Ok(()) };
    *tally.entry("fused").or_default() += 1;
    let property = "the fused program gives what the two give";
    let failed = |e: rev_core::error::Error| Failure::new(property, e.to_string());
    let plain = |direction: Direction, args: &[Data]| {
        let program = directed(s.module, &s.module.entry, direction).map_err(|e| failed(e.into()))?;
        run_unchecked(&about(s.module, program), args).map_err(failed)
    };
    let after = plain(Direction::FORWARD, &ends.before)?;
    let (_, pulled) = apart(&plain(ADJOINT, &interleave(&after, &ends.seeds))?);
    let expected = interleave(&after, &pulled);
    let found = run_unchecked(&fused, &interleave(&ends.before, &ends.seeds)).map_err(failed)?;
    // a parallel loop's sums are added up in another order
    alike(property, &expected, &found, 1e-12).map_err(|f| {
        let text = fused.entry().map(|f| f.to_string()).unwrap_or_default();
        Failure::new(property, format!("{}\n{text}", f.message))
    })
}
