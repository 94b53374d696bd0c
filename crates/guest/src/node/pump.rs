//! The thread between the lab process and the control devices of kernels in real and dilated time: frames of a device
//! are packets of a socket, and the other way round. Nothing is lost: what finds no room waits.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

use netloom_host::guest::frames::LONGEST_FROM_GUEST;
use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_vhost::{Event, Listener, Poller, Port, Sent};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};

/// Frames that one pass takes from a device at most.
const BATCH: usize = 64;

/// Frames that wait for a kernel at most before no more are taken from the lab process, which then waits.
const BACKLOG: usize = 64;

/// The thread. Dropping it ends it.
#[derive(Debug)]
pub struct Pump {
    stop: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
}

impl Pump {
    /// Serves the control devices of kernels that are to connect to these listeners. Returns the lab's ends, in the
    /// same order, for [`SocketChannel`](super::SocketChannel)s.
    ///
    /// # Errors
    /// The machine's refusal of sockets or the thread.
    pub fn start(listeners: Vec<Listener>) -> io::Result<(Self, Vec<OwnedFd>)> {
        let stop = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?);
        let poller = Poller::new()?;
        let mut lab_ends = Vec::new();
        let mut devices = Vec::new();
        for (token, listener) in (0..).zip(listeners) {
            let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
            lab_ends.push(ours);
            devices.push(Device {
                port: Port::new(listener, &poller, token)?,
                socket: Some(theirs),
                to_guest: VecDeque::new(),
                to_lab: VecDeque::new(),
                buffer: vec![0; LONGEST_FROM_GUEST],
            });
        }
        let worker = Worker { stop: Arc::clone(&stop), poller, devices, pool: Pool::new(0, 0) };
        let thread = std::thread::Builder::new().name("netloom-agents".into()).spawn(move || worker.run())?;
        Ok((Self { stop, thread: Some(thread) }, lab_ends))
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        let told = self.stop.write(1).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| told) {
            // A panic there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

struct Worker {
    stop: Arc<EventFd>,
    poller: Arc<Poller>,
    devices: Vec<Device>,
    pool: Pool,
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
        for device in &mut self.devices {
            device.pass(&mut self.pool);
        }
        Ok(true)
    }

    /// Waits for something to do; whether that is to stop.
    fn wait(&mut self) -> io::Result<bool> {
        // All are to be asked: no shortcut.
        let pending = self.devices.iter_mut().filter_map(|device| device.port.listen().then_some(())).count() > 0;
        let mut fds = vec![
            PollFd::new(self.stop.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.poller.as_fd(), PollFlags::POLLIN),
        ];
        for device in &self.devices {
            let Some(socket) = &device.socket else { continue };
            let mut events = PollFlags::empty();
            events.set(PollFlags::POLLIN, device.to_guest.len() < BACKLOG);
            events.set(PollFlags::POLLOUT, !device.to_lab.is_empty());
            fds.push(PollFd::new(socket.as_fd(), events));
        }
        match poll(&mut fds, if pending { PollTimeout::ZERO } else { PollTimeout::NONE }) {
            Ok(_) => Ok(fds[0].any() == Some(true)),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Device {
    /// Moves what can be moved.
    fn pass(&mut self, pool: &mut Pool) {
        let to_lab = &mut self.to_lab;
        self.port.receive(pool, BATCH, |packet| to_lab.push_back(packet.bytes().to_vec()));
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
