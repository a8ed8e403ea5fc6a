//! The reversible intermediate representation: what a program is, between the macro that reads it
//! and the backends that run it.
//!
//! A program is structured (regions, not a flow graph), carries source spans and is polymorphic in
//! its scalar types. A [`Function`] acts on *places*; every [`Stmt`] maps states to states and has
//! an inverse that is again a statement, so the inverse and the adjoint of a program are programs.
//!
//! # The statements
//!
//! `S⁻¹` is the inverse, a bar marks a shadow (the gradient storage of a variable), a dot a tangent (its derivative
//! along a direction, a variable of the same type).
//!
//! | statement | effect | inverse | requires | adjoint (values, then shadows) | tangent |
//! | --- | --- | --- | --- | --- | --- |
//! | [`Update`](StmtKind::Update) `p ⊕= e` | accumulates `e` into `p` | the other sign (`^=`: itself) | `e` and the indices of `p` don't read `p` (R1) | `p ⊖= e`; `x̄ += p̄ ∂e/∂x` for each `x` read | `ṗ ⊕= Σ ẋ ∂e/∂x; p ⊕= e` |
//! | [`Instr`](StmtKind::Instr) `swap(p, q)`, … | an instruction of the [table](crate::ops::Instr) | its row's | distinct places | its row's | the same on the tangents of the places, and what the operands' tangents add |
//! | [`Let`](StmtKind::Let) `let n = e { S }` | a pure name for `e` in `S` | `let n = e { S⁻¹ }` | `S` writes nothing that `e` reads (R2) | `let n = e { n̄ = 0; adjoint(S); x̄ += n̄ ∂e/∂x }` | `let n = e { let ṅ = Σ ẋ ∂e/∂x { tangent(S) } }` |
//! | [`Ancilla`](StmtKind::Ancilla) `anc a = e0 { S }` | storage that starts at `e0` and holds it again at the end | `anc a = e0 { S⁻¹ }` | `e0` depends on no differentiable value (R3) | `anc a = e0, ā = 0 { adjoint(S) }`, `ā` is dropped | `anc a = e0, ȧ = 0 { tangent(S) }` |
//! | [`If`](StmtKind::If) `if c { S } else { T } post q` | a branch | `if q { S⁻¹ } else { T⁻¹ } post c` | `q` is true after `S`, false after `T` (R4) | the same exchange, branches by `adjoint` | `if c { tangent(S) } else { tangent(T) } post q` |
//! | [`While`](StmtKind::While) `while c post q { S }` | a loop | `while q post c { S⁻¹ }` | `q` false on entry, true after each iteration (R5) | the same exchange | `while c post q { tangent(S) }` |
//! | [`For`](StmtKind::For) `for i in r { S }` | counts | the same values in reverse order, `S⁻¹` | `S` writes neither `i` nor what `r` reads (R6) | the reversed range, `adjoint(S)` | `for i in r { tangent(S) }` |
//! | `par for` | the same, iterations independent | the same | P1 to P3 | parallel again | parallel again |
//! | [`Call`](StmtKind::Call) | another function | the uncall | written arguments distinct (R7) | the callee's adjoint | the callee's tangent |
//! | [`Compute`](StmtKind::Compute) `compute A { B }` | `A; B; A⁻¹` | `A; B⁻¹; A⁻¹` | | `adjoint` of `A; B; A⁻¹` | `compute tangent(A) { tangent(B) }` |
//! | [`Push`](StmtKind::Push)/[`Pop`](StmtKind::Pop) | moves to, from a stack; the place is zero after, before | each other | | each other, on the shadows too | the same on the tangents too |
//! | [`Release`](StmtKind::Release) `release(a, e0)` | asserts that `a` holds `e0`; `a` may not be used after | itself | | itself on values | `release(ȧ, 0)` too |
//! | [`External`](StmtKind::External) | any Rust that leaves the state alone | itself | | nothing | itself |
//! | [`Inverse`](StmtKind::Inverse) `inverse { S }` | `S⁻¹`; gone after the uncompute pass | `S` | | | `inverse { tangent(S) }` |
//! | [`Unchecked`](StmtKind::Unchecked) `{ S }` | `S` without reversibility checks | `{ S⁻¹ }` unchecked | | the same | `{ tangent(S) }` unchecked |
//!
//! Expressions ([`Expr`]) are pure and total; they read places and bindings only. Integer
//! arithmetic wraps (that is what makes it exactly reversible); an integer division by zero is an
//! error of the statement it stands in.
//!
//! # Names
//!
//! Inside a function every variable has a [`VarId`], an index into [`Function::vars`]; names are
//! unique within a function, so that the text form needs nothing else.

mod bindings;
mod build;
mod deep;
mod expr;
mod names;
mod path;
mod place;
mod scalar;
mod stmt;
mod types;
mod walk;

pub use bindings::*;
pub use deep::*;
pub use expr::*;
pub use names::*;
pub use path::*;
pub use place::*;
pub use scalar::*;
pub use stmt::*;
pub use types::*;
pub use walk::*;
