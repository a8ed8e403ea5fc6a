//! Values of any type as trees: what the interpreter's memory is made of.

use super::variants::keep_variants;
use super::Value;
use crate::error::{Cause, Error};
use crate::ir::Number;
use crate::scalar::{Mismatch, Num};
use crate::tolerance::Tolerances;
use std::fmt;
use std::sync::Arc;

/// A value of any type.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A scalar, and the shadow of one that is one cotangent wide.
    Scalar(Value),
    /// A number whose type isn't known yet: it takes the type of what it meets.
    Literal(Number),
    /// The shadow of a scalar: several cotangents.
    Lanes(Vec<Value>),
    /// A slice, vector, n-dimensional or fixed-size array, in row-major order.
    Array(Array),
    /// A tuple.
    Tuple(Vec<Data>),
    /// A struct.
    Struct(Record),
    /// A stack, its bottom first.
    Stack(Vec<Data>),
    /// A reversible function, by its unique name in the module.
    Function(Arc<str>),
    /// The shadow of what carries no derivative.
    None,
}

/// An array.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The length along each axis.
    pub shape: Vec<usize>,
    /// The elements in row-major order.
    pub elements: Vec<Data>,
}

impl Array {
    /// Equal elements in a shape; none where there is no memory for as many.
    pub fn filled(element: &Data, shape: Vec<usize>) -> Option<Array> {
        let count = shape.iter().try_fold(1usize, |count, n| count.checked_mul(*n))?;
        let mut elements = Vec::new();
        elements.try_reserve_exact(count).ok()?;
        elements.resize(count, element.clone());
        Some(Array { shape, elements })
    }
}

/// A struct's value.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The struct's name.
    pub name: Arc<str>,
    /// Names and values of its fields, in order.
    pub fields: Vec<(Arc<str>, Data)>,
}

impl From<Value> for Data {
    fn from(value: Value) -> Data {
        Data::Scalar(value)
    }
}

impl Data {
    /// A scalar.
    pub fn scalar<T: crate::scalar::Scalar>(v: T) -> Data {
        Data::Scalar(v.to_value())
    }

    /// A one-dimensional array.
    pub fn vector(elements: Vec<Data>) -> Data {
        Data::Array(Array { shape: vec![elements.len()], elements })
    }

    /// A struct.
    pub fn record<const K: usize>(name: &str, fields: [(&str, Data); K]) -> Data {
        let fields = fields.into_iter().map(|(n, d)| (Arc::from(n), d)).collect();
        Data::Struct(Record { name: Arc::from(name), fields })
    }

    /// A struct's field.
    pub fn field(&self, name: &str) -> Result<&Data, Error> {
        let found = match self {
            Data::Struct(r) => r.fields.iter().find(|(n, _)| **n == *name).map(|(_, d)| d),
            _ => None,
        };
        found.ok_or_else(|| self.type_error("a field", format!("a struct with a field `{name}`")))
    }

    /// An error about a value of the wrong kind.
    pub fn type_error(&self, operation: &'static str, expected: impl Into<String>) -> Error {
        Cause::Type { operation: operation.into(), expected: expected.into().into(), found: self.kind() }
            .into()
    }

    /// What kind of value this is, for messages.
    pub fn kind(&self) -> String {
        match self {
            Data::Scalar(v) => v.type_name(),
            Data::Literal(_) => "a literal".into(),
            Data::Lanes(l) => format!("a shadow of width {}", l.len()),
            Data::Array(a) => format!("an array of shape {:?}", a.shape),
            Data::Tuple(t) => format!("a tuple of {}", t.len()),
            Data::Struct(r) => format!("a `{}`", r.name),
            Data::Stack(_) => "a stack".into(),
            Data::Function(name) => format!("the function `{name}`"),
            Data::None => "no shadow".into(),
        }
    }

    /// The scalar, `None` for anything else.
    pub fn as_value(&self) -> Option<Value> {
        match self {
            Data::Scalar(v) => Some(*v),
            _ => None,
        }
    }

    /// The elements, fields or values inside.
    pub fn children(&self) -> Box<dyn Iterator<Item = &Data> + '_> {
        match self {
            Data::Array(a) => Box::new(a.elements.iter()),
            Data::Tuple(es) | Data::Stack(es) => Box::new(es.iter()),
            Data::Struct(r) => Box::new(r.fields.iter().map(|(_, d)| d)),
            Data::Scalar(_) | Data::Literal(_) | Data::Lanes(_) | Data::Function(_) | Data::None => {
                Box::new(std::iter::empty())
            }
        }
    }

    /// The same shape with every leaf replaced.
    pub fn map(&self, f: &dyn Fn(&Data) -> Data) -> Data {
        let each = |es: &[Data]| es.iter().map(|e| e.map(f)).collect();
        match self {
            Data::Array(a) => Data::Array(Array { shape: a.shape.clone(), elements: each(&a.elements) }),
            Data::Tuple(es) => Data::Tuple(each(es)),
            Data::Stack(es) => Data::Stack(each(es)),
            Data::Struct(r) => Data::Struct(Record {
                name: r.name.clone(),
                fields: r.fields.iter().map(|(n, d)| (n.clone(), d.map(f))).collect(),
            }),
            leaf @ (Data::Scalar(_) | Data::Literal(_) | Data::Lanes(_) | Data::Function(_) | Data::None) => {
                f(leaf)
            }
        }
    }

    /// The shadow of zeros: the same shape, with nothing where there is no derivative. One cotangent
    /// wide; it widens when it meets wider ones.
    pub fn zero_shadow(&self) -> Data {
        self.map(&|leaf| match leaf {
            Data::Scalar(v) if v.is_inactive() => Data::None,
            Data::Scalar(v) => Data::Scalar(v.widened().zero_like()),
            Data::Lanes(l) => Data::Lanes(l.iter().map(|v| v.widened().zero_like()).collect()),
            Data::Literal(Number::Bool(_)) | Data::Function(_) | Data::None => Data::None,
            _ => Data::Literal(Number::Int(0)),
        })
    }

    /// The same numbers in the type of their cotangents ([`Value::widened`]).
    pub fn widened(self) -> Data {
        let each = |es: Vec<Data>| es.into_iter().map(Data::widened).collect();
        match self {
            Data::Scalar(v) => Data::Scalar(v.widened()),
            Data::Lanes(l) => Data::Lanes(l.into_iter().map(Value::widened).collect()),
            Data::Array(a) => Data::Array(Array { shape: a.shape, elements: each(a.elements) }),
            Data::Tuple(es) => Data::Tuple(each(es)),
            Data::Stack(es) => Data::Stack(each(es)),
            Data::Struct(r) => Data::Struct(Record {
                name: r.name,
                fields: r.fields.into_iter().map(|(n, d)| (n, d.widened())).collect(),
            }),
            leaf @ (Data::Literal(_) | Data::Function(_) | Data::None) => leaf,
        }
    }

    /// Whether some number in it has fewer digits than an `f64`: 32 bits or 16.
    pub fn has_narrow(&self) -> bool {
        match self {
            Data::Scalar(v) => v.is_half() || matches!(v, Value::F32(_) | Value::Complex32(_)),
            Data::Array(a) => a.elements.iter().any(Data::has_narrow),
            Data::Tuple(es) | Data::Stack(es) => es.iter().any(Data::has_narrow),
            Data::Struct(r) => r.fields.iter().any(|(_, d)| d.has_narrow()),
            Data::Literal(_) | Data::Lanes(_) | Data::Function(_) | Data::None => false,
        }
    }

    /// The zero of the same shape; a stack's is empty.
    pub fn zero_like(&self) -> Data {
        match self {
            Data::Stack(_) => Data::Stack(Vec::new()),
            Data::Array(a) => Data::Array(Array {
                shape: a.shape.clone(),
                elements: a.elements.iter().map(Data::zero_like).collect(),
            }),
            Data::Tuple(es) => Data::Tuple(es.iter().map(Data::zero_like).collect()),
            Data::Struct(r) => Data::Struct(Record {
                name: r.name.clone(),
                fields: r.fields.iter().map(|(n, d)| (n.clone(), d.zero_like())).collect(),
            }),
            Data::Scalar(v) => Data::Scalar(v.zero_like()),
            Data::Lanes(l) => Data::Lanes(l.iter().map(Value::zero_like).collect()),
            Data::Literal(Number::Bool(_)) => Data::Literal(Number::Bool(false)),
            Data::Literal(Number::Int(_)) => Data::Literal(Number::Int(0)),
            Data::Literal(Number::Float(_)) => Data::Literal(Number::Float(0.0)),
            Data::Function(_) | Data::None => self.clone(),
        }
    }

    /// Zeros of the same shape, in stacks as many as there are values, and in enums of the same variant.
    pub fn zeros(&self) -> Data {
        let mut zeros = self.map(&Data::zero_like);
        keep_variants(&mut zeros, self);
        zeros
    }

    /// The largest absolute value in it; NaN if any is.
    pub fn magnitude(&self) -> f64 {
        let larger = |a: f64, b: f64| if a > b || a.is_nan() { a } else { b };
        match self {
            Data::Scalar(v) => v.magnitude(),
            Data::Literal(n) => literal_number(*n).to_f64().abs(),
            Data::Lanes(l) => l.iter().map(Value::magnitude).fold(0.0, larger),
            _ => self.children().map(Data::magnitude).fold(0.0, larger),
        }
    }

    /// Whether this value may stand for `expected`, as [`Primal::compare`](crate::scalar::Primal::compare) says. A literal on either
    /// side takes the other's type.
    pub fn compare(
        &self,
        expected: &Data,
        tolerances: &Tolerances,
        held: Option<f64>,
    ) -> Result<(), Mismatch> {
        let differ =
            || Err(Mismatch { path: String::new(), expected: expected.to_string(), found: self.to_string() });
        let each = |found: &[Data], expected: &[Data]| {
            for (k, (a, b)) in found.iter().zip(expected).enumerate() {
                a.compare(b, tolerances, held).map_err(|m| m.within(format_args!("[{k}]")))?;
            }
            if found.len() == expected.len() {
                Ok(())
            } else {
                differ()
            }
        };
        match (self, expected) {
            (Data::Array(a), Data::Array(b)) if a.shape == b.shape => each(&a.elements, &b.elements),
            (Data::Tuple(a), Data::Tuple(b)) => each(a, b),
            (Data::Stack(a), Data::Stack(b)) => each(a, b),
            (Data::Struct(a), Data::Struct(b)) if a.fields.len() == b.fields.len() => {
                for ((name, x), (_, y)) in a.fields.iter().zip(&b.fields) {
                    x.compare(y, tolerances, held).map_err(|m| m.within(format_args!(".{name}")))?;
                }
                Ok(())
            }
            (Data::None, Data::None) => Ok(()),
            (Data::Function(a), Data::Function(b)) if a == b => Ok(()),
            _ => {
                let (a, b) = (self.lanes_like(expected), expected.lanes_like(self));
                let close = a.len() == b.len()
                    && !a.is_empty()
                    && a.iter().zip(&b).all(|(a, b)| a.is_close(b, tolerances, held));
                if close {
                    Ok(())
                } else {
                    differ()
                }
            }
        }
    }

    /// The scalars of a scalar or of the shadow of one, as many and of the type of the other's; none
    /// where it isn't one.
    fn lanes_like(&self, other: &Data) -> Vec<Value> {
        let width = if let Data::Lanes(l) = other { l.len() } else { 1 };
        match (self, other) {
            (Data::Scalar(v), _) => vec![*v; width],
            (Data::Lanes(l), _) => l.clone(),
            (Data::Literal(n), Data::Scalar(v)) => {
                v.same_type(literal_number(*n)).map_or(vec![], |v| vec![v])
            }
            (Data::Literal(n), Data::Lanes(l)) => {
                l.iter().filter_map(|v| v.same_type(literal_number(*n))).collect()
            }
            (Data::Literal(n), Data::Literal(m)) => {
                let float = matches!((n, m), (Number::Float(_), _) | (_, Number::Float(_)));
                vec![default_value(*n, float)]
            }
            _ => Vec::new(),
        }
    }
}

/// A literal as a number.
pub(crate) fn literal_number(n: Number) -> Num {
    match n {
        Number::Int(v) => i64::try_from(v).map_or(Num::Wide(v), Num::Int),
        Number::Float(v) => Num::Float(v),
        Number::Bool(v) => Num::Uint(v.into()),
    }
}

/// The value of a literal whose type nothing says.
pub(crate) fn default_value(n: Number, float: bool) -> Value {
    match n {
        Number::Int(v) if float => Value::F64(v as f64),
        Number::Int(v) => Value::I128(v),
        Number::Float(v) => Value::F64(v),
        Number::Bool(v) => Value::Bool(v),
    }
}

impl fmt::Display for Data {
    /// Like Rust's `Debug`, but with at most six elements of an array.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, es: &[Data], open: &str, close: &str| {
            f.write_str(open)?;
            for (k, e) in es.iter().take(6).enumerate() {
                write!(f, "{}{e}", if k == 0 { "" } else { ", " })?;
            }
            write!(f, "{}{close}", if es.len() > 6 { ", …" } else { "" })
        };
        match self {
            Data::Scalar(v) => write!(f, "{v}"),
            Data::Literal(Number::Int(v)) => write!(f, "{v}"),
            Data::Literal(Number::Float(v)) => write!(f, "{v:?}"),
            Data::Literal(Number::Bool(v)) => write!(f, "{v}"),
            Data::Lanes(l) => {
                let lanes: Vec<Data> = l.iter().map(|v| Data::Scalar(*v)).collect();
                list(f, &lanes, "<", ">")
            }
            Data::Array(a) => list(f, &a.elements, "[", "]"),
            Data::Tuple(es) => list(f, es, "(", ")"),
            Data::Stack(es) => list(f, es, "stack[", "]"),
            Data::Struct(r) => {
                write!(f, "{} {{", r.name)?;
                for (k, (name, d)) in r.fields.iter().enumerate() {
                    write!(f, "{} {name}: {d}", if k == 0 { "" } else { "," })?;
                }
                f.write_str(" }")
            }
            Data::Function(name) => f.write_str(name),
            Data::None => f.write_str("()"),
        }
    }
}
