//! Reading and writing the files that the benchmark programs work on.
//!
//! Readers check everything before they allocate for it, and every malformed file gives one
//! [`ReadError`]: the file, the line, what was expected there and what was found. Writers put a
//! file in place whole or not at all.

mod ba;
mod bal;
mod gmm;
mod words;
mod write;

pub use ba::{read_ba_adbench, read_ba_full, write_ba_full};
pub use bal::{read_bal, write_bal};
pub use gmm::{read_gmm, write_gmm};
pub use words::{ReadError, MAX_LINE, MAX_NUMBERS, MAX_REPEATED};
pub use write::{write_number_line, write_numbers, write_whole, WriteError};
