//! What bridges compare: the identifiers of bridges, priority vectors (IEEE 802.1D-2004, section 17.6), and times.

use netloom_units::Duration;

/// A bridge: its priority, and behind it, its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BridgeId(pub(super) u64);

impl BridgeId {
    pub(super) fn new(priority: u16, address: [u8; 6]) -> Self {
        let address = address.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Self(u64::from(priority) << 48 | address)
    }

    pub(super) fn address(self) -> u64 {
        self.0 & 0xffff_ffff_ffff
    }
}

/// What a bridge would have others believe: the lesser is the better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Vector {
    pub(super) root: BridgeId,
    /// What it costs from here to the root.
    pub(super) cost: u32,
    /// The designated bridge, and its port.
    pub(super) bridge: BridgeId,
    pub(super) port: u16,
}

impl Vector {
    /// Whether both come from the same port of the same bridge.
    pub(super) fn is_of_same_port(&self, other: &Self) -> bool {
        self.bridge.address() == other.bridge.address() && number(self.port) == number(other.port)
    }
}

/// The number of a port, without its priority.
pub(super) fn number(port: u16) -> u16 {
    port & 0x0fff
}

/// The times that the root gives to the tree, in 256ths of a second as BPDUs have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// How old the word of the root is, counted by bridges passed.
    pub(super) age: u16,
    pub(super) max_age: u16,
    pub(super) hello: u16,
    pub(super) forward_delay: u16,
}

/// A second in BPDUs.
const SECOND: u16 = 256;

impl Times {
    /// One bridge further: a second older, in whole seconds.
    pub(super) fn further(self) -> Self {
        let age = u32::from(self.age) + u32::from(SECOND + SECOND / 2);
        Self { age: u16::try_from(age / 256 * 256).unwrap_or(u16::MAX), ..self }
    }

    pub(super) fn max_age(self) -> Duration {
        span(self.max_age)
    }

    pub(super) fn hello(self) -> Duration {
        span(self.hello)
    }

    pub(super) fn forward_delay(self) -> Duration {
        span(self.forward_delay)
    }
}

/// A span as BPDUs have it.
fn span(units: u16) -> Duration {
    Duration::from_nanos(u64::from(units) * (1_000_000_000 / u64::from(SECOND)))
}

/// A span for BPDUs, which is a multiple of a 256th of a second, and less than 256 seconds.
pub(super) fn units(span: Duration) -> u16 {
    u16::try_from(span.as_nanos() / (1_000_000_000 / u64::from(SECOND))).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 17.6: first the root counts, then the cost, then the bridge, then its port.
    #[test]
    fn the_lesser_vector_is_the_better_one() {
        let at = |root, cost, bridge, port| Vector { root: BridgeId(root), cost, bridge: BridgeId(bridge), port };
        let order = [at(1, 9, 9, 9), at(2, 1, 9, 9), at(2, 2, 1, 9), at(2, 2, 2, 1), at(2, 2, 2, 2)];
        assert!(order.is_sorted());
        assert_eq!(BridgeId::new(0x8000, [1, 2, 3, 4, 5, 6]).0, 0x8000_0102_0304_0506);
        assert!(at(1, 1, 0x1000_0000_0000_0007, 0x8001).is_of_same_port(&at(2, 2, 7, 1)));
        assert!(!at(1, 1, 7, 1).is_of_same_port(&at(1, 1, 7, 2)));
    }

    #[test]
    fn ages_are_whole_seconds() {
        let after = |age| Times { age, ..Times::default() }.further().age;
        assert_eq!([0, 127, 128, 256, 0xffff].map(after), [256, 256, 512, 512, u16::MAX]);
        let fifteen = units(Duration::from_secs(15));
        assert_eq!((fifteen, span(fifteen)), (0x0f00, Duration::from_secs(15)));
    }
}
