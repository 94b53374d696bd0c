//! Where a guest's kernel finds its port.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// A Unix socket to which one guest is to connect. The socket's file is removed when it is dropped.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// Opens the socket at `path`, where there must be nothing yet. A guest can connect from now on; it then waits for
    /// answers until a [`Port`](crate::Port) serves it.
    ///
    /// # Errors
    /// When the kernel refuses: there is such a file, the folder is missing, or the path is longer than 107 bytes.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let socket = UnixListener::bind(path)?;
        let this = Self { socket, path: path.to_owned() };
        this.socket.set_nonblocking(true)?;
        Ok(this)
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
