//! A split virtqueue in the guest's memory (VIRTIO 1.2, section 2.7).

use crate::memory::{Memory, Span};
use crate::message::Addresses;
use crate::suppress::{ahead, is_wanted, publish, want};
use crate::sync::{AtomicU16, Ordering};

/// Length of a descriptor in bytes.
pub(crate) const DESCRIPTOR: usize = 16;
/// The largest queue.
const LARGEST: u32 = 32_768;
/// In the used ring's flags: the guest need not ring.
const NO_NOTIFY: u16 = 1;
/// In the available ring's flags: we need not ring.
const NO_INTERRUPT: u16 = 1;

/// One buffer of a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor {
    pub(crate) address: u64,
    pub(crate) len: u32,
    pub(crate) flags: u16,
    pub(crate) next: u16,
}

impl Descriptor {
    pub(crate) fn read(table: Span, index: u16) -> Self {
        let mut bytes = [0; DESCRIPTOR];
        let read = table.from(usize::from(index) * DESCRIPTOR).read(&mut bytes);
        debug_assert_eq!(read, DESCRIPTOR, "tables are whole");
        Self {
            address: u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")),
            len: u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes")),
            flags: u16::from_le_bytes([bytes[12], bytes[13]]),
            next: u16::from_le_bytes([bytes[14], bytes[15]]),
        }
    }
}

/// See the module. Its spans are of the memory that it was made with.
#[derive(Debug)]
pub(crate) struct Ring {
    descriptors: Span,
    available: Span,
    used: Span,
    size: u16,
    /// The next entry of the available ring that we take.
    next_available: u16,
    /// The next entry of the used ring that we fill.
    next_used: u16,
}

// SAFETY: the spans point into a mapping that is not bound to a thread, and that the owner of the ring keeps.
unsafe impl Send for Ring {}

/// Where a ring begins to be served.
pub(crate) fn valid_size(size: u32) -> Result<u16, String> {
    let valid = size.is_power_of_two() && size <= LARGEST;
    if valid { Ok(u16::try_from(size).expect("at most 2^15")) } else { Err(format!("a queue of {size} entries")) }
}

impl Ring {
    /// The ring at these addresses, of which `base` entries were taken before.
    pub(crate) fn at(memory: &Memory, addresses: &Addresses, size: u16, base: u16) -> Result<Self, String> {
        let entries = u64::from(size);
        let part = |name: &str, address: u64, len: u64, alignment: u64| {
            let span = memory.user(address, len).filter(|span| (span.as_ptr() as u64).is_multiple_of(alignment));
            span.ok_or_else(|| format!("{len} bytes for its {name} at {address:#x}, outside its memory or not aligned"))
        };
        let used = part("used ring", addresses.used, 6 + 8 * entries, 4)?;
        let mut ring = Self {
            descriptors: part("descriptors", addresses.descriptors, 16 * entries, 16)?,
            available: part("available ring", addresses.available, 6 + 2 * entries, 2)?,
            used,
            size,
            next_available: base,
            next_used: 0,
        };
        ring.next_used = ring.atomic(used, 2).load(Ordering::Relaxed);
        Ok(ring)
    }

    pub(crate) fn size(&self) -> u16 {
        self.size
    }

    pub(crate) fn descriptors(&self) -> Span {
        self.descriptors
    }

    /// How many entries were taken since the queue was made, modulo 2^16.
    pub(crate) fn position(&self) -> u16 {
        self.next_available
    }

    /// A number of 16 bits that both sides use at the same time.
    fn atomic(&self, span: Span, at: usize) -> &AtomicU16 {
        debug_assert!(at + 2 <= span.len(), "rings are checked when they are made");
        // SAFETY: inside the span, which lives as long as the ring; even, as the spans are aligned and `at` is even.
        unsafe { AtomicU16::from_ptr(span.as_ptr().add(at).cast()) }
    }

    /// How many chains the guest has put in that were not taken.
    #[inline]
    pub(crate) fn pending(&self) -> Result<u16, String> {
        let pending = ahead(self.atomic(self.available, 2), self.next_available);
        if pending > self.size {
            return Err(format!("{pending} new entries in a queue of {}", self.size));
        }
        Ok(pending)
    }

    /// The head of the chain that is `ahead` of the next one. It must be pending.
    pub(crate) fn head(&self, ahead: u16) -> Result<u16, String> {
        let slot = usize::from(self.next_available.wrapping_add(ahead) & (self.size - 1));
        let head = u16::from_le(self.atomic(self.available, 4 + 2 * slot).load(Ordering::Relaxed));
        if head < self.size { Ok(head) } else { Err(format!("descriptor {head} of {}", self.size)) }
    }

    /// Takes this many chains.
    pub(crate) fn take(&mut self, chains: u16) {
        self.next_available = self.next_available.wrapping_add(chains);
    }

    /// Gives a chain back, into which `written` bytes were written. It is seen with the next [`Ring::publish`].
    pub(crate) fn give_back(&mut self, head: u16, written: u32) {
        let slot = usize::from(self.next_used & (self.size - 1));
        let mut entry = [0; 8];
        entry[..4].copy_from_slice(&u32::from(head).to_le_bytes());
        entry[4..].copy_from_slice(&written.to_le_bytes());
        self.used.from(4 + 8 * slot).write(&entry);
        self.next_used = self.next_used.wrapping_add(1);
    }

    /// Shows the guest what was given back.
    pub(crate) fn publish(&self) {
        publish(self.atomic(self.used, 2), self.next_used);
    }

    /// Whether the guest wants a notification of what was published.
    pub(crate) fn wants_call(&self) -> bool {
        is_wanted(self.atomic(self.available, 0), NO_INTERRUPT)
    }

    /// Enables or suppresses the guest's notifications. Look at the queue again afterwards: the guest may just have
    /// added to it.
    pub(crate) fn ask_for_kicks(&self, ask: bool) {
        want(self.atomic(self.used, 0), NO_NOTIFY, ask);
    }
}
