//! Every reversible function of the kernels crate: the function, its inverse and its adjoint, in `f64` and
//! `f32`.

use ndarray::Array2;
use num_complex::Complex;
use rev_core::error::Error;
use rev_core::ir::{Direction, Module};
use rev_core::scalar::Fixed43;
use rev_core::value::{Data, DynArg, Value};
use rev_cuda::Emulator;
use rev_kernels::*;

use super::{Call, Texts};

/// An argument of any type.
struct Held(Data);

impl DynArg for Held {
    fn load(&self) -> Data {
        self.0.clone()
    }

    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.0 = data.clone();
        Ok(())
    }
}

/// A function's three programs for arguments like these.
fn three(gpu: &Emulator, module: &Module, args: &[Data]) -> Result<Texts, Error> {
    let text = |direction, args: Vec<Held>| {
        let args: Vec<&dyn DynArg> = args.iter().map(|a| a as &dyn DynArg).collect();
        gpu.ptx(module, direction, &args)
    };
    let values = || args.iter().cloned().map(Held).collect();
    let both = args.iter().flat_map(|a| [a.clone(), a.zero_shadow()]).map(Held).collect();
    Ok(vec![
        (" forward", text(Direction::FORWARD, values())?),
        (" inverse", text(Direction::INVERSE, values())?),
        (" adjoint", text(Direction::ADJOINT, both)?),
    ])
}

fn single(data: &Data) -> Data {
    data.map(&|leaf| match leaf {
        Data::Scalar(Value::F64(v)) => Data::scalar(*v as f32),
        Data::Scalar(Value::Complex64(z)) => Data::scalar(Complex::new(z.re as f32, z.im as f32)),
        other => other.clone(),
    })
}

macro_rules! functions {
    ($($f:path: $($arg:expr),*;)*) => {
        vec![$({
            use $f as f;
            (stringify!($f).replace("::", " "), f::ir(), vec![$(DynArg::load(&$arg)),*])
        }),*]
    };
}

fn matrix(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_elem((rows, columns), 0.5)
}

/// The functions of real scalars, with what they are called on.
fn of_reals() -> Vec<(String, Module, Vec<Data>)> {
    let x = vec![1.5, 2.5, 0.5, 1.0];
    let z = Complex::new(0.5, 0.25);
    let (state, pairs, triples) = (vec![z; 4], vec![[1.0, 2.0]; 4], vec![[0.5, 0.25, 2.0]; 4]);
    let (pair, triple, of) = (pairs[0], triples[0], vec![0usize, 1, 0, 1]);
    let (cameras, bal_cameras) = (vec![[0.5; ba::CAMERA]; 4], vec![[0.5; bal::CAMERA]; 4]);
    let (means, icf, points) = (matrix(4, 3), matrix(4, 6), matrix(9, 3));
    functions! {
        multiplier::multiplier: 0.0, 2.0, 3.0;
        multiplier::approximate_multiply: 0.0, 2.0, 0.0;
        norm::norm: 0.0, x;
        norm::norm_and_square: 0.0, 0.0, x;
        log_sum_exp::log_sum_exp: 0.0, x;
        exponential::exponential: 0.0, 1.5, 1e-6;
        bessel::bessel_j: 0.0, 2usize, 1.0, 1e-6;
        bessel::bessel_j_each: x, 2usize, x, 1e-6;
        leapfrog::leapfrog: 1.0, 0.5, 0.25, 3usize;
        rotation::rotate: triple, triple, triple;
        affine::affine: x, matrix(4, 4), x, x;
        complex_log::complex_log: z, z;
        dense::dense: 0.0, matrix(3, 4), x, matrix(4, 2), matrix(5, 3), matrix(5, 2);
        gates::rx: state, 0.5, 1usize;
        gates::ry: state, 0.5, 1usize;
        gates::rz: state, 0.5, 1usize;
        gates::swap_qubits: state, 0usize, 1usize;
        gates::measure: 0.0, state, 1usize;
        gates::expectation: 0.0, state, 0.5, 0.5, 0.5, 0usize, 1usize;
        ba::residual: pair, cameras[0], triple, 0.5, pair;
        ba::weight_errors: x, x;
        ba::errors: pairs, x, cameras, triples, x, of, of, pairs;
        ba::residuals_apart: pairs, cameras, triples, x, pairs;
        ba::objective: 0.0, cameras, triples, x, of, of, pairs;
        bal::residual: pair, bal_cameras[0], triple, pair;
        bal::errors: pairs, bal_cameras, triples, of, of, pairs;
        bal::residuals_apart: pairs, bal_cameras, triples, pairs;
        bal::objective: 0.0, bal_cameras, triples, of, of, pairs;
        gmm::objective: 0.0, x, means, icf, points, 1.0, 0usize;
        gmm::objective_by_products: 0.0, x, means, icf, points, 1.0, 0usize;
        gmm::objective_by_matrices: 0.0, x, means, icf, points, 1.0, 0usize;
        gmm::prior: 0.0, x, icf, means, 1.0, 0usize, 9usize;
        gmm::wishart_constant: 0.0, 1.0, 4usize, 3usize, 0usize;
    }
}

/// The functions, each with its name and what it is made for.
pub fn all() -> Vec<(String, Call)> {
    let half = Fixed43::from_num(0.5);
    let mut others: Vec<(String, Module, Vec<Data>)> = functions! {
        fibonacci::fibonacci: 0i64, 5i64;
        fibonacci::first_at_least: 0i64, 100i64;
        fibonacci::by_odd_steps: 0i64, 9i64;
        bessel::factorial: 0i64, 5i64;
        leapfrog::leapfrog: half, half, half, 3usize;
    };
    others.iter_mut().filter(|o| o.0 == "leapfrog leapfrog").for_each(|o| o.0 += " (Fixed43)");
    for (name, module, args) in of_reals() {
        let singles = args.iter().map(single).collect();
        others.push((format!("{name} (f64)"), module.clone(), args));
        others.push((format!("{name} (f32)"), module, singles));
    }
    let call = |(name, module, args): (String, Module, Vec<Data>)| {
        let call: Call = Box::new(move |gpu| three(gpu, &module, &args));
        (name, call)
    };
    others.into_iter().map(call).collect()
}
