//! Diagnostics as compile errors: each at the tokens at fault, a companion at the second place.
//!
//! The diagnostics themselves, of the front end and of the checks alike, are rev-compiler's; here their
//! positions become the compiler's spans again.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{quote, quote_spanned};
use rev_compiler::diag::{Diagnostic, Diagnostics};

use crate::spans::{Region, Spans};

/// All diagnostics of an item as `compile_error!`s, in the order of the source.
pub fn compile_errors(mut diagnostics: Diagnostics, spans: &Spans) -> TokenStream {
    diagnostics.sort();
    diagnostics.iter().flat_map(|d| render(d, spans)).collect()
}

fn render(d: &Diagnostic, spans: &Spans) -> TokenStream {
    let region = |span| spans.region(span).unwrap_or_else(|| Region::at(proc_macro2::Span::call_site()));
    let mut out = compile_error(region(d.span), &text(d));
    for (span, label) in d.labels.iter().filter(|(s, _)| s.is_some() && *s != d.span) {
        out.extend(compile_error(region(*span), &format!("[{}] the other place: {label}", d.code)));
    }
    out
}

/// Code and reason, the other places by line, the repairs.
fn text(d: &Diagnostic) -> String {
    let mut text = format!("[{}] {}", d.code, d.message);
    for (span, label) in &d.labels {
        match span.is_some() {
            true => text += &format!("\nnote: {label} (line {})", span.line),
            false => text += &format!("\nnote: {label}"),
        }
    }
    for help in &d.help {
        text += &format!("\nhelp: {help}");
    }
    text
}

/// `compile_error!("text")` that the compiler underlines from the first to the last token.
fn compile_error(region: Region, text: &str) -> TokenStream {
    let path = quote_spanned!(region.first=> ::core::compile_error!);
    let mut argument = Group::new(Delimiter::Brace, quote!(#text));
    argument.set_span(region.last);
    quote!(#path #argument)
}
