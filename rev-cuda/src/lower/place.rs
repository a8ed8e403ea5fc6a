//! From places to where they are, and from there to values and back.

use std::rc::Rc;

use rev_core::ir::{Axis, Expr, Place, ScalarType, Step, VarId};

use crate::kernel::{Inst, Op, Relation, Ty};

use super::atom::Atom;
use super::memory::{ArrayLoc, Loc, MemLoc};
use super::types::ArgumentType;
use super::value::{Num, Val};
use super::{Lower, Outcome};

impl Lower<'_> {
    /// Where a variable is.
    pub fn slot(&mut self, var: VarId) -> Outcome<Loc> {
        let frame = self.frame()?;
        match frame.slots.get(var.0 as usize).and_then(Option::clone) {
            Some(loc) => Ok(loc),
            None => {
                let name = frame.vars.get(var.0 as usize).map_or_else(String::new, |v| v.name.clone());
                Err(self.unsupported(format!("`{name}`, which isn't in scope,")))
            }
        }
    }

    /// Where a place is.
    pub fn locate(&mut self, place: &Place) -> Outcome<Loc> {
        let root = self.slot(place.var)?;
        self.locate_from(root, place, 0)
    }

    /// Where a place is that is added to: what stands for it in a shared sum.
    pub fn locate_target(&mut self, place: &Place) -> Outcome<Loc> {
        let Some((root, prefix)) = self.redirected(place) else { return self.locate(place) };
        if prefix > 0 && self.checks_values() {
            // what stands for an element doesn't need its index
            let whole = self.slot(place.var)?;
            self.locate_from(whole, place, 0)?;
        }
        self.locate_from(root, place, prefix)
    }

    /// What stands for the variable of a place that iterations add to, and for how many steps of the
    /// place.
    pub fn redirected(&self, place: &Place) -> Option<(Loc, usize)> {
        let redirects = &self.frames.last()?.redirects;
        let fits =
            |r: &&super::Redirect| r.var == place.var && (r.places.is_empty() || r.places.contains(place));
        redirects.iter().rev().find(fits).map(|r| (r.loc.clone(), r.prefix))
    }

    /// Where a place is, with another location for its variable and the first steps.
    pub fn locate_from(&mut self, root: Loc, place: &Place, steps: usize) -> Outcome<Loc> {
        let mut at = root;
        for (depth, step) in place.path.iter().enumerate().skip(steps) {
            let indices = self.indices(step)?;
            at = self.step(at, step, &indices, place)?;
            if depth == 0 {
                self.claim(&at, place)?;
            }
        }
        Ok(at)
    }

    /// The same with indices that are known.
    pub fn locate_at(
        &mut self,
        root: Loc,
        place: &Place,
        indices: &mut dyn Iterator<Item = Atom>,
    ) -> Outcome<Loc> {
        let mut at = root;
        for step in &place.path {
            let own: Vec<Atom> = indices.take(step.exprs().count()).collect();
            at = self.step(at, step, &own, place)?;
        }
        Ok(at)
    }

    fn indices(&mut self, step: &Step) -> Outcome<Vec<Atom>> {
        step.exprs().map(|e| self.index(e)).collect()
    }

    /// The value of an index as a `U64`.
    pub fn index(&mut self, e: &Expr) -> Outcome<Atom> {
        let value = self.eval(e)?;
        self.as_index(value)
    }

    /// An integer as a `U64`.
    pub fn as_index(&mut self, value: Val) -> Outcome<Atom> {
        match value {
            Val::Num(n) => self.converted(&n.parts[0], n.real, ScalarType::Usize),
            Val::Literal(n) => self.number(ScalarType::Usize, n),
            choice @ Val::Choice(..) => {
                let like = Val::index(Atom::index(0));
                let value = self.coerce(choice, &like)?;
                self.as_index(value)
            }
            _ => Err(self.unsupported("an index that isn't an integer")),
        }
    }

    fn step(&mut self, at: Loc, step: &Step, indices: &[Atom], place: &Place) -> Outcome<Loc> {
        match at {
            Loc::Value(Val::Array(a)) => self.step(Loc::Array(a), step, indices, place),
            Loc::Value(val) => self.step_value(val, step, indices, &Loc::Value, place),
            Loc::Registers(val) => self.step_value(val, step, indices, &Loc::Registers, place),
            Loc::Choice(locs, which) => {
                let steps = locs.into_iter().map(|l| self.step(l, step, indices, place));
                Ok(Loc::Choice(steps.collect::<Outcome<_>>()?, which))
            }
            Loc::Memory(m) => self.step_memory(m, step, indices, place),
            Loc::Array(a) => self.step_array(a, step, indices, place),
            Loc::Stack(_) => Err(self.unsupported("a part of a stack")),
        }
    }

    fn step_value(
        &mut self,
        val: Val,
        step: &Step,
        indices: &[Atom],
        wrap: &dyn Fn(Val) -> Loc,
        place: &Place,
    ) -> Outcome<Loc> {
        match (step, val) {
            (_, Val::None) => Ok(Loc::Value(Val::None)),
            (Step::Index(_), Val::Fixed(es)) => {
                self.check_index(indices, &[Atom::index(es.len())], place)?;
                match indices[0].integer().and_then(|i| usize::try_from(i).ok()) {
                    Some(i) if i < es.len() => Ok(wrap(es[i].clone())),
                    Some(_) => Err(self.unsupported("an index that is out of range")),
                    None => {
                        let index = indices[0].clone();
                        Ok(Loc::Choice(es.into_iter().map(wrap).collect(), index))
                    }
                }
            }
            (Step::Element(k), Val::Tuple(mut es)) if (*k as usize) < es.len() => {
                Ok(wrap(es.swap_remove(*k as usize)))
            }
            (Step::Element(k), Val::Struct(_, fields)) => {
                match fields.into_iter().find(|(n, _)| n.parse() == Ok(*k)) {
                    Some((_, val)) => Ok(wrap(val)),
                    None => Err(self.unsupported(format!("the field {k}"))),
                }
            }
            (Step::Field(name), Val::Struct(_, fields)) => {
                match fields.into_iter().find(|(n, _)| n == name) {
                    Some((_, val)) => Ok(wrap(val)),
                    None => Err(self.unsupported(format!("the field `{name}`"))),
                }
            }
            (step, Val::Num(n)) if is_part(step) => self.part_of_number(n, step, wrap),
            (step, Val::Literal(n)) if is_part(step) => {
                let zero = rev_core::ir::Number::Int(0);
                Ok(Loc::Value(Val::Literal(if is_im(step) { zero } else { n })))
            }
            _ => Err(self.unsupported("a part that the value hasn't")),
        }
    }

    fn part_of_number(&mut self, n: Num, step: &Step, wrap: &dyn Fn(Val) -> Loc) -> Outcome<Loc> {
        let half = n.lanes.max(1);
        if !n.complex {
            let zero = self.int(n.real, 0)?;
            return Ok(if is_im(step) {
                Loc::Value(Val::Num(Num { parts: vec![zero; half], ..n }))
            } else {
                wrap(Val::Num(n))
            });
        }
        let range = if is_im(step) { half..2 * half } else { 0..half };
        Ok(wrap(Val::Num(Num { parts: n.parts[range].to_vec(), complex: false, ..n })))
    }

    fn step_memory(&mut self, mut at: MemLoc, step: &Step, indices: &[Atom], place: &Place) -> Outcome<Loc> {
        let kind = at.kind.clone();
        match (step, kind) {
            (_, ArgumentType::None) => return Ok(Loc::Value(Val::None)),
            (Step::Index(_), ArgumentType::Fixed(element, n)) => {
                self.check_index(indices, &[Atom::index(n)], place)?;
                let leaves = element.leaves().len();
                match indices[0].integer() {
                    Some(i) if (0..n as i128).contains(&i) => at.leaf += i as usize * leaves,
                    Some(_) => return Err(self.unsupported("an index that is out of range")),
                    None => {
                        let range = at.leaf..at.leaf + leaves;
                        let bytes = self.builder()?.planes_bytes(&at.mem, range);
                        let bytes = self.op(Op::Mul, Ty::U64, &[indices[0].clone(), bytes])?;
                        at.extra = Some(match &at.extra {
                            Some(extra) => self.op(Op::Add, Ty::U64, &[extra.clone(), bytes])?,
                            None => bytes,
                        });
                    }
                }
                at.kind = *element;
            }
            (Step::Element(k), ArgumentType::Tuple(kinds)) if (*k as usize) < kinds.len() => {
                at.leaf += leaves_before(kinds.iter(), *k as usize);
                at.kind = kinds[*k as usize].clone();
            }
            (Step::Element(k), ArgumentType::Struct(_, fields)) => {
                let Some(k) = fields.iter().position(|(n, _)| n.parse() == Ok(*k)) else {
                    return Err(self.unsupported(format!("the field {k}")));
                };
                at.leaf += leaves_before(fields.iter().map(|(_, t)| t), k);
                at.kind = fields[k].1.clone();
            }
            (Step::Field(name), ArgumentType::Struct(_, fields)) => {
                let Some(k) = fields.iter().position(|(n, _)| n == name) else {
                    return Err(self.unsupported(format!("the field `{name}`")));
                };
                at.leaf += leaves_before(fields.iter().map(|(_, t)| t), k);
                at.kind = fields[k].1.clone();
            }
            (step, kind) if is_part(step) => match kind {
                ArgumentType::Complex(real) => {
                    at.leaf += usize::from(is_im(step));
                    at.kind = ArgumentType::Scalar(real);
                }
                ArgumentType::Shadow { real, complex: true, width } => {
                    at.leaf += if is_im(step) { width } else { 0 };
                    at.kind = ArgumentType::Shadow { real, complex: false, width };
                }
                kind if is_im(step) => {
                    let zero =
                        Val::zero(&kind).ok_or_else(|| self.defect("the imaginary part of no number"))?;
                    return Ok(Loc::Value(zero));
                }
                _ => {}
            },
            _ => return Err(self.unsupported("a part that the value hasn't")),
        }
        Ok(Loc::Memory(at))
    }

    fn step_array(&mut self, at: ArrayLoc, step: &Step, indices: &[Atom], place: &Place) -> Outcome<Loc> {
        match step {
            Step::Index(_) if indices.len() == at.shape.len() => {
                self.check_index(indices, &at.shape, place)?;
                let index = self.offset(&at, indices)?;
                let index = self.op(Op::Add, Ty::U64, &[at.first, index])?;
                Ok(Loc::Memory(MemLoc {
                    mem: at.mem,
                    index,
                    leaf: 0,
                    extra: None,
                    kind: at.kind,
                    shared: at.shared,
                }))
            }
            Step::Part(axes) if axes.len() <= at.shape.len() => self.part(at, axes, indices, place),
            Step::Index(_) | Step::Part(_) | Step::Field(_) | Step::Element(_) | Step::Re | Step::Im => {
                Err(self.unsupported("a part of an array that isn't an element"))
            }
        }
    }

    /// The value at a location.
    pub fn load(&mut self, at: &Loc) -> Outcome<Val> {
        match at {
            Loc::Value(val) | Loc::Registers(val) => Ok(val.clone()),
            Loc::Choice(locs, which) => {
                let vals = locs.iter().map(|l| self.load(l)).collect::<Outcome<Vec<_>>>()?;
                self.pick(&vals, which)
            }
            Loc::Memory(m) => self.load_memory(m),
            Loc::Array(a) => Ok(Val::Array(a.clone())),
            Loc::Stack(_) => Err(self.unsupported("the value of a stack")),
        }
    }

    fn load_memory(&mut self, at: &MemLoc) -> Outcome<Val> {
        if self.measuring.as_ref().is_some_and(|m| m.writes(&at.mem)) {
            return Err(self.unsupported("a length that depends on what the loop writes"));
        }
        let mut atoms = Vec::new();
        for (k, ty) in at.kind.leaves().into_iter().enumerate() {
            let builder = self.builder()?;
            if let Some(known) = builder.content(at, at.leaf + k) {
                atoms.push(known);
                continue;
            }
            let from = builder.address(&at.mem, at.leaf + k, &at.index, at.extra.as_ref());
            let to = builder.register(ty, "");
            builder.emit(Inst::Load { to, from, read_only: at.mem.read_only });
            let value = Atom::Reg(to, ty);
            builder.note_content(at, at.leaf + k, &value, false);
            atoms.push(value);
        }
        match Val::from_atoms(&at.kind, &mut atoms.into_iter()) {
            Some(val) => Ok(val),
            None => Err(self.unsupported("an array of arrays")),
        }
    }

    /// Replaces the value at a location.
    pub fn store(&mut self, at: &Loc, val: Val) -> Outcome<()> {
        match at {
            Loc::Registers(old) => {
                let val = self.coerce(val, old)?;
                for (to, value) in old.atoms().iter().zip(val.atoms()) {
                    self.assign(to, &value)?;
                    self.see_register(to, &value)?;
                }
                Ok(())
            }
            Loc::Choice(locs, which) => {
                for (k, loc) in locs.iter().enumerate() {
                    let here = self.compare(Relation::Eq, which, &Atom::index(k))?;
                    let old = self.load(loc)?;
                    let new = self.choose_val(&here, &val, &old)?;
                    self.store(loc, new)?;
                }
                Ok(())
            }
            Loc::Memory(m) => self.store_memory(m, val),
            Loc::Array(a) => self.store_array(a, val),
            Loc::Value(Val::None) => Ok(()),
            Loc::Value(_) => Err(self.unsupported("writing a value that doesn't change")),
            Loc::Stack(_) => Err(self.unsupported("writing a whole stack")),
        }
    }

    fn store_memory(&mut self, at: &MemLoc, val: Val) -> Outcome<()> {
        let Some(like) = Val::zero(&at.kind) else { return Err(self.unsupported("an array of arrays")) };
        let val = self.coerce(val, &like)?;
        self.zeros.remove(&at.mem.id);
        for (k, value) in val.atoms().iter().enumerate() {
            self.see_memory(at, value)?;
            let builder = self.builder()?;
            let to = builder.address(&at.mem, at.leaf + k, &at.index, at.extra.as_ref());
            let (ty, now) = (value.ty(), builder.resolve(value));
            let value = builder.operand(&now);
            builder.emit(Inst::Store { to, value, ty });
            builder.note_content(at, at.leaf + k, &now, true);
        }
        Ok(())
    }

    fn store_array(&mut self, at: &ArrayLoc, val: Val) -> Outcome<()> {
        match val {
            Val::Fill(element, _) => self.each_element(at, |l, k| {
                let to = l.element(at, k)?;
                l.store(&to, (*element).clone())
            }),
            Val::Array(from) => self.each_element(at, |l, k| {
                let from = l.element(&from, k)?;
                let value = l.load(&from)?;
                let to = l.element(at, k)?;
                l.store(&to, value)
            }),
            _ => Err(self.unsupported("an array of this value")),
        }
    }

    /// A part of an array, with what it takes of each axis checked.
    fn part(&mut self, at: ArrayLoc, axes: &[Axis], indices: &[Atom], place: &Place) -> Outcome<Loc> {
        let mut given = indices.iter().cloned();
        let (mut first, mut shape, mut strides) = (at.first.clone(), Vec::new(), Vec::new());
        for (k, (n, stride)) in at.shape.iter().zip(self.strides(&at)?).enumerate() {
            let axis = axes.get(k).unwrap_or(&Axis::Whole);
            let from = match (axis, given.by_ref().take(axis.exprs().count()).collect::<Vec<_>>().as_slice())
            {
                (Axis::At(_), [i]) => {
                    self.check_index(std::slice::from_ref(i), std::slice::from_ref(n), place)?;
                    i.clone()
                }
                (Axis::Range(..), [i, j]) => {
                    self.check_range(i, j, n, place)?;
                    shape.push(self.op(Op::Sub, Ty::U64, &[j.clone(), i.clone()])?);
                    strides.push(stride.clone());
                    i.clone()
                }
                _ => {
                    shape.push(n.clone());
                    strides.push(stride.clone());
                    Atom::index(0)
                }
            };
            let skipped = self.op(Op::Mul, Ty::U64, &[from, stride])?;
            first = self.op(Op::Add, Ty::U64, &[first, skipped])?;
        }
        let dense = strides.len() == 1 && strides[0].integer() == Some(1);
        Ok(Loc::Array(ArrayLoc { first, shape, strides: (!dense).then_some(strides), ..at }))
    }

    /// How many elements neighbours along each axis are apart.
    fn strides(&mut self, at: &ArrayLoc) -> Outcome<Vec<Atom>> {
        if let Some(strides) = &at.strides {
            return Ok(strides.clone());
        }
        let (mut strides, mut next) = (Vec::new(), Atom::index(1));
        for n in &at.shape {
            strides.push(next.clone());
            next = self.op(Op::Mul, Ty::U64, &[next, n.clone()])?;
        }
        Ok(strides)
    }

    /// How many elements after its first one that at an index of an array is.
    fn offset(&mut self, at: &ArrayLoc, indices: &[Atom]) -> Outcome<Atom> {
        let mut offset = Atom::index(0);
        let Some(strides) = &at.strides else {
            for (i, n) in indices.iter().zip(&at.shape).rev() {
                let before = self.op(Op::Mul, Ty::U64, &[offset, n.clone()])?;
                offset = self.op(Op::Add, Ty::U64, &[before, i.clone()])?;
            }
            return Ok(offset);
        };
        for (i, stride) in indices.iter().zip(strides) {
            let own = self.op(Op::Mul, Ty::U64, &[i.clone(), stride.clone()])?;
            offset = self.op(Op::Add, Ty::U64, &[offset, own])?;
        }
        Ok(offset)
    }

    /// The indices of the `k`-th element of an array, the first axis fastest.
    fn indices_of(&mut self, at: &ArrayLoc, k: &Atom) -> Outcome<Vec<Atom>> {
        let [before @ .., _] = at.shape.as_slice() else { return Ok(Vec::new()) };
        let (mut indices, mut rest) = (Vec::new(), k.clone());
        for n in before {
            indices.push(self.quotient(Op::Rem, ScalarType::U64, &rest, n)?);
            rest = self.quotient(Op::Div, ScalarType::U64, &rest, n)?;
        }
        indices.push(rest);
        Ok(indices)
    }

    /// The `k`-th element of an array, the first axis fastest.
    pub fn element(&mut self, at: &ArrayLoc, k: &Atom) -> Outcome<Loc> {
        let offset = match at.strides {
            Some(_) => {
                let indices = self.indices_of(at, k)?;
                self.offset(at, &indices)?
            }
            None => k.clone(),
        };
        let index = self.op(Op::Add, Ty::U64, &[at.first.clone(), offset])?;
        let (mem, kind) = (Rc::clone(&at.mem), at.kind.clone());
        Ok(Loc::Memory(MemLoc { mem, index, leaf: 0, extra: None, kind, shared: at.shared }))
    }

    /// How many elements an array has.
    pub fn count(&mut self, shape: &[Atom]) -> Outcome<Atom> {
        let mut count = Atom::index(1);
        for n in shape {
            count = self.op(Op::Mul, Ty::U64, &[count, n.clone()])?;
        }
        Ok(count)
    }

    /// Does the same for each element of an array.
    pub fn each_element(
        &mut self,
        at: &ArrayLoc,
        body: impl FnOnce(&mut Self, &Atom) -> Outcome<()>,
    ) -> Outcome<()> {
        if at.kind.leaves().is_empty() {
            return Ok(());
        }
        let count = self.count(&at.shape)?;
        let k = self.variable(&Atom::index(0), "k")?;
        self.counted(&k, &count, &Atom::index(1), |l| body(l, &k))
    }

    /// `while k < end { body; k += step }` on `U64`s.
    pub fn counted(
        &mut self,
        k: &Atom,
        end: &Atom,
        step: &Atom,
        body: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        self.builder()?.begin();
        let cond = self.compare(Relation::Lt, k, end);
        let before = self.builder()?.end();
        self.builder()?.begin();
        let done = body(self);
        let next = self.op(Op::Add, Ty::U64, &[k.clone(), step.clone()]).and_then(|n| self.assign(k, &n));
        let body = self.builder()?.end();
        done?;
        next?;
        let cond = self.builder()?.operand(&cond?);
        self.builder()?.emit(Inst::Loop { before, cond, body });
        Ok(())
    }
}

fn is_im(step: &Step) -> bool {
    matches!(step, Step::Im) || matches!(step, Step::Field(f) if f == "im")
}

fn is_part(step: &Step) -> bool {
    is_im(step) || matches!(step, Step::Re) || matches!(step, Step::Field(f) if f == "re")
}

fn leaves_before<'a>(kinds: impl Iterator<Item = &'a ArgumentType>, k: usize) -> usize {
    kinds.take(k).map(|t| t.leaves().len()).sum()
}
