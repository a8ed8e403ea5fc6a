//! The ground state of an Ising spin glass on a lattice of squares, by tropical contraction row by row; its configuration is the gradient (J.-G. Liu,
//! L. Wang and P. Zhang, "Tropical tensor network for ground states of spin glasses", Phys. Rev. Lett. 126 (2021), 090506).
//!
//! ```text
//! E(s) = - Σ J_ab s_a s_b - Σ h_a s_a,   s_a = ±1,   E₀ = min E(s)
//! ∂E₀/∂h_a = -s_a,   ∂E₀/∂J_ab = -s_a s_b   of the configuration with the least energy
//! ```
//!
//! In the algebra of max and + the sum over all configurations of products of factors is `-E₀`. The vector of a row has an element for each of its
//! `2^w` configurations: the most that all rows above can add to it. The next row takes the spins over one by one, each by the maximum
//! over the spin above, which is a sum of this algebra; a last row without couplings takes the maximum over all. The program is written on
//! plain numbers, with `max` and `+`, as couplings are added to each other too.
//!
//! Where configurations are equally good, each maximum has the derivative of its first argument, that of a spin up. So the gradient is that of one
//! ground state then too, never a mean of several.
//!
//! An `h x w` lattice takes `2 (h + 1) w 2^w` sums, in parallel over the configurations of a row, and `(h + w + 3) 2^w` numbers: each
//! row's vector is kept, and what is between two of them is computed again in the adjoint.

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1};
use rev_core::device::Device;
use rev_cpu::prelude::*;
use thiserror::Error;

/// A new spin takes the place of the one above it: `after` is increased by the most over that one. It is coupled to the one above, to the
/// one on its left, and to the first one of its row. `columns` are its own and that of the one on its left.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn place<T: Real>(
    mut after: ArrayViewMut1<T>,
    before: ArrayView1<T>,
    columns: (usize, usize),
    above: T,
    left: T,
    first: T,
    field: T,
) {
    for k in par(0..after.len()) {
        let bit = 1usize << columns.0;
        let spin = if k & bit == 0 { -T::one() } else { T::one() };
        let to_left = if k & (1 << columns.1) == 0 { -left } else { left };
        let to_first = if k & 1 == 0 { -first } else { first };
        let up = before[k | bit] + spin * above;
        let down = before[k - (k & bit)] - spin * above;
        after[k] += max(up, down) + spin * (to_left + to_first + field);
    }
}

/// A row is added to a lattice: `after` is increased by the most that the rows up to row `i` can add, for each configuration of that one.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn add_row<T: Real>(
    mut after: ArrayViewMut1<T>,
    before: ArrayView1<T>,
    i: usize,
    right: ArrayView2<T>,
    down: ArrayView2<T>,
    field: ArrayView2<T>,
) {
    let (rows, columns) = (field.nrows(), field.ncols());
    let mut mixed: Array2<T> = zeros((columns + 1, after.len()));
    mixed.row_mut(0) += entries(before);
    for j in 0..columns {
        let here = i < rows;
        let above = if here && i > 0 { down[[i - 1, j]] } else { T::zero() };
        let left = if here && j > 0 { right[[i, j - 1]] } else { T::zero() };
        let first = if here && j + 1 == columns { right[[i, j]] } else { T::zero() };
        let field = if here { field[[i, j]] } else { T::zero() };
        let beside = (j, if j > 0 { j - 1 } else { 0 });
        place(mixed.row_mut(j + 1), mixed.row(j), beside, above, left, first, field);
    }
    after += entries(mixed.row(columns));
}

/// `energy +=` that of the ground state, of a lattice of `h x w` spins.
///
/// `right` (`h x w`) couples each spin to the one on its right, and the last ones to the first ones of their rows: a last column of zeros is a
/// lattice with open sides. `down` (`h - 1` rows) couples each to the one below, and `field` (`h x w`) is that at each spin.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn ground_energy<T: Real>(
    energy: &mut T,
    right: ArrayView2<T>,
    down: ArrayView2<T>,
    field: ArrayView2<T>,
) {
    let rows = field.nrows();
    let mut best: Array2<T> = zeros((rows + 2, 1usize << field.ncols()));
    for i in 0..=rows {
        add_row(best.row_mut(i + 1), best.row(i), i, &right, &down, &field);
    }
    *energy -= best[[rows + 1, 0]];
}

/// The widest lattice: a row's vector has `2^w` numbers.
pub const WIDEST: usize = 24;

/// A lattice that can't be contracted.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum GlassError {
    /// Arrays that don't fit together.
    #[error("`{name}` must have the shape {expected:?} and has {found:?}")]
    Shape {
        /// Which one.
        name: &'static str,
        /// The shape it should have.
        expected: (usize, usize),
        /// The shape it has.
        found: (usize, usize),
    },
    /// A lattice without spins, or one that is too wide.
    #[error("expected at least one row and from 1 to {WIDEST} columns, found {0} x {1}")]
    Size(usize, usize),
    /// A coupling or a field that isn't a finite number.
    #[error("`{name}` at ({row}, {column}) isn't finite")]
    Infinite {
        /// In which array.
        name: &'static str,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
}

/// Couplings and fields of a lattice, shaped as [`ground_energy()`] takes them.
#[derive(Clone, Debug, PartialEq)]
pub struct Glass {
    right: Array2<f64>,
    down: Array2<f64>,
    field: Array2<f64>,
}

/// A ground state.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground {
    /// Its energy.
    pub energy: f64,
    /// Its spins, 1 or -1.
    pub spins: Array2<i8>,
}

impl Glass {
    /// A lattice of these couplings and fields.
    ///
    /// # Errors
    ///
    /// Shapes that don't fit, a lattice without spins or wider than [`WIDEST`], numbers that aren't finite.
    pub fn new(right: Array2<f64>, down: Array2<f64>, field: Array2<f64>) -> Result<Glass, GlassError> {
        let (rows, columns) = field.dim();
        if rows == 0 || !(1..=WIDEST).contains(&columns) {
            return Err(GlassError::Size(rows, columns));
        }
        let shapes = [("right", &right, (rows, columns)), ("down", &down, (rows - 1, columns))];
        for (name, array, expected) in shapes {
            if array.dim() != expected {
                return Err(GlassError::Shape { name, expected, found: array.dim() });
            }
        }
        for (name, array) in [("right", &right), ("down", &down), ("field", &field)] {
            if let Some(((row, column), _)) = array.indexed_iter().find(|(_, x)| !x.is_finite()) {
                return Err(GlassError::Infinite { name, row, column });
            }
        }
        Ok(Glass { right, down, field })
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        self.field.dim()
    }

    /// The ground state: its energy by contraction, its spins by the gradient.
    ///
    /// # Errors
    ///
    /// Those of the device: a lattice for which there is no memory.
    pub fn ground(&self, device: &dyn Device) -> Result<Ground, rev_core::Error> {
        let (right, down, field) = (self.right.view(), self.down.view(), self.field.view());
        let g = ground_energy::gradient_wrt(device, ground_energy::FIELD, right, down, field)?;
        let by_field = g.field.unwrap_or_default();
        Ok(Ground { energy: g.value, spins: by_field.mapv(|slope| if slope < 0.0 { 1 } else { -1 }) })
    }

    /// The couplings of each spin to its neighbours: their places, row by row, and strengths.
    fn neighbours(&self) -> Vec<Vec<(usize, f64)>> {
        let (rows, columns) = self.size();
        let mut found = vec![Vec::new(); rows * columns];
        let mut join = |a: usize, b: usize, strength: f64| {
            found[a].push((b, strength));
            found[b].push((a, strength));
        };
        for ((i, j), strength) in self.right.indexed_iter() {
            let b = i * columns + (j + 1) % columns;
            // a spin coupled to itself turns nothing
            if columns > 1 {
                join(i * columns + j, b, *strength);
            }
        }
        for ((i, j), strength) in self.down.indexed_iter() {
            join(i * columns + j, (i + 1) * columns + j, *strength);
        }
        found
    }

    /// The energy of a configuration, shaped like the fields.
    pub fn energy(&self, spins: &Array2<i8>) -> f64 {
        let (rows, columns) = self.size();
        let spin = |i: usize, j: usize| f64::from(spins[[i % rows, j % columns]]);
        let right = self.right.indexed_iter().map(|((i, j), x)| x * spin(i, j) * spin(i, j + 1));
        let down = self.down.indexed_iter().map(|((i, j), x)| x * spin(i, j) * spin(i + 1, j));
        let field = self.field.indexed_iter().map(|((i, j), x)| x * spin(i, j));
        -right.chain(down).chain(field).sum::<f64>()
    }
}

/// The same as plain Rust.
pub mod plain {
    use super::{Glass, Ground};
    use ndarray::Array2;

    /// The ground state by trying all configurations, each of which differs from the one before by one spin: for lattices of at most some 25
    /// spins.
    pub fn exhaustive(glass: &Glass) -> Ground {
        let neighbours = glass.neighbours();
        let fields: Vec<f64> = glass.field.iter().copied().collect();
        let mut spins = vec![1.0; fields.len()];
        let (mut above, mut least, mut best) = (0.0, 0.0, 0u64);
        for k in 1..1u64 << fields.len() {
            let turned = k.trailing_zeros() as usize;
            let pull: f64 = neighbours[turned].iter().map(|(b, strength)| strength * spins[*b]).sum();
            above += 2.0 * spins[turned] * (pull + fields[turned]);
            spins[turned] = -spins[turned];
            if above < least {
                (least, best) = (above, k ^ k >> 1);
            }
        }
        let (rows, columns) = glass.size();
        let turned = |i: usize, j: usize| best >> (i * columns + j) & 1 == 1;
        let spins = Array2::from_shape_fn((rows, columns), |(i, j)| if turned(i, j) { -1 } else { 1 });
        Ground { energy: glass.energy(&spins), spins }
    }

    /// The energy of the ground state, row by row as the program has it.
    pub fn ground_energy(glass: &Glass) -> f64 {
        let (rows, columns) = glass.size();
        let mut best = vec![0.0; 1 << columns];
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            let sign = |k: usize, column: usize| if k >> column & 1 == 1 { 1.0 } else { -1.0 };
            let next = |k: usize| {
                let above = if i > 0 { sign(k, j) * glass.down[[i - 1, j]] } else { 0.0 };
                let left = if j > 0 { sign(k, j - 1) * glass.right[[i, j - 1]] } else { 0.0 };
                let first = if j + 1 == columns { sign(k, 0) * glass.right[[i, j]] } else { 0.0 };
                let taken = f64::max(best[k | 1 << j] + above, best[k & !(1 << j)] - above);
                taken + sign(k, j) * (left + first + glass.field[[i, j]])
            };
            best = (0..best.len()).map(next).collect();
        }
        -best.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }
}
