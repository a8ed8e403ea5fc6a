//! One function under construction: its variables, places in them, and indices.

use std::collections::BTreeSet;

use rev_core::ir::*;
use rev_core::ops::Func;

use crate::dice::Dice;
use crate::scope::{roots, Element, Known, Permission, Scopes, What, Why, SHORT};
use crate::signature::Signature;

/// A function under construction.
pub struct Generator<'a> {
    pub(crate) dice: &'a mut Dice,
    pub(crate) function: Function,
    pub(crate) scopes: Scopes,
    /// Functions that may be called.
    pub(crate) library: &'a [Signature],
    /// How many more statements there may be.
    pub(crate) budget: usize,
    /// Whether the function undoes itself bit for bit on exact scalars: no rotations and such.
    pub(crate) exact: bool,
    /// The length of slices and of the first axis of matrices.
    pub(crate) long: usize,
    /// How often the next statement runs, about.
    pub(crate) times: usize,
    /// How many parallel loops are around.
    pub(crate) parallel: usize,
    /// What the statement under construction writes, so that its expressions don't read it.
    pub(crate) targets: Vec<Place>,
    /// The block of the source that the next statement stands in.
    pub(crate) block: usize,
    /// Elements that were read of what isn't written, to be read again.
    pub(crate) seen: Vec<(Element, Place)>,
}

/// How a place is going to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    /// Read, and about as small as 1.
    ReadSmall,
    Accumulate,
    Write,
}

impl Generator<'_> {
    /// Declares a variable in the scope that is opened next.
    pub(crate) fn declare(&mut self, stem: &str, what: What, kind: VarKind) -> VarId {
        let n = self.function.vars.iter().filter(|v| v.name.starts_with(stem)).count();
        let name = format!("{stem}{n}");
        self.function.add_var(Var { name, ty: what.ty(), kind, span: Span::NONE })
    }

    /// Makes a declared variable known in the innermost scope.
    pub(crate) fn know(&mut self, id: VarId, what: What, permission: Permission, small: bool) -> &mut Known {
        let scope = self.scopes.depth().checked_sub(1);
        let block = self.block;
        let sources = BTreeSet::new();
        self.scopes.known.push(Known { id, what, permission, small, managed: false, scope, block, sources });
        let last = self.scopes.known.len() - 1;
        &mut self.scopes.known[last]
    }

    /// Runs `make` in a scope; what it declares is forgotten afterwards.
    pub(crate) fn within<R>(
        &mut self,
        why: Why,
        reads: BTreeSet<VarId>,
        make: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let count = self.scopes.known.len();
        self.scopes.enter(why, reads);
        let out = make(self);
        self.scopes.leave();
        self.scopes.known.truncate(count);
        out
    }

    /// Runs `make` in a block of the source of its own.
    pub(crate) fn in_new_block<R>(&mut self, make: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.block, 0);
        self.block = self.scopes.new_block();
        let out = make(self);
        self.block = outer;
        out
    }

    /// Runs `make` with some variables that may only be read.
    pub(crate) fn with_kept<R>(&mut self, kept: &[VarId], make: impl FnOnce(&mut Self) -> R) -> R {
        let saved: Vec<Permission> = self.scopes.known.iter().map(|k| k.permission.clone()).collect();
        for k in self.scopes.known.iter_mut().filter(|k| kept.contains(&k.id)) {
            k.permission = Permission::Read;
        }
        let out = make(self);
        for (k, permission) in self.scopes.known.iter_mut().zip(saved) {
            k.permission = permission;
        }
        out
    }

    pub(crate) fn allowed(&self, k: &Known, usage: Use) -> bool {
        let readable = !matches!(k.permission, Permission::Accumulate | Permission::AddedTo(_));
        match usage {
            Use::Read => readable,
            Use::ReadSmall => k.small && readable,
            Use::Accumulate => {
                k.permission != Permission::Read && self.scopes.is_free(k.id) && self.scopes.may_manage(k)
            }
            Use::Write => {
                matches!(k.permission, Permission::Full | Permission::Owned(_))
                    && self.scopes.is_free(k.id)
                    && self.scopes.may_manage(k)
            }
        }
    }

    /// A place that holds a scalar of a kind and can be used so.
    pub(crate) fn place(&mut self, element: Element, usage: Use) -> Option<Place> {
        let fit = |k: &&Known| k.what.holds(element) && self.allowed(k, usage);
        let candidates: Vec<Known> = self.scopes.known.iter().filter(fit).cloned().collect();
        if let Some(again) = self.seen_before(element, usage, &candidates) {
            return Some(again);
        }
        for _ in 0..4 {
            let known = self.dice.pick(&candidates)?.clone();
            let place = self.place_in(&known, element);
            if self.targets.iter().all(|t| surely_distinct(t, &place)) {
                let element_read = place.path.iter().any(|step| matches!(step, Step::Index(_)));
                if known.permission == Permission::Read && element_read {
                    self.seen.push((element, place.clone()));
                }
                return Some(place);
            }
        }
        None
    }

    /// An element that was read before, and is the same still if its indices are.
    fn seen_before(&mut self, element: Element, usage: Use, of: &[Known]) -> Option<Place> {
        if !matches!(usage, Use::Read | Use::ReadSmall) || !self.dice.chance(20) {
            return None;
        }
        let is_read = |v: VarId| of.iter().any(|k| k.id == v && k.permission == Permission::Read);
        let is_known = |v: VarId| self.scopes.get(v).is_some();
        let fits = |(e, p): &&(Element, Place)| {
            let indices = || p.indices().flat_map(Expr::reads).all(|q| is_known(q.var));
            let apart = self.targets.iter().all(|t| surely_distinct(t, p));
            *e == element && is_read(p.var) && indices() && apart
        };
        let fits: Vec<Place> = self.seen.iter().filter(fits).map(|(_, p)| p.clone()).collect();
        self.dice.pick(&fits).cloned()
    }

    /// A place in a variable that holds scalars of the kind.
    pub(crate) fn place_in(&mut self, known: &Known, element: Element) -> Place {
        let place = Place::var(known.id);
        match &known.what {
            What::Real
            | What::Int
            | What::Bool
            | What::Index(_)
            | What::Stack(_)
            | What::Depth
            | What::Narrow(_)
            | What::Function => place,
            What::Complex if element == Element::Complex => place,
            What::Complex => place.with(if self.dice.chance(50) { Step::Re } else { Step::Im }),
            What::Reals | What::Ints | What::Indices { .. } => {
                let i = self.first_index(known);
                place.with(Step::Index(vec![i]))
            }
            What::Matrix => {
                let i = self.first_index(known);
                let j = match &known.permission {
                    Permission::Owned(indices) if indices.len() > 1 => indices[1].clone(),
                    _ => self.index(SHORT),
                };
                place.with(Step::Index(vec![i, j]))
            }
            What::Rows => {
                let i = self.first_index(known);
                let constant = Expr::int(self.dice.below(SHORT) as i128);
                let j = if self.dice.chance(80) { constant } else { self.index(SHORT) };
                place.with(Step::Index(vec![i])).with(Step::Index(vec![j]))
            }
            What::Triple { .. } => {
                let i = self.index(SHORT);
                place.with(Step::Index(vec![i]))
            }
            What::Duo => place.with(Step::Element(self.dice.below(2) as u32)),
            What::Mixed => {
                let at = [(Element::Bool, 0), (Element::Real, 1), (Element::Int, 2)];
                let at = at.iter().find(|(e, _)| *e == element).map_or(1, |(_, k)| *k);
                place.with(Step::Element(at))
            }
            What::Body => match self.dice.below(3) {
                0 => place.with(Step::Field("mass".into())),
                _ => {
                    let i = Expr::int(self.dice.below(2) as i128);
                    place.with(Step::Field("arm".into())).with(Step::Index(vec![i]))
                }
            },
        }
    }

    pub(crate) fn first_index(&mut self, known: &Known) -> Expr {
        match &known.permission {
            Permission::Owned(indices) => indices[0].clone(),
            Permission::AddedTo(index) => index.clone(),
            Permission::Full | Permission::Read | Permission::Accumulate => self.index(self.long),
        }
    }

    /// An index expression below `extent`.
    pub(crate) fn index(&mut self, extent: usize) -> Expr {
        let constant = Expr::int(self.dice.below(extent) as i128);
        let fits = |k: &&Known| matches!(k.what, What::Index(most) if most < extent);
        let small: Vec<VarId> = self.scopes.known.iter().filter(fits).map(|k| k.id).collect();
        let all = |k: &&Known| matches!(k.what, What::Index(_));
        let any: Vec<VarId> = self.scopes.known.iter().filter(all).map(|k| k.id).collect();
        let tables = |k: &&Known| matches!(k.what, What::Indices { .. });
        let tables: Vec<VarId> = self.scopes.known.iter().filter(tables).map(|k| k.id).collect();
        let read = |v: &VarId| Expr::read(Place::var(*v));
        match self.dice.below(10) {
            0 | 1 => constant,
            2 => match self.dice.pick(&any) {
                // (i + c) % extent
                Some(v) => {
                    let c = Expr::int(1 + self.dice.below(3) as i128);
                    let sum = Expr::func(Func::Add, vec![read(v), c]);
                    Expr::func(Func::Rem, vec![sum, Expr::int(extent as i128)])
                }
                None => constant,
            },
            3 => match self.dice.pick(&small) {
                // extent - 1 - i
                Some(v) => Expr::func(Func::Sub, vec![Expr::int(extent as i128 - 1), read(v)]),
                None => constant,
            },
            4 if extent == self.long => match self.dice.pick(&tables).copied() {
                Some(v) => {
                    let i = match self.dice.pick(&small) {
                        Some(v) => read(v),
                        None => constant,
                    };
                    Expr::read(Place::var(v).with(Step::Index(vec![i])))
                }
                None => constant,
            },
            _ => match self.dice.pick(&small) {
                Some(v) => read(v),
                None => constant,
            },
        }
    }

    /// Runs `make` for what runs `more` times as often.
    pub(crate) fn repeated<R>(&mut self, more: usize, make: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.times;
        self.times *= more.max(1);
        let out = make(self);
        self.times = outer;
        out
    }

    /// What a place is given often: so much less that its number doesn't grow, nor does the derivative
    /// through all rounds.
    pub(crate) fn tamed(&mut self, e: Expr) -> Expr {
        if self.times <= 3 {
            return e;
        }
        let factor = (2e4 / self.times as f64).round().max(1.0) / 1e4;
        Expr::func(Func::Mul, vec![Expr::float(factor), e])
    }

    /// A whole variable of a kind.
    pub(crate) fn whole(&mut self, what: &What, usage: Use) -> Option<VarId> {
        let fit = |k: &&Known| {
            let same = match (&k.what, what) {
                (What::Triple { named }, What::Triple { named: wanted }) => named == wanted || *wanted,
                (What::Indices { injective }, What::Indices { injective: wanted }) => *injective || !wanted,
                (a, b) => a == b,
            };
            let shared = match k.permission {
                Permission::Owned(_) | Permission::AddedTo(_) => true,
                Permission::Accumulate => self.parallel > 0 || usage != Use::Accumulate,
                Permission::Full | Permission::Read => false,
            };
            same && self.allowed(k, usage) && !shared && self.targets.iter().all(|t| t.var != k.id)
        };
        let candidates: Vec<VarId> = self.scopes.known.iter().filter(fit).map(|k| k.id).collect();
        self.dice.pick(&candidates).copied()
    }

    /// A statement without inner blocks, if it is allowed here.
    pub(crate) fn leaf(&mut self, kind: StmtKind) -> Option<Stmt> {
        let stmt = Stmt::new(kind);
        self.scopes.admit(&stmt).then_some(stmt)
    }

    /// What an expression reads, for [`Self::within`].
    pub(crate) fn reads(&self, exprs: &[&Expr]) -> BTreeSet<VarId> {
        exprs.iter().flat_map(|e| roots(e)).collect()
    }
}

/// Whether two places surely have no part in common: other variables, fields or constant indices.
pub(crate) fn surely_distinct(a: &Place, b: &Place) -> bool {
    if a.var != b.var {
        return true;
    }
    a.path.iter().zip(&b.path).any(|(s, t)| match (s, t) {
        (Step::Field(s), Step::Field(t)) => s != t,
        (Step::Element(s), Step::Element(t)) => s != t,
        (Step::Re, Step::Im) | (Step::Im, Step::Re) => true,
        (Step::Index(_) | Step::Part(_), Step::Index(_) | Step::Part(_)) => {
            axes_of_both(s, t).any(|axes| match axes {
                (AxisRef::At(s), AxisRef::At(t)) => match (&s.kind, &t.kind) {
                    (ExprKind::Literal(s, _), ExprKind::Literal(t, _)) => s != t,
                    _ => false,
                },
                _ => false,
            })
        }
        _ => false,
    })
}
