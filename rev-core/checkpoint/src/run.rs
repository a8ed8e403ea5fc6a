//! One call for a gradient.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rev_schedule::{Action, Counts, Online};

use super::disk::Folder;
use super::error::{Cause, CheckpointError};
use super::machine::{Machine, Watch};
use super::order::Order;
use super::{InPlace, State, Step};

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Calls of the step so far.
    pub calls: u128,
    /// All of them, where the length of the loop is known.
    pub all_calls: Option<u128>,
    /// Adjoints so far.
    pub gradients: u64,
    /// All of them.
    pub all_gradients: Option<u64>,
}

/// What a run took.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What its schedule counts, the part that a resumed run didn't do again included.
    pub counts: Counts,
    /// The bytes of all states that it had in memory, the working one among them.
    pub bytes: u64,
    /// The time of this run.
    pub time: Duration,
    /// Whether it went on from a saved run.
    pub resumed: bool,
}

/// A run of a loop and back, and its options.
#[derive(Default)]
pub struct Run<'w> {
    watch: Option<Watch<'w>>,
    folder: Option<PathBuf>,
    every: Option<u64>,
    resume: bool,
}

impl<'w> Run<'w> {
    /// In memory, without being watched.
    pub fn new() -> Run<'w> {
        Run::default()
    }

    /// Calls a function after each step and each adjoint; a [`ControlFlow::Break`] stops the run with [`CheckpointError::Stopped`].
    pub fn progress(mut self, watch: impl FnMut(&Progress) -> ControlFlow<()> + 'w) -> Run<'w> {
        self.watch = Some(Box::new(watch));
        self
    }

    /// Where states on disk and saved runs are kept. The folder is made where there is none; one run at a time uses it.
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Run<'w> {
        self.folder = Some(path.into());
        self
    }

    /// Saves the run to the folder after so many steps and adjoints, with all its states: a killed process loses no more than
    /// these.
    pub fn save_every(mut self, steps: u64) -> Run<'w> {
        self.every = Some(steps.max(1));
        self
    }

    /// Goes on from the saved run in the folder if there is one, with the bits of a run that wasn't interrupted. The first state and
    /// the cotangents that are given have to have the saved ones' shapes.
    pub fn resume(mut self) -> Run<'w> {
        self.resume = true;
        self
    }

    fn machine<'m, P: Step>(
        &'m mut self,
        order: Order,
        step: &'m mut P,
        first: P::State,
        cotangent: &'m mut P::Cotangent,
    ) -> Result<Machine<'m, 'w, P>, CheckpointError> {
        let mut machine = Machine::new(step, first, cotangent, order);
        machine.folder = self.folder.as_deref().map(Folder::new).transpose()?;
        if machine.folder.is_none() && (self.every.is_some() || self.resume) {
            return Err(CheckpointError::NoFolder);
        }
        machine.watch = self.watch.as_mut();
        machine.every = self.every;
        Ok(machine)
    }

    /// The gradient of a loop of `steps` steps from its first state, by a schedule. The cotangent holds what it begins with, zeros
    /// or the cotangents of the last state, and becomes the gradient.
    ///
    /// # Errors
    ///
    /// A schedule that isn't one of this loop, before anything runs; what the steps report; the disk's errors.
    pub fn gradient<P: Step, I>(
        mut self,
        schedule: I,
        steps: u64,
        step: &mut P,
        first: P::State,
        cotangent: &mut P::Cotangent,
    ) -> Result<Report, CheckpointError>
    where
        I: IntoIterator<Item = Action>,
        I::IntoIter: Clone,
    {
        let (begun, resume) = (Instant::now(), self.resume);
        let schedule = schedule.into_iter();
        let planned = Order::of(schedule.clone(), steps)?.counts;
        if planned.peak_disk > 0 && self.folder.is_none() {
            return Err(CheckpointError::NoFolder);
        }
        let mut machine = self.machine(Order::new(Some(steps)), step, first, cotangent)?;
        machine.progress.all_calls = Some(planned.advances);
        machine.progress.all_gradients = Some(planned.gradients);
        let resumed = resume && machine.resume()?.is_some();
        machine.go_ahead(resumed)?;
        for action in schedule {
            machine.act(action)?;
        }
        finish(machine, begun, resumed)
    }

    /// The gradient of a loop that goes on as long as `more` says so of the state. `seed` gets the number of steps and the last state, and
    /// adds the loss of that and its derivatives to the cotangents.
    ///
    /// # Errors
    ///
    /// As [`Run::gradient`].
    pub fn gradient_while<P: Step>(
        mut self,
        mut schedule: Online,
        mut more: impl FnMut(&P::State) -> bool,
        seed: impl FnOnce(u64, &P::State, &mut P::Cotangent) -> Result<(), Cause>,
        step: &mut P,
        first: P::State,
        cotangent: &mut P::Cotangent,
    ) -> Result<Report, CheckpointError> {
        let (begun, resume) = (Instant::now(), self.resume);
        let mut machine = self.machine(Order::new(None), step, first, cotangent)?;
        let saved = if resume { machine.resume()? } else { None };
        while saved.is_some_and(|saved| schedule.steps() < saved.steps) {
            schedule.step().try_for_each(|action| machine.act(action))?;
        }
        if saved.is_none_or(|saved| saved.ended == 0) {
            while more(&machine.working) {
                schedule.step().try_for_each(|action| machine.act(action))?;
            }
            let step = schedule.steps();
            let failed = |cause| CheckpointError::Adjoint { step, cause };
            seed(step, &machine.working, machine.cotangent).map_err(failed)?;
        }
        machine.order.ends();
        machine.progress.all_gradients = Some(schedule.steps());
        for action in schedule.reverse() {
            machine.act(action)?;
        }
        finish(machine, begun, saved.is_some())
    }

    /// The gradient of a loop whose steps are undone by their adjoints, so that no state is kept: forward, and back again. The state
    /// ends as it began, up to the rounding of the steps.
    ///
    /// # Errors
    ///
    /// What the steps report; [`CheckpointError::NotSaved`] where the run is to be saved or resumed.
    pub fn reversed<S: State, C: State, F, L, A>(
        mut self,
        steps: u64,
        step: &mut InPlace<F, L, A, S, C>,
        state: &mut S,
        cotangent: &mut C,
    ) -> Result<Report, CheckpointError>
    where
        F: FnMut(u64, &mut S) -> Result<(), Cause>,
        L: FnMut(u64, &S, &mut C) -> Result<(), Cause>,
        A: FnMut(u64, &mut S, &mut C) -> Result<(), Cause>,
    {
        if self.every.is_some() || self.resume {
            return Err(CheckpointError::NotSaved);
        }
        let begun = Instant::now();
        let mut progress = Progress {
            all_calls: Some(u128::from(steps)),
            all_gradients: Some(steps),
            ..Progress::default()
        };
        for i in 0..steps {
            step.advance(i, state).map_err(|cause| CheckpointError::Step { step: i, cause })?;
            progress.calls += 1;
            self.look(&progress)?;
        }
        for i in (0..steps).rev() {
            let failed = |cause| CheckpointError::Adjoint { step: i, cause };
            step.adjoint(i, state, cotangent).map_err(failed)?;
            progress.gradients += 1;
            self.look(&progress)?;
        }
        let mut counts = Counts::default();
        (counts.advances, counts.gradients, counts.peak_states) = (u128::from(steps), steps, 1);
        Ok(Report { counts, bytes: state.bytes(), time: begun.elapsed(), resumed: false })
    }

    fn look(&mut self, progress: &Progress) -> Result<(), CheckpointError> {
        match self.watch.as_mut().map(|watch| watch(progress)) {
            None | Some(ControlFlow::Continue(())) => Ok(()),
            Some(ControlFlow::Break(())) => {
                Err(CheckpointError::Stopped { calls: progress.calls, gradients: progress.gradients })
            }
        }
    }
}

fn finish<P: Step>(
    mut machine: Machine<'_, '_, P>,
    begun: Instant,
    resumed: bool,
) -> Result<Report, CheckpointError> {
    machine.caught_up()?;
    machine.order.finish()?;
    let bytes = machine.bytes();
    machine.leave();
    if let Some(folder) = &mut machine.folder {
        folder.finish()?;
    }
    Ok(Report { counts: machine.order.counts, bytes, time: begun.elapsed(), resumed })
}
