//! Where a sparse matrix has entries, checked once, so that the programs' index arrays are known to be right.

/// The places of the entries of a sparse matrix, compressed by rows: the columns of each row ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    width: usize,
    starts: Vec<usize>,
    columns: Vec<usize>,
}

/// Why index arrays aren't the structure of a matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StructureError {
    /// There is no start at all; there is one more of them than there are rows.
    #[error("`starts` is empty: it has one number more than the matrix has rows, and starts at 0")]
    NoStarts,
    /// The first row doesn't begin at the first entry.
    #[error("starts[0] is {start} and has to be 0")]
    FirstStart {
        /// What it is.
        start: usize,
    },
    /// A row ends before it begins.
    #[error("starts[{}] is {end}, less than starts[{row}], which is {start}", row + 1)]
    Descending {
        /// The row.
        row: usize,
        /// Where it begins.
        start: usize,
        /// Where it ends.
        end: usize,
    },
    /// The rows have more or fewer entries together than there are.
    #[error("the rows have {counted} entries together, and there are {given} {what}")]
    Length {
        /// The last start.
        counted: usize,
        /// How many there are.
        given: usize,
        /// Of what: `columns` or `values`.
        what: &'static str,
    },
    /// A column that the matrix doesn't have.
    #[error("columns[{entry}] in row {row} is {column}, and the matrix has {width} columns")]
    OutOfRange {
        /// The row.
        row: usize,
        /// The entry.
        entry: usize,
        /// Its column.
        column: usize,
        /// How many columns the matrix has.
        width: usize,
    },
    /// Matrices that can't be multiplied.
    #[error("a matrix with {width} columns can't be multiplied by one with {rows} rows")]
    Inner {
        /// Columns of the first one.
        width: usize,
        /// Rows of the second one.
        rows: usize,
    },
    /// Matrices of different sizes, which have no inner product.
    #[error("a matrix of {} x {} has no inner product with one of {} x {}", first[0], first[1], second[0], second[1])]
    Sizes {
        /// Rows and columns of the first one.
        first: [usize; 2],
        /// Those of the second one.
        second: [usize; 2],
    },
    /// Columns of a row that don't ascend, or one that is there twice.
    #[error("columns[{entry}] in row {row} is {column}, not more than {before} before it")]
    NotAscending {
        /// The row.
        row: usize,
        /// The second one of the two entries.
        entry: usize,
        /// Its column.
        column: usize,
        /// The column of the entry before.
        before: usize,
    },
}

/// What [`multiply()`](super::multiply()) needs to know of two structures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Products {
    /// That of the matrices' product.
    pub structure: Structure,
    /// The first product of each row, and the number of all.
    pub firsts: Vec<usize>,
    /// The entry of the matrices' product that each product of two entries is added to.
    pub places: Vec<usize>,
}

/// The entries that two matrices have in the same places, row by row: what [`dot_at()`](super::dot_at()) needs to know of their structures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intersection {
    /// Which entries of the first matrix they are.
    pub first: Vec<usize>,
    /// The entries of the second matrix in the same places.
    pub second: Vec<usize>,
}

impl Structure {
    /// The structure of a matrix with `width` columns and `starts.len() - 1` rows.
    ///
    /// # Errors
    ///
    /// The first place at which the arrays aren't a structure.
    pub fn new(width: usize, starts: Vec<usize>, columns: Vec<usize>) -> Result<Structure, StructureError> {
        check_starts(&starts, columns.len())?;
        for (row, ends) in starts.windows(2).enumerate() {
            check_row(row, ends[0], &columns[ends[0]..ends[1]], width)?;
        }
        Ok(Structure { width, starts, columns })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The first entry of each row, and the number of all entries.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The column of each entry.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The structure of the product with another matrix, and where each product of two entries goes.
    ///
    /// # Errors
    ///
    /// Another number of rows than this has columns.
    pub fn product(&self, other: &Structure) -> Result<Products, StructureError> {
        if other.rows() != self.width {
            return Err(StructureError::Inner { width: self.width, rows: other.rows() });
        }
        let row = |s: &Structure, i: usize| s.starts[i]..s.starts[i + 1];
        let (mut starts, mut columns) = (vec![0], vec![]);
        let (mut firsts, mut places) = (vec![0], vec![]);
        for i in 0..self.rows() {
            let through = self.columns[row(self, i)].iter();
            let reached: Vec<usize> = through.flat_map(|k| &other.columns[row(other, *k)]).copied().collect();
            let mut distinct = reached.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let place = |column: &usize| columns.len() + distinct.partition_point(|c| c < column);
            places.extend(reached.iter().map(place));
            columns.extend(distinct);
            starts.push(columns.len());
            firsts.push(places.len());
        }
        Ok(Products { structure: Structure { width: other.width, starts, columns }, firsts, places })
    }

    /// The entries in places where another matrix has one as well.
    ///
    /// # Errors
    ///
    /// Another number of rows or columns.
    pub fn intersection(&self, other: &Structure) -> Result<Intersection, StructureError> {
        let [first, second] = [self, other].map(|s| [s.rows(), s.width]);
        if first != second {
            return Err(StructureError::Sizes { first, second });
        }
        let mut common = Intersection::default();
        for (own, others) in self.starts.windows(2).zip(other.starts.windows(2)) {
            let mut next = others[0];
            for entry in own[0]..own[1] {
                let column = self.columns[entry];
                next += other.columns[next..others[1]].partition_point(|c| *c < column);
                if next < others[1] && other.columns[next] == column {
                    common.first.push(entry);
                    common.second.push(next);
                }
            }
        }
        Ok(common)
    }

    /// The structure of the transposed matrix, and for each of its entries which one of this it is.
    pub fn transposed(&self) -> (Structure, Vec<usize>) {
        let mut starts = vec![0; self.width + 1];
        for column in &self.columns {
            starts[column + 1] += 1;
        }
        for j in 0..self.width {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let (mut rows, mut origins) = (vec![0; self.entries()], vec![0; self.entries()]);
        for (row, ends) in self.starts.windows(2).enumerate() {
            for entry in ends[0]..ends[1] {
                let place = &mut next[self.columns[entry]];
                (rows[*place], origins[*place]) = (row, entry);
                *place += 1;
            }
        }
        (Structure { width: self.rows(), starts, columns: rows }, origins)
    }
}

fn check_starts(starts: &[usize], entries: usize) -> Result<(), StructureError> {
    let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else {
        return Err(StructureError::NoStarts);
    };
    if first != 0 {
        return Err(StructureError::FirstStart { start: first });
    }
    for (row, ends) in starts.windows(2).enumerate() {
        if ends[1] < ends[0] {
            return Err(StructureError::Descending { row, start: ends[0], end: ends[1] });
        }
    }
    match last == entries {
        true => Ok(()),
        false => Err(StructureError::Length { counted: last, given: entries, what: "columns" }),
    }
}

fn check_row(row: usize, start: usize, columns: &[usize], width: usize) -> Result<(), StructureError> {
    for (k, &column) in columns.iter().enumerate() {
        let entry = start + k;
        if column >= width {
            return Err(StructureError::OutOfRange { row, entry, column, width });
        }
        if k > 0 && column <= columns[k - 1] {
            return Err(StructureError::NotAscending { row, entry, column, before: columns[k - 1] });
        }
    }
    Ok(())
}

/// A structure with a value for each entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    structure: Structure,
    values: Vec<T>,
}

impl<T> Matrix<T> {
    /// A matrix with these values.
    ///
    /// # Errors
    ///
    /// More or fewer values than the structure has entries.
    pub fn new(structure: Structure, values: Vec<T>) -> Result<Matrix<T>, StructureError> {
        let (counted, given) = (structure.entries(), values.len());
        match counted == given {
            true => Ok(Matrix { structure, values }),
            false => Err(StructureError::Length { counted, given, what: "values" }),
        }
    }

    /// Where it has entries.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// Their values.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Their values, which may be changed.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The transposed matrix.
    pub fn transposed(&self) -> Matrix<T>
    where
        T: Clone,
    {
        let (structure, origins) = self.structure.transposed();
        Matrix { structure, values: origins.iter().map(|k| self.values[*k].clone()).collect() }
    }
}
