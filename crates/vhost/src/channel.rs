//! The socket to a front-end: messages with descriptors, without waiting.

use crate::error::PortError;
use crate::message::{HEADER, Header, LONGEST, MOST_FILES};
use crate::poller::Watched;
use crate::sys::own;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Room for the control data of one message, aligned for its headers.
type Control = [u64; 8];

/// See the module.
#[derive(Debug)]
pub(crate) struct Channel {
    socket: Watched,
    /// What has come of the current message.
    bytes: [u8; HEADER + LONGEST],
    len: usize,
    files: Vec<OwnedFd>,
}

/// A whole message.
pub(crate) struct Received<'a> {
    pub(crate) header: Header,
    pub(crate) payload: &'a [u8],
    pub(crate) files: Vec<OwnedFd>,
}

impl Channel {
    pub(crate) fn new(socket: Watched) -> Self {
        Self { socket, bytes: [0; HEADER + LONGEST], len: 0, files: Vec::new() }
    }

    /// The next message, if a whole one has come.
    pub(crate) fn receive(&mut self) -> Result<Option<Received<'_>>, PortError> {
        let header = loop {
            let header = self.header()?;
            let wanted = HEADER + header.map_or(0, |header| header.size);
            match header {
                Some(header) if self.len == wanted => break header,
                _ => {}
            }
            if !self.read_up_to(wanted)? {
                return Ok(None);
            }
        };
        self.len = 0;
        let payload = &self.bytes[HEADER..HEADER + header.size];
        Ok(Some(Received { header, payload, files: std::mem::take(&mut self.files) }))
    }

    fn header(&self) -> Result<Option<Header>, PortError> {
        let bytes = self.bytes[..HEADER].try_into().expect("a header's length");
        if self.len < HEADER { Ok(None) } else { Header::parse(bytes).map(Some).map_err(PortError::Message) }
    }

    /// Reads until there are `wanted` bytes; false if there is nothing to read now.
    fn read_up_to(&mut self, wanted: usize) -> Result<bool, PortError> {
        let mut control: Control = [0; 8];
        let rest = &mut self.bytes[self.len..wanted];
        let mut part = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        // SAFETY: all-zero is a valid message: no address, no data.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of::<Control>();
        let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
        // SAFETY: the part and the control data are writable for their lengths and live through the call.
        let count = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, flags) };
        if count < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock => Ok(false),
                io::ErrorKind::Interrupted => Ok(true),
                io::ErrorKind::ConnectionReset => Err(PortError::Closed),
                _ => Err(PortError::System { attempted: "reading a vhost-user message", error }),
            };
        }
        // SAFETY: the kernel has just filled the message and its control data.
        unsafe { take_files(&message, &mut self.files) };
        if count == 0 {
            return Err(PortError::Closed);
        }
        if message.msg_flags & libc::MSG_CTRUNC != 0 || self.files.len() > MOST_FILES {
            return Err(PortError::Message(format!("a message with more than {MOST_FILES} descriptors")));
        }
        self.len += count.cast_unsigned();
        Ok(true)
    }

    /// Answers.
    pub(crate) fn reply(&self, bytes: &[u8]) -> Result<(), PortError> {
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the pointer and the length describe `bytes`.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
        match usize::try_from(sent) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            Ok(_) => Err(PortError::Message("it asks and does not read the answers".into())),
            Err(_) => Err(match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::BrokenPipe => PortError::Closed,
                error if error.kind() == io::ErrorKind::ConnectionReset => PortError::Closed,
                error => PortError::System { attempted: "answering a vhost-user message", error },
            }),
        }
    }
}

/// Takes the descriptors that came with a message.
///
/// # Safety
/// The message's control data is what `recvmsg` wrote.
unsafe fn take_files(message: &libc::msghdr, files: &mut Vec<OwnedFd>) {
    // SAFETY: the macros walk the control data within the length that the kernel wrote; data of SCM_RIGHTS is
    // descriptors, which are new and nobody else's.
    unsafe {
        let mut next = libc::CMSG_FIRSTHDR(message);
        while let Some(header) = next.as_ref() {
            if header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_RIGHTS {
                let data = libc::CMSG_DATA(header).cast::<RawFd>();
                let bytes = header.cmsg_len - usize::try_from(libc::CMSG_LEN(0)).expect("a small number");
                for index in 0..bytes / size_of::<RawFd>() {
                    files.push(own(data.add(index).read_unaligned()));
                }
            }
            next = libc::CMSG_NXTHDR(message, header);
        }
    }
}
