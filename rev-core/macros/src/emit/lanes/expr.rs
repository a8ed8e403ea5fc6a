//! Expressions whose values differ between lanes.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use rev_compiler::ir::{Expr, ExprKind, FunctionPath, Place, ScalarType, Type, VarId};
use rev_compiler::ops::{Func, Shape};

use super::super::body::{Body, Repr};
use super::super::expr::settled;
use super::super::names::ident;
use super::super::pure::LANED_ORDERS;
use super::super::types::rust_type;
use super::Kind;

impl Body<'_> {
    /// The value of an expression, and how it is held.
    pub fn lane_expr(&mut self, e: &Expr) -> (TokenStream, Kind) {
        if !self.varies(e) {
            return (self.expr(e), Kind::Uniform);
        }
        let linear = self.lane.as_ref().is_some_and(|lane| lane.varying.is_linear(e));
        if linear {
            return (self.linear(e), Kind::Linear);
        }
        (self.varying_expr(e), Kind::Pack)
    }

    /// The value of an expression as a pack.
    pub fn pack(&mut self, e: &Expr) -> TokenStream {
        match self.lane_expr(e) {
            (value, Kind::Uniform) => quote!(__l::broadcast(__s, #value)),
            (value, Kind::Linear) => quote!(__l::spread(__s, #value)),
            (value, Kind::Pack) => value,
        }
    }

    fn packs(&mut self, es: &[Expr]) -> Vec<TokenStream> {
        es.iter().map(|e| self.pack(e)).collect()
    }

    /// The loop's variable, or that and a uniform number.
    fn linear(&mut self, e: &Expr) -> TokenStream {
        match &e.kind {
            ExprKind::Read(q) => {
                let name = self.name(q.var);
                quote!(#name)
            }
            ExprKind::Func(func, args) => {
                let [a, b] = args.as_slice() else {
                    return self.defect("a number of arguments that a loop's variable can't have");
                };
                let first = self.varies(a);
                let (of, by) = if first { (a, b) } else { (b, a) };
                let (of, by) = (self.linear(of), self.expr(by));
                if *func == Func::Sub {
                    quote!((#of).minus(#by))
                } else {
                    quote!((#of).plus(#by))
                }
            }
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Len(..)
            | ExprKind::Pure(..)
            | ExprKind::Partials(..)
            | ExprKind::Cast(..)
            | ExprKind::If(..)
            | ExprKind::Block(..)
            | ExprKind::Element(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Repeat(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::ZeroShadow(_)
            | ExprKind::ZeroLike(_)
            | ExprKind::EmptyStack
            | ExprKind::Contract(..) => self.defect("a value that isn't linear in a loop's variable"),
        }
    }

    fn varying_expr(&mut self, e: &Expr) -> TokenStream {
        let p = self.p;
        match &e.kind {
            ExprKind::Read(place) => self.lane_value(place),
            ExprKind::Func(func, args) => self.lane_func(*func, args),
            ExprKind::Pure(path, args) => self.lane_pure(path, 0, args),
            ExprKind::Partials(path, args) => self.lane_pure(path, 1, args),
            ExprKind::Cast(e, ty) => {
                let (value, to) = (self.pack(&settled(e)), rust_type(ty, p).unwrap_or_else(|| quote!(_)));
                match ty {
                    Type::Shadow(_) => quote!(__l::cast_shadow::<_, #to, _>(__s, #value)),
                    _ => quote!(__l::cast::<_, _, #to>(__s, #value)),
                }
            }
            ExprKind::If(c, a, b) => self.lane_choice(c, a, b),
            ExprKind::Block(lets, e) => self.lane_names(lets, e),
            ExprKind::Element(e, k) => {
                let (e, k) = (self.pack(e), Literal::u32_unsuffixed(*k));
                quote!((#e).0.#k)
            }
            ExprKind::Tuple(es) => {
                let es = self.packs(es);
                quote!(__l::tuple((#(#es,)*)))
            }
            ExprKind::Array(es) => {
                let es = self.packs(es);
                quote!(__l::array([#(#es),*]))
            }
            ExprKind::Repeat(e, n) => {
                let (e, n) = (self.pack(e), self.constant_length(n));
                quote!(__l::repeat::<_, #n>(#e))
            }
            ExprKind::ZeroShadow(place) => {
                let value = self.lane_value(place);
                quote!(__l::zero_shadow::<_, _, __N>(__s, &#value))
            }
            ExprKind::ZeroLike(place) => {
                let value = self.lane_value(place);
                quote!(__l::zero_like(__s, &#value))
            }
            // the same for all lanes
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Len(..)
            | ExprKind::Zero(_)
            | ExprKind::EmptyStack
            | ExprKind::Contract(..)
            | ExprKind::Fill(..) => {
                let value = self.expr(e);
                quote!(__l::broadcast(__s, #value))
            }
        }
    }

    fn lane_func(&mut self, func: Func, args: &[Expr]) -> TokenStream {
        let p = self.p;
        let mask = self.mask();
        match (func, args) {
            (Func::And | Func::Or, [a, b]) => self.lane_logic(func, a, b),
            (Func::Quot | Func::Rem, [a, b]) => {
                let name = ident(if func == Func::Quot { "quotient" } else { "remainder" });
                let (a, b) = (self.pack(a), self.pack(b));
                let failure = self.failing_at(quote!(__lane), |at| quote!(#p::fail::zero_divisor(#at)));
                quote!(match __l::#name(__s, #mask, #a, #b) {
                    __Ok(__q) => __q,
                    __Err(__lane) => #failure,
                })
            }
            _ => {
                let name = ident(func.name());
                let counts = (func == Func::ShadowOf).then(|| quote!(::<_, _, __N>));
                let shapes = func.row().args;
                let values: Vec<TokenStream> = args
                    .iter()
                    .zip(shapes)
                    .map(|(e, shape)| match shape {
                        Shape::I if !self.varies(e) => self.exponent(e),
                        _ => self.pack(e),
                    })
                    .collect();
                quote!(__l::#name #counts (__s, #(#values),*))
            }
        }
    }

    /// `a && b` and `a || b`: the second is evaluated where the first doesn't decide.
    fn lane_logic(&mut self, func: Func, a: &Expr, b: &Expr) -> TokenStream {
        let (outside, open, name) = (self.mask(), self.fresh("open"), ident(func.name()));
        let keep = ident(if func == Func::And { "within" } else { "without" });
        let a = self.pack(a);
        let b = self.masked(&open, |body| body.where_any(b));
        quote!({
            let __a = #a;
            let #open = __l::#keep(__s, #outside, &__a);
            let __b = #b;
            __l::#name(__s, __a, __b)
        })
    }

    /// A value of the lanes of the mask, which may be none: nothing that could fail is evaluated then.
    fn where_any(&mut self, e: &Expr) -> TokenStream {
        let mask = self.mask();
        let value = self.pack(e);
        if e.can_fail() {
            quote!(if __l::any(&#mask) { #value } else { __l::zero(__s) })
        } else {
            value
        }
    }

    fn lane_choice(&mut self, c: &Expr, a: &Expr, b: &Expr) -> TokenStream {
        if !self.varies(c) {
            let (c, a, b) = (self.expr(c), self.pack(a), self.pack(b));
            return quote!(if #c { #a } else { #b });
        }
        let (outside, then, otherwise) = (self.mask(), self.fresh("then"), self.fresh("else"));
        let c = self.pack(c);
        let a = self.masked(&then, |body| body.where_any(a));
        let b = self.masked(&otherwise, |body| body.where_any(b));
        quote!({
            let __c = #c;
            let #then = __l::within(__s, #outside, &__c);
            let #otherwise = __l::without(__s, #outside, &__c);
            let __a = #a;
            let __b = #b;
            __l::select(__s, &__c, __a, __b)
        })
    }

    fn lane_names(&mut self, lets: &[(VarId, Expr)], e: &Expr) -> TokenStream {
        let mut out = TokenStream::new();
        for (var, value) in lets {
            let value = match self.kind(*var) {
                Kind::Pack => self.pack(value),
                Kind::Uniform | Kind::Linear => self.lane_expr(value).0,
            };
            let (name, ty) = (self.name(*var), self.lane_annotation(*var));
            self.set(*var, Repr::Value);
            out.extend(quote!(let #name #ty = #value;));
        }
        let e = self.pack(e);
        quote!({ #out #e })
    }

    /// A pure function: by its program for lanes, or lane by lane where its derivatives have none.
    fn lane_pure(&mut self, path: &FunctionPath, partials: usize, args: &[Expr]) -> TokenStream {
        let (p, mask) = (self.p, self.mask());
        let in_lanes = path.taken_partials().1 + partials <= LANED_ORDERS;
        let program = self.pure_program(path, partials, in_lanes);
        let (before, call) = if in_lanes {
            let args = self.packs(args);
            (TokenStream::new(), quote!(#program(__s, #mask, #(#args),*)))
        } else {
            let mut before = TokenStream::new();
            let mut given = Vec::new();
            for e in args {
                let held = self.fresh("arg");
                let (value, kind) = self.lane_expr(e);
                before.extend(quote!(let #held = #value;));
                given.push(match kind {
                    Kind::Uniform => quote!(::core::clone::Clone::clone(&#held)),
                    Kind::Linear => quote!(#held.at(__k)),
                    Kind::Pack => quote!(__l::get(&#held, __k)),
                });
            }
            (before, quote!(__l::each(__s, #mask, |__k| #program(#(#given),*))))
        };
        let failure = self.failing_at(quote!(__lane), |at| quote!(#p::fail::zero_divisor(#at)));
        quote!({
            #before
            match #call {
                __Ok(__r) => __r,
                __Err(__lane) => #failure,
            }
        })
    }

    /// `: T` where the type of a variable is known, as it is held.
    pub fn lane_annotation(&self, var: VarId) -> Option<TokenStream> {
        let p = self.p;
        match self.kind(var) {
            Kind::Uniform => self.annotation(var),
            Kind::Linear => None,
            Kind::Pack => {
                let known = rust_type(&self.function.var(var).ty, p);
                known.map(|t| quote!(: __l::Pack<#t>))
            }
        }
    }

    /// The number of an index for each axis: names for its values, and how each is held.
    pub fn lane_index(&mut self, index: &[Expr]) -> (TokenStream, Vec<proc_macro2::Ident>) {
        let mut lets = TokenStream::new();
        let mut names = Vec::new();
        for e in index {
            if let Some(name) = self.index_by_name(e) {
                names.push(name);
                continue;
            }
            let name = self.fresh("i");
            let (value, kind) = self.lane_expr(e);
            let ty = match kind {
                Kind::Uniform => quote!(: usize),
                Kind::Linear => quote!(: __l::Lin<usize>),
                Kind::Pack => quote!(: __l::Pack<usize>),
            };
            lets.extend(quote!(let #name #ty = #value;));
            names.push(name);
        }
        (lets, names)
    }

    /// The name of an index that is a variable alone, which nothing has to be computed for.
    fn index_by_name(&self, e: &Expr) -> Option<proc_macro2::Ident> {
        let ExprKind::Read(Place { var, path, .. }) = &e.kind else { return None };
        let is_index = self.function.var(*var).ty == Type::Scalar(ScalarType::Usize);
        let is_value = self.repr(*var) == Repr::Value && self.kind(*var) != Kind::Pack;
        (path.is_empty() && is_index && is_value).then(|| self.name(*var))
    }
}
