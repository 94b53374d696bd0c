//! The Python package that comes with this program: where it is, and which interpreter runs it.

use super::Failure;
use netloom_judge::ExitCode;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names another interpreter.
const PYTHON: &str = "NETLOOM_PYTHON";
/// Where the package is, seen from the program's folder: beside an installed program, and in a source tree.
const PACKAGES: [&str; 2] = ["../share/netloom/python", "../../python/src"];

/// Becomes Python with a module of the package; comes back only if that fails. `what` is what needs Python, for the error.
pub(super) fn become_module(module: &str, words: &[OsString], what: &str) -> Failure {
    let own = match env::current_exe() {
        Ok(own) => own,
        Err(error) => return Failure::new(ExitCode::Machine, format!("finding this program: {error}")),
    };
    let folder = own.parent().unwrap_or(Path::new("/"));
    let python = python(folder);
    let mut command = Command::new(&python);
    command.args(["-m", module]).args(words).env("NETLOOM", &own);
    if let Some(package) = package(folder) {
        command.env("PYTHONPATH", in_front(package.as_os_str(), env::var_os("PYTHONPATH").as_deref()));
    }
    let error = command.exec();
    let message = format!(
        "starting {}: {error}: {what} Python 3.10 or later; {PYTHON} names another interpreter",
        python.display()
    );
    Failure::new(ExitCode::Usage, message)
}

/// What the user names, or that of the environment in which this program is installed, or the one in `PATH`.
fn python(folder: &Path) -> PathBuf {
    if let Some(named) = env::var_os(PYTHON).filter(|named| !named.is_empty()) {
        return named.into();
    }
    // An installation by pip is an environment of its own, with a file that says so one folder above.
    let beside = folder.join("python3");
    if folder.join("../pyvenv.cfg").is_file() && beside.is_file() { beside } else { "python3".into() }
}

/// The folder of the package, unless Python finds it by itself.
fn package(folder: &Path) -> Option<PathBuf> {
    let found = |place: &PathBuf| place.join("netloom/mininet/__main__.py").is_file();
    PACKAGES.iter().map(|place| folder.join(place)).find(found).and_then(|place| place.canonicalize().ok())
}

fn in_front(first: &OsStr, rest: Option<&OsStr>) -> OsString {
    let mut path = first.to_owned();
    if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
        path.push(":");
        path.push(rest);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_comes_before_what_the_user_has_in_the_path() {
        assert_eq!(in_front(OsStr::new("/a"), None), "/a");
        assert_eq!(in_front(OsStr::new("/a"), Some(OsStr::new(""))), "/a");
        assert_eq!(in_front(OsStr::new("/a"), Some(OsStr::new("/b:/c"))), "/a:/b:/c");
    }

    #[test]
    fn the_package_is_found_beside_a_program_that_is_installed() {
        let root = tempfile::tempdir().expect("a folder");
        let bin = root.path().join("bin");
        std::fs::create_dir_all(&bin).expect("a folder");
        assert_eq!(package(&bin), None);
        let there = root.path().join("share/netloom/python/netloom/mininet");
        std::fs::create_dir_all(&there).expect("a folder");
        std::fs::write(there.join("__main__.py"), "").expect("a file");
        let root = root.path().canonicalize().expect("the folder");
        assert_eq!(package(&bin), Some(root.join("share/netloom/python")));
    }

    #[test]
    fn an_environment_of_pip_has_its_own_interpreter() {
        let root = tempfile::tempdir().expect("a folder");
        let bin = root.path().join("bin");
        std::fs::create_dir_all(&bin).expect("a folder");
        std::fs::write(bin.join("python3"), "").expect("a file");
        assert_eq!(python(&bin), PathBuf::from("python3"));
        std::fs::write(root.path().join("pyvenv.cfg"), "").expect("a file");
        assert_eq!(python(&bin), bin.join("python3"));
    }
}
