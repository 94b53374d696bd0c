//! The shim's device backend under the sanitizers of the C compiler (AddressSanitizer, UndefinedBehaviorSanitizer), without a kernel:
//! see `backend/harness.c`. Warnings are errors here; a user's newer compiler may know further ones.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The exit code of a program in which a sanitizer found something.
const FOUND: &str = "exitcode=99";

fn compiled(folder: &Path) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join("harness");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wno-nonnull-compare", "-Werror"]);
    compiler.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-pthread", "-o"]).arg(&program);
    compiler.arg(crate_folder.join("tests/backend/harness.c"));
    let shim = crate_folder.join("shim").read_dir().unwrap().map(|entry| entry.unwrap().path());
    compiler.args(shim.filter(|file| file.extension().is_some_and(|extension| extension == "c")));
    assert!(compiler.status().unwrap().success());
    program
}

fn run(program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).env("ASAN_OPTIONS", FOUND).env("UBSAN_OPTIONS", FOUND).envs(environment.iter().copied());
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{arguments:?}: {}\n{said}", output.status);
    said
}

/// One compilation, and all that it is for: it takes longer than they do.
#[test]
fn the_backend_keeps_to_its_memory_whatever_a_kernel_says() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
    run(&program, &["frames"], &[]);
    run(&program, &["samples"], &[]);
    run(&program, &["carrier"], &[]);
    let said = run(&program, &["noise", "1", "1000"], &[]);
    assert!(said.contains("of 1000 ended by themselves"), "{said}");
    for dilation in ["1/1", "3333333/1000000", "1000000000000/1", "1/1000000000000"] {
        let latest = (i64::MAX / 4).to_string();
        let orders = [("NETLOOM_DILATION", dilation), ("NETLOOM_EPOCH", &latest), ("NETLOOM_WALL", &latest)];
        run(&program, &["arithmetic"], &orders);
    }
}
