//! States that stay on a device.

use std::io::{self, Read, Write};

use rev_checkpoint::State;
use rev_core::error::Error;
use rev_cuda::driver::Driver;
use rev_cuda::DeviceArray;

/// Arrays of a device as the state of a loop, or as its cotangents: what [`checkpoint`](crate::checkpoint) keeps of them stays there.
///
/// A state that has become impossible (no room on the device for a copy, a device that is lost) holds the error, which
/// [`OnDevice::arrays`] gives to the next step.
///
/// ```
/// use rev::checkpoint::{in_place, no_loss, Run};
/// use rev::ir::Direction;
/// use rev::prelude::*;
/// use rev::schedule::Binomial;
/// use rev::OnDevice;
///
/// /// Turns the phases `x` by velocities `v`, and slows these down.
/// #[reversible]
/// fn step<T: Real>(x: &mut [T], v: &mut [T]) {
///     for i in par(0..x.len()) {
///         x[i] += v[i];
///         v[i] -= 0.1 * x[i].sin();
///     }
/// }
///
/// let gpu = rev::Emulator::new();
/// let (x, v, bars) = (vec![0.3, 1.0], vec![0.0, 0.5], vec![0.0; 2]);
/// let forward = gpu.prepare(&step::ir(), Direction::FORWARD, &[&x, &v])?;
/// let adjoint = gpu.prepare(&step::ir(), Direction::ADJOINT, &[&x, &bars, &v, &bars])?;
/// let first = OnDevice::new([forward.upload(0, &x)?, forward.upload(1, &v)?]);
/// let mut cotangent = OnDevice::new([adjoint.upload(1, &vec![1.0, 1.0])?, adjoint.upload(3, &bars)?]);
///
/// let mut steps = in_place(
///     |_, state: &mut OnDevice<_>| {
///         let [x, v] = state.arrays()? else { unreachable!() };
///         Ok(forward.run(&[x, v])?)
///     },
///     no_loss,
///     |_, state: &mut OnDevice<_>, cotangent: &mut OnDevice<_>| {
///         let ([x, v], [x_bar, v_bar]) = (state.arrays()?, cotangent.arrays()?) else { unreachable!() };
///         Ok(adjoint.run(&[x, x_bar, v, v_bar])?)
///     },
/// );
/// Run::new().gradient(Binomial::revolve(30, 3)?, 30, &mut steps, first, &mut cotangent)?;
///
/// let mut by_start = vec![0.0; 2];
/// cotangent.arrays()?[0].download(&mut by_start)?;
/// # assert!(by_start.iter().all(|b: &f64| b.is_finite() && *b != 0.0));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct OnDevice<D: Driver>(Result<Vec<DeviceArray<D>>, Error>);

impl<D: Driver> OnDevice<D> {
    /// A state of some arrays.
    pub fn new(arrays: impl IntoIterator<Item = DeviceArray<D>>) -> OnDevice<D> {
        OnDevice(Ok(arrays.into_iter().collect()))
    }

    /// The arrays.
    ///
    /// # Errors
    ///
    /// Why there are none.
    pub fn arrays(&self) -> Result<&[DeviceArray<D>], Error> {
        self.0.as_deref().map_err(Clone::clone)
    }

    /// The arrays, to be changed.
    ///
    /// # Errors
    ///
    /// Why there are none.
    pub fn arrays_mut(&mut self) -> Result<&mut [DeviceArray<D>], Error> {
        self.0.as_deref_mut().map_err(|e| e.clone())
    }

    /// Does something with the arrays; where it fails they are gone.
    fn with(&mut self, f: impl FnOnce(&mut [DeviceArray<D>]) -> Result<(), Error>) {
        let done = self.arrays_mut().and_then(f);
        if let Err(e) = done {
            self.0 = Err(e);
        }
    }
}

impl<D: Driver> Clone for OnDevice<D> {
    fn clone(&self) -> Self {
        OnDevice(self.arrays().and_then(|all| all.iter().map(DeviceArray::try_clone).collect()))
    }
}

impl<D: Driver> State for OnDevice<D> {
    fn bytes(&self) -> u64 {
        self.0.iter().flatten().map(|a| a.bytes() as u64).sum()
    }

    fn assign(&mut self, from: &Self) {
        match (&mut self.0, &from.0) {
            (Ok(to), Ok(from)) if to.len() == from.len() => {
                self.with(|to| to.iter_mut().zip(from).try_for_each(|(to, from)| to.copy_from(from)));
            }
            _ => *self = from.clone(),
        }
    }

    fn clear(&mut self) {
        self.with(|all| all.iter_mut().try_for_each(DeviceArray::clear));
    }

    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        for array in self.arrays().map_err(io::Error::other)? {
            to.write_all(&array.to_bytes().map_err(io::Error::other)?)?;
        }
        Ok(())
    }

    fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
        for array in self.arrays_mut().map_err(io::Error::other)? {
            let mut bytes = vec![0; array.bytes()];
            from.read_exact(&mut bytes)?;
            array.set_bytes(&bytes).map_err(io::Error::other)?;
        }
        Ok(())
    }
}
