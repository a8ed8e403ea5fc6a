//! Is the adjoint right? Finite differences at several steps, argument by argument, and the
//! dot-product identity `⟨x̄, ẋ⟩ = ⟨ȳ, J ẋ⟩` in directions through all of them.
//!
//! The cotangents `ȳ` of what the program writes are fixed numbers without a pattern, so that every
//! output counts. A difference at a step `h` is off by the truncation, which falls with `h`, and by
//! rounding, about `ε |φ| / h`, which grows; the step that agrees best is taken, and rounding at it
//! is allowed for.

use std::collections::BTreeMap;
use std::fmt;

use super::{Subject, Way};
use crate::coordinates;
use crate::error::{Cause, Error};
use crate::tolerance::Tolerances;
use crate::value::Data;

/// How a gradient is checked.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientOptions {
    /// How many coordinates of each argument are tried, spread over it; all if there are fewer.
    pub coordinates: usize,
    /// Steps, as a fraction of a coordinate's size (of 1 where that is smaller); `None` for five
    /// powers of ten below 1e-2 (`f64`, fixed point) or three below 1 (`f32`, `f16`, `bf16`).
    pub steps: Option<Vec<f64>>,
    /// The difference allowed beside rounding, as a fraction of the larger derivative (of 1 where
    /// that is smaller); `None` for 1e-6 (`f64`, fixed point) or 1e-2 (`f32`); 0.1 for
    /// `f16` and 0.3 for `bf16`, whose partial derivatives have 11 and 8 bits.
    pub tolerance: Option<f64>,
    /// How many directions are tried.
    pub directions: usize,
    /// How far the values may be off that the adjoint brings back.
    pub values: Tolerances,
}

impl Default for GradientOptions {
    fn default() -> Self {
        let values = Tolerances::default();
        GradientOptions { coordinates: 20, steps: None, tolerance: None, directions: 3, values }
    }
}

/// The outcome for one argument: its worst coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentRow {
    /// The argument.
    pub name: String,
    /// How many real coordinates it has.
    pub coordinates: usize,
    /// How many were tried.
    pub tried: usize,
    /// The worst coordinate, with its path; `None` if there is none to try.
    pub worst: Option<Difference>,
    /// Whether all that were tried agree.
    pub passed: bool,
}

/// A derivative two ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What was moved.
    pub place: String,
    /// From the adjoint.
    pub adjoint: f64,
    /// From finite differences, at the step that agrees best.
    pub difference: f64,
    /// That step.
    pub step: f64,
    /// `|adjoint - difference| / max(1, |adjoint|, |difference|)`.
    pub error: f64,
    /// The largest error that would have passed.
    pub allowed: f64,
}

impl Difference {
    fn passed(&self) -> bool {
        self.error <= self.allowed
    }
}

/// The outcome for one direction through all arguments.
pub type DirectionRow = Difference;

/// The outcome of a gradient check.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientReport {
    /// One row for each argument that carries a derivative.
    pub arguments: Vec<ArgumentRow>,
    /// The dot-product identity. Arguments that must start at a value aren't moved in it.
    pub directions: Vec<DirectionRow>,
    /// For each argument that must start at a value where it was moved: which value, and what the program says of another
    /// one.
    pub fixed: Vec<String>,
    /// Where the adjoint didn't bring the values back to what they were.
    pub values: Option<String>,
}

impl GradientReport {
    /// Whether everything agrees.
    pub fn passed(&self) -> bool {
        self.values.is_none()
            && self.arguments.iter().all(|a| a.passed)
            && self.directions.iter().all(Difference::passed)
    }
}

/// Checks the adjoint of a program at a state.
///
/// # Errors
///
/// What the program or its adjoint reports, also at the moved states.
pub fn check_gradient(subject: Subject<'_>, options: &GradientOptions) -> Result<GradientReport, Error> {
    let mut check = Check::new(subject, options)?;
    let mut arguments = Vec::new();
    for k in 0..check.gradient.len() {
        arguments.extend(check.argument(k)?);
    }
    let directions = (0..options.directions).map(|d| check.direction(d)).collect::<Result<_, _>>()?;
    let fixed = check.fixed.into_values().collect();
    Ok(GradientReport { arguments, directions, fixed, values: check.values })
}

struct Check<'a> {
    subject: Subject<'a>,
    options: &'a GradientOptions,
    seeds: Vec<Vec<f64>>,
    gradient: Vec<Vec<f64>>,
    /// Of each coordinate whether the state holds it.
    held: Vec<Vec<bool>>,
    values: Option<String>,
    /// What is said of the arguments that must start at a value.
    fixed: BTreeMap<usize, String>,
    /// The rounding unit of the arguments.
    unit: f64,
}

impl<'a> Check<'a> {
    fn new(mut subject: Subject<'a>, options: &'a GradientOptions) -> Result<Check<'a>, Error> {
        let mut state = subject.state.clone();
        (subject.run)(Way::Forward, &mut state, &mut [])?;
        let mut shadows: Vec<Data> = state.iter().map(Data::zero_shadow).collect();
        let mut sequence = Sequence::new(0);
        let written = state.iter().zip(&mut shadows).zip(subject.written).filter(|(_, &written)| written);
        for ((value, shadow), _) in written {
            let mut held = coordinates::held(value).into_iter();
            coordinates::update(shadow, &mut |_| match held.next() {
                Some(false) => 0.0,
                Some(true) | None => sequence.next(),
            });
        }
        let seeds = shadows.iter().map(coordinates::of).collect();
        (subject.run)(Way::Adjoint, &mut state, &mut shadows)?;
        let compared =
            state.iter().zip(&subject.state).zip(subject.names).find_map(|((after, before), name)| {
                let mismatch = after.compare(before, &options.values, None).err()?;
                // a missing number is none before and after
                if is_same(after, before) {
                    return None;
                }
                Some(format!("`{name}{}` was {} and is {}", mismatch.path, mismatch.expected, mismatch.found))
            });
        let gradient = shadows.iter().map(coordinates::of).collect();
        let held = subject.state.iter().map(coordinates::held).collect();
        let unit = subject.state.iter().map(coordinates::rounding_unit).fold(0.0, f64::max);
        Ok(Check { subject, options, seeds, gradient, held, values: compared, fixed: BTreeMap::new(), unit })
    }

    fn is_coarse(&self) -> bool {
        self.unit > 1e-10
    }

    fn steps(&self) -> Vec<f64> {
        let default =
            || if self.is_coarse() { vec![1e-1, 1e-2, 1e-3] } else { vec![1e-3, 1e-4, 1e-5, 1e-6, 1e-7] };
        self.options.steps.clone().unwrap_or_else(default)
    }

    fn tolerance(&self) -> f64 {
        self.options.tolerance.unwrap_or(match self.unit {
            unit if unit > 1e-3 => 0.3,
            unit if unit > 1e-5 => 0.1,
            unit if unit > 1e-10 => 1e-2,
            _ => 1e-6,
        })
    }

    /// `⟨ȳ, y(x)⟩` and the sum of its terms' magnitudes.
    fn evaluate(&mut self, mut state: Vec<Data>) -> Result<(f64, f64), Error> {
        (self.subject.run)(Way::Forward, &mut state, &mut [])?;
        let (mut sum, mut size) = (0.0, 0.0);
        for (data, seed) in state.iter().zip(&self.seeds) {
            // what isn't asked for may be no number
            for (v, s) in coordinates::of(data).into_iter().zip(seed).filter(|(_, s)| **s != 0.0) {
                sum += v * s;
                size += (v * s).abs();
            }
        }
        Ok((sum, size))
    }

    /// The derivative along a move of the state, at the step that agrees best with the adjoint's.
    fn compare(
        &mut self,
        place: String,
        adjoint: f64,
        scale: f64,
        moved: &dyn Fn(&mut [Data], f64),
    ) -> Result<Difference, Error> {
        let mut best: Option<Difference> = None;
        for step in self.steps() {
            let h = step * scale;
            let mut at = |h: f64| {
                let mut state = self.subject.state.clone();
                moved(&mut state, h);
                self.evaluate(state)
            };
            let ((plus, size), (minus, _)) = (at(h)?, at(-h)?);
            let difference = (plus - minus) / (2.0 * h);
            let reference = adjoint.abs().max(difference.abs()).max(1.0);
            let error = (adjoint - difference).abs() / reference;
            let allowed = self.tolerance() + 8.0 * self.unit * size / (h * reference);
            let row = Difference { place: place.clone(), adjoint, difference, step: h, error, allowed };
            // a NaN never replaces a number and never passes
            let better = |b: &Difference| error / allowed < b.error / b.allowed || b.error.is_nan();
            if best.as_ref().is_none_or(better) {
                best = Some(row);
            }
        }
        Ok(best.unwrap_or(Difference {
            place,
            adjoint,
            difference: f64::NAN,
            step: 0.0,
            error: f64::NAN,
            allowed: 0.0,
        }))
    }

    fn argument(&mut self, k: usize) -> Result<Option<ArgumentRow>, Error> {
        let values = coordinates::of(&self.subject.state[k]);
        if values.is_empty() || self.gradient[k].len() != values.len() {
            return Ok(None);
        }
        let paths = coordinates::paths(&self.subject.state[k]);
        let name = self.subject.names[k].to_string();
        let held: Vec<usize> = (0..values.len()).filter(|c| self.held[k].get(*c) != Some(&false)).collect();
        let chosen: Vec<usize> =
            spread(held.len(), self.options.coordinates).into_iter().map(|c| held[c]).collect();
        let mut row =
            ArgumentRow { name, coordinates: held.len(), tried: chosen.len(), worst: None, passed: true };
        for c in chosen {
            let move_one = |state: &mut [Data], h: f64| coordinates::set(&mut state[k], c, values[c] + h);
            let place = format!("{}{}", row.name, paths[c]);
            let scale = values[c].abs().max(1.0);
            let found = match self.compare(place.clone(), self.gradient[k][c], scale, &move_one) {
                Ok(found) => found,
                Err(error) if asks_for_a_value(&error) => {
                    let says = || {
                        format!("`{place}` must start at {:?}: moved from it, {}", values[c], error.cause())
                    };
                    self.fixed.entry(k).or_insert_with(says);
                    continue;
                }
                Err(error) => return Err(error),
            };
            row.passed &= found.passed();
            let worse =
                |w: &Difference| found.error / found.allowed > w.error / w.allowed || found.error.is_nan();
            if row.worst.as_ref().is_none_or(worse) {
                row.worst = Some(found);
            }
        }
        Ok(Some(row))
    }

    fn direction(&mut self, d: usize) -> Result<DirectionRow, Error> {
        let mut sequence = Sequence::new(1 + d as u64);
        let fixed = |k: &usize| self.fixed.contains_key(k);
        let along = |(k, g): (usize, &Vec<f64>)| -> Vec<f64> {
            let still = |c: usize| fixed(&k) || self.held[k].get(c) == Some(&false);
            g.iter()
                .map(|_| sequence.next())
                .enumerate()
                .map(|(c, v)| if still(c) { 0.0 } else { v })
                .collect()
        };
        let direction: Vec<Vec<f64>> = self.gradient.iter().enumerate().map(along).collect();
        let adjoint =
            self.gradient.iter().flatten().zip(direction.iter().flatten()).map(|(g, v)| g * v).sum();
        let move_all = |state: &mut [Data], h: f64| {
            for (data, v) in state.iter_mut().zip(&direction) {
                let mut along = v.iter();
                coordinates::update(data, &mut |x| x + h * along.next().unwrap_or(&0.0));
            }
        };
        self.compare(format!("direction {}", d + 1), adjoint, 1.0, &move_all)
    }
}

/// Whether a program says of a value that it isn't the one that it has to be there.
fn asks_for_a_value(error: &Error) -> bool {
    matches!(
        error.cause(),
        Cause::Release { .. } | Cause::NotBack { .. } | Cause::Condition { .. } | Cause::PopTarget { .. }
    )
}

/// Whether numbers are the same, and where there are none there were none.
fn is_same(a: &Data, b: &Data) -> bool {
    let (a, b) = (coordinates::of(a), coordinates::of(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
}

/// Numbers between ½ and 3/2 without a pattern: the fractional parts of multiples of the golden ratio.
struct Sequence(f64);

impl Sequence {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;

    fn new(start: u64) -> Sequence {
        Sequence(start as f64 * std::f64::consts::SQRT_2.fract())
    }

    fn next(&mut self) -> f64 {
        self.0 = (self.0 + Self::GOLDEN).fract();
        0.5 + self.0
    }
}

/// At most `count` of `n` coordinates: the first, the last, and others evenly between.
fn spread(n: usize, count: usize) -> Vec<usize> {
    match (n, count) {
        (_, 0) => Vec::new(),
        _ if n <= count => (0..n).collect(),
        (_, 1) => vec![0],
        _ => (0..count).map(|k| (k as u128 * (n as u128 - 1) / (count as u128 - 1)) as usize).collect(),
    }
}

impl fmt::Display for GradientReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = [
            "argument",
            "coordinates",
            "tried",
            "worst at",
            "adjoint",
            "difference",
            "step",
            "error",
            "allowed",
            "",
        ];
        let mut rows = vec![header.map(String::from)];
        for a in &self.arguments {
            let counts = [a.coordinates.to_string(), a.tried.to_string()];
            rows.push(cells(&a.name, counts, a.worst.as_ref(), a.passed));
        }
        for d in &self.directions {
            rows.push(cells("⟨x̄, ẋ⟩ = ⟨ȳ, J ẋ⟩", [String::new(), String::new()], Some(d), d.passed()));
        }
        let width = |k: usize| rows.iter().map(|r| r[k].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..header.len()).map(width).collect();
        for row in &rows {
            let line: Vec<String> = row.iter().zip(&widths).map(|(c, &w)| format!("{c:<w$}")).collect();
            writeln!(f, "{}", line.join("  ").trim_end())?;
        }
        self.fixed.iter().try_for_each(|fixed| writeln!(f, "{fixed}"))?;
        match &self.values {
            Some(values) => writeln!(f, "the adjoint doesn't bring the values back: {values}")?,
            None => writeln!(f, "the adjoint brings the values back")?,
        }
        write!(f, "gradient: {}", if self.passed() { "ok" } else { "FAILED" })
    }
}

fn cells(name: &str, counts: [String; 2], worst: Option<&Difference>, passed: bool) -> [String; 10] {
    let [coordinates, tried] = counts;
    let verdict = if passed { "ok" } else { "FAILED" }.to_string();
    let number = |v: fn(&Difference) -> f64| worst.map_or(String::new(), |w| format!("{:.9e}", v(w)));
    let short = |v: fn(&Difference) -> f64| worst.map_or(String::new(), |w| format!("{:.1e}", v(w)));
    let place = worst.map_or(String::new(), |w| w.place.clone());
    [
        name.to_string(),
        coordinates,
        tried,
        place,
        number(|w| w.adjoint),
        number(|w| w.difference),
        short(|w| w.step),
        short(|w| w.error),
        short(|w| w.allowed),
        verdict,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `y += x0² x1`, with a factor on the adjoint that spoils it when it isn't 1.
    fn square(factor: f64) -> Subject<'static> {
        let numbers = |d: &[Data]| -> Vec<f64> { d.iter().flat_map(coordinates::of).collect() };
        let set = |d: &mut [Data], v: &[f64]| {
            let mut it = v.iter();
            d.iter_mut().for_each(|d| coordinates::update(d, &mut |_| *it.next().unwrap()));
        };
        Subject {
            names: &["y", "x"],
            written: &[true, false],
            state: vec![Data::scalar(2.0), Data::vector(vec![Data::scalar(3.0), Data::scalar(-5.0)])],
            run: Box::new(move |way, d, s| {
                let (v, c) = (numbers(d), numbers(s));
                let product = v[1] * v[1] * v[2];
                match way {
                    Way::Forward => set(d, &[v[0] + product, v[1], v[2]]),
                    Way::Inverse => set(d, &[(v[0] - product) * factor, v[1], v[2]]),
                    Way::Adjoint => {
                        set(d, &[v[0] - product, v[1], v[2]]);
                        set(s, &[c[0], c[1] + c[0] * 2.0 * v[1] * v[2] * factor, c[2] + c[0] * v[1] * v[1]]);
                    }
                }
                Ok(())
            }),
        }
    }

    #[test]
    fn a_right_gradient_passes_and_a_wrong_one_is_named() {
        let right = check_gradient(square(1.0), &GradientOptions::default()).unwrap();
        assert!(right.passed(), "{right}");
        let wrong = check_gradient(square(1.0001), &GradientOptions::default()).unwrap();
        assert!(!wrong.passed());
        let row = wrong.arguments.iter().find(|a| a.name == "x").unwrap();
        assert_eq!(row.worst.as_ref().unwrap().place, "x[0]");
        assert!(!wrong.directions.iter().any(Difference::passed));
        assert!(!check_gradient(square(f64::NAN), &GradientOptions::default()).unwrap().passed());
    }

    #[test]
    fn an_inverse_that_moves_an_element_is_reported() {
        let tolerances = Tolerances::default();
        assert!(super::super::check_inverse(square(1.0), &tolerances).unwrap().is_exact());
        let moved = super::super::check_inverse(square(1.0 + f64::EPSILON), &tolerances).unwrap();
        assert!(moved.passed() && !moved.is_exact());
        assert_eq!(moved.moved[0].place, "y");
        assert_eq!(moved.moved[0].ulps, Some(1));
        assert!(!super::super::check_inverse(square(2.0), &tolerances).unwrap().passed());
        assert!(!super::super::check_inverse(square(f64::NAN), &tolerances).unwrap().passed());
    }

    #[test]
    fn coordinates_are_spread_over_an_argument() {
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(11, 3), [0, 5, 10]);
        assert_eq!(spread(4, 1), [0]);
    }
}
