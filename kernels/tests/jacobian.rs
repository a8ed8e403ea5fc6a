//! The Jacobian of bundle adjustment: values and rows by one kernel that passes once over the
//! observations, with the bits of the CPU.

#![allow(clippy::unwrap_used)]

use rev_core::scalar::Batch;
use rev_cpu::prelude::*;
use rev_cuda::emulator::{Emulator, Traffic};
use rev_cuda::Gpu;
use rev_kernels::ba;

/// Planes of arrays are whole sectors.
const OBSERVATIONS: usize = 256;

/// Observations with ordinary, very small and very large numbers, zeros and no rotation.
struct Problem {
    seeds: Vec<[Batch<f64, 2>; 2]>,
    residuals: Vec<[f64; 2]>,
    cameras: Vec<[f64; ba::CAMERA]>,
    points: Vec<[f64; 3]>,
    weights: Vec<f64>,
    features: Vec<[f64; 2]>,
}

fn problem() -> Problem {
    let mut state = 1u64;
    let mut next = move |k: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let value = (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        match k % 16 {
            5 => 0.0,
            6 => -0.0,
            7 => value * 1e300,
            8 => value * 1e-310,
            9 => value * 1e12,
            _ => value,
        }
    };
    let n = OBSERVATIONS;
    let mut cameras: Vec<[f64; ba::CAMERA]> = (0..n).map(|k| std::array::from_fn(|_| next(k))).collect();
    cameras[3][..3].fill(0.0);
    cameras[4][..3].fill(-0.0);
    Problem {
        seeds: (0..n).map(|k| [Batch([1.0, next(k)]), Batch([-0.0, 1.0])]).collect(),
        residuals: (0..n).map(|k| [next(k), -0.0]).collect(),
        cameras,
        points: (0..n).map(|k| std::array::from_fn(|_| next(k / 2))).collect(),
        weights: (0..n).map(|k| next(k / 3)).collect(),
        features: (0..n).map(|k| [next(k), next(k + 1)]).collect(),
    }
}

/// Values, and the cotangents of everything but the features.
fn jacobian(device: &dyn Device, p: &Problem) -> Result<Vec<u64>, Error> {
    let vjp = ba::residuals_apart::vjp_batch(
        device,
        &p.seeds,
        &p.residuals,
        &p.cameras,
        &p.points,
        &p.weights,
        &p.features,
    )?;
    let mut all: Vec<f64> = vjp.residuals.concat();
    let mut add = |cotangents: &[Batch<f64, 2>]| all.extend(cotangents.iter().flat_map(|b| b.0));
    vjp.residuals_bar.iter().for_each(|e| add(e));
    vjp.cameras_bar.iter().for_each(|e| add(e));
    vjp.points_bar.iter().for_each(|e| add(e));
    add(&vjp.weights_bar);
    // a NaN is some NaN
    Ok(all.into_iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }).collect())
}

#[test]
fn the_kernel_has_the_bits_of_the_cpu() {
    let p = problem();
    let expected = jacobian(&Cpu::new().checks(false), &p).unwrap();
    let found = jacobian(&Gpu::over(Emulator::new()), &p).unwrap();
    let differ = expected.iter().zip(&found).position(|(a, b)| a != b);
    let values = differ.map(|k| [expected[k], found[k]].map(f64::from_bits));
    assert_eq!(differ, None, "of {} numbers: {values:?}", expected.len());
    assert!(expected.iter().filter(|v| **v == u64::MAX).count() < expected.len() / 4);
}

#[test]
fn one_kernel_passes_once_over_the_observations() {
    let gpu = Gpu::over(Emulator::new());
    let p = problem();
    jacobian(&gpu, &p).unwrap();
    let emulator = gpu.driver();
    assert_eq!(emulator.launches(), 1);
    // residuals and their seeds, camera, point, weight and feature are read; the residuals, and two
    // numbers for each of the others but the feature, are written
    let (read, written) = (2 + 4 + 11 + 3 + 1 + 2, 2 + 2 * (11 + 3 + 1));
    let bytes = |numbers: usize| (numbers * OBSERVATIONS * 8) as u64;
    let sectors = |numbers: usize| bytes(numbers) / Traffic::SECTOR;
    let expected = Traffic {
        loaded: bytes(read),
        loaded_sectors: sectors(read),
        stored: bytes(written),
        stored_sectors: sectors(written),
        atomics: 0,
    };
    assert_eq!(emulator.traffic(), expected);
}
