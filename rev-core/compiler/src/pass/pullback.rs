//! The adjoint of a program as a function of its own, to be called in programs like others.
//!
//! It is the adjoint, in the form that has an inverse and an adjoint, with cotangents that are numbers of the
//! program's types in place of shadows: so it has a tangent and an adjoint as every function, of any order.
//! That of an integer is there, so that a call needs to know no types, and means nothing; that of a
//! reversible function that is an argument is the function's adjoint. A call names it behind the path
//! ([`Derived::Adjoint`]).

use std::collections::{BTreeMap, BTreeSet};

use super::adjoint::{adjoint_function, Adjoint};
use super::{directed, Undirected};
use crate::check::{lost_to_constants, Checked};
use crate::ir::{
    adjoint_name, Arg, ArgValue, Block, Callee, Derived, Direction, Expr, ExprKind, Function, FunctionPath,
    Generic, GenericKind, Mode, Module, Place, Release, Stmt, StmtKind, Type, VarId, VarKind,
};
use crate::ops::Func;

/// The adjoint of a function, as a function: each parameter `p` is followed by its cotangent `p_bar`, a number or
/// array of the same type. What `p` is read for is added to it.
pub fn pullback(function: &Checked) -> Checked {
    in_form(function, Adjoint::REVERSIBLE, Derived::Adjoint)
}

/// The same in the form that is only run, and without inverse: what its tangents are taken of.
pub fn pullback_to_run(function: &Checked) -> Checked {
    in_form(function, Adjoint::LEAN_OF_NUMBERS, Derived::Pullback)
}

fn in_form(function: &Checked, form: Adjoint, called: Derived) -> Checked {
    function.grown(|| {
        let adjoint = adjoint_function(function, form);
        let mut plain = Plain { functions: BTreeMap::new(), names: BTreeMap::new(), called, out: adjoint };
        plain.params(function);
        let mut body = std::mem::take(&mut plain.out.body);
        plain.block(&mut body);
        let mut out = plain.out;
        for var in &mut out.vars {
            var.ty = without_shadows(std::mem::replace(&mut var.ty, Type::Unknown));
        }
        let name = Derived::Adjoint.of(&function.name);
        Checked::made(Function { name, body, ..out }, "the adjoint as a function")
    })
}

/// The gradient of a function as a function: every parameter but the loss, each that carries a derivative followed by its
/// cotangent, to which the derivative of the loss is added. `path` is how the function is called.
pub fn gradient_function(function: &Checked, loss: usize, path: &FunctionPath) -> Option<Checked> {
    let number = |p: &VarId| function.params.iter().position(|own| own == p).map(|k| VarId(k as u32));
    let at = number(function.params.get(loss)?)?;
    let out =
        Function { name: Derived::Gradient.of(&function.name), params: Vec::new(), ..declaration(function) };
    let ty = out.var(at).ty.clone();
    let mut plain =
        Plain { functions: BTreeMap::new(), names: BTreeMap::new(), called: Derived::Adjoint, out };
    let (mut values, mut both) = (Vec::new(), Vec::new());
    let (mut params, mut without) = (Vec::new(), Vec::new());
    let mut loss_bar = at;
    for of in &function.params {
        let (p, VarKind::Param(mode)) = (number(of)?, function.var(*of).kind) else { return None };
        // the adjoint of a function is read as the function is
        let is_function = matches!(function.var(*of).ty, Type::Function(_));
        let bar_mode = if is_function { Mode::Read } else { mode.of_shadow() };
        let carries = carries_derivative(function, *of);
        let bar = plain.add_bar(p, if carries { VarKind::Param(bar_mode) } else { VarKind::Ancilla });
        let place = |var, mode| Arg { mode, value: ArgValue::Place(Place::var(var)) };
        values.push(place(p, mode));
        both.extend([place(p, mode), place(bar, bar_mode)]);
        match (p == at, carries) {
            (true, _) => loss_bar = bar,
            (false, true) => params.extend([p, bar]),
            (false, false) => {
                params.push(p);
                without.push((p, bar));
            }
        }
    }
    let mut out = plain.out;
    for var in [at, loss_bar] {
        out.vars[var.0 as usize].kind = VarKind::Ancilla;
    }
    out.params = params;
    let body = vec![call(path.clone(), values), call(path.with(Derived::Adjoint), both)];
    let one = Expr::new(ExprKind::Literal(crate::ir::Number::Int(1), Some(ty.clone())));
    let scope = |var, init, release, body| vec![Stmt::new(StmtKind::Ancilla { var, init, release, body })];
    let body = without.into_iter().fold(body, |body, (of, bar)| {
        let zeros = Expr::new(ExprKind::ZeroLike(Place::var(of)));
        scope(bar, zeros, Release::Dropped, body)
    });
    let body = scope(loss_bar, one, Release::Checked, body);
    out.body = scope(at, Expr::new(ExprKind::Zero(ty)), Release::Checked, body);
    Some(Checked::made(out, "the gradient as a function"))
}

/// A function without statements: the parameters alone, as the first variables.
fn declaration(function: &Function) -> Function {
    let number = |p: &VarId| function.params.iter().position(|own| own == p).map(|k| VarId(k as u32));
    Function {
        body: Vec::new(),
        params: (0..function.params.len()).map(|k| VarId(k as u32)).collect(),
        constants: function.constants.iter().filter_map(number).collect(),
        vars: function.params.iter().map(|p| function.var(*p).clone()).collect(),
        names: Default::default(),
        ..function.clone()
    }
}

fn call(path: FunctionPath, args: Vec<Arg>) -> Stmt {
    Stmt::new(StmtKind::Call { callee: Callee::Path(path), direction: Direction::FORWARD, args })
}

/// An adjoint as a function that calls the adjoint of the function at a path, in the form that is only run: of this there are tangents
/// side by side, which needn't be derived again. `None` if there are functions among the arguments.
pub fn pullback_called(pullback: &Checked, path: &FunctionPath) -> Option<Checked> {
    as_call(pullback, path.with(Derived::Pullback), &[0, 1])
}

/// The tangent of an adjoint, as a call of the adjoint of the tangent: the same program, with the arguments in another order, since
/// the cotangent of a tangent is the cotangent of the value, and the cotangent of the value then is the tangent of the
/// cotangent. `pullback` is the adjoint of the function at the path. `None` if there are functions among the arguments, of which
/// that isn't so.
pub fn tangent_of_pullback(pullback: &Checked, path: &FunctionPath) -> Option<Checked> {
    let tangent = super::tangent(&Checked::made(declaration(pullback), "an adjoint's declaration"));
    as_call(&tangent, path.with(Derived::Tangent).with(Derived::Adjoint), &[0, 3, 1, 2])
}

/// A function with the parameters of another, which calls the one at a path with them: in this order those of each parameter of the
/// function that was derived.
fn as_call(like: &Function, path: FunctionPath, order: &[usize]) -> Option<Checked> {
    let mut out = declaration(like);
    let arg = |&var: &VarId| match (&like.var(like.params[var.0 as usize]).ty, out.var(var).kind) {
        (Type::Function(_), _) => None,
        (_, VarKind::Param(mode)) => Some(Arg { mode, value: ArgValue::Place(Place::var(var)) }),
        (_, VarKind::Ancilla | VarKind::Binding | VarKind::Index) => None,
    };
    let args = out.params.chunks(order.len()).flat_map(|own| order.iter().map(|&k| own.get(k).and_then(arg)));
    let args = args.collect::<Option<Vec<Arg>>>()?;
    out.body = vec![call(path, args)];
    Some(Checked::made(out, "a call of an adjoint"))
}

/// Whether a parameter of a gradient is followed by a cotangent; one that is a function is followed by its adjoint.
pub fn carries_derivative(function: &Function, param: VarId) -> bool {
    let ty = &function.var(param).ty;
    let is_function = matches!(ty, Type::Function(_));
    let inactive = ty.is_inactive(&function.generics) && !ty.is_storage(&function.generics);
    is_function || !inactive && !function.constants.contains(&param)
}

/// An adjoint whose shadows become numbers.
struct Plain {
    /// The adjoints of variables that are functions.
    functions: BTreeMap<VarId, VarId>,
    /// The adjoints of functions' names whose own names are still to come, with their types.
    names: BTreeMap<VarId, (Expr, Type)>,
    /// What calls name of a function behind its path.
    called: Derived,
    out: Function,
}

impl Plain {
    fn params(&mut self, of: &Function) {
        let params = self.out.params.clone();
        for pair in params.chunks(2) {
            if let ([p, bar], Type::Function(name)) = (pair, of.var(pair[0]).ty.clone()) {
                self.out.vars[bar.0 as usize].ty = self.function_bar(&name);
                self.out.vars[bar.0 as usize].kind = VarKind::Param(Mode::Read);
                self.functions.insert(*p, *bar);
            }
        }
    }

    fn add_bar(&mut self, of: VarId, kind: VarKind) -> VarId {
        let mut var = self.out.var(of).clone();
        var.name = format!("{}_bar", var.name);
        var.kind = kind;
        if let Type::Function(name) = var.ty.clone() {
            var.ty = self.function_bar(&name);
            var.kind = VarKind::Param(Mode::Read);
        }
        self.out.add_var(var)
    }

    /// The type of the adjoint of a function that is an argument.
    fn function_bar(&mut self, name: &FunctionPath) -> Type {
        let own = match self.called {
            Derived::Pullback => name.with(Derived::Pullback),
            _ => self.out.new_generic(format!("{name}_bar")).into(),
        };
        let of = self.out.generics.iter().find(|g| g.name == name.as_str()).map(|g| g.kind.clone());
        if let Some(GenericKind::Function(params)) = of {
            let both = params.into_iter().flat_map(|(mode, ty)| [(mode, ty.clone()), (mode.of_shadow(), ty)]);
            let kind = GenericKind::Function(both.collect());
            self.out.generics.push(Generic { name: own.to_string(), kind });
        }
        Type::Function(own)
    }

    fn block(&mut self, block: &mut Block) {
        block.iter_mut().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        self.name_function(&stmt.kind);
        if let Some(kind) = self.function_scope(&stmt.kind) {
            stmt.kind = kind;
        }
        stmt.each_expr_mut(&mut |e| plain_expr(e));
        match &mut stmt.kind {
            StmtKind::Let { var, expr, .. } => {
                if let ExprKind::Function(_) = &expr.kind {
                    self.functions.entry(*var).or_insert(*var);
                }
            }
            StmtKind::Call { callee, direction, args } => {
                for _ in 0..std::mem::take(&mut direction.adjoint) {
                    *callee = match callee {
                        Callee::Path(path) => Callee::Path(path.with(self.called)),
                        Callee::Param(var) => Callee::Param(self.functions.get(var).copied().unwrap_or(*var)),
                    };
                }
                // functions are only read
                for arg in args.iter_mut() {
                    if let ArgValue::Place(place) = &arg.value {
                        if self.functions.values().any(|bar| *bar == place.var) {
                            arg.mode = Mode::Read;
                        }
                    }
                }
            }
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Ancilla { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
        stmt.blocks_mut().into_iter().for_each(|b| self.block(b));
    }

    /// Notes what the adjoint of a function's name is.
    fn name_function(&mut self, kind: &StmtKind) {
        let StmtKind::Let { var, expr, .. } = kind else { return };
        let (adjoint, ty) = match &expr.kind {
            ExprKind::Function(path) => {
                let path = path.with(self.called);
                (ExprKind::Function(path.clone()), Type::Function(path))
            }
            ExprKind::Read(place) => match self.functions.get(&place.var) {
                Some(&bar) => (ExprKind::Read(Place::var(bar)), self.out.var(bar).ty.clone()),
                None => return,
            },
            _ => return,
        };
        self.names.insert(*var, (Expr::new(adjoint), ty));
    }

    /// The scope of the shadow of a function's name, which becomes one of a name for the function's adjoint.
    fn function_scope(&mut self, kind: &StmtKind) -> Option<StmtKind> {
        let StmtKind::Ancilla { var: bar, init, body, .. } = kind else { return None };
        let (ExprKind::ZeroShadow(of) | ExprKind::ZeroLike(of)) = &init.kind else { return None };
        let (adjoint, ty) = self.names.remove(&of.var)?;
        self.functions.insert(of.var, *bar);
        self.out.vars[bar.0 as usize].kind = VarKind::Binding;
        self.out.vars[bar.0 as usize].ty = match self.called {
            Derived::Pullback => ty,
            _ => Type::Unknown,
        };
        Some(StmtKind::Let { var: *bar, expr: adjoint, body: body.clone() })
    }
}

fn plain_expr(e: &mut Expr) {
    match &mut e.kind {
        ExprKind::ZeroShadow(place) => e.kind = ExprKind::ZeroLike(place.clone()),
        // a number of which only rustc knows whether it is an integer, which carries nothing
        ExprKind::Cast(of, ty) if *ty == Type::Shadow(Box::new(Type::Unknown)) => {
            let of = std::mem::replace(&mut **of, Expr::int(0));
            let number = Expr::func(Func::Differentiable, vec![of]);
            e.kind = ExprKind::Cast(Box::new(number), Type::Unknown);
        }
        // a real number times one that may be complex
        ExprKind::Func(func @ Func::ScaleReal, args) if args.len() == 2 => {
            args[0] = Expr::func(Func::ShadowFromRe, vec![std::mem::replace(&mut args[0], Expr::int(0))]);
            args.swap(0, 1);
            *func = Func::Scale;
        }
        // the first, of the second's type
        ExprKind::Func(func @ Func::ShadowOf, args) => {
            args.insert(0, Expr::bool(true));
            *func = Func::Select;
        }
        ExprKind::Cast(_, ty) | ExprKind::Zero(ty) | ExprKind::Literal(_, Some(ty)) => {
            *ty = without_shadows(std::mem::replace(ty, Type::Unknown));
        }
        ExprKind::Literal(_, None)
        | ExprKind::Named(_)
        | ExprKind::Function(_)
        | ExprKind::Const(_)
        | ExprKind::Read(_)
        | ExprKind::Len(..)
        | ExprKind::Func(..)
        | ExprKind::Pure(..)
        | ExprKind::Partials(..)
        | ExprKind::If(..)
        | ExprKind::Block(..)
        | ExprKind::Element(..)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Repeat(..)
        | ExprKind::Fill(..)
        | ExprKind::ZeroLike(_)
        | ExprKind::EmptyStack
        | ExprKind::Contract(..) => {}
    }
    e.each_child_mut(&mut plain_expr);
}

fn without_shadows(ty: Type) -> Type {
    match ty {
        Type::Shadow(of) => without_shadows(*of),
        other => other,
    }
}

impl Module {
    /// The module about the entry's adjoint as a function, with those of all functions that can be called.
    ///
    /// # Errors
    ///
    /// A function that can't be uncomputed, or that passes what carries a derivative for a parameter that
    /// another declares constant.
    pub fn pullback(&self) -> Result<Module, Undirected> {
        self.with_derived(pullback, (Derived::Adjoint, adjoint_name))
    }

    /// The module with a function derived of each, about that of the entry: what paths name it by, and its name by that of the
    /// function.
    pub(super) fn with_derived(
        &self,
        pass: impl Fn(&Checked) -> Checked,
        (called, name_of): (Derived, impl Fn(&str) -> String),
    ) -> Result<Module, Undirected> {
        let mut module = self.clone();
        for (name, source) in &self.functions {
            let function = directed(self, name, Direction::FORWARD)?;
            if let Some(lost) = lost_to_constants(self, source).iter().next() {
                return Err(Undirected::Rejected(lost.message.clone()));
            }
            let mut derived = pass(&Checked::made(function, "uncomputation")).into_inner();
            if let Some(defect) = derived.defects.iter().next() {
                return Err(Undirected::Rejected(defect.message.clone()));
            }
            derived.name = name_of(name);
            module.links.insert(derived.name.clone(), self.links_of_derived(name, called, &name_of));
            module.functions.insert(derived.name.clone(), derived);
        }
        module.entry = name_of(&self.entry);
        Ok(module)
    }

    /// What the paths in a program that is derived of a function mean: also those of each function's derived one. A path that is
    /// no link is the function's name.
    fn links_of_derived(
        &self,
        name: &str,
        called: Derived,
        name_of: &dyn Fn(&str) -> String,
    ) -> BTreeMap<String, String> {
        let mut links = self.links.get(name).cloned().unwrap_or_default();
        let known: BTreeSet<(String, String)> = links
            .iter()
            .map(|(path, function)| (path.clone(), function.clone()))
            .chain(self.functions.keys().map(|name| (name.clone(), name.clone())))
            .filter(|(_, function)| self.functions.contains_key(function))
            .collect();
        for (path, function) in known {
            let path = FunctionPath::new(&path).with(called);
            links.entry(path.to_string()).or_insert(name_of(&function));
        }
        links
    }
}
