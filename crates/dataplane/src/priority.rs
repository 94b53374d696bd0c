//! How far the engine's threads come before other programs: as far as this machine allows, without starving it.
//!
//! A nice value counts only within a session where the kernel divides processors by sessions first
//! (`kernel.sched_autogroup_enabled`), and each program of a lab has a session of its own. So a thread asks for the lowest
//! priority of the real-time policy `SCHED_FIFO` (sched(7)): it then runs as soon as it has something to do. What it starts
//! does not inherit the policy (`SCHED_RESET_ON_FORK`). The thread watches what it takes, and gives the policy up for a while
//! before the kernel would stop it for having taken too much (`kernel.sched_rt_runtime_us`). Mostly it took it by spinning. So if
//! it has to wait for its processor then, it takes the policy again, and is to spin less.

use netloom_figures::Policy;
use netloom_units::Duration;
use rustix::process::{Resource, getrlimit, setpriority_process};
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};
use std::num::NonZeroU64;
use std::time::Duration as RealDuration;

/// The nice value that a thread asks for.
const NICE: i32 = -20;
/// The lowest real-time priority is before all ordinary programs, and behind everything that has one on purpose.
const PRIORITY: i32 = 1;
/// A thread watches its share of a processor in stretches so long. Nobody else stands still for longer on its processor.
const STRETCH: RealDuration = RealDuration::from_millis(100);
/// The part of a stretch that a thread takes with a real-time priority at most, as a fraction of what the kernel lets all
/// threads of a processor take (950 of 1000 ms, unless it was changed).
const PART: f64 = 0.8;
/// How often a thread looks at what it has taken: the look is a system call.
const LOOK: RealDuration = RealDuration::from_millis(5);
/// A thread that waited for its processor so long between two looks shares it with a program that computes.
const CROWDED: RealDuration = RealDuration::from_micros(500);
/// How long it then spins less.
const RESTRAINED: RealDuration = RealDuration::from_secs(5);

/// The priority of the calling thread over other programs. It belongs to that thread.
#[derive(Debug)]
pub(crate) struct ThreadPriority {
    policy: Policy,
    budget: Budget,
    crowd: Crowd,
}

impl ThreadPriority {
    /// Asks for timers without slack, for the nice value and for the real-time policy. `real`: wall time.
    pub(crate) fn ask(real: RealDuration) -> Self {
        // Slack of one nanosecond is always granted.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let allowed = least_nice();
        let is_nice =
            setpriority_process(None, NICE).is_ok() || (allowed < 0 && setpriority_process(None, allowed).is_ok());
        let limit = realtime_limit().filter(|_| may_spin()).filter(|_| set_realtime(true));
        let policy = match limit {
            Some(_) => Policy::RealTime,
            None if is_nice => Policy::Nice,
            None => Policy::Ordinary,
        };
        let budget = Budget::new(limit.unwrap_or_default(), real, processor_time());
        Self { policy, budget, crowd: Crowd::default() }
    }

    /// The best that the thread got.
    pub(crate) fn policy(&self) -> Policy {
        self.policy
    }

    /// How long it has done without its real-time priority, since it needed too much of its processor.
    pub(crate) fn gave_way(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.budget.gave_way.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Whether the thread should spin less, since it would lose its priority for that, and others want its processor.
    pub(crate) fn is_crowded(&self, real: RealDuration) -> bool {
        self.policy == Policy::RealTime && real < self.crowd.until
    }

    /// Gives the real-time priority up, or takes it again. To be called again and again.
    pub(crate) fn watch(&mut self, real: RealDuration) {
        if self.policy == Policy::RealTime && self.budget.is_due(real) {
            let before = self.budget.is_over;
            let taken = processor_time();
            self.budget.look(real, taken);
            if (before || self.budget.is_over) && self.crowd.is_found(real, run_queue_wait()) {
                self.budget.begin_anew(real, taken);
            }
            if self.budget.is_over != before && !set_realtime(!self.budget.is_over) {
                // It may not be taken back any more.
                self.policy = Policy::Nice;
            }
        }
    }
}

/// What a thread may take of its processor in each stretch with a real-time priority. Wall time.
#[derive(Debug)]
struct Budget {
    limit: RealDuration,
    /// When the present stretch began, and what the thread had taken then.
    began: RealDuration,
    taken: RealDuration,
    looked: RealDuration,
    /// Whether the priority is given up.
    is_over: bool,
    gave_way: RealDuration,
}

impl Budget {
    fn new(limit: RealDuration, real: RealDuration, taken: RealDuration) -> Self {
        Self { limit, began: real, taken, looked: real, is_over: false, gave_way: RealDuration::ZERO }
    }

    fn is_due(&self, real: RealDuration) -> bool {
        real.saturating_sub(self.looked) >= LOOK
    }

    /// A stretch begins now, with the priority.
    fn begin_anew(&mut self, real: RealDuration, taken: RealDuration) {
        (self.began, self.taken, self.is_over) = (real, taken, false);
    }

    /// The thread has taken so much of a processor until now. A stretch in which it took too much ends without the priority;
    /// so does the next one, unless it takes less than that.
    fn look(&mut self, real: RealDuration, taken: RealDuration) {
        if self.is_over {
            self.gave_way += real.saturating_sub(self.looked);
        }
        self.looked = real;
        let span = real.saturating_sub(self.began);
        // A thread that was not looked at for long may take as much as in several stretches.
        let limit = self.limit.mul_f64((span.as_secs_f64() / STRETCH.as_secs_f64()).max(1.0));
        let is_too_much = taken.saturating_sub(self.taken) > limit;
        if span >= STRETCH {
            self.is_over = is_too_much;
            (self.began, self.taken) = (real, taken);
        } else {
            self.is_over |= is_too_much;
        }
    }
}

/// Other programs on the processor of a thread that has given its priority up.
#[derive(Debug, Default)]
struct Crowd {
    /// How long the thread had waited for its processor at the latest look, and when that was.
    looked: Option<(RealDuration, RealDuration)>,
    /// Until when it is to spin less.
    until: RealDuration,
}

impl Crowd {
    /// Whether the thread has waited for long since the latest look, if that was lately. `waited`: how long it did in all its life;
    /// none where the kernel does not report it.
    fn is_found(&mut self, real: RealDuration, waited: Option<RealDuration>) -> bool {
        let before = std::mem::replace(&mut self.looked, waited.map(|all| (real, all)));
        let Some(((at, earlier), now)) = before.zip(waited) else { return false };
        let is_found = real.saturating_sub(at) < STRETCH && now.saturating_sub(earlier) > CROWDED;
        if is_found {
            (self.until, self.looked) = (real + RESTRAINED, None);
        }
        is_found
    }
}

/// The lowest nice value that this process may have (`RLIMIT_NICE`, getrlimit(2)).
fn least_nice() -> i32 {
    let limit = getrlimit(Resource::Nice).current.unwrap_or(40).min(40);
    20 - i32::try_from(limit).unwrap_or(0)
}

/// What of a stretch a thread may take; none where the kernel lets threads with a real-time priority run not at all.
fn realtime_limit() -> Option<RealDuration> {
    let read =
        |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse::<i64>().ok();
    limit_of(read("sched_rt_runtime_us"), read("sched_rt_period_us"))
}

fn limit_of(runtime_us: Option<i64>, period_us: Option<i64>) -> Option<RealDuration> {
    let (runtime, period) = (runtime_us.unwrap_or(950_000), period_us.unwrap_or(1_000_000).max(1));
    let share = if runtime < 0 { 1.0 } else { (runtime as f64 / period as f64).min(1.0) };
    (runtime != 0).then(|| STRETCH.mul_f64(share * PART))
}

/// Whether a thread with a real-time priority may run for long without a system call that waits: where that is limited
/// (`RLIMIT_RTTIME`), the kernel ends the process.
fn may_spin() -> bool {
    getrlimit(Resource::Rttime).current.is_none()
}

/// Takes the real-time policy, or the ordinary one with the nice value of before; says whether it was granted.
fn set_realtime(is_wanted: bool) -> bool {
    let (policy, sched_priority) = if is_wanted { (libc::SCHED_FIFO, PRIORITY) } else { (libc::SCHED_OTHER, 0) };
    let parameters = libc::sched_param { sched_priority };
    // SAFETY: the parameters live through the call; 0 stands for the calling thread.
    unsafe { libc::sched_setscheduler(0, policy | libc::SCHED_RESET_ON_FORK, &raw const parameters) == 0 }
}

/// How long the calling thread was ready to run and had no processor; none where the kernel does not report it.
pub(crate) fn run_queue_wait() -> Option<RealDuration> {
    // Linux, sched-stats.rst: processor time, wait, and number of time slices.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(RealDuration::from_nanos)
}

/// What the calling thread has taken of processors.
pub(crate) fn processor_time() -> RealDuration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    RealDuration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> RealDuration {
        RealDuration::from_millis(milliseconds)
    }

    /// Looks every 5 ms until `end` at a thread that takes this share of the time, and has `taken` so much so far.
    fn takes(budget: &mut Budget, taken: &mut RealDuration, end: u64, percent: u32) {
        while budget.looked < ms(end) {
            *taken += LOOK * percent / 100;
            budget.look(budget.looked + LOOK, *taken);
        }
    }

    #[test]
    fn a_thread_that_always_computes_gives_way_before_the_kernel_stops_it() {
        let mut budget = Budget::new(limit_of(Some(950_000), Some(1_000_000)).unwrap(), ms(0), ms(0));
        let mut taken = ms(0);
        takes(&mut budget, &mut taken, 75, 100);
        assert!(!budget.is_over);
        takes(&mut budget, &mut taken, 100, 100);
        assert!(budget.is_over, "76 ms of 100 are the most");
        takes(&mut budget, &mut taken, 1_000, 100);
        assert!(budget.is_over && budget.gave_way > ms(900), "{budget:?}");
    }

    #[test]
    fn a_thread_that_takes_less_again_gets_its_priority_back() {
        let mut budget = Budget::new(ms(76), ms(0), ms(0));
        let mut taken = ms(0);
        takes(&mut budget, &mut taken, 200, 100);
        assert!(budget.is_over);
        takes(&mut budget, &mut taken, 300, 50);
        assert!(!budget.is_over);
        takes(&mut budget, &mut taken, 5_000, 70);
        assert!(!budget.is_over && budget.gave_way < ms(250), "{budget:?}");
    }

    #[test]
    fn a_long_sleep_does_not_make_up_for_nor_add_to_what_is_taken() {
        let mut budget = Budget::new(ms(76), ms(0), ms(0));
        budget.look(ms(10_000), ms(70));
        assert!(!budget.is_over);
        budget.look(ms(10_090), ms(70 + 90));
        assert!(budget.is_over);
    }

    #[test]
    fn a_thread_that_waits_without_its_priority_takes_it_again_and_spins_less() {
        let mut crowd = Crowd::default();
        let us = RealDuration::from_micros;
        assert!(!crowd.is_found(ms(100), Some(us(70))), "nothing to compare with");
        assert!(!crowd.is_found(ms(105), Some(us(470))));
        assert!(!crowd.is_found(ms(110), None) && !crowd.is_found(ms(115), Some(us(5_000))));
        assert!(crowd.is_found(ms(120), Some(us(5_600))));
        assert_eq!(crowd.until, ms(120) + RESTRAINED);
        // What it waited for in between, with its priority, is no matter.
        assert!(!crowd.is_found(ms(6_000), Some(us(9_000))));
        assert!(!crowd.is_found(ms(7_000), Some(us(20_000))), "too long ago");
        let mut budget = Budget::new(ms(76), ms(0), ms(0));
        takes(&mut budget, &mut ms(0), 90, 100);
        assert!(budget.is_over);
        budget.begin_anew(ms(90), ms(90));
        budget.look(ms(95), ms(95));
        assert!(!budget.is_over);
    }

    #[test]
    fn the_kernels_limit_is_kept() {
        assert_eq!(limit_of(Some(950_000), Some(1_000_000)), Some(ms(76)));
        assert_eq!(limit_of(None, None), Some(ms(76)));
        assert_eq!(limit_of(Some(-1), Some(1_000_000)), Some(ms(80)));
        assert_eq!(limit_of(Some(0), Some(1_000_000)), None);
        assert_eq!(limit_of(Some(100_000), Some(1_000_000)), Some(ms(8)));
    }

    #[test]
    fn what_a_thread_starts_has_no_such_priority() {
        let started = std::thread::spawn(|| {
            let thread_priority = ThreadPriority::ask(RealDuration::ZERO);
            // SAFETY: 0 stands for the calling thread.
            let own = unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK;
            let inherited = std::process::Command::new("cat").arg("/proc/self/stat").output().expect("cat runs");
            (thread_priority.policy(), own, String::from_utf8_lossy(&inherited.stdout).into_owned())
        });
        let (policy, own, stat) = started.join().expect("it does not panic");
        assert_eq!(policy == Policy::RealTime, own == libc::SCHED_FIFO);
        // Field 41 of proc_pid_stat(5), the policy: that of ordinary programs. The second field ends with a parenthesis.
        let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_ascii_whitespace().collect();
        assert_eq!(fields[38], "0", "{stat}");
    }
}
