//! The page of tables.

use std::fmt::Write;

use super::checks::Cost;
use super::level::Level;
use super::peers::{self, Published};
use super::programs::{Memory, Row, Sizes};
use rev_examples::support::{Failure, Report};

/// What was measured.
pub struct Results {
    /// The Bessel function's times.
    pub bessel: Row,
    /// The mixtures' times.
    pub gmm: Vec<Row>,
    /// Bundle adjustment's times.
    pub ba: Vec<Row>,
    /// The memory of the mixtures' gradients.
    pub memory: Vec<Memory>,
    /// The levels of uncomputing.
    pub levels: Vec<Level>,
    /// What checks cost.
    pub checks: Vec<Cost>,
}

/// The processor, where the system says which one it is.
fn place() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let entry = |key: &str| {
        let mut named = system.lines().filter_map(|line| line.split_once(':'));
        named.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
    };
    let name = entry("model name").unwrap_or("a processor without a name");
    let number = |key: &str| entry(key).unwrap_or("unknown");
    // a name alone doesn't say which generation it is
    let (family, model) = (number("cpu family"), number("model"));
    let vectors = match entry("flags").is_some_and(|flags| flags.split(' ').any(|f| f == "avx512f")) {
        true => "with AVX-512",
        false => "without AVX-512",
    };
    format!("on {cores} cores of {name} (family {family}, model {model}; {vectors})")
}

/// `docs/benchmarks.md`, written with these options; the tables are printed too.
pub fn page(options: &str, sizes: &Sizes, results: &Results) -> Result<String, Failure> {
    let Results { bessel, gmm, ba, memory, levels, checks } = results;
    let mut page = String::from("# Benchmarks\n\n");
    page += &format!(
        "Written by `cargo run --release --example bench_report -- {options}` {}.\n\
         One thread, `f64`; the shortest of several\n\
         times (the thread's own, of the processor) taken in turns; **F** is the plain Rust twin's forward run in the same run, and ratios are to it.\n\
         Checks are on, as they are unless a program turns them off, except where it says so. Published ratios are from arXiv:2003.04617 (tables 3, 5, 6), each over\n\
         the plain program of its own system; they are not of this machine, and instances are generated alike, not the same.\n\n",
        place()
    );
    table(&mut page, "Bessel function J2(1.0)", &["", "time", "/ F"], bessel_rows(bessel))?;
    let columns = [
        "instance",
        "F",
        "forward",
        "forward, checks off",
        "inverse",
        "gradient",
        "gradient, by products",
        "gradient, one iteration at a time",
        "hand-written gradient",
        "published: NiLang O, G; Tapenade G",
    ];
    let works = [
        "forward",
        "forward, checks off",
        "inverse",
        "gradient",
        "gradient, by products",
        "gradient, one at a time",
        "twin's gradient",
    ];
    table(
        &mut page,
        &format!("Gaussian mixture, {} points", sizes.points),
        &columns,
        rows(gmm, &works, &peers::GMM),
    )?;
    page += "![Run times of the Gaussian mixture](benchmarks-gmm.svg)\n\n";
    let columns = [
        "instance",
        "F",
        "forward",
        "forward, checks off",
        "Jacobian",
        "gradient",
        "hand-written gradient",
        "published: NiLang O, J; Tapenade J",
    ];
    let works = ["forward", "forward, checks off", "Jacobian", "gradient", "twin's gradient"];
    table(&mut page, "Bundle adjustment", &columns, rows(ba, &works, &peers::BA))?;
    page += "![Run times of bundle adjustment](benchmarks-ba.svg)\n\n";
    let memory_rows = memory.iter().map(|m| {
        let kib = |bytes: f64| format!("{:.1} KiB", bytes / 1024.0);
        let ratio = |bytes: f64| format!("{} ({:.2})", kib(bytes), bytes / m.formula);
        vec![m.label.clone(), kib(m.formula), ratio(m.peak), ratio(m.in_lanes)]
    });
    let columns = ["instance", "(3 + d² + d) k + 2 log₂ k + P", "peak, one iteration at a time", "in lanes"];
    table(
        &mut page,
        "Memory of the mixture's gradient (gradients by the parameters included, by the points not)",
        &columns,
        memory_rows.collect(),
    )?;
    page += "![Memory of the mixture's gradient](benchmarks-memory.svg)\n\n";
    let level_rows = levels.iter().map(|l| {
        vec![
            l.name.to_string(),
            l.reversible.to_string(),
            l.erased.to_string(),
            format!("{:.2}", l.value()),
            "0".into(),
        ]
    });
    let columns =
        ["program", "operations, reversible", "operations, erased", "level, checked", "level, checks off"];
    table(&mut page, "Uncomputing levels (log₂ of the ratio of operations)", &columns, level_rows.collect())?;
    self::checks(&mut page, checks)?;
    Ok(page.trim_end().to_string() + "\n")
}

/// What checks cost.
pub fn checks(page: &mut String, costs: &[Cost]) -> Result<(), Failure> {
    let rows = costs.iter().map(|c| {
        let [off, on] = c.times.map(seconds);
        vec![c.label.clone(), off, on, format!("{:.2}", c.ratio())]
    });
    table(page, "What checks cost", &["program", "off", "on", "on / off"], rows.collect())
}

fn table(page: &mut String, title: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Result<(), Failure> {
    let mut report = Report::new(title, columns);
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = columns.iter().map(ToString::to_string).collect();
    let _ = write!(page, "## {title}\n\n{}|{}\n", line(&head), " --- |".repeat(columns.len()));
    for row in rows {
        page.push_str(&line(&row));
        report.row(row);
    }
    page.push('\n');
    Ok(report.print()?)
}

fn time(row: &Row, name: &str) -> f64 {
    row.times.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, t)| *t)
}

fn seconds(t: f64) -> String {
    match t {
        t if t < 1e-6 => format!("{:.1} ns", t * 1e9),
        t if t < 1e-3 => format!("{:.2} µs", t * 1e6),
        t => format!("{:.2} ms", t * 1e3),
    }
}

fn bessel_rows(row: &Row) -> Vec<Vec<String>> {
    let f = time(row, "twin");
    let own = row.times.iter().map(|(name, t)| vec![name.to_string(), seconds(*t), format!("{:.2}", t / f)]);
    let others = peers::BESSEL
        .iter()
        .map(|(name, ratio)| vec![format!("{name} (published)"), String::new(), format!("{ratio:.1}")]);
    own.chain(others).collect()
}

fn rows(all: &[Row], works: &[&str], published: &[Published]) -> Vec<Vec<String>> {
    let of = |row: &Row| {
        let f = time(row, "twin");
        let mut cells = vec![row.label.clone(), seconds(f)];
        cells.extend(works.iter().map(|name| format!("{:.2}", time(row, name) / f)));
        let peers = published.iter().find(|p| p.size == row.size).map(Published::ratios);
        cells.push(peers.map_or(String::new(), |[o, g, t]| format!("{o:.2}, {g:.2}; {t:.2}")));
        cells
    };
    all.iter().map(of).collect()
}
