//! What is made of files of other tools: `files/*` against `files/*.yaml`, and what is said about wrong ones: `errors/*`
//! against `errors/*.txt`.
//!
//! The files were written by hand from what the formats' documentation and public files have; none is copied.
//! `UPDATE_GOLDEN=1` rewrites the expected texts; read what it wrote.

use netloom_import::{Format, Imported, Options};
use netloom_lab::Diagnostics;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn inputs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = fs::read_dir(folder).expect("the folder with foreign files");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    // Beside the files are what is expected of them, and what they name.
    let is_other =
        |path: &PathBuf| path.extension().is_some_and(|it| ["expected", "txt", "trace"].iter().any(|one| it == *one));
    let is_named = |path: &PathBuf| name(path).starts_with("named-");
    paths.retain(|path| !is_other(path) && !is_named(path));
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().expect("files have names").to_string_lossy().into_owned()
}

/// A file, or what describes the lab in a folder. Both are named from the folder of this crate, in which tests run.
fn import(path: &Path) -> Result<Imported, Diagnostics> {
    let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("a file of this crate");
    let path = if path.is_dir() { path.join("lab.conf") } else { path.to_owned() };
    let text = fs::read_to_string(&path).expect("a text");
    let format = Format::of(&path, &text).unwrap_or_else(|| panic!("{}: whose file is this?", path.display()));
    netloom_import::read(format, &path.to_string_lossy(), text, &Options::default())
}

/// What `got` should be is in a file beside the input.
fn compare(path: &Path, extension: &str, got: &str) -> Result<(), String> {
    let golden = path.with_file_name(format!("{}.{extension}", name(path)));
    if fs::read_to_string(&golden).is_ok_and(|expected| expected == got) {
        return Ok(());
    }
    if env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        return fs::write(&golden, got).map_err(|error| error.to_string());
    }
    Err(format!("{}: is not what is made, which is\n{got}\n", golden.display()))
}

fn check_file(path: &Path) -> Result<(), String> {
    let refused = |errors: Diagnostics| format!("{}: {errors}\n", path.display());
    let imported = import(path).map_err(refused)?;
    compare(path, "expected", imported.yaml())?;
    let lab = imported.parse(None).map_err(refused)?;
    // A lab file of its own, with the same plan but for the lines of its events.
    let beside = if path.is_dir() { path.join("again.yaml") } else { path.with_file_name("again.yaml") };
    let again = netloom_lab::parse(imported.yaml(), &beside.to_string_lossy()).map_err(refused)?;
    if lab.plan.text().to_string() == again.plan.text().to_string() {
        Ok(())
    } else {
        Err(format!("{}: the lab file has another plan\n", path.display()))
    }
}

#[test]
fn every_file_becomes_its_lab_file() {
    let failures: String = inputs("files").iter().filter_map(|path| check_file(path).err()).collect();
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn every_wrong_file_gets_its_message() {
    let check = |path: &PathBuf| {
        let errors = match import(path) {
            Ok(imported) => imported.parse(None).err(),
            Err(errors) => Some(errors),
        };
        let errors = errors.ok_or_else(|| format!("{}: is accepted\n", path.display()))?;
        compare(path, "txt", &format!("{errors}\n"))
    };
    let paths = inputs("errors");
    assert!(paths.len() >= 10, "only {} wrong files", paths.len());
    let failures: String = paths.iter().filter_map(|path| check(path).err()).collect();
    assert!(failures.is_empty(), "\n{failures}");
}
