//! Exact automata: against plain Rust, back bit for bit, and what they keep.
#![allow(clippy::unwrap_used)]

use ndarray::Array2;
use rev_classics::billiard;
use rev_classics::lattice_gas::{self, Rule};
use rev_cpu::prelude::*;

/// A number of 8 bits that looks random.
fn noise(i: usize, j: usize) -> u8 {
    let mixed = (i as u64 * 1009 + j as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as u8
}

fn gas(rule: &Rule, rows: usize, columns: usize) -> Array2<u8> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        noise(i, j) & noise(j, i + 7) & (rule.after.ncols() - 1) as u8
    })
}

#[test]
fn gases_go_back_and_keep_number_and_momentum() {
    for rule in [Rule::hpp(), Rule::fhp()] {
        let start = gas(&rule, 17, 24);
        let moves = rule.moves(17, 24);
        for threads in [1, 2] {
            let (cpu, mut sites) = (Cpu::with_threads(threads), start.clone());
            for steps in [1, 2, 200] {
                let before = sites.clone();
                lattice_gas::advance::run(
                    &cpu,
                    &mut sites,
                    rule.after.view(),
                    rule.before.view(),
                    &moves,
                    steps,
                )
                .unwrap();
                assert_eq!(sites, lattice_gas::plain::advance(&before, &rule, steps));
                assert_ne!(sites, before);
                assert_eq!(rule.totals(&sites), rule.totals(&start));
            }
            for steps in [200, 2, 1] {
                let (after, before) = (rule.after.view(), rule.before.view());
                lattice_gas::advance::run_inverse(&cpu, &mut sites, after, before, &moves, steps).unwrap();
            }
            assert_eq!(sites, start);
        }
    }
}

#[test]
fn two_particles_meet_head_on() {
    let rule = Rule::hpp();
    let mut sites = Array2::zeros((7, 7));
    sites[[3, 1]] = 0b0001; // to the right
    sites[[3, 5]] = 0b0100; // to the left
    let moves = rule.moves(7, 7);
    // two steps to where they meet, the collision, and one step away from it
    lattice_gas::advance(&mut sites, rule.after.view(), rule.before.view(), &moves, 3).unwrap();
    let mut expected = Array2::zeros((7, 7));
    expected[[2, 3]] = 0b0010;
    expected[[4, 3]] = 0b1000;
    assert_eq!(sites, expected);
}

#[test]
fn collisions_keep_number_and_momentum() {
    for rule in [Rule::hpp(), Rule::fhp()] {
        let one = |bits: u8| rule.totals(&Array2::from_elem((1, 1), bits));
        for ((_, bits), to) in rule.after.indexed_iter() {
            assert_eq!(one(bits as u8), one(*to));
        }
        assert_eq!(rule.directions.iter().fold([0, 0], |[a, b], [y, x]| [a + y, b + x]), [0, 0]);
    }
    let fhp = Rule::fhp();
    // one collision in even steps is undone by the other one
    assert_eq!(fhp.after.row(0), fhp.before.row(1));
    assert_ne!(fhp.after.row(0), fhp.after.row(1));
}

#[test]
fn a_collision_that_loses_something() {
    let mut sites = Array2::from_elem((2, 2), 5);
    let (after, before) = (ndarray::arr1(&[0; 16]), ndarray::arr1(&[0; 16]));
    let error = lattice_gas::collide(&mut sites, after.view(), before.view()).unwrap_err().to_string();
    assert!(error.contains("released"), "{error}");
}

#[test]
fn billiard_balls_go_back() {
    let start = Array2::from_shape_fn((20, 26), |(i, j)| noise(i, j).is_multiple_of(3));
    for threads in [1, 2] {
        let (cpu, mut cells) = (Cpu::with_threads(threads), start.clone());
        for steps in [1, 2, 301] {
            let mut expected = cells.clone();
            billiard::advance::run(&cpu, &mut cells, steps).unwrap();
            billiard::plain::advance(&mut expected, steps);
            assert_eq!(cells, expected);
            assert_ne!(cells, start);
        }
        for steps in [301, 2, 1] {
            billiard::advance::run_inverse(&cpu, &mut cells, steps).unwrap();
        }
        assert_eq!(cells, start);
    }
}

#[test]
fn a_particle_flies_and_a_mirror_stays() {
    let mut cells = Array2::from_elem((12, 12), false);
    cells[[2, 2]] = true;
    billiard::advance(&mut cells, 5).unwrap();
    let mut expected = Array2::from_elem((12, 12), false);
    expected[[7, 7]] = true;
    assert_eq!(cells, expected);
    // each block has a pair side by side in even steps, one above the other in odd ones
    let mut mirror = Array2::from_elem((12, 12), false);
    mirror.slice_mut(ndarray::s![3..7, 4..8]).fill(true);
    let before = mirror.clone();
    billiard::advance(&mut mirror, 20).unwrap();
    assert_eq!(mirror, before);
    // anywhere else its corners are alone
    let mut block = Array2::from_elem((12, 12), false);
    block.slice_mut(ndarray::s![4..8, 4..8]).fill(true);
    let before = block.clone();
    billiard::advance(&mut block, 2).unwrap();
    assert_ne!(block, before);
}

#[test]
fn sides_that_blocks_do_not_fill() {
    let mut cells = Array2::from_elem((5, 6), false);
    cells[[0, 0]] = true;
    assert!(billiard::advance(&mut cells, 1).is_err());
}
