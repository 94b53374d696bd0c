//! Names of labs that are up, of their nodes and of their links, for the completion of a shell.
//!
//! Which of them a place of the command line takes follows from the name of the argument that stands there, so that a new command is completed without a word here.

use super::{DONE, Outcome, print};
use crate::args::Cli;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use netloom_control::{Client, Topology, running_labs};
use std::time::Duration;

/// How long a lab may take to answer: somebody waits at a key.
const PATIENCE: Duration = Duration::from_millis(500);

/// `netloom complete -- WORDS`: what the last of them may become, a line each.
pub(super) fn complete(words: &[String]) -> Outcome {
    let Some((begun, before)) = words.split_last() else { return DONE };
    let Some((argument, lab)) = place(&Cli::command(), before) else { return DONE };
    let names = names(&argument, lab.as_deref(), before);
    let found: Vec<String> = names.into_iter().filter(|name| name.starts_with(begun.as_str())).collect();
    if found.is_empty() { DONE } else { print(&found.join("\n")) }
}

/// The argument that comes after these words, and the lab that they name.
fn place(command: &Command, words: &[String]) -> Option<(String, Option<String>)> {
    let (mut command, mut lab, mut taken, mut value_of) = (command, None, 0, None);
    for word in words {
        if word == "--" {
            return None;
        }
        if let Some(argument) = value_of.take() {
            lab = if argument == "lab" { Some(word.clone()) } else { lab };
        } else if let Some(option) = word.strip_prefix('-') {
            value_of = option_of(command, option).filter(|argument| takes_value(argument)).map(id);
        } else if let Some(inner) = command.find_subcommand(word).filter(|_| taken == 0) {
            command = inner;
        } else {
            let argument = positional(command, taken)?;
            lab = if argument == "lab" { Some(word.clone()) } else { lab };
            taken += 1;
        }
    }
    let argument = value_of.or_else(|| positional(command, taken))?;
    Some((argument, lab))
}

fn id(argument: &Arg) -> String {
    argument.get_id().to_string()
}

/// The positional argument of this number; the last one may be given several times.
fn positional(command: &Command, number: usize) -> Option<String> {
    let all: Vec<&Arg> = command.get_positionals().filter(|argument| !argument.is_last_set()).collect();
    let last = all.last().filter(|last| takes_many(last));
    all.get(number).or(last).map(|argument| id(argument))
}

fn takes_many(argument: &Arg) -> bool {
    matches!(argument.get_action(), clap::ArgAction::Append)
}

fn takes_value(argument: &Arg) -> bool {
    matches!(argument.get_action(), clap::ArgAction::Set | clap::ArgAction::Append)
}

/// The option that a word without its first dash is, if its value comes with the next word.
fn option_of<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    command.get_opts().find(|argument| match word.strip_prefix('-') {
        Some(long) => argument.get_long() == Some(long),
        None => word.chars().count() == 1 && argument.get_short() == word.chars().next(),
    })
}

/// What may stand in the place of this argument, behind these words.
fn names(argument: &str, lab: Option<&str>, before: &[String]) -> Vec<String> {
    let labs = || running_labs().unwrap_or_default();
    let of_lab = || {
        // Without a name, the only lab is meant.
        let lab = lab.map(str::to_owned).or_else(|| Some(labs()).filter(|labs| labs.len() == 1)?.pop());
        lab.and_then(|lab| topology(&lab))
    };
    let programs = |topology: &Topology| {
        topology.nodes.iter().filter(|node| node.stack != "engine").map(|node| node.name.clone()).collect()
    };
    match argument {
        "lab" | "what" => labs(),
        "node" => of_lab().as_ref().map(programs).unwrap_or_default(),
        // Of `stop` and `start`: whatever stops, switches too.
        "nodes" => {
            let starts = before.iter().any(|word| word == "start");
            of_lab().map(|found| super::nodes::changeable(&found, starts)).unwrap_or_default()
        }
        "link" => of_lab().map_or_else(Vec::new, |found| found.links.into_iter().map(|link| link.name).collect()),
        // Of `restart` and `logs`: a service, or a node.
        "name" | "names" => of_lab().map_or_else(Vec::new, |found| {
            let mut all: Vec<String> = programs(&found);
            all.extend(found.services.into_iter().map(|service| service.name));
            all
        }),
        _ => Vec::new(),
    }
}

fn topology(lab: &str) -> Option<Topology> {
    let mut client = Client::connect(lab).ok()?;
    client.answer_within(PATIENCE).ok()?;
    client.topology().ok()
}

/// The script of a shell, which asks `netloom complete` for names.
pub(super) fn script(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "netloom", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    print(with_names(shell, script).trim_end())
}

fn with_names(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script + BASH,
        // Where anything may stand, a name may.
        Shell::Zsh => {
            script.replace(":_default", ":_netloom_names").replacen("_netloom() {", &format!("{ZSH}_netloom() {{"), 1)
        }
        Shell::Fish => script + FISH,
        _ => script,
    }
}

const BASH: &str = r#"
_netloom_with_names() {
    _netloom "$@"
    local names
    names=$(netloom complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ -n $names ]]; then
        COMPREPLY=($names)
    elif [[ -z ${COMP_WORDS[COMP_CWORD]} ]]; then
        # Where only options could follow, a file is meant.
        local word
        for word in "${COMPREPLY[@]}"; do
            [[ $word == [-\<\[]* ]] || return 0
        done
        COMPREPLY=()
    fi
}
complete -F _netloom_with_names -o nosort -o bashdefault -o default netloom
"#;

const ZSH: &str = r#"_netloom_names() {
    local -a typed names
    typed=(${(z)LBUFFER})
    [[ $LBUFFER == *' ' ]] && typed+=('')
    names=("${(@f)$(netloom complete -- "${(@)typed[2,-1]}" 2>/dev/null)}")
    if [[ -n $names[1] ]]; then
        compadd -a names
    else
        _default
    fi
}

"#;

const FISH: &str = r#"
complete -c netloom -a '(netloom complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(words: &[&str]) -> Option<(String, Option<String>)> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        place(&Cli::command(), &words)
    }

    fn found(argument: &str, lab: Option<&str>) -> Option<(String, Option<String>)> {
        Some((argument.to_owned(), lab.map(str::to_owned)))
    }

    #[test]
    fn a_place_takes_what_its_argument_is() {
        for command in [
            "exec", "shell", "set", "down", "stats", "verdict", "tasks", "logs", "pause", "advance", "restart", "stop",
            "start", "fault",
        ] {
            assert_eq!(at(&[command]), found("lab", None), "{command}");
        }
        assert_eq!(at(&["exec", "star"]), found("node", Some("star")));
        assert_eq!(at(&["exec", "--user", "x", "star"]), found("node", Some("star")));
        assert_eq!(at(&["exec", "-u", "x", "-e", "A=1", "star"]), found("node", Some("star")));
        assert_eq!(at(&["set", "star"]), found("link", Some("star")));
        assert_eq!(at(&["capture", "star"]), found("link", Some("star")));
        assert_eq!(at(&["restart", "star"]), found("name", Some("star")));
        assert_eq!(at(&["stop", "star", "h1"]), found("nodes", Some("star")));
        assert_eq!(at(&["logs", "star", "a", "b"]), found("names", Some("star")));
        assert_eq!(at(&["down", "--all"]), found("lab", None));
        // What a program takes, and values of options, are nobody's business.
        assert_eq!(at(&["exec", "star", "h1", "--"]), None);
        assert_eq!(at(&["exec", "--user"]), found("user", None));
        assert_eq!(names("user", None, &[]), Vec::<String>::new());
    }

    #[test]
    fn scripts_ask_for_names() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "netloom", &mut script);
            let script = with_names(shell, String::from_utf8(script).unwrap());
            assert!(script.contains("netloom complete -- "), "{shell}");
            assert!(
                shell != Shell::Zsh || (script.contains(":_netloom_names") && script.contains("_netloom_names() {"))
            );
        }
    }
}
