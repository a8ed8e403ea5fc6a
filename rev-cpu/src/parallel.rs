//! Parallel loops: parts of the range on several threads, with private copies of what they share.
//!
//! What several iterations accumulate into (class P3: a sum, the gradient of everything that is
//! shared) is given to each task as a private copy that starts at zero; the copies are added up
//! pairwise, and at last to the target. An error in several parts is reported for the one that comes
//! first in the range.
//!
//! * By default each thread has one copy and takes parts of the range until none is left
//!   (`schedule.rs`); one thread accumulates into the target. Sums of many terms are formed in blocks
//!   (`blocks.rs`).
//! * In deterministic mode the range is cut into leaves, which with the order of their sums are those
//!   of [`rev_core::tree`]. They depend on the number of iterations alone: the same bits on any number
//!   of threads, one included, and on every device.
//!
//! A target that is large against the work of the loop (a gradient scattered through an index
//! array) would spend more on zeroing and adding copies than on the loop. Outside the deterministic
//! mode such a loop adds atomically to the target itself, where its elements allow it
//! ([`atomics_pay`]); else it gets fewer threads.

use rev_core::error::Error;
use rev_core::scalar::{Linear, Num, Primal, Scalar};
use rev_core::tree;

use crate::atomic::is_atomic;
use crate::blocks;
use crate::context::{Context, Mode};
use crate::fail;
use crate::schedule::{self, MULTIPLICATION, OPERATION};
use crate::scratch::Scratch;
use crate::steps::Visits;
use crate::view::{Cells, Dynamic, Exclusive, Extents, Single, Slice, Strided, Whole};

/// The operations of an iteration from which on atomic additions in it are a small part of its work.
const ATOMICS_FROM: usize = 64;

/// The scalars of a copy from which on several threads add it up.
const COMBINED: usize = 1 << 15;

/// A variable that the iterations of a loop accumulate into: a handle, or several as nested pairs.
pub trait Target: Copy + Send + Sync {
    /// A copy's storage.
    type Copy: Send;
    /// Whether there is anything to accumulate into.
    const SHARED: bool;
    /// Whether it is accumulated in numbers of so few digits that rounding errors have to be kept from growing.
    const ROUNDED: bool;
    /// How many scalars it has, about.
    fn cells(self) -> usize;
    /// Room for a copy, of which as much is there as has to be looked up in the target. `None` when out of
    /// memory.
    fn reserve(self) -> Option<Self::Copy>;
    /// Makes the copy whole: it starts at the neutral element. Doesn't touch the target, so that the thread that
    /// needs the copy can do it while others use the target.
    fn complete(copy: &mut Self::Copy);
    /// Sets a whole copy to the neutral element again.
    fn renew(copy: &mut Self::Copy);
    /// The handle of a copy, to be used only while the copy lives.
    ///
    /// `None` when the copy doesn't have the target's shape, which it always has.
    ///
    /// # Safety
    ///
    /// The handle must not be used after `copy` is dropped or moved.
    unsafe fn of(self, copy: &mut Self::Copy) -> Option<Self>;
    /// Adds up, on the threads of the context: `self ⊕= copy`.
    fn merge<C: Mode>(self, cx: Context<'_, C>, copy: &mut Self::Copy);
}

impl Target for () {
    const SHARED: bool = false;
    const ROUNDED: bool = false;
    type Copy = ();
    fn cells(self) -> usize {
        0
    }
    fn reserve(self) -> Option<()> {
        Some(())
    }
    fn complete((): &mut ()) {}
    fn renew((): &mut ()) {}
    unsafe fn of(self, (): &mut ()) -> Option<()> {
        Some(())
    }
    fn merge<C: Mode>(self, _: Context<'_, C>, (): &mut ()) {}
}

impl<A: Target, B: Target> Target for (A, B) {
    const SHARED: bool = true;
    const ROUNDED: bool = A::ROUNDED || B::ROUNDED;
    type Copy = (A::Copy, B::Copy);
    fn cells(self) -> usize {
        self.0.cells().saturating_add(self.1.cells())
    }
    fn reserve(self) -> Option<Self::Copy> {
        Some((self.0.reserve()?, self.1.reserve()?))
    }
    fn complete(copy: &mut Self::Copy) {
        A::complete(&mut copy.0);
        B::complete(&mut copy.1);
    }
    fn renew(copy: &mut Self::Copy) {
        A::renew(&mut copy.0);
        B::renew(&mut copy.1);
    }
    unsafe fn of(self, copy: &mut Self::Copy) -> Option<Self> {
        // SAFETY: as required of the caller.
        unsafe { Some((self.0.of(&mut copy.0)?, self.1.of(&mut copy.1)?)) }
    }
    fn merge<C: Mode>(self, cx: Context<'_, C>, copy: &mut Self::Copy) {
        self.0.merge(cx, &mut copy.0);
        self.1.merge(cx, &mut copy.1);
    }
}

/// The operation by which the copies of an element are put together.
pub trait Combine<E>: Copy + Send + Sync {
    /// Whether it rounds to few digits.
    const ROUNDED: bool;
    /// The neutral element, shaped like another.
    fn neutral(like: &E) -> E;
    /// `a ⊕= b`.
    fn combine(a: &mut E, b: &E);
}

/// `+=` and `-=`.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

/// The same of what may be a struct, field by field.
#[derive(Clone, Copy, Debug)]
pub struct Fields;

/// `^=`.
#[derive(Clone, Copy, Debug)]
pub struct Parity;

/// Numbers of 32 bits, and what is made of them; those of 64 keep more than ten digits of any sum.
const fn is_rounded<E>() -> bool {
    std::mem::align_of::<E>() < std::mem::align_of::<f64>()
}

impl<E: Linear> Combine<E> for Sum {
    const ROUNDED: bool = is_rounded::<E>();
    #[cfg_attr(optimized, inline(always))]
    fn neutral(like: &E) -> E {
        let mut zero = like.clone();
        zero.set_zero();
        zero
    }
    #[cfg_attr(optimized, inline(always))]
    fn combine(a: &mut E, b: &E) {
        a.accumulate(b);
    }
}

impl<E: Primal> Combine<E> for Fields {
    const ROUNDED: bool = is_rounded::<E>();
    #[cfg_attr(optimized, inline(always))]
    fn neutral(like: &E) -> E {
        like.zeros()
    }
    #[cfg_attr(optimized, inline(always))]
    fn combine(a: &mut E, b: &E) {
        a.add_each(b, false);
    }
}

impl<E: Primal + std::ops::BitXor<Output = E>> Combine<E> for Parity {
    const ROUNDED: bool = false;
    #[cfg_attr(optimized, inline(always))]
    fn neutral(like: &E) -> E {
        like.zero_like()
    }
    #[cfg_attr(optimized, inline(always))]
    fn combine(a: &mut E, b: &E) {
        *a = a.clone() ^ b.clone();
    }
}

/// A target with its operation: what the emitted code passes and the body takes apart again.
#[derive(Clone, Copy, Debug)]
pub struct By<O, H>(pub O, pub H);

fn scalars<E>(n: usize) -> usize {
    n.saturating_mul(std::mem::size_of::<E>().div_ceil(8))
}

/// `a ⊕= b` for each element, on as many threads as there are.
fn combine_all<E: Send + Sync, O: Combine<E>, C: Mode>(cx: Context<'_, C>, a: &mut [E], b: &[E]) {
    let one_by_one = |a: &mut [E], b: &[E]| a.iter_mut().zip(b).for_each(|(a, b)| O::combine(a, b));
    if cx.workers() < 2 || scalars::<E>(a.len()) < COMBINED {
        return one_by_one(a, b);
    }
    let part = a.len().div_ceil(cx.workers());
    cx.at_once(a.chunks_mut(part).zip(b.chunks(part)).map(|(a, b)| move || one_by_one(a, b)));
}

impl<P: Send + Sync, O: Combine<P>> Target for By<O, Single<'_, P>> {
    const SHARED: bool = true;
    const ROUNDED: bool = O::ROUNDED;
    type Copy = P;
    fn cells(self) -> usize {
        scalars::<P>(1)
    }
    fn reserve(self) -> Option<P> {
        Some(O::neutral(self.1.look()))
    }
    fn complete(_: &mut P) {}
    fn renew(copy: &mut P) {
        *copy = O::neutral(copy);
    }
    unsafe fn of(self, copy: &mut P) -> Option<Self> {
        // SAFETY: as required of the caller.
        Some(By(self.0, unsafe { self.1.over(copy) }))
    }
    fn merge<C: Mode>(self, _: Context<'_, C>, copy: &mut P) {
        O::combine(self.1.get(), copy);
    }
}

/// An element of an array; where its index is out of range there is nothing to accumulate into, and
/// an iteration that tries fails.
impl<P: Send + Sync, O: Combine<P>> Target for By<O, Option<Single<'_, P>>> {
    const SHARED: bool = true;
    const ROUNDED: bool = O::ROUNDED;
    type Copy = Option<P>;
    fn cells(self) -> usize {
        scalars::<P>(1)
    }
    fn reserve(self) -> Option<Option<P>> {
        Some(self.1.map(|element| O::neutral(element.look())))
    }
    fn complete(_: &mut Option<P>) {}
    fn renew(copy: &mut Option<P>) {
        copy.iter_mut().for_each(|copy| *copy = O::neutral(copy));
    }
    unsafe fn of(self, copy: &mut Option<P>) -> Option<Self> {
        // SAFETY: as required of the caller.
        Some(By(self.0, self.1.zip(copy.as_mut()).map(|(element, copy)| unsafe { element.over(copy) })))
    }
    fn merge<C: Mode>(self, _: Context<'_, C>, copy: &mut Option<P>) {
        if let (Some(element), Some(copy)) = (self.1, copy) {
            O::combine(element.get(), copy);
        }
    }
}

macro_rules! array_target {
    ($handle:ty $(, const $r:ident: usize)?) => {
impl<'a, E: Clone + Send + Sync + 'a, $(const $r: usize,)? O: Combine<E>> Target for By<O, $handle> {
    const SHARED: bool = true;
    const ROUNDED: bool = O::ROUNDED;
    type Copy = Scratch<E>;
    fn cells(self) -> usize {
        scalars::<E>(self.1.count())
    }
    fn reserve(self) -> Option<Self::Copy> {
        let mut copy = Scratch::with_capacity(self.1.count())?;
        // what owns nothing has its whole shape in its type, and is like the first
        let looked_up = if std::mem::needs_drop::<E>() { usize::MAX } else { 1 };
        self.1.elements_in_order().take(looked_up).for_each(|like| copy.push(O::neutral(like)));
        Some(copy)
    }
    fn complete(copy: &mut Self::Copy) {
        copy.fill_up();
    }
    fn renew(copy: &mut Self::Copy) {
        copy.elements().iter_mut().for_each(|copy| *copy = O::neutral(copy));
    }
    unsafe fn of(self, copy: &mut Self::Copy) -> Option<Self> {
        // SAFETY: as required of the caller.
        unsafe { self.1.over(copy.elements()) }.map(|h| By(self.0, h))
    }
    fn merge<C: Mode>(self, cx: Context<'_, C>, copy: &mut Self::Copy) {
        match self.1.contiguous_cells() {
            Some(cells) => combine_all::<E, O, C>(cx, cells, copy.elements()),
            None => self.1.cells_in_order().zip(copy.elements()).for_each(|(a, b)| O::combine(a, b)),
        }
    }
}
    };
}
array_target!(Slice<'a, E, Exclusive>);
array_target!(Strided<'a, E, R, Exclusive>, const R: usize);
array_target!(Dynamic<'a, E, Exclusive>);

/// Runs a loop: `body` for parts of the range, on one thread or several.
///
/// `weight` is a rough count of the operations in one iteration, `group` how many iterations run at once in
/// lanes, 1 where none do. The body gets the context of its task, the values to visit in order, and the targets
/// to accumulate into.
///
/// # Errors
///
/// The error of the first failing iteration in its leaf, of the leaf that comes first in the range;
/// or that there is no memory for copies.
#[inline]
pub fn run<V, A, C, F>(
    cx: Context<'_, C>,
    steps: V,
    [weight, group]: [usize; 2],
    targets: A,
    body: F,
) -> Result<(), Error>
where
    V: Visits,
    A: Target,
    C: Mode,
    F: Fn(Context<'_, C>, V, A) -> Result<(), Error> + Sync,
{
    let count = steps.count();
    let workers = workers(cx, count, weight);
    let fixed = is_fixed(cx, &targets);
    if workers <= 1 && !fixed {
        return blocks::run(cx, steps, [weight, group], false, targets, body);
    }
    if !fixed {
        return schedule::share(cx, steps, [weight, group], workers, targets, &body);
    }
    let inner = cx.with_workers(cx.workers() / workers.max(1));
    let root = Tree { cx: inner, parallel: workers > 1, targets, body: &body };
    let mut total = root.grow(steps)?;
    targets.merge(cx, &mut total);
    Ok(())
}

/// The same with arrays besides, `targets.1`, to whose elements all tasks add in place where they are `atomic`; else they
/// are targets like the others. The body is told; it is compiled once for each of the two.
///
/// # Errors
///
/// As [`run`].
#[inline]
pub fn run_atomic<V, A, B, C, F>(
    cx: Context<'_, C>,
    steps: V,
    work: [usize; 2],
    targets: (A, B),
    atomic: bool,
    body: F,
) -> Result<(), Error>
where
    V: Visits,
    A: Target,
    B: Target,
    C: Mode,
    F: Fn(Context<'_, C>, V, (A, B), bool) -> Result<(), Error> + Sync,
{
    if !atomic {
        return run(cx, steps, work, targets, |cx, steps, targets| body(cx, steps, targets, false));
    }
    let (targets, arrays) = targets;
    run(cx, steps, work, targets, |cx, steps, targets| body(cx, steps, (targets, arrays), true))
}

/// Runs a body that is told whether something holds, and is compiled once for each answer.
#[cfg_attr(optimized, inline(always))]
pub fn either<R>(holds: bool, body: impl FnOnce(bool) -> R) -> R {
    if holds {
        body(true)
    } else {
        body(false)
    }
}

/// An integer as a number of elements or of trips: 0 where it is negative.
#[cfg_attr(optimized, inline(always))]
pub fn extent<T: Scalar>(n: T) -> usize {
    match n.to_number() {
        Num::Int(n) => usize::try_from(n).unwrap_or(0),
        Num::Uint(n) => usize::try_from(n).unwrap_or(usize::MAX),
        _ => 0,
    }
}

/// The operations that a product of arrays is worth, from how many elements its target and its factors have: the
/// number of its multiplications is the root of their product where each index stands in two of them.
#[inline]
pub fn products(counts: &[usize]) -> usize {
    let multiplications = counts.iter().map(|n| *n as f64).product::<f64>().sqrt();
    (multiplications * MULTIPLICATION / OPERATION) as usize
}

/// Whether the sums of a loop have an order that must be kept.
#[cfg_attr(optimized, inline(always))]
pub fn is_fixed<C: Mode, A: Target>(cx: Context<'_, C>, targets: &A) -> bool {
    let _ = targets;
    A::SHARED && cx.deterministic()
}

/// How many threads a loop runs on.
#[inline]
fn workers<C: Mode>(cx: Context<'_, C>, count: usize, weight: usize) -> usize {
    if count.saturating_mul(weight) < cx.parallel_from() {
        1
    } else {
        cx.workers().min(count)
    }
}

/// Whether a loop runs on more threads than one.
#[inline]
pub fn on_several_threads<V: Visits, C: Mode>(cx: Context<'_, C>, visits: V, weight: usize) -> bool {
    workers(cx, visits.count(), weight) > 1
}

/// Whether a loop that accumulates into scattered elements of an array had better add atomically to
/// the array than to copies of it: zeroing and adding up copies for all threads would be a good part of the
/// loop's work, and its iterations do enough besides their additions, which take many times longer
/// when they are atomic. (A loop of which neither holds runs on one thread.)
#[inline]
pub fn atomics_pay<'a, V, C, H>(cx: Context<'_, C>, visits: V, weight: usize, array: H) -> bool
where
    V: Visits,
    C: Mode,
    H: Whole<'a>,
    H::Element: Linear,
{
    let work = visits.count().saturating_mul(weight);
    is_atomic::<H::Element>()
        && !cx.deterministic()
        && weight >= ATOMICS_FROM
        && work >= cx.parallel_from()
        && cx.workers() > 1
        && array.count().saturating_mul(cx.workers()) > work / 4
}

/// A loop on its way through the tree of the deterministic mode.
struct Tree<'a, C, A, F> {
    cx: Context<'a, C>,
    parallel: bool,
    targets: A,
    body: &'a F,
}

impl<C: Mode, A: Target, F> Tree<'_, C, A, F> {
    /// Runs a part of the range into a copy. The left part takes the largest power of two of
    /// leaves that leaves something over, which makes the sums pairwise.
    fn grow<V: Visits>(&self, steps: V) -> Result<A::Copy, Error>
    where
        F: Fn(Context<'_, C>, V, A) -> Result<(), Error> + Sync,
    {
        let leaves = tree::blocks(steps.count());
        if leaves <= 1 {
            return self.run_leaf(steps);
        }
        let (left, right) = steps.split_at(leaves.next_power_of_two() / 2 * tree::BLOCK);
        let (mut left, mut right) = if self.parallel {
            let (mut first, mut second) = (None, None);
            self.cx.join(|| first = Some(self.grow(left)), || second = Some(self.grow(right)));
            let done = |part: Option<_>| part.unwrap_or_else(|| Err(fail::no_copy()));
            (done(first)?, done(second)?)
        } else {
            (self.grow(left)?, self.grow(right)?)
        };
        // SAFETY: the handle is used for this call only.
        let sum = unsafe { self.targets.of(&mut left) };
        sum.ok_or_else(fail::no_copy)?.merge(self.cx, &mut right);
        Ok(left)
    }

    fn run_leaf<V: Visits>(&self, steps: V) -> Result<A::Copy, Error>
    where
        F: Fn(Context<'_, C>, V, A) -> Result<(), Error> + Sync,
    {
        let mut copy = self.targets.reserve().ok_or_else(fail::no_copy)?;
        A::complete(&mut copy);
        // SAFETY: the copy lives until the body has returned, and the body keeps no handle.
        let target = unsafe { self.targets.of(&mut copy) };
        (self.body)(self.cx, steps, target.ok_or_else(fail::no_copy)?)?;
        Ok(copy)
    }
}
