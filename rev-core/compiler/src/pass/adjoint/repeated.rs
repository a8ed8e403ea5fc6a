//! The bodies of loops: which shadows are zero in every iteration.
//!
//! A shadow is, if no iteration changes it, which depends on the other shadows that are. So the body is made as if
//! none was changed, and again without those that then were, until that is so. What an attempt at a body
//! found to be changed is changed in every later one, which starts with fewer zeros: the loops inside it
//! begin with what they found before, so that nested loops are made as often as there is something to be found,
//! and not again from the start by each attempt at the loop around them.

use std::collections::{BTreeMap, BTreeSet};

use super::Builder;
use crate::ir::{Block, Stmt, VarId};

/// What was found of the loops of a block while it was made, in the order in which they are made.
#[derive(Default)]
pub(super) struct Tried {
    loops: Vec<Loop>,
    /// How many were made in the attempt that is being made.
    made: usize,
}

/// What was found of a loop.
#[derive(Default)]
struct Loop {
    /// The variables whose shadows an iteration changes.
    changed: BTreeSet<VarId>,
    inside: Vec<Loop>,
}

/// The state of a builder before an attempt: everything that an attempt changes and the next one must not
/// see.
struct Savepoint {
    vars: usize,
    shadows: BTreeMap<VarId, VarId>,
    active: BTreeSet<VarId>,
    spares: BTreeMap<VarId, VarId>,
    zero: BTreeSet<VarId>,
}

impl Builder<'_> {
    fn save(&self) -> Savepoint {
        // every field is named here and in `restore`: a new one belongs to the savepoint, or is said not to
        let Builder {
            out,
            shadows,
            active,
            spares,
            zero,
            tried: _,
            form: _,
            elements: _,
            fusing: _,
            values: _,
            complex: _,
        } = self;
        Savepoint {
            vars: out.vars.len(),
            shadows: shadows.clone(),
            active: active.clone(),
            spares: spares.clone(),
            zero: zero.clone(),
        }
    }

    fn restore(&mut self, to: &Savepoint) {
        let Builder {
            out,
            shadows,
            active,
            spares,
            zero,
            tried: _,
            form: _,
            elements: _,
            fusing: _,
            values: _,
            complex: _,
        } = self;
        out.vars.truncate(to.vars);
        shadows.clone_from(&to.shadows);
        active.clone_from(&to.active);
        spares.clone_from(&to.spares);
        zero.clone_from(&to.zero);
    }

    /// The adjoint of a loop's body.
    pub(super) fn repeated(&mut self, body: &[Stmt]) -> Block {
        if !self.form.elide_zero {
            return self.block(body);
        }
        let mut own = self.tried.next();
        self.not_zero(&own.changed);
        let mut before = self.save();
        let around = std::mem::take(&mut self.tried);
        loop {
            self.tried = Tried { loops: std::mem::take(&mut own.inside), made: 0 };
            let made = self.block(body);
            own.inside = std::mem::take(&mut self.tried.loops);
            let changed = before.changed(&self.zero);
            if changed.is_empty() {
                self.tried = around;
                self.tried.note(own);
                return made;
            }
            self.restore(&before);
            self.not_zero(&changed);
            before.zero.clone_from(&self.zero);
            own.changed.extend(changed);
        }
    }

    /// The shadows of some variables aren't zero.
    fn not_zero(&mut self, variables: &BTreeSet<VarId>) {
        for shadow in variables.iter().filter_map(|v| self.shadows.get(v)) {
            self.zero.remove(shadow);
        }
    }
}

impl Savepoint {
    /// The variables whose shadows were zero here and aren't any more.
    fn changed(&self, zero: &BTreeSet<VarId>) -> BTreeSet<VarId> {
        let was = |shadow: &VarId| self.zero.contains(shadow) && !zero.contains(shadow);
        self.shadows.iter().filter(|(_, shadow)| was(shadow)).map(|(var, _)| *var).collect()
    }
}

impl Tried {
    /// What is known of the loop that is made next.
    fn next(&mut self) -> Loop {
        self.loops.get_mut(self.made).map(std::mem::take).unwrap_or_default()
    }

    /// Keeps what was found of it.
    fn note(&mut self, found: Loop) {
        match self.loops.get_mut(self.made) {
            Some(known) => *known = found,
            None => self.loops.push(found),
        }
        self.made += 1;
    }
}
