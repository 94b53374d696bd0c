//! The engine's thread: read what arrived, hand over what is due, wait.

use crate::clock::Clock;
use crate::engine::{Command, Mailbox, TapId};
use crate::meter::Meters;
use crate::receive::Receiver;
use crate::report::{EngineReport, PipeReport, Snapshot};
use crate::send::Sender;
use crate::wait::{Waiter, sleep};
use netloom_fabric::{Fabric, Tap};
use netloom_packet::Pool;
use netloom_units::{Duration, Instant};
use std::io;

/// The priority that the thread asks for; it falls back to the ordinary one.
const NICE: i32 = -20;
/// For how long after a packet a lab is taken to be in use.
const LIVELY: Duration = Duration::from_secs(2);

/// Those who are shown all packets.
pub(crate) type Taps = Vec<(TapId, Box<dyn Tap + Send>)>;

pub(crate) struct Driver {
    pub(crate) clock: Clock,
    pub(crate) waiter: Waiter,
    /// The processor on which the thread stays.
    pub(crate) processor: Option<usize>,
    pub(crate) fabric: Fabric,
    pub(crate) receiver: Receiver,
    pub(crate) sender: Sender,
    pub(crate) meters: Meters,
    pub(crate) taps: Taps,
    pub(crate) pool: Pool,
    pub(crate) mailbox: Mailbox,
    pub(crate) priority: bool,
    /// When a packet came from a node last.
    pub(crate) last_arrival: Instant,
}

impl Driver {
    /// Runs until it is told to stop.
    pub(crate) fn run(mut self) -> io::Result<()> {
        self.priority = raise_priority();
        self.processor.map_or(Ok(()), stay_on)?;
        loop {
            while let Some(command) = self.mailbox.next() {
                if !self.obey(command) {
                    return Ok(());
                }
            }
            if self.pass() > 0 {
                continue;
            }
            self.wait()?;
        }
    }

    /// Sleeps until shortly before the next event, or returns at once to look again.
    ///
    /// While there was a packet lately, the sleeps are short, and the path is kept warm in between: the next lone packet
    /// then finds an engine that is awake soon. That takes some 0.4 % of a processor, and an idle lab nothing.
    fn wait(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        let lively = now.since(self.last_arrival) < LIVELY;
        let Some(span) = self.waiter.sleep(now, self.fabric.next_wake(), lively) else {
            // Without a margin to spin in, the packet is due now, and warming up would only keep it waiting.
            if self.waiter.keeps_warm() {
                self.sender.keep_warm(now);
            }
            std::hint::spin_loop();
            return Ok(());
        };
        let undisturbed = sleep(span, [self.receiver.as_raw_fd(), self.mailbox.as_raw_fd()])?;
        if undisturbed && self.fabric.next_wake().is_some() {
            self.waiter.learn(now + span, self.clock.now());
        }
        if undisturbed && lively && self.waiter.keeps_warm() {
            self.sender.keep_warm(self.clock.now());
        }
        Ok(())
    }

    /// One round; returns how many packets arrived.
    fn pass(&mut self) -> usize {
        let arrived = self.receiver.pass(&mut self.fabric, &mut self.pool, &mut self.taps);
        if self.receiver.take_port_arrivals() > 0 {
            self.last_arrival = self.clock.now();
        }
        let Self { fabric, sender, meters, taps, pool, .. } = self;
        fabric.advance(self.clock.now(), |handout| {
            for (_, tap) in taps.iter_mut() {
                tap.leaves(&handout);
            }
            sender.push(handout, meters, pool);
        });
        sender.flush(meters, pool);
        fabric.recycle(pool);
        for (_, tap) in taps {
            tap.settle(pool);
        }
        arrived
    }

    /// Carries out a command; false ends the thread.
    fn obey(&mut self, command: Command) -> bool {
        // What was due before a change leaves as it was before the change.
        self.pass();
        let now = self.clock.now();
        match command {
            Command::Change(pipe, change) => self.fabric.change(now, pipe, &change),
            Command::SetUp(pipe, up) => self.fabric.set_up(now, pipe, up),
            Command::ResetMeters => self.meters.reset(),
            Command::AddTap(id, tap) => self.taps.push((id, tap)),
            Command::RemoveTap(id) => self.taps.retain(|(other, _)| *other != id),
            Command::Counters(reply) => {
                // Whoever asked may have gone; then nobody misses the answer.
                let _ = reply.send((now, self.fabric.counters().copied().collect()));
            }
            Command::Snapshot(reply) => {
                let _ = reply.send(self.snapshot());
            }
            Command::Stop(reply) => {
                let _ = reply.send(self.snapshot());
                return false;
            }
        }
        true
    }

    fn snapshot(&mut self) -> Snapshot {
        self.receiver.count_drops();
        let pipes = self.fabric.counters().zip(self.meters.iter()).map(|(counters, meter)| PipeReport {
            counters: *counters,
            lateness: meter.lateness.clone(),
            delay: meter.delay.clone(),
            busy_described: meter.busy_described,
            busy_measured: meter.busy_measured,
        });
        let (cpu_time, run_queue_wait) = scheduling();
        Snapshot {
            at: self.clock.now(),
            pipes: pipes.collect(),
            engine: EngineReport {
                lost_receiving: self.receiver.lost,
                lost_sending: self.sender.refused,
                last_send_error: self.sender.last_error.as_ref().map(io::Error::to_string),
                cpu_time,
                run_queue_wait,
                priority: self.priority,
                margin: self.waiter.margin(),
            },
        }
    }
}

/// Asks for timers without slack and for the highest ordinary priority; says whether the priority was granted.
fn raise_priority() -> bool {
    // SAFETY: prctl() with these arguments and setpriority() take no pointers. Slack of one nanosecond is always granted.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::setpriority(libc::PRIO_PROCESS, 0, NICE) == 0
    }
}

/// Keeps this thread on a processor.
fn stay_on(processor: usize) -> io::Result<()> {
    // SAFETY: a set of processors is plain bits, the call reads as many bytes of it as it is told, and CPU_SET() writes
    // within it: the number is of a processor that exists.
    let done = unsafe {
        let mut only: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut only);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const only)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// This thread's processor time, and how long it waited for a processor (Linux, sched-stats.rst: first two fields).
fn scheduling() -> (Duration, Option<Duration>) {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let mut fields = text.split_ascii_whitespace().map(|field| field.parse().ok().map(Duration::from_nanos));
    let cpu_time = fields.next().flatten().unwrap_or(Duration::ZERO);
    (cpu_time, fields.next().flatten())
}
