//! Records of what was on the air, for journals, captures and pictures.

use crate::category::AccessCategory;
use crate::frame::{Destination, StationId};
use crate::phy::Mode;
use netloom_units::{Bytes, Instant};

/// A record of an attempt to send a PPDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The sender.
    pub from: StationId,
    /// The destination.
    pub to: Destination,
    /// The category of the frames; best effort without QoS.
    pub category: AccessCategory,
    /// The mode of the data.
    pub mode: Mode,
    /// The bytes of the PPDU's data with all headers of the MAC.
    pub size: Bytes,
    /// The number of MPDUs in the PPDU.
    pub mpdus: u32,
    /// The number of MPDUs that were decoded; of a PPDU to everybody, all or none.
    pub decoded: u32,
    /// Whether an RTS came first; the data came behind it unless the attempt collided.
    pub has_rts: bool,
    /// Whether another station began at the same instant, or an interferer sent during its first PPDU.
    pub collided: bool,
    /// When the PPDU, or the RTS in front of it, began.
    pub start: Instant,
    /// When the sender's last bit was on the air: of the data, or of an RTS that collided.
    pub end: Instant,
    /// When the answer ended; `end` if there was none.
    pub answered: Instant,
}
