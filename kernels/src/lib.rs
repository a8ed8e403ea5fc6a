//! Programs written in rev, each beside the plain Rust that does the same without being
//! reversible (`plain`): the twin is the yardstick for values and for time.
//!
//! With the feature `tangents` the mixture's objective, bundle adjustment's and the cost of k-means have tangents and products
//! of their Hessians (`gmm::objective::hvp`, `kmeans::direction`). With `adjoints` programs may also call the gradients of the first
//! two.

pub mod affine;
pub mod ba;
pub mod bal;
pub mod bessel;
pub mod complex_log;
pub mod dense;
pub mod exponential;
pub mod fibonacci;
pub mod gates;
pub mod gmm;
pub mod io;
pub mod ising_chain;
pub mod kmeans;
pub mod leapfrog;
pub mod log_sum_exp;
pub mod multiplier;
pub mod norm;
pub mod rotation;
pub mod suite;
pub mod wave;
