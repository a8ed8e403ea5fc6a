//! Gradients of a small loop: the same bits from every schedule.

use approx::assert_abs_diff_eq;
use rev_schedule::{
    run, run_while, Action, Bennett, Binomial, Costs, Everything, Functions, Missing, Online, Pebbles,
    Policy, Slot, States, Steps, Top, TwoLevel,
};

const SIZE: usize = 5;
type Vector = [f64; SIZE];

/// A damped map with neighbours, which loses information: `x ← 0.9 x + 0.3 sin(x_{j+1} + step) - 0.1 x³`, and
/// halved where that is above 1.
fn step(step: u64, x: &mut Vector) {
    let old = *x;
    for j in 0..SIZE {
        let shifted = old[(j + 1) % SIZE] + step as f64;
        x[j] = 0.9 * old[j] + 0.3 * shifted.sin() - 0.1 * old[j].powi(3);
        if x[j] > 1.0 {
            x[j] *= 0.5;
        }
    }
}

/// Its adjoint at `x`.
fn adjoint(i: u64, x: &Vector, cotangent: &mut Vector) {
    let result = *cotangent;
    *cotangent = [0.0; SIZE];
    for j in 0..SIZE {
        let shifted = x[(j + 1) % SIZE] + i as f64;
        let value = 0.9 * x[j] + 0.3 * shifted.sin() - 0.1 * x[j].powi(3);
        let bar = if value > 1.0 { 0.5 * result[j] } else { result[j] };
        cotangent[j] += bar * (0.9 - 0.3 * x[j].powi(2));
        cotangent[(j + 1) % SIZE] += bar * 0.3 * shifted.cos();
    }
}

const FIRST: Vector = [0.3, -0.7, 1.4, 0.9, -1.2];
const SEED: Vector = [1.0, -2.0, 0.5, 0.25, 3.0];

fn gradient(schedule: impl IntoIterator<Item = Action>) -> [u64; SIZE] {
    let mut cotangent = SEED;
    let mut steps = Functions::new(FIRST, step, |i, x: &Vector| adjoint(i, x, &mut cotangent));
    run(schedule, &mut steps).unwrap();
    cotangent.map(f64::to_bits)
}

#[test]
fn the_adjoint_is_that_of_the_step() {
    let g = gradient(Everything::new(12)).map(f64::from_bits);
    let value = |x: Vector| {
        let mut x = x;
        (0..12).for_each(|i| step(i, &mut x));
        x.iter().zip(SEED).map(|(x, s)| x * s).sum::<f64>()
    };
    for j in 0..SIZE {
        let moved = |h: f64| {
            let mut x = FIRST;
            x[j] += h;
            value(x)
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert_abs_diff_eq!(g[j], slope, epsilon = 1e-6);
    }
}

#[test]
fn every_schedule_gives_the_same_bits() {
    for n in 0..=64 {
        let expected = gradient(Everything::new(n));
        for s in [1, 2, 3, 5, 9, 20, 70] {
            assert_eq!(gradient(Binomial::revolve(n, s).unwrap()), expected, "n = {n}, s = {s}");
            assert_eq!(gradient(Binomial::treeverse(n, s).unwrap()), expected, "n = {n}, s = {s}");
            for policy in [Policy::Binomial, Policy::Thinning] {
                let online = Online::new(s, policy).unwrap();
                assert_eq!(gradient(online.over(n)), expected, "n = {n}, s = {s}, {policy:?}");
            }
            let costs = Costs { step: 1, write: 2, read: 3 };
            assert_eq!(gradient(TwoLevel::new(n, s - 1, costs).unwrap()), expected, "n = {n}, s = {s}");
        }
        for top in [Top::Kept, Top::TakenBack] {
            for k in [2, 3, 4, 10] {
                let bennett = Bennett::new(k).unwrap();
                assert_eq!(gradient(bennett.gradient(n, top)), expected, "n = {n}, k = {k}");
            }
            for pebbles in [7, 8, 12] {
                assert_eq!(gradient(Pebbles::gradient(n, pebbles, top).unwrap()), expected, "n = {n}");
            }
        }
    }
}

#[test]
fn a_while_loop() {
    let mut lengths = Vec::new();
    for bound in [1.0, 0.0, -0.4, -0.8, -9.0] {
        // ends where the first component falls below a bound, after 60 steps at the latest
        let more = |x: &Vector, done: u64| x[0] > bound && done < 60;
        let (mut x, mut n) = (FIRST, 0);
        while more(&x, n) {
            step(n, &mut x);
            n += 1;
        }
        let (mut cotangent, mut asked) = (SEED, 0);
        let mut steps = Functions::new(FIRST, step, |i, x: &Vector| adjoint(i, x, &mut cotangent));
        let counts = run_while(Online::new(3, Policy::Binomial).unwrap(), &mut steps, |steps| {
            asked += 1;
            more(&steps.states.working, asked - 1)
        });
        assert_eq!(counts.unwrap().gradients, n);
        assert_eq!(cotangent.map(f64::to_bits), gradient(Everything::new(n)), "{n} steps");
        lengths.push(n);
    }
    assert!(lengths.contains(&0) && lengths.contains(&60), "{lengths:?}");
}

/// Reversible steps on integers: a result is added to an empty state, and taken back by subtraction.
struct Reversible {
    states: States<u64>,
    adjoints: Vec<(u64, u64)>,
}

impl Reversible {
    fn result(step: u64, x: u64) -> u64 {
        x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step) ^ (x >> 7)
    }
}

impl Steps for Reversible {
    type Error = Missing;

    fn advance(&mut self, step: u64) -> Result<(), Missing> {
        self.states.working = Reversible::result(step, self.states.working);
        Ok(())
    }

    fn adjoint(&mut self, step: u64) -> Result<(), Missing> {
        self.adjoints.push((step, self.states.working));
        Ok(())
    }

    fn store(&mut self, slot: Slot) -> Result<(), Missing> {
        self.states.store(slot);
        Ok(())
    }

    fn restore(&mut self, slot: Slot) -> Result<(), Missing> {
        self.states.restore(slot)
    }

    fn discard(&mut self, slot: Slot) -> Result<(), Missing> {
        self.states.take(slot).map(drop)
    }

    fn take_back(&mut self, step: u64, slot: Slot) -> Result<(), Missing> {
        let result = self.states.take(slot)?;
        assert_eq!(result.wrapping_sub(Reversible::result(step, self.states.working)), 0);
        Ok(())
    }
}

#[test]
fn steps_are_taken_back_where_they_were_done() {
    for n in 1..=64 {
        let states = |schedule| {
            let mut steps = Reversible { states: States::new(7), adjoints: Vec::new() };
            run(schedule, &mut steps).unwrap();
            steps.adjoints
        };
        let pebbles = states(Pebbles::gradient(n, 7, Top::TakenBack).unwrap());
        assert_eq!(pebbles, states(Bennett::new(3).unwrap().gradient(n, Top::Kept)));
        assert_eq!(pebbles.len() as u64, n);
        let mut x = 7;
        for (i, &adjoint) in (0..).zip(pebbles.iter().rev()) {
            assert_eq!(adjoint, (i, x));
            x = Reversible::result(i, x);
        }
    }
}

#[test]
fn a_schedule_of_nothing_stored_is_an_error() {
    let mut steps = Functions::new((), |_, _| (), |_, _| ());
    let wrong = [Action::Restore { state: 0, slot: Slot::Memory(3) }];
    assert_eq!(run(wrong, &mut steps), Err(Missing(Slot::Memory(3))));
}
