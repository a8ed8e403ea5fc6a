//! The program that a direction names of a function: what an interpreter or a backend runs.

use crate::check::lost_to_constants;
use crate::diag::Diagnostics;
use crate::ir::{Block, Direction, Function, Module, Release, StmtKind};

use super::{transpose::transposed, uncompute, verified_adjoint, verified_inverse, Adjoint};
use crate::validate::{verified, Form};

/// Why a module has no program of a function in a direction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undirected {
    /// The module has no function of that name.
    #[error("there is no function named `{0}`")]
    Missing(String),
    /// The first thing that keeps it from being reversed or differentiated.
    #[error("{0}")]
    Rejected(String),
}

/// The program of a function of a module in a direction, with explicit uncomputation.
///
/// The inverse comes first, then the adjoints; all but the last of these keep what only matters
/// for being differentiated again. The transpose of the last is what takes tangents in place of cotangents.
///
/// # Errors
///
/// A function that the module doesn't have, or that isn't reversible; for an adjoint, one that passes what
/// carries a derivative for a parameter that another declares constant.
pub fn directed(module: &Module, name: &str, direction: Direction) -> Result<Function, Undirected> {
    let Some(source) = module.functions.get(name) else {
        return Err(Undirected::Missing(name.to_string()));
    };
    source.grown(|| in_direction(module, source, direction))
}

fn in_direction(module: &Module, source: &Function, direction: Direction) -> Result<Function, Undirected> {
    let mut function = explicit(source)?;
    if direction.adjoint > 0 {
        accepted(&lost_to_constants(module, source))?;
    }
    if direction.inverse {
        function = verified(verified_inverse(&function), Form::Reversible, "the inverse");
    }
    for k in 0..direction.adjoint {
        let last = k + 1 == direction.adjoint;
        let form = match (last, direction.transposed) {
            (true, true) => Adjoint::TO_TRANSPOSE,
            (true, false) => Adjoint::LEAN,
            (false, _) => Adjoint::REVERSIBLE,
        };
        function =
            function.grown(|| verified(verified_adjoint(&function, form), Form::Reversible, "the adjoint"));
    }
    if direction.transposed {
        function = function.grown(|| verified(transposed(&function), Form::Reversible, "the tangents"));
    }
    accepted(&function.defects)?;
    Ok(function)
}

/// The function without managed ancillas and inverse blocks.
fn explicit(source: &Function) -> Result<Function, Undirected> {
    let mut function = source.clone();
    if is_explicit(&source.body) {
        return Ok(function);
    }
    accepted(&uncompute(&mut function))?;
    Ok(verified(function, Form::Reversible, "uncomputation"))
}

fn accepted(diagnostics: &Diagnostics) -> Result<(), Undirected> {
    match diagnostics.iter().next() {
        None => Ok(()),
        Some(first) => Err(Undirected::Rejected(first.message.clone())),
    }
}

fn is_explicit(block: &Block) -> bool {
    block.iter().all(|s| {
        let own = match &s.kind {
            StmtKind::Ancilla { release, .. } => *release != Release::Managed,
            StmtKind::Inverse { .. } => false,
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Let { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. } => true,
        };
        own && s.blocks().into_iter().all(is_explicit)
    })
}
