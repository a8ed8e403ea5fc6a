//! Gradients of loops by checkpoints: the same bits from every schedule, interrupted or not, in a pool that is allocated once.

#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use allocation_counter::measure;
use ndarray::Array1;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rev_checkpoint::{
    from_old, in_place, plain, Cause, CheckpointError, InPlace, Pool, Report, Run, State, Step, Unusable,
    Wrong,
};
use rev_cpu::prelude::*;
use rev_schedule::{
    Action, Bennett, Binomial, Costs, Everything, Memory, Online, Pebbles, Plan, Policy, Slot, Top, TwoLevel,
};

/// A nonlinear step on a ring of cells with a source: `y_i = x_i - k x_i³ + d (x_{i-1} - x_i)`, and `s` added to the first.
#[reversible]
fn relax<T: Real>(y: &mut [T], x: &[T], k: T, d: T, s: T) {
    let n = x.len();
    for i in 0..n {
        y[i] += x[i] - k * x[i].powi(3) + d * (x[(i + n - 1) % n] - x[i]);
    }
    y[0] += s;
}

const CELLS: usize = 7;
const STEPS: u64 = 60;
const CONSTANTS: (f64, f64) = (0.3, 0.2);

fn source(step: u64) -> f64 {
    (0.7 * step as f64).sin()
}

fn start() -> Vec<f64> {
    (0..CELLS).map(|i| 0.1 + 0.2 * i as f64).collect()
}

/// Cotangents of the state, of `k`, of `d`, of the sources, and the loss `Σ_n w_n x_n[2]²`.
type Bars = (Vec<f64>, f64, f64, Vec<f64>, f64);

fn bars() -> Bars {
    (vec![0.0; CELLS], 0.0, 0.0, vec![0.0; STEPS as usize], 0.0)
}

fn weight(step: u64) -> f64 {
    1.0 / (1.0 + step as f64)
}

fn add_loss(step: u64, after: &[f64], bars: &mut Bars) -> Result<(), Cause> {
    bars.4 += weight(step) * after[2] * after[2];
    bars.0[2] += 2.0 * weight(step) * after[2];
    Ok(())
}

/// The step as a reversible function, with the step that fails, if there is one.
fn reversible_step(fails: Option<u64>) -> impl Step<State = Vec<f64>, Cotangent = Bars> {
    let cpu = Cpu::with_threads(1);
    let again = cpu.clone();
    let (k, d) = CONSTANTS;
    let (mut y_bar, mut x_bar) = (vec![Batch([0.0]); CELLS], vec![Batch([0.0]); CELLS]);
    from_old(
        start(),
        move |step, new: &mut Vec<f64>, old: &Vec<f64>| {
            // an array of another length, where it is to fail
            let old = if fails == Some(step) { &old[..CELLS - 1] } else { &old[..] };
            if old.len() < new.len() {
                relax::run(&cpu, &mut new[..1], &old[..0], k, d, source(step))?;
                return Err("one cell is missing".into());
            }
            Ok(relax::run(&cpu, new, old, k, d, source(step))?)
        },
        |step, after: &Vec<f64>, bars: &mut Bars| add_loss(step, after, bars),
        move |step, new: &mut Vec<f64>, old: &Vec<f64>, bars: &mut Bars| {
            for i in 0..CELLS {
                (y_bar[i], x_bar[i]) = (Batch([bars.0[i]]), Batch([0.0]));
            }
            let [mut k_bar, mut d_bar, mut s_bar] = [Batch([0.0]); 3];
            let s = source(step);
            relax::adjoint(
                &again, new, &mut y_bar, old, &mut x_bar, k, &mut k_bar, d, &mut d_bar, s, &mut s_bar,
            )?;
            bars.0.iter_mut().zip(&x_bar).for_each(|(bar, x_bar)| *bar = x_bar.0[0]);
            bars.1 += k_bar.0[0];
            bars.2 += d_bar.0[0];
            bars.3[step as usize] += s_bar.0[0];
            Ok(())
        },
    )
}

/// The step as plain Rust.
fn advance(x: &mut [f64], (k, d): (f64, f64), s: f64) {
    let mut left = x[CELLS - 1];
    for v in x.iter_mut() {
        let old = *v;
        *v = old - k * old.powi(3) + d * (left - old);
        left = old;
    }
    x[0] += s;
}

fn plain_step() -> impl Step<State = Vec<f64>, Cotangent = Bars> {
    let (k, d) = CONSTANTS;
    plain(
        move |step, x: &mut Vec<f64>| {
            advance(x, (k, d), source(step));
            Ok(())
        },
        move |step, x: &Vec<f64>, bars: &mut Bars| {
            let mut after = x.clone();
            advance(&mut after, (k, d), source(step));
            add_loss(step, &after, bars)?;
            let y = std::mem::replace(&mut bars.0, vec![0.0; CELLS]);
            for i in 0..CELLS {
                let left = (i + CELLS - 1) % CELLS;
                bars.0[i] += y[i] * (1.0 - 3.0 * k * x[i] * x[i] - d);
                bars.0[left] += y[i] * d;
                bars.1 -= y[i] * x[i].powi(3);
                bars.2 += y[i] * (x[left] - x[i]);
            }
            bars.3[step as usize] += y[0];
            Ok(())
        },
    )
}

fn gradient(
    run: Run<'_>,
    schedule: Vec<Action>,
    mut step: impl Step<State = Vec<f64>, Cotangent = Bars>,
) -> Result<(Bars, Report), CheckpointError> {
    let mut bars = bars();
    let report = run.gradient(schedule, STEPS, &mut step, start(), &mut bars)?;
    Ok((bars, report))
}

/// Each kind of schedule, with its name.
fn schedules() -> Vec<(&'static str, Vec<Action>)> {
    let costs = Costs { step: 1, write: 2, read: 1 };
    let plan = Plan::within(Memory { bytes: 9 * 56, state: 56 }, 1e-3, STEPS).unwrap();
    let kept = Top::Kept;
    vec![
        ("revolve", Binomial::revolve(STEPS, 4).unwrap().collect()),
        ("treeverse", Binomial::treeverse(STEPS, 3).unwrap().collect()),
        ("Bennett", Bennett::new(3).unwrap().gradient(STEPS, kept).collect()),
        ("Bennett, taken back", Bennett::new(4).unwrap().gradient(STEPS, Top::TakenBack).collect()),
        ("pebbles", Pebbles::gradient(STEPS, 8, kept).unwrap().collect()),
        ("online", Online::new(4, Policy::Binomial).unwrap().over(STEPS).collect()),
        ("thinning", Online::new(5, Policy::Thinning).unwrap().over(STEPS).collect()),
        ("two levels", TwoLevel::new(STEPS, 2, costs).unwrap().collect()),
        ("planned", plan.schedule().unwrap().collect()),
    ]
}

fn bits(bars: &Bars) -> Vec<u64> {
    let numbers = bars.0.iter().chain([&bars.1, &bars.2]).chain(&bars.3).chain([&bars.4]);
    numbers.map(|x| x.to_bits()).collect()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn every_schedule_gives_the_bits_of_storing_everything() {
    let (expected, report) =
        gradient(Run::new(), Everything::new(STEPS).collect(), reversible_step(None)).unwrap();
    assert_eq!((report.counts.calls(), report.counts.peak_states), (u128::from(STEPS) - 1, STEPS));
    assert_eq!(report.bytes, 8 * CELLS as u64 * STEPS);
    for (name, schedule) in schedules() {
        let folder = folder();
        let (found, report) =
            gradient(Run::new().folder(folder.path()), schedule, reversible_step(None)).unwrap();
        assert_eq!(bits(&found), bits(&expected), "{name}");
        assert!(report.bytes < 20 * 8 * CELLS as u64, "{name}: {}", report.bytes);
        assert_eq!(files(folder.path()), 0, "{name}");
    }
}

#[test]
fn plain_rust_and_differences_agree() {
    let schedule = || Binomial::revolve(STEPS, 4).unwrap().collect();
    let (reversible, _) = gradient(Run::new(), schedule(), reversible_step(None)).unwrap();
    let (plain, _) = gradient(Run::new(), schedule(), plain_step()).unwrap();
    for (a, b) in reversible.0.iter().chain(&reversible.3).zip(plain.0.iter().chain(&plain.3)) {
        assert_relative_eq!(a, b, epsilon = 1e-12, max_relative = 1e-12);
    }
    assert_abs_diff_eq!(reversible.4, plain.4, epsilon = 1e-12);
    // the loss with something else moved by h
    let loss = |cell: f64, k: f64, d: f64, s: f64| {
        let mut x = start();
        x[3] += cell;
        (0..STEPS).fold(0.0, |sum, step| {
            let moved = if step == 20 { s } else { 0.0 };
            advance(&mut x, (CONSTANTS.0 + k, CONSTANTS.1 + d), source(step) + moved);
            sum + weight(step) * x[2] * x[2]
        })
    };
    let slope = |f: &dyn Fn(f64) -> f64| {
        let h = 1e-4;
        (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
    };
    let expected = [
        slope(&|h| loss(h, 0.0, 0.0, 0.0)),
        slope(&|h| loss(0.0, h, 0.0, 0.0)),
        slope(&|h| loss(0.0, 0.0, h, 0.0)),
        slope(&|h| loss(0.0, 0.0, 0.0, h)),
    ];
    let found = [reversible.0[3], reversible.1, reversible.2, reversible.3[20]];
    for (found, expected) in found.into_iter().zip(expected) {
        assert_relative_eq!(found, expected, epsilon = 1e-8, max_relative = 1e-8);
    }
}

#[test]
fn schedules_that_make_no_sense_are_refused_before_anything_runs() {
    let slot = Slot::Memory(0);
    let cases: [(&[Action], &str); 10] = [
        (&[Action::Advance { from: 1, to: 2 }], "the working state is state 0, not 1"),
        (&[Action::Advance { from: 0, to: 61 }], "steps from 0 to 61 of a loop of 60"),
        (&[Action::Advance { from: 0, to: 0 }], "steps from 0 to 0 of a loop of 60"),
        (&[Action::Store { state: 3, slot }], "the working state is state 0, not 3"),
        (
            &[Action::Store { state: 0, slot }, Action::Store { state: 0, slot }],
            "Memory(0) holds state 0 already",
        ),
        (&[Action::Restore { state: 0, slot }], "Memory(0) doesn't hold state 0"),
        (&[Action::Drop { state: 0, slot: Slot::Disk(4) }], "Disk(4) doesn't hold state 0"),
        (&[Action::TakeBack { step: 0, slot }], "Memory(0) doesn't hold state 1"),
        (&[Action::Adjoint { step: 0 }], "the next adjoint is that of step Some(59)"),
        (
            &[
                Action::Advance { from: 0, to: 59 },
                Action::Adjoint { step: 59 },
                Action::Adjoint { step: 58 },
            ],
            "the working state was used up by an adjoint, and state 58 wasn't restored",
        ),
    ];
    for (actions, message) in cases {
        let mut watched = 0;
        let run = Run::new().progress(|_| {
            watched += 1;
            ControlFlow::Continue(())
        });
        let error = gradient(run, actions.to_vec(), plain_step()).unwrap_err();
        let CheckpointError::Schedule { number, wrong, .. } = error else { panic!("{error}") };
        assert_eq!((number as usize, wrong.to_string().as_str()), (actions.len(), message));
        assert_eq!(watched, 0);
    }
    let unfinished = vec![Action::Advance { from: 0, to: 59 }, Action::Adjoint { step: 59 }];
    let error = gradient(Run::new(), unfinished, plain_step()).unwrap_err();
    assert_eq!(error.to_string(), "the schedule ends after 2 actions, before the adjoint of step 58");
    assert!(matches!(
        gradient(Run::new(), vec![Action::Adjoint { step: 59 }], plain_step()),
        Err(CheckpointError::Schedule { wrong: Wrong::Working { working: 0, needed: 59 }, .. })
    ));
    let costs = Costs { step: 10, write: 1, read: 1 };
    let disk = TwoLevel::new(STEPS, 1, costs).unwrap().collect();
    assert!(matches!(gradient(Run::new(), disk, plain_step()), Err(CheckpointError::NoFolder)));
}

#[test]
fn what_a_step_reports_names_the_step() {
    let schedule = || Binomial::revolve(STEPS, 4).unwrap().collect();
    let error = gradient(Run::new(), schedule(), reversible_step(Some(13))).unwrap_err();
    assert!(error.to_string().starts_with("step 13: "), "{error}");
    assert!(std::error::Error::source(&error).is_some());
    // the last step is part of its adjoint only
    let error = gradient(Run::new(), schedule(), reversible_step(Some(STEPS - 1))).unwrap_err();
    assert!(error.to_string().starts_with("adjoint of step 59: "), "{error}");
}

#[test]
fn progress_is_predicted() {
    for (name, schedule) in schedules() {
        let (mut seen, mut last) = (0, None);
        let folder = folder();
        let run = Run::new().folder(folder.path()).progress(|progress| {
            seen += 1;
            assert_eq!(progress.calls + u128::from(progress.gradients), seen);
            last = Some(*progress);
            ControlFlow::Continue(())
        });
        let (_, report) = gradient(run, schedule, plain_step()).unwrap();
        let last = last.unwrap();
        assert_eq!(last.all_calls, Some(report.counts.advances), "{name}");
        assert_eq!((Some(last.calls), Some(last.gradients)), (last.all_calls, last.all_gradients), "{name}");
    }
}

/// Stops a run after `calls` steps and adjoints.
fn stopping(calls: u128) -> impl FnMut(&rev_checkpoint::Progress) -> ControlFlow<()> {
    move |progress| match progress.calls + u128::from(progress.gradients) >= calls {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

#[test]
fn an_interrupted_run_goes_on_with_the_same_bits() {
    let (expected, _) = gradient(Run::new(), Everything::new(STEPS).collect(), plain_step()).unwrap();
    let costs = Costs { step: 4, write: 1, read: 1 };
    let two = TwoLevel::new(STEPS, 1, costs).unwrap();
    let two: Vec<Action> = two.collect();
    assert!(two.iter().any(|a| matches!(a, Action::Store { slot: Slot::Disk(_), .. })));
    let revolve: Vec<Action> = Binomial::revolve(STEPS, 3).unwrap().collect();
    for schedule in [two, revolve] {
        let whole = rev_schedule::Counts::of(schedule.clone());
        let all = whole.advances + u128::from(whole.gradients);
        for stop in (1..all).step_by(13) {
            let folder = folder();
            let run = || Run::new().folder(folder.path()).save_every(3).resume();
            let error = gradient(run().progress(stopping(stop)), schedule.clone(), plain_step()).unwrap_err();
            assert!(matches!(error, CheckpointError::Stopped { .. }), "{error}");
            // and once more, further on
            if stop + 10 < all {
                let error = gradient(run().progress(stopping(stop + 10)), schedule.clone(), plain_step());
                assert!(matches!(error, Err(CheckpointError::Stopped { .. })));
            }
            let mut first = None;
            let run = run().progress(|progress| {
                first.get_or_insert(progress.calls + u128::from(progress.gradients));
                ControlFlow::Continue(())
            });
            let (found, report) = gradient(run, schedule.clone(), plain_step()).unwrap();
            assert_eq!(bits(&found), bits(&expected), "stopped after {stop}");
            let saved = if stop + 10 < all { stop + 10 } else { stop } / 3 * 3;
            assert_eq!((report.resumed, report.counts.calls()), (saved > 0, whole.calls()));
            assert!(first.is_some_and(|first| first == saved + 1), "{first:?} {stop}");
            assert_eq!(files(folder.path()), 0);
        }
    }
}

#[test]
fn a_saved_run_of_something_else_or_damaged_is_refused() {
    let folder = folder();
    let run = || Run::new().folder(folder.path()).save_every(5);
    let schedule = || Binomial::revolve(STEPS, 4).unwrap().collect::<Vec<_>>();
    gradient(run().progress(stopping(70)), schedule(), plain_step()).unwrap_err();
    let other = Binomial::revolve(STEPS, 5).unwrap().collect();
    let error = gradient(run().resume(), other, plain_step()).unwrap_err();
    assert!(matches!(error, CheckpointError::Resume { why: Unusable::Schedule, .. }), "{error}");
    let mut step = plain(|_, _: &mut f64| Ok(()), |_, _: &f64, _: &mut f64| Ok(()));
    let error = run().resume().gradient(schedule(), STEPS, &mut step, 0.0, &mut 0.0).unwrap_err();
    assert!(
        matches!(error, CheckpointError::Resume { why: Unusable::Sizes { found: 56, expected: 8 }, .. }),
        "{error}"
    );
    let file = folder.path().join("saved-run");
    let whole = std::fs::read(&file).unwrap();
    for k in (0..whole.len()).step_by(7) {
        let mut changed = whole.clone();
        changed[k] ^= 1;
        for bytes in [&changed[..], &whole[..k]] {
            std::fs::write(&file, bytes).unwrap();
            let error = gradient(run().resume(), schedule(), plain_step()).unwrap_err();
            assert!(matches!(error, CheckpointError::Resume { .. }), "byte {k}: {error}");
        }
    }
    std::fs::write(&file, &whole).unwrap();
    assert!(gradient(run().resume(), schedule(), plain_step()).unwrap().1.resumed);
    // nothing is left: the same begins anew
    assert!(!gradient(run().resume(), schedule(), plain_step()).unwrap().1.resumed);
    assert!(matches!(
        gradient(Run::new().resume(), schedule(), plain_step()),
        Err(CheckpointError::NoFolder)
    ));
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = folder();
    let taken = folder.path().join("file");
    std::fs::write(&taken, "").unwrap();
    let schedule = Binomial::revolve(STEPS, 4).unwrap().collect();
    let error = gradient(Run::new().folder(&taken), schedule, plain_step()).unwrap_err();
    assert!(matches!(error, CheckpointError::Disk { .. }) && error.to_string().contains("file"), "{error}");
}

/// As long as a cell is above a number.
#[test]
fn a_loop_of_unknown_length_has_the_bits_of_a_known_one() {
    let (k, d) = CONSTANTS;
    let mut x = start();
    let mut steps = 0;
    while x[4] > 0.3 {
        advance(&mut x, (k, d), source(steps));
        steps += 1;
    }
    assert!((10..STEPS).contains(&steps), "{steps}");
    let seed = |_: u64, x: &Vec<f64>, bars: &mut Bars| {
        bars.4 += x[1];
        bars.0[1] += 1.0;
        Ok(())
    };
    let mut expected = bars();
    seed(steps, &x, &mut expected).unwrap();
    Run::new().gradient(Everything::new(steps), steps, &mut plain_step(), start(), &mut expected).unwrap();
    for policy in [Policy::Binomial, Policy::Thinning] {
        for stop in [None, Some(2), Some(9), Some(steps as u128), Some(steps as u128 + 15)] {
            let folder = folder();
            let mut found = bars();
            let mut whole = |run: Run<'_>| {
                found = bars();
                let online = Online::new(3, policy).unwrap();
                run.gradient_while(online, |x| x[4] > 0.3, seed, &mut plain_step(), start(), &mut found)
            };
            let run = || Run::new().folder(folder.path()).save_every(2).resume();
            if let Some(stop) = stop {
                let error = whole(run().progress(stopping(stop))).unwrap_err();
                assert!(matches!(error, CheckpointError::Stopped { .. }), "{error}");
            }
            let report = whole(run()).unwrap();
            assert_eq!((report.counts.gradients, report.resumed), (steps, stop.is_some()));
            assert_eq!(bits(&found), bits(&expected), "{policy:?} {stop:?}");
        }
    }
}

/// A leapfrog step, which its inverse undoes.
#[reversible]
fn leapfrog<T: Real>(x: &mut T, v: &mut T, dt: T) {
    *v -= x.powi(3) * dt;
    *x += *v * dt;
}

/// Cotangents of a leapfrog step: of `x`, of `v`, of `dt`.
type LeapfrogBars = (f64, f64, f64);

/// Leapfrog steps, which count their calls.
#[allow(clippy::type_complexity)] // closures have no names
fn leapfrogs<'a>(
    cpu: &'a Cpu,
    calls: &'a Cell<u64>,
) -> InPlace<
    impl FnMut(u64, &mut (f64, f64)) -> Result<(), Cause> + 'a,
    impl FnMut(u64, &(f64, f64), &mut LeapfrogBars) -> Result<(), Cause> + 'a,
    impl FnMut(u64, &mut (f64, f64), &mut LeapfrogBars) -> Result<(), Cause> + 'a,
    (f64, f64),
    LeapfrogBars,
> {
    let dt = 0.01;
    in_place(
        move |_, (x, v): &mut (f64, f64)| {
            calls.set(calls.get() + 1);
            Ok(leapfrog::run(cpu, x, v, dt)?)
        },
        |step, (x, _): &(f64, f64), bars: &mut LeapfrogBars| {
            bars.0 += weight(step) * x;
            Ok(())
        },
        move |_, (x, v): &mut (f64, f64), bars: &mut LeapfrogBars| {
            let (mut x_bar, mut v_bar, mut dt_bar) = (Batch([bars.0]), Batch([bars.1]), Batch([0.0]));
            leapfrog::adjoint(cpu, x, &mut x_bar, v, &mut v_bar, dt, &mut dt_bar)?;
            *bars = (x_bar.0[0], v_bar.0[0], bars.2 + dt_bar.0[0]);
            Ok(())
        },
    )
}

/// Any order of actions that makes sense, with many that are of no use.
fn wandering(steps: u64, rng: &mut ChaCha8Rng) -> Vec<Action> {
    let mut slots = BTreeMap::from([(0, 0)]);
    let mut actions = vec![Action::Store { state: 0, slot: Slot::Memory(0) }];
    let (mut working, mut end) = (Some(0), steps);
    while end > 0 {
        let held: Vec<(usize, u64)> = slots.iter().map(|(n, state)| (*n, *state)).collect();
        let (n, state) = held[rng.random_range(0..held.len())];
        let slot = Slot::Memory(n);
        match (working, rng.random_range(0..6)) {
            (Some(from), 0 | 1) if from < steps => {
                let to = rng.random_range(from + 1..=steps.min(from + 9));
                actions.push(Action::Advance { from, to });
                working = Some(to);
            }
            (Some(at), 2) if slots.len() < 5 => {
                let free = (0..5).find(|n| !slots.contains_key(n)).unwrap();
                actions.push(Action::Store { state: at, slot: Slot::Memory(free) });
                slots.insert(free, at);
            }
            (_, 3) if n != 0 => {
                actions.push(Action::Drop { state, slot });
                slots.remove(&n);
            }
            (Some(step), 4 | 5) if step + 1 == end => {
                actions.push(Action::Adjoint { step });
                (working, end) = (None, step);
            }
            _ => {
                actions.push(Action::Restore { state, slot });
                working = Some(state);
            }
        }
    }
    actions
}

#[test]
fn schedules_of_any_order_give_the_bits_of_storing_everything() {
    const FEW: u64 = 12;
    let (cpu, calls) = (Cpu::with_threads(1), Cell::new(0));
    let of_relaxing = |schedule: Vec<Action>| {
        let mut bars = bars();
        Run::new().gradient(schedule, FEW, &mut reversible_step(None), start(), &mut bars).unwrap();
        bits(&bars)
    };
    let of_leapfrogs = |schedule: Vec<Action>, steps: u64| {
        let mut bars = (1.0, 0.5, 0.0);
        calls.set(0);
        let folder = folder();
        let run = Run::new().folder(folder.path());
        run.gradient(schedule, steps, &mut leapfrogs(&cpu, &calls), (1.0, 0.0), &mut bars).unwrap();
        [bars.0, bars.1, bars.2].map(f64::to_bits)
    };
    let expected = of_leapfrogs(Everything::new(STEPS).collect(), STEPS);
    // each state once, that after the last step too, which its adjoint starts from
    assert_eq!(calls.get(), STEPS);
    for (name, schedule) in schedules() {
        assert_eq!(of_leapfrogs(schedule, STEPS), expected, "{name}");
    }
    let expected =
        (of_relaxing(Everything::new(FEW).collect()), of_leapfrogs(Everything::new(FEW).collect(), FEW));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..50 {
        let schedule = wandering(FEW, &mut rng);
        let found = (of_relaxing(schedule.clone()), of_leapfrogs(schedule.clone(), FEW));
        assert_eq!(found, expected, "{schedule:?}");
    }
}

/// Of a loop whose length wasn't known the states are those before the steps, of one whose length is, those after them.
#[test]
fn a_loop_of_unknown_length_is_not_resumed_as_one_of_a_known_length() {
    let (cpu, calls, folder) = (Cpu::with_threads(1), Cell::new(0), folder());
    let online = || Online::new(4, Policy::Binomial).unwrap();
    let saving = || Run::new().folder(folder.path()).save_every(1);
    let mut bars = (1.0, 0.5, 0.0);
    let mut left = STEPS + 10;
    let stopped = saving()
        .progress(|_| {
            left -= 1;
            if left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .gradient_while(
            online(),
            |_| calls.get() < STEPS,
            |_, _, _| Ok(()),
            &mut leapfrogs(&cpu, &calls),
            (1.0, 0.0),
            &mut bars,
        );
    assert!(matches!(stopped, Err(CheckpointError::Stopped { .. })), "{stopped:?}");
    let schedule: Vec<Action> = online().over(STEPS).collect();
    let resumed =
        saving().resume().gradient(schedule, STEPS, &mut leapfrogs(&cpu, &calls), (1.0, 0.0), &mut bars);
    let other = matches!(&resumed, Err(CheckpointError::Resume { why: Unusable::Schedule, .. }));
    assert!(other, "{resumed:?}");
}

#[test]
fn steps_that_are_undone_keep_no_state() {
    let (cpu, calls) = (Cpu::new(), Cell::new(0));
    let step = || leapfrogs(&cpu, &calls);
    let (mut stored, mut undone) = ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0));
    Run::new().gradient(Everything::new(500), 500, &mut step(), (1.0, 0.0), &mut stored).unwrap();
    let mut state = (1.0, 0.0);
    let report = Run::new().reversed(500, &mut step(), &mut state, &mut undone).unwrap();
    assert_eq!((report.counts.calls(), report.counts.peak_states, report.bytes), (500, 1, 16));
    assert!(abs_diff_eq!(state.0, 1.0, epsilon = 1e-13), "{state:?}");
    assert!(abs_diff_eq!(state.1, 0.0, epsilon = 1e-13), "{state:?}");
    for (a, b) in [(stored.0, undone.0), (stored.1, undone.1), (stored.2, undone.2)] {
        assert_relative_eq!(a, b, epsilon = 0.0, max_relative = 1e-10);
    }
    let error = Run::new().folder("unused").save_every(1).reversed(1, &mut step(), &mut state, &mut undone);
    assert!(matches!(error, Err(CheckpointError::NotSaved)));
}

/// A pool of the schedule's states is allocated, and but for the schedule's own few numbers nothing else.
#[test]
fn the_budget_is_kept() {
    const N: usize = 20_000;
    let n = N as u64;
    let step = || {
        plain(
            |_, x: &mut Array1<f64>| {
                x.iter_mut().for_each(|x| *x -= 0.1 * *x * *x);
                Ok(())
            },
            |_, x: &Array1<f64>, bar: &mut Array1<f64>| {
                bar.iter_mut().zip(x).for_each(|(bar, x)| *bar *= 1.0 - 0.2 * x);
                Ok(())
            },
        )
    };
    for slots in [1, 3, 8] {
        let (mut step, mut bar) = (step(), Array1::ones(N));
        let first = Array1::from_elem(N, 0.5);
        let memory = Memory { bytes: (slots + 1) * 8 * n, state: first.bytes() };
        let plan = Plan::within(memory, 1e-3, 100).unwrap();
        let mut report = None;
        let run = Run::new().progress(|_| ControlFlow::Continue(()));
        let schedule = plan.schedule().unwrap();
        let info =
            measure(|| report = Some(run.gradient(schedule, 100, &mut step, first, &mut bar).unwrap()));
        assert_eq!((plan.peak_states, report.unwrap().bytes), (slots + 1, (slots + 1) * 8 * n));
        // the working state was there before
        let others = 4000;
        assert!((slots * 8 * n..slots * 8 * n + others).contains(&info.bytes_total), "{info:?}");
    }
    let small = Memory { bytes: 16 * n - 1, state: 8 * n };
    assert!(Plan::within(small, 1e-3, 100).is_err());
}

/// A run takes what the one before it has left, whatever its shape is, and has the same bits.
#[test]
fn memory_stays_for_the_next_run() {
    const N: usize = 20_000;
    let gradient = |pool: Option<&mut Pool<Array1<f64>>>, slots: usize, n: usize| {
        let step = in_place(
            |_, x: &mut Array1<f64>| {
                x.iter_mut().for_each(|x| *x *= 1.5);
                Ok(())
            },
            |step, x: &Array1<f64>, bar: &mut Array1<f64>| {
                bar.iter_mut().zip(x).for_each(|(bar, x)| *bar += step as f64 * x);
                Ok(())
            },
            |_, x: &mut Array1<f64>, bar: &mut Array1<f64>| {
                x.iter_mut().for_each(|x| *x /= 1.5);
                bar.iter_mut().for_each(|bar| *bar *= 1.5);
                Ok(())
            },
        );
        let schedule = Binomial::revolve(30, slots).unwrap();
        let (first, mut bar) = (Array1::from_elem(n, 0.5), Array1::zeros(n));
        let info = measure(|| {
            match pool {
                Some(pool) => Run::new().gradient(schedule, 30, &mut step.in_pool(pool), first, &mut bar),
                None => Run::new().gradient(schedule, 30, &mut { step }, first, &mut bar),
            }
            .unwrap();
        });
        (info.bytes_total, bar)
    };
    // a working state may have changed places with a kept one: the last run gets one that never was as large
    let mut pool = Pool::new();
    let (of_states, others) = (8 * N as u64, 8000);
    let expected = gradient(None, 4, N);
    assert!(expected.0 > 4 * of_states);
    for (slots, n, allocated, left) in
        [(4, N, 4, 4), (4, N, 0, 4), (2, N, 0, 4), (6, N, 2, 6), (5, N / 2, 0, 6), (6, N, 1, 6)]
    {
        let (bytes, bar) = gradient(Some(&mut pool), slots, n);
        let least = allocated * of_states;
        assert!((least..least + others).contains(&bytes), "{slots} slots of {n}: {bytes} bytes");
        assert_eq!((pool.len(), bar), (left, gradient(None, slots, n).1));
    }
}

/// What is read is what was written.
#[test]
fn states_are_read_as_they_were_written() {
    let state = (
        vec![1.5f32, -2.0],
        [Complex::new(0.1, f64::MIN_POSITIVE), Complex::new(-0.0, 3.0)],
        ndarray::arr2(&[[1i64, -2], [3, 4]]),
        (7u8, 9usize, i128::MIN),
        vec![Batch([1.0, 2.0]); 3],
    );
    let mut bytes = Vec::new();
    state.write(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, state.bytes());
    let mut read = state.clone();
    read.clear();
    assert_eq!((read.0[1], read.2[[1, 1]], read.3 .2), (0.0, 0, 0));
    read.read(&mut &bytes[..]).unwrap();
    assert_eq!(read, state);
    assert!(read.read(&mut &bytes[1..]).is_err());
}
