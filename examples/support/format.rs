//! The file formats of bundle adjustment.

use clap::ValueEnum;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// ADBench's: one camera of 11 numbers, one point, one weight and one feature stand for all
    Adbench,
    /// Cameras of 11 numbers, points, weights, observations and features, all written out
    Full,
    /// "Bundle Adjustment in the Large": cameras of 9 numbers, no weights
    Bal,
}
