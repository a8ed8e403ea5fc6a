//! How long the pattern of a Hessian takes to find, and the Hessian by edge pushing: the energy of a grid of springs.
//!
//! `cargo run --release -p rev-ad-core --example sparsity -- 1000` for 1000 x 1000 unknowns.

use rev_core::sparse::{Branches, Sparsity};
use rev_core::text::parse_module;
use rev_core::value::{Array, Data};
use std::time::Instant;

const ENERGY: &str = "module energy
fn energy(y: &mut f64, u: Array2<f64>) {
    for i in 0..dim(u, 0) {
        for j in 0..dim(u, 1) {
            if i > 0 { let d: f64 = u[i, j] - u[i - 1, j] { y += d * d } } else { }
            if j > 0 { let d: f64 = u[i, j] - u[i, j - 1] { y += d * d } } else { }
            y += max(u[i, j], 0.1) * u[i, j]
        }
    }
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n: usize = std::env::args().nth(1).map_or(Ok(100), |n| n.parse())?;
    let module = parse_module(ENERGY)?;
    let elements = (0..n * n).map(|k| Data::scalar((k as f64 * 0.7).sin())).collect();
    let args = [Data::scalar(0.0), Data::Array(Array { shape: vec![n, n], elements })];
    for branches in [Branches::Taken, Branches::All] {
        let start = Instant::now();
        let pattern = module.hessian_pattern(0, &args, branches)?;
        let (time, nonzeros) = (start.elapsed(), pattern.nonzeros());
        println!("{branches:?}: {} unknowns, {nonzeros} nonzeros, {time:.2?}", n * n);
    }
    let start = Instant::now();
    let jacobian = module.jacobian_pattern(&args, Branches::All)?;
    println!("Jacobian: {} nonzeros, {:.2?}", jacobian.nonzeros(), start.elapsed());
    let start = Instant::now();
    let hessian = module.hessian_pushed(0, &args)?;
    println!("edge pushing: {} nonzeros, {:.2?}", hessian.nonzeros(), start.elapsed());
    Ok(())
}
