//! OpenFlow switches: Open vSwitch in a node of its own, with a database, sockets and state that only this node sees.
//!
//! Its datapath is the one in user space (`dpif-netdev`), which needs no kernel module. It is used under the name `dummy`,
//! which differs from `netdev` in the bridge's own port alone: that is no TAP device, which ordinary users may not open.

use super::daemons::Neighborhood;
use super::names::{Index, runs_nothing};
use super::place;
use crate::decode::openflow::{ControllerSpec, OpenFlowSpec};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::plan::{Argv, EndPlan, FileContents, FilePlan, NodeKey, NodeKind, Plan, Ready, ReadyWhen};
use crate::spec::{ActionSpec, EntrySpec, NodeSpec, RunSpec, Spec};
use netloom_units::Duration;
use std::net::IpAddr;
use std::path::PathBuf;

/// What makes the bridge, once Open vSwitch runs.
const BRIDGE: &str = "/etc/openvswitch/bridge.sh";
/// A daemon needs a fraction of a second on a quiet machine.
const STARTS_WITHIN: Duration = Duration::from_secs(30);

const DATABASE: &str = "ovsdb-tool create /run/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema \
    && exec ovsdb-server /run/openvswitch/conf.db --remote=punix:/run/openvswitch/db.sock -vsyslog:off";
/// Super-packets stay whole, with what is left to do on them, as the switch's neighbours send them.
const DAEMON: &str = "ovs-vsctl --no-wait init -- set Open_vSwitch . other_config:userspace-tso-enable=true \
    && exec ovs-vswitchd unix:/run/openvswitch/db.sock --pidfile --enable-dummy -vsyslog:off";

/// What the lab file says of the OpenFlow switches, and where.
pub(super) struct Switch {
    node: usize,
    name: Spanned<String>,
    spec: OpenFlowSpec,
}

/// The programs of all OpenFlow switches: they start before time zero, as other services do.
pub(super) fn entries(spec: &Spec) -> Vec<EntrySpec> {
    spec.nodes.iter().filter(|node| node.kind == NodeKind::OpenFlow).flat_map(programs).collect()
}

fn programs(node: &NodeSpec) -> [EntrySpec; 3] {
    let called = |what: &str| {
        let Spanned { span, key, value } = &node.name;
        Spanned { value: format!("{what}-{value}"), span: *span, key: key.clone() }
    };
    let file = |path: &str| Some(Ready { when: ReadyWhen::File(path.to_owned()), timeout: STARTS_WITHIN });
    let service = |what: &str, command: Argv| RunSpec {
        on: node.name.clone(),
        name: Some(called(what)),
        command,
        service: true,
        key: Some(NodeKey::Kind),
        ..RunSpec::default()
    };
    let database =
        RunSpec { ready: file("/run/openvswitch/db.sock"), ..service("ovsdb", Argv::Shell(DATABASE.to_owned())) };
    let daemon = RunSpec {
        ready: file("/run/openvswitch/ovs-vswitchd.pid"),
        after: vec![called("ovsdb")],
        ..service("ovs-vswitchd", Argv::Shell(DAEMON.to_owned()))
    };
    let bridge = Argv::Exec(["sh", BRIDGE].map(str::to_owned).to_vec());
    let bridge = RunSpec { once: true, after: vec![called("ovs-vswitchd")], ..service("ovs", bridge) };
    let line = node.name.span.line;
    [database, daemon, bridge].map(|run| EntrySpec { line, at: None, action: ActionSpec::Run(Box::new(run)) })
}

/// The OpenFlow switches, taken from the lab file.
pub(super) fn take(spec: &mut Spec) -> Vec<Switch> {
    let nodes = spec.nodes.iter_mut().enumerate().filter(|(_, node)| node.kind == NodeKind::OpenFlow);
    let switch = |(place, node): (usize, &mut NodeSpec)| Switch {
        node: place,
        name: node.name.clone(),
        spec: std::mem::take(&mut node.openflow),
    };
    nodes.map(switch).collect()
}

/// Notes controllers on nodes that are not there, or run nothing.
pub(super) fn check(spec: &Spec, nodes: &Index<'_>, errors: &mut Errors) {
    for ControllerSpec { node, .. } in spec.nodes.iter().filter_map(|node| node.openflow.controller.as_ref()) {
        if let Some(found) = place(nodes, node, errors) {
            errors.extend(runs_nothing(node, spec.nodes[found].kind));
        }
    }
}

/// Gives the switches of a plan with interfaces the files that they read. Their interfaces in no segment are ports.
pub(super) fn configure(plan: &mut Plan, switches: &[Switch], around: &[Neighborhood], errors: &mut Errors) {
    for (number, switch) in switches.iter().enumerate() {
        let controls: Vec<EndPlan> =
            around.iter().flat_map(Neighborhood::ends).filter(|end| end.node == switch.node).copied().collect();
        let runs = |name: &str| plan.nodes.iter().any(|node| node.name == name && node.kind.runs_programs());
        // One on a node that is not there, or runs nothing, was noted.
        let said = switch.spec.controller.as_ref().filter(|said| runs(&said.node.value));
        let controller = said.and_then(|said| keep(target(plan, switch, said, around), errors));
        let own = &plan.nodes[switch.node].interfaces;
        let is_port = |place: &usize| !controls.iter().any(|end| end.interface == *place);
        let ports: Vec<&str> = (0..own.len()).filter(is_port).map(|place| own[place].name.as_str()).collect();
        let text = script(number + 1, &ports, switch.spec.fail_mode, controller.as_deref());
        let file = |target: &str, contents: FileContents| FilePlan {
            line: switch.name.span.line,
            target: PathBuf::from(target),
            contents,
            keep: false,
            mode: None,
            owner: None,
        };
        let folders = ["/etc/openvswitch", "/run/openvswitch"].map(|folder| file(folder, FileContents::Empty));
        let files = folders.into_iter().chain([file(BRIDGE, FileContents::Text(text))]);
        let node = &mut plan.nodes[switch.node];
        node.overlay = true;
        node.files.extend(files);
        node.files.sort_by(|one, other| one.target.cmp(&other.target));
    }
}

/// Where the switch finds its controller.
fn target(plan: &Plan, switch: &Switch, said: &ControllerSpec, around: &[Neighborhood]) -> Result<String, Diagnostic> {
    let (name, there) = (&switch.name.value, &said.node.value);
    if name == there {
        return Ok(format!("tcp:127.0.0.1:{}", said.port));
    }
    let is_shared = |hood: &&Neighborhood| hood.ends().any(|end| end.node == switch.node);
    let ends = around.iter().filter(is_shared).flat_map(Neighborhood::ends);
    let mut ends = ends.filter(|end| plan.nodes[end.node].name == *there).peekable();
    if ends.peek().is_none() {
        return Err(said.node.error(format!(
            "no link leads from `{name}` to `{there}`, and the controller's connection needs one of its own: write for \
             example `{name}-{there}: {{ends: [{name}, {there}]}}` among the links"
        )));
    }
    let addresses: Vec<IpAddr> = ends
        .flat_map(|end| &plan.nodes[end.node].interfaces[end.interface].addresses)
        .map(ipnet::IpNet::addr)
        .collect();
    let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    match first {
        Some(IpAddr::V4(address)) => Ok(format!("tcp:{address}:{}", said.port)),
        Some(IpAddr::V6(address)) => Ok(format!("tcp:[{address}]:{}", said.port)),
        None => Err(said.node.error(format!(
            "`{there}` has no address on the link that joins it to `{name}`: leave out `addresses: none` there"
        ))),
    }
}

/// Makes the bridge. Queueing disciplines stay as they are, as the links describe them (`linux-noop`).
fn script(datapath: usize, ports: &[&str], is_secure: bool, controller: Option<&str>) -> String {
    let mode = if is_secure { "secure" } else { "standalone" };
    let mut parts = vec![
        "add-br br0".to_owned(),
        format!("set Bridge br0 datapath_type=dummy fail_mode={mode} other_config:datapath-id={datapath:016x}"),
    ];
    if !ports.is_empty() {
        parts.push("--id=@qos create QoS type=linux-noop".to_owned());
    }
    for (number, port) in ports.iter().enumerate() {
        parts.push(format!("add-port br0 {port}"));
        parts.push(format!("set Port {port} qos=@qos"));
        parts.push(format!("set Interface {port} ofport_request={}", number + 1));
    }
    if let Some(target) = controller {
        let settings = format!("target='\"{target}\"' connection_mode=out-of-band max_backoff=1000");
        parts.push(format!("--id=@controller create Controller {settings}"));
        parts.push("set Bridge br0 controller=@controller".to_owned());
    }
    let parts: String = parts.iter().map(|part| format!(" \\\n  -- {part}")).collect();
    format!("# Netloom made this from the lab file.\nexec ovs-vsctl{parts}\n")
}

#[cfg(test)]
mod tests {
    use crate::plan::{FileContents, Plan};
    use std::path::Path;

    fn plan(text: &str) -> Plan {
        crate::parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
    }

    fn script(plan: &Plan, name: &str) -> String {
        let node = plan.nodes.iter().find(|node| node.name == name).unwrap();
        let file = node.files.iter().find(|file| file.target == Path::new(super::BRIDGE));
        match &file.unwrap().contents {
            FileContents::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// The addresses of a node for IPv4, by interface.
    fn addresses(plan: &Plan, name: &str) -> Vec<String> {
        let node = plan.nodes.iter().find(|node| node.name == name).unwrap();
        let of_interface = |interface: &crate::plan::InterfacePlan| {
            let own = interface.addresses.iter().find(|net| net.addr().is_ipv4());
            own.map_or_else(String::new, ToString::to_string)
        };
        node.interfaces.iter().map(of_interface).collect()
    }

    #[test]
    fn links_to_the_controller_have_addresses_and_all_others_are_ports_of_one_lan() {
        let lab = "
nodes: {a: , b: , s1: &s {kind: openflow, controller: 'tcp:c:6633', fail_mode: secure}, s2: *s, c: , hub: {kind: hub}}
links:
  one: {ends: [a, s1]}
  up1: {ends: [s1, hub]}
  trunk: {ends: [s1, s2]}
  two: {ends: [s2, b]}
  up2: {ends: [s2, hub]}
  top: {ends: [hub, c]}
";
        let plan = plan(lab);
        assert_eq!([addresses(&plan, "a"), addresses(&plan, "b")], [["10.0.0.1/30"], ["10.0.0.2/30"]]);
        assert_eq!(addresses(&plan, "s1"), ["", "10.0.0.9/29", ""]);
        assert_eq!(addresses(&plan, "s2"), ["", "", "10.0.0.10/29"]);
        assert_eq!(addresses(&plan, "c"), ["10.0.0.11/29"]);
        let text = script(&plan, "s2");
        for part in [
            "fail_mode=secure other_config:datapath-id=0000000000000002",
            "set Interface eth0 ofport_request=1",
            "set Interface eth1 ofport_request=2",
            "target='\"tcp:10.0.0.11:6633\"'",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("eth2"), "{text}");
    }

    #[test]
    fn without_a_controller_all_links_are_ports() {
        let plan = plan("{nodes: {a: , s: {kind: openflow}, b: }, links: {one: {ends: [a, s]}, two: {ends: [s, b]}}}");
        let text = script(&plan, "s");
        assert!(text.contains("fail_mode=standalone") && text.contains("add-port br0 eth1"), "{text}");
        assert!(!text.contains("ontroller"), "{text}");
        assert_eq!(addresses(&plan, "s"), ["", ""]);
    }

    #[test]
    fn a_controller_may_be_on_the_switch_itself_or_speak_ipv6_alone() {
        let own = "{nodes: {a: , s: {kind: openflow, controller: 'tcp:s'}}, links: {one: {ends: [a, s]}}}";
        assert!(script(&plan(own), "s").contains("tcp:127.0.0.1:6653"));
        let v6 = "{addresses: {ipv4: none}, nodes: {a: , s: {kind: openflow, controller: 'tcp:c'}, c: }, \
                  links: {one: {ends: [a, s]}, up: {ends: [s, c]}}}";
        assert!(script(&plan(v6), "s").contains("tcp:[fd00:6e6c:0:1::2]:6653"), "{}", script(&plan(v6), "s"));
    }
}
