//! Bennett's recursion and the best pebbling.

use std::collections::{BTreeSet, HashSet};

use rev_schedule::{Bennett, Counts, Pebbles, Top};

use crate::board::{play, play_program};

/// Bennett's recursion as it is written down, on a set of states: calls and the most states.
fn bennett(n: u64, k: u64, top: Top) -> (u128, usize) {
    struct Run {
        states: BTreeSet<u64>,
        calls: u128,
        peak: usize,
    }
    fn go(run: &mut Run, base: u64, len: u64, k: u64, forwards: bool, top: Top) {
        if len == 1 {
            run.calls += 1;
            assert!(run.states.contains(&base));
            assert!(if forwards { run.states.insert(base + 1) } else { run.states.remove(&(base + 1)) });
            run.peak = run.peak.max(run.states.len());
            return;
        }
        let n = len.div_ceil(k);
        let parts: Vec<(u64, u64)> =
            (0..len.div_ceil(n)).map(|j| (base + n * j, n.min(len - n * j))).collect();
        let (last, others) = parts.split_last().unwrap();
        for &(base, len) in others {
            go(run, base, len, k, true, Top::TakenBack);
        }
        go(run, last.0, last.1, k, forwards, Top::TakenBack);
        for &(base, len) in others.iter().rev().filter(|_| top == Top::TakenBack) {
            go(run, base, len, k, false, Top::TakenBack);
        }
    }
    let mut run = Run { states: BTreeSet::from([0]), calls: 0, peak: 1 };
    go(&mut run, 0, n, k, true, top);
    (run.calls, run.peak)
}

/// Knill's recursion: `table[S][n]`.
fn knill(n: usize, pebbles: usize) -> Vec<Vec<Option<u128>>> {
    let mut table = vec![vec![None; n + 1]; pebbles + 1];
    for s in 1..=pebbles {
        table[s][1] = Some(1);
        for l in 2..=n {
            let split = |m: usize| Some(table[s][m]? + table[s - 1][m]? + table[s - 1][l - m]?);
            table[s][l] = (1..l).filter_map(split).min();
        }
    }
    table
}

/// The fewest moves from an empty path to a pebble on its end alone, by breadth-first search.
fn searched(n: u32, pebbles: u32) -> Option<u128> {
    let goal = 1u32 << (n - 1);
    let (mut seen, mut front) = (HashSet::from([0u32]), vec![0u32]);
    for moves in 0.. {
        if front.contains(&goal) {
            return Some(moves);
        }
        let next = front.iter().flat_map(|&board| {
            let may = move |i: u32| i == 0 || board & (1 << (i - 1)) != 0;
            (0..n).filter(move |&i| may(i)).map(move |i| board ^ (1 << i))
        });
        let next: HashSet<u32> =
            next.filter(|b: &u32| b.count_ones() <= pebbles && !seen.contains(b)).collect();
        if next.is_empty() {
            return None;
        }
        seen.extend(&next);
        front = next.into_iter().collect();
    }
    None
}

#[test]
fn bennett_is_legal_and_as_written_down() {
    for k in (2..=10).chain([20, 100, 300]) {
        let schedule = Bennett::new(k).unwrap();
        for n in (1..=200).filter(|n| k < 4 || n % 7 < 2) {
            for top in [Top::Kept, Top::TakenBack] {
                let program = play_program(schedule.program(n, top), n);
                let (calls, peak) = bennett(n, k, top);
                assert_eq!((program.calls, program.peak_states), (calls, peak), "n = {n}, k = {k}");
                assert_eq!(schedule.calls(n, top), Ok(calls));
                if top == Top::TakenBack {
                    assert_eq!(program.left, [0, n]);
                }
                let gradient = play(schedule.gradient(n, top), n);
                // the adjoint makes the program's moves backwards, and in n of them the step has its adjoint
                assert_eq!(gradient.calls, 2 * calls - u128::from(n), "n = {n}, k = {k}");
                assert_eq!(gradient.peak_states, peak, "n = {n}, k = {k}");
            }
        }
    }
}

#[test]
fn bennett_counts_of_the_literature() {
    for (n, k, kept, back) in [
        (9999, 5, 178_601, 321_485),
        (9999, 10, 68_588, 130_319),
        (9999, 20, 56_936, 111_029),
        (9999, 40, 36_758, 72_599),
        (9999, 80, 29_836, 59_303),
        (9999, 160, 19_839, 39_589),
        (100, 4, 484, 847),
        (16, 2, 54, 81),
    ] {
        let schedule = Bennett::new(k).unwrap();
        let count = |top| Counts::of(schedule.program(n, top)).calls();
        assert_eq!((count(Top::Kept), count(Top::TakenBack)), (kept, back), "n = {n}, k = {k}");
    }
    for (k, peak) in [(5, 24), (10, 38), (20, 53), (40, 82), (80, 143), (160, 221)] {
        let schedule = Bennett::new(k).unwrap().gradient(9999, Top::Kept);
        let counts = Counts::of(schedule);
        assert_eq!((counts.gradients, counts.peak_states), (9999, peak), "k = {k}");
    }
    // powers: (2k - 1)^l calls, l (k - 1) + 2 states
    for (k, l) in [(2u64, 6u32), (3, 4), (5, 3), (10, 2)] {
        let counts = Counts::of(Bennett::new(k).unwrap().program(k.pow(l), Top::TakenBack));
        let expected = (u128::from(2 * k - 1).pow(l), u64::from(l) * (k - 1) + 2);
        assert_eq!((counts.calls(), counts.peak_states), expected, "k = {k}, l = {l}");
    }
}

#[test]
fn pebbles_by_search() {
    for n in 1..=9 {
        for pebbles in 1..=n {
            let found = searched(n, pebbles);
            match Pebbles::new(u64::from(n), u64::from(pebbles)) {
                Ok(table) => assert_eq!(table.moves(u64::from(n), u64::from(pebbles)), found),
                Err(_) => assert_eq!(found, None, "n = {n}, S = {pebbles}"),
            }
        }
    }
}

#[test]
fn pebbles_are_legal_and_best() {
    let best = knill(400, 14);
    for (s, row) in best.iter().enumerate().skip(1) {
        let longest = row.iter().rposition(|f| f.is_some()).unwrap() as u64;
        assert_eq!(longest, 400.min(1 << (s - 1)));
        let table = Pebbles::new(longest, s as u64).unwrap();
        for n in 1..=longest {
            let moves = row[n as usize].unwrap();
            assert_eq!(table.moves(n, s as u64), Some(moves), "n = {n}, S = {s}");
            if n > 200 || (n > 40 && n % 13 > 0) {
                continue;
            }
            let program = play_program(Pebbles::program(n, s as u64).unwrap(), n);
            assert_eq!((program.calls, &program.left[..]), (moves, &[0, n][..]), "n = {n}, S = {s}");
            assert!(program.peak_states <= s + 1);
            let gradient = play(Pebbles::gradient(n, s as u64, Top::TakenBack).unwrap(), n);
            assert_eq!(gradient.calls, 2 * moves - u128::from(n));
            assert!(gradient.peak_states <= s + 1);
            let kept = play(Pebbles::gradient(n, s as u64, Top::Kept).unwrap(), n);
            assert!(kept.calls <= gradient.calls && kept.peak_states <= s + 1);
        }
    }
}

#[test]
fn pebble_counts_of_the_literature() {
    for (n, counts) in [
        (4, &[(3, 9), (4, 7)][..]),
        (5, &[(4, 11)]),
        (6, &[(4, 15), (5, 13)]),
        (7, &[(4, 19), (5, 17)]),
        (8, &[(4, 25), (5, 21), (6, 19)]),
        (9, &[(5, 25)]),
        (10, &[(5, 29)]),
        (12, &[(5, 39), (6, 35)]),
        (16, &[(5, 71), (6, 51), (7, 49), (8, 47)]),
        (17, &[(6, 57)]),
        (18, &[(6, 63)]),
        (32, &[(6, 193), (7, 145), (8, 117), (9, 109)]),
        (64, &[(7, 531), (8, 369), (9, 333), (10, 293)]),
        (100, &[(8, 833), (9, 635), (10, 581), (12, 489), (15, 369)]),
        (128, &[(8, 1431), (9, 973), (10, 805)]),
    ] {
        for &(pebbles, moves) in counts {
            let counted = Counts::of(Pebbles::program(n, pebbles).unwrap());
            assert_eq!(counted.calls(), moves, "n = {n}, S = {pebbles}");
            assert!(counted.peak_states <= pebbles + 1);
        }
        let needed = Pebbles::needed(n);
        assert!(Pebbles::new(n, needed).is_ok() && Pebbles::new(n, needed - 1).is_err());
    }
}

#[test]
fn long_paths_have_small_tables() {
    let moves = |n, s| Pebbles::new(n, s).unwrap().moves(n, s);
    assert_eq!(moves(1_000_000, 21), Some(364_543_449));
    assert_eq!(moves(1_000_000, 30), Some(62_614_659));
    assert_eq!(moves(1_000_000_000, 31), Some(4_564_795_318_373));
    let begun = Pebbles::program(1_000_000, 22).unwrap().take(10_000);
    assert!(Counts::of(begun).peak_states <= 23);
    assert_eq!(Counts::of(Pebbles::program(20_000, 20).unwrap()).calls(), moves(20_000, 20).unwrap());
}
