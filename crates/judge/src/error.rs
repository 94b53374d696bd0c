//! Why a lab could not be run, and which exit code says so.

use crate::ExitCode;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error that ended a run, or kept it from starting.
#[derive(Debug)]
pub enum RunError {
    /// Programs that the timeline needs are not on this machine.
    MissingPrograms(Vec<MissingProgram>),
    /// The kernel or the machine refused something; the text names what and which object.
    Machine(String),
    /// The agent of a node refused what it was asked for while the lab ran; the text names the node, and what the kernel said.
    Refused(String),
    /// A file of the results folder could not be written.
    Results {
        /// The file or folder.
        path: PathBuf,
        /// The error of the kernel.
        source: io::Error,
    },
    /// A lab of that name is up, or no such lab, node or link exists; the text names it.
    Lab(String),
    /// A command of the timeline could not be started, or a service did not become ready.
    Command(String),
    /// A process of the lab was killed, or an internal error ended it.
    Died(String),
    /// A lab is up and does not answer.
    Silent {
        /// The lab's name.
        lab: String,
    },
    /// A failure that another process reported, with its exit code.
    Reported {
        /// The exit code that process chose.
        code: ExitCode,
        /// The message of that process.
        message: String,
    },
}

/// A program that the lab file names and this machine does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingProgram {
    /// The lab file.
    pub file: PathBuf,
    /// The line of the timeline entry.
    pub line: usize,
    /// The program as written.
    pub program: String,
    /// Where the user would find it, though nodes do not.
    pub found: Option<PathBuf>,
    /// The key of the lab file that wants it.
    pub key: &'static str,
    /// The package that has it, if that is known.
    pub package: Option<&'static str>,
}

impl RunError {
    /// The exit code for this failure.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::MissingPrograms(_) | Self::Machine(_) | Self::Refused(_) => ExitCode::Machine,
            Self::Results { .. } => ExitCode::Results,
            Self::Lab(_) => ExitCode::NoSuchLab,
            Self::Command(_) => ExitCode::Unmet,
            Self::Died(_) | Self::Silent { .. } => ExitCode::Died,
            Self::Reported { code, .. } => *code,
        }
    }

    /// Returns a function for `map_err` on the result of writing `path`.
    pub fn results(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let owned = path.to_owned();
        move |source| Self::Results { path: owned, source }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingPrograms(missing) => write_missing(f, missing),
            Self::Results { path, source } => write!(f, "writing the results to {}: {source}", path.display()),
            Self::Machine(text) | Self::Refused(text) | Self::Lab(text) | Self::Command(text) | Self::Died(text) => {
                f.write_str(text)
            }
            Self::Silent { lab } => write!(
                f,
                "lab `{lab}` is up and does not answer: its process is stopped, or this machine has no time for it; \
                 `netloom down {lab}` ends it"
            ),
            Self::Reported { message, .. } => f.write_str(message),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Results { source, .. } => Some(source),
            _ => None,
        }
    }
}

fn write_missing(f: &mut fmt::Formatter<'_>, missing: &[MissingProgram]) -> fmt::Result {
    for (index, entry) in missing.iter().enumerate() {
        if index > 0 {
            writeln!(f)?;
        }
        let MissingProgram { file, line, program, found, key, package } = entry;
        write!(f, "{}:{line}: key `{key}`: program `{program}` is not ", file.display())?;
        match (found, package) {
            (None, Some(package)) => write!(f, "on this machine: install it with `apt install {package}`")?,
            (Some(found), _) => write!(
                f,
                "in the PATH of nodes: write {}, or `inherit: [PATH]` to give nodes your own",
                found.display()
            )?,
            (None, None) => f.write_str("on this machine: install it, or write the path of one that exists")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_told_with_its_key_and_how_to_get_it() {
        let missing = |program: &str, key, package| MissingProgram {
            file: "lab.yaml".into(),
            line: 3,
            program: program.to_owned(),
            found: None,
            key,
            package,
        };
        let daemon = missing("/usr/lib/frr/zebra", "daemons", Some("frr"));
        let osken = missing("osken-manager", "run", Some("python3-os-ken"));
        let text = RunError::MissingPrograms(vec![daemon, missing("serve", "run", None), osken]).to_string();
        let lines = "lab.yaml:3: key `daemons`: program `/usr/lib/frr/zebra` is not on this machine: install it with `apt install frr`\n\
                     lab.yaml:3: key `run`: program `serve` is not on this machine: install it, or write the path of one that exists\n\
                     lab.yaml:3: key `run`: program `osken-manager` is not on this machine: install it with `apt install python3-os-ken`";
        assert_eq!(text, lines);
    }
}
