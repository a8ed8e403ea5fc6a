//! Products and sums of whole arrays written out as loops: what a backend runs that has no kernel of
//! its own for one, in exactly the order that [`crate::ops::Contraction`] fixes.
//!
//! Outside of parallel loops the elements of a target are a parallel loop, over all its axes at once,
//! the first axis fastest; inside one they are loops in order. A sum that is a scalar is a parallel loop over its
//! first index either way, or over all of them where its order doesn't matter, and goes through an ancilla.

use crate::check::Types;
use crate::diag::defect;
use crate::ir::{
    depth, Axis, Block, Expr, ExprKind, Function, Module, Parallel, Place, Range, Rank, Release, Span, Step,
    Stmt, StmtKind, Type, UpdateOp, Var, VarId, VarKind,
};
use crate::limits;
use crate::ops::{Axes, Contraction, Func, Operand, Part};
use crate::pass::inverse_block;
use crate::validate::{verify, Form};

/// A product that has become a parallel loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// The variable of the outermost loop.
    pub var: VarId,
    /// `+=` or `-=`.
    pub op: UpdateOp,
    /// The target; none where it is a scalar.
    pub place: Option<Place>,
    /// The formula.
    pub formula: Contraction,
    /// The factors.
    pub factors: Vec<Expr>,
}

/// Whether a statement itself has a product or sum of arrays, which expansion makes a parallel loop.
pub fn has_contraction(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.each_expr(&mut |e| found |= contains(e));
    found
}

fn reaches_contraction(block: &[Stmt]) -> bool {
    block.iter().any(|s| has_contraction(s) || s.blocks().into_iter().any(|b| reaches_contraction(b)))
}

fn contains(e: &Expr) -> bool {
    let mut found = matches!(e.kind, ExprKind::Contract(..));
    e.each_child(&mut |c| found |= contains(c));
    found
}

/// Writes out the products of a function whose types are known. Those of arrays whose number of
/// dimensions isn't known stay. Returns the parallel loops. In `any_order` a sum that is a scalar needn't have the order
/// of its formula.
pub fn expand(module: &Module, function: &mut Function, any_order: bool) -> Vec<Expansion> {
    limits::grown(depth(&function.body), || expanded(module, function, any_order))
}

fn expanded(module: &Module, function: &mut Function, any_order: bool) -> Vec<Expansion> {
    fn any(block: &[Stmt]) -> bool {
        block.iter().any(|s| has_contraction(s) || s.blocks().into_iter().any(|b| any(b)))
    }
    if !any(&function.body) {
        return Vec::new();
    }
    let source = function.clone();
    let types = Types::in_module(&source, module);
    let mut expander = Expander { types, function, any_order, made: Vec::new() };
    let body = expander.block(&source.body, false);
    let made = expander.made;
    function.body = body;
    verify(function, Form::Forward, "writing out products");
    made
}

struct Expander<'a> {
    types: Types<'a>,
    function: &'a mut Function,
    any_order: bool,
    made: Vec<Expansion>,
}

/// An index of a formula: its letter (or the axis that `..` stands for), its variable, how far it runs.
struct Index {
    key: u8,
    var: VarId,
    extent: Expr,
}

/// What a product needs beside its formula.
struct Parts<'a> {
    formula: &'a Contraction,
    factors: &'a [Expr],
    /// The first factor, and the others.
    first: (&'a Operand, &'a Expr),
    rest: Vec<(&'a Operand, &'a Expr)>,
    /// The target's indices, then the summed ones.
    indices: Vec<Index>,
    free: usize,
    /// The type of a term.
    term: Type,
}

const ALL_AXES: u8 = 32;

impl Expander<'_> {
    fn block(&mut self, block: &[Stmt], inside: bool) -> Block {
        block.iter().flat_map(|s| self.stmt(s, inside)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt, inside: bool) -> Block {
        // what a sum went through is only dropped, so its statements have no inverse any more
        match &stmt.kind {
            StmtKind::Compute { compute, body } if reaches_contraction(compute) => {
                let undo = inverse_block(compute);
                return [compute, body, &undo].iter().flat_map(|b| self.block(b, inside)).collect();
            }
            StmtKind::Inverse { body } if reaches_contraction(body) => {
                return self.block(&inverse_block(body), inside);
            }
            _ => {}
        }
        let mut out = stmt.clone();
        let parallel = matches!(&stmt.kind, StmtKind::For { parallel: Some(_), .. });
        for block in out.blocks_mut() {
            *block = self.block(block, inside || parallel);
        }
        if !has_contraction(&out) {
            return vec![out];
        }
        let mut hoisted = Vec::new();
        match &mut out.kind {
            StmtKind::Update { op, place, expr } => match &mut expr.kind {
                ExprKind::Contract(formula, factors) if !formula.target.is_scalar() => {
                    factors.iter_mut().for_each(|e| self.hoist(e, inside, &mut hoisted));
                    let names = self.name_factors(factors);
                    let Some(nest) = self.array(*op, place, formula, factors, inside) else {
                        return vec![stmt.clone()];
                    };
                    let nest = nest.into_iter().map(|s| s.at(stmt.span)).collect();
                    return around(
                        hoisted,
                        names.into_iter().rev().fold(nest, |body, (var, expr)| {
                            vec![Stmt::new(StmtKind::Let { var, expr, body }).at(stmt.span)]
                        }),
                    );
                }
                _ => self.hoist(expr, inside, &mut hoisted),
            },
            StmtKind::Let { expr, .. } => self.hoist(expr, inside, &mut hoisted),
            // products stand nowhere else
            _ => return vec![out],
        }
        around(hoisted, vec![out])
    }

    /// Puts a read of an ancilla in place of each sum, the innermost first.
    fn hoist(&mut self, e: &mut Expr, inside: bool, out: &mut Vec<Stmt>) {
        e.each_child_mut(&mut |c| self.hoist(c, inside, out));
        let ExprKind::Contract(formula, factors) = &mut e.kind else { return };
        if !formula.target.is_scalar() {
            return;
        }
        let names = self.name_factors(factors);
        let Some(parts) = self.parts(formula, None, factors) else { return };
        let sum = self.new_var("sum", parts.term.clone(), VarKind::Ancilla);
        let body = self.scalar(&parts, &Place::var(sum), self.any_order && !inside);
        let body = names
            .into_iter()
            .rev()
            .fold(body, |body, (var, expr)| vec![Stmt::new(StmtKind::Let { var, expr, body })]);
        let init = Expr::new(ExprKind::Zero(parts.term.clone()));
        out.push(Stmt::new(StmtKind::Ancilla { var: sum, init, release: Release::Dropped, body }).at(e.span));
        *e = Expr::read(Place::var(sum)).at(e.span);
    }

    /// Names for factors that are computed.
    fn name_factors(&mut self, factors: &mut [Expr]) -> Vec<(VarId, Expr)> {
        let mut names = Vec::new();
        for factor in factors {
            if !matches!(factor.kind, ExprKind::Read(_) | ExprKind::Literal(..)) {
                let ty = self.types.expr(factor);
                let var = self.new_var("factor", ty, VarKind::Binding);
                let at = factor.span;
                names.push((var, std::mem::replace(factor, Expr::read(Place::var(var)).at(at))));
            }
        }
        names
    }

    fn new_var(&mut self, name: &str, ty: Type, kind: VarKind) -> VarId {
        self.function.add_var(Var { name: name.into(), ty, kind, span: Span::NONE })
    }

    /// The type of a factor or target: new names have theirs in the function being made.
    fn type_of(&self, e: &Expr) -> Type {
        match &e.kind {
            ExprKind::Read(p) if p.path.is_empty() => self.function.var(p.var).ty.clone(),
            ExprKind::Read(p) => self.types.place(p),
            _ => self.types.expr(e),
        }
    }

    fn parts<'a>(
        &mut self,
        formula: &'a Contraction,
        target: Option<&Place>,
        factors: &'a [Expr],
    ) -> Option<Parts<'a>> {
        let mut indices: Vec<Index> = Vec::new();
        if let Some(place) = target {
            self.add_indices(&formula.target, &Expr::read(place.clone()), &mut indices)?;
        }
        let free = indices.len();
        let mut pairs = formula.factors().iter().zip(factors);
        let (true, Some(first)) = (formula.factors().len() == factors.len(), pairs.next()) else {
            let what = "a product has another number of factors than its formula";
            self.function.defects.push(defect(self.function.span, what));
            return None;
        };
        let rest: Vec<_> = pairs.collect();
        let mut element = None;
        for (operand, factor) in std::iter::once(first).chain(rest.iter().copied()) {
            self.add_indices(operand, factor, &mut indices)?;
            if !operand.is_scalar() || (element.is_none() && !matches!(factor.kind, ExprKind::Literal(..))) {
                element = Some(self.type_of(factor)).map(|ty| element_of(&ty));
            }
        }
        let (element, _) = element?;
        let shadow = matches!(self.type_of(first.1), Type::Shadow(_));
        let element = match element {
            Type::Shadow(t) => *t,
            other => other,
        };
        let term = if shadow { Type::Shadow(Box::new(element)) } else { element };
        Some(Parts { formula, factors, first, rest, indices, free, term })
    }

    fn add_indices(&mut self, operand: &Operand, e: &Expr, out: &mut Vec<Index>) -> Option<()> {
        let keys: Vec<u8> = match operand.axes {
            Axes::Letters(..) => operand.letters().to_vec(),
            Axes::All => (0..element_of(&self.type_of(e)).1?).map(|axis| ALL_AXES + axis).collect(),
        };
        for (axis, key) in keys.into_iter().enumerate() {
            if out.iter().any(|i| i.key == key) {
                continue;
            }
            let ExprKind::Read(place) = &e.kind else { return None };
            let extent = extent(place, axis);
            let var = self.new_var("index", Type::INDEX, VarKind::Index);
            out.push(Index { key, var, extent });
        }
        Some(())
    }

    /// The loops of an update of an array.
    fn array(
        &mut self,
        op: UpdateOp,
        place: &Place,
        formula: &Contraction,
        factors: &[Expr],
        inside: bool,
    ) -> Option<Block> {
        let parts = self.parts(formula, Some(place), factors)?;
        let target = element_at(place, &formula.target, &parts);
        let whole = formula.factors().iter().all(|f| f.part == Part::Whole);
        let body = if parts.free == parts.indices.len() && whole {
            vec![update(op, target, term(&parts))]
        } else {
            let sum = self.new_var("sum", parts.term.clone(), VarKind::Ancilla);
            let mut body = summed(&parts, parts.free, &Place::var(sum));
            body.push(update(op, target, Expr::read(Place::var(sum))));
            self.ancilla(sum, &parts.term, body)
        };
        let body = guarded(&formula.target, &parts, body);
        let free = &parts.indices[..parts.free];
        if inside || free.is_empty() {
            return Some(
                free.iter().rev().fold(body, |body, i| vec![counted(i.var, i.extent.clone(), None, body)]),
            );
        }
        let parallel = Parallel { injective: Vec::new(), disjoint: vec![place.var] };
        let (var, block) = self.flattened(free, parallel, body);
        let (place, factors) = (Some(place.clone()), factors.to_vec());
        self.made.push(Expansion { var, op, place, formula: *formula, factors });
        Some(block)
    }

    /// One parallel loop over several indices, the first of them fastest.
    fn flattened(&mut self, free: &[Index], parallel: Parallel, body: Block) -> (VarId, Block) {
        if let [only] = free {
            let nest = counted(only.var, only.extent.clone(), Some(parallel), body);
            return (only.var, vec![nest]);
        }
        let all = self.new_var("element", Type::INDEX, VarKind::Index);
        let count = free.iter().map(|i| i.extent.clone()).reduce(|a, b| a * b).unwrap_or(Expr::index(1));
        let mut rest = Expr::read(Place::var(all));
        let mut lets = Vec::new();
        for (k, index) in free.iter().enumerate() {
            self.function.vars[index.var.0 as usize].kind = VarKind::Binding;
            if k + 1 == free.len() {
                lets.push((index.var, rest.clone()));
            } else {
                lets.push((index.var, Expr::func(Func::Rem, vec![rest.clone(), index.extent.clone()])));
                let quotient = Expr::func(Func::Quot, vec![rest, index.extent.clone()]);
                let var = self.new_var("rest", Type::INDEX, VarKind::Binding);
                lets.push((var, quotient));
                rest = Expr::read(Place::var(var));
            }
        }
        let body = lets
            .into_iter()
            .rev()
            .fold(body, |body, (var, expr)| vec![Stmt::new(StmtKind::Let { var, expr, body })]);
        (all, vec![counted(all, count, Some(parallel), body)])
    }

    /// The loops of a sum into an ancilla: one over all its indices, or one over the first with the others inside.
    fn scalar(&mut self, parts: &Parts, sum: &Place, at_once: bool) -> Block {
        let Some(first) = parts.indices.first() else {
            return vec![update(UpdateOp::Add, sum.clone(), term(parts))];
        };
        let (var, block) = if at_once || parts.indices.len() == 1 {
            let body = summed(parts, parts.indices.len(), sum);
            self.flattened(&parts.indices, Parallel::default(), body)
        } else {
            let row = self.new_var("row", parts.term.clone(), VarKind::Ancilla);
            let mut body = summed(parts, 1, &Place::var(row));
            body.push(update(UpdateOp::Add, sum.clone(), Expr::read(Place::var(row))));
            let body = self.ancilla(row, &parts.term, body);
            (first.var, vec![counted(first.var, first.extent.clone(), Some(Parallel::default()), body)])
        };
        let (op, formula, factors) = (UpdateOp::Add, *parts.formula, parts.factors.to_vec());
        self.made.push(Expansion { var, op, place: None, formula, factors });
        block
    }

    fn ancilla(&self, var: VarId, ty: &Type, body: Block) -> Block {
        let init = Expr::new(ExprKind::Zero(ty.clone()));
        vec![Stmt::new(StmtKind::Ancilla { var, init, release: Release::Dropped, body })]
    }
}

/// Statements inside the ancillas of the sums that they read, each of which is computed at its start.
fn around(hoisted: Vec<Stmt>, body: Block) -> Block {
    hoisted.into_iter().rev().fold(body, |inner, mut stmt| {
        if let StmtKind::Ancilla { body, .. } = &mut stmt.kind {
            body.extend(inner);
        }
        vec![stmt]
    })
}

/// The type of an array's elements and its number of dimensions, where it is known; a scalar has none.
fn element_of(ty: &Type) -> (Type, Option<u8>) {
    match ty {
        Type::Shadow(t) => {
            let (element, rank) = element_of(t);
            (Type::Shadow(Box::new(element)), rank)
        }
        Type::Array(t, Rank::Fixed(rank)) => ((**t).clone(), Some(*rank)),
        Type::Array(t, Rank::Dynamic) => ((**t).clone(), None),
        Type::Fixed(t, _) => ((**t).clone(), Some(1)),
        other => (other.clone(), Some(0)),
    }
}

fn update(op: UpdateOp, place: Place, expr: Expr) -> Stmt {
    Stmt::new(StmtKind::Update { op, place, expr })
}

fn counted(var: VarId, extent: Expr, parallel: Option<Parallel>, body: Block) -> Stmt {
    Stmt::new(StmtKind::For { var, range: Range::new(Expr::index(0), extent), parallel, body })
}

/// `sum += term` for every value of the indices from `from` on.
fn summed(parts: &Parts, from: usize, sum: &Place) -> Block {
    let mut body = vec![update(UpdateOp::Add, sum.clone(), term(parts))];
    for operand in parts.formula.factors() {
        body = guarded(operand, parts, body);
    }
    parts.indices[from..]
        .iter()
        .rev()
        .fold(body, |body, i| vec![counted(i.var, i.extent.clone(), None, body)])
}

/// The length of an axis of an array or of a part of one.
fn extent(place: &Place, axis: usize) -> Expr {
    let (whole, taken) = taken(place);
    let left = || taken.iter().enumerate().filter(|(_, axis)| !matches!(axis, Axis::At(_)));
    let number = match left().nth(axis) {
        Some((_, Axis::Range(from, to))) => return Expr::func(Func::Sub, vec![to.clone(), from.clone()]),
        Some((number, _)) => number,
        None => axis + taken.len() - left().count(),
    };
    Expr::new(ExprKind::Len(whole, Some(number as u32)))
}

/// The array of which a place is a part, and what is taken of its first axes.
fn taken(place: &Place) -> (Place, Vec<Axis>) {
    let mut whole = place.clone();
    match whole.path.pop_if(|step| matches!(step, Step::Part(_))) {
        Some(Step::Part(axes)) => (whole, axes),
        _ => (whole, Vec::new()),
    }
}

/// Only where an operand's element takes part.
fn guarded(operand: &Operand, parts: &Parts, body: Block) -> Block {
    let relation = match operand.part {
        Part::Whole => return body,
        Part::Lower => Func::Ge,
        Part::Upper => Func::Le,
        Part::StrictLower => Func::Gt,
        Part::StrictUpper => Func::Lt,
    };
    let cond =
        Expr::func(relation, keys(operand, parts).into_iter().map(|v| Expr::read(Place::var(v))).collect());
    vec![Stmt::new(StmtKind::If { cond, post: None, then: body, otherwise: Vec::new() })]
}

/// The variables that index an operand.
fn keys(operand: &Operand, parts: &Parts) -> Vec<VarId> {
    let all = parts.indices.iter();
    match operand.axes {
        Axes::All => all.filter(|i| i.key >= ALL_AXES).map(|i| i.var).collect(),
        Axes::Letters(..) => {
            let find = |letter: &u8| parts.indices.iter().find(|i| i.key == *letter).map(|i| i.var);
            operand.letters().iter().filter_map(find).collect()
        }
    }
}

fn element_at(place: &Place, operand: &Operand, parts: &Parts) -> Place {
    let (whole, taken) = taken(place);
    let mut keys = keys(operand, parts).into_iter().map(|v| Expr::read(Place::var(v)));
    let of_axis = |axis| match axis {
        Axis::At(i) => Some(i),
        Axis::Range(from, _) => keys.next().map(|i| from + i),
        Axis::Whole => keys.next(),
    };
    let mut index: Vec<Expr> = taken.into_iter().filter_map(of_axis).collect();
    index.extend(keys);
    whole.with(Step::Index(index))
}

/// The product of the factors' elements.
fn term(parts: &Parts) -> Expr {
    let shadow = matches!(parts.term, Type::Shadow(_));
    let element = |(operand, factor): (&Operand, &Expr), conj| {
        let value = match &factor.kind {
            ExprKind::Read(place) if !operand.is_scalar() => Expr::read(element_at(place, operand, parts)),
            _ => factor.clone(),
        };
        if operand.conj {
            Expr::func(conj, vec![value])
        } else {
            value
        }
    };
    let (conj, times) = if shadow { (Func::ShadowConj, Func::Scale) } else { (Func::Conj, Func::Mul) };
    parts.rest.iter().fold(element(parts.first, conj), |product, factor| {
        Expr::func(times, vec![product, element(*factor, Func::Conj)])
    })
}
