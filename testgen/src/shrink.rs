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
