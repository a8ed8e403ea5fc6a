//! Where a program ends and its adjoint begins: what meets there.

use std::collections::{BTreeMap, BTreeSet};

use super::place_of;
use crate::ir::{
    Access, Arg, ArgValue, Block, Callee, Derived, Direction, Expr, Function, FunctionPath, Mode, Named,
    Parallel, Place, Stmt, StmtKind, Type, VarId, VarKind,
};
use crate::pass::inverse_block;

/// A program and its adjoint on their way to be one.
pub struct Merge<'f> {
    function: &'f Function,
    /// What stands for a written parameter in the adjoint's calls.
    stand_ins: &'f BTreeMap<VarId, VarId>,
    /// Names that the adjoint gives to value arguments, around the seam.
    named: BTreeMap<VarId, Expr>,
    /// How often something met.
    pub events: usize,
    /// The callees whose fused programs are called.
    pub fuses: BTreeSet<FunctionPath>,
}

impl<'f> Merge<'f> {
    /// For the variables of a function.
    pub fn new(function: &'f Function, stand_ins: &'f BTreeMap<VarId, VarId>) -> Merge<'f> {
        Merge { function, stand_ins, named: BTreeMap::new(), events: 0, fuses: BTreeSet::new() }
    }

    /// `first` and then `second`, as one block.
    pub fn blocks(&mut self, first: Block, second: Block) -> Block {
        let before = (self.events, self.fuses.clone());
        match self.try_blocks(first.clone(), second.clone()) {
            Some(block) => block,
            None => {
                (self.events, self.fuses) = before;
                first.into_iter().chain(second).collect()
            }
        }
    }

    /// `None` where what `first` takes back last isn't all computed again by `second`: an ancilla
    /// brought back is its first value up to rounding only, from which nothing may go on.
    fn try_blocks(&mut self, mut first: Block, mut second: Block) -> Option<Block> {
        while let (Some(last), Some(next)) = (first.last(), second.first()) {
            if inverse_block(std::slice::from_ref(last)).first() != Some(next) {
                break;
            }
            first.pop();
            second.remove(0);
            self.events += 1;
        }
        if let Some(inside) = second.first().and_then(|next| self.inside(&first, next)) {
            let rest = second.drain(1..);
            return Some(std::iter::once(inside).chain(rest).collect());
        }
        if first.last().is_some_and(|s| self.takes_back(s)) {
            return None;
        }
        if let (Some(last), Some(next)) = (first.last(), second.first()) {
            if let Some(joined) = self.joined(last, next) {
                self.events += 1;
                first.pop();
                first.push(joined);
                first.extend(second.drain(1..));
                return Some(first);
            }
        }
        self.loops_apart(&mut first, &mut second);
        first.extend(second);
        Some(first)
    }

    /// Whether a statement at the end of a block may be uncomputation: it writes ancillas only.
    fn takes_back(&self, stmt: &Stmt) -> bool {
        let (mut any, mut all) = (false, true);
        let mut own = BTreeSet::new();
        stmt.add_bound(&mut own);
        stmt.each_access_deep(&mut |p, access| {
            if access != Access::Read && !own.contains(&p.var) {
                any = true;
                all &= self.function.var(p.var).kind == VarKind::Ancilla;
            }
        });
        any && all
    }

    /// Two statements that meet, as one.
    fn joined(&mut self, last: &Stmt, next: &Stmt) -> Option<Stmt> {
        use StmtKind::*;
        let kind = match (&last.kind, &next.kind) {
            (Let { var, expr, body }, Let { var: v, expr: e, body: b }) if (var, expr) == (v, e) => {
                Let { var: *var, expr: expr.clone(), body: self.try_blocks(body.clone(), b.clone())? }
            }
            (Ancilla { var, init, release, body }, Ancilla { var: v, init: i, body: b, .. })
                if (var, init) == (v, i) =>
            {
                let body = self.try_blocks(body.clone(), b.clone())?;
                Ancilla { var: *var, init: init.clone(), release: *release, body }
            }
            (If { cond, post, then, otherwise }, If { cond: c, then: t, otherwise: o, .. })
                if post.as_ref().unwrap_or(cond) == c =>
            {
                let then = self.try_blocks(then.clone(), t.clone())?;
                let otherwise = self.try_blocks(otherwise.clone(), o.clone())?;
                If { cond: cond.clone(), post: post.clone(), then, otherwise }
            }
            (For { .. }, For { .. }) => return self.one_loop(last, next),
            (Call { .. }, Call { .. }) => return self.one_call(last, next),
            _ => return None,
        };
        Some(Stmt { kind, span: last.span })
    }

    /// A parallel loop and its adjoint: the iterations are independent, so each can go there and back
    /// before the next.
    fn one_loop(&mut self, last: &Stmt, next: &Stmt) -> Option<Stmt> {
        let (
            StmtKind::For { var, range, parallel: Some(declared), body },
            StmtKind::For { var: v, range: r, parallel: Some(d), body: b },
        ) = (&last.kind, &next.kind)
        else {
            return None;
        };
        let mut back = range.clone();
        back.reversed = !back.reversed;
        if var != v || back != *r {
            return None;
        }
        let body = self.blocks(body.clone(), b.clone());
        let mut parallel: Parallel = d.clone();
        parallel.disjoint.extend(declared.disjoint.iter().filter(|v| !d.disjoint.contains(v)));
        let kind = StmtKind::For { var: *var, range: r.clone(), parallel: Some(parallel), body };
        Some(Stmt { kind, span: last.span })
    }

    /// A call and the adjoint of the same call.
    fn one_call(&mut self, last: &Stmt, next: &Stmt) -> Option<Stmt> {
        let (
            StmtKind::Call { callee: Callee::Path(path), direction: Direction::FORWARD, args },
            StmtKind::Call { callee: Callee::Path(other), direction, args: both },
        ) = (&last.kind, &next.kind)
        else {
            return None;
        };
        let adjoint = Direction::ADJOINT;
        if path != other || *direction != adjoint || both.len() != 2 * args.len() {
            return None;
        }
        let values = both.iter().step_by(2);
        if !args.iter().zip(values).all(|(arg, value)| self.same_argument(arg, value)) {
            return None;
        }
        // what it writes is wanted afterwards, as it is after the call
        let mut all = both.clone();
        all.iter_mut().step_by(2).zip(args).filter(|(_, arg)| arg.mode != Mode::Read).for_each(|(a, arg)| {
            *a = arg.clone();
        });
        self.fuses.insert(path.clone());
        let callee = Callee::Path(path.with(Derived::Fused));
        let kind = StmtKind::Call { callee, direction: Direction::FORWARD, args: all };
        Some(Stmt { kind, span: last.span })
    }

    /// Whether the adjoint's call has the same argument: what is written has to be a parameter, since
    /// the adjoint would take an ancilla back, and the fused program doesn't.
    fn same_argument(&self, arg: &Arg, adjoint: &Arg) -> bool {
        let Some((q, mode)) = place_of(adjoint) else { return false };
        match &arg.value {
            ArgValue::Place(p) if arg.mode == Mode::Read => mode == arg.mode && p == q,
            ArgValue::Place(p) => {
                let stand_in = self.stand_ins.get(&p.var).map(|s| p.rooted_at(*s));
                mode == arg.mode && stand_in.as_ref() == Some(q)
            }
            ArgValue::Expr(e) => q.path.is_empty() && self.named.get(&q.var) == Some(e),
        }
    }

    /// The adjoint's next statement, if it is a scope of its own, with all of `first` inside it, if
    /// something meets there.
    fn inside(&mut self, first: &[Stmt], next: &Stmt) -> Option<Stmt> {
        let (var, value, body) = match &next.kind {
            StmtKind::Let { var, expr, body } | StmtKind::Ancilla { var, init: expr, body, .. } => {
                (*var, expr, body)
            }
            _ => return None,
        };
        let mut bound = BTreeSet::new();
        first.iter().for_each(|s| s.add_bound(&mut bound));
        let mut blocked = bound.contains(&var);
        each_name(value, &mut |v, shape| {
            blocked |= bound.contains(&v) || changes(first, v) && (!shape || self.may_be_stack(v));
        });
        if blocked {
            return None;
        }
        let events = self.events;
        self.named.insert(var, value.clone());
        let inner = self.try_blocks(first.to_vec(), body.clone());
        self.named.remove(&var);
        let mut next = next.clone();
        let inner = inner.filter(|_| self.events > events)?;
        *next.blocks_mut().pop()? = inner;
        Some(next)
    }

    /// Whether a variable has a shape that changes.
    fn may_be_stack(&self, var: VarId) -> bool {
        matches!(self.function.var(var).ty, Type::Stack(_) | Type::Struct(..) | Type::Unknown)
    }

    /// A parallel loop and its adjoint with other statements between that neither depends on.
    fn loops_apart(&mut self, first: &mut Block, second: &mut Block) {
        let Some(i) = first.iter().rposition(is_parallel) else { return };
        let Some(j) = second.iter().position(is_parallel) else { return };
        if i + 1 == first.len() && j == 0 {
            return;
        }
        let independent = |s: &Stmt| independent(&first[i], s) && independent(&second[j], s);
        if !first[i + 1..].iter().chain(&second[..j]).all(independent) {
            return;
        }
        let Some(joined) = self.one_loop(&first[i], &second[j]) else { return };
        self.events += 1;
        first.remove(i);
        second[j] = joined;
    }
}

fn is_parallel(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::For { parallel: Some(_), .. })
}

/// Whether two statements may be exchanged, by the variables that they touch.
fn independent(a: &Stmt, b: &Stmt) -> bool {
    let touched = |s: &Stmt| {
        let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
        s.each_access_deep(&mut |p, access| {
            if access == Access::Read { &mut read } else { &mut written }.insert(p.var);
        });
        (read, written)
    };
    let ((read_a, written_a), (read_b, written_b)) = (touched(a), touched(b));
    written_a.is_disjoint(&written_b) && written_a.is_disjoint(&read_b) && written_b.is_disjoint(&read_a)
}

/// Whether statements write a variable.
fn changes(block: &[Stmt], var: VarId) -> bool {
    let mut found = false;
    let mut look = |p: &Place, access| found |= p.var == var && access != Access::Read;
    block.iter().for_each(|s| s.each_access_deep(&mut |p, access| look(p, access)));
    found
}

/// Calls `f` on the variables that an expression mentions, and whether only for their shape.
fn each_name(e: &Expr, f: &mut dyn FnMut(VarId, bool)) {
    if let Some((p, what)) = e.named() {
        f(p.var, what != Named::Value);
    }
    e.each_child(&mut |c| each_name(c, f));
}
