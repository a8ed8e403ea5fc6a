//! Sharing: a function of values that don't change is computed once, and an element that doesn't change is read once.
//!
//! Derivatives repeat what their functions computed: that of `sin x` is `cos x`, that of `√x` has `√x` in it, a
//! quotient's the reciprocal of its divisor. In a program that is only run forward each of these gets a name of
//! its own where it is computed first, and is read from there on. The bits are the same.
//!
//! A function is shared within a block, where it stands at least twice and is surely evaluated the first time:
//! nothing is computed that wasn't before. What may be an error isn't computed before the statement in which it stands
//! first: of two errors the first one is told. Arguments are compared as they are written, so that an element which
//! two names stand for counts as two. The sine and the cosine of a number count as one, which has one reduction of
//! the argument for both; their names are bound one right after the other, for backends to see.
//!
//! What is read of an array that isn't written is shared like a function, since nothing tells rustc that what is written in
//! between is another array: it would read the element again, and compute again what it computed from it.

use std::collections::{BTreeMap, HashMap};

use crate::check::type_of;
use crate::ir::{
    depth, Axis, Block, Expr, ExprKind, Function, Mode, Place, Span, Step, Stmt, StmtKind, Type, Var, VarId,
    VarKind,
};
use crate::limits;
use crate::ops::Func;
use crate::plan::lend;

use super::{rows, Erased};
use crate::validate::{verified, Form};

impl Erased {
    /// The program with repeated functions of values that don't change computed once.
    pub fn shared(mut self) -> Erased {
        self.function = share(self.function);
        self
    }

    /// The program with the fields lent that its parallel loops use, to be emitted.
    pub(crate) fn lent(mut self) -> Self {
        self.function = lend(self.function);
        self
    }
}

/// Computes repeated functions once, in a program that is run forward.
fn share(mut function: Function) -> Function {
    let mut body = std::mem::take(&mut function.body);
    function.body = limits::grown(depth(&body), || {
        rows::apart(&function, &mut body);
        let mut search = Search::new(&function);
        search.block(&body, true);
        let found = search.found();
        let mut naming =
            Naming { function: &mut function, found, at: 0, statement: 0, bound: BTreeMap::new() };
        let mut body = naming.block(body);
        rows::together(&function, &mut body);
        body
    });
    verified(function, Form::Forward, "sharing")
}

/// What an expression computes, wherever it stands: equal numbers for equal values.
type Value = u32;

/// A function that is surely computed where it stands first.
struct Found {
    value: Value,
    /// The statement before which it may be bound, for all places where it stands.
    before: usize,
    /// How often it stands somewhere after its first place.
    uses: usize,
    /// What is computed: the function; for sine and cosine those of them that are.
    values: Vec<Value>,
    /// The functions that it is computed from.
    inside: Vec<usize>,
    /// Their names, when they have them.
    names: Vec<VarId>,
}

/// What is known of an expression that is visited.
#[derive(Clone, Copy)]
enum Role {
    /// Nothing.
    Other,
    /// A function stands here first.
    First(usize),
    /// A function that stood before: which of its values.
    Again(usize, usize),
}

/// A statement in the order of the text, while it is searched.
struct Visit {
    /// The statement around it, or one around that, of which it is known that it is at the same level.
    around: Option<usize>,
    depth: usize,
    /// Whether the search is in it.
    open: bool,
}

/// The search for functions that stand more than once.
struct Search<'f> {
    function: &'f Function,
    numbers: HashMap<String, Value>,
    /// The values of the expressions of the statement that is searched, none where they may change.
    values: HashMap<*const Expr, Option<Value>>,
    /// Which declaration of a variable is in scope.
    declared: HashMap<VarId, usize>,
    visits: Vec<Visit>,
    around: Vec<usize>,
    /// The functions that have surely been computed: by their value, and in the order in which they were.
    available: HashMap<Value, usize>,
    order: Vec<Value>,
    found: Vec<Found>,
    /// The functions inside which the search is, where they stand first.
    inside: Vec<usize>,
    roles: Vec<Role>,
}

impl<'f> Search<'f> {
    fn new(function: &'f Function) -> Search<'f> {
        Search {
            function,
            numbers: HashMap::new(),
            values: HashMap::new(),
            declared: HashMap::new(),
            visits: Vec::new(),
            around: Vec::new(),
            available: HashMap::new(),
            order: Vec::new(),
            found: Vec::new(),
            inside: Vec::new(),
            roles: Vec::new(),
        }
    }

    /// What was found. A function is bound before everything that is computed from it.
    fn found(mut self) -> (Vec<Found>, Vec<Role>) {
        let mut largest: Vec<usize> = (0..self.found.len()).collect();
        largest.sort_by_key(|k| std::cmp::Reverse(self.found[*k].value));
        for k in largest {
            let before = self.found[k].before;
            for part in std::mem::take(&mut self.found[k].inside) {
                let own = self.found[part].before;
                if self.visits[before].depth < self.visits[own].depth {
                    self.found[part].before = before;
                }
            }
        }
        (self.found, self.roles)
    }

    /// A block that is run as a whole. What it computes stays available after it if it surely is run.
    fn block(&mut self, block: &[Stmt], surely: bool) {
        let before = self.order.len();
        block.iter().for_each(|s| self.stmt(s));
        if !surely {
            for value in self.order.drain(before..) {
                self.available.remove(&value);
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let visit = self.visits.len();
        let around = self.around.last().copied();
        self.visits.push(Visit { around, depth: self.around.len(), open: true });
        self.around.push(visit);
        self.values.clear();
        stmt.each_expr(&mut |e| {
            self.number(e);
        });
        let repeats = matches!(stmt.kind, StmtKind::While { .. });
        stmt.each_expr(&mut |e| self.expr(e, !repeats));
        if let StmtKind::Let { var, .. } | StmtKind::Ancilla { var, .. } | StmtKind::For { var, .. } =
            &stmt.kind
        {
            self.declared.insert(*var, visit);
        }
        let surely =
            !matches!(stmt.kind, StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::For { .. });
        stmt.blocks().into_iter().for_each(|block| self.block(block, surely));
        if let StmtKind::Let { var, .. } | StmtKind::Ancilla { var, .. } | StmtKind::For { var, .. } =
            &stmt.kind
        {
            self.declared.remove(var);
        }
        self.around.pop();
        self.visits[visit].open = false;
    }

    fn expr(&mut self, e: &Expr, surely: bool) {
        let at = self.roles.len();
        self.roles.push(Role::Other);
        let value = self.values.get(&std::ptr::from_ref(e)).copied().flatten();
        let Some(value) = value.filter(|_| is_worth_sharing(self.function, e)) else {
            return self.children(e, surely);
        };
        let class = self.class(e, value);
        let known = self.available.get(&class).copied();
        let known = known.map(|known| (known, self.before(self.found[known].before)));
        if let Some((known, before)) = known.filter(|(k, at)| *at == self.found[*k].before || !e.can_fail()) {
            let found = &mut self.found[known];
            (found.before, found.uses) = (before, found.uses + 1);
            let which = found.values.iter().position(|v| *v == value);
            let which = which.unwrap_or_else(|| {
                found.values.push(value);
                found.values.len() - 1
            });
            self.roles[at] = Role::Again(known, which);
            self.is_inside(known);
        } else if surely {
            let (new, before) = (self.found.len(), self.around.last().copied().unwrap_or(0));
            let (values, inside, names) = (vec![value], Vec::new(), Vec::new());
            self.found.push(Found { value, before, uses: 0, values, inside, names });
            self.available.insert(class, new);
            self.order.push(class);
            self.roles[at] = Role::First(new);
            self.is_inside(new);
            self.inside.push(new);
            self.children(e, surely);
            self.inside.pop();
        } else {
            self.children(e, surely);
        }
    }

    fn is_inside(&mut self, part: usize) {
        if let Some(&whole) = self.inside.last() {
            self.found[whole].inside.push(part);
        }
    }

    fn children(&mut self, e: &Expr, surely: bool) {
        let mut k = 0;
        e.each_child(&mut |child| {
            self.expr(child, surely && !(is_conditional(e) && k > 0));
            k += 1;
        });
    }

    /// The sine and the cosine of a number count as one.
    fn class(&mut self, e: &Expr, value: Value) -> Value {
        let ExprKind::Func(Func::Sin | Func::Cos, args) = &e.kind else { return value };
        let of = args.first().and_then(|a| self.values.get(&std::ptr::from_ref(a)).copied().flatten());
        self.numbered(format!("sine and cosine of {of:?}"))
    }

    /// The outermost statement that is over, around one that is: what stands before it stands before everything that was
    /// searched since. An open one itself.
    fn before(&mut self, visit: usize) -> usize {
        let mut top = visit;
        while let Some(around) = self.visits[top].around.filter(|v| !self.visits[*v].open) {
            top = around;
        }
        let mut next = visit;
        while next != top {
            let around = self.visits[next].around.replace(top);
            next = around.unwrap_or(top);
        }
        top
    }

    fn numbered(&mut self, key: String) -> Value {
        let new = self.numbers.len() as Value;
        *self.numbers.entry(key).or_insert(new)
    }

    /// The number of an expression's value, if it has one value wherever it stands in the scope of what it reads.
    fn number(&mut self, e: &Expr) -> Option<Value> {
        let hidden = self.hidden_by(e);
        let mut parts = Some(Vec::new());
        e.each_child(&mut |child| {
            let part = self.number(child);
            parts = parts.take().zip(part).map(|(mut parts, part)| {
                parts.push(part);
                parts
            });
        });
        self.declared.extend(hidden);
        let key = parts.and_then(|parts| Some(format!("{} {parts:?}", self.head(e)?)));
        let value = key.map(|key| self.numbered(key));
        self.values.insert(std::ptr::from_ref(e), value);
        value
    }

    /// Takes out the declarations of names that a block of an expression binds itself: a derivative declares such
    /// a name for a scope of statements as well.
    fn hidden_by(&mut self, e: &Expr) -> Vec<(VarId, usize)> {
        let ExprKind::Block(lets, _) = &e.kind else { return Vec::new() };
        lets.iter().filter_map(|(var, _)| self.declared.remove_entry(var)).collect()
    }

    /// What an expression is, its parts apart.
    fn head(&self, e: &Expr) -> Option<String> {
        Some(match &e.kind {
            ExprKind::Read(place) => format!("read {}", self.place(place)?),
            ExprKind::Len(place, axis) => format!("len {axis:?} {}", self.place(place)?),
            ExprKind::Literal(..) | ExprKind::Named(_) | ExprKind::Function(_) | ExprKind::Const(_) => {
                format!("{:?}", e.kind)
            }
            ExprKind::Func(func, _) => func.name().to_string(),
            ExprKind::Pure(path, _) => format!("pure {path}"),
            ExprKind::Cast(_, ty) => format!("as {ty}"),
            ExprKind::If(..) => "if".to_string(),
            ExprKind::Element(_, k) => format!("element {k}"),
            ExprKind::Tuple(_) => "tuple".to_string(),
            ExprKind::Array(_) => "array".to_string(),
            // names of their own, or no numbers
            ExprKind::Block(..)
            | ExprKind::Partials(..)
            | ExprKind::Repeat(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::ZeroLike(_)
            | ExprKind::EmptyStack
            | ExprKind::Contract(..) => return None,
        })
    }

    /// A place that doesn't change, its indices apart.
    fn place(&self, place: &Place) -> Option<String> {
        let declared = match self.function.var(place.var).kind {
            VarKind::Param(Mode::Read) => 0,
            VarKind::Binding | VarKind::Index => *self.declared.get(&place.var)?,
            VarKind::Param(Mode::Write | Mode::Accumulate) | VarKind::Ancilla => return None,
        };
        let steps = place.path.iter().map(|step| match step {
            Step::Index(indices) => format!("[{}]", indices.len()),
            Step::Part(axes) => format!("[{}]", axes.iter().map(axis).collect::<Vec<_>>().join(", ")),
            Step::Field(_) | Step::Element(_) | Step::Re | Step::Im => format!("{step:?}"),
        });
        Some(format!("{} {declared} {}", place.var.0, steps.collect::<String>()))
    }
}

/// What a part takes of an axis, its indices apart.
fn axis(axis: &Axis) -> &'static str {
    match axis {
        Axis::At(_) => "i",
        Axis::Range(..) => "a..b",
        Axis::Whole => "..",
    }
}

/// Whether only the first part of an expression is surely computed.
fn is_conditional(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::If(..) | ExprKind::Func(Func::And | Func::Or, _))
}

/// The names of a function, or of a sine and cosine, with their values.
type Names = Vec<(VarId, Expr)>;

/// The second walk, in the order of the search: gives names.
struct Naming<'f> {
    function: &'f mut Function,
    found: (Vec<Found>, Vec<Role>),
    at: usize,
    statement: usize,
    /// What is bound before a statement: the values of each function, the smaller ones first.
    bound: BTreeMap<usize, BTreeMap<Value, Names>>,
}

impl Naming<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut statements = Vec::new();
        for mut stmt in block {
            let statement = self.statement;
            self.statement += 1;
            let span = stmt.span;
            let kept = is_pair(&stmt);
            stmt.each_expr_mut(&mut |e| self.expr(e, kept));
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            statements.push((statement, span, stmt));
        }
        // from the last one on, which holds what follows
        let mut reversed = Vec::new();
        for (statement, span, stmt) in statements.into_iter().rev() {
            reversed.push(stmt);
            let bound = self.bound.remove(&statement).unwrap_or_default();
            for (var, expr) in bound.into_values().rev().flat_map(|values| values.into_iter().rev()) {
                reversed.reverse();
                let body = std::mem::take(&mut reversed);
                reversed.push(Stmt::new(StmtKind::Let { var, expr, body }).at(span));
            }
        }
        reversed.reverse();
        reversed
    }

    fn expr(&mut self, e: &mut Expr, kept: bool) {
        let role = self.found.1.get(self.at).copied().unwrap_or(Role::Other);
        self.at += 1;
        match role {
            Role::Again(found, which) => {
                if let Some(name) = self.found.0[found].names.get(which) {
                    e.kind = ExprKind::Read(Place::var(*name));
                }
            }
            Role::First(found) => {
                e.each_child_mut(&mut |child| self.expr(child, false));
                let Found { uses, values, .. } = &self.found.0[found];
                let once = values.len() == uses + 1;
                if *uses > 0 && !(once && kept) {
                    self.bind(found, e);
                }
            }
            Role::Other => e.each_child_mut(&mut |child| self.expr(child, false)),
        }
    }

    /// Names for a function, which is read by the first of them where it stands; none if its type isn't known.
    fn bind(&mut self, found: usize, e: &mut Expr) {
        let Some(ty) = number_type(self.function, e) else { return };
        // an index beside numbers
        if matches!(e.kind, ExprKind::Read(_)) && ty.is_inactive(&self.function.generics) {
            return;
        }
        let Found { value, before, values, .. } = &self.found.0[found];
        let (value, before, both) = (*value, *before, values.len() > 1);
        let first = e.clone();
        let mut exprs = vec![first.clone()];
        if both {
            exprs.push(other_of_pair(first));
        }
        let mut bound = Names::new();
        for expr in exprs {
            let name = match &expr.kind {
                ExprKind::Func(func, _) => format!("__{}", func.name()),
                ExprKind::Read(place) => format!("__{}_read", self.function.var(place.var).name),
                _ => "__value".to_string(),
            };
            let var = Var { name, ty: ty.clone(), kind: VarKind::Binding, span: Span::NONE };
            bound.push((self.function.add_var(var), expr));
        }
        self.found.0[found].names = bound.iter().map(|(var, _)| *var).collect();
        if let Some((var, _)) = bound.first() {
            e.kind = ExprKind::Read(Place::var(*var));
        }
        self.bound.entry(before).or_default().insert(value, bound);
    }
}

/// The cosine of a sine's argument, the sine of a cosine's.
fn other_of_pair(e: Expr) -> Expr {
    match e.kind {
        ExprKind::Func(Func::Sin, args) => Expr::func(Func::Cos, args),
        ExprKind::Func(Func::Cos, args) => Expr::func(Func::Sin, args),
        kind => Expr::new(kind),
    }
}

/// Whether a statement binds the sine and the cosine of one number, one right after the other.
fn is_pair(stmt: &Stmt) -> bool {
    let StmtKind::Let { expr, body, .. } = &stmt.kind else { return false };
    let [Stmt { kind: StmtKind::Let { expr: next, .. }, .. }] = &body[..] else { return false };
    match (&expr.kind, &next.kind) {
        (ExprKind::Func(Func::Sin, a), ExprKind::Func(Func::Cos, b))
        | (ExprKind::Func(Func::Cos, a), ExprKind::Func(Func::Sin, b)) => {
            a.iter().zip(b).all(|(a, b)| a.same(b))
        }
        _ => false,
    }
}

/// The type of an expression, if that is known and a number's, or that of numbers that are read together.
fn number_type(function: &Function, expr: &Expr) -> Option<Type> {
    let ty = type_of(function, expr);
    let part = match &ty {
        Type::Complex(part) => part,
        whole => whole,
    };
    let row = matches!(expr.kind, ExprKind::Read(_)) && rows::is_row(&ty);
    (row || matches!(part, Type::Scalar(_) | Type::Generic(_))).then_some(ty)
}

/// Whether an expression takes longer than reading its value.
fn is_worth_sharing(function: &Function, expr: &Expr) -> bool {
    use Func::*;
    let ExprKind::Func(func, _) = &expr.kind else {
        return matches!(expr.kind, ExprKind::Pure(..)) || is_element(function, expr);
    };
    func.is_elementary()
        || matches!(
            func,
            Div | Sqrt | Recip | Powi | PowiDerivative | LnGamma | Polygamma | Norm | Arg | ArgGradient
        )
}

/// Whether an expression reads an element of what may carry a derivative. Others may be indices, which stay as they are written for
/// the analyses of a loop.
fn is_element(function: &Function, expr: &Expr) -> bool {
    let ExprKind::Read(place) = &expr.kind else { return false };
    place.path.iter().any(|step| matches!(step, Step::Index(_)))
        && !function.var(place.var).ty.is_inactive(&function.generics)
}
