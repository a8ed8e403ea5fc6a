//! What a program under construction may read and write at the point where the next statement goes:
//! the static rules of the language, kept so that the generated program satisfies them.
//!
//! The rules are followed on whole variables and without looking for exceptions, so that what is
//! generated is a part of what is allowed:
//!
//! - a *frozen* variable isn't written: something in scope reads it (a binding, a condition, the
//!   range of a loop, the part of a managed ancilla's computation that has been written so far);
//! - in a region that runs more than once or in another order (a loop, an inverse block), a managed
//!   ancilla from outside isn't computed from what the region has written.

use std::collections::BTreeSet;

use rev_core::ir::{Access, Expr, ScalarType, Stmt, Type, VarId};

/// The length of fixed-size arrays and of the second axis of matrices.
pub const SHORT: usize = 3;

/// The kind of a variable.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum What {
    Real,
    Complex,
    Int,
    /// An index or count: at most the bound.
    Index(usize),
    Bool,
    /// A slice or vector of real numbers.
    Reals,
    /// Rows of `SHORT` real numbers, in an array of two dimensions.
    Matrix,
    /// Rows of `SHORT` real numbers, in an array of arrays.
    Rows,
    /// A fixed-size array of `SHORT` real numbers; its length may be a const parameter.
    Triple {
        named: bool,
    },
    /// A slice of integers.
    Ints,
    /// A slice of indices into slices; perhaps no index twice.
    Indices {
        injective: bool,
    },
    /// A pair of real numbers.
    Duo,
    /// A truth value, a real number and an integer.
    Mixed,
    /// The struct of the prelude.
    Body,
    /// A stack of scalars.
    Stack(Element),
    /// How often a function may still call itself.
    Depth,
    /// A loop's variable of a type in which the loop's step may not fit.
    Narrow(ScalarType),
    /// A reversible function, passed on.
    Function,
}

/// The scalars that variables are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Element {
    Real,
    Complex,
    Int,
    Bool,
}

/// What may be done with a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Permission {
    /// Read and written.
    Full,
    /// Read.
    Read,
    /// Accumulated into, not read: a parallel loop does.
    Accumulate,
    /// Read and written at these first indices only: an iteration of a parallel loop owns it, or one of a loop in each other.
    Owned(Vec<Expr>),
    /// Accumulated into at this first index only, not read: a parallel loop inside of the one that owns it does.
    AddedTo(Expr),
}

/// A variable in scope.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its number in the function.
    pub id: VarId,
    /// What it is.
    pub what: What,
    /// What may be done with it here.
    pub permission: Permission,
    /// Whether its numbers stay about as small as 1.
    pub small: bool,
    /// Whether the compiler uncomputes it.
    pub managed: bool,
    /// The index of its scope in [`Scopes::open`]; parameters have none.
    pub scope: Option<usize>,
    /// The block of the source that declares it.
    pub block: usize,
    /// What its value was computed from: for bindings and ancillas.
    pub sources: BTreeSet<VarId>,
}

/// Why a scope is there.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// A binding or an ancilla.
    Declaration,
    /// A branch whose condition holds again afterwards.
    Branch,
    /// A branch with a postcondition: no outer managed ancilla is written.
    Decided,
    /// A counted loop.
    Loop,
    /// A `while` loop over a managed counter of a block; nothing managed by other blocks is written.
    While(usize),
    /// Statements run in another order than they are generated in.
    Inverse,
    /// The first part of a compute block.
    Compute,
    /// The second part, with what the first one reads and writes.
    After(BTreeSet<VarId>, BTreeSet<VarId>),
}

/// An open scope.
#[derive(Clone, Debug)]
pub struct Scope {
    why: Why,
    /// What isn't written until the scope ends.
    frozen: BTreeSet<VarId>,
    /// What decides whether and how often its statements run.
    reads: BTreeSet<VarId>,
    /// What was written in it so far.
    written: BTreeSet<VarId>,
}

/// The scopes around the next statement, and the variables in them.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    /// The variables in scope.
    pub known: Vec<Known>,
    open: Vec<Scope>,
    blocks: usize,
}

impl Scopes {
    /// Opens a scope that reads something; what it reads is frozen in it.
    pub fn enter(&mut self, why: Why, reads: BTreeSet<VarId>) {
        let reads = self.expand(&reads, None);
        let frozen = match &why {
            Why::After(read, written) => read.union(written).copied().collect(),
            _ => reads.clone(),
        };
        self.open.push(Scope { why, frozen, reads, written: BTreeSet::new() });
    }

    /// Closes the innermost scope.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// How many scopes are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// A number for a new block of the source.
    pub fn new_block(&mut self) -> usize {
        self.blocks += 1;
        self.blocks
    }

    /// How many loops are around.
    pub fn loops(&self) -> usize {
        self.open.iter().filter(|s| matches!(s.why, Why::Loop | Why::While(_))).count()
    }

    /// A variable in scope.
    pub fn get(&self, id: VarId) -> Option<&Known> {
        self.known.iter().rev().find(|k| k.id == id)
    }

    fn get_mut(&mut self, id: VarId) -> Option<&mut Known> {
        self.known.iter_mut().rev().find(|k| k.id == id)
    }

    /// Whether no scope keeps a variable as it is.
    pub fn is_free(&self, id: VarId) -> bool {
        self.open.iter().all(|s| !s.frozen.contains(&id))
    }

    /// Whether a managed ancilla of an outer block may be written here at all.
    pub fn may_manage(&self, known: &Known) -> bool {
        let Some(scope) = known.scope else { return true };
        !known.managed
            || self.open[scope + 1..].iter().all(|s| match &s.why {
                Why::Decided => false,
                Why::While(block) => *block == known.block,
                Why::Declaration | Why::Branch | Why::Loop | Why::Inverse | Why::Compute | Why::After(..) => {
                    true
                }
            })
    }

    /// The variables that determine the value of `roots`: through bindings, and through ancillas
    /// declared inside the scope number `outer`.
    fn expand(&self, roots: &BTreeSet<VarId>, outer: Option<usize>) -> BTreeSet<VarId> {
        let mut out = BTreeSet::new();
        let mut left: Vec<VarId> = roots.iter().copied().collect();
        while let Some(v) = left.pop() {
            if !out.insert(v) {
                continue;
            }
            let Some(known) = self.get(v) else { continue };
            let binding = known.permission == Permission::Read && known.scope.is_some() && !known.managed;
            if binding || known.scope > outer {
                left.extend(&known.sources);
            }
        }
        out
    }

    /// Whether a statement without inner blocks may stand here; if so, its effects are noted.
    pub fn admit(&mut self, stmt: &Stmt) -> bool {
        let (reads, writes) = effects(stmt);
        let managed: Vec<Known> =
            writes.iter().filter_map(|v| self.get(*v)).filter(|k| k.managed).cloned().collect();
        if managed.len() < writes.len() && !managed.is_empty() {
            return false;
        }
        if managed.iter().any(|k| k.block != managed[0].block) {
            return false;
        }
        let mut frozen = Vec::new();
        for ancilla in &managed {
            match self.computed_from(ancilla, &reads) {
                Some(sources) => frozen.push((ancilla, sources)),
                None => return false,
            }
        }
        for (ancilla, sources) in frozen {
            if let (Some(scope), Some(sources)) = (ancilla.scope, &sources) {
                let frozen: Vec<VarId> =
                    sources.iter().filter(|v| !self.is_joint(**v, ancilla)).copied().collect();
                self.open[scope].frozen.extend(frozen);
            }
            if let Some(known) = self.get_mut(ancilla.id) {
                known.sources.extend(sources.unwrap_or_else(|| reads.clone()));
            }
        }
        for id in &writes {
            let own_sources = self.get(*id).is_some_and(|k| k.scope.is_some() && !k.managed);
            if let (true, Some(known)) = (own_sources, self.get_mut(*id)) {
                known.sources.extend(&reads);
            }
        }
        for scope in &mut self.open {
            scope.written.extend(&writes);
        }
        true
    }

    /// Whether a variable is a managed ancilla of the same block, which is uncomputed together with this one.
    fn is_joint(&self, v: VarId, ancilla: &Known) -> bool {
        self.get(v).is_some_and(|k| k.managed && k.block == ancilla.block)
    }

    /// What the statement that reads `reads` makes a managed ancilla depend on: `None` where the
    /// ancilla can't be uncomputed then, `Some(None)` where a compute block undoes the statement.
    fn computed_from(&self, ancilla: &Known, reads: &BTreeSet<VarId>) -> Option<Option<BTreeSet<VarId>>> {
        let scope = ancilla.scope?;
        if !self.may_manage(ancilla) {
            return None;
        }
        let inner = &self.open[scope + 1..];
        if inner.iter().any(|s| s.why == Why::Compute) {
            return Some(None);
        }
        let mut all = reads.clone();
        for s in inner {
            if s.why != Why::Declaration {
                all.extend(&s.reads);
            }
        }
        let mut all = self.expand(&all, Some(scope));
        for s in inner {
            if let Why::After(read, written) = &s.why {
                if !written.is_disjoint(&all) {
                    all.extend(read.union(written));
                }
            }
        }
        let outside =
            |v: &VarId| !self.is_joint(*v, ancilla) && self.get(*v).is_none_or(|k| k.scope <= Some(scope));
        let repeated = |s: &&Scope| matches!(s.why, Why::Loop | Why::While(_) | Why::Inverse);
        let changed =
            inner.iter().filter(repeated).any(|s| all.iter().any(|v| outside(v) && s.written.contains(v)));
        (!changed).then_some(Some(all))
    }
}

/// The variables that a statement without inner blocks reads and writes.
fn effects(stmt: &Stmt) -> (BTreeSet<VarId>, BTreeSet<VarId>) {
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    stmt.each_access(&mut |p, access| {
        match access {
            Access::Read => &mut reads,
            Access::Accumulate | Access::Write => &mut writes,
        }
        .insert(p.var);
    });
    (reads, writes)
}

/// The variables that statements read and write at any depth.
pub fn effects_of_block(block: &[Stmt]) -> (BTreeSet<VarId>, BTreeSet<VarId>) {
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    for stmt in block {
        stmt.each_access_deep(&mut |p, access| {
            match access {
                Access::Read => &mut reads,
                Access::Accumulate | Access::Write => &mut writes,
            }
            .insert(p.var);
        });
    }
    (reads, writes)
}

/// The variables whose values an expression reads.
pub fn roots(e: &Expr) -> BTreeSet<VarId> {
    e.reads().into_iter().map(|p| p.var).collect()
}

impl What {
    /// The type, over the type parameter `T`.
    pub fn ty(&self) -> Type {
        use rev_core::ir::{Length, Rank};
        let t = || Box::new(Type::Generic("T".into()));
        match self {
            What::Real => *t(),
            What::Complex => Type::Complex(t()),
            What::Int => Type::Scalar(ScalarType::I64),
            What::Index(_) => Type::INDEX,
            What::Bool => Type::BOOL,
            What::Reals => Type::Array(t(), Rank::Fixed(1)),
            What::Matrix => Type::Array(t(), Rank::Fixed(2)),
            What::Rows => Type::Array(Box::new(What::Triple { named: false }.ty()), Rank::Fixed(1)),
            What::Triple { named: true } => Type::Fixed(t(), Length::Named("N".into())),
            What::Triple { named: false } => Type::Fixed(t(), Length::Literal(SHORT as u64)),
            What::Ints => Type::Array(Box::new(Type::Scalar(ScalarType::I64)), Rank::Fixed(1)),
            What::Indices { .. } => Type::Array(Box::new(Type::INDEX), Rank::Fixed(1)),
            What::Duo => Type::Tuple(vec![*t(), *t()]),
            What::Mixed => Type::Tuple(vec![Type::BOOL, *t(), Type::Scalar(ScalarType::I64)]),
            What::Body => Type::Struct("Body".into(), vec![*t()]),
            What::Stack(Element::Real) => Type::Stack(t()),
            What::Stack(Element::Complex) => Type::Stack(Box::new(Type::Complex(t()))),
            What::Stack(Element::Int) => Type::Stack(Box::new(Type::Scalar(ScalarType::I64))),
            What::Stack(Element::Bool) => Type::Stack(Box::new(Type::BOOL)),
            What::Depth => Type::INDEX,
            What::Narrow(ty) => Type::Scalar(*ty),
            What::Function => Type::Function("F".into()),
        }
    }

    /// Whether it holds scalars of a kind.
    pub fn holds(&self, element: Element) -> bool {
        match self {
            What::Real
            | What::Reals
            | What::Matrix
            | What::Rows
            | What::Triple { .. }
            | What::Duo
            | What::Body => element == Element::Real,
            What::Complex => matches!(element, Element::Real | Element::Complex),
            What::Int | What::Ints => element == Element::Int,
            What::Bool => element == Element::Bool,
            What::Mixed => element != Element::Complex,
            What::Index(_)
            | What::Indices { .. }
            | What::Stack(_)
            | What::Depth
            | What::Narrow(_)
            | What::Function => false,
        }
    }

    /// Whether its first index can be owned by an iteration.
    pub fn is_array(&self) -> bool {
        match self {
            What::Reals | What::Matrix | What::Rows | What::Ints => true,
            What::Real
            | What::Complex
            | What::Int
            | What::Index(_)
            | What::Bool
            | What::Triple { .. }
            | What::Indices { .. }
            | What::Duo
            | What::Mixed
            | What::Body
            | What::Stack(_)
            | What::Depth
            | What::Narrow(_)
            | What::Function => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rev_core::ir::{Place, StmtKind, UpdateOp};

    const NAMES: [VarId; 4] = [VarId(0), VarId(1), VarId(2), VarId(3)];

    fn declare(scopes: &mut Scopes, id: VarId, block: Option<usize>) {
        if block.is_some() {
            scopes.enter(Why::Declaration, BTreeSet::new());
        }
        let (scope, block, managed) =
            (block.map(|_| scopes.depth() - 1), block.unwrap_or(0), block.is_some());
        let (what, permission, sources) = (What::Real, Permission::Full, BTreeSet::new());
        scopes.known.push(Known { id, what, permission, small: true, managed, scope, block, sources });
    }

    fn add(scopes: &mut Scopes, to: VarId, from: VarId) {
        let (place, expr) = (Place::var(to), Expr::read(Place::var(from)));
        assert!(scopes.admit(&Stmt::new(StmtKind::Update { op: UpdateOp::Add, place, expr })));
    }

    /// `y` is needed for an ancilla that was computed from one that is uncomputed together with another one, which was
    /// computed from `y`.
    #[test]
    fn what_ancillas_of_one_block_are_computed_from_is_kept() {
        let [y, outer, first, second] = NAMES;
        let mut scopes = Scopes::default();
        declare(&mut scopes, y, None);
        declare(&mut scopes, outer, Some(1));
        declare(&mut scopes, first, Some(2));
        declare(&mut scopes, second, Some(2));
        add(&mut scopes, second, first);
        assert!(scopes.is_free(first), "both are uncomputed together");
        add(&mut scopes, first, y);
        add(&mut scopes, outer, second);
        scopes.leave();
        scopes.leave();
        assert!(!scopes.is_free(y), "the outer ancilla isn't uncomputed yet");
    }
}
