//! The line in which the users of a machine wait for its processors.
//!
//! Each user has a folder of its own in `/tmp`, where the kernel lets nobody else remove it (sticky bit), and at most one ticket
//! in it: a file that is locked for as long as somebody waits with it. Who came first follows from the instant at which the file
//! system wrote the ticket down (`st_ctime`), which no user can set. Whoever has begun an experiment draws a new ticket for the
//! next one, and another when an experiment of theirs has ended, and so goes to the end of the line: users take turns.

use netloom_host::processors::{Reservation, reserve};
use nix::unistd::{Uid, User, geteuid};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The environment variable that names another place for the line, which all users must share.
const PLACE: &str = "NETLOOM_QUEUE_LINE";
/// What the folders of users are called.
const PREFIX: &str = "netloom-queue-";
/// A user's folder may have other names than the first, which another user may have taken.
const NAMES: u32 = 10;
/// How many folders are looked at. Users cannot have more than a few each to any use.
const MOST_FOLDERS: usize = 10_000;
/// The longest ticket.
const LONGEST: u64 = 4096;
/// How often to look.
const TURN: Duration = Duration::from_millis(200);
/// How long the first in the line may leave processors free that would be enough for it.
const GRACE: Duration = Duration::from_secs(10);
/// The flag of open(2) by which a link is not followed, and the one by which a pipe is not waited for.
const PLAIN: i32 = nix::fcntl::OFlag::O_NOFOLLOW.bits() | nix::fcntl::OFlag::O_NONBLOCK.bits();

/// The line, as this user sees it.
#[derive(Clone, Debug)]
pub struct Line {
    place: PathBuf,
}

/// Another user's place in the line, or experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Other {
    /// The user's name, or number.
    pub user: String,
    /// Whether an experiment of the user goes on, rather than waits.
    pub running: bool,
    /// The processors that the user says it needs; none: all.
    pub processors: Option<usize>,
}

/// What is in a ticket.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Said {
    processors: Option<usize>,
}

/// A user that waits: since when, and who it is.
type Rank = (i64, i64, u32);

/// This user's place in the line; it is given up with this value.
#[derive(Debug)]
struct Ticket {
    /// Locked before anybody else could open it.
    _file: File,
    path: PathBuf,
    rank: Rank,
}

/// An experiment that goes on, as others see it; they do so for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Shown {
    _file: File,
    path: PathBuf,
}

impl Line {
    /// The line of this machine.
    pub fn here() -> Self {
        let place = std::env::var_os(PLACE).map(PathBuf::from).filter(|place| place.is_absolute());
        Self { place: place.unwrap_or_else(|| "/tmp".into()) }
    }

    /// Returns what is wrong with the place where users wait, if others than its owner can take away what a user has put there.
    pub fn distrusted(&self) -> Option<String> {
        let about = fs::metadata(&self.place).ok();
        let why = match &about {
            None => "is not there",
            Some(about) if !about.is_dir() => "is no folder",
            // S_ISVTX of inode(7).
            Some(about) if about.mode() & 0o022 != 0 && about.mode() & 0o1000 == 0 => {
                "lets every user remove what others have there"
            }
            Some(_) => return None,
        };
        let place = self.place.display();
        Some(format!(
            "the line of users at {place} cannot be trusted, since {place} {why}: `chmod +t {place}` for a folder that all share, or \
             name another in {PLACE}"
        ))
    }

    /// Waits until it is this user's turn and so many processors are free: these processors, and what shows others that they
    /// are taken. None if `is_over` says so before.
    ///
    /// # Errors
    /// If the kernel tells nothing of processors.
    pub(crate) fn wait(
        &self,
        need: Option<usize>,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<Option<(Reservation, Option<Shown>)>, String> {
        let said = Said { processors: need };
        // Without a place in the line, whoever is quicker is first.
        let mut ticket = self.draw(said);
        let mut own = self.own_running();
        let mut passed: BTreeSet<Rank> = BTreeSet::new();
        let mut idle: Option<(Rank, Instant)> = None;
        while !is_over() {
            let running = self.own_running();
            if !own.is_subset(&running) {
                // Others waited while this user had the machine: they come first.
                drop(ticket.take());
                ticket = self.draw(said);
            }
            own = running;
            let before = ticket.as_ref().and_then(|mine| self.first_before(mine.rank, &passed));
            match before {
                None => {
                    let told = |error| format!("asking for the processors of this process: {error}");
                    if let Some(reservation) = reserve(need).map_err(told)? {
                        drop(ticket);
                        return Ok(Some((reservation, self.show(said))));
                    }
                }
                Some((rank, other)) => {
                    let could = matches!(reserve(other.processors), Ok(Some(_)));
                    idle = idle
                        .filter(|(which, _)| could && *which == rank)
                        .or_else(|| could.then(|| (rank, Instant::now())));
                    if idle.is_some_and(|(_, since)| since.elapsed() > GRACE) {
                        passed.insert(rank);
                    }
                }
            }
            std::thread::sleep(TURN);
        }
        Ok(None)
    }

    /// Returns the experiments of other users: those that go on, and then those that wait, in their order.
    pub fn others(&self) -> Vec<Other> {
        let mut all: Vec<(bool, Rank, Other)> = Vec::new();
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        for (user, folder) in self.folders().into_iter().filter(|(user, _)| *user != geteuid().as_raw()) {
            let count = seen.entry(user).or_default();
            *count += 1;
            if *count > NAMES as usize {
                continue;
            }
            let other = |running, said: Said| {
                let name = User::from_uid(Uid::from_raw(user)).ok().flatten().map(|found| found.name);
                Other { user: name.unwrap_or_else(|| user.to_string()), running, processors: said.processors }
            };
            let ticket = look(&folder.join("ticket"), user);
            all.extend(ticket.map(|(rank, said)| (true, rank, other(false, said))));
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten().take(100);
            let running = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("running-"));
            all.extend(running.filter_map(|entry| {
                let (rank, said) = look(&entry.path(), user)?;
                Some((false, rank, other(true, said)))
            }));
        }
        all.sort_by_key(|(waits, rank, _)| (*waits, *rank));
        all.into_iter().map(|(_, _, other)| other).collect()
    }

    /// The first of those who came before, but for those that were passed over.
    fn first_before(&self, own: Rank, passed: &BTreeSet<Rank>) -> Option<(Rank, Said)> {
        let tickets = self.folders().into_iter().filter_map(|(user, folder)| look(&folder.join("ticket"), user));
        tickets.filter(|(rank, _)| *rank < own && !passed.contains(rank)).min_by_key(|(rank, _)| *rank)
    }

    /// The folders of users, each with whose it is.
    fn folders(&self) -> Vec<(u32, PathBuf)> {
        let entries = fs::read_dir(&self.place).into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)).take(MOST_FOLDERS);
        let folder = |entry: fs::DirEntry| {
            let about = fs::symlink_metadata(entry.path()).ok().filter(fs::Metadata::is_dir)?;
            Some((about.uid(), entry.path()))
        };
        named.filter_map(folder).collect()
    }

    /// Takes a place at the end of the line; none if that is not possible.
    fn draw(&self, said: Said) -> Option<Ticket> {
        let path = self.own_folder()?.join("ticket");
        let file = publish(&path, said)?;
        let rank = rank(&file.metadata().ok()?);
        Some(Ticket { _file: file, path, rank })
    }

    fn show(&self, said: Said) -> Option<Shown> {
        let folder = self.own_folder()?;
        // What those have left that were killed.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_left = look(&entry.path(), geteuid().as_raw()).is_none();
            if entry.file_name().to_string_lossy().starts_with("running-") && is_left {
                let _ = fs::remove_file(entry.path());
            }
        }
        let path = folder.join(format!("running-{}", std::process::id()));
        publish(&path, said).map(|file| Shown { _file: file, path })
    }

    /// The experiments of this user that go on.
    fn own_running(&self) -> BTreeSet<Rank> {
        let folder = self.own_folder();
        let entries = folder.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let running = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("running-"));
        running.filter_map(|entry| Some(look(&entry.path(), geteuid().as_raw())?.0)).collect()
    }

    /// This user's folder, which is made if it is not there.
    fn own_folder(&self) -> Option<PathBuf> {
        let user = geteuid();
        (0..NAMES).find_map(|number| {
            let further = if number == 0 { String::new() } else { format!("-{number}") };
            let path = self.place.join(format!("{PREFIX}{user}{further}"));
            // It may be there, and may be another user's.
            let _ = DirBuilder::new().mode(0o755).create(&path);
            let about = fs::symlink_metadata(&path).ok()?;
            let is_own = about.is_dir() && about.uid() == user.as_raw() && about.mode() & 0o022 == 0;
            is_own.then_some(path)
        })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Without its lock, it means nothing.
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Puts a locked file there that all users can read. It is locked before others can open it, so that none can keep the lock from us.
fn publish(path: &Path, said: Said) -> Option<File> {
    let fresh = path.with_extension(format!("{}", std::process::id()));
    let _ = fs::remove_file(&fresh);
    let mut options = File::options();
    let mut file = options.read(true).write(true).create_new(true).mode(0o600).open(&fresh).ok()?;
    let written = file.try_lock().is_ok()
        && serde_json::to_vec(&said).is_ok_and(|text| file.write_all(&text).is_ok())
        && file.set_permissions(Permissions::from_mode(0o644)).is_ok()
        && fs::rename(&fresh, path).is_ok();
    if !written {
        let _ = fs::remove_file(&fresh);
    }
    written.then_some(file)
}

/// What a file of that user says; none unless it is locked, and so meant.
fn look(path: &Path, user: u32) -> Option<(Rank, Said)> {
    let file = File::options().read(true).custom_flags(PLAIN).open(path).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || about.uid() != user || !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return None;
    }
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    Some((rank(&about), serde_json::from_slice(&text).unwrap_or_default()))
}

fn rank(about: &fs::Metadata) -> Rank {
    (about.ctime(), about.ctime_nsec(), about.uid())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> (tempfile::TempDir, Line) {
        let place = tempfile::tempdir().unwrap();
        let line = Line { place: place.path().to_owned() };
        (place, line)
    }

    #[test]
    fn a_ticket_counts_as_long_as_it_is_held() {
        let (_place, line) = line();
        let said = Said { processors: Some(2) };
        let first = line.draw(said).unwrap();
        let last = (i64::MAX, 0, 0);
        let (rank, found) = line.first_before(last, &BTreeSet::new()).unwrap();
        assert_eq!((rank, found.processors), (first.rank, Some(2)));
        assert!(line.first_before(first.rank, &BTreeSet::new()).is_none(), "nobody is before the first");
        assert!(line.first_before(last, &[rank].into()).is_none(), "it was passed over");
        // Without its process, its file means nothing.
        let path = first.path.clone();
        drop(first);
        fs::write(&path, "{}").unwrap();
        assert!(line.first_before(last, &BTreeSet::new()).is_none());
    }

    #[test]
    fn a_place_where_anybody_removes_anything_is_not_taken_without_a_word() {
        let (place, line) = line();
        assert_eq!(line.distrusted(), None, "it is this user's alone");
        let set = |mode| fs::set_permissions(place.path(), Permissions::from_mode(mode)).unwrap();
        set(0o777);
        assert!(
            line.distrusted().is_some_and(|why| why.contains("lets every user remove") && why.contains("chmod +t"))
        );
        set(0o1777);
        assert_eq!(line.distrusted(), None);
        let missing = Line { place: place.path().join("none") };
        assert!(missing.distrusted().is_some_and(|why| why.contains("is not there")));
    }

    #[test]
    fn a_later_ticket_is_behind() {
        let (_place, line) = line();
        let first = line.draw(Said::default()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let second = line.draw(Said::default()).unwrap();
        assert!(first.rank < second.rank, "{first:?} {second:?}");
    }

    #[test]
    fn what_others_leave_there_is_in_nobodys_way() {
        let (place, line) = line();
        let user = geteuid();
        // Another has taken the name: here a link and a file stand for that.
        std::os::unix::fs::symlink("/etc", place.path().join(format!("{PREFIX}{user}"))).unwrap();
        fs::write(place.path().join(format!("{PREFIX}{user}-1")), "").unwrap();
        let own = line.own_folder().unwrap();
        assert!(own.ends_with(format!("{PREFIX}{user}-2")));
        let strange = place.path().join(format!("{PREFIX}strange"));
        fs::create_dir(&strange).unwrap();
        nix::unistd::mkfifo(&strange.join("ticket"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(look(&strange.join("ticket"), user.as_raw()).is_none(), "a pipe is not waited for");
        fs::remove_file(strange.join("ticket")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", strange.join("ticket")).unwrap();
        assert!(look(&strange.join("ticket"), user.as_raw()).is_none(), "a link is not followed");
        assert!(line.first_before((i64::MAX, 0, 0), &BTreeSet::new()).is_none());
        // What is locked and no JSON is a ticket that says nothing.
        fs::remove_file(strange.join("ticket")).unwrap();
        fs::write(strange.join("ticket"), "\u{1b}[2J{".repeat(10_000)).unwrap();
        let held = File::open(strange.join("ticket")).unwrap();
        held.lock().unwrap();
        assert_eq!(line.first_before((i64::MAX, 0, 0), &BTreeSet::new()).unwrap().1.processors, None);
    }
}
