//! The adjoint of a program: the map from the state after it and the cotangents of that state to
//! the state before it and its cotangents, itself a reversible program.
//!
//! Every statement is replaced by its own rule, in reverse order: its inverse on the values, then
//! what it does to shadows. Nothing is stored. The rules stand in the table at the head of
//! [`crate::ir`]; expressions are handled by [`pullback`].
//!
//! # Parameters
//!
//! Each parameter `p` of type `T` is followed by its shadow `p_bar` of type `Shadow(T)` (integers
//! too, so that a call needs no types). A written parameter has a written shadow; a read one's
//! shadow is only accumulated into; an accumulated one's shadow is only read.
//!
//! # Shadows that are still zero
//!
//! A shadow of an ancilla or binding starts at zero. As long as it surely is zero, contributions
//! from it are no-ops. [`Adjoint::elide_zero`] leaves them out: the uncomputation `U⁻¹` at the end
//! of a block then costs its values only. The form with them is palindromic, and only that one can
//! be inverted and differentiated again: a dropped shadow's value `s̄` is recovered by linearity,
//! since the inverse runs with `s̄` shifted by a constant which the no-ops then take out again.

mod pullback;
mod repeated;
mod statement;
pub(super) use pullback::{bind, each_element_used, elements_used, inside, merge_equal, ElementsUsed};

use std::collections::{BTreeMap, BTreeSet};

use self::repeated::Tried;
use crate::check::overlap::Values;
use crate::ir::{
    Class, Derived, Expr, ExprKind, Function, GenericKind, Mode, Place, Stmt, Type, Var, VarId, VarKind,
};
use crate::ops::Func;
use crate::pass::values::{Known, Naming};

/// Which form of the adjoint is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjoint {
    /// Leave out contributions of shadows that are surely zero. For running; a program that is to
    /// be inverted or differentiated needs them.
    pub elide_zero: bool,
    /// Keep external code, which runs with a function, its inverse and its tangents, and not with its adjoint. For
    /// being transposed.
    pub external: bool,
    /// Cotangents are numbers, not shadows. A stack of shadows gives zeros below its end; one of numbers has to be as high as the
    /// stack it belongs to, so that what changes a stack is never left out.
    pub of_numbers: bool,
}

impl Adjoint {
    /// The form that is run.
    pub const LEAN: Adjoint = Adjoint { elide_zero: true, external: false, of_numbers: false };
    /// The form that has an inverse and an adjoint.
    pub const REVERSIBLE: Adjoint = Adjoint { elide_zero: false, ..Adjoint::LEAN };
    /// The form that is run with numbers for shadows: what tangents are taken of.
    pub const LEAN_OF_NUMBERS: Adjoint = Adjoint { of_numbers: true, ..Adjoint::LEAN };
    /// The form that tangents are the transpose of.
    pub const TO_TRANSPOSE: Adjoint = Adjoint { external: true, ..Adjoint::LEAN };
}

/// The adjoint of a function that has been through the uncompute pass.
pub(crate) fn adjoint_function(function: &Function, form: Adjoint) -> Function {
    let mut builder = Builder::new(function, form);
    let params = function.params.iter().flat_map(|&p| [p, builder.param_shadow(p)]).collect();
    let body = builder.block(&function.body);
    let body = builder.with_spares(body);
    Function { name: Derived::Adjoint.of(&function.name), params, body, ..builder.out }
}

/// The adjoint while it is being made.
struct Builder<'f> {
    /// The function made: its variables are the source's with the same ids, then the new ones.
    out: Function,
    /// The shadow of each source variable that has one in scope.
    shadows: BTreeMap<VarId, VarId>,
    /// What tells the source's places apart.
    values: Values<'f>,
    /// Source variables that carry a derivative.
    active: BTreeSet<VarId>,
    /// Shadows of arrays that are constants, for calls to leave what they find in.
    spares: BTreeMap<VarId, VarId>,
    /// Shadows that are surely zero where the code being made will stand.
    zero: BTreeSet<VarId>,
    /// What is known of the loops of the block being made, from when it was made before.
    tried: Tried,
    form: Adjoint,
    /// The elements of each variable that are used, of those that aren't only used as a whole.
    elements: BTreeMap<VarId, ElementsUsed>,
    /// Whether products are rounded together with the sums they are added to.
    fusing: bool,
    /// Whether partial derivatives have to be conjugated.
    complex: bool,
}

impl<'f> Builder<'f> {
    fn new(function: &'f Function, form: Adjoint) -> Builder<'f> {
        Builder {
            out: Function { body: Vec::new(), ..function.clone() },
            shadows: BTreeMap::new(),
            values: Values::of(function),
            active: crate::facts::active_vars(function),
            spares: BTreeMap::new(),
            zero: BTreeSet::new(),
            tried: Tried::default(),
            form,
            elements: each_element_used(&function.body),
            fusing: false,
            complex: may_be_complex(function),
        }
    }

    fn param_shadow(&mut self, p: VarId) -> VarId {
        let mode = match self.out.var(p).kind {
            VarKind::Param(mode) => mode.of_shadow(),
            VarKind::Ancilla | VarKind::Binding | VarKind::Index => Mode::Accumulate,
        };
        self.new_shadow(p, VarKind::Param(mode))
    }

    fn new_shadow(&mut self, of: VarId, kind: VarKind) -> VarId {
        let var = self.out.var(of);
        let shadow = Var {
            name: format!("{}_bar", var.name),
            ty: Type::Shadow(Box::new(var.ty.clone())),
            kind,
            span: var.span,
        };
        let id = self.out.add_var(shadow);
        self.shadows.insert(of, id);
        id
    }

    /// The shadow of a place, if its variable carries a derivative.
    fn shadow(&mut self, place: &Place) -> Option<Place> {
        if !self.active.contains(&place.var) {
            return None;
        }
        let shadow = self.shadows.get(&place.var).map(|&s| place.rooted_at(s));
        if shadow.is_none() {
            self.defect(place.span, "a variable that carries a derivative has no shadow");
        }
        shadow
    }

    fn is_zero(&self, shadow: &Place) -> bool {
        self.form.elide_zero && self.zero.contains(&shadow.var)
    }
}

impl Naming for Builder<'_> {
    fn known(&mut self) -> Known<'_> {
        Known { out: &mut self.out, active: &mut self.active, elements: &mut self.elements }
    }
}

/// Whether a function may compute with complex numbers.
pub(super) fn may_be_complex(function: &Function) -> bool {
    fn complex(ty: &Type, function: &Function) -> bool {
        match ty {
            Type::Scalar(_) | Type::Function(_) => false,
            Type::Generic(_) => matches!(ty.class(&function.generics), Some(Class::Ring | Class::Field)),
            Type::Complex(_) | Type::Struct(..) | Type::Unknown => true,
            Type::Array(t, _) | Type::Fixed(t, _) | Type::Stack(t) | Type::Shadow(t) => complex(t, function),
            Type::Tuple(ts) => ts.iter().any(|t| complex(t, function)),
        }
    }
    let generic =
        function.generics.iter().any(|g| matches!(g.kind, GenericKind::Scalar(Class::Ring | Class::Field)));
    // a binding or ancilla of unknown type is computed from the others
    let known = |v: &Var| v.ty != Type::Unknown || matches!(v.kind, VarKind::Param(_));
    generic
        || function.vars.iter().filter(|v| known(v)).any(|v| complex(&v.ty, function))
        || function.body.iter().any(makes_complex)
}

/// Whether a statement computes a complex number from others on the way.
fn makes_complex(stmt: &Stmt) -> bool {
    fn makes(e: &Expr) -> bool {
        let mut found = match &e.kind {
            ExprKind::Func(Func::Complex, _) => true,
            ExprKind::Cast(_, ty) => matches!(ty, Type::Complex(_)),
            _ => false,
        };
        e.each_child(&mut |child| found |= makes(child));
        found
    }
    let mut found = false;
    stmt.each_expr(&mut |e| found |= makes(e));
    found || stmt.blocks().into_iter().flatten().any(makes_complex)
}
