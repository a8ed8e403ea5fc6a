//! How deep programs can be, and the stack that they are read and changed on.
//!
//! Programs are trees, and passes are recursive. So that no program exhausts the stack, what walks through a whole
//! one does it on a stack that is as large as the program is deep ([`grown`]), and statements are freed one after the
//! other. What remains is limited here, so that a program is rejected that nobody could compile.

/// How deep statements can be nested in a program as it is written. The scope of a `let` is a level.
pub const NESTING: usize = 2_000;

/// How high an expression can be: calls in calls, the terms of a chain of `+`. The macro computes a higher one in steps
/// of [`STEP`], so that this concerns programs written in the text form, and choices in choices.
pub const HEIGHT: usize = 2_000;

/// The height from which the macro gives parts of an expression names of their own.
pub const STEP: usize = 32;

/// How deep statements can be nested in the text of a program that was derived from another one.
pub const DERIVED_NESTING: usize = 50_000;

/// What the stack of any thread has room for.
const ORDINARY: usize = 64;

/// What is reserved for each level, in bytes: enough where nothing is optimised.
const LEVEL: usize = 32 << 10;

/// Runs `f`, which is recursive to a depth, on a stack that is large enough.
pub fn grown<R>(depth: usize, f: impl FnOnce() -> R) -> R {
    grown_by(depth, LEVEL, f)
}

/// The same with the bytes that a level needs.
pub fn grown_by<R>(depth: usize, level: usize, f: impl FnOnce() -> R) -> R {
    if depth <= ORDINARY {
        return f();
    }
    let size = depth.saturating_mul(level).saturating_add(1 << 20);
    stacker::maybe_grow(size, size, f)
}

/// Runs one level of a recursion whose depth nobody knows before.
pub fn deeper<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(256 << 10, 4 << 20, f)
}
