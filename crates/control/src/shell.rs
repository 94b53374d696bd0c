//! The user's shell in a node.

use crate::protocol::Exec;
use std::env;

/// Read instead of the user's `.bashrc`, which it reads first: whatever prompt that sets, the node comes before it.
const BASH_START: &str = r#"[ -f ~/.bashrc ] && . ~/.bashrc; PS1="($NETLOOM_NODE) $PS1""#;

/// The user's shell in this node, whose prompt names the node; `environment` describes the terminal.
pub fn shell(node: &str, cwd: String, terminal: bool, environment: Vec<(String, String)>) -> Exec {
    let program = env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into());
    let mut env = environment;
    env.extend(personal_environment());
    env.push(("PS1".into(), format!("({node}) \\w \\$ ")));
    env.push(("NETLOOM_BASH_START".into(), BASH_START.into()));
    Exec { node: node.to_owned(), argv: command(&program, terminal), env, cwd, terminal, user: None }
}

/// The variables that describe the user who runs this process: their home, shell and path to programs.
pub fn personal_environment() -> impl Iterator<Item = (String, String)> {
    let known = ["HOME", "LOGNAME", "PATH", "SHELL", "USER"].into_iter();
    known.filter_map(|key| Some((key.to_owned(), env::var(key).ok()?)))
}

/// Bash gets a start file; every other shell gets the prompt in its environment.
fn command(program: &str, at_terminal: bool) -> Vec<String> {
    if at_terminal && program.ends_with("/bash") {
        let start = format!("exec {program} --rcfile <(printf '%s' \"$NETLOOM_BASH_START\") -i");
        return vec![program.into(), "-c".into(), start];
    }
    vec![program.into()]
}
