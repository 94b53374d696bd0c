//! Which tests may run at the same time: labs that are measured tightly, and whatever changes the machine's own network, are alone on
//! the machine; all others share it, as many at once as it has processors.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How a test uses the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// Beside others.
    Shared,
    /// While no other test runs.
    Alone,
}

/// Who uses the machine now.
#[derive(Debug, Default)]
struct Users {
    shared: usize,
    is_alone: bool,
    /// How many wait to be alone; others let them go first.
    waiting: usize,
}

static USERS: Mutex<Users> = Mutex::new(Users { shared: 0, is_alone: false, waiting: 0 });
static CHANGED: Condvar = Condvar::new();

/// What a test has of the machine, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Turn(Mutex<Option<Use>>);

impl Turn {
    /// Waits until the test may use the machine so. What it has already is enough if it is more; else it is given back before.
    pub(crate) fn take(&self, wanted: Use) {
        let mut own = lock(&self.0);
        if *own >= Some(wanted) {
            return;
        }
        give_back(own.take());
        let mut users = lock(&USERS);
        match wanted {
            Use::Shared => {
                let places = std::thread::available_parallelism().map_or(1, usize::from);
                users = wait_while(users, |users| users.is_alone || users.waiting > 0 || users.shared >= places);
                users.shared += 1;
            }
            Use::Alone => {
                users.waiting += 1;
                users = wait_while(users, |users| users.is_alone || users.shared > 0);
                users.waiting -= 1;
                users.is_alone = true;
            }
        }
        drop(users);
        *own = Some(wanted);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        give_back(lock(&self.0).take());
    }
}

fn give_back(held: Option<Use>) {
    let mut users = lock(&USERS);
    match held {
        Some(Use::Shared) => users.shared -= 1,
        Some(Use::Alone) => users.is_alone = false,
        None => {}
    }
    drop(users);
    CHANGED.notify_all();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_while<'a>(users: MutexGuard<'a, Users>, condition: impl Fn(&Users) -> bool) -> MutexGuard<'a, Users> {
    CHANGED.wait_while(users, |users| condition(users)).unwrap_or_else(PoisonError::into_inner)
}

/// Commands that change the machine's own network, or measure the machine.
const OF_THE_MACHINE: [&str; 6] = ["shape", "link", "mm", "mininet", "mn", "doctor"];

/// Commands that play labs.
const PLAYING: [&str; 6] = ["run", "up", "sweep", "rerun", "queue", "ui"];

/// How a command uses the machine. `knows_labs`: whether the test has written labs, which have decided that already; others are measured.
pub(crate) fn of_command(arguments: &[&str], knows_labs: bool) -> Use {
    let first = arguments.first().copied().unwrap_or_default();
    let is_strange =
        PLAYING.contains(&first) && (!knows_labs || arguments.iter().any(|word| word.contains("examples/")));
    if OF_THE_MACHINE.contains(&first) || is_strange { Use::Alone } else { Use::Shared }
}

/// Whether this is the text of a lab.
pub(crate) fn is_lab(text: &str) -> bool {
    text.contains("nodes:")
}

/// How a lab uses the machine, by its text: in virtual time and with bounds of its own it allows that others are there.
pub(crate) fn of_lab(text: &str) -> Use {
    let allows_others = ["clock: virtual", "bounds:"].iter().any(|key| text.contains(key));
    let leads_out = ["kind: internet", "kind: external", "external:", "divert"].iter().any(|key| text.contains(key));
    if is_lab(text) && (!allows_others || leads_out) { Use::Alone } else { Use::Shared }
}
