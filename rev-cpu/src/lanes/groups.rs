//! A loop's values in groups of one for each lane, and the code that runs them on the instruction set
//! at hand.

#[cfg(avx2)]
use rev_core::lanes::Avx2;
#[cfg(avx512)]
use rev_core::lanes::Avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use rev_core::lanes::Isa;
#[cfg(target_arch = "aarch64")]
use rev_core::lanes::Neon;
use rev_core::lanes::{Group, Level};
use rev_core::scalar::{Integer, Ring};

use super::index::Lin;
use crate::context::Context;
use crate::steps::Visits;

/// The part of a group, as a divisor, from which on what is left over runs in lanes: fewer iterations take less
/// time one by one.
const WORTH_LANES: usize = 8;

/// The most cotangents or tangents side by side in each lane.
pub const MOST_SIDES: usize = 4;

/// Whether programs with so many cotangents or tangents side by side run in lanes. More fill vectors themselves: a value
/// would be so many numbers in each lane, a kilobyte, and a program's frame larger than a thread's stack.
pub const fn have_sides(count: usize) -> bool {
    count <= MOST_SIDES
}

/// The groups of a loop, each as its values in the lanes that run.
#[derive(Clone, Copy, Debug)]
pub struct Groups<V: Visits, const LANES: usize> {
    next: Lin<V::Item>,
    advance: V::Item,
    /// How many full groups there are.
    left: usize,
    /// The values of the last group, which isn't full.
    part: Lin<V::Item>,
    /// How many these are.
    parts: usize,
    level: Level,
}

/// The values of a loop that run in so many lanes, and those that are left over for one after the other: a few, or
/// all of them where the order of sums is `fixed`, or where lanes are turned off.
#[cfg_attr(optimized, inline(always))]
pub fn split<const LANES: usize, V: Visits, C>(
    cx: Context<'_, C>,
    fixed: bool,
    visits: V,
) -> (Groups<V, LANES>, V) {
    let level = if fixed { None } else { cx.lanes() };
    let left = level.map_or(0, |_| visits.count() / LANES);
    let (grouped, over) = visits.split_at(left * LANES);
    let parts = level.map_or(0, |_| over.count());
    let parts = if parts * WORTH_LANES < LANES { 0 } else { parts };
    let (grouped_in_part, rest) = over.split_at(parts);
    let ((next, advance), (part, _)) = (grouped.group(LANES), grouped_in_part.group(parts));
    (Groups { next, advance, left, part, parts, level: level.unwrap_or(Level::Portable) }, rest)
}

impl<V: Visits, const LANES: usize> Groups<V, LANES> {
    /// Runs a body for each group, at last for the one that isn't full. What is written once is compiled twice, so that the
    /// code for full groups asks nothing.
    ///
    /// # Errors
    ///
    /// The first one of the body.
    #[cfg_attr(optimized, inline(always))]
    pub fn each_twice<E>(
        mut self,
        mut body: impl FnMut(Group, Lin<V::Item>) -> Result<(), E>,
    ) -> Result<(), E>
    where
        V::Item: Integer,
    {
        while let Some(left) = self.left.checked_sub(1) {
            let values = self.next;
            self.left = left;
            self.next.first = values.first.plus(self.advance);
            body(Group::whole(), Self::stepped(values))?;
        }
        match self.parts {
            0 => Ok(()),
            parts => body(Group::first(parts), Self::stepped(self.part)),
        }
    }

    /// The same, compiled once: of a large body, which would take twice as long to compile.
    ///
    /// # Errors
    ///
    /// As above.
    #[cfg_attr(optimized, inline(always))]
    pub fn each<E>(mut self, mut body: impl FnMut(Group, Lin<V::Item>) -> Result<(), E>) -> Result<(), E>
    where
        V::Item: Integer,
    {
        loop {
            let (group, values) = match (self.left, self.parts) {
                (0, 0) => return Ok(()),
                (0, parts) => {
                    self.parts = 0;
                    (Group::first(parts), self.part)
                }
                _ => {
                    let values = self.next;
                    self.left -= 1;
                    self.next.first = values.first.plus(self.advance);
                    (Group::whole(), values)
                }
            };
            body(group, Self::stepped(values))?;
        }
    }

    /// The values with a step that the compiler knows, if there is one: where the groups were made it doesn't see.
    #[cfg_attr(optimized, inline(always))]
    fn stepped(values: Lin<V::Item>) -> Lin<V::Item>
    where
        V::Item: Integer,
    {
        match V::CONSECUTIVE {
            true => Lin { step: V::Item::one(), ..values },
            false => values,
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn is_empty(&self) -> bool {
        self.left + self.parts == 0
    }
}

/// Whether this program has code for an instruction set (`build.rs` says for which), and the processor too. Without optimisation
/// loops are compiled for one set of an architecture only: with AVX-512 too, tests that consist of loops took up to twice as long to
/// compile.
pub fn runs(level: Level) -> bool {
    let compiled = match level {
        Level::Avx512 => cfg!(avx512),
        Level::Avx2 => cfg!(avx2),
        Level::Neon => cfg!(target_arch = "aarch64"),
        Level::Portable => !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
    };
    compiled && level.available()
}

/// The best instruction set that runs; `None` where no vectors are worth more than one iteration after the other.
#[inline]
pub fn best() -> Option<Level> {
    [Level::Avx512, Level::Avx2, Level::Neon].into_iter().find(|level| runs(*level))
}

/// Functions that run a closure for an instruction set. What is inlined into them is compiled for it.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! with {
    ($($name:ident $run:ident $token:ident;)*) => {$(
        #[doc = concat!("The token of ", stringify!($token), ", where a loop has groups for it.")]
        #[cfg_attr(optimized, inline(always))]
        pub fn $name<V: Visits, const LANES: usize>(groups: &Groups<V, LANES>) -> Option<$token<LANES>> {
            match groups.level {
                Level::$token if !groups.is_empty() => $token::detect(),
                _ => None,
            }
        }

        #[doc = concat!("Runs a loop's groups on ", stringify!($token), ".")]
        #[cfg_attr(optimized, inline(always))]
        pub fn $run<V: Visits, R, const LANES: usize>(
            token: $token<LANES>,
            groups: Groups<V, LANES>,
            body: impl FnOnce($token<LANES>, Groups<V, LANES>) -> R,
        ) -> R {
            token.apart(#[cfg_attr(optimized, inline(always))] || body(token, groups))
        }
    )*};
}
#[cfg(avx512)]
with! {
    avx512 run_avx512 Avx512;
}
#[cfg(avx2)]
with! {
    avx2 run_avx2 Avx2;
}
#[cfg(target_arch = "aarch64")]
with! {
    neon run_neon Neon;
}

/// Runs a closure in which products are rounded together with sums: compiled once for processors that have an
/// instruction for it, where the target doesn't promise that, and once for the target. What is inlined into it is
/// compiled for either.
#[cfg_attr(optimized, inline(always))]
pub fn fusing<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(all(target_arch = "x86_64", not(target_feature = "fma")))]
    {
        #[target_feature(enable = "fma")]
        fn inside<R>(body: impl FnOnce() -> R) -> R {
            body()
        }
        if std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the instructions.
            return unsafe { inside(body) };
        }
    }
    body()
}

/// The token of plain loops over the lanes, where a loop has groups for it.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[cfg_attr(optimized, inline(always))]
pub fn portable<V: Visits, const LANES: usize>(
    groups: &Groups<V, LANES>,
) -> Option<rev_core::lanes::Portable<LANES>> {
    (!groups.is_empty()).then_some(rev_core::lanes::Portable::<LANES>)
}

/// `vectorize!(groups, |s, groups| body)`: the value of the body, a `Result<(), _>`, compiled for each
/// instruction set that [`runs`] says, and run for that of the groups, with its token as `s`; `Ok(())` where
/// there is no group.
#[cfg(all(avx512, avx2))]
#[doc(hidden)]
#[macro_export]
macro_rules! __vectorize {
    ($($given:tt)*) => { $crate::__vectorize_for!([avx512 run_avx512, avx2 run_avx2] $($given)*) };
}

/// As above.
#[cfg(all(avx512, not(avx2)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __vectorize {
    ($($given:tt)*) => { $crate::__vectorize_for!([avx512 run_avx512] $($given)*) };
}

/// As above.
#[cfg(all(avx2, not(avx512)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __vectorize {
    ($($given:tt)*) => { $crate::__vectorize_for!([avx2 run_avx2] $($given)*) };
}

/// As above.
#[cfg(target_arch = "aarch64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __vectorize {
    ($($given:tt)*) => { $crate::__vectorize_for!([neon run_neon] $($given)*) };
}

/// The body for each of some instruction sets: the functions that give their tokens, and those that run it.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __vectorize_for {
    ([$($token:ident $run:ident),*] $groups:expr, |$s:pat_param, $g:pat_param| $body:expr) => {{
        let __groups = $groups;
        $(if let ::core::option::Option::Some(__token) = $crate::__private::lanes::$token(&__groups) {
            $crate::__private::lanes::$run(
                __token,
                __groups,
                #[inline(always)]
                |$s, $g| $body,
            )
        } else)* {
            ::core::result::Result::Ok(())
        }
    }};
}

/// As above. Other architectures' vectors are those that the target has without asking.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __vectorize {
    ($groups:expr, |$s:pat_param, $g:pat_param| $body:expr) => {{
        let __groups = $groups;
        match $crate::__private::lanes::portable(&__groups) {
            ::core::option::Option::Some(__token) => (|$s, $g| $body)(__token, __groups),
            ::core::option::Option::None => ::core::result::Result::Ok(()),
        }
    }};
}
