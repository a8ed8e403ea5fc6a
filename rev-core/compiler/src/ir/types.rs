//! Modules, functions, variables and types.

use std::collections::{BTreeMap, BTreeSet};

use super::path::own_name;
use super::{Axis, Block, Expr, FunctionPath, Names, PathArgument, Place, ScalarType, Step};
use crate::diag::Diagnostics;

/// A source position range, 1-based lines and 0-based columns as the Rust compiler counts them.
/// All zero: no source (made by a pass).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First line, from 1; 0 when there is no source.
    pub line: u32,
    /// First column, from 0.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// One past the last column.
    pub end_column: u32,
}

impl Span {
    /// The span of code that has no source.
    pub const NONE: Span = Span { line: 0, column: 0, end_line: 0, end_column: 0 };

    /// Whether this span points into a source text.
    pub fn is_some(&self) -> bool {
        self.line != 0
    }
}

/// A function with all it calls: everything that an interpreter or a GPU needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The unique name of the function that the module is about.
    pub entry: String,
    /// Reversible functions by unique name.
    pub functions: BTreeMap<String, Function>,
    /// Pure functions by unique name.
    pub pures: BTreeMap<String, Pure>,
    /// Structs by name.
    pub structs: BTreeMap<String, StructDef>,
    /// Values of the named constants ([`ExprKind::Named`](super::ExprKind::Named)), by the path written.
    pub constants: BTreeMap<String, super::Number>,
    /// Values of the named constants that are arrays, by the path written: [`ExprKind::Array`](super::ExprKind::Array)s of
    /// numbers with their types.
    pub tables: BTreeMap<String, super::Expr>,
    /// For each function or pure function (unique name): what each path written in it means.
    pub links: BTreeMap<String, BTreeMap<String, String>>,
}

impl Module {
    /// The function that the module is about.
    pub fn entry(&self) -> Option<&Function> {
        self.functions.get(&self.entry)
    }

    /// The unique name of what `path`, written inside `caller`, refers to. A path without a link
    /// is its own name.
    pub fn resolve<'a>(&'a self, caller: &str, path: &'a str) -> &'a str {
        self.links.get(caller).and_then(|l| l.get(path)).map_or(path, |s| s.as_str())
    }
}

/// A reversible function.
#[derive(Debug)]
pub struct Function {
    /// Unique name: the Rust path of the function.
    pub name: String,
    /// Type and const parameters.
    pub generics: Vec<Generic>,
    /// The parameters, in order; each is a variable of kind [`VarKind::Param`].
    pub params: Vec<VarId>,
    /// Read parameters that are data, by declaration: nobody asks for their derivative, so the adjoint
    /// leaves their shadows alone.
    pub constants: BTreeSet<VarId>,
    /// Every variable of the function.
    pub vars: Vec<Var>,
    /// What is known of their names.
    pub names: Names,
    /// The statements.
    pub body: Block,
    /// Whether reversibility checks are made (`#[reversible(unchecked)]` clears it).
    pub checks: bool,
    /// The file that the spans point into, empty when unknown.
    pub file: String,
    /// The function's name in the source.
    pub span: Span,
    /// What is wrong with it that rev is to blame for: a pass met what can't be, or made what is no program
    /// ([`crate::validate`]). Nothing runs or compiles such a function.
    pub defects: Diagnostics,
}

impl Function {
    /// The name without the modules that it is in, and as programs write it: `f::inverse` of `m::f::inverse`, `f::tangent` of
    /// `m::__f_tangent`.
    pub fn own_name(&self) -> String {
        own_name(&self.name)
    }

    /// The variable behind an id.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.0 as usize]
    }

    /// The type of the value at a place, as far as the types of variables alone say it.
    pub fn type_at(&self, place: &Place) -> Option<Type> {
        place.path.iter().try_fold(self.var(place.var).ty.clone(), Type::part)
    }

    /// Adds a variable under a name that no other variable has: `name`, else `name2`, `name3`, ….
    pub fn add_var(&mut self, mut var: Var) -> VarId {
        var.name = self.names.free(var.name, &self.vars);
        self.vars.push(var);
        VarId(self.vars.len() as u32 - 1)
    }

    /// A name that no type parameter has: `name`, else `name2`, `name3`, ….
    pub(crate) fn new_generic(&self, name: String) -> String {
        let is_free = |own: &String| self.generics.iter().all(|g| g.name != *own);
        let others = (2..).map(|k| format!("{name}{k}"));
        std::iter::once(name.clone()).chain(others).find(is_free).unwrap_or(name)
    }

    /// The variable with a name.
    pub fn find_var(&self, name: &str) -> Option<VarId> {
        self.vars.iter().position(|v| v.name == name).map(|i| VarId(i as u32))
    }
}

/// A pure function: straight-line code that is called in expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Pure {
    /// Unique name: the Rust path of the function.
    pub name: String,
    /// Type parameters.
    pub generics: Vec<Generic>,
    /// Parameters, each a variable of kind [`VarKind::Param`] with [`Mode::Read`].
    pub params: Vec<VarId>,
    /// The type of the result: a scalar or a tuple of scalars.
    pub result_type: Type,
    /// Every variable of the function.
    pub vars: Vec<Var>,
    /// The result.
    pub result: Expr,
    /// Given partial derivatives of the result, one for each parameter, instead of derived ones.
    pub partials: Option<Vec<Expr>>,
    /// The file that the spans point into.
    pub file: String,
    /// The function's name in the source.
    pub span: Span,
}

/// The fields of a struct that derives rev's places.
#[derive(Clone, Debug, PartialEq)]
pub struct StructDef {
    /// The struct's name.
    pub name: String,
    /// Its type parameters.
    pub generics: Vec<Generic>,
    /// Names and types of its fields, in order.
    pub fields: Vec<(String, Type)>,
}

/// A type parameter or const parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Generic {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub kind: GenericKind,
}

/// What the path of a call says that a generic parameter stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum GenericArgument {
    /// A scalar type, maybe a type parameter of the caller.
    Scalar(Type),
    /// A length, maybe a const parameter of the caller.
    Length(Length),
}

impl Generic {
    /// What is written for parameters in a path, `f::<f64, Complex<T>, N, 3>`. What is left to be found (`_`), and
    /// functions, which parameters of a type of their own stand for, have nothing.
    pub fn written<'g>(generics: &'g [Generic], path: &FunctionPath) -> Vec<(&'g Generic, GenericArgument)> {
        let meant = |(generic, argument): (&'g Generic, &PathArgument)| {
            let argument = match (&generic.kind, argument) {
                (GenericKind::Function(_), _) | (_, PathArgument::Inferred) => return None,
                (GenericKind::Scalar(_), PathArgument::Type(ty)) => GenericArgument::Scalar(ty.clone()),
                (GenericKind::Scalar(_), PathArgument::Number(_)) => return None,
                (GenericKind::Const, PathArgument::Type(_)) => {
                    GenericArgument::Length(Length::Named(argument.to_string()))
                }
                (GenericKind::Const, PathArgument::Number(n)) => GenericArgument::Length(Length::Literal(*n)),
            };
            Some((generic, argument))
        };
        generics.iter().zip(path.arguments()).filter_map(meant).collect()
    }
}

/// What a generic parameter stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum GenericKind {
    /// A scalar type with the abilities of a class.
    Scalar(Class),
    /// A `const N: usize`.
    Const,
    /// A reversible function: the types and modes of its parameters.
    Function(Vec<(Mode, Type)>),
}

/// What a scalar type can do. Each class has the abilities of the ones before it, except that
/// [`Class::Integer`] and [`Class::Field`] are separate branches above [`Class::Ring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Storage, comparison for equality (`bool`, and all below).
    Scalar,
    /// `+ - *`, zero, one.
    Ring,
    /// Integers: wrapping arithmetic, `^= & | << >> / %`, order. Carries no derivative.
    Integer,
    /// Division and the functions that real and complex numbers share. Carries derivatives.
    Field,
    /// Real numbers: order, all functions. Carries derivatives.
    Real,
}

impl Class {
    /// Whether a type of this class can do what `needed` asks.
    pub fn provides(self, needed: Class) -> bool {
        use Class::*;
        match needed {
            Scalar => true,
            Ring => self != Scalar,
            Integer => self == Integer,
            Field => matches!(self, Field | Real),
            Real => self == Real,
        }
    }
}

/// An index into [`Function::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// Unique within the function.
    pub name: String,
    /// Its type, [`Type::Unknown`] where only the Rust compiler knows it.
    pub ty: Type,
    /// What it is.
    pub kind: VarKind,
    /// Where it is declared.
    pub span: Span,
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarKind {
    /// An argument.
    Param(Mode),
    /// `let mut a`: storage that returns to its first value.
    Ancilla,
    /// `let n`: a name for a value.
    Binding,
    /// The variable of a `for` loop.
    Index,
}

impl VarKind {
    /// Whether its value stays the same where it is in scope.
    pub fn never_changes(self) -> bool {
        matches!(self, VarKind::Binding | VarKind::Index | VarKind::Param(Mode::Read))
    }
}

/// How an argument is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Only read.
    Read,
    /// Read and written.
    Write,
    /// Only accumulated into (`+=`, `-=`) and never read: what the shadow of a read argument is.
    Accumulate,
}

impl Mode {
    /// How the shadow of an argument is used in an adjoint: what is read gets cotangents, what is accumulated into gives them.
    pub fn of_shadow(self) -> Mode {
        match self {
            Mode::Read => Mode::Accumulate,
            Mode::Accumulate => Mode::Read,
            Mode::Write => Mode::Write,
        }
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A built-in scalar.
    Scalar(ScalarType),
    /// A scalar type parameter, by name.
    Generic(String),
    /// `Complex<R>` over a real scalar.
    Complex(Box<Type>),
    /// A slice, vector or n-dimensional array.
    Array(Box<Type>, Rank),
    /// `[T; N]`.
    Fixed(Box<Type>, Length),
    /// A tuple.
    Tuple(Vec<Type>),
    /// A struct that derives rev's places, with its type arguments. The name is the path written.
    Struct(String, Vec<Type>),
    /// A stack of values.
    Stack(Box<Type>),
    /// A reversible function given as an argument: the name of its [`Generic`]; that of its adjoint is derived of it.
    Function(FunctionPath),
    /// The shadow of a value of a type.
    Shadow(Box<Type>),
    /// Not known from the source alone.
    Unknown,
}

/// The number of dimensions of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rank {
    /// 1 to 4.
    Fixed(u8),
    /// Known at run time.
    Dynamic,
}

/// The length of a fixed-size array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Length {
    /// A number.
    Literal(u64),
    /// A const parameter or a named constant.
    Named(String),
}

impl Type {
    /// The type of a part of a value, as far as the type alone says it.
    pub fn part(self, step: &Step) -> Option<Type> {
        Some(match (step, self) {
            (_, Type::Shadow(t)) => Type::Shadow(Box::new(t.part(step)?)),
            (Step::Index(_), Type::Array(t, _) | Type::Fixed(t, _)) => *t,
            (Step::Element(k), Type::Tuple(ts)) => ts.get(*k as usize)?.clone(),
            (Step::Re | Step::Im, Type::Complex(t)) => *t,
            (Step::Part(axes), Type::Array(t, rank)) => Type::Array(t, rank_of_part(axes, rank)),
            (Step::Part(axes), Type::Fixed(t, _)) => Type::Array(t, rank_of_part(axes, Rank::Fixed(1))),
            _ => return None,
        })
    }

    /// Whether values are surely scalars, which are copied wherever they are read.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Type::Scalar(_) | Type::Generic(_) | Type::Complex(_))
    }

    /// The number of elements of a fixed-size array, or of the shadow of one, where it is written as a number.
    pub fn literal_length(&self) -> Option<u64> {
        match self {
            Type::Fixed(_, Length::Literal(n)) => Some(*n),
            Type::Shadow(t) => t.literal_length(),
            _ => None,
        }
    }

    /// Whether values are surely arrays of run-time shape, or the shadows of some.
    pub fn is_array(&self) -> bool {
        match self {
            Type::Array(..) => true,
            Type::Shadow(t) => t.is_array(),
            _ => false,
        }
    }

    /// Whether values are surely fixed-size arrays, or the shadows of some.
    pub fn is_fixed(&self) -> bool {
        match self {
            Type::Fixed(..) => true,
            Type::Shadow(t) => t.is_fixed(),
            _ => false,
        }
    }

    /// `usize`, the type of indices and lengths.
    pub const INDEX: Type = Type::Scalar(ScalarType::Usize);
    /// `bool`.
    pub const BOOL: Type = Type::Scalar(ScalarType::Bool);

    /// The number that stands for a const parameter among a struct's arguments: the length of an array of what has
    /// no size. (A parameter of the function itself stands there by its name.)
    pub fn const_argument(&self, constants: &BTreeMap<String, super::Number>) -> Option<usize> {
        match self {
            Type::Fixed(of, length) if **of == Type::Tuple(Vec::new()) => match length {
                Length::Literal(n) => usize::try_from(*n).ok(),
                Length::Named(name) => match constants.get(name) {
                    Some(super::Number::Int(n)) => usize::try_from(*n).ok(),
                    Some(super::Number::Float(_) | super::Number::Bool(_)) | None => None,
                },
            },
            _ => None,
        }
    }

    /// The type of what an `Option` of anything but a scalar is made of. In its definition a parameter stands for a scalar, so the
    /// fields of one of other values aren't those of the definition.
    pub fn parts_of_option(name: &str, arguments: &[Type]) -> Option<Type> {
        match arguments {
            [of] if name.rsplit("::").next() == Some("Option") && !of.is_scalar() && *of != Type::Unknown => {
                Some(Type::Tuple(vec![Type::BOOL, of.clone()]))
            }
            _ => None,
        }
    }

    /// The class of a scalar type, `None` for anything else or where it isn't known.
    pub fn class(&self, generics: &[Generic]) -> Option<Class> {
        match self {
            Type::Scalar(s) => Some(s.class()),
            Type::Complex(_) => Some(Class::Field),
            Type::Generic(name) => generics.iter().find(|g| g.name == *name).and_then(|g| match g.kind {
                GenericKind::Scalar(c) => Some(c),
                GenericKind::Const | GenericKind::Function(_) => None,
            }),
            Type::Shadow(t) => t.class(generics),
            Type::Array(..)
            | Type::Fixed(..)
            | Type::Tuple(_)
            | Type::Struct(..)
            | Type::Stack(_)
            | Type::Function(_)
            | Type::Unknown => None,
        }
    }

    /// Whether something in it is unknown.
    pub fn is_partial(&self) -> bool {
        match self {
            Type::Unknown => true,
            Type::Scalar(_) | Type::Generic(_) | Type::Function(_) => false,
            Type::Complex(t) | Type::Array(t, _) | Type::Fixed(t, _) | Type::Stack(t) | Type::Shadow(t) => {
                t.is_partial()
            }
            Type::Tuple(ts) | Type::Struct(_, ts) => ts.iter().any(Type::is_partial),
        }
    }

    /// Whether values of the type are surely exact, so that no tolerance applies to them.
    pub fn is_exact(&self, generics: &[Generic]) -> bool {
        match self {
            Type::Scalar(s) => !s.is_float(),
            Type::Generic(name) => generics
                .iter()
                .any(|g| g.name == *name && matches!(g.kind, GenericKind::Scalar(Class::Integer))),
            Type::Array(t, _) | Type::Fixed(t, _) | Type::Stack(t) => t.is_exact(generics),
            Type::Tuple(ts) => ts.iter().all(|t| t.is_exact(generics)),
            Type::Complex(_) | Type::Struct(..) | Type::Function(_) | Type::Shadow(_) | Type::Unknown => {
                false
            }
        }
    }

    /// Whether a value of this type surely carries no derivative: integers, `bool`, functions and
    /// what is made of them only. Structs and unknown types may carry one.
    pub fn is_inactive(&self, generics: &[Generic]) -> bool {
        match self {
            Type::Scalar(_) | Type::Generic(_) => {
                !matches!(self.class(generics), Some(Class::Field | Class::Real | Class::Ring))
            }
            Type::Complex(_) | Type::Struct(..) | Type::Unknown => false,
            Type::Array(t, _) | Type::Fixed(t, _) | Type::Stack(t) | Type::Shadow(t) => {
                t.is_inactive(generics)
            }
            Type::Tuple(ts) => ts.iter().all(|t| t.is_inactive(generics)),
            Type::Function(_) => true,
        }
    }

    /// Whether values of any type that can be stored (`T: Scalar`) are in it: nothing is computed with them, but they
    /// may be numbers, whose derivatives move with them.
    pub fn is_storage(&self, generics: &[Generic]) -> bool {
        match self {
            Type::Generic(_) => self.class(generics) == Some(Class::Scalar),
            Type::Array(t, _) | Type::Fixed(t, _) | Type::Stack(t) | Type::Shadow(t) => {
                t.is_storage(generics)
            }
            Type::Tuple(ts) | Type::Struct(_, ts) => ts.iter().any(|t| t.is_storage(generics)),
            Type::Scalar(_) | Type::Complex(_) | Type::Function(_) | Type::Unknown => false,
        }
    }
}

/// The number of axes that a part has of an array's.
fn rank_of_part(axes: &[Axis], whole: Rank) -> Rank {
    let dropped = axes.iter().filter(|a| matches!(a, Axis::At(_))).count();
    match whole {
        Rank::Fixed(n) => Rank::Fixed(n.saturating_sub(u8::try_from(dropped).unwrap_or(u8::MAX))),
        Rank::Dynamic => Rank::Dynamic,
    }
}
