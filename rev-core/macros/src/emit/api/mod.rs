//! The functions through which the programs are called: `f`, `f::inverse`, `f::run`, ….
//!
//! Every one of them holds its arguments in variables ([`Slot`]), and hands these to a program in
//! one of two ways: to the emitted code as handles and references, or to a device that runs the IR
//! as dynamic arguments.

mod along;
mod batch;
mod collect;
mod decided;
mod dense;
mod dispatch;
mod gradient;
mod pattern;
mod ptx;
mod run;
mod scalar;
mod tangent;
mod taylor;
mod verify;
mod vjp;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::ir::{Mode, Rank, Type};
use rev_compiler::plan::Plan;

use super::names::ident;
use super::signature::{Passed, Shape, Signature};
use crate::model::{Form, Model, ParamModel, Passing};
use crate::names::plain;

pub use collect::{aliases, collected};
pub use run::{method, plain_function};
pub use tangent::{functions as of_tangent, Pair};
pub use taylor::functions as of_taylor;

/// How deep calls are looked into for what they do to the loss.
const DEPTH: u32 = 6;

/// What the entry points of a function are made from.
pub struct Entry<'a> {
    /// The path of the runtime's module.
    pub p: &'a TokenStream,
    /// The function.
    pub model: &'a Model,
    /// Its signature.
    pub signature: &'a Signature,
    /// Whether it has a fused program.
    pub fused: Fusion,
    /// Whether it has a parallel loop.
    pub is_parallel: bool,
}

/// Whether a function has a fused program.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Fusion {
    /// None.
    #[default]
    None,
    /// One for runs without checks.
    Unchecked,
    /// One for all runs: the function claims nothing.
    Always,
}

impl Fusion {
    /// As it is planned.
    pub fn of(plan: &Plan) -> Fusion {
        match &plan.fused {
            None => Fusion::None,
            Some(fused) if fused.checked => Fusion::Always,
            Some(_) => Fusion::Unchecked,
        }
    }
}

/// The items beside the struct `f {}`, and the associated functions of it.
#[derive(Default)]
pub struct Api {
    /// The structs of results.
    pub items: TokenStream,
    /// The associated functions.
    pub functions: TokenStream,
}

impl Api {
    /// Adds others.
    pub fn extend(&mut self, other: Api) {
        self.items.extend(other.items);
        self.functions.extend(other.functions);
    }
}

/// Whether a function has all entry points: one that is written, and a tangent that has a tangent.
pub fn has_all(model: &Model) -> bool {
    model.origin.order == 0 || model.tangents > 0 && !model.origin.called_only
}

/// All entry points but the plain function. Of a derived function those that others of it need.
pub fn entry_points(entry: &Entry) -> Api {
    if entry.model.origin.called_only {
        return Api::default();
    }
    if !has_all(entry.model) {
        let (run, collect) = (run::functions(entry), collect::functions(entry));
        return Api { items: TokenStream::new(), functions: quote!(#run #collect) };
    }
    let (gradient, constants) = (gradient::gradient(entry), gradient::constants(entry));
    let vjp = vjp::vjp(entry);
    let (run, collect) = (run::functions(entry), collect::functions(entry));
    let (verify, ptx) = (verify::functions(entry), ptx::function(entry));
    let (gradient_items, gradient_functions) = (gradient.items, gradient.functions);
    let (vjp_items, vjp_functions) = (vjp.items, vjp.functions);
    Api {
        items: quote!(#gradient_items #vjp_items),
        functions: quote!(#run #constants #gradient_functions #vjp_functions #verify #ptx #collect),
    }
}

/// A variable of an entry point that is an argument of a program.
#[derive(Clone)]
pub struct Slot {
    /// The variable.
    pub name: Ident,
    /// How the program takes it.
    pub passed: Passed,
    /// Whether the variable is a reference to the value, rather than the value.
    pub reference: bool,
}

impl Slot {
    /// The slot of a parameter as the source declares it.
    pub fn of(param: &ParamModel, passed: &Passed) -> Slot {
        let reference = param.passing != Passing::Value;
        Slot { name: param.ident.clone(), passed: passed.clone(), reference }
    }

    /// A variable that owns its value.
    pub fn own(name: Ident, passed: Passed) -> Slot {
        Slot { name, passed, reference: false }
    }

    /// As an argument of the emitted code.
    fn native(&self, p: &TokenStream) -> TokenStream {
        let name = &self.name;
        let written = self.passed.mode != Mode::Read;
        match (self.passed.shape, written) {
            (Shape::Function, _) => quote!(#name),
            (Shape::Value, true) if self.reference => quote!(&mut *#name),
            (Shape::Value, false) if self.reference => quote!(&*#name),
            (Shape::Value, true) => quote!(&mut #name),
            (Shape::Value, false) => quote!(&#name),
            (Shape::Slice, true) => quote!(#p::Slice::exclusive(&mut #name[..])),
            (Shape::Slice, false) => quote!(#p::Slice::shared(&#name[..])),
            (Shape::Array(rank), true) => {
                let handle = handle(rank, p);
                quote!(#handle::exclusive(#name.view_mut())?)
            }
            (Shape::Array(rank), false) => {
                let handle = handle(rank, p);
                quote!(#handle::shared(#name.view())?)
            }
        }
    }

    /// As an argument of a device that runs the IR.
    fn dynamic(&self, p: &TokenStream) -> TokenStream {
        let name = &self.name;
        match self.passed.shape {
            // the cotangent of a function is its adjoint
            Shape::Function if self.passed.mode != Mode::Read => {
                quote!(&mut #p::FunctionArg::adjoint_of(#p::Reversible::name(#name)))
            }
            Shape::Function => quote!(&mut #p::FunctionArg::of(#p::Reversible::name(#name))),
            Shape::Value | Shape::Slice | Shape::Array(_) => quote!(&mut #name as &mut dyn #p::DynArg),
        }
    }
}

fn handle(rank: Rank, p: &TokenStream) -> TokenStream {
    match rank {
        Rank::Fixed(_) => quote!(#p::Strided),
        Rank::Dynamic => quote!(#p::Dynamic),
    }
}

impl Entry<'_> {
    /// The parameters with how they are passed.
    pub fn params(&self) -> impl Iterator<Item = (&ParamModel, &Passed)> {
        self.model.params.iter().zip(&self.signature.params)
    }

    /// The name of the argument that is the device.
    pub fn device(&self) -> Ident {
        let taken = self.model.params.iter().any(|p| p.ident == "device");
        ident(if taken { "__device" } else { "device" })
    }

    /// The name of an argument's cotangent: `x_bar`, with underscores behind it where a parameter
    /// has that name.
    pub fn bar(&self, param: &ParamModel) -> Ident {
        let mut bar = format_ident!("{}_bar", param.ident);
        while self.model.params.iter().any(|p| p.ident == bar) {
            bar = format_ident!("{}_", bar);
        }
        bar
    }

    /// `name: T` as the source declares it.
    pub fn input(&self, param: &ParamModel) -> TokenStream {
        let name = &param.ident;
        match (&param.ty, &self.model.function.var(param.var).ty) {
            (syn::Type::ImplTrait(_), Type::Function(generic)) => {
                let generic = ident(generic.as_str());
                quote!(#name: #generic)
            }
            (syn::Type::ImplTrait(_), Type::Generic(generic)) => {
                let generic = ident(generic);
                quote!(#name: #generic)
            }
            (ty, _) => quote!(#name: #ty),
        }
    }

    /// `name: &T`, where the source declares `name: &mut T`: for entry points that work on copies.
    pub fn shared_input(&self, param: &ParamModel, passed: &Passed) -> TokenStream {
        if param.mode == Mode::Read {
            return self.input(param);
        }
        let (p, name, ty) = (self.p, &param.ident, &passed.ty);
        match (passed.shape, param.form, &param.ty) {
            (Shape::Array(_), Form::Array, syn::Type::Reference(r)) => {
                let array = &r.elem;
                quote!(#name: &#array)
            }
            (Shape::Value | Shape::Slice | Shape::Array(_) | Shape::Function, ..) => {
                lent(p, name, passed.shape, &quote!(#ty), false)
            }
        }
    }

    /// Replaces the variable of a [`shared_input`](Self::shared_input) by a copy of its own.
    pub fn copied(&self, param: &ParamModel, passed: &Passed) -> TokenStream {
        let name = &param.ident;
        match passed.shape {
            Shape::Value => quote!(let mut #name = ::core::clone::Clone::clone(&*#name);),
            Shape::Slice => quote!(let mut #name = #name.to_vec();),
            Shape::Array(_) => quote!(let mut #name = #name.to_owned();),
            Shape::Function => TokenStream::new(),
        }
    }

    /// The type of a copy.
    pub fn owned_type(&self, passed: &Passed) -> TokenStream {
        owned(passed.shape, &passed.ty, self.p)
    }

    /// The type of a shadow of width `n` that the caller owns.
    pub fn shadow_type(&self, passed: &Passed, n: &TokenStream) -> TokenStream {
        let (p, ty) = (self.p, &passed.ty);
        match passed.shape {
            Shape::Function => quote!(#p::NoShadow<()>),
            shape => owned(shape, &quote!(<#ty as #p::Primal>::Shadow<#n>), p),
        }
    }

    /// Zero shadows for the variable of a slot, as an expression that leaves the function with an error where there
    /// is no memory.
    pub fn zero_shadow(&self, slot: &Slot, n: &TokenStream) -> TokenStream {
        let (p, name) = (self.p, &slot.name);
        match slot.passed.shape {
            Shape::Function => quote!(#p::NoShadow::<()>::NEW),
            Shape::Value if slot.reference => quote!(#p::Primal::zero_shadow::<#n>(&*#name)),
            Shape::Value => quote!(#p::Primal::zero_shadow::<#n>(&#name)),
            Shape::Slice => {
                quote!(#p::zero_shadows::<_, { #n }>(&#name[..])?)
            }
            Shape::Array(_) => quote!(#p::zero_shadow_array::<_, _, { #n }>(#name.view())?),
        }
    }

    /// Whether a parameter is declared to have no derivative.
    pub fn is_constant(&self, param: &ParamModel) -> bool {
        self.model.function.constants.contains(&param.var)
    }

    /// Whether a parameter surely carries no derivative.
    pub fn is_inactive(&self, param: &ParamModel) -> bool {
        self.is_constant(param) || self.has_no_numbers(param)
    }

    /// Whether nothing of a parameter's type carries a derivative.
    pub fn has_no_numbers(&self, param: &ParamModel) -> bool {
        let function = &self.model.function;
        function.var(param.var).ty.is_inactive(&function.generics)
    }

    /// The type of a parameter's gradient.
    pub fn gradient_type(&self, param: &ParamModel, passed: &Passed) -> TokenStream {
        let (p, ty) = (self.p, &passed.ty);
        if self.is_inactive(param) {
            return quote!(());
        }
        owned(passed.shape, &quote!(<#ty as #p::Primal>::Gradient), p)
    }

    /// A parameter's gradient from its shadow of width 1.
    pub fn gradient_of(
        &self,
        param: &ParamModel,
        passed: &Passed,
        shadow: &impl quote::ToTokens,
    ) -> TokenStream {
        let p = self.p;
        if self.is_inactive(param) {
            return quote!(());
        }
        let ty = owned(passed.shape, &passed.ty, p);
        quote!(<#ty as #p::Primal>::gradient(#shadow))
    }

    /// Whether a run has a fused program, as an expression.
    pub fn is_fused(&self) -> TokenStream {
        let (p, device) = (self.p, self.device());
        let (native, always) = (self.fused != Fusion::None, self.fused == Fusion::Always);
        let whole = self.params().all(|(_, passed)| passed.shape != Shape::Function);
        quote! {
            match #p::Device::backend(#device) {
                #p::Backend::Native(__options) => #native && (#always || !__options.checks),
                #p::Backend::Dynamic(__dynamic) => {
                    #whole && !__dynamic.options().checks && Self::__fused_module().is_some()
                }
            }
        }
    }

    /// The fused program, on the arguments of the adjoint.
    /// The arguments at the positions `zeros` hold zeros.
    pub fn dispatch_fused(&self, slots: &[Slot], zeros: &[usize], n: &TokenStream) -> TokenStream {
        let p = self.p;
        let (device, name, given) = (self.device(), &self.model.item.sig.ident, self.signature.given());
        let native: Vec<_> = slots.iter().map(|s| s.native(p)).collect();
        let dynamic: Vec<_> = slots.iter().map(|s| s.dynamic(p)).collect();
        let missing = quote!(#p::fail::no_fused_program(Self {}.__name())?);
        let run = quote!({
            let __run = #p::Run::new(__options);
            #p::recursion::with_room(|| {
                (#name {}).__fused::<#given #p::Restoring, #n>(__run.context(), #p::Width::<#n>, #(#native),*)
            })?
        });
        let run = if self.fused != Fusion::None { run } else { missing.clone() };
        quote! {
            match #p::Device::backend(#device) {
                #p::Backend::Native(__options) => #run,
                #p::Backend::Dynamic(__dynamic) => match Self::__fused_module() {
                    __Some(__module) => {
                        let __zeros: &[usize] = &[#(#zeros),*];
                        __dynamic.execute_on_zeros(
                            __module, #p::ir::Direction::FORWARD, &mut [#(#dynamic),*], __zeros,
                        )?
                    }
                    __None => #missing,
                }
            }
        }
    }

    /// Whether a parameter is a function.
    pub fn takes_functions(&self) -> bool {
        self.params().any(|(_, passed)| passed.shape == Shape::Function)
    }

    /// `let mut x = x;` for arguments, so that their variables can be lent.
    pub fn rebound<'a>(&self, slots: impl Iterator<Item = &'a Slot>) -> TokenStream {
        slots
            .map(|s| {
                let name = &s.name;
                quote!(let mut #name = #name;)
            })
            .collect()
    }

    /// A struct of results, named after the function: `FitGradient`. Of two functions it has two names: an underscore that no
    /// capital stands for stays (`Step_2Gradient`), and so does a name with capitals of its own (`stepB_Gradient`).
    pub fn result_name(&self, suffix: &str) -> Ident {
        let name = plain(&self.model.item.sig.ident);
        if self.model.method.is_none() && name.contains(char::is_uppercase) {
            return ident(&format!("{name}_{suffix}"));
        }
        let (start, inner) = name.split_at(name.len() - name.trim_start_matches('_').len());
        let (inner, end) = inner.split_at(inner.trim_end_matches('_').len());
        let camel: String = inner
            .split('_')
            .enumerate()
            .map(|(k, part)| {
                let (first, rest) = part.split_at(part.chars().next().map_or(0, char::len_utf8));
                let kept = if k > 0 && !first.starts_with(char::is_lowercase) { "_" } else { "" };
                kept.to_string() + &first.to_uppercase() + rest
            })
            .collect();
        ident(&format!("{start}{camel}{suffix}{end}"))
    }
}

/// The owner of what a parameter passes: a value, a vector, an array.
fn owned(shape: Shape, element: &TokenStream, p: &TokenStream) -> TokenStream {
    match shape {
        Shape::Value => quote!(#element),
        Shape::Slice => quote!(::std::vec::Vec<#element>),
        Shape::Array(rank) => {
            let dimension = dimension(rank, p);
            quote!(#p::ndarray::Array<#element, #dimension>)
        }
        Shape::Function => quote!(()),
    }
}

/// `name: T`: values as a parameter that is only read, single ones as they are.
fn input_like(p: &TokenStream, name: &Ident, shape: Shape, element: &TokenStream) -> TokenStream {
    match shape {
        Shape::Value | Shape::Function => quote!(#name: #element),
        Shape::Slice | Shape::Array(_) => lent(p, name, shape, element, false),
    }
}

/// `name: &mut [T]`: values as a parameter that is lent.
fn lent(p: &TokenStream, name: &Ident, shape: Shape, element: &TokenStream, is_written: bool) -> TokenStream {
    match (shape, is_written) {
        (Shape::Value | Shape::Function, true) => quote!(#name: &mut #element),
        (Shape::Value | Shape::Function, false) => quote!(#name: &#element),
        (Shape::Slice, true) => quote!(#name: &mut [#element]),
        (Shape::Slice, false) => quote!(#name: &[#element]),
        (Shape::Array(rank), _) => {
            let (dimension, view) =
                (dimension(rank, p), ident(if is_written { "ArrayViewMut" } else { "ArrayView" }));
            quote!(#name: #p::ndarray::#view<'_, #element, #dimension>)
        }
    }
}

/// A check that one variable has the shape of another, down to the arrays in structs and the heights of stacks.
fn same_shape(p: &TokenStream, passed: &Passed, of: &Ident, name: &Ident) -> TokenStream {
    let (outer, inner) =
        (same_outer_shape(p, passed, of, name), same_inner_shapes(p, passed, of, name, true));
    quote!(#outer #inner)
}

/// The same of a tangent or cotangent of the argument's own type: also enums are of the same variants.
fn same_form(p: &TokenStream, passed: &Passed, of: &Ident, name: &Ident) -> TokenStream {
    let (shape, variants) = (same_shape(p, passed, of, name), same_variants(p, passed, of, name));
    quote!(#shape #variants)
}

/// Checks that the enums in a tangent or cotangent of the argument's own type are of the argument's variants.
fn same_variants(p: &TokenStream, passed: &Passed, of: &Ident, name: &Ident) -> TokenStream {
    let (ty, text) = (&passed.ty, name.to_string());
    let both = match passed.shape {
        _ if !passed.structs => return TokenStream::new(),
        Shape::Slice => quote!(&#of[..], &#name[..]),
        Shape::Array(_) => quote!(&#of.view(), &#name.view()),
        Shape::Value => quote!(&#of, &#name),
        Shape::Function => return TokenStream::new(),
    };
    quote! {
        if const { !<#ty as #p::Primal>::HAS_SUMS } {
            #p::fail::same_variants(#text, #both)?;
        }
    }
}

/// The same of the arrays that they are.
fn same_outer_shape(p: &TokenStream, passed: &Passed, of: &Ident, name: &Ident) -> TokenStream {
    let text = name.to_string();
    match passed.shape {
        Shape::Slice => quote!(#p::fail::same_shape(#text, &[#of.len()], &[#name.len()])?;),
        Shape::Array(_) => quote!(#p::fail::same_shape(#text, #of.shape(), #name.shape())?;),
        Shape::Value | Shape::Function => TokenStream::new(),
    }
}

/// The same of the arrays in structs, and of the heights of stacks where these count.
fn same_inner_shapes(
    p: &TokenStream,
    passed: &Passed,
    of: &Ident,
    name: &Ident,
    stacks: bool,
) -> TokenStream {
    let text = name.to_string();
    match passed.shape {
        _ if !passed.structs => TokenStream::new(),
        Shape::Slice => quote!(#p::fail::same_shapes_in(#text, &#of[..], &#name[..], #stacks)?;),
        Shape::Array(_) => quote!(#p::fail::same_shapes(#text, &#of.view(), &#name.view(), #stacks)?;),
        Shape::Value => quote!(#p::fail::same_shapes(#text, &#of, &#name, #stacks)?;),
        Shape::Function => TokenStream::new(),
    }
}

/// The dimension type of ndarray.
pub fn dimension(rank: Rank, p: &TokenStream) -> TokenStream {
    let name = match rank {
        Rank::Fixed(r) => ident(&format!("Ix{r}")),
        Rank::Dynamic => ident("IxDyn"),
    };
    quote!(#p::ndarray::#name)
}
