use std::os::fd::{AsRawFd, OwnedFd};

use netlink_packet_core::{
    DecodeError, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload, NlasIterator,
};
use netlink_packet_route::RouteNetlinkMessage;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

use crate::error::{Attempted, KernelError};
use crate::fds::next_packet;

/// Requests in one send. Should all of them fail, their answers must fit the receive buffer: they take about 800 bytes
/// of its accounting each, and a buffer is at least 200 kB.
const BATCH: usize = 64;

/// Bytes of a netlink header.
const HEADER: usize = 16;

/// A request to the kernel and the words for its failure.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) message: RouteNetlinkMessage,
    /// Beside `NLM_F_REQUEST` and `NLM_F_ACK`.
    pub(crate) flags: u16,
    /// "add route 10.0.0.0/8 via 10.1.0.1".
    pub(crate) attempted: String,
}

/// A netlink route socket of the network namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket in the current network namespace, to which it stays bound.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn open() -> Result<Self, KernelError> {
        let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)
            .attempted(|| "open a netlink socket")?;
        // Both only make error messages shorter and better; kernels without them still work.
        enable(&socket, libc::NETLINK_EXT_ACK);
        enable(&socket, libc::NETLINK_CAP_ACK);
        Ok(Self::over(socket))
    }

    /// Asks over this socket, whose first question has the number 1.
    pub(super) fn over(socket: OwnedFd) -> Self {
        Self { socket, sequence: 0 }
    }

    /// Carries out all requests in order and waits until they are done. The first failure is returned; the requests
    /// behind it have been carried out or not.
    ///
    /// A request is made when it is needed, and again for the text of its failure. Kept requests of a node with hundreds of
    /// routes would be scattered over memory that the node shares with all others, and each touched page would be copied.
    pub(crate) fn transact<I>(&mut self, requests: I) -> Result<(), KernelError>
    where
        I: IntoIterator<Item = Request, IntoIter: Clone>,
    {
        let mut rest = requests.into_iter().peekable();
        let mut buffer = Vec::with_capacity(BATCH * 128);
        while rest.peek().is_some() {
            let batch = rest.clone();
            let first = self.sequence.wrapping_add(1);
            let mut count = 0;
            buffer.clear();
            while let Some(request) = rest.next() {
                count += 1;
                let is_last = count == BATCH || rest.peek().is_none();
                // Failures are always answered; of successes only the last one, since it comes behind all others.
                let ack = if is_last { NLM_F_ACK } else { 0 };
                self.append(&mut buffer, request.message, NLM_F_REQUEST | ack | request.flags);
                if is_last {
                    break;
                }
            }
            let attempted = |place| batch.clone().nth(place).map(|request| request.attempted).unwrap_or_default();
            self.send(&buffer, || attempted(0))?;
            self.read_answers(first, count, attempted)?;
        }
        Ok(())
    }

    /// Waits for the answers to a batch, whose requests have the sequence numbers from `first` on.
    fn read_answers(&self, first: u32, count: usize, attempted: impl Fn(usize) -> String) -> Result<(), KernelError> {
        let mut outcome = Ok(());
        let mut done = false;
        while !done {
            self.receive("read the kernel's answer", |header, payload| {
                let place = header.sequence_number.wrapping_sub(first) as usize;
                if let NetlinkPayload::Error(error) = payload
                    && place < count
                {
                    done |= place == count - 1;
                    if error.code.is_some() && outcome.is_ok() {
                        outcome = Err(refusal(&attempted(place), error.raw_code(), &error.header));
                    }
                }
                Ok(())
            })?;
        }
        outcome
    }

    /// Asks for a whole table and hands every entry to `each`.
    pub(crate) fn dump(
        &mut self,
        message: RouteNetlinkMessage,
        attempted: &str,
        mut each: impl FnMut(RouteNetlinkMessage),
    ) -> Result<(), KernelError> {
        let mut buffer = Vec::new();
        self.append(&mut buffer, message, NLM_F_REQUEST | NLM_F_DUMP);
        let sequence = self.sequence;
        self.send(&buffer, || attempted)?;
        let mut done = false;
        while !done {
            self.receive(attempted, |header, payload| {
                if header.sequence_number != sequence {
                    return Ok(());
                }
                match payload {
                    NetlinkPayload::InnerMessage(entry) => each(entry),
                    NetlinkPayload::Done(_) => done = true,
                    NetlinkPayload::Error(error) => return Err(refusal(attempted, error.raw_code(), &error.header)),
                    _ => (),
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Asks for one entry.
    pub(crate) fn get(
        &mut self,
        message: RouteNetlinkMessage,
        attempted: &str,
    ) -> Result<RouteNetlinkMessage, KernelError> {
        let mut buffer = Vec::new();
        self.append(&mut buffer, message, NLM_F_REQUEST);
        let sequence = self.sequence;
        self.send(&buffer, || attempted)?;
        let mut answer = None;
        while answer.is_none() {
            self.receive(attempted, |header, payload| {
                match payload {
                    _ if header.sequence_number != sequence => (),
                    NetlinkPayload::InnerMessage(entry) => answer = Some(entry),
                    NetlinkPayload::Error(error) => return Err(refusal(attempted, error.raw_code(), &error.header)),
                    _ => (),
                }
                Ok(())
            })?;
        }
        answer.ok_or_else(|| KernelError::new(attempted, libc::ENODATA))
    }

    fn append(&mut self, buffer: &mut Vec<u8>, message: RouteNetlinkMessage, flags: u16) {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        message.finalize();
        let start = buffer.len();
        buffer.resize((start + message.buffer_len()).next_multiple_of(4), 0);
        message.serialize(&mut buffer[start..]);
    }

    fn send<S: Into<String>>(&self, buffer: &[u8], attempted: impl FnOnce() -> S) -> Result<(), KernelError> {
        send(self.socket.as_raw_fd(), buffer, MsgFlags::empty()).attempted(attempted)?;
        Ok(())
    }

    fn receive(
        &self,
        attempted: &str,
        mut each: impl FnMut(NetlinkHeader, NetlinkPayload<RouteNetlinkMessage>) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let mut buffer = vec![0; next_packet(&self.socket).attempted(|| attempted)?];
        let length = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).attempted(|| attempted)?;
        if length == 0 {
            // A kernel does not do this. A caller that waited for the rest would wait for ever.
            return Err(KernelError::new(attempted, libc::EPIPE).with_detail("the answer ends in its middle"));
        }
        let mut rest = &buffer[..length];
        while rest.len() >= HEADER {
            let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                .map_err(|error| malformed(attempted, &error))?;
            let step = (message.header.length as usize).next_multiple_of(4).clamp(HEADER, rest.len());
            rest = &rest[step..];
            let (header, payload) = message.into_parts();
            each(header, payload)?;
        }
        Ok(())
    }
}

fn enable(socket: &OwnedFd, option: libc::c_int) {
    let on: libc::c_int = 1;
    // SAFETY: the option reads one int, and that is what it is given.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_NETLINK,
            option,
            (&raw const on).cast(),
            size_of_val(&on).try_into().expect("an int is small"),
        );
    }
}

/// `echo` is what follows the error code: the header of the request, then the kernel's explanations.
fn refusal(attempted: &str, code: i32, echo: &[u8]) -> KernelError {
    const MESSAGE: u16 = 1; // NLMSGERR_ATTR_MSG of linux/netlink.h
    let error = KernelError::new(attempted, code.saturating_neg());
    let explanation = echo
        .get(HEADER..)
        .into_iter()
        .flat_map(NlasIterator::new)
        .map_while(Result::ok)
        .find(|attribute| attribute.kind() == MESSAGE);
    match explanation {
        Some(text) => error.with_detail(String::from_utf8_lossy(text.value()).trim_end_matches('\0')),
        None => error,
    }
}

fn malformed(attempted: &str, error: &DecodeError) -> KernelError {
    KernelError::new(attempted, libc::EBADMSG).with_detail(error.to_string())
}
