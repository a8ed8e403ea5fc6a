//! The index space of a formula on arrays of given shapes: how far each letter runs, and which of
//! them index each operand.

use super::{Axes, Contraction, Operand, MAX_AXES, MAX_FACTORS};

/// The most letters of a formula.
pub const MAX_LETTERS: usize = 8;

/// How far each letter of a formula runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    extents: [usize; MAX_LETTERS],
    count: usize,
    free: usize,
    // the target's, then the factors': the position of each axis' letter in `extents`
    positions: [[u8; MAX_AXES]; MAX_FACTORS + 1],
    ranks: [usize; MAX_FACTORS + 1],
}

/// That shapes don't fit a formula. Operand 0 is the target, `k + 1` factor `k`.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// Two operands whose lengths along a common letter differ, with their axes; or an operand
    /// whose number of dimensions isn't the formula's, twice.
    pub operands: [usize; 2],
    /// What of theirs differs.
    pub what: Difference,
}

/// What doesn't fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference {
    /// The axes of the two operands that should have one length.
    Axes([usize; 2]),
    /// The number of dimensions that the operand should have, and has.
    Ranks(usize, usize),
    /// More letters than [`MAX_LETTERS`].
    Letters,
}

impl Space {
    /// The space of a formula. The target's shape may be left out where the target is a scalar.
    ///
    /// # Errors
    ///
    /// Two operands that don't fit each other, or one that doesn't fit the formula.
    pub fn new(formula: &Contraction, target: &[usize], factors: &[&[usize]]) -> Result<Space, Misfit> {
        let mut made = Making {
            space: Space {
                extents: [0; MAX_LETTERS],
                count: 0,
                free: 0,
                positions: [[0; MAX_AXES]; MAX_FACTORS + 1],
                ranks: [0; MAX_FACTORS + 1],
            },
            keys: [0; MAX_LETTERS],
            firsts: [(0, 0); MAX_LETTERS],
        };
        made.add(0, &formula.target, target)?;
        made.space.free = made.space.count;
        for (k, (operand, shape)) in formula.factors().iter().zip(factors).enumerate() {
            made.add(k + 1, operand, shape)?;
        }
        Ok(made.space)
    }

    /// How far each letter runs: the target's letters first, then the summed ones.
    #[inline]
    pub fn extents(&self) -> &[usize] {
        &self.extents[..self.count]
    }

    /// How many letters the target has.
    #[inline]
    pub fn free(&self) -> usize {
        self.free
    }

    /// For each axis of an operand the letter that indexes it, by its place in
    /// [`extents`](Self::extents). Operand 0 is the target, `k + 1` factor `k`.
    #[inline]
    pub fn positions(&self, operand: usize) -> &[u8] {
        &self.positions[operand][..self.ranks[operand]]
    }

    /// How far to go in an operand for each step of each letter, from how far it is for each axis.
    #[inline]
    pub fn steps(&self, operand: usize, strides: &[isize]) -> [isize; MAX_LETTERS] {
        let mut steps = [0isize; MAX_LETTERS];
        for (letter, stride) in self.positions(operand).iter().zip(strides) {
            steps[usize::from(*letter)] = steps[usize::from(*letter)].wrapping_add(*stride);
        }
        steps
    }

    /// The number of multiplications, about.
    pub fn work(&self) -> usize {
        self.extents().iter().fold(1, |n, e| n.saturating_mul(*e))
    }
}

/// The first key of the letters that `..` stands for.
const ALL_AXES: u8 = 32;

struct Making {
    space: Space,
    keys: [u8; MAX_LETTERS],
    // the operand and axis where each letter was first seen
    firsts: [(usize, usize); MAX_LETTERS],
}

impl Making {
    fn add(&mut self, k: usize, operand: &Operand, shape: &[usize]) -> Result<(), Misfit> {
        let letters: &[u8] = match &operand.axes {
            Axes::Letters(letters, n) => &letters[..usize::from(*n)],
            Axes::All => &ALL[..shape.len().min(MAX_AXES)],
        };
        if letters.len() != shape.len() {
            let what = Difference::Ranks(letters.len(), shape.len());
            return Err(Misfit { operands: [k, k], what });
        }
        self.space.ranks[k] = letters.len();
        for (axis, (letter, extent)) in letters.iter().zip(shape).enumerate() {
            self.space.positions[k][axis] = self.letter(*letter, *extent, (k, axis))? as u8;
        }
        // two arrays of all their axes have the same ones
        if let Axes::All = operand.axes {
            let known = self.keys[..self.space.count].iter().filter(|key| **key >= ALL_AXES).count();
            if known != shape.len() {
                return Err(Misfit { operands: [k, k], what: Difference::Ranks(known, shape.len()) });
            }
        }
        Ok(())
    }

    fn letter(&mut self, key: u8, extent: usize, at: (usize, usize)) -> Result<usize, Misfit> {
        let n = self.space.count;
        if let Some(known) = self.keys[..n].iter().position(|k| *k == key) {
            let (operand, axis) = self.firsts[known];
            return if self.space.extents[known] == extent {
                Ok(known)
            } else {
                Err(Misfit { operands: [operand, at.0], what: Difference::Axes([axis, at.1]) })
            };
        }
        if n == MAX_LETTERS {
            return Err(Misfit { operands: [at.0, at.0], what: Difference::Letters });
        }
        (self.keys[n], self.space.extents[n], self.firsts[n]) = (key, extent, at);
        self.space.count += 1;
        Ok(n)
    }
}

const ALL: [u8; MAX_AXES] = [ALL_AXES, ALL_AXES + 1, ALL_AXES + 2, ALL_AXES + 3, ALL_AXES + 4, ALL_AXES + 5];

impl Misfit {
    /// What is wrong, for operands with these names and shapes in the order target, factors: the place that has the
    /// wrong shape, what would fit, and what it is.
    pub fn about(&self, operands: &[(&str, &[usize])]) -> [String; 3] {
        let at = |k: usize| operands.get(k).copied().unwrap_or(("an array", &[]));
        let ([a, b], what) = (self.operands, self.what);
        let ((first, first_shape), (second, second_shape)) = (at(a), at(b));
        let expected = match what {
            Difference::Axes([i, j]) if a == b => format!("as many along axis {j} as along axis {i}"),
            Difference::Axes([i, j]) => {
                format!("as many along axis {j} as `{first}` of shape {first_shape:?} has along axis {i}")
            }
            Difference::Ranks(wanted, _) => format!("{wanted} dimensions"),
            Difference::Letters => format!("at most {MAX_LETTERS} indices"),
        };
        [second.to_string(), expected, format!("{second_shape:?}")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_the_target_come_first() {
        let f = Contraction::known("ik,kj->ij");
        let s = Space::new(&f, &[2, 4], &[&[2, 3], &[3, 4]]).unwrap();
        assert_eq!((s.extents(), s.free()), (&[2, 4, 3][..], 2));
        assert_eq!((s.positions(1), s.positions(2)), (&[0, 2][..], &[2, 1][..]));
        assert_eq!(s.steps(2, &[4, 1]), [0, 1, 4, 0, 0, 0, 0, 0]);
        let diagonal = Space::new(&Contraction::known("ii->"), &[], &[&[3, 3]]).unwrap();
        assert_eq!((diagonal.extents(), diagonal.steps(1, &[3, 1])[0]), (&[3][..], 4));
    }

    #[test]
    fn what_doesnt_fit_is_named() {
        let f = Contraction::known("ik,kj->ij");
        let misfit = Space::new(&f, &[2, 4], &[&[2, 3], &[5, 4]]).unwrap_err();
        assert_eq!(misfit, Misfit { operands: [1, 2], what: Difference::Axes([1, 0]) });
        let names: [(&str, &[usize]); 3] = [("c", &[2, 4]), ("a", &[2, 3]), ("b", &[5, 4])];
        let fits = "as many along axis 0 as `a` of shape [2, 3] has along axis 1";
        assert_eq!(misfit.about(&names), ["b", fits, "[5, 4]"]);
        assert!(Space::new(&f, &[2], &[&[2, 3], &[3, 4]]).is_err());
        let zipped = Contraction::known("..,..->..");
        assert!(Space::new(&zipped, &[2, 3], &[&[2, 3], &[2, 3]]).is_ok());
        assert!(Space::new(&zipped, &[2, 3], &[&[2, 3], &[2]]).is_err());
        assert!(Space::new(&Contraction::known("->.."), &[2, 3], &[&[]]).is_ok());
    }
}
