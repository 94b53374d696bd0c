//! Captures of runs, as other programs read them.

use crate::bed::{Bed, User};
use std::path::Path;
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
    for user in User::all() {
        let bed = Bed::new(user);
        bed.write("captured.yaml", LAB);
        let run = bed.netloom(&["run", "captured.yaml"]).expect_code(0);
        assert!(!run.stdout.contains("captures lack"), "{run:#?}");
        let captures = bed.latest("captured").join("captures");
        let all = tcpdump(&captures.join("far.pcapng"), &[]);
        let rows = bed.json("captured", "pipes.json");
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
        let seconds = bed.json("captured", "report.json")["duration_ns"].as_f64().unwrap() / 1e9;
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
        let told = bed.netloom(&["packets", &file, "--json", "--at", "b:eth0"]).expect_code(0);
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
    let bed = Bed::with_kernel(User::Own);
    bed.write("points.yaml", LOSSLESS);
    bed.netloom(&["run", "points.yaml", "-q"]).expect_code(0);
    let captures = bed.latest("points").join("captures");
    let (both, again) = data_and_again(&captures.join("l.pcapng"));
    for point in ["sent", "delivered", "a"] {
        let (data, resent) = data_and_again(&captures.join(format!("{point}.pcapng")));
        assert_eq!((both, again), (2 * data, data + resent), "{point}");
        // TCP sends the last segment before a pause again if its acknowledgement is delayed.
        assert!(data > 1_000 && resent < 10, "{point}: {resent} of {data}");
    }
}

#[test]
fn a_running_lab_is_captured_until_somebody_interrupts_it() {
    let bed = Bed::new(User::Own);
    let lenient =
        "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";
    bed.write("watched.yaml", &format!("{lenient}\nnodes: [a, b]\nlinks: {{l: {{ends: [a, b], delay: 2 ms}}}}\n"));
    bed.netloom(&["up", "watched.yaml"]).expect_code(0);
    let unknown = bed.netloom(&["capture", "watched", "m"]).expect_code(7);
    assert!(unknown.stderr.contains("no link is called `m`"), "{unknown:#?}");
    let refused = bed.netloom(&["capture", "watched", "l", "--at", "c", "-w", "l.pcapng"]).expect_code(2);
    assert!(refused.stderr.contains("`c` is not a point of this link: write sent, delivered, a or b"), "{refused:#?}");
    let mut capture = bed.command(&["capture", "watched", "l.forward", "-w", "l.pcapng", "-s", "80"]).spawn().unwrap();
    let file = bed.work().join("l.pcapng");
    // What comes first is written when nothing else comes.
    while std::fs::metadata(&file).map_or(0, |found| found.len()) == 0 {
        assert!(capture.try_wait().unwrap().is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    bed.netloom(&["exec", "watched", "a", "--", "ping", "-4", "-c", "5", "-i", "0.05", "b"]).expect_code(0);
    let pid = nix::unistd::Pid::from_raw(capture.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert!(capture.wait().unwrap().success());
    let requests = tcpdump(&file, &["icmp"]);
    assert_eq!(requests.len(), 10, "{requests:#?}");
    assert!(requests.iter().all(|line| line.contains("ICMP echo request")), "{requests:#?}");
    bed.netloom(&["down", "watched"]).expect_code(0);
    bed.assert_nothing_is_left("watched");
}
