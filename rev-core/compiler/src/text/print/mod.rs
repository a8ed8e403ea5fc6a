//! Programs to text: modules, functions, pure functions and structs; names, quoting, positions.

mod expr;
mod stmt;
mod types;

use std::collections::HashMap;
use std::fmt;

use super::names::{is_builtin_type, is_identifier, is_path};
use crate::ir::*;
use crate::limits;

/// The clean text of a function.
pub fn print_function(f: &Function) -> String {
    let mut p = Printer::new(&f.vars, &f.generics, false);
    p.function(f);
    p.out
}

/// The text of a function with everything that [`super::parse_function`] needs to give it back
/// exactly: the file, source positions, and the variables in their order.
pub fn encode_function(f: &Function) -> String {
    let mut p = Printer::new(&f.vars, &f.generics, true);
    p.function(f);
    p.out
}

/// The text of a module with everything in it, as [`encode_function`] writes it.
pub fn encode_module(m: &Module) -> String {
    let mut p = Printer::new(&[], &[], true);
    p.module(m);
    p.out
}

/// One line of text for a statement of a function, its inner blocks left out: for messages.
pub fn headline(f: &Function, stmt: &Stmt) -> String {
    Headlines::new(f).of(stmt)
}

/// The headlines of many statements of a function, whose names are looked at once.
pub struct Headlines<'f>(Printer<'f>);

impl<'f> Headlines<'f> {
    /// The headlines of a function.
    pub fn new(f: &'f Function) -> Headlines<'f> {
        let mut p = Printer::new(&f.vars, &f.generics, false);
        p.heads_only = true;
        Headlines(p)
    }

    /// What [`headline`] says.
    pub fn of(&mut self, stmt: &Stmt) -> String {
        self.0.stmt(stmt);
        std::mem::take(&mut self.0.out).trim_end().to_owned()
    }
}

/// A part of a function as text, with the function's names.
///
/// ```
/// # use rev_compiler::text;
/// let f = text::parse_function("fn f(y: &mut f64, x: f64) { y += x * x }")?;
/// assert_eq!(text::show(&f, &f.body[0]).to_string(), "y += x * x");
/// # Ok::<(), text::ParseError>(())
/// ```
pub fn show<'a, P: Printable>(f: &'a Function, part: &'a P) -> Shown<'a, P> {
    Shown { vars: &f.vars, generics: &f.generics, part }
}

/// What [`show`] returns.
pub struct Shown<'a, P> {
    vars: &'a [Var],
    generics: &'a [Generic],
    part: &'a P,
}

impl<P: Printable> fmt::Display for Shown<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut p = Printer::new(self.vars, self.generics, false);
        self.part.print(&mut p);
        f.write_str(p.out.trim_end())
    }
}

/// A part of a program that has a text of its own.
pub trait Printable: sealed::Print {}
impl<T: sealed::Print> Printable for T {}

mod sealed {
    /// Printing into a text under construction.
    pub trait Print {
        /// Appends the text of `self`.
        fn print(&self, p: &mut super::Printer<'_>);
    }
}

/// `Display` outside of any function: variables appear by number (`$3`).
macro_rules! display {
    ($($type:ty: $method:ident),*) => {$(
        impl sealed::Print for $type {
            fn print(&self, p: &mut Printer<'_>) {
                p.$method(self);
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut p = Printer::new(&[], &[], false);
                p.standalone = true;
                p.$method(self);
                f.write_str(p.out.trim_end())
            }
        }
    )*};
}
display!(Module: module, Function: function, Pure: pure, StructDef: structure);
display!(Stmt: stmt, Expr: expr, Place: place, Type: ty, Generic: generic, Range: range);

/// How many levels stand further right than the one around them.
const INDENTED: usize = 20;

/// A text under construction.
pub struct Printer<'a> {
    out: String,
    vars: &'a [Var],
    generics: &'a [Generic],
    /// How many variables have a name.
    uses: HashMap<&'a str, usize>,
    /// Whether positions are written.
    encoded: bool,
    /// Whether the variables have to be listed before the statements.
    tabled: bool,
    /// Whether inner blocks are left out.
    heads_only: bool,
    /// Whether the text stands outside of any function, so that nothing is known of its names.
    standalone: bool,
    indent: usize,
}

impl<'a> Printer<'a> {
    fn new(vars: &'a [Var], generics: &'a [Generic], encoded: bool) -> Printer<'a> {
        let mut uses = HashMap::new();
        for v in vars {
            *uses.entry(v.name.as_str()).or_insert(0) += 1;
        }
        let tabled = encoded || uses.values().any(|n| *n > 1);
        let out = String::new();
        Printer {
            out,
            vars,
            generics,
            uses,
            encoded,
            tabled,
            heads_only: false,
            standalone: false,
            indent: 0,
        }
    }

    /// Writes an item with variables and generics of its own.
    fn within(&mut self, vars: &[Var], generics: &[Generic], write: impl FnOnce(&mut Printer<'_>)) {
        let mut inner = Printer::new(vars, generics, self.encoded);
        inner.indent = self.indent;
        write(&mut inner);
        self.out.push_str(&inner.out);
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Starts a new line.
    fn line(&mut self) {
        self.out.push('\n');
        // what is deep is as long as it has statements, not as long times as deep
        for _ in 0..self.indent.min(INDENTED) {
            self.out.push_str("    ");
        }
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.push(", ");
            }
            write(self, item);
        }
    }

    /// A text between quotation marks on one line.
    fn quoted(&mut self, quote: char, text: &str) {
        self.out.push(quote);
        for c in text.chars() {
            match c {
                '\n' => self.push("\\n"),
                '\r' => self.push("\\r"),
                '\t' => self.push("\\t"),
                '\\' => self.push("\\\\"),
                c if c == quote => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                c if c.is_control() => self.push(&format!("\\u{{{:x}}}", u32::from(c))),
                c => self.out.push(c),
            }
        }
        self.out.push(quote);
    }

    /// An identifier, quoted where it isn't one.
    fn name(&mut self, name: &str) {
        if is_identifier(name) {
            self.push(name);
        } else {
            self.quoted('`', name);
        }
    }

    /// A path, quoted where it isn't one.
    fn path(&mut self, path: &str) {
        if is_path(path) {
            self.push(path);
        } else {
            self.quoted('`', path);
        }
    }

    /// A variable: by its name where that determines it, else by its number.
    fn var(&mut self, var: VarId) {
        match self.vars.get(var.0 as usize) {
            Some(v) if self.uses.get(v.name.as_str()) == Some(&1) => self.name(&v.name),
            _ => self.push(&format!("${}", var.0)),
        }
    }

    /// A source position, if this form has them and there is one.
    fn mark(&mut self, span: Span) {
        if self.encoded && span != Span::NONE {
            let Span { line, column, end_line, end_column } = span;
            let text = match line == end_line {
                true => format!("@{line}:{column}-{end_column}"),
                false => format!("@{line}:{column}-{end_line}:{end_column}"),
            };
            self.push(&text);
        }
    }

    fn module(&mut self, m: &Module) {
        self.push("module ");
        self.path(&m.entry);
        self.push("\n");
        for (path, value) in &m.constants {
            self.push("\nconst ");
            self.path(path);
            self.push(" = ");
            self.number(*value);
        }
        for (path, value) in &m.tables {
            self.push("\nconst ");
            self.path(path);
            self.push(" = ");
            self.expr(value);
        }
        if !m.constants.is_empty() || !m.tables.is_empty() {
            self.push("\n");
        }
        for (key, s) in &m.structs {
            self.key(key, &s.name);
            self.structure(s);
        }
        for (key, f) in &m.pures {
            self.key(key, &f.name);
            self.pure(f);
        }
        for (key, f) in &m.functions {
            self.key(key, &f.name);
            self.function(f);
        }
        for (caller, links) in &m.links {
            self.push("\nlinks ");
            self.path(caller);
            self.push(" {\n");
            for (path, target) in links {
                self.push("    ");
                self.path(path);
                self.push(" => ");
                self.path(target);
                self.push("\n");
            }
            self.push("}\n");
        }
    }

    /// The name that an item is found under, where it isn't its own.
    fn key(&mut self, key: &str, name: &str) {
        self.push("\n");
        if key != name {
            self.push("key ");
            self.path(key);
            self.push("\n");
        }
    }

    fn structure(&mut self, s: &StructDef) {
        self.within(&[], &s.generics, |p| {
            p.push("struct ");
            p.path(&s.name);
            p.generics();
            p.push(" {\n");
            for (name, ty) in &s.fields {
                p.push("    ");
                p.name(name);
                p.push(": ");
                p.ty(ty);
                p.push(",\n");
            }
            p.push("}\n");
        });
    }

    fn function(&mut self, f: &Function) {
        f.grown(|| self.function_within(f));
    }

    fn function_within(&mut self, f: &Function) {
        self.within(&f.vars, &f.generics, |p| {
            if !f.checks {
                p.push("unchecked ");
            }
            p.push("fn ");
            p.header(&f.name, f.span, &f.params);
            if !f.constants.is_empty() {
                p.push(" constant(");
                p.list(&f.constants.iter().copied().collect::<Vec<_>>(), |p, v| p.var(*v));
                p.push(")");
            }
            p.file(&f.file);
            p.push(" {");
            p.indent += 1;
            p.table();
            p.stmts(&f.body);
            p.indent -= 1;
            p.line();
            p.push("}\n");
        });
    }

    fn pure(&mut self, f: &Pure) {
        limits::grown(parts(&f.result), || self.pure_within(f));
    }

    fn pure_within(&mut self, f: &Pure) {
        self.within(&f.vars, &f.generics, |p| {
            p.push("pure fn ");
            p.header(&f.name, f.span, &f.params);
            p.push(" -> ");
            p.ty(&f.result_type);
            p.file(&f.file);
            p.push(" {");
            p.indent += 1;
            p.table();
            p.pure_body(&f.result);
            p.indent -= 1;
            p.line();
            p.push("}");
            if let Some(partials) = &f.partials {
                p.push(" partials (");
                p.list(partials, Self::in_list);
                p.push(")");
            }
            p.push("\n");
        });
    }

    fn in_list(p: &mut Printer<'_>, e: &Expr) {
        p.expr(e);
    }

    /// The result of a pure function, its bindings on lines of their own.
    fn pure_body(&mut self, result: &Expr) {
        self.line();
        match &result.kind {
            ExprKind::Block(lets, value) if self.flattens(result) => {
                for (var, e) in lets {
                    self.binding(*var, e);
                    self.push(";");
                    self.line();
                }
                self.expr(value);
            }
            _ => self.expr(result),
        }
    }

    fn header(&mut self, name: &str, span: Span, params: &[VarId]) {
        self.path(name);
        self.mark(span);
        self.generics();
        self.push("(");
        let table = self.tabled;
        self.list(params, |p, v| match p.vars.get(v.0 as usize) {
            Some(var) if !table => p.param(var),
            _ => p.var(*v),
        });
        self.push(")");
    }

    fn file(&mut self, file: &str) {
        if self.encoded && !file.is_empty() {
            self.push(" file ");
            self.quoted('"', file);
        }
    }

    fn param(&mut self, v: &Var) {
        self.name(&v.name);
        self.push(": ");
        if let VarKind::Param(mode) = v.kind {
            self.mode(mode);
        }
        self.ty(&v.ty);
    }

    fn mode(&mut self, mode: Mode) {
        self.push(match mode {
            Mode::Read => "",
            Mode::Write => "&mut ",
            Mode::Accumulate => "&acc ",
        });
    }

    /// The table of variables, a line each.
    fn table(&mut self) {
        if !self.tabled {
            return;
        }
        self.line();
        self.push("vars {");
        self.indent += 1;
        let vars = self.vars;
        for v in vars {
            self.line();
            match v.kind {
                VarKind::Param(_) => {}
                VarKind::Ancilla => self.push("anc "),
                VarKind::Binding => self.push("let "),
                VarKind::Index => self.push("for "),
            }
            self.param(v);
            if self.encoded && v.span != Span::NONE {
                self.push(" ");
                self.mark(v.span);
            }
        }
        self.indent -= 1;
        self.line();
        self.push("}");
    }

    fn generics(&mut self) {
        if self.generics.is_empty() {
            return;
        }
        self.push("<");
        self.list(self.generics, |p, g| p.generic(g));
        self.push(">");
    }

    fn generic(&mut self, g: &Generic) {
        match &g.kind {
            GenericKind::Scalar(class) => {
                self.name(&g.name);
                self.push(": ");
                self.push(types::class_name(*class));
            }
            GenericKind::Const => {
                self.push("const ");
                self.name(&g.name);
                self.push(": usize");
            }
            GenericKind::Function(params) => {
                self.name(&g.name);
                self.push(": fn(");
                self.list(params, |p, (mode, ty)| {
                    p.mode(*mode);
                    p.ty(ty);
                });
                self.push(")");
            }
        }
    }

    /// Whether a word is a variable or a parameter of the function, so that a constant of this name
    /// has to say that it is one.
    fn is_taken(&self, word: &str) -> bool {
        self.uses.contains_key(word) || self.generics.iter().any(|g| g.name == word)
    }

    /// The kind of the generic parameter with a name, where types can name it as it is.
    fn plain_generic(&self, name: &str) -> Option<&GenericKind> {
        let found = self.generics.iter().find(|g| g.name == name)?;
        (is_identifier(name) && !is_builtin_type(name)).then_some(&found.kind)
    }
}
