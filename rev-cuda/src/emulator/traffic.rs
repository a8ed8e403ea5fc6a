//! How much goes between warps and global memory, and in how many pieces.

use super::code::LANES;
use super::memory::Place;

/// What went to global memory and came from it by loads and stores of warps; atomic operations are counted
/// apart.
///
/// A warp's access is served in sectors of 32 bytes: where its lanes are at neighbouring places, it is
/// of as many bytes as sectors hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes that lanes asked for.
    pub loaded: u64,
    /// Sectors that it took.
    pub loaded_sectors: u64,
    /// Bytes that lanes wrote.
    pub stored: u64,
    /// Sectors that it took.
    pub stored_sectors: u64,
    /// How often a lane changed a number atomically, in global or shared memory.
    pub atomics: u64,
}

impl Traffic {
    /// Bytes of a sector.
    pub const SECTOR: u64 = 32;
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.loaded += other.loaded;
        self.loaded_sectors += other.loaded_sectors;
        self.stored += other.stored;
        self.stored_sectors += other.stored_sectors;
        self.atomics += other.atomics;
    }
}

/// The sectors of global memory that a warp's lanes touch. An aligned access lies in one.
#[derive(Default)]
pub(crate) struct Sectors {
    touched: [(usize, u64); LANES],
    accesses: usize,
}

impl Sectors {
    /// Of one lane more; of other memories there are none.
    #[inline(always)]
    pub fn add(&mut self, place: Option<Place>) {
        if let Some(place) = place {
            self.touched[self.accesses] = (place.allocation, place.offset as u64 / Traffic::SECTOR);
            self.accesses += 1;
        }
    }

    /// By how many lanes.
    pub fn accesses(&self) -> usize {
        self.accesses
    }

    /// How many different ones there are.
    pub fn count(mut self) -> u64 {
        let touched = &mut self.touched[..self.accesses];
        touched.sort_unstable();
        touched.chunk_by(|a, b| a == b).count() as u64
    }
}
