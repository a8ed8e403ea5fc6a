//! Plots of run times.

use plotters::prelude::*;

use super::programs::Row;
use super::support::Failure;

const COLOURS: [RGBColor; 6] =
    [BLACK, RGBColor(120, 120, 120), BLUE, RGBColor(0, 150, 200), RGBColor(0, 140, 60), RED];

/// Run time against size, both logarithmic, a line for each work: an SVG document.
pub fn runtimes(title: &str, sizes: &str, rows: &[Row]) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, title, sizes, rows).map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

fn draw(svg: &mut String, title: &str, sizes: &str, rows: &[Row]) -> Result<(), Box<dyn std::error::Error>> {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by_key(|r| r.size);
    let all = || rows.iter().flat_map(|r| r.times.iter().map(|(_, t)| *t));
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let (first, last) = (rows.first().map_or(1, |r| r.size), rows.last().map_or(10, |r| r.size));
    let root = SVGBackend::with_string(svg, (720, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(
            (first as f64 * 0.8..last as f64 * 1.25).log_scale(),
            (least * 0.7..most * 1.4).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc(sizes)
        .y_desc("seconds")
        .y_label_formatter(&|t| format!("{t:.0e}"))
        .draw()?;
    let works = rows.first().map_or(0, |r| r.times.len());
    for (k, colour) in (0..works).zip(COLOURS.iter().cycle()) {
        let points: Vec<(f64, f64)> = rows.iter().map(|r| (r.size as f64, r.times[k].1)).collect();
        let name = rows[0].times[k].0;
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))?
            .label(name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour));
    }
    chart.configure_series_labels().border_style(BLACK).background_style(WHITE).draw()?;
    root.present()?;
    Ok(())
}
