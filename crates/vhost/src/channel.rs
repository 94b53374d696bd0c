//! The socket to a front-end: messages with descriptors, without waiting.

use crate::error::PortError;
use crate::message::{HEADER, Header, LONGEST, MOST_FILES};
use crate::poller::Watched;
use rustix::io::Errno;
use rustix::net::{self, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, RecvMsg, ReturnFlags, SendFlags};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

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
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut rest = [IoSliceMut::new(&mut self.bytes[self.len..wanted])];
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let RecvMsg { bytes, flags, .. } = match net::recvmsg(&self.socket, &mut rest, &mut control, flags) {
            Ok(received) => received,
            Err(Errno::AGAIN) => return Ok(false),
            Err(Errno::INTR) => return Ok(true),
            Err(Errno::CONNRESET) => return Err(PortError::Closed),
            Err(errno) => return Err(PortError::system("reading a vhost-user message")(errno)),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files);
            }
        }
        if bytes == 0 {
            return Err(PortError::Closed);
        }
        if flags.contains(ReturnFlags::CTRUNC) || self.files.len() > MOST_FILES {
            return Err(PortError::Message(format!("a message with more than {MOST_FILES} descriptors")));
        }
        self.len += bytes;
        Ok(true)
    }

    /// Answers.
    pub(crate) fn reply(&self, bytes: &[u8]) -> Result<(), PortError> {
        match net::send(&self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            Ok(_) => Err(PortError::Message("it asks and does not read the answers".into())),
            Err(Errno::PIPE | Errno::CONNRESET) => Err(PortError::Closed),
            Err(errno) => Err(PortError::system("answering a vhost-user message")(errno)),
        }
    }
}
