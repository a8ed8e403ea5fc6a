//! Arguments of emitted functions as dynamic values, for devices that run the IR.
//!
//! # Implementing for a struct (what the derive writes)
//!
//! ```
//! use rev_core::error::Error;
//! use rev_core::value::{Data, DynArg};
//!
//! struct Camera { rot: [f64; 3], focal: f64 }
//!
//! impl DynArg for Camera {
//!     fn load(&self) -> Data {
//!         Data::record("Camera", [("rot", self.rot.load()), ("focal", self.focal.load())])
//!     }
//!     fn store(&mut self, data: &Data) -> Result<(), Error> {
//!         self.rot.store(data.field("rot")?)?;
//!         self.focal.store(data.field("focal")?)
//!     }
//! }
//! # let mut c = Camera { rot: [1.0, 2.0, 3.0], focal: 4.0 };
//! # let d = c.load();
//! # assert_eq!(d.to_string(), "Camera { rot: [1.0, 2.0, 3.0], focal: 4.0 }");
//! # c.store(&d).unwrap();
//! ```
//!
//! The same for its shadow, whose fields have the same names. Where arrays of the struct should be copied
//! to devices without such a tree, [`DynArg::scalars`], [`DynArg::put`] and [`DynArg::take`] do the same for each
//! field, in order.

use super::data::literal_number;
use super::{Array as DataArray, Data, Outline, PlaneReader, PlaneWriter, Shapes, Stack, Value};
use crate::coordinates;
use crate::error::{Cause, Error};
use crate::ir::{FixedFormat, ScalarType, Type};
use crate::scalar::{
    bf16, f16, Batch, Complex, ComplexShadow, FixedI128, FixedI32, FixedI64, FixedPoint, Fraction128,
    Fraction32, Fraction64, Half, NoShadow, Real, Scalar, WideBatch, Zero,
};
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension};

/// A value that can be read into the interpreter's form and written back.
#[diagnostic::on_unimplemented(
    message = "[R0612] `{Self}` isn't a type whose values a reversible function can have",
    label = "of this type",
    note = "a struct is one under `#[derive(Clone, Debug, Reversible)]`, with `T: Scalar` for its type parameters"
)]
pub trait DynArg {
    /// The value.
    fn load(&self) -> Data;
    /// Takes a value of the same type and shape. Behind a shared reference nothing changes.
    fn store(&mut self, data: &Data) -> Result<(), Error>;
    /// The value that the data is; of a vector, as long as that is.
    ///
    /// # Errors
    ///
    /// Data of another type.
    fn restored(data: &Data) -> Result<Self, Error>
    where
        Self: Sized + Zero,
    {
        let mut value = Self::zero();
        value.store(data)?;
        Ok(value)
    }

    /// Calls `f` on the cotangents or tangents that a shadow has side by side for each real number (in what isn't a
    /// shadow on the number alone); what it leaves takes their place. The order is that of
    /// [`coordinates`].
    ///
    /// # Errors
    ///
    /// A value that doesn't take back what it gave.
    fn update_sides(&mut self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
        let mut data = self.load();
        coordinates::update_sides(&mut data, f);
        self.store(&data)
    }
    /// Calls `f` on the same numbers, to be read.
    fn sides(&self, f: &mut dyn FnMut(&[f64])) {
        coordinates::update_sides(&mut self.load(), &mut |sides| f(sides));
    }

    /// Whether values of the type have arrays or stacks in them, whose shapes only the run tells.
    #[cfg_attr(optimized, inline(always))]
    fn is_shaped() -> bool
    where
        Self: Sized,
    {
        false
    }
    /// Adds the shapes of the arrays and stacks in it.
    fn shapes(&self, _: &mut Shapes) {}

    /// What can be said before the value is copied to planes; none for what is copied as a tree:
    /// single values, and types whose values aren't made of the same scalars each.
    fn outline(&self) -> Option<Outline> {
        None
    }
    /// Copies the elements of a value that has an outline.
    fn write_planes(&self, _: &mut PlaneWriter<'_>) {}
    /// Takes elements of the same type, as many as it has itself; a stack as many as there are. Behind
    /// a shared reference nothing changes.
    fn read_planes(&mut self, _: &mut PlaneReader<'_>) {}

    /// Adds the scalars that each value of the type is made of. Whether that is so.
    fn scalars(_: &mut Vec<ScalarType>) -> bool
    where
        Self: Sized,
    {
        false
    }
    /// Writes the value's scalars.
    fn put(&self, _: &mut PlaneWriter<'_>)
    where
        Self: Sized,
    {
    }
    /// Reads them.
    fn take(&mut self, _: &mut PlaneReader<'_>)
    where
        Self: Sized,
    {
    }
    /// Writes the scalars of all elements of an array.
    #[inline]
    fn put_all<'a>(elements: impl Iterator<Item = &'a Self>, to: &mut PlaneWriter<'_>)
    where
        Self: Sized + 'a,
    {
        elements.for_each(|element| {
            element.put(to);
            to.next_element();
        });
    }
    /// Reads them.
    #[inline]
    fn take_all<'a>(elements: impl Iterator<Item = &'a mut Self>, from: &mut PlaneReader<'_>)
    where
        Self: Sized + 'a,
    {
        elements.for_each(|element| {
            element.take(from);
            from.next_element();
        });
    }
}

/// What is known of an array, given its first element.
fn outline<T: DynArg>(shape: &[usize], first: Option<&T>) -> Option<Outline> {
    let mut scalars = Vec::new();
    T::scalars(&mut scalars).then(|| outline_of(shape, first.map(T::load), scalars))
}

/// The same, given what each element is made of.
fn outline_of(shape: &[usize], first: Option<Data>, scalars: Vec<ScalarType>) -> Outline {
    let sample = Data::Array(DataArray { shape: shape.to_vec(), elements: first.into_iter().collect() });
    Outline { sample, scalars, shape: shape.to_vec(), room: None }
}

impl<T: DynArg + ?Sized> DynArg for &T {
    fn load(&self) -> Data {
        (**self).load()
    }
    fn is_shaped() -> bool {
        true
    }
    fn shapes(&self, of: &mut Shapes) {
        (**self).shapes(of);
    }
    fn store(&mut self, _: &Data) -> Result<(), Error> {
        Ok(())
    }
    fn sides(&self, f: &mut dyn FnMut(&[f64])) {
        (**self).sides(f);
    }
    fn outline(&self) -> Option<Outline> {
        (**self).outline()
    }
    fn write_planes(&self, to: &mut PlaneWriter<'_>) {
        (**self).write_planes(to);
    }
}

impl<T: DynArg + ?Sized> DynArg for &mut T {
    fn load(&self) -> Data {
        (**self).load()
    }
    fn is_shaped() -> bool {
        true
    }
    fn shapes(&self, of: &mut Shapes) {
        (**self).shapes(of);
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        (**self).store(data)
    }
    fn update_sides(&mut self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
        (**self).update_sides(f)
    }
    fn sides(&self, f: &mut dyn FnMut(&[f64])) {
        (**self).sides(f);
    }
    fn outline(&self) -> Option<Outline> {
        (**self).outline()
    }
    fn write_planes(&self, to: &mut PlaneWriter<'_>) {
        (**self).write_planes(to);
    }
    fn read_planes(&mut self, from: &mut PlaneReader<'_>) {
        (**self).read_planes(from);
    }
}

/// A scalar of type `T` from a dynamic value.
fn scalar_from<T: Scalar>(data: &Data) -> Result<T, Error> {
    let found = match data {
        Data::Scalar(v) => T::from_value(v),
        Data::Literal(n) => Some(T::from_number(literal_number(*n))),
        _ => None,
    };
    found.ok_or_else(|| data.type_error("storing a scalar", T::zero().to_value().type_name()))
}

macro_rules! tree {
    () => {
        fn load(&self) -> Data {
            Data::Scalar(self.to_value())
        }
        fn store(&mut self, data: &Data) -> Result<(), Error> {
            *self = scalar_from(data)?;
            Ok(())
        }
        fn update_sides(&mut self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
            let mut value = self.to_value();
            coordinates::update_value(&mut value, &mut |v| {
                let mut side = [v];
                f(&mut side);
                side[0]
            });
            self.store(&Data::Scalar(value))
        }
        fn sides(&self, f: &mut dyn FnMut(&[f64])) {
            coordinates::each_of_value(&self.to_value(), &mut |v| f(&[v]));
        }
    };
}

/// What has no numbers.
macro_rules! no_sides {
    () => {
        fn update_sides(&mut self, _: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
            Ok(())
        }
        fn sides(&self, _: &mut dyn FnMut(&[f64])) {}
    };
}

/// The numbers of elements, one after the other.
macro_rules! sides_of_elements {
    (|$self:ident| $elements:expr, $elements_mut:expr) => {
        fn update_sides(&mut $self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
            $elements_mut.try_for_each(|e| e.update_sides(f))
        }
        fn sides(&$self, f: &mut dyn FnMut(&[f64])) {
            $elements.for_each(|e| e.sides(f));
        }
    };
}

/// Scalars of one plane: the type in the IR, to bytes, and back.
macro_rules! scalars {
    ($([$($generics:tt)*] $t:ty, $scalar:expr, $to:expr, $from:expr;)*) => {$(
        impl<$($generics)*> DynArg for $t {
            tree!();
            fn scalars(list: &mut Vec<ScalarType>) -> bool {
                list.push($scalar);
                true
            }
            #[cfg_attr(optimized, inline(always))]
            fn put(&self, to: &mut PlaneWriter<'_>) {
                to.put(($to)(*self));
            }
            #[cfg_attr(optimized, inline(always))]
            fn take(&mut self, from: &mut PlaneReader<'_>) {
                *self = ($from)(from.take());
            }
            #[inline]
            fn put_all<'a>(elements: impl Iterator<Item = &'a Self>, to: &mut PlaneWriter<'_>) {
                to.column(elements.map(|v| ($to)(*v)));
            }
            #[inline]
            fn take_all<'a>(elements: impl Iterator<Item = &'a mut Self>, from: &mut PlaneReader<'_>) {
                elements.zip(from.column()).for_each(|(v, bytes)| *v = ($from)(bytes));
            }
        }
    )*};
}
scalars! {
    [] bool, ScalarType::Bool, |v| [u8::from(v)], |b: [u8; 1]| b != [0];
    [] i8, ScalarType::I8, i8::to_le_bytes, i8::from_le_bytes;
    [] i16, ScalarType::I16, i16::to_le_bytes, i16::from_le_bytes;
    [] i32, ScalarType::I32, i32::to_le_bytes, i32::from_le_bytes;
    [] i64, ScalarType::I64, i64::to_le_bytes, i64::from_le_bytes;
    [] isize, ScalarType::Isize, |v| (v as i64).to_le_bytes(), |b| i64::from_le_bytes(b) as isize;
    [] u8, ScalarType::U8, u8::to_le_bytes, u8::from_le_bytes;
    [] u16, ScalarType::U16, u16::to_le_bytes, u16::from_le_bytes;
    [] u32, ScalarType::U32, u32::to_le_bytes, u32::from_le_bytes;
    [] u64, ScalarType::U64, u64::to_le_bytes, u64::from_le_bytes;
    [] usize, ScalarType::Usize, |v| (v as u64).to_le_bytes(), |b| u64::from_le_bytes(b) as usize;
    [] f16, ScalarType::F16, f16::to_le_bytes, f16::from_le_bytes;
    [] bf16, ScalarType::Bf16, bf16::to_le_bytes, bf16::from_le_bytes;
    [] f32, ScalarType::F32, f32::to_le_bytes, f32::from_le_bytes;
    [] f64, ScalarType::F64, f64::to_le_bytes, f64::from_le_bytes;
    [F: Fraction32] FixedI32<F>, fixed::<Self>(), FixedI32::to_le_bytes, FixedI32::from_le_bytes;
    [F: Fraction64] FixedI64<F>, fixed::<Self>(), FixedI64::to_le_bytes, FixedI64::from_le_bytes;
}

/// Scalars of two planes.
macro_rules! wide_scalars {
    ($([$($generics:tt)*] $t:ty, $scalar:expr, $to:expr, $from:expr;)*) => {$(
        impl<$($generics)*> DynArg for $t {
            tree!();
            fn scalars(list: &mut Vec<ScalarType>) -> bool {
                list.push($scalar);
                true
            }
            #[inline]
            fn put(&self, to: &mut PlaneWriter<'_>) {
                to.put_wide(($to)(*self));
            }
            #[inline]
            fn take(&mut self, from: &mut PlaneReader<'_>) {
                *self = ($from)(from.take_wide());
            }
        }
    )*};
}
wide_scalars! {
    [] i128, ScalarType::I128, |v| v as u128, |bits| bits as i128;
    [] u128, ScalarType::U128, |v| v, |bits| bits;
    [F: Fraction128] FixedI128<F>, fixed::<Self>(), |v: Self| v.to_bits() as u128, |bits| Self::from_bits(bits as i128);
}

/// The IR's type of a type that is a built-in scalar.
fn fixed<T: Scalar>() -> ScalarType {
    match T::ir_type() {
        Type::Scalar(scalar) => scalar,
        _ => ScalarType::Fixed(FixedFormat::NONE),
    }
}

impl DynArg for FixedPoint {
    tree!();
}

impl<T: Real> DynArg for Complex<T> {
    tree!();
    fn scalars(list: &mut Vec<ScalarType>) -> bool {
        T::scalars(list) && T::scalars(list)
    }
    #[inline]
    fn put(&self, to: &mut PlaneWriter<'_>) {
        self.re.put(to);
        self.im.put(to);
    }
    #[inline]
    fn take(&mut self, from: &mut PlaneReader<'_>) {
        self.re.take(from);
        self.im.take(from);
    }
}

impl DynArg for Data {
    fn is_shaped() -> bool {
        true
    }
    fn shapes(&self, of: &mut Shapes) {
        match self {
            Data::Array(a) => {
                of.array(&a.shape);
                shapes_of_each(a.elements.iter(), of);
            }
            Data::Struct(r) => r.fields.iter().for_each(|(f, v)| of.within(format_args!(".{f}"), v)),
            Data::Tuple(es) => es.iter().enumerate().for_each(|(k, e)| of.within(format_args!(".{k}"), e)),
            Data::Stack(es) => of.stack(es.len()),
            Data::Scalar(_) | Data::Lanes(_) | Data::Literal(_) | Data::Function(_) | Data::None => {}
        }
    }

    fn load(&self) -> Data {
        self.clone()
    }

    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.clone_from(data);
        Ok(())
    }
}

impl DynArg for () {
    fn load(&self) -> Data {
        Data::None
    }
    fn store(&mut self, _: &Data) -> Result<(), Error> {
        Ok(())
    }
    no_sides!();
    fn scalars(_: &mut Vec<ScalarType>) -> bool {
        true
    }
}

impl<T> DynArg for NoShadow<T> {
    fn load(&self) -> Data {
        Data::None
    }
    fn store(&mut self, _: &Data) -> Result<(), Error> {
        Ok(())
    }
    no_sides!();
    fn scalars(_: &mut Vec<ScalarType>) -> bool {
        true
    }
}

impl<T: Real, const N: usize> DynArg for Batch<T, N> {
    fn load(&self) -> Data {
        match self.0.as_slice() {
            [one] => Data::Scalar(one.to_value()),
            lanes => Data::Lanes(lanes.iter().map(|v| v.to_value()).collect()),
        }
    }
    /// One cotangent is taken for all.
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        let lanes = match data {
            Data::Lanes(l) if l.len() == N => l,
            _ => {
                *self = Batch::splat(scalar_from(data)?);
                return Ok(());
            }
        };
        for (lane, v) in self.0.iter_mut().zip(lanes) {
            *lane = scalar_from(&Data::Scalar(*v))?;
        }
        Ok(())
    }
    fn update_sides(&mut self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
        let mut sides = self.0.map(T::to_f64);
        f(&mut sides);
        self.0 = sides.map(T::from_f64);
        Ok(())
    }
    fn sides(&self, f: &mut dyn FnMut(&[f64])) {
        f(&self.0.map(T::to_f64));
    }
    fn scalars(list: &mut Vec<ScalarType>) -> bool {
        (0..N).all(|_| T::scalars(list))
    }
    #[inline]
    fn put(&self, to: &mut PlaneWriter<'_>) {
        self.0.iter().for_each(|lane| lane.put(to));
    }
    #[inline]
    fn take(&mut self, from: &mut PlaneReader<'_>) {
        self.0.iter_mut().for_each(|lane| lane.take(from));
    }
}

impl<T: Half, const N: usize> DynArg for WideBatch<T, N> {
    fn load(&self) -> Data {
        Batch(self.0).load()
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        let mut lanes = Batch(self.0);
        lanes.store(data)?;
        *self = WideBatch::new(lanes.0);
        Ok(())
    }
    fn update_sides(&mut self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
        let mut lanes = Batch(self.0);
        lanes.update_sides(f)?;
        *self = WideBatch::new(lanes.0);
        Ok(())
    }
    fn sides(&self, f: &mut dyn FnMut(&[f64])) {
        Batch(self.0).sides(f);
    }
    fn scalars(list: &mut Vec<ScalarType>) -> bool {
        Batch::<f32, N>::scalars(list)
    }
    #[inline]
    fn put(&self, to: &mut PlaneWriter<'_>) {
        Batch(self.0).put(to);
    }
    #[inline]
    fn take(&mut self, from: &mut PlaneReader<'_>) {
        let mut lanes = Batch(self.0);
        lanes.take(from);
        *self = WideBatch::new(lanes.0);
    }
}

/// The scalars of a scalar or of a shadow of one.
fn lanes(data: &Data) -> &[Value] {
    match data {
        Data::Scalar(v) => std::slice::from_ref(v),
        Data::Lanes(l) => l,
        _ => &[],
    }
}

/// One cotangent as a scalar, several as lanes.
fn from_lanes(mut lanes: Vec<Value>) -> Data {
    match lanes.pop() {
        Some(one) if lanes.is_empty() => Data::Scalar(one),
        Some(last) => {
            lanes.push(last);
            Data::Lanes(lanes)
        }
        None => Data::Lanes(lanes),
    }
}

impl<S: DynArg> DynArg for ComplexShadow<S> {
    fn load(&self) -> Data {
        let (re, im) = (self.re.load(), self.im.load());
        from_lanes(
            lanes(&re).iter().zip(lanes(&im)).filter_map(|(re, im)| Value::complex(*re, *im)).collect(),
        )
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        if let Data::Literal(_) = data {
            self.re.store(data)?;
            return self.im.store(&data.zero_like());
        }
        let parts: Vec<(Value, Value)> = lanes(data).iter().filter_map(Value::parts).collect();
        self.re.store(&from_lanes(parts.iter().map(|p| p.0).collect()))?;
        self.im.store(&from_lanes(parts.iter().map(|p| p.1).collect()))
    }
    fn update_sides(&mut self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
        self.re.update_sides(f)?;
        self.im.update_sides(f)
    }
    fn sides(&self, f: &mut dyn FnMut(&[f64])) {
        self.re.sides(f);
        self.im.sides(f);
    }
    fn scalars(list: &mut Vec<ScalarType>) -> bool {
        S::scalars(list) && S::scalars(list)
    }
    #[inline]
    fn put(&self, to: &mut PlaneWriter<'_>) {
        self.re.put(to);
        self.im.put(to);
    }
    #[inline]
    fn take(&mut self, from: &mut PlaneReader<'_>) {
        self.re.take(from);
        self.im.take(from);
    }
}

/// The shapes in the elements of an array.
fn shapes_of_each<'a, T: DynArg + 'a>(elements: impl Iterator<Item = &'a T>, of: &mut Shapes) {
    if T::is_shaped() {
        elements.enumerate().for_each(|(k, element)| of.within(format_args!("[{k}]"), element));
    }
}

/// The elements of an array of a shape.
fn elements<'a>(data: &'a Data, shape: &[usize]) -> Result<&'a [Data], Error> {
    match data {
        Data::Array(a) if a.shape == shape => Ok(&a.elements),
        Data::Array(a) => Err(Cause::Shape {
            place: "an argument".into(),
            expected: format!("{shape:?}"),
            found: format!("{:?}", a.shape),
        }
        .into()),
        _ => Err(data.type_error("storing an array", format!("an array of shape {shape:?}"))),
    }
}

impl<T: DynArg> DynArg for [T] {
    fn shapes(&self, of: &mut Shapes) {
        of.array(&[self.len()]);
        shapes_of_each(self.iter(), of);
    }
    fn load(&self) -> Data {
        Data::vector(self.iter().map(T::load).collect())
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        let elements = elements(data, &[self.len()])?;
        self.iter_mut().zip(elements).try_for_each(|(a, b)| a.store(b))
    }
    sides_of_elements!(|self| self.iter(), self.iter_mut());
    fn outline(&self) -> Option<Outline> {
        outline(&[self.len()], self.first())
    }
    fn write_planes(&self, to: &mut PlaneWriter<'_>) {
        T::put_all(self.iter(), to);
    }
    fn read_planes(&mut self, from: &mut PlaneReader<'_>) {
        T::take_all(self.iter_mut(), from);
    }
}

impl<T: DynArg, const K: usize> DynArg for [T; K] {
    fn is_shaped() -> bool {
        T::is_shaped()
    }
    fn shapes(&self, of: &mut Shapes) {
        shapes_of_each(self.iter(), of);
    }
    fn load(&self) -> Data {
        self.as_slice().load()
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.as_mut_slice().store(data)
    }
    sides_of_elements!(|self| self.iter(), self.iter_mut());
    fn scalars(list: &mut Vec<ScalarType>) -> bool {
        (0..K).all(|_| T::scalars(list))
    }
    #[inline]
    fn put(&self, to: &mut PlaneWriter<'_>) {
        self.iter().for_each(|element| element.put(to));
    }
    #[inline]
    fn take(&mut self, from: &mut PlaneReader<'_>) {
        self.iter_mut().for_each(|element| element.take(from));
    }
}

impl<T: DynArg + Zero> DynArg for Vec<T> {
    fn is_shaped() -> bool {
        true
    }
    fn shapes(&self, of: &mut Shapes) {
        self.as_slice().shapes(of);
    }
    fn load(&self) -> Data {
        self.as_slice().load()
    }
    fn restored(data: &Data) -> Result<Self, Error> {
        match data {
            Data::Array(a) if a.shape.len() == 1 => a.elements.iter().map(T::restored).collect(),
            _ => Err(data.type_error("restoring a vector", "a vector")),
        }
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.as_mut_slice().store(data)
    }
    sides_of_elements!(|self| self.iter(), self.iter_mut());
    fn outline(&self) -> Option<Outline> {
        self.as_slice().outline()
    }
    fn write_planes(&self, to: &mut PlaneWriter<'_>) {
        self.as_slice().write_planes(to);
    }
    fn read_planes(&mut self, from: &mut PlaneReader<'_>) {
        self.as_mut_slice().read_planes(from);
    }
}

/// The error that nothing says which shapes the arrays in a stack's values had.
#[cold]
fn unshaped() -> Error {
    let why = "a stack of what holds arrays is given back by the CPU only";
    Cause::Rejected(why.into()).into()
}

impl<T: DynArg + Zero> DynArg for Stack<T> {
    fn is_shaped() -> bool {
        true
    }
    fn shapes(&self, of: &mut Shapes) {
        of.stack(self.len());
    }
    fn load(&self) -> Data {
        Data::Stack(self.as_slice().iter().map(T::load).collect())
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        let Data::Stack(values) = data else {
            return Err(data.type_error("storing a stack", "a stack"));
        };
        let restored = |v| T::restored(v).map_err(|e| if T::is_shaped() { unshaped() } else { e });
        *self = Stack::from(values.iter().map(restored).collect::<Result<Vec<_>, _>>()?);
        Ok(())
    }
    sides_of_elements!(|self| self.as_slice().iter(), self.values_mut().iter_mut());
    fn outline(&self) -> Option<Outline> {
        let array = outline(&[self.len()], self.as_slice().first())?;
        let sample = Data::Stack(array.sample.children().cloned().collect());
        Some(Outline { sample, room: Some(self.capacity()), ..array })
    }
    fn write_planes(&self, to: &mut PlaneWriter<'_>) {
        T::put_all(self.as_slice().iter(), to);
    }
    fn read_planes(&mut self, from: &mut PlaneReader<'_>) {
        let values = self.values_mut();
        values.clear();
        values.resize_with(from.count(), T::zero);
        T::take_all(values.iter_mut(), from);
    }
}

macro_rules! arrays {
    (read) => {
        fn is_shaped() -> bool {
            true
        }
        fn shapes(&self, of: &mut Shapes) {
            of.array(self.shape());
            shapes_of_each(self.iter(), of);
        }
        fn load(&self) -> Data {
            Data::Array(DataArray {
                shape: self.shape().to_vec(),
                elements: self.iter().map(T::load).collect(),
            })
        }
        fn sides(&self, f: &mut dyn FnMut(&[f64])) {
            self.iter().for_each(|e| e.sides(f));
        }
        fn outline(&self) -> Option<Outline> {
            outline(self.shape(), self.first())
        }
        fn write_planes(&self, to: &mut PlaneWriter<'_>) {
            match self.as_slice().filter(|_| self.ndim() == 1) {
                Some(elements) => T::put_all(elements.iter(), to),
                None => T::put_all(self.view().reversed_axes().iter(), to),
            }
        }
    };
    (write) => {
        fn store(&mut self, data: &Data) -> Result<(), Error> {
            let elements = elements(data, self.shape())?;
            self.iter_mut().zip(elements).try_for_each(|(a, b)| a.store(b))
        }
        fn update_sides(&mut self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
            self.iter_mut().try_for_each(|e| e.update_sides(f))
        }
        fn read_planes(&mut self, from: &mut PlaneReader<'_>) {
            let one = self.ndim() == 1;
            match self.as_slice_mut().filter(|_| one) {
                Some(elements) => T::take_all(elements.iter_mut(), from),
                None => T::take_all(self.view_mut().reversed_axes().iter_mut(), from),
            }
        }
    };
}

impl<T: DynArg, D: Dimension> DynArg for Array<T, D> {
    arrays!(read);
    arrays!(write);
}

impl<T: DynArg, D: Dimension> DynArg for ArrayViewMut<'_, T, D> {
    arrays!(read);
    arrays!(write);
}

impl<T: DynArg, D: Dimension> DynArg for ArrayView<'_, T, D> {
    arrays!(read);
    fn store(&mut self, _: &Data) -> Result<(), Error> {
        Ok(())
    }
}

macro_rules! tuples {
    ($(($($name:ident $k:tt)*))*) => {$(
        impl<$($name: DynArg),*> DynArg for ($($name,)*) {
            fn is_shaped() -> bool {
                false $(|| $name::is_shaped())*
            }
            fn shapes(&self, of: &mut Shapes) {
                $(of.within(concat!(".", stringify!($k)), &self.$k);)*
            }
            fn load(&self) -> Data {
                Data::Tuple(vec![$(self.$k.load()),*])
            }
            fn store(&mut self, data: &Data) -> Result<(), Error> {
                match data {
                    Data::Tuple(elements) if elements.len() == [$($k),*].len() => {
                        $(self.$k.store(&elements[$k])?;)*
                        Ok(())
                    }
                    _ => Err(data.type_error("storing a tuple", format!("a tuple of {}", [$($k),*].len()))),
                }
            }
            fn update_sides(&mut self, f: &mut dyn FnMut(&mut [f64])) -> Result<(), Error> {
                $(self.$k.update_sides(f)?;)*
                Ok(())
            }
            fn sides(&self, f: &mut dyn FnMut(&[f64])) {
                $(self.$k.sides(f);)*
            }
            fn scalars(list: &mut Vec<ScalarType>) -> bool {
                true $(&& $name::scalars(list))*
            }
            #[inline]
            fn put(&self, to: &mut PlaneWriter<'_>) {
                $(self.$k.put(to);)*
            }
            #[inline]
            fn take(&mut self, from: &mut PlaneReader<'_>) {
                $(self.$k.take(from);)*
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Fixed43, Primal};
    use ndarray::{arr2, Array2, ArrayD};

    fn round_trip<T: DynArg + PartialEq + std::fmt::Debug>(value: T, mut zero: T) {
        assert_ne!(value, zero);
        zero.store(&value.load()).unwrap();
        assert_eq!(value, zero);
    }

    #[test]
    fn every_kind_of_argument_comes_back() {
        round_trip(3u8, 0);
        round_trip(i128::MIN, 0);
        round_trip(true, false);
        round_trip(0.1f32, 0.0);
        round_trip(Fixed43::from_bits(7), Fixed43::ZERO);
        round_trip(Complex::new(1.0, 2.0), Complex::new(0.0, 0.0));
        round_trip([[1.0, 2.0], [3.0, 4.0]], [[0.0; 2]; 2]);
        round_trip(vec![(1.0, 2i32), (3.0, 4)], vec![(0.0, 0); 2]);
        round_trip(arr2(&[[1.0, 2.0], [3.0, 4.0]]).into_dyn(), ArrayD::zeros(vec![2, 2]));
        round_trip(Stack::from(vec![1.0, 2.0]), Stack::new());
        round_trip(Batch([1.0f64, 2.0]), Batch([0.0, 0.0]));
        round_trip(
            vec![Complex::new(1.0f64, 2.0)].zero_shadow::<3>(),
            vec![ComplexShadow { re: Batch([1.0; 3]), im: Batch([2.0; 3]) }],
        );
        round_trip(ComplexShadow { re: Batch([1.0f32]), im: Batch([2.0]) }, Default::default());
    }

    #[test]
    fn views_with_strides_are_read_and_written_in_logical_order() {
        let mut a = arr2(&[[1.0, 2.0], [3.0, 4.0]]);
        let mut t = a.view_mut().reversed_axes();
        let mut data = t.load();
        assert_eq!(data.to_string(), "[1.0, 3.0, 2.0, 4.0]");
        if let Data::Array(array) = &mut data {
            array.elements[1] = Data::scalar(7.0);
        }
        t.store(&data).unwrap();
        assert_eq!(a[[1, 0]], 7.0);
        let before = a.clone();
        a.view().store(&Array2::<f64>::zeros((2, 2)).load()).unwrap();
        assert_eq!(a, before);
    }

    #[test]
    fn wrong_types_and_shapes_are_errors() {
        let message = |e: Result<(), Error>| e.unwrap_err().to_string();
        assert_eq!(message(1.0f64.store(&1.0f32.load())), "storing a scalar: expected f64, found f32");
        assert_eq!(
            message(vec![1.0].store(&vec![1.0, 2.0].load())),
            "`an argument` must have the shape [1] and has [2]"
        );
        assert!((1.0, 2.0).store(&(1.0,).load()).is_err());
        assert!([1.0].store(&1.0.load()).is_err());
    }

    #[test]
    fn data_compares_like_values() {
        let t = crate::tolerance::Tolerances::default();
        let a = (vec![1.0, 2.0], 3usize).load();
        let b = (vec![1.0, 2.5], 3usize).load();
        assert!(a.compare(&a, &t, None).is_ok());
        assert_eq!(b.compare(&a, &t, None).unwrap_err().path, "[0][1]");
        assert!(Data::Literal(crate::ir::Number::Int(0)).compare(&0.0.load(), &t, None).is_ok());
        assert!(0.0f32.load().compare(&0.0f64.load(), &t, None).is_err());
        assert!(f64::NAN.load().compare(&f64::NAN.load(), &t, None).is_err());
        assert_eq!(
            (vec![1usize], 2.0).load().zero_shadow(),
            Data::Tuple(vec![Data::vector(vec![Data::None]), 0.0.load()])
        );
        assert_eq!((vec![-1i32], -2.0).load().magnitude(), 2.0);
    }
}
