//! Which seeds were run at which commit: a table in the repository, to which long runs add a line each.
//!
//! Programs are those that the generator of that commit makes. Only a run that is asked to
//! (`REV_RECORD=1`) writes, so that continuous integration doesn't.

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("ledger.md")
}

/// The seed after the last one that was run of a suite.
///
/// # Errors
///
/// A ledger that can't be read.
pub fn next(suite: &str) -> Result<u64, String> {
    let text = std::fs::read_to_string(path()).map_err(|e| format!("{}: {e}", path().display()))?;
    Ok(after(&text, suite))
}

/// The same in the text of a ledger.
pub fn after(text: &str, suite: &str) -> u64 {
    let rows = text.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let own = rows.filter(|row| row.get(1) == Some(&suite));
    let last = own.filter_map(|row| row.get(3)?.parse::<u64>().ok()).max();
    last.map_or(0, |last| last + 1)
}

/// Adds a line about a run, if the environment asks for it.
///
/// # Errors
///
/// A ledger that can't be written.
pub fn record(suite: &str, seeds: Range<u64>, failed: usize) -> Result<(), String> {
    if std::env::var("REV_RECORD").is_err() || seeds.is_empty() {
        return Ok(());
    }
    let line = format!("| {suite} | {} | {} | {} | {failed} |\n", seeds.start, seeds.end - 1, commit());
    let file = std::fs::OpenOptions::new().append(true).open(path());
    file.and_then(|mut f| f.write_all(line.as_bytes())).map_err(|e| format!("{}: {e}", path().display()))
}

/// The commit that the sources are of, `+` where they were changed since.
fn commit() -> String {
    let git = |args: &[&str]| {
        let out = Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(args).output().ok()?;
        out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    let changed = git(&["status", "--porcelain", "--", "..", ":!ledger.md"]).is_some_and(|s| !s.is_empty());
    let name = git(&["rev-parse", "--short=10", "HEAD"]).unwrap_or_else(|| "unknown".into());
    if changed {
        name + "+"
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_on_where_the_last_one_ended() {
        let text = "| suite | first | last | commit | failed |\n| - | - | - | - | - |\n\
                    | a | 0 | 9 | x | 0 |\n| a | 10 | 19 | y | 1 |\n| b | 5 | 6 | y | 0 |\n";
        assert_eq!([after(text, "a"), after(text, "b"), after(text, "c")], [20, 7, 0]);
        assert!(next("interpreter").is_ok());
    }
}
