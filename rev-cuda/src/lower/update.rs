//! Updates and instructions.

use rev_core::ir::{Expr, Place, ScalarType, Type, UpdateOp, VarKind};
use rev_core::ops::Instr;
use rev_core::scalar::rt::instr::InstrError;

use crate::kernel::{Atomic, Inst, Op, Relation, Ty};

use super::atom::Atom;
use super::complex::Complex;
use super::memory::{Loc, MemLoc};
use super::real::ty_of;
use super::value::{is_integer, Num, Val};
use super::wide::is_wide;
use super::{Lower, Outcome};
use rev_core::ir::Number;
use rev_core::ops::Func;

/// Whether a place is that of a number that carries no derivative.
fn carries_nothing(at: &Loc) -> bool {
    match at {
        Loc::Registers(Val::Num(n)) => n.is_inactive(),
        Loc::Memory(m) => matches!(Val::zero(&m.kind), Some(Val::Num(n)) if n.is_inactive()),
        Loc::Registers(_) | Loc::Value(_) | Loc::Choice(..) | Loc::Array(_) | Loc::Stack(_) => false,
    }
}

impl Lower<'_> {
    /// `place op= expr`
    pub fn update(&mut self, op: UpdateOp, place: &Place, expr: &Expr) -> Outcome<()> {
        self.check_reads_apart(place, &[expr], &[])?;
        let at = self.locate_target(place)?;
        if let Some((func, a, b)) = expr.fused_factors() {
            let (a, b) = (self.eval(a)?, self.eval(b)?);
            let shadow = self.is_shadow(place);
            return self.add_product(op != UpdateOp::Sub, (&at, shadow), func, (a, b));
        }
        if expr.takes_any_type() && carries_nothing(&at) {
            return Ok(());
        }
        let value = self.eval(expr)?;
        match op {
            UpdateOp::Add => self.accumulate(true, &at, value),
            UpdateOp::Sub => self.accumulate(false, &at, value),
            UpdateOp::Xor => self.exclusive_or(&at, value),
        }
    }

    /// Adds a value to a place, or subtracts it.
    pub fn accumulate(&mut self, add: bool, at: &Loc, value: Val) -> Outcome<()> {
        match (at, value) {
            (_, Val::None) => Ok(()),
            (Loc::Array(a), Val::Array(from)) => self.each_element(a, |l, k| {
                let (from, to) = (l.element(&from, k)?, l.element(a, k)?);
                let value = l.load(&from)?;
                l.accumulate(add, &to, value)
            }),
            (Loc::Array(a), Val::Fill(element, _)) => self.each_element(a, |l, k| {
                let to = l.element(a, k)?;
                l.accumulate(add, &to, (*element).clone())
            }),
            (Loc::Memory(m), value) if m.shared => self.reduce(add, m, value),
            (Loc::Registers(own), value) if self.is_recorded(own) => {
                let value = self.coerce(value, own)?;
                self.keep(own, add, &value)
            }
            (at, value) => {
                let old = self.load(at)?;
                let value = self.coerce(value, &old)?;
                let new = self.combine(add, &old, &value)?;
                self.store(at, new)
            }
        }
    }

    /// Adds a product to a place, or subtracts it, with one rounding; what other threads add to as well
    /// gets a rounded product.
    fn add_product(
        &mut self,
        add: bool,
        (at, shadow): (&Loc, bool),
        func: Func,
        (a, b): (Val, Val),
    ) -> Outcome<()> {
        if !matches!(at, Loc::Array(_)) && !matches!(at, Loc::Memory(m) if m.shared) {
            let recorded = match at {
                Loc::Registers(own) if self.is_recorded(own) => Some(own.clone()),
                _ => None,
            };
            let old = match &recorded {
                Some(own) => own.clone(),
                None => self.load(at)?,
            };
            if let Val::Num(y) = &old {
                // of the cotangents of numbers of 64 or 32 bits only: others are of a type of their own
                let own = y.lanes > 0 || shadow;
                let half = matches!(y.real, ScalarType::F16 | ScalarType::Bf16);
                if !(own && (y.complex || half)) && is_number_of(&a, y) && is_number_of(&b, y) {
                    if recorded.is_some() {
                        let (a, b) = (self.coerce_number(a, y)?, self.coerce_number(b, &y.lane(0))?);
                        return self.keep_product(add, y, &a, &b);
                    }
                    let new = self.fused_sum(add, y, a, b)?;
                    return self.store(at, Val::Num(new));
                }
            }
        }
        let product = self.apply(func, vec![a, b])?;
        self.accumulate(add, at, product)
    }

    /// `y ± a·b`, rounded once, of each cotangent of a shadow.
    fn fused_sum(&mut self, add: bool, y: &Num, a: Val, b: Val) -> Outcome<Num> {
        let (a, b) = (self.coerce_number(a, y)?, self.coerce_number(b, &y.lane(0))?);
        let mut sums = Vec::new();
        for k in 0..y.lanes.max(1) {
            let (a, y) = (a.lane(k), y.lane(k));
            if !add && matches!(y.real, ScalarType::Fixed(_)) {
                sums.push(self.exact_difference(&y, &a, &b)?);
                continue;
            }
            let a = if add { Val::Num(a) } else { self.apply(Func::Neg, vec![Val::Num(a)])? };
            let sum = self.apply(Func::MulAdd, vec![a, Val::Num(b.clone()), Val::Num(y.clone())])?;
            sums.push(self.coerce_number(sum, &y)?);
        }
        Ok(if y.lanes == 0 { sums.remove(0) } else { Num::join(&sums) })
    }

    /// `y - a·b` of fixed-point numbers, which takes off the bits that `y + a·b` adds.
    fn exact_difference(&mut self, y: &Num, a: &Num, b: &Num) -> Outcome<Num> {
        let y_real = y.real;
        let pair = |n: &Num| n.parts.first().cloned().zip(n.parts.get(1).cloned());
        match (pair(y), pair(a), pair(b)) {
            (Some(y), Some(a), Some(b)) => {
                let real = y_real;
                let (re, im) = Complex { lower: self, real }.fused_from(&a, &b, &y)?;
                Ok(Num::complex(real, re, im))
            }
            _ => {
                let value = self.fused_from(y.real, &a.parts[0], &b.parts[0], &y.parts[0])?;
                Ok(Num::real(y.real, value))
            }
        }
    }

    /// `a ± b`, scalar by scalar.
    pub fn combine(&mut self, add: bool, a: &Val, b: &Val) -> Outcome<Val> {
        let each = |l: &mut Self, a: &[Val], b: &[Val]| {
            a.iter().zip(b).map(|(a, b)| l.combine(add, a, b)).collect::<Outcome<Vec<_>>>()
        };
        Ok(match (a, b) {
            // truth values of whole structs
            (Val::Num(x), Val::Num(y)) if x.real == ScalarType::Bool && y.real == ScalarType::Bool => {
                self.apply(Func::BitXor, vec![a.clone(), b.clone()])?
            }
            (Val::Num(a), Val::Num(b)) => Val::Num(self.sum(add, a, b)?),
            (Val::Fixed(a), Val::Fixed(b)) => Val::Fixed(each(self, a, b)?),
            (Val::Tuple(a), Val::Tuple(b)) => Val::Tuple(each(self, a, b)?),
            (Val::Struct(name, a), Val::Struct(_, b)) => {
                let fields =
                    a.iter().zip(b).map(|((n, a), (_, b))| Ok((n.clone(), self.combine(add, a, b)?)));
                Val::Struct(name.clone(), fields.collect::<Outcome<_>>()?)
            }
            (Val::None, _) | (_, Val::None) => a.clone(),
            _ => return Err(self.unsupported("a sum of these values")),
        })
    }

    /// An addition to what other threads add to as well.
    fn reduce(&mut self, add: bool, at: &MemLoc, value: Val) -> Outcome<()> {
        let Some(like) = Val::zero(&at.kind) else { return Err(self.unsupported("an array of arrays")) };
        let value = self.coerce(value, &like)?;
        let value = if add { value } else { self.combine(false, &like, &value)? };
        if self.gathered.contains(&at.mem.id) {
            return self.reduce_gathered(at, &value);
        }
        self.reduce_leaves(at, Atomic::Add, &value)
    }

    pub fn reduce_leaves(&mut self, at: &MemLoc, op: Atomic, value: &Val) -> Outcome<()> {
        let mut leaf = at.leaf;
        let mut numbers = Vec::new();
        value.numbers(&mut numbers);
        for number in numbers {
            if number.real == ScalarType::Bool && op == Atomic::Add {
                return Err(self.unsupported("a sum of truth values by several threads"));
            }
            let wide = matches!(number.real, ScalarType::I128 | ScalarType::U128);
            match number.parts.as_slice() {
                [low, high] if wide && op == Atomic::Add => self.reduce_wide(at, leaf, low, high)?,
                parts => {
                    for (k, value) in parts.iter().enumerate() {
                        self.reduce_leaf(at, leaf + k, op, value)?;
                    }
                }
            }
            leaf += number.parts.len();
        }
        Ok(())
    }

    fn reduce_leaf(&mut self, at: &MemLoc, leaf: usize, op: Atomic, value: &Atom) -> Outcome<()> {
        self.zeros.remove(&at.mem.id);
        let builder = self.builder()?;
        builder.forget_contents(at.mem.id);
        let to = builder.address(&at.mem, leaf, &at.index, at.extra.as_ref());
        let (ty, value) = (value.ty(), builder.operand(value));
        builder.emit(Inst::Reduce { to, op, value, ty });
        Ok(())
    }

    /// Of a 128-bit integer the low half first: what was there before says whether this addition carries
    /// into the high half. Nobody reads the sum before all halves and carries are added.
    fn reduce_wide(&mut self, at: &MemLoc, leaf: usize, low: &Atom, high: &Atom) -> Outcome<()> {
        let builder = self.builder()?;
        let to = builder.address(&at.mem, leaf, &at.index, at.extra.as_ref());
        let (old, value) = (builder.register(Ty::U64, ""), builder.operand(low));
        builder.emit(Inst::Fetch { old, to, op: Atomic::Add, value });
        let sum = self.op(Op::Add, Ty::U64, &[Atom::Reg(old, Ty::U64), low.clone()])?;
        let carries = self.compare(Relation::Lt, &sum, low)?;
        let carry = self.op(Op::Convert, Ty::U64, &[carries])?;
        let high = self.op(Op::Add, Ty::U64, &[high.clone(), carry])?;
        self.reduce_leaf(at, leaf + 1, Atomic::Add, &high)
    }

    fn exclusive_or(&mut self, at: &Loc, value: Val) -> Outcome<()> {
        if let Loc::Memory(m) = at {
            if m.shared {
                let Some(like) = Val::zero(&m.kind) else {
                    return Err(self.unsupported("an array of arrays"));
                };
                let value = self.coerce(value, &like)?;
                return self.reduce_leaves(m, Atomic::Xor, &value);
            }
        }
        let old = self.load(at)?;
        let new = self.apply(Func::BitXor, vec![old, value])?;
        self.store(at, new)
    }

    /// An instruction on places.
    pub fn instruct(&mut self, instr: Instr, places: &[Place], operands: &[Expr]) -> Outcome<()> {
        if self.asserts() {
            self.frame_mut()?.acting = places.first().map_or_else(String::new, |p| self.text_of(p));
            let (read, all): (Vec<&Expr>, Vec<&Place>) = (operands.iter().collect(), places.iter().collect());
            for (k, place) in places.iter().enumerate() {
                self.check_reads_apart(place, &read, &all)?;
                // an element that is exchanged with itself stays as it is
                let others = if instr == Instr::Swap { &[] } else { &places[..k] };
                others.iter().try_for_each(|before| self.check_apart(before, place))?;
            }
        }
        let at = places.iter().map(|p| self.locate(p)).collect::<Outcome<Vec<_>>>()?;
        let operands = operands.iter().map(|e| self.eval(e)).collect::<Outcome<Vec<_>>>()?;
        let shadows = places.first().is_some_and(|p| self.is_shadow(p));
        match (instr, at.as_slice()) {
            (Instr::Swap, [Loc::Array(a), Loc::Array(b)]) => self.each_element(a, |l, k| {
                let (x, y) = (l.element(a, k)?, l.element(b, k)?);
                l.swap(&x, &y)
            }),
            (Instr::Swap, [a, b]) => self.swap(a, b),
            (_, [Loc::Array(a)]) => self.each_element(a, |l, k| {
                let at = l.element(a, k)?;
                l.instruct_one(instr, &at, operands.first(), shadows)
            }),
            (_, [a]) => self.instruct_one(instr, a, operands.first(), shadows),
            (_, [a, b]) => {
                let (x, y) = (self.load(a)?, self.load(b)?);
                let (x, y) = self.on_two(instr, x, y, operands.first())?;
                self.store_both(a, x, b, y)
            }
            _ => Err(self.unsupported(format!("`{}` of these places", instr.name()))),
        }
    }

    /// Whether a place is in the shadow of a variable.
    fn is_shadow(&self, place: &Place) -> bool {
        let vars = self.frames.last().map(|f| &f.vars);
        vars.and_then(|v| v.get(place.var.0 as usize))
            .is_some_and(|v| matches!(v.ty, Type::Shadow(_)) && v.kind != VarKind::Index)
    }

    fn swap(&mut self, a: &Loc, b: &Loc) -> Outcome<()> {
        let (x, y) = (self.load(a)?, self.load(b)?);
        self.store_both(a, y, b, x)
    }

    fn store_both(&mut self, a: &Loc, x: Val, b: &Loc, y: Val) -> Outcome<()> {
        let (x, y) = (self.freeze(&x), self.freeze(&y));
        self.store(a, x)?;
        self.store(b, y)
    }

    fn instruct_one(&mut self, instr: Instr, at: &Loc, operand: Option<&Val>, shadows: bool) -> Outcome<()> {
        let old = self.load(at)?;
        let new = self.on_one(instr, &old, operand, shadows)?;
        let new = self.freeze(&new);
        self.store(at, new)
    }

    fn on_one(&mut self, instr: Instr, val: &Val, operand: Option<&Val>, shadows: bool) -> Outcome<Val> {
        let each = |l: &mut Self, es: &[Val]| {
            es.iter().map(|e| l.on_one(instr, e, operand, shadows)).collect::<Outcome<Vec<_>>>()
        };
        Ok(match val {
            Val::Num(n) if n.lanes > 0 => {
                let lanes = (0..n.lanes).map(|k| self.on_number(instr, &n.lane(k), operand, shadows));
                Val::Num(Num::join(&lanes.collect::<Outcome<Vec<_>>>()?))
            }
            Val::Num(n) => Val::Num(self.on_number(instr, n, operand, shadows)?),
            Val::Fixed(es) => Val::Fixed(each(self, es)?),
            Val::Tuple(es) => Val::Tuple(each(self, es)?),
            Val::Struct(name, fields) => {
                let fields =
                    fields.iter().map(|(n, v)| Ok((n.clone(), self.on_one(instr, v, operand, shadows)?)));
                Val::Struct(name.clone(), fields.collect::<Outcome<_>>()?)
            }
            Val::None => Val::None,
            _ => return Err(self.unsupported(format!("`{}` of this value", instr.name()))),
        })
    }

    fn on_number(&mut self, instr: Instr, n: &Num, operand: Option<&Val>, shadows: bool) -> Outcome<Num> {
        let each = |l: &mut Self, f: &mut dyn FnMut(&mut Self, &Atom) -> Outcome<Atom>| {
            let parts = n.parts.iter().map(|p| f(l, p)).collect::<Outcome<_>>()?;
            Ok(Num { parts, ..n.clone() })
        };
        match instr {
            Instr::Neg if n.parts.len() == 2 && !n.complex => {
                let zero = Num { parts: vec![Atom::index(0); 2], ..n.clone() };
                self.wide_sum(false, &zero, n)
            }
            Instr::Neg => each(self, &mut |l, p| l.negated(n.real, p)),
            Instr::Conj if n.complex => {
                let im = self.negated(n.real, &n.parts[1])?;
                Ok(Num::complex(n.real, n.parts[0].clone(), im))
            }
            Instr::Conj => Ok(n.clone()),
            Instr::Inc | Instr::Dec => {
                let one = self.literal_as(Number::Int(1), n.real, n.complex)?;
                self.sum(instr == Instr::Inc, n, &one)
            }
            Instr::Flip => each(self, &mut |l, p| l.op(Op::Not, Ty::Pred, std::slice::from_ref(p))),
            Instr::Inv => match self.apply(Func::Recip, vec![Val::Num(n.clone())])? {
                Val::Num(n) => Ok(n),
                _ => Err(self.unsupported("`inv` of this value")),
            },
            Instr::MulInt | Instr::DivInt => {
                let Some(k) = operand else { return Err(self.unsupported("an instruction without operand")) };
                let k = match k {
                    Val::Num(k) => self.converted(&k.parts[0], k.real, ScalarType::I64)?,
                    Val::Literal(k) => self.number(ScalarType::I64, *k)?,
                    _ => return Err(self.unsupported("a factor that isn't an integer")),
                };
                let mul = instr == Instr::MulInt;
                if is_wide(n.real) {
                    return self.wide_by_integer(instr, n, &k);
                }
                each(self, &mut |l, p| l.by_integer(mul, n.real, p, &k, shadows))
            }
            Instr::ScaleBy | Instr::UnscaleBy => {
                let Some(c) = operand else { return Err(self.unsupported("an instruction without operand")) };
                let c = if shadows { self.cotangent_of(c.clone())? } else { c.clone() };
                let c = self.coerce_number(c, n)?;
                if instr == Instr::ScaleBy {
                    return self.product(n, &c);
                }
                if n.complex {
                    let (a, b) =
                        ((n.parts[0].clone(), n.parts[1].clone()), (c.parts[0].clone(), c.parts[1].clone()));
                    let (re, im) = Complex { lower: self, real: n.real }.over(&a, &b)?;
                    return Ok(Num::complex(n.real, re, im));
                }
                Ok(Num::real(n.real, self.over(n.real, &n.parts[0], &c.parts[0])?))
            }
            Instr::Swap | Instr::Rot | Instr::Irot | Instr::Hadamard => {
                Err(self.unsupported(format!("`{}` of one place", instr.name())))
            }
        }
    }

    /// A value as a number like another.
    fn coerce_number(&mut self, val: Val, like: &Num) -> Outcome<Num> {
        match self.coerce(val, &Val::Num(like.clone()))? {
            Val::Num(n) => Ok(n),
            _ => Err(self.unsupported("an operand that isn't a number")),
        }
    }

    /// `k·x` or `x/k`.
    fn by_integer(&mut self, mul: bool, real: ScalarType, x: &Atom, k: &Atom, shadow: bool) -> Outcome<Atom> {
        if self.checks_values() {
            let zero = self.compare(Relation::Eq, k, &Atom::Const(0, Ty::I64))?;
            self.fail_instruction(&zero, if mul { "mul_int" } else { "div_int" }, InstrError::Inexact)?;
            if is_integer(real) {
                self.check_factor(mul, real, k)?;
            }
        }
        if real.is_half() {
            return self
                .through_single(real, &[x], |l, single, x| l.by_integer(mul, single, x[0], k, shadow));
        }
        if ty_of(real).is_float() || (matches!(real, ScalarType::Fixed(_)) && shadow) {
            let k = self.converted(k, ScalarType::I64, real)?;
            return if mul { self.times(real, x, &k) } else { self.over(real, x, &k) };
        }
        // fixed point: of the bits
        let of = match real {
            ScalarType::Fixed(format) if format.bits() == 32 => ScalarType::I32,
            ScalarType::Fixed(_) => ScalarType::I64,
            _ => real,
        };
        if of != real && self.checks_values() {
            self.check_factor(mul, of, k)?;
        }
        let k = self.converted(k, ScalarType::I64, of)?;
        if mul {
            let product = self.times(of, x, &k)?;
            self.check_product(of, x, &k, &product)?;
            return Ok(product);
        }
        if self.checks_values() {
            let rest = self.quotient(Op::Rem, of, x, &k)?;
            let zero = self.int(of, 0)?;
            let inexact = self.compare(Relation::Ne, &rest, &zero)?;
            self.fail_instruction(&inexact, "div_int", InstrError::Inexact)?;
        }
        self.quotient(Op::Div, of, x, &k)
    }

    /// The factor is a number of the integer's type.
    fn check_factor(&mut self, mul: bool, real: ScalarType, k: &Atom) -> Outcome<()> {
        let own = self.converted(k, ScalarType::I64, real)?;
        let back = self.converted(&own, real, ScalarType::I64)?;
        let mut off = self.compare(Relation::Ne, &back, k)?;
        if !ty_of(real).is_signed() {
            let below = self.compare(Relation::Lt, k, &Atom::Const(0, Ty::I64))?;
            off = self.op(Op::Or, Ty::Pred, &[off, below])?;
        }
        let (name, reason) = match mul {
            true => ("mul_int", InstrError::Overflow),
            false => ("div_int", InstrError::Inexact),
        };
        self.fail_instruction(&off, name, reason)
    }

    /// The product of integers fits, where that is checked: dividing gives the factor again.
    fn check_product(&mut self, real: ScalarType, x: &Atom, k: &Atom, product: &Atom) -> Outcome<()> {
        if !self.checks_values() || !is_integer(real) {
            return Ok(());
        }
        let back = self.quotient(Op::Div, real, product, k)?;
        let mut off = self.compare(Relation::Ne, &back, x)?;
        if ty_of(real).is_signed() {
            // the smallest number times -1 wraps to itself
            let zero = self.int(real, 0)?;
            let mut least = Atom::bool(true);
            for n in [x, k, product] {
                let below = self.compare(Relation::Lt, n, &zero)?;
                least = self.op(Op::And, Ty::Pred, &[least, below])?;
            }
            off = self.op(Op::Or, Ty::Pred, &[off, least])?;
        }
        self.fail_instruction(&off, "mul_int", InstrError::Overflow)
    }

    fn on_two(&mut self, instr: Instr, a: Val, b: Val, operand: Option<&Val>) -> Outcome<(Val, Val)> {
        let (a, b) = match self.alike(a, b)? {
            (Val::None, Val::None) => return Ok((Val::None, Val::None)),
            (Val::Num(a), Val::Num(b)) => (a, b),
            _ => return Err(self.unsupported(format!("`{}` of these values", instr.name()))),
        };
        let angle = match operand {
            // cotangents are turned by an angle of the values' type
            Some(Val::Num(theta)) if theta.real.cotangent() == a.real => Some(theta.clone()),
            Some(theta) => Some(self.coerce_number(theta.clone(), &a.lane(0))?),
            None => None,
        };
        let turn = match (instr, angle) {
            (Instr::Rot | Instr::Irot, Some(theta)) => {
                let real = theta.real;
                let cos = self.expand_real(Func::Cos, real, &theta.parts[0])?;
                let sin = self.expand_real(Func::Sin, real, &theta.parts[0])?;
                let sin = if instr == Instr::Irot { self.negated(real, &sin)? } else { sin };
                let (cos, sin) = (self.converted(&cos, real, a.real)?, self.converted(&sin, real, a.real)?);
                Some((Num::real(a.real, cos), Num::real(a.real, sin)))
            }
            _ => None,
        };
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for k in 0..a.lanes.max(1) {
            let (x, y) = match &turn {
                Some((cos, sin)) => self.rotate(&a.lane(k), &b.lane(k), cos, sin)?,
                None => self.hadamard(&a.lane(k), &b.lane(k))?,
            };
            xs.push(x);
            ys.push(y);
        }
        if a.lanes == 0 {
            return Ok((Val::Num(xs.remove(0)), Val::Num(ys.remove(0))));
        }
        Ok((Val::Num(Num::join(&xs)), Val::Num(Num::join(&ys))))
    }

    fn expand_real(&mut self, func: Func, real: ScalarType, x: &Atom) -> Outcome<Atom> {
        self.expand(func, real, &[x])
    }

    fn rotate(&mut self, a: &Num, b: &Num, cos: &Num, sin: &Num) -> Outcome<(Num, Num)> {
        let (ac, bs) = (self.product(a, cos)?, self.product(b, sin)?);
        let x = self.sum(false, &ac, &bs)?;
        let (as_, bc) = (self.product(a, sin)?, self.product(b, cos)?);
        Ok((x, self.sum(true, &as_, &bc)?))
    }

    fn hadamard(&mut self, a: &Num, b: &Num) -> Outcome<(Num, Num)> {
        let r = self.literal_as(Number::Float(std::f64::consts::FRAC_1_SQRT_2), a.real, a.complex)?;
        let (sum, difference) = (self.sum(true, a, b)?, self.sum(false, a, b)?);
        Ok((self.product(&sum, &r)?, self.product(&difference, &r)?))
    }
}

/// Whether a value is a number of the type in which a place's are, or those of a shadow.
fn is_number_of(value: &Val, place: &Num) -> bool {
    match value {
        Val::Num(n) => n.real == place.real && n.complex == place.complex,
        Val::Literal(_) => true,
        Val::Choice(_, a, b) => is_number_of(a, place) && is_number_of(b, place),
        _ => false,
    }
}
