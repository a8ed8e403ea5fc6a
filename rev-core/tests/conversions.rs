//! Sparse matrices to other crates' and back: their own access finds what was put in.

#![cfg(any(feature = "sprs", feature = "faer", feature = "nalgebra-sparse"))]
#![allow(clippy::unwrap_used)] // tests

use rev_core::sparse::SparseMatrix;

/// Neither square nor symmetric, with an empty row and a stored zero.
fn matrix() -> SparseMatrix {
    let entries = [(0, 1, 2.0), (0, 4, -1.5), (2, 0, 0.0), (2, 3, 7.0), (3, 1, 0.25)];
    SparseMatrix::from_triplets(4, 5, entries).unwrap()
}

#[cfg(feature = "sprs")]
#[test]
fn sprs_and_back() {
    let there: sprs::CsMat<f64> = (&matrix()).into();
    assert_eq!((there.rows(), there.cols(), there.nnz()), (4, 5, 5));
    assert_eq!((there.get(2, 3), there.get(0, 4), there.get(1, 1)), (Some(&7.0), Some(&-1.5), None));
    assert_eq!(SparseMatrix::try_from(&there), Ok(matrix()));
    assert_eq!(SparseMatrix::try_from(&there.to_csc()), Ok(matrix()));
}

#[cfg(feature = "faer")]
#[test]
fn faer_and_back() {
    use faer::sparse::{SparseColMat, SparseRowMat};
    let there: SparseColMat<usize, f64> = (&matrix()).try_into().unwrap();
    assert_eq!((there.nrows(), there.ncols(), there.compute_nnz()), (4, 5, 5));
    assert_eq!((there.get(2, 3), there.get(0, 4), there.get(1, 1)), (Some(&7.0), Some(&-1.5), None));
    assert_eq!(SparseMatrix::try_from(&there), Ok(matrix()));
    let rows: SparseRowMat<usize, f64> = (&matrix()).try_into().unwrap();
    assert_eq!((rows.get(2, 3), rows.get(3, 4)), (Some(&7.0), None));
    assert_eq!(SparseMatrix::try_from(&rows), Ok(matrix()));
}

#[cfg(feature = "nalgebra-sparse")]
#[test]
fn nalgebra_and_back() {
    use nalgebra_sparse::{CscMatrix, CsrMatrix};
    let there: CsrMatrix<f64> = (&matrix()).try_into().unwrap();
    assert_eq!((there.nrows(), there.ncols(), there.nnz()), (4, 5, 5));
    let value = |i, j| there.get_entry(i, j).map(|entry| entry.into_value());
    assert_eq!((value(2, 3), value(0, 4), value(1, 1)), (Some(7.0), Some(-1.5), Some(0.0)));
    assert_eq!(SparseMatrix::try_from(&there), Ok(matrix()));
    let columns: CscMatrix<f64> = (&matrix()).try_into().unwrap();
    assert_eq!(columns.col(1).values(), [2.0, 0.25]);
    assert_eq!(SparseMatrix::try_from(&columns), Ok(matrix()));
}
