//! `netloom shell`

use super::{DONE, Failure, Outcome};
use crate::args::ShellArgs;
use crate::commands::exec::{attach, starting_folder, terminal_environment};
use crate::talk;
use netloom_control::Stdio;
use netloom_judge::ExitCode;
use std::io::{IsTerminal, stdin, stdout};

pub(super) fn shell(args: &ShellArgs) -> Outcome {
    let at_terminal = stdin().is_terminal() && stdout().is_terminal();
    if !at_terminal && stdin().is_terminal() {
        let message = "a shell needs a terminal: use `netloom exec` for a program whose output goes elsewhere";
        return Err(Failure::new(ExitCode::Usage, message));
    }
    if args.console {
        return console(args, at_terminal);
    }
    let stdio = if at_terminal { Stdio::Terminal } else { Stdio::Passed };
    let exec = netloom_control::shell(&args.node, starting_folder(None)?, at_terminal, terminal_environment());
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
