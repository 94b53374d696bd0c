//! Waits for a command that judges a run, whatever it does: it may write without an end, or never end.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, Read};
use std::mem::take;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// The time that a checker may take.
const ENDS_WITHIN: Duration = Duration::from_secs(60);
/// The time that its outputs may take to end after it, which something else may hold open.
const OUTPUTS_END_WITHIN: Duration = Duration::from_secs(1);
/// How often to look whether it has ended.
const LOOK: Duration = Duration::from_millis(2);
/// As much of an output as is kept, in bytes: its end.
const MOST_KEPT: usize = 1 << 20;

/// Starts the program of its arguments with a process beside it that waits until nobody holds the other end of standard input any more, and then kills all
/// of its process group. That process is no child of the program, and has none of its outputs.
const LEASHED: &str =
    "exec 3<&0 </dev/null; ( { read -r _ <&3; kill -s KILL 0; } >/dev/null 2>&1 & ); exec \"$@\" 3<&-";

/// Returns a command that runs the program of its further arguments as a checker. If this process is killed, or the checker has ended, what is left of its
/// process group is killed.
pub(crate) fn command() -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", LEASHED, "sh"]).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits until a checker has ended, which leads a process group; one that does not end in time is killed, with all that it has started. Returns
/// its status, and the ends of its standard output and error.
pub(crate) fn end(child: &mut Child) -> Result<(ExitStatus, [Vec<u8>; 2]), String> {
    end_within(child, ENDS_WITHIN)
}

fn end_within(child: &mut Child, limit: Duration) -> Result<(ExitStatus, [Vec<u8>; 2]), String> {
    let outputs = [child.stdout.take().map(Tail::read), child.stderr.take().map(Tail::read)];
    let is_over = until(limit, || child.try_wait().map(|status| status.is_some()));
    if !is_over.map_err(|error| format!("waiting for it: {error}"))? {
        let _ = i32::try_from(child.id()).map(|group| killpg(Pid::from_raw(group), Signal::SIGKILL));
        let _ = child.wait();
        return Err(format!("it did not end within {} s", limit.as_secs()));
    }
    let status = child.wait().map_err(|error| format!("waiting for it: {error}"))?;
    Ok((status, outputs.map(|output| output.map(Tail::end).unwrap_or_default())))
}

/// Waits until something is so; whether it was in time.
fn until(limit: Duration, mut is_so: impl FnMut() -> io::Result<bool>) -> io::Result<bool> {
    let deadline = Instant::now() + limit;
    loop {
        match is_so()? {
            true => return Ok(true),
            false if Instant::now() >= deadline => return Ok(false),
            false => sleep(LOOK),
        }
    }
}

/// The end of an output, which a thread reads.
struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Tail {
    fn read(mut output: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&kept);
        let reader = spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                let mut all = shared.lock().unwrap_or_else(PoisonError::into_inner);
                all.extend_from_slice(&buffer[..length]);
                let more = all.len().saturating_sub(MOST_KEPT);
                all.drain(..more);
            }
        });
        Self { kept, reader }
    }

    fn end(self) -> Vec<u8> {
        let _ = until(OUTPUTS_END_WITHIN, || Ok(self.reader.is_finished()));
        take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(script: &str) -> Child {
        command().args(["/bin/sh", "-c", script]).spawn().expect("a shell")
    }

    fn is_gone(group: u32) -> bool {
        let group = Pid::from_raw(i32::try_from(group).expect("a small number"));
        until(Duration::from_secs(20), || Ok(killpg(group, None).is_err())).expect("no error")
    }

    #[test]
    fn a_checker_that_does_not_end_is_killed_with_what_it_started() {
        let mut child = started("sleep 1000 & echo $!; sleep 1000");
        let why = end_within(&mut child, Duration::from_secs(1)).expect_err("it does not end");
        assert_eq!(why, "it did not end within 1 s");
        assert!(is_gone(child.id()));
    }

    #[test]
    fn nothing_of_a_checker_outlives_the_one_that_waits_for_it() {
        // The pipe closes when this process is killed, as it does here.
        let mut child = started("sleep 1000 & sleep 1000");
        drop(child.stdin.take());
        let status = child.wait().expect("it ends");
        assert!(status.code().is_none() && is_gone(child.id()), "{status}");
        let mut left = started("sleep 1000 >/dev/null 2>&1 & exit 3");
        assert_eq!(end(&mut left).map(|(ended, _)| ended.code()), Ok(Some(3)));
        assert!(is_gone(left.id()), "what it leaves running ends with it");
    }

    #[test]
    fn a_checker_has_no_children_that_it_has_not_started() {
        let mut child = started("ls /proc/$$/task/$$/children >&2 && cat /proc/$$/task/$$/children; cat");
        let (status, [stdout, _]) = end(&mut child).expect("it ends: its input is empty");
        let text = String::from_utf8_lossy(&stdout).into_owned();
        assert!(status.success() && text.split_whitespace().count() == 1, "the reader of the list alone: {text}");
    }

    #[test]
    fn the_end_of_what_it_writes_is_kept() {
        let mut child = started("head -c 5000000 /dev/zero; echo; echo last; echo why >&2; exit 3");
        let (status, [stdout, stderr]) = end(&mut child).expect("it ends");
        assert_eq!(status.code(), Some(3));
        assert!(stdout.len() == MOST_KEPT && stdout.ends_with(b"\nlast\n"), "{}", stdout.len());
        assert_eq!(stderr, b"why\n");
    }

    #[test]
    fn an_output_that_something_else_holds_open_is_not_waited_for() {
        let mut child = started("setsid sleep 5 & echo told");
        let (status, [stdout, _]) = end(&mut child).expect("it ends");
        assert!(status.success() && stdout == b"told\n");
    }
}
