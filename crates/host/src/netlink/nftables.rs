//! The rules of nftables of a network namespace.

use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

use crate::error::{Attempted, KernelError};
use crate::fds::next_packet;

/// NFNL_MSG_BATCH_BEGIN, NFNL_MSG_BATCH_END and NFNL_SUBSYS_NFTABLES (linux/netfilter/nfnetlink.h).
const BEGIN: u16 = 16;
const END: u16 = 17;
const NFTABLES: u16 = 10;
/// NFT_MSG_DELTABLE (linux/netfilter/nf_tables.h).
const DELETE_TABLE: u16 = NFTABLES << 8 | 2;
/// NLM_F_REQUEST and NLM_F_ACK (linux/netlink.h).
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
/// Bytes of `nlmsghdr` and `nfgenmsg`.
const LENGTH: u32 = 20;
/// NLMSG_ERROR.
const ERROR: u16 = 2;

/// Removes all tables of nftables, with whatever rules they have, in one transaction (`nft flush ruleset`). Nothing is to be done where the
/// kernel has no nftables.
pub(crate) fn flush() -> Result<(), KernelError> {
    let attempted = || "remove the rules of nftables";
    let opened = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkNetFilter);
    let opened = match opened {
        Err(Errno::EPROTONOSUPPORT | Errno::EAFNOSUPPORT) => return Ok(()),
        other => other.attempted(attempted)?,
    };
    let batch: Vec<u8> =
        [(BEGIN, REQUEST, NFTABLES), (DELETE_TABLE, REQUEST | ACKNOWLEDGE, 0), (END, REQUEST, NFTABLES)]
            .into_iter()
            .zip(1..)
            .flat_map(|((kind, flags, subsystem), sequence)| message(kind, flags, subsystem, sequence))
            .collect();
    send(opened.as_raw_fd(), &batch, MsgFlags::empty()).attempted(attempted)?;
    let mut buffer = vec![0; next_packet(&opened).attempted(attempted)?];
    let length = recv(opened.as_raw_fd(), &mut buffer, MsgFlags::empty()).attempted(attempted)?;
    match refusal(&buffer[..length]) {
        // Without nftables, there is nobody for such a message.
        None | Some(0 | libc::EOPNOTSUPP | libc::EINVAL | libc::ENOENT) => Ok(()),
        Some(code) => Err(KernelError::new(attempted(), code)),
    }
}

/// A message for all families, without attributes.
fn message(kind: u16, flags: u16, subsystem: u16, sequence: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LENGTH as usize);
    bytes.extend(LENGTH.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend(0_u32.to_ne_bytes());
    // The family (none), the version (0), and the subsystem in the order of networks.
    bytes.extend([0, 0]);
    bytes.extend(subsystem.to_be_bytes());
    bytes
}

/// The number of the error that an answer tells; zero of an acknowledgement.
fn refusal(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let code = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    (kind == ERROR).then(|| code.saturating_neg())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_names_its_subsystem_in_the_order_of_networks() {
        let begin = message(BEGIN, REQUEST, NFTABLES, 1);
        assert_eq!((begin.len(), &begin[18..]), (20, &[0, 10][..]));
        assert_eq!(u16::from_ne_bytes([begin[4], begin[5]]), 16);
    }

    #[test]
    fn acknowledgements_are_told_from_errors() {
        let mut answer = message(ERROR, 0, 0, 2);
        answer[16..20].copy_from_slice(&0_i32.to_ne_bytes());
        assert_eq!(refusal(&answer), Some(0));
        answer[16..20].copy_from_slice(&(-libc::EPERM).to_ne_bytes());
        assert_eq!((refusal(&answer), refusal(&answer[..12])), (Some(libc::EPERM), None));
    }
}
