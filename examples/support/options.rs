//! The options that the measuring programs share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rev::device::Device;
use rev::interp::Interpreter;
use rev::prelude::Cpu;
use rev::tolerance::Options;
use rev_kernels::io::WriteError;
use serde::Serialize;

use super::record::write_json;

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceName {
    /// Native code on the processor
    Cpu,
    /// The reference interpreter: slow, with every check
    Interpreter,
    /// The first NVIDIA GPU
    Cuda,
    /// A GPU in software: very slow
    Emulator,
}

impl DeviceName {
    /// The device.
    pub fn open(self, options: Options) -> Result<Box<dyn Device>, rev::Error> {
        Ok(match self {
            DeviceName::Cpu => Box::new(Cpu::with_options(options)),
            DeviceName::Interpreter => Box::new(Interpreter::with_options(options)),
            DeviceName::Cuda => Box::new(rev::Cuda::new(0)?.with_options(options)),
            DeviceName::Emulator => Box::new(rev::Emulator::new().with_options(options)),
        })
    }
}

/// How to run, and where results go.
#[derive(Args)]
pub struct RunOptions {
    /// Where to run
    #[arg(long, value_enum, default_value_t = DeviceName::Cpu)]
    pub device: DeviceName,
    /// Number of threads, all of them when not given
    #[arg(long, value_name = "T", value_parser = positive)]
    pub threads: Option<usize>,
    /// Check reversibility while running (the interpreter always does)
    #[arg(long)]
    pub checked: bool,
    /// How often each time is taken
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = positive)]
    pub repeat: usize,
    /// Write the results as text files into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write sizes, results and times to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Compare derivatives with finite differences at 20 random coordinates; exit status 1 when off
    #[arg(long)]
    pub check: bool,
}

impl RunOptions {
    /// The device to run on.
    pub fn open(&self) -> Result<Box<dyn Device>, rev::Error> {
        self.device.open(self.of_device())
    }

    /// How the device runs.
    pub fn of_device(&self) -> Options {
        Options { checks: self.checked, threads: Some(self.threads()), ..Options::default() }
    }

    /// The number of threads to run on.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// The folder for results, made when it isn't there.
    pub fn folder(&self) -> Result<Option<&PathBuf>, WriteError> {
        let make = |folder: &PathBuf| {
            std::fs::create_dir_all(folder).map_err(|cause| WriteError { file: folder.clone(), cause })
        };
        self.out.as_ref().map(|folder| make(folder).map(|()| folder)).transpose()
    }

    /// Writes the record of a run, if it is asked for.
    pub fn write_json(&self, record: &impl Serialize) -> Result<(), WriteError> {
        write_json(self.json.as_deref(), record)
    }
}

/// A whole number above 0.
pub fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "a whole number above 0 is needed".into())
}
