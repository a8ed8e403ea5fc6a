//! The ground from its records: L-BFGS on squared speeds between two bounds.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use argmin::core::checkpointing::{Checkpoint, CheckpointingFrequency};
use argmin::core::{CostFunction, Error, Executor, Gradient, IterState, State, TerminationStatus};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use argmin_checkpointing_file::FileCheckpoint;
use indicatif::ProgressBar;
use rev::checkpoint::{Report, Run};
use rev::prelude::*;
use rev::schedule::Action;
use rev_kernels::wave::Medium;
use serde::{Deserialize, Serialize};

use super::place::Place;
use super::survey::{part, Survey, BOUNDS, TOP};
use rev_examples::support::Failure;

pub type Vector = Vec<f64>;
type Iteration = IterState<Vector, Vector, (), (), (), f64>;
type Solver = LBFGS<MoreThuenteLineSearch<Vector, Vector, f64>, Vector, Vector, f64>;

/// Pairs of points and gradients that L-BFGS keeps.
const PAIRS: usize = 8;

/// What a search took so far, and what stopped it.
#[derive(Default)]
pub struct Spent {
    /// Gradients of one source.
    pub gradients: u64,
    /// Of the last one.
    pub report: Option<Report>,
    failed: Option<Failure>,
}

/// The misfit, relative to that of silence, as a function of a number for each cell below the sources.
///
/// The squared speed is `a + (b - a) / (1 + e^-x)` between its bounds `a` and `b`, so that no point has waves that the time step
/// is too long for.
#[derive(Clone)]
pub struct Problem<'a> {
    survey: &'a Survey,
    place: &'a dyn Place,
    schedule: &'a [Action],
    bar: &'a ProgressBar,
    /// The last point, with its misfit and gradient: a line search asks for both.
    known: RefCell<Option<(Vector, f64, Vector)>>,
    spent: Arc<Mutex<Spent>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Problem<'a> {
    pub fn new(
        survey: &'a Survey,
        place: &'a dyn Place,
        schedule: &'a [Action],
        bar: &'a ProgressBar,
    ) -> Problem<'a> {
        Problem { survey, place, schedule, bar, known: RefCell::new(None), spent: Arc::default() }
    }

    pub fn spent(&self) -> MutexGuard<'_, Spent> {
        locked(&self.spent)
    }

    /// The point of the first ground.
    pub fn first(&self) -> Vector {
        let [a, b] = BOUNDS.map(|v| v * v);
        self.survey.first.c.slice(ndarray::s![TOP.., ..]).iter().map(|c| ((c - a) / (b - c)).ln()).collect()
    }

    /// The ground at a point. What lies around sources and receivers is known.
    pub fn medium(&self, x: &[f64]) -> Medium {
        let [a, b] = BOUNDS.map(|v| v * v);
        let mut medium = self.survey.first.clone();
        let below = medium.c.slice_mut(ndarray::s![TOP.., ..]);
        below.into_iter().zip(x).for_each(|(c, x)| *c = a + (b - a) / (1.0 + (-x).exp()));
        medium
    }

    /// The misfit of a point by the wave alone.
    pub fn misfit(&self, x: &[f64]) -> Result<f64, Failure> {
        let medium = self.medium(x);
        let mut sum = 0.0;
        for (source, record) in self.survey.records.iter().enumerate() {
            let heard = self.place.listen(self.survey, &medium, source)?;
            sum += heard.iter().zip(record).map(|(a, b)| (a - b) * (a - b) / 2.0).sum::<f64>();
        }
        Ok(sum / self.survey.loudness())
    }

    /// The misfit of a point and its gradient.
    pub fn gradient_at(&self, x: &[f64]) -> Result<(f64, Vector), Failure> {
        let [a, b] = BOUNDS.map(|v| v * v);
        let medium = self.medium(x);
        let (mut misfit, mut by_c) = (0.0, Array2::zeros(medium.c.dim()));
        for source in 0..self.survey.sources.len() {
            let run = Run::new().progress(|progress| {
                let (done, all) = part(progress);
                self.bar.set_length(all);
                self.bar.set_position(done);
                ControlFlow::Continue(())
            });
            self.bar.set_message(format!("gradient {}", self.spent().gradients + 1));
            let (value, gradient, report) =
                self.place.misfit(self.survey, &medium, source, run, self.schedule)?;
            misfit += value;
            by_c += &gradient;
            let mut spent = self.spent();
            spent.gradients += 1;
            spent.report = Some(report);
        }
        let below = ndarray::s![TOP.., ..];
        let cells = by_c.slice(below).into_iter().zip(medium.c.slice(below));
        let scale = 1.0 / self.survey.loudness();
        let gradient = cells.map(|(by_c, c)| scale * by_c * (c - a) * (b - c) / (b - a)).collect();
        Ok((scale * misfit, gradient))
    }

    fn at(&self, x: &Vector) -> Result<(f64, Vector), Error> {
        if let Some((known, misfit, gradient)) = &*self.known.borrow() {
            if known == x {
                return Ok((*misfit, gradient.clone()));
            }
        }
        let (misfit, gradient) = self.gradient_at(x).map_err(|error| {
            // the search takes an error for the end of a line
            let told = Error::msg(error.to_string());
            self.spent().failed.get_or_insert(error);
            told
        })?;
        *self.known.borrow_mut() = Some((x.clone(), misfit, gradient.clone()));
        Ok((misfit, gradient))
    }
}

impl CostFunction for Problem<'_> {
    type Param = Vector;
    type Output = f64;
    fn cost(&self, x: &Vector) -> Result<f64, Error> {
        Ok(self.at(x)?.0)
    }
}

impl Gradient for Problem<'_> {
    type Param = Vector;
    type Gradient = Vector;
    fn gradient(&self, x: &Vector) -> Result<Vector, Error> {
        Ok(self.at(x)?.1)
    }
}

/// A search that can go on.
#[derive(Clone, Serialize, Deserialize)]
pub struct Saved {
    /// Cells, steps and sources.
    survey: [usize; 3],
    /// Before the first iteration and after each.
    misfits: Vec<f64>,
    solver: Solver,
    state: Iteration,
}

/// The files of searches in a folder. A new one is written beside the last, so that there is a whole one whenever the process ends.
fn file(folder: &Path, name: &str) -> FileCheckpoint {
    FileCheckpoint {
        frequency: CheckpointingFrequency::Always,
        directory: folder.to_path_buf(),
        filename: name.into(),
    }
}

const WHOLE: &str = "search.arg";
const NEXT: &str = "search.next";

impl Saved {
    /// The search in a folder, if there is one.
    pub fn load(folder: &Path, survey: &Survey) -> Result<Option<Saved>, Failure> {
        let wrong = |why: String| {
            let place = folder.join(WHOLE);
            Failure::Sizes(format!("{}: the search can't be resumed: {why}", place.display()))
        };
        let loaded: Result<Option<(Saved, ())>, Error> = file(folder, WHOLE).load();
        let Some((saved, ())) = loaded.map_err(|e| wrong(e.to_string()))? else { return Ok(None) };
        if saved.survey != survey.sizes() {
            let [cells, steps, shots] = saved.survey;
            return Err(wrong(format!("it is one of {cells} cells by x, {steps} steps and {shots} shots")));
        }
        let cells = Some(survey.first.c.slice(ndarray::s![TOP.., ..]).len());
        let sizes = [saved.state.get_param(), saved.state.get_best_param(), saved.state.get_gradient()];
        if sizes.iter().any(|vector| vector.map(Vec::len) != cells) {
            return Err(wrong("it is damaged".into()));
        }
        Ok(Some(saved))
    }
}

/// Keeps the misfits, and saves the search after each iteration.
struct Keeper {
    survey: [usize; 3],
    misfits: Arc<Mutex<Vec<f64>>>,
    folder: Option<PathBuf>,
}

impl Checkpoint<Solver, Iteration> for Keeper {
    fn save(&self, solver: &Solver, state: &Iteration) -> Result<(), Error> {
        // a line on which nothing better was found
        if state.get_param().is_none() {
            return Ok(());
        }
        let mut misfits = locked(&self.misfits);
        misfits.push(state.get_cost());
        let Some(folder) = &self.folder else { return Ok(()) };
        let (survey, misfits) = (self.survey, misfits.clone());
        let saved = Saved { survey, misfits, solver: solver.clone(), state: state.clone() };
        file(folder, NEXT).save(&saved, &())?;
        Ok(std::fs::rename(folder.join(NEXT), folder.join(WHOLE))?)
    }

    fn load(&self) -> Result<Option<(Solver, Iteration)>, Error> {
        Ok(None)
    }

    fn frequency(&self) -> CheckpointingFrequency {
        CheckpointingFrequency::Always
    }
}

/// What a search found.
pub struct Found {
    pub best: Vector,
    /// Before the first iteration and after each.
    pub misfits: Vec<f64>,
    /// Why it ended.
    pub ended: String,
}

/// Searches, from the first ground or on from where a saved search is.
pub fn invert(
    problem: &Problem<'_>,
    iterations: u64,
    folder: Option<PathBuf>,
    saved: Option<Saved>,
) -> Result<Found, Failure> {
    let failed = |error: Error| match problem.spent().failed.take() {
        Some(failed) => failed,
        None => Failure::Sizes(format!("the search: {error}")),
    };
    let (misfits, solver, state) = match saved {
        Some(saved) => (saved.misfits, saved.solver, saved.state),
        None => {
            let (first, solver) = (problem.first(), Solver::new(MoreThuenteLineSearch::new(), PAIRS));
            let misfit = problem.cost(&first).map_err(failed)?;
            (vec![misfit], solver, Iteration::new().param(first))
        }
    };
    let misfits = Arc::new(Mutex::new(misfits));
    let keeper = Keeper { survey: problem.survey.sizes(), misfits: Arc::clone(&misfits), folder };
    let search = Executor::new(problem.clone(), solver)
        .configure(|_| state.max_iters(iterations))
        .checkpointing(keeper)
        .run()
        .map_err(failed)?;
    if let Some(failed) = problem.spent().failed.take() {
        return Err(failed);
    }
    let state = search.state();
    let ended = match state.get_termination_status() {
        TerminationStatus::Terminated(reason) => reason.text().to_string(),
        TerminationStatus::NotTerminated => String::new(),
    };
    let best = state.get_best_param().cloned().unwrap_or_else(|| problem.first());
    let misfits = locked(&misfits).clone();
    Ok(Found { best, misfits, ended })
}
