//! A library of matrix products in software: plain loops on the emulated memory, so that what the
//! host asks of such a library can be tested without one.

use rev_core::error::Error;

use crate::driver::{Driver, Plane, Product};
use crate::kernel::Ty;

use super::Emulator;

impl Emulator {
    /// `C += scale·A·B`, in `f64` and rounded once.
    pub(super) fn library_product(&self, p: &Product) -> Result<(), Error> {
        let [m, n, k] = p.size;
        let read = |plane: Plane, rows: usize, columns: usize| {
            let columns = if plane.transposed { rows } else { columns };
            let all = self.numbers(&plane, columns, p.ty)?;
            Ok::<_, Error>(move |i: usize, j: usize| {
                let (row, column) = if plane.transposed { (j, i) } else { (i, j) };
                all[column * plane.rows + row]
            })
        };
        let (a, b, c) = (read(p.a, m, k)?, read(p.b, k, n)?, read(p.c, m, n)?);
        let mut bytes = Vec::new();
        for (j, i) in (0..n).flat_map(|j| (0..m).map(move |i| (j, i))) {
            let value = c(i, j) + p.scale * (0..k).map(|l| a(i, l) * b(l, j)).sum::<f64>();
            match p.ty {
                Ty::F32 => bytes.extend((value as f32).to_le_bytes()),
                _ => bytes.extend(value.to_le_bytes()),
            }
        }
        self.upload(p.c.address, &bytes)
    }

    fn numbers(&self, plane: &Plane, columns: usize, ty: Ty) -> Result<Vec<f64>, Error> {
        let mut bytes = vec![0; plane.rows * columns * ty.size()];
        self.download(plane.address, &mut bytes)?;
        let number = |b: &[u8]| match b {
            [a, b, c, d] => f32::from_le_bytes([*a, *b, *c, *d]).into(),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            _ => 0.0,
        };
        Ok(bytes.chunks(ty.size()).map(number).collect())
    }
}
