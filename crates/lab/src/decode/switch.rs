//! What only switches have.

use super::attachments::{ExternalKeys, TunnelKeys};
use super::openflow::OpenFlowSpec;
use super::snooping::GroupSnooping;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, map};
use crate::forms::{AboveZero, Count, LinkName, forms};
use crate::keyed::{Keyed, sections};
use crate::kinds::{LINK_REFERENCE, MAC};
use crate::plan::{NodeKind, TreeSettings};
use crate::scalar::{self, integer, positive_duration};
use crate::section::{Form, Kind, Section};
use crate::yaml::{Content, Node};
use netloom_units::Duration;
use std::collections::BTreeMap;

forms! {
    /// Addresses, each once, and the links behind which they are.
    pub(crate) struct StaticAddresses = Vec<([u8; 6], Spanned<String>)>, Kind::Map { names: MAC, values: &LINK_REFERENCE }, noting fixed;
    /// A part in a spanning tree, or none.
    pub(crate) struct SpanningTree = TreeSettings, Kind::OneOf(&[Kind::Flag, TreeSettings::KIND]), noting tree;
    pub(crate) struct Priority = u16, Kind::Integer { least: 0, most: 61_440 }, priority;
}

/// Whole seconds.
pub(crate) struct Seconds<const LEAST: u64, const MOST: u64>;

impl<const LEAST: u64, const MOST: u64> Form for Seconds<LEAST, MOST> {
    type Value = Duration;
    const KIND: Kind = Duration::KIND;
    fn read(node: &Node, errors: &mut Errors) -> Option<Duration> {
        keep(seconds(node, LEAST, MOST), errors)
    }
}

sections! {
    /// The settings of a switch.
    #[derive(Debug, Default)]
    pub(crate) struct SwitchSpec = "" {
        /// For how long a switch remembers an address without hearing from it. Default: 300 s.
        ageing: AboveZero<Duration>, "10 s";
        /// How many addresses a switch remembers at most, 1 to 1000000; what is for others goes out at all ports. Default: 8192.
        table: Count<1, 1_000_000>, "1024";
        /// Addresses that a switch does not learn, each with the link behind which it always is.
        r#static: StaticAddresses, "{\"02:00:00:00:00:01\": uplink}" else Vec::new();
        /// Whether a switch takes part in a rapid spanning tree (IEEE 802.1D-2004), so that switches may be joined in loops; or how it
        /// does. Default: false.
        stp: SpanningTree, "{priority: 4096}";
        /// Whether a switch sends multicast only where hosts have asked for it by IGMP or MLD, or a router is; or how. Default: false.
        snooping: GroupSnooping, "{fast_leave: true}";
    }

    /// A switch's part in a rapid spanning tree, as IEEE 802.1D-2004 has it.
    read TreeSettings = "stp" {
        /// The switch with the lowest one is the root of the tree; of equal ones, that whose first port has the lowest hardware address. A
        /// multiple of 4096, 0 to 61440. Default: 32768.
        priority: Priority, "4096";
        /// How often it says what it knows; a neighbour of which three are missing is gone. Whole seconds, 1 s to 10 s. Default: 2 s.
        hello: Seconds<1, 10>, "1 s";
        /// For how long the root's word counts, of which each switch on the way takes a second: a tree is no deeper. Whole seconds, 6 s to
        /// 40 s. Default: 20 s.
        max_age: Seconds<6, 40>, "15 s";
        /// How long a port listens, and then learns, before it forwards where no neighbour answers. Whole seconds, 4 s to 30 s. Default: 15
        /// s.
        forward_delay: Seconds<4, 30>, "20 s";
    }
}

/// How it takes part in a spanning tree; none: not at all, or an error was noted.
fn tree(node: &Node, errors: &mut Errors) -> Option<TreeSettings> {
    const RIGHT: &str = "true, false, or for example {priority: 4096, hello: 1 s}";
    if !matches!(node.content, Content::Map(_)) {
        let is_on = keep(scalar::flag(node).map_err(|_| node.expected(RIGHT)), errors)?;
        return is_on.then(TreeSettings::default);
    }
    let settings = TreeSettings::open(node, errors)?;
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

fn fixed(node: &Node, errors: &mut Errors) -> Option<Vec<([u8; 6], Spanned<String>)>> {
    const WANTED: &str = "a map of hardware addresses and links, for example {\"02:00:00:00:00:01\": uplink}";
    let entries = map(node, WANTED, errors)?;
    let mut seen = BTreeMap::new();
    let mut fixed = Vec::new();
    for entry in entries {
        let wrong = |message: String| entry.error(message);
        let Some(address) = keep(scalar::mac_of(&entry.name).map_err(wrong), errors) else { continue };
        if let Some(first) = seen.insert(address, entry.span) {
            errors.push(wrong("this address is here twice: leave one out".to_owned()).and(first, "first here"));
        }
        fixed.extend(LinkName::read(&entry.value, errors).map(|link| (address, link)));
    }
    Some(fixed)
}

/// Errors about settings that nodes of other kinds have.
pub(super) fn misplaced(kind: NodeKind, fields: &Fields<'_>) -> Vec<Diagnostic> {
    const OF_MACHINES: [&str; 26] = [
        "vm",
        "stack",
        "memory",
        "cpus",
        "cpu",
        "pin",
        "clock",
        "disk",
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
    const OF_KINDS: [(NodeKind, &str, Section); 4] = [
        (NodeKind::Switch, "switches", SwitchSpec::SECTION),
        (NodeKind::OpenFlow, "OpenFlow switches", OpenFlowSpec::SECTION),
        (NodeKind::External, "external interfaces", ExternalKeys::SECTION),
        (NodeKind::Tunnel, "tunnels", TunnelKeys::SECTION),
    ];
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
    let others = OF_KINDS.iter().filter(|(own, ..)| kind != *own).flat_map(|(own, whose, keys)| {
        let (what, own) = (&what, own.name());
        keys.keys().filter_map(move |key| {
            let key = key.name;
            let message =
                format!("only {whose} have `{key}`, and this is {what}: leave it out, or write `kind: {own}`");
            fields.get(key).map(|value| value.error(message))
        })
    });
    OF_MACHINES.iter().filter_map(machine).chain(routes()).chain(others).collect()
}
