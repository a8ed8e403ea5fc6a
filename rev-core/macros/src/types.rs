//! Rust types to IR types, from the tokens alone: paths are recognised by their last segment.

use quote::ToTokens;
use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{Class, FixedFormat, FunctionPath, GenericKind, Length, Rank, ScalarType, Type};
use syn::{Expr, GenericArgument, PathArguments};

use crate::model::{Form, Passing, Source};

/// The type parameters in scope.
pub type Generics = [rev_compiler::ir::Generic];

/// A parameter's declared type, taken apart.
pub struct Declared {
    /// By value or by reference.
    pub passing: Passing,
    /// What stands behind the reference.
    pub form: Form,
    /// The element type of array-like forms.
    pub element: Option<syn::Type>,
    /// The type in the IR.
    pub ty: Type,
}

/// Reads types, noting the structs it meets.
pub struct TypeReader<'a> {
    /// The type parameters in scope.
    pub generics: &'a Generics,
    /// Where struct types are noted.
    pub source: &'a mut Source,
}

type Found<T> = Result<T, Diagnostic>;

impl TypeReader<'_> {
    /// The type of a parameter.
    pub fn parameter(&mut self, ty: &syn::Type) -> Found<Declared> {
        match ty {
            syn::Type::Paren(t) => self.parameter(&t.elem),
            syn::Type::Group(t) => self.parameter(&t.elem),
            syn::Type::Reference(r) => {
                let passing = if r.mutability.is_some() { Passing::Exclusive } else { Passing::Shared };
                self.behind(passing, &r.elem)
            }
            _ => self.behind(Passing::Value, ty),
        }
    }

    fn behind(&mut self, passing: Passing, ty: &syn::Type) -> Found<Declared> {
        let ir = self.read(ty)?;
        let (form, element) = form_of(ty, &ir);
        let declared = Declared { passing, form, element, ty: ir };
        match (passing, form) {
            (Passing::Value, Form::Array | Form::Vec | Form::Stack | Form::Slice) => Err(Diagnostic::new(
                Code::UnsupportedType,
                self.source.spans.of(ty),
                "an owned array can't be a parameter: its elements could not be given back",
            )
            .help("take `&mut` or `&` of it, or a view of it")),
            (Passing::Exclusive, Form::View { mutable: false }) => Err(Diagnostic::new(
                Code::UnsupportedType,
                self.source.spans.of(ty),
                "the elements of an `ArrayView` can't be written through a reference to it",
            )
            .help("take the view by value to read, or an `ArrayViewMut` to write")),
            (Passing::Shared | Passing::Exclusive, Form::Function) => Err(Diagnostic::new(
                Code::UnsupportedType,
                self.source.spans.of(ty),
                "a reversible function is passed by value",
            )),
            _ => Ok(declared),
        }
    }

    /// Any other type.
    pub fn read(&mut self, ty: &syn::Type) -> Found<Type> {
        match ty {
            syn::Type::Paren(t) => self.read(&t.elem),
            syn::Type::Group(t) => self.read(&t.elem),
            syn::Type::Path(p) => self.path(p),
            syn::Type::Slice(s) => Ok(Type::Array(Box::new(self.part(&s.elem)?), Rank::Fixed(1))),
            syn::Type::Array(a) => Ok(Type::Fixed(Box::new(self.part(&a.elem)?), self.length(&a.len)?)),
            syn::Type::Tuple(t) => {
                t.elems.iter().map(|t| self.part(t)).collect::<Found<_>>().map(Type::Tuple)
            }
            syn::Type::Reference(r) => Err(self.unsupported(r, "a reference inside a type")),
            syn::Type::ImplTrait(t) => Err(self.unsupported(t, "`impl Trait` here")),
            syn::Type::Infer(_) => Ok(Type::Unknown),
            other => Err(self.unsupported(other, "this type")),
        }
    }

    /// A type that another one is made of.
    fn part(&mut self, ty: &syn::Type) -> Found<Type> {
        match self.read(ty)? {
            Type::Array(..) | Type::Stack(_) => Err(Diagnostic::new(
                Code::UnsupportedType,
                self.source.spans.of(ty),
                "an array of run-time shape, or a stack, can't be part of another value",
            )
            .help("use one array of more dimensions, one array with the places where its parts begin, or arrays of fixed size")),
            part => Ok(part),
        }
    }

    /// The type of what a stack keeps: also vectors.
    fn kept(&mut self, ty: &syn::Type) -> Found<Type> {
        match (ty, self.read(ty)?) {
            (syn::Type::Path(p), array @ Type::Array(..))
                if p.path.segments.last().is_some_and(|s| s.ident == "Vec") =>
            {
                Ok(array)
            }
            _ => self.part(ty),
        }
    }

    fn path(&mut self, ty: &syn::TypePath) -> Found<Type> {
        if ty.qself.is_some() {
            return Ok(Type::Unknown);
        }
        let Some(last) = ty.path.segments.last() else { return Err(self.unsupported(ty, "this type")) };
        let name = last.ident.to_string();
        let args = type_arguments(&last.arguments);
        if let Some(generic) = self.generic(&ty.path) {
            return Ok(generic);
        }
        if let (Some(scalar), true) = (ScalarType::from_name(&name), args.is_empty()) {
            return Ok(Type::Scalar(scalar));
        }
        if let Some(bits) = FixedFormat::bits_of(&name) {
            return self.fixed(ty, bits, &args);
        }
        match name.as_str() {
            "Complex" => Ok(Type::Complex(Box::new(self.argument(ty, &args)?))),
            "Complex32" => Ok(Type::Complex(Box::new(Type::Scalar(ScalarType::F32)))),
            "Complex64" => Ok(Type::Complex(Box::new(Type::Scalar(ScalarType::F64)))),
            "Vec" => Ok(Type::Array(Box::new(self.argument(ty, &args)?), Rank::Fixed(1))),
            "Stack" => Ok(Type::Stack(Box::new(args.first().map_or(Ok(Type::Unknown), |t| self.kept(t))?))),
            "Option" => {
                self.argument(ty, &args)?;
                self.structure(ty, &last.arguments)
            }
            "Self" => Err(self.unsupported(ty, "`Self`")),
            _ if NEVER.contains(&name.as_str()) => Err(self.unsupported(ty, &format!("`{name}`"))),
            _ => match array_rank(&name, &args) {
                Some(rank) => Ok(Type::Array(Box::new(self.argument(ty, &args)?), rank)),
                None => self.structure(ty, &last.arguments),
            },
        }
    }

    /// `FixedI64<U20>`.
    fn fixed(&mut self, ty: &syn::TypePath, bits: u32, args: &[syn::Type]) -> Found<Type> {
        let fraction = match args {
            [syn::Type::Path(p)] => {
                p.path.segments.last().and_then(|last| FixedFormat::fraction_of(&last.ident.to_string()))
            }
            _ => None,
        };
        match fraction.and_then(|fraction| FixedFormat::new(bits, fraction)) {
            Some(format) => Ok(Type::Scalar(ScalarType::Fixed(format))),
            None => Err(Diagnostic::new(
                Code::UnsupportedType,
                self.source.spans.of(ty),
                format!("a fixed-point number of {bits} bits without a fraction from `U0` to `U{}`", bits - 2),
            )
            .help("write how many bits are behind the point, `FixedI64<U20>`: of all bits two are left, for the sign and the number one")),
        }
    }

    /// `T` for a type parameter, and the unnameable `T::Real`.
    fn generic(&self, path: &syn::Path) -> Option<Type> {
        let first = path.segments.first()?;
        let generic = self.generics.iter().find(|g| first.ident == g.name)?;
        match (&generic.kind, path.segments.len()) {
            (GenericKind::Function(_), _) => Some(Type::Function(generic.name.as_str().into())),
            (GenericKind::Scalar(_), 1) => Some(Type::Generic(generic.name.clone())),
            (GenericKind::Scalar(Class::Real), 2) if path.segments[1].ident == "Real" => {
                Some(Type::Generic(generic.name.clone()))
            }
            (GenericKind::Scalar(_), _) => Some(Type::Unknown),
            (GenericKind::Const, _) => None,
        }
    }

    fn is_const(&self, path: &syn::Path) -> bool {
        let is =
            |name: &syn::Ident| self.generics.iter().any(|g| *name == g.name && g.kind == GenericKind::Const);
        path.get_ident().is_some_and(is)
    }

    fn argument(&mut self, ty: &syn::TypePath, args: &[syn::Type]) -> Found<Type> {
        match args.first() {
            Some(t) => self.part(t),
            None => {
                let message = "a type whose element type isn't written isn't part of the language";
                Err(Diagnostic::new(Code::UnsupportedType, self.source.spans.of(ty), message)
                    .help("an array of zeros is `vec![0.0; n]`, what grows is a stack: `Stack::new()`, with `push(stack, x)`"))
            }
        }
    }

    /// A struct. A const argument is the name of a parameter, or a number as the length of a type without size.
    fn structure(&mut self, ty: &syn::TypePath, arguments: &PathArguments) -> Found<Type> {
        let mut args = Vec::new();
        if let PathArguments::AngleBracketed(written) = arguments {
            for argument in &written.args {
                match argument {
                    GenericArgument::Type(syn::Type::Path(t)) if self.is_const(&t.path) => {
                        args.push(Type::Generic(path_text(&t.path)));
                    }
                    GenericArgument::Type(t) => args.push(self.part(t)?),
                    GenericArgument::Const(n) => args.push(match self.length(n)? {
                        Length::Named(name) if self.generics.iter().any(|g| g.name == name) => {
                            Type::Generic(name)
                        }
                        length => Type::Fixed(Box::new(Type::Tuple(Vec::new())), length),
                    }),
                    _ => {}
                }
            }
        }
        let name = path_name(&ty.path);
        self.source.structs.entry(name.clone()).or_insert_with(|| syn::Type::Path(ty.clone()));
        Ok(Type::Struct(name, args))
    }

    /// The length in `[T; N]`.
    pub fn length(&mut self, len: &Expr) -> Found<Length> {
        match len {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(n), .. }) => {
                n.base10_parse().map(Length::Literal).map_err(|_| self.unsupported(len, "this length"))
            }
            Expr::Path(p) if p.qself.is_none() => Ok(Length::Named(path_text(&p.path))),
            Expr::Paren(e) => self.length(&e.expr),
            Expr::Group(e) => self.length(&e.expr),
            Expr::Block(syn::ExprBlock { block, .. }) => match block.stmts.as_slice() {
                [syn::Stmt::Expr(e, None)] => self.length(e),
                _ => Err(self.unsupported(len, "this length")),
            },
            Expr::Binary(_) | Expr::Call(_) | Expr::MethodCall(_) | Expr::Cast(_) => {
                self.computed_length(len)
            }
            _ => Err(self.not_a_length(len)),
        }
    }

    /// A length that is computed from constants: a constant whose path is the expression.
    fn computed_length(&mut self, len: &Expr) -> Found<Length> {
        if let Some(n) = number(len) {
            return Ok(Length::Literal(n));
        }
        let generics = self.generics;
        let tokens = len.to_token_stream();
        let named = |name: &str| {
            syn::parse_str::<syn::Ident>(name).is_ok_and(|name| crate::spans::mentions(tokens.clone(), &name))
        };
        if let Some(name) = generics.iter().map(|g| g.name.as_str()).chain(["Self"]).find(|name| named(name))
        {
            let message = format!("Rust has no length that is computed from the parameter `{name}`");
            return Err(Diagnostic::new(Code::UnsupportedType, self.source.spans.of(len), message).help(
                "give the length a parameter of its own (`const M: usize`), or take a slice and compare its `len()`",
            ));
        }
        let text = words(&tokens.to_string());
        self.source.constants.entry(text.clone()).or_insert_with(|| len.clone());
        Ok(Length::Named(text))
    }

    /// That a length isn't a constant.
    pub fn not_a_length(&mut self, len: &Expr) -> Diagnostic {
        let span = self.source.spans.of(len);
        Diagnostic::new(Code::UnsupportedType, span, "the length of a fixed-size array is a constant").help(
            "a number, a `const`, a const parameter, or what is computed from numbers and `const`s; an array of a length that the run gives is `vec![e; n]`",
        )
    }

    fn unsupported(&mut self, ty: &impl quote::ToTokens, what: &str) -> Diagnostic {
        let span = self.source.spans.of(ty);
        Diagnostic::new(Code::UnsupportedType, span, format!("{what} isn't part of the language")).help(
            "scalars, tuples, `[T; N]`, slices, `ndarray` views and arrays, `Stack<T>` and structs that derive `Reversible` are",
        )
    }
}

/// The value of a length that is written with numbers only.
fn number(len: &Expr) -> Option<u64> {
    match len {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(n), .. }) => n.base10_parse().ok(),
        Expr::Paren(e) => number(&e.expr),
        Expr::Group(e) => number(&e.expr),
        Expr::Binary(b) => {
            let (left, right) = (number(&b.left)?, number(&b.right)?);
            match b.op {
                syn::BinOp::Add(_) => left.checked_add(right),
                syn::BinOp::Sub(_) => left.checked_sub(right),
                syn::BinOp::Mul(_) => left.checked_mul(right),
                syn::BinOp::Div(_) => left.checked_div(right),
                syn::BinOp::Rem(_) => left.checked_rem(right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Types of the standard library that can't derive `Reversible`.
const NEVER: &[&str] = &[
    "Result", "String", "str", "char", "Box", "Rc", "Arc", "Cell", "RefCell", "VecDeque", "HashMap",
    "BTreeMap", "HashSet", "BTreeSet",
];

/// How the elements of a type are reached, and what they are.
pub fn form_of(ty: &syn::Type, ir: &Type) -> (Form, Option<syn::Type>) {
    match ty {
        syn::Type::Paren(t) => form_of(&t.elem, ir),
        syn::Type::Group(t) => form_of(&t.elem, ir),
        syn::Type::Slice(s) => (Form::Slice, Some((*s.elem).clone())),
        syn::Type::Path(p) => match (ir, p.path.segments.last()) {
            (Type::Function(_), _) => (Form::Function, None),
            (Type::Array(..) | Type::Stack(_), Some(last)) => {
                let name = last.ident.to_string();
                let element = type_arguments(&last.arguments).into_iter().next();
                let form = match name.as_str() {
                    "Vec" => Form::Vec,
                    "Stack" => Form::Stack,
                    _ if name.starts_with("ArrayViewMut") => Form::View { mutable: true },
                    _ if name.starts_with("ArrayView") => Form::View { mutable: false },
                    _ => Form::Array,
                };
                (form, element)
            }
            _ => (Form::Plain, None),
        },
        _ => (Form::Plain, None),
    }
}

/// The rank of `Array2`, `ArrayViewMutD`, `ArrayView<T, Ix3>` and so on.
fn array_rank(name: &str, args: &[syn::Type]) -> Option<Rank> {
    let dimension = ["ArrayViewMut", "ArrayView", "Array"].iter().find_map(|p| name.strip_prefix(p))?;
    match dimension {
        "D" => Some(Rank::Dynamic),
        "" => match args.get(1) {
            Some(syn::Type::Path(p)) => {
                let name = p.path.segments.last()?.ident.to_string();
                rank_digit(name.strip_prefix("Ix")?).or((name == "IxDyn").then_some(Rank::Dynamic))
            }
            _ => None,
        },
        digit => rank_digit(digit),
    }
}

fn rank_digit(digit: &str) -> Option<Rank> {
    match digit {
        "1" => Some(Rank::Fixed(1)),
        "2" => Some(Rank::Fixed(2)),
        "3" => Some(Rank::Fixed(3)),
        "4" => Some(Rank::Fixed(4)),
        _ => None,
    }
}

/// The type arguments among generic arguments, lifetimes and constants left out.
pub fn type_arguments(args: &PathArguments) -> Vec<syn::Type> {
    match args {
        PathArguments::AngleBracketed(a) => a
            .args
            .iter()
            .filter_map(|a| match a {
                GenericArgument::Type(t) => Some(t.clone()),
                _ => None,
            })
            .collect(),
        PathArguments::None | PathArguments::Parenthesized(_) => Vec::new(),
    }
}

/// Types are in camel case, modules and functions in snake case.
pub fn is_type_name(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(char::is_uppercase)
}

/// A path as one word, generic arguments included: `m::f::<T>`.
pub fn path_text(path: &syn::Path) -> String {
    words(&quote::quote!(#path).to_string())
}

/// Tokens without the spaces that aren't needed.
fn words(tokens: &str) -> String {
    let mut text = String::new();
    for word in tokens.split(' ') {
        let glued = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(glued) && word.starts_with(glued) {
            text.push(' ');
        }
        text += word;
    }
    text
}

/// The path of a function as programs hold it.
pub fn function_path(path: &syn::Path) -> FunctionPath {
    FunctionPath::new(&path_text(path))
}

/// A path without the generic arguments of its last segment: `m::S`.
pub fn path_name(path: &syn::Path) -> String {
    let mut bare = path.clone();
    if let Some(last) = bare.segments.last_mut() {
        last.arguments = PathArguments::None;
    }
    path_text(&bare)
}
