//! Runs plans on a device: values to device memory and back, the host's part of a program, what a
//! kernel reports.

mod execute;
mod marshal;
mod report;
mod room;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use execute::{Given, Loaded};
pub use marshal::{pack, unpack, Packed};
pub use room::Room;
