//! Calls the kernel's own build system.
//!
//! The compiler is `kernel/build/cc.sh` in front of gcc: it compiles the headers that most files read only once, which halves the
//! processor time of a build.

use super::error::Attempt;
use super::runner::Runner;
use super::{BuildError, Listener, Progress};
use std::fs::{self, Permissions};
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;

/// About how many files there are to compile: what Linux 7.3 has with our configuration. Others differ by a few percent.
const ABOUT_FILES: u32 = 1_810;

/// The compiler and its headers: name in the folder [`FOLDER`] of the source tree, and text.
const COMPILER: [(&str, &str); 2] = [
    ("cc", include_str!("../../../kernel/build/cc.sh")),
    ("headers.h", include_str!("../../../kernel/build/headers.h")),
];

/// The folder for our own files in the source tree.
const FOLDER: &str = "netloom";

/// A file of every kernel without flags of its own. It is compiled first, and the headers with it, in the same way.
const FIRST: &str = "fs/open.o";

/// The texts that decide how files are compiled.
pub(super) fn texts() -> [&'static str; 2] {
    COMPILER.map(|(_, text)| text)
}

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
    report: Listener<'_>,
) -> Result<(), BuildError> {
    let jobs = jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
    put_compiler(&tree.join(FOLDER))?;
    let mut files = 0;
    for target in [FIRST, "linux"] {
        let mut command = make(tree);
        command.arg(format!("CC=./{FOLDER}/cc")).arg(format!("-j{jobs}")).arg(target);
        runner.run("compiling the kernel", command, &mut |line| {
            if is_compiled_file(line) {
                files += 1;
                report(Progress::Compiled { files, about: ABOUT_FILES.max(files) });
            }
        })?;
    }
    Ok(())
}

fn put_compiler(folder: &Path) -> Result<(), BuildError> {
    fs::create_dir(folder).attempted(|| format!("make {}", folder.display()))?;
    for (name, text) in COMPILER {
        let path = folder.join(name);
        fs::write(&path, text).attempted(|| format!("write {}", path.display()))?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))
            .attempted(|| format!("make {} run", path.display()))?;
    }
    Ok(())
}

/// Whether a line of the kernel's build system says that a file is being compiled: "  CC      net/ipv4/tcp.o".
fn is_compiled_file(line: &str) -> bool {
    line.strip_prefix("  CC ").is_some_and(|rest| rest.trim_end().ends_with(".o"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Output;

    /// Calls the compiler for a file as the kernel's build system does.
    fn compile_file(tree: &Path, name: &str) -> Output {
        let mut command = Command::new(format!("./{FOLDER}/cc"));
        command.arg(format!("-Wp,-MMD,fs/{name}.d")).args(["-D__KERNEL__", "-DKBUILD_MODNAME=\"our module\"", "-O1"]);
        command.args(["-c", "-o"]).arg(format!("fs/{name}.o")).arg(format!("fs/{name}.c"));
        command.current_dir(tree).output().unwrap()
    }

    #[test]
    fn a_file_is_compiled_with_the_headers_and_without_them_where_it_must() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path();
        put_compiler(&tree.join(FOLDER)).unwrap();
        for (name, _) in COMPILER {
            netloom_testing::programs::make_executable(&tree.join(FOLDER).join(name));
        }
        fs::create_dir(tree.join("fs")).unwrap();
        let write = |name: &str, text: &str| fs::write(tree.join(name), text).unwrap();
        write("netloom/headers.h", "static const int known = 1;\n#define MODULE KBUILD_MODNAME\n");
        write("fs/with.c", "const char *module(void) { return known ? MODULE : \"\"; }\n");
        write("fs/without.c", "static char known(void) { return 2; }\nint two(void) { return known(); }\n");
        write("fs/wrong.c", "int three(void) { return unknown; }\n");
        let with = compile_file(tree, "with");
        assert!(with.status.success(), "{with:?}");
        assert!(tree.join("netloom/headers.h.gch").exists());
        let object = fs::read(tree.join("fs/with.o")).unwrap();
        assert!(object.windows(10).any(|bytes| bytes == b"our module"));
        assert_eq!(fs::read_to_string(tree.join("fs/with.d")).unwrap(), "fs/with.o: fs/with.c\n");
        let without = compile_file(tree, "without");
        assert!(without.status.success(), "{without:?}");
        assert!(tree.join("fs/without.o").exists() && tree.join("fs/without.d").exists());
        let wrong = compile_file(tree, "wrong");
        assert!(!wrong.status.success());
        assert!(String::from_utf8_lossy(&wrong.stderr).contains("unknown"), "{wrong:?}");
    }

    #[test]
    fn compiled_files_are_counted_and_nothing_else() {
        assert!(is_compiled_file("  CC      net/ipv4/tcp.o"));
        assert!(!is_compiled_file("  AR      net/ipv4/built-in.a"));
        assert!(!is_compiled_file("  HOSTCC  scripts/kallsyms"));
        assert!(!is_compiled_file("  CC      arch/um/vdso.s"));
    }
}
