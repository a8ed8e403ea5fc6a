//! Fusing on generated programs: the fused program gives what the program and its adjoint give one
//! after the other, run without checks on the interpreter.
//!
//! Most generated programs read what they write, and have no fused program. So each is also put into
//! one that has: its results in ancillas, from which a loss is accumulated.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use rev_core::check::check;
use rev_core::interp::Machine;
use rev_core::ir::{
    Arg, ArgValue, Callee, Direction, Expr, ExprKind, Function, Mode, Module, Place, Release, Stmt, StmtKind,
    Type, UpdateOp, Var, VarId, VarKind,
};
use rev_core::tolerance::Options;
use rev_core::value::Data;
use rev_testgen::reals::{cotangent, difference};
use rev_testgen::{Dice, Program};

const COUNT: u64 = 400;

fn run(module: &Module, direction: Direction, args: &[Data]) -> Vec<Data> {
    let options = Options { checks: false, ..Options::default() };
    let machine = Machine::new(module, &module.entry, direction, args.to_vec());
    let mut machine = machine.unwrap().with_options(options).forgetting();
    machine.run().unwrap_or_else(|e| panic!("{e}\n{module}"));
    machine.arguments()
}

/// A function that calls the entry on ancillas where it writes numbers, and adds these to a loss; what
/// else is written must not be there.
fn around(module: &Module) -> Option<Module> {
    let inner = &module.functions[&module.entry];
    let mut out = Function {
        name: "around".into(),
        params: Vec::new(),
        vars: Vec::new(),
        body: Vec::new(),
        ..inner.clone()
    };
    let t = Type::Generic(inner.generics.first()?.name.clone());
    let var = |name: &str, ty: &Type, kind| Var {
        name: name.into(),
        ty: ty.clone(),
        kind,
        span: rev_core::ir::Span::NONE,
    };
    let loss = out.add_var(var("loss", &t, VarKind::Param(Mode::Write)));
    out.params.push(loss);
    let (mut args, mut own): (Vec<Arg>, Vec<VarId>) = (Vec::new(), Vec::new());
    for param in &inner.params {
        let Var { name, ty, kind: VarKind::Param(mode), .. } = inner.var(*param) else { return None };
        if *mode == Mode::Read {
            let copy = out.add_var(var(name, ty, VarKind::Param(Mode::Read)));
            out.params.push(copy);
            args.push(Arg { mode: Mode::Read, value: ArgValue::Place(Place::var(copy)) });
        } else {
            let ancilla = (*ty == t).then(|| out.add_var(var(name, ty, VarKind::Ancilla)))?;
            own.push(ancilla);
            args.push(Arg { mode: *mode, value: ArgValue::Place(Place::var(ancilla)) });
        }
    }
    let name = module.entry.rsplit("::").next()?.to_string();
    let callee = Callee::Path(name.clone());
    let mut body = vec![Stmt::new(StmtKind::Call { callee, direction: Direction::FORWARD, args })];
    body.extend(own.iter().map(|v| {
        let value = Expr::read(Place::var(*v));
        Stmt::new(StmtKind::Update {
            op: UpdateOp::Add,
            place: Place::var(loss),
            expr: value.clone() * value,
        })
    }));
    for ancilla in own.into_iter().rev() {
        let half = rev_core::ir::Number::Float(0.5);
        let init = Expr::new(ExprKind::Literal(half, Some(t.clone())));
        body = vec![Stmt::new(StmtKind::Ancilla { var: ancilla, init, release: Release::Managed, body })];
    }
    out.body = body;
    let out = check(out).ok()?.into_inner();
    let mut module = module.clone();
    let links = [(name, module.entry.clone())].into_iter().collect();
    module.links.insert("around".into(), links);
    module.functions.insert("around".into(), out);
    module.entry = "around".into();
    Some(module)
}

/// Compares a module's fused program, if it has one; how often something is compared.
fn same(seed: u64, module: &Module, args: &[Data]) -> usize {
    let Some(fused) = module.fused() else { return 0 };
    let mut dice = Dice::new(seed);
    let after = run(module, Direction::FORWARD, args);
    let seeds: Vec<Data> = after.iter().map(|d| cotangent(d, &mut dice)).collect();
    let both = |values: &[Data]| -> Vec<Data> {
        values.iter().cloned().zip(seeds.clone()).flat_map(|(v, s)| [v, s]).collect()
    };
    let back = run(module, Direction { adjoint: 1, inverse: false }, &both(&after));
    let shadows = back.into_iter().skip(1).step_by(2);
    let expected: Vec<Data> = after.into_iter().zip(shadows).flat_map(|(v, s)| [v, s]).collect();
    let found = run(&fused, Direction::FORWARD, &both(args));
    assert!(
        difference(&expected, &found) == 0.0,
        "seed {seed}: {expected:?}, fused {found:?}\n{}\n{}",
        module.functions[&module.entry],
        fused.functions[&fused.entry]
    );
    1
}

#[test]
fn the_fused_program_gives_the_same() {
    let (mut own, mut wrapped) = (0, 0);
    for seed in 0..COUNT {
        let program = Program::generate(seed, "program");
        let module = program.checked_module().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let args = program.arguments::<f64>(1);
        own += same(seed, &module, &args);
        if let Some(around) = around(&module) {
            let inner = &module.functions[&module.entry];
            let read = inner
                .params
                .iter()
                .zip(&args)
                .filter(|(p, _)| matches!(inner.var(**p).kind, VarKind::Param(Mode::Read)));
            let loss = rev_core::value::DynArg::load(&0.25);
            let args: Vec<Data> = std::iter::once(loss).chain(read.map(|(_, a)| a.clone())).collect();
            wrapped += same(seed, &around, &args);
        }
    }
    assert!(own + wrapped > 0, "no program was fused");
    println!("{own} and {wrapped} programs");
}
