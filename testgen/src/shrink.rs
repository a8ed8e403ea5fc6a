//! Smaller programs that still fail, for reading.

use rev_core::ir::{Block, Expr, Function, Stmt, StmtKind};

use crate::Program;

/// Removes statements, parts of expressions, functions and parameters as long as the program `fails`, which
/// is asked at most as often as `tries` says.
pub fn shrink(program: &Program, tries: u64, fails: &dyn Fn(&Program) -> bool) -> Program {
    let mut search = Search { best: program.clone(), fails, left: tries };
    loop {
        let before = search.left;
        let size = search.best.text().len();
        search.functions();
        for k in (0..search.best.functions.len()).rev() {
            search.statements(k);
            search.expressions(k);
        }
        search.parameters();
        if search.left == 0 || search.left == before || search.best.text().len() == size {
            return search.best;
        }
    }
}

/// The smallest program so far.
struct Search<'f> {
    best: Program,
    fails: &'f dyn Fn(&Program) -> bool,
    left: u64,
}

impl Search<'_> {
    /// Keeps a candidate if it fails too.
    fn attempt(&mut self, candidate: Program) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let failed = (self.fails)(&candidate);
        if failed {
            self.best = candidate;
        }
        failed
    }

    /// Leaves out functions that are not called.
    fn functions(&mut self) {
        for k in (0..self.best.functions.len().saturating_sub(1)).rev() {
            let mut smaller = self.best.clone();
            smaller.functions.remove(k);
            smaller.signatures.remove(k);
            self.attempt(smaller);
        }
    }

    /// Leaves out statements of a function, or what is around them, the largest first.
    fn statements(&mut self, k: usize) {
        let mut n = 0;
        while n < count(&self.best.functions[k].body) {
            let smaller = [Edit::Remove, Edit::Unwrap(0), Edit::Unwrap(1)].into_iter().any(|how| {
                let mut smaller = self.best.clone();
                edit(&mut smaller.functions[k].body, &mut { n }, how) && self.attempt(smaller)
            });
            n += usize::from(!smaller);
        }
    }

    /// Replaces expressions of a function by their parts, outer ones first.
    fn expressions(&mut self, k: usize) {
        let total = |f: &Function| {
            let mut total = 0;
            each_expr(&mut f.body.clone(), &mut |_| total += 1);
            total
        };
        let mut n = 0;
        while n < total(&self.best.functions[k]) {
            let smaller = (0..3).any(|part| {
                let mut smaller = self.best.clone();
                replace(&mut smaller.functions[k].body, n, part) && self.attempt(smaller)
            });
            n += usize::from(!smaller);
        }
    }

    /// Leaves out parameters of the last function that nothing mentions.
    fn parameters(&mut self) {
        let last = self.best.functions.len() - 1;
        for at in (0..self.best.functions[last].params.len()).rev() {
            let mut smaller = self.best.clone();
            smaller.functions[last].params.remove(at);
            smaller.signatures[last].params.remove(at);
            // without its line the variable isn't there: its uses, if any, don't fit the text form
            let text = rev_core::text::print_function(&smaller.functions[last]);
            let Ok(function) = rev_core::text::parse_function(&text) else { continue };
            smaller.functions[last] = function;
            self.attempt(smaller);
        }
    }
}

#[derive(Clone, Copy)]
enum Edit {
    Remove,
    /// Replace a statement by its inner block with this number.
    Unwrap(usize),
}

fn count(block: &Block) -> usize {
    block.iter().map(|s| 1 + s.blocks().into_iter().map(count).sum::<usize>()).sum()
}

/// Edits the `n`th statement of a block, counted through inner blocks; whether there was something to do.
fn edit(block: &mut Block, n: &mut usize, how: Edit) -> bool {
    for at in 0..block.len() {
        if *n == 0 {
            match how {
                Edit::Remove => drop(block.remove(at)),
                Edit::Unwrap(k) => {
                    let Some(inner) = block[at].blocks_mut().into_iter().nth(k).map(std::mem::take) else {
                        return false;
                    };
                    block.splice(at..=at, inner);
                }
            }
            return true;
        }
        *n -= 1;
        for inner in block[at].blocks_mut() {
            let size = count(inner);
            if *n < size {
                return edit(inner, n, how);
            }
            *n -= size;
        }
    }
    false
}

/// Replaces the `n`th expression of a block by one of its parts; whether it has that part.
fn replace(block: &mut Block, n: usize, part: usize) -> bool {
    let (mut at, mut done) = (0, false);
    each_expr(block, &mut |e| {
        if at == n {
            let mut children = Vec::new();
            e.each_child(&mut |c| children.push(c.clone()));
            if let Some(child) = children.into_iter().nth(part) {
                *e = child;
                done = true;
            }
        }
        at += 1;
    });
    done
}

/// Calls `f` on every expression of a block, outer ones first.
fn each_expr(block: &mut Block, f: &mut dyn FnMut(&mut Expr)) {
    for s in block {
        each_own(s, f);
        for inner in s.blocks_mut() {
            each_expr(inner, f);
        }
    }
}

fn each_own(s: &mut Stmt, f: &mut dyn FnMut(&mut Expr)) {
    fn deep(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
        f(e);
        e.each_child_mut(&mut |c| deep(c, f));
    }
    match &mut s.kind {
        StmtKind::Update { expr, .. } | StmtKind::Let { expr, .. } => deep(expr, f),
        StmtKind::If { cond, post: None, .. } => deep(cond, f),
        StmtKind::Instr { .. }
        | StmtKind::Ancilla { .. }
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::For { .. }
        | StmtKind::Call { .. }
        | StmtKind::Compute { .. }
        | StmtKind::Push { .. }
        | StmtKind::Pop { .. }
        | StmtKind::Release { .. }
        | StmtKind::External { .. }
        | StmtKind::Unchecked { .. }
        | StmtKind::Inverse { .. } => {}
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use std::cell::Cell;

    use rev_core::ir::Mode;
    use rev_core::text::parse_function;

    use super::*;
    use crate::suite::{smaller, Failure, Tally};
    use crate::{Param, Signature, What};

    const CALLEE: &str = "fn g(y: &mut f64, x: f64) {
        y += sin(x)
    }";
    const CALLER: &str = "fn f(y: &mut f64, z: &mut f64, x: f64, w: f64) {
        z += w
        for i in 0..3 {
            if x > 0.0 {
                let n: f64 = x * w + 1.0 {
                    y += cos(2.0 * x + exp(n))
                }
            } else {
                y -= x
            }
        }
        call g(&mut z, w)
    }";

    fn program() -> Program {
        let functions: Vec<Function> = [CALLEE, CALLER].map(|text| parse_function(text).unwrap()).into();
        let signature = |f: &Function| {
            let param = |name: &str| {
                let mode = if "yz".contains(name) { Mode::Write } else { Mode::Read };
                Param { name: name.to_owned(), what: What::Real, mode, by_reference: false }
            };
            Signature {
                name: f.name.clone(),
                params: f.params.iter().map(|p| param(&f.var(*p).name)).collect(),
                exact: false,
                any_length: false,
                strided: false,
                accumulates: true,
                loops_allowed: 0,
            }
        };
        Program { seed: 0, signatures: functions.iter().map(signature).collect(), functions, long: 5 }
    }

    fn legal_with(program: &Program, what: &str) -> bool {
        program.text().contains(what) && program.checked_module().is_ok()
    }

    #[test]
    fn what_a_failure_needs_is_left() {
        let small = shrink(&program(), 1000, &|p| legal_with(p, "exp("));
        let expected = "fn f(y: &mut f64, x: f64) {\n    let n: f64 = x {\n        y += exp(n)\n    }\n}";
        assert_eq!(small.text(), expected);
        let names: Vec<_> = small.signatures.iter().flat_map(|s| &s.params).map(|p| &p.name[..]).collect();
        assert_eq!(names, ["y", "x"]);

        let small = shrink(&program(), 1000, &|p| legal_with(p, "sin("));
        assert!(small.text().contains("y += sin(x)") && !small.text().contains("exp("), "{}", small.text());
    }

    #[test]
    fn it_tries_as_often_as_allowed_and_keeps_what_does_not_fail_otherwise() {
        let asked = Cell::new(0);
        let small = shrink(&program(), 7, &|p| {
            asked.set(asked.get() + 1);
            legal_with(p, "exp(")
        });
        assert_eq!(asked.get(), 7);
        assert!(legal_with(&small, "exp("));
        assert_eq!(shrink(&program(), 1000, &|_| false).text(), program().text());
    }

    /// A program that is wrong in several ways becomes smaller in the one that was found.
    #[test]
    fn it_stays_with_the_kind_of_failure() {
        let check = |p: &Program, _: &mut Tally| {
            let text = p.text();
            p.checked_module().map_err(|e| Failure::new("it is legal", e.to_string()))?;
            assert!(!text.contains("cos("), "an unknown function");
            for (word, kind) in [("for ", "Loop"), ("exp(", "Exponential"), ("+=", "Sum")] {
                if text.contains(word) {
                    return Err(Failure::new("nothing is written", text).of_kind(format_args!("{kind}")));
                }
            }
            Ok(())
        };
        let shrunk = |property, kind: &str| {
            let found = Failure { property, kind: kind.to_owned(), message: String::new() };
            let (program, failure) = smaller(&program(), &found, &check, 1000);
            assert_eq!((failure.property, &failure.kind[..]), (property, kind));
            program.text()
        };
        assert_eq!(shrunk("nothing panics", ""), "fn f(y: &mut f64) {\n    y += cos(2.0)\n}");
        assert_eq!(shrunk("nothing is written", "Loop"), "fn f() {\n    for i in 0..3 {\n    }\n}");
    }
}
