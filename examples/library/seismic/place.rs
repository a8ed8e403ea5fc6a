//! Where waves run: on a device that is given its arguments at each call, or on a GPU on which all of a loop stays.

use std::cell::RefCell;

use rev::checkpoint::{in_place, Pool, Report, Run, Step};
use rev::cuda::driver::Driver;
use rev::cuda::{DeviceArray, Gpu};
use rev::device::Device;
use rev::ir::Direction;
use rev::prelude::*;
use rev::schedule::Action;
use rev::OnDevice;
use rev_examples::support::{DeviceName, Failure, RunOptions};
use rev_examples::wave::Wave;
use rev_kernels::wave::{advance, back, filled, zero_bars, Bars, Field, Medium};

use super::survey::Survey;

/// Half the sum of squares of what a record differs by, its gradient by the squared speeds, and how the loop went.
pub type Misfit = (f64, Array2<f64>, Report);

/// Where waves run.
pub trait Place {
    /// What the receivers hear of a source in a ground.
    fn listen(&self, survey: &Survey, medium: &Medium, source: usize) -> Result<Array2<f64>, Failure>;

    /// The misfit of one source's record in a ground.
    fn misfit(
        &self,
        survey: &Survey,
        medium: &Medium,
        source: usize,
        run: Run<'_>,
        schedule: &[Action],
    ) -> Result<Misfit, Failure>;
}

/// The place that options name.
pub fn open(options: &RunOptions) -> Result<Box<dyn Place>, Failure> {
    Ok(match options.device {
        DeviceName::Cuda => Box::new(OnGpu(rev::Cuda::new(0)?.with_options(options.of_device()))),
        DeviceName::Emulator => Box::new(OnGpu(rev::Emulator::new().with_options(options.of_device()))),
        DeviceName::Cpu | DeviceName::Interpreter => {
            Box::new(OnHost { device: options.open()?, states: RefCell::default() })
        }
    })
}

/// A device whose arguments are those of the host.
struct OnHost {
    device: Box<dyn Device>,
    states: RefCell<Pool<Field<f64>>>,
}

impl Place for OnHost {
    fn listen(&self, survey: &Survey, medium: &Medium, source: usize) -> Result<Array2<f64>, Failure> {
        let mut record = Array2::zeros((survey.wavelet.len(), survey.receivers.len()));
        let mut field = filled(medium.c.dim(), 0.0);
        for (amount, mut row) in survey.wavelet.iter().zip(record.outer_iter_mut()) {
            advance(&*self.device, &mut field, medium, (survey.sources[source], *amount))?;
            row.iter_mut().zip(&survey.receivers).for_each(|(heard, at)| *heard = field.1[*at]);
        }
        Ok(record)
    }

    fn misfit(
        &self,
        survey: &Survey,
        medium: &Medium,
        source: usize,
        run: Run<'_>,
        schedule: &[Action],
    ) -> Result<Misfit, Failure> {
        let sent = |step: u64| (survey.sources[source], survey.wavelet[step as usize]);
        let step = in_place(
            |n, field: &mut Field<f64>| Ok(advance(&*self.device, field, medium, sent(n))?),
            |n, field: &Field<f64>, (bars, misfit): &mut (Bars, f64)| {
                for (at, heard) in survey.receivers.iter().zip(survey.records[source].row(n as usize)) {
                    let off = field.1[*at] - heard;
                    *misfit += off * off / 2.0;
                    bars.0 .1[*at].0[0] += off;
                }
                Ok(())
            },
            |n, field: &mut Field<f64>, (bars, _): &mut (Bars, f64)| {
                back(&*self.device, field, bars, medium, sent(n))?;
                Ok(())
            },
        );
        let cells = medium.c.dim();
        let mut cotangent = (zero_bars(cells), 0.0);
        let steps = survey.wavelet.len() as u64;
        let mut states = self.states.borrow_mut();
        let mut step = step.in_pool(&mut states);
        let report =
            run.gradient(schedule.iter().copied(), steps, &mut step, filled(cells, 0.0), &mut cotangent)?;
        Ok((cotangent.1, cotangent.0 .1.mapv(|bar| bar.0[0]), report))
    }
}

/// Adds what receivers hear of `u` to the `n`-th row of a record.
#[reversible]
fn hear<T: Real>(mut record: ArrayViewMut2<T>, n: &mut usize, u: ArrayView2<T>, at: &[[usize; 2]]) {
    for r in par(0..at.len()) {
        record[[*n, r]] += u[[at[r][0], at[r][1]]];
    }
    n += 1;
}

/// Adds half the squares of what `u` at the receivers differs by from the `n`-th row of a record.
#[reversible(constant(record))]
fn differ<T: Real>(
    misfit: &mut T,
    n: &mut usize,
    u: ArrayView2<T>,
    record: ArrayView2<T>,
    at: &[[usize; 2]],
) {
    for r in par(0..at.len()) {
        let off = u[[at[r][0], at[r][1]]] - record[[*n, r]];
        misfit += off * off / 2.0;
    }
    n += 1;
}

/// A GPU on which fields, their cotangents and the record stay while a loop runs.
struct OnGpu<D: Driver>(Gpu<D>);

impl<D: Driver> OnGpu<D> {
    fn wave(&self, survey: &Survey, medium: &Medium, source: usize) -> Result<Wave<D>, Error> {
        Wave::new(&self.0, medium, survey.sources[source], &survey.wavelet)
    }
}

impl<D: Driver> Place for OnGpu<D> {
    fn listen(&self, survey: &Survey, medium: &Medium, source: usize) -> Result<Array2<f64>, Failure> {
        let mut record = Array2::zeros((survey.wavelet.len(), survey.receivers.len()));
        let wave = self.wave(survey, medium, source)?;
        let hear = self.0.prepare(
            &hear::ir(),
            Direction::FORWARD,
            &[&record, &0usize, &medium.c, &survey.receivers],
        )?;
        let on_device = hear.upload(0, &record)?;
        let (step, receivers) = (hear.upload(1, &0usize)?, hear.upload(3, &survey.receivers)?);
        let mut field = wave.field()?;
        for _ in 0..survey.wavelet.len() {
            wave.advance(&mut field)?;
            hear.run(&[&on_device, &step, &field.arrays()?[1], &receivers])?;
        }
        on_device.download(&mut record)?;
        Ok(record)
    }

    fn misfit(
        &self,
        survey: &Survey,
        medium: &Medium,
        source: usize,
        run: Run<'_>,
        schedule: &[Action],
    ) -> Result<Misfit, Failure> {
        let wave = self.wave(survey, medium, source)?;
        let (steps, record, zeros) =
            (survey.wavelet.len(), &survey.records[source], Array2::<f64>::zeros(medium.c.dim()));
        let silence = Array2::<f64>::zeros(record.dim());
        let none = vec![[(); 2]; survey.receivers.len()];
        // The adjoint of adding to the misfit takes off it again: so it goes from zero to the negative
        // misfit, the last row first.
        let differ = self.0.prepare(
            &differ::ir(),
            Direction::ADJOINT,
            &[&0.0, &1.0, &steps, &(), &zeros, &zeros, record, &silence, &survey.receivers, &none],
        )?;
        let [record, no_record] = [(6, record), (7, &silence)].map(|(k, array)| differ.upload(k, array));
        let (record, no_record) = (record?, no_record?);
        let (one, no_number) = (differ.upload(1, &1.0)?, differ.upload(3, &())?);
        let (receivers, no_receivers) = (differ.upload(8, &survey.receivers)?, differ.upload(9, &none)?);
        // beside the wave's: the negative misfit, and how many rows are left
        let mut all = wave.cotangents(&zeros)?;
        all.extend([differ.upload(0, &0.0)?, differ.upload(2, &steps)?]);
        let mut cotangent = OnDevice::new(all);
        let mut step = in_place(
            |_, field: &mut OnDevice<D>| Ok(wave.advance(field)?),
            |_, field: &OnDevice<D>, bars: &mut OnDevice<D>| {
                let (u, bars) = (&field.arrays()?[1], bars.arrays()?);
                let args: [&DeviceArray<D>; 10] = [
                    &bars[5],
                    &one,
                    &bars[6],
                    &no_number,
                    u,
                    &bars[1],
                    &record,
                    &no_record,
                    &receivers,
                    &no_receivers,
                ];
                Ok(differ.run(&args)?)
            },
            |_, field: &mut OnDevice<D>, bars: &mut OnDevice<D>| Ok(wave.back(field, bars)?),
        );
        let report =
            run.gradient(schedule.iter().copied(), steps as u64, &mut step, wave.field()?, &mut cotangent)?;
        let (mut negative, mut by_c) = (0.0, zeros);
        let bars = cotangent.arrays()?;
        bars[4].download(&mut by_c)?;
        bars[5].download(&mut negative)?;
        Ok((-negative, by_c, report))
    }
}
