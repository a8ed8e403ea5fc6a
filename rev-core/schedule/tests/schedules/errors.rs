//! Requests that no schedule can meet are errors that say what is needed.

use rev_schedule::{
    revolve_calls, Bennett, Binomial, Costs, Online, Pebbles, Policy, ScheduleError, Top, TwoLevel,
};

#[test]
fn no_room_for_a_state() {
    let none = Some(ScheduleError::NoStates);
    assert_eq!(Binomial::revolve(10, 0).err(), none);
    assert_eq!(Binomial::treeverse(10, 0).err(), none);
    assert_eq!(revolve_calls(10, 0).err(), none);
    assert_eq!(Online::new(0, Policy::Binomial).err(), none);
    assert_eq!(Online::new(0, Policy::Thinning).err(), none);
}

#[test]
fn too_few_segments_and_pebbles() {
    for segments in [0, 1] {
        assert_eq!(Bennett::new(segments).err(), Some(ScheduleError::FewSegments { segments }));
    }
    let few = ScheduleError::FewPebbles { steps: 17, pebbles: 5, needed: 6 };
    assert_eq!(Pebbles::program(17, 5).err(), Some(few));
    assert_eq!(few.to_string(), "17 steps need at least 6 pebbles, found 5");
    assert!(Pebbles::gradient(17, 6, Top::Kept).is_ok());
}

#[test]
fn tables_that_are_not_made() {
    let costs = Costs { step: 1, write: 1, read: 1 };
    assert_eq!(
        TwoLevel::new(20_001, 3, costs).err(),
        Some(ScheduleError::TooLong { steps: 20_001, limit: 20_000 })
    );
    assert!(matches!(Pebbles::new(u64::MAX, 70).err(), Some(ScheduleError::TooLong { .. })));
    assert!(matches!(Pebbles::new(1 << 40, 1 << 39).err(), Some(ScheduleError::LargeTable { .. })));
}

#[test]
fn counts_that_overflow() {
    // n (n - 1) / 2 of the longest loop fits, and so does 3^64
    let n = u128::from(u64::MAX);
    assert_eq!(revolve_calls(u64::MAX, 1), Ok(n / 2 * (n - 1) + (n - 1) / 2));
    assert!(Bennett::new(2).unwrap().calls(u64::MAX, Top::TakenBack).is_ok());
    assert_eq!(revolve_calls(u64::MAX, usize::MAX), Ok(n - 1));
    for slots in 2..100 {
        let calls = revolve_calls(u64::MAX, slots);
        assert!(calls.is_ok_and(|c| c > n) || calls == Err(ScheduleError::Overflow));
    }
}
