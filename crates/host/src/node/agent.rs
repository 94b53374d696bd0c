//! A node's init: process 1 of the node. It has one thread, executes nothing itself, and ends when the lab process
//! goes away, upon which the kernel ends everything else in the node.

mod measuring;

use std::borrow::Cow;
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
use super::dispatch::{self, Place, State, Streams, done};
use super::fresh::Fresh;
use super::limits::Limits;
use super::outbox::Outbox;
use super::packets::{Event, receive, send};
use super::protocol::{Identity, Program, Reply};
use super::socket::SocketConfig;
use super::watch::Watch;
use super::{configure, program, socket};
use crate::capabilities;
use crate::clone::leave_other_namespaces;
use crate::error::{Attempted, KernelError};
use crate::measure::{MeasureConfig, Measured};
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
    let state = State::new(Place::Namespaces, Cow::Borrowed(config));
    Agent::new(state, control, events, signals, None).serve();
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
    state: State<'a>,
    control: OwnedFd,
    signals: SignalFd,
    outbox: Outbox,
    /// In a container: readable when that, or the keeper, has ended.
    over: Option<[OwnedFd; 2]>,
    measuring: Option<Measuring>,
    /// The socket that goes out with the next answer.
    opened: Option<OwnedFd>,
}

impl<'a> Agent<'a> {
    fn new(state: State<'a>, control: OwnedFd, events: OwnedFd, signals: SignalFd, over: Option<[OwnedFd; 2]>) -> Self {
        Self { state, control, signals, outbox: Outbox::new(events), over, measuring: None, opened: None }
    }

    /// An agent in a container.
    pub(super) fn joined(
        config: &'a NodeConfig,
        control: OwnedFd,
        events: OwnedFd,
        signals: SignalFd,
        joined: Joined,
    ) -> Self {
        let state = State::new(Place::Container(joined.limits), Cow::Borrowed(config));
        Self::new(state, control, events, signals, Some(joined.over))
    }

    /// Serves until the lab process is gone, or the container. In a container, programs end with that.
    pub(super) fn serve(mut self) {
        while let Ok(true) = self.turn(PollTimeout::NONE) {}
        if self.over.is_some() {
            // The keeper ends what this does not.
            let _ = self.end_programs(Duration::ZERO);
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
            let watched = self.state.watch.iter().flat_map(Watch::fds);
            fds.extend(watched.map(|socket| PollFd::new(socket, PollFlags::POLLIN)));
            let others_from = fds.len();
            fds.extend(self.over.iter().flatten().map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
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
            measuring.take(&self.state.programs);
        }
        if let Some(watch) = self.state.watch.as_mut().filter(|_| changed) {
            // What cannot be read now is asked for at the end, which tells why.
            let _ = watch.look(&self.state.config);
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
        let reply = dispatch::answer(self, request, fds)?;
        let opened = self.opened.take();
        if let Some(reply) = reply {
            send(&self.control, &reply, opened.as_ref().map(AsFd::as_fd).as_slice())?;
        }
        Ok(true)
    }

    /// Asks every program to end, waits up to `grace`, and ends those that are left.
    fn end_programs(&mut self, grace: Duration) -> Result<(), KernelError> {
        // A stopped process handles SIGTERM only after SIGCONT.
        for (signals, within) in
            [(&[Signal::SIGTERM, Signal::SIGCONT][..], grace), (&[Signal::SIGKILL][..], KILLED_WITHIN)]
        {
            signals.iter().try_for_each(|signal| self.state.signal_all(*signal as i32))?;
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
        self.state.programs.reap(|process, status, cpu| {
            outbox.push(&Event::Exited { process, status, cpu_ns: cpu.ran_ns });
        })
    }
}

impl<'a> dispatch::Agent<'a> for Agent<'a> {
    fn state(&mut self) -> &mut State<'a> {
        &mut self.state
    }

    fn become_node(&mut self, _identity: Identity) -> Reply {
        Reply::Refused(KernelError::new("become a node", 0).with_detail("this is one already"))
    }

    fn configure(&mut self) -> Result<(), KernelError> {
        if let Place::Container(_) = self.state.place {
            configure::settle_in_container(&self.state.config)?;
        }
        configure::configure(&self.state.config, self.state.is_made())?;
        // The requests for a thousand routes took memory that the node never needs again.
        memory::give_back();
        Ok(())
    }

    fn spawn(&mut self, program: Program, streams: Streams) -> Reply {
        self.state.start(&program, streams.passed)
    }

    fn open_socket(&mut self, wanted: &SocketConfig) -> Result<(), KernelError> {
        self.opened = Some(socket::open(wanted)?);
        Ok(())
    }

    fn measure(&mut self, config: MeasureConfig, file: Option<OwnedFd>) -> Result<(), KernelError> {
        let file = file.ok_or_else(|| KernelError::new("take samples without a file", libc::EBADF))?;
        self.measuring = Some(Measuring::begin(config, File::from(file))?);
        Ok(())
    }

    fn end_measure(&mut self) -> io::Result<Measured> {
        Ok(self.measuring.take().map_or_else(|| Measured::nothing(None), Measuring::end))
    }

    fn stop(&mut self, grace: Duration) -> Option<Reply> {
        Some(done(self.end_programs(grace)))
    }

    fn reap_all(&mut self) -> io::Result<bool> {
        Ok(self.reap())
    }
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
