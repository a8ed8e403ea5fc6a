//! Modules, functions, pure functions and structs.

use std::collections::BTreeMap;

use super::{Parsed, Parser, Reference};
use crate::ir::*;
use crate::text::token::Token;

/// A parameter as written: with its type, or (in a function with a table) without.
type Param = (Reference, Option<(Mode, Type)>);

impl Parser {
    pub(super) fn module(&mut self) -> Parsed<Module> {
        self.expect_word("module")?;
        let mut m = Module { entry: self.path("the name of the entry function")?, ..Module::default() };
        while *self.ahead(0) != Token::End {
            self.item(&mut m)?;
        }
        Ok(m)
    }

    fn item(&mut self, m: &mut Module) -> Parsed<()> {
        let start = self.at;
        if self.eat_word("const") {
            let path = self.path("the path of a constant")?;
            self.expect("=")?;
            if self.is("[") {
                let at = self.at;
                let table = self.expr()?;
                if !table.is_table() {
                    return Err(self.error_at(at, "a table of numbers"));
                }
                return self.insert(start, &mut m.tables, path, table);
            }
            let value = self.number()?;
            return self.insert(start, &mut m.constants, path, value);
        }
        if self.eat_word("links") {
            let caller = self.path("the name of a function")?;
            let links = self.links()?;
            return self.insert(start, &mut m.links, caller, links);
        }
        let key = match self.eat_word("key") {
            true => Some(self.path("a name")?),
            false => None,
        };
        match self.word() {
            Some("struct") => {
                let s = self.structure()?;
                self.insert(start, &mut m.structs, key.unwrap_or_else(|| s.name.clone()), s)
            }
            Some("pure") => {
                let f = self.pure()?;
                self.insert(start, &mut m.pures, key.unwrap_or_else(|| f.name.clone()), f)
            }
            Some("fn" | "unchecked") => {
                let f = self.function()?;
                self.insert(start, &mut m.functions, key.unwrap_or_else(|| f.name.clone()), f)
            }
            _ => Err(self.error("`const`, `struct`, `pure fn`, `fn`, `unchecked fn` or `links`")),
        }
    }

    fn insert<T>(&self, start: usize, map: &mut BTreeMap<String, T>, name: String, item: T) -> Parsed<()> {
        match map.insert(name, item) {
            None => Ok(()),
            Some(_) => Err(self.error_at(start, "a name that isn't taken by an item above")),
        }
    }

    fn links(&mut self) -> Parsed<BTreeMap<String, String>> {
        let mut links = BTreeMap::new();
        self.expect("{")?;
        while !self.eat("}") {
            let start = self.at;
            let path = self.path("a path")?;
            self.expect("=>")?;
            let target = self.path("the name of a function")?;
            self.insert(start, &mut links, path, target)?;
        }
        Ok(links)
    }

    fn structure(&mut self) -> Parsed<StructDef> {
        self.expect_word("struct")?;
        self.forget();
        let name = self.path("the name of a struct")?;
        self.read_generics()?;
        self.expect("{")?;
        let fields = self.list("}", |p| {
            let name = p.path("the name of a field")?;
            p.expect(":")?;
            Ok((name, p.ty()?))
        })?;
        Ok(StructDef { name, generics: std::mem::take(&mut self.generics), fields })
    }

    pub(super) fn function(&mut self) -> Parsed<Function> {
        let checks = !self.eat_word("unchecked");
        self.expect_word("fn")?;
        let (name, span, params) = self.header()?;
        let constants = match self.eat_word("constant") {
            true => {
                self.expect("(")?;
                self.list(")", Self::reference)?
            }
            false => Vec::new(),
        };
        let file = self.file()?;
        self.expect("{")?;
        let params = self.table(params)?;
        let constants = constants.iter().map(|name| self.lookup(name)).collect::<Parsed<_>>()?;
        let body = self.stmts()?;
        let generics = std::mem::take(&mut self.generics);
        Ok(Function {
            name,
            generics,
            params,
            constants,
            vars: std::mem::take(&mut self.vars),
            names: Names::default(),
            body,
            checks,
            file,
            span,
            defects: Default::default(),
        })
    }

    fn pure(&mut self) -> Parsed<Pure> {
        self.expect_word("pure")?;
        self.expect_word("fn")?;
        let (name, span, params) = self.header()?;
        self.expect("->")?;
        let result_type = self.ty()?;
        let file = self.file()?;
        self.expect("{")?;
        let params = self.table(params)?;
        let result = self.braced()?;
        let partials = match self.eat_word("partials") {
            true => {
                self.expect("(")?;
                Some(self.list(")", Self::expr)?)
            }
            false => None,
        };
        let generics = std::mem::take(&mut self.generics);
        let vars = std::mem::take(&mut self.vars);
        Ok(Pure { name, generics, params, result_type, vars, result, partials, file, span })
    }

    /// Forgets the names of the item before.
    fn forget(&mut self) {
        self.vars.clear();
        self.by_name.clear();
        self.generics.clear();
        self.tabled = false;
    }

    /// Name, position, generics and parameters.
    fn header(&mut self) -> Parsed<(String, Span, Vec<Param>)> {
        self.forget();
        let name = self.path("the name of a function")?;
        let span = self.name_span(self.at - 1);
        let span = self.glued_mark().unwrap_or(span);
        self.read_generics()?;
        self.expect("(")?;
        let params = self.list(")", |p| {
            let name = p.reference()?;
            Ok((name, if p.eat(":") { Some((p.mode()?, p.ty()?)) } else { None }))
        })?;
        Ok((name, span, params))
    }

    fn file(&mut self) -> Parsed<String> {
        if self.eat_word("file") {
            self.text()
        } else {
            Ok(String::new())
        }
    }

    /// The table of variables, if there is one, and the parameters' variables.
    fn table(&mut self, params: Vec<Param>) -> Parsed<Vec<VarId>> {
        if self.is_word("vars") && self.next_is("{") {
            self.advance();
            self.advance();
            while !self.eat("}") {
                let var = self.table_line()?;
                self.add_var(var);
            }
            self.tabled = true;
        }
        let mut ids = Vec::new();
        for (name, ty) in params {
            ids.push(match ty {
                Some((mode, ty)) => self.declare(&name, Some(ty), Type::Unknown, VarKind::Param(mode))?,
                None => self.lookup(&name)?,
            });
        }
        Ok(ids)
    }

    fn table_line(&mut self) -> Parsed<Var> {
        let kind = match self.word() {
            Some("anc") => Some(VarKind::Ancilla),
            Some("let") => Some(VarKind::Binding),
            Some("for") => Some(VarKind::Index),
            _ => None,
        };
        self.at += usize::from(kind.is_some());
        let name = self.path("a variable")?;
        self.expect(":")?;
        let kind = match kind {
            Some(kind) => kind,
            None => VarKind::Param(self.mode()?),
        };
        Ok(Var { name, ty: self.ty()?, kind, span: self.mark().unwrap_or(Span::NONE) })
    }

    /// `<…>`, read twice: types in it may name parameters that come later.
    fn read_generics(&mut self) -> Parsed<()> {
        if !self.eat("<") {
            return Ok(());
        }
        let start = self.at;
        self.generics = self.list(">", Self::generic)?;
        self.at = start;
        self.generics = self.list(">", Self::generic)?;
        Ok(())
    }

    fn generic(&mut self) -> Parsed<Generic> {
        if self.eat_word("const") {
            let name = self.path("the name of a const parameter")?;
            self.expect(":")?;
            self.expect_word("usize")?;
            return Ok(Generic { name, kind: GenericKind::Const });
        }
        let name = self.path("the name of a type parameter")?;
        self.expect(":")?;
        let kind = match self.word() {
            Some("Scalar") => GenericKind::Scalar(Class::Scalar),
            Some("Ring") => GenericKind::Scalar(Class::Ring),
            Some("Integer") => GenericKind::Scalar(Class::Integer),
            Some("Field") => GenericKind::Scalar(Class::Field),
            Some("Real") => GenericKind::Scalar(Class::Real),
            Some("fn") => {
                self.advance();
                self.expect("(")?;
                let params = self.list(")", |p| Ok((p.mode()?, p.ty()?)))?;
                return Ok(Generic { name, kind: GenericKind::Function(params) });
            }
            _ => return Err(self.error("`Scalar`, `Ring`, `Integer`, `Field`, `Real` or `fn`")),
        };
        self.advance();
        Ok(Generic { name, kind })
    }
}
