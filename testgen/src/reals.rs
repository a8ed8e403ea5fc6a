//! Values as vectors of real numbers, for comparisons and derivatives.

use num_complex::Complex;
use rev_core::scalar::Num;
use rev_core::value::{Data, Value};

use crate::dice::Dice;

/// The real numbers in a value, parts of complex ones among them; integers and what isn't there
/// don't count.
pub fn reals(data: &Data) -> Vec<f64> {
    let mut out = Vec::new();
    each(data, &mut |v| out.push(v));
    out
}

fn each(data: &Data, f: &mut dyn FnMut(f64)) {
    match data {
        Data::Scalar(v) => match v.to_num() {
            Num::Float(x) => f(x),
            Num::Fixed(x) => f(x.to_f64()),
            Num::Complex(re, im) => {
                f(re);
                f(im)
            }
            Num::Int(_) | Num::Uint(_) | Num::Wide(_) | Num::WideUint(_) => {}
        },
        other => other.children().for_each(|d| each(d, f)),
    }
}

/// The same value with its `f64` and `f32` numbers replaced one after the other.
pub fn replace(data: &Data, next: &mut dyn FnMut(f64) -> f64) -> Data {
    let next = std::cell::RefCell::new(next);
    data.map(&|leaf| {
        let mut next = next.borrow_mut();
        match leaf {
            Data::Scalar(Value::F64(x)) => Data::Scalar(Value::F64(next(*x))),
            Data::Scalar(Value::Complex64(z)) => {
                let re = next(z.re);
                Data::scalar(Complex::new(re, next(z.im)))
            }
            Data::Scalar(Value::F32(x)) => Data::Scalar(Value::F32(next((*x).into()) as f32)),
            Data::Scalar(Value::Complex32(z)) => {
                let re = next(z.re.into()) as f32;
                Data::scalar(Complex::new(re, next(z.im.into()) as f32))
            }
            other => other.clone(),
        }
    })
}

/// A random cotangent of a value.
pub fn cotangent(data: &Data, dice: &mut Dice) -> Data {
    replace(&data.zero_shadow(), &mut |_| dice.real(-1.0, 1.0))
}

/// The values moved along directions (as many numbers as [`reals`] gives): `x + h v`.
pub fn moved(data: &[Data], direction: &[f64], h: f64) -> Vec<Data> {
    let mut at = 0;
    data.iter()
        .map(|d| {
            replace(d, &mut |x| {
                let v = direction.get(at).copied().unwrap_or(0.0);
                at += 1;
                x + h * v
            })
        })
        .collect()
}

/// The largest difference between two lists of values, relative to the larger of 1 and the values;
/// infinite where they have different numbers of real numbers, or a NaN.
pub fn difference(a: &[Data], b: &[Data]) -> f64 {
    let (a, b): (Vec<f64>, Vec<f64>) =
        (a.iter().flat_map(reals).collect(), b.iter().flat_map(reals).collect());
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let far = |x: &f64, y: &f64| (x - y).abs() / x.abs().max(y.abs()).max(1.0);
    a.iter()
        .zip(&b)
        .map(|(x, y)| far(x, y))
        .fold(0.0, |m, d| if d.is_nan() { f64::INFINITY } else { d.max(m) })
}

/// `⟨a, b⟩` over all real numbers in two lists of values.
pub fn dot(a: &[Data], b: &[Data]) -> f64 {
    let (a, b): (Vec<f64>, Vec<f64>) =
        (a.iter().flat_map(reals).collect(), b.iter().flat_map(reals).collect());
    a.iter().zip(&b).map(|(x, y)| x * y).sum()
}

/// The largest magnitude in a list of values.
pub fn magnitude(a: &[Data]) -> f64 {
    a.iter().flat_map(reals).fold(0.0, |m, x| if x.is_nan() { f64::INFINITY } else { x.abs().max(m) })
}
