//! Network ports of kernels that run as processes, over vhost-user: frames cross in memory that both sides share.
//!
//! This crate is the device's side (the back-end): it answers the protocol's messages, maps the guest's memory, and
//! moves frames between virtqueues and [`Packet`](netloom_packet::Packet)s with their virtio-net headers, so that trains
//! cross whole. It knows neither time nor links. The same port serves User-Mode Linux and QEMU.
