//! Random pure functions, and values of several numbers.

use super::*;

impl Maker<'_> {
    /// Functions of numbers, each of which may call those before it.
    pub(super) fn pures(&mut self) {
        let several = [Kind::Real, Kind::Int, Kind::Truth];
        let order = self.dice.permutation(3);
        let mut results: Vec<Kind> = order.into_iter().map(|k| several[k]).collect();
        if self.dice.chance(40) {
            let left_out = [Kind::Int, Kind::Truth][self.dice.below(2)];
            results.retain(|k| *k != left_out);
        }
        let all = [("which", vec![Kind::Int]), ("odd", vec![Kind::Truth]), ("gauge", results)];
        let weigh = ("weigh", vec![if self.dice.chance(50) { Kind::Real } else { Kind::Int }]);
        for (name, results) in all.into_iter().chain([weigh]) {
            let names = [("a", Kind::Real), ("m", Kind::Int), ("g", Kind::Truth)];
            let order = self.dice.permutation(3);
            let mut params: Vec<(String, Kind)> =
                order.into_iter().map(|k| (names[k].0.to_string(), names[k].1)).collect();
            if !results.contains(&Kind::Real) && self.dice.chance(50) {
                params.retain(|(_, kind)| *kind != Kind::Real);
            }
            self.slots.clear();
            self.frozen.clear();
            for (name, kind) in &params {
                let slot = self.own(name, holds(*kind));
                self.slots.push(slot);
            }
            let value = self.several(&results, 2, false);
            self.form.pures.push(Pure { name: name.into(), params, results, value });
        }
    }

    /// A call of a pure function with some results.
    pub(super) fn called(&mut self, results: &[Kind]) -> Option<(String, Vec<Item>)> {
        let fits: Vec<Pure> = self.form.pures.iter().filter(|f| f.results == results).cloned().collect();
        let f = self.dice.pick(&fits)?.clone();
        let args = f.params.iter().map(|(_, kind)| self.item(*kind)).collect();
        Some((f.name, args))
    }

    fn item(&mut self, kind: Kind) -> Item {
        match kind {
            Kind::Real if self.loops.is_empty() && self.dice.chance(40) => Item::Real(self.leaf()),
            Kind::Real => Item::Real(self.small(1)),
            Kind::Int => {
                let n = self.int(1);
                Item::Int(n.map_or(Int::Number(3), |n| Int::Rem(b_int(n), 6)))
            }
            Kind::Truth => Item::Truth(self.cond().unwrap_or(Cond::Is(true))),
        }
    }

    fn constant(&mut self, kind: Kind) -> Item {
        match kind {
            Kind::Real => Item::Real(Expr::Constant(["zero", "one"][self.dice.below(2)])),
            Kind::Int => Item::Int(Int::Number(self.dice.below(4) as i64)),
            Kind::Truth => Item::Truth(Cond::Is(self.dice.chance(50))),
        }
    }

    /// Several numbers, as a tuple or an array: branches of them, some of which are constants or calls.
    pub(super) fn several(&mut self, kinds: &[Kind], depth: usize, array: bool) -> Several {
        let b = |v| Box::new(v);
        match self.dice.below(if depth == 0 { 6 } else { 16 }) {
            0 | 1 => Several::Of(kinds.iter().map(|k| self.constant(*k)).collect()),
            2 | 3 if !array => match self.called(kinds) {
                Some((name, args)) => Several::Call(name, args),
                None => Several::Of(kinds.iter().map(|k| self.item(*k)).collect()),
            },
            6..=9 => match self.cond() {
                Some(c) => {
                    let (then, otherwise) =
                        (self.several(kinds, depth - 1, array), self.several(kinds, depth - 1, array));
                    Several::If(c, b(then), b(otherwise))
                }
                None => self.several(kinds, depth - 1, array),
            },
            10..=12 => match self.asked() {
                Some(asked) => {
                    let arms = self.arms(&asked, |m| m.several(kinds, depth - 1, array));
                    Several::Match(asked.subject, arms)
                }
                None => self.several(kinds, depth - 1, array),
            },
            13 => match self.asked().and_then(|asked| Some((self.refutable(&asked)?, asked))) {
                Some(((pat, names), asked)) => {
                    let then = self.with(names, |m| m.several(kinds, depth - 1, array));
                    let otherwise = self.several(kinds, depth - 1, array);
                    Several::IfLet(pat, asked.subject, b(then), b(otherwise))
                }
                None => self.several(kinds, depth - 1, array),
            },
            14 => {
                let (name, value) = (self.name("v"), self.small(1));
                let slot = self.own(&name, Holds::Real);
                let values = self.with(vec![slot], |m| m.several(kinds, depth - 1, array));
                Several::Block(name, value, b(values))
            }
            _ => Several::Of(kinds.iter().map(|k| self.item(*k)).collect()),
        }
    }

    /// `let (a, b) = ..;`, `let a = [..];`
    pub(super) fn binding_of_several(&mut self) -> Option<Stmt> {
        let array = self.dice.chance(30);
        let results: Vec<Vec<Kind>> = self.form.pures.iter().map(|f| f.results.clone()).collect();
        let kinds = match results.into_iter().find(|r| r.len() > 1).filter(|_| self.dice.chance(60)) {
            _ if array => vec![Kind::Real; 2],
            Some(results) => results,
            None => vec![Kind::Real, [Kind::Real, Kind::Int, Kind::Truth][self.dice.below(3)]],
        };
        let values = self.several(&kinds, 2, array);
        let behind = self.behind(crate::forms::roots_of_several(&values));
        if array {
            let (name, count) = (self.name("u"), self.slots.len());
            let slot = self.own(&name, Holds::Real);
            self.know(slot, &Type::Fixed(2));
            let own = self.slots.split_off(count);
            let body = self.freezing(behind, |m| m.with(own, |m| m.block(2)));
            return Some(Stmt::LetArray(name, values, body));
        }
        let names: Vec<String> = kinds.iter().map(|_| self.name("b")).collect();
        let own = names.iter().zip(&kinds).map(|(name, kind)| self.own(name, holds(*kind))).collect();
        let body = self.freezing(behind, |m| m.with(own, |m| m.block(2)));
        Some(Stmt::LetSeveral(names, values, body))
    }

    /// `(y, z) += ..;`
    pub(super) fn update_of_several(&mut self) -> Option<Stmt> {
        if self.only.is_some() {
            return None;
        }
        let first = self.pick(true, true, |h| *h == Holds::Real)?;
        let mut kinds = vec![Kind::Real];
        let wanted = if self.dice.chance(70) { Holds::Real } else { Holds::Int };
        let second = self.pick(true, true, |h| *h == wanted)?;
        kinds.push(if wanted == Holds::Int { Kind::Int } else { Kind::Real });
        if first.root == second.root {
            return None;
        }
        let values = self.several(&kinds, 2, false);
        let read = crate::forms::roots_of_several(&values);
        if read.iter().any(|r| *r == first.root || *r == second.root) {
            return None;
        }
        let places = vec![self.place(&first), self.place(&second)];
        Some(Stmt::UpdateSeveral(places, ['+', '-'][self.dice.below(2)], values))
    }
}

fn holds(kind: Kind) -> Holds {
    match kind {
        Kind::Real => Holds::Real,
        Kind::Int => Holds::Int,
        Kind::Truth => Holds::Truth,
    }
}
