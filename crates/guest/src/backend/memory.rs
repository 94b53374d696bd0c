//! Memory that the lab process shares with kernels' processes, and words in it on which either side sleeps.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex::{self, Timespec};
use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// A mapping of a file in memory.
#[derive(Debug)]
pub(super) struct Memory {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: the mapping belongs to this value alone; which thread reads it does not matter.
unsafe impl Send for Memory {}
// SAFETY: a shared reference gives atomics, or bytes by copy.
unsafe impl Sync for Memory {}

impl Memory {
    /// A new file of `size` zero bytes, mapped, and its descriptor.
    pub(super) fn create(name: &CStr, size: usize) -> io::Result<(Self, OwnedFd)> {
        let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, size as u64)?;
        // If the other side truncated the file, reading it would kill this process.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok((Self::of(&file, size)?, file))
    }

    /// The first `size` bytes of a file that has so many.
    pub(super) fn of(file: &OwnedFd, size: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of a file of this size, at an address that the kernel chooses.
        let start = unsafe { mmap(std::ptr::null_mut(), size, access, MapFlags::SHARED, file, 0) }?;
        Ok(Self { start: NonNull::new(start.cast()).expect("a mapping is not at address 0"), size })
    }

    /// A word at a multiple of four bytes.
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4) && at + 4 <= self.size, "inside the memory");
        // SAFETY: it lies inside the mapping, which lives as long as this value; the other side reads and writes it, too,
        // hence the atomic.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    /// Copies bytes out. If the other side writes them meanwhile, other bytes are read, which does no harm: no reference to
    /// them outlives the call.
    pub(super) fn copy_out(&self, at: usize, bytes: &mut [u8]) {
        assert!(at <= self.size && bytes.len() <= self.size - at, "inside the memory");
        // SAFETY: the range lies inside the mapping, and `bytes` is memory of our own.
        unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr().add(at), bytes.as_mut_ptr(), bytes.len()) };
    }

    pub(super) fn read<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        self.copy_out(at, &mut bytes);
        bytes
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at <= self.size && bytes.len() <= self.size - at, "inside the memory");
        // SAFETY: the range lies inside the mapping, and `bytes` is memory of our own.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this size, and nothing refers to it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.size) };
    }
}

/// Sleeps while `word` has this value, for `longest` at most, or until it is woken; may return earlier.
pub(super) fn wait_while(word: &AtomicU32, value: u32, longest: Duration) {
    let limit = Timespec {
        tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: longest.subsec_nanos().into(),
    };
    let _ = futex::wait(word, futex::Flags::empty(), value, Some(&limit));
}

/// Wakes who sleeps on `word`.
pub(super) fn wake(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::empty(), 1);
}
