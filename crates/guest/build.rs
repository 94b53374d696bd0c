//! Compiles the shim, which is preloaded into kernels, to a shared object that the crate carries inside.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    let sources = sources(Path::new("shim"));
    println!("cargo:rerun-if-changed=shim");
    let output = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("shim.so");
    let mut build = cc::Build::new();
    // The flags say everything: the profile's optimisation and debug information would change nothing but the size.
    build.opt_level(2).debug(false).warnings(true).extra_warnings(true).pic(true).std("gnu11");
    let mut compiler = build.get_compiler().to_command();
    compiler.args(["-shared", "-fvisibility=hidden", "-Wconversion", "-Wno-nonnull-compare"]);
    // Nothing is looked up late: the first call may come from a signal handler on a small stack. And nothing is missing.
    compiler.args(["-Wl,-z,now", "-Wl,-z,defs", "-Wl,-s", "-o"]).arg(&output).args(&sources);
    let done = compiler.status().unwrap_or_else(|error| panic!("could not run the C compiler ({compiler:?}): {error}"));
    assert!(done.success(), "the C compiler could not build the shim: {compiler:?}");
}

/// The C files of `folder`, in order of their names, so that the same sources always give the same bytes.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("could not read {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}
