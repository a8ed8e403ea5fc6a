//! The least time against memory.

use plotters::prelude::*;
use rev::schedule::Plan;

use super::Record;
use rev_examples::support::Failure;

/// Time of the best plans against their memory, and one schedule among them: an SVG document.
pub fn document(curve: &[Plan], record: &Record) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, curve, record).map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

fn draw(svg: &mut String, curve: &[Plan], record: &Record) -> Result<(), Box<dyn std::error::Error>> {
    let points: Vec<(f64, f64)> = curve.iter().map(|plan| (plan.peak_bytes as f64, plan.seconds)).collect();
    let chosen = (record.peak_bytes as f64, record.seconds);
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let all = points.iter().chain([&chosen]).map(of);
        all.fold((f64::INFINITY, 0f64), |(least, most), v| (least.min(v), most.max(v)))
    };
    let ((first, last), (least, most)) = (ends(|p| p.0), ends(|p| p.1));
    let root = SVGBackend::with_string(svg, (720, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("{} steps: time against memory", record.steps), ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d((first * 0.8..last * 1.25).log_scale(), (least * 0.7..most * 1.4).log_scale())?;
    let short = |v: &f64| format!("{v:.0e}");
    chart
        .configure_mesh()
        .x_desc("bytes of all states at a time")
        .y_desc("seconds")
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .draw()?;
    chart
        .draw_series(LineSeries::new(points, BLUE.stroke_width(2)).point_size(2))?
        .label("fewest calls for the memory")
        .legend(|(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], BLUE));
    chart
        .draw_series([Circle::new(chosen, 5, RED.filled())])?
        .label(format!("{:?}", record.method).to_lowercase())
        .legend(|(x, y)| Circle::new((x + 9, y), 5, RED.filled()));
    // the line falls, so that this corner is free
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    root.present()?;
    Ok(())
}
