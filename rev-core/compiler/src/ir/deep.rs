//! How deep programs are, and what is done to all of a deep one: it is copied, compared and freed.

use super::{Expr, ExprKind, Function, Names, Place, Pure, Span, Stmt, Type, Var, VarId, VarKind};
use crate::limits::{grown, STEP};
use crate::ops::Func;

/// How deep what is made of statements may be: levels of statements on the way to the innermost one, and the parts of
/// their expressions, each of which an adjoint may give a name whose scope is a level.
pub fn depth(block: &[Stmt]) -> usize {
    let (mut deepest, mut work) = (0, vec![(block, 0)]);
    while let Some((block, around)) = work.pop() {
        for stmt in block {
            let mut own = around + 2;
            stmt.each_expr(&mut |e| own += parts(e));
            stmt.each_place(&mut |p, _| p.indices().for_each(|e| own += parts(e)));
            deepest = deepest.max(own);
            work.extend(stmt.blocks().into_iter().map(|b| (b.as_slice(), own)));
        }
    }
    deepest
}

/// How deep statements are nested in each other.
pub fn nesting(block: &[Stmt]) -> usize {
    let mut deepest = 0;
    each_level(block, &mut |_, level| deepest = deepest.max(level));
    deepest
}

/// Calls `f` on each statement and how deep it is, the outermost ones 1, without recursion.
pub fn each_level(block: &[Stmt], f: &mut dyn FnMut(&Stmt, usize)) {
    let mut work = vec![(block, 1)];
    while let Some((block, level)) = work.pop() {
        for stmt in block {
            f(stmt, level);
            work.extend(stmt.blocks().into_iter().map(|b| (b.as_slice(), level + 1)));
        }
    }
}

/// How many expressions are in one, itself among them.
pub fn parts(e: &Expr) -> usize {
    let (mut count, mut work) = (0, vec![e]);
    while let Some(e) = work.pop() {
        count += 1;
        e.each_child(&mut |child| work.push(child));
    }
    count
}

/// How high an expression is: a name has height 1.
pub fn height(e: &Expr) -> usize {
    let (mut highest, mut work) = (0, vec![(e, 1)]);
    while let Some((e, level)) = work.pop() {
        highest = highest.max(level);
        e.each_child(&mut |child| work.push((child, level + 1)));
    }
    highest
}

impl Function {
    /// Runs something that is recursive over the statements.
    pub fn grown<R>(&self, f: impl FnOnce() -> R) -> R {
        grown(depth(&self.body), f)
    }
}

impl Clone for Function {
    fn clone(&self) -> Function {
        Function {
            name: self.name.clone(),
            generics: self.generics.clone(),
            params: self.params.clone(),
            constants: self.constants.clone(),
            vars: self.vars.clone(),
            names: self.names.clone(),
            body: self.grown(|| self.body.clone()),
            checks: self.checks,
            file: self.file.clone(),
            span: self.span,
            defects: self.defects.clone(),
        }
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        let heads = |f: &Function| (f.checks, f.span);
        heads(self) == heads(other)
            && self.name == other.name
            && self.generics == other.generics
            && self.params == other.params
            && self.constants == other.constants
            && self.vars == other.vars
            && self.file == other.file
            && self.defects == other.defects
            && self.grown(|| self.body == other.body)
    }
}

/// Statements are freed one after the other, so that deep ones need no stack.
impl Drop for Stmt {
    fn drop(&mut self) {
        let mut work = Vec::new();
        let take = |stmt: &mut Stmt, work: &mut Vec<Stmt>| {
            stmt.blocks_mut().into_iter().for_each(|block| work.append(block));
        };
        take(self, &mut work);
        while let Some(mut stmt) = work.pop() {
            take(&mut stmt, &mut work);
        }
    }
}

/// Gives the parts of high expressions names, so that nothing that is made of them is much higher than a [`STEP`]: what
/// is a chain of many terms becomes a block of local names, each for some of them. What isn't surely computed has a
/// block of its own. Products of arrays, and products that are rounded with a sum, stay as they are.
impl Function {
    /// The function with its high expressions computed in steps.
    pub fn in_steps(mut self) -> Function {
        let mut body = std::mem::take(&mut self.body);
        let mut work: Vec<&mut Stmt> = body.iter_mut().collect();
        while let Some(stmt) = work.pop() {
            stmt.each_expr_mut(&mut |e| in_steps(e, &mut |part| self.add_var(part)));
            work.extend(stmt.blocks_mut().into_iter().flatten());
        }
        self.body = body;
        self
    }
}

impl Pure {
    /// The function with its high expressions computed in steps.
    pub fn in_steps(mut self) -> Pure {
        let (vars, mut names) = (&mut self.vars, Names::default());
        let mut add = |mut part: Var| {
            part.name = names.free(part.name, vars);
            vars.push(part);
            VarId(vars.len() as u32 - 1)
        };
        for e in std::iter::once(&mut self.result).chain(self.partials.iter_mut().flatten()) {
            in_steps(e, &mut add);
        }
        self
    }
}

fn in_steps(e: &mut Expr, add: &mut dyn FnMut(Var) -> VarId) {
    if height(e) > STEP && !has_fixed_form(e) {
        grown(parts(e), || Steps { add }.own_block(e));
    }
}

fn has_fixed_form(e: &Expr) -> bool {
    let mut work = vec![e];
    while let Some(e) = work.pop() {
        if matches!(e.kind, ExprKind::Contract(..) | ExprKind::Func(Func::Fused, _)) {
            return true;
        }
        e.each_child(&mut |child| work.push(child));
    }
    false
}

struct Steps<'n> {
    add: &'n mut dyn FnMut(Var) -> VarId,
}

impl Steps<'_> {
    /// Names for the parts of an expression, in a block around it; how high it then is.
    fn own_block(&mut self, e: &mut Expr) -> usize {
        let mut lets = Vec::new();
        let height = self.parts(e, &mut lets);
        if !lets.is_empty() {
            let value = std::mem::replace(e, Expr::int(0));
            e.span = value.span;
            e.kind = ExprKind::Block(lets, Box::new(value));
        }
        height
    }

    /// Names for the parts that are as high as a step; how high the expression then is.
    fn parts(&mut self, e: &mut Expr, lets: &mut Vec<(VarId, Expr)>) -> usize {
        let mut highest = 0;
        let conditional = match &e.kind {
            ExprKind::Func(Func::And | Func::Or, _) | ExprKind::If(..) | ExprKind::Block(..) => true,
            ExprKind::Func(..) | ExprKind::Pure(..) | ExprKind::Tuple(_) | ExprKind::Cast(..) => false,
            ExprKind::Element(..)
            | ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Read(_)
            | ExprKind::Len(..)
            | ExprKind::Partials(..)
            | ExprKind::Array(_)
            | ExprKind::Repeat(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::ZeroLike(_)
            | ExprKind::EmptyStack
            | ExprKind::Contract(..) => return 1,
        };
        e.each_child_mut(&mut |part| {
            if conditional {
                highest = highest.max(self.own_block(part));
                return;
            }
            let own = self.parts(part, lets);
            let value = matches!(part.kind, ExprKind::Func(..) | ExprKind::Pure(..) | ExprKind::Cast(..));
            if own < STEP || !value {
                highest = highest.max(own);
                return;
            }
            let part_of =
                Var { name: "__part".into(), ty: Type::Unknown, kind: VarKind::Binding, span: Span::NONE };
            let var = (self.add)(part_of);
            lets.push((var, std::mem::replace(part, Expr::read(Place::var(var)))));
            highest = highest.max(1);
        });
        highest + 1
    }
}
