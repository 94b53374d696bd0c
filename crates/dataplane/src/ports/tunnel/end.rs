//! The socket to another machine, and the tunnels that share it.
//!
//! Greetings bear the number of their tunnel, and all other datagrams the token that their receiver drew: by these each comes to its tunnel,
//! which has a session and keys of its own. A machine has a socket and a port for each other machine, however many links lead there.

use super::far_end::FarEnd;
use super::message::addressee;
use super::socket::Inbox;
use super::{Refusal, TURNS, Tracker, TunnelSettings};
use crate::sys::set_option;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::{fmt, io};

/// This end of the tunnels to another machine that share a socket, each with a number (`vni`) of its own. It is opened in the network namespace
/// that leads to the far end, and inherited.
pub struct TunnelEnd {
    /// The first of them, whose socket is read.
    pub(super) far: FarEnd,
    /// The others, which send by the same socket.
    pub(super) others: Vec<FarEnd>,
    pub(super) addressees: Addressees,
    pub(super) inbox: Inbox,
}

/// Which of the tunnels of a socket a datagram is for.
#[derive(Debug)]
pub(super) struct Addressees {
    by_token: BTreeMap<u64, usize>,
    by_vni: BTreeMap<u32, usize>,
}

impl Addressees {
    fn of<'a>(all: impl Iterator<Item = &'a FarEnd> + Clone) -> Self {
        let tokens = all.clone().map(FarEnd::own_token).zip(0..).collect();
        Self { by_token: tokens, by_vni: all.map(|far| far.settings.vni).zip(0..).collect() }
    }

    /// The place of the tunnel; none if it is for no tunnel of this socket.
    pub(super) fn of_datagram(&self, datagram: &[u8]) -> Option<usize> {
        match addressee(datagram)? {
            (_, Some(vni)) => self.by_vni.get(&vni).copied(),
            (token, None) => self.by_token.get(&token).copied(),
        }
    }
}

impl fmt::Debug for TunnelEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TunnelEnd").field("settings", &self.far.settings).finish_non_exhaustive()
    }
}

impl TunnelEnd {
    /// Opens the socket of tunnels to `far`, in the current network namespace. `port`: its own; zero: any.
    ///
    /// # Errors
    /// `EADDRINUSE`: somebody has that port. `ENETUNREACH`: no way leads there. Else as [`TunnelEnd::new`].
    ///
    /// # Panics
    /// If there are no tunnels.
    pub fn open(far: SocketAddr, port: u16, tunnels: &[TunnelSettings]) -> io::Result<Self> {
        let all: IpAddr = if far.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((all, port))?;
        // Nothing is fragmented on the path: what is too long is refused, with an error.
        let (level, name) = if far.is_ipv6() {
            (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER)
        } else {
            (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER)
        };
        set_option(&socket, level, name, &libc::IP_PMTUDISC_DO)?;
        socket.connect(far)?;
        Self::new(socket, tunnels)
    }

    /// The longest packet of IP that the path carries, as far as this machine knows.
    pub fn path_mtu(&self) -> Option<u32> {
        self.far.socket.path_mtu()
    }

    /// Prepares a socket that is connected to the far end, and that takes only its datagrams therefore. `tunnels`: those that share it, with
    /// different numbers.
    ///
    /// # Errors
    /// When the kernel refuses an option of the socket, or there are no random numbers.
    ///
    /// # Panics
    /// If there are no tunnels.
    pub fn new(socket: UdpSocket, tunnels: &[TunnelSettings]) -> io::Result<Self> {
        let (first, rest) = tunnels.split_first().expect("a tunnel");
        let beside = |settings: &TunnelSettings| FarEnd::new(socket.try_clone()?, *settings);
        let others = rest.iter().map(beside).collect::<io::Result<Vec<FarEnd>>>()?;
        let far = FarEnd::new(socket, *first)?;
        let addressees = Addressees::of([&far].into_iter().chain(&others));
        Ok(Self { far, others, addressees, inbox: Inbox::new() })
    }

    /// Has all of its tunnels ask this one how exact the time of day is.
    pub fn ask(&mut self, tracker: &Tracker) {
        self.others.iter_mut().chain([&mut self.far]).for_each(|far| far.ask_of_day(tracker.clone()));
    }

    fn tunnel(&self, place: usize) -> &FarEnd {
        place.checked_sub(1).map_or(&self.far, |other| &self.others[other])
    }

    /// Hears and says what there is, without waiting; the first tunnel whose ends do not know one another yet. To be called whenever something
    /// has come, and every few milliseconds.
    ///
    /// # Errors
    /// The place of a tunnel whose far end cannot be joined, and why; it has had our greeting.
    pub fn greet(&mut self) -> Result<Option<usize>, (usize, Refusal)> {
        let Self { far, others, addressees, inbox } = self;
        for _ in 0..TURNS {
            let count = inbox.fill(&mut far.socket);
            if count == 0 {
                break;
            }
            for place in 0..count {
                let (bytes, came) = inbox.datagram(place);
                // What is for none may be meant for one that nobody has greeted, which says what does not fit.
                let unheard = || [&*far].into_iter().chain(&*others).position(|own| !own.is_heard()).unwrap_or(0);
                let to = addressees.of_datagram(bytes).unwrap_or_else(unheard);
                let own = to.checked_sub(1).map_or(&mut *far, |other| &mut others[other]);
                own.take(bytes, came).map_err(|why| (to, why))?;
            }
        }
        let mut missing = None;
        for (place, own) in [far].into_iter().chain(others).enumerate() {
            let now = own.socket.now();
            own.speak(now);
            if let Some(why) = own.refusal(now) {
                return Err((place, why));
            }
            if !own.is_joined() {
                missing.get_or_insert(place);
            }
        }
        Ok(missing)
    }

    /// Whether the far end of a tunnel has greeted, though both may not know one another yet.
    pub fn is_heard(&self, place: usize) -> bool {
        self.tunnel(place).is_heard()
    }

    /// The error number of the latest datagram of a tunnel that the kernel refused to send; `EMSGSIZE`: the path does not carry the longest.
    pub fn refused(&self, place: usize) -> Option<i32> {
        self.tunnel(place).socket.last_error.as_ref().and_then(io::Error::raw_os_error)
    }

    /// The longest datagram of a tunnel, in bytes: longer frames go in pieces.
    pub fn datagram(&self, place: usize) -> usize {
        self.tunnel(place).longest()
    }
}

impl AsFd for TunnelEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.far.socket.as_fd()
    }
}
