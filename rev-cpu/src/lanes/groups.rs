//! A loop's values in groups of one for each lane, and the code that runs them on the instruction set
//! at hand.

use rev_core::lanes::{Level, WIDTH};
use rev_core::scalar::{Integer, Ring};

use super::index::Lin;
use crate::context::Context;
use crate::steps::Visits;

/// The full groups of a loop, each as its values in the lanes.
#[derive(Clone, Copy, Debug)]
pub struct Groups<V: Visits> {
    next: Lin<V::Item>,
    advance: V::Item,
    left: usize,
    level: Level,
}

/// The instruction set of a loop's groups, `None` where there is no group.
#[inline(always)]
pub fn level<V: Visits>(groups: &Groups<V>) -> Option<Level> {
    (groups.left > 0).then_some(groups.level)
}

/// The values of a loop that run in lanes, and those that are left over for one after the other: all
/// of them where the order of sums is `fixed`, or where lanes are turned off.
#[inline(always)]
pub fn split<V: Visits, C>(cx: Context<'_, C>, fixed: bool, visits: V) -> (Groups<V>, V) {
    let level = if fixed { None } else { cx.lanes() };
    let count = level.map_or(0, |_| visits.count() / WIDTH);
    let (grouped, rest) = visits.split_at(count * WIDTH);
    let (next, advance) = grouped.group();
    (Groups { next, advance, left: count, level: level.unwrap_or(Level::Portable) }, rest)
}

impl<V: Visits<Item: Integer>> Iterator for Groups<V> {
    type Item = Lin<V::Item>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let group = self.next;
        self.next.first = group.first.plus(self.advance);
        Some(group)
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// Whether this program has code for an instruction set, and the processor too.
pub fn runs(level: Level) -> bool {
    let compiled = match level {
        Level::Avx512 | Level::Avx2 => cfg!(target_arch = "x86_64"),
        Level::Neon => cfg!(target_arch = "aarch64"),
        Level::Portable => !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
    };
    compiled && level.available()
}

/// Functions that run a closure for an instruction set. What is inlined into them is compiled for it.
macro_rules! with {
    ($($(#[$if:meta])? $name:ident $token:ident $features:literal;)*) => {$(
        $(#[$if])?
        #[doc = concat!("Runs a loop's groups, whose level is ", stringify!($token), ".")]
        ///
        /// # Panics
        ///
        /// Where the level is another.
        #[inline(always)]
        pub fn $name<V: Visits, R>(
            groups: Groups<V>,
            body: impl FnOnce(rev_core::lanes::$token, Groups<V>) -> R,
        ) -> R {
            use rev_core::lanes::{Isa, $token};
            #[target_feature(enable = $features)]
            unsafe fn inside<V: Visits, R>(groups: Groups<V>, body: impl FnOnce($token, Groups<V>) -> R) -> R {
                // SAFETY: the caller has seen that the processor has the instructions.
                body(unsafe { $token::assume() }, groups)
            }
            assert!(matches!(groups.level, Level::$token));
            // SAFETY: groups are made of levels that the processor has only.
            unsafe { inside(groups, body) }
        }
    )*};
}
with! {
    #[cfg(target_arch = "x86_64")]
    with_avx512 Avx512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma";
    #[cfg(target_arch = "x86_64")]
    with_avx2 Avx2 "avx2,fma";
    #[cfg(target_arch = "aarch64")]
    with_neon Neon "neon";
}

/// Runs a loop's groups in plain loops over the lanes.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
pub fn with_portable<V: Visits, R>(
    groups: Groups<V>,
    body: impl FnOnce(rev_core::lanes::Portable, Groups<V>) -> R,
) -> R {
    // SAFETY: plain loops run on any processor.
    body(unsafe { rev_core::lanes::Isa::assume() }, groups)
}

/// `vectorize!(groups, |s, groups| body)`: the value of the body, a `Result<(), Error>`, compiled for each
/// instruction set of the architecture and run for that of the groups, with its token as `s`; `Ok(())` where
/// there is no group.
#[cfg(target_arch = "x86_64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __vectorize {
    ($groups:expr, |$s:pat_param, $g:pat_param| $body:expr) => {{
        let __groups = $groups;
        match $crate::__private::lanes::level(&__groups) {
            ::core::option::Option::None => ::core::result::Result::Ok(()),
            ::core::option::Option::Some($crate::__private::lanes::Level::Avx512) => {
                $crate::__private::lanes::with_avx512(
                    __groups,
                    #[inline(always)]
                    |$s, $g| $body,
                )
            }
            ::core::option::Option::Some(_) => $crate::__private::lanes::with_avx2(
                __groups,
                #[inline(always)]
                |$s, $g| $body,
            ),
        }
    }};
}

/// As for x86-64.
#[cfg(target_arch = "aarch64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __vectorize {
    ($groups:expr, |$s:pat_param, $g:pat_param| $body:expr) => {{
        let __groups = $groups;
        match $crate::__private::lanes::level(&__groups) {
            ::core::option::Option::None => ::core::result::Result::Ok(()),
            ::core::option::Option::Some(_) => $crate::__private::lanes::with_neon(
                __groups,
                #[inline(always)]
                |$s, $g| $body,
            ),
        }
    }};
}

/// As for x86-64.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __vectorize {
    ($groups:expr, |$s:pat_param, $g:pat_param| $body:expr) => {{
        let __groups = $groups;
        match $crate::__private::lanes::level(&__groups) {
            ::core::option::Option::None => ::core::result::Result::Ok(()),
            ::core::option::Option::Some(_) => $crate::__private::lanes::with_portable(
                __groups,
                #[inline(always)]
                |$s, $g| $body,
            ),
        }
    }};
}
