//! Expressions.

use std::rc::Rc;

use rev_core::ir::{Expr, ExprKind, FunctionPath, Number, Place, ScalarType, Type, VarId};
use rev_core::ops::Func;
use rev_core::pass;

use crate::kernel::{Op, Ty};

use super::atom::Atom;
use super::choice::is_harmless;
use super::generics::{shadow, Generics};
use super::memory::Loc;
use super::types::ArgumentType;
use super::value::{Num, Val};
use super::wide::is_wide;
use super::{Frame, Lower, Outcome};

impl Lower<'_> {
    /// The value of an expression.
    pub fn eval(&mut self, e: &Expr) -> Outcome<Val> {
        match &e.kind {
            ExprKind::Literal(n, ty) => self.literal(*n, ty.as_ref()),
            ExprKind::Named(path) => self.constant(path),
            ExprKind::Function(path) => self.function_value(path),
            ExprKind::Const(name) => match self.frame()?.generics.constant(name) {
                Some(n) => Ok(Val::index(Atom::index(n))),
                None => Err(self.unsupported(format!("the const parameter `{name}`"))),
            },
            ExprKind::Read(place) => {
                let at = self.locate(place)?;
                self.load(&at)
            }
            ExprKind::Len(place, axis) => self.len(place, *axis),
            ExprKind::Func(func, args) => self.func(*func, args),
            ExprKind::Pure(path, args) => self.pure(path, args, false),
            ExprKind::Partials(path, args) => self.pure(path, args, true),
            ExprKind::Cast(inner, ty) => {
                let value = self.eval(inner)?;
                self.cast(value, ty)
            }
            ExprKind::If(cond, a, b) => self.choice(cond, a, b),
            ExprKind::Block(lets, value) => self.block_expr(lets, value),
            ExprKind::Element(inner, k) => match self.eval(inner)? {
                Val::Tuple(mut es) if (*k as usize) < es.len() => Ok(es.swap_remove(*k as usize)),
                Val::None => Ok(Val::None),
                _ => Err(self.unsupported("an element of what isn't a tuple")),
            },
            ExprKind::Tuple(es) => Ok(Val::Tuple(self.all(es)?)),
            ExprKind::Array(es) => {
                let es = self.all(es)?;
                Ok(Val::Fixed(self.alike_all(es)?))
            }
            ExprKind::Repeat(inner, n) => {
                let element = self.eval(inner)?;
                let n = self.index(n)?;
                match n.integer().and_then(|n| usize::try_from(n).ok()) {
                    Some(n) => Ok(Val::Fixed(vec![element; n])),
                    None => Err(self.unsupported("a fixed-size array whose length isn't known")),
                }
            }
            ExprKind::Fill(inner, shape) => {
                let element = self.eval(inner)?;
                let shape = shape.iter().map(|n| self.index(n)).collect::<Outcome<_>>()?;
                Ok(Val::Fill(Box::new(element), shape))
            }
            ExprKind::Zero(ty) => self.zero(ty),
            ExprKind::ZeroShadow(place) => {
                let at = self.locate(place)?;
                let width = self.width;
                self.zeros(&at, &|kind| shadow(kind, width))
            }
            ExprKind::ZeroLike(place) => {
                let at = self.locate(place)?;
                self.zeros(&at, &Clone::clone)
            }
            ExprKind::EmptyStack => Ok(Val::EmptyStack(None)),
            // written out as loops before (`pass::expand`)
            ExprKind::Contract(..) => {
                Err(self.unsupported("a product of arrays whose dimensions aren't known"))
            }
        }
    }

    fn all(&mut self, es: &[Expr]) -> Outcome<Vec<Val>> {
        es.iter().map(|e| self.eval(e)).collect()
    }

    /// Values of one type: literals take the others'.
    fn alike_all(&mut self, es: Vec<Val>) -> Outcome<Vec<Val>> {
        let Some(typed) = es.iter().find(|e| !e.is_literal()).cloned() else { return Ok(es) };
        es.into_iter().map(|e| if e.is_literal() { self.coerce(e, &typed) } else { Ok(e) }).collect()
    }

    fn literal(&mut self, n: Number, ty: Option<&Type>) -> Outcome<Val> {
        if let Number::Bool(b) = n {
            return Ok(Val::bool(Atom::bool(b)));
        }
        let scalar = match ty {
            Some(Type::Shadow(of)) => self.frame()?.generics.cotangent(of),
            Some(ty) => self.frame()?.generics.scalar(ty),
            None => None,
        };
        match scalar {
            Some(ArgumentType::Scalar(real)) => Ok(Val::Num(self.literal_as(n, real, false)?)),
            Some(ArgumentType::Complex(real)) => Ok(Val::Num(self.literal_as(n, real, true)?)),
            _ => Ok(Val::Literal(n)),
        }
    }

    /// A named constant.
    fn constant(&mut self, path: &str) -> Outcome<Val> {
        let name = self.module.resolve(&self.frame()?.links, path).to_string();
        let constants = &self.module.constants;
        if let Some(n) = constants.get(path).or_else(|| constants.get(&name)) {
            return self.literal(*n, None);
        }
        let tables = &self.module.tables;
        if let Some(table) = tables.get(path).cloned() {
            return self.eval(&table);
        }
        // in a text a function may have a constant's name
        if self.module.functions.contains_key(&name) {
            return Ok(Val::Function(name));
        }
        Err(self.unsupported(format!("the constant `{path}`")))
    }

    /// A function that is given as an argument.
    fn function_value(&mut self, path: &FunctionPath) -> Outcome<Val> {
        let name = self.module.resolve(&self.frame()?.links, path.as_str()).to_string();
        match self.module.functions.contains_key(&name) {
            true => Ok(Val::Function(name)),
            false => Err(self.unsupported(format!("the function `{path}`"))),
        }
    }

    fn len(&mut self, place: &Place, axis: Option<u32>) -> Outcome<Val> {
        let shape = match self.locate(place)? {
            Loc::Array(a) | Loc::Value(Val::Array(a)) => a.shape,
            Loc::Value(Val::Fixed(es)) | Loc::Registers(Val::Fixed(es)) => vec![Atom::index(es.len())],
            Loc::Value(Val::Fill(_, shape)) => shape,
            Loc::Memory(m) => match m.kind {
                ArgumentType::Fixed(_, n) => vec![Atom::index(n)],
                _ => return Err(self.unsupported("the length of what isn't an array")),
            },
            Loc::Stack(s) => {
                let count = self.load(&s.count)?;
                vec![self.as_index(count)?]
            }
            Loc::Value(_) | Loc::Registers(_) | Loc::Choice(..) => {
                return Err(self.unsupported("the length of what isn't an array"))
            }
        };
        let n = match axis {
            None => self.count(&shape)?,
            Some(k) => match shape.get(k as usize) {
                Some(n) => n.clone(),
                None => return Err(self.unsupported("the length of an axis that isn't there")),
            },
        };
        Ok(Val::index(n))
    }

    /// `&&` and `||` evaluate the second side only where the first doesn't decide, unless that side
    /// can do no harm.
    fn func(&mut self, func: Func, args: &[Expr]) -> Outcome<Val> {
        if let (Func::And | Func::Or, [a, b]) = (func, args) {
            let first = self.truth(a)?;
            let decides = func == Func::Or;
            match first.truth() {
                Some(known) if known == decides => return Ok(Val::bool(first)),
                Some(_) => return Ok(Val::bool(self.truth(b)?)),
                None if is_harmless(b) => {
                    let second = self.truth(b)?;
                    let op = if decides { Op::Or } else { Op::And };
                    return Ok(Val::bool(self.op(op, Ty::Pred, &[first, second])?));
                }
                None => {
                    let known = Expr::bool(decides);
                    let (a, b) = if decides { (&known, b) } else { (b, &known) };
                    return self.branch(&first, a, b);
                }
            }
        }
        let args = self.all(args)?;
        self.apply(func, args)
    }

    /// The value of a condition.
    pub fn truth(&mut self, e: &Expr) -> Outcome<Atom> {
        match self.eval(e)? {
            Val::Num(Num { real: ScalarType::Bool, parts, .. }) => Ok(parts[0].clone()),
            Val::Literal(Number::Bool(b)) => Ok(Atom::bool(b)),
            _ => Err(self.unsupported("a condition that isn't a `bool`")),
        }
    }

    fn block_expr(&mut self, lets: &[(VarId, Expr)], value: &Expr) -> Outcome<Val> {
        for (var, e) in lets {
            let value = self.eval(e)?;
            let value = self.settle(*var, value)?;
            self.set_slot(*var, Some(Loc::Value(value)))?;
        }
        let value = self.eval(value);
        for (var, _) in lets {
            self.set_slot(*var, None)?;
        }
        value
    }

    fn zero(&mut self, ty: &Type) -> Outcome<Val> {
        let kind = self.frame()?.generics.concrete(self.module, ty);
        match kind {
            Ok(kind) => match Val::zero(&kind) {
                Some(zero) => Ok(zero),
                None => Err(self.unsupported(format!("the zero of `{ty}`"))),
            },
            Err(_) if matches!(ty, Type::Unknown | Type::Generic(_)) => Ok(Val::Literal(Number::Int(0))),
            Err(name) => Err(self.unsupported(format!("the unknown type `{name}`"))),
        }
    }

    /// Zeros in the shape of what is at a place, of the type that follows from its own.
    fn zeros(&mut self, at: &Loc, of: &dyn Fn(&ArgumentType) -> ArgumentType) -> Outcome<Val> {
        let zero = |kind: &ArgumentType| {
            Val::zero(&of(kind)).ok_or_else(|| self.defect("zeros in the shape of a value of no known shape"))
        };
        Ok(match at {
            Loc::Array(a) | Loc::Value(Val::Array(a)) => Val::Fill(Box::new(zero(&a.kind)?), a.shape.clone()),
            Loc::Value(val) | Loc::Registers(val) => match val.kind() {
                Some(kind) => zero(&kind)?,
                None => Val::Literal(Number::Int(0)),
            },
            Loc::Choice(locs, _) => match locs.first() {
                Some(first) => self.zeros(first, of)?,
                None => return Err(self.defect("one of no places")),
            },
            Loc::Memory(m) => zero(&m.kind)?,
            Loc::Stack(s) => Val::EmptyStack(Some(of(&s.values.kind))),
        })
    }

    /// A conversion.
    fn cast(&mut self, value: Val, ty: &Type) -> Outcome<Val> {
        let to_shadow = matches!(ty, Type::Shadow(_));
        let scalar = match ty {
            Type::Shadow(of) => self.frame()?.generics.cotangent(of),
            _ => self.frame()?.generics.scalar(ty),
        };
        let n = match value {
            Val::None => return Ok(Val::None),
            Val::Num(n) if to_shadow && n.is_inactive() => return Ok(Val::None),
            Val::Num(n) => n,
            Val::Literal(n) => return self.literal(n, Some(ty)),
            choice @ Val::Choice(..) => return self.settle_as(ty, choice),
            _ => return Err(self.unsupported("a conversion of what isn't a number")),
        };
        let (real, complex) = match scalar {
            Some(ArgumentType::Scalar(real)) => (real, false),
            Some(ArgumentType::Complex(real)) => (real, true),
            _ if matches!(ty, Type::Generic(_)) && n.is_inactive() => {
                let called = format!("where no argument says what `{ty}` is: a call as `f::<{ty}>(..)` does");
                return Err(self.unsupported(format!("a conversion of an integer to `{ty}`, {called},")));
            }
            _ => return Ok(Val::Num(n)),
        };
        if is_wide(real) || is_wide(n.real) {
            let one = if n.real == real { n } else { self.wide_cast(&n, real)? };
            return Ok(Val::Num(match complex {
                true => Num::complex(real, one.parts[0].clone(), self.int(real, 0)?),
                false => one,
            }));
        }
        let half = n.lanes.max(1);
        let mut parts = Vec::new();
        for part in n.parts.iter().take(if complex { 2 * half } else { half }) {
            parts.push(self.converted(part, n.real, real)?);
        }
        while complex && parts.len() < 2 * half {
            parts.push(self.int(real, 0)?);
        }
        Ok(Val::Num(Num { real, complex, lanes: n.lanes, parts }))
    }

    /// A pure function, or its partial derivatives, at the arguments.
    fn pure(&mut self, path: &FunctionPath, args: &[Expr], partials: bool) -> Outcome<Val> {
        let (of, taken) = path.taken_partials();
        let times = taken + usize::from(partials);
        let name = self.module.resolve(&self.frame()?.links, of).to_string();
        let Some(source) = self.module.pures.get(&name) else {
            return Err(self.unsupported(format!("the unknown pure function `{name}`")));
        };
        let args = self.all(args)?;
        let mut code = source.clone();
        for _ in 0..times {
            code = pass::partials(&code)
                .map_err(|e| super::Stop::Error(rev_core::error::Cause::from(e).into()))?;
        }
        let mut generics = Generics::default();
        for (param, arg) in source.params.iter().zip(&args) {
            if let Some(kind) = arg.kind() {
                generics.learn(self.module, &source.vars[param.0 as usize].ty, &kind);
            }
        }
        generics.learn_written(&source.generics, path, &self.frame()?.generics);
        let checked = self.frame()?.checked;
        let vars: Rc<[_]> = code.vars.into();
        self.frames.push(Frame::new(None, vars, name, generics, checked));
        let value = self.pure_body(&source.params, args, &code.result, &code.result_type);
        self.frames.pop();
        value
    }

    fn pure_body(&mut self, params: &[VarId], args: Vec<Val>, result: &Expr, ty: &Type) -> Outcome<Val> {
        for (param, arg) in params.iter().zip(args) {
            let arg = self.settle(*param, arg)?;
            self.set_slot(*param, Some(Loc::Value(arg)))?;
        }
        let value = self.eval(result)?;
        self.settle_as(ty, value)
    }
}
