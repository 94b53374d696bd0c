//! How long a program takes and how much memory: `netloom-bench measured PROGRAM [ARGUMENT]...` runs it and prints both.
//!
//! A process of its own does that, since the kernel counts the memory of whoever starts a program as the program's, too, up to the
//! most that it ever had (getrusage(2), `ru_maxrss`): this one has hardly any.

use crate::lab::output;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Its name on the command line.
const MEASURED: &str = "measured";

/// Runs the program if the command line asks for it.
pub(crate) fn main(arguments: &[String]) -> Option<ExitCode> {
    let [command, program, arguments @ ..] = arguments else { return None };
    if command != MEASURED {
        return None;
    }
    match run(program, arguments) {
        Ok((seconds, megabytes)) => println!("{seconds} {megabytes}"),
        Err(error) => {
            eprintln!("{program}: {error}");
            return Some(ExitCode::FAILURE);
        }
    }
    Some(ExitCode::SUCCESS)
}

fn run(program: &str, arguments: &[String]) -> Result<(f64, f64), String> {
    let begin = Instant::now();
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().map_err(|error| error.to_string())?;
    let mut status = 0;
    // SAFETY: all fields of the structure may be zero.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both are written to, and outlive the call; nobody else waits for this child.
    let ended = unsafe { libc::wait4(child.id().cast_signed(), &raw mut status, 0, &raw mut usage) };
    if ended < 0 || status != 0 {
        return Err(format!("{command:?} failed with status {status}"));
    }
    Ok((begin.elapsed().as_secs_f64(), usage.ru_maxrss as f64 * 1024.0 / 1e6))
}

/// Seconds and megabytes of a command.
pub(crate) fn measure(command: &Command) -> Result<(f64, f64), String> {
    let own = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let said = output(Command::new(own).arg(MEASURED).arg(command.get_program()).args(command.get_args()))?;
    let wrong = || format!("{MEASURED}: {said}");
    let (seconds, megabytes) = said.trim().split_once(' ').ok_or_else(wrong)?;
    Ok((seconds.parse().map_err(|_| wrong())?, megabytes.parse().map_err(|_| wrong())?))
}
