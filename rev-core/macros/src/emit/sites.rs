//! The statements of a function as the errors of its programs show them.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use quote::{quote, ToTokens};
use rev_compiler::ir;

/// The words of a source item with their positions, to quote statements from.
pub struct Quotes {
    words: Vec<Word>,
}

struct Word {
    start: (usize, usize),
    end: (usize, usize),
    text: String,
}

impl Quotes {
    /// The words of an item.
    pub fn of(item: &impl ToTokens) -> Quotes {
        let mut quotes = Quotes { words: Vec::new() };
        quotes.add(item.to_token_stream());
        quotes
    }

    fn add(&mut self, tokens: TokenStream) {
        for tree in tokens {
            match tree {
                TokenTree::Group(g) => self.add_group(&g),
                TokenTree::Ident(i) => self.push(i.span(), i.to_string()),
                TokenTree::Punct(c) => self.push(c.span(), c.to_string()),
                TokenTree::Literal(l) => self.push(l.span(), l.to_string()),
            }
        }
    }

    fn add_group(&mut self, g: &Group) {
        let (open, close) = match g.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => return self.add(g.stream()),
        };
        self.push(g.span_open(), open.into());
        self.add(g.stream());
        self.push(g.span_close(), close.into());
    }

    fn push(&mut self, span: Span, text: String) {
        let (start, end) = (span.start(), span.end());
        self.words.push(Word { start: (start.line, start.column), end: (end.line, end.column), text });
    }

    /// The first line of what stands at a position, attributes left out.
    pub fn line(&self, at: ir::Span) -> String {
        let start = (at.line as usize, at.column as usize);
        let end = (at.end_line as usize, at.end_column as usize);
        let all: Vec<&Word> = self.words.iter().filter(|w| w.start >= start && w.end <= end).collect();
        let words = without_attributes(&all);
        let Some(first) = words.first() else { return String::new() };
        let mut text = String::new();
        let mut column = first.start.1;
        for word in words.iter().take_while(|w| w.start.0 == first.start.0) {
            if word.start.1 > column {
                text.push(' ');
            }
            text += &word.text;
            column = word.end.1;
        }
        text
    }
}

/// The words behind the attributes at the front.
fn without_attributes<'a>(mut words: &'a [&'a Word]) -> &'a [&'a Word] {
    while let [hash, open, rest @ ..] = words {
        if hash.text != "#" || open.text != "[" {
            break;
        }
        let mut depth = 1;
        let close = rest.iter().position(|w| {
            match w.text.as_str() {
                "[" => depth += 1,
                "]" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        match close {
            Some(k) => words = &rest[k + 1..],
            None => break,
        }
    }
    words
}

/// The sites of a function's programs, numbered as they come.
#[derive(Default)]
pub struct Sites {
    numbers: BTreeMap<(ir::Span, String), usize>,
    entries: Vec<TokenStream>,
}

impl Sites {
    /// The number of a statement's site, in loops with these variables.
    pub fn number(&mut self, at: ir::Span, loops: Vec<&str>, quotes: &Quotes, p: &TokenStream) -> usize {
        let entries = &mut self.entries;
        *self.numbers.entry((at, loops.join(" "))).or_insert_with(|| {
            let [line, column] = [at.line, at.column].map(Literal::u32_unsuffixed);
            let text = quotes.line(at);
            entries.push(quote!(#p::Site::new(__FILE, #line, #column, #text, &[#(#loops),*])));
            entries.len() - 1
        })
    }

    /// The table that the numbers index.
    pub fn table(&self, p: &TokenStream) -> TokenStream {
        let (count, entries) = (self.entries.len(), &self.entries);
        quote! {
            const __FILE: &str = file!();
            static __SITES: [#p::Site; #count] = [#(#entries),*];
        }
    }
}
