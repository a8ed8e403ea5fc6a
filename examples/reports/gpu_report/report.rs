//! What was found, as Markdown and JSON.

use serde::Serialize;
use std::fmt::Write as _;

/// One comparison with the CPU.
#[derive(Serialize)]
pub struct Agreement {
    pub name: String,
    /// How many numbers differ, of how many; or why there is no comparison.
    pub differing: Result<[usize; 2], String>,
}

/// One measurement.
#[derive(Serialize)]
pub struct Time {
    pub name: String,
    /// The shortest, or why there is none.
    pub milliseconds: Result<f64, String>,
    /// What the memory traffic takes that can't be avoided, at the measured bandwidth.
    pub memory_milliseconds: f64,
    /// What the arithmetic takes that can't be avoided, at the measured rate; where it is known.
    pub arithmetic_milliseconds: Option<f64>,
}

impl Time {
    /// The larger floor.
    fn floor(&self) -> f64 {
        self.arithmetic_milliseconds.unwrap_or(0.0).max(self.memory_milliseconds)
    }
}

/// What `gpu.json` has.
#[derive(Serialize)]
pub struct Record {
    pub device: String,
    pub quick: bool,
    pub bytes_per_second: f64,
    pub operations_per_second: f64,
    pub matrix_operations_per_second: f64,
    pub suite: Vec<Agreement>,
    pub agreements: Vec<Agreement>,
    pub times: Vec<Time>,
}

impl Record {
    /// Everything ran, and no number differs.
    pub fn is_good(&self) -> bool {
        let agree = self.suite.iter().chain(&self.agreements).all(|a| matches!(a.differing, Ok([0, _])));
        agree && self.times.iter().all(|t| t.milliseconds.is_ok())
    }

    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.device);
        if self.quick {
            text.push_str("Small instances: what runs, not how fast.\n\n");
        }
        let _ = writeln!(
            text,
            "Copies within the device: {:.1} GB/s, reads and writes together. Fused multiply-adds in f64: {:.1} \
             GFLOP/s, two operations each. Products of matrices in f64: {:.1} GFLOP/s.",
            self.bytes_per_second * 1e-9,
            self.operations_per_second * 1e-9,
            self.matrix_operations_per_second * 1e-9
        );
        for (title, rows) in [("every program", &self.suite), ("large instances", &self.agreements)] {
            let _ = writeln!(
                text,
                "\n| {title}, deterministic, beside the CPU | differing | of |\n| --- | --- | --- |"
            );
            for a in rows {
                let _ = match &a.differing {
                    Ok([differing, scalars]) => writeln!(text, "| {} | {differing} | {scalars} |", a.name),
                    Err(why) => writeln!(text, "| {} | {why} | |", a.name),
                };
            }
        }
        text.push_str(
            "\n| arrays on the device | ms | memory floor, ms | arithmetic floor, ms | over the floor |\n\
             | --- | --- | --- | --- | --- |\n",
        );
        for t in &self.times {
            let arithmetic = t.arithmetic_milliseconds.map(|ms| format!("{ms:.3}")).unwrap_or_default();
            let _ = match &t.milliseconds {
                Ok(ms) => writeln!(
                    text,
                    "| {} | {ms:.3} | {:.3} | {arithmetic} | {:.2} |",
                    t.name,
                    t.memory_milliseconds,
                    ms / t.floor()
                ),
                Err(why) => {
                    writeln!(text, "| {} | {why} | {:.3} | {arithmetic} | |", t.name, t.memory_milliseconds)
                }
            };
        }
        text
    }
}
