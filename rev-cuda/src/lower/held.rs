//! What a variable must hold: an ancilla its first value when it is released, a binding what its
//! expression gives, a place that is popped into zero. How far floats may be off depends on the largest
//! magnitude that an ancilla held, which checked kernels record for ancillas of the thread.

use rev_core::error::Cause;
use rev_core::ir::{Expr, ExprKind, Place, ScalarType, VarId};
use rev_core::tolerance::Tolerance;

use crate::kernel::{Op, Relation, Ty};
use crate::plan::Detail;

use super::atom::Atom;
use super::memory::{ArrayLoc, Loc, MemLoc};
use super::value::{Num, Val};
use super::wide::is_wide;
use super::{Lower, Outcome};

/// A comparison of what was found with what was expected.
struct Comparison<'a> {
    /// The error, by the path to the part at fault.
    cause: &'a dyn Fn(&str) -> Cause,
    /// The largest magnitude that the variable held, where it is known.
    held: Option<Atom>,
    /// The limit that an error names.
    limit: Option<Atom>,
    /// The element of an array.
    index: Option<Atom>,
    /// Whether NaN stands for NaN.
    nan: bool,
}

impl<'a> Comparison<'a> {
    fn of(cause: &'a dyn Fn(&str) -> Cause) -> Comparison<'a> {
        Comparison { cause, held: None, limit: None, index: None, nan: false }
    }
}

fn f64(v: f64) -> Atom {
    Atom::Const(v.to_bits(), Ty::F64)
}

impl Lower<'_> {
    /// A binding's value is still what its expression gives.
    pub fn check_binding(&mut self, var: VarId, expr: &Expr) -> Outcome<()> {
        // a constant stays as it is
        if !self.asserts() || matches!(expr.kind, ExprKind::Named(_) | ExprKind::Function(_)) {
            return Ok(());
        }
        let bound = self.slot(var)?;
        let now = self.eval(expr)?;
        let now = self.settle(var, now)?;
        let name = self.name(var);
        let cause = |_: &str| Cause::BindingChanged {
            name: name.clone().into(),
            expected: String::new(),
            found: String::new(),
        };
        let mut comparison = Comparison { nan: true, ..Comparison::of(&cause) };
        match (&bound, &now) {
            (Loc::Array(a), Val::Array(b)) => {
                let b = b.clone();
                self.compare_elements(
                    a,
                    comparison,
                    &mut |l, k| {
                        let at = l.element(&b, k)?;
                        l.load(&at)
                    },
                    true,
                )
            }
            (Loc::Value(bound), _) => self.compare_parts("", bound, &now, &comparison),
            (Loc::Registers(_) | Loc::Memory(_) | Loc::Choice(..), _) => {
                comparison.index = None;
                let bound = self.load(&bound)?;
                self.compare_parts("", &bound, &now, &comparison)
            }
            (Loc::Array(_) | Loc::Stack(_), _) => Ok(()),
        }
    }

    /// An ancilla holds its first value.
    pub fn check_release(&mut self, var: VarId, value: &Expr) -> Outcome<()> {
        if !self.asserts() {
            return Ok(());
        }
        let at = self.slot(var)?;
        let expected = self.eval(value)?;
        let expected = self.settle(var, expected)?;
        let name = self.name(var);
        let tolerance = self.tolerance_of(&at);
        let held = self.held_by(&at);
        let limit = match &held {
            Some(held) => {
                let relative = self.op(Op::Mul, Ty::F64, &[held.clone(), f64(tolerance.relative)])?;
                let finite = self.compare(Relation::Lt, held, &f64(f64::INFINITY))?;
                Some(self.choose(&finite, &relative, &f64(tolerance.absolute))?)
            }
            None => None,
        };
        let cause = |path: &str| Cause::Release {
            place: format!("{name}{path}"),
            expected: String::new(),
            found: String::new(),
            tolerance: tolerance.absolute,
        };
        let comparison = Comparison { held, limit, ..Comparison::of(&cause) };
        match (&at, expected) {
            (Loc::Array(a), Val::Fill(element, _)) => {
                self.compare_elements(a, comparison, &mut |_, _| Ok((*element).clone()), false)
            }
            (Loc::Array(a), Val::Array(from)) => self.compare_elements(
                a,
                comparison,
                &mut |l, k| {
                    let at = l.element(&from, k)?;
                    l.load(&at)
                },
                false,
            ),
            (Loc::Stack(s), _) => {
                let held = self.load(&s.count)?;
                let held = self.as_index(held)?;
                let off = self.compare(Relation::Ne, &held, &Atom::index(0))?;
                let cause = Cause::Release {
                    place: name.clone(),
                    expected: "stack[]".into(),
                    found: String::new(),
                    tolerance: tolerance.absolute,
                };
                self.fail_with(&off, cause, vec![(Detail::Length, held)])
            }
            (Loc::Array(_), _) => Ok(()),
            (at, expected) => {
                let found = self.load(at)?;
                let expected = self.coerce(expected, &found)?;
                self.compare_parts("", &expected, &found, &comparison)
            }
        }
    }

    /// A place holds zero before it is popped into.
    pub fn check_zero(&mut self, at: &Loc, place: &Place) -> Outcome<()> {
        let found = self.load(at)?;
        let zero = found.map(&mut |atom| Atom::Const(0, atom.ty()));
        let text = self.text_of(place);
        let cause = |path: &str| Cause::PopTarget { place: format!("{text}{path}"), found: String::new() };
        self.compare_parts("", &zero, &found, &Comparison::of(&cause))
    }

    /// Compares each element of an array with what it should be; `bound` says that the array is what
    /// is expected.
    fn compare_elements(
        &mut self,
        array: &ArrayLoc,
        comparison: Comparison<'_>,
        other: &mut dyn FnMut(&mut Self, &Atom) -> Outcome<Val>,
        bound: bool,
    ) -> Outcome<()> {
        self.each_element(array, |l, k| {
            let at = l.element(array, k)?;
            let own = l.load(&at)?;
            let other = other(l, k)?;
            let other = l.coerce(other, &own)?;
            let index = l.row_major(k, &array.shape)?;
            let comparison = Comparison { index: Some(index), ..comparison };
            let (expected, found) = if bound { (&own, &other) } else { (&other, &own) };
            l.compare_parts("[]", expected, found, &comparison)
        })
    }

    /// The number of an element in row-major order, by its number in memory.
    fn row_major(&mut self, k: &Atom, shape: &[Atom]) -> Outcome<Atom> {
        if shape.len() == 1 {
            return Ok(k.clone());
        }
        let (mut rest, mut index) = (k.clone(), Atom::index(0));
        for n in shape {
            let own = self.quotient(Op::Rem, ScalarType::U64, &rest, n)?;
            rest = self.quotient(Op::Div, ScalarType::U64, &rest, n)?;
            let before = self.op(Op::Mul, Ty::U64, &[index, n.clone()])?;
            index = self.op(Op::Add, Ty::U64, &[before, own])?;
        }
        Ok(index)
    }

    /// Fails at the first scalar that isn't close to what it should be.
    fn compare_parts(
        &mut self,
        path: &str,
        expected: &Val,
        found: &Val,
        comparison: &Comparison<'_>,
    ) -> Outcome<()> {
        match (expected, found) {
            (Val::Num(e), Val::Num(f)) => self.compare_numbers(path, e, f, comparison),
            (Val::Fixed(es), Val::Fixed(fs)) | (Val::Tuple(es), Val::Tuple(fs)) => {
                for (k, (e, f)) in es.iter().zip(fs).enumerate() {
                    self.compare_parts(&format!("{path}[{k}]"), e, f, comparison)?;
                }
                Ok(())
            }
            (Val::Struct(_, es), Val::Struct(_, fs)) => {
                for ((n, e), (_, f)) in es.iter().zip(fs) {
                    self.compare_parts(&format!("{path}.{n}"), e, f, comparison)?;
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
        comparison: &Comparison<'_>,
    ) -> Outcome<()> {
        if is_wide(expected.real) {
            return self.compare_wide(path, expected, found, comparison);
        }
        for (e, f) in expected.parts.iter().zip(&found.parts) {
            if comparison.nan && e == f {
                continue;
            }
            let close = self.close(expected.real, e, f, comparison)?;
            let off = self.op(Op::Not, Ty::Pred, &[close])?;
            let mut details = vec![(Detail::Expected(e.ty()), e.clone()), (Detail::Found(f.ty()), f.clone())];
            details.extend(comparison.index.clone().map(|k| (Detail::Index, k)));
            details.extend(comparison.limit.clone().map(|t| (Detail::Tolerance, t)));
            self.fail_with(&off, (comparison.cause)(path), details)?;
        }
        Ok(())
    }

    fn compare_wide(
        &mut self,
        path: &str,
        expected: &Num,
        found: &Num,
        comparison: &Comparison<'_>,
    ) -> Outcome<()> {
        let same = self.same_wide(expected, found)?;
        let off = self.op(Op::Not, Ty::Pred, &[same])?;
        let signed = expected.real == ScalarType::I128;
        let mut details = Vec::new();
        for (n, is_expected) in [(expected, true), (found, false)] {
            details.push((Detail::Low, n.parts[0].clone()));
            details.push((Detail::High { expected: is_expected, signed }, n.parts[1].clone()));
        }
        details.extend(comparison.index.clone().map(|k| (Detail::Index, k)));
        self.fail_with(&off, (comparison.cause)(path), details)
    }

    /// [`Tolerance::admits`].
    fn close(
        &mut self,
        real: ScalarType,
        expected: &Atom,
        found: &Atom,
        comparison: &Comparison<'_>,
    ) -> Outcome<Atom> {
        let mut same = self.compare(Relation::Eq, expected, found)?;
        let Some(tolerance) = self.float_tolerance(real) else { return Ok(same) };
        if comparison.nan {
            let (e, f) =
                (self.compare(Relation::Ne, expected, expected)?, self.compare(Relation::Ne, found, found)?);
            let both = self.op(Op::And, Ty::Pred, &[e, f])?;
            same = self.op(Op::Or, Ty::Pred, &[same, both])?;
        }
        let (e, f) = (self.as_f64(real, expected)?, self.as_f64(real, found)?);
        let difference = self.op(Op::Sub, Ty::F64, &[f.clone(), e.clone()])?;
        let difference = self.op(Op::Abs, Ty::F64, &[difference])?;
        let (e, f) = (self.op(Op::Abs, Ty::F64, &[e])?, self.op(Op::Abs, Ty::F64, &[f])?);
        let largest = self.op(Op::Max, Ty::F64, &[e.clone(), f])?;
        let relative = self.op(Op::Mul, Ty::F64, &[largest, f64(tolerance.relative)])?;
        let mut limit = self.op(Op::Max, Ty::F64, &[relative, f64(tolerance.absolute)])?;
        if let Some(held) = &comparison.held {
            let magnitude = self.op(Op::Max, Ty::F64, &[held.clone(), e])?;
            let known = self.op(Op::Mul, Ty::F64, &[magnitude, f64(tolerance.relative)])?;
            let finite = self.compare(Relation::Lt, held, &f64(f64::INFINITY))?;
            limit = self.choose(&finite, &known, &limit)?;
        }
        let within = self.compare(Relation::Le, &difference, &limit)?;
        let finite = self.compare(Relation::Lt, &difference, &f64(f64::INFINITY))?;
        let within = self.op(Op::And, Ty::Pred, &[within, finite])?;
        self.op(Op::Or, Ty::Pred, &[same, within])
    }

    fn as_f64(&mut self, real: ScalarType, a: &Atom) -> Outcome<Atom> {
        self.converted(a, real, ScalarType::F64)
    }

    fn float_tolerance(&self, real: ScalarType) -> Option<Tolerance> {
        match real {
            ScalarType::F16 => Some(self.options.tolerances.f16),
            ScalarType::Bf16 => Some(self.options.tolerances.bf16),
            ScalarType::F32 => Some(self.options.tolerances.f32),
            ScalarType::F64 => Some(self.options.tolerances.f64),
            _ => None,
        }
    }

    /// The tolerance of the first floating-point number in a value; none is allowed where there is no
    /// such number.
    fn tolerance_of(&self, at: &Loc) -> Tolerance {
        let leaves = super::call::kind_of(at).map_or_else(Vec::new, |kind| kind.leaves());
        let first = leaves.into_iter().find_map(|ty| self.float_tolerance(float(ty)?));
        first.unwrap_or(Tolerance::EXACT)
    }

    /// From here on the largest magnitude of a variable of the thread is recorded: its parts are
    /// real.
    pub fn watch(&mut self, at: &Loc) -> Outcome<()> {
        let real = |val: &Val| val.atoms().iter().any(|a| a.ty().is_float()) && !has_complex(val);
        match at {
            Loc::Registers(val) if real(val) => {
                let held = self.variable(&f64(0.0), "held")?;
                for atom in val.atoms().iter().filter(|a| a.ty().is_float()) {
                    if let Atom::Reg(reg, _) = atom {
                        self.builder()?.held.insert(*reg, held.clone());
                    }
                    self.see(&held, atom)?;
                }
                Ok(())
            }
            Loc::Array(ArrayLoc { mem, kind, .. }) | Loc::Memory(MemLoc { mem, kind, .. }) => {
                if !Val::zero(kind).is_some_and(|zero| real(&zero)) {
                    return Ok(());
                }
                let held = self.variable(&f64(0.0), "held")?;
                self.builder()?.held_in.insert(mem.id, held.clone());
                let see = |l: &mut Self, at: &Loc| {
                    let value = l.load(at)?;
                    value.atoms().iter().try_for_each(|atom| l.see(&held, atom))
                };
                match at {
                    Loc::Array(a) => self.each_element(a, |l, k| {
                        let at = l.element(a, k)?;
                        see(l, &at)
                    }),
                    at => see(self, at),
                }
            }
            Loc::Registers(_) | Loc::Value(_) | Loc::Choice(..) | Loc::Stack(_) => Ok(()),
        }
    }

    /// The largest magnitude that a watched variable held.
    fn held_by(&mut self, at: &Loc) -> Option<Atom> {
        let builder = self.builder.as_ref()?;
        match at {
            Loc::Registers(val) => val.atoms().iter().find_map(|atom| match atom {
                Atom::Reg(reg, _) => builder.held.get(reg).cloned(),
                Atom::Const(..) | Atom::Word(..) | Atom::Buffer(_) => None,
            }),
            Loc::Array(a) => builder.held_in.get(&a.mem.id).cloned(),
            Loc::Memory(m) => builder.held_in.get(&m.mem.id).cloned(),
            Loc::Value(_) | Loc::Choice(..) | Loc::Stack(_) => None,
        }
    }

    /// Records a value that was written to a register.
    pub fn see_register(&mut self, to: &Atom, value: &Atom) -> Outcome<()> {
        let Atom::Reg(reg, _) = to else { return Ok(()) };
        match self.builder()?.held.get(reg).cloned() {
            Some(held) => self.see(&held, value),
            None => Ok(()),
        }
    }

    /// Records a value that was written to memory.
    pub fn see_memory(&mut self, to: &MemLoc, value: &Atom) -> Outcome<()> {
        match self.builder()?.held_in.get(&to.mem.id).cloned() {
            Some(held) => self.see(&held, value),
            None => Ok(()),
        }
    }

    fn see(&mut self, held: &Atom, value: &Atom) -> Outcome<()> {
        let Some(real) = float(value.ty()) else { return Ok(()) };
        let value = self.as_f64(real, value)?;
        let magnitude = self.op(Op::Abs, Ty::F64, &[value])?;
        let larger = self.compare(Relation::Gt, &magnitude, held)?;
        let next = self.choose(&larger, &magnitude, held)?;
        self.assign(held, &next)
    }
}

/// The scalar that a register of floating point holds.
fn float(ty: Ty) -> Option<ScalarType> {
    match ty {
        Ty::F16 => Some(ScalarType::F16),
        Ty::Bf16 => Some(ScalarType::Bf16),
        Ty::F32 => Some(ScalarType::F32),
        Ty::F64 => Some(ScalarType::F64),
        Ty::Pred | Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => None,
    }
}

fn has_complex(val: &Val) -> bool {
    match val {
        Val::Num(n) => n.complex,
        Val::Fixed(es) | Val::Tuple(es) => es.iter().any(has_complex),
        Val::Struct(_, es) => es.iter().any(|(_, e)| has_complex(e)),
        Val::Literal(_)
        | Val::Choice(..)
        | Val::Array(_)
        | Val::Fill(..)
        | Val::EmptyStack(_)
        | Val::Function(_)
        | Val::None => false,
    }
}
