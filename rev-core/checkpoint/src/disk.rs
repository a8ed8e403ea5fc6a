//! States in files.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::error::CheckpointError;
use super::State;

/// What is tried with a file, for errors.
pub(super) fn failed(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> CheckpointError {
    let path = path.to_path_buf();
    move |cause| CheckpointError::Disk { path, doing, cause }
}

/// A folder for states. No file is written twice, and a file that a saved run has need of stays until the next one is
/// saved, so that what was saved last is whole at any time.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The next file's number.
    next: u64,
    /// Files that the saved run has, which are needed by nobody else.
    dropped: Vec<u64>,
    /// Files from this number on are in no saved run.
    unsaved: u64,
}

impl Folder {
    pub fn new(path: &Path) -> Result<Folder, CheckpointError> {
        fs::create_dir_all(path).map_err(failed(path, "making the folder"))?;
        Ok(Folder { path: path.to_path_buf(), next: 0, dropped: Vec::new(), unsaved: 0 })
    }

    /// The file of a state.
    fn file(&self, number: u64) -> PathBuf {
        self.path.join(format!("state-{number}"))
    }

    /// The file of a saved run.
    pub fn record(&self) -> PathBuf {
        self.path.join("saved-run")
    }

    pub fn store(&mut self, state: &impl State) -> Result<u64, CheckpointError> {
        let (number, path) = (self.next, self.file(self.next));
        self.next += 1;
        let write = || {
            let mut to = BufWriter::new(File::create(&path)?);
            state.write(&mut to)?;
            to.flush()
        };
        write().map_err(failed(&path, "writing a state"))?;
        Ok(number)
    }

    pub fn restore(&self, number: u64, state: &mut impl State) -> Result<(), CheckpointError> {
        let path = self.file(number);
        let mut read = || {
            let mut from = BufReader::new(File::open(&path)?);
            state.read(&mut from)?;
            match from.read(&mut [0])? {
                0 => Ok(()),
                _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the file is longer than the state")),
            }
        };
        read().map_err(failed(&path, "reading a state"))
    }

    pub fn discard(&mut self, number: u64) -> Result<(), CheckpointError> {
        if number < self.unsaved {
            self.dropped.push(number);
            return Ok(());
        }
        self.delete(number)
    }

    fn delete(&self, number: u64) -> Result<(), CheckpointError> {
        let path = self.file(number);
        fs::remove_file(&path).map_err(failed(&path, "removing a state"))
    }

    /// A run with all files of now was saved.
    pub fn saved(&mut self) -> Result<(), CheckpointError> {
        self.unsaved = self.next;
        std::mem::take(&mut self.dropped).into_iter().try_for_each(|number| self.delete(number))
    }

    /// Goes on after files with numbers below this, of a saved run. What was written after it was saved is written again.
    pub fn resumed(&mut self, next: u64) {
        (self.next, self.unsaved) = (next, next);
    }

    /// The next file's number.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Removes the saved run, if there is one.
    pub fn finish(&mut self) -> Result<(), CheckpointError> {
        let path = self.record();
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed(&path, "removing the saved run")(e)),
            Ok(()) | Err(_) => self.saved(),
        }
    }
}
