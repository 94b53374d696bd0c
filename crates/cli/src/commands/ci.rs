//! Reports for continuous integration.

use super::Failure;
use crate::args::{AnnotationsArg, Ci};
use crate::talk;
use netloom_judge::ExitCode;
use netloom_results::ci::{Suite, annotations, junit, sarif};
use std::path::{Path, PathBuf};

/// Tells what was judged of the lab file `file`.
pub(super) fn report(args: &Ci, suites: impl FnOnce() -> Vec<Suite>, file: &Path) -> Result<(), Failure> {
    let is_annotated = match args.annotations {
        AnnotationsArg::Github => true,
        AnnotationsArg::Auto => std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
        AnnotationsArg::Never => false,
    };
    if !is_annotated && args.junit.is_none() && args.sarif.is_none() {
        return Ok(());
    }
    let suites = suites();
    if is_annotated {
        annotations(&suites, &in_repository(file)).iter().for_each(|line| talk::say(line));
    }
    let documents = [
        args.junit.as_ref().map(|path| (path, junit(&suites))),
        args.sarif.as_ref().map(|path| (path, sarif(&suites, &in_repository(file)))),
    ];
    for (path, text) in documents.into_iter().flatten() {
        let failed = |error| Failure::new(ExitCode::Results, format!("writing {}: {error}", path.display()));
        std::fs::write(path, text).map_err(failed)?;
    }
    Ok(())
}

/// The file as it is called in the repository that GitHub has checked out.
fn in_repository(file: &Path) -> PathBuf {
    let root = std::env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
    let found = || {
        let (root, file) = (root?.canonicalize().ok()?, file.canonicalize().ok()?);
        file.strip_prefix(root).ok().map(Path::to_owned)
    };
    found().unwrap_or_else(|| file.to_owned())
}
