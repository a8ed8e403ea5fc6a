//! Programs written in rev.
