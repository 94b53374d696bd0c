//! A lab that is a part of another one, whose other parts are on other machines: all of them begin at one instant, and end at one.
//!
//! Whoever started the parts has given each a folder. A part that has come so far writes `begin.ready` or `end.ready` there, with the path of its
//! control socket, and finds the instant in `begin` or `end`, in nanoseconds of this machine's wall clock (`CLOCK_REALTIME`), as soon as all parts have come so far.

use netloom_judge::RunError;
use netloom_units::Instant;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Error, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often the instant is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// How much earlier a step is taken that needs to be prepared: its last looks are closer together than that.
const AHEAD: Duration = Duration::from_millis(50);

/// A step that all parts take at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Common {
    /// Time zero: the services of all parts are ready.
    Begin,
    /// The end: no part has anything more to do.
    End,
}

impl Common {
    const fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::End => "end",
        }
    }
}

/// The place where a part waits for the others; a lab that is whole waits for nobody.
#[derive(Debug, Default)]
pub struct Gate {
    folder: Option<PathBuf>,
    /// The control socket of the part.
    socket: PathBuf,
    told: BTreeSet<Common>,
    /// How long to wait until the next look.
    wait: Option<Duration>,
    /// When a step is due whose instant has been found, by the clock that nobody sets: the wall clock may move at once before it comes.
    due: BTreeMap<Common, std::time::Instant>,
    /// Whether the part only says how far it is.
    only_tells: bool,
}

impl Gate {
    /// A part that waits in this folder, and has this control socket; without a folder, a lab that is whole.
    pub fn new(folder: Option<PathBuf>, socket: &Path) -> Self {
        Self { folder, socket: socket.to_owned(), ..Self::default() }
    }

    /// A part in virtual time: it says how far it has come, and goes on, since it takes each step at the instant of lab time at which all do.
    pub fn of_virtual_time(folder: Option<PathBuf>, socket: &Path) -> Self {
        Self { only_tells: true, ..Self::new(folder, socket) }
    }

    /// Returns in what time this lab, which has come so far, takes the step; none: it is too early. A step that needs to be prepared is
    /// known some milliseconds ahead.
    ///
    /// # Errors
    /// The folder cannot be used, or has no instant where one belongs.
    pub fn opens(&mut self, step: Common) -> Result<Option<Duration>, RunError> {
        let here = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.opens_by(step, here, std::time::Instant::now())
    }

    /// Does what `opens` does by these clocks: the wall clock, and the one that nobody sets.
    fn opens_by(
        &mut self,
        step: Common,
        here: Duration,
        now: std::time::Instant,
    ) -> Result<Option<Duration>, RunError> {
        let Some(folder) = &self.folder else { return Ok(Some(Duration::ZERO)) };
        if self.told.insert(step) {
            let path = folder.join(step.name()).with_extension("ready");
            fs::write(&path, self.socket.as_os_str().as_bytes()).map_err(RunError::results(&path))?;
        }
        if self.only_tells {
            return Ok(Some(Duration::ZERO));
        }
        if let (false, Some(at)) = (self.due.contains_key(&step), instant(&folder.join(step.name()))?) {
            self.due.insert(step, now + at.saturating_sub(here));
        }
        let left = self.due.get(&step).map(|due| due.saturating_duration_since(now));
        let ahead = if step == Common::Begin { AHEAD } else { Duration::ZERO };
        let opens = left.filter(|left| *left <= ahead);
        let wait = left.map_or(LOOK, |left| left.saturating_sub(ahead).min(LOOK));
        self.wait = opens.is_none().then_some(wait);
        Ok(opens)
    }

    /// Returns when to look next, if anything is to be looked for.
    pub fn next_look(&self, now: Instant) -> Option<Instant> {
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        self.wait.map(|wait| now + netloom_units::Duration::from_nanos(nanos(wait)))
    }
}

/// An instant has twenty digits at most.
const LONGEST: u64 = 64;

/// The instant of the wall clock in a file, counted from 1970; none if there is no such file yet.
fn instant(path: &Path) -> Result<Option<Duration>, RunError> {
    let mut text = String::new();
    match fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text)) {
        Ok(_) => {
            let wrong = || Error::new(ErrorKind::InvalidData, "it has no instant in nanoseconds");
            let at = text.trim().parse().map_err(|_| wrong()).map_err(RunError::results(path))?;
            Ok(Some(Duration::from_nanos(at)))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunError::results(path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall_clock() -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock behind 1970")
    }

    #[test]
    fn a_whole_lab_waits_for_nobody() {
        let mut gate = Gate::new(None, Path::new("/s"));
        assert_eq!(gate.opens(Common::Begin).expect("no folder"), Some(Duration::ZERO));
        assert_eq!(gate.next_look(Instant::ZERO), None);
    }

    #[test]
    fn a_part_says_how_far_it_is_and_waits_for_the_instant() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut gate = Gate::new(Some(folder.path().to_owned()), Path::new("/run/s"));
        assert_eq!(gate.opens(Common::Begin).expect("a folder"), None);
        assert_eq!(fs::read(folder.path().join("begin.ready")).expect("a path"), b"/run/s");
        assert!(!folder.path().join("end.ready").exists());
        assert_eq!(gate.next_look(Instant::ZERO), Some(Instant::ZERO + netloom_units::Duration::from_millis(20)));
        let soon = wall_clock() + Duration::from_millis(40);
        fs::write(folder.path().join("begin"), soon.as_nanos().to_string()).expect("an instant");
        let left = gate.opens(Common::Begin).expect("a folder").expect("it is near");
        assert!(left <= Duration::from_millis(40));
        assert_eq!(gate.next_look(Instant::ZERO), None);
        fs::write(folder.path().join("end"), (wall_clock() + Duration::from_secs(3600)).as_nanos().to_string())
            .expect("an instant");
        assert_eq!(gate.opens(Common::End).expect("a folder"), None);
        fs::write(folder.path().join("end"), "0\n").expect("an instant");
        let mut other = Gate::new(Some(folder.path().to_owned()), Path::new("/run/s"));
        assert_eq!(other.opens(Common::End).expect("a folder"), Some(Duration::ZERO));
    }

    #[test]
    fn a_wall_clock_that_moves_at_once_moves_no_step_that_is_agreed_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut gate = Gate::new(Some(folder.path().to_owned()), Path::new("/run/s"));
        let (wall, now) = (Duration::from_secs(1_800_000_000), std::time::Instant::now());
        let after = |millis| now + Duration::from_millis(millis);
        fs::write(folder.path().join("begin"), (wall + Duration::from_millis(300)).as_nanos().to_string())
            .expect("an instant");
        assert_eq!(gate.opens_by(Common::Begin, wall, now).expect("a folder"), None);
        // A second forward, and an hour back.
        let early = gate.opens_by(Common::Begin, wall + Duration::from_millis(1_100), after(100));
        assert_eq!(early.expect("a folder"), None);
        let late = gate.opens_by(Common::Begin, wall - Duration::from_secs(3600), after(260));
        assert_eq!(late.expect("a folder"), Some(Duration::from_millis(40)));
    }

    #[test]
    fn a_part_in_virtual_time_only_says_how_far_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut gate = Gate::of_virtual_time(Some(folder.path().to_owned()), Path::new("/run/s"));
        assert_eq!(gate.opens(Common::Begin).expect("a folder"), Some(Duration::ZERO));
        assert_eq!(fs::read(folder.path().join("begin.ready")).expect("a path"), b"/run/s");
    }

    #[test]
    fn what_is_no_instant_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("begin"), "soon").expect("a file");
        let why =
            Gate::new(Some(folder.path().to_owned()), Path::new("/s")).opens(Common::Begin).expect_err("no instant");
        assert!(why.to_string().contains("no instant"), "{why}");
        let nowhere = folder.path().join("none");
        assert!(Gate::new(Some(nowhere), Path::new("/s")).opens(Common::Begin).is_err());
    }
}
