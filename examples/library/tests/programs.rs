//! The example programs as a user runs them: results, files, exit codes, and what happens on bad input.
#![allow(clippy::unwrap_used, clippy::panic)]

use approx::abs_diff_eq;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The built program; `cargo test` builds the examples before it runs the tests.
fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.ancestors().nth(2).unwrap().join("examples").join(name);
    let built = built.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(built.exists(), "{} is not there: run `cargo build --examples`", built.display());
    built
}

fn run(name: &str, args: &[&str]) -> Output {
    Command::new(program(name)).args(args).output().unwrap()
}

fn good(name: &str, args: &[&str]) -> String {
    let output = run(name, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The numbers of a file, line by line.
fn numbers(folder: &Path, file: &str) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    text.lines().map(|line| line.split_whitespace().map(|w| w.parse().unwrap()).collect()).collect()
}

fn close(got: f64, expected: f64) {
    approx::assert_relative_eq!(got, expected, epsilon = 1e-8, max_relative = 1e-8);
}

const GMM: &str = "2 3 1\n-0.649014\n1.181166\n-0.758453\n\
    0.092339 0.186260\n0.345561 0.396767\n0.538817 0.419195\n\
    0.586443 -0.851887 0.800321\n-1.509405 0.875874 -0.242790\n0.166813 -1.965419 -1.270071\n\
    1.175171 2.029160\n1.0 0\n";

const BA: &str = "2 10 10\n1.797201 0.590697 -0.635786 90.859550 29.361415 28.777534 211.628116 \
    -0.284531 -14.762924 0.058931 0.069976\n4.173048 5.586898 1.403869\n0.417022\n-525.672849 161.811929\n";

const BAL: &str = "1 2 2\n0 0 -386 387\n0 1 0.5 0.25\n\
    -0.017 0.011 0.0025 0.73 -0.26 -1.7 1430 -7.5e-8 3.2e-14\n-12 12.8 -41\n0.1 0.2 -41.5\n";

fn with_file(text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input.txt");
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_string();
    (folder, path)
}

#[test]
fn every_program_explains_itself() {
    for name in ["gmm", "ba", "bessel"] {
        let help = good(name, &["--help"]);
        for option in ["--device", "--threads", "--repeat", "--out", "--json", "--check"] {
            assert!(help.contains(option), "{name} {option}");
        }
    }
}

#[test]
fn gmm_on_a_file() {
    let (folder, input) = with_file(GMM);
    let out = folder.path().join("out");
    let json = folder.path().join("record.json");
    let args =
        ["--input", &input, "--out", out.to_str().unwrap(), "--json", json.to_str().unwrap(), "--check"];
    let text = good("gmm", &args);
    assert!(text.contains("D = 2, K = 3, N = 1") && text.contains("8.073804"), "{text}");
    let objective = numbers(&out, "objective.txt");
    assert_eq!((objective.len(), objective[0].len()), (1, 1));
    close(objective[0][0], 8.073_804_080_049_758);
    let gradient = numbers(&out, "gradient.txt");
    assert_eq!(gradient.len(), 3 + 6 + 9);
    // with one point, the derivatives by α are differences of two softmaxes and sum to zero
    close(gradient[..3].iter().map(|g| g[0]).sum(), 0.0);
    let line = fs::read_to_string(out.join("objective.txt")).unwrap();
    assert_eq!(
        line.trim().chars().filter(char::is_ascii_digit).count(),
        17 + 1,
        "17 digits and the exponent"
    );
    let record: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(record["device"], "cpu");
    assert_eq!(record["sizes"], serde_json::json!({"dim": 2, "components": 3, "points": 1}));
    close(record["objective"].as_f64().unwrap(), objective[0][0]);
    let norm = gradient.iter().map(|g| g[0] * g[0]).sum::<f64>().sqrt();
    close(record["gradient_norm"].as_f64().unwrap(), norm);
    for time in ["objective_ms", "gradient_ms"] {
        let [min, median] = ["min", "median"].map(|k| record[time][k].as_f64().unwrap());
        assert!(0.0 < min && min <= median);
    }
    assert!(record["threads"].as_u64().unwrap() >= 1);
}

#[test]
fn gmm_generates_the_same_instance_for_the_same_seed() {
    let objective = |seed: &str| {
        let folder = tempfile::tempdir().unwrap();
        let sizes = ["--dim", "3", "--components", "4", "--points", "20", "--repeat", "1", "--threads", "1"];
        let out = folder.path().to_str().unwrap();
        good("gmm", &[&sizes[..], &["--seed", seed, "--out", out, "--check"]].concat());
        numbers(folder.path(), "objective.txt")
    };
    assert_eq!(objective("7"), objective("7"));
    assert_ne!(objective("7"), objective("8"));
}

#[test]
fn ba_on_a_file_of_adbench() {
    let (folder, input) = with_file(BA);
    let out = folder.path().join("out");
    let json = folder.path().join("record.json");
    let args =
        ["--input", &input, "--out", out.to_str().unwrap(), "--json", json.to_str().unwrap(), "--check"];
    good("ba", &args);
    let (errors, weights) = (numbers(&out, "reprojection_error.txt"), numbers(&out, "weight_error.txt"));
    assert_eq!((errors.len(), weights.len()), (10, 10));
    for i in 0..10 {
        close(errors[i][0], -0.269_048_849_235_189_4);
        close(errors[i][1], 0.259_944_792_677_901_9);
        close(weights[i][0], 0.826_092_651_516);
    }
    let jacobian = numbers(&out, "jacobian.txt");
    assert_eq!(jacobian.len(), 20);
    assert!(jacobian.iter().all(|row| row.len() == 15));
    let by_weight = numbers(&out, "weight_jacobian.txt");
    close(by_weight[9][0], -2.0 * 0.417022);
    let gradient = numbers(&out, "gradient.txt");
    assert_eq!(gradient.len(), 2 * 11 + 10 * 3 + 10);
    // each camera makes 5 of the 10 equal observations, each point and weight belongs to one
    let pulled = |column: usize| errors[0][0] * jacobian[0][column] + errors[0][1] * jacobian[1][column];
    (0..11).for_each(|column| close(gradient[11 + column][0], 5.0 * pulled(column)));
    (0..3).for_each(|column| close(gradient[22 + 3 * 4 + column][0], pulled(11 + column)));
    close(gradient[52 + 7][0], pulled(14) + weights[7][0] * by_weight[7][0]);
    let record: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(record["sizes"], serde_json::json!({"cameras": 2, "points": 10, "observations": 10}));
    for time in ["value_ms", "jacobian_ms", "gradient_ms"] {
        assert!(record[time]["min"].as_f64().unwrap() <= record[time]["median"].as_f64().unwrap());
    }
}

#[test]
fn ba_on_the_large_format() {
    let (folder, input) = with_file(BAL);
    let out = folder.path().join("out");
    good("ba", &["--input", &input, "--format", "bal", "--out", out.to_str().unwrap(), "--check"]);
    assert_eq!(numbers(&out, "reprojection_error.txt").len(), 2);
    let jacobian = numbers(&out, "jacobian.txt");
    assert_eq!(jacobian.len(), 4);
    assert!(jacobian.iter().all(|row| row.len() == 12));
    assert_eq!(numbers(&out, "gradient.txt").len(), 9 + 6);
}

#[test]
fn ba_reads_what_the_library_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("full.txt");
    let instance = rev_kernels::ba::Instance::random(3, 7, 20, 1);
    rev_kernels::io::write_ba_full(&path, &instance).unwrap();
    let out = folder.path().join("out");
    let (input, out_name) = (path.to_str().unwrap(), out.to_str().unwrap());
    good("ba", &["--input", input, "--format", "full", "--out", out_name, "--check", "--repeat", "2"]);
    let expected = rev_kernels::ba::plain::gradient(&instance);
    let all = expected.cameras.iter().flatten().chain(expected.points.iter().flatten());
    let gradient = numbers(&out, "gradient.txt");
    assert_eq!(gradient.len(), 3 * 11 + 7 * 3 + 20);
    all.chain(&expected.weights).zip(&gradient).for_each(|(e, g)| close(g[0], *e));
}

#[test]
fn generated_bundle_adjustment() {
    let sizes = ["--cameras", "3", "--points", "9", "--observations", "30", "--seed", "5", "--repeat", "1"];
    for format in ["adbench", "full", "bal"] {
        good("ba", &[&sizes[..], &["--format", format, "--check"]].concat());
    }
}

/// Runs a program on bad input: exit status 2, one line, and no file anywhere.
fn bad(name: &str, input: &str, more: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (out, json) = (folder.path().join("out"), folder.path().join("record.json"));
    let outputs = ["--out", out.to_str().unwrap(), "--json", json.to_str().unwrap()];
    let output = run(name, &[&["--input", input], more, &outputs[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no output file");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

#[test]
fn bad_files_give_one_line_and_no_output() {
    let message = bad("gmm", "no/such/file", &[]);
    assert!(
        message.starts_with("error: no/such/file:1: expected a file that can be read, found "),
        "{message}"
    );
    let cases = [
        (
            "gmm",
            GMM.replace("1.181166", "NaN"),
            "adbench",
            ":3: expected a weight α (a finite number), found `NaN`",
        ),
        (
            "gmm",
            GMM.replace("2 3 1", "2 3 99999999999999999999"),
            "adbench",
            ":1: expected the number of points N",
        ),
        ("gmm", format!("{GMM}1"), "adbench", ":13: expected the end of the file, found `1`"),
        (
            "ba",
            BA.replace("0.417022\n", "word\n"),
            "adbench",
            ":4: expected a weight (a number), found `word`",
        ),
        (
            "ba",
            BA[..40].to_string(),
            "adbench",
            ":2: expected the 11 numbers of a camera (11 words on the line)",
        ),
        (
            "ba",
            BAL.replace("0 1 0.5", "0 2 0.5"),
            "bal",
            ":3: expected a point index (a whole number from 0 to 1), found `2`",
        ),
        ("ba", "9 9 999999999999\n".to_string(), "full", ":1: expected the number of observations p"),
    ];
    for (name, text, format, expected) in cases {
        let (_folder, input) = with_file(&text);
        let more: &[&str] = if name == "ba" { &["--format", format] } else { &[] };
        let message = bad(name, &input, more);
        assert!(message.starts_with(&format!("error: {input}{expected}")), "{message}");
    }
}

#[test]
fn absurd_sizes_are_refused() {
    for (name, args) in [
        ("gmm", ["--dim", "1000000", "--components", "1000000"]),
        ("ba", ["--points", "99999999999", "--cameras", "99999999999"]),
    ] {
        let output = run(name, &args);
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.starts_with("error: expected sizes that ask for at most") && message.lines().count() == 1
        );
    }
    for args in [["--dim", "0"], ["--threads", "0"], ["--repeat", "-1"], ["--points", "many"]] {
        assert_eq!(run("gmm", &args).status.code(), Some(2));
    }
}

#[test]
fn bessel_at_the_papers_point() {
    let folder = tempfile::tempdir().unwrap();
    let (out, json) = (folder.path().to_str().unwrap(), folder.path().join("record.json"));
    let sizes = ["--order", "2", "--points", "4", "--upper", "2", "--repeat", "2"];
    let outputs = ["--out", out, "--json", json.to_str().unwrap(), "--check"];
    good("bessel", &[&sizes[..], &outputs].concat());
    let (values, slopes) = (numbers(folder.path(), "value.txt"), numbers(folder.path(), "gradient.txt"));
    assert_eq!((values.len(), slopes.len()), (4, 4));
    close(values[1][0], 0.114_903_484_931_900_47);
    close(slopes[1][0], 0.210_243_615_881_132_58);
    let record: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(record["sizes"], serde_json::json!({"order": 2, "points": 4}));
    for args in [["--order", "21"], ["--points", "0"], ["--upper", "inf"], ["--tolerance", "0"]] {
        assert_eq!(run("bessel", &args).status.code(), Some(2));
    }
}

#[test]
fn the_interpreter_agrees() {
    let run = |device: &str| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_str().unwrap();
        let sizes = ["--dim", "2", "--components", "3", "--points", "5", "--repeat", "1"];
        good("gmm", &[&sizes[..], &["--device", device, "--out", out, "--checked"]].concat());
        (numbers(folder.path(), "objective.txt"), numbers(folder.path(), "gradient.txt"))
    };
    let (native, interpreted) = (run("cpu"), run("interpreter"));
    close(native.0[0][0], interpreted.0[0][0]);
    native.1.iter().zip(&interpreted.1).for_each(|(n, i)| close(n[0], i[0]));
}

#[test]
fn without_a_gpu_the_programs_say_so() {
    if rev::Cuda::new(0).is_ok() {
        return eprintln!("skipped: there is a GPU");
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let on_cuda = ["--device", "cuda", "--out", out.to_str().unwrap()];
    let compared = ["--program", "gmm", "--devices", "cpu,cuda", "--out", out.to_str().unwrap()];
    let programs = ["gmm", "ba", "bessel"].map(|name| (name, &on_cuda[..]));
    for (name, args) in programs.into_iter().chain([("compare", &compared[..])]) {
        let output = run(name, args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), message.lines().count()), (Some(1), 1), "{name}: {message}");
        assert!(message.starts_with("error: cuda: no CUDA driver found: "), "{name}: {message}");
        assert!(!out.exists() && output.stdout.is_empty(), "{name}");
    }
}

#[test]
fn devices_are_compared_and_the_first_difference_is_located() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (input, out) = (file("gmm.txt"), file("compare.json"));
    rev_kernels::io::write_gmm(Path::new(&input), &rev_kernels::gmm::Instance::random(2, 2, 40, 1)).unwrap();
    let compare = |more: &[&str]| {
        let common = ["--program", "gmm", "--input", &input, "--devices", "interpreter,emulator", "--locate"];
        let output = run("compare", &[&common[..], &["--out", &out], more].concat());
        let record: serde_json::Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), record[0].clone())
    };
    let (code, text, record) = compare(&["--deterministic"]);
    assert!(code == Some(0) && text.contains("within the tolerance of 0e0"), "{text}");
    assert!(record["identical"] == true && record["first_difference"].is_null(), "{record}");
    // in any order the sums differ by rounding: small enough, or too much if nothing is allowed
    for (tolerance, expected) in [("1e-12", 0), ("1e-300", 1)] {
        let (code, text, record) = compare(&["--tolerance", tolerance]);
        assert_eq!(code, Some(expected), "{text}");
        assert_eq!(record["passed"], expected == 0);
        let first = record["first_difference"].as_str().unwrap();
        assert!(first.contains("kernels/src/gmm/program.rs:") && first.contains("`par for i in"), "{first}");
        assert!(text.contains(first), "{text}");
        let rows = record["values"].as_array().unwrap().iter().filter(|row| row["differing"] != 0);
        let worst: Vec<_> = rows.map(|row| row["relative"]["size"].as_f64().unwrap()).collect();
        assert!(!worst.is_empty() && worst.iter().all(|size| (0.0..1e-12).contains(size)), "{record}");
    }
}

/// Five dimensions are enough for the Petersen graph, four aren't.
#[test]
fn the_petersen_graph_fits_into_five_dimensions() {
    let embedded = |dim: &str| -> serde_json::Value {
        let folder = tempfile::tempdir().unwrap();
        let json = folder.path().join("record.json");
        let sizes = ["--dim", dim, "--seed", "1", "--starts", "4", "--steps", "50"];
        good("graph_embedding", &[&sizes[..], &["--json", json.to_str().unwrap()]].concat());
        serde_json::from_slice(&fs::read(json).unwrap()).unwrap()
    };
    let number = |record: &serde_json::Value, of: &str| record[of].as_f64().unwrap();
    let five = embedded("5");
    assert!(number(&five, "loss") < 1e-20, "{five}");
    assert!(abs_diff_eq!(number(&five, "l2") / number(&five, "l1"), 2f64.sqrt(), epsilon = 1e-8), "{five}");
    assert!(five["iterations"].as_u64().unwrap() > 0);
    for dim in ["3", "4"] {
        let record = embedded(dim);
        assert!(number(&record, "loss") > 1e-3, "{record}");
    }
}

#[test]
fn the_library_s_examples_explain_themselves_and_refuse_what_makes_no_sense() {
    let cases: [(&str, &[&[&str]]); 5] = [
        ("graph_embedding", &[&["--dim", "11"], &["--dim", "0"], &["--starts", "none"]]),
        (
            "flow",
            &[&["--layers", "0"], &["--rate", "nan"], &["--hidden", "1000000000"], &["--shape", "cube"]],
        ),
        ("leapfrog", &[&["--steps", "0"], &["--eccentricity", "1"], &["--steps-per-orbit", "9"]]),
        ("spin_glass", &[&["--size", "21"], &["--field", "-1"], &["--bonds", "none"]]),
        ("circuit", &[&["--qubits", "1"], &["--qubits", "21"], &["--layers", "0"], &["--coupling", "inf"]]),
    ];
    for (name, wrong) in cases {
        let help = good(name, &["--help"]);
        for option in ["--json", "--plot", "--check"] {
            assert!(help.contains(option), "{name} {option}");
        }
        for args in wrong {
            let folder = tempfile::tempdir().unwrap();
            let outputs = ["json", "svg"].map(|kind| folder.path().join(format!("out.{kind}")));
            let [json, svg] = outputs.each_ref().map(|path| path.to_str().unwrap());
            let output = run(name, &[args, &["--json", json, "--plot", svg][..]].concat());
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{name} {args:?}: {message}");
            assert!(message.starts_with("error: "), "{name} {args:?}: {message}");
            assert!(output.stdout.is_empty() && outputs.iter().all(|path| !path.exists()), "{name} {args:?}");
        }
    }
}

#[test]
fn the_quickstart_runs() {
    let text = good("quickstart", &[]);
    assert!(text.contains("gradient"), "{text}");
}

const FULL: &str = "1 2 2\n1.797201 0.590697 -0.635786 90.859550 29.361415 28.777534 211.628116 \
    -0.284531 -14.762924 0.058931 0.069976\n4.173048 5.586898 1.403869\n4.1 5.5 1.4\n0.417022\n0.5\n0 0\n0 1\n\
    -525.672849 161.811929\n-500 160\n";

#[test]
fn files_of_all_formats_are_compared() {
    let devices = ["--devices", "cpu,interpreter"];
    for (program, text, format) in [
        ("ba", BA, None),
        ("ba", BA, Some("adbench")),
        ("ba", FULL, Some("full")),
        ("ba", BAL, Some("bal")),
        ("bal", BAL, None),
        ("bal", BAL, Some("bal")),
        ("gmm", GMM, None),
    ] {
        let (_folder, input) = with_file(text);
        let format: Vec<&str> = format.into_iter().flat_map(|f| ["--format", f]).collect();
        let args = [&["--program", program, "--input", &input][..], &format[..], &devices[..]].concat();
        assert!(good("compare", &args).contains("within the tolerance"), "{args:?}");
    }
    let (_folder, input) = with_file(BAL);
    for (program, format) in [("bal", "full"), ("bal", "adbench"), ("gmm", "bal"), ("ba", "full")] {
        let output = run("compare", &["--program", program, "--input", &input, "--format", format]);
        assert_eq!(output.status.code(), Some(2), "{program} {format}");
    }
    assert_eq!(run("compare", &["--program", "ba", "--format", "full"]).status.code(), Some(2));
}
