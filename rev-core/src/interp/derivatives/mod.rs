//! Patterns of derivatives, found by running a program with sets of inputs beside its numbers.
//!
//! Two ways were weighed. One goes backwards as the adjoint does and carries for each number the outputs that it
//! reaches; the other, which this is, goes forward and carries the inputs that it depends on. Forward, the program
//! that is run is the erased one ([`Module::erased`]): what only brings ancillas back isn't in it, so it can't blow up a
//! pattern, and no value has to be recovered. And a branch that isn't taken can be tried where it stands, on the values
//! that are there, which are put back afterwards.

mod backward;
mod curvature;
mod forward;
mod instructions;
mod local;
mod marks;
mod sets;
mod tape;
mod tree;
mod walk;

use std::collections::HashMap;

use self::backward::Backward;
use self::forward::Forward;
use self::marks::{Mark, Marks};
use self::sets::{Pairs, Set};
use self::tape::{Parts, Tape};
use self::tree::{Tree, Trees};
use super::Machine;
use crate::error::{Cause, Error};
use crate::ir::{Direction, Function, Mode, Module, VarKind};
use crate::pass::directed;
use crate::sparse::{Pattern, PatternError, SparseMatrix};
use crate::tolerance::Options;
use crate::value::Data;

/// Which branches count in a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Branches {
    /// Those that are taken at the given values. The pattern holds near these, as far as no choice changes.
    #[default]
    Taken,
    /// Both branches of each `if`, and both arguments of each choice (`max`, `select`), that real numbers decide: the
    /// pattern holds for all values of the real arguments, with the integers and sizes that are given. Loops run as
    /// often as the given values say, and recursions go as deep: a branch that isn't taken and calls a function that is
    /// running isn't tried.
    All,
}

/// The sparsity of a program's derivatives, found by running it once.
///
/// Rows and columns are the real numbers of the arguments, one after the other: both parts of a complex number, none
/// for an integer. Parameters that are declared constant don't count.
pub trait Sparsity {
    /// Where the Jacobian of the entry may have nonzeros: a row for each number that it may write, a column for each
    /// number in its arguments.
    ///
    /// # Errors
    ///
    /// Other arguments than the entry takes, and what stops the program. With [`Branches::All`] also a branch that
    /// can't be run at these values.
    fn jacobian_pattern(&self, args: &[Data], branches: Branches) -> Result<Pattern, Error>;

    /// Where the Hessian of the entry's argument number `loss` may have nonzeros, with a row and a column for each
    /// number in the other arguments. The loss starts at zero. All that interacts in the program counts, also for
    /// other results than the loss.
    ///
    /// # Errors
    ///
    /// As [`jacobian_pattern`](Sparsity::jacobian_pattern).
    fn hessian_pattern(&self, loss: usize, args: &[Data], branches: Branches) -> Result<Pattern, Error>;

    /// The Hessian that [`hessian_pattern`](Sparsity::hessian_pattern) is about, at the arguments: the program is run
    /// forward and then back, and the second derivatives by the numbers that are live are changed as it goes. No pattern
    /// and no direction is needed, and nothing is stored. What is exactly zero at the arguments is left out.
    ///
    /// # Errors
    ///
    /// Other arguments than the entry takes, a loss that isn't a real number, and what stops the program or its
    /// inverse.
    fn hessian_pushed(&self, loss: usize, args: &[Data]) -> Result<SparseMatrix, Error>;
}

impl Sparsity for Module {
    fn jacobian_pattern(&self, args: &[Data], branches: Branches) -> Result<Pattern, Error> {
        let entry = entry(self, args)?;
        let columns = Numbers::of(entry, args, None);
        let erased = self.erased()?;
        let forward = run(&erased, args, &columns, (None, branches))?;
        let (mut entries, mut row) = (Vec::new(), 0);
        for (k, at) in forward.machine.places().iter().enumerate() {
            if columns.first[k].is_none() || !is_written(entry, k) {
                continue;
            }
            let data = forward.machine.memory.read(at);
            forward.marks.trees.get(at).zip(&data, &mut |number, mark: &Mark| {
                for _ in 0..numbers(number) {
                    mark.inputs.each(&mut |column| entries.push((row, column as usize)));
                    row += 1;
                }
            });
        }
        Pattern::new(row, columns.count, entries).map_err(too_large)
    }

    fn hessian_pattern(&self, loss: usize, args: &[Data], branches: Branches) -> Result<Pattern, Error> {
        let entry = entry(self, args)?;
        let mut args = args.to_vec();
        let start = args.get_mut(loss).ok_or_else(|| no_loss(entry, loss))?;
        *start = start.zero_like();
        let columns = Numbers::of(entry, &args, Some(loss));
        let count = columns.count;
        let erased = self.erased()?;
        let forward = run(&erased, &args, &columns, (Some(Pairs::new(count)), branches))?;
        let pairs = forward.marks.pairs.unwrap_or_default();
        Pattern::new(count, count, pairs.finish()).map_err(too_large)
    }

    fn hessian_pushed(&self, loss: usize, args: &[Data]) -> Result<SparseMatrix, Error> {
        let entry = entry(self, args)?;
        let mut args = args.to_vec();
        let start = args.get_mut(loss).ok_or_else(|| no_loss(entry, loss))?;
        *start = start.zero_like();
        if !matches!(start, Data::Scalar(v) if !v.is_inactive() && v.parts().is_none()) {
            return Err(no_loss(entry, loss));
        }
        if self.functions.values().any(|f| !f.constants.is_empty()) {
            // what a callee's constant would lose is refused
            self.functions.keys().try_for_each(|name| directed(self, name, ADJOINT).map(drop))?;
        }
        let columns = Numbers::of(entry, &args, Some(loss));
        let mut machine = Machine::new(self, &self.entry, Direction::FORWARD, args)?;
        machine.run()?;
        let mut tape = Tape::default();
        if let Some(at) = machine.places().get(loss) {
            let id = tape.curvature.add();
            tape.curvature.seed(id);
            *tape.trees.cell(at.cell) = Tree::Same(Parts([id, 0]));
        }
        let mut backward = Backward::new(machine, tape);
        backward.run()?;
        let mut numbered = HashMap::new();
        for (at, first) in backward.machine.places().iter().zip(&columns.first) {
            let Some(mut next) = first.map(|first| first as usize) else { continue };
            let data = backward.machine.memory.read(at);
            backward.tape.trees.get(at).zip(&data, &mut |number, parts: &Parts| {
                numbered.extend(parts.live().map(|(part, id)| (id, next + part)));
                next += numbers(number);
            });
        }
        let row = |(id, i): (&u32, &usize)| {
            let entries = backward.tape.curvature.row(*id);
            let i = *i;
            entries.filter_map(|(j, w)| Some((i, *numbered.get(&j)?, w))).collect::<Vec<_>>()
        };
        let triplets: Vec<_> = numbered.iter().flat_map(row).collect();
        SparseMatrix::from_triplets(columns.count, columns.count, triplets).map_err(too_large)
    }
}

const ADJOINT: Direction = Direction::ADJOINT;

/// The first number of each argument that has some, and how many there are.
struct Numbers {
    first: Vec<Option<u32>>,
    count: usize,
}

impl Numbers {
    fn of(entry: &Function, args: &[Data], but: Option<usize>) -> Numbers {
        let mut count = 0;
        let mut first = Vec::new();
        for (k, (arg, param)) in args.iter().zip(&entry.params).enumerate() {
            let active = Some(k) != but && !entry.constants.contains(param);
            first.push(active.then_some(count as u32));
            if active {
                Tree::<Mark>::default().zip(arg, &mut |number, _| count += numbers(number));
            }
        }
        Numbers { first, count }
    }
}

/// How many real numbers with a derivative a scalar has.
fn numbers(scalar: &Data) -> usize {
    match scalar {
        Data::Scalar(v) if v.is_inactive() => 0,
        Data::Scalar(v) if v.parts().is_some() => 2,
        Data::Scalar(_) => 1,
        _ => 0,
    }
}

/// Runs a program with marks, each number of its arguments one of its own.
fn run<'m>(
    module: &'m Module,
    args: &[Data],
    columns: &Numbers,
    (pairs, branches): (Option<Pairs>, Branches),
) -> Result<Forward<'m>, Error> {
    let options = Options { checks: false, ..Options::default() };
    let machine = Machine::new(module, &module.entry, Direction::FORWARD, args.to_vec())?;
    let machine = machine.with_options(options).forgetting();
    let mut trees = Trees::default();
    for (at, first) in machine.places().iter().zip(&columns.first) {
        let Some(mut next) = *first else { continue };
        *trees.cell(at.cell) = Tree::of(&machine.memory.read(at), &mut |number| {
            let own = (0..numbers(number) as u32).map(|k| Set::One(next + k));
            let inputs = own.fold(Set::Empty, Set::union);
            next += numbers(number) as u32;
            Mark { inputs, varies: false }
        });
    }
    let marks = Marks { trees, pairs, all: branches == Branches::All, ..Marks::default() };
    let mut forward = Forward::new(machine, marks);
    forward.run()?;
    Ok(forward)
}

/// The function that a module is about.
fn entry<'m>(module: &'m Module, args: &[Data]) -> Result<&'m Function, Error> {
    let missing = || Cause::Missing { kind: "function".into(), name: module.entry.clone() };
    let entry = module.entry().ok_or_else(missing)?;
    match (entry.params.len(), args.len()) {
        (expected, found) if expected != found => {
            Err(Cause::Arguments { function: entry.name.clone(), expected, found }.into())
        }
        _ => Ok(entry),
    }
}

fn is_written(entry: &Function, k: usize) -> bool {
    let kind = entry.params.get(k).map(|param| entry.var(*param).kind);
    matches!(kind, Some(VarKind::Param(Mode::Write | Mode::Accumulate)))
}

fn no_loss(entry: &Function, loss: usize) -> Error {
    Cause::Sparsity(format!("`{}` has no argument number {loss} that is a real number", entry.name)).into()
}

fn too_large(error: PatternError) -> Error {
    Cause::Sparsity(error.to_string()).into()
}
