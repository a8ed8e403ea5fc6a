//! Smaller programs that still fail, for reading.

use rev_core::ir::{Block, Expr, Function, Stmt};

/// Removes statements and parts of expressions as long as the function `fails`.
pub fn shrink(function: &Function, fails: &dyn Fn(&Function) -> bool) -> Function {
    let mut best = function.clone();
    loop {
        let smaller = candidates(&best).into_iter().find(|f| fails(f));
        match smaller {
            Some(f) => best = f,
            None => return best,
        }
    }
}

/// The function with one thing less, the largest things first.
fn candidates(f: &Function) -> Vec<Function> {
    let mut out = Vec::new();
    for n in 0..count(&f.body) {
        for replacement in [Edit::Remove, Edit::Unwrap(0), Edit::Unwrap(1)] {
            let mut g = f.clone();
            if edit(&mut g.body, &mut { n }, replacement) {
                out.push(g);
            }
        }
    }
    let mut total = 0;
    each_expr(&mut f.clone().body, &mut |_| total += 1);
    for n in 0..total {
        for child in 0..3 {
            let mut g = f.clone();
            let (mut at, mut done) = (0, false);
            each_expr(&mut g.body, &mut |e| {
                if at == n {
                    let mut children = Vec::new();
                    e.each_child(&mut |c| children.push(c.clone()));
                    if let Some(c) = children.into_iter().nth(child) {
                        *e = c;
                        done = true;
                    }
                }
                at += 1;
            });
            if done {
                out.push(g);
            }
        }
    }
    out
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
    use rev_core::ir::StmtKind::*;
    fn deep(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
        f(e);
        e.each_child_mut(&mut |c| deep(c, f));
    }
    match &mut s.kind {
        Update { expr, .. } | Let { expr, .. } => deep(expr, f),
        If { cond, post: None, .. } => deep(cond, f),
        Instr { .. }
        | Ancilla { .. }
        | If { .. }
        | While { .. }
        | For { .. }
        | Call { .. }
        | Compute { .. }
        | Push { .. }
        | Pop { .. }
        | Release { .. }
        | External { .. }
        | Unchecked { .. }
        | Inverse { .. } => {}
    }
}
