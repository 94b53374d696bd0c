//! Calls the kernel's own build system.

use super::runner::Runner;
use super::{BuildError, Listener, Progress};
use std::num::NonZero;
use std::path::Path;
use std::process::Command;
use std::thread;

/// About how many files there are to compile: what Linux 7.3 has with our configuration. Others differ by a few percent.
const ABOUT_FILES: u32 = 1_850;

/// `make` for User-Mode Linux in a source tree. Names and times that would make two builds differ, or tell of this
/// machine, are fixed.
pub(super) fn make(tree: &Path) -> Command {
    let mut command = Command::new("make");
    command.arg("ARCH=um").arg("--no-print-directory").current_dir(tree);
    command.env("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970").env("KBUILD_BUILD_VERSION", "1");
    command.env("KBUILD_BUILD_USER", "netloom").env("KBUILD_BUILD_HOST", "netloom");
    command
}

/// Compiles and links `linux` in the tree.
pub(super) fn compile(
    tree: &Path,
    jobs: Option<NonZero<usize>>,
    runner: &mut Runner<'_>,
    tell: Listener<'_>,
) -> Result<(), BuildError> {
    let jobs = jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
    let mut command = make(tree);
    command.arg(format!("-j{jobs}")).arg("linux");
    let mut files = 0;
    runner.run("compiling the kernel", command, &mut |line| {
        if is_compiled_file(line) {
            files += 1;
            tell(Progress::Compiled { files, about: ABOUT_FILES.max(files) });
        }
    })
}

/// Whether a line of the kernel's build system says that a file is being compiled: "  CC      net/ipv4/tcp.o".
fn is_compiled_file(line: &str) -> bool {
    line.strip_prefix("  CC ").is_some_and(|rest| rest.trim_end().ends_with(".o"))
}

#[cfg(test)]
mod tests {
    use super::is_compiled_file;

    #[test]
    fn compiled_files_are_counted_and_nothing_else() {
        assert!(is_compiled_file("  CC      net/ipv4/tcp.o"));
        assert!(!is_compiled_file("  AR      net/ipv4/built-in.a"));
        assert!(!is_compiled_file("  HOSTCC  scripts/kallsyms"));
        assert!(!is_compiled_file("  CC      arch/um/vdso.s"));
    }
}
