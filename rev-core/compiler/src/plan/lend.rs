//! Fields of structs as variables of their own, around the parallel loops that use them.
//!
//! Threads and lanes reach arrays through handles, and what they add to through targets; both belong to variables. So
//! around a parallel loop each field that it uses of a struct from outside is lent to a variable, and the loop names that
//! instead: `par for i { net.w[i] += 1.0 }` becomes `let w = net.w; par for i { w[i] += 1.0 }`. Such a `let` is a loan where
//! its variable is of the kind of an argument, which says whether it is written ([`loan`]). It is made of what is emitted
//! only: no other pass meets one.

use std::collections::BTreeSet;

use crate::ir::{
    has_external, Access, ArgValue, Block, Expr, ExprKind, Function, Mode, Place, Rank, Step, Stmt, StmtKind,
    Type, Var, VarId, VarKind,
};

/// How a `let` lends the place that it reads; `None` where it gives a value a name.
pub fn loan(function: &Function, var: VarId) -> Option<Mode> {
    match function.var(var).kind {
        VarKind::Param(mode) => Some(mode),
        VarKind::Ancilla | VarKind::Binding | VarKind::Index => None,
    }
}

/// The function with the fields lent that its parallel loops use.
pub fn lend(mut function: Function) -> Function {
    if function.vars.iter().any(|v| is_struct(&v.ty)) {
        let body = std::mem::take(&mut function.body);
        function.body = block(&mut function, body);
    }
    function
}

fn is_struct(ty: &Type) -> bool {
    match ty {
        Type::Struct(..) => true,
        Type::Shadow(of) => is_struct(of),
        Type::Scalar(_)
        | Type::Generic(_)
        | Type::Complex(_)
        | Type::Array(..)
        | Type::Fixed(..)
        | Type::Tuple(_)
        | Type::Stack(_)
        | Type::Function(_)
        | Type::Unknown => false,
    }
}

fn block(function: &mut Function, statements: Block) -> Block {
    statements.into_iter().map(|s| statement(function, s)).collect()
}

fn statement(function: &mut Function, mut stmt: Stmt) -> Stmt {
    let loans = match &stmt.kind {
        StmtKind::For { parallel: Some(_), body, .. } if !has_external(body) => loans(function, &stmt),
        _ => Vec::new(),
    };
    let loans: Vec<(Place, VarId)> =
        loans.into_iter().map(|l| (l.place.clone(), l.declared(function))).collect();
    rename(&mut stmt, &loans);
    for inner in stmt.blocks_mut() {
        *inner = block(function, std::mem::take(inner));
    }
    let span = stmt.span;
    loans.into_iter().rev().fold(stmt, |inner, (place, var)| {
        Stmt::new(StmtKind::Let { var, expr: Expr::read(place), body: vec![inner] }).at(span)
    })
}

/// A field that is lent.
struct Loan {
    place: Place,
    /// The number of axes of an array that is reached through a handle; what else there is by a reference.
    rank: Option<u8>,
    written: bool,
}

impl Loan {
    fn declared(self, function: &mut Function) -> VarId {
        let root = function.var(self.place.var);
        let what = match self.rank {
            Some(rank) => Type::Array(Box::new(Type::Unknown), Rank::Fixed(rank)),
            None => Type::Unknown,
        };
        let ty = shadowed_as(&root.ty, what);
        let mut name = format!("__{}", root.name.trim_start_matches("r#"));
        for step in &self.place.path {
            match step {
                Step::Field(f) => name += &format!("_{}", f.trim_start_matches("r#")),
                Step::Element(k) => name += &format!("_{k}"),
                Step::Index(_) | Step::Part(_) | Step::Re | Step::Im => {}
            }
        }
        let kind = VarKind::Param(if self.written { Mode::Write } else { Mode::Read });
        function.add_var(Var { name, ty, kind, span: self.place.span })
    }
}

/// A type in as many shadows as another one.
fn shadowed_as(root: &Type, ty: Type) -> Type {
    match root {
        Type::Shadow(of) => Type::Shadow(Box::new(shadowed_as(of, ty))),
        _ => ty,
    }
}

/// What a loop does with one field.
#[derive(Clone)]
struct Field {
    path: Vec<Step>,
    /// The numbers of indices of its elements.
    ranks: BTreeSet<usize>,
    /// Elements or parts of it are used.
    entered: bool,
    /// All of it is read as a value.
    read: bool,
    written: bool,
}

/// What a loop does with the fields of a variable.
struct Uses {
    var: VarId,
    fields: Vec<Field>,
    /// All of the variable is used, or it is declared to be used in disjoint parts.
    whole: bool,
}

/// The loans of a loop.
fn loans(function: &Function, stmt: &Stmt) -> Vec<Loan> {
    let mut bound = BTreeSet::new();
    stmt.add_bound(&mut bound);
    let mut all = All { function, bound, uses: Vec::new() };
    all.statement(stmt);
    all.uses.iter().filter_map(Uses::loans).flatten().collect()
}

impl Uses {
    /// What is lent of the variable; nothing where all of it is used.
    fn loans(&self) -> Option<Vec<Loan>> {
        if self.whole {
            return None;
        }
        // what is only read can be reached in both ways
        let written = self.fields.iter().any(|f| f.written);
        let mut loans = Vec::new();
        for field in &self.outermost()? {
            let rank = match (field.entered, field.ranks.first()) {
                (true, Some(rank)) if field.ranks.len() == 1 && !field.read => {
                    Some(u8::try_from(*rank).ok()?)
                }
                (true, _) if field.written => return None,
                _ if written => None,
                _ => continue,
            };
            let place = Place { path: field.path.clone(), ..Place::var(self.var) };
            loans.push(Loan { place, rank, written: field.written });
        }
        Some(loans)
    }

    /// The fields that aren't inside of others; what is used in one of those too is reached by it. `None` where that are elements
    /// that are written: they need a handle of their own.
    fn outermost(&self) -> Option<Vec<Field>> {
        let inside = |a: &Field, b: &Field| a.path.len() < b.path.len() && b.path.starts_with(&a.path);
        let with_parts = |outer: &Field| {
            let mut all = outer.clone();
            for part in self.fields.iter().filter(|part| inside(outer, part)) {
                if (outer.entered || part.entered) && (outer.written || part.written) {
                    return None;
                }
                all.read |= part.read;
                all.written |= part.written;
            }
            Some(all)
        };
        let outermost = self.fields.iter().filter(|f| !self.fields.iter().any(|outer| inside(outer, f)));
        outermost.map(with_parts).collect()
    }
}

/// The uses of all variables.
struct All<'a> {
    function: &'a Function,
    bound: BTreeSet<VarId>,
    uses: Vec<Uses>,
}

impl All<'_> {
    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Call { args, .. } => {
                for arg in args {
                    match &arg.value {
                        // passed as it is
                        ArgValue::Expr(Expr { kind: ExprKind::Read(q), .. }) => self.place(q, false, false),
                        ArgValue::Expr(e) => self.expr(e),
                        ArgValue::Place(_) => {}
                    }
                }
            }
            _ => stmt.each_expr(&mut |e| self.expr(e)),
        }
        stmt.each_place(&mut |q, access| self.place(q, access != Access::Read, false));
        if let StmtKind::For { parallel: Some(declared), .. } = &stmt.kind {
            declared.injective.iter().for_each(|q| self.place(q, false, false));
            for var in &declared.disjoint {
                self.place(&Place::var(*var), false, false);
            }
        }
        stmt.blocks().into_iter().flatten().for_each(|s| self.statement(s));
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Read(q) => self.place(q, false, true),
            ExprKind::Len(q, _) | ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) => {
                self.place(q, false, false)
            }
            ExprKind::Contract(_, factors) => {
                for factor in factors {
                    match &factor.kind {
                        ExprKind::Read(q) => self.place(q, false, false),
                        _ => self.expr(factor),
                    }
                }
            }
            _ => e.each_child(&mut |e| self.expr(e)),
        }
    }

    /// A use of a place, which is written, or read as a value.
    fn place(&mut self, q: &Place, written: bool, read: bool) {
        q.indices().for_each(|e| self.expr(e));
        if self.bound.contains(&q.var) || !is_struct(&self.function.var(q.var).ty) {
            return;
        }
        let uses = match self.uses.iter_mut().position(|u| u.var == q.var) {
            Some(k) => &mut self.uses[k],
            None => {
                self.uses.push(Uses { var: q.var, fields: Vec::new(), whole: false });
                let last = self.uses.len() - 1;
                &mut self.uses[last]
            }
        };
        let path = q.field();
        if path.is_empty() {
            uses.whole = true;
            return;
        }
        let known = uses.fields.iter().position(|f| f.path == path).unwrap_or_else(|| {
            let path = path.to_vec();
            uses.fields.push(Field {
                path,
                ranks: BTreeSet::new(),
                entered: false,
                read: false,
                written: false,
            });
            uses.fields.len() - 1
        });
        let field = &mut uses.fields[known];
        field.written |= written;
        match q.path.get(path.len()) {
            Some(Step::Index(index)) => {
                field.entered = true;
                field.ranks.insert(index.len());
            }
            Some(Step::Part(_)) => field.entered = true,
            Some(Step::Field(_) | Step::Element(_) | Step::Re | Step::Im) | None => field.read |= read,
        }
    }
}

/// Names what is lent by the variables that it is lent to.
fn rename(stmt: &mut Stmt, loans: &[(Place, VarId)]) {
    if loans.is_empty() {
        return;
    }
    stmt.each_expr_mut(&mut |e| rename_in(e, loans));
    stmt.each_place_mut(&mut |q| rename_lent(q, loans));
    if let StmtKind::For { parallel: Some(declared), .. } = &mut stmt.kind {
        declared.injective.iter_mut().for_each(|q| rename_lent(q, loans));
    }
    stmt.blocks_mut().into_iter().flatten().for_each(|s| rename(s, loans));
}

fn rename_in(e: &mut Expr, loans: &[(Place, VarId)]) {
    match &mut e.kind {
        ExprKind::Read(q) | ExprKind::Len(q, _) | ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) => {
            rename_lent(q, loans);
        }
        _ => e.each_child_mut(&mut |e| rename_in(e, loans)),
    }
}

/// Names a place by what is lent.
pub fn rename_lent(q: &mut Place, loans: &[(Place, VarId)]) {
    q.each_index_mut(&mut |e| rename_in(e, loans));
    let fields = q.field();
    if let Some((lent, var)) =
        loans.iter().find(|(lent, _)| lent.var == q.var && fields.starts_with(&lent.path))
    {
        q.path.drain(..lent.path.len());
        q.var = *var;
    }
}
