//! Files that appear whole or not at all: written where they have no name yet, and named at the end.
//!
//! On Linux a file is written without any name, so that nothing is left of it when the program is killed, the disk is
//! full or the machine stops. Elsewhere, and on file systems that can't do that, it has a temporary name beside its
//! place, which is removed when writing fails, but not when the program is killed.

use std::fs::{self, File, Metadata, OpenOptions};
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

/// The most links that are followed from one to the next.
const LINKS: usize = 40;

/// Writes a file with `content`, replacing an older one, whose mode it keeps, only when all of it is written. Links are
/// followed. What isn't a regular file, a device or a pipe, is written to as it is.
pub fn write_whole(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let attempt = || -> io::Result<()> {
        let old = match fs::metadata(path) {
            Ok(old) if old.is_file() => Some(old),
            Ok(_) => return write_through(OpenOptions::new().write(true).open(path)?, content).map(drop),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let path = if old.is_some() { fs::canonicalize(path)? } else { end_of_links(path)? };
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        Draft::new(folder)?.write(content)?.publish(folder, &path, old.as_ref())
    };
    attempt().map_err(|cause| WriteError { file: path.to_path_buf(), cause })
}

/// What a path leads to that doesn't exist: itself, or where the last link points.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

fn write_through(file: File, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut buffer = BufWriter::with_capacity(1 << 18, file);
    content(&mut buffer)?;
    buffer.into_inner().map_err(io::IntoInnerError::into_error)
}

/// A file that isn't in its place yet.
enum Draft {
    /// Without a name.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// Under a temporary name.
    Named(tempfile::NamedTempFile<File>),
}

impl Draft {
    fn new(folder: &Path) -> io::Result<Draft> {
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed::create(folder) {
            return Ok(Draft::Unnamed(file));
        }
        temporary_file(folder).map(Draft::Named)
    }

    /// The same with all of the content, on the disk.
    fn write(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Draft> {
        match self {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file) => {
                let file = write_through(file, content)?;
                file.sync_all()?;
                Ok(Draft::Unnamed(file))
            }
            Draft::Named(file) => {
                write_through(file.as_file().try_clone()?, content)?.sync_all()?;
                Ok(Draft::Named(file))
            }
        }
    }

    /// Puts the file in its place, which the old one may have.
    fn publish(self, folder: &Path, path: &Path, old: Option<&Metadata>) -> io::Result<()> {
        let file = match &self {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file) => file,
            Draft::Named(file) => file.as_file(),
        };
        if let Some(old) = old {
            keep(file, old)?;
        }
        match self {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file) => unnamed::publish(&file, folder, path, old.is_none()),
            Draft::Named(file) => file.persist(path).map(drop).map_err(|e| e.error),
        }
    }
}

/// Gives a file the mode of the one that it replaces, and its owner where that is allowed.
fn keep(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let now = file.metadata()?;
        if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
            // only root may, and then a file of its own is the next best
            let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
        }
    }
    file.set_permissions(old.permissions())
}

/// Files without a name.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use rustix::fs::{linkat, open, AtFlags, Mode, OFlags, CWD};

    /// Where a process finds its open files.
    const OPEN_FILES: &str = "/proc/self/fd";

    /// An ordinary file (less the umask); `None` where the file system has none without a name.
    pub fn create(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let file = open(folder, flags, mode).ok().filter(|_| Path::new(OPEN_FILES).exists())?;
        Some(File::from(file))
    }

    /// Names a file. One that replaces another gets a name beside it for a moment.
    pub fn publish(file: &File, folder: &Path, path: &Path, new: bool) -> io::Result<()> {
        let here = format!("{OPEN_FILES}/{}", file.as_raw_fd());
        let name = |path: &Path| -> io::Result<()> {
            Ok(linkat(CWD, here.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
        };
        match new.then(|| name(path)) {
            Some(Err(e)) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => {
                let named = tempfile::Builder::new().make_in(folder, name)?;
                named.into_temp_path().persist(path).map_err(|e| e.error)
            }
        }
    }
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
    // a temporary file is private by default; this one becomes an ordinary file (less the umask)
    let ordinary = std::fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().permissions(ordinary).tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile<File>> {
    tempfile::Builder::new().tempfile_in(folder)
}
