//! Expressions as text. Those of the language are Rust syntax, so the two languages differ in how types and whole variables
//! are written only; what they mean is decided by rev's macro in one and by rustc in the other.

use super::tree::*;

/// The number that patterns name by a constant.
const TWO: i64 = 2;

/// Of which language a text is.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The name of the scalar type: `T`, or `f64`.
    pub scalar: &'static str,
    /// Whether references are followed with a star.
    pub stars: bool,
}

impl Dialect {
    pub fn place(&self, p: &Place) -> String {
        let mut text = match self.stars && p.by_reference && p.path.is_empty() {
            true => format!("(*{})", self.variable(&p.root)),
            false => self.variable(&p.root).to_string(),
        };
        for step in &p.path {
            text += &match step {
                Step::Field(name) => format!(".{name}"),
                Step::Element(k) => format!(".{k}"),
                Step::Index(at) if at.len() == 1 => format!("[{}]", index(&at[0])),
                Step::Index(at) => format!("[[{}]]", at.iter().map(index).collect::<Vec<_>>().join(", ")),
            };
        }
        text
    }

    /// The name of a variable: outside of an `impl` block `self` has another one.
    pub fn variable<'a>(&self, name: &'a str) -> &'a str {
        match (self.stars, name) {
            (true, "self") => "this",
            (_, name) => name,
        }
    }

    /// A real number; parts of operations stand in parentheses.
    pub fn expr(&self, e: &Expr) -> String {
        match e {
            Expr::Read(p) => self.place(p),
            Expr::Number(v) => format!("{v:?}"),
            Expr::Constant(name) if self.scalar == "T" => format!("T::{name}()"),
            Expr::Constant("zero") => "0.0f64".into(),
            Expr::Constant(_) => "1.0f64".into(),
            Expr::Neg(a) => format!("-({})", self.expr(a)),
            Expr::Binary(op, a, b) => format!("{} {op} {}", self.operand(a), self.operand(b)),
            Expr::Function(name, a) => format!("({}).{name}()", self.expr(a)),
            Expr::Tabled(p) if self.scalar == "T" => format!("T::from_f64({})", self.place(p)),
            Expr::Tabled(p) => self.place(p),
            Expr::Clamp(a, least, most) => format!("({}).clamp({least:?}, {most:?})", self.expr(a)),
            Expr::OfInt(n) => format!("(({}) as {})", self.int(n), self.scalar),
            Expr::If(c, a, b) => {
                format!("if {} {{ {} }} else {{ {} }}", self.cond(c), self.expr(a), self.expr(b))
            }
            Expr::Match(subject, arms) => self.choice(subject, arms, &|e| self.expr(e)),
            Expr::IfLet(pat, p, a, b) => format!(
                "if let {} = {} {{ {} }} else {{ {} }}",
                pat.text(),
                self.subject(p),
                self.expr(a),
                self.expr(b)
            ),
            Expr::Call(name, args) => self.call(name, args),
            Expr::Block(name, value, e) => {
                format!("{{ let {name} = {}; {} }}", self.expr(value), self.expr(e))
            }
        }
    }

    fn choice<E>(
        &self,
        subject: &Subject,
        arms: &[(Pat, Option<Cond>, E)],
        value: &dyn Fn(&E) -> String,
    ) -> String {
        let arms: String =
            arms.iter().map(|(p, c, e)| format!("{}{} => {}, ", p.text(), self.guard(c), value(e))).collect();
        format!("match {} {{ {arms}}}", self.subject(subject))
    }

    /// What is matched.
    pub fn subject(&self, subject: &Subject) -> String {
        let each = subject.iter().map(|one| match one {
            Matched::Place(p) => self.place(p),
            Matched::Int(n) => self.int(n),
        });
        let each: Vec<String> = each.collect();
        if each.len() == 1 {
            each.concat()
        } else {
            format!("({})", each.join(", "))
        }
    }

    fn call(&self, name: &str, args: &[Item]) -> String {
        let plain = if self.stars { "plain_" } else { "" };
        format!("{plain}{name}({})", self.items(args))
    }

    fn items(&self, items: &[Item]) -> String {
        let each = items.iter().map(|item| match item {
            Item::Real(e) => self.expr(e),
            // nothing beside it may say of which type it is
            Item::Int(Int::Number(n)) => format!("{n}i64"),
            Item::Int(n) => self.int(n),
            Item::Truth(c) => self.cond(c),
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// Several numbers: an array, or a tuple, of one number that number.
    pub fn several(&self, values: &Several, array: bool) -> String {
        let of = |v: &Several| self.several(v, array);
        match values {
            Several::Of(items) if array => format!("[{}]", self.items(items)),
            Several::Of(items) if items.len() == 1 => self.items(items),
            Several::Of(items) => format!("({})", self.items(items)),
            Several::Call(name, args) => self.call(name, args),
            Several::If(c, a, b) => format!("if {} {{ {} }} else {{ {} }}", self.cond(c), of(a), of(b)),
            Several::Match(subject, arms) => self.choice(subject, arms, &of),
            Several::IfLet(pat, p, a, b) => {
                format!("if let {} = {} {{ {} }} else {{ {} }}", pat.text(), self.subject(p), of(a), of(b))
            }
            Several::Block(name, e, v) => format!("{{ let {name} = {}; {} }}", self.expr(e), of(v)),
        }
    }

    fn operand(&self, e: &Expr) -> String {
        match e {
            Expr::Read(_)
            | Expr::Number(_)
            | Expr::Constant(_)
            | Expr::Tabled(_)
            | Expr::OfInt(_)
            | Expr::Call(..) => self.expr(e),
            e => format!("({})", self.expr(e)),
        }
    }

    pub fn int(&self, n: &Int) -> String {
        match n {
            Int::Number(v) => format!("{v}"),
            Int::Read(p) => self.place(p),
            Int::Var(name) => format!("({name} as i64)"),
            Int::Rem(a, n) => format!("({}) % {n}", self.int(a)),
            Int::Binary(op, a, b) => format!("({}) {op} ({})", self.int(a), self.int(b)),
            Int::Match(subject, arms) => self.choice(subject, arms, &|n| self.int(n)),
            Int::Call(name, args) => self.call(name, args),
        }
    }

    pub fn guard(&self, guard: &Option<Cond>) -> String {
        guard.as_ref().map_or(String::new(), |c| format!(" if {}", self.cond(c)))
    }

    pub fn cond(&self, c: &Cond) -> String {
        match c {
            Cond::Ints(a, op, b) => format!("({}) {op} ({})", self.int(a), self.int(b)),
            Cond::Reals(a, op, b) => format!("({}) {op} ({})", self.expr(a), self.expr(b)),
            Cond::Not(c) => format!("!({})", self.cond(c)),
            Cond::Both(a, op, b) => format!("({}) {op} ({})", self.cond(a), self.cond(b)),
            Cond::Read(p) => self.place(p),
            Cond::Is(v) => v.to_string(),
            Cond::Call(name, args) => self.call(name, args),
        }
    }

    /// A struct that is written out; `generics` follow the names of structs, or nothing.
    pub fn literal(&self, of: &str, fields: &Literal, generics: &dyn Fn(&str) -> String) -> String {
        let fields = fields.iter().map(|(name, value)| {
            let value = match value {
                FieldValue::Real(e) => self.expr(e),
                FieldValue::Int(n) => self.int(n),
                FieldValue::Array(each) => {
                    format!("[{}]", each.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", "))
                }
                FieldValue::Pair(a, b) => format!("({}, {})", self.expr(a), self.expr(b)),
            };
            format!("{name}: {value}")
        });
        format!("{of}{} {{ {} }}", generics(of), fields.collect::<Vec<_>>().join(", "))
    }
}

fn index(at: &At) -> String {
    match at {
        At::Number(n) => n.to_string(),
        At::Var(name) => name.clone(),
        At::Shifted(name, by, n) => format!("({name} + {by}) % {n}"),
        At::Mirrored(name, n) => format!("{} - {name}", n - 1),
    }
}

impl Pat {
    pub fn text(&self) -> String {
        let list = |of: &[Pat]| of.iter().map(Pat::text).collect::<Vec<_>>().join(", ");
        match self {
            Pat::Wild => "_".into(),
            Pat::Number(TWO) => "TWO".into(),
            Pat::Number(n) => n.to_string(),
            Pat::Truth(v) => v.to_string(),
            Pat::Array(of) => {
                let each = of.iter().map(|p| match p {
                    Pat::Open(..) => format!("({})", p.text()),
                    p => p.text(),
                });
                format!("[{}]", each.collect::<Vec<_>>().join(", "))
            }
            Pat::Several(of) => format!("({})", list(of)),
            Pat::Range(a, b) => format!("{a}..={b}"),
            Pat::Open(a, b) => {
                let end = |n: &Option<i64>| n.map_or(String::new(), |n| n.to_string());
                let dots = if b.is_some() { "..=" } else { ".." };
                format!("{}{dots}{}", end(a), end(b))
            }
            Pat::Or(of) => of.iter().map(Pat::text).collect::<Vec<_>>().join(" | "),
            Pat::Name(name) => name.clone(),
            Pat::At(name, p) => match **p {
                Pat::Or(_) => format!("{name} @ ({})", p.text()),
                _ => format!("{name} @ {}", p.text()),
            },
            Pat::Tuple(path, of) if of.is_empty() => path.clone(),
            Pat::Tuple(path, of) => format!("{path}({})", list(of)),
            Pat::Fields(path, of, rest) => {
                let fields = of.iter().map(|(name, p)| match p {
                    Pat::Name(own) if own == name => name.clone(),
                    p => format!("{name}: {}", p.text()),
                });
                let mut fields: Vec<String> = fields.collect();
                fields.extend(rest.then(|| "..".to_string()));
                format!("{path} {{ {} }}", fields.join(", "))
            }
        }
    }
}
