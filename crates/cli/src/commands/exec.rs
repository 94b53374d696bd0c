//! `netloom exec`

pub(super) mod several;

use super::{Failure, Outcome};
use crate::args::ExecArgs;
use crate::talk::say;
use netloom_control::{Client, Exec, Stdio};
use netloom_judge::ExitCode;
use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;

pub(super) fn exec(args: ExecArgs) -> Outcome {
    // A program at a terminal gets one of its own, so that Ctrl-C, job control and window sizes are its own affair.
    let stdio = if stdin().is_terminal() && stdout().is_terminal() { Stdio::Terminal } else { Stdio::Passed };
    let mut env = terminal_environment();
    if args.user.is_none() {
        env.extend(netloom_control::personal_environment());
    }
    for pair in &args.env {
        env.push(split_pair(pair)?);
    }
    let cwd = starting_folder(args.folder)?;
    let (terminal, user) = (stdio == Stdio::Terminal, args.user);
    let exec = Exec { node: String::new(), argv: args.argv, env, cwd, terminal, user };
    match args.node {
        Some(node) if !several::is_pattern(&node) => attach(&args.lab, Exec { node, ..exec }, stdio),
        pattern => {
            say_if_paused(&args.lab)?;
            let topology = Client::connect(&args.lab)?.topology()?;
            let nodes = several::matching(&topology, pattern.as_deref())?;
            several::run(&args.lab, &nodes, &Exec { terminal: false, ..exec })
        }
    }
}

/// The variables that describe this terminal: the lab may have been brought up from another one.
pub(super) fn terminal_environment() -> Vec<(String, String)> {
    let known = ["TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_ALL"].into_iter();
    known.filter_map(|key| Some((key.to_owned(), std::env::var(key).ok()?))).collect()
}

/// The current folder, or the one that the user names, as the control protocol has it.
pub(super) fn starting_folder(named: Option<PathBuf>) -> Result<String, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::new(ExitCode::Machine, format!("finding the current folder: {error}")))?;
    let folder = named.map_or_else(|| here.clone(), |folder| here.join(folder));
    folder.into_os_string().into_string().map_err(|folder| {
        let folder = folder.display();
        let message = format!("the name of the folder {folder} is not UTF-8: start the program from another folder");
        Failure::new(ExitCode::Usage, message)
    })
}

/// Runs a program in a node of this lab until it ends, and says why it does not if time stands still there.
pub(super) fn attach(lab: &str, exec: Exec, stdio: Stdio) -> Outcome {
    say_if_paused(lab)?;
    let code = netloom_control::attach(lab, exec, stdio)?;
    // Exit codes have eight bits, as the kernel has it.
    Ok(u8::try_from(code & 0xff).expect("masked to eight bits"))
}

fn say_if_paused(lab: &str) -> Result<(), Failure> {
    if Client::connect(lab)?.info()?.paused {
        say(&format!(
            "{lab}: its time is paused, and so are its programs; netloom advance {lab} 1s, netloom resume {lab}"
        ));
    }
    Ok(())
}

fn split_pair(pair: &str) -> Result<(String, String), Failure> {
    let (key, value) =
        pair.split_once('=').ok_or_else(|| Failure::new(ExitCode::Usage, format!("--env {pair}: write KEY=VALUE")))?;
    Ok((key.to_owned(), value.to_owned()))
}
