//! What passes make, run beside what they made it from.

#![allow(clippy::unwrap_used, clippy::panic)]

use rev_core::check::check_module;
use rev_core::ir::Module;
use rev_core::text::parse_module;

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
#[path = "passes/tangent.rs"]
mod tangent;
#[path = "passes/taylor.rs"]
mod taylor;
#[path = "passes/untaken.rs"]
mod untaken;

/// The module about the function `f` of a text, whose statements may stand on one line.
fn module(text: &str) -> Module {
    rev_core::validate::switch_on();
    let module = parse_module(&format!("module f\n{}", text.replace("; ", "\n"))).unwrap();
    check_module(module).unwrap_or_else(|d| panic!("{}", d.render("test", text)))
}
