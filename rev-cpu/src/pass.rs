//! How an array becomes the argument of a called function, whose parameter may be another kind of
//! view than the one at hand.

use crate::view::{Dynamic, Exclusive, Shared, Slice, Strided};

/// A handle that can be passed for a parameter that the callee sees as a `To`.
#[diagnostic::on_unimplemented(
    message = "an array seen as `{Self}` can't be passed to a parameter seen as `{To}`",
    label = "in this call",
    note = "write `&mut a` for a parameter that the function changes and `&a` for one that it reads",
    note = "a slice, vector or fixed-size array can be passed to an `ArrayView`, but a view with strides not to a slice"
)]
pub trait Pass<To> {
    /// The same elements.
    fn pass(self) -> To;
}

impl<'a, E, M> Pass<Slice<'a, E, M>> for Slice<'a, E, M> {
    #[inline(always)]
    fn pass(self) -> Slice<'a, E, M> {
        self
    }
}

impl<'a, E, M> Pass<Strided<'a, E, 1, M>> for Slice<'a, E, M> {
    #[inline(always)]
    fn pass(self) -> Strided<'a, E, 1, M> {
        self.into()
    }
}

impl<'a, E, M> Pass<Dynamic<'a, E, M>> for Slice<'a, E, M> {
    fn pass(self) -> Dynamic<'a, E, M> {
        self.into()
    }
}

impl<'a, E, const R: usize, M> Pass<Strided<'a, E, R, M>> for Strided<'a, E, R, M> {
    #[inline(always)]
    fn pass(self) -> Strided<'a, E, R, M> {
        self
    }
}

impl<'a, E, const R: usize, M> Pass<Dynamic<'a, E, M>> for Strided<'a, E, R, M> {
    fn pass(self) -> Dynamic<'a, E, M> {
        self.into()
    }
}

impl<'a, E, M> Pass<Dynamic<'a, E, M>> for Dynamic<'a, E, M> {
    #[inline(always)]
    fn pass(self) -> Dynamic<'a, E, M> {
        self
    }
}

/// Whatever isn't an array, and an array where one of its size is asked for.
impl<'a, P> Pass<&'a P> for &'a P {
    #[inline(always)]
    fn pass(self) -> &'a P {
        self
    }
}

impl<'a, E, const N: usize> Pass<Slice<'a, E, Shared>> for &'a [E; N] {
    #[inline(always)]
    fn pass(self) -> Slice<'a, E, Shared> {
        Slice::shared(self)
    }
}

impl<'a, E, const N: usize> Pass<Strided<'a, E, 1, Shared>> for &'a [E; N] {
    #[inline(always)]
    fn pass(self) -> Strided<'a, E, 1, Shared> {
        Slice::shared(self).into()
    }
}

impl<'a, P> Pass<&'a mut P> for &'a mut P {
    #[inline(always)]
    fn pass(self) -> &'a mut P {
        self
    }
}

impl<'a, E, const N: usize> Pass<Slice<'a, E, Exclusive>> for &'a mut [E; N] {
    #[inline(always)]
    fn pass(self) -> Slice<'a, E, Exclusive> {
        Slice::exclusive(self)
    }
}

impl<'a, E, const N: usize> Pass<Strided<'a, E, 1, Exclusive>> for &'a mut [E; N] {
    #[inline(always)]
    fn pass(self) -> Strided<'a, E, 1, Exclusive> {
        Slice::exclusive(self).into()
    }
}

impl<'a, E, const N: usize> Pass<Dynamic<'a, E, Shared>> for &'a [E; N] {
    fn pass(self) -> Dynamic<'a, E, Shared> {
        Slice::shared(self).into()
    }
}

impl<'a, E, const N: usize> Pass<Dynamic<'a, E, Exclusive>> for &'a mut [E; N] {
    fn pass(self) -> Dynamic<'a, E, Exclusive> {
        Slice::exclusive(self).into()
    }
}
