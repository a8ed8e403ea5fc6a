//! Text to tokens, each with its place in the text.

use super::names::{continues_identifier, path_end, starts_identifier};
use super::ParseError;
use crate::ir::{Number, Span};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// An identifier or path; quoted ones are never words of the language.
    Name { text: String, quoted: bool },
    /// A number and its type suffix.
    Number(Number, Option<String>),
    /// The magnitude of the least `i128`, which is a number only after a minus sign.
    LeastMagnitude(Option<String>),
    /// `$3`: a variable by its number.
    Var(u32),
    /// A text in quotation marks.
    Text(String),
    /// A source position.
    Mark(Span),
    /// Anything else.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Name { text, .. } => write!(f, "`{text}`"),
            Token::Number(Number::Int(v), _) => write!(f, "`{v}`"),
            Token::Number(Number::Float(v), _) => write!(f, "`{v:?}`"),
            Token::Number(Number::Bool(v), _) => write!(f, "`{v}`"),
            Token::LeastMagnitude(_) => write!(f, "a number above the largest i128"),
            Token::Var(n) => write!(f, "`${n}`"),
            Token::Text(t) => write!(f, "{t:?}"),
            Token::Mark(_) => f.write_str("a source position"),
            Token::Symbol(s) => write!(f, "`{s}`"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// A token in the text.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub token: Token,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// Line and column, from 1, directly behind it.
    pub end: (u32, u32),
    /// Whether it stands directly after the token before it.
    pub glued: bool,
}

/// Longest first. `>` stands alone so that type arguments can close with it.
const SYMBOLS: &[&str] = &[
    "..=", "<<", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "^=", "->", "=>", "..", "(",
    ")", "[", "]", "{", "}", "<", ">", ",", ";", ":", ".", "+", "-", "*", "/", "%", "!", "&", "|", "^", "=",
];

/// The tokens of a text, the last of them [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, ParseError> {
    let mut lexer = Lexer { chars: text.chars().collect(), at: 0, line: 1, line_start: 0 };
    let mut out: Vec<Placed> = Vec::new();
    loop {
        let glued = !lexer.skip_space();
        let (line, column) = lexer.position();
        let after_dot = out.last().is_some_and(|t| t.token == Token::Symbol("."));
        let token = lexer.token(after_dot)?;
        let end = token == Token::End;
        out.push(Placed { token, line, column, end: lexer.position(), glued });
        if end {
            return Ok(out);
        }
    }
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: u32,
    line_start: usize,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn position(&self) -> (u32, u32) {
        (self.line, (self.at - self.line_start) as u32 + 1)
    }

    fn error(&self, expected: &str, found: impl Into<String>) -> ParseError {
        let (line, column) = self.position();
        ParseError { line, column, expected: expected.into(), found: found.into() }
    }

    /// Skips white space and `// comments`; whether there was any.
    fn skip_space(&mut self) -> bool {
        let start = self.at;
        while let Some(c) = self.peek(0) {
            if c == '/' && self.peek(1) == Some('/') {
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            } else if c.is_whitespace() {
                self.at += 1;
                if c == '\n' {
                    self.line += 1;
                    self.line_start = self.at;
                }
            } else {
                break;
            }
        }
        self.at != start
    }

    fn token(&mut self, after_dot: bool) -> Result<Token, ParseError> {
        let Some(c) = self.peek(0) else { return Ok(Token::End) };
        match c {
            '"' => Ok(Token::Text(self.quoted('"')?)),
            '`' => Ok(Token::Name { text: self.quoted('`')?, quoted: true }),
            '@' => self.mark().map(Token::Mark),
            '$' => {
                self.at += 1;
                self.small().map(Token::Var)
            }
            c if c.is_ascii_digit() => self.number(after_dot),
            c if starts_identifier(c) => {
                let end = path_end(&self.chars, self.at);
                let text = self.chars[self.at..end].iter().collect();
                self.at = end;
                Ok(Token::Name { text, quoted: false })
            }
            c => {
                let found =
                    SYMBOLS.iter().find(|s| s.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c)));
                match found {
                    Some(s) => {
                        self.at += s.len();
                        Ok(Token::Symbol(s))
                    }
                    None => Err(self.error("a word, number or operator", format!("`{c}`"))),
                }
            }
        }
    }

    /// A text up to a closing quotation mark, with the escapes of [`super::print`].
    fn quoted(&mut self, quote: char) -> Result<String, ParseError> {
        let mut out = String::new();
        self.at += 1;
        loop {
            match self.peek(0) {
                None | Some('\n') => return Err(self.error(&format!("`{quote}`"), "the end of the line")),
                Some(c) if c == quote => {
                    self.at += 1;
                    return Ok(out);
                }
                Some('\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                Some(c) => {
                    self.at += 1;
                    out.push(c);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let bad = |lexer: &Self| lexer.error("an escape like `\\n` or `\\u{41}`", "something else");
        let c = self.peek(0).ok_or_else(|| bad(self))?;
        let simple = match c {
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            '\\' | '"' | '`' => Some(c),
            'u' => None,
            _ => return Err(bad(self)),
        };
        self.at += 1;
        if let Some(c) = simple {
            return Ok(c);
        }
        if self.peek(0) != Some('{') {
            return Err(bad(self));
        }
        let close = (1..8).find(|i| self.peek(*i) == Some('}')).ok_or_else(|| bad(self))?;
        let digits: String = self.chars[self.at + 1..self.at + close].iter().collect();
        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).ok_or_else(|| bad(self))?;
        self.at += close + 1;
        Ok(code)
    }

    fn digits(&mut self) -> String {
        let mut out = String::new();
        while let Some(c) = self.peek(0) {
            let separator = c == '_' && self.peek(1).is_some_and(|c| c.is_ascii_digit()) && !out.is_empty();
            if c.is_ascii_digit() {
                out.push(c);
            } else if !separator {
                break;
            }
            self.at += 1;
        }
        out
    }

    fn small(&mut self) -> Result<u32, ParseError> {
        let start = self.at;
        self.digits().parse().map_err(|_| {
            self.at = start;
            self.error("a number below 2^32", "something else")
        })
    }

    fn number(&mut self, after_dot: bool) -> Result<Token, ParseError> {
        let start = self.at;
        let mut text = self.digits();
        let mut float = false;
        if !after_dot && self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
            text = format!("{text}.{}", self.digits());
            float = true;
        }
        let sign = usize::from(matches!(self.peek(1), Some('+' | '-')));
        if !after_dot && self.peek(0) == Some('e') && self.peek(1 + sign).is_some_and(|c| c.is_ascii_digit())
        {
            text.push('e');
            text.extend(self.chars[self.at + 1..self.at + 1 + sign].iter());
            self.at += 1 + sign;
            text.push_str(&self.digits());
            float = true;
        }
        let suffix = if after_dot { None } else { self.suffix() };
        let too_large = |lexer: &mut Self| {
            lexer.at = start;
            lexer.error("a number that fits in an i128 or f64", "a larger one")
        };
        if float {
            let v: f64 = text.parse().map_err(|_| too_large(self))?;
            return if v.is_finite() {
                Ok(Token::Number(Number::Float(v), suffix))
            } else {
                Err(too_large(self))
            };
        }
        match text.parse::<i128>() {
            Ok(v) => Ok(Token::Number(Number::Int(v), suffix)),
            Err(_) if text.parse() == Ok(i128::MIN.unsigned_abs()) => Ok(Token::LeastMagnitude(suffix)),
            Err(_) => Err(too_large(self)),
        }
    }

    /// A type after a number: `usize` in `1usize`, `T` in `1_T`.
    fn suffix(&mut self) -> Option<String> {
        if self.peek(0) == Some('_') && self.peek(1).is_some_and(starts_identifier) {
            self.at += 1;
        }
        self.peek(0).filter(|c| starts_identifier(*c))?;
        let start = self.at;
        while self.peek(0).is_some_and(continues_identifier) {
            self.at += 1;
        }
        Some(self.chars[start..self.at].iter().collect())
    }

    /// `@line:column-column`, `@line:column-line:column`, `@0`.
    fn mark(&mut self) -> Result<Span, ParseError> {
        self.at += 1;
        let line = self.small()?;
        if line == 0 && self.peek(0) != Some(':') {
            return Ok(Span::NONE);
        }
        self.separator(':')?;
        let column = self.small()?;
        self.separator('-')?;
        let end = self.small()?;
        if self.peek(0) != Some(':') || !self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
            return Ok(Span { line, column, end_line: line, end_column: end });
        }
        self.at += 1;
        Ok(Span { line, column, end_line: end, end_column: self.small()? })
    }

    fn separator(&mut self, c: char) -> Result<(), ParseError> {
        if self.peek(0) != Some(c) {
            return Err(self.error("a source position like `@12:4-9`", "something else"));
        }
        self.at += 1;
        Ok(())
    }
}
