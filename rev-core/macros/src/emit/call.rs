//! Calls.

use std::borrow::Cow;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use rev_compiler::check::overlap::{overlap, Overlap};
use rev_compiler::ir::{
    Arg, ArgValue, Callee, Derived, Direction, Expr, ExprKind, FunctionPath, Mode, Place, Step, Type, VarId,
    PARTS,
};

use super::body::{parsed, Body, Repr};
use super::callee::{programs, split_derived, Kind};
use super::derived::{self, of_path};
use super::expr::Reach;
use super::names::ident;
use crate::spans::at_span;

impl Body<'_> {
    /// A call of one of a function's programs.
    pub fn call(&mut self, callee: &Callee, direction: Direction, args: &[Arg]) -> TokenStream {
        let checks = self.overlap_checks(args);
        if let Some(call) = self.call_by_value(callee, direction, args) {
            return quote!({ #checks #call });
        }
        let handled = self.arrays_used_twice(args);
        let wraps: TokenStream = handled
            .iter()
            .map(|&v| {
                let (p, name, place) = (self.p, self.name(v), self.place(&Place::var(v), Reach::Write));
                quote!(let #name = #p::Lend::writer(&mut #place);)
            })
            .collect();
        let reprs: Vec<_> = handled.iter().map(|&v| (v, Repr::Handle)).collect();
        let call = self.holding(&reprs, |b| b.guarded_call(callee, direction, args));
        let seen: TokenStream = args.iter().map(|a| self.see_argument(a)).collect();
        quote!({ { #wraps #checks #call } #seen })
    }

    /// Fixed-size arrays of which several elements or parts are passed: they need a handle.
    fn arrays_used_twice(&self, args: &[Arg]) -> Vec<VarId> {
        let mut found = Vec::new();
        for (k, (a, mode)) in places(args).enumerate() {
            let local = matches!(self.repr(a.var), Repr::Owned | Repr::Mut);
            let fixed = matches!(&self.function.var(a.var).ty, Type::Fixed(..))
                || matches!(&self.function.var(a.var).ty, Type::Shadow(t) if matches!(**t, Type::Fixed(..)));
            let others = places(args).enumerate().filter(|(j, (b, _))| *j != k && b.var == a.var);
            let shared = others.into_iter().any(|(_, (_, m))| m != Mode::Read || mode != Mode::Read);
            if local && fixed && shared && !a.path.is_empty() && !found.contains(&a.var) {
                found.push(a.var);
            }
        }
        found
    }

    /// The comparison of arguments that only the values of indices tell apart. It is made with
    /// checks off too: two exclusive references to one element can't be let through.
    fn overlap_checks(&mut self, args: &[Arg]) -> TokenStream {
        let p = self.p;
        let all: Vec<_> = places(args).collect();
        let mut out = TokenStream::new();
        for (k, (a, mode)) in all.iter().enumerate() {
            for (b, other) in &all[k + 1..] {
                let written = *mode != Mode::Read || *other != Mode::Read;
                if !written || overlap(a, b, &self.values) != Overlap::Unknown {
                    continue;
                }
                let (same, shown) = (self.overlap_condition(a, b), (self.show(a), self.show(b)));
                let (first, second) = shown;
                let failure = self.fail(|at| quote!(#p::fail::aliased(#at, #first, #second)));
                out.extend(quote!(if #same { #failure }));
            }
        }
        out
    }

    fn guarded_call(&mut self, callee: &Callee, direction: Direction, args: &[Arg]) -> TokenStream {
        let p = self.p;
        let mut before = TokenStream::new();
        let mut after = TokenStream::new();
        let mut passed = Vec::new();
        for (k, arg) in args.iter().enumerate() {
            passed.push(match &arg.value {
                ArgValue::Place(place) if self.needs_copy(place, k, args) => {
                    let copy = ident(&format!("__arg{k}"));
                    let value = self.value(place);
                    before.extend(quote!(let mut #copy = #value;));
                    if arg.mode == Mode::Read {
                        self.reference(place, quote!(&#copy))
                    } else {
                        let target = self.place(place, Reach::Write);
                        after.extend(quote!(#target = #copy;));
                        self.reference(place, quote!(&mut #copy))
                    }
                }
                ArgValue::Place(place) => self.place_argument(place, arg.mode),
                ArgValue::Expr(e) if places(args).any(|(q, m)| m != Mode::Read && e.mentions(q.var)) => {
                    // before the arguments that it reads a part of are lent
                    let (held, value) = (ident(&format!("__arg{k}")), self.expr(e));
                    before.extend(quote!(let #held = #value;));
                    quote!(&#held)
                }
                ArgValue::Expr(e) => self.value_argument(e),
            });
        }
        // rustc's messages about an argument stand at the argument
        let located = args.iter().zip(passed).map(|(arg, tokens)| match &arg.value {
            ArgValue::Place(place) => self.located(tokens, place.span),
            ArgValue::Expr(e) => self.located(tokens, e.span),
        });
        let passed: Vec<_> = located.collect();
        let call = self.invoke(callee, direction, &passed);
        let failure = self.fail(|at| quote!(#p::fail::called(#at, __e)));
        quote!({
            #before
            let __result = #call;
            #after
            if let __Err(__e) = __result { #failure }
        })
    }

    /// Tokens that stand at a position of the source.
    fn located(&self, tokens: TokenStream, at: rev_compiler::ir::Span) -> TokenStream {
        match self.source.spans.region(at) {
            Some(region) => at_span(tokens, region.first.resolved_at(Span::call_site())),
            None => tokens,
        }
    }

    /// Whether an argument is a part of a variable of which another argument is a part too, in a
    /// way that Rust's references can't tell apart.
    fn needs_copy(&self, place: &Place, k: usize, args: &[Arg]) -> bool {
        // parts of an enum are written back with all of them
        let of_enum = self.is_value_of_enum(place);
        if self.repr(place.var) == Repr::Handle && !of_enum || place.path.is_empty() {
            return false;
        }
        let written = |a: &Arg| a.mode != Mode::Read;
        args.iter().enumerate().any(|(j, other)| match &other.value {
            ArgValue::Place(q) => {
                j != k
                    && q.var == place.var
                    && (written(other) || written(&args[k]))
                    && (of_enum || !split_by_fields(place, q))
            }
            ArgValue::Expr(_) => false,
        })
    }

    /// Whether a place is part of what an enum holds, and not of a shadow.
    pub(super) fn is_value_of_enum(&self, place: &Place) -> bool {
        !self.is_shadow(place) && place.path.iter().any(|s| matches!(s, Step::Field(name) if name == PARTS))
    }

    pub fn place_argument(&mut self, place: &Place, mode: Mode) -> TokenStream {
        let reach = if mode == Mode::Read { Reach::Read } else { Reach::Write };
        let p = self.p;
        let reached = self.place(place, reach);
        if place.path.is_empty() && self.repr(place.var) == Repr::Function {
            return reached;
        }
        match (self.is_array(place), reach) {
            (true, Reach::Read) => quote!(#p::Pass::pass(#reached.share())),
            (true, Reach::Write | Reach::Atomic) => quote!(#p::Pass::pass(#reached)),
            (false, Reach::Read) => self.reference(place, quote!(&#reached)),
            (false, Reach::Write | Reach::Atomic) => self.reference(place, quote!(&mut #reached)),
        }
    }

    /// A reference to a value at a place as an argument: where the value may be a fixed-size array, the
    /// parameter may be a slice or a view.
    fn reference(&self, place: &Place, reference: TokenStream) -> TokenStream {
        let p = self.p;
        match self.function.type_at(place) {
            Some(ty) if ty.is_fixed() => quote!(#p::Pass::pass(#reference)),
            Some(ty) if is_unknown(&ty) && self.shaped.contains(&place.var) => {
                quote!(#p::Pass::pass(#reference))
            }
            None if !place.path.is_empty() => quote!(#p::Pass::pass(#reference)),
            Some(_) | None => reference,
        }
    }

    fn value_argument(&mut self, e: &Expr) -> TokenStream {
        match &e.kind {
            ExprKind::Named(_) => {
                let value = self.expr(e);
                quote!(&#value)
            }
            ExprKind::Function(path) => self.function_value(path),
            ExprKind::Read(place) => self.place_argument(place, Mode::Read),
            _ => {
                let value = self.expr(e);
                quote!(&(#value))
            }
        }
    }

    fn invoke(&mut self, callee: &Callee, direction: Direction, args: &[TokenStream]) -> TokenStream {
        let (p, cx) = (self.p, self.context(direction));
        match callee {
            Callee::Path(text) => {
                let width = (direction.adjoint > 0).then(|| quote!(#p::Width::<__N>,));
                let (path, generics) = self.callee_path(text, direction);
                let mut program = program_name(of_callee(text, direction));
                let at = self.source.callees.get(&*bare_callee(text)).and_then(|path| path.segments.last());
                program.set_span(
                    at.map_or_else(Span::call_site, |s| s.ident.span()).resolved_at(Span::call_site()),
                );
                quote!(#path.#program #generics (#cx, #width #(#args),*))
            }
            Callee::Param(var) => {
                let name = self.name(*var);
                if direction.adjoint == 0 {
                    let method = ident(if direction.inverse { "inverse" } else { "forward" });
                    return quote!(#p::Reversible::#method(#name, #cx, (#(#args,)*)));
                }
                let of_adjoint = self.is_pullback(*var);
                let method = ident(match (of_adjoint, direction.transposed, direction.inverse) {
                    (true, _, false) => "adjoint_tangents",
                    (true, _, true) => "adjoint_tangents_inverse",
                    (false, false, false) => "adjoint",
                    (false, false, true) => "adjoint_inverse",
                    (false, true, false) => "tangents",
                    (false, true, true) => "tangents_inverse",
                });
                let each = if of_adjoint { 4 } else { 2 };
                let lists = (0..each).map(|k| {
                    let args = args.iter().skip(k).step_by(each);
                    quote!((#(#args,)*))
                });
                quote!(#p::Reversible::#method(#name, #cx, #p::Width::<__N>, #(#lists),*))
            }
        }
    }

    /// Whether a variable that is a function stands for the function's adjoint: it is the function itself.
    fn is_pullback(&self, var: VarId) -> bool {
        matches!(&self.function.var(var).ty, Type::Function(name) if name.is(Derived::Pullback))
    }

    /// The programs of a function, and the generic arguments that the call gives.
    pub fn callee_path(&self, text: &FunctionPath, direction: Direction) -> (TokenStream, TokenStream) {
        let (path, given) = self.callee_generics(text, direction);
        let width = (direction.adjoint > 0).then(|| quote!(, __N));
        (path, given.map(|args| quote!(::<#args _ #width>)).unwrap_or_default())
    }

    /// The programs of a function, and the source's generic arguments as they stand: `T, K,`.
    pub fn callee_generics(
        &self,
        text: &FunctionPath,
        direction: Direction,
    ) -> (TokenStream, Option<TokenStream>) {
        let text = bare_callee(text);
        let Some(path) = self.source.callees.get(&*text) else {
            return (parsed(text.as_str()), None);
        };
        let path = &match direction.transposed {
            true => of_path(path, derived::Kind::Tangent),
            false => path.clone(),
        };
        let given = match split_derived(path).0.segments.last().map(|s| &s.arguments) {
            Some(syn::PathArguments::AngleBracketed(a)) if !a.args.is_empty() => {
                let args = a.args.iter();
                Some(quote!(#(#args,)*))
            }
            _ => None,
        };
        (programs(self.p, self.source, path, Kind::Reversible), given)
    }

    /// Records what a call left in an ancilla.
    fn see_argument(&mut self, arg: &Arg) -> TokenStream {
        match &arg.value {
            ArgValue::Place(place) if arg.mode != Mode::Read => match self.repr(place.var) {
                Repr::Handle => self.lose_sight(place.var),
                _ => {
                    let name = self.place(&Place::var(place.var), Reach::Read);
                    self.see(place.var, quote!(&#name))
                }
            },
            ArgValue::Place(_) | ArgValue::Expr(_) => TokenStream::new(),
        }
    }
}

/// Whether only rustc knows a type, of which there may be the shadow.
pub fn is_unknown(ty: &Type) -> bool {
    match ty {
        Type::Shadow(of) => is_unknown(of),
        ty => *ty == Type::Unknown,
    }
}

/// The name of one of a function's programs.
pub fn program_name(direction: Direction) -> proc_macro2::Ident {
    ident(match (direction.adjoint, direction.transposed, direction.inverse) {
        (0, _, false) => "__forward",
        (0, _, true) => "__inverse",
        (_, false, false) => "__adjoint",
        (_, false, true) => "__adjoint_inverse",
        (1, true, false) => "__tangents",
        (1, true, true) => "__tangents_inverse",
        (_, true, false) => "__adjoint_tangents",
        (_, true, true) => "__adjoint_tangents_inverse",
    })
}

/// The path of a called function, without what says that its adjoint is meant.
pub fn bare_callee(path: &FunctionPath) -> Cow<'_, FunctionPath> {
    path.without(Derived::Pullback).map_or(Cow::Borrowed(path), Cow::Owned)
}

/// Which program of the function at the bare path a call means.
pub fn of_callee(path: &FunctionPath, direction: Direction) -> Direction {
    match path.is(Derived::Pullback) {
        true => Direction { inverse: direction.inverse, ..Direction::TANGENTS_OF_ADJOINT },
        false => direction,
    }
}

fn places(args: &[Arg]) -> impl Iterator<Item = (&Place, Mode)> {
    args.iter().filter_map(|a| match &a.value {
        ArgValue::Place(p) => Some((p, a.mode)),
        ArgValue::Expr(_) => None,
    })
}

/// Whether two places part at a field, with nothing but fields before.
fn split_by_fields(a: &Place, b: &Place) -> bool {
    for (s, t) in a.path.iter().zip(&b.path) {
        match (s, t) {
            (Step::Field(f), Step::Field(g)) if f != g => return true,
            (Step::Element(k), Step::Element(l)) if k != l => return true,
            (Step::Re, Step::Im) | (Step::Im, Step::Re) => return true,
            (Step::Index(_) | Step::Part(_), _) | (_, Step::Index(_) | Step::Part(_)) => return false,
            _ => {}
        }
    }
    false
}
