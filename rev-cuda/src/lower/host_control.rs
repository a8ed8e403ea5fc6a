//! Branches and loops of the host, around parallel loops.

use rev_core::ir::{Block, Expr, Range, VarId};

use crate::kernel::Ty;
use crate::plan::{Step, Word, WordOp};

use super::atom::Atom;
use super::loops::Visits;
use super::memory::Loc;
use super::real::ty_of;
use super::value::Val;
use super::{Lower, Outcome};

impl Lower<'_> {
    /// The steps of a block.
    fn region(&mut self, f: impl FnOnce(&mut Self) -> Outcome<()>) -> Outcome<Vec<Step>> {
        self.flush()?;
        self.steps.push(Vec::new());
        let done = f(self).and_then(|()| self.flush());
        let steps = self.taken_steps()?;
        done.map(|()| steps)
    }

    /// A loop's range visits what it visited when it was entered, as far as the host doesn't know it.
    pub fn host_check_visits(&mut self, var: VarId, range: &Range, was: &Visits) -> Outcome<()> {
        let known = |now: &Visits| (&now.count, &now.first, &now.step) == (&was.count, &was.first, &was.step);
        if !self.asserts() || self.visits(var, range).is_ok_and(|now| known(&now)) {
            return Ok(());
        }
        self.in_serial(|l| l.check_visits(var, range, was))
    }

    fn host_assert(&mut self, e: &Expr, expected: bool, when: &'static str) -> Outcome<()> {
        if self.asserts() {
            self.in_serial(|l| l.assert(e, expected, when))?;
        }
        Ok(())
    }

    pub fn host_branches(
        &mut self,
        cond: &Expr,
        post: &Expr,
        then: &Block,
        otherwise: &Block,
    ) -> Outcome<()> {
        let (yes, no) = (
            "after the branch where the condition was true",
            "after the branch where the condition was false",
        );
        match self.host_truth(cond)? {
            Ok(known) => {
                self.host_block(if known { then } else { otherwise })?;
                self.host_assert(post, known, if known { yes } else { no })
            }
            Err(cond) => {
                let then = self.region(|l| {
                    l.host_block(then)?;
                    l.host_assert(post, true, yes)
                })?;
                let otherwise = self.region(|l| {
                    l.host_block(otherwise)?;
                    l.host_assert(post, false, no)
                })?;
                self.step_host(Step::If { cond, then, otherwise });
                Ok(())
            }
        }
    }

    pub fn host_while(&mut self, cond: &Expr, post: &Expr, body: &Block) -> Outcome<()> {
        self.host_assert(post, false, "before the loop")?;
        let turn = self.new_word();
        self.flush()?;
        self.step_host(Step::Set { word: turn, value: Word::Const(0) });
        let mut holds = Ok(true);
        let before = self.region(|l| {
            holds = l.host_truth(cond)?;
            Ok(())
        })?;
        let cond = match holds {
            Ok(known) => Word::Const(known.into()),
            Err(word) => word,
        };
        let value = Atom::from_word(Word::Var(turn), Ty::I64);
        let body = self.region(|l| {
            l.within_loop("while", value, |l| {
                l.host_block(body)?;
                l.host_assert(post, true, "after each iteration")
            })?;
            l.flush()?;
            l.step_host(Step::Set { word: turn, value: add(Word::Var(turn), Word::Const(1)) });
            Ok(())
        })?;
        self.step_host(Step::Loop { before, cond, body });
        Ok(())
    }

    pub fn host_for(&mut self, var: VarId, range: &Range, body: &Block) -> Outcome<()> {
        let visits = self.host_visits(var, range)?;
        let [first, step, count] = [&visits.first, &visits.step, &visits.count].map(|a| self.host_word(a));
        let (first, step, count) = (first?, step?, count?);
        let (index, left) = (self.new_word(), self.new_word());
        self.flush()?;
        self.step_host(Step::Set { word: index, value: first });
        self.step_host(Step::Set { word: left, value: count });
        let name = self.name(var);
        let value = Atom::from_word(Word::Var(index), ty_of(visits.scalar));
        let body = self.region(|l| {
            l.set_slot(var, Some(Loc::Value(Val::real(visits.scalar, value.clone()))))?;
            // the variable is known to the host now, and maybe what wasn't without it
            let around = l.refused.forget();
            l.within_loop(&name, value.clone(), |l| l.host_block(body))?;
            l.refused.leave(around);
            l.set_slot(var, None)?;
            l.flush()?;
            l.step_host(Step::Set { word: index, value: add(Word::Var(index), step) });
            l.step_host(Step::Set { word: left, value: add(Word::Var(left), Word::Const(-1)) });
            Ok(())
        })?;
        self.step_host(Step::Loop { before: Vec::new(), cond: Word::Var(left), body });
        self.host_check_visits(var, range, &visits)
    }
}

fn add(a: Word, b: Word) -> Word {
    Word::Binary(WordOp::Add, Box::new(a), Box::new(b))
}
