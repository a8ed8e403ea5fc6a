//! How an array becomes the argument of a called function, whose parameter may be another kind of
//! view than the one at hand.

use ndarray::{Array, Dim};

use crate::view::{Dynamic, Exclusive, Lend, Shared, Slice, Strided};

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
    #[cfg_attr(optimized, inline(always))]
    fn pass(self) -> Slice<'a, E, M> {
        self
    }
}

impl<'a, E, M> Pass<Strided<'a, E, 1, M>> for Slice<'a, E, M> {
    #[cfg_attr(optimized, inline(always))]
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
    #[cfg_attr(optimized, inline(always))]
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
    #[cfg_attr(optimized, inline(always))]
    fn pass(self) -> Dynamic<'a, E, M> {
        self
    }
}

/// Whatever isn't an array, and an array where one of its size is asked for.
impl<'a, P> Pass<&'a P> for &'a P {
    #[cfg_attr(optimized, inline(always))]
    fn pass(self) -> &'a P {
        self
    }
}

impl<'a, P> Pass<&'a mut P> for &'a mut P {
    #[cfg_attr(optimized, inline(always))]
    fn pass(self) -> &'a mut P {
        self
    }
}

macro_rules! lent {
    ($([$($length:tt)*] $t:ty => $to:ident $(<$rank:literal>)?;)*) => {$(
        impl<'a, E $($length)*> Pass<$to<'a, E, $($rank,)? Shared>> for &'a $t {
            #[cfg_attr(optimized, inline(always))]
            fn pass(self) -> $to<'a, E, $($rank,)? Shared> {
                self.reader().pass()
            }
        }
        impl<'a, E $($length)*> Pass<$to<'a, E, $($rank,)? Exclusive>> for &'a mut $t {
            #[cfg_attr(optimized, inline(always))]
            fn pass(self) -> $to<'a, E, $($rank,)? Exclusive> {
                self.writer().pass()
            }
        }
    )*};
}
lent! {
    [, const N: usize] [E; N] => Slice;
    [, const N: usize] [E; N] => Strided<1>;
    [, const N: usize] [E; N] => Dynamic;
    [] Vec<E> => Slice;
    [] Vec<E> => Strided<1>;
    [] Vec<E> => Dynamic;
    [] Array<E, Dim<[usize; 1]>> => Strided<1>;
    [] Array<E, Dim<[usize; 1]>> => Dynamic;
    [] Array<E, Dim<[usize; 2]>> => Strided<2>;
    [] Array<E, Dim<[usize; 2]>> => Dynamic;
    [] Array<E, Dim<[usize; 3]>> => Strided<3>;
    [] Array<E, Dim<[usize; 3]>> => Dynamic;
    [] Array<E, Dim<[usize; 4]>> => Strided<4>;
    [] Array<E, Dim<[usize; 4]>> => Dynamic;
}
