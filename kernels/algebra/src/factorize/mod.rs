//! Factorizations of dense matrices in place, and what follows from them.
//!
//! | module | in place | from it |
//! | --- | --- | --- |
//! | [`triangular`] | `b := L⁻¹ b`, `b := U⁻¹ b` | |
//! | [`lu`] | `P A = L U` with partial pivoting | [`lu::det()`], [`lu::logdet()`], [`lu::solve()`], [`lu::invert()`] |
//! | [`cholesky`] | `A = L Lᵀ` | [`cholesky::solve()`], [`cholesky::logdet()`] |
//! | [`qr`] | `A = Q R` by Householder's reflections, with exchanged columns for any rank, and by Gram and Schmidt | |
//!
//! An elimination can be undone: what is subtracted from one row is a multiple of another one, which is still there. So a factorization
//! keeps nothing beside the factors and, where rows are exchanged, which ones. G. H. Golub, C. F. Van Loan, *Matrix Computations* (4th
//! edition, 2013), sections 3.1, 3.4, 4.2, 5.2.
//!
//! The programs on a matrix `a` that is only read work on a copy, which is taken back: n² numbers of memory.

pub mod cholesky;
pub mod lu;
pub mod qr;
pub mod triangular;
