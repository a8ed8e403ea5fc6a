//! The same statements in plain Rust, forward or backwards: what stands beside the language's own program and shares no code with what
//! that becomes.

use std::fmt::Write;

use super::text::Dialect;
use super::tree::*;
use super::Form;

struct Plain<'a> {
    form: &'a Form,
    out: String,
    indent: usize,
}

const D: Dialect = Dialect { scalar: "f64", stars: true };

/// The functions, each with one that undoes it, and what they need: sums and zeros of structs.
pub fn program(form: &Form) -> String {
    let mut s = Plain { form, out: String::new(), indent: 0 };
    for declared in &form.types {
        if let Parts::Struct(fields) = &declared.of {
            s.sums(declared, fields);
        }
    }
    for f in &form.pures {
        let (params, result) = f.signature("f64");
        let value = D.several(&f.value, false);
        let _ = writeln!(s.out, "fn plain_{}({params}) -> {result} {{\n    {value}\n}}\n", f.name);
    }
    for f in &form.functions {
        s.function(f, false);
        s.function(f, true);
    }
    s.out
}

impl Plain<'_> {
    fn function(&mut self, f: &Function, back: bool) {
        let params: Vec<String> = f
            .params
            .iter()
            .map(|p| format!("{}: {}", D.variable(&p.name), self.form.parameter(p, "f64", "3")))
            .collect();
        let name = name(&f.path(), back);
        let _ = writeln!(self.out, "pub fn {name}({}) {{", params.join(", "));
        self.indent += 1;
        self.block(&f.body, back);
        self.indent -= 1;
        self.out.push_str("}\n\n");
    }

    /// `add_S(a, b, sign)` and `zero_S(like)`, field by field.
    fn sums(&mut self, declared: &Declared, fields: &[(String, Type)]) {
        let (name, ty) = (&declared.name, self.form.declared_type(&declared.name, "f64", "3"));
        let (mut add, mut zero) = (String::new(), String::new());
        for (field, ty) in fields {
            add += &format!("    {}\n", added(ty, &format!("a.{field}"), &format!("b.{field}"), 0));
            zero += &format!("    {}\n", zeroed(ty, &format!("a.{field}"), 0));
        }
        let _ = write!(
            self.out,
            "fn add_{name}(a: &mut {ty}, b: &{ty}, sign: f64) {{\n    let whole = sign as i64;\n{add}}}\n\n\
             fn zero_{name}(like: &{ty}) -> {ty} {{\n    let mut a = like.clone();\n{zero}    a\n}}\n\n"
        );
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(self.indent));
    }

    /// A loop with `#[checkpoint]` has the statements behind it as its scope: it runs before them in both directions.
    fn block(&mut self, block: &[Stmt], back: bool) {
        if !back {
            return block.iter().for_each(|s| self.stmt(s, false));
        }
        let begin = block.iter().position(|s| matches!(s, Stmt::Checkpoint { .. }));
        let (before, within) = block.split_at(begin.unwrap_or(block.len()));
        if let [first, rest @ ..] = within {
            self.stmt(first, false);
            self.block(rest, true);
        }
        before.iter().rev().for_each(|s| self.stmt(s, true));
    }

    fn braces(&mut self, head: &str, block: &[Stmt], back: bool) {
        self.line(&format!("{head}{{"));
        self.indent += 1;
        self.block(block, back);
        self.indent -= 1;
        self.line("}");
    }

    fn made(&self, of: &str, fields: &Literal) -> String {
        D.literal(of, fields, &|_| String::new())
    }

    fn stmt(&mut self, s: &Stmt, back: bool) {
        let signed = |op: char| match op {
            '+' if back => '-',
            '-' if back => '+',
            op => op,
        };
        let sign = |op: char| if signed(op) == '+' { "1.0" } else { "-1.0" };
        match s {
            Stmt::Update(p, op, e) => self.line(&format!("{} {}= {};", D.place(p), signed(*op), D.expr(e))),
            Stmt::IntUpdate(p, op, n) => {
                let name = match signed(*op) {
                    '+' => "wrapping_add",
                    '-' => "wrapping_sub",
                    _ => return self.line(&format!("{0} = {0} ^ ({1});", D.place(p), D.int(n))),
                };
                self.line(&format!("{0} = {0}.{name}({1});", D.place(p), D.int(n)))
            }
            Stmt::Neg(p) => self.line(&format!("{0} = -{0};", D.place(p))),
            Stmt::Swap(a, b) => self.swap(a, b),
            Stmt::Sum { place, op, other, of } => {
                let text = format!("add_{of}(&mut {}, &{}, {});", D.place(place), D.place(other), sign(*op));
                self.line(&text)
            }
            Stmt::SumMade { place, op, of, made } => {
                let made = self.made(of, made);
                self.line(&format!("let made = {made};"));
                self.line(&format!("add_{of}(&mut {}, &made, {});", D.place(place), sign(*op)))
            }
            Stmt::Scale { place, op, system, by } => {
                let op = match op {
                    '*' if back => '/',
                    '/' if back => '*',
                    op => *op,
                };
                self.scale(&D.place(place), op, *system, by)
            }
            Stmt::Let(name, e, body) => self.scope(&format!("let {name} = {};", D.expr(e)), &[], body, back),
            Stmt::LetSeveral(names, values, body) => {
                let text = format!("let ({}) = {};", names.join(", "), D.several(values, false));
                self.scope(&text, &[], body, back)
            }
            Stmt::LetArray(name, values, body) => {
                self.scope(&format!("let {name} = {};", D.several(values, true)), &[], body, back)
            }
            Stmt::UpdateSeveral(places, op, values) => {
                self.line(&format!("let several = {};", D.several(values, false)));
                for (k, p) in places.iter().enumerate() {
                    self.line(&format!("{} {}= several.{k};", D.place(p), signed(*op)));
                }
            }
            Stmt::LetStruct(name, of, made, body) => {
                let text = format!("let {name} = {};", self.made(of, made));
                self.scope(&text, &[], body, back)
            }
            Stmt::Ancilla { name, start, compute: _, prepare, body } => {
                let text = format!("let mut {name}{};", self.start(start));
                self.scope(&text, prepare, body, back)
            }
            Stmt::States(states, body) => {
                for (name, start, begin) in states {
                    self.line(&format!("let mut {name}{};", self.start(start)));
                    self.block(begin, false);
                }
                self.block(body, back)
            }
            Stmt::Compute(prepare, body) => {
                self.block(prepare, false);
                self.block(body, back);
                self.block(prepare, true)
            }
            Stmt::If(c, a, b) => {
                self.braces(&format!("if {} ", D.cond(c)), a, back);
                self.braces("else ", b, back)
            }
            Stmt::IfLet(pat, p, a, b) => {
                self.braces(&format!("if let {} = {} ", pat.text(), D.subject(p)), a, back);
                self.braces("else ", b, back)
            }
            Stmt::Match(p, arms) => {
                self.line(&format!("match {} {{", D.subject(p)));
                for (pat, guard, body) in arms {
                    self.braces(&format!("{}{} => ", pat.text(), D.guard(guard)), body, back);
                }
                self.line("}")
            }
            Stmt::For { var, count, parallel: _, body } => {
                let rev = if back { format!("(0..{count}).rev()") } else { format!("0..{count}") };
                self.braces(&format!("for {var} in {rev} "), body, back)
            }
            Stmt::Each { index, counted: _, element, of, order, body } => {
                let range = format!("0..{}.len()", D.place(of));
                let reversed = (*order == Order::Reversed) != back;
                let range = if reversed { format!("({range}).rev()") } else { range };
                self.line(&format!("for {index} in {range} {{ let {element} = {}[{index}];", D.place(of)));
                self.block(body, back);
                self.line("}")
            }
            Stmt::Keep(ways, c, a, b) => {
                let ways = D.place(ways);
                self.line(&match back {
                    false => format!("{{ let way = {}; {ways}.push(way);", D.cond(c)),
                    true => format!("{{ let way = {ways}.pop().unwrap_or_default();"),
                });
                self.braces("if way ", a, back);
                self.braces("else ", b, back);
                self.line("}")
            }
            Stmt::Inverse(body) => self.block(body, !back),
            Stmt::Call(f, inverse, args) => {
                let args: Vec<String> = args
                    .iter()
                    .map(|a| match a {
                        Arg::Write(p) => format!("&mut {}", D.place(p)),
                        Arg::Read(p) => format!("&{}", D.place(p)),
                        Arg::Made(of, made) => format!("&{}", self.made(of, made)),
                        Arg::Value(e) => D.expr(e),
                    })
                    .collect();
                self.line(&format!("{}({});", name(f, *inverse != back), args.join(", ")))
            }
            Stmt::Convert { from, to, lost, types: (x, y) } => {
                let (from, to) = (D.place(from), D.place(to));
                let zero = |ty: &str| if ty.starts_with('f') { "0.0" } else { "0" };
                let text = match (back, lost.as_ref().map(|s| D.place(s))) {
                    (false, None) => format!("{to} = {from} as {y}; {from} = {};", zero(x)),
                    (false, Some(s)) => {
                        format!("{to} = {from} as {y}; {s}.push({from} - {to} as {x}); {from} = {};", zero(x))
                    }
                    (true, None) => format!("{from} = {to} as {x}; {to} = {};", zero(y)),
                    (true, Some(s)) => {
                        format!("{from} = {to} as {x} + {s}.pop().unwrap_or_default(); {to} = {};", zero(y))
                    }
                };
                self.line(&text)
            }
            Stmt::Push(s, p, zero) => {
                let (s, p) = (D.place(s), D.place(p));
                let text = match back {
                    false => format!("{s}.push(std::mem::replace(&mut {p}, {zero}));"),
                    true => format!("if let Some(top) = {s}.pop() {{ {p} = top; }}"),
                };
                self.line(&text)
            }
            Stmt::PushArray(s, x) => {
                let (s, x) = (D.place(s), x.root.clone());
                let text = match back {
                    false => format!("{s}.push({x}.to_vec()); {x}.fill(0.0);"),
                    true => format!("if let Some(top) = {s}.pop() {{ {x}.copy_from_slice(&top); }}"),
                };
                self.line(&text)
            }
            Stmt::Checkpoint { var, count, every: _, body } => {
                self.braces(&format!("for {var} in 0..{count} "), body, false)
            }
            Stmt::Assign(p, e) => self.line(&format!("{} = {};", D.place(p), D.expr(e))),
            Stmt::AssignInt(p, n) => self.line(&format!("{} = {};", D.place(p), D.int(n))),
        }
    }

    /// What is declared and prepared is there in both directions.
    fn scope(&mut self, declaration: &str, prepare: &[Stmt], body: &[Stmt], back: bool) {
        self.line("{");
        self.indent += 1;
        self.line(declaration);
        self.block(prepare, false);
        self.block(body, back);
        self.indent -= 1;
        self.line("}");
    }

    /// Elements of one array are exchanged by way of a copy.
    fn swap(&mut self, a: &Place, b: &Place) {
        let (a, b) = (D.place(a), D.place(b));
        self.line(&format!("let (one, other) = ({a}.clone(), {b}.clone());"));
        self.line(&format!("{a} = other;"));
        self.line(&format!("{b} = one;"));
    }

    fn start(&self, start: &Start) -> String {
        match start {
            Start::Real(v) => format!(" = {v:?}"),
            Start::Of(ty) if ty.starts_with('f') => format!(" = 0.0{ty}"),
            Start::Of(ty) => format!(" = 0{ty}"),
            Start::Int(v) => format!(" = {v}i64"),
            Start::Array(n) => format!(" = [0.0; {n}]"),
            Start::Vector(n) => format!(" = vec![0.0; {n}]"),
            Start::Like(p, of) => format!(" = zero_{of}(&{})", D.place(p)),
            Start::Made(of, made) => format!(" = {}", self.made(of, made)),
            Start::One(System::Odd) => " = Odd { repr: 0u32 }".into(),
            Start::One(system) => format!(" = {system:?} {{ repr: 0.0 }}"),
        }
    }

    /// By the numbers themselves: of a logarithmic one what it is the logarithm of, of an odd one that number modulo 2³³.
    fn scale(&mut self, place: &str, op: char, system: System, by: &Num) {
        let text = match system {
            System::Log => format!("{place}.repr = ({place}.repr.exp() {op} ({})).ln();", positive(by)),
            System::MaxPlus | System::MinPlus => {
                let op = if op == '*' { '+' } else { '-' };
                let sum = if system == System::MaxPlus { "max" } else { "min" };
                format!("{place}.repr = {place}.repr {op} ({});", tropical(by, sum))
            }
            System::Odd => {
                let by = if op == '*' { odd(by) } else { format!("odd_inverse({})", odd(by)) };
                format!("{place}.repr = odd_repr(odd_product(odd_value({place}.repr), {by}));")
            }
        };
        self.line(&text);
    }
}

/// What the plain programs of odd numbers use: numbers modulo 2³³, and reciprocals as powers, as the order of the group is 2³².
pub const ODD: &str = "
/// The number.
pub fn odd_value(repr: u32) -> u64 {
    2 * u64::from(repr) + 1
}
/// What represents it.
pub fn odd_repr(value: u64) -> u32 {
    (value >> 1) as u32
}
/// The product.
pub fn odd_product(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) % (1 << 33)
}
/// The reciprocal.
pub fn odd_inverse(a: u64) -> u64 {
    // a to the power of 2^32 - 1
    (0..32).fold((1, a), |(product, power), _| (odd_product(product, power), odd_product(power, power))).0
}
";

fn name(f: &str, back: bool) -> String {
    let f = f.replace("::", "_");
    format!("plain_{f}{}", if back { "_back" } else { "" })
}

/// A statement that adds what is at `b`, `sign` times.
fn added(ty: &Type, a: &str, b: &str, depth: usize) -> String {
    let each = |of: &Type, lengths: &[String], index: &dyn Fn(&str) -> String| {
        let vars: Vec<String> = (0..lengths.len()).map(|k| format!("i{}", depth + k)).collect();
        let at = index(&vars.join(", "));
        let inner = added(of, &format!("{a}{at}"), &format!("{b}{at}"), depth + lengths.len());
        vars.iter().zip(lengths).rev().fold(inner, |inner, (v, n)| format!("for {v} in 0..{n} {{ {inner} }}"))
    };
    let one = |v: &str| format!("[{v}]");
    match ty {
        Type::Real => format!("{a} += sign * {b};"),
        Type::Of("bool") => format!("{a} ^= {b};"),
        Type::Of(_) => format!("{a} += (whole as i64) * {b};"),
        Type::Ints(_) => String::new(),
        Type::Fixed(_) | Type::Named | Type::Vector(..) | Type::Slice(..) => {
            let of = match ty {
                Type::Vector(of, _) | Type::Slice(of, _) => (**of).clone(),
                _ => Type::Real,
            };
            each(&of, &[format!("{a}.len()")], &one)
        }
        Type::Pair => format!("{a}.0 += sign * {b}.0; {a}.1 += sign * {b}.1;"),
        Type::Matrix(n, m) => each(&Type::Real, &[n.to_string(), m.to_string()], &|v| format!("[[{v}]]")),
        Type::Declared(name) => format!("add_{name}(&mut {a}, &{b}, sign);"),
        Type::Stack(_) | Type::Option(_) | Type::Number(_) => String::new(),
    }
}

/// A statement that makes zeros of what is at `a`.
fn zeroed(ty: &Type, a: &str, depth: usize) -> String {
    match ty {
        Type::Real => format!("{a} = 0.0;"),
        Type::Of("bool") => format!("{a} = false;"),
        Type::Of(_) => format!("{a} = 0;"),
        Type::Fixed(_) | Type::Named => format!("{a} = [0.0; 3][..{a}.len()].try_into().unwrap();"),
        Type::Vector(of, _) | Type::Slice(of, _) => {
            let inner = zeroed(of, &format!("{a}[i{depth}]"), depth + 1);
            format!("for i{depth} in 0..{a}.len() {{ {inner} }}")
        }
        Type::Pair => format!("{a} = (0.0, 0.0);"),
        Type::Matrix(..) => format!("{a}.fill(0.0);"),
        Type::Declared(name) => format!("{a} = zero_{name}(&{a});"),
        Type::Ints(_) | Type::Stack(_) | Type::Option(_) | Type::Number(_) => String::new(),
    }
}

fn positive(n: &Num) -> String {
    match n {
        Num::Read(p) => format!("{}.repr.exp()", D.place(p)),
        Num::Of(e) => format!("({})", D.expr(e)),
        Num::Odd(v) => format!("{v}.0"),
        Num::Binary(op, a, b) => format!("({} {op} {})", positive(a), positive(b)),
        Num::Powi(a, n) => format!("{}.powi({n})", positive(a)),
        Num::Powf(a, p) => format!("{}.powf({p:?})", positive(a)),
        Num::Function(name, a) => format!("{}.{name}()", positive(a)),
    }
}

fn tropical(n: &Num, sum: &str) -> String {
    let of = |n: &Num| tropical(n, sum);
    match n {
        Num::Read(p) => format!("{}.repr", D.place(p)),
        Num::Of(e) => format!("({})", D.expr(e)),
        Num::Odd(v) => format!("{v}.0"),
        Num::Binary('+', a, b) => format!("f64::{sum}({}, {})", of(a), of(b)),
        Num::Binary('*', a, b) => format!("({} + {})", of(a), of(b)),
        Num::Binary(_, a, b) => format!("({} - {})", of(a), of(b)),
        Num::Powi(a, n) => format!("({n}.0 * {})", of(a)),
        Num::Powf(a, p) => format!("({p:?} * {})", of(a)),
        Num::Function(_, a) => format!("(-{})", of(a)),
    }
}

fn odd(n: &Num) -> String {
    match n {
        Num::Read(p) => format!("odd_value({}.repr)", D.place(p)),
        Num::Of(_) => "1".into(),
        Num::Odd(v) => v.to_string(),
        Num::Binary('*', a, b) => format!("odd_product({}, {})", odd(a), odd(b)),
        Num::Binary(_, a, b) => format!("odd_product({}, odd_inverse({}))", odd(a), odd(b)),
        Num::Powi(a, _) | Num::Powf(a, _) => odd(a),
        Num::Function("neg", a) => format!("((1u64 << 33) - {})", odd(a)),
        Num::Function(_, a) => format!("odd_inverse({})", odd(a)),
    }
}
