//! Random patterns, and what is matched.

use super::*;

/// What is matched, what each part of it holds, and the variables that aren't changed meanwhile.
pub(super) struct Asked {
    pub(super) subject: Subject,
    pub(super) holds: Vec<Holds>,
    pub(super) behind: Vec<String>,
}

/// A pattern and what it names.
type Named = (Pat, Vec<Slot>);

impl Maker<'_> {
    /// `match` and `if let` with values.
    pub(super) fn choice(&mut self, depth: usize) -> Expr {
        let Some(asked) = self.asked() else { return self.leaf() };
        if self.dice.chance(35) {
            if let Some((pat, names)) = self.refutable(&asked) {
                let then = self.with(names, |m| m.value(depth - 1));
                let otherwise = self.value(depth - 1);
                return Expr::IfLet(pat, asked.subject, Box::new(then), Box::new(otherwise));
            }
        }
        let arms = self.arms(&asked, |m| m.value(depth - 1));
        Expr::Match(asked.subject, arms)
    }

    /// A place or a value, or two.
    pub(super) fn asked(&mut self) -> Option<Asked> {
        let form = &self.form;
        let enums: Vec<String> =
            form.types.iter().filter(|d| matches!(d.of, Parts::Enum(_))).map(|d| d.name.clone()).collect();
        let count = if self.dice.chance(30) { 2 } else { 1 };
        let (mut subject, mut holds) = (Vec::new(), Vec::new());
        for _ in 0..count {
            if self.dice.chance(12) {
                let n = b_int(self.int(0)?);
                subject.push(Matched::Int(Int::Rem(n, 4)));
                holds.push(Holds::Int);
                continue;
            }
            let slot = self.pick(false, false, |h| match h {
                Holds::Int | Holds::Option(_) | Holds::Truth => true,
                Holds::Declared(name) => enums.contains(name),
                _ => false,
            })?;
            subject.push(Matched::Place(self.place(&slot)));
            holds.push(slot.holds);
        }
        let behind = self.behind(crate::forms::roots_of_subject(&subject));
        Some(Asked { subject, holds, behind })
    }

    /// Whether nothing in the function changes what is matched.
    pub(super) fn is_fixed(&self, asked: &Asked) -> bool {
        let read =
            |r: &String| self.slots.iter().filter(|s| s.root == *r).all(|s| s.permission == Permission::Read);
        asked.behind.iter().all(read)
    }

    /// Arms for every case, each with a guard or without.
    pub(super) fn arms<R>(
        &mut self,
        asked: &Asked,
        mut make: impl FnMut(&mut Self) -> R,
    ) -> Vec<(Pat, Option<Cond>, R)> {
        let mut heads = Vec::new();
        for _ in 0..1 + self.dice.below(3) {
            let Some((pat, names)) = self.refutable(asked) else { break };
            let asks = self.dice.chance(25);
            let guard = self.with(names.clone(), |m| if asks { m.cond() } else { None });
            heads.push((pat, guard, names));
        }
        let each = match &asked.holds[..] {
            [Holds::Int] if self.dice.chance(50) => vec![self.named(&Type::Of("i64"))],
            // all variants instead
            [Holds::Declared(name)] if self.dice.chance(60) => self.every_variant(&name.clone()),
            [Holds::Option(of)] if self.dice.chance(60) => {
                let (some, names) = self.named(&of.clone());
                let none = (Pat::Tuple("None".into(), Vec::new()), Vec::new());
                vec![none, (Pat::Tuple("Some".into(), vec![some]), names)]
            }
            _ => vec![(Pat::Wild, Vec::new())],
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

    fn variants(&self, of: &str) -> Vec<(String, Vec<(String, Type)>)> {
        match self.form.declared(of).map(|d| &d.of) {
            Some(Parts::Enum(variants)) => variants.clone(),
            _ => Vec::new(),
        }
    }

    fn every_variant(&mut self, of: &str) -> Vec<Named> {
        let variants = self.variants(of);
        let order = self.dice.permutation(variants.len());
        order.into_iter().rev().map(|k| self.variant(of, &variants[k], false)).collect()
    }

    /// A pattern that doesn't take every value, with what it names.
    pub(super) fn refutable(&mut self, asked: &Asked) -> Option<Named> {
        let [first, second] = &asked.holds[..] else { return self.one(asked.holds.first()?) };
        if first == second && self.dice.chance(35) {
            return self.either(first);
        }
        let (mut pats, mut names) = (Vec::new(), Vec::new());
        let needed = self.dice.below(2);
        for (k, holds) in [first, second].into_iter().enumerate() {
            let (pat, mut own) = match holds {
                _ if k == needed || self.dice.chance(50) => self.one(holds)?,
                Holds::Int => self.named(&Type::Of("i64")),
                _ => (Pat::Wild, Vec::new()),
            };
            pats.push(pat);
            names.append(&mut own);
        }
        Some((Pat::Several(pats), names))
    }

    /// `(p, _) | (_, p)` with a name in `p`, which stands for what it is in the first of both that fits.
    fn either(&mut self, holds: &Holds) -> Option<Named> {
        let several = |a: Pat, b: Pat| Pat::Several(vec![a, b]);
        if *holds == Holds::Int {
            let (name, own) = self.named(&Type::Of("i64"));
            let (a, b) = (self.number(false).0, self.number(false).0);
            return Some((Pat::Or(vec![several(name.clone(), a), several(b, name)]), own));
        }
        let (pat, names) = self.one(holds)?;
        if names.iter().any(is_composed) {
            return None;
        }
        Some((Pat::Or(vec![several(pat.clone(), Pat::Wild), several(Pat::Wild, pat)]), names))
    }

    fn one(&mut self, holds: &Holds) -> Option<Named> {
        Some(match holds {
            Holds::Int => self.number(true),
            Holds::Truth => (Pat::Truth(self.dice.chance(50)), Vec::new()),
            Holds::Option(of) => self.option(&of.clone(), true),
            Holds::Declared(name) => {
                let variants = self.variants(name);
                if variants.is_empty() {
                    return None;
                }
                let k = self.dice.below(variants.len());
                let other = (k + 1) % variants.len();
                // of two variants one would be left for nothing else
                if variants.len() > 2 && self.dice.chance(20) {
                    return self.alternatives(name, &variants[k], &variants[other]);
                }
                self.variant(&name.clone(), &variants[k], true)
            }
            _ => return None,
        })
    }

    /// `E::A | E::B`, with a name for a field of the same type in both where there is one.
    fn alternatives(
        &mut self,
        of: &str,
        a: &(String, Vec<(String, Type)>),
        b: &(String, Vec<(String, Type)>),
    ) -> Option<Named> {
        let same = |(k, (_, ty)): (usize, &(String, Type))| Some((k, b.1.iter().position(|(_, t)| t == ty)?));
        let shared: Vec<(usize, usize)> = a.1.iter().enumerate().filter_map(same).collect();
        let Some(&(i, j)) = self.dice.pick(&shared) else {
            return Some((Pat::Or(vec![only(of, a, None), only(of, b, None)]), Vec::new()));
        };
        let (pat, names) = self.part(&a.1[i].1, false);
        if names.iter().any(is_composed) {
            return None;
        }
        Some((Pat::Or(vec![only(of, a, Some((i, pat.clone()))), only(of, b, Some((j, pat)))]), names))
    }

    fn number(&mut self, named: bool) -> Named {
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

    fn option(&mut self, of: &Type, refutable: bool) -> Named {
        if refutable && self.dice.chance(20) {
            return (Pat::Tuple("None".into(), Vec::new()), Vec::new());
        }
        let asks = self.dice.chance(50);
        let (pat, names) = self.part(of, asks);
        (Pat::Tuple("Some".into(), vec![pat]), names)
    }

    /// A name for something of a type.
    fn named(&mut self, ty: &Type) -> Named {
        let name = self.name("v");
        let count = self.slots.len();
        let slot = self.own(&name, Holds::Real);
        self.know(slot, ty);
        (Pat::Name(name), self.slots.split_off(count))
    }

    /// A pattern for something of a type: a name, patterns for its parts, or one that asks for something.
    fn part(&mut self, ty: &Type, asks: bool) -> Named {
        let parts = match ty {
            Type::Of("i64") if asks => return self.number(true),
            Type::Option(of) if asks => return self.option(of, true),
            Type::Declared(name) if asks => {
                let whole = (Pat::Wild, Vec::new());
                return self.one(&Holds::Declared(name.clone())).unwrap_or(whole);
            }
            Type::Ints(n) if asks || self.dice.chance(40) => vec![Type::Of("i64"); *n],
            Type::Fixed(n) if self.dice.chance(40) => vec![Type::Real; *n],
            Type::Pair if self.dice.chance(60) => vec![Type::Real; 2],
            ty => return self.named(ty),
        };
        let (mut pats, mut names) = (Vec::new(), Vec::new());
        for part in &parts {
            let asks = asks && self.dice.chance(50);
            let (pat, mut own) = match self.dice.chance(20) {
                true => (Pat::Wild, Vec::new()),
                false => self.part(part, asks),
            };
            pats.push(pat);
            names.append(&mut own);
        }
        (if *ty == Type::Pair { Pat::Several(pats) } else { Pat::Array(pats) }, names)
    }

    /// A variant with names for its fields, or patterns that ask for something.
    fn variant(&mut self, of: &str, variant: &(String, Vec<(String, Type)>), asking: bool) -> Named {
        let (name, fields) = variant;
        let (mut pats, mut names) = (Vec::new(), Vec::new());
        for (field, ty) in fields {
            let asks = asking && self.dice.chance(40);
            if self.dice.chance(15) {
                pats.push((field.clone(), Pat::Wild));
                continue;
            }
            let (pat, mut own) = self.part(ty, asks);
            names.append(&mut own);
            pats.push((field.clone(), pat));
        }
        let path = format!("{of}::{name}");
        let pat = match is_named(variant) {
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
}

/// Whether a name stands for several real numbers, or an `Option` of them: where two patterns have it, it isn't differentiated.
fn is_composed(named: &Slot) -> bool {
    match named.holds {
        Holds::Real => !named.pieces.is_empty(),
        Holds::Option(_) | Holds::Array(_) => true,
        _ => false,
    }
}

fn is_named((_, fields): &(String, Vec<(String, Type)>)) -> bool {
    fields.first().is_some_and(|(name, _)| name.parse::<usize>().is_err())
}

/// A variant with a pattern for one field, if any.
fn only(of: &str, variant: &(String, Vec<(String, Type)>), field: Option<(usize, Pat)>) -> Pat {
    let (name, fields) = variant;
    let path = format!("{of}::{name}");
    if is_named(variant) {
        let named = field.map(|(k, pat)| (fields[k].0.clone(), pat));
        return Pat::Fields(path, named.into_iter().collect(), true);
    }
    let at = |k| field.as_ref().filter(|(at, _)| *at == k).map_or(Pat::Wild, |(_, pat)| pat.clone());
    Pat::Tuple(path, (0..fields.len()).map(at).collect())
}
