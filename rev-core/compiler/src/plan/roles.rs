//! What each variable from outside is to the iterations of a parallel loop.

use std::collections::BTreeSet;

use crate::check::overlap::Values;
use crate::facts::{named_outside, Accumulated, ParallelFacts, PlaceClass, Sum};
use crate::ir::{
    Block, Callee, Expr, ExprKind, Function, Named, Place, Rank, Step, Stmt, StmtKind, Type, VarId,
};
use crate::text::show;

use super::element::{common_element, common_part};
use super::Around;

/// What a variable from outside is to the iterations.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// Only read.
    Read,
    /// Written, each element by one iteration.
    Owned {
        /// Whether that is as the program declares it.
        declared: bool,
    },
    /// Accumulated into by many.
    Shared {
        /// Which kind of sum it is.
        sum: Sum,
        /// The part of an array that has all of the elements, where it isn't known to be the whole array.
        part: Option<Place>,
        /// Whether that is element by element, at places chosen by data.
        scattered: bool,
        /// Whether totals that are zero aren't added: the element may be another thread's.
        touched: bool,
    },
    /// Accumulated into at one element only, the same for every iteration.
    Element {
        /// Which kind of sum it is.
        sum: Sum,
        /// The element.
        place: Place,
        /// Whether a total that is zero isn't added.
        touched: bool,
    },
}

impl Role {
    /// The kind of sum, where it is one.
    pub fn sum(&self) -> Option<Sum> {
        match self {
            Role::Shared { sum, .. } | Role::Element { sum, .. } => Some(*sum),
            Role::Read | Role::Owned { .. } => None,
        }
    }

    /// `x read`, `l[0] sum`: the role of a variable of a function.
    pub fn text(&self, function: &Function, var: VarId) -> String {
        let name = &function.var(var).name;
        let kind = match self.sum() {
            Some(Sum::Xor) => "parity",
            Some(Sum::Add) | None => "sum",
        };
        let touched = match self {
            Role::Shared { touched: true, .. } | Role::Element { touched: true, .. } => " where touched",
            Role::Read | Role::Owned { .. } | Role::Shared { .. } | Role::Element { .. } => "",
        };
        match self {
            Role::Read => format!("{name} read"),
            Role::Owned { declared: false } => format!("{name} own"),
            Role::Owned { declared: true } => format!("{name} own declared"),
            Role::Shared { part: Some(part), .. } => format!("{} {kind}{touched}", show(function, part)),
            Role::Shared { scattered: false, .. } => format!("{name} {kind}{touched}"),
            Role::Shared { scattered: true, .. } => format!("{name} {kind} scattered{touched}"),
            Role::Element { place, .. } => format!("{} {kind}{touched}", show(function, place)),
        }
    }
}

/// A parallel loop whose variables are looked at.
pub(super) struct Roles<'a> {
    pub function: &'a Function,
    pub values: &'a Values<'a>,
    pub around: &'a Around,
    pub stmt: &'a Stmt,
    pub body: &'a Block,
    pub facts: &'a ParallelFacts,
}

impl Roles<'_> {
    /// The roles of the variables from outside, `None` where one has several.
    pub fn all(&self) -> Option<Vec<(VarId, Role)>> {
        let mut used = BTreeSet::new();
        self.body.iter().for_each(|s| mentioned(s, &mut used));
        let mut own = BTreeSet::new();
        self.body.iter().for_each(|s| s.add_bound(&mut own));
        let mut roles = Vec::new();
        for var in used.difference(&own).copied() {
            let role = match self.facts.classes.get(&var) {
                Some(PlaceClass::Private) => continue,
                // only its length is asked for, or it is a function
                None | Some(PlaceClass::ReadOnly) => Role::Read,
                Some(PlaceClass::Owned { declared }) => self.owned(var, *declared)?,
                Some(PlaceClass::Accumulated(a)) => match self.one_element(var, a) {
                    Some(role) => role,
                    None => self.shared(var, a)?,
                },
                Some(PlaceClass::Parts(parts)) => self.role_of_parts(var, parts)?,
            };
            roles.push((var, role));
        }
        Some(roles)
    }

    /// An array of which each iteration has elements. Elements that are declared to be its own can be
    /// claimed where they are used one by one or in slices.
    fn owned(&self, var: VarId, declared: bool) -> Option<Role> {
        let array = self.around.arrays.contains(&var) || self.function.var(var).ty.is_fixed();
        let claimable = !declared || self.body.iter().all(|s| self.uses_elements(var, s));
        (array && claimable).then_some(Role::Owned { declared })
    }

    /// Whether a statement uses nothing of an array but elements and slices.
    fn uses_elements(&self, var: VarId, stmt: &Stmt) -> bool {
        let mut only = match &stmt.kind {
            StmtKind::External { code } => !named_outside(self.function, code).any(|v| v == var),
            _ => true,
        };
        let mut see = |q: &Place| only &= q.var != var || !q.path.is_empty();
        stmt.each_access(&mut |q, _| see(q));
        stmt.each_expr(&mut |e| each_shadowed(e, &mut see));
        only && stmt.blocks().into_iter().flatten().all(|s| self.uses_elements(var, s))
    }

    /// The element of an array into which all iterations accumulate, so that only this one has to be copied.
    fn one_element(&self, var: VarId, a: &Accumulated) -> Option<Role> {
        let held = self.around.arrays.contains(&var) && !self.around.atomic.contains(&var);
        let place = common_element(a, self.stmt, self.facts, self.values).filter(|_| held)?;
        let touched = self.around.owned.only_touched(var, true);
        self.is_summable(var, a).then_some(Role::Element { sum: a.sum, place, touched })
    }

    /// Whether copies of a variable's elements can be added up.
    fn is_summable(&self, var: VarId, a: &Accumulated) -> bool {
        // what may be a struct has sums, field by field, and nothing else
        !adds_by_field(&self.function.var(var).ty) || a.sum == Sum::Add
    }

    /// A sum into a variable whose elements can be added up.
    fn shared(&self, var: VarId, a: &Accumulated) -> Option<Role> {
        let element = |place: &Place| matches!(place.path.as_slice(), [Step::Index(_)]);
        let part = self.part(var, a);
        let scattered = a.scattered
            && part.is_none()
            && !a.called
            && a.sum == Sum::Add
            && self.around.arrays.contains(&var)
            && !adds_by_field(&self.function.var(var).ty)
            && a.sites.iter().all(|s| element(&s.place));
        let touched = self.around.owned.only_touched(var, false);
        self.is_summable(var, a).then_some(Role::Shared { sum: a.sum, part, scattered, touched })
    }

    /// The part of an array into which all iterations accumulate.
    fn part(&self, var: VarId, a: &Accumulated) -> Option<Place> {
        let array = match &self.function.var(var).ty {
            Type::Shadow(of) => of,
            ty => ty,
        };
        let has_axes = matches!(array, Type::Array(_, Rank::Fixed(_))) && self.around.arrays.contains(&var);
        let held = has_axes && !a.called && !self.around.atomic.contains(&var);
        held.then(|| common_part(a, self.stmt, self.facts, self.values)).flatten()
    }

    fn role_of_parts(&self, var: VarId, parts: &[(Vec<Place>, PlaceClass)]) -> Option<Role> {
        let owned = |class: &PlaceClass| matches!(class, PlaceClass::Owned { .. } | PlaceClass::ReadOnly);
        if parts.iter().all(|(_, class)| owned(class)) {
            return self.owned(var, false);
        }
        let mut sums = parts.iter().map(|(_, class)| match class {
            PlaceClass::Accumulated(a) => Some(a),
            _ => None,
        });
        let first = sums.next()??;
        sums.all(|a| a.is_some_and(|a| a.sum == first.sum)).then(|| self.shared(var, first)).flatten()
    }
}

/// Whether copies of a variable's elements are put together field by field: where they are structs, or may be.
pub fn adds_by_field(ty: &Type) -> bool {
    matches!(element_type(ty), Type::Struct(..) | Type::Unknown)
}

/// The type of the elements of arrays, at any depth.
fn element_type(ty: &Type) -> &Type {
    match ty {
        Type::Array(t, _) | Type::Fixed(t, _) => element_type(t),
        other => other,
    }
}

/// The places after which an expression is shaped.
fn each_shadowed(e: &Expr, f: &mut dyn FnMut(&Place)) {
    if let ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) = &e.kind {
        f(q);
    }
    e.each_child(&mut |c| each_shadowed(c, f));
}

/// The variables that a statement mentions in any way, those that its expressions name aside.
fn mentioned(stmt: &Stmt, found: &mut BTreeSet<VarId>) {
    stmt.each_expr(&mut |e| mentioned_in(e, found));
    stmt.each_place(&mut |q, _| {
        found.insert(q.var);
        q.indices().for_each(|e| mentioned_in(e, found));
    });
    match &stmt.kind {
        StmtKind::Call { callee: Callee::Param(var), .. } | StmtKind::Release { var, .. } => {
            found.insert(*var);
        }
        StmtKind::For { parallel: Some(declared), .. } => {
            for place in &declared.injective {
                found.insert(place.var);
                place.indices().for_each(|e| mentioned_in(e, found));
            }
        }
        StmtKind::Update { .. }
        | StmtKind::Instr { .. }
        | StmtKind::Let { .. }
        | StmtKind::Ancilla { .. }
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::For { parallel: None, .. }
        | StmtKind::Call { callee: Callee::Path(_), .. }
        | StmtKind::Compute { .. }
        | StmtKind::Push { .. }
        | StmtKind::Pop { .. }
        | StmtKind::External { .. }
        | StmtKind::Unchecked { .. }
        | StmtKind::Inverse { .. } => {}
    }
    for block in stmt.blocks() {
        block.iter().for_each(|s| mentioned(s, found));
    }
}

pub(super) fn mentioned_in(e: &Expr, found: &mut BTreeSet<VarId>) {
    let mut named = Vec::new();
    named_in(e, &mut named);
    found.extend(named.into_iter().map(|(var, _)| var));
}

/// The variables from outside that an expression names, and what of them.
pub(super) fn named_in(e: &Expr, found: &mut Vec<(VarId, Named)>) {
    found.extend(e.named().map(|(q, of)| (q.var, of)));
    e.each_child(&mut |c| named_in(c, found));
    // names of its own are none that come from outside
    if let ExprKind::Block(lets, _) = &e.kind {
        found.retain(|(var, _)| lets.iter().all(|(own, _)| own != var));
    }
}
