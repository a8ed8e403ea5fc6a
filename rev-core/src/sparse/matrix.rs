//! A matrix as its pattern and the values there.

use std::sync::Arc;

use super::{Pattern, PatternError};

/// A sparse matrix: entries outside of its pattern are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    pattern: Arc<Pattern>,
    values: Vec<f64>,
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
