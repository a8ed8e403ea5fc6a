//! Which variables carry derivatives, so that the adjoint gives shadows to these and no others.
//!
//! A variable is *varied* when its value depends differentiably on an argument, and *useful* when
//! an argument depends differentiably on it. A variable that isn't varied has a cotangent that
//! nobody asks for; one that isn't useful has a cotangent that is zero. Only variables that are
//! both need a shadow (activity analysis: Griewank and Walther, Evaluating Derivatives, 6.2).
//!
//! The dependences are those of the statements regardless of their order, on whole variables; a
//! statement and its inverse have the same ones, so a program and its inverse have the same active
//! variables.

use std::collections::BTreeSet;

use crate::ir::{
    ArgValue, Callee, Expr, ExprKind, Function, FunctionPath, Mode, Place, Span, Stmt, StmtKind, UpdateOp,
    VarId,
};
use crate::ops::{Derivative, Func, InstrAdjoint, Shape};

/// The variables that need a shadow: the arguments whose type carries derivatives and that aren't declared
/// constant, and the ancillas and bindings that are varied and useful.
pub fn active_vars(function: &Function) -> BTreeSet<VarId> {
    let arguments: BTreeSet<VarId> =
        function.params.iter().copied().filter(|v| carries_derivative(function, *v)).collect();
    let flows = Flows::of(function);
    let varied = flows.reached(&arguments, |(from, to)| (from, to));
    // nothing flows into arguments that are only read
    let useful = flows.reached(&arguments, |(from, to)| (to, from));
    let between = varied.intersection(&useful).copied().filter(|v| carries_derivative(function, *v));
    between.chain(arguments.iter().copied()).collect()
}

/// An argument of a call that carries a derivative.
#[derive(Clone, Debug, PartialEq)]
pub struct Passing {
    /// The function called, by the path written.
    pub callee: FunctionPath,
    /// Which of its parameters it is.
    pub argument: usize,
    /// A variable that is read for it.
    pub name: String,
    /// The call.
    pub span: Span,
}

/// What a function passes to others to read, of the variables that carry derivatives: none of it may be for
/// a parameter that the callee declares constant. (One that is written can't be.)
pub fn passed_with_derivatives(function: &Function) -> Vec<Passing> {
    let active = active_vars(function);
    let mut out = Vec::new();
    function.body.iter().for_each(|s| add_passings(function, s, &active, &mut out));
    out
}

fn add_passings(function: &Function, stmt: &Stmt, active: &BTreeSet<VarId>, out: &mut Vec<Passing>) {
    if let StmtKind::Call { callee: Callee::Path(callee), direction, args } = &stmt.kind {
        // a program of the n-th adjoint has 2ⁿ arguments for each of the function's, first its value
        let values = args.iter().step_by(1 << direction.adjoint).enumerate();
        for (argument, arg) in values.filter(|(_, arg)| arg.mode == Mode::Read) {
            let mut read = None;
            let mut see = |place: &Place| {
                if active.contains(&place.var) {
                    read = read.or(Some(place.var));
                }
            };
            match &arg.value {
                ArgValue::Place(place) => see(place),
                ArgValue::Expr(e) => each_derivative_read(e, &mut see),
            }
            out.extend(read.map(|var| Passing {
                callee: callee.clone(),
                argument,
                name: function.var(var).name.clone(),
                span: stmt.span,
            }));
        }
    }
    stmt.blocks().into_iter().flatten().for_each(|s| add_passings(function, s, active, out));
}

/// Whether a variable may carry a derivative: also one of any type that can be stored (`T: Scalar`), which may be a
/// number of the caller's.
fn carries_derivative(function: &Function, var: VarId) -> bool {
    let ty = &function.var(var).ty;
    let inactive = ty.is_inactive(&function.generics) && !ty.is_storage(&function.generics);
    !function.constants.contains(&var) && !inactive
}

/// Calls `f` on each place through which a derivative of the expression flows: not on the places in
/// indices, conditions, lengths and conversions to integers.
pub fn each_derivative_read<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Place)) {
    match &expr.kind {
        ExprKind::Read(p) => f(p),
        ExprKind::Literal(..)
        | ExprKind::Named(_)
        | ExprKind::Function(_)
        | ExprKind::Const(_)
        | ExprKind::Len(..)
        | ExprKind::Zero(_)
        | ExprKind::ZeroShadow(_)
        | ExprKind::ZeroLike(_)
        | ExprKind::EmptyStack => {}
        ExprKind::Func(func, args) => args
            .iter()
            .enumerate()
            .filter(|(k, _)| has_derivative(*func, *k))
            .for_each(|(_, e)| each_derivative_read(e, f)),
        ExprKind::Cast(e, ty) => {
            if !ty.is_inactive(&[]) || matches!(ty, crate::ir::Type::Generic(_)) {
                each_derivative_read(e, f)
            }
        }
        ExprKind::If(_, a, b) => [a, b].into_iter().for_each(|e| each_derivative_read(e, f)),
        ExprKind::Repeat(e, _) | ExprKind::Fill(e, _) | ExprKind::Element(e, _) => each_derivative_read(e, f),
        ExprKind::Pure(_, es)
        | ExprKind::Partials(_, es)
        | ExprKind::Tuple(es)
        | ExprKind::Array(es)
        | ExprKind::Contract(_, es) => es.iter().for_each(|e| each_derivative_read(e, f)),
        // The values of local names reach the result through reads of these names.
        ExprKind::Block(lets, e) => {
            lets.iter().for_each(|(_, e)| each_derivative_read(e, f));
            each_derivative_read(e, f)
        }
    }
}

/// Whether the derivative of a function flows through its argument number `k`.
fn has_derivative(func: Func, k: usize) -> bool {
    let row = func.row();
    let numeric = !matches!(row.args.get(k), Some(Shape::B | Shape::I));
    match row.derivative {
        Derivative::Zero => false,
        Derivative::Choice(_, a, b) => k == a || k == b,
        Derivative::Partials(_) | Derivative::Singular(_) | Derivative::Pullback(..) => numeric,
    }
}

/// The differentiable dependences between variables: the value of the second one depends on the first.
#[derive(Default)]
struct Flows {
    edges: BTreeSet<(VarId, VarId)>,
}

impl Flows {
    fn of(function: &Function) -> Flows {
        let mut flows = Flows::default();
        function.body.iter().for_each(|s| flows.add_stmt(s));
        flows
    }

    /// The variables that a path along `direction` of the edges connects to the start.
    fn reached(
        &self,
        start: &BTreeSet<VarId>,
        direction: fn((VarId, VarId)) -> (VarId, VarId),
    ) -> BTreeSet<VarId> {
        let mut reached = start.clone();
        let mut grown = true;
        while grown {
            grown = false;
            for (from, to) in self.edges.iter().map(|e| direction(*e)) {
                grown |= reached.contains(&from) && reached.insert(to);
            }
        }
        reached
    }

    fn add_stmt(&mut self, stmt: &Stmt) {
        stmt.each_expr(&mut |e| self.add_blocks(e));
        match &stmt.kind {
            StmtKind::Update { op, place, expr } => match op {
                UpdateOp::Add | UpdateOp::Sub => self.add_expr(expr, place.var),
                UpdateOp::Xor => {}
            },
            StmtKind::Instr { instr, places, operands } => {
                if instr.row().adjoint != InstrAdjoint::Nothing {
                    self.add_mixing(&places.iter().map(|p| p.var).collect::<Vec<_>>(), operands)
                }
            }
            StmtKind::Let { var, expr, .. } | StmtKind::Ancilla { var, init: expr, .. } => {
                self.add_expr(expr, *var)
            }
            StmtKind::Call { args, .. } => self.add_call(args),
            StmtKind::Push { stack, place } | StmtKind::Pop { stack, place } => {
                self.add_mixing(&[stack.var, place.var], &[])
            }
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
        stmt.blocks().into_iter().flatten().for_each(|s| self.add_stmt(s));
    }

    fn add_expr(&mut self, expr: &Expr, to: VarId) {
        each_derivative_read(expr, &mut |p| {
            self.edges.insert((p.var, to));
        });
    }

    /// The local names inside an expression depend on their values like bindings.
    fn add_blocks(&mut self, expr: &Expr) {
        if let ExprKind::Block(lets, _) = &expr.kind {
            lets.iter().for_each(|(var, e)| self.add_expr(e, *var));
        }
        expr.each_child(&mut |e| self.add_blocks(e));
    }

    /// Each of the places may depend on each other one and on the operands.
    fn add_mixing(&mut self, places: &[VarId], operands: &[Expr]) {
        for to in places {
            self.edges.extend(places.iter().map(|from| (*from, *to)));
            operands.iter().for_each(|e| self.add_expr(e, *to));
        }
    }

    /// What a callee does isn't known here: each written argument may depend on every argument.
    fn add_call(&mut self, args: &[crate::ir::Arg]) {
        let place = |arg: &crate::ir::Arg| match &arg.value {
            ArgValue::Place(p) => Some(p.var),
            ArgValue::Expr(_) => None,
        };
        for to in args.iter().filter(|a| a.mode != Mode::Read).filter_map(place) {
            for arg in args {
                match &arg.value {
                    ArgValue::Place(p) => {
                        self.edges.insert((p.var, to));
                    }
                    ArgValue::Expr(e) => self.add_expr(e, to),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Release, Type, Var, VarKind};
    use crate::text::parse_function;

    fn function(vars: &[(&str, Type, VarKind)], body: Vec<Stmt>) -> Function {
        let vars: Vec<Var> = vars
            .iter()
            .map(|(name, ty, kind)| Var {
                name: name.to_string(),
                ty: ty.clone(),
                kind: *kind,
                span: Span::NONE,
            })
            .collect();
        let params = (0..vars.len() as u32)
            .map(VarId)
            .filter(|v| matches!(vars[v.0 as usize].kind, VarKind::Param(_)))
            .collect();
        Function {
            name: "f".into(),
            generics: Vec::new(),
            params,
            constants: BTreeSet::new(),
            vars,
            names: crate::ir::Names::default(),
            body,
            checks: true,
            file: String::new(),
            span: Span::NONE,
            defects: Default::default(),
        }
    }

    fn f64() -> Type {
        Type::Scalar(crate::ir::ScalarType::F64)
    }

    fn read(v: u32) -> Expr {
        Expr::read(Place::var(VarId(v)))
    }

    fn add(v: u32, expr: Expr) -> Stmt {
        Stmt::new(StmtKind::Update { op: UpdateOp::Add, place: Place::var(VarId(v)), expr })
    }

    fn bind(v: u32, expr: Expr, body: Vec<Stmt>) -> Stmt {
        Stmt::new(StmtKind::Let { var: VarId(v), expr, body })
    }

    const READ: VarKind = VarKind::Param(Mode::Read);
    const WRITE: VarKind = VarKind::Param(Mode::Write);

    #[test]
    fn a_binding_on_the_way_from_an_input_to_an_output_is_active() {
        let f = function(
            &[("y", f64(), WRITE), ("x", f64(), READ), ("t", Type::Unknown, VarKind::Binding)],
            vec![bind(2, read(1) * read(1), vec![add(0, read(2))])],
        );
        assert_eq!(active_vars(&f), [VarId(0), VarId(1), VarId(2)].into());
    }

    #[test]
    fn a_binding_used_in_a_condition_or_as_an_index_only_is_not() {
        let condition = Expr::func(Func::Lt, vec![read(2), Expr::int(0)]);
        let f = function(
            &[
                ("y", f64(), WRITE),
                ("x", f64(), READ),
                ("t", Type::Unknown, VarKind::Binding),
                ("k", Type::Unknown, VarKind::Binding),
            ],
            vec![bind(
                2,
                read(1) + Expr::int(1),
                vec![bind(
                    3,
                    Expr::new(ExprKind::Cast(Box::new(read(1)), Type::INDEX)),
                    vec![
                        add(0, condition.choose(read(1), Expr::int(0))),
                        add(0, Expr::new(ExprKind::Cast(Box::new(read(3)), f64()))),
                    ],
                )],
            )],
        );
        assert_eq!(active_vars(&f), [VarId(0), VarId(1)].into());
    }

    #[test]
    fn an_ancilla_that_only_counts_is_not_varied_and_one_that_reaches_nothing_is_not_useful() {
        let ancilla = |v: u32, body| {
            Stmt::new(StmtKind::Ancilla {
                var: VarId(v),
                init: Expr::int(0),
                release: Release::Checked,
                body,
            })
        };
        let f = function(
            &[
                ("y", f64(), WRITE),
                ("x", f64(), READ),
                ("count", f64(), VarKind::Ancilla),
                ("unused", f64(), VarKind::Ancilla),
                ("sum", f64(), VarKind::Ancilla),
            ],
            vec![ancilla(
                2,
                vec![ancilla(
                    3,
                    vec![ancilla(
                        4,
                        vec![
                            add(2, Expr::int(1)),
                            add(3, read(1)),
                            add(4, read(1) * read(2)),
                            add(0, read(4) * read(2)),
                        ],
                    )],
                )],
            )],
        );
        assert_eq!(active_vars(&f), [VarId(0), VarId(1), VarId(4)].into());
    }

    #[test]
    fn integers_are_never_active_and_a_local_name_is_a_dependence() {
        let block = Expr::new(ExprKind::Block(vec![(VarId(3), read(1))], Box::new(read(3) * read(3))));
        let f = function(
            &[
                ("y", f64(), WRITE),
                ("x", f64(), READ),
                ("n", Type::INDEX, WRITE),
                ("s", Type::Unknown, VarKind::Binding),
                ("t", Type::Unknown, VarKind::Binding),
            ],
            vec![add(2, Expr::int(1)), bind(4, block, vec![add(0, read(4))])],
        );
        assert_eq!(active_vars(&f), [VarId(0), VarId(1), VarId(3), VarId(4)].into());
    }

    fn with_derivatives(text: &str) -> (Vec<String>, Vec<(String, usize, String)>) {
        let f = parse_function(&text.replace("; ", "\n")).unwrap();
        let active = active_vars(&f).into_iter().map(|v| f.var(v).name.clone()).collect();
        let passed = passed_with_derivatives(&f).into_iter();
        (active, passed.map(|p| (p.callee.to_string(), p.argument, p.name)).collect())
    }

    #[test]
    fn a_constant_and_what_follows_from_it_are_not_active() {
        let (active, passed) = with_derivatives(
            "fn f(y: &mut f64, x: f64, c: [f64]) constant(c) {
                let t = c[0] * 2.0 { call g(&mut y, x, t); call g(&mut y, x + t, c); y += t * x }
            }",
        );
        assert_eq!(active, ["y", "x"]);
        assert_eq!(passed, [("g".into(), 1, "x".into()), ("g".into(), 1, "x".into())]);
    }
}
