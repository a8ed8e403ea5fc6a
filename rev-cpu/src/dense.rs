//! Matrices of derivatives: Jacobians and Hessians with blocks by the names of arguments.

use std::ops::Range;

use ndarray::{Array2, ArrayView2};
use rev_core::coordinates;
use rev_core::error::Error;
use rev_core::sparse::{Plan, SparseMatrix};
use rev_core::value::DynArg;

use crate::fail;

/// A Jacobian or Hessian: derivatives of the real numbers in some values by those in others.
///
/// A complex number has two, its real and its imaginary part; integers have none. Those of an array come in row-major
/// order, those of a struct in the order of its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivativeMatrix {
    matrix: Array2<f64>,
    rows: Names,
    columns: Names,
}

/// Values with the places of their numbers among those of all.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(hidden)]
pub struct Names(Vec<(&'static str, Range<usize>)>);

/// A value with its name.
type Named<'a> = (&'static str, &'a mut dyn DynArg);

impl Names {
    /// Of values, or of their shadows.
    ///
    /// # Errors
    ///
    /// A value whose numbers can't be seen.
    pub fn of(values: &mut [Named]) -> Result<Names, Error> {
        let mut names: Vec<(&'static str, Range<usize>)> = Vec::new();
        for (name, value) in values {
            let start = names.last().map_or(0, |(_, range)| range.end);
            let mut end = start;
            value.update_sides(&mut |_| end += 1)?;
            names.push((name, start..end));
        }
        Ok(Names(names))
    }

    fn count(&self) -> usize {
        self.0.last().map_or(0, |(_, range)| range.end)
    }

    fn range(&self, name: &str) -> Option<Range<usize>> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, range)| range.clone())
    }
}

impl DerivativeMatrix {
    /// A matrix of zeros: a row for each number in the first values, a column for each in the others.
    ///
    /// # Errors
    ///
    /// When there is no memory for it.
    pub fn zeros(rows: &Names, columns: &Names) -> Result<DerivativeMatrix, Error> {
        let (rows, columns) = (rows.clone(), columns.clone());
        let shape = (rows.count(), columns.count());
        let count = shape.0.checked_mul(shape.1).ok_or_else(fail::no_copy)?;
        let mut elements: Vec<f64> = Vec::new();
        elements.try_reserve_exact(count).map_err(|_| fail::no_copy())?;
        elements.resize(count, 0.0);
        let matrix = Array2::from_shape_vec(shape, elements).map_err(|_| fail::no_copy())?;
        Ok(DerivativeMatrix { matrix, rows, columns })
    }

    /// The whole matrix.
    pub fn matrix(&self) -> ArrayView2<'_, f64> {
        self.matrix.view()
    }

    /// The whole matrix, by value.
    pub fn into_matrix(self) -> Array2<f64> {
        self.matrix
    }

    /// The derivatives of the value with a name by the one with another; `None` where there are no such values.
    pub fn block(&self, of: &str, by: &str) -> Option<ArrayView2<'_, f64>> {
        let (rows, columns) = (self.rows.range(of)?, self.columns.range(by)?);
        Some(self.matrix.slice(ndarray::s![rows, columns]))
    }

    /// The values that are differentiated, each with its rows.
    pub fn rows(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.rows.0.iter().map(|(name, range)| (*name, range.clone()))
    }

    /// The values by which is differentiated, each with its columns.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.columns.0.iter().map(|(name, range)| (*name, range.clone()))
    }

    /// Puts the numbers of values into a column.
    #[doc(hidden)]
    pub fn put_column(&mut self, k: usize, values: &[&dyn DynArg]) {
        let numbers = values.iter().flat_map(|v| coordinates::of(&v.load()));
        self.matrix.column_mut(k).iter_mut().zip(numbers).for_each(|(to, v)| *to = v);
    }

    /// Puts the numbers of shadows into columns from one on, one for each that they have side by side.
    ///
    /// # Errors
    ///
    /// A value whose numbers can't be seen.
    #[doc(hidden)]
    pub fn put_columns(&mut self, first: usize, values: &mut [&mut dyn DynArg]) -> Result<(), Error> {
        let mut rows = self.matrix.rows_mut().into_iter();
        for value in values {
            value.update_sides(&mut |sides| {
                if let Some(mut row) = rows.next() {
                    row.iter_mut().skip(first).zip(sides).for_each(|(to, v)| *to = *v);
                }
            })?;
        }
        Ok(())
    }

    /// Puts the numbers of values into a row.
    #[doc(hidden)]
    pub fn put_row(&mut self, k: usize, values: &[&dyn DynArg]) {
        let numbers = values.iter().flat_map(|v| coordinates::of(&v.load()));
        self.matrix.row_mut(k).iter_mut().zip(numbers).for_each(|(to, v)| *to = v);
    }
}

/// Makes values a sum of unit vectors: 1 at some of their numbers, in ascending order, 0 at all others.
///
/// # Errors
///
/// A value that doesn't take back what it gave.
pub fn units(values: &mut [&mut dyn DynArg], numbers: &[usize]) -> Result<(), Error> {
    let mut at = 0;
    let mut rest = numbers.iter().peekable();
    for value in values {
        let mut data = value.load();
        let mut changed = false;
        coordinates::update(&mut data, &mut |v| {
            let wanted = if rest.next_if(|k| **k == at).is_some() { 1.0 } else { 0.0 };
            at += 1;
            changed |= v != wanted;
            wanted
        });
        if changed {
            value.store(&data)?;
        }
    }
    Ok(())
}

/// Makes a value the number 1.
///
/// # Errors
///
/// A value that isn't one real number, with a derivative.
pub fn one(value: &mut dyn DynArg, name: &str) -> Result<(), Error> {
    let (mut data, mut numbers) = (value.load(), 0);
    coordinates::update(&mut data, &mut |_| {
        numbers += 1;
        1.0
    });
    match numbers {
        1 => value.store(&data),
        _ => fail::no_derivative(&format!("there is no derivative by `{name}`, which isn't one real number")),
    }
}

/// Multiplies the numbers of a value.
///
/// # Errors
///
/// A value that doesn't take back what it gave.
pub fn scale(value: &mut dyn DynArg, by: f64) -> Result<(), Error> {
    let mut data = value.load();
    coordinates::update(&mut data, &mut |v| v * by);
    value.store(&data)
}

/// How many directions matrices are computed for at once.
pub const SIDES: usize = 8;

/// Makes shadows sums of unit vectors, each side one of its own: 1 at some of its numbers, in ascending order, 0 at all
/// others.
///
/// # Errors
///
/// A value that doesn't take back what it gave.
pub fn units_side_by_side(values: &mut [&mut dyn DynArg], numbers: &[&[usize]]) -> Result<(), Error> {
    let (mut at, mut rest) = (0, numbers.to_vec());
    for value in values {
        value.update_sides(&mut |sides| {
            sides.fill(0.0);
            for (side, rest) in sides.iter_mut().zip(&mut rest) {
                if let Some((_, others)) = rest.split_first().filter(|(first, _)| **first == at) {
                    *rest = others;
                    *side = 1.0;
                }
            }
            at += 1;
        })?;
    }
    Ok(())
}

/// Products with the groups of a plan, which become a sparse matrix.
#[doc(hidden)]
pub struct Compressed<'p> {
    plan: &'p Plan,
    products: Vec<f64>,
}

impl<'p> Compressed<'p> {
    /// For a matrix with a row for each number in the first values, a column for each in the others.
    ///
    /// # Errors
    ///
    /// A plan for a matrix of another size, or one by rows where products are columns.
    pub fn new(plan: &'p Plan, rows: &Names, columns: &Names, by_rows: bool) -> Result<Self, Error> {
        let (rows, columns) = (rows.count(), columns.count());
        let pattern = plan.pattern();
        fail::same_shape("plan", &[rows, columns], &[pattern.rows(), pattern.columns()])?;
        if plan.is_by_rows() && !by_rows {
            return Err(fail::plan_by_rows());
        }
        Ok(Compressed { plan, products: Vec::new() })
    }

    /// Adds the product with the next group.
    pub fn add(&mut self, values: &[&dyn DynArg]) {
        self.products.extend(values.iter().flat_map(|v| coordinates::of(&v.load())));
    }

    /// Adds the products with the next groups, as many as `count` of those that shadows have side by side.
    ///
    /// # Errors
    ///
    /// A value whose numbers can't be seen.
    pub fn add_side_by_side(&mut self, count: usize, values: &mut [&mut dyn DynArg]) -> Result<(), Error> {
        let mut each = vec![Vec::new(); count];
        for value in values {
            value.update_sides(&mut |sides| {
                each.iter_mut().zip(sides).for_each(|(own, v)| own.push(*v));
            })?;
        }
        each.iter().for_each(|own: &Vec<f64>| self.products.extend(own));
        Ok(())
    }

    /// The matrix.
    ///
    /// # Errors
    ///
    /// Another number of products than the plan's.
    pub fn finish(self) -> Result<SparseMatrix, Error> {
        self.plan.recover(&self.products).map_err(|e| fail::plan(&e))
    }
}
