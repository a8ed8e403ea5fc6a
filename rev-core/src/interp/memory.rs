//! The interpreter's memory: cells that hold values, and locations inside them.
//!
//! A variable is a location, so that an argument passed by reference is the caller's own storage.
//! Each cell remembers the largest magnitude it held, which is what a release is measured against.

use super::journal::Change;
use super::part::Part;
use crate::error::Cause;
use crate::ir::Step;
use crate::scalar::Num;
use crate::value::{Array, Data, Value};
use std::borrow::Cow;

/// The number of a cell.
pub(super) type CellId = usize;

/// A place in memory: a cell and the way into its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Location {
    pub cell: CellId,
    pub path: Vec<Key>,
}

/// One step into a value. A part of an array is only ever followed by nothing: an element of it is an
/// element of the array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The k-th element, field or array element.
    Child(usize),
    /// A part of an array.
    Part(Part),
    Re,
    Im,
}

impl Location {
    fn new(cell: CellId) -> Location {
        Location { cell, path: Vec::new() }
    }

    /// The elements of the array at `root` in which this location lies, or which it consists of.
    pub fn elements_of(&self, root: &Location) -> Vec<usize> {
        let part = matches!(root.path.last(), Some(Key::Part(_)));
        match self.path.get(root.path.len() - usize::from(part)) {
            Some(Key::Child(k)) => vec![*k],
            Some(Key::Part(part)) => part.elements(),
            Some(Key::Re | Key::Im) | None => Vec::new(),
        }
    }

    /// Whether the two have anything in common.
    pub fn overlaps(&self, other: &Location) -> bool {
        if self.cell != other.cell {
            return false;
        }
        for (a, b) in self.path.iter().zip(&other.path) {
            match (a, b) {
                (Key::Child(i), Key::Child(j)) if i != j => return false,
                (Key::Part(part), Key::Child(k)) | (Key::Child(k), Key::Part(part)) => return part.has(*k),
                (Key::Part(a), Key::Part(b)) => return a.meets(b),
                (Key::Re, Key::Im) | (Key::Im, Key::Re) => return false,
                _ => {}
            }
        }
        true
    }
}

/// A cell.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    data: Data,
    held: f64,
}

/// All cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    cells: Vec<Option<Cell>>,
    free: Vec<CellId>,
    /// The changes, where they are to be taken back.
    pub journal: Option<Vec<Change>>,
}

impl Memory {
    /// A new cell.
    pub fn allocate(&mut self, data: Data) -> Location {
        let cell = Some(Cell { held: data.magnitude(), data });
        let id = match self.free.pop() {
            Some(id) => {
                self.cells[id] = cell;
                id
            }
            None => {
                self.cells.push(cell);
                self.cells.len() - 1
            }
        };
        self.note(|_| Some(Change::Allocated(id)));
        Location::new(id)
    }

    /// Gives a cell back, with what it held.
    pub fn release(&mut self, id: CellId) -> Data {
        self.note(|memory| Some(Change::Released(id, memory.cells[id].clone()?)));
        self.free.push(id);
        self.cells[id].take().map_or(Data::None, |c| c.data)
    }

    /// A cell that was given back as the last one, with what it held.
    pub fn restore(&mut self, id: CellId, cell: Cell) {
        self.free.pop_if(|last| *last == id);
        self.cells[id] = Some(cell);
    }

    /// Whether there is such a cell.
    pub fn has(&self, id: CellId) -> bool {
        self.cells.get(id).is_some_and(Option::is_some)
    }

    /// The largest magnitude that a cell held.
    pub fn held(&self, id: CellId) -> f64 {
        self.cells[id].as_ref().map_or(0.0, |c| c.held)
    }

    /// All that a cell holds.
    pub fn root(&self, id: CellId) -> &Data {
        self.cells[id].as_ref().map_or(&Data::None, |c| &c.data)
    }

    /// The value at a location.
    pub fn read(&self, at: &Location) -> Cow<'_, Data> {
        let mut node = self.root(at.cell);
        for (k, key) in at.path.iter().enumerate() {
            match key {
                Key::Child(i) => node = child(node, *i),
                Key::Part(_) | Key::Re | Key::Im => return Cow::Owned(part(node, &at.path[k..])),
            }
        }
        Cow::Borrowed(node)
    }

    /// The number of elements along each axis, `None` where it isn't an array.
    pub fn shape(&self, at: &Location) -> Option<Vec<usize>> {
        if let Some(Key::Part(part)) = at.path.last() {
            return Some(part.shape());
        }
        match &*self.read(at) {
            Data::Array(a) => Some(a.shape.clone()),
            Data::Stack(s) => Some(vec![s.len()]),
            _ => None,
        }
    }

    /// Replaces the value at a location.
    pub fn write(&mut self, at: &Location, value: Data) {
        self.note(|memory| Some(Change::Written(at.clone(), memory.read(at).into_owned())));
        let Some(Some(cell)) = self.cells.get_mut(at.cell) else { return };
        let magnitude = value.magnitude();
        // a NaN stays
        if magnitude > cell.held || magnitude.is_nan() {
            cell.held = magnitude;
        }
        let mut node = &mut cell.data;
        for (k, key) in at.path.iter().enumerate() {
            match key {
                Key::Child(i) => match child_mut(node, *i) {
                    Some(next) => node = next,
                    None => return,
                },
                Key::Part(_) | Key::Re | Key::Im => return set_part(node, &at.path[k..], value),
            }
        }
        *node = value;
    }

    /// Gives access to a stack.
    pub fn stack(&mut self, at: &Location) -> Option<&mut Vec<Data>> {
        self.note(|memory| Some(Change::Written(at.clone(), memory.read(at).into_owned())));
        let cell = self.cells.get_mut(at.cell)?.as_mut()?;
        let mut node = &mut cell.data;
        for key in &at.path {
            match key {
                Key::Child(i) => node = child_mut(node, *i)?,
                Key::Part(_) | Key::Re | Key::Im => return None,
            }
        }
        match node {
            Data::Stack(s) => Some(s),
            _ => None,
        }
    }

    /// One step further: `step` is resolved against the value at the location, its index expressions
    /// are given as numbers.
    pub fn step(&self, at: &Location, step: &Step, indices: &[Num]) -> Result<Location, StepError> {
        let mut path = at.path.clone();
        let key = match path.pop_if(|key| matches!(key, Key::Part(_))) {
            Some(Key::Part(part)) => Some(part_step(&part, step, indices)?),
            _ => resolve(&self.read(at), step, indices)?,
        };
        path.extend(key);
        Ok(Location { cell: at.cell, path })
    }
}

/// Why a step can't be taken.
pub(super) enum StepError {
    /// An index that isn't there.
    Range(Vec<i128>, Vec<usize>),
    /// A value that has no such part.
    Kind(&'static str, String),
}

impl StepError {
    /// The same about a place.
    pub fn cause(self, place: String) -> Cause {
        match self {
            StepError::Range(index, shape) => Cause::IndexOutOfRange { place: place.into(), index, shape },
            StepError::Kind(expected, found) => {
                Cause::Type { operation: place.into(), expected: expected.into(), found }
            }
        }
    }
}

/// A step from a value itself, for values that aren't in memory.
pub(super) fn step_into(data: &Data, step: &Step, indices: &[Num]) -> Result<Data, StepError> {
    let key = resolve(data, step, indices)?;
    Ok(key.map_or_else(|| data.clone(), |key| part(data, &[key])))
}

/// An index as an integer.
fn integer(n: &Num) -> Option<i128> {
    match *n {
        Num::Int(v) => Some(v.into()),
        Num::Uint(v) => Some(v.into()),
        Num::Wide(v) => Some(v),
        Num::WideUint(v) => i128::try_from(v).ok(),
        Num::Float(_) | Num::Fixed(_) | Num::Complex(..) => None,
    }
}

pub(super) fn integers(indices: &[Num]) -> Result<Vec<i128>, StepError> {
    let all = indices.iter().map(integer).collect::<Option<Vec<i128>>>();
    all.ok_or_else(|| StepError::Kind("an integer index", format!("{indices:?}")))
}

/// The position of an element in row-major order.
fn flat(index: &[i128], shape: &[usize]) -> Result<usize, StepError> {
    let fits = |(i, n): (&i128, &usize)| usize::try_from(*i).is_ok_and(|i| i < *n);
    if index.len() != shape.len() || !index.iter().zip(shape).all(fits) {
        return Err(StepError::Range(index.to_vec(), shape.to_vec()));
    }
    Ok(index.iter().zip(shape).fold(0, |k, (i, n)| k * n + *i as usize))
}

/// The way of a step into a value; none into what isn't there.
pub(super) fn resolve(data: &Data, step: &Step, indices: &[Num]) -> Result<Option<Key>, StepError> {
    let wrong = |expected| Err(StepError::Kind(expected, data.kind()));
    match (step, data) {
        (_, Data::None) => Ok(None),
        (Step::Index(_), Data::Array(a)) => Ok(Some(Key::Child(flat(&integers(indices)?, &a.shape)?))),
        (Step::Index(_), _) => wrong("an array"),
        (Step::Part(axes), Data::Array(a)) => Ok(Some(Key::Part(Part::whole(&a.shape).take(axes, indices)?))),
        (Step::Part(_), _) => wrong("an array"),
        (Step::Element(k), Data::Tuple(es)) if (*k as usize) < es.len() => Ok(Some(Key::Child(*k as usize))),
        (Step::Element(k), Data::Struct(r)) => match r.fields.iter().position(|(n, _)| n.parse() == Ok(*k)) {
            Some(k) => Ok(Some(Key::Child(k))),
            None => wrong("a tuple with that element"),
        },
        (Step::Element(_), _) => wrong("a tuple with that element"),
        (Step::Field(name), Data::Struct(r)) => match r.fields.iter().position(|(n, _)| **n == **name) {
            Some(k) => Ok(Some(Key::Child(k))),
            None => wrong("a struct with that field"),
        },
        (Step::Re, Data::Scalar(_) | Data::Lanes(_) | Data::Literal(_)) => Ok(Some(Key::Re)),
        (Step::Im, Data::Scalar(_) | Data::Lanes(_) | Data::Literal(_)) => Ok(Some(Key::Im)),
        (Step::Field(name), Data::Scalar(_) | Data::Lanes(_) | Data::Literal(_)) if name == "re" => {
            Ok(Some(Key::Re))
        }
        (Step::Field(name), Data::Scalar(_) | Data::Lanes(_) | Data::Literal(_)) if name == "im" => {
            Ok(Some(Key::Im))
        }
        (Step::Field(_), _) => wrong("a struct with that field"),
        (Step::Re | Step::Im, _) => wrong("a complex number"),
    }
}

/// A step from a part of an array.
fn part_step(part: &Part, step: &Step, indices: &[Num]) -> Result<Key, StepError> {
    match step {
        Step::Index(_) => Ok(Key::Child(part.element(&integers(indices)?)?)),
        Step::Part(axes) => Ok(Key::Part(part.take(axes, indices)?)),
        Step::Field(_) | Step::Element(_) | Step::Re | Step::Im => {
            Err(StepError::Kind("a part of an element", "a part of an array".into()))
        }
    }
}

/// The k-th element, field or value inside.
pub(super) fn child(data: &Data, k: usize) -> &Data {
    match data {
        Data::Array(a) => a.elements.get(k),
        Data::Tuple(es) | Data::Stack(es) => es.get(k),
        Data::Struct(r) => r.fields.get(k).map(|(_, d)| d),
        Data::Scalar(_) | Data::Literal(_) | Data::Lanes(_) | Data::Function(_) | Data::None => None,
    }
    .unwrap_or(&Data::None)
}

fn child_mut(data: &mut Data, k: usize) -> Option<&mut Data> {
    match data {
        Data::Array(a) => a.elements.get_mut(k),
        Data::Tuple(es) | Data::Stack(es) => es.get_mut(k),
        Data::Struct(r) => r.fields.get_mut(k).map(|(_, d)| d),
        Data::Scalar(_) | Data::Literal(_) | Data::Lanes(_) | Data::Function(_) | Data::None => None,
    }
}

/// The value at the end of a path that ends in a part of an array or of a number.
fn part(data: &Data, path: &[Key]) -> Data {
    let Some((key, rest)) = path.split_first() else { return data.clone() };
    match (key, data) {
        (Key::Child(k), _) => part(child(data, *k), rest),
        (Key::Part(part), Data::Array(a)) => {
            let elements = part.elements().into_iter().filter_map(|k| a.elements.get(k).cloned()).collect();
            Data::Array(Array { shape: part.shape(), elements })
        }
        (Key::Part(_), _) => Data::None,
        (Key::Re | Key::Im, Data::Scalar(v)) => Data::Scalar(half(*v, key)),
        (Key::Re | Key::Im, Data::Lanes(l)) => Data::Lanes(l.iter().map(|v| half(*v, key)).collect()),
        (Key::Re, _) => data.clone(),
        (Key::Im, _) => data.zero_like(),
    }
}

/// A part of a number; a real one is its own real part.
fn half(v: Value, key: &Key) -> Value {
    match (v.parts(), key) {
        (Some((re, _)), Key::Re) => re,
        (Some((_, im)), _) => im,
        (None, Key::Im) => v.zero_like(),
        (None, _) => v,
    }
}

fn set_part(data: &mut Data, path: &[Key], value: Data) {
    let Some((key, rest)) = path.split_first() else {
        *data = value;
        return;
    };
    match (key, data, value) {
        (Key::Child(k), data, value) => {
            if let Some(next) = child_mut(data, *k) {
                set_part(next, rest, value);
            }
        }
        (Key::Part(part), Data::Array(a), Data::Array(values)) => {
            for (k, new) in part.elements().into_iter().zip(values.elements) {
                if let Some(old) = a.elements.get_mut(k) {
                    *old = new;
                }
            }
        }
        (Key::Re | Key::Im, Data::Scalar(v), Data::Scalar(new)) => *v = with_half(*v, key, new),
        (Key::Re | Key::Im, Data::Lanes(l), Data::Lanes(new)) => {
            for (old, new) in l.iter_mut().zip(new) {
                *old = with_half(*old, key, new);
            }
        }
        (Key::Re | Key::Im, Data::Lanes(l), Data::Scalar(new)) => {
            for old in l {
                *old = with_half(*old, key, new);
            }
        }
        // a shadow that was one cotangent wide takes the width of what is added to it
        (Key::Re | Key::Im, data @ Data::Scalar(_), Data::Lanes(new)) => {
            if let Data::Scalar(v) = *data {
                *data = Data::Lanes(new.into_iter().map(|n| with_half(v, key, n)).collect());
            }
        }
        (Key::Part(_) | Key::Re | Key::Im, _, _) => {}
    }
}

fn with_half(v: Value, key: &Key, new: Value) -> Value {
    let complex = match (v.parts(), key) {
        (Some((_, im)), Key::Re) => Value::complex(new, im),
        (Some((re, _)), _) => Value::complex(re, new),
        (None, Key::Re) => Some(new),
        (None, _) => None,
    };
    complex.unwrap_or(v)
}
