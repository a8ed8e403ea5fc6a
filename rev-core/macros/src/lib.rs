//! The attributes of rev.
