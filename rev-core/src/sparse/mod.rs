//! Sparse derivative matrices from few products.
//!
//! A Jacobian or Hessian is wanted, and what a program gives is its product with a vector. If many entries
//! are known to be zero, then few products hold all the others: columns without a common row go into one
//! group, whose sum is one product, and each entry of that product belongs to one column only. To find few
//! groups is to colour a graph with few colours.
//!
//! | method | for | groups are | entries come from |
//! | --- | --- | --- | --- |
//! | [`Plan::by_columns`] | any matrix, products J·v | columns without a common row | one entry of a product |
//! | [`Plan::by_rows`] | any matrix, products Jᵀ·v | rows without a common column | one entry of a product |
//! | [`Plan::by_star`] | symmetric matrices | a star colouring of the adjacency graph | one entry of a product |
//! | [`Plan::by_acyclic`] | symmetric matrices | an acyclic colouring of it | differences along a tree |
//!
//! The steps: a [`Pattern`] says where nonzeros may be, a [`Plan`] says which vectors to multiply with
//! ([`Plan::seed`]) and turns the products into a [`SparseMatrix`]. A plan serves any number of matrices with
//! its pattern.
//!
//! ```
//! use rev_core::sparse::{Order, Pattern, Plan};
//!
//! // the places of [[1, 0, 2], [0, 3, 0], [0, 4, 5]]: columns 0 and 1 have no row in common
//! let pattern = Pattern::new(3, 3, [(0, 0), (0, 2), (1, 1), (2, 1), (2, 2)])?;
//! let plan = Plan::by_columns(pattern, Order::Natural);
//! assert_eq!(plan.groups(), 2);
//! assert_eq!((plan.seed(0), plan.seed(1)), ([0, 1].as_slice(), [2].as_slice()));
//! // the products with (1, 1, 0) and (0, 0, 1)
//! let matrix = plan.recover(&[1.0, 3.0, 4.0, 2.0, 0.0, 5.0])?;
//! assert_eq!(matrix.to_dense(), [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 4.0, 5.0]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The least number of colours is NP-hard to find for all four. The greedy colourings here give each vertex
//! in turn the smallest colour allowed, and how few that takes depends on the [`Order`] of the vertices.
//!
//! Sources: Gebremedhin, Manne and Pothen, "What color is your Jacobian? Graph coloring for computing
//! derivatives", SIAM Review 47 (2005), 629–705, for the methods and the orders; Gebremedhin, Tarafdar, Manne
//! and Pothen, "New acyclic and star coloring algorithms with application to computing Hessians", SIAM
//! Journal on Scientific Computing 29 (2007), 1042–1072, for the two symmetric colourings; Griewank and
//! Walther, Evaluating Derivatives, chapter 8, for the setting.

mod coloring;
#[cfg(any(feature = "sprs", feature = "faer", feature = "nalgebra-sparse"))]
mod convert;
mod matrix;
mod pattern;
mod plan;
mod substitution;

pub use crate::interp::{Branches, Sparsity};
pub use coloring::{color_acyclic, color_columns, color_rows, color_star, Coloring, Order};
pub use matrix::{Block, LengthError, SparseMatrix};
pub use pattern::{Pattern, PatternError};
pub use plan::Plan;

#[cfg(test)]
mod tests;
