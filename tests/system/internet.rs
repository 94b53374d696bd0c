//! Labs with a way out into the network of the machine, which is one of the test's own.

use crate::fixture::{User, is_root, not_run};
use crate::world::{OPEN, ORDINARY, WHO, World};
use std::fs;

/// A host behind a router, the way out behind that. What this machine is late is of no interest.
fn lab(name: &str, command: &str) -> String {
    format!(
        "name: {name}
bounds: {{lateness: 100 s, delay: 100 %, rate: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}
nodes: {{a: , r: {{kind: router}}, net: {{kind: internet}}}}
links:
  one: {{ends: [a, r], delay: 10 ms}}
  two: {{ends: [r, net], rate: 50 Mbit/s}}
timeline:
  - {{on: a, run: [bash, -c, '{command}'], as: who}}
"
    )
}

/// The lab in which host and way out ask the server who asks, and hear the machine's address.
fn asking(name: &str) -> String {
    lab(name, WHO)
        + &format!("  - {{on: net, run: [bash, -c, '{WHO}'], as: own}}\n")
        + "expect:\n  - who.stdout contains \"seen as 192.0.2.2\"\n  - own.stdout contains \"seen as 192.0.2.2\"\n  \
           - one.forward.packets >= 2 packets\n  - two.backward.packets >= 2 packets\n"
}

#[test]
fn nodes_reach_the_world_through_the_described_links() {
    for user in User::all() {
        let world = World::new(user);
        world.fixture.write("out.yaml", &asking("out"));
        let run = world.run("$NETLOOM check out.yaml; $NETLOOM run out.yaml").expect_code(0);
        let by = "way out here: net leads into this machine's network by rules of iptables or nftables";
        assert!(run.stdout.contains(by), "{run:#?}");
        let note = "what lies beyond net, in this machine's network and further: it keeps its own time";
        assert!(run.stdout.contains(note), "{run:#?}");
        world.fixture.assert_nothing_is_left("out");
    }
}

#[test]
fn two_labs_lead_out_beside_one_another() {
    let world = World::new(User::Own);
    let wait = "until [ -e OTHER ]; do sleep 0.01; done";
    let both = |own: &str, other: &str| {
        let wait = wait.replace("OTHER", other);
        lab(own, &format!("touch {own}; {wait}; {WHO}")) + "expect: [who.stdout contains \"seen as 192.0.2.2\"]\n"
    };
    world.fixture.write("first.yaml", &both("first", "second"));
    world.fixture.write("second.yaml", &both("second", "first"));
    let run = world.run("$NETLOOM run first.yaml >first.log 2>&1 & $NETLOOM run second.yaml && wait $!");
    let run = run.expect_code(0);
    world.fixture.assert_nothing_is_left("first");
    assert!(run.stdout.contains("beyond net"), "{run:#?}");
}

/// Who is killed: the process that the user started (G), the lab's (L), and the one that put the rules there (R).
#[test]
fn whatever_is_killed_the_network_is_put_back() {
    for user in User::all() {
        let world = World::new(user);
        world.fixture.write("out.yaml", &lab("out", &format!("{WHO} > began; sleep 1000")));
        world.fixture.write("again.yaml", &asking("again"));
        for (victims, after) in
            [("$G", "true"), ("$L", "true"), ("$R", "kill -INT $G"), ("$G $L", "true"), ("$G $L $R", "true")]
        {
            let _ = fs::remove_file(world.fixture.work().join("began"));
            let script = format!(
                "$NETLOOM run out.yaml >log 2>&1 & G=$!
                until grep -q seen began 2>/dev/null || ! kill -0 $G; do sleep 0.02; done
                L=$(pgrep -P $G netloom-lab); R=$(pgrep -P $G netloom-guard)
                kill -9 {victims}; {after}; wait $G; while kill -0 $L 2>/dev/null; do sleep 0.02; done; cat log >&2; grep seen began; $NETLOOM run again.yaml"
            );
            let run = world.run(&script);
            assert_eq!(run.code, Some(0), "{victims}: {run:#?}");
            assert!(run.stdout.starts_with("seen as 192.0.2.2\n"), "{victims}: {run:#?}");
        }
        world.fixture.assert_nothing_is_left("out");
    }
}

/// An ordinary user in the machine's own network needs a program that translates for it: either of two.
#[test]
fn an_ordinary_user_is_led_out_by_a_program() {
    if !is_root() {
        return not_run("the way out of an ordinary user's lab, for which root makes a machine");
    }
    let world = World::new(User::Own);
    fs::set_permissions(world.fixture.work(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    world.fixture.write("out.yaml", &asking("out"));
    // Hidden, one is not there.
    for (hidden, program) in [("slirp4netns", "pasta"), ("pasta", "slirp4netns")] {
        let script = format!(
            "command -v {program} >/dev/null || {{ echo {program} is missing: scripts/install-deps >&2; exit 97; }}
            {OPEN}; touch none; mount --bind none /usr/bin/{hidden}
            {ORDINARY} $NETLOOM check out.yaml; {ORDINARY} $NETLOOM run out.yaml; CODE=$?
            umount /usr/bin/{hidden}; umount /dev/net/tun; rm -r tun run results; pgrep {program}; exit $CODE"
        );
        let run = world.run(&script).expect_code(0);
        let by = format!("way out here: net leads into this machine's network by {program}");
        assert!(run.stdout.contains(&by), "{run:#?}");
        world.fixture.assert_nothing_is_left("out");
    }
}

/// Also when both of a lab's processes are killed at once.
#[test]
fn a_program_that_translates_ends_with_the_lab() {
    if !is_root() {
        return not_run("the end of an ordinary user's way out, for which root makes a machine");
    }
    let world = World::new(User::Own);
    fs::set_permissions(world.fixture.work(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    world.fixture.write("out.yaml", &lab("out", &format!("{WHO} > began; sleep 1000")));
    world.fixture.write("again.yaml", &asking("again"));
    let script = format!(
        "trap 'umount /dev/net/tun; rm -r tun run' EXIT; {OPEN}
        for victims in '$G' '$L' '$G $L'; do
            rm -f began; {ORDINARY} $NETLOOM run out.yaml >log 2>&1 & G=$!
            until grep -q seen began 2>/dev/null || ! kill -0 $G; do sleep 0.02; done
            L=$(pgrep -P $G netloom-lab); P=$(pgrep -P $G '^(pasta.*|passt.*|slirp4netns)$')
            eval kill -9 $victims; wait $G; while kill -0 $L 2>/dev/null; do sleep 0.02; done; cat log >&2
            for _ in $(seq 500); do kill -0 $P 2>/dev/null || break; sleep 0.02; done
            kill -0 $P && {{ echo $P is left; ps -ef >&2; }}
            {ORDINARY} $NETLOOM run again.yaml || exit
        done"
    );
    let run = world.run(&script).expect_code(0);
    assert!(!run.stdout.contains("is left"), "{run:#?}");
    world.fixture.assert_nothing_is_left("out");
}

/// Names are looked up by the resolver at the machine's loopback; questions cross the described links.
#[test]
fn names_are_looked_up_by_the_resolver_of_the_machine() {
    if !is_root() {
        return not_run("names beyond a way out, for which root makes a machine with a resolver");
    }
    let world = World::new(User::Own);
    fs::set_permissions(world.fixture.work(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    world.fixture.write("names.py", include_str!("names.py"));
    world.fixture.write("resolv.conf", "nameserver 127.0.0.53\n");
    let ask = "getent ahostsv4 far.test | head -n 1 | tr -s \" \"";
    let over_tcp = "  - {on: a, run: getent ahostsv4 more.test, env: {RES_OPTIONS: use-vc}, as: tcp}\n";
    let own = "  - {on: net, run: getent ahostsv4 own.test, as: own}\n";
    let expected =
        "expect:\n  - who.stdout contains \"198.51.100.1 STREAM far.test\"\n  - one.forward.packets >= 3 packets\n";
    world.fixture.write("out.yaml", &(lab("out", ask) + over_tcp + own + expected));
    let script = format!(
        "python3 names.py >/dev/null 2>&1 & SERVER=$!
        trap 'kill $SERVER; umount /dev/net/tun; umount /etc/resolv.conf' EXIT
        mount --bind resolv.conf /etc/resolv.conf
        until getent ahostsv4 far.test >/dev/null; do sleep 0.05; done
        {OPEN}
        $NETLOOM run out.yaml && rm -r results && {ORDINARY} $NETLOOM run out.yaml"
    );
    world.run(&script).expect_code(0);
    world.fixture.assert_nothing_is_left("out");
}

/// A home whose router lends addresses, answers for names, and translates addresses once more.
#[test]
fn a_name_server_of_the_lab_asks_at_the_way_out() {
    if !is_root() {
        return not_run("a name server of a lab with a way out, for which root makes a machine with a resolver");
    }
    let world = World::new(User::Own);
    world.fixture.write("names.py", include_str!("names.py"));
    world.fixture.write("resolv.conf", "nameserver 127.0.0.53\n");
    let lab = lab("home", "getent ahostsv4 far.test; getent ahostsv4 tv.home")
        .replace("a: ,", "a: {addresses: dhcp}, tv: {addresses: dhcp},")
        .replace("r: {kind: router}", "r: {kind: router, dhcp: {domain: home}, nat: {outside: two}}")
        .replace("ends: [a, r]", "ends: [a, r, tv]")
        + &format!("  - {{on: a, run: [bash, -c, '{WHO}'], as: reach}}\n")
        + "expect:\n  - who.stdout contains \"198.51.100.1\"\n  - who.stdout contains \"10.0.0.\"\n  \
           - reach.stdout contains \"seen as 192.0.2.2\"\n";
    world.fixture.write("home.yaml", &lab);
    let script = "python3 names.py >/dev/null 2>&1 & SERVER=$!
        trap 'kill $SERVER; umount /etc/resolv.conf' EXIT
        mount --bind resolv.conf /etc/resolv.conf
        until getent ahostsv4 far.test >/dev/null; do sleep 0.05; done
        $NETLOOM run home.yaml";
    world.run(script).expect_code(0);
    world.fixture.assert_nothing_is_left("home");
}

#[test]
fn a_machine_without_a_way_out_is_refused_with_line_and_key() {
    if !is_root() {
        return not_run("a machine without a way out, which root makes");
    }
    let world = World::new(User::Own);
    fs::set_permissions(world.fixture.work(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    world.fixture.write("out.yaml", &asking("out"));
    let script = format!(
        "{OPEN}; touch none; for program in pasta slirp4netns; do mount --bind none /usr/bin/$program; done
        {ORDINARY} $NETLOOM check out.yaml >/dev/null; {ORDINARY} $NETLOOM run out.yaml; echo $?
        for program in pasta slirp4netns; do umount /usr/bin/$program; done; umount /dev/net/tun; rm -r tun run
        ip route del default; $NETLOOM run out.yaml; echo $?"
    );
    let run = world.run(&script).expect_code(0);
    assert_eq!(run.stdout, "4\n4\n", "{run:#?}");
    let place = "out.yaml:3: key `kind`: lead to this machine's network: ";
    let packages =
        format!("{place}neither pasta nor slirp4netns is on this machine: install the package passt or slirp4netns");
    assert_eq!(run.stderr.matches(&packages).count(), 2, "{run:#?}");
    assert!(run.stderr.contains(&format!("{place}it has no default route")), "{run:#?}");
    world.fixture.assert_nothing_is_left("out");
}
