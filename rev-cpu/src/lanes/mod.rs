//! Parallel loops in lanes: several iterations at once on the vectors of the processor.
//!
//! | module | what it has |
//! | --- | --- |
//! | [`groups`] | a loop's values in groups of one for each lane, and the choice of the instruction set |
//! | [`index`] | indices that are uniform, grow from lane to lane, or are each lane's own |
//! | [`access`] | elements of arrays in lanes |
//! | [`held`] | what an ancilla is asked at its release |
//! | [`lend`] | fixed-size arrays as arguments of calls |
//! | [`own`] | arrays of which each lane has its own |
//! | [`ranges`] | counted loops whose bounds differ between lanes |
//! | [`mod@spread`] | values, calls and shadows brought into lanes |
//! | `memory` | packs to and from memory, whatever the elements are |
//! | `transpose` | those of several words, with AVX-512 |
//!
//! An index out of range in an active lane is found before anything is read or written; inactive lanes
//! touch nothing. Where several lanes write to or add to one element they do so in the order of the
//! lanes, which is that of the loop, but for loops that run downwards: these visit each group upwards, as
//! the order of a parallel loop's iterations is free.
//!
//! Everything here is inlined into a function that enables the instruction set (`vectorize!`), so that
//! emitted code needs no flags of the compiler.

pub mod access;
pub mod groups;
pub mod held;
pub mod index;
pub mod lend;
mod memory;
pub mod own;
pub mod ranges;
pub mod spread;
#[cfg(target_arch = "x86_64")]
mod transpose;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use crate::__vectorize as vectorize;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use groups::portable;
#[cfg(avx2)]
pub use groups::{avx2, run_avx2};
#[cfg(avx512)]
pub use groups::{avx512, run_avx512};
pub use groups::{best, fusing, have_sides, runs, split, Groups, MOST_SIDES};
#[cfg(target_arch = "aarch64")]
pub use groups::{neon, run_neon};
pub use held::{hold, hold_in, see, unrestored, unrestored_in};
pub use index::{absent, Index, Indices, Lin};
pub use lend::Lend;
pub use own::{astray_in, mismatch_in};
pub use ranges::Trips;
pub use rev_core::lanes::*;
pub use spread::{each, spread, spread_zero_shadows, spread_zeros_like, zero_shadows, zeros_like, LaneValue};
