//! External interfaces: wires of a machine's network cards that end in a lab. The machine is a network namespace, and so is the
//! one at the other end of the wire: nothing here touches the machine that the tests run on.

use crate::fixture::{Finished, Fixture, User, is_root, number};

const MACHINE: &str = include_str!("external.sh");

/// Plays a script on a machine of its own, where `netloom` is the program.
fn play(fixture: &Fixture, script: &str) -> Finished {
    fixture.write(
        "play.sh",
        &format!("{MACHINE}\nnetloom() {{ {}/netloom \"$@\"; }}\n{script}", fixture.path().display()),
    );
    let flags = if fixture.user() == User::Nobody || !is_root() { "-Urn" } else { "-n" };
    fixture.run("unshare", &[flags, "sh", "play.sh"])
}

/// A host at the wire.
const SHARED: &str = "
nodes:
  inside: {}
  wan: {kind: external, interface: nic}
links:
  access: {ends: [{node: inside, address: [10.9.0.7/24, 'fd09::7/64']}, wan], delay: 100 ms}
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
";

#[test]
fn a_node_and_the_machine_share_a_wire() {
    for user in User::all() {
        let fixture = Fixture::new(user).apart();
        fixture.write("share.yaml", SHARED);
        let played = play(
            &fixture,
            r"
            state > before
            netloom up share.yaml
            echo out4=$(netloom exec share inside -- ping -U -c 3 -i 0.1 -w 9 10.9.0.2 | sed -n 's|^rtt[^=]*= \([0-9.]*\)/.*|\1|p')
            echo out6=$(netloom exec share inside -- ping -U -c 3 -i 0.1 -w 9 fd09::2 | sed -n 's|^rtt[^=]*= \([0-9.]*\)/.*|\1|p')
            echo in4=$(far ping -U -c 3 -i 0.1 -w 9 10.9.0.7 | sed -n 's|^rtt[^=]*= \([0-9.]*\)/.*|\1|p')
            echo host=$(rtt 10.9.0.2)
            netloom down share || [ $? = 5 ]
            state > after
            cmp before after && echo same=1
            ",
        );
        let told = played.expect_code(0).stdout;
        for key in ["out4", "out6", "in4"] {
            assert!((200.0..400.0).contains(&number(&told, key)), "{key}: {told}");
        }
        assert!(number(&told, "host") < 100.0, "{told}");
        assert!(number(&told, "same") > 0.0, "{told}");
        let report = fixture.json("share", "report.json");
        let notes = report["verdict"]["notes"].to_string();
        assert!(notes.contains("not under the lab's clock: wan"), "{notes}");
        fixture.assert_nothing_is_left("share");
    }
}

/// Sends so many bytes each way over TCP between the lab and the far machine, and says how long that took and whether they
/// arrived as they were.
const TRANSFER: &str = r#"
cat > plain.py << 'END'
# Takes from a card that it cuts super-packets and makes checksums (ethtool -K ... tso off gso off sg off tx off).
import array, fcntl, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
    for command in 0x1f, 0x24, 0x19, 0x17:
        value = array.array("I", [command, 0])
        fcntl.ioctl(asked, 0x8946, struct.pack("16sP", sys.argv[1].encode(), value.buffer_info()[0]))
END
cat > serve.py << 'END'
import hashlib, socket, sys
server = socket.create_server((sys.argv[1], 5201))
print("ready", flush=True)
peer, _ = server.accept()
digest = hashlib.sha256()
while got := peer.recv(1 << 16):
    digest.update(got)
peer.sendall(digest.digest())
END
cat > send.py << 'END'
import hashlib, random, socket, sys, time
data = random.Random(1).randbytes(int(sys.argv[2]))
while True:
    try:
        peer = socket.create_connection((sys.argv[1], 5201))
        break
    except OSError:
        time.sleep(0.1)
peer.sendall(data)
peer.shutdown(socket.SHUT_WR)
right = b""
while got := peer.recv(64):
    right += got
print("intact" if right == hashlib.sha256(data).digest() else "broken")
END
"#;

#[test]
fn super_packets_cross_a_card_that_can_cut_them_and_one_that_cannot() {
    let fixture = Fixture::new(User::Own).apart();
    let lab = "nodes: {inside: {}, s: {kind: switch}, wan: {kind: external, interface: nic}}\n\
               links: {a: {ends: [{node: inside, address: 10.9.0.7/24}, s]}, b: {ends: [s, wan]}}\nbounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}\n";
    fixture.write("trains.yaml", lab);
    let script = r"
        netloom up trains.yaml
        for offload in on off; do
            [ $offload = on ] || python3 plain.py nic
            netloom exec trains inside -- python3 serve.py 10.9.0.7 > /dev/null & served=$!
            far python3 send.py 10.9.0.7 20000000
            wait $served
            far python3 serve.py 10.9.0.2 > /dev/null & served=$!
            netloom exec trains inside -- python3 send.py 10.9.0.2 20000000
            wait $served
        done
        netloom down trains || [ $? = 5 ]
        ";
    let told = play(&fixture, &format!("{TRANSFER}{script}")).expect_code(0).stdout;
    assert_eq!(told.matches("intact").count(), 4, "{told}");
    let lost = fixture.json("trains", "report.json")["losses"].to_string();
    assert_eq!(lost, "[]", "{lost}");
    fixture.assert_nothing_is_left("trains");
}

/// What a program that reads raw frames finds at the far end of the wire: how many frames of TCP with data came from the lab, how many
/// of them without their checksum, and how many longer than a wire carries.
const RAW: &str = r#"
cat > raw.py << 'END'
import socket, struct
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
wire.bind(("far", 0))
wire.setsockopt(263, 8, 1)  # PACKET_AUXDATA tells of checksums that are not ready.
print("ready", flush=True)
wire.settimeout(20)
frames = unfinished = long = 0
try:
    while True:
        frame, told, *_ = wire.recvmsg(70000, 100)
        if frame[23] == 6 and frame[26:30] == socket.inet_aton("10.9.0.7") and len(frame) > 200:
            frames, unfinished = frames + 1, unfinished + bool(struct.unpack("I", told[0][2][:4])[0] & 8)
            long += len(frame) > 1514
            wire.settimeout(1)
except TimeoutError:
    pass
print("some" if frames else "none", "unfinished" if unfinished else "finished", "long" if long else "short")
END
"#;

#[test]
fn what_leaves_to_who_reads_raw_frames_is_finished_if_the_lab_file_says_so() {
    let fixture = Fixture::new(User::Own).apart();
    for (name, keys) in [("whole", ", offload: false"), ("usual", "")] {
        let lab = format!(
            "nodes: {{inside: {{}}, wan: {{kind: external, interface: nic{keys}}}}}\n\
             links: {{a: {{ends: [{{node: inside, address: 10.9.0.7/24}}, wan]}}}}\nbounds: {{lateness: 1 s}}\n"
        );
        fixture.write(&format!("{name}.yaml"), &lab);
    }
    let script = r"
        for lab in whole usual; do
            netloom up $lab.yaml
            far python3 raw.py > $lab.raw & reader=$!
            until grep -q ready $lab.raw; do sleep 0.05; done
            far python3 serve.py 10.9.0.2 > /dev/null &
            netloom exec $lab inside -- python3 send.py 10.9.0.2 300000
            wait $reader
            echo $lab $(tail -n 1 $lab.raw)
            netloom down $lab || [ $? = 5 ]
        done
        ";
    let told = play(&fixture, &format!("{TRANSFER}{RAW}{script}")).expect_code(0).stdout;
    assert_eq!(told.matches("intact").count(), 2, "{told}");
    assert!(told.contains("whole some finished short") && told.contains("usual some unfinished long"), "{told}");
    assert_eq!(fixture.json("whole", "report.json")["losses"].to_string(), "[]", "{told}");
}

/// Asks by ARP in a VLAN who has an address, and says in which VLAN the answer came; 0: none came.
const ASK: &str = r#"
cat > ask.py << 'END'
import socket, struct, sys
vlan, address = int(sys.argv[1]), socket.inet_aton(sys.argv[2])
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
wire.bind(("far", 0))
wire.setsockopt(263, 8, 1)  # PACKET_AUXDATA: the kernel takes tags out of frames
wire.settimeout(3)
own = bytes.fromhex("020000000099")
tag = struct.pack("!HH", 0x8100, 0x2000 | vlan) if vlan else b""
wire.send(b"\xff" * 6 + own + tag + bytes.fromhex("08060001080006040001") + own + bytes(10) + address)
try:
    while True:
        frame, told, *_ = wire.recvmsg(2000, 100)
        if frame[:6] == own:
            status, *_, tci, tpid = struct.unpack("IIIHHHH", told[0][2])
            print(f"vlan={tci & 0xfff if status & 0x10 else 0}", f"{tpid:x}")
            break
except TimeoutError:
    print("silence")
END
"#;

#[test]
fn vlans_of_one_card_are_kept_apart() {
    let fixture = Fixture::new(User::Own).apart();
    let lab = |host: u8| {
        let rest = if host == 7 { "10.3.0.7/24" } else { "10.3.0.2/24" };
        let wire = if host == 7 { "nic" } else { "far" };
        format!(
            "nodes:
  a: {{}}
  b: {{}}
  c: {{}}
  s: {{kind: switch}}
  v100: {{kind: external, interface: {wire}, vlan: 100}}
  v200: {{kind: external, interface: {wire}, vlan: 200}}
  rest: {{kind: external, interface: {wire}}}
links:
  la: {{ends: [{{node: a, address: 10.1.0.{host}/24}}, v100]}}
  lb: {{ends: [{{node: b, address: 10.2.0.{host}/24}}, s]}}
  ls: {{ends: [s, v200]}}
  lc: {{ends: [{{node: c, address: {rest}, mac: '02:00:00:00:03:{host:02}'}}, rest]}}
bounds: {{lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}
"
        )
    };
    // Hardware addresses of labs are numbered from zero, and here two of them are one network.
    let other = lab(2).replace("10.1.0.2/24", "10.1.0.2/24, mac: '02:00:00:00:01:02'");
    let other = other.replace("10.2.0.2/24", "10.2.0.2/24, mac: '02:00:00:00:02:02'");
    fixture.write("near.yaml", &lab(7));
    fixture.write("beyond.yaml", &other);
    let script = r"
        there() { far $NETLOOM $@; }
        netloom up near.yaml
        echo asked-a $(far python3 ask.py 100 10.1.0.7)
        echo asked-b $(far python3 ask.py 200 10.2.0.7)
        echo asked-c $(far python3 ask.py 0 10.3.0.7)
        echo wrong $(far python3 ask.py 200 10.1.0.7)
        echo unknown $(far python3 ask.py 300 10.1.0.7)
        there up beyond.yaml
        netloom exec near a -- ping -q -c 2 -i 0.1 -w 9 10.1.0.2 > /dev/null && echo a=1
        netloom exec near b -- ping -q -c 2 -i 0.1 -w 9 10.2.0.2 > /dev/null && echo b=1
        netloom exec near c -- ping -q -c 2 -i 0.1 -w 9 10.3.0.2 > /dev/null && echo c=1
        for node in a b c; do
            case $node in a) net=1 ;; b) net=2 ;; c) net=3 ;; esac
            netloom exec near $node -- python3 serve.py 10.$net.0.7 > /dev/null & served=$!
            there exec beyond $node -- python3 send.py 10.$net.0.7 20000000
            wait $served
        done
        netloom down near || [ $? = 5 ]
        there down beyond || [ $? = 5 ]
        ";
    let told = play(&fixture, &format!("NETLOOM={}/netloom\n{TRANSFER}{ASK}{script}", fixture.path().display()))
        .expect_code(0)
        .stdout;
    for wanted in
        ["asked-a vlan=100 8100", "asked-b vlan=200 8100", "asked-c vlan=0 0", "wrong silence", "unknown silence"]
    {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    for key in ["a", "b", "c"] {
        assert!(number(&told, key) > 0.0, "{key}: {told}");
    }
    assert_eq!(told.matches("intact").count(), 3, "{told}");
    for name in ["near", "beyond"] {
        assert_eq!(fixture.json(name, "report.json")["losses"].to_string(), "[]", "{name}");
        fixture.assert_nothing_is_left(name);
    }
}

#[test]
fn what_cannot_be_taken_is_refused_with_its_place() {
    let fixture = Fixture::new(User::Own).apart();
    let lab = |interface: &str| {
        format!(
            "nodes:\n  inside: {{}}\n  wan: {{kind: external, interface: {interface}}}\nlinks: {{l: {{ends: [inside, wan]}}}}\n"
        )
    };
    for (name, interface) in [("absent", "eth9"), ("loop", "lo"), ("out", "nic"), ("down", "dark"), ("part", "port")] {
        fixture.write(&format!("{name}.yaml"), &lab(interface));
    }
    let played = play(
        &fixture,
        r"
        ip link add dark type veth peer name dark2
        ip link add port type veth peer name port2
        if ip link add br0 type bridge; then ip link set port up master br0; fi
        ip route add default via 10.9.0.2
        for lab in absent loop out down part; do
            netloom run $lab.yaml 2>&1 && echo run || echo $lab=$?
        done
        netloom check out.yaml 2>&1
        ",
    );
    let told = played.expect_code(0).stdout;
    for wanted in [
        "absent.yaml:3: key `interface`: this machine has no interface `eth9`; there are: ",
        "loop.yaml:3: key `interface`: `lo` has no wire",
        "out.yaml:3: key `interface`: `nic` is this machine's only way out",
        "down.yaml:3: key `interface`: `dark` is down: bring it up (ip link set dark up)",
    ] {
        assert!(told.contains(wanted), "{wanted}\n{told}");
    }
    assert!(told.contains("it is a part of `br0`") || !told.contains("br0"), "{told}");
    assert_eq!(told.matches("only way out").count(), 2, "`check` says it, too: {told}");
}

#[test]
fn who_has_no_right_to_packets_is_told_which() {
    if !is_root() {
        crate::fixture::not_run("an ordinary user on root's machine");
        return;
    }
    let fixture = Fixture::new(User::Nobody).apart();
    fixture.write("share.yaml", SHARED);
    // The network is root's, and the user is not.
    let script = format!(
        "{MACHINE}\nsetpriv --reuid 65534 --regid 65534 --clear-groups {}/netloom run share.yaml 2>&1 || echo code=$?",
        fixture.path().display()
    );
    let told = std::process::Command::new("unshare")
        .args(["-n", "sh", "-c", &script])
        .current_dir(fixture.work())
        .env("XDG_RUNTIME_DIR", fixture.path().join("runtime"))
        .env("HOME", fixture.work())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("CAP_NET_RAW") && told.contains("share.yaml:4: key `interface`"), "{told}");
    assert!(number(&told, "code") > 0.0, "{told}");
}

/// A router behind which the network of the wire is, and a card that is the lab's alone.
const PASSED: &str = "
nodes:
  inside: {}
  wan: {kind: external, interface: nic, mode: pass}
links:
  access: {ends: [{node: inside, address: [10.9.0.7/24, 'fd09::7/64']}, wan], delay: 5 ms}
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
";

/// Gives the card what it may have, and writes down how it is. `back` waits until it is so again.
const ADORN: &str = r#"
ip link set nic mtu 1400 txqueuelen 123 alias "the card"
ip addr add 10.9.1.1/32 dev nic label nic:1
ip addr add 192.168.9.1/24 brd + dev nic metric 50
ip -6 addr add fd99::1/64 dev nic nodad preferred_lft 0
ip route add 10.20.0.0/16 via 10.9.0.2 dev nic metric 7 src 10.9.1.1
ip route add 10.30.0.0/16 dev nic table 77
ip route add blackhole 10.40.0.0/16
ip -6 route add fd20::/32 via fd09::2 dev nic
ip neigh add 10.9.0.77 lladdr 02:00:00:00:00:77 dev nic nud permanent
echo 1 > /proc/sys/net/ipv4/conf/nic/proxy_arp
echo 0 > /proc/sys/net/ipv6/conf/nic/accept_ra
all() { state; ip neigh show dev nic nud permanent; (cd /proc/sys/net; grep -r . ipv4/conf/nic ipv6/conf/nic 2> /dev/null | sort); }
# The kernel adds the route of an address a little later.
for try in $(seq 100); do ip -6 route show table local | grep -q fd99::1 && break; sleep 0.1; done
all | sed 's/preferred_lft [0-9a-z]*//' > before
back() {
    for try in $(seq 100); do
        all 2> /dev/null | sed 's/preferred_lft [0-9a-z]*//' > after
        cmp -s before after && return 0
        sleep 0.1
    done
    diff before after
    return 1
}
"#;

#[test]
fn a_card_is_the_labs_alone_and_comes_back_as_it_was() {
    for user in User::all() {
        let fixture = Fixture::new(user).apart();
        fixture.write("pass.yaml", &PASSED.replace("delay: 5 ms", "mtu: 1400, delay: 5 ms"));
        let script = r"
            netloom up pass.yaml
            ip link show dev nic > /dev/null 2>&1 || echo gone=1
            netloom exec pass inside -- ping -q -c 2 -i 0.1 -w 9 10.9.0.2 > /dev/null && echo v4=1
            netloom exec pass inside -- ping -q -c 2 -i 0.1 -w 9 fd09::2 > /dev/null && echo v6=1
            far ping -q -c 1 -w 1 10.9.0.1 > /dev/null || echo deaf=1
            netloom down pass || [ $? = 5 ]
            all | sed 's/preferred_lft [0-9a-z]*//' > after
            back && echo same=1
            ping -q -c 2 -i 0.1 -w 9 10.9.0.2 > /dev/null && echo again=1
            ";
        let told = play(&fixture, &format!("{ADORN}{script}")).expect_code(0).stdout;
        for key in ["gone", "v4", "v6", "deaf", "same", "again"] {
            assert!(number(&told, key) > 0.0, "{key}: {told}");
        }
        fixture.assert_nothing_is_left("pass");
    }
}

/// An interface that goes down, or away, leaves an error at its sockets that would wake the engine for ever.
#[test]
fn a_wire_that_goes_down_keeps_no_processor_busy() {
    let fixture = Fixture::new(User::Own).alone();
    fixture.write("down.yaml", &PASSED.replace(", mode: pass", ""));
    let script = r#"
        netloom up down.yaml
        lab=$(sed -n 's/.*"lab_pid": \([0-9]*\).*/\1/p' $XDG_RUNTIME_DIR/netloom/down/lab.json)
        # In hundredths of a second.
        used() { expr $(cut -d ' ' -f 14 /proc/$lab/stat) + $(cut -d ' ' -f 15 /proc/$lab/stat); }
        ip link set nic down
        sleep 0.5
        before=$(used); sleep 2; echo down=$(($(used) - before))
        ip link set nic up
        netloom exec down inside -- ping -q -c 2 -i 0.1 -w 9 10.9.0.2 > /dev/null && echo again=1
        ip link del nic
        sleep 0.5
        before=$(used); sleep 2; echo gone=$(($(used) - before))
        netloom down down || [ $? = 5 ]
        "#;
    let told = play(&fixture, script).expect_code(0).stdout;
    assert!(number(&told, "down") < 100.0 && number(&told, "gone") < 100.0 && number(&told, "again") > 0.0, "{told}");
    // What was lost is reported, and no clock proposed that would be refused.
    assert!(told.contains("NOT as described: ") && !told.contains("dilation"), "{told}");
    fixture.assert_nothing_is_left("down");
}

#[test]
fn a_kernel_node_reaches_the_wire() {
    let fixture = Fixture::with_kernel(User::Own).apart();
    let shared = PASSED
        .replace("inside: {}", "inside: {stack: kernel}")
        .replace("lateness: 50 ms", "lateness: 100 s, starvation: 100 %");
    fixture.write("pass.yaml", &shared);
    fixture.write("share.yaml", &shared.replace(", mode: pass", ""));
    let script = r"
        for lab in share pass; do
            netloom up $lab.yaml
            netloom exec $lab inside -- ping -q -c 2 -i 0.1 -w 20 10.9.0.2 > /dev/null && echo ${lab}_v4=1
            netloom exec $lab inside -- ping -q -c 2 -i 0.1 -w 20 fd09::2 > /dev/null && echo ${lab}_v6=1
            netloom down $lab || [ $? = 5 ]
        done
        ";
    let told = play(&fixture, script).expect_code(0).stdout;
    for key in ["share_v4", "share_v6", "pass_v4", "pass_v6"] {
        assert!(number(&told, key) > 0.0, "{key}: {told}");
    }
    fixture.assert_nothing_is_left("pass");
}

/// Kills in one script, which has a minute.
const EACH: u32 = 6;

#[test]
fn a_card_comes_back_whichever_process_is_killed_and_whenever() {
    let rounds: u32 =
        std::env::var("NETLOOM_EXTERNAL_KILLS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(EACH);
    let fixture = Fixture::new(User::Own).apart();
    let lab = PASSED.replace("delay: 5 ms", "mtu: 1400, delay: 5 ms");
    fixture.write("kill.yaml", &format!("{lab}timeline: [{{on: inside, run: sleep 3}}]\n"));
    // One after the other: the command itself, the lab's first process, and the keeper of the card.
    for first in (1..=rounds).step_by(EACH as usize) {
        let last = rounds.min(first + EACH - 1);
        let told = play(&fixture, &format!("{ADORN}{}", kills(&fixture, first, last))).expect_code(0).stdout;
        assert_eq!(told.matches("came back").count(), (last - first + 1) as usize, "{told}");
    }
    fixture.assert_nothing_is_left("kill");
}

/// Kills a process in each of these rounds.
fn kills(fixture: &Fixture, first: u32, last: u32) -> String {
    format!(
        r#"
        program={}/netloom
        for round in $(seq {first} {last}); do
            $program run kill.yaml > told 2>&1 & guard=$!
            sleep 0.$((round * 37 % 70 + 10))
            case $((round % 3)) in
                0) victim=$guard ;;
                1) victim=$(for one in $(cat /proc/$guard/task/$guard/children); do
                       grep -q keeper /proc/$one/comm || echo $one; done | tail -n 1) || true ;;
                2) victim=$(for one in $(cat /proc/$guard/task/$guard/children); do
                       grep -q keeper /proc/$one/comm && echo $one; done) || true ;;
            esac
            [ -z "$victim" ] || kill -9 $victim 2> /dev/null || true
            # Whoever is left ends when he is asked to.
            sleep 0.2
            kill -INT $guard 2> /dev/null || true
            wait $guard || true
            if back; then echo came back; else echo round $round: killed $victim of $guard; cat told; fi
        done
        "#,
        fixture.path().display()
    )
}

/// With all processes of a lab killed at once, nobody is left who could give the card back: the next command does.
#[test]
fn a_card_comes_back_by_the_next_command_when_all_processes_are_killed() {
    if !is_root() {
        crate::fixture::not_run(
            "the network namespace of a passed interface outlives its processes where root mounts it",
        );
        return;
    }
    let fixture = Fixture::new(User::Own).apart();
    fixture.write("kill.yaml", &PASSED.replace("delay: 5 ms", "mtu: 1400, delay: 5 ms"));
    let script = r#"
        state_of() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" $XDG_RUNTIME_DIR/netloom/kill/lab.json; }
        for command in ps 'down other' 'up kill.yaml' 'shape list'; do
            netloom up kill.yaml
            guard=$(state_of guard_pid)
            child() { for one in $(cat /proc/$guard/task/$guard/children); do grep -q "$1" /proc/$one/comm && echo $one; done || true; }
            keeper=$(child keeper) watcher=$(child watcher)
            kill -STOP $guard $keeper $watcher
            kill -9 $guard $keeper $watcher $(state_of lab_pid)
            for try in $(seq 100); do [ -e /proc/$keeper/fd ] && kill -0 $keeper 2> /dev/null || break; sleep 0.05; done
            ip link show dev nic > /dev/null 2>&1 && echo "it is there already"
            netloom $command > told 2>&1 || true
            [ "$command" != 'up kill.yaml' ] || { netloom exec kill inside -- ping -q -c 1 -w 5 10.9.0.2 > /dev/null && netloom down kill || [ $? = 5 ]; }
            if back; then echo came back; else echo after $command; cat told; fi
        done
        ls $XDG_RUNTIME_DIR/netloom
        grep -c $XDG_RUNTIME_DIR /proc/self/mounts || true
        "#;
    let told = play(&fixture, &format!("{ADORN}{script}")).expect_code(0).stdout;
    assert_eq!(told.matches("came back").count(), 4, "{told}");
    assert_eq!((told.matches("already").count(), told.lines().last()), (0, Some("0")), "{told}");
    fixture.assert_nothing_is_left("kill");
}

#[test]
fn a_card_that_would_not_come_back_as_it_was_is_refused() {
    let fixture = Fixture::new(User::Own).apart();
    fixture.write("pass.yaml", PASSED);
    let script = r"
        ip link set nic mtu 1500
        ip link add dark type dummy 2> /dev/null || true
        tc qdisc add dev nic root tbf rate 1mbit burst 10k limit 100k 2> /dev/null || { echo no tbf here; exit 0; }
        netloom run pass.yaml 2>&1 || echo code=$?
        ip addr show dev nic
        ";
    let told = play(&fixture, script).expect_code(0).stdout;
    if told.contains("no tbf here") {
        crate::fixture::not_run("a card with a queue of its own: this kernel has no tbf");
        return;
    }
    assert!(told.contains("pass.yaml:4: key `mode`") && told.contains("a queue of its own, `tbf`"), "{told}");
    assert!(told.contains("10.9.0.1/24"), "{told}");
}
