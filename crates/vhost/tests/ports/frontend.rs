//! A guest's kernel as a port sees it: memory in a file, two virtqueues, and a socket for messages.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Length of the memory.
pub(crate) const MEMORY: usize = 1 << 20;
/// Where it is for the guest, and for the front-end's process.
pub(crate) const GUEST: u64 = 0x10_0000;
pub(crate) const USER: u64 = 0x7f00_0000_0000;
/// Entries of each queue.
pub(crate) const SIZE: u16 = 16;
/// Where the parts of queue 0 are in the memory; those of queue 1 are `QUEUE` further.
pub(crate) const DESCRIPTORS: usize = 0x1000;
pub(crate) const AVAILABLE: usize = 0x2000;
pub(crate) const USED: usize = 0x3000;
pub(crate) const QUEUE: usize = 0x4000;
/// Where buffers are.
pub(crate) const BUFFERS: usize = 0x2_0000;

pub(crate) const NEXT: u16 = 1;
pub(crate) const WRITE: u16 = 2;
pub(crate) const INDIRECT: u16 = 4;
pub(crate) const TO_GUEST: usize = 0;
pub(crate) const FROM_GUEST: usize = 1;

/// All features that the device offers.
pub(crate) const OFFERED: u64 = 1 << 56
    | 1 << 55
    | 1 << 54
    | 1 << 32
    | 1 << 30
    | 1 << 28
    | 1 << 15
    | 1 << 13
    | 1 << 12
    | 1 << 11
    | 1 << 9
    | 1 << 8
    | 1 << 7
    | 1 << 1
    | 1;

pub(crate) struct Frontend {
    pub(crate) socket: UnixStream,
    pub(crate) file: OwnedFd,
    memory: *mut u8,
    pub(crate) kicks: [OwnedFd; 2],
    /// The port's ends of what it rings on, and the guest's.
    pub(crate) calls: [OwnedFd; 2],
    rings: [OwnedFd; 2],
    /// How many entries the guest has put into each available ring.
    pub(crate) put: [u16; 2],
    /// How many entries the guest has taken from each used ring.
    pub(crate) taken: [u16; 2],
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Frontend {}

fn own(fd: RawFd) -> OwnedFd {
    assert!(fd >= 0, "{}", io::Error::last_os_error());
    // SAFETY: a system call has just returned it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn event() -> OwnedFd {
    // SAFETY: eventfd() takes no pointers.
    own(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK) })
}

/// What User-Mode Linux takes for a pipe.
fn pair() -> (OwnedFd, OwnedFd) {
    let mut ends = [-1; 2];
    // SAFETY: the array has room for two descriptors.
    unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, ends.as_mut_ptr()) };
    (own(ends[0]), own(ends[1]))
}

impl Frontend {
    pub(crate) fn connect(path: &Path) -> Self {
        // SAFETY: the name ends with a zero; ftruncate() takes no pointers; a new mapping.
        let (file, memory) = unsafe {
            let file = own(libc::memfd_create(c"guest".as_ptr(), 0));
            assert_eq!(libc::ftruncate(file.as_raw_fd(), MEMORY as i64), 0);
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let memory = libc::mmap(std::ptr::null_mut(), MEMORY, protection, libc::MAP_SHARED, file.as_raw_fd(), 0);
            assert_ne!(memory, libc::MAP_FAILED);
            (file, memory.cast())
        };
        let socket = UnixStream::connect(path).expect("the port listens");
        socket.set_nonblocking(true).expect("a socket");
        let (kicks, [(first, one), (second, other)]) = ([event(), event()], [pair(), pair()]);
        let (calls, rings) = ([first, second], [one, other]);
        Self { socket, file, memory, kicks, calls, rings, put: [0; 2], taken: [0; 2] }
    }

    /// Sends a message.
    pub(crate) fn send(&self, request: u32, flags: u32, payload: &[u8], files: &[RawFd]) {
        let size = u32::try_from(payload.len()).expect("short");
        let mut bytes = [request, flags, size].map(u32::to_ne_bytes).concat();
        bytes.extend_from_slice(payload);
        self.send_raw(&bytes, files);
    }

    pub(crate) fn send_raw(&self, bytes: &[u8], files: &[RawFd]) {
        let mut control = [0_u64; 16];
        let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        // SAFETY: all pointers are to locals that live through the call; the control data has room for 16 files.
        unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            if !files.is_empty() {
                let len = u32::try_from(size_of_val(files)).expect("few");
                message.msg_control = control.as_mut_ptr().cast();
                message.msg_controllen = libc::CMSG_SPACE(len) as usize;
                let header = &mut *libc::CMSG_FIRSTHDR(&raw const message);
                header.cmsg_level = libc::SOL_SOCKET;
                header.cmsg_type = libc::SCM_RIGHTS;
                header.cmsg_len = libc::CMSG_LEN(len) as usize;
                std::ptr::copy_nonoverlapping(files.as_ptr(), libc::CMSG_DATA(header).cast(), files.len());
            }
            libc::sendmsg(self.socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL);
        }
    }

    /// The answer to `request`: its payload of eight bytes.
    pub(crate) fn answer(&mut self, request: u32) -> u64 {
        let mut bytes = [0; 20];
        io::Read::read_exact(&mut self.socket, &mut bytes).expect("an answer");
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        assert_eq!([word(0), word(4), word(8)], [request, 5, 8]);
        u64::from_ne_bytes(bytes[12..].try_into().expect("eight bytes"))
    }

    /// The answer to `request`: its payload.
    pub(crate) fn answer_of(&mut self, request: u32) -> Vec<u8> {
        let mut header = [0; 12];
        io::Read::read_exact(&mut self.socket, &mut header).expect("an answer");
        let word = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().expect("four bytes"));
        assert_eq!([word(0), word(4)], [request, 5]);
        let mut payload = vec![0; word(8) as usize];
        io::Read::read_exact(&mut self.socket, &mut payload).expect("an answer");
        payload
    }

    pub(crate) fn memory_table(&self) -> Vec<u8> {
        let mut payload = [1_u32, 0].map(u32::to_ne_bytes).concat();
        payload.extend([GUEST, MEMORY as u64, USER, 0].map(u64::to_ne_bytes).concat());
        payload
    }

    pub(crate) fn addresses(queue: usize) -> Vec<u8> {
        let at = |offset: usize| USER + (queue * QUEUE + offset) as u64;
        let mut payload = [u32::try_from(queue).expect("small"), 0].map(u32::to_ne_bytes).concat();
        payload.extend([at(DESCRIPTORS), at(USED), at(AVAILABLE), u64::MAX].map(u64::to_ne_bytes).concat());
        payload
    }

    pub(crate) fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= MEMORY);
        // SAFETY: inside the mapping.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory.add(at), bytes.len()) };
    }

    pub(crate) fn read(&self, at: usize, len: usize) -> Vec<u8> {
        assert!(at + len <= MEMORY);
        let mut bytes = vec![0; len];
        // SAFETY: inside the mapping.
        unsafe { std::ptr::copy_nonoverlapping(self.memory.add(at), bytes.as_mut_ptr(), len) };
        bytes
    }

    pub(crate) fn word(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.read(at, 2).try_into().expect("two bytes"))
    }

    pub(crate) fn descriptor_at(&self, at: usize, address: u64, len: u32, flags: u16, next: u16) {
        self.write(at, &address.to_le_bytes());
        self.write(at + 8, &len.to_le_bytes());
        self.write(at + 12, &[flags.to_le_bytes(), next.to_le_bytes()].concat());
    }

    pub(crate) fn descriptor(&self, queue: usize, index: u16, address: u64, len: u32, flags: u16, next: u16) {
        self.descriptor_at(queue * QUEUE + DESCRIPTORS + 16 * usize::from(index), address, len, flags, next);
    }

    /// Puts a chain into the available ring.
    pub(crate) fn put(&mut self, queue: usize, head: u16) {
        let available = queue * QUEUE + AVAILABLE;
        self.write(available + 4 + 2 * usize::from(self.put[queue] % SIZE), &head.to_le_bytes());
        self.put[queue] = self.put[queue].wrapping_add(1);
        self.write(available + 2, &self.put[queue].to_le_bytes());
    }

    /// The next entry of the used ring: head and length.
    pub(crate) fn take(&mut self, queue: usize) -> Option<(u32, u32)> {
        let used = queue * QUEUE + USED;
        if self.word(used + 2) == self.taken[queue] {
            return None;
        }
        let entry = self.read(used + 4 + 8 * usize::from(self.taken[queue] % SIZE), 8);
        self.taken[queue] = self.taken[queue].wrapping_add(1);
        let word = |at: usize| u32::from_le_bytes(entry[at..at + 4].try_into().expect("four bytes"));
        Some((word(0), word(4)))
    }

    /// Whether the port asks to be rung.
    pub(crate) fn is_asked_to_kick(&self, queue: usize) -> bool {
        self.word(queue * QUEUE + USED) & 1 == 0
    }

    pub(crate) fn kick(&self, queue: usize) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: the buffer has eight bytes.
        assert_eq!(unsafe { libc::write(self.kicks[queue].as_raw_fd(), one.as_ptr().cast(), 8) }, 8);
    }

    /// How often the port rang since the last look.
    pub(crate) fn rung(&self, queue: usize) -> u64 {
        let mut bytes = [0; 1_024];
        let fd = self.rings[queue].as_raw_fd();
        // SAFETY: the buffer has that many bytes.
        let count = unsafe { libc::recv(fd, bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) };
        u64::try_from(count).unwrap_or(0) / 8
    }

    /// Puts a frame with its header of twelve bytes into the queue from the guest, as one chain of one buffer.
    pub(crate) fn transmit(&mut self, header: &[u8; 12], frame: &[u8]) {
        let slot = self.put[FROM_GUEST] % SIZE;
        let at = BUFFERS + 0x1000 * usize::from(slot);
        self.write(at, header);
        self.write(at + 12, frame);
        let len = u32::try_from(12 + frame.len()).expect("short");
        self.descriptor(FROM_GUEST, slot, GUEST + at as u64, len, 0, 0);
        self.put(FROM_GUEST, slot);
    }

    /// Puts a buffer with room for `len` bytes into the queue to the guest, and says where it is.
    pub(crate) fn make_room(&mut self, len: u32) -> usize {
        let slot = self.put[TO_GUEST] % SIZE;
        let at = BUFFERS + 0x4_0000 + 0x1000 * usize::from(slot);
        self.descriptor(TO_GUEST, slot, GUEST + at as u64, len, WRITE, 0);
        self.put(TO_GUEST, slot);
        at
    }
}

impl Drop for Frontend {
    fn drop(&mut self) {
        // SAFETY: mapped in `connect` with this length.
        unsafe { libc::munmap(self.memory.cast(), MEMORY) };
    }
}
