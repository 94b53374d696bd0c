//! The programs of DHCP servers and clients: they start before time zero, as other services do.

use crate::diagnostics::Spanned;
use crate::plan::{Argv, End, NodeKey, Ready, ReadyWhen};
use crate::segments::ends;
use crate::spec::{ActionSpec, EndSpec, EntrySpec, NodeSpec, RunSpec, Spec};
use netloom_units::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// Where Debian and others have it.
pub(super) const CONFIGURATION: &str = "/etc/dnsmasq.conf";
/// What the server keeps while it runs.
pub(super) const STATE: &str = "/run/dnsmasq";
/// The clients' programs and state.
pub(super) const CLIENT: &str = "/run/dhcp";
/// dnsmasq needs a fraction of a second on a quiet machine, and a client a round trip or two.
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// What asks for an interface's address: the first client that is there.
pub(super) const ASK: &str = include_str!("client.sh");
/// What clients call when something happens to a lease.
pub(super) const LEASE: &str = include_str!("lease.sh");
/// What dhclient asks for, and how it sends.
pub(super) const DHCLIENT: &str = "\
# Netloom made this from the lab file.
option rfc3442-classless-static-routes code 121 = array of unsigned integer 8;
request subnet-mask, routers, domain-name, domain-name-servers, rfc3442-classless-static-routes;
send host-name = gethostname();
initial-interval 1;
backoff-cutoff 2;
retry 1;
";

/// The ends of links that get their addresses of IPv4 from a server, each with where the lab file says so.
pub(super) fn asking(spec: &Spec) -> BTreeMap<End, Spanned<()>> {
    let nodes: BTreeMap<&str, &Spanned<()>> =
        spec.nodes.iter().filter_map(|node| Some((node.name.value.as_str(), node.asks.as_ref()?))).collect();
    let place = |own: &EndSpec| own.asks.as_ref().or_else(|| nodes.get(own.node.value.as_str()).copied()).cloned();
    ends(&spec.links).filter_map(|(end, own)| Some((end, place(own)?))).collect()
}

/// The programs of all servers, and those of all clients, one for each interface.
pub(in crate::resolve) fn entries(spec: &Spec) -> Vec<EntrySpec> {
    let servers = spec.nodes.iter().filter_map(|node| {
        let dhcp = node.dhcp.as_ref().map(|dhcp| (NodeKey::Dhcp, &dhcp.place));
        let (key, place) = dhcp.or_else(|| Some((NodeKey::Dns, &node.dns.as_ref()?.place)))?;
        Some(server(node, key, place))
    });
    let asking = asking(spec);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    // What a machine does that nobody gets into, it does by itself.
    let closed: BTreeSet<&str> =
        spec.nodes.iter().filter(|node| node.is_closed()).map(|node| node.name.value.as_str()).collect();
    let asks = |own: &EndSpec| !closed.contains(own.node.value.as_str());
    let clients = ends(&spec.links).filter(|(_, own)| asks(own)).filter_map(|(end, own)| {
        let place = asking.get(&end)?;
        let count = counts.entry(&own.node.value).or_default();
        *count += 1;
        let suffix = if *count == 1 { String::new() } else { format!("-{count}") };
        Some(client(&own.node, &format!("{}{suffix}", own.node.value), place))
    });
    servers.chain(clients).collect()
}

fn server(node: &NodeSpec, key: NodeKey, place: &Spanned<()>) -> EntrySpec {
    let pid = format!("{STATE}/dnsmasq.pid");
    let words = ["dnsmasq", "--keep-in-foreground", "--conf-file=/etc/dnsmasq.conf"].map(str::to_owned).to_vec();
    let run = RunSpec {
        command: Argv::Exec(words),
        ready: Some(Ready { when: ReadyWhen::File(pid), timeout: STARTS_WITHIN }),
        ..service(&node.name, "dnsmasq", &node.name.value, place, key)
    };
    entry(place, run)
}

/// For which interface it asks is known when all are.
fn client(node: &Spanned<String>, name: &str, place: &Spanned<()>) -> EntrySpec {
    let ready = Ready { when: ReadyWhen::Lease(String::new()), timeout: STARTS_WITHIN };
    let run = RunSpec { ready: Some(ready), ..service(node, "dhcp", name, place, NodeKey::Addresses) };
    entry(place, run)
}

/// A program that is called after its node: errors about it are about the key that wants it.
fn service(node: &Spanned<String>, what: &str, name: &str, place: &Spanned<()>, key: NodeKey) -> RunSpec {
    let called = Spanned { value: format!("{what}-{name}"), span: place.span, key: place.key.clone() };
    RunSpec { on: node.clone(), name: Some(called), service: true, key: Some(key), ..RunSpec::default() }
}

fn entry(place: &Spanned<()>, run: RunSpec) -> EntrySpec {
    EntrySpec { line: place.span.line, at: None, action: ActionSpec::Run(Box::new(run)) }
}
