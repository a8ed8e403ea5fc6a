//! Structs as values of the language: their zero, shadow, comparison, dynamic form and definition.

use rev_core::ir::{Class, Generic, GenericKind, Length, ScalarType, Type};
use rev_core::scalar::{Batch, Linear, Primal, Zero};
use rev_core::structure::{Structs, Structure};
use rev_core::tolerance::Tolerances;
use rev_core::value::{Data, DynArg};
use rev_cpu::prelude::*;

/// A pose.
#[derive(Clone, Debug, PartialEq, Reversible)]
pub struct Pose<T> {
    /// An axis times an angle.
    pub rotation: [T; 3],
    /// A position.
    pub center: (T, T, T),
}

/// Fields of every kind.
#[derive(Clone, Debug, PartialEq, Reversible)]
struct Camera<T: Real, const K: usize> {
    pose: Pose<T>,
    lens: [T; K],
    phase: Complex<T>,
    frame: usize,
    fixed: f64,
    used: bool,
}

fn camera() -> Camera<f64, 2> {
    Camera {
        pose: Pose { rotation: [1.0, 2.0, 3.0], center: (4.0, 5.0, -6.0) },
        lens: [0.5, 0.25],
        phase: Complex::new(0.0, 1.0),
        frame: 7,
        fixed: 8.0,
        used: true,
    }
}

#[test]
fn zero_and_magnitude() {
    let zero = Camera::<f64, 2>::zero();
    assert_eq!(zero, camera().zero_like());
    assert_eq!(zero.pose.center, (0.0, 0.0, 0.0));
    assert_eq!(zero.magnitude(), 0.0);
    assert_eq!(camera().magnitude(), 8.0);
}

#[test]
fn a_shadow_has_the_same_fields() {
    let mut shadow = camera().zero_shadow::<1>();
    assert!(shadow.is_zero());
    shadow.pose.rotation[1].accumulate(&Batch([2.0]));
    shadow.phase.im.accumulate(&Batch([1.0]));
    let mut twice = shadow.clone();
    twice.accumulate(&shadow);
    assert_eq!(twice.pose.rotation[1].get(), 4.0);
    twice.deduct(&shadow);
    twice.negate();
    assert_eq!((twice.pose.rotation[1].get(), twice.phase.im.get()), (-2.0, -1.0));
    twice.set_zero();
    assert!(twice.is_zero() && !shadow.is_zero());
}

#[test]
fn a_difference_has_its_path() {
    let mut other = camera();
    other.pose.rotation[2] = 3.5;
    let mismatch = other.compare(&camera(), &Tolerances::default(), None).unwrap_err();
    assert_eq!(mismatch.path, ".pose.rotation[2]");
    assert!(camera().compare(&camera(), &Tolerances::default(), None).is_ok());
    other = camera();
    other.lens[0] = f64::NAN;
    assert!(other.compare(&other.clone(), &Tolerances::default(), None).is_err());
}

#[test]
fn dynamic_values_and_back() {
    let data = camera().load();
    assert_eq!(data.field("frame").unwrap(), &7usize.load());
    let mut copy = Camera::<f64, 2>::zero();
    copy.store(&data).unwrap();
    assert_eq!(copy, camera());
    assert!(copy.store(&Data::None).is_err());
    let shadow = camera().zero_shadow::<2>();
    let mut back = shadow.clone();
    back.store(&shadow.load()).unwrap();
    assert!(back.is_zero());
}

#[test]
fn the_definition_names_the_structs_inside() {
    let mut structs = Structs::new();
    Camera::<f64, 2>::define("m::Camera", &mut structs);
    assert_eq!(structs.keys().collect::<Vec<_>>(), ["Pose", "m::Camera"]);
    let camera = &structs["m::Camera"];
    assert_eq!(camera.name, "Camera");
    let t = Type::Generic("T".into());
    assert_eq!(
        camera.fields,
        [
            ("pose".to_string(), Type::Struct("Pose".into(), vec![t.clone()])),
            ("lens".to_string(), Type::Fixed(Box::new(t.clone()), Length::Named("K".into()))),
            ("phase".to_string(), Type::Complex(Box::new(t))),
            ("frame".to_string(), Type::Scalar(ScalarType::Usize)),
            ("fixed".to_string(), Type::Scalar(ScalarType::F64)),
            ("used".to_string(), Type::Scalar(ScalarType::Bool)),
        ]
    );
    assert_eq!(
        camera.generics,
        [
            Generic { name: "T".into(), kind: GenericKind::Scalar(Class::Real) },
            Generic { name: "K".into(), kind: GenericKind::Const },
        ]
    );
}
