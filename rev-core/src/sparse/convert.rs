//! Sparse matrices as those of other crates, and back: each behind a feature of the crate's name.
//!
//! Entries that are stored as zeros stay. What comes from another crate is read entry by entry, in any of its formats
//! by rows or by columns.

#[cfg(feature = "sprs")]
mod sprs {
    use crate::sparse::{PatternError, SparseMatrix};
    use sprs::CsMat;

    /// By rows.
    impl From<&SparseMatrix> for CsMat<f64> {
        fn from(matrix: &SparseMatrix) -> CsMat<f64> {
            let (starts, indices) = matrix.pattern().parts();
            let shape = (matrix.rows(), matrix.columns());
            CsMat::new(shape, starts.to_vec(), indices.to_vec(), matrix.values().to_vec())
        }
    }

    /// From rows or columns.
    impl TryFrom<&CsMat<f64>> for SparseMatrix {
        type Error = PatternError;
        fn try_from(matrix: &CsMat<f64>) -> Result<SparseMatrix, PatternError> {
            let triplets = matrix.iter().map(|(value, (i, j))| (i, j, *value));
            SparseMatrix::from_triplets(matrix.rows(), matrix.cols(), triplets)
        }
    }
}

#[cfg(feature = "faer")]
mod faer {
    use crate::sparse::{PatternError, SparseMatrix};
    use faer::sparse::{CreationError, SparseColMat, SparseRowMat, Triplet};

    fn triplets(matrix: &SparseMatrix) -> Vec<Triplet<usize, usize, f64>> {
        matrix.triplets().map(|(i, j, value)| Triplet::new(i, j, value)).collect()
    }

    /// By columns, as its solvers take it.
    impl TryFrom<&SparseMatrix> for SparseColMat<usize, f64> {
        type Error = CreationError;
        fn try_from(matrix: &SparseMatrix) -> Result<Self, CreationError> {
            SparseColMat::try_new_from_triplets(matrix.rows(), matrix.columns(), &triplets(matrix))
        }
    }

    /// By rows.
    impl TryFrom<&SparseMatrix> for SparseRowMat<usize, f64> {
        type Error = CreationError;
        fn try_from(matrix: &SparseMatrix) -> Result<Self, CreationError> {
            SparseRowMat::try_new_from_triplets(matrix.rows(), matrix.columns(), &triplets(matrix))
        }
    }

    impl TryFrom<&SparseColMat<usize, f64>> for SparseMatrix {
        type Error = PatternError;
        fn try_from(matrix: &SparseColMat<usize, f64>) -> Result<SparseMatrix, PatternError> {
            let triplets = matrix.triplet_iter().map(|t| (t.row, t.col, *t.val));
            SparseMatrix::from_triplets(matrix.nrows(), matrix.ncols(), triplets)
        }
    }

    impl TryFrom<&SparseRowMat<usize, f64>> for SparseMatrix {
        type Error = PatternError;
        fn try_from(matrix: &SparseRowMat<usize, f64>) -> Result<SparseMatrix, PatternError> {
            let triplets = matrix.triplet_iter().map(|t| (t.row, t.col, *t.val));
            SparseMatrix::from_triplets(matrix.nrows(), matrix.ncols(), triplets)
        }
    }
}

#[cfg(feature = "nalgebra-sparse")]
mod nalgebra {
    use crate::sparse::{PatternError, SparseMatrix};
    use nalgebra_sparse::{CscMatrix, CsrMatrix, SparseFormatError};

    /// By rows.
    impl TryFrom<&SparseMatrix> for CsrMatrix<f64> {
        type Error = SparseFormatError;
        fn try_from(matrix: &SparseMatrix) -> Result<Self, SparseFormatError> {
            let (starts, indices) = matrix.pattern().parts();
            let (rows, columns, values) = (matrix.rows(), matrix.columns(), matrix.values().to_vec());
            CsrMatrix::try_from_csr_data(rows, columns, starts.to_vec(), indices.to_vec(), values)
        }
    }

    /// By columns.
    impl TryFrom<&SparseMatrix> for CscMatrix<f64> {
        type Error = SparseFormatError;
        fn try_from(matrix: &SparseMatrix) -> Result<Self, SparseFormatError> {
            CsrMatrix::try_from(matrix).map(|matrix| CscMatrix::from(&matrix))
        }
    }

    impl TryFrom<&CsrMatrix<f64>> for SparseMatrix {
        type Error = PatternError;
        fn try_from(matrix: &CsrMatrix<f64>) -> Result<SparseMatrix, PatternError> {
            let triplets = matrix.triplet_iter().map(|(i, j, value)| (i, j, *value));
            SparseMatrix::from_triplets(matrix.nrows(), matrix.ncols(), triplets)
        }
    }

    impl TryFrom<&CscMatrix<f64>> for SparseMatrix {
        type Error = PatternError;
        fn try_from(matrix: &CscMatrix<f64>) -> Result<SparseMatrix, PatternError> {
            let triplets = matrix.triplet_iter().map(|(i, j, value)| (i, j, *value));
            SparseMatrix::from_triplets(matrix.nrows(), matrix.ncols(), triplets)
        }
    }
}
