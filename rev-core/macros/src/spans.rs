//! Source positions: the IR's plain numbers, and the way back to the compiler's spans.
//!
//! The stable compiler doesn't join spans, so a region is kept as its first and last token; an
//! error that names both is underlined from the one to the other.

use std::collections::HashMap;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use rev_compiler::ir;

/// A stretch of source: its first and its last token.
#[derive(Clone, Copy)]
pub struct Region {
    /// The first token.
    pub first: Span,
    /// The last token.
    pub last: Span,
}

impl Region {
    /// The region of a single span.
    pub fn at(span: Span) -> Region {
        Region { first: span, last: span }
    }

    /// The region that some syntax covers.
    pub fn of(tokens: &impl ToTokens) -> Region {
        let stream = tokens.to_token_stream();
        match (first_span(stream.clone()), last_span(stream)) {
            (Some(first), Some(last)) => Region { first, last },
            _ => Region::at(Span::call_site()),
        }
    }

    /// The region of an expression, from its first and last parts: made of all its tokens, those of what is deep would
    /// be made anew for each part.
    pub fn of_expr(e: &syn::Expr) -> Region {
        Region { first: first_of(e), last: last_of(e) }
    }

    /// The region of a block, its braces among it.
    pub fn of_block(block: &syn::Block) -> Region {
        Region { first: block.brace_token.span.open(), last: block.brace_token.span.close() }
    }

    /// From the start of this region to the end of another.
    pub fn to(self, end: Region) -> Region {
        Region { first: self.first, last: end.last }
    }

    /// The position in numbers.
    pub fn position(self) -> ir::Span {
        let (start, end) = (self.first.start(), self.last.end());
        ir::Span {
            line: start.line as u32,
            column: start.column as u32,
            end_line: end.line as u32,
            end_column: end.column as u32,
        }
    }
}

fn first_of(e: &syn::Expr) -> Span {
    match e {
        syn::Expr::Binary(b) if b.attrs.is_empty() => first_of(&b.left),
        syn::Expr::Unary(u) if u.attrs.is_empty() => Region::of(&u.op).first,
        syn::Expr::Call(c) if c.attrs.is_empty() => first_of(&c.func),
        syn::Expr::MethodCall(m) if m.attrs.is_empty() => first_of(&m.receiver),
        syn::Expr::Paren(p) if p.attrs.is_empty() => p.paren_token.span.open(),
        syn::Expr::If(i) if i.attrs.is_empty() => i.if_token.span,
        other => Region::of(other).first,
    }
}

fn last_of(e: &syn::Expr) -> Span {
    match e {
        syn::Expr::Binary(b) => last_of(&b.right),
        syn::Expr::Unary(u) => last_of(&u.expr),
        syn::Expr::Call(c) => c.paren_token.span.close(),
        syn::Expr::MethodCall(m) => m.paren_token.span.close(),
        syn::Expr::Paren(p) => p.paren_token.span.close(),
        syn::Expr::If(i) => match &i.else_branch {
            Some((_, otherwise)) => last_of(otherwise),
            None => i.then_branch.brace_token.span.close(),
        },
        syn::Expr::Block(b) => b.block.brace_token.span.close(),
        other => Region::of(other).last,
    }
}

fn first_span(stream: TokenStream) -> Option<Span> {
    match stream.into_iter().next()? {
        TokenTree::Group(g) if g.delimiter() == Delimiter::None => first_span(g.stream()),
        TokenTree::Group(g) => Some(g.span_open()),
        tree => Some(tree.span()),
    }
}

fn last_span(stream: TokenStream) -> Option<Span> {
    match stream.into_iter().last()? {
        TokenTree::Group(g) if g.delimiter() == Delimiter::None => last_span(g.stream()),
        TokenTree::Group(g) => Some(g.span_close()),
        tree => Some(tree.span()),
    }
}

/// From the IR's positions back to tokens.
#[derive(Clone, Default)]
pub struct Spans {
    regions: HashMap<ir::Span, Region>,
}

impl Spans {
    /// Notes a region and gives its position.
    pub fn record(&mut self, region: Region) -> ir::Span {
        let position = region.position();
        self.regions.entry(position).or_insert(region);
        position
    }

    /// Notes where some syntax stands.
    pub fn of(&mut self, tokens: &impl ToTokens) -> ir::Span {
        self.record(Region::of(tokens))
    }

    /// The region at a position that was recorded.
    pub fn region(&self, position: ir::Span) -> Option<Region> {
        self.regions.get(&position).copied()
    }

    /// The first token at a position, or the macro's own span: what emitted tokens carry.
    pub fn span(&self, position: ir::Span) -> Span {
        self.region(position).map_or_else(Span::call_site, |r| r.first)
    }
}

/// Two tokens, for the region from the one to the other.
pub struct Until<'a, A, B>(pub &'a A, pub &'a B);

impl<A: ToTokens, B: ToTokens> ToTokens for Until<'_, A, B> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
        self.1.to_tokens(tokens);
    }
}

/// Whether an identifier stands anywhere in some tokens.
pub fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|t| match t {
        TokenTree::Ident(i) => i == *name,
        TokenTree::Group(g) => mentions(g.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Tokens that all stand at one position.
pub fn at_span(tokens: TokenStream, span: Span) -> TokenStream {
    let at = |mut tree: TokenTree| {
        if let TokenTree::Group(g) = &tree {
            tree = TokenTree::Group(Group::new(g.delimiter(), at_span(g.stream(), span)));
        }
        tree.set_span(span);
        tree
    };
    tokens.into_iter().map(at).collect()
}

/// Tokens with each identifier replaced.
pub fn each_ident(tokens: TokenStream, replace: &mut dyn FnMut(Ident) -> Ident) -> TokenStream {
    let mut each = |tree| match tree {
        TokenTree::Ident(i) => TokenTree::Ident(replace(i)),
        TokenTree::Group(g) => {
            let mut group = Group::new(g.delimiter(), each_ident(g.stream(), &mut *replace));
            group.set_span(g.span());
            TokenTree::Group(group)
        }
        other => other,
    };
    tokens.into_iter().map(&mut each).collect()
}
