//! Parallel loops: what the variables from outside are to the iterations, and how the iterations run.

use std::collections::BTreeSet;

use crate::check::overlap::Values;
use crate::facts::{classify, classify_whole, Sum};
use crate::ir::{Block, Function, Stmt, StmtKind, VarId};

use super::claims::Claims;
use super::element::Owned;
use super::gathers::mostly_gathers;
use super::in_order::sums_in_order;
use super::inner::has_lanes;
use super::lanes::{is_laned, passes, Lanes};
use super::products::has_fused_product;
use super::roles::{Role, Roles};
use super::work::operations;
use super::{handles, width, Varying, Width, Work};

/// What stands around a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Around {
    /// Whether checks are made.
    pub checked: bool,
    /// The arrays that are reached through handles.
    pub arrays: BTreeSet<VarId>,
    /// Those of which each iteration has elements of its own.
    pub owned: Owned,
    /// Arrays that several tasks of a loop may add to at once, where that pays.
    pub atomic: BTreeSet<VarId>,
    /// Arrays whose elements each iteration of a loop claims before it touches them, with the loop's variable.
    pub claimed: Vec<(VarId, VarId)>,
}

impl Around {
    /// What stands around the statements of a function.
    pub fn of(function: &Function) -> Around {
        let (checked, arrays) = (function.checks, handles(function));
        Around { checked, arrays, owned: Owned::default(), atomic: BTreeSet::new(), claimed: Vec::new() }
    }
}

/// How a parallel loop runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its variable.
    pub var: VarId,
    /// What the variables from outside are to the iterations.
    pub roles: Vec<(VarId, Role)>,
    /// How it adds to elements that are chosen by data.
    pub adds: Adds,
    /// What runs in lanes, and in how many; `None` where one iteration runs after the other.
    pub lanes: Option<(Width, Lanes)>,
    /// Whether full groups of lanes and the one that isn't full have one code. Else each has its own, which takes twice as
    /// long to compile and asks nothing for full groups.
    pub once: bool,
    /// The operations of an iteration.
    pub work: Work,
    /// Whether products in it are rounded together with sums.
    pub fuses: bool,
    /// What an iteration uses of the arrays that are declared to be apart, where that is known before the loop.
    pub claims: Option<Claims>,
}

/// The operations from which on a body is compiled once for all groups, if it is narrow: what is asked of each element then
/// weighs little. A wide one has loops inside, in whose trips it would be asked.
pub(super) const LARGE: usize = 60;

/// How a loop adds to elements that are chosen by data.
#[derive(Clone, Debug, PartialEq)]
pub enum Adds {
    /// Each task to a copy.
    InCopies,
    /// To these arrays all tasks at once, where that pays.
    Atomically(Vec<VarId>),
    /// As a loop around it does.
    AsAround,
}

impl Loop {
    /// How a loop runs whose iterations may run in any order. `None` where they run in order: where the classes of
    /// its variables can't be kept apart, and where iterations write parts of one element, or of a variable that
    /// isn't an array, which threads reach through references to the whole.
    pub fn of(function: &Function, values: &Values, around: &Around, stmt: &Stmt) -> Option<Loop> {
        let StmtKind::For { var, body, .. } = &stmt.kind else { return None };
        classify_whole(function, stmt).ok()?;
        let facts = classify(function, stmt).ok()?;
        let roles = Roles { function, values, around, stmt, body, facts: &facts }.all()?;
        let mut plan = Loop {
            var: *var,
            adds: adds(&roles, around),
            lanes: lanes(function, around, (*var, body), &roles),
            once: false,
            work: Work::of_iteration(function, &around.arrays, *var, body),
            fuses: body.iter().any(has_fused_product),
            claims: known_claims((*var, body), values, &roles),
            roles,
        };
        if plan.lanes.is_some() && has_lanes(function, values, &plan.inside(around), body) {
            plan.lanes = None;
        }
        plan.once = matches!(plan.lanes, Some((Width::Narrow, _))) && operations(body) >= LARGE;
        Some(plan)
    }

    /// What stands around the statements of the loop.
    pub fn inside(&self, around: &Around) -> Around {
        let mut inside = around.clone();
        for (var, role) in &self.roles {
            if let Role::Owned { declared } = role {
                inside.arrays.insert(*var);
                inside.owned.insert(*var, *declared);
                inside.claimed.extend(declared.then_some((*var, self.var)));
            }
        }
        if let Adds::Atomically(arrays) = &self.adds {
            inside.atomic.extend(arrays);
        }
        inside
    }

    /// The plan on a line, with the names of a function.
    pub fn text(&self, function: &Function) -> String {
        let name = |var: &VarId| function.var(*var).name.as_str();
        let roles: Vec<String> = self.roles.iter().map(|(var, role)| role.text(function, *var)).collect();
        let lanes = match &self.lanes {
            Some((Width::Wide, lanes)) => format!("wide, {}", lanes.varying.text(function)),
            Some((Width::Narrow, lanes)) => {
                format!("narrow{}, {}", if self.once { " once" } else { "" }, lanes.varying.text(function))
            }
            None => "one by one".into(),
        };
        let fuses = if self.fuses { "; fused products" } else { "" };
        let adds = match &self.adds {
            Adds::InCopies => String::new(),
            Adds::Atomically(arrays) => {
                format!("; atomic {}", arrays.iter().map(name).collect::<Vec<_>>().join(" "))
            }
            Adds::AsAround => "; atomic as around".into(),
        };
        let work = self.work.text(function);
        let claims = self.claims.iter().flat_map(|claims| &claims.arrays).map(|(first, others)| {
            let names: Vec<&str> = [first].into_iter().chain(others).map(name).collect();
            format!("; known of {}", names.join(" = "))
        });
        let claims: String = claims.collect();
        format!("par {}: {}; {lanes}; work {work}{fuses}{adds}{claims}", name(&self.var), roles.join(", "))
    }
}

/// The plans of the parallel loops of a function, a line each, those inside of others further in.
pub fn loops(function: &Function) -> String {
    let mut out = String::new();
    function.grown(|| {
        write_loops(function, &Values::of(function), &Around::of(function), &function.body, 0, &mut out);
    });
    out
}

fn write_loops(
    function: &Function,
    values: &Values,
    around: &Around,
    block: &Block,
    depth: usize,
    out: &mut String,
) {
    for stmt in block {
        let (mut inside, mut deeper) = (around.clone(), depth);
        match &stmt.kind {
            StmtKind::For { var, parallel: Some(_), .. } => {
                let plan = Loop::of(function, values, around, stmt);
                let in_order = || {
                    let sums = sums_in_order(function, values, around, stmt);
                    let sums: String = sums.iter().map(|sum| format!(", {}", sum.text(function))).collect();
                    format!("for {}: in order{sums}", function.var(*var).name)
                };
                let line = plan.as_ref().map_or_else(in_order, |plan| plan.text(function));
                out.push_str(&format!("{}{line}\n", "    ".repeat(depth)));
                (inside, deeper) = (plan.map_or(inside, |plan| plan.inside(around)), depth + 1);
            }
            StmtKind::Unchecked { .. } => inside.checked = false,
            StmtKind::For { parallel: None, .. }
            | StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Let { .. }
            | StmtKind::Ancilla { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Inverse { .. } => {}
        }
        stmt.blocks().into_iter().for_each(|b| write_loops(function, values, &inside, b, deeper, out));
    }
}

fn adds(roles: &[(VarId, Role)], around: &Around) -> Adds {
    let inside = |(v, role): &(VarId, Role)| matches!(role, Role::Shared { .. }) && around.atomic.contains(v);
    if roles.iter().any(inside) {
        return Adds::AsAround;
    }
    let scattered = |(var, role): &(VarId, Role)| match role {
        Role::Shared { scattered: true, .. } => Some(*var),
        Role::Shared { .. } | Role::Element { .. } | Role::Read | Role::Owned { .. } => None,
    };
    let scattered: Vec<VarId> = roles.iter().filter_map(scattered).collect();
    match scattered.is_empty() {
        true => Adds::InCopies,
        false => Adds::Atomically(scattered),
    }
}

/// What an iteration uses of the arrays that are declared to be apart, where there are some and it is known.
fn known_claims(body: (VarId, &Block), values: &Values, roles: &[(VarId, Role)]) -> Option<Claims> {
    let declared = |(var, role): &(VarId, Role)| (*role == Role::Owned { declared: true }).then_some(*var);
    let arrays: BTreeSet<VarId> = roles.iter().filter_map(declared).collect();
    if arrays.is_empty() {
        return None;
    }
    Claims::of(body, &arrays, values)
}

/// What of a loop runs in lanes, where nothing in it is claimed.
fn lanes(
    function: &Function,
    around: &Around,
    (var, body): (VarId, &Block),
    roles: &[(VarId, Role)],
) -> Option<(Width, Lanes)> {
    let varying = Varying::of_loop(var, body);
    let claimed = |(var, role): &(VarId, Role)| {
        *role == Role::Owned { declared: true } || around.claimed.iter().any(|(array, _)| array == var)
    };
    if roles.iter().any(claimed) || !is_laned(function, &varying, body) || mostly_gathers(&varying, body) {
        return None;
    }
    // what a call leaves in a place that starts at zero is added
    let other = |(_, role): &&(VarId, Role)| role.sum().is_some_and(|sum| sum != Sum::Add);
    let other: BTreeSet<VarId> = roles.iter().filter(other).map(|(var, _)| *var).collect();
    if body.iter().any(|s| passes(s, &other)) {
        return None;
    }
    let shared = roles.iter().filter(|(_, role)| role.sum().is_some()).map(|(var, _)| *var).collect();
    Some((width(function, &varying, body), Lanes { varying, shared }))
}
