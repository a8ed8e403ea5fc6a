use rev_cpu::prelude::*;

struct Limits;

impl Limits {
    const MAX: i64 = 7;
}

#[derive(Clone, Debug, Reversible)]
enum Kind {
    Few { n: i64 },
    Many(i64),
}

#[reversible]
fn counted(y: &mut f64, kind: &Kind) {
    match kind {
        Kind::Few { n: Limits::MAX } => *y += 1.0,
        Kind::Many(n) if n == Limits::MAX => *y += 2.0,
        _ => {}
    }
}

fn main() {}
