//! Values and shadows made of parts: each part is a pack of its own.

use super::{LaneByLane, Laned, Layout, Pack};
use crate::scalar::{Batch, Complex, ComplexShadow, Linear, NoShadow, Real};

impl<P: Laned, const K: usize> Laned for [P; K] {
    type Lanes = [Pack<P>; K];
    type Rows = LaneByLane;
    const LAYOUT: Layout = P::LAYOUT;

    #[inline(always)]
    fn splat(v: Self) -> Pack<Self> {
        Pack(v.map(P::splat))
    }
    #[inline(always)]
    fn lane(pack: &Pack<Self>, k: usize) -> Self {
        std::array::from_fn(|i| P::lane(&pack.0[i], k))
    }
    #[inline(always)]
    fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
        pack.0.iter_mut().zip(v).for_each(|(part, v)| P::set_lane(part, k, v));
    }
}

impl<T: Real, const N: usize> Laned for Batch<T, N> {
    type Lanes = [Pack<T>; N];
    type Rows = LaneByLane;
    const LAYOUT: Layout = T::LAYOUT;

    #[inline(always)]
    fn splat(v: Self) -> Pack<Self> {
        Pack(v.0.map(T::splat))
    }
    #[inline(always)]
    fn lane(pack: &Pack<Self>, k: usize) -> Self {
        Batch(std::array::from_fn(|i| T::lane(&pack.0[i], k)))
    }
    #[inline(always)]
    fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
        pack.0.iter_mut().zip(v.0).for_each(|(part, v)| T::set_lane(part, k, v));
    }
}

/// Types with the parts `re` and `im`.
macro_rules! complex {
    ($t:ident [$($bound:tt)*] [$($clause:tt)*]) => {
        impl<$($bound)*> Laned for $t<T> where $($clause)* {
            type Lanes = $t<Pack<T>>;
            type Rows = LaneByLane;
            const LAYOUT: Layout = T::LAYOUT;

            #[inline(always)]
            fn splat(v: Self) -> Pack<Self> {
                Pack($t { re: T::splat(v.re), im: T::splat(v.im) })
            }
            #[inline(always)]
            fn lane(pack: &Pack<Self>, k: usize) -> Self {
                $t { re: T::lane(&pack.0.re, k), im: <T as Laned>::lane(&pack.0.im, k) }
            }
            #[inline(always)]
            fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
                T::set_lane(&mut pack.0.re, k, v.re);
                T::set_lane(&mut pack.0.im, k, v.im);
            }
        }
    };
}
complex!(Complex [T: Real] []);
complex!(ComplexShadow [T: Linear<Part = T>] [T::Over: Real]);

impl Laned for () {
    type Lanes = ();
    type Rows = LaneByLane;

    #[inline(always)]
    fn splat((): ()) -> Pack<()> {
        Pack(())
    }
    #[inline(always)]
    fn lane(_: &Pack<()>, _: usize) {}
    #[inline(always)]
    fn set_lane(_: &mut Pack<()>, _: usize, (): ()) {}
}

impl<T> Laned for NoShadow<T> {
    type Lanes = ();
    type Rows = LaneByLane;

    #[inline(always)]
    fn splat(_: Self) -> Pack<Self> {
        Pack(())
    }
    #[inline(always)]
    fn lane(_: &Pack<Self>, _: usize) -> Self {
        NoShadow::NEW
    }
    #[inline(always)]
    fn set_lane(_: &mut Pack<Self>, _: usize, _: Self) {}
}

macro_rules! tuples {
    ($(($($name:ident $k:tt)*))*) => {$(
        impl<$($name: Laned),*> Laned for ($($name,)*) {
            type Lanes = ($(Pack<$name>,)*);
            type Rows = LaneByLane;

            #[inline(always)]
            fn splat(v: Self) -> Pack<Self> {
                Pack(($($name::splat(v.$k),)*))
            }
            #[inline(always)]
            fn lane(pack: &Pack<Self>, k: usize) -> Self {
                ($($name::lane(&pack.0.$k, k),)*)
            }
            #[inline(always)]
            fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
                $($name::set_lane(&mut pack.0.$k, k, v.$k);)*
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
