//! Statements in the language.

use std::fmt::Write;

use super::text::Dialect;
use super::tree::*;
use super::Form;

pub struct Source<'a> {
    form: &'a Form,
    dialect: Dialect,
    out: String,
    indent: usize,
}

/// The program's types and functions.
pub fn program(form: &Form) -> String {
    let dialect = Dialect { scalar: form.scalar(), stars: false };
    let mut s = Source { form, dialect, out: String::new(), indent: 0 };
    form.pures.iter().for_each(|f| s.pure(f));
    form.functions.iter().for_each(|f| s.function(f));
    s.out
}

impl Source<'_> {
    fn pure(&mut self, f: &Pure) {
        let generics = if self.form.generic { "<T: Real>" } else { "" };
        // without real numbers there would be nothing to choose the type by
        let scalar = if f.has_reals() { self.form.scalar() } else { "f64" };
        let generics = if scalar == "T" { generics } else { "" };
        let (params, result) = f.signature(scalar);
        let value = Dialect { scalar, ..self.dialect }.several(&f.value, false);
        let _ = writeln!(
            self.out,
            "#[pure]\npub fn {}{generics}({params}) -> {result} {{\n    {value}\n}}\n",
            f.name
        );
    }

    fn function(&mut self, f: &Function) {
        let form = self.form;
        let mut options = Vec::new();
        options.extend(form.tangent.then(|| "tangent".to_string()));
        options.push("inverse_adjoint".into());
        let constants: Vec<&str> =
            f.params.iter().filter(|p| form.is_constant(p)).map(|p| &p.name[..]).collect();
        if !constants.is_empty() {
            options.push(format!("constant({})", constants.join(", ")));
        }
        let mut generics = Vec::new();
        generics.extend(form.generic.then(|| "T: Real".to_string()));
        generics.extend(form.uses_named(f).then(|| "const N: usize".to_string()));
        let params: Vec<String> = f
            .params
            .iter()
            .map(|p| match &p.name[..] {
                "self" => "&mut self".to_string(),
                name => format!("{name}: {}", form.parameter(p, form.scalar(), "N")),
            })
            .collect();
        let generics = if generics.is_empty() { String::new() } else { format!("<{}>", generics.join(", ")) };
        let (options, params) = (options.join(", "), params.join(", "));
        let mut own = &generics[..];
        if let Some(of) = &f.of {
            self.line("#[reversible]");
            self.line(&format!("impl{generics} {} {{", form.declared_type(of, form.scalar(), "N")));
            self.indent += 1;
            own = "";
        }
        self.line(&format!("#[reversible({options})]"));
        self.braces(&format!("pub fn {}{own}({params}) ", f.name), &f.body);
        if f.of.is_some() {
            self.indent -= 1;
            self.line("}");
        }
        self.out.push('\n');
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(self.indent));
    }

    fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|s| self.stmt(s));
    }

    fn braces(&mut self, head: &str, block: &[Stmt]) {
        self.line(&format!("{head}{{"));
        self.indent += 1;
        self.block(block);
        self.indent -= 1;
        self.line("}");
    }

    fn place(&self, p: &Place) -> String {
        self.dialect.place(p)
    }

    fn target(&self, p: &Place) -> String {
        let star = if p.by_reference && p.path.is_empty() && p.root.len() % 2 == 1 { "*" } else { "" };
        format!("{star}{}", self.place(p))
    }

    fn made(&self, of: &str, fields: &Literal) -> String {
        let generics = |of: &str| format!("::{}", self.form.arguments_of(of, self.form.scalar(), "N"));
        self.dialect.literal(of, fields, &generics)
    }

    fn stmt(&mut self, s: &Stmt) {
        let d = self.dialect;
        match s {
            // both mean the same
            Stmt::Update(p, '-', e) if self.out.len().is_multiple_of(3) => {
                self.line(&format!("-{} += {};", self.place(p), d.expr(e)))
            }
            Stmt::Update(p, op, e) => self.line(&format!("{} {op}= {};", self.target(p), d.expr(e))),
            Stmt::UpdateSeveral(places, op, values) => {
                let places: Vec<String> = places.iter().map(|p| self.place(p)).collect();
                self.line(&format!("({}) {op}= {};", places.join(", "), d.several(values, false)))
            }
            Stmt::IntUpdate(p, op, n) => self.line(&format!("{} {op}= {};", self.target(p), d.int(n))),
            Stmt::Neg(p) => self.line(&format!("neg({});", self.place(p))),
            Stmt::Swap(a, b) => self.line(&format!("swap({}, {});", self.place(a), self.place(b))),
            Stmt::Sum { place, op, other, of: _ } => {
                self.line(&format!("{} {op}= fields({});", self.target(place), self.place(other)))
            }
            Stmt::SumMade { place, op, of, made } => {
                self.line(&format!("{} {op}= {};", self.target(place), self.made(of, made)))
            }
            Stmt::Scale { place, op, system: _, by } => {
                self.line(&format!("{} {op}= {};", self.target(place), self.num(by)))
            }
            Stmt::Let(name, e, body) => self.scope(&format!("let {name} = {};", d.expr(e)), body),
            Stmt::LetSeveral(names, values, body) => {
                let text = format!("let ({}) = {};", names.join(", "), d.several(values, false));
                self.scope(&text, body)
            }
            Stmt::LetArray(name, values, body) => {
                self.scope(&format!("let {name} = {};", d.several(values, true)), body)
            }
            Stmt::LetStruct(name, of, made, body) => {
                self.scope(&format!("let {name} = {};", self.made(of, made)), body)
            }
            Stmt::Ancilla { name, start, compute, prepare, body } => {
                self.line("{");
                self.indent += 1;
                self.line(&format!("let mut {name}{};", self.start(start)));
                match compute {
                    true if !prepare.is_empty() => self.braces("#[compute] ", prepare),
                    _ => self.block(prepare),
                }
                self.block(body);
                self.indent -= 1;
                self.line("}");
            }
            Stmt::States(states, body) => {
                for (name, start, begin) in states {
                    self.line(&format!("let mut {name}{};", self.start(start)));
                    self.block(begin);
                }
                self.block(body);
            }
            Stmt::Compute(prepare, body) => {
                self.braces("#[compute] ", prepare);
                self.block(body);
            }
            Stmt::If(c, a, b) => {
                self.braces(&format!("if {} ", d.cond(c)), a);
                self.otherwise(b);
            }
            Stmt::IfLet(pat, p, a, b) => {
                self.braces(&format!("if let {} = {} ", pat.text(), d.subject(p)), a);
                self.otherwise(b);
            }
            Stmt::Match(p, arms) => {
                self.line(&format!("match {} {{", d.subject(p)));
                self.indent += 1;
                for (pat, guard, body) in arms {
                    self.braces(&format!("{}{} => ", pat.text(), d.guard(guard)), body);
                }
                self.indent -= 1;
                self.line("}");
            }
            Stmt::For { var, count, parallel, body } => {
                let range = format!("0..{count}");
                let range = if *parallel { format!("par({range})") } else { range };
                self.braces(&format!("for {var} in {range} "), body);
            }
            Stmt::Each { index, counted, element, of, order, body } => {
                let names = if *counted { format!("({index}, {element})") } else { element.clone() };
                let enumerate = if *counted { ".enumerate()" } else { "" };
                let each = format!("{}.iter(){enumerate}", self.place(of));
                let each = match order {
                    Order::Forward => each,
                    Order::Reversed => format!("{each}.rev()"),
                    Order::Parallel => format!("par({each})"),
                };
                self.braces(&format!("for {names} in {each} "), body);
            }
            Stmt::Keep(ways, c, a, b) => {
                self.line(&format!("#[keep({})]", self.place(ways)));
                self.braces(&format!("if {} ", d.cond(c)), a);
                self.otherwise(b);
            }
            Stmt::Inverse(body) => self.braces("#[inverse] ", body),
            Stmt::Call(name, inverse, args) => {
                self.call(name, *inverse, args);
            }
            Stmt::Convert { from, to, lost, types: _ } => {
                let lost = lost.as_ref().map_or(String::new(), |s| format!(", {}", self.place(s)));
                self.line(&format!("convert({}, {}{lost});", self.place(from), self.place(to)));
            }
            Stmt::Push(s, p, _) | Stmt::PushArray(s, p) => {
                self.line(&format!("push({}, {});", self.place(s), self.place(p)))
            }
            Stmt::Checkpoint { var, count, every, body } => {
                let every = every.map_or(String::new(), |m| format!("(every = {m})"));
                self.line(&format!("#[checkpoint{every}]"));
                self.braces(&format!("for {var} in 0..{count} "), body);
            }
            Stmt::Assign(p, e) => self.line(&format!("{} = {};", self.place(p), d.expr(e))),
            Stmt::AssignInt(p, n) => self.line(&format!("{} = {};", self.place(p), d.int(n))),
        }
    }

    fn call(&mut self, name: &str, inverse: bool, args: &[Arg]) {
        let text = |a: &Arg| match a {
            Arg::Write(p) => format!("&mut {}", self.place(p)),
            Arg::Read(p) => format!("&{}", self.place(p)),
            Arg::Made(of, made) => format!("&{}", self.made(of, made)),
            Arg::Value(e) => self.dialect.expr(e),
        };
        let all: Vec<String> = args.iter().map(text).collect();
        // of a variable or an element the type is known, so a method may be called by its own name
        let method = name.split_once("::").filter(|_| !inverse && self.out.len().is_multiple_of(2));
        let known = |p: &&Place| p.path.iter().all(|step| matches!(step, Step::Index(_)));
        let text = match (method, args.first()) {
            (Some((_, method)), Some(Arg::Write(p))) if known(&p) => {
                format!("{}.{method}({});", self.place(p), all[1..].join(", "))
            }
            _ => format!("{name}{}({});", if inverse { "::inverse" } else { "" }, all.join(", ")),
        };
        self.line(&text);
    }

    fn scope(&mut self, declaration: &str, body: &[Stmt]) {
        self.line("{");
        self.indent += 1;
        self.line(declaration);
        self.block(body);
        self.indent -= 1;
        self.line("}");
    }

    fn otherwise(&mut self, block: &[Stmt]) {
        if !block.is_empty() {
            self.out.truncate(self.out.trim_end().len());
            self.out.push_str(" else {\n");
            self.indent += 1;
            self.block(block);
            self.indent -= 1;
            self.line("}");
        }
    }

    /// From the type of an ancilla on.
    fn start(&self, start: &Start) -> String {
        let t = self.form.scalar();
        let zero = if self.form.generic { "T::zero()".to_string() } else { "0.0".to_string() };
        match start {
            Start::Real(v) if *v == 0.0 => format!(": {t} = {zero}"),
            Start::Real(v) if self.form.generic => format!(": T = T::from_f64({v:?})"),
            Start::Real(v) => format!(": f64 = {v:?}"),
            Start::Of(ty) if ty.starts_with('f') => format!(": {ty} = 0.0"),
            Start::Of(ty) => format!(": {ty} = 0"),
            Start::Int(v) => format!(" = {v}i64"),
            Start::Array(n) => format!(" = [{zero}; {}]", self.form.length(*n)),
            Start::Vector(n) => format!(" = vec![{zero}; {n}]"),
            Start::Like(p, _) => format!(" = zeros_like({})", self.place(p)),
            Start::Made(of, made) => format!(" = {}", self.made(of, made)),
            Start::One(System::Odd) => " = Odd::<u32>::zero()".into(),
            Start::One(system) => format!(" = {system:?}::<{t}>::zero()"),
        }
    }

    fn num(&self, n: &Num) -> String {
        let operand = |n: &Num| match n {
            Num::Read(_) | Num::Odd(_) => self.num(n),
            n => format!("({})", self.num(n)),
        };
        match n {
            Num::Read(p) => self.place(p),
            Num::Of(e) => self.dialect.expr(e),
            Num::Odd(v) => v.to_string(),
            Num::Binary(op, a, b) => format!("{} {op} {}", operand(a), operand(b)),
            Num::Powi(a, n) => format!("({}).powi({n})", self.num(a)),
            Num::Powf(a, p) => format!("({}).powf({p:?})", self.num(a)),
            Num::Function("neg", a) => format!("-({})", self.num(a)),
            Num::Function(name, a) => format!("({}).{name}()", self.num(a)),
        }
    }
}
