//! Sharing: a function of values that don't change is computed once.
//!
//! Derivatives repeat what their functions computed: that of `sin x` is `cos x`, that of `√x` has `√x` in it, a
//! quotient's the reciprocal of its divisor. In a program that is only run forward each of these gets a name of
//! its own where it is computed first, and is read from there on. The bits are the same.
//!
//! A function is shared within a block, where it stands at least twice and is surely evaluated the first time:
//! nothing is computed that wasn't before. Arguments are compared as they are written, so that an element which two
//! names stand for counts as two. The sine and the cosine of a number count as one, which has one
//! reduction of the argument for both; their names are bound one right after the other, for backends to see.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::type_of;
use crate::ir::{
    Block, Expr, ExprKind, Function, Mode, Place, Span, Stmt, StmtKind, Type, Var, VarId, VarKind,
};
use crate::ops::Func;

use super::{Erased, Fused};
use crate::validate::{verified, Form};

impl Erased {
    /// The program with repeated functions of values that don't change computed once.
    pub fn shared(mut self) -> Erased {
        self.function = share(self.function);
        self
    }
}

impl Fused {
    /// The program with repeated functions of values that don't change computed once.
    pub fn shared(mut self) -> Fused {
        self.function = share(self.function);
        self
    }
}

/// Computes repeated functions once, in a program that is run forward.
fn share(mut function: Function) -> Function {
    let mut body = std::mem::take(&mut function.body);
    share_in(&mut function, &mut body);
    function.body = body;
    verified(function, Form::Forward, "sharing")
}

fn share_in(function: &mut Function, block: &mut Block) {
    while let Some(found) = repeated(function, block) {
        found.bind(function, block);
    }
    for inner in block.iter_mut().flat_map(Stmt::blocks_mut) {
        share_in(function, inner);
    }
}

/// What an expression computes, wherever it stands; the same for the sine and the cosine of a number.
type Key = String;

fn key(expr: &Expr) -> Key {
    let mut e = expr.without_spans();
    if let ExprKind::Func(func @ Func::Cos, _) = &mut e.kind {
        *func = Func::Sin;
    }
    format!("{:?}", e.kind)
}

/// A function that is worth a name.
struct Found {
    key: Key,
    /// The statement in which it is computed first.
    first: usize,
    /// What is bound: the function; for sine and cosine those of them that are computed.
    values: Vec<(Expr, Type)>,
}

impl Found {
    /// Binds names before the first statement, and reads them in it and all that follow.
    fn bind(self, function: &mut Function, block: &mut Block) {
        let mut rest = block.split_off(self.first);
        let span = rest.first().map_or(Span::NONE, |s| s.span);
        let mut names = Vec::new();
        for (expr, ty) in &self.values {
            let name = match &expr.kind {
                ExprKind::Func(func, _) => format!("__{}", func.name()),
                _ => "__value".to_string(),
            };
            let var = Var { name, ty: ty.clone(), kind: VarKind::Binding, span: Span::NONE };
            names.push((expr.without_spans(), function.add_var(var)));
        }
        rest.iter_mut().for_each(|s| read_from(s, &self.key, &names));
        for ((expr, _), (_, var)) in self.values.into_iter().zip(names).rev() {
            rest = vec![Stmt::new(StmtKind::Let { var, expr, body: rest }).at(span)];
        }
        block.append(&mut rest);
    }
}

/// Replaces a function by its names in a statement and those inside it.
fn read_from(stmt: &mut Stmt, key: &Key, names: &[(Expr, VarId)]) {
    stmt.each_expr_mut(&mut |e| read_from_in(e, key, names));
    for inner in stmt.blocks_mut().into_iter().flatten() {
        read_from(inner, key, names);
    }
}

fn read_from_in(expr: &mut Expr, wanted: &Key, names: &[(Expr, VarId)]) {
    if is_worth_sharing(expr) && key(expr) == *wanted {
        if let Some((_, var)) = names.iter().find(|(e, _)| e.same(expr)) {
            expr.kind = ExprKind::Read(Place::var(*var));
            return;
        }
    }
    expr.each_child_mut(&mut |e| read_from_in(e, wanted, names));
}

/// The largest function that stands at least twice in a block, from a statement on that surely computes it.
fn repeated(function: &Function, block: &Block) -> Option<Found> {
    let mut seen: BTreeMap<Key, Vec<Occurrence>> = BTreeMap::new();
    for (at, stmt) in block.iter().enumerate() {
        let mut bound = BTreeSet::new();
        stmt.add_bound(&mut bound);
        add_names(stmt, &mut bound);
        let mut occurrences = Occurrences { function, at, bound: &bound, seen: &mut seen };
        occurrences.stmt(stmt, true);
    }
    let found = seen.into_iter().filter_map(|(key, occurrences)| {
        let first = occurrences.iter().position(|o| o.surely)?;
        let [begin, _, ..] = &occurrences[first..] else { return None };
        let mut values: Vec<(Expr, Type)> = Vec::new();
        for o in &occurrences[first..] {
            if !values.iter().any(|(e, _)| e.same(o.expr)) {
                values.push((o.expr.clone(), number_type(function, o.expr)?));
            }
        }
        let once = values.len() == occurrences.len() - first;
        (!once || !is_bound(&block[begin.at], &values)).then_some(Found { key, first: begin.at, values })
    });
    // larger ones first: what is inside them may then stand once only
    found.max_by_key(|f| (f.key.len(), std::cmp::Reverse(f.key.clone())))
}

/// Adds the names that the expressions of a statement bind, at any depth.
fn add_names(stmt: &Stmt, bound: &mut BTreeSet<VarId>) {
    fn of(expr: &Expr, bound: &mut BTreeSet<VarId>) {
        if let ExprKind::Block(lets, _) = &expr.kind {
            bound.extend(lets.iter().map(|(var, _)| *var));
        }
        expr.each_child(&mut |e| of(e, bound));
    }
    stmt.each_expr(&mut |e| of(e, bound));
    stmt.blocks().into_iter().flatten().for_each(|s| add_names(s, bound));
}

/// The type of an expression, if that is known and a number's.
fn number_type(function: &Function, expr: &Expr) -> Option<Type> {
    let ty = type_of(function, expr);
    let part = match &ty {
        Type::Complex(part) => part,
        whole => whole,
    };
    matches!(part, Type::Scalar(_) | Type::Generic(_)).then_some(ty)
}

/// Whether a statement binds all values, one right after the other.
fn is_bound(stmt: &Stmt, values: &[(Expr, Type)]) -> bool {
    let Some(((value, _), others)) = values.split_first() else { return true };
    let StmtKind::Let { expr, body, .. } = &stmt.kind else { return false };
    expr.same(value) && (others.is_empty() || matches!(&body[..], [next] if is_bound(next, others)))
}

/// Where a function stands.
struct Occurrence<'b> {
    expr: &'b Expr,
    at: usize,
    surely: bool,
}

/// Those of one statement of a block.
struct Occurrences<'b, 's> {
    function: &'s Function,
    at: usize,
    /// The variables that the statement and its expressions bind.
    bound: &'s BTreeSet<VarId>,
    seen: &'s mut BTreeMap<Key, Vec<Occurrence<'b>>>,
}

impl<'b> Occurrences<'b, '_> {
    /// Those of a statement that is `surely` run.
    fn stmt(&mut self, stmt: &'b Stmt, surely: bool) {
        let repeats = matches!(stmt.kind, StmtKind::While { .. });
        stmt.each_expr(&mut |e| self.expr(e, surely && !repeats));
        let inside = match stmt.kind {
            StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::For { .. } => false,
            _ => surely,
        };
        for inner in stmt.blocks().into_iter().flatten() {
            self.stmt(inner, inside);
        }
    }

    fn expr(&mut self, expr: &'b Expr, surely: bool) {
        if is_worth_sharing(expr) && self.is_fixed(expr) {
            let occurrence = Occurrence { expr, at: self.at, surely };
            self.seen.entry(key(expr)).or_default().push(occurrence);
        }
        match &expr.kind {
            ExprKind::If(c, a, b) => {
                self.expr(c, surely);
                self.expr(a, false);
                self.expr(b, false);
            }
            ExprKind::Func(Func::And | Func::Or, args) => {
                args.iter().enumerate().for_each(|(k, e)| self.expr(e, surely && k == 0));
            }
            _ => expr.each_child(&mut |e| self.expr(e, surely)),
        }
    }

    /// Whether the expression has one value wherever it stands in the statement, and before it.
    fn is_fixed(&self, expr: &Expr) -> bool {
        let own = match &expr.kind {
            ExprKind::Read(p) | ExprKind::Len(p, _) => {
                let kind = self.function.var(p.var).kind;
                let fixed = matches!(kind, VarKind::Binding | VarKind::Index | VarKind::Param(Mode::Read));
                fixed && !self.bound.contains(&p.var)
            }
            ExprKind::Literal(..) | ExprKind::Named(_) | ExprKind::Const(_) => true,
            ExprKind::Func(..) | ExprKind::Pure(..) | ExprKind::Cast(..) | ExprKind::If(..) => true,
            ExprKind::Element(..) | ExprKind::Tuple(_) | ExprKind::Array(_) => true,
            // names of their own, or no numbers
            ExprKind::Block(..)
            | ExprKind::Partials(..)
            | ExprKind::Repeat(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::EmptyStack
            | ExprKind::Contract(..) => false,
        };
        let mut fixed = own;
        expr.each_child(&mut |e| fixed &= self.is_fixed(e));
        fixed
    }
}

/// Whether a function takes longer than reading its value.
fn is_worth_sharing(expr: &Expr) -> bool {
    use Func::*;
    let ExprKind::Func(func, _) = &expr.kind else { return matches!(expr.kind, ExprKind::Pure(..)) };
    matches!(
        func,
        Div | Sqrt
            | Recip
            | Powi
            | PowiDerivative
            | Powf
            | Hypot
            | Exp
            | Expm1
            | Ln
            | Log2
            | Log10
            | Log1p
            | Sin
            | Cos
            | Tan
            | Sinh
            | Cosh
            | Tanh
            | Asin
            | Acos
            | Atan
            | Atan2
            | LnGamma
            | Polygamma
            | Norm
            | Arg
            | ArgGradient
    )
}

#[cfg(test)]
mod tests {
    use crate::check::{check, Checked};
    use crate::interp::Machine;
    use crate::ir::{Direction, Function, Module};
    use crate::pass::{adjoint, erase, fuse, Adjoint, Wanted};
    use crate::scalar::Batch;
    use crate::text::parse_function;
    use crate::tolerance::Options;
    use crate::value::{Data, DynArg};

    fn checked(text: &str) -> Checked {
        let f = parse_function(&text.replace("; ", "\n")).unwrap();
        check(f).unwrap_or_else(|d| panic!("{}", d.render("test", text)))
    }

    fn run(function: &Function, args: &[&dyn DynArg]) -> Vec<Data> {
        let functions = [(function.name.clone(), function.clone())].into_iter().collect();
        let module = Module { entry: function.name.clone(), functions, ..Module::default() };
        let options = Options { checks: false, ..Options::default() };
        let args = args.iter().map(|a| a.load()).collect();
        let machine = Machine::new(&module, &function.name, Direction::FORWARD, args).unwrap();
        let mut machine = machine.with_options(options).forgetting();
        machine.run().unwrap_or_else(|e| panic!("{e}\n{module}"));
        machine.arguments()
    }

    /// The text of the shared program, which gives the same bits.
    fn same(plain: &Function, shared: &Function, args: &[&dyn DynArg]) -> String {
        let text = shared.to_string();
        assert_eq!(format!("{:?}", run(plain, args)), format!("{:?}", run(shared, args)), "{text}");
        text
    }

    /// The same of a function itself.
    fn shared(text: &str, args: &[&dyn DynArg]) -> String {
        let erased = erase(&checked(text), Wanted::All);
        same(&erased, &erased.clone().shared(), args)
    }

    fn bar(v: f64) -> Batch<f64, 1> {
        Batch([v])
    }

    #[test]
    fn a_derivative_reads_what_the_function_computed() {
        let source = "fn f(y: &mut f64, a: f64) {
            let s: f64 = sin(a) { let c: f64 = cos(a) { let r: f64 = sqrt(a) { y += s * s * c * r } } }
        }";
        let adjoint = adjoint(&checked(source), Adjoint::LEAN);
        let erased = erase(&adjoint, Wanted::Shadows);
        let text = same(&erased, &erased.clone().shared(), &[&0.4, &bar(1.5), &0.7, &bar(0.25)]);
        for name in ["sin(", "cos(", "sqrt("] {
            assert_eq!(
                (erased.to_string().matches(name).count(), text.matches(name).count()),
                (2, 1),
                "{text}"
            );
        }
    }

    #[test]
    fn a_fused_program_computes_once_there_and_back() {
        let source = "fn f(y: &mut f64, x: [f64]) {
            par for i in 0..len(x) {
                let v: f64 = x[i] { managed anc s: f64 = 0.0 { s += exp(v) / v; y += s * s } }
            }
        }";
        let fused = fuse(&checked(source)).unwrap();
        let (x, x_bar) = (vec![0.3, 1.7], vec![bar(0.0), bar(0.5)]);
        let text = same(&fused, &fused.clone().shared(), &[&0.0, &bar(1.0), &x, &x_bar]);
        let times = [&fused.to_string(), &text].map(|t| t.matches("exp(").count());
        assert!(times[0] > 1 && times[1] == 1, "{text}");
    }

    #[test]
    fn sine_and_cosine_stand_beside_each_other() {
        let text = shared(
            "fn f(y: &mut f64, z: &mut f64, a: f64) { y += cos(a); z += y; y += sin(a * 2.0); z += sin(a) }",
            &[&0.1, &0.2, &0.7],
        );
        let (cosine, sine) = (text.find("= cos(a)").unwrap(), text.find("= sin(a)").unwrap());
        assert_eq!(text[cosine..sine].matches("let").count(), 1, "{text}");
        // names that stand so are left as they are
        let text = "fn f(y: &mut f64, a: f64) { let s: f64 = sin(a) { let c: f64 = cos(a) { y += s * c } } }";
        let erased = erase(&checked(text), Wanted::All);
        assert_eq!(erased.clone().shared(), erased);
    }

    #[test]
    fn names_of_an_expression_stay_in_it() {
        let text = shared(
            "fn f(y: &mut f64, a: f64) { y += { let t: f64 = a * a;sin(t) * sin(t) } }",
            &[&0.1, &0.7],
        );
        assert_eq!(text.matches("sin(t)").count(), 2, "{text}");
    }

    #[test]
    fn a_value_that_changes_is_computed_again() {
        let text = shared(
            "fn f(y: &mut f64, z: &mut f64, w: f64) { z += exp(y); y += w; z += exp(y) }",
            &[&0.3, &0.2, &0.7],
        );
        assert_eq!(text.matches("exp(y)").count(), 2, "{text}");
        // and so is that of another iteration
        let text = shared(
            "fn f(y: &mut f64, x: [f64]) { for i in 0..len(x) { y += exp(x[i]) }; for i in 0..len(x) { y += exp(x[i]) } }",
            &[&0.3, &vec![0.2, 0.7]],
        );
        assert_eq!(text.matches("exp(x[").count(), 2, "{text}");
    }

    #[test]
    fn nothing_is_computed_that_was_not_before() {
        // in neither branch, in a loop without iterations, on the right of `&&`
        let text = shared(
            "fn f(y: &mut f64, a: f64, c: bool, n: usize) {
                if c { y += ln(a) } else { y += 2.0 * ln(a) }
                for i in 0..n { y += sqrt(a) }
                for i in 0..n { y += sqrt(a) }
                if c && exp(a) > 1.0 { y += 1.0 }
                if c && exp(a) > 2.0 { y += 1.0 }
            }",
            &[&0.3, &0.7, &true, &3usize],
        );
        assert_eq!([2; 3], ["ln(a)", "sqrt(a)", "exp(a)"].map(|f| text.matches(f).count()), "{text}");
        // but where it has surely been, loops and branches read it
        let text = shared(
            "fn f(y: &mut f64, a: f64, c: bool, n: usize) {
                if c { y += ln(a) }
                y += ln(a)
                for i in 0..n { if c { y += ln(a) } }
            }",
            &[&0.3, &0.7, &true, &3usize],
        );
        assert_eq!(text.matches("ln(a)").count(), 2, "{text}");
    }
}
