//! The explicit stack of the language: for what can't be uncomputed.

use crate::lanes::LaneByLane;
use crate::scalar::{Linear, Mismatch, NoShadow, Primal, Zero};
use crate::tolerance::Tolerances;

/// A stack of values. `push(stack, x)` moves the value of `x` to it and leaves zero, `pop(stack, x)`
/// moves the top to `x`, which must hold zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stack<T>(Vec<T>);

impl<T> Stack<T> {
    /// An empty stack.
    pub const fn new() -> Self {
        Stack(Vec::new())
    }

    /// An empty stack with room for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Self {
        Stack(Vec::with_capacity(capacity))
    }

    /// How many values it has room for without growing.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// The values, to be replaced by others.
    pub(super) fn values_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }

    /// Puts a value on top.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.0.push(value);
    }

    /// Takes the top off, `None` where the stack is empty.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values, the bottom first.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

impl<T> From<Vec<T>> for Stack<T> {
    /// A stack whose top is the last element.
    fn from(values: Vec<T>) -> Self {
        Stack(values)
    }
}

impl<T> From<Stack<T>> for Vec<T> {
    fn from(stack: Stack<T>) -> Self {
        stack.0
    }
}

impl<T> Zero for Stack<T> {
    fn zero() -> Self {
        Stack::new()
    }
}

impl<S: Linear> Linear for Stack<S> {
    type Over = Stack<S::Over>;
    type Part = NoShadow<()>;
    type InLanes = LaneByLane;

    fn accumulate(&mut self, v: &Self) {
        self.0.accumulate(&v.0);
    }
    fn deduct(&mut self, v: &Self) {
        self.0.deduct(&v.0);
    }
    fn negate(&mut self) {
        self.0.negate();
    }
    fn set_zero(&mut self) {
        self.0.set_zero();
    }
    fn is_zero(&self) -> bool {
        self.0.is_zero()
    }
}

impl<P: Primal> Primal for Stack<P> {
    type RealPart = ();
    type Shadow<const N: usize> = Stack<P::Shadow<N>>;
    type Gradient = Stack<P::Gradient>;

    fn gradient(shadow: Self::Shadow<1>) -> Self::Gradient {
        Stack(shadow.0.into_iter().map(P::gradient).collect())
    }
    fn cotangent(gradient: Self::Gradient) -> Self::Shadow<1> {
        Stack(gradient.0.into_iter().map(P::cotangent).collect())
    }

    fn zero_shadow<const N: usize>(&self) -> Self::Shadow<N> {
        Stack(self.0.zero_shadow())
    }
    fn zero_like(&self) -> Self {
        Stack::new()
    }
    const HAS_ARRAYS: bool = true;
    const HAS_SUMS: bool = P::HAS_SUMS;
    fn add_each(&mut self, by: &Self, negative: bool) {
        self.0.add_each(&by.0, negative);
    }
    fn magnitude(&self) -> f64 {
        self.0.magnitude()
    }
    fn compare(&self, expected: &Self, t: &Tolerances, held: Option<f64>) -> Result<(), Mismatch> {
        self.0.compare(&expected.0, t, held)
    }
}
