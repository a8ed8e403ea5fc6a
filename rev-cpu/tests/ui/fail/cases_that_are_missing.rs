use rev_cpu::prelude::*;

#[derive(Clone, Copy, Debug, Reversible)]
enum Kind {
    Up,
    Down,
    Still,
}

#[reversible]
fn incomplete(y: &mut [f64], k: i64, kinds: &[Kind]) {
    match k {
        0..=9 => y[0] += 1.0,
        10.. => y[0] += 2.0,
    }
    for i in par(0..y.len()) {
        match kinds[i] {
            Kind::Up => y[i] += 1.0,
            Kind::Down => y[i] -= 1.0,
        }
    }
    y[0] += match k % 3 {
        0 => 1.0,
        n if n > 0 => 2.0,
    };
}

#[pure]
fn weight(k: u8) -> f64 {
    match k {
        0..=99 => 1.0,
        101.. => 2.0,
    }
}

#[reversible]
fn of_two(y: &mut f64, kind: &Kind, k: u8) {
    match (kind, k) {
        (Kind::Up, _) => *y += 1.0,
        (_, 0..=9) => *y += 2.0,
        (Kind::Still, 10..) => *y += 3.0,
    }
}

fn main() {}
