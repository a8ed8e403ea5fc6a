//! The table of instructions: statements that change places in a reversible way other than by
//! accumulating. One row each.

use crate::ir::Class;

/// What an instruction needs of its operands, what undoes it, and how it acts on shadows.
pub struct InstrRow {
    /// The instruction.
    pub instr: Instr,
    /// Its name in the source, in the text form, and of the Rust function in `rev_core::scalar::rt::instr`.
    pub name: &'static str,
    /// How many places it changes.
    pub places: usize,
    /// How many values it reads beside them.
    pub operands: usize,
    /// What the scalar type has to be able to do; `None` where any value will do (`swap`).
    pub class: Option<Class>,
    /// The instruction that undoes it, with the same places and operands.
    pub inverse: Instr,
    /// What the adjoint does.
    pub adjoint: InstrAdjoint,
    /// Whether undoing it restores every bit.
    pub exact: bool,
}

/// How the adjoint of an instruction acts on shadows, run when the values are already undone
/// (so that they are the instruction's inputs) where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstrAdjoint {
    /// The places carry no derivative, or it passes unchanged.
    Nothing,
    /// The inverse instruction with the same operands, on the shadows of the places: orthogonal
    /// linear maps, whose transpose is their inverse.
    InverseOnShadows,
    /// `x̄ *= c`, for maps `x → k·x` with integer `k`: `c = k`.
    ScaleByOperand,
    /// `x̄ *= 1/k`.
    ScaleByReciprocal,
    /// `x → 1/x`: `x̄ *= -1/x²` with the conjugate for complex scalars.
    Inv,
    /// A rotation: `θ̄ += ∂/∂θ`, then the inverse rotation of the shadows.
    Rotation,
    /// The reverse rotation.
    ReverseRotation,
    /// `x → c·x` for a value `c` that may carry a derivative.
    ScaleBy,
    /// `x → x/c`; run before the values are undone.
    UnscaleBy,
}

macro_rules! define_instrs {
    ($(($variant:ident $name:ident $places:literal $operands:literal $class:expr, $inverse:ident $adjoint:ident $exact:literal))*) => {
        /// An instruction of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Instr { $($variant),* }

        impl Instr {
            /// Every instruction.
            pub const ALL: &'static [Instr] = &[$(Instr::$variant),*];

            /// The instruction's row.
            pub fn row(self) -> InstrRow {
                match self {
                    $(Instr::$variant => InstrRow {
                        instr: self,
                        name: stringify!($name),
                        places: $places,
                        operands: $operands,
                        class: $class,
                        inverse: Instr::$inverse,
                        adjoint: InstrAdjoint::$adjoint,
                        exact: $exact,
                    },)*
                }
            }

            /// The instruction's name.
            pub fn name(self) -> &'static str {
                match self { $(Instr::$variant => stringify!($name)),* }
            }

            /// The instruction with a name.
            pub fn from_name(name: &str) -> Option<Instr> {
                match name { $(stringify!($name) => Some(Instr::$variant),)* _ => None }
            }
        }
    };
}

define_instrs! {
    // exchange of two values of one type
    (Swap swap 2 0 None, Swap InverseOnShadows true)
    // x → -x
    (Neg neg 1 0 Some(Class::Ring), Neg InverseOnShadows true)
    // x → x + 1, x → x - 1
    (Inc inc 1 0 Some(Class::Ring), Dec Nothing true)
    (Dec dec 1 0 Some(Class::Ring), Inc Nothing true)
    // b → !b
    (Flip flip 1 0 Some(Class::Scalar), Flip Nothing true)
    // z → conj(z)
    (Conj conj 1 0 Some(Class::Field), Conj InverseOnShadows true)
    // x → 1/x
    (Inv inv 1 0 Some(Class::Field), Inv Inv false)
    // (a, b) → (a cos θ - b sin θ, a sin θ + b cos θ), and back
    (Rot rot 2 1 Some(Class::Real), Irot Rotation false)
    (Irot irot 2 1 Some(Class::Real), Rot ReverseRotation false)
    // (a, b) → ((a + b)/√2, (a - b)/√2)
    (Hadamard hadamard 2 0 Some(Class::Field), Hadamard InverseOnShadows false)
    // x → k·x and x → x/k by an integer k (an i64) that isn't 0; on integers and fixed point the
    // product must not overflow and the quotient must be exact
    (MulInt mul_int 1 1 Some(Class::Ring), DivInt ScaleByOperand false)
    (DivInt div_int 1 1 Some(Class::Ring), MulInt ScaleByReciprocal false)
    // x → c·x and x → x/c, c not 0: undone up to rounding, relative to x; on integers and fixed point
    // the product must not overflow and the quotient must be exact
    (ScaleBy scale_by 1 1 Some(Class::Ring), UnscaleBy ScaleBy false)
    (UnscaleBy unscale_by 1 1 Some(Class::Ring), ScaleBy UnscaleBy false)
}
