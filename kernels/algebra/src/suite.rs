//! Every program of this crate on small arguments: what each device has to give the same bits for, in the deterministic mode.

use rev_core::verify::{Outputs, Sample};

/// The programs.
pub const SAMPLES: &[Sample] = &[];
