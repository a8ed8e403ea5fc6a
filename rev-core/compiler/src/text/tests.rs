//! Print and parse are inverse to each other, on arbitrary programs (well-formed or not), and no
//! text makes the parser panic.

use super::*;
use crate::ir::*;
use crate::ops::{Func, Instr};

/// A small generator of numbers (splitmix64), so that the core needs no library for it.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const NAMES: &[&str] = &[
    "x",
    "y",
    "T",
    "N",
    "swap",
    "len",
    "post",
    "let",
    "a b",
    "é",
    "",
    "`",
    "$1",
    "PI",
    "sin",
    "re",
    "stack",
    "3",
    "_",
    "acc",
    "managed",
    "f64",
    "Complex",
    "vars",
    "x::y",
    "pure",
    "line\nbreak",
    "e5",
    "_u",
    "adjoint",
    "generic",
];
const PATHS: &[&str] = &[
    "PI",
    "m::E",
    "crate::m::f",
    "f::<T>",
    "f::<T, 3>::g",
    "f :: < T >",
    "<T as X>::Y",
    "sin",
    "len",
    "x",
    "y",
    "let",
    "x::",
    "::x",
    "f::<",
    "N",
    "T",
    "lower",
    "Array2",
    "Array02",
    "f64",
    "fn(a)->b",
    "",
];

/// Arbitrary programs: every variant of every enum, names that need quoting, positions or none.
struct Arbitrary {
    random: Random,
    generics: Vec<Generic>,
    vars: usize,
    spans: bool,
}

impl Arbitrary {
    fn name(&mut self) -> String {
        self.random.pick(NAMES).to_owned()
    }
    fn path(&mut self) -> String {
        self.random.pick(PATHS).to_owned()
    }
    fn span(&mut self) -> Span {
        if !self.spans || self.random.chance(40) {
            return Span::NONE;
        }
        let mut n = || self.random.below(4) as u32;
        let (line, column, end_line, end_column) = (n(), n(), n(), n());
        Span { line, column, end_line, end_column }
    }
    fn many<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.random.below(most + 1)).map(|_| make(self)).collect()
    }
    fn var(&mut self) -> VarId {
        VarId(self.random.below(self.vars) as u32)
    }
    fn mode(&mut self) -> Mode {
        [Mode::Read, Mode::Write, Mode::Accumulate][self.random.below(3)]
    }

    fn ty(&mut self, size: usize) -> Type {
        let leaf = size == 0 || self.random.chance(40);
        let inner = |s: &mut Self| Box::new(s.ty(size - 1));
        match if leaf { self.random.below(5) } else { 5 + self.random.below(8) } {
            0 => Type::Scalar(match self.random.below(18) {
                17 => FixedFormat::new(32 << self.random.below(3), self.random.below(30) as u32)
                    .map_or(ScalarType::F64, ScalarType::Fixed),
                k => ScalarType::ALL[k].0,
            }),
            1 => Type::Generic(self.name()),
            2 => Type::Function(self.name().into()),
            3 => Type::Unknown,
            4 => Type::Generic("T".into()),
            5 => Type::Complex(inner(self)),
            6 => Type::Array(inner(self), Rank::Fixed(self.random.below(12) as u8)),
            7 => Type::Array(inner(self), Rank::Dynamic),
            8 => {
                let length = match self.random.chance(50) {
                    true => Length::Literal(self.random.next()),
                    false => Length::Named(self.path()),
                };
                Type::Fixed(inner(self), length)
            }
            9 => Type::Tuple(self.many(3, |s| s.ty(size - 1))),
            10 => Type::Struct(self.path(), self.many(2, |s| s.ty(size - 1))),
            11 => Type::Stack(inner(self)),
            _ => Type::Shadow(inner(self)),
        }
    }

    fn number(&mut self) -> Number {
        match self.random.below(10) {
            0 => Number::Int(i128::MIN),
            1 => Number::Int(i128::MAX),
            2 | 3 => Number::Int(self.random.below(7) as i128 - 3),
            4 => Number::Float(self.random.below(7) as f64 - 3.0),
            5 => Number::Float(-0.0),
            6 => Number::Float([f64::INFINITY, f64::NEG_INFINITY, f64::NAN][self.random.below(3)]),
            7 => Number::Bool(self.random.chance(50)),
            _ => Number::Float(f64::from_bits(self.random.next())),
        }
    }

    fn place(&mut self, size: usize) -> Place {
        let size = size.saturating_sub(1);
        let path = self.many(3, |s| match s.random.below(6) {
            0 => Step::Field(s.name()),
            1 => Step::Element(s.random.below(3) as u32),
            2 => Step::Index(s.many(3, |s| s.expr(size))),
            3 => s.part(size),
            4 => Step::Re,
            _ => Step::Im,
        });
        Place { var: self.var(), path, span: self.span() }
    }

    fn part(&mut self, size: usize) -> Step {
        let mut axes = self.many(2, |s| match s.random.below(3) {
            0 => Axis::At(s.expr(size)),
            1 => Axis::Range(s.expr(size), s.expr(size)),
            _ => Axis::Whole,
        });
        axes.push(Axis::Range(self.expr(size), self.expr(size)));
        axes.rotate_left(usize::from(self.random.chance(50)));
        Step::part(axes).unwrap_or(Step::Re)
    }

    fn func(&mut self, size: usize) -> ExprKind {
        let func = Func::ALL[self.random.below(Func::ALL.len())];
        let arity = if self.random.chance(90) { func.row().args.len() } else { self.random.below(4) };
        ExprKind::Func(func, (0..arity).map(|_| self.expr(size)).collect())
    }

    fn expr(&mut self, size: usize) -> Expr {
        let leaf = size == 0 || self.random.chance(20);
        let size = size.saturating_sub(1);
        let sub = |s: &mut Self| Box::new(s.expr(size));
        let kind = match if leaf { self.random.below(8) } else { 8 + self.random.below(16) } {
            0 => {
                let number = self.number();
                let ty = if self.random.chance(60) { Some(self.ty(2)) } else { None };
                ExprKind::Literal(number, ty)
            }
            1 => ExprKind::of_path(&self.path()),
            2 => ExprKind::Const(self.name()),
            3 => ExprKind::Read(Place { var: self.var(), path: vec![], span: self.span() }),
            4 => ExprKind::EmptyStack,
            5 => ExprKind::Zero(self.ty(2)),
            6 => ExprKind::Read(self.place(1)),
            7 => ExprKind::Const("N".into()),
            8..=12 => self.func(size),
            13 => {
                let axis = if self.random.chance(50) { Some(self.random.next() as u32) } else { None };
                ExprKind::Len(self.place(size), axis)
            }
            14 => ExprKind::Pure(self.path().into(), self.many(3, |s| s.expr(size))),
            15 => ExprKind::Partials(self.path().into(), self.many(3, |s| s.expr(size))),
            16 => ExprKind::Cast(sub(self), self.ty(2)),
            17 => ExprKind::If(sub(self), sub(self), sub(self)),
            18 => ExprKind::Block(self.many(2, |s| (s.var(), s.expr(size))), sub(self)),
            19 => ExprKind::Element(sub(self), self.random.below(3) as u32),
            20 => ExprKind::Tuple(self.many(3, |s| s.expr(size))),
            21 => ExprKind::Array(self.many(3, |s| s.expr(size))),
            22 => ExprKind::Repeat(sub(self), sub(self)),
            _ => match self.random.below(3) {
                0 => ExprKind::Fill(sub(self), self.many(3, |s| s.expr(size))),
                1 => ExprKind::ZeroShadow(self.place(size)),
                _ => ExprKind::ZeroLike(self.place(size)),
            },
        };
        Expr { kind, span: self.span() }
    }

    fn block(&mut self, size: usize) -> Block {
        if size == 0 {
            return Vec::new();
        }
        self.many(3, |s| s.stmt(size - 1))
    }

    fn stmt(&mut self, size: usize) -> Stmt {
        let kind = match self.random.below(17) {
            0 => {
                use UpdateOp::*;
                let op = [Add, Sub, Xor][self.random.below(3)];
                StmtKind::Update { op, place: self.place(3), expr: self.expr(4) }
            }
            1 => {
                let instr = Instr::ALL[self.random.below(Instr::ALL.len())];
                let row = instr.row();
                let (p, o) = match self.random.chance(80) {
                    true => (row.places, row.operands),
                    false => (self.random.below(4), self.random.below(3)),
                };
                let places = (0..p).map(|_| self.place(1)).collect();
                StmtKind::Instr { instr, places, operands: (0..o).map(|_| self.expr(2)).collect() }
            }
            2 => StmtKind::Let { var: self.var(), expr: self.expr(3), body: self.block(size) },
            3 => {
                let release = [Release::Managed, Release::Checked, Release::Dropped][self.random.below(3)];
                StmtKind::Ancilla { var: self.var(), init: self.expr(2), release, body: self.block(size) }
            }
            4 => StmtKind::If {
                cond: self.expr(3),
                post: if self.random.chance(50) { Some(self.expr(2)) } else { None },
                then: self.block(size),
                otherwise: self.block(size),
            },
            5 => StmtKind::While { cond: self.expr(2), post: self.expr(2), body: self.block(size) },
            6 | 7 => {
                let range = Range {
                    start: self.expr(3),
                    end: self.expr(3),
                    inclusive: self.random.chance(30),
                    step: if self.random.chance(40) { Some(self.expr(1)) } else { None },
                    from_end: self.random.chance(30),
                    reversed: self.random.chance(30),
                };
                let parallel = self.random.chance(40).then(|| Parallel {
                    injective: self.many(2, |s| s.place(1)),
                    disjoint: self.many(2, Self::var),
                });
                StmtKind::For { var: self.var(), range, parallel, body: self.block(size) }
            }
            8 => {
                let callee = match self.random.chance(50) {
                    true => Callee::Path(self.path().into()),
                    false => Callee::Param(self.var()),
                };
                let direction = {
                    let (adjoint, inverse) = (self.random.below(4) as u8, self.random.chance(50));
                    Direction { adjoint, inverse, transposed: adjoint > 0 && self.random.chance(30) }
                };
                let args = self.many(3, |s| Arg {
                    mode: s.mode(),
                    value: match s.random.chance(50) {
                        true => ArgValue::Place(s.place(2)),
                        false => ArgValue::Expr(s.expr(2)),
                    },
                });
                StmtKind::Call { callee, direction, args }
            }
            9 => StmtKind::Compute { compute: self.block(size), body: self.block(size) },
            10 => StmtKind::Push { stack: self.place(1), place: self.place(2) },
            11 => StmtKind::Pop { stack: self.place(1), place: self.place(2) },
            12 => StmtKind::Release { var: self.var(), value: self.expr(2) },
            13 => StmtKind::External { code: format!("a\\{}\"\n\t\u{7}", self.name()) },
            14 => StmtKind::Inverse { body: self.block(size) },
            _ => StmtKind::Unchecked { body: self.block(size) },
        };
        Stmt { kind, span: self.span() }
    }

    fn generics(&mut self) -> Vec<Generic> {
        let mut out = self.many(4, |s| {
            let kind = match s.random.below(7) {
                0 => GenericKind::Scalar(Class::Scalar),
                1 => GenericKind::Scalar(Class::Ring),
                2 => GenericKind::Scalar(Class::Integer),
                3 => GenericKind::Scalar(Class::Field),
                4 => GenericKind::Scalar(Class::Real),
                5 => GenericKind::Const,
                _ => GenericKind::Function(s.many(2, |s| (s.mode(), s.ty(2)))),
            };
            Generic { name: s.name(), kind }
        });
        if self.random.chance(80) {
            out.push(Generic { name: "T".into(), kind: GenericKind::Scalar(Class::Real) });
            out.push(Generic { name: "N".into(), kind: GenericKind::Const });
        }
        // a parameter list has each name once
        let mut seen = std::collections::BTreeSet::new();
        out.retain(|g| seen.insert(g.name.clone()));
        self.generics = out.clone();
        out
    }

    fn vars(&mut self) -> Vec<Var> {
        self.vars = 1 + self.random.below(6);
        let distinct = self.random.chance(70);
        (0..self.vars)
            .map(|i| Var {
                name: if distinct { format!("{}{i}", self.name()) } else { self.name() },
                ty: self.ty(3),
                kind: match self.random.below(4) {
                    0 => VarKind::Param(self.mode()),
                    1 => VarKind::Ancilla,
                    2 => VarKind::Binding,
                    _ => VarKind::Index,
                },
                span: self.span(),
            })
            .collect()
    }

    fn function(&mut self) -> Function {
        Function {
            name: self.path(),
            generics: self.generics(),
            vars: self.vars(),
            names: Names::default(),
            params: self.many(3, Self::var),
            constants: self.many(2, Self::var).into_iter().collect(),
            body: self.block(4),
            checks: self.random.chance(70),
            file: if self.random.chance(50) { self.name() } else { String::new() },
            span: self.span(),
            defects: Default::default(),
        }
    }

    fn pure(&mut self) -> Pure {
        Pure {
            name: self.path(),
            generics: self.generics(),
            vars: self.vars(),
            params: self.many(3, Self::var),
            result_type: self.ty(2),
            result: self.expr(4),
            partials: if self.random.chance(50) { Some(self.many(2, |s| s.expr(3))) } else { None },
            file: self.name(),
            span: self.span(),
        }
    }

    fn module(&mut self) -> Module {
        let mut m = Module { entry: self.path(), ..Module::default() };
        for _ in 0..self.random.below(3) {
            let f = self.function();
            m.functions.insert(if self.random.chance(70) { f.name.clone() } else { self.path() }, f);
            let f = self.pure();
            m.pures.insert(if self.random.chance(70) { f.name.clone() } else { self.path() }, f);
            let generics = self.generics();
            let s = StructDef { name: self.path(), generics, fields: self.many(3, |s| (s.name(), s.ty(2))) };
            m.structs.insert(if self.random.chance(70) { s.name.clone() } else { self.path() }, s);
            m.constants.insert(self.path(), self.number());
            let entries = self
                .many(3, |s| Expr::new(ExprKind::Literal(s.number(), Some(Type::Scalar(ScalarType::F64)))));
            let rows = vec![Expr::new(ExprKind::Array(entries))];
            m.tables.insert(self.path(), Expr::new(ExprKind::Array(rows)));
            let links = self.many(3, |s| (s.path(), s.path()));
            m.links.insert(self.path(), links.into_iter().collect());
        }
        m
    }
}

fn arbitrary(seed: u64) -> Arbitrary {
    Arbitrary { random: Random(seed), generics: vec![], vars: 1, spans: !seed.is_multiple_of(4) }
}

#[test]
fn encoded_functions_come_back() {
    for seed in 0..3000 {
        let f = arbitrary(seed).function();
        let text = encode_function(&f);
        let back = parse_function(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert!(back == f, "seed {seed}:\n{text}\n{}\n{f:#?}\n{back:#?}", encode_function(&back));
    }
}

#[test]
fn encoded_modules_come_back() {
    for seed in 0..400 {
        let m = arbitrary(seed).module();
        let text = encode_module(&m);
        let back = parse_module(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert!(back == m, "seed {seed}:\n{text}\n{}", encode_module(&back));
    }
}

const FIT: &str = "\
fn fit<T: Real, const N: usize, F: fn(&mut T, [T; N])>(loss: &mut T, w: &mut [T], x: Array2<T>, idx: [usize], g: F) {
    managed anc p: T = 0_T {
        for j in (0..len(w)).rev() {
            p += x[j, 0] * -w[j] - (-2.5e-7 - 3) * (N as T)
        }
        let r: T = if p > 0 && !(p >= 2) { p } else { let t: T = p * p; t + 1 } {
            loss += r * r / (1_T + abs(r))
        }
    }
    par for i in (1..=dim(x, 0)).step_by(2) injective(idx) disjoint(w) {
        w[idx[i]] -= (x[i, 0] as f64) + PI
        if i % 2usize == 0 {
            swap(w[i], w[i + 1])
        } else {
            rot(w[i], w[i + 1], 0.5)
        } post i % 2 == 0
    }
    anc k = 0usize {
        while k < 3 post k > 0 {
            k += 1
        }
        release k = 3
    }
    compute {
        call g(&mut loss, [0_T; N])
    } do {
        uncall adjoint m::h::<T>(&mut w[0..3], &acc loss, &x, 1 << 3 >> 1)
        unchecked {
            external \"println!(\\\"{x}\\\")\"
        }
    }
    dropped anc s: Stack<T> = stack() {
        push(s, loss)
        pop(s, loss)
    }
    z.re += 1
}
";

#[test]
fn the_clean_form_is_a_fixed_point() {
    let text = FIT.replace("    z.re += 1\n", "");
    let f = parse_function(&text).unwrap();
    assert_eq!(print_function(&f), text);
    assert_eq!(parse_function(&encode_function(&f)).unwrap(), f);
}

/// A program whose variables are declared where the text declares them comes back from its clean
/// form too: printing, parsing and printing again changes nothing.
#[test]
fn the_clean_form_determines_the_program() {
    for seed in 0..400 {
        let mut m = arbitrary(seed).module();
        m.functions.clear();
        m.pures.clear();
        let text = m.to_string();
        let back = parse_module(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(back, m, "seed {seed}");
    }
}

#[test]
fn an_error_says_where_and_what() {
    let e = parse_function(FIT).unwrap_err();
    assert_eq!(e.to_string(), "line 36, column 5: expected a variable that is declared, found `z`");
    let e = parse_function("fn f(x: &mut f64) {\n    x = 3\n}").unwrap_err();
    assert_eq!(e.to_string(), "line 2, column 7: expected `+=`, `-=` or `^=`, found `=`");
    let e = parse_function("fn f(x: &mut f64) {").unwrap_err();
    assert_eq!(e.to_string(), "line 1, column 20: expected a statement, found the end of the text");
    let e = parse_function("fn f(a: bool, x: &mut bool) { x ^= a < a < a }").unwrap_err();
    assert_eq!(
        e.to_string(),
        "line 1, column 42: expected parentheses around one of two comparisons, found `<`"
    );
}

#[test]
fn no_text_makes_the_parser_panic() {
    let mut random = Random(7);
    let pieces =
        ["(", ")", "{", "}", "@1:2-3", "`", "\"", "$9", "-", "fn", ">>", "1_", ".", "..", "é", "if ", ","];
    for seed in 0..600 {
        let mut text: Vec<char> = match seed % 3 {
            0 => FIT.chars().collect(),
            1 => encode_function(&arbitrary(seed).function()).chars().collect(),
            _ => encode_module(&arbitrary(seed).module()).chars().collect(),
        };
        for _ in 0..1 + random.below(4) {
            let at = random.below(text.len() + 1);
            let end = (at + random.below(8)).min(text.len());
            match random.below(3) {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..at, random.pick(&pieces).chars())),
                _ => {
                    let copied: Vec<char> = text[at..end].to_vec();
                    let to = random.below(text.len() + 1);
                    drop(text.splice(to..to, copied));
                }
            }
        }
        let text: String = text.into_iter().collect();
        for cut in [text.len(), random.below(text.len() + 1)] {
            let part: String = text.chars().take(cut).collect();
            let _ = parse_function(&part);
            let _ = parse_module(&part);
        }
    }
}

#[test]
fn neither_depth_nor_length_exhausts_the_stack() {
    let in_body = |e: &str| format!("fn f(x: &mut f64) {{ x += {e} }}");
    for piece in
        ["(", "-", "!", "[", "{", "x[", "if ", "1 + (", "sin(", "1 as Complex<", "1 * 2 + -(", "if 1 { "]
    {
        assert!(parse_function(&in_body(&piece.repeat(100_000))).is_err());
    }
    for piece in ["+ 1 ", "as f64 ", "- x ", "* x + x "] {
        assert!(parse_function(&in_body(&format!("x {}", piece.repeat(100_000)))).is_err());
        assert!(parse_function(&in_body(&format!("x {}", piece.repeat(500)))).is_ok());
    }
    assert!(parse_function(&in_body(&format!("(x){}", ".0".repeat(100_000)))).is_err());
    let high = format!("{}1{}", "(".repeat(190), format!("{})", " + 1".repeat(1000)).repeat(190));
    assert!(parse_function(&in_body(&high)).is_err());
    assert!(parse_function(&format!("fn f() {{ {}", "unchecked {".repeat(100_000))).is_err());
    assert!(parse_function(&format!("fn f(x: {}", "[".repeat(100_000))).is_err());
}

#[test]
fn parts_print_with_the_names_of_their_function() {
    let f = parse_function("fn f(y: &mut f64, x: f64) { if x > 0.0 { y += x } }").unwrap();
    assert_eq!(headline(&f, &f.body[0]), "if x > 0.0 { … }");
    assert_eq!(show(&f, &f.body[0]).to_string(), "if x > 0.0 {\n    y += x\n}");
    assert_eq!(f.body[0].to_string(), "if $1 > 0.0 {\n    $0 += $1\n}");
}
