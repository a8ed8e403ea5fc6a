//! Plots of run times and of memory.

use plotters::prelude::*;

use super::programs::{Memory, Row};
use rev_examples::support::Failure;

const COLOURS: [RGBColor; 8] = [
    BLACK,
    RGBColor(120, 120, 120),
    BLUE,
    RGBColor(0, 150, 200),
    RGBColor(0, 140, 60),
    RED,
    RGBColor(230, 140, 0),
    RGBColor(140, 60, 180),
];

/// Points of one line.
pub struct Line<'a> {
    /// What it is of.
    pub name: &'a str,
    /// Sizes and values.
    pub points: Vec<(f64, f64)>,
}

/// Run time against size, a line for each work: an SVG document.
pub fn runtimes(title: &str, sizes: &str, rows: &[Row]) -> Result<String, Failure> {
    let works = rows.first().map_or(0, |r| r.times.len());
    let lines = (0..works).map(|k| Line {
        name: rows[0].times[k].0,
        points: rows.iter().map(|r| (r.size as f64, r.times[k].1)).collect(),
    });
    document(title, [sizes, "seconds"], lines.collect())
}

/// Peak memory against the number of parameters, beside the formula of the paper.
pub fn memory(title: &str, rows: &[Memory]) -> Result<String, Failure> {
    let line = |name, bytes: fn(&Memory) -> f64| Line {
        name,
        points: rows.iter().map(|m| (m.parameters as f64, bytes(m))).collect(),
    };
    let lines = vec![
        line("formula of the paper", |m| m.formula),
        line("one iteration at a time", |m| m.peak),
        line("in lanes", |m| m.in_lanes),
    ];
    document(title, ["number of parameters", "bytes"], lines)
}

/// Lines in a plot with both axes logarithmic: an SVG document.
fn document(title: &str, axes: [&str; 2], lines: Vec<Line<'_>>) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, title, axes, lines).map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

fn draw(
    svg: &mut String,
    title: &str,
    [sizes, values]: [&str; 2],
    mut lines: Vec<Line<'_>>,
) -> Result<(), Box<dyn std::error::Error>> {
    lines.iter_mut().for_each(|l| l.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let all = || lines.iter().flat_map(|l| &l.points);
    let ends = |of: fn(&(f64, f64)) -> f64| {
        all().map(of).fold((f64::INFINITY, 0f64), |(least, most), v| (least.min(v), most.max(v)))
    };
    let ((first, last), (least, most)) = (ends(|p| p.0), ends(|p| p.1));
    let root = SVGBackend::with_string(svg, (720, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d((first * 0.8..last * 1.25).log_scale(), (least * 0.7..most * 1.4).log_scale())?;
    chart
        .configure_mesh()
        .x_desc(sizes)
        .y_desc(values)
        .x_label_formatter(&|size| format!("{size}"))
        .y_label_formatter(&|t| format!("{t:.0e}"))
        .draw()?;
    for (line, colour) in lines.into_iter().zip(COLOURS.iter().cycle()) {
        chart
            .draw_series(LineSeries::new(line.points, colour.stroke_width(2)).point_size(3))?
            .label(line.name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour));
    }
    // the lines rise, so that this corner is free
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    root.present()?;
    Ok(())
}
