//! Products and sums of whole arrays: `C += A·B` and its kin, by their formulas
//! ([`rev_core::ops::Contraction`]).
//!
//! | mode | how |
//! | --- | --- |
//! | deterministic | `ordered`: the order that the formula's meaning fixes, one element after the other; elements on several threads |
//! | matrix products of `f32`, `f64` and complex numbers | `library`: the kernels of `matrixmultiply`, which choose AVX-512, AVX2 or what there is at run time |
//! | those of `f32` and `f64` with rows side by side and sums that the first cache holds, triangles above all, on AVX-512 | `vectors`: tiles in registers, without copies |
//! | everything else, and products too small for that | `loops`: plain loops, the index with the shortest strides innermost |
//!
//! Seeds: a shadow of `N` cotangents is `N` numbers side by side, and a product with it `N` products.

mod library;
mod loops;
mod ordered;
#[cfg(target_arch = "x86_64")]
mod vectors;

pub use crate::view::{Operand, Raw};
pub use rev_core::ops::Contraction;

use rev_core::error::Cause;
use rev_core::ops::{Part, Space, MAX_FACTORS, MAX_LETTERS};
use rev_core::scalar::{Linear, Ring};

use crate::arrays::Own;
use crate::context::{Context, Mode};

/// Elements of the operands of one term: the target's offset, then the factors'.
type Offsets = [isize; MAX_FACTORS + 1];

/// A product on its way: where its arrays are and how far each index goes in each of them.
pub(crate) struct Sums<'a, S: Linear> {
    formula: &'a Contraction,
    space: Space,
    target: *mut S,
    lead: *const S,
    rest: [*const S::Over; MAX_FACTORS - 1],
    steps: [[isize; MAX_LETTERS]; MAX_FACTORS + 1],
    add: bool,
    /// Whether an operand has a part that doesn't count.
    parts: bool,
    /// Whether the target's elements are to be replaced, whatever they are: only for a [`library`] that can.
    start: bool,
}

// SAFETY: it stands for shared references to the factors, and for an exclusive one to the target, of
// which threads write separate elements.
unsafe impl<S: Linear + Sync + Send> Sync for Sums<'_, S> where S::Over: Sync {}

impl<S: Linear> Copy for Sums<'_, S> {}
impl<S: Linear> Clone for Sums<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

/// `target += product`, or `-=`. The names are those of the target and of the factors, for the error.
///
/// # Errors
///
/// When the shapes don't fit each other.
pub fn update<'a, S, C, const K: usize>(
    cx: Context<'_, C>,
    add: bool,
    formula: &Contraction,
    names: &[&'static str],
    target: Raw<'a, S>,
    lead: Raw<'a, S>,
    rest: [Raw<'a, S::Over>; K],
) -> Result<(), Box<Cause>>
where
    S: Linear + Send + Sync,
    S::Over: Ring,
    C: Mode,
{
    prepare(add, formula, names, Some(target), lead, rest)?.run(cx);
    Ok(())
}

/// The array that a first `target += product`, or `-=`, makes of one filled with `zero`: what it holds before isn't
/// written where the product's kernel can do without. `None` when there is no memory for it.
///
/// # Errors
///
/// When the shapes don't fit each other.
// what the statement and the declaration of its target consist of
#[allow(clippy::too_many_arguments)]
pub fn start<'a, S, C, const R: usize, const K: usize>(
    cx: Context<'_, C>,
    add: bool,
    formula: &Contraction,
    names: &[&'static str],
    shape: [usize; R],
    zero: S,
    lead: Raw<'a, S>,
    rest: [Raw<'a, S::Over>; K],
) -> Option<Result<Own<S, R>, Box<Cause>>>
where
    S: Linear + Send + Sync,
    S::Over: Ring,
    C: Mode,
{
    let write = |target: Raw<'_, S>| {
        let (first, count) = (target.ptr(), shape.iter().product());
        let sums = prepare(add, formula, names, Some(target), lead, rest)?;
        let kernel = !cx.deterministic() && library::run(cx, &Sums { start: true, ..sums });
        if !kernel {
            // SAFETY: the target has so many elements, one after the other.
            (0..count).for_each(|k| unsafe { first.add(k).write(zero.clone()) });
            sums.run(cx);
        }
        Ok(())
    };
    // SAFETY: a kernel that starts a target replaces all of its elements; without one they are zeros first.
    unsafe { Own::written(shape, write) }
}

/// The product whose target is a scalar.
///
/// # Errors
///
/// When the shapes don't fit each other.
pub fn value<'a, S, C, const K: usize>(
    cx: Context<'_, C>,
    formula: &Contraction,
    names: &[&'static str],
    lead: Raw<'a, S>,
    rest: [Raw<'a, S::Over>; K],
) -> Result<S, Box<Cause>>
where
    S: Linear + Send + Sync,
    S::Over: Ring,
    C: Mode,
{
    let sums = prepare(true, formula, names, None, lead, rest)?;
    Ok(if cx.deterministic() { sums.ordered_scalar(cx) } else { sums.plain_scalar() })
}

fn prepare<'a, S: Linear, const K: usize>(
    add: bool,
    formula: &'a Contraction,
    names: &[&'static str],
    target: Option<Raw<'_, S>>,
    lead: Raw<'_, S>,
    rest: [Raw<'_, S::Over>; K],
) -> Result<Sums<'a, S>, Box<Cause>> {
    let mut shapes: [&[usize]; MAX_FACTORS] = [&[]; MAX_FACTORS];
    shapes[0] = lead.shape();
    shapes[1..].iter_mut().zip(&rest).for_each(|(shape, r)| *shape = r.shape());
    let target_shape = target.as_ref().map_or(&[][..], |t| t.shape());
    let space = Space::new(formula, target_shape, &shapes[..=K]).map_err(|misfit| {
        let all: Vec<(&str, &[usize])> = std::iter::once(target_shape)
            .chain(shapes[..=K].iter().copied())
            .enumerate()
            .map(|(k, shape)| (names.get(k).copied().unwrap_or("an array"), shape))
            .collect();
        Box::new(Cause::misfit(&misfit, &all))
    })?;
    let mut steps = [[0; MAX_LETTERS]; MAX_FACTORS + 1];
    if let Some(t) = &target {
        steps[0] = space.steps(0, t.strides());
    }
    steps[1] = space.steps(1, lead.strides());
    let mut pointers = [std::ptr::null(); MAX_FACTORS - 1];
    for (k, r) in rest.iter().enumerate() {
        pointers[k] = r.ptr().cast_const();
        steps[k + 2] = space.steps(k + 2, r.strides());
    }
    let operands = std::iter::once(&formula.target).chain(formula.factors());
    let parts = operands.into_iter().any(|o| o.part != Part::Whole);
    let target = target.map_or(std::ptr::null_mut(), |t| t.ptr());
    Ok(Sums {
        formula,
        space,
        target,
        lead: lead.ptr().cast_const(),
        rest: pointers,
        steps,
        add,
        parts,
        start: false,
    })
}

impl<S: Linear> Sums<'_, S>
where
    S::Over: Ring,
{
    /// Runs the product in the way that suits it.
    fn run<C: Mode>(&self, cx: Context<'_, C>)
    where
        S: Send + Sync,
    {
        if self.space.work() == 0 {
            return;
        }
        if cx.deterministic() {
            self.ordered(cx);
        } else if !library::run(cx, self) {
            self.plain();
        }
    }

    /// One step of a letter.
    #[cfg_attr(optimized, inline(always))]
    fn step(&self, at: &mut Offsets, letter: usize, by: isize) {
        for (at, steps) in at.iter_mut().zip(&self.steps) {
            *at = at.wrapping_add(steps[letter].wrapping_mul(by));
        }
    }

    /// Whether the elements at an index take part.
    #[inline]
    fn takes_part(&self, index: &[usize; MAX_LETTERS], from: usize) -> bool {
        let operands = std::iter::once(&self.formula.target).chain(self.formula.factors());
        operands.enumerate().skip(from).all(|(k, operand)| match self.space.positions(k) {
            [row, column] => operand.part.has(index[usize::from(*row)], index[usize::from(*column)]),
            _ => true,
        })
    }

    /// The product of the factors' elements at offsets in range.
    #[cfg_attr(optimized, inline(always))]
    fn term(&self, at: &Offsets) -> S {
        let factors = self.formula.factors();
        // SAFETY: the offsets come from indices in range of the factors' shapes.
        let mut product = unsafe { (*self.lead.offset(at[1])).clone() };
        if factors[0].conj {
            product = product.conjugate();
        }
        for (k, operand) in factors.iter().enumerate().skip(1) {
            // SAFETY: as above.
            let value = unsafe { *self.rest[k - 1].offset(at[k + 1]) };
            product = product.scale(if operand.conj { value.conj() } else { value });
        }
        product
    }

    /// Adds to (or subtracts from) the target's element at an offset in range.
    #[cfg_attr(optimized, inline(always))]
    fn put(&self, at: isize, value: &S) {
        // SAFETY: the offset comes from an index in range of the target's shape; nothing else reaches
        // the element meanwhile (see the type).
        let element = unsafe { &mut *self.target.offset(at) };
        if self.add {
            element.accumulate(value);
        } else {
            element.deduct(value);
        }
    }
}
