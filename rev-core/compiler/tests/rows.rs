//! A row is all there is: how many files know a function of the table by its name.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

/// Calls `f` on each file of a library's source that isn't a test.
fn each_source(folder: &Path, f: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name.starts_with("test") {
            continue;
        }
        if path.is_dir() {
            each_source(&path, f);
        } else if path.extension().is_some_and(|e| e == "rs") {
            f(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

/// Whether a text has a word.
fn has(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w.eq_ignore_ascii_case(word))
}

#[test]
fn an_elementary_function_is_known_to_its_row_and_its_algorithm() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in ["cbrt", "atanh", "softplus", "log1p", "erfc"] {
        let mut known = Vec::new();
        for library in ["rev-core/compiler", "rev-core/macros", "rev-core", "rev-cpu", "rev-cuda"] {
            each_source(&top.join(library).join("src"), &mut |path, text| {
                if has(text, name) {
                    known.push(path.file_name().unwrap().to_string_lossy().into_owned());
                }
            });
        }
        // what is made of others, and the standard library's names for some, know them too
        assert!(known.len() <= 4 && known.iter().any(|f| f == "elementary.rs"), "{name}: {known:?}");
    }
}

#[test]
fn a_scalar_type_is_known_to_its_row_and_to_what_is_new_about_it() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // (what emulates an instruction set has integers of these sizes for their own sake)
    for name in ["i8", "i16", "FixedI32"] {
        let mut known = Vec::new();
        for library in ["rev-core/compiler", "rev-core/macros", "rev-core", "rev-cpu"] {
            each_source(&top.join(library).join("src"), &mut |path, text| {
                if has(text, name) {
                    known.push(path.file_name().unwrap().to_string_lossy().into_owned());
                }
            });
        }
        assert!(known.len() <= 8 && known.iter().any(|f| f == "scalar.rs"), "{name}: {known:?}");
    }
    // nowhere does a device have a list of them
    each_source(&top.join("rev-cuda/src"), &mut |path, text| {
        assert!(!text.contains("ScalarType::I16"), "{}", path.display());
    });
}
