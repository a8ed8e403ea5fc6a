//! From the error record that a kernel leaves to the error value that the CPU would give.

use crate::kernel::{Ty, ERROR_RECORD_BYTES};
use crate::plan::{Detail, Failure};
use rev_core::error::{Cause, Error, Iteration};

use super::marshal::extend;

/// What the record says: `None` where nothing failed.
pub fn read_record(record: &[u8; ERROR_RECORD_BYTES], failures: &[Failure]) -> Option<Error> {
    let word = |at: usize, bytes: usize| {
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(&record[at..at + bytes]);
        u64::from_le_bytes(word)
    };
    let number = word(0, 4).checked_sub(1)?;
    let values: Vec<u64> = (8..ERROR_RECORD_BYTES).step_by(8).map(|at| word(at, 8)).collect();
    Some(match failures.get(number as usize) {
        Some(failure) => error(failure, &values),
        None => Cause::Device { device: "gpu".into(), reason: format!("a kernel reports failure {number}") }
            .into(),
    })
}

/// The error that a failure and its values make.
pub fn error(failure: &Failure, values: &[u64]) -> Error {
    let mut trace = failure.trace.clone();
    for ((site, variable), value) in failure.loops.iter().zip(values) {
        if let Some(site) = trace.get_mut(*site) {
            let value = i128::from(*value as i64);
            site.iterations.push(Iteration { variable: variable.clone().into(), value });
        }
    }
    let values = values.get(failure.loops.len()..).unwrap_or_default();
    let cause = complete(failure.cause.clone(), &failure.detail, values);
    trace.into_iter().fold(Error::new(cause), Error::at)
}

/// What the values say.
#[derive(Default)]
struct Details {
    found: Vec<String>,
    expected: Vec<String>,
    index: Vec<i128>,
    shape: Vec<usize>,
    tolerance: Option<f64>,
}

impl Details {
    fn read(details: &[Detail], values: &[u64]) -> Details {
        let mut all = Details::default();
        let mut low = 0;
        for (detail, bits) in details.iter().zip(values) {
            match detail {
                Detail::Found(ty) => all.found.push(text(*bits, *ty)),
                Detail::Expected(ty) => all.expected.push(text(*bits, *ty)),
                Detail::Index => all.index.push((*bits as i64).into()),
                Detail::Length => all.shape.push(*bits as usize),
                Detail::Low => low = *bits,
                Detail::High { expected, signed } => {
                    let wide = u128::from(*bits) << 64 | u128::from(low);
                    let text = if *signed { (wide as i128).to_string() } else { wide.to_string() };
                    if *expected { &mut all.expected } else { &mut all.found }.push(text);
                }
                Detail::Tolerance => all.tolerance = Some(f64::from_bits(*bits)),
            }
        }
        all
    }
}

/// A value as Rust's `Debug` writes it. The record holds floats as `f64`, integers extended.
fn text(bits: u64, ty: Ty) -> String {
    match ty {
        Ty::Pred => (bits & 1 == 1).to_string(),
        Ty::F16 | Ty::Bf16 | Ty::F32 => format!("{:?}", f64::from_bits(bits) as f32),
        Ty::F64 => format!("{:?}", f64::from_bits(bits)),
        Ty::U64 => bits.to_string(),
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::U8 | Ty::U16 | Ty::U32 => extend(bits, ty).to_string(),
    }
}

/// Several parts of a value: the bounds of a range, the parts of a complex number.
fn parts(parts: Vec<String>, otherwise: String) -> String {
    if parts.is_empty() {
        otherwise
    } else {
        parts.join(", ")
    }
}

/// A place whose indices, `[]` in the text, are known now.
fn indexed(place: String, index: &[i128]) -> String {
    index.iter().fold(place, |text, i| text.replacen("[]", &format!("[{i}]"), 1))
}

/// The values of a range: how many there are, the first, the second and the last.
fn visited(parts: &[String], otherwise: String) -> String {
    let [count, first, second, last] = parts else { return otherwise };
    match count.as_str() {
        "0" => "empty".into(),
        "1" => first.clone(),
        "2" => format!("{first}, {second}"),
        _ => format!("{first}, {second}, … {last}"),
    }
}

/// A cause with the values in it.
fn complete(cause: Cause, details: &[Detail], values: &[u64]) -> Cause {
    let d = Details::read(details, values);
    match cause {
        Cause::Release { place, expected, found, tolerance } => Cause::Release {
            place: indexed(place, &d.index),
            expected: parts(d.expected, expected),
            // of a stack only the number of its values is known
            found: d.shape.first().map_or_else(|| parts(d.found, found), |n| format!("a stack of {n}")),
            tolerance: d.tolerance.unwrap_or(tolerance),
        },
        Cause::RangeChanged { expected, found } => {
            Cause::RangeChanged { expected: visited(&d.expected, expected), found: visited(&d.found, found) }
        }
        Cause::BindingChanged { name, expected, found } => Cause::BindingChanged {
            name,
            expected: parts(d.expected, expected),
            found: parts(d.found, found),
        },
        Cause::PopTarget { place, found } => {
            Cause::PopTarget { place: indexed(place, &d.index), found: parts(d.found, found) }
        }
        Cause::Shape { place, expected, found } => {
            let lengths = format!("{:?}", d.index);
            let found = if d.shape.is_empty() { found } else { format!("{:?}", d.shape) };
            Cause::Shape {
                place,
                expected: parts(d.expected, expected.replace("[..]", &lengths)),
                found: parts(d.found, found),
            }
        }
        Cause::Step { found } => {
            Cause::Step { found: d.found.first().and_then(|t| t.parse().ok()).unwrap_or(found) }
        }
        Cause::IndexOutOfRange { place, index, shape } => Cause::IndexOutOfRange {
            place,
            index: if d.index.is_empty() { index } else { d.index },
            shape: if d.shape.is_empty() { shape } else { d.shape },
        },
        Cause::NotInjective { place, value, first, second } => {
            let position = |k: usize, otherwise| {
                d.index.get(k).and_then(|i| usize::try_from(*i).ok()).unwrap_or(otherwise)
            };
            let (first, second) = (position(0, first), position(1, second));
            Cause::NotInjective { place, value: parts(d.found, value), first, second }
        }
        Cause::StackOverflow { stack, capacity } => {
            Cause::StackOverflow { stack, capacity: d.shape.first().copied().unwrap_or(capacity) }
        }
        other @ (Cause::Condition { .. }
        | Cause::NotBack { .. }
        | Cause::Alias { .. }
        | Cause::StackUnderflow { .. }
        | Cause::DivisionByZero
        | Cause::Instruction { .. }
        | Cause::Type { .. }
        | Cause::Arguments { .. }
        | Cause::Missing { .. }
        | Cause::Rejected(_)
        | Cause::Sparsity(_)
        | Cause::Depth { .. }
        | Cause::NotDifferentiable(_)
        | Cause::NoDerivative { .. }
        | Cause::Device { .. }) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rev_core::error::Site;

    #[test]
    fn a_record_becomes_the_error_of_the_cpu() {
        let site = |function: &'static str| Site { function: function.into(), ..Site::default() };
        let failures = [Failure {
            cause: Cause::IndexOutOfRange { place: "x".into(), index: vec![], shape: vec![] },
            trace: vec![site("inner"), site("outer")],
            loops: vec![(1, "i".into()), (0, "j".into())],
            detail: vec![Detail::Index, Detail::Length],
        }];
        let mut record = [0; ERROR_RECORD_BYTES];
        assert!(read_record(&record, &failures).is_none());
        record[0] = 1;
        for (k, v) in [4i64, -2, 17, 10].into_iter().enumerate() {
            record[8 + 8 * k..16 + 8 * k].copy_from_slice(&v.to_le_bytes());
        }
        assert_eq!(
            read_record(&record, &failures).unwrap().to_string(),
            "`x`: index [17] is out of range for the shape [10]\n  in `inner` with j = -2\n  \
             called in `outer` with i = 4"
        );
        record[0] = 9;
        assert!(read_record(&record, &failures).unwrap().to_string().contains("failure 8"));
    }

    #[test]
    fn released_values_are_shown_in_their_type() {
        let failure = Failure {
            cause: Cause::Release {
                place: "p".into(),
                expected: String::new(),
                found: String::new(),
                tolerance: 0.0,
            },
            trace: vec![],
            loops: vec![],
            detail: vec![Detail::Expected(Ty::F32), Detail::Found(Ty::F32)],
        };
        let error = error(&failure, &[0f64.to_bits(), f64::from(0.1f32).to_bits()]);
        assert_eq!(error.to_string(), "`p` must be released as 0.0 and holds 0.1 (tolerance 0e0)");
    }
}
