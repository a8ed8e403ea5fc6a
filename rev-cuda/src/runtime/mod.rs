//! Runs plans on a device: values to device memory and back, the host's part of a program, what a
//! kernel reports.

mod cache;
mod devices;
mod execute;
mod gpu;
mod marshal;
mod order;
mod prepared;
mod report;
mod room;
mod survey;
mod text;
mod transfer;

#[cfg(test)]
mod gpu_tests;
#[cfg(test)]
mod tests;

pub use devices::{Cuda, Emulator};
pub use execute::{Given, Loaded};
pub use gpu::{Generator, Gpu};
pub use marshal::{pack, unpack, Packed};
pub use prepared::{DeviceArray, Prepared};
pub use room::Room;
pub use transfer::{stage, unstage, Sample};
