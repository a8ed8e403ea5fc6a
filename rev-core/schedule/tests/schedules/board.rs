//! The rules, written from the actions' descriptions alone: each action has to be possible, and at the end
//! all adjoints are done, in order, and all slots empty.

use std::collections::BTreeMap;

use rev_schedule::{Action, Counts, Slot};

/// What a schedule did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Played {
    pub calls: u128,
    pub gradients: u64,
    /// Different states in memory.
    pub peak_states: usize,
    /// Slots of memory in use.
    pub peak_slots: usize,
    pub peak_disk: usize,
    pub writes: u128,
    pub reads: u128,
    /// States in slots at the end.
    pub left: Vec<u64>,
}

/// Plays a gradient's schedule.
pub fn play(schedule: impl Iterator<Item = Action>, steps: u64) -> Played {
    let played = play_from(schedule, steps, steps);
    assert_eq!((played.gradients, &played.left[..]), (steps, &[][..]));
    played
}

/// Plays a program without adjoints.
pub fn play_program(schedule: impl Iterator<Item = Action>, steps: u64) -> Played {
    play_from(schedule, steps, 0)
}

fn play_from(schedule: impl Iterator<Item = Action>, steps: u64, mut expected: u64) -> Played {
    let mut played = Played::default();
    let mut slots: BTreeMap<Slot, u64> = BTreeMap::new();
    let (mut working, mut actions) = (0, Vec::new());
    for action in schedule {
        match action {
            Action::Advance { from, to } => {
                assert!(from == working && from < to && to <= steps, "{action:?} at {working}");
                played.calls += u128::from(to - from);
                working = to;
            }
            Action::Store { state, slot } => {
                assert_eq!(state, working, "{action:?}");
                let twice = |(other, held): (&Slot, &u64)| {
                    *held == state && matches!(other, Slot::Memory(_)) == matches!(slot, Slot::Memory(_))
                };
                assert!(!slots.iter().any(twice), "{action:?}");
                assert_eq!(slots.insert(slot, state), None, "{action:?}");
                played.writes += u128::from(matches!(slot, Slot::Disk(_)));
            }
            Action::Restore { state, slot } => {
                assert_eq!(slots.get(&slot), Some(&state), "{action:?}");
                played.reads += u128::from(matches!(slot, Slot::Disk(_)));
                working = state;
            }
            Action::TakeBack { step, slot } => {
                assert_eq!((working, slots.remove(&slot)), (step, Some(step + 1)), "{action:?}");
                played.calls += 1;
            }
            Action::Adjoint { step } => {
                assert_eq!((step, step + 1), (working, expected), "{action:?}");
                expected -= 1;
                played.gradients += 1;
            }
            Action::Drop { state, slot } => assert_eq!(slots.remove(&slot), Some(state), "{action:?}"),
        }
        actions.push(action);
        let memory = || slots.iter().filter(|(slot, _)| matches!(slot, Slot::Memory(_)));
        let alone = memory().all(|(_, state)| *state != working);
        played.peak_states = played.peak_states.max(memory().count() + usize::from(alone));
        played.peak_slots = played.peak_slots.max(memory().count());
        played.peak_disk = played.peak_disk.max(slots.len() - memory().count());
    }
    assert_eq!(expected, 0, "adjoints are missing");
    played.left = slots.into_values().collect();
    played.left.sort_unstable();
    // the crate's own counts agree
    let counts = Counts::of(actions);
    assert_eq!(
        (counts.calls(), counts.gradients, counts.peak_states as usize, counts.peak_disk as usize),
        (played.calls, played.gradients, played.peak_states, played.peak_disk)
    );
    assert_eq!((u128::from(counts.writes), u128::from(counts.reads)), (played.writes, played.reads));
    played
}
