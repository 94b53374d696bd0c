//! The TCP connections of a node at one instant, for those who watch.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::tcp::{self, Connection, Row};
use crate::error::KernelError;
use crate::netlink::TcpDiag;

/// Of more connections, those are left out that have carried least.
const MOST_SHOWN: usize = 100;
/// No algorithm of a kernel has a longer name (TCP_CA_NAME_MAX of net/tcp.h).
const LONGEST_NAME: usize = 16;
/// Of more than these the kernel is not even heard.
const MOST_SEEN: usize = 10_000;

/// The connections of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpState {
    /// At most a hundred, by their numbers.
    pub connections: Vec<TcpConnection>,
    /// How many more there are.
    pub left_out: u64,
}

/// A TCP connection at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpConnection {
    number: u64,
    joins: Connection,
    row: Row,
}

impl TcpState {
    /// Asks the kernel for those of the current network namespace.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn ask() -> Result<Self, KernelError> {
        let mut state = Self::default();
        TcpDiag::open()?.connections(|message| state.see(message))?;
        Ok(state.ordered())
    }

    /// A connection: `inet_diag_msg` and attributes (linux/inet_diag.h). What is no such message is left out.
    pub(super) fn see(&mut self, message: &[u8]) {
        if self.connections.len() >= MOST_SEEN {
            self.left_out += 1;
        } else if let Some((socket, joins, row)) = tcp::read(message) {
            self.connections.push(TcpConnection { number: socket.cookie, joins, row });
        }
    }

    /// When all have been seen: in order, and no more than may be, whoever says so.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        self.connections.retain(|connection| connection.joins.congestion.len() <= LONGEST_NAME);
        if self.connections.len() > MOST_SHOWN {
            self.connections.sort_by_key(|connection| (std::cmp::Reverse(connection.carried()), connection.number));
            self.left_out = self.left_out.saturating_add((self.connections.len() - MOST_SHOWN) as u64);
            self.connections.truncate(MOST_SHOWN);
        }
        self.connections.sort_by_key(|connection| connection.number);
        self
    }
}

/// The last sample of TCP connections that a node's kernel handed over itself.
#[derive(Debug, Default)]
pub struct TcpView {
    last: Option<(u64, TcpState)>,
}

impl TcpView {
    /// Begins a sample that was taken at this instant; the connections that follow are in it.
    pub fn begin(&mut self, time_ns: u64) {
        self.last = Some((time_ns, TcpState::default()));
    }

    /// Adds a connection to the sample: `inet_diag_msg` and attributes (linux/inet_diag.h). What is no such message is left out.
    pub fn connection(&mut self, message: &[u8]) {
        if let Some((_, state)) = &mut self.last {
            state.see(message);
        }
    }

    /// Returns when the last sample was taken, and what was in it; none before the first.
    pub fn last(&self) -> Option<(u64, TcpState)> {
        self.last.as_ref().map(|(time_ns, state)| (*time_ns, state.clone().ordered()))
    }
}

impl TcpConnection {
    /// Returns the number that distinguishes the connection from all others that the node has had: the kernel's socket cookie.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the node's own address and port.
    pub fn local(&self) -> SocketAddr {
        self.joins.local
    }

    /// Returns the address and port of the other end.
    pub fn remote(&self) -> SocketAddr {
        self.joins.remote
    }

    /// Returns the name of the congestion control algorithm.
    pub fn congestion(&self) -> &str {
        &self.joins.congestion
    }

    /// Returns the name of the connection's state, for example `established`.
    pub fn state(&self) -> &'static str {
        self.row.state()
    }

    /// Returns the name of what its congestion control does, for example `recovery`.
    pub fn ca_state(&self) -> &'static str {
        self.row.ca_state()
    }

    /// Whether its program gave it less to send than it could have sent.
    pub fn app_limited(&self) -> bool {
        self.row.app_limited
    }

    /// Returns the figures that the kernel reports of the connection, by the names of [columns](super::columns).
    pub fn figures(&self) -> impl Iterator<Item = (&'static str, Number)> + '_ {
        self.row.figures()
    }

    /// How many bytes it has carried in either direction.
    fn carried(&self) -> u64 {
        let all = self.row.figures().filter(|(name, _)| ["bytes_acked", "bytes_received"].contains(name));
        all.filter_map(|(_, value)| value.as_u64()).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp::tests::message;
    use super::*;

    #[test]
    fn a_connection_of_this_machine_is_told_of() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let state = TcpState::ask().unwrap();
        let local = client.local_addr().unwrap();
        // Other programs of this machine may have more than are shown, but hardly so many that have carried nothing.
        if let Some(own) = state.connections.iter().find(|connection| connection.local() == local) {
            assert_eq!((own.remote(), own.state()), (listener.local_addr().unwrap(), "established"));
            assert!(own.figures().any(|(name, value)| name == "cwnd_packets" && value.as_u64() > Some(0)));
        } else {
            assert!(state.left_out > 0, "{state:?}");
        }
    }

    #[test]
    fn figures_have_the_names_and_values_of_the_table() {
        let mut state = TcpState::default();
        state.see(&message(7, 10));
        state.see(b"no message");
        let [connection] = &state.connections[..] else { panic!("{state:?}") };
        let value =
            |name: &str| connection.figures().find(|(column, _)| *column == name).map(|(_, value)| value.to_string());
        assert_eq!(value("cwnd_packets").as_deref(), Some("10"));
        assert_eq!(value("pacing_rate_bits_per_second").as_deref(), Some("10000000"));
        assert_eq!(value("bbr_bandwidth_bits_per_second").as_deref(), Some("1000000"));
        assert_eq!(value("bbr_pacing_gain").as_deref(), Some("2.887"));
        assert_eq!((value("ssthresh_packets"), value("dctcp_alpha")), (None, None));
        assert!(connection.figures().all(|(name, _)| tcp::columns().split(',').any(|column| column == name)));
    }

    #[test]
    fn of_many_the_rest_is_counted() {
        let mut state = TcpState::default();
        (0..150).rev().for_each(|cookie| state.see(&message(cookie, 10)));
        let state = state.ordered();
        assert_eq!((state.connections.len(), state.left_out), (MOST_SHOWN, 50));
        // A guest says what it likes.
        let mut said = TcpState { left_out: u64::MAX, ..state.clone() };
        said.connections.extend(state.connections.clone());
        said.connections[0].joins.congestion = "x".repeat(1_000);
        let bounded = said.ordered();
        assert_eq!((bounded.connections.len(), bounded.left_out), (MOST_SHOWN, u64::MAX));
        assert!(bounded.connections.iter().all(|connection| connection.congestion() == "bbr"));
        assert!(state.connections.is_sorted_by_key(TcpConnection::number));
    }

    #[test]
    fn a_view_has_the_last_sample() {
        let mut view = TcpView::default();
        view.connection(&message(1, 10));
        assert_eq!(view.last(), None);
        for time_ns in [10, 20] {
            view.begin(time_ns);
            view.connection(&message(time_ns, 10));
        }
        let (time_ns, state) = view.last().unwrap();
        assert_eq!((time_ns, state.connections.len(), state.connections[0].number()), (20, 1, 20));
    }
}
