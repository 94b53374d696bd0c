//! Captures of runs, as other programs read them.

use crate::fixture::{Fixture, User};
use crate::wait::wait_until;
use std::path::{Path, PathBuf};
use std::process::Command;

const LAB: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {}, r: {kind: router}, b: {}}
links:
  access: {ends: [a, r], mtu: 9000}
  far: {ends: [r, b], rate: 50 Mbit/s, delay: 5 ms, mtu: 9000, queue: 40 packets}
capture:
  - far
  - {link: far, at: sent, snaplen: 64 B, file: sent.pcapng}
  - {link: far, at: delivered, snaplen: 64 B, file: delivered.pcapng}
  - {link: access, direction: backward, snaplen: 96 B, match: {protocol: icmp}, file: replies.pcapng}
timeline:
  - {on: b, run: iperf3 -s, ready: {tcp: 5201}}
  # The services' last packets are gone before anything is counted, and those of the transfer before the end.
  - {at: 500 ms, on: a, run: iperf3 -4 -c b -t 1 -M 1400, as: transfer}
  - {at: 700 ms, on: a, run: ping -4 -c 4 -i 0.1 b}
  - {on: a, run: sleep 3}
";

/// What tcpdump finds in a capture: one line per packet, each with its time in seconds.
fn tcpdump(file: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("tcpdump");
    let read = command.args(["-n", "-tt", "--nano", "-v", "-v", "-r"]).arg(file).args(arguments).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let text = String::from_utf8(read.stdout).unwrap();
    // The second line of a packet begins with blanks.
    text.replace("\n    ", " ").lines().map(str::to_owned).collect()
}

#[test]
fn a_capture_has_all_packets_in_lab_time() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("captured.yaml", LAB);
        let run = fixture.netloom(&["run", "captured.yaml"]).expect_code(0);
        assert!(!run.stdout.contains("captures lack"), "{run:#?}");
        let captures = fixture.latest("captured").join("captures");
        let all = tcpdump(&captures.join("far.pcapng"), &[]);
        let rows = fixture.json("captured", "pipes.json");
        let total = |column: &str| {
            let far = rows.as_array().unwrap().iter().filter(|row| row["link"] == "far");
            far.map(|row| row[column].as_u64().unwrap()).sum::<u64>()
        };
        let (sent, delivered) = (total("arrived_packets"), total("departed_packets"));
        let counted = sent + delivered;
        assert_eq!(all.len() as u64, counted);
        let at = |file: &str| tcpdump(&captures.join(file), &[]).len() as u64;
        assert_eq!((at("sent.pcapng"), at("delivered.pcapng")), (sent, delivered));
        assert!(counted > 100, "{counted}");
        let times: Vec<f64> = all.iter().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
        let seconds = fixture.json("captured", "report.json")["duration_ns"].as_f64().unwrap() / 1e9;
        assert!(times.is_sorted() && times.last().unwrap() <= &seconds, "{times:?}");
        let is_tcp = |line: &&String| line.contains("proto TCP") && line.contains("length 1");
        let first = all.iter().position(|line| is_tcp(&line)).map(|place| times[place]);
        assert!(first.is_some_and(|instant| instant >= 0.5), "{first:?}");
        // Checksums that the senders' kernels left undone are complete in the capture.
        assert!(!all.iter().any(|line| line.contains("incorrect") || line.contains("bad cksum")));
        assert!(all.iter().any(|line| line.contains("(correct)")));
        let replies = tcpdump(&captures.join("replies.pcapng"), &[]);
        // At both ends of the link. A ping may find the queue of the other link full.
        assert!(matches!(replies.len(), 2 | 4 | 6 | 8), "{replies:#?}");
        assert!(replies.iter().all(|line| line.contains("ICMP echo reply")), "{replies:#?}");
        let file = captures.join("far.pcapng").to_string_lossy().into_owned();
        let told = fixture.netloom(&["packets", &file, "--json", "--at", "b:eth0"]).expect_code(0);
        let flows: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
        let largest = flows.as_array().unwrap().iter().max_by_key(|flow| flow["data_packets"].as_u64()).unwrap();
        let rate = largest["throughput_bits_per_second"].as_f64().unwrap();
        assert!((1.0..51e6).contains(&rate), "{rate}");
        // Packets leave when they are due, however late they are: no two come closer than the rate allows.
        let since_syn = largest["times_ns"].as_array().unwrap();
        let gaps = since_syn.windows(2).map(|pair| pair[1].as_u64().unwrap() - pair[0].as_u64().unwrap());
        assert!(gaps.clone().min() >= Some(10_000), "{:?}", gaps.min());
    }
}

/// A transfer on which nothing is lost, captured at each point.
const LOSSLESS: &str = "
name: points
clock: virtual
# Long after the last packet has arrived.
duration: 4 s
nodes: [a, b]
links: {l: {ends: [a, b], rate: 20 Mbit/s, delay: 5 ms, queue: 10 MB}}
capture:
  - l
  - {link: l, at: sent, file: sent.pcapng}
  - {link: l, at: delivered, file: delivered.pcapng}
  - {link: l, at: a, file: a.pcapng}
timeline:
  - {on: b, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: a, run: iperf3 -4 -c b -n 2M, as: transfer}
";

/// How many TCP packets with data there are, and how many of them had been there before: those that programs which follow a
/// connection call retransmissions.
fn data_and_again(file: &Path) -> (usize, usize) {
    let mut seen = std::collections::BTreeSet::new();
    let lines = tcpdump(file, &["tcp"]);
    let data = lines.iter().filter_map(|line| {
        let (head, rest) = line.split_once(", seq ")?;
        let range = rest.split_once(',')?.0;
        // From whom to whom; a sequence number alone is that of a SYN or FIN.
        let flow = head.split_once(") ")?.1.split_once(':')?.0;
        range.contains(':').then(|| format!("{flow} {range}"))
    });
    let data: Vec<String> = data.collect();
    let count = data.len();
    let again = data.into_iter().filter(|packet| !seen.insert(packet.clone())).count();
    (count, again)
}

#[test]
fn a_capture_at_one_point_shows_no_packet_twice() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("points.yaml", LOSSLESS);
    fixture.netloom(&["run", "points.yaml", "-q"]).expect_code(0);
    let captures = fixture.latest("points").join("captures");
    let (both, again) = data_and_again(&captures.join("l.pcapng"));
    for point in ["sent", "delivered", "a"] {
        let (data, resent) = data_and_again(&captures.join(format!("{point}.pcapng")));
        assert_eq!((both, again), (2 * data, data + resent), "{point}");
        // TCP sends the last segment before a pause again if its acknowledgement is delayed.
        assert!(data > 1_000 && resent < 10, "{point}: {resent} of {data}");
    }
}

/// The file of what `netloom capture` with these arguments writes while something happens.
fn captured(fixture: &Fixture, arguments: &[&str], file: &str, meanwhile: impl FnOnce()) -> PathBuf {
    let all = [&["capture"], arguments, &["-w", file]].concat();
    let mut capture = fixture.command(&all).spawn().unwrap();
    let path = fixture.work().join(file);
    // What comes first is written when nothing else comes.
    wait_until("a file with something in it", || {
        assert!(capture.try_wait().unwrap().is_none(), "it ended");
        std::fs::metadata(&path).is_ok_and(|found| found.len() > 0)
    });
    meanwhile();
    let pid = nix::unistd::Pid::from_raw(capture.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert!(capture.wait().unwrap().success());
    path
}

#[test]
fn a_running_lab_is_captured_until_somebody_interrupts_it() {
    let fixture = Fixture::new(User::Own);
    let lenient =
        "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";
    fixture.write("watched.yaml", &format!("{lenient}\nnodes: [a, b]\nlinks: {{l: {{ends: [a, b], delay: 2 ms}}}}\n"));
    fixture.netloom(&["up", "watched.yaml"]).expect_code(0);
    let unknown = fixture.netloom(&["capture", "watched", "m"]).expect_code(7);
    assert!(unknown.stderr.contains("no link is called `m`"), "{unknown:#?}");
    let refused = fixture.netloom(&["capture", "watched", "l", "--at", "c", "-w", "l.pcapng"]).expect_code(2);
    assert!(refused.stderr.contains("`c` is not a point of this link: write sent, delivered, a or b"), "{refused:#?}");
    let file = captured(&fixture, &["watched", "l.forward", "-s", "80"], "l.pcapng", || {
        fixture.netloom(&["exec", "watched", "a", "--", "ping", "-4", "-c", "5", "-i", "0.05", "b"]).expect_code(0);
    });
    let requests = tcpdump(&file, &["icmp"]);
    assert_eq!(requests.len(), 10, "{requests:#?}");
    assert!(requests.iter().all(|line| line.contains("ICMP echo request")), "{requests:#?}");
    fixture.netloom(&["down", "watched"]).expect_code(0);
    fixture.assert_nothing_is_left("watched");
}

/// A router with two links, of which one drops: all its ports in a file, a filter, the last megabyte, and what became of packets.
const PORTS: &str = "
name: ports
duration: 2 s
nodes: {client: {}, r1: {kind: router}, server: {}}
links:
  access: {ends: [client, r1]}
  uplink: {ends: [r1, server], rate: 10 Mbit/s, delay: 5 ms, queue: 20 packets}
capture:
  - {node: r1}
  - {node: r1, link: uplink, at: sent, filter: udp port 5201 or icmp}
  - {link: access, ring: 1 MB}
  - {link: access, file: whole.pcapng}
timeline:
  - {on: server, run: iperf3 -s, service: true, ready: {tcp: 5201}}
  - {on: client, run: iperf3 -u -b 20M -l 1000 -c server -t 1.5, as: flood, may_fail: true}
";

#[test]
fn ports_filters_rings_and_comments() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("lab.yaml", PORTS);
        fixture.netloom(&["run", "lab.yaml", "-q"]).expect_end();
        let folder = fixture.latest("ports").join("captures");
        let mut names: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["access.pcapng", "r1-uplink.pcapng", "r1.pcapng", "whole.pcapng"]);
        // What comes from the client passes both ports of the router, as long as no link drops it.
        let count = |name: &str, filter: &str| tcpdump(&folder.join(name), &[filter]).len();
        assert!(count("r1.pcapng", "udp port 5201") > 1_500);
        let all = count("r1-uplink.pcapng", "");
        assert!(all > 800 && all == count("r1-uplink.pcapng", "udp port 5201"), "{all}");
        assert_eq!(count("r1-uplink.pcapng", "tcp"), 0);
        // The last of the access link, packet for packet: with the sequence numbers of TCP as they are, not from where a file begins.
        let size = folder.join("access.pcapng").metadata().unwrap().len();
        assert!((700_000..=1_000_000).contains(&size), "{size}");
        let [last, whole] = ["access.pcapng", "whole.pcapng"].map(|name| tcpdump(&folder.join(name), &["-S"]));
        assert!(whole.len() > last.len() && whole.ends_with(&last), "{} {}", whole.len(), last.len());
        // Packets that the full queue dropped say so, but for a few of the control connection, which the filter leaves out.
        let pipes = fixture.json("ports", "pipes.json");
        let uplink =
            pipes.as_array().unwrap().iter().find(|row| row["link"] == "uplink" && row["direction"] == "forward");
        let dropped = uplink.unwrap()["dropped_queue_packets"].as_u64().unwrap() as usize;
        let bytes = std::fs::read(folder.join("r1-uplink.pcapng")).unwrap();
        let text = b"dropped: the queue was full";
        let said = bytes.windows(text.len()).filter(|window| window == text).count();
        // On a busy machine captures may lack packets, and say so.
        let verdict = fixture.json("ports", "verdict.json");
        let is_whole = !verdict.to_string().contains("the captures lack");
        assert!(dropped > 100 && said > 0 && said <= dropped, "{said} of {dropped}");
        assert!(!is_whole || said * 100 > dropped * 95, "{said} of {dropped}: {verdict}");
        fixture.assert_nothing_is_left("ports");
    }
}

#[test]
fn a_filter_that_is_none_is_refused_when_the_file_is_checked() {
    let fixture = Fixture::new(User::Own);
    fixture.write("lab.yaml", &PORTS.replace("udp port 5201 or icmp", "udp prt 5201"));
    for command in ["check", "run"] {
        let refused = fixture.netloom(&[command, "lab.yaml"]).expect_code(3);
        assert!(refused.stderr.contains("lab.yaml:10: capture.filter: \"udp prt 5201\""), "{}", refused.stderr);
    }
}

const AIR: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {ap: {kind: switch}, server: {}, near: {}, other: {}}
links:
  wire: {ends: [ap, server], rate: 1 Gbit/s}
  wifi: {ends: [ap, near, other], medium: {kind: wifi, standard: n, channel: 40, access_point: ap, rate: {mcs: 4}}}
capture:
  - {link: wifi, headers: radiotap, match: {protocol: icmp}, file: air.pcapng}
  - {link: wifi, at: sent, match: {protocol: icmp}}
timeline:
  - {at: 300 ms, on: near, run: ping -4 -q -c 20 -i 0.02 -s 1000 server, as: near-ping}
  - {at: 300 ms, on: other, run: ping -4 -q -c 20 -i 0.02 -s 1000 near, as: other-ping}
  - {on: server, run: sleep 3}
expect:
  - near-ping.exit == 0
  - wifi.near.attempts >= 20
  - wifi.near.packets >= 20 packets during 0 s..3 s
  - other.airtime > 0.1 %
  - wifi.ap.throughput > 50 kbit/s
  - wifi.air_rate > 1 Mbit/s
  - wifi.airtime >= 0.999 * wifi.near.airtime
  - wire.forward.drops == 0 packets
";

/// Echo requests from a station to the wire, and between two stations: what is on the air, and what stations have counted.
#[test]
fn a_capture_of_the_air_has_its_headers() {
    let fixture = Fixture::new(User::Own);
    fixture.write("air.yaml", AIR);
    fixture.netloom(&["run", "air.yaml"]).expect_code(0);
    let captures = fixture.latest("air").join("captures");
    let all = tcpdump(&captures.join("air.pcapng"), &["-e"]);
    let [requests, replies] =
        ["echo request", "echo reply"].map(|kind| all.iter().filter(|line| line.contains(kind)).count());
    // 20 from the station to the wire and back, and 20 to another station and back, which are on the air twice; retries come on top.
    assert!(requests >= 60 && replies >= 60, "{requests}, {replies}");
    assert!(all.iter().all(|line| line.contains("5200 MHz") && line.contains("MCS 4")), "{all:#?}");
    let stations = fixture.json("air", "stations.json");
    let names: Vec<&str> = stations.as_array().unwrap().iter().map(|row| row["node"].as_str().unwrap()).collect();
    assert_eq!(names, ["ap", "near", "other"]);
    let attempts: u64 = stations.as_array().unwrap().iter().map(|row| row["attempts"].as_u64().unwrap()).sum();
    let pipes = fixture.json("air", "pipes.json");
    let medium = pipes.as_array().unwrap().iter().find(|row| row["link"] == "wifi").unwrap();
    assert_eq!(medium["air_attempts"].as_u64(), Some(attempts));
    assert!(attempts >= 60, "{attempts}");
    // Stations send what the others have: requests and replies, none of it twice.
    assert_eq!(tcpdump(&captures.join("wifi.pcapng"), &[]).len(), 80);
}

/// A client sees what is on the air of a running lab, too, and only there.
#[test]
fn the_air_of_a_running_lab_is_captured() {
    let fixture = Fixture::new(User::Own);
    let (network, _) = AIR.split_once("capture:").unwrap();
    fixture.write("onair.yaml", network);
    fixture.netloom(&["up", "onair.yaml"]).expect_code(0);
    let radiotap = ["--headers", "radiotap", "-w", "none.pcapng"];
    for (place, why) in
        [(&["wire"][..], "`wire` is no radio medium"), (&["wifi", "--at", "sent"], "leave direction and point out")]
    {
        let refused = fixture.netloom(&[&["capture", "onair"], place, &radiotap].concat()).expect_code(2);
        assert!(refused.stderr.contains(why), "{refused:#?}");
    }
    let file = captured(&fixture, &["onair", "wifi", "--headers", "radiotap"], "air.pcapng", || {
        fixture
            .netloom(&["exec", "onair", "near", "--", "ping", "-4", "-c", "5", "-i", "0.05", "server"])
            .expect_code(0);
    });
    let all = tcpdump(&file, &["-e"]);
    let requests = all.iter().filter(|line| line.contains("echo request")).count();
    assert!(requests >= 5 && all.iter().all(|line| line.contains("5200 MHz")), "{all:#?}");
    fixture.netloom(&["down", "onair"]).expect_code(0);
}
