//! The stack of programs, above all of recursive ones, and how deep those go that run by value.
//!
//! A recursive program asks at its start whether there is stack for it, and is run on more where there isn't. So a
//! recursion is bounded by [`Options::depth`](rev_core::tolerance::Options::depth) alone, whatever its frames take and
//! whichever thread it runs on.
//!
//! A recursion by value has no context to count in and no error to return, and can't afford to ask at each call. It gets
//! a number of calls for which there surely is stack, counts them in an argument, and asks for more when they are used
//! up. When the depth is used up too, or a check fails, it is left by unwinding, which costs nothing until it happens, and
//! runs again by reference. Where programs are compiled to abort instead, such recursions run by reference
//! ([`BY_VALUE`]).

use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

use crate::context::{Context, Mode};

/// Whether recursions run by value.
pub const BY_VALUE: bool = cfg!(panic = "unwind");

/// The stack that is left for functions that aren't recursive, in bytes.
const LEFT: usize = 256 << 10;

/// The stack that is added at once.
const MORE: usize = 8 << 20;

/// The calls by value that there must be stack for, so that asking for more is rare.
const CALLS: usize = 16;

/// The stack that programs may need which aren't optimised: each value of theirs has a place of its own in the frame.
const UNOPTIMISED: usize = 16 << 20;

/// The stack of a thread, of which the system gives what is used.
pub const OF_THREADS: usize = if cfg!(debug_assertions) { 2 * UNOPTIMISED } else { 8 << 20 };

/// Calls a program; one that isn't optimised on as much stack as it may need, whatever its caller has.
#[cfg_attr(optimized, inline(always))]
pub fn with_room<R>(call: impl FnOnce() -> R) -> R {
    if cfg!(debug_assertions) {
        stacker::maybe_grow(UNOPTIMISED, 2 * UNOPTIMISED, call)
    } else {
        call()
    }
}

/// Whether there is too little stack for a program whose frame takes at most so many bytes.
#[inline]
pub fn is_low(frame: usize) -> bool {
    stacker::remaining_stack().is_some_and(|left| left < LEFT + frame)
}

/// Calls a program on more stack.
#[cold]
#[inline(never)]
pub fn on_more<R>(frame: usize, call: impl FnOnce() -> R) -> R {
    stacker::grow(MORE + LEFT + CALLS * frame, call)
}

/// A recursion by value that is deeper than it may be, or in which a check fails, as what is unwound with.
struct Left;

thread_local! {
    /// How many more calls by value may be inside each other than a recursion has got.
    static CALLS_LEFT: Cell<usize> = const { Cell::new(0) };
}

/// Runs a recursion by value whose frames take at most so many bytes; it gets the number of its calls that may be inside
/// each other. `None` when it goes deeper than the context allows or a check fails: run by reference it says where.
#[inline]
pub fn by_value<C: Mode, R>(
    cx: Context<'_, C>,
    frame: usize,
    recursion: impl FnOnce(usize) -> R,
) -> Option<R> {
    let outside = CALLS_LEFT.replace(cx.depth());
    let result = catch_unwind(AssertUnwindSafe(|| more_calls(frame, recursion)));
    CALLS_LEFT.set(outside);
    match result {
        Ok(result) => Some(result),
        Err(unwound) if unwound.is::<Left>() => None,
        Err(unwound) => resume_unwind(unwound),
    }
}

/// Leaves a recursion by value in which a check fails.
#[cold]
#[inline(never)]
pub fn fail() -> ! {
    resume_unwind(Box::new(Left));
}

/// Goes on with a recursion by value that has used up its calls.
#[inline(never)]
pub fn more_calls<R>(frame: usize, recursion: impl FnOnce(usize) -> R) -> R {
    let left = CALLS_LEFT.get();
    if left == 0 {
        fail();
    }
    let room = stacker::remaining_stack().map_or(MORE, |stack| stack.saturating_sub(LEFT)) / frame.max(1);
    if room < CALLS {
        return on_more(frame, || more_calls(frame, recursion));
    }
    let calls = room.min(left);
    CALLS_LEFT.set(left - calls);
    let result = recursion(calls);
    CALLS_LEFT.set(left);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Restoring, Run};
    use rev_core::tolerance::Options;

    /// The sum of the numbers up to `n`, with a frame of a kilobyte or two.
    fn triangle(n: usize, left: usize) -> usize {
        if left == 0 {
            return more_calls(FRAME, |left| triangle(n, left));
        }
        let held = std::hint::black_box([n; 50]);
        if n == 0 {
            0
        } else {
            triangle(n - 1, left - 1) + held[n % held.len()]
        }
    }
    const FRAME: usize = 8 << 10;

    #[test]
    fn calls_by_value_are_counted_and_their_stack_grows() {
        let options = Options { depth: 20_000, ..Options::default() };
        let run = Run::new(&options);
        let sum = |n| by_value::<Restoring, _>(run.context(), FRAME, |left| triangle(n, left));
        for n in [0, 1, 100, 19_999] {
            assert_eq!(sum(n), Some(n * (n + 1) / 2));
        }
        for n in [20_000, 20_001, 1_000_000_000] {
            assert_eq!(sum(n), None);
        }
        // and none of them is lost
        assert_eq!(sum(19_999), Some(19_999 * 10_000));
    }

    #[test]
    fn other_panics_go_through() {
        let options = Options::default();
        let run = Run::new(&options);
        let panics = || by_value::<Restoring, ()>(run.context(), FRAME, |_| resume_unwind(Box::new(3)));
        let payload = catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
        assert_eq!(payload.downcast_ref::<i32>(), Some(&3));
    }
}
