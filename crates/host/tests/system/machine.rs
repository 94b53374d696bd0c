use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

use netloom_host::cgroup::{self, Hierarchy, Unavailable};
use netloom_host::lab::{LabSide, spawn_lab};
use netloom_host::netlink::{Netlink, Veth, VethEnd};
use netloom_host::node::{AgentClient, Node, NodeConfig};
use netloom_host::runtime::{self, LabState, RuntimeDir};

use crate::fixture::{host, in_lab, node, ok, options, quiet, route};
use netloom_testing::cases::NOT_RUN;

/// The hierarchy, where this user may make control groups. Elsewhere the reason must be one that can be; the rest of the case is
/// not run, which the runner shows.
fn hierarchy() -> Option<Hierarchy> {
    match Hierarchy::detect() {
        Ok(hierarchy) => Some(hierarchy),
        Err(reason) => {
            assert!(!nix::unistd::geteuid().is_root(), "root has shares everywhere but here: {reason}");
            assert!(matches!(reason, Unavailable::RootOnly { .. } | Unavailable::NotDelegated { .. }), "{reason}");
            println!("{NOT_RUN}shares of processors: {reason}");
            None
        }
    }
}

/// A node with a fifth of a core gets no more.
pub(crate) fn a_share_of_a_cpu_is_kept_and_removed() {
    let Some(hierarchy) = hierarchy() else { return };
    let group = hierarchy.plan("test", std::process::id());
    let path = group.path().to_owned();
    in_lab(move |_| {
        group.create().unwrap();
        let share = group.share("a", 200_000, Duration::ZERO).unwrap();
        let mut a = Node::create(&NodeConfig { cgroup: Some(share.path().to_owned()), ..node("a") }).unwrap();
        // Two busy shells would take two cores.
        for _ in 0..2 {
            a.spawn(quiet(&["sh", "-c", "while :; do :; done"])).unwrap();
        }
        let (start, before) = (Instant::now(), a.cpu_wait().unwrap());
        std::thread::sleep(Duration::from_secs(2));
        let ran = Duration::from_nanos(a.cpu_wait().unwrap().ran_ns - before.ran_ns);
        let share_of_core = ran.as_secs_f64() / start.elapsed().as_secs_f64();
        // The kernel grants a little more than a quota now and then; a fifth of the share is ample.
        assert!((0.12..0.24).contains(&share_of_core), "{share_of_core} of a core instead of 0.2");
        let throttling = share.throttling().unwrap();
        assert!(throttling.throttled_periods > 5 && !throttling.throttled.is_zero(), "{throttling:?}");
        assert!(group.path().exists());
        // The node still runs in it: removing kills it.
        group.remove().unwrap();
    });
    assert!(!path.exists());
    cgroup::remove(&path).expect("there is nothing left to remove");
}

pub(crate) fn the_groups_of_a_killed_lab_are_swept() {
    let Some(hierarchy) = hierarchy() else { return };
    let dir = RuntimeDir::acquire("swept").unwrap();
    let group = hierarchy.plan("swept", std::process::id());
    let path = group.path().to_owned();
    let state = LabState {
        lab_pid: None,
        guard_pid: i32::try_from(std::process::id()).unwrap(),
        started_unix_s: 0,
        lab_file: "/lab.yaml".into(),
        cgroups: vec![path.clone()],
        results: None,
        stays_up: false,
        diverts: false,
        is_part: false,
    };
    dir.write_state(&state).unwrap();
    let (mut lab, mut channel) = spawn_lab(&options(), move |mut side| {
        group.create().unwrap();
        let share = group.share("a", 500_000, Duration::ZERO).unwrap();
        let mut a = Node::create(&NodeConfig { cgroup: Some(share.path().to_owned()), ..node("a") }).unwrap();
        a.spawn(quiet(&["sleep", "1000"])).unwrap();
        side.channel.write_all(b"x").unwrap();
        loop {
            std::thread::park();
        }
    })
    .unwrap();
    channel.read_exact(&mut [0]).unwrap();
    // Nobody who could clean up survives.
    lab.kill().unwrap();
    lab.wait().unwrap();
    drop(dir);
    assert!(path.exists());
    assert_eq!(runtime::sweep_stale().unwrap(), ["swept"]);
    assert!(!path.exists());
}

/// A star: one router in the middle, and a hundred nodes around it, each on a link of its own through the lab. How long that
/// takes is for the benchmarks.
pub(crate) fn a_hundred_nodes_come_and_go() {
    let start = Instant::now();
    let (mut lab, mut channel) = spawn_lab(&options(), |side| star(side, 100)).unwrap();
    let mut steps = String::new();
    BufReader::new(&mut channel).read_line(&mut steps).unwrap();
    let up = start.elapsed();
    let killed = Instant::now();
    lab.kill().unwrap();
    lab.wait().unwrap();
    let down = killed.elapsed();
    assert!(steps.contains("configured"), "it came to its end: {steps:?}");
    println!("up within {up:?} ({}), down within {down:?}", steps.trim_end());
}

fn star(mut side: LabSide, count: usize) -> i32 {
    let start = Instant::now();
    let configs = star_configs(count);
    let mut nodes = Node::create_all(&configs).unwrap();
    let created = start.elapsed();
    let end = |port: usize, up| VethEnd { name: format!("p{port}"), mac: None, namespace: None, up };
    let far = |node: usize, interface: usize| {
        let config = &configs[node].interfaces[interface];
        VethEnd {
            name: config.name.clone(),
            mac: Some(config.mac),
            namespace: Some(nodes[node].pid().into()),
            up: false,
        }
    };
    let pairs = (0..count).flat_map(|link| {
        let (hub, leaf) = ([end(2 * link, true), far(0, link)], [end(2 * link + 1, true), far(link + 1, 0)]);
        [Veth { ends: hub, mtu: 1500 }, Veth { ends: leaf, mtu: 1500 }]
    });
    let pairs: Vec<Veth> = pairs.collect();
    Netlink::open().unwrap().create_veths(&pairs).unwrap();
    let linked = start.elapsed();
    nodes.iter_mut().for_each(|node| node.begin_configure().unwrap());
    nodes.iter_mut().for_each(|node| node.finish_configure().unwrap());
    let configured = start.elapsed();
    let steps = format!("nodes {created:?}, links {:?}, configured {:?}", linked - created, configured - linked);
    ok(&mut nodes[1], "ping -n -c 1 -W 1 10.0.0.1");
    writeln!(side.channel, "{steps}").unwrap();
    loop {
        std::thread::park();
    }
}

fn star_configs(count: usize) -> Vec<NodeConfig> {
    let hub_addresses: Vec<[String; 2]> =
        (0..count).map(|n| [format!("10.0.{n}.254/24"), format!("fd00:{n}::ff/64")]).collect();
    let hub_lists: Vec<[&str; 2]> = hub_addresses.iter().map(|[v4, v6]| [v4.as_str(), v6.as_str()]).collect();
    let hub: Vec<&[&str]> = hub_lists.iter().map(|list| &list[..]).collect();
    let leaf = |n: usize| NodeConfig {
        routes: vec![route("0.0.0.0/0", &format!("10.0.{n}.254")), route("::/0", &format!("fd00:{n}::ff"))],
        ..host(&format!("n{n}"), &[&[&format!("10.0.{n}.1/24"), &format!("fd00:{n}::1/64")]])
    };
    let mut configs = vec![NodeConfig { forwarding: true, ..host("hub", &hub) }];
    configs.extend((0..count).map(leaf));
    configs
}
