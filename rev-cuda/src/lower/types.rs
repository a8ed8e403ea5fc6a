//! The concrete types of arguments and variables: what a program is lowered for.

use rev_core::error::{Cause, Error};
use rev_core::ir::{Direction, Function, Module, ScalarType, Type};
use rev_core::value::{Data, Value};

use super::generics::Generics;
use crate::kernel::Ty;

/// A type without values: scalars, lengths of fixed-size arrays and ranks are known, the lengths of
/// other arrays aren't.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentType {
    /// A scalar, and the shadow of one that is one cotangent wide.
    Scalar(ScalarType),
    /// A complex number over a real scalar, and its shadow that is one cotangent wide.
    Complex(ScalarType),
    /// The shadow of a real or complex number, several cotangents wide.
    Shadow {
        /// The real scalar.
        real: ScalarType,
        /// Whether it is the shadow of a complex number.
        complex: bool,
        /// How many cotangents.
        width: usize,
    },
    /// A fixed-size array.
    Fixed(Box<ArgumentType>, usize),
    /// A tuple.
    Tuple(Vec<ArgumentType>),
    /// A struct: its name, the names and types of its fields.
    Struct(String, Vec<(String, ArgumentType)>),
    /// A slice, vector or array: the type of its elements and the number of its axes.
    Array(Box<ArgumentType>, usize),
    /// A stack.
    Stack(Box<ArgumentType>),
    /// A reversible function, by its unique name in the module.
    Function(String),
    /// The shadow of what carries no derivative.
    None,
}

impl ArgumentType {
    /// The leaves of a value, of an element where it is an array, in the order of
    /// [`crate::layout`].
    pub fn leaves(&self) -> Vec<Ty> {
        let mut leaves = Vec::new();
        self.add_leaves(&mut leaves);
        leaves
    }

    fn add_leaves(&self, leaves: &mut Vec<Ty>) {
        match self {
            ArgumentType::Scalar(scalar) => leaves.extend(scalar_leaves(*scalar)),
            ArgumentType::Complex(real) => (0..2).for_each(|_| leaves.extend(scalar_leaves(*real))),
            ArgumentType::Shadow { real, complex, width } => {
                (0..width * (1 + usize::from(*complex))).for_each(|_| leaves.extend(scalar_leaves(*real)));
            }
            ArgumentType::Fixed(element, length) => {
                (0..*length).for_each(|_| element.add_leaves(leaves));
            }
            ArgumentType::Tuple(elements) => elements.iter().for_each(|e| e.add_leaves(leaves)),
            ArgumentType::Struct(_, fields) => fields.iter().for_each(|(_, t)| t.add_leaves(leaves)),
            ArgumentType::Array(element, _) | ArgumentType::Stack(element) => element.add_leaves(leaves),
            ArgumentType::Function(_) | ArgumentType::None => {}
        }
    }

    /// The first scalar in it that a condition is true of.
    pub fn find_scalar(&self, is: &dyn Fn(ScalarType) -> bool) -> Option<ScalarType> {
        match self {
            ArgumentType::Scalar(s) | ArgumentType::Complex(s) | ArgumentType::Shadow { real: s, .. } => {
                is(*s).then_some(*s)
            }
            ArgumentType::Fixed(t, _) | ArgumentType::Array(t, _) | ArgumentType::Stack(t) => {
                t.find_scalar(is)
            }
            ArgumentType::Tuple(ts) => ts.iter().find_map(|t| t.find_scalar(is)),
            ArgumentType::Struct(_, fields) => fields.iter().find_map(|(_, t)| t.find_scalar(is)),
            ArgumentType::Function(_) | ArgumentType::None => None,
        }
    }

    /// Whether there is a number of 128 bits in it.
    pub fn has_wide(&self) -> bool {
        self.find_scalar(&|s| s.bits() == 128).is_some()
    }

    /// The number of axes; none for what isn't an array.
    pub fn rank(&self) -> usize {
        match self {
            ArgumentType::Array(_, rank) => *rank,
            ArgumentType::Stack(_) => 1,
            ArgumentType::Scalar(_)
            | ArgumentType::Complex(_)
            | ArgumentType::Shadow { .. }
            | ArgumentType::Fixed(..)
            | ArgumentType::Tuple(_)
            | ArgumentType::Struct(..)
            | ArgumentType::Function(_)
            | ArgumentType::None => 0,
        }
    }

    /// The types of the arguments of the program that `direction` names of the module's entry, from
    /// the values of the arguments. What an empty array can't say is found from the others.
    ///
    /// # Errors
    ///
    /// A wrong number of arguments, a type that none of them says, or a struct that holds arrays.
    pub fn of_arguments(
        module: &Module,
        direction: Direction,
        arguments: &[Data],
    ) -> Result<Vec<ArgumentType>, Error> {
        let Some(function) = module.entry() else {
            return Err(Cause::Missing { kind: "function".into(), name: module.entry.clone() }.into());
        };
        let types = parameter_types(function, direction);
        if types.len() != arguments.len() {
            let (function, expected) = (function.name.clone(), types.len());
            return Err(Cause::Arguments { function, expected, found: arguments.len() }.into());
        }
        let mut generics = Generics::default();
        types.iter().zip(arguments).for_each(|(ty, data)| generics.learn_data(module, ty, data));
        let one = |(ty, data)| {
            generics
                .of_data(module, ty, data)
                .map_err(|name| Error::from(Cause::Missing { kind: "type of an argument".into(), name }))
        };
        let types: Vec<ArgumentType> = types.iter().zip(arguments).map(one).collect::<Result<_, _>>()?;
        match types.iter().find_map(ArgumentType::struct_with_arrays) {
            None => Ok(types),
            Some(name) => {
                let reason = format!(
                    "a `{name}` holds arrays or stacks, which a GPU doesn't take inside of a struct: pass them as \
                     arguments of their own"
                );
                Err(Cause::Device { device: "gpu".into(), reason }.into())
            }
        }
    }

    /// The name of a struct in it that holds what has a run-time shape.
    fn struct_with_arrays(&self) -> Option<&str> {
        match self {
            ArgumentType::Struct(name, fields) => {
                let shaped = |t: &ArgumentType| matches!(t, ArgumentType::Array(..) | ArgumentType::Stack(_));
                match fields.iter().any(|(_, t)| shaped(t)) {
                    true => Some(name),
                    false => fields.iter().find_map(|(_, t)| t.struct_with_arrays()),
                }
            }
            ArgumentType::Fixed(t, _) | ArgumentType::Array(t, _) | ArgumentType::Stack(t) => {
                t.struct_with_arrays()
            }
            ArgumentType::Tuple(ts) => ts.iter().find_map(ArgumentType::struct_with_arrays),
            ArgumentType::Scalar(_)
            | ArgumentType::Complex(_)
            | ArgumentType::Shadow { .. }
            | ArgumentType::Function(_)
            | ArgumentType::None => None,
        }
    }
}

/// The types of the parameters of a function's program in a direction: each adjoint puts a shadow
/// behind every parameter.
fn parameter_types(function: &Function, direction: Direction) -> Vec<Type> {
    let own = function.params.iter().map(|p| function.var(*p).ty.clone()).collect();
    (0..direction.adjoint).fold(own, |types: Vec<Type>, _| {
        types.into_iter().flat_map(|t| [t.clone(), Type::Shadow(Box::new(t))]).collect()
    })
}

/// The leaves of a scalar.
pub(crate) fn scalar_leaves(scalar: ScalarType) -> Vec<Ty> {
    match scalar {
        ScalarType::Bool => vec![Ty::Pred],
        ScalarType::F16 => vec![Ty::F16],
        ScalarType::Bf16 => vec![Ty::Bf16],
        ScalarType::F32 => vec![Ty::F32],
        ScalarType::F64 => vec![Ty::F64],
        _ => match (scalar.bits(), scalar.signed() != Some(false)) {
            (8, true) => vec![Ty::I8],
            (8, false) => vec![Ty::U8],
            (16, true) => vec![Ty::I16],
            (16, false) => vec![Ty::U16],
            (32, true) => vec![Ty::I32],
            (32, false) => vec![Ty::U32],
            (64, true) => vec![Ty::I64],
            (64, false) => vec![Ty::U64],
            // in two halves
            _ => vec![Ty::U64, Ty::U64],
        },
    }
}

/// The type of a scalar value.
pub(crate) fn of_value(value: &Value) -> ArgumentType {
    match value.ir_type() {
        Type::Complex(real) => match *real {
            Type::Scalar(real) => ArgumentType::Complex(real),
            _ => ArgumentType::None,
        },
        Type::Scalar(scalar) => ArgumentType::Scalar(scalar),
        _ => ArgumentType::None,
    }
}
