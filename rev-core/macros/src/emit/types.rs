//! IR types as Rust types.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{Length, Rank, ScalarType, Type};

use super::names::ident;

/// How the values of a type are held while a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A Rust value: scalars, tuples, fixed-size arrays, structs, stacks.
    Plain,
    /// Elements of run-time shape behind a handle.
    Array(Rank),
    /// A reversible function: a value without size.
    Function,
}

/// How the values of a type are held.
pub fn storage(ty: &Type) -> Storage {
    match ty {
        Type::Array(_, rank) => Storage::Array(*rank),
        Type::Function(_) => Storage::Function,
        Type::Shadow(t) => match storage(t) {
            Storage::Array(rank) => Storage::Array(rank),
            Storage::Plain | Storage::Function => Storage::Plain,
        },
        Type::Scalar(_)
        | Type::Generic(_)
        | Type::Complex(_)
        | Type::Fixed(..)
        | Type::Tuple(_)
        | Type::Struct(..)
        | Type::Stack(_)
        | Type::Unknown => Storage::Plain,
    }
}

/// The type of the numbers in a type, the first one that isn't exact; `None` where the source doesn't
/// say it.
pub fn number_type(ty: &Type) -> Option<Type> {
    match ty {
        Type::Scalar(_) | Type::Generic(_) => Some(ty.clone()),
        Type::Complex(t) | Type::Array(t, _) | Type::Fixed(t, _) | Type::Stack(t) => number_type(t),
        Type::Tuple(ts) => {
            let numbers = || ts.iter().filter_map(number_type);
            numbers().find(|t| !t.is_exact(&[])).or_else(|| numbers().next())
        }
        Type::Struct(..) | Type::Function(_) | Type::Shadow(_) | Type::Unknown => None,
    }
}

/// The Rust type of a value, `None` where the source doesn't say it. `p` is the runtime's module.
pub fn rust_type(ty: &Type, p: &TokenStream) -> Option<TokenStream> {
    Some(match ty {
        Type::Scalar(ScalarType::Fixed(format)) => {
            let (name, fraction) = (format!("FixedI{}", format.bits()), format!("U{}", format.fraction()));
            let (name, fraction) = (ident(&name), ident(&fraction));
            quote!(#p::#name<#p::fraction::#fraction>)
        }
        Type::Scalar(s) => {
            let name = ident(&s.name());
            if s.is_primitive() {
                quote!(#name)
            } else {
                quote!(#p::#name)
            }
        }
        Type::Generic(name) => {
            let name = ident(name);
            quote!(#name)
        }
        Type::Complex(t) => {
            let t = rust_type(t, p)?;
            quote!(#p::Complex<#t>)
        }
        Type::Fixed(t, len) => {
            let (t, len) = (rust_type(t, p)?, length(len)?);
            quote!([#t; #len])
        }
        Type::Tuple(ts) => {
            let ts = ts.iter().map(|t| rust_type(t, p)).collect::<Option<Vec<_>>>()?;
            quote!((#(#ts,)*))
        }
        Type::Struct(path, args) => {
            let path: syn::Path = syn::parse_str(path).ok()?;
            let args = args.iter().map(|t| argument(t, p)).collect::<Option<Vec<_>>>()?;
            if args.is_empty() {
                // its constants, if any, aren't in the IR
                return None;
            }
            quote!(#path::<#(#args),*>)
        }
        Type::Stack(t) => {
            let t = rust_type(t, p)?;
            quote!(#p::Stack<#t>)
        }
        Type::Shadow(t) => {
            let t = rust_type(t, p)?;
            quote!(<#t as #p::Primal>::Shadow<__N>)
        }
        Type::Array(..) | Type::Function(_) | Type::Unknown => return None,
    })
}

/// An argument of a struct's type: a number stands as the length of a type without size.
fn argument(ty: &Type, p: &TokenStream) -> Option<TokenStream> {
    match ty {
        Type::Fixed(of, len) if **of == Type::Tuple(Vec::new()) => length(len),
        ty => rust_type(ty, p),
    }
}

/// A length as an expression of Rust.
pub fn length(len: &Length) -> Option<TokenStream> {
    Some(match len {
        Length::Literal(n) => {
            let n = proc_macro2::Literal::usize_unsuffixed(usize::try_from(*n).ok()?);
            quote!(#n)
        }
        Length::Named(path) => {
            let path: syn::Expr = syn::parse_str(path).ok()?;
            quote!({ #path })
        }
    })
}
