//! Commands that only netloom itself starts: in nodes, in kernels, and for its own measurements.
//!
//! They are told apart before the command line is parsed. The tree of all commands takes up to 1.4 MB of memory, which every kernel node
//! would keep, and a part of the time that it takes to boot.

use super::{DONE, Failure, Outcome, doctor};
use netloom_judge::ExitCode;
use std::ffi::{OsStr, OsString};

/// Runs the command if it is one of these; `words`: behind the name of the program.
pub(crate) fn run(words: &[OsString]) -> Option<Outcome> {
    let (command, words) = words.split_first()?;
    let outcome = match command.to_str()? {
        // What follows is what the kernel passes on of its own command line.
        "guest-init" => first_process(),
        "vm-agent" => vm_agent(words),
        "node-pack" => node_pack(words),
        "node-connect" => node_connect(words),
        netloom_doctor::TRAFFIC_COMMAND => doctor::traffic(&texts(words)),
        _ => return None,
    };
    Some(outcome)
}

/// Returns only if this is not a kernel node.
fn first_process() -> Outcome {
    netloom_host::guest::main().map_err(|error| Failure::new(ExitCode::Usage, error))?;
    DONE
}

/// Returns only if this is not a virtual machine.
fn vm_agent(words: &[OsString]) -> Outcome {
    let root = words.first().and_then(|root| root.to_str()).unwrap_or_default();
    netloom_host::guest::vm::main(root).map_err(|error| Failure::new(ExitCode::Usage, error))?;
    DONE
}

/// What it packs goes to standard output.
fn node_pack(words: &[OsString]) -> Outcome {
    netloom_host::archive::main(words).map_err(|error| Failure::new(ExitCode::Results, error))?;
    DONE
}

/// What comes and goes is on standard input and output.
fn node_connect(words: &[OsString]) -> Outcome {
    netloom_host::expose::main(words).map_err(|error| Failure::new(ExitCode::Machine, error))?;
    DONE
}

fn texts(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| OsStr::to_string_lossy(word).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_commands_are_left_to_the_command_line() {
        assert!(run(&["run".into(), "node-pack".into()]).is_none());
        assert!(run(&[]).is_none());
        assert!(run(&["guest-init".into()]).is_some_and(|outcome| outcome.is_err()), "only a kernel starts it");
    }
}
