//! Random expressions, patterns and conditions.

use super::*;

impl Maker<'_> {
    pub(super) fn value(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let b = |e| Box::new(e);
        match self.dice.below(20) {
            18 => self.clamped().unwrap_or_else(|| self.leaf()),
            19 => Expr::Function(["atan", "asinh"][self.dice.below(2)], b(self.value(depth - 1))),
            0..=3 => self.leaf(),
            4 | 5 => Expr::Binary('*', b(self.value(depth - 1)), b(self.value(depth - 1))),
            6 => Expr::Binary('+', b(self.value(depth - 1)), b(self.value(depth - 1))),
            7 => Expr::Binary('-', b(self.value(depth - 1)), b(self.value(depth - 1))),
            8 => Expr::Binary('*', b(Expr::Number(self.decimal())), b(self.value(depth - 1))),
            9 | 10 => Expr::Function(["sin", "cos", "tanh"][self.dice.below(3)], b(self.value(depth - 1))),
            11 => Expr::Neg(b(self.value(depth - 1))),
            12 => self.int(1).map_or_else(|| self.leaf(), |n| Expr::OfInt(Int::Rem(b_int(n), 5))),
            13 => match self.cond() {
                Some(c) => Expr::If(Box::new(c), b(self.value(depth - 1)), b(self.value(depth - 1))),
                None => self.leaf(),
            },
            14 | 15 => self.choice(depth),
            16 => match self.called(&[Kind::Real]) {
                Some((name, args)) => Expr::Call(name, args),
                None => self.leaf(),
            },
            _ => {
                let (name, value) = (self.name("v"), self.value(depth - 1));
                let slot = self.own(&name, Holds::Real);
                let e = self.with(vec![slot], |m| m.value(depth - 1));
                Expr::Block(name, b(value), b(e))
            }
        }
    }

    /// A number of the function's own that is read.
    pub(super) fn own(&self, name: &str, holds: Holds) -> Slot {
        let root = name.to_owned();
        let behind = root.clone();
        Slot { root, by_reference: false, pieces: Vec::new(), holds, permission: Permission::Read, behind }
    }

    pub(super) fn with<R>(&mut self, slots: Vec<Slot>, make: impl FnOnce(&mut Self) -> R) -> R {
        let count = self.slots.len();
        self.slots.extend(slots);
        let out = make(self);
        self.slots.truncate(count);
        out
    }

    pub(super) fn decimal(&mut self) -> f64 {
        self.dice.decimal(0.1, 0.9)
    }

    /// A number between bounds, of what nothing changes.
    fn clamped(&mut self) -> Option<Expr> {
        let fixed = |s: &&Slot| s.holds == Holds::Real && self.is_constant(s);
        let all: Vec<Slot> = self.slots.iter().filter(fixed).cloned().collect();
        let slot = self.dice.pick(&all)?.clone();
        let (least, more) = (self.decimal() - 0.5, self.decimal());
        Some(Expr::Clamp(Box::new(Expr::Read(self.place(&slot))), least, least + more))
    }

    pub(super) fn leaf(&mut self) -> Expr {
        if self.dice.chance(8) {
            if let Some(p) = self.read(|h| *h == Holds::Tabled) {
                return Expr::Tabled(p);
            }
        }
        if self.dice.chance(12) {
            return match self.dice.below(4) {
                0 => Expr::Constant("zero"),
                1 => Expr::Constant("one"),
                _ => {
                    Expr::Binary('*', Box::new(Expr::Number(self.decimal())), Box::new(Expr::Constant("one")))
                }
            };
        }
        match self.read(|h| *h == Holds::Real) {
            Some(p) => Expr::Read(p),
            None => Expr::Constant("one"),
        }
    }

    /// A number that stays small, however large what it is made of gets.
    pub(super) fn small(&mut self, depth: usize) -> Expr {
        let e = self.value(depth);
        let f = ["sin", "cos", "tanh"][self.dice.below(3)];
        let tame = Expr::Function(f, Box::new(e));
        Expr::Binary('*', Box::new(Expr::Number(self.decimal())), Box::new(tame))
    }

    pub(super) fn int(&mut self, depth: usize) -> Option<Int> {
        match self.dice.below(if depth > 0 { 7 } else { 6 }) {
            0..=2 => self.read(|h| *h == Holds::Int).map(Int::Read),
            3 if !self.loops.is_empty() => {
                let (var, _) = self.loops[self.dice.below(self.loops.len())].clone();
                Some(Int::Var(var))
            }
            4 if depth > 0 => {
                let (a, b) = (self.int(depth - 1)?, self.int(depth - 1)?);
                Some(Int::Binary(['+', '-', '^'][self.dice.below(3)], Box::new(a), Box::new(b)))
            }
            5 if depth > 0 => {
                let asked = self.asked()?;
                let arms = self.arms(&asked, |m| {
                    let read = m.read(|h| *h == Holds::Int).filter(|_| m.dice.chance(60));
                    read.map_or(Int::Number(m.dice.below(5) as i64), Int::Read)
                });
                Some(Int::Match(asked.subject, arms))
            }
            6 => self.called(&[Kind::Int]).map(|(name, args)| Int::Call(name, args)),
            _ => self.read(|h| *h == Holds::Int).map(|p| Int::Rem(Box::new(Int::Read(p)), 3)),
        }
    }

    pub(super) fn cond(&mut self) -> Option<Cond> {
        Some(match self.dice.below(8) {
            6 => Cond::Read(self.read(|h| *h == Holds::Truth)?),
            7 => {
                let (name, args) = self.called(&[Kind::Truth])?;
                Cond::Call(name, args)
            }
            0..=2 => {
                let a = self.int(0)?;
                Cond::Ints(
                    a,
                    ["<", ">=", "==", "!="][self.dice.below(4)],
                    Int::Number(self.dice.below(4) as i64),
                )
            }
            3 => Cond::Not(Box::new(self.cond()?)),
            4 => {
                let (a, b) = (self.cond()?, self.cond()?);
                Cond::Both(Box::new(a), ["&&", "||"][self.dice.below(2)], Box::new(b))
            }
            _ => {
                // of what nothing changes, so that rounding doesn't decide it on the way back
                let fixed = |m: &Self, s: &Slot| m.is_constant(s);
                let all: Vec<Slot> =
                    self.slots.iter().filter(|s| s.holds == Holds::Real && fixed(self, s)).cloned().collect();
                let slot = self.dice.pick(&all)?.clone();
                Cond::Reals(Expr::Read(self.place(&slot)), "<", Expr::Number(self.decimal()))
            }
        })
    }

    /// Whether a place belongs to a parameter that the function only reads.
    pub(super) fn is_constant(&self, slot: &Slot) -> bool {
        slot.permission == Permission::Read
            && ["x", "c", "e", "es", "o", "os", "q", "ts", "t"].contains(&&slot.root[..])
            && slot.behind == slot.root
            && self.slots.iter().all(|s| s.root != slot.root || s.permission == Permission::Read)
            && !self.parallel
    }
}
