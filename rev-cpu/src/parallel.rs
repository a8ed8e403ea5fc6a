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
//! * In deterministic mode (`ordered.rs`) the range is cut into leaves, which with the order of their sums are those
//!   of [`rev_core::tree`]. They depend on the number of iterations alone: the same bits on any number
//!   of threads, one included, and on every device.
//!
//! A target that is large against the work of the loop (a gradient scattered through an index
//! array) would spend more on zeroing and adding copies than on the loop. Outside the deterministic
//! mode such a loop adds atomically to the target itself, where its elements allow it
//! ([`atomics_pay`]); else it gets fewer threads.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rev_core::error::Error;
use rev_core::scalar::{Linear, Num, Primal, Scalar};

use crate::atomic::is_atomic;
use crate::blocks::{self, Sums};
use crate::context::{Context, Mode};
use crate::fail;
use crate::ordered;
pub use crate::ordered::SumsInOrder;
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
    /// Exchanges what it holds with a whole copy.
    fn exchange(self, copy: &mut Self::Copy);
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
    fn exchange(self, (): &mut ()) {}
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
    fn exchange(self, copy: &mut Self::Copy) {
        self.0.exchange(&mut copy.0);
        self.1.exchange(&mut copy.1);
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
    /// Whether it changes nothing it is combined with, but for the sign of a zero.
    fn is_neutral(e: &E) -> bool;
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
    #[cfg_attr(optimized, inline(always))]
    fn is_neutral(e: &E) -> bool {
        e.is_zero()
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
    #[cfg_attr(optimized, inline(always))]
    fn is_neutral(e: &E) -> bool {
        e.load() == e.zeros().load()
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
    #[cfg_attr(optimized, inline(always))]
    fn is_neutral(e: &E) -> bool {
        e.load() == e.zeros().load()
    }
}

/// One of these, but only with what isn't neutral: an element without terms may be another thread's, and isn't touched.
#[derive(Clone, Copy, Debug)]
pub struct Touched<O>(pub O);

impl<E, O: Combine<E>> Combine<E> for Touched<O> {
    const ROUNDED: bool = O::ROUNDED;
    #[cfg_attr(optimized, inline(always))]
    fn neutral(like: &E) -> E {
        O::neutral(like)
    }
    #[cfg_attr(optimized, inline(always))]
    fn combine(a: &mut E, b: &E) {
        if !O::is_neutral(b) {
            O::combine(a, b);
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn is_neutral(e: &E) -> bool {
        O::is_neutral(e)
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
    fn exchange(self, copy: &mut P) {
        std::mem::swap(self.1.get(), copy);
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
    fn exchange(self, copy: &mut Option<P>) {
        if let (Some(element), Some(copy)) = (self.1, copy) {
            std::mem::swap(element.get(), copy);
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
    fn exchange(self, copy: &mut Self::Copy) {
        self.1.cells_in_order().zip(copy.elements()).for_each(|(a, b)| std::mem::swap(a, b));
    }
}
    };
}
array_target!(Slice<'a, E, Exclusive>);
array_target!(Strided<'a, E, R, Exclusive>, const R: usize);
array_target!(Dynamic<'a, E, Exclusive>);

/// An array in which all elements that are accumulated into have the same index along some axes.
#[derive(Clone, Copy, Debug)]
pub struct CommonPart<H, const R: usize> {
    /// The array; a copy of the part stands at each index along those axes.
    pub all: H,
    at: [Option<usize>; R],
}

impl<H, const R: usize> CommonPart<H, R> {
    /// Of an array, and the index along each axis that has one.
    pub fn new(all: H, at: [Option<usize>; R]) -> Self {
        CommonPart { all, at }
    }
}

/// Of the array there are copies of the part only.
impl<'a, E: Clone + Send + Sync + 'a, const R: usize, O: Combine<E>> Target
    for By<O, CommonPart<Strided<'a, E, R, Exclusive>, R>>
{
    const SHARED: bool = true;
    const ROUNDED: bool = O::ROUNDED;
    type Copy = Scratch<E>;
    fn cells(self) -> usize {
        By(self.0, self.1.all.at_indices(self.1.at)).cells()
    }
    fn reserve(self) -> Option<Self::Copy> {
        By(self.0, self.1.all.at_indices(self.1.at)).reserve()
    }
    fn complete(copy: &mut Self::Copy) {
        <By<O, Strided<'a, E, R, Exclusive>>>::complete(copy);
    }
    fn renew(copy: &mut Self::Copy) {
        <By<O, Strided<'a, E, R, Exclusive>>>::renew(copy);
    }
    unsafe fn of(self, copy: &mut Self::Copy) -> Option<Self> {
        let CommonPart { all, at } = self.1;
        // SAFETY: as required of the caller.
        let part = unsafe { all.at_indices(at).over(copy.elements()) }?;
        Some(By(self.0, CommonPart { all: part.repeated(at, all.shape()), at }))
    }
    fn merge<C: Mode>(self, cx: Context<'_, C>, copy: &mut Self::Copy) {
        By(self.0, self.1.all.at_indices(self.1.at)).merge(cx, copy);
    }
    fn exchange(self, copy: &mut Self::Copy) {
        By(self.0, self.1.all.at_indices(self.1.at)).exchange(copy);
    }
}

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
    let workers = workers(cx, steps.count(), weight);
    if workers > 1 || is_fixed(cx, &targets) {
        return cut(cx, steps, [weight, group], workers, targets, body);
    }
    blocks::run(cx, steps, [weight, group], Sums::OfAll, targets, body)
}

/// The same in parts, for threads or for sums in an order that is kept.
#[inline(never)]
fn cut<V, A, C, F>(
    cx: Context<'_, C>,
    visits: V,
    work: [usize; 2],
    workers: usize,
    targets: A,
    body: F,
) -> Result<(), Error>
where
    V: Visits,
    A: Target,
    C: Mode,
    F: Fn(Context<'_, C>, V, A) -> Result<(), Error> + Sync,
{
    let fixed = is_fixed(cx, &targets);
    let (sums, copies) =
        if fixed { (Sums::InOrder, ordered::copies(visits.count())) } else { (Sums::OfPart, workers - 1) };
    let totals = Totals { targets, copies: Copies::up_to(copies).ok_or_else(fail::no_copy)? };
    let parts = Loop { cx, visits, work, sums, totals, body };
    let cx = cx.restoring();
    match fixed {
        true => ordered::sum(cx, &parts, visits.count(), workers),
        false => schedule::share(cx, &parts, visits.count(), targets.cells(), work, workers),
    }
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

/// Runs a body, whose first error is its own.
///
/// # Errors
///
/// The one of the body.
#[cfg_attr(optimized, inline(always))]
pub fn as_one(body: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    body()
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

/// A loop as those see it that cut it into parts, whatever its body and its targets are: they are compiled once for all
/// loops. Iterations have numbers, and so has what they add to: 0 is the targets themselves, from 1 on are copies.
pub(crate) trait Parts: Sync {
    /// Takes room for a copy. Whether there was any.
    fn reserve(&self, copy: usize) -> bool;
    /// Makes a copy whole: it starts at the neutral element.
    fn complete(&self, copy: usize);
    /// Runs some iterations on the calling thread, with so many threads for loops inside them.
    ///
    /// # Errors
    ///
    /// Of the first one that fails.
    fn run(&self, iterations: Range<usize>, into: usize, workers: usize) -> Result<(), Error>;
    /// Adds a copy to another or to the targets, on so many threads, and gives its room back.
    fn merge(&self, into: usize, copy: usize, workers: usize);
}

/// A loop that is cut into parts.
struct Loop<'a, V, A: Target, C, F> {
    cx: Context<'a, C>,
    visits: V,
    work: [usize; 2],
    sums: Sums,
    totals: Totals<A>,
    body: F,
}

/// What a loop adds to, and copies of it: compiled once for all loops that add to the like.
struct Totals<A: Target> {
    targets: A,
    copies: Copies<A::Copy>,
}

/// The targets, or those over a copy.
///
/// # Safety
///
/// They must not be used after the copy is dropped or moved.
unsafe fn over<A: Target>(targets: A, copy: Option<&mut Option<A::Copy>>) -> Option<A> {
    match copy {
        None => Some(targets),
        // SAFETY: as required of the caller.
        Some(copy) => unsafe { targets.of(copy.as_mut()?) },
    }
}

/// Copies, each of which a thread has at a time: the first, which needs no memory for its place, and others.
struct Copies<T>(Slot<T>, Vec<Slot<T>>);

/// A copy, if there is one now.
type Slot<T> = Mutex<Option<T>>;

impl<T> Copies<T> {
    /// Places for so many. `None` when out of memory.
    fn up_to(count: usize) -> Option<Copies<T>> {
        let mut others = Vec::new();
        others.try_reserve_exact(count.saturating_sub(1)).ok()?;
        others.resize_with(count.saturating_sub(1), Slot::default);
        Some(Copies(Slot::default(), others))
    }

    /// The place of a copy; `None` for 0, which is none.
    fn place(&self, copy: usize) -> Option<MutexGuard<'_, Option<T>>> {
        let slot = match copy.checked_sub(1)? {
            0 => &self.0,
            k => self.1.get(k - 1)?,
        };
        Some(slot.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes a copy out of its place.
    fn take(&self, copy: usize) -> Option<T> {
        self.place(copy)?.take()
    }

    /// Puts one there. Whether it was one.
    fn put(&self, copy: usize, new: Option<T>) -> bool {
        let is_there = new.is_some();
        if let Some(mut place) = self.place(copy) {
            *place = new;
        }
        is_there
    }
}

impl<A: Target> Totals<A> {
    #[inline(never)]
    fn reserve(&self, copy: usize) -> bool {
        self.copies.put(copy, self.targets.reserve())
    }

    #[inline(never)]
    fn complete(&self, copy: usize) {
        if let Some(copy) = self.copies.place(copy).as_deref_mut().and_then(Option::as_mut) {
            A::complete(copy);
        }
    }

    #[inline(never)]
    fn merge<C: Mode>(&self, cx: Context<'_, C>, into: usize, copy: usize) {
        let copy = self.copies.take(copy);
        let mut place = self.copies.place(into);
        // SAFETY: the place is locked meanwhile.
        let targets = unsafe { over(self.targets, place.as_deref_mut()) };
        if let (Some(targets), Some(mut copy)) = (targets, copy) {
            targets.merge(cx, &mut copy);
        }
    }
}

impl<V, A, C, F> Parts for Loop<'_, V, A, C, F>
where
    V: Visits,
    A: Target,
    C: Mode,
    F: Fn(Context<'_, C>, V, A) -> Result<(), Error> + Sync,
{
    fn reserve(&self, copy: usize) -> bool {
        self.totals.reserve(copy)
    }

    fn complete(&self, copy: usize) {
        self.totals.complete(copy);
    }

    fn run(&self, iterations: Range<usize>, into: usize, workers: usize) -> Result<(), Error> {
        let part = self.visits.split_at(iterations.start).1.split_at(iterations.len()).0;
        let mut place = self.totals.copies.place(into);
        // SAFETY: the place is locked until the body has returned, which keeps no handle.
        let targets = unsafe { over(self.totals.targets, place.as_deref_mut()) }.ok_or_else(fail::no_copy)?;
        blocks::run(self.cx.with_workers(workers), part, self.work, self.sums, targets, &self.body)
    }

    fn merge(&self, into: usize, copy: usize, workers: usize) {
        self.totals.merge(self.cx.with_workers(workers), into, copy);
    }
}
