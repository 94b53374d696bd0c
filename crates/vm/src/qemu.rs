//! Which QEMU this machine has.

use crate::error::VmError;
use crate::trial::{self, Acceleration};
use netloom_units::Dilation;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program.
const PROGRAM: &str = "qemu-system-x86_64";

/// The oldest version that knows all options that are used here (`-machine memory-backend=` came with 5.0, and 6.0 is the oldest
/// that a distribution still keeps).
pub const LEAST_VERSION: (u32, u32) = (6, 0);

/// The QEMU of this machine, and what this machine does for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qemu {
    /// Its program.
    pub program: PathBuf,
    /// As it tells it, for example "7.2.22".
    pub version: String,
    /// Who executes the machines' instructions.
    pub acceleration: Acceleration,
}

impl Qemu {
    /// Looks for QEMU, and tries what this machine does for it, in real time or in dilated time. Takes some tenths of a second.
    ///
    /// # Errors
    /// When there is none, or one that is too old.
    pub fn find(dilation: Option<Dilation>) -> Result<Self, VmError> {
        if env::consts::ARCH != "x86_64" {
            return Err(VmError::Wrong(format!(
                "virtual machines need a machine with x86_64, and this is {}",
                env::consts::ARCH
            )));
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let program = env::split_paths(&path).map(|folder| folder.join(PROGRAM)).find(|program| program.is_file());
        let program = program.ok_or(VmError::NoQemu(PROGRAM))?;
        let version = version_of(&program)?;
        if number(&version).is_none_or(|number| number < LEAST_VERSION) {
            return Err(VmError::Old { program, version, least: LEAST_VERSION });
        }
        let acceleration = trial::acceleration(&program, dilation)?;
        Ok(Self { program, version, acceleration })
    }
}

fn version_of(program: &Path) -> Result<String, VmError> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(VmError::file("start", program))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_whitespace().skip_while(|word| *word != "version").nth(1).map(str::to_owned);
    version.ok_or_else(|| VmError::Wrong(format!("{} --version does not tell its version", program.display())))
}

/// Major and minor number of a version such as "7.2.22".
fn number(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(number("7.2.22"), Some((7, 2)));
        assert!(number("10.0.0") > Some(LEAST_VERSION));
        assert!(number("5.2.0") < Some(LEAST_VERSION));
        assert_eq!(number("unknown"), None);
    }
}
