//! The thread between the lab process and the control devices of kernels in real and dilated time: frames of a device
//! are packets of a socket, and the other way round. Nothing is lost: what finds no room waits. It asks kernels for heartbeats,
//! too.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use netloom_host::guest::frames::LONGEST_FROM_GUEST;
use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_vhost::{Event, Listener, Poller, Port, Sent};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};

use super::heartbeat::{self, Heartbeat, Pulse};

/// Frames that one pass takes from a device at most.
const BATCH: usize = 64;

/// Frames that wait for a kernel at most before no more are taken from the lab process, which then waits.
const BACKLOG: usize = 64;

/// The thread. Dropping it ends it.
#[derive(Debug)]
pub struct Pump {
    doorbell: Arc<EventFd>,
    shared: Arc<Mutex<Shared>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and its owner share.
#[derive(Debug)]
struct Shared {
    is_over: bool,
    /// How often kernels are asked for a heartbeat; none before anybody wants to know.
    interval: Option<Duration>,
    /// How long the thread has waited for a processor, when it looked last.
    waited: Duration,
    heartbeats: Vec<Heartbeat>,
    /// Which kernels stand still by request: they are not asked.
    resting: Vec<bool>,
    /// The devices of kernels that boot again, by their places, and their ends of new sockets.
    again: Vec<(usize, OwnedFd)>,
}

/// Joins kernels that boot again to the lab process.
#[derive(Clone, Debug)]
pub struct Rejoiner {
    doorbell: Arc<EventFd>,
    shared: Arc<Mutex<Shared>>,
}

impl Rejoiner {
    /// Another kernel is to connect where the one of this place among the listeners has been. Returns the lab's end for it.
    ///
    /// # Errors
    /// The machine's refusal of sockets.
    pub fn rejoin(&self, place: usize) -> io::Result<OwnedFd> {
        let (ours, theirs) = pair()?;
        lock(&self.shared).again.push((place, theirs));
        self.doorbell.write(1)?;
        Ok(ours)
    }
}

/// A lab's end and a device's.
fn pair() -> nix::Result<(OwnedFd, OwnedFd)> {
    socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
}

impl Pump {
    /// Serves the control devices of kernels that are to connect to these listeners. Returns the lab's ends, in the
    /// same order, for [`SocketChannel`](super::SocketChannel)s.
    ///
    /// # Errors
    /// The machine's refusal of sockets or the thread.
    pub fn start(listeners: Vec<Listener>) -> io::Result<(Self, Vec<OwnedFd>)> {
        let doorbell = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?);
        let poller = Poller::new()?;
        let mut lab_ends = Vec::new();
        let mut devices = Vec::new();
        for (token, listener) in (0..).zip(listeners) {
            let (ours, theirs) = pair()?;
            lab_ends.push(ours);
            devices.push(Device {
                port: Port::new(listener, &poller, token)?,
                socket: Some(theirs),
                to_guest: VecDeque::new(),
                to_lab: VecDeque::new(),
                buffer: vec![0; LONGEST_FROM_GUEST],
            });
        }
        let heartbeats = vec![Heartbeat::default(); devices.len()];
        let resting = vec![false; devices.len()];
        let (interval, waited, again) = (None, Duration::ZERO, Vec::new());
        let shared = Shared { is_over: false, interval, waited, heartbeats, resting, again };
        let shared = Arc::new(Mutex::new(shared));
        let (own, told) = (Arc::clone(&doorbell), Arc::clone(&shared));
        let worker = Worker { doorbell: own, shared: told, poller, devices, pool: Pool::new(0, 0), next_beat: None };
        let thread = std::thread::Builder::new().name("netloom-agents".into()).spawn(move || worker.run())?;
        Ok((Self { doorbell, shared, thread: Some(thread) }, lab_ends))
    }

    /// Returns what joins kernels that boot again.
    pub fn rejoiner(&self) -> Rejoiner {
        Rejoiner { doorbell: Arc::clone(&self.doorbell), shared: Arc::clone(&self.shared) }
    }

    /// Asks all kernels for heartbeats from now on, so often, and forgets what is known of them.
    pub fn listen_to_heartbeats(&self, interval: Duration) {
        let mut shared = lock(&self.shared);
        shared.interval = Some(interval);
        shared.heartbeats.fill(Heartbeat::default());
        drop(shared);
        // A counter that is full has rung already.
        let _ = self.doorbell.write(1);
    }

    /// The kernel of this place among the listeners stands still by request, or goes on: that is no standstill of the machine's.
    pub fn let_rest(&self, place: usize, rests: bool) {
        let mut shared = lock(&self.shared);
        shared.resting[place] = rests;
        shared.heartbeats[place].end();
    }

    /// Returns the results of each kernel's heartbeats since [`Pump::listen_to_heartbeats`], in the order of kernels.
    pub fn pulses(&self) -> Vec<Pulse> {
        let (now, shared) = (Instant::now(), lock(&self.shared));
        shared.heartbeats.iter().map(|heartbeat| heartbeat.pulse(now, shared.waited)).collect()
    }
}

/// What is shared is whole whoever panicked.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Pump {
    fn drop(&mut self) {
        lock(&self.shared).is_over = true;
        let told = self.doorbell.write(1).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| told) {
            // A panic there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

struct Worker {
    doorbell: Arc<EventFd>,
    shared: Arc<Mutex<Shared>>,
    poller: Arc<Poller>,
    devices: Vec<Device>,
    pool: Pool,
    /// When to ask for heartbeats next.
    next_beat: Option<Instant>,
}

struct Device {
    port: Port,
    /// To the lab process; none when either side has gone.
    socket: Option<OwnedFd>,
    to_guest: VecDeque<Packet>,
    to_lab: VecDeque<Vec<u8>>,
    buffer: Vec<u8>,
}

impl Worker {
    fn run(mut self) {
        while let Ok(true) = self.turn() {}
    }

    /// False when it is to stop.
    fn turn(&mut self) -> io::Result<bool> {
        if self.wait()? {
            return Ok(false);
        }
        let devices = &mut self.devices;
        let serve = |event| {
            if let Event::Message(token) = event
                && let Some(device) = devices.get_mut(token as usize)
            {
                device.port.service();
            }
        };
        self.poller.drain(serve)?;
        for (number, device) in self.devices.iter_mut().enumerate() {
            if device.pass(&mut self.pool) {
                let now = Instant::now();
                let mut shared = lock(&self.shared);
                shared.waited = heartbeat::own_wait();
                let waited = shared.waited;
                shared.heartbeats[number].answer(now, waited);
            }
        }
        self.ask_for_heartbeats();
        Ok(true)
    }

    /// Asks those that have answered before; the others need not answer twice.
    fn ask_for_heartbeats(&mut self) {
        let now = Instant::now();
        if self.next_beat.is_some_and(|next| now < next) {
            return;
        }
        let mut shared = lock(&self.shared);
        let Some(interval) = shared.interval else { return };
        self.next_beat = Some(now + interval);
        shared.waited = heartbeat::own_wait();
        let waited = shared.waited;
        let Shared { heartbeats, resting, .. } = &mut *shared;
        for ((device, heartbeat), rests) in self.devices.iter_mut().zip(heartbeats).zip(resting) {
            if device.socket.is_none() || *rests {
                heartbeat.end();
            } else if heartbeat.is_answered() && device.ask(&mut self.pool) {
                heartbeat.ask(now, waited);
            }
        }
    }

    /// Waits for something to do; whether that is to stop.
    fn wait(&mut self) -> io::Result<bool> {
        // All are to be asked: no shortcut.
        let pending = self.devices.iter_mut().filter_map(|device| device.port.listen().then_some(())).count() > 0;
        let mut fds = vec![
            PollFd::new(self.doorbell.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.poller.as_fd(), PollFlags::POLLIN),
        ];
        for device in &self.devices {
            let Some(socket) = &device.socket else { continue };
            let mut events = PollFlags::empty();
            events.set(PollFlags::POLLIN, device.to_guest.len() < BACKLOG);
            events.set(PollFlags::POLLOUT, !device.to_lab.is_empty());
            fds.push(PollFd::new(socket.as_fd(), events));
        }
        let until_beat = |next: Instant| {
            // Rounded up, so that the wait does not end too early.
            let span = next.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            PollTimeout::try_from(span).unwrap_or(PollTimeout::MAX)
        };
        let timeout = if pending { PollTimeout::ZERO } else { self.next_beat.map_or(PollTimeout::NONE, until_beat) };
        match poll(&mut fds, timeout) {
            Ok(_) if fds[0].any() == Some(true) => {
                let _ = self.doorbell.read();
                self.next_beat = None;
                let mut shared = lock(&self.shared);
                for (place, socket) in shared.again.drain(..) {
                    self.devices[place].begin_again(socket);
                }
                Ok(shared.is_over)
            }
            Ok(_) | Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Device {
    /// What was said to the kernel before, or by it, is nothing to the next.
    fn begin_again(&mut self, socket: OwnedFd) {
        self.socket = Some(socket);
        self.to_guest.clear();
        self.to_lab.clear();
    }

    /// Moves what can be moved; says whether a heartbeat was among it.
    fn pass(&mut self, pool: &mut Pool) -> bool {
        let (to_lab, mut has_beaten) = (&mut self.to_lab, false);
        self.port.receive(pool, BATCH, |packet| match packet.bytes() {
            answer if heartbeat::is_answer(answer) => has_beaten = true,
            frame => to_lab.push_back(frame.to_vec()),
        });
        if self.flush().and_then(|()| self.take(pool)).is_err() || self.port.error().is_some() {
            // Whatever the kernel had said goes first.
            self.socket = None;
        }
        while let Some(packet) = self.to_guest.front() {
            // An agent that has sent something also reads; until then, nothing is sent to it.
            if self.port.send(packet) != Sent::Done {
                break;
            }
            self.to_guest.pop_front().into_iter().for_each(|done| pool.recycle(done));
        }
        self.port.flush();
        has_beaten
    }

    /// Asks for a heartbeat; whether the kernel's device had room for that.
    fn ask(&mut self, pool: &mut Pool) -> bool {
        let request = pool.packet(VirtioHeader::COMPLETE, &heartbeat::request());
        let is_sent = self.port.send(&request) == Sent::Done;
        pool.recycle(request);
        self.port.flush();
        is_sent
    }

    fn flush(&mut self) -> io::Result<()> {
        let Some(socket) = &self.socket else { return Ok(()) };
        while let Some(frame) = self.to_lab.front() {
            match send(socket.as_raw_fd(), frame, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
                Ok(_) => drop(self.to_lab.pop_front()),
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn take(&mut self, pool: &mut Pool) -> io::Result<()> {
        let Some(socket) = &self.socket else { return Ok(()) };
        while self.to_guest.len() < BACKLOG {
            match recv(socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_DONTWAIT) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => {
                    self.to_guest.push_back(pool.packet(VirtioHeader::COMPLETE, &self.buffer[..length]));
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
