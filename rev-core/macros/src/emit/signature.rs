//! Signatures: the generics of a function, and how each parameter is passed to its programs.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use rev_compiler::ir::{GenericKind, Mode, Rank, Type};
use syn::visit_mut::VisitMut;
use syn::GenericParam;

use super::body::Repr;
use super::names::ident;
use crate::lower::has_struct;
use crate::model::{Form, Model, ParamModel};
use crate::spans::mentions;
use crate::types::type_arguments;

/// What a parameter is to the programs: the way it is passed, and its Rust type.
#[derive(Clone)]
pub struct Passed {
    /// Read or written.
    pub mode: Mode,
    /// Value, slice, array or function.
    pub shape: Shape,
    /// The type of the value, of the elements, or of the function.
    pub ty: TokenStream,
    /// Whether there are structs in it, which may hold arrays, or it is a stack.
    pub structs: bool,
}

/// The ways in which parameters are passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// By reference.
    Value,
    /// A handle to contiguous elements.
    Slice,
    /// A handle to an array.
    Array(Rank),
    /// A reversible function, by value.
    Function,
}

impl Passed {
    fn of(param: &ParamModel, model: &Model) -> Passed {
        let ir = &model.function.var(param.var).ty;
        let element = || match &param.element {
            Some(e) => quote!(#e),
            None => quote!(_),
        };
        let (shape, ty) = match (param.form, ir) {
            (Form::Slice | Form::Vec, _) => (Shape::Slice, element()),
            (Form::View { .. } | Form::Array, Type::Array(_, rank)) => (Shape::Array(*rank), element()),
            (Form::Function, Type::Function(name)) => {
                let name = ident(name.as_str());
                (Shape::Function, quote!(#name))
            }
            (Form::Plain | Form::Stack | Form::View { .. } | Form::Array | Form::Function, _) => {
                (Shape::Value, value_type(param, ir))
            }
        };
        Passed { mode: param.mode, shape, ty, structs: has_struct(ir) || matches!(ir, Type::Stack(_)) }
    }

    /// The type with which it is passed: `&mut T`, `Slice<'_, T, Shared>`.
    pub fn rust(&self, p: &TokenStream) -> TokenStream {
        let ty = &self.ty;
        let mark = mark(self.mode, p);
        match (self.shape, self.mode) {
            (Shape::Value, Mode::Read) => quote!(&#ty),
            (Shape::Value, Mode::Write | Mode::Accumulate) => quote!(&mut #ty),
            (Shape::Slice, _) => quote!(#p::Slice<'_, #ty, #mark>),
            (Shape::Array(Rank::Fixed(r)), _) => {
                let r = r as usize;
                quote!(#p::Strided<'_, #ty, #r, #mark>)
            }
            (Shape::Array(Rank::Dynamic), _) => quote!(#p::Dynamic<'_, #ty, #mark>),
            (Shape::Function, _) => quote!(#ty),
        }
    }

    /// Its shadow: exclusive, but for what is only accumulated into, whose shadow is only read.
    pub fn shadow(&self, p: &TokenStream) -> Passed {
        let mode = match self.mode {
            Mode::Read | Mode::Write => Mode::Accumulate,
            Mode::Accumulate => Mode::Read,
        };
        Passed { mode, ..self.tangent(p) }
    }

    /// Its shadow where that holds tangents: used as it is.
    pub fn tangent(&self, p: &TokenStream) -> Passed {
        let ty = &self.ty;
        match self.shape {
            Shape::Function => {
                Passed { mode: Mode::Read, shape: Shape::Value, ty: quote!(#p::NoShadow<()>), structs: false }
            }
            shape => Passed { shape, ty: quote!(<#ty as #p::Primal>::Shadow<__N>), ..*self },
        }
    }

    /// Its cotangent as a number of its own type. That of a function is the function, of which the adjoint is meant.
    pub fn cotangent(&self) -> Passed {
        Passed { mode: self.mode.of_shadow(), ..self.clone() }
    }

    /// How the programs hold it.
    pub fn repr(&self) -> Repr {
        match (self.shape, self.mode) {
            (Shape::Value, Mode::Read) => Repr::Ref,
            (Shape::Value, Mode::Write | Mode::Accumulate) => Repr::Mut,
            (Shape::Slice | Shape::Array(_), _) => Repr::Handle,
            (Shape::Function, _) => Repr::Function,
        }
    }

    /// The type that stands for it in a bound by `Reversible`.
    pub fn descriptor(&self, p: &TokenStream) -> TokenStream {
        let ty = &self.ty;
        let name = ident(match self.mode {
            Mode::Read => "Read",
            Mode::Write => "Write",
            Mode::Accumulate => "Accumulate",
        });
        match self.shape {
            Shape::Value => quote!(#p::#name<#p::Value<#ty>>),
            Shape::Slice => quote!(#p::#name<#p::Elements1<#ty>>),
            Shape::Array(Rank::Fixed(r)) => {
                let r = r as usize;
                quote!(#p::#name<#p::ElementsN<#ty, #r>>)
            }
            Shape::Array(Rank::Dynamic) => quote!(#p::#name<#p::ElementsD<#ty>>),
            Shape::Function => quote!(#p::Read<#p::Function<#ty>>),
        }
    }
}

fn mark(mode: Mode, p: &TokenStream) -> TokenStream {
    match mode {
        Mode::Read => quote!(#p::Shared),
        Mode::Write | Mode::Accumulate => quote!(#p::Exclusive),
    }
}

/// The type of a parameter's value, without references.
fn value_type(param: &ParamModel, ir: &Type) -> TokenStream {
    match (&param.ty, ir) {
        (syn::Type::Reference(r), _) => {
            let ty = &r.elem;
            quote!(#ty)
        }
        (syn::Type::ImplTrait(_), Type::Generic(name)) => {
            let name = ident(name);
            quote!(#name)
        }
        (ty, _) => quote!(#ty),
    }
}

/// The generics of a function as its generated functions declare them: those of the source, then
/// one for each `impl Trait` parameter; bounds by `Reversible` in the runtime's form.
pub struct Signature {
    /// How the parameters are passed, in order.
    pub params: Vec<Passed>,
    generics: syn::Generics,
}

impl Signature {
    /// The signature of a function.
    pub fn of(p: &TokenStream, model: &Model) -> Signature {
        let mut generics = model.item.sig.generics.clone();
        for param in &model.params {
            if let (syn::Type::ImplTrait(t), Some(name)) = (&param.ty, impl_name(model, param)) {
                let bounds = &t.bounds;
                generics.params.push(syn::parse_quote!(#name: #bounds));
            }
        }
        let mut bounds = Bounds { p, model, of: None };
        bounds.visit_generics_mut(&mut generics);
        let params = model.params.iter().map(|param| Passed::of(param, model)).collect();
        Signature { params, generics }
    }

    /// `'a, T: Real, const K: usize,`
    pub fn declared(&self) -> TokenStream {
        let params = self.generics.params.iter();
        quote!(#(#params,)*)
    }

    /// Those that aren't already generics of an `impl` block.
    pub fn declared_but(&self, block: &syn::Generics) -> TokenStream {
        let own = |param: &&GenericParam| block.params.iter().all(|g| name_of(g) != name_of(param));
        let params = self.generics.params.iter().filter(own);
        quote!(#(#params,)*)
    }

    /// The where clause.
    pub fn conditions(&self) -> Option<&syn::WhereClause> {
        self.generics.where_clause.as_ref()
    }

    /// The generics as arguments: `T, K,`; lifetimes are always inferred.
    pub fn given(&self) -> TokenStream {
        let names = self.generics.params.iter().filter_map(|g| match g {
            GenericParam::Lifetime(_) => None,
            GenericParam::Type(t) => Some(&t.ident),
            GenericParam::Const(c) => Some(&c.ident),
        });
        quote!(#(#names,)*)
    }

    /// Whether every type and const parameter occurs in a parameter's type, so that the parameters'
    /// types determine it.
    pub fn is_determined(&self) -> bool {
        let mentioned = |name: &Ident| self.params.iter().any(|p| mentions(p.ty.clone(), name));
        self.generics.params.iter().all(|g| match g {
            GenericParam::Lifetime(_) => true,
            GenericParam::Type(t) => mentioned(&t.ident),
            GenericParam::Const(c) => mentioned(&c.ident),
        })
    }
}

fn name_of(param: &GenericParam) -> &Ident {
    match param {
        GenericParam::Lifetime(l) => &l.lifetime.ident,
        GenericParam::Type(t) => &t.ident,
        GenericParam::Const(c) => &c.ident,
    }
}

/// The type parameter that stands for `impl Trait`.
fn impl_name(model: &Model, param: &ParamModel) -> Option<Ident> {
    match &model.function.var(param.var).ty {
        Type::Function(name) => Some(ident(name.as_str())),
        Type::Generic(name) => Some(ident(name)),
        _ => None,
    }
}

/// Rewrites `Reversible<(&mut T, &[T])>` into the runtime's `Reversible<(Write<..>, Read<..>)>`.
struct Bounds<'a> {
    p: &'a TokenStream,
    model: &'a Model,
    of: Option<String>,
}

impl VisitMut for Bounds<'_> {
    fn visit_type_param_mut(&mut self, t: &mut syn::TypeParam) {
        self.of = Some(t.ident.to_string());
        syn::visit_mut::visit_type_param_mut(self, t);
    }

    fn visit_predicate_type_mut(&mut self, w: &mut syn::PredicateType) {
        if let syn::Type::Path(path) = &w.bounded_ty {
            self.of = path.path.get_ident().map(ToString::to_string);
        }
        syn::visit_mut::visit_predicate_type_mut(self, w);
    }

    fn visit_trait_bound_mut(&mut self, bound: &mut syn::TraitBound) {
        let (Some(last), Some(of)) = (bound.path.segments.last(), &self.of) else { return };
        let kinds = self.model.function.generics.iter().find(|g| g.name == *of).map(|g| &g.kind);
        let (true, Some(GenericKind::Function(params))) = (last.ident == "Reversible", kinds) else { return };
        let [syn::Type::Tuple(written)] = &type_arguments(&last.arguments)[..] else { return };
        let p = self.p;
        let descriptors =
            written.elems.iter().zip(params).map(|(ty, (mode, ir))| passed_type(ty, *mode, ir).descriptor(p));
        bound.path = syn::parse_quote!(#p::Reversible<(#(#descriptors,)*)>);
    }
}

/// How a parameter with a written type is passed.
fn passed_type(ty: &syn::Type, mode: Mode, ir: &Type) -> Passed {
    let bare = match ty {
        syn::Type::Reference(r) => &*r.elem,
        ty => ty,
    };
    let element = |path: &syn::TypePath| -> TokenStream {
        let args = path.path.segments.last().map(|s| type_arguments(&s.arguments)).unwrap_or_default();
        args.first().map_or_else(|| quote!(_), |t| quote!(#t))
    };
    let (shape, ty) = match (bare, ir) {
        (syn::Type::Slice(s), _) => {
            let e = &s.elem;
            (Shape::Slice, quote!(#e))
        }
        (syn::Type::Path(path), Type::Array(_, rank)) => {
            let vec = path.path.segments.last().is_some_and(|s| s.ident == "Vec");
            (if vec { Shape::Slice } else { Shape::Array(*rank) }, element(path))
        }
        (bare, Type::Function(_)) => (Shape::Function, quote!(#bare)),
        (bare, _) => (Shape::Value, quote!(#bare)),
    };
    Passed { mode, shape, ty, structs: has_struct(ir) || matches!(ir, Type::Stack(_)) }
}
