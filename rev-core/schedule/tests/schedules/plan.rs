//! Plans for a memory budget.

use rev_schedule::{Counts, Memory, Plan, ScheduleError, Seconds};

const STATE: u64 = 1000;

#[test]
fn the_prediction_is_what_the_schedule_does() {
    for n in [1, 2, 3, 10, 57, 200] {
        for bytes in (2..=210).map(|s| s * STATE + 500) {
            let plan = Plan::within(Memory { bytes, state: STATE }, 0.25, n).unwrap();
            let counts = Counts::of(plan.schedule().unwrap());
            assert_eq!(counts.calls(), plan.calls, "n = {n}, {bytes} bytes");
            assert_eq!(u128::from(counts.peak_states * STATE), plan.peak_bytes, "n = {n}, {bytes} bytes");
            assert!(plan.peak_bytes <= u128::from(bytes));
            assert_eq!(plan.seconds, 0.25 * (plan.calls as f64 + n as f64));
            assert_eq!(plan.stores_everything(), plan.calls == u128::from(n) - 1);
        }
    }
}

#[test]
fn adjoints_have_their_own_time() {
    let memory = Memory { bytes: 100 * STATE, state: STATE };
    let plan = Plan::within(memory, Seconds { step: 1.0, adjoint: 3.0 }, 50).unwrap();
    assert_eq!(plan.seconds, 49.0 + 150.0);
}

#[test]
fn the_curve_falls_with_memory() {
    let curve = Plan::curve(STATE, 1.0, 10_000, 40).unwrap();
    assert!(curve.len() > 30);
    assert!(curve.windows(2).all(|w| w[0].peak_bytes < w[1].peak_bytes && w[0].seconds >= w[1].seconds));
    assert_eq!(curve[0].slots, 1);
    assert!(curve.last().unwrap().stores_everything());
    let little = Plan::curve(STATE, 1.0, 1, 40).unwrap();
    assert_eq!(little.len(), 1);
}

#[test]
fn requests_that_can_t_be_met() {
    let within = |bytes, state, seconds: f64| Plan::within(Memory { bytes, state }, seconds, 100);
    assert_eq!(
        within(2 * STATE - 1, STATE, 1.0),
        Err(ScheduleError::LittleMemory { bytes: 1999, state: STATE })
    );
    assert_eq!(within(5, 0, 1.0), Err(ScheduleError::EmptyState));
    for seconds in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(within(5000, STATE, seconds), Err(ScheduleError::Seconds { seconds }));
    }
    assert!(matches!(within(5000, STATE, f64::NAN), Err(ScheduleError::Seconds { .. })));
    assert_eq!(Plan::curve(0, 1.0, 5, 5), Err(ScheduleError::EmptyState));
    assert!(Plan::within(Memory { bytes: 2, state: 1 }, 1.0, u64::MAX).is_ok());
}
