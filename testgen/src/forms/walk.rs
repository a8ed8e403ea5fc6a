//! The variables that parts of a tree read and write.

use super::tree::*;

/// Whether a name occurs in a block.
pub fn mentions(block: &[Stmt], name: &str) -> bool {
    read(block).iter().any(|n| n == name) || written(block).iter().any(|n| n == name)
}

pub fn roots_of_expr(e: &Expr) -> Vec<String> {
    let mut out = Vec::new();
    expr(e, &mut out);
    out
}

pub fn roots_of_cond(c: &Cond) -> Vec<String> {
    let mut out = Vec::new();
    cond(c, &mut out);
    out
}

pub fn roots_of_several(values: &Several) -> Vec<String> {
    let mut out = Vec::new();
    several(values, &mut out);
    out
}

pub fn roots_of_subject(of: &Subject) -> Vec<String> {
    let mut out = Vec::new();
    subject(of, &mut out);
    out
}

pub fn roots_of_literal(made: &Literal) -> Vec<String> {
    let mut out = Vec::new();
    literal(made, &mut out);
    out
}

/// What is read at any depth.
pub fn read(block: &[Stmt]) -> Vec<String> {
    let mut out = Vec::new();
    each(block, &mut out, &mut Vec::new());
    out
}

/// What is written at any depth.
pub fn written(block: &[Stmt]) -> Vec<String> {
    let mut out = Vec::new();
    each(block, &mut Vec::new(), &mut out);
    out
}

type Names = Vec<String>;

fn place(p: &Place, out: &mut Names) {
    out.push(p.root.clone());
}

fn expr(e: &Expr, out: &mut Names) {
    match e {
        Expr::Read(p) | Expr::Tabled(p) => place(p, out),
        Expr::Number(_) | Expr::Constant(_) => {}
        Expr::Neg(a) | Expr::Function(_, a) | Expr::Clamp(a, _, _) => expr(a, out),
        Expr::Binary(_, a, b) | Expr::Block(_, a, b) => {
            expr(a, out);
            expr(b, out);
        }
        Expr::OfInt(n) => int(n, out),
        Expr::If(c, a, b) => {
            cond(c, out);
            expr(a, out);
            expr(b, out);
        }
        Expr::Match(p, arms) => {
            subject(p, out);
            for (_, guard, e) in arms {
                guard.iter().for_each(|c| cond(c, out));
                expr(e, out);
            }
        }
        Expr::IfLet(_, p, a, b) => {
            subject(p, out);
            expr(a, out);
            expr(b, out);
        }
        Expr::Call(_, args) => items(args, out),
    }
}

fn subject(of: &Subject, out: &mut Names) {
    for one in of {
        match one {
            Matched::Place(p) => place(p, out),
            Matched::Int(n) => int(n, out),
        }
    }
}

fn items(of: &[Item], out: &mut Names) {
    for item in of {
        match item {
            Item::Real(e) => expr(e, out),
            Item::Int(n) => int(n, out),
            Item::Truth(c) => cond(c, out),
        }
    }
}

fn several(values: &Several, out: &mut Names) {
    match values {
        Several::Of(of) | Several::Call(_, of) => items(of, out),
        Several::If(c, a, b) => {
            cond(c, out);
            several(a, out);
            several(b, out);
        }
        Several::Match(p, arms) => {
            subject(p, out);
            for (_, guard, v) in arms {
                guard.iter().for_each(|c| cond(c, out));
                several(v, out);
            }
        }
        Several::IfLet(_, p, a, b) => {
            subject(p, out);
            several(a, out);
            several(b, out);
        }
        Several::Block(_, e, v) => {
            expr(e, out);
            several(v, out);
        }
    }
}

fn int(n: &Int, out: &mut Names) {
    match n {
        Int::Number(_) | Int::Var(_) => {}
        Int::Read(p) => place(p, out),
        Int::Rem(a, _) => int(a, out),
        Int::Binary(_, a, b) => {
            int(a, out);
            int(b, out);
        }
        Int::Call(_, args) => items(args, out),
        Int::Match(p, arms) => {
            subject(p, out);
            for (_, guard, n) in arms {
                guard.iter().for_each(|c| cond(c, out));
                int(n, out);
            }
        }
    }
}

fn cond(c: &Cond, out: &mut Names) {
    match c {
        Cond::Ints(a, _, b) => {
            int(a, out);
            int(b, out);
        }
        Cond::Reals(a, _, b) => {
            expr(a, out);
            expr(b, out);
        }
        Cond::Not(c) => cond(c, out),
        Cond::Read(p) => place(p, out),
        Cond::Is(_) => {}
        Cond::Call(_, args) => items(args, out),
        Cond::Both(a, _, b) => {
            cond(a, out);
            cond(b, out);
        }
    }
}

fn literal(made: &Literal, out: &mut Names) {
    for (_, value) in made {
        match value {
            FieldValue::Real(e) => expr(e, out),
            FieldValue::Array(of) => of.iter().for_each(|e| expr(e, out)),
            FieldValue::Pair(a, b) => {
                expr(a, out);
                expr(b, out);
            }
            FieldValue::Int(n) => int(n, out),
        }
    }
}

fn num(n: &Num, out: &mut Names) {
    match n {
        Num::Read(p) => place(p, out),
        Num::Of(e) => expr(e, out),
        Num::Odd(_) => {}
        Num::Binary(_, a, b) => {
            num(a, out);
            num(b, out);
        }
        Num::Powi(a, _) | Num::Powf(a, _) | Num::Function(_, a) => num(a, out),
    }
}

fn each(block: &[Stmt], reads: &mut Names, writes: &mut Names) {
    for s in block {
        match s {
            Stmt::Update(p, _, e) | Stmt::Assign(p, e) => {
                place(p, writes);
                expr(e, reads);
            }
            Stmt::IntUpdate(p, _, n) | Stmt::AssignInt(p, n) => {
                place(p, writes);
                int(n, reads);
            }
            Stmt::Neg(p) => place(p, writes),
            Stmt::Swap(a, b) => {
                place(a, writes);
                place(b, writes);
            }
            Stmt::Sum { place: p, other, .. } => {
                place(p, writes);
                place(other, reads);
            }
            Stmt::SumMade { place: p, made, .. } => {
                place(p, writes);
                literal(made, reads);
            }
            Stmt::Scale { place: p, by, .. } => {
                place(p, writes);
                num(by, reads);
            }
            Stmt::Let(_, e, body) => {
                expr(e, reads);
                each(body, reads, writes);
            }
            Stmt::LetSeveral(_, values, body) | Stmt::LetArray(_, values, body) => {
                several(values, reads);
                each(body, reads, writes);
            }
            Stmt::UpdateSeveral(places, _, values) => {
                places.iter().for_each(|p| place(p, writes));
                several(values, reads);
            }
            Stmt::LetStruct(_, _, made, body) => {
                literal(made, reads);
                each(body, reads, writes);
            }
            Stmt::Ancilla { start, prepare, body, .. } => {
                match start {
                    Start::Like(p, _) => place(p, reads),
                    Start::Made(_, made) => literal(made, reads),
                    _ => {}
                }
                each(prepare, reads, writes);
                each(body, reads, writes);
            }
            Stmt::States(states, body) => {
                states.iter().for_each(|(_, _, begin)| each(begin, reads, writes));
                each(body, reads, writes);
            }
            Stmt::Compute(a, b) => {
                each(a, reads, writes);
                each(b, reads, writes);
            }
            Stmt::If(c, a, b) => {
                cond(c, reads);
                each(a, reads, writes);
                each(b, reads, writes);
            }
            Stmt::Match(p, arms) => {
                subject(p, reads);
                for (_, guard, body) in arms {
                    guard.iter().for_each(|c| cond(c, reads));
                    each(body, reads, writes);
                }
            }
            Stmt::IfLet(_, p, a, b) => {
                subject(p, reads);
                each(a, reads, writes);
                each(b, reads, writes);
            }
            Stmt::Each { of, body, .. } => {
                place(of, reads);
                each(body, reads, writes);
            }
            Stmt::Keep(ways, c, a, b) => {
                place(ways, writes);
                cond(c, reads);
                each(a, reads, writes);
                each(b, reads, writes);
            }
            Stmt::For { body, .. } | Stmt::Checkpoint { body, .. } | Stmt::Inverse(body) => {
                each(body, reads, writes)
            }
            Stmt::Call(_, _, args) => {
                for a in args {
                    match a {
                        Arg::Write(p) => place(p, writes),
                        Arg::Read(p) => place(p, reads),
                        Arg::Made(_, made) => literal(made, reads),
                        Arg::Value(e) => expr(e, reads),
                    }
                }
            }
            Stmt::Convert { from, to, lost, .. } => {
                place(from, writes);
                place(to, writes);
                lost.iter().for_each(|s| place(s, writes));
            }
            Stmt::Push(s, p, _) | Stmt::PushArray(s, p) => {
                place(s, writes);
                place(p, writes);
            }
        }
    }
}
