use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
enum Shape<T: Real> {
    Circle(T, T),
    Line { length: T },
}

#[reversible]
fn choose<T: Real>(y: &mut T, k: u32, shape: &Shape<T>, x: &[T; 2]) {
    match (k, shape) {
        (0, _) => *y += x[0],
        _ => *y += x[1],
    }
    match shape {
        Shape::Circle(r, _) | Shape::Line { length: r } => *y += r,
    }
    match shape {
        Shape::Circle(..) => *y += x[0],
        Shape::Line { ref length } => *y += length,
    }
    if let [a, b] = x {
        *y += a * b;
    }
    #[post(k > 0)]
    while let 1 = k {
        *y += x[0];
    }
}

#[reversible]
fn guarded(y: &mut f64, k: i64, x: f64) {
    match k {
        k if k > 0 => *y += x,
        _ if x > 0.0 => *y -= x,
    }
}

#[reversible(tangent)]
fn held<T: Real>(y: &mut T, shape: &Shape<T>) {
    if let Shape::Circle(r, _) = shape {
        *y += r;
    }
}

fn main() {}
