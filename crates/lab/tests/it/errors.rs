//! What is said about lab files that are wrong, to the letter: `errors/*.yaml` against `errors/*.txt`.
//!
//! `UPDATE_GOLDEN=1` rewrites the texts; read what it wrote, for the texts are what a user will see.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn labs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let entries = fs::read_dir(folder).expect("the folder with wrong labs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().expect("files have names").to_string_lossy().into_owned()
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}\n", path.display()))?;
    let got = match netloom_lab::parse(&text, &name(path)) {
        Ok(_) => return Err(format!("{}: is accepted\n", path.display())),
        Err(diagnostics) => format!("{diagnostics}\n"),
    };
    let golden = path.with_extension("txt");
    if fs::read_to_string(&golden).is_ok_and(|expected| expected == got) {
        return Ok(());
    }
    if env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        return fs::write(&golden, got).map_err(|error| error.to_string());
    }
    Err(format!("{}: is not what is said, which is\n{got}\n", golden.display()))
}

#[test]
fn every_wrong_lab_gets_its_message() {
    let labs = labs();
    assert!(labs.len() >= 25, "only {} wrong labs", labs.len());
    let failures: String = labs.iter().filter_map(|path| check(path).err()).collect();
    assert!(failures.is_empty(), "\n{failures}");
}

/// File, line and key are always named, and errors come in the order of lines.
#[test]
fn every_message_has_a_place() {
    for path in labs() {
        let text = fs::read_to_string(&path).expect("the lab can be read");
        let diagnostics = netloom_lab::parse(&text, &name(&path)).expect_err("the lab is wrong");
        let lines: Vec<usize> = diagnostics.iter().map(netloom_lab::Diagnostic::line).collect();
        assert!(lines.is_sorted(), "{}: {lines:?}", path.display());
        let is_about_the_file = ["empty.yaml"].contains(&name(&path).as_str());
        for (diagnostic, line) in diagnostics.iter().zip(diagnostics.lines()) {
            assert!(line.starts_with(&name(&path)), "{line}");
            assert!(diagnostic.line() > 0 || is_about_the_file, "{line}");
            let is_syntax = name(&path).starts_with("syntax-") || is_about_the_file;
            assert!(!diagnostic.key().is_empty() || is_syntax, "{line}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let missing = netloom_lab::load(Path::new("/does/not/exist.yaml")).expect_err("there is no such file");
    assert!(missing.to_string().contains("reading /does/not/exist.yaml: No such file"), "{missing}");
}
