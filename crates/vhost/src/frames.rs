//! Frames between queues and packets.

use crate::chain::{Cursor, Writer, collect};
use crate::error::PortError;
use crate::memory::Span;
use crate::session::{FROM_GUEST, Session, TO_GUEST};
use netloom_packet::{Head, LARGE_FRAME, MAX_HEAD, Packet, Pool, VIRTIO_HEADER_LEN, VirtioHeader};

/// Length of the virtio-net header in a queue: that of a packet socket, and the number of buffers that a frame fills.
const HEADER: usize = VIRTIO_HEADER_LEN + 2;
/// Length of an Ethernet header, the shortest frame.
const SHORTEST: usize = 14;

/// The outcome of sending a frame to a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The guest has it.
    Done,
    /// There is no room for it now. The guest will ring ([`Event::Kick`](crate::Event::Kick)) when it has made some.
    Full,
    /// The guest does not listen: it has not come yet, its interface was never up, or it has gone.
    Down,
}

/// Lists that are used again, to allocate nothing per frame.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    spans: Vec<Span>,
    /// Each chain that a frame fills: its head, and how many bytes it holds.
    chains: Vec<(u16, u64)>,
}

// SAFETY: the spans are only used within a call, while the memory that they point into is there.
unsafe impl Send for Scratch {}

impl Session {
    /// Takes up to `limit` frames that the guest has sent, and returns how many these were. While the pool is short of
    /// buffers they stay where they are.
    pub(crate) fn receive(
        &mut self,
        scratch: &mut Scratch,
        pool: &mut Pool,
        limit: usize,
        mut sink: impl FnMut(Packet),
    ) -> Result<usize, PortError> {
        let count = self.pending(FROM_GUEST)?.min(u16::try_from(limit).unwrap_or(u16::MAX));
        if count == 0 {
            return Ok(0);
        }
        // Who looks anyway need not be rung for.
        self.queues[FROM_GUEST].ask(false);
        for taken in 0..count {
            if pool.is_short() {
                self.queues[FROM_GUEST].publish();
                return Ok(usize::from(taken));
            }
            sink(self.next(scratch, pool).map_err(|what| self.queues[FROM_GUEST].error(what))?);
        }
        self.queues[FROM_GUEST].publish();
        Ok(usize::from(count))
    }

    /// Whether the guest has agreed to take trains of this kind.
    pub(crate) fn takes_whole(&self, packet: &Packet) -> bool {
        let VirtioHeader { segmentation, ecn, .. } = packet.write_head(&mut [0; MAX_HEAD]).virtio;
        self.features.takes(segmentation, ecn)
    }

    /// How many chains wait in a queue.
    pub(crate) fn pending(&mut self, queue: usize) -> Result<u16, PortError> {
        let pending = self.queues[queue].ring().map_or(Ok(0), |ring| ring.pending());
        // To look at the ring may have shown it.
        if self.memory.is_lost() {
            return Err(PortError::Message("it cut off the memory that it shares".into()));
        }
        pending.map_err(|what| self.queues[queue].error(what))
    }

    /// Copies the next frame out of the queue and gives its buffers back.
    fn next(&mut self, scratch: &mut Scratch, pool: &mut Pool) -> Result<Packet, String> {
        let Self { queues, memory, .. } = self;
        let ring = queues[FROM_GUEST].ring().expect("a queue with a pending frame");
        let head = ring.head(0)?;
        scratch.spans.clear();
        let bytes = collect(ring, memory, head, Writer::Guest, &mut scratch.spans)?;
        let len = usize::try_from(bytes).ok().and_then(|bytes| bytes.checked_sub(HEADER));
        let len = len.filter(|len| (SHORTEST..=LARGE_FRAME).contains(len));
        let len = len.ok_or_else(|| format!("a frame of {bytes} bytes with its header of {HEADER}"))?;
        let mut cursor = Cursor::new(&scratch.spans);
        let mut header = [0; VIRTIO_HEADER_LEN];
        // The number of buffers at the header's end means nothing in this direction.
        cursor.read(&mut header);
        cursor.read(&mut [0; HEADER - VIRTIO_HEADER_LEN]);
        let packet = pool.fill_with(len, |buffer| {
            cursor.read(&mut buffer[..len]);
            Some((len, VirtioHeader::parse(&header)))
        });
        ring.take(1);
        ring.give_back(head, 0);
        Ok(packet.expect("a filled packet"))
    }

    /// Writes a frame into the guest's buffers.
    pub(crate) fn send(&mut self, scratch: &mut Scratch, packet: &Packet) -> Result<Sent, PortError> {
        if self.queues[TO_GUEST].ring().is_none() {
            return Ok(Sent::Down);
        }
        let mut bytes = [0; MAX_HEAD];
        let head = packet.write_head(&mut bytes);
        let payload = &packet.bytes()[head.payload.clone()];
        let len = HEADER + head.len + payload.len();
        if !self.find_room(scratch, len)? {
            // A driver fills the queue when its interface goes up for the first time.
            return Ok(if self.was_up { Sent::Full } else { Sent::Down });
        }
        self.write(scratch, &head, &bytes[..head.len], payload);
        Ok(Sent::Done)
    }

    /// Finds chains for `len` bytes; false if there are none, and the guest was asked to ring when there are.
    fn find_room(&mut self, scratch: &mut Scratch, len: usize) -> Result<bool, PortError> {
        let found = self.gather(scratch, len)?;
        // Asked to ring, it may have made room before it saw that.
        self.queues[TO_GUEST].ask(!found);
        if found { Ok(true) } else { self.gather(scratch, len) }
    }

    fn gather(&mut self, scratch: &mut Scratch, len: usize) -> Result<bool, PortError> {
        let pending = self.pending(TO_GUEST)?;
        self.was_up |= pending > 0;
        let Self { queues, memory, .. } = self;
        let ring = queues[TO_GUEST].ring().expect("the caller has looked");
        scratch.spans.clear();
        scratch.chains.clear();
        let mut room = 0;
        let mut ahead = 0;
        let result = loop {
            if room >= len as u64 {
                break Ok(true);
            }
            if ahead == pending {
                break Ok(false);
            }
            let chain = ring.head(ahead).and_then(|head| {
                let bytes = collect(ring, memory, head, Writer::Device, &mut scratch.spans)?;
                // VIRTIO 1.2, section 5.1.6.3.2: each buffer takes at least the header.
                if bytes < HEADER as u64 { Err(format!("room for {bytes} bytes")) } else { Ok((head, bytes)) }
            });
            match chain {
                Ok((head, bytes)) => {
                    scratch.chains.push((head, bytes));
                    room += bytes;
                    ahead += 1;
                }
                Err(what) => break Err(what),
            }
        };
        result.map_err(|what| queues[TO_GUEST].error(what))
    }

    /// Fills the chains that were found.
    fn write(&mut self, scratch: &Scratch, head: &Head, headers: &[u8], payload: &[u8]) {
        let count = u16::try_from(scratch.chains.len()).expect("no more than the queue has entries");
        let mut header = [0; HEADER];
        header[..VIRTIO_HEADER_LEN].copy_from_slice(&head.virtio.bytes());
        header[VIRTIO_HEADER_LEN..].copy_from_slice(&count.to_le_bytes());
        let mut cursor = Cursor::new(&scratch.spans);
        for part in [&header, headers, payload] {
            cursor.write(part);
        }
        let queue = &mut self.queues[TO_GUEST];
        let ring = queue.ring().expect("room was found in it");
        let mut left = (HEADER + headers.len() + payload.len()) as u64;
        for &(chain, room) in &scratch.chains {
            let written = left.min(room);
            left -= written;
            ring.give_back(chain, u32::try_from(written).expect("a frame is shorter than 4 GiB"));
        }
        ring.take(count);
        // All buffers of a frame become visible at once, as the guest takes them together.
        queue.publish();
    }
}
