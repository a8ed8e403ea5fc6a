use rev_cpu::prelude::*;

#[reversible]
fn inner(y: &mut f64) {
    *y += 1.0;
}

#[reversible]
fn outer(y: &mut f64) {
    inner(&mut y)?;
}

#[reversible]
fn watched(y: &mut f64, path: usize) {
    #[external]
    {
        std::fs::read_to_string(format!("{path}"))?;
    }
    *y += 1.0;
}

fn main() {}
