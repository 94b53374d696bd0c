//! Packets as the fabric sees them: trains of segments that share one buffer and one header template.
//!
//! This crate reads no clock, starts no thread and opens no file: it is `no_std`, and the compiler proves it. It knows
//! the bytes of Ethernet (with tags of VLANs), IPv4, IPv6, TCP and UDP headers and of the virtio-net header, and nothing of sockets.
//!
//! A sender's kernel hands over *super-packets* of up to 64 KiB, to be cut into segments later
//! (segmentation offload). A [`Packet`] is such a super-packet or a run of its segments. Cutting one never copies
//! payload: the pieces share the buffer, and [`Packet::write_head`] writes the headers that a piece needs.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod flip;
mod flow;
mod frame;
mod headers;
mod packet;
mod pool;
mod tagging;
mod virtio;
mod vlan;

pub use flow::{Ecn, Flow};
pub use frame::Frame;
pub use headers::MAX_HEAD;
pub use packet::{DnsMessage, Head, Packet, ResetTemplate, TcpHeader};
pub use pool::{LARGE_FRAME, Pool, SMALL_FRAME};
pub use tagging::TAG_LEN;
pub use virtio::{Segmentation, VIRTIO_HEADER_LEN, VirtioHeader};
