//! Text to programs: recursive descent over the tokens, one method per form of the language.
//!
//! No text makes it panic: nesting and the height of expressions are bounded, and the stack grows with what is
//! being read.

mod expr;
mod item;
mod stmt;
mod types;

use std::collections::HashMap;

use super::token::{tokens, Placed, Token};
use crate::ir::*;
use crate::limits::{self, DERIVED_NESTING, HEIGHT};

/// Where a text stops being a program.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub struct ParseError {
    /// Line of the text, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What could have stood there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

/// The message: it is what `unwrap` shows.
impl std::fmt::Debug for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The function that a text says, in the clean or the encoded form.
pub fn parse_function(text: &str) -> Result<Function, ParseError> {
    let mut p = Parser::new(text)?;
    let f = p.function()?;
    p.end()?;
    Ok(f)
}

/// The function that a text says, in which everything without a position of its own has the position
/// of its text: so that diagnostics can point into the text.
pub fn parse_located(text: &str) -> Result<Function, ParseError> {
    let mut p = Parser { located: true, ..Parser::new(text)? };
    let f = p.function()?;
    p.end()?;
    Ok(f)
}

/// The module that a text says, with positions as in [`parse_located`].
pub fn parse_located_module(text: &str) -> Result<Module, ParseError> {
    let mut p = Parser { located: true, ..Parser::new(text)? };
    let m = p.module()?;
    p.end()?;
    Ok(m)
}

/// The module that a text says, in the clean or the encoded form.
pub fn parse_module(text: &str) -> Result<Module, ParseError> {
    let mut p = Parser::new(text)?;
    let m = p.module()?;
    p.end()?;
    Ok(m)
}

/// How deep parentheses and types can be nested in each other: some levels for each of an expression.
const MAX_DEPTH: usize = 4 * HEIGHT;

type Parsed<T> = Result<T, ParseError>;

struct Parser {
    tokens: Vec<Placed>,
    at: usize,
    /// Nesting of the expressions and types being read.
    depth: usize,
    /// Nesting of the statements being read.
    nesting: usize,
    /// The height of the highest expression read since the one around it began.
    height: usize,
    vars: Vec<Var>,
    by_name: HashMap<String, VarId>,
    generics: Vec<Generic>,
    /// Whether the variables were listed, so that statements only refer to them.
    tabled: bool,
    /// Whether what has no position gets that of its text.
    located: bool,
}

/// A variable as written.
struct Reference {
    name: Result<String, u32>,
    at: usize,
}

impl Parser {
    fn new(text: &str) -> Parsed<Parser> {
        Ok(Parser {
            tokens: tokens(text)?,
            at: 0,
            depth: 0,
            nesting: 0,
            height: 0,
            vars: Vec::new(),
            by_name: HashMap::new(),
            generics: Vec::new(),
            tabled: false,
            located: false,
        })
    }

    /// The token `ahead` of the next one; the end of the text from there on.
    fn ahead(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).map_or(&Token::End, |t| &t.token)
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    fn error(&self, expected: impl Into<String>) -> ParseError {
        self.error_at(self.at, expected)
    }

    fn error_at(&self, at: usize, expected: impl Into<String>) -> ParseError {
        let t = self.tokens.get(at).or(self.tokens.last());
        let found = t.map_or_else(|| Token::End.to_string(), |t| t.token.to_string());
        let (line, column) = t.map_or((1, 1), |t| (t.line, t.column));
        ParseError { line, column, expected: expected.into(), found }
    }

    fn end(&mut self) -> Parsed<()> {
        match self.ahead(0) {
            Token::End => Ok(()),
            _ => Err(self.error("the end of the text")),
        }
    }

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(format!("nesting at most {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let out = limits::deeper(|| read(self));
        self.depth -= 1;
        out
    }

    /// Reads a statement in those around it.
    fn inner<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == DERIVED_NESTING {
            return Err(self.error(format!("statements nested at most {DERIVED_NESTING} deep")));
        }
        self.nesting += 1;
        let out = limits::deeper(|| read(self));
        self.nesting -= 1;
        out
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.ahead(0), Token::Symbol(s) if *s == symbol)
    }

    fn next_is(&self, symbol: &str) -> bool {
        matches!(self.ahead(1), Token::Symbol(s) if *s == symbol)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) {
            Ok(())
        } else {
            Err(self.error(format!("`{symbol}`")))
        }
    }

    /// The next token if it is an unquoted word.
    fn word(&self) -> Option<&str> {
        match self.ahead(0) {
            Token::Name { text, quoted: false } => Some(text),
            _ => None,
        }
    }

    fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            Err(self.error(format!("`{word}`")))
        }
    }

    /// A name or path.
    fn path(&mut self, what: &str) -> Parsed<String> {
        match self.ahead(0) {
            Token::Name { text, quoted } if *quoted || !super::names::is_keyword(text) => {
                let text = text.clone();
                self.advance();
                Ok(text)
            }
            _ => Err(self.error(what)),
        }
    }

    fn text(&mut self) -> Parsed<String> {
        match self.ahead(0) {
            Token::Text(text) => {
                let text = text.clone();
                self.advance();
                Ok(text)
            }
            _ => Err(self.error("a text in quotation marks")),
        }
    }

    fn whole<N: TryFrom<i128>>(&mut self, what: &str) -> Parsed<N> {
        match self.ahead(0) {
            Token::Number(Number::Int(v), None) => {
                let v = N::try_from(*v).map_err(|_| self.error(what))?;
                self.advance();
                Ok(v)
            }
            _ => Err(self.error(what)),
        }
    }

    /// A position that belongs to what was read last.
    fn glued_mark(&mut self) -> Option<Span> {
        let glued = self.tokens.get(self.at).is_some_and(|t| t.glued);
        if glued {
            self.mark()
        } else {
            None
        }
    }

    fn mark(&mut self) -> Option<Span> {
        match self.ahead(0) {
            Token::Mark(span) => {
                let span = *span;
                self.advance();
                Some(span)
            }
            _ => None,
        }
    }

    /// The position of what was read from the token `start` on, where positions are wanted.
    fn extent(&self, start: usize) -> Span {
        match (self.tokens.get(start), self.tokens.get(self.at.saturating_sub(1))) {
            (Some(first), Some(last)) if self.located && start < self.at => Span {
                line: first.line,
                column: first.column - 1,
                end_line: last.end.0,
                end_column: last.end.1 - 1,
            },
            _ => Span::NONE,
        }
    }

    /// `item, item, …` up to and with a closing symbol.
    fn list<T>(&mut self, close: &str, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut out = Vec::new();
        while !self.eat(close) {
            out.push(read(self)?);
            if !self.is(close) && !self.eat(",") {
                return Err(self.error(format!("`,` or `{close}`")));
            }
        }
        Ok(out)
    }

    /// A variable's name or number.
    fn reference(&mut self) -> Parsed<Reference> {
        let at = self.at;
        if let Token::Var(n) = self.ahead(0) {
            let name = Err(*n);
            self.advance();
            return Ok(Reference { name, at });
        }
        Ok(Reference { name: Ok(self.path("a variable")?), at })
    }

    /// The variable that a reference means.
    fn lookup(&self, r: &Reference) -> Parsed<VarId> {
        let found = match &r.name {
            Ok(name) => self.by_name.get(name).copied(),
            Err(n) => Some(VarId(*n)).filter(|v| (v.0 as usize) < self.vars.len()),
        };
        found.ok_or_else(|| self.error_at(r.at, "a variable that is declared"))
    }

    fn var(&mut self) -> Parsed<VarId> {
        let r = self.reference()?;
        self.lookup(&r)
    }

    /// The variable that a declaration means: a line of the table, or the same declaration above
    /// (a program and its inverse may stand in one function), or a new one.
    fn declare(&mut self, r: &Reference, ty: Option<Type>, default: Type, kind: VarKind) -> Parsed<VarId> {
        let known = self.lookup(r);
        match (known, &r.name) {
            (Ok(id), _) => {
                let v = &self.vars[id.0 as usize];
                let same_type = match &ty {
                    Some(ty) => *ty == v.ty,
                    None => self.tabled || v.ty == default,
                };
                if same_type && (self.tabled || v.kind == kind) {
                    Ok(id)
                } else {
                    Err(self.error_at(r.at, "a name that isn't declared differently above"))
                }
            }
            (Err(_), Ok(name)) if !self.tabled => {
                let name = name.clone();
                Ok(self.add_var(Var { name, ty: ty.unwrap_or(default), kind, span: self.name_span(r.at) }))
            }
            (Err(e), _) => Err(e),
        }
    }

    fn name_span(&self, at: usize) -> Span {
        match self.tokens.get(at) {
            Some(t) if self.located => {
                Span { line: t.line, column: t.column - 1, end_line: t.end.0, end_column: t.end.1 - 1 }
            }
            _ => Span::NONE,
        }
    }

    fn add_var(&mut self, var: Var) -> VarId {
        let id = VarId(self.vars.len() as u32);
        self.by_name.entry(var.name.clone()).or_insert(id);
        self.vars.push(var);
        id
    }
}
