//! What is measured inside nodes.

use crate::fixture::{Fixture, User};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A transfer over a bottleneck.
const LAB: &str = "
name: measured
CLOCK
duration: 3 s
nodes: {client: {congestion: ALGORITHM}, server: {measure: {}}}
links: {bottleneck: {ends: [client, server], rate: 10 Mbit/s, delay: 10 ms, queue: 40 packets}}
MEASURE
capture: [bottleneck]
timeline:
  - {on: server, run: iperf3 -s, service: true, ready: {tcp: 5201}, as: sink}
  - {at: 100 ms, on: client, run: iperf3 -c server -t 20, as: transfer, may_fail: true}
";

fn lab(clock: &str, measure: &str, algorithm: &str) -> String {
    LAB.replace("CLOCK", clock).replace("MEASURE", measure).replace("ALGORITHM", algorithm)
}

/// The rows of `tcp.csv`, each with its columns by name.
fn rows(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder.join("tcp.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let names: Vec<String> = lines.next().unwrap().collect();
    lines.map(|line| names.iter().cloned().zip(line).collect()).collect()
}

/// Checks what must be true of the transfer's samples, whatever the clock.
fn check(fixture: &Fixture, algorithm: &str) {
    let folder = fixture.latest("measured");
    let all = rows(&folder);
    assert!(all.iter().all(|row| row["node"] == "client"), "only that node is measured");
    let sent = |row: &BTreeMap<String, String>| row["bytes_sent"].parse::<u64>().unwrap();
    let most = all.iter().max_by_key(|row| sent(row)).unwrap()["connection"].clone();
    let transfer: Vec<_> = all.iter().filter(|row| row["connection"] == most).collect();
    assert!(transfer.len() > 30, "{} rows", transfer.len());
    let time = |row: &BTreeMap<String, String>| row["time_s"].parse::<f64>().unwrap();
    assert!(transfer.is_sorted_by(|one, next| time(one) < time(next) && sent(one) <= sent(next)));
    assert!(time(transfer[0]) > 0.1 && time(transfer.last().unwrap()) < 3.5);
    // Of a connection whose other end has closed it, the kernel says nothing of the algorithm any more.
    let last = transfer.iter().rfind(|row| row["state"] == "established").unwrap();
    assert!(last["remote"].ends_with(":5201") && last["congestion"] == algorithm, "{last:?}");
    // Twice the link's delay, and what the kernel's clock does not show.
    let least: u64 = last["min_rtt_us"].parse().unwrap();
    assert!((19_990..60_000).contains(&least), "{least}");
    let rates = transfer.iter().filter_map(|row| row["delivery_rate_bits_per_second"].parse::<u64>().ok());
    assert!(rates.max().unwrap() > 5_000_000);
    assert_eq!(!last["bbr_bandwidth_bits_per_second"].is_empty(), algorithm == "bbr");
    let report = fixture.json("measured", "report.json");
    assert_eq!(report["tcp"]["rows"], all.len());
    fixture.netloom(&["results", "plot", "results/measured/latest"]).expect_code(0);
    let picture = fs::read_to_string(folder.join(format!("plots/tcp/client-{most}.svg"))).unwrap();
    assert!(picture.contains("congestion window") && picture.contains(algorithm), "{picture}");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains(&format!("{{\"node\":\"client\",\"connection\":{most},")), "the page has the connection");
}

#[test]
fn tcp_is_sampled_in_namespaces() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        // What a kernel allows namespaces is the machine's matter.
        let allowed = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
        fixture.write("lab.yaml", &lab("", "measure: {tcp: 10 ms}", allowed.trim()));
        fixture.netloom(&["run", "lab.yaml", "-q"]).expect_end();
        check(&fixture, allowed.trim());
        fixture.assert_nothing_is_left("measured");
        // A folder of samples has no names, and so nothing of it stays.
        let names = fs::read_dir(fixture.latest("measured")).unwrap().flatten().map(|entry| entry.file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".tmp")));
    }
}

#[test]
fn tcp_is_sampled_in_kernels_of_dilated_time() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("lab.yaml", &lab("clock: {dilation: 3}", "measure: {tcp: 10 ms}", "bbr"));
    fixture.netloom(&["run", "lab.yaml", "-q"]).expect_end();
    check(&fixture, "bbr");
}

/// The packets of a capture by interface: instants in nanoseconds, and bytes.
pub(crate) fn packets(path: &Path) -> BTreeMap<u32, Vec<(u64, Vec<u8>)>> {
    const ENHANCED_PACKET: u32 = 6;
    let bytes = fs::read(path).unwrap();
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut all, mut at) = (BTreeMap::<u32, Vec<_>>::new(), 0);
    while at < bytes.len() {
        if number(at) == ENHANCED_PACKET {
            let time = u64::from(number(at + 12)) << 32 | u64::from(number(at + 16));
            let length = number(at + 20) as usize;
            all.entry(number(at + 8)).or_default().push((time, bytes[at + 28..at + 28 + length].to_vec()));
        }
        at += number(at + 4) as usize;
    }
    all
}

/// Kernels hand over the state of their connections while no time passes.
#[test]
fn in_virtual_time_samples_shift_nothing() {
    let fixture = Fixture::with_kernel(User::Own);
    let results = ["", "measure: {tcp: 1 ms}", "measure: {tcp: 10 ms}"].map(|measure| {
        fixture.write("lab.yaml", &(lab("clock: virtual", measure, "cubic") + "journal: all\n"));
        fixture.netloom(&["run", "lab.yaml", "-q"]).expect_code(0);
        fixture.latest("measured").canonicalize().unwrap()
    });
    let count = packets(&results[0].join("captures/bottleneck.pcapng")).values().map(Vec::len).sum::<usize>();
    assert!(count > 4_000, "{count} packets");
    for file in
        ["captures/bottleneck.pcapng", "journal.arrows", "pipes.csv", "commands.json", "logs/02-client-transfer.stdout"]
    {
        let [without, often, seldom] = results.each_ref().map(|folder| fs::read(folder.join(file)).unwrap());
        assert!(without == often && without == seldom, "{file}");
    }
    let seen = rows(&results[1]);
    let nanoseconds = |row: &BTreeMap<String, String>| (row["time_s"].parse::<f64>().unwrap() * 1e9).round() as u64;
    assert!(seen.len() > 1_000 && seen.iter().all(|row| nanoseconds(row) % 1_000_000 == 0), "{} rows", seen.len());
    // What is sampled less often is what was there at those instants.
    let coarse = rows(&results[2]);
    let fine: Vec<_> = seen.iter().filter(|row| nanoseconds(row) % 10_000_000 == 0).collect();
    assert!(fine.iter().all(|row| coarse.contains(row)), "{} and {} rows", fine.len(), coarse.len());
    check(&fixture, "cubic");
}

/// Three connections over a link that holds more than the kernel has for TCP.
#[test]
fn that_tcp_ran_short_of_memory_is_told() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "
name: short
clock: virtual
duration: 3 s
nodes: {client: {sysctl: {net.ipv4.tcp_mem: 50 100 400}}, server: {}}
links: {wire: {ends: [client, server], rate: 100 Mbit/s, delay: 100 ms}}
timeline:
  - {on: server, run: iperf3 -s, service: true, ready: {tcp: 5201}}
  - {on: client, run: iperf3 -c server -P 3, may_fail: true}
";
    fixture.write("lab.yaml", lab);
    let said = fixture.netloom(&["run", "lab.yaml"]).expect_code(0).stdout;
    assert!(said.contains("node client: TCP ran short of memory") && !said.contains("node server: TCP"), "{said}");
}

/// curl writes down the keys of a connection, and a script stands for a program that writes qlog files.
#[test]
fn keys_and_qlog_files_are_collected() {
    const SERVE: &str = "openssl req -x509 -newkey rsa:2048 -nodes -keyout /tmp/key -out /tmp/cert -subj /CN=server 2> /tmp/log; \
                         exec openssl s_server -accept 4433 -key /tmp/key -cert /tmp/cert -www -quiet";
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("serve.sh", SERVE);
        fixture.write("ask.sh", "curl -sk -o /dev/null https://server:4433/ && echo {} > $QLOGDIR/1.qlog\n");
        fixture.write(
            "lab.yaml",
            "
name: secrets
nodes: {client: {}, server: {root: overlay, measure: {}}}
links: {access: {ends: [client, server], delay: 1 ms}}
measure: {tls_keys: true, qlog: true}
timeline:
  - {on: server, run: sh serve.sh, service: true, ready: {tcp: 4433}}
  - {on: client, run: sh ask.sh}
",
        );
        // Whether a busy machine delays packets is not what is tried.
        fixture.netloom(&["run", "lab.yaml", "-q"]).expect_end();
        let node = fixture.latest("secrets").join("nodes/client/run");
        let keys = fs::read_to_string(node.join("tls-keys/keys.log")).unwrap();
        assert!(keys.contains("CLIENT_TRAFFIC_SECRET_0 "), "{keys}");
        assert_eq!(fs::read_to_string(node.join("qlog/1.qlog")).unwrap(), "{}\n");
        fixture.assert_nothing_is_left("secrets");
    }
}
