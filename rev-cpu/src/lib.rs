//! The CPU executor of rev.
