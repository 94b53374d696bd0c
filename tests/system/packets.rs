//! What clients receive that have subscribed to packets.

use crate::client::Client;
use crate::fixture::{Fixture, User};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

const SUBSCRIBE: &str = r#"{"request":"subscribe","events":"packets","every_ns":20000000}"#;

/// Echo requests of 1,428 bytes take 22.848 ms each and come about every 10 ms, so that many find no room.
const EXACT: &str = "
name: exact
clock: virtual
nodes: [a, b]
links: {l: {ends: [a, b], rate: 500 kbit/s, delay: 30 ms, queue: 4 packets, state: {on_cut: lost}}}
journal: all
timeline:
  - {on: a, run: 'sleep 0.1; exec ping -4 -q -s 1400 -i 0.01 b', as: many, service: true, may_fail: true}
";

/// Lets the lab go on for two seconds, in which the link is cut for 50 ms, and reads what comes meanwhile.
fn watch(fixture: &Fixture, subscriptions: &[&str]) -> Vec<Value> {
    fixture.write("exact.yaml", EXACT);
    fixture.netloom(&["up", "exact.yaml", "-q"]).expect_code(0);
    let mut client = Client::connect(fixture, "exact");
    for subscription in subscriptions {
        assert_eq!(client.ask(subscription)["reply"], "done");
    }
    let mut told = Vec::new();
    let mut advance = |asked: &mut Client, ms: u64| {
        asked.send(&format!(r#"{{"request":"advance","by_ns":{}}}"#, ms * 1_000_000));
        loop {
            let message = asked.next();
            if message["reply"] == "now" {
                break;
            }
            if message["event"] == "packets" {
                assert_eq!(message["lost"], 0);
                told.push(message);
            }
        }
    };
    for (ms, state) in [(600, "down"), (50, "up"), (1_350, "up")] {
        advance(&mut client, ms);
        let set = format!(r#"{{"request":"set","link":"l","changes":[["state","{state}"]]}}"#);
        assert_eq!(client.ask(&set)["reply"], "done");
    }
    drop(client);
    fixture.netloom(&["down"]).expect_code(0);
    told
}

/// A row of the journal as a record has it, in lab time since the engine started.
fn as_record(row: &Value, zero: i64) -> Value {
    let at = |column: &str| row[column].as_i64().map(|at| at + zero);
    let drop = at("dropped_ns").map(|at| json!({"at_ns": at, "cause": row["cause"]}));
    json!([
        i64::from(row["direction"] == "backward"),
        at("arrived_ns"),
        at("started_ns"),
        at("sent_ns"),
        at("due_ns"),
        drop,
        row["size_bytes"],
    ])
}

fn told_as_journaled(record: &Value) -> Value {
    json!([
        record["pipe"],
        record["entered_ns"],
        record["start_ns"],
        record["sent_ns"],
        record["due_ns"],
        record["dropped"],
        record["bytes"],
    ])
}

/// To the nanosecond: each record is a row of the journal of the same run, and who receives packets changes no byte of that.
#[test]
fn packets_are_told_as_the_journal_has_them() {
    let fixture = Fixture::with_kernel(User::Own);
    let step = r#"{"request":"subscribe","events":"stats","every_ns":20000000}"#;
    assert!(watch(&fixture, &[step]).is_empty());
    let unwatched = fs::read(fixture.latest("exact").join("journal.arrows")).unwrap();
    let events = watch(&fixture, &[step, SUBSCRIBE]);
    let watched = fs::read(fixture.latest("exact").join("journal.arrows")).unwrap();
    assert!(unwatched == watched, "packets fare differently when they are watched");

    let first = &events[0];
    let zero = first["at_ns"].as_i64().unwrap() - first["since_zero_ns"].as_i64().unwrap();
    let journal = fixture.netloom(&["journal", "results/exact/latest", "--json"]).expect_code(0);
    let rows: Vec<Value> = journal.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows: BTreeSet<String> = rows.iter().map(|row| as_record(row, zero).to_string()).collect();

    // The last record of a packet is what became of it.
    let mut last: BTreeMap<(u64, u64), Value> = BTreeMap::new();
    let mut told_twice = 0;
    let mut latest = 0;
    for event in &events {
        let at = event["at_ns"].as_u64().unwrap();
        for record in event["packets"].as_array().unwrap() {
            let number = |key: &str| record[key].as_u64().unwrap();
            // What happens is sent at the first instant behind it.
            let known = record["dropped"]["at_ns"].as_u64().or(record["sent_ns"].as_u64()).unwrap();
            assert!(latest <= known && known < at, "{known} is told at {at}: {record}");
            let packet = (number("pipe"), number("packet"));
            if let Some(before) = last.insert(packet, record.clone()) {
                assert!(before["dropped"].is_null() && record["dropped"]["cause"] == "down", "{before} {record}");
                told_twice += 1;
            }
        }
        latest = at;
    }
    for record in last.values() {
        let row = told_as_journaled(record).to_string();
        assert!(rows.contains(&row), "no row of the journal is {row}");
        assert_eq!(record["segments"], 1);
    }
    let count = |is_meant: &dyn Fn(&Value) -> bool| last.values().filter(|record| is_meant(record)).count();
    // A pick every 20 ms, and of those that find no room, too. Some are on their way at the cut.
    let dropped = count(&|record| record["dropped"]["cause"] == "queue");
    let arrived = count(&|record| record["dropped"].is_null() && record["bytes"] == 1_428);
    assert!((20..=100).contains(&dropped) && (20..=200).contains(&arrived), "{dropped} and {arrived}");
    assert!(told_twice > 0 && count(&|record| record["dropped"]["cause"] == "down") >= told_twice);
    let flow = json!({"source": "10.0.0.1", "destination": "10.0.0.2", "protocol": "icmp"});
    assert!(count(&|record| record["flow"] == flow) > 20, "{last:#?}");
}

const BUSY: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: [a, b, c]
links: {first: {ends: [b, c]}, l: {ends: [a, b], rate: 500 kbit/s, delay: 150 ms, queue: 2 packets}}
timeline:
  - {on: a, run: 'exec ping -4 -q -s 1400 -i 0.004 10.0.0.6', as: many, service: true, may_fail: true}
";

/// In real time: what is sent and what is dropped, to each who asks, before it arrives.
#[test]
fn packets_are_told_while_they_travel() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("busy.yaml", BUSY);
        fixture.netloom(&["up", "busy.yaml", "-q"]).expect_code(0);
        let mut client = Client::connect(&fixture, "busy");
        let early = client.ask(r#"{"request":"subscribe","events":"packets","every_ns":1000000}"#);
        assert_eq!((&early["code"], &early["key"]), (&2.into(), &"every_ns".into()), "{early}");
        let hello = client.ask(r#"{"request":"hello","version":1}"#);
        assert!(hello["capabilities"].as_array().unwrap().contains(&"packets".into()), "{hello}");
        assert_eq!(client.ask(SUBSCRIBE)["reply"], "done");
        let mut other = Client::connect(&fixture, "busy");
        assert_eq!(other.ask(SUBSCRIBE)["reply"], "done");
        let since = other.next_that(|message| message["event"] == "packets")["at_ns"].as_u64().unwrap();
        let stats = client.ask(r#"{"request":"stats"}"#);
        let pipes = stats["pipes"].as_array().unwrap();
        let meant = pipes.iter().position(|pipe| pipe["link"] == "l" && pipe["from"] == "a").unwrap();

        let (mut sent, mut dropped, mut in_time) = (Vec::new(), 0, 0);
        let begun = Instant::now();
        while sent.len() < 10 || dropped < 10 || in_time == 0 {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "{} sent, {dropped} dropped, {in_time} in time",
                sent.len()
            );
            let event = client.next_that(|message| message["event"] == "packets");
            let at = event["at_ns"].as_u64().unwrap();
            for record in event["packets"].as_array().unwrap().iter().filter(|record| record["pipe"] == meant) {
                let number = |key: &str| record[key].as_u64().unwrap();
                if record["dropped"].is_null() {
                    // 1,428 bytes at a bit per two microseconds, half as fast as they come, and 150 ms.
                    assert_eq!(number("sent_ns") - number("start_ns"), number("bytes") * 16_000, "{record}");
                    assert_eq!(number("due_ns") - number("sent_ns"), 150_000_000, "{record}");
                    in_time += usize::from(number("due_ns") > at);
                    sent.push((number("packet"), number("entered_ns")));
                } else {
                    assert_eq!(record["dropped"], json!({"at_ns": number("entered_ns"), "cause": "queue"}));
                    assert!(record["due_ns"].is_null() && record["start_ns"].is_null(), "{record}");
                    dropped += 1;
                }
            }
        }
        assert!(sent.windows(2).all(|two| two[0].1 + 20_000_000 <= two[1].1), "a step apart: {sent:?}");
        // Whoever has subscribed, too, receives the same.
        let mut heard = BTreeSet::new();
        let last = sent[sent.len() - 1].0;
        while !heard.contains(&last) {
            let event = other.next_that(|message| message["event"] == "packets");
            let all = event["packets"].as_array().unwrap();
            heard.extend(all.iter().filter(|record| record["pipe"] == meant).filter_map(|one| one["packet"].as_u64()));
        }
        let mut both = sent.iter().filter(|(_, entered)| *entered > since);
        assert!(both.all(|(packet, _)| heard.contains(packet)), "{sent:?} {heard:?}");

        // When the last one has gone, none is picked; whoever comes then begins anew.
        assert_eq!(client.ask(r#"{"request":"unsubscribe","events":"packets"}"#)["reply"], "done");
        drop(other);
        client.next_now_that(|_| true);
        assert_eq!(client.ask(SUBSCRIBE)["reply"], "done");
        let event = client.next_that(|message| !message["packets"].as_array().is_none_or(Vec::is_empty));
        assert!(event["packets"][0]["packet"].as_u64().unwrap() < 5, "{event}");
        fixture.netloom(&["down"]).expect_code(0);
        fixture.assert_nothing_is_left("busy");
    }
}
