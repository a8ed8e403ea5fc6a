//! Pictures: grounds, a record, the misfit.

use plotters::coord::Shift;
use plotters::prelude::*;
use rev::prelude::*;

use rev_examples::support::Failure;

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The most cells of a picture, each way.
const MOST: usize = 160;

/// The least misfit that is drawn.
const LEAST_MISFIT: f64 = 1e-20;

fn document(
    size: (u32, u32),
    draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Drawn,
) -> Result<String, Failure> {
    let mut svg = String::new();
    let drawn = || -> Drawn {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        draw(&root)?;
        root.present()?;
        Ok(())
    };
    drawn().map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

/// Speeds of the true ground, the first one and the one that was found, from blue for slow to red for fast.
pub fn grounds(speeds: [(&str, &Array2<f64>); 3]) -> Result<String, Failure> {
    let all = speeds.iter().flat_map(|(_, speeds)| speeds.iter());
    let (low, high) = all.fold((f64::INFINITY, 0.0), |(low, high), v| (v.min(low), v.max(high)));
    document((1080, 400), |root| {
        for (part, (name, speeds)) in root.split_evenly((1, 3)).iter().zip(speeds) {
            let title = format!("{name}: {:.0} to {:.0} m/s", least(speeds), most(speeds));
            cells(part, &title, speeds, &|v| palette((v - low) / (high - low).max(1e-9)))?;
        }
        Ok(())
    })
}

/// What the receivers hear of one source, time downwards: blue below zero, red above. What comes straight from the source is cut off at a
/// thirtieth, as reflections are faint.
pub fn record(record: &Array2<f64>) -> Result<String, Failure> {
    let loud = record.iter().fold(0f64, |loud, v| loud.max(v.abs())) / 30.0;
    document((520, 560), |root| {
        cells(root, "one source: receivers to the right, time downwards", record, &|v| {
            let v = (v / loud.max(1e-300)).clamp(-1.0, 1.0);
            let pale = 255.0 * (1.0 - v.abs());
            if v < 0.0 {
                RGBColor(pale as u8, pale as u8, 255)
            } else {
                RGBColor(255, pale as u8, pale as u8)
            }
        })
    })
}

/// The misfit after each iteration, relative to that of silence.
pub fn misfits(misfits: &[f64]) -> Result<String, Failure> {
    // an axis of logarithms has no zero
    let points: Vec<(f64, f64)> =
        misfits.iter().enumerate().map(|(k, m)| (k as f64, m.max(LEAST_MISFIT))).collect();
    let ends = points.iter().fold((f64::INFINITY, 0f64), |(low, high), (_, m)| (low.min(*m), high.max(*m)));
    document((640, 420), |root| {
        let mut chart = ChartBuilder::on(root)
            .caption("misfit by iteration, of the misfit of silence", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(
                0.0..(misfits.len().max(2) - 1) as f64,
                (ends.0 * 0.7..ends.1 * 1.4).log_scale(),
            )?;
        let (whole, short) = (|v: &f64| format!("{v:.0}"), |v: &f64| format!("{v:.0e}"));
        chart
            .configure_mesh()
            .x_desc("iteration")
            .y_desc("misfit")
            .x_label_formatter(&whole)
            .y_label_formatter(&short)
            .light_line_style(WHITE)
            .draw()?;
        chart.draw_series(LineSeries::new(points, BLUE.stroke_width(2)).point_size(3))?;
        Ok(())
    })
}

fn least(values: &Array2<f64>) -> f64 {
    values.iter().fold(f64::INFINITY, |a, b| a.min(*b))
}

fn most(values: &Array2<f64>) -> f64 {
    values.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b))
}

/// Sixteen colours between blue and red, so that neighbours are often alike.
fn palette(part: f64) -> RGBColor {
    let v = (part.clamp(0.0, 1.0) * 15.0).round() / 15.0;
    let ramp = |x: f64| (255.0 * (1.5 - 4.0 * (v - x).abs()).clamp(0.0, 1.0)) as u8;
    RGBColor(ramp(0.75), ramp(0.5), ramp(0.25))
}

/// A matrix as rectangles, those of a row that are alike as one.
fn cells(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    title: &str,
    values: &Array2<f64>,
    colour: &dyn Fn(f64) -> RGBColor,
) -> Drawn {
    let area = area.margin(8, 8, 8, 8).titled(title, ("sans-serif", 15))?;
    let (width, height) = area.dim_in_pixel();
    let (rows, columns) = values.dim();
    let (n, m) = (rows.min(MOST), columns.min(MOST));
    let at = |i: usize, j: usize| colour(values[[i * rows / n, j * columns / m]]);
    let x = |j: usize| (j as u64 * u64::from(width) / m as u64) as i32;
    let y = |i: usize| (i as u64 * u64::from(height) / n as u64) as i32;
    for i in 0..n {
        let mut from = 0;
        for j in 1..=m {
            if j == m || at(i, j) != at(i, from) {
                area.draw(&Rectangle::new([(x(from), y(i)), (x(j), y(i + 1))], at(i, from).filled()))?;
                from = j;
            }
        }
    }
    Ok(())
}
