//! What a GPU does: correctness beside the CPU, what it can move and compute, and the times of the
//! benchmark programs beside that.

mod agreement;
mod bench;
mod report;
mod wave;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rev::cuda::driver::Driver;
use rev::cuda::Gpu;
use rev::device::Device;
use rev::{Cuda, Emulator};
use rev_examples::support::{finish, positive, write_json, DeviceName, Failure, Outcome};
use rev_kernels::io::write_whole;

use bench::Bench;
use report::Record;

/// Runs every program and the comparisons with the CPU, then the benchmarks, on a GPU, and writes gpu.md
/// and gpu.json. Exit status 1 where a number differs or a program can't be run.
#[derive(Parser)]
#[command(version)]
pub struct Options {
    /// cuda or emulator
    #[arg(long, value_enum, default_value_t = DeviceName::Cuda)]
    device: DeviceName,
    /// Small instances, each timed once: for the emulator
    #[arg(long)]
    quick: bool,
    /// How often each time is taken
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = positive)]
    repeat: usize,
    /// Times of bundles of up to so many observations
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = positive)]
    observations: usize,
    /// The folder for the results
    #[arg(long, value_name = "DIR", default_value = "out/gpu")]
    out: PathBuf,
}

impl Options {
    /// A size, or a small one.
    fn size(&self, full: usize, quick: usize) -> usize {
        if self.quick {
            quick
        } else {
            full
        }
    }
}

fn record<D: Driver>(gpu: &Gpu<D>, options: &Options) -> Result<Record, rev::Error> {
    let suite = agreement::suite(gpu);
    let agreements = agreement::large(gpu, options);
    let bench = Bench::new(gpu, options)?;
    Ok(Record {
        device: gpu.name().into(),
        quick: options.quick,
        bytes_per_second: bench.bytes_per_second,
        operations_per_second: bench.operations_per_second,
        matrix_operations_per_second: bench.matrix_operations_per_second,
        suite,
        agreements,
        times: bench.times(),
    })
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let record = match options.device {
        DeviceName::Cuda => record(&Cuda::new(0)?, options)?,
        DeviceName::Emulator => record(&Emulator::new(), options)?,
        DeviceName::Cpu | DeviceName::Interpreter => {
            return Err(Failure::Sizes("the report is about cuda or emulator".into()));
        }
    };
    let text = record.markdown();
    print!("{text}");
    let file = |name: &str| options.out.join(name);
    std::fs::create_dir_all(&options.out)?;
    write_whole(&file("gpu.md"), |out| out.write_all(text.as_bytes()))?;
    write_json(Some(&file("gpu.json")), &record)?;
    Ok(if record.is_good() { Outcome::Good } else { Outcome::CheckFailed })
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
