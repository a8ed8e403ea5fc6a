//! Which parallel loops leave the lanes to those inside of them.
//!
//! Elements that lie side by side are those of the last axis, which the loop further in goes along; and where a loop of few
//! iterations, of a batch, stands around one of many, lanes of the former would stay empty. Threads take the outer loop.

use crate::check::overlap::Values;
use crate::facts::trips;
use crate::ir::{Block, Function, Stmt, StmtKind};

use super::{Around, Loop};

/// A loop of fewer trips doesn't fill a group of lanes.
const FEW: u64 = 16;

/// Whether all loops in the body of a parallel loop run in lanes, or stand around such loops only. Not counted are loops of few trips;
/// in a branch there can't be any other.
pub fn has_lanes(function: &Function, values: &Values, around: &Around, body: &Block) -> bool {
    Search { function, values }.block(around, body) == Loops::InLanes
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loops {
    /// There are none but of few trips.
    None,
    /// They run in lanes.
    InLanes,
    /// One of them doesn't.
    OneByOne,
}

struct Search<'a> {
    function: &'a Function,
    values: &'a Values<'a>,
}

impl Search<'_> {
    fn block(&self, around: &Around, block: &Block) -> Loops {
        block.iter().map(|stmt| self.stmt(around, stmt)).max().unwrap_or(Loops::None)
    }

    fn stmt(&self, around: &Around, stmt: &Stmt) -> Loops {
        let unless_none = |loops| if loops == Loops::None { Loops::None } else { Loops::OneByOne };
        let of_blocks = |around: &Around| {
            let blocks = stmt.blocks().into_iter().map(|block| self.block(around, block));
            blocks.max().unwrap_or(Loops::None)
        };
        match &stmt.kind {
            StmtKind::For { range, .. } if trips(self.function, range).is_some_and(|trips| trips < FEW) => {
                unless_none(of_blocks(around))
            }
            StmtKind::For { parallel, body, .. } => {
                let plan = parallel.as_ref().and_then(|_| Loop::of(self.function, self.values, around, stmt));
                let loops = match plan {
                    Some(plan) if plan.lanes.is_some() => return Loops::InLanes,
                    Some(plan) => self.block(&plan.inside(around), body),
                    None => self.block(around, body),
                };
                match loops {
                    Loops::InLanes => Loops::InLanes,
                    Loops::None | Loops::OneByOne => Loops::OneByOne,
                }
            }
            StmtKind::If { .. } | StmtKind::While { .. } => unless_none(of_blocks(around)),
            StmtKind::Unchecked { .. } => of_blocks(&Around { checked: false, ..around.clone() }),
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Let { .. }
            | StmtKind::Ancilla { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Inverse { .. } => of_blocks(around),
        }
    }
}
