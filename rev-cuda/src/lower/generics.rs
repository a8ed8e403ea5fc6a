//! What the type and const parameters of a function stand for, and the concrete types of its
//! variables.

use rev_core::ir::{Bindings, FunctionPath, Generic, Module, Rank, ScalarType, Type};
use rev_core::value::Data;

use super::types::{of_value, ArgumentType};
use super::value::is_active;

/// The scalar types and numbers that generic parameters stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Generics {
    bound: Bindings,
    /// How many cotangents shadows have, where an argument says it.
    width: Option<usize>,
}

impl Generics {
    /// The value of a const parameter.
    pub fn constant(&self, name: &str) -> Option<usize> {
        self.bound.constant(name)
    }

    /// Learns from a value of a type.
    pub fn learn_data(&mut self, module: &Module, ty: &Type, data: &Data) {
        match (ty, data) {
            (Type::Shadow(of), Data::Lanes(lanes)) => {
                self.width.get_or_insert(lanes.len());
                self.learn_data(module, of, data);
            }
            (Type::Shadow(of), data) if !matches!(**of, Type::Generic(_) | Type::Complex(_)) => {
                self.learn_inside_shadow(module, of, data);
            }
            (Type::Shadow(of), data) => self.learn_data(module, of, data),
            (Type::Fixed(element, length), Data::Array(a)) => {
                if let [k] = a.shape.as_slice() {
                    self.bound.set_length(length, *k);
                }
                a.elements.first().into_iter().for_each(|e| self.learn_data(module, element, e));
            }
            (Type::Array(element, _), Data::Array(a)) => {
                a.elements.first().into_iter().for_each(|e| self.learn_data(module, element, e));
            }
            (Type::Stack(element), Data::Stack(es)) => {
                es.first().into_iter().for_each(|e| self.learn_data(module, element, e));
            }
            (Type::Tuple(types), Data::Tuple(es)) => {
                types.iter().zip(es).for_each(|(t, e)| self.learn_data(module, t, e));
            }
            (_, Data::Lanes(lanes)) => {
                lanes.first().into_iter().for_each(|v| self.learn(module, ty, &of_value(v)));
            }
            (_, Data::Scalar(v)) => self.learn(module, ty, &of_value(v)),
            (Type::Struct(name, args), Data::Struct(r)) => {
                if let Some(parts) = Type::parts_of_option(name, args) {
                    return r.fields.iter().for_each(|(_, data)| self.learn_data(module, &parts, data));
                }
                let Some(def) = module.structs.get(name) else { return };
                let mut inner = Generics::default();
                for ((_, ty), (_, data)) in def.fields.iter().zip(&r.fields) {
                    inner.learn_data(module, ty, data);
                }
                self.bound.learn_arguments(def, args, &inner.bound);
            }
            _ => {}
        }
    }

    /// The width of the shadows inside a composite one, and what its parts say.
    fn learn_inside_shadow(&mut self, module: &Module, of: &Type, data: &Data) {
        fn width(data: &Data) -> Option<usize> {
            match data {
                Data::Lanes(l) => Some(l.len()),
                Data::Scalar(_) => Some(1),
                _ => data.children().find_map(width),
            }
        }
        if self.width.is_none() {
            self.width = width(data);
        }
        self.learn_data(module, of, data);
    }

    /// Learns from the concrete type of an argument.
    pub fn learn(&mut self, module: &Module, ty: &Type, found: &ArgumentType) {
        match (ty, found) {
            (Type::Generic(name), ArgumentType::Scalar(real)) => self.bound.set(name, Type::Scalar(*real)),
            (Type::Generic(name), ArgumentType::Complex(real)) => self.bound.set(name, complex(*real)),
            (Type::Generic(name), ArgumentType::Shadow { real, complex: parts, width }) => {
                self.width.get_or_insert(*width);
                self.bound.set(name, if *parts { complex(*real) } else { Type::Scalar(*real) });
            }
            (Type::Complex(real), ArgumentType::Complex(r) | ArgumentType::Shadow { real: r, .. }) => {
                self.learn(module, real, &ArgumentType::Scalar(*r));
            }
            (Type::Fixed(element, length), ArgumentType::Fixed(found, n)) => {
                self.bound.set_length(length, *n);
                self.learn(module, element, found);
            }
            (Type::Array(element, _), ArgumentType::Array(found, _))
            | (Type::Stack(element), ArgumentType::Stack(found)) => self.learn(module, element, found),
            (Type::Tuple(types), ArgumentType::Tuple(found)) => {
                types.iter().zip(found).for_each(|(t, f)| self.learn(module, t, f));
            }
            (Type::Struct(name, args), ArgumentType::Struct(_, fields)) => {
                if let Some(parts) = Type::parts_of_option(name, args) {
                    return fields.iter().for_each(|(_, found)| self.learn(module, &parts, found));
                }
                let Some(def) = module.structs.get(name) else { return };
                let mut inner = Generics::default();
                for ((_, ty), (_, found)) in def.fields.iter().zip(fields) {
                    inner.learn(module, ty, found);
                }
                self.bound.learn_arguments(def, args, &inner.bound);
            }
            (Type::Shadow(of), _) => self.learn(module, of, found),
            _ => {}
        }
    }

    /// Learns from the generic arguments written in a path, `f::<f64, 3>`, for what isn't known yet.
    pub fn learn_written(&mut self, generics: &[Generic], path: &FunctionPath, caller: &Generics) {
        self.bound.learn_written(generics, path, &caller.bound);
    }

    /// The scalar type that a type stands for, where that is known and it is one.
    pub fn scalar(&self, ty: &Type) -> Option<ArgumentType> {
        self.bound.scalar(ty).as_ref().and_then(of_scalar)
    }

    /// The scalar type of the cotangents of a scalar type.
    pub fn cotangent(&self, of: &Type) -> Option<ArgumentType> {
        self.bound.cotangent(of).as_ref().and_then(of_scalar)
    }

    /// The concrete type that a type stands for, or the name of what isn't known.
    pub fn concrete(&self, module: &Module, ty: &Type) -> Result<ArgumentType, String> {
        self.typed(module, ty, None)
    }

    /// The same, completed from a value.
    pub fn of_data(&self, module: &Module, ty: &Type, data: &Data) -> Result<ArgumentType, String> {
        self.typed(module, ty, Some(data))
    }

    fn typed(&self, module: &Module, ty: &Type, data: Option<&Data>) -> Result<ArgumentType, String> {
        let boxed = |t, d| self.typed(module, t, d).map(Box::new);
        Ok(match (ty, data) {
            (_, Some(Data::None)) => ArgumentType::None,
            (_, Some(Data::Function(name))) => ArgumentType::Function(name.to_string()),
            (_, Some(Data::Scalar(v))) => of_value(v),
            (_, Some(Data::Lanes(lanes))) => self.lanes(lanes.first().map(of_value), lanes.len())?,
            (Type::Shadow(of), Some(Data::Array(_) | Data::Tuple(_) | Data::Struct(_) | Data::Stack(_))) => {
                self.shadow_of_data(module, of, data)?
            }
            (Type::Shadow(of), _) => shadow(&self.typed(module, of, None)?, self.width.unwrap_or(1)),
            (Type::Scalar(_) | Type::Generic(_) | Type::Complex(_), _) => {
                self.scalar(ty).ok_or_else(|| ty.to_string())?
            }
            (Type::Fixed(element, length), data) => {
                ArgumentType::Fixed(boxed(element, first(data))?, self.bound.length(module, length)?)
            }
            (Type::Array(element, _), Some(Data::Array(a))) => {
                ArgumentType::Array(boxed(element, a.elements.first())?, a.shape.len())
            }
            (Type::Array(element, rank), _) => {
                let rank = match rank {
                    Rank::Fixed(n) => usize::from(*n),
                    Rank::Dynamic => return Err(ty.to_string()),
                };
                ArgumentType::Array(boxed(element, None)?, rank)
            }
            (Type::Stack(element), data) => ArgumentType::Stack(boxed(element, first(data))?),
            (Type::Tuple(types), data) => ArgumentType::Tuple(
                types
                    .iter()
                    .enumerate()
                    .map(|(k, t)| self.typed(module, t, data.and_then(|d| d.children().nth(k))))
                    .collect::<Result<_, _>>()?,
            ),
            (Type::Struct(name, args), data) => self.structure(module, name, args, data)?,
            (Type::Function(name), _) => return Err(name.to_string()),
            (Type::Unknown, Some(Data::Array(a))) => {
                ArgumentType::Array(boxed(&Type::Unknown, a.elements.first())?, a.shape.len())
            }
            (Type::Unknown, Some(Data::Tuple(es))) => ArgumentType::Tuple(
                es.iter().map(|e| self.typed(module, ty, Some(e))).collect::<Result<_, _>>()?,
            ),
            (Type::Unknown, _) => return Err("_".into()),
        })
    }

    /// The type of a composite shadow: that of the variable, as wide as the shadows are.
    fn shadow_of_data(
        &self,
        module: &Module,
        of: &Type,
        data: Option<&Data>,
    ) -> Result<ArgumentType, String> {
        let inner = match (of, data) {
            // the elements of an empty array, and of an array of any rank, are known from elsewhere
            (Type::Array(element, _), Some(Data::Array(a))) => {
                ArgumentType::Array(Box::new(self.typed(module, element, None)?), a.shape.len())
            }
            _ => self.typed(module, of, None)?,
        };
        Ok(shadow(&inner, self.width.unwrap_or(1)))
    }

    fn lanes(&self, of: Option<ArgumentType>, width: usize) -> Result<ArgumentType, String> {
        match of {
            Some(of) => Ok(shadow(&of, width)),
            None => Err("a shadow without cotangents".into()),
        }
    }

    fn structure(
        &self,
        module: &Module,
        name: &str,
        args: &[Type],
        data: Option<&Data>,
    ) -> Result<ArgumentType, String> {
        let last = name.rsplit("::").next().unwrap_or(name);
        let def = module.structs.get(name).or_else(|| module.structs.get(last));
        let def = def.ok_or_else(|| name.to_string())?;
        let inner = Generics { bound: self.bound.inside(module, def, args), width: self.width };
        let field = |k: usize| data.and_then(|d| d.children().nth(k));
        let fields = def.fields.iter().enumerate();
        let of_option = Type::parts_of_option(name, args);
        let typed = |k: usize, t: &Type| match &of_option {
            Some(parts) => self.typed(module, parts, field(k)),
            None => inner.typed(module, t, field(k)),
        };
        let fields = fields.map(|(k, (n, t))| Ok((n.clone(), typed(k, t)?)));
        Ok(ArgumentType::Struct(name.to_string(), fields.collect::<Result<_, String>>()?))
    }
}

fn complex(real: ScalarType) -> Type {
    Type::Complex(Box::new(Type::Scalar(real)))
}

/// The concrete type of a scalar, real or complex.
fn of_scalar(ty: &Type) -> Option<ArgumentType> {
    match ty {
        Type::Scalar(real) => Some(ArgumentType::Scalar(*real)),
        Type::Complex(real) => match **real {
            Type::Scalar(real) => Some(ArgumentType::Complex(real)),
            _ => None,
        },
        _ => None,
    }
}

fn first(data: Option<&Data>) -> Option<&Data> {
    data.and_then(|d| d.children().next())
}

/// The type of the shadow of a value.
pub(super) fn shadow(of: &ArgumentType, width: usize) -> ArgumentType {
    match of {
        ArgumentType::Scalar(real) if is_active(*real) => match width {
            1 => ArgumentType::Scalar(real.cotangent()),
            _ => ArgumentType::Shadow { real: real.cotangent(), complex: false, width },
        },
        ArgumentType::Complex(real) => match width {
            1 => ArgumentType::Complex(real.cotangent()),
            _ => ArgumentType::Shadow { real: real.cotangent(), complex: true, width },
        },
        ArgumentType::Scalar(_) | ArgumentType::Function(_) | ArgumentType::None => ArgumentType::None,
        ArgumentType::Tuple(ts) if ts.is_empty() => ArgumentType::None,
        ArgumentType::Shadow { .. } => of.clone(),
        ArgumentType::Fixed(t, n) => ArgumentType::Fixed(Box::new(shadow(t, width)), *n),
        ArgumentType::Tuple(ts) => ArgumentType::Tuple(ts.iter().map(|t| shadow(t, width)).collect()),
        ArgumentType::Struct(name, fields) => ArgumentType::Struct(
            name.clone(),
            fields.iter().map(|(n, t)| (n.clone(), shadow(t, width))).collect(),
        ),
        ArgumentType::Array(t, rank) => ArgumentType::Array(Box::new(shadow(t, width)), *rank),
        ArgumentType::Stack(t) => ArgumentType::Stack(Box::new(shadow(t, width))),
    }
}
