//! Device memory that gives itself back.

use crate::driver::Driver;
use rev_core::error::Error;
use std::sync::Arc;

/// A range of device memory.
pub struct Room<D: Driver> {
    driver: Arc<D>,
    address: u64,
    bytes: usize,
}

impl<D: Driver> Room<D> {
    /// Room for `bytes` bytes with unspecified content. `name` is for messages.
    ///
    /// # Errors
    ///
    /// Not enough memory.
    pub fn new(driver: &Arc<D>, name: &str, bytes: usize) -> Result<Room<D>, Error> {
        let address = driver.allocate(name, bytes)?;
        Ok(Room { driver: driver.clone(), address, bytes })
    }

    /// Makes `slot` hold a room of at least `bytes` bytes. What is large enough is kept.
    ///
    /// # Errors
    ///
    /// Not enough memory; the slot is then empty.
    pub fn ensure<'s>(
        slot: &'s mut Option<Room<D>>,
        driver: &Arc<D>,
        name: &str,
        bytes: usize,
    ) -> Result<&'s Room<D>, Error> {
        let kept = match slot.take() {
            Some(room) if room.bytes >= bytes => room,
            // What was there is given back first, so that both needn't fit.
            too_small => {
                drop(too_small);
                Room::new(driver, name, bytes)?
            }
        };
        Ok(slot.insert(kept))
    }

    /// Where it starts.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl<D: Driver> Drop for Room<D> {
    fn drop(&mut self) {
        self.driver.free(self.address);
    }
}
