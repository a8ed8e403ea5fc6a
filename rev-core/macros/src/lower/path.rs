//! Calls in expressions: functions of the table, associated functions of scalars (`T::zero()`),
//! lengths, arrays, and `#[pure]` functions.

use rev_compiler::diag::Code;
use rev_compiler::ir::{Class, Expr, ExprKind, GenericKind, Number, Place, ScalarType, Type};
use rev_compiler::ops::Func;

use super::call::wrong_count;
use super::checkpoint::zero_of;
use super::composed::composed;
use super::{plain_name, strip, Lowerer};
use crate::types::{function_path, is_type_name, path_text};

/// Whether a function of the table isn't one that the source spells as an operator, or that only adjoints use.
pub(super) fn is_named_in_source(f: Func) -> bool {
    use Func::*;
    !matches!(
        f,
        Add | Sub
            | Mul
            | Div
            | Neg
            | Quot
            | Rem
            | BitAnd
            | BitOr
            | BitXor
            | Shl
            | Shr
            | Eq
            | Ne
            | Lt
            | Le
            | Gt
            | Ge
            | And
            | Or
            | Not
            | Differentiable
            | PowiDerivative
            | ArgGradient
            | Unit
            | Scale
            | Absorb
            | ScaleReal
            | ShadowOf
            | ShadowConj
            | ShadowRe
            | ShadowIm
            | ShadowFromRe
            | ShadowFromIm
    )
}

/// The function of the table that a name in the source means, the standard library's names among them.
fn table_function(name: &str) -> Option<Func> {
    match name {
        "exp_m1" => Some(Func::Expm1),
        "ln_1p" => Some(Func::Log1p),
        "norm_sqr" => Some(Func::Abs2),
        "inv" => Some(Func::Recip),
        _ => Func::from_name(name).filter(|f| is_named_in_source(*f)),
    }
}

/// Whether a name is that of a function of the language.
pub(super) fn is_function(name: &str) -> bool {
    table_function(name).is_some() || composed(name).is_some()
}

/// Methods of integers that are operators here, because integer arithmetic wraps.
fn wrapping_method(name: &str) -> Option<Func> {
    match name {
        "wrapping_add" => Some(Func::Add),
        "wrapping_sub" => Some(Func::Sub),
        "wrapping_mul" => Some(Func::Mul),
        "wrapping_neg" => Some(Func::Neg),
        _ => None,
    }
}

impl Lowerer {
    /// `f(..)`, `T::f(..)`
    pub(super) fn call_expr(&mut self, c: &syn::ExprCall) -> Option<Expr> {
        let syn::Expr::Path(p) = strip(&c.func) else {
            return match strip(&c.func) {
                syn::Expr::Closure(_) => self.rejected(&c.func, Code::UnsupportedExpression, ""),
                f => self.error(Code::UnknownCall, f, "only functions can be called, by their names"),
            };
        };
        if let Some(ident) = p.path.get_ident() {
            let name = plain_name(ident);
            if let Some(var) = self.lookup(&name) {
                if self.unread.contains(&var) {
                    return None;
                }
                return self.error_help(
                    Code::UnknownCall,
                    p,
                    format!("`{name}` can't be called in an expression"),
                    "call it as a statement, with an ancilla for its result",
                );
            }
            if name == "zeros" && c.args.len() == 1 {
                let shape = self.shape(&c.args[0])?;
                // without a place, by which a literal that is written is told apart
                return Some(fill(Expr::int(0), shape));
            }
            if name == "zeros_like" && c.args.len() == 1 {
                return self.place(&c.args[0]).map(|place| Expr::new(ExprKind::ZeroLike(place)));
            }
            if let Some(func) = table_function(&name) {
                return self.table_call(func, c.args.iter(), p);
            }
            if let Some((arguments, value)) = composed(&name) {
                let args = self.exprs(&c.args)?;
                return match args.len() == arguments {
                    true => self.compose(value, args),
                    false => self.error(Code::ArgumentCount, p, wrong_count(&name, arguments, args.len())),
                };
            }
            if let Some(product) = self.array_call(&name, c) {
                return product;
            }
        }
        match self.associated_type(p) {
            Some((ty, name)) => self.associated(ty, &name, c, p),
            None if p.qself.is_some() => {
                self.error(Code::UnknownCall, p, "this function isn't part of the language")
            }
            None => {
                let args = self.exprs(&c.args)?;
                let path = function_path(&p.path);
                self.source.pures.entry(path.clone()).or_insert_with(|| p.path.clone());
                Some(Expr::new(ExprKind::Pure(path, args)))
            }
        }
    }

    /// A function of the table with its arguments.
    fn table_call<'a>(
        &mut self,
        func: Func,
        args: impl Iterator<Item = &'a syn::Expr>,
        at: &impl quote::ToTokens,
    ) -> Option<Expr> {
        let args = self.exprs(args)?;
        self.table_apply(func, args, at)
    }

    fn table_apply(&mut self, func: Func, args: Vec<Expr>, at: &impl quote::ToTokens) -> Option<Expr> {
        let expected = func.row().args.len();
        if args.len() != expected {
            let message = wrong_count(func.name(), expected, args.len());
            return self.error(Code::ArgumentCount, at, message);
        }
        if let [Expr { kind: ExprKind::Literal(n, None), .. }] = args.as_slice() {
            if let Some(part) = part_of_number(func, *n) {
                return Some(Expr::new(ExprKind::Literal(part, None)));
            }
        }
        self.has_complex |= func == Func::Complex;
        Some(Expr::func(func, args))
    }

    /// The type and the name in `T::zero`, `Complex::<T>::new`, `<T as Ring>::one`.
    fn associated_type(&mut self, p: &syn::ExprPath) -> Option<(Type, String)> {
        let name = plain_name(&p.path.segments.last()?.ident);
        if let Some(q) = &p.qself {
            return self.read_type(&q.ty).map(|t| (t, name));
        }
        if p.path.segments.len() < 2 {
            return None;
        }
        let mut prefix = p.path.clone();
        prefix.segments.pop();
        prefix.segments.pop_punct();
        let last = prefix.segments.last()?.ident.to_string();
        let generic = prefix.get_ident().is_some_and(|i| self.is_scalar_generic(i));
        let real =
            last == "Real" && prefix.segments.len() == 2 && self.is_scalar_generic(&prefix.segments[0].ident);
        if generic || real || ScalarType::from_name(&last).is_some() {
            let ty = syn::Type::Path(syn::TypePath { qself: None, path: prefix });
            return self.read_type(&ty).map(|t| (t, name));
        }
        let bare = prefix.segments.last().is_some_and(|s| s.arguments.is_none());
        match last.as_str() {
            "Complex" if bare => Some((Type::Complex(Box::new(Type::Unknown)), name)),
            "Stack" if bare => Some((Type::Stack(Box::new(Type::Unknown)), name)),
            _ if bare && last.starts_with("Array") && matches!(name.as_str(), "zeros" | "from_elem") => {
                Some((Type::Array(Box::new(Type::Unknown), rev_compiler::ir::Rank::Dynamic), name))
            }
            _ if is_type_name(&last) => {
                let ty = syn::Type::Path(syn::TypePath { qself: None, path: prefix });
                self.read_type(&ty).map(|t| (t, name))
            }
            _ => None,
        }
    }

    fn is_scalar_generic(&self, ident: &syn::Ident) -> bool {
        self.function.generics.iter().any(|g| *ident == g.name && matches!(g.kind, GenericKind::Scalar(_)))
    }

    /// An associated function of a type.
    fn associated(&mut self, ty: Type, name: &str, c: &syn::ExprCall, p: &syn::ExprPath) -> Option<Expr> {
        if let Type::Struct(..) = ty {
            return match (name, c.args.len()) {
                ("zero", 0) => Some(Expr::new(ExprKind::Zero(ty))),
                _ => {
                    let args = self.exprs(&c.args)?;
                    let path = function_path(&p.path);
                    self.source.pures.entry(path.clone()).or_insert_with(|| p.path.clone());
                    Some(Expr::new(ExprKind::Pure(path, args)))
                }
            };
        }
        let known = (!matches!(&ty, Type::Complex(r) if **r == Type::Unknown)).then(|| ty.clone());
        let literal = |n| Some(Expr::new(ExprKind::Literal(n, known.clone())));
        match (name, c.args.len(), &ty) {
            ("zero", 0, Type::Tuple(_) | Type::Fixed(..)) => Some(Expr::new(ExprKind::Zero(ty))),
            ("zero", 0, Type::Scalar(ScalarType::Bool)) => literal(Number::Bool(false)),
            ("zero", 0, _) => literal(Number::Int(0)),
            ("one", 0, _) => literal(Number::Int(1)),
            ("pi", 0, _) => literal(Number::Float(std::f64::consts::PI)),
            ("e", 0, _) => literal(Number::Float(std::f64::consts::E)),
            ("infinity", 0, _) => literal(Number::Float(f64::INFINITY)),
            ("neg_infinity", 0, _) => literal(Number::Float(f64::NEG_INFINITY)),
            ("epsilon", 0, Type::Scalar(_) | Type::Generic(_))
                if ty.class(&self.function.generics) == Some(Class::Real) =>
            {
                Some(epsilon(&ty))
            }
            ("max_value" | "min_value", 0, Type::Scalar(_)) => {
                let mut path = p.clone();
                let last = path.path.segments.last_mut()?;
                last.ident = syn::Ident::new(if name == "max_value" { "MAX" } else { "MIN" }, last.ident.span());
                self.path_expr(&path)
            }
            ("max_value" | "min_value", 0, Type::Generic(_)) => {
                let class = ty.class(&self.function.generics);
                match extreme(&ty, class, name == "max_value") {
                    Some(value) => Some(value),
                    None => self.error_help(
                        Code::UnknownCall,
                        p,
                        "what the largest number of this type parameter is isn't known",
                        "ask more of the parameter (`T: Real`, `T: Integer`), or pass the number as an argument",
                    ),
                }
            }
            ("i", 0, Type::Complex(r)) => {
                let part = (**r != Type::Unknown).then(|| (**r).clone());
                let number = |n| Expr::new(ExprKind::Literal(Number::Int(n), part.clone()));
                Some(Expr::func(Func::Complex, vec![number(0), number(1)]))
            }
            ("new", 0, Type::Stack(_)) => Some(Expr::new(ExprKind::EmptyStack)),
            ("new", 2, Type::Complex(_)) => self.table_call(Func::Complex, c.args.iter(), p),
            ("zeros", 1, Type::Array(element, _)) => {
                let shape = self.shape(&c.args[0])?;
                let zero = match &**element {
                    Type::Unknown => Expr::int(0),
                    element => zero_of(element),
                };
                Some(fill(zero, shape))
            }
            ("from_elem", 2, Type::Array(..)) => {
                let shape = self.shape(&c.args[0])?;
                Some(fill(self.expr(&c.args[1])?, shape))
            }
            _ if is_conversion(name) && c.args.len() == 1 => {
                let value = self.expr(&c.args[0])?;
                Some(convert(value, ty))
            }
            _ => match table_function(name).or_else(|| wrapping_method(name)) {
                Some(func) => self.table_call(func, c.args.iter(), p),
                None => self.error_help(
                    Code::UnknownCall,
                    p,
                    format!("`{}` isn't part of the language", path_text(&p.path)),
                    "`T::zero()`, `T::one()`, `T::pi()`, `T::epsilon()`, `T::infinity()`, `T::max_value()`, `T::from_f64(c)` and `T::from_usize(n)` are",
                ),
            },
        }
    }

    /// The lengths in `n` or `(n, m)`.
    fn shape(&mut self, e: &syn::Expr) -> Option<Vec<Expr>> {
        match strip(e) {
            syn::Expr::Tuple(t) => self.exprs(&t.elems),
            syn::Expr::Array(a) => self.exprs(&a.elems),
            e => Some(vec![self.expr(e)?]),
        }
    }

    /// `x.f(..)`
    pub(super) fn method_expr(&mut self, m: &syn::ExprMethodCall) -> Option<Expr> {
        let name = plain_name(&m.method);
        if let Some(axis) = self.length_axis(&name, m) {
            let axis = axis?;
            let place = match self.table(&m.receiver)? {
                Some(table) => table,
                None => self.place(&m.receiver)?,
            };
            return Some(Expr::new(ExprKind::Len(place, axis)));
        }
        if name == "is_empty" && m.args.is_empty() {
            let place = self.place(&m.receiver)?;
            let length = Expr::new(ExprKind::Len(place, None));
            return Some(Expr::func(Func::Eq, vec![length, Expr::index(0)]));
        }
        if !is_function(&name) && wrapping_method(&name).is_none() {
            if let Some(value) = self.receiver_value(m) {
                return value;
            }
        }
        let receiver = self.expr(&m.receiver);
        let args = self.exprs(&m.args);
        let (receiver, args) = (receiver?, args?);
        let func = table_function(&name).or_else(|| wrapping_method(&name)).filter(|f| *f != Func::Select);
        let all: Vec<Expr> = std::iter::once(receiver).chain(args).collect();
        match (func, composed(&name)) {
            (Some(func), _) => self.table_apply(func, all, &m.method),
            (None, Some((arguments, value))) if all.len() == arguments => self.compose(value, all),
            (None, _) => self.error_help(
                Code::UnknownCall,
                &m.method,
                format!("the method `{name}` isn't part of the language"),
                in_place_of_method(&name),
            ),
        }
    }

    /// The axis that a length method asks for, `None` for another method; the inner `None` stands
    /// for an error.
    #[allow(clippy::option_option)]
    fn length_axis(&mut self, name: &str, m: &syn::ExprMethodCall) -> Option<Option<Option<u32>>> {
        match (name, m.args.len()) {
            ("len", 0) => Some(Some(None)),
            ("nrows", 0) => Some(Some(Some(0))),
            ("ncols", 0) => Some(Some(Some(1))),
            ("dim", 1) => Some(self.axis(&m.args[0]).map(Some)),
            ("len_of", 1) => match strip(&m.args[0]) {
                syn::Expr::Call(c) if super::update::is_named(&c.func, "Axis") && c.args.len() == 1 => {
                    Some(self.axis(&c.args[0]).map(Some))
                }
                other => Some(self.error(Code::UnsupportedExpression, other, "an axis is `Axis(k)`")),
            },
            _ => None,
        }
    }

    pub(super) fn axis(&mut self, e: &syn::Expr) -> Option<u32> {
        match strip(e) {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(n), .. }) => n.base10_parse().ok(),
            _ => None,
        }
        .or_else(|| self.error(Code::UnsupportedExpression, e, "an axis is a number: 0, 1, .."))
    }

    /// `x.shape()[k]` and `x.dim().k`, `None` for anything else.
    #[allow(clippy::option_option)]
    pub(super) fn shape_part(&mut self, e: &syn::Expr) -> Option<Option<Expr>> {
        let (receiver, axis) = match strip(e) {
            syn::Expr::Index(i) => (shape_receiver(&i.expr, "shape")?, self.axis(&i.index)),
            syn::Expr::Field(f) => match &f.member {
                syn::Member::Unnamed(k) => (shape_receiver(&f.base, "dim")?, Some(k.index)),
                syn::Member::Named(_) => return None,
            },
            _ => return None,
        };
        let place: Option<Place> = self.place(receiver);
        Some(place.zip(axis).map(|(p, k)| Expr::new(ExprKind::Len(p, Some(k)))))
    }
}

/// The array in `x.shape()` or `x.dim()`.
fn shape_receiver<'a>(e: &'a syn::Expr, method: &str) -> Option<&'a syn::Expr> {
    match strip(e) {
        syn::Expr::MethodCall(m) if m.method == method && m.args.is_empty() => Some(&m.receiver),
        _ => None,
    }
}

/// A part of a complex number that is a literal, and so a real one. Its part would be of another type, which
/// nothing says.
pub(super) fn part_of_number(func: Func, n: Number) -> Option<Number> {
    let x = match n {
        Number::Int(v) => v as f64,
        Number::Float(v) => v,
        Number::Bool(_) => return None,
    };
    match func {
        Func::Re => Some(n),
        Func::Im => Some(Number::Int(0)),
        Func::Abs2 => Some(Number::Float(x * x)),
        Func::Norm => Some(Number::Float(x.abs())),
        Func::Arg => Some(Number::Float(if x < 0.0 { std::f64::consts::PI } else { 0.0 })),
        _ => None,
    }
}

fn fill(value: Expr, shape: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::Fill(Box::new(value), shape))
}

/// The distance from 1 to the next number of a type, as `|3 (4/3 - 1) - 1|`: a third isn't a number of any type that
/// rounds to binary digits, and three times what it lacks is one digit (W. Kahan).
fn epsilon(ty: &Type) -> Expr {
    let number = |n| Expr::new(ExprKind::Literal(Number::Int(n), Some(ty.clone())));
    let third = Expr::func(Func::Sub, vec![Expr::func(Func::Div, vec![number(4), number(3)]), number(1)]);
    let nearly = Expr::func(Func::Mul, vec![number(3), third]);
    Expr::func(Func::Abs, vec![Expr::func(Func::Sub, vec![nearly, number(1)])])
}

/// The largest or the smallest number of a type parameter: of those that the largest of the widest types become in it
/// the first that is one.
fn extreme(ty: &Type, class: Option<Class>, largest: bool) -> Option<Expr> {
    let literal = |n, of: &Type| Expr::new(ExprKind::Literal(n, Some(of.clone())));
    let zero = || literal(Number::Int(0), ty);
    let less = |a, b| Expr::func(Func::Lt, vec![a, b]);
    match class? {
        Class::Real => {
            let sign = if largest { 1.0 } else { -1.0 };
            let widest = [f64::MAX, f32::MAX.into(), 3.389_531_389_251_535_5e38, 65504.0];
            let mut numbers = widest.into_iter().rev().map(|n| literal(Number::Float(sign * n), ty));
            let narrowest = numbers.next()?;
            Some(numbers.fold(narrowest, |narrower, n| {
                // infinity less infinity isn't 0
                let rest = Expr::func(Func::Sub, vec![n.clone(), n.clone()]);
                Expr::func(Func::Eq, vec![rest, zero()]).choose(n, narrower)
            }))
        }
        Class::Integer => {
            // a number with too many bits becomes -1
            let widest = [i128::MAX, i64::MAX.into(), i32::MAX.into(), i16::MAX.into(), i8::MAX.into()];
            let wide = Type::Scalar(ScalarType::I128);
            let mut numbers = widest
                .into_iter()
                .rev()
                .map(|n| Expr::new(ExprKind::Cast(Box::new(literal(Number::Int(n), &wide)), ty.clone())));
            let narrowest = numbers.next()?;
            let signed = numbers.fold(narrowest, |narrower, n| less(zero(), n.clone()).choose(n, narrower));
            let all_bits = Expr::func(Func::Sub, vec![zero(), literal(Number::Int(1), ty)]);
            let is_unsigned = less(zero(), all_bits.clone());
            Some(match largest {
                true => is_unsigned.choose(all_bits, signed),
                false => is_unsigned.choose(zero(), Expr::func(Func::Sub, vec![all_bits, signed])),
            })
        }
        Class::Scalar | Class::Ring | Class::Field => None,
    }
}

/// What to write for a method of Rust that isn't one of the language.
fn in_place_of_method(name: &str) -> &'static str {
    match name {
        "pow" => "a power of a real number is `x.powi(n)` or `x.powf(p)`",
        "get" => "an element is `x[i]`; whether there is one is checked",
        "iter" | "iter_mut" | "into_iter" | "sum" | "product" | "windows" | "chunks" | "zip" => {
            "loop over the indices, and accumulate: `for i in 0..x.len() { y += x[i]; }`"
        }
        _ => "write a `#[pure]` function of what it computes",
    }
}

fn is_conversion(name: &str) -> bool {
    matches!(name, "from" | "from_num" | "from_index" | "from_int" | "cast_from" | "from_real")
        || name.strip_prefix("from_").is_some_and(|t| ScalarType::from_name(t).is_some())
}

/// A literal of a type, or a conversion to it.
fn convert(value: Expr, ty: Type) -> Expr {
    match value.kind {
        ExprKind::Literal(n, None) => Expr::new(ExprKind::Literal(n, Some(ty))),
        _ => Expr::new(ExprKind::Cast(Box::new(value), ty)),
    }
}
