//! Which program has a connection: by the session that it was started in, and the inodes of sockets that its processes have open.

use std::collections::BTreeMap;
use std::fs;

use nix::unistd::Pid;

use crate::node::ProcessId;

/// A connection whose program is not found so often has none, as one whose program has ended.
pub(super) const ATTEMPTS: u8 = 3;
/// A program with more files than these is not looked through to their end.
const MOST_FILES: usize = 4_096;

/// The programs that have sockets with these inodes. Sessions are those of programs that run.
pub(super) fn owners(inodes: &[u32], sessions: &BTreeMap<Pid, ProcessId>) -> BTreeMap<u32, u64> {
    let mut found = BTreeMap::new();
    // Processes begin and end while this reads; those that have ended have no connection any more.
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes.filter(|entry| entry.file_name().to_string_lossy().parse::<i32>().is_ok()) {
        let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        let Some(owner) = session_of(&stat).and_then(|session| sessions.get(&session)) else { continue };
        for file in fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten().take(MOST_FILES) {
            let inode = fs::read_link(file.path()).ok().and_then(|target| inode_of(&target.to_string_lossy()));
            if let Some(inode) = inode.filter(|inode| inodes.contains(inode)) {
                // What a child has inherited is its parent's, too, and both are of one program.
                found.entry(inode).or_insert(owner.get());
            }
        }
        if found.len() == inodes.len() {
            break;
        }
    }
    found
}

/// A process's session, from "pid (name) state parent group session …"; the name may contain anything.
fn session_of(stat: &str) -> Option<Pid> {
    let rest = stat.rsplit_once(')')?.1;
    rest.split_ascii_whitespace().nth(3)?.parse().ok().map(Pid::from_raw)
}

/// `socket:[4711]`
fn inode_of(target: &str) -> Option<u32> {
    target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_socket_of_this_process_is_found_by_its_session() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let link = fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).unwrap();
        let inode = inode_of(&link.to_string_lossy()).unwrap();
        let session = nix::unistd::getsid(None).unwrap();
        let sessions = BTreeMap::from([(session, ProcessId(7))]);
        assert_eq!(owners(&[inode], &sessions), BTreeMap::from([(inode, 7)]));
        assert_eq!(owners(&[inode], &BTreeMap::new()), BTreeMap::new());
    }

    #[test]
    fn sessions_are_found_behind_any_name() {
        assert_eq!(session_of("7 (a) b (c) S 42 43 44 0").map(Pid::as_raw), Some(44));
        assert_eq!(session_of("7 (a"), None);
        assert_eq!((inode_of("socket:[12]"), inode_of("pipe:[12]"), inode_of("socket:[x]")), (Some(12), None, None));
    }
}
