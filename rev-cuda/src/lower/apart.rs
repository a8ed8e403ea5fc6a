//! What must be apart: places of one statement, elements of different iterations, the values of an
//! index array.
//!
//! What the compiler can't tell from the text of the indices is compared here, as emitted Rust does,
//! where a program is checked.

use rev_core::check::overlap::{overlap, Overlap, Values};
use rev_core::error::Cause;
use rev_core::ir::{
    axes_of_both, Arg, ArgValue, AxisRef, Expr, Mode, Parallel, Place, ScalarType, Step as Part, VarId,
};

use crate::kernel::{Atomic, Inst, Op, Relation, Ty};
use crate::plan::{Detail, Step, Word, WordOp};

use super::atom::Atom;
use super::builder::Builder;
use super::memory::{ArrayLoc, Loc};
use super::parallel::binary;
use super::types::ArgumentType;
use super::value::Val;
use super::{Lower, Outcome};

/// What stands for an element that another iteration has claimed, as on the CPU.
const ANOTHERS: &str = "an element that another iteration uses";

/// Who has claimed the elements of an array in a parallel loop.
#[derive(Clone, Debug)]
pub(super) struct Claims {
    var: VarId,
    /// For each element 0, or one more than the number of the iteration that claimed it.
    owners: ArrayLoc,
    /// The element that the first of them is about.
    first: Atom,
    /// One more than the number of the iteration.
    own: Atom,
}

impl Lower<'_> {
    /// A written place is none of those that the statement's expressions read.
    pub fn check_reads_apart(&mut self, place: &Place, exprs: &[&Expr], others: &[&Place]) -> Outcome<()> {
        if !self.asserts() {
            return Ok(());
        }
        let of_indices = others.iter().copied().chain([place]).flat_map(Place::indices);
        let reads = exprs.iter().copied().chain(of_indices).flat_map(|e| e.reads());
        let reads: Vec<Place> = reads.filter(|r| r.var == place.var).cloned().collect();
        reads.iter().try_for_each(|read| self.check_apart(place, read))
    }

    /// Two places of one statement share nothing.
    pub fn check_apart(&mut self, place: &Place, other: &Place) -> Outcome<()> {
        if !self.asserts() || place.var != other.var {
            return Ok(());
        }
        let Some(function) = self.frame()?.function.clone() else { return Ok(()) };
        if overlap(place, other, &Values::of(&function)) != Overlap::Unknown {
            return Ok(());
        }
        let meet = self.meet(place, other)?;
        let (first, second) = (self.text_of(place).into(), self.text_of(other).into());
        self.fail_if(&meet, Cause::Alias { first, second })
    }

    /// The arguments of a call: what is written is apart from the others, but sums into one place
    /// commute.
    pub fn check_arguments_apart(&mut self, args: &[Arg]) -> Outcome<()> {
        if !self.asserts() {
            return Ok(());
        }
        let place = |arg: &'_ Arg| match &arg.value {
            ArgValue::Place(place) => Some((place.clone(), arg.mode)),
            ArgValue::Expr(_) => None,
        };
        let places: Vec<(Place, Mode)> = args.iter().filter_map(place).collect();
        let values = args.iter().filter_map(|arg| match &arg.value {
            ArgValue::Expr(e) => Some(e),
            ArgValue::Place(_) => None,
        });
        let values: Vec<&Expr> = values.collect();
        let all: Vec<&Place> = places.iter().map(|(place, _)| place).collect();
        for (k, (place, mode)) in places.iter().enumerate().filter(|(_, (_, mode))| *mode != Mode::Read) {
            let sums = |other: Mode| (other, *mode) == (Mode::Accumulate, Mode::Accumulate);
            for (j, (other, as_)) in places.iter().enumerate().filter(|(j, _)| *j != k) {
                if *as_ == Mode::Read || (j < k && !sums(*as_)) {
                    self.check_apart(place, other)?;
                }
            }
            self.check_reads_apart(place, &values, &all)?;
        }
        Ok(())
    }

    /// Whether two places of one variable share storage, by the values of their indices.
    fn meet(&mut self, a: &Place, b: &Place) -> Outcome<Atom> {
        let mut meet = Atom::bool(true);
        for (s, t) in a.path.iter().zip(&b.path) {
            let (same, last) = match (s, t) {
                (Part::Index(i), Part::Index(j)) => {
                    let mut same = Atom::bool(true);
                    for (i, j) in i.iter().zip(j) {
                        let (i, j) = (self.index(i)?, self.index(j)?);
                        let here = self.compare(Relation::Eq, &i, &j)?;
                        same = self.op(Op::And, Ty::Pred, &[same, here])?;
                    }
                    (same, false)
                }
                (Part::Part(_), Part::Index(_) | Part::Part(_)) | (Part::Index(_), Part::Part(_)) => {
                    (self.parts_meet(s, t)?, true)
                }
                _ => continue,
            };
            meet = self.op(Op::And, Ty::Pred, &[meet, same])?;
            if last {
                break;
            }
        }
        Ok(meet)
    }

    /// Whether what two steps take of an array has an element in common: of each axis.
    fn parts_meet(&mut self, s: &Part, t: &Part) -> Outcome<Atom> {
        let mut all = Atom::bool(true);
        for (s, t) in axes_of_both(s, t) {
            let meet = match (self.bounds(s)?, self.bounds(t)?) {
                (Some((a, b)), Some((c, d))) => {
                    let start = self.op(Op::Max, Ty::U64, &[a, c])?;
                    let end = self.op(Op::Min, Ty::U64, &[b, d])?;
                    self.compare(Relation::Lt, &start, &end)?
                }
                (Some((a, b)), None) | (None, Some((a, b))) => self.compare(Relation::Lt, &a, &b)?,
                (None, None) => continue,
            };
            all = self.op(Op::And, Ty::Pred, &[all, meet])?;
        }
        Ok(all)
    }

    /// The first index that is taken of an axis, and one past the last; `None` for all of it.
    fn bounds(&mut self, axis: AxisRef) -> Outcome<Option<(Atom, Atom)>> {
        Ok(match axis {
            AxisRef::At(i) => {
                let i = self.index(i)?;
                let end = self.op(Op::Add, Ty::U64, &[i.clone(), Atom::index(1)])?;
                Some((i, end))
            }
            AxisRef::Range(from, to) => Some((self.index(from)?, self.index(to)?)),
            AxisRef::Whole => None,
        })
    }

    /// Room for the claims on the elements of the arrays whose accesses a loop declares disjoint, as
    /// far as they are elements of arrays. Iterations claim what they touch ([`Lower::claim`]).
    pub fn open_claims(&mut self, k: &Atom) -> Outcome<()> {
        let disjoint = self.frame()?.disjoint.clone();
        if !self.asserts() || disjoint.is_empty() {
            return Ok(());
        }
        let own = self.op(Op::Add, Ty::U64, &[k.clone(), Atom::index(1)])?;
        let own = self.builder()?.freeze(&own);
        for var in disjoint {
            let Loc::Array(array) = self.slot(var)? else { continue };
            let (count, first) = match array.strides {
                Some(_) => (array.mem.count.clone(), Atom::index(0)),
                None => (self.count(&array.shape)?, array.first),
            };
            let Some(count) = count.word() else { continue };
            let kind = ArgumentType::Scalar(ScalarType::U64);
            let buffer = self.new_buffer(&format!("{}_claims", self.name(var)), &kind, 1);
            let shape = vec![count.clone()];
            self.builder()?.allocations.push(Step::Allocate { buffer, shape });
            let owners = self.buffer_array(buffer, &kind, vec![Atom::from_word(count, Ty::U64)])?;
            let claims = Claims { var, owners, first, own: own.clone() };
            self.frame_mut()?.claims.push(claims);
        }
        Ok(())
    }

    /// Claims an element, or some of them, for the iteration.
    pub fn claim(&mut self, at: &Loc, place: &Place) -> Outcome<()> {
        let claims = self.frame()?.claims.iter().find(|c| c.var == place.var).cloned();
        let Some(claims) = claims.filter(|_| self.builder.is_some()) else { return Ok(()) };
        match at {
            Loc::Memory(m) => self.claim_one(&claims, &m.index, place),
            Loc::Array(a) => {
                let count = self.count(&a.shape)?;
                let k = self.variable(&Atom::index(0), "k")?;
                self.counted(&k, &count, &Atom::index(1), |l| match l.element(a, &k)? {
                    Loc::Memory(m) => l.claim_one(&claims, &m.index, place),
                    _ => Err(l.unsupported("an array of arrays")),
                })
            }
            Loc::Value(_) | Loc::Registers(_) | Loc::Choice(..) | Loc::Stack(_) => Ok(()),
        }
    }

    /// Of two iterations that claim an element, whoever is second finds the other's number: the
    /// largest one so far, which isn't its own.
    fn claim_one(&mut self, claims: &Claims, index: &Atom, place: &Place) -> Outcome<()> {
        let index = self.op(Op::Sub, Ty::U64, &[index.clone(), claims.first.clone()])?;
        let builder = self.builder()?;
        let to = builder.address(&claims.owners.mem, 0, &index, None);
        let old = builder.register(Ty::U64, "owner");
        let value = builder.operand(&claims.own);
        builder.emit(Inst::Fetch { old, to, op: Atomic::Max, value });
        let old = Atom::Reg(old, Ty::U64);
        let taken = self.compare(Relation::Ne, &old, &Atom::index(0))?;
        let other = self.compare(Relation::Ne, &old, &claims.own)?;
        let off = self.op(Op::And, Ty::Pred, &[taken, other])?;
        let first = self.text_of(place).into();
        self.fail_if(&off, Cause::Alias { first, second: ANOTHERS.into() })
    }

    /// The index arrays that a loop declares injective hold no value twice: by one kernel that notes
    /// for each value, modulo the size of a table, the first position of such a value, and one that
    /// compares. Values that share a row of the table are looked for among all positions before.
    pub fn check_injective(&mut self, declared: &Parallel) -> Outcome<()> {
        if !self.asserts() {
            return Ok(());
        }
        for place in &declared.injective {
            let at = self.host_place(place)?;
            let Some(Loc::Array(array)) = at else { continue };
            let Some(n) = array.shape.first().and_then(Atom::word) else { continue };
            self.flush()?;
            let rows = binary(WordOp::Add, binary(WordOp::Mul, n.clone(), Word::Const(4)), Word::Const(1));
            let kind = ArgumentType::Scalar(ScalarType::U64);
            let buffer = self.new_buffer(&format!("{}_positions", self.name(place.var)), &kind, 1);
            self.step_host(Step::Allocate { buffer, shape: vec![rows.clone()] });
            let table = self.buffer_array(buffer, &kind, vec![Atom::from_word(rows, Ty::U64)])?;
            for compares in [false, true] {
                let (name, title) = self.kernel_name("injective");
                self.builder = Some(Builder::new(name, title, self.options.block));
                let done = self.over_positions(place, &array, &table, &n, compares);
                let builder = self.builder.take();
                done?;
                if let Some(builder) = builder {
                    self.launch(builder, n.clone(), None);
                }
            }
        }
        Ok(())
    }

    /// The same for a loop inside a kernel, which is short: each position with those before.
    pub fn check_injective_here(&mut self, declared: &Parallel) -> Outcome<()> {
        if !self.asserts() {
            return Ok(());
        }
        for place in &declared.injective {
            let Loc::Array(array) = self.locate(place)? else { continue };
            let Some(n) = array.shape.first().cloned() else { continue };
            let k = self.variable(&Atom::index(0), "k")?;
            self.counted(&k, &n, &Atom::index(1), |l| {
                let value = l.position_value(&array, &k)?;
                let j = l.variable(&Atom::index(0), "j")?;
                l.counted(&j, &k, &Atom::index(1), |l| l.fail_twice(place, &array, &value, (&j, &k)))
            })?;
        }
        Ok(())
    }

    fn over_positions(
        &mut self,
        place: &Place,
        array: &ArrayLoc,
        table: &ArrayLoc,
        n: &Word,
        compares: bool,
    ) -> Outcome<()> {
        let (k, _) = self.builder()?.threads();
        let n = Atom::from_word(n.clone(), Ty::U64);
        let inside = self.compare(Relation::Lt, &k, &n)?;
        self.builder()?.begin();
        let done = self.at_position(place, array, table, (&k, &n), compares);
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&inside);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }

    /// One position `k` of `n`. The table holds `n` less the position, so that 0 is none.
    fn at_position(
        &mut self,
        place: &Place,
        array: &ArrayLoc,
        table: &ArrayLoc,
        (k, n): (&Atom, &Atom),
        compares: bool,
    ) -> Outcome<()> {
        let value = self.position_value(array, k)?;
        let wide = self.as_index(value.clone())?;
        let row = self.quotient(Op::Rem, ScalarType::U64, &wide, &table.shape[0])?;
        let place_of = |l: &mut Self, row: &Atom| match l.element(table, row)? {
            Loc::Memory(m) => Ok(m),
            _ => Err(l.unsupported("a table")),
        };
        let at = place_of(self, &row)?;
        if !compares {
            let left = self.op(Op::Sub, Ty::U64, &[n.clone(), k.clone()])?;
            let builder = self.builder()?;
            let to = builder.address(&at.mem, 0, &at.index, None);
            let value = builder.operand(&left);
            builder.emit(Inst::Reduce { to, op: Atomic::Max, value, ty: Ty::U64 });
            return Ok(());
        }
        let noted = self.load(&Loc::Memory(at))?;
        let noted = self.as_index(noted)?;
        let first = self.op(Op::Sub, Ty::U64, &[n.clone(), noted])?;
        let later = self.compare(Relation::Ne, &first, k)?;
        let j = self.variable(&first, "j")?;
        self.builder()?.begin();
        let done = self.fail_twice(place, array, &value, (&j, k)).and_then(|()| {
            // another value in the same row: all positions before
            self.assign(&j, &Atom::index(0))?;
            self.counted(&j, k, &Atom::index(1), |l| l.fail_twice(place, array, &value, (&j, k)))
        });
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&later);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }

    fn position_value(&mut self, array: &ArrayLoc, k: &Atom) -> Outcome<Val> {
        let at = self.element(array, k)?;
        self.load(&at)
    }

    /// Fails where positions `j` and `k` hold the same.
    fn fail_twice(
        &mut self,
        place: &Place,
        array: &ArrayLoc,
        value: &Val,
        (j, k): (&Atom, &Atom),
    ) -> Outcome<()> {
        let other = self.position_value(array, j)?;
        let mut same = Atom::bool(true);
        for (a, b) in value.atoms().iter().zip(other.atoms()) {
            let here = self.compare(Relation::Eq, a, &b)?;
            same = self.op(Op::And, Ty::Pred, &[same, here])?;
        }
        let mut details: Vec<(Detail, Atom)> =
            value.atoms().into_iter().map(|a| (Detail::Found(a.ty()), a)).collect();
        details.extend([j, k].map(|p| (Detail::Index, p.clone())));
        let text = self.text_of(place).into();
        let cause = Cause::NotInjective { place: text, value: String::new(), first: 0, second: 0 };
        self.fail_with(&same, cause, details)
    }
}
