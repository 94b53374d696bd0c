use super::*;
use crate::expect::{Expectation, JsonStep, Measured};
use netloom_units::Rate;

fn parsed(text: &str) -> Result<Expectation, String> {
    let commands = [("transfer".to_owned(), 3), ("ping-2".to_owned(), 5)];
    let links = ["access".to_owned(), "backbone".to_owned()];
    let pipes = [[vec![], vec![]], [vec!["voip".to_owned()], vec![]]];
    let names = Names { commands: &commands, links: &links, pipes: &pipes };
    match parse(text, &names) {
        Ok((subject, test, window)) => Ok(Expectation { line: 1, text: text.to_owned(), subject, test, window }),
        Err(ExpectError::Wrong(message) | ExpectError::UnknownSubject(message)) => Err(message),
    }
}

fn right(text: &str) -> Expectation {
    parsed(text).unwrap_or_else(|message| panic!("{text}: {message}"))
}

#[test]
fn subjects_are_commands_and_links() {
    assert_eq!(right("transfer.exit == 0").subject, Subject::Command { event: 3, metric: CommandMetric::Exit });
    assert_eq!(right("ping-2.duration<5 s").subject, Subject::Command { event: 5, metric: CommandMetric::Duration });
    let both = Subject::Link { link: 1, direction: None, pipe: None, metric: PipeMetric::Drops };
    assert_eq!(right("backbone.drops == 0").subject, both);
    let one = Subject::Link { link: 0, direction: Some(Direction::Backward), pipe: None, metric: PipeMetric::DelayP99 };
    assert_eq!(right("access.backward.delay_p99 < 5 ms").subject, one);
    let voip = |direction| Subject::Link { link: 1, direction, pipe: Some("voip".into()), metric: PipeMetric::Delay };
    assert_eq!(right("backbone.voip.delay < 5 ms").subject, voip(None));
    assert_eq!(right("backbone.forward.voip.delay < 5 ms").subject, voip(Some(Direction::Forward)));
    let elsewhere = parsed("backbone.backward.voip.delay < 5 ms").expect_err("it has none there");
    assert!(elsewhere.contains("there is no metric `voip.delay`"), "{elsewhere}");
}

#[test]
fn a_json_path_has_fields_and_items() {
    let expectation = right("transfer.json.end.streams[1].sender.bytes > 9.5e7");
    let Subject::Command { metric: CommandMetric::Json(path), .. } = expectation.subject else {
        panic!("it is about JSON");
    };
    assert_eq!(path.0[2], JsonStep::Item(1));
    assert_eq!(path.to_string(), "end.streams[1].sender.bytes");
    let document = serde_json::json!({ "end": { "streams": [1, { "sender": { "bytes": 7 } }] } });
    assert_eq!(path.find(&document), Ok(&serde_json::json!(7)));
    let other = serde_json::json!({ "end": { "streams": [1] } });
    assert_eq!(path.find(&other), Err("the output has no `end.streams[1]`".into()));
}

#[test]
fn windows_come_last_and_not_out_of_a_text() {
    let window = right("backbone.forward.throughput within 2 % of 98 Mbit/s during 2 s..5 s").window;
    assert_eq!(window, Some(Window { from: Duration::from_secs(2), to: Duration::from_secs(5) }));
    assert_eq!(right("access.drops == 0 during 500 ms .. 1 s").window.map(|w| w.to), Some(Duration::from_secs(1)));
    let test = right("transfer.stdout contains \"during 1 s..2 s\"").test;
    assert_eq!(test, Test::Contains("during 1 s..2 s".into()));
}

/// An expectation, a measured value, whether it holds, and the explanation.
#[test]
fn judgements_say_what_was_measured_and_wanted() {
    let number = Measured::Number;
    let text = |text: &str| Measured::Text(text.into());
    let cases = [
        ("transfer.exit == 0", number(0.0), true, "measured 0, wanted 0"),
        ("transfer.exit != 0", number(1.0), true, "measured 1, wanted anything but 0"),
        ("transfer.duration <= 10 s", number(10.25e9), false, "measured 10.25 s, wanted at most 10 s"),
        (
            "backbone.throughput within 2 % of 98 Mbit/s",
            number(96.04e6),
            true,
            "measured 96.04 Mbit/s, wanted 98 Mbit/s ± 2 %",
        ),
        (
            "backbone.throughput within 2 % of 98 Mbit/s",
            number(99.97e6),
            false,
            "measured 99.97 Mbit/s, wanted 98 Mbit/s ± 2 %",
        ),
        ("backbone.throughput > 0 bit/s", number(0.0), false, "measured 0 bit/s, wanted more than 0 bit/s"),
        ("backbone.delay within 500 us of 20 ms", number(20.5e6), true, "measured 20.5 ms, wanted 20 ms ± 500 us"),
        ("backbone.loss between 0.5 % and 1.5 %", number(0.004), false, "measured 0.4 %, wanted 0.5 % to 1.5 %"),
        ("backbone.utilization >= 99 %", number(0.9991), true, "measured 99.91 %, wanted at least 99 %"),
        (
            "backbone.queue_max < 100 packets",
            number(100.0),
            false,
            "measured 100 packets, wanted less than 100 packets",
        ),
        ("backbone.bytes >= 1 MB", number(1_234_567.0), true, "measured 1.235 MB, wanted at least 1 MB"),
        (
            "transfer.stdout contains \"0% loss\"",
            text("5 sent, 0% loss"),
            true,
            "the output (15 bytes) contains \"0% loss\"",
        ),
        ("transfer.stderr == \"\"", text("oh"), false, "measured \"oh\", wanted \"\""),
        ("transfer.json.a == \"x\\\"y\"", text("x\"y"), true, "measured \"x\\\"y\", wanted \"x\\\"y\""),
        (
            "transfer.json.a > 8e7",
            number(92_164_101.039_187_9),
            true,
            "measured 92164101.039, wanted more than 80000000",
        ),
        ("transfer.json.a > 0", number(0.000_015), true, "measured 0.000015, wanted more than 0"),
        ("transfer.json.a == 3", text("3"), false, "measured \"3\", wanted 3"),
    ];
    for (expectation, measured, met, explanation) in cases {
        let judgement = right(expectation).judge(&measured);
        assert_eq!((judgement.met, judgement.explanation.as_str()), (met, explanation), "{expectation}");
    }
    let unmeasured = right("backbone.delay < 5 ms").unmeasured("no packet was delivered");
    assert_eq!(unmeasured.explanation, "not measured: no packet was delivered; wanted less than 5 ms");
    assert!(!unmeasured.met);
}

#[test]
fn a_rate_of_zero_can_be_expected() {
    assert_eq!(right("access.throughput == 0 Mbit/s").test, Test::Equal(Wanted::Rate(None)));
    let one = Rate::from_bits_per_second(1_000_000);
    assert_eq!(right("access.throughput < 1 Mbit/s").test, Test::Less(Wanted::Rate(one)));
}

#[test]
fn wrong_expectations_say_what_would_be_right() {
    let rate = "write a rate like \"100 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, MB/s, GB/s)";
    let cases = [
        ("", "`` is neither a command nor a link of this lab: an expectation begins with the name of a command or a link, for example `backbone.forward.throughput`".to_owned()),
        ("transfr.exit == 0", "`transfr` is neither a command nor a link of this lab: did you mean `transfer`?".into()),
        ("transfer == 0", "command `transfer`: the metric is missing; known here: exit, duration, stdout, stderr, json".into()),
        ("transfer.code == 0", "command `transfer`: there is no metric `code`; known here: exit, duration, stdout, stderr, json".into()),
        ("transfer.json == 0", "`json` is not a path in a JSON document: write for example json.end.sum_received.bytes or json.list[0]".into()),
        ("transfer.exit", "nothing follows `transfer.exit`: write one of ==, !=, <=, >=, <, >, within, between, contains".into()),
        ("transfer.exit = 0", "`=` is not a comparison: write `==`".into()),
        ("transfer.exit is 0", "`is` is not a comparison: write one of ==, !=, <=, >=, <, >, within, between, contains".into()),
        ("transfer.exit == ", "nothing follows `==`".into()),
        ("transfer.exit == ok", "`transfer.exit`: \"ok\" is not a number: write for example 0 or 9.5e7, without a unit".into()),
        ("transfer.exit == 0 during 1 s..2 s", "`transfer.exit` is known for the whole run only: `during` is for links".into()),
        ("transfer.stdout > \"a\"", "`transfer.stdout` is a text: use contains, == or !=".into()),
        ("transfer.stdout contains a", "a is not a text in double quotes: write for example \"0% packet loss\"".into()),
        ("access.throughput > 3 ms", format!("`access.throughput`: \"3 ms\" has the unknown unit `ms`: {rate}")),
        ("access.throughput > 3", format!("`access.throughput`: \"3\" has no unit: {rate}")),
        ("access.drops contains \"x\"", "`access.drops` is not a text: `contains` is for stdout, stderr and json".into()),
        ("access.drops == 0.5", "`access.drops`: \"0.5\" is not a number of packets: write for example 100 or 100 packets".into()),
        ("access.loss within 1 % of 5 %", "a percentage of a percentage is ambiguous: write `between X % and Y %`".into()),
        ("access.delay between 5 ms and 1 ms", "nothing lies between 5 ms and 1 ms: write the smaller one first".into()),
        ("access.delay between 5 ms", "write `between X and Y`".into()),
        ("access.delay within 5 ms", "write `within 2 % of X` or `within 5 ms of X`".into()),
        ("access.drops == 0 during 2 s", "`during 2 s`: write for example `during 2 s..5 s`".into()),
        ("access.drops == 0 during 2 s..1 s", "`during 2 s..1 s` ends before it begins: write the earlier time first".into()),
        ("access.delay_p50 < 1 s during 1 s..2 s", "`delay_p50` is known for the whole run only: `during` is for throughput, offered, delay, queue_max, drops, marks, loss, utilization, packets or bytes".into()),
    ];
    for (text, message) in cases {
        assert_eq!(parsed(text).err().as_deref(), Some(message.as_str()), "{text}");
    }
}
