use crate::plan::{Action, Argv, Plan};

const HOME: &str = "
nodes: {a: {}, b: {}, gw: {kind: router, nat: NAT}, isp: {kind: router}, s: {}, far: {kind: router}, t: {}}
links:
  lan: {ends: [a, b, gw]}
  wan: {ends: [gw, isp]}
  net: {ends: [isp, s, far]}
  end: {ends: [far, t]}
";

fn plan(nat: &str) -> Plan {
    let text = HOME.replace("NAT", nat);
    crate::parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

fn wrong(text: &str) -> String {
    crate::parse(text, "test.yaml").err().map(|wrong| wrong.to_string()).unwrap_or_default()
}

fn rules(plan: &Plan) -> String {
    let found = plan.timeline.iter().find_map(|event| match &event.action {
        Action::Run(run) if run.name == "nat-gw" => Some(&run.command),
        _ => None,
    });
    let Some(Argv::Shell(text)) = found else { panic!("{found:?}") };
    text.clone()
}

#[test]
fn outside_there_are_no_routes_and_names_to_what_is_behind() {
    let plan = plan("{outside: wan}");
    let v4_routes = |name: &str| {
        let node = plan.nodes.iter().find(|node| node.name == name).unwrap();
        let v4 = node.routes.iter().filter(|route| route.via.is_ipv4());
        v4.map(|route| route.destination.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(v4_routes("a"), ["0.0.0.0/0"]);
    // The LAN has 10.0.0.0/29.
    assert_eq!(v4_routes("isp"), ["10.0.0.24/30"]);
    assert_eq!(v4_routes("gw"), ["10.0.0.16/29", "10.0.0.24/30"]);
    let hosts = |name: &str| plan.hosts_of(plan.nodes.iter().find(|node| node.name == name).unwrap());
    assert!(hosts("b").contains("\n10.0.0.1 a a-eth0\n") && hosts("gw").contains("\n10.0.0.1 a"));
    assert!(!hosts("s").contains("10.0.0.1 ") && hosts("s").contains("fd00:6e6c::1 a"), "{}", hosts("s"));
    assert!(hosts("s").contains("\n10.0.0.9 gw gw-eth1\n"), "{}", hosts("s"));
}

#[test]
fn rules_name_interfaces_and_addresses() {
    let text = rules(&plan("{outside: wan, forward: [{port: 8080, to: 'b:80'}, {port: 53, to: a, protocol: udp}]}"));
    for part in [
        "define outside = { \"eth1\" }\ndefine addresses = { 10.0.0.9 }\n",
        "ip daddr $addresses tcp dport 8080 dnat to 10.0.0.2:80",
        "ip daddr $addresses udp dport 53 dnat to 10.0.0.1:53",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(rules(&plan("{outside: wan, kind: symmetric}")).contains("masquerade fully-random\n"));
    // A LAN as outside, whose link has another name in the plan.
    assert!(rules(&plan("{outside: lan}")).contains("outside = { \"eth0\" }"));
}

#[test]
fn a_way_around_a_translation_is_refused() {
    let with = |from: &str, to: &str| wrong(&HOME.replace("NAT", "{outside: wan}").replace(from, to));
    let host = with("end: {ends: [far, t]}", "end: {ends: [far, b, t]}");
    assert!(host.is_empty(), "a host at both sides forwards nothing: {host}");
    let router = with("lan: {ends: [a, b, gw]}", "lan: {ends: [a, b, gw, isp]}");
    assert!(router.contains("`isp` joins both sides of `gw` past its translation"), "{router}");
}
