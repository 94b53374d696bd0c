//! One measurement: commands side by side, until all have ended, with what they took and what came out.

use super::group::Group;
use super::theory::{Theory, Told, documents};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a command may take.
pub(super) const LIMIT: Duration = Duration::from_secs(180);
/// How much longer a system that knows the limit may take to end by itself.
const GRACE: Duration = Duration::from_secs(20);
/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(30);

/// A system that is measured, and how.
pub(super) struct Entrant {
    pub(super) system: &'static str,
    /// They run at the same time, each with its words.
    pub(super) commands: Vec<Vec<String>>,
    /// A folder, empty at the beginning, where commands run and below which programs write to files `*.stdout`; what the commands themselves
    /// print counts as well.
    pub(super) folder: PathBuf,
}

/// What a measurement took.
#[derive(Clone, Debug)]
pub(super) struct Play {
    pub(super) wall: f64,
    /// None without a control group.
    pub(super) processor: Option<f64>,
    /// The most that there was at once; none without a control group.
    pub(super) megabytes: Option<f64>,
    pub(super) told: Told,
}

/// The measurements of a system in all rounds, and why the last that failed did.
pub(super) struct Played {
    pub(super) system: &'static str,
    pub(super) plays: Vec<Play>,
    pub(super) error: Option<String>,
}

/// Runs an entrant once.
pub(super) fn play(entrant: &Entrant, theory: Theory) -> Result<Play, String> {
    let Entrant { commands, folder, system } = entrant;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => fs::create_dir_all(folder).map_err(failed)?,
    }
    let group = Group::create().ok();
    let begin = Instant::now();
    let mut children = Vec::new();
    for (number, words) in commands.iter().enumerate() {
        match start(group.as_ref(), words, folder, number) {
            Ok(child) => children.push(child),
            Err(error) => {
                end(&children);
                return Err(error);
            }
        }
    }
    let (codes, peak) = wait(&mut children, group.as_ref());
    let wall = begin.elapsed().as_secs_f64();
    if let Some(group) = &group {
        group.settle();
    }
    if let Some((number, code)) = codes.iter().enumerate().find(|(_, code)| **code != Some(0)) {
        let said = fs::read_to_string(folder.join(format!("{number}.stderr"))).unwrap_or_default();
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        let how = code.map_or_else(|| "was ended".to_owned(), |code| format!("ended with {code}"));
        return Err(format!("{system} {how} after {wall:.1} s: {last}"));
    }
    let processor = group.as_ref().and_then(Group::seconds);
    let mut lines = Vec::new();
    outputs(folder, &mut lines).map_err(failed)?;
    let told = theory.told(&lines.iter().flat_map(|text| documents(text)).collect::<Vec<_>>());
    Ok(Play { wall, processor, megabytes: peak, told })
}

/// Starts a command in its folder, with files for what it writes.
fn start(group: Option<&Group>, words: &[String], folder: &Path, number: usize) -> Result<Child, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", words[0]);
    let file = |kind: &str| File::create(folder.join(format!("{number}.{kind}")));
    let mut command = match group {
        Some(group) => group.command(words),
        None => Command::new(&words[0]),
    };
    if group.is_none() {
        command.args(&words[1..]);
    }
    let (out, errors) = (file("stdout").map_err(failed)?, file("stderr").map_err(failed)?);
    command.current_dir(folder).stdin(Stdio::null()).stdout(out).stderr(errors).spawn().map_err(failed)
}

/// Waits for all, while another thread looks at their memory and ends them at the limit: their exit codes, and the most memory.
fn wait(children: &mut [Child], group: Option<&Group>) -> (Vec<Option<i32>>, Option<f64>) {
    let pids: Vec<i32> = children.iter().map(|child| child.id().cast_signed()).collect();
    let (over, is_over) = channel::<()>();
    thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            let (begin, mut peak) = (Instant::now(), None::<f64>);
            while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let now = group.and_then(Group::megabytes);
                peak = now.map(|now| peak.map_or(now, |before| before.max(now))).or(peak);
                if begin.elapsed() > LIMIT + GRACE {
                    signal(&pids);
                }
            }
            peak
        });
        // One that has ended stays a child until it was waited for, so that no other process has its number meanwhile.
        let codes = children.iter_mut().map(|child| child.wait().ok().and_then(|status| status.code())).collect();
        drop(over);
        (codes, watcher.join().unwrap_or_default())
    })
}

fn end(children: &[Child]) {
    signal(&children.iter().map(|child| child.id().cast_signed()).collect::<Vec<_>>());
}

fn signal(pids: &[i32]) {
    for pid in pids {
        // SAFETY: the call takes no pointers, and the processes are children of this one.
        unsafe { libc::kill(*pid, libc::SIGTERM) };
    }
}

/// The contents of all files `*.stdout` below a folder, without those that links lead to.
fn outputs(folder: &Path, texts: &mut Vec<String>) -> std::io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() {
            outputs(&path, texts)?;
        } else if kind.is_file() && path.extension().is_some_and(|name| name == "stdout") {
            texts.push(String::from_utf8_lossy(&fs::read(&path)?).into_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entrant(script: &str, name: &str) -> Entrant {
        let folder = std::env::temp_dir().join(format!("netloom-bench-play-{name}-{}", std::process::id()));
        Entrant { system: "sh", commands: vec![["sh", "-c", script].map(str::to_owned).into()], folder }
    }

    #[test]
    fn what_programs_print_is_read_from_all_files_and_judged() {
        let entrant = entrant("mkdir below; echo '{\"received\": 5}' > below/x.stdout; ln -s below again", "reads");
        let play = play(&entrant, Theory::Packets(5)).unwrap();
        assert!(play.told.is_fine && play.wall > 0.0, "{play:?}");
        assert_eq!(play.told.words, "5 packets");
        let _ = fs::remove_dir_all(&entrant.folder);
    }

    #[test]
    fn a_command_that_fails_says_why() {
        let entrant = entrant("echo no reason >&2; exit 3", "fails");
        let error = play(&entrant, Theory::Nothing).unwrap_err();
        assert!(error.starts_with("sh ended with 3 after ") && error.ends_with(": no reason"), "{error}");
        let _ = fs::remove_dir_all(&entrant.folder);
    }
}
