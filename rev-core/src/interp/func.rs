//! The functions of the table on dynamic values: each row is dispatched to its function in
//! [`rt`](crate::scalar::rt) by the type of its arguments. The arms are made from the table, by the
//! row's class and shapes, so a new row needs nothing here.

use super::types::{
    arm, arms, each_value, each_value_row, fields, integers, numbers, ordered, reals, rings, scalars, xors,
};
use crate::error::Cause;
use crate::ir::Number;
use crate::ops::{Func, Shape};
use crate::scalar::{bf16, f16, rt, Complex, Field, FixedPoint, Integer, Ring, Scalar};
use crate::value::{literal_number, Data, Value};

/// Applies a function of the table.
pub(super) fn apply(func: Func, args: &[Data]) -> Result<Data, Cause> {
    // `/` of integers whose type the compiler didn't see
    let func = match (func, args) {
        (Func::Div, [Data::Scalar(v), _] | [_, Data::Scalar(v)]) if v.is_integer() => Func::Quot,
        _ => func,
    };
    let row = func.row();
    if args.len() != row.args.len() {
        return Err(mistyped(func, args));
    }
    let on_shadow = matches!(row.args.first(), Some(Shape::S | Shape::SR));
    // no shadow, or one that there isn't as a factor: in the adjoint of an adjoint shadows are numbers as well
    if (on_shadow || func == Func::Conj) && args.contains(&Data::None) {
        return Ok(Data::None);
    }
    let width = args.iter().find_map(|a| if let Data::Lanes(l) = a { Some(l.len()) } else { None });
    if let Some(width) = width {
        return (0..width).map(|k| lane(func, args, k)).collect::<Result<_, _>>().map(Data::Lanes);
    }
    if on_shadow {
        // cotangents of numbers of 16 bits are in `f32`, where all is computed that they meet
        let args: Vec<Data> = args.iter().map(|a| a.clone().widened()).collect();
        return apply_scalars(func, row.args, &args, true);
    }
    apply_scalars(func, row.args, args, false)
}

/// One lane of a function of shadows.
fn lane(func: Func, args: &[Data], k: usize) -> Result<Value, Cause> {
    let args: Vec<Data> = args
        .iter()
        .map(|a| match a {
            Data::Lanes(l) => l.get(k).copied().map_or(Data::None, Data::Scalar),
            _ => a.clone(),
        })
        .collect();
    match apply(func, &args)? {
        Data::Scalar(v) => Ok(v),
        _ => Err(mistyped(func, &args)),
    }
}

fn mistyped(func: Func, args: &[Data]) -> Cause {
    let found: Vec<String> = args.iter().map(Data::kind).collect();
    Cause::Type {
        operation: func.name().into(),
        expected: format!("{:?} of {:?}", func.row().class, func.row().args).into(),
        found: found.join(", "),
    }
}

fn apply_scalars(func: Func, shapes: &[Shape], args: &[Data], on_shadow: bool) -> Result<Data, Cause> {
    let numeric = |s: &Shape| matches!(s, Shape::T | Shape::S | Shape::R | Shape::SR);
    let typed = || shapes.iter().zip(args).filter(|(s, _)| numeric(s)).filter_map(|(_, a)| a.as_value());
    // a cotangent of the type of the second, as a program on numbers says `shadow_of`: one that turned out to be
    // imaginary goes back to a real number by its real part, a real one is that part of a complex number
    if let (Func::Select, [cond, Data::Scalar(a), Data::Scalar(b)]) = (func, args) {
        let alike = match (a.parts(), b.parts()) {
            (Some((re, _)), None) => Some(re),
            (None, Some(_)) => lift(*a, b),
            (None, None) | (Some(_), Some(_)) => None,
        };
        if let Some(a) = alike {
            return apply_scalars(func, shapes, &[cond.clone(), Data::Scalar(a), args[2].clone()], on_shadow);
        }
    }
    let key = match typed().find(|v| v.parts().is_some()).or_else(|| typed().next()) {
        Some(key) => key,
        None if shapes.iter().any(numeric) => return literals(func, shapes, args),
        None => Value::Bool(false),
    };
    // a cotangent that came from a real part may meet a complex number, whose type it then takes
    let convert = |shape: &Shape, a: &Data| match (shape, a) {
        (Shape::T | Shape::S, Data::Literal(n)) => key.same_type(literal_number(*n)),
        (Shape::R | Shape::SR, Data::Literal(n)) => {
            key.parts().map_or(key, |(re, _)| re).same_type(literal_number(*n))
        }
        (Shape::I, Data::Literal(n)) => Some(Value::I32(i32::from_number(literal_number(*n)))),
        (Shape::I, Data::Scalar(v)) if v.is_integer() => Some(Value::I32(i32::from_number(v.to_num()))),
        (Shape::S | Shape::T, Data::Scalar(v)) if on_shadow => lift(*v, &key),
        (Shape::B, Data::Literal(Number::Bool(b))) => Some(Value::Bool(*b)),
        (_, Data::Scalar(v)) => Some(*v),
        _ => None,
    };
    let values: Option<Vec<Value>> = shapes.iter().zip(args).map(|(s, a)| convert(s, a)).collect();
    values
        .and_then(|values| dispatch(func, &key, &values))
        .ok_or_else(|| mistyped(func, args))?
        .map(Data::Scalar)
}

/// A real number as a complex one of the key's type, where the key is complex.
fn lift(v: Value, key: &Value) -> Option<Value> {
    match (v.parts(), key.parts()) {
        (None, Some((_, im))) => Value::complex(v, im.zero_like()),
        _ => Some(v),
    }
}

/// Arithmetic on literals alone: in `f64` where anything isn't an integer, else exactly. The result
/// is again a number whose type isn't known.
fn literals(func: Func, shapes: &[Shape], args: &[Data]) -> Result<Data, Cause> {
    use crate::ir::Class;
    let float = matches!(func.row().class, Class::Field | Class::Real)
        || args.iter().any(|a| matches!(a, Data::Literal(Number::Float(_))));
    let sample = if float { Value::F64(0.0) } else { Value::I128(0) };
    let typed: Vec<Data> = shapes
        .iter()
        .zip(args)
        .map(|(shape, a)| match (shape, a) {
            (Shape::T | Shape::S | Shape::R | Shape::SR, Data::Literal(Number::Bool(b))) => Data::scalar(*b),
            (Shape::T | Shape::S | Shape::R | Shape::SR, Data::Literal(n)) => {
                sample.same_type(literal_number(*n)).map_or(Data::None, Data::Scalar)
            }
            _ => a.clone(),
        })
        .collect();
    if typed.iter().all(|a| !matches!(a, Data::Scalar(_))) {
        return Err(mistyped(func, args));
    }
    Ok(match apply(func, &typed)? {
        Data::Scalar(Value::I128(v)) => Data::Literal(Number::Int(v)),
        Data::Scalar(Value::F64(v)) => Data::Literal(Number::Float(v)),
        other => other,
    })
}

/// The next argument, as a `T`.
fn next<'a, T: Scalar>(args: &mut impl Iterator<Item = &'a Value>) -> Option<T> {
    T::from_value(args.next()?)
}

/// A real cotangent times a number: the cotangent of a possibly complex variable.
fn scale_real<T: Field>(c: T::Real, t: T) -> Option<Value> {
    let re = c.times(t.re()).to_value();
    match t.to_value().parts() {
        Some(_) => Value::complex(re, c.times(t.im()).to_value()),
        None => Some(re),
    }
}

/// The number with only an imaginary part.
fn imaginary(im: Value) -> Option<Value> {
    Value::complex(im.zero_like(), im)
}

/// An argument of a row, by its shape.
macro_rules! take {
    (T $T:ident $it:ident) => {
        next::<$T>(&mut $it)?
    };
    (S $T:ident $it:ident) => {
        next::<$T>(&mut $it)?
    };
    (I $T:ident $it:ident) => {
        next::<i32>(&mut $it)?
    };
    (B $T:ident $it:ident) => {
        next::<bool>(&mut $it)?
    };
    (SR $T:ident $it:ident) => {
        next::<<$T as Field>::Real>(&mut $it)?
    };
}

/// A row on its arguments: by class, shapes, result and name; exceptions first.
macro_rules! row {
    (Integer (T T) T quot, $key:ident, $it:ident) => {
        integers!(*$key, U => quotient(next::<U>(&mut $it)?.quotient(next::<U>(&mut $it)?)))
    };
    (Integer (T T) T rem, $key:ident, $it:ident) => {
        integers!(*$key, U => quotient(next::<U>(&mut $it)?.remainder(next::<U>(&mut $it)?)))
    };
    (Field (SR T) S scale_real, $key:ident, $it:ident) => {
        fields!(*$key, U => Ok(scale_real::<U>(take!(SR U $it), take!(T U $it))?))
    };
    (Scalar (S T) S shadow_of, $key:ident, $it:ident) => {
        scalars!(*$key, U => next::<U>(&mut $it).map(|s| Ok(s.to_value()))?)
    };
    // a real cotangent stays one until it meets a complex variable
    (Field (SR) S shadow_from_re, $key:ident, $it:ident) => { $it.next().map(|v| Ok(*v)) };
    (Field (SR) S shadow_from_im, $key:ident, $it:ident) => { $it.next().and_then(|v| imaginary(*v)).map(Ok) };
    (Scalar (T T) T bit_xor, $key:ident, $it:ident) => {
        xors!(*$key, U => Ok(rt::bit_xor(take!(T U $it), take!(T U $it)).to_value()))
    };
    (Scalar (T) T $name:ident, $key:ident, $it:ident) => {
        scalars!(*$key, U => Ok(rt::$name(take!(T U $it)).to_value()))
    };
    (Scalar (T T) B eq, $key:ident, $it:ident) => {
        scalars!(*$key, U => Ok(rt::eq(take!(T U $it), take!(T U $it)).to_value()))
    };
    (Scalar (T T) B ne, $key:ident, $it:ident) => {
        scalars!(*$key, U => Ok(rt::ne(take!(T U $it), take!(T U $it)).to_value()))
    };
    (Scalar (B T T) T $name:ident, $key:ident, $it:ident) => {
        scalars!(*$key, U => Ok(rt::$name(take!(B U $it), take!(T U $it), take!(T U $it)).to_value()))
    };
    (Scalar (T $($s:ident)*) $r:ident $name:ident, $key:ident, $it:ident) => {
        ordered!(*$key, U => Ok(rt::$name::<U>(take!(T U $it) $(, take!($s U $it))*).to_value()))
    };
    (Scalar (B $($s:ident)*) B $name:ident, $key:ident, $it:ident) => {
        Some(Ok(rt::$name(next::<bool>(&mut $it)? $(, take!($s bool $it))*).to_value()))
    };
    (Ring (T) T abs, $key:ident, $it:ident) => {
        numbers!(*$key, U => Ok(rt::abs::<U>(take!(T U $it)).to_value()))
    };
    (Ring ($($s:ident)*) $r:ident $name:ident, $key:ident, $it:ident) => {
        rings!(*$key, U => Ok(rt::$name::<U>($(take!($s U $it)),*).to_value()))
    };
    (Integer ($($s:ident)*) $r:ident $name:ident, $key:ident, $it:ident) => {
        integers!(*$key, U => Ok(rt::$name::<U>($(take!($s U $it)),*).to_value()))
    };
    (Field ($($s:ident)*) $r:ident $name:ident, $key:ident, $it:ident) => {
        fields!(*$key, U => Ok(rt::$name::<U>($(take!($s U $it)),*).to_value()))
    };
    (Real ($($s:ident)*) $r:ident $name:ident, $key:ident, $it:ident) => {
        reals!(*$key, U => Ok(rt::$name::<U>($(take!($s U $it)),*).to_value()))
    };
}

fn quotient<T: Scalar>(q: Option<T>) -> Result<Value, Cause> {
    q.map(T::to_value).ok_or(Cause::DivisionByZero)
}

macro_rules! define_dispatch {
    ($(($variant:ident $name:ident $class:ident ($($shape:ident)*) $result:ident $($derivative:tt)*))*) => {
        /// Applies a function to values of the types it expects, `None` where they aren't.
        fn dispatch(func: Func, key: &Value, args: &[Value]) -> Option<Result<Value, Cause>> {
            let mut it = args.iter();
            match func {
                $(Func::$variant => row!($class ($($shape)*) $result $name, key, it),)*
            }
        }
    };
}
rev_compiler::func_table!(define_dispatch);
