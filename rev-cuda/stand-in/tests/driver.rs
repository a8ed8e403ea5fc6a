//! The way through NVIDIA's driver, on the library that stands in for it: results, what a call asks for, and
//! what is left when any call fails.
//!
//! Each test runs again in a process of its own, which finds the stand-in as `libcuda.so`.

#![cfg(target_os = "linux")]
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};
use std::process::Command;

use rev_core::device::{Device, DynamicDevice};
use rev_core::error::{Cause, Error};
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module};
use rev_core::scalar::{bf16, f16};
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg, Stack};
use rev_cuda::driver::Driver;
use rev_cuda::lower::{Library, LowerOptions};
use rev_cuda::Cuda;
use rev_testgen::{Number, Program};

/// Runs a test where the stand-in is NVIDIA's driver.
fn on_stand_in(name: &str, test: impl FnOnce(&Log)) {
    if let Some(log) = std::env::var_os("REV_STAND_IN_LOG") {
        return test(&Log(log.into()));
    }
    let (own, folder) = (std::env::current_exe().unwrap(), folder(name));
    let mut paths = vec![folder.clone()];
    paths.extend(std::env::split_paths(&std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default()));
    let outcome = Command::new(&own)
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env("LD_LIBRARY_PATH", std::env::join_paths(paths).unwrap())
        .env("REV_STAND_IN_LOG", folder.join("log"))
        .output()
        .unwrap();
    let text = [outcome.stdout, outcome.stderr].map(|t| String::from_utf8_lossy(&t).into_owned()).join("\n");
    assert!(outcome.status.success() && text.contains("1 passed"), "{}: {text}", outcome.status);
}

/// A folder with the stand-in under the names of NVIDIA's libraries.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stand-in").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let library = std::env::current_exe().unwrap().parent().unwrap().join("librev_stand_in.so");
    assert!(library.exists(), "{} isn't there", library.display());
    for link in ["libcuda.so", "libcublas.so"] {
        std::os::unix::fs::symlink(&library, folder.join(link)).unwrap();
    }
    folder
}

/// What was asked of the driver.
struct Log(PathBuf);

impl Log {
    /// Since the last time.
    fn take(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        std::fs::write(&self.0, "").unwrap();
        text.lines().map(str::to_string).collect()
    }
}

/// The lines about a function.
fn calls<'a>(log: &'a [String], function: &str) -> Vec<&'a str> {
    let of = |line: &'a String| {
        line.strip_prefix(function).filter(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    log.iter().filter_map(of).map(str::trim).collect()
}

/// Makes calls fail from the next start of CUDA on.
fn fail(what: &str) {
    std::env::set_var("REV_STAND_IN_FAIL", what);
}

fn module(text: &str) -> Module {
    let module = rev_core::text::parse_module(text).unwrap();
    rev_core::check::check_module(module).unwrap_or_else(|d| panic!("{}", d.render("", "")))
}

/// A loop of the host whose end a kernel computes, shared sums by an index array, a stack, arrays of the
/// program's own and products of matrices.
fn busy() -> Module {
    module(
        r#"module busy
         fn busy<T: Real>(total: &mut T, s: &mut Stack<T>, y: &mut [T], c: &mut Array2<T>, x: [T], a: Array2<T>,
                          n: [usize], of: [usize]) {
             anc k: usize = 0 {
                 for j in 0..2 { k += n[j] }
                 for step in 0..k {
                     par for i in 0..len(of) { y[of[i]] += x[0] * x[1] total += x[2] }
                 }
                 for j in 0..2 { k -= n[j] }
                 release k = 0
             }
             c += contract("ik,kj->ij", a, a)
             anc u: T = 0 { u += x[0] push(s, u) }
         }"#,
    )
}

#[derive(Clone, Debug, PartialEq)]
struct State {
    total: f64,
    s: Stack<f64>,
    y: Vec<f64>,
    c: ndarray::Array2<f64>,
    x: Vec<f64>,
    a: ndarray::Array2<f64>,
    n: Vec<usize>,
    of: Vec<usize>,
}

fn state() -> State {
    State {
        total: 0.5,
        s: Stack::from(vec![1.0]),
        y: vec![0.25; 5],
        c: ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]]),
        x: vec![1.5, -2.0, 3.0],
        a: ndarray::arr2(&[[0.5, 0.0], [-1.0, 2.0]]),
        n: vec![1, 2],
        of: (0..40).map(|i| i * i % 5).collect(),
    }
}

impl State {
    fn run(&mut self, device: &dyn DynamicDevice) -> Result<(), Error> {
        let State { total, s, y, c, x, a, n, of } = self;
        device.execute(&busy(), Direction::FORWARD, &mut [total, s, y, c, x, a, n, of])
    }
}

fn options() -> LowerOptions {
    LowerOptions { block: 32, stack_capacity: 8, library: Library::Always, ..LowerOptions::default() }
}

/// A new device with checks, so that it has failures to report.
fn open() -> Result<Cuda, Error> {
    Ok(Cuda::new(0)?.kernels(options()).checks(true))
}

/// Nothing that no program may ask of a driver.
fn no_misuse(log: &[String], about: &str) {
    let misuse = calls(log, "misuse");
    assert!(misuse.is_empty(), "{about}: {misuse:?}\n{}", log.join("\n"));
}

/// What the interpreter makes of the state.
fn expected() -> State {
    let mut state = state();
    let args = [
        state.total.load(),
        state.s.load(),
        state.y.load(),
        state.c.load(),
        state.x.load(),
        state.a.load(),
        state.n.load(),
        state.of.load(),
    ];
    let module = busy();
    let mut machine = Machine::new(&module, "busy", Direction::FORWARD, args.to_vec()).unwrap();
    machine.run().unwrap();
    let after = machine.arguments();
    state.total.store(&after[0]).unwrap();
    state.s.store(&after[1]).unwrap();
    state.y.store(&after[2]).unwrap();
    state.c.store(&after[3]).unwrap();
    state
}

#[test]
fn a_program_runs_and_everything_is_given_back() {
    on_stand_in("a_program_runs_and_everything_is_given_back", |log| {
        let mut state = state();
        let gpu = open().unwrap();
        assert_eq!((gpu.name(), Cuda::new(1).is_err()), ("cuda:0 (Stand-in)", true));
        assert_eq!(gpu.driver().version().unwrap(), 12_080);
        state.run(&gpu).unwrap();
        assert_eq!(state, expected());
        drop(gpu);
        let log = log.take();
        no_misuse(&log, "one run");
        assert!(!calls(&log, "cublasDgemm_v2").is_empty(), "{log:?}");
        assert_eq!(calls(&log, "cuDevicePrimaryCtxRelease_v2").len(), 1);
    });
}

/// Errors that a function may return, those of earlier work included.
fn plausible(function: &str) -> &'static [u32] {
    match function {
        "cuInit" => &[100, 999],
        "cuDeviceGetCount" | "cuDeviceGet" | "cuDeviceGetName" | "cuDeviceGetAttribute" => &[3, 101],
        "cuDevicePrimaryCtxRetain" => &[2, 101, 999],
        "cuMemAlloc_v2" | "cuMemAllocHost_v2" | "cuStreamCreate" => &[2, 700],
        "cuModuleLoadDataEx" => &[2, 218, 222, 719],
        "cuModuleGetFunction" => &[500, 700],
        "cuLaunchKernel" => &[1, 701, 719],
        "cuMemGetInfo_v2" | "cuGetErrorName" | "cuGetErrorString" | "cuDriverGetVersion" => &[1],
        "cublasCreate_v2" => &[1, 3],
        name if name.starts_with("cublas") => &[7, 13],
        // held for good, a context could never be replaced once another call has lost it
        "cuDevicePrimaryCtxRelease_v2" => &[],
        _ => &[1, 214, 700, 719],
    }
}

/// Whatever call fails, however: an error, the host's values as they were, everything given back, and a new
/// device that works.
#[test]
fn every_call_may_fail() {
    on_stand_in("every_call_may_fail", |log| {
        let (start, after) = (state(), expected());
        let run = || {
            let mut state = start.clone();
            // twice, so that what is kept from call to call is met too
            let result = open().and_then(|gpu| {
                state.run(&gpu)?;
                state = start.clone();
                state.run(&gpu)
            });
            (result, state)
        };
        assert_eq!(run(), (Ok(()), after.clone()));
        let all = log.take();
        let mut counts = std::collections::BTreeMap::new();
        for line in &all {
            *counts.entry(line.split(' ').next().unwrap().to_string()).or_insert(0) += 1;
        }
        let (mut tried, mut survived) = (0, Vec::new());
        for (function, count) in counts {
            for (at, code) in (1..=count).flat_map(|at| plausible(&function).iter().map(move |c| (at, c))) {
                let fault = format!("{function}:{at}:{code}");
                fail(&fault);
                let (result, state) = run();
                match result {
                    Ok(()) => survived.push(format!("{function} {code}")),
                    Err(error) => {
                        let text = error.to_string();
                        assert!(text.starts_with("cuda") && !text.contains(": :"), "{fault}: {text}");
                        assert!(matches!(error.cause(), Cause::Device { .. }), "{fault}: {text}");
                    }
                }
                assert!(state == start || state == after, "{fault}: {state:?}");
                let lines = log.take();
                // what couldn't be given back is left over
                let left = |line: &&str| line.starts_with("released with");
                let misuse: Vec<_> = calls(&lines, "misuse").into_iter().filter(|l| !left(l)).collect();
                assert!(misuse.is_empty(), "{fault}: {misuse:?}\n{}", lines.join("\n"));
                fail("");
                assert_eq!(run(), (Ok(()), after.clone()), "after {fault}");
                log.take();
                tried += 1;
            }
        }
        survived.sort();
        survived.dedup();
        println!("{tried} faults; no error after {survived:?}");
        // what is only given back, or only asked for a message
        let harmless = |s: &String| {
            let names = ["cuMemFree", "cuDevicePrimaryCtxRelease", "cuModuleUnload", "cuStreamDestroy"];
            let more = ["cuCtxSetCurrent", "cuStreamSynchronize", "cublasDestroy", "cuMemFreeHost"];
            names.iter().chain(&more).any(|n| s.starts_with(n))
        };
        assert!(survived.iter().all(harmless), "{survived:?}");
        assert!(tried > 100, "{tried}");
    });
}

/// A kernel that fails loses the context: every call says so, and when the last array is gone a new device
/// works.
#[test]
fn a_lost_context_is_let_go_of() {
    on_stand_in("a_lost_context_is_let_go_of", |log| {
        let text = "module get fn get(y: &mut f64, x: [f64], k: usize) { y += x[k] }";
        let run = |gpu: &Cuda, k: usize| {
            let mut y = 1.0;
            let (mut x, mut k) = (vec![1.0, 2.0], k);
            let result = gpu.execute(&module(text), Direction::FORWARD, &mut [&mut y, &mut x, &mut k]);
            (result.map_err(|e| e.to_string()), y)
        };
        let gpu = Cuda::new(0).unwrap();
        let prepared = gpu.prepare(&module(text), Direction::FORWARD, &[&1.0, &vec![1.0], &0usize]).unwrap();
        let kept = prepared.upload(1, &vec![1.0]).unwrap();
        assert_eq!(run(&gpu, 1), (Ok(()), 3.0));
        // without checks; there is nothing so far beyond the array
        let (result, y) = run(&gpu, 1 << 30);
        let error = result.unwrap_err();
        assert!(
            error.contains("waiting for the GPU: an error of the stand-in (CUDA_ERROR_ILLEGAL_ADDRESS)"),
            "{error}"
        );
        assert_eq!(y, 1.0);
        assert!(run(&gpu, 0).0.unwrap_err().contains("ILLEGAL_ADDRESS"));
        assert!(kept.download(&mut vec![0.0]).is_err());
        drop((gpu, prepared));
        // the array still holds the context
        assert!(Cuda::new(0).is_err());
        drop(kept);
        assert_eq!(run(&Cuda::new(0).unwrap(), 1), (Ok(()), 3.0));
        no_misuse(&log.take(), "a lost context");
    });
}

#[test]
fn the_assemblers_words_are_in_the_message() {
    on_stand_in("the_assemblers_words_are_in_the_message", |_| {
        let gpu = Cuda::new(0).unwrap();
        let error = gpu.driver().load(".version 6.0\nnonsense").unwrap_err().to_string();
        assert!(error.contains("loading a module: emulator: line 2"), "{error}");
        assert!(gpu.driver().allocate("x", 1 << 50).unwrap_err().to_string().contains("bytes are free"));
        fail("cuModuleLoadDataEx:1:2");
        let gpu = Cuda::new(0).unwrap();
        let error = gpu.driver().load("").unwrap_err().to_string();
        assert!(error.contains(": loading a module: an error of the stand-in (CUDA_ERROR_OUT"), "{error}");
    });
}

/// Copies larger than the staging memory, in pieces; bytes of the caller that change right afterwards.
#[test]
fn what_is_copied_is_the_callers_again() {
    on_stand_in("what_is_copied_is_the_callers_again", |log| {
        let gpu = Cuda::new(0).unwrap();
        let driver = gpu.driver();
        let bytes: Vec<u8> = (0..70 << 20).map(|k: u32| (k >> 9) as u8 ^ k as u8).collect();
        let (large, small) =
            (driver.allocate("large", bytes.len()).unwrap(), driver.allocate("small", 8).unwrap());
        let mut changing = bytes.clone();
        driver.upload(large, &changing).unwrap();
        changing.fill(7);
        driver.upload(small, &[1; 8]).unwrap();
        let (mut all, mut few) = (vec![0; bytes.len()], [0; 8]);
        driver.download_all(&mut [(small, &mut few), (large, &mut all)]).unwrap();
        assert!(all == bytes && few == [1; 8]);
        driver.free(large);
        driver.free(small);
        drop(gpu);
        let log = log.take();
        no_misuse(&log, "copies");
        let copies = [calls(&log, "cuMemcpyHtoDAsync_v2"), calls(&log, "cuMemcpyDtoHAsync_v2")].concat();
        assert!(copies.iter().all(|c| c.ends_with("page-locked")), "{copies:?}");
    });
}

/// A call waits once, and copies what somebody wants: not the cotangents of what is a constant, nor what no
/// kernel writes.
#[test]
fn a_call_copies_what_is_wanted_and_waits_once() {
    on_stand_in("a_call_copies_what_is_wanted_and_waits_once", |log| {
        let gpu = Cuda::new(0).unwrap().deterministic(true);
        let i = rev_kernels::ba::Instance::random(3, 20, 100, 1);
        let run = || rev_samples::bundle_gradient(&gpu, &i).map(drop);
        run().unwrap();
        log.take();
        run().unwrap();
        let log = log.take();
        let bytes = |name| -> Vec<usize> {
            calls(&log, name).iter().map(|l| l.split(' ').next().unwrap().parse().unwrap()).collect()
        };
        assert_eq!(calls(&log, "cuStreamSynchronize").len(), 1, "{}", log.join("\n"));
        println!("to the device {:?}", bytes("cuMemcpyHtoDAsync_v2"));
        println!("cleared {:?}", bytes("cuMemsetD8Async"));
        println!("from the device {:?}", bytes("cuMemcpyDtoHAsync_v2"));
        println!("{} launches", calls(&log, "cuLaunchKernel").len());
        assert!(calls(&log, "cuMemAlloc_v2").is_empty() && calls(&log, "cuMemAllocHost_v2").is_empty());
    });
}

/// Bit for bit the interpreter's results, in every scalar.
#[test]
fn random_programs_have_the_interpreters_bits() {
    on_stand_in("random_programs_have_the_interpreters_bits", |log| {
        fn agrees<T: Number>(gpu: &Cuda, seeds: std::ops::Range<u64>) {
            for seed in seeds {
                let program = Program::generate(seed, "program");
                let module = program.checked_module().unwrap();
                // refused on a GPU
                if rev_core::facts::recursive(&module, &module.entry) {
                    continue;
                }
                let before = program.arguments::<T>(1);
                let options = Options { checks: false, deterministic: true, ..Options::default() };
                let machine = Machine::new(&module, &module.entry, Direction::FORWARD, before.clone());
                let mut machine = machine.unwrap().with_options(options);
                machine.run().unwrap();
                let mut args: Vec<Held> = before.into_iter().map(Held).collect();
                let mut given: Vec<&mut dyn DynArg> = args.iter_mut().map(|a| a as &mut dyn DynArg).collect();
                gpu.execute(&module, Direction::FORWARD, &mut given).unwrap();
                let found: Vec<Data> = args.into_iter().map(|a| a.0).collect();
                assert_eq!(format!("{found:?}"), format!("{:?}", machine.arguments()), "seed {seed}");
            }
        }
        for target in ["60", "90"] {
            std::env::set_var("REV_STAND_IN_TARGET", target);
            let gpu = Cuda::new(0).unwrap().deterministic(true);
            assert_eq!(gpu.driver().target().0.to_string(), target);
            agrees::<f64>(&gpu, 0..6);
            agrees::<f32>(&gpu, 6..10);
            agrees::<f16>(&gpu, 10..16);
            agrees::<bf16>(&gpu, 16..22);
        }
        no_misuse(&log.take(), "random programs");
    });
}

/// An argument of any type.
struct Held(Data);

impl DynArg for Held {
    fn load(&self) -> Data {
        self.0.clone()
    }

    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.0 = data.clone();
        Ok(())
    }
}

/// The programs of the project, there and back, as on the CPU.
#[test]
fn the_projects_programs_have_the_bits_of_the_cpu() {
    on_stand_in("the_projects_programs_have_the_bits_of_the_cpu", |log| {
        let (gpu, cpu) =
            (Cuda::new(0).unwrap().deterministic(true), rev_cpu::prelude::Cpu::new().deterministic(true));
        for sample in rev_samples::kernels().iter().filter(|s| s.on_gpu) {
            let [found, expected] =
                [(sample.run)(&gpu), (sample.run)(&cpu)].map(|r| r.map(|o| format!("{o:?}")));
            assert_eq!(found, expected, "{}", sample.name);
        }
        drop(gpu);
        no_misuse(&log.take(), "the project's programs");
    });
}
