//! What is run with checks and what without: one program where possible, with checks that cost next to nothing where
//! they aren't made, else two.

use super::{erase, erase_unproven, plain, Erased, Wanted};
use crate::check::overlap::{compared, Values};
use crate::check::Checked;
use crate::ir::{Block, Function, Release, StmtKind};

/// What is left of a program to be run.
#[derive(Clone, Debug, PartialEq)]
pub enum Forms {
    /// With checks and without, the same statements.
    One(Erased),
    /// Checks need statements that nothing else does, or are made so often that a program without them is worth having.
    Two {
        /// Where checks are on.
        checked: Erased,
        /// Where they are off.
        unchecked: Erased,
    },
}

impl Forms {
    /// Of a function, of whose written arguments these are wanted.
    pub fn of(function: &Checked, wanted: Wanted) -> Forms {
        let unchecked = erase(function, wanted);
        if !function.checks {
            return Forms::One(unchecked);
        }
        let checked = erase_unproven(function, wanted);
        let same = plain::plain(&checked) == *unchecked && checked.forgetful == unchecked.forgetful;
        match same && !compares(&checked.body, &Values::of(&checked)) {
            true => Forms::One(checked),
            false => Forms::Two { checked, unchecked },
        }
    }

    /// With repeated functions of values that don't change computed once.
    pub fn shared(self) -> Forms {
        match self {
            Forms::One(one) => Forms::One(one.shared()),
            Forms::Two { checked, unchecked } => {
                Forms::Two { checked: checked.shared(), unchecked: unchecked.shared() }
            }
        }
    }

    /// Whether checks ask anything, the calls aside.
    pub fn asks(&self) -> bool {
        match self {
            Forms::One(one) => one.checks && asks(one, &one.body),
            Forms::Two { .. } => true,
        }
    }
}

/// Whether checks compare indices at statements, or what ancillas hold, which is watched all the time.
pub fn compares(block: &Block, values: &Values) -> bool {
    block.iter().any(|stmt| {
        let own = match &stmt.kind {
            StmtKind::Ancilla { release, .. } => *release == Release::Checked,
            StmtKind::Release { .. } => true,
            StmtKind::Unchecked { .. } => return false,
            StmtKind::Update { .. } | StmtKind::Instr { .. } => !compared(stmt, values).is_empty(),
            StmtKind::Let { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::External { .. }
            | StmtKind::Inverse { .. } => false,
        };
        own || stmt.blocks().into_iter().any(|b| compares(b, values))
    })
}

/// Whether statements claim anything that isn't proven: that places differ, that ancillas are brought back, postconditions,
/// that what is popped onto holds nothing, which iterations touch what.
pub fn claims(block: &Block, values: &Values) -> bool {
    compares(block, values) || claims_more(block)
}

fn claims_more(block: &Block) -> bool {
    block.iter().any(|stmt| {
        let own = match &stmt.kind {
            StmtKind::If { post, .. } => post.is_some(),
            StmtKind::For { parallel, .. } => {
                parallel.as_ref().is_some_and(|p| !p.injective.is_empty() || !p.disjoint.is_empty())
            }
            StmtKind::Unchecked { .. } => return false,
            StmtKind::While { .. } | StmtKind::Pop { .. } => true,
            StmtKind::Ancilla { .. }
            | StmtKind::Release { .. }
            | StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Let { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::External { .. }
            | StmtKind::Inverse { .. } => false,
        };
        own || stmt.blocks().into_iter().any(claims_more)
    })
}

/// Whether anything is asked of values, the calls' arguments aside.
fn asks(function: &Function, block: &Block) -> bool {
    block.iter().any(|stmt| {
        let own = match &stmt.kind {
            StmtKind::Ancilla { var, release, .. } => {
                *release != Release::Dropped && !function.var(*var).ty.is_exact(&function.generics)
            }
            StmtKind::If { post, .. } => post.is_some(),
            StmtKind::For { parallel, .. } => parallel.is_some(),
            StmtKind::Unchecked { .. } => return false,
            StmtKind::Release { .. } | StmtKind::While { .. } | StmtKind::Pop { .. } => true,
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Let { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::External { .. }
            | StmtKind::Inverse { .. } => false,
        };
        own || stmt.blocks().into_iter().any(|b| asks(function, b))
    })
}
