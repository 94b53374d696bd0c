//! Name servers that only the network knows in which netloom was started: those at its loopback addresses.
//!
//! A process stays in that network and passes on what is asked at sockets that it is handed, which may be of any other
//! network. It goes when nobody has its channel any more.

use std::fs;
use std::io;
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::apart::stand_apart;
use super::translator::Translator;
use crate::clone::{Cloned, assert_one_thread, clone_process};
use crate::error::{Attempted, KernelError};
use crate::expose::{Exposed, ForwardPath, Relay};
use crate::fds::{receive_with_fds, send_with_fds};

/// The port of name servers.
pub(super) const PORT: u16 = 53;

/// For how long an answer is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// A message has room for the addresses of a hundred servers.
const MOST_BYTES: usize = 4096;

/// An address of a network at which questions for names are taken.
#[derive(Debug)]
pub(super) struct DnsListener {
    udp: UdpSocket,
    tcp: TcpListener,
}

impl DnsListener {
    /// Opens it, in the network namespace of the calling thread; port 0 is any that is free.
    pub(super) fn open(address: IpAddr, port: u16) -> io::Result<Self> {
        let (udp, tcp) = (UdpSocket::bind((address, port))?, TcpListener::bind((address, port))?);
        udp.set_nonblocking(true)?;
        tcp.set_nonblocking(true)?;
        Ok(Self { udp, tcp })
    }

    /// Its ports of UDP and of TCP.
    pub(super) fn ports(&self) -> io::Result<[u16; 2]> {
        Ok([self.udp.local_addr()?, self.tcp.local_addr()?].map(|address| address.port()))
    }

    /// To hand it over to another process.
    pub(super) fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.udp.as_fd(), self.tcp.as_fd()]
    }

    /// As it was handed over; none if it was not.
    pub(super) fn received(fds: Vec<OwnedFd>) -> Option<Self> {
        let [udp, tcp] = <[OwnedFd; 2]>::try_from(fds).ok()?;
        Some(Self { udp: udp.into(), tcp: tcp.into() })
    }

    /// Leads what is asked there to these ports of UDP and of TCP.
    pub(super) fn exposed(self, [udp, tcp]: [u16; 2]) -> Vec<Exposed> {
        vec![Exposed::datagrams(self.udp, udp), Exposed::connections(self.tcp, tcp)]
    }
}

/// The process, seen from others.
#[derive(Debug)]
pub(super) struct Names {
    pid: Pid,
    /// None when it is to end.
    channel: Option<OwnedFd>,
}

impl Names {
    /// Forks it in the current network. `translators` end with it: all others may be killed that could end those.
    ///
    /// # Panics
    /// If the process has more than one thread.
    pub(super) fn fork(translators: Vec<&Translator>) -> Result<Self, KernelError> {
        assert_one_thread("a way out is");
        let pair = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC);
        let (ours, theirs) = pair.attempted(|| "open a socket to what asks name servers")?;
        let mut ours = Some(ours);
        let Cloned { pid, .. } = clone_process(0, || {
            drop(ours.take());
            let served = serve(&theirs);
            translators.into_iter().for_each(Translator::end);
            i32::from(served.is_err())
        })
        .attempted(|| "start what asks name servers")?;
        Ok(Self { pid, channel: ours })
    }

    /// Has it pass on what is asked at a listener: to the first of these servers that does not refuse.
    pub(super) fn serve(&self, dns_listener: &DnsListener, servers: &[IpAddr]) -> Result<(), KernelError> {
        let Some(channel) = &self.channel else { return Ok(()) };
        let text = serde_json::to_vec(servers).expect("addresses are plain data");
        let sent = send_with_fds(channel, &text, &dns_listener.fds());
        sent.attempted(|| "hand sockets over to what asks name servers").map(drop)
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        drop(self.channel.take());
        // In a copy, which is not the parent, there is nothing to wait for.
        let _ = waitpid(self.pid, None);
    }
}

/// In the process.
fn serve(channel: &OwnedFd) -> Result<(), KernelError> {
    stand_apart(c"netloom-names")?;
    let mut relays = Vec::new();
    let mut buffer = [0; MOST_BYTES];
    loop {
        let received = receive_with_fds(channel, &mut buffer).attempted(|| "wait for sockets")?;
        if received.length == 0 {
            return Ok(());
        }
        let servers = serde_json::from_slice(&buffer[..received.length]).ok();
        if let (Some(addresses), Some(dns_listener)) = (servers, DnsListener::received(received.fds)) {
            // Where it is refused, nobody answers there.
            relays.extend(Relay::start(
                dns_listener.exposed([PORT; 2]),
                ForwardPath::Network { namespace: None, addresses },
                PATIENCE,
            ));
        }
    }
}

/// The name servers of this machine.
pub(super) fn servers() -> Vec<IpAddr> {
    // Without the file resolvers ask this machine itself (resolv.conf(5)).
    let usual = || vec![IpAddr::from([127, 0, 0, 1])];
    fs::read_to_string("/etc/resolv.conf").map_or_else(|_| usual(), |text| listed(&text))
}

/// The name servers that a resolv.conf(5) names. One at a link-local address has the name of an interface behind it, and is
/// left out.
fn listed(text: &str) -> Vec<IpAddr> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
    lines.filter_map(|server| server.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_are_read_as_resolvers_do() {
        let text = "# x\nnameserver 127.0.0.53\n nameserver ::1 \nnameserver fe80::1%eth0\nsearch example.org\n";
        assert_eq!(listed(text), ["127.0.0.53".parse::<IpAddr>().unwrap(), "::1".parse().unwrap()]);
        assert_eq!(listed("search example.org\n"), [] as [IpAddr; 0]);
    }

    #[test]
    fn questions_are_passed_on_and_answers_find_back() {
        let server = UdpSocket::bind(("127.0.0.9", 0)).unwrap();
        let dns_listener = DnsListener::open([127, 0, 0, 1].into(), 0).unwrap();
        let asked = dns_listener.udp.local_addr().unwrap();
        let to = server.local_addr().unwrap().port();
        let way = ForwardPath::Network { namespace: None, addresses: vec![[127, 0, 0, 9].into()] };
        let relay = Relay::start(dns_listener.exposed([to; 2]), way, PATIENCE).unwrap();
        let client = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        for socket in [&client, &server] {
            socket.set_read_timeout(Some(Duration::from_secs(50))).unwrap();
        }
        client.send_to(b"who", asked).unwrap();
        let mut buffer = [0; 16];
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"who");
        server.send_to(b"me", from).unwrap();
        let (answered, by) = client.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..answered], by), (&b"me"[..], asked));
        drop(relay);
    }
}
