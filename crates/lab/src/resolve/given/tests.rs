use crate::plan::Plan;

fn read(text: &str) -> Result<Plan, String> {
    crate::parse(text, "test.yaml").map(|lab| lab.plan).map_err(|wrong| wrong.to_string())
}

/// A host between two routers, and a tunnel behind one of these.
fn lab(client: &str, tunnel: &str, elsewhere: &str) -> String {
    format!(
        "nodes:\n  client: {client}\n  r1: {{kind: router}}\n  r2: {{kind: transit}}\n  \
         far: {{kind: tunnel, remote: 192.0.2.7{tunnel}}}\n\
         links:\n  one: {{ends: [client, r1]}}\n  two: {{ends: [client, r2]}}\n  \
         out: {{ends: [{{node: r2, address: 10.9.0.1/24, mac: '02:00:00:00:00:01'}}, far]}}\n{elsewhere}"
    )
}

const DB: &str =
    "elsewhere: {db: {eth0: {address: 10.8.0.1/24}, eth1: {address: 10.9.0.2/24, mac: '02:00:00:00:00:02'}}}\n";
const BEYOND: &str = ", beyond: [{node: db, interface: eth1}]";

#[test]
fn routes_are_those_of_the_list_and_no_others() {
    let list =
        "{routes: [{to: 10.9.0.0/16, via: 10.0.0.2}, {to: 10.7.0.1, via: 10.0.0.6}, {to: 10.9.0.0/16, via: 10.0.0.6}]}";
    let plan = read(&lab(list, BEYOND, DB)).unwrap();
    let shown: Vec<String> = plan.nodes[0]
        .routes
        .iter()
        .map(|route| format!("{} via {} at {}", route.destination, route.via, route.interface))
        .collect();
    let expected = ["10.9.0.0/16 via 10.0.0.2 at 0", "10.9.0.0/16 via 10.0.0.6 at 1", "10.7.0.1/32 via 10.0.0.6 at 1"];
    assert_eq!((shown, plan.nodes[0].ecmp), (expected.map(str::to_owned).to_vec(), true));
    let wrong = |keys: &str| read(&lab(keys, BEYOND, DB)).unwrap_err();
    assert!(wrong("{routes: [{to: 10.9.0.0/16, via: 10.99.0.1}]}").contains("10.99.0.1 is no neighbour of `client`"));
    assert!(wrong("{routes: [{to: 'fd01::/64', via: 10.0.0.2}]}").contains("different families"));
    let twice = wrong("{routes: [{to: 10.9.0.0/16, via: 10.0.0.2}, {to: 10.9.0.0/16, via: 10.0.0.2}]}");
    assert!(twice.contains("there is a route to 10.9.0.0/16 via 10.0.0.2 already"), "{twice}");
}

#[test]
fn names_of_nodes_elsewhere_mean_the_interface_that_is_given() {
    let hosts = |client: &str| {
        let plan = read(&lab(client, BEYOND, DB)).unwrap();
        plan.hosts_of(&plan.nodes[0])
    };
    assert!(hosts("{}").contains("10.8.0.1 db db-eth0\n10.9.0.2 db-eth1\n"), "{}", hosts("{}"));
    let other = hosts("{names: {db: eth1, r1: eth0}}");
    assert!(other.contains("10.8.0.1 db-eth0\n10.9.0.2 db db-eth1\n"), "{other}");
    let wrong = |client: &str| read(&lab(client, BEYOND, DB)).unwrap_err();
    assert!(wrong("{names: {dc: eth1}}").contains("there is no node `dc`, neither here nor in `elsewhere`"));
    assert!(wrong("{names: {db: eth2}}").contains("`db` has no interface `eth2`"));
}

#[test]
fn what_is_behind_a_tunnel_is_a_neighbour() {
    let plan = read(&lab("{}", BEYOND, DB)).unwrap();
    let neighbors = &plan.nodes[2].interfaces[1].neighbors;
    assert_eq!(neighbors[..], [("10.9.0.2".parse().unwrap(), [2, 0, 0, 0, 0, 2])]);
    // A transit router cannot ask who is there.
    let open = read(&lab("{}", "", DB)).unwrap_err();
    assert!(open.contains("a transit router knows its neighbours"), "{open}");
}

#[test]
fn what_is_elsewhere_is_checked() {
    let wrong = |tunnel: &str, elsewhere: &str| read(&lab("{}", tunnel, elsewhere)).unwrap_err();
    assert!(wrong(BEYOND, "").contains("there is no node `db` in `elsewhere`"));
    assert!(wrong(", beyond: [{node: db, interface: eth7}]", DB).contains("`db` has no interface `eth7`"));
    assert!(wrong(", beyond: [{node: db, interface: eth0}]", DB).contains("needs a `mac`: write it at `eth0` of `db`"));
    let twice = ", beyond: [{node: db, interface: eth1}, {node: db, interface: eth1}]";
    assert!(wrong(twice, DB).contains("behind the tunnel already"));
    assert!(wrong("", "elsewhere: {R1: {}}\n").contains("there is another node `R1`"));
    assert!(wrong("", "elsewhere: [db]\n").contains("expected a map of nodes"));
    assert!(wrong("", "elsewhere: {db: {eth0: {address: [10.0.0.1]}}}\n").contains("has no prefix length"));
}
