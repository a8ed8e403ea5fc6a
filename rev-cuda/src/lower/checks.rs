//! What can fail in a kernel: an entry in the plan's table of failures, and an instruction that names
//! it with the values that the message needs.

use rev_core::error::Cause;
use rev_core::ir::{Expr, Place, ScalarType, VarId};
use rev_core::scalar::rt::instr::InstrError;
use rev_core::text;

use crate::kernel::{Inst, Op, Relation, Ty, FAILURE_VALUES};
use crate::plan::{Detail, Failure};

use super::atom::Atom;
use super::memory::Loc;
use super::value::{Num, Val};
use super::{Lower, Outcome};

impl Lower<'_> {
    /// Whether bounds, divisors and the like are checked.
    pub fn checks_values(&self) -> bool {
        self.options.checks
    }

    /// Whether the program's own checks are made here.
    pub fn asserts(&self) -> bool {
        self.options.checks && self.frames.last().is_some_and(|f| f.checked)
    }

    /// Fails where a condition holds.
    pub fn fail_if(&mut self, cond: &Atom, cause: Cause) -> Outcome<()> {
        self.fail_with(cond, cause, Vec::new())
    }

    /// The same with values for the message.
    pub fn fail_with(&mut self, cond: &Atom, cause: Cause, details: Vec<(Detail, Atom)>) -> Outcome<()> {
        if cond.truth() == Some(false) {
            return Ok(());
        }
        let trace = self.trace();
        let functions = trace.len();
        let mut values = Vec::new();
        let mut loops = Vec::new();
        for (name, value, depth) in self.loops.clone() {
            loops.push((functions.saturating_sub(depth), name));
            values.push(value);
        }
        let room = FAILURE_VALUES.saturating_sub(values.len());
        let details: Vec<(Detail, Atom)> = details.into_iter().take(room).collect();
        values.truncate(FAILURE_VALUES);
        loops.truncate(FAILURE_VALUES);
        let detail = details.iter().map(|(d, _)| *d).collect();
        self.plan.failures.push(Failure { cause, trace, loops, detail });
        let failure = self.plan.failures.len() as u32 - 1;
        values.extend(details.into_iter().map(|(_, v)| v));
        let builder = self.builder()?;
        builder.fails = true;
        let values = values.iter().map(|v| builder.operand(v)).collect();
        let cond = builder.operand(cond);
        let then = vec![Inst::Fail { failure, values }];
        builder.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }

    /// A place as the program writes it.
    pub fn text_of(&self, place: &Place) -> String {
        match self.frames.last().and_then(|f| f.function.as_ref()) {
            Some(f) => text::show(f, place).to_string(),
            None => self.name(place.var),
        }
    }

    /// Indices are in an array.
    pub fn check_index(&mut self, indices: &[Atom], shape: &[Atom], place: &Place) -> Outcome<()> {
        if !self.checks_values() {
            return Ok(());
        }
        let mut out = Atom::bool(false);
        for (i, n) in indices.iter().zip(shape) {
            let above = self.compare(Relation::Ge, i, n)?;
            out = self.op(Op::Or, Ty::Pred, &[out, above])?;
        }
        self.fail_index(&out, indices, shape, place)
    }

    /// A range is in an array.
    pub fn check_range(&mut self, i: &Atom, j: &Atom, n: &Atom, place: &Place) -> Outcome<()> {
        if !self.checks_values() {
            return Ok(());
        }
        let (order, end) = (self.compare(Relation::Gt, i, j)?, self.compare(Relation::Gt, j, n)?);
        let out = self.op(Op::Or, Ty::Pred, &[order, end])?;
        self.fail_index(&out, &[i.clone(), j.clone()], std::slice::from_ref(n), place)
    }

    fn fail_index(&mut self, out: &Atom, indices: &[Atom], shape: &[Atom], place: &Place) -> Outcome<()> {
        let cause = Cause::IndexOutOfRange {
            place: self.text_of(place).into(),
            index: Vec::new(),
            shape: Vec::new(),
        };
        let details = indices.iter().map(|i| (Detail::Index, i.clone()));
        let details = details.chain(shape.iter().map(|n| (Detail::Length, n.clone()))).collect();
        self.fail_with(out, cause, details)
    }

    /// A condition holds, or doesn't.
    pub fn assert(&mut self, e: &Expr, expected: bool, when: &'static str) -> Outcome<()> {
        if !self.asserts() {
            return Ok(());
        }
        let holds = self.truth(e)?;
        let off = if expected { self.op(Op::Not, Ty::Pred, &[holds])? } else { holds };
        let condition = self.condition_text(e).into();
        self.fail_if(
            &off,
            Cause::Condition { what: "the condition".into(), condition, expected, when: when.into() },
        )
    }

    /// The step of a range is at least 1.
    pub fn check_step(&mut self, step: &Atom) -> Outcome<()> {
        if !self.checks_values() {
            return Ok(());
        }
        let below = self.compare(Relation::Lt, step, &Atom::Const(1, Ty::I64))?;
        let found = step.integer().unwrap_or(0);
        self.fail_with(&below, Cause::Step { found }, vec![(Detail::Found(Ty::I64), step.clone())])
    }

    /// A loop's range changed while it ran.
    pub fn fail_range(&mut self, off: &Atom) -> Outcome<()> {
        let cause = Cause::RangeChanged { expected: "another".into(), found: "changed".into() };
        self.fail_if(off, cause)
    }

    /// An instruction that can't be undone.
    pub fn fail_instruction(&mut self, off: &Atom, instr: &'static str, reason: InstrError) -> Outcome<()> {
        let statement = self.frames.last().map_or_else(String::new, |f| f.statement.clone());
        self.fail_if(off, Cause::Instruction { instr: instr.into(), place: statement.into(), reason })
    }

    /// A binding's value is still what its expression gives.
    pub fn check_binding(&mut self, var: VarId, expr: &Expr) -> Outcome<()> {
        if !self.asserts() {
            return Ok(());
        }
        let Loc::Value(bound) = self.slot(var)? else { return Ok(()) };
        let now = self.eval(expr)?;
        let now = self.settle(var, now)?;
        let name = self.name(var);
        self.compare_values(&bound, &now, &mut |_, expected, found| Cause::BindingChanged {
            name: name.clone().into(),
            expected,
            found,
        })
    }

    /// An ancilla holds its first value. The largest magnitude that it held isn't kept: the
    /// tolerance is that of [`rev_core::tolerance`] for an unknown one.
    pub fn check_release(&mut self, var: VarId, value: &Expr) -> Outcome<()> {
        if !self.asserts() {
            return Ok(());
        }
        let at = self.slot(var)?;
        let expected = self.eval(value)?;
        let expected = self.settle(var, expected)?;
        let name = self.name(var);
        let tolerance = self.options.tolerances.f64.absolute;
        let mut cause = move |path: &str, expected, found| Cause::Release {
            place: format!("{name}{path}"),
            expected,
            found,
            tolerance,
        };
        match (&at, expected) {
            (Loc::Array(a), Val::Fill(element, _)) => self.each_element(a, |l, k| {
                let at = l.element(a, k)?;
                let found = l.load(&at)?;
                l.compare_values(&element, &found, &mut cause)
            }),
            (Loc::Stack(s), _) => {
                let held = self.load(&s.count)?;
                let held = self.as_index(held)?;
                let off = self.compare(Relation::Ne, &held, &Atom::index(0))?;
                let cause = cause("", "stack[]".into(), String::new());
                self.fail_with(&off, cause, vec![(Detail::Length, held)])
            }
            (Loc::Array(_), _) => Ok(()),
            (at, expected) => {
                let found = self.load(at)?;
                let expected = self.coerce(expected, &found)?;
                self.compare_values(&expected, &found, &mut cause)
            }
        }
    }

    /// A place holds zero before it is popped into.
    pub fn check_zero(&mut self, at: &Loc, place: &Place) -> Outcome<()> {
        let found = self.load(at)?;
        let zero = found.map(&mut |atom| Atom::Const(0, atom.ty()));
        let text = self.text_of(place);
        self.compare_values(&zero, &found, &mut |path, _, found| Cause::PopTarget {
            place: format!("{text}{path}"),
            found,
        })
    }

    /// Fails at the first scalar that isn't close to what it should be.
    fn compare_values(
        &mut self,
        expected: &Val,
        found: &Val,
        cause: &mut dyn FnMut(&str, String, String) -> Cause,
    ) -> Outcome<()> {
        self.compare_parts("", expected, found, cause)
    }

    fn compare_parts(
        &mut self,
        path: &str,
        expected: &Val,
        found: &Val,
        cause: &mut dyn FnMut(&str, String, String) -> Cause,
    ) -> Outcome<()> {
        match (expected, found) {
            (Val::Num(e), Val::Num(f)) => self.compare_numbers(path, e, f, cause),
            (Val::Fixed(es), Val::Fixed(fs)) | (Val::Tuple(es), Val::Tuple(fs)) => {
                for (k, (e, f)) in es.iter().zip(fs).enumerate() {
                    self.compare_parts(&format!("{path}[{k}]"), e, f, cause)?;
                }
                Ok(())
            }
            (Val::Struct(_, es), Val::Struct(_, fs)) => {
                for ((n, e), (_, f)) in es.iter().zip(fs) {
                    self.compare_parts(&format!("{path}.{n}"), e, f, cause)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn compare_numbers(
        &mut self,
        path: &str,
        expected: &Num,
        found: &Num,
        cause: &mut dyn FnMut(&str, String, String) -> Cause,
    ) -> Outcome<()> {
        for (e, f) in expected.parts.iter().zip(&found.parts) {
            let close = self.close(expected.real, e, f)?;
            let off = self.op(Op::Not, Ty::Pred, &[close])?;
            let details = vec![(Detail::Expected(e.ty()), e.clone()), (Detail::Found(f.ty()), f.clone())];
            self.fail_with(&off, cause(path, String::new(), String::new()), details)?;
        }
        Ok(())
    }

    /// `Tolerance::admits` where no magnitude is known.
    fn close(&mut self, real: ScalarType, expected: &Atom, found: &Atom) -> Outcome<Atom> {
        let same = self.compare(Relation::Eq, expected, found)?;
        let tolerance = match real {
            ScalarType::F16 => self.options.tolerances.f16,
            ScalarType::Bf16 => self.options.tolerances.bf16,
            ScalarType::F32 => self.options.tolerances.f32,
            ScalarType::F64 => self.options.tolerances.f64,
            _ => return Ok(same),
        };
        let wide = |l: &mut Self, a: &Atom| l.converted(a, real, ScalarType::F64);
        let (e, f) = (wide(self, expected)?, wide(self, found)?);
        let f64 = |v: f64| Atom::Const(v.to_bits(), Ty::F64);
        let difference = self.op(Op::Sub, Ty::F64, &[f.clone(), e.clone()])?;
        let difference = self.op(Op::Abs, Ty::F64, &[difference])?;
        let (e, f) = (self.op(Op::Abs, Ty::F64, &[e])?, self.op(Op::Abs, Ty::F64, &[f])?);
        let largest = self.op(Op::Max, Ty::F64, &[e, f])?;
        let relative = self.op(Op::Mul, Ty::F64, &[largest, f64(tolerance.relative)])?;
        let limit = self.op(Op::Max, Ty::F64, &[relative, f64(tolerance.absolute)])?;
        let within = self.compare(Relation::Le, &difference, &limit)?;
        let finite = self.compare(Relation::Lt, &difference, &f64(f64::INFINITY))?;
        let within = self.op(Op::And, Ty::Pred, &[within, finite])?;
        self.op(Op::Or, Ty::Pred, &[same, within])
    }
}
