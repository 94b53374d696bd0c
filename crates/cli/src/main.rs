//! The `netloom` command.
//!
//! Standard output carries data, standard error carries talk. Colours are left out where the output is no terminal or
//! `NO_COLOR` is set.

mod args;
mod commands;
mod exit_codes;
mod log_lines;
mod progress;
mod talk;

use args::Cli;
use clap::{CommandFactory, FromArgMatches};
use std::process;

fn main() -> process::ExitCode {
    netloom_host::signals::survive_file_limits();
    let words = args::mm::called_by(std::env::args_os());
    if let Some(outcome) = words.get(1..).and_then(commands::own::run) {
        return exit_code(outcome);
    }
    let matches = args::overview::grouped(Cli::command()).get_matches_from(words);
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    exit_code(commands::dispatch(cli.command))
}

fn exit_code(outcome: commands::Outcome) -> process::ExitCode {
    match outcome {
        Ok(code) => process::ExitCode::from(code),
        Err(failure) => {
            if failure.styled {
                talk::say(&failure.message);
            } else {
                talk::failure(&failure.message);
            }
            process::ExitCode::from(failure.code.number())
        }
    }
}
