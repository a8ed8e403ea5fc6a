//! Matrices of derivatives: Jacobians and Hessians with blocks by the names of arguments.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array2, ArrayView2};
use rev_core::coordinates;
use rev_core::error::Error;
use rev_core::sparse::{Branches, Plan, SparseMatrix};
use rev_core::value::DynArg;

use crate::fail;
use crate::gradient::{room, Chosen, Columns, Mode, Wrt};
use crate::workspace::Workspace;

/// A Jacobian or Hessian: derivatives of the real numbers in some values by those in others.
///
/// A complex number has two, its real and its imaginary part; integers have none. Those of an array come in row-major
/// order, those of a struct in the order of its fields.
#[derive(Clone, Debug)]
pub struct DerivativeMatrix {
    matrix: Array2<f64>,
    rows: Names,
    columns: Names,
    chosen: Chosen,
    mode: Mode,
}

/// Values with the places of their numbers among those of all.
#[derive(Clone, Debug, Default, PartialEq)]
struct Names(Vec<(&'static str, Range<usize>)>);

impl FromIterator<(&'static str, usize)> for Names {
    fn from_iter<I: IntoIterator<Item = (&'static str, usize)>>(counts: I) -> Names {
        let mut end = 0;
        let range = |(name, count)| {
            end += count;
            (name, end - count..end)
        };
        Names(counts.into_iter().map(range).collect())
    }
}

impl Names {
    /// Whether these are the values, with as many numbers each.
    fn are(&self, counts: impl Iterator<Item = (&'static str, usize)>) -> bool {
        self.0.iter().map(|(name, range)| (*name, range.len())).eq(counts)
    }

    fn count(&self) -> usize {
        self.0.last().map_or(0, |(_, range)| range.end)
    }

    fn range(&self, name: &str) -> Option<Range<usize>> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, range)| range.clone())
    }

    fn each(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.0.iter().map(|(name, range)| (*name, range.clone()))
    }
}

impl DerivativeMatrix {
    /// One without rows and columns, which the first sweeps give it.
    #[doc(hidden)]
    pub fn of<F>(columns: impl Into<Columns<F>>) -> DerivativeMatrix {
        let Columns { wrt, mode } = columns.into();
        let (rows, columns) = (Names::default(), Names::default());
        DerivativeMatrix { matrix: Array2::zeros((0, 0)), rows, columns, chosen: wrt.chosen(), mode }
    }

    /// Makes it a matrix of zeros with these rows and columns.
    fn resize(&mut self, rows: Names, columns: Names) -> Result<(), Error> {
        let shape = (rows.count(), columns.count());
        let count = shape.0.checked_mul(shape.1).ok_or_else(fail::no_copy)?;
        let mut elements = room(count)?;
        elements.resize(count, 0.0);
        self.matrix = Array2::from_shape_vec(shape, elements).map_err(|_| fail::no_copy())?;
        (self.rows, self.columns) = (rows, columns);
        Ok(())
    }

    /// Makes a square matrix the mean of itself and its transpose.
    fn symmetrize(&mut self) {
        for i in 0..self.matrix.nrows() {
            for j in 0..i {
                let mean = 0.5 * self.matrix[[i, j]] + 0.5 * self.matrix[[j, i]];
                (self.matrix[[i, j]], self.matrix[[j, i]]) = (mean, mean);
            }
        }
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
        self.rows.each()
    }

    /// The values by which is differentiated, each with its columns.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.columns.each()
    }
}

impl PartialEq for DerivativeMatrix {
    /// The same derivatives of the same values, in whichever mode they were computed.
    fn eq(&self, other: &Self) -> bool {
        self.matrix == other.matrix && self.rows == other.rows && self.columns == other.columns
    }
}

/// A plan for some columns of a matrix of a function `F` (for a Hessian, rows and columns): `&plan`, `(&plan, f::X | f::K)`.
pub trait PlanOf<F> {
    /// The plan.
    fn plan(&self) -> &Plan;
    /// The arguments whose columns it is for.
    fn wrt(&self) -> Wrt<F>;
}

impl<F> PlanOf<F> for &Plan {
    fn plan(&self) -> &Plan {
        self
    }
    fn wrt(&self) -> Wrt<F> {
        Wrt::ALL
    }
}

impl<F> PlanOf<F> for (&Plan, Wrt<F>) {
    fn plan(&self) -> &Plan {
        self.0
    }
    fn wrt(&self) -> Wrt<F> {
        self.1
    }
}

/// Which branches count in a pattern, and which columns of a matrix of a function `F` it has (for a Hessian, rows and
/// columns): `Branches::All`, `(Branches::All, f::X | f::K)`.
pub struct PatternOf<F>(pub Branches, pub Wrt<F>);

impl<F> From<Branches> for PatternOf<F> {
    fn from(branches: Branches) -> Self {
        PatternOf(branches, Wrt::ALL)
    }
}

impl<F> From<(Branches, Wrt<F>)> for PatternOf<F> {
    fn from((branches, wrt): (Branches, Wrt<F>)) -> Self {
        PatternOf(branches, wrt)
    }
}

/// An argument of a function: its number and its name, whether the function writes it, and its value, or why there is no
/// derivative by it.
#[doc(hidden)]
pub struct Argument<'a>(pub u32, pub &'static str, pub bool, pub Result<&'a dyn DynArg, &'static str>);

/// How many real numbers a value has.
fn count(value: &dyn DynArg) -> usize {
    let mut count = 0;
    value.sides(&mut |_| count += 1);
    count
}

/// The chosen arguments of which there are derivatives, each with the number of its numbers.
fn chosen_of<'a>(
    arguments: &'a [Argument<'a>],
    chosen: Chosen,
) -> impl Iterator<Item = (&'static str, usize)> + Clone + 'a {
    let chosen = arguments.iter().filter(move |Argument(k, ..)| chosen.has(*k));
    chosen.filter_map(|Argument(_, name, _, value)| Some((*name, count(value.ok()?))))
}

/// That there are derivatives by all arguments that are chosen by name.
fn are_derivable(arguments: &[Argument], chosen: Chosen) -> Result<(), Error> {
    let mut named = arguments.iter().filter(|Argument(k, ..)| chosen != Chosen::ALL && chosen.has(*k));
    named.try_for_each(|Argument(_, name, _, value)| match value {
        Ok(_) => Ok(()),
        Err(why) => Err(fail::no_derivative(name, why)),
    })
}

/// The columns of chosen arguments among those of all.
///
/// # Errors
///
/// A chosen argument without a derivative.
#[doc(hidden)]
pub fn columns_of<F>(arguments: &[Argument], wrt: Wrt<F>) -> Result<Vec<usize>, Error> {
    are_derivable(arguments, wrt.chosen())?;
    let (mut columns, mut start) = (Vec::new(), 0);
    for Argument(k, _, _, value) in arguments {
        let end = start + value.map_or(0, count);
        columns.extend((start..end).filter(|_| wrt.has(*k)));
        start = end;
    }
    Ok(columns)
}

/// Makes a value the number 1.
///
/// # Errors
///
/// A value that isn't one real number, with a derivative.
pub fn one(value: &mut dyn DynArg, name: &'static str) -> Result<(), Error> {
    let (mut data, mut numbers) = (value.load(), 0);
    coordinates::update(&mut data, &mut |_| {
        numbers += 1;
        1.0
    });
    match numbers {
        1 => value.store(&data),
        _ => Err(fail::no_derivative(name, "it isn't one real number")),
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

/// The same of functions that have parallel loops: as many as run in lanes, which takes less time by far than more of them
/// one iteration at a time.
pub const SIDES_IN_LANES: usize = crate::lanes::MOST_SIDES;

/// Up to how many directions are taken one by one in reverse mode.
const FEW: usize = 3;

/// Variables with their arguments' numbers.
type Variables<'a, 'v> = &'a mut [(u32, &'v mut dyn DynArg)];

/// The sweeps that a matrix of derivatives is made by: in which directions they go, and what becomes of their products.
///
/// A sweep has some directions side by side, each a sum of unit vectors: of one, or of the columns (in reverse mode the
/// rows) in a group of a plan.
#[doc(hidden)]
pub struct Sweeps<'a> {
    space: &'a mut Workspace,
    to: Target<'a>,
    chosen: Chosen,
    mode: Mode,
    /// Whether rows are chosen as columns are.
    is_symmetric: bool,
    /// How many directions there are, the first of this sweep and of the next.
    count: usize,
    first: usize,
    next: usize,
}

/// What is filled.
enum Target<'a> {
    /// A matrix that has no size yet.
    New(&'a mut DerivativeMatrix),
    /// One of an earlier call.
    Same(&'a mut DerivativeMatrix),
    /// The values of a sparse matrix, by the products of a plan.
    Sparse(&'a Plan, &'a mut [f64]),
}

impl<'a> Sweeps<'a> {
    /// For a new matrix.
    pub fn of_new(matrix: &'a mut DerivativeMatrix, space: &'a mut Workspace) -> Sweeps<'a> {
        let (chosen, mode) = (matrix.chosen, matrix.mode);
        Sweeps::to(Target::New(matrix), chosen, mode, space)
    }

    /// For the matrix of an earlier call.
    pub fn of_same(matrix: &'a mut DerivativeMatrix, space: &'a mut Workspace) -> Sweeps<'a> {
        let (chosen, mode) = (matrix.chosen, matrix.mode);
        Sweeps::to(Target::Same(matrix), chosen, mode, space)
    }

    /// For the nonzeros of a matrix.
    pub fn of_plan<F>(
        plan: &'a impl PlanOf<F>,
        values: &'a mut [f64],
        space: &'a mut Workspace,
    ) -> Sweeps<'a> {
        let (plan, wrt) = (plan.plan(), plan.wrt());
        let mode = if plan.is_by_rows() { Mode::Reverse } else { Mode::Forward };
        Sweeps::to(Target::Sparse(plan, values), wrt.chosen(), mode, space)
    }

    fn to(to: Target<'a>, chosen: Chosen, mode: Mode, space: &'a mut Workspace) -> Sweeps<'a> {
        Sweeps { space, to, chosen, mode, is_symmetric: false, count: 0, first: 0, next: 0 }
    }

    /// Begins a Jacobian of a function with these arguments.
    ///
    /// # Errors
    ///
    /// A chosen argument without a derivative; a matrix or plan of another size than the Jacobian's; no memory.
    pub fn begin_jacobian(&mut self, arguments: &[Argument]) -> Result<(), Error> {
        let written = arguments.iter().filter(|Argument(_, _, is_written, _)| *is_written);
        let rows = written.filter_map(|Argument(_, name, _, value)| Some((*name, count(value.ok()?))));
        self.begin(arguments, rows, chosen_of(arguments, self.chosen))
    }

    /// Begins a Hessian of a function with these arguments.
    ///
    /// # Errors
    ///
    /// As for a Jacobian, and a plan by rows.
    pub fn begin_hessian(&mut self, arguments: &[Argument]) -> Result<(), Error> {
        if self.mode == Mode::Reverse {
            return Err(fail::plan_by_rows());
        }
        (self.is_symmetric, self.mode) = (true, Mode::Forward);
        let columns = chosen_of(arguments, self.chosen);
        self.begin(arguments, columns.clone(), columns)
    }

    fn begin(
        &mut self,
        arguments: &[Argument],
        rows: impl Iterator<Item = (&'static str, usize)> + Clone,
        columns: impl Iterator<Item = (&'static str, usize)> + Clone,
    ) -> Result<(), Error> {
        are_derivable(arguments, self.chosen)?;
        let shape = (rows.clone().map(|(_, n)| n).sum(), columns.clone().map(|(_, n)| n).sum());
        if self.mode == Mode::Shorter {
            self.mode = if shape.1 <= shape.0 { Mode::Forward } else { Mode::Reverse };
        }
        self.count = if self.mode == Mode::Reverse { shape.0 } else { shape.1 };
        match &mut self.to {
            Target::New(matrix) => matrix.resize(rows.collect(), columns.collect()),
            Target::Same(matrix) if matrix.rows.are(rows) && matrix.columns.are(columns) => Ok(()),
            Target::Same(matrix) => Err(fail::other_matrix(&matrix.matrix.dim(), &shape)),
            Target::Sparse(plan, values) => {
                let pattern = plan.pattern();
                fail::same_shape("plan", &[shape.0, shape.1], &[pattern.rows(), pattern.columns()])?;
                fail::same_shape("values", &[pattern.nonzeros()], &[values.len()])?;
                self.count = plan.groups();
                let products = self.count.checked_mul(plan.product_length()).ok_or_else(fail::no_copy)?;
                self.space.products.clear();
                self.space.products.try_reserve_exact(products).map_err(|_| fail::no_copy())?;
                self.space.products.resize(products, 0.0);
                Ok(())
            }
        }
    }

    /// Whether the sweeps go back, each for rows.
    pub fn are_reverse(&self) -> bool {
        self.mode == Mode::Reverse
    }

    /// Whether there are so few directions that each has a sweep of its own.
    pub fn are_few(&self) -> bool {
        self.count <= FEW
    }

    /// The variables of an earlier call with the workspace, or new ones.
    pub fn variables<B: Any + Send>(&mut self, new: impl FnOnce() -> B) -> Box<B> {
        self.space.take().unwrap_or_else(|| Box::new(new()))
    }

    /// Puts the next directions into variables, as many as they have sides. Whether there are any.
    ///
    /// # Errors
    ///
    /// A variable that doesn't take its numbers.
    pub fn seed(&mut self, sides: usize, variables: Variables) -> Result<bool, Error> {
        if self.next >= self.count {
            return Ok(false);
        }
        (self.first, self.next) = (self.next, self.next + sides);
        let (first, mut at) = (self.first, 0);
        for (argument, variable) in variables {
            let is_seeded = self.mode == Mode::Reverse || self.chosen.has(*argument);
            let plan = match &self.to {
                Target::Sparse(plan, _) => Some(plan),
                Target::New(_) | Target::Same(_) => None,
            };
            variable.update_sides(&mut |sides| {
                sides.fill(0.0);
                if is_seeded {
                    let direction = plan.map_or(Some(at), |plan| plan.group(at));
                    let side = direction.and_then(|k| k.checked_sub(first)).and_then(|k| sides.get_mut(k));
                    side.into_iter().for_each(|side| *side = 1.0);
                    at += 1;
                }
            })?;
        }
        Ok(true)
    }

    /// Takes the products of a sweep.
    ///
    /// # Errors
    ///
    /// Other numbers than the matrix has room for: of a stack that the function made longer or shorter.
    pub fn take(&mut self, products: &[(u32, &dyn DynArg)]) -> Result<(), Error> {
        let is_reverse = self.mode == Mode::Reverse;
        let length = match &self.to {
            Target::New(matrix) | Target::Same(matrix) if is_reverse => matrix.matrix.ncols(),
            Target::New(matrix) | Target::Same(matrix) => matrix.matrix.nrows(),
            Target::Sparse(plan, _) => plan.product_length(),
        };
        let (first, count, mut at) = (self.first, self.count.min(self.next) - self.first, 0);
        for (argument, product) in products {
            if (self.is_symmetric || is_reverse) && !self.chosen.has(*argument) {
                continue;
            }
            product.sides(&mut |sides| {
                let sides = (first..).zip(sides).take(if at < length { count } else { 0 });
                match &mut self.to {
                    Target::New(matrix) | Target::Same(matrix) if is_reverse => {
                        sides.for_each(|(k, v)| matrix.matrix[[k, at]] = *v);
                    }
                    Target::New(matrix) | Target::Same(matrix) => {
                        sides.for_each(|(k, v)| matrix.matrix[[at, k]] = *v);
                    }
                    Target::Sparse(..) => {
                        sides.for_each(|(k, v)| self.space.products[k * length + at] = *v);
                    }
                }
                at += 1;
            });
        }
        fail::same_shape("derivatives", &[length], &[at])
    }

    /// Ends the matrix, and keeps the variables for the next one.
    ///
    /// # Errors
    ///
    /// Another number of products than the plan's.
    pub fn finish<B: Any + Send>(&mut self, variables: Box<B>) -> Result<(), Error> {
        self.space.keep(variables);
        match &mut self.to {
            Target::New(matrix) | Target::Same(matrix) if self.is_symmetric => matrix.symmetrize(),
            Target::New(_) | Target::Same(_) => {}
            Target::Sparse(plan, values) => {
                plan.recover_into(&self.space.products, values).map_err(|e| fail::plan(&e))?;
            }
        }
        Ok(())
    }
}

/// The sparse matrix of a plan whose values `fill` computes.
///
/// # Errors
///
/// What `fill` reports.
#[doc(hidden)]
pub fn sparse_matrix<F>(
    plan: &impl PlanOf<F>,
    fill: impl FnOnce(&mut Sweeps) -> Result<(), Error>,
) -> Result<SparseMatrix, Error> {
    let pattern = Arc::clone(plan.plan().pattern());
    let mut values = room(pattern.nonzeros())?;
    values.resize(pattern.nonzeros(), 0.0);
    fill(&mut Sweeps::of_plan(plan, &mut values, &mut Workspace::new()))?;
    SparseMatrix::new(pattern, values).map_err(|e| fail::plan(&e))
}
