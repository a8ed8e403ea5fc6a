//! What the type and const parameters of a function stand for in a call: found from the values of
//! its arguments, and from the arguments written at the call where those don't say it.

use crate::ir::{Generic, GenericArgument, Length, Module, Number, ScalarType, StructDef, Type};
use crate::value::{literal_number, Array, Data, Record, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The types and numbers that generic parameters stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Generics {
    types: BTreeMap<String, Type>,
    consts: BTreeMap<String, usize>,
}

impl Generics {
    /// The value of a const parameter.
    pub fn constant(&self, name: &str) -> Option<usize> {
        self.consts.get(name).copied()
    }

    /// Learns from a value of a type.
    pub fn learn(&mut self, module: &Module, ty: &Type, data: &Data) {
        match (ty, data) {
            (Type::Generic(name), Data::Scalar(v)) => self.set(name, v.ir_type()),
            (Type::Generic(name), Data::Lanes(l)) => {
                if let Some(v) = l.first() {
                    self.set(name, v.ir_type());
                }
            }
            (Type::Complex(real), Data::Scalar(v)) => {
                if let Some((re, _)) = v.parts() {
                    self.learn(module, real, &Data::Scalar(re));
                }
            }
            (Type::Complex(real), Data::Lanes(l)) => {
                if let Some((re, _)) = l.first().and_then(Value::parts) {
                    self.learn(module, real, &Data::Scalar(re));
                }
            }
            (Type::Fixed(element, length), Data::Array(a)) => {
                if let (Length::Named(n), [k]) = (length, a.shape.as_slice()) {
                    self.consts.entry(n.clone()).or_insert(*k);
                }
                self.learn_first(module, element, &a.elements);
            }
            (Type::Array(element, _), Data::Array(a)) => self.learn_first(module, element, &a.elements),
            (Type::Stack(element), Data::Stack(es)) => self.learn_first(module, element, es),
            (Type::Tuple(types), Data::Tuple(es)) => {
                types.iter().zip(es).for_each(|(t, e)| self.learn(module, t, e));
            }
            (Type::Struct(name, args), Data::Struct(r)) => self.learn_struct(module, name, args, r),
            (Type::Shadow(of), _) => self.learn(module, of, data),
            _ => {}
        }
    }

    fn set(&mut self, name: &str, ty: Type) {
        self.types.entry(name.to_string()).or_insert(ty);
    }

    fn learn_first(&mut self, module: &Module, ty: &Type, elements: &[Data]) {
        if let Some(first) = elements.first() {
            self.learn(module, ty, first);
        }
    }

    fn learn_struct(&mut self, module: &Module, name: &str, args: &[Type], r: &Record) {
        let Some(def) = module.structs.get(name) else { return };
        let mut inner = Generics::default();
        for ((_, ty), (_, data)) in def.fields.iter().zip(&r.fields) {
            inner.learn(module, ty, data);
        }
        for (generic, arg) in def.generics.iter().zip(args) {
            match (inner.types.get(&generic.name), inner.consts.get(&generic.name), arg) {
                (Some(ty), _, Type::Generic(own)) => self.set(own, ty.clone()),
                (_, Some(n), Type::Generic(own)) => {
                    self.consts.entry(own.clone()).or_insert(*n);
                }
                _ => {}
            }
        }
    }

    /// Learns from the generic arguments written in a path, `f::<f64, 3>`, for what isn't known yet.
    pub fn learn_written(&mut self, generics: &[Generic], path: &str, caller: &Generics) {
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

    /// The scalar type that a type stands for, `None` where that isn't known or isn't a scalar.
    pub fn scalar(&self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Scalar(_) => Some(ty.clone()),
            Type::Generic(name) => self.types.get(name).cloned(),
            Type::Complex(real) => self.scalar(real).map(|r| Type::Complex(Box::new(r))),
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

    /// Gives the literals in a value the type that is written for it, where that is known.
    pub fn settle(&self, module: &Module, ty: &Type, data: Data) -> Data {
        let each = |t: &Type, es: Vec<Data>| es.into_iter().map(|e| self.settle(module, t, e)).collect();
        match (ty, data) {
            (_, Data::Literal(n)) => match self.scalar(ty) {
                Some(ty) => Value::from_num(literal_number(n), &ty).map_or(Data::Literal(n), Data::Scalar),
                None => Data::Literal(n),
            },
            (Type::Array(t, _) | Type::Fixed(t, _), Data::Array(a)) => {
                Data::Array(Array { shape: a.shape, elements: each(t, a.elements) })
            }
            (Type::Stack(t), Data::Stack(es)) => Data::Stack(each(t, es)),
            (Type::Tuple(ts), Data::Tuple(es)) => {
                Data::Tuple(es.into_iter().zip(ts).map(|(e, t)| self.settle(module, t, e)).collect())
            }
            (Type::Struct(name, args), Data::Struct(mut r)) => {
                if let Some((def, inner)) = self.inside(module, name, args) {
                    for ((_, data), (_, ty)) in r.fields.iter_mut().zip(&def.fields) {
                        *data = inner.settle(module, ty, std::mem::replace(data, Data::None));
                    }
                }
                Data::Struct(r)
            }
            (Type::Shadow(of), data) => self.settle(module, of, data).widened(),
            (_, data) => data,
        }
    }

    /// A struct's definition, and what its own generic parameters stand for.
    fn inside<'m>(&self, module: &'m Module, name: &str, args: &[Type]) -> Option<(&'m StructDef, Generics)> {
        let def = module.structs.get(name)?;
        let mut inner = Generics::default();
        for (generic, arg) in def.generics.iter().zip(args) {
            if let Some(ty) = self.scalar(arg) {
                inner.set(&generic.name, ty);
            }
            if let Type::Generic(n) = arg {
                if let Some(n) = self.constant(n) {
                    inner.consts.insert(generic.name.clone(), n);
                }
            }
            if let Some(n) = arg.const_argument(&module.constants) {
                inner.consts.insert(generic.name.clone(), n);
            }
        }
        Some((def, inner))
    }

    /// The zero of a type: a literal where the scalar type isn't known, empty where the shape isn't.
    /// The name of a type that isn't known as the error.
    pub fn zero(&self, module: &Module, ty: &Type) -> Result<Data, String> {
        Ok(match ty {
            Type::Scalar(ScalarType::Bool) => Data::scalar(false),
            Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) => {
                self.settle(module, ty, Data::Literal(Number::Int(0)))
            }
            Type::Array(_, rank) => {
                let n = match rank {
                    crate::ir::Rank::Fixed(n) => usize::from(*n),
                    crate::ir::Rank::Dynamic => 1,
                };
                Data::Array(Array { shape: vec![0; n], elements: Vec::new() })
            }
            Type::Fixed(element, length) => {
                let n = match length {
                    Length::Literal(n) => *n as usize,
                    Length::Named(name) => match (self.constant(name), module.constants.get(name)) {
                        (Some(n), _) => n,
                        (None, Some(Number::Int(n))) => usize::try_from(*n).map_err(|_| name.clone())?,
                        (None, _) => return Err(name.clone()),
                    },
                };
                let element = self.zero(module, element)?;
                Data::Array(Array::filled(&element, vec![n]).ok_or_else(|| ty.to_string())?)
            }
            Type::Tuple(ts) => {
                Data::Tuple(ts.iter().map(|t| self.zero(module, t)).collect::<Result<_, _>>()?)
            }
            Type::Struct(name, args) => {
                let (def, inner) = self.inside(module, name, args).ok_or_else(|| name.clone())?;
                let fields =
                    def.fields.iter().map(|(n, t)| Ok((Arc::from(n.as_str()), inner.zero(module, t)?)));
                Data::Struct(Record {
                    name: Arc::from(name.as_str()),
                    fields: fields.collect::<Result<_, String>>()?,
                })
            }
            Type::Stack(_) => Data::Stack(Vec::new()),
            Type::Shadow(of) => self.zero(module, of)?.zero_shadow(),
            Type::Function(name) => return Err(name.clone()),
            Type::Unknown => Data::Literal(Number::Int(0)),
        })
    }
}
