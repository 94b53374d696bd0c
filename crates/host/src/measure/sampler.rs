//! Who takes the samples: a part of a node's first process.

mod system;
mod ticker;

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use nix::unistd::Pid;

use super::connections::Connections;
use super::{MeasureConfig, Measured, owners};
use crate::error::KernelError;
use crate::netlink::TcpDiag;
use crate::node::ProcessId;
use system::System;
use ticker::{Ticker, now_ns};

/// When so many bytes have been written down they are handed on.
pub(super) const CHUNK: usize = 30 << 10;

/// The connections of the current network namespace.
#[derive(Debug)]
struct OwnConnections {
    diag: TcpDiag,
    connections: Connections,
    /// Whether it learns which program has a connection.
    owners: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Sampler {
    connections: Option<(Ticker, OwnConnections)>,
    system: Option<(Ticker, System)>,
    written: Vec<u8>,
    /// What ended samples before their time, in words.
    failures: Vec<String>,
}

impl OwnConnections {
    fn begin(owners: bool) -> Result<Self, KernelError> {
        Ok(Self { diag: TcpDiag::open()?, connections: Connections::default(), owners })
    }

    /// Takes a sample, and notes which of the programs of these sessions have connections of which that is not known.
    fn sample(
        &mut self,
        time_ns: u64,
        sessions: &BTreeMap<Pid, ProcessId>,
        written: &mut Vec<u8>,
    ) -> Result<(), KernelError> {
        self.connections.begin(time_ns);
        self.diag.connections(|message| self.connections.see(message, written))?;
        self.connections.end(written);
        let unknown = if self.owners { self.connections.without_owner() } else { Vec::new() };
        if !unknown.is_empty() {
            self.connections.report_owners(&owners::owners(&unknown, sessions), written);
        }
        Ok(())
    }
}

impl Sampler {
    /// Begins to take samples, in the current network namespace. `own_kernel`: whether the kernel is the node's own.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn begin(config: MeasureConfig, own_kernel: bool) -> Result<Self, KernelError> {
        let MeasureConfig { tcp_ns, node_ns, reads_clock, owners } = config;
        let ticker = |step_ns| Ticker::begin(step_ns, reads_clock);
        let connections = tcp_ns.map(|step_ns| Ok((ticker(step_ns)?, OwnConnections::begin(owners)?))).transpose()?;
        let system = node_ns.map(|step_ns| Ok((ticker(step_ns)?, System::begin(own_kernel)))).transpose()?;
        Ok(Self { connections, system, written: Vec::new(), failures: Vec::new() })
    }

    /// One is readable when a sample is due; none when there are no more.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let connections = self.connections.as_ref().filter(|(_, own)| own.connections.has_room());
        let system = self.system.as_ref().filter(|(_, system)| system.has_room());
        let tickers = connections.map(|(ticker, _)| ticker).into_iter().chain(system.map(|(ticker, _)| ticker));
        tickers.map(Ticker::fd)
    }

    /// Takes the samples that are due. What the kernel refuses ends samples of its kind. Connections may be of the programs of these
    /// sessions.
    pub(crate) fn take(&mut self, sessions: &BTreeMap<Pid, ProcessId>) {
        if let Some(time_ns) = self.connections.as_mut().and_then(|(ticker, _)| ticker.due()) {
            self.sample_connections(time_ns, sessions);
        }
        if let Some(time_ns) = self.system.as_mut().and_then(|(ticker, _)| ticker.due()) {
            self.sample_system(time_ns);
        }
    }

    fn sample_connections(&mut self, time_ns: u64, sessions: &BTreeMap<Pid, ProcessId>) {
        let Some((_, own)) = &mut self.connections else { return };
        if let Err(error) = own.sample(time_ns, sessions, &mut self.written) {
            self.failures.push(format!("TCP connections are not sampled any more: {error}"));
            self.connections = None;
        }
    }

    fn sample_system(&mut self, time_ns: u64) {
        let Some((_, system)) = &mut self.system else { return };
        if let Err(error) = system.sample(time_ns, &mut self.written) {
            self.failures.push(format!("processor and memory are not sampled any more: {error}"));
            self.system = None;
        }
    }

    /// What has been written down, when it is enough to be handed on.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        (self.written.len() >= CHUNK).then(|| std::mem::take(&mut self.written))
    }

    /// Ends the samples; what has not been handed on, and the end.
    pub(crate) fn end(self) -> (Vec<u8>, Measured) {
        let failure = (!self.failures.is_empty()).then(|| self.failures.join("; "));
        (self.written, Measured { clock_ns: now_ns(), failure })
    }
}

impl Measured {
    /// Of a node where nothing is measured, or not any more.
    pub(crate) fn nothing(failure: Option<&KernelError>) -> Self {
        Self { clock_ns: now_ns(), failure: failure.map(ToString::to_string) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, SampleStream, tcp};
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream as Socket};

    #[test]
    fn a_connection_of_this_machine_is_sampled_when_something_changes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = Socket::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let hour = Some(3_600_000_000_000);
        let config = MeasureConfig { tcp_ns: hour, node_ns: None, reads_clock: true, owners: true };
        let mut sampler = Sampler::begin(config, false).unwrap();
        let sessions = BTreeMap::from([(nix::unistd::getsid(None).unwrap(), ProcessId(5))]);
        sampler.sample_connections(1, &sessions);
        client.write_all(&[7; 1_000]).unwrap();
        server.read_exact(&mut [0; 1_000]).unwrap();
        sampler.sample_connections(2, &sessions);
        let (written, measured) = sampler.end();
        assert_eq!(measured.failure, None);
        let local = client.local_addr().unwrap().to_string();
        let place = tcp::columns().split(',').position(|column| column == "bytes_sent").unwrap();
        let mut stream = SampleStream::new(&written[..]);
        let mut seen = Vec::new();
        let (mut own, mut owners) = (None, Vec::new());
        while let Some(found) = stream.read().unwrap() {
            let sample = match found {
                Finding::Sample(sample) => sample,
                Finding::Owner { number, owner } => {
                    owners.push((number, owner));
                    continue;
                }
                _ => continue,
            };
            let mut text = String::new();
            sample.write(&mut text);
            let values: Vec<&str> = text.split(',').collect();
            if values[1] == local {
                assert_eq!(sample.value("bytes_sent").map(|sent| sent.to_string()).as_deref(), Some(values[place]));
                seen.push((sample.time_ns, values[place].to_owned()));
                own = Some(sample.number);
            }
        }
        assert_eq!(seen, [(1, "0".to_owned()), (2, "1000".to_owned())]);
        assert!(owners.contains(&(own.unwrap(), 5)), "{owners:?}");
    }
}
