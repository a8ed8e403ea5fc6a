//! Do two devices give the same? What a run gives on each, scalar by scalar.

use crate::coordinates::{leaves, scalars};
use crate::device::Device;
use crate::error::Error;
use crate::scalar::Num;
use crate::value::{Data, DynArg, Value};
use std::fmt;
use std::time::{Duration, Instant};

/// What a run gave: values with names, in order.
#[derive(Clone, Debug, Default)]
pub struct Outputs(Vec<(String, Data)>);

impl Outputs {
    /// Nothing yet.
    pub fn new() -> Outputs {
        Outputs::default()
    }

    /// One more.
    pub fn with(mut self, name: impl Into<String>, value: &dyn DynArg) -> Outputs {
        self.0.push((name.into(), value.load()));
        self
    }
}

/// A program with arguments, for a list that every device has to give the same bits for.
pub struct Sample {
    /// What it is.
    pub name: &'static str,
    /// Whether a GPU can run it: it isn't recursive, nor keeps what has no bound.
    pub on_gpu: bool,
    /// Runs it, and gives everything that comes out.
    pub run: fn(&dyn Device) -> Result<Outputs, Error>,
}

/// The largest difference of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// How large it is.
    pub size: f64,
    /// Where in the value: an index, a field; empty for a scalar. A complex number is one place.
    pub place: String,
    /// What the two devices gave there.
    pub values: [String; 2],
}

/// How one value differs.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueRow {
    /// Its name.
    pub name: String,
    /// How many real scalars it has.
    pub scalars: usize,
    /// In how many of them the devices differ (NaN and NaN, 0 and -0 do so not).
    pub differing: usize,
    /// The largest `|a - b|`; infinite where one is NaN and the other isn't. `None` where all agree.
    pub absolute: Option<Worst>,
    /// The largest `|a - b| / max(|a|, |b|)`.
    pub relative: Option<Worst>,
    /// The largest number of floating-point numbers from one to the other; of other types `|a - b|`.
    pub ulps: Option<Worst>,
    /// The largest `|a - b| / max(1, |a| + |b|)`: what a tolerance is compared with.
    pub scaled: f64,
    /// Why the values can't be compared: another number of scalars, or another type.
    pub mismatch: Option<String>,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The devices' names.
    pub devices: [String; 2],
    /// How long the run took on each.
    pub times: [Duration; 2],
    /// One row for each value.
    pub values: Vec<ValueRow>,
}

impl Comparison {
    /// Whether the devices gave the same numbers.
    pub fn identical(&self) -> bool {
        self.values.iter().all(|row| row.differing == 0 && row.mismatch.is_none())
    }

    /// Whether no difference is beyond `tolerance`, as a fraction of `max(1, |a| + |b|)`.
    pub fn within(&self, tolerance: f64) -> bool {
        self.values.iter().all(|row| row.scaled <= tolerance && row.mismatch.is_none())
    }
}

/// Runs something on two devices and compares what it gives.
///
/// ```
/// use rev_core::interp::Interpreter;
/// use rev_core::verify::{compare, Outputs};
///
/// let (a, b) = (Interpreter::new(), Interpreter::new());
/// let outcome = compare([&a, &b], |_device| Ok(Outputs::new().with("y", &vec![1.0, 2.0])))?;
/// assert!(outcome.identical());
/// # Ok::<(), rev_core::error::Error>(())
/// ```
///
/// # Errors
///
/// What the run reports on either device.
pub fn compare(
    devices: [&dyn Device; 2],
    mut run: impl FnMut(&dyn Device) -> Result<Outputs, Error>,
) -> Result<Comparison, Error> {
    let mut once = |device: &dyn Device| {
        let start = Instant::now();
        run(device).map(|outputs| (outputs, start.elapsed()))
    };
    let (a, first) = once(devices[0])?;
    let (b, second) = once(devices[1])?;
    Ok(Comparison {
        devices: devices.map(|d| d.name().to_string()),
        times: [first, second],
        values: compare_outputs(&a, &b),
    })
}

/// Compares what two runs gave, value by value.
pub fn compare_outputs(a: &Outputs, b: &Outputs) -> Vec<ValueRow> {
    let count = a.0.len().max(b.0.len());
    (0..count)
        .map(|k| match (a.0.get(k), b.0.get(k)) {
            (Some((name, a)), Some((other, b))) if name == other => row(name, a, b),
            (Some((name, a)), _) | (_, Some((name, a))) => {
                let mut row = row(name, a, &Data::None);
                row.mismatch = Some(format!("`{name}` comes from one device only"));
                row
            }
            (None, None) => row("", &Data::None, &Data::None),
        })
        .collect()
}

/// A largest difference so far: its size, and the position of the scalar.
#[derive(Clone, Copy, Default)]
struct Peak(f64, usize);

impl Peak {
    fn see(&mut self, size: f64, at: usize) {
        if size > self.0 {
            *self = Peak(size, at);
        }
    }
}

fn row(name: &str, a: &Data, b: &Data) -> ValueRow {
    let (first, second) = (scalars(a), scalars(b));
    let same_types =
        first.len() == second.len() && first.iter().zip(&second).all(|(x, y)| x.ir_type() == y.ir_type());
    let mut row = ValueRow {
        name: name.into(),
        scalars: 0,
        differing: 0,
        absolute: None,
        relative: None,
        ulps: None,
        scaled: 0.0,
        mismatch: (!same_types).then(|| format!("{} and {}", a.kind(), b.kind())),
    };
    let (mut absolute, mut relative, mut ulps) = (Peak::default(), Peak::default(), Peak::default());
    for (k, (x, y)) in first.iter().zip(&second).enumerate() {
        for (x, y) in parts(x).into_iter().zip(parts(y)) {
            row.scalars += 1;
            let Some(d) = difference(&x, &y) else { continue };
            row.differing += 1;
            row.scaled = row.scaled.max(d.scaled);
            absolute.see(d.absolute, k);
            relative.see(d.relative, k);
            ulps.see(d.ulps, k);
        }
    }
    if row.differing > 0 {
        let paths = leaves(a);
        let worst = |peak: Peak| {
            let place = paths.get(peak.1).map(|(path, _)| path.clone()).unwrap_or_default();
            let values = [&first, &second].map(|v| v.get(peak.1).map(Value::to_string).unwrap_or_default());
            Worst { size: peak.0, place, values }
        };
        row.absolute = Some(worst(absolute));
        row.relative = Some(worst(relative));
        row.ulps = Some(worst(ulps));
    }
    row
}

/// The real numbers of a scalar.
fn parts(value: &Value) -> Vec<Value> {
    value.parts().map_or(vec![*value], |(re, im)| vec![re, im])
}

struct Difference {
    absolute: f64,
    relative: f64,
    ulps: f64,
    scaled: f64,
}

/// How two real numbers of one type differ; `None` where they don't.
fn difference(a: &Value, b: &Value) -> Option<Difference> {
    let (x, y) = (real(a), real(b));
    if a == b || (x.is_nan() && y.is_nan()) {
        return None;
    }
    let ulps = match (a, b) {
        (Value::F64(a), Value::F64(b)) => {
            (ordered(a.to_bits().into(), 63) - ordered(b.to_bits().into(), 63)).abs() as f64
        }
        (Value::F32(a), Value::F32(b)) => {
            (ordered(a.to_bits().into(), 31) - ordered(b.to_bits().into(), 31)).abs() as f64
        }
        (Value::F16(a), Value::F16(b)) => {
            (ordered(a.to_bits().into(), 15) - ordered(b.to_bits().into(), 15)).abs() as f64
        }
        (Value::Bf16(a), Value::Bf16(b)) => {
            (ordered(a.to_bits().into(), 15) - ordered(b.to_bits().into(), 15)).abs() as f64
        }
        _ => whole(a).zip(whole(b)).map_or((x - y).abs(), |(a, b)| a.abs_diff(b) as f64),
    };
    if x.is_nan() || y.is_nan() || x.is_infinite() || y.is_infinite() {
        let far = f64::INFINITY;
        return Some(Difference {
            absolute: far,
            relative: far,
            ulps: if x.is_nan() || y.is_nan() { far } else { ulps },
            scaled: far,
        });
    }
    let absolute = whole(a).zip(whole(b)).map_or((x - y).abs(), |(a, b)| a.abs_diff(b) as f64);
    let relative = absolute / x.abs().max(y.abs());
    Some(Difference { absolute, relative, ulps, scaled: absolute / (x.abs() + y.abs()).max(1.0) })
}

fn real(value: &Value) -> f64 {
    match value {
        Value::Bool(v) => f64::from(u8::from(*v)),
        _ => value.to_num().to_f64(),
    }
}

/// An integer.
fn whole(value: &Value) -> Option<i128> {
    match value.to_num() {
        Num::Int(v) => Some(v.into()),
        Num::Uint(v) => Some(v.into()),
        Num::Wide(v) => Some(v),
        Num::WideUint(_) | Num::Float(_) | Num::Fixed(_) | Num::Complex(..) => None,
    }
}

/// The place of a float among all of its type, 0 for both zeros: its bits below the sign, counted
/// downwards where that is set.
fn ordered(bits: u128, sign: u32) -> i128 {
    let magnitude = (bits & ((1 << sign) - 1)) as i128;
    if bits >> sign == 1 {
        -magnitude
    } else {
        magnitude
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = &self.devices;
        writeln!(f, "{a} ({:.3?}) and {b} ({:.3?})", self.times[0], self.times[1])?;
        for row in &self.values {
            write!(f, "  {}: ", row.name)?;
            match (&row.mismatch, &row.absolute, &row.relative, &row.ulps) {
                (Some(mismatch), ..) => writeln!(f, "{mismatch}")?,
                (None, Some(absolute), Some(relative), Some(ulps)) => {
                    writeln!(f, "{} of {} differ", row.differing, row.scalars)?;
                    for (kind, worst) in [("absolute", absolute), ("relative", relative), ("ulp", ulps)] {
                        let [x, y] = &worst.values;
                        writeln!(
                            f,
                            "    {kind:<8} {:<10.3e} at {}{}: {x} and {y}",
                            worst.size, row.name, worst.place
                        )?;
                    }
                }
                (None, ..) => writeln!(f, "all {} equal", row.scalars)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::Interpreter;
    use crate::scalar::Complex;

    fn rows(a: &dyn DynArg, b: &dyn DynArg) -> ValueRow {
        let rows = compare_outputs(&Outputs::new().with("x", a), &Outputs::new().with("x", b));
        assert_eq!(rows.len(), 1);
        rows.into_iter().next().unwrap()
    }

    #[test]
    fn differences_are_found_where_they_are() {
        let a = vec![1.0, 1e6, 0.0, f64::NAN];
        let b = vec![1.0 + f64::EPSILON, 1e6 + 1.0, -0.0, f64::NAN];
        let row = rows(&a, &b);
        assert_eq!((row.scalars, row.differing), (4, 2));
        let absolute = row.absolute.unwrap();
        assert_eq!((absolute.size, absolute.place.as_str()), (1.0, "[1]"));
        assert_eq!(absolute.values, ["1000000.0", "1000001.0"]);
        assert_eq!(row.ulps.unwrap().size, (1e6f64 + 1.0).to_bits() as f64 - 1e6f64.to_bits() as f64);
        assert_eq!(row.scaled, 1.0 / 2000001.0);
        assert_eq!(rows(&1.0f32, &1.0f32.next_up()).ulps.unwrap().size, 1.0);
        assert_eq!(rows(&-f64::MIN_POSITIVE, &f64::MIN_POSITIVE).ulps.unwrap().size, 2f64.powi(53));
        assert_eq!(rows(&Complex::new(1.0, 2.0), &Complex::new(1.0, 2.5)).differing, 1);
        assert_eq!(rows(&i64::MAX, &(i64::MAX - 1)).absolute.unwrap().size, 1.0);
        assert_eq!(rows(&true, &false).absolute.unwrap().size, 1.0);
    }

    #[test]
    fn what_isnt_a_number_on_one_side_is_beyond_any_tolerance() {
        let row = rows(&vec![0.0, f64::NAN], &vec![0.0, 1.0]);
        assert_eq!((row.scaled, row.absolute.unwrap().place.as_str()), (f64::INFINITY, "[1]"));
        assert_eq!(rows(&f64::INFINITY, &f64::MAX).scaled, f64::INFINITY);
        assert_eq!(rows(&f64::INFINITY, &f64::INFINITY).differing, 0);
        assert!(rows(&vec![1.0], &vec![1.0, 2.0]).mismatch.is_some());
        assert!(rows(&1.0f32, &1.0f64).mismatch.is_some());
    }

    #[test]
    fn a_comparison_says_what_differs() {
        let (a, b) = (Interpreter::new(), Interpreter::new());
        let mut k = 0.0;
        let outcome = compare([&a, &b], |_| {
            k += 1.0;
            Ok(Outputs::new().with("y", &vec![[1.0, k]]).with("n", &3usize))
        })
        .unwrap();
        assert!(!outcome.identical() && outcome.within(0.34) && !outcome.within(0.33));
        let text = outcome.to_string();
        assert!(text.contains("y: 1 of 2 differ"), "{text}");
        assert!(text.contains("absolute 1.000e0    at y[0][1]: 1.0 and 2.0"), "{text}");
        assert!(text.contains("n: all 1 equal"), "{text}");
    }
}
