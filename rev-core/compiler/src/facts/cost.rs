//! What a function costs: operations and memory, as formulas in the sizes of its arguments.
//!
//! A formula is an upper bound: the dearer branch of an `if` counts, and a loop over `0..i` inside
//! one over `i` counts with the largest `i`. Arithmetic for indices isn't counted. Uncomputation is, as
//! far as it stands in the program (after [`uncompute`](crate::pass::uncompute) it does).

use std::collections::BTreeMap;
use std::fmt;

use super::index::{Atom, Base, Definitions, Indices, Polynomial, Term};
use crate::ir::{ArgValue, Callee, Expr, ExprKind, Function, Length, Range, Stmt, StmtKind, Type, VarId};
use crate::ops::{Axes, Contraction, Func, Instr};

/// The cost of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Additions, multiplications, divisions, comparisons and the like on values.
    pub arithmetic: Formula,
    /// Square roots, exponentials, trigonometric functions and calls of pure functions.
    pub functions: Formula,
    /// Scalars held in ancillas at one time. In a parallel loop they are held once for each thread.
    pub memory: Formula,
    /// Calls of other functions, whose cost isn't contained in this one.
    pub calls: BTreeMap<String, Formula>,
}

/// A polynomial in the sizes and integers of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formula(Polynomial);

impl Formula {
    /// The number that this formula is, if it is one.
    pub fn as_number(&self) -> Option<i128> {
        self.0.as_constant()
    }

    /// The formula with the names of a function's variables: `2 * len(x) + 1`.
    pub fn show<'a>(&'a self, function: &'a Function) -> impl fmt::Display + 'a {
        Shown { formula: self, function }
    }

    fn number(n: i128) -> Formula {
        Formula(Polynomial::constant(n))
    }

    fn plus(&mut self, other: &Formula) {
        self.0 = std::mem::take(&mut self.0) + other.0.clone();
    }

    fn times(&self, other: &Formula) -> Formula {
        Formula(self.0.clone() * other.0.clone())
    }

    /// A bound of both: the greater coefficient of each term.
    fn or(&self, other: &Formula) -> Formula {
        Formula(self.0.clone().greater_terms(&other.0))
    }
}

/// The cost of a function.
pub fn cost(function: &Function) -> Cost {
    let definitions = Definitions::of(&function.body);
    let counter = Counter { function, indices: Indices::new(&function.vars, &definitions) };
    counter.block(&function.body)
}

impl Cost {
    fn then(&mut self, other: &Cost) {
        self.arithmetic.plus(&other.arithmetic);
        self.functions.plus(&other.functions);
        self.memory = self.memory.or(&other.memory);
        for (callee, count) in &other.calls {
            self.calls.entry(callee.clone()).or_default().plus(count);
        }
    }

    fn or(&self, other: &Cost) -> Cost {
        let mut calls = self.calls.clone();
        for (callee, count) in &other.calls {
            let own = calls.entry(callee.clone()).or_default();
            *own = own.or(count);
        }
        Cost {
            arithmetic: self.arithmetic.or(&other.arithmetic),
            functions: self.functions.or(&other.functions),
            memory: self.memory.or(&other.memory),
            calls,
        }
    }

    /// The cost with every formula changed, memory aside.
    fn repeated(&self, change: &dyn Fn(&Formula) -> Formula) -> Cost {
        Cost {
            arithmetic: change(&self.arithmetic),
            functions: change(&self.functions),
            memory: self.memory.clone(),
            calls: self.calls.iter().map(|(callee, count)| (callee.clone(), change(count))).collect(),
        }
    }

    fn add_arithmetic(&mut self, n: i128) {
        self.arithmetic.plus(&Formula::number(n));
    }
}

struct Counter<'a> {
    function: &'a Function,
    indices: Indices<'a>,
}

impl Counter<'_> {
    fn block(&self, block: &[Stmt]) -> Cost {
        let mut out = Cost::default();
        block.iter().for_each(|s| out.then(&self.stmt(s)));
        out
    }

    fn stmt(&self, stmt: &Stmt) -> Cost {
        let mut out = Cost::default();
        match &stmt.kind {
            StmtKind::Update { expr, .. } => {
                out.add_arithmetic(1);
                self.add_expr(expr, &mut out);
            }
            StmtKind::Instr { instr, operands, .. } => {
                add_instr(*instr, &mut out);
                operands.iter().for_each(|e| self.add_expr(e, &mut out));
            }
            StmtKind::Let { expr, body, .. } => {
                self.add_expr(expr, &mut out);
                out.then(&self.block(body));
            }
            StmtKind::Ancilla { var, init, body, .. } => {
                out.then(&self.block(body));
                out.memory.plus(&self.size(*var, init));
            }
            StmtKind::If { cond, then, otherwise, .. } => {
                self.add_expr(cond, &mut out);
                out.then(&self.block(then).or(&self.block(otherwise)));
            }
            StmtKind::While { cond, body, .. } => {
                let mut iteration = self.block(body);
                self.add_expr(cond, &mut iteration);
                let name = format!("trips@{}", stmt.span.line);
                let trips = self.formula(&Expr::new(ExprKind::Named(name)));
                out.then(&iteration.repeated(&|f| f.times(&trips)));
            }
            StmtKind::For { var, range, body, .. } => out.then(&self.counted(*var, range, body)),
            StmtKind::Call { callee, args, .. } => {
                let name = match callee {
                    Callee::Path(path) => path.clone(),
                    Callee::Param(var) => self.function.var(*var).name.clone(),
                };
                out.calls.insert(name, Formula::number(1));
                args.iter().for_each(|a| match &a.value {
                    ArgValue::Expr(e) => self.add_expr(e, &mut out),
                    ArgValue::Place(_) => {}
                });
            }
            StmtKind::Compute { compute, body } => {
                let twice = Formula::number(2);
                out.then(&self.block(compute).repeated(&|f| f.times(&twice)));
                out.then(&self.block(body));
            }
            StmtKind::Unchecked { body } | StmtKind::Inverse { body } => out.then(&self.block(body)),
            StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. } => {}
        }
        out
    }

    /// A loop: each iteration costs at most what it costs for the extreme value of the loop variable.
    fn counted(&self, var: VarId, range: &Range, body: &[Stmt]) -> Cost {
        let start = self.formula(&range.start).0;
        let end = self.formula(&range.end).0;
        let width = end.clone() - start.clone() + Polynomial::constant(i128::from(range.inclusive));
        let known = self.indices.trips(range).map(|n| Polynomial::constant(n.into()));
        let trips = Formula(known.unwrap_or(width));
        let index = Atom { base: Base::Var(var), primed: false };
        self.block(body).repeated(&|f| Formula(f.0.bounded(&index, &start, &end)).times(&trips))
    }

    fn formula(&self, e: &Expr) -> Formula {
        Formula(self.indices.polynomial(e))
    }

    fn add_expr(&self, e: &Expr, out: &mut Cost) {
        match &e.kind {
            ExprKind::Func(func, _) if is_arithmetic(*func) => out.add_arithmetic(1),
            ExprKind::Func(..) | ExprKind::Pure(..) | ExprKind::Partials(..) => {
                out.functions.plus(&Formula::number(1));
            }
            ExprKind::Read(_) | ExprKind::Len(..) | ExprKind::ZeroShadow(_) => return,
            ExprKind::If(c, a, b) => {
                self.add_expr(c, out);
                let mut branches = [a, b].map(|e| {
                    let mut cost = Cost::default();
                    self.add_expr(e, &mut cost);
                    cost
                });
                branches[0] = branches[0].or(&branches[1]);
                return out.then(&branches[0]);
            }
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Const(_)
            | ExprKind::Cast(..)
            | ExprKind::Block(..)
            | ExprKind::Element(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Repeat(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::EmptyStack => {}
            ExprKind::Contract(formula, factors) => out.arithmetic.plus(&self.work(formula, factors)),
        }
        e.each_child(&mut |e| self.add_expr(e, out));
    }

    /// The multiplications and additions of a product of arrays: as many as its letters have values
    /// together.
    fn work(&self, formula: &Contraction, factors: &[Expr]) -> Formula {
        let mut seen = Vec::new();
        let mut work = Formula::number(2);
        for (operand, factor) in formula.factors().iter().zip(factors) {
            let ExprKind::Read(place) = &factor.kind else { continue };
            let mut along = |axis| {
                let length = Expr::new(ExprKind::Len(place.clone(), axis));
                work = work.times(&self.formula(&length));
            };
            if operand.axes == Axes::All && !seen.contains(&u8::MAX) {
                seen.push(u8::MAX);
                along(None);
            }
            for (axis, letter) in
                operand.letters().iter().enumerate().filter(|(_, l)| !seen.contains(*l)).collect::<Vec<_>>()
            {
                seen.push(*letter);
                along(Some(axis as u32));
            }
        }
        work
    }

    /// The number of scalars in an ancilla.
    fn size(&self, var: VarId, init: &Expr) -> Formula {
        match &init.kind {
            ExprKind::Fill(_, shape) => {
                shape.iter().fold(Formula::number(1), |size, e| size.times(&self.formula(e)))
            }
            _ => self.size_of(&self.function.var(var).ty),
        }
    }

    fn size_of(&self, ty: &Type) -> Formula {
        match ty {
            Type::Fixed(t, Length::Literal(n)) => self.size_of(t).times(&Formula::number((*n).into())),
            Type::Fixed(t, Length::Named(name)) => {
                self.size_of(t).times(&self.formula(&Expr::new(ExprKind::Const(name.clone()))))
            }
            Type::Complex(_) => Formula::number(2),
            Type::Shadow(t) => self.size_of(t),
            Type::Tuple(ts) => {
                let mut size = Formula::default();
                ts.iter().for_each(|t| size.plus(&self.size_of(t)));
                size
            }
            Type::Stack(_) => Formula::default(),
            Type::Scalar(_)
            | Type::Generic(_)
            | Type::Array(..)
            | Type::Struct(..)
            | Type::Function(_)
            | Type::Unknown => Formula::number(1),
        }
    }
}

/// Rotations are counted with the sine and cosine of their angle.
fn add_instr(instr: Instr, out: &mut Cost) {
    let (arithmetic, functions) = match instr {
        Instr::Swap | Instr::Flip => (0, 0),
        Instr::Neg | Instr::Inc | Instr::Dec | Instr::Conj | Instr::Inv => (1, 0),
        Instr::MulInt | Instr::DivInt | Instr::ScaleBy | Instr::UnscaleBy => (1, 0),
        Instr::Rot | Instr::Irot => (6, 2),
        Instr::Hadamard => (4, 0),
    };
    out.add_arithmetic(arithmetic);
    out.functions.plus(&Formula::number(functions));
}

/// Whether a function is one machine instruction or a few, not a library's.
fn is_arithmetic(func: Func) -> bool {
    use Func::*;
    let library = [Sqrt, Powi, PowiDerivative, LnGamma, Polygamma, Norm, Arg, ArgGradient, Unit];
    !func.is_elementary() && !library.contains(&func)
}

struct Shown<'a> {
    formula: &'a Formula,
    function: &'a Function,
}

impl fmt::Display for Shown<'_> {
    /// Terms of higher degree first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms: Vec<_> = self.formula.0.terms().collect();
        terms.sort_by_key(|(m, _)| std::cmp::Reverse(m.len()));
        if terms.is_empty() {
            return f.write_str("0");
        }
        for (k, (monomial, c)) in terms.into_iter().enumerate() {
            match (k, c < 0) {
                (0, false) => {}
                (0, true) => f.write_str("-")?,
                (_, false) => f.write_str(" + ")?,
                (_, true) => f.write_str(" - ")?,
            }
            let mut factors: Vec<String> = monomial.iter().map(|a| self.atom(a)).collect();
            if c.unsigned_abs() != 1 || factors.is_empty() {
                factors.insert(0, c.unsigned_abs().to_string());
            }
            f.write_str(&factors.join(" * "))?;
        }
        Ok(())
    }
}

impl Shown<'_> {
    fn atom(&self, atom: &Atom) -> String {
        match &atom.base {
            Base::Var(v) => self.function.var(*v).name.clone(),
            Base::Term(Term { expr, .. }) => match &expr.kind {
                ExprKind::Named(name) => name.clone(),
                ExprKind::Func(..) => format!("({})", crate::text::show(self.function, expr)),
                _ => crate::text::show(self.function, expr).to_string(),
            },
            Base::Made(k) => format!("#{k}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_function;

    /// Arithmetic, functions and memory of a program.
    fn costs(text: &str) -> [String; 3] {
        let f = parse_function(&text.replace("; ", "\n")).unwrap();
        let c = cost(&f);
        [&c.arithmetic, &c.functions, &c.memory].map(|formula| formula.show(&f).to_string())
    }

    #[test]
    fn loops_multiply() {
        assert_eq!(
            costs("fn f(y: &mut f64, x: [f64]) { for i in 0..len(x) { y += x[i] * exp(x[i]) } y += 1.0 }"),
            ["2 * len(x) + 1", "len(x)", "0"]
        );
        assert_eq!(
            costs("fn f(y: &mut f64, n: usize, d: usize) { for i in 0..n { for j in 0..d { y += 1.0 } y += 2.0 } }")[0],
            "n * d + n"
        );
        assert_eq!(costs("fn f(y: &mut f64) { for i in (0..10).step_by(3) { y += 1.0 } }")[0], "4");
    }

    #[test]
    fn an_inner_range_counts_with_the_largest_index() {
        assert_eq!(
            costs("fn f(y: &mut f64, n: usize) { for i in 0..n { for j in 0..i { y += 1.0 } } }")[0],
            "n * n"
        );
        assert_eq!(
            costs("fn f(y: &mut f64, n: usize) { for i in 0..n { for j in i..n { y += 1.0 } } }")[0],
            "n * n"
        );
    }

    #[test]
    fn branches_take_the_dearer_side_and_compute_parts_run_twice() {
        assert_eq!(costs("fn f(y: &mut f64, c: bool) { if c { y += 2.0 * 3.0 } else { y += 1.0 } }")[0], "2");
        assert_eq!(
            costs("fn f(y: &mut f64, t: &mut f64, x: f64) { compute { t += sin(x) } do { y += t } }")[..2],
            ["3", "2"]
        );
    }

    #[test]
    fn while_loops_have_a_count_of_their_own() {
        assert_eq!(
            costs("fn f(y: &mut f64, k: &mut i64) { while k < 5 post k > 0 { k += 1; y += 1.0 } }")[0],
            "3 * trips@0"
        );
    }

    #[test]
    fn memory_is_what_is_alive_at_one_time() {
        assert_eq!(
            costs(
                "fn f(y: &mut f64, n: usize) {
                    anc a: [f64] = fill(0.0, n) { anc b: [f64;3] = [0.0;3] { y += 1.0 } }
                    anc c: Array2<f64> = fill(0.0, n, n) { y += 1.0 }
                }"
            )[2],
            "n * n + n + 3"
        );
    }

    #[test]
    fn products_cost_what_their_letters_run_over_together() {
        let arrays = "fn f(y: &mut f64, c: &mut Array2<f64>, a: Array2<f64>, b: Array2<f64>)";
        assert_eq!(
            costs(&format!("{arrays} {{ c += contract(\"ik,kj->ij\", a, b) }}"))[0],
            "2 * dim(a, 0) * dim(a, 1) * dim(b, 1) + 1"
        );
        assert_eq!(costs(&format!("{arrays} {{ y += contract(\"..,..->\", a, b) }}"))[0], "2 * len(a) + 1");
    }

    #[test]
    fn calls_are_counted() {
        let f =
            parse_function("fn f(y: &mut [f64], n: usize) { for i in 0..n { call g(&mut y[i]) } }").unwrap();
        let c = cost(&f);
        assert_eq!(c.calls["g"].show(&f).to_string(), "n");
        assert_eq!(c.arithmetic.as_number(), Some(0));
    }
}
