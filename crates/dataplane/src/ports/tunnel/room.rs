//! How long the datagrams of a tunnel may be: what the path carries, as far as that is known.
//!
//! The kernel knows the MTU of the interface, and that of the path once a router has told (RFC 1191, RFC 8201). Where routers drop what is
//! too long in silence, both ends find out while they greet one another: greetings are as long as the longest datagram, and short ones go
//! beside them. If only these come through for a while, the longest becomes shorter by a step.

use super::socket::Socket;

/// Packets of IP that every path carries, with IPv4 and with IPv6 (RFC 8200, section 5; RFC 1122, section 3.3.3).
const LEAST: [u32; 2] = [576, 1_280];
/// Packets of paths that do not carry as much as the interface: Ethernet, with PPPoE, with other wrappings, the least of IPv6.
const STEPS: [u32; 5] = [4_000, 1_500, 1_492, 1_400, 1_280];
/// The time for which only short greetings have to come through.
const PATIENCE: u64 = 500_000_000;
/// The longest packet of IPv4. None of IPv6 is longer here.
const LONGEST: u32 = 65_535;

/// See the module.
#[derive(Debug)]
pub(super) struct Room {
    is_v6: bool,
    /// The packets that the path carries: as the kernel says, and as both ends found out.
    kernel: u32,
    pub(super) found: u32,
    /// The instant from which on only short greetings come through.
    short_since: Option<u64>,
}

/// The shortest packets of IP that a path of a tunnel has to carry.
pub fn tunnel_path_least(is_v6: bool) -> u32 {
    LEAST[usize::from(is_v6)]
}

impl Room {
    pub(super) fn new(socket: &Socket) -> Self {
        let mut room = Self { is_v6: socket.is_v6(), kernel: LONGEST, found: LONGEST, short_since: None };
        room.ask(socket);
        room
    }

    /// Asks the kernel again.
    pub(super) fn ask(&mut self, socket: &Socket) {
        self.kernel = socket.path_mtu().unwrap_or(LONGEST).max(tunnel_path_least(self.is_v6));
    }

    /// The longest datagram, in bytes of UDP's payload.
    pub(super) fn datagram(&self) -> usize {
        let headers = if self.is_v6 { 48 } else { 28 };
        usize::try_from(self.packet() - headers).expect("small")
    }

    /// The longest packet of IP.
    fn packet(&self) -> u32 {
        self.kernel.min(self.found).min(LONGEST)
    }

    /// The longest greeting came through, or there is a new far end.
    pub(super) fn fits(&mut self) {
        self.short_since = None;
    }

    /// The far end says that only the short greetings come to it. `longest`: the length of the longest datagram. Returns whether it has to
    /// be shorter from now on.
    pub(super) fn is_short(&mut self, now: u64, longest: usize) -> bool {
        let since = *self.short_since.get_or_insert(now);
        if now.saturating_sub(since) < PATIENCE {
            return false;
        }
        self.short_since = None;
        let headers = if self.is_v6 { 48 } else { 28 };
        let packet = u32::try_from(longest).unwrap_or(u32::MAX).saturating_add(headers).min(self.packet());
        let least = tunnel_path_least(self.is_v6);
        let next = STEPS.into_iter().find(|step| *step < packet).unwrap_or(least).max(least);
        let is_less = next < self.packet();
        self.found = self.found.min(next);
        is_less
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(is_v6: bool, kernel: u32) -> Room {
        Room { is_v6, kernel, found: LONGEST, short_since: None }
    }

    #[test]
    fn datagrams_leave_room_for_their_headers() {
        assert_eq!((room(false, 1_500).datagram(), room(true, 1_500).datagram()), (1_472, 1_452));
        // The loopback interface.
        assert_eq!(room(false, 65_536).datagram(), 65_507);
    }

    #[test]
    fn a_path_that_swallows_what_is_long_is_found_out() {
        for (is_v6, kernel, steps) in
            [(false, 1_500, &[1_492, 1_400, 1_280, 576][..]), (true, 9_000, &[4_000, 1_500, 1_492, 1_400, 1_280][..])]
        {
            let (mut room, mut now, mut seen) = (room(is_v6, kernel), 0, Vec::new());
            for _ in 0..30 {
                if room.is_short(now, 65_000) {
                    seen.push(room.packet());
                }
                now += PATIENCE / 2;
            }
            assert_eq!(seen, steps);
        }
        // Who greets with less than the path carries goes on from there; and what fits is kept.
        let mut own = room(false, 9_000);
        assert!(!own.is_short(0, 1_554) && own.is_short(PATIENCE, 1_554));
        assert_eq!(own.packet(), 1_500);
        assert!(!own.is_short(PATIENCE * 2, 1_472));
        own.fits();
        assert!(!own.is_short(PATIENCE * 3, 1_472));
    }
}
