//! One of two values by a condition: both computed and one selected where that does no harm, else the one that is
//! needed in its branch.

use rev_core::ir::{Expr, ExprKind, Number};
use rev_core::ops::Func;

use crate::kernel::{Inst, Op, Relation, Ty};

use super::atom::Atom;
use super::value::{Num, Val};
use super::{Lower, Outcome};

/// How many bytes of tables a kernel can have.
const CONSTANT_MEMORY: usize = 64 << 10;

/// The instructions of a branch where its condition holds, and where it doesn't.
type Arms = [Vec<Inst>; 2];

impl Lower<'_> {
    /// `if cond { a } else { b }`
    pub fn choice(&mut self, cond: &Expr, a: &Expr, b: &Expr) -> Outcome<Val> {
        let cond = self.truth(cond)?;
        match cond.truth() {
            Some(true) => self.eval(a),
            Some(false) => self.eval(b),
            None if is_harmless(a) && is_harmless(b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                self.choose_val(&cond, &a, &b)
            }
            None => self.branch(&cond, a, b),
        }
    }

    /// A value that one of two branches computes.
    pub fn branch(&mut self, cond: &Atom, a: &Expr, b: &Expr) -> Outcome<Val> {
        let mut arms = Arms::default();
        let x = self.within(&mut arms[0], |l| l.eval(a))?;
        let y = self.within(&mut arms[1], |l| l.eval(b))?;
        // each in its own branch: what it is made from is known there only
        let own = self.within(&mut arms[0], |l| l.toward(x.clone(), &y))?;
        let other = self.within(&mut arms[1], |l| l.toward(y, &x))?;
        let value = self.each_leaf(own, other, &mut |l, a, b| l.joined(cond, a, b, &mut arms))?;
        let [then, otherwise] = arms;
        let cond = self.builder()?.operand(cond);
        self.builder()?.emit(Inst::If { cond, then, otherwise });
        Ok(value)
    }

    /// What is emitted by `f`, at the end of instructions that were made before.
    fn within<T>(&mut self, insts: &mut Vec<Inst>, f: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        self.builder()?.begin();
        let value = f(self);
        insts.extend(self.builder()?.end());
        value
    }

    /// After a branch, what its arms computed.
    fn joined(&mut self, cond: &Atom, a: Val, b: Val, arms: &mut Arms) -> Outcome<Val> {
        match (a, b) {
            (Val::Num(a), Val::Num(b)) if a.parts.len() == b.parts.len() => {
                let each = a.parts.iter().zip(&b.parts).map(|(x, y)| self.joined_atom(x, y, arms));
                Ok(Val::Num(Num { parts: each.collect::<Outcome<_>>()?, ..a }))
            }
            (a, b) if a.is_literal() && b.is_literal() => {
                let a = self.outlasting(a, arms, 0)?;
                let b = self.outlasting(b, arms, 1)?;
                Ok(either_literal(cond, a, b))
            }
            _ => Err(self.different()),
        }
    }

    /// A register that each arm gives a value.
    fn joined_atom(&mut self, x: &Atom, y: &Atom, arms: &mut Arms) -> Outcome<Atom> {
        let builder = self.builder()?;
        let to = builder.register(x.ty(), "");
        for (arm, value) in arms.iter_mut().zip([x, y]) {
            builder.assign_after(arm, to, value);
        }
        Ok(Atom::Reg(to, x.ty()))
    }

    /// A choice whose conditions were computed in an arm, with conditions that outlast it.
    fn outlasting(&mut self, val: Val, arms: &mut Arms, arm: usize) -> Outcome<Val> {
        let Val::Choice(cond, a, b) = val else { return Ok(val) };
        let other = Atom::bool(false);
        let (x, y) = if arm == 0 { (&cond, &other) } else { (&other, &cond) };
        let kept = self.joined_atom(x, y, arms)?;
        let (a, b) = (self.outlasting(*a, arms, arm)?, self.outlasting(*b, arms, arm)?);
        Ok(Val::Choice(kept, Box::new(a), Box::new(b)))
    }

    /// `a` where the condition holds, else `b`, leaf by leaf.
    pub fn choose_val(&mut self, cond: &Atom, a: &Val, b: &Val) -> Outcome<Val> {
        let (a, b) = self.alike(a.clone(), b.clone())?;
        self.each_leaf(a, b, &mut |l, a, b| match (a, b) {
            (Val::Num(a), Val::Num(b)) if a.parts.len() == b.parts.len() => {
                let each = a.parts.iter().zip(&b.parts).map(|(x, y)| l.choose(cond, x, y));
                Ok(Val::Num(Num { parts: each.collect::<Outcome<_>>()?, ..a }))
            }
            (a, b) if a.is_literal() && b.is_literal() => Ok(either_literal(cond, a, b)),
            _ => Err(l.different()),
        })
    }

    /// One of some values of one type.
    pub fn pick(&mut self, vals: &[Val], which: &Atom) -> Outcome<Val> {
        let Some((last, before)) = vals.split_last() else {
            return Err(self.unsupported("an element of an empty array"));
        };
        if let Some(entry) = self.entry_of(vals, which)? {
            return Ok(entry);
        }
        let mut picked = last.clone();
        for (k, val) in before.iter().enumerate().rev() {
            let here = self.compare(Relation::Eq, which, &Atom::index(k))?;
            picked = self.choose_val(&here, val, &picked)?;
        }
        Ok(picked)
    }

    /// One of some numbers that are known, from a table in constant memory; `None` for others, and for few.
    fn entry_of(&mut self, vals: &[Val], which: &Atom) -> Outcome<Option<Val>> {
        const FEW: usize = 4;
        let Some(Val::Num(first)) = vals.first().filter(|_| vals.len() > FEW) else { return Ok(None) };
        let bits = |val: &Val| match val {
            Val::Num(n) if n.kind() == first.kind() => n.parts.iter().map(Atom::bits).collect(),
            _ => None,
        };
        let Some(rows) = vals.iter().map(bits).collect::<Option<Vec<Vec<u64>>>>() else { return Ok(None) };
        let types: Vec<Ty> = first.parts.iter().map(Atom::ty).collect();
        if types.contains(&Ty::Pred) {
            return Ok(None);
        }
        // a failed check is noted, and the thread goes on
        let last = Atom::index(vals.len() - 1);
        let which = self.op(Op::Min, Ty::U64, &[which.clone(), last])?;
        let mut parts = Vec::new();
        for (k, ty) in types.into_iter().enumerate() {
            let table: Vec<u64> = rows.iter().filter_map(|row| row.get(k).copied()).collect();
            let words = self.builder()?.kernel.constants.len() + (table.len() * ty.size()).div_ceil(8);
            if 8 * words > CONSTANT_MEMORY {
                return Err(self.unsupported("constant tables of more than 64 KB in one kernel"));
            }
            parts.push(self.builder()?.entry(&table, ty, &which));
        }
        Ok(Some(Val::Num(Num { parts, ..first.clone() })))
    }

    /// A value of the form of two, whose numbers and literals `leaf` makes from theirs.
    fn each_leaf(
        &mut self,
        a: Val,
        b: Val,
        leaf: &mut dyn FnMut(&mut Self, Val, Val) -> Outcome<Val>,
    ) -> Outcome<Val> {
        let mut each = |l: &mut Self, a: Vec<Val>, b: Vec<Val>| {
            a.into_iter().zip(b).map(|(a, b)| l.each_leaf(a, b, leaf)).collect::<Outcome<Vec<_>>>()
        };
        Ok(match (a, b) {
            (Val::Fixed(a), Val::Fixed(b)) if a.len() == b.len() => Val::Fixed(each(self, a, b)?),
            (Val::Tuple(a), Val::Tuple(b)) if a.len() == b.len() => Val::Tuple(each(self, a, b)?),
            (Val::Struct(name, a), Val::Struct(other, b)) if name == other && a.len() == b.len() => {
                let (names, a): (Vec<_>, Vec<_>) = a.into_iter().unzip();
                let fields = each(self, a, b.into_iter().map(|(_, value)| value).collect())?;
                Val::Struct(name, names.into_iter().zip(fields).collect())
            }
            (Val::Fill(a, shape), Val::Fill(b, other)) if shape == other => {
                Val::Fill(Box::new(self.each_leaf(*a, *b, leaf)?), shape)
            }
            (Val::EmptyStack(a), Val::EmptyStack(b)) => Val::EmptyStack(a.or(b)),
            (Val::Function(a), Val::Function(b)) if a == b => Val::Function(a),
            (Val::None, Val::None) => Val::None,
            (a @ (Val::Num(_) | Val::Literal(_) | Val::Choice(..)), b) => leaf(self, a, b)?,
            (
                Val::Fixed(_)
                | Val::Tuple(_)
                | Val::Struct(..)
                | Val::Array(_)
                | Val::Fill(..)
                | Val::EmptyStack(_)
                | Val::Function(_)
                | Val::None,
                _,
            ) => return Err(self.different()),
        })
    }

    fn different(&self) -> super::Stop {
        self.unsupported("a choice between values of different types")
    }
}

/// One of two numbers without a type.
fn either_literal(cond: &Atom, a: Val, b: Val) -> Val {
    match (&a, &b) {
        (Val::Literal(x), Val::Literal(y)) if same_number(*x, *y) => a,
        _ => Val::Choice(cond.clone(), Box::new(a), Box::new(b)),
    }
}

/// Whether two literals are the same number of any type.
fn same_number(x: Number, y: Number) -> bool {
    match (x, y) {
        (Number::Int(x), Number::Int(y)) => x == y,
        (Number::Float(x), Number::Float(y)) => x.to_bits() == y.to_bits(),
        (Number::Bool(x), Number::Bool(y)) => x == y,
        (Number::Int(_) | Number::Float(_) | Number::Bool(_), _) => false,
    }
}

/// Whether an expression may be evaluated where its value isn't needed, at little cost.
pub(super) fn is_harmless(e: &Expr) -> bool {
    let own = match &e.kind {
        ExprKind::Read(place) => place.indices().next().is_none(),
        ExprKind::Func(func, _) => matches!(
            func,
            Func::Add
                | Func::Sub
                | Func::Mul
                | Func::Neg
                | Func::MulAdd
                | Func::Fused
                | Func::StopGradient
                | Func::Eq
                | Func::Ne
                | Func::Lt
                | Func::Le
                | Func::Gt
                | Func::Ge
                | Func::And
                | Func::Or
                | Func::Not
                | Func::Select
                | Func::Min
                | Func::Max
                | Func::Abs
                | Func::Conj
                | Func::Re
                | Func::Im
                | Func::Complex
                | Func::Scale
                | Func::ScaleReal
                | Func::ShadowOf
                | Func::ShadowConj
                | Func::ShadowRe
                | Func::ShadowIm
                | Func::ShadowFromRe
                | Func::ShadowFromIm
                | Func::BitAnd
                | Func::BitOr
                | Func::BitXor
                | Func::Div
                | Func::Recip
                | Func::Sqrt
                // shared where they are met outside of branches
                | Func::Sin
                | Func::Cos
        ),
        ExprKind::Literal(..)
        | ExprKind::Named(_)
        | ExprKind::Function(_)
        | ExprKind::Const(_)
        | ExprKind::Len(..)
        | ExprKind::Cast(..)
        | ExprKind::If(..)
        | ExprKind::Block(..)
        | ExprKind::Element(..)
        | ExprKind::Tuple(_)
        | ExprKind::Zero(_) => true,
        ExprKind::Pure(..)
        | ExprKind::Partials(..)
        | ExprKind::Array(_)
        | ExprKind::Repeat(..)
        | ExprKind::Fill(..)
        | ExprKind::ZeroShadow(_)
        | ExprKind::ZeroLike(_)
        | ExprKind::EmptyStack
        | ExprKind::Contract(..) => false,
    };
    let mut all = own;
    e.each_child(&mut |child| all &= is_harmless(child));
    all
}
