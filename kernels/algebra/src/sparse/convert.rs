//! Sparse matrices as those of other crates, and back: each behind a feature of the crate's name.

#[cfg(feature = "sprs")]
mod sprs {
    use crate::sparse::{Matrix, Structure, StructureError};
    use sprs::CsMat;

    /// By rows.
    impl<T: Clone> From<&Matrix<T>> for CsMat<T> {
        fn from(matrix: &Matrix<T>) -> CsMat<T> {
            let s = matrix.structure();
            let (starts, columns) = (s.starts().to_vec(), s.columns().to_vec());
            CsMat::new((s.rows(), s.width()), starts, columns, matrix.values().to_vec())
        }
    }

    /// From rows or columns.
    impl<T: Clone + Default> TryFrom<&CsMat<T>> for Matrix<T> {
        type Error = StructureError;
        fn try_from(matrix: &CsMat<T>) -> Result<Matrix<T>, StructureError> {
            let outer = matrix.indptr().into_raw_storage().to_vec();
            let structure = Structure::new(matrix.inner_dims(), outer, matrix.indices().to_vec())?;
            let compressed = Matrix::new(structure, matrix.data().to_vec())?;
            Ok(if matrix.is_csr() { compressed } else { compressed.transposed() })
        }
    }
}

#[cfg(feature = "nalgebra-sparse")]
mod nalgebra {
    use crate::sparse::{Matrix, Structure, StructureError};
    use nalgebra_sparse::{CscMatrix, CsrMatrix, SparseFormatError};

    impl<T: Clone> TryFrom<&Matrix<T>> for CsrMatrix<T> {
        type Error = SparseFormatError;
        fn try_from(matrix: &Matrix<T>) -> Result<Self, SparseFormatError> {
            let s = matrix.structure();
            let (starts, columns) = (s.starts().to_vec(), s.columns().to_vec());
            CsrMatrix::try_from_csr_data(s.rows(), s.width(), starts, columns, matrix.values().to_vec())
        }
    }

    impl<T: Clone> TryFrom<&Matrix<T>> for CscMatrix<T> {
        type Error = SparseFormatError;
        fn try_from(matrix: &Matrix<T>) -> Result<Self, SparseFormatError> {
            let by_columns = matrix.transposed();
            let s = by_columns.structure();
            let (starts, rows) = (s.starts().to_vec(), s.columns().to_vec());
            CscMatrix::try_from_csc_data(s.width(), s.rows(), starts, rows, by_columns.values().to_vec())
        }
    }

    impl<T: Clone> TryFrom<&CsrMatrix<T>> for Matrix<T> {
        type Error = StructureError;
        fn try_from(matrix: &CsrMatrix<T>) -> Result<Matrix<T>, StructureError> {
            let (starts, columns, values) = matrix.csr_data();
            Matrix::new(Structure::new(matrix.ncols(), starts.to_vec(), columns.to_vec())?, values.to_vec())
        }
    }

    impl<T: Clone> TryFrom<&CscMatrix<T>> for Matrix<T> {
        type Error = StructureError;
        fn try_from(matrix: &CscMatrix<T>) -> Result<Matrix<T>, StructureError> {
            let (starts, rows, values) = matrix.csc_data();
            let structure = Structure::new(matrix.nrows(), starts.to_vec(), rows.to_vec())?;
            Ok(Matrix::new(structure, values.to_vec())?.transposed())
        }
    }
}
