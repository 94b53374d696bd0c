//! Ports against a front-end that this test plays: handshakes, frames, and a guest that breaks every rule.

mod frames;
mod frontend;
mod fuzz;
mod handshake;
mod hostile;

use frontend::{Frontend, OFFERED, SIZE};
use netloom_vhost::{Event, Listener, Poller, Port};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A port, and the front-end that has connected to it.
struct Pair {
    poller: Arc<Poller>,
    port: Port,
    guest: Frontend,
}

fn path() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("netloom-vhost-{}-{number}", std::process::id()))
}

impl Pair {
    fn connected() -> Self {
        Self::at(|listener| listener)
    }

    fn at(listening: impl FnOnce(Listener) -> Listener) -> Self {
        let path = path();
        let poller = Poller::new().expect("a poller");
        let listener = listening(Listener::bind(&path).expect("a free path"));
        let port = Port::new(listener, &poller, 7).expect("a port");
        let guest = Frontend::connect(&path);
        Self { poller, port, guest }
    }

    /// One whose guest has done what User-Mode Linux does.
    fn ready() -> Self {
        Self::connected().started()
    }

    fn started(mut self) -> Self {
        let this = &mut self;
        this.negotiate(OFFERED);
        this.set_memory();
        for queue in 0..2 {
            this.set_up(queue);
        }
        for queue in 0..2 {
            this.start(queue);
        }
        assert!(this.port.is_ready());
        self
    }

    fn serve(&mut self) {
        self.port.service();
    }

    /// Sends a message and, if it is acknowledged, checks that.
    fn command(&mut self, request: u32, payload: &[u8], files: &[i32]) {
        self.guest.send(request, 9, payload, files);
        self.serve();
        if let Some(error) = self.port.error() {
            panic!("request {request}: {error}");
        }
        assert_eq!(self.guest.answer(request), 0, "request {request}");
    }

    fn ask(&mut self, request: u32) -> u64 {
        self.guest.send(request, 1, &[], &[]);
        self.serve();
        self.guest.answer(request)
    }

    fn negotiate(&mut self, features: u64) {
        // Before REPLY_ACK is agreed on, nothing is acknowledged; the message that does that is.
        self.guest.send(3, 1, &[], &[]);
        assert_eq!(self.ask(1), OFFERED);
        assert_eq!(self.ask(15), (1 << 3) | (1 << 5));
        self.command(16, &(1_u64 << 3).to_ne_bytes(), &[]);
        self.command(2, &features.to_ne_bytes(), &[]);
    }

    fn set_memory(&mut self) {
        let (table, file) = (self.guest.memory_table(), self.guest.file.as_raw_fd());
        self.command(5, &table, &[file]);
    }

    /// In the order of User-Mode Linux: call, size, base, addresses.
    fn set_up(&mut self, queue: usize) {
        let call = self.guest.calls[queue].as_raw_fd();
        self.command(13, &(queue as u64).to_ne_bytes(), &[call]);
        self.command(8, &state(queue, u32::from(SIZE)), &[]);
        self.command(10, &state(queue, 0), &[]);
        self.command(9, &Frontend::addresses(queue), &[]);
    }

    fn start(&mut self, queue: usize) {
        let kick = self.guest.kicks[queue].as_raw_fd();
        self.command(12, &(queue as u64).to_ne_bytes(), &[kick]);
        self.command(18, &state(queue, 1), &[]);
    }

    fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        self.poller.drain(|event| events.push(event)).expect("a poller");
        events
    }
}

fn state(queue: usize, number: u32) -> Vec<u8> {
    [u32::try_from(queue).expect("small"), number].map(u32::to_ne_bytes).concat()
}
