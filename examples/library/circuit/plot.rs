//! The energy by iteration.

use plotters::prelude::*;

use rev_examples::support::Failure;

/// The least difference that is drawn.
const LEAST: f64 = 1e-14;

/// How far the energy is above the exact one, before the first iteration and after each: an SVG document.
pub fn document(energies: &[f64], exact: f64) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, energies, exact).map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

fn draw(svg: &mut String, energies: &[f64], exact: f64) -> Result<(), Box<dyn std::error::Error>> {
    // an axis of logarithms has no zero
    let above = |(k, energy): (usize, &f64)| (k as f64, (energy - exact).max(LEAST));
    let points: Vec<(f64, f64)> = energies.iter().enumerate().map(above).collect();
    let ends = points.iter().fold((f64::INFINITY, 0f64), |(low, high), (_, e)| (low.min(*e), high.max(*e)));
    let root = SVGBackend::with_string(svg, (640, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("energy above the exact one, {exact:.6}"), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(
            0.0..(energies.len().max(2) - 1) as f64,
            (ends.0 * 0.5..ends.1 * 2.0).log_scale(),
        )?;
    let (whole, short) = (|v: &f64| format!("{v:.0}"), |v: &f64| format!("{v:.0e}"));
    chart
        .configure_mesh()
        .x_desc("iteration")
        .x_label_formatter(&whole)
        .y_label_formatter(&short)
        .light_line_style(WHITE)
        .draw()?;
    chart.draw_series(LineSeries::new(points, BLUE.stroke_width(2)).point_size(2))?;
    root.present()?;
    Ok(())
}
