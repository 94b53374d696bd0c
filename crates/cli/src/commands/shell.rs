//! `netloom shell`

use super::{DONE, Failure, Outcome};
use crate::args::ShellArgs;
use crate::commands::exec::{attach, personal_environment, starting_folder, terminal_environment};
use crate::talk;
use netloom_control::{Exec, Stdio};
use netloom_judge::ExitCode;
use std::env;
use std::io::{IsTerminal, stdin, stdout};

/// Read instead of the user's `.bashrc`, which it reads first: whatever prompt that sets, the node comes before it.
const BASH_START: &str = r#"[ -f ~/.bashrc ] && . ~/.bashrc; PS1="($NETLOOM_NODE) $PS1""#;

pub(super) fn shell(args: &ShellArgs) -> Outcome {
    let program = env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into());
    let at_terminal = stdin().is_terminal() && stdout().is_terminal();
    if !at_terminal && stdin().is_terminal() {
        let message = "a shell needs a terminal: use `netloom exec` for a program whose output goes elsewhere";
        return Err(Failure::new(ExitCode::Usage, message));
    }
    if args.console {
        return console(args, at_terminal);
    }
    let stdio = if at_terminal { Stdio::Terminal } else { Stdio::Passed };
    let mut environment = terminal_environment();
    environment.extend(personal_environment());
    environment.push(("PS1".into(), format!("({}) \\w \\$ ", args.node)));
    environment.push(("NETLOOM_BASH_START".into(), BASH_START.into()));
    let exec = Exec {
        node: args.node.clone(),
        argv: command(&program, at_terminal),
        env: environment,
        cwd: starting_folder(None)?,
        terminal: at_terminal,
        user: None,
    };
    attach(&args.lab, exec, stdio)
}

/// It goes on without us, as it did before.
fn console(args: &ShellArgs, at_terminal: bool) -> Outcome {
    if !at_terminal {
        let message = "a console needs a terminal: what it shows is in logs/console-NODE.log of the lab's results";
        return Err(Failure::new(ExitCode::Usage, message));
    }
    talk::say(&format!("the console of {}: Ctrl-] leaves it", args.node));
    netloom_control::console(&args.lab, &args.node)?;
    DONE
}

/// Bash gets a start file; every other shell gets the prompt in its environment.
fn command(program: &str, at_terminal: bool) -> Vec<String> {
    if at_terminal && program.ends_with("/bash") {
        let start = format!("exec {program} --rcfile <(printf '%s' \"$NETLOOM_BASH_START\") -i");
        return vec![program.into(), "-c".into(), start];
    }
    vec![program.into()]
}
