//! What a step is: three kinds, and the trait behind them.

use std::marker::PhantomData;

use super::{Cause, State};

/// A step of a loop, and its adjoint. Both have to do the same each time they are called with the same step and state.
pub trait Step {
    /// What a step changes.
    type State: State;
    /// What the adjoint changes: the cotangents of the state, gradients by parameters, the loss.
    type Cotangent: State;

    /// Whether the adjoint starts from the state after the step, not from the one before it. A run whose length is known
    /// then keeps the states from the first step's on, so that no adjoint calls the step.
    const FROM_AFTER: bool = false;

    /// Makes the state after step `step` of the one before it.
    ///
    /// # Errors
    ///
    /// Whatever stops the step.
    fn advance(&mut self, step: u64, state: &mut Self::State) -> Result<(), Cause>;

    /// Takes the cotangents of the state after step `step` to those of the state before it. That state is given, or the one after it where
    /// [`Step::FROM_AFTER`] says so, and may be left as anything. Called once for each step, the last one first.
    ///
    /// # Errors
    ///
    /// Whatever stops it.
    fn adjoint(
        &mut self,
        step: u64,
        state: &mut Self::State,
        cotangent: &mut Self::Cotangent,
    ) -> Result<(), Cause>;

    /// Where a run gets its states' memory from, and leaves it at its end; without it the memory is allocated, and freed.
    fn pool(&mut self) -> Option<&mut Pool<Self::State>> {
        None
    }

    /// The same step, whose runs get their states' memory from a pool.
    fn in_pool(self, pool: &mut Pool<Self::State>) -> InPool<'_, Self>
    where
        Self: Sized,
    {
        InPool { step: self, pool }
    }
}

/// Memory for states that a run leaves for the next one: many gradients in a row then allocate once.
#[derive(Clone, Debug)]
pub struct Pool<S>(Vec<S>);

impl<S> Pool<S> {
    /// An empty one.
    pub const fn new() -> Pool<S> {
        Pool(Vec::new())
    }

    /// For how many states it has memory.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self) -> Option<S> {
        self.0.pop()
    }

    pub(super) fn leave(&mut self, states: impl IntoIterator<Item = S>) {
        self.0.extend(states);
    }
}

impl<S> Default for Pool<S> {
    fn default() -> Pool<S> {
        Pool::new()
    }
}

/// A step whose runs get their states' memory from a pool: [`Step::in_pool`].
#[derive(Debug)]
pub struct InPool<'p, P: Step> {
    step: P,
    pool: &'p mut Pool<P::State>,
}

impl<P: Step> Step for InPool<'_, P> {
    type State = P::State;
    type Cotangent = P::Cotangent;
    const FROM_AFTER: bool = P::FROM_AFTER;

    fn advance(&mut self, step: u64, state: &mut P::State) -> Result<(), Cause> {
        self.step.advance(step, state)
    }

    fn adjoint(
        &mut self,
        step: u64,
        state: &mut P::State,
        cotangent: &mut P::Cotangent,
    ) -> Result<(), Cause> {
        self.step.adjoint(step, state, cotangent)
    }

    fn pool(&mut self) -> Option<&mut Pool<P::State>> {
        Some(self.pool)
    }
}

/// No loss but that of the last state, whose cotangents are set before the run.
///
/// # Errors
///
/// None.
pub fn no_loss<S, C>(_: u64, _: &S, _: &mut C) -> Result<(), Cause> {
    Ok(())
}

/// A step in plain Rust: [`plain`].
#[derive(Clone, Debug)]
pub struct Plain<F, A, S, C> {
    step: F,
    adjoint: A,
    of: PhantomData<fn(S, C)>,
}

/// A step in plain Rust, with its adjoint at the state before it, which adds the loss of the step too.
pub fn plain<S, C, F, A>(step: F, adjoint: A) -> Plain<F, A, S, C>
where
    F: FnMut(u64, &mut S) -> Result<(), Cause>,
    A: FnMut(u64, &S, &mut C) -> Result<(), Cause>,
{
    Plain { step, adjoint, of: PhantomData }
}

impl<S: State, C: State, F, A> Step for Plain<F, A, S, C>
where
    F: FnMut(u64, &mut S) -> Result<(), Cause>,
    A: FnMut(u64, &S, &mut C) -> Result<(), Cause>,
{
    type State = S;
    type Cotangent = C;

    fn advance(&mut self, step: u64, state: &mut S) -> Result<(), Cause> {
        (self.step)(step, state)
    }

    fn adjoint(&mut self, step: u64, state: &mut S, cotangent: &mut C) -> Result<(), Cause> {
        (self.adjoint)(step, state, cotangent)
    }
}

/// A reversible function that changes the state: [`in_place`].
#[derive(Clone, Debug)]
pub struct InPlace<F, L, A, S, C> {
    step: F,
    loss: L,
    adjoint: A,
    of: PhantomData<fn(S, C)>,
}

/// A reversible function that changes the state: `step` runs it, and `adjoint` its adjoint, from the state after it with its cotangents to
/// the state before it with its own, as `f::adjoint` does. Between them `loss` adds the loss of the state after the step, and
/// its derivatives to the cotangents.
pub fn in_place<S, C, F, L, A>(step: F, loss: L, adjoint: A) -> InPlace<F, L, A, S, C>
where
    F: FnMut(u64, &mut S) -> Result<(), Cause>,
    L: FnMut(u64, &S, &mut C) -> Result<(), Cause>,
    A: FnMut(u64, &mut S, &mut C) -> Result<(), Cause>,
{
    InPlace { step, loss, adjoint, of: PhantomData }
}

impl<S: State, C: State, F, L, A> Step for InPlace<F, L, A, S, C>
where
    F: FnMut(u64, &mut S) -> Result<(), Cause>,
    L: FnMut(u64, &S, &mut C) -> Result<(), Cause>,
    A: FnMut(u64, &mut S, &mut C) -> Result<(), Cause>,
{
    type State = S;
    type Cotangent = C;
    const FROM_AFTER: bool = true;

    fn advance(&mut self, step: u64, state: &mut S) -> Result<(), Cause> {
        (self.step)(step, state)
    }

    fn adjoint(&mut self, step: u64, state: &mut S, cotangent: &mut C) -> Result<(), Cause> {
        (self.loss)(step, state, cotangent)?;
        (self.adjoint)(step, state, cotangent)
    }
}

/// A reversible function that makes a new state from an old one: [`from_old`].
#[derive(Clone, Debug)]
pub struct FromOld<F, L, A, S, C> {
    next: S,
    step: F,
    loss: L,
    adjoint: A,
    of: PhantomData<fn(C)>,
}

/// A reversible function `f(new, old)` that adds the new state to zeros, and drops the old one. `step` runs it on `(new, old)`, and
/// `adjoint` its adjoint, with the cotangents of `new` in the cotangent, which has those of `old` afterwards. Between
/// them `loss` adds the loss of the new state, and its derivatives to the cotangents. `like` is a value of the state's
/// shape: room for the new one, beside the states that the schedule counts.
pub fn from_old<S: State, C, F, L, A>(like: S, step: F, loss: L, adjoint: A) -> FromOld<F, L, A, S, C>
where
    F: FnMut(u64, &mut S, &S) -> Result<(), Cause>,
    L: FnMut(u64, &S, &mut C) -> Result<(), Cause>,
    A: FnMut(u64, &mut S, &S, &mut C) -> Result<(), Cause>,
{
    FromOld { next: like, step, loss, adjoint, of: PhantomData }
}

impl<S: State, C: State, F, L, A> Step for FromOld<F, L, A, S, C>
where
    F: FnMut(u64, &mut S, &S) -> Result<(), Cause>,
    L: FnMut(u64, &S, &mut C) -> Result<(), Cause>,
    A: FnMut(u64, &mut S, &S, &mut C) -> Result<(), Cause>,
{
    type State = S;
    type Cotangent = C;

    fn advance(&mut self, step: u64, state: &mut S) -> Result<(), Cause> {
        self.next.clear();
        (self.step)(step, &mut self.next, state)?;
        std::mem::swap(&mut self.next, state);
        Ok(())
    }

    fn adjoint(&mut self, step: u64, state: &mut S, cotangent: &mut C) -> Result<(), Cause> {
        self.next.clear();
        (self.step)(step, &mut self.next, state)?;
        (self.loss)(step, &self.next, cotangent)?;
        (self.adjoint)(step, &mut self.next, state, cotangent)
    }
}
