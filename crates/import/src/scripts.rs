//! Scripts of nodes: which of their lines can be read one by one, and what a shell has to run as a whole.

use crate::commands::{self, is_name};
use crate::source::{Lines, Place};
use std::collections::BTreeSet;

/// Words at which something begins that spans lines, or belongs to it.
const COMPOUND: [&str; 14] =
    ["if", "for", "while", "until", "case", "select", "then", "do", "done", "fi", "else", "esac", "{", "}"];
/// Commands that change the shell itself: the lines after them depend on them.
const OF_SHELL: [&str; 22] = [
    "set", "cd", "export", "source", ".", "exit", "unset", "alias", "umask", "ulimit", "shopt", "trap", "return",
    "readonly", "declare", "local", "eval", "exec", "pushd", "popd", "wait", "shift",
];
/// Programs that leave the addresses and the state of interfaces alone, whatever they are told.
const HARMLESS: [&str; 29] = [
    "sysctl",
    "echo",
    "printf",
    "sleep",
    "touch",
    "mkdir",
    "cat",
    "cp",
    "mv",
    "rm",
    "ln",
    "chmod",
    "chown",
    "ping",
    "iptables",
    "ip6tables",
    "nft",
    "tc",
    "ethtool",
    "tcpdump",
    "brctl",
    "ovs-vsctl",
    "vtysh",
    "hostname",
    "true",
    "arp",
    "route",
    "modprobe",
    "set",
];
/// Programs that start others, or whose language says what they do.
const SHELLS: [&str; 18] = [
    "sh", "bash", "dash", "ash", "zsh", "source", ".", "eval", "exec", "busybox", "env", "nohup", "timeout", "xargs",
    "perl", "ruby", "expect", "tclsh",
];
/// Programs that give addresses to interfaces which they find by themselves.
const MANAGERS: [&str; 6] = ["dhclient", "dhcpcd", "udhcpc", "netplan", "networkctl", "nmcli"];
/// Commands that one shell runs, if they need one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// Lines that are commands of their own, in their order.
    pub(crate) lines: Vec<(String, Place)>,
    /// What follows from the first line on that spans others or decides something, as it is written.
    pub(crate) rest: Option<(String, Place)>,
    /// Whether one shell must run all of it.
    pub(crate) is_one: bool,
}

impl Script {
    /// A single command.
    pub(crate) fn command(line: impl Into<String>, place: Place) -> Self {
        Self { lines: vec![(line.into(), place)], rest: None, is_one: false }
    }

    /// The script `text`, which begins at `place`.
    pub(crate) fn of(text: &str, place: Place) -> Self {
        let text = text.replace('\r', "");
        let places = Lines::of(&text, place.file);
        let mut script = Self { lines: Vec::new(), rest: None, is_one: false };
        let (mut begin, mut number) = (0, 1);
        while begin < text.len() {
            let whole = text[begin..].split('\n').next().unwrap_or_default();
            let (line, start) = (whole.trim(), begin);
            let here = places.line(number);
            (begin, number) = (begin + whole.len() + 1, number + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if !goes_on(line) {
                script.lines.push((line.to_owned(), here));
                continue;
            }
            let Some(length) = whole_of(&text[start..]) else {
                let rest = text[start..].trim_matches('\n');
                script.is_one |= script.lines.iter().any(|(before, _)| is_of_shell(before));
                script.rest = Some((rest.to_owned(), here));
                return script;
            };
            let one = &text[start..start + length];
            number += one.trim_end_matches('\n').matches('\n').count();
            begin = start + length;
            script.lines.push((continued(one), here));
        }
        script.is_one = script.lines.iter().any(|(line, _)| is_of_shell(line));
        script
    }

    /// All its texts with their places.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &(String, Place)> {
        self.lines.iter().chain(&self.rest)
    }
}

/// How long the command is that `text` begins with, if only here-documents or backslashes make it longer than a line.
fn whole_of(text: &str) -> Option<usize> {
    let length = commands::first_line(text)?;
    let head = text[..length].replace("\\\n", " ");
    let line = head.lines().next().unwrap_or_default().trim();
    // A loop may read the document, and go on behind it.
    let is_open = line.split([' ', '\t', ';', '|', '&', '(']).any(|word| COMPOUND.contains(&word));
    (!is_open && !goes_on(&line.replace("<<", ""))).then_some(length)
}

/// A command whose lines are joined where a backslash ends them, outside of here-documents.
fn continued(text: &str) -> String {
    let text = text.trim();
    if text.contains("<<") || text.contains('\'') {
        return text.to_owned();
    }
    let parts: Vec<&str> = text.split("\\\n").map(str::trim).collect();
    parts.join(" ")
}

/// Whether a line is part of something that has several, or that decides which commands run.
fn goes_on(line: &str) -> bool {
    // A loop on one line is a command like any other.
    let is_whole = (line.ends_with("done") || line.ends_with("fi")) && !line.contains("<<") && line.contains(';');
    let first = line.split([' ', '\t', ';', '(']).next().unwrap_or_default();
    let is_open = line.ends_with(['\\', '{', '(', '|'])
        || line.ends_with("&&")
        || line.contains("<<")
        || line.contains("()")
        || first == "function"
        || COMPOUND.contains(&first)
        || line.matches(['"', '\'']).count() % 2 == 1;
    is_open && !is_whole
}

/// Whether a line changes the shell itself.
fn is_of_shell(line: &str) -> bool {
    let first = line.split([' ', '\t', ';']).next().unwrap_or_default();
    OF_SHELL.contains(&first) || first.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// The interfaces whose addresses or state a command may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    None,
    These(BTreeSet<String>),
    All,
}

/// What a command may change of the interfaces with these names.
pub(crate) fn touched<'a>(command: &str, interfaces: impl Iterator<Item = &'a String>) -> Touched {
    let whole = commands::without_documents(command);
    let line = whole.trim();
    let words = words(line);
    let Some(first) = words.first().map(|word| word.rsplit('/').next().unwrap_or(word)) else { return Touched::None };
    let speaks = |all: &[&str]| words.iter().any(|word| all.contains(word));
    let is_script = words[0].contains('/') && !["/bin/", "/sbin/"].iter().any(|folder| words[0].contains(folder))
        || words.iter().any(|word| word.ends_with(".sh"));
    let sets = ["a", "addr", "address", "ifconfig", "link", "l", "ifup", "ifdown", "dhclient", "udhcpc"];
    let is_hidden = line.contains(['$', '`', '\n']) && speaks(&sets);
    let is_module = words.get(1) == Some(&"-m");
    let is_language = SHELLS.contains(&first) || first.starts_with("python") && !is_module;
    // Its commands are in a file.
    let is_batch = first == "ip" && speaks(&["-b", "-batch"]);
    if is_script || is_hidden || is_language || is_batch || speaks(&["exit"]) {
        return Touched::All;
    }
    let named: BTreeSet<String> = interfaces.filter(|name| words.contains(&name.as_str())).cloned().collect();
    if MANAGERS.contains(&first) && named.is_empty() {
        return Touched::All;
    }
    let is_one = !line.contains([';', '|', '&', '\n']);
    let object = words.iter().skip(1).find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    let is_ip = first == "ip" && !object.is_empty();
    let is_link = is_ip && "link".starts_with(object);
    let is_address = is_ip && "address".starts_with(object);
    let changes = speaks(&["down", "name", "netns", "address", "addr"]);
    if is_one && (HARMLESS.contains(&first) || is_link && !changes || is_ip && !is_link && !is_address) {
        return Touched::None;
    }
    if is_one && is_address && speaks(&["show", "sh", "s", "list", "lst", "ls"]) {
        return Touched::None;
    }
    match named.is_empty() {
        true if is_address && speaks(&["flush", "f"]) => Touched::All,
        true => Touched::None,
        false => Touched::These(named),
    }
}

/// The words of a command, without what is between them in a shell.
fn words(line: &str) -> Vec<&str> {
    let words = line.split(|letter: char| letter.is_whitespace() || ";|&()\"'".contains(letter));
    words.filter(|word| !word.is_empty() && *word != "sudo").collect()
}

/// Whether a command changes what an interface does to the packets that leave there (tc(8)).
pub(crate) fn controls_traffic(line: &str) -> bool {
    let whole = commands::without_documents(line);
    let words = words(&whole);
    let speaks = |all: &[&str]| words.iter().any(|word| all.contains(word));
    let is_tc = words.iter().any(|word| *word == "tc" || word.ends_with("/tc"));
    is_tc && !speaks(&["show", "list", "ls", "ingress", "clsact", "ffff:"])
}

/// The interfaces that a command names, of those with these names; all if a shell has to find out which.
pub(crate) fn named<'a>(command: &str, interfaces: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    let whole = commands::without_documents(command);
    let line = whole.trim();
    let words = words(line);
    let is_hidden = line.contains(['$', '`']);
    interfaces.filter(|name| is_hidden || words.contains(&name.as_str())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_lines_up_to_where_something_spans_them() {
        let script = |text: &str| Script::of(text, Place::default());
        let flat = script("# x\nip a\n\n  ip b\n");
        assert_eq!(flat.lines.iter().map(|(line, _)| line.as_str()).collect::<Vec<_>>(), ["ip a", "ip b"]);
        assert!(!flat.is_one && flat.rest.is_none());
        assert_eq!(flat.lines[1].1.span.line, 4);
        let mixed = script("ip a\nif x\nthen\n y\nfi\nip c\n");
        assert_eq!((mixed.lines.len(), mixed.is_one), (1, false));
        assert_eq!(
            mixed.rest.map(|(text, place)| (text, place.span.line)),
            Some(("if x\nthen\n y\nfi\nip c".into(), 2))
        );
        assert!(script("set -e\nip a\n").is_one && script("ip a\nX=1\n").is_one && script("cd /x\n").is_one);
        assert!(!script("for i in 1 2; do echo $i; done\nip a x=1\n").is_one);
        let joined = script("ip a\nip b &&\nip c\n");
        assert_eq!((joined.lines.len(), joined.rest.map(|(text, _)| text)), (1, Some("ip b &&\nip c".into())));
    }

    #[test]
    fn what_a_command_may_change_is_known() {
        let names = ["eth0".to_owned(), "eth1".to_owned()];
        let of = |line: &str| touched(line, names.iter());
        let these = |all: &[&str]| Touched::These(all.iter().map(|name| (*name).to_owned()).collect());
        for line in [
            "ip route add default via 10.0.0.1 dev eth0",
            "sysctl -w a=b",
            "ip link set eth0 master br0",
            "ip -br a show dev eth0",
            "python3 -m http.server",
            "tc x dev eth0",
        ] {
            assert_eq!(of(line), Touched::None, "{line}");
        }
        assert_eq!(of("ip link set eth0 down"), these(&["eth0"]));
        assert_eq!(of("dhclient eth1"), these(&["eth1"]));
        assert_eq!(of("ip addr add 10.0.0.1/24 dev eth0 && ifconfig eth1 up"), these(&["eth0", "eth1"]));
        for line in [
            "ip addr flush scope global",
            "./x",
            "sh -c y",
            "ip addr add $A dev eth0",
            "true || exit 1",
            "/root/setup.sh",
            "python3 /root/setup.py",
            "ip -b x",
            "dhclient",
            "env A=1 x",
        ] {
            assert_eq!(of(line), Touched::All, "{line}");
        }
    }
}
