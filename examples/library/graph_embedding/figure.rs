//! Times of the loss, its gradient and its Hessian by the number of dimensions, beside the published ones.

use ndarray::Array2;
use plotters::coord::Shift;
use plotters::prelude::*;
use rev::prelude::*;
use serde::Serialize;

use super::training::start;
use rev_examples::support::{Failure, Stopwatch};
use rev_networks::graph_embedding::{embedding, Petersen, EDGES};

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Dimensions and seconds.
type Curve = Vec<(f64, f64)>;

/// How often a work is repeated within one measurement: they are short.
const INNER: usize = 50;

/// A column of Table 3 of Liu and Zhao (2021), seconds for 2, 4, 6, 8 and 10 dimensions.
type Published = (&'static str, [f64; 5]);

const VALUES: [Published; 2] = [
    ("NiLang", [7.173e-6, 7.783e-6, 8.558e-6, 9.212e-6, 1.002e-5]),
    ("Julia", [4.477e-6, 4.729e-6, 4.959e-6, 5.196e-6, 5.567e-6]),
];
const GRADIENTS: [Published; 4] = [
    ("NiLang", [1.509e-5, 1.690e-5, 1.872e-5, 2.076e-5, 2.266e-5]),
    ("ReverseDiff", [2.823e-5, 4.582e-5, 6.045e-5, 7.651e-5, 9.666e-5]),
    ("ForwardDiff", [1.518e-5, 4.053e-5, 6.732e-5, 1.184e-4, 1.701e-4]),
    ("Zygote", [5.315e-4, 5.570e-4, 5.811e-4, 6.096e-4, 6.396e-4]),
];
const HESSIANS: [Published; 3] = [
    ("NiLang, ForwardDiff", [4.528e-4, 1.025e-3, 1.740e-3, 2.577e-3, 3.558e-3]),
    ("ForwardDiff", [2.378e-4, 2.380e-3, 6.903e-3, 1.967e-2, 3.978e-2]),
    ("ReverseDiff, ForwardDiff", [1.966e-3, 6.058e-3, 1.225e-2, 2.035e-2, 3.140e-2]),
];

/// Seconds in one number of dimensions.
#[derive(Clone, Copy, Serialize)]
pub struct Times {
    pub dim: usize,
    pub value: f64,
    pub gradient: f64,
    pub hessian: f64,
}

/// Each is the shortest of `repeat` measurements on one thread without checks, as the published ones are.
pub fn times(graph: &Petersen, dimensions: &[usize], repeat: usize) -> Result<Vec<Times>, Failure> {
    let device = Cpu::with_threads(1).checks(false);
    let watch = Stopwatch::new(repeat, 3 * dimensions.len());
    let of = |&dim: &usize| -> Result<Times, Failure> {
        let x: Array2<f64> = start(dim, 1);
        let (x, a, b) = (x.view(), &graph.a[..], &graph.b[..]);
        let each = |name, inner: usize, work: &dyn Fn() -> Result<(), Error>| -> Result<f64, Failure> {
            let ((), time) = watch.time(name, || (0..inner).try_for_each(|_| work()))?;
            Ok(time.min * 1e-3 / inner as f64)
        };
        Ok(Times {
            dim,
            value: each("value", INNER, &|| embedding::run(&device, &mut 0.0, x, a, b, EDGES))?,
            gradient: each("gradient", INNER, &|| embedding::gradient(&device, x, a, b, EDGES).map(drop))?,
            hessian: each("Hessian", 4, &|| embedding::hessian(&device, x, a, b, EDGES).map(drop))?,
        })
    };
    dimensions.iter().map(of).collect()
}

/// The three as an SVG document.
pub fn document(times: &[Times]) -> Result<String, Failure> {
    let mut svg = String::new();
    let mut drawn = || -> Drawn {
        let root = SVGBackend::with_string(&mut svg, (1140, 400)).into_drawing_area();
        root.fill(&WHITE)?;
        let parts = root.split_evenly((1, 3));
        let of = |time: fn(&Times) -> f64| times.iter().map(|t| (t.dim as f64, time(t))).collect::<Vec<_>>();
        let panels: [(&str, Curve, &[Published]); 3] = [
            ("value", of(|t| t.value), &VALUES),
            ("gradient", of(|t| t.gradient), &GRADIENTS),
            ("Hessian", of(|t| t.hessian), &HESSIANS),
        ];
        for (part, (name, measured, published)) in parts.iter().zip(&panels) {
            panel(part, name, measured, published)?;
        }
        root.present()?;
        Ok(())
    };
    drawn().map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

const COLOURS: [RGBColor; 4] =
    [RGBColor(214, 96, 40), RGBColor(40, 140, 70), RGBColor(130, 80, 170), RGBColor(120, 120, 120)];

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    name: &str,
    measured: &[(f64, f64)],
    published: &[Published],
) -> Drawn {
    let all = measured.iter().map(|p| p.1).chain(published.iter().flat_map(|p| p.1));
    let (low, high) = all.fold((f64::INFINITY, 0f64), |(low, high), v| (low.min(v), high.max(v)));
    let mut chart = ChartBuilder::on(area)
        .caption(name, ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(56)
        // room for the names above the lines
        .build_cartesian_2d(0.5..10.5, (low * 0.6..high * 150.0).log_scale())?;
    let (whole, short) = (|v: &f64| format!("{v:.0}"), |v: &f64| format!("{v:.0e}"));
    chart
        .configure_mesh()
        .x_desc("dimensions")
        .y_desc("seconds")
        .x_label_formatter(&whole)
        .y_label_formatter(&short)
        .light_line_style(WHITE)
        .draw()?;
    let published = published.iter().zip(COLOURS).map(|((name, seconds), colour)| {
        let points = seconds.iter().enumerate().map(|(i, s)| (2.0 * (i + 1) as f64, *s)).collect();
        (format!("{name} (published)"), points, colour)
    });
    let lines: Vec<(String, Curve, RGBColor)> =
        std::iter::once(("rev".to_string(), measured.to_vec(), BLUE)).chain(published).collect();
    for (label, points, colour) in lines {
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))?
            .label(label)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    Ok(())
}
