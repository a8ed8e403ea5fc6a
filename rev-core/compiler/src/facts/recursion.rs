//! Which functions can call themselves, by way of others too.

use std::collections::{BTreeSet, HashMap};

use crate::ir::{Block, Callee, Function, FunctionPath, Module, StmtKind};

/// The calls of a function, at any depth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls<'f> {
    /// The functions that it names.
    pub paths: BTreeSet<&'f FunctionPath>,
    /// Whether it calls a function that it is given, which can be any.
    pub given: bool,
}

/// The calls of a function.
pub fn calls(function: &Function) -> Calls<'_> {
    fn collect<'f>(block: &'f Block, found: &mut Calls<'f>) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Call { callee: Callee::Path(path), .. } => drop(found.paths.insert(path)),
                StmtKind::Call { callee: Callee::Param(_), .. } => found.given = true,
                _ => stmt.blocks().into_iter().for_each(|inner| collect(inner, found)),
            }
        }
    }
    let mut found = Calls::default();
    function.grown(|| collect(&function.body, &mut found));
    found
}

/// Whether a run of a function may be inside another run of the same function, or calls one of which that is so. A
/// function that calls what it is given counts as one.
pub fn recursive(module: &Module, name: &str) -> bool {
    let called = |name: &str| {
        let calls = module.functions.get(name).map(calls).unwrap_or_default();
        let paths = calls.paths.iter().map(|path| module.resolve(name, path.as_str()).to_string());
        (calls.given, paths.collect::<Vec<_>>())
    };
    // depth first, without a recursion of its own: the way, with what is left to look at in each function, and
    // whether a function that was met is still on the way
    let mut way = vec![(name.to_string(), called(name))];
    let mut met = HashMap::from([(name.to_string(), true)]);
    while let Some((here, (given, left))) = way.last_mut() {
        if *given {
            return true;
        }
        let Some(next) = left.pop() else {
            met.insert(std::mem::take(here), false);
            way.pop();
            continue;
        };
        match met.get(&next) {
            Some(true) => return true,
            Some(false) => {}
            None => {
                met.insert(next.clone(), true);
                let calls = called(&next);
                way.push((next, calls));
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_module;

    #[test]
    fn cycles_are_found_and_shared_callees_are_none() {
        let module = parse_module(
            "module top
             fn leaf(x: &mut f64) { x += 1.0 }
             fn left(x: &mut f64) { call leaf(&mut x) }
             fn right(x: &mut f64) { call leaf(&mut x) call left(&mut x) }
             fn top(x: &mut f64) { call left(&mut x) call right(&mut x) }
             fn even(x: &mut f64, n: i64) { if n > 0 { call odd(&mut x, n - 1) } }
             fn odd(x: &mut f64, n: i64) { call even(&mut x, n - 1) }
             fn outer(x: &mut f64) { call leaf(&mut x) call even(&mut x, 3) }",
        )
        .unwrap();
        for name in ["leaf", "left", "right", "top", "nowhere"] {
            assert!(!recursive(&module, name), "{name}");
        }
        for name in ["even", "odd", "outer"] {
            assert!(recursive(&module, name), "{name}");
        }
    }
}
