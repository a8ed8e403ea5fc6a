//! The fused program beside the program and its adjoint, run one after the other: the same bits, and
//! what is left of their statements.

use rev_core::check::check;
use rev_core::interp::Machine;
use rev_core::ir::{Block, Direction, Module, Span, Stmt, StmtKind};
use rev_core::pass::fuse;
use rev_core::text::parse_located;
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg};

use super::module;

const ADJOINT: Direction = Direction::ADJOINT;

fn run(module: &Module, direction: Direction, args: Vec<Data>) -> Vec<Data> {
    let options = Options { checks: false, ..Options::default() };
    let machine = Machine::new(module, &module.entry, direction, args).unwrap();
    let mut machine = machine.with_options(options).forgetting();
    machine.run().unwrap_or_else(|e| panic!("{e}\n{module}"));
    machine.arguments()
}

/// The fused program of a module; its results must be those of the two programs, bit for bit.
fn fused(text: &str, args: &[&dyn DynArg], bars: &[&dyn DynArg]) -> String {
    let module = module(text);
    let fused = module.fused().unwrap_or_else(|| panic!("not fused\n{text}"));
    let args: Vec<Data> = args.iter().map(|a| a.load()).collect();
    let bars: Vec<Data> = bars.iter().map(|a| a.load()).collect();
    let both = |values: &[Data]| values.iter().cloned().zip(bars.clone()).flat_map(|(v, s)| [v, s]).collect();
    let after = run(&module, Direction::FORWARD, args.clone());
    let back: Vec<Data> = run(&module, ADJOINT, both(&after));
    let expected: Vec<Data> =
        after.into_iter().zip(back.into_iter().skip(1).step_by(2)).flat_map(|(v, s)| [v, s]).collect();
    let found = run(&fused, Direction::FORWARD, both(&args));
    let text = fused.functions[&fused.entry].to_string();
    assert_eq!(format!("{expected:?}"), format!("{found:?}"), "{text}");
    text
}

fn bar(v: f64) -> rev_core::scalar::Batch<f64, 1> {
    rev_core::scalar::Batch([v])
}

#[test]
fn uncomputing_and_computing_cancel() {
    let text = fused(
        "fn f(y: &mut f64, x: [f64], n: usize) {
            managed anc a: [f64] = fill(0.0, n) {
                managed anc s: f64 = 0.0 {
                    for i in 0..n { a[i] += x[i] * x[i] }
                    for i in 0..n { s += sin(a[i]) }
                    y += s * s
                }
            }
        }",
        &[&0.25, &vec![0.3, 0.7, 1.9], &3usize],
        &[&bar(1.0), &vec![bar(0.0); 3], &bar(0.0)],
    );
    // two loops there, and one back for each: nothing is computed twice
    assert_eq!(text.matches("for ").count(), 4, "{text}");
    assert_eq!(text.matches("anc a:").count(), 1, "{text}");
    assert_eq!(text.matches("a[i] += x[i]").count(), 1, "{text}");
}

#[test]
fn a_parallel_loop_and_its_adjoint_are_one() {
    let text = fused(
        "fn f(y: &mut [f64], w: f64, x: [f64]) {
            par for i in 0..len(x) {
                managed anc s: f64 = 0.0 { s += w * x[i]; y[i] += exp(s) }
            }
        }",
        &[&vec![1.0, 2.0], &0.7, &vec![0.3, 0.6]],
        &[&vec![bar(1.0), bar(0.5)], &bar(0.0), &vec![bar(0.0); 2]],
    );
    assert_eq!(text.matches("for ").count(), 1, "{text}");
    assert_eq!(text.matches("s += w * x[i]").count(), 1, "{text}");
    assert!(!text.contains("-="), "{text}");
}

/// What the program does last and its adjoint first stands between them, and has nothing to do with either.
#[test]
fn a_parallel_loop_and_its_adjoint_meet_across_other_statements() {
    let text = fused(
        "fn f(y: &mut [f64], z: &mut f64, v: f64, x: [f64]) {
            par for i in 0..len(x) {
                managed anc s: f64 = 0.0 { s += x[i] * x[i]; y[i] += exp(s) }
            }
            z += v * v
        }",
        &[&vec![1.0, 2.0], &0.25, &0.7, &vec![0.3, 0.6]],
        &[&vec![bar(1.0), bar(0.5)], &bar(2.0), &bar(0.0), &vec![bar(0.0); 2]],
    );
    assert_eq!(text.matches("for ").count(), 1, "{text}");
    let between = module(
        "fn f(y: &mut [f64], z: &mut f64, v: f64, x: [f64]) {
            par for i in 0..len(x) {
                managed anc s: f64 = 0.0 { s += v * x[i]; y[i] += exp(s) }
            }
            z += v * v
        }",
    );
    // both add to the same shadow, in this order
    assert_eq!(between.fused().map(|f| f.to_string()), None);
}

/// Of a call of an adjoint the emitted program says what it restores; of fused programs of callees it knows nothing, nor whether
/// callees only add to what they are given.
#[test]
fn a_program_without_others_of_its_callees_is_erased_by_directions() {
    let fused =
        |text: &str| fuse(&check(parse_located(&text.replace("; ", "\n")).unwrap()).unwrap()).unwrap();
    let erased = |text: &str| fused(text).erased();
    let alone = "fn f(y: &mut f64, x: f64) { managed anc s: f64 = 0.0 { s += x * x; y += sin(s) } }";
    assert!(erased(alone).is_some());
    let inside = "fn f(y: &mut f64, x: f64) { managed anc s: f64 = 0.0 { call g(&mut s, x); y += s * s } }";
    let program = erased(inside).unwrap();
    assert!(program.to_string().contains("call adjoint g(&mut s, "), "{}", *program);
    fn adjoint_call(block: &[Stmt]) -> Option<Span> {
        block.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Call { direction, .. } if direction.adjoint > 0 => Some(stmt.span),
            _ => stmt.blocks().into_iter().find_map(|inner| adjoint_call(inner)),
        })
    }
    assert!(program.forgets(adjoint_call(&program.body).unwrap()));
    let meets = "fn f(y: &mut [f64], x: [f64]) { par for i in 0..len(x) { call g(&mut y[i], x[i]) } }";
    assert!(erased(meets).is_none());
    let adds = "fn f(y: &mut f64, x: f64) {
        managed anc s: f64 = 0.0 { s += x * x; call g(&mut y, x); y += s * s }
    }";
    let fused = fused(adds);
    assert_eq!((fused.accumulates.len(), fused.fuses.len()), (1, 0));
    assert!(fused.erased().is_none());
}

/// `g::shadows` is the adjoint of `g`: for an uncall its sign would be wrong.
#[test]
fn the_adjoint_of_an_uncall_is_that_of_the_inverse() {
    let text = "
        fn g(y: &mut f64, x: f64) { y += x * x }
        fn f(y: &mut f64, x: f64) { managed anc s: f64 = 0.0 { s += sin(x); uncall g(&mut y, s) } }";
    assert!(module(text).fused().is_none());
    let ancilla = fused(
        "fn g(y: &mut f64, x: f64) { y += x * x }
         fn f(y: &mut f64, x: f64) {
             managed anc s: f64 = 0.0 { uncall g(&mut s, x); y += s * s }
         }",
        &[&0.25, &0.3],
        &[&bar(1.0), &bar(0.5)],
    );
    assert!(!ancilla.contains("shadows"), "{ancilla}");
}

#[test]
fn branches_meet_where_a_condition_decides_both() {
    let text = fused(
        "fn f(y: &mut f64, x: f64, c: bool) {
            if c { managed anc s: f64 = 0.0 { s += x * x; y += sin(s) } } else { y += x }
        }",
        &[&0.5, &0.7, &true],
        &[&bar(1.0), &bar(0.0), &bar(0.0)],
    );
    assert_eq!((text.matches("if ").count(), text.matches("s += x * x").count()), (1, 1), "{text}");
}

#[test]
fn a_call_and_its_adjoint_are_a_call_of_the_fused_program() {
    let text = fused(
        "fn f(y: &mut [f64], x: [f64]) { par for i in 0..len(x) { call g(&mut y[i], x[i] * 2.0) } }
        fn g(y: &mut f64, x: f64) { managed anc s: f64 = 0.0 { s += x * x; y += sin(s) } }",
        &[&vec![1.0, 2.0], &vec![0.3, 0.6]],
        &[&vec![bar(1.0), bar(0.5)], &vec![bar(0.0); 2]],
    );
    assert!(text.contains("g::fused(") && text.matches("call").count() == 1, "{text}");
}

/// The adjoint names the value before the call; the program computes what it is made of first.
#[test]
fn a_value_is_named_after_what_it_is_computed_from() {
    let text = fused(
        "fn f(y: &mut f64, x: f64) {
            managed anc s: f64 = 0.0 { s += x * x; call g(&mut y, s * 2.0) }
        }
        fn g(y: &mut f64, x: f64) { managed anc s: f64 = 0.0 { s += x * x; y += sin(s) } }",
        &[&0.25, &0.6],
        &[&bar(1.0), &bar(0.0)],
    );
    assert_eq!(text.matches("s += x * x").count(), 1, "{text}");
}

/// What stands between a call and its adjoint adds to the same. The adjoint is given that, which it leaves.
#[test]
fn calls_that_only_add_are_given_what_they_add_to() {
    let text = fused(
        "fn f(y: &mut f64, x: [f64]) {
            call g(&mut y, x[0])
            managed anc s: f64 = 0.0 { s += x[0] * x[1]; y += sin(s) }
        }
        fn g(y: &mut f64, x: f64) { y += x * exp(x) }",
        &[&0.25, &vec![0.6, 0.7]],
        &[&bar(1.0), &vec![bar(0.0); 2]],
    );
    assert!(text.contains("g::shadows(&mut y, "), "{text}");
}

#[test]
fn calls_that_uncompute_cancel_too() {
    let text = fused(
        "fn f(y: &mut f64, x: f64) {
            managed anc s: f64 = 0.0 { call g(&mut s, x); y += s * s }
        }
        fn g(y: &mut f64, x: f64) { y += x * sin(x) }",
        &[&0.0, &0.3],
        &[&bar(1.0), &bar(0.0)],
    );
    // there, and the adjoint, which takes no state back
    assert!(text.contains("g::shadows(") && text.matches("call ").count() == 2, "{text}");
}

#[test]
fn what_reads_what_it_writes_is_not_fused() {
    let state = "fn f(x: &mut f64, v: &mut f64, n: usize) {
        for i in 0..n { v -= x * 0.1; x += v * 0.1 }
    }";
    assert!(module(state).fused().is_none());
    let nothing_meets = "fn f(y: &mut f64, x: [f64]) { for i in 0..len(x) { y += x[i] * x[i] } }";
    assert!(module(nothing_meets).fused().is_none());
}

#[test]
fn arguments_that_are_only_read_are_never_written() {
    let module = module(
        "fn f(y: &mut [f64], w: f64, x: [f64]) {
            par for i in 0..len(x) { managed anc s: f64 = 0.0 { s += w * x[i]; y[i] += exp(s) } }
        }",
    );
    fn written(block: &Block, found: &mut Vec<u32>) {
        for stmt in block {
            stmt.each_place(&mut |p, access| {
                if access != rev_core::ir::Access::Read {
                    found.push(p.var.0);
                }
            });
            assert!(!matches!(stmt.kind, StmtKind::Call { .. }));
            stmt.blocks().into_iter().for_each(|b| written(b, found));
        }
    }
    let fused = module.fused().unwrap();
    let function = &fused.functions[&fused.entry];
    let mut found = Vec::new();
    written(&function.body, &mut found);
    let names: Vec<&str> = found.iter().map(|v| function.vars[*v as usize].name.as_str()).collect();
    assert!(!names.contains(&"x") && !names.contains(&"w") && names.contains(&"x_bar"), "{names:?}");
}
