//! Users and groups as `/etc/passwd` and `/etc/group` have them.
//!
//! The files are read each time, as the caller sees them: in a node they may be the node's own. Other name services
//! have no part in it, since none can be reached from a node.

use std::io;
use std::path::PathBuf;

use nix::unistd::{Gid, Uid};

use crate::error::{Attempted, KernelError};

/// Where users are written down.
pub const PASSWD: &str = "/etc/passwd";
/// Where groups are.
const GROUP: &str = "/etc/group";

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name; the number of a user that has none.
    pub name: String,
    /// The number.
    pub uid: u32,
    /// The number of its group.
    pub gid: u32,
    /// The numbers of all its groups.
    pub groups: Vec<u32>,
    /// Its home folder; `/` of a user that is only a number.
    pub home: PathBuf,
    /// Its shell.
    pub shell: PathBuf,
}

impl User {
    /// The user that `wanted` names: by its name, or by its number, which need not be in the file. None if there is
    /// none of that name.
    ///
    /// # Errors
    /// That the files could not be read.
    pub fn find(wanted: &str) -> io::Result<Option<Self>> {
        Ok(Self::among(wanted, &read(PASSWD)?, &read(GROUP)?))
    }

    /// The same among those that these texts have, in the forms of passwd(5) and group(5). Behind a colon, `wanted` may name a group by
    /// name or number, which is the only one that the user then has.
    pub fn among(wanted: &str, passwd: &str, group: &str) -> Option<Self> {
        let Some((name, own)) = wanted.split_once(':') else { return find_in(wanted, passwd, group) };
        let gid = own.parse().ok().or_else(|| group.lines().find_map(|line| group_called(line, own)))?;
        Some(Self { gid, groups: vec![gid], ..find_in(name, passwd, group)? })
    }

    /// The first of its numbers that means nothing in the user namespace of this process.
    ///
    /// # Errors
    /// That the kernel does not say.
    pub fn unmapped(&self) -> io::Result<Option<String>> {
        let (users, groups) = (read("/proc/self/uid_map")?, read("/proc/self/gid_map")?);
        Ok(match (is_mapped(&users, self.uid), is_mapped(&groups, self.gid)) {
            (false, _) => Some(format!("user {}", self.uid)),
            (_, false) => Some(format!("group {}", self.gid)),
            _ => None,
        })
    }

    /// Makes the calling process that user, for good.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn become_it(&self) -> io::Result<()> {
        let known = read("/proc/self/gid_map")?;
        let groups = self.groups.iter().filter(|group| is_mapped(&known, **group));
        let groups: Vec<Gid> = groups.map(|group| Gid::from_raw(*group)).collect();
        // In the namespace of an ordinary user no process may give up groups, since that could gain permissions.
        if read("/proc/self/setgroups")?.trim() != "deny" {
            nix::unistd::setgroups(&groups)?;
        }
        nix::unistd::setgid(Gid::from_raw(self.gid))?;
        nix::unistd::setuid(Uid::from_raw(self.uid))?;
        Ok(())
    }
}

/// Whether the users of this process are those of the machine: its root is, and not only that of a user namespace.
pub(crate) fn is_of_the_machine() -> Result<bool, KernelError> {
    let map = read("/proc/self/uid_map").attempted(|| "read the user namespace's map")?;
    let fields: Vec<&str> = map.split_whitespace().collect();
    Ok(fields.is_empty() || fields == ["0", "0", "4294967295"])
}

fn read(path: &str) -> io::Result<String> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        // A file system without users or groups, and a kernel without user namespaces.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

fn find_in(wanted: &str, passwd: &str, group: &str) -> Option<User> {
    let number: Option<u32> = wanted.parse().ok();
    let users = passwd.lines().filter_map(line_of_passwd);
    let is_meant = |user: &User| if number.is_some() { Some(user.uid) == number } else { user.name == wanted };
    let mut user = users.into_iter().find(is_meant).or_else(|| number.map(stranger))?;
    user.groups = vec![user.gid];
    user.groups.extend(group.lines().filter_map(|line| group_with(line, &user.name)));
    user.groups.dedup();
    Some(user)
}

fn stranger(number: u32) -> User {
    let (home, shell) = ("/".into(), "/bin/sh".into());
    User { name: number.to_string(), uid: number, gid: number, groups: Vec::new(), home, shell }
}

/// See passwd(5).
fn line_of_passwd(line: &str) -> Option<User> {
    let fields: Vec<&str> = line.split(':').collect();
    let [name, _, uid, gid, _, home, shell] = fields[..] else { return None };
    let (uid, gid) = (uid.parse().ok()?, gid.parse().ok()?);
    let or = |path: &str, usual: &str| PathBuf::from(if path.is_empty() { usual } else { path });
    Some(User { name: name.to_owned(), uid, gid, groups: Vec::new(), home: or(home, "/"), shell: or(shell, "/bin/sh") })
}

/// The number of the group in this line (group(5)), if the user is one of its members.
fn group_with(line: &str, user: &str) -> Option<u32> {
    let fields: Vec<&str> = line.split(':').collect();
    let [_, _, gid, members] = fields[..] else { return None };
    members.split(',').any(|member| member == user).then(|| gid.parse().ok())?
}

/// The number of the group in this line, if it has that name.
fn group_called(line: &str, name: &str) -> Option<u32> {
    let mut fields = line.split(':');
    (fields.next()? == name).then(|| fields.nth(1)?.parse().ok())?
}

/// Whether a map of user_namespaces(7) has this number inside.
fn is_mapped(map: &str, number: u32) -> bool {
    if map.is_empty() {
        return true;
    }
    map.lines().any(|line| {
        let fields: Vec<u64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        matches!(fields[..], [first, _, count] if (first..first + count).contains(&u64::from(number)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nfrr:x:107:109:Frr,,,:/nonexistent:/usr/sbin/nologin\nodd\n";
    const GROUP: &str = "root:x:0:\nfrrvty:x:108:frr\nfrr:x:109:frr\nother:x:110:root,frr\n";

    #[test]
    fn a_user_is_found_by_name_and_by_number() {
        let frr = find_in("frr", PASSWD, GROUP).unwrap();
        assert_eq!((frr.uid, frr.gid), (107, 109));
        assert_eq!(frr.groups, [109, 108, 109, 110]);
        assert_eq!(find_in("107", PASSWD, GROUP).unwrap(), frr);
        assert_eq!(find_in("nobody", PASSWD, GROUP), None);
        let of_group = |wanted| User::among(wanted, PASSWD, GROUP).map(|user| (user.uid, user.gid, user.groups));
        assert_eq!(of_group("frr:other"), Some((107, 110, vec![110])));
        assert_eq!(of_group("1:2"), Some((1, 2, vec![2])));
        assert_eq!((of_group("frr:none"), of_group("none:1")), (None, None));
        let stranger = find_in("4711", PASSWD, GROUP).unwrap();
        assert_eq!((stranger.uid, stranger.gid, stranger.home.to_str()), (4711, 4711, Some("/")));
    }

    #[test]
    fn maps_say_what_is_inside() {
        let map = "         0       1000          1\n         1     100000      65536\n";
        assert!(is_mapped(map, 0) && is_mapped(map, 107) && is_mapped(map, 65_536));
        assert!(!is_mapped(map, 65_537) && !is_mapped("0 1000 1\n", 1) && is_mapped("", 5));
    }
}
