//! Tells the provenance which commit it was built from, where there is one to tell.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for file in ["HEAD", "logs/HEAD"] {
        println!("cargo:rerun-if-changed=../../.git/{file}");
    }
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let commit =
        output.ok().filter(|output| output.status.success()).and_then(|output| String::from_utf8(output.stdout).ok());
    if let Some(commit) = commit {
        println!("cargo:rustc-env=NETLOOM_COMMIT={}", commit.trim());
    }
}
