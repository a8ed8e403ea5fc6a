//! Which places surely share storage, and what has to stay as it is: what bindings, ranges, conditions and
//! first values read, in their scopes.

use std::collections::HashMap;

use crate::ir::{Expr, ExprKind, Function, Mode, Number, Place, Step, VarId, VarKind};

/// One step of a path, where it surely says which part is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Field(String),
    Element(u32),
    Index(Vec<Subscript>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subscript {
    Number(i128),
    /// A variable that has one value in its scope.
    Fixed(VarId),
}

/// Storage, as far as a place says it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Storage {
    var: VarId,
    parts: Vec<Part>,
    /// Whether it is all of the place's path: else it is somewhere inside.
    exact: bool,
}

/// The storage of a place.
pub(super) fn storage(function: &Function, place: &Place) -> Storage {
    let parts: Vec<Part> = place.path.iter().map_while(|step| part(function, step)).collect();
    let exact = parts.len() == place.path.len();
    Storage { var: place.var, parts, exact }
}

fn part(function: &Function, step: &Step) -> Option<Part> {
    Some(match step {
        Step::Field(name) => Part::Field(name.clone()),
        Step::Re => Part::Field("re".into()),
        Step::Im => Part::Field("im".into()),
        Step::Element(k) => Part::Element(*k),
        Step::Index(es) => Part::Index(es.iter().map(|e| subscript(function, e)).collect::<Option<_>>()?),
        Step::Part(_) => return None,
    })
}

fn subscript(function: &Function, e: &Expr) -> Option<Subscript> {
    match &e.kind {
        ExprKind::Literal(Number::Int(n), _) => Some(Subscript::Number(*n)),
        ExprKind::Read(p) if p.path.is_empty() => match function.vars.get(p.var.0 as usize)?.kind {
            VarKind::Binding | VarKind::Index | VarKind::Param(Mode::Read) => Some(Subscript::Fixed(p.var)),
            VarKind::Ancilla | VarKind::Param(Mode::Write | Mode::Accumulate) => None,
        },
        _ => None,
    }
}

impl Storage {
    /// Whether two places surely share storage: one is the other, or holds it.
    pub fn surely_shares(&self, other: &Storage) -> bool {
        let holds = |a: &Storage, b: &Storage| a.exact && b.parts.starts_with(&a.parts);
        self.var == other.var && (holds(self, other) || holds(other, self))
    }
}

/// What has to stay as it is.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// How often a place is held as a whole, and how often something at it or inside it is.
    counts: HashMap<(VarId, Vec<Part>), (u32, u32)>,
}

impl Held {
    /// It has to stay from here on.
    pub fn take(&mut self, s: &Storage) {
        self.each(s, &mut |whole, inside, is_whole| {
            *whole += u32::from(is_whole);
            *inside += 1;
        });
    }

    /// It may change again.
    pub fn give(&mut self, s: &Storage) {
        self.each(s, &mut |whole, inside, is_whole| {
            *whole -= u32::from(is_whole);
            *inside -= 1;
        });
    }

    fn each(&mut self, s: &Storage, f: &mut dyn FnMut(&mut u32, &mut u32, bool)) {
        for n in 0..=s.parts.len() {
            let (whole, inside) = self.counts.entry((s.var, s.parts[..n].to_vec())).or_default();
            f(whole, inside, s.exact && n == s.parts.len());
        }
    }

    /// Whether it surely shares storage with something that has to stay.
    pub fn is_shared(&self, s: &Storage) -> bool {
        let count = |n: usize| self.counts.get(&(s.var, s.parts[..n].to_vec())).copied().unwrap_or_default();
        (0..=s.parts.len()).any(|n| count(n).0 > 0) || s.exact && count(s.parts.len()).1 > 0
    }
}
