//! A whole `#[pure]` function.

use proc_macro2::TokenStream;
use rev_compiler::diag::{Code, Diagnostic, Diagnostics};
use rev_compiler::ir::{self, Expr, ExprKind, Mode, Type, VarKind};

use super::path::is_function;
use super::{plain_name, Lowerer};
use crate::model::{Method, ParamModel, PureModel};
use crate::parse::{self, Partial};

/// Lowers a pure function; see [`super::lower_function`] for what is returned with diagnostics.
pub fn lower_pure(
    attribute: TokenStream,
    item: syn::ItemFn,
    method: Option<Method>,
) -> (PureModel, Diagnostics) {
    let mut lowerer = Lowerer::new(&item.sig.ident);
    lowerer.is_pure = true;
    lowerer.function_is_named(&item.sig, method.as_ref());
    if method.is_none() {
        lowerer.is_of_the_language(&item.sig.ident, is_function, "a function");
    }
    let options = parse::pure_options(attribute, &mut lowerer.source.spans, &mut lowerer.diagnostics);
    lowerer.signature(&item.sig);
    let params = lowerer.parameters(&item.sig);
    params.iter().filter(|p| p.mode == Mode::Write).for_each(|p| lowerer.only_read(p));
    let result_type = lowerer.result_type(&item.sig);
    let partials = lowerer.partials(options.partials, &params);
    let result = match lowerer.block_expr(&item.block) {
        Some(result) => result,
        None => lowerer.unreadable(),
    };
    let Lowerer { source, diagnostics, function, .. } = lowerer;
    let function = ir::Pure {
        name: function.name,
        generics: function.generics,
        params: params.iter().map(|p| p.var).collect(),
        result_type,
        vars: function.vars,
        result,
        partials,
        file: function.file,
        span: function.span,
    };
    (
        PureModel { item, params, function: function.in_steps(), order: options.order, source, method },
        diagnostics,
    )
}

impl Lowerer {
    /// Reports a name of which calls would mean something of the language.
    pub(super) fn is_of_the_language(&mut self, ident: &syn::Ident, is: fn(&str) -> bool, what: &str) {
        let name = plain_name(ident);
        if is(&name) {
            let _: Option<()> = self.error_help(
                Code::ReservedName,
                ident,
                format!("`{name}` is {what} of the language, which calls by this name would mean"),
                format!("choose another name: `own_{name}`"),
            );
        }
    }

    /// Reports a parameter that could be written.
    fn only_read(&mut self, param: &ParamModel) {
        let _: Option<()> = self.error_help(
            Code::PureBody,
            &param.ty,
            "a pure function changes nothing",
            "take a value, or write a `#[reversible]` function",
        );
        self.function.vars[param.var.0 as usize].kind = VarKind::Param(Mode::Read);
    }

    fn result_type(&mut self, sig: &syn::Signature) -> Type {
        match &sig.output {
            syn::ReturnType::Type(_, ty) => self.read_type(ty).unwrap_or(Type::Unknown),
            syn::ReturnType::Default => {
                let _: Option<()> = self.error_help(
                    Code::PureResult,
                    &sig.ident,
                    "a pure function has a result",
                    "declare its type: `-> T`",
                );
                Type::Unknown
            }
        }
    }

    /// The given derivatives in the order of the parameters, `None` when there are none.
    fn partials(&mut self, given: Vec<Partial>, params: &[ParamModel]) -> Option<Vec<Expr>> {
        if given.is_empty() {
            return None;
        }
        for (k, p) in given.iter().enumerate() {
            let message = if params.iter().all(|q| q.ident != p.name) {
                format!("there is no parameter `{}`", p.name)
            } else if given[..k].iter().any(|q| q.name == p.name) {
                format!("the derivative with respect to `{}` is given twice", p.name)
            } else {
                continue;
            };
            let _: Option<()> = self.error(Code::PurePartials, &p.name, message);
        }
        Some(params.iter().map(|p| self.partial(&given, p)).collect())
    }

    fn partial(&mut self, given: &[Partial], param: &ParamModel) -> Expr {
        let inactive = self.var(param.var).ty.is_inactive(&self.function.generics);
        match given.iter().find(|p| p.name == param.ident) {
            Some(p) if inactive => {
                let ty = self.span(&param.ty);
                let d = Diagnostic::new(
                    Code::PurePartials,
                    self.source.spans.of(&p.name),
                    format!("`{}` carries no derivative", p.name),
                )
                .label(ty, "its type");
                let _: Option<()> = self.report(d);
                self.unreadable()
            }
            Some(p) => self.expr_or_unreadable(&p.value),
            None if inactive => Expr::new(ExprKind::Literal(ir::Number::Int(0), None)),
            None => {
                let _: Option<()> = self.error_help(
                    Code::PurePartials,
                    &param.ident,
                    format!("the derivative with respect to `{}` isn't given", param.ident),
                    format!("`d({}) = ...`; where it is zero, `d({}) = 0.0`", param.ident, param.ident),
                );
                self.unreadable()
            }
        }
    }
}
