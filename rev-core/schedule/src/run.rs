//! The executor: one walk through a schedule, whatever its kind.

use thiserror::Error;

use crate::{Action, Counts, Online, Slot};

/// A loop whose gradient is taken: its steps, their adjoints, and where states are kept.
///
/// The implementor has the working state and the cotangents. [`States`] keeps states that can be cloned, and
/// [`Functions`] is an implementor made of two closures.
pub trait Steps {
    /// What may go wrong.
    type Error;

    /// Makes state `step + 1` of state `step`, which is the working one.
    ///
    /// # Errors
    ///
    /// The implementor's.
    fn advance(&mut self, step: u64) -> Result<(), Self::Error>;

    /// The adjoint of a step at the working state, which is the one before it. The last step comes first: the
    /// cotangents of its result are the implementor's to set.
    ///
    /// # Errors
    ///
    /// The implementor's.
    fn adjoint(&mut self, step: u64) -> Result<(), Self::Error>;

    /// Copies the working state to a slot.
    ///
    /// # Errors
    ///
    /// The implementor's.
    fn store(&mut self, slot: Slot) -> Result<(), Self::Error>;

    /// Copies a slot to the working state.
    ///
    /// # Errors
    ///
    /// The implementor's.
    fn restore(&mut self, slot: Slot) -> Result<(), Self::Error>;

    /// Forgets what is in a slot.
    ///
    /// # Errors
    ///
    /// The implementor's.
    fn discard(&mut self, slot: Slot) -> Result<(), Self::Error>;

    /// Uncomputes the result of a step, which lies in the slot, by the step's inverse; the working state is the one
    /// before the step. Steps that lose information have no inverse: they forget the result, as this does where it
    /// isn't written anew.
    ///
    /// # Errors
    ///
    /// The implementor's.
    fn take_back(&mut self, step: u64, slot: Slot) -> Result<(), Self::Error> {
        let _ = step;
        self.discard(slot)
    }
}

/// Runs a schedule and counts what it does.
///
/// # Errors
///
/// The first one of the steps.
pub fn run<S: Steps>(schedule: impl IntoIterator<Item = Action>, steps: &mut S) -> Result<Counts, S::Error> {
    let mut counts = Counts::default();
    follow(schedule, steps, &mut counts)?;
    Ok(counts)
}

/// Runs a loop as long as `more` says so, and then backwards.
///
/// # Errors
///
/// The first one of the steps.
pub fn run_while<S: Steps>(
    mut schedule: Online,
    steps: &mut S,
    mut more: impl FnMut(&S) -> bool,
) -> Result<Counts, S::Error> {
    let mut counts = Counts::default();
    while more(steps) {
        follow(schedule.step(), steps, &mut counts)?;
    }
    follow(schedule.reverse(), steps, &mut counts)?;
    Ok(counts)
}

fn follow<S: Steps>(
    schedule: impl IntoIterator<Item = Action>,
    steps: &mut S,
    counts: &mut Counts,
) -> Result<(), S::Error> {
    for action in schedule {
        match action {
            Action::Advance { from, to } => (from..to).try_for_each(|step| steps.advance(step))?,
            Action::Store { slot, .. } => steps.store(slot)?,
            Action::Restore { slot, .. } => steps.restore(slot)?,
            Action::TakeBack { step, slot } => steps.take_back(step, slot)?,
            Action::Adjoint { step } => steps.adjoint(step)?,
            Action::Drop { slot, .. } => steps.discard(slot)?,
        }
        counts.add(&action);
    }
    Ok(())
}

/// A slot that a schedule names holds nothing: a schedule that isn't one of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no state lies in {0:?}")]
pub struct Missing(pub Slot);

/// The working state and the stored ones, for states that can be cloned. Slots of both kinds are in memory.
#[derive(Clone, Debug)]
pub struct States<S> {
    /// The working state.
    pub working: S,
    memory: Vec<Option<S>>,
    disk: Vec<Option<S>>,
}

impl<S: Clone> States<S> {
    /// None stored, and state 0.
    pub fn new(first: S) -> States<S> {
        States { working: first, memory: Vec::new(), disk: Vec::new() }
    }

    fn place(&mut self, slot: Slot) -> &mut Option<S> {
        let (slots, index) = match slot {
            Slot::Memory(index) => (&mut self.memory, index),
            Slot::Disk(index) => (&mut self.disk, index),
        };
        if slots.len() <= index {
            slots.resize(index + 1, None);
        }
        &mut slots[index]
    }

    /// Copies the working state to a slot.
    pub fn store(&mut self, slot: Slot) {
        let state = self.working.clone();
        *self.place(slot) = Some(state);
    }

    /// Copies a slot to the working state.
    ///
    /// # Errors
    ///
    /// [`Missing`] of an empty slot.
    pub fn restore(&mut self, slot: Slot) -> Result<(), Missing> {
        self.working = self.place(slot).clone().ok_or(Missing(slot))?;
        Ok(())
    }

    /// Empties a slot.
    ///
    /// # Errors
    ///
    /// [`Missing`] of an empty slot.
    pub fn take(&mut self, slot: Slot) -> Result<S, Missing> {
        self.place(slot).take().ok_or(Missing(slot))
    }
}

/// A loop of two closures: a step, and the adjoint of a step at the state before it.
///
/// ```
/// use rev_schedule::{run, Binomial, Functions};
///
/// // x ← x² + 0.1, 100 times, with 5 stored states; the cotangent of the result is 1
/// let mut cotangent = 1.0;
/// let mut steps = Functions::new(0.2, |_, x: &mut f64| *x = *x * *x + 0.1, |_, x| cotangent *= 2.0 * x);
/// let counts = run(Binomial::revolve(100, 5)?, &mut steps)?;
/// assert_eq!((counts.calls(), counts.gradients), (316, 100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Functions<S, F, A> {
    /// The states.
    pub states: States<S>,
    step: F,
    adjoint: A,
}

impl<S: Clone, F: FnMut(u64, &mut S), A: FnMut(u64, &S)> Functions<S, F, A> {
    /// With state 0.
    pub fn new(first: S, step: F, adjoint: A) -> Functions<S, F, A> {
        Functions { states: States::new(first), step, adjoint }
    }
}

impl<S: Clone, F: FnMut(u64, &mut S), A: FnMut(u64, &S)> Steps for Functions<S, F, A> {
    type Error = Missing;

    fn advance(&mut self, step: u64) -> Result<(), Missing> {
        (self.step)(step, &mut self.states.working);
        Ok(())
    }

    fn adjoint(&mut self, step: u64) -> Result<(), Missing> {
        (self.adjoint)(step, &self.states.working);
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
}
