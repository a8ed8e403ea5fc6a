//! The plan: what is emitted of a function, as data. It is the last stage of the compiler; who prints programs decides
//! nothing.
//!
//! [`plan`] says which programs a function has and in which variants: with checks and without, with the state that an
//! adjoint restores and without, fused. What it gives is erased and shared, and is printed as it stands. What
//! depends on where a statement stands is asked there:
//!
//! | file | question |
//! | --- | --- |
//! | `parallel` | how a parallel loop runs ([`Loop`]), by what stands around it ([`Around`]) |
//! | `roles` | what each variable from outside is to its iterations |
//! | `element` | which element all iterations add to; the GPU asks this too |
//! | `lanes` | what runs in lanes, of loops and of functions that they call |
//! | `gathers`, `inner` | which loops lanes would only slow down, and which leave them to those inside of them |
//! | `vary`, `alike` | which values differ between lanes, and which don't although they could |
//! | `width` | how many lanes |
//! | `lend` | which fields of structs are variables of their own around a loop |
//! | `work` | how much work an iteration is |
//! | `sides` | which programs take tangents side by side |
//! | `products` | where products are rounded together with sums |
//!
//! Plans have a text form, for tests:
//!
//! ```
//! let f = rev_compiler::text::parse_function("fn f(y: &mut [f64], x: [f64]) {
//!     par for i in 0..len(x) { y[i] += x[i] }
//! }")?;
//! let plan = rev_compiler::plan::loops(&f);
//! assert_eq!(plan, "par i: y own, x read; narrow, linear i; work 4\n");
//! # Ok::<(), rev_compiler::text::ParseError>(())
//! ```

mod alike;
mod arrays;
mod claims;
mod element;
mod gathers;
mod in_order;
mod inner;
mod lanes;
mod lend;
mod parallel;
mod products;
mod roles;
mod sides;
#[cfg(test)]
mod tests;
mod vary;
mod width;
mod work;

use std::fmt;

use crate::check::Checked;
use crate::ir::{Callee, Direction, Function, Stmt, StmtKind, Type};
use crate::pass::{adjoint, erase, fuse, fuse_proven, inverse, Adjoint, Erased, Forms, Wanted};

pub use alike::{Alike, AlikeSoFar, Entered};
use arrays::handles;
pub use claims::{Claims, Take};
pub use element::{common_element, common_index, common_part, is_plain, Owned};
pub use in_order::{sums_in_order, SumInOrder};
pub use lanes::{counts, is_own_part, Lanes};
pub(crate) use lend::lend;
pub use lend::{loan, rename_lent};
pub use parallel::{loops, Adds, Around, Loop};
pub use products::has_fused_product_outside;
pub use roles::{adds_by_field, Role};
pub use sides::{sides, Sides};
pub use vary::Varying;
use width::width;
pub use width::Width;
pub use work::{Arithmetic, Count, Work};

/// What is emitted of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The program, its inverse, its adjoint.
    pub programs: [Program; 3],
    /// The adjoint of the inverse, where it may be called.
    pub inverse_adjoint: Option<Program>,
    /// Whether lanes call these, which never call a function that takes functions.
    pub laned: bool,
    /// The function and its adjoint in one, which entry points run.
    pub fused: Option<Fusion>,
}

/// A program of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Which one it is.
    pub direction: Direction,
    /// The program, all of it.
    pub function: Checked,
    /// What of it is emitted. `None`: all statements once, for runs of all kinds, as nobody compiles much for what is seldom
    /// called.
    pub variants: Option<Variants>,
    /// Whether the statements are there for lanes too; else a call in lanes is one for each.
    pub laned: bool,
}

/// What of a program is emitted: what is read of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Variants {
    /// With all that it writes.
    pub all: Forms,
    /// With the shadows only, where that has other statements.
    pub shadows: Option<Forms>,
    /// Without checks, if all parameters are scalars: what a recursion by value runs.
    pub by_value: Option<Erased>,
}

/// A function and its adjoint in one, where that calls no programs but those that every function has.
#[derive(Clone, Debug, PartialEq)]
pub struct Fusion {
    /// Whether it serves with checks too: the function claims nothing.
    pub checked: bool,
    /// The program.
    pub function: Erased,
}

/// The order from which derivatives have one form, that restores the state, and none for lanes: nearly all that is emitted would be
/// these, and nearly nobody calls them.
const SELDOM: usize = 3;

/// What a function is to those who call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// How often it was derived: 0 of a function that is written, 2 of the adjoint of a tangent.
    pub order: usize,
    /// Whether there is more of it than what programs call.
    pub entered: bool,
    /// Whether programs may call its inverse with cotangents that go through it.
    pub inverse_adjoint: bool,
}

impl Standing {
    /// That of a function that is written.
    pub const WRITTEN: Standing = Standing { order: 0, entered: true, inverse_adjoint: false };

    /// Whether a program of it is a derivative that hardly anyone calls.
    fn is_seldom(self, direction: Direction) -> bool {
        self.order + usize::from(direction.adjoint) >= SELDOM
    }
}

/// What is emitted of a function.
pub fn plan(function: &Checked, standing: Standing) -> Plan {
    let backward = inverse(function);
    let own_adjoint = adjoint(function, Adjoint::LEAN);
    let laned = !function.params.iter().any(|p| matches!(function.var(*p).ty, Type::Function(_)));
    let is_needed = standing.inverse_adjoint
        || function.grown(|| calls_own(&own_adjoint.body, &function.name, Direction::INVERSE_ADJOINT));
    let inverse_adjoint =
        is_needed.then(|| Program::whole(Direction::INVERSE_ADJOINT, adjoint(&backward, Adjoint::LEAN)));
    Plan {
        programs: [
            Program::erased(Direction::FORWARD, function.clone(), standing),
            Program::erased(Direction::INVERSE, backward, standing),
            Program::erased(Direction::ADJOINT, own_adjoint, standing),
        ],
        inverse_adjoint,
        laned,
        fused: (laned && standing.entered).then(|| fusion(function)).flatten(),
    }
}

/// Whether statements of a function call its own program, which may have a path before its name (`Self::f`).
fn calls_own(block: &[Stmt], own: &str, direction: Direction) -> bool {
    let last = |path: &str| path.rsplit("::").next().map(str::to_string);
    block.iter().any(|stmt| match &stmt.kind {
        StmtKind::Call { callee: Callee::Path(path), direction: called, .. } => {
            last(path.name()) == last(own) && *called == direction
        }
        _ => stmt.blocks().into_iter().any(|inner| calls_own(inner, own, direction)),
    })
}

fn fusion(function: &Function) -> Option<Fusion> {
    let (checked, fused) = match fuse_proven(function) {
        Some(fused) => (true, fused),
        None => (false, fuse(function)?),
    };
    fused.erased().map(|fused| Fusion { checked, function: fused.shared().lent() })
}

impl Program {
    fn erased(direction: Direction, function: Checked, standing: Standing) -> Program {
        let all = Forms::of(&function, Wanted::All);
        let forgets = direction.adjoint > 0 && !standing.is_seldom(direction);
        let shadows = forgets.then(|| Forms::of(&function, Wanted::Shadows));
        let (all, shadows) = match shadows.as_ref().and_then(|shadows| all.with_shadows(shadows)) {
            Some(both) => (both, None),
            None => (all, shadows.map(|forms| forms.shared().lent())),
        };
        let scalars = function.params.iter().all(|p| function.var(*p).ty.is_scalar());
        let by_value =
            (scalars && direction.adjoint == 0).then(|| erase(&function, Wanted::All).shared().lent());
        let variants = Some(Variants { all: all.shared().lent(), shadows, by_value });
        let laned =
            !standing.is_seldom(direction) && (standing.order == 0 || direction != Direction::ADJOINT);
        Program { direction, function, variants, laned }
    }

    fn whole(direction: Direction, function: Checked) -> Program {
        Program { direction, function, variants: None, laned: false }
    }
}

/// Its programs by name, with the plans of their parallel loops.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for program in self.programs.iter().chain(&self.inverse_adjoint) {
            let kind = if program.direction.adjoint > 0 { "adjoint" } else { "program" };
            let name = format!("{}{kind}", if program.direction.inverse { "inverse's " } else { "" });
            match &program.variants {
                None => writeln!(f, "{name}: whole")?,
                Some(Variants { all, shadows, .. }) => {
                    write_forms(f, &name, all)?;
                    if let Some(shadows) = shadows {
                        write_forms(f, &format!("{name} for shadows"), shadows)?;
                    }
                }
            }
        }
        match &self.fused {
            Some(Fusion { checked: true, function }) => write_program(f, "fused", function),
            Some(Fusion { checked: false, function }) => write_program(f, "fused without checks", function),
            None => Ok(()),
        }
    }
}

fn write_forms(f: &mut fmt::Formatter<'_>, name: &str, forms: &Forms) -> fmt::Result {
    match forms {
        Forms::One(one) => write_program(f, name, one),
        Forms::Two { checked, unchecked } => {
            write_program(f, &format!("{name} with checks"), checked)?;
            write_program(f, &format!("{name} without checks"), unchecked)
        }
    }
}

fn write_program(f: &mut fmt::Formatter<'_>, name: &str, function: &Function) -> fmt::Result {
    writeln!(f, "{name}")?;
    loops(function).lines().try_for_each(|line| writeln!(f, "    {line}"))
}
