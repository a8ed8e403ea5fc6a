//! The best schedule for a memory budget.

use crate::{revolve_calls, Binomial, ScheduleError};

/// Memory: how much there is, and how much a state takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// All of it.
    pub bytes: u64,
    /// One state.
    pub state: u64,
}

/// Seconds that a step and its adjoint take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds {
    /// A step.
    pub step: f64,
    /// The adjoint of one.
    pub adjoint: f64,
}

/// A step whose adjoint takes as long as itself.
impl From<f64> for Seconds {
    fn from(step: f64) -> Seconds {
        Seconds { step, adjoint: step }
    }
}

impl Seconds {
    fn check(self) -> Result<Seconds, ScheduleError> {
        match [self.step, self.adjoint].into_iter().find(|s| !(s.is_finite() && *s > 0.0)) {
            Some(seconds) => Err(ScheduleError::Seconds { seconds }),
            None => Ok(self),
        }
    }
}

/// A schedule, and what it will take.
///
/// Of all schedules for steps that can't be inverted, [`Binomial::revolve`] has the fewest calls for any number of
/// states, and with one for each step it is the one that stores everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The length of the loop.
    pub steps: u64,
    /// Slots for stored states.
    pub slots: usize,
    /// Calls of the step; the adjoints are as many as the steps.
    pub calls: u128,
    /// The most states at a time, with the working one.
    pub peak_states: u64,
    /// The bytes of these.
    pub peak_bytes: u128,
    /// The predicted time of all calls and adjoints.
    pub seconds: f64,
}

impl Plan {
    /// The fastest schedule of a loop of this many steps in this much memory. `seconds_per_step` is a number, or
    /// [`Seconds`] where the adjoint of a step takes longer.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::LittleMemory`] for less than the first state and the working one, and errors for states
    /// without bytes, times that aren't above 0, and counts that overflow.
    ///
    /// ```
    /// use rev_schedule::{Memory, Plan};
    ///
    /// // 9999 steps of 32 MB and a millisecond, in 672 MB: 21 states
    /// let plan = Plan::within(Memory { bytes: 672_000_000, state: 32_000_000 }, 1e-3, 9999)?;
    /// assert_eq!((plan.slots, plan.calls, plan.peak_states), (20, 37_972, 21));
    /// assert!((plan.seconds - 47.971).abs() < 1e-9);
    /// # Ok::<(), rev_schedule::ScheduleError>(())
    /// ```
    pub fn within(
        memory: Memory,
        seconds_per_step: impl Into<Seconds>,
        steps: u64,
    ) -> Result<Plan, ScheduleError> {
        let seconds = seconds_per_step.into().check()?;
        let Memory { bytes, state } = memory;
        let states = bytes.checked_div(state).ok_or(ScheduleError::EmptyState)?;
        // the last state before an adjoint is the working one
        let useful = states.min(steps.max(2));
        match usize::try_from(useful.saturating_sub(1)) {
            Ok(0) => Err(ScheduleError::LittleMemory { bytes, state }),
            Ok(slots) => Plan::with(slots, state, seconds, steps),
            Err(_) => Err(ScheduleError::Overflow),
        }
    }

    fn with(slots: usize, state: u64, seconds: Seconds, steps: u64) -> Result<Plan, ScheduleError> {
        let calls = revolve_calls(steps, slots)?;
        let peak_states = (slots as u64 + 1).min(steps);
        Ok(Plan {
            steps,
            slots,
            calls,
            peak_states,
            peak_bytes: u128::from(peak_states) * u128::from(state),
            seconds: calls as f64 * seconds.step + steps as f64 * seconds.adjoint,
        })
    }

    /// Whether there is room for every state.
    pub fn stores_everything(&self) -> bool {
        self.peak_states >= self.steps
    }

    /// The schedule.
    ///
    /// # Errors
    ///
    /// None of a plan that [`Plan::within`] made.
    pub fn schedule(&self) -> Result<Binomial, ScheduleError> {
        Binomial::revolve(self.steps, self.slots)
    }

    /// Plans of this loop from the least memory to that of every state, about `points` of them in equal ratios of
    /// memory: the curve of time against peak.
    ///
    /// # Errors
    ///
    /// As [`Plan::within`].
    pub fn curve(
        state_bytes: u64,
        seconds_per_step: impl Into<Seconds>,
        steps: u64,
        points: usize,
    ) -> Result<Vec<Plan>, ScheduleError> {
        let seconds = seconds_per_step.into().check()?;
        if state_bytes == 0 {
            return Err(ScheduleError::EmptyState);
        }
        let most = usize::try_from(steps.max(2) - 1).map_err(|_| ScheduleError::Overflow)?;
        let ratio = (most as f64).powf(1.0 / points.max(2).saturating_sub(1) as f64);
        let mut slots: Vec<usize> = (0..points.max(2))
            .map(|i| (ratio.powi(i32::try_from(i).unwrap_or(i32::MAX)) as usize).clamp(1, most))
            .collect();
        slots.push(most);
        slots.dedup();
        slots.into_iter().map(|slots| Plan::with(slots, state_bytes, seconds, steps)).collect()
    }
}
