//! `netloom shape`: traffic of a machine through pipes. The machine is a network namespace, and so is the one that it talks to: nothing
//! here touches the machine that the tests run on.

use crate::fixture::{Finished, Fixture, User, number};

/// A machine with the addresses 10.9.0.1 and fd09::1, and the far one with 10.9.0.2 and fd09::2. `far` runs a command there.
const MACHINE: &str = r#"
set -e
ip link set lo up
unshare -n sleep 1000 & far_pid=$!
trap 'kill $far_pid' EXIT
until [ "$(readlink /proc/$far_pid/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
far() { nsenter -t $far_pid -n "$@"; }
ip link add e0 type veth peer name e1 netns $far_pid
for end in 1 2; do
    [ $end = 1 ] && on= || on=far
    $on ip addr add 10.9.0.$end/24 dev e$((end - 1))
    $on ip -6 addr add fd09::$end/64 dev e$((end - 1)) nodad
    $on ip link set e$((end - 1)) up
done
far ip link set lo up
ping -q -c 1 -w 5 10.9.0.2 > /dev/null
ping -q -c 1 -w 5 fd09::2 > /dev/null
# Round trips of five echo requests in milliseconds, the shortest.
rtt() { ping -U -c 5 -i 0.05 -w 5 "$@" | sed -n 's|^rtt[^=]*= \([0-9.]*\)/.*|\1|p'; }
rules() { for program in iptables iptables-legacy ip6tables ip6tables-legacy; do $program -w -t mangle -S; done; }
export XTABLES_LOCKFILE=$PWD/xtables.lock
"#;

/// Plays a script on a machine of its own, where `netloom` is the program.
fn play(fixture: &Fixture, script: &str) -> Finished {
    fixture.write(
        "play.sh",
        &format!("{MACHINE}\nnetloom() {{ {}/netloom \"$@\"; }}\n{script}", fixture.path().display()),
    );
    let flags = if fixture.user() == User::Nobody || !crate::fixture::is_root() { "-Urn" } else { "-n" };
    fixture.run("unshare", &[flags, "sh", "play.sh"])
}

#[test]
fn what_matches_is_delayed_both_ways_and_the_rest_is_not() {
    for user in User::all() {
        let fixture = Fixture::new(user).alone();
        let played = play(
            &fixture,
            r#"
            netloom shape add --name slow --match 'to 10.9.0.2 icmp' --delay 200ms
            echo matching=$(rtt 10.9.0.2)
            echo other=$(rtt fd09::2)
            netloom ps
            netloom shape set slow.forward 'delay=500 ms'
            netloom shape list
            echo changed=$(rtt 10.9.0.2)
            netloom shape stats slow --json --once
            netloom shape remove slow && echo code=0 || echo code=$?
            echo after=$(rtt 10.9.0.2)
            rules | grep -c netloom || true
            "#,
        );
        let played = played.expect_code(0);
        let told = &played.stdout;
        assert!((400.0..600.0).contains(&number(told, "matching")), "{told}");
        assert!((700.0..900.0).contains(&number(told, "changed")), "{told}");
        for key in ["other", "after"] {
            assert!(number(told, key) < 200.0, "{key}: {told}");
        }
        assert!(told.contains("{to: 10.9.0.2/32, protocol: icmp}"), "{told}");
        assert!(told.contains("forward: delay 500 ms; backward: delay 200 ms"), "{told}");
        assert!(told.contains("verdict: "), "{told}");
        assert_eq!(told.lines().last(), Some("0"), "rules are left: {told}");
        fixture.assert_nothing_is_left("slow");
    }
}

#[test]
fn tcp_gets_the_described_rate_over_a_long_delay() {
    for user in User::some() {
        let fixture = Fixture::new(user).alone();
        // 2 MB at 8 Mbit/s take 2 s, whatever the delay: the sender keeps enough on the way.
        let played = play(
            &fixture,
            r#"
            cat > serve.py << 'END'
import socket, sys, time
server = socket.create_server((sys.argv[1], 5201), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
peer, _ = server.accept()
total = 0
while got := peer.recv(1 << 16):
    total += len(got)
    peer.sendall(b"") if total < 2_000_000 else None
peer.close()
END
            cat > send.py << 'END'
import socket, sys, time
begin = time.monotonic()
peer = socket.create_connection((sys.argv[1], 5201))
peer.sendall(bytes(2_000_000))
peer.shutdown(socket.SHUT_WR)
peer.recv(1)
print(f"took={time.monotonic() - begin}")
END
            netloom shape add --name long --match 'to 10.9.0.2,fd09::2 tcp port 5201' --rate 8Mbit/s --delay 50ms --queue '100 packets'
            for address in 10.9.0.2 fd09::2; do
                far python3 serve.py $address & server=$!
                sleep 0.5
                python3 send.py $address
                wait $server
            done
            netloom shape stats long --json --once
            netloom shape remove long || [ $? = 5 ]
            "#,
        );
        let told = played.expect_code(0).stdout;
        for took in told.lines().filter_map(|line| line.strip_prefix("took=")) {
            // With its headers it is a little more; a sender that is held back would take half a minute.
            let took: f64 = took.parse().unwrap();
            assert!((2.0..20.0).contains(&took), "{told}");
        }
        assert_eq!(told.matches("took=").count(), 2, "{told}");
        let counted: serde_json::Value =
            serde_json::from_str(told.lines().find(|line| line.starts_with('{')).unwrap()).unwrap();
        let bytes = |pipe: usize| counted["pipes"][pipe]["departed_bytes"].as_u64().unwrap();
        assert!(bytes(0) > 4_000_000 && bytes(1) > 0, "{told}");
        fixture.assert_nothing_is_left("long");
    }
}

/// Exchanges datagrams with a far machine and, on the machine itself, with a program of root's. Of each, the round trip of the first
/// in milliseconds, and the shortest of the later ones.
const EXCHANGES: &str = r#"
cat > echo.py << 'END'
import socket, sys
own = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
own.bind(("::", 5300))
while True:
    got, peer = own.recvfrom(2000)
    own.sendto(got, peer)
END
cat > exchange.py << 'END'
import os, socket, sys, time
if sys.argv[2].startswith("her"):
    os.setgid(1235)
    os.setuid(1234)
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
own = socket.socket(family, socket.SOCK_DGRAM)
own.connect((sys.argv[1], 5300))
own.settimeout(5)
took = []
for _ in range(4):
    begin = time.monotonic()
    own.send(bytes(100))
    own.recv(2000)
    took.append((time.monotonic() - begin) * 1000)
print(f"{sys.argv[2]}_first={took[0]}\n{sys.argv[2]}_later={min(took[1:])}")
END
nsenter -t $far_pid -n python3 echo.py & there=$!
python3 echo.py & here=$!
trap 'kill $there $here $far_pid' EXIT
sleep 1
"#;

#[test]
fn connections_of_a_user_are_shaped_both_ways_and_those_of_others_are_not() {
    // Other users are there for root only.
    if !crate::fixture::is_root() {
        return;
    }
    let fixture = Fixture::new(User::all().remove(0)).alone();
    let script = r#"
        exchanges() {
            for address in 10.9.0.2 fd09::2 127.0.0.1; do
                python3 exchange.py $address her_$1_$address
                python3 exchange.py $address root_$1_$address
            done
        }
        netloom shape add --name hers --match 'user 1234 group 1235 udp' --forward-delay 200ms --backward-delay 300ms
        netloom shape list
        exchanges both
        netloom shape stats hers --json --once
        netloom shape set hers delay=0
        exchanges plain
        netloom shape remove hers || [ $? = 5 ]
        netloom shape add --name hers --match 'user 1200-1300 udp' --delay 200ms --one-way
        exchanges one
        netloom shape remove hers || [ $? = 5 ]
        netloom shape add --name others --match 'user 1235' --delay 200ms
        exchanges none
        netloom shape remove others || [ $? = 5 ]
        rules | grep -c netloom || true
    "#;
    let told = play(&fixture, &format!("{EXCHANGES}{script}")).expect_code(0).stdout;
    assert!(told.contains("{protocol: udp, user: 1234, group: 1235}"), "{told}");
    for address in ["10.9.0.2", "fd09::2", "127.0.0.1"] {
        let took = |key: &str| ["first", "later"].map(|which| number(&told, &format!("{key}_{address}_{which}")));
        for (key, range) in [("her_both", 500.0..680.0), ("her_plain", 0.0..180.0), ("her_one", 200.0..380.0)] {
            assert!(took(key).iter().all(|ms| range.contains(ms)), "{key} {address}: {told}");
        }
        for key in ["root_both", "root_plain", "root_one", "her_none", "root_none"] {
            assert!(took(key)[1] < 180.0, "{key} {address}: {told}");
        }
    }
    // Also on this machine itself, where both ends make packets: what she sends goes forward, and the answers go backward.
    let counted: serde_json::Value =
        serde_json::from_str(told.lines().find(|line| line.starts_with('{') && line.contains("pipes")).unwrap())
            .unwrap();
    let packets = |pipe: usize| counted["pipes"][pipe]["departed_packets"].as_u64();
    assert_eq!([packets(0), packets(1)], [Some(12), Some(12)], "{told}");
    assert_eq!(told.lines().last(), Some("0"), "rules are left: {told}");
    fixture.assert_nothing_is_left("hers");
}

#[test]
fn whoever_is_killed_the_rules_go_and_traffic_flows() {
    for user in User::all() {
        let fixture = Fixture::new(user).alone();
        let played = play(
            &fixture,
            r#"
            state() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" $XDG_RUNTIME_DIR/netloom/cut/lab.json; }
            for victims in guard_pid lab_pid 'guard_pid lab_pid'; do
                netloom shape add --name cut --match 'to 10.9.0.2 icmp' --loss '100 %'
                ! ping -q -c 1 -w 1 10.9.0.2 > /dev/null
                kill -9 $(for victim in $victims; do state $victim; done)
                # Nobody listens, so it flows at once, rules or not.
                for attempt in $(seq 100); do ping -q -c 1 -w 1 10.9.0.2 > /dev/null && break; done
                ping -q -c 1 -w 5 10.9.0.2 > /dev/null
                # Where both are dead, the next command sweeps.
                [ "$victims" = 'guard_pid lab_pid' ] && netloom shape add --name other --match 'udp port 9' && netloom shape remove other
                for attempt in $(seq 500); do rules | grep -q netloom || break; sleep 0.02; done
                rules | grep netloom && exit 1
            done
            echo done
            "#,
        );
        let played = played.expect_code(0);
        assert!(played.stdout.ends_with("done\n"), "{played:?}");
        fixture.assert_nothing_is_left("cut");
    }
}

#[test]
fn what_cannot_be_shaped_is_refused_and_nothing_is_left() {
    for user in User::all() {
        let fixture = Fixture::new(user).alone();
        let played = play(
            &fixture,
            r#"
            refused() { echo "@@@ $*"; netloom "$@" 2>&1 && echo "code 0" || echo "code $?"; }
            refused shape add --match 'to server1' --delay 1ms
            refused shape add --match 'to 10.9.0.2' --delay 1
            refused shape add --match 'to 10.9.0.2' --forward-delay 4
            refused shape add --match 'to 10.9.0.2' --backward-loss '170 %'
            refused shape add --match 'to 10.9.0.2' --netem 'delay never'
            refused shape add --name 'A B' --match 'to 10.9.0.2'
            refused shape add --name a-name-that-is-far-too-long --match 'to 10.9.0.2'
            refused shape add --match 'user no-such-user'
            refused shape add --match 'user 9-8'
            refused shape add --file none.yaml
            echo 'match: {to: 10.9.0.2}
dely: 1 ms' > wrong.yaml
            refused shape add --file wrong.yaml
            export SSH_CONNECTION='10.9.0.2 50022 10.9.0.1 22'
            refused shape add --match 'to 10.9.0.2' --delay 1ms
            iptables-legacy -t mangle -A OUTPUT -p 253 -j NFQUEUE --queue-num 9 --queue-bypass
            refused shape add --force --match 'to 10.9.0.2' --queue-number 9
            iptables-legacy -t mangle -F OUTPUT
            refused shape remove none
            refused shape set none delay=1ms
            rules | grep -c netloom || true
            # Programs of root's folders are found whatever the path.
            PATH=/nowhere refused shape add --force --match 'to 10.9.0.2'
            netloom shape remove shape-1 > verdict || [ $? = 5 ]
            refused shape add --force --name here --match 'to 10.9.0.2' --delay 1ms --quiet
            refused shape add --force --name here --match 'to 10.9.0.2'
            refused shape set here.sideways delay=1ms
            refused shape set here dely=1ms
            netloom shape remove here > verdict || [ $? = 5 ]
            rules | grep -c netloom || true
            "#,
        );
        let told = played.expect_code(0).stdout;
        let mut refusals = told.split("@@@ ").skip(1);
        for (code, expected) in [
            (2, "--match: `server1`: the names of nodes are known in lab files only"),
            (2, "--delay: "),
            (2, "--forward-delay: "),
            (2, "--backward-loss: \"170 %\" is more than 100 %"),
            (2, "--netem: "),
            (2, "\"A B\" cannot name a lab"),
            (2, "shapes have names of 20 characters at most"),
            (4, "there is no user `no-such-user` on this machine"),
            (2, "--match: the range 9-8 ends before it begins"),
            (3, "none.yaml"),
            (3, "did you mean `delay`?"),
            (2, "this matches the connection over which you work"),
            (4, "queue 9 of netfilter belongs to another program or rule"),
            (7, "there is no shape `none`: there is none"),
            (7, "there is no shape `none`: there is none"),
        ] {
            let refusal = refusals.next().unwrap();
            assert!(refusal.contains(expected), "{expected}: {refusal}");
            assert!(refusal.contains(&format!("\ncode {code}\n")), "{code}: {refusal}");
        }
        let added = refusals.next().unwrap();
        assert!(added.contains("shape-1 shapes {to: 10.9.0.2/32}") && added.contains("\ncode 0\n"), "{added}");
        assert!(told.contains("a lab named here is already up"), "{told}");
        assert!(told.contains("`sideways` is no direction"), "{told}");
        assert_eq!(told.lines().last(), Some("0"), "rules are left: {told}");
        fixture.assert_nothing_is_left("here");
    }
}

#[test]
fn without_the_right_to_the_network_it_says_what_is_missing() {
    let fixture = Fixture::new(User::all().pop().unwrap()).alone();
    // A namespace of somebody else's: that of the tests themselves, where an ordinary user has no right. Nothing comes about.
    let refused = fixture.netloom(&["shape", "add", "--match", "to 192.0.2.1", "--delay", "1ms"]).expect_code(4);
    assert!(refused.stderr.contains("CAP_NET_ADMIN"), "{refused:?}");
    fixture.assert_nothing_is_left("shape-1");
}

#[test]
fn bytes_are_changed_and_packets_doubled() {
    for user in User::some() {
        let fixture = Fixture::new(user).alone();
        let played = play(
            &fixture,
            r#"
            netloom shape add --name bad --match 'to 10.9.0.2' --forward-duplicate '100 %'
            ping -c 3 -i 0.1 -w 5 10.9.0.2 > doubled || true
            echo doubled=$(grep -c DUP doubled)
            netloom shape set bad.forward 'duplicate=0'
            # Requests are sent again with their new bytes, and what comes in gets them by the verdict: both kernels see that the
            # checksum of UDP is wrong.
            cat > count.py << 'END'
import socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind((sys.argv[1], 5300))
own.settimeout(2)
count = 0
try:
    while True:
        own.recv(2000)
        count += 1
except TimeoutError:
    print(f"{sys.argv[2]}={count}")
END
            cat > send.py << 'END'
import socket, sys
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10):
    own.sendto(bytes(1000), (sys.argv[1], 5300))
END
            for chance in 100 0; do
                netloom shape set bad "corrupt=$chance %"
                far python3 count.py 10.9.0.2 sent$chance > sent & there=$!
                python3 count.py 10.9.0.1 received$chance > received & here=$!
                sleep 1
                python3 send.py 10.9.0.2; far python3 send.py 10.9.0.1
                wait $there; wait $here; cat sent received
            done
            ping -q -c 1 -w 5 10.9.0.2 > /dev/null && echo whole=1
            netloom shape remove bad || [ $? = 5 ]
            "#,
        );
        let told = played.expect_code(0).stdout;
        // The last answer ends ping.
        assert!(number(&told, "doubled") >= 2.0, "{told}");
        let counts =
            ["sent100", "received100", "sent0", "received0", "whole"].map(|key| number(&told, key).to_string());
        assert_eq!(counts, ["0", "0", "10", "10", "1"], "{told}");
        fixture.assert_nothing_is_left("bad");
    }
}

/// Where no iptables can write rules, nft does: here a program in its place that keeps them, and then nft itself, on a kernel with
/// nftables, where packets that match are dropped instead.
#[test]
fn nftables_has_the_rules_where_iptables_cannot_have_them() {
    let fixture = Fixture::with_kernel(User::all().remove(0)).alone();
    let played = play(
        &fixture,
        r#"
        mkdir tools
        for name in iptables iptables-nft iptables-legacy ip6tables ip6tables-nft ip6tables-legacy; do
            printf '#!/bin/sh\necho they are missing >&2\nexit 1\n' > tools/$name
            cp tools/$name tools/$name-restore
        done
        cat > tools/nft << END
#!/bin/sh
case "\$*" in
    '-f -') cat >> $PWD/told ;;
    'list tables') sed -n 's/ {//; /^table/p' $PWD/told | head -1 ;;
    'list ruleset') echo 'queue flags bypass to 19968-19970' ;;
esac
END
        chmod +x tools/*
        PATH=$PWD/tools:$PATH
        netloom shape add --name rules --match 'to 10.0.0.0/8 icmp' --delay 1ms --quiet
        netloom shape list
        netloom shape remove rules || [ $? = 5 ]
        "#,
    );
    let listed = played.expect_code(0).stdout;
    assert!(listed.contains("delay 1 ms"), "{listed}");
    let told = std::fs::read_to_string(fixture.work().join("told")).unwrap();
    let (rules, removal) = told.split_once("}\n}\n").unwrap();
    // The first queue that no rule of others names.
    assert!(rules.contains("ip daddr 10.0.0.0/8 meta l4proto 1 queue num 19971 bypass\n"), "{told}");
    assert!(removal.starts_with("delete table inet netloom-rules\n"), "{told}");
    fixture.assert_nothing_is_left("rules");

    let queued = fixture.write("queued.nft", &format!("{rules}}}\n}}\n"));
    let dropped = fixture.write("dropped.nft", &format!("{}}}\n}}\n", rules.replace("queue num 19971 bypass", "drop")));
    let script = format!(
        "set -e; nft -f {queued}; nft -f {queued}; ping -4 -q -c 1 -w 5 b; nft -f {dropped}; ! ping -4 -q -c 1 -W 1 b; \
         ping -6 -q -c 1 -w 5 b; nft delete table inet netloom-rules; ping -4 -q -c 1 -w 5 b; nft list tables | wc -l",
        queued = queued.display(),
        dropped = dropped.display()
    );
    let lab = format!(
        "name: tables\nnodes: {{a: {{stack: kernel}}, b: {{stack: kernel}}}}\nlinks: {{line: {{ends: [a, b]}}}}\n\
         bounds: {{lateness: 100 s, starvation: 100 %, events: 100 s, starts: 100 s}}\n\
         timeline:\n  - {{on: a, run: {script:?}, save: said}}\n"
    );
    let file = fixture.write("tables.yaml", &lab);
    fixture.netloom(&["run", file.to_str().unwrap()]).expect_code(0);
    let said = std::fs::read_to_string(fixture.latest("tables").join("said")).unwrap();
    assert_eq!(said.lines().last(), Some("0"), "{said}");
}
