//! The algebra of one statement that is undone: the functions in it, with their derivatives at the values there.

use super::curvature::{Curvature, Id, Step};
use super::local::Local;
use super::tree::{Leaf, Tree, Trees};
use super::walk::{is_inactive, Algebra, Found};
use crate::error::Cause;
use crate::interp::eval::Evaluator;
use crate::interp::func::apply;
use crate::interp::memory::{Location, Memory};
use crate::ir::Number;
use crate::ops::Func;
use crate::scalar::Num;
use crate::value::{literal_number, Data};

/// The live numbers of a scalar: its two parts, 0 for what isn't live.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts(pub [Id; 2]);

impl Parts {
    /// Those that are live, with which part they are.
    pub fn live(self) -> impl Iterator<Item = (usize, Id)> {
        self.0.into_iter().enumerate().filter(|(_, id)| *id != 0)
    }
}

impl Leaf for Parts {
    fn is_nothing(&self) -> bool {
        self.0 == [0, 0]
    }

    fn re(&self) -> Parts {
        Parts([self.0[0], 0])
    }

    fn im(&self) -> Parts {
        Parts([self.0[1], 0])
    }

    fn with_re(self, re: Parts) -> Parts {
        Parts([re.0[0], self.0[1]])
    }

    fn with_im(self, im: Parts) -> Parts {
        Parts([self.0[0], im.0[0]])
    }
}

/// What is live, and the functions of the statement at hand.
#[derive(Default)]
pub struct Tape {
    pub trees: Trees<Parts>,
    pub curvature: Curvature,
    steps: Vec<Step>,
    /// Whether something was met that isn't a number where one was expected.
    pub astray: bool,
}

impl Tape {
    /// Undoes the functions of the statement, the last one first.
    pub fn undo(&mut self) {
        while let Some(step) = self.steps.pop() {
            self.curvature.undo(&step);
        }
    }

    /// The numbers of a scalar, new ones for those that aren't live.
    fn live(&mut self, leaf: Parts, scalar: &Data) -> Parts {
        let mut out = leaf;
        let parts = match scalar {
            Data::Scalar(v) if v.is_inactive() => 0,
            Data::Scalar(v) if v.parts().is_some() => 2,
            Data::Scalar(_) => 1,
            _ => 0,
        };
        for id in out.0.iter_mut().take(parts).filter(|id| **id == 0) {
            *id = self.curvature.add();
        }
        out
    }

    /// A function with one result, of which it is a number or the two parts.
    fn step(
        &mut self,
        args: Vec<Id>,
        value: &Data,
        first: Vec<[f64; 2]>,
        second: Vec<Vec<[f64; 2]>>,
    ) -> Parts {
        let parts = match value {
            Data::Scalar(v) if v.parts().is_some() => 2,
            _ => 1,
        };
        let results: Vec<Id> = (0..parts).map(|_| self.curvature.add()).collect();
        let first = (0..parts).map(|r| first.iter().map(|d| d[r]).collect()).collect();
        let of = |r: usize| second.iter().map(|row| row.iter().map(|d| d[r]).collect()).collect();
        let second = (0..parts).map(of).collect();
        let out = Parts([results[0], results.get(1).copied().unwrap_or(0)]);
        self.steps.push(Step { results, args, first, second });
        out
    }
}

/// A direction of a number: along its real or its imaginary part.
fn direction(of: &Data, part: usize) -> Data {
    match of {
        Data::Scalar(v) => {
            let unit = if part == 0 { Num::Complex(1.0, 0.0) } else { Num::Complex(0.0, 1.0) };
            let unit = if v.parts().is_some() { unit } else { Num::Float(1.0) };
            v.same_type(unit).map_or(Data::None, Data::Scalar)
        }
        _ => Data::Literal(Number::Float(1.0)),
    }
}

/// The parts of a derivative; a function without one has zero.
fn parts(data: Option<&Data>) -> [f64; 2] {
    let number = match data {
        Some(Data::Scalar(v)) => v.to_num(),
        Some(Data::Literal(n)) => literal_number(*n),
        _ => return [0.0, 0.0],
    };
    match number {
        Num::Complex(re, im) => [re, im],
        real => [real.to_f64(), 0.0],
    }
}

impl Algebra for Tape {
    type Leaf = Parts;

    /// What is read is live from here on, backwards.
    fn read(&mut self, memory: &Memory, at: &Location) -> Tree<Parts> {
        let data = memory.read(at);
        let before = self.trees.get(at);
        let mut new = false;
        let found = before.map::<std::convert::Infallible>(&data, &mut |number, leaf| {
            if is_inactive(number) {
                return Ok(leaf);
            }
            // of a complex number one part alone may be live
            let whole = self.live(leaf, number);
            new |= whole != leaf;
            Ok(whole)
        });
        let Ok(found) = found;
        if new {
            self.trees.replace(memory, at, found.clone());
        }
        found
    }

    fn func(
        &mut self,
        local: &Local,
        eval: &Evaluator<'_>,
        args: Vec<(Data, Parts)>,
        value: &Data,
    ) -> Result<Parts, Cause> {
        let (values, leaves): (Vec<Data>, Vec<Parts>) = args.into_iter().unzip();
        let mut moved: Vec<(usize, Data, Id)> = Vec::new();
        for (k, leaf) in leaves.iter().enumerate().filter(|(k, _)| local.depends(*k)) {
            moved.extend(leaf.live().map(|(part, id)| (k, direction(&values[k], part), id)));
        }
        if moved.is_empty() {
            return Ok(Parts::default());
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (i, (k, t, _)) in moved.iter().enumerate() {
            first.push(parts(local.first(eval, &values, (*k, t))?.as_ref()));
            let row = moved[..=i].iter().map(|(j, s, _)| {
                let found = local.second(eval, &values, (*k, t), (*j, s))?;
                Ok(parts(found.as_ref()))
            });
            second.push(row.collect::<Result<Vec<_>, Cause>>()?);
        }
        let args = moved.into_iter().map(|(_, _, id)| id).collect();
        Ok(self.step(args, value, first, second))
    }

    fn pure(
        &mut self,
        args: Vec<Found<Parts>>,
        value: &Data,
        partials: &mut dyn FnMut(usize) -> Result<Data, Cause>,
    ) -> Result<Tree<Parts>, Cause> {
        let (once, twice) = (partials(1)?, partials(2)?);
        let mut moved: Vec<(usize, Data, Id)> = Vec::new();
        for (k, (number, tree)) in args.into_iter().enumerate() {
            let leaf = self.any(tree);
            moved.extend(leaf.live().map(|(part, id)| (k, direction(&number, part), id)));
        }
        self.of_results(value, (&once, &twice), &moved)
    }

    fn discrete(&mut self, _: &[Parts]) -> Parts {
        Parts::default()
    }

    fn varies(&self, _: &Parts) -> bool {
        false
    }

    fn either(&mut self, taken: Tree<Parts>, _: Tree<Parts>) -> Tree<Parts> {
        taken
    }

    fn any(&mut self, tree: Tree<Parts>) -> Parts {
        match tree {
            Tree::Same(leaf) => leaf,
            Tree::Node(_) => {
                self.astray = true;
                Parts::default()
            }
        }
    }
}

impl Tape {
    /// Of each result of a pure function, with its derivatives: one for each argument.
    fn of_results(
        &mut self,
        value: &Data,
        (once, twice): (&Data, &Data),
        moved: &[(usize, Data, Id)],
    ) -> Result<Tree<Parts>, Cause> {
        if let Data::Tuple(values) = value {
            let of = |k: usize, d: &Data| nth(d, k);
            let each = values.iter().enumerate();
            let each = each.map(|(k, v)| self.of_results(v, (&of(k, once), &of(k, twice)), moved));
            return Ok(Tree::Node(each.collect::<Result<_, _>>()?));
        }
        if is_inactive(value) {
            return Ok(Tree::default());
        }
        let times = |a: &Data, b: &Data| apply(Func::Mul, &[a.clone(), b.clone()]);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (i, (k, t, _)) in moved.iter().enumerate() {
            first.push(parts(Some(&times(&nth(once, *k), t)?)));
            let row = moved[..=i].iter().map(|(j, s, _)| {
                let partial = nth(&nth(twice, *k), *j);
                Ok(parts(Some(&times(&times(&partial, t)?, s)?)))
            });
            second.push(row.collect::<Result<Vec<_>, Cause>>()?);
        }
        let args = moved.iter().map(|(_, _, id)| *id).collect();
        Ok(Tree::Same(self.step(args, value, first, second)))
    }
}

/// An element of a tuple.
fn nth(tuple: &Data, k: usize) -> Data {
    match tuple {
        Data::Tuple(all) => all.get(k).cloned().unwrap_or(Data::None),
        other => other.clone(),
    }
}
