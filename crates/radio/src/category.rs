//! The access categories of EDCA (IEEE 802.11-2020, 10.2.3.2), and which one a packet's DSCP asks for (RFC 8325).

/// A class of frames with a queue and a backoff of its own; the last one is the most urgent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessCategory {
    /// Frames that may wait: `AC_BK`.
    Background,
    /// Frames that ask for nothing: `AC_BE`.
    #[default]
    BestEffort,
    /// Frames of films and conferences: `AC_VI`.
    Video,
    /// Frames of speech and of the network's control: `AC_VO`.
    Voice,
}

impl AccessCategory {
    /// All categories, the least urgent first.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// Returns the category of packets with this DSCP: RFC 8325, section 4, and RFC 8622 for the lower effort. Values that both
    /// leave open are best effort.
    pub const fn of_dscp(dscp: u8) -> Self {
        match dscp {
            // LE and CS1.
            1 | 8 => Self::Background,
            // CS3 and AF3, CS4 and AF4, CS5.
            24 | 26 | 28 | 30 | 32 | 34 | 36 | 38 | 40 => Self::Video,
            // Admitted voice and EF, CS6 and CS7.
            44 | 46 | 48 | 56 => Self::Voice,
            _ => Self::BestEffort,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_service_have_their_categories() {
        let expected = [(0, 1), (1, 0), (8, 0), (10, 1), (18, 1), (26, 2), (34, 2), (40, 2), (46, 3), (48, 3), (63, 1)];
        for (dscp, place) in expected {
            assert_eq!(AccessCategory::of_dscp(dscp), AccessCategory::ALL[place], "{dscp}");
        }
    }
}
