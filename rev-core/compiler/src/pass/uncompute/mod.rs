//! Automatic uncomputation: makes every managed ancilla explicit.
//!
//! A block `B` with managed ancillas `A` becomes `B; U⁻¹` with `U` the slice of `B` on `A`. Scopes
//! nest to the right (`anc a { S; anc b { T } }` is one block of the source), so each scope of such
//! a block undoes at its end what its own statements did to the ancillas that are alive there, the
//! inner ones first: all the ancillas of the block form one set, and may depend on each other.
//!
//! An ancilla that starts at zero and is moved to an outer stack at last is zero again, and needs nothing.
//!
//! What makes an inverse slice impossible is reported: a statement that changes an ancilla together
//! with something else (U1), and a write that changes what the slice has read (U2).

pub(in crate::pass) mod order;
mod slice;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::{fresh_names, inverse_block};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::facts::{Definitions, Indices};
use crate::ir::{
    Access, Block, Expr, ExprKind, Function, Mode, Number, Place, Release, Stmt, StmtKind, VarId, VarKind,
};
use order::ends_with_its_block;
use slice::{Fault, Role, Slicer};

/// Replaces every managed ancilla by one that is uncomputed explicitly, and inverse blocks by their
/// inverted statements. Ancillas that can't be uncomputed are reported and left as they are filled.
pub fn uncompute(function: &mut Function) -> Diagnostics {
    let body = std::mem::take(&mut function.body);
    let definitions = Definitions::of(&body);
    let mut pass = Pass { function, definitions, diagnostics: Diagnostics::default() };
    let body = pass.block(body, &BTreeSet::new());
    let diagnostics = pass.diagnostics;
    function.body = body;
    diagnostics
}

struct Pass<'f> {
    function: &'f mut Function,
    definitions: Definitions,
    diagnostics: Diagnostics,
}

impl Pass<'_> {
    /// A block (or the rest of one) at the end of which the managed ancillas `own` of the block are
    /// as they were at its start.
    fn block(&mut self, block: Block, own: &BTreeSet<VarId>) -> Block {
        let scope_at_end = block.last().is_some_and(ends_with_its_block);
        let last = block.len().saturating_sub(1);
        let mut out = Vec::new();
        for (index, stmt) in block.into_iter().enumerate() {
            let inherited = if scope_at_end && index == last { own.clone() } else { BTreeSet::new() };
            self.stmt(stmt, &inherited, &mut out);
        }
        if !own.is_empty() {
            let undo = self.undo(&out, scope_at_end, own);
            out.extend(undo);
        }
        out
    }

    fn stmt(&mut self, mut stmt: Stmt, inherited: &BTreeSet<VarId>, out: &mut Block) {
        match &mut stmt.kind {
            StmtKind::Inverse { body } => {
                let body = self.block(std::mem::take(body), &BTreeSet::new());
                return out.extend(inverse_block(&body));
            }
            StmtKind::Ancilla { var, init, release, body } => {
                let mut own = inherited.clone();
                if *release == Release::Managed && is_zero(init) && ends_pushed(body, *var, inherited) {
                    *release = Release::Checked;
                }
                if *release == Release::Managed {
                    own.insert(*var);
                    let exact = self.function.var(*var).ty.is_exact(&self.function.generics);
                    *release = match !exact && decides(body, *var) {
                        true => Release::Checked,
                        false => Release::Uncomputed,
                    };
                }
                *body = self.block(std::mem::take(body), &own);
            }
            StmtKind::Let { body, .. } => *body = self.block(std::mem::take(body), inherited),
            StmtKind::Compute { compute, body } => {
                *compute = self.block(std::mem::take(compute), &BTreeSet::new());
                *body = self.block(std::mem::take(body), inherited);
            }
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Call { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. } => {
                for block in stmt.blocks_mut() {
                    *block = self.block(std::mem::take(block), &BTreeSet::new());
                }
            }
        }
        out.push(stmt);
    }

    /// The inverse of what the statements of a block did to the ancillas `own`; a scope at its end
    /// has undone its part itself.
    fn undo(&mut self, block: &Block, scope_at_end: bool, own: &BTreeSet<VarId>) -> Block {
        let slicer = Slicer::new(block, Indices::new(&self.function.vars, &self.definitions), own);
        let (statements, scope) = block.split_at(block.len() - usize::from(scope_at_end));
        let mut slice = slicer.block(statements, own, &mut Vec::new());
        if let [scope] = scope {
            slice.faults.extend(slicer.tail(scope, statements.len(), own));
        }
        let mut undo = inverse_block(&slice.body);
        fresh_names(self.function, &mut undo);
        self.definitions.add(&undo);
        for (k, fault) in slice.faults.iter().enumerate() {
            if slice.faults[..k].iter().any(|f| f.same_cause(fault)) {
                continue;
            }
            let diagnostic = self.diagnostic(fault, own);
            self.diagnostics.push(diagnostic);
        }
        undo
    }

    /// What is wrong, for the managed ancillas `own`. The ancilla that a statement writes may be an inner
    /// one from which these are computed.
    fn diagnostic(&self, fault: &Fault, own: &BTreeSet<VarId>) -> Diagnostic {
        let (Fault::Mixed { ancilla: written, .. } | Fault::Changed { ancilla: written, .. }) = fault;
        let managed = own.get(written).or(own.first()).unwrap_or(written);
        let (name, via) = (self.name(*managed), self.name(*written));
        let d = match fault {
            Fault::Mixed { span, other, stack, .. } => {
                let code = if *stack { Code::UncomputeUnsupported } else { Code::AncillaMixed };
                let other = self.place(other);
                let what = match managed == written {
                    true => format!("the ancilla `{name}`"),
                    false => format!("`{via}`, which the ancilla `{name}` is computed from,"),
                };
                Diagnostic::new(code, *span, format!("this changes {what} together with `{other}`"))
                    .help(format!(
                        "bring `{name}` back to its first value yourself and write `release({name});`"
                    ))
                    .help(format!("or put what only prepares `{other}` in a `#[compute] {{ ... }}` block"))
            }
            Fault::Changed { read, role, write, release, wraps, .. } => {
                let (read_name, write_name) = (self.place(read), self.place(write));
                let does = if *release { "releases" } else { "changes" };
                let again = if *wraps { " for the next iteration" } else { "" };
                let message = format!(
                    "this {does} `{write_name}`{again}, which is needed to uncompute the ancilla `{name}`"
                );
                Diagnostic::new(Code::AncillaChangedRead, write.span, message)
                    .label(read.span, format!("`{read_name}` is read here {}", purpose(*role, via)))
                    .help(format!("end the scope of `{name}` before `{write_name}` changes (a block of its own)"))
                    .help(format!(
                        "or compute `{name}` from a copy of `{read_name}` that outlives it: an argument that keeps it"
                    ))
                    .help(format!("or keep the old value on a stack: `push(stack, {write_name})`"))
            }
        };
        d.label(self.function.var(*managed).span, uncomputed(name))
    }

    fn name(&self, var: VarId) -> &str {
        &self.function.var(var).name
    }

    fn place(&self, place: &Place) -> String {
        crate::text::show(self.function, place).to_string()
    }
}

/// Whether an ancilla starts at the zero that a push leaves.
fn is_zero(init: &Expr) -> bool {
    match &init.kind {
        ExprKind::Literal(Number::Int(0) | Number::Bool(false), _) | ExprKind::Zero(_) => true,
        ExprKind::Literal(Number::Float(x), _) => x.to_bits() == 0,
        _ => false,
    }
}

/// Whether the last change of an ancilla in its scope moves it to a stack that isn't among the ancillas `own`, which are
/// uncomputed together with it. Then it is zero.
fn ends_pushed(block: &[Stmt], ancilla: VarId, own: &BTreeSet<VarId>) -> bool {
    let changes = |stmt: &Stmt| {
        let mut found = false;
        stmt.each_access_deep(&mut |place, access| found |= place.var == ancilla && access != Access::Read);
        found
    };
    match block.iter().rev().find(|stmt| changes(stmt)).map(|stmt| &stmt.kind) {
        Some(StmtKind::Push { stack, place }) => place.path.is_empty() && !own.contains(&stack.var),
        Some(StmtKind::Let { body, .. } | StmtKind::Ancilla { body, .. }) => ends_pushed(body, ancilla, own),
        _ => false,
    }
}

/// The arguments, by their positions, that decide on the way back how often a loop of the function's own runs or which branch is
/// taken, and that are rounded: nothing in the program says what they have to come back as.
pub fn deciding_arguments(function: &Function) -> Vec<usize> {
    let decides = |var: &VarId| {
        let of = function.var(*var);
        let is_written = matches!(of.kind, VarKind::Param(Mode::Write | Mode::Accumulate));
        is_written && !of.ty.is_exact(&function.generics) && decides(&function.body, *var)
    };
    (0..).zip(&function.params).filter(|(_, var)| decides(var)).map(|(k, _)| k).collect()
}

/// Whether a value decides on the way back how often a loop runs or which branch is taken. If it is rounded, it may decide
/// otherwise than on the way there: then it doesn't come back by construction.
fn decides(block: &[Stmt], var: VarId) -> bool {
    block.iter().any(|stmt| {
        let post = match &stmt.kind {
            StmtKind::While { post, .. } => Some(post),
            StmtKind::If { post, .. } => post.as_ref(),
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Let { .. }
            | StmtKind::Ancilla { .. }
            | StmtKind::For { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => None,
        };
        post.is_some_and(|post| post.mentions(var))
            || stmt.blocks().into_iter().any(|block| decides(block, var))
    })
}

fn uncomputed(name: &str) -> String {
    format!("`{name}` is uncomputed at the end of its scope")
}

fn purpose(role: Role, name: &str) -> String {
    match role {
        Role::Operand => format!("to compute `{name}`"),
        Role::Condition | Role::Postcondition => format!("to decide how `{name}` is computed"),
        Role::Range => format!("for the range of a loop that computes `{name}`"),
        Role::Binding => format!("for a value that `{name}` is computed from"),
        Role::Compute => format!("in a compute part that `{name}` is computed from"),
    }
}
