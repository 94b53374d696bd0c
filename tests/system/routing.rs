//! Routers with routing daemons.

use crate::fixture::{Fixture, User, is_root, not_run, ran};
use crate::wait::wait_until;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Two hosts on opposite sides of a ring of four routers.
const RING: &str = "
nodes: {h1: , h2: , r1: &router {kind: router, daemons: [ospf, bfd]}, r2: *router, r3: *router, r4: *router}
links:
  north: {ends: [r1, r2], delay: 2 ms}
  east: {ends: [r2, r3], delay: 2 ms}
  south: {ends: [r3, r4], delay: 2 ms, cost: 5}
  west: {ends: [r4, r1], delay: 2 ms}
  a: {ends: [h1, r1]}
  b: {ends: [h2, r3]}
bounds: {lateness: 10 s, events: 10 s, starts: 10 s, starvation: 100 %}
";

/// What a command of the latest run of a lab printed.
fn printed(fixture: &Fixture, lab: &str, command: &str) -> String {
    let logs = fs::read_dir(fixture.latest(lab).join("logs")).unwrap().flatten().map(|entry| entry.path());
    let end = format!("-{command}.stdout");
    let mut own = logs.filter(|path| path.to_string_lossy().ends_with(&end));
    fs::read_to_string(own.next().unwrap_or_else(|| panic!("the log of {command}"))).unwrap()
}

#[test]
fn a_ring_finds_the_other_way_in_virtual_time_and_the_same_each_time() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let timeline = "
timeline:
  - {at: 10 s, on: h1, run: ping -4 -n -c 200 -i 0.02 h2, as: ping}
  - {at: 11 s, link: north, down: true}
  - {at: 13 s, on: r1, run: vtysh -c 'show ip route ospf' -c 'show ip ospf neighbor' -c 'show bfd peers', as: routes}
expect: [ping.exit == 0, routes.stdout contains \"10.0.0.20/30\"]
";
    fixture.write("ring.yaml", &format!("{RING}{timeline}"));
    let runs = [(), ()].map(|()| {
        ran(fixture.netloom(&["run", "ring.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
        ["ping", "routes", "ospfd-r1", "bfdd-r1", "zebra-r3"].map(|command| printed(&fixture, "ring", command))
    });
    assert_eq!(runs[0], runs[1]);
    let [ping, routes, ..] = &runs[0];
    let received: u32 = ping.split(" received").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    // BFD misses three packets in 300 ms of lab time, at 20 ms for each ping, and OSPF takes some more.
    assert!((150..200).contains(&received), "{ping}");
    assert!(routes.contains("10.0.0.20/30 [110/7] via 10.0.0.13, eth1"), "{routes}");
    fixture.assert_nothing_is_left("ring");
}

#[test]
fn the_shell_of_frr_in_a_node_talks_to_the_nodes_own_daemons() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("ring.yaml", RING);
        ran(fixture.netloom(&["up", "ring.yaml"])).expect_code(0);
        let ask =
            |what: &str| fixture.netloom(&["exec", "ring", "r1", "--", "vtysh", "-c", what]).expect_code(0).stdout;
        let ping = || fixture.netloom(&["exec", "ring", "h1", "--", "ping", "-4", "-c", "1", "-W", "1", "h2"]).code;
        let begun = Instant::now();
        // The other routers may take longer than this one.
        while ask("show ip ospf neighbor").matches("Full").count() < 2
            || !ask("show ip route ospf").contains("O>* 10.0.0.20/30")
            || ping() != Some(0)
        {
            assert!(begun.elapsed() < Duration::from_secs(50), "{}", ask("show ip route"));
            sleep(Duration::from_millis(200));
        }
        // Traffic flows again some time after a cut.
        fixture.netloom(&["set", "ring", "north", "state=down"]).expect_code(0);
        wait_until("another way", || {
            ask("show ip route ospf").contains("10.0.0.20/30 [110/7] via") && ping() == Some(0)
        });
        assert!(ask("show running-config").contains("hostname r1"));
        // The machine's own configuration is not this one's.
        assert!(
            fixture
                .netloom(&["exec", "ring", "r1", "--", "ls", "/run/frr"])
                .expect_code(0)
                .stdout
                .contains("ospfd.vty")
        );
        fixture.netloom(&["down", "ring"]).expect_code(0);
        fixture.assert_nothing_is_left("ring");
    }
}

#[test]
fn a_daemon_that_dies_fails_the_run_by_its_name() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let timeline = "timeline: [{at: 2 s, on: r2, run: kill -9 $(cat /run/frr/ospfd.pid), as: killer}, {at: 3 s, on: r1, run: 'true'}]";
    fixture.write("ring.yaml", &format!("{RING}{timeline}\n"));
    let run = ran(fixture.netloom(&["run", "ring.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(1);
    assert!(run.stdout.contains("ospfd-r2") && run.stdout.contains("signal 9"), "{run:#?}");
}

#[test]
fn an_own_configuration_that_is_wrong_is_told_with_its_line() {
    let fixture = Fixture::new(if is_root() { User::Nobody } else { User::Own });
    let text = "
nodes: {h: , r: {kind: router, daemons: [ospf], frr: {text: \"router ospf\\n ospf router-id nonsense\\n\"}}}
links: {l: {ends: [h, r]}}
";
    fixture.write("own.yaml", text);
    let run = ran(fixture.netloom(&["run", "own.yaml"])).expect_code(1);
    assert!(run.stderr.contains("service `frr-r` did not become ready") && run.stderr.contains("nonsense"), "{run:#?}");
}

/// Runs an example of routing in virtual time, twice.
fn play(name: &str) {
    play_of("routing/", name);
}

fn play_of(folder: &str, name: &str) {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let file = format!("{name}.yaml");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder).join(&file);
    fixture.write(&file, &fs::read_to_string(path).unwrap());
    let runs = [(), ()].map(|()| {
        let run = ran(fixture.netloom(&["run", &file, "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        let mut logs: Vec<_> =
            fs::read_dir(fixture.latest(name).join("logs")).unwrap().flatten().map(|log| log.path()).collect();
        logs.sort();
        logs.iter()
            .map(|log| (log.file_name().unwrap().to_owned(), fs::read_to_string(log).unwrap()))
            .collect::<Vec<_>>()
    });
    assert_eq!(runs[0], runs[1]);
    fixture.assert_nothing_is_left(name);
}

#[test]
fn the_example_of_ospf_heals() {
    play("ospf-ring");
}

#[test]
fn the_example_of_bgp_withdraws_a_route() {
    play("bgp-three-as");
}

#[test]
fn the_example_of_rip_takes_the_way_with_fewer_routers() {
    play("rip-vimage-figure-3");
}

#[test]
fn the_example_of_isis_has_the_round_trips_that_its_metrics_predict() {
    play("isis-abilene");
}

#[test]
fn the_example_of_multicast_copies_where_ways_part() {
    play("multicast");
}

#[test]
fn the_example_of_anycast_gets_the_nearest_answer() {
    play("anycast");
}

#[test]
fn the_example_of_a_tunnel_joins_two_sites() {
    play_of("", "wireguard");
}

/// Whether this machine's kernel has WireGuard.
fn has_wireguard() -> bool {
    let link = ["-Urn", "ip", "link", "add", "t", "type", "wireguard"];
    std::process::Command::new("unshare").args(link).output().unwrap().status.success()
}

/// In real time, where only what arrives is certain, and not when.
#[test]
fn the_example_of_a_tunnel_works_with_this_machines_kernel() {
    if !has_wireguard() {
        return not_run("the example of WireGuard in namespaces: this machine's kernel has no WireGuard");
    }
    for user in User::some() {
        let fixture = Fixture::new(user);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wireguard.yaml");
        let example = fs::read_to_string(path).unwrap().replace("stack: kernel", "stack: namespace");
        let timed = |line: &&str| line.contains("time=2") || line.contains("bits_per_second");
        let untimed: Vec<&str> = example.lines().filter(|line| !timed(line)).collect();
        let bounds =
            "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";
        fixture.write("wireguard.yaml", &format!("{bounds}\n{}\n", untimed.join("\n")));
        ran(fixture.netloom(&["run", "wireguard.yaml"])).expect_code(0);
        fixture.assert_nothing_is_left("wireguard");
    }
}

#[test]
fn the_shell_of_frr_works_in_kernels_in_virtual_time() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        fixture.write("ring.yaml", &format!("clock: virtual\nready: converged{RING}"));
        ran(fixture.netloom(&["up", "ring.yaml"])).expect_code(0);
        fixture.netloom(&["resume", "ring"]).expect_code(0);
        let arguments = ["exec", "ring", "r1", "--", "vtysh", "-c", "show ip ospf neighbor"];
        let shown = fixture.netloom(&arguments).expect_code(0).stdout;
        assert_eq!(shown.matches("Full").count(), 2, "{shown}");
        fixture.netloom(&["down", "ring"]).expect_code(0);
        fixture.assert_nothing_is_left("ring");
    }
}

#[test]
fn labels_are_used_in_kernels_and_refused_where_there_is_no_mpls() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let text = "
ready: converged
nodes: {h1: , h2: , r1: &router {kind: router, daemons: [ospf, ldp]}, r2: *router, r3: *router}
links: {a: {ends: [h1, r1]}, b: {ends: [r1, r2]}, c: {ends: [r2, r3]}, d: {ends: [r3, h2]}}
timeline:
  - {at: 19 s, on: r2, run: tcpdump -l -n -i eth0 -c 2 mpls, as: packets}
  - {at: 20 s, on: h1, run: ping -4 -c 3 -i 0.1 h2, as: ping}
expect: [ping.exit == 0, 'packets.stdout contains \"MPLS (label \"']
";
    fixture.write("labels.yaml", text);
    ran(fixture.netloom(&["run", "labels.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
    if Path::new("/proc/sys/net/mpls").exists() {
        not_run("the refusal of labels: this machine's kernel has MPLS");
        return;
    }
    let refused = fixture.netloom(&["run", "labels.yaml"]).expect_code(4);
    assert!(refused.stderr.contains("labels.yaml:3: key `daemons`: `ldp` needs MPLS"), "{refused:#?}");
    let checked = fixture.netloom(&["check", "labels.yaml"]).expect_code(0);
    assert!(checked.stderr.contains("`ldp` needs MPLS"), "{checked:#?}");
}

#[test]
fn routers_that_do_not_converge_are_named_with_what_they_lack() {
    let fixture = Fixture::new(if is_root() { User::Nobody } else { User::Own });
    let deaf = "{kind: router, daemons: [ospf], frr: {text: \"hostname deaf\"}}";
    let text = RING.replace("r2: *router", &format!("r2: {deaf}")).replace("r4: *router", &format!("r4: {deaf}"));
    fixture.write("ring.yaml", &format!("ready: {{converged: 2 s}}{text}"));
    let run = ran(fixture.netloom(&["run", "ring.yaml"])).expect_code(1);
    for line in
        ["did not converge within 2 s", "r1 has no route to 10.0.0.4/30, 10.0.0.8/30, 10.0.0.20/30", "\n  r4 has"]
    {
        assert!(run.stderr.contains(line), "{line}: {run:#?}");
    }
}

#[test]
fn bird_finds_routes_with_its_own_configuration() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let text = "
ready: converged
nodes:
  h1: {}
  r1: &router
    kind: router
    daemons: [ospf]
    bird:
      text: |
        log stderr all;
        protocol device {}
        protocol kernel { ipv4 { export all; }; }
        protocol ospf v2 { ipv4 { export all; }; area 0 { interface \"eth*\" { type ptp; hello 1; }; }; }
  r2: *router
  r3: {kind: router, daemons: [ospf]}
  h2: {}
links: {a: {ends: [h1, r1]}, b: {ends: [r1, r2]}, c: {ends: [r2, r3]}, d: {ends: [r3, h2]}}
timeline:
  - {on: h1, run: ping -4 -c 2 -i 0.1 h2, as: ping}
  - {on: r1, run: birdc show protocols, as: protocols}
expect: [ping.exit == 0, protocols.stdout contains \"OSPF\"]
";
    fixture.write("bird.yaml", text);
    ran(fixture.netloom(&["run", "bird.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
}
