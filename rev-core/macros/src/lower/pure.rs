//! A whole `#[pure]` function.

use proc_macro2::TokenStream;
use rev_core::diag::{Code, Diagnostic, Diagnostics};
use rev_core::ir::{self, Expr, ExprKind, Mode, Type};

use super::{unreadable, Lowerer};
use crate::model::{ParamModel, PureModel};
use crate::parse::{self, Partial};

/// Lowers a pure function; see [`super::lower_function`] for what is returned with diagnostics.
pub fn lower_pure(attribute: TokenStream, item: syn::ItemFn) -> (PureModel, Diagnostics) {
    let mut lowerer = Lowerer::default();
    let given = parse::partials(attribute, &mut lowerer.source.spans, &mut lowerer.diagnostics);
    lowerer.signature(&item.sig);
    let params = lowerer.parameters(&item.sig);
    for p in params.iter().filter(|p| p.mode == Mode::Write) {
        let _: Option<()> = lowerer.error_help(
            Code::PureBody,
            &p.ty,
            "a pure function changes nothing",
            "take a value, or write a `#[reversible]` function",
        );
    }
    let result_type = lowerer.result_type(&item.sig);
    let partials = lowerer.partials(given, &params);
    let result = lowerer.block_expr(&item.block).unwrap_or_else(unreadable);
    let function = ir::Pure {
        name: super::plain_name(&item.sig.ident),
        generics: lowerer.generics.clone(),
        params: params.iter().map(|p| p.var).collect(),
        result_type,
        vars: lowerer.vars.clone(),
        result,
        partials,
        file: item.sig.ident.span().file(),
        span: lowerer.span(&item.sig.ident),
    };
    let Lowerer { source, diagnostics, .. } = lowerer;
    (PureModel { item, params, function, source }, diagnostics)
}

impl Lowerer {
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
        let inactive = self.var(param.var).ty.is_inactive(&self.generics);
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
                unreadable()
            }
            Some(p) => self.expr(&p.value).unwrap_or_else(unreadable),
            None if inactive => Expr::new(ExprKind::Literal(ir::Number::Int(0), None)),
            None => {
                let _: Option<()> = self.error_help(
                    Code::PurePartials,
                    &param.ident,
                    format!("the derivative with respect to `{}` isn't given", param.ident),
                    format!("`d({}) = ...`; where it is zero, `d({}) = 0.0`", param.ident, param.ident),
                );
                unreadable()
            }
        }
    }
}
