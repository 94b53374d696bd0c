//! Journals of runs: what the program says of them, and what is in them.

use crate::fixture::{Fixture, User};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

const LAB: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {}, r: {kind: router}, b: {}}
links:
  access: {ends: [a, r]}
  far: {ends: [r, b], rate: 20 Mbit/s, delay: 5 ms, queue: 20 packets}
journal: all
timeline:
  - {on: b, run: iperf3 -s, ready: {tcp: 5201}}
  # The services' last packets are gone before anything is counted, and those of the transfer before the end.
  - {at: 500 ms, on: a, run: iperf3 -4 -c b -t 1, as: transfer}
  - {at: 700 ms, on: a, run: ping -4 -c 4 -i 0.1 b}
  - {at: 1200 ms, link: far, down: 20 ms}
  - {on: a, run: sleep 3}
";

/// Rows of CSV, by their headings.
fn rows(csv: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = csv.lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(|line| heading.iter().copied().zip(line.split(',')).collect()).collect()
}

fn number(row: &BTreeMap<&str, &str>, column: &str) -> u64 {
    row[column].parse().unwrap()
}

#[test]
fn a_journal_has_every_packet_of_a_run_and_what_became_of_it() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("noted.yaml", LAB);
        let run = fixture.netloom(&["run", "noted.yaml"]).expect_code(0);
        assert!(!run.stdout.contains("journal lacks"), "{run:#?}");
        let report = fixture.json("noted", "report.json");
        assert_eq!(report["journal"]["lost_packets"], 0);
        let summary =
            fixture.netloom(&["journal", "results/noted/latest", "--summary", "--format", "csv"]).expect_code(0);
        let told = rows(&summary.stdout);
        let counted = fixture.json("noted", "pipes.json");
        let counted = counted.as_array().unwrap();
        assert_eq!(told.len(), 4);
        for (row, pipe) in told.iter().zip(counted) {
            let count = |column: &str| pipe[column].as_u64().unwrap();
            assert_eq!(
                (row["link"], row["direction"]),
                (pipe["link"].as_str().unwrap(), pipe["direction"].as_str().unwrap())
            );
            let all = count("in_flight_at_start_packets") + count("arrived_packets");
            assert_eq!(number(row, "packets"), all, "{row:?}");
            assert_eq!(number(row, "delivered_packets"), count("departed_packets"), "{row:?}");
            for cause in ["loss", "queue", "early", "down"] {
                let column = format!("dropped_{cause}_packets");
                assert_eq!(number(row, &column), count(&column), "{row:?}");
            }
        }
        let total: u64 = told.iter().map(|row| number(row, "packets")).sum();
        assert_eq!(report["journal"]["packets"].as_u64(), Some(total));
        packets_of_the_queue(&fixture);
    }
}

/// Instants follow from one another, filters choose, and mahimahi's log has the same packets.
fn packets_of_the_queue(fixture: &Fixture) {
    let far = ["journal", "results/noted/latest", "--link", "far.forward"];
    let all = fixture.netloom(&[&far[..], &["--format", "csv"]].concat()).expect_code(0);
    let packets = rows(&all.stdout);
    let at = |row: &BTreeMap<&str, &str>, column: &str| row[column].parse::<i64>().unwrap();
    let delivered: Vec<_> = packets.iter().filter(|row| row["outcome"] == "delivered").collect();
    assert!(delivered.len() > 100);
    for row in &delivered {
        let bits = at(row, "size_bytes") * 8;
        // 20 Mbit/s are 50 ns per bit; the delay is 5 ms; and nobody is early.
        assert!((at(row, "sent_ns") - at(row, "started_ns") - bits * 50).abs() <= 1, "{row:?}");
        assert_eq!(at(row, "due_ns") - at(row, "sent_ns"), 5_000_000, "{row:?}");
        assert!(
            at(row, "started_ns") >= at(row, "arrived_ns") && at(row, "delivered_ns") >= at(row, "due_ns"),
            "{row:?}"
        );
    }
    let transfer = [&far[..], &["--match", "tcp port 5201", "--dropped", "--json"]].concat();
    let dropped = fixture.netloom(&transfer).expect_code(0);
    assert!(dropped.stdout.lines().count() > 0);
    for line in dropped.stdout.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((&row["outcome"], &row["protocol"]), (&"dropped".into(), &6.into()), "{row}");
        assert!(["queue", "down"].contains(&row["cause"].as_str().unwrap()), "{row}");
    }
    let log = fixture.netloom(&[&far[..], &["--format", "mahimahi"]].concat()).expect_code(0);
    let lines = |mark: &str| log.stdout.lines().filter(|line| line.split(' ').nth(1) == Some(mark)).count();
    assert_eq!(lines("+"), packets.len());
    assert_eq!(lines("-") + lines("d"), packets.iter().filter(|row| row["outcome"] != "inside").count());
    assert!(lines("#") > 1_000);
}

#[test]
fn a_journal_that_is_damaged_is_read_up_to_there() {
    let fixture = Fixture::new(User::Own);
    fixture.write(
        "noted.yaml",
        &format!(
            "{}traffic: [{{from: a, to: b, kind: constant, rate: 9 Mbit/s, size: 100 B}}]\n",
            LAB.split("timeline").next().unwrap()
        ),
    );
    fixture.netloom(&["sim", "noted.yaml", "--for", "2s"]).expect_code(0);
    let journal = fixture.work().join("results/noted/latest/journal.arrows");
    let whole = fs::read(&journal).unwrap();
    let count = |code: i32| {
        let told = fixture.netloom(&["journal", "journal.arrows", "--format", "csv"]).expect_code(code);
        (told.stdout.lines().count() - 1, told.stderr)
    };
    fs::write(fixture.work().join("journal.arrows"), &whole).unwrap();
    let (all, _) = count(0);
    assert!(all > 40_000, "{all}");
    fs::write(fixture.work().join("journal.arrows"), &whole[..whole.len() * 2 / 3]).unwrap();
    let (some, said) = count(2);
    assert!(
        some > 8_000
            && some < all
            && said.contains("without its end mark")
            && said.contains(&format!("the {some} packets before")),
        "{said}"
    );
    fs::write(fixture.work().join("journal.arrows"), b"not a journal, but long enough").unwrap();
    let told = fixture.netloom(&["journal", "journal.arrows"]).expect_code(2);
    assert!(told.stderr.contains("no journal of netloom"), "{told:#?}");
    let none = fixture.netloom(&["journal", "results"]).expect_code(2);
    assert!(none.stderr.contains("journal: all"), "{none:#?}");
    let unknown = fixture.netloom(&["journal", "results/noted/latest", "--link", "fra"]).expect_code(2);
    assert!(unknown.stderr.contains("access, far"), "{unknown:#?}");
}

/// A service sends from two seconds before time zero on, and the kernels say something when their interfaces come up: some of it is in flight
/// then. Tables, samples and journal begin there, and balance.
#[test]
fn everything_counts_from_time_zero_on() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write(
        "early.yaml",
        "
clock: virtual
duration: 3 s
nodes: {a: {}, b: {}}
links:
  l: {ends: [a, b], rate: 2 Mbit/s, delay: 400 ms, queue: 1000 packets}
  slow: {ends: [a, b], delay: 5 s}
timeline:
  - {on: a, run: ping -4 -i 0.01 -s 200 -I eth0 b, service: true, ready: {pause: 2 s}}
journal: all
",
    );
    fixture.netloom(&["run", "early.yaml", "-q"]).expect_code(0);
    let summary = fixture.netloom(&["journal", "results/early/latest", "--summary", "--format", "csv"]).expect_code(0);
    let samples = fs::read_to_string(fixture.latest("early").join("samples.csv")).unwrap();
    let counted = fixture.json("early", "pipes.json");
    let dropped = ["loss", "queue", "early", "down"].map(|cause| format!("dropped_{cause}_packets"));
    for (told, pipe) in rows(&summary.stdout).iter().zip(counted.as_array().unwrap()) {
        let count = |column: &str| pipe[column].as_u64().unwrap();
        let drops: u64 = dropped.iter().map(|column| count(column)).sum();
        let all = count("in_flight_at_start_packets") + count("arrived_packets") + count("duplicated_packets");
        assert!(count("in_flight_at_start_packets") > 0, "{pipe:#}");
        assert_eq!(all, count("departed_packets") + drops + count("in_flight_at_end_packets"), "{pipe:#}");
        assert_eq!(number(told, "packets"), all, "{told:?}");
        assert_eq!(number(told, "in_flight_at_start_packets"), count("in_flight_at_start_packets"), "{told:?}");
        assert_eq!(number(told, "delivered_packets"), count("departed_packets"), "{told:?}");
        assert_eq!(number(told, "inside_packets"), count("in_flight_at_end_packets"), "{told:?}");
        let is_own = |row: &BTreeMap<&str, &str>| row["link"] == told["link"] && row["direction"] == told["direction"];
        let own: Vec<_> = rows(&samples).into_iter().filter(is_own).collect();
        assert_eq!((own[0]["time_s"], number(&own[0], "arrived_packets")), ("0.000", 0));
        assert_eq!(number(&own[0], "in_flight_packets"), count("in_flight_at_start_packets"));
        for row in &own {
            let gone = dropped.iter().map(|column| number(row, column)).sum::<u64>() + number(row, "departed_packets");
            let came = number(&own[0], "in_flight_packets") + number(row, "arrived_packets");
            assert_eq!(came, gone + number(row, "in_flight_packets"), "{row:?}");
        }
    }
}

/// Whoever is killed: what was written until then can be read.
#[test]
fn a_run_that_is_killed_leaves_its_journal() {
    let fixture = Fixture::new(User::Own);
    fixture.write("noted.yaml", LAB);
    let mut run = fixture.command(&["run", "noted.yaml"]).spawn().unwrap();
    let latest = fixture.work().join("results/noted/latest/journal.arrows");
    let size = || fs::metadata(&latest).map_or(0, |file| file.len());
    for _ in 0..1_000 {
        if size() > 20_000 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(size() > 20_000);
    assert!(Command::new("kill").args(["-9", &run.id().to_string()]).status().unwrap().success());
    run.wait().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let told = fixture.netloom(&["journal", "results/noted/latest", "--summary"]);
    assert!(told.stdout.contains("far.forward"), "{told:#?}");
}

/// Two stations collide: `--attempts` shows what was on the air, and a journal without attempts says how to get them.
#[test]
fn a_journal_shows_attempts_on_the_air() {
    let user = User::some().into_iter().next().expect("somebody");
    let fixture = Fixture::new(user);
    let lab = |journal: &str| {
        format!(
            "nodes: [ap, s, t]\nlinks: {{wifi: {{ends: [ap, s, t], medium: {{kind: wifi, standard: a, access_point: ap}}}}}}\n\
             traffic:\n  - {{from: s, to: ap, kind: constant, rate: 20 Mbit/s, size: 1500 B}}\n  - {{from: t, to: ap, kind: constant, rate: 20 Mbit/s, size: 1500 B}}\n\
             journal: {journal}\n"
        )
    };
    fixture.write("tried.yaml", &lab("{attempts: true}"));
    fixture.write("plain.yaml", &lab("all"));
    for name in ["tried", "plain"] {
        fixture.netloom(&["sim", &format!("{name}.yaml"), "--for", "100ms"]).expect_code(0);
    }
    let asked = |more: &[&str]| {
        let all = [&["journal", "results/tried/latest", "--attempts"], more].concat();
        fixture.netloom(&all).expect_code(0).stdout
    };
    let csv = asked(&["--format", "csv"]);
    let all = rows(&csv);
    assert!(all.len() > 100 && all.iter().all(|row| number(row, "rate_kilobits_per_second") == 54_000));
    let again = all.iter().find(|row| row["attempt"] == "2").expect("somebody is sent again");
    assert!(["s", "t"].contains(&again["sender"]) && again["receiver"] == "ap", "{again:?}");
    let lost = asked(&["--dropped", "--format", "csv"]);
    assert!(!rows(&lost).is_empty() && rows(&lost).iter().all(|row| row["outcome"] == "lost"));
    let table = asked(&["-n", "3"]);
    assert_eq!(table.lines().count(), 4);
    assert!(table.contains("54.0 Mbit/s") && table.contains(" > ap"), "{table}");
    // Packets are as they are without.
    let packets = |name: &str| {
        let folder = format!("results/{name}/latest");
        fixture.netloom(&["journal", &folder, "--format", "csv"]).expect_code(0).stdout
    };
    assert_eq!(packets("tried"), packets("plain"));
    let refused = fixture.netloom(&["journal", "results/plain/latest", "--attempts"]).expect_code(2);
    assert!(refused.stderr.contains("journal: {attempts: true}"), "{refused:#?}");
    fixture.netloom(&["journal", "results/tried/latest", "--attempts", "--format", "mahimahi"]).expect_code(2);
}
