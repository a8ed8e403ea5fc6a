//! NVIDIA's assembler on every program of the kernels crate, forward, inverse and adjoint, in f32 and
//! f64, for every generation of GPUs; and what registers and memory the kernels need, compared with
//! the table in `tests/assembled/ptx.md`.
//!
//! Without `ptxas` it says that it was skipped. `REV_SNAPSHOT=write` writes the table anew.

#![allow(clippy::unwrap_used, clippy::panic, clippy::useless_vec)]

use ndarray::Array2;
use num_complex::Complex;
use rev_core::device::Device;
use rev_core::error::Error;
use rev_core::scalar::{Batch, Fixed43};
use rev_cuda::driver::Target;
use rev_cuda::emulator;
use rev_cuda::ptxas::{Assembler, Usage};
use rev_cuda::{Emulator, Gpu};
use rev_kernels::*;
use std::collections::BTreeMap;
use std::path::Path;

#[path = "assembled/kernels.rs"]
mod kernels;

const TARGETS: [u32; 5] = [60, 70, 75, 80, 90];

/// Machine instructions of the Jacobian's kernel written by hand in CUDA C, by target.
const BY_HAND: [(u32, u32); 2] = [(70, 656), (90, 704)];

/// Texts, each with what it is.
type Texts = Vec<(&'static str, String)>;
type Call = Box<dyn Fn(&Emulator) -> Result<Texts, Error>>;

/// Those of the programs that a call runs.
fn call(f: impl Fn(&dyn Device) -> Result<(), Error> + 'static) -> Call {
    Box::new(move |gpu| {
        let texts = gpu.ptx_of(|d| f(d))?;
        let parts = if texts.len() > 1 { [" 1", " 2", " 3", " 4"] } else { [""; 4] };
        assert!(texts.len() <= parts.len());
        Ok(parts.into_iter().zip(texts).collect())
    })
}

/// The programs over a real scalar.
macro_rules! programs {
    ($t:ty) => {{
        type T = $t;
        let x = || vec![1.5 as T, 2.5, 0.5, 1.0];
        let matrix = |r, c| Array2::<T>::from_elem((r, c), 0.5);
        let cameras = || vec![[0.5 as T; ba::CAMERA]; 2];
        let bal_cameras = || vec![[0.5 as T; bal::CAMERA]; 2];
        let points = || vec![[0.5 as T, 0.25, 2.0]; 3];
        let state = || vec![Complex::new(0.5 as T, 0.0); 4];
        let features = || vec![[1.0 as T, 2.0]; 4];
        let (camera_of, point_of) = (|| vec![0usize, 1, 0, 1], || vec![0usize, 1, 2, 0]);
        let programs: Vec<(&str, Call)> = vec![
            ("multiplier", call(|d| multiplier::multiplier::run(d, &mut 1.0, 2.0 as T, 3.0))),
            ("multiplier inverse", call(|d| multiplier::multiplier::run_inverse(d, &mut 1.0, 2.0 as T, 3.0))),
            ("multiplier gradient", call(|d| multiplier::multiplier::gradient(d, 2.0 as T, 3.0).map(drop))),
            ("norm gradient", call(move |d| norm::norm::gradient(d, &x()).map(drop))),
            ("norm inverse", call(move |d| norm::norm::run_inverse(d, &mut 1.0, &x()))),
            ("log_sum_exp gradient", call(move |d| log_sum_exp::log_sum_exp::gradient(d, &x()).map(drop))),
            ("log_sum_exp inverse", call(move |d| log_sum_exp::log_sum_exp::run_inverse(d, &mut 1.0, &x()))),
            (
                "exponential gradient",
                call(|d| exponential::exponential::gradient(d, 1.5 as T, 1e-6).map(drop)),
            ),
            (
                "exponential inverse",
                call(|d| exponential::exponential::run_inverse(d, &mut 1.0, 1.5 as T, 1e-6)),
            ),
            ("bessel_j_each", call(move |d| bessel::bessel_j_each::run(d, &mut x(), 2, &x(), 1e-6))),
            (
                "bessel_j_each inverse",
                call(move |d| bessel::bessel_j_each::run_inverse(d, &mut x(), 2, &x(), 1e-6)),
            ),
            (
                "bessel_j_each adjoint",
                call(move |d| bessel::bessel_j_each::vjp(d, &x(), &x(), 2, &x(), 1e-6).map(drop)),
            ),
            ("leapfrog", call(|d| leapfrog::leapfrog::run(d, &mut 1.0, &mut (0.5 as T), 0.25, 3))),
            (
                "leapfrog inverse",
                call(|d| leapfrog::leapfrog::run_inverse(d, &mut 1.0, &mut (0.5 as T), 0.25, 3)),
            ),
            ("rotate", call(|d| rotation::rotate::run(d, &mut [0.0; 3], &[1.0 as T, 2.0, 3.0], &[1.0; 3]))),
            ("affine", call(move |d| affine::affine::run(d, &mut x(), matrix(4, 4).view(), &x(), &x()))),
            (
                "affine inverse",
                call(move |d| affine::affine::run_inverse(d, &mut x(), matrix(4, 4).view(), &x(), &x())),
            ),
            (
                "gmm gradient",
                call(move |d| {
                    let (means, icf, points) = (matrix(4, 3), matrix(4, 6), matrix(50, 3));
                    gmm::objective::gradient(d, &x(), means.view(), icf.view(), points.view(), 1.0, 0)
                        .map(drop)
                }),
            ),
            (
                "gmm inverse",
                call(move |d| {
                    let (means, icf, points) = (matrix(4, 3), matrix(4, 6), matrix(50, 3));
                    gmm::objective::run_inverse(
                        d,
                        &mut 1.0,
                        &x(),
                        means.view(),
                        icf.view(),
                        points.view(),
                        1.0,
                        0,
                    )
                }),
            ),
            (
                "ba errors",
                call(move |d| {
                    let (mut r, mut w) = (vec![[0.0; 2]; 4], vec![0.0; 4]);
                    ba::errors::run(
                        d,
                        &mut r,
                        &mut w,
                        &cameras(),
                        &points(),
                        &x(),
                        &camera_of(),
                        &point_of(),
                        &features(),
                    )
                }),
            ),
            (
                "ba errors inverse",
                call(move |d| {
                    let (mut r, mut w) = (vec![[0.0; 2]; 4], vec![0.0; 4]);
                    ba::errors::run_inverse(
                        d,
                        &mut r,
                        &mut w,
                        &cameras(),
                        &points(),
                        &x(),
                        &camera_of(),
                        &point_of(),
                        &features(),
                    )
                }),
            ),
            (
                "ba gradient",
                call(move |d| {
                    ba::objective::gradient(
                        d,
                        &cameras(),
                        &points(),
                        &x(),
                        &camera_of(),
                        &point_of(),
                        &features(),
                    )
                    .map(drop)
                }),
            ),
            (
                "ba jacobian",
                call(move |d| {
                    let seeds = vec![[Batch([1.0, 0.0]), Batch([0.0, 1.0])]; 4];
                    let (cameras, points) = (vec![[0.5 as T; ba::CAMERA]; 4], vec![[0.5, 0.25, 2.0]; 4]);
                    let (start, weights) = (vec![[0.0; 2]; 4], x());
                    ba::residuals_apart::vjp_batch(
                        d,
                        &seeds,
                        &start,
                        &cameras,
                        &points,
                        &weights,
                        &features(),
                    )
                    .map(drop)
                }),
            ),
            (
                "ba jacobian into the caller's",
                call(move |d| {
                    ba::residuals_apart::adjoint(
                        d,
                        &mut vec![[0.0; 2]; 4],
                        &mut vec![[Batch([1.0, 0.0]), Batch([0.0, 1.0])]; 4],
                        &vec![[0.5 as T; ba::CAMERA]; 4],
                        &mut vec![[Batch([0.0; 2]); ba::CAMERA]; 4],
                        &vec![[0.5, 0.25, 2.0]; 4],
                        &mut vec![[Batch([0.0; 2]); 3]; 4],
                        &x(),
                        &mut vec![Batch([0.0; 2]); 4],
                        &features(),
                        &mut vec![[Batch([0.0; 2]); 2]; 4],
                    )
                }),
            ),
            ("rx", call(move |d| gates::rx::run(d, &mut state(), 0.5 as T, 1))),
            ("ry", call(move |d| gates::ry::run(d, &mut state(), 0.5 as T, 1))),
            ("rz", call(move |d| gates::rz::run(d, &mut state(), 0.5 as T, 1))),
            ("swap_qubits", call(move |d| gates::swap_qubits::run(d, &mut state(), 0, 1))),
            (
                "gates expectation inverse",
                call(move |d| {
                    let (mut value, mut state, angle) = (0.5, state(), 0.5 as T);
                    gates::expectation::run_inverse(d, &mut value, &mut state, angle, angle, angle, 0, 1)
                }),
            ),
            (
                "gates expectation gradient",
                call(move |d| {
                    let angle = 0.5 as T;
                    gates::expectation::gradient(d, &state(), angle, angle, angle, 0, 1).map(drop)
                }),
            ),
            (
                "bal gradient",
                call(move |d| {
                    bal::objective::gradient(
                        d,
                        &bal_cameras(),
                        &points(),
                        &camera_of(),
                        &point_of(),
                        &features(),
                    )
                    .map(drop)
                }),
            ),
            (
                "complex_log",
                call(|d| {
                    complex_log::complex_log::run(d, &mut Complex::new(0.0, 0.0), Complex::new(1.0 as T, 2.0))
                }),
            ),
            (
                "complex_log inverse",
                call(|d| {
                    complex_log::complex_log::run_inverse(
                        d,
                        &mut Complex::new(0.0, 0.0),
                        Complex::new(1.0 as T, 2.0),
                    )
                }),
            ),
        ];
        programs
            .into_iter()
            .map(|(name, call)| (format!("{name} ({})", stringify!($t)), call))
            .collect::<Vec<_>>()
    }};
}

fn all() -> Vec<(String, Call)> {
    let mut all = programs!(f64);
    all.extend(programs!(f32));
    let fixed = |v: f64| Fixed43::from_num(v);
    let others: Vec<(&str, Call)> = vec![
        ("fibonacci", call(|d| fibonacci::first_at_least::run(d, &mut 0, 100))),
        ("fibonacci by odd steps", call(|d| fibonacci::by_odd_steps::run(d, &mut 0, 9))),
        (
            "leapfrog (Fixed43)",
            call(move |d| leapfrog::leapfrog::run(d, &mut fixed(1.0), &mut fixed(0.0), fixed(0.01), 5)),
        ),
    ];
    all.extend(others.into_iter().map(|(name, call)| (name.to_string(), call)));
    all.extend(kernels::all());
    all
}

/// An instruction that no kernel may have: traps, calls (of `malloc`), and what isn't rounded exactly.
fn forbidden(text: &str) -> Option<&str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or(line));
    code.flat_map(|line| line.split([' ', '\t', ';'])).find(|word| {
        let head = word.split('.').next().unwrap_or(word);
        ["trap", "brkpt", "call", "malloc", "alloca"].contains(&head) || word.contains(".approx")
    })
}

/// A row of the table: the usages on all targets.
fn row(title: &str, usages: &[Usage]) -> String {
    let list = |f: fn(&Usage) -> u32| {
        let all: Vec<String> = usages.iter().map(|u| f(u).to_string()).collect();
        if all.iter().all(|v| *v == all[0]) {
            all[0].clone()
        } else {
            all.join(" ")
        }
    };
    format!(
        "| {title} | {} | {} | {} | {} | {} |",
        list(|u| u.registers),
        list(|u| u.spill_stores + u.spill_loads),
        list(|u| u.stack),
        list(|u| u.shared),
        list(|u| u.instructions)
    )
}

const HEAD: &str = "# What the kernels need

Registers of a thread, bytes of spilled registers (written and read back), bytes of local memory of a
thread and bytes of shared memory of a block, as `ptxas` reports them for sm_60, sm_70, sm_75, sm_80 and
sm_90 (one number where they agree); and machine instructions, counted in the assembled code. A kernel
written by hand in CUDA C for the work of `ba jacobian (f64)` has 656 of them on sm_70 and 704 on sm_90, and 94
and 80 registers. The
test `assembled` of rev-kernels compares this table;
`REV_SNAPSHOT=write cargo test -p rev-kernels --test assembled` writes it.

| program: kernel | registers | spills | local | shared | instructions |
| --- | --- | --- | --- | --- | --- |
";

/// What follows the table.
const MISSING: &str = "
## What can't be run yet

| program | why |
| --- | --- |
";

/// The numbers of a row.
fn numbers(row: &str) -> Vec<Vec<u32>> {
    row.split('|')
        .skip(2)
        .map(|cell| cell.split_whitespace().filter_map(|n| n.parse().ok()).collect())
        .collect()
}

/// What the kernels of every program need on a target, and the programs that a GPU can't run with the reason.
fn on(assembler: &Assembler, target: Target) -> (Vec<(String, Usage)>, BTreeMap<String, String>) {
    let (mut usages, mut unsupported) = (Vec::new(), BTreeMap::new());
    for (name, call) in all() {
        let gpu = Gpu::over(emulator::Emulator::new().with_target(target));
        let texts = match call(&gpu) {
            Ok(texts) => texts,
            Err(e) if e.to_string().contains("can't be run on a GPU") => {
                unsupported.insert(name, e.cause().to_string());
                continue;
            }
            Err(e) => panic!("{name}: {e}"),
        };
        for (part, text) in texts.iter().filter(|(_, t)| t.contains(".entry")) {
            assert_eq!(forbidden(text), None, "{name}");
            let assembled = assembler
                .assemble(text, target)
                .unwrap_or_else(|e| panic!("{name} for sm_{}: {e}\n{text}", target.0));
            usages.extend(assembled.into_iter().map(|u| (format!("{name}{part}: {}", u.kernel), u)));
        }
    }
    (usages, unsupported)
}

#[test]
fn ptxas_takes_every_program_and_the_table_of_registers_holds() {
    let Some(assembler) = &Assembler::find() else {
        return eprintln!("skipped: no ptxas (REV_PTXAS, PATH)");
    };
    let mut rows: BTreeMap<String, Vec<Usage>> = BTreeMap::new();
    let mut unsupported: BTreeMap<String, String> = BTreeMap::new();
    std::thread::scope(|scope| {
        let targets = TARGETS.map(|target| scope.spawn(move || on(assembler, Target(target))));
        for target in targets {
            let (usages, missing) = target.join().unwrap_or_else(|e| std::panic::resume_unwind(e));
            for (title, usage) in usages {
                rows.entry(title).or_default().push(usage);
            }
            unsupported.extend(missing);
        }
    });
    let jacobian: Vec<_> = rows.iter().filter(|(title, _)| title.starts_with("ba jacobian")).collect();
    assert!(!jacobian.is_empty(), "{unsupported:?}");
    for (title, usages) in jacobian {
        for usage in usages {
            assert_eq!((usage.stack, usage.spill_stores, usage.spill_loads), (0, 0, 0), "{title}");
        }
        if title.starts_with("ba jacobian (f64)") {
            for (target, by_hand) in BY_HAND {
                let at = TARGETS.iter().position(|t| *t == target).unwrap();
                let count = usages[at].instructions;
                assert!(4 * count <= 5 * by_hand, "sm_{target}: {count} instructions, by hand {by_hand}");
            }
        }
    }
    let table: Vec<String> = rows.iter().map(|(title, usages)| row(title, usages)).collect();
    let missing: Vec<String> = unsupported.iter().map(|(name, why)| format!("| {name} | {why} |")).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/assembled/ptx.md");
    if std::env::var_os("REV_SNAPSHOT").is_some_and(|v| v == "write") {
        let (table, missing) = (table.join("\n"), missing.join("\n"));
        return std::fs::write(file, format!("{HEAD}{table}\n{MISSING}{missing}\n")).unwrap();
    }
    let known = std::fs::read_to_string(file).unwrap();
    for row in &missing {
        let name = row.split('|').nth(1).unwrap().trim();
        let before = known.lines().find(|l| l.starts_with(&format!("| {name}")) && l.contains(" | "));
        assert!(before.is_none_or(|l| l.contains("can't be run")), "it could be run before:\n{row}");
    }
    for row in &table {
        let title = row.split('|').nth(1).unwrap();
        let before = known.lines().find(|l| l.split('|').nth(1) == Some(title));
        let before = before.unwrap_or_else(|| panic!("not in tests/assembled/ptx.md, write it anew:\n{row}"));
        // Another assembler may give a few registers more; spills and local memory are the generator's.
        let (now, then) = (numbers(row), numbers(before));
        assert_eq!(now[1..4], then[1..4], "spills, local or shared memory have changed:\n{before}\n{row}");
        let most = |v: &[u32]| v.iter().max().copied().unwrap_or(0);
        assert!(most(&now[0]) <= most(&then[0]) * 5 / 4 + 4, "more registers:\n{before}\n{row}");
        assert!(most(&now[4]) <= most(&then[4]) * 5 / 4 + 8, "more instructions:\n{before}\n{row}");
    }
}
