//! Expressions and places.

use super::{Parsed, Parser, Reference};
use crate::ir::*;
use crate::limits::HEIGHT;
use crate::ops::{Contraction, Func};
use crate::text::names::*;
use crate::text::token::Token;

impl Parser {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(|p| p.infix(0))
    }

    /// Counts one node on top of the highest expression read so far.
    fn grow(&mut self) -> Parsed<()> {
        self.height += 1;
        if self.height > HEIGHT {
            return Err(self.error(format!("an expression at most {HEIGHT} operations high")));
        }
        Ok(())
    }

    /// Runs `read` on the operands of one expression and records its height.
    fn node<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::take(&mut self.height);
        let out = read(self)?;
        self.height = self.height.max(outer);
        Ok(out)
    }

    /// Operators that bind at least as strongly as `least`, by precedence climbing.
    fn infix(&mut self, least: u8) -> Parsed<Expr> {
        self.node(|p| {
            let start = p.at;
            let mut left = p.cast()?;
            let mut compared = false;
            while let Some((func, level)) = p.infix_operator().filter(|(_, level)| *level >= least) {
                if level == COMPARISON && std::mem::replace(&mut compared, true) {
                    return Err(p.error("parentheses around one of two comparisons"));
                }
                p.advance();
                p.at += usize::from(func == Func::Shr);
                let span = p.glued_mark();
                let right = p.deeper(|p| p.infix(level + 1))?;
                p.grow()?;
                left = at(ExprKind::Func(func, vec![left, right]), span.unwrap_or(p.extent(start)));
            }
            Ok(left)
        })
    }

    fn infix_operator(&self) -> Option<(Func, u8)> {
        let Token::Symbol(symbol) = self.ahead(0) else { return None };
        // `>` is a token of its own because it also closes type arguments
        let twice =
            *symbol == ">" && self.next_is(">") && self.tokens.get(self.at + 1).is_some_and(|t| t.glued);
        let symbol = if twice { ">>" } else { symbol };
        INFIX.iter().find(|(_, s, _)| *s == symbol).map(|(func, _, level)| (*func, *level))
    }

    /// `e as T`, which binds more strongly than the infix operators.
    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let mut e = self.prefix()?;
        while self.eat_word("as") {
            let span = self.glued_mark();
            self.grow()?;
            let ty = self.ty()?;
            e = at(ExprKind::Cast(Box::new(e), ty), span.unwrap_or(self.extent(start)));
        }
        Ok(e)
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        let Some((func, _)) = PREFIX.iter().find(|(_, s)| self.is(s)) else {
            return self.postfix();
        };
        if *func == Func::Neg && (self.is_number(1) || matches!(self.ahead(1), Token::LeastMagnitude(_))) {
            return self.postfix();
        }
        let start = self.at;
        self.advance();
        let span = self.glued_mark();
        let operand = self.deeper(Self::prefix)?;
        self.grow()?;
        Ok(at(ExprKind::Func(*func, vec![operand]), span.unwrap_or(self.extent(start))))
    }

    fn is_number(&self, ahead: usize) -> bool {
        match self.ahead(ahead) {
            Token::Number(..) => true,
            Token::Name { text, quoted: false } => matches!(text.as_str(), "inf" | "nan"),
            _ => false,
        }
    }

    /// An atom with its position, and elements of it.
    fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let mut e = self.node(|p| {
            let e = p.atom()?;
            p.grow()?;
            Ok(e)
        })?;
        if self.located && !e.span.is_some() {
            e.span = self.extent(start);
        }
        loop {
            if let Some(span) = self.glued_mark() {
                e.span = span;
            } else if self.is(".") {
                self.advance();
                let index = self.whole("the number of a tuple's element")?;
                self.grow()?;
                e = at(ExprKind::Element(Box::new(e), index), self.extent(start));
            } else {
                return Ok(e);
            }
        }
    }

    fn atom(&mut self) -> Parsed<Expr> {
        if self.is("-") || matches!(self.ahead(0), Token::Number(..)) {
            return self.literal();
        }
        if self.eat("(") {
            return self.parenthesized();
        }
        if self.eat("[") {
            return self.bracketed();
        }
        if self.eat("{") {
            let (lets, value) = self.lets()?;
            return Ok(Expr::new(ExprKind::Block(lets, Box::new(value))));
        }
        match self.ahead(0) {
            Token::Var(_) => self.read(),
            Token::Name { text, quoted } => {
                let (text, quoted) = (text.clone(), *quoted);
                match () {
                    () if !quoted && is_keyword(&text) => self.keyword(&text),
                    () if self.next_is("(") => self.application(&text, quoted),
                    () => self.name(&text),
                }
            }
            _ => Err(self.error("an expression")),
        }
    }

    /// A number as written, without a type.
    pub(super) fn number(&mut self) -> Parsed<Number> {
        Ok(self.typed_number()?.0)
    }

    fn typed_number(&mut self) -> Parsed<(Number, Option<Type>)> {
        let minus = self.eat("-");
        let (number, suffix) = match self.ahead(0) {
            Token::LeastMagnitude(suffix) if minus => (Number::Int(i128::MIN), suffix.clone()),
            Token::Number(Number::Int(v), suffix) => {
                (Number::Int(if minus { -*v } else { *v }), suffix.clone())
            }
            Token::Number(Number::Float(v), suffix) => {
                (Number::Float(if minus { -*v } else { *v }), suffix.clone())
            }
            Token::Name { text, quoted: false } => match (text.as_str(), minus) {
                ("inf", _) => (Number::Float(if minus { f64::NEG_INFINITY } else { f64::INFINITY }), None),
                ("nan", _) => (Number::Float(f64::NAN), None),
                ("true", false) => (Number::Bool(true), None),
                ("false", false) => (Number::Bool(false), None),
                _ => return Err(self.error("a number")),
            },
            _ => return Err(self.error("a number")),
        };
        let ty = match suffix {
            None => None,
            Some(name) => Some(self.suffix_type(&name)?),
        };
        self.advance();
        Ok((number, ty))
    }

    fn suffix_type(&self, name: &str) -> Parsed<Type> {
        if let Some(s) = ScalarType::from_name(name) {
            return Ok(Type::Scalar(s));
        }
        match self.generics.iter().any(|g| g.name == name) {
            true => Ok(Type::Generic(name.to_owned())),
            false => Err(self.error("a number with the name of a scalar type or type parameter")),
        }
    }

    fn literal(&mut self) -> Parsed<Expr> {
        let (number, ty) = self.typed_number()?;
        Ok(Expr::new(ExprKind::Literal(number, ty)))
    }

    /// After `(`: an expression, a tuple, or a literal with its type.
    fn parenthesized(&mut self) -> Parsed<Expr> {
        if self.eat(")") {
            return Ok(Expr::new(ExprKind::Tuple(Vec::new())));
        }
        let first = self.expr()?;
        if self.eat(")") {
            return Ok(first);
        }
        if let (true, ExprKind::Literal(number, None)) = (self.is(":"), &first.kind) {
            let number = *number;
            self.advance();
            let ty = self.ty()?;
            self.expect(")")?;
            return Ok(Expr::new(ExprKind::Literal(number, Some(ty))));
        }
        if !self.eat(",") {
            return Err(self.error("`,` or `)`"));
        }
        let mut items = vec![first];
        items.extend(self.list(")", Self::expr)?);
        Ok(Expr::new(ExprKind::Tuple(items)))
    }

    /// After `[`: an array, or equal elements.
    fn bracketed(&mut self) -> Parsed<Expr> {
        if self.eat("]") {
            return Ok(Expr::new(ExprKind::Array(Vec::new())));
        }
        let first = self.expr()?;
        if self.eat(";") {
            let length = self.expr()?;
            self.expect("]")?;
            return Ok(Expr::new(ExprKind::Repeat(Box::new(first), Box::new(length))));
        }
        let mut items = vec![first];
        if !self.eat("]") {
            self.expect(",")?;
            items.extend(self.list("]", Self::expr)?);
        }
        Ok(Expr::new(ExprKind::Array(items)))
    }

    /// After `{`: bindings and a value, up to `}`.
    fn lets(&mut self) -> Parsed<(Vec<(VarId, Expr)>, Expr)> {
        let mut lets = Vec::new();
        while self.eat_word("let") {
            let var = self.declaration(Type::Unknown, VarKind::Binding)?;
            self.expect("=")?;
            lets.push((var, self.expr()?));
            self.expect(";")?;
        }
        let value = self.expr()?;
        self.expect("}")?;
        Ok((lets, value))
    }

    /// After `{` of a branch or a pure function: the braces are those of a block, if it has bindings.
    pub(super) fn braced(&mut self) -> Parsed<Expr> {
        let (lets, value) = self.lets()?;
        if lets.is_empty() {
            return Ok(value);
        }
        self.grow()?;
        Ok(Expr::new(ExprKind::Block(lets, Box::new(value))))
    }

    /// `n: T` where a variable is declared.
    pub(super) fn declaration(&mut self, default: Type, kind: VarKind) -> Parsed<VarId> {
        let name = self.reference()?;
        let ty = if self.eat(":") { Some(self.ty()?) } else { None };
        self.declare(&name, ty, default, kind)
    }

    fn keyword(&mut self, word: &str) -> Parsed<Expr> {
        let kind = match word {
            "true" | "false" | "inf" | "nan" => return self.literal(),
            "if" => {
                self.advance();
                let c = self.expr()?;
                self.expect("{")?;
                let a = self.braced()?;
                self.expect_word("else")?;
                self.expect("{")?;
                ExprKind::If(Box::new(c), Box::new(a), Box::new(self.braced()?))
            }
            "partials" => {
                self.advance();
                let path = self.path("a pure function")?;
                ExprKind::Partials(path.into(), self.arguments()?)
            }
            "named" => {
                self.advance();
                ExprKind::of_path(&self.path("a constant")?)
            }
            "const" => {
                self.advance();
                ExprKind::Const(self.path("a const parameter")?)
            }
            _ => return Err(self.error("an expression")),
        };
        Ok(Expr::new(kind))
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(")?;
        self.list(")", Self::expr)
    }

    /// `name(…)`.
    fn application(&mut self, name: &str, quoted: bool) -> Parsed<Expr> {
        self.advance();
        if !quoted && HEADS.contains(&name) {
            self.advance();
            let kind = self.head(name)?;
            return Ok(Expr::new(kind));
        }
        let args = self.arguments()?;
        Ok(Expr::new(match Func::from_name(name).filter(|_| !quoted) {
            Some(func) => ExprKind::Func(func, args),
            None => ExprKind::Pure(name.into(), args),
        }))
    }

    /// After `head(`, for the words of [`HEADS`].
    fn head(&mut self, head: &str) -> Parsed<ExprKind> {
        let kind = match head {
            "len" => ExprKind::Len(self.place()?, None),
            "zero_shadow" => ExprKind::ZeroShadow(self.place()?),
            "zero_like" => ExprKind::ZeroLike(self.place()?),
            "zero" => ExprKind::Zero(self.ty()?),
            "stack" => ExprKind::EmptyStack,
            "contract" => return self.contraction(),
            "dim" => {
                let place = self.place()?;
                self.expect(",")?;
                ExprKind::Len(place, Some(self.whole("the number of an axis")?))
            }
            _ => {
                let value = Box::new(self.expr()?);
                let shape = match self.eat(",") {
                    true => return Ok(ExprKind::Fill(value, self.list(")", Self::expr)?)),
                    false => Vec::new(),
                };
                ExprKind::Fill(value, shape)
            }
        };
        self.expect(")")?;
        Ok(kind)
    }

    /// After `contract(`: the formula in quotation marks, and as many factors as it has.
    fn contraction(&mut self) -> Parsed<ExprKind> {
        let Token::Text(text) = self.ahead(0) else { return Err(self.error("a formula in quotation marks")) };
        let formula = Contraction::parse(text).map_err(|_| self.error("a formula: `\"ik,kj->ij\"`"))?;
        self.advance();
        self.expect(",")?;
        let factors = self.list(")", Self::expr)?;
        if factors.len() != formula.factors().len() {
            return Err(self.error(format!("{} factors", formula.factors().len())));
        }
        Ok(ExprKind::Contract(formula, factors))
    }

    /// A name alone: a variable, a const parameter or a constant.
    fn name(&mut self, name: &str) -> Parsed<Expr> {
        if self.by_name.contains_key(name) {
            return self.read();
        }
        let kind = match () {
            () if self.generics.iter().any(|g| g.name == name && g.kind == GenericKind::Const) => {
                ExprKind::Const(name.to_owned())
            }
            () if looks_constant(name) => ExprKind::of_path(name),
            () => return Err(self.error("a variable that is declared")),
        };
        self.advance();
        Ok(Expr::new(kind))
    }

    fn read(&mut self) -> Parsed<Expr> {
        Ok(Expr::read(self.place()?))
    }

    pub(super) fn place(&mut self) -> Parsed<Place> {
        let start = self.at;
        let r: Reference = self.reference()?;
        let mut place = Place::var(self.lookup(&r)?);
        loop {
            if let Some(span) = self.glued_mark() {
                return Ok(Place { span, ..place });
            } else if self.eat(".") {
                place.path.push(self.field()?);
            } else if self.is("[") {
                self.advance();
                place.path.push(self.index()?);
            } else {
                return Ok(Place { span: self.extent(start), ..place });
            }
        }
    }

    fn field(&mut self) -> Parsed<Step> {
        if matches!(self.ahead(0), Token::Number(..)) {
            return Ok(Step::Element(self.whole("the number of a tuple's element")?));
        }
        match self.word() {
            Some("re") => self.advance(),
            Some("im") => {
                self.advance();
                return Ok(Step::Im);
            }
            _ => return Ok(Step::Field(self.path("a field")?)),
        }
        Ok(Step::Re)
    }

    /// After `[`: indices, or what a part takes of each axis.
    fn index(&mut self) -> Parsed<Step> {
        let axes = self.list("]", Self::axis)?;
        if axes.iter().all(|a| matches!(a, Axis::At(_))) {
            let index = |axis| match axis {
                Axis::At(e) => Some(e),
                Axis::Range(..) | Axis::Whole => None,
            };
            return Ok(Step::Index(axes.into_iter().filter_map(index).collect()));
        }
        match Step::part(axes) {
            Some(step) => Ok(step),
            None => Err(self.error("an index or a range, since `..` alone is the whole array")),
        }
    }

    /// `i`, `i..j` or `..`.
    fn axis(&mut self) -> Parsed<Axis> {
        if self.eat("..") {
            return Ok(Axis::Whole);
        }
        let first = self.expr()?;
        Ok(match self.eat("..") {
            true => Axis::Range(first, self.expr()?),
            false => Axis::At(first),
        })
    }
}

fn at(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}
