//! The pages under `docs` and beside them fit together: links lead to pages and headings that exist, the book has every page,
//! and commands name packages, examples and tests of this workspace.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn docs() -> PathBuf {
    root().join("docs")
}

/// The pages of a folder.
fn pages_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages
}

/// The pages of the book, those in folders of `docs` too.
fn book() -> Vec<PathBuf> {
    let (mut pages, mut folders) = (Vec::new(), vec![docs()]);
    while let Some(folder) = folders.pop() {
        pages.extend(pages_in(&folder));
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        folders.extend(entries.filter(|path| path.is_dir()));
    }
    pages
}

/// All pages, with their text.
fn pages() -> Vec<(PathBuf, String)> {
    let pages = [pages_in(root()), book()].concat();
    pages.into_iter().map(|page| (page.clone(), std::fs::read_to_string(page).unwrap())).collect()
}

/// The lines of a page outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// What the links of a line lead to; code in backquotes has none.
fn links(line: &str) -> Vec<&str> {
    let text = line.split('`').step_by(2);
    text.flat_map(|part| part.split("](").skip(1).filter_map(|rest| rest.split(')').next())).collect()
}

/// A heading's anchor, as mdBook and code hosts make it: lower case, spaces as `-`, other signs left out.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#'));
    headings
        .map(|heading| {
            let anchor = anchor(heading);
            let times = seen.entry(anchor.clone()).or_default();
            *times += 1;
            if *times == 1 {
                anchor
            } else {
                format!("{anchor}-{}", *times - 1)
            }
        })
        .collect()
}

/// Where a page's link to a file leads.
fn target(page: &Path, file: &str) -> PathBuf {
    let mut target = page.parent().unwrap().to_path_buf();
    for part in Path::new(file) {
        if part == ".." {
            target.pop();
        } else {
            target.push(part);
        }
    }
    target
}

/// What is wrong with a link of a page.
fn fault(page: &Path, link: &str) -> Option<String> {
    if link.starts_with("http") {
        return None;
    }
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { page.to_path_buf() } else { target(page, file) };
    if page.starts_with(docs()) && !target.starts_with(docs()) {
        return Some("leads out of the book; name the file in backquotes".into());
    }
    if !target.is_file() {
        return Some("no such file".into());
    }
    let missing =
        !heading.is_empty() && !anchors(&std::fs::read_to_string(&target).unwrap()).contains(heading);
    missing.then(|| "no such heading".into())
}

#[test]
fn links_lead_somewhere() {
    let (mut followed, mut faults) = (0, Vec::new());
    for (page, text) in pages() {
        for link in prose(&text).flat_map(links) {
            followed += 1;
            faults.extend(fault(&page, link).map(|why| format!("{}: {link}: {why}", page.display())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(followed > 100, "only {followed} links were found");
}

#[test]
fn what_is_wrong_with_links_is_found() {
    let page = root().join("docs/language.md");
    for wrong in ["nowhere.md", "language.md#nowhere", "#nowhere", "../README.md"] {
        assert!(fault(&page, wrong).is_some(), "{wrong}");
    }
    let page = root().join("docs/decisions/lanes.md");
    assert!(fault(&page, "../language.md").is_none());
    for wrong in ["language.md", "../nowhere.md", "../../README.md"] {
        assert!(fault(&page, wrong).is_some(), "{wrong}");
    }
    assert_eq!(links("a [b](c.md), `[no](no.md)` [d](e.md#f)"), ["c.md", "e.md#f"]);
    assert_eq!(
        anchors("# A `b`, c\n```\n# code\n```\n## d\n## d"),
        ["a-b-c", "d", "d-1"].map(String::from).into()
    );
}

#[test]
fn the_book_has_every_page_once() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let mut listed: Vec<&str> = prose(&summary).flat_map(links).collect();
    listed.sort_unstable();
    let pages = book();
    let pages = pages.iter().map(|page| page.strip_prefix(docs()).unwrap().to_string_lossy().into_owned());
    let mut pages: Vec<String> = pages.filter(|page| page != "SUMMARY.md").collect();
    pages.sort_unstable();
    assert_eq!(listed, pages);
}

/// The packages of the workspace: names and folders.
fn packages() -> Vec<(String, PathBuf)> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    let folders = members.split('"').skip(1).step_by(2).chain([""]);
    folders
        .map(|folder| {
            let folder = root().join(folder);
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            let package = manifest.split("[package]").nth(1).unwrap();
            (package.split('"').nth(1).unwrap().to_owned(), folder)
        })
        .collect()
}

/// The words of a text that follow one of `flags`.
fn after<'a>(text: &'a str, flags: &[&str]) -> Vec<&'a str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let word = |w: &'a str| w.trim_end_matches(|c: char| !c.is_alphanumeric());
    words.windows(2).filter(|pair| flags.contains(&pair[0])).map(|pair| word(pair[1])).collect()
}

#[test]
fn commands_name_what_there_is() {
    let packages = packages();
    let names: HashSet<&str> = packages.iter().map(|(name, _)| name.as_str()).collect();
    let exists = |kind: &str, name: &str| {
        let places = packages.iter().flat_map(|(_, folder)| [folder.join(kind), folder.clone()]);
        places.into_iter().any(|place| {
            place.join(format!("{name}.rs")).is_file() || place.join(name).join("main.rs").is_file()
        })
    };
    let (mut checked, mut faults) = (0, Vec::new());
    // notes are of their time, and so are their commands
    for (page, text) in pages().into_iter().filter(|(page, _)| !page.starts_with(docs().join("notes"))) {
        let commands = text
            .split('`')
            .flat_map(|part| part.lines())
            .filter(|line| line.contains("cargo "))
            .collect::<Vec<_>>();
        let commands = commands.join("\n");
        let mut look = |what: &str, found: bool, name: &str| {
            checked += 1;
            if !found {
                faults.push(format!("{}: there is no {what} `{name}`", page.display()));
            }
        };
        for name in after(&commands, &["-p", "--package"]) {
            look("package", names.contains(name), name);
        }
        for (flag, folder) in [("--test", "tests"), ("--example", "examples"), ("--bench", "benches")] {
            for name in after(&commands, &[flag]).into_iter().filter(|name| *name != "NAME") {
                look(folder, exists(folder, name), name);
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked > 40, "only {checked} names were found");
}

#[test]
fn the_first_hour_ends_with_the_example() {
    let page = std::fs::read_to_string(root().join("docs/first-hour.md")).unwrap();
    let example = std::fs::read_to_string(root().join("examples/pendulum.rs")).unwrap();
    let program = &example[example.find("use rev::").unwrap()..];
    assert!(page.contains(&format!("```rust\n{program}```\n")), "docs/first-hour.md has another program");
}

#[test]
fn the_library_s_page_has_every_module() {
    let page = std::fs::read_to_string(root().join("docs/library.md")).unwrap();
    for name in ["algebra", "classics", "networks"] {
        let list = std::fs::read_to_string(root().join(format!("kernels/{name}/src/lib.rs"))).unwrap();
        let modules: Vec<_> =
            list.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
        let missing: Vec<_> =
            modules.iter().filter(|m| **m != "suite" && !page.contains(&format!("`{m}`"))).collect();
        assert!(modules.len() > 4 && missing.is_empty(), "rev-{name}: {missing:?}");
    }
}

/// The files of programs in a folder, by their place in the repository: each `NAME.rs`, and `NAME` where there is a `NAME/main.rs`.
fn programs_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.map(|entry| entry.unwrap().path());
    let files = files.map(|path| if path.is_dir() { path.join("main.rs") } else { path });
    let mut files: Vec<_> =
        files.filter(|path| path.is_file() && path.extension().is_some_and(|e| e == "rs")).collect();
    files.sort();
    files
}

#[test]
fn the_index_has_every_example() {
    let page = std::fs::read_to_string(docs().join("examples.md")).unwrap();
    let files = packages().into_iter().flat_map(|(_, folder)| programs_in(&folder.join("examples")));
    let library = programs_in(&root().join("examples/library")).into_iter();
    let files = files.chain(library.filter(|file| file.ends_with("main.rs")));
    let names: Vec<_> =
        files.map(|file| file.strip_prefix(root()).unwrap().to_string_lossy().into_owned()).collect();
    let missing: Vec<_> = names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(names.len() > 20 && missing.is_empty(), "docs/examples.md lacks {missing:?}");
}

/// CONTRIBUTING.md: a test stands in the lowest package in which it compiles. Each folder of tests that is above others, and words of
/// which one at least is in a test that has to stand there.
#[test]
fn tests_stand_where_they_are_looked_for() {
    let library = ["rev_kernels", "rev_algebra", "rev_classics", "rev_networks", "rev_numbers"];
    let whole = ["Emulator", "cuda", "examples/", "docs", "README", "CARGO_BIN_EXE"];
    let above = [
        ("rev-cpu", vec!["rev_cpu", "trybuild"]),
        ("rev-cuda", vec!["rev_cuda"]),
        ("rev-core/checkpoint", vec!["rev_checkpoint"]),
        ("kernels", library.to_vec()),
        ("kernels/algebra", library.to_vec()),
        ("kernels/classics", library.to_vec()),
        ("kernels/networks", library.to_vec()),
        ("numbers", library.to_vec()),
        ("examples/library", vec!["examples"]),
        ("", [&whole[..], &library[..]].concat()),
    ];
    let (mut files, mut faults) = (0, Vec::new());
    for (folder, needs) in above {
        for file in programs_in(&root().join(folder).join("tests")) {
            files += 1;
            let text = std::fs::read_to_string(&file).unwrap();
            if !needs.iter().any(|word| text.contains(word)) {
                faults.push(format!("{} needs nothing of its package", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(files > 80, "only {files} tests were found");
}

/// Each row of a form names tests that there are, or says that none is needed.
#[test]
fn every_form_has_a_test() {
    let page = std::fs::read_to_string(root().join("docs/forms-of-nilang.md")).unwrap();
    let is_row = |line: &&str| line.starts_with("| ") && line.chars().nth(2).is_some_and(char::is_alphabetic);
    let (mut rows, mut faults) = (0, Vec::new());
    for row in page.lines().filter(is_row) {
        rows += 1;
        let shown = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let tests: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        if tests.is_empty() && shown != "not needed" {
            faults.push(format!("no test: {row}"));
        }
        for test in tests {
            let (file, name) = test.split_once("::").unwrap_or((test, ""));
            let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
            if text.is_empty()
                || !text.contains(&if name.is_empty() { String::new() } else { format!("fn {name}()") })
            {
                faults.push(format!("there is no test `{test}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(rows > 90, "only {rows} rows were found");
}
