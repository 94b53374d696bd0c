//! The guest's memory, mapped into this process.

use crate::fault::Mapping;
use rustix::fs::fstat;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::os::fd::OwnedFd;
use std::ptr::NonNull;

/// A piece of the guest's memory, as its front-end describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegionSpec {
    /// Its address for the guest.
    pub(crate) guest: u64,
    /// Its length in bytes.
    pub(crate) size: u64,
    /// Its address for the front-end's process.
    pub(crate) user: u64,
    /// Where it begins in the file.
    pub(crate) offset: u64,
}

/// Bytes of the guest's memory. Valid as long as the [`Memory`] that it comes from; the guest may write to them at any
/// moment, so they are only ever copied, never referred to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    at: NonNull<u8>,
    len: usize,
}

impl Span {
    pub(crate) fn len(self) -> usize {
        self.len
    }

    pub(crate) fn as_ptr(self) -> *mut u8 {
        self.at.as_ptr()
    }

    /// The bytes from `at` on.
    ///
    /// # Panics
    /// If there are not that many.
    pub(crate) fn from(self, at: usize) -> Self {
        assert!(at <= self.len, "{at} bytes of {}", self.len);
        // SAFETY: the result lies inside the span or just behind it.
        Self { at: unsafe { self.at.add(at) }, len: self.len - at }
    }

    /// Copies as many bytes as fit both, and returns how many that were.
    pub(crate) fn read(self, bytes: &mut [u8]) -> usize {
        let len = self.len.min(bytes.len());
        // SAFETY: both are valid for that length, and a span of mapped memory never overlaps memory of ours. The guest
        // may write meanwhile: then the bytes are what it wrote before or after, whatever that is.
        unsafe { std::ptr::copy_nonoverlapping(self.at.as_ptr(), bytes.as_mut_ptr(), len) };
        len
    }

    /// Copies as many bytes as fit both, and returns how many that were.
    pub(crate) fn write(self, bytes: &[u8]) -> usize {
        let len = self.len.min(bytes.len());
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at.as_ptr(), len) };
        len
    }
}

/// All of the guest's memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    regions: Vec<Region>,
}

#[derive(Debug)]
struct Region {
    spec: RegionSpec,
    mapping: Mapping,
}

impl Memory {
    /// Maps these pieces.
    pub(crate) fn map(pieces: Vec<(RegionSpec, OwnedFd)>) -> Result<Self, String> {
        let regions = pieces.into_iter().map(|(spec, file)| {
            let mapping = map(&spec, &file)?;
            Ok(Region { spec, mapping })
        });
        Ok(Self { regions: regions.collect::<Result<_, String>>()? })
    }

    /// Whether some of it has gone, see [`crate::fault`].
    pub(crate) fn is_lost(&self) -> bool {
        self.regions.iter().any(|region| region.mapping.is_lost())
    }

    /// The `len` bytes at an address of the guest; none if they are not all in one piece of its memory.
    pub(crate) fn guest(&self, address: u64, len: u64) -> Option<Span> {
        self.regions.iter().find_map(|region| region.span(region.spec.guest, address, len))
    }

    /// The `len` bytes at an address of the front-end's process.
    pub(crate) fn user(&self, address: u64, len: u64) -> Option<Span> {
        self.regions.iter().find_map(|region| region.span(region.spec.user, address, len))
    }
}

impl Region {
    fn span(&self, begin: u64, address: u64, len: u64) -> Option<Span> {
        let inside = address.checked_sub(begin)?;
        if inside.checked_add(len)? > self.spec.size {
            return None;
        }
        // Both fit: `map` has seen that offset and size together do.
        let at = usize::try_from(self.spec.offset + inside).ok()?;
        let len = usize::try_from(len).ok()?;
        // SAFETY: `at + len` is at most offset and size together, which is the mapping's length.
        Some(Span { at: unsafe { self.mapping.base().add(at) }, len })
    }
}

/// Maps the file from its beginning on: so the offset may be any, also in huge pages.
fn map(spec: &RegionSpec, file: &OwnedFd) -> Result<Mapping, String> {
    let end = spec.offset.checked_add(spec.size).filter(|&end| spec.size > 0 && isize::try_from(end).is_ok());
    let ends = [spec.guest.checked_add(spec.size), spec.user.checked_add(spec.size)];
    let end = match end {
        Some(end) if !ends.contains(&None) => end,
        _ => return Err(format!("an impossible memory region: {spec:x?}")),
    };
    let held = fstat(file).map_err(|error| format!("looking at the guest's memory file: {error}"))?.st_size;
    if u64::try_from(held).unwrap_or(0) < end {
        return Err(format!("a memory region that ends at {end} in a file of {held} bytes"));
    }
    let len = usize::try_from(end).expect("fits an isize");
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { mmap(std::ptr::null_mut(), len, protection, flags, file, 0) };
    let base = base.map_err(|error| format!("mapping the guest's memory: {error}"))?;
    let base = NonNull::new(base.cast()).expect("a mapping is never at zero");
    // SAFETY: it has just been made with this length.
    Ok(unsafe { Mapping::of(base, len) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    fn file(len: u64) -> OwnedFd {
        let file = memfd_create("guest", MemfdFlags::CLOEXEC).expect("a file");
        ftruncate(&file, len).expect("its length");
        file
    }

    const SPEC: RegionSpec = RegionSpec { guest: 0x1_0000, size: 0x2000, user: 0x7000_0000, offset: 0x1000 };

    #[test]
    fn addresses_lead_into_the_region_and_nowhere_else() {
        let memory = Memory::map(vec![(SPEC, file(0x3000))]).expect("a region");
        let span = memory.guest(0x1_0010, 16).expect("inside");
        assert_eq!(span.write(b"hello"), 5);
        let mut back = [0; 3];
        assert_eq!(memory.user(0x7000_0011, 8).expect("inside").read(&mut back), 3);
        assert_eq!(&back, b"ell");
        assert!(memory.guest(0x1_0000, 0x2000).is_some());
        for (address, len) in [(0x1_0000, 0x2001), (0xffff, 1), (0x1_1fff, 2), (u64::MAX, 2), (0, u64::MAX)] {
            assert!(memory.guest(address, len).is_none(), "{address:x} {len:x}");
        }
    }

    #[test]
    fn impossible_regions_are_refused() {
        for spec in [
            RegionSpec { size: 0, ..SPEC },
            RegionSpec { size: 0x2001, ..SPEC },
            RegionSpec { offset: u64::MAX, ..SPEC },
            RegionSpec { guest: u64::MAX - 5, ..SPEC },
            RegionSpec { size: u64::MAX / 2 + 1, offset: 0, ..SPEC },
        ] {
            assert!(Memory::map(vec![(spec, file(0x3000))]).is_err(), "{spec:x?}");
        }
    }
}
