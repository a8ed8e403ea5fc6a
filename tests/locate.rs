//! Which statement two devices differ at: devices made wrong on purpose, and devices that agree.

#![allow(clippy::unwrap_used)]

use rev::cuda::emulator;
use rev::cuda::lower::{lower, ArgumentType, LowerOptions};
use rev::cuda::Gpu;
use rev::device::{Backend, DynamicDevice};
use rev::ir::{Direction, Module};
use rev::prelude::*;
use rev::tolerance::Options;
use rev::value::DynArg;
use rev::verify::{locate, Search};
use rev::{Emulator, Outputs};
use rev_kernels::{ba, bessel, gmm};

#[reversible]
fn wave(s: &mut f64, z: &mut [f64], a: f64) {
    for i in par(0..z.len()) {
        z[i] += a;
    }
    add_waves(&mut *s, &z);
}

#[reversible]
fn add_waves(s: &mut f64, z: &[f64]) {
    for i in par(0..z.len()) {
        let w = z[i].sin();
        *s += w * w;
    }
}

/// A module with a mistake: `sinh` where the program says `sin`.
fn wrong(module: &Module) -> Module {
    let mut module = module.clone();
    for function in module.functions.values_mut() {
        let replaced = rev::text::encode_function(function).replace("sin(", "sinh(");
        *function = rev::text::parse_function(&replaced).unwrap();
    }
    module
}

/// The interpreter, with the mistake.
struct Wrong(Interpreter);

impl Device for Wrong {
    fn name(&self) -> &str {
        "wrong"
    }
    fn backend(&self) -> Backend<'_> {
        Backend::Dynamic(self)
    }
}

impl DynamicDevice for Wrong {
    fn options(&self) -> &Options {
        &self.0.options
    }
    fn execute(&self, module: &Module, d: Direction, args: &mut [&mut dyn DynArg]) -> Result<(), Error> {
        self.0.execute(&wrong(module), d, args)
    }
}

/// A GPU whose generator makes it.
fn wrong_gpu() -> Gpu<emulator::Emulator> {
    fn generate(
        module: &Module,
        direction: Direction,
        types: &[ArgumentType],
        options: &LowerOptions,
    ) -> Result<rev::cuda::plan::Program, Error> {
        lower(&wrong(module), direction, types, options)
    }
    Gpu::with_generator(emulator::Emulator::default(), generate)
}

fn waves(devices: [&dyn Device; 2], z: &[f64]) -> Search {
    locate(devices, |device| {
        let (mut s, mut z) = (0.0, z.to_vec());
        wave::run(device, &mut s, &mut z, 0.5)?;
        let g = add_waves::gradient(device, &z)?;
        Ok(Outputs::new().with("s", &s).with("z", &g.z))
    })
    .unwrap()
}

#[test]
fn the_statement_that_a_wrong_device_does_otherwise_is_named() {
    // sinh 0 is sin 0: the first difference is in the fourth iteration
    let z = [-0.5, -0.5, -0.5, 0.25, 1.0];
    let (cpu, gpu, interpreter) = (Cpu::new(), wrong_gpu(), Wrong(Interpreter::new()));
    for device in [&gpu as &dyn Device, &interpreter] {
        let search = waves([&cpu, device], &z);
        let found = search.first.as_ref().unwrap();
        assert_eq!(found.devices, ["cpu", device.name()]);
        assert!(found.site.function.ends_with("add_waves"), "{search}");
        assert!(found.site.file.ends_with("locate.rs") && found.site.span.line == 28, "{search}");
        assert!(found.site.statement.starts_with("let w: f64 = sin(z[i])"), "{search}");
        assert_eq!(found.site.iterations.len(), 1);
        assert_eq!(found.site.iterations[0].value, 3);
        assert!(found.callers[0].function.ends_with("wave"), "{search}");
        let values = found.values.clone().map(|v| v.parse::<f64>().unwrap());
        assert!(
            approx::abs_diff_eq!(values[..], [0.75f64.sin(), 0.75f64.sinh()][..], epsilon = 5e-16),
            "{search}"
        );
        let text = search.to_string();
        assert!(text.contains("with i = 3") && text.contains("`value` is 0.6816"), "{text}");
    }
}

#[test]
fn an_order_of_sums_is_a_difference_of_the_loop() {
    let mut z = vec![1.0; 70];
    z[0] = 1e16;
    let search = locate([&Interpreter::new(), &Emulator::new()], |device| {
        let mut s = 0.0;
        add::run(device, &mut s, &z)?;
        Ok(Outputs::new().with("s", &s))
    })
    .unwrap();
    let found = search.first.unwrap();
    assert!(found.site.statement.starts_with("par for i in ") && found.site.iterations.is_empty(), "{found}");
    assert_eq!(found.place, "s");
}

#[reversible]
fn add(s: &mut f64, z: &[f64]) {
    for i in par(0..z.len()) {
        *s += z[i];
    }
}

#[test]
fn devices_that_agree_agree_at_every_statement_of_the_kernels() {
    let (cpu, gpu) = (Cpu::new().deterministic(true), Emulator::new().deterministic(true));
    let devices: [&dyn Device; 2] = [&cpu, &gpu];
    let mixture = gmm::Instance::random(2, 2, 3, 1);
    let cameras = ba::Instance::random(2, 3, 4, 1);
    let searches = [
        locate(devices, |device| {
            let i = &mixture;
            let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
            let g = gmm::objective::gradient(device, &i.alphas, means, icf, points, i.gamma, i.m)?;
            Ok(Outputs::new().with("icf", &g.icf))
        }),
        locate(devices, |device| {
            let g = ba::gradient(device, &cameras)?;
            Ok(Outputs::new().with("cameras", &g.cameras))
        }),
        locate(devices, |device| {
            let back = bessel::bessel_j_each::vjp(device, &[1.0; 2], &[0.0; 2], 2, &[0.5, 1.5], 1e-10)?;
            Ok(Outputs::new().with("z", &back.z_bar))
        }),
    ];
    for search in searches {
        let search = search.unwrap();
        // statements that declare what later ones need can't be run alone, and are counted
        assert!(search.first.is_none() && search.compared > search.skipped.0, "{search}");
    }
}
