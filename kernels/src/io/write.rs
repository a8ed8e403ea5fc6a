//! Files that appear whole or not at all: written beside their place under a temporary name, then
//! renamed.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file that couldn't be written; nothing is left under its name that wasn't there before.
#[derive(Debug, Error)]
#[error("{}: cannot be written: {cause}", file.display())]
pub struct WriteError {
    /// The file.
    pub file: PathBuf,
    /// What the system said.
    #[source]
    pub cause: io::Error,
}

/// Writes a file with `content`, replacing an older one only when all of it is written.
pub fn write_whole(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let attempt = || -> io::Result<()> {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let file = temporary_file(folder)?;
        let mut buffer = BufWriter::with_capacity(1 << 18, file);
        content(&mut buffer)?;
        let file = buffer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(path).map(drop).map_err(|e| e.error)
    };
    attempt().map_err(|cause| WriteError { file: path.to_path_buf(), cause })
}

/// Writes numbers, one line per row, with 17 significant digits, which is what an `f64` needs to
/// be read back as itself.
pub fn write_numbers<R: AsRef<[f64]>>(
    path: &Path,
    rows: impl IntoIterator<Item = R>,
) -> Result<(), WriteError> {
    write_whole(path, |out| rows.into_iter().try_for_each(|row| write_number_line(out, row.as_ref())))
}

/// One line of numbers with 17 significant digits.
pub fn write_number_line(out: &mut dyn Write, numbers: &[f64]) -> io::Result<()> {
    for (i, x) in numbers.iter().enumerate() {
        let space = if i == 0 { "" } else { " " };
        write!(out, "{space}{x:.16e}")?;
    }
    writeln!(out)
}

#[cfg(unix)]
fn temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile<File>> {
    use std::os::unix::fs::PermissionsExt;
    // A temporary file is private by default; this one becomes an ordinary file (less the umask).
    let ordinary = std::fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().permissions(ordinary).tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile<File>> {
    tempfile::Builder::new().tempfile_in(folder)
}
