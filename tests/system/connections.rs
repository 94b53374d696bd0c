//! TCP connections of labs that are up, as clients receive them.

use crate::client::Client;
use crate::fixture::{Fixture, User};
use serde_json::{Value, json};
use std::fs;

/// A transfer over a bottleneck, and a node that has no connections.
const LAB: &str = "
name: flows
CLOCK

nodes: {client: {}, server: {}, idle: {}, hub: {kind: transit}}
links:
  bottleneck: {ends: [client, hub], rate: 10 Mbit/s, delay: 10 ms, queue: 40 packets}
  rest: {ends: [hub, server]}
  spare: {ends: [hub, idle]}
capture: [bottleneck]
timeline:
  - {on: server, run: iperf3 -s, service: true, ready: {tcp: 5201}, as: sink}
  - {on: client, run: [sh, -c, 'sleep 0.2; exec iperf3 -c server -t 40 -J'], service: true, as: transfer, may_fail: true}
";

fn lab(clock: &str) -> String {
    LAB.replace("CLOCK", clock)
}

/// The transfer's own connection in a sample, if it is there: that with most bytes.
fn transfer(sample: &Value, node: &str) -> Option<Value> {
    let node = sample["nodes"].as_array()?.iter().find(|one| one["node"] == node)?;
    let sent = |one: &&Value| one["figures"]["bytes_sent"].as_u64();
    node["connections"].as_array()?.iter().max_by_key(sent).cloned()
}

/// Waits until the transfer has sent so many bytes; its connection then.
fn until_sent(client: &mut Client, bytes: u64) -> Value {
    for _ in 0..600 {
        let sample = client.next_that(|message| message["event"] == "tcp");
        if let Some(found) =
            transfer(&sample, "client").filter(|found| found["figures"]["bytes_sent"].as_u64() > Some(bytes))
        {
            return found;
        }
    }
    panic!("the transfer has not sent {bytes} bytes in all this time");
}

fn check(found: &Value) {
    assert!(found["remote"].as_str().unwrap().ends_with(":5201"), "{found}");
    assert_eq!((&found["state"], found["congestion"].is_string()), (&"established".into(), true), "{found}");
    let figures = &found["figures"];
    // Twice the link's delay, and what the kernel's clock does not show.
    let least = figures["min_rtt_us"].as_u64().unwrap();
    assert!((19_990..80_000).contains(&least), "{found}");
    assert!(figures["cwnd_packets"].as_u64() > Some(1) && figures["bytes_acked"].as_u64() > Some(0), "{found}");
}

#[test]
fn connections_of_labs_that_are_up_are_told() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("lab.yaml", &lab(""));
        fixture.netloom(&["up", "lab.yaml", "-q"]).expect_code(0);
        let mut client = Client::connect(&fixture, "flows");
        what_cannot_be_is_refused(&mut client);
        let begin = client
            .ask(r#"{"id":1,"request":"subscribe","events":"tcp","every_ns":100000000,"nodes":["client","idle"]}"#);
        assert_eq!(begin["reply"], "done");
        let found = until_sent(&mut client, 200_000);
        check(&found);
        let sample = client.next_that(|message| message["event"] == "tcp");
        assert_eq!((&sample["id"], &sample["lost"]), (&1.into(), &0.into()));
        let names: Vec<&Value> = sample["nodes"].as_array().unwrap().iter().map(|node| &node["node"]).collect();
        assert_eq!(names, ["client", "idle"]);
        assert_eq!(sample["nodes"][1]["connections"], json!([]));
        assert_eq!(transfer(&sample, "client").unwrap()["connection"], found["connection"]);
        // Another client receives those of all nodes that run programs.
        let mut other = Client::connect(&fixture, "flows");
        assert_eq!(other.ask(r#"{"request":"subscribe","events":"tcp","every_ns":50000000}"#)["reply"], "done");
        let all = other.next();
        let of_all: Vec<&Value> = all["nodes"].as_array().unwrap().iter().map(|node| &node["node"]).collect();
        assert_eq!(of_all, ["client", "server", "idle"]);
        assert_eq!(client.ask(r#"{"request":"unsubscribe","events":"tcp"}"#)["reply"], "done");
        // Its verdict is about packets, which a busy machine makes late.
        fixture.netloom(&["down"]).expect_end();
        fixture.assert_nothing_is_left("flows");
    }
}

fn what_cannot_be_is_refused(client: &mut Client) {
    let refusals = [
        (r#""every_ns":1000000"#, "every_ns", "50 ms and above"),
        (r#""nodes":["client"]"#, "every_ns", "needs the key `every_ns`"),
        (r#""every_ns":100000000,"nodes":["client","clinet"]"#, "nodes[1]", "no node is called `clinet`"),
        (r#""every_ns":100000000,"nodes":["hub"]"#, "nodes[0]", "`hub` has no TCP connections"),
        (r#""every_ns":100000000,"stream":"stdout""#, "stream", "takes no key `stream`"),
    ];
    for (keys, key, what) in refusals {
        let reply = client.ask(&format!(r#"{{"request":"subscribe","events":"tcp",{keys}}}"#));
        assert_eq!((&reply["reply"], &reply["key"]), (&"refused".into(), &key.into()), "{reply}");
        assert!(reply["message"].as_str().unwrap().contains(what), "{reply}");
    }
}

/// Its kernels are asked and not waited for.
#[test]
fn connections_of_kernels_in_dilated_time_are_told() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("lab.yaml", &lab("clock: {dilation: 3}"));
    fixture.netloom(&["up", "lab.yaml", "-q"]).expect_code(0);
    let mut client = Client::connect(&fixture, "flows");
    client.ask(r#"{"request":"subscribe","events":"tcp","every_ns":100000000,"nodes":["client"]}"#);
    check(&until_sent(&mut client, 200_000));
    let sample = client.next_that(|message| message["event"] == "tcp");
    assert!(sample["nodes"][0]["at_ns"].as_u64() <= sample["at_ns"].as_u64(), "{sample}");
    fixture.netloom(&["down"]).expect_end();
}

/// Three seconds of the lab in virtual time, with so many clients that watch; the capture, and the samples of the first.
fn watched(clients: usize) -> (Vec<u8>, Vec<Value>) {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("lab.yaml", &lab("clock: virtual"));
    fixture.netloom(&["up", "lab.yaml", "-q"]).expect_code(0);
    let mut watching: Vec<Client> = (0..clients).map(|_| Client::connect(&fixture, "flows")).collect();
    for (number, client) in watching.iter_mut().enumerate() {
        let every = (number + 1) * 50_000_000;
        let begin =
            format!(r#"{{"request":"subscribe","events":"tcp","every_ns":{every},"nodes":["client","server"]}}"#);
        assert_eq!(client.ask(&begin)["reply"], "done");
    }
    let mut stepping = Client::connect(&fixture, "flows");
    assert_eq!(stepping.ask(r#"{"request":"advance","by_ns":3000000000}"#)["since_zero_ns"], 3_000_000_000_u64);
    let samples = watching.first_mut().map(|client| (0..55).map(|_| client.next()).collect());
    fixture.netloom(&["down"]).expect_code(0);
    let capture = fs::read(fixture.latest("flows").join("captures/bottleneck.pcapng")).unwrap();
    (capture, samples.unwrap_or_default())
}

/// Kernels hand over the state of their connections while no time passes: packets are the same to the nanosecond, whoever watches.
#[test]
fn in_virtual_time_who_watches_connections_shifts_nothing() {
    let (alone, _) = watched(0);
    let (shown, samples) = watched(2);
    assert!(alone.len() > 1_000_000 && alone == shown, "{} and {} bytes", alone.len(), shown.len());
    let times: Vec<u64> = samples.iter().map(|sample| sample["at_ns"].as_u64().unwrap()).collect();
    assert!(times.windows(2).all(|two| two[1] - two[0] == 50_000_000), "{times:?}");
    check(&transfer(samples.last().unwrap(), "client").unwrap());
    for sample in &samples {
        for node in sample["nodes"].as_array().unwrap() {
            let age = sample["at_ns"].as_u64().unwrap() - node["at_ns"].as_u64().unwrap();
            assert!(age <= 50_000_000 || node["connections"] == json!([]), "{age} ns in {sample}");
        }
    }
}
