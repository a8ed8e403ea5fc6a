//! A wave whose states stay on the device: a step, its adjoint, and gradients of long loops by the schedules of the papers.

use ndarray::Array2;
use rev::checkpoint::{in_place, no_loss, Run};
use rev::cuda::driver::Driver;
use rev::cuda::{DeviceArray, Gpu, Prepared};
use rev::ir::Direction;
use rev::schedule::{Action, Bennett, Binomial, ScheduleError, Top};
use rev::value::DynArg;
use rev::{Error, OnDevice};
use rev_kernels::wave::{ricker, step_by_cells, Layer, Medium};

/// The programs of a step, and what all steps share.
pub struct Wave<D: Driver> {
    forward: Prepared<D>,
    back: Prepared<D>,
    /// Squared speeds, both dampings, the step in time and both in space, and the source's cell.
    shared: Vec<DeviceArray<D>>,
    /// Their cotangents, in the same order; only the first isn't that of a constant.
    shared_bars: Vec<DeviceArray<D>>,
    /// The source's amount at each step, and its cotangent.
    amounts: Vec<DeviceArray<D>>,
    amount_bar: DeviceArray<D>,
    zeros: Array2<f64>,
}

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

impl<D: Driver> Wave<D> {
    /// On a square ground, with a source in its middle.
    pub fn new(gpu: &Gpu<D>, cells: usize, steps: usize) -> Result<Wave<D>, Error> {
        let layer = Layer { cells: 12, speed: 1000.0, reflection: 0.2 };
        let m = Medium::new(Array2::from_elem((cells, cells), 1000.0), 0.05, (20.0, 20.0), layer);
        let (zeros, line, at) = (Array2::<f64>::zeros((cells, cells)), vec![0.0; cells], [cells / 2; 2]);
        let module = step_by_cells::ir();
        let args: [&dyn DynArg; 12] =
            [&zeros, &zeros, &zeros, &zeros, &m.c, &m.sigma, &m.tau, &m.dt, &m.hx, &m.hy, &at, &0.0];
        let bars: [&dyn DynArg; 12] =
            [&zeros, &zeros, &zeros, &zeros, &zeros, &line, &line, &0.0, &0.0, &0.0, &[(); 2], &0.0];
        let both: Vec<&dyn DynArg> = args.iter().zip(bars).flat_map(|(arg, bar)| [*arg, bar]).collect();
        let forward = gpu.prepare(&module, Direction::FORWARD, &args)?;
        let back = gpu.prepare(&module, Direction::ADJOINT, &both)?;
        let upload = |k: usize| forward.upload(k, args[k]);
        let shared = (4..11).map(upload).collect::<Result<Vec<_>, Error>>()?;
        let bar = |k: usize| back.upload(2 * k + 1, bars[k]);
        let shared_bars = (4..11).map(bar).collect::<Result<Vec<_>, Error>>()?;
        let wavelet = ricker(steps, 100.0, 500.0);
        let amounts =
            wavelet.iter().map(|amount| forward.upload(11, amount)).collect::<Result<Vec<_>, Error>>()?;
        let amount_bar = bar(11)?;
        Ok(Wave { forward, back, shared, shared_bars, amounts, amount_bar, zeros })
    }

    /// A field of zeros.
    pub fn field(&self) -> Result<OnDevice<D>, Error> {
        let arrays =
            (0..4).map(|k| self.forward.upload(k, &self.zeros)).collect::<Result<Vec<_>, Error>>()?;
        Ok(OnDevice::new(arrays))
    }

    /// Cotangents of the last `u`.
    pub fn cotangent(&self) -> Result<OnDevice<D>, Error> {
        let ones = self.zeros.mapv(|_| 1.0);
        let of = |k: usize| if k == 1 { &ones } else { &self.zeros };
        let arrays = (0..4).map(|k| self.back.upload(2 * k + 1, of(k))).collect::<Result<Vec<_>, Error>>()?;
        Ok(OnDevice::new(arrays))
    }

    pub fn advance(&self, step: usize, field: &mut OnDevice<D>) -> Result<(), Error> {
        let at = field.arrays()?;
        let amount = &self.amounts[step % self.amounts.len()];
        let args: Vec<&DeviceArray<D>> = at.iter().chain(&self.shared).chain([amount]).collect();
        self.forward.run(&args)?;
        field.arrays_mut()?.swap(0, 1);
        Ok(())
    }

    pub fn back(&self, step: usize, field: &mut OnDevice<D>, bars: &mut OnDevice<D>) -> Result<(), Error> {
        field.arrays_mut()?.swap(0, 1);
        bars.arrays_mut()?.swap(0, 1);
        let amount = &self.amounts[step % self.amounts.len()];
        let args = field.arrays()?.iter().chain(&self.shared).chain([amount]);
        let all_bars = bars.arrays()?.iter().chain(&self.shared_bars).chain([&self.amount_bar]);
        let both: Vec<&DeviceArray<D>> = args.zip(all_bars).flat_map(|(arg, bar)| [arg, bar]).collect();
        self.back.run(&both)
    }

    /// The gradient of a loop by a method; how many states it had at most.
    pub fn gradient(&self, method: &Method, steps: u64) -> Result<u64, Box<dyn std::error::Error>> {
        let schedule = method.schedule(steps)?;
        let mut step = in_place(
            |n, field: &mut OnDevice<D>| Ok(self.advance(n as usize, field)?),
            no_loss,
            |n, field: &mut OnDevice<D>, bars: &mut OnDevice<D>| Ok(self.back(n as usize, field, bars)?),
        );
        let mut bars = self.cotangent()?;
        let report = Run::new().gradient(schedule, steps, &mut step, self.field()?, &mut bars)?;
        // waits for the device, and for its errors
        bars.arrays()?[0].to_bytes()?;
        Ok(report.counts.peak_states)
    }
}
