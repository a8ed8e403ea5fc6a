//! Programs that reversible languages are known by.

use std::hint::black_box;

use ndarray::{s, Array2};
use rev::prelude::*;
use rev_classics::spin_glass::{self, Glass};
use rev_classics::{
    advection, billiard, factors, feistel, kepler, lattice_gas, lorenz, permutation, pyramid, root,
    run_length, xtea,
};

use super::{matrix, numbers, Failure, Table, NONE};

/// All of them.
pub fn all(table: &mut Table) -> Result<(), Failure> {
    classics(table)?;
    integers(table)?;
    lattices(table)
}

fn classics(table: &mut Table) -> Result<(), Failure> {
    let (position, velocity) = kepler::perihelion(0.5);
    table.add(
        "1000 steps around the sun",
        || {
            let (mut position, mut velocity) = (position, velocity);
            kepler::plain::orbit(&mut position, &mut velocity, black_box(1e-3), 1000);
            (position, velocity)
        },
        |d| {
            let (mut position, mut velocity) = (position, velocity);
            kepler::orbit::run(d, &mut position, &mut velocity, black_box(1e-3), 1000)
                .map(|()| (position, velocity))
        },
        Some(|d: &Cpu| kepler::orbit::vjp(d, [1.0, 0.0], [0.0, 0.0], &position, &velocity, 1e-3, 1000)),
    )?;
    let (start, parameters) = ([1.0f64, -0.5, 20.0], [10.0, 28.0, 8.0 / 3.0]);
    table.add(
        "1000 steps of Lorenz' system",
        || lorenz::plain::solution(black_box(start), parameters, 1e-3, 1000),
        |d| {
            let mut end = [0.0; 3];
            lorenz::solution::run(d, &mut end, &black_box(start), &parameters, 1e-3, 1000).map(|()| end)
        },
        Some(|d: &Cpu| lorenz::solution::vjp(d, [1.0, 0.0, 0.0], &[0.0; 3], &start, &parameters, 1e-3, 1000)),
    )?;
    let blocks: Vec<[u32; 2]> = (0..10_000).map(|i| [i, i ^ 0x5555]).collect();
    let key = [1, 2, 3, 4];
    table.add(
        "10⁴ blocks by XTEA",
        || blocks.iter().map(|block| xtea::plain::encipher(*block, key)).collect::<Vec<_>>(),
        |d| {
            let mut blocks = blocks.clone();
            xtea::encipher_each::run(d, &mut blocks, &key).map(|()| blocks)
        },
        NONE,
    )?;
    let keys: Vec<u32> = (0..10_000u32).map(|k| k.wrapping_mul(0x9E37_79B9)).collect();
    let mixed = |half: u32| (half << 4 ^ half >> 5).wrapping_add(half);
    table.add(
        "10⁴ rounds of a Feistel network",
        || {
            let round = |half: u32, other, key| half.wrapping_add(mixed(other) ^ key);
            feistel::plain::feistel(black_box([1, 2]), &keys, round)
        },
        |d| {
            let [mut left, mut right] = black_box([1, 2]);
            feistel::feistel::run(d, &mut left, &mut right, &keys, feistel::xtea_round {})
                .map(|()| [left, right])
        },
        NONE,
    )?;
    let rule = lattice_gas::Rule::fhp();
    let sites = Array2::from_shape_fn((64, 64), |(i, j)| ((i * 7 + j * 13) % 64) as u8);
    let moves = rule.moves(64, 64);
    table.add(
        "10 steps of a lattice gas, 64 by 64",
        || lattice_gas::plain::advance(&sites, &rule, 10),
        |d| {
            let mut sites = sites.clone();
            let (after, before) = (rule.after.view(), rule.before.view());
            lattice_gas::advance::run(d, &mut sites, after, before, &moves, 10).map(|()| sites)
        },
        NONE,
    )
}

fn integers(table: &mut Table) -> Result<(), Failure> {
    let squares: Vec<u64> = (0..1000).map(|k| 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(k)).collect();
    table.add(
        "1000 integer square roots",
        || squares.iter().map(|n| root::plain::square_root(*n)).collect::<Vec<_>>(),
        |d| {
            let each = squares.iter().map(|n| {
                let (mut rest, mut root) = (*n, 0);
                root::square_root::run(d, &mut rest, &mut root).map(|()| (root, rest))
            });
            each.collect::<Result<Vec<_>, _>>()
        },
        NONE,
    )?;
    table.add(
        "prime factors of a product of two numbers of 20 bits",
        || factors::plain::factor(black_box(1_000_003 * 999_983)),
        |d| {
            let (mut rest, mut found, mut count) = (black_box(1_000_003 * 999_983), [0; 8], 0);
            factors::factor::run(d, &mut rest, &mut found, &mut count).map(|()| found)
        },
        NONE,
    )?;
    let text: Vec<u32> = (0..10_000u32).map(|k| ((k * k) >> 7) & 3).collect();
    table.add(
        "runs of a text of 10⁴ symbols",
        || run_length::plain::encode(&text),
        |d| {
            let (mut text, mut values, mut lengths, mut runs) =
                (text.clone(), vec![0; 10_000], vec![0; 10_000], 0);
            run_length::encode::run(d, &mut text, &mut values, &mut lengths, &mut runs)
                .map(|()| (values, lengths))
        },
        NONE,
    )?;
    let order: Vec<u64> = (0..256).map(|k| 167 * k % 256).collect();
    table.add(
        "code of a permutation of 256",
        || permutation::plain::to_code(&order),
        |d| {
            let mut order = order.clone();
            permutation::to_code::run(d, &mut order).map(|()| order)
        },
        NONE,
    )
}

fn lattices(table: &mut Table) -> Result<(), Failure> {
    let mut states = Array2::zeros((101, 1000));
    states.row_mut(0).assign(&ndarray::Array1::from(numbers(1000, 0.03)));
    let first = states.row(0).to_vec();
    table.add(
        "100 steps of a wave on a ring of 1000 cells",
        || advection::plain::advance(&first, black_box(0.7), 100),
        |d| {
            let mut states = states.clone();
            advection::advance::run(d, states.view_mut(), black_box(0.7)).map(|()| states)
        },
        Some(|d: &Cpu| advection::advance::vjp(d, states.view(), states.view(), 0.7)),
    )?;
    let x = numbers(64, 0.7);
    table.add(
        "pyramid over 64 numbers",
        || pyramid::plain::pyramid(&x),
        |d| {
            let mut y = 0.0;
            pyramid::pyramid::run(d, &mut y, &x).map(|()| y)
        },
        Some(|d: &Cpu| pyramid::pyramid::gradient(d, &x)),
    )?;
    let cells = Array2::from_shape_fn((64, 64), |(i, j)| (13 * i + 7 * j) % 5 < 2);
    table.add(
        "10 steps of the billiard-ball automaton, 64 by 64",
        || {
            let mut cells = cells.clone();
            billiard::plain::advance(&mut cells, 10);
            cells
        },
        |d| {
            let mut cells = cells.clone();
            billiard::advance::run(d, &mut cells, 10).map(|()| cells)
        },
        NONE,
    )?;
    let (right, field) = (matrix((8, 8), 1.3), matrix((8, 8), 0.7));
    let down = matrix((8, 8), 2.9).slice_move(s![..7, ..]);
    let glass =
        Glass::new(right.clone(), down.clone(), field.clone()).map_err(|e| Failure::Sizes(e.to_string()))?;
    let (right, down, field) = (right.view(), down.view(), field.view());
    table.add(
        "ground state of a spin glass, 8 by 8",
        || spin_glass::plain::ground_energy(&glass),
        |d| {
            let mut energy = 0.0;
            spin_glass::ground_energy::run(d, &mut energy, right, down, field).map(|()| energy)
        },
        Some(|d: &Cpu| spin_glass::ground_energy::gradient(d, right, down, field)),
    )
}
