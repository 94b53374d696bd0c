//! Sees one job through: waits for its turn, starts its command, and keeps how that ended.

use crate::job::{ATTEMPTS, Attempt, End, LAB, OUTPUT, Order, write};
use crate::line::Line;
use crate::{QueueError, Store};
use netloom_host::processors;
use netloom_host::signals::Signals;
use netloom_judge::ExitCode;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Pid, dup2_stdout};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, SystemTime};

/// How often a job is started at most, if each time nobody knows how it ended.
const MOST_ATTEMPTS: usize = 3;
/// How often to look at what goes on.
const TURN: Duration = Duration::from_millis(100);
/// How long to wait before what could not be written is tried again.
const PAUSE: Duration = Duration::from_secs(2);

/// Sees the job of this number through, unless another process does. Standard output is closed when the job has had its turn.
///
/// # Errors
/// If its files cannot be read, or no start can be written down. Then it has not been started.
pub fn keep(store: &Store, number: u64) -> Result<(), QueueError> {
    let Some(lock) = store.see_to(number)? else { return Ok(()) };
    let job = match store.find(number) {
        Ok(job) => job,
        // Its files are damaged: it would never end.
        Err(error) => return store.end(number, &End::now(Some(ExitCode::Died.number()), Some(error.to_string()))),
    };
    if job.end.is_some() {
        return Ok(());
    }
    let Some(order) = job.order else { return Ok(()) };
    let signals = Signals::hold(&[]);
    let signals = signals.map_err(|error| QueueError::Machine(format!("holding signals back: {error}")))?;
    let mut keeper = Keeper { store, number, order, signals: Some(signals), is_told: false };
    let attempts = keeper.lost()?;
    if attempts.len() >= MOST_ATTEMPTS {
        let why = format!("it was started {MOST_ATTEMPTS} times, and lost each time: `netloom queue add` tries again");
        return store.end(number, &End::now(Some(ExitCode::Died.number()), Some(why)));
    }
    keeper.run(&lock, attempts)
}

struct Keeper<'a> {
    store: &'a Store,
    number: u64,
    order: Order,
    /// Held but while the command is started, which would hold them, too.
    signals: Option<Signals>,
    /// Whether this process was asked to end, as it is before the machine goes down.
    is_told: bool,
}

impl Keeper<'_> {
    /// The starts so far, all of which are known to be lost now.
    fn lost(&self) -> Result<Vec<Attempt>, QueueError> {
        let mut attempts = self.store.attempts(self.number)?;
        let boot = boot();
        if let Some(last) = attempts.last_mut().filter(|last| last.lost.is_none()) {
            last.lost = Some(if last.boot == boot {
                "the process that saw to it was ended".into()
            } else {
                "the machine was started anew".into()
            });
            write(&self.store.job(self.number).join(ATTEMPTS), &attempts)?;
        }
        Ok(attempts)
    }

    fn run(&mut self, lock: &File, mut attempts: Vec<Attempt>) -> Result<(), QueueError> {
        let (store, number) = (self.store, self.number);
        // One job of a user waits at a time.
        let turn = store.lock("turn")?;
        let line = Line::here();
        let need = self.order.processors;
        let waited = line.wait(need, &mut || self.is_told() || store.is_cancelled(number).is_some());
        let Some((reservation, shown)) = waited.map_err(QueueError::Machine)? else {
            if self.is_told {
                return Ok(());
            }
            return store.end(number, &End::cancelled(None));
        };
        attempts.push(Attempt { started: SystemTime::now(), boot: boot(), lost: None });
        write(&store.job(number).join(ATTEMPTS), &attempts)?;
        drop(turn);
        let null = File::options().write(true).open("/dev/null").map_err(QueueError::file(Path::new("/dev/null")))?;
        dup2_stdout(&null).map_err(|error| QueueError::Machine(format!("closing standard output: {error}")))?;
        if self.order.stays && reservation.is_part {
            // They were allowed a moment ago; what is set is for this process and what it starts.
            let _ = processors::stay_on(&reservation.processors);
        }
        // A signal that ends this process now ends the command with it, and the job is started again.
        self.signals = None;
        let started = self.start(lock, attempts.len());
        self.signals = Signals::hold(&[]).ok();
        let end = match started {
            Ok(child) => self.watch(child),
            Err(why) => Some(End::now(Some(ExitCode::Machine.number()), Some(why))),
        };
        // In this order: whoever finds processors free finds nobody who has them.
        drop(shown);
        drop(reservation);
        if let Some(end) = end {
            // Until it is written, nobody else may take the job.
            while let Err(error) = store.end(number, &end) {
                if self.is_told() {
                    return Err(error);
                }
                std::thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// Starts the command. Its standard input is the job's lock, which is an empty file: so the lock is held for as long as any
    /// process of it is there, whatever becomes of this one.
    fn start(&self, lock: &File, attempt: usize) -> Result<Child, String> {
        let order = &self.order;
        let home = self.store.job(self.number);
        let Some((program, arguments)) = order.command.split_first() else { return Err("it has no command".into()) };
        let mut options = File::options();
        let output = options.append(true).create(true).mode(0o600).open(home.join(OUTPUT));
        let mut output = output.map_err(|error| format!("{}: {error}", home.join(OUTPUT).display()))?;
        if attempt > 1 {
            // For whoever reads it.
            let _ = writeln!(output, "-- start {attempt} --");
        }
        let lock = lock.try_clone().map_err(|error| format!("its lock: {error}"))?;
        let errors = output.try_clone().map_err(|error| format!("its output: {error}"))?;
        umask(Mode::from_bits_truncate(order.umask));
        let mut command = Command::new(program);
        command.args(arguments);
        if attempt > 1 {
            command.args(&order.again);
        }
        command.arg(&order.text_option).arg(home.join(LAB));
        command.arg("--parent").arg(std::process::id().to_string());
        command.env_clear().envs(order.environment.iter().cloned()).current_dir(&order.folder).process_group(0);
        command.stdin(Stdio::from(lock)).stdout(output).stderr(errors);
        let shown = format!("{} in {}", Path::new(program).display(), order.folder.display());
        command.spawn().map_err(|error| format!("starting {shown}: {error}"))
    }

    /// Waits for the end of the command; none if this process is to end before, and nobody will know.
    fn watch(&mut self, mut child: Child) -> Option<End> {
        let pid = Pid::from_raw(child.id().cast_signed());
        let (mut was_cancelled, mut was_told, mut at_once) = (false, false, 0);
        loop {
            match child.try_wait() {
                Ok(Some(status)) if was_told && !was_cancelled => {
                    // What came to its verdict before it heard of it has one.
                    return status.code().filter(|code| [0, 1, 5].contains(code)).map(|_| end(status));
                }
                Ok(Some(status)) if was_cancelled => return Some(End::cancelled(code(status))),
                Ok(Some(status)) => return Some(end(status)),
                Ok(None) => {}
                Err(error) => return Some(End::now(None, Some(format!("waiting for its command: {error}")))),
            }
            // The child is not waited for yet, so its number is its own.
            if self.is_told() && !was_told {
                was_told = true;
                let _ = kill(pid, Signal::SIGTERM);
            }
            match self.store.is_cancelled(self.number) {
                // The third one kills the lab; see docs/exit-codes.md.
                Some(true) if at_once < 3 => {
                    (was_cancelled, at_once) = (true, at_once + 1);
                    let _ = kill(pid, Signal::SIGINT);
                }
                Some(false) if !was_cancelled => {
                    was_cancelled = true;
                    let _ = kill(pid, Signal::SIGTERM);
                }
                _ => {}
            }
            std::thread::sleep(TURN);
        }
    }

    fn is_told(&mut self) -> bool {
        let next = || self.signals.as_ref().and_then(Signals::next);
        self.is_told |= std::iter::from_fn(next).count() > 0;
        self.is_told
    }
}

fn code(status: ExitStatus) -> Option<u8> {
    status.code().and_then(|code| u8::try_from(code).ok())
}

fn end(status: ExitStatus) -> End {
    let why = status.signal().map(|signal| format!("it was killed by signal {signal}"));
    End::now(code(status), why)
}

/// What tells one start of the machine from another.
fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
