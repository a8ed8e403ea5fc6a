//! Products and sums of whole arrays: one call of the runtime each.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{Expr, ExprKind, Place, Span, Stmt, StmtKind, UpdateOp, VarId};
use rev_compiler::ops::Contraction;

use super::body::Body;
use super::expr::Reach;
use super::names::ident;

/// The factors of a product as arguments.
struct Factors {
    /// Names for what has no storage.
    lets: TokenStream,
    lead: TokenStream,
    rest: Vec<TokenStream>,
    /// As messages show them.
    shown: Vec<String>,
}

/// The update with which an ancilla starts.
pub struct First<'f> {
    span: Span,
    op: UpdateOp,
    place: &'f Place,
    formula: &'f Contraction,
    factors: &'f [Expr],
}

impl<'f> First<'f> {
    /// The update of an ancilla by a product of arrays that is the first thing that happens in its scope, but for
    /// shadows of zeros that are made before it.
    pub fn of(var: VarId, body: &'f [Stmt]) -> Option<First<'f>> {
        let stmt = body.first()?;
        match &stmt.kind {
            StmtKind::Ancilla {
                init: Expr { kind: ExprKind::ZeroShadow(_) | ExprKind::ZeroLike(_), .. },
                var: shadow,
                body,
                ..
            } => First::of(var, body).filter(|first| !first.reads(*shadow)),
            StmtKind::Update { op: op @ (UpdateOp::Add | UpdateOp::Sub), place, expr } => match &expr.kind {
                ExprKind::Contract(formula, factors) if place.var == var && place.path.is_empty() => {
                    let first = First { span: stmt.span, op: *op, place, formula, factors };
                    (!first.reads(var)).then_some(first)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn reads(&self, var: VarId) -> bool {
        self.factors.iter().any(|e| e.mentions(var))
    }
}

impl Body<'_> {
    /// `place += product` of arrays.
    pub fn contraction_update(
        &mut self,
        op: UpdateOp,
        place: &Place,
        formula: &Contraction,
        factors: &[Expr],
    ) -> TokenStream {
        let p = self.p;
        let Factors { lets, lead, rest, shown } = self.factors(formula, factors);
        let target = if self.is_array(place) {
            self.place(place, Reach::Write)
        } else {
            let fixed = self.place(place, Reach::Write);
            quote!(&mut #fixed)
        };
        let shown_target = self.show(place);
        let (add, formula) = (op == UpdateOp::Add, constant(p, formula));
        let failure = self.fail(|at| quote!(#p::fail::misfit(#at, __e)));
        self.held.remove(&place.var);
        quote!({
            #lets
            if let __Err(__e) = #p::contraction::update(
                __cx, #add, #formula, &[#shown_target, #(#shown),*],
                #p::contraction::Operand::raw(#target), #lead, [#(#rest),*],
            ) {
                #failure
            }
        })
    }

    /// The array that an update makes of an ancilla of zeros that nobody reads before it.
    pub fn contraction_start(
        &mut self,
        first: &First<'_>,
        zero: &TokenStream,
        shape: &[TokenStream],
    ) -> TokenStream {
        let p = self.p;
        let declared = self.standing();
        self.stand_at(first.span);
        let Factors { lets, lead, rest, shown } = self.factors(first.formula, first.factors);
        let shown_target = self.show(first.place);
        let (add, formula) = (first.op == UpdateOp::Add, constant(p, first.formula));
        let failure = self.fail(|at| quote!(#p::fail::misfit(#at, __e)));
        self.stand_at(declared);
        self.started.insert(first.place.var);
        quote!({
            #lets
            match #p::contraction::start(
                __cx, #add, #formula, &[#shown_target, #(#shown),*], [#(#shape),*], #zero, #lead, [#(#rest),*],
            ) {
                __Some(__Ok(__a)) => __Some(__a),
                __Some(__Err(__e)) => #failure,
                __None => __None,
            }
        })
    }

    /// A product whose target is a scalar.
    pub fn contraction_value(&mut self, formula: &Contraction, factors: &[Expr]) -> TokenStream {
        let p = self.p;
        let Factors { lets, lead, rest, shown } = self.factors(formula, factors);
        let formula = constant(p, formula);
        let failure = self.fail(|at| quote!(#p::fail::misfit(#at, __e)));
        quote!({
            #lets
            match #p::contraction::value(
                __cx, #formula, &["the result", #(#shown),*], #lead, [#(#rest),*],
            ) {
                __Ok(__v) => __v,
                __Err(__e) => #failure,
            }
        })
    }

    fn factors(&mut self, formula: &Contraction, factors: &[Expr]) -> Factors {
        let p = self.p;
        let mut lets = TokenStream::new();
        let (mut raw, mut shown) = (Vec::new(), Vec::new());
        for (k, (operand, factor)) in formula.factors().iter().zip(factors).enumerate() {
            match &factor.kind {
                ExprKind::Read(place) if !operand.is_scalar() => {
                    let array = self.place(place, Reach::Read);
                    let array = if self.is_array(place) { array } else { quote!(&#array) };
                    raw.push(quote!(#p::contraction::Operand::raw(#array)));
                    shown.push(self.show(place));
                }
                _ => {
                    let (name, value) = (ident(&format!("__s{k}")), self.expr(factor));
                    lets.extend(quote!(let #name = #value;));
                    raw.push(quote!(#p::contraction::Raw::scalar(&#name)));
                    shown.push("a factor".into());
                }
            }
        }
        let lead = if raw.is_empty() { TokenStream::new() } else { raw.remove(0) };
        Factors { lets, lead, rest: raw, shown }
    }
}

fn constant(p: &TokenStream, formula: &Contraction) -> TokenStream {
    let text = formula.to_string();
    quote!({ const __F: #p::contraction::Contraction = #p::contraction::Contraction::known(#text); &__F })
}
