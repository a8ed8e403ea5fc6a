//! The partial derivatives of a pure function: again a pure function, with a tuple as its result.
//!
//! A pure function is small and has few arguments, so the derivative is taken argument by argument
//! from the leaves up (tangents); where derivatives were given, those are used.

use thiserror::Error;

use crate::ir::{
    Derived, Expr, ExprKind, FunctionPath, Place, Pure, ScalarType, Span, Step, Type, Var, VarId, VarKind,
};
use crate::ops::{Derivative, Func};

/// Why a pure function has no partial derivatives.
#[derive(Clone, Error, PartialEq)]
#[error("`{function}` has no partial derivatives: {reason}")]
pub struct NotDifferentiable {
    /// The pure function.
    pub function: String,
    /// What in it hasn't.
    pub reason: String,
    /// Where it stands.
    pub span: Span,
}

/// The message: it is what `unwrap` shows.
impl std::fmt::Debug for NotDifferentiable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The pure function whose result is the tuple of the partial derivatives by each parameter; for a
/// function with several results, a tuple of such tuples.
pub fn partials(pure: &Pure) -> Result<Pure, NotDifferentiable> {
    if let Some(var) = pure.params.iter().find_map(|p| with_parts(pure, *p)) {
        let reason = format!("its parameter `{}` has several parts", var.name);
        return Err(NotDifferentiable { function: pure.name.clone(), reason, span: var.span });
    }
    let name = Derived::Partials.of(&pure.name);
    let result_type = row_type(&pure.result_type, pure);
    let mut out = Pure { name, result_type, partials: None, ..pure.clone() };
    let columns = match &pure.partials {
        Some(given) => given.clone(),
        None => pure.params.iter().map(|p| derived(pure, *p, &mut out)).collect::<Result<_, _>>()?,
    };
    out.result = row(&pure.result_type, &columns, pure);
    Ok(out)
}

/// A parameter that carries derivatives in several parts: a tuple, a struct, an array.
fn with_parts(pure: &Pure, param: VarId) -> Option<&Var> {
    let var = pure.vars.get(param.0 as usize)?;
    let one = match var.ty {
        Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) | Type::Function(_) | Type::Unknown => true,
        Type::Array(..)
        | Type::Fixed(..)
        | Type::Tuple(_)
        | Type::Struct(..)
        | Type::Stack(_)
        | Type::Shadow(_) => false,
    };
    (!one && !var.ty.is_inactive(&pure.generics)).then_some(var)
}

/// The derivative of the result by a parameter: zero for integers, which carry none.
fn derived(pure: &Pure, param: VarId, out: &mut Pure) -> Result<Expr, NotDifferentiable> {
    let ty = pure.vars.get(param.0 as usize).map_or(&Type::Unknown, |v| &v.ty);
    if ty.is_inactive(&pure.generics) {
        return Ok(Expr::int(0));
    }
    Tangent { out, source: pure, param, tangents: Vec::new() }.of(&pure.result)
}

/// The type of the partial derivatives of a result: one for each parameter in place of each scalar. Those of
/// an integer or `bool`, which are zero, are numbers that cotangents of the parameters can be multiplied by.
pub(crate) fn row_type(result: &Type, pure: &Pure) -> Type {
    match result {
        Type::Tuple(types) => Type::Tuple(types.iter().map(|t| row_type(t, pure)).collect()),
        scalar if scalar.is_inactive(&pure.generics) => Type::Tuple(zero_types(pure)),
        scalar => Type::Tuple(vec![scalar.clone(); pure.params.len()]),
    }
}

/// A type for each parameter that has a zero: its own where it carries a derivative. That of an integer is the first one's
/// that does: it may be the integer result of such a function, whose tangent is a zero of that type, and the products are added.
fn zero_types(pure: &Pure) -> Vec<Type> {
    let own =
        |p: &VarId| pure.vars.get(p.0 as usize).map(|v| &v.ty).filter(|ty| !ty.is_inactive(&pure.generics));
    let first = pure.params.iter().find_map(own).cloned().unwrap_or(Type::Scalar(ScalarType::I32));
    pure.params.iter().map(|p| own(p).unwrap_or(&first).clone()).collect()
}

/// The partial derivatives of a result, from those by each parameter.
fn row(result: &Type, columns: &[Expr], pure: &Pure) -> Expr {
    Expr::new(ExprKind::Tuple(match result {
        Type::Tuple(types) => types
            .iter()
            .enumerate()
            .map(|(r, t)| row(t, &columns.iter().map(|c| element(c, r as u32)).collect::<Vec<_>>(), pure))
            .collect(),
        scalar if scalar.is_inactive(&pure.generics) => {
            zero_types(pure).into_iter().map(|ty| Expr::new(ExprKind::Zero(ty))).collect()
        }
        _ => columns.to_vec(),
    }))
}

/// Element `k` of a tuple expression, taken inside where the expression says what it is.
fn element(e: &Expr, k: u32) -> Expr {
    match &e.kind {
        ExprKind::Tuple(es) if (k as usize) < es.len() => es[k as usize].clone(),
        ExprKind::Literal(..) => e.clone(),
        ExprKind::Block(lets, value) => Expr::new(ExprKind::Block(lets.clone(), Box::new(element(value, k)))),
        ExprKind::If(c, a, b) => c.as_ref().clone().choose(element(a, k), element(b, k)),
        _ => Expr::new(ExprKind::Element(Box::new(e.clone()), k)),
    }
}

/// The call whose result's element an expression is: the path of the function, partial derivatives
/// being one, its arguments, and the element.
fn call_element(e: &Expr) -> Option<(FunctionPath, &[Expr], Vec<u32>)> {
    match &e.kind {
        ExprKind::Pure(path, args) => Some((path.clone(), args, Vec::new())),
        ExprKind::Partials(path, args) => Some((path.with(Derived::Partials), args, Vec::new())),
        ExprKind::Element(inner, k) => {
            let (path, args, mut element) = call_element(inner)?;
            element.push(*k);
            Some((path, args, element))
        }
        _ => None,
    }
}

/// The derivative by one parameter.
struct Tangent<'a> {
    out: &'a mut Pure,
    source: &'a Pure,
    param: VarId,
    /// The name that holds the tangent of a local name.
    tangents: Vec<(VarId, Expr)>,
}

impl Tangent<'_> {
    fn of(&mut self, e: &Expr) -> Result<Expr, NotDifferentiable> {
        Ok(match &e.kind {
            ExprKind::Read(place) => self.of_read(place),
            ExprKind::Func(f, args) => self.of_func(*f, args, e)?,
            ExprKind::Pure(path, args) => self.of_pure(path, args, &[])?,
            ExprKind::Element(inner, k) => match call_element(e) {
                Some((path, args, result)) => self.of_pure(&path, args, &result)?,
                None => element(&self.of(inner)?, *k),
            },
            ExprKind::Cast(inner, ty) => {
                let d = self.of(inner)?;
                if d.is_number(0) || ty.is_inactive(&self.source.generics) {
                    Expr::int(0)
                } else {
                    Expr::new(ExprKind::Cast(Box::new(d), ty.clone()))
                }
            }
            ExprKind::If(c, a, b) => {
                let (a, b) = (self.of(a)?, self.of(b)?);
                if a.is_number(0) && b.is_number(0) {
                    a
                } else {
                    c.as_ref().clone().choose(a, b)
                }
            }
            ExprKind::Block(lets, value) => self.of_block(lets, value)?,
            ExprKind::Tuple(es) => {
                Expr::new(ExprKind::Tuple(es.iter().map(|e| self.of(e)).collect::<Result<_, _>>()?))
            }
            ExprKind::Array(es) => {
                Expr::new(ExprKind::Array(es.iter().map(|e| self.of(e)).collect::<Result<_, _>>()?))
            }
            ExprKind::Repeat(inner, n) => Expr::new(ExprKind::Repeat(Box::new(self.of(inner)?), n.clone())),
            ExprKind::Fill(inner, shape) => {
                Expr::new(ExprKind::Fill(Box::new(self.of(inner)?), shape.clone()))
            }
            ExprKind::Literal(..)
            | ExprKind::Named(_) | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Len(..)
            | ExprKind::Partials(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::ZeroLike(_)
            | ExprKind::EmptyStack
            // no pure function has one
            | ExprKind::Contract(..) => Expr::int(0),
        })
    }

    fn of_read(&self, place: &Place) -> Expr {
        if place.var == self.param {
            return if place.path.is_empty() { Expr::int(1) } else { Expr::int(0) };
        }
        let Some((_, tangent)) = self.tangents.iter().rev().find(|(v, _)| *v == place.var) else {
            return Expr::int(0);
        };
        place.path.iter().fold(tangent.clone(), |t, step| match step {
            Step::Element(k) => element(&t, *k),
            Step::Field(_) | Step::Index(_) | Step::Part(_) | Step::Re | Step::Im => t,
        })
    }

    fn of_func(&mut self, func: Func, args: &[Expr], e: &Expr) -> Result<Expr, NotDifferentiable> {
        let sum = |parts: Vec<Expr>| parts.into_iter().fold(Expr::int(0), |a, b| a + b);
        match func.row().derivative {
            Derivative::Zero => Ok(Expr::int(0)),
            Derivative::Choice(cond, i, j) => {
                let (a, b) = (self.of(&args[i])?, self.of(&args[j])?);
                Ok(if a.is_number(0) && b.is_number(0) { a } else { cond(args).choose(a, b) })
            }
            Derivative::Partials(partials) => {
                let tangents = args.iter().map(|a| self.of(a)).collect::<Result<Vec<_>, _>>()?;
                let terms =
                    partials(args, e)
                        .into_iter()
                        .zip(tangents)
                        .map(|(p, t)| if t.is_number(0) { t } else { t * p });
                Ok(sum(terms.collect()))
            }
            Derivative::Singular(partials) => {
                let tangents = args.iter().map(|a| self.of(a)).collect::<Result<Vec<_>, _>>()?;
                let terms = partials(args, e).into_iter().zip(tangents).map(|(p, t)| absorb(t, p));
                Ok(sum(terms.collect()))
            }
            Derivative::Pullback(..) => self.of_complex(func, args),
        }
    }

    /// The functions of complex numbers, on real arguments.
    fn of_complex(&mut self, func: Func, args: &[Expr]) -> Result<Expr, NotDifferentiable> {
        let tangents = args.iter().map(|a| self.of(a)).collect::<Result<Vec<_>, _>>()?;
        if tangents.iter().all(|t| t.is_number(0)) {
            return Ok(Expr::int(0));
        }
        let real = !may_be_complex(self.source);
        match func {
            Func::Conj | Func::Re if real => Ok(tangents[0].clone()),
            Func::Im | Func::Unit | Func::ArgGradient if real => Ok(Expr::int(0)),
            Func::Abs2 if real => Ok(tangents[0].clone() * (args[0].clone() + args[0].clone())),
            Func::Norm if real => Ok(tangents[0].clone() * Expr::func(Func::Unit, vec![args[0].clone()])),
            _ => Err(NotDifferentiable {
                function: self.source.name.clone(),
                reason: format!("`{}` is not holomorphic", func.name()),
                span: args[0].span,
            }),
        }
    }

    /// A call, of whose result an element is meant.
    fn of_pure(
        &mut self,
        path: &FunctionPath,
        args: &[Expr],
        result: &[u32],
    ) -> Result<Expr, NotDifferentiable> {
        let rows = Expr::new(ExprKind::Partials(path.clone(), args.to_vec()));
        let row = result.iter().fold(rows, |row, r| Expr::new(ExprKind::Element(Box::new(row), *r)));
        let mut sum = Expr::int(0);
        for (k, arg) in args.iter().enumerate() {
            let t = self.of(arg)?;
            if !t.is_number(0) {
                sum = sum + t * Expr::new(ExprKind::Element(Box::new(row.clone()), k as u32));
            }
        }
        Ok(sum)
    }

    fn of_block(&mut self, lets: &[(VarId, Expr)], value: &Expr) -> Result<Expr, NotDifferentiable> {
        let depth = self.tangents.len();
        let mut all = Vec::new();
        for (i, (var, e)) in lets.iter().enumerate() {
            let tangent = self.of_local(*var, e, &lets[i + 1..], value)?;
            all.push((*var, e.clone()));
            if tangent.is_number(0) {
                self.tangents.push((*var, tangent));
                continue;
            }
            let name = self.new_name(*var);
            all.push((name, tangent));
            self.tangents.push((*var, Expr::read(Place::var(name))));
        }
        let d = self.of(value)?;
        self.tangents.truncate(depth);
        Ok(if d.is_number(0) { d } else { Expr::new(ExprKind::Block(all, Box::new(d))) })
    }

    /// The tangent of a local name; of each element that is used, where it names the results of a
    /// pure function with several.
    fn of_local(
        &mut self,
        var: VarId,
        e: &Expr,
        rest: &[(VarId, Expr)],
        value: &Expr,
    ) -> Result<Expr, NotDifferentiable> {
        let reads = rest.iter().map(|(_, e)| e).chain([value]).flat_map(|e| e.reads());
        let last = super::adjoint::elements_used(var, reads).iter().map(|e| e[0]).max();
        match (&e.kind, last) {
            (ExprKind::Pure(path, args), Some(last)) => {
                let elements =
                    (0..=last).map(|r| self.of_pure(path, args, &[r])).collect::<Result<_, _>>()?;
                Ok(Expr::new(ExprKind::Tuple(elements)))
            }
            _ => self.of(e),
        }
    }

    fn new_name(&mut self, of: VarId) -> VarId {
        let var = &self.out.vars[of.0 as usize];
        let base = format!("{}_dot", var.name);
        let ty = var.ty.clone();
        let mut name = base.clone();
        let mut k = 2;
        while self.out.vars.iter().any(|v| v.name == name) {
            name = format!("{base}{k}");
            k += 1;
        }
        self.out.vars.push(Var { name, ty, kind: VarKind::Binding, span: Span::NONE });
        VarId(self.out.vars.len() as u32 - 1)
    }
}

/// `t·p` where a zero tangent stays zero although `p` may be infinite.
fn absorb(t: Expr, p: Expr) -> Expr {
    if t.is_number(0) || p.is_number(0) {
        return Expr::int(0);
    }
    if matches!(t.kind, ExprKind::Literal(..)) {
        return t * p;
    }
    Expr::func(Func::Eq, vec![t.clone(), Expr::int(0)]).choose(Expr::int(0), t * p)
}

fn may_be_complex(pure: &Pure) -> bool {
    use crate::ir::{Class, GenericKind};
    pure.generics.iter().any(|g| matches!(g.kind, GenericKind::Scalar(Class::Ring | Class::Field)))
        || pure.vars.iter().any(|v| matches!(v.ty, Type::Complex(_)))
}
