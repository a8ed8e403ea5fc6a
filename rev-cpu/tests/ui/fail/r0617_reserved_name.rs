use rev_cpu::prelude::*;

#[reversible]
fn inverse(y: &mut f64, __cx: f64) {
    let None = 2.0;
    *y += 1.0;
}

mod derived {
    use rev_cpu::prelude::*;

    #[reversible]
    fn tangent(y: &mut f64) {
        *y += 1.0;
    }

    #[reversible]
    fn adjoint(y: &mut f64) {
        *y += 1.0;
    }

    #[reversible]
    fn gradient(y: &mut f64) {
        *y += 1.0;
    }
}

fn main() {}
