//! The reports as a user runs them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::process::{Command, Output};

fn report(name: &str, args: &[&str]) -> Output {
    let tests = std::env::current_exe().unwrap();
    let built = tests.ancestors().nth(2).unwrap().join("examples").join(name);
    let built = built.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(built.exists(), "{} is not there: run `cargo build --examples`", built.display());
    Command::new(built).args(args).output().unwrap()
}

#[test]
fn without_a_gpu_the_report_says_so() {
    if rev::Cuda::new(0).is_ok() {
        return eprintln!("skipped: there is a GPU");
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = report("gpu_report", &["--device", "cuda", "--out", out.to_str().unwrap()]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), message.lines().count()), (Some(1), 1), "{message}");
    assert!(message.starts_with("error: cuda: no CUDA driver found: "), "{message}");
    assert!(!out.exists() && output.stdout.is_empty());
}

#[test]
fn the_report_of_a_gpu_on_the_emulator() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let output = report("gpu_report", &["--device", "emulator", "--quick", "--out", out]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("gpu.md")).unwrap(), text);
    let file = fs::read(folder.path().join("gpu.json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&file).unwrap();
    assert_eq!((&record["device"], &record["quick"]), (&"emulator".into(), &true.into()));
    let rows = |of: &str| record[of].as_array().unwrap().clone();
    let on_gpu = rev_samples::all().filter(|s| s.on_gpu).count();
    assert_eq!((rows("suite").len(), rows("agreements").len()), (on_gpu, 4));
    for row in rows("suite").iter().chain(&rows("agreements")) {
        let differing = row["differing"]["Ok"].as_array().unwrap_or_else(|| panic!("{row}"));
        assert!(differing[0] == 0 && differing[1].as_u64().unwrap() > 0, "{row}");
        assert!(text.contains(&format!("| {} | 0 | {} |", row["name"].as_str().unwrap(), differing[1])));
    }
    let programs = ["GMM gradient, d", "GMM gradient, a thread", "BA Jacobian", "BA gradient", "Bessel"];
    let waves = [
        "wave, 20 x 20 cells: a step",
        "wave: gradient of 30 steps by treeverse",
        "wave: gradient of 30 steps by B",
    ];
    let ways = ["BA gradient, 2 cameras, 40 observations, cameras by segmented"];
    for program in programs.into_iter().chain(waves).chain(ways) {
        let named = |row: &serde_json::Value| row["name"].as_str().unwrap().starts_with(program);
        let row = rows("times").into_iter().find(named).unwrap_or_else(|| panic!("{program}"));
        assert!(row["milliseconds"]["Ok"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["memory_milliseconds"].as_f64().unwrap() > 0.0, "{row}");
    }
}
