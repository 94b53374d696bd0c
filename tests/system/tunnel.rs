//! Tunnels between labs of two machines. The machines are network namespaces, as is the path between them: nothing here touches the
//! machine that the tests run on.

use crate::fixture::{Finished, Fixture, User, is_root, number};

const MACHINES: &str = include_str!("tunnel.sh");

/// Plays a script where there are both machines.
fn play(fixture: &Fixture, script: &str) -> Finished {
    play_ahead(fixture, 0, script)
}

/// The same, where the clock of the right machine is ahead by so many seconds.
fn play_ahead(fixture: &Fixture, ahead: u32, script: &str) -> Finished {
    fixture.write(
        "play.sh",
        &format!("NETLOOM={}/netloom\nAHEAD={ahead}\n{MACHINES}\n{script}", fixture.path().display()),
    );
    let flags = if fixture.user() == User::Nobody || !is_root() { "-Urn" } else { "-n" };
    fixture.run("unshare", &[flags, "bash", "play.sh"])
}

/// Two labs with a host each; `settings` of the tunnels and the left link.
fn labs(fixture: &Fixture, [left, right]: [&str; 2], line: &str) {
    let lab = |host: &str, own: u8, remote: u8, tunnel: &str, link: &str| {
        format!(
            "nodes: {{{host}: {{}}, far: {{kind: tunnel, remote: 10.8.0.{remote}{tunnel}}}}}\n\
             links: {{line: {{ends: [{{node: {host}, address: [10.9.0.{own}/24, 'fd09::{own}/64']}}, far]{link}}}}}\n\
             bounds: {{lateness: 50 ms}}\n"
        )
    };
    fixture.write("left.yaml", &lab("hither", 1, 2, left, line));
    fixture.write("right.yaml", &lab("thither", 2, 1, right, ""));
}

fn findings(fixture: &Fixture, lab: &str) -> String {
    fixture.json(lab, "report.json")["verdict"]["findings"].to_string()
}

#[test]
fn two_labs_are_one_network_with_the_delay_that_is_described() {
    for user in User::some() {
        let fixture = Fixture::new(user).apart();
        labs(&fixture, ["", ""], ", delay: 20 ms");
        fixture.write(
            "path.yaml",
            "nodes: {one: {kind: external, interface: one}, two: {kind: external, interface: two}}\n\
             links: {path: {ends: [one, two], delay: 3 ms, mtu: 1600}}\nbounds: {lateness: 50 ms}\n",
        );
        let script = r"
            $NETLOOM up path.yaml
            both
            for way in 10.9.0.2 fd09::2; do
                a $NETLOOM exec left hither -- ping -c 40 -i 0.02 -w 20 $way > ping
                echo rtt=$(sed -n 's|^rtt[^=]*= \([0-9.]*\)/.*|\1|p' ping)
            done
            a $NETLOOM exec left hither -- ping -M do -s 1472 -c 3 -i 0.1 -w 9 -q 10.9.0.2
            if [ $AHEAD != 0 ]; then
                $NETLOOM set path path loss=5%
                a $NETLOOM exec left hither -- ping -c 200 -i 0.01 -q 10.9.0.2 > lossy
                echo repaired=$(sed -n 's|.* \([0-9.]*\)% packet loss.*|\1|p' lossy)
                $NETLOOM set path path loss=60%
            fi
            sleep 0.3
            a $NETLOOM exec left hither -- ping -c 50 -i 0.01 -q 10.9.0.2 || true
            sleep 1
            a $NETLOOM down left || echo left=$?
            b $NETLOOM down right || echo right=$?
            $NETLOOM down path || [ $? = 5 ]
            ";
        for ahead in [0, 1_000] {
            let told = play_ahead(&fixture, ahead, script);
            let told = told.expect_code(0).stdout;
            for rtt in told.lines().filter_map(|line| line.strip_prefix("rtt=")) {
                let rtt: f64 = rtt.parse().unwrap();
                // Without the path taken off it would be 46; never may it be less.
                assert!((39.9..44.0).contains(&rtt), "{rtt}: {told}");
            }
            let rows = fixture.json("left", "report.json")["tunnels"].to_string();
            assert!(rows.contains("\"remote\":\"10.8.0.2\""), "{rows}");
            assert_eq!(rows.contains("\"one_clock\":true"), ahead == 0, "{rows}");
            let base = fixture.json("left", "report.json")["tunnels"][0]["base_ns"].as_u64().unwrap();
            assert!((2_900_000..8_000_000).contains(&base), "{base}");
            if ahead > 0 {
                // What is lost now and then, of one round trip in ten, comes when it is asked for, though maybe after ping has ended; of what is
                // mostly lost, some never does.
                assert!(number(&told, "repaired") < 2.0, "{told}");
                let repaired = &fixture.json("left", "report.json")["tunnels"][0]["repaired_frames"];
                assert!(repaired.as_u64().unwrap() > 0, "{rows}");
                assert!(findings(&fixture, "left").contains("the path lost"), "{}", findings(&fixture, "left"));
            }
        }
        ["left", "right", "path"].iter().for_each(|lab| fixture.assert_nothing_is_left(lab));
    }
}

/// One way takes 1 ms and the other 9: whoever knows how exact both times of day are knows that, too.
#[test]
fn one_way_delays_are_off_by_what_the_verdict_says() {
    let fixture = Fixture::new(User::Own).apart();
    labs(&fixture, ["", ""], ", delay: 40 ms");
    fixture.write(
        "path.yaml",
        "nodes: {one: {kind: external, interface: one}, two: {kind: external, interface: two}}\n\
         links: {path: {ends: [one, two], mtu: 1600, forward: {delay: 1 ms}, backward: {delay: 9 ms}}}\nbounds: {lateness: 50 ms}\n",
    );
    // chrony's client says the same of the time of day: an offset of 2 us, a delay of 20 us to the reference and 8 us of dispersion.
    fixture.write(
        "chronyc",
        "#!/bin/sh\necho 0A000001,ptp,1,1700000000.0,-0.000002,0,0,0,0,0.1,0.000020,0.000008,1.0,Normal\n",
    );
    for (bound, client) in [("", ""), ("20us", ""), ("", "$PWD/client:")] {
        let is_known = !bound.is_empty() || !client.is_empty();
        let script = format!(
            r"
            mkdir -p client; cp chronyc client/; chmod +x client/chronyc
            export NETLOOM_CLOCK_BOUND={bound} PATH={client}$PATH
            $NETLOOM up path.yaml
            both
            a $NETLOOM exec left hither -- ping -c 20 -i 0.1 -w 20 -q 10.9.0.2
            a $NETLOOM down left || true
            b $NETLOOM down right || true
            $NETLOOM down path || true
            "
        );
        play_ahead(&fixture, 1_000, &script).expect_code(0);
        for (lab, way) in [("left", 1_000_000_i64), ("right", 9_000_000)] {
            let report = fixture.json(lab, "report.json");
            let row = &report["tunnels"][0];
            let said = row["one_way_bound_ns"].as_i64().unwrap();
            assert_eq!(report["verdict"]["one_way_bound_ns"], row["one_way_bound_ns"], "{row}");
            // What the way to the far end takes, which is known as exactly as the clocks are; the machine adds to both ways.
            let error = (row["base_ns"].as_i64().unwrap() - way).abs();
            assert!(error <= said + 1_000_000, "{row}");
            assert_eq!(row["clock_jumps"], 0, "{row}");
            if !is_known {
                assert!((4_000_000..12_000_000).contains(&said) && error > 2_500_000, "{row}");
                assert!(row["asymmetry_ns"].is_null(), "{row}");
            } else {
                assert!(said < 1_000_000, "{row}");
                let asymmetry = row["asymmetry_ns"].as_i64().unwrap();
                assert!((asymmetry - (2 * way - 10_000_000)).abs() < 2_500_000, "{row}");
            }
            let notes = report["verdict"]["notes"].to_string();
            assert_eq!(notes.contains("equally long both ways"), !is_known, "{notes}");
        }
    }
    ["left", "right", "path"].iter().for_each(|lab| fixture.assert_nothing_is_left(lab));
}

/// The links between two machines need one port, and are told apart by the numbers of their tunnels; one is encrypted, and one is not.
#[test]
fn tunnels_to_one_machine_share_a_port() {
    let fixture = Fixture::new(User::Own).apart();
    let key = format!(", key: {}", "3c".repeat(32));
    let lab = |own: u8, remote: u8, nodes: [&str; 2], delays: [&str; 2]| {
        let [tunnels, hosts] = [nodes, ["h1: {}", "h2: {}"]].map(|names| names.join(", "));
        let link = |number: usize| {
            format!(
                "  l{number}: {{ends: [{{node: h{number}, address: 10.9.{number}.{own}/24}}, t{number}]{}}}\n",
                delays[number - 1]
            )
        };
        let tunnels = tunnels.replace("REMOTE", &format!("kind: tunnel, remote: 10.8.0.{remote}"));
        format!("nodes: {{{hosts}, {tunnels}}}\nlinks:\n{}{}bounds: {{lateness: 50 ms}}\n", link(1), link(2))
    };
    let [one, two] = ["t1: {REMOTE}".to_owned(), format!("t2: {{REMOTE, vni: 2{key}}}")];
    // Their order is nobody's business.
    fixture.write("left.yaml", &lab(1, 2, [&one, &two], [", delay: 40 ms", ", delay: 20 ms"]));
    fixture.write("right.yaml", &lab(2, 1, [&two, &one], ["", ""]));
    let script = r"
        bridge
        both
        echo sockets=$(a ss -Hun | wc -l)
        for number in 1 2; do
            a $NETLOOM exec left h$number -- ping -c 20 -i 0.02 -w 20 10.9.$number.2 > ping
            echo rtt$number=$(sed -n 's|^rtt[^=]*= \([0-9.]*\)/.*|\1|p' ping)
        done
        a $NETLOOM down left || true
        b $NETLOOM down right || true
        ";
    let told = play(&fixture, script).expect_code(0).stdout;
    assert!((number(&told, "sockets") - 1.0).abs() < 0.1, "{told}");
    assert!((39.9..100.0).contains(&(number(&told, "rtt1") / 2.0)), "{told}");
    assert!((19.9..39.0).contains(&(number(&told, "rtt2") / 2.0)), "{told}");
    for side in ["left", "right"] {
        let rows = fixture.json(side, "report.json")["tunnels"].clone();
        for row in rows.as_array().unwrap() {
            let count = |name: &str| row[name].as_u64().unwrap();
            assert!(count("sent_frames") >= 20 && count("received_frames") >= 20, "{row}");
            assert_eq!((count("lost_frames"), count("forged_datagrams")), (0, 0), "{row}");
        }
        fixture.assert_nothing_is_left(side);
    }
}

/// What each of the two says that cannot be joined.
fn refused(fixture: &Fixture, settings: [&str; 2], line: &str) -> [String; 2] {
    labs(fixture, settings, line);
    let script = r"
        bridge
        b $NETLOOM up right.yaml > right.log 2>&1 & starts=$!
        a $NETLOOM up left.yaml > left.log 2>&1 || echo left=$?
        wait $starts || echo right=$?
        a $NETLOOM ps 2>&1
        ";
    let told = play(fixture, script).expect_code(0).stdout;
    assert_eq!((number(&told, "left"), number(&told, "right")), (4.0, 4.0), "{told}");
    assert!(told.contains("no lab is up"), "{told}");
    ["left.log", "right.log"].map(|log| std::fs::read_to_string(fixture.work().join(log)).unwrap())
}

#[test]
fn ends_that_do_not_fit_are_told_at_both() {
    let fixture = Fixture::new(User::Own).apart();
    let told = |settings, line, expected: [&str; 2]| {
        for (text, part) in refused(&fixture, settings, line).iter().zip(expected) {
            assert!(text.contains(part), "no {part} in: {text}");
        }
    };
    let here = "left.yaml:1: key `vni`: the far end's tunnel has `vni: 1`, and this one `vni: 7`";
    told([", vni: 7", ""], "", [here, "has `vni: 7`, and this one `vni: 1`"]);
    let mtu = "the far end's link has `mtu: 1500`, and this one `mtu: 1400`";
    told(["", ""], ", mtu: 1400", [mtu, "has `mtu: 1400`, and this one `mtu: 1500`"]);
    let [one, other] = [7, 8].map(|digit| format!(", key: {}", format!("{digit:02x}").repeat(32)));
    let differ = ["key `key`: the far end's tunnel has another `key`"; 2];
    told([&one, &other], "", differ);
    let lacks = "key `key`: the far end's tunnel has no `key`, and this one has";
    told([&one, ""], "", [lacks, "key `key`: the far end's tunnel has a `key`, and this one none"]);
    // Each waits as long as it says, for nobody.
    let silent = "key `remote`: the far end at 10.8.0.2:5000 was silent for 300 ms";
    let there = "waiting for the far end of tunnel far at 10.8.0.1:29789";
    told([", wait: 300 ms, port: 5000", ", wait: 300 ms"], "", [silent, there]);
    ["left", "right"].iter().for_each(|lab| fixture.assert_nothing_is_left(lab));
}

#[test]
fn what_the_machine_cannot_do_is_refused_before_anything_is_made() {
    let fixture = Fixture::new(User::Own).apart();
    labs(&fixture, [", key: {file: far.key}, wait: 300 ms", ", wait: 300 ms"], "");
    let script = r#"
        bridge
        a $NETLOOM up left.yaml || echo file=$?
        sed -i 's/ key: {file: far.key},//' left.yaml
        a ip link set eth0 mtu 500
        a $NETLOOM up left.yaml || echo mtu=$?
        a ip link set eth0 mtu 1500
        a python3 -c 'import os, socket, time
taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
taken.bind(("", 29789))
open("taken", "w").close()
while os.path.exists("taken"): time.sleep(0.01)' & taker=$!
        until [ -e taken ]; do sleep 0.01; done
        a $NETLOOM up left.yaml || echo port=$?
        rm taken
        wait $taker
        sed -i 's/10.8.0.2/192.0.2.1/' left.yaml
        a $NETLOOM up left.yaml || echo way=$?
        a $NETLOOM check left.yaml
        "#;
    let told = play(&fixture, script).expect_code(0);
    for key in ["file", "mtu", "port", "way"] {
        assert!((number(&told.stdout, key) - 4.0).abs() < 0.1, "{}", told.stdout);
    }
    let said = told.stderr;
    assert!(said.contains("left.yaml:1: key `key`: reading far.key: No such file"), "{said}");
    assert!(said.contains("carries packets of 500 bytes at most, and a tunnel needs 576"), "{said}");
    assert!(said.contains("key `port`: port 29789 of UDP is in use here"), "{said}");
    assert_eq!(said.matches("key `remote`: there is no route from this machine to `192.0.2.1`").count(), 2, "{said}");
    fixture.assert_nothing_is_left("left");
}

/// Without a key, and with one that both have.
fn keys() -> [String; 2] {
    [String::new(), format!(", key: {}", "3c".repeat(32))]
}

/// Plays two labs with an MTU of 1500 over a path that carries less with its headers, and returns the rows of both tunnels.
fn rows_of_a_narrow_path(fixture: &Fixture, key: &str, narrow: &str) -> [serde_json::Value; 2] {
    labs(fixture, [key, key], "");
    let script = format!(
        r#"
        ip link set one mtu 1500
        ip link set two mtu 1500
        a ip link set eth0 mtu 1500
        b ip link set eth0 mtu 1500
        {narrow}
        bridge
        both
        a $NETLOOM exec left hither -- ping -M do -s 1472 -c 20 -i 0.02 -w 9 -q 10.9.0.2
        a $NETLOOM exec left hither -- ping -c 20 -i 0.02 -w 9 -q fd09::2
        b $NETLOOM exec right thither -- python3 -c 'import socket, sys
taker = socket.create_server(("10.9.0.2", 80))
open(sys.argv[1], "w").close()
peer, _ = taker.accept()
count = 0
while part := peer.recv(65536): count += len(part)
peer.sendall(str(count).encode())' $PWD/listens & taker=$!
        until [ -e listens ]; do sleep 0.01; done
        rm listens
        echo bytes=$(a $NETLOOM exec left hither -- python3 -c 'import socket
peer = socket.create_connection(("10.9.0.2", 80))
peer.sendall(bytes(2000000))
peer.shutdown(socket.SHUT_WR)
print(peer.recv(100).decode())')
        wait $taker
        a $NETLOOM down left || true
        b $NETLOOM down right || true
        "#
    );
    let told = play(fixture, &script).expect_code(0).stdout;
    assert!((number(&told, "bytes") - 2_000_000.0).abs() < 0.1, "{told}");
    ["left", "right"].map(|lab| {
        fixture.assert_nothing_is_left(lab);
        fixture.json(lab, "report.json")["tunnels"][0].clone()
    })
}

#[test]
fn an_mtu_of_1500_fits_a_path_of_1500() {
    let fixture = Fixture::new(User::Own).apart();
    for key in keys() {
        let [left, right] = rows_of_a_narrow_path(&fixture, &key, "");
        assert_eq!((&left["datagram_bytes"], &right["datagram_bytes"]), (&1_472.into(), &1_472.into()), "{left}");
        // Each ping of full length both ways, and the stream one way, in trains of at most 64 kB.
        for (to, from, least) in [(&left, &right, 20 + 30), (&right, &left, 20)] {
            assert!(to["cut_frames"].as_u64().unwrap() >= least, "{to}");
            assert_eq!(to["cut_frames"], from["joined_frames"], "{to} {from}");
            for count in ["lost_frames", "lost_in_joining_frames", "malformed_pieces", "forged_datagrams"] {
                assert_eq!(from[count], 0, "{count}: {from}");
            }
        }
    }
}

#[test]
fn a_path_that_drops_long_datagrams_in_silence_is_found_out() {
    let fixture = Fixture::new(User::Own).apart();
    for key in keys() {
        let [left, right] = rows_of_a_narrow_path(&fixture, &key, "ip link set one mtu 1450; ip link set two mtu 1450");
        assert_eq!((&left["datagram_bytes"], &right["datagram_bytes"]), (&1_372.into(), &1_372.into()), "{left}");
        assert_eq!(left["cut_frames"], right["joined_frames"], "{left} {right}");
    }
}

/// Sends datagrams as if they came from the far end, from somebody who sees the path: nonsense, messages with the right beginning, pieces
/// with the right token that are malformed, doubled or endless, and what the far end has sent once.
const HOSTILE: &str = r#"
cat > hostile.py << 'END'
import random, socket, struct, sys
chance = random.Random(7)
wire = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
def send(body):
    wire.sendto(struct.pack("!HHHH", 29789, 29789, 8 + len(body), 0) + body, ("10.8.0.1", 0))
for number in range(4000):
    body = chance.randbytes(chance.randrange(0, 1400))
    if number % 2:
        body = b"NLTN" + bytes([chance.choice([4, 4, 4, 1]), chance.randrange(0, 9), 0, 0]) + body
    send(body)
other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(100):
    other.sendto(b"from another port", ("10.8.0.1", 29789))
eyes = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
seen = []
while len(seen) < 20:
    packet = eyes.recv(4000)
    if packet[12:16] == bytes([10, 8, 0, 2]) and packet[28:32] == b"NLTN":
        seen.append(packet[28:])
token = seen[0][8:16]
def piece(number, index, count, whole, body):
    send(b"NLTN" + bytes([4, 6, index, count]) + token + struct.pack("!QQQI", number, 0, 0, whole) + body)
for number in range(500):
    piece(1 << 60, number % 256, number % 5, 1000, bytes(499))
    piece(1 << 60, 0, 2, 0xffffffff, bytes(500))
    # A packet is no train of one piece, and a train is longer than its header.
    piece(1 << 60, 0, 1, 500, bytes(500))
    piece(1 << 60, 0, 1, 1 << 31 | 20, bytes(20))
    piece(1 << 60, 0, 2, 1000, bytes(501))
    # A frame that has come.
    piece(0, 0, 2, 1000, bytes(500))
if "sealed" in sys.argv:
    for number in range(5000):
        piece(number, 0, 2, 1000, bytes(500))
    for number in range(10):
        for body in seen:
            send(body)
END
"#;

#[test]
fn hostile_datagrams_are_counted_and_do_nothing() {
    let fixture = Fixture::new(User::Own).apart();
    for key in keys() {
        labs(&fixture, [&key, &key], "");
        let sealed = if key.is_empty() { "" } else { "sealed" };
        let script = format!(
            r"
            bridge
            both
            a $NETLOOM exec left hither -- ping -c 1 -w 9 -q 10.9.0.2
            b python3 hostile.py {sealed}
            a $NETLOOM exec left hither -- ping -c 5 -i 0.05 -w 9 -q 10.9.0.2
            sleep 0.5
            a $NETLOOM down left || true
            b $NETLOOM down right || true
            "
        );
        play(&fixture, &format!("{HOSTILE}{script}")).expect_code(0);
        let row = fixture.json("left", "report.json")["tunnels"][0].clone();
        let count = |name: &str| row[name].as_u64().unwrap();
        assert!(count("stray_datagrams") >= 2_000, "{row}");
        if key.is_empty() {
            assert!(count("malformed_pieces") >= 2_400 && count("repeated_pieces") >= 500, "{row}");
        } else {
            assert!(count("forged_datagrams") >= 5_000 && count("replayed_datagrams") >= 100, "{row}");
            assert_eq!((count("malformed_pieces"), count("repeated_pieces")), (0, 0), "{row}");
        }
        assert_eq!((count("lost_frames"), count("lost_in_joining_frames")), (0, 0), "{row}");
        ["left", "right"].iter().for_each(|lab| fixture.assert_nothing_is_left(lab));
    }
}

#[test]
fn a_far_end_that_dies_is_told_and_may_come_back() {
    let fixture = Fixture::new(User::Own).apart();
    for key in keys() {
        labs(&fixture, [&key, &key], "");
        let script = r"
            bridge
            both
            a $NETLOOM exec left hither -- ping -c 3 -i 0.05 -w 9 -q 10.9.0.2
            kill -9 $(b $NETLOOM ps | grep ^right | awk '{ print $(NF - 1) }')
            sleep 2
            b $NETLOOM up right.yaml
            until a $NETLOOM exec left hither -- ping -c 1 -w 1 -q 10.9.0.2; do sleep 0.1; done
            b $NETLOOM down right || true
            a $NETLOOM down left || true
            ";
        play(&fixture, script).expect_code(0);
        let found = findings(&fixture, "left");
        assert!(found.contains("was silent or restarted"), "{found}");
        ["left", "right"].iter().for_each(|lab| fixture.assert_nothing_is_left(lab));
    }
}
