//! Which strategy a shared sum is given: by what its terms are, by the size of what they are added
//! to, by how often they meet ([`crate::measure`]), or because the caller says so; and why a strategy
//! can't be used. What they take on a GPU is in `docs/gpu.md`.

use rev_core::error::{Cause, Error};
use rev_core::ir::{Expr, ExprKind, Place, Step, Stmt, StmtKind, VarId};

use crate::kernel::Space;
use crate::measure::{Answer, Measured, Multiplicity, Question, TABLE_BYTES};
use crate::plan::{BufferId, Strategy, Word, WordOp};

use super::super::atom::Atom;
use super::super::memory::Loc;
use super::super::parallel::binary;
use super::super::stmt::REGISTER_LEAVES;
use super::super::types::ArgumentType;
use super::super::{Lower, Outcome, Stop};
use super::segments::Indexed;
use super::{gathers, ParallelLoop, Sum};

/// Why a strategy can't be used.
type Refusal = String;

impl Lower<'_> {
    pub(super) fn choose_strategy(
        &mut self,
        sum: &mut Sum,
        of: &ParallelLoop,
        tables: &mut usize,
    ) -> Outcome<()> {
        let name = self.name(sum.var);
        let Some(forced) = self.options.forced(&name) else {
            return self.choose_freely(sum, of, tables);
        };
        match self.give(sum, forced, of, tables, None)? {
            Ok(()) => {
                sum.reason = "as the caller says".into();
                Ok(())
            }
            Err(why) => {
                let reason = format!("`{name}` can't be added up by {}: {why}", forced.name());
                let error = Error::new(Cause::Device { device: "gpu".into(), reason });
                Err(Stop::Error(self.trace().into_iter().fold(error, Error::at)))
            }
        }
    }

    fn choose_freely(&mut self, sum: &mut Sum, of: &ParallelLoop, tables: &mut usize) -> Outcome<()> {
        let fixed_order = self.options.deterministic && !sum.is_exact();
        if !fixed_order && self.give(sum, Strategy::Uniform, of, tables, None)?.is_ok() {
            sum.reason = "every iteration adds to it".into();
            return Ok(());
        }
        let fallback = if fixed_order { Strategy::Tree } else { Strategy::Atomic };
        sum.strategy = fallback;
        sum.reason = if fixed_order { "one order on every device" } else { "any order" }.into();
        if !sum.adds() {
            return Ok(());
        }
        let segments = self.segments_of(sum, of);
        let Some(answer) = self.ask(sum, of, segments.ok().map(|(index, ..)| index)) else { return Ok(()) };
        let met = answer.multiplicity;
        sum.met = Some(met);
        let wanted = match (fixed_order, met) {
            (true, _) => &[Strategy::Segmented][..],
            (false, Multiplicity::Many) => &[Strategy::BlockTable][..],
            (false, Multiplicity::Few) => &[][..],
        };
        for strategy in wanted {
            if self.give(sum, *strategy, of, tables, Some(answer))?.is_ok() {
                sum.reason = format!("{met} terms meet in an element");
                return Ok(());
            }
        }
        sum.reason = format!("{}; {met} terms meet in an element", sum.reason);
        Ok(())
    }

    /// Makes a strategy a sum's, or says why it can't be.
    fn give(
        &mut self,
        sum: &mut Sum,
        strategy: Strategy,
        of: &ParallelLoop,
        tables: &mut usize,
        answer: Option<Answer>,
    ) -> Outcome<Result<(), Refusal>> {
        if let Err(why) = self.order_allows(sum, strategy) {
            return Ok(Err(why));
        }
        let given = match strategy {
            Strategy::Exclusive => Err("several iterations may add to one of its elements".into()),
            Strategy::Atomic => Ok(()),
            Strategy::Tree if sum.adds() => Ok(()),
            Strategy::Tree => Err("its terms aren't added".into()),
            Strategy::Uniform => give_registers(sum),
            Strategy::BlockTable => {
                let answer = match answer {
                    Some(answer) => Some(answer),
                    None => self.ask(sum, of, None),
                };
                if self.options.measured == Measured::Asking && answer.is_none() {
                    // it is decided when there is an answer
                    return Ok(Ok(()));
                }
                self.give_table(sum, of, tables, answer)
            }
            Strategy::Segmented => self.segments_of(sum, of).and_then(|indexed| {
                let Loc::Array(a) = &sum.target else { return Err("it isn't an array".into()) };
                (sum.kind, sum.prefix) = (a.kind.clone(), 1);
                sum.segments = Some(super::Segments::over(indexed));
                Ok(())
            }),
        };
        if given.is_ok() {
            sum.strategy = strategy;
        }
        Ok(given)
    }

    /// In the deterministic mode the order is fixed, where it matters.
    fn order_allows(&self, sum: &Sum, strategy: Strategy) -> Result<(), Refusal> {
        let any_order = matches!(strategy, Strategy::Uniform | Strategy::BlockTable | Strategy::Atomic);
        if any_order && self.options.deterministic && !sum.is_exact() {
            return Err("its order isn't fixed, as the deterministic mode asks".into());
        }
        Ok(())
    }

    fn give_table(
        &mut self,
        sum: &mut Sum,
        of: &ParallelLoop,
        tables: &mut usize,
        answer: Option<Answer>,
    ) -> Result<(), Refusal> {
        if !sum.adds() {
            return Err("its terms aren't added".into());
        }
        if !of.barriers {
            return Err("a thread of the kernel can fail, and would be missed at its barriers".into());
        }
        if !matches!(&sum.target, Loc::Array(_) | Loc::Memory(_)) {
            return Err("it isn't in memory".into());
        }
        let Some(answer) = answer else { return Err("its length isn't known before it runs".into()) };
        let leaves = sum.kind.leaves();
        let too_large =
            || format!("the tables of a kernel have {TABLE_BYTES} bytes of shared memory, and it needs more");
        let room = answer.room.ok_or_else(too_large)?;
        let bytes = crate::layout::buffer_bytes(room, &leaves);
        if *tables + bytes > TABLE_BYTES {
            return Err(too_large());
        }
        sum.table = Some((*tables, room));
        *tables += bytes;
        Ok(())
    }

    /// What is known about the size of a sum.
    fn ask(&mut self, sum: &Sum, of: &ParallelLoop, index: Option<BufferId>) -> Option<Answer> {
        let elements = match &sum.target {
            Loc::Array(a) => a.shape.iter().map(Atom::word).try_fold(Word::Const(1), |n, l| {
                let l = l?;
                Some(if n == Word::Const(1) { l } else { binary(WordOp::Mul, n, l) })
            })?,
            _ => Word::Const(1),
        };
        let terms = match sum.how.uniform {
            true => binary(WordOp::Mul, of.n.clone(), elements.clone()),
            false => of.n.clone(),
        };
        let (place, leaves) = (self.name(sum.var), sum.kind.leaves());
        let number = self.plan.questions.len();
        self.plan.questions.push(Question { place, leaves, elements, terms, index });
        match &self.options.measured {
            Measured::Nothing | Measured::Asking => None,
            Measured::Answers(answers) => answers.get(number).copied().flatten(),
        }
    }

    /// The array that says which element each iteration adds its terms to.
    fn segments_of(&self, sum: &Sum, of: &ParallelLoop) -> Result<Indexed, Refusal> {
        if !sum.adds() {
            return Err("its terms aren't added".into());
        }
        let Loc::Array(target) = &sum.target else { return Err("it isn't an array".into()) };
        if target.kind.leaves().len() > REGISTER_LEAVES {
            return Err(format!("an element has more than {REGISTER_LEAVES} numbers"));
        }
        if target.mem.space != Space::Global || target.shape.len() != 1 {
            return Err("it isn't an array with one axis".into());
        }
        if !of.inner.is_empty() {
            return Err("there are several loops".into());
        }
        let (Some(first), Some(Word::Const(step @ (1 | -1)))) =
            (of.visits.first.word(), of.visits.step.word())
        else {
            return Err("the loop doesn't visit neighbours one after the other".into());
        };
        let by_index = "it isn't indexed by an argument's element at the loop's index".to_string();
        let [index] = sum.common_index()? else { return Err(by_index) };
        let buffer = self.index_array(index, of).ok_or(by_index)?;
        let kept = of.records && gathers(&target.kind.leaves()) && fits_registers(&target.kind);
        if self.options.deterministic && !sum.is_exact() && !kept && !adds_once(sum, of) {
            return Err("an iteration may add several terms, which the fixed order keeps apart".into());
        }
        Ok((buffer, first, step))
    }

    /// The argument whose element at the loop's index an expression is.
    fn index_array(&self, e: &Expr, of: &ParallelLoop) -> Option<BufferId> {
        match &e.kind {
            ExprKind::Cast(inner, _) => self.index_array(inner, of),
            ExprKind::Read(place) if place.path.is_empty() => {
                self.index_array(definition(&of.stmt.blocks(), place.var)?, of)
            }
            ExprKind::Read(place) => {
                let [Step::Index(at)] = place.path.as_slice() else { return None };
                let [Expr { kind: ExprKind::Read(i), .. }] = at.as_slice() else { return None };
                if i.var != of.var || !i.path.is_empty() {
                    return None;
                }
                let slot = self.frames.last()?.slots.get(place.var.0 as usize)?.as_ref()?;
                let Loc::Array(a) = slot else { return None };
                let whole = a.first.integer() == Some(0) && a.strides.is_none() && a.mem.read_only;
                let Atom::Buffer(buffer) = a.mem.address else { return None };
                let argument = (buffer.0 as usize) < self.plan.arguments;
                let leaves = a.kind.leaves();
                let integers = leaves.len() == 1 && !leaves[0].is_float();
                (whole && argument && integers && a.shape.len() == 1).then_some(buffer)
            }
            _ => None,
        }
    }
}

/// A sum in each thread's registers: of a value, or of one element of an array.
fn give_registers(sum: &mut Sum) -> Result<(), Refusal> {
    if !sum.adds() {
        return Err("its terms aren't added".into());
    }
    let (kind, prefix) = match &sum.target {
        Loc::Array(a) => {
            sum.common_index()?;
            if !sum.is_of_one_element(a.shape.len()) {
                return Err("iterations add to different elements".into());
            }
            (a.kind.clone(), 1)
        }
        _ => (sum.kind.clone(), 0),
    };
    if !fits_registers(&kind) {
        return Err(format!(
            "lanes exchange at most {REGISTER_LEAVES} numbers of 32 or 64 bits, and it has {}",
            numbers(&kind)
        ));
    }
    (sum.kind, sum.prefix) = (kind, prefix);
    Ok(())
}

impl Sum {
    /// The index of the element that every term of an iteration is added to.
    fn common_index(&self) -> Result<&[Expr], Refusal> {
        self.index.as_deref().ok_or_else(|| "terms are added to elements with different indices".to_string())
    }

    /// Whether all iterations add to one element of an array with so many axes, whole.
    pub(super) fn is_of_one_element(&self, axes: usize) -> bool {
        self.one_element && self.index.as_ref().is_some_and(|index| index.len() == axes)
    }
}

/// What a binding inside some blocks stands for.
fn definition<'a>(blocks: &[&'a Vec<Stmt>], var: VarId) -> Option<&'a Expr> {
    blocks.iter().flat_map(|b| b.iter()).find_map(|s| match &s.kind {
        StmtKind::Let { var: own, expr, .. } if *own == var => Some(expr),
        _ => definition(&s.blocks(), var),
    })
}

/// Whether an iteration adds one term at most.
fn adds_once(sum: &Sum, of: &ParallelLoop) -> bool {
    let [site] = sum.how.sites.as_slice() else { return false };
    !site.called && !of.body.iter().any(|s| repeats(s, &site.place))
}

/// Whether a loop inside a statement adds to a place.
fn repeats(stmt: &Stmt, place: &Place) -> bool {
    let inner = stmt.blocks().into_iter().flatten();
    match &stmt.kind {
        StmtKind::For { .. } | StmtKind::While { .. } => inner.into_iter().any(|s| mentions(s, place)),
        _ => inner.into_iter().any(|s| repeats(s, place)),
    }
}

fn mentions(stmt: &Stmt, place: &Place) -> bool {
    let mut found = false;
    stmt.each_place(&mut |p, _| found |= p.var == place.var);
    found || stmt.blocks().into_iter().flatten().any(|s| mentions(s, place))
}

/// Whether a value has as few leaves as fit into registers, each of which lanes can exchange.
pub(super) fn fits_registers(kind: &ArgumentType) -> bool {
    let leaves = kind.leaves();
    !matches!(kind, ArgumentType::Array(..) | ArgumentType::Stack(_))
        && !kind.has_wide()
        && leaves.len() <= REGISTER_LEAVES
        && leaves.iter().all(|ty| ty.size() >= 4)
}

fn numbers(kind: &ArgumentType) -> String {
    let leaves = kind.leaves();
    let bits = 8 * leaves.iter().map(|ty| ty.size()).min().unwrap_or(0);
    let bits = if kind.has_wide() { 128 } else { bits };
    format!("{} of {bits} bits", leaves.len())
}
