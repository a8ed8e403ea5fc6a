//! Products of whole arrays, where the host starts them: whether their shapes fit is known before
//! any kernel runs. Everything else about them is the loops that [`rev_core::pass::expand`] wrote.

use std::rc::Rc;

use rev_core::error::Cause;
use rev_core::ir::{Expr, ExprKind, Place, VarId};
use rev_core::ops::{Axes, Operand};
use rev_core::pass::Expansion;

use crate::plan::{Detail, Failure, Step, Word, WordOp};

use super::memory::Loc;
use super::parallel::binary;
use super::{Lower, Outcome};

/// An array of a product: its name, and how long the host knows its axes to be.
struct Known {
    name: String,
    shape: Vec<Word>,
}

impl Lower<'_> {
    /// The product that a loop is the expansion of.
    pub fn product_of(&self, var: VarId) -> Option<Rc<Expansion>> {
        let function = self.frames.last()?.function.as_ref()?;
        self.products.get(&(function.name.clone(), var)).cloned()
    }

    /// Fails before the product runs where two lengths that should be equal aren't.
    pub fn check_shapes(&mut self, product: &Expansion) -> Outcome<()> {
        let target = product.place.as_ref().map(|p| (&product.formula.target, p));
        let factors = product.formula.factors().iter().zip(&product.factors);
        let arrays = factors.filter_map(|(o, e)| array(o, e));
        let mut firsts: Vec<(u8, usize, usize)> = Vec::new();
        let mut known: Vec<Known> = Vec::new();
        for (operand, place) in target.into_iter().chain(arrays) {
            let Some(own) = self.known(place)? else { continue };
            let second = known.len();
            known.push(own);
            for axis in 0..known[second].shape.len() {
                let key = key(operand, axis);
                match firsts.iter().find(|(k, ..)| *k == key) {
                    None => firsts.push((key, second, axis)),
                    Some((_, first, at)) => self.same_length(&known, (*first, *at), (second, axis)),
                }
            }
        }
        Ok(())
    }

    fn known(&mut self, place: &Place) -> Outcome<Option<Known>> {
        let shape = match self.attempt(|l| l.locate(place))? {
            Some(Loc::Array(a)) => a.shape.iter().map(|n| n.word()).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        Ok(shape.map(|shape| Known { name: self.text_of(place), shape }))
    }

    fn same_length(&mut self, known: &[Known], first: (usize, usize), second: (usize, usize)) {
        let ((a, i), (b, j)) = (first, second);
        let (one, other) = (&known[a].shape[i], &known[b].shape[j]);
        if one == other {
            return;
        }
        let expected =
            format!("as many along axis {j} as `{}` of shape [..] has along axis {i}", known[a].name);
        let cause = Cause::Shape { place: known[b].name.clone().into(), expected, found: String::new() };
        let detail = known[a].shape.iter().map(|_| Detail::Index);
        let detail = detail.chain(known[b].shape.iter().map(|_| Detail::Length)).collect();
        self.plan.failures.push(Failure { cause, trace: self.trace(), loops: Vec::new(), detail });
        let failure = self.plan.failures.len() as u32 - 1;
        let values = known[a].shape.iter().chain(&known[b].shape).cloned().collect();
        let cond = binary(WordOp::Sub, one.clone(), other.clone());
        let then = vec![Step::Fail { failure, values }];
        self.step_host(Step::If { cond, then, otherwise: Vec::new() });
    }
}

fn array<'a>(operand: &'a Operand, factor: &'a Expr) -> Option<(&'a Operand, &'a Place)> {
    match &factor.kind {
        ExprKind::Read(place) if !operand.is_scalar() => Some((operand, place)),
        _ => None,
    }
}

/// What indexes an axis.
fn key(operand: &Operand, axis: usize) -> u8 {
    match operand.axes {
        Axes::All => u8::MAX - axis as u8,
        Axes::Letters(..) => operand.letters().get(axis).copied().unwrap_or(u8::MAX),
    }
}
