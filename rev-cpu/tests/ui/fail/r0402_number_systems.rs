use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
struct Pair<T> {
    repr: T,
    other: T,
}

#[derive(Clone, Debug, Reversible)]
struct Log<T: Real> {
    repr: T,
}

#[reversible]
impl<T: Real> Log<T> {
    #[reversible]
    fn mul_assign(&mut self, by: T) {
        self.repr += by;
    }
}

#[derive(Clone, Debug, Reversible)]
struct Holder {
    log: Log<f64>,
}

/// A type without the function.
#[reversible]
fn update<T: Real>(p: &mut Pair<T>, q: &Pair<T>) {
    *p *= q;
}

/// The same for a sum, where the fields might be meant.
#[reversible]
fn sum<T: Real>(p: &mut Pair<T>, q: &Pair<T>) {
    *p += q;
}

/// An operator that the type lacks.
#[reversible]
fn operator<T: Real>(x: &mut Log<T>, y: &Log<T>) {
    *x *= y + y;
}

/// A factor that is no number of the type.
#[reversible]
fn factor<T: Real>(x: &mut Log<T>, z: T) {
    *x *= z;
}

#[reversible]
fn mixed<T: Real>(x: &mut Log<T>, p: &Pair<T>, y: &Log<T>) {
    *x *= p;
    *x *= y & y;
    *x *= x;
}

/// What a field is isn't known.
#[reversible]
fn held(h: &mut Holder, y: f64) {
    h.log *= y;
    h.log /= y;
}

fn main() {}
