//! Values and gradients in the deterministic mode, which have to agree with the CPU's in every bit.

use rev::cuda::driver::Driver;
use rev::cuda::Gpu;
use rev::device::Device;
use rev::prelude::Cpu;
use rev::{Error, Outputs};
use rev_kernels::{ba, bal, bessel, gmm};

use super::report::Agreement;
use super::Options;

/// One row.
fn agreement<D: Driver>(
    gpu: &Gpu<D>,
    name: &str,
    run: impl Fn(&dyn Device) -> Result<Outputs, Error>,
) -> Agreement {
    let (cpu, gpu) = (Cpu::new().deterministic(true), gpu.clone().deterministic(true));
    let outcome = rev::compare([&cpu, &gpu], run);
    let differing = outcome.map_err(|e| e.cause().to_string()).map(|c| {
        let sum = |f: fn(&rev::verify::ValueRow) -> usize| c.values.iter().map(f).sum();
        [sum(|r| r.differing + usize::from(r.mismatch.is_some())), sum(|r| r.scalars)]
    });
    match &differing {
        Ok([differing, scalars]) => eprintln!("{name}: {differing} of {scalars} differ"),
        Err(why) => eprintln!("{name}: {why}"),
    }
    Agreement { name: name.into(), differing }
}

/// Every program that a GPU can run, on small arguments.
pub fn suite<D: Driver>(gpu: &Gpu<D>) -> Vec<Agreement> {
    rev_samples::all().filter(|s| s.on_gpu).map(|s| agreement(gpu, s.name, s.run)).collect()
}

/// The benchmark programs at full size.
pub fn large<D: Driver>(gpu: &Gpu<D>, options: &Options) -> Vec<Agreement> {
    let i = gmm::Instance::random(options.size(10, 2), options.size(25, 3), options.size(10_000, 40), 1);
    let mixture = agreement(gpu, "GMM gradient", |device| {
        let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
        let g = gmm::objective::gradient(device, &i.alphas, means, icf, points, i.gamma, i.m)?;
        let outputs = Outputs::new().with("value", &g.value).with("alphas", &g.alphas);
        Ok(outputs.with("means", &g.means).with("icf", &g.icf))
    });
    let [n, m, p] = [options.size(161, 2), options.size(48_126, 10), options.size(182_072, 40)];
    let i = ba::Instance::random(n, m, p, 1);
    let adjustment = agreement(gpu, "BA gradient", |device| {
        let g = ba::gradient(device, &i)?;
        let outputs = Outputs::new().with("value", &g.value).with("cameras", &g.cameras);
        Ok(outputs.with("points", &g.points).with("weights", &g.weights))
    });
    let i = bal::Instance::random(n, m, p, 1);
    let other_camera = agreement(gpu, "BA gradient with BAL's camera", |device| {
        let g = bal::gradient(device, &i)?;
        Ok(Outputs::new().with("value", &g.value).with("cameras", &g.cameras).with("points", &g.points))
    });
    let count = options.size(1 << 17, 64);
    let z: Vec<f64> = (1..=count).map(|k| 2.0 * k as f64 / count as f64).collect();
    let (seeds, start) = (vec![1.0; z.len()], vec![0.0; z.len()]);
    let series = agreement(gpu, "Bessel and derivative", |device| {
        let back = bessel::bessel_j_each::vjp(device, &seeds, &start, 2, &z, 1e-10)?;
        Ok(Outputs::new().with("value", &back.out).with("z", &back.z_bar))
    });
    vec![mixture, adjustment, other_camera, series]
}
