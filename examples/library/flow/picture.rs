//! Points of the shape, points that the flow makes, and its density.

use ndarray::{Array2, ArrayView2};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::shape::SIDE;
use rev_examples::support::Failure;

type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Points that are drawn of each kind.
pub const POINTS: usize = 700;

/// Cells of the density, each way.
pub const CELLS: usize = 64;

/// The middles of the cells, one in each row: by `y` from above, then by `x`.
pub fn cells() -> Array2<f64> {
    let at = |k: usize| SIDE * (2.0 * (k as f64 + 0.5) / CELLS as f64 - 1.0);
    Array2::from_shape_fn(
        (CELLS * CELLS, 2),
        |(k, axis)| if axis == 0 { at(k % CELLS) } else { -at(k / CELLS) },
    )
}

/// An SVG document. The density is given for each of [`cells()`].
pub fn document(truth: ArrayView2<f64>, made: ArrayView2<f64>, density: &[f64]) -> Result<String, Failure> {
    let mut svg = String::new();
    let mut drawn = || -> Drawn {
        let root = SVGBackend::with_string(&mut svg, (1080, 390)).into_drawing_area();
        root.fill(&WHITE)?;
        let parts = root.split_evenly((1, 3));
        let [left, middle, right] = &parts[..] else { return Ok(()) };
        points(left, "points of the shape", truth)?;
        points(middle, "points of the flow", made)?;
        heat(right, "density of the flow", density)?;
        root.present()?;
        Ok(())
    };
    drawn().map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

fn points(area: &Area<'_>, title: &str, all: ArrayView2<f64>) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(10)
        .build_cartesian_2d(-SIDE..SIDE, -SIDE..SIDE)?;
    let inside = all.outer_iter().filter(|p| p.iter().all(|v| v.abs() < SIDE)).take(POINTS);
    chart.draw_series(inside.map(|p| Circle::new((p[0], p[1]), 1, BLUE.filled())))?;
    Ok(())
}

/// Sixteen greys, white for nothing; neighbours that are alike are one rectangle.
fn heat(area: &Area<'_>, title: &str, density: &[f64]) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(10)
        .build_cartesian_2d(0..CELLS as i32, 0..CELLS as i32)?;
    let most = density.iter().fold(f64::MIN_POSITIVE, |most, v| most.max(*v));
    let shade = |k: usize| (15.0 * density.get(k).map_or(0.0, |v| v / most)).round() as u8;
    for row in 0..CELLS {
        let (mut from, y) = (0, (CELLS - row) as i32);
        for column in 1..=CELLS {
            if column == CELLS || shade(row * CELLS + column) != shade(row * CELLS + from) {
                let grey = 255 - 17 * shade(row * CELLS + from);
                if grey < 255 {
                    let corners = [(from as i32, y), (column as i32, y - 1)];
                    chart.draw_series([Rectangle::new(corners, RGBColor(grey, grey, grey).filled())])?;
                }
                from = column;
            }
        }
    }
    Ok(())
}
