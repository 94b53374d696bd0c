//! What a kernel node is asked about itself.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use netloom_host::guest::message::{Reply, ToGuest};
use netloom_host::measure::{Measured, TcpState};
use netloom_host::netlink::InterfaceCounters;
use netloom_host::node::{CpuWait, NetworkChange, NodeError, Transport};
use netloom_units::Instant;

use super::handle::KernelNode;

impl KernelNode {
    /// Whether some program in the node accepts TCP connections at `port`, or datagrams of UDP, on any address.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn listening(&mut self, transport: Transport, port: u16) -> Result<bool, NodeError> {
        self.ask(&ToGuest::Listening { transport, port })?;
        self.expect_answer()
    }

    /// Whether the node has a file of this name, an absolute path. What programs of the node write, only it can see.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn has_file(&mut self, path: PathBuf) -> Result<bool, NodeError> {
        self.ask(&ToGuest::Exists { path })?;
        self.expect_answer()
    }

    /// The prefixes among these to which the node has no route.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn lacking(&mut self, prefixes: &[IpNet]) -> Result<Vec<IpNet>, NodeError> {
        self.ask(&ToGuest::Lacking { prefixes: prefixes.to_vec() })?;
        match self.reply()? {
            Reply::Lacking(lacking) => Ok(lacking),
            other => Err(self.unexpected(other)),
        }
    }

    /// The counters of every interface of the node but its loopback, by name.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn interface_counters(&mut self) -> Result<Vec<(String, InterfaceCounters)>, NodeError> {
        self.ask(&ToGuest::Interfaces)?;
        match self.reply()? {
            Reply::Interfaces(interfaces) => Ok(interfaces),
            other => Err(self.unexpected(other)),
        }
    }

    /// Returns what the node's programs did to its network since it was configured.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn network_changes(&mut self) -> Result<Vec<NetworkChange>, NodeError> {
        self.ask(&ToGuest::Changes)?;
        match self.reply()? {
            Reply::Changes(changes) => Ok(changes),
            other => Err(self.unexpected(other)),
        }
    }

    /// How long the node's processes used and waited for the CPU so far, in lab time.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn cpu_wait(&mut self) -> Result<CpuWait, NodeError> {
        self.ask(&ToGuest::CpuWait)?;
        match self.reply()? {
            Reply::CpuWait(wait) => Ok(wait),
            other => Err(self.unexpected(other)),
        }
    }

    /// Its TCP connections as they were after the last call of this, and how long ago that was in wall time: the kernel is not waited for. None
    /// after the first.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn connections(&mut self) -> Result<Option<(TcpState, Duration)>, NodeError> {
        if self.connections.begin_asking() {
            self.ask(&ToGuest::Connections)?;
        }
        self.connections.last().map_err(|error| NodeError::Refused { node: self.name.clone(), error })
    }

    /// Where samples go that are taken inside from the node's configuration on; without a file they are lost.
    pub fn keep_samples(&mut self, file: File) {
        self.samples = Some(Ok(file));
    }

    /// Ends what is measured inside: all samples are in the file. With the instant of lab time at which the answer was sent, if
    /// the kernel's channel knows it.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn end_measure(&mut self) -> Result<(Measured, Option<Instant>), NodeError> {
        self.ask(&ToGuest::EndMeasure)?;
        match self.reply()? {
            Reply::Measured(mut measured) => {
                if let Some(Err(error)) = &self.samples {
                    measured.failure = Some(format!("writing samples: {error}"));
                }
                Ok((measured, self.mail.heard_at()))
            }
            other => Err(self.unexpected(other)),
        }
    }
}
