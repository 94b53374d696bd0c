//! What is compared with, if it is installed, and the programs that are compiled for it.

use crate::lab::output;
use crate::settings::Settings;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where programs and lab files are, and which systems there are.
pub(super) struct Installed {
    pub(super) netloom: PathBuf,
    /// The programs that run in hosts.
    pub(super) programs: String,
    /// Shadow, or why it is not used.
    pub(super) shadow: Result<PathBuf, String>,
    /// The models for ns-3, or why they are not used.
    pub(super) models: Result<PathBuf, String>,
    /// Where everything goes.
    pub(super) folder: PathBuf,
}

impl Installed {
    /// Compiles what has to be compiled and looks for the rest.
    pub(super) fn find(settings: &Settings) -> Result<Self, String> {
        let folder = settings.output.join("peers");
        let made = std::fs::create_dir_all(&folder).and_then(|()| folder.canonicalize());
        let folder = made.map_err(|error| format!("{}: {error}", folder.display()))?;
        let programs = folder.join("programs");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        output(Command::new(compiler).args(["-O2", "-o"]).arg(&programs).arg(source("programs.c")))?;
        Ok(Self {
            netloom: on_path(&settings.netloom).ok_or_else(|| format!("no {}", settings.netloom.display()))?,
            programs: programs.display().to_string(),
            shadow: shadow(settings),
            models: models(settings, &folder),
            folder,
        })
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}

fn shadow(settings: &Settings) -> Result<PathBuf, String> {
    let path = on_path(&settings.peers.shadow).ok_or("Shadow is not installed")?;
    let works = output(Command::new(&path).arg("--version"));
    works.map(|_| path).map_err(|error| format!("Shadow does not run: {}", last_line(&error)))
}

/// Compiles the models with the ns-3 that pkg-config knows.
fn models(settings: &Settings, folder: &Path) -> Result<PathBuf, String> {
    const MODULES: [&str; 4] = ["ns3-applications", "ns3-internet", "ns3-point-to-point", "ns3-traffic-control"];
    let mut find = Command::new("pkg-config");
    find.args(["--cflags", "--libs"]).args(MODULES);
    if let Some(prefix) = &settings.peers.ns3 {
        let folders = ["lib", "lib64"].map(|name| prefix.join(name).join("pkgconfig").display().to_string());
        find.env("PKG_CONFIG_PATH", folders.join(":"));
    }
    let flags = output(&mut find).map_err(|_| "ns-3 is not installed")?;
    let libraries = flags.split_whitespace().filter_map(|flag| flag.strip_prefix("-L"));
    let places: Vec<String> = libraries.map(|place| format!("-Wl,-rpath,{place}")).collect();
    let models = folder.join("models");
    let compile = |standard: &str| {
        let mut command = Command::new(std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned()));
        command.args(["-O2", standard, "-o"]).arg(&models).arg(source("models.cc"));
        output(command.args(flags.split_whitespace()).args(&places))
    };
    eprintln!("compiling the models for ns-3");
    // New versions need the one, old ones the other.
    compile("-std=c++20")
        .or_else(|_| compile("-std=c++17"))
        .map_err(|error| format!("ns-3's models cannot be compiled: {}", last_line(&error)))?;
    Ok(models)
}

fn last_line(text: &str) -> &str {
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or(text)
}

/// The absolute path of a program, which is named by its path or is in a folder of `PATH`.
pub(super) fn on_path(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.canonicalize().ok();
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_or_by_path() {
        assert!(on_path(Path::new("sh")).is_some_and(|path| path.is_absolute()));
        assert!(on_path(Path::new("/bin/sh")).is_some());
        assert_eq!(on_path(Path::new("no-such-program-at-all")), None);
        assert_eq!(on_path(Path::new("./no-such-program-at-all")), None);
    }
}
