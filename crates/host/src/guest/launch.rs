//! How the agent's program is started in a virtual machine, which may lack all that it needs.

use std::path::{Path, PathBuf};

/// Where the initial file system has the agent.
pub const FOLDER: &str = "/netloom";

/// The program that loads the agent and its libraries, in the agent's folder.
pub const LOADER: &str = "ld";

/// The agent itself, in the same folder.
pub const PROGRAM: &str = "netloom";

/// The words that start the agent's program as it lies in this folder.
pub(super) fn words(folder: &Path) -> [PathBuf; 4] {
    [folder.join(LOADER), "--library-path".into(), folder.into(), folder.join(PROGRAM)]
}
