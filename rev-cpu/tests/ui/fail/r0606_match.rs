use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
enum Shape<T: Real> {
    Circle(T, T),
    Line { length: T },
}

#[reversible]
fn choose<T: Real>(y: &mut T, k: u32, shape: &Shape<T>, x: &[T; 2]) {
    match (k, shape) {
        (0, _, _) => *y += x[0],
        both => *y += x[1],
    }
    match shape {
        Shape::Circle(r, _) | Shape::Line { length: l } => *y += r,
    }
    match shape {
        Shape::Circle(..) => *y += x[0],
        Shape::Line { ref length } => *y += length,
    }
    if let [a, ..] = x {
        *y += a;
    }
}

#[reversible]
fn looped(y: &mut f64, x: &[Option<f64>]) {
    let mut k = 0usize;
    #[post(k > 0)]
    while let Some(v) = x[k] {
        *y += v;
        inc(k);
    }
    #[post(k > 3)]
    while let _ = k {
        inc(k);
    }
}

#[reversible]
fn guarded(y: &mut f64, k: i64, x: f64) {
    match k {
        k if k > 0 => *y += x,
        _ if x > 0.0 => *y -= x,
    }
}

fn main() {}
