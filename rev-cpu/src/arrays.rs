//! Whole arrays: ancillas of run-time shape, and the few statements that name an array as a whole.

use rev_core::scalar::{Linear, Mismatch, Primal};
use rev_core::value::Stack;

use crate::checks::{is_astray, take_shadow, take_value, Held};
use crate::context::Context;
use crate::scratch::Scratch;
use crate::view::{Cells, Dynamic, Exclusive, Extents, Raw, Slice, Strided, Whole};

/// Two arrays that should have the same shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Shapes {
    /// The shape of the first.
    pub first: Vec<usize>,
    /// The shape of the second.
    pub second: Vec<usize>,
}

/// The sizes of an array.
pub fn shape_of(array: &impl Extents) -> Vec<usize> {
    (0..array.rank()).map(|k| array.extent(k)).collect()
}

/// An array of the program's own, with a shape of `R` dimensions.
pub struct Own<E, const R: usize> {
    elements: Scratch<E>,
    shape: [usize; R],
}

impl<E> Own<E, 1> {
    /// A handle to it.
    pub fn handle(&mut self) -> Slice<'_, E, Exclusive> {
        self.elements.handle()
    }
}

impl<E, const R: usize> Own<E, R> {
    /// An array that `write` fills. `None` when there is no memory for it.
    ///
    /// # Safety
    ///
    /// `write` reads none of its elements before it has written it, and has written all when it succeeds.
    pub(crate) unsafe fn written<F>(
        shape: [usize; R],
        write: impl FnOnce(Raw<'_, E>) -> Result<(), F>,
    ) -> Option<Result<Self, F>> {
        let mut elements = Scratch::with_capacity(product(&shape)?)?;
        Some(write(Raw::row_major(elements.start(), shape)).map(|()| {
            // SAFETY: as required of the caller.
            unsafe { elements.complete() };
            Own { elements, shape }
        }))
    }
}

macro_rules! own_handles {
    ($($r:literal)*) => {$(
        impl<E> Own<E, $r> {
            /// A handle to it.
            pub fn handle(&mut self) -> Strided<'_, E, $r, Exclusive> {
                Strided::row_major(self.elements.handle(), self.shape)
            }
        }
    )*};
}
own_handles!(2 3 4);

/// An array of the program's own with any number of dimensions.
pub struct OwnDynamic<E> {
    elements: Scratch<E>,
    shape: Vec<usize>,
}

impl<E> OwnDynamic<E> {
    /// A handle to it.
    pub fn handle(&mut self) -> Dynamic<'_, E, Exclusive> {
        Dynamic::row_major(self.elements.handle(), &self.shape)
    }
}

fn product(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, &s| n.checked_mul(s))
}

/// An array of equal elements. `None` when there is no memory for it.
pub fn filled<E: Clone, const R: usize>(shape: [usize; R], value: E) -> Option<Own<E, R>> {
    Some(Own { elements: Scratch::filled(product(&shape)?, value)?, shape })
}

/// The same as an array whose number of dimensions isn't part of its type.
pub fn dynamic<E: Clone, const R: usize>(shape: [usize; R], value: E) -> Option<OwnDynamic<E>> {
    Some(OwnDynamic { elements: Scratch::filled(product(&shape)?, value)?, shape: shape.to_vec() })
}

/// Handles after whose shape other arrays can be made.
pub trait Shaped<'a>: Whole<'a> {
    /// An array of this shape.
    type Like<T>;
    /// The array of what a function makes of each element. `None` when there is no memory for it.
    fn like<T>(self, make: impl FnMut(&Self::Element) -> T) -> Option<Self::Like<T>>;
    /// The array of equal elements. `None` when there is no memory for it.
    fn filled_like<T: Clone>(self, value: T) -> Option<Self::Like<T>>;
}

fn mapped<'a, H: Whole<'a>, T>(array: H, mut make: impl FnMut(&H::Element) -> T) -> Option<Scratch<T>> {
    let mut elements = Scratch::with_capacity(array.count())?;
    array.elements_in_order().for_each(|e| elements.push(make(e)));
    Some(elements)
}

impl<'a, E: Send + Sync + 'a, M: Send + Sync> Shaped<'a> for Slice<'a, E, M> {
    type Like<T> = Own<T, 1>;
    fn like<T>(self, make: impl FnMut(&E) -> T) -> Option<Own<T, 1>> {
        Some(Own { elements: mapped(self, make)?, shape: [self.count()] })
    }
    fn filled_like<T: Clone>(self, value: T) -> Option<Own<T, 1>> {
        Some(Own { elements: Scratch::filled(self.count(), value)?, shape: [self.count()] })
    }
}

impl<'a, E: Send + Sync + 'a, M: Send + Sync, const R: usize> Shaped<'a> for Strided<'a, E, R, M> {
    type Like<T> = Own<T, R>;
    fn like<T>(self, make: impl FnMut(&E) -> T) -> Option<Own<T, R>> {
        Some(Own { elements: mapped(self, make)?, shape: self.shape() })
    }
    fn filled_like<T: Clone>(self, value: T) -> Option<Own<T, R>> {
        Some(Own { elements: Scratch::filled(self.count(), value)?, shape: self.shape() })
    }
}

impl<'a, E: Send + Sync + 'a, M: Send + Sync> Shaped<'a> for Dynamic<'a, E, M> {
    type Like<T> = OwnDynamic<T>;
    fn like<T>(self, make: impl FnMut(&E) -> T) -> Option<OwnDynamic<T>> {
        Some(OwnDynamic { elements: mapped(self, make)?, shape: self.shape().to_vec() })
    }
    fn filled_like<T: Clone>(self, value: T) -> Option<OwnDynamic<T>> {
        Some(OwnDynamic { elements: Scratch::filled(self.count(), value)?, shape: self.shape().to_vec() })
    }
}

/// Zero shadows in an array's shape. `None` when there is no memory for them.
pub fn zero_shadows<'a, H, const N: usize>(like: H) -> Option<H::Like<<H::Element as Primal>::Shadow<N>>>
where
    H: Shaped<'a, Element: Primal>,
{
    // what owns nothing has its shape in its type, and all zeros are alike
    let alike = !std::mem::needs_drop::<<H::Element as Primal>::Shadow<N>>();
    match like.elements_in_order().next() {
        Some(first) if alike => like.filled_like(first.zero_shadow()),
        _ => like.like(Primal::zero_shadow),
    }
}

/// Zeros in an array's shape. `None` when there is no memory for them.
pub fn zeros_like<'a, H>(like: H) -> Option<H::Like<H::Element>>
where
    H: Shaped<'a, Element: Primal>,
{
    like.like(Primal::zero_like)
}

/// The zero of an array's elements.
pub fn zero_element<'a, H>(_: H) -> H::Element
where
    H: Shaped<'a, Element: Primal>,
{
    rev_core::scalar::Zero::zero()
}

/// Calls `f` on the elements of two arrays in order.
///
/// # Errors
///
/// When their shapes differ.
pub fn pairwise<'a, 'b, A: Cells<'a>, B: Cells<'b>>(
    a: A,
    b: B,
    mut f: impl FnMut(&mut A::Element, &mut B::Element),
) -> Result<(), Shapes> {
    same_shape(&a, &b)?;
    a.cells_in_order().zip(b.cells_in_order()).for_each(|(x, y)| f(x, y));
    Ok(())
}

fn same_shape(a: &impl Extents, b: &impl Extents) -> Result<(), Shapes> {
    let (first, second) = (shape_of(a), shape_of(b));
    if first == second {
        Ok(())
    } else {
        Err(Shapes { first, second })
    }
}

/// `a += b`
///
/// # Errors
///
/// When their shapes differ.
pub fn add_all<'a, 'b, A: Cells<'a>, B: Whole<'b, Element = A::Element>>(a: A, b: B) -> Result<(), Shapes>
where
    A::Element: Linear,
{
    same_shape(&a, &b)?;
    a.cells_in_order().zip(b.elements_in_order()).for_each(|(x, y)| x.accumulate(y));
    Ok(())
}

/// `a -= b`
///
/// # Errors
///
/// When their shapes differ.
pub fn sub_all<'a, 'b, A: Cells<'a>, B: Whole<'b, Element = A::Element>>(a: A, b: B) -> Result<(), Shapes>
where
    A::Element: Linear,
{
    same_shape(&a, &b)?;
    a.cells_in_order().zip(b.elements_in_order()).for_each(|(x, y)| x.deduct(y));
    Ok(())
}

/// Records the magnitudes of all elements.
#[inline(never)]
pub fn see_all<'a, H: Whole<'a>>(held: &mut Held, array: H)
where
    H::Element: Primal,
{
    array.elements_in_order().for_each(|e| held.see(e));
}

/// The elements, for an instruction on each.
pub fn elements<'a, A: Cells<'a>>(a: A) -> impl Iterator<Item = &'a mut A::Element> {
    a.cells_in_order()
}

/// Moves the elements out and leaves zeros: what a push does to an array.
pub fn take<'a, A: Cells<'a>>(array: A) -> Vec<A::Element>
where
    A::Element: Primal + 'a,
{
    elements(array).map(take_value).collect()
}

/// The same of an array of shadows.
pub fn take_shadows<'a, A: Cells<'a>>(array: A) -> Vec<A::Element>
where
    A::Element: Linear + 'a,
{
    elements(array).map(take_shadow).collect()
}

/// Moves the vector on top of a stack to an array. Whether there is one.
///
/// # Errors
///
/// When it has another length; then it stays on the stack.
pub fn put_back<'a, A: Cells<'a>>(array: A, stack: &mut Stack<Vec<A::Element>>) -> Result<bool, Shapes>
where
    A::Element: 'a,
{
    let Some(top) = stack.as_slice().last() else { return Ok(false) };
    let (first, second) = (vec![top.len()], shape_of(&array));
    if first != second {
        return Err(Shapes { first, second });
    }
    let top = stack.pop().unwrap_or_default();
    elements(array).zip(top).for_each(|(element, value)| *element = value);
    Ok(true)
}

/// The first element that holds a number that arithmetic can't take back ([`crate::checks::is_astray`]).
#[inline]
pub fn astray<'a, H: Whole<'a>>(array: H, first: &H::Element, finite: bool) -> Option<Mismatch>
where
    H::Element: Primal,
{
    // without a way out of the loop, which would keep it from running in vectors
    let either = |any: bool, e: &H::Element| any | is_astray(e, finite);
    let any = match array.contiguous() {
        Some(all) => all.iter().fold(false, either),
        None => array.elements_in_order().fold(false, either),
    };
    any.then(|| which_is_astray(array, first, finite))
}

#[cold]
#[inline(never)]
fn which_is_astray<'a, H: Whole<'a>>(array: H, first: &H::Element, finite: bool) -> Mismatch
where
    H::Element: Primal,
{
    let shape = shape_of(&array);
    let mut found = array.elements_in_order().enumerate().filter(|(_, e)| is_astray(*e, finite));
    match found.next() {
        Some((k, e)) => crate::checks::astray(e, first).within(format_args!("{:?}", place(k, &shape))),
        None => crate::checks::astray(first, first),
    }
}

/// Whether every element may stand for `expected`.
///
/// # Errors
///
/// The first element that may not, with its place in row-major order.
#[inline(never)]
pub fn compare_all<'a, C, H: Whole<'a>>(
    cx: Context<'_, C>,
    array: H,
    expected: &H::Element,
    held: Option<f64>,
) -> Result<(), Mismatch>
where
    H::Element: Primal,
{
    for (k, e) in array.elements_in_order().enumerate() {
        e.compare(expected, cx.tolerances(), held)
            .map_err(|m| m.within(format_args!("{:?}", place(k, &shape_of(&array)))))?;
    }
    Ok(())
}

/// The index of the `k`-th element in row-major order.
pub(crate) fn place(mut k: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, n) in index.iter_mut().zip(shape).rev() {
        *i = k % n;
        k /= n;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_arrays_have_the_shape_asked_for() {
        let mut a = filled([2, 3], 1.5).unwrap();
        let h = a.handle();
        assert_eq!((h.shape(), h.rd([1, 2])), ([2, 3], Ok(&1.5)));
        assert!(h.rd([2, 0]).is_err());
        assert!(filled([usize::MAX, 2], 0.0).is_none());
        let mut d = dynamic([0, 3], 1u8).unwrap();
        assert_eq!(d.handle().count(), 0);
    }

    #[test]
    fn whole_arrays_are_added_when_they_agree() {
        let (mut a, mut b, mut c) = ([1.0, 2.0], [10.0, 20.0], [0.0; 3]);
        let x = Slice::exclusive(&mut a);
        add_all(x, Slice::exclusive(&mut b)).unwrap();
        assert_eq!(add_all(x, Slice::exclusive(&mut c)), Err(Shapes { first: vec![2], second: vec![3] }));
        assert_eq!(a, [11.0, 22.0]);
    }

    #[test]
    fn shadows_have_their_arrays_shape() {
        let mut a = filled([2, 2], 3.0f64).unwrap();
        let mut s = zero_shadows::<_, 3>(a.handle()).unwrap();
        assert_eq!(s.handle().shape(), [2, 2]);
        assert_eq!(s.handle().rd([1, 1]).unwrap().0, [0.0; 3]);
    }
}
