//! The connection of the secure shell over which the user works, which a shape must not cut by accident.

use netloom_link::Filter;
use netloom_packet::Flow;
use std::fs;
use std::net::IpAddr;

/// A connection from the user's machine to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SshSession {
    client: (IpAddr, u16),
    server: (IpAddr, u16),
}

const TCP: u8 = 6;
/// More ancestors than that a process has only by mistake.
const MOST_ANCESTORS: usize = 64;

/// The connection over which this command was given, if that can be seen: in its environment, or, as `sudo` clears that, in that
/// of the processes that it descends from.
pub fn ssh_session() -> Option<SshSession> {
    if let Ok(text) = std::env::var("SSH_CONNECTION") {
        return SshSession::parse(&text);
    }
    let mut process = std::process::id();
    for _ in 0..MOST_ANCESTORS {
        process = parent(process).filter(|parent| *parent > 1)?;
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let said = environment.split(|byte| *byte == 0).find_map(|word| word.strip_prefix(b"SSH_CONNECTION="));
        if let Some(session) = said.and_then(|text| SshSession::parse(&String::from_utf8_lossy(text))) {
            return Some(session);
        }
    }
    None
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

impl SshSession {
    /// As `SSH_CONNECTION` has it: the client's address and port, and the server's (ssh(1)).
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        // An address that belongs to one link has the name of the interface behind it.
        let mut end = || {
            let address = words.next()?.split('%').next()?.parse().ok()?;
            Some((address, words.next()?.parse().ok()?))
        };
        Some(Self { client: end()?, server: end()? })
    }

    /// Whether a filter matches its packets, or their answers.
    pub fn is_matched_by(&self, filter: &Filter) -> bool {
        let flow = |from: (IpAddr, u16), to: (IpAddr, u16)| Flow {
            source: from.0,
            destination: to.0,
            protocol: TCP,
            source_port: from.1,
            destination_port: to.1,
            dscp: 0,
        };
        // Its code points are not known: any may be meant.
        let filter = Filter { dscp: None, ..filter.clone() };
        filter.matches(Some(&flow(self.client, self.server))) || filter.matches(Some(&flow(self.server, self.client)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::parse_match;

    #[test]
    fn the_connection_is_found_in_what_is_shaped() {
        let session = SshSession::parse("192.0.2.7 50022 10.0.0.1 22").expect("a connection");
        for (words, is_matched) in [
            ("to 192.0.2.0/24", true),
            ("tcp port 22", true),
            ("from 10.0.0.1 from-port 22", true),
            ("tcp dscp 46", true),
            ("tcp to-port 443", false),
            ("udp", false),
            ("to 198.51.100.0/24", false),
        ] {
            assert_eq!(session.is_matched_by(&parse_match(words).expect("a filter").filter), is_matched, "{words}");
        }
    }

    #[test]
    fn connections_are_read_as_the_server_tells_them() {
        assert!(SshSession::parse("fe80::1%eth0 50022 fe80::2%eth0 22").is_some());
        for wrong in ["", "192.0.2.7", "192.0.2.7 x 10.0.0.1 22", "192.0.2.7 1 10.0.0.1"] {
            assert_eq!(SshSession::parse(wrong), None, "{wrong}");
        }
    }
}
