//! Loops whose states stay on a device.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::ops::ControlFlow;

use rev::checkpoint::{in_place, CheckpointError, Report, Run, State};
use rev::cuda::driver::Driver;
use rev::cuda::{emulator, Gpu, Prepared};
use rev::ir::Direction;
use rev::prelude::*;
use rev::schedule::{Action, Bennett, Binomial, Top};
use rev::OnDevice;

const STEPS: u64 = 40;

#[reversible]
fn step<T: Real>(x: &mut [T], v: &mut [T], strength: T) {
    for i in par(0..x.len()) {
        x[i] += v[i];
        v[i] -= strength * x[i].sin();
    }
}

fn start() -> (Vec<f64>, Vec<f64>) {
    (0..50).map(|i| (0.1 * f64::from(i), 0.3 - 0.01 * f64::from(i))).unzip()
}

/// The gradient of the last positions' sum by the first state and the strength, on the host.
fn on_the_host(schedule: Vec<Action>) -> (Vec<f64>, Vec<f64>, f64) {
    let cpu = Cpu::new();
    let bars = |n: usize, of: f64| vec![Batch([of]); n];
    let mut steps = in_place(
        |_, (x, v): &mut (Vec<f64>, Vec<f64>)| Ok(step::run(&cpu, x, v, 0.2)?),
        rev::checkpoint::no_loss,
        |_, (x, v): &mut (Vec<f64>, Vec<f64>), (x_bar, v_bar, by): &mut (Vec<_>, Vec<_>, Batch<f64, 1>)| {
            Ok(step::adjoint(&cpu, x, x_bar, v, v_bar, 0.2, by)?)
        },
    );
    let mut cotangent = (bars(50, 1.0), bars(50, 0.0), Batch([0.0]));
    Run::new().gradient(schedule, STEPS, &mut steps, start(), &mut cotangent).unwrap();
    let plain = |bars: Vec<Batch<f64, 1>>| bars.into_iter().map(|b| b.0[0]).collect();
    (plain(cotangent.0), plain(cotangent.1), cotangent.2 .0[0])
}

/// The gradient by positions, velocities and strength, and the run's report.
type Found = (Vec<f64>, Vec<f64>, f64, Report);

struct Programs<D: Driver> {
    forward: Prepared<D>,
    adjoint: Prepared<D>,
}

impl<D: Driver> Programs<D> {
    fn new(gpu: &Gpu<D>) -> Programs<D> {
        let ((x, v), none) = (start(), vec![0.0; 50]);
        let module = step::ir();
        let both: [&dyn rev::value::DynArg; 6] = [&x, &none, &v, &none, &0.2, &0.0];
        Programs {
            forward: gpu.prepare(&module, Direction::FORWARD, &[&x, &v, &0.2]).unwrap(),
            adjoint: gpu.prepare(&module, Direction::ADJOINT, &both).unwrap(),
        }
    }

    fn cotangent(&self) -> Result<OnDevice<D>, Error> {
        let array = |k: usize, of: f64| self.adjoint.upload(k, &vec![of; 50]);
        Ok(OnDevice::new([array(1, 1.0)?, array(3, 0.0)?, self.adjoint.upload(5, &0.0)?]))
    }

    fn gradient(&self, run: Run<'_>, schedule: Vec<Action>) -> Result<Found, Box<dyn std::error::Error>> {
        let (x, v) = start();
        let first = OnDevice::new([self.forward.upload(0, &x)?, self.forward.upload(1, &v)?]);
        let strength = self.forward.upload(2, &0.2)?;
        let mut cotangent = self.cotangent()?;
        let mut steps = in_place(
            |_, state: &mut OnDevice<D>| {
                let at = state.arrays()?;
                Ok(self.forward.run(&[&at[0], &at[1], &strength])?)
            },
            rev::checkpoint::no_loss,
            |_, state: &mut OnDevice<D>, cotangent: &mut OnDevice<D>| {
                let (at, bars) = (state.arrays()?, cotangent.arrays()?);
                Ok(self.adjoint.run(&[&at[0], &bars[0], &at[1], &bars[1], &strength, &bars[2]])?)
            },
        );
        let report = run.gradient(schedule, STEPS, &mut steps, first, &mut cotangent)?;
        let (mut x_bar, mut v_bar, mut by) = (vec![0.0; 50], vec![0.0; 50], 0.0);
        let bars = cotangent.arrays()?;
        bars[0].download(&mut x_bar)?;
        bars[1].download(&mut v_bar)?;
        bars[2].download(&mut by)?;
        Ok((x_bar, v_bar, by, report))
    }
}

fn revolve() -> Vec<Action> {
    Binomial::revolve(STEPS, 4).unwrap().collect()
}

fn near(a: &[f64], b: &[f64]) -> bool {
    approx::relative_eq!(a, b, max_relative = 1e-9)
}

fn agrees<D: Driver>(gpu: &Gpu<D>) {
    let programs = Programs::new(gpu);
    for schedule in [revolve(), Bennett::new(3).unwrap().gradient(STEPS, Top::Kept).collect()] {
        let expected = on_the_host(schedule.clone());
        let (x_bar, v_bar, by, report) = programs.gradient(Run::new(), schedule).unwrap();
        assert!(near(&x_bar, &expected.0) && near(&v_bar, &expected.1) && near(&[by], &[expected.2]));
        let array = programs.forward.upload(0, &start().0).unwrap();
        // a schedule may leave a slot empty and take another one
        let states = report.bytes / (2 * array.bytes() as u64);
        assert!([0, 1].contains(&(states - report.counts.peak_states)), "{report:?}");
    }
}

#[test]
fn the_gradient_is_that_of_states_on_the_host() {
    agrees(&rev::Emulator::new());
    match rev::Cuda::new(0) {
        Ok(gpu) => agrees(&gpu),
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
}

#[test]
fn a_stopped_run_goes_on_with_the_same_bits() {
    let programs = Programs::new(&rev::Emulator::new().deterministic(true));
    let whole = programs.gradient(Run::new(), revolve()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut left = 50;
    let watch = |_: &rev::checkpoint::Progress| {
        left -= 1;
        if left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let run = Run::new().folder(folder.path()).save_every(7).progress(watch);
    let stopped = programs.gradient(run, revolve()).unwrap_err();
    assert!(matches!(stopped.downcast_ref(), Some(CheckpointError::Stopped { .. })), "{stopped}");
    let resumed = programs.gradient(Run::new().folder(folder.path()).resume(), revolve()).unwrap();
    assert!(resumed.3.resumed);
    assert_eq!((resumed.0, resumed.1, resumed.2), (whole.0, whole.1, whole.2));
}

/// A device with room for the programs, and for some states beside them.
#[test]
fn without_room_for_a_state_the_run_says_so() {
    let on = |bytes: usize| {
        let gpu = Gpu::over(emulator::Emulator::new().with_memory(bytes));
        Programs::new(&gpu).gradient(Run::new(), revolve()).map(|found| found.3)
    };
    let enough = (1..).map(|k| 512 * k).find(|bytes| on(*bytes).is_ok()).unwrap();
    // a few times the 7 arrays and the 5 states beside the first
    assert!((5_000..20_000).contains(&enough), "{enough}");
    let error = on(enough - 512).unwrap_err().to_string();
    assert!(error.contains("no room for the 512 bytes of"), "{error}");
}

#[test]
fn copies_of_arrays_that_differ_are_errors() {
    let gpu = rev::Emulator::new();
    let programs = Programs::new(&gpu);
    let mut array = programs.forward.upload(0, &vec![1.0; 50]).unwrap();
    let mut copy = array.try_clone().unwrap();
    array.clear().unwrap();
    let mut found = vec![0.0; 50];
    copy.download(&mut found).unwrap();
    assert_eq!(found, [1.0; 50]);
    copy.copy_from(&array).unwrap();
    copy.download(&mut found).unwrap();
    assert_eq!(found, [0.0; 50]);
    let shorter = programs.forward.upload(0, &vec![1.0; 49]).unwrap();
    let error = copy.copy_from(&shorter).unwrap_err().to_string();
    assert!(error.contains("[50]") && error.contains("[49]"), "{error}");
    let number = programs.forward.upload(2, &1.0).unwrap();
    assert!(copy.copy_from(&number).is_err());
    let other = Programs::new(&rev::Emulator::new());
    let error = copy.copy_from(&other.forward.upload(0, &found).unwrap()).unwrap_err().to_string();
    assert!(error.contains("different devices"), "{error}");
    assert!(copy.set_bytes(&[0; 8]).unwrap_err().to_string().contains("8 bytes"));
    // states of different numbers of arrays
    let mut state = OnDevice::new([copy]);
    let bytes = (array.bytes() + number.bytes()) as u64;
    state.assign(&OnDevice::new([array, number]));
    assert_eq!((state.arrays().unwrap().len(), state.bytes()), (2, bytes));
}

#[reversible]
fn count<T: Real>(n: &mut usize, x: &mut T) {
    n += 2;
    x += 1.0;
}

#[reversible]
fn powers<T: Real>(y: &mut T, x: T, n: usize) {
    for _ in 0..n {
        y += x;
    }
}

/// The host runs such loops, and has to know what a program has written before.
#[test]
fn a_number_that_a_program_has_written_is_the_bound_of_a_loop() {
    let gpu = rev::Emulator::new();
    let counting = gpu.prepare(&count::ir(), Direction::FORWARD, &[&1usize, &0.5]).unwrap();
    let adding = gpu.prepare(&powers::ir(), Direction::FORWARD, &[&0.0, &0.5, &1usize]).unwrap();
    let back = gpu.prepare(&count::ir(), Direction::INVERSE, &[&1usize, &0.5]).unwrap();
    let (n, x) = (counting.upload(0, &1usize).unwrap(), counting.upload(1, &0.5).unwrap());
    let mut sum = adding.upload(0, &0.0).unwrap();
    let found = |sum: &rev::cuda::DeviceArray<_>| {
        let mut found = 0.0;
        sum.download(&mut found).unwrap();
        found
    };
    counting.run(&[&n, &x]).unwrap();
    adding.run(&[&sum, &x, &n]).unwrap();
    assert_eq!(found(&sum), 3.0 * 1.5);
    let copy = n.try_clone().unwrap();
    counting.run(&[&n, &x]).unwrap();
    adding.run(&[&sum, &x, &n]).unwrap();
    assert_eq!(found(&sum), 3.0 * 1.5 + 5.0 * 2.5);
    back.run(&[&n, &x]).unwrap();
    sum.clear().unwrap();
    adding.run(&[&sum, &x, &n]).unwrap();
    adding.run(&[&sum, &x, &copy]).unwrap();
    assert_eq!(found(&sum), 6.0 * 1.5);
}
