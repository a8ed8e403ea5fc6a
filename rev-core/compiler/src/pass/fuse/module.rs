//! A whole module about a fused program.

use std::collections::BTreeSet;

use super::fuse;
use crate::facts::{accumulated_by, PassedOn};
use crate::ir::{Block, Callee, Derived, Direction, Function, FunctionPath, Module, StmtKind};
use crate::pass::directed;
use crate::pass::erase::{erase_marking, Wanted};
use crate::validate::{verified, Form};

/// How many calls deep it is followed whether a program can be fused.
const DEPTH: u32 = 6;

impl Module {
    /// The module about the entry's fused program, to be run forward without checks with the arguments
    /// of the adjoint: from the state before the function and the cotangents after it to the state
    /// after it and the cotangents before it. `None` where there is no such program.
    pub fn fused(&self) -> Option<Module> {
        let mut module = self.clone();
        add_fused(&mut module, &self.entry, DEPTH)?;
        module.entry = Derived::Fused.of(&self.entry);
        Some(module)
    }
}

fn add_fused(module: &mut Module, name: &str, depth: u32) -> Option<()> {
    let own = Derived::Fused.of(name);
    if module.functions.contains_key(&own) {
        return Some(());
    }
    let depth = depth.checked_sub(1)?;
    let fused = fuse(&directed(module, name, Direction::FORWARD).ok()?)?;
    for path in &fused.fuses {
        let callee = module.resolve(name, path.as_str()).to_string();
        add_fused(module, &callee, depth)?;
    }
    if !fused.accumulates.iter().all(|rule| accumulates(module, name, rule, depth)) {
        return None;
    }
    add(module, name, own, fused.into_inner())
}

/// The adjoint that restores no state.
fn add_shadows(module: &mut Module, name: &str) -> Option<()> {
    let own = Derived::Shadows.of(name);
    if module.functions.contains_key(&own) {
        return Some(());
    }
    let adjoint = directed(module, name, Direction::ADJOINT).ok()?;
    let shadows = verified(erase_marking(&adjoint, Wanted::Shadows), Form::Forward, "erasing");
    add(module, name, own, shadows)
}

/// Adds a program of the function `of` under a name, with those of its callees that it calls.
fn add(module: &mut Module, of: &str, own: String, mut function: Function) -> Option<()> {
    let mut links = module.links.get(of).cloned().unwrap_or_default();
    let mut paths = BTreeSet::new();
    called(&function.body, &mut paths);
    for path in &paths {
        for derived in [Derived::Fused, Derived::Shadows] {
            if let Some(bare) = path.without(derived) {
                links.insert(path.to_string(), derived.of(module.resolve(of, bare.as_str())));
            }
        }
    }
    function.name = own.clone();
    module.links.insert(own.clone(), links);
    module.functions.insert(own, function);
    for bare in paths.iter().filter_map(|p| p.without(Derived::Shadows)) {
        let callee = module.resolve(of, bare.as_str()).to_string();
        add_shadows(module, &callee)?;
    }
    Some(())
}

/// Whether a callee only accumulates into a parameter.
fn accumulates(module: &Module, caller: &str, rule: &PassedOn, depth: u32) -> bool {
    let callee = module.resolve(caller, rule.callee.as_str());
    let Some(depth) = depth.checked_sub(1) else { return false };
    let Some(function) = module.functions.get(callee) else { return false };
    let calls = function.params.get(rule.argument).and_then(|p| accumulated_by(function, *p));
    calls.is_some_and(|calls| calls.iter().all(|rule| accumulates(module, callee, rule, depth)))
}

fn called(block: &Block, paths: &mut BTreeSet<FunctionPath>) {
    for stmt in block {
        if let StmtKind::Call { callee: Callee::Path(path), .. } = &stmt.kind {
            paths.insert(path.clone());
        }
        stmt.blocks().into_iter().for_each(|b| called(b, paths));
    }
}
