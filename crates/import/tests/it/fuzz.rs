//! Whatever is done to a file of another tool: it is read or refused, and what is read is a lab file.

use netloom_fuzz::{fuzz, mutated};
use netloom_import::{Format, Options, read};
use proptest::prelude::*;
use proptest::sample::select;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that the other tests read, each with its format.
fn files() -> Vec<(Format, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let entries =
        |name: &str| fs::read_dir(folder.join(name)).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut paths: Vec<PathBuf> = entries("files").chain(entries("errors")).collect();
    paths.sort();
    paths.iter_mut().filter(|path| path.is_dir()).for_each(|path| path.push("lab.conf"));
    let text = |path: &PathBuf| fs::read_to_string(path).ok();
    let found = paths.iter().filter_map(|path| text(path).and_then(|text| Some((Format::of(path, &text)?, text))));
    let files: Vec<(Format, String)> = found.collect();
    assert!(Format::ALL.iter().all(|format| files.iter().any(|(one, _)| one == format)), "a format has no file");
    files
}

/// Reads a file and does all that can be done with what it says. The lab may be refused, for addresses that clash or
/// programs that nobody may run, but what was written is YAML.
fn survives(format: Format, text: String) {
    match read(format, "fuzz", text, &Options::default()) {
        Ok(imported) => {
            assert_eq!(imported.notes().filter(|note| note.contains('\n')).count(), 0);
            let written = netloom_lab::yaml::parse(imported.yaml());
            assert!(written.is_ok(), "{written:?}\n{}", imported.yaml());
            match imported.parse(None) {
                Ok(lab) => drop(lab.plan.text().to_string()),
                Err(errors) => assert!(!errors.to_string().is_empty()),
            }
        }
        Err(errors) => assert!(!errors.is_empty() && !errors.to_string().is_empty()),
    }
}

#[test]
fn fuzz_foreign_files() {
    let inputs = select(files()).prop_flat_map(|(format, text)| (Just(format), mutated(vec![text])));
    fuzz("foreign-files", 1_500, &inputs, |(format, text)| survives(format, text));
}

#[test]
fn fuzz_any_text() {
    let inputs = (select(Format::ALL.to_vec()), any::<String>());
    fuzz("any-text", 1_000, &inputs, |(format, text)| survives(format, text));
}
