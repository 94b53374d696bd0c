//! Commands behind links, in a machine of the test's own: a namespace with a server beyond it.

use crate::fixture::{User, is_root, not_run};
use crate::world::{OPEN, ORDINARY, WHO, World};
use std::fs;

/// Runs a program on a terminal, types `exit 6` when it shows the prompt, and shows what it showed.
const TYPIST: &str = r#"
import os, pty, sys
process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown, typed = b"", False
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    shown += more
    if not typed and b"[delay 1ms] " in shown:
        os.write(terminal, b"exit 6\n")
        typed = True
_, status = os.waitpid(process, 0)
print(shown.decode(errors="replace"))
sys.exit(os.waitstatus_to_exitcode(status))
"#;

#[test]
fn a_command_reaches_the_world_through_its_link_and_leaves_nothing() {
    for user in User::all() {
        let world = World::new(user);
        let link = "$NETLOOM link shell --delay 30ms --uplink-delay 10ms --downlink-rate 5Mbit/s --report report.json";
        let run = world.run(&format!("{link} -- bash -c '{WHO}; id -u; pwd'")).expect_code(0);
        let folder = world.fixture.work().display().to_string();
        let user = if user == User::Nobody { 65_534 } else { nix::unistd::geteuid().as_raw() };
        assert_eq!(run.stdout, format!("seen as 192.0.2.2\n{user}\n{folder}\n"), "{run:#?}");
        let report = world.report("report.json");
        let pipes = report["pipes"].as_array().unwrap();
        let column = |name: &str| pipes.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
        assert_eq!(column("from"), ["inside", "outside"]);
        assert_eq!(column("delay_ns"), [10_000_000, 30_000_000]);
        assert_eq!(column("rate_bits_per_second"), [serde_json::Value::Null, 5_000_000.into()]);
        // Before the command can end: SYN and ACK out, SYN and the answer in. What closes the connection may be on its way.
        for (row, least) in pipes.iter().zip([10_000_000, 30_000_000]) {
            assert!(row["departed_packets"].as_u64().unwrap() >= 2, "{report:#}");
            assert!(row["measured_delay_mean_ns"].as_u64().unwrap() >= least, "{report:#}");
        }
        world.fixture.assert_nothing_is_left("link-shell");
    }
}

#[test]
fn a_command_writes_to_nothing_that_is_the_machines_in_proc_and_sys() {
    for user in User::all() {
        let world = World::new(user);
        let look = "for path in /proc/sys/vm/swappiness /proc/sysrq-trigger /proc/irq /sys/kernel; do test ! -w $path || echo $path; done";
        let link = "$NETLOOM link shell --delay 1ms";
        let both = format!("{link} -- bash -c '{look}; {WHO}' && {link} {link} -- bash -c '{look}; echo done'");
        assert_eq!(world.run(&both).expect_code(0).stdout, "seen as 192.0.2.2\ndone\n");
        if user == User::Own && is_root() {
            // What is its own it may change, and its mounts stay its own.
            let own =
                "echo 1 > /proc/sys/net/ipv4/tcp_ecn && cd /sys/class/net && echo */mtu; mount -t tmpfs none /mnt";
            let script = format!("{link} -- bash -c '{own}'; mountpoint -q /mnt || cat /proc/sys/net/ipv4/tcp_ecn");
            assert_eq!(world.run(&script).expect_code(0).stdout, "eth0/mtu lo/mtu\n2\n");
        }
    }
}

#[test]
fn the_exit_code_is_the_commands() {
    for user in User::all() {
        let world = World::new(user);
        let codes =
            "for command in 'exit 3' 'kill -9 $$' 'cat >/dev/null; exit 4' 'kill -TERM $PPID; exec sleep 60'; do
            echo text | $NETLOOM link shell --delay 1ms -- bash -c \"$command\" 2>/dev/null; echo $?; done
            $NETLOOM link shell no-such-program; echo $?; $NETLOOM link shell /etc/passwd; echo $?
            $NETLOOM link shell --delay 4 true; echo $?; $NETLOOM link shell --los 1% true; echo $?";
        let run = world.run(codes).expect_code(0);
        assert_eq!(run.stdout, "3\n137\n4\n143\n127\n126\n2\n2\n", "{run:#?}");
        assert!(run.stderr.contains("there is no program `no-such-program`"), "{run:#?}");
        assert!(run.stderr.contains("--delay: "), "{run:#?}");
    }
}

#[test]
fn links_lie_inside_links_and_beside_them() {
    for user in User::all() {
        let world = World::new(user);
        let show = "ip -4 -o address show eth0 | tr -s \" \" | cut -d \" \" -f 4; echo $MAHIMAHI_BASE; \
                    echo \"$MAHIMAHI_SHELL_PREFIX\"";
        let nested = format!(
            "$NETLOOM link shell --delay 1ms -- $NETLOOM link shell --loss 0 $NETLOOM link shell -- bash -c '{show}; {WHO}'"
        );
        let run = world.run(&nested).expect_code(0);
        let expected = "100.64.128.2/30\n100.64.0.1\n[delay 1ms] [loss 0] [link] \nseen as 192.0.2.2\n";
        assert_eq!(run.stdout, expected, "{run:#?}");
        // The second begins while the first is there, and outlives it: forwarding stays on.
        let beside = format!(
            "$NETLOOM link shell -- bash -c 'until [ -e second ]; do sleep 0.01; done; touch first' &
             $NETLOOM link shell -- bash -c 'touch second; until [ -e first ]; do sleep 0.01; done; sleep 0.3; {WHO}'; wait"
        );
        let second = world.run(&beside).expect_code(0);
        assert_eq!(second.stdout, "seen as 192.0.2.2\n", "{second:#?}");
    }
}

/// Whatever is killed, nothing is left, and a link that begins at once does not suffer from that: the script of the world looks.
#[test]
fn whatever_is_killed_the_network_is_put_back() {
    for user in User::all() {
        let world = World::new(user);
        // The command's parent is the link's process, whose other child is the guard.
        let both = "kill -9 $(pgrep -P $PPID netloom-guard) $PPID";
        let victims = [
            ("kill -9 $PPID", "true"),
            ("kill -9 $(pgrep -P $PPID netloom-guard)", "true"),
            (both, "true"),
            (both, "$NETLOOM link shell true"),
        ];
        for (kill, after) in victims {
            let _ = fs::remove_file(world.fixture.work().join("began"));
            let command = format!("{WHO} > began; {kill}; sleep 0.2");
            let run = world.run(&format!("$NETLOOM link shell -- bash -c '{command}'; {after}")).expect_code(0);
            let began = fs::read_to_string(world.fixture.work().join("began")).unwrap();
            assert_eq!(began, "seen as 192.0.2.2\n", "{kill}: {run:#?}");
        }
        world.fixture.assert_nothing_is_left("link-shell");
    }
}

/// In the tables that a link's rules are in, what others have made stays, before the link and while it is there.
#[test]
fn rules_of_others_stay() {
    for user in User::all() {
        let world = World::new(user);
        let rule = |how: &str| format!("iptables {how} FORWARD -s 192.0.2.77 -j ACCEPT");
        let (add, remove) = (rule("-A"), rule("-D"));
        let link = "$NETLOOM link shell -- bash";
        let run = world.run(&format!(
            "{add}; {link} -c '{WHO}'; iptables -S FORWARD; {remove}
             {link} -c 'touch up; until [ -e made ]; do sleep 0.01; done' &
             until [ -e up ]; do sleep 0.01; done; {add}; touch made; wait; iptables -S FORWARD; {remove}; iptables -P FORWARD ACCEPT"
        ));
        let told = "-P FORWARD ACCEPT\n-A FORWARD -s 192.0.2.77/32 -j ACCEPT\n";
        assert_eq!(run.expect_code(0).stdout, format!("seen as 192.0.2.2\n{told}{told}"));
    }
}

#[test]
fn a_network_that_cannot_be_led_to_is_refused_with_the_reason() {
    let world = World::new(User::Own);
    // All 4096 links of the first level overlap with this provider's network.
    let taken = "ip address add 100.64.0.2/10 dev lo; $NETLOOM link shell true; echo $?";
    let run = world.run(taken).expect_code(0);
    assert_eq!(run.stdout, "4\n", "{run:#?}");
    assert!(run.stderr.contains("find addresses for the link in 100.64.0.0/10"), "{run:#?}");
}

/// An ordinary user in the machine's own network needs a program that translates for it: either of two.
#[test]
fn an_ordinary_user_is_led_out_by_a_program() {
    if !is_root() {
        return not_run("a link of an ordinary user, for which root makes a machine");
    }
    let world = World::new(User::Own);
    fs::set_permissions(world.fixture.work(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let nested = format!("$NETLOOM link shell --delay 2ms $NETLOOM link shell -- bash -c '{WHO}; id -u'");
    // Hidden, one is not there.
    for (hidden, program) in [("slirp4netns", "pasta"), ("pasta", "slirp4netns")] {
        let script = format!(
            "command -v {program} >/dev/null || {{ echo {program} is missing: scripts/install-deps >&2; exit 97; }}
            {OPEN}; touch none; [ -e /usr/bin/{hidden} ] && mount --bind none /usr/bin/{hidden}
            {ORDINARY} {nested}; code=$?
            mountpoint -q /usr/bin/{hidden} && umount /usr/bin/{hidden}; umount /dev/net/tun; rm -r tun run; exit $code"
        );
        let run = world.run(&script).expect_code(0);
        assert_eq!(run.stdout, "seen as 192.0.2.2\n65534\n", "{program}: {run:#?}");
        world.fixture.assert_nothing_is_left("link-shell");
    }
}

/// Names are looked up by the resolver at the machine's loopback, and that takes as long as the link has it.
#[test]
fn a_resolver_at_the_loopback_of_the_machine_is_asked_through_the_link() {
    if !is_root() {
        return not_run("names behind a link, for which root makes a machine with a resolver");
    }
    let world = World::new(User::Own);
    fs::set_permissions(world.fixture.work(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    world.fixture.write("names.py", include_str!("names.py"));
    world.fixture.write("resolv.conf", "nameserver 127.0.0.53\n");
    let ask = "began=$(date +%s%N); getent ahostsv4 far.test | head -n 1 | tr -s \" \"; \
               [ $(( $(date +%s%N) - began )) -ge 200000000 ] && echo by the link";
    let link = "$NETLOOM link shell --delay 100ms";
    let script = format!(
        "mount --bind resolv.conf /etc/resolv.conf; python3 names.py & SERVER=$!
        until getent ahostsv4 far.test >/dev/null; do sleep 0.05; done
        {OPEN}
        {link} -- bash -c '{ask}'; RES_OPTIONS=use-vc {link} -- bash -c '{ask}'
        $NETLOOM link shell -- {link} -- bash -c '{ask}'
        {ORDINARY} {link} -- bash -c '{ask}'
        kill $SERVER; umount /dev/net/tun; umount /etc/resolv.conf"
    );
    let run = world.run(&script).expect_code(0);
    assert_eq!(run.stdout, "198.51.100.1 STREAM far.test\nby the link\n".repeat(4), "{run:#?}");
    assert!(!run.stderr.contains("name server"), "{run:#?}");
    world.fixture.assert_nothing_is_left("link-shell");
}

#[test]
fn mahimahis_command_lines_are_understood() {
    let world = World::new(User::Own);
    let mm = world.fixture.work().join("mm-link");
    std::os::unix::fs::symlink(&world.program, &mm).unwrap();
    world.fixture.write("trace", "1\n");
    let script = format!(
        "$NETLOOM mm delay 5 $NETLOOM mm loss downlink 0 ./mm-link trace trace --uplink-log=up.log -d down.log \
         --uplink-queue=droptail --uplink-queue-args='packets=60' -- bash -c '{WHO}; echo \"$MAHIMAHI_SHELL_PREFIX\"; sleep 0.2'"
    );
    let run = world.run(&script).expect_code(0);
    assert_eq!(run.stdout, "seen as 192.0.2.2\n[delay 5 ms] [loss down=0] [link] \n", "{run:#?}");
    for (file, way, queue) in [("up.log", "Uplink", "droptail [packets=60]"), ("down.log", "Downlink", "infinite")] {
        let log = fs::read_to_string(world.fixture.work().join(file)).unwrap();
        assert!(log.starts_with(&format!("# mahimahi mm-link ({way}) [trace] > {file}\n")), "{log}");
        assert!(log.contains(&format!("\n# queue: {queue}\n")), "{log}");
        assert!(log.contains("\n# mahimahi config: [delay 5 ms] [loss down=0] \n"), "{log}");
        let lines: Vec<Vec<&str>> =
            log.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').collect()).collect();
        let count = |kind: &str| lines.iter().filter(|line| line[1] == kind).count();
        assert!(count("-") >= 3 && count("+") >= count("-") && count("#") > 10, "{log}");
        assert!(lines.iter().filter(|line| line[1] == "-").all(|line| line.len() == 4), "{log}");
    }
}

/// Of what a terminal shows: the link stands before the prompt.
#[test]
fn a_shell_says_before_its_prompt_what_link_it_is_behind() {
    let world = World::new(User::Own);
    let shell = "echo 'echo $((40 + 2)); exit 5' | SHELL=/bin/bash $NETLOOM link shell --delay 1ms; echo $?";
    let run = world.run(shell).expect_code(0);
    assert_eq!(run.stdout, "42\n5\n", "{run:#?}");
    world.fixture.write("typist.py", TYPIST);
    let prompted = world.run("SHELL=/bin/sh python3 typist.py $NETLOOM link shell --delay 1ms; echo $?");
    assert!(prompted.stdout.contains("[delay 1ms] $ ") && prompted.stdout.ends_with("6\n"), "{prompted:#?}");
}
