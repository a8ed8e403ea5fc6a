//! Random statements.

use super::*;

impl Maker<'_> {
    pub(super) fn block(&mut self, n: usize) -> Vec<Stmt> {
        let mut out = Vec::new();
        for _ in 0..n {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            out.extend((0..4).find_map(|_| self.stmt()));
        }
        if out.is_empty() {
            out.extend((0..6).find_map(|_| self.update()));
        }
        out
    }

    /// A block that may not run once.
    pub(super) fn inner(&mut self, n: usize) -> Vec<Stmt> {
        let top = std::mem::replace(&mut self.top, false);
        let out = self.block(n);
        self.top = top;
        out
    }

    pub(super) fn freezing<R>(&mut self, behind: Vec<String>, make: impl FnOnce(&mut Self) -> R) -> R {
        let count = self.frozen.len();
        self.frozen.extend(behind);
        let out = make(self);
        self.frozen.truncate(count);
        out
    }

    pub(super) fn stmt(&mut self) -> Option<Stmt> {
        let preparing = self.only.is_some();
        let deep = self.loops.len() > 1;
        match self.dice.below(if preparing { 14 } else { 39 }) {
            0..=3 => self.update(),
            4 => self.int_update(),
            5..=7 => self.special(),
            8 | 9 => self.match_statement(),
            10 => self.if_let(),
            11 => self.branch(),
            12 | 13 if !deep => self.for_loop(),
            14 | 15 => self.special(),
            16 => self.moved(),
            17..=19 if !deep && !self.parallel => self.parallel_loop(),
            20 | 21 => self.binding(),
            22..=24 => self.ancilla(),
            25 => {
                let inverting = std::mem::replace(&mut self.inverting, true);
                let body = self.inner(2);
                self.inverting = inverting;
                Some(Stmt::Inverse(body))
            }
            26 | 27 => self.call(),
            28 | 29 => self.match_statement(),
            30 => self.if_let(),
            31..=33 => self.binding_of_several(),
            34 | 35 => self.update_of_several(),
            _ => self.special(),
        }
    }

    /// What the theme is about.
    pub(super) fn special(&mut self) -> Option<Stmt> {
        match self.form.theme {
            Theme::Structs => self.of_structs(),
            Theme::Numbers => self.scale(),
            Theme::Matches if !self.form.generic && self.dice.chance(50) => self.convert(),
            Theme::Matches | Theme::Checkpoints => self.match_statement(),
        }
    }

    pub(super) fn update(&mut self) -> Option<Stmt> {
        let slot = self.pick(true, true, |h| *h == Holds::Real)?;
        self.target = Some(slot.clone());
        let depth = 1 + self.dice.below(2);
        let e = match self.loops.is_empty() {
            true if self.dice.chance(40) => self.value(depth),
            _ => self.small(depth),
        };
        self.target = None;
        let place = self.place(&slot);
        Some(Stmt::Update(place, ['+', '-'][self.dice.below(2)], e))
    }

    pub(super) fn int_update(&mut self) -> Option<Stmt> {
        let slot = self.pick(true, true, |h| *h == Holds::Int)?;
        self.target = Some(slot.clone());
        let n = self.int(1);
        self.target = None;
        let n = Int::Rem(Box::new(n?), 7);
        let op = if slot.permission == Permission::Add { '+' } else { ['+', '-', '^'][self.dice.below(3)] };
        Some(Stmt::IntUpdate(self.place(&slot), op, n))
    }

    /// An exchange, a sign.
    pub(super) fn moved(&mut self) -> Option<Stmt> {
        let kind = self.dice.below(6);
        let enums = ["Kind", "Mode"];
        let enum_like = |h: &Holds| matches!(h, Holds::Declared(name) if enums.contains(&&name[..]));
        if kind == 0 {
            let slot = self.pick(true, false, |h| *h == Holds::Real)?;
            return Some(Stmt::Neg(self.place(&slot)));
        }
        if kind == 1 && self.top && !self.parallel {
            let stack = self.pick(true, false, |h| *h == Holds::Stack).filter(|s| s.root == "kept")?;
            let slot = self.pick(true, false, |h| matches!(h, Holds::Declared(name) if name == "Kind"))?;
            let zero = self.form.zero_variant("Kind");
            return Some(Stmt::Push(self.place(&stack), self.place(&slot), zero));
        }
        if kind == 5 && self.top && !self.parallel {
            let stack = self.pick(true, false, |h| *h == Holds::Stack).filter(|s| s.root == "pile")?;
            let array = self.pick(true, false, |h| *h == Holds::Real).filter(|s| s.root == "y")?;
            let array = Place { path: Vec::new(), ..self.place(&array) };
            return Some(Stmt::PushArray(self.place(&stack), array));
        }
        let a = match self.dice.chance(50) {
            true => self.pick(true, false, enum_like),
            false => self.pick(true, false, |h| *h == Holds::Real || *h == Holds::Int),
        }?;
        // two elements of one array, which are or aren't one
        if let (Some(Piece::Index(lengths)), Permission::Write) = (a.pieces.first(), &a.permission) {
            if a.pieces.len() == 1 && lengths.len() == 1 && self.dice.chance(60) {
                let (mut p, mut q) = (self.place(&a), self.place(&a));
                if p == q || self.dice.chance(50) {
                    let i = self.dice.below(lengths[0]);
                    p.path = vec![Step::Index(vec![At::Number(i)])];
                    q.path = vec![Step::Index(vec![At::Number((i + 1) % lengths[0])])];
                }
                return Some(Stmt::Swap(p, q));
            }
        }
        self.target = Some(a.clone());
        let b = self.pick(true, false, |h| *h == a.holds);
        self.target = None;
        let (a, b) = (self.place(&a), self.place(&b?));
        Some(Stmt::Swap(a, b))
    }

    pub(super) fn match_statement(&mut self) -> Option<Stmt> {
        let asked = self.asked()?;
        let arms = self.freezing(asked.behind.clone(), |m| m.arms(&asked, |m| m.inner_arm()));
        Some(Stmt::Match(asked.subject, arms))
    }

    pub(super) fn inner_arm(&mut self) -> Vec<Stmt> {
        match self.dice.chance(15) {
            true => Vec::new(),
            false => {
                let n = 1 + self.dice.below(2);
                self.inner(n)
            }
        }
    }

    pub(super) fn if_let(&mut self) -> Option<Stmt> {
        let asked = self.asked()?;
        let (pat, names) = self.refutable(&asked)?;
        let (a, b) = self.freezing(asked.behind.clone(), |m| {
            let a = m.with(names, |m| m.inner(2));
            let b = if m.dice.chance(50) { m.inner(1) } else { Vec::new() };
            (a, b)
        });
        Some(Stmt::IfLet(pat, asked.subject, a, b))
    }

    /// A branch that changes what its condition reads, and a stack that keeps which way it went.
    pub(super) fn keep(&mut self) -> Option<Stmt> {
        let ways = self.slots.iter().find(|s| s.root == "ways").cloned()?;
        if self.parallel || self.inverting || self.only.is_some() || !self.is_free(&ways) {
            return None;
        }
        // on fixed-point numbers, rounding would decide
        let asked = self.pick(false, false, |h| *h == Holds::Real).filter(|_| self.form.fixed.is_none());
        let c = match asked.filter(|_| self.dice.chance(60)) {
            Some(slot) => Cond::Reals(Expr::Read(self.place(&slot)), "<", Expr::Number(self.decimal())),
            None => self.cond()?,
        };
        let a = self.inner(2);
        let b = if self.dice.chance(50) { self.inner(1) } else { Vec::new() };
        Some(Stmt::Keep(self.place(&ways), c, a, b))
    }

    pub(super) fn branch(&mut self) -> Option<Stmt> {
        if self.dice.chance(50) {
            if let Some(made) = self.keep() {
                return Some(made);
            }
        }
        let c = self.cond()?;
        let behind = crate::forms::roots_of_cond(&c);
        let (a, b) = self.freezing(behind, |m| {
            let a = m.inner(2);
            let b = if m.dice.chance(50) { m.inner(1) } else { Vec::new() };
            (a, b)
        });
        Some(Stmt::If(c, a, b))
    }

    /// An array of numbers, to be visited.
    pub(super) fn visited(&mut self, length: Option<usize>) -> Option<(Slot, Slot)> {
        let slot = self.pick(false, false, |h| matches!(h, Holds::Real | Holds::Tabled))?;
        // of what iterations around own, each reads its own element only
        if matches!(slot.permission, Permission::Own(_)) {
            return None;
        }
        let [Piece::Index(lengths)] = &slot.pieces[..] else { return None };
        if lengths.len() != 1 || length.is_some_and(|n| lengths[0] != n) || slot.behind != slot.root {
            return None;
        }
        let name = self.name("x");
        let element = Slot { behind: slot.root.clone(), ..self.own(&name, slot.holds.clone()) };
        Some((slot, element))
    }

    /// A loop over elements.
    pub(super) fn each_loop(&mut self) -> Option<Stmt> {
        let (slot, own) = self.visited(None)?;
        let Some(Piece::Index(lengths)) = slot.pieces.first() else { return None };
        let (index, element, counted) = (self.name("i"), own.root.clone(), self.dice.chance(50));
        if counted {
            self.loops.push((index.clone(), lengths[0]));
        }
        let body = self.freezing(vec![slot.root.clone()], |m| m.with(vec![own], |m| m.inner(2)));
        if counted {
            self.loops.pop();
        }
        let of = Place { path: Vec::new(), ..self.place(&slot) };
        let order = [Order::Forward, Order::Reversed][self.dice.below(2)];
        Some(Stmt::Each { index, counted, element, of, order, body })
    }

    pub(super) fn for_loop(&mut self) -> Option<Stmt> {
        if self.dice.chance(35) {
            return self.each_loop();
        }
        let (var, count) = (self.name("i"), [2, 3, self.form.long][self.dice.below(3)]);
        self.loops.push((var.clone(), count));
        let body = self.inner(2);
        self.loops.pop();
        Some(Stmt::For { var, count, parallel: false, body })
    }

    /// Iterations own elements, or add to what they share.
    pub(super) fn parallel_loop(&mut self) -> Option<Stmt> {
        let (var, count) = (self.name("p"), self.form.long);
        let saved = self.slots.clone();
        let mut groups: Vec<(String, Permission)> = Vec::new();
        for k in 0..self.slots.len() {
            let slot = self.slots[k].clone();
            if slot.permission != Permission::Write {
                continue;
            }
            let (group, indexed) = group(&slot);
            let known = groups.iter().find(|(g, _)| *g == group).map(|(_, p)| p.clone());
            let permission = match known {
                Some(p) => p,
                None => {
                    let own = indexed == Some(count) && self.is_free(&slot);
                    let p = match self.dice.below(4) {
                        0..=2 if own => Permission::Own(var.clone()),
                        0 | 1 if self.is_free(&slot) && !own => Permission::Add,
                        _ => Permission::Read,
                    };
                    groups.push((group, p.clone()));
                    p
                }
            };
            // a struct as a whole is what its parts are
            let whole = matches!(slot.holds, Holds::Declared(_)) && indexed.is_none();
            let shared = matches!(
                slot.holds,
                Holds::Stack | Holds::Number(_) | Holds::Option(_) | Holds::Of(_) | Holds::Array(_)
            );
            self.slots[k].permission = match permission {
                Permission::Add if whole || shared => Permission::Hidden,
                _ if whole && slot.pieces.is_empty() => Permission::Hidden,
                p => p,
            };
        }
        let over = if self.dice.chance(25) { self.visited(Some(count)) } else { None };
        let over = over.filter(|(slot, _)| slot.permission == Permission::Read);
        self.loops.push((var.clone(), count));
        self.parallel = true;
        let frozen = over.iter().map(|(slot, _)| slot.root.clone()).collect();
        let elements = over.iter().map(|(_, own)| own.clone()).collect();
        let body = self.freezing(frozen, |m| m.with(elements, |m| m.inner(3)));
        self.parallel = false;
        self.loops.pop();
        let made = match over {
            Some((slot, own)) => {
                let of = Place { path: Vec::new(), ..self.place(&slot) };
                let (order, element) = (Order::Parallel, own.root);
                Stmt::Each { index: var, counted: true, element, of, order, body }
            }
            None => Stmt::For { var, count, parallel: true, body },
        };
        self.slots = saved;
        Some(made)
    }

    pub(super) fn binding(&mut self) -> Option<Stmt> {
        let (name, e) = (self.name("b"), self.value(2));
        let behind = crate::forms::roots_of_expr(&e);
        let behind = self.behind(behind);
        let own = self.own(&name, Holds::Real);
        let body = self.freezing(behind, |m| m.with(vec![own], |m| m.block(2)));
        Some(Stmt::Let(name, e, body))
    }

    /// The variables whose change would change what is named.
    pub(super) fn behind(&self, roots: Vec<String>) -> Vec<String> {
        let of =
            |r: &String| self.slots.iter().find(|s| s.root == *r).map_or(r.clone(), |s| s.behind.clone());
        roots.iter().map(of).chain(roots.clone()).collect()
    }

    pub(super) fn ancilla(&mut self) -> Option<Stmt> {
        let name = self.name("a");
        let (start, ty) = match (self.form.theme, self.dice.below(6)) {
            (Theme::Structs, 0..=3) => {
                let of = self.pick(false, false, |h| matches!(h, Holds::Declared(_)))?;
                let Holds::Declared(declared) = of.holds.clone() else { return None };
                if !self.is_summable(&declared) || self.is_writable_in_parallel(&of) {
                    return None;
                }
                let start = match declared == "Part" && self.dice.chance(50) {
                    true => Start::Made("Part".into(), self.literal()?),
                    false => Start::Like(self.place(&of), declared.clone()),
                };
                (start, Type::Declared(declared))
            }
            (Theme::Numbers, 0..=3) => {
                let system = [System::Log, System::MaxPlus, System::MinPlus][self.dice.below(3)];
                (Start::One(system), Type::Number(system))
            }
            (_, 0 | 4) => {
                let n = 2 + self.dice.below(2);
                (Start::Array(n), Type::Fixed(n))
            }
            (_, 5) if !self.parallel => {
                (Start::Vector(self.form.long), Type::Slice(Box::new(Type::Real), self.form.long))
            }
            _ => (Start::Real([0.0, 0.5][self.dice.below(2)]), Type::Real),
        };
        let count = self.slots.len();
        let slot = Slot { permission: Permission::Write, ..self.own(&name, Holds::Real) };
        self.know(slot, &ty);
        let own = self.slots.split_off(count);
        let began = match &start {
            Start::Made(_, made) => crate::forms::roots_of_literal(made),
            Start::Like(p, _) => vec![p.root.clone()],
            _ => Vec::new(),
        };
        let only = self.only.replace(name.clone());
        // what is computed isn't read while it is
        let (outer, parallel) = (self.top, self.parallel);
        let mut prepare = self.with(own.clone(), |m| {
            let mut prepare = match (&start, m.dice.chance(70)) {
                (Start::Like(p, of), true) => {
                    let root = m.own(&name, Holds::Real);
                    let whole = Place { root: root.root, by_reference: false, path: Vec::new() };
                    vec![Stmt::Sum { place: whole, op: '+', other: p.clone(), of: of.clone() }]
                }
                _ => Vec::new(),
            };
            m.target = None;
            prepare.extend(m.inner(2));
            prepare
        });
        (self.top, self.parallel) = (outer, parallel);
        self.only = only;
        prepare.retain(|s| crate::forms::written(std::slice::from_ref(s)).iter().all(|w| *w == name));
        let mut behind = crate::forms::read(&prepare);
        behind.extend(began);
        behind.retain(|r| *r != name);
        let behind = self.behind(behind);
        let own = own.into_iter().map(|s| Slot { permission: Permission::Read, ..s }).collect();
        let body = self.freezing(behind, |m| m.with(own, |m| m.block(2)));
        Some(Stmt::Ancilla { name, start, compute: self.dice.chance(30), prepare, body })
    }

    /// In a parallel loop something that iterations write isn't copied as a whole.
    pub(super) fn is_writable_in_parallel(&self, slot: &Slot) -> bool {
        self.parallel && !matches!(slot.permission, Permission::Read | Permission::Own(_))
    }

    pub(super) fn call(&mut self) -> Option<Stmt> {
        let helper = self.helpers.first()?.clone();
        if self.only.is_some() {
            return None;
        }
        let mut args = Vec::new();
        let mut written: Vec<Slot> = Vec::new();
        for p in &helper.params {
            let holds = match &p.ty {
                Type::Declared(name) => Holds::Declared(name.clone()),
                Type::Number(system) => Holds::Number(*system),
                Type::Fixed(n) | Type::Slice(_, n) => Holds::Array(*n),
                _ => Holds::Real,
            };
            if p.written {
                let slot = self.pick(true, false, |h| *h == holds)?;
                if written.iter().any(|w| w.root == slot.root) {
                    return None;
                }
                args.push(Arg::Write(self.place(&slot)));
                written.push(slot);
            } else if p.ty == Type::Real {
                let e = self.small(1);
                if crate::forms::roots_of_expr(&e).iter().any(|r| written.iter().any(|w| w.root == *r)) {
                    return None;
                }
                args.push(Arg::Value(e));
            } else if p.ty == Type::Declared("Part".into()) && self.dice.chance(40) {
                let made = self.literal()?;
                if crate::forms::roots_of_literal(&made).iter().any(|r| written.iter().any(|w| w.root == *r))
                {
                    return None;
                }
                args.push(Arg::Made("Part".into(), made));
            } else {
                let slot = self.pick(false, false, |h| *h == holds)?;
                if written.iter().any(|w| w.root == slot.root) {
                    return None;
                }
                args.push(Arg::Read(self.place(&slot)));
            }
        }
        Some(Stmt::Call(helper.path(), self.dice.chance(40), args))
    }
}
