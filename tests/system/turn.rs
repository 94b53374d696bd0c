//! Which tests may run at the same time: labs that are measured tightly, and whatever changes the machine's own network, are alone on
//! the machine; all others share it, twice as many at once as it has processors, since labs wait more than they compute. Both take turns: all
//! that wait for the one kind of use come before any of the other, so that the machine is seldom half empty. `scripts/run-test-program` begins all
//! tests at once for that.

use crate::fixture::tell;
use crate::remains;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

/// How long a test may have the machine. The longest need a tenth of it where nothing else runs; one that hangs would have all others wait.
const LONGEST_TURN: Duration = Duration::from_secs(600);
/// How long a test may take to fail when its processes have been ended.
const LONGEST_FAILURE: Duration = Duration::from_secs(180);

/// How a test uses the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// Beside others.
    Shared,
    /// While no other test runs.
    Alone,
}

/// Who uses the machine now, and who waits.
#[derive(Debug)]
struct Users {
    shared: usize,
    is_alone: bool,
    /// How many wait for each use.
    waiting: [usize; 2],
    /// Whose turn it is, until none of them waits.
    turn: Use,
}

impl Users {
    /// Whether a test that waits may use the machine so.
    fn allow(&self, wanted: Use, places: usize) -> bool {
        let other = if wanted == Use::Shared { Use::Alone } else { Use::Shared };
        let others_come_first = self.turn == other && self.waiting[other as usize] > 0;
        let is_free = match wanted {
            Use::Shared => self.shared < places,
            Use::Alone => self.shared == 0,
        };
        is_free && !self.is_alone && !others_come_first
    }

    fn enter(&mut self, wanted: Use) {
        self.turn = wanted;
        match wanted {
            Use::Shared => self.shared += 1,
            Use::Alone => self.is_alone = true,
        }
    }
}

static USERS: Mutex<Users> = Mutex::new(Users { shared: 0, is_alone: false, waiting: [0, 0], turn: Use::Shared });
static CHANGED: Condvar = Condvar::new();

/// A test that has the machine, or shares it.
#[derive(Debug)]
struct Holder {
    test: String,
    folder: PathBuf,
    since: Instant,
    is_ended: bool,
}

static HOLDERS: Mutex<Vec<Holder>> = Mutex::new(Vec::new());

/// Ends the processes of each test that has had the machine for too long, so that it fails; where even this does not help, the whole program.
fn watch() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(5));
        let mut hanging = Vec::new();
        for holder in lock(&HOLDERS).iter_mut().filter(|holder| holder.since.elapsed() > LONGEST_TURN) {
            if holder.since.elapsed() > LONGEST_TURN + LONGEST_FAILURE {
                tell(&format!("the test {} does not end, and no other may begin", holder.test));
                std::process::exit(101);
            }
            if !std::mem::replace(&mut holder.is_ended, true) {
                hanging.push((holder.test.clone(), holder.folder.clone()));
            }
        }
        for (test, folder) in hanging {
            let processes = remains::names_of(&folder);
            tell(&format!("the test {test} takes longer than {LONGEST_TURN:?}; its processes are ended: {processes}"));
            remains::end(&folder, remains::LONGEST_END);
        }
    }
}

/// What a test has of the machine, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    has: Mutex<Option<Use>>,
    /// The folder by which its processes are known.
    folder: PathBuf,
}

impl Turn {
    pub(crate) fn of(folder: &Path) -> Self {
        static WATCHED: Once = Once::new();
        WATCHED.call_once(|| drop(std::thread::spawn(|| watch())));
        Self { has: Mutex::new(None), folder: folder.to_owned() }
    }

    /// Waits until the test may use the machine so. What it has already is enough if it is more; else it is given back before.
    pub(crate) fn take(&self, wanted: Use) {
        let mut own = lock(&self.has);
        if *own >= Some(wanted) {
            return;
        }
        self.give_back(own.take());
        let places = 2 * std::thread::available_parallelism().map_or(1, usize::from);
        let mut users = lock(&USERS);
        users.waiting[wanted as usize] += 1;
        users = wait_while(users, |users| !users.allow(wanted, places));
        users.waiting[wanted as usize] -= 1;
        users.enter(wanted);
        drop(users);
        // One that came in makes room for the next, if there is any.
        CHANGED.notify_all();
        *own = Some(wanted);
        let test = std::thread::current().name().unwrap_or("without a name").to_owned();
        lock(&HOLDERS).push(Holder { test, folder: self.folder.clone(), since: Instant::now(), is_ended: false });
    }

    /// How long the test has used the machine: what it waited for before is not in it.
    pub(crate) fn lasted(&self) -> Duration {
        let holders = lock(&HOLDERS);
        holders
            .iter()
            .find(|holder| holder.folder == self.folder)
            .map_or(Duration::ZERO, |holder| holder.since.elapsed())
    }

    fn give_back(&self, held: Option<Use>) {
        let mut holders = lock(&HOLDERS);
        if let Some(place) = holders.iter().position(|holder| holder.folder == self.folder) {
            note(held, &holders.swap_remove(place));
        }
        drop(holders);
        let mut users = lock(&USERS);
        match held {
            Some(Use::Shared) => users.shared -= 1,
            Some(Use::Alone) => users.is_alone = false,
            None => {}
        }
        drop(users);
        CHANGED.notify_all();
    }
}

/// Adds a line to the file that NETLOOM_TEST_TURNS names: how long a test has used the machine, and how.
fn note(held: Option<Use>, holder: &Holder) {
    let (Some(file), Some(held)) = (std::env::var_os("NETLOOM_TEST_TURNS"), held) else { return };
    let line = format!("{:8.1} s  {held:?}  {}\n", holder.since.elapsed().as_secs_f64(), holder.test);
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
    opened.and_then(|mut opened| opened.write_all(line.as_bytes())).expect("a file for turns");
}

impl Drop for Turn {
    fn drop(&mut self) {
        let held = lock(&self.has).take();
        self.give_back(held);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_while<'a>(users: MutexGuard<'a, Users>, condition: impl Fn(&Users) -> bool) -> MutexGuard<'a, Users> {
    CHANGED.wait_while(users, |users| condition(users)).unwrap_or_else(PoisonError::into_inner)
}

/// Commands that change the machine's own network, or measure the machine.
const OF_THE_MACHINE: [&str; 6] = ["shape", "link", "mm", "mininet", "mn", "doctor"];

/// Commands that run labs.
const PLAYING: [&str; 6] = ["run", "up", "sweep", "rerun", "queue", "ui"];

/// How a command uses the machine. `of_labs`: how the labs do that the test has written, if there are any; of others, an example's text decides,
/// and the rest is measured. Whatever a lab says, in virtual time it allows others.
pub(crate) fn of_command(arguments: &[&str], of_labs: Option<Use>) -> Use {
    let first = arguments.first().copied().unwrap_or_default();
    if OF_THE_MACHINE.contains(&first) {
        return Use::Alone;
    }
    if !PLAYING.contains(&first) || arguments.windows(2).any(|pair| pair == ["--clock", "virtual"]) {
        return Use::Shared;
    }
    let examples = arguments.iter().filter(|word| word.contains("examples/"));
    let used: Vec<Use> =
        examples.map(|path| std::fs::read_to_string(path).map_or(Use::Alone, |text| of_lab(&text, false))).collect();
    used.into_iter().max().or(of_labs).unwrap_or(Use::Alone)
}

/// Whether this is the text of a lab.
pub(crate) fn is_lab(text: &str) -> bool {
    text.contains("nodes:")
}

/// How a lab uses the machine, by its text: in virtual time and with bounds of its own it allows that others are there, unless it expects
/// something of parts of real time, in which a busy machine may be late; what leads out of it is in nobody's way if the test has a network
/// namespace of its own, and so `is_apart`.
pub(crate) fn of_lab(text: &str, is_apart: bool) -> Use {
    let is_loose = text.contains("bounds:") && !text.contains(" during ");
    let allows_others = is_loose || text.contains("clock: virtual");
    let leads_out = ["kind: internet", "kind: external", "external:", "divert"].iter().any(|key| text.contains(key));
    if is_lab(text) && (!allows_others || leads_out && !is_apart) { Use::Alone } else { Use::Shared }
}
