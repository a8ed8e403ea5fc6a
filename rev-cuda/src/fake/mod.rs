//! A driver for tests, which counts what it is asked for. Its kernels are Rust closures, or data
//! structures that it runs without their text: what lowering makes is tested with it apart from what is
//! printed.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod compute;
mod threads;

pub use compute::compute;

use crate::driver::{Driver, ModuleHandle, Target};
use crate::kernel;
use rev_core::error::{Cause, Error};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Memory by address of its start.
pub type Memory = BTreeMap<u64, Vec<u8>>;
type Kernel = Box<dyn Fn(&mut Memory, u32, u32, &[u64]) + Send + Sync>;

#[derive(Default)]
pub struct Fake {
    kernels: BTreeMap<String, Kernel>,
    pub memory: Mutex<Memory>,
    pub allocations: Mutex<Vec<String>>,
    pub loads: Mutex<usize>,
    /// Allocations beyond this many bytes in all fail.
    pub capacity: Option<usize>,
    /// Its name, where it isn't `fake`.
    pub label: Option<&'static str>,
}

impl Fake {
    /// With a kernel, which is given memory, grid, block and parameters.
    pub fn kernel(
        mut self,
        name: &str,
        f: impl Fn(&mut Memory, u32, u32, &[u64]) + Send + Sync + 'static,
    ) -> Fake {
        self.kernels.insert(name.into(), Box::new(f));
        self
    }

    /// With the kernels of a plan.
    pub fn of(kernels: Vec<kernel::Kernel>) -> Fake {
        kernels.into_iter().fold(Fake::default(), |fake, kernel| {
            let name = kernel.name.clone();
            fake.kernel(&name, move |m, grid, block, p| threads::run(&kernel, m, grid, block, p))
        })
    }

    fn with<T>(&self, at: u64, bytes: usize, f: impl FnOnce(&mut [u8]) -> T) -> Result<T, Error> {
        Ok(f(slice(&mut self.memory.lock().unwrap(), at, bytes)))
    }
}

/// Some bytes of memory.
fn slice(memory: &mut Memory, at: u64, bytes: usize) -> &mut [u8] {
    let (start, room) =
        memory.range_mut(..=at).next_back().unwrap_or_else(|| panic!("{at:#x} isn't allocated"));
    let offset = (at - start) as usize;
    let len = room.len();
    room.get_mut(offset..offset + bytes).unwrap_or_else(|| panic!("{offset} of {len} bytes at {start:#x}"))
}

impl Driver for Fake {
    fn name(&self) -> &str {
        self.label.unwrap_or("fake")
    }
    fn target(&self) -> Target {
        Target(70)
    }
    fn load(&self, _: &str) -> Result<ModuleHandle, Error> {
        *self.loads.lock().unwrap() += 1;
        Ok(ModuleHandle(1))
    }
    fn allocate(&self, name: &str, bytes: usize) -> Result<u64, Error> {
        let mut memory = self.memory.lock().unwrap();
        let used: usize = memory.values().map(Vec::len).sum();
        if self.capacity.is_some_and(|c| used + bytes > c) {
            let reason = format!("no room for `{name}`: {bytes} bytes");
            return Err(Cause::Device { device: "fake".into(), reason }.into());
        }
        self.allocations.lock().unwrap().push(name.into());
        let address =
            memory.last_key_value().map_or(4096, |(a, m)| (a + m.len() as u64 + 4096).next_multiple_of(256));
        memory.insert(address, vec![0xcd; bytes]);
        Ok(address)
    }
    fn free(&self, address: u64) {
        assert!(self.memory.lock().unwrap().remove(&address).is_some());
    }
    fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), Error> {
        self.with(to, bytes.len(), |m| m.copy_from_slice(bytes))
    }
    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.with(from, bytes.len(), |m| bytes.copy_from_slice(m))
    }
    fn clear(&self, at: u64, bytes: usize) -> Result<(), Error> {
        self.with(at, bytes, |m| m.fill(0))
    }
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        let source = self.with(from, bytes, |m| m.to_vec())?;
        self.upload(to, &source)
    }
    fn launch(
        &self,
        _: ModuleHandle,
        kernel: &str,
        grid: u32,
        block: u32,
        params: &[Vec<u8>],
    ) -> Result<(), Error> {
        let params: Vec<u64> =
            params.iter().map(|p| u64::from_le_bytes(p.as_slice().try_into().unwrap())).collect();
        let Some(run) = self.kernels.get(kernel) else {
            return Err(Cause::Missing { kind: "kernel".into(), name: kernel.into() }.into());
        };
        run(&mut self.memory.lock().unwrap(), grid, block, &params);
        Ok(())
    }
    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }
}
