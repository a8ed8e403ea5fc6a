//! Does what a schedule says: one working state, a pool of others, files.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use rev_schedule::{Action, Slot};

use super::disk::Folder;
use super::error::{CheckpointError, Unusable};
use super::order::Order;
use super::record::{self, Held, Loaded, Position};
use super::run::Progress;
use super::{Pool, State, Step};

/// Says after each step whether to go on.
pub(super) type Watch<'a> = Box<dyn FnMut(&Progress) -> ControlFlow<()> + 'a>;

/// A run in progress.
pub(super) struct Machine<'m, 'w, P: Step> {
    pub step: &'m mut P,
    pub working: P::State,
    pub cotangent: &'m mut P::Cotangent,
    pub order: Order,
    pub progress: Progress,
    pub watch: Option<&'m mut Watch<'w>>,
    pub folder: Option<Folder>,
    /// After how many steps and adjoints the run is saved, and how many there were since.
    pub every: Option<u64>,
    pub since: u64,
    /// What the slots hold. A slot's memory stays when it is empty, for the next state.
    pool: BTreeMap<usize, P::State>,
    full: BTreeSet<usize>,
    /// The slot whose state the working one is, without a copy of it.
    lent: Option<usize>,
    files: BTreeMap<usize, u64>,
    /// Where the saved run is that this one goes on from, until it is there.
    resumed: Option<Position>,
    /// How many steps the states are after those that the schedule names: 0 or 1.
    ahead: u64,
}

impl<'m, 'w, P: Step> Machine<'m, 'w, P> {
    pub fn new(step: &'m mut P, working: P::State, cotangent: &'m mut P::Cotangent, order: Order) -> Self {
        Machine {
            step,
            working,
            cotangent,
            order,
            progress: Progress::default(),
            watch: None,
            folder: None,
            every: None,
            since: 0,
            pool: BTreeMap::new(),
            full: BTreeSet::new(),
            lent: None,
            files: BTreeMap::new(),
            resumed: None,
            ahead: 0,
        }
    }

    /// Has each state in place of the one before it, where adjoints start from the one after a step: the schedule is the same
    /// with all states moved by one. The working state is there already if it is of a saved run.
    pub fn go_ahead(&mut self, is_there: bool) -> Result<(), CheckpointError> {
        let (steps, _) = self.order.length();
        if !P::FROM_AFTER || steps == 0 {
            return Ok(());
        }
        self.ahead = 1;
        // a saved run whose states aren't moved is one of another schedule
        self.order.hash ^= self.ahead;
        if is_there {
            return Ok(());
        }
        self.advance(0)
    }

    fn advance(&mut self, step: u64) -> Result<(), CheckpointError> {
        let failed = |cause| CheckpointError::Step { step, cause };
        self.step.advance(step, &mut self.working).map_err(failed)
    }

    /// Takes over a saved run, if there is one. Its actions are gone through again, but not done.
    pub fn resume(&mut self) -> Result<Option<Position>, CheckpointError> {
        let Some(folder) = &mut self.folder else { return Err(CheckpointError::NoFolder) };
        let Some(loaded) = record::load(&folder.record(), &mut self.working, self.cotangent)? else {
            return Ok(None);
        };
        let Loaded { position, memory, disk } = loaded;
        folder.resumed(position.files);
        let index = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        self.full = memory.iter().map(|(n, _)| index(*n)).collect();
        self.pool = memory.into_iter().map(|(n, state)| (index(n), state)).collect();
        self.files = disk.into_iter().map(|(n, file)| (index(n), file)).collect();
        self.resumed = Some(position);
        Ok(Some(position))
    }

    /// The bytes of all states in memory, the working one among them.
    pub fn bytes(&self) -> u64 {
        self.pool.values().map(State::bytes).sum::<u64>() + self.working.bytes()
    }

    /// Leaves the states' memory for another run. The working one's was the caller's.
    pub fn leave(&mut self) {
        if let Some(pool) = self.step.pool() {
            pool.leave(std::mem::take(&mut self.pool).into_values());
        }
    }

    /// The next action.
    pub fn act(&mut self, action: Action) -> Result<(), CheckpointError> {
        let within = match self.resumed {
            Some(saved) if self.order.actions < saved.actions => {
                self.order.add(&action)?;
                self.count(&action, u64::MAX);
                return Ok(());
            }
            Some(saved) => {
                self.same_schedule(saved, &action)?;
                self.resumed = None;
                saved.within
            }
            None => 0,
        };
        // a run that is saved in the middle of an action goes on there: only whole ones are counted
        let before = (self.order.actions, self.order.hash);
        self.order.add(&action)?;
        self.count(&action, within);
        match action {
            Action::Advance { from, to } => {
                if let Some(state) = self.lent.take().and_then(|n| self.pool.get_mut(&n)) {
                    state.assign(&self.working);
                }
                let (steps, is_known) = self.order.length();
                for step in from + within..to {
                    let next = step + self.ahead;
                    // no adjoint starts from the state after the last one
                    if !is_known || next < steps {
                        self.advance(next)?;
                    }
                    self.progress.calls += 1;
                    let done = step + 1 - from;
                    self.after((step + 1 < to).then_some((before, done)))?;
                }
            }
            Action::Store { slot, .. } => self.store(slot)?,
            Action::Restore { state, slot } => self.restore(slot, self.order.is_next(state))?,
            // what can't be undone, or needn't, is forgotten
            Action::TakeBack { slot, .. } | Action::Drop { slot, .. } => self.discard(slot)?,
            Action::Adjoint { step } => {
                let failed = |cause| CheckpointError::Adjoint { step, cause };
                self.lent = None;
                if P::FROM_AFTER && self.ahead == 0 {
                    self.step.advance(step, &mut self.working).map_err(failed)?;
                }
                self.step.adjoint(step, &mut self.working, self.cotangent).map_err(failed)?;
                self.progress.gradients += 1;
                self.after(None)?;
            }
        }
        Ok(())
    }

    /// Steps that a saved run has done already.
    fn count(&mut self, action: &Action, done: u64) {
        match *action {
            Action::Advance { from, to } => self.progress.calls += u128::from((to - from).min(done)),
            Action::Adjoint { .. } if done == u64::MAX => self.progress.gradients += 1,
            Action::Adjoint { .. }
            | Action::Store { .. }
            | Action::Restore { .. }
            | Action::TakeBack { .. }
            | Action::Drop { .. } => {}
        }
    }

    /// The schedule has to be that of the saved run, up to where that is, in the middle of an action or before it.
    fn same_schedule(&self, saved: Position, next: &Action) -> Result<(), CheckpointError> {
        let begun = match *next {
            Action::Advance { from, to } => to.saturating_sub(from) > saved.within,
            Action::Store { .. }
            | Action::Restore { .. }
            | Action::TakeBack { .. }
            | Action::Adjoint { .. }
            | Action::Drop { .. } => saved.within == 0,
        };
        if begun && saved.hash == self.order.hash {
            Ok(())
        } else {
            Err(self.other_schedule())
        }
    }

    fn other_schedule(&self) -> CheckpointError {
        let path = self.folder.as_ref().map(Folder::record).unwrap_or_default();
        CheckpointError::Resume { path, why: Unusable::Schedule }
    }

    /// That there were as many actions as the saved run has.
    pub fn caught_up(&self) -> Result<(), CheckpointError> {
        match self.resumed {
            Some(saved)
                if (saved.actions, saved.hash, saved.within) != (self.order.actions, self.order.hash, 0) =>
            {
                Err(self.other_schedule())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// After a step: saves the run if it is time, and asks whether to go on. Of an action that isn't done, what was before it,
    /// and how many of its steps are done.
    fn after(&mut self, unfinished: Option<((u64, u64), u64)>) -> Result<(), CheckpointError> {
        self.since += 1;
        if self.every.is_some_and(|every| self.since >= every) {
            let whole = ((self.order.actions, self.order.hash), 0);
            let ((actions, hash), within) = unfinished.unwrap_or(whole);
            self.save(actions, hash, within)?;
            self.since = 0;
        }
        let Some(watch) = &mut self.watch else { return Ok(()) };
        match watch(&self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                let Progress { calls, gradients, .. } = self.progress;
                Err(CheckpointError::Stopped { calls, gradients })
            }
        }
    }

    fn save(&mut self, actions: u64, hash: u64, within: u64) -> Result<(), CheckpointError> {
        let (steps, ended) = self.order.length();
        let Some(folder) = &mut self.folder else { return Err(CheckpointError::NoFolder) };
        let position =
            Position { actions, hash, within, steps, ended: u64::from(ended), files: folder.next() };
        let memory = self.full.iter().filter_map(|n| Some((*n as u64, self.pool.get(n)?))).collect();
        let held = Held { memory, disk: self.files.iter().map(|(n, file)| (*n as u64, *file)).collect() };
        record::save(&folder.record(), position, &held, (&self.working, &*self.cotangent))?;
        folder.saved()
    }

    fn store(&mut self, slot: Slot) -> Result<(), CheckpointError> {
        match slot {
            Slot::Memory(n) => {
                match self.pool.get_mut(&n) {
                    Some(state) => state.assign(&self.working),
                    None => {
                        let state = match self.step.pool().and_then(Pool::take) {
                            Some(mut state) => {
                                state.assign(&self.working);
                                state
                            }
                            None => self.working.clone(),
                        };
                        self.pool.insert(n, state);
                    }
                }
                self.full.insert(n);
            }
            Slot::Disk(n) => {
                let Some(folder) = &mut self.folder else { return Err(CheckpointError::NoFolder) };
                self.files.insert(n, folder.store(&self.working)?);
            }
        }
        Ok(())
    }

    /// The order has seen that the slot holds a state. Nothing is copied where the next adjoint starts from it, after which it isn't
    /// needed any more.
    fn restore(&mut self, slot: Slot, is_next: bool) -> Result<(), CheckpointError> {
        if let Some(state) = self.lent.take().and_then(|n| self.pool.get_mut(&n)) {
            std::mem::swap(&mut self.working, state);
        }
        match slot {
            Slot::Memory(n) => match self.pool.get_mut(&n) {
                Some(state) if is_next => {
                    std::mem::swap(&mut self.working, state);
                    self.lent = Some(n);
                }
                Some(state) => self.working.assign(state),
                None => {}
            },
            Slot::Disk(n) => {
                if let (Some(folder), Some(file)) = (&self.folder, self.files.get(&n)) {
                    folder.restore(*file, &mut self.working)?;
                }
            }
        }
        Ok(())
    }

    fn discard(&mut self, slot: Slot) -> Result<(), CheckpointError> {
        match slot {
            Slot::Memory(n) => {
                self.full.remove(&n);
                self.lent = self.lent.filter(|lent| *lent != n);
            }
            Slot::Disk(n) => {
                if let (Some(folder), Some(file)) = (&mut self.folder, self.files.remove(&n)) {
                    folder.discard(file)?;
                }
            }
        }
        Ok(())
    }
}
