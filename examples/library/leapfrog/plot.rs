//! Errors against the number of steps.

use plotters::prelude::*;

use super::Run;
use rev_examples::support::Failure;

/// What stands for no error at all, which an axis of logarithms doesn't have.
const NOTHING: f64 = 1e-17;

/// An error of a run.
type Error = fn(&Run) -> f64;

/// The error of the way back and that of the energy, of each kind of numbers: an SVG document.
pub fn document(runs: &[Run]) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, runs).map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

fn draw(svg: &mut String, runs: &[Run]) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, (960, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let errors: [(&str, Error); 2] = [
        ("off after the way back (the lowest: nothing)", |run| run.return_error),
        ("energy off, relative", |run| run.energy_error.abs()),
    ];
    let longest = runs.iter().map(|run| run.steps).max().unwrap_or(1).max(100) as f64;
    for (area, (title, error)) in root.split_evenly((1, 2)).iter().zip(errors) {
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 17))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d((9.0..longest * 1.2).log_scale(), (NOTHING / 3.0..10.0).log_scale())?;
        let short = |v: &f64| format!("{v:.0e}");
        chart
            .configure_mesh()
            .x_desc("steps")
            .x_label_formatter(&short)
            .y_label_formatter(&short)
            .light_line_style(WHITE)
            .draw()?;
        for (name, colour) in [("f32", RED), ("f64", BLUE), ("fixed43", BLACK)] {
            let of = runs.iter().filter(|run| run.scalar == name);
            let points: Vec<(f64, f64)> =
                of.map(|run| (run.steps as f64, error(run).clamp(NOTHING, 9.0))).collect();
            if points.is_empty() {
                continue;
            }
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(2))?
                .label(name)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .border_style(BLACK)
            .background_style(WHITE)
            .draw()?;
    }
    root.present()?;
    Ok(())
}
