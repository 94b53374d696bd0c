//! Programs that write the rules of this machine's firewall: where they are found, what they lock, and what they say.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::programs::{PATH, exists, find};
use crate::runtime_folder;

/// What iptables is called, behind its name, in the order in which it is tried: what the machine's administrator has chosen, and what
/// there is beside it. A kernel may have only one of the two kinds.
pub(crate) const VARIANTS: [&str; 3] = ["", "-nft", "-legacy"];
/// The program of nftables.
pub(crate) const NFT: &str = "nft";
/// What programs of old tables lock, which an ordinary user's cannot.
const LOCK: &str = "/run/xtables.lock";

/// Whether a program of this name is found.
pub(crate) fn is_there(program: &str) -> bool {
    exists(program, &path())
}

/// The program with its arguments. It says what is wrong in English.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    // By its path, it is started without a copy of this process.
    let mut command = Command::new(find(program, &path()).unwrap_or_else(|| program.into()));
    command.args(arguments).env("PATH", path()).env("LC_ALL", "C");
    command.envs(own_lock().map(|lock| ("XTABLES_LOCKFILE", lock)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs it with a text as its input.
pub(crate) fn run(mut command: Command, input: &str) -> io::Result<Output> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input says why by itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output()
}

/// The first line of what a program says against its input; none if it took it.
pub(crate) fn objection(output: &Output) -> Option<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().map(str::trim).find(|line| !line.is_empty());
    (!output.status.success()).then(|| first.unwrap_or("it failed, and did not say why").to_owned())
}

/// Where to look for them: they are root's programs, which an ordinary user's path lacks.
fn path() -> OsString {
    let mut path = env::var_os("PATH").unwrap_or_default();
    path.push(if path.is_empty() { "" } else { ":" });
    path.push(OsStr::new(PATH));
    path
}

/// The same for all programs of this user, if it may not have the usual one.
fn own_lock() -> Option<PathBuf> {
    let usual = File::options().read(true).write(true).create(true).truncate(false).open(LOCK);
    usual.is_err().then(|| runtime_folder::place().join("xtables.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_and_its_first_objection_heard() {
        let told = |script: &str| run(command("sh", &["-c", script]), "rules\n").expect("a shell");
        let output = told("cat; echo >&2; echo ' it is wrong' >&2; echo more >&2; exit 1");
        assert_eq!((output.stdout.as_slice(), objection(&output).as_deref()), (&b"rules\n"[..], Some("it is wrong")));
        assert_eq!(objection(&told("exit 3")).as_deref(), Some("it failed, and did not say why"));
        assert_eq!(objection(&told("echo warning >&2")), None);
        assert!(is_there("sh") && !is_there("no-such-program"));
    }
}
