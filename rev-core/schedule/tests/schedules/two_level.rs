//! Memory and disk.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use rev_schedule::{revolve_calls, Costs, TwoLevel};

use crate::board::play;

/// A situation: the working state, what is in memory and on disk (a bit for each state), the adjoints to do.
type Board = (u32, u32, u32, u32);

/// The least cost of any sequence of actions, by Dijkstra's search.
fn searched(n: u32, slots: u32, costs: Costs) -> Option<u128> {
    let start: Board = (0, 0, 0, n);
    let mut known = HashMap::from([(start, 0u128)]);
    let mut heap = BinaryHeap::from([Reverse((0u128, start))]);
    while let Some(Reverse((cost, board))) = heap.pop() {
        let (at, memory, disk, end) = board;
        if end == 0 {
            return Some(cost);
        }
        if known[&board] < cost {
            continue;
        }
        let mut next: Vec<(u64, Board)> = Vec::new();
        if at + 1 == end {
            next.push((0, (at, memory, disk, at)));
        } else if at < end {
            next.push((costs.step, (at + 1, memory, disk, end)));
        }
        if memory.count_ones() < slots {
            next.push((0, (at, memory | 1 << at, disk, end)));
        }
        next.push((costs.write, (at, memory, disk | 1 << at, end)));
        for i in 0..end {
            if memory & 1 << i != 0 {
                next.push((0, (i, memory, disk, end)));
                next.push((0, (at, memory & !(1 << i), disk, end)));
            }
            if disk & 1 << i != 0 {
                next.push((costs.read, (i, memory, disk, end)));
            }
        }
        for (more, board) in next {
            let cost = cost + u128::from(more);
            if known.get(&board).is_none_or(|&k| cost < k) {
                known.insert(board, cost);
                heap.push(Reverse((cost, board)));
            }
        }
    }
    None
}

fn cost_of(n: u64, slots: usize, costs: Costs) -> u128 {
    let schedule = TwoLevel::new(n, slots, costs).unwrap();
    let predicted = schedule.cost();
    let played = play(schedule, n);
    let [step, write, read] = [costs.step, costs.write, costs.read].map(u128::from);
    assert_eq!(predicted, step * played.calls + write * played.writes + read * played.reads);
    assert!(played.peak_slots <= slots && played.peak_states <= slots + 1);
    predicted
}

const COSTS: [[u64; 3]; 9] =
    [[1, 0, 0], [1, 1, 1], [1, 2, 1], [1, 1, 3], [2, 3, 3], [1, 5, 0], [1, 0, 5], [3, 1, 2], [1, 40, 40]];

#[test]
fn no_sequence_of_actions_costs_less() {
    for [step, write, read] in COSTS {
        let costs = Costs { step, write, read };
        for (slots, longest) in [(0, 8), (1, 7), (2, 7), (3, 6)] {
            for n in 1..=longest {
                let found = searched(n, slots, costs);
                let cost = cost_of(u64::from(n), slots as usize, costs);
                assert_eq!(Some(cost), found, "n = {n}, {slots} slots, {costs:?}");
            }
        }
    }
}

#[test]
fn legal_at_all_lengths() {
    for [step, write, read] in COSTS {
        let costs = Costs { step, write, read };
        for slots in [0, 1, 2, 5, 10, 200] {
            for n in (0..40).chain([77, 150, 200]) {
                let cost = cost_of(n, slots, costs);
                if let Ok(calls) = revolve_calls(n, slots) {
                    assert!(cost <= u128::from(step) * calls, "n = {n}, {slots} slots, {costs:?}");
                }
            }
        }
    }
}

#[test]
fn a_disk_that_costs_too_much_is_not_used() {
    let costs = Costs { step: 1, write: 1 << 40, read: 1 << 40 };
    for (n, slots) in [(100, 5), (500, 3)] {
        assert_eq!(Ok(cost_of(n, slots, costs)), revolve_calls(n, slots));
    }
}

#[test]
fn a_free_disk_stores_everything() {
    for n in 1..100 {
        assert_eq!(cost_of(n, 2, Costs { step: 1, write: 0, read: 0 }), u128::from(n - 1));
    }
}
