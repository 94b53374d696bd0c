//! Network ports of kernels that run as processes, over vhost-user: frames cross in memory that both sides share.
//!
//! This crate is the device's side (the back-end): it answers the protocol's messages, maps the guest's memory, and
//! moves frames between virtqueues and [`Packet`](netloom_packet::Packet)s with their virtio-net headers, so that trains
//! cross whole. It knows neither time nor links. The same port serves User-Mode Linux and QEMU.
//!
//! One thread serves any number of ports. It waits on the one descriptor of a [`Poller`], and calls
//! [`Port::service`] when a port's socket has something, [`Port::receive`] when its guest has rung, [`Port::send`] and
//! [`Port::flush`] for frames to the guest, and [`Port::listen`] before it sleeps. None of these waits.
//!
//! Whatever comes from the guest is taken to be hostile: indices, lengths, addresses and chains are checked, and what is
//! not in order ends that port with a [`PortError`] that says why. So does a guest that shortens the file that is its memory:
//! this crate handles SIGBUS for that.
//!
//! Sources: Vhost-user Protocol (QEMU, `docs/interop/vhost-user.rst`); Virtual I/O Device (VIRTIO) Version 1.2, sections
//! 2.7 (split virtqueues) and 5.1 (network device).

mod chain;
mod channel;
mod config;
mod error;
mod fault;
mod features;
mod frames;
mod listener;
mod memory;
mod message;
mod notify;
mod poller;
mod port;
mod queue;
mod ring;
mod session;
mod suppress;
mod sync;

pub use error::PortError;
pub use frames::Sent;
pub use listener::Listener;
pub use poller::{Event, Poller};
pub use port::Port;
