//! What passes make, run beside what they made it from.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "passes/adjoint.rs"]
mod adjoint;
#[path = "passes/erase.rs"]
mod erase;
#[path = "passes/expand.rs"]
mod expand;
#[path = "passes/fuse.rs"]
mod fuse;
#[path = "passes/share.rs"]
mod share;
#[path = "passes/taylor.rs"]
mod taylor;
