//! Programs with a loop under `#[checkpoint]`.

use super::*;

impl Maker<'_> {
    /// Variables, a loop whose steps give them new values, and what is made of these.
    pub(super) fn checkpointed(&mut self) -> Vec<Stmt> {
        let states = [
            ("u", Start::Real(0.0), Type::Real),
            ("w", Start::Real(0.5), Type::Real),
            ("f", Start::Array(3), Type::Fixed(3)),
            ("v", Start::Vector(self.form.long), Type::Slice(Box::new(Type::Real), self.form.long)),
            ("m", Start::Int(1), Type::Of("i64")),
        ];
        let chosen: Vec<_> =
            states.into_iter().filter(|(n, _, _)| *n == "u" || self.dice.chance(60)).collect();
        let before = self.slots.clone();
        for slot in &mut self.slots {
            if slot.permission == Permission::Write {
                slot.permission = Permission::Hidden;
            }
        }
        let own: Vec<Slot> = chosen
            .iter()
            .flat_map(|(name, _, ty)| {
                let count = self.slots.len();
                let slot = Slot { permission: Permission::Write, ..self.own(name, Holds::Real) };
                self.know(slot, ty);
                self.slots.split_off(count)
            })
            .collect();
        // what they begin with
        let mut inits: Vec<Vec<Stmt>> = Vec::new();
        for (name, ..) in &chosen {
            let mine: Vec<Slot> = own.iter().filter(|s| s.root == *name).cloned().collect();
            self.only = Some((*name).to_string());
            self.budget = 2;
            let made = self.with(mine, |m| (0..3).find_map(|_| m.update()));
            inits.push(made.into_iter().collect());
        }
        self.only = None;
        let var = "step".to_string();
        let count = [0, 1, 5, 12, 17][self.dice.below(5)];
        let every = [None, Some(1), Some(3), Some(4), Some(50)][self.dice.below(5)];
        self.loops.push((var.clone(), count.max(1)));
        let steps = self.with(own.clone(), |m| {
            let mut out = Vec::new();
            for _ in 0..3 + m.dice.below(3) {
                out.extend((0..4).find_map(|_| m.step()));
            }
            out
        });
        self.loops.pop();
        self.slots = before;
        let read = own.into_iter().map(|s| Slot { permission: Permission::Read, ..s }).collect();
        self.budget = 6;
        let rest = self.with(read, |m| m.block(4));
        let checkpoint = Stmt::Checkpoint { var, count, every, body: steps };
        let mut body = vec![checkpoint];
        body.extend(rest);
        let states =
            chosen.into_iter().zip(inits).map(|((name, start, _), begin)| (name.into(), start, begin));
        vec![Stmt::States(states.collect(), body)]
    }

    /// A statement of a step.
    pub(super) fn step(&mut self) -> Option<Stmt> {
        let assign = |m: &mut Self, whole: bool| {
            let slot = m.pick(true, false, |h| *h == Holds::Real || *h == Holds::Int)?;
            if !whole && slot.pieces.is_empty() && m.dice.chance(30) {
                return None;
            }
            let place = m.place(&slot);
            Some(match slot.holds {
                Holds::Int => {
                    let n = m.int(1)?;
                    Stmt::AssignInt(place, Int::Rem(Box::new(n), 7))
                }
                _ => {
                    let e = m.small(2);
                    match m.dice.chance(50) {
                        true => {
                            let old = Expr::Binary(
                                '*',
                                Box::new(Expr::Number(m.decimal())),
                                Box::new(Expr::Read(place.clone())),
                            );
                            Stmt::Assign(place, Expr::Binary('+', Box::new(old), Box::new(e)))
                        }
                        false => Stmt::Assign(place, e),
                    }
                }
            })
        };
        match self.dice.below(8) {
            0..=3 => assign(self, true),
            4 => {
                let asked = self.asked().filter(|asked| self.is_fixed(asked))?;
                let arms = self.freezing(asked.behind.clone(), |m| {
                    m.arms(&asked, |m| assign(m, false).into_iter().collect())
                });
                Some(Stmt::Match(asked.subject, arms))
            }
            5 => {
                let asked = self.asked().filter(|asked| self.is_fixed(asked))?;
                let (pat, names) = self.refutable(&asked)?;
                let (a, b) = self.freezing(asked.behind.clone(), |m| {
                    let a = m.with(names, |m| assign(m, false).into_iter().collect());
                    (a, assign(m, false).into_iter().collect())
                });
                Some(Stmt::IfLet(pat, asked.subject, a, b))
            }
            6 => {
                let (var, count) = (self.name("i"), 3);
                self.loops.push((var.clone(), count));
                let body = assign(self, false).into_iter().collect();
                self.loops.pop();
                Some(Stmt::For { var, count, parallel: false, body })
            }
            _ => self.moved().filter(|s| matches!(s, Stmt::Swap(..) | Stmt::Neg(..))),
        }
    }
}
