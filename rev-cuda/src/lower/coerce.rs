//! Values in the type that is asked for: literals find theirs, real numbers become complex ones,
//! numbers become shadows of several cotangents.

use rev_core::ir::{Number, Type, VarId};

use super::memory::Loc;
use super::types::ArgumentType;
use super::value::{Num, Val};
use super::{Lower, Outcome};

impl Lower<'_> {
    /// A value for a variable, in the variable's type where that is known.
    pub fn settle(&mut self, var: VarId, val: Val) -> Outcome<Val> {
        let vars = self.frame()?.vars.clone();
        match vars.get(var.0 as usize) {
            Some(var) => self.settle_as(&var.ty, val),
            None => Ok(val),
        }
    }

    /// Gives the literals in a value the type that is written for it.
    pub fn settle_as(&mut self, ty: &Type, val: Val) -> Outcome<Val> {
        Ok(match (ty, val) {
            (Type::Shadow(of), val) => {
                let val = self.settle_as(of, val)?;
                self.cotangent_of(val)?
            }
            (_, Val::Literal(Number::Bool(b))) => Val::bool(super::atom::Atom::bool(b)),
            (_, Val::Choice(cond, a, b)) => {
                let (a, b) = (self.settle_as(ty, *a)?, self.settle_as(ty, *b)?);
                self.choose_val(&cond, &a, &b)?
            }
            (_, Val::Literal(n)) => match self.frame()?.generics.scalar(ty) {
                Some(ArgumentType::Scalar(real)) => Val::Num(self.literal_as(n, real, false)?),
                Some(ArgumentType::Complex(real)) => Val::Num(self.literal_as(n, real, true)?),
                _ => Val::Literal(n),
            },
            (Type::Fixed(t, _), Val::Fixed(es)) => {
                Val::Fixed(es.into_iter().map(|e| self.settle_as(t, e)).collect::<Outcome<_>>()?)
            }
            (Type::Array(t, _), Val::Fill(e, shape)) => Val::Fill(Box::new(self.settle_as(t, *e)?), shape),
            (Type::Tuple(ts), Val::Tuple(es)) => {
                let es = es.into_iter().zip(ts).map(|(e, t)| self.settle_as(t, e));
                Val::Tuple(es.collect::<Outcome<_>>()?)
            }
            (Type::Stack(t), Val::EmptyStack(None)) => {
                Val::EmptyStack(self.frame()?.generics.concrete(self.module, t).ok())
            }
            (_, val) => val,
        })
    }

    /// A value in the type of another.
    pub fn coerce(&mut self, val: Val, like: &Val) -> Outcome<Val> {
        let mismatch = "a value of another type than the place it is for";
        Ok(match (val, like) {
            (Val::Literal(n), Val::Num(like)) => {
                let one = self.literal_as(n, like.real, like.complex)?;
                Val::Num(self.fit(one, like)?)
            }
            (Val::Choice(cond, a, b), like @ Val::Num(_)) => {
                let (a, b) = (self.coerce(*a, like)?, self.coerce(*b, like)?);
                self.choose_val(&cond, &a, &b)?
            }
            (Val::Num(n), Val::Num(like)) => Val::Num(self.fit(n, like)?),
            (Val::Fixed(es), Val::Fixed(like)) if es.len() == like.len() => {
                Val::Fixed(es.into_iter().zip(like).map(|(e, l)| self.coerce(e, l)).collect::<Outcome<_>>()?)
            }
            (Val::Tuple(es), Val::Tuple(like)) if es.len() == like.len() => {
                Val::Tuple(es.into_iter().zip(like).map(|(e, l)| self.coerce(e, l)).collect::<Outcome<_>>()?)
            }
            (Val::Struct(name, es), Val::Struct(_, like)) if es.len() == like.len() => {
                let es = es.into_iter().zip(like).map(|((n, e), (_, l))| Ok((n, self.coerce(e, l)?)));
                Val::Struct(name, es.collect::<Outcome<_>>()?)
            }
            (Val::None, _) | (_, Val::None) => Val::None,
            _ => return Err(self.unsupported(mismatch)),
        })
    }

    /// A number in the form of another: real or complex, with as many lanes.
    fn fit(&mut self, n: Num, like: &Num) -> Outcome<Num> {
        if n.real != like.real {
            return Err(self.unsupported(format!(
                "a `{}` where a `{}` is needed",
                n.real.name(),
                like.real.name()
            )));
        }
        if n.parts.len() == like.parts.len() && n.complex == like.complex {
            return Ok(Num { parts: n.parts, ..like.clone() });
        }
        let half = n.lanes.max(1);
        let wanted = like.lanes.max(1);
        let mut parts = Vec::new();
        for part in 0..1 + usize::from(like.complex) {
            for lane in 0..wanted {
                parts.push(match n.parts.get(part * half + lane.min(half - 1)) {
                    Some(atom) if part == 0 || n.complex => atom.clone(),
                    _ => self.int(like.real, 0)?,
                });
            }
        }
        Ok(Num { parts, ..like.clone() })
    }

    /// Two values in one type.
    pub fn alike(&mut self, a: Val, b: Val) -> Outcome<(Val, Val)> {
        let own = self.toward(a.clone(), &b)?;
        Ok((own, self.toward(b, &a)?))
    }

    /// A value in the type that it and another have in common: a literal takes the other's, a real number
    /// meets a complex one.
    pub fn toward(&mut self, val: Val, other: &Val) -> Outcome<Val> {
        Ok(match (val, other) {
            (Val::Literal(Number::Bool(b)), _) => Val::bool(super::atom::Atom::bool(b)),
            (val, other) if val.is_literal() && !other.is_literal() => self.coerce(val, other)?,
            (Val::Num(n), Val::Num(other)) if n.real != other.real || is_wider(other, &n) => {
                Val::Num(self.fit(n, other)?)
            }
            (Val::Fixed(a), Val::Fixed(b)) if a.len() == b.len() => Val::Fixed(self.toward_each(a, b)?),
            (Val::Tuple(a), Val::Tuple(b)) if a.len() == b.len() => Val::Tuple(self.toward_each(a, b)?),
            (val, _) => val,
        })
    }

    fn toward_each(&mut self, a: Vec<Val>, b: &[Val]) -> Outcome<Vec<Val>> {
        a.into_iter().zip(b).map(|(a, b)| self.toward(a, b)).collect()
    }

    /// A value that stays as it is when the variables that it was read from change.
    pub fn freeze(&mut self, val: &Val) -> Val {
        match self.builder.as_mut() {
            Some(builder) => val.map(&mut |atom| builder.freeze(atom)),
            None => val.clone(),
        }
    }

    /// The same location when the variables in its indices change.
    pub fn freeze_loc(&mut self, loc: Loc) -> Loc {
        let Some(builder) = self.builder.as_mut() else { return loc };
        match loc {
            Loc::Memory(mut m) => {
                m.index = builder.freeze(&m.index);
                m.extra = m.extra.as_ref().map(|e| builder.freeze(e));
                Loc::Memory(m)
            }
            Loc::Array(mut a) => {
                a.first = builder.freeze(&a.first);
                let mut all =
                    |atoms: &[super::atom::Atom]| atoms.iter().map(|n| builder.freeze(n)).collect::<Vec<_>>();
                (a.shape, a.strides) = (all(&a.shape), a.strides.as_deref().map(&mut all));
                Loc::Array(a)
            }
            Loc::Choice(locs, which) => {
                let which = builder.freeze(&which);
                Loc::Choice(locs.into_iter().map(|l| self.freeze_loc(l)).collect(), which)
            }
            loc @ (Loc::Value(_) | Loc::Registers(_) | Loc::Stack(_)) => loc,
        }
    }
}

/// Whether a number has parts or lanes that another lacks.
fn is_wider(a: &Num, b: &Num) -> bool {
    (a.complex && !b.complex) || a.lanes > b.lanes
}
