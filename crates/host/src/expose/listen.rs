//! The machine's side: sockets that listen.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};

use crate::error::{Attempted, KernelError};

/// The sockets of a port of this machine that leads to a port of a node.
#[derive(Debug)]
pub struct Exposed {
    pub(super) listeners: Vec<TcpListener>,
    /// The node's port.
    pub(super) to: u16,
}

impl Exposed {
    /// Opens `port` on 127.0.0.1, and on ::1 where this machine has it. Connections that come from now on wait until a
    /// [`Relay`](super::Relay) takes them.
    ///
    /// # Errors
    /// The kernel's refusal: mostly that another program has the port.
    pub fn listen(port: u16, to: u16) -> Result<Self, KernelError> {
        let listen = |address: IpAddr| TcpListener::bind((address, port));
        let attempted = |address: IpAddr| move || format!("open port {port} of {address} on this machine");
        let (v4, v6) = (IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST));
        let mut listeners = vec![listen(v4).attempted(attempted(v4))?];
        match listen(v6) {
            Err(error) if is_without_ipv6(&error) => {}
            listener => listeners.push(listener.attempted(attempted(v6))?),
        }
        let unblocked = listeners.iter().try_for_each(|listener| listener.set_nonblocking(true));
        unblocked.attempted(|| format!("keep port {port} from waiting"))?;
        Ok(Self { listeners, to })
    }
}

fn is_without_ipv6(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EADDRNOTAVAIL | libc::EAFNOSUPPORT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_named() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = Exposed::listen(port, 80).unwrap_err();
        assert_eq!(error.errno(), libc::EADDRINUSE);
        assert_eq!(error.to_string(), format!("open port {port} of 127.0.0.1 on this machine: Address already in use"));
        drop(taken);
        Exposed::listen(port, 80).unwrap();
    }
}
