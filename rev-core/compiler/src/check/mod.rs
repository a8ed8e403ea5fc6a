//! The static rules: what a function must satisfy before anything is made of it.
//!
//! [`check`] takes a function as the front end or the text form gives it, and returns it as a
//! [`Checked`] function, or everything that is wrong with it. Passes and backends ask for
//! [`Checked`], so that they can rely on the rules instead of testing them again.
//!
//! | file | rule |
//! | --- | --- |
//! | [`overlap`], `affine` | whether two places share storage: surely not, surely, or known at run time |
//! | [`types`] | types, literals, indices, signatures |
//! | `limits` | how deep a program may be |
//! | `scope` | variables are used where they are declared |
//! | `self_reference` | R1: a statement doesn't read what it writes |
//! | `bindings`, `ancillas` | R2, R3: what a binding or a first value reads stays |
//! | `branches`, `loops` | R4 to R6: conditions, postconditions, ranges |
//! | `arguments` | R7: the arguments of a call are apart |
//! | `writes` | what may be written, and how |
//! | `releases` | explicit releases |
//! | `slices` | parts of arrays |
//! | `contractions` | products and sums of whole arrays |
//! | `products` | products that are rounded with a sum |
//! | `constants` | parameters without derivatives, and what calls pass for them |
//! | `parallel` | P1 to P3: the iterations of a parallel loop |
//! | `pure` | pure functions |
//!
//! What can't be decided here (`x[i] += x[j]`) is left to the checks at run time where the rule says
//! so, and rejected where it is about a longer time than a statement.

mod affine;
mod ancillas;
mod arguments;
mod bindings;
mod branches;
mod checked;
mod constants;
mod context;
mod contractions;
mod limits;
mod loops;
mod parallel;
mod products;
mod pure;
mod releases;
mod scope;
mod self_reference;
mod slices;
mod writes;

pub mod overlap;
pub mod types;

pub use checked::Checked;
pub(crate) use constants::lost as lost_to_constants;
pub use pure::check_pure;
pub use types::{infer, infer_module, infer_pure, type_of, with_typed_literals, Types};

use crate::diag::Diagnostics;
use crate::ir::{depth, Function, Module};
use crate::limits::grown;
use context::Context;

/// The rules, each of which looks at the whole function.
const RULES: &[fn(&Context, &mut Diagnostics)] = &[
    self_reference::check,
    arguments::check,
    writes::check,
    bindings::check,
    ancillas::check,
    releases::check,
    branches::check,
    loops::check,
    slices::check,
    contractions::check,
    products::check,
    parallel::check,
    constants::check,
];

/// Checks every static rule, completes types, and makes automatic uncomputation explicit.
///
/// # Errors
/// Everything that is wrong with the function, in the order of the source.
pub fn check(function: Function) -> Result<Checked, Diagnostics> {
    limits::check(&function).or(())?;
    grown(depth(&function.body), || check_shallow(function))
}

fn check_shallow(mut function: Function) -> Result<Checked, Diagnostics> {
    scope::check(&function).or(())?;
    let mut found = types::check(&function);
    infer(&mut function);
    let cx = Context::new(&function);
    RULES.iter().for_each(|rule| rule(&cx, &mut found));
    drop(cx);
    found.append(crate::pass::uncompute(&mut function));
    let checked = Checked::made(found.or(function)?, "uncomputation");
    checked.defects.clone().or(checked)
}

/// Checks every function and pure function of a module, and what only the module tells: the types of structs' fields
/// and of callees' parameters, and that nothing which carries a derivative is passed for a parameter that the callee
/// declares constant.
///
/// ```
/// let text = "module fit
///     fn loss<T: Real>(y: &mut T, w: T, x: T) constant(x) { y += w * x }
///     fn fit<T: Real>(y: &mut T, w: T, x: T) { call loss(&mut y, w, x) }";
/// let wrong = rev_compiler::check::check_module(rev_compiler::text::parse_module(text)?).unwrap_err();
/// assert_eq!(wrong.0[0].message, "`x` carries a derivative, but `loss` declares `x` constant");
///
/// let text = text.replace("x: T) { call", "x: T) constant(x) { call");
/// assert!(rev_compiler::check::check_module(rev_compiler::text::parse_module(&text)?).is_ok());
/// # Ok::<(), rev_compiler::text::ParseError>(())
/// ```
///
/// # Errors
/// Everything that is wrong with it.
pub fn check_module(mut module: Module) -> Result<Module, Diagnostics> {
    let mut found = Diagnostics::default();
    module.pures.values().filter_map(|pure| check_pure(pure).err()).for_each(|d| found.append(d));
    for function in module.functions.values_mut() {
        match check(function.clone()) {
            Ok(checked) => *function = checked.into_inner(),
            Err(wrong) => found.append(wrong),
        }
    }
    let module = found.or(module)?;
    let mut found = Diagnostics::default();
    for f in module.functions.values() {
        found.append(types::check_in_module(f, &module));
        found.append(lost_to_constants(&module, f));
    }
    found.or(module)
}
