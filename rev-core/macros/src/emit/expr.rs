//! Expressions and places.

use std::borrow::Cow;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use rev_compiler::check::overlap::{overlap, Overlap};
use rev_compiler::ir::{
    Axis, Class, Expr, ExprKind, FunctionPath, Number, Place, Rank, ScalarType, Step, Type, VarId, PARTS,
};
use rev_compiler::ops::{Func, Shape};

use super::body::{parsed, Body, Repr};
use super::names::ident;
use super::types::rust_type;

/// Whether a place is reached for reading or for writing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Its value is read.
    Read,
    /// It is changed.
    Write,
    /// It is an element that several tasks add to: its cell.
    Atomic,
}

impl Body<'_> {
    /// The value of an expression.
    pub fn expr(&mut self, e: &Expr) -> TokenStream {
        let p = self.p;
        match &e.kind {
            ExprKind::Literal(n, ty) => self.literal(*n, ty.as_ref()),
            ExprKind::Named(path) => self.constant_path(path),
            ExprKind::Function(path) => self.function_value(path),
            ExprKind::Const(name) => {
                let name = ident(name);
                quote!(#name)
            }
            ExprKind::Read(place) => self.value(place),
            ExprKind::Len(place, axis) => self.len(place, *axis),
            ExprKind::Func(func, args) => self.func(*func, args),
            ExprKind::Pure(path, args) => self.pure_call(path, 0, args),
            ExprKind::Partials(path, args) => self.pure_call(path, 1, args),
            ExprKind::Cast(e, ty) => self.cast(e, ty),
            ExprKind::If(c, a, b) => {
                let arms = self.arms(e.span, c);
                let (c, a, b) = (self.expr(c), self.expr(a), self.expr(b));
                quote!(if #c { #arms #a } else { #b })
            }
            ExprKind::Block(lets, e) => self.expr_block(lets, e),
            ExprKind::Element(e, k) => {
                let (e, k) = (self.expr(e), Literal::u32_unsuffixed(*k));
                quote!((#e).#k)
            }
            ExprKind::Tuple(es) => {
                let es = self.exprs(es);
                quote!((#(#es,)*))
            }
            ExprKind::Array(es) => {
                let es = self.exprs(es);
                quote!([#(#es),*])
            }
            ExprKind::Repeat(e, n) => {
                let (e, n) = (self.expr(e), self.constant_length(n));
                quote!([#e; #n])
            }
            ExprKind::Zero(ty) => match rust_type(ty, p) {
                Some(ty) => quote!(<#ty as #p::Zero>::zero()),
                None => quote!(#p::Zero::zero()),
            },
            ExprKind::ZeroShadow(place) => self.zero_shadow(place),
            ExprKind::ZeroLike(place) => {
                let reached = self.place(place, Reach::Read);
                quote!(#p::Primal::zero_like(&#reached))
            }
            ExprKind::EmptyStack => quote!(#p::Stack::new()),
            ExprKind::Contract(formula, factors) => self.contraction_value(formula, factors),
            // an array of run-time shape is only ever the start of an ancilla
            ExprKind::Fill(e, _) => self.expr(e),
        }
    }

    /// The values of several expressions.
    pub fn exprs(&mut self, es: &[Expr]) -> Vec<TokenStream> {
        es.iter().map(|e| self.expr(e)).collect()
    }

    /// A call of a pure function at a path, of which so many partial derivatives are meant; it fails where it divides an
    /// integer by zero.
    fn pure_call(&mut self, path: &FunctionPath, partials: usize, args: &[Expr]) -> TokenStream {
        let p = self.p;
        let program = self.pure_program(path, partials, false);
        let args = self.exprs(args);
        let failure = self.fail(|at| quote!(#p::fail::zero_divisor(#at)));
        quote!(match #program(#(#args),*) {
            __Some(__r) => __r,
            __None => #failure,
        })
    }

    /// An expression as an index, of which the type is known.
    fn index(&mut self, e: &Expr) -> TokenStream {
        match &e.kind {
            ExprKind::Literal(Number::Int(v), None) if *v >= 0 => {
                let v = Literal::i128_unsuffixed(*v);
                quote!(#v)
            }
            _ => self.expr(e),
        }
    }

    fn literal(&self, n: Number, ty: Option<&Type>) -> TokenStream {
        let p = self.p;
        let of = ty.and_then(|t| rust_type(t, p));
        let turbofish = of.map(|t| quote!(::<#t>));
        match (n, ty) {
            (Number::Bool(b), _) => quote!(#b),
            (Number::Int(v), Some(Type::Scalar(s))) if is_primitive_int(*s) => {
                let (digits, suffix) = (v.unsigned_abs().to_string(), s.name());
                signed(v < 0, &format!("{digits}{suffix}"))
            }
            (Number::Int(v), _) => {
                let v = signed(v < 0, &v.unsigned_abs().to_string());
                quote!(__f::lit_int #turbofish (#v))
            }
            (Number::Float(v), ty) => {
                let v = float(v);
                match ty {
                    Some(Type::Scalar(ScalarType::F64)) => v,
                    _ => quote!(__f::lit_f64 #turbofish (#v)),
                }
            }
        }
    }

    /// The length of a fixed-size array: it has to be a constant of Rust.
    pub fn constant_length(&mut self, n: &Expr) -> TokenStream {
        match &n.kind {
            ExprKind::Literal(Number::Int(v), _) => {
                let v = Literal::i128_unsuffixed(*v);
                quote!(#v)
            }
            ExprKind::Named(path) => self.constant_path(path),
            _ => self.expr(n),
        }
    }

    fn len(&mut self, place: &Place, axis: Option<u32>) -> TokenStream {
        let p = self.p;
        let array = match self.lane_array(place) {
            Some(array) => array,
            None => self.place(place, Reach::Read),
        };
        match axis {
            None => quote!(#p::Extents::count(&#array)),
            Some(k) => {
                let k = k as usize;
                quote!(#p::Extents::extent(&#array, #k))
            }
        }
    }

    fn func(&mut self, func: Func, args: &[Expr]) -> TokenStream {
        let p = self.p;
        let values = match func {
            Func::Eq | Func::Ne | Func::Lt | Func::Le | Func::Gt | Func::Ge
                if args.iter().all(is_of_literals) =>
            {
                self.exprs(&typed_literals(args))
            }
            _ => args.iter().zip(func.row().args).map(|(e, shape)| self.argument(e, *shape)).collect(),
        };
        match (func, values.as_slice()) {
            (Func::And, [a, b]) => quote!((#a && #b)),
            (Func::Or, [a, b]) => quote!((#a || #b)),
            (Func::Not, [a]) => quote!((!#a)),
            (Func::Quot | Func::Rem, [a, b]) => {
                let name = ident(if func == Func::Quot { "try_quot" } else { "try_rem" });
                let failure = self.fail(|at| quote!(#p::fail::zero_divisor(#at)));
                quote!(match __f::#name(#a, #b) {
                    __Some(__q) => __q,
                    __None => #failure,
                })
            }
            (Func::ShadowOf, _) => quote!(__f::shadow_of::<_, __N>(#(#values),*)),
            _ => {
                let name = ident(func.name());
                quote!(__f::#name(#(#values),*))
            }
        }
    }

    /// An argument of a function of the table. The exponent of a whole power is an `i32`.
    fn argument(&mut self, e: &Expr, shape: Shape) -> TokenStream {
        match e.kind {
            ExprKind::Literal(n, None) if shape == Shape::I => {
                self.literal(n, Some(&Type::Scalar(ScalarType::I32)))
            }
            _ => self.expr(e),
        }
    }

    /// The exponent of a whole power, where the function leaves its type open.
    pub fn exponent(&mut self, e: &Expr) -> TokenStream {
        let n = self.argument(e, Shape::I);
        match e.kind {
            ExprKind::Literal(_, None) => n,
            _ => quote!({ let __n: i32 = #n; __n }),
        }
    }

    fn cast(&mut self, e: &Expr, ty: &Type) -> TokenStream {
        let p = self.p;
        let value = self.expr(&settled(e));
        let to = rust_type(ty, p).unwrap_or_else(|| quote!(_));
        match ty {
            Type::Shadow(_) => quote!(__f::cast_shadow::<#to, _>(#value)),
            _ => quote!(__f::cast::<_, #to>(#value)),
        }
    }

    fn expr_block(&mut self, lets: &[(VarId, Expr)], e: &Expr) -> TokenStream {
        let mut out = TokenStream::new();
        for (var, value) in lets {
            let value = self.expr(value);
            let (name, ty) = (self.name(*var), self.annotation(*var));
            self.set(*var, Repr::Value);
            out.extend(quote!(let #name #ty = #value;));
        }
        let e = self.expr(e);
        quote!({ #out #e })
    }

    /// A copy of the value at a place.
    pub fn value(&mut self, place: &Place) -> TokenStream {
        let reached = self.place(place, Reach::Read);
        if place.path.is_empty() && self.repr(place.var) == Repr::Function {
            return reached;
        }
        if self.function.type_at(place).is_some_and(|t| t.is_scalar()) {
            return reached;
        }
        quote!(__copy(&#reached))
    }

    fn zero_shadow(&mut self, place: &Place) -> TokenStream {
        let p = self.p;
        if place.path.is_empty() && self.repr(place.var) == Repr::Function {
            return quote!(#p::NoShadow::<()>::NEW);
        }
        let reached = self.place(place, Reach::Read);
        quote!(#p::Primal::zero_shadow::<__N>(&#reached))
    }

    /// The Rust place that a place is: what can stand behind `&` or `&mut`, or before `.field`. A
    /// whole array is its handle.
    pub fn place(&mut self, place: &Place, reach: Reach) -> TokenStream {
        let name = self.name(place.var);
        let mut out = match self.repr(place.var) {
            Repr::Value | Repr::Owned | Repr::Handle | Repr::Function => quote!(#name),
            Repr::Ref | Repr::Mut => quote!((*#name)),
        };
        let lent = self.lent_element(place);
        let skipped = usize::from(lent.is_some());
        if let (Some(element), Some(Step::Index(index))) = (lent, place.path.first()) {
            out = self.lent_place(&element, &out, index, place);
        }
        for (depth, step) in place.path.iter().enumerate().skip(skipped) {
            out = match step {
                Step::Field(f) if f == PARTS && !self.is_shadow(place) => {
                    let p = self.p;
                    match reach {
                        Reach::Read => quote!(#p::Variants::parts(&#out)),
                        Reach::Write | Reach::Atomic => quote!((*#p::Variants::parts_mut(&mut #out))),
                    }
                }
                Step::Field(f) => {
                    let f = ident(f);
                    quote!(#out.#f)
                }
                Step::Element(k) => {
                    let k = Literal::u32_unsuffixed(*k);
                    quote!(#out.#k)
                }
                Step::Re => quote!(#out.re),
                Step::Im => quote!(#out.im),
                Step::Index(index) => self.element(out, index, place, depth, reach),
                Step::Part(axes) => self.part(out, axes, place, depth, reach),
            };
        }
        out
    }

    /// An element behind a check of its index.
    pub fn element(
        &mut self,
        array: TokenStream,
        index: &[Expr],
        place: &Place,
        depth: usize,
        reach: Reach,
    ) -> TokenStream {
        let p = self.p;
        let method = ident(match reach {
            Reach::Read => "rd",
            Reach::Write => "wr",
            Reach::Atomic => "at",
        });
        let surely = reach != Reach::Atomic && self.is_surely_there(index, place, depth);
        let index: Vec<_> = index.iter().map(|e| self.index(e)).collect();
        if surely {
            return quote!(#array #([#index])*);
        }
        let shown = self.show(place);
        let absent = self.fail(|at| quote!(__x.error(#at, #shown)));
        let reach_at = |index: TokenStream| {
            quote!(match #array.#method([#index]) {
                __Ok(__e) => __e,
                __Err(__x) => #absent,
            })
        };
        let claims = self.is_claimed(place, depth) && !self.is_taken(place);
        let found = if claims {
            let names: Vec<_> = (0..index.len()).map(|k| ident(&format!("__i{k}"))).collect();
            let sizes = (0..index.len()).map(|k| quote!(#p::Extents::extent(&#array, #k)));
            let position = quote!(#p::claims::position([#(#names),*], [#(#sizes),*]));
            let (claims, access) =
                (self.claims(place, depth, &quote!(take), &position), reach_at(quote!(#(#names),*)));
            quote!({ #(let #names = #index;)* #claims #access })
        } else {
            reach_at(quote!(#(#index),*))
        };
        match reach {
            Reach::Read | Reach::Write => quote!((*#found)),
            Reach::Atomic => found,
        }
    }

    /// Whether an element of a fixed-size array is there as the program says it, and is reached without a handle or a claim.
    fn is_surely_there(&self, index: &[Expr], place: &Place, depth: usize) -> bool {
        let array = Place { path: place.path[..depth].to_vec(), ..place.clone() };
        let length = self.function.type_at(&array).and_then(|ty| ty.literal_length());
        let known = |e: &Expr| match e.kind {
            ExprKind::Literal(Number::Int(k), None) => {
                length.is_some_and(|n| (0..i128::from(n)).contains(&k))
            }
            _ => false,
        };
        let direct = depth > 0 || self.repr(place.var) != Repr::Handle;
        direct && index.iter().all(known) && !self.is_claimed(place, depth)
    }

    /// Whether iterations claim what they access there.
    fn is_claimed(&self, place: &Place, depth: usize) -> bool {
        depth == 0 && self.around.claimed.iter().any(|(var, ..)| *var == place.var)
    }

    /// After a statement that surely claims an element it needn't be claimed again in the same block.
    pub fn has_claimed(&mut self, place: &Place) {
        let Some(Step::Index(index)) = place.path.first() else { return };
        let fixed = |q: &Place| q.path.is_empty() && self.repr(q.var) == Repr::Value;
        let known = index.iter().flat_map(|e| e.reads()).all(fixed) && !self.is_taken(place);
        if self.is_claimed(place, 0) && known {
            self.taken.push(Place { path: place.path.iter().take(1).cloned().collect(), ..place.clone() });
        }
    }

    /// Whether the iteration has claimed an element, among the last ones: the search mustn't grow with the program.
    fn is_taken(&self, place: &Place) -> bool {
        const LAST: usize = 32;
        let head = Place { path: place.path.iter().take(1).cloned().collect(), ..place.clone() };
        let mut last = self.taken.iter().rev().take(LAST);
        last.any(|taken| overlap(taken, &head, &self.values) == Overlap::Equal)
    }

    /// Claims elements for the iteration, where the program declares what can't be proven.
    fn claims(
        &mut self,
        place: &Place,
        depth: usize,
        take: &TokenStream,
        elements: &TokenStream,
    ) -> TokenStream {
        let p = self.p;
        let on = |(var, _): &&(VarId, VarId)| *var == place.var && depth == 0;
        let claimed: Vec<_> = self.around.claimed.iter().filter(on).copied().collect();
        let mut out = TokenStream::new();
        for (_, index) in claimed {
            let shown = self.show(place);
            let [claims, mark] = self.claim_names(place.var, index);
            let other = "an element that another iteration uses";
            let failure = self.fail(|at| quote!(#p::fail::aliased(#at, #shown, #other)));
            let claimed = quote!(#claims.#take(#elements, #mark));
            out.extend(quote!(if __claiming && !#claimed { #failure }));
        }
        out
    }

    /// An element behind a handle of its own, which is missing where the index is out of range.
    fn lent_place(
        &mut self,
        element: &proc_macro2::Ident,
        array: &TokenStream,
        index: &[Expr],
        place: &Place,
    ) -> TokenStream {
        let p = self.p;
        let (index, shown) = (self.exprs(index), self.show(place));
        let absent = self.fail(|at| quote!(#p::fail::Absent::of(&#array, [#(#index),*]).error(#at, #shown)));
        quote!((*match #element {
            __Some(__e) => __e.get(),
            __None => #absent,
        }))
    }

    /// A part of an array, as a handle.
    fn part(
        &mut self,
        array: TokenStream,
        axes: &[Axis],
        place: &Place,
        depth: usize,
        reach: Reach,
    ) -> TokenStream {
        let taken: Vec<TokenStream> = axes.iter().map(|axis| self.taken(axis)).collect();
        let array = self.handle_of(array, place, depth, reach);
        let claims = self.claims(place, depth, &quote!(take_part), &quote!((&__t, &__a)));
        self.part_of(array, &taken, place, &claims, None)
    }

    /// A handle to the array at the first steps of a place.
    pub fn handle_of(&self, array: TokenStream, place: &Place, depth: usize, reach: Reach) -> TokenStream {
        let p = self.p;
        match (depth == 0 && self.repr(place.var) == Repr::Handle, reach) {
            (true, _) => array,
            (false, Reach::Read) => quote!(#p::Lend::reader(&#array)),
            (false, Reach::Write | Reach::Atomic) => quote!(#p::Lend::writer(&mut #array)),
        }
    }

    /// A part of an array behind a check of what is taken; of the array of a lane, where one is given.
    pub fn part_of(
        &mut self,
        array: TokenStream,
        taken: &[TokenStream],
        place: &Place,
        claims: &TokenStream,
        lane: Option<TokenStream>,
    ) -> TokenStream {
        let (p, shown) = (self.p, self.show(place));
        let make = |at: TokenStream| quote!(#p::fail::part_out_of_range(#at, #shown, &__t, &__a));
        let absent = match lane {
            Some(lane) => self.failing_at(lane, make),
            None => self.fail(make),
        };
        // how many axes are left, which only the type says
        let part = match self.function.type_at(place).and_then(|ty| rank_of(&ty)) {
            Some(Rank::Fixed(rank)) => {
                let rank = Literal::usize_unsuffixed(rank.into());
                quote!(__a.part::<_, #rank>(__t))
            }
            Some(Rank::Dynamic) => quote!(__a.part::<_, 0>(__t)),
            None => {
                let drops = |step: &Step| match step {
                    Step::Part(axes) => axes.iter().filter(|a| matches!(a, Axis::At(_))).count(),
                    Step::Field(_) | Step::Element(_) | Step::Index(_) | Step::Re | Step::Im => 0,
                };
                let dropped = Literal::usize_unsuffixed(place.path.last().map_or(0, drops));
                quote!(#p::Without::<#dropped>::left(__a, __t))
            }
        };
        quote!({
            let (__t, __a) = ([#(#taken),*], #array);
            #claims
            match #part {
                __Some(__s) => __s,
                __None => #absent,
            }
        })
    }

    /// What a part takes of an axis.
    pub fn taken(&mut self, axis: &Axis) -> TokenStream {
        let p = self.p;
        match axis {
            Axis::At(e) => {
                let e = self.expr(e);
                quote!(#p::Taken::At(#e))
            }
            Axis::Range(from, to) => {
                let (from, to) = (self.expr(from), self.expr(to));
                quote!(#p::Taken::Range(#from, #to))
            }
            Axis::Whole => quote!(#p::Taken::Whole),
        }
    }
}

fn rank_of(ty: &Type) -> Option<Rank> {
    match ty {
        Type::Array(_, rank) => Some(*rank),
        Type::Shadow(t) => rank_of(t),
        _ => None,
    }
}

/// Whether an expression is made of numbers without a type, so that it takes its own from what stands beside it: also where
/// conditions choose between them.
pub fn is_of_literals(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Literal(n, ty) => ty.is_none() && !matches!(n, Number::Bool(_)),
        ExprKind::Func(_, args) => args.iter().all(is_of_literals),
        ExprKind::If(_, a, b) => is_of_literals(a) && is_of_literals(b),
        ExprKind::Block(_, e) => is_of_literals(e),
        _ => false,
    }
}

/// An expression where nothing else gives it a type, as in a conversion: one of literals only has them typed.
pub fn settled(e: &Expr) -> Cow<'_, Expr> {
    match is_of_literals(e) {
        true => Cow::Owned(typed_literals(std::slice::from_ref(e)).remove(0)),
        false => Cow::Borrowed(e),
    }
}

/// Such expressions side by side, where nothing else has a type: whole numbers, or `f64`s.
fn typed_literals(es: &[Expr]) -> Vec<Expr> {
    fn is_real(e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Literal(Number::Float(_), _) => true,
            ExprKind::Func(f, args) => {
                matches!(f.row().class, Class::Field | Class::Real) || args.iter().any(is_real)
            }
            ExprKind::If(_, a, b) => is_real(a) || is_real(b),
            ExprKind::Block(_, e) => is_real(e),
            _ => false,
        }
    }
    fn give(e: &mut Expr, ty: ScalarType) {
        match &mut e.kind {
            ExprKind::Literal(Number::Int(_) | Number::Float(_), own) => *own = Some(Type::Scalar(ty)),
            // exponents and the like have a type of their own
            ExprKind::Func(f, args) => args
                .iter_mut()
                .zip(f.row().args)
                .filter(|(_, shape)| **shape != Shape::I)
                .for_each(|(arg, _)| give(arg, ty)),
            ExprKind::If(_, a, b) => [a, b].into_iter().for_each(|e| give(e, ty)),
            ExprKind::Block(_, e) => give(e, ty),
            _ => {}
        }
    }
    let ty = if es.iter().any(is_real) { ScalarType::F64 } else { ScalarType::I128 };
    let mut typed = es.to_vec();
    typed.iter_mut().for_each(|e| give(e, ty));
    typed
}

fn is_primitive_int(s: ScalarType) -> bool {
    s.class() == Class::Integer
}

fn signed(negative: bool, digits: &str) -> TokenStream {
    let literal = parsed(digits);
    if negative {
        quote!((-#literal))
    } else {
        literal
    }
}

fn float(v: f64) -> TokenStream {
    if v.is_nan() {
        return quote!(::core::f64::NAN);
    }
    let magnitude = if v.is_infinite() {
        quote!(::core::f64::INFINITY)
    } else {
        let literal = Literal::f64_suffixed(v.abs());
        quote!(#literal)
    };
    if v.is_sign_negative() {
        quote!((-#magnitude))
    } else {
        magnitude
    }
}
