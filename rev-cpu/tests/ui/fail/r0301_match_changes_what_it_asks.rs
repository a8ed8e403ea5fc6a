use rev_cpu::prelude::*;

#[derive(Clone, Copy, Debug, Reversible)]
enum Kind {
    Up,
    Down,
}

#[reversible]
fn count(k: &mut i64, kind: &mut Kind, other: &mut Kind) {
    match k {
        0 => *k += 1,
        1..=9 => {}
        _ => *k -= 1,
    }
    match kind {
        Kind::Up => swap(kind, other),
        Kind::Down => {}
    }
}

fn main() {}
