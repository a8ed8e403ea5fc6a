//! Programs written in rev, each beside the plain Rust that does the same without being reversible (`plain`): linear algebra, sparse
//! and dense, transforms, sorting, statistics.
//!
//! | module | programs |
//! | --- | --- |
//! | [`sparse`] | products of sparse matrices with vectors, dense and sparse matrices, the inner product of two sparse matrices |
//! | [`factorize`] | LU, Cholesky and QR in place; determinants, solutions of linear systems, inverses |
//! | [`unitary`] | orthogonal matrices as products of rotations |
//! | [`fft`] | the discrete Fourier transform in place: complex, real, two dimensions |
//! | [`sorting`] | sorts that keep the order, running sums, products and maxima, records, selection, histograms |
//! | [`map`] | an ordered map: values under integer keys, which come and go |
//! | [`statistics`] | means, variances, correlations, normal distributions |
//! | [`eigen`] | eigenvalues of symmetric matrices; an eigenvector with the derivatives of a fixed point |
//!
//! With the feature `tangents` they have tangents, products with Hessians and Hessians too (`factorize::lu::logdet::hessian`), all but
//! [`eigen::improve()`], which says why; those of [`map`] have them always.

pub mod eigen;
pub mod factorize;
pub mod fft;
pub mod map;
pub mod sorting;
pub mod sparse;
pub mod statistics;
pub mod suite;
pub mod unitary;
