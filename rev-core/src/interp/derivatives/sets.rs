//! Sets of numbers of inputs: shared while they are the same, and changed in place by their only owner, so that a sum
//! of many terms takes as long as the terms have members.

use std::collections::BTreeSet;
use std::rc::Rc;

/// A set.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Set {
    /// Without members.
    #[default]
    Empty,
    /// With one.
    One(u32),
    /// With several.
    Many(Rc<BTreeSet<u32>>),
}

impl Set {
    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        matches!(self, Set::Empty)
    }

    /// The members, ascending.
    pub fn each(&self, f: &mut dyn FnMut(u32)) {
        match self {
            Set::Empty => {}
            Set::One(k) => f(*k),
            Set::Many(all) => all.iter().for_each(|k| f(*k)),
        }
    }

    /// The members of either.
    pub fn union(self, other: Set) -> Set {
        match (self, other) {
            (Set::Empty, set) | (set, Set::Empty) => set,
            (Set::One(a), Set::One(b)) if a == b => Set::One(a),
            (Set::One(a), Set::One(b)) => Set::Many(Rc::new(BTreeSet::from([a, b]))),
            (Set::One(k), Set::Many(mut all)) | (Set::Many(mut all), Set::One(k)) => {
                if !all.contains(&k) {
                    Rc::make_mut(&mut all).insert(k);
                }
                Set::Many(all)
            }
            (Set::Many(a), Set::Many(b)) => {
                let (mut larger, smaller) = if a.len() < b.len() { (b, a) } else { (a, b) };
                if !Rc::ptr_eq(&larger, &smaller) && !smaller.is_subset(&larger) {
                    Rc::make_mut(&mut larger).extend(smaller.iter());
                }
                Set::Many(larger)
            }
        }
    }

    /// Whether both are the same in memory.
    fn is(&self, other: &Set) -> bool {
        match (self, other) {
            (Set::Many(a), Set::Many(b)) => Rc::ptr_eq(a, b),
            (Set::One(a), Set::One(b)) => a == b,
            (Set::Empty, Set::Empty) => true,
            _ => false,
        }
    }
}

/// Which numbers meet in a function that isn't linear: a symmetric relation.
#[derive(Debug, Default)]
pub struct Pairs {
    rows: Vec<Row>,
    /// What was added last, which loops often add again.
    last: (Set, Set),
}

/// A row, of which a first part has no repeats.
#[derive(Clone, Debug, Default)]
struct Row {
    columns: Vec<u32>,
    sorted: usize,
}

/// How many columns a row may have without looking for repeats.
const SHORT: usize = 32;

impl Row {
    fn sort(&mut self) {
        self.columns.sort_unstable();
        self.columns.dedup();
        self.sorted = self.columns.len();
    }
}

impl Pairs {
    /// For so many numbers, none of which meet.
    pub fn new(count: usize) -> Pairs {
        Pairs { rows: vec![Row::default(); count], last: Default::default() }
    }

    /// Each member of one meets each of the other.
    pub fn meet(&mut self, a: &Set, b: &Set) {
        if a.is_empty() || b.is_empty() || (self.last.0.is(a) && self.last.1.is(b)) {
            return;
        }
        self.last = (a.clone(), b.clone());
        self.add(a, b);
        if !a.is(b) {
            self.add(b, a);
        }
    }

    fn add(&mut self, a: &Set, b: &Set) {
        a.each(&mut |k| {
            if let Some(row) = self.rows.get_mut(k as usize) {
                b.each(&mut |j| row.columns.push(j));
                if row.columns.len() > 2 * row.sorted + SHORT {
                    row.sort();
                }
            }
        });
    }

    /// Each number with those it meets.
    pub fn finish(mut self) -> impl Iterator<Item = (usize, usize)> {
        self.rows.iter_mut().for_each(Row::sort);
        let rows = self.rows.into_iter().enumerate();
        rows.flat_map(|(k, row)| row.columns.into_iter().map(move |j| (k, j as usize)))
    }
}
