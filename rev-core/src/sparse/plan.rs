//! Which products to form for a sparse matrix, and how to recover its entries from them.
//!
//! A plan is prepared once for a pattern. It then turns products into entries by two tables, without
//! allocating: each entry is read from one place of the products, and for acyclic colourings there follow
//! the differences of [`substitution`](super::substitution).

use std::sync::Arc;

use super::substitution::Substitution;
use super::{color_acyclic, color_columns, color_rows, color_star};
use super::{Coloring, LengthError, Order, Pattern, PatternError, SparseMatrix};

/// The groups of columns or rows of a matrix whose sums are to be formed, and how its entries follow from them.
#[derive(Clone, Debug)]
pub struct Plan {
    pattern: Arc<Pattern>,
    by_rows: bool,
    /// For each group its members.
    seeds: Pattern,
    /// For each column (row) its group.
    groups: Vec<usize>,
    /// For each position where it is read in the products.
    sources: Vec<usize>,
    /// What follows the reading.
    substitution: Substitution,
}

impl Plan {
    /// Groups of columns without a common row: [`color_columns`]. The products are J·v.
    pub fn by_columns(pattern: impl Into<Arc<Pattern>>, order: Order) -> Plan {
        let pattern = pattern.into();
        let coloring = color_columns(&pattern, order);
        let products = Products { colors: coloring.colors(), length: pattern.rows() };
        let sources = pattern.iter().map(|(i, j)| products.place(i, j)).collect();
        Plan::direct(pattern, false, &coloring, sources)
    }

    /// Groups of rows without a common column: [`color_rows`]. The products are Jᵀ·v.
    pub fn by_rows(pattern: impl Into<Arc<Pattern>>, order: Order) -> Plan {
        let pattern = pattern.into();
        let coloring = color_rows(&pattern, order);
        let products = Products { colors: coloring.colors(), length: pattern.columns() };
        let sources = pattern.iter().map(|(i, j)| products.place(j, i)).collect();
        Plan::direct(pattern, true, &coloring, sources)
    }

    /// The one of [`Plan::by_columns`] and [`Plan::by_rows`] with fewer groups; by columns where they have as many.
    pub fn by_fewer(pattern: impl Into<Arc<Pattern>>, order: Order) -> Plan {
        let pattern = pattern.into();
        let columns = Plan::by_columns(Arc::clone(&pattern), order);
        let rows = Plan::by_rows(pattern, order);
        if rows.groups() < columns.groups() {
            rows
        } else {
            columns
        }
    }

    /// Groups of columns of a symmetric matrix by a star colouring: [`color_star`].
    ///
    /// Of each entry and its mirror image one is alone in its row with the colour of its column. The diagonal is
    /// alone always, for neighbours differ.
    pub fn by_star(pattern: impl Into<Arc<Pattern>>, order: Order) -> Result<Plan, PatternError> {
        let pattern = pattern.into();
        let coloring = color_star(&pattern, order)?;
        let sources = star_sources(&pattern, &coloring);
        Ok(Plan::direct(pattern, false, &coloring, sources))
    }

    /// Groups of columns of a symmetric matrix by an acyclic colouring: [`color_acyclic`].
    ///
    /// These are the fewest groups as a rule, but an entry is a number of a product less entries found
    /// before: errors in the products add up on the way from the leaves of a tree to its middle. Entries on the
    /// diagonal and those at leaves are read as they are.
    pub fn by_acyclic(pattern: impl Into<Arc<Pattern>>, order: Order) -> Result<Plan, PatternError> {
        let pattern = pattern.into();
        let coloring = color_acyclic(&pattern, order)?;
        let products = Products { colors: coloring.colors(), length: pattern.rows() };
        let mut sources: Vec<usize> = pattern.iter().map(|(i, j)| products.place(i, j)).collect();
        let substitution = Substitution::new(&pattern, &coloring, &mut sources)?;
        Ok(Plan { substitution, ..Plan::direct(pattern, false, &coloring, sources) })
    }

    fn direct(pattern: Arc<Pattern>, by_rows: bool, coloring: &Coloring, sources: Vec<usize>) -> Plan {
        let colors = coloring.colors();
        let members = colors.iter().enumerate().map(|(member, color)| (*color, member));
        let seeds = match pattern.nonzeros() {
            0 => Pattern::compressed(0, colors.len(), std::iter::empty()),
            _ => Pattern::compressed(coloring.count(), colors.len(), members),
        };
        let groups = colors.to_vec();
        Plan { pattern, by_rows, seeds, groups, sources, substitution: Substitution::default() }
    }

    /// The pattern of the matrices that the plan is for.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The number of products needed: none if the pattern has no nonzeros.
    pub fn groups(&self) -> usize {
        self.seeds.rows()
    }

    /// The columns of a group (the rows, if the plan goes by rows), ascending: where the vector to multiply with
    /// has ones. None if there is no such group.
    ///
    /// Each column is in one group, unless there are no groups.
    pub fn seed(&self, group: usize) -> &[usize] {
        self.seeds.row(group)
    }

    /// The group of a column (of a row, if the plan goes by rows); `None` if there is no such column.
    pub fn group(&self, member: usize) -> Option<usize> {
        self.groups.get(member).copied()
    }

    /// Whether the groups are of rows, so that the products are those of the transposed matrix.
    pub fn is_by_rows(&self) -> bool {
        self.by_rows
    }

    /// The length of the vectors to multiply with: the number of columns, or of rows if the plan goes by rows.
    pub fn seed_length(&self) -> usize {
        self.seeds.columns()
    }

    /// The length of each product: the number of rows, or of columns if the plan goes by rows.
    pub fn product_length(&self) -> usize {
        match self.by_rows {
            true => self.pattern.columns(),
            false => self.pattern.rows(),
        }
    }

    /// The matrix with these products, which are given one after the other: number `k` is the sum of the columns
    /// (or the rows) in [`Plan::seed`]`(k)`, and has [`Plan::product_length`] entries.
    pub fn recover(&self, products: &[f64]) -> Result<SparseMatrix, LengthError> {
        let mut values = vec![0.0; self.pattern.nonzeros()];
        self.recover_into(products, &mut values)?;
        SparseMatrix::new(Arc::clone(&self.pattern), values)
    }

    /// Writes the values of the matrix with these products, in the order of [`Pattern::iter`]. Allocates nothing.
    pub fn recover_into(&self, products: &[f64], values: &mut [f64]) -> Result<(), LengthError> {
        let (groups, length, found) = (self.groups(), self.product_length(), products.len());
        if groups.saturating_mul(length) != found {
            return Err(LengthError::Products { groups, length, found });
        }
        let (nonzeros, found) = (self.pattern.nonzeros(), values.len());
        if nonzeros != found {
            return Err(LengthError::Values { nonzeros, found });
        }
        values.iter_mut().zip(&self.sources).for_each(|(value, source)| *value = products[*source]);
        self.substitution.apply(values);
        Ok(())
    }
}

/// The products of a plan, one after the other.
struct Products<'a> {
    /// The group of each column of the matrix that is multiplied.
    colors: &'a [usize],
    /// The length of each product.
    length: usize,
}

impl Products<'_> {
    /// Where the product with the group of a column has a row. Saturates, as the expected length does, which no
    /// slice then has.
    fn place(&self, row: usize, column: usize) -> usize {
        self.colors[column].saturating_mul(self.length).saturating_add(row)
    }
}

/// Where a star colouring shows each entry: in its own row, if no other column there has the colour of its
/// column, and in the mirror image's otherwise.
fn star_sources(pattern: &Pattern, coloring: &Coloring) -> Vec<usize> {
    let colors = coloring.colors();
    let products = Products { colors, length: pattern.rows() };
    let mut columns_with = vec![0; coloring.count()];
    let mut sources = Vec::with_capacity(pattern.nonzeros());
    for i in 0..pattern.rows() {
        let row = pattern.row(i);
        row.iter().for_each(|j| columns_with[colors[*j]] += 1);
        sources.extend(row.iter().map(|j| match columns_with[colors[*j]] {
            1 => products.place(i, *j),
            _ => products.place(*j, i),
        }));
        row.iter().for_each(|j| columns_with[colors[*j]] = 0);
    }
    sources
}
