//! Random statements, every form of the language, nested.
//!
//! Everything that is generated is a bijection on all states (up to rounding): postconditions hold
//! whichever way the program is run, loops stop in both directions. So any statement may stand in
//! an inverse block, and any function may be called backwards.

use rev_core::ir::*;
use rev_core::ops::{Func, Instr};

use crate::generator::{surely_distinct, Generator, Use};
use crate::prelude::FUNCTIONS;
use crate::scope::{effects_of_block, Element, Known, Permission, What, Why, SHORT};
use crate::signature::Param;

fn read(v: VarId) -> Expr {
    Expr::read(Place::var(v))
}

fn literal(n: Number, ty: Type) -> Expr {
    Expr::new(ExprKind::Literal(n, Some(ty)))
}

fn generic(v: i128) -> Expr {
    literal(Number::Int(v), Type::Generic("T".into()))
}

fn add(place: Place, expr: Expr) -> StmtKind {
    StmtKind::Update { op: UpdateOp::Add, place, expr }
}

/// Products of real and complex numbers that get a name, and some numbers as products, marked as to be
/// rounded with what they are added to. Without a throw of the dice.
fn rounded_with_its_sums(expr: Expr, what: &What, var: VarId) -> Expr {
    let fused = |product| Expr::func(Func::Fused, vec![product]);
    match &expr.kind {
        ExprKind::Func(Func::Mul, _) if matches!(what, What::Real | What::Complex) => fused(expr),
        _ if *what == What::Real && var.0.is_multiple_of(3) => {
            let factor = literal(Number::Float(0.75), Type::Generic("T".into()));
            fused(Expr::func(Func::Mul, vec![expr, factor]))
        }
        _ => expr,
    }
}

/// Whether elements chosen by a table are those of one place of it, a loop's.
fn looked_up_at(body: &[Stmt], table: VarId, var: VarId) -> bool {
    let own = Expr::read(Place::var(table).with(Step::Index(vec![Expr::read(Place::var(var))])));
    let mut only = true;
    for stmt in body {
        stmt.each_access_deep(&mut |p, _| {
            p.indices().filter(|e| e.mentions(table)).for_each(|e| only &= e.same(&own));
        });
    }
    only
}

/// Whether what is written at elements chosen by a table is used at such elements only: then iterations
/// share none of them.
fn by_table_only(body: &[Stmt], table: VarId) -> bool {
    let written = indexed_by(body, table);
    let mut only = true;
    for stmt in body {
        stmt.each_access_deep(&mut |p, _| {
            only &= !written.contains(&p.var) || p.indices().any(|e| e.mentions(table));
        });
    }
    only
}

/// The variables that are written at elements chosen by an index array.
fn indexed_by(block: &[Stmt], table: VarId) -> Vec<VarId> {
    let mut found = Vec::new();
    for stmt in block {
        stmt.each_access_deep(&mut |p, access| {
            let chosen = access != Access::Read && p.indices().any(|e| e.mentions(table));
            if chosen && !found.contains(&p.var) {
                found.push(p.var);
            }
        });
    }
    found
}

impl Generator<'_> {
    /// About `n` statements, in a block of the source of their own.
    pub(crate) fn fresh_block(&mut self, n: usize) -> Block {
        self.in_new_block(|g| g.statements(n))
    }

    /// About `n` statements; what declares something has the rest as its body.
    pub(crate) fn statements(&mut self, n: usize) -> Block {
        let mut out = Vec::new();
        for done in 0..n {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            if self.dice.chance(25) && done + 1 < n + usize::from(self.dice.chance(30)) {
                if let Some(stmt) = self.declaration(n - done) {
                    out.push(stmt);
                    return out;
                }
            }
            out.extend(self.statement());
        }
        if out.is_empty() {
            out.extend((0..5).find_map(|_| self.update()));
        }
        out
    }

    fn statement(&mut self) -> Block {
        let depth = self.scopes.depth();
        let deep = depth > 6 || self.budget < 2 || self.scopes.loops() > 1;
        let one = |s: Option<Stmt>| s.into_iter().collect::<Block>();
        for _ in 0..4 {
            let made = match self.dice.below(if deep { 11 } else { 24 }) {
                0..=5 => one(self.update()),
                6..=8 => one(self.instruction()),
                9 | 10 => one(self.call()),
                11..=13 => one(self.for_loop()),
                14 | 15 => one(self.parallel_loop()),
                16 | 17 => one(self.branch()),
                18 | 19 => one(self.decided_branch()),
                20 => {
                    let body = self.within(Why::Inverse, Default::default(), |g| g.fresh_block(2));
                    vec![Stmt::new(StmtKind::Inverse { body })]
                }
                21 => vec![Stmt::new(StmtKind::Unchecked { body: self.fresh_block(2) })],
                22 => self.stack_detour().unwrap_or_default(),
                _ => vec![Stmt::new(StmtKind::External { code: "let _outside = 1 ;".into() })],
            };
            if !made.is_empty() {
                return made;
            }
        }
        Vec::new()
    }

    /// A statement whose scope is the rest of the block, about `rest` statements.
    fn declaration(&mut self, rest: usize) -> Option<Stmt> {
        match self.dice.below(12) {
            0..=3 => self.binding(rest),
            4..=6 => self.managed(rest),
            7 => self.released(rest),
            8 | 9 if self.scopes.loops() < 2 => self.counted(rest),
            10 => self.computed(rest),
            11 if self.dice.chance(50) => self.stacked(rest),
            11 => self.computed(rest),
            _ => self.managed(rest),
        }
    }

    fn element(&mut self) -> Element {
        [
            Element::Real,
            Element::Real,
            Element::Real,
            Element::Real,
            Element::Complex,
            Element::Int,
            Element::Bool,
        ][self.dice.below(7)]
    }

    /// `p += e` and its kin.
    pub(crate) fn update(&mut self) -> Option<Stmt> {
        if self.dice.chance(10) {
            if let Some(product) = self.product() {
                return Some(product);
            }
        }
        let element = self.element();
        let place = self.place(element, Use::Accumulate)?;
        self.update_of(place, element)
    }

    /// `p += e` and its kin, of a place.
    fn update_of(&mut self, place: Place, element: Element) -> Option<Stmt> {
        let permission = &self.scopes.get(place.var)?.permission;
        let accumulated = matches!(permission, Permission::Accumulate | Permission::AddedTo(_));
        let signed = [UpdateOp::Add, UpdateOp::Sub][self.dice.below(2)];
        let op = match element {
            Element::Bool if accumulated => return None,
            Element::Bool => UpdateOp::Xor,
            Element::Int if !accumulated && self.dice.chance(30) => UpdateOp::Xor,
            Element::Int | Element::Real | Element::Complex => signed,
        };
        self.targets = vec![place.clone()];
        let value = self.value(element);
        let value = match element {
            Element::Real | Element::Complex => self.tamed(value),
            Element::Int | Element::Bool => value,
        };
        let expr = match value {
            // no throw of the dice, which would make other programs of all seeds
            e @ Expr { kind: ExprKind::Func(Func::Mul, _), .. }
                if op == signed && place.var.0.is_multiple_of(2) =>
            {
                Expr::func(Func::Fused, vec![e])
            }
            e => e,
        };
        self.targets.clear();
        self.leaf(StmtKind::Update { op, place, expr })
    }

    /// Changes of one row of the iteration's own, with other statements between them: lanes read and write it once.
    fn row_changes(&mut self) -> Block {
        let owned = |k: &&Known| {
            k.what == What::Rows
                && matches!(k.permission, Permission::Owned(_))
                && self.allowed(k, Use::Accumulate)
        };
        let rows: Vec<Known> = self.scopes.known.iter().filter(owned).cloned().collect();
        let Some(row) = self.dice.pick(&rows).cloned() else { return Vec::new() };
        let mut out = Vec::new();
        for _ in 0..2 + self.dice.below(2) {
            let place = self.place_in(&row, Element::Real);
            out.extend(self.update_of(place, Element::Real));
            if self.dice.chance(40) {
                out.extend(self.statement());
            }
        }
        out
    }

    fn instruction(&mut self) -> Option<Stmt> {
        let (instr, element) = match self.dice.below(14) {
            0..=2 => (Instr::Swap, self.element()),
            3 => (Instr::Neg, [Element::Real, Element::Int, Element::Complex][self.dice.below(3)]),
            4 => (Instr::Inc, [Element::Real, Element::Int][self.dice.below(2)]),
            5 => (Instr::Dec, [Element::Real, Element::Int][self.dice.below(2)]),
            6 => (Instr::Flip, Element::Bool),
            7 | 8 => (Instr::Conj, Element::Complex),
            _ if self.exact => return None,
            9 => (Instr::Rot, Element::Real),
            10 => (Instr::Irot, Element::Real),
            11 => (Instr::Hadamard, Element::Real),
            _ if self.times > 1 => return None,
            12 => ([Instr::MulInt, Instr::ScaleBy][self.dice.below(2)], Element::Real),
            _ => ([Instr::DivInt, Instr::UnscaleBy][self.dice.below(2)], Element::Real),
        };
        let row = instr.row();
        let mut places: Vec<Place> = Vec::new();
        for _ in 0..row.places {
            self.targets = places.clone();
            let place = self.place(element, Use::Write);
            self.targets.clear();
            places.push(place?);
        }
        self.targets = places.clone();
        let operands = match instr {
            Instr::Rot | Instr::Irot => vec![self.small(1)],
            Instr::ScaleBy | Instr::UnscaleBy => {
                let e = self.positive(1);
                vec![self.scaled(0.6, e)]
            }
            Instr::MulInt | Instr::DivInt => vec![Expr::int([2, 3, -2][self.dice.below(3)])],
            _ => Vec::new(),
        };
        self.targets.clear();
        self.leaf(StmtKind::Instr { instr, places, operands })
    }

    fn call(&mut self) -> Option<Stmt> {
        let fits = |s: &&crate::signature::Signature| !self.exact || s.exact;
        let library: Vec<_> = self.library.iter().filter(fits).cloned().collect();
        // those that read arrays are the fewest, and the only ones to which constant arrays can be given
        let reads_arrays = |s: &&crate::signature::Signature| {
            s.params.iter().any(|p| p.mode == Mode::Read && matches!(p.what, What::Reals | What::Matrix))
        };
        let library = match self.dice.chance(35) {
            true => library.iter().filter(reads_arrays).cloned().collect(),
            false => library,
        };
        let signature = self.dice.pick(&library)?.clone();
        if self.scopes.loops() > signature.loops_allowed {
            return None;
        }
        let mut length = 1 + self.dice.below(self.long - 1);
        if signature.strided && self.dice.chance(50) {
            length = SHORT;
        }
        let length = Some(length).filter(|_| signature.any_length && self.dice.chance(60));
        let mut args: Vec<Option<Arg>> = vec![None; signature.params.len()];
        // written arguments first, so that the others don't read them
        for pass in [Mode::Write, Mode::Read] {
            for (k, param) in signature.params.iter().enumerate().filter(|(_, p)| p.mode == pass) {
                let arg = match pass {
                    Mode::Write => {
                        let added_to = signature.accumulates && self.parallel == 0;
                        let usage = if added_to { Use::Accumulate } else { Use::Write };
                        self.written_argument(&param.what, length, usage, signature.strided)
                    }
                    Mode::Read | Mode::Accumulate => self.read_argument(param, length, signature.strided),
                };
                let Some(arg) = arg else {
                    self.targets.clear();
                    return None;
                };
                if let (Mode::Write, ArgValue::Place(p)) = (pass, &arg.value) {
                    self.targets.push(p.clone());
                }
                args[k] = Some(arg);
            }
        }
        self.targets.clear();
        let direction = if self.dice.chance(30) { Direction::INVERSE } else { Direction::FORWARD };
        let args = args.into_iter().collect::<Option<Vec<_>>>()?;
        self.leaf(StmtKind::Call { callee: Callee::Path(signature.name.into()), direction, args })
    }

    fn written_argument(
        &mut self,
        what: &What,
        length: Option<usize>,
        usage: Use,
        strided: bool,
    ) -> Option<Arg> {
        let place = match what {
            What::Real => self.place(Element::Real, usage)?,
            What::Complex => self.place(Element::Complex, usage)?,
            What::Int => self.place(Element::Int, usage)?,
            What::Bool => self.place(Element::Bool, Use::Write)?,
            What::Reals => self.part(usage, length, strided)?,
            What::Matrix
            | What::Rows
            | What::Triple { .. }
            | What::Ints
            | What::Duo
            | What::Mixed
            | What::Body => Place::var(self.whole(what, usage)?),
            What::Stack(_) => Place::var(self.whole(what, Use::Write)?),
            What::Index(_) | What::Indices { .. } | What::Depth | What::Narrow(_) | What::Function => {
                return None
            }
        };
        Some(Arg { mode: Mode::Write, value: ArgValue::Place(place) })
    }

    /// A slice, or a row or a column of a matrix, or a part of one of a length.
    fn part(&mut self, usage: Use, length: Option<usize>, strided: bool) -> Option<Place> {
        let taken = length.unwrap_or(self.long);
        if strided && self.dice.chance(70) {
            if let Some(place) = self.line(usage, taken) {
                return Some(place);
            }
        }
        let place = Place::var(self.whole(&What::Reals, usage)?);
        let Some(step) = Step::part(vec![self.stretch(self.long, taken)]) else { return Some(place) };
        Some(place.with(step))
    }

    /// A row or a column of a matrix, or a part of one of a length. An iteration has the row that it owns.
    fn line(&mut self, usage: Use, length: usize) -> Option<Place> {
        let fit = |k: &&Known| k.what == What::Matrix && self.allowed(k, usage);
        let matrices: Vec<Known> = self.scopes.known.iter().filter(fit).cloned().collect();
        // several rows of one matrix are what has to be told apart
        let again = matrices.iter().find(|k| self.targets.iter().any(|t| t.var == k.id));
        let known = match again {
            Some(again) => again.clone(),
            None => self.dice.pick(&matrices)?.clone(),
        };
        let owned = matches!(known.permission, Permission::Owned(_) | Permission::AddedTo(_));
        if matches!(&known.permission, Permission::Owned(indices) if indices.len() > 1) {
            return None;
        }
        let axes = match length <= SHORT && (owned || self.dice.chance(60)) {
            true => vec![Axis::At(self.first_index(&known)), self.stretch(SHORT, length)],
            false if owned => return None,
            false => vec![self.stretch(self.long, length), Axis::At(self.index(SHORT))],
        };
        let place = Place::var(known.id).with(Step::part(axes)?);
        self.targets.iter().all(|t| surely_distinct(t, &place)).then_some(place)
    }

    /// As many neighbouring indices of an axis as a length says.
    fn stretch(&mut self, extent: usize, length: usize) -> Axis {
        if length == extent {
            return Axis::Whole;
        }
        let from = self.index(extent + 1 - length);
        let to = Expr::func(Func::Add, vec![from.clone(), Expr::int(length as i128)]);
        Axis::Range(from, to)
    }

    fn read_argument(&mut self, param: &Param, length: Option<usize>, strided: bool) -> Option<Arg> {
        let Param { what, by_reference, .. } = param;
        let value = match what {
            What::Real if *by_reference => ArgValue::Place(self.place(Element::Real, Use::ReadSmall)?),
            What::Real => {
                let e = self.small(1);
                ArgValue::Expr(self.tamed(e))
            }
            What::Complex if *by_reference => ArgValue::Place(self.place(Element::Complex, Use::ReadSmall)?),
            What::Complex => ArgValue::Expr(self.small_complex(1)),
            What::Int => ArgValue::Expr(self.int(1)),
            What::Bool => ArgValue::Expr(self.condition(1)),
            What::Index(_) => {
                let counts = |k: &&Known| matches!(k.what, What::Index(most) if most < self.long);
                let counts: Vec<VarId> = self.scopes.known.iter().filter(counts).map(|k| k.id).collect();
                match self.dice.pick(&counts) {
                    Some(v) => ArgValue::Expr(read(*v)),
                    None => ArgValue::Expr(Expr::index(2)),
                }
            }
            What::Reals => ArgValue::Place(self.part(Use::Read, length, strided)?),
            What::Matrix
            | What::Rows
            | What::Triple { .. }
            | What::Ints
            | What::Indices { .. }
            | What::Duo
            | What::Mixed
            | What::Body
            | What::Stack(_) => ArgValue::Place(Place::var(self.whole(what, Use::Read)?)),
            What::Depth => ArgValue::Expr(Expr::index(self.dice.below(3))),
            What::Narrow(_) => return None,
            What::Function => {
                let name = FUNCTIONS[self.dice.below(FUNCTIONS.len())];
                ArgValue::Expr(Expr::new(ExprKind::Function(name.into())))
            }
        };
        Some(Arg { mode: Mode::Read, value })
    }

    /// `let n = e { … }`
    fn binding(&mut self, rest: usize) -> Option<Stmt> {
        let (what, expr, small) = match self.dice.below(11) {
            0..=2 => (What::Real, self.linear(2), false),
            3 => (What::Real, self.small(2), true),
            4 => (What::Int, self.int(1), false),
            5 => (What::Bool, self.condition(1), false),
            6 => (What::Complex, self.small_complex(1), true),
            7 | 9 | 10 => {
                let of = [What::Duo, What::Mixed, What::Triple { named: false }];
                let what = of[self.dice.below(3)].clone();
                let expr = self.several(&what, 2);
                (what, expr, true)
            }
            _ => (What::Index(self.long - 1), self.index(self.long), false),
        };
        if matches!(expr.kind, ExprKind::Literal(_, None)) {
            return None;
        }
        let var = self.declare("n", what.clone(), VarKind::Binding);
        let expr = match what {
            What::Real if self.times > 3 => self.scaled(0.4, expr),
            _ => rounded_with_its_sums(expr, &what, var),
        };
        let reads = self.reads(&[&expr]);
        let body = self.within(Why::Declaration, reads.clone(), |g| {
            g.know(var, what, Permission::Read, small).sources = reads;
            g.statements(rest)
        });
        Some(Stmt::new(StmtKind::Let { var, expr, body }))
    }

    /// A kind of ancilla and its first value.
    fn storage(&mut self) -> (What, Expr) {
        match self.dice.below(9) {
            0..=3 => (What::Real, generic(self.dice.below(2) as i128)),
            4 => {
                let complex = Type::Complex(Box::new(Type::Generic("T".into())));
                (What::Complex, literal(Number::Int(0), complex))
            }
            5 => (What::Int, literal(Number::Int(self.dice.below(3) as i128), Type::Scalar(ScalarType::I64))),
            6 => (What::Bool, Expr::bool(false)),
            7 => {
                let (zero, n) = (Box::new(generic(0)), Box::new(Expr::int(SHORT as i128)));
                (What::Triple { named: false }, Expr::new(ExprKind::Repeat(zero, n)))
            }
            _ => {
                let n = vec![Expr::int(self.long as i128)];
                (What::Reals, Expr::new(ExprKind::Fill(Box::new(generic(0)), n)))
            }
        }
    }

    /// `let mut a = e0;`, uncomputed by the compiler.
    fn managed(&mut self, rest: usize) -> Option<Stmt> {
        let (what, init) = self.storage();
        let var = self.declare("a", what.clone(), VarKind::Ancilla);
        let body = self.within(Why::Declaration, Default::default(), |g| {
            g.know(var, what.clone(), Permission::Full, false).managed = true;
            let mut body: Block = g.fill(var, &what).into_iter().collect();
            body.extend(g.statements(rest.max(2)));
            body
        });
        Some(Stmt::new(StmtKind::Ancilla { var, init, release: Release::Managed, body }))
    }

    /// A first update of an ancilla, so that it is worth having.
    fn fill(&mut self, var: VarId, what: &What) -> Option<Stmt> {
        let (place, element) = match what {
            What::Real => (Place::var(var), Element::Real),
            What::Complex => (Place::var(var), Element::Complex),
            What::Int => (Place::var(var), Element::Int),
            What::Triple { .. } => {
                (Place::var(var).with(Step::Index(vec![self.index(SHORT)])), Element::Real)
            }
            What::Reals => (Place::var(var).with(Step::Index(vec![self.index(self.long)])), Element::Real),
            _ => return None,
        };
        self.targets = vec![place.clone()];
        let mut expr = self.value(element);
        if element != Element::Int && self.times > 3 {
            expr = self.scaled(0.4, expr);
        }
        self.targets.clear();
        self.leaf(add(place, expr))
    }

    /// `let mut e = 0; e += x; …; e -= x; release(e);`
    fn released(&mut self, rest: usize) -> Option<Stmt> {
        let inverted = !self.exact && self.dice.chance(25);
        let init = generic(if inverted { 2 } else { 0 });
        let var = self.declare("e", What::Real, VarKind::Ancilla);
        let expr = match inverted {
            // away from zero
            true => {
                let e = self.small(1);
                Expr::func(Func::Mul, vec![Expr::float(0.5), Expr::func(Func::Tanh, vec![e])])
            }
            false => self.linear(2),
        };
        let expr = if self.times > 3 { self.scaled(0.4, expr) } else { expr };
        // `e` is written again at the end, as in a loop
        let body = self.within(Why::Inverse, self.reads(&[&expr]), |g| {
            let first = g.leaf(add(Place::var(var), expr.clone()))?;
            g.know(var, What::Real, Permission::Read, false).scope = None;
            let mut body = vec![first];
            let reciprocal =
                StmtKind::Instr { instr: Instr::Inv, places: vec![Place::var(var)], operands: vec![] };
            body.extend(inverted.then(|| Stmt::new(reciprocal.clone())));
            body.extend(g.fresh_block(rest));
            body.extend(inverted.then(|| Stmt::new(reciprocal)));
            let undo = StmtKind::Update { op: UpdateOp::Sub, place: Place::var(var), expr };
            body.push(Stmt::new(undo));
            body.push(Stmt::new(StmtKind::Release { var, value: init.clone() }));
            Some(body)
        })?;
        Some(Stmt::new(StmtKind::Ancilla { var, init, release: Release::Checked, body }))
    }

    /// A `while` loop over a counter.
    fn counted(&mut self, rest: usize) -> Option<Stmt> {
        let managed = self.dice.chance(70);
        let i64 = Type::Scalar(ScalarType::I64);
        let init = literal(Number::Int(0), i64.clone());
        let var = self.declare("k", What::Int, VarKind::Ancilla);
        let most = literal(Number::Int(2 + self.dice.below(2) as i128), i64);
        let cond = Expr::func(Func::Lt, vec![read(var), most.clone()]);
        let post = Expr::func(Func::Gt, vec![read(var), Expr::int(0)]);
        let release = if managed { Release::Managed } else { Release::Checked };
        let body = self.within(Why::Declaration, Default::default(), |g| {
            let block = g.block;
            g.know(var, What::Int, Permission::Read, false).managed = managed;
            let reads = g.reads(&[&cond]);
            let why = if managed { Why::While(block) } else { Why::Decided };
            let body = g.within(why, reads, |g| {
                g.repeated(3, |g| {
                    let mut body = g.fresh_block(2);
                    let count = StmtKind::Instr {
                        instr: Instr::Inc,
                        places: vec![Place::var(var)],
                        operands: vec![],
                    };
                    body.extend(g.leaf(count));
                    body
                })
            });
            let mut out = vec![Stmt::new(StmtKind::While { cond, post, body })];
            if managed {
                out.extend(g.statements(rest.saturating_sub(1)));
            } else {
                // `release(k, most)`
                out.push(Stmt::new(StmtKind::Update {
                    op: UpdateOp::Sub,
                    place: Place::var(var),
                    expr: most,
                }));
                out.push(Stmt::new(StmtKind::Release { var, value: init.clone() }));
            }
            out
        });
        Some(Stmt::new(StmtKind::Ancilla { var, init, release, body }))
    }

    /// `let mut a = 0; #[compute] { a += …; … } rest`, with a managed ancilla.
    fn computed(&mut self, rest: usize) -> Option<Stmt> {
        let (what, init) = self.storage();
        let var = self.declare("c", what.clone(), VarKind::Ancilla);
        let body = self.within(Why::Declaration, Default::default(), |g| {
            g.know(var, what.clone(), Permission::Full, false).managed = true;
            let compute = g.within(Why::Compute, Default::default(), |g| {
                g.in_new_block(|g| {
                    let mut block: Block = g.fill(var, &what).into_iter().collect();
                    block.extend(g.statements(1));
                    block
                })
            });
            let (reads, writes) = effects_of_block(&compute);
            let body = g.within(Why::After(reads, writes), Default::default(), |g| g.statements(rest.max(1)));
            vec![Stmt::new(StmtKind::Compute { compute, body })]
        });
        Some(Stmt::new(StmtKind::Ancilla { var, init, release: Release::Managed, body }))
    }

    /// Values that are computed and moved to a stack, from where the rest of the block takes none.
    fn stacked(&mut self, rest: usize) -> Option<Stmt> {
        let what = What::Stack(Element::Real);
        let var = self.declare("s", what.clone(), VarKind::Ancilla);
        let body = self.within(Why::Declaration, Default::default(), |g| {
            let compute = g.within(Why::Compute, Default::default(), |g| {
                g.in_new_block(|g| (0..1 + g.dice.below(2)).map(|_| g.moved(var)).collect::<Block>())
            });
            let (reads, writes) = effects_of_block(&compute);
            let after = Why::After(reads, writes);
            let body = g.within(after, Default::default(), |g| g.statements(rest.max(1)));
            vec![Stmt::new(StmtKind::Compute { compute, body })]
        });
        let init = Expr::new(ExprKind::EmptyStack);
        Some(Stmt::new(StmtKind::Ancilla { var, init, release: Release::Managed, body }))
    }

    /// `let mut a = 0; a += e; ..; push(s, a);`: nothing brings `a` back.
    fn moved(&mut self, stack: VarId) -> Stmt {
        let var = self.declare("a", What::Real, VarKind::Ancilla);
        let body = self.within(Why::Declaration, Default::default(), |g| {
            g.know(var, What::Real, Permission::Full, false);
            let mut body: Block = g.fill(var, &What::Real).into_iter().collect();
            body.extend(g.with_kept(&[var], |g| g.statements(1)));
            body.push(Stmt::new(StmtKind::Push { stack: Place::var(stack), place: Place::var(var) }));
            body
        });
        Stmt::new(StmtKind::Ancilla { var, init: generic(0), release: Release::Managed, body })
    }

    /// A range within `0..most`, and the largest value in it.
    fn range(&mut self) -> (Range, usize) {
        // of parameters: an ancilla's length may keep all that the ancilla is computed from as it is
        let arrays = |k: &&Known| k.what.is_array() && k.scope.is_none();
        let arrays: Vec<Known> = self.scopes.known.iter().filter(arrays).cloned().collect();
        let counts =
            |k: &&Known| matches!(k.what, What::Index(most) if most < self.long) && k.scope.is_none();
        let counts: Vec<VarId> = self.scopes.known.iter().filter(counts).map(|k| k.id).collect();
        let has_const = !self.function.generics.iter().all(|g| g.kind != GenericKind::Const);
        let (end, most) = match self.dice.below(6) {
            0 | 1 => match self.dice.pick(&arrays) {
                Some(k) if k.what == What::Matrix && self.dice.chance(50) => {
                    (Expr::new(ExprKind::Len(Place::var(k.id), Some(1))), SHORT - 1)
                }
                Some(k) => {
                    let axis = (k.what == What::Matrix).then_some(0);
                    (Expr::new(ExprKind::Len(Place::var(k.id), axis)), self.long - 1)
                }
                None => (Expr::int(3), 2),
            },
            2 => match self.dice.pick(&counts) {
                Some(v) => (read(*v), self.long - 2),
                None => (Expr::int(2), 1),
            },
            3 if has_const => (Expr::new(ExprKind::Const("N".into())), SHORT - 1),
            _ => {
                let n = 2 + self.dice.below(2);
                (Expr::int(n as i128), n - 1)
            }
        };
        let mut range = Range::new(Expr::int(self.dice.below(2) as i128), end);
        if self.dice.chance(15) && most + 1 < self.long {
            range.inclusive = true;
            range.reversed = self.dice.chance(30);
            return (range, most + 1);
        }
        range.reversed = self.dice.chance(25);
        if self.dice.chance(20) {
            range.step = Some(Expr::int(2));
            range.from_end = self.dice.chance(50);
        }
        (range, most)
    }

    fn for_loop(&mut self) -> Option<Stmt> {
        if self.dice.chance(10) {
            return self.narrow_loop();
        }
        let (range, most) = self.range();
        let var = self.declare("i", What::Index(most), VarKind::Index);
        let reads = self.reads(&range.exprs().collect::<Vec<_>>());
        let body = self.within(Why::Loop, reads, |g| {
            g.know(var, What::Index(most), Permission::Read, false);
            let n = 1 + g.dice.below(2);
            g.repeated(most + 1, |g| g.fresh_block(n))
        });
        Some(Stmt::new(StmtKind::For { var, range, parallel: None, body }))
    }

    /// A loop over few values of a small type, which the next value after the last may not fit.
    fn narrow_loop(&mut self) -> Option<Stmt> {
        let (ty, low, high) = [
            (ScalarType::U8, 0, u8::MAX.into()),
            (ScalarType::I8, i8::MIN.into(), i8::MAX.into()),
            (ScalarType::U16, 0, u16::MAX.into()),
            (ScalarType::I16, i16::MIN.into(), i16::MAX.into()),
            (ScalarType::I32, -3, 3),
        ][self.dice.below(5)];
        let value = |v: i64| literal(Number::Int(v.into()), Type::Scalar(ty));
        let width: i64 = high - low;
        let start = low + self.dice.below(4) as i64;
        let end = high - self.dice.below(4) as i64;
        let mut range = Range::new(value(start), value(end));
        range.inclusive = self.dice.chance(50);
        let parts = 1 + self.dice.below(3) as i64;
        range.step = Some(Expr::int((width / parts + self.dice.below(3) as i64 - 1).max(1).into()));
        range.from_end = self.dice.chance(50);
        range.reversed = self.dice.chance(50);
        let var = self.declare("b", What::Narrow(ty), VarKind::Index);
        let body = self.within(Why::Loop, Default::default(), |g| {
            g.know(var, What::Narrow(ty), Permission::Read, false);
            g.repeated(4, |g| g.fresh_block(2))
        });
        Some(Stmt::new(StmtKind::For { var, range, parallel: None, body }))
    }

    /// A parallel loop: each variable from outside is read, or owned by index, or accumulated into.
    fn parallel_loop(&mut self) -> Option<Stmt> {
        if self.parallel > 1 {
            return None;
        }
        let (range, most) = self.range();
        let var = self.declare("p", What::Index(most), VarKind::Index);
        let reads = self.reads(&range.exprs().collect::<Vec<_>>());
        let tables = |k: &&Known| k.what == What::Indices { injective: true };
        let tables: Vec<VarId> = self.scopes.known.iter().filter(tables).map(|k| k.id).collect();
        let table = self.dice.pick(&tables).copied().filter(|_| self.parallel == 0 && self.dice.chance(75));
        let saved: Vec<Permission> = self.scopes.known.iter().map(|k| k.permission.clone()).collect();
        let owners = [
            Some(read(var)),
            Some(Expr::func(Func::Sub, vec![Expr::int(self.long as i128 - 1), read(var)])),
            table.map(|t| Expr::read(Place::var(t).with(Step::Index(vec![read(var)])))),
        ];
        // of the second axis of what the loop around owns
        let column = (most < SHORT).then(|| read(var));
        for at in 0..self.scopes.known.len() {
            let permission = match &self.scopes.known[at].permission {
                Permission::Owned(indices) => self.share_owned(at, indices[0].clone(), &column),
                _ => self.share(at, &owners),
            };
            self.scopes.known[at].permission = permission;
        }
        self.parallel += 1;
        let body = self.within(Why::Loop, reads, |g| {
            g.know(var, What::Index(most), Permission::Read, false);
            let n = 1 + g.dice.below(3);
            g.repeated(most + 1, |g| {
                let mut body = g.in_new_block(Self::row_changes);
                body.extend(g.fresh_block(n));
                body
            })
        });
        self.parallel -= 1;
        for (k, permission) in self.scopes.known.iter_mut().zip(saved) {
            k.permission = permission;
        }
        let used = |t: VarId| {
            let mut found = false;
            body.iter().for_each(|s| {
                s.each_access_deep(&mut |p, a| {
                    found |= a != Access::Read && p.indices().any(|e| e.mentions(t))
                })
            });
            found
        };
        let table = table.filter(|t| used(*t));
        let parallel = Some(match table {
            Some(table)
                if self.dice.chance(50) && looked_up_at(&body, table, var) && by_table_only(&body, table) =>
            {
                let mut disjoint = indexed_by(&body, table);
                disjoint.retain(|var| self.scopes.get(*var).is_some());
                Parallel { injective: Vec::new(), disjoint }
            }
            _ => Parallel { injective: table.map(Place::var).into_iter().collect(), disjoint: Vec::new() },
        });
        Some(Stmt::new(StmtKind::For { var, range, parallel, body }))
    }

    /// What the iterations of a parallel loop may do with a variable from outside.
    fn share(&mut self, at: usize, owners: &[Option<Expr>; 3]) -> Permission {
        let k = self.scopes.known[at].clone();
        let writable = k.permission == Permission::Full
            && self.scopes.is_free(k.id)
            && !matches!(k.what, What::Stack(_));
        let accumulates = !matches!(k.what, What::Bool | What::Stack(_));
        // an index array is rare enough to be used where there is one
        let own = if owners[2].is_some() && self.dice.chance(80) { 2 } else { self.dice.below(2) };
        let owner = owners[own].clone();
        match self.dice.below(3) {
            // never read: it isn't here either
            _ if k.permission == Permission::Accumulate => Permission::Accumulate,
            _ if !writable => Permission::Read,
            0 if accumulates => Permission::Accumulate,
            1 | 2 if k.what.is_array() => {
                owner.map_or(Permission::Read, |index| Permission::Owned(vec![index]))
            }
            _ => Permission::Read,
        }
    }

    /// What the iterations of a parallel loop may do with what an iteration of the loop around owns.
    fn share_owned(&mut self, at: usize, index: Expr, column: &Option<Expr>) -> Permission {
        match column {
            Some(column) if self.scopes.known[at].what == What::Matrix && self.dice.chance(70) => {
                Permission::Owned(vec![index, column.clone()])
            }
            _ => Permission::AddedTo(index),
        }
    }

    /// A branch that leaves its condition alone.
    fn branch(&mut self) -> Option<Stmt> {
        let cond = self.condition(2);
        let reads = self.reads(&[&cond]);
        let then = self.within(Why::Branch, reads.clone(), |g| g.fresh_block(2));
        let otherwise = match self.dice.chance(60) {
            true => self.within(Why::Branch, reads, |g| g.fresh_block(2)),
            false => Vec::new(),
        };
        Some(Stmt::new(StmtKind::If { cond, post: None, then, otherwise }))
    }

    /// A branch that changes its condition in a way that its postcondition tells apart.
    fn decided_branch(&mut self) -> Option<Stmt> {
        let element = [Element::Bool, Element::Real, Element::Int][self.dice.below(3)];
        let place = self.place(element, Use::Write)?;
        let known = self.scopes.get(place.var)?;
        if known.managed || known.permission != Permission::Full {
            return None;
        }
        let value = Expr::read(place.clone());
        let one = |instr| StmtKind::Instr { instr, places: vec![place.clone()], operands: vec![] };
        let (cond, first, second, post) = match element {
            Element::Bool => {
                (value.clone(), one(Instr::Flip), one(Instr::Flip), Expr::func(Func::Not, vec![value]))
            }
            Element::Int => {
                let even = Expr::func(Func::Rem, vec![value, Expr::int(2)]);
                let test = |func| Expr::func(func, vec![even.clone(), Expr::int(0)]);
                (test(Func::Eq), one(Instr::Inc), one(Instr::Dec), test(Func::Ne))
            }
            Element::Real | Element::Complex => {
                let test = |func| Expr::func(func, vec![value.clone(), Expr::float(0.0)]);
                (test(Func::Gt), one(Instr::Neg), one(Instr::Neg), test(Func::Lt))
            }
        };
        let kept = [place.var];
        // the place's own indices don't change either
        let indices = self.reads(&place.indices().collect::<Vec<_>>());
        let branch = |g: &mut Self, change: StmtKind| {
            g.within(Why::Decided, indices.clone(), |g| {
                g.with_kept(&kept, |g| {
                    let mut body: Block = g.leaf(change).into_iter().collect();
                    body.extend(g.fresh_block(2));
                    body
                })
            })
        };
        let then = branch(self, first);
        let otherwise = branch(self, second);
        if then.is_empty() || otherwise.is_empty() {
            return None;
        }
        Some(Stmt::new(StmtKind::If { cond, post: Some(post), then, otherwise }))
    }

    /// Moves a value to a stack for a while: it is zero in between.
    fn stack_detour(&mut self) -> Option<Block> {
        let element = self.element();
        let what = What::Stack(element);
        let place = self.place(element, Use::Write)?;
        let known = self.scopes.get(place.var)?;
        if known.managed || known.permission != Permission::Full {
            return None;
        }
        let indices = self.reads(&place.indices().collect::<Vec<_>>());
        if let Some(var) = self.whole(&what, Use::Write).filter(|_| self.dice.chance(60)) {
            return self.within(Why::Inverse, indices, |g| g.detour(var, place));
        }
        let var = self.declare("s", what.clone(), VarKind::Ancilla);
        let empty = Expr::new(ExprKind::EmptyStack);
        let body = self.within(Why::Inverse, indices, |g| {
            g.know(var, what, Permission::Full, false).scope = None;
            let mut body = g.detour(var, place)?;
            body.push(Stmt::new(StmtKind::Release { var, value: empty.clone() }));
            Some(body)
        })?;
        Some(vec![Stmt::new(StmtKind::Ancilla { var, init: empty, release: Release::Checked, body })])
    }

    /// Between push and pop of a stack. What the push has written is written again by the pop, as in
    /// a loop.
    fn detour(&mut self, var: VarId, place: Place) -> Option<Block> {
        let stack = Place::var(var);
        let push = self.leaf(StmtKind::Push { stack: stack.clone(), place: place.clone() })?;
        let mut body = vec![push];
        body.extend(self.with_kept(&[place.var, var], |g| g.fresh_block(2)));
        body.push(Stmt::new(StmtKind::Pop { stack, place }));
        Some(body)
    }
}
