//! Forward, then back: which elements moved, and how far.

use std::fmt;

use super::{Subject, Way};
use crate::coordinates;
use crate::error::Error;
use crate::tolerance::Tolerances;
use crate::value::Value;

/// An element that isn't what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The argument with the path to the element.
    pub place: String,
    /// Its value before the program and its inverse.
    pub before: Value,
    /// Its value after them.
    pub after: Value,
    /// How many representable numbers lie between both; `None` for complex numbers and where one of
    /// them is NaN.
    pub ulps: Option<u128>,
    /// Whether the tolerance allows it.
    pub allowed: bool,
}

/// What a program and its inverse do to its arguments together.
#[derive(Clone, Debug, PartialEq)]
pub struct InverseReport {
    /// How many scalars the arguments have.
    pub elements: usize,
    /// Those that moved at all, those beyond the tolerance first, the farthest first.
    pub moved: Vec<Moved>,
}

impl InverseReport {
    /// Whether every element is back, within the tolerance.
    pub fn passed(&self) -> bool {
        self.moved.iter().all(|m| m.allowed)
    }

    /// Whether every bit is back.
    pub fn is_exact(&self) -> bool {
        self.moved.is_empty()
    }
}

/// Runs the program and then its inverse, and compares every element with what it was.
///
/// # Errors
///
/// What the program or its inverse reports.
pub fn check_inverse(mut subject: Subject<'_>, tolerances: &Tolerances) -> Result<InverseReport, Error> {
    let before = subject.state.clone();
    (subject.run)(Way::Forward, &mut subject.state, &mut [])?;
    (subject.run)(Way::Inverse, &mut subject.state, &mut [])?;
    let mut report = InverseReport { elements: 0, moved: Vec::new() };
    for ((name, before), after) in subject.names.iter().zip(&before).zip(&subject.state) {
        let (before, after) = (coordinates::leaves(before), coordinates::leaves(after));
        report.elements += before.len();
        for k in 0..before.len().max(after.len()) {
            match (before.get(k), after.get(k)) {
                (Some((path, b)), Some((_, a))) if !same_bits(b, a) => report.moved.push(Moved {
                    place: format!("{name}{path}"),
                    before: *b,
                    after: *a,
                    ulps: ulps(b, a),
                    allowed: a.is_close(b, tolerances, None),
                }),
                (Some(_), Some(_)) | (None, None) => {}
                (Some((path, v)), None) | (None, Some((path, v))) => report.moved.push(Moved {
                    place: format!("{name}{path} (only on one side)"),
                    before: *v,
                    after: *v,
                    ulps: None,
                    allowed: false,
                }),
            }
        }
    }
    let distance = |m: &Moved| m.ulps.unwrap_or(u128::MAX);
    report.moved.sort_by(|a, b| a.allowed.cmp(&b.allowed).then(distance(b).cmp(&distance(a))));
    Ok(report)
}

fn same_bits(a: &Value, b: &Value) -> bool {
    a == b
        || matches!((a, b), (Value::F64(x), Value::F64(y)) if x.to_bits() == y.to_bits())
        || matches!((a, b), (Value::F32(x), Value::F32(y)) if x.to_bits() == y.to_bits())
        || matches!((a, b), (Value::F16(x), Value::F16(y)) if x.to_bits() == y.to_bits())
        || matches!((a, b), (Value::Bf16(x), Value::Bf16(y)) if x.to_bits() == y.to_bits())
}

/// How many representable numbers lie between two: the distance of their positions on the number line.
fn ulps(a: &Value, b: &Value) -> Option<u128> {
    // negative floats count downwards from zero
    let position = |bits: i128, sign_bit: u32| {
        let top = 1i128 << sign_bit;
        if bits & top != 0 {
            -(bits & (top - 1))
        } else {
            bits
        }
    };
    let (a, b) = match (a, b) {
        (Value::F64(a), Value::F64(b)) if !a.is_nan() && !b.is_nan() => {
            (position(a.to_bits().into(), 63), position(b.to_bits().into(), 63))
        }
        (Value::F32(a), Value::F32(b)) if !a.is_nan() && !b.is_nan() => {
            (position(a.to_bits().into(), 31), position(b.to_bits().into(), 31))
        }
        (Value::F16(a), Value::F16(b)) if !a.is_nan() && !b.is_nan() => {
            (position(a.to_bits().into(), 15), position(b.to_bits().into(), 15))
        }
        (Value::Bf16(a), Value::Bf16(b)) if !a.is_nan() && !b.is_nan() => {
            (position(a.to_bits().into(), 15), position(b.to_bits().into(), 15))
        }
        (Value::Fixed(a), Value::Fixed(b)) if a.format() == b.format() => (a.to_bits(), b.to_bits()),
        _ => return None,
    };
    Some(a.abs_diff(b))
}

impl fmt::Display for InverseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            return write!(f, "inverse: all {} elements are back, bit for bit", self.elements);
        }
        let beyond = self.moved.iter().filter(|m| !m.allowed).count();
        let verdict = if beyond == 0 { "within the tolerance" } else { "FAILED" };
        write!(
            f,
            "inverse: {} of {} elements moved, {beyond} beyond the tolerance: {verdict}",
            self.moved.len(),
            self.elements
        )?;
        for m in self.moved.iter().take(10) {
            let ulps = m.ulps.map_or(String::new(), |u| format!(", {u} ulp"));
            let mark = if m.allowed { "" } else { "  <- too far" };
            write!(f, "\n  {}: {} -> {}{ulps}{mark}", m.place, m.before, m.after)?;
        }
        Ok(())
    }
}
