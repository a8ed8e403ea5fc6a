//! The tables of the papers for what rev has: Bessel functions, the Gaussian mixture and bundle
//! adjustment, every program beside its plain twin in the same run, with the ratios that others
//! published. Writes `benchmarks.md` and plots.

mod checks;
mod level;
mod peers;
mod plot;
mod programs;
mod ratios;
mod releases;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rev_examples::race::Race;
use rev_examples::support::{finish, positive, Failure, Outcome};
use rev_kernels::io::write_whole;

/// Measures every program beside its plain twin, on one thread, and writes tables and plots.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Small instances and few rounds: to see that it runs, not what it costs
    #[arg(long)]
    quick: bool,
    /// The number of points of the mixtures; 10,000 in the papers
    #[arg(long, value_name = "N", value_parser = positive)]
    points: Option<usize>,
    /// How often each time is taken; the shortest counts
    #[arg(long, value_name = "R", value_parser = positive)]
    rounds: Option<usize>,
    /// Measures nothing: draws the picture of ratios again from the benchmarks.md that is there
    #[arg(long)]
    redraw: bool,
    /// Only what checks cost, printed
    #[arg(long)]
    checks: bool,
    /// Where benchmarks.md and the plots go
    #[arg(long, value_name = "DIR", default_value = "docs")]
    out: PathBuf,
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let write =
        |name: &str, text: &str| write_whole(&options.out.join(name), |out| out.write_all(text.as_bytes()));
    if options.redraw {
        let page = options.out.join("benchmarks.md");
        let unread = |error| Failure::Sizes(format!("{}: {error}", page.display()));
        let page = std::fs::read_to_string(&page).map_err(unread)?;
        write("benchmarks-ratios.svg", &ratios::picture(&page)?)?;
        return Ok(Outcome::Good);
    }
    let rounds = options.rounds.unwrap_or(if options.quick { 2 } else { 12 });
    let race = Race::new(rounds);
    let mut sizes = if options.quick { programs::Sizes::QUICK } else { programs::Sizes::FULL };
    sizes.points = options.points.unwrap_or(sizes.points);
    if options.checks {
        let costs = checks::costs(&race, sizes.points)?;
        drop(race);
        tables::checks(&mut String::new(), &costs)?;
        return Ok(Outcome::Good);
    }
    let results = tables::Results {
        bessel: programs::bessel(&race)?,
        gmm: programs::gmm(&race, &sizes)?,
        ba: programs::ba(&race, &sizes)?,
        memory: programs::gmm_memory(&sizes)?,
        levels: level::levels()?,
        checks: checks::costs(&race, sizes.points)?,
    };
    drop(race);
    let quick = if options.quick { "--quick " } else { "" };
    let given = format!("{quick}--points {} --rounds {rounds}", sizes.points);
    let page = tables::page(&given, &sizes, &results)?;
    std::fs::create_dir_all(&options.out)?;
    write("benchmarks.md", &page)?;
    write("benchmarks-ratios.svg", &ratios::picture(&page)?)?;
    write("benchmarks-gmm.svg", &plot::runtimes("GMM, one thread", "number of parameters", &results.gmm)?)?;
    write(
        "benchmarks-ba.svg",
        &plot::runtimes("Bundle adjustment, one thread", "number of observations", &results.ba)?,
    )?;
    write("benchmarks-memory.svg", &plot::memory("GMM, memory of a gradient", &results.memory)?)?;
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
