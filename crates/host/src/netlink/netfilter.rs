//! What the filters and transformations of a network namespace have: rules of nftables, connections that are followed, and keys and
//! policies of IPsec.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};

use crate::error::{Attempted, KernelError};
use crate::fds::next_packet;

/// NFNL_MSG_BATCH_BEGIN, NFNL_MSG_BATCH_END, NFNL_SUBSYS_NFTABLES and NFNL_SUBSYS_CTNETLINK (linux/netfilter/nfnetlink.h).
pub(super) const BEGIN: u16 = 16;
pub(super) const END: u16 = 17;
pub(super) const NFTABLES: u16 = 10;
const CONNECTIONS: u16 = 1;
/// NFT_MSG_DELTABLE (linux/netfilter/nf_tables.h).
const DELETE_TABLE: u16 = NFTABLES << 8 | 2;
/// IPCTNL_MSG_CT_DELETE (linux/netfilter/nfnetlink_conntrack.h).
const DELETE_CONNECTIONS: u16 = CONNECTIONS << 8 | 2;
/// XFRM_MSG_FLUSHSA and XFRM_MSG_FLUSHPOLICY (linux/xfrm.h).
const FLUSH_KEYS: u16 = 0x1c;
const FLUSH_POLICIES: u16 = 0x1d;
/// NLM_F_REQUEST and NLM_F_ACK (linux/netlink.h).
pub(super) const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
/// Bytes of `nlmsghdr`.
pub(super) const HEADER: usize = 16;
/// NLMSG_ERROR.
pub(super) const ERROR: u16 = 2;

/// Removes all tables of nftables, with whatever rules they have, in one transaction (`nft flush ruleset`), and forgets the connections
/// that were followed. Nothing is to be done where the kernel has none of that.
pub(crate) fn flush_filters() -> Result<(), KernelError> {
    let tables = [
        message(BEGIN, REQUEST, 1, &family(NFTABLES)),
        message(DELETE_TABLE, REQUEST | ACKNOWLEDGE, 2, &family(0)),
        message(END, REQUEST, 3, &family(NFTABLES)),
    ];
    ask(libc::NETLINK_NETFILTER, &tables.concat(), "remove the rules of nftables")?;
    let connections = message(DELETE_CONNECTIONS, REQUEST | ACKNOWLEDGE, 1, &family(0));
    ask(libc::NETLINK_NETFILTER, &connections, "forget the connections that are followed")
}

/// Removes the keys and policies of IPsec (`ip xfrm state flush`, `ip xfrm policy flush`).
pub(crate) fn flush_ipsec() -> Result<(), KernelError> {
    // Of all protocols: `xfrm_usersa_flush` with none named.
    let keys = message(FLUSH_KEYS, REQUEST | ACKNOWLEDGE, 1, &[0; 4]);
    ask(libc::NETLINK_XFRM, &keys, "remove the keys of IPsec")?;
    ask(libc::NETLINK_XFRM, &message(FLUSH_POLICIES, REQUEST | ACKNOWLEDGE, 1, &[]), "remove the policies of IPsec")
}

/// Sends messages of which one is acknowledged.
fn ask(protocol: i32, messages: &[u8], what: &str) -> Result<(), KernelError> {
    let attempted = || what.to_owned();
    let opened = match open(protocol) {
        Err(Errno::EPROTONOSUPPORT | Errno::EAFNOSUPPORT) => return Ok(()),
        other => other.attempted(attempted)?,
    };
    send(opened.as_raw_fd(), messages, MsgFlags::empty()).attempted(attempted)?;
    let mut buffer = vec![0; next_packet(&opened).attempted(attempted)?];
    let length = recv(opened.as_raw_fd(), &mut buffer, MsgFlags::empty()).attempted(attempted)?;
    match refusal(&buffer[..length]) {
        // Without such a part of the kernel, there is nobody for such a message, and where nothing is, there is nothing to remove.
        None | Some(0 | libc::EOPNOTSUPP | libc::EINVAL | libc::ENOENT | libc::ESRCH) => Ok(()),
        Some(code) => Err(KernelError::new(attempted(), code)),
    }
}

/// A netlink socket; `nix` does not know all protocols.
pub(super) fn open(protocol: i32) -> nix::Result<OwnedFd> {
    // SAFETY: the call takes no memory.
    let opened = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol) };
    // SAFETY: the descriptor has just been made, and nobody else knows of it.
    Errno::result(opened).map(|opened| unsafe { OwnedFd::from_raw_fd(opened) })
}

/// `nfgenmsg`: no family, version 0, and a resource, in the order of networks.
pub(super) fn family(resource: u16) -> [u8; 4] {
    let [high, low] = resource.to_be_bytes();
    [0, 0, high, low]
}

pub(super) fn message(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER + body.len()).expect("messages are short");
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend(0_u32.to_ne_bytes());
    bytes.extend(body);
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
        let begin = message(BEGIN, REQUEST, 1, &family(NFTABLES));
        assert_eq!((begin.len(), &begin[18..]), (20, &[0, 10][..]));
        assert_eq!(
            (begin[..4].to_vec(), u16::from_ne_bytes([begin[4], begin[5]])),
            (20_u32.to_ne_bytes().to_vec(), 16)
        );
    }

    #[test]
    fn acknowledgements_are_told_from_errors() {
        let mut answer = message(ERROR, 0, 2, &[0; 4]);
        assert_eq!(refusal(&answer), Some(0));
        answer[16..20].copy_from_slice(&(-libc::EPERM).to_ne_bytes());
        assert_eq!((refusal(&answer), refusal(&answer[..12])), (Some(libc::EPERM), None));
    }
}
