//! A run of segments of one frame.

mod dns;
mod rewriting;
mod tcp;

use crate::flow::{self, age, marked_head, set_congested};
use crate::headers::{ETHERNET_HEADER, LONGEST_TRAIN, MAX_HEAD, complete_checksum};
use crate::{Ecn, Flow, Frame, Segmentation, VirtioHeader};
use alloc::{boxed::Box, sync::Arc, vec::Vec};
use core::ops::Range;
pub use dns::DnsMessage;
use netloom_units::Bytes;
pub use tcp::{ResetTemplate, TcpHeader};

/// One packet, or a train of segments that travel together; see the crate's documentation.
///
/// A packet is at one place of the fabric at a time; [`Packet::duplicate`] makes a second one. Clones are for copies of a whole fabric.
#[derive(Clone, Debug)]
pub struct Packet {
    frame: Arc<Frame>,
    span: Span,
}

/// Which segments of a frame: the first and how many, whether they are marked or phantoms, how many routers they have
/// passed, and their size, in one number.
/// A packet is then two machine words, which move in registers; as more fields it goes through memory at every call, and
/// costs twice as much. The size is asked for at every step of a packet's way: to know it without a look at the frame
/// saves a tenth of what a packet costs.
#[derive(Clone, Copy, Debug)]
struct Span(u64);

const MARK: u64 = 1 << 32;
const PHANTOM: u64 = 1 << 33;
/// Eight bits of hops: IP can count no more.
const HOP: u64 = 1 << 34;
const HOPS: u64 = 0xff * HOP;
/// Above them, 22 bits of size.
const SIZE_SHIFT: u32 = 42;
const _: () = assert!(LONGEST_TRAIN == 1 << (u64::BITS - SIZE_SHIFT));

impl Span {
    fn new(first: u16, count: u16, flags: u64, size: u64) -> Self {
        assert!(size < LONGEST_TRAIN, "packets are shorter than 4 MiB");
        Self(size << SIZE_SHIFT | flags | u64::from(first) << 16 | u64::from(count))
    }

    fn first(self) -> u16 {
        u16::try_from(self.0 >> 16 & 0xffff).expect("16 bits")
    }

    fn count(self) -> u16 {
        u16::try_from(self.0 & 0xffff).expect("16 bits")
    }

    /// What its headers must say and the frame's do not: [`MARK`] and [`HOPS`], or what is set of them.
    fn patches(self) -> u64 {
        self.0 & (MARK | HOPS)
    }

    /// All but size and place.
    fn flags(self) -> u64 {
        self.0 & (MARK | PHANTOM | HOPS)
    }

    fn is_marked(self) -> bool {
        self.0 & MARK != 0
    }

    fn hops(self) -> u8 {
        u8::try_from((self.0 & HOPS) / HOP).expect("8 bits")
    }

    /// Length of all segments from their IP headers on.
    fn size(self) -> u64 {
        self.0 >> SIZE_SHIFT
    }

    fn range(self) -> Range<u16> {
        self.first()..self.first() + self.count()
    }
}

/// The bytes to send for a packet: headers of its own, and a piece of the shared payload.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// The virtio-net header, which says what the receiver's kernel has still to do.
    pub virtio: VirtioHeader,
    /// The number of bytes of headers that were written.
    pub len: usize,
    /// The range of the payload in [`Packet::bytes`].
    pub payload: Range<usize>,
}

impl Packet {
    pub(crate) fn whole(frame: Arc<Frame>) -> Self {
        let flags = if frame.is_phantom() { PHANTOM } else { 0 };
        let span = Span::new(0, frame.segments(), flags, frame.size(0..frame.segments()));
        Self { frame, span }
    }

    pub(crate) fn into_frame(self) -> Arc<Frame> {
        self.frame
    }

    /// How many segments travel together, at least one.
    #[inline]
    pub fn segments(&self) -> u32 {
        u32::from(self.span.count())
    }

    /// All bytes of the frame that this packet is or was cut from.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.frame.bytes()
    }

    /// Length of segment `index` of this packet from the IP header on, which is what links are charged by default.
    ///
    /// # Panics
    /// If there is no such segment.
    #[inline]
    pub fn segment_size(&self, index: u32) -> Bytes {
        assert!(index < self.segments(), "segment {index} of {}", self.segments());
        if self.segments() == 1 {
            return self.size();
        }
        let at = self.span.first() + u16::try_from(index).expect("below a u16");
        Bytes::new(self.frame.size(at..at + 1))
    }

    /// Length of all segments from their IP headers on.
    #[inline]
    pub fn size(&self) -> Bytes {
        Bytes::new(self.span.size())
    }

    /// Cuts the first `segments` off; none if that would leave nothing, and `self` is then the whole.
    #[inline]
    pub fn split_front(&mut self, segments: u32) -> Option<Self> {
        // Mostly there is only one, and nothing to cut.
        if self.segments() == 1 { None } else { self.cut_front(segments) }
    }

    fn cut_front(&mut self, segments: u32) -> Option<Self> {
        let (first, whole) = (self.span.first(), self.span.count());
        let count = u16::try_from(segments).ok().filter(|&count| count > 0 && count < whole)?;
        let size = self.frame.size(first..first + count);
        let front = Self { frame: Arc::clone(&self.frame), span: Span::new(first, count, self.span.flags(), size) };
        self.span = Span::new(first + count, whole - count, self.span.flags(), self.span.size() - size);
        Some(front)
    }

    /// Whether `next` continues this packet: the segments behind it, of the same frame, marked alike and as far on
    /// their way.
    #[inline]
    pub fn is_followed_by(&self, next: &Self) -> bool {
        self.span.range().end == next.span.first()
            && Arc::ptr_eq(&self.frame, &next.frame)
            && self.span.patches() == next.span.patches()
    }

    /// Joins `next` to the end of this packet.
    ///
    /// # Panics
    /// If `next` does not follow.
    pub fn append(&mut self, next: &Self) {
        assert!(self.is_followed_by(next), "only neighbours of one frame can be joined");
        let (count, size) = (self.span.count() + next.span.count(), self.span.size() + next.span.size());
        self.span = Span::new(self.span.first(), count, self.span.flags(), size);
    }

    /// Writes the headers that this packet needs into `head`, and says what follows them.
    ///
    /// An uncut packet without a mark that no router has passed is sent as it came, with no new headers. What a router has
    /// passed has new headers always: the link that it leaves by decides what Ethernet addresses belong at their
    /// beginning (see [`Packet::hops`]).
    pub fn write_head(&self, head: &mut [u8; MAX_HEAD]) -> Head {
        let frame = &*self.frame;
        let plain = match frame.layout() {
            Some(layout) if self.span.count() < frame.segments() => {
                let range = self.span.range();
                let payload = layout.payload(range.clone(), frame.bytes().len());
                let virtio = layout.write(frame.bytes(), frame.virtio(), range, payload.len(), frame.segments(), head);
                Head { virtio, len: layout.head_len(), payload }
            }
            _ => Head { virtio: *frame.virtio(), len: 0, payload: 0..frame.bytes().len() },
        };
        if self.span.patches() == 0 { plain } else { self.patch_head(plain, head) }
    }

    /// Marks and ages the head that was written, or the frame's own.
    fn patch_head(&self, plain: Head, head: &mut [u8; MAX_HEAD]) -> Head {
        let patched = match (plain.len, marked_head(self.bytes())) {
            (0, None) => return plain,
            (0, Some(len)) => {
                head[..len].copy_from_slice(&self.bytes()[..len]);
                Head { len, payload: len..plain.payload.end, ..plain }
            }
            _ => plain,
        };
        if self.span.is_marked() {
            set_congested(&mut head[..patched.len]);
        }
        age(&mut head[..patched.len], self.hops());
        patched
    }

    /// Returns how many routers have passed the packet on since its frame was filled. Its Ethernet addresses are then no longer
    /// those of the frame, but those of the ends of the link that it is on, which the caller that delivers it has to write.
    #[inline]
    pub fn hops(&self) -> u8 {
        self.span.hops()
    }

    /// A router passes it on: [`Packet::write_head`] takes one more from its time to live (IPv4) or hop limit (IPv6). No
    /// byte is touched: the segments of a train that are further back on their way share them.
    ///
    /// # Panics
    /// If 255 routers have passed it on already, which is more than IP can count.
    #[inline]
    pub fn pass_router(&mut self) {
        assert!(self.hops() < u8::MAX, "a packet lives for 255 hops at most");
        self.span = Span(self.span.0 + HOP);
    }

    /// Writes `head`, which [`Packet::write_head`] made, into the frame if no other packet shares it. Whether that was so.
    pub(crate) fn settle_head(&mut self, head: &[u8]) -> bool {
        let is_whole = self.span.count() == self.frame.segments() && !head.is_empty();
        let Some(frame) = Arc::get_mut(&mut self.frame).filter(|_| is_whole) else { return false };
        frame.buffer_mut()[..head.len()].copy_from_slice(head);
        self.span = Span(self.span.0 & !(MARK | HOPS));
        true
    }

    /// The packet with the headers that it has by now in its frame, and these Ethernet addresses (destination, source); and if
    /// it shared the frame with others, so that its bytes were copied, what is left of it there. [`Pool::readdress`] takes
    /// a buffer from a pool for that.
    ///
    /// [`Pool::readdress`]: crate::Pool::readdress
    #[must_use]
    pub fn readdress(mut self, addresses: &[u8; 12]) -> (Self, Option<Self>) {
        let mut head = [0; MAX_HEAD];
        let Head { virtio, len, payload } = self.write_head(&mut head);
        head[..addresses.len()].copy_from_slice(addresses);
        if self.settle_head(&head[..len]) {
            return (self, None);
        }
        let mut bytes = Vec::with_capacity(len + payload.len());
        bytes.extend_from_slice(&head[..len]);
        bytes.extend_from_slice(&self.bytes()[payload]);
        if len == 0 && bytes.len() >= addresses.len() {
            bytes[..addresses.len()].copy_from_slice(addresses);
        }
        let mut frame = Frame::complete(bytes.into_boxed_slice());
        frame.assign(frame.bytes().len(), virtio);
        frame.set_source(self.source());
        frame.set_target(self.target());
        (Self::whole(Arc::new(frame)), Some(self))
    }

    /// The packet as it enters a shared medium by the port of this number, which [`Packet::origin`] tells until it enters
    /// another one; and if it shared the frame with packets that may be elsewhere, so that its bytes were copied, what is left
    /// of it there. The number stands in the frame, since a packet has no room for it.
    #[must_use]
    pub fn originate(self, origin: u32) -> (Self, Option<Self>) {
        if self.frame.origin() == origin { (self, None) } else { self.inscribe(|frame| frame.set_origin(origin)) }
    }

    /// Returns the number of the port by which the packet entered the shared medium that it is on; see [`Packet::originate`].
    #[inline]
    pub fn origin(&self) -> u32 {
        self.frame.origin()
    }

    /// The packet as it comes into the fabric by the port of this number, which [`Packet::source`] tells from then on; and if it
    /// shared the frame with packets that may be elsewhere, what is left of it there.
    #[must_use]
    pub fn mark_source(self, source: u32) -> (Self, Option<Self>) {
        self.inscribe(|frame| frame.set_source(Some(source)))
    }

    /// The packet as it is sent on a shared medium to the port of this number, which [`Packet::target`] tells from then on, whatever
    /// its addresses are; and if it shared the frame with packets that may be elsewhere, what is left of it there.
    #[must_use]
    pub fn aim(self, target: Option<u32>) -> (Self, Option<Self>) {
        if self.frame.target() == target { (self, None) } else { self.inscribe(|frame| frame.set_target(target)) }
    }

    /// Returns the number of the port to which the packet is sent on the shared medium that it is on, if [`Packet::aim`] recorded it.
    #[inline]
    pub fn target(&self) -> Option<u32> {
        self.frame.target()
    }

    /// Writes something into its frame, a copy if others share that.
    fn inscribe(mut self, write: impl FnOnce(&mut Frame)) -> (Self, Option<Self>) {
        if let Some(frame) = Arc::get_mut(&mut self.frame) {
            write(frame);
            return (self, None);
        }
        let mut addresses = [0; 12];
        let known = self.bytes().len().min(addresses.len());
        addresses[..known].copy_from_slice(&self.bytes()[..known]);
        let (mut copied, left) = self.readdress(&addresses);
        if let Some(frame) = Arc::get_mut(&mut copied.frame) {
            write(frame);
        }
        (copied, left)
    }

    /// Returns the number of the port by which the packet came into the fabric, if [`Packet::mark_source`] recorded it.
    #[inline]
    pub fn source(&self) -> Option<u32> {
        self.frame.source()
    }

    /// A packet that is complete as it stands.
    pub fn from_bytes(bytes: Box<[u8]>) -> Self {
        Self::whole(Arc::new(Frame::complete(bytes)))
    }

    /// Whether only the receiver can cut it into the packets that its sender meant: it is then treated as one, longer
    /// than any link's packets.
    #[inline]
    pub fn is_uncuttable(&self) -> bool {
        self.frame.layout().is_none() && self.frame.virtio().segmentation != Segmentation::None
    }

    /// The bits of explicit congestion notification; none if this is not an IP packet.
    #[inline]
    pub fn ecn(&self) -> Option<Ecn> {
        if self.span.is_marked() { Some(Ecn::Congested) } else { flow::ecn(self.bytes()) }
    }

    /// Marks all segments as having experienced congestion, if their sender understands that; says whether it does.
    /// RFC 3168, section 5.
    pub fn mark_congested(&mut self) -> bool {
        let capable = !matches!(self.ecn(), None | Some(Ecn::NotCapable));
        if capable {
            self.span = Span(self.span.0 | MARK);
        }
        capable
    }

    /// The frame's number, which no other frame has as long as it exists, and the first of its segments that is here.
    #[inline]
    pub fn place(&self) -> (u64, u16) {
        (Arc::as_ptr(&self.frame).addr() as u64, self.span.first())
    }

    /// How many bytes of payload each segment of its frame has but the last; zero if the frame is one packet.
    pub fn segment_payload(&self) -> u16 {
        self.frame.layout().map_or(0, |layout| {
            u16::try_from(layout.payload(0..1, self.bytes().len()).len()).expect("a segment is shorter than 64 KiB")
        })
    }

    /// The sequence number of the first byte; none if this is no segment of TCP, or a fragment of one.
    #[inline]
    pub fn sequence(&self) -> Option<u32> {
        let first = flow::sequence(self.bytes())?;
        let before = self.frame.layout().map_or(0, |layout| {
            layout.payload(self.span.range(), self.bytes().len()).start.saturating_sub(layout.head_len())
        });
        Some(first.wrapping_add(u32::try_from(before).expect("frames are shorter than 4 GiB")))
    }

    /// Returns the flow of the packet; none if this is not an IP packet.
    pub fn flow(&self) -> Option<Flow> {
        flow::flow(self.bytes())
    }

    /// Returns the length of all headers in the frame, the Ethernet header included, if links and devices look at nothing beyond them. None for what
    /// is neither TCP nor UDP, for fragments, and for names that are asked for or told (DNS), which faults look at.
    pub fn headers_len(&self) -> Option<usize> {
        let is_dns = |flow: &Flow| [flow.source_port, flow.destination_port].contains(&dns::PORT);
        flow::headers_len(self.bytes()).filter(|len| *len <= MAX_HEAD && self.flow().is_some_and(|flow| !is_dns(&flow)))
    }

    /// Whether kernels and devices exchange such packets by themselves, as no program asked for them: everything but IP (ARP,
    /// spanning trees), IGMP, neighbour discovery, router advertisements, and reports and queries of multicast listeners.
    pub fn is_chatter(&self) -> bool {
        flow::is_chatter(self.bytes())
    }

    /// Whether the packet finds out or tells the hardware address of a neighbour: ARP, and solicitations and advertisements of
    /// neighbours and routers in IPv6.
    pub fn resolves_addresses(&self) -> bool {
        flow::resolves_addresses(self.bytes())
    }

    /// Returns a second packet of the same segments; no byte is copied.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self { frame: Arc::clone(&self.frame), span: self.span }
    }

    /// Writes this packet into `bytes` as a wire would carry it: from the Ethernet header on, its checksum complete. What
    /// was in `bytes` is gone.
    ///
    /// A train comes out as one packet that is longer than the wire's would be; cut it first.
    #[inline]
    pub fn complete(&self, bytes: &mut Vec<u8>) {
        let mut head = [0; MAX_HEAD];
        let Head { virtio, len, payload } = self.write_head(&mut head);
        bytes.clear();
        bytes.extend_from_slice(&head[..len]);
        bytes.extend_from_slice(&self.bytes()[payload]);
        if let Some((start, offset)) = virtio.checksum {
            complete_checksum(bytes, usize::from(start), usize::from(offset));
        }
    }

    /// Returns this packet as [`Packet::complete`] writes it, in a frame of its own. A train is to be cut before, too.
    #[must_use]
    pub fn completed(&self) -> Self {
        let mut bytes = Vec::new();
        self.complete(&mut bytes);
        Self::from_bytes(bytes.into_boxed_slice())
    }

    /// A packet that takes room and time like one of `size` bytes from the IP header on, and of which there are only
    /// these headers, from the Ethernet header on.
    ///
    /// # Panics
    /// If the size is 4 MiB or more.
    pub fn phantom(headers: &[u8], size: Bytes) -> Self {
        let len = usize::try_from(size.get()).unwrap_or(usize::MAX).saturating_add(ETHERNET_HEADER);
        Self::whole(Arc::new(Frame::phantom(headers.into(), len)))
    }

    /// Whether it is a phantom, which is never delivered.
    #[inline]
    pub fn is_phantom(&self) -> bool {
        self.span.flags() & PHANTOM != 0
    }
}
