//! Random expressions, patterns and conditions.

use super::*;

impl Maker<'_> {
    pub(super) fn value(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let b = |e| Box::new(e);
        match self.dice.below(17) {
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

    pub(super) fn leaf(&mut self) -> Expr {
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

    /// `match` and `if let` with values.
    pub(super) fn choice(&mut self, depth: usize) -> Expr {
        let Some(slot) = self.scrutinee() else { return self.leaf() };
        let place = self.place(&slot);
        if self.dice.chance(35) {
            if let Some((pat, names)) = self.refutable(&slot) {
                let then = self.with(names, |m| m.value(depth - 1));
                let otherwise = self.value(depth - 1);
                return Expr::IfLet(pat, place, Box::new(then), Box::new(otherwise));
            }
        }
        let arms = self.arms(&slot, |m| m.value(depth - 1));
        Expr::Match(place, arms)
    }

    pub(super) fn scrutinee(&mut self) -> Option<Slot> {
        let form = &self.form;
        let enums: Vec<String> =
            form.types.iter().filter(|d| matches!(d.of, Parts::Enum(_))).map(|d| d.name.clone()).collect();
        self.pick(false, false, |h| match h {
            Holds::Int | Holds::Option(_) => true,
            Holds::Declared(name) => enums.contains(name),
            _ => false,
        })
    }

    /// Arms for every case, each with a guard or without.
    pub(super) fn arms<R>(
        &mut self,
        slot: &Slot,
        mut make: impl FnMut(&mut Self) -> R,
    ) -> Vec<(Pat, Option<Cond>, R)> {
        let mut heads = Vec::new();
        for _ in 0..1 + self.dice.below(3) {
            let Some((pat, names)) = self.refutable(slot) else { break };
            let asks = self.dice.chance(25);
            let guard = self.with(names.clone(), |m| if asks { m.cond() } else { None });
            heads.push((pat, guard, names));
        }
        let rest = match &slot.holds {
            Holds::Int if self.dice.chance(50) => {
                let name = self.name("k");
                let own = self.own(&name, Holds::Int);
                (Pat::Name(name), vec![own])
            }
            _ => (Pat::Wild, Vec::new()),
        };
        // all variants instead
        let each = match &slot.holds {
            Holds::Declared(name) if self.dice.chance(60) => self.every_variant(&name.clone()),
            Holds::Option(of) if self.dice.chance(60) => {
                let (name, of) = (self.name("v"), of.clone());
                let own = self.own(&name, if of == Type::Real { Holds::Real } else { Holds::Int });
                vec![
                    (Pat::Tuple("None".into(), Vec::new()), Vec::new()),
                    (Pat::Tuple("Some".into(), vec![Pat::Name(name)]), vec![own]),
                ]
            }
            _ => vec![rest],
        };
        heads.extend(each.into_iter().map(|(pat, names)| (pat, None, names)));
        // guards are asked again on the way back
        let asked =
            heads.iter().flat_map(|(_, guard, _)| guard).flat_map(crate::forms::roots_of_cond).collect();
        self.freezing(asked, |m| {
            let arm = |(pat, guard, names)| (pat, guard, m.with(names, &mut make));
            heads.into_iter().map(arm).collect()
        })
    }

    pub(super) fn every_variant(&mut self, of: &str) -> Vec<(Pat, Vec<Slot>)> {
        let Some(Parts::Enum(variants)) = self.form.declared(of).map(|d| d.of.clone()) else {
            return Vec::new();
        };
        let mut order = self.dice.permutation(variants.len());
        let mut out = Vec::new();
        while let Some(k) = order.pop() {
            out.push(self.variant(of, &variants[k], false));
        }
        out
    }

    /// A pattern that doesn't take every value, with what it names.
    pub(super) fn refutable(&mut self, slot: &Slot) -> Option<(Pat, Vec<Slot>)> {
        Some(match &slot.holds {
            Holds::Int => self.number(true),
            Holds::Option(of) => self.option(&of.clone(), true),
            Holds::Declared(name) => {
                let Some(Parts::Enum(variants)) = self.form.declared(name).map(|d| d.of.clone()) else {
                    return None;
                };
                let k = self.dice.below(variants.len());
                if self.dice.chance(20) && name == "Mode" {
                    let other = (k + 1) % variants.len();
                    let path = |k: usize| Pat::Tuple(format!("Mode::{}", variants[k].0), Vec::new());
                    return Some((Pat::Or(vec![path(k), path(other)]), Vec::new()));
                }
                self.variant(&name.clone(), &variants[k], true)
            }
            _ => return None,
        })
    }

    pub(super) fn number(&mut self, named: bool) -> (Pat, Vec<Slot>) {
        let from = self.dice.below(6) as i64 - 2;
        let pat = match self.dice.below(5) {
            0 | 1 => Pat::Number(from),
            2 => Pat::Range(from, from + 2),
            3 => match self.dice.chance(50) {
                true => Pat::Open(None, Some(from - 1)),
                false => Pat::Open(Some(from + 2), None),
            },
            _ => Pat::Or(vec![Pat::Number(from), Pat::Range(from + 2, from + 4)]),
        };
        if named && self.dice.chance(40) {
            let name = self.name("k");
            let own = self.own(&name, Holds::Int);
            return (Pat::At(name, Box::new(pat)), vec![own]);
        }
        (pat, Vec::new())
    }

    pub(super) fn option(&mut self, of: &Type, refutable: bool) -> (Pat, Vec<Slot>) {
        let some = |p| Pat::Tuple("Some".into(), vec![p]);
        match of {
            _ if self.dice.chance(20) && refutable => (Pat::Tuple("None".into(), Vec::new()), Vec::new()),
            Type::Real => {
                let name = self.name("v");
                let own = self.own(&name, Holds::Real);
                (some(Pat::Name(name)), vec![own])
            }
            _ if self.dice.chance(50) => {
                let (pat, names) = self.number(true);
                (some(pat), names)
            }
            _ => {
                let name = self.name("k");
                let own = self.own(&name, Holds::Int);
                (some(Pat::Name(name)), vec![own])
            }
        }
    }

    /// A variant with names for its fields, or patterns that ask for something.
    pub(super) fn variant(
        &mut self,
        of: &str,
        (variant, fields): &(String, Vec<(String, Type)>),
        asking: bool,
    ) -> (Pat, Vec<Slot>) {
        let path = format!("{of}::{variant}");
        let named = fields.first().is_some_and(|(name, _)| name.parse::<usize>().is_err());
        let (mut pats, mut names) = (Vec::new(), Vec::new());
        for (field, ty) in fields {
            let asks = asking && self.dice.chance(40);
            if self.dice.chance(15) {
                pats.push((field.clone(), Pat::Wild));
                continue;
            }
            let (pat, mut own) = match ty {
                Type::Of(_) if asks => self.number(true),
                Type::Option(of) if asks => self.option(of, true),
                Type::Declared(name) if asks => {
                    let slot = self.own("", Holds::Declared(name.clone()));
                    self.refutable(&slot).unwrap_or((Pat::Wild, Vec::new()))
                }
                ty => {
                    let name = self.name("v");
                    let count = self.slots.len();
                    let slot = self.own(&name, Holds::Real);
                    self.know(slot, ty);
                    let own = self.slots.split_off(count);
                    (Pat::Name(name), own)
                }
            };
            names.append(&mut own);
            pats.push((field.clone(), pat));
        }
        let pat = match named {
            true => {
                let rest = !pats.is_empty() && self.dice.chance(30);
                if rest {
                    // what isn't mentioned is asked for nothing
                    let wild: Vec<_> =
                        pats.iter().filter(|(_, p)| !matches!(p, Pat::Wild)).cloned().collect();
                    pats = wild;
                }
                Pat::Fields(path, pats, rest)
            }
            false => Pat::Tuple(path, pats.into_iter().map(|(_, p)| p).collect()),
        };
        (pat, names)
    }

    pub(super) fn int(&mut self, depth: usize) -> Option<Int> {
        match self.dice.below(6) {
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
                let slot = self.scrutinee()?;
                let place = self.place(&slot);
                let arms = self.arms(&slot, |m| {
                    let read = m.read(|h| *h == Holds::Int).filter(|_| m.dice.chance(60));
                    read.map_or(Int::Number(m.dice.below(5) as i64), Int::Read)
                });
                Some(Int::Match(place, arms))
            }
            _ => self.read(|h| *h == Holds::Int).map(|p| Int::Rem(Box::new(Int::Read(p)), 3)),
        }
    }

    pub(super) fn cond(&mut self) -> Option<Cond> {
        Some(match self.dice.below(6) {
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
