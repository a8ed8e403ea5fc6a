//! `f::ptx`: programs as text, for a device or for a kind of device.

use super::gpu::Gpu;
use super::transfer::Sample;
use crate::driver::{Driver, Target};
use crate::lower::{lower, ArgumentType, LowerOptions};
use crate::ptx;
use rev_core::device::Generator;
use rev_core::error::Error;
use rev_core::ir::{Direction, Module};
use rev_core::value::{Data, DynArg};

/// For the device's target, with its options.
impl<D: Driver> Generator for Gpu<D> {
    fn text(&self, module: &Module, direction: Direction, args: &[&dyn DynArg]) -> Result<String, Error> {
        self.ptx(module, direction, args)
    }
}

/// With default options: no checks, sums in any order.
impl Generator for Target {
    fn text(&self, module: &Module, direction: Direction, args: &[&dyn DynArg]) -> Result<String, Error> {
        let data: Vec<Data> = args.iter().map(|a| Sample::of(*a).data).collect();
        let types = ArgumentType::of_arguments(module, direction, &data)?;
        let program = lower(module, direction, &types, &LowerOptions::default())?;
        Ok(ptx::print(&program, *self))
    }
}
