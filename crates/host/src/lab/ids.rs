//! The users and groups of an ordinary user's lab.
//!
//! The kernel lets such a user map only itself. `newuidmap` and `newgidmap`, which belong to root, map what
//! `/etc/subuid` and `/etc/subgid` set aside for it (subuid(5)).

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::{Pid, getegid, geteuid};

use crate::error::{Attempted, KernelError};
use crate::users::User;

/// The subordinate user and group IDs (subuid(5)) that an ordinary user may map beside its own. Inside, users and groups count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subordinate {
    users: Range,
    groups: Range,
    /// `newuidmap` and `newgidmap`.
    helpers: [PathBuf; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    first: u32,
    count: u32,
}

impl Subordinate {
    /// Finds the subordinate IDs that this user may map.
    ///
    /// # Errors
    /// What is missing for it, in words.
    pub fn find() -> Result<Self, String> {
        let helper = |name: &str| {
            on_path(name)
                .ok_or_else(|| format!("{name} is not on this machine: install it (package uidmap or shadow-utils)"))
        };
        let helpers = [helper("newuidmap")?, helper("newgidmap")?];
        let uid = geteuid().as_raw();
        let name = User::find(&uid.to_string()).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name);
        let range = |file: &str, option: &str| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            largest(&text, &name, uid).ok_or_else(|| {
                format!("{file} sets nothing aside for {name}: as root, `usermod {option} 100000-165535 {name}`")
            })
        };
        Ok(Self {
            users: range("/etc/subuid", "--add-subuids")?,
            groups: range("/etc/subgid", "--add-subgids")?,
            helpers,
        })
    }

    /// Whether the user exists inside.
    ///
    /// # Errors
    /// What is too small for it.
    pub fn has(&self, user: &User) -> Result<(), String> {
        let check = |number: u32, range: Range, file: &str| {
            let (most, enough) = (range.count, number <= range.count);
            if enough { Ok(()) } else { Err(format!("{file} sets aside {most} numbers, and {number} is beyond them")) }
        };
        check(user.uid, self.users, "/etc/subuid").and_then(|()| check(user.gid, self.groups, "/etc/subgid"))
    }

    /// Makes the calling user root in the user namespace of `pid`, and what is set aside the others.
    pub(super) fn map(&self, pid: Pid) -> Result<(), KernelError> {
        let [users, groups] = &self.helpers;
        call(users, pid, geteuid().as_raw(), self.users)?;
        call(groups, pid, getegid().as_raw(), self.groups)
    }
}

fn call(helper: &Path, pid: Pid, own: u32, others: Range) -> Result<(), KernelError> {
    let mut command = Command::new(helper);
    command.arg(pid.to_string());
    command.args([0, own, 1, 1, others.first, others.count].map(|number| number.to_string()));
    let attempted = || format!("map the users of the lab with {}", helper.display());
    let output = command.stdin(Stdio::null()).output().attempted(attempted)?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(KernelError::new(attempted(), 0).with_detail(format!("{}: {words}", output.status)))
}

/// The largest range that is set aside for this user, by name or number.
fn largest(text: &str, name: &str, uid: u32) -> Option<Range> {
    let ranges = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.trim().split(':').collect();
        let [whose, first, count] = fields[..] else { return None };
        let is_meant = whose == name || whose.parse() == Ok(uid);
        let range = Range { first: first.parse().ok()?, count: count.parse().ok()? };
        // Inside they count from 1, and the numbers end.
        is_meant.then_some(Range { count: range.count.min((u32::MAX - 2).saturating_sub(range.first)), ..range })
    });
    ranges.filter(|range| range.count > 0).max_by_key(|range| range.count)
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).chain(["/usr/bin".into(), "/bin".into()]).collect();
    folders.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_range_of_the_user_counts() {
        let text = "other:100000:65536\nann:200000:1000\n1000:300000:65536\nann:odd:1\nann:1:0\n";
        assert_eq!(largest(text, "ann", 1000), Some(Range { first: 300_000, count: 65_536 }));
        assert_eq!(largest(text, "ann", 1001), Some(Range { first: 200_000, count: 1000 }));
        assert_eq!(largest(text, "bob", 1002), None);
        let all = largest("x:10:4294967295\n", "x", 1).unwrap();
        assert!(all.first.checked_add(all.count).is_some());
    }

    #[test]
    fn who_is_beyond_the_range_is_told() {
        let helpers = [PathBuf::new(), PathBuf::new()];
        let range = Range { first: 100_000, count: 110 };
        let own = Subordinate { users: range, groups: range, helpers };
        let user =
            |uid, gid| User { uid, gid, name: String::new(), groups: vec![], home: "/".into(), shell: "/".into() };
        assert_eq!(own.has(&user(110, 110)), Ok(()));
        assert_eq!(own.has(&user(107, 111)).unwrap_err(), "/etc/subgid sets aside 110 numbers, and 111 is beyond them");
    }
}
