//! Users and groups of this machine by their numbers, as rules take them and as queues tell them.

use netloom_dataplane::Owners;
use netloom_lab::Owner;
use nix::unistd::{Group, User};
use std::fs;
use std::ops::RangeInclusive;

/// The users and groups whose packets are meant.
#[derive(Debug)]
pub struct Owned {
    /// The condition for each of them, as `iptables` takes it (iptables-extensions(8), owner).
    pub tables: Vec<String>,
    /// The conditions as `nft` takes them.
    pub nft: Vec<String>,
    /// The numbers that the kernel tells.
    pub told: Owners,
}

impl Owned {
    /// Joins each of the owners with each condition.
    pub fn joined(&self, owners: &[String], conditions: &[String]) -> Vec<String> {
        let pair = |owner: &String, other: &String| format!("{owner} {other}").trim_end().to_owned();
        owners.iter().flat_map(|owner| conditions.iter().map(move |other| pair(owner, other))).collect()
    }
}

/// Finds the numbers of owners; none if everybody is meant.
///
/// # Errors
/// A name that this machine does not know, or a number that nobody here can have.
pub fn find(owners: &netloom_lab::Owners) -> Result<Option<Owned>, String> {
    if owners.is_anybody() {
        return Ok(None);
    }
    let users = all("user", &owners.users, |name| Ok(User::from_name(name)?.map(|user| user.uid.as_raw())))?;
    let groups = all("group", &owners.groups, |name| Ok(Group::from_name(name)?.map(|group| group.gid.as_raw())))?;
    let tables = conditions([("-m owner --uid-owner", &users), ("-m owner --gid-owner", &groups)]);
    let nft = conditions([("meta skuid", &users), ("meta skgid", &groups)]);
    let told = Owners { users: outside("user", &users)?, groups: outside("group", &groups)? };
    Ok(Some(Owned { tables, nft, told }))
}

/// Each of the users with each of the groups, behind the words for them.
fn conditions(lists: [(&str, &[RangeInclusive<u32>]); 2]) -> Vec<String> {
    let mut all = vec![String::new()];
    for (word, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        let one = |before: &String, range| format!("{before} {word} {}", written(range)).trim_start().to_owned();
        all = all.iter().flat_map(|before| list.iter().map(move |range| one(before, range))).collect();
    }
    all
}

fn written(range: &RangeInclusive<u32>) -> String {
    let (first, last) = (range.start(), range.end());
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn all(
    what: &str,
    owners: &[Owner],
    by_name: impl Fn(&str) -> nix::Result<Option<u32>>,
) -> Result<Vec<RangeInclusive<u32>>, String> {
    let one = |owner: &Owner| match owner {
        Owner::Ids { first, last } => Ok(*first..=*last),
        Owner::Name(name) => match by_name(name) {
            Ok(Some(id)) => Ok(id..=id),
            Ok(None) => {
                Err(format!("--match: there is no {what} `{name}` on this machine: write a name or number of one"))
            }
            Err(error) => Err(format!("--match: look up {what} `{name}`: {error}")),
        },
    };
    owners.iter().map(one).collect()
}

/// The numbers by which the kernel tells them: those of the namespace of users outside this one.
fn outside(what: &str, ranges: &[RangeInclusive<u32>]) -> Result<Vec<RangeInclusive<u32>>, String> {
    let path = format!("/proc/self/{}_map", if what == "user" { "uid" } else { "gid" });
    let map = fs::read_to_string(&path).map_err(|error| format!("read {path}: {error}"))?;
    let one = |range: &RangeInclusive<u32>| {
        mapped(&map, range).ok_or_else(|| {
            format!("--match: no {what} {} in this namespace of users: {path} has those that there are", written(range))
        })
    };
    ranges.iter().map(one).collect()
}

/// What a line of `/proc/PID/uid_map` says of a range (user_namespaces(7)).
fn mapped(map: &str, range: &RangeInclusive<u32>) -> Option<RangeInclusive<u32>> {
    map.lines().find_map(|line| {
        let mut numbers = line.split_ascii_whitespace().map(|word| word.parse::<u32>().ok());
        let (inside, outside, count) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let place = |id: u32| id.checked_sub(inside).filter(|place| *place < count);
        let (first, last) = (place(*range.start())?, place(*range.end())?);
        Some(outside.checked_add(first)?..=outside.checked_add(last)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_become_conditions_and_numbers() {
        let ids = |first, last| Owner::Ids { first, last };
        let owners = netloom_lab::Owners { users: vec![Owner::Name("root".into())], groups: vec![ids(0, 0)] };
        let owned = find(&owners).expect("every machine has them").expect("somebody");
        assert_eq!(owned.tables, ["-m owner --uid-owner 0 -m owner --gid-owner 0"]);
        assert_eq!(owned.nft, ["meta skuid 0 meta skgid 0"]);
        let conditions = ["-d 10.0.0.1/32".to_owned(), String::new()];
        assert_eq!(
            owned.joined(&["-m owner --uid-owner 7-9".to_owned()], &conditions),
            ["-m owner --uid-owner 7-9 -d 10.0.0.1/32", "-m owner --uid-owner 7-9"]
        );
        assert!(find(&netloom_lab::Owners::default()).expect("nobody is wrong").is_none());
        let unknown = netloom_lab::Owners { users: vec![Owner::Name("no-such-user".into())], groups: Vec::new() };
        let wrong = find(&unknown).expect_err("nobody has that name");
        assert!(wrong.contains("there is no user `no-such-user` on this machine"), "{wrong}");
    }

    #[test]
    fn numbers_are_those_of_the_namespace_outside() {
        let map = "         0       1000          1\n         1     100000      65536\n";
        assert_eq!(mapped(map, &(0..=0)), Some(1_000..=1_000));
        assert_eq!(mapped(map, &(33..=34)), Some(100_032..=100_033));
        assert_eq!(mapped(map, &(0..=1)), None, "not in one piece");
        assert_eq!(mapped(map, &(65_537..=65_537)), None);
        assert_eq!(mapped("0 0 4294967295\n", &(5..=4_294_967_294)), Some(5..=4_294_967_294));
    }
}
