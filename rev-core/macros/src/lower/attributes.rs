//! Attributes on statements: `#[post(q)]`, `#[keep(p)]`, `#[injective(idx)]`, `#[compute]` and the others.

use proc_macro2::TokenStream;
use rev_compiler::diag::Code;
use rev_compiler::ir::{Place, VarId};
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

use super::Lowerer;

/// The attributes of the language, and where each belongs.
const KNOWN: &[(&str, &str)] = &[
    ("post", "an `if` or a `while`"),
    ("keep", "an `if`"),
    ("injective", "a `for` loop over `par(..)`"),
    ("disjoint", "a `for` loop over `par(..)`"),
    ("checkpoint", "a `for` loop in a block of statements"),
    ("compute", "a block"),
    ("inverse", "a block"),
    ("unchecked", "a block"),
    ("external", "a block"),
];

/// Attributes that say something to other tools and mean nothing here.
const IGNORED: &[&str] = &["allow", "warn", "deny", "expect", "doc", "rustfmt", "rustfmt::skip", "clippy"];

impl Lowerer {
    /// Reports every attribute that isn't one of `allowed`, or stands twice.
    pub(super) fn attributes(&mut self, attrs: &[Attribute], allowed: &[&str]) {
        for (k, attr) in attrs.iter().enumerate() {
            let name = crate::types::path_text(attr.path());
            let known = KNOWN.iter().find(|(n, _)| *n == name);
            let message = match known {
                _ if allowed.contains(&name.as_str()) => {
                    if attrs[..k].iter().all(|a| a.path() != attr.path()) {
                        continue;
                    }
                    format!("`#[{name}]` stands twice here")
                }
                Some((_, place)) => format!("`#[{name}]` belongs to {place}"),
                None if IGNORED.iter().any(|i| name.split("::").next() == Some(i)) => continue,
                None => format!("`#[{name}]` means nothing inside a reversible function"),
            };
            let _: Option<()> = self.error(Code::UnsupportedAttribute, attr, message);
        }
    }

    /// The expression in `#[post(q)]`.
    pub(super) fn post(&mut self, attrs: &[Attribute]) -> Option<syn::Expr> {
        let attr = attrs.iter().find(|a| a.path().is_ident("post"))?;
        match attr.parse_args::<syn::Expr>() {
            Ok(e) => Some(e),
            Err(_) => self.error_help(
                Code::UnsupportedAttribute,
                attr,
                "`post` takes one condition",
                "`#[post(k > 0)]`",
            ),
        }
    }

    /// The place in `#[keep(p)]`.
    pub(super) fn keep(&mut self, attrs: &[Attribute]) -> Option<Place> {
        let attr = attrs.iter().find(|a| a.path().is_ident("keep"))?;
        if attrs.iter().any(|a| a.path().is_ident("post")) {
            return self.error_help(
                Code::UnsupportedAttribute,
                attr,
                "`keep` and `post` say the same thing twice: which way the branch went",
                "leave one of them out",
            );
        }
        match attr.parse_args::<syn::Expr>() {
            Ok(e) => self.place(&e),
            Err(_) => self.error_help(
                Code::UnsupportedAttribute,
                attr,
                "`keep` takes one place, a `bool` that is `false` or a stack of `bool`s",
                "`#[keep(went[i])]` or `#[keep(stack)]`",
            ),
        }
    }

    /// The index arrays in `#[injective(idx)]`.
    pub(super) fn injective(&mut self, attrs: &[Attribute]) -> Vec<Place> {
        self.listed(attrs, "injective").iter().filter_map(|e| self.place(e)).collect()
    }

    /// The variables in `#[disjoint(a)]`.
    pub(super) fn disjoint(&mut self, attrs: &[Attribute]) -> Vec<VarId> {
        let mut vars = Vec::new();
        for e in self.listed(attrs, "disjoint") {
            match self.place(&e) {
                Some(p) if p.path.is_empty() => vars.push(p.var),
                Some(_) => {
                    let _: Option<()> =
                        self.error(Code::ParallelDeclaration, &e, "`disjoint` is about a whole variable");
                }
                None => {}
            }
        }
        vars
    }

    fn listed(&mut self, attrs: &[Attribute], name: &str) -> Vec<syn::Expr> {
        let mut out = Vec::new();
        for attr in attrs.iter().filter(|a| a.path().is_ident(name)) {
            match attr.parse_args_with(Punctuated::<syn::Expr, Token![,]>::parse_terminated) {
                Ok(list) if !list.is_empty() => out.extend(list),
                Ok(_) | Err(_) => {
                    let message = format!("`{name}` names variables: `#[{name}(a)]`");
                    let _: Option<()> = self.error(Code::ParallelDeclaration, attr, message);
                }
            }
        }
        out
    }

    /// Which of the block attributes a block has, `None` for a plain block.
    pub(super) fn block_attribute(&mut self, attrs: &[Attribute]) -> Option<&'static str> {
        const KINDS: [&str; 3] = ["inverse", "unchecked", "external"];
        let found: Vec<&'static str> =
            KINDS.into_iter().filter(|k| attrs.iter().any(|a| a.path().is_ident(k))).collect();
        self.attributes(attrs, &found[..found.len().min(1)]);
        let kind = *found.first()?;
        let attr = attrs.iter().find(|a| a.path().is_ident(kind))?;
        if !matches!(attr.meta, Meta::Path(_)) {
            let _: Option<()> =
                self.error(Code::UnsupportedAttribute, attr, format!("`#[{kind}]` takes no arguments"));
        }
        Some(kind)
    }
}

/// The tokens between the braces of a block.
pub(super) fn inner_tokens(block: &syn::Block) -> TokenStream {
    use quote::TokenStreamExt;
    let mut tokens = TokenStream::new();
    tokens.append_all(&block.stmts);
    tokens
}
