//! A configuration and its couplings.

use ndarray::Array2;
use plotters::prelude::*;

use super::Lattice;
use rev_examples::support::Failure;

/// Pixels between two spins.
const SPACING: i32 = 48;

/// Spins up filled, spins down open; couplings that are satisfied thin and grey, others thick and red: an SVG document.
pub fn document(lattice: &Lattice, spins: &Array2<i8>) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, lattice, spins).map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

fn draw(svg: &mut String, lattice: &Lattice, spins: &Array2<i8>) -> Result<(), Box<dyn std::error::Error>> {
    let (rows, columns) = spins.dim();
    let side = |n: usize| (n as u32 + 1) * SPACING as u32;
    let root = SVGBackend::with_string(svg, (side(columns), side(rows))).into_drawing_area();
    root.fill(&WHITE)?;
    let place = |i: usize, j: usize| ((j as i32 + 1) * SPACING, (i as i32 + 1) * SPACING);
    let bond =
        |strength: f64, product: i8, ends: [(i32, i32); 2]| -> Result<(), Box<dyn std::error::Error>> {
            let satisfied = strength * f64::from(product) > 0.0;
            let (colour, width) = if satisfied { (RGBColor(170, 170, 170), 2) } else { (RED, 4) };
            if strength != 0.0 {
                root.draw(&PathElement::new(ends.to_vec(), colour.stroke_width(width)))?;
            }
            Ok(())
        };
    for ((i, j), strength) in lattice.right.indexed_iter() {
        let product = spins[[i, j]] * spins[[i, (j + 1) % columns]];
        let (from, (x, y)) = (place(i, j), place(i, j + 1));
        // the way around is drawn as a stub
        let to = if j + 1 == columns { (x - SPACING / 2, y) } else { (x, y) };
        bond(*strength, product, [from, to])?;
    }
    for ((i, j), strength) in lattice.down.indexed_iter() {
        bond(*strength, spins[[i, j]] * spins[[i + 1, j]], [place(i, j), place(i + 1, j)])?;
    }
    for ((i, j), spin) in spins.indexed_iter() {
        root.draw(&Circle::new(place(i, j), 12, WHITE.filled()))?;
        let style = if *spin > 0 { BLUE.filled() } else { BLUE.stroke_width(2) };
        root.draw(&Circle::new(place(i, j), 11, style))?;
    }
    root.present()?;
    Ok(())
}
