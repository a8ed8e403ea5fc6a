//! Updates: `p += e` and its kin, with views as targets: `-x += e`, `conj(z) += e`,
//! `(a, b) += (e, f)`.

use quote::ToTokens;
use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{Block, Expr, ExprKind, Place, Span, Step, Stmt, StmtKind, Type, UpdateOp};
use rev_compiler::ops::Part;

use super::array::{conjugated, into_part, target_part};
use super::literal::update_of;
use super::number::type_name;
use super::{strip, strip_references, Lowerer};

/// What a value of `(a, b) += (e, f)` is, for messages.
const TUPLE: &str = "this element of the tuple";

/// What stands on the left of an update.
#[derive(Clone)]
enum Target {
    Place(Place),
    /// `-x`, with its position.
    Negated(Box<Target>, Span),
    /// `conj(z)`, with its position.
    Conjugated(Box<Target>, Span),
    /// `lower(c)`, with its position.
    Part(Box<Target>, Part, Span),
    Tuple(Vec<Target>),
}

impl Lowerer {
    /// `left op= right`.
    pub(super) fn update(
        &mut self,
        assignment: Assignment,
        left: &syn::Expr,
        right: &syn::Expr,
        span: Span,
    ) -> Block {
        let target = self.target(left);
        if let Some(Target::Place(place)) = &target {
            let op = match assignment {
                Assignment::Update(op @ (UpdateOp::Add | UpdateOp::Sub)) => Some(op),
                Assignment::Update(UpdateOp::Xor) | Assignment::Product { .. } => None,
            };
            if let Some(fields) = op.and_then(|op| self.fields_update(op, place, right, span)) {
                return fields;
            }
            if self.is_struct(place) {
                if let Some(fields) = op.and_then(|op| self.made_update(op, place, right, span)) {
                    return fields;
                }
                return self.number_update(assignment, place.clone(), (left, right), span);
            }
        }
        let op = match assignment {
            Assignment::Update(op) => op,
            Assignment::Product { inverse } => {
                self.expr(right);
                self.no_product(target, inverse, left);
                return Vec::new();
            }
        };
        match (target, strip(right)) {
            (Some(Target::Tuple(targets)), syn::Expr::Tuple(values))
                if targets.len() == values.elems.len() =>
            {
                let values: Vec<_> = values.elems.iter().map(|e| self.expr(e)).collect();
                self.update_each(op, targets, values, (TUPLE, span))
            }
            (Some(Target::Tuple(targets)), _) => self.update_parts(op, targets, right, span),
            (Some(target), _) => {
                let Some(value) = self.expr(right) else { return Vec::new() };
                let Some(terms) = self.products(&value) else {
                    return self.apply(op, target, value, span).into_iter().collect();
                };
                let apply = |(negative, term)| {
                    let op = if negative { opposite(op) } else { op };
                    self.apply(op, target.clone(), term, span)
                };
                terms.into_iter().filter_map(apply).collect()
            }
            (None, _) => {
                self.expr(right);
                Vec::new()
            }
        }
    }

    /// `p += fields(q)` of a whole struct; `None` for anything else.
    fn fields_update(&mut self, op: UpdateOp, place: &Place, right: &syn::Expr, span: Span) -> Option<Block> {
        let syn::Expr::Call(c) = strip(right) else { return None };
        if c.args.len() != 1 || !is_named(&c.func, "fields") {
            return None;
        }
        let of = self.type_of_place(place);
        if !matches!(of, Type::Struct(..) | Type::Unknown) {
            return None;
        }
        let Some(other) = self.place(&c.args[0]) else { return Some(Vec::new()) };
        let found = self.type_of_place(&other);
        if self.lacks_arguments(&of, &found, place.span) {
            return Some(Vec::new());
        }
        if !matches!(&found, Type::Unknown)
            && !matches!(&of, Type::Unknown)
            && type_name(&found) != type_name(&of)
        {
            let message = format!("this isn't a `{}`, whose fields would be added", type_name(&of));
            let _: Option<()> = self.error(Code::TypeMismatch, &c.args[0], message);
        }
        self.source.fields.insert(span);
        let kind = StmtKind::Update { op, place: place.clone(), expr: Expr::read(other) };
        Some(vec![Stmt::new(kind).at(span)])
    }

    /// `p += S { .. }` of a struct that is no number, field by field; `None` for anything else.
    fn made_update(&mut self, op: UpdateOp, place: &Place, right: &syn::Expr, span: Span) -> Option<Block> {
        let of = self.type_of_place(place);
        let parts = self.made_of_fields(&of, right)?;
        let part = |path: Vec<Step>| {
            let path = place.path.iter().cloned().chain(path).collect();
            Target::Place(Place { path, ..place.clone() })
        };
        let (targets, values): (Vec<_>, Vec<_>) =
            parts.into_iter().map(|(path, e)| (part(path), Some(e))).unzip();
        let mut statements = self.update_each(op, targets, values, ("the value of this field", span));
        for stmt in &mut statements {
            if let StmtKind::Update { op, expr, .. } = &mut stmt.kind {
                *op = update_of(*op, expr);
            }
        }
        Some(statements)
    }

    /// `*=` or `/=` on what isn't a struct.
    fn no_product(&mut self, target: Option<Target>, inverse: bool, left: &syn::Expr) {
        let Some(target) = target else { return };
        let symbol = if inverse { "/=" } else { "*=" };
        let is_unknown = match root_place(&target).map(|place| self.type_of_place(place)) {
            None | Some(Type::Unknown | Type::Struct(..)) => true,
            Some(
                Type::Scalar(_)
                | Type::Generic(_)
                | Type::Complex(_)
                | Type::Array(..)
                | Type::Fixed(..)
                | Type::Tuple(_)
                | Type::Stack(_)
                | Type::Function(_)
                | Type::Shadow(_),
            ) => false,
        };
        let span = self.span(left);
        let because = |message: String| Diagnostic::new(Code::MultiplyUpdate, span, message);
        let diagnostic = if is_unknown {
            let call = if inverse { "S::mul_assign::inverse" } else { "S::mul_assign" };
            because(format!("nothing here says that this is a number for which `{symbol}` can be undone"))
                .help(format!("call the function of its type: `{call}(&mut x, e)`"))
        } else {
            let (message, instruction) = match inverse {
                true => ("`/=` can't be undone exactly", "unscale_by(x, c)"),
                false => (
                    "`*=` can't be undone: a product with 0 or a rounded one doesn't tell its factor",
                    "scale_by(x, c)",
                ),
            };
            because(message.into())
                .help("accumulate the result into another place: `z += x * y`")
                .help(format!(
                    "or use an instruction: `{instruction}` for a factor that isn't 0, `neg(x)`, `inv(x)`, `rot(a, b, angle)`"
                ))
        };
        let _: Option<()> = self.report(diagnostic);
    }

    fn target(&mut self, e: &syn::Expr) -> Option<Target> {
        let span = self.span(e);
        match strip_references(e) {
            syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => {
                Some(Target::Negated(Box::new(self.target(&u.expr)?), span))
            }
            syn::Expr::Call(c) if c.args.len() == 1 && is_named(&c.func, "conj") => {
                Some(Target::Conjugated(Box::new(self.target(&c.args[0])?), span))
            }
            syn::Expr::Call(c) if c.args.len() == 1 && part_of(&c.func).is_some() => {
                let part = part_of(&c.func)?;
                Some(Target::Part(Box::new(self.target(&c.args[0])?), part, span))
            }
            syn::Expr::MethodCall(m) if m.args.is_empty() && m.method == "conj" => {
                Some(Target::Conjugated(Box::new(self.target(&m.receiver)?), span))
            }
            syn::Expr::Tuple(t) => {
                let targets: Vec<_> = t.elems.iter().map(|e| self.target(e)).collect();
                targets.into_iter().collect::<Option<_>>().map(Target::Tuple)
            }
            e => self.place(e).map(Target::Place),
        }
    }

    fn apply(&mut self, op: UpdateOp, target: Target, value: Expr, span: Span) -> Option<Stmt> {
        match target {
            Target::Place(place) => {
                if matches!(value.kind, ExprKind::Read(_)) {
                    self.source.plain.insert(span);
                }
                Some(Stmt::new(StmtKind::Update { op, place, expr: value }).at(span))
            }
            Target::Negated(inner, at) => {
                let op = match op {
                    UpdateOp::Add | UpdateOp::Sub => opposite(op),
                    UpdateOp::Xor => return self.no_xor_view(at),
                };
                self.apply(op, *inner, value, span)
            }
            Target::Conjugated(inner, at) => {
                if op == UpdateOp::Xor {
                    return self.no_xor_view(at);
                }
                self.apply(op, *inner, conjugated(value), span)
            }
            Target::Part(inner, part, at) => match into_part(value, part) {
                Some(value) => self.apply(op, *inner, value, span),
                None => self.report(
                    Diagnostic::new(
                        Code::ArrayProduct,
                        at,
                        "only a product of matrices goes into a triangle",
                    )
                    .help("`lower(c) += matmul(a, a.t());`"),
                ),
            },
            Target::Tuple(_) => self.report(Diagnostic::new(
                Code::UpdateTarget,
                span,
                "a tuple inside a tuple can't be updated at once",
            )),
        }
    }

    fn no_xor_view(&mut self, at: Span) -> Option<Stmt> {
        self.report(Diagnostic::new(
            Code::XorType,
            at,
            "`^=` acts on the bits of a variable, not on a view of it",
        ))
    }

    /// `(a, b) += (e, f)`: no value may read a target of the others.
    fn update_each(
        &mut self,
        op: UpdateOp,
        targets: Vec<Target>,
        values: Vec<Option<Expr>>,
        (what, span): (&str, Span),
    ) -> Block {
        for (i, target) in targets.iter().enumerate() {
            for (_, value) in values.iter().enumerate().filter(|(j, _)| *j != i) {
                if let (Some(place), Some(value)) = (root_place(target), value) {
                    self.check_tuple_read(place, value, what);
                }
            }
        }
        let pairs = targets.into_iter().zip(values);
        pairs.filter_map(|(t, v)| v.and_then(|v| self.apply(op, t, v, span))).collect()
    }

    fn check_tuple_read(&mut self, target: &Place, value: &Expr, what: &str) {
        let Some(read) = value.reads().into_iter().find(|r| may_overlap(target, r)).cloned() else { return };
        let name = self.var(target.var).name.clone();
        self.diagnostics.push(
            Diagnostic::new(
                Code::TupleReadsTarget,
                read.span,
                format!("{what} reads `{name}`, which the same statement updates"),
            )
            .label(target.span, "it is updated here")
            .help("bind the values first, when they don't read the targets, or use an instruction (`swap`, `rot`, `hadamard`)"),
        );
    }

    /// `(a, b) += e` for a tuple `e`: its value gets a name first.
    fn update_parts(&mut self, op: UpdateOp, targets: Vec<Target>, right: &syn::Expr, span: Span) -> Block {
        let Some(value) = self.expr(right) else { return Vec::new() };
        let at = value.span;
        let (whole, value) = self.whole(value, targets.len(), at);
        let mut body = Vec::new();
        for (k, target) in targets.into_iter().enumerate() {
            let part = Place { span: at, ..Place::var(whole).with(Step::Element(k as u32)) };
            body.extend(self.apply(op, target, Expr::read(part), span));
        }
        vec![Stmt::new(StmtKind::Let { var: whole, expr: value, body }).at(span)]
    }
}

/// The operator of a term with a minus sign.
fn opposite(op: UpdateOp) -> UpdateOp {
    match op {
        UpdateOp::Add | UpdateOp::Sub => op.inverse(),
        UpdateOp::Xor => op,
    }
}

/// The triangle that a function's name stands for.
fn part_of(f: &syn::Expr) -> Option<Part> {
    match strip(f) {
        syn::Expr::Path(p) => target_part(&p.path.get_ident()?.to_string()),
        _ => None,
    }
}

fn root_place(target: &Target) -> Option<&Place> {
    match target {
        Target::Place(p) => Some(p),
        Target::Negated(t, _) | Target::Conjugated(t, _) | Target::Part(t, ..) => root_place(t),
        Target::Tuple(_) => None,
    }
}

/// Whether two places may be the same or one inside the other: not when fields, tuple elements or
/// constant indices differ.
fn may_overlap(a: &Place, b: &Place) -> bool {
    a.var == b.var && a.path.iter().zip(&b.path).all(|(s, t)| steps_may_meet(s, t))
}

fn steps_may_meet(a: &Step, b: &Step) -> bool {
    match (a, b) {
        (Step::Field(a), Step::Field(b)) => a == b,
        (Step::Element(a), Step::Element(b)) => a == b,
        (Step::Re, Step::Im) | (Step::Im, Step::Re) => false,
        (Step::Index(a), Step::Index(b)) => a.iter().zip(b).all(|(a, b)| match (&a.kind, &b.kind) {
            (ExprKind::Literal(a, _), ExprKind::Literal(b, _)) => a == b,
            _ => true,
        }),
        _ => true,
    }
}

/// Whether an expression is a path that ends in this name.
pub(super) fn is_named(e: &syn::Expr, name: &str) -> bool {
    matches!(strip(e), syn::Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == name))
}

/// A compound assignment that has an inverse.
#[derive(Clone, Copy)]
pub(super) enum Assignment {
    /// An update of the language.
    Update(UpdateOp),
    /// `*=`, or its inverse `/=`: for structs that have a function for it.
    Product { inverse: bool },
}

/// What a compound assignment does, where it has an inverse.
pub(super) fn assignment(op: &syn::BinOp) -> Option<Assignment> {
    match op {
        syn::BinOp::AddAssign(_) => Some(Assignment::Update(UpdateOp::Add)),
        syn::BinOp::SubAssign(_) => Some(Assignment::Update(UpdateOp::Sub)),
        syn::BinOp::BitXorAssign(_) => Some(Assignment::Update(UpdateOp::Xor)),
        syn::BinOp::MulAssign(_) => Some(Assignment::Product { inverse: false }),
        syn::BinOp::DivAssign(_) => Some(Assignment::Product { inverse: true }),
        _ => None,
    }
}

/// A compound assignment that has no inverse: `%=`, `&=`, `|=`, `<<=`, `>>=`.
pub(super) fn lossy_op(op: &syn::BinOp) -> Option<String> {
    match op {
        syn::BinOp::RemAssign(_)
        | syn::BinOp::BitAndAssign(_)
        | syn::BinOp::BitOrAssign(_)
        | syn::BinOp::ShlAssign(_)
        | syn::BinOp::ShrAssign(_) => Some(op.to_token_stream().to_string()),
        _ => None,
    }
}
