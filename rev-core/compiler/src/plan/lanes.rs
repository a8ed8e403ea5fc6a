//! What runs in lanes: the statements of several iterations at once, of a loop or of a function that such a loop calls.

use std::collections::BTreeSet;

use crate::facts::accumulated_by;
use crate::ir::{
    Access, Arg, ArgValue, Block, Callee, Class, Expr, ExprKind, Function, Mode, Place, Pure, Step, Stmt,
    StmtKind, Type, VarId, VarKind,
};

use super::vary::written;
use super::{handles, loan, Varying};
use crate::ops::Instr;

/// The most parts that a tuple in lanes has.
const LARGEST_TUPLE: usize = 8;

/// Statements that run in lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    /// The values that differ between lanes.
    pub varying: Varying,
    /// The arrays from outside into which iterations only accumulate.
    pub shared: BTreeSet<VarId>,
}

impl Lanes {
    /// Those of a function that lanes call, where some parameters are the same in all of them; `None` where it
    /// can't run in lanes.
    pub fn of_function(function: &Function, uniform: &BTreeSet<VarId>) -> Option<Lanes> {
        let arrays = handles(function);
        let own = |var: &VarId| !uniform.contains(var) && !arrays.contains(var);
        let packs = function.params.iter().copied().filter(own).collect();
        let varying = Varying::of_function(packs, &function.body);
        if !is_laned(function, &varying, &function.body) {
            return None;
        }
        let arrays: BTreeSet<VarId> =
            function.params.iter().copied().filter(|var| arrays.contains(var)).collect();
        // which element of its own array a lane hands on to be changed isn't known here
        if function.body.iter().any(|s| hands_on(s, &arrays)) {
            return None;
        }
        let shared = arrays.into_iter().filter(|&var| accumulated_by(function, var).is_some()).collect();
        Some(Lanes { varying, shared })
    }

    /// Those of a pure function, all of whose parameters and names differ between lanes; `None` where it can't run in lanes.
    pub fn of_pure(pure: &Pure) -> Option<Lanes> {
        let laned = is_laned_type(&pure.result_type)
            && pure.vars.iter().all(|var| is_laned_type(&var.ty))
            && has_short_tuples(&pure.result);
        let all: BTreeSet<VarId> = (0..pure.vars.len()).map(|k| VarId(k as u32)).collect();
        let varying = Varying { packs: all.clone(), own: all, ..Varying::default() };
        laned.then_some(Lanes { varying, shared: BTreeSet::new() })
    }
}

/// The parameters that are integers or truth values which the function only reads. They are most often
/// the same in all lanes: sizes and numbers that choose. Where all of them are, another program runs, in
/// which they are plain values.
pub fn counts(function: &Function) -> BTreeSet<VarId> {
    let counts = |var: &VarId| {
        let var = function.var(*var);
        let number = matches!(&var.ty, Type::Scalar(t) if t.class() != Class::Real);
        number && var.kind == VarKind::Param(Mode::Read)
    };
    function.params.iter().copied().filter(counts).collect()
}

/// Whether a statement passes an element of one of the arrays to be changed by a call.
fn hands_on(stmt: &Stmt, arrays: &BTreeSet<VarId>) -> bool {
    let changed = |arg: &Arg| match &arg.value {
        ArgValue::Place(q) => arg.mode == Mode::Write && arrays.contains(&q.var) && !q.path.is_empty(),
        ArgValue::Expr(_) => false,
    };
    let own = matches!(&stmt.kind, StmtKind::Call { args, .. } if args.iter().any(changed));
    own || stmt.blocks().into_iter().flatten().any(|s| hands_on(s, arrays))
}

/// Whether the statements of a loop or of a function can run in lanes: they have no stacks, structs,
/// functions as values, products of arrays or foreign code, and name arrays of their own only element by element.
pub fn is_laned(function: &Function, varying: &Varying, block: &Block) -> bool {
    let known = |var: &VarId| is_laned_type(&function.var(*var).ty);
    varying.own.iter().all(known) && block.iter().all(|s| is_laned_stmt(function, varying, s))
}

fn is_laned_stmt(function: &Function, varying: &Varying, stmt: &Stmt) -> bool {
    let array = |q: &Place| is_whole_array(function, q);
    let own = match &stmt.kind {
        StmtKind::Push { .. } | StmtKind::Pop { .. } | StmtKind::External { .. } => false,
        StmtKind::Update { place, .. } => !array(place),
        // an element that is the same for all lanes can only be added to
        StmtKind::Instr { instr, places, .. } => {
            let each = |q: &Place| varying.own.contains(&q.var) || varying.place(q);
            // what is exchanged has to be of one shape, which is compared one by one
            let lent = |q: &Place| {
                *instr == Instr::Swap
                    && loan(function, q.var).is_some()
                    && has_unknown(&function.var(q.var).ty)
            };
            !places.iter().any(array) && places.iter().all(each) && !places.iter().any(lent)
        }
        StmtKind::Call { callee, args, .. } => {
            let passed = |q: &Place| !(array(q) && varying.own.contains(&q.var));
            matches!(callee, Callee::Path(_))
                && has_parts_apart(varying, args)
                && args.iter().all(|a| match &a.value {
                    ArgValue::Place(q) => passed(q),
                    ArgValue::Expr(e) => match &e.kind {
                        ExprKind::Read(q) => passed(q),
                        ExprKind::Function(_) => false,
                        _ => true,
                    },
                })
        }
        // the shape of an array is the same for all lanes
        StmtKind::Ancilla { init, .. } => match &init.kind {
            ExprKind::Fill(_, shape) => !shape.iter().any(|e| varying.expr(e)),
            ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) if array(q) => {
                !q.indices().any(|e| varying.expr(e))
            }
            _ => true,
        },
        StmtKind::Let { expr, .. } => match &expr.kind {
            ExprKind::Read(q) => !array(q),
            ExprKind::Function(_) => false,
            _ => true,
        },
        // what a loop inside declares of its iterations is asked of each of them
        StmtKind::For { parallel, .. } => {
            parallel.as_ref().is_none_or(|p| p.disjoint.is_empty() && p.injective.is_empty())
        }
        StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::Compute { .. }
        | StmtKind::Release { .. }
        | StmtKind::Unchecked { .. }
        | StmtKind::Inverse { .. } => true,
    };
    let mut products = false;
    let mut shaped = true;
    stmt.each_expr(&mut |e| {
        products |= has_product(e);
        shaped &= is_shaped(function, varying, e) && has_short_tuples(e);
    });
    let mut places = true;
    let called = matches!(stmt.kind, StmtKind::Call { .. });
    let mut see = |q: &Place, _: Access| {
        places &= is_laned_place(function, varying, q) && (called || !is_own_part(varying, q));
    };
    stmt.each_access(&mut see);
    own && places
        && shaped
        && !products
        && stmt.blocks().into_iter().flatten().all(|s| is_laned_stmt(function, varying, s))
}

/// Whether an expression asks for lengths of the same array in all lanes only.
fn is_shaped(function: &Function, varying: &Varying, e: &Expr) -> bool {
    let mut shaped = match &e.kind {
        ExprKind::Len(q, _) => {
            is_laned_place(function, varying, q) && !q.path.iter().any(|step| chooses(varying, step))
        }
        ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) => is_laned_place(function, varying, q),
        _ => true,
    };
    e.each_child(&mut |c| shaped &= is_shaped(function, varying, c));
    shaped
}

/// Whether no tuple in an expression has more parts than one in lanes may have; partial derivatives are one.
fn has_short_tuples(e: &Expr) -> bool {
    let mut short = match &e.kind {
        ExprKind::Tuple(parts) | ExprKind::Partials(_, parts) => parts.len() <= LARGEST_TUPLE,
        ExprKind::Pure(path, args) => path.taken_partials().1 == 0 || args.len() <= LARGEST_TUPLE,
        _ => true,
    };
    e.each_child(&mut |c| short &= has_short_tuples(c));
    short
}

/// Parts of arrays are the same for all lanes but as arguments of calls, and not of arrays that are the
/// lanes' own; fields are those of complex numbers.
fn is_laned_place(function: &Function, varying: &Varying, q: &Place) -> bool {
    let mut path = q.path.iter();
    is_laned_type(&function.var(q.var).ty)
        && q.path.iter().filter(|step| chooses(varying, step)).count() <= 1
        && path.all(|step| match step {
            Step::Field(_) => false,
            Step::Part(_) => !varying.own.contains(&q.var) && (q.path.len() == 1 || !varying.place(q)),
            Step::Element(_) | Step::Index(_) | Step::Re | Step::Im => true,
        })
}

/// Whether a place is a part of an array of which each lane has another one.
pub fn is_own_part(varying: &Varying, q: &Place) -> bool {
    q.is_part() && varying.place(q)
}

/// Whether nothing has to be compared in a call whose arguments are parts of arrays that differ between lanes, or
/// whose other arguments do.
fn has_parts_apart(varying: &Varying, args: &[Arg]) -> bool {
    let places = |arg: &'_ Arg| match &arg.value {
        ArgValue::Place(q) => Some((q.clone(), arg.mode != Mode::Read)),
        ArgValue::Expr(_) => None,
    };
    let places: Vec<(Place, bool)> = args.iter().filter_map(places).collect();
    places.iter().enumerate().all(|(k, (q, written))| {
        let others = || places[..k].iter().chain(&places[k + 1..]);
        !q.is_part()
            || !others()
                .any(|(r, w)| r.var == q.var && (*written || *w) && (varying.place(q) || varying.place(r)))
    })
}

/// Whether an expression has a product or a sum of arrays in it.
fn has_product(e: &Expr) -> bool {
    let mut found = matches!(e.kind, ExprKind::Contract(..));
    e.each_child(&mut |c| found |= has_product(c));
    found
}

/// Whether a statement passes one of the variables to a call that may change it.
pub fn passes(stmt: &Stmt, vars: &BTreeSet<VarId>) -> bool {
    let changed = |args: &[Arg]| written(args).any(|q| vars.contains(&q.var));
    let own = matches!(&stmt.kind, StmtKind::Call { args, .. } if changed(args));
    own || stmt.blocks().into_iter().flatten().any(|s| passes(s, vars))
}

/// Whether a step of a path chooses another element for each lane.
fn chooses(varying: &Varying, step: &Step) -> bool {
    step.exprs().any(|e| varying.expr(e))
}

/// Whether a place is an array of run-time shape, or a part of one.
pub fn is_whole_array(function: &Function, q: &Place) -> bool {
    match q.path.last() {
        None => function.var(q.var).ty.is_array(),
        Some(step) => matches!(step, Step::Part(_)),
    }
}

fn has_unknown(ty: &Type) -> bool {
    match ty {
        Type::Array(t, _) | Type::Shadow(t) => has_unknown(t),
        ty => *ty == Type::Unknown,
    }
}

fn is_laned_type(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) | Type::Unknown => true,
        Type::Array(t, _) | Type::Fixed(t, _) | Type::Shadow(t) => is_laned_type(t),
        Type::Tuple(ts) => ts.len() <= LARGEST_TUPLE && ts.iter().all(is_laned_type),
        Type::Struct(..) | Type::Stack(_) | Type::Function(_) => false,
    }
}
