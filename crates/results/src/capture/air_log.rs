//! What was on the air of a radio medium, read from a capture with headers of radiotap: who sent when, what was not decoded, and how busy each
//! station kept the air.

use netloom_lab::{CaptureHeaders, CapturePlan, Plan};
use pcap_parser::pcapng::Block;
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{PcapBlockOwned, PcapError, PcapNGReader};
use serde::Serialize;
use std::collections::HashMap;
use std::io::{Cursor, Read, Seek, SeekFrom};

/// So many frames of a file are known at most: 48 MB.
const MOST_FRAMES: usize = 1_000_000;
/// The most bytes in front of the first frame: with more of them, a file is never read on.
const MOST_HEAD: usize = 1 << 16;
/// With so many frames before it at most, a frame is compared.
const MOST_AT_ONCE: usize = 1_000;
/// No record of a frame has so many bytes.
const BUFFER: usize = 1 << 20;
/// The bits of the header of radiotap: time, flags and channel are there.
const PRESENT: u32 = 0b1011;
const BAD_FCS: u8 = 0x40;
/// The bytes of a header of 802.11: the kinds of frames, and that it is sent again.
const KINDS: [(u8, FrameKind); 14] = [
    (0x08, FrameKind::Data),
    (0x88, FrameKind::Data),
    (0xb4, FrameKind::Rts),
    (0xc4, FrameKind::Cts),
    (0xd4, FrameKind::Ack),
    (0x94, FrameKind::BlockAck),
    (0x80, FrameKind::Beacon),
    (0x00, FrameKind::Management),
    (0x10, FrameKind::Management),
    (0x20, FrameKind::Management),
    (0x30, FrameKind::Management),
    (0x40, FrameKind::Management),
    (0x50, FrameKind::Management),
    (0xb0, FrameKind::Management),
];
const RETRY: u8 = 0x08;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// A PPDU with data.
    Data,
    /// A request to send.
    Rts,
    /// The answer to one.
    Cts,
    /// An acknowledgement of one MPDU.
    Ack,
    /// An acknowledgement of an aggregate.
    BlockAck,
    /// A beacon of an access point.
    Beacon,
    /// A frame with which a station comes to an access point.
    Management,
}

impl FrameKind {
    /// Whether it is sent by whoever has contended for the medium, with its address.
    fn has_sender(self) -> bool {
        matches!(self, Self::Data | Self::Rts | Self::Beacon | Self::Management)
    }
}

/// A frame that was on the air: all MPDUs of a PPDU, or a control frame. Times are lab time since time zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AirFrame {
    /// The instant at which its first bit behind the preamble was on the air, in nanoseconds, cut to whole microseconds.
    pub from_ns: u64,
    /// The instant at which its last bit was, in nanoseconds.
    pub to_ns: u64,
    /// The place of its sender among the stations; none if that is not known.
    pub sender: Option<u16>,
    /// The place of its receiver among the stations; none if it is for everybody.
    pub receiver: Option<u16>,
    /// Its kind.
    pub kind: FrameKind,
    /// The middle of its channel in MHz.
    pub channel_mhz: u16,
    /// The number of its MPDUs.
    pub mpdus: u32,
    /// The MPDUs that their destination did not decode.
    pub bad: u32,
    /// The MPDUs that were sent before.
    pub retries: u32,
    /// Its bytes with the headers of 802.11.
    pub bytes: u32,
    /// Whether something was not decoded while another station sent on the same channel.
    pub collided: bool,
}

/// The use that a station made of the air in a span.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AirUse {
    /// How long it sent in the span, in nanoseconds, without preambles.
    pub busy_ns: u64,
    /// PPDUs with data, and requests to send.
    pub frames: u64,
    /// The frames of which something was not decoded.
    pub bad: u64,
    /// The bad frames during which another station sent on the same channel.
    pub collisions: u64,
    /// MPDUs that were sent before.
    pub retries: u64,
}

/// The frames of a span, and the use of the air in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AirSpan {
    /// The use of the air by each station.
    pub stations: Vec<AirUse>,
    /// For each station the share of each part of the span in which it sent, in thousandths, and of that what was not decoded.
    pub busy: Vec<Vec<[u16; 2]>>,
    /// The frames, in order of their ends; none if they are more than were asked for.
    pub frames: Option<Vec<AirFrame>>,
    /// The number of frames.
    pub found: usize,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AirLog {
    /// The names of the stations' nodes, in the order of the link's ends.
    pub stations: Vec<String>,
    /// Whether the file has more, or cannot be read to its end.
    pub is_partial: bool,
    frames: Vec<AirFrame>,
    /// The longest of all.
    longest_ns: u64,
    reader: Reader,
    /// The bytes in front of the first frame, as far as they were there; none if they are too many.
    head: Vec<u8>,
    /// Whether the head is whole: a frame came behind it.
    has_head: bool,
    /// So many bytes were read, up to the end of a block.
    read_bytes: u64,
}

impl AirLog {
    /// Returns the captures of a plan that have what was on the air, each with the name of its medium.
    pub fn captures(plan: &Plan) -> impl Iterator<Item = (&str, &CapturePlan)> {
        let on_air = plan.capture.iter().filter(|capture| capture.headers == CaptureHeaders::Radiotap);
        on_air.filter_map(|capture| Some((plan.links[capture.link?].name.as_str(), capture)))
    }

    /// Reads a capture of a medium, as far as it can be read.
    pub fn read(plan: &Plan, capture: &CapturePlan, file: impl Read) -> Self {
        let ends = capture.link.map_or(&[][..], |link| &plan.links[link].ends);
        let stations = ends.iter().map(|end| plan.nodes[end.node].name.clone()).collect();
        let macs = ends.iter().map(|end| plan.nodes[end.node].interfaces[end.interface].mac).zip(0..).collect();
        let reader = Reader { macs, last_data: HashMap::new() };
        let mut log = Self { stations, reader, ..Self::default() };
        log.is_partial = log.fill(file, 0).is_none();
        log.find_collisions(0);
        log
    }

    /// Reads what was added to the file since it was read last. Returns false if it is another file, of which nothing is read.
    pub fn go_on(&mut self, mut file: impl Read + Seek) -> bool {
        let mut head = vec![0; self.head.len()];
        let is_same = !head.is_empty() && file.read_exact(&mut head).is_ok() && head == self.head;
        if !is_same || file.seek(SeekFrom::Start(self.read_bytes)).is_err() {
            return false;
        }
        if self.frames.len() < MOST_FRAMES {
            // MPDUs of the last PPDU may have been added.
            let known = self.frames.len().saturating_sub(1);
            let skipped = head.len() as u64;
            self.is_partial = self.fill(Cursor::new(head).chain(file), skipped).is_none();
            self.find_collisions(known);
        }
        true
    }

    /// Returns none if the file goes on, or is damaged. Of it, `skipped` bytes were read before.
    fn fill(&mut self, file: impl Read, skipped: u64) -> Option<()> {
        let mut blocks = PcapNGReader::new(BUFFER, file).ok()?;
        let mut asked = 0;
        self.read_bytes -= skipped;
        let known = self.head.len();
        let mut passed = 0;
        loop {
            match blocks.next() {
                Ok((offset, PcapBlockOwned::NG(Block::EnhancedPacket(packet)))) => {
                    let at_ns = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                    let kept = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
                    if let Some(frame) = self.reader.frame(at_ns, packet.origlen, kept) {
                        self.add(frame);
                    }
                    blocks.consume(offset);
                    self.read_bytes += offset as u64;
                    (asked, self.has_head) = (0, true);
                    if self.frames.len() > MOST_FRAMES {
                        self.frames.truncate(MOST_FRAMES);
                        return None;
                    }
                }
                Ok((offset, _)) => {
                    passed += offset;
                    if !self.has_head && passed > known {
                        self.extend_head(blocks.data().get(..offset));
                    }
                    blocks.consume(offset);
                    self.read_bytes += offset as u64;
                    asked = 0;
                }
                Err(PcapError::Eof) => return Some(()),
                // A block that is longer than the buffer never comes.
                Err(PcapError::Incomplete(_)) if asked < 2 => {
                    asked += 1;
                    blocks.refill().ok()?;
                }
                Err(_) => return None,
            }
        }
    }

    /// Adds a block to what is in front of the first frame, unless that becomes too much.
    fn extend_head(&mut self, block: Option<&[u8]>) {
        match block.filter(|block| self.head.len() + block.len() <= MOST_HEAD) {
            Some(block) => self.head.extend_from_slice(block),
            None => (self.head, self.has_head) = (Vec::new(), true),
        }
    }

    /// Adds a frame; MPDUs of one PPDU end together.
    fn add(&mut self, frame: AirFrame) {
        let is_same = |last: &&mut AirFrame| {
            (last.to_ns, last.sender, last.kind, last.receiver)
                == (frame.to_ns, frame.sender, FrameKind::Data, frame.receiver)
                && frame.kind == FrameKind::Data
                && frame.sender.is_some()
        };
        if let Some(last) = self.frames.last_mut().filter(is_same) {
            last.mpdus += 1;
            last.bad += frame.bad;
            last.retries += frame.retries;
            last.bytes = last.bytes.saturating_add(frame.bytes);
            return;
        }
        self.longest_ns = self.longest_ns.max(frame.to_ns.saturating_sub(frame.from_ns));
        self.frames.push(frame);
    }

    /// Compares all frames with those before them, but for so many that were compared already. Frames are in order of their ends.
    fn find_collisions(&mut self, known: usize) {
        // Files of others may be in any order.
        let is_in_order = self.frames.is_sorted_by_key(|frame| frame.to_ns);
        if !is_in_order {
            self.frames.sort_by_key(|frame| frame.to_ns);
        }
        let known = if is_in_order { known } else { 0 };
        let overlap = |one: &AirFrame, other: &AirFrame| {
            one.from_ns < other.to_ns
                && other.from_ns < one.to_ns
                && one.sender != other.sender
                && one.channel_mhz == other.channel_mhz
        };
        for later in known..self.frames.len() {
            let begins = self.frames[later].from_ns;
            let earlier = (0..later).rev().take_while(|place| self.frames[*place].to_ns > begins);
            for place in earlier.take(MOST_AT_ONCE).collect::<Vec<_>>() {
                if overlap(&self.frames[place], &self.frames[later]) {
                    for own in [place, later] {
                        let frame = &mut self.frames[own];
                        frame.collided |= frame.bad > 0;
                    }
                }
            }
        }
    }

    /// Returns what was on the air in a span of lab time, in so many parts, with the frames if they are at most `limit`.
    pub fn span(&self, (from_ns, to_ns): (u64, u64), parts: usize, limit: usize) -> AirSpan {
        let is_behind = |frame: &AirFrame| frame.to_ns.saturating_sub(self.longest_ns) > to_ns;
        let first = self.frames.partition_point(|frame| frame.to_ns < from_ns);
        let seen = self.frames[first..].iter().take_while(|frame| !is_behind(frame));
        let within: Vec<&AirFrame> = seen.filter(|frame| frame.from_ns <= to_ns).collect();
        let mut stations = vec![AirUse::default(); self.stations.len()];
        let mut busy = vec![vec![[0_u64; 2]; parts]; self.stations.len()];
        let part_ns = (to_ns.saturating_sub(from_ns) / parts.max(1) as u64).max(1);
        for frame in &within {
            let Some(sender) = frame.sender.map(usize::from) else { continue };
            let [begins, ends] = [frame.from_ns.max(from_ns), frame.to_ns.min(to_ns)];
            let own = &mut stations[sender];
            // Times of a damaged file may be any.
            own.busy_ns = own.busy_ns.saturating_add(ends.saturating_sub(begins));
            if frame.kind.has_sender() {
                own.frames += 1;
                own.bad += u64::from(frame.bad > 0);
                own.collisions += u64::from(frame.collided);
                own.retries += u64::from(frame.retries);
            }
            let mut at = begins;
            while at < ends {
                let part = (at - from_ns) / part_ns;
                let own_part = usize::try_from(part).ok().and_then(|part| busy[sender].get_mut(part));
                let Some(share) = own_part else { break };
                let until = (part + 1).saturating_mul(part_ns).saturating_add(from_ns).min(ends);
                share[0] = share[0].saturating_add(until - at);
                share[1] = share[1].saturating_add(if frame.bad > 0 { until - at } else { 0 });
                at = until;
            }
        }
        let thousandths = |time: u64| {
            u16::try_from((u128::from(time) * 1_000).div_ceil(u128::from(part_ns)).min(1_000)).unwrap_or(u16::MAX)
        };
        let busy = busy.iter().map(|row| row.iter().map(|share| share.map(thousandths)).collect()).collect();
        let found = within.len();
        let frames = (found <= limit).then(|| within.into_iter().cloned().collect());
        AirSpan { stations, busy, frames, found }
    }

    /// The number of its frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether it has no frames.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Reader {
    /// The places of stations by their addresses.
    macs: HashMap<[u8; 6], u16>,
    /// By sender the last frame that is answered, and its receiver: acknowledgements do not say who sends them.
    last_data: HashMap<[u8; 6], [u8; 6]>,
}

impl Reader {
    /// A frame that was over at an instant; none if it is no frame that is known, or too much of it was cut off.
    fn frame(&mut self, to_ns: u64, length: u32, record: &[u8]) -> Option<AirFrame> {
        let head = usize::from(u16::from_le_bytes(bytes(record, 2)?));
        let present = u32::from_le_bytes(bytes(record, 4)?);
        if present & PRESENT != PRESENT || head < 20 {
            return None;
        }
        let from_us = u64::from_le_bytes(bytes(record, 8)?);
        let is_bad = *record.get(16)? & BAD_FCS != 0;
        let channel_mhz = u16::from_le_bytes(bytes(record, 18)?);
        let frame = record.get(head..)?;
        let (_, kind) = *KINDS.iter().find(|(code, _)| frame.first() == Some(code))?;
        let receiver: [u8; 6] = bytes(frame, 4)?;
        let sender = match kind {
            FrameKind::Data | FrameKind::Rts | FrameKind::Beacon | FrameKind::Management => {
                let sender = bytes(frame, 10)?;
                self.last_data.insert(sender, receiver);
                Some(sender)
            }
            FrameKind::BlockAck => Some(bytes(frame, 10)?),
            FrameKind::Cts | FrameKind::Ack => self.last_data.get(&receiver).copied(),
        };
        let place = |mac: [u8; 6]| self.macs.get(&mac).copied();
        Some(AirFrame {
            // The time in the header is cut to microseconds, and a broken file may have any.
            from_ns: from_us.saturating_mul(1_000).min(to_ns),
            to_ns,
            sender: sender.and_then(place),
            receiver: place(receiver),
            kind,
            channel_mhz,
            mpdus: 1,
            bad: u32::from(is_bad),
            retries: u32::from(kind != FrameKind::Rts && kind.has_sender() && *frame.get(1)? & RETRY != 0),
            bytes: length.saturating_sub(u32::try_from(head).ok()?),
            collided: false,
        })
    }
}

fn bytes<const COUNT: usize>(from: &[u8], at: usize) -> Option<[u8; COUNT]> {
    from.get(at..at + COUNT)?.try_into().ok()
}
