//! The places of a matrix that may hold nonzeros, compressed by rows.
//!
//! Both sorting and transposing are counting sorts, so that everything here is linear in rows, columns and
//! entries. Places with a number (a *position*) are counted through the rows, from zero.

/// The largest number of rows or columns.
const LARGEST: usize = i32::MAX as usize;

/// The places of the nonzeros of a matrix: for each row its columns, ascending and without repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    columns: usize,
    /// Row `i` has the positions from `starts[i]` up to `starts[i + 1]`: one number more than there are rows.
    starts: Vec<usize>,
    /// The column of each position.
    indices: Vec<usize>,
}

/// Why a pattern can't be made or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// An entry that the matrix has no place for.
    #[error("the entry ({row}, {column}) is outside of a {rows} x {columns} matrix")]
    OutOfRange {
        /// The row of the entry.
        row: usize,
        /// The column of the entry.
        column: usize,
        /// The number of rows of the matrix.
        rows: usize,
        /// The number of columns of the matrix.
        columns: usize,
    },
    /// More rows or columns than 2³¹ − 1.
    #[error("a {rows} x {columns} matrix is too large: rows and columns may be 2^31 - 1 each")]
    TooLarge {
        /// The number of rows asked for.
        rows: usize,
        /// The number of columns asked for.
        columns: usize,
    },
    /// The matrix should be symmetric, and isn't even square.
    #[error("a {rows} x {columns} matrix can't be symmetric")]
    NotSquare {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The matrix should be symmetric, and an entry has no counterpart.
    #[error("the pattern isn't symmetric: it has ({row}, {column}), but not ({column}, {row})")]
    NotSymmetric {
        /// The row of the entry that is there.
        row: usize,
        /// The column of the entry that is there.
        column: usize,
    },
    /// Rows should have the same columns, and don't.
    #[error(
        "the rows {first} and {row} of a block have other columns: `joined` makes a pattern whose rows don't"
    )]
    NotJoined {
        /// The row.
        row: usize,
        /// The first row of its block.
        first: usize,
    },
}

impl Pattern {
    /// The pattern with the entries given as (row, column), in any order and with any repeats.
    pub fn new(
        rows: usize,
        columns: usize,
        entries: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Pattern, PatternError> {
        if rows.max(columns) > LARGEST {
            return Err(PatternError::TooLarge { rows, columns });
        }
        let in_range = |(row, column)| match row < rows && column < columns {
            true => Ok((column, row)),
            false => Err(PatternError::OutOfRange { row, column, rows, columns }),
        };
        let swapped = entries.into_iter().map(in_range).collect::<Result<Vec<_>, _>>()?;
        // sorted by columns and then stably by rows
        let mut pattern = Pattern::compressed(columns, rows, swapped.iter().copied()).transposed();
        pattern.remove_repeats();
        Ok(pattern)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of places that may hold a nonzero.
    pub fn nonzeros(&self) -> usize {
        self.indices.len()
    }

    /// The columns of the nonzeros of a row, ascending; none if there is no such row.
    pub fn row(&self, row: usize) -> &[usize] {
        match self.starts.get(row..).unwrap_or_default() {
            [start, end, ..] => &self.indices[*start..*end],
            _ => &[],
        }
    }

    /// The places as (row, column), through the rows.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + Clone + '_ {
        (0..self.rows()).flat_map(|i| self.row(i).iter().map(move |j| (i, *j)))
    }

    /// Whether the place is in the pattern. Takes a binary search in the row.
    pub fn contains(&self, row: usize, column: usize) -> bool {
        self.position(row, column).is_some()
    }

    /// The pattern of the transposed matrix.
    pub fn transposed(&self) -> Pattern {
        Pattern::compressed(self.columns, self.rows(), self.iter().map(|(i, j)| (j, i)))
    }

    /// The pattern of the part of the matrix that has these rows and columns, each given once and ascending. Others than
    /// the matrix has are left out.
    pub fn part(
        &self,
        rows: impl IntoIterator<Item = usize>,
        columns: impl IntoIterator<Item = usize>,
    ) -> Pattern {
        let mut place = vec![None; self.columns];
        let mut count = 0;
        for column in columns.into_iter().filter(|column| *column < self.columns) {
            place[column] = Some(count);
            count += 1;
        }
        let rows: Vec<usize> = rows.into_iter().filter(|row| *row < self.rows()).collect();
        let of_row = |(at, row): (usize, &usize)| {
            self.row(*row)
                .iter()
                .filter_map(|column| place[*column])
                .map(move |j| (at, j))
                .collect::<Vec<_>>()
        };
        let entries: Vec<_> = rows.iter().enumerate().flat_map(of_row).collect();
        Pattern::compressed(rows.len(), count, entries.iter().copied())
    }

    /// The pattern in which all rows of a block have the places of each of them, for blocks of `height` rows: the first
    /// ones, the next ones, and so on. A height of zero is one of one. See [`SparseMatrix::blocks`](super::SparseMatrix::blocks).
    pub fn joined(&self, height: usize) -> Pattern {
        let (height, rows) = (height.max(1), self.rows());
        let blocks = rows.div_ceil(height);
        let mut union = Pattern::compressed(self.columns, blocks, self.iter().map(|(i, j)| (j, i / height)));
        union = union.transposed();
        union.remove_repeats();
        let entries = (0..rows).flat_map(|i| union.row(i / height).iter().map(move |j| (i, *j)));
        Pattern::compressed(rows, self.columns, entries)
    }

    /// Whether the matrix is square, and with each place has the one across the diagonal.
    pub fn is_symmetric(&self) -> bool {
        self.mirrored().is_ok()
    }

    /// Entries grouped by row; each row keeps them in the order given. They are in range.
    pub(super) fn compressed(
        rows: usize,
        columns: usize,
        entries: impl Iterator<Item = (usize, usize)> + Clone,
    ) -> Pattern {
        let mut starts = vec![0; rows + 1];
        entries.clone().for_each(|(i, _)| starts[i + 1] += 1);
        (0..rows).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let mut indices = vec![0; starts[rows]];
        entries.for_each(|(i, j)| {
            indices[next[i]] = j;
            next[i] += 1;
        });
        Pattern { columns, starts, indices }
    }

    /// For each row where its columns start, the end of the last one too; and the columns.
    #[cfg(any(feature = "sprs", feature = "nalgebra-sparse"))]
    pub(super) fn parts(&self) -> (&[usize], &[usize]) {
        (&self.starts, &self.indices)
    }

    /// The position of a place.
    pub(super) fn position(&self, row: usize, column: usize) -> Option<usize> {
        let offset = self.row(row).binary_search(&column).ok()?;
        Some(self.starts[row] + offset)
    }

    /// The first position of an existing row, or behind the last row the number of all.
    pub(super) fn start(&self, row: usize) -> usize {
        self.starts[row]
    }

    /// The positions of an existing row with their columns.
    pub(super) fn positions(&self, row: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (self.starts[row]..).zip(self.row(row).iter().copied())
    }

    /// For each position (i, j) that of (j, i).
    ///
    /// The rows i that have j come in ascending order, and so do the entries of row j. So in a symmetric
    /// pattern the next entry of row j that has no partner yet is always the one sought.
    pub(super) fn mirrored(&self) -> Result<Vec<usize>, PatternError> {
        let (rows, columns) = (self.rows(), self.columns);
        if rows != columns {
            return Err(PatternError::NotSquare { rows, columns });
        }
        let mut next = self.starts.clone();
        let mut mirrored = Vec::with_capacity(self.nonzeros());
        for (i, j) in self.iter() {
            let at = next[j];
            let unpaired = if at < self.starts[j + 1] { self.indices[at] } else { columns };
            if unpaired != i {
                // row `unpaired` is behind and had no j, or row j has no i
                let (row, column) = if unpaired < i { (j, unpaired) } else { (i, j) };
                return Err(PatternError::NotSymmetric { row, column });
            }
            mirrored.push(at);
            next[j] += 1;
        }
        Ok(mirrored)
    }

    /// Leaves one of each run of equal columns in a row.
    fn remove_repeats(&mut self) {
        let (mut kept, mut start) = (0, 0);
        for row in 0..self.rows() {
            let end = self.starts[row + 1];
            let first = kept;
            for at in start..end {
                let column = self.indices[at];
                if kept == first || self.indices[kept - 1] != column {
                    self.indices[kept] = column;
                    kept += 1;
                }
            }
            self.starts[row + 1] = kept;
            start = end;
        }
        self.indices.truncate(kept);
    }
}
