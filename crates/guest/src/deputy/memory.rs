//! Memory that the lab process shares with kernels' processes, and words in it on which either side sleeps.

use std::ffi::{CStr, c_void};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
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
        // SAFETY: the name is a string that ends with a zero byte.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if fd == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it has just been made, and nothing else knows it.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let length = libc::off_t::try_from(size).map_err(io::Error::other)?;
        // SAFETY: plain numbers.
        if unsafe { libc::ftruncate(file.as_raw_fd(), length) } == -1 {
            return Err(io::Error::last_os_error());
        }
        // If the other side truncated the file, reading it would kill this process.
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: plain numbers.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok((Self::of(&file, size)?, file))
    }

    /// The first `size` bytes of a file that has so many.
    pub(super) fn of(file: &OwnedFd, size: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file of this size, at an address that the kernel chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
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
        unsafe { libc::munmap(self.start.as_ptr().cast::<c_void>(), self.size) };
    }
}

/// Sleeps while `word` has this value, for `longest` at most, or until it is woken; may return earlier.
pub(super) fn wait_while(word: &AtomicU32, value: u32, longest: Duration) {
    let limit = libc::timespec {
        tv_sec: libc::time_t::try_from(longest.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: longest.subsec_nanos().into(),
    };
    // SAFETY: the word lives as long as the call, which only reads it; `limit` is ours.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const limit) };
}

/// Wakes who sleeps on `word`.
pub(super) fn wake(word: &AtomicU32) {
    // SAFETY: the call does not touch the word.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}
