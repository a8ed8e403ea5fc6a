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
//! The same for its shadow, whose fields have the same names.

use super::data::literal_number;
use super::{Array as DataArray, Data, Stack, Value};
use crate::error::{Cause, Error};
use crate::scalar::{
    bf16, f16, Batch, Complex, ComplexShadow, Fixed43, Half, NoShadow, Real, Scalar, WideBatch, Zero,
};
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension};

/// A value that can be read into the interpreter's form and written back.
pub trait DynArg {
    /// The value.
    fn load(&self) -> Data;
    /// Takes a value of the same type and shape. Behind a shared reference nothing changes.
    fn store(&mut self, data: &Data) -> Result<(), Error>;
}

impl<T: DynArg + ?Sized> DynArg for &T {
    fn load(&self) -> Data {
        (**self).load()
    }
    fn store(&mut self, _: &Data) -> Result<(), Error> {
        Ok(())
    }
}

impl<T: DynArg + ?Sized> DynArg for &mut T {
    fn load(&self) -> Data {
        (**self).load()
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        (**self).store(data)
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

macro_rules! scalars {
    ($(($($generic:tt)*) $t:ty;)*) => {$(
        impl $($generic)* DynArg for $t {
            fn load(&self) -> Data {
                Data::Scalar(self.to_value())
            }
            fn store(&mut self, data: &Data) -> Result<(), Error> {
                *self = scalar_from(data)?;
                Ok(())
            }
        }
    )*};
}
scalars! {
    () bool; () i8; () i16; () i32; () i64; () i128; () isize; () u8; () u16; () u32; () u64; () u128; () usize;
    () f16; () bf16; () f32; () f64; () Fixed43; (<T: Real>) Complex<T>;
}

impl DynArg for () {
    fn load(&self) -> Data {
        Data::None
    }
    fn store(&mut self, _: &Data) -> Result<(), Error> {
        Ok(())
    }
}

impl<T> DynArg for NoShadow<T> {
    fn load(&self) -> Data {
        Data::None
    }
    fn store(&mut self, _: &Data) -> Result<(), Error> {
        Ok(())
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
    fn load(&self) -> Data {
        Data::vector(self.iter().map(T::load).collect())
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        let elements = elements(data, &[self.len()])?;
        self.iter_mut().zip(elements).try_for_each(|(a, b)| a.store(b))
    }
}

impl<T: DynArg, const K: usize> DynArg for [T; K] {
    fn load(&self) -> Data {
        self.as_slice().load()
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.as_mut_slice().store(data)
    }
}

impl<T: DynArg> DynArg for Vec<T> {
    fn load(&self) -> Data {
        self.as_slice().load()
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.as_mut_slice().store(data)
    }
}

impl<T: DynArg + Zero> DynArg for Stack<T> {
    fn load(&self) -> Data {
        Data::Stack(self.as_slice().iter().map(T::load).collect())
    }
    fn store(&mut self, data: &Data) -> Result<(), Error> {
        let Data::Stack(values) = data else {
            return Err(data.type_error("storing a stack", "a stack"));
        };
        let mut stack = Vec::with_capacity(values.len());
        for v in values {
            let mut value = T::zero();
            value.store(v)?;
            stack.push(value);
        }
        *self = Stack::from(stack);
        Ok(())
    }
}

macro_rules! arrays {
    (load) => {
        fn load(&self) -> Data {
            Data::Array(DataArray {
                shape: self.shape().to_vec(),
                elements: self.iter().map(T::load).collect(),
            })
        }
    };
    (store) => {
        fn store(&mut self, data: &Data) -> Result<(), Error> {
            let elements = elements(data, self.shape())?;
            self.iter_mut().zip(elements).try_for_each(|(a, b)| a.store(b))
        }
    };
}

impl<T: DynArg, D: Dimension> DynArg for Array<T, D> {
    arrays!(load);
    arrays!(store);
}

impl<T: DynArg, D: Dimension> DynArg for ArrayViewMut<'_, T, D> {
    arrays!(load);
    arrays!(store);
}

impl<T: DynArg, D: Dimension> DynArg for ArrayView<'_, T, D> {
    arrays!(load);
    fn store(&mut self, _: &Data) -> Result<(), Error> {
        Ok(())
    }
}

macro_rules! tuples {
    ($(($($name:ident $k:tt)*))*) => {$(
        impl<$($name: DynArg),*> DynArg for ($($name,)*) {
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
    use crate::scalar::Primal;
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
