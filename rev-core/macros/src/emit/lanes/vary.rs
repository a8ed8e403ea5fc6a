//! Which values differ between the lanes of a group of iterations.
//!
//! A value is *uniform* where all iterations have the same one, so that it is computed once; it
//! *varies* where it comes from the loop's variable, from an element chosen by one, or from a variable
//! that was written with such a value or where only some of the lanes are active. Variables from
//! outside of the loop are uniform: what the iterations write there is the elements' business.

use std::collections::BTreeSet;

use rev_compiler::ir::{
    is_function_name, Access, Arg, ArgValue, Block, Callee, Expr, ExprKind, Function, Mode, Place, Step,
    Stmt, StmtKind, Type, VarId,
};
use rev_compiler::ops::Func;

/// The variables whose values differ between lanes.
#[derive(Clone, Debug, Default)]
pub struct Varying {
    /// Those held as packs: one value for each lane.
    pub packs: BTreeSet<VarId>,
    /// Those held by their first value and the step from lane to lane.
    pub linear: BTreeSet<VarId>,
    /// Those declared in the lanes' statements.
    pub own: BTreeSet<VarId>,
}

impl Varying {
    /// Of the body of a loop over `var`.
    pub fn of_loop(var: VarId, body: &Block) -> Varying {
        let mut found = Varying::default();
        found.linear.insert(var);
        found.own.insert(var);
        found.settle(body);
        found
    }

    /// Of a function called by lanes, of whose parameters those in `packs` are passed as packs.
    pub fn of_function(packs: BTreeSet<VarId>, body: &Block) -> Varying {
        let mut found = Varying { own: packs.clone(), packs, ..Varying::default() };
        found.settle(body);
        found
    }

    fn settle(&mut self, body: &Block) {
        body.iter().for_each(|s| s.add_bound(&mut self.own));
        loop {
            let before = (self.packs.len(), self.linear.len());
            self.block(body, false);
            if (self.packs.len(), self.linear.len()) == before {
                return;
            }
        }
    }

    /// Whether a variable's value differs between lanes.
    pub fn has(&self, var: VarId) -> bool {
        self.packs.contains(&var) || self.linear.contains(&var)
    }

    /// Whether an expression's value does.
    pub fn expr(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Read(q) | ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) => self.place(q),
            ExprKind::Len(..) => false,
            ExprKind::Block(lets, _) if lets.iter().any(|(var, _)| self.has(*var)) => true,
            _ => {
                let mut found = false;
                e.each_child(&mut |c| found |= self.expr(c));
                found
            }
        }
    }

    /// Whether the value at a place does.
    pub fn place(&self, q: &Place) -> bool {
        self.has(q.var) || q.indices().any(|e| self.expr(e))
    }

    /// Whether an expression is `first + k step` in lane `k`, as far as its form says.
    pub fn is_linear(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Read(q) => q.path.is_empty() && self.linear.contains(&q.var),
            ExprKind::Func(Func::Add, args) => match args.as_slice() {
                [a, b] => self.is_linear(a) && !self.expr(b) || !self.expr(a) && self.is_linear(b),
                _ => false,
            },
            ExprKind::Func(Func::Sub, args) => {
                matches!(args.as_slice(), [a, b] if self.is_linear(a) && !self.expr(b))
            }
            _ => false,
        }
    }

    /// Whether a call does the same in all lanes, to variables of their own: it is made once.
    pub fn is_one_call(&self, args: &[Arg]) -> bool {
        let same = args.iter().all(|arg| match &arg.value {
            ArgValue::Place(q) => !self.place(q),
            ArgValue::Expr(e) => !self.expr(e),
        });
        same && written(args).all(|q| self.own.contains(&q.var))
    }

    fn block(&mut self, block: &Block, partly: bool) {
        block.iter().for_each(|s| self.stmt(s, partly));
    }

    /// `partly`: only some of the lanes may be active.
    fn stmt(&mut self, stmt: &Stmt, partly: bool) {
        stmt.each_expr(&mut |e| self.names(e));
        match &stmt.kind {
            StmtKind::Let { var, expr, .. } => {
                if self.is_linear(expr) {
                    self.linear.insert(*var);
                } else if self.expr(expr) {
                    self.packs.insert(*var);
                }
            }
            StmtKind::Ancilla { var, init, .. } => {
                if self.expr(init) {
                    self.packs.insert(*var);
                }
            }
            StmtKind::Update { place, expr, .. } => {
                if partly || self.expr(expr) || self.place(place) {
                    self.write(place);
                }
            }
            StmtKind::Instr { places, operands, .. } => {
                let varies = places.iter().any(|q| self.place(q)) || operands.iter().any(|e| self.expr(e));
                if partly || varies {
                    places.iter().for_each(|q| self.write(q));
                }
            }
            StmtKind::Call { args, .. } => {
                if partly || !self.is_one_call(args) {
                    written(args).for_each(|q| self.write(q));
                }
            }
            StmtKind::For { var, range, .. } => {
                if range.exprs().any(|e| self.expr(e)) {
                    self.packs.insert(*var);
                }
            }
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
        let partly = partly || self.parts(stmt);
        stmt.blocks().into_iter().for_each(|b| self.block(b, partly));
    }

    /// Whether a statement's blocks run in some of the lanes only.
    pub fn parts(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::If { cond, .. } | StmtKind::While { cond, .. } => self.expr(cond),
            StmtKind::For { range, .. } => range.exprs().any(|e| self.expr(e)),
            _ => false,
        }
    }

    /// The local names of an expression.
    fn names(&mut self, e: &Expr) {
        if let ExprKind::Block(lets, _) = &e.kind {
            for (var, value) in lets {
                self.own.insert(*var);
                if self.expr(value) {
                    self.packs.insert(*var);
                }
            }
        }
        let mut inner = Vec::new();
        e.each_child(&mut |c| inner.push(c));
        inner.into_iter().for_each(|c| self.names(c));
    }

    fn write(&mut self, q: &Place) {
        if self.own.contains(&q.var) {
            self.packs.insert(q.var);
        }
    }
}

/// The places that a call may change.
fn written(args: &[Arg]) -> impl Iterator<Item = &Place> {
    args.iter().filter(|arg| arg.mode != Mode::Read).filter_map(|arg| match &arg.value {
        ArgValue::Place(q) => Some(q),
        ArgValue::Expr(_) => None,
    })
}

/// Whether the statements of a loop or of a function can run in lanes: they have no stacks, structs,
/// functions as values, products of arrays or foreign code, and name arrays of their own only element by element.
pub fn is_laned(function: &Function, varying: &Varying, block: &Block) -> bool {
    let known = |var: &VarId| is_laned_type(&function.var(*var).ty);
    varying.own.iter().all(known) && block.iter().all(|s| is_laned_stmt(function, varying, s))
}

fn is_laned_stmt(function: &Function, varying: &Varying, stmt: &Stmt) -> bool {
    let array = |q: &Place| is_whole_array(function, q);
    let own = match &stmt.kind {
        StmtKind::Push { .. } | StmtKind::Pop { .. } | StmtKind::External { .. } => false,
        StmtKind::Update { place, .. } => !array(place),
        // an element that is the same for all lanes can only be added to
        StmtKind::Instr { places, .. } => {
            let each = |q: &Place| varying.own.contains(&q.var) || varying.place(q);
            !places.iter().any(array) && places.iter().all(each)
        }
        StmtKind::Call { callee, args, .. } => {
            let passed = |q: &Place| !(array(q) && varying.own.contains(&q.var));
            matches!(callee, Callee::Path(_))
                && has_parts_apart(varying, args)
                && args.iter().all(|a| match &a.value {
                    ArgValue::Place(q) => passed(q),
                    ArgValue::Expr(e) => match &e.kind {
                        ExprKind::Read(q) => passed(q),
                        ExprKind::Named(path) => !is_function_name(path),
                        _ => true,
                    },
                })
        }
        // the shape of an array is the same for all lanes
        StmtKind::Ancilla { init, .. } => match &init.kind {
            ExprKind::Fill(_, shape) => !shape.iter().any(|e| varying.expr(e)),
            ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) if array(q) => {
                !q.indices().any(|e| varying.expr(e))
            }
            _ => true,
        },
        StmtKind::Let { expr, .. } => match &expr.kind {
            ExprKind::Read(q) => !array(q),
            ExprKind::Named(path) => !is_function_name(path),
            _ => true,
        },
        StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::For { .. }
        | StmtKind::Compute { .. }
        | StmtKind::Release { .. }
        | StmtKind::Unchecked { .. }
        | StmtKind::Inverse { .. } => true,
    };
    let mut products = false;
    let mut shaped = true;
    stmt.each_expr(&mut |e| {
        products |= has_product(e);
        shaped &= is_shaped(function, varying, e);
    });
    let mut places = true;
    let called = matches!(stmt.kind, StmtKind::Call { .. });
    let mut see = |q: &Place, _: Access| {
        places &= is_laned_place(function, varying, q) && (called || !is_own_part(varying, q));
    };
    stmt.each_access(&mut see);
    own && places
        && !products
        && stmt.blocks().into_iter().flatten().all(|s| is_laned_stmt(function, varying, s))
}

/// Whether an expression asks for lengths of the same array in all lanes only.
fn is_shaped(function: &Function, varying: &Varying, e: &Expr) -> bool {
    let mut shaped = match &e.kind {
        ExprKind::Len(q, _) => {
            is_laned_place(function, varying, q) && !q.path.iter().any(|step| chooses(varying, step))
        }
        ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) => is_laned_place(function, varying, q),
        _ => true,
    };
    e.each_child(&mut |c| shaped &= is_shaped(function, varying, c));
    shaped
}

/// Parts of arrays are the same for all lanes but as arguments of calls, and not of arrays that are the
/// lanes' own; fields are those of complex numbers.
fn is_laned_place(function: &Function, varying: &Varying, q: &Place) -> bool {
    let mut path = q.path.iter();
    is_laned_type(&function.var(q.var).ty)
        && q.path.iter().filter(|step| chooses(varying, step)).count() <= 1
        && path.all(|step| match step {
            Step::Field(_) => false,
            Step::Part(_) => !varying.own.contains(&q.var) && (q.path.len() == 1 || !varying.place(q)),
            Step::Element(_) | Step::Index(_) | Step::Re | Step::Im => true,
        })
}

/// Whether a place is a part of an array of which each lane has another one.
pub fn is_own_part(varying: &Varying, q: &Place) -> bool {
    q.is_part() && varying.place(q)
}

/// Whether a call can be made for one lane after the other where they have parts of arrays of their own:
/// nothing has to be compared.
fn has_parts_apart(varying: &Varying, args: &[Arg]) -> bool {
    let places = |arg: &'_ Arg| match &arg.value {
        ArgValue::Place(q) => Some((q.clone(), arg.mode != Mode::Read)),
        ArgValue::Expr(_) => None,
    };
    let places: Vec<(Place, bool)> = args.iter().filter_map(places).collect();
    places.iter().enumerate().all(|(k, (q, written))| {
        !is_own_part(varying, q)
            || !places[..k].iter().chain(&places[k + 1..]).any(|(r, w)| r.var == q.var && (*written || *w))
    })
}

/// Whether an expression has a product or a sum of arrays in it.
fn has_product(e: &Expr) -> bool {
    let mut found = matches!(e.kind, ExprKind::Contract(..));
    e.each_child(&mut |c| found |= has_product(c));
    found
}

/// Whether a statement passes one of the variables to a call that may change it.
pub fn passes(stmt: &Stmt, vars: &BTreeSet<VarId>) -> bool {
    let changed = |args: &[Arg]| written(args).any(|q| vars.contains(&q.var));
    let own = matches!(&stmt.kind, StmtKind::Call { args, .. } if changed(args));
    own || stmt.blocks().into_iter().flatten().any(|s| passes(s, vars))
}

/// Whether a step of a path chooses another element for each lane.
fn chooses(varying: &Varying, step: &Step) -> bool {
    step.exprs().any(|e| varying.expr(e))
}

/// Whether a place is an array of run-time shape, or a part of one.
pub fn is_whole_array(function: &Function, q: &Place) -> bool {
    match q.path.last() {
        None => is_array_type(&function.var(q.var).ty),
        Some(step) => matches!(step, Step::Part(_)),
    }
}

fn is_array_type(ty: &Type) -> bool {
    match ty {
        Type::Array(..) => true,
        Type::Shadow(t) => is_array_type(t),
        _ => false,
    }
}

fn is_laned_type(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) | Type::Unknown => true,
        Type::Array(t, _) | Type::Fixed(t, _) | Type::Shadow(t) => is_laned_type(t),
        Type::Tuple(ts) => ts.iter().all(is_laned_type),
        Type::Struct(..) | Type::Stack(_) | Type::Function(_) => false,
    }
}
