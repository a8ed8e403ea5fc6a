//! Values while a program is being lowered: trees whose leaves are scalars of known types.

use rev_core::ir::{Class, Number, ScalarType};
use rev_core::value::Value;

use super::atom::{wrap, Atom};
use super::memory::ArrayLoc;
use super::types::{scalar_leaves, ArgumentType};

/// A number: real or complex, or the shadow of one with several cotangents.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Num {
    pub real: ScalarType,
    pub complex: bool,
    /// How many cotangents; 0 for a number, and for a shadow one cotangent wide.
    pub lanes: usize,
    /// The real parts, then the imaginary parts.
    pub parts: Vec<Atom>,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Val {
    Num(Num),
    /// A number that takes the type of what it meets.
    Literal(Number),
    /// One number or another, by a condition, that takes the type of what it meets.
    Choice(Atom, Box<Val>, Box<Val>),
    /// A fixed-size array.
    Fixed(Vec<Val>),
    Tuple(Vec<Val>),
    Struct(String, Vec<(String, Val)>),
    /// An array in memory.
    Array(ArrayLoc),
    /// An array of equal elements that isn't stored yet.
    Fill(Box<Val>, Vec<Atom>),
    /// An empty stack, of elements of a type where that is known.
    EmptyStack(Option<ArgumentType>),
    Function(String),
    /// The shadow of what carries no derivative.
    None,
}

impl Num {
    /// A real number.
    pub fn real(real: ScalarType, atom: Atom) -> Num {
        Num { real, complex: false, lanes: 0, parts: vec![atom] }
    }

    /// A complex number.
    pub fn complex(real: ScalarType, re: Atom, im: Atom) -> Num {
        Num { real, complex: true, lanes: 0, parts: vec![re, im] }
    }

    /// A lane of a shadow; a number is the same in each.
    pub fn lane(&self, k: usize) -> Num {
        if self.lanes == 0 {
            return self.clone();
        }
        let parts = self.parts.iter().skip(k).step_by(self.lanes).cloned().collect();
        Num { lanes: 0, parts, ..self.clone() }
    }

    /// A shadow from its lanes.
    pub fn join(lanes: &[Num]) -> Num {
        let part = |p: usize| lanes.iter().filter_map(move |l| l.parts.get(p).cloned());
        let parts = part(0).chain(part(1)).collect();
        let first = &lanes[0];
        Num { real: first.real, complex: first.complex, lanes: lanes.len(), parts }
    }

    pub fn kind(&self) -> ArgumentType {
        match (self.lanes, self.complex) {
            (0, false) => ArgumentType::Scalar(self.real),
            (0, true) => ArgumentType::Complex(self.real),
            (width, complex) => ArgumentType::Shadow { real: self.real, complex, width },
        }
    }

    /// Whether it is an integer or a truth value.
    pub fn is_inactive(&self) -> bool {
        !self.complex && !is_active(self.real)
    }
}

/// Whether a scalar carries a derivative.
pub(super) fn is_active(scalar: ScalarType) -> bool {
    scalar.class() == Class::Real
}

/// Whether it is an integer.
pub(super) fn is_integer(scalar: ScalarType) -> bool {
    scalar != ScalarType::Bool && !is_active(scalar)
}

impl Val {
    pub fn real(real: ScalarType, atom: Atom) -> Val {
        Val::Num(Num::real(real, atom))
    }

    pub fn bool(atom: Atom) -> Val {
        Val::real(ScalarType::Bool, atom)
    }

    pub fn index(atom: Atom) -> Val {
        Val::real(ScalarType::Usize, atom)
    }

    /// Whether it is a number that takes the type of what it meets.
    pub fn is_literal(&self) -> bool {
        matches!(self, Val::Literal(_) | Val::Choice(..))
    }

    /// The type, where it is known.
    pub fn kind(&self) -> Option<ArgumentType> {
        Some(match self {
            Val::Num(n) => n.kind(),
            Val::Literal(_) | Val::Choice(..) => return None,
            Val::Fixed(es) => ArgumentType::Fixed(Box::new(es.first()?.kind()?), es.len()),
            Val::Tuple(es) => ArgumentType::Tuple(es.iter().map(Val::kind).collect::<Option<_>>()?),
            Val::Struct(name, fields) => {
                let fields = fields.iter().map(|(n, v)| Some((n.clone(), v.kind()?)));
                ArgumentType::Struct(name.clone(), fields.collect::<Option<_>>()?)
            }
            Val::Array(a) => ArgumentType::Array(Box::new(a.kind.clone()), a.shape.len()),
            Val::Fill(e, shape) => ArgumentType::Array(Box::new(e.kind()?), shape.len()),
            Val::EmptyStack(kind) => ArgumentType::Stack(Box::new(kind.clone()?)),
            Val::Function(name) => ArgumentType::Function(name.clone()),
            Val::None => ArgumentType::None,
        })
    }

    /// Every scalar in it, in the order of the leaves; nothing for arrays.
    pub fn atoms(&self) -> Vec<Atom> {
        match self {
            Val::Num(n) => n.parts.clone(),
            Val::Fixed(es) | Val::Tuple(es) => es.iter().flat_map(Val::atoms).collect(),
            Val::Struct(_, fields) => fields.iter().flat_map(|(_, v)| v.atoms()).collect(),
            Val::Literal(_)
            | Val::Choice(..)
            | Val::Array(_)
            | Val::Fill(..)
            | Val::EmptyStack(_)
            | Val::Function(_)
            | Val::None => Vec::new(),
        }
    }

    /// Every number in it, in the order of the leaves; nothing for arrays.
    pub fn numbers<'a>(&'a self, into: &mut Vec<&'a Num>) {
        match self {
            Val::Num(n) => into.push(n),
            Val::Fixed(es) | Val::Tuple(es) => es.iter().for_each(|e| e.numbers(into)),
            Val::Struct(_, fields) => fields.iter().for_each(|(_, v)| v.numbers(into)),
            Val::Literal(_)
            | Val::Choice(..)
            | Val::Array(_)
            | Val::Fill(..)
            | Val::EmptyStack(_)
            | Val::Function(_)
            | Val::None => {}
        }
    }

    /// A value of a type from its leaves. `None` for what isn't made of leaves.
    pub fn from_atoms(kind: &ArgumentType, atoms: &mut dyn Iterator<Item = Atom>) -> Option<Val> {
        let mut take = |n: usize| (0..n).map(|_| atoms.next()).collect::<Option<Vec<_>>>();
        Some(match kind {
            ArgumentType::Scalar(real) => Val::Num(Num {
                real: *real,
                complex: false,
                lanes: 0,
                parts: take(scalar_leaves(*real).len())?,
            }),
            ArgumentType::Complex(real) => {
                Val::Num(Num { real: *real, complex: true, lanes: 0, parts: take(2)? })
            }
            ArgumentType::Shadow { real, complex, width } => Val::Num(Num {
                real: *real,
                complex: *complex,
                lanes: *width,
                parts: take(width * (1 + usize::from(*complex)))?,
            }),
            ArgumentType::Fixed(element, n) => {
                Val::Fixed((0..*n).map(|_| Val::from_atoms(element, atoms)).collect::<Option<_>>()?)
            }
            ArgumentType::Tuple(kinds) => {
                Val::Tuple(kinds.iter().map(|k| Val::from_atoms(k, atoms)).collect::<Option<_>>()?)
            }
            ArgumentType::Struct(name, fields) => {
                let fields = fields.iter().map(|(n, k)| Some((n.clone(), Val::from_atoms(k, atoms)?)));
                Val::Struct(name.clone(), fields.collect::<Option<_>>()?)
            }
            ArgumentType::Function(name) => Val::Function(name.clone()),
            ArgumentType::None => Val::None,
            ArgumentType::Array(..) | ArgumentType::Stack(_) => return None,
        })
    }

    /// The zero of a type. `None` for arrays, whose shape it doesn't say.
    pub fn zero(kind: &ArgumentType) -> Option<Val> {
        if let ArgumentType::Stack(element) = kind {
            return Some(Val::EmptyStack(Some((**element).clone())));
        }
        Val::from_atoms(kind, &mut kind.leaves().into_iter().map(|ty| Atom::Const(0, ty)))
    }

    /// The same with other leaves.
    pub fn map(&self, f: &mut dyn FnMut(&Atom) -> Atom) -> Val {
        match self {
            Val::Num(n) => Val::Num(Num { parts: n.parts.iter().map(f).collect(), ..n.clone() }),
            Val::Fixed(es) => Val::Fixed(es.iter().map(|e| e.map(f)).collect()),
            Val::Tuple(es) => Val::Tuple(es.iter().map(|e| e.map(f)).collect()),
            Val::Struct(name, fields) => {
                Val::Struct(name.clone(), fields.iter().map(|(n, v)| (n.clone(), v.map(f))).collect())
            }
            Val::Fill(e, shape) => Val::Fill(Box::new(e.map(f)), shape.iter().map(f).collect()),
            Val::Choice(c, a, b) => Val::Choice(f(c), Box::new(a.map(f)), Box::new(b.map(f))),
            Val::Literal(_) | Val::Array(_) | Val::EmptyStack(_) | Val::Function(_) | Val::None => {
                self.clone()
            }
        }
    }
}

/// A number as a constant of a scalar type, rounded as conversions do.
pub(super) fn constant(number: Number, real: ScalarType) -> Option<Vec<Atom>> {
    use rev_core::scalar::Num as Any;
    let any = match number {
        Number::Int(v) => i64::try_from(v).map_or(Any::Wide(v), Any::Int),
        Number::Float(v) => Any::Float(v),
        Number::Bool(v) => Any::Uint(v.into()),
    };
    let value = Value::from_num(any, &rev_core::ir::Type::Scalar(real))?;
    let bits = value.to_bits()?;
    Some(match scalar_leaves(real).as_slice() {
        [ty] => vec![Atom::Const(wrap(bits as i128, *ty), *ty)],
        _ => vec![Atom::Const(bits as u64, Ty64), Atom::Const((bits >> 64) as u64, Ty64)],
    })
}

#[allow(non_upper_case_globals)]
const Ty64: crate::kernel::Ty = crate::kernel::Ty::U64;
