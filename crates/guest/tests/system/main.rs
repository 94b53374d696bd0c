//! Real kernels as nodes. They are booted by this program, which is the first process inside as well.
//!
//! The kernel is the one that the environment variable NETLOOM_KERNEL names.

mod bed;
mod boots;
mod programs;
#[path = "../../../host/tests/system/runner.rs"]
mod runner;

use std::process::ExitCode;

const CASES: &[(&str, fn())] = &[
    ("boots::a_kernel_becomes_a_node", boots::a_kernel_becomes_a_node),
    ("programs::exit_codes_and_output_come_back", programs::exit_codes_and_output_come_back),
];

fn main() -> ExitCode {
    if std::process::id() == 1 && std::env::args().any(|argument| argument == "guest-init") {
        return match netloom_host::guest::main() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    runner::run(CASES, &[])
}
