//! Statements for several iterations at once.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{Block, Expr, ExprKind, Place, Range, Release, Stmt, StmtKind, Type, UpdateOp, VarId};
use rev_compiler::ops::Instr;
use rev_compiler::pass::inverse_block;
use rev_compiler::plan::Alike;

use super::super::body::{Around, Body, Repr};
use super::super::expr::Reach;
use super::super::loops::step_type;
use super::super::names::ident;
use super::super::pair::SineCosine;
use super::super::stmt::can_fail;
use super::super::types::{rust_type, storage, Storage};
use super::place::Spot;
use super::Kind;

impl Body<'_> {
    /// A statement; in a loop that lanes leave one by one, some variables are alike.
    pub fn lane_stmt_with(&mut self, stmt: &Stmt, alike: &Alike) -> TokenStream {
        match &stmt.kind {
            StmtKind::Update { op, place, expr } => {
                if self.is_plain_place(place) && !self.varies(expr) {
                    return self.plain_stmt(stmt);
                }
                let apart = self.lane_alias_checks(stmt);
                let update = self.lane_update(*op, place, expr);
                quote!(#apart #update)
            }
            StmtKind::Instr { instr, places, operands } => {
                if places.iter().all(|q| self.is_plain_place(q)) && !operands.iter().any(|e| self.varies(e)) {
                    return self.plain_stmt(stmt);
                }
                let apart = self.lane_alias_checks(stmt);
                let instr = self.lane_instr(*instr, places, operands);
                quote!(#apart #instr)
            }
            StmtKind::Let { var, expr, body } => match self.kind(*var) {
                Kind::Uniform => self.plain_stmt(stmt),
                Kind::Linear | Kind::Pack => self.lane_let(*var, expr, body),
            },
            StmtKind::Ancilla { var, init, release, body } => match self.kind(*var) {
                Kind::Uniform | Kind::Linear => self.plain_stmt(stmt),
                Kind::Pack => self.lane_ancilla(*var, init, *release, body),
            },
            StmtKind::If { cond, post, then, otherwise } => {
                if self.varies(cond) {
                    self.lane_branch(cond, post.as_ref(), then, otherwise)
                } else {
                    self.plain_stmt(stmt)
                }
            }
            StmtKind::While { cond, post, body } => {
                if self.varies(cond) || self.around.checked && self.varies(post) {
                    self.lane_while(cond, post, body, alike)
                } else {
                    self.plain_stmt(stmt)
                }
            }
            // a loop inside has its iterations in order
            StmtKind::For { var, range, body, .. } => {
                if range.exprs().any(|e| self.varies(e)) {
                    self.lane_for(*var, range, body)
                } else {
                    self.for_loop(*var, range, body)
                }
            }
            StmtKind::Call { callee, direction, args } => {
                if self.lane.as_ref().is_some_and(|lane| lane.varying.is_one_call(args)) {
                    self.plain_stmt(stmt)
                } else {
                    self.lane_call(callee, *direction, args)
                }
            }
            StmtKind::Compute { compute, body } => {
                let undo = inverse_block(compute);
                let (compute, body, undo) = (self.block(compute), self.block(body), self.block(&undo));
                quote!(#compute #body #undo)
            }
            StmtKind::Release { var, value } => match self.kind(*var) {
                Kind::Uniform | Kind::Linear => self.plain_stmt(stmt),
                Kind::Pack => {
                    let value = self.first_value(*var, value);
                    self.lane_release(*var, &value)
                }
            },
            StmtKind::Inverse { body } => self.block(&inverse_block(body)),
            StmtKind::Unchecked { .. } => self.plain_stmt(stmt),
            // not in lanes
            StmtKind::Push { .. } | StmtKind::Pop { .. } | StmtKind::External { .. } => self.plain_stmt(stmt),
        }
    }

    /// Whether a place is a part of the lanes' own that is the same for all of them.
    fn is_plain_place(&self, place: &Place) -> bool {
        self.is_own(place.var)
            && self.kind(place.var) == Kind::Uniform
            && !place.indices().any(|e| self.varies(e))
    }

    fn lane_update(&mut self, op: UpdateOp, place: &Place, expr: &Expr) -> TokenStream {
        if let Some((_, a, b)) = expr.fused_factors() {
            if let Some(update) = self.lane_product(op, place, a, b) {
                return update;
            }
        }
        let (value, read) = (self.pack(expr), self.row_read(place));
        match (self.spot(place, Reach::Write), op) {
            (Spot::One, UpdateOp::Add | UpdateOp::Sub) => {
                let mask = self.mask();
                let sum = quote!(__l::sum(__s, #mask, &__v));
                let add = self.add_sum(place, op == UpdateOp::Sub, &sum);
                quote!({ let __v = #value; #add })
            }
            (Spot::One, UpdateOp::Xor) => {
                let (target, mask) = (self.place(place, Reach::Write), self.mask());
                quote!({
                    let __v = #value;
                    let __v = __l::parity(__s, #mask, &__v);
                    __f::update::xor(&mut #target, __v);
                })
            }
            (Spot::Held(held), op) => {
                let (mask, name) = (self.mask(), update_name(op));
                let seen = self.lane_see(place.var, &held);
                quote!({
                    let __v = #value;
                    #read
                    __l::update::#name(__s, #mask, &mut #held, __v);
                    #seen
                })
            }
            (Spot::Chosen(chosen), UpdateOp::Add | UpdateOp::Sub) if chosen.is_plain(place) => {
                self.add_each(&chosen, op == UpdateOp::Sub, &value, place)
            }
            (Spot::Chosen(chosen), UpdateOp::Xor) if chosen.is_plain(place) => {
                self.xor_each(&chosen, &value, place)
            }
            (Spot::Chosen(_), op) => {
                let (v, name, sum) = (self.fresh("v"), update_name(op), self.is_shared(place));
                let update = self.through(place, sum, |body, part| {
                    let mask = body.mask();
                    quote!(__l::update::#name(__s, #mask, &mut #part, #v);)
                });
                quote!({ let #v = #value; #update })
            }
        }
    }

    /// `place ±= a·b`: in each lane's own place rounded once, in a place that is one for all lanes by the
    /// sum of the products. `None` where several lanes or threads add to elements of their choice: these
    /// get rounded products.
    fn lane_product(&mut self, op: UpdateOp, place: &Place, a: &Expr, b: &Expr) -> Option<TokenStream> {
        let spot = self.spot(place, Reach::Write);
        if matches!(spot, Spot::Chosen(_))
            && (self.around.atomic.contains(&place.var) || self.is_shared(place))
        {
            return None;
        }
        let (v, c) = (self.fresh("v"), self.fresh("c"));
        let (a, b, read) = (self.pack(a), self.pack(b), self.row_read(place));
        if matches!(spot, Spot::One) {
            let mask = self.mask();
            let sum = quote!(__l::sum_product(__s, #mask, #v, #c));
            let add = self.add_sum(place, op == UpdateOp::Sub, &sum);
            return Some(quote!({ let #v = #a; let #c = #b; #add }));
        }
        let name = ident(if op == UpdateOp::Sub { "sub_product" } else { "add_product" });
        let update = self.through(place, false, |body, part| {
            let mask = body.mask();
            quote!(__l::update::#name(__s, #mask, &mut #part, #v, #c);)
        });
        Some(quote!({ let #v = #a; let #c = #b; #read #update }))
    }

    /// Whether lanes only accumulate into the array of a place, perhaps into the same element.
    pub fn is_shared(&self, place: &Place) -> bool {
        self.lane.as_ref().is_some_and(|lane| lane.shared.contains(&place.var))
    }

    fn lane_instr(&mut self, instr: Instr, places: &[Place], operands: &[Expr]) -> TokenStream {
        let packs = |this: &mut Self| operands.iter().map(|e| this.pack(e)).collect();
        let (name, operands) = self.instr_call(instr, operands, packs);
        let mut given = TokenStream::new();
        let mut args = Vec::new();
        for operand in operands {
            let arg = self.fresh("operand");
            given.extend(quote!(let #arg = #operand;));
            args.push(arg);
        }
        given.extend(places.iter().map(|place| self.row_read(place)).collect::<TokenStream>());
        if let [place] = places {
            let changed = self.through(place, false, |body, part| {
                let mask = body.mask();
                body.lane_applied(instr, place, quote!(__l::instr::#name(__s, #mask, &mut #part #(, #args)*)))
            });
            return quote!({ #given #changed });
        }
        // values are taken out and put back, so that no two references live at once
        let mut taken = Vec::new();
        for place in places {
            let (held, value) = (self.fresh("x"), self.lane_value(place));
            given.extend(quote!(let mut #held = #value;));
            taken.push(held);
        }
        let mask = self.mask();
        let call = quote!(__l::instr::#name(__s, #mask, #(&mut #taken,)* #(#args),*));
        let apply = match places.first() {
            Some(first) => self.lane_applied(instr, first, call),
            None => self.defect("an instruction without places"),
        };
        let mut back = TokenStream::new();
        for (place, held) in places.iter().zip(&taken) {
            back.extend(self.through(place, false, |_, part| quote!(#part = #held;)));
        }
        quote!({ #given #apply #back })
    }

    /// An instruction, with its failure where it can fail: that of a lane.
    fn lane_applied(&mut self, instr: Instr, place: &Place, call: TokenStream) -> TokenStream {
        if !can_fail(instr) {
            return quote!(#call;);
        }
        let failure = self.of_lane(|body| body.inexact(instr, place));
        quote!(if let __Err((__lane, __e)) = #call { #failure })
    }

    fn lane_let(&mut self, var: VarId, expr: &Expr, body: &Block) -> TokenStream {
        if let Some(both) = SineCosine::of(var, expr, body).filter(|_| self.kind(var) == Kind::Pack) {
            let x = self.pack(both.argument);
            let named = [both.sine, both.cosine].map(|v| {
                let (name, ty) = (self.name(v), self.lane_annotation(v));
                self.set(v, Repr::Value);
                quote!(#name #ty)
            });
            let body = self.block(both.body);
            let [sine, cosine] = named;
            return self.scope(quote! {
                let __both = __l::sin_cos(__s, #x);
                let #sine = __both.0;
                let #cosine = __both.1;
                #body
            });
        }
        let value = match self.kind(var) {
            Kind::Pack => self.pack(expr),
            Kind::Uniform | Kind::Linear => self.lane_expr(expr).0,
        };
        let (name, ty) = (self.name(var), self.lane_annotation(var));
        self.set(var, Repr::Value);
        let body = self.block(body);
        self.scope(quote!(let #name #ty = #value; #body))
    }

    fn lane_ancilla(&mut self, var: VarId, init: &Expr, release: Release, body: &Block) -> TokenStream {
        let p = self.p;
        let end = self.end(var, release);
        let array = match &init.kind {
            ExprKind::Fill(e, shape) => {
                let (e, shape) = (self.pack(e), self.exprs(shape));
                let element = match &self.function.var(var).ty {
                    Type::Array(t, _) => rust_type(t, p),
                    _ => None,
                };
                let element = element.map(|t| quote!(: __l::Pack<#t>));
                let make = match storage(&self.function.var(var).ty) {
                    Storage::Array(rev_compiler::ir::Rank::Dynamic) => quote!(dynamic),
                    _ => quote!(filled),
                };
                quote!({ let __first #element = #e; #p::arrays::#make([#(#shape),*], __first) })
            }
            ExprKind::ZeroShadow(q) if self.is_array(q) => {
                let like = self.place(q, Reach::Read);
                match self.kind(q.var) {
                    Kind::Pack => quote!(__l::zero_shadows::<_, __N>(#like)),
                    Kind::Uniform | Kind::Linear => quote!(__l::spread_zero_shadows::<_, __N>(#like)),
                }
            }
            ExprKind::ZeroLike(q) if self.is_array(q) => {
                let like = self.place(q, Reach::Read);
                match self.kind(q.var) {
                    Kind::Pack => quote!(__l::zeros_like(#like)),
                    Kind::Uniform | Kind::Linear => quote!(__l::spread_zeros_like(#like)),
                }
            }
            _ => {
                let (value, name, ty) = (self.pack(init), self.name(var), self.lane_annotation(var));
                self.set(var, Repr::Owned);
                let scope = self.lane_until(var, end, init, body);
                return self.scope(quote!(let mut #name #ty = #value; #scope));
            }
        };
        let (name, owner) = (self.name(var), self.companion("own", var));
        let no_memory = self.fail(|at| quote!(#p::fail::no_memory(#at)));
        self.set(var, Repr::Handle);
        let scope = self.lane_until(var, end, init, body);
        quote!({
            let mut #owner = match #array {
                __Some(__a) => __a,
                __None => #no_memory,
            };
            let #name = #owner.handle();
            #scope
        })
    }

    fn lane_branch(
        &mut self,
        cond: &Expr,
        post: Option<&Expr>,
        then: &Block,
        otherwise: &Block,
    ) -> TokenStream {
        let (outside, taken, other) = (self.mask(), self.fresh("then"), self.fresh("else"));
        let cond = self.pack(cond);
        let check = post.map(|post| {
            let shown = self.quote(post.span);
            self.lane_claim(
                post,
                &quote!(__c),
                |p, at, taken| quote!(#p::fail::after_branch(#at, #shown, #taken)),
            )
        });
        let then = self.masked(&taken, |body| body.block(then));
        let otherwise = self.masked(&other, |body| body.block(otherwise));
        let otherwise = (!otherwise.is_empty()).then(|| {
            quote! {
                let #other = __l::without(__s, #outside, &__c);
                if __l::any(&#other) { #otherwise }
            }
        });
        quote!({
            let __c = #cond;
            let #taken = __l::within(__s, #outside, &__c);
            if __l::any(&#taken) { #then }
            #otherwise
            #check
        })
    }

    fn lane_while(&mut self, cond: &Expr, post: &Expr, body: &Block, alike: &Alike) -> TokenStream {
        let (span, shown) = (self.standing(), self.quote(post.span));
        let claim = |this: &mut Self, expected: bool| {
            this.lane_claim(
                post,
                &quote!(__l::broadcast(__s, #expected)),
                |p, at, _| quote!(#p::fail::around_iteration(#at, #shown, #expected)),
            )
        };
        let (outside, active) = (self.mask(), self.fresh("active"));
        let count = ident(&format!("__iteration{}", self.loops.len()));
        let code = self.with_alike(alike, &active, |this, left| {
            let before = claim(this, false);
            let first = this.pack(cond);
            let again = this.masked(&active, |b| b.pack(cond));
            let trip = this.in_loop(Around::While(count.clone()), |this| {
                let body = this.masked(&active, |b| b.block(body));
                this.stand_at(span);
                let after = this.masked(&active, |b| claim(b, true));
                quote!(#body #after)
            });
            quote! {
                #before
                let __c = #first;
                let mut #active = __l::within(__s, #outside, &__c);
                let mut #count = 0usize;
                while __l::any(&#active) {
                    #trip
                    #left
                    #count = #count.wrapping_add(1);
                    let __c = #again;
                    #active = __l::within(__s, #active, &__c);
                }
            }
        });
        quote!({ #code })
    }

    /// A loop of which lanes have different bounds.
    fn lane_for(&mut self, var: VarId, range: &Range, body: &Block) -> TokenStream {
        let p = self.p;
        let (outside, active, trips) = (self.mask(), self.fresh("active"), self.fresh("trips"));
        let (start, end) = (self.pack(&range.start), self.pack(&range.end));
        let (inclusive, from_end, reversed) = (range.inclusive, range.from_end, range.reversed);
        let step = match &range.step {
            Some(step) => self.pack(step),
            None => quote!(__l::broadcast(__s, 1usize)),
        };
        let step_type = step_type(range).map(|t| quote!(: __l::Pack<#t>));
        let of = self.counter_type(var, range).map(|t| quote!(::<#t>));
        let failure = self.failing_at(
            quote!(__lane),
            |at| quote!(#p::fail::step_below_one(#at, #p::number(__l::get(&__step, __lane)))),
        );
        let name = self.name(var);
        let body = self.masked(&active, |b| b.loop_body(var, body));
        quote!({
            let (__start, __end) = (#start, #end);
            let __step #step_type = #step;
            let #trips = __l::Trips #of::new(
                __s, #outside, &__start, &__end, &__step, [#inclusive, #from_end, #reversed]
            );
            let #trips = match #trips {
                __Ok(__trips) => __trips,
                __Err(__lane) => #failure,
            };
            for (#active, #name) in #trips { #body }
        })
    }
}

fn update_name(op: UpdateOp) -> proc_macro2::Ident {
    ident(match op {
        UpdateOp::Add => "add",
        UpdateOp::Sub => "sub",
        UpdateOp::Xor => "xor",
    })
}
