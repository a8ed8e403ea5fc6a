//! Whole programs: a few functions that call each other, with arguments for the last of them.

use rev_core::check::check_module;
use rev_core::facts::passed_with_derivatives;
use rev_core::ir::*;
use rev_core::ops::Func;
use rev_core::text::ParseError;

use crate::dice::Dice;
use crate::generator::Generator;
use crate::prelude::{self, TABLE};
use crate::scope::{Element, Permission, Scopes, What};
use crate::signature::{Param, Signature};

/// How large programs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For the interpreter: one to three functions, the last of about a dozen statements.
    Full,
    /// To be compiled: one or two functions, the last of about half a dozen statements.
    Small,
}

/// A generated program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The seed that it was made from.
    pub seed: u64,
    /// Its functions, callees first; the last one is the program.
    pub functions: Vec<Function>,
    /// The parameters of each.
    pub signatures: Vec<Signature>,
    /// The length of slices and of the first axis of matrices.
    pub long: usize,
}

impl Program {
    /// The program of a seed. Names start with `name`. An *exact* one uses only statements that
    /// undo themselves bit for bit on integers and fixed-point numbers; it doesn't otherwise differ.
    pub fn generate(seed: u64, name: &str) -> Program {
        Program::sized(seed, name, Size::Full)
    }

    /// The program of a seed, of a size.
    pub fn sized(seed: u64, name: &str, size: Size) -> Program {
        let mut dice = Dice::new(seed);
        let exact = seed.is_multiple_of(2);
        let (functions, own, callee) = match size {
            Size::Full => (3, 14, 6),
            Size::Small => (2, 7, 4),
        };
        let count = 1 + dice.below(functions);
        // short slices run faster; groups of lanes need long ones
        let long = if size == Size::Small || seed.is_multiple_of(4) { 20 } else { 5 };
        let accumulates = seed % 5 == 3;
        let mut program = Program { seed, functions: Vec::new(), signatures: Vec::new(), long };
        for k in 0..count {
            let last = k + 1 == count;
            let name = if last { name.to_owned() } else { format!("{name}_{k}") };
            let mut library = prelude::signatures();
            library.extend(program.signatures.iter().cloned());
            let budget = if last { own } else { callee };
            let kind = Kind { exact, long, accumulates, repeated: !last && dice.chance(60) };
            let (function, signature) = function(&mut dice, name, &library, budget, kind);
            program.functions.push(function);
            program.signatures.push(signature);
        }
        program
    }

    /// The program with some of the parameters that its functions read declared constant, as far as no
    /// caller passes for them what carries a derivative. The statements are the same.
    pub fn with_constants(mut self) -> Program {
        let mut dice = Dice::new(self.seed.wrapping_add(1 << 32));
        for k in (0..self.functions.len()).rev() {
            let (callees, callers) = self.functions.split_at_mut(k + 1);
            let Some(function) = callees.last_mut() else { continue };
            let passed: Vec<usize> = callers
                .iter()
                .flat_map(passed_with_derivatives)
                .filter(|p| p.callee.name() == function.name)
                .map(|p| p.argument)
                .collect();
            for (at, var) in function.params.iter().enumerate() {
                let read = function.var(*var).kind == VarKind::Param(Mode::Read);
                let array = matches!(function.var(*var).ty, Type::Array(..));
                if dice.chance(if array { 80 } else { 50 }) && read && !passed.contains(&at) {
                    function.constants.insert(*var);
                }
            }
        }
        self
    }

    /// The program of a seed as it is compiled: small, every second pair of seeds with constants, three of four with a
    /// fault, where there is a place for one.
    pub fn compiled(seed: u64, name: &str) -> Program {
        let program = Program::sized(seed, name, Size::Small);
        let program = match seed / 2 % 2 {
            0 => program.with_constants(),
            _ => program,
        };
        match seed % 4 {
            0 => program,
            _ => program.with_fault().unwrap_or(program),
        }
    }

    /// Whether its functions have tangents where it is compiled, which makes them three times as large.
    pub fn has_tangent(&self) -> bool {
        self.seed.is_multiple_of(4)
    }

    /// Whether its functions have adjoints that programs can call, where it is compiled; a quarter of those that have tangents
    /// do, and a few others.
    pub fn has_adjoint(&self) -> bool {
        matches!(self.seed % 16, 4 | 6)
    }

    /// A program of one function that calls the last one's adjoint on numbers, which has no entry points of its own. Each
    /// parameter is followed by its cotangent.
    ///
    /// # Errors
    ///
    /// What the static rules have against the program: nothing, if the generator is right.
    pub fn calling_adjoint(&self) -> Result<Program, Box<dyn std::error::Error>> {
        let module = self.checked_module()?.pullback()?;
        let adjoint = module.functions.get(&module.entry).ok_or("there is no adjoint")?;
        let mut params = Vec::new();
        for (param, pair) in self.signature().params.iter().zip(adjoint.params.chunks(2)) {
            let bar = adjoint.var(*pair.last().ok_or("a parameter has no cotangent")?);
            let mode = match bar.kind {
                VarKind::Param(Mode::Read) => Mode::Read,
                VarKind::Param(Mode::Write | Mode::Accumulate) => Mode::Write,
                VarKind::Ancilla | VarKind::Binding | VarKind::Index => Err("a cotangent is no parameter")?,
            };
            let bar = Param { name: bar.name.clone(), mode, by_reference: true, ..param.clone() };
            params.extend([param.clone(), bar]);
        }
        let name = format!("{}_adjoint", self.entry().name);
        let callee = Callee::Path(FunctionPath::new(&self.entry().name).with(Derived::Adjoint));
        let args = passed_on(adjoint, &params);
        let call = StmtKind::Call { callee, direction: Direction::FORWARD, args: args.collect() };
        let function = Function { name: name.clone(), body: vec![Stmt::new(call)], ..adjoint.clone() };
        let signature = Signature { name, params, ..self.signature().clone() };
        Ok(Program { functions: vec![function], signatures: vec![signature], ..self.clone() })
    }

    /// The function that the program is about.
    pub fn entry(&self) -> &Function {
        &self.functions[self.functions.len() - 1]
    }

    /// The parameters of the function that the program is about.
    pub fn signature(&self) -> &Signature {
        &self.signatures[self.signatures.len() - 1]
    }

    /// Its functions in the text form.
    pub fn text(&self) -> String {
        self.functions.iter().map(|f| f.to_string()).collect()
    }

    /// Whether it undoes itself bit for bit on exact scalars.
    pub fn is_exact(&self) -> bool {
        self.signature().exact
    }

    /// The program with the prelude, checked, so that it can be run.
    ///
    /// # Errors
    ///
    /// What the static rules have against it: nothing, if the generator is right.
    pub fn checked_module(&self) -> Result<Module, Box<dyn std::error::Error>> {
        Ok(check_module(self.module()?).map_err(|d| d.render(&self.entry().name, ""))?)
    }

    /// The program with the prelude, as the generator made it: managed ancillas are not explicit yet.
    pub fn module(&self) -> Result<Module, ParseError> {
        prelude::with(&self.functions)
    }
}

/// What a function of a program is like.
#[derive(Clone, Copy)]
struct Kind {
    /// See [`Program::is_exact`].
    exact: bool,
    long: usize,
    /// Whether it only adds to what it writes.
    accumulates: bool,
    /// Whether it may be called in a loop.
    repeated: bool,
}

fn function(
    dice: &mut Dice,
    name: String,
    library: &[Signature],
    budget: usize,
    kind: Kind,
) -> (Function, Signature) {
    let Kind { exact, long, accumulates, repeated } = kind;
    let recursive = dice.chance(15);
    let mut generics = vec![Generic { name: "T".into(), kind: GenericKind::Scalar(Class::Real) }];
    let has_const = dice.chance(30);
    if has_const {
        generics.push(Generic { name: "N".into(), kind: GenericKind::Const });
    }
    let function = Function {
        constants: Default::default(),
        name: name.clone(),
        generics,
        params: Vec::new(),
        vars: Vec::new(),
        names: Names::default(),
        body: Vec::new(),
        checks: true,
        file: String::new(),
        span: Span::NONE,
        defects: Default::default(),
    };
    let params = parameters(dice, has_const, recursive, long);
    let mut g = Generator {
        dice,
        function,
        scopes: Scopes::default(),
        library,
        budget,
        exact,
        long,
        times: if repeated { long } else { 1 } * if recursive { 3 } else { 1 },
        parallel: 0,
        targets: Vec::new(),
        block: 0,
        seen: Vec::new(),
    };
    for p in &params {
        let ty = p.what.ty();
        let var = Var { name: p.name.clone(), ty, kind: VarKind::Param(p.mode), span: Span::NONE };
        let id = g.function.add_var(var);
        g.function.params.push(id);
        let only_added_to = accumulates && !matches!(p.what, What::Bool | What::Stack(_));
        let permission = match p.mode {
            Mode::Write if only_added_to => Permission::Accumulate,
            Mode::Write => Permission::Full,
            Mode::Read | Mode::Accumulate => Permission::Read,
        };
        g.know(id, p.what.clone(), permission, p.mode == Mode::Read);
    }
    let n = 3 + g.dice.below(3);
    let mut body = g.fresh_block(n);
    if recursive {
        let at = if g.dice.chance(50) { 0 } else { body.len() };
        let inverse = g.dice.chance(30);
        body.insert(at, calls_itself(&g.function, &name, &params, inverse));
    }
    let mut function = g.function;
    if let Some(var) = function.find_var(TABLE) {
        let expr = Expr::new(ExprKind::Named(TABLE.into()));
        body = vec![Stmt::new(StmtKind::Let { var, expr, body })];
    }
    function.body = body;
    forget_unused(&mut function);
    let loops_allowed = usize::from(repeated);
    (
        function,
        Signature { name, params, exact, any_length: false, strided: false, accumulates, loops_allowed },
    )
}

/// A function's parameters as the arguments of a call.
fn passed_on<'a>(function: &'a Function, params: &'a [Param]) -> impl Iterator<Item = Arg> + 'a {
    function.params.iter().zip(params).map(|(id, p)| {
        let place = Place::var(*id);
        let value = match p.mode == Mode::Write || p.by_reference {
            true => ArgValue::Place(place),
            false => ArgValue::Expr(Expr::read(place)),
        };
        Arg { mode: p.mode, value }
    })
}

/// `if d > 0 { f(…, d - 1) }`
fn calls_itself(function: &Function, name: &str, params: &[Param], inverse: bool) -> Stmt {
    let depth = |p: &Param| p.what == What::Depth;
    let args = passed_on(function, params).zip(params).map(|(arg, p)| match arg.value {
        ArgValue::Expr(left) if depth(p) => {
            Arg { value: ArgValue::Expr(Expr::func(Func::Sub, vec![left, Expr::int(1)])), ..arg }
        }
        ArgValue::Expr(_) | ArgValue::Place(_) => arg,
    });
    let direction = if inverse { Direction::INVERSE } else { Direction::FORWARD };
    let call = StmtKind::Call { callee: Callee::Path(name.into()), direction, args: args.collect() };
    let left = function.params.iter().zip(params).find(|(_, p)| depth(p));
    let cond = match left {
        Some((id, _)) => Expr::func(Func::Gt, vec![Expr::read(Place::var(*id)), Expr::int(0)]),
        None => Expr::bool(false),
    };
    Stmt::new(StmtKind::If { cond, post: None, then: vec![Stmt::new(call)], otherwise: Vec::new() })
}

/// Removes variables that were declared for statements that were then given up.
fn forget_unused(function: &mut Function) {
    let text = rev_core::text::print_function(function);
    if let Ok(tidy) = rev_core::text::parse_function(&text) {
        *function = tidy;
    }
}

fn parameters(dice: &mut Dice, has_const: bool, recursive: bool, long: usize) -> Vec<Param> {
    let mut out = vec![param("y", 0, What::Real, Mode::Write, false)];
    let mut add = |what: What, mode, by_reference| {
        let n = out.len();
        out.push(param(if mode == Mode::Write { "y" } else { "x" }, n, what, mode, by_reference));
    };
    for _ in 0..2 + dice.below(3) {
        let what = match dice.below(11) {
            0..=2 => What::Real,
            3 => What::Complex,
            4 => What::Int,
            5 => What::Bool,
            6 => What::Reals,
            7 => What::Matrix,
            8 => What::Duo,
            9 => What::Rows,
            _ => What::Body,
        };
        add(what, Mode::Write, true);
    }
    for _ in 0..2 + dice.below(3) {
        let what = match dice.below(12) {
            0..=2 => What::Real,
            3 => What::Complex,
            4 => What::Index(long - 1),
            5 => What::Reals,
            6 => What::Matrix,
            7 | 8 => What::Indices { injective: dice.chance(60) },
            9 => What::Body,
            10 => What::Rows,
            _ => What::Duo,
        };
        let scalar = matches!(what, What::Real | What::Complex);
        let by_reference = !matches!(what, What::Index(_)) && (!scalar || dice.chance(40));
        add(what, Mode::Read, by_reference);
    }
    if has_const {
        let mode = if dice.chance(60) { Mode::Write } else { Mode::Read };
        add(What::Triple { named: true }, mode, true);
    } else if dice.chance(30) {
        add(What::Triple { named: false }, Mode::Write, true);
    }
    if dice.chance(25) {
        add(What::Ints, Mode::Write, true);
    }
    if dice.chance(25) {
        let of = [Element::Real, Element::Real, Element::Complex, Element::Int, Element::Bool];
        add(What::Stack(of[dice.below(of.len())]), Mode::Write, true);
    }
    if recursive {
        add(What::Depth, Mode::Read, false);
    }
    out
}

fn param(stem: &str, n: usize, what: What, mode: Mode, by_reference: bool) -> Param {
    Param { name: format!("{stem}{n}"), what, mode, by_reference }
}
