//! ADBench's file format for Gaussian mixtures.
//!
//! `D K N`; K lines `α`; K lines of D means; K lines of the inverse covariance factors (D
//! log-diagonals, then the D(D-1)/2 strictly lower entries by column); N lines of D points; one
//! line `γ m` of the Wishart prior.

use std::path::Path;

use ndarray::Array2;

use super::words::{room_for, ReadError, Words, MAX_NUMBERS};
use super::write::{write_number_line, write_whole, WriteError};
use crate::gmm::{icf_len, parameter_count, Instance};

/// Reads a mixture instance.
pub fn read_gmm(path: &Path) -> Result<Instance, ReadError> {
    let mut words = Words::open(path)?;
    let names = ["the dimension D", "the number of components K", "the number of points N"];
    let [d, k, n] =
        words.sizes(names, MAX_NUMBERS, |[d, k, n]| parameter_count(d, k)?.checked_add(n.checked_mul(d)?))?;
    let alphas = table(&mut words, k, 1, "a weight α")?;
    let means = table(&mut words, k, d, "the means of a component")?;
    let icf = table(&mut words, k, icf_len(d), "the covariance factors of a component")?;
    let points = table(&mut words, n, d, "the coordinates of a point")?;
    let [gamma] = words.line_of("γ of the Wishart prior")?;
    if gamma <= 0.0 {
        return Err(words.error("γ of the Wishart prior (above 0)", format!("`{gamma}`")));
    }
    let m = words.last_integer(2, 1 << 20, "m of the Wishart prior")?;
    words.end_of_file()?;
    Ok(Instance { alphas: alphas.into_raw_vec_and_offset().0, means, icf, points, gamma, m })
}

fn table(words: &mut Words, rows: usize, columns: usize, row: &str) -> Result<Array2<f64>, ReadError> {
    let mut numbers = room_for(rows * columns);
    for _ in 0..rows {
        words.line_of_numbers(columns, row, &mut numbers)?;
    }
    Array2::from_shape_vec((rows, columns), numbers).map_err(|e| words.error(row, e.to_string()))
}

/// Writes a mixture instance.
pub fn write_gmm(path: &Path, instance: &Instance) -> Result<(), WriteError> {
    let [d, k, n] = instance.sizes();
    write_whole(path, |out| {
        writeln!(out, "{d} {k} {n}")?;
        instance.alphas.iter().try_for_each(|alpha| write_number_line(out, &[*alpha]))?;
        for table in [&instance.means, &instance.icf, &instance.points] {
            table.rows().into_iter().try_for_each(|row| write_number_line(out, &row.to_vec()))?;
        }
        writeln!(out, "{:.16e} {}", instance.gamma, instance.m)
    })
}
