//! Calls of functions whose declarations are at hand: parameters that are functions, and everything
//! in a module.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic};
use crate::ir::{
    Arg, ArgValue, Callee, Direction, Expr, FunctionPath, Generic, GenericKind, Mode, Span, Stmt, Type, VarId,
};
use crate::pass::row_type;

use super::solver::{Need, Solver};
use super::term::Term;

/// What a function takes.
type Parameters = Vec<(Mode, Term)>;

impl Solver<'_> {
    pub fn call(&mut self, stmt: &Stmt, callee: &Callee, direction: Direction, args: &[Arg]) {
        let found: Vec<(Term, Span)> = args.iter().map(|a| self.argument(a)).collect();
        let known = match callee {
            Callee::Path(path) => self.declared(path.as_str(), stmt.span),
            Callee::Param(var) => self.parameter(*var, stmt.span),
        };
        let Some(parameters) = known.map(|p| with_shadows(p, direction)) else {
            return self.open.extend(found.into_iter().map(|(term, _)| term));
        };
        let name = self.callee_name(callee);
        if parameters.len() != args.len() {
            return self.arity(stmt.span, &name, parameters.len(), args.len());
        }
        for ((mode, wanted), (arg, (term, span))) in parameters.iter().zip(args.iter().zip(found)) {
            let span = if span.is_some() { span } else { stmt.span };
            self.expect(wanted, &term, span, None);
            if *mode != arg.mode {
                self.out.push(wrong_mode(&name, *mode, span));
            }
        }
    }

    fn argument(&mut self, arg: &Arg) -> (Term, Span) {
        match &arg.value {
            ArgValue::Place(p) => (self.place(p), p.span),
            ArgValue::Expr(e) => (self.expr(e), e.span),
        }
    }

    fn callee_name(&self, callee: &Callee) -> String {
        match callee {
            Callee::Path(path) => path.to_string(),
            Callee::Param(var) => {
                self.scope.vars.get(var.0 as usize).map(|v| v.name.clone()).unwrap_or_default()
            }
        }
    }

    /// The parameters of a function in the module.
    fn declared(&mut self, path: &str, span: Span) -> Option<Parameters> {
        let module = self.scope.module?;
        let function = module.functions.get(module.resolve(self.scope.name, path))?;
        let generics = self.generics(&function.generics, path, span);
        let mut parameters = Vec::new();
        for id in &function.params {
            let var = function.vars.get(id.0 as usize)?;
            let crate::ir::VarKind::Param(mode) = var.kind else { return None };
            parameters.push((mode, self.terms.instance(&var.ty, &generics)));
        }
        Some(parameters)
    }

    /// The parameters of a parameter that is a function.
    fn parameter(&mut self, var: VarId, span: Span) -> Option<Parameters> {
        let declared = self.scope.vars.get(var.0 as usize)?;
        let generic = match &declared.ty {
            Type::Function(name) => self.scope.generics.iter().find(|g| g.name == name.as_str())?,
            Type::Unknown => return None,
            _ => {
                let message = format!("`{}` is called, but it isn't a function", declared.name);
                self.out.push(Diagnostic::new(Code::CallSignature, span, message));
                return None;
            }
        };
        match &generic.kind {
            GenericKind::Function(parameters) => {
                Some(parameters.iter().map(|(mode, ty)| (*mode, self.terms.of(ty))).collect())
            }
            GenericKind::Scalar(_) | GenericKind::Const => None,
        }
    }

    /// The type of a call of a pure function.
    pub fn pure(&mut self, expr: &Expr, path: &FunctionPath, args: &[Expr]) -> Term {
        self.derived(expr, (path.as_str(), 0), args)
    }

    /// The type of the partial derivatives of a pure function, which may be partial derivatives themselves.
    pub fn partials(&mut self, expr: &Expr, path: &FunctionPath, args: &[Expr]) -> Term {
        let (path, taken) = path.taken_partials();
        self.derived(expr, (path, taken + 1), args)
    }

    /// The type of the result of a pure function, or of its derivatives taken `times` times.
    fn derived(&mut self, expr: &Expr, (path, times): (&str, usize), args: &[Expr]) -> Term {
        let found: Vec<Term> = args.iter().map(|e| self.expr(e)).collect();
        let pure = self.scope.module.and_then(|m| m.pures.get(m.resolve(self.scope.name, path)));
        let Some(pure) = pure else {
            self.open.extend(found);
            return self.unknown();
        };
        let generics = self.generics(&pure.generics, path, expr.span);
        if pure.params.len() != args.len() {
            self.arity(expr.span, path, pure.params.len(), args.len());
        }
        for (id, (term, arg)) in pure.params.iter().zip(found.iter().zip(args)) {
            if let Some(var) = pure.vars.get(id.0 as usize) {
                let wanted = self.terms.instance(&var.ty, &generics);
                self.expect(&wanted, term, arg.span, None);
            }
        }
        let result = (0..times).fold(pure.result_type.clone(), |ty, _| row_type(&ty, pure));
        self.terms.instance(&result, &generics)
    }

    /// Holes for the type parameters of a callee, each with its class.
    fn generics(&mut self, generics: &[Generic], callee: &str, span: Span) -> BTreeMap<String, Term> {
        let mut holes = BTreeMap::new();
        for g in generics {
            let hole = self.terms.hole();
            match g.kind {
                GenericKind::Scalar(class) => {
                    let what = format!("`{}` of `{callee}`", g.name);
                    self.demand(&hole, Need::Class(class), what, Code::FunctionClass, span)
                }
                GenericKind::Const | GenericKind::Function(_) => {}
            }
            holes.insert(g.name.clone(), hole);
        }
        holes
    }
}

/// Each adjoint gives every parameter a shadow behind it; where that holds tangents, it is used as the parameter is.
fn with_shadows(parameters: Parameters, direction: Direction) -> Parameters {
    (1..=direction.adjoint).fold(parameters, |ps, level| {
        let tangents = direction.transposed && level == direction.adjoint;
        let of_shadow = |mode: Mode| if tangents { mode } else { mode.of_shadow() };
        ps.into_iter().flat_map(|(mode, t)| [(mode, t.clone()), (of_shadow(mode), Term::shadow(t))]).collect()
    })
}

fn wrong_mode(name: &str, mode: Mode, span: Span) -> Diagnostic {
    let (message, help) = match mode {
        Mode::Write => ("changes this argument", "pass a place with `&mut`"),
        Mode::Read => ("only reads this argument", "pass it with `&` or by value"),
        Mode::Accumulate => ("accumulates into this argument", "pass a place to accumulate into"),
    };
    Diagnostic::new(Code::CallSignature, span, format!("`{name}` {message}")).help(help)
}
