use super::*;

/// A lab with these figures; `client` is node 0 and `server` node 1, and `transfer` the first entry of the timeline.
fn plan(figures: &[&str]) -> Plan {
    let figures: Vec<String> =
        figures.iter().enumerate().map(|(place, text)| format!("  f{place}: {text}\n")).collect();
    let text = format!(
        "nodes: {{client: {{}}, server: {{}}}}\nlinks: {{l: {{ends: [client, server]}}}}\nmeasure: {{tcp: 10 ms}}\n\
         timeline: [{{on: client, run: 'true', as: transfer}}]\nfigures:\n{}",
        figures.concat()
    );
    netloom_lab::parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

/// Samples of a connection of a node: when, in ms, acknowledged and received bytes, busy time in ms, and the window.
struct Row(u64, u64, u64, u64, u64);

fn add(watch: &mut TcpWatch, node: usize, connection: u64, rows: &[Row]) {
    for Row(at, acked, received, busy, window) in rows {
        let seen = TcpSeen { at: Duration::from_millis(*at), node, connection };
        watch.add(seen, |column| match column {
            ACKED => Some(*acked),
            RECEIVED => Some(*received),
            BUSY => Some(busy * 1_000),
            "cwnd_packets" => Some(*window),
            "retransmissions" => Some(acked / 100_000),
            "srtt_us" => (*window > 10).then_some(window * 1_000),
            _ => None,
        });
    }
}

/// What each figure is in a run of ten seconds, and the note.
fn values(figures: &[&str], rows: impl Fn(&mut TcpWatch)) -> Vec<Result<(f64, Option<String>), String>> {
    let plan = plan(figures);
    let mut watch = TcpWatch::of(&plan);
    rows(&mut watch);
    let value = |term: &Term| {
        let Subject::Tcp { part, each, metric } = &term.subject else { panic!("it is of TCP") };
        let found = watch.value(*part, *each, *metric, term, Duration::from_secs(10));
        found.value.map(|value| match value {
            Measured::Number(number) => (number, found.note.clone()),
            Measured::Text(text) => panic!("{text}"),
        })
    };
    plan.figures.iter().map(|figure| value(&figure.term)).collect()
}

fn numbers(figures: &[&str], rows: impl Fn(&mut TcpWatch)) -> Vec<f64> {
    values(figures, rows).into_iter().map(|value| value.unwrap().0).collect()
}

/// 10 Mbit/s from 1 s to 2 s, then 30 Mbit/s up to 3 s; a connection for control beside it.
fn transfer(watch: &mut TcpWatch) {
    add(
        watch,
        0,
        0,
        &[Row(1_000, 0, 0, 0, 10), Row(2_000, 1_250_000, 0, 1_000, 20), Row(3_000, 5_000_000, 0, 2_000, 40)],
    );
    add(watch, 0, 1, &[Row(900, 0, 0, 0, 99), Row(3_100, 500, 700, 60, 99)]);
    add(watch, 1, 0, &[Row(1_000, 0, 0, 0, 10), Row(3_000, 0, 5_000_000, 0, 10)]);
    watch.is_of(0, 0, 0);
    watch.is_of(0, 1, 0);
}

/// 40 Mbit in two seconds are 20 Mbit/s; within 1.5 s to 2.5 s, the bytes of the sample at 2 s arrived, 10 Mbit.
#[test]
fn goodput_is_payload_by_time() {
    let figures = [
        "transfer.goodput",
        "client.goodput_sent",
        "server.goodput_received",
        "client.goodput during 1.5 s..2.5 s",
        "transfer.goodput during 0 s..5 s",
        "server.goodput_sent",
    ];
    let found = numbers(&figures, transfer);
    assert_eq!(found, [20e6, 20e6, 20e6, 10e6, 8e6, 0.0]);
}

/// The window is 10 for one second, 20 for one, and 40 for the 10 ms to the sample that would have been next.
#[test]
fn a_sample_lasts_until_the_next() {
    let figures = [
        "transfer.cwnd.max",
        "min(transfer.cwnd)",
        "median(transfer.cwnd)",
        "mean(transfer.cwnd)",
        "transfer.cwnd.max during 1 s..2 s",
        "mean(transfer.cwnd) during 1.5 s..2.5 s",
        "client.retransmissions",
        "client.retransmissions during 2 s..3 s",
        "max(transfer.srtt)",
    ];
    let found = numbers(&figures, transfer);
    assert_eq!(found[..3], [40.0, 10.0, 20.0]);
    assert!((found[3] - (10.0 + 20.0 + 0.4) / 2.01).abs() < 1e-9, "{found:?}");
    // At 2 s the window becomes 20, for which that window has no time.
    assert_eq!(found[4..], [10.0, 15.0, 50.0, 38.0, 40e6]);
}

/// Twenty steps of 100 ms: the bytes of a sample are in the step that ends with it.
#[test]
fn a_series_has_steps() {
    let found = numbers(&["max(transfer.goodput)", "median(transfer.goodput)", "mean(transfer.goodput)"], transfer);
    assert_eq!(found[..2], [300e6, 0.0]);
    assert!((found[2] - 20e6).abs() < 1e-3, "{found:?}");
}

/// Three flows of 1, 1 and 2 MB in the same second: (8 + 8 + 16)² / (3 · (64 + 64 + 256)) = 1024 / 1152. Each is looked at where it
/// sends, though its other end is sampled, too.
#[test]
fn flows_are_compared_at_the_end_that_sends() {
    let three = |watch: &mut TcpWatch| {
        for (connection, bytes) in [(0, 1_000_000), (1, 1_000_000), (2, 2_000_000)] {
            add(watch, 0, connection, &[Row(0, 0, 0, 0, 10), Row(1_000, bytes, 0, 900, 10)]);
            add(watch, 1, connection, &[Row(0, 0, 0, 0, 10), Row(1_000, 0, bytes, 0, 10)]);
        }
        add(watch, 0, 3, &[Row(0, 0, 0, 0, 10), Row(1_000, 300, 0, 20, 10)]);
    };
    let figures =
        ["jain(flows.goodput)", "count(flows.goodput)", "sum(flows.bytes_acked)", "min(client.flows.goodput)"];
    let found = values(&figures, three);
    let note = Some("3 flows, without 1 connection that carried next to nothing".to_owned());
    let expected = [1024.0 / 1152.0, 3.0, 4e6, 8e6];
    for (one, wanted) in found.iter().zip(expected) {
        let (number, own) = one.as_ref().unwrap();
        assert!((number - wanted).abs() < 1e-9 && *own == note, "{one:?}");
    }
}

/// What has something to send all the time, and nothing of it arrives, is what fairness is about.
#[test]
fn a_flow_that_starves_is_a_flow() {
    let two = |watch: &mut TcpWatch| {
        add(watch, 0, 0, &[Row(0, 0, 0, 0, 10), Row(1_000, 1_000_000, 0, 900, 10)]);
        add(watch, 0, 1, &[Row(0, 0, 0, 0, 10), Row(1_000, 1, 0, 990, 1)]);
    };
    let found = values(&["jain(flows.goodput)"], two);
    let (jain, note) = found[0].clone().unwrap();
    assert!((jain - 0.5).abs() < 1e-4, "{jain}");
    assert_eq!(note.as_deref(), Some("2 flows"));
}

#[test]
fn where_all_are_small_all_are_flows() {
    let found = numbers(&["client.goodput", "count(client.flows.goodput)"], |watch| {
        add(watch, 0, 0, &[Row(0, 0, 0, 0, 10), Row(1_000, 0, 1_000, 1, 10)]);
    });
    assert_eq!(found, [8e3, 1.0]);
}

/// What a connection had done before time zero is no part of the run.
#[test]
fn what_was_before_the_run_does_not_count() {
    let found = numbers(&["client.bytes_acked", "client.bytes_acked during 0 s..2 s"], |watch| {
        add(watch, 0, 0, &[Row(0, 5, 0, 0, 10), Row(0, 400_000, 0, 0, 10), Row(1_000, 1_000_000, 0, 900, 10)]);
    });
    assert_eq!(found, [600_000.0, 600_000.0]);
}

#[test]
fn what_did_not_occur_is_not_measured() {
    let found = values(
        &[
            "server.cwnd.max",
            "transfer.goodput during 9 s..11 s",
            "transfer.goodput during 8 s..9 s",
            "max(transfer.srtt) during 1 s..2 s",
        ],
        |watch| {
            add(watch, 0, 0, &[Row(1_000, 0, 0, 0, 10), Row(3_000, 5_000_000, 0, 2_000, 40)]);
            watch.is_of(0, 0, 0);
        },
    );
    let reasons: Vec<String> = found.into_iter().map(|value| value.unwrap_err()).collect();
    assert_eq!(
        reasons,
        [
            "no TCP connection of it was sampled",
            "the run ended before 11 s",
            "no TCP connection of it was sampled between 8 s and 9 s",
            "no sample has a value",
        ]
    );
    let once = values(&["client.goodput"], |watch| add(watch, 0, 0, &[Row(1_000, 900_000, 0, 0, 10)]));
    assert!(once[0].as_ref().unwrap_err().contains("sampled only once: write a shorter time than 10 ms"), "{once:?}");
    assert_eq!(numbers(&["count(flows.goodput)"], |_| {}), [0.0]);
}
