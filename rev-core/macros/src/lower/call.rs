//! Calls as statements: instructions, stacks, releases, and calls of reversible functions.

use rev_compiler::diag::{Code, Diagnostic};
use rev_compiler::ir::{
    Arg, ArgValue, Block, Callee, Derived, Direction, Expr, ExprKind, FunctionPath, Mode, Number, Place,
    ScalarType, Span, Stmt, StmtKind, Type, UpdateOp, VarId, VarKind,
};
use rev_compiler::ops::{Func, Instr};

use super::literal::made;
use super::part::part_method;
use super::{plain_name, strip, Lowerer};
use crate::spans::Region;
use crate::types::function_path;

/// Whether a call by this name is a statement of the language.
pub(super) fn is_statement(name: &str) -> bool {
    matches!(name, "release" | "push" | "pop" | "cnot" | "convert") || Instr::from_name(name).is_some()
}

type Args = syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>;

/// What a call's path stands for.
struct CalleeName {
    callee: Callee,
    direction: Direction,
}

impl Lowerer {
    /// `f(..);`
    pub(super) fn call_statement(&mut self, c: &syn::ExprCall) -> Block {
        let span = self.call_span(c);
        let syn::Expr::Path(path) = strip(&c.func) else {
            let _: Option<()> =
                self.error(Code::UnknownCall, &c.func, "only functions can be called, by their names");
            return Vec::new();
        };
        let name = path.path.get_ident().map(plain_name).unwrap_or_default();
        let local = self.lookup(&name).is_some();
        let stmt = match name.as_str() {
            "release" if !local => return self.release(&c.args, c, span),
            "convert" if !local => return self.convert(c, span),
            "push" | "pop" if !local => self.stack(&name, c),
            "cnot" if !local => self.cnot(c),
            _ => match Instr::from_name(&name).filter(|_| !local) {
                Some(instr) => self.instruction(instr, c),
                None => self.call(path, &c.args),
            },
        };
        stmt.map(|kind| Stmt::new(kind).at(span)).into_iter().collect()
    }

    /// From the function's name to the closing parenthesis.
    fn call_span(&mut self, c: &syn::ExprCall) -> Span {
        let region = Region::of(&c.func).to(Region::at(c.paren_token.span.close()));
        self.source.spans.record(region)
    }

    /// `f.inverse(..)` of a function parameter; any other method changes what can't be seen.
    pub(super) fn method_statement(&mut self, m: &syn::ExprMethodCall) -> Option<Stmt> {
        if let syn::Expr::Path(p) = strip(&m.receiver) {
            let name = p.path.get_ident().map(plain_name).unwrap_or_default();
            if self.is_function(&name) && m.method == "inverse" {
                let span = self.span(m);
                let var = self.lookup(&name)?;
                let args = self.arguments(&m.args)?;
                let callee = Callee::Param(var);
                let kind = StmtKind::Call { callee, direction: Direction::INVERSE, args };
                return Some(Stmt::new(kind).at(span));
            }
        }
        if let Some(call) = self.receiver_call(m) {
            let span = self.span(m);
            return call.map(|kind| Stmt::new(kind).at(span));
        }
        let help = match (m.method.to_string().as_str(), m.args.len()) {
            ("swap", 2) => "name the elements: `swap(x[i], x[j]);`",
            ("push", 1) => "`push(stack, x);` moves a value to a stack",
            ("pop", _) => "`pop(stack, x);` moves the top of a stack to a place that is zero",
            _ => return self.unknown_receiver(m),
        };
        self.error_help(
            Code::UnknownCall,
            &m.method,
            format!("nothing is known about what the method `{}` changes", m.method),
            help,
        )
    }

    fn arity(&mut self, c: &syn::ExprCall, n: usize, name: &str) -> Option<()> {
        if c.args.len() == n {
            return Some(());
        }
        let message = wrong_count(name, n, c.args.len());
        self.error(Code::ArgumentCount, &c.func, message)
    }

    fn instruction(&mut self, instr: Instr, c: &syn::ExprCall) -> Option<StmtKind> {
        let row = instr.row();
        self.arity(c, row.places + row.operands, row.name)?;
        let places: Vec<_> = c.args.iter().take(row.places).map(|e| self.place(e)).collect();
        let operands: Vec<_> = c.args.iter().skip(row.places).map(|e| self.expr(e)).collect();
        let places = places.into_iter().collect::<Option<_>>()?;
        let operands = operands.into_iter().collect::<Option<_>>()?;
        Some(StmtKind::Instr { instr, places, operands })
    }

    /// `cnot(a, b, c)`: `c ^= a & b`.
    fn cnot(&mut self, c: &syn::ExprCall) -> Option<StmtKind> {
        self.arity(c, 3, "cnot")?;
        let (a, b, place) = (self.expr(&c.args[0]), self.expr(&c.args[1]), self.place(&c.args[2]));
        let (a, b, place) = (a?, b?, place?);
        let logical = self.type_of(&a) == Type::BOOL || self.type_of_place(&place) == Type::BOOL;
        let func = if logical { Func::And } else { Func::BitAnd };
        Some(StmtKind::Update { op: UpdateOp::Xor, place, expr: Expr::func(func, vec![a, b]) })
    }

    fn stack(&mut self, name: &str, c: &syn::ExprCall) -> Option<StmtKind> {
        self.arity(c, 2, name)?;
        let (stack, place) = (self.place(&c.args[0]), self.place(&c.args[1]));
        let (stack, place) = (stack?, place?);
        Some(match name {
            "push" => StmtKind::Push { stack, place },
            _ => StmtKind::Pop { stack, place },
        })
    }

    /// `release(a)`, or `release(a, e)`: `a -= e; a += e0;`, so that `a` holds its first value `e0`
    /// again exactly if it held `e`.
    fn release(&mut self, args: &Args, c: &syn::ExprCall, span: Span) -> Block {
        if args.is_empty() || args.len() > 2 {
            let _: Option<()> = self.error(
                Code::ArgumentCount,
                &c.func,
                "`release` takes an ancilla and, if it isn't its first one, its value",
            );
            return Vec::new();
        }
        let Some(place) = self.place(&args[0]) else { return Vec::new() };
        let var = self.var(place.var);
        if !place.path.is_empty() || var.kind != VarKind::Ancilla {
            let d = Diagnostic::new(Code::ReleaseNotAncilla, place.span, "only an ancilla can be released")
                .label(var.span, format!("`{}` is declared here", var.name))
                .help("an ancilla is declared by `let mut`");
            let _: Option<()> = self.report(d);
            return Vec::new();
        }
        self.released.insert(place.var);
        let Some(first) = self.first_values.get(&place.var).cloned() else { return Vec::new() };
        let mut out = Vec::new();
        if let Some(value) = args.get(1).and_then(|e| self.expr(e)) {
            out.extend(self.back_to_first(&place, value, &first, span));
        }
        out.push(Stmt::new(StmtKind::Release { var: place.var, value: first }).at(span));
        out
    }

    fn back_to_first(&self, place: &Place, value: Expr, first: &Expr, span: Span) -> Block {
        if same(&value, first) {
            return Vec::new();
        }
        let (take, give) = match self.type_of_place(place) {
            Type::Scalar(ScalarType::Bool) => (UpdateOp::Xor, UpdateOp::Xor),
            _ => (UpdateOp::Sub, UpdateOp::Add),
        };
        let update = |op, expr| Stmt::new(StmtKind::Update { op, place: place.clone(), expr }).at(span);
        let mut out = vec![update(take, value)];
        if !first.is_number(0) && first.kind != ExprKind::Literal(Number::Bool(false), None) {
            out.push(update(give, first.clone()));
        }
        out
    }

    fn call(&mut self, path: &syn::ExprPath, args: &Args) -> Option<StmtKind> {
        let named = self.callee(path);
        let args = self.arguments(args);
        let (CalleeName { callee, direction }, mut args) = (named?, args?);
        if let Callee::Path(path) = &callee {
            self.accumulated(path, &mut args);
        }
        self.changes_something(path, &args)?;
        let callee = match callee {
            Callee::Path(path) => Callee::Path(self.completed(path, &args)),
            Callee::Param(var) => Callee::Param(var),
        };
        Some(StmtKind::Call { callee, direction, args })
    }

    /// In a call of an adjoint or a gradient, or of the tangent of one, the cotangent of an argument that is read is only
    /// accumulated into. In a gradient an integer has none.
    fn accumulated(&self, path: &FunctionPath, args: &mut [Arg]) {
        let (together, derived) = path.taken_tangents();
        let is_gradient = match derived {
            Some(Derived::Gradient) => true,
            Some(Derived::Adjoint) => false,
            _ => return,
        };
        let mut at = 0;
        while at + 2 * together <= args.len() {
            let (values, cotangents) = args[at..].split_at_mut(together);
            let of = match &values[0].value {
                ArgValue::Place(place) => self.type_of_place(place),
                ArgValue::Expr(e) => self.type_of(e),
            };
            let is_alone = of.is_inactive(&self.function.generics) || cotangents[0].mode != Mode::Write;
            if is_gradient && values[0].mode == Mode::Read && is_alone {
                at += together;
                continue;
            }
            for (value, cotangent) in values.iter().zip(cotangents) {
                if value.mode == Mode::Read && cotangent.mode == Mode::Write {
                    cotangent.mode = Mode::Accumulate;
                }
            }
            at += 2 * together;
        }
    }

    /// The path of a function of a type with the type's arguments.
    fn completed(&mut self, path: FunctionPath, args: &[Arg]) -> FunctionPath {
        let Some(written) = self.source.callees.get(&path).cloned() else { return path };
        let whole = self.with_arguments(written, args);
        let complete = function_path(&whole);
        if complete != path {
            self.source.callees.remove(&path);
            self.source.callees.entry(complete.clone()).or_insert(whole);
        }
        complete
    }

    /// `f`, `f::inverse`, or a parameter.
    fn callee(&mut self, path: &syn::ExprPath) -> Option<CalleeName> {
        if path.qself.is_some() {
            return self.error(Code::UnknownCall, path, "a method of a trait isn't a reversible function");
        }
        let mut bare = path.path.clone();
        let mut direction = Direction::FORWARD;
        let inverse = bare.segments.len() > 1 && bare.segments.last().is_some_and(|s| s.ident == "inverse");
        if inverse {
            direction = Direction::INVERSE;
            let arguments = bare.segments.pop().map(|s| s.into_value().arguments);
            bare.segments.pop_punct();
            if let (Some(last), Some(arguments)) = (bare.segments.last_mut(), arguments) {
                if last.arguments.is_none() {
                    last.arguments = arguments;
                }
            }
        }
        let param = bare.get_ident().map(plain_name).and_then(|n| self.lookup(&n));
        if let Some(var) = param {
            return self.param_callee(var, path).map(|callee| CalleeName { callee, direction });
        }
        let path = function_path(&bare);
        self.source.callees.entry(path.clone()).or_insert(bare);
        Some(CalleeName { callee: Callee::Path(path), direction })
    }

    fn param_callee(&mut self, var: VarId, at: &syn::ExprPath) -> Option<Callee> {
        if matches!(self.var(var).ty, Type::Function(_)) {
            return Some(Callee::Param(var));
        }
        let name = self.var(var).name.clone();
        self.error_help(
            Code::UnknownCall,
            at,
            format!("`{name}` isn't a reversible function"),
            "a parameter `f: impl Reversible<(&mut T, &T)>` is one",
        )
    }

    /// Arguments: `&mut p` is written, `&p` and `e` are read. The name of a `&mut` parameter that
    /// isn't a scalar passes the reference on, as in Rust.
    pub(super) fn arguments(&mut self, args: &Args) -> Option<Vec<Arg>> {
        let lowered: Vec<_> = args.iter().map(|a| self.argument(a)).collect();
        lowered.into_iter().collect()
    }

    fn argument(&mut self, e: &syn::Expr) -> Option<Arg> {
        match strip(e) {
            syn::Expr::Reference(r) if r.mutability.is_some() => self.written(&r.expr),
            syn::Expr::MethodCall(m) if m.method == "view_mut" && m.args.is_empty() => {
                self.written(&m.receiver)
            }
            syn::Expr::MethodCall(m) if part_method(m).is_some_and(|(_, written)| written) => {
                self.written(strip(e))
            }
            syn::Expr::MethodCall(m) if m.method == "view" && m.args.is_empty() => {
                let place = self.place(&m.receiver)?;
                Some(Arg { mode: Mode::Read, value: ArgValue::Place(place) })
            }
            syn::Expr::Reference(r) if made(&r.expr).is_some() => {
                let place = self.made_argument(&r.expr)?;
                Some(Arg { mode: Mode::Read, value: ArgValue::Place(place) })
            }
            e if made(e).is_some() => {
                let place = self.made_argument(e)?;
                Some(Arg { mode: Mode::Read, value: ArgValue::Place(place) })
            }
            syn::Expr::Reference(r) => {
                let value = match self.expr(&r.expr)? {
                    Expr { kind: ExprKind::Read(place), .. } => ArgValue::Place(place),
                    e => ArgValue::Expr(e),
                };
                Some(Arg { mode: Mode::Read, value })
            }
            e => {
                if let Some(function) = self.function_name(e) {
                    return Some(Arg { mode: Mode::Read, value: ArgValue::Expr(function) });
                }
                let by_name = matches!(e, syn::Expr::Path(_));
                let (mode, value) = match self.expr(e)? {
                    Expr { kind: ExprKind::Read(place), .. }
                        if self.is_reference(&place) && (by_name || self.is_composite(&place)) =>
                    {
                        (Mode::Write, ArgValue::Place(place))
                    }
                    Expr { kind: ExprKind::Read(place), .. } if self.is_composite(&place) => {
                        (Mode::Read, ArgValue::Place(place))
                    }
                    e => (Mode::Read, ArgValue::Expr(e)),
                };
                Some(Arg { mode, value })
            }
        }
    }

    fn written(&mut self, e: &syn::Expr) -> Option<Arg> {
        let place = self.place(e)?;
        Some(Arg { mode: Mode::Write, value: ArgValue::Place(place) })
    }

    /// The whole of a parameter `a: &mut [T]`, `&mut S`, `&mut T`, ….
    fn is_reference(&self, place: &Place) -> bool {
        place.path.is_empty() && self.var(place.var).kind == VarKind::Param(Mode::Write)
    }

    /// Reports a call that is given nothing to change: what the function did to copies would be lost.
    pub(super) fn changes_something(&mut self, call: &impl quote::ToTokens, args: &[Arg]) -> Option<()> {
        if args.iter().any(|arg| arg.mode != Mode::Read) {
            return Some(());
        }
        self.error(
            Code::CallSignature,
            call,
            "this call is given nothing that it may change: what a function changes is passed as `&mut x`",
        )
    }

    /// Arrays and other values of several parts, and the parts and stacks of them, are never copied
    /// into a call.
    fn is_composite(&self, place: &Place) -> bool {
        place.is_part()
            || matches!(
                self.type_of_place(place),
                Type::Array(..) | Type::Fixed(..) | Type::Tuple(_) | Type::Struct(..) | Type::Stack(_)
            )
    }
}

/// That a function has another number of arguments.
pub(super) fn wrong_count(name: &str, expected: usize, found: usize) -> String {
    let plural = if expected == 1 { "" } else { "s" };
    format!("`{name}` takes {expected} argument{plural}, not {found}")
}

/// Whether two expressions are the same but for positions and the types of literals.
fn same(a: &Expr, b: &Expr) -> bool {
    fn plain(e: &Expr) -> Expr {
        let mut e = e.clone();
        erase(&mut e);
        e
    }
    plain(a) == plain(b)
}

fn erase(e: &mut Expr) {
    e.span = Span::NONE;
    if let ExprKind::Literal(n, ty) = &mut e.kind {
        *ty = None;
        if let Number::Float(v) = *n {
            if v.fract() == 0.0 && v.abs() < 1e15 {
                *n = Number::Int(v as i128);
            }
        }
    }
    if let ExprKind::Read(p) | ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) =
        &mut e.kind
    {
        p.span = Span::NONE;
    }
    e.each_child_mut(&mut erase);
}
