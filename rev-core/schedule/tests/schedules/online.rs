//! Loops of unknown length.

use approx::abs_diff_eq;
use std::collections::BTreeSet;

use rev_schedule::{Action, Counts, Online, Policy};

use crate::binomial::revolve_table;
use crate::board::play;

/// The fewest calls after the loop has ended, with the stored states at the best places for this length: the
/// minimum of `Σ t(gᵢ, s - i)` over all gaps that add up to it, for all lengths up to `n`.
fn best_placement(n: usize, slots: usize, table: &[Vec<u128>]) -> Vec<u128> {
    // the last gap has one slot
    let mut best = table[1][..=n].to_vec();
    for row in &table[2..=slots] {
        best = (0..=n).map(|l| (0..=l).map(|g| row[g] + best[l - g]).min().unwrap()).collect();
    }
    best
}

/// `C(s + r, r) - 1`: the longest loop whose steps are done `r` times at most before their adjoints.
fn longest(slots: u64, r: u64) -> u64 {
    (1..=r).fold(1, |c, i| c * (slots + i) / i) - 1
}

fn over(slots: usize, policy: Policy, steps: u64) -> impl Iterator<Item = Action> {
    Online::new(slots, policy).unwrap().over(steps)
}

#[test]
fn binomial_is_best_at_repetition_2() {
    let table = revolve_table(200, 16);
    for s in 1..=16u64 {
        let n = longest(s, 2);
        let best = best_placement(n as usize, s as usize, &table);
        for n in 0..=n {
            let played = play(over(s as usize, Policy::Binomial, n), n);
            assert_eq!(played.calls, u128::from(n) + best[n as usize], "n = {n}, s = {s}");
            // 2n - s calls: revolve's with the last step, and one more
            assert!(n < s || played.calls == u128::from(2 * n - s), "n = {n}, s = {s}");
            assert!(played.peak_slots <= s as usize);
        }
    }
}

#[test]
fn binomial_is_close_at_repetition_3() {
    let table = revolve_table(600, 12);
    for s in 2..=12u64 {
        let n = longest(s, 3);
        let best = best_placement(n as usize, s as usize, &table);
        for n in (longest(s, 2)..=n).step_by(7) {
            let played = play(over(s as usize, Policy::Binomial, n), n);
            let least = u128::from(n) + best[n as usize];
            assert!(
                played.calls <= least + 1 || 100 * played.calls <= 105 * least,
                "n = {n}, s = {s}: {} for {least}",
                played.calls
            );
            assert!(played.peak_slots <= s as usize);
        }
    }
}

/// All rules at once: the places of stored states that any rule can have reached which was best so far.
#[test]
fn no_rule_is_best_beyond_repetition_2() {
    let table = revolve_table(40, 5);
    for s in 2..=5usize {
        let end = longest(s as u64, 2) as usize + 2;
        let best = best_placement(end, s, &table);
        let mut places = BTreeSet::from([vec![0]]);
        for (n, &least) in best.iter().enumerate().skip(1) {
            let cost = |stored: &Vec<usize>| -> u128 {
                let ends = stored.iter().skip(1).chain([&n]);
                stored.iter().zip(ends).enumerate().map(|(i, (a, b))| table[s - i][b - a]).sum()
            };
            places.retain(|stored| cost(stored) == least);
            assert_eq!(places.is_empty(), n == end, "n = {n}, s = {s}");
            let mut next = BTreeSet::new();
            for stored in places {
                let forget = |i| stored.iter().copied().filter(move |p| Some(*p) != i).chain([n]).collect();
                match stored.len() < s {
                    true => next.extend([forget(None)]),
                    false => next.extend(stored[1..].iter().map(|&p| forget(Some(p)))),
                }
                next.insert(stored);
            }
            places = next;
        }
    }
}

#[test]
fn every_length_is_legal() {
    for policy in [Policy::Binomial, Policy::Thinning] {
        for s in (1..=8).chain([20, 300]) {
            for n in 0..=200 {
                let played = play(over(s, policy, n), n);
                assert!(played.peak_slots <= s, "n = {n}, s = {s}: {played:?}");
            }
        }
    }
}

/// The table of `docs/schedules.md`: percent of calls above the best placement of each length, at most, for the
/// lengths of repetition 2, 3 and 4.
#[test]
fn calls_above_the_best_placement() {
    for (s, binomial, thinning) in [
        (3, [0.0, 4.8, 5.9], [20.0, 13.9, 18.5]),
        (5, [0.0, 3.6, 4.6], [28.6, 18.4, 37.5]),
        (8, [0.0, 1.6, 2.1], [30.0, 34.6, 71.5]),
        (10, [0.0, 1.9, 2.6], [33.3, 28.4, 99.5]),
    ] {
        let most = longest(s, 4) as usize;
        let best = best_placement(most, s as usize, &revolve_table(most, s as usize));
        for (policy, percents) in [(Policy::Binomial, binomial), (Policy::Thinning, thinning)] {
            for (r, percent) in (2..).zip(percents) {
                let above = |n: u64| {
                    let least = u128::from(n) + best[n as usize];
                    Counts::of(over(s as usize, policy, n)).calls() as f64 / least as f64 - 1.0
                };
                let lengths = longest(s, r - 1) + 1..=longest(s, r);
                let found = lengths.map(above).fold(0.0, f64::max) * 100.0;
                assert!(
                    abs_diff_eq!(found, percent, epsilon = 0.06),
                    "s = {s}, r = {r}, {policy:?}: {found}"
                );
            }
        }
    }
}

#[test]
fn long_loops() {
    for policy in [Policy::Binomial, Policy::Thinning] {
        let counts = Counts::of(over(20, policy, 100_000));
        assert_eq!((counts.gradients, counts.peak_states), (100_000, 21));
    }
}
