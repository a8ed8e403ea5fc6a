//! The shapes of the arrays in a value: what two values have to agree in before one of them takes the other's place.

use std::fmt::Display;

use super::DynArg;
use crate::scalar::Mismatch;

/// The shapes of arrays, each with where in a value it is.
#[derive(Debug, Default)]
pub struct Shapes {
    /// Whether the heights of stacks count.
    stacks: bool,
    path: String,
    found: Vec<(String, Vec<usize>)>,
}

impl Shapes {
    /// Those of a value; with the heights of its stacks, where these count.
    pub fn of(value: &(impl DynArg + ?Sized), stacks: bool) -> Shapes {
        let mut shapes = Shapes { stacks, ..Shapes::default() };
        value.shapes(&mut shapes);
        shapes
    }

    /// The shape of an array that is here.
    pub fn array(&mut self, shape: &[usize]) {
        self.found.push((self.path.clone(), shape.to_vec()));
    }

    /// The height of a stack that is here.
    pub fn stack(&mut self, height: usize) {
        if self.stacks {
            self.array(&[height]);
        }
    }

    /// What is one step further in.
    pub fn within(&mut self, step: impl Display, part: &(impl DynArg + ?Sized)) {
        let here = self.path.len();
        self.path += &step.to_string();
        part.shapes(self);
        self.path.truncate(here);
    }

    /// Those of what is inside only: the shape of the value itself aside.
    pub fn inside(mut self) -> Shapes {
        self.found.retain(|(path, _)| !path.is_empty());
        self
    }

    /// The first difference from the shapes that are found in another value.
    ///
    /// # Errors
    ///
    /// When there is one.
    pub fn expect(&self, found: &Shapes) -> Result<(), Mismatch> {
        let mut pairs = self.found.iter().zip(&found.found);
        let differing = pairs.find(|(a, b)| a != b);
        let (path, expected, found) = match (differing, self.found.len() == found.found.len()) {
            (None, true) => return Ok(()),
            (Some((a, b)), _) if a.0 == b.0 => (a.0.clone(), format!("{:?}", a.1), format!("{:?}", b.1)),
            (Some(_) | None, _) => {
                (String::new(), format!("{} arrays", self.found.len()), format!("{}", found.found.len()))
            }
        };
        Err(Mismatch { path, expected, found })
    }
}

/// Whether the arrays in two values have the same shapes, and their stacks the same heights where these count.
///
/// # Errors
///
/// The first array of which that doesn't hold.
#[cfg_attr(optimized, inline(always))]
pub fn same_shapes<A: DynArg, B: DynArg>(expected: &A, found: &B, stacks: bool) -> Result<(), Mismatch> {
    if A::is_shaped() {
        Shapes::of(expected, stacks).expect(&Shapes::of(found, stacks))
    } else {
        Ok(())
    }
}
