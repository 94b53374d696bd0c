//! `netloom --help`: all commands, by what they are for.

use clap::Command;
use std::fmt::Write;

/// Commands under their headings, in the order of the help.
const GROUPS: &[(&str, &[&str])] = &[
    ("Run labs", &["run", "up", "down", "sweep", "hunt", "queue", "rerun", "sim"]),
    ("Lab files", &["check", "split", "generate", "graph", "schema"]),
    (
        "Work with a lab that is up",
        &[
            "ps",
            "exec",
            "shell",
            "set",
            "partition",
            "heal",
            "fault",
            "restart",
            "stop",
            "start",
            "advance",
            "pause",
            "resume",
        ],
    ),
    ("Watch a lab that is up", &["ui", "stats", "verdict", "logs", "capture", "tasks"]),
    ("Results", &["results", "report", "journal", "packets", "history", "op", "workload", "bundle", "collect"]),
    ("Other tools", &["convert", "mininet", "mn", "mm"]),
    ("This machine, without a lab", &["shape", "link", "doctor", "kernel", "image"]),
    ("Netloom itself", &["completion", "man", "exit-codes"]),
];
/// How wide lines are, as in the help of commands.
const WIDTH: usize = 100;

/// The same command line, whose help lists its commands under headings.
pub(crate) fn grouped(command: Command) -> Command {
    let mut list = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(list, "{heading}:");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            describe(&mut list, name, &about.unwrap_or_default());
        }
        list.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}\n\nnetloom help COMMAND prints what a \
         command does, with its options and examples.{{after-help}}"
    ))
}

/// Adds a command and what it does, in as many lines as that takes.
fn describe(list: &mut String, name: &str, about: &str) {
    const INDENT: usize = 14;
    let _ = write!(list, "  {name:<width$}", width = INDENT - 3);
    let mut column = INDENT - 1;
    for word in about.split_whitespace() {
        if column + 1 + word.chars().count() > WIDTH {
            let _ = write!(list, "\n{:indent$}", "", indent = INDENT - 1);
            column = INDENT - 1;
        }
        let _ = write!(list, " {word}");
        column += 1 + word.chars().count();
    }
    list.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_stands_under_one_heading() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
        let mut shown: Vec<&str> = shown.collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, shown);
    }

    #[test]
    fn the_help_has_the_headings_and_keeps_to_its_width() {
        let help = grouped(Cli::command()).render_help().to_string();
        assert!(help.contains("\nResults:\n  results     List, plot or remove the results of runs\n"), "{help}");
        let longest = help.lines().map(|line| line.chars().count()).max();
        assert!(longest.is_some_and(|longest| longest <= WIDTH), "{help}");
    }
}
