//! Ends a target that hangs or eats memory, and says which input made it so.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long one input may take. It takes milliseconds; what takes a minute never ends.
const LONGEST: Duration = Duration::from_secs(60);
/// How much memory the whole process may have, in bytes. All targets of a test program together take a few hundred MB.
const MOST_MEMORY: u64 = 6 << 30;
/// How often to look.
const LOOK: Duration = Duration::from_millis(500);

/// Watches until it is dropped.
pub(crate) struct Watchdog {
    place: Arc<Place>,
    /// Hangs up to end the thread.
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Where a target is.
#[derive(Default)]
struct Place {
    seed: AtomicU64,
    input: AtomicU64,
    /// The input itself, if the round is repeated to see it.
    shown: Mutex<String>,
    is_over: AtomicBool,
}

impl Watchdog {
    pub(crate) fn start(name: &str) -> Self {
        let place = Arc::new(Place::default());
        let (end, ended) = mpsc::channel();
        let (name, watched) = (name.to_owned(), Arc::clone(&place));
        let thread = std::thread::spawn(move || watch(&name, &watched, &ended));
        Self { place, end: Some(end), thread: Some(thread) }
    }

    pub(crate) fn begin_round(&self, seed: u64) {
        self.place.seed.store(seed, Ordering::Relaxed);
        self.place.input.store(0, Ordering::Relaxed);
    }

    pub(crate) fn begin_input(&self, shown: Option<String>) {
        if let Some(shown) = shown {
            *self.place.shown.lock().unwrap_or_else(PoisonError::into_inner) = shown;
        }
        self.place.input.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.place.is_over.store(true, Ordering::Relaxed);
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // It only looks, and has nothing to say.
            let _ = thread.join();
        }
    }
}

fn watch(name: &str, place: &Place, ended: &mpsc::Receiver<()>) {
    let at = || (place.seed.load(Ordering::Relaxed), place.input.load(Ordering::Relaxed));
    let (mut known, mut since) = (at(), Instant::now());
    while ended.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
        if at() != known {
            (known, since) = (at(), Instant::now());
        }
        let memory = memory();
        let what = if since.elapsed() > LONGEST {
            format!("takes more than {} s", LONGEST.as_secs())
        } else if memory > MOST_MEMORY {
            format!("takes {} MB of memory", memory >> 20)
        } else {
            continue;
        };
        if !place.is_over.load(Ordering::Relaxed) {
            let shown = place.shown.lock().unwrap_or_else(PoisonError::into_inner);
            eprintln!("{name}: input {} of NETLOOM_FUZZ_SEED={} {what}\n{shown}", known.1, known.0);
            std::process::abort();
        }
    }
}

/// What this process has in memory, in bytes; `/proc/self/statm` counts in pages.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * 4_096)
}
