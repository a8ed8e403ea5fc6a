//! What the emitter gets: the source item, how each parameter is passed, and the lowered program.
//!
//! The IR alone can't spell the Rust of the source again (lifetimes, attributes, paths with their
//! spans, the tokens of external blocks); the model keeps these beside it.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use rev_compiler::ir::{self, FunctionPath};

use crate::spans::Spans;

/// A `#[reversible]` function between lowering and emission.
pub struct Model {
    /// The item as written, without the `#[reversible]` attribute. Its other attributes, doc
    /// comments, visibility, name, generics and where clause are meant for the generated functions.
    pub item: syn::ItemFn,
    /// The parameters, in order.
    pub params: Vec<ParamModel>,
    /// The parameter that `gradient` differentiates: the first `&mut` scalar that can carry a
    /// derivative, or the one named by `loss = name`.
    pub loss: Option<usize>,
    /// Whether the signature was read without errors.
    pub declared: bool,
    /// The program, not yet checked.
    pub function: ir::Function,
    /// What the paths and blocks of the program look like in the source.
    pub source: Source,
    /// How often its tangent is to be taken.
    pub tangents: u8,
    /// The order up to which its Taylor coefficients are wanted.
    pub taylor: Option<usize>,
    /// How often its adjoint, to be called in programs.
    pub adjoints: u8,
    /// Whether the adjoint of its inverse is to be called, by programs that call its inverse.
    pub inverse_adjoint: bool,
    /// How it came about, and who reaches it.
    pub origin: Origin,
    /// For a function of a type, what the type and its own name are. The item's name and generics then are those
    /// of both, its receiver a parameter `self`.
    pub method: Option<Method>,
}

/// How a function came about.
#[derive(Clone, Default)]
pub struct Origin {
    /// How often it was derived: 0 of a function that is written.
    pub order: usize,
    /// Whether only calls in programs reach it.
    pub called_only: bool,
    /// Of an adjoint the name of the function that it is of.
    pub adjoint_of: Option<Ident>,
}

/// The type of which a function is one.
#[derive(Clone)]
pub struct Method {
    /// The type.
    pub of: syn::TypePath,
    /// The function's name there.
    pub name: Ident,
    /// The generics of the `impl`.
    pub generics: syn::Generics,
    /// The receiver as written: `&mut self`.
    pub receiver: Option<syn::Receiver>,
}

/// A `#[pure]` function between lowering and emission.
pub struct PureModel {
    /// The item as written, without the `#[pure]` attribute.
    pub item: syn::ItemFn,
    /// The parameters, in order; all are read.
    pub params: Vec<ParamModel>,
    /// The lowered function.
    pub function: ir::Pure,
    /// Up to what order its partial derivatives are emitted.
    pub order: u8,
    /// What the paths of the function look like in the source.
    pub source: Source,
    /// For a function of a type, what the type and its own name are.
    pub method: Option<Method>,
}

/// How a parameter is declared.
#[derive(Clone)]
pub struct ParamModel {
    /// The variable in the IR. Its name there is the parameter's name, its type the element type
    /// and shape without references.
    pub var: ir::VarId,
    /// The name.
    pub ident: Ident,
    /// The type as written, references included.
    pub ty: syn::Type,
    /// By value or by reference.
    pub passing: Passing,
    /// What stands behind the reference.
    pub form: Form,
    /// The element type as written, for slices, vectors, arrays, views and stacks.
    pub element: Option<syn::Type>,
    /// What the program may do with it: `Write` for `&mut` and for mutable views, else `Read`.
    pub mode: ir::Mode,
}

/// Whether a parameter is a value or a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// `x: T`
    Value,
    /// `x: &T`
    Shared,
    /// `x: &mut T`
    Exclusive,
}

/// The Rust type behind a parameter, as far as it decides how its elements are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A scalar, tuple, fixed-size array or struct.
    Plain,
    /// `[T]`
    Slice,
    /// `Vec<T>`
    Vec,
    /// `ArrayView<T, D>`, or `ArrayViewMut<T, D>` when `mutable`.
    View {
        /// Whether its elements may be written.
        mutable: bool,
    },
    /// `Array<T, D>`, owned.
    Array,
    /// `Stack<T>`
    Stack,
    /// `impl Reversible<..>` or a type parameter bounded by it.
    Function,
}

/// The source's own spelling of what the IR holds as text.
#[derive(Clone, Default)]
pub struct Source {
    /// Reversible functions that are called, by the path in [`ir::Callee::Path`], without the
    /// `::inverse` of an uncall.
    pub callees: BTreeMap<FunctionPath, syn::Path>,
    /// Pure functions, by the path in [`ir::ExprKind::Pure`].
    pub pures: BTreeMap<FunctionPath, syn::Path>,
    /// Reversible functions that are passed as arguments, by the path in [`ir::ExprKind::Function`].
    pub functions: BTreeMap<FunctionPath, syn::Path>,
    /// Named constants, by the path in [`ir::ExprKind::Named`]; lengths that are computed from constants, by their text.
    pub constants: BTreeMap<String, syn::Expr>,
    /// The variables that stand for constant arrays, with the paths of these.
    pub tables: BTreeMap<ir::VarId, String>,
    /// Struct types as written first, by the name in [`ir::Type::Struct`].
    pub structs: BTreeMap<String, syn::Type>,
    /// Type annotations of `let` statements, by variable.
    pub annotations: BTreeMap<ir::VarId, syn::Type>,
    /// Receivers of calls `x.f(..)` for which it isn't said that they are changed.
    pub receivers: Vec<Receiver>,
    /// Updates by what is read at one place, of what isn't a whole struct.
    pub plain: BTreeSet<ir::Span>,
    /// Updates by `fields(q)`.
    pub fields: BTreeSet<ir::Span>,
    /// What is matched.
    pub matches: Vec<Matched>,
    /// External blocks.
    pub externals: Vec<External>,
    /// Where each span of the IR stands.
    pub spans: Spans,
}

/// What is matched.
#[derive(Clone)]
pub enum Subject {
    /// A place.
    One(ir::Place),
    /// Several values, `(a, b)`.
    Several(Vec<Subject>),
}

/// A `match`, or an `if let`.
#[derive(Clone)]
pub struct Matched {
    /// The function in which it stands; those that are derived of it have other names.
    pub function: String,
    /// The span of the first branch that asks something of what is matched.
    pub span: ir::Span,
    /// What is matched.
    pub subject: Subject,
    /// Where it stands.
    pub at: proc_macro2::Span,
    /// Whether there is an enum in it, of which nothing may be moved.
    pub by_reference: bool,
    /// What is compared with constants: a reference isn't of their type.
    pub compared: Vec<ir::Place>,
    /// The arms as written, which do nothing.
    pub arms: TokenStream,
}

/// A receiver that a call `x.f(..)` is taken to change.
#[derive(Clone)]
pub struct Receiver {
    /// The path in [`ir::Callee::Path`].
    pub callee: FunctionPath,
    /// The receiver as written.
    pub name: String,
    /// Where it stands.
    pub span: ir::Span,
}

/// An external block.
#[derive(Clone)]
pub struct External {
    /// The text in [`ir::StmtKind::External`].
    pub code: String,
    /// The span of the statement.
    pub span: ir::Span,
    /// The block as written.
    pub tokens: TokenStream,
    /// The variables that it mentions.
    pub names: Vec<Mentioned>,
}

/// A variable in an external block.
#[derive(Clone)]
pub struct Mentioned {
    /// The name that it has there; a shadowed name is another variable in the IR.
    pub ident: Ident,
    /// The variable.
    pub var: ir::VarId,
    /// Whether it is a reference there: a parameter `y: &mut T` or `x: &T`.
    pub by_reference: bool,
}

impl Source {
    /// The `match` that became a branch of a function.
    pub fn matched(&self, function: &str, span: ir::Span) -> Option<&Matched> {
        self.matches.iter().find(|m| m.span == span && m.function == function)
    }

    /// The external block of a statement.
    pub fn external(&self, code: &str, span: ir::Span) -> Option<&External> {
        self.externals.iter().find(|e| e.code == code && e.span == span)
    }
}
