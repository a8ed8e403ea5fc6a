//! A matrix as its pattern and the values there.

use std::sync::Arc;

use super::{Pattern, PatternError};

/// A sparse matrix: entries outside of its pattern are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    pattern: Arc<Pattern>,
    values: Vec<f64>,
}

/// Rows of a matrix that have the same columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block<'a> {
    /// The first row.
    pub row: usize,
    /// The columns, ascending.
    pub columns: &'a [usize],
    /// The values, row by row: as many for each as there are columns.
    pub values: &'a [f64],
}

/// A slice whose length isn't what the pattern or the plan says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LengthError {
    /// The products with the seeds of a plan.
    #[error("{groups} products of length {length} were expected, and these are {found} numbers")]
    Products {
        /// The number of groups of the plan.
        groups: usize,
        /// The length of each product.
        length: usize,
        /// The number of numbers given.
        found: usize,
    },
    /// The values of the nonzeros of a pattern.
    #[error("the pattern has {nonzeros} nonzeros, and these are {found} values")]
    Values {
        /// The number of nonzeros of the pattern.
        nonzeros: usize,
        /// The number of values given.
        found: usize,
    },
    /// A vector to multiply a matrix with.
    #[error("the matrix has {columns} columns, and the vector {found} entries")]
    Vector {
        /// The number of columns of the matrix.
        columns: usize,
        /// The number of entries of the vector.
        found: usize,
    },
}

impl SparseMatrix {
    /// The matrix with these values at the places of the pattern, through the rows.
    pub fn new(pattern: impl Into<Arc<Pattern>>, values: Vec<f64>) -> Result<SparseMatrix, LengthError> {
        let pattern = pattern.into();
        match (pattern.nonzeros(), values.len()) {
            (nonzeros, found) if nonzeros != found => Err(LengthError::Values { nonzeros, found }),
            _ => Ok(SparseMatrix { pattern, values }),
        }
    }

    /// The matrix with the entries given as (row, column, value), in any order; those of one place are added.
    pub fn from_triplets(
        rows: usize,
        columns: usize,
        triplets: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<SparseMatrix, PatternError> {
        let triplets: Vec<_> = triplets.into_iter().collect();
        let pattern = Pattern::new(rows, columns, triplets.iter().map(|(i, j, _)| (*i, *j)))?;
        let mut values = vec![0.0; pattern.nonzeros()];
        for (i, j, value) in triplets {
            pattern.position(i, j).into_iter().for_each(|at| values[at] += value);
        }
        Ok(SparseMatrix { pattern: Arc::new(pattern), values })
    }

    /// The places of the values.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.pattern.rows()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.pattern.columns()
    }

    /// The number of values, some of which may be zero.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// The values, through the rows.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The values with their places, as (row, column, value) through the rows.
    pub fn triplets(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.pattern.iter().zip(&self.values).map(|((i, j), value)| (i, j, *value))
    }

    /// The entry at a place, which is zero outside of the pattern; `None` outside of the matrix.
    pub fn get(&self, row: usize, column: usize) -> Option<f64> {
        let in_range = row < self.rows() && column < self.columns();
        in_range.then(|| self.pattern.position(row, column).map_or(0.0, |at| self.values[at]))
    }

    /// All entries, row by row.
    pub fn to_dense(&self) -> Vec<Vec<f64>> {
        let mut dense = vec![vec![0.0; self.columns()]; self.rows()];
        self.triplets().for_each(|(i, j, value)| dense[i][j] = value);
        dense
    }

    /// The transposed matrix. Takes time linear in rows, columns and nonzeros.
    pub fn transposed(&self) -> SparseMatrix {
        self.mirrored_by(self.pattern.transposed())
    }

    /// The values at the places of the transposed pattern.
    fn mirrored_by(&self, transposed: Pattern) -> SparseMatrix {
        let mut next: Vec<usize> = (0..transposed.rows()).map(|j| transposed.start(j)).collect();
        let mut values = vec![0.0; self.values.len()];
        for ((_, j), value) in self.pattern.iter().zip(&self.values) {
            values[next[j]] = *value;
            next[j] += 1;
        }
        SparseMatrix { pattern: Arc::new(transposed), values }
    }

    /// The product `AᵀA` of the transposed matrix with this one: of a Jacobian the Gauss-Newton matrix. Symmetric; an
    /// entry stays also where its terms cancel.
    ///
    /// Takes time and memory linear in rows, columns and the products of two nonzeros of one row, of which there are as
    /// many as the squares of the rows' nonzeros add up to (Gustavson, "Two fast algorithms for sparse matrices", ACM
    /// Transactions on Mathematical Software 4 (1978), 250–269).
    pub fn gram(&self) -> SparseMatrix {
        let (n, by_columns) = (self.columns(), self.transposed());
        let (mut sums, mut last) = (vec![0.0; n], vec![usize::MAX; n]);
        let (mut entries, mut values) = (Vec::new(), Vec::new());
        for i in 0..n {
            let first = entries.len();
            for (at, row) in by_columns.pattern.positions(i) {
                for (other, j) in self.pattern.positions(row) {
                    if last[j] != i {
                        (last[j], sums[j]) = (i, 0.0);
                        entries.push((i, j));
                    }
                    sums[j] += by_columns.values[at] * self.values[other];
                }
            }
            values.extend(entries[first..].iter().map(|(_, j)| sums[*j]));
        }
        // rows whose columns are in any order; those of the transposed matrix ascend, and it is the same matrix
        let unsorted = Pattern::compressed(n, n, entries.iter().copied());
        let transposed = unsorted.transposed();
        SparseMatrix { pattern: Arc::new(unsorted), values }.mirrored_by(transposed)
    }

    /// Dense blocks of `height` rows each, the last one of what is left: for each its columns and its values. So a
    /// loop whose iterations write `height` numbers each has a block of every iteration.
    ///
    /// # Errors
    ///
    /// Rows of a block that have other columns than its first one. [`Pattern::joined`] makes a pattern without such.
    pub fn blocks(&self, height: usize) -> Result<impl Iterator<Item = Block<'_>>, PatternError> {
        let height = height.max(1);
        let first = |row: usize| row - row % height;
        let odd = (0..self.rows()).find(|row| self.pattern.row(*row) != self.pattern.row(first(*row)));
        if let Some(row) = odd {
            return Err(PatternError::NotJoined { row, first: first(row) });
        }
        let block = move |row: usize| {
            let end = self.rows().min(row + height);
            let values = &self.values[self.pattern.start(row)..self.pattern.start(end)];
            Block { row, columns: self.pattern.row(row), values }
        };
        Ok((0..self.rows()).step_by(height).map(block))
    }

    /// The product of the matrix with a vector.
    pub fn times(&self, vector: &[f64]) -> Result<Vec<f64>, LengthError> {
        match (self.columns(), vector.len()) {
            (columns, found) if columns != found => Err(LengthError::Vector { columns, found }),
            _ => Ok((0..self.rows()).map(|i| self.row_times(i, vector)).collect()),
        }
    }

    fn row_times(&self, row: usize, vector: &[f64]) -> f64 {
        self.pattern.positions(row).map(|(at, j)| self.values[at] * vector[j]).sum()
    }
}
