//! The orders of index arrays: in which order the terms of a sum are added up, made once for each
//! content of an array and kept on the device.

use super::marshal::{extend, read};
use super::room::Room;
use crate::driver::Driver;
use crate::kernel::Ty;
use rev_core::error::{Cause, Error};
use rev_core::tree;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many index arrays are kept.
const KEPT: usize = 16;

/// The content of an index array, as it lies in device memory.
pub type Content = Arc<Vec<u8>>;

/// The index arrays of a device, the one used last in front, each with the array that it was last met in.
pub struct Indices<D: Driver>(Mutex<Vec<(Content, Arc<Index<D>>)>>);

impl<D: Driver> Default for Indices<D> {
    fn default() -> Self {
        Indices(Mutex::default())
    }
}

impl<D: Driver> Indices<D> {
    /// Forgets all.
    pub fn clear(&self) {
        lock(&self.0).clear();
    }

    /// What is known about an index array: of the same array, or of one with the same content.
    pub fn of(&self, content: &Content, ty: Ty) -> Arc<Index<D>> {
        let mut known = lock(&self.0);
        // large arrays are compared by content only where none is the array itself
        let position = known.iter().position(|(met, i)| i.ty == ty && Arc::ptr_eq(met, content));
        let position =
            position.or_else(|| known.iter().position(|(_, i)| i.ty == ty && i.content == *content));
        let found = match position {
            Some(k) => known.remove(k).1,
            None => {
                let (content, orders, touched) = (content.clone(), Mutex::default(), Mutex::default());
                Arc::new(Index { content, ty, orders, touched })
            }
        };
        known.insert(0, (content.clone(), found.clone()));
        known.truncate(KEPT);
        found
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which numbers of an index array are those of a sum's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visits {
    /// That of the first term.
    pub first: i64,
    /// From one to the next.
    pub step: i64,
    /// How many terms there are.
    pub terms: usize,
}

/// Orders by the numbers that they are of, and the number of elements.
type Orders<D> = HashMap<(Visits, usize), Arc<Ordered<D>>>;

/// What is known about an index array.
pub struct Index<D: Driver> {
    content: Content,
    ty: Ty,
    orders: Mutex<Orders<D>>,
    touched: Mutex<HashMap<usize, usize>>,
}

/// An order on the device.
pub struct Ordered<D: Driver> {
    /// Terms, starts of groups, blocks of groups, groups of elements, elements.
    pub arrays: [(Room<D>, usize); 5],
    /// How many groups there are.
    pub groups: usize,
    /// How many elements have terms.
    pub touched: usize,
}

impl<D: Driver> Index<D> {
    fn values(&self) -> impl ExactSizeIterator<Item = i64> + '_ {
        let of = |bytes: &[u8]| extend(read(bytes, self.ty), self.ty);
        self.content.chunks_exact(self.ty.size()).map(of)
    }

    /// The terms that have a number, with it.
    fn visited(&self, visits: Visits) -> Vec<(u32, i64)> {
        let values: Vec<i64> = self.values().collect();
        let at = |k: u32| visits.first.checked_add(visits.step.checked_mul(k.into())?);
        let value = |k| values.get(usize::try_from(at(k)?).ok()?).map(|v| (k, *v));
        (0..u32::try_from(visits.terms).unwrap_or(u32::MAX)).filter_map(value).collect()
    }

    /// How many elements the first `terms` numbers name.
    pub fn touched(&self, terms: usize) -> usize {
        *lock(&self.touched).entry(terms).or_insert_with(|| {
            let mut all: Vec<i64> = self.values().take(terms).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        })
    }

    /// The order of the terms that some numbers give to elements of `place`.
    ///
    /// # Errors
    ///
    /// A number that names no element, or no room on the device.
    pub fn order(
        &self,
        driver: &Arc<D>,
        place: &str,
        visits: Visits,
        elements: usize,
    ) -> Result<Arc<Ordered<D>>, Error> {
        let mut orders = lock(&self.orders);
        if let Some(known) = orders.get(&(visits, elements)) {
            return Ok(known.clone());
        }
        let sorted =
            Sorted::new(&self.visited(visits), elements).map_err(|index| Cause::IndexOutOfRange {
                place: place.to_string().into(),
                index: vec![index.into()],
                shape: vec![elements],
            })?;
        let made = Arc::new(sorted.on_device(driver, place)?);
        orders.insert((visits, elements), made.clone());
        Ok(made)
    }
}

/// An order on the host.
#[derive(Debug, Default, PartialEq)]
struct Sorted {
    order: Vec<u32>,
    starts: Vec<u32>,
    blocks: Vec<u32>,
    groups_of: Vec<u32>,
    places: Vec<u32>,
}

impl Sorted {
    /// Sorts the terms by their elements, by counting, and cuts them into groups; or the first number
    /// that isn't an element's.
    fn new(terms: &[(u32, i64)], elements: usize) -> Result<Sorted, i64> {
        let mut at = vec![0u32; elements + 1];
        for (_, v) in terms {
            let element = usize::try_from(*v).ok().filter(|e| *e < elements).ok_or(*v)?;
            at[element + 1] += 1;
        }
        (0..elements).for_each(|e| at[e + 1] += at[e]);
        let ends = at.clone();
        let mut order = vec![0; terms.len()];
        for (k, v) in terms {
            let to = &mut at[*v as usize];
            order[*to as usize] = *k;
            *to += 1;
        }
        let mut sorted = Sorted { order, ..Sorted::default() };
        for (element, ends) in ends.windows(2).enumerate() {
            let [from, to] = [ends[0], ends[1]];
            if from == to {
                continue;
            }
            sorted.places.push(element as u32);
            sorted.groups_of.push(sorted.starts.len() as u32);
            let mut last = None;
            for p in from..to {
                let block = sorted.order[p as usize] / tree::BLOCK as u32;
                if last.replace(block) != Some(block) {
                    sorted.starts.push(p);
                    sorted.blocks.push(block);
                }
            }
        }
        sorted.groups_of.push(sorted.starts.len() as u32);
        sorted.starts.push(terms.len() as u32);
        sorted.blocks.push(0);
        Ok(sorted)
    }

    fn on_device<D: Driver>(&self, driver: &Arc<D>, place: &str) -> Result<Ordered<D>, Error> {
        let array = |name: &str, numbers: &[u32]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            let room = Room::new(driver, &format!("{place}_{name}"), bytes.len().max(4))?;
            driver.upload(room.address(), &bytes)?;
            Ok::<_, Error>((room, numbers.len()))
        };
        Ok(Ordered {
            arrays: [
                array("order", &self.order)?,
                array("starts", &self.starts)?,
                array("blocks", &self.blocks)?,
                array("groups", &self.groups_of)?,
                array("places", &self.places)?,
            ],
            groups: self.starts.len() - 1,
            touched: self.places.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_sorted_by_element_and_cut_at_blocks() {
        let n = tree::BLOCK as i64;
        let terms: Vec<(u32, i64)> = (0..n as u32 + 3).map(|k| (k, if k % 2 == 0 { 5 } else { 2 })).collect();
        let sorted = Sorted::new(&terms, 7).unwrap();
        assert_eq!(sorted.places, [2, 5]);
        assert_eq!(sorted.order[..3], [1, 3, 5]);
        assert_eq!(sorted.blocks, [0, 1, 0, 1, 0]);
        let half = n as u32 / 2;
        assert_eq!(sorted.starts, [0, half, half + 1, 2 * half + 1, n as u32 + 3]);
        assert_eq!(sorted.groups_of, [0, 2, 4]);
        assert_eq!(Sorted::new(&[(0, 3), (1, -1)], 7), Err(-1));
        assert_eq!(Sorted::new(&[(0, 3), (1, 7)], 7), Err(7));
        let none = Sorted::new(&[], 7).unwrap();
        assert_eq!((none.starts.len(), none.places.len()), (1, 0));
    }

    fn content(values: &[u32]) -> Content {
        Arc::new(values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    #[test]
    fn terms_without_a_number_are_left_out() {
        let index = Indices::<crate::fake::Fake>::default().of(&content(&[4, 5, 6]), Ty::U32);
        let visited = |first, step, terms| index.visited(Visits { first, step, terms });
        assert_eq!(visited(0, 1, 2), [(0, 4), (1, 5)]);
        assert_eq!(visited(2, -1, 4), [(0, 6), (1, 5), (2, 4)]);
        assert_eq!(visited(3, -1, 2), [(1, 6)]);
        assert_eq!(visited(-1, 1, 9), [(1, 4), (2, 5), (3, 6)]);
        assert_eq!(visited(i64::MAX, 1, 3), []);
    }

    #[test]
    fn orders_are_made_once_for_a_content() {
        let driver = Arc::new(crate::fake::Fake::default());
        let indices = Indices::default();
        let made = |values: &[u32]| {
            let index = indices.of(&content(values), Ty::U32);
            (
                index.touched(values.len()),
                index.order(&driver, "y", Visits { first: 0, step: 1, terms: values.len() }, 10).unwrap(),
            )
        };
        let (touched, first) = made(&[1, 2, 1]);
        assert_eq!((touched, first.touched, first.groups), (2, 2, 2));
        let count = || driver.allocations.lock().unwrap().len();
        let before = count();
        assert!(Arc::ptr_eq(&first, &made(&[1, 2, 1]).1));
        assert_eq!(count(), before);
        assert!(!Arc::ptr_eq(&first, &made(&[1, 2, 3]).1));
        assert_eq!(count(), before + 5);
        // of the arrays that are no longer used nothing is kept
        drop(first);
        (0..KEPT as u32).for_each(|k| drop(made(&[k + 3 - k, 9, k % 10, k / 10])));
        assert_eq!(driver.memory.lock().unwrap().len(), 5 * KEPT);
    }
}
