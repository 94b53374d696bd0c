//! A node's init: process 1 of the node. It has one thread, executes nothing itself, and ends when the lab process
//! goes away, upon which the kernel ends everything else in the node.

mod measuring;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::io::fcntl_dupfd_cloexec;

use super::config::NodeConfig;
use super::fresh::Fresh;
use super::limits::Limits;
use super::outbox::Outbox;
use super::programs::Programs;
use super::protocol::{Event, Program, Reply, Request, receive, send};
use super::watch::{NetworkChange, Watch};
use super::{configure, inspect, program, routes, shut, socket};
use crate::capabilities;
use crate::clone::leave_other_namespaces;
use crate::error::{Attempted, KernelError};
use crate::measure::{MeasureConfig, Measured, TcpState};
use crate::netlink::InterfaceCounters;
use crate::{memory, processors};
use measuring::Measuring;

/// How long killed processes may take to go. Only one that hangs in the kernel takes longer.
pub(crate) const KILLED_WITHIN: Duration = Duration::from_secs(1);

/// Serves the lab process until that is gone. Its sockets are the only open descriptors that the node keeps.
pub(super) fn run(config: &NodeConfig, fresh: &Fresh, control: OwnedFd, events: OwnedFd) -> i32 {
    let Ok([control, events]) = keep_only([control, events]) else { return 1 };
    // Only the name that `ps` shows depends on it.
    let _ = nix::sys::prctl::set_name(c"netloom-node");
    let Ok(signals) = watch_children() else { return 1 };
    let namespaces = leave_other_namespaces().attempted(|| "make the namespaces");
    let stays = || match &config.processors[..] {
        [] => Ok(()),
        some => processors::stay_on(some).attempted(|| format!("stay on the processors {some:?}")),
    };
    let prepared = namespaces.and_then(|()| stays()).and_then(|()| configure::prepare(config, fresh));
    // Of this process, too: whoever controls it has no more than its programs.
    let prepared = prepared.and_then(|notes| capabilities::give_up(&config.capabilities).map(|()| notes));
    let failed = prepared.is_err();
    let reply = prepared.map_or_else(Reply::Refused, |notes| Reply::Prepared { notes });
    if send(&control, &reply, &[]).is_err() || failed {
        return 1;
    }
    Agent::new(config, control, events, signals, None).serve();
    0
}

/// What an agent knows of the container that it has joined.
#[derive(Debug)]
pub(super) struct Joined {
    /// What its programs may be able to do.
    pub(super) limits: Limits,
    /// Readable when the container, or the keeper, has ended.
    pub(super) over: [OwnedFd; 2],
}

/// See the module.
pub(super) struct Agent<'a> {
    config: &'a NodeConfig,
    control: OwnedFd,
    signals: SignalFd,
    outbox: Outbox,
    programs: Programs,
    /// From the moment on when it is settled.
    watch: Option<Watch>,
    /// In a container, beside processes that are not the lab's.
    joined: Option<Joined>,
    measuring: Option<Measuring>,
}

impl<'a> Agent<'a> {
    fn new(
        config: &'a NodeConfig,
        control: OwnedFd,
        events: OwnedFd,
        signals: SignalFd,
        joined: Option<Joined>,
    ) -> Self {
        let (outbox, programs) = (Outbox::new(events), Programs::default());
        Self { config, control, signals, outbox, programs, watch: None, joined, measuring: None }
    }

    /// An agent in a container.
    pub(super) fn joined(
        config: &'a NodeConfig,
        control: OwnedFd,
        events: OwnedFd,
        signals: SignalFd,
        joined: Joined,
    ) -> Self {
        Self::new(config, control, events, signals, Some(joined))
    }

    /// Serves until the lab process is gone, or the container. In a container, programs end with that.
    pub(super) fn serve(mut self) {
        while let Ok(true) = self.turn(PollTimeout::NONE) {}
        if self.joined.is_some() {
            // The keeper ends what this does not.
            let _ = self.stop(Duration::ZERO);
        }
    }

    /// Waits for something to do and does it; false when the lab process is gone.
    fn turn(&mut self, timeout: PollTimeout) -> io::Result<bool> {
        let (asked, ended, over, sampled, changed) = {
            let writable = if self.outbox.is_empty() { PollFlags::empty() } else { PollFlags::POLLOUT };
            let outbox = self.outbox.socket();
            let mut fds = vec![
                PollFd::new(self.control.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
                PollFd::new(outbox.as_fd(), writable),
            ];
            let timers = self.measuring.iter().flat_map(Measuring::fds);
            fds.extend(timers.map(|timer| PollFd::new(timer, PollFlags::POLLIN)));
            let watched_from = fds.len();
            fds.extend(self.watch.iter().flat_map(Watch::fds).map(|socket| PollFd::new(socket, PollFlags::POLLIN)));
            let others_from = fds.len();
            let others = self.joined.iter().flat_map(|joined| &joined.over);
            fds.extend(others.map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
            match poll(&mut fds, timeout) {
                Ok(_) | Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
            let is_ready = |fd: &PollFd<'_>| fd.any().unwrap_or(false);
            let (own, of_the_container) = fds.split_at(others_from);
            let over = of_the_container.iter().any(is_ready);
            let (sampled, changed) =
                (own[3..watched_from].iter().any(is_ready), own[watched_from..].iter().any(is_ready));
            (is_ready(&own[0]), is_ready(&own[1]), over, sampled, changed)
        };
        if over {
            return Ok(false);
        }
        if let Some(measuring) = self.measuring.as_mut().filter(|_| sampled) {
            measuring.take(&self.programs);
        }
        if let Some(watch) = self.watch.as_mut().filter(|_| changed) {
            // What cannot be read now is asked for at the end, which tells why.
            let _ = watch.look(self.config);
        }
        if ended {
            while self.signals.read_signal()?.is_some() {}
            self.reap();
        }
        self.outbox.flush()?;
        if asked { self.answer() } else { Ok(true) }
    }

    fn answer(&mut self) -> io::Result<bool> {
        let Some((request, fds)) = receive(&self.control)? else { return Ok(false) };
        let mut opened = None;
        let reply = match request {
            Request::Configure => done(self.configure()),
            Request::Spawn(program) => self.spawn(&program, fds),
            Request::Signal { process, signal } => done(self.programs.signal(process, signal)),
            Request::SignalAll { signal } => done(self.signal_all(signal)),
            Request::Listening { transport, port } => {
                inspect::listening(transport, port).map_or_else(Reply::Refused, Reply::Yes)
            }
            Request::Exists { path } => Reply::Yes(path.exists()),
            Request::Lacking { prefixes } => routes::lacking(prefixes).map_or_else(Reply::Refused, Reply::Lacking),
            Request::Interfaces => self.interfaces().map_or_else(Reply::Refused, Reply::Interfaces),
            Request::Running => inspect::running(&self.config.interfaces).map_or_else(Reply::Refused, Reply::Running),
            Request::Settle => self.settle().map_or_else(Reply::Refused, Reply::Yes),
            Request::Changes => changes(self.watch.as_mut(), self.config).map_or_else(Reply::Refused, Reply::Changes),
            Request::CpuWait => self.programs.cpu_wait().map_or_else(Reply::Refused, Reply::CpuWait),
            Request::Socket(wanted) => socket::open(&wanted).map_or_else(Reply::Refused, |socket| {
                opened = Some(socket);
                Reply::Socket
            }),
            Request::Measure(config) => done(self.measure(config, fds)),
            Request::EndMeasure => Reply::Measured(self.end_measure()),
            Request::Connections => TcpState::ask().map_or_else(Reply::Refused, Reply::Connections),
            Request::Stop { grace_ms } => done(self.stop(Duration::from_millis(grace_ms))),
            Request::Alone => Reply::Yes(!self.reap()),
            Request::ShutDown => done(self.shut_down()),
            Request::BringUp => done(self.bring_up()),
            Request::Become(_) => {
                Reply::Refused(KernelError::new("become a node", 0).with_detail("this is one already"))
            }
        };
        send(&self.control, &reply, opened.as_ref().map(AsFd::as_fd).as_slice())?;
        Ok(true)
    }

    fn configure(&mut self) -> Result<(), KernelError> {
        if self.joined.is_some() {
            configure::settle_in_container(self.config)?;
        }
        configure::configure(self.config, self.joined.is_none())?;
        // The requests for a thousand routes took memory that the node never needs again.
        memory::give_back();
        Ok(())
    }

    /// What happens to the network from here on is no program's doing.
    fn shut_down(&mut self) -> Result<(), KernelError> {
        self.watch.as_mut().map_or(Ok(()), |watch| watch.pause(self.config))?;
        shut::shut_down(self.config, self.watch.as_ref())
    }

    fn bring_up(&mut self) -> Result<(), KernelError> {
        configure::bring_up(self.config, self.joined.is_none())?;
        self.watch.as_mut().map_or(Ok(()), |watch| watch.resume(self.config))
    }

    /// Whether its addresses can be used; then it watches what happens to its network.
    fn settle(&mut self) -> Result<bool, KernelError> {
        let is_settled = configure::is_settled(self.config)?;
        if is_settled && self.watch.is_none() {
            self.watch = Some(Watch::begin(self.config, self.joined.is_none())?);
        }
        Ok(is_settled)
    }

    /// Counters of all interfaces; in a container, of the lab's.
    fn interfaces(&self) -> Result<Vec<(String, InterfaceCounters)>, KernelError> {
        let described = |index| self.watch.as_ref()?.described(self.config, index);
        let mut all = inspect::interfaces(described)?;
        all.retain(|(name, _)| {
            self.joined.is_none() || self.config.interfaces.iter().any(|interface| interface.name == *name)
        });
        Ok(all)
    }

    fn measure(&mut self, config: MeasureConfig, fds: Vec<OwnedFd>) -> Result<(), KernelError> {
        let file = fds.into_iter().next().map(File::from);
        let file = file.ok_or_else(|| KernelError::new("take samples without a file", libc::EBADF))?;
        self.measuring = Some(Measuring::begin(config, file)?);
        Ok(())
    }

    fn end_measure(&mut self) -> Measured {
        self.measuring.take().map_or_else(|| Measured::nothing(None), Measuring::end)
    }

    fn spawn(&mut self, program: &Program, streams: Vec<OwnedFd>) -> Reply {
        let limits = self.joined.as_ref().map(|joined| joined.limits);
        match program::start(self.config, program, streams, limits) {
            Ok(pid) => Reply::Started(self.programs.add(pid)),
            Err(reply) => reply,
        }
    }

    /// Signals all programs of the node; in a container, those of the lab.
    fn signal_all(&self, signal: i32) -> Result<(), KernelError> {
        if self.joined.is_some() { Programs::signal_descendants(signal) } else { Programs::signal_all(signal) }
    }

    /// Asks every program to end, waits up to `grace`, and ends those that are left.
    fn stop(&mut self, grace: Duration) -> Result<(), KernelError> {
        // A stopped process handles SIGTERM only after SIGCONT.
        for (signals, within) in
            [(&[Signal::SIGTERM, Signal::SIGCONT][..], grace), (&[Signal::SIGKILL][..], KILLED_WITHIN)]
        {
            signals.iter().try_for_each(|signal| self.signal_all(*signal as i32))?;
            if self.all_end(within).attempted(|| "wait for the programs to end")? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn all_end(&mut self, within: Duration) -> io::Result<bool> {
        let end = Instant::now() + within;
        loop {
            if !self.reap() {
                return Ok(true);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            // Rounded up, so that the last wait does not become a busy loop.
            let timeout = PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
            match poll(&mut [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)], timeout) {
                Ok(_) | Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
            while self.signals.read_signal()?.is_some() {}
        }
    }

    /// Reaps every child that has ended, orphans included; whether there are others.
    fn reap(&mut self) -> bool {
        let outbox = &mut self.outbox;
        self.programs.reap(|process, status, cpu| {
            outbox.push(&Event::Exited { process, status, cpu_ns: cpu.ran_ns });
        })
    }
}

/// What programs did to the network of a node since it was configured.
pub(crate) fn changes(watch: Option<&mut Watch>, config: &NodeConfig) -> Result<Vec<NetworkChange>, KernelError> {
    watch.map_or(Ok(Vec::new()), |watch| watch.changes(config))
}

pub(crate) fn done(result: Result<(), KernelError>) -> Reply {
    result.map_or_else(Reply::Refused, |()| Reply::Done)
}

pub(crate) fn watch_children() -> nix::Result<SignalFd> {
    // A node does not inherit the signal handlers and the mask of the lab process. Signals with their default action do
    // nothing to a process 1.
    program::default_signals()?;
    let mask = SigSet::from(Signal::SIGCHLD);
    mask.thread_set_mask()?;
    SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

/// Closes all descriptors but these, and renumbers them from 3 on. A node that kept the lab's socket to its guard
/// would keep the lab from noticing that the guard has died; one that kept the user's terminal or pipe would keep
/// that open.
pub(super) fn keep_only<const N: usize>(fds: [OwnedFd; N]) -> io::Result<[OwnedFd; N]> {
    let null = File::options().read(true).write(true).open("/dev/null")?.into_raw_fd();
    let first = 3 + RawFd::try_from(N).expect("they are few");
    // Copies above the numbers that they are moved to, so that no move closes the source of another.
    let copies = fds.into_iter().map(|fd| above(fd, first)).collect::<io::Result<Vec<_>>>()?;
    for target in 0..=2 {
        place(null, target, 0)?;
    }
    for (target, copy) in (3..).zip(copies) {
        place(copy, target, libc::O_CLOEXEC)?;
    }
    // SAFETY: nothing that owns one of these descriptors is used or dropped in this process any more: it runs only
    // this agent, and ends without unwinding.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) };
    if closed == -1 {
        return Err(io::Error::last_os_error());
    }
    let mut next = 3;
    Ok([(); N].map(|()| {
        next += 1;
        // SAFETY: all have just been made, and nothing else knows them.
        unsafe { OwnedFd::from_raw_fd(next - 1) }
    }))
}

fn above(fd: OwnedFd, lowest: RawFd) -> io::Result<RawFd> {
    Ok(fcntl_dupfd_cloexec(fd, lowest)?.into_raw_fd())
}

fn place(source: libc::c_int, target: libc::c_int, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: no Rust value owns `target` in a way that is used later, see `keep_only`.
    match unsafe { libc::dup3(source, target, flags) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
