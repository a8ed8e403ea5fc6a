//! Updates and instructions on dynamic values. What is linear works on shadows too: lane by lane,
//! and not at all where there is no shadow.

use super::types::{arm, arms, each_value, each_value_row, fields, reals, rings};
use crate::coordinates;
use crate::error::Cause;
use crate::ir::{Number, UpdateOp};
use crate::ops::{Func, Instr};
use crate::scalar::rt::instr::InstrError;
use crate::scalar::{
    bf16, f16, rt, Batch, Complex, ComplexShadow, FixedPoint, Half, Mismatch, Scalar, WideBatch,
};
use crate::value::{literal_number, same_shapes, variant, variant_mut, Array, Data, Record, Value};

fn mistyped(operation: impl Into<String>, expected: impl Into<String>, found: &[&Data]) -> Cause {
    let found: Vec<String> = found.iter().map(|d| d.kind()).collect();
    Cause::Type {
        operation: operation.into().into(),
        expected: expected.into().into(),
        found: found.join(", "),
    }
}

/// The value of a place after `place op= value`.
pub(super) fn update(op: UpdateOp, place: &Data, value: &Data) -> Result<Data, Cause> {
    match op {
        UpdateOp::Add | UpdateOp::Sub => accumulate(op, place, value),
        UpdateOp::Xor => super::func::apply(Func::BitXor, &[place.clone(), value.clone()]),
    }
}

/// The value of a place after `place ±= a·b`, rounded once where emitted code does it: for numbers, and
/// for the cotangents of real ones.
pub(super) fn add_product(
    op: UpdateOp,
    (place, holds): (&Data, Holds),
    func: Func,
    [a, b]: [Data; 2],
) -> Result<Data, Cause> {
    let fused = match place {
        Data::Scalar(y) if holds == Holds::Shadows && y.parts().is_some() => None,
        Data::Scalar(y) => rounded_once(op, *y, &a, &b).map(Data::Scalar),
        Data::Lanes(lanes) if lanes.iter().all(|y| y.parts().is_none()) => {
            let each = lanes.iter().enumerate();
            each.map(|(k, y)| rounded_once(op, *y, &lane(&a, k), &b))
                .collect::<Option<Vec<_>>>()
                .map(Data::Lanes)
        }
        _ => None,
    };
    match fused {
        Some(new) => Ok(new),
        None => update(op, place, &super::func::apply(func, &[a, b])?),
    }
}

/// `y ± a·b` of numbers of one type.
fn rounded_once(op: UpdateOp, y: Value, a: &Data, b: &Data) -> Option<Value> {
    let typed = |d: &Data| match d {
        Data::Scalar(v) => Some(*v),
        Data::Literal(n) => y.same_type(literal_number(*n)),
        _ => None,
    };
    let (a, b) = (typed(a)?, typed(b)?);
    rings!(y, U => {
        let (mut y, a, b) = (U::from_value(&y)?, U::from_value(&a)?, U::from_value(&b)?);
        if op == UpdateOp::Sub {
            rt::update::sub_product(&mut y, a, b);
        } else {
            rt::update::add_product(&mut y, a, b);
        }
        y.to_value()
    })
}

/// Two values of an enum that have a sum, which is of the variant that one of them has then, and the other not: they are
/// cotangents, of one variant, or one is zero. Other enums have no sum.
fn summands(x: &Record, y: &Record) -> Option<(Record, Record)> {
    let (mut x, mut y) = (x.clone(), y.clone());
    let is_zero = |record: &Record| {
        let mut zero = true;
        let mut data = Data::Struct(record.clone());
        coordinates::update_sides(&mut data, &mut |sides| zero &= sides.iter().all(|v| *v == 0.0));
        zero
    };
    let zeros = (is_zero(&x), is_zero(&y));
    let (of_x, of_y) = (variant_mut(&mut x)?, variant_mut(&mut y)?);
    match zeros {
        _ if of_x == of_y => *of_y = of_y.zero_like(),
        (_, true) => *of_y = of_y.zero_like(),
        (true, false) => *of_x = of_x.zero_like(),
        (false, false) => return None,
    }
    Some((x, y))
}

/// `a ± b`, element by element.
fn accumulate(op: UpdateOp, a: &Data, b: &Data) -> Result<Data, Cause> {
    accumulate_in(op, a, b, false)
}

/// The same in a whole struct, where truth values are added by exclusive or, or elsewhere.
fn accumulate_in(op: UpdateOp, a: &Data, b: &Data, of_struct: bool) -> Result<Data, Cause> {
    let wrong = || mistyped(op.symbol(), a.kind(), &[b]);
    let each = |a: &[Data], b: &[Data]| {
        a.iter().zip(b).map(|(a, b)| accumulate_in(op, a, b, of_struct)).collect::<Result<Vec<_>, _>>()
    };
    match (a, b) {
        (Data::Scalar(Value::Bool(a)), Data::Scalar(Value::Bool(b))) if of_struct => Ok(Data::scalar(a ^ b)),
        // the cotangent of a truth value, which carries nothing
        (Data::Scalar(Value::Bool(_)), Data::Scalar(Value::Bool(false))) => Ok(a.clone()),
        (Data::None, _) | (_, Data::None) => Ok(a.clone()),
        (Data::Array(x), Data::Array(y)) if x.shape == y.shape => {
            Ok(Data::Array(Array { shape: x.shape.clone(), elements: each(&x.elements, &y.elements)? }))
        }
        (Data::Array(x), Data::Array(y)) => Err(Cause::Shape {
            place: op.symbol().into(),
            expected: format!("{:?}", x.shape),
            found: format!("{:?}", y.shape),
        }),
        (Data::Tuple(x), Data::Tuple(y)) if x.len() == y.len() => Ok(Data::Tuple(each(x, y)?)),
        (Data::Stack(x), Data::Stack(y)) if x.len() == y.len() => Ok(Data::Stack(each(x, y)?)),
        (Data::Struct(x), Data::Struct(y)) if x.fields.len() == y.fields.len() => {
            let enums = variant(x).is_some().then(|| summands(x, y).ok_or_else(wrong)).transpose()?;
            let (x, y) = enums.as_ref().map_or((x, y), |(x, y)| (x, y));
            let fields = x
                .fields
                .iter()
                .zip(&y.fields)
                .map(|((name, a), (_, b))| Ok((name.clone(), accumulate_in(op, a, b, true)?)));
            Ok(Data::Struct(Record { name: x.name.clone(), fields: fields.collect::<Result<_, Cause>>()? }))
        }
        _ => {
            let width = [a, b].iter().find_map(|d| if let Data::Lanes(l) = d { Some(l.len()) } else { None });
            match width {
                None => Ok(sum(op, a, b).ok_or_else(wrong)?),
                Some(n) => (0..n)
                    .map(|k| sum(op, &lane(a, k), &lane(b, k)).and_then(|d| d.as_value()))
                    .collect::<Option<Vec<_>>>()
                    .map(Data::Lanes)
                    .ok_or_else(wrong),
            }
        }
    }
}

fn lane(d: &Data, k: usize) -> Data {
    match d {
        Data::Lanes(l) => l.get(k).copied().map_or(Data::None, Data::Scalar),
        _ => d.clone(),
    }
}

/// `a ± b` of two scalars.
fn sum(op: UpdateOp, a: &Data, b: &Data) -> Option<Data> {
    let (a, b) = match (a, b) {
        (Data::Scalar(a), Data::Scalar(b)) => (*a, alike(a, *b)?),
        (Data::Scalar(a), Data::Literal(n)) => (*a, a.same_type(literal_number(*n))?),
        (Data::Literal(n), Data::Scalar(b)) => (b.same_type(literal_number(*n))?, *b),
        (Data::Literal(m), Data::Literal(n)) => return literal_sum(op, *m, *n),
        _ => return None,
    };
    let add = op == UpdateOp::Add;
    rings!(a, U => {
        let (a, b) = (U::from_value(&a)?, U::from_value(&b)?);
        Data::scalar(if add { rt::add(a, b) } else { rt::sub(a, b) })
    })
}

/// The value in the type of the place: a real cotangent for a complex variable, the real part for a
/// real one. `None` where the types don't fit.
fn alike(place: &Value, v: Value) -> Option<Value> {
    match (place.parts(), v.parts()) {
        (Some((_, im)), None) => Value::complex(v, im.zero_like()),
        (None, Some((re, _))) => Some(re),
        _ => Some(v),
    }
}

fn literal_sum(op: UpdateOp, m: Number, n: Number) -> Option<Data> {
    let sign = if op == UpdateOp::Add { 1 } else { -1 };
    Some(Data::Literal(match (m, n) {
        (Number::Int(a), Number::Int(b)) => Number::Int(a.wrapping_add(b.wrapping_mul(sign))),
        (Number::Bool(_), _) | (_, Number::Bool(_)) => return None,
        _ => Number::Float(literal_number(m).to_f64() + sign as f64 * literal_number(n).to_f64()),
    }))
}

/// The error that two values don't have arrays of the same shapes.
pub(super) fn misshapen(place: &str, m: Mismatch) -> Cause {
    Cause::Shape { place: format!("{place}{}", m.path).into(), expected: m.expected, found: m.found }
}

/// Whether the places of an instruction hold shadows: those round where exact values may not.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Holds {
    Values,
    Shadows,
}

/// The values of the places after an instruction.
pub(super) fn instruct(
    instr: Instr,
    places: &[Data],
    operands: &[Data],
    holds: Holds,
) -> Result<Vec<Data>, InstrFailure> {
    match (instr, places, operands) {
        (Instr::Swap, [a, b], []) => {
            // lengths are the same from the beginning of a program to its end
            same_shapes(a, b, false).map_err(|m| InstrFailure::Type(misshapen(instr.name(), m)))?;
            Ok(vec![b.clone(), a.clone()])
        }
        (_, [a], _) => Ok(vec![on_one(instr, a, operands, holds)?]),
        (_, [a, b], _) => on_two(instr, a, b, operands).map(|(a, b)| vec![a, b]),
        _ => Err(wrong(instr, places)),
    }
}

/// Why an instruction fails.
pub(super) enum InstrFailure {
    /// It can't be undone on these values.
    Value(InstrError),
    /// Values of the wrong type.
    Type(Cause),
}

fn wrong(instr: Instr, found: &[Data]) -> InstrFailure {
    let found: Vec<&Data> = found.iter().collect();
    InstrFailure::Type(mistyped(instr.name(), format!("{:?}", instr.row().class), &found))
}

/// An instruction on one place, element by element where it is composite.
fn on_one(instr: Instr, a: &Data, operands: &[Data], holds: Holds) -> Result<Data, InstrFailure> {
    let each =
        |es: &[Data]| es.iter().map(|e| on_one(instr, e, operands, holds)).collect::<Result<Vec<_>, _>>();
    match a {
        Data::None => Ok(Data::None),
        Data::Array(x) => Ok(Data::Array(Array { shape: x.shape.clone(), elements: each(&x.elements)? })),
        Data::Tuple(es) => Ok(Data::Tuple(each(es)?)),
        Data::Stack(es) => Ok(Data::Stack(each(es)?)),
        Data::Struct(r) => {
            let fields = r.fields.iter().map(|(n, d)| Ok((n.clone(), on_one(instr, d, operands, holds)?)));
            Ok(Data::Struct(Record {
                name: r.name.clone(),
                fields: fields.collect::<Result<_, InstrFailure>>()?,
            }))
        }
        Data::Lanes(l) => {
            let lanes = l.iter().map(|v| on_scalar(instr, *v, operands, holds));
            Ok(Data::Lanes(lanes.collect::<Result<_, _>>()?))
        }
        Data::Scalar(v) => on_scalar(instr, *v, operands, holds).map(Data::Scalar),
        Data::Literal(n) => on_literal(instr, *n, operands, holds),
        Data::Function(_) => Err(wrong(instr, std::slice::from_ref(a))),
    }
}

/// A number whose type isn't known keeps that, where the result is exact in any type.
fn on_literal(instr: Instr, n: Number, operands: &[Data], holds: Holds) -> Result<Data, InstrFailure> {
    let (v, sample) = match n {
        Number::Int(v) => (v, Value::I128(v)),
        Number::Float(v) => (0, Value::F64(v)),
        Number::Bool(v) => (0, Value::Bool(v)),
    };
    match (instr, n) {
        (Instr::Neg, Number::Int(_)) => Ok(Data::Literal(Number::Int(-v))),
        (Instr::Inc, Number::Int(_)) => Ok(Data::Literal(Number::Int(v + 1))),
        (Instr::Dec, Number::Int(_)) => Ok(Data::Literal(Number::Int(v - 1))),
        _ => match on_scalar(instr, sample, operands, holds)? {
            Value::F64(v) => Ok(Data::Literal(Number::Float(v))),
            Value::I128(v) => Ok(Data::Literal(Number::Int(v))),
            Value::Bool(v) => Ok(Data::Literal(Number::Bool(v))),
            v => Ok(Data::Scalar(v)),
        },
    }
}

/// `f` on a scalar, or on the shadow of one.
macro_rules! linear {
    ($v:expr, $holds:expr, $x:ident => $e:expr) => {
        if $holds == Holds::Shadows {
            linear!(@shadows $v, $x => $e)
        } else {
            rings!($v, U => {
                let mut $x = U::from_value(&$v)?;
                $e.map(|()| $x.to_value())
            })
        }
    };
    (@shadows $v:expr, $x:ident => $e:expr) => {{
        let _format = $v.format_scope();
        match $v {
            Value::F32(v) => { let mut $x = Batch([v]); Some($e.map(|()| Value::F32($x.get()))) }
            Value::F64(v) => { let mut $x = Batch([v]); Some($e.map(|()| Value::F64($x.get()))) }
            Value::Fixed(v) => { let mut $x = Batch([v]); Some($e.map(|()| Value::Fixed($x.get()))) }
            Value::Complex32(z) => { let mut $x = shadow(z); Some($e.map(|()| Value::Complex32(unshadow($x)))) }
            Value::Complex64(z) => { let mut $x = shadow(z); Some($e.map(|()| Value::Complex64(unshadow($x)))) }
            Value::ComplexFixed(z) => { let mut $x = shadow(z.get()); Some($e.map(|()| unshadow($x).to_value())) }
            _ => None,
        }
    }};
}

fn shadow<T>(z: Complex<T>) -> ComplexShadow<Batch<T, 1>> {
    ComplexShadow { re: Batch([z.re]), im: Batch([z.im]) }
}

fn unshadow<T: Copy>(s: ComplexShadow<Batch<T, 1>>) -> Complex<T> {
    Complex { re: s.re.get(), im: s.im.get() }
}

fn on_scalar(instr: Instr, v: Value, operands: &[Data], holds: Holds) -> Result<Value, InstrFailure> {
    let done = on_value(instr, v, operands, holds);
    done.ok_or_else(|| wrong(instr, &[Data::Scalar(v)]))?.map_err(InstrFailure::Value)
}

/// `None` where the instruction isn't defined for the type.
fn on_value(instr: Instr, v: Value, operands: &[Data], holds: Holds) -> Option<Result<Value, InstrError>> {
    match instr {
        Instr::Neg => linear!(v, holds, x => { rt::instr::neg(&mut x); Ok(()) }),
        Instr::Conj => linear!(v, holds, x => { rt::instr::conj(&mut x); Ok(()) }),
        Instr::Inc => rings!(v, U => Ok(with(v, |x: &mut U| rt::instr::inc(x))?)),
        Instr::Dec => rings!(v, U => Ok(with(v, |x: &mut U| rt::instr::dec(x))?)),
        Instr::Inv => fields!(v, U => Ok(with(v, |x: &mut U| rt::instr::inv(x))?)),
        Instr::Flip => match v {
            Value::Bool(b) => Some(Ok(Value::Bool(!b))),
            _ => None,
        },
        Instr::MulInt => {
            let k = integer(operands.first()?)?;
            linear!(v, holds, x => rt::instr::mul_int(&mut x, k))
        }
        Instr::DivInt => {
            let k = integer(operands.first()?)?;
            linear!(v, holds, x => rt::instr::div_int(&mut x, k))
        }
        Instr::ScaleBy => scaled(v, operands.first()?, holds, true),
        Instr::UnscaleBy => scaled(v, operands.first()?, holds, false),
        Instr::Swap | Instr::Rot | Instr::Irot | Instr::Hadamard => None,
    }
}

fn with<T: Scalar>(v: Value, f: impl FnOnce(&mut T)) -> Option<Value> {
    let mut x = T::from_value(&v)?;
    f(&mut x);
    Some(x.to_value())
}

/// The operand of `mul_int` and `div_int`.
fn integer(d: &Data) -> Option<i64> {
    let n = match d {
        Data::Scalar(v) if v.is_integer() => v.to_num(),
        Data::Literal(n @ Number::Int(_)) => literal_number(*n),
        _ => return None,
    };
    Some(i64::from_number(n))
}

/// `v·c` or `v/c`.
fn scaled(v: Value, c: &Data, holds: Holds, by: bool) -> Option<Result<Value, InstrError>> {
    let c = match c {
        Data::Scalar(c) if holds == Holds::Shadows => alike(&v, c.widened())?,
        Data::Scalar(c) => alike(&v, *c)?,
        Data::Literal(n) => v.same_type(literal_number(*n))?,
        _ => return None,
    };
    rings!(v, U => {
        let (mut x, c) = (U::from_value(&v)?, U::from_value(&c)?);
        let done = if by { rt::instr::scale_by(&mut x, c) } else { rt::instr::unscale_by(&mut x, c) };
        done.map(|()| x.to_value())
    })
}

fn on_two(instr: Instr, a: &Data, b: &Data, operands: &[Data]) -> Result<(Data, Data), InstrFailure> {
    let width = [a, b].iter().find_map(|d| if let Data::Lanes(l) = d { Some(l.len()) } else { None });
    let pair = |k| match (lane(a, k), lane(b, k)) {
        (Data::None, Data::None) => Some((Data::None, Data::None)),
        (a, b) => two_values(instr, &a, &b, operands),
    };
    let failure = || wrong(instr, &[a.clone(), b.clone()]);
    let Some(n) = width else { return pair(0).ok_or_else(failure) };
    let mut out = (Vec::new(), Vec::new());
    for k in 0..n {
        let (a, b) = pair(k).ok_or_else(failure)?;
        out.0.push(a.as_value().ok_or_else(failure)?);
        out.1.push(b.as_value().ok_or_else(failure)?);
    }
    Ok((Data::Lanes(out.0), Data::Lanes(out.1)))
}

/// A rotation of cotangents by an angle of 16 bits, whose sine and cosine are of its type.
fn rotated_wide<T: Half>(instr: Instr, a: f32, b: f32, theta: T) -> (Data, Data) {
    let (mut x, mut y) = (WideBatch::<T, 1>::from(a), WideBatch::from(b));
    if instr == Instr::Rot {
        rt::instr::rot(&mut x, &mut y, theta);
    } else {
        rt::instr::irot(&mut x, &mut y, theta);
    }
    (Data::scalar(x.get()), Data::scalar(y.get()))
}

fn two_values(instr: Instr, a: &Data, b: &Data, operands: &[Data]) -> Option<(Data, Data)> {
    let key = a.as_value().or(b.as_value()).unwrap_or(Value::F64(0.0));
    let get = |d: &Data| match d {
        Data::Scalar(v) => Some(*v),
        Data::Literal(n) => key.same_type(literal_number(*n)),
        _ => None,
    };
    let (a, b) = (get(a)?, get(b)?);
    match instr {
        Instr::Rot | Instr::Irot => {
            let theta = get(operands.first()?)?;
            match (theta, a, b) {
                (Value::F16(t), Value::F32(a), Value::F32(b)) => return Some(rotated_wide(instr, a, b, t)),
                (Value::Bf16(t), Value::F32(a), Value::F32(b)) => return Some(rotated_wide(instr, a, b, t)),
                _ => {}
            }
            reals!(key, U => {
                let (mut x, mut y, t) = (U::from_value(&a)?, U::from_value(&b)?, U::from_value(&theta)?);
                if instr == Instr::Rot {
                    rt::instr::rot(&mut x, &mut y, t);
                } else {
                    rt::instr::irot(&mut x, &mut y, t);
                }
                (Data::scalar(x), Data::scalar(y))
            })
        }
        Instr::Hadamard => fields!(key, U => {
            let (mut x, mut y) = (U::from_value(&a)?, U::from_value(&b)?);
            rt::instr::hadamard(&mut x, &mut y);
            (Data::scalar(x), Data::scalar(y))
        }),
        Instr::Swap
        | Instr::Neg
        | Instr::Inc
        | Instr::Dec
        | Instr::Flip
        | Instr::Conj
        | Instr::Inv
        | Instr::MulInt
        | Instr::DivInt
        | Instr::ScaleBy
        | Instr::UnscaleBy => None,
    }
}
