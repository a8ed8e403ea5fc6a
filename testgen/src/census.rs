//! How often each form of the language occurs in programs: statements, instructions, functions, types.

use std::collections::BTreeMap;
use std::fmt;

use rev_core::ir::*;
use rev_core::ops::{Func, Instr};

use crate::{prelude, Program};

/// Forms of statements, expressions and declarations that the generator has to make.
const FORMS: &[&str] = &[
    "`+=`",
    "`-=`",
    "`^=`",
    "let",
    "ancilla, managed",
    "ancilla, released",
    "if",
    "if with a postcondition",
    "else",
    "while",
    "for",
    "for, stepped",
    "for, stepped from the end",
    "for, reversed",
    "for, inclusive",
    "for over a narrow type",
    "par for",
    "par for, injective",
    "par for, disjoint",
    "par for in another",
    "call",
    "call of the inverse",
    "call in a loop",
    "call in a parallel loop",
    "call of itself",
    "call with a function",
    "call with a part of a slice",
    "call with a row",
    "call with a column",
    "call with rows of one matrix",
    "call with an iteration's own row",
    "compute",
    "push",
    "pop",
    "release",
    "external",
    "unchecked",
    "inverse",
    "contraction",
    "pure call",
    "pure call with given derivatives",
    "block expression",
    "if expression",
    "branch of several numbers",
    "tuple",
    "array",
    "length",
    "named constant",
    "function as an argument",
    "constant table",
    "const parameter",
    "cast",
    "only adds to its parameters",
];

/// Types of variables, as far as the generator knows them.
const TYPES: &[&str] = &[
    "T",
    "Complex<T>",
    "bool",
    "i64",
    "usize",
    "u8",
    "i8",
    "u16",
    "i16",
    "i32",
    "[T]",
    "Array2<T>",
    "[i64]",
    "[usize]",
    "[T; 3]",
    "[T; N]",
    "(T, T)",
    "(bool, T, i64)",
    "Body<T>",
    "Stack<T>",
    "Stack<Complex<T>>",
    "Stack<i64>",
    "Stack<bool>",
];

/// Instructions without random programs. `Inv` of everything but a number away from zero isn't a bijection,
/// so it is made of ancillas only.
const WITHOUT_INSTRS: &[Instr] = &[];

/// Functions that only passes make, or that stand for others, and the one that is put into programs to compare them.
fn is_made_by_passes(func: Func) -> bool {
    matches!(
        func,
        Func::PowiDerivative
            | Func::ArgGradient
            | Func::Unit
            | Func::Scale
            | Func::Absorb
            | Func::Differentiable
            | Func::StopGradient
            | Func::ScaleReal
            | Func::ShadowOf
            | Func::ShadowConj
            | Func::ShadowRe
            | Func::ShadowIm
            | Func::ShadowFromRe
            | Func::ShadowFromIm
    )
}

/// A count for each form.
#[derive(Clone, Debug, Default)]
pub struct Census {
    counts: BTreeMap<String, u64>,
    /// In how many loops and parallel loops the walk is.
    loops: [usize; 2],
}

impl Census {
    /// Nothing yet of everything that the generator has to make.
    pub fn expected() -> Census {
        let mut out = Census::default();
        let mut expect = |kind: &str, name: &str| {
            out.counts.insert(format!("{kind} {name}"), 0);
        };
        FORMS.iter().for_each(|f| expect("form", f));
        TYPES.iter().for_each(|t| expect("type", t));
        let instrs = Instr::ALL.iter().filter(|i| !WITHOUT_INSTRS.contains(i));
        instrs.for_each(|i| expect("instruction", i.name()));
        let funcs = Func::ALL.iter().filter(|f| !is_made_by_passes(**f));
        funcs.for_each(|f| expect("function", f.name()));
        out
    }

    /// What doesn't occur.
    pub fn missing(&self) -> Vec<&str> {
        self.counts.iter().filter(|(_, n)| **n == 0).map(|(what, _)| what.as_str()).collect()
    }

    /// Counts a program.
    pub fn add(&mut self, program: &Program) {
        for (f, signature) in program.functions.iter().zip(&program.signatures) {
            if signature.accumulates {
                self.form("only adds to its parameters");
            }
            f.vars.iter().for_each(|v| self.count("type", &v.ty.to_string()));
            self.block(f, &f.body);
        }
    }

    fn count(&mut self, kind: &str, name: &str) {
        *self.counts.entry(format!("{kind} {name}")).or_default() += 1;
    }

    fn form(&mut self, name: &str) {
        self.count("form", name);
    }

    fn block(&mut self, f: &Function, block: &Block) {
        for s in block {
            self.stmt(f, s);
            let inside = match &s.kind {
                StmtKind::For { parallel, .. } => [1, usize::from(parallel.is_some())],
                StmtKind::While { .. } => [1, 0],
                _ => [0, 0],
            };
            let outer = self.loops;
            self.loops = [outer[0] + inside[0], outer[1] + inside[1]];
            s.blocks().into_iter().for_each(|b| self.block(f, b));
            self.loops = outer;
        }
    }

    fn stmt(&mut self, f: &Function, s: &Stmt) {
        s.each_expr(&mut |e| self.expr(e));
        match &s.kind {
            StmtKind::Update { op, .. } => self.form(&format!("`{}`", op.symbol())),
            StmtKind::Instr { instr, .. } => self.count("instruction", instr.name()),
            StmtKind::Let { .. } => self.form("let"),
            StmtKind::Ancilla { release: Release::Managed, .. } => self.form("ancilla, managed"),
            StmtKind::Ancilla { .. } => self.form("ancilla, released"),
            StmtKind::If { post, otherwise, .. } => {
                self.form(if post.is_some() { "if with a postcondition" } else { "if" });
                if !otherwise.is_empty() {
                    self.form("else");
                }
            }
            StmtKind::While { .. } => self.form("while"),
            StmtKind::For { var, range, parallel, .. } => {
                self.for_loop(range, parallel.as_ref());
                if f.var(*var).ty != Type::INDEX {
                    self.form("for over a narrow type");
                }
            }
            StmtKind::Call { callee, direction, args } => self.call(f, callee, *direction, args),
            StmtKind::Compute { .. } => self.form("compute"),
            StmtKind::Push { .. } => self.form("push"),
            StmtKind::Pop { .. } => self.form("pop"),
            StmtKind::Release { .. } => self.form("release"),
            StmtKind::External { .. } => self.form("external"),
            StmtKind::Unchecked { .. } => self.form("unchecked"),
            StmtKind::Inverse { .. } => self.form("inverse"),
        }
    }

    fn for_loop(&mut self, range: &Range, parallel: Option<&Parallel>) {
        self.form(if parallel.is_some() { "par for" } else { "for" });
        let properties = [
            (range.step.is_some(), "for, stepped"),
            (range.from_end, "for, stepped from the end"),
            (range.reversed, "for, reversed"),
            (range.inclusive, "for, inclusive"),
            (parallel.is_some_and(|p| !p.injective.is_empty()), "par for, injective"),
            (parallel.is_some_and(|p| !p.disjoint.is_empty()), "par for, disjoint"),
            (parallel.is_some() && self.loops[1] > 0, "par for in another"),
        ];
        properties.into_iter().filter(|(is, _)| *is).for_each(|(_, name)| self.form(name));
    }

    fn call(&mut self, f: &Function, callee: &Callee, direction: Direction, args: &[Arg]) {
        self.form(if direction.inverse { "call of the inverse" } else { "call" });
        let parts: Vec<(&Place, &[Axis], Mode)> = args.iter().filter_map(part).collect();
        let row = |axes: &[Axis]| matches!(axes, [Axis::At(_), ..]);
        let own = |(_, axes, mode): &(&Place, &[Axis], Mode)| row(axes) && *mode != Mode::Read;
        let same = |(k, (p, axes, _)): (usize, &(&Place, &[Axis], Mode))| {
            row(axes) && parts[..k].iter().any(|(q, other, _)| q.var == p.var && row(other))
        };
        let path = match callee {
            Callee::Path(path) => path.as_str(),
            Callee::Param(_) => "",
        };
        let properties = [
            (self.loops[0] > 0, "call in a loop"),
            (self.loops[1] > 0, "call in a parallel loop"),
            (path == f.name, "call of itself"),
            (path == "twice", "call with a function"),
            (
                parts.iter().any(|(_, axes, _)| matches!(axes, [Axis::Range(..)])),
                "call with a part of a slice",
            ),
            (parts.iter().any(|(_, axes, _)| row(axes)), "call with a row"),
            (parts.iter().any(|(_, axes, _)| matches!(axes, [_, Axis::At(_)])), "call with a column"),
            (parts.iter().enumerate().any(same), "call with rows of one matrix"),
            (self.loops[1] > 0 && parts.iter().any(own), "call with an iteration's own row"),
        ];
        properties.into_iter().filter(|(is, _)| *is).for_each(|(_, name)| self.form(name));
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Func(func, _) => self.count("function", func.name()),
            ExprKind::Contract(..) => self.form("contraction"),
            ExprKind::Pure(path, _) => {
                let given = prelude::module().is_ok_and(|m| m.pures[path.as_str()].partials.is_some());
                self.form(if given { "pure call with given derivatives" } else { "pure call" });
            }
            ExprKind::Block(..) => self.form("block expression"),
            ExprKind::If(_, a, _) => {
                self.form("if expression");
                let several =
                    matches!(a.kind, ExprKind::Tuple(_) | ExprKind::Array(_) | ExprKind::Repeat(..));
                if several {
                    self.form("branch of several numbers");
                }
            }
            ExprKind::Tuple(_) => self.form("tuple"),
            ExprKind::Array(_) => self.form("array"),
            ExprKind::Len(..) => self.form("length"),
            ExprKind::Named(path) if path == prelude::TABLE => self.form("constant table"),
            ExprKind::Named(_) => self.form("named constant"),
            ExprKind::Function(_) => self.form("function as an argument"),
            ExprKind::Const(_) => self.form("const parameter"),
            ExprKind::Cast(..) => self.form("cast"),
            _ => {}
        }
        e.each_child(&mut |c| self.expr(c));
    }
}

/// The part of an array that an argument is.
fn part(arg: &Arg) -> Option<(&Place, &[Axis], Mode)> {
    let ArgValue::Place(place) = &arg.value else { return None };
    match place.path.as_slice() {
        [.., Step::Part(axes)] => Some((place, axes, arg.mode)),
        _ => None,
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(what, n)| writeln!(f, "{n:8} {what}"))
    }
}
