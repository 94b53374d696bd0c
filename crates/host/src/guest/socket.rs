use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, setsockopt, socket, sockopt};

use super::frames::{ETHERNET, ETHERTYPE, Fragmenter, LONGEST_FROM_GUEST, Reassembler};
use super::message::{FromGuest, ToGuest, Wire};
use crate::error::{Attempted, KernelError};

/// Room for what arrives while the agent is busy: the windows of many programs, at several times their size, since the
/// kernel counts whole pages.
const RECEIVE_ROOM: usize = 16 << 20;

/// The agent's end of the control device.
pub(super) struct ControlSocket {
    socket: OwnedFd,
    fragmenter: Fragmenter,
    reassembler: Reassembler,
    buffer: Vec<u8>,
}

impl ControlSocket {
    /// Opens a socket for the control frames of the device `index` with this `mtu`.
    pub(super) fn open(index: u32, mtu: u32) -> Result<Self, KernelError> {
        // Without a protocol nothing is received before the socket is bound.
        let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)
            .attempted(|| "open a packet socket")?;
        setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_ROOM)
            .attempted(|| "enlarge the receive buffer of the control device")?;
        bind(&socket, index).attempted(|| "bind a socket to the control device")?;
        let longest = LONGEST_FROM_GUEST.min(ETHERNET + mtu as usize);
        Ok(Self {
            socket,
            fragmenter: Fragmenter::new(longest),
            reassembler: Reassembler::default(),
            buffer: vec![0; 1 << 16],
        })
    }

    /// Sends a message, and waits while the device is full.
    pub(super) fn send(&mut self, message: &FromGuest) -> io::Result<()> {
        let bytes = message.encode();
        for frame in self.fragmenter.cut(&bytes) {
            while let Err(error) = send(self.socket.as_raw_fd(), &frame, MsgFlags::empty()) {
                if error != nix::errno::Errno::EINTR {
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    /// The next message, if all of it has arrived.
    pub(super) fn receive(&mut self) -> io::Result<Option<ToGuest>> {
        loop {
            let length = match recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_DONTWAIT) {
                Ok(length) => length,
                Err(nix::errno::Errno::EAGAIN) => return Ok(None),
                Err(nix::errno::Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let message = self.reassembler.take(&self.buffer[..length]).map_err(io::Error::other)?;
            if let Some(bytes) = message {
                return ToGuest::decode(&bytes).map(Some).map_err(io::Error::other);
            }
        }
    }
}

impl AsFd for ControlSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn bind(socket: &OwnedFd, index: u32) -> io::Result<()> {
    // SAFETY: a structure of plain numbers, for which zeros are valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::c_ushort::try_from(libc::AF_PACKET).expect("a family is small");
    address.sll_protocol = ETHERTYPE.to_be();
    address.sll_ifindex = libc::c_int::try_from(index).map_err(io::Error::other)?;
    let length = size_of_val(&address).try_into().expect("a small structure");
    // SAFETY: the address outlives the call, which is told its true length.
    let bound = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if bound == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
