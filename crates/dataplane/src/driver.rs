//! The engine's thread: read what arrived, hand over what is due, wait.

use crate::agenda::{Act, Agenda, Appointment, Kept, Task};
use crate::borders::Borders;
use crate::clock::Clock;
use crate::guests::Guests;
use crate::mailbox::{Command, Diary, Mailbox};
use crate::memory::Memory;
use crate::meter::Meters;
use crate::receive::Receiver;
use crate::report::{EngineReport, PortReport, Snapshot, ThreadReport};
use crate::send::Sender;
use crate::taps::Taps;
use crate::wait::{Waiter, sleep};
use netloom_fabric::{Delivery, Ethernet, Fabric, PipeId, PortId};
use netloom_packet::Pool;
use netloom_units::{Duration, Instant};
use std::collections::HashMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration as RealDuration;

/// The priority that the thread asks for; it falls back to the ordinary one.
const NICE: i32 = -20;
/// For how long after a packet a lab is taken to be in use.
const LIVELY: RealDuration = RealDuration::from_secs(2);

/// Of a fabric that is further behind than this, so much is played at a time: lab time.
const PORTION: Duration = Duration::from_millis(10);
/// After so long the driver looks after arrivals and commands again, though the fabric is still behind, in wall time.
const LONGEST_TURN: RealDuration = RealDuration::from_millis(20);

pub(crate) struct Driver {
    pub(crate) clock: Clock,
    pub(crate) waiter: Waiter,
    /// The processor on which the thread stays.
    pub(crate) processor: Option<usize>,
    pub(crate) fabric: Fabric,
    /// None in a lab without: then no packet socket is opened either.
    pub(crate) interfaces: Option<Interfaces>,
    pub(crate) guests: Guests,
    /// None if no packet comes from another shard or goes to one.
    pub(crate) borders: Option<Borders>,
    pub(crate) meters: Meters,
    pub(crate) taps: Taps,
    pub(crate) pool: Pool,
    pub(crate) memory: Memory,
    pub(crate) mailbox: Mailbox,
    pub(crate) priority: bool,
    /// When a packet came from a node last. Our own time, since the epoch.
    pub(crate) last_arrival: RealDuration,
    /// How far the fabric has got, while this machine cannot keep up with it.
    pub(crate) behind: Option<Instant>,
    pub(crate) agenda: Agenda,
    pub(crate) diary: Diary,
    /// Whether an appointment is due, and more may have arrived before it.
    pub(crate) has_unread: bool,
}

/// Both directions of all ports that are interfaces.
pub(crate) struct Interfaces {
    receiver: Receiver,
    sender: Sender,
}

impl Interfaces {
    /// None without ports. `is_divided`: the receiver is deaf until `fanout::divide` has told it what to hear.
    pub(crate) fn open(
        clock: Clock,
        ports: &HashMap<u32, PortId>,
        ethernet: Ethernet,
        is_divided: bool,
    ) -> io::Result<Option<Self>> {
        if ports.is_empty() {
            return Ok(None);
        }
        let receiver = Receiver::open(clock, ports, is_divided)?;
        Ok(Some(Self { receiver, sender: Sender::open(clock, ports, ethernet)? }))
    }

    /// The socket that receives.
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

impl Driver {
    /// Runs until it is told to stop.
    pub(crate) fn run(mut self) -> io::Result<()> {
        self.priority = raise_priority();
        self.processor.map_or(Ok(()), stay_on)?;
        loop {
            while let Some(command) = self.mailbox.next() {
                if !self.obey(command)? {
                    return Ok(());
                }
            }
            if self.pass()? > 0 {
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
        let real = self.clock.real();
        let lively = real.saturating_sub(self.last_arrival) < LIVELY;
        let wake = self.next_event();
        let Some(span) = self.waiter.sleep(wake.map(|wake| self.clock.until(wake, real)), lively) else {
            // Without a margin to spin in, the packet is due now, and warming up would only keep it waiting.
            self.keep_warm(real);
            std::hint::spin_loop();
            return Ok(());
        };
        if self.guests.listen() {
            return Ok(());
        }
        if !self.may_sleep(real, span) {
            return Ok(());
        }
        let ring = self.interfaces.as_ref().map_or(-1, |interfaces| interfaces.receiver.as_raw_fd());
        let undisturbed = sleep(span, [ring, self.mailbox.as_raw_fd(), self.guests.as_raw_fd()])?;
        if let Some(borders) = &mut self.borders {
            borders.set_awake();
        }
        let end = self.clock.real();
        if undisturbed && wake.is_some() {
            self.waiter.learn(end.saturating_sub(real + span));
        }
        if undisturbed && lively {
            self.keep_warm(end);
        }
        if !undisturbed {
            self.guests.attend(end)?;
        }
        Ok(())
    }

    /// When the fabric wants to be called, or something comes from another shard; who waits for something from here is told
    /// when that will come.
    fn next_event(&mut self) -> Option<Instant> {
        let own = self.fabric.next_wake().into_iter().chain(self.agenda.next()).min();
        let Some(borders) = &mut self.borders else { return own };
        let coming = borders.announce(&self.fabric, self.clock.now());
        own.into_iter().chain(coming).min()
    }

    /// Whether nothing has come from another shard in the meantime.
    fn may_sleep(&mut self, real: RealDuration, span: RealDuration) -> bool {
        let Self { borders, clock, .. } = self;
        borders.as_mut().is_none_or(|borders| borders.may_sleep(clock.at(real), clock.at(real + span)))
    }

    fn keep_warm(&mut self, real: RealDuration) {
        if let Some(interfaces) = self.interfaces.as_mut().filter(|_| self.waiter.keeps_warm()) {
            interfaces.sender.keep_warm(real);
        }
    }

    /// One round; returns how many packets arrived.
    fn pass(&mut self) -> io::Result<usize> {
        let mut arrived = 0;
        let mut lively = false;
        let mut has_more = false;
        let appointment = self.agenda.next();
        if let Some(Interfaces { receiver, .. }) = &mut self.interfaces {
            let pass = receiver.pass(&mut self.fabric, &mut self.pool, &mut self.taps, self.behind, appointment);
            arrived += pass.count;
            has_more = pass.has_more;
            lively |= receiver.take_port_arrivals() > 0;
        }
        if !self.guests.is_empty() {
            // Who finds them when an appointment is due takes them for sent before it.
            let reached = self.behind.or(appointment.map(|_| self.agenda.limit(Instant::MAX)));
            let count = self.guests.pass(&mut self.fabric, &mut self.pool, &mut self.taps, reached);
            arrived += count;
            lively |= count > 0;
        }
        if let Some(borders) = &mut self.borders {
            let count = borders.receive(&mut self.fabric, &mut self.meters, &self.clock);
            arrived += count;
            lively |= count > 0;
        }
        let real = self.clock.real();
        if lively {
            self.last_arrival = real;
        }
        self.guests.attend_sometimes(real)?;
        self.go_on(has_more);
        self.memory.watch(real, lively, &mut self.pool);
        self.fabric.recycle(&mut self.pool);
        for (_, tap) in &mut self.taps {
            tap.settle(&mut self.pool);
        }
        if let Some(borders) = &mut self.borders {
            borders.exchange(&mut self.pool);
        }
        Ok(arrived)
    }

    /// Everything happens that is due: packets leave, and appointments are kept between them. `has_more`: more packets may
    /// have arrived before the next appointment, so that it has to wait until they are read.
    fn go_on(&mut self, has_more: bool) {
        let begun = self.clock.real();
        let now = self.clock.now();
        self.has_unread = false;
        loop {
            let end = self.agenda.limit(now);
            self.behind = self.hand_out(end, begun);
            if self.behind.is_some() || end == now {
                break;
            }
            if has_more {
                self.has_unread = true;
                break;
            }
            if let Some(appointment) = self.agenda.take_due(now) {
                self.flush();
                self.keep(appointment);
            }
        }
        let Self { taps, fabric, pool, .. } = self;
        if !taps.is_empty() {
            fabric.show_passes(pool, |pass| {
                taps.iter_mut()
                    .for_each(|(_, tap)| tap.packet(pass.port, pass.way, pass.first, pass.last, &pass.packet));
            });
        }
        self.flush();
    }

    /// Packets that are due until `end` leave the fabric, to whatever kind of port. Returns how far it has got if it gave up
    /// before; `begun`: when this turn began.
    ///
    /// A link can describe more than this machine can compute in time, for example 100 Gbit/s of cross traffic. If all that is
    /// due were played at once, that would take longer than the span that is played, the next turn longer again, and soon
    /// nobody would listen to commands any more. So it is played in portions, and after a while the driver looks around.
    /// What arrives meanwhile arrives when the fabric has got so far: that is late, and the meters see it.
    fn hand_out(&mut self, end: Instant, begun: RealDuration) -> Option<Instant> {
        let Self { fabric, interfaces, guests, borders, meters, taps, pool, clock, .. } = self;
        loop {
            let portion = fabric.next_wake().map_or(end, |wake| end.min(wake + PORTION));
            match borders {
                None => fabric.advance(portion, |delivery| leave(delivery, taps, interfaces, guests, meters, pool)),
                // Whoever takes it in beyond the border shows it to the taps.
                Some(borders) => fabric.advance(portion, |delivery| {
                    if borders.lead_away(&delivery) {
                        borders.give(delivery, meters, pool);
                    } else {
                        leave(delivery, taps, interfaces, guests, meters, pool);
                    }
                }),
            }
            if portion == end {
                return None;
            }
            if clock.real().saturating_sub(begun) > LONGEST_TURN {
                return Some(portion);
            }
        }
    }

    /// What has left the fabric goes to where it leads.
    fn flush(&mut self) {
        let Self { interfaces, guests, borders, meters, pool, .. } = self;
        if let Some(Interfaces { sender, .. }) = interfaces {
            sender.flush(meters, pool);
        }
        guests.flush(meters, pool);
        if let Some(borders) = borders {
            borders.wake_others();
        }
    }

    /// Does what was to be done at this instant, until which everything has happened.
    fn keep(&mut self, Appointment { number, at, task }: Appointment) {
        let late = self.clock.now().since(at);
        let mut snapshot = None;
        match task {
            Task::Acts(acts) => {
                for (pipe, act) in acts {
                    self.act(at, pipe, &act);
                }
            }
            Task::ResetMeters => self.meters.reset(),
            Task::Measure => snapshot = Some(self.snapshot(at)),
        }
        self.diary.note(Kept { number, late, snapshot });
    }

    fn act(&mut self, now: Instant, pipe: PipeId, act: &Act) {
        match act {
            Act::Change(change) => self.fabric.change(now, pipe, change),
            Act::SetUp(up) => self.fabric.set_up(now, pipe, *up),
            Act::Unplug => self.fabric.unplug(now, pipe),
        }
    }

    /// Carries out a command; false ends the thread.
    fn obey(&mut self, command: Command) -> io::Result<bool> {
        // What was due before a change leaves as it was before the change. Who is behind has not got to the change yet, and
        // lets nobody wait for it.
        if self.behind.is_none() {
            self.pass()?;
            while self.has_unread {
                self.pass()?;
            }
        }
        let now = self.behind.unwrap_or_else(|| self.agenda.limit(self.clock.now()));
        match command {
            Command::Change(pipe, change) => self.fabric.change(now, pipe, &change),
            Command::SetUp(pipe, up) => self.fabric.set_up(now, pipe, up),
            Command::Plan(appointments) => self.agenda.add(appointments),
            Command::AddTap(id, tap) => {
                self.taps.push((id, tap));
                self.fabric.watch_routers(true);
            }
            Command::RemoveTap(id) => {
                self.taps.retain(|(other, _)| *other != id);
                self.fabric.watch_routers(!self.taps.is_empty());
            }
            Command::Counters(reply) => {
                // Whoever asked may have gone; then nobody misses the answer.
                let _ = reply.send((now, self.fabric.counters().copied().collect()));
            }
            Command::Snapshot(reply) => {
                let _ = reply.send(self.snapshot(self.clock.now()));
            }
            Command::Stop(reply) => {
                let _ = reply.send(self.snapshot(self.clock.now()));
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn snapshot(&mut self, at: Instant) -> Snapshot {
        let engine = self.report();
        let routers = self.fabric.router_counters().copied().collect();
        Snapshot { at, pipes: self.meters.reports(self.fabric.counters()), routers, engine }
    }

    fn report(&mut self) -> EngineReport {
        let (cpu_time, run_queue_wait) = scheduling();
        let mut report = EngineReport {
            ports: self.guests.reports().collect(),
            behind: self.behind.map_or(Duration::ZERO, |reached| self.clock.now().since(reached)),
            was_out_of_memory: self.memory.was_full(),
            unheard: self.guests.unheard,
            ended_ports: self.guests.ended(),
            threads: vec![ThreadReport { cpu_time, run_queue_wait }],
            priority: self.priority,
            margin: Duration::from_nanos(u64::try_from(self.waiter.margin().as_nanos()).unwrap_or(u64::MAX)),
            ..EngineReport::default()
        };
        if let Some(Interfaces { receiver, sender }) = &mut self.interfaces {
            receiver.count_drops();
            report.lost_receiving = receiver.overflowed;
            let lost_sending = |port: PortReport| PortReport { lost_sending: sender.refused(port.port), ..port };
            report.ports.extend(receiver.reports().map(lost_sending));
            report.unheard += sender.unheard;
            report.last_send_error = sender.last_error.as_ref().map(io::Error::to_string);
        }
        report.ports.extend(self.borders.iter().flat_map(Borders::reports));
        report.lost_receiving += report.ports.iter().map(|port| port.lost_receiving).sum::<u64>();
        report.lost_sending = report.ports.iter().map(|port| port.lost_sending).sum();
        report
    }
}

/// A packet leaves the fabric.
#[inline]
fn leave(
    delivery: Delivery,
    taps: &mut Taps,
    interfaces: &mut Option<Interfaces>,
    guests: &mut Guests,
    meters: &mut Meters,
    pool: &mut Pool,
) {
    for (_, tap) in taps {
        tap.leaves(&delivery);
    }
    match (guests.place(delivery.port), interfaces) {
        (Some(place), _) => guests.push(place, delivery, meters, pool),
        (None, Some(Interfaces { sender, .. })) => sender.push(delivery, meters, pool),
        // A port of the fabric to which nothing was joined.
        (None, None) => pool.recycle(delivery.departure.packet),
    }
}

/// Asks for timers without slack and for the highest ordinary priority; says whether the priority was granted.
pub(crate) fn raise_priority() -> bool {
    // SAFETY: prctl() with these arguments and setpriority() take no pointers. Slack of one nanosecond is always granted.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::setpriority(libc::PRIO_PROCESS, 0, NICE) == 0
    }
}

/// Keeps this thread on a processor.
pub(crate) fn stay_on(processor: usize) -> io::Result<()> {
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
