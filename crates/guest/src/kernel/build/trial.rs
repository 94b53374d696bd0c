//! Boots a kernel once, alone, before it is kept: what compiles need not run.

use super::BuildError;
use super::error::Attempt;
use super::runner::Runner;
use crate::node::Boot;
use crate::shim::{Orders, Shim};
use netloom_host::guest::{TRIAL, TRIAL_PASSED};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Plenty for a kernel and its first process.
const MEMORY_MIB: u64 = 64;

/// Boots `kernel` with `init` as its first process, which makes the file system of a node, says so and ends. Files are
/// made in `work` alone.
pub(super) fn boot(kernel: &Path, init: &Path, work: &Path, runner: &mut Runner<'_>) -> Result<(), BuildError> {
    let folder = work.join("trial");
    fs::create_dir(&folder).attempted(|| format!("make {}", folder.display()))?;
    let refused = |why: String| BuildError::Trial { why };
    let shim = Shim::in_memory().map_err(|error| refused(error.to_string()))?;
    let boot = Boot {
        name: "trial".to_owned(),
        kernel: kernel.to_owned(),
        init: init.to_owned(),
        memory_mib: MEMORY_MIB,
        folder,
        console: PathBuf::new(),
        devices: Vec::new(),
        processor: None,
        polls: Vec::new(),
        cgroup: None,
        disk: None,
        arguments: Vec::new(),
        late: false,
        bare: None,
    };
    let mut command = Command::new(kernel);
    let arguments = boot.arguments_for(boot.folder.as_os_str(), init.as_os_str());
    command.args(arguments.map_err(|error| refused(error.to_string()))?).arg(TRIAL).env_clear();
    shim.arm(&mut command, &Orders::default());
    let mut passed = false;
    runner.run("booting the kernel", command, &mut |line| passed |= line.trim_end() == TRIAL_PASSED)?;
    if passed { Ok(()) } else { Err(refused("it ended before its first process reported".to_owned())) }
}
