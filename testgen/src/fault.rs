//! Faults planted in programs: a statement in a loop that breaks a promise in one iteration, which an argument names.

use rev_core::check::check_module;
use rev_core::ir::*;
use rev_core::ops::{Func, Instr};

use crate::dice::Dice;
use crate::prelude;
use crate::scope::What;
use crate::signature::Param;
use crate::Program;

/// An iteration that no loop reaches.
const NEVER: usize = 1_000_000;

/// How often another place or fault is tried where the program would not be accepted.
const TRIES: usize = 20;

impl Program {
    /// The program with a parameter more, and in one of its loops a statement that fails in the iteration in which the
    /// loop's variable has the parameter's value. `None` where no place is found.
    pub fn with_fault(&self) -> Option<Program> {
        let mut dice = Dice::new(self.seed.wrapping_add(3 << 32));
        let entry = self.entry();
        if self.signature().params.iter().any(|p| p.what == What::Depth) {
            return None;
        }
        let mut counted = entry.clone();
        let places = each_place(&mut counted.body, None, &mut |_, _, _| {});
        if places == 0 {
            return None;
        }
        (0..TRIES).find_map(|_| {
            let mut program = self.clone();
            let function = program.functions.last_mut()?;
            let usize = Type::Scalar(ScalarType::Usize);
            let name = "fault".to_string();
            let var =
                Var { name: name.clone(), ty: usize, kind: VarKind::Param(Mode::Read), span: Span::NONE };
            let fault = function.add_var(var);
            function.params.push(fault);
            let param = Param { name, what: What::Index(NEVER), mode: Mode::Read, by_reference: false };
            program.signatures.last_mut()?.params.push(param);
            let (at, kind) = (dice.below(places), dice.below(5));
            let mut body = std::mem::take(&mut function.body);
            let mut seen = 0;
            let mut planted = false;
            each_place(&mut body, None, &mut |block, k, index| {
                if seen == at {
                    let statement = statement(function, kind, same(index, fault));
                    planted = statement.is_some();
                    statement.into_iter().for_each(|s| block.insert(k, s));
                }
                seen += 1;
            });
            function.body = body;
            let accepted =
                planted && prelude::with(&program.functions).is_ok_and(|m| check_module(m).is_ok());
            accepted.then_some(program)
        })
    }

    /// Which argument of a program with a fault says when it fails.
    pub fn fault(&self) -> Option<usize> {
        self.signature().params.iter().position(|p| p.what == What::Index(NEVER))
    }
}

/// Calls `f` on each place for a statement that belongs to one loop alone, with the loop's variable, and counts them. `f` may
/// insert a statement there.
fn each_place(block: &mut Block, index: Option<VarId>, f: &mut dyn FnMut(&mut Block, usize, VarId)) -> usize {
    let mut places = 0;
    for stmt in block.iter_mut() {
        let inner = match (&stmt.kind, index) {
            (StmtKind::For { var, .. }, None) => Some(*var),
            (StmtKind::Let { .. } | StmtKind::Ancilla { .. } | StmtKind::If { .. }, index) => index,
            // what runs more than once in an iteration, or backwards
            _ => continue,
        };
        places += stmt.blocks_mut().into_iter().map(|b| each_place(b, inner, f)).sum::<usize>();
    }
    if let Some(index) = index {
        let count = block.len() + 1;
        // from the end, so that what is inserted moves no place that is still to come
        (0..count).rev().for_each(|k| f(block, k, index));
        places += count;
    }
    places
}

/// Whether the loop's variable has the value of the parameter.
fn same(index: VarId, fault: VarId) -> Expr {
    let wide = |v| {
        let e = Box::new(Expr::read(Place::var(v)));
        Expr::new(ExprKind::Cast(e, Type::Scalar(ScalarType::I64)))
    };
    Expr::func(Func::Eq, vec![wide(index), wide(fault)])
}

fn update(op: UpdateOp, place: Place, expr: Expr) -> Stmt {
    Stmt::new(StmtKind::Update { op, place, expr })
}

/// A statement that fails where `now` holds, and otherwise changes nothing: it works on an ancilla of its own.
fn statement(function: &mut Function, kind: usize, now: Expr) -> Option<Stmt> {
    let choice = |then: i128, otherwise: i128| now.clone().choose(Expr::int(then), Expr::int(otherwise));
    let real = Type::Generic("T".into());
    let int = Type::Scalar(ScalarType::I64);
    let both = |place: Place, e: Expr| {
        vec![update(UpdateOp::Add, place.clone(), e.clone()), update(UpdateOp::Sub, place, e)]
    };
    let array = function.params.iter().copied().find(|p| {
        let var = function.var(*p);
        matches!(&var.ty, Type::Array(t, Rank::Fixed(1)) if **t == real)
            && var.kind == VarKind::Param(Mode::Read)
    });
    let ty = match kind {
        0 | 2 => real.clone(),
        1 | 3 => int,
        _ => Type::Fixed(Box::new(real.clone()), Length::Literal(3)),
    };
    let zero = |of: &Type| Expr::new(ExprKind::Literal(Number::Int(0), Some(of.clone())));
    let init = match &ty {
        Type::Fixed(..) => Expr::new(ExprKind::Repeat(Box::new(zero(&real)), Box::new(Expr::index(3)))),
        ty => zero(ty),
    };
    let var = function.add_var(Var { name: "planted".into(), ty, kind: VarKind::Ancilla, span: Span::NONE });
    let own = Place::var(var);
    let mut body = match kind {
        // left with another value
        0 => vec![update(UpdateOp::Add, own, choice(1, 0))],
        // a division by zero
        1 => both(own, Expr::func(Func::Quot, vec![Expr::int(7), choice(0, 2)])),
        // an index out of range
        2 => {
            let element = Place::var(array?).with(Step::Index(vec![choice(NEVER as i128, 0)]));
            both(own, Expr::read(element))
        }
        // a postcondition that doesn't hold
        3 => {
            let post = Expr::func(Func::Eq, vec![Expr::read(own.clone()), Expr::int(5)]);
            let then = vec![update(UpdateOp::Add, own.clone(), Expr::int(1))];
            let branch = StmtKind::If { cond: now.clone(), post: Some(post), then, otherwise: Vec::new() };
            vec![Stmt::new(branch), update(UpdateOp::Sub, own, choice(1, 0))]
        }
        // one element where two are needed
        _ => {
            let element = |k: Expr| own.clone().with(Step::Index(vec![k]));
            let places = vec![element(Expr::int(1)), element(choice(1, 0))];
            let turn = |instr| {
                Stmt::new(StmtKind::Instr { instr, places: places.clone(), operands: vec![Expr::float(0.5)] })
            };
            vec![turn(Instr::Rot), turn(Instr::Irot)]
        }
    };
    body.push(Stmt::new(StmtKind::Release { var, value: init.clone() }));
    Some(Stmt::new(StmtKind::Ancilla { var, init, release: Release::Checked, body }))
}
