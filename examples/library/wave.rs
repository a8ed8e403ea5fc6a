//! A wave whose states stay on a device.

use rev::cuda::driver::Driver;
use rev::cuda::{DeviceArray, Gpu, Prepared};
use rev::ir::Direction;
use rev::prelude::*;
use rev::value::DynArg;
use rev::OnDevice;
use rev_kernels::wave::{step_by_cells, Medium};

/// A step of a wave that is `n` steps old, which says what the source sends.
#[reversible(constant(sigma, tau, dt, hx, hy, wavelet))]
fn step_by_number<T: Real>(
    mut before: ArrayViewMut2<T>,
    u: ArrayView2<T>,
    mut phi: ArrayViewMut2<T>,
    mut psi: ArrayViewMut2<T>,
    n: &mut usize,
    c: ArrayView2<T>,
    sigma: &[T],
    tau: &[T],
    dt: T,
    hx: T,
    hy: T,
    at: [usize; 2],
    wavelet: &[T],
) {
    step_by_cells(&mut before, &u, &mut phi, &mut psi, &c, &sigma, &tau, dt, hx, hy, at, wavelet[*n]);
    n += 1;
}

/// The programs of a step, and what all steps share.
///
/// A field is `u` of the step before, `u`, `φ`, `ψ` and how many steps it is old. Its cotangents are those of the first four, with the
/// gradient by squared speeds after them.
pub struct Wave<D: Driver> {
    forward: Prepared<D>,
    back: Prepared<D>,
    /// Squared speeds, both dampings, the step in time and both in space, the source's cell, and what it sends.
    shared: Vec<DeviceArray<D>>,
    /// The cotangents of all but the squared speeds, of which nothing is asked.
    shared_bars: Vec<DeviceArray<D>>,
    age_bar: DeviceArray<D>,
    zeros: Array2<f64>,
}

impl<D: Driver> Wave<D> {
    /// In a ground, with a source that sends something at each step.
    ///
    /// # Errors
    ///
    /// No room on the device, or a device that is lost.
    pub fn new(gpu: &Gpu<D>, medium: &Medium, at: [usize; 2], wavelet: &Vec<f64>) -> Result<Wave<D>, Error> {
        let Medium { c, sigma, tau, dt, hx, hy } = medium;
        let zeros = Array2::<f64>::zeros(c.dim());
        let lines = [sigma, tau, wavelet].map(|line| vec![0.0; line.len()]);
        let none: &dyn DynArg = &0.0;
        let args: [&dyn DynArg; 13] =
            [&zeros, &zeros, &zeros, &zeros, &0usize, c, sigma, tau, dt, hx, hy, &at, wavelet];
        let [by_sigma, by_tau, by_wavelet] = &lines;
        let bars: [&dyn DynArg; 13] = [
            &zeros,
            &zeros,
            &zeros,
            &zeros,
            &(),
            &zeros,
            by_sigma,
            by_tau,
            none,
            none,
            none,
            &[(); 2],
            by_wavelet,
        ];
        let both: Vec<&dyn DynArg> = args.iter().zip(bars).flat_map(|(arg, bar)| [*arg, bar]).collect();
        let module = step_by_number::ir();
        let forward = gpu.prepare(&module, Direction::FORWARD, &args)?;
        let back = gpu.prepare(&module, Direction::ADJOINT, &both)?;
        let shared = (5..13).map(|k| forward.upload(k, args[k])).collect::<Result<Vec<_>, Error>>()?;
        let bar = |k: usize| back.upload(2 * k + 1, bars[k]);
        let shared_bars = (6..13).map(bar).collect::<Result<Vec<_>, Error>>()?;
        let age_bar = bar(4)?;
        Ok(Wave { forward, back, shared, shared_bars, age_bar, zeros })
    }

    /// A field of zeros, before the first step.
    ///
    /// # Errors
    ///
    /// No room on the device, or a device that is lost.
    pub fn field(&self) -> Result<OnDevice<D>, Error> {
        let zeros = (0..4).map(|k| self.forward.upload(k, &self.zeros));
        let arrays = zeros.chain([self.forward.upload(4, &0usize)]).collect::<Result<Vec<_>, Error>>()?;
        Ok(OnDevice::new(arrays))
    }

    /// Cotangents of a field, `u_bar` the one of `u` and zeros the others.
    ///
    /// # Errors
    ///
    /// No room on the device, or a device that is lost.
    pub fn cotangents(&self, u_bar: &Array2<f64>) -> Result<Vec<DeviceArray<D>>, Error> {
        let of = |k: usize| if k == 1 { u_bar } else { &self.zeros };
        [0, 1, 2, 3, 5].map(|k| self.back.upload(2 * k + 1, of(k))).into_iter().collect()
    }

    /// A step.
    ///
    /// # Errors
    ///
    /// A device that is lost.
    pub fn advance(&self, field: &mut OnDevice<D>) -> Result<(), Error> {
        let args: Vec<&DeviceArray<D>> = field.arrays()?.iter().chain(&self.shared).collect();
        self.forward.run(&args)?;
        field.arrays_mut()?.swap(0, 1);
        Ok(())
    }

    /// The adjoint of a step, from the field after it. What `bars` has beside [`Wave::cotangents`] stays.
    ///
    /// # Errors
    ///
    /// A device that is lost.
    pub fn back(&self, field: &mut OnDevice<D>, bars: &mut OnDevice<D>) -> Result<(), Error> {
        field.arrays_mut()?.swap(0, 1);
        bars.arrays_mut()?.swap(0, 1);
        let args = field.arrays()?.iter().chain(&self.shared);
        let (of_field, rest) = bars.arrays()?.split_at(4);
        let all_bars = of_field.iter().chain([&self.age_bar]).chain(rest.first()).chain(&self.shared_bars);
        let both: Vec<&DeviceArray<D>> = args.zip(all_bars).flat_map(|(arg, bar)| [arg, bar]).collect();
        self.back.run(&both)
    }
}
