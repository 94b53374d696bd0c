//! The programs that a build calls.

use super::{BuildError, Tool};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const fn tool(name: &'static str, package: &'static str) -> Tool {
    Tool { name, package }
}

const PROGRAMS: [Tool; 8] = [
    tool("make", "make"),
    tool("gcc", "gcc"),
    tool("strip", "binutils"),
    tool("flex", "flex"),
    tool("bison", "bison"),
    tool("bc", "bc"),
    tool("tar", "tar"),
    tool("xz", "xz-utils"),
];

const HEADERS: Tool = tool("pty.h, a header of the C library,", "libc6-dev");

/// What fetches a source package.
const PACKAGE_MANAGER: [&str; 3] = ["apt-get", "apt-cache", "dpkg-deb"];

/// Looks for everything that a build needs, before it begins.
pub(super) fn check(from_package: bool) -> Result<(), BuildError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut missing: Vec<Tool> = PROGRAMS.into_iter().filter(|tool| !is_in(&path, tool.name)).collect();
    if is_in(&path, "gcc") && !has_headers() {
        missing.push(HEADERS);
    }
    if !missing.is_empty() {
        return Err(BuildError::Tools(missing));
    }
    match PACKAGE_MANAGER.into_iter().find(|program| !is_in(&path, program)) {
        Some(program) if from_package => {
            Err(BuildError::Packages { why: format!("there is no {program} here to fetch a kernel's source with") })
        }
        _ => Ok(()),
    }
}

fn is_in(path: &OsString, program: &str) -> bool {
    std::env::split_paths(path).map(|folder: PathBuf| folder.join(program)).any(|file| file.is_file())
}

/// Whether the compiler finds a header that the kernel's own programs include.
fn has_headers() -> bool {
    let mut command = Command::new("gcc");
    command.args(["-E", "-x", "c", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut compiler) = command.spawn() else { return false };
    let mut input = compiler.stdin.take().expect("standard input is a pipe");
    let written = input.write_all(b"#include <pty.h>\n").is_ok();
    drop(input);
    compiler.wait().is_ok_and(|status| status.success() && written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_missing_is_named_at_once_with_its_package() {
        let error = BuildError::Tools(vec![PROGRAMS[3], PROGRAMS[7], HEADERS]);
        let text = error.to_string();
        assert!(text.contains("flex is missing (package: flex)\nxz is missing (package: xz-utils)\n"), "{text}");
        assert!(text.ends_with("apt-get install flex libc6-dev xz-utils"), "{text}");
    }

    #[test]
    fn programs_are_looked_for_in_the_path() {
        assert!(is_in(&"/nowhere:/bin:/usr/bin".into(), "sh"));
        assert!(!is_in(&"/nowhere".into(), "sh"));
        assert!(!is_in(&"/bin:/usr/bin".into(), "no-such-program"));
    }
}
