//! Generated programs as Rust source in the surface syntax, to be compiled with `#[reversible]`.

use std::borrow::Cow;
use std::fmt::Write;

use rev_core::ir::*;
use rev_core::ops::Func;
use rev_core::text;

use crate::prelude::TABLE;
use crate::scope::What;
use crate::signature::Signature;
use crate::Program;

/// The Rust source of what every program may use.
pub fn prelude() -> &'static str {
    crate::prelude::RUST
}

impl Program {
    /// The functions of the program as Rust source. The prelude has to be in scope.
    pub fn rust(&self) -> String {
        self.rust_with([(self.has_tangent(), "tangent"), (self.has_adjoint(), "adjoint")])
    }

    /// The same with a tangent and an adjoint of each, or without.
    pub fn rust_with(&self, derived: [(bool, &str); 2]) -> String {
        self.functions.iter().zip(&self.signatures).map(|(f, s)| function(f, s, derived)).collect()
    }
}

fn function(f: &Function, signature: &Signature, derived: [(bool, &str); 2]) -> String {
    let mut p = Source { f, out: String::new(), indent: 1 };
    let generics: Vec<String> = f
        .generics
        .iter()
        .map(|g| match g.kind {
            GenericKind::Const => format!("const {}: usize", g.name),
            GenericKind::Scalar(_) | GenericKind::Function(_) => format!("{}: Real", g.name),
        })
        .collect();
    let params: Vec<String> = signature
        .params
        .iter()
        .map(|q| format!("{}: {}", q.name, parameter_type(&q.what, q.mode == Mode::Write, q.by_reference)))
        .collect();
    let constants: Vec<&str> = f.constants.iter().map(|v| f.var(*v).name.as_str()).collect();
    let constants = (!constants.is_empty()).then(|| format!("constant({})", constants.join(", ")));
    let derived = derived.into_iter().filter(|(has, _)| *has).map(|(_, name)| name.to_string());
    // any of them may be called backwards where cotangents go through it
    let options: Vec<String> = derived.chain(["inverse_adjoint".to_string()]).chain(constants).collect();
    let options = options.join(", ");
    let _ = writeln!(
        p.out,
        "/// Generated.\n#[reversible({options})]\npub fn {}<{}>({}) {{",
        f.name,
        generics.join(", "),
        params.join(", ")
    );
    p.block(&f.body);
    p.out.push_str("}\n\n");
    p.out
}

fn parameter_type(what: &What, written: bool, by_reference: bool) -> String {
    match what {
        What::Reals if written => "&mut [T]".into(),
        What::Reals => "&[T]".into(),
        What::Ints if written => "&mut [i64]".into(),
        What::Ints => "&[i64]".into(),
        What::Indices { .. } if written => "&mut [usize]".into(),
        What::Indices { .. } => "&[usize]".into(),
        What::Rows if written => "&mut [[T; 3]]".into(),
        What::Rows => "&[[T; 3]]".into(),
        What::Matrix if written => "ArrayViewMut2<T>".into(),
        What::Matrix => "ArrayView2<T>".into(),
        _ => {
            let plain = plain_type(what);
            match (written, by_reference) {
                (true, _) => format!("&mut {plain}"),
                (false, true) => format!("&{plain}"),
                (false, false) => plain,
            }
        }
    }
}

fn plain_type(what: &What) -> String {
    match what {
        What::Duo => "(T, T)".into(),
        other => other.ty().to_string(),
    }
}

struct Source<'a> {
    f: &'a Function,
    out: String,
    indent: usize,
}

impl Source<'_> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Statements; a scope that ends before the block does gets braces of its own.
    fn block(&mut self, block: &[Stmt]) {
        let mut paired = false;
        for (k, s) in block.iter().enumerate() {
            if std::mem::take(&mut paired) {
                continue;
            }
            if let Some(text) = block.get(k + 1).and_then(|next| self.tuple_update(s, next)) {
                self.line(&text);
                paired = true;
                continue;
            }
            let scope =
                matches!(s.kind, StmtKind::Let { .. } | StmtKind::Ancilla { .. } | StmtKind::Compute { .. });
            if scope && k + 1 < block.len() {
                self.line("{");
                self.indent += 1;
                self.stmt(s);
                self.indent -= 1;
                self.line("}");
            } else {
                self.stmt(s);
            }
        }
    }

    /// Two updates of one operator that don't concern each other, as one of a tuple.
    fn tuple_update(&self, first: &Stmt, second: &Stmt) -> Option<String> {
        let (StmtKind::Update { op, place, expr }, StmtKind::Update { op: other, place: to, expr: value }) =
            (&first.kind, &second.kind)
        else {
            return None;
        };
        let mut touched = [Vec::new(), Vec::new()];
        for (touched, stmt) in touched.iter_mut().zip([first, second]) {
            stmt.each_access(&mut |p, _| touched.push(p.var));
        }
        let apart = !touched[0].contains(&to.var) && !touched[1].contains(&place.var);
        let signed = matches!(op, UpdateOp::Add | UpdateOp::Sub);
        (op == other && apart && signed).then(|| {
            let places = format!("({}, {})", self.place(place), self.place(to));
            format!("{places} {} ({}, {});", op.symbol(), self.expr(expr, 0), self.expr(value, 0))
        })
    }

    /// `head { … }`
    fn braces(&mut self, head: &str, block: &[Stmt]) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        self.block(block);
        self.indent -= 1;
        self.line("}");
    }

    fn name(&self, v: VarId) -> &str {
        &self.f.var(v).name
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Update { op, place, expr } => {
                // both spellings of a write through a reference are part of the language
                let star = if self.is_reference(place) && place.var.0 % 2 == 0 { "*" } else { "" };
                let text = format!("{star}{} {} {};", self.place(place), op.symbol(), self.expr(expr, 0));
                self.line(&text);
            }
            StmtKind::Instr { instr, places, operands } => {
                let mut args: Vec<String> = places.iter().map(|p| self.place(p)).collect();
                args.extend(operands.iter().map(|e| self.expr(e, 0)));
                self.line(&format!("{}({});", instr.name(), args.join(", ")));
            }
            // the source names the table itself
            StmtKind::Let { var, body, .. } if self.name(*var) == TABLE => self.block(body),
            // branches may be calls of functions, of which it is seen here that they have several results
            StmtKind::Let { var, expr: expr @ Expr { kind: ExprKind::If(..), .. }, body }
                if matches!(self.f.var(*var).ty, Type::Tuple(_)) =>
            {
                let name = self.name(*var);
                let count = if let Type::Tuple(of) = &self.f.var(*var).ty { of.len() } else { 0 };
                let parts: Vec<String> = (0..count).map(|k| format!("{name}_{k}")).collect();
                let parts = parts.join(", ");
                let text = format!("let ({parts}) = {}; let {name} = ({parts});", self.expr(expr, 0));
                self.line(&text);
                self.block(body);
            }
            StmtKind::Let { var, expr, body } => {
                let text = format!("let {} = {};", self.name(*var), self.expr(expr, 0));
                self.line(&text);
                self.block(body);
            }
            StmtKind::Ancilla { var, init, release: _, body } => {
                let ty = match &self.f.var(*var).ty {
                    Type::Stack(of) => match **of {
                        Type::Complex(_) => ": Stack<Complex<T>>",
                        Type::Scalar(ScalarType::I64) => ": Stack<i64>",
                        Type::Scalar(ScalarType::Bool) => ": Stack<bool>",
                        _ => ": Stack<T>",
                    },
                    _ => "",
                };
                let text = format!("let mut {}{ty} = {};", self.name(*var), self.expr(init, 0));
                self.line(&text);
                self.block(body);
            }
            StmtKind::If { cond, post, then, otherwise } => {
                self.post(post.as_ref());
                let head = format!("if {}", self.expr(cond, 0));
                self.braces(&head, then);
                if !otherwise.is_empty() {
                    self.out.truncate(self.out.trim_end().len());
                    self.out.push_str(" else {\n");
                    self.indent += 1;
                    self.block(otherwise);
                    self.indent -= 1;
                    self.line("}");
                }
            }
            StmtKind::While { cond, post, body } => {
                self.post(Some(post));
                let head = format!("while {}", self.expr(cond, 0));
                self.braces(&head, body);
            }
            StmtKind::For { var, range, parallel, body } => {
                if let Some(p) = parallel {
                    for place in &p.injective {
                        let text = format!("#[injective({})]", self.place(place));
                        self.line(&text);
                    }
                }
                let disjoint: Vec<String> =
                    parallel.iter().flat_map(|p| &p.disjoint).map(|v| self.name(*v).to_string()).collect();
                if !disjoint.is_empty() {
                    self.line(&format!("#[disjoint({})]", disjoint.join(", ")));
                }
                let range = self.range(range);
                let range = if parallel.is_some() { format!("par({range})") } else { range };
                let head = format!("for {} in {range}", self.name(*var));
                self.braces(&head, body);
            }
            StmtKind::Call { callee, direction, args } => {
                let path = match callee {
                    Callee::Path(path) => path.to_string(),
                    Callee::Param(v) => self.name(*v).to_owned(),
                };
                let inverse = if direction.inverse { "::inverse" } else { "" };
                let args: Vec<String> = args.iter().map(|a| self.argument(a)).collect();
                self.line(&format!("{path}{inverse}({});", args.join(", ")));
            }
            StmtKind::Compute { compute, body } => {
                self.braces("#[compute]", compute);
                self.block(body);
            }
            StmtKind::Push { stack, place } => {
                let text = format!("push({}, {});", self.place(stack), self.place(place));
                self.line(&text);
            }
            StmtKind::Pop { stack, place } => {
                let text = format!("pop({}, {});", self.place(stack), self.place(place));
                self.line(&text);
            }
            StmtKind::Release { var, .. } => {
                let text = format!("release({});", self.name(*var));
                self.line(&text);
            }
            StmtKind::External { code } => self.line(&format!("#[external] {{ {code} }}")),
            StmtKind::Unchecked { body } => self.braces("#[unchecked]", body),
            StmtKind::Inverse { body } => self.braces("#[inverse]", body),
        }
    }

    fn post(&mut self, post: Option<&Expr>) {
        if let Some(e) = post {
            let text = format!("#[post({})]", self.expr(e, 0));
            self.line(&text);
        }
    }

    fn range(&self, r: &Range) -> String {
        let dots = if r.inclusive { "..=" } else { ".." };
        let mut text = format!("{}{dots}{}", self.expr(&r.start, 20), self.expr(&r.end, 20));
        if r.step.is_some() || r.reversed {
            text = format!("({text})");
        }
        match &r.step {
            Some(k) => {
                if r.from_end {
                    text.push_str(".rev()");
                }
                let _ = write!(text, ".step_by({})", self.expr(k, 0));
                if r.from_end != r.reversed {
                    text.push_str(".rev()");
                }
            }
            None if r.reversed => text.push_str(".rev()"),
            None => {}
        }
        text
    }

    fn is_reference(&self, p: &Place) -> bool {
        p.path.is_empty() && matches!(self.f.var(p.var).kind, VarKind::Param(Mode::Write))
    }

    fn argument(&self, a: &Arg) -> String {
        match (&a.value, a.mode) {
            (ArgValue::Place(p), Mode::Read) => format!("&{}", self.place(p)),
            (ArgValue::Place(p), _) => format!("&mut {}", self.place(p)),
            (ArgValue::Expr(e), _) => self.expr(e, 0),
        }
    }

    fn place(&self, p: &Place) -> String {
        let mut text = self.name(p.var).to_owned();
        for step in &p.path {
            match step {
                Step::Field(name) => {
                    let _ = write!(text, ".{name}");
                }
                Step::Element(k) => {
                    let _ = write!(text, ".{k}");
                }
                Step::Index(es) if es.len() == 1 => {
                    let _ = write!(text, "[{}]", self.expr(&es[0], 0));
                }
                Step::Index(es) => {
                    let _ = write!(text, "[[{}]]", self.exprs(es));
                }
                Step::Part(axes) => {
                    let _ = write!(text, "{}", self.part(axes));
                }
                Step::Re => text.push_str(".re"),
                Step::Im => text.push_str(".im"),
            }
        }
        text
    }

    /// A range of a slice, or what ndarray's `slice` takes of each axis.
    fn part(&self, axes: &[Axis]) -> String {
        let axis = |axis: &Axis| match axis {
            Axis::At(i) => self.expr(i, 0),
            Axis::Range(a, b) => format!("{}..{}", self.expr(a, 20), self.expr(b, 20)),
            Axis::Whole => "..".to_owned(),
        };
        match axes {
            [range @ Axis::Range(..)] => format!("[{}]", axis(range)),
            [Axis::At(i)] => format!(".row({})", self.expr(i, 0)),
            [Axis::Whole, Axis::At(j)] => format!(".column({})", self.expr(j, 0)),
            axes => format!(".slice(s![{}])", axes.iter().map(axis).collect::<Vec<_>>().join(", ")),
        }
    }

    fn exprs(&self, es: &[Expr]) -> String {
        es.iter().map(|e| self.expr(e, 0)).collect::<Vec<_>>().join(", ")
    }

    /// An expression as an operand that has to bind at least as strongly as `least`.
    fn expr(&self, e: &Expr, least: u8) -> String {
        let (text, level) = self.bare(e);
        if level < least {
            format!("({text})")
        } else {
            text
        }
    }

    fn bare(&self, e: &Expr) -> (String, u8) {
        const ATOM: u8 = 20;
        const UNARY: u8 = 15;
        let text = match &e.kind {
            ExprKind::Literal(n, ty) => {
                return (literal(*n, ty.as_ref()), if is_negative(*n) { UNARY } else { ATOM })
            }
            ExprKind::Named(path) | ExprKind::Const(path) => path.clone(),
            ExprKind::Function(path) => path.to_string(),
            ExprKind::Read(p) => self.place(p),
            ExprKind::Len(p, None) => format!("{}.len()", self.place(p)),
            ExprKind::Len(p, Some(0)) => format!("{}.nrows()", self.place(p)),
            ExprKind::Len(p, Some(1)) => format!("{}.ncols()", self.place(p)),
            ExprKind::Len(p, Some(k)) => format!("{}.shape()[{k}]", self.place(p)),
            ExprKind::Func(func, args) => return self.func(*func, args),
            ExprKind::Pure(path, args) => format!("{path}({})", self.exprs(args)),
            ExprKind::Cast(e, Type::Generic(t)) => {
                format!("{t}::from_{}({})", self.scalar_name(e), self.expr(e, 0))
            }
            // as the left operand of `<` a type would go on with generic arguments
            ExprKind::Cast(e, ty) => return (format!("{} as {ty}", self.expr(e, UNARY)), 0),
            ExprKind::If(c, a, b) => {
                return (
                    format!(
                        "if {} {{ {} }} else {{ {} }}",
                        self.expr(c, 0),
                        self.expr(a, 0),
                        self.expr(b, 0)
                    ),
                    0,
                )
            }
            ExprKind::Block(lets, value) => {
                let mut text = "{ ".to_owned();
                for (v, e) in lets {
                    let _ = write!(text, "let {} = {}; ", self.name(*v), self.expr(e, 0));
                }
                let _ = write!(text, "{} }}", self.expr(value, 0));
                return (text, 0);
            }
            ExprKind::Element(e, k) => format!("{}.{k}", self.expr(e, ATOM)),
            ExprKind::Tuple(es) => format!("({})", self.exprs(es)),
            ExprKind::Array(es) => format!("[{}]", self.exprs(es)),
            ExprKind::Repeat(e, n) => format!("[{}; {}]", self.expr(e, 0), self.expr(n, 0)),
            ExprKind::Fill(e, shape) => format!("vec![{}; {}]", self.expr(e, 0), self.exprs(shape)),
            ExprKind::EmptyStack => "Stack::new()".to_owned(),
            ExprKind::Contract(formula, factors) => {
                format!("contract(\"{formula}\", {})", self.exprs(factors))
            }
            // only passes make these
            ExprKind::Partials(..) | ExprKind::Zero(_) | ExprKind::ZeroShadow(_) | ExprKind::ZeroLike(_) => {
                text::show(self.f, e).to_string()
            }
        };
        (text, ATOM)
    }

    /// The name of the scalar type that is converted from.
    fn scalar_name(&self, e: &Expr) -> Cow<'static, str> {
        match &e.kind {
            ExprKind::Named(_) => "f64".into(),
            ExprKind::Read(p) => match self.f.var(p.var).ty {
                Type::Fixed(..) if self.name(p.var) == TABLE => "f64".into(),
                Type::Scalar(s) => s.name(),
                _ => "usize".into(),
            },
            ExprKind::Func(..) => "i64".into(),
            _ => "usize".into(),
        }
    }

    fn func(&self, func: Func, args: &[Expr]) -> (String, u8) {
        let infix = match func {
            Func::Or => Some(("||", 1)),
            Func::And => Some(("&&", 2)),
            Func::Eq => Some(("==", 3)),
            Func::Ne => Some(("!=", 3)),
            Func::Lt => Some(("<", 3)),
            Func::Le => Some(("<=", 3)),
            Func::Gt => Some((">", 3)),
            Func::Ge => Some((">=", 3)),
            Func::BitOr => Some(("|", 4)),
            Func::BitXor => Some(("^", 5)),
            Func::BitAnd => Some(("&", 6)),
            Func::Shl => Some(("<<", 7)),
            Func::Shr => Some((">>", 7)),
            Func::Add => Some(("+", 8)),
            Func::Sub => Some(("-", 8)),
            Func::Mul => Some(("*", 9)),
            Func::Div | Func::Quot => Some(("/", 9)),
            Func::Rem => Some(("%", 9)),
            _ => None,
        };
        match (infix, args) {
            (Some((symbol, level)), [a, b]) => {
                let left = if level == 3 { 4 } else { level };
                (format!("{} {symbol} {}", self.expr(a, left), self.expr(b, level + 1)), level)
            }
            (None, [a]) if func == Func::Neg => (format!("-{}", self.expr(a, 16)), 15),
            (None, [a]) if func == Func::Not => (format!("!{}", self.expr(a, 15)), 15),
            (None, [a, rest @ ..]) if is_method(func, a) => {
                (format!("{}.{}({})", self.expr(a, 20), func.name(), self.exprs(rest)), 20)
            }
            _ => {
                let name = if func == Func::Complex { "Complex::new" } else { func.name() };
                (format!("{name}({})", self.exprs(args)), 20)
            }
        }
    }
}

/// Functions of places are written as methods, others as functions: both are part of the language.
fn is_method(func: Func, first: &Expr) -> bool {
    matches!(first.kind, ExprKind::Read(_)) && !matches!(func, Func::Select | Func::Complex | Func::Polygamma)
}

fn is_negative(n: Number) -> bool {
    match n {
        Number::Int(v) => v < 0,
        Number::Float(v) => v.is_sign_negative(),
        Number::Bool(_) => false,
    }
}

fn literal(n: Number, ty: Option<&Type>) -> String {
    let number = match n {
        Number::Int(v) => v.to_string(),
        Number::Float(v) => format!("{v:?}"),
        Number::Bool(v) => v.to_string(),
    };
    match (ty, n) {
        (None, _) | (Some(Type::Scalar(ScalarType::Bool)), _) => number,
        (Some(Type::Scalar(s)), _) => format!("{number}{}", s.name()),
        (Some(Type::Generic(t)), Number::Int(0)) => format!("{t}::zero()"),
        (Some(Type::Generic(t)), Number::Int(1)) => format!("{t}::one()"),
        (Some(Type::Generic(t)), _) => format!("{t}::from_f64({number})"),
        (Some(Type::Complex(t)), Number::Int(0)) => format!("Complex::<{t}>::zero()"),
        (Some(ty), _) => format!("<{ty}>::from_f64({number})"),
    }
}
