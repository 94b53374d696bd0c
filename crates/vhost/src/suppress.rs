//! Who rings for whom: one side publishes how far it has come and rings if the other wants it; the other says that it wants it,
//! and looks once more before it sleeps (VIRTIO 1.2, sections 2.7.7 and 2.7.10). Both directions of a queue do the same.
//!
//! This file is also run under loom: see `sync`.

use crate::sync::{AtomicU16, Ordering, fence};

/// Shows the other side that it has come as far as `index`.
#[inline]
pub(crate) fn publish(shown: &AtomicU16, index: u16) {
    shown.store(index.to_le(), Ordering::Release);
}

/// How far the other side has come beyond `taken`, modulo 2^16.
#[inline]
pub(crate) fn ahead(shown: &AtomicU16, taken: u16) -> u16 {
    u16::from_le(shown.load(Ordering::Acquire)).wrapping_sub(taken)
}

/// Whether the other side wants to be rung for of what was published: none of its flags is `unwanted`.
#[inline]
pub(crate) fn is_wanted(flags: &AtomicU16, unwanted: u16) -> bool {
    // What was published must be visible before the other's wish is read: it writes its wish and then looks.
    fence(Ordering::SeqCst);
    u16::from_le(flags.load(Ordering::Relaxed)) & unwanted == 0
}

/// Says whether to be rung for. Look again afterwards: something may just have been published.
#[inline]
pub(crate) fn want(flags: &AtomicU16, unwanted: u16, want: bool) {
    let value = if want { 0 } else { unwanted };
    flags.store(value.to_le(), Ordering::Relaxed);
    if want {
        // The wish must be visible before the look: the other side publishes and then reads it.
        fence(Ordering::SeqCst);
    }
}
