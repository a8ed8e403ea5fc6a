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

/// The ancilla on which the planted statement works.
const PLANTED: &str = "planted";

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
            let (at, kind) = (dice.below(places), *dice.pick(&Kind::ALL)?);
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

    /// The arguments that the parallel loops around the fault write.
    pub fn written_around_fault(&self) -> Vec<usize> {
        let function = self.entry();
        let mut written = Vec::new();
        function.body.iter().for_each(|s| written_around(function, s, &mut written));
        let params = function.params.iter().enumerate();
        params.filter(|(_, var)| written.contains(var)).map(|(k, _)| k).collect()
    }

    /// The name of the loop's variable that says, by having this argument's value, in which iterations it fails.
    pub fn fault_variable(&self) -> Option<&str> {
        let function = self.entry();
        let fault = *function.params.get(self.fault()?)?;
        let index = function.body.iter().find_map(|s| compared_with(fault, s))?;
        Some(&function.var(index).name)
    }

    /// Which argument of a program with a fault says when it fails.
    pub fn fault(&self) -> Option<usize> {
        self.signature().params.iter().position(|p| p.what == What::Index(NEVER))
    }
}

/// Adds what a statement writes if it is a parallel loop around the fault, else what such ones in it write.
fn written_around(function: &Function, stmt: &Stmt, written: &mut Vec<VarId>) {
    fn is_around(function: &Function, stmt: &Stmt) -> bool {
        let own = matches!(&stmt.kind, StmtKind::Ancilla { var, .. } if function.var(*var).name == PLANTED);
        own || stmt.blocks().into_iter().flatten().any(|s| is_around(function, s))
    }
    let parallel = matches!(stmt.kind, StmtKind::For { parallel: Some(_), .. });
    if parallel && is_around(function, stmt) {
        stmt.each_access_deep(&mut |q, access| {
            if access != Access::Read {
                written.push(q.var);
            }
        });
        return;
    }
    stmt.blocks().into_iter().flatten().for_each(|s| written_around(function, s, written));
}

/// Calls `f` on each place for a statement in a loop, with the variable of the outermost one, and counts them. `f` may
/// insert a statement there.
fn each_place(block: &mut Block, index: Option<VarId>, f: &mut dyn FnMut(&mut Block, usize, VarId)) -> usize {
    let mut places = 0;
    for stmt in block.iter_mut() {
        let inner = match (&stmt.kind, index) {
            (StmtKind::For { var, .. }, None) => Some(*var),
            (
                StmtKind::For { .. } | StmtKind::Let { .. } | StmtKind::Ancilla { .. } | StmtKind::If { .. },
                index,
            ) => index,
            // what may run backwards
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

/// The variable that a statement, or one in it, compares with the parameter.
fn compared_with(fault: VarId, stmt: &Stmt) -> Option<VarId> {
    fn in_expr(fault: VarId, e: &Expr) -> Option<VarId> {
        match &e.kind {
            ExprKind::Func(Func::Eq, sides) if sides[1].mentions(fault) => {
                sides[0].reads().first().map(|place| place.var)
            }
            _ => {
                let mut found = None;
                e.each_child(&mut |e| found = found.or_else(|| in_expr(fault, e)));
                found
            }
        }
    }
    let mut found = None;
    stmt.each_expr(&mut |e| found = found.or_else(|| in_expr(fault, e)));
    found.or_else(|| stmt.blocks().into_iter().flatten().find_map(|s| compared_with(fault, s)))
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

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An ancilla left with another value.
    Release,
    /// An ancilla that the compiler brings back, left with no number.
    Number,
    /// The same, left with an infinite one.
    Infinity,
    /// A division by zero.
    Division,
    /// An index out of range.
    Index,
    /// A postcondition that doesn't hold.
    Postcondition,
    /// One element where two are needed.
    Alias,
    /// Iterations declared disjoint that use one element.
    Disjoint,
}

impl Kind {
    const ALL: [Kind; 8] = [
        Kind::Release,
        Kind::Number,
        Kind::Infinity,
        Kind::Division,
        Kind::Index,
        Kind::Postcondition,
        Kind::Alias,
        Kind::Disjoint,
    ];
}

/// A statement that fails where `now` holds, and otherwise changes nothing: it works on an ancilla of its own.
fn statement(function: &mut Function, kind: Kind, now: Expr) -> Option<Stmt> {
    let choice = |then: i128, otherwise: i128| now.clone().choose(Expr::int(then), Expr::int(otherwise));
    let real = Type::Generic("T".into());
    let int = Type::Scalar(ScalarType::I64);
    let both = |place: Place, e: Expr| {
        vec![update(UpdateOp::Add, place.clone(), e.clone()), update(UpdateOp::Sub, place, e)]
    };
    let param = |is: &dyn Fn(&Var) -> bool| function.params.iter().copied().find(|p| is(function.var(*p)));
    let array = param(&|var| {
        let row = matches!(&var.ty, Type::Array(t, Rank::Fixed(1)) if **t == real);
        row && var.kind == VarKind::Param(Mode::Read)
    });
    let sum = param(&|var| var.ty == real && var.kind == VarKind::Param(Mode::Write));
    let ty = match kind {
        Kind::Release | Kind::Number | Kind::Infinity | Kind::Index => real.clone(),
        Kind::Division | Kind::Postcondition => int,
        Kind::Alias | Kind::Disjoint => Type::Fixed(Box::new(real.clone()), Length::Literal(3)),
    };
    let zero = |of: &Type| Expr::new(ExprKind::Literal(Number::Int(0), Some(of.clone())));
    let init = match &ty {
        Type::Fixed(..) => Expr::new(ExprKind::Repeat(Box::new(zero(&real)), Box::new(Expr::index(3)))),
        ty => zero(ty),
    };
    let var = function.add_var(Var { name: PLANTED.into(), ty, kind: VarKind::Ancilla, span: Span::NONE });
    let own = Place::var(var);
    let element = |k: Expr| own.clone().with(Step::Index(vec![k]));
    let mut body = match kind {
        Kind::Release => vec![update(UpdateOp::Add, own, choice(1, 0))],
        Kind::Number | Kind::Infinity => {
            let less = if kind == Kind::Number { 2 } else { 1 };
            let argument = Expr::func(Func::Sub, vec![Expr::int(1), choice(less, 0)]);
            // what nobody reads isn't computed
            let nothing = Expr::func(Func::Mul, vec![Expr::int(0), Expr::read(own.clone())]);
            vec![
                update(UpdateOp::Add, own, Expr::func(Func::Ln, vec![argument])),
                update(UpdateOp::Add, Place::var(sum?), nothing),
            ]
        }
        Kind::Division => both(own, Expr::func(Func::Quot, vec![Expr::int(7), choice(0, 2)])),
        Kind::Index => {
            let element = Place::var(array?).with(Step::Index(vec![choice(NEVER as i128, 0)]));
            both(own, Expr::read(element))
        }
        Kind::Postcondition => {
            let post = Expr::func(Func::Eq, vec![Expr::read(own.clone()), Expr::int(5)]);
            let then = vec![update(UpdateOp::Add, own.clone(), Expr::int(1))];
            let branch = StmtKind::If { cond: now.clone(), post: Some(post), then, otherwise: Vec::new() };
            vec![Stmt::new(branch), update(UpdateOp::Sub, own, choice(1, 0))]
        }
        Kind::Alias => {
            let places = vec![element(Expr::int(1)), element(choice(1, 0))];
            let turn = |instr| {
                Stmt::new(StmtKind::Instr { instr, places: places.clone(), operands: vec![Expr::float(0.5)] })
            };
            vec![turn(Instr::Rot), turn(Instr::Irot)]
        }
        Kind::Disjoint => {
            let mut each = |op| {
                let ty = Type::Scalar(ScalarType::Usize);
                let index = Var { name: "apart".into(), ty, kind: VarKind::Index, span: Span::NONE };
                let index = function.add_var(index);
                let k = Expr::func(Func::Mul, vec![Expr::read(Place::var(index)), choice(0, 1)]);
                let range = Range::new(Expr::index(0), Expr::index(3));
                let parallel = Some(Parallel { injective: Vec::new(), disjoint: vec![var] });
                let body = vec![update(op, element(k), Expr::int(1))];
                Stmt::new(StmtKind::For { var: index, range, parallel, body })
            };
            vec![each(UpdateOp::Add), each(UpdateOp::Sub)]
        }
    };
    let release = match kind {
        Kind::Number | Kind::Infinity => Release::Managed,
        _ => {
            body.push(Stmt::new(StmtKind::Release { var, value: init.clone() }));
            Release::Checked
        }
    };
    Some(Stmt::new(StmtKind::Ancilla { var, init, release, body }))
}
