//! The process of a user that starts the keepers of jobs, one after the other, and ends when all jobs have ended.

use crate::{QueueError, Store};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often to look for jobs whose keeper has gone.
const TURN: Duration = Duration::from_millis(500);
/// How long to wait before a job is tried again that could not be started.
const PAUSE: Duration = Duration::from_secs(10);
/// The lock that a worker holds.
const WORKER: &str = "worker";

/// Whether a worker is there.
///
/// # Errors
/// If that cannot be found out.
pub fn is_worked(store: &Store) -> Result<bool, QueueError> {
    Ok(store.try_lock(WORKER)?.is_none())
}

/// Starts a worker if there are jobs for it and there is none. `program` is this program, which calls [`work`] when it is told
/// `queue work FOLDER`.
///
/// # Errors
/// If the jobs cannot be read, or it cannot be started.
pub fn start_worker(store: &Store, program: &Path) -> Result<(), QueueError> {
    // A worker that is about to end has seen what was there under this lock.
    let held = store.lock("lock")?;
    if is_worked(store)? || store.unfinished()?.is_empty() {
        return Ok(());
    }
    drop(held);
    let log = store.path().join("worker.txt");
    let mut options = File::options();
    let errors = options.append(true).create(true).mode(0o600).open(&log).map_err(QueueError::file(&log))?;
    let mut command = Command::new(program);
    command.args(["queue", "work"]).arg(store.path()).current_dir("/");
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn();
    // It outlives this process, which has no need to wait for it.
    started.map(drop).map_err(|error| QueueError::Machine(format!("starting {}: {error}", program.display())))
}

/// Lets all jobs have their turn, one after the other. Ends when all have ended, or at once if there is a worker already.
///
/// # Errors
/// If the jobs cannot be read.
pub fn work(store: &Store, program: &Path) -> Result<(), QueueError> {
    let Some(lock) = store.try_lock(WORKER)? else { return Ok(()) };
    // A terminal that is closed, or keys in it, are no concern of it. It leads no group, being just started.
    let _ = nix::unistd::setsid();
    let mut keepers: Vec<Child> = Vec::new();
    let mut failed: BTreeMap<u64, Instant> = BTreeMap::new();
    loop {
        keepers.retain_mut(|keeper| matches!(keeper.try_wait(), Ok(None)));
        // A keeper of an earlier worker may still wait for its turn.
        drop(store.lock("turn")?);
        let held = store.lock("lock")?;
        let left = store.unfinished()?;
        if left.is_empty() {
            drop(lock);
            return Ok(());
        }
        drop(held);
        failed.retain(|_, at| at.elapsed() < PAUSE);
        let is_free = |job: &u64| !failed.contains_key(job) && matches!(store.see_to(*job), Ok(Some(_)));
        let Some(next) = left.into_iter().find(is_free) else {
            std::thread::sleep(TURN);
            continue;
        };
        match start_keeper(store, program, next)? {
            Started::Keeps(keeper) => keepers.push(keeper),
            Started::Done => {}
            Started::Failed => {
                failed.insert(next, Instant::now());
            }
        }
    }
}

/// What became of a keeper until its job had its turn.
enum Started {
    /// It sees to the job.
    Keeps(Child),
    /// There was nothing to see to.
    Done,
    /// It could not, and has said why.
    Failed,
}

/// Starts the keeper of a job, and waits until that has had its turn.
fn start_keeper(store: &Store, program: &Path, job: u64) -> Result<Started, QueueError> {
    let mut command = Command::new(program);
    command.args(["queue", "keep"]).arg(store.path()).arg(job.to_string());
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut keeper =
        started.map_err(|error| QueueError::Machine(format!("starting {}: {error}", program.display())))?;
    if let Some(mut turn) = keeper.stdout.take() {
        // Nothing comes before its end.
        let _ = turn.read(&mut [0]);
    }
    std::thread::sleep(Duration::from_millis(20));
    match keeper.try_wait() {
        Ok(None) => Ok(Started::Keeps(keeper)),
        Ok(Some(status)) if status.success() => Ok(Started::Done),
        Ok(Some(_)) => Ok(Started::Failed),
        Err(error) => Err(QueueError::Machine(format!("waiting for the keeper of job {job}: {error}"))),
    }
}
