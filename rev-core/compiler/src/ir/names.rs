//! Which names a function's variables have, so that a new one is found without looking through all of them.

use std::collections::HashMap;

use super::Var;

/// The names of the first variables of a function: a memory of what [`Function::vars`](super::Function::vars) says,
/// which is empty when nobody has asked.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Each name, with the least number that may make a new one of it.
    taken: HashMap<String, usize>,
    /// How many variables are in it.
    known: usize,
}

impl Names {
    /// `name`, else `name2`, `name3`, …: the first that no variable has.
    pub(super) fn free(&mut self, name: String, vars: &[Var]) -> String {
        self.learn(vars);
        let Some(&least) = self.taken.get(&name) else { return name };
        let numbered = |k: usize| format!("{name}{k}");
        let free = (least..).find(|k| !self.taken.contains_key(&numbered(*k))).unwrap_or(least);
        let out = numbered(free);
        self.taken.insert(name, free + 1);
        out
    }

    fn learn(&mut self, vars: &[Var]) {
        if self.known > vars.len() {
            *self = Names::default();
        }
        for var in &vars[self.known..] {
            self.taken.entry(var.name.clone()).or_insert(2);
        }
        self.known = vars.len();
    }
}

/// What is remembered says nothing about a function.
impl PartialEq for Names {
    fn eq(&self, _: &Names) -> bool {
        true
    }
}
