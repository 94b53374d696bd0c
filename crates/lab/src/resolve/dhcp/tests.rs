use super::scene::gaps;
use crate::plan::{Action, Argv, FileContents, NodePlan, Plan, ReadyWhen, RunCommand};
use std::net::Ipv4Addr;
use std::path::Path;

const HOME: &str = "
nodes:
  gw: {kind: router, dhcp: {domain: home, lease: 10 min}}
  laptop: {addresses: dhcp}
  tv: {}
  server: {}
links:
  lan: {ends: [{node: gw, address: 192.168.1.1/24}, {node: laptop, address: 192.168.1.50/24}, tv]}
  wan: {ends: [gw, server]}
timeline: [{on: laptop, run: serve, service: true}]
";

fn plan(text: &str) -> Plan {
    let lab = crate::parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(lab.warnings.is_empty(), "{}", lab.warnings);
    lab.plan
}

fn node<'a>(plan: &'a Plan, name: &str) -> &'a NodePlan {
    plan.nodes.iter().find(|node| node.name == name).unwrap()
}

fn text<'a>(plan: &'a Plan, name: &str, path: &str) -> &'a str {
    let file = node(plan, name).files.iter().find(|file| file.target == Path::new(path));
    match &file.unwrap_or_else(|| panic!("{name} has no {path}")).contents {
        FileContents::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

/// The lines about hosts, ranges and options.
fn lent(plan: &Plan, name: &str) -> Vec<String> {
    text(plan, name, "/etc/dnsmasq.conf")
        .lines()
        .filter_map(|line| Some(line.strip_prefix("dhcp-")?.to_owned()))
        .filter(|line| !line.starts_with("leasefile"))
        .collect()
}

fn command<'a>(plan: &'a Plan, name: &str) -> &'a RunCommand {
    let mut runs =
        plan.timeline.iter().filter_map(|event| if let Action::Run(run) = &event.action { Some(run) } else { None });
    runs.find(|run| run.name == name).unwrap()
}

#[test]
fn nodes_that_ask_get_the_addresses_and_routes_of_the_plan() {
    let plan = plan(HOME);
    let wanted = [
        "authoritative",
        "lease-max=1001",
        "range=192.168.1.0,static,255.255.255.0,600",
        "option=tag:eth0,option:dns-server,192.168.1.1",
        "option=tag:!known,tag:eth0,option:router,192.168.1.1",
        "host=02:00:00:00:00:02,set:client1,192.168.1.50,laptop",
        "option=tag:client1,option:router,192.168.1.1",
    ];
    let lent = lent(&plan, "gw");
    let mac = node(&plan, "laptop").interfaces[0].mac.map(|byte| format!("{byte:02x}")).join(":");
    assert_eq!(lent, wanted.map(|line| line.replace("02:00:00:00:00:02", &mac)));
    let conf = text(&plan, "gw", "/etc/dnsmasq.conf");
    for line in ["interface=eth0", "no-resolv", "domain=home"] {
        assert!(conf.lines().any(|own| own == line), "{line}\n{conf}");
    }
    assert!(!conf.contains("interface=eth1"), "{conf}");
    let laptop = &node(&plan, "laptop").interfaces[0];
    assert_eq!(laptop.addresses[0].to_string(), "192.168.1.50/24");
    assert!(laptop.is_leased("192.168.1.50".parse().unwrap()) && !laptop.is_leased(laptop.addresses[1].addr()));
    assert!(node(&plan, "tv").interfaces[0].leased.is_empty() && node(&plan, "tv").files.is_empty());
    let names = plan.hosts_of(node(&plan, "server"));
    assert!(names.contains("192.168.1.50 laptop"), "{names}");
}

#[test]
fn a_client_waits_for_its_server_and_services_of_its_node_for_it() {
    let plan = plan(HOME);
    let name = |place: &usize| plan.command_name(*place).unwrap();
    let client = command(&plan, "dhcp-laptop");
    assert_eq!(client.command, Argv::Exec(["sh", "/run/dhcp/ask", "eth0"].map(str::to_owned).to_vec()));
    assert_eq!(client.ready.as_ref().unwrap().when, ReadyWhen::Lease("/run/dhcp/eth0.lease".into()));
    assert_eq!(client.after.iter().map(name).collect::<Vec<_>>(), ["dnsmasq-gw"]);
    assert_eq!(command(&plan, "serve").after.iter().map(name).collect::<Vec<_>>(), ["dhcp-laptop"]);
    assert!((0..plan.timeline.len()).all(|event| plan.starts_before_zero(event)));
    assert_eq!(plan.programs().iter().filter(|program| program.others == ["busybox", "dhclient", "dhcpcd"]).count(), 1);
}

#[test]
fn several_ways_out_of_a_node_are_told_as_routes() {
    let plan = plan(
        "
nodes: {a: {addresses: dhcp}, r: {kind: router, dhcp: true}, s: {kind: router}, x: , y: }
links: {lan: {ends: [r, s, a]}, to-x: {ends: [r, x]}, to-y: {ends: [s, y]}}
",
    );
    let lent = lent(&plan, "r");
    assert!(lent.contains(&"option=tag:client1,121,10.0.0.8/30,10.0.0.1,10.0.0.12/30,10.0.0.2".to_owned()), "{lent:?}");
}

#[test]
fn what_is_not_reserved_is_in_no_plan() {
    let plan = plan(
        "
nodes: {gw: {kind: router, dhcp: {reserve: false, router: none, dns: x}}, a: , b: {}, c: {}, x: }
links: {lan: {ends: [gw, {node: a, address: dhcp}, b, {node: c, address: dhcp}]}, wan: {ends: [gw, x]}}
",
    );
    let wanted = [
        "range=10.0.0.2,10.0.0.2,255.255.255.248,3600",
        "range=10.0.0.4,10.0.0.6,255.255.255.248,3600",
        "option=tag:eth0,option:dns-server,10.0.0.10",
        "option=tag:eth0,option:router",
    ];
    let lent = lent(&plan, "gw");
    assert_eq!(lent[2..6], wanted);
    assert!(lent[6].ends_with(",set:client1,a") && lent[7].ends_with(",set:client2,c"), "{lent:?}");
    assert!(node(&plan, "a").interfaces[0].addresses.iter().all(|net| net.addr().is_ipv6()));
    let known: Vec<String> = node(&plan, "b").interfaces[0]
        .neighbors
        .iter()
        .filter(|(address, _)| address.is_ipv4())
        .map(|(address, _)| address.to_string())
        .collect();
    assert_eq!(known, ["10.0.0.1"]);
    assert!(!plan.hosts(&[]).contains("10.0.0.2 "), "{}", plan.hosts(&[]));
}

#[test]
fn a_router_may_ask_on_one_link_and_serve_on_another() {
    let plan = plan(
        "
nodes:
  pc: {addresses: dhcp}
  gw: {kind: router, dhcp: true, nat: {outside: access}}
  isp: {kind: router, dhcp: true}
  web: {}
links: {lan: {ends: [pc, gw]}, access: {ends: [{node: gw, address: dhcp}, isp]}, net: {ends: [isp, web]}}
",
    );
    assert_eq!(node(&plan, "gw").interfaces.iter().map(|own| own.leased.len()).collect::<Vec<_>>(), [0, 1]);
    assert!(
        lent(&plan, "isp").contains(&"option=tag:client1,option:router,10.0.0.6".to_owned()),
        "{:?}",
        lent(&plan, "isp")
    );
    // It asks the provider's server for names that it does not know.
    assert!(!text(&plan, "gw", "/etc/dnsmasq.conf").contains("no-resolv"));
    assert!(text(&plan, "isp", "/etc/dnsmasq.conf").contains("no-resolv"));
}

#[test]
fn addresses_of_ipv6_are_made_of_the_advertised_prefix() {
    let plan = plan(
        "
nodes: {gw: {kind: router, dhcp: {advertise: true}}, a: {addresses: dhcp}, b: {addresses: dhcp}, c: , x: }
links:
  lan: {ends: [gw, {node: a, mac: '02:00:00:00:00:07'}, {node: b, address: 'fd00:6e6c::99/64'}, c]}
  wan: {ends: [gw, x]}
",
    );
    let v6 = |name: &str| node(&plan, name).interfaces[0].addresses.last().unwrap().to_string();
    assert_eq!([v6("a"), v6("b")], ["fd00:6e6c::ff:fe00:7/64", "fd00:6e6c::99/64"]);
    assert_eq!(["a", "b", "c"].map(|name| node(&plan, name).interfaces[0].leased.len()), [2, 1, 0]);
    assert!(lent(&plan, "gw").contains(&"range=fd00:6e6c::,ra-only,64,3600".to_owned()), "{:?}", lent(&plan, "gw"));
    assert_eq!(text(&plan, "a", "/run/dhcp/eth0.made"), "fd006e6c00000000000000fffe000007\n");
    let is_set = |name: &str| node(&plan, name).sysctls.iter().any(|(key, _)| key == "net.ipv6.conf.eth0.accept_ra");
    assert_eq!(["a", "b"].map(is_set), [true, false]);
    let names = plan.hosts_of(node(&plan, "x"));
    assert!(names.contains("fd00:6e6c::ff:fe00:7 a "), "{names}");
}

#[test]
fn where_there_is_only_ipv6_a_router_advertises_itself() {
    let plan = plan(
        "
addresses: {ipv4: none}
nodes: {gw: {kind: router, dhcp: {advertise: true, domain: home}}, a: {addresses: dhcp}, x: }
links: {lan: {ends: [gw, {node: a, mac: '02:00:00:00:00:07'}]}, wan: {ends: [gw, x]}}
",
    );
    let wanted = [
        "authoritative",
        "lease-max=1001",
        "range=fd00:6e6c::,ra-only,64,3600",
        "option=tag:eth0,option6:dns-server,[fd00:6e6c::1]",
    ];
    assert_eq!(lent(&plan, "gw"), wanted);
    let a = &node(&plan, "a").interfaces[0];
    assert_eq!((a.addresses[0].to_string(), a.leased.len()), ("fd00:6e6c::ff:fe00:7/64".to_owned(), 1));
    assert_eq!(text(&plan, "a", "/run/dhcp/eth0.names"), "nameserver fd00:6e6c::1\nsearch home\n");
    let client = command(&plan, "dhcp-a");
    assert_eq!(client.command, Argv::Exec(["sh", "/run/dhcp/ask", "eth0", "advertised"].map(str::to_owned).to_vec()));
    assert_eq!(plan.programs().iter().map(|program| &*program.name).collect::<Vec<_>>(), ["dnsmasq"]);
}

#[test]
fn all_nodes_ask_the_name_servers_of_the_lab() {
    let plan = plan(
        "
nodes:
  ns: {dns: {domain: lab}}
  r: {kind: router, dns: true}
  own: {files: {/etc/resolv.conf: {text: nameserver 10.9.9.9}}}
  far: {}
  gw: {kind: router, dhcp: true}
  pc: {addresses: dhcp}
links: {lan: {ends: [ns, r, own]}, net: {ends: [r, far]}, home: {ends: [gw, pc]}, up: {ends: [gw, r]}}
timeline: [{on: far, run: serve, service: true}]
",
    );
    let asked = |name: &str| text(&plan, name, "/etc/resolv.conf");
    assert_eq!(asked("far"), "nameserver 10.0.0.1\nnameserver 10.0.0.2\nsearch lab\n");
    assert_eq!(asked("ns"), "nameserver 127.0.0.1\nnameserver 10.0.0.2\nsearch lab\n");
    assert_eq!(asked("r"), "nameserver 127.0.0.1\nnameserver 10.0.0.1\n");
    assert_eq!((asked("own"), asked("pc")), ("nameserver 10.9.9.9", ""));
    let conf = text(&plan, "ns", "/etc/dnsmasq.conf");
    assert!(!conf.contains("dhcp-") && !conf.contains("interface="), "{conf}");
    assert!(conf.contains("no-resolv\nlocal=/#/\ndomain=lab\nlocal=/lab/\nexpand-hosts\n"), "{conf}");
    let name = |place: &usize| plan.command_name(*place).unwrap();
    assert_eq!(command(&plan, "serve").after.iter().map(name).collect::<Vec<_>>(), ["dnsmasq-ns", "dnsmasq-r"]);
}

#[test]
fn name_servers_of_a_lab_with_a_way_out_ask_there_for_names_of_the_world() {
    let plan = plan(
        "
nodes: {gw: {kind: router, dhcp: {domain: home}}, pc: {addresses: dhcp}, ns: {dns: true}, net: {kind: internet}}
links: {lan: {ends: [gw, pc]}, up: {ends: [gw, net]}, side: {ends: [gw, ns]}}
",
    );
    assert_eq!(plan.internet.unwrap().resolver.to_string(), "10.0.0.6");
    for name in ["gw", "ns"] {
        let conf = text(&plan, name, "/etc/dnsmasq.conf");
        assert!(conf.contains("\nlocal=//\n") && conf.contains("\nno-resolv\nserver=10.0.0.6\n"), "{conf}");
        assert!(!conf.contains("local=/#/"), "{conf}");
    }
    // Its programs ask the lab's server, which asks where it takes questions itself.
    assert_eq!(text(&plan, "net", "/etc/resolv.conf"), "nameserver 10.0.0.10\n");
}

#[test]
fn a_name_server_that_lends_addresses_answers_everywhere() {
    let plan = plan(
        "
nodes: {gw: {kind: router, dhcp: {domain: home}, dns: true}, pc: {addresses: dhcp}, x: }
links: {lan: {ends: [gw, pc]}, net: {ends: [gw, x]}}
",
    );
    let conf = text(&plan, "gw", "/etc/dnsmasq.conf");
    assert!(conf.contains("dhcp-range=") && conf.contains("domain=home") && !conf.contains("\ninterface="), "{conf}");
    assert_eq!(text(&plan, "x", "/etc/resolv.conf"), "nameserver 10.0.0.1\n");
}

#[test]
fn filters_know_the_addresses_that_clients_make() {
    let plan = plan(
        "
nodes: {gw: {kind: router, dhcp: {advertise: true}}, a: {addresses: dhcp}}
links: {lan: {ends: [gw, {node: a, mac: '02:00:00:00:00:07'}], pipes: {p: {match: {to: a}}}}}
",
    );
    let to = plan.links[0].treatments[0][0].filter.to.as_ref().unwrap();
    assert_eq!(to.iter().map(ToString::to_string).collect::<Vec<_>>(), ["10.0.0.2/32", "fd00:6e6c::ff:fe00:7/128"]);
}

#[test]
fn gaps_are_what_nobody_has() {
    let address = |last: u8| Ipv4Addr::new(10, 0, 0, last);
    let of = |taken: &[u8]| {
        let taken: Vec<Ipv4Addr> = taken.iter().map(|last| address(*last)).collect();
        gaps([address(1), address(6)], taken.iter())
            .into_iter()
            .map(|ends| ends.map(|end| end.octets()[3]))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&[]), [[1, 6]]);
    assert_eq!(of(&[0, 1, 4, 6, 9]), [[2, 3], [5, 5]]);
    assert_eq!(of(&[1, 2, 3, 4, 5, 6]), Vec::<[u8; 2]>::new());
}
