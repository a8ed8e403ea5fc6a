//! Values and shadows made of parts: each part is a pack of its own.

mod complex;
mod each;
mod shadow;

use each::{each_part, made};

use super::{Isa, LaneByLane, LaneMask, Laned, Layout, LinearRows, Pack};
use crate::scalar::{Batch, Complex, ComplexShadow, Linear, NoShadow, Real};
pub use complex::ComplexParts;

/// Each part by itself.
#[derive(Debug)]
pub struct InParts;

impl<P: Laned, const K: usize> Laned for [P; K] {
    type Lanes = [Pack<P>; K];
    type Rows = LaneByLane;
    const LAYOUT: Layout = P::LAYOUT;

    #[cfg_attr(optimized, inline(always))]
    fn cloned(pack: &Pack<Self>) -> Pack<Self> {
        Pack(made!(K, k => P::cloned(&pack.0[k])))
    }
    #[cfg_attr(optimized, inline(always))]
    fn broadcast<S: Isa>(s: S, v: Self) -> Pack<Self> {
        Pack(made!(K, k => P::broadcast(s, v[k].clone())))
    }
    #[cfg_attr(optimized, inline(always))]
    fn lane(pack: &Pack<Self>, k: usize) -> Self {
        made!(K, part => P::lane(&pack.0[part], k))
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
        each_part!(K, part => { P::set_lane(&mut pack.0[part], k, v[part].clone()) });
    }
    #[cfg_attr(optimized, inline(always))]
    fn astray<S: Isa>(s: S, pack: &Pack<Self>, finite: bool) -> LaneMask {
        let mut mask = 0;
        each_part!(K, k => { mask |= P::astray(s, &pack.0[k], finite) });
        mask
    }
    #[cfg_attr(optimized, inline(always))]
    fn select<S: Isa>(s: S, mask: LaneMask, a: Pack<Self>, b: Pack<Self>) -> Pack<Self> {
        Pack(made!(K, k => P::select(s, mask, a.0[k].clone(), b.0[k].clone())))
    }
}

impl<P: Linear, const K: usize> LinearRows<[P; K]> for InParts {
    #[cfg_attr(optimized, inline(always))]
    fn plus<S: Isa>(s: S, a: Pack<[P; K]>, b: Pack<[P; K]>) -> Pack<[P; K]> {
        Pack(made!(K, k => P::InLanes::plus(s, a.0[k].clone(), b.0[k].clone())))
    }
    #[cfg_attr(optimized, inline(always))]
    fn minus<S: Isa>(s: S, a: Pack<[P; K]>, b: Pack<[P; K]>) -> Pack<[P; K]> {
        Pack(made!(K, k => P::InLanes::minus(s, a.0[k].clone(), b.0[k].clone())))
    }
    #[cfg_attr(optimized, inline(always))]
    fn negated<S: Isa>(s: S, a: Pack<[P; K]>) -> Pack<[P; K]> {
        Pack(made!(K, k => P::InLanes::negated(s, a.0[k].clone())))
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum<S: Isa>(s: S, a: Pack<[P; K]>) -> [P; K] {
        made!(K, k => P::InLanes::sum(s, a.0[k].clone()))
    }
}

impl<T: Real, const N: usize> Laned for Batch<T, N> {
    type Lanes = [Pack<T>; N];
    type Rows = LaneByLane;
    const LAYOUT: Layout = T::LAYOUT;

    #[cfg_attr(optimized, inline(always))]
    fn cloned(pack: &Pack<Self>) -> Pack<Self> {
        Pack(made!(N, k => pack.0[k]))
    }
    #[cfg_attr(optimized, inline(always))]
    fn broadcast<S: Isa>(s: S, v: Self) -> Pack<Self> {
        Pack(made!(N, k => T::broadcast(s, v.0[k])))
    }
    #[cfg_attr(optimized, inline(always))]
    fn lane(pack: &Pack<Self>, k: usize) -> Self {
        Batch(made!(N, part => T::lane(&pack.0[part], k)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
        each_part!(N, part => { T::set_lane(&mut pack.0[part], k, v.0[part]) });
    }
    #[cfg_attr(optimized, inline(always))]
    fn select<S: Isa>(s: S, mask: LaneMask, a: Pack<Self>, b: Pack<Self>) -> Pack<Self> {
        Pack(made!(N, k => T::select(s, mask, a.0[k], b.0[k])))
    }
}

/// Types with the parts `re` and `im`.
macro_rules! complex {
    ($t:ident $rows:ident [$($bound:tt)*] [$($clause:tt)*]) => {
        impl<$($bound)*> Laned for $t<T> where $($clause)* {
            type Lanes = $t<Pack<T>>;
            type Rows = $rows;
            const LAYOUT: Layout = T::LAYOUT;

            #[cfg_attr(optimized, inline(always))]
            fn broadcast<S: Isa>(s: S, v: Self) -> Pack<Self> {
                Pack($t { re: T::broadcast(s, v.re), im: T::broadcast(s, v.im) })
            }
            #[cfg_attr(optimized, inline(always))]
            fn lane(pack: &Pack<Self>, k: usize) -> Self {
                $t { re: T::lane(&pack.0.re, k), im: <T as Laned>::lane(&pack.0.im, k) }
            }
            #[cfg_attr(optimized, inline(always))]
            fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
                T::set_lane(&mut pack.0.re, k, v.re);
                T::set_lane(&mut pack.0.im, k, v.im);
            }
            #[cfg_attr(optimized, inline(always))]
            fn astray<S: Isa>(s: S, pack: &Pack<Self>, finite: bool) -> LaneMask {
                T::astray(s, &pack.0.re, finite) | T::astray(s, &pack.0.im, finite)
            }
            #[cfg_attr(optimized, inline(always))]
            fn select<S: Isa>(s: S, mask: LaneMask, a: Pack<Self>, b: Pack<Self>) -> Pack<Self> {
                Pack($t { re: T::select(s, mask, a.0.re, b.0.re), im: T::select(s, mask, a.0.im, b.0.im) })
            }
        }
    };
}
complex!(Complex ComplexParts [T: Real] []);
complex!(ComplexShadow LaneByLane [T: Linear<Part = T>] [T::Over: Real]);

impl Laned for () {
    type Lanes = ();
    type Rows = LaneByLane;

    #[cfg_attr(optimized, inline(always))]
    fn broadcast<S: Isa>(_: S, (): ()) -> Pack<()> {
        Pack(())
    }
    #[cfg_attr(optimized, inline(always))]
    fn lane(_: &Pack<()>, _: usize) {}
    #[cfg_attr(optimized, inline(always))]
    fn set_lane(_: &mut Pack<()>, _: usize, (): ()) {}
}

impl<T> Laned for NoShadow<T> {
    type Lanes = ();
    type Rows = LaneByLane;

    #[cfg_attr(optimized, inline(always))]
    fn broadcast<S: Isa>(_: S, _: Self) -> Pack<Self> {
        Pack(())
    }
    #[cfg_attr(optimized, inline(always))]
    fn lane(_: &Pack<Self>, _: usize) -> Self {
        NoShadow::NEW
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_lane(_: &mut Pack<Self>, _: usize, _: Self) {}
}

macro_rules! tuples {
    ($(($($name:ident $k:tt)*))*) => {$(
        impl<$($name: Laned),*> Laned for ($($name,)*) {
            type Lanes = ($(Pack<$name>,)*);
            type Rows = LaneByLane;

            #[cfg_attr(optimized, inline(always))]
            fn broadcast<S: Isa>(s: S, v: Self) -> Pack<Self> {
                Pack(($($name::broadcast(s, v.$k),)*))
            }
            #[cfg_attr(optimized, inline(always))]
            fn lane(pack: &Pack<Self>, k: usize) -> Self {
                ($($name::lane(&pack.0.$k, k),)*)
            }
            #[cfg_attr(optimized, inline(always))]
            fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
                $($name::set_lane(&mut pack.0.$k, k, v.$k);)*
            }
            #[cfg_attr(optimized, inline(always))]
            fn astray<S: Isa>(s: S, pack: &Pack<Self>, finite: bool) -> LaneMask {
                0 $(| $name::astray(s, &pack.0.$k, finite))*
            }
            #[cfg_attr(optimized, inline(always))]
            fn select<S: Isa>(s: S, mask: LaneMask, a: Pack<Self>, b: Pack<Self>) -> Pack<Self> {
                Pack(($($name::select(s, mask, a.0.$k, b.0.$k),)*))
            }
        }

        impl<$($name: Linear),*> LinearRows<($($name,)*)> for InParts {
            #[cfg_attr(optimized, inline(always))]
            fn plus<S: Isa>(s: S, a: Pack<($($name,)*)>, b: Pack<($($name,)*)>) -> Pack<($($name,)*)> {
                Pack(($($name::InLanes::plus(s, a.0.$k, b.0.$k),)*))
            }
            #[cfg_attr(optimized, inline(always))]
            fn minus<S: Isa>(s: S, a: Pack<($($name,)*)>, b: Pack<($($name,)*)>) -> Pack<($($name,)*)> {
                Pack(($($name::InLanes::minus(s, a.0.$k, b.0.$k),)*))
            }
            #[cfg_attr(optimized, inline(always))]
            fn negated<S: Isa>(s: S, a: Pack<($($name,)*)>) -> Pack<($($name,)*)> {
                Pack(($($name::InLanes::negated(s, a.0.$k),)*))
            }
            #[cfg_attr(optimized, inline(always))]
            fn sum<S: Isa>(s: S, a: Pack<($($name,)*)>) -> ($($name,)*) {
                ($($name::InLanes::sum(s, a.0.$k),)*)
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7)
}
