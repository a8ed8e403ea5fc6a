use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
enum Shape<T: Real> {
    Point,
    Circle(T),
}

#[reversible]
fn grow<T: Real>(shape: &mut Shape<T>, by: T) {
    if let Shape::Circle(r) = shape {
        *r += by;
    }
}

fn main() {}
