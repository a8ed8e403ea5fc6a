//! Expressions taken apart into functions of the table, pure functions and choices: what a derivative is made of. A
//! walk gives the value of an expression and beside it a leaf for each number, which an [`Algebra`] computes.

use super::local::{Local, Locals};
use super::tree::{Leaf, Tree};
use crate::error::Cause;
use crate::interp::contraction::{terms, Term};
use crate::interp::eval::{filled, Evaluator};
use crate::interp::func::apply;
use crate::interp::memory::{resolve, step_into, Location, Memory};
use crate::interp::update::update;
use crate::ir::{Expr, ExprKind, FunctionPath, Number, Place, Step, UpdateOp, VarId};
use crate::limits;
use crate::ops::{Contraction, Derivative, Func};
use crate::value::{Data, Value};

/// A value with its leaves.
pub type Found<L> = (Data, Tree<L>);

/// Values with their leaves.
type Several<L> = (Vec<Data>, Vec<Tree<L>>);

/// A number with its leaf.
pub type Single<L> = (Data, L);

/// What leaves mean, and how those of a result come from those of the arguments.
pub trait Algebra {
    /// What is kept for a number.
    type Leaf: Leaf;

    /// The leaves of what is at a location.
    fn read(&mut self, memory: &Memory, at: &Location) -> Tree<Self::Leaf>;

    /// Of a function of the table, one argument of which has a leaf that says something.
    fn func(
        &mut self,
        local: &Local,
        eval: &Evaluator<'_>,
        args: Vec<Single<Self::Leaf>>,
        value: &Data,
    ) -> Result<Self::Leaf, Cause>;

    /// Of the results of a pure function; each of `partials` is the function's derivatives, taken so often.
    fn pure(
        &mut self,
        args: Vec<Found<Self::Leaf>>,
        value: &Data,
        partials: &mut dyn FnMut(usize) -> Result<Data, Cause>,
    ) -> Result<Tree<Self::Leaf>, Cause>;

    /// Of a result that carries no derivative.
    fn discrete(&mut self, args: &[Self::Leaf]) -> Self::Leaf;

    /// Whether it matters what would have been chosen otherwise, where a choice was made by a value with this leaf.
    fn varies(&self, leaf: &Self::Leaf) -> bool;

    /// Of one of two values, of which one was chosen by a value that varies.
    fn either(&mut self, a: Tree<Self::Leaf>, b: Tree<Self::Leaf>) -> Tree<Self::Leaf>;

    /// The leaf of a number; one for all numbers of a value of which it isn't known which one is meant.
    fn any(&mut self, tree: Tree<Self::Leaf>) -> Self::Leaf;
}

/// Where a place is.
pub struct Target {
    pub at: Location,
    /// Whether it is somewhere in what is there: an index varies.
    pub within: bool,
}

/// A walk through expressions.
pub struct Walk<'a, 'w, A: Algebra> {
    pub eval: Evaluator<'a>,
    pub algebra: &'w mut A,
    pub known: &'w mut Locals,
    /// Leaves of local names.
    pub names: Vec<(VarId, Tree<A::Leaf>)>,
}

impl<A: Algebra> Walk<'_, '_, A> {
    /// The value of an expression with its leaves.
    pub fn walk(&mut self, e: &Expr) -> Result<Found<A::Leaf>, Cause> {
        limits::deeper(|| self.walk_here(e))
    }

    fn walk_here(&mut self, e: &Expr) -> Result<Found<A::Leaf>, Cause> {
        match &e.kind {
            ExprKind::Read(place) => self.read(place),
            ExprKind::Func(Func::And | Func::Or, args) => self.logic(e, args),
            ExprKind::Func(func, args) => {
                let args = args.iter().map(|a| self.number(a)).collect::<Result<_, _>>()?;
                self.apply(*func, args).map(|(value, leaf)| (value, Tree::Same(leaf)))
            }
            ExprKind::Pure(path, args) => self.pure(path, args, 0),
            ExprKind::Partials(path, args) => self.pure(path, args, 1),
            ExprKind::Cast(inner, ty) => {
                let (value, leaf) = self.number(inner)?;
                let active = !is_inactive(&value);
                let value = self.eval.cast(value, ty)?;
                let carried = active && !is_inactive(&value);
                let leaf = if carried { leaf } else { self.algebra.discrete(&[leaf]) };
                Ok((value, Tree::Same(leaf)))
            }
            ExprKind::If(cond, a, b) => self.branch(cond, a, b),
            ExprKind::Block(lets, value) => self.block(lets, value),
            ExprKind::Element(inner, k) => {
                let (value, tree) = self.walk(inner)?;
                let element = step_into(&value, &Step::Element(*k), &[]);
                Ok((element.map_err(|e| e.cause(format!("element {k}")))?, tree.child(*k as usize)))
            }
            ExprKind::Tuple(es) => {
                let (values, trees) = self.all(es)?;
                Ok((Data::Tuple(values), Tree::Node(trees)))
            }
            ExprKind::Array(es) => {
                let (values, trees) = self.all(es)?;
                Ok((Data::vector(values), Tree::Node(trees)))
            }
            ExprKind::Repeat(inner, n) => self.filled(inner, std::slice::from_ref(&**n)),
            ExprKind::Fill(inner, shape) => self.filled(inner, shape),
            ExprKind::Contract(formula, factors) => self.contract(formula, ("the result", &[]), factors),
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Len(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::ZeroLike(_)
            | ExprKind::EmptyStack => Ok((self.eval.eval(e)?, Tree::default())),
        }
    }

    fn all(&mut self, es: &[Expr]) -> Result<Several<A::Leaf>, Cause> {
        es.iter().map(|e| self.walk(e)).collect::<Result<Vec<_>, _>>().map(|all| all.into_iter().unzip())
    }

    /// The value of an expression that is a number.
    fn number(&mut self, e: &Expr) -> Result<Single<A::Leaf>, Cause> {
        match self.walk(e)? {
            (value, Tree::Same(leaf)) => Ok((value, leaf)),
            (value, tree) => {
                let leaf = self.algebra.any(tree);
                Ok((value, leaf))
            }
        }
    }

    fn read(&mut self, place: &Place) -> Result<Found<A::Leaf>, Cause> {
        if let Some(data) = self.eval.local(place.var) {
            let mut data = data.clone();
            let name = self.names.iter().rev().find(|(var, _)| *var == place.var);
            let mut tree = name.map_or_else(Tree::default, |(_, tree)| tree.clone());
            for step in &place.path {
                let indices = self.eval.indices(step)?;
                let wrong = |e: crate::interp::memory::StepError| e.cause(self.eval.text(place));
                if let Some(key) = resolve(&data, step, &indices).map_err(wrong)? {
                    tree = tree.get(&[key]);
                }
                data = step_into(&data, step, &indices).map_err(wrong)?;
            }
            return Ok((data, tree));
        }
        let target = self.locate(place)?;
        let tree = self.algebra.read(self.eval.memory, &target.at);
        if target.within {
            let leaf = self.algebra.any(tree);
            let at = self.eval.locate(place)?;
            return Ok((self.eval.memory.read(&at).into_owned(), Tree::Same(leaf)));
        }
        Ok((self.eval.memory.read(&target.at).into_owned(), tree))
    }

    /// Where a place is; where an index varies, what the element is one of.
    pub fn locate(&mut self, place: &Place) -> Result<Target, Cause> {
        for (k, step) in place.path.iter().enumerate() {
            for index in step.exprs() {
                let (_, leaf) = self.number(index)?;
                if self.algebra.varies(&leaf) {
                    let outer = Place { path: place.path[..k].to_vec(), ..place.clone() };
                    return Ok(Target { at: self.eval.locate(&outer)?, within: true });
                }
            }
        }
        Ok(Target { at: self.eval.locate(place)?, within: false })
    }

    /// A function of the table on numbers.
    pub fn apply(&mut self, func: Func, args: Vec<Single<A::Leaf>>) -> Result<Single<A::Leaf>, Cause> {
        let (values, leaves): (Vec<Data>, Vec<A::Leaf>) = args.into_iter().unzip();
        let value = apply(func, &values)?;
        if leaves.iter().all(Leaf::is_nothing) {
            return Ok((value, A::Leaf::default()));
        }
        let derivative = func.row().derivative;
        if is_inactive(&value) || matches!(derivative, Derivative::Zero) {
            let leaf = self.algebra.discrete(&leaves);
            return Ok((value, leaf));
        }
        let local = self.known.of(func, &values);
        if let Some((first, [i, j])) = local.chosen(&self.eval, &values)? {
            let leaf = self.chosen(&leaves, first, [i, j]);
            return Ok((value, leaf));
        }
        let args = values.into_iter().zip(leaves).collect();
        let leaf = self.algebra.func(&local, &self.eval, args, &value)?;
        Ok((value, leaf))
    }

    /// Of the first or the second of two arguments; `min` and `max` are decided by both, `select` by another.
    fn chosen(&mut self, leaves: &[A::Leaf], first: bool, [i, j]: [usize; 2]) -> A::Leaf {
        let varies = match leaves.len() {
            2 => leaves.iter().any(|leaf| self.algebra.varies(leaf)),
            _ => self.algebra.varies(&leaves[0]),
        };
        let taken = if first { i } else { j };
        if !varies {
            return leaves[taken].clone();
        }
        let [a, b] = [i, j].map(|k| Tree::Same(leaves[k].clone()));
        let both = self.algebra.either(a, b);
        self.algebra.any(both)
    }

    fn logic(&mut self, e: &Expr, args: &[Expr]) -> Result<Found<A::Leaf>, Cause> {
        let mut leaves = Vec::new();
        for arg in args {
            let (value, leaf) = self.number(arg)?;
            leaves.push(leaf);
            let decides = matches!(&e.kind, ExprKind::Func(Func::Or, _));
            if value == Data::scalar(decides) {
                break;
            }
        }
        let leaf = self.algebra.discrete(&leaves);
        Ok((self.eval.eval(e)?, Tree::Same(leaf)))
    }

    fn branch(&mut self, cond: &Expr, a: &Expr, b: &Expr) -> Result<Found<A::Leaf>, Cause> {
        let (decided, leaf) = self.number(cond)?;
        let (taken, other) = if truth(&decided) { (a, b) } else { (b, a) };
        let (value, tree) = self.walk(taken)?;
        if !self.algebra.varies(&leaf) {
            return Ok((value, tree));
        }
        let (_, otherwise) = self.walk(other).map_err(untaken)?;
        Ok((value, self.algebra.either(tree, otherwise)))
    }

    fn block(&mut self, lets: &[(VarId, Expr)], value: &Expr) -> Result<Found<A::Leaf>, Cause> {
        let depth = (self.eval.locals.len(), self.names.len());
        let found = lets.iter().try_for_each(|(var, e)| {
            let (data, tree) = self.walk(e)?;
            let data = self.eval.settled(*var, data);
            self.eval.locals.push((*var, data));
            self.names.push((*var, tree));
            Ok(())
        });
        let found = found.and_then(|()| self.walk(value));
        self.eval.locals.truncate(depth.0);
        self.names.truncate(depth.1);
        found
    }

    fn filled(&mut self, inner: &Expr, shape: &[Expr]) -> Result<Found<A::Leaf>, Cause> {
        let (element, tree) = self.walk(inner)?;
        let shape = shape.iter().map(|n| self.eval.count(n)).collect::<Result<Vec<_>, _>>()?;
        let value = filled(&element, shape)?;
        let tree = match tree {
            Tree::Same(leaf) => Tree::Same(leaf),
            node @ Tree::Node(_) => Tree::Node(vec![node; value.children().count()]),
        };
        Ok((value, tree))
    }

    fn pure(&mut self, path: &FunctionPath, args: &[Expr], more: usize) -> Result<Found<A::Leaf>, Cause> {
        let (values, trees) = self.all(args)?;
        let eval = &mut self.eval;
        let value = eval.pure_of(path, values.clone(), more)?;
        let mut said = false;
        trees.iter().for_each(|tree| tree.each(&mut |leaf| said |= !leaf.is_nothing()));
        if !said {
            return Ok((value, Tree::default()));
        }
        let mut partials = |times: usize| eval.pure_of(path, values.clone(), more + times);
        let args = values.iter().cloned().zip(trees).collect();
        let tree = self.algebra.pure(args, &value, &mut partials)?;
        Ok((value, tree))
    }

    /// A product of arrays for a target of this name and shape.
    pub fn contract(
        &mut self,
        formula: &Contraction,
        target: (&str, &[usize]),
        factors: &[Expr],
    ) -> Result<Found<A::Leaf>, Cause> {
        let value = self.eval.contract(formula, target, factors)?;
        let (values, trees) = self.all(factors)?;
        let mut sums: Vec<Option<Single<A::Leaf>>> = vec![None; target.1.iter().product()];
        terms(formula, target, &values, &mut |Term { at, factors }| {
            let mut product: Option<Single<A::Leaf>> = None;
            for (k, (at, conj)) in factors.iter().enumerate() {
                let (value, leaf) = match &values[k] {
                    Data::Array(a) => (a.elements[*at].clone(), trees[k].child(*at)),
                    scalar => (scalar.clone(), trees[k].clone()),
                };
                let mut factor = (value, self.algebra.any(leaf));
                if *conj {
                    factor = self.apply(Func::ShadowConj, vec![factor])?;
                }
                product = Some(match product {
                    None => factor,
                    Some(product) => self.apply(Func::Mul, vec![product, factor])?,
                });
            }
            if let (Some(sum), Some(term)) = (sums.get_mut(at), product) {
                *sum = Some(match sum.take() {
                    None => term,
                    Some(sum) => self.apply(Func::Add, vec![sum, term])?,
                });
            }
            Ok(())
        })?;
        let leaf =
            |sum: Option<Single<A::Leaf>>| sum.map_or_else(Tree::default, |(_, leaf)| Tree::Same(leaf));
        let tree = match &value {
            Data::Array(_) => Tree::Node(sums.into_iter().map(leaf).collect()),
            _ => leaf(sums.pop().flatten()),
        };
        Ok((value, tree))
    }

    /// `place ± value`, number by number.
    pub fn sum(
        &mut self,
        op: UpdateOp,
        (place, own): Found<A::Leaf>,
        (value, tree): Found<A::Leaf>,
    ) -> Result<Tree<A::Leaf>, Cause> {
        let mut said = false;
        tree.each(&mut |leaf| said |= !leaf.is_nothing());
        if !said {
            return Ok(own);
        }
        match (&place, &value) {
            (Data::None, _) | (_, Data::None) => Ok(own),
            (Data::Array(_) | Data::Tuple(_) | Data::Stack(_) | Data::Struct(_), _) => {
                let own = own.into_children(&place);
                let trees = tree.into_children(&value);
                let values = place.children().zip(value.children());
                let each = values
                    .zip(own.into_iter().zip(trees))
                    .map(|((p, v), (own, tree))| self.sum(op, (p.clone(), own), (v.clone(), tree)));
                Ok(Tree::Node(each.collect::<Result<_, _>>()?))
            }
            _ => {
                let func = if op == UpdateOp::Sub { Func::Sub } else { Func::Add };
                let (own, leaf) = (self.algebra.any(own), self.algebra.any(tree));
                // the value in the type of the place, as the update takes it
                let zero = update(UpdateOp::Add, &place.zero_like(), &value)?;
                let (_, leaf) = self.apply(func, vec![(place, own), (zero, leaf)])?;
                Ok(Tree::Same(leaf))
            }
        }
    }
}

/// The error of a branch that isn't taken.
pub fn untaken(cause: impl std::fmt::Display) -> Cause {
    Cause::Sparsity(format!("a branch that isn't taken can't be run at these values: {cause}"))
}

/// Whether a value carries no derivative.
pub fn is_inactive(value: &Data) -> bool {
    match value {
        Data::Scalar(v) => v.is_inactive(),
        Data::Literal(Number::Bool(_)) | Data::Function(_) | Data::None => true,
        Data::Literal(Number::Int(_) | Number::Float(_)) | Data::Lanes(_) => false,
        Data::Array(_) | Data::Tuple(_) | Data::Stack(_) | Data::Struct(_) => false,
    }
}

/// A truth value.
pub fn truth(value: &Data) -> bool {
    matches!(value, Data::Scalar(Value::Bool(true)) | Data::Literal(Number::Bool(true)))
}
