//! What only switches have.

use super::{external, snooping, tunnel};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::STP;
use crate::names::link_name;
use crate::plan::{NodeKind, TreeSettings};
use crate::scalar::{self, integer, positive_duration};
use crate::spec::SwitchSpec;
use crate::yaml::{Content, Node};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// The settings of a switch among the keys of a node.
pub(super) fn switch(fields: &Fields<'_>, errors: &mut Errors) -> SwitchSpec {
    let table = fields.read("table", |value| integer(value, 1, 1_000_000), errors);
    SwitchSpec {
        ageing: fields.read("ageing", positive_duration, errors),
        table: table.map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
        fixed: fields.get("static").map_or_else(Vec::new, |value| fixed(value, errors)),
        tree: fields.get("stp").and_then(|value| tree(value, errors)),
        snooping: fields.get("snooping").and_then(|value| snooping::snooping(value, errors)),
    }
}

/// How it takes part in a spanning tree; none: not at all, or an error was noted.
fn tree(node: &Node, errors: &mut Errors) -> Option<TreeSettings> {
    const RIGHT: &str = "true, false, or for example {priority: 4096, hello: 1 s}";
    if !matches!(node.content, Content::Map(_)) {
        let is_on = keep(scalar::flag(node).map_err(|_| node.expected(RIGHT)), errors)?;
        return is_on.then(TreeSettings::default);
    }
    let fields = Fields::open(node, &STP, errors)?;
    let usual = TreeSettings::default();
    let settings = TreeSettings {
        priority: fields.read("priority", priority, errors).unwrap_or(usual.priority),
        hello: fields.read("hello", |value| seconds(value, 1, 10), errors).unwrap_or(usual.hello),
        max_age: fields.read("max_age", |value| seconds(value, 6, 40), errors).unwrap_or(usual.max_age),
        forward_delay: fields
            .read("forward_delay", |value| seconds(value, 4, 30), errors)
            .unwrap_or(usual.forward_delay),
    };
    // IEEE 802.1D-2004, section 17.14.
    let TreeSettings { hello, max_age, forward_delay, .. } = settings;
    let [hello, age, delay] = [hello, max_age, forward_delay].map(|span| span.as_nanos() / SECOND.as_nanos());
    if age < 2 * (hello + 1) {
        let least = 2 * (hello + 1);
        errors.push(
            node.error(format!("with a `hello` of {hello} s, `max_age` is at least {least} s, twice a second more")),
        );
    }
    if age > 2 * (delay - 1) {
        let least = age / 2 + age % 2 + 1;
        errors.push(node.error(format!("with a `max_age` of {age} s, `forward_delay` is at least {least} s")));
    }
    Some(settings)
}

fn priority(node: &Node) -> Result<u16, Diagnostic> {
    let number = integer(node, 0, 61_440)?;
    let number = u16::try_from(number).unwrap_or(u16::MAX);
    let below = number / 4_096 * 4_096;
    if number == below {
        Ok(number)
    } else {
        Err(node.error(format!("{number} is no multiple of 4096: write {below}")))
    }
}

fn seconds(node: &Node, least: u64, most: u64) -> Result<Duration, Diagnostic> {
    let span = positive_duration(node)?;
    let is_right =
        span.as_nanos().is_multiple_of(SECOND.as_nanos()) && (SECOND * least..=SECOND * most).contains(&span);
    if is_right { Ok(span) } else { Err(node.expected(&format!("whole seconds, {least} s to {most} s"))) }
}

const SECOND: Duration = Duration::from_secs(1);

/// Addresses, each once, and the links behind which they are.
fn fixed(node: &Node, errors: &mut Errors) -> Vec<([u8; 6], Spanned<String>)> {
    let Content::Map(entries) = &node.content else {
        errors
            .push(node.expected("a map of hardware addresses and links, for example {\"02:00:00:00:00:01\": uplink}"));
        return Vec::new();
    };
    let mut seen = BTreeMap::new();
    let mut fixed = Vec::new();
    for entry in entries {
        let wrong = |message| Diagnostic::new(entry.span, &entry.value.key, message);
        let Some(address) = keep(scalar::mac_of(&entry.name).map_err(wrong), errors) else { continue };
        if let Some(first) = seen.insert(address, entry.span) {
            errors.push(wrong("this address is here twice: leave one out".to_owned()).and(first, "first here"));
        }
        fixed.extend(keep(link_name(&entry.value), errors).map(|link| (address, link)));
    }
    fixed
}

/// Errors about settings that nodes of other kinds have.
pub(super) fn misplaced(kind: NodeKind, fields: &Fields<'_>) -> Vec<Diagnostic> {
    const OF_MACHINES: [&str; 24] = [
        "vm",
        "stack",
        "memory",
        "cpus",
        "cpu",
        "pin",
        "congestion",
        "capabilities",
        "sysctl",
        "env",
        "inherit",
        "root",
        "image",
        "container",
        "files",
        "collect",
        "measure",
        "expose",
        "rules",
        "multihomed",
        "offload",
        "dhcp",
        "dns",
        "addresses",
    ];
    const OF_SWITCHES: [&str; 5] = ["ageing", "table", "static", "stp", "snooping"];
    const OF_OPENFLOW: [&str; 2] = ["controller", "fail_mode"];
    let what = kind.titled();
    let machine = |key: &&str| {
        let instead = if kind.has_addresses() { "`kind: router`" } else { "`kind: host`" };
        let message = format!("{what} is not a machine and has no `{key}`: leave it out, or write {instead}");
        // What an external interface sends may have to be finished, too.
        let is_due = *key == "offload" && kind == NodeKind::External;
        fields.get(key).filter(|_| !kind.runs_programs() && !is_due).map(|value| value.error(message))
    };
    let routes = || {
        let message = format!("{what} has no routes: leave this out");
        fields.get("routes").filter(|_| !kind.has_addresses()).map(|value| value.error(message))
    };
    let switch = |key: &&str| {
        let message = format!("only switches have `{key}`, and this is {what}: leave it out, or write `kind: switch`");
        fields.get(key).filter(|_| kind != NodeKind::Switch).map(|value| value.error(message))
    };
    let openflow = |key: &&str| {
        let message =
            format!("only OpenFlow switches have `{key}`, and this is {what}: leave it out, or write `kind: openflow`");
        fields.get(key).filter(|_| kind != NodeKind::OpenFlow).map(|value| value.error(message))
    };
    let external = |key: &&str| {
        let message = format!(
            "only external interfaces have `{key}`, and this is {what}: leave it out, or write `kind: external`"
        );
        fields.get(key).filter(|_| kind != NodeKind::External).map(|value| value.error(message))
    };
    let of_tunnels = |key: &&str| {
        let message = format!("only tunnels have `{key}`, and this is {what}: leave it out, or write `kind: tunnel`");
        fields.get(key).filter(|_| kind != NodeKind::Tunnel).map(|value| value.error(message))
    };
    let of_openflow = OF_OPENFLOW.iter().filter_map(openflow).chain(external::KEYS.iter().filter_map(external));
    let of_switches = OF_SWITCHES.iter().filter_map(switch);
    OF_MACHINES
        .iter()
        .filter_map(machine)
        .chain(routes())
        .chain(of_switches)
        .chain(of_openflow)
        .chain(tunnel::KEYS.iter().filter_map(of_tunnels))
        .collect()
}
