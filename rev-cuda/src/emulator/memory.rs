//! Memory: bytes that know whether they were written, and the device's allocations.
//!
//! An allocation's number is in the bits of its addresses from [`OFFSET_BITS`] on, so that every
//! address names its allocation and none is used twice: what was freed is known when it is touched.
//! Generic addresses of shared and local memory lie in windows above all of them.

use super::race::Shadow;

/// Bits of an address that count bytes within an allocation.
const OFFSET_BITS: u32 = 40;

/// Where shared memory starts among generic addresses.
pub(crate) const SHARED_WINDOW: u64 = 0xa << 60;

/// Where local memory starts among generic addresses.
pub(crate) const LOCAL_WINDOW: u64 = 0xb << 60;

/// What memory holds before anything is written to it.
const POISON: u8 = 0xa5;

/// Bytes, and which of them were written.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    data: Vec<u8>,
    /// A bit for each byte.
    written: Vec<u8>,
}

impl Bytes {
    pub fn new(len: usize) -> Bytes {
        Bytes { data: vec![POISON; len], written: vec![0; len.div_ceil(8)] }
    }

    /// Bytes that were all written.
    pub fn of(data: &[u8]) -> Bytes {
        Bytes { data: data.to_vec(), written: vec![0xff; data.len().div_ceil(8)] }
    }

    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// 1, 2, 4 or 8 bytes, the lowest first, if they were all written; else the first one that wasn't.
    #[inline(always)]
    pub fn read(&self, at: usize, bytes: usize) -> Result<u64, usize> {
        let bits = (1u32 << bytes) - 1;
        // Aligned accesses of up to 8 bytes stay within one byte of the bit set.
        let known = u32::from(self.written[at / 8]) >> (at % 8) & bits;
        if known != bits {
            return Err(at + known.trailing_ones() as usize);
        }
        let data = &self.data[at..at + bytes];
        Ok(match data {
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]).into(),
            [a, b] => u16::from_le_bytes([*a, *b]).into(),
            other => other.first().copied().unwrap_or(0).into(),
        })
    }

    #[inline(always)]
    pub fn write(&mut self, at: usize, bytes: usize, value: u64) {
        let data = &mut self.data[at..at + bytes];
        match bytes {
            8 => data.copy_from_slice(&value.to_le_bytes()),
            4 => data.copy_from_slice(&(value as u32).to_le_bytes()),
            2 => data.copy_from_slice(&(value as u16).to_le_bytes()),
            _ => data[0] = value as u8,
        }
        self.written[at / 8] |= (((1u32 << bytes) - 1) << (at % 8)) as u8;
    }

    fn mark(&mut self, at: usize, len: usize, written: impl Fn(usize) -> bool) {
        for k in 0..len {
            let bit = 1 << ((at + k) % 8);
            if written(k) {
                self.written[(at + k) / 8] |= bit;
            } else {
                self.written[(at + k) / 8] &= !bit;
            }
        }
    }

    fn fill(&mut self, at: usize, from: &[u8]) {
        self.data[at..at + from.len()].copy_from_slice(from);
        let (head, tail) = (at.next_multiple_of(8).min(at + from.len()), (at + from.len()) / 8 * 8);
        self.mark(at, head - at, |_| true);
        if head < tail {
            self.written[head / 8..tail / 8].fill(0xff);
        }
        let tail = tail.max(head);
        self.mark(tail, at + from.len() - tail, |_| true);
    }

    /// Nothing is written any more.
    pub fn forget(&mut self) {
        self.data.fill(POISON);
        self.written.fill(0);
    }
}

/// A piece of device memory.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub name: String,
    pub bytes: Bytes,
    pub shadow: Shadow,
    len: usize,
    live: bool,
}

/// The device's memory.
#[derive(Debug)]
pub(crate) struct Memory {
    allocations: Vec<Allocation>,
    used: usize,
    pub limit: usize,
}

/// A place in an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub allocation: usize,
    pub offset: usize,
}

impl Memory {
    pub fn new(limit: usize) -> Memory {
        Memory { allocations: Vec::new(), used: 0, limit }
    }

    pub fn allocate(&mut self, name: &str, len: usize) -> Result<u64, String> {
        if len > self.limit - self.used.min(self.limit) || len >= 1 << (OFFSET_BITS - 1) {
            let (used, limit) = (self.used, self.limit);
            return Err(format!("no room for the {len} bytes of `{name}`: {used} of {limit} are in use"));
        }
        self.used += len;
        self.allocations.push(Allocation {
            name: name.to_string(),
            bytes: Bytes::new(len),
            shadow: Shadow::default(),
            len,
            live: true,
        });
        Ok((self.allocations.len() as u64) << OFFSET_BITS)
    }

    /// Whether there was something to free at this address.
    pub fn free(&mut self, address: u64) -> bool {
        let Ok(place) = self.locate(address, 0) else { return false };
        if place.offset != 0 {
            return false;
        }
        let allocation = &mut self.allocations[place.allocation];
        self.used -= allocation.len;
        allocation.live = false;
        allocation.bytes = Bytes::default();
        allocation.shadow = Shadow::default();
        true
    }

    #[inline(always)]
    pub fn at(&mut self, place: Place) -> &mut Allocation {
        &mut self.allocations[place.allocation]
    }

    /// The name of an allocation.
    pub fn name(&self, allocation: usize) -> &str {
        &self.allocations[allocation].name
    }

    /// The allocation that a range lies in.
    #[inline(always)]
    pub fn locate(&self, address: u64, bytes: usize) -> Result<Place, String> {
        let (number, offset) = (address >> OFFSET_BITS, address & ((1 << OFFSET_BITS) - 1));
        let found = self.allocations.get((number as usize).wrapping_sub(1));
        match found {
            Some(a) if a.live && offset as usize + bytes <= a.len => {
                Ok(Place { allocation: number as usize - 1, offset: offset as usize })
            }
            _ => Err(self.nowhere(address, bytes)),
        }
    }

    #[cold]
    fn nowhere(&self, address: u64, bytes: usize) -> String {
        // A small step below an allocation is meant to be in it.
        let number = (address.wrapping_add(1 << (OFFSET_BITS - 1))) >> OFFSET_BITS;
        let Some(a) = self.allocations.get((number as usize).wrapping_sub(1)) else {
            return format!("{bytes} bytes at the address {address:#x}, where nothing is allocated");
        };
        let offset = address.wrapping_sub(number << OFFSET_BITS) as i64;
        let (name, len) = (&a.name, a.len);
        if !a.live {
            return format!("{bytes} bytes at offset {offset} of `{name}`, which was freed");
        }
        format!("{bytes} bytes at offset {offset} of `{name}`, which has {len} bytes")
    }

    pub fn upload(&mut self, to: u64, from: &[u8]) -> Result<(), String> {
        let place = self.locate(to, from.len())?;
        self.at(place).bytes.fill(place.offset, from);
        Ok(())
    }

    pub fn download(&self, from: u64, to: &mut [u8]) -> Result<(), String> {
        let place = self.locate(from, to.len())?;
        let data = &self.allocations[place.allocation].bytes.data;
        to.copy_from_slice(&data[place.offset..place.offset + to.len()]);
        Ok(())
    }

    pub fn clear(&mut self, at: u64, len: usize) -> Result<(), String> {
        let place = self.locate(at, len)?;
        self.at(place).bytes.fill(place.offset, &vec![0; len]);
        Ok(())
    }

    /// Copies what was written and leaves the rest unwritten.
    pub fn copy(&mut self, to: u64, from: u64, len: usize) -> Result<(), String> {
        let (to, from) = (self.locate(to, len)?, self.locate(from, len)?);
        let source = &self.allocations[from.allocation].bytes;
        let data = source.data[from.offset..from.offset + len].to_vec();
        let written: Vec<bool> =
            (from.offset..from.offset + len).map(|k| source.written[k / 8] >> (k % 8) & 1 == 1).collect();
        let bytes = &mut self.at(to).bytes;
        bytes.data[to.offset..to.offset + len].copy_from_slice(&data);
        bytes.mark(to.offset, len, |k| written[k]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_know_what_was_written() {
        let mut bytes = Bytes::new(40);
        assert_eq!(bytes.read(8, 8), Err(8));
        bytes.write(8, 4, 7);
        assert_eq!(bytes.read(8, 4), Ok(7));
        assert_eq!(bytes.read(8, 8), Err(12));
        bytes.fill(3, &[1; 30]);
        assert_eq!(bytes.read(2, 1), Err(2));
        assert_eq!(bytes.read(3, 1), Ok(1));
        assert_eq!(bytes.read(24, 8), Ok(0x0101_0101_0101_0101));
        assert_eq!(bytes.read(32, 2), Err(33));
    }

    #[test]
    fn addresses_name_their_allocation() {
        let mut memory = Memory::new(1000);
        let a = memory.allocate("a", 100).unwrap();
        let b = memory.allocate("b", 800).unwrap();
        assert_eq!(memory.locate(b + 792, 8), Ok(Place { allocation: 1, offset: 792 }));
        let error = |r: Result<Place, String>| r.unwrap_err();
        assert_eq!(error(memory.locate(b + 796, 8)), "8 bytes at offset 796 of `b`, which has 800 bytes");
        assert_eq!(error(memory.locate(b - 8, 8)), "8 bytes at offset -8 of `b`, which has 800 bytes");
        assert!(error(memory.locate(0, 4)).contains("nothing is allocated"));
        assert!(memory.allocate("c", 101).unwrap_err().contains("900 of 1000"));
        assert!(memory.free(a) && !memory.free(a));
        assert_eq!(error(memory.locate(a + 4, 4)), "4 bytes at offset 4 of `a`, which was freed");
        memory.allocate("c", 101).unwrap();
    }
}
