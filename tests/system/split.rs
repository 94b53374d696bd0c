//! A lab in parts: both are played at once on one machine, in network namespaces with a path between them, with real programs and real
//! clocks.

use crate::fixture::{Finished, Fixture, User, is_root, number};
use std::os::unix::fs::PermissionsExt;

const MACHINES: &str = include_str!("tunnel.sh");

/// A lab of two sites. At the cut link, machine a has a transit router and machine b a router; `files` of b is beside the lab file.
const LAB: &str = "name: sites
machines: {a: {}, b: {}}
nodes:
  client: {machine: a}
  core: {kind: transit, machine: a}
  edge: {kind: router, machine: b}
  server: {machine: b, files: {/etc/banner: conf/banner, /run/web: empty}}
  spare: {machine: b}
links:
  access: {ends: [client, core], delay: 1 ms}
  line: {ends: [core, edge], delay: 20 ms, rate: 50 Mbit/s}
  lan: {ends: [edge, server, spare]}
  back: {ends: [client, spare], delay: 10 ms, cost: 90}
timeline:
  - {on: server, run: head -c 4000000 /dev/zero > /run/web/big; cd /run/web; exec python3 -m http.server 80, as: web, ready: {tcp: 80}}
bounds: {lateness: 50 ms}
expect: [line.forward.drops == 0 packets]
";

fn play(fixture: &Fixture, script: &str) -> Finished {
    // Wires as they are everywhere.
    let begin = format!("NETLOOM={}/netloom\nAHEAD=0\nMTU=1500", fixture.path().display());
    fixture.write("play.sh", &format!("{begin}\n{MACHINES}\n{script}"));
    let flags = if fixture.user() == User::Nobody || !is_root() { "-Urn" } else { "-n" };
    fixture.run("unshare", &[flags, "bash", "play.sh"])
}

/// The mean round trip of a ping, in milliseconds, as `name` has it.
fn rtt(told: &str, name: &str) -> f64 {
    number(told, name)
}

#[test]
fn both_parts_are_the_lab() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("sites.yaml", LAB);
        std::fs::create_dir_all(fixture.work().join("conf")).unwrap();
        fixture.write("conf/banner", "welcome to b\n");
        let script = r#"
            $NETLOOM split sites.yaml --path 2ms --address a=10.8.0.1 --address b=10.8.0.2 -o parts > split.log
            cat split.log
            for part in a b; do $NETLOOM check parts/sites-$part.yaml > /dev/null; done
            bridge
            b $NETLOOM up parts/sites-b.yaml > b.log 2>&1 & starts=$!
            a $NETLOOM up parts/sites-a.yaml > a.log 2>&1
            wait $starts
            client() { a $NETLOOM exec sites-a client -- "$@"; }
            b $NETLOOM exec sites-b server -- cat /etc/banner
            for to in server edge spare-eth1 core; do
                client ping -c 40 -i 0.02 -w 20 $to > ping
                echo $to=$(sed -n 's|^rtt[^=]*= \([0-9.]*\)/.*|\1|p' ping)
            done
            echo v6=$(client ping -6 -c 20 -i 0.02 -w 20 server | sed -n 's|^rtt[^=]*= \([0-9.]*\)/.*|\1|p')
            b $NETLOOM exec sites-b server -- ping -c 3 -i 0.1 -w 9 -q client > /dev/null && echo answered=1
            echo bytes=$(client python3 -c 'import urllib.request
print(len(urllib.request.urlopen("http://server/big").read()))')
            client ip -o addr show dev eth0 | grep -o 'inet [0-9./]*' > address
            client getent ahosts server | awk '{ print $1 }' | sort -u > names
            a $NETLOOM down sites-a || echo a_ended=$?
            b $NETLOOM down sites-b || echo b_ended=$?
            echo address=$(cut -d' ' -f2 address)
            echo names=$(tr '\n' ' ' < names)
            "#;
        let told = play(&fixture, script).expect_code(0).stdout;
        assert!(told.contains("parts/sites-a.yaml: client, core; 2 links to other machines"), "{told}");
        assert!(told.contains("welcome to b"), "{told}");
        // 1 + 20 ms and back; the path is taken off, and never may it be less. `spare` has another interface, at a link to the client.
        for (name, least) in [("server", 41.9), ("edge", 41.9), ("v6", 41.9), ("spare-eth1", 19.9), ("core", 1.9)] {
            let time = rtt(&told, name);
            assert!((least..least + 4.1).contains(&time), "{name}: {time}: {told}");
        }
        assert!(told.contains("answered=1"), "{told}");
        assert!((number(&told, "bytes") - 4_000_000.0).abs() < 0.1, "{told}");
        assert_eq!(names_of_the_whole(&fixture), addresses_told(&told), "{told}");
        ["sites-a", "sites-b"].iter().for_each(|lab| fixture.assert_nothing_is_left(lab));
        see_what_crossed(&fixture);
    }
}

/// A LAN over both machines, with a switch on each, on which nodes resolve their addresses.
const PARTED: &str = "name: lan
machines: {a: {}, b: {}}
arp: true
duration: 60 s
nodes:
  x: {machine: a}
  y: {machine: a}
  s: {kind: switch, machine: a}
  t: {kind: switch, machine: b}
  z: {machine: b}
  w: {machine: b}
links:
  xs: {ends: [x, s]}
  ys: {ends: [y, s]}
  trunk: {ends: [s, t], delay: 10 ms}
  zt: {ends: [z, t]}
  wt: {ends: [w, t]}
timeline: [{at: 0 s, partition: [[x, w], [y, z]]}]
bounds: {lateness: 50 ms}
";

#[test]
fn a_partition_parts_nodes_of_all_machines() {
    let fixture = Fixture::new(User::Own);
    fixture.write("lan.yaml", PARTED);
    let script = r#"
        $NETLOOM split lan.yaml --path 2ms --address a=10.8.0.1 --address b=10.8.0.2 -o parts > split.log
        bridge
        b $NETLOOM run parts/lan-b.yaml > b.log 2>&1 & runs=$!
        a $NETLOOM run parts/lan-a.yaml > a.log 2>&1 & runs="$runs $!"
        # The partition begins at time zero.
        until a $NETLOOM exec lan-a x -- true && b $NETLOOM exec lan-b z -- true; do sleep 0.2; done 2> /dev/null
        sleep 0.5
        for pair in 'a x w' 'a x z' 'a x y' 'a y z' 'a y w' 'b w x' 'b z x' 'b z y' 'b w y' 'b w z'; do
            set -- $pair
            for family in 4 6; do
                $1 $NETLOOM exec lan-$1 $2 -- ping -$family -q -c 2 -i 0.1 -W 1 $3 > /dev/null && echo $2-$3-$family
            done || true
        done
        a $NETLOOM down lan-a > /dev/null || true
        b $NETLOOM down lan-b > /dev/null || true
        wait $runs || true
        "#;
    let told = play(&fixture, script).expect_code(0).stdout;
    let reached: Vec<&str> = told.lines().filter(|line| line.contains("-4") || line.contains("-6")).collect();
    assert_eq!(reached, ["x-w-4", "x-w-6", "y-z-4", "y-z-6", "w-x-4", "w-x-6", "z-y-4", "z-y-6"], "{told}");
    ["lan-a", "lan-b"].iter().for_each(|lab| fixture.assert_nothing_is_left(lab));
}

/// Frames of 1500 bytes crossed a path of 1500, encrypted with keys that nobody else can read.
fn see_what_crossed(fixture: &Fixture) {
    let rows = ["sites-a", "sites-b"].map(|lab| fixture.json(lab, "report.json")["tunnels"].clone());
    let sum = |row: usize, name: &str| -> u64 {
        rows[row].as_array().unwrap().iter().map(|tunnel| tunnel[name].as_u64().unwrap()).sum()
    };
    assert!(sum(1, "cut_frames") > 2_000, "{rows:?}");
    assert_eq!(sum(1, "cut_frames"), sum(0, "joined_frames"), "{rows:?}");
    assert_eq!(sum(0, "lost_frames") + sum(1, "lost_frames"), 0, "{rows:?}");
    for name in ["sites-a", "sites-b"] {
        let path = fixture.work().join(format!("parts/{name}.yaml"));
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
        assert_eq!(std::fs::read_to_string(&path).unwrap().matches(" key: ").count(), 2, "{name}");
    }
}

/// The addresses of `client` and `server` as the lab in one piece has them.
fn names_of_the_whole(fixture: &Fixture) -> (String, Vec<String>) {
    let plan = fixture.netloom(&["check", "sites.yaml", "--json"]).expect_code(0).stdout;
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let addresses = |name: &str| {
        let node = plan["nodes"].as_array().unwrap().iter().find(|node| node["name"] == name).unwrap();
        let own = node["interfaces"][0]["addresses"].as_array().unwrap();
        own.iter().map(|address| address.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let bare = |address: &String| address.split('/').next().unwrap_or_default().to_owned();
    let mut server: Vec<String> = addresses("server").iter().map(bare).collect();
    server.sort_unstable();
    (addresses("client").swap_remove(0), server)
}

/// Returns the addresses that programs in the part have told.
fn addresses_told(told: &str) -> (String, Vec<String>) {
    let line = |name: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    (line("address=").concat(), line("names="))
}

#[test]
fn what_cannot_be_written_or_divided_is_told() {
    let fixture = Fixture::new(User::Own);
    fixture.write("sites.yaml", LAB);
    std::fs::create_dir_all(fixture.work().join("conf")).unwrap();
    fixture.write("conf/banner", "welcome to b\n");
    let split = |more: &[&str]| fixture.netloom(&[&["split", "sites.yaml", "-o", "parts"][..], more].concat());
    let told = split(&[]).expect_code(0).stderr;
    assert!(told.contains("write the address of machine a for `ADDRESS-OF-a`"), "{told}");
    // The same is written again with other keys, and what somebody has changed stays.
    let key = || std::fs::read_to_string(fixture.work().join("parts/sites-a.yaml")).unwrap();
    let first = key();
    split(&[]).expect_code(0);
    assert_ne!(first, key());
    let plain = split(&["--plain"]).expect_code(6).stderr;
    assert!(plain.contains("writing parts/sites-a.yaml"), "{plain}");
    fixture.netloom(&["split", "sites.yaml", "-o", "bare", "--plain"]).expect_code(0);
    assert!(!std::fs::read_to_string(fixture.work().join("bare/sites-a.yaml")).unwrap().contains("key:"));
    let other = split(&["--address", "a=192.0.2.1"]).expect_code(6).stderr;
    assert!(other.contains("writing parts/sites-b.yaml"), "{other}");
    let unknown = split(&["--address", "c=192.0.2.1"]).expect_code(2).stderr;
    assert!(unknown.contains("there is no machine `c`: there are a, b"), "{unknown}");
    let far = split(&["--path", "50ms"]).expect_code(3).stderr;
    assert!(far.contains("sites.yaml: `client` on machine a (line 4)") && far.contains("cannot be apart"), "{far}");
    fixture.write(
        "sites.yaml",
        &format!("{LAB}exercise: {{text: x, tasks: [{{title: Look., check: line.forward.drops == 0 packets}}]}}\n"),
    );
    let refused = split(&[]).expect_code(3).stderr;
    assert!(refused.contains("sites.yaml:") && refused.contains("`exercise`"), "{refused}");
}
