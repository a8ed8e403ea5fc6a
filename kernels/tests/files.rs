//! The file formats: what is written is read back, and every way of being malformed gives one
//! error that says where, what was expected and what was found.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use rev_kernels::io::*;
use rev_kernels::{ba, bal, gmm};

/// A folder of its own for each test.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

const GMM: &str = "2 3 1\n-0.5\n1.25\n-0.75\n\
    0.1 0.2\n0.3 0.4\n0.5 0.6\n\
    0.1 -0.2 0.3\n-1.5 0.8 -0.2\n0.1 -1.9 -1.2\n\
    1.5 2.5\n1.0 0\n";

const ADBENCH: &str = "2 3 5\n1 2 3 4 5 6 7 8 9 10 11\n1.5 2.5 3.5\n0.25\n-5 6\n";

const FULL: &str = "1 2 3\n1 2 3 4 5 6 7 8 9 10 11\n1 2 3\n4 5 6\n0.1\n0.2\n0.3\n\
    0 0\n0 1\n0 0\n1 2\n3 4\n5 6\n";

const BAL: &str = "1 2 3\n0 0 1 2\n0 1 3 4\n0 0 5 6\n\n1\n2\n3\n4\n5\n6\n7\n8\n9\n\n1 2 3\n4 5\n6\n";

type Outcome = Result<(), String>;

/// What reading `text` gives, with the file's name shortened to `F`.
fn outcome<T>(text: &[u8], read: impl FnOnce(&std::path::Path) -> Result<T, ReadError>) -> Outcome {
    let folder = folder();
    let path = folder.path().join("input.txt");
    fs::write(&path, text).unwrap();
    read(&path).map(drop).map_err(|e| e.to_string().replace(&path.display().to_string(), "F"))
}

fn gmm(text: &str) -> Outcome {
    outcome(text.as_bytes(), read_gmm)
}
fn adbench(text: &str) -> Outcome {
    outcome(text.as_bytes(), read_ba_adbench)
}
fn full(text: &str) -> Outcome {
    outcome(text.as_bytes(), read_ba_full)
}
fn bal(text: &str) -> Outcome {
    outcome(text.as_bytes(), read_bal)
}

fn is(outcome: Outcome, expected: &str) {
    assert_eq!(outcome, Err(expected.to_string()));
}

#[test]
fn the_fixtures_are_good() {
    for outcome in [gmm(GMM), adbench(ADBENCH), full(FULL), bal(BAL)] {
        assert_eq!(outcome, Ok(()));
    }
    // other line ends, empty lines and trailing spaces are fine
    assert_eq!(gmm(&GMM.replace('\n', " \r\n\n")), Ok(()));
    assert_eq!(full(FULL.trim_end()), Ok(()));
}

#[test]
fn a_missing_file() {
    let missing = PathBuf::from("no/such/file.txt");
    let error = read_gmm(&missing).unwrap_err();
    assert_eq!((error.file.as_path(), error.line), (missing.as_path(), 1));
    assert!(error
        .to_string()
        .starts_with("no/such/file.txt:1: expected a file that can be read, found No such"));
    for error in [read_ba_adbench(&missing), read_ba_full(&missing)] {
        assert!(error.unwrap_err().to_string().contains("expected a file that can be read"));
    }
    assert!(read_bal(&missing).is_err());
    let folder = folder();
    assert!(read_gmm(folder.path()).unwrap_err().to_string().contains("found a directory"));
}

#[test]
fn truncated_files() {
    is(gmm(""), "F:1: expected the dimension D, found the end of the file");
    is(gmm("2 3 1\n0.5\n"), "F:2: expected a weight α, found the end of the file");
    is(adbench("2 3 5\n"), "F:1: expected the 11 numbers of a camera, found the end of the file");
    let cut = FULL.trim_end().rsplit_once('\n').unwrap().0;
    is(full(cut), "F:12: expected the 2 coordinates of a feature, found the end of the file");
    is(bal(&BAL[..BAL.len() - 2]), "F:17: expected a point's coordinate, found the end of the file");
    // every proper prefix that ends with a line is an error
    for (format, text) in [(gmm as fn(&str) -> Outcome, GMM), (adbench, ADBENCH), (full, FULL), (bal, BAL)] {
        for (end, _) in text.trim_end().match_indices('\n') {
            assert!(format(&text[..end]).is_err(), "{}", &text[..end]);
        }
    }
}

#[test]
fn a_word_for_a_number() {
    is(gmm(&GMM.replace("1.25", "one")), "F:3: expected a weight α (a number), found `one`");
    is(
        adbench(&ADBENCH.replace("3.5", "3,5")),
        "F:3: expected the 3 coordinates of a point (a number), found `3,5`",
    );
    is(full(&FULL.replace("0.2", "0x2")), "F:6: expected a weight (a number), found `0x2`");
    is(
        bal(&BAL.replace("3 4\n", "3 four\n")),
        "F:3: expected the coordinates of a feature (a number), found `four`",
    );
    is(
        outcome(b"2 3 \xff\x07\n", read_gmm),
        "F:1: expected the number of points N (a whole number from 1 to 536870912), found `\u{fffd}\\u{7}`",
    );
    let long = "x".repeat(1000);
    let shown = format!("F:2: expected a weight α (a number), found `{}…`", "x".repeat(40));
    is(gmm(&GMM.replace("-0.5\n", &format!("{long}\n"))), &shown);
}

#[test]
fn nan_and_infinity() {
    for word in ["NaN", "nan", "inf", "-inf", "infinity", "1e999"] {
        is(
            gmm(&GMM.replace("1.25", word)),
            &format!("F:3: expected a weight α (a finite number), found `{word}`"),
        );
        is(
            full(&FULL.replace("0.2", word)),
            &format!("F:6: expected a weight (a finite number), found `{word}`"),
        );
        assert!(adbench(&ADBENCH.replace("-5", word)).is_err());
        assert!(bal(&BAL.replace("4 5\n", &format!("4 {word}\n"))).is_err());
    }
}

#[test]
fn an_index_out_of_range() {
    is(
        full(&FULL.replace("0 1\n", "0 2\n")),
        "F:9: expected a point index (a whole number from 0 to 1), found `2`",
    );
    is(
        full(&FULL.replace("0 1\n", "1 1\n")),
        "F:9: expected a camera index (a whole number from 0 to 0), found `1`",
    );
    is(
        full(&FULL.replace("0 1\n", "0 -1\n")),
        "F:9: expected a point index (a whole number from 0 to 1), found `-1`",
    );
    is(
        full(&FULL.replace("0 1\n", "0 1.0\n")),
        "F:9: expected a point index (a whole number from 0 to 1), found `1.0`",
    );
    is(
        bal(&BAL.replace("0 1 3 4", "0 7 3 4")),
        "F:3: expected a point index (a whole number from 0 to 1), found `7`",
    );
}

#[test]
fn sizes_that_do_not_agree() {
    is(
        gmm(&GMM.replace("2 3 1\n", "3 3 1\n")),
        "F:5: expected the means of a component (3 words on the line), found a line of 2",
    );
    is(
        gmm(&GMM.replace("2 3 1\n", "1 3 1\n")),
        "F:5: expected the end of the line before the means of a component, found `0.2`",
    );
    is(
        gmm(&GMM.replace("2 3 1\n", "2 2 1\n")),
        "F:4: expected the means of a component (2 words on the line), found a line of 1",
    );
    is(
        full(&FULL.replace("1 2 3\n1 2 3 4", "1 1 3\n1 2 3 4")),
        "F:4: expected the end of the line before a weight, found `5`",
    );
    is(
        bal(&BAL.replace("0 1 3 4", "0 1 3")),
        "F:3: expected the coordinates of a feature (4 words on the line), found a line of 3",
    );
    is(
        bal(&BAL.replace("0 0 5 6", "0 0 5 6 7")),
        "F:4: expected the end of the line before the cameras, found `7`",
    );
    is(
        gmm(&GMM.replace("1.0 0", "1.0")),
        "F:12: expected m of the Wishart prior (2 words on the line), found a line of 1",
    );
}

#[test]
fn sizes_that_overflow_or_are_absurd() {
    let limit = "a whole number from 1 to 536870912";
    for word in ["99999999999999999999999", "18446744073709551615", "0", "-3", "2.5"] {
        is(
            gmm(&GMM.replace("2 3 1\n", &format!("2 {word} 1\n"))),
            &format!("F:1: expected the number of components K ({limit}), found `{word}`"),
        );
        is(
            adbench(&ADBENCH.replace("2 3 5\n", &format!("2 3 {word}\n"))),
            &format!("F:1: expected the number of observations p ({limit}), found `{word}`"),
        );
        assert!(bal(&BAL.replace("1 2 3\n0", &format!("{word} 2 3\n0"))).is_err());
    }
    let asks = "F:1: expected sizes that ask for at most 536870912 numbers, found";
    is(gmm(&GMM.replace("2 3 1\n", "500000000 3 1\n")), &format!("{asks} `500000000 3 1`"));
    is(gmm(&GMM.replace("2 3 1\n", "2 3 500000000\n")), &format!("{asks} `2 3 500000000`"));
    for format in [full as fn(&str) -> Outcome, bal] {
        is(format("500000000 500000000 500000000\n"), &format!("{asks} `500000000 500000000 500000000`"));
    }
    // a file of 60 bytes that stands for gigabytes: the largest published problem passes, not much more
    let asks = "F:1: expected sizes that ask for at most 160000000 numbers, found";
    is(adbench(&ADBENCH.replace("2 3 5", "1 1 85000000")), &format!("{asks} `1 1 85000000`"));
    is(
        adbench("13682 4456117 28987644\n"),
        "F:1: expected the 11 numbers of a camera, found the end of the file",
    );
    // within the limit, but not in the file: nothing large is allocated for it
    is(gmm("2 50000000 10\n1.0\n"), "F:2: expected a weight α, found the end of the file");
}

#[test]
fn files_of_something_else() {
    type Reader = fn(&str) -> Outcome;
    let readers: [(Reader, &str); 4] = [(gmm, GMM), (adbench, ADBENCH), (full, FULL), (bal, BAL)];
    for (format, text) in readers {
        for other in ["", "\n\r\n \n", "\0\0\0\0", "\u{feff}1 2 3\n", "{\"n\": 1}", "1 2", "-1 -2 -3\n"] {
            assert!(format(other).is_err(), "{other:?}");
        }
        assert_eq!(format(&text.replace('\n', "\r\n")), Ok(()));
        // a byte that is no text, anywhere
        let good = text.as_bytes();
        for at in 0..good.len() {
            let bytes = [&good[..at], &[0xff], &good[at..]].concat();
            let path = folder();
            let path = path.path().join("bytes");
            fs::write(&path, bytes).unwrap();
            let read = [
                read_gmm(&path).is_err(),
                read_ba_adbench(&path).is_err(),
                read_ba_full(&path).is_err(),
                read_bal(&path).is_err(),
            ];
            assert_eq!(read, [true; 4], "{at}");
        }
    }
}

#[test]
fn words_left_over() {
    is(gmm(&format!("{GMM}\n7\n")), "F:14: expected the end of the file, found `7`");
    is(gmm(&GMM.replace("1.0 0\n", "1.0 0 3\n")), "F:12: expected the end of the file, found `3`");
    is(adbench(&format!("{ADBENCH}x")), "F:6: expected the end of the file, found `x`");
    is(full(&format!("{FULL}1 2\n")), "F:14: expected the end of the file, found `1`");
    is(bal(&format!("{BAL}0")), "F:19: expected the end of the file, found `0`");
}

#[test]
fn a_prior_that_is_none() {
    for (line, found) in [("0 0", "0"), ("-1.5 0", "-1.5")] {
        is(
            gmm(&GMM.replace("1.0 0\n", &format!("{line}\n"))),
            &format!("F:12: expected γ of the Wishart prior (above 0), found `{found}`"),
        );
    }
    is(
        gmm(&GMM.replace("1.0 0\n", "1.0 0.5\n")),
        "F:12: expected m of the Wishart prior (a whole number from 0 to 1048576), found `0.5`",
    );
}

#[test]
fn adbench_repeats_its_one_camera() {
    let folder = folder();
    let path = folder.path().join("ba.txt");
    fs::write(&path, ADBENCH).unwrap();
    let instance = read_ba_adbench(&path).unwrap();
    assert_eq!(instance.sizes(), [2, 3, 5]);
    assert_eq!(instance.camera_of, [0, 1, 0, 1, 0]);
    assert_eq!(instance.point_of, [0, 1, 2, 0, 1]);
    assert_eq!(instance.cameras[1], [1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11.]);
    assert_eq!((instance.weights[4], instance.features[4]), (0.25, [-5., 6.]));
}

#[test]
fn what_is_written_is_read_back_exactly() {
    let folder = folder();
    let path = folder.path().join("instance.txt");
    let mixture = gmm::Instance { m: 4, ..gmm::Instance::random(3, 4, 7, 1) };
    write_gmm(&path, &mixture).unwrap();
    assert_eq!(read_gmm(&path).unwrap(), mixture);
    let adjustment = ba::Instance::random(3, 5, 11, 2);
    write_ba_full(&path, &adjustment).unwrap();
    assert_eq!(read_ba_full(&path).unwrap(), adjustment);
    let problem = bal::Instance::random(3, 5, 11, 3);
    write_bal(&path, &problem).unwrap();
    assert_eq!(read_bal(&path).unwrap(), problem);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = folder();
    let path = folder.path().join("numbers.txt");
    write_numbers(&path, [[1.0 / 3.0, -2.5e-300]]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "3.3333333333333331e-1 -2.5000000000000000e-300\n");
    let failed = write_whole(&path, |out| {
        writeln!(out, "half")?;
        Err(std::io::Error::other("the disk is full"))
    });
    assert!(failed.unwrap_err().to_string().ends_with("numbers.txt: cannot be written: the disk is full"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "3.3333333333333331e-1 -2.5000000000000000e-300\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    assert!(write_numbers(&folder.path().join("no/folder/file.txt"), [[0.0]]).is_err());
}

#[test]
fn random_instances_are_reproducible() {
    assert_eq!(gmm::Instance::random(3, 4, 7, 1), gmm::Instance::random(3, 4, 7, 1));
    assert_ne!(gmm::Instance::random(3, 4, 7, 1), gmm::Instance::random(3, 4, 7, 2));
    assert_eq!(ba::Instance::random(3, 5, 11, 2), ba::Instance::random(3, 5, 11, 2));
    assert_eq!(bal::Instance::random(3, 5, 11, 2), bal::Instance::random(3, 5, 11, 2));
}

/// Some lines as a file.
fn lines(path: &std::path::Path, count: usize) -> Result<(), WriteError> {
    write_whole(path, |out| (0..count).try_for_each(|k| writeln!(out, "{k}")))
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    lines("/dev/null".as_ref(), 3).unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(lines("/dev/full".as_ref(), 3).is_err());
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    let folder = folder();
    assert!(lines(folder.path(), 3).is_err());
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    lines(&pipe, 3).unwrap();
    assert_eq!(reader.join().unwrap(), "0\n1\n2\n");
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_modes_kept() {
    use std::os::unix::fs::{symlink, PermissionsExt};
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("elsewhere")).unwrap();
    let file = at("elsewhere/file");
    symlink("link2", at("link1")).unwrap();
    symlink("elsewhere/file", at("link2")).unwrap();
    symlink("loop", at("loop")).unwrap();
    // where nothing is yet, and where something is
    for (mode, count) in [(0o644, 2), (0o600, 3), (0o751, 1)] {
        lines(&at("link1"), count).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), count);
        assert!(fs::symlink_metadata(at("link1")).unwrap().is_symlink());
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        lines(&file, 5).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, mode);
    }
    assert!(lines(&at("loop"), 1).is_err());
    assert_eq!(fs::read_dir(at("elsewhere")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

/// Writes `REV_LINES` lines to `REV_FILE` in a process of its own, for the tests below; says `half` on its way where it
/// is to be killed there.
#[test]
fn a_writer_of_its_own() {
    let Some(path) = std::env::var_os("REV_FILE") else { return };
    let count: usize = std::env::var("REV_LINES").unwrap().parse().unwrap();
    let written = write_whole(path.as_ref(), |out| {
        for k in 0..count {
            writeln!(out, "{k:07}")?;
        }
        if std::env::var_os("REV_WAIT").is_some() {
            out.flush()?;
            println!("half");
            std::thread::sleep(std::time::Duration::from_secs(600));
        }
        Ok(())
    });
    std::process::exit(if written.is_ok() { 0 } else { 3 });
}

#[cfg(target_os = "linux")]
fn writer(shell: &str, path: &std::path::Path, count: usize) -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    let this = std::env::current_exe().unwrap();
    command.arg("-c").arg(format!("{shell} exec \"$0\" a_writer_of_its_own --exact --nocapture")).arg(this);
    command.env("REV_FILE", path).env("REV_LINES", count.to_string());
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let folder = folder();
    let path = folder.path().join("file");
    // files of at most some kilobytes: the signal ignored, an error; not ignored, the end of the program
    for (shell, ends) in [("trap '' XFSZ; ulimit -f 8;", Some(3)), ("ulimit -f 8;", None)] {
        for old in [None, Some("old")] {
            let _ = fs::remove_file(&path);
            if let Some(old) = old {
                fs::write(&path, old).unwrap();
            }
            let status = writer(shell, &path, 100_000).stdout(std::process::Stdio::null()).status().unwrap();
            assert_eq!(status.code(), ends, "{shell}");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), old);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(old.is_some()));
        }
        let good = writer(shell, &path, 100).stdout(std::process::Stdio::null()).status().unwrap();
        assert!(good.success());
        assert_eq!(fs::read_to_string(&path).unwrap().len(), 800);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_program_leaves_the_old_file_and_nothing_else() {
    use std::io::{BufRead, BufReader};
    let folder = folder();
    let path = folder.path().join("file");
    for old in [None, Some("old")] {
        if let Some(old) = old {
            fs::write(&path, old).unwrap();
        }
        let mut child = writer("", &path, 100_000)
            .env("REV_WAIT", "1")
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        assert!(output.lines().any(|line| line.unwrap().contains("half")));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), old);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(old.is_some()));
    }
}

/// The files that the fuzzer has found worth keeping (`testgen/fuzz`): each is read, or refused with a message.
#[test]
fn the_fuzzers_files_are_read_or_refused() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../testgen/fuzz/corpus/files");
    let (mut read, mut refused) = (0, 0);
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let outcomes = [
            read_gmm(&file).map(drop),
            read_ba_adbench(&file).map(drop),
            read_ba_full(&file).map(drop),
            read_bal(&file).map(drop),
        ];
        read += outcomes.iter().filter(|o| o.is_ok()).count();
        refused += outcomes.iter().filter(|o| o.is_err()).count();
    }
    assert!(read > 0 && refused > 10, "{read} read, {refused} refused");
}
