//! Which programs a lab needs, as far as it can be known before it runs.

use crate::plan::{Action, Argv, NodeKey, Plan, ReadyWhen};

/// A program that a command of the timeline will start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The line of the command in the lab file.
    pub line: usize,
    /// The node's place in the plan.
    pub node: usize,
    /// The program: a name to be found in `PATH`, or a path.
    pub name: String,
    /// Others that do as well.
    pub others: &'static [&'static str],
    /// The key of the node from which its command follows, if the lab file does not say it itself.
    pub key: Option<NodeKey>,
}

impl Plan {
    /// The programs that are known before the run: the first word of every command, unless the shell understands it
    /// itself or has to make it first.
    pub fn programs(&self) -> Vec<Program> {
        let mut programs = Vec::new();
        for event in &self.timeline {
            let Action::Run(run) = &event.action else { continue };
            let probe = run.ready.as_ref().and_then(|ready| match &ready.when {
                ReadyWhen::Command(command) => Some(command),
                _ => None,
            });
            let names = [Some(&run.command), probe].into_iter().flatten().filter_map(first_program);
            let program = |name, others| Program { line: event.line, node: run.node, name, others, key: run.key };
            if run.key == Some(NodeKey::Addresses) {
                // Of IPv6 alone, the kernel asks.
                if self.nodes[run.node].interfaces.iter().all(|own| own.leased.iter().all(|net| net.addr().is_ipv6())) {
                    continue;
                }
                let [first, others @ ..] = DHCP_CLIENTS;
                programs.push(program((*first).to_owned(), others));
                continue;
            }
            programs.extend(names.map(|name| program(name, &[])));
        }
        programs
    }
}

/// What asks for addresses, the first that is there: `resolve/dhcp/client.sh`.
const DHCP_CLIENTS: &[&str; 4] = &["udhcpc", "busybox", "dhclient", "dhcpcd"];

fn first_program(command: &Argv) -> Option<String> {
    match command {
        Argv::Exec(words) => words.first().cloned(),
        Argv::Shell(text) => first_word(text).map(str::to_owned),
    }
}

/// The first word of a shell's text if it is a plain name that the shell has no meaning of its own for.
fn first_word(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "_-+./".contains(c))).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let is_whole = rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || ";&|<>".contains(c));
    (is_whole && !word.is_empty() && !SHELL_WORDS.contains(&word)).then_some(word)
}

/// Reserved words and built-in utilities of a POSIX shell (IEEE 1003.1-2024, XCU 2.4, 2.15 and 1.6), and those that
/// dash and bash build in besides.
const SHELL_WORDS: [&str; 66] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "break", ".",
    "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "times", "trap", "unset",
    "alias", "bg", "cd", "command", "false", "fc", "fg", "getopts", "hash", "jobs", "kill", "newgrp", "pwd", "read",
    "true", "type", "ulimit", "umask", "unalias", "wait", "echo", "printf", "test", "local", "source", "function",
    "select", "time", "coproc", "declare", "typeset", "let", "builtin", "enable", "help", "history", "shopt", "logout",
    "disown",
];
