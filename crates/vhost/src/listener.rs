//! Where a guest's kernel finds its port.

use crate::notify::NotifyBy;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// A Unix socket to which one guest is to connect. The socket's file is removed when it is dropped.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
    notify_by: NotifyBy,
    whole: bool,
    has_status: bool,
    comes_again: bool,
}

impl Listener {
    /// Opens the socket at `path`, where there must be nothing yet. A guest can connect from now on; it then waits for
    /// answers until a [`Port`](crate::Port) serves it.
    ///
    /// # Errors
    /// When the kernel refuses: there is such a file, the folder is missing, or the path is longer than 107 bytes.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let socket = UnixListener::bind(path)?;
        let (path, notify_by) = (path.to_owned(), NotifyBy::Sockets);
        let this = Self { socket, path, notify_by, whole: false, has_status: false, comes_again: false };
        this.socket.set_nonblocking(true)?;
        Ok(this)
    }

    /// If its guest's process ends, as when one is booted anew that has hung or crashed, another may come.
    #[must_use]
    pub fn again(mut self) -> Self {
        self.comes_again = true;
        self
    }

    /// Also takes a guest that asks for notification by event counters (eventfd), as QEMU does. Writing to one waits if the guest has filled it and asked for that, which would
    /// hold up all other guests: not for guests that might.
    #[must_use]
    pub fn with_counters(mut self) -> Self {
        self.notify_by = NotifyBy::Counters;
        self
    }

    /// Its guest is sent no trains, and no unfinished checksums, whatever it takes.
    #[must_use]
    pub fn with_whole_frames(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Its guest learns whether its link has a carrier, which [`Port::set_carrier`](crate::Port::set_carrier) gives and takes. Not for QEMU,
    /// which says that to its guest by itself.
    #[must_use]
    pub fn with_status(mut self) -> Self {
        self.has_status = true;
        self
    }

    pub(crate) fn has_status(&self) -> bool {
        self.has_status
    }

    pub(crate) fn has_whole_frames(&self) -> bool {
        self.whole
    }

    /// Whether a guest that goes may be followed by another.
    pub(crate) fn may_come_again(&self) -> bool {
        self.comes_again
    }

    pub(crate) fn notify_by(&self) -> NotifyBy {
        self.notify_by
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The guest's end, if it has come.
    pub(crate) fn accept(&self) -> io::Result<Option<OwnedFd>> {
        match self.socket.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                Ok(Some(stream.into()))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A second descriptor of the socket, for a poller.
    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(OwnedFd::from(self.socket.try_clone()?))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // If the file has gone with its folder, that is as well.
        let _ = std::fs::remove_file(&self.path);
    }
}
