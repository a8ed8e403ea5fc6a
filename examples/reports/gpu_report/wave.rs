//! A wave whose states stay on the device: a step, its adjoint, and gradients of long loops by the schedules of the papers.

use ndarray::Array2;
use rev::checkpoint::{in_place, no_loss, Run};
use rev::cuda::driver::Driver;
use rev::cuda::Gpu;
use rev::schedule::{Action, Bennett, Binomial, ScheduleError, Top};
use rev::{Error, OnDevice};
use rev_examples::wave::Wave;
use rev_kernels::wave::{ricker, Layer, Medium};

/// The papers' methods, by how many states or segments.
pub enum Method {
    Treeverse(usize),
    Bennett(u64),
}

impl Method {
    pub const ALL: [Method; 7] = [
        Method::Treeverse(5),
        Method::Treeverse(20),
        Method::Treeverse(77),
        Method::Treeverse(315),
        Method::Bennett(5),
        Method::Bennett(20),
        Method::Bennett(100),
    ];

    pub fn name(&self) -> String {
        match self {
            Method::Treeverse(states) => format!("treeverse, {states} states stored"),
            Method::Bennett(segments) => format!("Bennett's scheme, {segments} segments"),
        }
    }

    fn schedule(&self, steps: u64) -> Result<Vec<Action>, ScheduleError> {
        Ok(match self {
            Method::Treeverse(states) => Binomial::treeverse(steps, *states)?.collect(),
            Method::Bennett(segments) => Bennett::new(*segments)?.gradient(steps, Top::Kept).collect(),
        })
    }
}

/// On a square ground, with a source in its middle.
pub fn wave<D: Driver>(gpu: &Gpu<D>, cells: usize, steps: usize) -> Result<Wave<D>, Error> {
    let layer = Layer { cells: 12, speed: 1000.0, reflection: 0.2 };
    let medium = Medium::new(Array2::from_elem((cells, cells), 1000.0), 0.05, (20.0, 20.0), layer);
    Wave::new(gpu, &medium, [cells / 2; 2], &ricker(steps, 100.0, 500.0))
}

/// Cotangents of the last `u`.
pub fn cotangents<D: Driver>(wave: &Wave<D>, cells: usize) -> Result<OnDevice<D>, Error> {
    Ok(OnDevice::new(wave.cotangents(&Array2::from_elem((cells, cells), 1.0))?))
}

/// The gradient of a loop by a method; how many states it had at most.
pub fn gradient<D: Driver>(
    wave: &Wave<D>,
    method: &Method,
    cells: usize,
    steps: u64,
) -> Result<u64, Box<dyn std::error::Error>> {
    let schedule = method.schedule(steps)?;
    let mut step = in_place(
        |_, field: &mut OnDevice<D>| Ok(wave.advance(field)?),
        no_loss,
        |_, field: &mut OnDevice<D>, bars: &mut OnDevice<D>| Ok(wave.back(field, bars)?),
    );
    let mut bars = cotangents(wave, cells)?;
    let report = Run::new().gradient(schedule, steps, &mut step, wave.field()?, &mut bars)?;
    // waits for the device, and for its errors
    bars.arrays()?[0].to_bytes()?;
    Ok(report.counts.peak_states)
}
