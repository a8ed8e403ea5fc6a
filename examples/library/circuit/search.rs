//! L-BFGS on a function with a gradient, with a bar for its iterations.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argmin::core::checkpointing::{Checkpoint, CheckpointingFrequency};
use argmin::core::{CostFunction, Error, Executor, Gradient, IterState, State, TerminationStatus};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use indicatif::ProgressBar;

use rev_examples::support::Failure;

type Vector = Vec<f64>;
type Iteration = IterState<Vector, Vector, (), (), (), f64>;
type Solver = LBFGS<MoreThuenteLineSearch<Vector, Vector, f64>, Vector, Vector, f64>;

/// Pairs of points and gradients that L-BFGS keeps.
const PAIRS: usize = 10;

/// A function to be made small.
pub trait Objective {
    /// Its value and its gradient.
    fn gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>), Failure>;
}

/// What a search found.
pub struct Found {
    pub angles: Vector,
    /// Before the first iteration and after each.
    pub energies: Vec<f64>,
    /// How often a gradient was taken.
    pub gradients: u64,
    /// Why it ended.
    pub ended: String,
}

/// The function as the search sees it. A line search asks for value and gradient one after the other, so the last ones are kept.
struct Known<'a, O> {
    objective: &'a O,
    last: RefCell<Option<(Vector, f64, Vector)>>,
    gradients: &'a Cell<u64>,
    failed: &'a RefCell<Option<Failure>>,
}

impl<O: Objective> Known<'_, O> {
    fn at(&self, x: &Vector) -> Result<(f64, Vector), Error> {
        if let Some((known, value, gradient)) = &*self.last.borrow() {
            if known == x {
                return Ok((*value, gradient.clone()));
            }
        }
        self.gradients.set(self.gradients.get() + 1);
        let (value, gradient) = self.objective.gradient(x).map_err(|failure| {
            let told = Error::msg(failure.to_string());
            self.failed.borrow_mut().get_or_insert(failure);
            told
        })?;
        *self.last.borrow_mut() = Some((x.clone(), value, gradient.clone()));
        Ok((value, gradient))
    }
}

impl<O: Objective> CostFunction for Known<'_, O> {
    type Param = Vector;
    type Output = f64;
    fn cost(&self, x: &Vector) -> Result<f64, Error> {
        Ok(self.at(x)?.0)
    }
}

impl<O: Objective> Gradient for Known<'_, O> {
    type Param = Vector;
    type Gradient = Vector;
    fn gradient(&self, x: &Vector) -> Result<Vector, Error> {
        Ok(self.at(x)?.1)
    }
}

/// Keeps the energies and moves the bar: it is called after each iteration.
struct Keeper {
    energies: Arc<Mutex<Vec<f64>>>,
    bar: ProgressBar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Checkpoint<Solver, Iteration> for Keeper {
    fn save(&self, _: &Solver, state: &Iteration) -> Result<(), Error> {
        // a line on which nothing better was found
        if state.get_param().is_some() {
            locked(&self.energies).push(state.get_cost());
            self.bar.set_message(format!("energy {:.6}", state.get_cost()));
            self.bar.inc(1);
        }
        Ok(())
    }

    fn load(&self) -> Result<Option<(Solver, Iteration)>, Error> {
        Ok(None)
    }

    fn frequency(&self) -> CheckpointingFrequency {
        CheckpointingFrequency::Always
    }
}

/// Searches from `first` on, for a number of iterations at most.
pub fn minimize<O: Objective>(
    objective: &O,
    first: Vector,
    iterations: u64,
    bar: &ProgressBar,
) -> Result<Found, Failure> {
    let (gradients, failed) = (Cell::new(0), RefCell::new(None));
    let known = Known { objective, last: RefCell::new(None), gradients: &gradients, failed: &failed };
    let wrong = |error: Error| {
        failed.borrow_mut().take().unwrap_or_else(|| Failure::Sizes(format!("the search: {error}")))
    };
    let energies = Arc::new(Mutex::new(vec![known.cost(&first).map_err(wrong)?]));
    let keeper = Keeper { energies: Arc::clone(&energies), bar: bar.clone() };
    let state = Iteration::new().param(first.clone());
    let search = Executor::new(known, Solver::new(MoreThuenteLineSearch::new(), PAIRS))
        .configure(|_| state.max_iters(iterations))
        .checkpointing(keeper)
        .run()
        .map_err(wrong)?;
    if let Some(failure) = failed.borrow_mut().take() {
        return Err(failure);
    }
    let state = search.state();
    let ended = match state.get_termination_status() {
        TerminationStatus::Terminated(reason) => reason.text().to_string(),
        TerminationStatus::NotTerminated => String::new(),
    };
    let angles = state.get_best_param().cloned().unwrap_or(first);
    let energies = locked(&energies).clone();
    Ok(Found { angles, energies, gradients: gradients.get(), ended })
}
