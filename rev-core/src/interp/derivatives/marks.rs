//! The algebra of patterns: which inputs a number depends on, and whether it would be another one at other values.

use std::collections::{HashMap, HashSet};

use super::local::Local;
use super::sets::{Pairs, Set};
use super::tree::{Leaf, Tree, Trees};
use super::walk::{Algebra, Found};
use crate::error::Cause;
use crate::interp::eval::Evaluator;
use crate::interp::memory::{Location, Memory};
use crate::value::Data;

/// What is known of a number.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// The inputs that it has a derivative by.
    pub inputs: Set,
    /// Whether a choice that it depends on may be another one at other values of the inputs.
    pub varies: bool,
}

impl Mark {
    fn joined(self, other: Mark) -> Mark {
        Mark { inputs: self.inputs.union(other.inputs), varies: self.varies || other.varies }
    }
}

impl Leaf for Mark {
    fn is_nothing(&self) -> bool {
        self.inputs.is_empty() && !self.varies
    }

    // one for both parts of a complex number
    fn re(&self) -> Mark {
        self.clone()
    }

    fn im(&self) -> Mark {
        self.clone()
    }

    fn with_re(self, re: Mark) -> Mark {
        self.joined(re)
    }

    fn with_im(self, im: Mark) -> Mark {
        self.joined(im)
    }
}

/// The marks of all numbers, and which inputs meet.
#[derive(Default)]
pub struct Marks {
    pub trees: Trees<Mark>,
    /// Which inputs meet in a function that isn't linear; not asked for a Jacobian.
    pub pairs: Option<Pairs>,
    /// Whether what isn't taken counts.
    pub all: bool,
    /// What was written since a branch that isn't taken was entered, with what was there.
    pub journal: Vec<Write>,
    /// How many such branches it is in.
    pub astray: usize,
    /// For each `if` that may be decided otherwise what was written in its branch, with what was there first.
    pub touched: Vec<HashMap<Location, Tree<Mark>>>,
}

/// A location with what is there.
pub type Write = (Location, Tree<Mark>);

impl Marks {
    /// Writes the mark of what is at a location.
    pub fn write(&mut self, memory: &Memory, at: &Location, tree: Tree<Mark>) {
        if self.all && (self.astray > 0 || !self.touched.is_empty()) {
            let old = self.trees.get(at);
            if self.astray > 0 {
                self.journal.push((at.clone(), old.clone()));
            }
            self.touch(at, old);
        }
        self.trees.replace(memory, at, tree);
    }

    fn touch(&mut self, at: &Location, old: Tree<Mark>) {
        self.touched.last_mut().into_iter().for_each(|touched| {
            touched.entry(at.clone()).or_insert_with(|| old.clone());
        });
    }

    /// Takes what is at a location, to be written again with more in it. A sum of many inputs isn't copied for that:
    /// what a branch adds to it that isn't taken stays, as it would be added in the end.
    pub fn take(&mut self, memory: &Memory, at: &Location) -> (Tree<Mark>, bool) {
        let own = self.trees.replace(memory, at, Tree::default());
        let kept = matches!(&own, Tree::Same(mark) if matches!(mark.inputs, Set::Many(_)));
        let free = !self.all || (self.astray == 0 && self.touched.is_empty());
        if !kept && !free {
            self.trees.replace(memory, at, own.clone());
        }
        (own, kept || free)
    }

    /// Writes what was taken.
    pub fn give_back(&mut self, memory: &Memory, at: &Location, tree: Tree<Mark>, taken: bool) {
        match taken {
            true => drop(self.trees.replace(memory, at, tree)),
            false => self.write(memory, at, tree),
        }
    }

    /// Adds a mark to all numbers at a location, one of which is written.
    pub fn write_within(&mut self, memory: &Memory, at: &Location, tree: Tree<Mark>) {
        let mark = varied(self.any(tree));
        let new = self.trees.get(at).mapped(&|own: Mark| own.joined(mark.clone()));
        self.write(memory, at, new);
    }

    /// The end of an `if` that may be decided otherwise: what was written in one of its branches is what is there now,
    /// or what the other branch wrote or left.
    pub fn join(&mut self, memory: &Memory, other: Vec<Write>) {
        let touched = self.touched.pop().unwrap_or_default();
        let written: HashSet<Location> = other.iter().map(|(at, _)| at.clone()).collect();
        for (at, old) in touched.into_iter().filter(|(at, _)| memory.has(at.cell)) {
            self.touch(&at, old.clone());
            let now = self.trees.get(&at);
            let now = if written.contains(&at) { now } else { merged(now, old) };
            self.write(memory, &at, varying(now));
        }
        for (at, tree) in other {
            let now = self.trees.get(&at);
            self.write(memory, &at, varying(merged(now, tree)));
        }
    }

    fn meet(&mut self, a: &Mark, b: &Mark) {
        if let Some(pairs) = &mut self.pairs {
            pairs.meet(&a.inputs, &b.inputs);
        }
    }
}

fn varied(mark: Mark) -> Mark {
    Mark { varies: true, ..mark }
}

fn varying(tree: Tree<Mark>) -> Tree<Mark> {
    tree.mapped(&varied)
}

impl Algebra for Marks {
    type Leaf = Mark;

    fn read(&mut self, _: &Memory, at: &Location) -> Tree<Mark> {
        self.trees.get(at)
    }

    fn func(
        &mut self,
        local: &Local,
        _: &Evaluator<'_>,
        args: Vec<(Data, Mark)>,
        _: &Data,
    ) -> Result<Mark, Cause> {
        let asked = if self.pairs.is_some() { args.len() } else { 0 };
        for (k, (_, a)) in args.iter().enumerate().take(asked) {
            for (j, (_, b)) in args.iter().enumerate().skip(k) {
                if local.interacts(k, j) || local.interacts(j, k) {
                    self.meet(a, b);
                }
            }
        }
        let mut found = Mark::default();
        for (k, (_, mark)) in args.into_iter().enumerate() {
            found = match local.depends(k) {
                true => found.joined(mark),
                false => Mark { varies: found.varies || self.varies(&mark), ..found },
            };
        }
        Ok(found)
    }

    fn pure(
        &mut self,
        args: Vec<Found<Mark>>,
        value: &Data,
        _: &mut dyn FnMut(usize) -> Result<Data, Cause>,
    ) -> Result<Tree<Mark>, Cause> {
        let mut found = Mark::default();
        for (_, tree) in args {
            found = found.joined(self.any(tree));
        }
        self.meet(&found, &found);
        let discrete = self.discrete(std::slice::from_ref(&found));
        Ok(Tree::of(value, &mut |data| match super::walk::is_inactive(data) {
            true => discrete.clone(),
            false => found.clone(),
        }))
    }

    fn discrete(&mut self, args: &[Mark]) -> Mark {
        Mark { inputs: Set::Empty, varies: args.iter().any(|mark| self.varies(mark)) }
    }

    fn varies(&self, mark: &Mark) -> bool {
        self.all && (mark.varies || !mark.inputs.is_empty())
    }

    fn either(&mut self, a: Tree<Mark>, b: Tree<Mark>) -> Tree<Mark> {
        varying(merged(a, b))
    }

    fn any(&mut self, tree: Tree<Mark>) -> Mark {
        match tree {
            Tree::Same(mark) => mark,
            Tree::Node(inner) => {
                inner.into_iter().fold(Mark::default(), |mark, tree| mark.joined(self.any(tree)))
            }
        }
    }
}

/// The marks of a value that is one of two; one mark for all where they have other shapes.
pub fn merged(a: Tree<Mark>, b: Tree<Mark>) -> Tree<Mark> {
    match (a, b) {
        (Tree::Same(a), Tree::Same(b)) => Tree::Same(a.joined(b)),
        (Tree::Same(mark), Tree::Node(inner)) | (Tree::Node(inner), Tree::Same(mark)) => {
            Tree::Node(inner.into_iter().map(|tree| merged(tree, Tree::Same(mark.clone()))).collect())
        }
        (Tree::Node(a), Tree::Node(b)) if a.len() == b.len() => {
            Tree::Node(a.into_iter().zip(b).map(|(a, b)| merged(a, b)).collect())
        }
        (a, b) => {
            let mut all = Mark::default();
            let mut add = |mark: &Mark| all = std::mem::take(&mut all).joined(mark.clone());
            a.each(&mut add);
            b.each(&mut add);
            Tree::Same(all)
        }
    }
}
