//! What a node's init reads about its node.

use std::fs;

use nix::unistd::Pid;

use super::config::InterfaceConfig;
use super::ethtool::Ethtool;
use super::protocol::{CpuWait, Transport};
use crate::error::{Attempted, KernelError};
use crate::netlink::{InterfaceCounters, Link, Netlink};

/// Whether some program accepts TCP connections at `port`, or has a socket there that takes datagrams of UDP from anybody.
pub(crate) fn listening(transport: Transport, port: u16) -> Result<bool, KernelError> {
    let tables = match transport {
        Transport::Tcp => ["/proc/net/tcp", "/proc/net/tcp6"],
        Transport::Udp => ["/proc/net/udp", "/proc/net/udp6"],
    };
    for table in tables {
        match fs::read_to_string(table) {
            Ok(text) if lists_listener(&text, transport, port) => return Ok(true),
            Ok(_) => (),
            // A kernel without IPv6 has no second table.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (),
            Err(error) => return Err(KernelError::from_io(format!("read {table}"), &error)),
        }
    }
    Ok(false)
}

/// A line reads "sl local_address rem_address st …"; addresses end in ":" and the port, in hexadecimal.
fn lists_listener(table: &str, transport: Transport, port: u16) -> bool {
    // TCP_LISTEN and TCP_CLOSE of net/tcp_states.h; a socket of UDP that is connected to somebody is established.
    let open = match transport {
        Transport::Tcp => "0A",
        Transport::Udp => "07",
    };
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (local, state) = (fields.next(), fields.nth(1));
        let local_port = local.and_then(|local| u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok());
        state == Some(open) && local_port == Some(port)
    })
}

/// The counters of every interface of the node but the loopback, by name: for those that `described` knows by their numbers, the name of
/// the lab file, whatever they are called by now. `judge` is given the number of each and what it has counted.
pub(crate) fn interfaces<'a>(
    described: impl Fn(u32) -> Option<&'a str>,
    judge: impl Fn(u32, &mut InterfaceCounters),
) -> Result<Vec<(String, InterfaceCounters)>, KernelError> {
    let mut links = Netlink::open()?.links()?;
    links.retain(|link| link.index != crate::netlink::LOOPBACK);
    let ethtool = Ethtool::open()?;
    let told = |Link { index, name, mut counters, .. }: Link| {
        judge(index, &mut counters);
        match described(index) {
            Some(own) => {
                counters.rx_lost += ethtool.counted(&name).lost;
                (own.to_owned(), counters)
            }
            None => (name, counters),
        }
    };
    Ok(links.into_iter().map(told).collect())
}

/// Which of these interfaces can send. Kernels give a node others, too, for example of tunnels, which stay down.
pub(crate) fn running(interfaces: &[InterfaceConfig]) -> Result<Vec<String>, KernelError> {
    let links = Netlink::open()?.links()?.into_iter().filter(|link| link.running).map(|link| link.name);
    Ok(links.filter(|name| interfaces.iter().any(|interface| interface.name == *name)).collect())
}

/// The processes that this one has started, and those that these have.
pub(crate) fn descendants(of: Pid) -> Result<Vec<Pid>, KernelError> {
    let processes = fs::read_dir("/proc").attempted(|| "list /proc")?.flatten();
    let with_parent = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        Some((Pid::from_raw(pid), parent_of(&fs::read_to_string(entry.path().join("stat")).ok()?)?))
    };
    let parents: Vec<(Pid, Pid)> = processes.filter_map(with_parent).collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(&one) = found.get(next) {
        found.extend(parents.iter().filter(|(_, parent)| *parent == one).map(|(pid, _)| *pid));
        next += 1;
    }
    found.remove(0);
    Ok(found)
}

/// A process's parent.
fn parent_of(stat: &str) -> Option<Pid> {
    field_of(stat, 1)
}

/// A process's session, by the number of its leader.
pub(super) fn session_of(stat: &str) -> Option<Pid> {
    field_of(stat, 3)
}

/// A number of "pid (name) state parent group session …"; the name may contain anything.
fn field_of(stat: &str, behind_name: usize) -> Option<Pid> {
    let rest = stat.rsplit_once(')')?.1;
    rest.split_ascii_whitespace().nth(behind_name)?.parse().ok().map(Pid::from_raw)
}

/// The sum over all threads of the node that are alive.
pub(crate) fn cpu_wait() -> Result<CpuWait, KernelError> {
    let mut sum = CpuWait::default();
    for process in fs::read_dir("/proc").attempted(|| "list /proc")?.flatten() {
        // Threads begin and end while this reads; those that have ended are left out.
        let Ok(threads) = fs::read_dir(process.path().join("task")) else { continue };
        for thread in threads.flatten() {
            sum += schedstat(&thread.path().join("schedstat"));
        }
    }
    Ok(sum)
}

/// The same of one process's first thread, which may be a zombie.
pub(crate) fn cpu_wait_of(pid: Pid) -> CpuWait {
    schedstat(format!("/proc/{pid}/schedstat").as_ref())
}

/// "time on a CPU, time waiting for one, number of time slices", in nanoseconds; zeros from a kernel that keeps none.
fn schedstat(file: &std::path::Path) -> CpuWait {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut numbers = text.split_ascii_whitespace().map_while(|word| word.parse().ok());
    CpuWait { ran_ns: numbers.next().unwrap_or(0), waited_ns: numbers.next().unwrap_or(0) }
}

impl std::ops::AddAssign for CpuWait {
    fn add_assign(&mut self, other: Self) {
        self.ran_ns += other.ran_ns;
        self.waited_ns += other.waited_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:0050 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
";

    #[test]
    fn parents_are_found_behind_any_name() {
        assert_eq!(parent_of("7 (a) b (c) S 42 7 7 0").map(Pid::as_raw), Some(42));
        assert_eq!(parent_of("7 (a"), None);
        assert_eq!(session_of("7 (a) b (c) S 42 43 44 0").map(Pid::as_raw), Some(44));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        let found = descendants(Pid::this());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.unwrap().contains(&pid));
    }

    #[test]
    fn only_listening_sockets_count() {
        let listens = |table, port| lists_listener(table, Transport::Tcp, port);
        assert!(listens(TABLE, 5201));
        assert!(!listens(TABLE, 80) && !listens("", 80));
    }

    #[test]
    fn sockets_of_udp_that_are_connected_take_nothing_from_others() {
        let table = "\
   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  271: 3500007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 0
  842: 0100007F:9C40 0100007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 2 2 0 0
";
        let bound = |port| lists_listener(table, Transport::Udp, port);
        assert_eq!([53, 0x9c40, 0x50].map(bound), [true, false, false]);
    }
}
