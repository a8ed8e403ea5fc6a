//! An ordered map: values under integer keys, which come and go.
//!
//! The entries are kept in two arrays, ordered by their keys; behind them is room for more, which is zero. A key is found in `log₂ n`
//! steps; what comes in or goes out moves the entries with greater keys by one place. Keys carry no derivative, values do: cotangents and
//! tangents move as the values do, so each lies where its key is. A map has room for as many entries as it is made for: the shapes of
//! arrays don't change while a program runs. One of its own a program makes by `let mut n = zeros_like(m);`, with the room of `m`.
//!
//! | in a program | effect | inverse | requires |
//! | --- | --- | --- | --- |
//! | `m.insert(k, &mut x)` | moves `x` under the key `k`, and leaves zero | `remove` | no entry has the key, and there is room |
//! | `m.remove(k, &mut x)` | moves what is under `k` to `x` | `insert` | an entry has it; `x` is zero |
//! | `m.put(k, v)` | an entry with a copy of `v` | `delete` | as `insert` |
//! | `m.delete(k, v)` | takes away the entry, which is `v` | `put` | an entry has it; it is `v`, as where an ancilla is released |
//! | `m.exchange(k, &mut x)` | exchanges `x` with what is under `k` | itself | an entry has the key |
//! | `m.add(k, v)` | adds `v` to what is under `k` | `Map::add::inverse(&mut m, k, v)` | an entry has the key |
//! | `m.rename(k, l)` | puts the entry of `k` under `l` | `m.rename(l, k)` | `k` has an entry, `l` has none |
//! | `(&m).read(k, &mut y)` | adds what is under `k` to `y` | subtracts it | an entry has the key |
//! | `(&m).contains(k, &mut c)` | `c ^=` whether there is an entry | itself | |
//! | `(&m).find(&mut at, k)` | `at +=` the place of the entry, `m.keys[at]` and `m.values[at]` | subtracts it | an entry has the key |
//!
//! A key that has to have an entry and has none, one that has to have none and has one, and one for which there is no room, are errors,
//! with checks on and off. With checks on they name the key.
//!
//! In a gradient `g.m` by a map `m`, `g.m.values[i]` belongs to the key `m.keys[i]`.
//!
//! A parallel loop reads maps that are made outside of it; those that it changes are each iteration's own. On a GPU maps are refused, as
//! all structs with arrays.
//!
//! ```
//! use rev_algebra::map::Map;
//! use rev_cpu::prelude::*;
//!
//! /// From one account to another, which is opened if there is none, and what is left of the first one at last.
//! #[reversible]
//! fn pay<T: Real>(rest: &mut T, accounts: &mut Map<u32, T>, amount: T, opened: &mut bool) {
//!     (&accounts).contains(7, &mut opened);
//!     flip(opened);
//!     if *opened {
//!         accounts.put(7, T::zero());
//!     }
//!     accounts.add(7, amount);
//!     Map::<u32, T>::add::inverse(&mut accounts, 3, amount);
//!     accounts.remove(3, &mut rest);
//! }
//!
//! let (mut rest, mut accounts, mut opened) = (0.0, Map::with_entries(4, [(3, 5.0), (1, 2.0)]), false);
//! pay(&mut rest, &mut accounts, 1.5, &mut opened).unwrap();
//! assert_eq!((rest, &accounts, opened), (3.5, &Map::with_entries(4, [(1, 2.0), (7, 1.5)]), true));
//! pay::inverse(&mut rest, &mut accounts, 1.5, &mut opened).unwrap();
//! assert_eq!((rest, &accounts, opened), (0.0, &Map::with_entries(4, [(1, 2.0), (3, 5.0)]), false));
//! let error = pay(&mut rest, &mut Map::with_entries(4, [(1, 2.0)]), 1.5, &mut opened).unwrap_err().to_string();
//! assert!(error.contains("missing_key = 3"), "{error}");
//! ```
//!
//! Iterations of a parallel loop that change one map don't compile (R0501):
//!
//! ```compile_fail
//! use rev_algebra::map::Map;
//! use rev_cpu::prelude::*;
//!
//! #[reversible]
//! fn counted(m: &mut Map<u32, f64>, keys: &[u32]) {
//!     for i in par(0..keys.len()) {
//!         m.add(keys[i], 1.0);
//!     }
//! }
//! ```

use std::collections::BTreeMap;

use rev_cpu::prelude::*;

/// Values under keys: see the [module](self).
#[derive(Clone, Debug, PartialEq, Reversible)]
pub struct Map<K: Integer, V: Ring> {
    /// The keys, ascending, and zeros.
    pub keys: Vec<K>,
    /// What is under each of them, and zeros.
    pub values: Vec<V>,
    /// How many entries there are.
    pub len: usize,
}

/// `at +=` how many of the keys are less than `key`. Those that are before `low` are, those from `high` on aren't; between them they ascend.
#[reversible(tangent)]
pub fn rank<K: Integer>(at: &mut usize, keys: &[K], key: K, low: usize, high: usize) {
    if low < high {
        let middle = (low + high) / 2;
        if keys[middle] < key {
            rank(&mut at, &keys, key, middle + 1, high);
        } else {
            rank(&mut at, &keys, key, low, middle);
        }
    } else {
        *at += low;
    }
}

/// `at +=` where `key` is among the first `n` keys.
///
/// # Errors
///
/// Where it isn't there; with checks off none, and `at` is no place of an array.
#[reversible(tangent)]
pub fn place<K: Integer>(at: &mut usize, keys: &[K], n: usize, key: K) {
    let mut place = 0usize;
    rank(&mut place, &keys, key, 0, n);
    if place < n && keys[place] == key {
        *at += place;
    } else {
        *at += keys.len();
        for missing_key in key..=key {
            let mut there = false;
            release(there, true);
        }
    }
}

/// `at +=` where `key` would be among the first `n` keys.
///
/// # Errors
///
/// Where it is there, or the keys take all places; with checks off none, and `at` is no place of an array.
#[reversible(tangent)]
pub fn room<K: Integer>(at: &mut usize, keys: &[K], n: usize, key: K) {
    let mut place = 0usize;
    rank(&mut place, &keys, key, 0, n);
    if place < n && keys[place] == key {
        *at += keys.len();
        for key_that_is_there in key..=key {
            let mut there = true;
            release(there, false);
        }
    } else if n < keys.len() {
        *at += place;
    } else {
        *at += keys.len();
        for key_without_room in key..=key {
            let mut places_left = 0usize;
            release(places_left, 1);
        }
    }
}

#[reversible]
impl<K: Integer, V: Ring> Map<K, V> {
    /// `at +=` where the entry of `key` is.
    ///
    /// # Errors
    ///
    /// Where there is none; with checks off none, and `at` is no place of an array.
    #[reversible(tangent)]
    pub fn find(&self, at: &mut usize, key: K) {
        place(&mut at, &self.keys, self.len, key);
    }

    /// `c ^=` whether `key` has an entry.
    #[reversible(tangent)]
    pub fn contains(&self, key: K, c: &mut bool) {
        let mut at = 0usize;
        rank(&mut at, &self.keys, key, 0, self.len);
        *c ^= at < self.len && self.keys[at] == key;
    }

    /// Moves `x` under `key`, and leaves zero.
    ///
    /// # Errors
    ///
    /// Where `key` has an entry, or there is no room.
    #[reversible(tangent, inverse_adjoint)]
    pub fn insert(&mut self, key: K, x: &mut V) {
        let mut at = 0usize;
        room(&mut at, &self.keys, self.len, key);
        for i in (at + 1..self.len + 1).rev() {
            swap(self.keys[i], self.keys[i - 1]);
            swap(self.values[i], self.values[i - 1]);
        }
        self.keys[at] += key;
        swap(self.values[at], x);
        // all of it has moved: on the way back there has to be room in `x`
        let mut left_in_x = V::zero();
        swap(x, left_in_x);
        release(left_in_x);
        inc(self.len);
        let mut found = 0usize;
        place(&mut found, &self.keys, self.len, key);
        at -= found;
        release(at);
    }

    /// Moves what is under `key` to `x`, which is zero.
    ///
    /// # Errors
    ///
    /// Where `key` has no entry, or `x` isn't zero.
    #[reversible(tangent)]
    pub fn remove(&mut self, key: K, x: &mut V) {
        Self::insert::inverse(&mut self, key, &mut x);
    }

    /// Exchanges `x` with what is under `key`.
    ///
    /// # Errors
    ///
    /// Where `key` has no entry.
    #[reversible(tangent)]
    pub fn exchange(&mut self, key: K, x: &mut V) {
        let mut at = 0usize;
        place(&mut at, &self.keys, self.len, key);
        swap(self.values[at], x);
    }

    /// Puts the entry of `from` under the key `to`.
    ///
    /// # Errors
    ///
    /// Where `from` has no entry, or `to` has one.
    #[reversible(tangent)]
    pub fn rename(&mut self, from: K, to: K) {
        let mut x = V::zero();
        Self::insert::inverse(&mut self, from, &mut x);
        Self::insert(&mut self, to, &mut x);
        release(x);
    }

    /// An entry with a copy of `v` under `key`.
    ///
    /// # Errors
    ///
    /// Where `key` has an entry, or there is no room.
    #[reversible(tangent, inverse_adjoint)]
    pub fn put(&mut self, key: K, v: V) {
        let mut x = V::zero();
        x += v;
        Self::insert(&mut self, key, &mut x);
        release(x);
    }

    /// Takes away the entry of `key`, which is `v`.
    ///
    /// # Errors
    ///
    /// Where `key` has no entry, or with checks on another one.
    #[reversible(tangent)]
    pub fn delete(&mut self, key: K, v: V) {
        Self::put::inverse(&mut self, key, v);
    }

    /// Adds `v` to what is under `key`.
    ///
    /// # Errors
    ///
    /// Where `key` has no entry.
    #[reversible(tangent, inverse_adjoint)]
    pub fn add(&mut self, key: K, v: V) {
        let mut at = 0usize;
        place(&mut at, &self.keys, self.len, key);
        self.values[at] += v;
    }

    /// `y +=` what is under `key`.
    ///
    /// # Errors
    ///
    /// Where `key` has no entry.
    #[reversible(tangent)]
    pub fn read(&self, key: K, y: &mut V) {
        let mut at = 0usize;
        place(&mut at, &self.keys, self.len, key);
        *y += self.values[at];
    }
}

impl<K: Integer, V: Ring> Map<K, V> {
    /// A map without entries, with room for so many.
    pub fn with_capacity(capacity: usize) -> Self {
        Map { keys: vec![K::zero(); capacity], values: vec![V::zero(); capacity], len: 0 }
    }

    /// A map with these entries and room for so many, of several for one key the last one.
    pub fn with_entries(capacity: usize, entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let (mut keys, mut values): (Vec<K>, Vec<V>) = BTreeMap::from_iter(entries).into_iter().unzip();
        let len = keys.len();
        keys.resize(capacity.max(len), K::zero());
        values.resize(capacity.max(len), V::zero());
        Map { keys, values, len }
    }

    /// What is under a key.
    pub fn get(&self, key: K) -> Option<&V> {
        let at = self.keys.get(..self.len)?.binary_search(&key).ok()?;
        self.values.get(at)
    }

    /// The entries, by ascending keys.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.keys.iter().copied().zip(&self.values).take(self.len)
    }
}
