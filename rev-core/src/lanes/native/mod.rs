//! The scalars that the processor has vector instructions for.

mod chunks;
mod divide;
mod float;
mod integer;

use chunks::{chunks, is_small, view};
