//! A whole `#[reversible]` function: its signature, its parameters, its body.

use proc_macro2::TokenStream;
use rev_compiler::diag::{Code, Diagnostic, Diagnostics};
use rev_compiler::ir::{self, Mode, VarKind};

use super::aliases::with_bindings_written_out;
use super::call::is_statement;
use super::Lowerer;
use crate::generics::{impl_trait, is_differentiable_scalar, mode_of, read_generics};
use crate::model::{Form, Method, Model, Origin, ParamModel, Passing};
use crate::names::{Named, RECEIVER};
use crate::parse::{self, Options};
use crate::types::{Declared, TypeReader};

/// Lowers a function. The model is complete only when there are no diagnostics; with some, what
/// could be read is in it, so that the checks can look at the rest.
pub fn lower_function(
    attribute: TokenStream,
    item: syn::ItemFn,
    method: Option<Method>,
) -> (Model, Diagnostics) {
    let mut lowerer = Lowerer::new(&item.sig.ident);
    lowerer.function_is_named(&item.sig, method.as_ref());
    if method.is_none() {
        lowerer.is_of_the_language(&item.sig.ident, is_statement, "a statement");
    }
    let options = parse::options(attribute, &mut lowerer.source.spans, &mut lowerer.diagnostics);
    lowerer.signature(&item.sig);
    if let syn::ReturnType::Type(_, ty) = &item.sig.output {
        let _: Option<()> = lowerer.error_help(
            Code::UnsupportedSignature,
            ty,
            "a reversible function returns nothing",
            "give the result through a `&mut` parameter, or write a `#[pure]` function",
        );
    }
    let params = lowerer.parameters(&item.sig);
    let declared = lowerer.diagnostics.is_empty();
    let body = lowerer.block(&item.block);
    let body = lowerer.with_tables(body);
    let loss = lowerer.loss(&options, &params);
    let constants = options.constants.iter().filter_map(|name| lowerer.constant(name, &params)).collect();
    let Lowerer { source, diagnostics, function, visited, .. } = lowerer;
    let params_ids = params.iter().map(|p| p.var).collect();
    let function =
        ir::Function { params: params_ids, constants, body, checks: !options.unchecked, ..function };
    let function = with_bindings_written_out(function, &visited).in_steps();
    let Options { tangents, taylor, adjoints, inverse_adjoint, .. } = options;
    (
        Model {
            item,
            params,
            loss,
            declared,
            function,
            source,
            tangents,
            taylor,
            adjoints,
            // a call of an adjoint may stand in a scope that is uncomputed
            inverse_adjoint: inverse_adjoint || adjoints > 0,
            origin: Origin::default(),
            method,
        },
        diagnostics,
    )
}

impl Lowerer {
    /// Reports what a signature may not have, and reads its type parameters.
    pub(super) fn signature(&mut self, sig: &syn::Signature) {
        let mut refuse = |at: Option<&dyn quote::ToTokens>, what: &str| {
            if let Some(at) = at {
                let tokens = at.to_token_stream();
                let _: Option<()> = self.error(
                    Code::UnsupportedSignature,
                    &tokens,
                    format!("{what} isn't part of the language"),
                );
            }
        };
        refuse(sig.asyncness.as_ref().map(|t| t as _), "an `async` function");
        refuse(sig.unsafety.as_ref().map(|t| t as _), "an `unsafe` function");
        refuse(sig.constness.as_ref().map(|t| t as _), "a `const` function");
        refuse(sig.abi.as_ref().map(|t| t as _), "an `extern` function");
        refuse(sig.variadic.as_ref().map(|t| t as _), "a variadic function");
        self.function.generics = read_generics(&sig.generics, &mut self.source, &mut self.diagnostics);
        let hides = self.function.generics.iter().find(|g| sig.ident == g.name).map(|g| g.name.clone());
        if let Some(name) = hides {
            let _: Option<()> = self.error_help(
                Code::ReservedName,
                &sig.ident,
                format!("`{name}` is one of its own parameters"),
                "a function is also a type of its name: choose another one",
            );
        }
    }

    /// Reports a function's name that can't be given.
    pub(super) fn function_is_named(&mut self, sig: &syn::Signature, method: Option<&Method>) {
        match method {
            Some(method) => self.given_name(&method.name, Named::Method),
            None => self.given_name(&sig.ident, Named::Function),
        }
    }

    pub(super) fn parameters(&mut self, sig: &syn::Signature) -> Vec<ParamModel> {
        let mut params: Vec<ParamModel> = Vec::new();
        let receives = sig.inputs.iter().any(|input| is_named(input, "self"));
        if let Some(taken) = sig.inputs.iter().find(|input| receives && is_named(input, RECEIVER)) {
            let _: Option<()> = self.error_help(
                Code::ReservedName,
                taken,
                format!("`{RECEIVER}` is what gradients call `self`"),
                "choose another name",
            );
        }
        for input in &sig.inputs {
            match input {
                syn::FnArg::Receiver(r) => {
                    let _: Option<()> = self.error_help(
                        Code::UnsupportedSignature,
                        &r.self_token,
                        "what `self` is stands at the `impl` block",
                        "mark the block too: `#[reversible] impl S { #[reversible] fn f(&mut self) { .. } }`",
                    );
                }
                syn::FnArg::Typed(t) => params.extend(self.parameter(t)),
            }
        }
        params
    }

    fn parameter(&mut self, t: &syn::PatType) -> Option<ParamModel> {
        let ident = match &*t.pat {
            syn::Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => p.ident.clone(),
            other => {
                return self.error(Code::UnsupportedPattern, other, "a parameter has a name");
            }
        };
        let declared = match self.declared(&ident, &t.ty) {
            Ok(declared) => declared,
            Err(d) => {
                self.diagnostics.push(d);
                Declared { passing: passing(&t.ty), form: Form::Plain, element: None, ty: ir::Type::Unknown }
            }
        };
        let Declared { passing, form, element, ty } = declared;
        let mode = mode_of(passing, form);
        let var = self.declare(&ident, ty, VarKind::Param(mode));
        if passing != Passing::Value {
            self.references.insert(var);
        }
        let ident = if ident == "self" { syn::Ident::new(RECEIVER, ident.span()) } else { ident };
        Some(ParamModel { var, ident, ty: (*t.ty).clone(), passing, form, element, mode })
    }

    fn declared(&mut self, ident: &syn::Ident, ty: &syn::Type) -> Result<Declared, Diagnostic> {
        if let syn::Type::ImplTrait(t) = ty {
            let name = format!("Impl_{}", super::plain_name(ident));
            let generic = impl_trait(name.clone(), t, &self.function.generics, &mut self.source)?;
            let (form, ty) = match generic.kind {
                ir::GenericKind::Function(_) => (Form::Function, ir::Type::Function(name.into())),
                ir::GenericKind::Scalar(_) | ir::GenericKind::Const => (Form::Plain, ir::Type::Generic(name)),
            };
            self.function.generics.push(generic);
            return Ok(Declared { passing: Passing::Value, form, element: None, ty });
        }
        TypeReader { generics: &self.function.generics, source: &mut self.source }.parameter(ty)
    }

    /// The parameter that `gradient` differentiates.
    fn loss(&mut self, options: &Options, params: &[ParamModel]) -> Option<usize> {
        let differentiable = |l: &Lowerer, p: &ParamModel| {
            p.mode == Mode::Write
                && p.form == Form::Plain
                && is_differentiable_scalar(&l.var(p.var).ty, &l.function.generics)
        };
        let Some(name) = &options.loss else {
            return params.iter().position(|p| differentiable(self, p));
        };
        let Some(at) = params.iter().position(|p| p.ident == *name) else {
            return self.error(Code::LossNotFound, name, format!("there is no parameter `{name}`"));
        };
        if !differentiable(self, &params[at]) {
            return self.unfit_loss(name, &params[at]);
        }
        Some(at)
    }

    /// A parameter that is declared to have no derivative.
    fn constant(&mut self, name: &syn::Ident, params: &[ParamModel]) -> Option<ir::VarId> {
        let Some(param) = params.iter().find(|p| p.ident == *name) else {
            return self.error(Code::ConstantParameter, name, format!("there is no parameter `{name}`"));
        };
        if param.mode != Mode::Read {
            let message = format!("`{name}` is written, so its derivative is part of what the function does");
            return self.error_help(
                Code::ConstantParameter,
                name,
                message,
                "only a parameter that is read can be constant",
            );
        }
        Some(param.var)
    }

    fn unfit_loss(&mut self, name: &syn::Ident, param: &ParamModel) -> Option<usize> {
        let ty = self.span(&param.ty);
        let scalar = param.form == Form::Plain && matches!(self.var(param.var).ty, ir::Type::Scalar(_));
        let (code, message) = match scalar && self.var(param.var).ty.is_inactive(&self.function.generics) {
            true => (Code::GradientOfInteger, format!("`{name}` has no derivative")),
            false => {
                (Code::LossType, format!("`{name}` isn't a differentiable scalar that the function writes"))
            }
        };
        let d = Diagnostic::new(code, self.source.spans.of(name), message).label(ty, "its type").help(
            "the loss is a `&mut` parameter of type `f64`, `f32`, or a type parameter bounded by `Real` or `Field`",
        );
        self.report(d)
    }
}

/// Whether a parameter has this name.
fn is_named(input: &syn::FnArg, name: &str) -> bool {
    matches!(input, syn::FnArg::Typed(t) if matches!(&*t.pat, syn::Pat::Ident(p) if p.ident == name))
}

fn passing(ty: &syn::Type) -> Passing {
    match ty {
        syn::Type::Reference(r) if r.mutability.is_some() => Passing::Exclusive,
        syn::Type::Reference(_) => Passing::Shared,
        _ => Passing::Value,
    }
}
