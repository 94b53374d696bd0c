//! Serves a disk of the lab to a virtual machine: QEMU speaks NBD with it over a Unix socket, and asks for each request of the machine alone,
//! since nothing of the disk is in a cache of QEMU's.
//!
//! Source: "The NBD protocol" (doc/proto.md of the nbd project): the fixed newstyle handshake with NBD_OPT_GO, and simple replies.
//!
//! One thread takes requests, another answers each when its time has come. Lengths are checked: what comes is what a machine asks for, and
//! QEMU may do what the machine has made of it.

mod protocol;

use netloom_guest::disk::{Device, Disk, Ended};
use netloom_units::{Dilation, Instant};
use nix::sys::socket::{Shutdown, shutdown};
use protocol::{Asked, Wish};
use std::io::{self, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// More requests at once than QEMU has (16).
const MOST_WAITING: usize = 64;

/// The server of a disk. Dropping it ends it: what it had not answered by then was not done.
#[derive(Debug)]
pub(crate) struct DiskServer {
    shared: Arc<Shared>,
    listener: Arc<UnixListener>,
    path: PathBuf,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// A request has come, or it is over, or the times of requests have changed.
    news: Condvar,
    dilation: Dilation,
    begun: std::time::Instant,
}

#[derive(Debug)]
struct State {
    device: Device,
    waiting: usize,
    /// Whether QEMU has gone, and whether no other is awaited.
    is_gone: bool,
    is_over: bool,
    stream: Option<UnixStream>,
}

impl DiskServer {
    /// Waits at this path for QEMU to connect. Times of the disk are lab time.
    pub(crate) fn start(disk: &Disk, path: &Path, dilation: Dilation) -> io::Result<Self> {
        let state = State { device: Device::new(disk)?, waiting: 0, is_gone: false, is_over: false, stream: None };
        let begun = std::time::Instant::now();
        let shared = Arc::new(Shared { state: Mutex::new(state), news: Condvar::new(), dilation, begun });
        let listener = Arc::new(UnixListener::bind(path)?);
        let (own, listens) = (Arc::clone(&shared), Arc::clone(&listener));
        let thread = std::thread::Builder::new().name("netloom-disk".into()).spawn(move || own.listen(&listens))?;
        Ok(Self { shared, listener, path: path.to_owned(), thread: Some(thread) })
    }

    /// Gives the disk an order, as the device takes it.
    pub(crate) fn order(&self, text: &str) -> Result<(), String> {
        let mut state = self.shared.lock();
        let now = self.shared.now();
        let done = state.device.order(text, now);
        self.shared.news.notify_all();
        done
    }
}

impl Drop for DiskServer {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        // Whoever reads or waits there finds its end.
        let _ = state.stream.take().map(|stream| stream.shutdown(std::net::Shutdown::Both));
        drop(state);
        self.shared.news.notify_all();
        let _ = shutdown(self.listener.as_raw_fd(), Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook.
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Shared {
    /// What is shared is whole whoever panicked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Instant {
        self.dilation.instant_after(self.begun.elapsed())
    }

    /// Serves one QEMU after the other: a machine that hangs is booted anew.
    fn listen(&self, listener: &UnixListener) {
        while let Ok((stream, _)) = listener.accept() {
            let mut state = self.lock();
            if state.is_over {
                return;
            }
            let Ok((copy, reader)) = stream.try_clone().and_then(|copy| Ok((copy, stream.try_clone()?))) else {
                return;
            };
            state.stream = Some(copy);
            state.is_gone = false;
            drop(state);
            std::thread::scope(|scope| {
                let answering = std::thread::Builder::new().name("netloom-disk-out".into());
                if answering.spawn_scoped(scope, || self.answer(&stream)).is_ok() {
                    // However it ends, QEMU sees the end of the connection.
                    let _ = self.serve(reader);
                }
                let mut end = self.lock();
                end.is_gone = true;
                end.waiting = 0;
                drop(end);
                let _ = stream.shutdown(std::net::Shutdown::Both);
                self.news.notify_all();
            });
        }
    }

    /// Takes requests until there are no more.
    fn serve(&self, stream: UnixStream) -> io::Result<()> {
        let mut writer = stream.try_clone()?;
        let mut reader = BufReader::with_capacity(1 << 16, stream);
        let size = self.lock().device.size();
        if protocol::agree(&mut reader, &mut writer, size)? == Wish::Nothing {
            return Ok(());
        }
        while let Asked::For { handle, request } = protocol::next(&mut reader)? {
            let mut state = self.lock();
            if state.is_over || state.waiting == MOST_WAITING {
                return Ok(());
            }
            state.waiting += 1;
            state.device.push(handle, request, self.now());
            self.news.notify_all();
        }
        Ok(())
    }

    /// Answers each request when it ends.
    fn answer(&self, mut stream: &UnixStream) {
        let mut state = self.lock();
        while !state.is_over && !state.is_gone {
            let now = self.now();
            if let Some(Ended { number, bytes }) = state.device.pop(now) {
                // Those of a QEMU that has gone are nobody's.
                state.waiting = state.waiting.saturating_sub(1);
                drop(state);
                if stream.write_all(&protocol::reply(number, bytes.as_deref())).is_err() {
                    return;
                }
                state = self.lock();
                continue;
            }
            let next = state.device.next_wake();
            state = match next {
                None => self.news.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(due) => {
                    let span = self.dilation.real_until(due).saturating_sub(self.begun.elapsed());
                    self.news.wait_timeout(state, span).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

#[cfg(test)]
mod tests;
