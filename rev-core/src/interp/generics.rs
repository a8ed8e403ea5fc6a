//! What the type and const parameters of a function stand for in a call: found from the values of
//! its arguments, and from the arguments written at the call where those don't say it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::ir::{Bindings, Module, Number, ScalarType, StructDef, Type};
use crate::value::{literal_number, Array, Data, Record, Value};

/// The types and numbers that generic parameters stand for, learnt from values.
#[derive(Clone, Debug, Default)]
pub(super) struct Generics(Bindings);

impl Deref for Generics {
    type Target = Bindings;

    fn deref(&self) -> &Bindings {
        &self.0
    }
}

impl DerefMut for Generics {
    fn deref_mut(&mut self) -> &mut Bindings {
        &mut self.0
    }
}

impl Generics {
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
                if let [k] = a.shape.as_slice() {
                    self.set_length(length, *k);
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

    fn learn_first(&mut self, module: &Module, ty: &Type, elements: &[Data]) {
        if let Some(first) = elements.first() {
            self.learn(module, ty, first);
        }
    }

    fn learn_struct(&mut self, module: &Module, name: &str, args: &[Type], r: &Record) {
        if let Some(parts) = Type::parts_of_option(name, args) {
            return r.fields.iter().for_each(|(_, data)| self.learn(module, &parts, data));
        }
        let Some(def) = module.structs.get(name) else { return };
        let mut inner = Generics::default();
        for ((_, ty), (_, data)) in def.fields.iter().zip(&r.fields) {
            inner.learn(module, ty, data);
        }
        self.learn_arguments(def, args, &inner);
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
                if let Some(parts) = Type::parts_of_option(name, args) {
                    for (_, data) in &mut r.fields {
                        *data = self.settle(module, &parts, std::mem::replace(data, Data::None));
                    }
                } else if let Some((def, inner)) = self.inside(module, name, args) {
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
        Some((def, Generics(self.0.inside(module, def, args))))
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
                let n = self.length(module, length)?;
                let element = self.zero(module, element)?;
                Data::Array(Array::filled(&element, vec![n]).ok_or_else(|| ty.to_string())?)
            }
            Type::Tuple(ts) => {
                Data::Tuple(ts.iter().map(|t| self.zero(module, t)).collect::<Result<_, _>>()?)
            }
            Type::Struct(name, args) => {
                let (def, inner) = self.inside(module, name, args).ok_or_else(|| name.clone())?;
                let of_option = Type::parts_of_option(name, args);
                let zero = |t: &Type| match &of_option {
                    Some(parts) => self.zero(module, parts),
                    None => inner.zero(module, t),
                };
                let fields = def.fields.iter().map(|(n, t)| Ok((Arc::from(n.as_str()), zero(t)?)));
                Data::Struct(Record {
                    name: Arc::from(name.as_str()),
                    fields: fields.collect::<Result<_, String>>()?,
                })
            }
            Type::Stack(_) => Data::Stack(Vec::new()),
            Type::Shadow(of) => self.zero(module, of)?.zero_shadow(),
            Type::Function(name) => return Err(name.to_string()),
            Type::Unknown => Data::Literal(Number::Int(0)),
        })
    }
}
