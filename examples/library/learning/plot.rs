//! The outputs of both programs by rounds.

use plotters::prelude::*;

use rev_examples::support::Failure;

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Figure 7 of Liu and Zhao's first version: an SVG document.
pub fn document(target: f64, keeps: &[f64], forgets: &[f64]) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, target, keeps, forgets)
        .map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

fn draw(svg: &mut String, target: f64, keeps: &[f64], forgets: &[f64]) -> Drawn {
    let all = keeps.iter().chain(forgets).chain([&target]);
    let (low, high) =
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    let room = 0.1 * (high - low).max(1e-3);
    let root = SVGBackend::with_string(svg, (640, 400)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("learning by consistency", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(1.0..(keeps.len().max(2)) as f64, low - room..high + room)?;
    let whole = |v: &f64| format!("{v:.0}");
    chart
        .configure_mesh()
        .x_desc("round")
        .y_desc("output")
        .x_label_formatter(&whole)
        .light_line_style(WHITE)
        .draw()?;
    let points =
        |outputs: &[f64]| outputs.iter().enumerate().map(|(k, y)| ((k + 1) as f64, *y)).collect::<Vec<_>>();
    for (label, outputs, colour) in
        [("the input is kept", keeps, RED), ("the input is forgotten", forgets, BLUE)]
    {
        chart
            .draw_series(LineSeries::new(points(outputs), colour.stroke_width(2)).point_size(2))?
            .label(label)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::MiddleRight)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    root.present()?;
    Ok(())
}
