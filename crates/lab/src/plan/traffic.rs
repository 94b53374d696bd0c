//! What a simulation sends.

use netloom_link::{ConfigError, CrossConfig};
use netloom_units::{Bytes, Duration};

/// A source of a simulation, and where its packets go.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficPlan {
    /// Its line in the lab file.
    pub line: usize,
    /// Its name, unique among the sources.
    pub name: String,
    /// The sending node's place in the plan.
    pub from: usize,
    /// The receiving node's place in the plan.
    pub to: usize,
    /// The packets that are sent.
    pub sends: Sends,
}

/// The packets that a source of a simulation sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Sends {
    /// Packets that come whatever the network does, as those of cross traffic.
    Open(CrossConfig),
    /// Packets, as many as a fixed window allows.
    Window(WindowConfig),
}

/// A sender with a fixed window. It is not TCP: it knows no congestion, no slow start and no handshake.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowConfig {
    /// How many payload bytes beyond the first that was not acknowledged may have been sent.
    pub window: Bytes,
    /// How many payload bytes a packet carries.
    pub segment: Bytes,
    /// The size of a packet's headers, from the IP header on; an acknowledgement has nothing else.
    pub headers: Bytes,
    /// How many payload bytes are to be sent; none: as many as there is time for.
    pub amount: Option<Bytes>,
    /// How many packets in order are acknowledged at once.
    pub acknowledge: u32,
    /// The time without an acknowledgement after which a packet is sent again.
    pub timeout: Duration,
    /// The instant when the sender begins, after time zero.
    pub start: Duration,
    /// The instant when the sender ends, after time zero; none: never.
    pub stop: Option<Duration>,
}

/// IPv4 and UDP headers without options (RFC 791, section 3.1; RFC 768): every simulated packet has them.
const LEAST_HEADERS: u64 = 28;
/// The longest IP packet.
const MOST_SIZE: u64 = 65_535;

impl WindowConfig {
    /// Whether the sender can work.
    ///
    /// # Errors
    /// A parameter out of its range, or an end before the beginning.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (window, segment, headers) = (self.window, self.segment, self.headers);
        let wrong = |key, message| Err(ConfigError::new(key, message));
        if headers.get() < LEAST_HEADERS {
            return wrong("headers", format!("{headers} is too short for IPv4 and UDP headers: {LEAST_HEADERS} B"));
        }
        if segment.get() == 0 {
            return wrong("segment", "a packet needs a payload, for example 1460 B".into());
        }
        if segment.get().saturating_add(headers.get()) > MOST_SIZE {
            return wrong(
                "segment",
                format!("with headers of {headers} it is longer than an IP packet, {MOST_SIZE} B"),
            );
        }
        if window < segment {
            return wrong("window", format!("{window} is less than one segment of {segment}: nothing could be sent"));
        }
        if self.amount == Some(Bytes::new(0)) {
            return wrong("amount", "the source would send nothing: leave it out".into());
        }
        match self.stop.filter(|stop| *stop <= self.start) {
            Some(stop) => {
                wrong("stop", format!("the source would end at {stop}, but begins at {start}", start = self.start))
            }
            None => Ok(()),
        }
    }
}
