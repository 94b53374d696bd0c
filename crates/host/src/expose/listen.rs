//! The machine's side: sockets that connections and datagrams come to.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};

use super::forward::Protocol;
use crate::error::{Attempted, KernelError};

/// The sockets of a port of this machine that leads to a port of a node.
#[derive(Debug)]
pub struct Exposed {
    pub(super) sockets: Sockets,
    /// The node's port.
    pub(super) to: u16,
}

#[derive(Debug)]
pub(super) enum Sockets {
    Tcp(Vec<TcpListener>),
    Udp(Vec<UdpSocket>),
}

impl Exposed {
    /// Opens `port` on 127.0.0.1, and on ::1 where this machine has it. What comes from now on waits until a
    /// [`Relay`](super::Relay) takes it.
    ///
    /// # Errors
    /// The kernel's refusal: mostly that another program has the port.
    pub fn open(port: u16, protocol: Protocol, to: u16) -> Result<Self, KernelError> {
        let sockets = match protocol {
            Protocol::Tcp => {
                let bind = |address| TcpListener::bind((address, port));
                Sockets::Tcp(on_loopback(&format!("port {port}"), bind, TcpListener::set_nonblocking)?)
            }
            Protocol::Udp => {
                let bind = |address| UdpSocket::bind((address, port));
                Sockets::Udp(on_loopback(&format!("UDP port {port}"), bind, UdpSocket::set_nonblocking)?)
            }
        };
        Ok(Self { sockets, to })
    }
}

impl Exposed {
    /// A socket that is open already, and does not wait.
    pub(crate) fn connections(listener: TcpListener, to: u16) -> Self {
        Self { sockets: Sockets::Tcp(vec![listener]), to }
    }

    /// A socket that is open already, and does not wait.
    pub(crate) fn datagrams(socket: UdpSocket, to: u16) -> Self {
        Self { sockets: Sockets::Udp(vec![socket]), to }
    }
}

fn on_loopback<S>(
    port: &str,
    bind: impl Fn(IpAddr) -> io::Result<S>,
    set_nonblocking: impl Fn(&S, bool) -> io::Result<()>,
) -> Result<Vec<S>, KernelError> {
    let attempted = |address: IpAddr| move || format!("open {port} of {address} on this machine");
    let (v4, v6) = (IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST));
    let mut sockets = vec![bind(v4).attempted(attempted(v4))?];
    match bind(v6) {
        Err(error) if is_without_ipv6(&error) => {}
        socket => sockets.push(socket.attempted(attempted(v6))?),
    }
    let unblocked = sockets.iter().try_for_each(|socket| set_nonblocking(socket, true));
    unblocked.attempted(|| format!("keep {port} from waiting"))?;
    Ok(sockets)
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
        let error = Exposed::open(port, Protocol::Tcp, 80).unwrap_err();
        assert_eq!(error.errno(), libc::EADDRINUSE);
        assert_eq!(error.to_string(), format!("open port {port} of 127.0.0.1 on this machine: Address already in use"));
        drop(taken);
        Exposed::open(port, Protocol::Tcp, 80).unwrap();
    }

    #[test]
    fn a_udp_port_that_is_taken_is_named() {
        let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = Exposed::open(port, Protocol::Udp, 53).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("open UDP port {port} of 127.0.0.1 on this machine: Address already in use")
        );
    }
}
