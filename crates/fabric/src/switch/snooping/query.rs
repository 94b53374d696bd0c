//! The queries of a switch: IGMPv2 and IGMPv3 (RFC 2236, section 2; RFC 3376, section 4.1), MLDv1 and MLDv2 (RFC 2710, section 3; RFC 3810,
//! section 5.1), in Ethernet frames without a tag.

use super::{QuerierSpec, Timing};
use crate::checksum::{complete, pseudo};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use netloom_units::Duration;

/// All systems on a link: whom a query for all groups is for.
const ALL_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);
const ALL_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
const ICMPV6: u8 = 58;
const SECOND: u64 = 1_000_000_000;
/// Internetwork control, which queries of IGMPv3 have as their type of service (RFC 3376, section 4).
const CONTROL: u8 = 0xc0;

/// What a query asks: for a group or all, of one family, and how long hosts may take to answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) is_v6: bool,
    pub(super) group: Option<IpAddr>,
    pub(super) response: Duration,
}

impl Question {
    /// The frame with this question of this querier.
    pub(super) fn frame(&self, by: &QuerierSpec, timing: &Timing) -> Vec<u8> {
        match (self.group, self.is_v6) {
            (Some(IpAddr::V4(group)), _) => self.v4(Some(group), by, timing),
            (Some(IpAddr::V6(group)), _) => self.v6(Some(group), by, timing),
            (None, false) => self.v4(None, by, timing),
            (None, true) => self.v6(None, by, timing),
        }
    }

    fn v4(&self, group: Option<Ipv4Addr>, by: &QuerierSpec, timing: &Timing) -> Vec<u8> {
        let destination = group.unwrap_or(ALL_V4);
        let tenths = u8::try_from(self.response.as_nanos() / (SECOND / 10)).unwrap_or(u8::MAX);
        let mut message = Vec::from([0x11, if by.is_igmpv2 { tenths } else { exponential(u32::from(tenths)) }, 0, 0]);
        message.extend(group.unwrap_or(Ipv4Addr::UNSPECIFIED).octets());
        if !by.is_igmpv2 {
            message.extend(behind(timing));
        }
        complete(&mut message, 2, 0);
        let [_, b, c, d] = destination.octets();
        let mut frame = Vec::from([0x01, 0x00, 0x5e, b & 0x7f, c, d]);
        frame.extend(by.mac);
        frame.extend([0x08, 0x00]);
        let length = u16::try_from(24 + message.len()).expect("a short message").to_be_bytes();
        // A router alert behind the header (RFC 2113).
        let service = if by.is_igmpv2 { 0 } else { CONTROL };
        let mut header = Vec::from([0x46, service, length[0], length[1], 0, 0, 0, 0, 1, 2, 0, 0]);
        header.extend(by.v4.octets());
        header.extend(destination.octets());
        header.extend([0x94, 0x04, 0, 0]);
        complete(&mut header, 10, 0);
        frame.extend(header);
        frame.extend(message);
        frame
    }

    fn v6(&self, group: Option<Ipv6Addr>, by: &QuerierSpec, timing: &Timing) -> Vec<u8> {
        let destination = group.unwrap_or(ALL_V6);
        let milliseconds = u16::try_from(self.response.as_nanos() / (SECOND / 1_000)).unwrap_or(u16::MAX).min(32_767);
        let mut message = Vec::from([130, 0, 0, 0]);
        message.extend(milliseconds.to_be_bytes());
        message.extend([0, 0]);
        message.extend(group.unwrap_or(Ipv6Addr::UNSPECIFIED).octets());
        if !by.is_mldv1 {
            message.extend(behind(timing));
        }
        let covered = pseudo(by.v6.into(), destination.into(), message.len(), ICMPV6);
        complete(&mut message, 2, covered);
        let mut frame = Vec::from([0x33, 0x33]);
        frame.extend(&destination.octets()[12..]);
        frame.extend(by.mac);
        frame.extend([0x86, 0xdd]);
        // Options from hop to hop: a router alert for MLD (RFC 2711), and two bytes that fill up.
        let options = [ICMPV6, 0, 5, 2, 0, 0, 1, 0];
        let length = u16::try_from(options.len() + message.len()).expect("a short message").to_be_bytes();
        frame.extend([0x60, 0, 0, 0, length[0], length[1], 0, 1]);
        frame.extend(by.v6.octets());
        frame.extend(destination.octets());
        frame.extend(options);
        frame.extend(message);
        frame
    }
}

/// What IGMPv3 and MLDv2 have behind the group: how robust the querier is, how often it asks, and no sources.
fn behind(timing: &Timing) -> [u8; 4] {
    let seconds = u32::try_from(timing.interval.as_nanos() / SECOND).unwrap_or(u32::MAX);
    // More than seven cannot be said (RFC 3376, section 4.1.6).
    let robustness = if timing.robustness > 7 { 0 } else { timing.robustness };
    [robustness, exponential(seconds), 0, 0]
}

/// RFC 3376, sections 4.1.1 and 4.1.7: from 128 on four bits and an exponent, which say the next lower number.
fn exponential(number: u32) -> u8 {
    let Ok(code) = u8::try_from(number) else { return wide(number) };
    if code < 128 { code } else { wide(number) }
}

/// A number from 128 on.
fn wide(number: u32) -> u8 {
    let number = number.min(0x1f << 10);
    let exponent = (0..8).find(|exponent| number >> (exponent + 3) < 0x20).unwrap_or(7);
    let mantissa = u8::try_from(number >> (exponent + 3) & 0x0f).expect("four bits");
    0x80 | exponent << 4 | mantissa
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: QuerierSpec = QuerierSpec {
        mac: [2, 0, 0, 0, 0, 9],
        v4: Ipv4Addr::new(10, 0, 0, 9),
        v6: Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 9),
        is_igmpv2: false,
        is_mldv1: false,
    };
    const TIMING: Timing =
        Timing { robustness: 2, interval: Duration::from_secs(125), response: Duration::from_secs(10) };

    fn question(is_v6: bool, group: Option<IpAddr>) -> Question {
        Question { is_v6, group, response: TIMING.response }
    }

    /// Byte by byte; the checksums were made by hand.
    #[test]
    fn they_are_laid_out_as_the_standards_have_it() {
        let general = question(false, None).frame(&BY, &TIMING);
        let wanted: &[u8] = &[
            0x01, 0x00, 0x5e, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x08, 0x00, // Ethernet
            0x46, 0xc0, 0, 36, 0, 0, 0, 0, 1, 2, 0x3a, 0x0a, 10, 0, 0, 9, 224, 0, 0, 1, 0x94, 4, 0, 0, // IPv4
            0x11, 100, 0xec, 0x1e, 0, 0, 0, 0, 2, 125, 0, 0, // IGMP
        ];
        assert_eq!(general, wanted);
        let group = Some("239.129.2.3".parse().unwrap());
        let specific = question(false, group).frame(&QuerierSpec { is_igmpv2: true, ..BY }, &TIMING);
        assert_eq!((&specific[..6], specific[15]), (&[0x01, 0x00, 0x5e, 1, 2, 3][..], 0));
        assert_eq!((&specific[30..34], &specific[38..40]), (&[239, 129, 2, 3][..], &[0x11, 100][..]));
        assert_eq!((&specific[42..], specific.len()), (&[239, 129, 2, 3][..], 46));
    }

    #[test]
    fn those_of_ipv6_have_a_router_alert_in_front() {
        let general = question(true, None).frame(&BY, &TIMING);
        assert_eq!(general[..6], [0x33, 0x33, 0, 0, 0, 1]);
        assert_eq!(general[14..22], [0x60, 0, 0, 0, 0, 36, 0, 1]);
        assert_eq!(general[54..62], [58, 0, 5, 2, 0, 0, 1, 0]);
        assert_eq!((general[62], &general[66..70]), (130, &[0x27, 0x10, 0, 0][..]));
        assert_eq!((&general[86..], general.len()), (&[2, 125, 0, 0][..], 90));
        let group = Some("ff05::1:3".parse().unwrap());
        let specific = question(true, group).frame(&QuerierSpec { is_mldv1: true, ..BY }, &TIMING);
        assert_eq!((&specific[..6], specific.len()), (&[0x33, 0x33, 0, 1, 0, 3][..], 86));
    }

    /// RFC 3376, section 4.1.1: the number is (mantissa | 16) << (exponent + 3).
    #[test]
    fn large_numbers_are_said_as_the_next_lower_one() {
        let said = [0, 127, 128, 135, 136, 300, 31_743, 31_744, 1_000_000].map(exponential);
        assert_eq!(said, [0, 127, 0x80, 0x80, 0x81, 0x92, 0xfe, 0xff, 0xff]);
    }
}
