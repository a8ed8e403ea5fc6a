//! Types and the modes of parameters.

use super::{Parsed, Parser};
use crate::ir::*;
use crate::text::names::{array_rank, is_builtin_type, is_keyword};
use crate::text::token::Token;

impl Parser {
    /// `&mut`, `&acc`, or nothing.
    pub(super) fn mode(&mut self) -> Parsed<Mode> {
        if !self.eat("&") {
            return Ok(Mode::Read);
        }
        if self.eat_word("mut") {
            return Ok(Mode::Write);
        }
        let type_follows = match self.ahead(1) {
            Token::Name { .. } => true,
            Token::Symbol(s) => matches!(*s, "[" | "("),
            _ => false,
        };
        let accumulate = type_follows && self.eat_word("acc");
        Ok(if accumulate { Mode::Accumulate } else { Mode::Read })
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.deeper(Self::ty_here)
    }

    fn ty_here(&mut self) -> Parsed<Type> {
        if self.eat("[") {
            let element = Box::new(self.ty()?);
            if self.eat("]") {
                return Ok(Type::Array(element, Rank::Fixed(1)));
            }
            if !self.eat(";") {
                return Err(self.error("`]` or `;`"));
            }
            let length = self.length()?;
            self.expect("]")?;
            return Ok(Type::Fixed(element, length));
        }
        if self.eat("(") {
            return self.tuple_type();
        }
        let Some(word) = self.word() else {
            return self.struct_type();
        };
        let named = matches!(self.ahead(1), Token::Name { .. });
        if let Some(scalar) = ScalarType::from_name(word) {
            self.advance();
            return Ok(Type::Scalar(scalar));
        }
        if let Some(bits) = FixedFormat::bits_of(word) {
            return self.fixed_type(bits);
        }
        if let Some(rank) = array_rank(word) {
            return Ok(Type::Array(self.argument()?, rank));
        }
        if let Some(g) =
            self.generics.iter().find(|g| g.name == word && !is_keyword(word) && !is_builtin_type(word))
        {
            let name = g.name.clone();
            let function = matches!(g.kind, GenericKind::Function(_));
            self.advance();
            return Ok(if function { Type::Function(name.into()) } else { Type::Generic(name) });
        }
        match word {
            "_" => {
                self.advance();
                Ok(Type::Unknown)
            }
            "Complex" => Ok(Type::Complex(self.argument()?)),
            "Stack" => Ok(Type::Stack(self.argument()?)),
            "Shadow" => Ok(Type::Shadow(self.argument()?)),
            "generic" if named => {
                self.advance();
                Ok(Type::Generic(self.path("the name of a type parameter")?))
            }
            "function" if named => {
                self.advance();
                Ok(Type::Function(self.path("the name of a function parameter")?.into()))
            }
            "struct" => {
                self.advance();
                self.struct_type()
            }
            _ => self.struct_type(),
        }
    }

    /// The argument of a built-in type: `<T>` behind its name.
    fn argument(&mut self) -> Parsed<Box<Type>> {
        self.advance();
        self.expect("<")?;
        let t = self.ty()?;
        self.expect(">")?;
        Ok(Box::new(t))
    }

    /// `FixedI64<U20>`.
    fn fixed_type(&mut self, bits: u32) -> Parsed<Type> {
        self.advance();
        self.expect("<")?;
        let fraction = self.word().and_then(FixedFormat::fraction_of);
        let Some(format) = fraction.and_then(|fraction| FixedFormat::new(bits, fraction)) else {
            return Err(self.error(format!("a fraction from `U0` to `U{}`", bits - 2)));
        };
        self.advance();
        self.expect(">")?;
        Ok(Type::Scalar(ScalarType::Fixed(format)))
    }

    fn struct_type(&mut self) -> Parsed<Type> {
        let name = self.path("a type")?;
        let args = match self.eat("<") {
            true => self.list(">", Self::ty)?,
            false => Vec::new(),
        };
        Ok(Type::Struct(name, args))
    }

    /// `()`, `(A,)`, `(A, B)`; a type in parentheses is itself.
    fn tuple_type(&mut self) -> Parsed<Type> {
        let mut items = self.list(")", Self::ty)?;
        let comma =
            matches!(self.tokens.get(self.at.wrapping_sub(2)).map(|t| &t.token), Some(Token::Symbol(",")));
        Ok(match items.len() {
            1 if !comma => items.remove(0),
            _ => Type::Tuple(items),
        })
    }

    fn length(&mut self) -> Parsed<Length> {
        if matches!(self.ahead(0), Token::Number(..)) {
            return Ok(Length::Literal(self.whole("a length")?));
        }
        Ok(Length::Named(self.path("a number or the name of a constant")?))
    }
}
