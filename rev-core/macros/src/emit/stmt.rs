//! Statements.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use rev_compiler::check::overlap::compared;
use rev_compiler::ir::{
    axes_of_both, Access, AxisRef, Block, Expr, ExprKind, Mode, Place, Release, Step, Stmt, StmtKind, Type,
    UpdateOp, VarId, PARTS,
};
use rev_compiler::ops::{Instr, InstrAdjoint};
use rev_compiler::pass::inverse_block;
use rev_compiler::plan;

use super::body::{parsed, Around, Body, Repr};
use super::contraction::First;
use super::expr::Reach;
use super::names::ident;
use super::pair::SineCosine;
use super::types::{number_type, rust_type, storage, Storage};

/// What is asked of an ancilla at the end of its scope.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Nothing.
    Dropped,
    /// Whether it holds its first value.
    Compared,
    /// Whether it holds a number, from which the compiler's statements would lead back to the first value.
    Number,
}

impl Body<'_> {
    /// A sequence of statements.
    pub fn block(&mut self, block: &Block) -> TokenStream {
        let taken = self.taken.len();
        let statements = match self.lane {
            Some(_) => self.lane_block(block),
            None => block.iter().map(|s| self.stmt(s)).collect(),
        };
        self.taken.truncate(taken);
        statements
    }

    /// A statement.
    pub fn stmt(&mut self, stmt: &Stmt) -> TokenStream {
        self.stand_at(stmt.span);
        if self.lane.is_some() {
            self.lane_stmt(stmt)
        } else {
            self.plain_stmt(stmt)
        }
    }

    /// A statement that is the same for all lanes, or where there are none.
    pub fn plain_stmt(&mut self, stmt: &Stmt) -> TokenStream {
        match &stmt.kind {
            StmtKind::Update { op, place, expr } => self.update(stmt, *op, place, expr),
            StmtKind::Instr { instr, places, operands } => self.instr(stmt, *instr, places, operands),
            StmtKind::Let { var, expr, body } => self.binding(*var, expr, body),
            StmtKind::Ancilla { var, init, release, body } => self.ancilla(*var, init, *release, body),
            StmtKind::If { cond, post, then, otherwise } => self.branch(cond, post.as_ref(), then, otherwise),
            StmtKind::While { cond, post, body } => {
                self.with_angles(stmt, |this| this.while_loop(cond, post, body))
            }
            StmtKind::For { var, range, parallel, body } => self.with_angles(stmt, |this| match parallel {
                Some(declared) => {
                    this.only_by_reference();
                    this.parallel_loop(stmt, *var, range, declared, body)
                }
                None => this.for_loop(*var, range, body),
            }),
            StmtKind::Call { callee, direction, args } => self.call(callee, *direction, args),
            StmtKind::Compute { compute, body } => {
                let undo = inverse_block(compute);
                let (compute, body, undo) = (self.block(compute), self.block(body), self.block(&undo));
                quote!(#compute #body #undo)
            }
            StmtKind::Push { stack, place } => self.push(stack, place),
            StmtKind::Pop { stack, place } => self.pop(stack, place),
            StmtKind::Release { var, value } => {
                let value = self.expr(value);
                self.release(*var, &value)
            }
            StmtKind::External { code } => self.external(code, stmt.span),
            StmtKind::Unchecked { body } => {
                let checked = std::mem::replace(&mut self.around.checked, false);
                let body = self.block(body);
                self.around.checked = checked;
                quote!({ #body })
            }
            // gone after the uncompute pass
            StmtKind::Inverse { body } => self.block(&inverse_block(body)),
        }
    }

    fn update(&mut self, stmt: &Stmt, op: UpdateOp, place: &Place, expr: &Expr) -> TokenStream {
        if let ExprKind::Contract(formula, factors) = &expr.kind {
            if !formula.target.is_scalar() {
                if self.started.remove(&place.var) {
                    return TokenStream::new();
                }
                let aliases = self.alias_checks(stmt);
                let update = self.contraction_update(op, place, formula, factors);
                return quote!({ #aliases #update });
            }
        }
        if self.is_array(place) {
            return self.array_update(op, place, expr);
        }
        if let (None | Some(Type::Struct(..) | Type::Unknown), ExprKind::Read(other), false) = (
            self.function.type_at(place),
            &expr.kind,
            self.is_shadow(place) || op == UpdateOp::Xor || self.around.atomic.contains(&place.var),
        ) {
            // a number, an array, or a struct
            return self.whole_update(stmt, op, place, other);
        }
        let atomic = self.around.atomic.contains(&place.var).then(|| self.atomic_update(op, place, expr));
        let aliases = self.alias_checks(stmt);
        let values: Vec<TokenStream> = match expr.fused_factors() {
            Some((_, a, b)) => vec![self.expr(a), self.expr(b)],
            None => vec![self.expr(expr)],
        };
        let target = self.place(place, Reach::Write);
        self.has_claimed(place);
        let name = ident(match (op, values.len()) {
            (UpdateOp::Add, 2) => "add_product",
            (UpdateOp::Sub, 2) => "sub_product",
            (UpdateOp::Add, _) if expr.takes_any_type() => "add_any",
            (UpdateOp::Sub, _) if expr.takes_any_type() => "sub_any",
            (UpdateOp::Add, _) => "add",
            (UpdateOp::Sub, _) => "sub",
            (UpdateOp::Xor, _) => "xor",
        });
        let names: Vec<_> = (0..values.len()).map(|k| ident(&format!("__v{k}"))).collect();
        let span = self.source.spans.span(place.span);
        let apply = quote_spanned!(span=> __f::update::#name);
        let seen = self.see(place.var, quote!(&*__p));
        let applied = at_target(place, &target, quote!(#apply(__p, #(#names),*); #seen));
        let update = quote!({
            #aliases
            #(let #names = #values;)*
            #applied
        });
        match atomic {
            Some(atomic) => quote!(if __atomic { #atomic } else { #update }),
            None => update,
        }
    }

    /// The check that a value has arrays of the same shapes as the one at a place. It is made with checks off too: what
    /// asks for a length is right for the whole run.
    fn fits(&mut self, place: &Place, there: &TokenStream, value: &TokenStream) -> TokenStream {
        let (p, shown) = (self.p, self.show(place));
        let failure = self.fail(|at| quote!(#p::fail::misshapen(#at, #shown, __e)));
        quote!(if let __Err(__e) = #p::same_shapes(#there, #value, true) { #failure })
    }

    /// `p += q` of what may be whole structs or arrays, number by number.
    fn whole_update(&mut self, stmt: &Stmt, op: UpdateOp, place: &Place, other: &Place) -> TokenStream {
        let aliases = self.alias_checks(stmt);
        let value = match other.var == place.var {
            true => self.value(other),
            false => self.place(other, Reach::Read),
        };
        let target = self.place(place, Reach::Write);
        self.has_claimed(place);
        let plain = self.source.plain.contains(&stmt.span);
        let name = ident(match (op, plain) {
            (UpdateOp::Sub, true) => "sub_each",
            (UpdateOp::Sub, false) => "sub_fields",
            (UpdateOp::Add | UpdateOp::Xor, true) => "add_each",
            (UpdateOp::Add | UpdateOp::Xor, false) => "add_fields",
        });
        let fits = self.fits(place, &quote!(&*__p), &quote!(__v));
        let seen = self.see(place.var, quote!(&*__p));
        let span = self.source.spans.span(place.span);
        let apply = quote_spanned!(span=> __f::update::#name);
        let written = self.source.fields.contains(&stmt.span);
        let has_sums = written.then(|| quote_spanned!(span=> __f::update::has_sums(&*__p);));
        let applied = at_target(place, &target, quote!(#has_sums #fits #apply(__p, __v); #seen));
        let applied = named(other, quote!(__v), quote!(&#value), applied);
        quote!({ #aliases #applied })
    }

    /// `a[i] += e` where other tasks may add to the same element.
    fn atomic_update(&mut self, op: UpdateOp, place: &Place, expr: &Expr) -> TokenStream {
        let value = self.expr(expr);
        let cell = self.place(place, Reach::Atomic);
        let method = ident(if op == UpdateOp::Sub { "sub" } else { "add" });
        quote!({
            let __v = #value;
            #cell.#method(__v);
        })
    }

    /// `a += b` of arrays, element by element.
    fn array_update(&mut self, op: UpdateOp, place: &Place, expr: &Expr) -> TokenStream {
        let p = self.p;
        let ExprKind::Read(source) = &expr.kind else {
            return quote!(::core::compile_error! {
                "whole arrays can only be accumulated from whole arrays"
            });
        };
        let name = ident(match op {
            UpdateOp::Add => "add_all",
            UpdateOp::Sub => "sub_all",
            UpdateOp::Xor => {
                return quote!(::core::compile_error! { "whole arrays are only updated by `+=` and `-=`" })
            }
        });
        let source = self.place(source, Reach::Read);
        let target = self.place(place, Reach::Write);
        let shown = self.show(place);
        let failure = self.fail(|at| quote!(#p::fail::shapes(#at, #shown, __e)));
        self.held.remove(&place.var);
        quote!(if let __Err(__e) = #p::arrays::#name(#target, #source) { #failure })
    }

    /// Whether a place is a whole array or a part of one, behind a handle.
    pub fn is_array(&self, place: &Place) -> bool {
        match place.path.last() {
            None => self.repr(place.var) == Repr::Handle,
            Some(step) => matches!(step, Step::Part(_)),
        }
    }

    /// Comparisons, where checks are on, of the written element with those that only the values of indices tell apart.
    fn alias_checks(&mut self, stmt: &Stmt) -> TokenStream {
        if !self.around.checked {
            return TokenStream::new();
        }
        let mut checks = TokenStream::new();
        for (place, other) in compared(stmt, &self.values) {
            let p = self.p;
            let same = self.overlap_condition(place, other);
            let (a, b) = (self.show(place), self.show(other));
            let failure = self.fail(|at| quote!(#p::fail::aliased(#at, #a, #b)));
            checks.extend(quote!(if #same { #failure }));
        }
        match checks.is_empty() {
            true => checks,
            false => self.if_checked(checks),
        }
    }

    /// Whether two places of one variable share storage, as a condition on the values of indices.
    pub fn overlap_condition(&mut self, a: &Place, b: &Place) -> TokenStream {
        let p = self.p;
        let mut conditions = Vec::new();
        for (s, t) in a.path.iter().zip(&b.path) {
            match (s, t) {
                (Step::Index(i), Step::Index(j)) => {
                    let (i, j) = (self.exprs(i), self.exprs(j));
                    conditions.push(quote!(#p::same_index([#(#i),*], [#(#j),*])));
                }
                (Step::Part(_), Step::Index(_) | Step::Part(_)) | (Step::Index(_), Step::Part(_)) => {
                    conditions.extend(axes_of_both(s, t).filter_map(|(s, t)| self.axes_meet(s, t)));
                    break;
                }
                _ => {}
            }
        }
        quote!(true #(&& #conditions)*)
    }

    /// Whether what is taken of one axis meets; `None` where it always does.
    fn axes_meet(&mut self, a: AxisRef, b: AxisRef) -> Option<TokenStream> {
        let p = self.p;
        Some(match (a, b) {
            (AxisRef::Whole, AxisRef::Whole | AxisRef::At(_)) | (AxisRef::At(_), AxisRef::Whole) => {
                return None;
            }
            (AxisRef::Whole, AxisRef::Range(a, b)) | (AxisRef::Range(a, b), AxisRef::Whole) => {
                let (a, b) = (self.expr(a), self.expr(b));
                quote!((#a) < (#b))
            }
            (AxisRef::At(i), AxisRef::At(j)) => {
                let (i, j) = (self.expr(i), self.expr(j));
                quote!(#p::same_index([#i], [#j]))
            }
            (AxisRef::Range(a, b), AxisRef::Range(c, d)) => {
                let (a, b, c, d) = (self.expr(a), self.expr(b), self.expr(c), self.expr(d));
                quote!(#p::ranges_meet((#a, #b), (#c, #d)))
            }
            (AxisRef::Range(a, b), AxisRef::At(i)) | (AxisRef::At(i), AxisRef::Range(a, b)) => {
                let (a, b, i) = (self.expr(a), self.expr(b), self.expr(i));
                quote!(#p::in_range([#i], (#a, #b)))
            }
        })
    }

    fn instr(&mut self, stmt: &Stmt, instr: Instr, places: &[Place], operands: &[Expr]) -> TokenStream {
        if let [a] = places {
            return self.instr_on_one(instr, a, operands);
        }
        if places.iter().any(|q| self.is_array(q)) {
            return self.instr_on_arrays(instr, places, operands);
        }
        let aliases = self.alias_checks(stmt);
        let exchanged = instr == Instr::Swap
            && !places.iter().all(|q| self.function.type_at(q).is_some_and(|t| t.is_scalar()));
        let fits = match places {
            [a, _] if exchanged => {
                let (p, shown) = (self.p, self.show(a));
                let failure = self.fail(|at| quote!(#p::fail::misshapen(#at, #shown, __e)));
                quote!(if let __Err(__e) = #p::same_shapes(&__x0, &__x1, false) { #failure })
            }
            _ => TokenStream::new(),
        };
        let (name, operands) = self.instr_call(instr, operands, |this| this.exprs(operands));
        // values are taken out and put back, so that no two references live at once
        let values: Vec<TokenStream> = places.iter().map(|q| self.value(q)).collect();
        places.iter().for_each(|q| self.has_claimed(q));
        let names: Vec<_> = (0..places.len()).map(|k| ident(&format!("__x{k}"))).collect();
        let targets: Vec<TokenStream> = places.iter().map(|q| self.place(q, Reach::Write)).collect();
        let seen: TokenStream =
            places.iter().zip(&names).map(|(q, n)| self.see(q.var, quote!(&#n))).collect();
        let apply =
            self.applied(instr, &places[0], quote!(__f::instr::#name(#(&mut #names,)* #(#operands),*)));
        quote!({
            #aliases
            #(let mut #names = #values;)*
            #fits
            #apply
            #seen
            #(#targets = #names;)*
        })
    }

    fn instr_on_one(&mut self, instr: Instr, place: &Place, operands: &[Expr]) -> TokenStream {
        let p = self.p;
        let name = ident(instr.name());
        let operands = self.exprs(operands);
        if self.is_array(place) {
            let target = self.place(place, Reach::Write);
            self.held.remove(&place.var);
            let apply = self.applied(instr, place, quote!(__f::instr::#name(__x, #(#operands),*)));
            return quote!(for __x in #p::arrays::elements(#target) { #apply });
        }
        let target = self.place(place, Reach::Write);
        let seen = self.see(place.var, quote!(&*__p));
        let apply = self.applied(instr, place, quote!(__f::instr::#name(__p, #(#operands),*)));
        let applied = at_target(place, &target, quote!(#apply #seen));
        quote!({ #applied })
    }

    /// Two arrays: only their exchange is an instruction on whole arrays.
    fn instr_on_arrays(&mut self, instr: Instr, places: &[Place], operands: &[Expr]) -> TokenStream {
        let p = self.p;
        let name = ident(instr.name());
        let operands = self.exprs(operands);
        let targets: Vec<TokenStream> = places.iter().map(|q| self.place(q, Reach::Write)).collect();
        for place in places {
            self.held.remove(&place.var);
        }
        let shown = places.first().map(|q| self.show(q)).unwrap_or_default();
        let failure = self.fail(|at| quote!(#p::fail::shapes(#at, #shown, __e)));
        quote!(if let __Err(__e) =
            #p::arrays::pairwise(#(#targets),*, |__a, __b| __f::instr::#name(__a, __b, #(#operands),*))
        {
            #failure
        })
    }

    /// An instruction, with its failure where it can fail.
    fn applied(&mut self, instr: Instr, place: &Place, call: TokenStream) -> TokenStream {
        if !can_fail(instr) {
            return quote!(#call;);
        }
        let failure = self.inexact(instr, place);
        quote!(if let __Err(__e) = #call { #failure })
    }

    /// The error of an instruction.
    pub fn inexact(&mut self, instr: Instr, place: &Place) -> TokenStream {
        let (p, name, shown) = (self.p, instr.name(), self.show(place));
        self.fail(|at| quote!(#p::fail::inexact(#at, #name, #shown, __e)))
    }

    fn binding(&mut self, var: VarId, expr: &Expr, body: &Block) -> TokenStream {
        if let (Some(mode), ExprKind::Read(place)) = (plan::loan(self.function, var), &expr.kind) {
            return self.lend(var, place, mode, body);
        }
        if let Some(both) = SineCosine::of(var, expr, body) {
            let x = self.expr(both.argument);
            let named = [both.sine, both.cosine].map(|v| {
                let (name, ty) = (self.name(v), self.annotation(v));
                self.set(v, Repr::Value);
                quote!(#name #ty)
            });
            let body = self.block(both.body);
            let [sine, cosine] = named;
            return self.scope(
                quote!(let __both = __f::sin_cos(#x); let #sine = __both.0; let #cosine = __both.1; #body),
            );
        }
        let value = self.expr(expr);
        let (name, ty) = (self.name(var), self.annotation(var));
        if self.source.tables.contains_key(&var) {
            self.set(var, Repr::Ref);
            let body = self.block(body);
            return self.scope(quote!(let #name = &#value; #body));
        }
        let repr = match &expr.kind {
            ExprKind::Function(_) => Repr::Function,
            ExprKind::Read(q) if q.path.is_empty() && self.repr(q.var) == Repr::Function => Repr::Function,
            _ => Repr::Value,
        };
        self.set(var, repr);
        // what an enum holds may be an array, which only rustc knows
        if matches!(&expr.kind, ExprKind::Read(place) if self.is_value_of_enum(place)) {
            self.shaped.insert(var);
        }
        let body = self.block(body);
        self.scope(quote!(let #name #ty = #value; #body))
    }

    /// A field of a struct as a variable of its own, for the parallel loop that is the rest.
    fn lend(&mut self, var: VarId, place: &Place, mode: Mode, body: &Block) -> TokenStream {
        let (p, name) = (self.p, self.name(var));
        let reach = if mode == Mode::Read { Reach::Read } else { Reach::Write };
        let reached = self.place(place, reach);
        let (repr, lent) = match (self.function.var(var).ty.is_array(), mode) {
            (true, Mode::Read) => (Repr::Handle, quote!(#p::Lend::reader(&#reached))),
            (true, Mode::Write | Mode::Accumulate) => (Repr::Handle, quote!(#p::Lend::writer(&mut #reached))),
            (false, Mode::Read) => (Repr::Ref, quote!(&#reached)),
            (false, Mode::Write | Mode::Accumulate) => (Repr::Mut, quote!(&mut #reached)),
        };
        self.set(var, repr);
        self.shaped.insert(var);
        self.loans.push((place.clone(), var));
        let body = self.block(body);
        self.loans.pop();
        let root = self.place(&Place::var(place.var), Reach::Read);
        let seen = if mode == Mode::Read { TokenStream::new() } else { self.see(place.var, quote!(&#root)) };
        self.scope(quote!(let #name = #lent; #body #seen))
    }

    fn ancilla(&mut self, var: VarId, init: &Expr, release: Release, body: &Block) -> TokenStream {
        let end = self.end(var, release);
        let start = (end != End::Compared && self.lane.is_none()).then(|| First::of(var, body)).flatten();
        if let Some((first, owner)) = self.array_start(var, init, start) {
            return self.array_ancilla(var, first, owner, end, (init, body));
        }
        if matches!(init.kind, ExprKind::ZeroLike(_) | ExprKind::ZeroShadow(_)) {
            self.shaped.insert(var);
        }
        let value = self.expr(init);
        let (name, ty, first) = (self.name(var), self.annotation(var), self.companion("first", var));
        self.set(var, Repr::Owned);
        let keep = match end {
            End::Dropped => TokenStream::new(),
            End::Compared | End::Number => quote!(let #first = ::core::clone::Clone::clone(&#name);),
        };
        let (watch, body, check) = self.until(var, end, init, body);
        let scope = quote!(let mut #name #ty = #value; #keep #watch #body #check);
        // what holds memory gives it back where its scope ends
        match init.kind {
            ExprKind::EmptyStack => quote!({ #scope }),
            _ => self.scope(scope),
        }
    }

    /// The element and the array that an ancilla of run-time shape starts with, or that a first product makes of
    /// it.
    fn array_start(
        &mut self,
        var: VarId,
        init: &Expr,
        start: Option<First<'_>>,
    ) -> Option<(TokenStream, TokenStream)> {
        let p = self.p;
        match &init.kind {
            ExprKind::Fill(e, shape) => {
                let zero = e.is_number(0);
                let (e, shape) = (self.expr(e), self.exprs(shape));
                let element = match &self.function.var(var).ty {
                    rev_compiler::ir::Type::Array(t, _) => super::types::rust_type(t, p),
                    _ => None,
                };
                let element = element.map(|t| quote!(: #t));
                let dynamic = matches!(
                    storage(&self.function.var(var).ty),
                    Storage::Array(rev_compiler::ir::Rank::Dynamic)
                );
                let first = self.companion("first", var);
                let array = match start {
                    Some(start) if zero && !dynamic => {
                        self.contraction_start(&start, &quote!(#first), &shape)
                    }
                    _ if dynamic => quote!(#p::arrays::dynamic([#(#shape),*], #first)),
                    _ => quote!(#p::arrays::filled([#(#shape),*], #first)),
                };
                Some((quote!(let #first #element = #e;), array))
            }
            ExprKind::ZeroShadow(q) if self.is_array(q) => {
                let like = self.place(q, Reach::Read);
                Some((TokenStream::new(), quote!(#p::arrays::zero_shadows::<_, __N>(#like))))
            }
            ExprKind::ZeroLike(q) if self.is_array(q) => {
                let like = self.place(q, Reach::Read);
                let first = self.companion("first", var);
                let element = quote!(let #first = #p::arrays::zero_element(#like););
                Some((element, quote!(#p::arrays::zeros_like(#like))))
            }
            _ => None,
        }
    }

    fn array_ancilla(
        &mut self,
        var: VarId,
        first: TokenStream,
        array: TokenStream,
        end: End,
        (init, body): (&Expr, &Block),
    ) -> TokenStream {
        let p = self.p;
        let (name, owner) = (self.name(var), self.companion("own", var));
        let no_memory = self.fail(|at| quote!(#p::fail::no_memory(#at)));
        self.set(var, Repr::Handle);
        let (watch, body, check) = self.until(var, end, init, body);
        quote!({
            #first
            let mut #owner = match #array {
                __Some(__a) => __a,
                __None => #no_memory,
            };
            let #name = #owner.handle();
            #watch
            #body
            #check
        })
    }

    /// How an ancilla's scope ends here.
    pub fn end(&self, var: VarId, release: Release) -> End {
        let exact = || self.function.var(var).ty.is_exact(&self.function.generics);
        match release {
            Release::Checked if self.around.checked => End::Compared,
            Release::Uncomputed if self.around.checked && !exact() => End::Number,
            Release::Managed | Release::Uncomputed | Release::Checked | Release::Dropped => End::Dropped,
        }
    }

    /// What an ancilla is watched with, the statements of its scope, and what is asked at its end.
    fn until(
        &mut self,
        var: VarId,
        end: End,
        init: &Expr,
        body: &Block,
    ) -> (TokenStream, TokenStream, TokenStream) {
        let watch = if end == End::Compared { self.watch(var) } else { TokenStream::new() };
        let span = self.standing();
        let (finite, statements) = (stays_finite(var, init, body), body);
        let body = self.block(body);
        self.stand_at(span);
        let first = self.companion("first", var);
        let check = match end {
            End::Dropped => TokenStream::new(),
            End::Compared if is_released(var, statements) => TokenStream::new(),
            End::Compared => self.release(var, &quote!(#first)),
            End::Number => self.number(var, &first, finite),
        };
        self.held.remove(&var);
        (watch, body, check)
    }

    /// The check that an ancilla holds what the compiler's statements can bring back.
    fn number(&mut self, var: VarId, first: &proc_macro2::Ident, finite: bool) -> TokenStream {
        let (p, name) = (self.p, self.name(var));
        let failure = self.not_restored(var, &quote!(__None));
        self.if_checked(match self.repr(var) {
            Repr::Handle => quote! {
                if let __Some(__e) = #p::arrays::astray(#name, &#first, #finite) { #failure }
            },
            _ => quote! {
                if #p::checks::is_astray(&#name, #finite) {
                    let __e = #p::checks::astray(&#name, &#first);
                    #failure
                }
            },
        })
    }

    /// The error that an ancilla can't be released, for the mismatch `__e`.
    pub fn not_restored(&mut self, var: VarId, held: &TokenStream) -> TokenStream {
        let (p, shown) = (self.p, self.function.var(var).name.clone());
        let number = number_type(&self.function.var(var).ty).and_then(|t| rust_type(&t, p));
        let number = number.unwrap_or_else(|| quote!(f64));
        self.fail(|at| {
            quote! {{
                let __t = #p::fail::tolerance::<#number>(__cx.tolerances(), &__e, #held);
                #p::fail::not_restored(#at, __t, #shown, __e)
            }}
        })
    }

    /// Starts to record the largest magnitude that an ancilla holds.
    fn watch(&mut self, var: VarId) -> TokenStream {
        let p = self.p;
        if self.function.var(var).ty.is_exact(&self.function.generics) {
            return TokenStream::new();
        }
        self.held.insert(var);
        let (name, held) = (self.name(var), self.companion("held", var));
        match self.repr(var) {
            Repr::Handle => {
                let first = self.companion("first", var);
                quote!(let mut #held = #p::Held::of(&#first);)
            }
            _ => quote!(let mut #held = #p::Held::of(&#name);),
        }
    }

    /// Records a value that (a part of) an ancilla now has.
    pub fn see(&self, var: VarId, value: TokenStream) -> TokenStream {
        if !self.held.contains(&var) {
            return TokenStream::new();
        }
        let held = self.companion("held", var);
        quote!(if __cx.checks() { #held.see(#value); })
    }

    /// Records that an ancilla was changed in ways that weren't seen.
    pub fn lose_sight(&self, var: VarId) -> TokenStream {
        if !self.held.contains(&var) {
            return TokenStream::new();
        }
        let held = self.companion("held", var);
        quote!(if __cx.checks() { #held.lose(); })
    }

    /// The check that an ancilla holds a value again.
    fn release(&mut self, var: VarId, expected: &TokenStream) -> TokenStream {
        if !self.around.checked {
            return TokenStream::new();
        }
        self.only_by_reference();
        let p = self.p;
        let name = self.name(var);
        let held = if self.held.contains(&var) {
            let held = self.companion("held", var);
            quote!(#held.largest())
        } else {
            quote!(__None)
        };
        let compare = match self.repr(var) {
            Repr::Handle => quote!(#p::arrays::compare_all(__cx, #name, &#expected, #held)),
            _ => quote!(#p::compare(__cx, &#name, &#expected, #held)),
        };
        let failure = self.not_restored(var, &held);
        self.if_checked(quote!(if let __Err(__e) = #compare { #failure }))
    }

    /// A branch that is the same for all lanes.
    fn branch(&mut self, cond: &Expr, post: Option<&Expr>, then: &Block, otherwise: &Block) -> TokenStream {
        let p = self.p;
        let taken = self.expr(cond);
        let check = match post.filter(|_| self.around.checked) {
            Some(post) if self.lane.is_some() => {
                let shown = self.quote(post.span);
                self.lane_claim(
                    post,
                    &quote!(__l::broadcast(__s, __taken)),
                    |p, at, taken| quote!(#p::fail::after_branch(#at, #shown, #taken)),
                )
            }
            Some(post) => {
                let (value, shown) = (self.expr(post), self.quote(post.span));
                let failure = self.fail(|at| quote!(#p::fail::after_branch(#at, #shown, __taken)));
                self.if_checked(quote!(if (#value) != __taken { #failure }))
            }
            None => TokenStream::new(),
        };
        let arms = self.arms(self.standing(), cond);
        let (then, otherwise) = (self.block(then), self.block(otherwise));
        quote!({
            #arms
            let __taken = #taken;
            if __taken { #then } else { #otherwise }
            #check
        })
    }

    fn while_loop(&mut self, cond: &Expr, post: &Expr, body: &Block) -> TokenStream {
        let p = self.p;
        let (span, shown) = (self.standing(), self.quote(post.span));
        let check = |body: &mut Self, expected: bool| {
            if !body.around.checked {
                return TokenStream::new();
            }
            let value = body.expr(post);
            let failure = body.fail(|at| quote!(#p::fail::around_iteration(#at, #shown, #expected)));
            body.if_checked(quote!(if (#value) != #expected { #failure }))
        };
        let before = check(self, false);
        let cond = self.expr(cond);
        let count = ident(&format!("__iteration{}", self.loops.len()));
        let trip = self.in_loop(Around::While(count.clone()), |b| {
            let body = b.block(body);
            b.stand_at(span);
            let after = check(b, true);
            quote!(#body #after)
        });
        quote! {
            #before
            let mut #count = 0usize;
            while #cond { #trip #count = #count.wrapping_add(1); }
        }
    }

    fn push(&mut self, stack: &Place, place: &Place) -> TokenStream {
        let p = self.p;
        let target = self.place(place, Reach::Write);
        let taken = match (self.is_array(place), self.is_shadow(place)) {
            (true, true) => quote!(#p::arrays::take_shadows(#target)),
            (true, false) => quote!(#p::arrays::take(#target)),
            (false, true) => quote!(#p::take_shadow(&mut #target)),
            (false, false) => quote!(#p::take_value(&mut #target)),
        };
        let stack = self.place(stack, Reach::Write);
        quote!({
            let __v = #taken;
            #stack.push(__v);
        })
    }

    pub fn is_shadow(&self, place: &Place) -> bool {
        matches!(self.function.var(place.var).ty, Type::Shadow(_))
    }

    fn pop(&mut self, stack: &Place, place: &Place) -> TokenStream {
        self.only_by_reference();
        if self.is_array(place) {
            return self.pop_array(stack, place);
        }
        let p = self.p;
        let target = self.place(place, Reach::Write);
        let (shown, shown_stack) = (self.show(place), self.show(stack));
        let stack = self.place(stack, Reach::Write);
        // what a stack held before its shadow was made has no cotangents yet: they are zero, as is what they go to
        let empty = match self.is_shadow(place) {
            true => TokenStream::new(),
            false => self.fail(|at| quote!(#p::fail::stack_empty(#at, #shown_stack))),
        };
        let not_zero = self.fail(|at| quote!(#p::fail::pop_onto(#at, #shown, __e)));
        // an adjoint pops a shadow only onto one that it has just emptied
        let check = match self.is_shadow(place) {
            true => TokenStream::new(),
            false => self.if_checked(quote! {
                if let __Err(__e) = #p::vacant(__cx, &*__p) { #not_zero }
            }),
        };
        let seen = self.see(place.var, quote!(&*__p));
        let fits = match self.function.type_at(place) {
            Some(ty) if ty.is_scalar() => TokenStream::new(),
            Some(_) | None => {
                let failure = self.fail(|at| quote!(#p::fail::misshapen(#at, #shown, __e)));
                // before the value is taken, so that it stays where it doesn't fit
                quote! {
                    if let __Some(__v) = #stack.as_slice().last() {
                        if let __Err(__e) = #p::same_shapes(__v, &*__p, false) { #failure }
                    }
                }
            }
        };
        let popped = quote! {
            #check
            #fits
            match #stack.pop() {
                __Some(__v) => *__p = __v,
                __None => { #empty }
            }
            #seen
        };
        let applied = at_target(place, &target, popped);
        quote!({ #applied })
    }

    /// A whole array from a stack of vectors, which has to be as long.
    fn pop_array(&mut self, stack: &Place, place: &Place) -> TokenStream {
        let p = self.p;
        let (target, from) = (self.place(place, Reach::Write), self.place(stack, Reach::Write));
        let (shown, shown_stack) = (self.show(place), self.show(stack));
        let empty = match self.is_shadow(place) {
            true => quote!({}),
            false => self.fail(|at| quote!(#p::fail::stack_empty(#at, #shown_stack))),
        };
        let misfit = self.fail(|at| quote!(#p::fail::shapes(#at, #shown, __e)));
        let not_zero = self.fail(|at| quote!(#p::fail::pop_onto(#at, #shown, __e)));
        let check = match self.is_shadow(place) {
            true => TokenStream::new(),
            false => self.if_checked(quote! {
                for __x in #p::arrays::elements(#target) {
                    if let __Err(__e) = #p::vacant(__cx, &*__x) { #not_zero }
                }
            }),
        };
        self.held.remove(&place.var);
        quote!({
            #check
            match #p::arrays::put_back(#target, &mut #from) {
                __Ok(true) => {}
                __Ok(false) => #empty,
                __Err(__e) => #misfit,
            }
        })
    }

    /// An external block. It sees the program's variables under the names and as the types that they
    /// have in the source, but can't change them: arguments by reference are shared references, other
    /// scalars are copies. Arrays are handles. Nothing in it can leave more than the block.
    fn external(&mut self, code: &str, span: rev_compiler::ir::Span) -> TokenStream {
        self.only_by_reference();
        let p = self.p;
        let Some(external) = self.source.external(code, span) else {
            let tokens = parsed(code);
            return quote!(#p::external(|| { #tokens }););
        };
        let names = external.names.iter().map(|mentioned| {
            let (written, name) = (&mentioned.ident, self.name(mentioned.var));
            match self.repr(mentioned.var) {
                Repr::Handle | Repr::Function => quote!(let #written = #name;),
                Repr::Ref | Repr::Mut if mentioned.by_reference => quote!(let #written = &*#name;),
                Repr::Ref | Repr::Mut => quote!(let #written = ::core::clone::Clone::clone(&*#name);),
                Repr::Value if mentioned.by_reference => quote!(let #written = &#name;),
                Repr::Value => quote!(let #written = ::core::clone::Clone::clone(&#name);),
                Repr::Owned if self.function.var(mentioned.var).ty.is_scalar() => {
                    quote!(let #written = #name;)
                }
                Repr::Owned => quote!(let #written = &#name;),
            }
        });
        let tokens = &external.tokens;
        quote!({ #(#names)* #p::external(|| { #tokens }); })
    }
}

/// Whether an instruction refuses what it can't undo.
pub fn can_fail(instr: Instr) -> bool {
    match instr.row().adjoint {
        InstrAdjoint::ScaleByOperand
        | InstrAdjoint::ScaleByReciprocal
        | InstrAdjoint::ScaleBy
        | InstrAdjoint::UnscaleBy => true,
        InstrAdjoint::Nothing
        | InstrAdjoint::InverseOnShadows
        | InstrAdjoint::Inv
        | InstrAdjoint::Rotation
        | InstrAdjoint::ReverseRotation => false,
    }
}

/// Whether an ancilla that is brought back by arithmetic must be finite: it starts at a number that is written down, and
/// is only added to.
pub fn stays_finite(var: VarId, init: &Expr, body: &Block) -> bool {
    let start = match &init.kind {
        ExprKind::Fill(e, _) | ExprKind::Repeat(e, _) => e,
        _ => init,
    };
    let written = matches!(start.kind, ExprKind::Literal(..) | ExprKind::Zero(_));
    let mut only_added = true;
    body.iter().for_each(|s| {
        s.each_access_deep(&mut |q, access| only_added &= q.var != var || access != Access::Write);
    });
    written && only_added
}

/// Whether an ancilla has been released by the end of a block: it isn't changed after that, and has been compared.
pub fn is_released(var: VarId, block: &Block) -> bool {
    for stmt in block.iter().rev() {
        match &stmt.kind {
            StmtKind::Release { var: released, .. } if *released == var => return true,
            StmtKind::Let { body, .. } | StmtKind::Ancilla { body, .. } if is_released(var, body) => {
                return true
            }
            _ => {}
        }
        let mut changed = false;
        stmt.each_access_deep(&mut |q, access| changed |= q.var == var && access != Access::Read);
        if changed {
            return false;
        }
    }
    false
}

/// Statements about `__p`, which is what stands at a place.
fn at_target(place: &Place, target: &TokenStream, statements: TokenStream) -> TokenStream {
    named(place, quote!(__p), quote!(&mut #target), statements)
}

/// Statements with a name for a reference to what stands at a place. The parts of an enum are values that live to the end of a
/// `match` on what is in them, but of a `let` only where that is a field: not where it is an element of an array in the enum, or
/// in an enum in it.
fn named(place: &Place, name: TokenStream, reference: TokenStream, statements: TokenStream) -> TokenStream {
    match place.path.iter().any(|step| matches!(step, Step::Field(f) if f == PARTS)) {
        false => quote!(let #name = #reference; #statements),
        true => quote!(match #reference { #name => { #statements } };),
    }
}
