//! The arguments of a call: apart where they have to be, each shadow that of the argument before it, and such as the
//! callee takes.

use super::held::storage;
use super::scope::{name, Walk};
use crate::ir::{
    Arg, ArgValue, Axis, Callee, Derived, Direction, Expr, FunctionPath, Mode, Module, Place, Step, VarKind,
};

/// The rules of a call.
pub(super) fn call(walk: &mut Walk, callee: &Callee, direction: Direction, args: &[Arg]) {
    apart(walk, direction, args);
    let by_suffix = match callee {
        Callee::Path(path) => path.is(Derived::Fused) || path.is(Derived::Shadows),
        Callee::Param(_) => false,
    };
    let levels = u32::from(direction.adjoint) + u32::from(by_suffix);
    let even = args.len().is_multiple_of(1 << levels);
    walk.expect(even, |_| "a call of an adjoint has an argument without a shadow".into());
    if levels > 0 && even {
        // of a tangent, the shadow of a value may be that of its tangent: the tangent of an adjoint has it so
        let apart = 1 << levels;
        let together = match callee {
            Callee::Path(path) => path.taken_tangents().0,
            Callee::Param(_) => 1,
        };
        for block in args.chunks(apart * together) {
            for (k, pair) in block.chunks_exact(2).enumerate() {
                let of: Vec<&Arg> = block.iter().skip(2 * k % apart).step_by(apart).collect();
                shadow(walk, direction, (&pair[0], &pair[1]), &of);
            }
        }
    }
    if let (Some(module), Callee::Path(path)) = (walk.module, callee) {
        known(walk, module, path, direction, args);
    }
}

/// What is written is given once, and nothing else of the call reads it.
fn apart(walk: &mut Walk, direction: Direction, args: &[Arg]) {
    let mut given: Vec<Given> = Vec::new();
    for (k, arg) in args.iter().enumerate() {
        match &arg.value {
            ArgValue::Place(place) => {
                let is_shadow = k % (1 << direction.adjoint) != 0;
                given.push(Given { place, mode: arg.mode, is_shadow });
                place.indices().for_each(|e| read_by(e, &mut given));
            }
            ArgValue::Expr(e) => read_by(e, &mut given),
        }
    }
    let stored: Vec<_> = given.iter().map(|g| (storage(walk.function, g.place), g)).collect();
    for (k, (a, one)) in stored.iter().enumerate() {
        for (b, other) in &stored[..k] {
            let harmless = match (one.mode, other.mode) {
                (Mode::Read, Mode::Read) => true,
                // shadows are exclusive
                (Mode::Accumulate, Mode::Accumulate) => !(one.is_shadow && other.is_shadow),
                _ => false,
            };
            let shared = !harmless && a.surely_shares(b);
            walk.expect(!shared, |_| "a call is given a place that it also changes".into());
        }
    }
}

/// A place that a call is given, or that is read for it.
struct Given<'e> {
    place: &'e Place,
    mode: Mode,
    is_shadow: bool,
}

fn read_by<'e>(e: &'e Expr, given: &mut Vec<Given<'e>>) {
    e.each_read(&mut |place| given.push(Given { place, mode: Mode::Read, is_shadow: false }));
}

/// An argument's shadow is a place, used as goes with the argument, and of the same part of the same thing, or of one
/// of others.
fn shadow(walk: &mut Walk, direction: Direction, (arg, shadow): (&Arg, &Arg), others: &[&Arg]) {
    let mode = match arg.mode {
        mode if direction.transposed => mode,
        Mode::Read => Mode::Accumulate,
        Mode::Accumulate => Mode::Read,
        Mode::Write => Mode::Write,
    };
    walk.expect(shadow.mode == mode, |_| "a shadow isn't used as its argument asks".into());
    let ArgValue::Place(shadow) = &shadow.value else {
        return walk.expect(false, |_| "a shadow that is given to a call isn't a place".into());
    };
    let ArgValue::Place(arg) = &arg.value else {
        return walk.expect(false, |_| "an argument that has a shadow is a value without a name".into());
    };
    let Some(Some(of)) = walk.shadow_of.get(shadow.var.0 as usize) else { return };
    let path: Vec<&Step> = of.path.iter().chain(&shadow.path).collect();
    let same = others.iter().any(|other| match &other.value {
        ArgValue::Place(arg) => {
            of.var == arg.var
                && path.len() == arg.path.len()
                && path.iter().zip(&arg.path).all(|(a, b)| same_step(a, b))
        }
        ArgValue::Expr(_) => false,
    });
    let (arg, shadow) = (arg.var, shadow.var);
    walk.expect(same, |f| {
        format!(
            "`{}` is given to a call as the shadow of `{}`, which it isn't",
            name(f, shadow),
            name(f, arg)
        )
    });
}

fn same_step(a: &Step, b: &Step) -> bool {
    let same = |a: &[Expr], b: &[Expr]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b));
    match (a, b) {
        (Step::Index(a), Step::Index(b)) => same(a, b),
        (Step::Part(a), Step::Part(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_axis(a, b)),
        (Step::Field(_) | Step::Element(_) | Step::Index(_) | Step::Part(_) | Step::Re | Step::Im, _) => {
            a == b
        }
    }
}

fn same_axis(a: &Axis, b: &Axis) -> bool {
    match (a, b) {
        (Axis::At(a), Axis::At(b)) => a.same(b),
        (Axis::Range(a, b), Axis::Range(c, d)) => a.same(c) && b.same(d),
        (Axis::Whole, Axis::Whole) => true,
        (Axis::At(_) | Axis::Range(..) | Axis::Whole, _) => false,
    }
}

/// What the callee takes.
fn known(walk: &mut Walk, module: &Module, path: &FunctionPath, direction: Direction, args: &[Arg]) {
    let Some(callee) = module.functions.get(module.resolve(&walk.function.name, path.as_str())) else {
        return;
    };
    let each = 1 << direction.adjoint;
    let right = args.len() == callee.params.len() * each;
    walk.expect(right, |_| {
        format!("`{path}` takes {} arguments, and is given {}", callee.params.len() * each, args.len())
    });
    for (arg, param) in args.iter().step_by(each).zip(&callee.params) {
        let right = matches!(callee.vars.get(param.0 as usize).map(|v| v.kind), Some(VarKind::Param(mode)) if mode == arg.mode);
        walk.expect(right, |_| format!("an argument of `{path}` is given in another way than it takes it"));
    }
}
