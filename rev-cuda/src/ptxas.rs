//! NVIDIA's assembler, where there is one: whether it takes a text, and what registers and memory the
//! kernels need. Nothing here runs a kernel.

mod cubin;

use crate::driver::Target;
use rev_core::error::{Cause, Error};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where `.ci/run` puts the package that has it, from the workspace's root.
const INSTALLED: &str = "target/ptxas/nvidia/cuda_nvcc/bin/ptxas";

/// A `ptxas` that was found.
#[derive(Clone, Debug)]
pub struct Assembler {
    path: PathBuf,
}

/// What a kernel needs on one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The kernel's name.
    pub kernel: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread's stack: its local memory, spilled registers included.
    pub stack: u32,
    /// Bytes of spilled registers that are written.
    pub spill_stores: u32,
    /// Bytes of spilled registers that are read back.
    pub spill_loads: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Machine instructions, those that pad the code included.
    pub instructions: u32,
}

impl Assembler {
    /// The assembler named by `REV_PTXAS`, else that on `PATH`, else what `.ci/run` installed in the
    /// directory `target` of this one or of one around it.
    pub fn find() -> Option<Assembler> {
        if let Some(path) = std::env::var_os("REV_PTXAS") {
            return Some(Assembler { path: path.into() });
        }
        let on_path = std::env::var_os("PATH")
            .and_then(|path| std::env::split_paths(&path).map(|dir| dir.join("ptxas")).find(|p| p.is_file()));
        let installed = || {
            let here = std::env::current_dir().ok()?;
            here.ancestors().map(|dir| dir.join(INSTALLED)).find(|p| p.is_file())
        };
        on_path.or_else(installed).map(|path| Assembler { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Assembles a text. The target may be newer than the text's.
    ///
    /// # Errors
    ///
    /// What the assembler said, or that it can't be run.
    pub fn assemble(&self, ptx: &str, target: Target) -> Result<Vec<Usage>, Error> {
        let failed = |reason: String| Error::from(Cause::Device { device: "ptxas".into(), reason });
        let io = |e: std::io::Error| failed(format!("{}: {e}", self.path.display()));
        let object = Scratch::new();
        let mut child = Command::new(&self.path)
            .args(["-v", &format!("-arch=sm_{}", target.0), "-o"])
            .arg(&object.path)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(io)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(ptx.as_bytes()).map_err(io)?;
        }
        let output = child.wait_with_output().map_err(io)?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(failed(said.into_owned()));
        }
        let mut all = usages(&said);
        let code = cubin::code_sizes(&std::fs::read(&object.path).map_err(io)?);
        for usage in &mut all {
            let bytes = code.get(&usage.kernel).copied().unwrap_or_default();
            usage.instructions = cubin::instructions(bytes, target);
        }
        Ok(all)
    }
}

/// The name of a file that nobody else uses, removed when it is dropped.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rev-{}-{number}.cubin", std::process::id());
        Scratch { path: std::env::temp_dir().join(name) }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // where the assembler failed there is none
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What `ptxas -v` says about each kernel.
fn usages(said: &str) -> Vec<Usage> {
    let mut all: Vec<Usage> = Vec::new();
    for line in said.lines() {
        if line.contains("Compiling entry function") {
            let name = line.split('\'').nth(1).unwrap_or_default();
            all.push(Usage { kernel: name.into(), ..Usage::default() });
        }
        let Some(usage) = all.last_mut() else { continue };
        let before = |what: &str| {
            let number = line.split(what).next().filter(|head| head.len() < line.len())?;
            number.rsplit(|c: char| !c.is_ascii_digit()).find(|d| !d.is_empty())?.parse().ok()
        };
        for (what, place) in [
            (" registers", &mut usage.registers),
            (" bytes stack frame", &mut usage.stack),
            (" bytes spill stores", &mut usage.spill_stores),
            (" bytes spill loads", &mut usage.spill_loads),
            (" bytes smem", &mut usage.shared),
        ] {
            if let Some(number) = before(what) {
                *place = number;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_read() {
        let said = "ptxas info    : 0 bytes gmem\n\
                    ptxas info    : Compiling entry function 'k' for 'sm_80'\n\
                    ptxas info    : Function properties for k\n    \
                    48 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
                    ptxas info    : Used 22 registers, used 1 barriers, 48 bytes cumulative stack size, 128 bytes smem, 380 bytes cmem[0]\n";
        let expected = Usage {
            kernel: "k".into(),
            registers: 22,
            stack: 48,
            spill_stores: 8,
            spill_loads: 12,
            shared: 128,
            instructions: 0,
        };
        assert_eq!(usages(said), [expected]);
        assert_eq!(usages(""), []);
    }
}
