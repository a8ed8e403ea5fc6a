//! The arguments of the attributes.

use proc_macro2::TokenStream;
use rev_compiler::diag::{Code, Diagnostic, Diagnostics};
use rev_compiler::pass::HIGHEST_ORDER;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::Token;

use crate::spans::Spans;

/// How often the tangent or the adjoint of a function can be taken: each makes its programs twice as large.
const MOST_TIMES: u8 = 4;

/// Up to what order the partial derivatives of a pure function are there if nothing is said.
const ORDER: u8 = 2;

/// The most that can be said: what the adjoint of a function with so many tangents and adjoints takes.
const MOST_ORDER: u8 = 1 + 2 * MOST_TIMES;

/// How often: `= 2`, or nothing for once.
fn times(input: ParseStream<'_>) -> syn::Result<u8> {
    match input.peek(Token![=]) {
        true => up_to(MOST_TIMES, input),
        false => Ok(1),
    }
}

/// `= 2`
fn up_to(most: u8, input: ParseStream<'_>) -> syn::Result<u8> {
    input.parse::<Token![=]>()?;
    let number: syn::LitInt = input.parse()?;
    match number.base10_parse() {
        Ok(n) if (1..=most).contains(&n) => Ok(n),
        Ok(_) | Err(_) => Err(syn::Error::new(number.span(), format!("1 to {most}"))),
    }
}

/// The order of `taylor = 3`.
fn order(input: ParseStream<'_>) -> syn::Result<usize> {
    input.parse::<Token![=]>()?;
    let order: syn::LitInt = input.parse()?;
    match order.base10_parse::<usize>() {
        Ok(order) if (2..=HIGHEST_ORDER).contains(&order) => Ok(order),
        Ok(_) | Err(_) => {
            let text = format!("an order from 2 to {HIGHEST_ORDER}: of the first order is `tangent`");
            Err(syn::Error::new(order.span(), text))
        }
    }
}

/// The arguments of `#[reversible(..)]`.
#[derive(Default)]
pub struct Options {
    /// `unchecked`: no reversibility checks in the whole function.
    pub unchecked: bool,
    /// `loss = name`: what `gradient` differentiates.
    pub loss: Option<syn::Ident>,
    /// `constant(name, ..)`: the parameters that have no derivative.
    pub constants: Vec<syn::Ident>,
    /// `tangent`, `tangent = 2`: how often the tangent is taken of the function.
    pub tangents: u8,
    /// `taylor = 3`: the order up to which Taylor coefficients are wanted.
    pub taylor: Option<usize>,
    /// `adjoint`, `adjoint = 2`: how often the adjoint, to be called in programs.
    pub adjoints: u8,
    /// `inverse_adjoint`: the adjoint of the inverse, which calls of the inverse need where cotangents go through them.
    pub inverse_adjoint: bool,
}

/// One argument.
enum Item {
    Unchecked,
    Loss(syn::Ident),
    Constant(Vec<syn::Ident>),
    Tangent(u8),
    Taylor(usize),
    Adjoint(u8),
    InverseAdjoint,
    Unknown(syn::Ident),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Item> {
        let name: syn::Ident = input.parse()?;
        match name.to_string().as_str() {
            "unchecked" => Ok(Item::Unchecked),
            "loss" => {
                input.parse::<Token![=]>()?;
                input.parse().map(Item::Loss)
            }
            "constant" => {
                let names;
                syn::parenthesized!(names in input);
                let names = Punctuated::<syn::Ident, Token![,]>::parse_terminated(&names)?;
                Ok(Item::Constant(names.into_iter().collect()))
            }
            "tangent" => times(input).map(Item::Tangent),
            "taylor" => order(input).map(Item::Taylor),
            "adjoint" => times(input).map(Item::Adjoint),
            "inverse_adjoint" => Ok(Item::InverseAdjoint),
            _ => Ok(Item::Unknown(name)),
        }
    }
}

/// Reads the arguments of `#[reversible(..)]`.
pub fn options(tokens: TokenStream, spans: &mut Spans, diagnostics: &mut Diagnostics) -> Options {
    let mut options = Options::default();
    let items = match Punctuated::<Item, Token![,]>::parse_terminated.parse2(tokens.clone()) {
        Ok(items) => items,
        Err(_) => {
            diagnostics.push(unknown(spans.of(&tokens)));
            return options;
        }
    };
    for item in items {
        match item {
            Item::Unchecked => options.unchecked = true,
            Item::Loss(name) => options.loss = Some(name),
            Item::Tangent(times) => options.tangents = times,
            Item::Taylor(order) => options.taylor = Some(order),
            Item::Adjoint(times) => options.adjoints = times,
            Item::InverseAdjoint => options.inverse_adjoint = true,
            Item::Constant(names) => options.constants.extend(names),
            Item::Unknown(name) => diagnostics.push(unknown(spans.of(&name))),
        }
    }
    options
}

fn unknown(span: rev_compiler::ir::Span) -> Diagnostic {
    Diagnostic::new(Code::UnsupportedAttribute, span, "this argument of `reversible` isn't known")
        .help("`#[reversible(unchecked)]`, `#[reversible(loss = name)]`, `#[reversible(constant(name, ..))]`, `#[reversible(tangent)]`, `#[reversible(adjoint)]` (or `tangent = 2`, up to 4), `#[reversible(taylor = 2)]` (up to 6) and `#[reversible(inverse_adjoint)]` are")
}

/// A given derivative of a pure function: `d(x) = e`.
pub struct Partial {
    /// The parameter.
    pub name: syn::Ident,
    /// The derivative.
    pub value: syn::Expr,
}

/// The arguments of `#[pure(..)]`.
pub struct PureOptions {
    /// The given derivatives.
    pub partials: Vec<Partial>,
    /// `order = 3`: up to what order partial derivatives are emitted.
    pub order: u8,
}

/// One of them.
enum PureItem {
    Partial(Box<Partial>),
    Order(u8),
}

impl Parse for PureItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<PureItem> {
        let name: syn::Ident = input.parse()?;
        match name.to_string().as_str() {
            "d" => {
                let inner;
                syn::parenthesized!(inner in input);
                let name = inner.parse()?;
                input.parse::<Token![=]>()?;
                Ok(PureItem::Partial(Box::new(Partial { name, value: input.parse()? })))
            }
            "order" => up_to(MOST_ORDER, input).map(PureItem::Order),
            _ => Err(syn::Error::new(name.span(), "expected `d(x) = ..` or `order = ..`")),
        }
    }
}

/// Reads the arguments of `#[pure(..)]`.
pub fn pure_options(tokens: TokenStream, spans: &mut Spans, diagnostics: &mut Diagnostics) -> PureOptions {
    let mut options = PureOptions { partials: Vec::new(), order: ORDER };
    match Punctuated::<PureItem, Token![,]>::parse_terminated.parse2(tokens.clone()) {
        Ok(items) => items.into_iter().for_each(|item| match item {
            PureItem::Partial(partial) => options.partials.push(*partial),
            PureItem::Order(order) => options.order = order,
        }),
        Err(_) => {
            let (span, message) =
                (spans.of(&tokens), "the arguments of `pure` are derivatives and their order");
            let help =
                format!("`#[pure(d(x) = ..., d(y) = ...)]`, `#[pure(order = 3)]` (up to {MOST_ORDER})");
            diagnostics.push(Diagnostic::new(Code::UnsupportedAttribute, span, message).help(help));
        }
    }
    options
}
