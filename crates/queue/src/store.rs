//! The jobs of one user on one machine: a folder that is that user's alone.

use crate::job::{Attempt, CANCEL, END, End, LAB, LOCK, ORDER, Order, attempts, read, write, write_bytes};
use crate::{Job, QueueError};
use nix::unistd::{Uid, User, geteuid, gethostname};
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// So many jobs that have ended are remembered; of older ones their results are what stays.
const REMEMBERED: usize = 1_000;

/// The folder of a user's jobs.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
}

/// The result of a request to cancel a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The job will never start.
    Waiting,
    /// The job is being ended.
    Running,
    /// The job had ended already.
    TooLate,
}

impl Store {
    /// The folder of the user on whose behalf this process acts: `$XDG_STATE_HOME/netloom/queue/HOST`, or the same below
    /// `~/.local/state`. It is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made, or others than this user can write to it.
    pub fn own() -> Result<Self, QueueError> {
        let user = geteuid();
        // Under sudo the variables may still name what belongs to the user who called it, and whose orders root must not take.
        let own =
            |path: &PathBuf| path.is_absolute() && fs::metadata(path).is_ok_and(|about| about.uid() == user.as_raw());
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(own);
        let home = || variable("HOME").or_else(|| User::from_uid(user).ok().flatten().map(|found| found.dir));
        let base = variable("XDG_STATE_HOME").or_else(|| home().map(|home| home.join(".local/state")));
        let base = base.ok_or_else(|| QueueError::Machine(format!("user {user} has no home folder for its queue")))?;
        // Home folders may be on several machines at once.
        let host = gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default();
        let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        let host = if host.is_empty() { "machine" } else { &host };
        Self::at(&base.join("netloom/queue").join(host))
    }

    /// Opens the jobs in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// As for [`Store::own`].
    pub fn at(path: &Path) -> Result<Self, QueueError> {
        let jobs = path.join("jobs");
        for folder in [path, &jobs] {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(QueueError::file(folder))?;
            let about = fs::symlink_metadata(folder).map_err(QueueError::file(folder))?;
            let owner = Uid::from_raw(about.uid());
            if !about.is_dir() || owner != geteuid() || about.mode() & 0o022 != 0 {
                return Err(QueueError::Machine(format!(
                    "{} must be a folder to which user {} alone can write: what is in it is carried out",
                    folder.display(),
                    geteuid()
                )));
            }
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a job with the text of its lab file, and returns its number.
    ///
    /// # Errors
    /// If that cannot be written. Then there is no such job.
    pub fn add(&self, order: &Order, text: &str) -> Result<u64, QueueError> {
        let _held = self.lock("lock")?;
        let (numbers, counter) = (self.numbers()?, self.path.join("next.json"));
        let next = read(&counter)?.unwrap_or(1).max(numbers.last().copied().unwrap_or(0) + 1);
        let fresh = self.path.join("fresh");
        match fs::remove_dir_all(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(QueueError::file(&fresh)(error)),
            _ => {}
        }
        DirBuilder::new().mode(0o700).create(&fresh).map_err(QueueError::file(&fresh))?;
        write_bytes(&fresh.join(LAB), text.as_bytes())?;
        write(&fresh.join(ORDER), order)?;
        write(&counter, &(next + 1))?;
        let place = self.job(next);
        fs::rename(&fresh, &place).map_err(QueueError::file(&place))?;
        let jobs = self.path.join("jobs");
        File::open(&jobs).and_then(|jobs| jobs.sync_all()).map_err(QueueError::file(&jobs))?;
        self.forget_old(&numbers);
        Ok(next)
    }

    /// The job of this number.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn find(&self, number: u64) -> Result<Job, QueueError> {
        Job::read(number, &self.job(number))?
            .ok_or_else(|| QueueError::NoSuchJob(format!("there is no job {number}: `netloom queue list` shows yours")))
    }

    /// All jobs by number. One whose files are damaged has ended, and says so.
    ///
    /// # Errors
    /// If they cannot be looked for.
    pub fn jobs(&self) -> Result<Vec<Job>, QueueError> {
        let read = |number| match Job::read(number, &self.job(number)) {
            Ok(job) => job,
            Err(error) => Some(Job::damaged(number, error.to_string())),
        };
        Ok(self.numbers()?.into_iter().filter_map(read).collect())
    }

    /// The jobs that have not ended, by number.
    pub(crate) fn unfinished(&self) -> Result<Vec<u64>, QueueError> {
        let mut numbers = self.numbers()?;
        numbers.retain(|number| !self.job(*number).join(END).exists());
        Ok(numbers)
    }

    /// Cancels a job. One that goes on is ended by whoever sees to it; with `at_once` without patience.
    ///
    /// # Errors
    /// If there is no such job, or that cannot be written.
    pub fn cancel(&self, number: u64, at_once: bool) -> Result<Cancelled, QueueError> {
        if self.find(number)?.end.is_some() {
            return Ok(Cancelled::TooLate);
        }
        write(&self.job(number).join(CANCEL), &at_once)?;
        let Some(_seen_to) = self.see_to(number)? else { return Ok(Cancelled::Running) };
        if self.find(number)?.end.is_some() {
            return Ok(Cancelled::TooLate);
        }
        self.end(number, &End::cancelled(None))?;
        Ok(Cancelled::Waiting)
    }

    /// Whether a user wants no more of a job, and whether at once.
    pub(crate) fn is_cancelled(&self, number: u64) -> Option<bool> {
        read(&self.job(number).join(CANCEL)).unwrap_or(Some(false))
    }

    /// Takes a job, so that nobody else does; none if somebody has, or its command still goes on.
    pub(crate) fn see_to(&self, number: u64) -> Result<Option<File>, QueueError> {
        try_lock(&self.job(number).join(LOCK))
    }

    /// Keeps how a job ended.
    pub(crate) fn end(&self, number: u64, end: &End) -> Result<(), QueueError> {
        write(&self.job(number).join(END), end)
    }

    /// The starts of a job so far.
    pub(crate) fn attempts(&self, number: u64) -> Result<Vec<Attempt>, QueueError> {
        attempts(&self.job(number))
    }

    /// Where a job is.
    pub(crate) fn job(&self, number: u64) -> PathBuf {
        self.path.join("jobs").join(format!("{number:06}"))
    }

    /// Returns the path of the file with the output of a job's commands.
    pub fn output(&self, number: u64) -> PathBuf {
        self.job(number).join(crate::job::OUTPUT)
    }

    /// Waits for a lock of this folder, which other processes of this user hold for moments, or while they wait for their turn.
    pub(crate) fn lock(&self, name: &str) -> Result<File, QueueError> {
        let path = self.path.join(name);
        let file = open(&path)?;
        file.lock().map_err(QueueError::file(&path))?;
        Ok(file)
    }

    /// A lock of this folder; none if another process holds it.
    pub(crate) fn try_lock(&self, name: &str) -> Result<Option<File>, QueueError> {
        try_lock(&self.path.join(name))
    }

    fn numbers(&self) -> Result<Vec<u64>, QueueError> {
        let jobs = self.path.join("jobs");
        let entries = fs::read_dir(&jobs).map_err(QueueError::file(&jobs))?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut numbers: Vec<u64> = names.filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// What cannot be removed stays until the next time.
    fn forget_old(&self, numbers: &[u64]) {
        let ended: Vec<u64> = numbers.iter().copied().filter(|number| self.job(*number).join(END).is_file()).collect();
        for number in &ended[..ended.len().saturating_sub(REMEMBERED)] {
            let _ = fs::remove_dir_all(self.job(*number));
        }
    }
}

fn open(path: &Path) -> Result<File, QueueError> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(QueueError::file(path))
}

fn try_lock(path: &Path) -> Result<Option<File>, QueueError> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(QueueError::file(path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use std::os::unix::fs::PermissionsExt;

    fn store() -> (tempfile::TempDir, Store) {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(&root.path().join("queue")).unwrap();
        (root, store)
    }

    fn order(name: &str) -> Order {
        Order::from_here(name.to_owned(), "lab.yaml".into(), vec!["/bin/true".into()]).unwrap()
    }

    #[test]
    fn jobs_have_numbers_that_are_never_used_again() {
        let (_root, store) = store();
        assert_eq!(store.add(&order("a"), "nodes: [a]\n").unwrap(), 1);
        assert_eq!(store.add(&order("b"), "").unwrap(), 2);
        fs::remove_dir_all(store.job(2)).unwrap();
        assert_eq!(store.add(&order("c"), "").unwrap(), 3);
        let jobs = store.jobs().unwrap();
        let seen: Vec<_> = jobs.iter().map(|job| (job.job, job.lab.as_str(), job.state)).collect();
        assert_eq!(seen, [(1, "a", State::Waiting), (3, "c", State::Waiting)]);
        assert_eq!(fs::read_to_string(store.job(1).join(LAB)).unwrap(), "nodes: [a]\n");
        assert!(store.find(2).unwrap_err().to_string().contains("there is no job 2"));
        // What a killed process left of a job is none.
        fs::create_dir(store.path().join("fresh")).unwrap();
        assert_eq!(store.add(&order("d"), "").unwrap(), 4);
    }

    #[test]
    fn what_waits_is_cancelled_at_once_and_what_goes_on_is_asked() {
        let (_root, store) = store();
        for name in ["a", "b"] {
            store.add(&order(name), "").unwrap();
        }
        assert_eq!(store.cancel(1, false).unwrap(), Cancelled::Waiting);
        assert_eq!(store.cancel(1, false).unwrap(), Cancelled::TooLate);
        assert_eq!(store.find(1).unwrap().state, State::Cancelled);
        let seen_to = store.see_to(2).unwrap().unwrap();
        assert!(store.see_to(2).unwrap().is_none(), "nobody else sees to it");
        assert_eq!(store.cancel(2, true).unwrap(), Cancelled::Running);
        assert_eq!((store.is_cancelled(1), store.is_cancelled(2)), (Some(false), Some(true)));
        drop(seen_to);
        assert_eq!(store.unfinished().unwrap(), [2]);
        assert!(store.cancel(9, false).is_err());
    }

    #[test]
    fn a_damaged_job_is_in_nobodys_way() {
        let (_root, store) = store();
        store.add(&order("a"), "").unwrap();
        store.add(&order("b"), "").unwrap();
        fs::write(store.job(1).join(ORDER), "{\"name\": 7").unwrap();
        let jobs = store.jobs().unwrap();
        assert_eq!((jobs[0].state, jobs[1].state), (State::Ended, State::Waiting));
        assert!(jobs[0].notes[0].contains("order.json"), "{:?}", jobs[0].notes);
        crate::keep(&store, 1).unwrap();
        assert_eq!(store.unfinished().unwrap(), [2]);
    }

    #[test]
    fn only_a_folder_of_this_user_alone_is_trusted() {
        let (root, store) = store();
        fs::set_permissions(store.path(), fs::Permissions::from_mode(0o770)).unwrap();
        assert!(Store::at(store.path()).unwrap_err().to_string().contains("alone can write"));
        let link = root.path().join("link");
        std::os::unix::fs::symlink("/tmp", &link).unwrap();
        assert!(Store::at(&link).is_err(), "a link leads elsewhere");
    }
}
