use rev_cpu::prelude::*;

#[reversible]
fn mixed(y: &mut f64, x: f64) {
    let mut a = 0.0;
    a += x;
    swap(a, y);
}

#[derive(Clone, Debug, Reversible)]
struct Body {
    at: f64,
}

#[reversible]
impl Body {
    #[reversible]
    fn advance(&mut self, s: &mut f64) {
        self.at += s;
        s += 1.0;
    }
}

#[reversible]
fn moved(body: &mut Body) {
    let mut s = 0.0;
    body.advance(&mut s);
}

fn main() {}
