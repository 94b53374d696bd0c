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

/// The tables of nftables that iptables makes for rules of ours, by family and name. It leaves them when the rules have gone.
const OF_IPTABLES: [[&str; 2]; 4] = [["ip", "nat"], ["ip", "filter"], ["ip", "mangle"], ["ip6", "mangle"]];

/// Removes the empty tables that iptables leaves where nftables carries its rules; they do no harm if they stay. `nft` runs that program with
/// arguments and input, and gives what it lists.
pub(crate) fn tidy(nft: impl Fn(&[&str], &str) -> Option<String>) {
    if !is_there(NFT) {
        return;
    }
    // One run for all: each takes milliseconds, and of several tables named in one it finds the last.
    let removal = nft(&["-t", "list", "ruleset"], "").map(|listed| removal_of_empty(&listed)).unwrap_or_default();
    if !removal.is_empty() {
        nft(&["-f", "-"], &removal);
    }
}

/// The text that removes those of the listed tables which do nothing: without rules and sets, and with chains that accept all. Should
/// somebody add a rule meanwhile, nothing is removed: a chain with rules cannot be.
fn removal_of_empty(listed: &str) -> String {
    let mut text = String::new();
    let mut lines = listed.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        let Some(table) = OF_IPTABLES.iter().find(|[family, name]| line == format!("table {family} {name} {{")) else {
            continue;
        };
        let [family, name] = table;
        let mut own = String::new();
        let mut does_nothing = true;
        // A chain is open, or the table alone.
        let mut is_in_chain = false;
        for inner in lines.by_ref() {
            let words: Vec<&str> = inner.split_whitespace().collect();
            match words[..] {
                ["chain", chain, "{"] => {
                    is_in_chain = true;
                    own.push_str(&format!("delete chain {family} {name} {chain}\n"));
                }
                ["type", _, "hook", .., "policy", "accept;"] => {}
                ["}"] if is_in_chain => is_in_chain = false,
                ["}"] => break,
                _ => does_nothing = false,
            }
        }
        if does_nothing {
            text.push_str(&format!("{own}delete table {family} {name}\n"));
        }
    }
    text
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
    fn only_a_table_that_does_nothing_is_removed() {
        let listed = |inside: &str| {
            format!(
                "table ip nat {{\n\tchain POSTROUTING {{\n\t\ttype nat hook postrouting priority srcnat; policy accept;\n{inside}\t}}\n}}\n"
            )
        };
        let nat = "delete chain ip nat POSTROUTING\ndelete table ip nat\n";
        assert_eq!(removal_of_empty(&listed("")), nat);
        let busy = listed("\t\tip saddr 10.0.0.0/8 masquerade\n");
        assert_eq!(removal_of_empty(&busy), "");
        assert_eq!(removal_of_empty(&listed("").replace("accept", "drop")), "");
        assert_eq!(removal_of_empty(""), "");
        assert_eq!(removal_of_empty(&listed("").replace("nat", "mine")), "");
        let set = "table ip filter {\n\tset s {\n\t\ttype ipv4_addr\n\t}\n\tchain a {\n\t}\n}\n";
        assert_eq!(removal_of_empty(&format!("{set}{}", listed(""))), nat);
        let filter = "table ip filter {\n}\n";
        assert_eq!(removal_of_empty(&format!("{busy}{filter}")), "delete table ip filter\n");
    }

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
