//! Values between the host and device memory: trees of scalars to planes and back, as
//! [`crate::layout`] says.

use crate::kernel::Ty;
use crate::layout::{buffer_bytes, plane_offset, STACK_HEADER};
use crate::lower::{of_value, ArgumentType};
use rev_core::error::Error;
use rev_core::ir::{ScalarType, Type};
use rev_core::value::{Array, Data, Record, Value};

/// A value as it lies in device memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packed {
    /// The length along each axis; none for a scalar, tuple or struct; of a stack its capacity.
    pub shape: Vec<usize>,
    /// The planes.
    pub bytes: Vec<u8>,
}

/// The bytes of a value of a type and shape.
pub fn value_bytes(shape: &[usize], ty: &ArgumentType) -> usize {
    header(ty) + buffer_bytes(count(shape).unwrap_or(0), &ty.leaves())
}

/// The bytes before a value's planes.
fn header(ty: &ArgumentType) -> usize {
    match ty {
        ArgumentType::Stack(_) => STACK_HEADER,
        ArgumentType::Scalar(_)
        | ArgumentType::Complex(_)
        | ArgumentType::Shadow { .. }
        | ArgumentType::Fixed(..)
        | ArgumentType::Tuple(_)
        | ArgumentType::Struct(..)
        | ArgumentType::Array(..)
        | ArgumentType::Function(_)
        | ArgumentType::None => 0,
    }
}

/// Where each plane of a value starts, and its type.
pub fn planes(shape: &[usize], ty: &ArgumentType) -> Vec<(usize, Ty)> {
    let (leaves, count, header) = (ty.leaves(), count(shape).unwrap_or(0), header(ty));
    leaves.iter().enumerate().map(|(k, ty)| (header + plane_offset(count, &leaves, k), *ty)).collect()
}

impl Packed {
    /// The first scalar of a value without axes, if it is an integer or truth value, extended to 64
    /// bits.
    pub fn integer(&self, ty: &ArgumentType) -> Option<i64> {
        let leaf = *ty.leaves().first()?;
        if !self.shape.is_empty() || leaf.is_float() {
            return None;
        }
        Some(extend(read(&self.bytes, leaf), leaf))
    }
}

/// The number of elements of a shape.
pub fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, len| n.checked_mul(*len))
}

/// The bits of an integer as a signed number.
pub fn extend(bits: u64, ty: Ty) -> i64 {
    match ty {
        Ty::I8 => (bits as i8).into(),
        Ty::I16 => (bits as i16).into(),
        Ty::I32 => (bits as i32).into(),
        Ty::Pred
        | Ty::U8
        | Ty::U16
        | Ty::U32
        | Ty::U64
        | Ty::I64
        | Ty::F16
        | Ty::Bf16
        | Ty::F32
        | Ty::F64 => bits as i64,
    }
}

/// The bits of a value in memory; 0 beyond its end.
pub fn read(bytes: &[u8], ty: Ty) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes.iter().take(ty.size())) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

/// The element that is `k`-th in row-major order, by its number in memory, where the first axis is
/// fastest.
struct Transposed<'a> {
    shape: &'a [usize],
    index: Vec<usize>,
    strides: Vec<usize>,
    at: usize,
}

impl<'a> Transposed<'a> {
    fn new(shape: &'a [usize]) -> Self {
        let mut strides = Vec::with_capacity(shape.len());
        let mut stride = 1usize;
        for len in shape {
            strides.push(stride);
            stride = stride.wrapping_mul(*len);
        }
        Transposed { shape, index: vec![0; shape.len()], strides, at: 0 }
    }

    /// The current element's number in memory; moves on to the next, the last axis fastest.
    fn next(&mut self) -> usize {
        let at = self.at;
        for axis in (0..self.shape.len()).rev() {
            self.index[axis] += 1;
            self.at += self.strides[axis];
            if self.index[axis] < self.shape[axis] {
                break;
            }
            self.at -= self.strides[axis] * self.index[axis];
            self.index[axis] = 0;
        }
        at
    }
}

/// The planes of a value of a type. A stack gets room for `room` values, or for those that it has
/// where they are more.
///
/// # Errors
///
/// A value of another type.
pub fn pack(data: &Data, ty: &ArgumentType, room: usize) -> Result<Packed, Error> {
    let (element, shape, elements) = match (ty, data) {
        (ArgumentType::Array(element, rank), Data::Array(a)) if a.shape.len() == *rank => {
            (&**element, a.shape.clone(), a.elements.as_slice())
        }
        (ArgumentType::Stack(element), Data::Stack(values)) => {
            (&**element, vec![values.len().max(room)], values.as_slice())
        }
        (ArgumentType::Array(..) | ArgumentType::Stack(_), _) => return Err(mismatch(data, ty)),
        _ => (ty, Vec::new(), std::slice::from_ref(data)),
    };
    let mut bytes = vec![0; value_bytes(&shape, ty)];
    if matches!(ty, ArgumentType::Stack(_)) {
        bytes[..8].copy_from_slice(&(elements.len() as u64).to_le_bytes());
    }
    let planes = planes(&shape, ty);
    let mut order = Transposed::new(&shape);
    for data in elements {
        let at = order.next();
        let mut rest = planes.iter();
        put(data, element, &mut |bits: u64| {
            if let Some((offset, ty)) = rest.next() {
                let start = offset + at * ty.size();
                bytes[start..start + ty.size()].copy_from_slice(&bits.to_le_bytes()[..ty.size()]);
            }
        })?;
    }
    Ok(Packed { shape, bytes })
}

/// Writes the leaves of a value without axes.
pub fn put(data: &Data, ty: &ArgumentType, write: &mut dyn FnMut(u64)) -> Result<(), Error> {
    match (ty, data) {
        (ArgumentType::None | ArgumentType::Function(_), _) => Ok(()),
        (ArgumentType::Scalar(_) | ArgumentType::Complex(_), Data::Scalar(v)) if of_value(v) == *ty => {
            put_value(v, write);
            Ok(())
        }
        (ArgumentType::Shadow { complex, width, .. }, Data::Lanes(lanes)) if lanes.len() == *width => {
            put_lanes(lanes, *complex, write);
            Ok(())
        }
        // One cotangent stands for all.
        (ArgumentType::Shadow { complex, width, .. }, Data::Scalar(v)) => {
            put_lanes(&vec![*v; *width], *complex, write);
            Ok(())
        }
        (ArgumentType::Fixed(element, length), Data::Array(a)) if a.elements.len() == *length => {
            a.elements.iter().try_for_each(|e| put(e, element, write))
        }
        (ArgumentType::Tuple(types), Data::Tuple(es)) if types.len() == es.len() => {
            types.iter().zip(es).try_for_each(|(t, e)| put(e, t, write))
        }
        (ArgumentType::Struct(_, types), Data::Struct(r)) if types.len() == r.fields.len() => {
            types.iter().zip(&r.fields).try_for_each(|((_, t), (_, e))| put(e, t, write))
        }
        _ => Err(mismatch(data, ty)),
    }
}

/// A value of another type.
pub fn mismatch(data: &Data, ty: &ArgumentType) -> Error {
    data.type_error("a value for device memory", describe(ty))
}

/// What a type is, for messages.
pub fn describe(ty: &ArgumentType) -> String {
    match ty {
        ArgumentType::Scalar(t) => t.name().into(),
        ArgumentType::Complex(t) => format!("Complex<{}>", t.name()),
        ArgumentType::Shadow { width, .. } => format!("a shadow of width {width}"),
        ArgumentType::Fixed(t, n) => format!("[{}; {n}]", describe(t)),
        ArgumentType::Tuple(ts) => {
            format!("({})", ts.iter().map(describe).collect::<Vec<_>>().join(", "))
        }
        ArgumentType::Struct(name, _) => format!("a `{name}`"),
        ArgumentType::Array(t, rank) => format!("an array of {} with {rank} axes", describe(t)),
        ArgumentType::Stack(t) => format!("a stack of {}", describe(t)),
        ArgumentType::Function(name) => format!("the function `{name}`"),
        ArgumentType::None => "no shadow".into(),
    }
}

fn put_value(value: &Value, write: &mut dyn FnMut(u64)) {
    if let Some((re, im)) = value.parts() {
        put_value(&re, write);
        put_value(&im, write);
    } else if let (Some(bits), Type::Scalar(scalar)) = (value.to_bits(), value.ir_type()) {
        // the low half, then the high half
        write(bits as u64);
        if scalar.bits() == 128 {
            write((bits >> 64) as u64);
        }
    }
}

/// Of complex numbers all real parts, then all imaginary parts.
fn put_lanes(lanes: &[Value], complex: bool, write: &mut dyn FnMut(u64)) {
    if !complex {
        return lanes.iter().for_each(|v| put_value(v, write));
    }
    for imaginary in [false, true] {
        for (re, im) in lanes.iter().filter_map(Value::parts) {
            put_value(if imaginary { &im } else { &re }, write);
        }
    }
}

/// The value of a type that lies in planes.
///
/// # Errors
///
/// A type that has no values in device memory.
pub fn unpack(packed: &Packed, ty: &ArgumentType) -> Result<Data, Error> {
    let total = count(&packed.shape).unwrap_or(0);
    let planes = planes(&packed.shape, ty);
    let one = |element: &ArgumentType, at: usize| {
        let mut rest = planes.iter();
        take(element, &mut || {
            rest.next().map_or(0, |(offset, ty)| {
                packed.bytes.get(offset + at * ty.size()..).map_or(0, |b| read(b, *ty))
            })
        })
    };
    match ty {
        ArgumentType::Array(element, _) => {
            let mut order = Transposed::new(&packed.shape);
            let elements = (0..total).map(|_| one(element, order.next())).collect();
            Ok(Data::Array(Array { shape: packed.shape.clone(), elements }))
        }
        ArgumentType::Stack(element) => Ok(Data::Stack((0..held(packed)).map(|k| one(element, k)).collect())),
        _ => Ok(one(ty, 0)),
    }
}

/// How many values a stack holds.
pub fn held(packed: &Packed) -> usize {
    (read(&packed.bytes, Ty::U64) as usize).min(count(&packed.shape).unwrap_or(0))
}

/// Reads the leaves of a value without axes.
fn take(ty: &ArgumentType, next: &mut dyn FnMut() -> u64) -> Data {
    match ty {
        ArgumentType::Scalar(t) => Data::Scalar(take_value(*t, next)),
        ArgumentType::Complex(t) => {
            let (re, im) = (take_value(*t, next), take_value(*t, next));
            Data::Scalar(complex(re, im))
        }
        ArgumentType::Shadow { real, complex: false, width } => {
            Data::Lanes((0..*width).map(|_| take_value(*real, next)).collect())
        }
        ArgumentType::Shadow { real, complex: true, width } => {
            let re: Vec<Value> = (0..*width).map(|_| take_value(*real, next)).collect();
            Data::Lanes(re.into_iter().map(|re| complex(re, take_value(*real, next))).collect())
        }
        ArgumentType::Fixed(element, length) => {
            Data::vector((0..*length).map(|_| take(element, next)).collect())
        }
        ArgumentType::Tuple(types) => Data::Tuple(types.iter().map(|t| take(t, next)).collect()),
        ArgumentType::Struct(name, fields) => Data::Struct(Record {
            name: name.as_str().into(),
            fields: fields.iter().map(|(n, t)| (n.as_str().into(), take(t, next))).collect(),
        }),
        ArgumentType::Function(name) => Data::Function(name.as_str().into()),
        ArgumentType::Array(..) | ArgumentType::Stack(_) | ArgumentType::None => Data::None,
    }
}

fn complex(re: Value, im: Value) -> Value {
    Value::complex(re, im).unwrap_or(re)
}

fn take_value(ty: ScalarType, next: &mut dyn FnMut() -> u64) -> Value {
    let low = u128::from(next());
    let high = if ty.bits() == 128 { u128::from(next()) } else { 0 };
    Value::from_bits(ty, high << 64 | low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rev_core::scalar::{bf16, f16, Batch, Complex, ComplexShadow, WideBatch};
    use rev_core::value::DynArg;

    fn comes_back(data: &Data, ty: &ArgumentType) -> Packed {
        let packed = pack(data, ty, 4).unwrap();
        assert_eq!(&unpack(&packed, ty).unwrap(), data);
        packed
    }

    fn array(element: ArgumentType, rank: usize) -> ArgumentType {
        ArgumentType::Array(Box::new(element), rank)
    }

    #[test]
    fn every_type_comes_back() {
        use rev_core::ir::FixedFormat;
        use ScalarType::*;
        let cases: Vec<(Data, ScalarType)> = vec![
            (true.load(), Bool),
            ((-3i8).load(), I8),
            (i16::MIN.load(), I16),
            ((-5i32).load(), I32),
            (i64::MIN.load(), I64),
            ((-7isize).load(), Isize),
            (200u8.load(), U8),
            (60000u16.load(), U16),
            (u32::MAX.load(), U32),
            (u64::MAX.load(), U64),
            (9usize.load(), Usize),
            ((i128::MIN + 5).load(), I128),
            ((u128::MAX - 5).load(), U128),
            (f16::from_f32(0.1).load(), F16),
            (bf16::from_f32(-3e38).load(), Bf16),
            (0.1f32.load(), F32),
            ((-0.0f64).load(), F64),
            (rev_core::scalar::Fixed43::from_bits(-12345).load(), Fixed(FixedFormat::DEFAULT)),
            (
                rev_core::scalar::FixedI32::<rev_core::scalar::fraction::U8>::from_bits(-5).load(),
                Fixed(FixedFormat::of_type(32, 8)),
            ),
            (
                rev_core::scalar::FixedI128::<rev_core::scalar::fraction::U100>::from_bits(i128::MIN + 5)
                    .load(),
                Fixed(FixedFormat::of_type(128, 100)),
            ),
        ];
        for (data, ty) in cases {
            comes_back(&data, &ArgumentType::Scalar(ty));
            comes_back(&Data::vector(vec![data.clone(), data]), &array(ArgumentType::Scalar(ty), 1));
        }
        comes_back(&Complex::new(1.0, -2.0).load(), &ArgumentType::Complex(F64));
        comes_back(&Complex::new(1.0f32, -2.0).load(), &ArgumentType::Complex(F32));
        let z = Complex::new(f16::from_f32(1.0), f16::from_f32(-2.0));
        assert_eq!(comes_back(&z.load(), &ArgumentType::Complex(F16)).bytes.len(), 2 * 128);
        comes_back(&WideBatch::<f16, 1>::from(0.1).load(), &ArgumentType::Scalar(F32));
        let shadow = |complex| ArgumentType::Shadow { real: F64, complex, width: 3 };
        comes_back(&vec![Batch([1.0, 2.0, 3.0])].load(), &array(shadow(false), 1));
        let z = ComplexShadow { re: Batch([1.0, 2.0, 3.0]), im: Batch([4.0, 5.0, 6.0]) };
        let packed = comes_back(&z.load(), &shadow(true));
        let planes: Vec<f64> =
            (0..6).map(|k| f64::from_bits(read(&packed.bytes[128 * k..], Ty::F64))).collect();
        assert_eq!(planes, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        comes_back(&Data::None, &ArgumentType::None);
    }

    #[test]
    fn stacks_have_room() {
        let of = |element| ArgumentType::Stack(Box::new(element));
        let ty = of(ArgumentType::Tuple(vec![
            ArgumentType::Scalar(ScalarType::F64),
            ArgumentType::Scalar(ScalarType::U8),
        ]));
        for held in [0, 1, 4, 5] {
            let values: Vec<(f64, u8)> = (0..held).map(|k| (f64::from(k), k as u8)).collect();
            let packed = comes_back(&Data::Stack(values.iter().map(DynArg::load).collect()), &ty);
            assert_eq!(packed.shape, [held.max(4) as usize]);
            assert_eq!(packed.bytes.len(), 3 * 128);
        }
        comes_back(&Data::Stack(vec![Data::None; 3]), &of(ArgumentType::None));
        assert!(pack(&1.0.load(), &ty, 4).is_err());
    }

    #[test]
    fn structs_become_planes_and_matrices_are_transposed() {
        let camera = ArgumentType::Struct(
            "Camera".into(),
            vec![
                ("r".into(), ArgumentType::Fixed(Box::new(ArgumentType::Scalar(ScalarType::F64)), 2)),
                ("n".into(), ArgumentType::Scalar(ScalarType::I32)),
            ],
        );
        let one = |k: i32| {
            let r = [f64::from(k), f64::from(k) + 0.5];
            Data::record("Camera", [("r", r.load()), ("n", k.load())])
        };
        let elements: Vec<Data> = (0..6).map(one).collect();
        let data = Data::Array(Array { shape: vec![2, 3], elements });
        let packed = comes_back(&data, &array(camera.clone(), 2));
        assert_eq!((packed.shape, packed.bytes.len()), (vec![2, 3], 3 * 128));
        // Element (0, 1) is the second in row-major order and the third in memory.
        assert_eq!(read(&packed.bytes[256 + 2 * 4..], Ty::I32), 1);
        assert_eq!(f64::from_bits(read(&packed.bytes[128 + 5 * 8..], Ty::F64)), 5.5);
        assert!(pack(&data, &camera, 0).is_err());
        comes_back(&Data::Array(Array { shape: vec![0, 3], elements: vec![] }), &array(camera, 2));
    }

    #[test]
    fn integers_of_arguments_are_known_to_the_host() {
        let ty = ArgumentType::Scalar(ScalarType::I32);
        assert_eq!(pack(&(-7i32).load(), &ty, 0).unwrap().integer(&ty), Some(-7));
        let ty = ArgumentType::Scalar(ScalarType::F64);
        assert_eq!(pack(&1.0.load(), &ty, 0).unwrap().integer(&ty), None);
        let ty = array(ArgumentType::Scalar(ScalarType::U8), 1);
        assert_eq!(pack(&vec![1u8].load(), &ty, 0).unwrap().integer(&ty), None);
    }
}
