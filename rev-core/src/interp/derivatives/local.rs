//! The first and second derivatives of each function of the table at its arguments, as expressions: made from the
//! rules of its row ([`crate::ops::Derivative`]), by the rules of what these are made of.

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Cause;
use crate::interp::eval::{Evaluator, Scope};
use crate::ir::{Expr, ExprKind, Place, Span, Type, Var, VarId, VarKind};
use crate::ops::{Derivative, Func};
use crate::value::Data;

/// A function of the table with its derivatives.
#[derive(Debug)]
pub struct Local {
    vars: Vec<Var>,
    arity: usize,
    /// The derivative along a direction of each argument; none where the function doesn't depend on it, or where it
    /// carries none.
    first: Vec<Option<Expr>>,
    /// For each two arguments `k <= j` the derivative of that, along a direction of the other.
    second: Vec<Vec<Option<Expr>>>,
    /// What the result is one of two arguments by.
    choice: Option<(Expr, [usize; 2])>,
}

/// The functions that a run has met: on real arguments and on complex ones they are told apart.
#[derive(Debug, Default)]
pub struct Locals(HashMap<(Func, bool), Rc<Local>>);

impl Locals {
    /// A function on its arguments.
    pub fn of(&mut self, func: Func, args: &[Data]) -> Rc<Local> {
        let complex = args.iter().any(|a| a.as_value().is_some_and(|v| v.parts().is_some()));
        self.0.entry((func, complex)).or_insert_with(|| Rc::new(Local::new(func, complex))).clone()
    }
}

impl Local {
    fn new(func: Func, complex: bool) -> Local {
        let row = func.row();
        let arity = row.args.len();
        let var = |name: &str, k: usize| Var {
            name: format!("{name}{k}"),
            ty: Type::Unknown,
            kind: VarKind::Binding,
            span: Span::NONE,
        };
        let vars =
            ["a", "t", "s"].into_iter().flat_map(|name| (0..arity).map(move |k| var(name, k))).collect();
        let args: Vec<Expr> = (0..arity).map(read).collect();
        let value = Expr::func(func, args.clone());
        let by = |e: &Expr, k: usize, direction: usize| {
            let along = |v: VarId| (v == number(k)).then(|| read(direction));
            tangent(e, complex, &along)
        };
        let choice = match row.derivative {
            Derivative::Choice(cond, i, j) => Some((cond(&args), [i, j])),
            Derivative::Zero
            | Derivative::Partials(_)
            | Derivative::Singular(_)
            | Derivative::Pullback(..) => None,
        };
        let first: Vec<Option<Expr>> = (0..arity).map(|k| by(&value, k, arity + k)).collect();
        let twice = |e: &Expr| (0..arity).map(|j| by(e, j, 2 * arity + j)).collect();
        let none = || vec![None; arity];
        let second = first.iter().map(|e| e.as_ref().map_or_else(none, twice)).collect();
        Local { vars, arity, first, second, choice }
    }

    /// Whether the function has a derivative by an argument.
    pub fn depends(&self, k: usize) -> bool {
        self.first[k].is_some()
    }

    /// Whether it may have a second derivative by two arguments.
    pub fn interacts(&self, k: usize, j: usize) -> bool {
        self.second[k][j].is_some()
    }

    /// Which two arguments the result is one of, and whether it is the first.
    pub fn chosen(&self, eval: &Evaluator<'_>, args: &[Data]) -> Result<Option<(bool, [usize; 2])>, Cause> {
        let Some((cond, of)) = &self.choice else { return Ok(None) };
        let first = self.evaluator(eval, args, &mut Vec::new()).truth(cond)?;
        Ok(Some((first, *of)))
    }

    /// The derivative along a direction of an argument.
    pub fn first(
        &self,
        eval: &Evaluator<'_>,
        args: &[Data],
        (k, t): (usize, &Data),
    ) -> Result<Option<Data>, Cause> {
        let Some(e) = &self.first[k] else { return Ok(None) };
        let mut directions = vec![(number(self.arity + k), t.clone())];
        self.evaluator(eval, args, &mut directions).eval(e).map(Some)
    }

    /// The second derivative along directions of two arguments.
    pub fn second(
        &self,
        eval: &Evaluator<'_>,
        args: &[Data],
        (k, t): (usize, &Data),
        (j, s): (usize, &Data),
    ) -> Result<Option<Data>, Cause> {
        let Some(e) = &self.second[k][j] else { return Ok(None) };
        let mut directions =
            vec![(number(self.arity + k), t.clone()), (number(2 * self.arity + j), s.clone())];
        self.evaluator(eval, args, &mut directions).eval(e).map(Some)
    }

    fn evaluator<'a>(
        &'a self,
        outer: &'a Evaluator<'_>,
        args: &[Data],
        directions: &mut Vec<(VarId, Data)>,
    ) -> Evaluator<'a> {
        let generics = outer.scope.generics;
        let scope = Scope { links: "", function: None, vars: &self.vars, generics, slots: &[] };
        let mut eval = Evaluator::new(outer.globals, outer.memory, scope);
        eval.locals = args.iter().enumerate().map(|(k, a)| (number(k), a.clone())).collect();
        eval.locals.append(directions);
        eval
    }
}

fn number(k: usize) -> VarId {
    VarId(k as u32)
}

fn read(k: usize) -> Expr {
    Expr::read(Place::var(number(k)))
}

/// The tangent of an expression of the table; none where it surely is zero.
fn tangent(e: &Expr, complex: bool, along: &dyn Fn(VarId) -> Option<Expr>) -> Option<Expr> {
    let of = |e: &Expr| tangent(e, complex, along);
    match &e.kind {
        ExprKind::Read(place) => along(place.var),
        ExprKind::If(cond, a, b) => either(cond.as_ref().clone(), of(a), of(b)),
        ExprKind::Func(func, args) => {
            let constant = matches!(func, Func::Im | Func::Unit | Func::ArgGradient | Func::ShadowIm);
            let tangents: Vec<Option<Expr>> = args.iter().map(of).collect();
            if tangents.iter().all(Option::is_none) || (constant && !complex) {
                return None;
            }
            match func.row().derivative {
                Derivative::Zero => None,
                Derivative::Choice(cond, i, j) => {
                    either(cond(args), tangents[i].clone(), tangents[j].clone())
                }
                Derivative::Partials(partials) => times(partials(args, e), tangents, |t, p| t * p),
                Derivative::Singular(partials) => {
                    times(partials(args, e), tangents, |t, p| Expr::func(Func::Absorb, vec![t, p]))
                }
                Derivative::Pullback(_, push) => push(args, e, &tangents),
            }
        }
        // the rules of the table are made of functions, conditions and numbers
        _ => None,
    }
}

fn times(partials: Vec<Expr>, tangents: Vec<Option<Expr>>, product: fn(Expr, Expr) -> Expr) -> Option<Expr> {
    let terms = partials.into_iter().zip(tangents).filter(|(p, _)| !p.is_number(0));
    terms.filter_map(|(p, t)| Some(product(t?, p))).reduce(|a, b| a + b)
}

fn either(cond: Expr, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(cond.choose(a.unwrap_or(Expr::int(0)), b.unwrap_or(Expr::int(0)))),
    }
}
