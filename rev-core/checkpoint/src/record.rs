//! A saved run: where it is in its schedule, and every state.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::disk::failed;
use super::error::{CheckpointError, Unusable};
use super::State;

const MAGIC: [u8; 8] = *b"revrun\x00\x01";

/// Where a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// Whole actions done.
    pub actions: u64,
    /// The hash of these.
    pub hash: u64,
    /// Steps done of the next one.
    pub within: u64,
    /// The length of the loop, or how far it has gone if that isn't known yet.
    pub steps: u64,
    /// Whether it is known.
    pub ended: u64,
    /// The number of the next file.
    pub files: u64,
}

/// The slots of a run.
#[derive(Debug)]
pub(super) struct Held<'a, S> {
    /// In memory: their numbers and states.
    pub memory: Vec<(u64, &'a S)>,
    /// On disk: their numbers and those of their files.
    pub disk: Vec<(u64, u64)>,
}

/// Writes to another file first, which then takes the place of the one before.
pub(super) fn save<S: State, C: State>(
    path: &Path,
    position: Position,
    held: &Held<'_, S>,
    (working, cotangent): (&S, &C),
) -> Result<(), CheckpointError> {
    let new = path.with_extension("new");
    let write = || -> io::Result<()> {
        let mut to = Summed::new(BufWriter::new(File::create(&new)?));
        to.write_all(&MAGIC)?;
        let Position { actions, hash, within, steps, ended, files } = position;
        let sizes = [working.bytes(), cotangent.bytes(), held.memory.len() as u64, held.disk.len() as u64];
        let disk = held.disk.iter().flat_map(|&(slot, file)| [slot, file]);
        for word in [actions, hash, within, steps, ended, files].into_iter().chain(sizes).chain(disk) {
            word.write(&mut to)?;
        }
        for (slot, state) in &held.memory {
            slot.write(&mut to)?;
            state.write(&mut to)?;
        }
        working.write(&mut to)?;
        cotangent.write(&mut to)?;
        let sum = to.sum;
        sum.write(&mut to)?;
        to.inner.flush()?;
        to.inner.get_ref().sync_all()
    };
    write().map_err(failed(&new, "saving the run"))?;
    fs::rename(&new, path).map_err(failed(path, "saving the run"))
}

/// What was saved.
#[derive(Debug)]
pub(super) struct Loaded<S> {
    pub position: Position,
    pub memory: Vec<(u64, S)>,
    pub disk: Vec<(u64, u64)>,
}

/// Reads a saved run, if there is one; the working state and the cotangent only when all of it is right.
pub(super) fn load<S: State, C: State>(
    path: &Path,
    working: &mut S,
    cotangent: &mut C,
) -> Result<Option<Loaded<S>>, CheckpointError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(path, "opening the saved run")(e)),
    };
    let unusable = |why| CheckpointError::Resume { path: path.to_path_buf(), why };
    let (mut state, mut bars) = (working.clone(), cotangent.clone());
    let mut from = Summed::new(BufReader::new(file));
    let loaded = match read(&mut from, &mut state, &mut bars) {
        Ok(Ok(loaded)) => loaded,
        Ok(Err(why)) => return Err(unusable(why)),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Err(unusable(Unusable::Damaged)),
        Err(e) => return Err(failed(path, "reading the saved run")(e)),
    };
    (*working, *cotangent) = (state, bars);
    Ok(Some(loaded))
}

fn read<S: State, C: State>(
    from: &mut Summed<impl Read>,
    state: &mut S,
    cotangent: &mut C,
) -> io::Result<Result<Loaded<S>, Unusable>> {
    let mut magic = [0; MAGIC.len()];
    from.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Ok(Err(Unusable::Damaged));
    }
    let mut words = [0u64; 10];
    words.read(from)?;
    let [actions, hash, within, steps, ended, files, of_state, of_cotangent, in_memory, on_disk] = words;
    for (found, expected) in [(of_state, state.bytes()), (of_cotangent, cotangent.bytes())] {
        if found != expected {
            return Ok(Err(Unusable::Sizes { found, expected }));
        }
    }
    // no vector is made for as many as a damaged file says: each takes bytes that have to be there
    let (mut disk, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..on_disk {
        let mut pair = (0, 0);
        pair.read(from)?;
        disk.push(pair);
    }
    for _ in 0..in_memory {
        let mut slot = 0u64;
        slot.read(from)?;
        let mut held = state.clone();
        held.read(from)?;
        memory.push((slot, held));
    }
    state.read(from)?;
    cotangent.read(from)?;
    let (sum, mut found) = (from.sum, 0u64);
    found.read(from)?;
    if found != sum {
        return Ok(Err(Unusable::Damaged));
    }
    let position = Position { actions, hash, within, steps, ended, files };
    Ok(Ok(Loaded { position, memory, disk }))
}

/// Adds up the bytes that pass (FNV-1a of each piece's words).
struct Summed<I> {
    inner: I,
    sum: u64,
}

impl<I> Summed<I> {
    fn new(inner: I) -> Self {
        Summed { inner, sum: 0xcbf2_9ce4_8422_2325 }
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.sum = (self.sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

impl<I: Write> Write for Summed<I> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.add(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<I: Read> Read for Summed<I> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(bytes)?;
        self.add(&bytes[..n]);
        Ok(n)
    }
}
