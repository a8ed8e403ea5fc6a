//! Arguments between the host and device memory. Arrays and stacks are copied scalar by scalar in
//! their own types, straight to and from planes; what has no [`Outline`] goes through a tree of values
//! ([`super::marshal`]).

use super::marshal::{self, pack, planes, unpack, value_bytes, Packed};
use crate::layout::STACK_HEADER;
use crate::lower::{scalar_leaves, ArgumentType};
use rev_core::error::{Cause, Error};
use rev_core::value::{Data, DynArg, Outline, PlaneReader, PlaneWriter};

/// What is known of an argument before it is copied: a value that shows its type (the value itself,
/// where it has no outline), and the outline.
pub struct Sample {
    /// The value.
    pub data: Data,
    outline: Option<Outline>,
}

impl Sample {
    /// Of an argument.
    pub fn of(arg: &dyn DynArg) -> Sample {
        match arg.outline() {
            Some(mut outline) => {
                let data = std::mem::replace(&mut outline.sample, Data::None);
                Sample { data, outline: Some(outline) }
            }
            None => Sample { data: arg.load(), outline: None },
        }
    }

    /// The length along each axis of an array; of a stack how many values it holds.
    pub(super) fn shape(&self) -> Vec<usize> {
        match (&self.outline, &self.data) {
            (Some(outline), _) => outline.shape.clone(),
            (None, Data::Array(a)) => a.shape.clone(),
            (None, Data::Stack(values)) => vec![values.len()],
            (None, _) => Vec::new(),
        }
    }

    /// The outline, where planes of a type have the scalars that it says.
    fn outline(&self, ty: &ArgumentType) -> Result<Option<&Outline>, Error> {
        let Some(outline) = &self.outline else { return Ok(None) };
        let (element, first) = match (ty, &self.data) {
            (ArgumentType::Array(element, rank), Data::Array(a)) if a.shape.len() == *rank => {
                (element, a.elements.first())
            }
            (ArgumentType::Stack(element), Data::Stack(values)) => (element, values.first()),
            _ => return Err(marshal::mismatch(&self.data, ty)),
        };
        if let Some(first) = first {
            marshal::put(first, element, &mut |_| {})?;
        }
        let leaves: Vec<_> = outline.scalars.iter().flat_map(|s| scalar_leaves(*s)).collect();
        Ok(Some(outline).filter(|_| leaves == element.leaves()))
    }
}

/// Copies an argument to planes in memory of the host. A stack gets room for `room` values, for
/// those that it was made for, or for those that it has, whichever are most. `into` keeps its memory.
///
/// # Errors
///
/// A value of another type.
pub fn stage(
    arg: &dyn DynArg,
    sample: &Sample,
    ty: &ArgumentType,
    room: usize,
    into: &mut Packed,
) -> Result<(), Error> {
    if stage_shape(arg, sample, ty, room, into)? {
        let starts: Vec<usize> = planes(&into.shape, ty).into_iter().map(|(start, _)| start).collect();
        arg.write_planes(&mut PlaneWriter::new(&mut into.bytes, &starts));
    }
    Ok(())
}

/// The shape, and room for the planes. Whether these are still to be written.
///
/// # Errors
///
/// A value of another type.
pub fn stage_shape(
    arg: &dyn DynArg,
    sample: &Sample,
    ty: &ArgumentType,
    room: usize,
    into: &mut Packed,
) -> Result<bool, Error> {
    let Some(outline) = sample.outline(ty)? else {
        // an array whose scalars aren't those of the type has no elements
        let loaded = sample.outline.as_ref().map(|_| arg.load());
        *into = pack(loaded.as_ref().unwrap_or(&sample.data), ty, room)?;
        return Ok(false);
    };
    into.shape.clear();
    match (outline.room, outline.shape.first()) {
        (Some(own), Some(held)) => into.shape.push(room.max(own).max(*held)),
        _ => into.shape.extend_from_slice(&outline.shape),
    }
    into.bytes.resize(value_bytes(&into.shape, ty), 0);
    if let (Some(_), Some(held)) = (outline.room, outline.shape.first()) {
        into.bytes[..STACK_HEADER].fill(0);
        into.bytes[..8].copy_from_slice(&(*held as u64).to_le_bytes());
    }
    Ok(true)
}

/// Copies planes to an argument of the same type and shape.
///
/// # Errors
///
/// An argument of another type or shape, which is then unchanged.
pub fn unstage(from: &Packed, ty: &ArgumentType, arg: &mut dyn DynArg) -> Result<(), Error> {
    let sample = Sample::of(arg);
    let Some(outline) = sample.outline(ty)? else { return arg.store(&unpack(from, ty)?) };
    if outline.room.is_none() && outline.shape != from.shape {
        let (expected, found) = (format!("{:?}", outline.shape), format!("{:?}", from.shape));
        return Err(Cause::Shape { place: "an argument".into(), expected, found }.into());
    }
    let count = match outline.room {
        Some(_) => marshal::held(from),
        None => marshal::count(&from.shape).unwrap_or(0),
    };
    let starts: Vec<usize> = planes(&from.shape, ty).into_iter().map(|(start, _)| start).collect();
    arg.read_planes(&mut PlaneReader::new(&from.bytes, &starts, count));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{arr2, Array2, Array3};
    use rev_core::ir::ScalarType;
    use rev_core::scalar::{Complex, Fixed43, Primal};
    use rev_core::value::Stack;

    /// Planes are those that the tree gives, and come back.
    fn alike<T: DynArg + PartialEq + std::fmt::Debug>(value: T, mut other: T, ty: &ArgumentType) {
        let sample = Sample::of(&value);
        assert!(sample.outline(ty).unwrap().is_some(), "{value:?}");
        let mut staged = Packed { shape: vec![], bytes: vec![0; 10_000] };
        stage(&value, &sample, ty, 4, &mut staged).unwrap();
        let packed = pack(&value.load(), ty, 4).unwrap();
        assert_eq!(unpack(&staged, ty).unwrap(), value.load());
        assert_eq!((&staged.shape, staged.bytes.len()), (&packed.shape, packed.bytes.len()));
        assert_ne!(value, other);
        unstage(&staged, ty, &mut other).unwrap();
        assert_eq!(value, other);
    }

    fn array(element: ArgumentType, rank: usize) -> ArgumentType {
        ArgumentType::Array(Box::new(element), rank)
    }

    #[test]
    fn planes_are_those_of_the_tree() {
        use ArgumentType::{Fixed, Shadow, Tuple};
        let scalar = ArgumentType::Scalar;
        let (f64, i32) = (scalar(ScalarType::F64), scalar(ScalarType::I32));
        alike(vec![1.5, -2.0, f64::MAX], vec![0.0; 3], &array(f64.clone(), 1));
        alike(vec![true, false], vec![false; 2], &array(scalar(ScalarType::Bool), 1));
        alike(vec![i128::MIN + 3, -1], vec![0; 2], &array(scalar(ScalarType::I128), 1));
        alike(vec![usize::MAX, 1], vec![0; 2], &array(scalar(ScalarType::Usize), 1));
        alike(
            vec![Fixed43::from_bits(-9)],
            vec![Fixed43::ZERO],
            &array(scalar(ScalarType::Fixed(rev_core::ir::FixedFormat::DEFAULT)), 1),
        );
        let z = vec![Complex::new(1.0f32, 2.0), Complex::new(3.0, 4.0)];
        alike(z.clone(), vec![Complex::new(0.0, 0.0); 2], &array(ArgumentType::Complex(ScalarType::F32), 1));
        let mut bar = z.zero_shadow::<3>();
        bar[1].im.0[2] = 7.0;
        let shadow = Shadow { real: ScalarType::F32, complex: true, width: 3 };
        alike(bar, z.zero_shadow::<3>(), &array(shadow, 1));
        let element = Tuple(vec![Fixed(Box::new(f64.clone()), 2), i32.clone()]);
        alike(vec![([1.0, 2.0], 3), ([4.0, 5.0], 6)], vec![([0.0; 2], 0); 2], &array(element.clone(), 1));
        alike(arr2(&[[1, 2, 3], [4, 5, 6]]), Array2::zeros((2, 3)), &array(i32.clone(), 2));
        let deep = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as f64);
        alike(deep, Array3::zeros((2, 3, 4)), &array(f64.clone(), 3));
        let stack = ArgumentType::Stack(Box::new(element));
        alike(Stack::from(vec![([1.0, 2.0], 3); 7]), Stack::new(), &stack);
        alike(Stack::new(), Stack::from(vec![([1.0, 2.0], 3)]), &stack);
    }

    #[test]
    fn views_are_read_and_written_where_they_are() {
        let ty = array(ArgumentType::Scalar(ScalarType::F64), 1);
        let mut a = arr2(&[[1.0, 2.0], [3.0, 4.0]]);
        let mut staged = Packed { shape: vec![], bytes: vec![] };
        let mut column = a.column_mut(1);
        stage(&column, &Sample::of(&column), &ty, 0, &mut staged).unwrap();
        assert_eq!(unpack(&staged, &ty).unwrap(), vec![2.0, 4.0].load());
        staged.bytes[8..16].copy_from_slice(&9f64.to_le_bytes());
        unstage(&staged, &ty, &mut column).unwrap();
        assert_eq!(a, arr2(&[[1.0, 2.0], [3.0, 9.0]]));
        // behind a shared reference nothing changes
        unstage(&staged, &ty, &mut a.column(0)).unwrap();
        unstage(&staged, &ty, &mut a.row(0).as_slice().unwrap()).unwrap();
        assert_eq!(a, arr2(&[[1.0, 2.0], [3.0, 9.0]]));
    }

    #[test]
    fn other_types_and_shapes_are_errors() {
        let ty = array(ArgumentType::Scalar(ScalarType::F64), 1);
        let mut staged = Packed { shape: vec![], bytes: vec![] };
        let mut fails = |value: &dyn DynArg| stage(value, &Sample::of(value), &ty, 0, &mut staged).is_err();
        assert!(fails(&vec![1i64]) && fails(&1.0) && fails(&Array2::<f64>::zeros((1, 1))));
        stage(&vec![1.0], &Sample::of(&vec![1.0]), &ty, 0, &mut staged).unwrap();
        let error = unstage(&staged, &ty, &mut vec![0.0; 2]).unwrap_err();
        assert_eq!(error.to_string(), "`an argument` must have the shape [2] and has [1]");
        // an empty one says nothing about its elements
        stage(&Vec::<i64>::new(), &Sample::of(&Vec::<i64>::new()), &ty, 0, &mut staged).unwrap();
    }
}
