//! A value as a list of real numbers: what finite differences and unit directions move, the entries of matrices of
//! derivatives, and what reports name.

use crate::scalar::{bf16, f16, Num};
use crate::value::{fields_of_enum, Data, Value};

/// Calls `f` on each real coordinate that carries a derivative (both parts of a complex number), in
/// a fixed order; what `f` returns takes its place.
pub fn update(data: &mut Data, f: &mut dyn FnMut(f64) -> f64) {
    match data {
        Data::Scalar(v) => update_value(v, f),
        Data::Lanes(lanes) => lanes.iter_mut().for_each(|v| update_value(v, f)),
        Data::Array(a) => a.elements.iter_mut().for_each(|e| update(e, f)),
        Data::Tuple(es) | Data::Stack(es) => es.iter_mut().for_each(|e| update(e, f)),
        Data::Struct(r) => r.fields.iter_mut().for_each(|(_, e)| update(e, f)),
        Data::Literal(_) | Data::Function(_) | Data::None => {}
    }
}

/// The same for a shadow of several cotangents or tangents side by side: `f` is given each real coordinate's, to be
/// changed.
pub fn update_sides(data: &mut Data, f: &mut dyn FnMut(&mut [f64])) {
    match data {
        Data::Scalar(v) => update_lanes(std::slice::from_mut(v), f),
        Data::Lanes(lanes) => update_lanes(lanes, f),
        Data::Array(a) => a.elements.iter_mut().for_each(|e| update_sides(e, f)),
        Data::Tuple(es) | Data::Stack(es) => es.iter_mut().for_each(|e| update_sides(e, f)),
        Data::Struct(r) => r.fields.iter_mut().for_each(|(_, e)| update_sides(e, f)),
        Data::Literal(_) | Data::Function(_) | Data::None => {}
    }
}

fn update_lanes(lanes: &mut [Value], f: &mut dyn FnMut(&mut [f64])) {
    // the coordinates of each side, one behind the other
    let mut sides: Vec<Vec<f64>> = Vec::new();
    for v in lanes.iter_mut() {
        let mut own = Vec::new();
        update_value(v, &mut |v| {
            own.push(v);
            v
        });
        sides.push(own);
    }
    for k in 0..sides.first().map_or(0, Vec::len) {
        let mut row: Vec<f64> = sides.iter().filter_map(|own| own.get(k).copied()).collect();
        f(&mut row);
        sides.iter_mut().zip(row).for_each(|(own, v)| own[k] = v);
    }
    for (v, own) in lanes.iter_mut().zip(sides) {
        let mut own = own.into_iter();
        update_value(v, &mut |v| own.next().unwrap_or(v));
    }
}

/// The same for one scalar.
pub fn update_value(v: &mut Value, f: &mut dyn FnMut(f64) -> f64) {
    let changed = match parts(v) {
        Parts::None => return,
        Parts::One(x) => Num::Float(f(x)),
        Parts::Two(re, im) => Num::Complex(f(re), f(im)),
    };
    if let Some(changed) = v.same_type(changed) {
        *v = changed;
    }
}

/// Calls `f` on the real coordinates of a scalar.
pub fn each_of_value(v: &Value, f: &mut dyn FnMut(f64)) {
    match parts(v) {
        Parts::None => {}
        Parts::One(x) => f(x),
        Parts::Two(re, im) => {
            f(re);
            f(im);
        }
    }
}

/// The real coordinates of a scalar: integers have none.
enum Parts {
    None,
    One(f64),
    Two(f64, f64),
}

fn parts(v: &Value) -> Parts {
    match v.parts() {
        _ if v.is_inactive() => Parts::None,
        Some((re, im)) => Parts::Two(re.to_num().to_f64(), im.to_num().to_f64()),
        None => Parts::One(v.to_num().to_f64()),
    }
}

/// The real coordinates.
pub fn of(data: &Data) -> Vec<f64> {
    let mut out = Vec::new();
    update(&mut data.clone(), &mut |v| {
        out.push(v);
        v
    });
    out
}

/// Of each real coordinate whether it is part of the value: fields of an enum's other variants aren't, which are zero whatever they
/// are set to.
pub fn held(data: &Data) -> Vec<bool> {
    fn add(data: &Data, is_held: bool, out: &mut Vec<bool>) {
        match data {
            Data::Scalar(_) | Data::Lanes(_) => update(&mut data.clone(), &mut |v| {
                out.push(is_held);
                v
            }),
            Data::Array(_) | Data::Tuple(_) | Data::Stack(_) | Data::Struct(_) => {
                match fields_of_enum(data) {
                    Some(fields) => fields.into_iter().for_each(|(e, own)| add(e, is_held && own, out)),
                    None => data.children().for_each(|e| add(e, is_held, out)),
                }
            }
            Data::Literal(_) | Data::Function(_) | Data::None => {}
        }
    }
    let mut out = Vec::new();
    add(data, true, &mut out);
    out
}

/// Sets coordinate `k`.
pub fn set(data: &mut Data, k: usize, to: f64) {
    let mut at = 0;
    update(data, &mut |v| {
        at += 1;
        if at - 1 == k {
            to
        } else {
            v
        }
    });
}

/// The scalars inside a value, in the order of [`leaves`].
pub fn scalars(data: &Data) -> Vec<Value> {
    fn add(data: &Data, out: &mut Vec<Value>) {
        match data {
            Data::Scalar(v) => out.push(*v),
            Data::Lanes(lanes) => out.extend(lanes),
            Data::Array(_) | Data::Tuple(_) | Data::Stack(_) | Data::Struct(_) => {
                data.children().for_each(|e| add(e, out));
            }
            Data::Literal(_) | Data::Function(_) | Data::None => {}
        }
    }
    let mut out = Vec::new();
    add(data, &mut out);
    out
}

/// A scalar inside a value with the path to it.
pub fn leaves(data: &Data) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    collect(data, String::new(), &mut out);
    out
}

fn collect(data: &Data, path: String, out: &mut Vec<(String, Value)>) {
    match data {
        Data::Scalar(v) => out.push((path, *v)),
        Data::Lanes(lanes) => lanes.iter().for_each(|v| out.push((path.clone(), *v))),
        Data::Array(a) => {
            for (k, e) in a.elements.iter().enumerate() {
                collect(e, format!("{path}{}", index(k, &a.shape)), out);
            }
        }
        Data::Tuple(es) => es.iter().enumerate().for_each(|(k, e)| collect(e, format!("{path}.{k}"), out)),
        Data::Stack(es) => es.iter().enumerate().for_each(|(k, e)| collect(e, format!("{path}[{k}]"), out)),
        Data::Struct(r) => r.fields.iter().for_each(|(name, e)| collect(e, format!("{path}.{name}"), out)),
        Data::Literal(_) | Data::Function(_) | Data::None => {}
    }
}

/// Element `k` in row-major order as an index.
fn index(mut k: usize, shape: &[usize]) -> String {
    let mut parts = Vec::new();
    for &n in shape.iter().rev() {
        parts.push((k % n.max(1)).to_string());
        k /= n.max(1);
    }
    parts.reverse();
    format!("[{}]", parts.join(", "))
}

/// The path of each real coordinate, in the order of [`update`].
pub fn paths(data: &Data) -> Vec<String> {
    let active = leaves(data).into_iter().filter(|(_, v)| !v.is_inactive());
    let named = |(path, v): (String, Value)| match v.parts() {
        Some(_) => vec![format!("{path}.re"), format!("{path}.im")],
        None => vec![path],
    };
    active.flat_map(named).collect()
}

/// The rounding unit of the coarsest floating-point number in a value; 0 if there is none.
pub fn rounding_unit(data: &Data) -> f64 {
    let unit = |v: &Value| match v {
        Value::F16(_) | Value::ComplexF16(_) => f16::EPSILON.to_f64(),
        Value::Bf16(_) | Value::ComplexBf16(_) => bf16::EPSILON.to_f64(),
        Value::F32(_) | Value::Complex32(_) => f64::from(f32::EPSILON),
        Value::F64(_) | Value::Complex64(_) => f64::EPSILON,
        Value::Fixed(v) => v.resolution(),
        Value::ComplexFixed(z) => z.get().re.resolution(),
        _ => 0.0,
    };
    leaves(data).iter().map(|(_, v)| unit(v)).fold(0.0, f64::max)
}
