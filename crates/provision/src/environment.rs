//! The environment of programs: the same on every machine and for every user, but for what the lab file says.

use netloom_guest::processor;
use netloom_host::programs::PATH;
use netloom_lab::{Clock, Plan};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What every program has. Nodes look to their programs as machines do to root.
pub(crate) const CONSTANT: [(&str, &str); 7] = [
    ("HOME", "/root"),
    ("LANG", "C.UTF-8"),
    ("LOGNAME", "root"),
    ("PATH", PATH),
    ("SHELL", "/bin/sh"),
    // The machine's own time zone would show in what programs print.
    ("TZ", "UTC0"),
    ("USER", "root"),
];

/// Of these, what a program that runs as another user has from that user's account instead.
const PERSONAL: [&str; 4] = ["HOME", "LOGNAME", "SHELL", "USER"];

/// In virtual time `PWD` and this variable together are a multiple of so many bytes long.
const FILL: &str = "NETLOOM_FILL";
const FILLED: usize = 256;

/// The environment of a program of the node at this place that begins in `folder`: the constants, what hides features of the processor,
/// what the lab file has it inherit, the node's variables, and then `own`. Of several values of a variable the last counts.
pub fn of_program(
    plan: &Plan,
    node: usize,
    user: Option<&str>,
    own: &[(String, String)],
    folder: &Path,
) -> Vec<(OsString, OsString)> {
    let place = if plan.clock == Clock::Virtual { place(folder) } else { Vec::new() };
    place.into_iter().chain(variables(plan, node, user, own)).collect()
}

/// `PWD`, which a shell would add, and a filler, so that both have the same length wherever the lab is started. Otherwise
/// the addresses of a program's stack would depend on that path, and with them what programs take from an address: the C
/// library makes names of temporary files from one, and asks the kernel for random bytes only after some of them.
fn place(folder: &Path) -> Vec<(OsString, OsString)> {
    let rest = FILLED - folder.as_os_str().as_bytes().len() % FILLED;
    vec![("PWD".into(), folder.into()), (FILL.into(), "-".repeat(rest).into())]
}

/// The environment but for what depends on a program's folder.
fn variables(plan: &Plan, node: usize, user: Option<&str>, own: &[(String, String)]) -> Vec<(OsString, OsString)> {
    let node = &plan.nodes[node];
    let is_kept = |name: &str| user.is_none() || !PERSONAL.contains(&name);
    let constant = CONSTANT.iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| (name.into(), value.into()));
    let level = node.cpu.and_then(|cpu| cpu.level).into_iter().flat_map(processor::environment);
    let level = level.map(|(name, value)| (name.into(), value.into()));
    let inherited = node.inherit.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let said = node.env.iter().chain(own).map(|(name, value)| (name.into(), value.into()));
    constant.chain(level).chain(inherited).chain(said).collect()
}

/// What nodes inherit, for the provenance: each variable once, with its value; null if there is none.
pub(crate) fn inherited(plan: &Plan) -> BTreeMap<String, Option<String>> {
    let value = |name: &String| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    plan.nodes.iter().flat_map(|node| &node.inherit).map(|name| (name.clone(), value(name))).collect()
}

/// Where the programs of the node at this place are found.
pub fn path(plan: &Plan, node: usize, own: &[(String, String)]) -> OsString {
    let all = variables(plan, node, None, own);
    let last = all.into_iter().rev().find(|(name, _)| name.as_os_str() == OsStr::new("PATH"));
    last.map_or_else(|| PATH.into(), |(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(plan: &Plan, user: Option<&str>, own: &[(String, String)], wanted: &str) -> Option<OsString> {
        of_program(plan, 0, user, own, Path::new("/"))
            .into_iter()
            .rev()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value)
    }

    #[test]
    fn a_program_has_constants_and_what_the_lab_file_says() {
        let text = "inherit: [CARGO_PKG_NAME]\nnodes: {a: {env: {TZ: CET-1, A: 1}, inherit: [NO_SUCH_VARIABLE]}}\n";
        let plan = netloom_lab::parse(text, "test.yaml").unwrap().plan;
        let own = [("A".to_owned(), "2".to_owned())];
        for (name, expected) in
            [("HOME", Some("/root")), ("TZ", Some("CET-1")), ("A", Some("2")), ("NO_SUCH_VARIABLE", None)]
        {
            assert_eq!(value(&plan, None, &own, name), expected.map(OsString::from), "{name}");
        }
        // Cargo sets it for its tests.
        assert_eq!(value(&plan, None, &own, "CARGO_PKG_NAME"), std::env::var_os("CARGO_PKG_NAME"));
        assert_eq!(value(&plan, None, &own, "CARGO_PKG_VERSION"), None);
        assert_eq!(value(&plan, Some("nobody"), &own, "HOME"), None);
        assert_eq!(inherited(&plan).keys().collect::<Vec<_>>(), ["CARGO_PKG_NAME", "NO_SUCH_VARIABLE"]);
    }
    #[test]
    fn in_virtual_time_the_length_of_the_path_does_not_show() {
        let lengths = ["/", "/a/lab", "/a/folder/that/is/called/something/longer"].map(|folder| {
            let plan = netloom_lab::parse("clock: virtual\nnodes: {a: {}}\n", "test.yaml").unwrap().plan;
            let all = of_program(&plan, 0, None, &[], Path::new(folder));
            assert!(all.contains(&("PWD".into(), folder.into())));
            all.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
        });
        assert_eq!(lengths, [lengths[0]; 3]);
        let plan = netloom_lab::parse("nodes: {a: {}}\n", "test.yaml").unwrap().plan;
        assert_eq!(value(&plan, None, &[], "PWD"), None);
    }
}
