//! Products of whole arrays, term by term as [`crate::ops::Contraction`] says: what they mean.

use super::func::apply;
use super::update::update;
use crate::error::Cause;
use crate::ir::{Number, UpdateOp};
use crate::ops::{Contraction, Func, Operand, Part, Space};
use crate::tree;
use crate::value::{Array, Data};

/// One array of a product: its name for messages, its value.
pub(super) struct Factor {
    pub name: String,
    pub data: Data,
}

/// The product in the shape of the target, or a scalar. Elements of a target that don't take part are
/// [`Data::None`], which adds nothing.
pub(super) fn contract(
    formula: &Contraction,
    target: (&str, &[usize]),
    factors: &[Factor],
    deterministic: bool,
) -> Result<Data, Cause> {
    let shapes: Vec<&[usize]> = factors.iter().map(|f| shape(&f.data)).collect();
    let space = Space::new(formula, target.1, &shapes).map_err(|misfit| {
        let names = factors.iter().map(|f| f.name.as_str()).zip(shapes.iter().copied());
        Cause::misfit(&misfit, &std::iter::once(target).chain(names).collect::<Vec<_>>())
    })?;
    let product = Product { formula, space: &space, factors, deterministic };
    let mut index = vec![0; space.extents().len()];
    if space.free() == 0 && target.1.is_empty() {
        return product.scalar(&mut index);
    }
    let shape = target.1.to_vec();
    let mut elements = vec![Data::None; shape.iter().product()];
    product.each(&mut index, 0, space.free(), &mut |index| {
        let at = place(&space, 0, index, &shape);
        if takes_part(&formula.target, &space, 0, index) {
            elements[at] = product.sum(&mut index.to_vec(), space.free())?;
        }
        Ok(())
    })?;
    Ok(Data::Array(Array { shape, elements }))
}

/// A term of a product: the number of the element that it is added to, and for each factor the number of its
/// element and whether it is conjugated.
pub(super) struct Term<'a> {
    pub at: usize,
    pub factors: &'a [(usize, bool)],
}

/// Every term of a product for a target of this name and shape.
pub(super) fn terms(
    formula: &Contraction,
    target: (&str, &[usize]),
    factors: &[Data],
    f: &mut dyn FnMut(Term<'_>) -> Result<(), Cause>,
) -> Result<(), Cause> {
    let shapes: Vec<&[usize]> = factors.iter().map(shape).collect();
    let space = Space::new(formula, target.1, &shapes).map_err(|misfit| {
        let names = shapes.iter().map(|shape| ("a factor", *shape));
        Cause::misfit(&misfit, &std::iter::once(target).chain(names).collect::<Vec<_>>())
    })?;
    let product = Product { formula, space: &space, factors: &[], deterministic: false };
    let mut index = vec![0; space.extents().len()];
    let end = index.len();
    let mut places = vec![(0, false); factors.len()];
    product.each(&mut index, 0, end, &mut |index| {
        let mut part = takes_part(&formula.target, &space, 0, index);
        for (k, operand) in formula.factors().iter().enumerate() {
            part &= takes_part(operand, &space, k + 1, index);
            places[k] = (place(&space, k + 1, index, shapes[k]), operand.conj);
        }
        match part {
            true => f(Term { at: place(&space, 0, index, target.1), factors: &places }),
            false => Ok(()),
        }
    })
}

fn shape(data: &Data) -> &[usize] {
    match data {
        Data::Array(a) => &a.shape,
        _ => &[],
    }
}

/// The product of what has been multiplied so far with a value: numbers of 16 bits are rounded each time,
/// their cotangents, which come first, are kept in `f32`.
fn product_of(factor: &Data) -> Func {
    match factor {
        Data::Scalar(v) if v.is_half() => Func::Mul,
        _ => Func::Scale,
    }
}

/// The position of an operand's element in row-major order.
fn place(space: &Space, operand: usize, index: &[usize], shape: &[usize]) -> usize {
    let letters = space.positions(operand).iter();
    letters.zip(shape).fold(0, |at, (letter, n)| at * n + index[usize::from(*letter)])
}

fn takes_part(operand: &Operand, space: &Space, k: usize, index: &[usize]) -> bool {
    match space.positions(k) {
        [row, column] => operand.part.has(index[usize::from(*row)], index[usize::from(*column)]),
        _ => true,
    }
}

struct Product<'a> {
    formula: &'a Contraction,
    space: &'a Space,
    factors: &'a [Factor],
    deterministic: bool,
}

impl Product<'_> {
    /// Every value of the letters from `from` to before `to`, the first slowest.
    fn each(
        &self,
        index: &mut [usize],
        from: usize,
        to: usize,
        f: &mut dyn FnMut(&[usize]) -> Result<(), Cause>,
    ) -> Result<(), Cause> {
        if from == to {
            return f(index);
        }
        for value in 0..self.space.extents()[from] {
            index[from] = value;
            self.each(index, from + 1, to, f)?;
        }
        Ok(())
    }

    /// The sum over the letters from `from` on, which starts at zero; where there are none, the term.
    fn sum(&self, index: &mut [usize], from: usize) -> Result<Data, Cause> {
        let whole = self.formula.factors().iter().all(|f| f.part == Part::Whole);
        if from == self.space.extents().len() && whole {
            return Ok(self.term(index)?.unwrap_or_else(|| self.zero()));
        }
        let mut total = self.zero();
        let end = self.space.extents().len();
        self.each(index, from, end, &mut |index| {
            if let Some(term) = self.term(index)? {
                total = update(UpdateOp::Add, &total, &term)?;
            }
            Ok(())
        })?;
        Ok(total)
    }

    /// The sum that is a scalar: the first letter is that of a parallel loop, whose iterations are
    /// added up along the tree in the deterministic mode.
    fn scalar(&self, index: &mut [usize]) -> Result<Data, Cause> {
        let Some(n) = self.space.extents().first().copied().filter(|_| self.deterministic) else {
            return self.sum(index, 0);
        };
        let single = self.space.extents().len() == 1;
        let mut blocks = Vec::new();
        for b in 0..tree::blocks(n) {
            let mut total = self.zero();
            for k in tree::block(n, b) {
                index[0] = k;
                let term = if single { self.term(index)? } else { Some(self.sum(index, 1)?) };
                if let Some(term) = term {
                    total = update(UpdateOp::Add, &total, &term)?;
                }
            }
            blocks.push(total);
        }
        let mut failed = None;
        let total = tree::pairwise(blocks, |a, b| match update(UpdateOp::Add, a, b) {
            Ok(sum) => *a = sum,
            Err(cause) => failed = Some(cause),
        });
        match failed {
            Some(cause) => Err(cause),
            None => Ok(total.unwrap_or_else(|| self.zero())),
        }
    }

    /// The product of the factors at an index, `None` where one of them isn't part of its array.
    fn term(&self, index: &[usize]) -> Result<Option<Data>, Cause> {
        let mut product: Option<Data> = None;
        for (k, (operand, factor)) in self.formula.factors().iter().zip(self.factors).enumerate() {
            if !takes_part(operand, self.space, k + 1, index) {
                return Ok(None);
            }
            let value = match &factor.data {
                Data::Array(a) => a.elements[place(self.space, k + 1, index, &a.shape)].clone(),
                literal @ Data::Literal(_) => self.typed(literal)?,
                scalar => scalar.clone(),
            };
            // of values these are the conjugate and the product
            let value = if operand.conj { apply(Func::ShadowConj, &[value])? } else { value };
            product = Some(match product {
                None => value,
                Some(p) => apply(product_of(&p), &[p, value])?,
            });
        }
        Ok(product)
    }

    /// A literal as one of the other factors' numbers: a product of values of 16 bits is rounded to them.
    fn typed(&self, literal: &Data) -> Result<Data, Cause> {
        match self.zero() {
            zero @ Data::Scalar(_) => update(UpdateOp::Add, &zero, literal),
            _ => Ok(literal.clone()),
        }
    }

    /// The zero of the products' type: of the first element at hand, else a number of any type.
    fn zero(&self) -> Data {
        let first = self.factors.iter().find_map(|f| match &f.data {
            Data::Array(a) => a.elements.first(),
            Data::Literal(_) => None,
            scalar => Some(scalar),
        });
        first.map_or(Data::Literal(Number::Int(0)), Data::zero_like)
    }
}
