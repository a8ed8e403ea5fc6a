//! The picture of what derivatives cost: over the plain forward run, for each instance, beside what others published. It is
//! drawn from the tables of `benchmarks.md`, so that it shows what is written there.

use plotters::prelude::*;

use rev_examples::support::Failure;

/// Whose derivative it is, in which column of the page, which of the column's numbers, and its colour.
type System = (&'static str, &'static str, usize, RGBColor);

const SYSTEMS: [System; 4] = [
    ("rev", "gradient", 0, RED),
    ("by hand, plain Rust", "hand-written gradient", 0, BLACK),
    ("NiLang (published)", "published", 1, BLUE),
    ("Tapenade (published)", "published", 2, RGBColor(0, 140, 60)),
];

/// A table of the page.
struct Panel {
    /// The beginning of its heading on the page.
    heading: &'static str,
    /// Its heading in the picture.
    title: &'static str,
    /// What the numbers are that tell instances apart.
    instances: &'static str,
    /// Rev's column, which has to be of the same work as the others'.
    ours: &'static str,
}

const PANELS: [Panel; 2] = [
    Panel {
        heading: "## Gaussian mixture",
        title: "Gaussian mixture: gradient",
        instances: "dimensions, components",
        ours: "gradient",
    },
    Panel {
        heading: "## Bundle adjustment",
        title: "Bundle adjustment: Jacobian",
        instances: "observations",
        ours: "Jacobian",
    },
];

/// The ratios of one instance, of each system that has one.
struct Instance {
    label: String,
    ratios: [Option<f64>; SYSTEMS.len()],
}

/// The numbers in a text.
fn digits(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).collect()
}

/// The instances of a table. What is by hand is a gradient, and isn't shown beside Jacobians.
fn instances(page: &str, panel: &Panel) -> Vec<Instance> {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines =
        page.lines().skip_while(|line| !line.starts_with(panel.heading)).filter(|line| !line.is_empty());
    let columns = lines.nth(1).map(cells).unwrap_or_default();
    let numbers = |row: &[String], column: &str| -> Vec<f64> {
        let place = columns.iter().position(|c| c == column || c.starts_with(&format!("{column}:")));
        let cell = place.and_then(|place| row.get(place)).map_or("", String::as_str);
        cell.split([',', ';']).filter_map(|number| number.trim().parse().ok()).collect()
    };
    let rows = lines.skip(1).take_while(|line| line.starts_with('|')).map(cells);
    rows.map(|row| Instance {
        label: digits(row[1].rsplit_once(" points, ").map_or(&row[1], |(_, data)| data)).join(", "),
        ratios: SYSTEMS.map(|(name, column, place, _)| {
            let column = if name == "rev" { panel.ours } else { column };
            let shown = column != "hand-written gradient" || panel.ours == "gradient";
            numbers(&row, column).get(place).copied().filter(|_| shown)
        }),
    })
    .collect()
}

/// Both panels as an SVG document; a page that lacks one of the tables is an error.
pub fn picture(page: &str) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, page).map_err(|e| Failure::Output(std::io::Error::other(e.to_string())))?;
    Ok(svg)
}

fn draw(svg: &mut String, page: &str) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, (900, 400)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, right) = root.split_horizontally(570);
    for (area, panel) in [left, right].iter().zip(&PANELS) {
        let instances = instances(page, panel);
        if instances.is_empty() {
            return Err(format!("the page has no table `{}`", panel.heading).into());
        }
        draw_panel(area, panel, &instances)?;
    }
    root.present()?;
    Ok(())
}

fn draw_panel<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    panel: &Panel,
    instances: &[Instance],
) -> Result<(), Box<dyn std::error::Error>>
where
    B::ErrorType: 'static,
{
    let mut chart = ChartBuilder::on(area)
        .caption(panel.title, ("sans-serif", 17))
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d((0..instances.len()).into_segmented(), (0.2..99.0).log_scale())?;
    let label = |x: &SegmentValue<usize>| match x {
        SegmentValue::Exact(k) | SegmentValue::CenterOf(k) => {
            instances.get(*k).map_or(String::new(), |i| i.label.clone())
        }
        SegmentValue::Last => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.15))
        .x_desc(panel.instances)
        .x_labels(instances.len())
        .x_label_formatter(&label)
        .y_label_formatter(&|ratio| format!("{ratio}"))
        .y_desc("time / plain forward run")
        .draw()?;
    chart.draw_series(LineSeries::new(
        [(SegmentValue::Exact(0), 1.0), (SegmentValue::Last, 1.0)],
        BLACK.mix(0.5),
    ))?;
    for (k, (name, _, _, colour)) in SYSTEMS.into_iter().enumerate() {
        let points = instances.iter().enumerate();
        let points = points.filter_map(|(x, i)| Some((SegmentValue::CenterOf(x), i.ratios[k]?)));
        let series = chart.draw_series(points.map(|point| Circle::new(point, 5, colour.filled())))?;
        if instances.iter().any(|i| i.ratios[k].is_some()) {
            series.label(name).legend(move |(x, y)| Circle::new((x + 9, y), 5, colour.filled()));
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    Ok(())
}
