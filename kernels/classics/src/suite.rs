//! Every program of this crate on small arguments: what each device has to give the same bits for, in the deterministic mode.

use crate::{
    adder, advection, billiard, factors, feistel, kepler, lattice_gas, lorenz, permutation, pyramid, root,
    run_length, spin_glass, xtea,
};
use ndarray::Array2;
use rev_core::verify::{Outputs, Sample};
use rev_cpu::prelude::Fixed43;

macro_rules! samples {
    ($($name:literal, $on_gpu:literal, |$device:ident| $run:expr;)*) => {
        /// The programs.
        pub const SAMPLES: &[Sample] = &[$(Sample { name: $name, on_gpu: $on_gpu, run: |$device| $run }),*];
    };
}

samples! {
    "integer square root", true, |d| {
        let (mut number, mut root) = (1_234_567, 0);
        root::square_root::run(d, &mut number, &mut root)?;
        Ok(Outputs::new().with("rest", &number).with("root", &root))
    };
    "prime factors", true, |d| {
        let (mut number, mut factors, mut count) = (2 * 2 * 3 * 7 * 101, [0; 8], 0);
        factors::factor::run(d, &mut number, &mut factors, &mut count)?;
        Ok(Outputs::new().with("number", &number).with("factors", &factors).with("count", &count))
    };
    "run-length coding", true, |d| {
        let (mut text, mut values, mut lengths, mut runs) = ([5u32, 5, 5, 0, 0, 7], [0; 4], [0; 4], 0);
        run_length::encode::run(d, &mut text, &mut values, &mut lengths, &mut runs)?;
        let outputs = Outputs::new().with("text", &text).with("values", &values);
        Ok(outputs.with("lengths", &lengths).with("runs", &runs))
    };
    "permutation to its number", true, |d| {
        let (mut x, mut number) = ([3, 0, 4, 1, 2], 0);
        permutation::to_code::run(d, &mut x)?;
        let code = x;
        permutation::to_number::run(d, &mut number, &mut x)?;
        Ok(Outputs::new().with("code", &code).with("number", &number).with("cleared", &x))
    };
    "XTEA and its inverse", true, |d| {
        let mut blocks: Vec<[u32; 2]> = (0..100).map(|i| [i, 7 * i]).collect();
        let key = [1, 2, 3, u32::MAX];
        xtea::encipher_each::run(d, &mut blocks, &key)?;
        let there = blocks.clone();
        xtea::encipher_each::run_inverse(d, &mut blocks, &key)?;
        Ok(Outputs::new().with("there", &there).with("back", &blocks))
    };
    "Feistel's network", true, |d| {
        let (mut left, mut right) = (1, 2);
        feistel::feistel::run(d, &mut left, &mut right, &[3, 4, 5], feistel::xtea_round {})?;
        Ok(Outputs::new().with("left", &left).with("right", &right))
    };
    "adder of gates", true, |d| {
        let (mut a, mut b, mut overflow) = ([true, false, true, true], [true, true, false, true], false);
        adder::add::run(d, &mut a, &mut b, &mut overflow)?;
        Ok(Outputs::new().with("a", &a).with("sum", &b).with("overflow", &overflow))
    };
    "lattice gas and its inverse", true, |d| {
        let rule = lattice_gas::Rule::fhp();
        let (after, before, moves) = (rule.after.view(), rule.before.view(), rule.moves(6, 8));
        let mut sites = Array2::from_shape_fn((6, 8), |(i, j)| ((13 * i + 7 * j) % 64) as u8);
        lattice_gas::advance::run(d, &mut sites, after, before, &moves, 5)?;
        let there = sites.clone();
        lattice_gas::advance::run_inverse(d, &mut sites, after, before, &moves, 5)?;
        Ok(Outputs::new().with("there", &there).with("back", &sites))
    };
    "billiard-ball automaton and its inverse", true, |d| {
        let mut cells = Array2::from_shape_fn((6, 8), |(i, j)| (13 * i + 7 * j) % 5 < 2);
        billiard::advance::run(d, &mut cells, 5)?;
        let there = cells.clone();
        billiard::advance::run_inverse(d, &mut cells, 5)?;
        Ok(Outputs::new().with("there", &there).with("back", &cells))
    };
    "Kepler's problem in fixed point and its inverse", true, |d| {
        let number = Fixed43::from_num::<f64>;
        let (x, v) = kepler::perihelion(0.3);
        let (mut x, mut v) = (x.map(number), v.map(number));
        kepler::orbit::run(d, &mut x, &mut v, number(0.01), 100)?;
        let there = (x, v);
        kepler::orbit::run_inverse(d, &mut x, &mut v, number(0.01), 100)?;
        Ok(Outputs::new().with("there", &there).with("x", &x).with("v", &v))
    };
    "Kepler's problem, derivatives", true, |d| {
        let (x, v) = kepler::perihelion(0.3);
        let g = kepler::orbit::vjp(d, [1.0, 0.5], [0.0, -1.0], &x, &v, 0.01, 50)?;
        Ok(Outputs::new().with("x", &g.position_bar).with("v", &g.velocity_bar).with("dt", &g.dt_bar))
    };
    "Lorenz' system, a state and derivatives", true, |d| {
        let (start, parameters) = ([1.0f64, -0.5, 20.0], [10.0, 28.0, 8.0 / 3.0]);
        let mut end = [0.0f64; 3];
        lorenz::solution::run(d, &mut end, &start, &parameters, 0.01, 50)?;
        let g = lorenz::solution::vjp(d, [1.0, 0.5, -1.0], &[0.0; 3], &start, &parameters, 0.01, 50)?;
        let outputs = Outputs::new().with("end", &end).with("start", &g.start_bar);
        Ok(outputs.with("parameters", &g.parameters_bar).with("h", &g.h_bar))
    };
    "wave on a ring and its inverse", true, |d| {
        let mut states = Array2::zeros((5, 9));
        (0..9).for_each(|i| states[[0, i]] = f64::sin(1.3 * i as f64));
        advection::advance::run(d, states.view_mut(), 0.6)?;
        let there = states.clone();
        advection::advance::run_inverse(d, states.view_mut(), 0.6)?;
        Ok(Outputs::new().with("there", &there).with("back", &states))
    };
    "wave on a ring, adjoint", true, |d| {
        let numbers = |by: f64| Array2::from_shape_fn((5, 9), |(t, i)| f64::sin(by * (9 * t + i) as f64));
        let g = advection::advance::vjp(d, numbers(0.7).view(), numbers(1.3).view(), 0.6)?;
        Ok(Outputs::new().with("states", &g.states_bar).with("c", &g.c_bar))
    };
    "pyramid of sines and cosines, gradient", true, |d| {
        let x: Vec<f64> = (0..12).map(|k| f64::sin(1.7 * f64::from(k))).collect();
        let g = pyramid::pyramid::gradient(d, &x)?;
        Ok(Outputs::new().with("value", &g.value).with("x", &g.x))
    };
    "ground state of a spin glass, gradient", true, |d| {
        let strengths = |rows, by: f64| Array2::from_shape_fn((rows, 3), |(i, j)| f64::sin(by * (3 * i + j + 1) as f64));
        let (right, down, field) = (strengths(4, 1.3), strengths(3, 2.9), strengths(4, 0.7));
        let g = spin_glass::ground_energy::gradient(d, right.view(), down.view(), field.view())?;
        let outputs = Outputs::new().with("energy", &g.value).with("right", &g.right);
        Ok(outputs.with("down", &g.down).with("field", &g.field))
    };
}
