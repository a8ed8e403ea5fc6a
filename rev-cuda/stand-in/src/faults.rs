//! Which calls fail, and the list of all calls: both are told by the environment, and read again
//! whenever CUDA is started.
//!
//! `REV_STAND_IN_FAIL=cuMemAlloc_v2:3:2` makes the third call of that function, counted from the start,
//! return the error 2; several are separated by commas. `REV_STAND_IN_LOG=path` appends a line for each call,
//! and one that begins with `misuse` for what no program may ask of the driver.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;

use crate::gpu::Code;

/// The faults that are asked for, and the calls so far.
#[derive(Default)]
pub struct Calls {
    faults: Vec<(String, u64, Code)>,
    counts: HashMap<&'static str, u64>,
    log: Option<File>,
}

impl Calls {
    /// Starts to count anew.
    pub fn restart(&mut self) {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let path = variable("REV_STAND_IN_LOG");
        *self = Calls {
            faults: variable("REV_STAND_IN_FAIL").split(',').filter_map(fault).collect(),
            counts: HashMap::new(),
            log: OpenOptions::new().create(true).append(true).open(path).ok(),
        };
    }

    /// Notes a call. The error that it has to return, if one was asked for.
    pub fn note(&mut self, name: &'static str, detail: &str) -> Result<(), Code> {
        self.write(name, detail);
        let count = self.counts.entry(name).or_default();
        *count += 1;
        let asked = self.faults.iter().find(|(which, at, _)| which == name && at == count);
        asked.map_or(Ok(()), |(.., code)| Err(*code))
    }

    /// Notes what no program may do.
    pub fn misuse(&mut self, what: &str) {
        eprintln!("the stand-in for the driver: misuse: {what}");
        self.write("misuse", what);
    }

    /// Notes what went wrong in a kernel.
    pub fn failed(&mut self, what: &str) {
        eprintln!("the stand-in for the driver: {what}");
        self.write("failed", what);
    }

    fn write(&mut self, name: &str, detail: &str) {
        if let Some(log) = &mut self.log {
            let line = format!("{name} {}", detail.replace('\n', " "));
            // a log that can't be written is missed by the test that reads it
            let _ = writeln!(log, "{}", line.trim_end());
        }
    }
}

fn fault(text: &str) -> Option<(String, u64, Code)> {
    let mut parts = text.split(':');
    let (name, at, code) = (parts.next()?, parts.next()?, parts.next()?);
    Some((name.to_string(), at.parse().ok()?, Code(code.parse().ok()?)))
}
