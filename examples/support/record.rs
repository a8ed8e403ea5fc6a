//! Records of runs, for other programs to read.

use std::io::Error;
use std::path::Path;

use rev_kernels::io::{write_whole, WriteError};
use serde::Serialize;

/// Writes a record as JSON, if a file for it is named.
pub fn write_json(path: Option<&Path>, record: &(impl Serialize + ?Sized)) -> Result<(), WriteError> {
    let Some(path) = path else { return Ok(()) };
    write_whole(path, |out| {
        serde_json::to_writer_pretty(&mut *out, record).map_err(Error::from)?;
        writeln!(out)
    })
}
