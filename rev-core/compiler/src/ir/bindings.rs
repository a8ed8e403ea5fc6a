use std::collections::BTreeMap;

use super::{FunctionPath, Generic, GenericArgument, Length, Module, Number, StructDef, Type};

/// What the generic parameters of a function or a struct stand for: scalar types and numbers. What is learnt first
/// stays.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    types: BTreeMap<String, Type>,
    consts: BTreeMap<String, usize>,
}

impl Bindings {
    /// The value of a const parameter.
    pub fn constant(&self, name: &str) -> Option<usize> {
        self.consts.get(name).copied()
    }

    /// Learns what a type parameter stands for.
    pub fn set(&mut self, name: &str, ty: Type) {
        self.types.entry(name.to_string()).or_insert(ty);
    }

    /// Learns the length of a fixed-size array.
    pub fn set_length(&mut self, length: &Length, n: usize) {
        if let Length::Named(name) = length {
            self.consts.entry(name.clone()).or_insert(n);
        }
    }

    /// Learns from the generic arguments written in a path, `f::<f64, 3>`.
    pub fn learn_written(&mut self, generics: &[Generic], path: &FunctionPath, caller: &Bindings) {
        for (generic, argument) in Generic::written(generics, path) {
            match argument {
                GenericArgument::Scalar(ty) => {
                    if let Some(ty) = caller.scalar(&ty) {
                        self.set(&generic.name, ty);
                    }
                }
                GenericArgument::Length(length) => {
                    let known = match length {
                        Length::Literal(n) => usize::try_from(n).ok(),
                        Length::Named(name) => caller.constant(&name),
                    };
                    if let Some(n) = known {
                        self.consts.entry(generic.name.clone()).or_insert(n);
                    }
                }
            }
        }
    }

    /// Learns from what the parameters of a struct stand for, which has these arguments.
    pub fn learn_arguments(&mut self, def: &StructDef, arguments: &[Type], inside: &Bindings) {
        for (generic, argument) in def.generics.iter().zip(arguments) {
            match (inside.types.get(&generic.name), inside.constant(&generic.name), argument) {
                (Some(ty), _, Type::Generic(own)) => self.set(own, ty.clone()),
                (Some(Type::Complex(found)), _, Type::Complex(real)) => {
                    if let Type::Generic(own) = &**real {
                        self.set(own, (**found).clone());
                    }
                }
                (None, Some(n), Type::Generic(own)) => {
                    self.consts.entry(own.clone()).or_insert(n);
                }
                _ => {}
            }
        }
    }

    /// What the parameters of a struct stand for, which has these arguments.
    pub fn inside(&self, module: &Module, def: &StructDef, arguments: &[Type]) -> Bindings {
        let mut inside = Bindings::default();
        for (generic, argument) in def.generics.iter().zip(arguments) {
            if let Some(ty) = self.scalar(argument) {
                inside.set(&generic.name, ty);
            }
            let of_caller = match argument {
                Type::Generic(name) => self.constant(name),
                _ => None,
            };
            if let Some(n) = argument.const_argument(&module.constants).or(of_caller) {
                inside.consts.insert(generic.name.clone(), n);
            }
        }
        inside
    }

    /// The scalar type that a type stands for, `None` where that isn't known or isn't a scalar.
    pub fn scalar(&self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Scalar(_) => Some(ty.clone()),
            Type::Generic(name) => self.types.get(name).cloned(),
            Type::Complex(real) => match self.scalar(real)? {
                real @ Type::Scalar(_) => Some(Type::Complex(Box::new(real))),
                _ => None,
            },
            Type::Array(..)
            | Type::Fixed(..)
            | Type::Tuple(_)
            | Type::Struct(..)
            | Type::Stack(_)
            | Type::Function(_)
            | Type::Shadow(_)
            | Type::Unknown => None,
        }
    }

    /// The scalar type of the cotangents of a scalar type.
    pub fn cotangent(&self, of: &Type) -> Option<Type> {
        let widened = |ty: Type| match ty {
            Type::Scalar(s) => Type::Scalar(s.cotangent()),
            other => other,
        };
        Some(match self.scalar(of)? {
            Type::Complex(real) => Type::Complex(Box::new(widened(*real))),
            real => widened(real),
        })
    }

    /// The length of a fixed-size array.
    ///
    /// # Errors
    ///
    /// The name of what isn't known, or the number that doesn't fit.
    pub fn length(&self, module: &Module, length: &Length) -> Result<usize, String> {
        match length {
            Length::Literal(n) => usize::try_from(*n).map_err(|_| n.to_string()),
            Length::Named(name) => match (self.constant(name), module.constants.get(name)) {
                (Some(n), _) => Ok(n),
                (None, Some(Number::Int(n))) => usize::try_from(*n).map_err(|_| name.clone()),
                (None, _) => Err(name.clone()),
            },
        }
    }
}
