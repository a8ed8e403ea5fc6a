//! Binomial schedules and the one that stores everything.

use rev_schedule::{revolve_calls, Action, Binomial, Counts, Everything};

use crate::board::play;

/// `t(l, s)` by its definition, for all `l ≤ n` and `s ≤ slots`: `table[s][l]`.
pub fn revolve_table(n: usize, slots: usize) -> Vec<Vec<u128>> {
    let mut table = vec![vec![0; n + 1]; slots + 1];
    for s in 1..=slots {
        for l in 2..=n {
            let split = |m: usize| table[s - 1][l - m] + table[s][m] + m as u128;
            // without a further slot, only the last step is reached
            let first = if s == 1 { l - 1 } else { 1 };
            table[s][l] = (first..l).map(split).min().unwrap();
        }
    }
    table
}

/// Griewank's treeverse as TreeverseAlgorithm.jl has it, in its rounding: calls, and the most states.
fn treeverse_counts(n: u64, delta: u64) -> (u128, usize) {
    let binomial = |tau: u64| (1..=delta).fold(1f64, |c, i| c * (tau + i) as f64 / i as f64).round();
    let tau = (1..).find(|&tau| binomial(tau) >= n as f64).unwrap();
    let mut source = Source { calls: 0, held: 1, peak: 1 };
    source.reverse(delta, tau, 0, 0, n);
    (source.calls, source.peak)
}

struct Source {
    calls: u128,
    held: usize,
    peak: usize,
}

impl Source {
    fn mid(delta: u64, tau: u64, sigma: u64, phi: u64) -> u64 {
        let kappa = (delta * sigma + tau * phi).div_ceil((tau + delta).max(1));
        if kappa >= phi && delta > 0 {
            (sigma + 1).max(phi - 1)
        } else {
            kappa
        }
    }

    /// `gone` steps lead to state σ; the original passes the state that they begin at, from which rustc 1.95
    /// makes another program than this when it optimises.
    fn reverse(&mut self, mut delta: u64, mut tau: u64, gone: u64, sigma: u64, mut phi: u64) {
        if gone > 0 {
            delta -= 1;
            self.calls += u128::from(gone);
            self.held += 1;
            self.peak = self.peak.max(self.held);
        }
        let mut kappa = Source::mid(delta, tau, sigma, phi);
        while tau > 0 && kappa < phi {
            self.reverse(delta, tau, kappa - sigma, kappa, phi);
            tau -= 1;
            phi = kappa;
            kappa = Source::mid(delta, tau, sigma, phi);
        }
        self.held -= usize::from(gone > 0);
    }
}

#[test]
fn revolve_is_legal_and_best() {
    let table = revolve_table(200, 30);
    for s in (1..=12).chain([20, 30]) {
        for n in 0..=200u64 {
            let played = play(Binomial::revolve(n, s).unwrap(), n);
            let best = table[s][n as usize];
            assert_eq!((played.calls, revolve_calls(n, s)), (best, Ok(best)), "n = {n}, s = {s}");
            assert!(played.peak_slots <= s && played.peak_states <= s + 1, "n = {n}, s = {s}: {played:?}");
        }
    }
}

#[test]
fn revolve_counts_of_the_literature() {
    let of = |l, s| Counts::of(Binomial::revolve(l, s).unwrap()).calls();
    for (l, s, calls) in [
        (10, 3, 15),
        (20, 3, 45),
        (20, 4, 39),
        (30, 5, 62),
        (30, 6, 54),
        (56, 3, 210),
        (100, 5, 316),
        (100, 10, 222),
        (1000, 10, 3636),
        (1000, 20, 2747),
        (9999, 5, 112_854),
        (9999, 10, 57_617),
        (9999, 20, 37_972),
        (9999, 21, 37_696),
        (9999, 41, 29_051),
        (10_000, 50, 28_622),
    ] {
        assert_eq!((of(l, s), revolve_calls(l, s)), (calls, Ok(calls)), "l = {l}, s = {s}");
    }
}

#[test]
fn treeverse_is_legal_and_as_its_source() {
    for delta in (1..=12).chain([20, 50, 250]) {
        for n in 1..=200u64 {
            let played = play(Binomial::treeverse(n, delta).unwrap(), n);
            let source = treeverse_counts(n, delta as u64);
            assert_eq!((played.calls, played.peak_states), source, "n = {n}, δ = {delta}");
            assert!(played.peak_slots <= delta);
        }
    }
}

#[test]
fn treeverse_counts_of_the_literature() {
    for (delta, calls, peak) in [
        (5, 113_095, 6),
        (10, 60_227, 11),
        (20, 37_972, 21),
        (40, 29_128, 41),
        (80, 27_138, 78),
        (160, 19_837, 160),
        (320, 19_681, 316),
    ] {
        let counts = Counts::of(Binomial::treeverse(9999, delta).unwrap());
        assert_eq!(
            (counts.calls(), counts.gradients, counts.peak_states),
            (calls, 9999, peak),
            "δ = {delta}"
        );
    }
    let counts = Counts::of(Binomial::treeverse(20, 3).unwrap());
    assert_eq!((counts.calls(), counts.peak_states), (45, 4));
    // C(5, 2) steps
    let counts = Counts::of(Binomial::treeverse(10, 3).unwrap());
    assert_eq!((counts.calls(), counts.peak_states), (15, 4));
}

#[test]
fn everything_stored() {
    for n in 0..=50 {
        let played = play(Everything::new(n), n);
        assert_eq!(played.calls, u128::from(n.saturating_sub(1)));
        assert_eq!(played.peak_states as u64, n.max(u64::from(n == 0)) * u64::from(n > 0));
    }
}

#[test]
fn with_a_slot_for_each_step_revolve_stores_everything() {
    for n in 1..=40 {
        let all: Vec<Action> = Binomial::revolve(n, n as usize).unwrap().collect();
        assert_eq!(all, Everything::new(n).collect::<Vec<_>>(), "n = {n}");
    }
}

#[test]
fn long_loops_and_many_slots_need_no_memory_of_their_own() {
    let last = |schedule: Binomial| schedule.take(1000).last().unwrap();
    for s in [1, 2, 3, 50, usize::MAX] {
        last(Binomial::revolve(u64::MAX, s).unwrap());
        last(Binomial::treeverse(u64::MAX, s).unwrap());
    }
    let counts = Counts::of(Binomial::revolve(1_000_000, 50).unwrap());
    assert_eq!(counts.calls(), revolve_calls(1_000_000, 50).unwrap());
    assert_eq!((counts.gradients, counts.peak_states), (1_000_000, 51));
}
