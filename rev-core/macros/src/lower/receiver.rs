//! Functions of types: `x.f(..)`, `S::f(..)`.
//!
//! A function of a type is found through the type, with its arguments; both are taken from what `x` is.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use rev_compiler::diag::Code;
use rev_compiler::ir::{
    Arg, ArgValue, Callee, Direction, Expr, ExprKind, Mode, Place, StmtKind, Type, VarKind,
};

use super::{strip, Lowerer};
use crate::emit::rust_type;
use crate::model::Receiver;
use crate::types::{function_path, is_type_name, path_name};

/// Tokens at one position.
fn at(tokens: TokenStream, span: Span) -> TokenStream {
    let placed = |mut tree: TokenTree| {
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), at(group.stream(), span)).into();
        }
        tree.set_span(span);
        tree
    };
    tokens.into_iter().map(placed).collect()
}

impl Lowerer {
    /// `x.f(..);` for a struct `x`, `None` where it isn't known to be one.
    pub(super) fn receiver_call(&mut self, m: &syn::ExprMethodCall) -> Option<Option<StmtKind>> {
        let place = match self.receiver(&m.receiver)? {
            Some(place) => place,
            None => return Some(None),
        };
        let path = self.function_of(&self.type_of_place(&place), &m.method)?;
        Some(self.call_of(path, place, m))
    }

    fn call_of(&mut self, path: syn::Path, place: Place, m: &syn::ExprMethodCall) -> Option<StmtKind> {
        let callee = function_path(&path);
        let mode = match strip(&m.receiver) {
            syn::Expr::Reference(r) if r.mutability.is_none() => Mode::Read,
            syn::Expr::Reference(_) => Mode::Write,
            _ if self.is_changeable(&place) => {
                let (name, span) = (m.receiver.to_token_stream().to_string(), place.span);
                self.source.receivers.push(Receiver { callee: callee.clone(), name, span });
                Mode::Write
            }
            _ => Mode::Read,
        };
        self.source.callees.entry(callee.clone()).or_insert(path);
        let mut args = vec![Arg { mode, value: ArgValue::Place(place) }];
        args.extend(self.arguments(&m.args)?);
        self.changes_something(m, &args)?;
        Some(StmtKind::Call { callee: Callee::Path(callee), direction: Direction::FORWARD, args })
    }

    /// `x.f(..)` as a value for a struct `x`, `None` where it isn't known to be one.
    pub(super) fn receiver_value(&mut self, m: &syn::ExprMethodCall) -> Option<Option<Expr>> {
        let place = match self.receiver(&m.receiver)? {
            Some(place) => place,
            None => return Some(None),
        };
        let path = self.function_of(&self.type_of_place(&place), &m.method)?;
        let args = self.exprs(&m.args);
        let pure = function_path(&path);
        self.source.pures.entry(pure.clone()).or_insert(path);
        Some(args.map(|args| {
            let all = std::iter::once(Expr::read(place)).chain(args).collect();
            Expr::new(ExprKind::Pure(pure, all))
        }))
    }

    /// The receiver where it is a struct; `Some(None)` after an error.
    fn receiver(&mut self, e: &syn::Expr) -> Option<Option<Place>> {
        let reported = self.diagnostics.0.len();
        match self.try_place(e) {
            Some(Some(place)) if matches!(self.type_of_place(&place), Type::Struct(..)) => Some(Some(place)),
            Some(_) => {
                // it is read again as something else
                self.diagnostics.0.truncate(reported);
                None
            }
            None => (self.diagnostics.0.len() > reported).then_some(None),
        }
    }

    /// Whether a place can be changed at all.
    fn is_changeable(&self, place: &Place) -> bool {
        matches!(self.var(place.var).kind, VarKind::Param(Mode::Write) | VarKind::Ancilla)
    }

    /// `S::<T>::f` for a receiver of a struct's type.
    pub(super) fn function_of(&self, ty: &Type, name: &proc_macro2::Ident) -> Option<syn::Path> {
        let mut path = self.struct_path(ty)?;
        path.segments.push(syn::PathSegment { ident: name.clone(), arguments: syn::PathArguments::None });
        // an error about the type's function stands at its name
        syn::parse2(at(path.to_token_stream(), name.span())).ok()
    }

    /// A struct's type with its arguments, as a path of an expression.
    fn struct_path(&self, ty: &Type) -> Option<syn::Path> {
        let Type::Struct(name, args) = ty else { return None };
        let p = crate::runtime::path();
        let tokens = match args.is_empty() {
            true => return syn::parse_str(name).ok(),
            false => rust_type(ty, &p)?,
        };
        syn::parse2(tokens).ok()
    }

    /// `S::f` with the arguments of `S`, where they are left out and an argument of the call is one.
    pub(super) fn with_arguments(&self, path: syn::Path, args: &[Arg]) -> syn::Path {
        let n = path.segments.len();
        let Some(of) = n.checked_sub(2).and_then(|k| path.segments.get(k)) else { return path };
        if !of.arguments.is_none() || !is_type_name(&of.ident.to_string()) {
            return path;
        }
        let mut bare = path.clone();
        bare.segments.pop();
        bare.segments.pop_punct();
        let name = path_name(&bare);
        let of_type = |arg: &Arg| {
            let ty = match &arg.value {
                ArgValue::Place(place) => self.type_of_place(place),
                ArgValue::Expr(e) => self.type_of(e),
            };
            match &ty {
                Type::Struct(found, args) if *found == name && !args.is_empty() => self.struct_path(&ty),
                _ => None,
            }
        };
        let Some(mut whole) = args.iter().find_map(of_type) else { return path };
        whole.segments.extend(path.segments.last().cloned());
        whole
    }

    /// Reports a method of something that isn't known to be a struct.
    pub(super) fn unknown_receiver<T>(&mut self, m: &syn::ExprMethodCall) -> Option<T> {
        let name = &m.method;
        self.error_help(
            Code::UnknownCall,
            name,
            format!("nothing is known about what the method `{name}` changes"),
            format!(
                "write a function of a type as `S::{name}(&mut x, ..)`; other code that leaves the program's variables alone \
                 belongs into a block: `#[external] {{ ... }}`"
            ),
        )
    }
}
