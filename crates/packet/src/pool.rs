//! A pool of buffers. The buffer that was returned last is used first, since its memory is still in the cache.

use crate::{Frame, Head, MAX_HEAD, Packet, VirtioHeader};
use alloc::{sync::Arc, vec::Vec};

/// Room of a small frame in bytes: a packet of an ordinary MTU.
pub const SMALL_FRAME: usize = 2_048;
/// Room of a large frame in bytes: a super-packet of 64 KiB with its headers.
pub const LARGE_FRAME: usize = 66 * 1_024;

/// Free buffers of two sizes.
#[derive(Debug, Default)]
pub struct Pool {
    small: Vec<Arc<Frame>>,
    large: Vec<Arc<Frame>>,
    /// How many of each size it had from the beginning.
    stock: [usize; 2],
    /// No buffer is made any more.
    closed: bool,
}

impl Pool {
    /// A pool with that many prefaulted buffers of each size; it grows when more are in use at once.
    pub fn new(small: usize, large: usize) -> Self {
        let frames = |count: usize, room: usize| {
            let mut free = Vec::with_capacity(count.max(1_024));
            free.resize_with(count, || Arc::new(Frame::with_capacity(room)));
            free
        };
        let stock = [small, large];
        Self { small: frames(small, SMALL_FRAME), large: frames(large, LARGE_FRAME), stock, closed: false }
    }

    /// Whether it may grow. If not, packets that find no free buffer are refused by [`Pool::fill_with`].
    pub fn set_growing(&mut self, growing: bool) {
        self.closed = !growing;
    }

    /// Whether [`Pool::fill_with`] would refuse a packet of at most `room` bytes: no buffer is free, and none may be made.
    pub fn is_short_of(&self, room: usize) -> bool {
        let free = if room <= SMALL_FRAME { &self.small } else { &self.large };
        self.closed && free.is_empty()
    }

    /// A packet of at most `room` bytes that `fill` writes into the buffer. It returns how many bytes it wrote and what
    /// the sender left undone on them, or none if there is no packet after all. None, too, if there is no free buffer and
    /// the pool may not grow.
    pub fn fill_with(
        &mut self,
        room: usize,
        fill: impl FnOnce(&mut [u8]) -> Option<(usize, VirtioHeader)>,
    ) -> Option<Packet> {
        if self.is_short_of(room) {
            return None;
        }
        let mut frame = self.take(room);
        let inner = Arc::get_mut(&mut frame).expect("free frames have one owner");
        let Some((len, virtio)) = fill(inner.buffer_mut()) else {
            self.put(frame);
            return None;
        };
        inner.assign(len, virtio);
        Some(Packet::whole(frame))
    }

    /// A packet of which only the first `room` bytes are here, which `fill` writes, and that counts as `len` bytes from the Ethernet header
    /// on. Its other bytes are elsewhere: whoever delivers it knows where. None if there is no free buffer and the pool may
    /// not grow.
    ///
    /// # Panics
    /// If `len` is 4 MiB or more.
    pub fn fill_head(&mut self, room: usize, len: usize, fill: impl FnOnce(&mut [u8])) -> Option<Packet> {
        if self.is_short_of(room) {
            return None;
        }
        let mut frame = self.take(room);
        let inner = Arc::get_mut(&mut frame).expect("free frames have one owner");
        fill(inner.buffer_mut());
        inner.assign_head(room, len);
        Some(Packet::whole(frame))
    }

    /// A packet with these bytes, whether or not the pool may grow.
    #[inline]
    pub fn packet(&mut self, virtio: VirtioHeader, bytes: &[u8]) -> Packet {
        let mut frame = self.take(bytes.len());
        let inner = Arc::get_mut(&mut frame).expect("free frames have one owner");
        inner.buffer_mut()[..bytes.len()].copy_from_slice(bytes);
        inner.assign(bytes.len(), virtio);
        Packet::whole(frame)
    }

    /// The packet with the headers that it has by now written into its frame, and these Ethernet addresses (destination,
    /// source). Of segments that share their frame with others, the bytes are copied.
    ///
    /// # Errors
    /// Gives the packet back if it has to be copied, and there is no buffer for it and none may be made.
    pub fn readdress(&mut self, mut packet: Packet, addresses: &[u8; 12]) -> Result<Packet, Packet> {
        let mut head = [0; MAX_HEAD];
        let Head { virtio, len, payload } = packet.write_head(&mut head);
        head[..addresses.len()].copy_from_slice(addresses);
        if packet.settle_head(&head[..len]) {
            return Ok(packet);
        }
        let end = len + payload.len();
        let copied = self.fill_with(end, |buffer| {
            buffer[..len].copy_from_slice(&head[..len]);
            buffer[len..end].copy_from_slice(&packet.bytes()[payload]);
            if len == 0 {
                buffer[..addresses.len()].copy_from_slice(addresses);
            }
            Some((end, virtio))
        });
        let Some(copied) = copied else { return Err(packet) };
        self.recycle(packet);
        Ok(copied)
    }

    fn take(&mut self, room: usize) -> Arc<Frame> {
        let (free, capacity) =
            if room <= SMALL_FRAME { (&mut self.small, SMALL_FRAME) } else { (&mut self.large, room.max(LARGE_FRAME)) };
        match free.pop() {
            Some(frame) if frame.capacity() >= room => frame,
            _ => Arc::new(Frame::with_capacity(capacity)),
        }
    }

    /// Whether a packet of some size would be refused; see [`Pool::is_short_of`].
    #[inline]
    pub fn is_short(&self) -> bool {
        self.closed && (self.small.is_empty() || self.large.is_empty())
    }

    /// Takes a packet's buffer back if this was its last piece.
    #[inline]
    pub fn recycle(&mut self, packet: Packet) {
        self.put(packet.into_frame());
    }

    /// A free buffer beyond those that the pool had from the beginning, for another pool that runs out of them because its
    /// packets end here. What is in it means nothing; [`Pool::recycle`] takes it in.
    #[inline]
    pub fn take_surplus(&mut self) -> Option<Packet> {
        let [small, large] = self.stock;
        let frame = if self.large.len() > large {
            self.large.pop()
        } else if self.small.len() > small {
            self.small.pop()
        } else {
            None
        };
        frame.map(Packet::whole)
    }

    fn put(&mut self, frame: Arc<Frame>) {
        // Only the last owner may hand a buffer back; the others just let go of it. There are no weak owners, so the
        // last one need not lock the count as `Arc::get_mut` does, which happens anyway when the buffer is filled.
        if Arc::strong_count(&frame) == 1 {
            match frame.capacity() {
                SMALL_FRAME => self.small.push(frame),
                LARGE_FRAME.. => self.large.push(frame),
                // Made for one corrupted packet, or a phantom.
                _ => {}
            }
        }
    }
}
