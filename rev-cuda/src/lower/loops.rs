//! Branches and loops inside a kernel.

use rev_core::error::Cause;
use rev_core::ir::{Block, Expr, Number, Range, ScalarType, Stmt, VarId};

use crate::kernel::{Inst, Op, Relation, Ty};
use crate::plan::Detail;

use super::atom::Atom;
use super::memory::Loc;
use super::real::ty_of;
use super::sums::Fold;
use super::value::Val;
use super::{Lower, Outcome};

/// Loops of at most so many trips are unrolled,
const UNROLLED_TRIPS: i128 = 16;
/// where that makes at most so many statements.
const UNROLLED_STATEMENTS: i128 = 256;

/// The values that a loop visits.
#[derive(Clone, Debug)]
pub(super) struct Visits {
    /// Their type.
    pub scalar: ScalarType,
    /// The first one.
    pub first: Atom,
    /// From one to the next, added (wrapping).
    pub step: Atom,
    /// How many there are.
    pub count: Atom,
}

impl Lower<'_> {
    pub fn branches(&mut self, cond: &Expr, post: &Expr, then: &Block, otherwise: &Block) -> Outcome<()> {
        let cond = self.truth(cond)?;
        let after = |held: bool| {
            if held {
                "after the branch where the condition was true"
            } else {
                "after the branch where the condition was false"
            }
        };
        if let Some(known) = cond.truth() {
            self.block(if known { then } else { otherwise })?;
            return self.assert(post, known, after(known));
        }
        let cond = self.builder()?.operand(&cond);
        let mut side = |block, held| {
            self.instructions(|l| l.block(block).and_then(|()| l.assert(post, held, after(held))))
        };
        let (then, otherwise) = (side(then, true)?, side(otherwise, false)?);
        self.builder()?.emit(Inst::If { cond, then, otherwise });
        Ok(())
    }

    pub fn repeat_while(&mut self, cond: &Expr, post: &Expr, body: &Block) -> Outcome<()> {
        self.assert(post, false, "before the loop")?;
        let turn = if self.checks_values() {
            self.variable(&Atom::Const(0, Ty::I64), "turn")?
        } else {
            Atom::Const(0, Ty::I64)
        };
        self.builder()?.begin();
        let holds = self.truth(cond);
        let before = self.builder()?.end();
        self.builder()?.begin();
        let done = self.one_turn(post, body, &turn);
        let body = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&holds?);
        self.builder()?.emit(Inst::Loop { before, cond, body });
        Ok(())
    }

    fn one_turn(&mut self, post: &Expr, body: &Block, turn: &Atom) -> Outcome<()> {
        self.within_loop("while", turn.clone(), |l| {
            l.block(body)?;
            l.assert(post, true, "after each iteration")
        })?;
        if turn.bits().is_some() {
            return Ok(());
        }
        let next = self.op(Op::Add, Ty::I64, &[turn.clone(), Atom::Const(1, Ty::I64)])?;
        self.assign(turn, &next)
    }

    /// Notes a loop for messages.
    pub fn within_loop(
        &mut self,
        name: &str,
        value: Atom,
        body: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        let depth = self.frames.iter().filter(|f| f.function.is_some()).count();
        self.loops.push((name.to_string(), value, depth));
        let done = body(self);
        self.loops.pop();
        done
    }

    /// A bound of a range in the type of the loop's variable.
    fn bound_as(&mut self, value: Val, scalar: ScalarType) -> Outcome<Atom> {
        match value {
            Val::Num(n) => self.converted(&n.parts[0], n.real, scalar),
            Val::Literal(n) => self.number(scalar, n),
            choice @ Val::Choice(..) => {
                let like = Val::real(scalar, self.int(scalar, 0)?);
                let value = self.coerce(choice, &like)?;
                self.bound_as(value, scalar)
            }
            _ => Err(self.unsupported("a range of what aren't integers")),
        }
    }

    /// The values of a range.
    pub fn visits(&mut self, var: VarId, range: &Range) -> Outcome<Visits> {
        let (start, end) = (self.eval(&range.start)?, self.eval(&range.end)?);
        let scalar = match (&start, &end) {
            (Val::Num(n), _) | (_, Val::Num(n)) => n.real,
            _ => match self.settle(var, Val::Literal(Number::Int(0)))? {
                Val::Num(n) => n.real,
                _ => ScalarType::I64,
            },
        };
        if matches!(scalar, ScalarType::I128 | ScalarType::U128) {
            return Err(self.unsupported("a loop over 128-bit integers"));
        }
        let (start, end) = (self.bound_as(start, scalar)?, self.bound_as(end, scalar)?);
        let step = match &range.step {
            Some(e) => {
                let step = self.eval(e)?;
                let step = self.bound_as(step, ScalarType::I64)?;
                self.check_step(&step)?;
                step
            }
            None => Atom::Const(1, Ty::I64),
        };
        let count = self.trips(range, scalar, &start, &end, &step)?;
        let narrow = self.converted(&step, ScalarType::I64, scalar)?;
        let mut first = start.clone();
        if range.from_end && step.integer() != Some(1) {
            let last = if range.inclusive { end } else { self.minus_one(scalar, &end)? };
            let back = self.steps(scalar, &count, &narrow)?;
            first = self.op(Op::Sub, ty_of(scalar), &[last, back])?;
        }
        if !range.reversed {
            return Ok(Visits { scalar, first, step: narrow, count });
        }
        let back = self.steps(scalar, &count, &narrow)?;
        let first = self.op(Op::Add, ty_of(scalar), &[first, back])?;
        let step = self.negated(scalar, &narrow)?;
        Ok(Visits { scalar, first, step, count })
    }

    fn minus_one(&mut self, scalar: ScalarType, a: &Atom) -> Outcome<Atom> {
        let one = self.int(scalar, 1)?;
        self.op(Op::Sub, ty_of(scalar), &[a.clone(), one])
    }

    /// `(count - 1) · step`, wrapping.
    fn steps(&mut self, scalar: ScalarType, count: &Atom, step: &Atom) -> Outcome<Atom> {
        let count = self.converted(count, ScalarType::I64, scalar)?;
        let before = self.minus_one(scalar, &count)?;
        self.op(Op::Mul, ty_of(scalar), &[before, step.clone()])
    }

    /// How many values a range has, as an `I64`. The host's words are signed and below 2⁶³.
    fn trips(
        &mut self,
        range: &Range,
        scalar: ScalarType,
        start: &Atom,
        end: &Atom,
        step: &Atom,
    ) -> Outcome<Atom> {
        let one = Atom::Const(1, Ty::I64);
        let (a, b) =
            (self.converted(start, scalar, ScalarType::I64)?, self.converted(end, scalar, ScalarType::I64)?);
        let mut width = self.op(Op::Sub, Ty::I64, &[b, a])?;
        if range.inclusive {
            width = self.op(Op::Add, Ty::I64, &[width, one.clone()])?;
        }
        if step.integer() != Some(1) {
            let up = self.op(Op::Sub, Ty::I64, &[step.clone(), one])?;
            width = self.op(Op::Add, Ty::I64, &[width, up])?;
            width = self.at_least_zero(width)?;
            return self.quotient(Op::Div, ScalarType::I64, &width, step);
        }
        self.at_least_zero(width)
    }

    fn at_least_zero(&mut self, n: Atom) -> Outcome<Atom> {
        use crate::plan::{Word, WordOp};
        if let Some(word) = n.word().filter(|_| n.bits().is_none()) {
            let word = Word::Binary(WordOp::Max, Box::new(word), Box::new(Word::Const(0)));
            return Ok(Atom::from_word(word, Ty::I64));
        }
        self.op(Op::Max, Ty::I64, &[n, Atom::Const(0, Ty::I64)])
    }

    /// A counted loop.
    pub fn for_loop(
        &mut self,
        stmt: &Stmt,
        var: VarId,
        range: &Range,
        parallel: bool,
        body: &Block,
    ) -> Outcome<()> {
        let mut visits = self.visits(var, range)?;
        if self.asserts() {
            // what it is compared with at the end
            let builder = self.builder()?;
            for atom in [&mut visits.first, &mut visits.step, &mut visits.count] {
                *atom = builder.freeze(atom);
            }
        }
        let name = self.name(var);
        let tree = parallel && self.options.deterministic;
        let around = self.frame()?.owned.clone();
        let (sums, fold) = if tree { self.inner_sums(stmt, &visits)? } else { (Vec::new(), None) };
        let unrolled = match (visits.count.integer(), visits.first.integer(), visits.step.integer()) {
            (Some(n), Some(first), Some(step))
                if n <= UNROLLED_TRIPS && n * size(body) <= UNROLLED_STATEMENTS =>
            {
                Some((n, first, step))
            }
            _ => None,
        };
        match unrolled {
            Some((n, first, step)) => {
                let signed =
                    if ty_of(visits.scalar).is_signed() { step } else { signed(step, visits.scalar) };
                for k in 0..n {
                    let value = self.int(visits.scalar, first + k * signed)?;
                    self.iteration(var, &name, visits.scalar, value, body)?;
                }
            }
            None => self.rolled(var, &name, &visits, fold.as_ref(), body)?,
        }
        if tree {
            self.frame_mut()?.owned = around;
            self.close_inner_sums(&sums, &visits)?;
        }
        if self.asserts() && visits.count.bits().is_none() {
            self.check_visits(var, range, &visits)?;
        }
        Ok(())
    }

    fn iteration(
        &mut self,
        var: VarId,
        name: &str,
        scalar: ScalarType,
        value: Atom,
        body: &Block,
    ) -> Outcome<()> {
        self.set_slot(var, Some(Loc::Value(Val::real(scalar, value.clone()))))?;
        self.within_loop(name, value, |l| l.block(body))?;
        self.set_slot(var, None)
    }

    fn rolled(
        &mut self,
        var: VarId,
        name: &str,
        visits: &Visits,
        fold: Option<&Fold>,
        body: &Block,
    ) -> Outcome<()> {
        let step = self.builder()?.freeze(&visits.step);
        let value = self.variable(&visits.first, name)?;
        let k = if fold.is_some() { self.variable(&Atom::index(0), "k")? } else { Atom::index(0) };
        self.repeat(&visits.count, |l| {
            l.iteration(var, name, visits.scalar, value.clone(), body)?;
            let next = l.op(Op::Add, value.ty(), &[value.clone(), step])?;
            l.assign(&value, &next)?;
            let Some(fold) = fold else { return Ok(()) };
            let next = l.op(Op::Add, Ty::U64, &[k.clone(), Atom::index(1)])?;
            l.assign(&k, &next)?;
            l.fold_iteration(fold, &k)
        })?;
        fold.map_or(Ok(()), |fold| self.fold_up(fold))
    }

    /// A loop's range visits what it visited when it was entered.
    pub fn check_visits(&mut self, var: VarId, range: &Range, was: &Visits) -> Outcome<()> {
        let now = self.visits(var, range)?;
        let mut off = Atom::bool(false);
        for (a, b) in [(&now.count, &was.count), (&now.first, &was.first), (&now.step, &was.step)] {
            let differ = self.compare(Relation::Ne, a, b)?;
            off = self.op(Op::Or, Ty::Pred, &[off, differ])?;
        }
        if off.truth() == Some(false) {
            return Ok(());
        }
        let entered = self.compare(Relation::Ne, &was.count, &Atom::Const(0, Ty::I64))?;
        let off = self.op(Op::And, Ty::Pred, &[entered, off])?;
        let (expected, last) = self.ends(was)?;
        let (found, _) = self.ends(&now)?;
        let expected = expected.into_iter().map(|a| (Detail::Expected(a.ty()), a));
        let details = expected.chain(found.into_iter().map(|a| (Detail::Found(a.ty()), a))).collect();
        let cause = Cause::RangeChanged { expected: String::new(), found: String::new() };
        let name = self.name(var);
        self.within_loop(&name, last, |l| l.fail_with(&off, cause, details))
    }

    /// How many values there are, the first, the second and the last; and the last again.
    fn ends(&mut self, visits: &Visits) -> Outcome<(Vec<Atom>, Atom)> {
        let ty = ty_of(visits.scalar);
        let second = self.op(Op::Add, ty, &[visits.first.clone(), visits.step.clone()])?;
        let back = self.steps(visits.scalar, &visits.count, &visits.step)?;
        let last = self.op(Op::Add, ty, &[visits.first.clone(), back])?;
        Ok((vec![visits.count.clone(), visits.first.clone(), second, last.clone()], last))
    }
}

/// A wrapped step of an unsigned type as a signed number.
fn signed(step: i128, scalar: ScalarType) -> i128 {
    let bits = 8 * ty_of(scalar).size() as u32;
    let half = 1i128 << (bits - 1);
    if step >= half {
        step - (1i128 << bits)
    } else {
        step
    }
}

/// The number of statements in a block.
fn size(block: &[Stmt]) -> i128 {
    block.iter().map(|s| 1 + s.blocks().into_iter().map(|b| size(b)).sum::<i128>()).sum()
}
