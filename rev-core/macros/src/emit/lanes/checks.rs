//! What checks ask of several iterations at once: of vectors, under the mask of the active lanes. The first lane that fails
//! is the iteration of which the error tells.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::check::overlap::{compared, overlap, Overlap};
use rev_compiler::ir::{Arg, ArgValue, Block, Expr, ExprKind, Mode, Place, Step, Stmt, VarId};

use super::super::body::{Body, Repr};
use super::super::stmt::{is_released, stays_finite, End};

impl Body<'_> {
    /// The statements of an ancilla's scope, of which each lane has its own, what it is watched with, and what is asked
    /// at its end.
    pub fn lane_until(&mut self, var: VarId, end: End, init: &Expr, body: &Block) -> TokenStream {
        let (span, finite) = (self.standing(), stays_finite(var, init, body));
        let first = self.companion("first", var);
        let last = end == End::Compared && !is_released(var, body);
        let kept = if last { self.lane_first(var, init) } else { TokenStream::new() };
        let watch = if end == End::Compared { self.lane_watch(var, init) } else { TokenStream::new() };
        let body = self.after_ancilla(var, init, |b| b.block(body));
        self.stand_at(span);
        let check = match end {
            End::Compared if last => self.lane_release(var, &quote!(#first)),
            End::Dropped | End::Compared => TokenStream::new(),
            End::Number => self.lane_is_number(var, init, finite),
        };
        self.held.remove(&var);
        quote!(#kept #watch #body #check)
    }

    /// Keeps an ancilla's first value in each lane, to be compared.
    fn lane_first(&mut self, var: VarId, init: &Expr) -> TokenStream {
        let (name, first) = (self.name(var), self.companion("first", var));
        match self.repr(var) {
            Repr::Handle => {
                let value = self.first_value(var, init);
                quote!(let #first = #value;)
            }
            Repr::Value | Repr::Owned | Repr::Ref | Repr::Mut | Repr::Function => {
                quote!(let #first = ::core::clone::Clone::clone(&#name);)
            }
        }
    }

    /// Starts to record the largest magnitude that an ancilla holds in each lane.
    fn lane_watch(&mut self, var: VarId, init: &Expr) -> TokenStream {
        if self.function.var(var).ty.is_exact(&self.function.generics) {
            return TokenStream::new();
        }
        self.held.insert(var);
        let (name, held) = (self.name(var), self.companion("held", var));
        match self.repr(var) {
            Repr::Handle => {
                let value = self.first_value(var, init);
                quote!(let mut #held = __l::hold_in(__s, #name, &#value);)
            }
            Repr::Value | Repr::Owned | Repr::Ref | Repr::Mut | Repr::Function => {
                quote!(let mut #held = __l::hold(__s, &#name);)
            }
        }
    }

    /// The value that an ancilla starts with, as a pack; of an array its elements'.
    pub fn first_value(&mut self, var: VarId, init: &Expr) -> TokenStream {
        let p = self.p;
        match &init.kind {
            ExprKind::Fill(e, _) => self.pack(e),
            _ if self.repr(var) == Repr::Handle => quote!(__l::broadcast(__s, #p::Zero::zero())),
            _ => self.pack(init),
        }
    }

    /// Records what (a part of) an ancilla now has in each lane.
    pub fn lane_see(&self, var: VarId, pack: &TokenStream) -> TokenStream {
        if !self.held.contains(&var) {
            return TokenStream::new();
        }
        let held = self.companion("held", var);
        quote!(if __cx.checks() { __l::see(__s, &mut #held, &#pack); })
    }

    /// The check that an ancilla holds a value again in each lane.
    pub fn lane_release(&mut self, var: VarId, expected: &TokenStream) -> TokenStream {
        if !self.around.checked {
            return TokenStream::new();
        }
        let (name, mask) = (self.name(var), self.mask());
        let (held, in_lane) = match self.held.contains(&var) {
            true => {
                let held = self.companion("held", var);
                let in_lane = quote!(__l::get(&::core::clone::Clone::clone(&#held), __lane));
                (quote!(__Some(&#held)), quote!(__Some(#in_lane)))
            }
            false => (quote!(__None), quote!(__None)),
        };
        let found = match self.repr(var) {
            Repr::Handle => quote!(__l::unrestored_in(__s, #mask, __cx, (#name, &__expected), #held)),
            Repr::Value | Repr::Owned | Repr::Ref | Repr::Mut | Repr::Function => {
                quote!(__l::unrestored(__s, #mask, __cx, (&#name, &__expected), #held))
            }
        };
        let failure = self.of_lane(|b| b.not_restored(var, &in_lane));
        self.if_checked(quote! {
            let __expected = #expected;
            if let __Some((__lane, __e)) = #found { #failure }
        })
    }

    /// Comparisons, where checks are on, of the written element with those that only the values of indices tell apart.
    pub fn lane_alias_checks(&mut self, stmt: &Stmt) -> TokenStream {
        if !self.around.checked {
            return TokenStream::new();
        }
        let pairs = compared(stmt, &self.values);
        let checks: TokenStream = pairs.into_iter().map(|(a, b)| self.lane_apart(a, b)).collect();
        match checks.is_empty() {
            true => checks,
            false => self.if_checked(checks),
        }
    }

    /// The comparisons of a call's arguments that only the values of indices tell apart, with checks off too.
    pub fn lane_overlap_checks(&mut self, args: &[Arg]) -> TokenStream {
        let place = |arg: &'_ Arg| match &arg.value {
            ArgValue::Place(q) => Some((q.clone(), arg.mode != Mode::Read)),
            ArgValue::Expr(_) => None,
        };
        let places: Vec<(Place, bool)> = args.iter().filter_map(place).collect();
        let mut checks = TokenStream::new();
        for (k, (a, written)) in places.iter().enumerate() {
            for (b, other) in &places[k + 1..] {
                if (*written || *other) && overlap(a, b, &self.values) == Overlap::Unknown {
                    checks.extend(self.lane_apart(a, b));
                }
            }
        }
        checks
    }

    /// The check that two places of one variable don't share storage in any active lane.
    fn lane_apart(&mut self, a: &Place, b: &Place) -> TokenStream {
        let (p, first, second) = (self.p, self.show(a), self.show(b));
        if ![a, b].iter().any(|q| q.indices().any(|e| self.varies(e))) {
            let same = self.overlap_condition(a, b);
            let failure = self.fail(|at| quote!(#p::fail::aliased(#at, #first, #second)));
            return quote!(if #same { #failure });
        }
        let mut same = quote!(__l::broadcast(__s, true));
        for (s, t) in a.path.iter().zip(&b.path) {
            match (s, t) {
                (Step::Index(i), Step::Index(j)) => {
                    for (i, j) in i.iter().zip(j) {
                        let (i, j) = (self.pack(i), self.pack(j));
                        same = quote!(__l::and(__s, #same, {
                            let (__i, __j): (__l::Pack<usize>, __l::Pack<usize>) = (#i, #j);
                            __l::eq(__s, __i, __j)
                        }));
                    }
                }
                (Step::Part(_), _) | (_, Step::Part(_)) => {
                    return self.defect("parts of an array that are compared in lanes");
                }
                (Step::Field(_) | Step::Element(_) | Step::Re | Step::Im | Step::Index(_), _) => {}
            }
        }
        let mask = self.mask();
        let failure = self.failing_at(quote!(__lane), |at| quote!(#p::fail::aliased(#at, #first, #second)));
        quote!({
            let __same = #same;
            if let __Some(__lane) = __l::unlike(__s, #mask, &__same, &__l::broadcast(__s, false)) {
                #failure
            }
        })
    }

    /// The check that an ancilla holds in each lane what the compiler's statements can bring back.
    fn lane_is_number(&mut self, var: VarId, init: &Expr, finite: bool) -> TokenStream {
        let (p, name, mask) = (self.p, self.name(var), self.mask());
        let first = self.first_value(var, init);
        let first = match self.lane_annotation(var).filter(|_| self.repr(var) == Repr::Owned) {
            Some(ty) => quote!(let __first #ty = #first;),
            None => quote!(let __first = #first;),
        };
        let (found, mismatch) = match self.repr(var) {
            Repr::Handle => (
                quote!(__l::astray_in(__s, #mask, #name, #finite)),
                quote!(__l::mismatch_in(#name, &__first, __lane, #finite)),
            ),
            // of a copy: one lane taken from a pack keeps it from being held in registers
            _ => (
                quote!(__l::astray(__s, #mask, &#name, #finite)),
                quote!(#p::checks::astray(
                    &__l::get(&::core::clone::Clone::clone(&#name), __lane),
                    &__l::get(&__first, __lane)
                )),
            ),
        };
        let failure = self.of_lane(|b| b.not_restored(var, &quote!(__None)));
        self.if_checked(quote! {
            if let __Some(__lane) = #found {
                #first
                let __e = #mismatch;
                #failure
            }
        })
    }

    /// The check that a condition is in the active lanes what `expected`, a pack, says; `error` is given where, and what
    /// was expected in the lane.
    pub fn lane_claim(
        &mut self,
        post: &Expr,
        expected: &TokenStream,
        error: impl FnOnce(&TokenStream, TokenStream, TokenStream) -> TokenStream,
    ) -> TokenStream {
        if !self.around.checked {
            return TokenStream::new();
        }
        let (p, mask, post) = (self.p, self.mask(), self.pack(post));
        let expected_there = quote!(__l::get(&__expected, __lane));
        let failure = self.failing_at(quote!(__lane), |at| error(p, at, expected_there));
        self.if_checked(quote! {
            let (__found, __expected) = (#post, #expected);
            if let __Some(__lane) =
                __l::unlike(__s, #mask, &__found, &__expected)
            {
                #failure
            }
        })
    }
}
