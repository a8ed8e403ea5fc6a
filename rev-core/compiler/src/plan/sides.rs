//! The programs that take tangents side by side: of a function, and of its adjoint on numbers. Both are transposes of
//! adjoints ([`tangents`]).

use super::{Program, Standing};
use crate::check::Checked;
use crate::ir::{Direction, Type};
use crate::pass::{inverse, pullback_to_run, tangents};

/// What is emitted of a function that has tangents.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// The function with tangents, and its inverse.
    pub of_function: [Program; 2],
    /// The adjoint on numbers with tangents, and that of the inverse.
    pub of_adjoint: [Program; 2],
    /// Whether all are there for lanes too.
    pub laned: bool,
}

/// What is emitted of a function's tangents side by side. `called`: the same function as a call of the program that has them, of
/// which nothing is derived a second time ([`pullback_called`](crate::pass::pullback_called)).
pub fn sides(function: &Checked, called: Option<&Checked>, standing: Standing) -> Sides {
    let takes_functions = function.params.iter().any(|p| matches!(function.var(*p).ty, Type::Function(_)));
    let backward = inverse(function);
    let adjoints = [function, &backward].map(pullback_to_run);
    let backward_called = called.map(inverse);
    let own = [called.unwrap_or(function), backward_called.as_ref().unwrap_or(&backward)];
    Sides {
        of_function: programs(own, Direction::TANGENTS, standing),
        of_adjoint: programs(adjoints.each_ref(), Direction::TANGENTS_OF_ADJOINT, standing),
        laned: !takes_functions,
    }
}

/// The tangents of two programs, of which the second goes backwards and is seldom called.
fn programs([forward, backward]: [&Checked; 2], direction: Direction, standing: Standing) -> [Program; 2] {
    let inverse = Direction { inverse: true, ..direction };
    [Program::erased(direction, tangents(forward), standing), Program::whole(inverse, tangents(backward))]
}
