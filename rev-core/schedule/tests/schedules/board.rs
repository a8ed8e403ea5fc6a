//! The rules, written from the actions' descriptions alone: each action has to be possible, and at the end
//! all adjoints are done, in order, and all slots empty.

use std::collections::{HashMap, HashSet};

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
    let (mut played, mut counts) = (Played::default(), Counts::default());
    let mut slots: HashMap<Slot, u64> = HashMap::new();
    // what lies in them
    let (mut memory, mut disk) = (HashSet::new(), HashSet::new());
    let mut working = 0;
    for action in schedule {
        counts.add(&action);
        match action {
            Action::Advance { from, to } => {
                assert!(from == working && from < to && to <= steps, "{action:?} at {working}");
                played.calls += u128::from(to - from);
                working = to;
            }
            Action::Store { state, slot } => {
                assert_eq!(state, working, "{action:?}");
                assert_eq!(slots.insert(slot, state), None, "{action:?}");
                let level = if let Slot::Disk(_) = slot { &mut disk } else { &mut memory };
                assert!(level.insert(state), "{action:?} twice");
                played.writes += u128::from(matches!(slot, Slot::Disk(_)));
            }
            Action::Restore { state, slot } => {
                assert_eq!(slots.get(&slot), Some(&state), "{action:?}");
                played.reads += u128::from(matches!(slot, Slot::Disk(_)));
                working = state;
            }
            Action::TakeBack { step, slot } => {
                assert_eq!((working, slots.remove(&slot)), (step, Some(step + 1)), "{action:?}");
                assert!(memory.remove(&(step + 1)), "{action:?}");
                played.calls += 1;
            }
            Action::Adjoint { step } => {
                assert_eq!((step, step + 1), (working, expected), "{action:?}");
                expected -= 1;
                played.gradients += 1;
            }
            Action::Drop { state, slot } => {
                assert_eq!(slots.remove(&slot), Some(state), "{action:?}");
                let level = if let Slot::Disk(_) = slot { &mut disk } else { &mut memory };
                assert!(level.remove(&state), "{action:?}");
            }
        }
        let alone = usize::from(!memory.contains(&working));
        played.peak_states = played.peak_states.max(memory.len() + alone);
        played.peak_slots = played.peak_slots.max(memory.len());
        played.peak_disk = played.peak_disk.max(disk.len());
    }
    assert_eq!(expected, 0, "adjoints are missing");
    played.left = slots.into_values().collect();
    played.left.sort_unstable();
    // the crate's own counts agree
    assert_eq!(
        (counts.calls(), counts.gradients, counts.peak_states as usize, counts.peak_disk as usize),
        (played.calls, played.gradients, played.peak_states, played.peak_disk)
    );
    assert_eq!((u128::from(counts.writes), u128::from(counts.reads)), (played.writes, played.reads));
    played
}
