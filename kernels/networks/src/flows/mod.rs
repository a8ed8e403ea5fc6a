//! Invertible networks: what they compute can be undone exactly (up to rounding), so that a stack of layers runs in place. Forward, back and
//! in the adjoint it takes the memory of one layer, however deep it is.
//!
//! A *flow* turns samples of an unknown distribution into normally distributed ones, and knows by how much it changes volumes:
//!
//! ```text
//! ln p(x) = ln N(z) + ln |det ∂z/∂x|,  z = flow(x)
//! ```
//!
//! so that its parameters are found by making the samples likely, and new samples by running it backwards.

pub mod coupling;
pub mod nice;
pub mod normal;
pub mod real_nvp;
