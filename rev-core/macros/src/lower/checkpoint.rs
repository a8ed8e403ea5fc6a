//! `#[checkpoint] for t in a..b { .. }`: a loop whose steps lose what was there before, as a reversible program.
//!
//! In its body `x = e` gives `x` a new value. What it was goes to a stack, so that a step can be taken back. The loop
//! runs in segments by Bennett's scheme (C. H. Bennett, SIAM J. Comput. 18 (1989), 766): each runs forward, its result is copied, and
//! it is taken back, which empties the stacks of its steps; the state before it goes to another stack. Like a `#[compute]` block
//! the loop is taken back at the end of the block in which it stands.
//!
//! All of it is made of statements that every pass knows:
//!
//! ```text
//! anc kept = stack()                              one for each variable that the loop changes
//! compute {
//!     for from in (a..b).step_by(every) {
//!         anc lost = stack()                      one for each assignment
//!         anc copy = zero_like(x)
//!         compute { for t in from..to { body } } do { copy += x }
//!         swap(x, copy); push(kept, copy)
//!     }
//! } do { the rest of the block }
//! ```

use std::collections::BTreeSet;

use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{
    Access, Block, Expr, ExprKind, Number, Parallel, Place, Range, Rank, Release, ScalarType, Span, Step,
    Stmt, StmtKind, Type, UpdateOp, VarId, VarKind,
};
use rev_compiler::ops::{Func, Instr};
use syn::Attribute;

use super::range::Spelled;
use super::Lowerer;

/// The loop with `#[checkpoint]` in which assignments stand.
pub(super) struct Steps {
    /// How many blocks are around its body, and that one.
    level: usize,
    /// How many names were in scope where it begins.
    outside: usize,
    /// Whether a parallel loop stands around.
    pub(super) in_parallel: bool,
    /// Variables that a step gives a new value as a whole, with the ancillas that hold these.
    renewed: Vec<(VarId, VarId)>,
    /// The stacks for what assignments lose.
    stacks: Vec<VarId>,
}

/// A variable that the loop changes, with a stack for its values.
struct State {
    var: VarId,
    ty: Type,
    kept: VarId,
}

impl Lowerer {
    /// A loop with `#[checkpoint]` and the rest of its block.
    pub(super) fn checkpointed(&mut self, f: &syn::ExprForLoop, rest: &[syn::Stmt]) -> Block {
        self.attributes(&f.attrs, &["checkpoint"]);
        self.no_label(&f.label);
        let span = self.head(f.attrs.first(), &f.for_token, &f.expr);
        let every = self.every(&f.attrs);
        let range = self.range(&f.expr).and_then(|spelled| self.counted_up(spelled, &f.expr));
        let mut range = range.unwrap_or_else(|| Range::new(self.unreadable(), self.unreadable()));
        let ty = self.range_type(&mut range);
        let mark = self.scope.len();
        let var = self.loop_variable(Some(&f.pat), ty.clone(), &f.pat);
        let steps = Steps {
            level: self.blocks.len() + 1,
            outside: mark,
            in_parallel: false,
            renewed: Vec::new(),
            stacks: Vec::new(),
        };
        let around = self.steps.replace(steps);
        let body = self.block(&f.body);
        let steps = std::mem::replace(&mut self.steps, around);
        self.scope.truncate(mark);
        let Some(mut steps) = steps else { return Vec::new() };
        let body = self.renewing(body, &mut steps, span);
        let Some(states) = self.states(&body, &steps.stacks, span) else { return self.sequence(rest) };
        let every = every.unwrap_or_else(|| root_of_length(&range, &ty));
        let every = typed(every, &ty);
        let bound = (!matches!(every.kind, ExprKind::Literal(..))).then(|| self.temporary(ty.clone(), span));
        let width = bound.map_or_else(|| every.clone(), |m| Expr::read(Place::var(m)));
        let segment = self.segment(&states, steps.stacks, span);
        let segments = self.segments((var, ty), (range, width), body, segment, span);
        let rest = self.sequence(rest);
        let mut block = vec![Stmt::new(StmtKind::Compute { compute: vec![segments], body: rest }).at(span)];
        for state in states.iter().rev() {
            block = vec![ancilla(state.kept, Expr::new(ExprKind::EmptyStack), block, span)];
        }
        match bound {
            Some(var) => vec![Stmt::new(StmtKind::Let { var, expr: every, body: block }).at(span)],
            None => block,
        }
    }

    /// The loop over segments, of which each is made of the loop over its steps.
    fn segments(
        &mut self,
        (var, ty): (VarId, Type),
        (range, width): (Range, Expr),
        body: Block,
        segment: impl FnOnce(Stmt) -> Block,
        span: Span,
    ) -> Stmt {
        let from = self.add_var("from", ty.clone(), VarKind::Index, span);
        let to = self.temporary(ty, span);
        let start = Expr::read(Place::var(from));
        let left = Expr::func(Func::Sub, vec![range.end.clone(), start.clone()]);
        let length = Expr::func(Func::Min, vec![left, width.clone()]);
        let end = Expr::func(Func::Add, vec![start.clone(), length]);
        let within = Range::new(start, Expr::read(Place::var(to)));
        let run = Stmt::new(StmtKind::For { var, range: within, parallel: None, body }).at(span);
        let body = vec![Stmt::new(StmtKind::Let { var: to, expr: end, body: segment(run) }).at(span)];
        let range = Range { step: Some(width), ..range };
        Stmt::new(StmtKind::For { var: from, range, parallel: None, body }).at(span)
    }

    /// What makes a segment of its steps: they run, what they lead to is copied, they are taken back, and the copy takes the
    /// place of the state, which goes to a stack.
    fn segment(&mut self, states: &[State], lost: Vec<VarId>, span: Span) -> impl FnOnce(Stmt) -> Block {
        let (mut copied, mut exchanged, mut copies) = (Block::new(), Block::new(), Vec::new());
        for state in states {
            let copy = self.like("copy", &Place::var(state.var), span);
            let whole = Place::var(state.var);
            copied.extend(self.each(&state.ty, &whole, true, span, &mut |ty, path| {
                let [place, value] = [copy, state.var].map(|var| Place { var, path: path.clone(), span });
                StmtKind::Update { op: update_of(ty), place, expr: Expr::read(value) }
            }));
            exchanged.push(exchange(&whole, copy, span));
            match &state.ty {
                Type::Array(_, rank) => {
                    let elements = Type::Array(Box::new(Type::Unknown), *rank);
                    exchanged.extend(self.each(&elements, &whole, false, span, &mut |_, path| {
                        let place = Place { var: copy, path, span };
                        StmtKind::Push { stack: Place::var(state.kept), place }
                    }));
                }
                _ => exchanged.push(push(state.kept, copy, span)),
            }
            copies.push((copy, zero_like(&Place::var(state.var), &state.ty)));
        }
        move |run| {
            let mut segment =
                vec![Stmt::new(StmtKind::Compute { compute: vec![run], body: copied }).at(span)];
            segment.extend(exchanged);
            for (copy, zero) in copies.into_iter().rev() {
                segment = vec![ancilla(copy, zero, segment, span)];
            }
            for stack in lost.into_iter().rev() {
                segment = vec![ancilla(stack, Expr::new(ExprKind::EmptyStack), segment, span)];
            }
            segment
        }
    }

    /// Statements for each number at a place, given its type and where in the variable it stands.
    fn each(
        &mut self,
        ty: &Type,
        place: &Place,
        parallel: bool,
        span: Span,
        f: &mut dyn FnMut(&Type, Vec<Step>) -> StmtKind,
    ) -> Block {
        let (element, rank) = match ty {
            Type::Array(element, Rank::Fixed(rank)) => (element, usize::from(*rank)),
            Type::Fixed(element, _) => (element, 1),
            Type::Tuple(types) => {
                let each = types.iter().zip(0..).flat_map(|(ty, k)| {
                    self.each(ty, &place.clone().with(Step::Element(k)), parallel, span, f)
                });
                return each.collect();
            }
            ty => return vec![Stmt::new(f(ty, place.path.clone())).at(span)],
        };
        let indices: Vec<VarId> =
            (0..rank).map(|_| self.add_var("i", Type::INDEX, VarKind::Index, span)).collect();
        let index = Step::Index(indices.iter().map(|i| Expr::read(Place::var(*i))).collect());
        let mut body = self.each(element, &place.clone().with(index), false, span, f);
        for (axis, &var) in indices.iter().enumerate().rev() {
            let axis_of = matches!(ty, Type::Array(..)).then_some(axis as u32);
            let length = Expr::new(ExprKind::Len(place.clone(), axis_of.filter(|_| rank > 1)));
            let range = Range::new(Expr::index(0), length);
            let parallel = (parallel && axis == 0).then(Parallel::default);
            body = vec![Stmt::new(StmtKind::For { var, range, parallel, body }).at(span)];
        }
        body
    }

    /// The variables that the loop changes, each with a stack for what it held before a segment; apart from the stacks for what
    /// its assignments lose.
    fn states(&mut self, body: &Block, lost: &[VarId], span: Span) -> Option<Vec<State>> {
        let (mut bound, mut written) = (BTreeSet::new(), BTreeSet::new());
        for stmt in body {
            stmt.add_bound(&mut bound);
            stmt.each_access_deep(&mut |place, access| match access {
                Access::Read => {}
                Access::Accumulate | Access::Write => {
                    written.insert(place.var);
                }
            });
        }
        let begin = self.blocks.last().copied().unwrap_or_default();
        let mut states = Vec::new();
        let mut complete = true;
        for var in written.difference(&bound).copied().filter(|var| !lost.contains(var)) {
            let (name, ty, at) = {
                let var = self.var(var);
                (var.name.clone(), var.ty.clone(), var.span)
            };
            let is_here = self.scope[begin..].iter().any(|(_, v)| *v == var);
            let number = |e: &Expr| matches!(e.kind, ExprKind::Literal(..));
            let counted = ty != Type::Unknown || self.first_values.get(&var).is_some_and(number);
            let (message, help) = if !is_here {
                (
                    format!("this loop is taken back at the end of its block, and `{name}` is declared outside of it"),
                    format!("change a variable that is declared in the block, before the loop, and add the result to `{name}` behind the loop"),
                )
            } else if !counted || !is_of_numbers(&ty) {
                (
                    format!("`{name}` can't be kept while the steps are run again"),
                    "the variables that a loop with `#[checkpoint]` changes are numbers, tuples and arrays of them; write the \
                     type where it isn't seen (`let mut x: T = ..`)"
                        .to_string(),
                )
            } else {
                let of = match &ty {
                    Type::Array(element, _) => (**element).clone(),
                    ty => ty.clone(),
                };
                let kept = self.add_var("kept", Type::Stack(Box::new(of)), VarKind::Ancilla, span);
                states.push(State { var, ty, kept });
                continue;
            };
            let d = Diagnostic::new(Code::Checkpoint, span, message)
                .label(at, format!("`{name}` is declared here"))
                .help(help);
            let _: Option<()> = self.report(d);
            complete = false;
        }
        complete.then_some(states)
    }

    /// `x = e` in the body of a loop with `#[checkpoint]`.
    pub(super) fn renew(&mut self, a: &syn::ExprAssign) -> Block {
        let span = self.span(a);
        let (value, place) = (self.expr(&a.right), self.place(&a.left));
        let (Some(value), Some(place), Some(steps)) = (value, place, &self.steps) else { return Vec::new() };
        if steps.in_parallel {
            let _: Option<()> = self.error_help(
                Code::Checkpoint,
                &a.eq_token,
                "an assignment can't stand in a parallel loop",
                "run over the elements in order, or accumulate into an array that is 0 and exchange it (`swap`)",
            );
            return Vec::new();
        }
        let original = steps.renewed.iter().find(|(_, new)| *new == place.var).map(|(original, _)| *original);
        let is_outside =
            original.is_some() || self.scope[..steps.outside].iter().any(|(_, v)| *v == place.var);
        let is_whole = place.path.is_empty() && self.blocks.len() == steps.level;
        // the name in the source, which several variables may have
        let name = self.scope.iter().rev().find(|(_, v)| *v == place.var).map(|(name, _)| name.clone());
        let Some(name) = name else { return Vec::new() };
        if !is_outside {
            let message = format!("`{name}` begins anew in each step, and has no value to lose");
            let _: Option<()> = self.error_help(
                Code::Checkpoint,
                &a.eq_token,
                message,
                format!("accumulate (`{name} += ..;`), or declare it before the loop"),
            );
            return Vec::new();
        }
        let ty = self.type_of_place(&place);
        if !matches!(ty, Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) | Type::Unknown) {
            let _: Option<()> = self.error_help(
                Code::Checkpoint,
                &a.left,
                format!("`{name}` is no number, and takes no new value as a whole"),
                "assign to its elements or fields, one by one",
            );
            return Vec::new();
        }
        let new = self.like(&name, &place, span);
        let update = StmtKind::Update { op: update_of(&ty), place: Place::var(new), expr: value };
        let update = Stmt::new(update).at(span);
        if is_whole {
            self.scope.push((name, new));
            let renewed = (original.unwrap_or(place.var), new);
            self.steps.iter_mut().for_each(|steps| steps.renewed.push(renewed));
            return vec![update];
        }
        let stack = self.stack_of_lost(ty, span);
        self.steps.iter_mut().for_each(|steps| steps.stacks.push(stack));
        let body = vec![update, exchange(&place, new, span), push(stack, new, span)];
        vec![ancilla(new, Expr::new(ExprKind::ZeroLike(place)), body, span)]
    }

    /// A step's statements with the ancillas of what it gives new values. At its end the variables take these, and what they
    /// were goes to stacks: until then all that the step reads is as it was, so that what it computed on the way can be taken
    /// back.
    fn renewing(&mut self, mut body: Block, steps: &mut Steps, span: Span) -> Block {
        for (k, &(original, new)) in steps.renewed.iter().enumerate() {
            if steps.renewed[k + 1..].iter().all(|(o, _)| *o != original) {
                body.push(exchange(&Place::var(original), new, span));
            }
        }
        for &(original, new) in steps.renewed.iter().rev() {
            let stack = self.stack_of_lost(self.var(original).ty.clone(), span);
            steps.stacks.push(stack);
            body.push(push(stack, new, span));
        }
        for &(original, new) in steps.renewed.iter().rev() {
            body = vec![ancilla(new, Expr::new(ExprKind::ZeroLike(Place::var(original))), body, span)];
        }
        body
    }

    fn stack_of_lost(&mut self, ty: Type, span: Span) -> VarId {
        self.add_var("lost", Type::Stack(Box::new(ty)), VarKind::Ancilla, span)
    }

    /// An ancilla of the type of a place.
    fn like(&mut self, name: &str, place: &Place, span: Span) -> VarId {
        let ty = self.type_of_place(place);
        self.add_var(name, ty, VarKind::Ancilla, span)
    }

    /// The number of steps in `#[checkpoint(every = m)]`.
    fn every(&mut self, attrs: &[Attribute]) -> Option<Expr> {
        let attr = attrs.iter().find(|a| a.path().is_ident("checkpoint"))?;
        if matches!(attr.meta, syn::Meta::Path(_)) {
            return None;
        }
        match attr.parse_args::<syn::MetaNameValue>() {
            Ok(m) if m.path.is_ident("every") => Some(self.expr_or_unreadable(&m.value)),
            Ok(_) | Err(_) => self.error_help(
                Code::UnsupportedAttribute,
                attr,
                "`checkpoint` takes the number of steps between two states that are kept",
                "`#[checkpoint(every = 30)]`, or `#[checkpoint]` for the root of the number of all steps",
            ),
        }
    }

    /// A range that counts up by one.
    fn counted_up(&mut self, spelled: Spelled, at: &syn::Expr) -> Option<Range> {
        let Spelled { range, parallel, over } = spelled;
        let plain = range.step.is_none() && !range.inclusive && !range.reversed;
        if plain && !parallel && over.is_none() {
            return Some(range);
        }
        self.error_help(
            Code::Checkpoint,
            at,
            "a loop with `#[checkpoint]` counts up by one, step after step",
            "`for t in a..b`, and what else is wanted is computed from `t`",
        )
    }
}

/// An ancilla that statements of its scope bring back to its first value.
fn ancilla(var: VarId, init: Expr, mut body: Block, span: Span) -> Stmt {
    body.push(Stmt::new(StmtKind::Release { var, value: init.clone() }).at(span));
    Stmt::new(StmtKind::Ancilla { var, init, release: Release::Checked, body }).at(span)
}

fn exchange(place: &Place, with: VarId, span: Span) -> Stmt {
    let places = vec![place.clone(), Place::var(with)];
    Stmt::new(StmtKind::Instr { instr: Instr::Swap, places, operands: Vec::new() }).at(span)
}

fn push(stack: VarId, var: VarId, span: Span) -> Stmt {
    Stmt::new(StmtKind::Push { stack: Place::var(stack), place: Place::var(var) }).at(span)
}

/// Zeros of the type and shape of a place.
fn zero_like(place: &Place, ty: &Type) -> Expr {
    let kind = match ty {
        Type::Array(element, Rank::Fixed(rank)) => {
            let axis = |k: u8| Expr::new(ExprKind::Len(place.clone(), (*rank > 1).then_some(u32::from(k))));
            ExprKind::Fill(Box::new(zero_of(element)), (0..*rank).map(axis).collect())
        }
        _ => ExprKind::ZeroLike(place.clone()),
    };
    Expr::new(kind)
}

/// The zero of a type.
pub(super) fn zero_of(ty: &Type) -> Expr {
    Expr::new(match ty {
        Type::Scalar(ScalarType::Bool) => ExprKind::Literal(Number::Bool(false), None),
        Type::Scalar(_) | Type::Generic(_) => ExprKind::Literal(Number::Int(0), Some(ty.clone())),
        ty => ExprKind::Zero(ty.clone()),
    })
}

fn is_of_numbers(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) | Type::Unknown => true,
        Type::Array(element, Rank::Fixed(_)) | Type::Fixed(element, _) => is_of_numbers(element),
        Type::Tuple(types) => types.iter().all(is_of_numbers),
        Type::Array(_, Rank::Dynamic)
        | Type::Struct(..)
        | Type::Stack(_)
        | Type::Function(_)
        | Type::Shadow(_) => false,
    }
}

/// The update that brings a value to where zero is.
fn update_of(ty: &Type) -> UpdateOp {
    match ty {
        Type::Scalar(ScalarType::Bool) => UpdateOp::Xor,
        _ => UpdateOp::Add,
    }
}

/// A bare literal with the type of the loop's variable.
fn typed(e: Expr, ty: &Type) -> Expr {
    match e.kind {
        ExprKind::Literal(number @ Number::Int(_), None) if *ty != Type::Unknown => {
            Expr { kind: ExprKind::Literal(number, Some(ty.clone())), ..e }
        }
        _ => e,
    }
}

/// The root of a range's length, at least 1.
fn root_of_length(range: &Range, ty: &Type) -> Expr {
    let cast = |e: Expr, ty: &Type| Expr::new(ExprKind::Cast(Box::new(e), ty.clone()));
    let ty = if *ty == Type::Unknown { &Type::INDEX } else { ty };
    let end = Expr::func(Func::Max, vec![range.end.clone(), range.start.clone()]);
    let length = Expr::func(Func::Sub, vec![end, range.start.clone()]);
    let root = Expr::func(Func::Sqrt, vec![cast(length, &Type::Scalar(ScalarType::F64))]);
    Expr::func(
        Func::Max,
        vec![cast(root, ty), Expr::new(ExprKind::Literal(Number::Int(1), Some(ty.clone())))],
    )
}
