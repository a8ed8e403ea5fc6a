//! Statements of what a program is about: structs, number systems, conversions.

use super::*;

impl Maker<'_> {
    pub(super) fn literal(&mut self) -> Option<Literal> {
        let Parts::Struct(fields) = self.form.declared("Part")?.of.clone() else { return None };
        let mut out = Vec::new();
        for (name, ty) in fields {
            let value = match ty {
                Type::Fixed(n) => FieldValue::Array((0..n).map(|_| self.small(0)).collect()),
                Type::Named => return None,
                Type::Pair => FieldValue::Pair(self.small(0), self.small(1)),
                Type::Of(_) => FieldValue::Int(Int::Number(self.dice.below(4) as i64)),
                _ => {
                    out.push(real(&name, self.small(1)));
                    continue;
                }
            };
            out.push((name, value));
        }
        Some(out)
    }

    pub(super) fn of_structs(&mut self) -> Option<Stmt> {
        let structs = |h: &Holds| matches!(h, Holds::Declared(_));
        match self.dice.below(8) {
            0..=3 => {
                let slot = self.pick(true, true, structs)?;
                let Holds::Declared(of) = slot.holds.clone() else { return None };
                if !self.is_summable(&of) {
                    return None;
                }
                self.target = Some(slot.clone());
                let other = self.pick(false, false, |h| *h == slot.holds);
                self.target = None;
                let other = other?;
                if other.root == slot.root || self.is_writable_in_parallel(&other) {
                    return None;
                }
                let op = ['+', '-'][self.dice.below(2)];
                Some(Stmt::Sum { place: self.place(&slot), op, other: self.place(&other), of })
            }
            4 | 5 => {
                let slot = self.pick(true, true, |h| *h == Holds::Declared("Part".into()))?;
                // the macro doesn't know the type of a field
                let in_field = slot.pieces.iter().any(|piece| matches!(piece, Piece::Field(_)));
                let made = self.literal()?;
                if in_field || crate::forms::roots_of_literal(&made).contains(&slot.root) {
                    return None;
                }
                let op = ['+', '-'][self.dice.below(2)];
                Some(Stmt::SumMade { place: self.place(&slot), op, of: "Part".into(), made })
            }
            6 if self.only.is_none() => {
                let a = self.pick(true, false, structs)?;
                self.target = Some(a.clone());
                let b = self.pick(true, false, |h| *h == a.holds);
                self.target = None;
                let b = b?;
                if a.root == b.root {
                    return None;
                }
                Some(Stmt::Swap(self.place(&a), self.place(&b)))
            }
            _ if self.only.is_none() => {
                let (name, made) = (self.name("s"), self.literal()?);
                let behind = self.behind(crate::forms::roots_of_literal(&made));
                let count = self.slots.len();
                let slot = self.own(&name, Holds::Real);
                self.know(slot, &Type::Declared("Part".into()));
                let own = self.slots.split_off(count);
                let body = self.freezing(behind, |m| m.with(own, |m| m.block(2)));
                Some(Stmt::LetStruct(name, "Part".into(), made, body))
            }
            _ => None,
        }
    }

    // ---- number systems ----

    pub(super) fn scale(&mut self) -> Option<Stmt> {
        let slot = self.pick(true, false, |h| matches!(h, Holds::Number(_)))?;
        let Holds::Number(system) = slot.holds else { return None };
        self.target = Some(slot.clone());
        let depth = 1 + self.dice.below(2);
        let by = self.num(system, depth);
        self.target = None;
        let op = ['*', '/'][self.dice.below(2)];
        Some(Stmt::Scale { place: self.place(&slot), op, system, by: by? })
    }

    /// A factor; with a number of the system in every operation, so that it is one of the system.
    pub(super) fn num(&mut self, system: System, depth: usize) -> Option<Num> {
        let b = |n: Num| Box::new(n);
        let read = |m: &mut Self| m.read(|h| *h == Holds::Number(system)).map(Num::Read);
        if depth == 0 {
            return read(self);
        }
        let a = self.num(system, depth - 1)?;
        Some(match (system, self.dice.below(8)) {
            (_, 0 | 1) => a,
            (System::Odd, 2..=4) => Num::Binary(['*', '/'][self.dice.below(2)], b(a), b(read(self)?)),
            (System::Odd, 5 | 6) => Num::Binary('*', b(a), b(Num::Odd(1 + 2 * self.dice.below(20) as u32))),
            (System::Odd, _) => Num::Function("neg", b(a)),
            (_, 2 | 3) => Num::Binary(['*', '/'][self.dice.below(2)], b(a), b(read(self)?)),
            (_, 4) => Num::Binary('+', b(a), b(read(self)?)),
            (System::Log, 5) => {
                // 1 + something below it, so that it is positive
                let e = self.small(1);
                let e = Expr::Binary('+', Box::new(Expr::Number(1.25)), Box::new(e));
                Num::Binary(['*', '+'][self.dice.below(2)], b(a), b(Num::Of(e)))
            }
            (_, 5) => Num::Binary(['*', '+'][self.dice.below(2)], b(a), b(Num::Of(self.small(1)))),
            (_, 6) => Num::Powi(b(a), [2, 3, -1][self.dice.below(3)]),
            (System::Log, _) => match self.dice.chance(50) {
                true => Num::Function("sqrt", b(a)),
                false => Num::Powf(b(a), 0.75),
            },
            (_, _) => Num::Function("recip", b(a)),
        })
    }

    // ---- conversions ----

    pub(super) fn convert(&mut self) -> Option<Stmt> {
        let is_known = self.slots.iter().any(|s| s.root == "w");
        if self.parallel || !self.top || self.only.is_some() || !is_known {
            return None;
        }
        let at = self.converted;
        let to = |root: &str| Place {
            root: root.into(),
            by_reference: true,
            path: vec![Step::Index(vec![At::Number(at)])],
        };
        let i = self.dice.below(self.form.long);
        let w = Place { path: vec![Step::Index(vec![At::Number(i)])], ..to("w") };
        let is_free = |m: &Self, root: &str| !m.frozen.iter().any(|f| f == root);
        let lost = || Place { root: "lost".into(), by_reference: true, path: Vec::new() };
        match self.dice.below(4) {
            0 if at < self.form.long && is_free(self, "w") && is_free(self, "d") => {
                self.converted += 1;
                Some(Stmt::Convert { from: w, to: to("d"), lost: None, types: ("f32", "f64") })
            }
            1 if at < self.form.long && is_free(self, "j") && is_free(self, "lost") => {
                self.converted += 1;
                let slot = self.pick(true, false, |h| *h == Holds::Real).filter(|s| s.root == "y")?;
                let from = self.place(&slot);
                Some(Stmt::Convert { from, to: to("j"), lost: Some(lost()), types: ("f64", "i64") })
            }
            _ if is_free(self, "w") => {
                // as another type for a while
                let name = self.name("a");
                let to = Place { root: name.clone(), by_reference: false, path: Vec::new() };
                let convert = Stmt::Convert { from: w, to, lost: None, types: ("f32", "f64") };
                let own = self.own(&name, Holds::Real);
                let body = self.freezing(vec!["w".into()], |m| m.with(vec![own], |m| m.block(2)));
                let body = vec![Stmt::Compute(vec![convert], body)];
                Some(Stmt::Ancilla {
                    name,
                    start: Start::Of("f64"),
                    compute: false,
                    prepare: Vec::new(),
                    body,
                })
            }
            _ => None,
        }
    }
}
