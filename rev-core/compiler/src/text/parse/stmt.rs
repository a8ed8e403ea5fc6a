//! Statements.

use super::{Parsed, Parser};
use crate::ir::*;
use crate::ops::Instr;
use crate::text::token::Token;

impl Parser {
    /// After `{`: statements up to `}`.
    pub(super) fn stmts(&mut self) -> Parsed<Block> {
        let mut out = Vec::new();
        while !self.eat("}") {
            out.push(self.inner(Self::stmt)?);
        }
        Ok(out)
    }

    fn block(&mut self) -> Parsed<Block> {
        self.expect("{")?;
        self.stmts()
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let start = self.at;
        let span = self.mark();
        let word = self.word().unwrap_or_default().to_owned();
        let applied = self.next_is("(");
        let kind = match word.as_str() {
            "let" => self.let_stmt(),
            "anc" => self.ancilla(Release::Checked),
            "managed" if *self.ahead(1) == name("anc") => {
                self.advance();
                self.ancilla(Release::Managed)
            }
            "uncomputed" if *self.ahead(1) == name("anc") => {
                self.advance();
                self.ancilla(Release::Uncomputed)
            }
            "dropped" if *self.ahead(1) == name("anc") => {
                self.advance();
                self.ancilla(Release::Dropped)
            }
            "if" => self.if_stmt(),
            "while" => self.while_stmt(),
            "for" => self.for_stmt(false),
            "par" => {
                self.advance();
                self.for_stmt(true)
            }
            "call" => self.call_stmt(false),
            "uncall" => self.call_stmt(true),
            "compute" => {
                self.advance();
                let compute = self.block()?;
                self.expect_word("do")?;
                Ok(StmtKind::Compute { compute, body: self.block()? })
            }
            "release" => {
                self.advance();
                let var = self.var()?;
                self.expect("=")?;
                Ok(StmtKind::Release { var, value: self.expr()? })
            }
            "external" => {
                self.advance();
                Ok(StmtKind::External { code: self.text()? })
            }
            "unchecked" => {
                self.advance();
                Ok(StmtKind::Unchecked { body: self.block()? })
            }
            "inverse" if self.next_is("{") => {
                self.advance();
                Ok(StmtKind::Inverse { body: self.block()? })
            }
            "push" if applied => {
                let (stack, place) = self.stack_stmt()?;
                Ok(StmtKind::Push { stack, place })
            }
            "pop" if applied => {
                let (stack, place) = self.stack_stmt()?;
                Ok(StmtKind::Pop { stack, place })
            }
            _ => match Instr::from_name(&word).filter(|_| applied) {
                Some(instr) => self.instr(instr),
                None => self.update(),
            },
        }?;
        Ok(Stmt { kind, span: span.unwrap_or(self.extent(start)) })
    }

    fn let_stmt(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let var = self.declaration(Type::Unknown, VarKind::Binding)?;
        self.expect("=")?;
        Ok(StmtKind::Let { var, expr: self.expr()?, body: self.block()? })
    }

    fn ancilla(&mut self, release: Release) -> Parsed<StmtKind> {
        self.advance();
        let var = self.declaration(Type::Unknown, VarKind::Ancilla)?;
        self.expect("=")?;
        Ok(StmtKind::Ancilla { var, init: self.expr()?, release, body: self.block()? })
    }

    fn if_stmt(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let cond = self.expr()?;
        let then = self.block()?;
        let otherwise = if self.eat_word("else") { self.block()? } else { Vec::new() };
        let post = if self.eat_word("post") { Some(self.expr()?) } else { None };
        Ok(StmtKind::If { cond, post, then, otherwise })
    }

    fn while_stmt(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let cond = self.expr()?;
        self.expect_word("post")?;
        Ok(StmtKind::While { cond, post: self.expr()?, body: self.block()? })
    }

    fn for_stmt(&mut self, parallel: bool) -> Parsed<StmtKind> {
        self.expect_word("for")?;
        let var = self.declaration(Type::INDEX, VarKind::Index)?;
        self.expect_word("in")?;
        let range = self.range()?;
        let mut declared = Parallel::default();
        if parallel && self.eat_word("injective") {
            self.expect("(")?;
            declared.injective = self.list(")", Self::place)?;
        }
        if parallel && self.eat_word("disjoint") {
            self.expect("(")?;
            declared.disjoint = self.list(")", Self::var)?;
        }
        Ok(StmtKind::For { var, range, parallel: parallel.then_some(declared), body: self.block()? })
    }

    /// `a..b`, `a..=b`, or one of these in parentheses with `.rev()` and `.step_by(k)` behind it.
    fn range(&mut self) -> Parsed<Range> {
        let start = self.at;
        let declared = self.vars.len();
        if self.eat("(") {
            // `(a..b)` or the start of `(a + b) * c..d`: what follows the expression tells
            let chained = self.expr().is_ok() && (self.is("..") || self.is("..="));
            self.at = start;
            self.undeclare(declared);
            if chained {
                self.advance();
                let range = self.plain_range()?;
                self.expect(")")?;
                return self.adapters(range);
            }
        }
        self.plain_range()
    }

    /// Takes back the declarations made since there were `count` variables.
    fn undeclare(&mut self, count: usize) {
        self.vars.truncate(count);
        self.by_name.retain(|_, id| (id.0 as usize) < count);
    }

    fn plain_range(&mut self) -> Parsed<Range> {
        let start = self.expr()?;
        let inclusive = self.eat("..=");
        if !inclusive && !self.eat("..") {
            return Err(self.error("`..` or `..=`"));
        }
        Ok(Range { inclusive, ..Range::new(start, self.expr()?) })
    }

    fn adapters(&mut self, mut range: Range) -> Parsed<Range> {
        let mut stepped = false;
        while self.eat(".") {
            if self.eat_word("rev") {
                self.expect("(")?;
                range.reversed = !range.reversed;
            } else if !stepped && self.eat_word("step_by") {
                self.expect("(")?;
                stepped = true;
                range.from_end = range.reversed;
                range.step = if self.is(")") { None } else { Some(self.expr()?) };
            } else {
                return Err(self.error(if stepped { "`rev`" } else { "`rev` or `step_by`" }));
            }
            self.expect(")")?;
        }
        Ok(range)
    }

    fn call_stmt(&mut self, inverse: bool) -> Parsed<StmtKind> {
        self.advance();
        let mut adjoint = 0;
        if self.is_word("adjoint") && !self.next_is("(") {
            self.advance();
            adjoint = if self.eat("^") { self.whole("how many adjoints were taken")? } else { 1 };
        }
        let transposed = self.is_word("tangents") && !self.next_is("(");
        if transposed {
            self.advance();
            adjoint += 1;
        }
        let callee = self.callee()?;
        self.expect("(")?;
        let args = self.list(")", Self::argument_of_call)?;
        Ok(StmtKind::Call { callee, direction: Direction { adjoint, inverse, transposed }, args })
    }

    fn callee(&mut self) -> Parsed<Callee> {
        if self.eat_word("fn") {
            return Ok(Callee::Path(self.path("a function")?.into()));
        }
        let r = self.reference()?;
        match (self.lookup(&r), r.name) {
            (Ok(var), _) => Ok(Callee::Param(var)),
            (Err(_), Ok(path)) => Ok(Callee::Path(path.into())),
            (Err(e), Err(_)) => Err(e),
        }
    }

    fn argument_of_call(&mut self) -> Parsed<Arg> {
        if !self.eat("&") {
            return Ok(Arg { mode: Mode::Read, value: ArgValue::Expr(self.expr()?) });
        }
        let place_follows = match self.ahead(1) {
            Token::Name { .. } | Token::Var(_) => true,
            Token::Symbol(s) => *s == "=",
            _ => false,
        };
        let mode = match () {
            () if self.eat_word("mut") => Mode::Write,
            () if place_follows && self.eat_word("acc") => Mode::Accumulate,
            () => Mode::Read,
        };
        let value = match self.eat("=") {
            true => ArgValue::Expr(self.expr()?),
            false => ArgValue::Place(self.place()?),
        };
        Ok(Arg { mode, value })
    }

    /// `push(s, x)`, `pop(s, x)`.
    fn stack_stmt(&mut self) -> Parsed<(Place, Place)> {
        self.advance();
        self.expect("(")?;
        let stack = self.place()?;
        self.expect(",")?;
        let place = self.place()?;
        self.expect(")")?;
        Ok((stack, place))
    }

    /// `rot(a, b, θ)`; `rot(; a; b, θ)` where places and operands aren't as many as the table says.
    fn instr(&mut self, instr: Instr) -> Parsed<StmtKind> {
        self.advance();
        self.expect("(")?;
        if self.eat(";") {
            let places = self.list(";", Self::place)?;
            let operands = self.list(")", Self::expr)?;
            return Ok(StmtKind::Instr { instr, places, operands });
        }
        let row = instr.row();
        let mut places = Vec::new();
        for i in 0..row.places {
            if i > 0 {
                self.expect(",")?;
            }
            places.push(self.place()?);
        }
        if row.operands > 0 {
            self.expect(",")?;
        }
        let start = self.at;
        let operands = self.list(")", Self::expr)?;
        if operands.len() != row.operands {
            let expected = format!("{} places and {} values in `{}`", row.places, row.operands, row.name);
            return Err(self.error_at(start, expected));
        }
        Ok(StmtKind::Instr { instr, places, operands })
    }

    fn update(&mut self) -> Parsed<StmtKind> {
        if !matches!(self.ahead(0), Token::Name { .. } | Token::Var(_)) {
            return Err(self.error("a statement"));
        }
        let place = self.place()?;
        let op = match self.ahead(0) {
            Token::Symbol("+=") => UpdateOp::Add,
            Token::Symbol("-=") => UpdateOp::Sub,
            Token::Symbol("^=") => UpdateOp::Xor,
            _ => return Err(self.error("`+=`, `-=` or `^=`")),
        };
        self.advance();
        Ok(StmtKind::Update { op, place, expr: self.expr()? })
    }
}

fn name(word: &str) -> Token {
    Token::Name { text: word.to_owned(), quoted: false }
}
