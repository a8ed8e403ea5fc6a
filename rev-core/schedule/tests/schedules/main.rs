//! Schedules played on a board that knows the rules, counted against dynamic programmes and searches,
//! and run on steps whose gradients have to agree to the bit.

#![allow(clippy::unwrap_used)]

mod binomial;
mod board;
mod errors;
mod gradients;
mod online;
mod pebbling;
mod plan;
mod two_level;
