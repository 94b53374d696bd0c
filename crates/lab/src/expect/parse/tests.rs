mod stations;

use super::*;
use crate::direction::Direction;
use crate::expect::{
    CommandMetric, Expectation, Function, JsonStep, Measured, PipeMetric, Subject, TcpMetric, TcpPart, Wanted,
};
use netloom_link::Sender;
use netloom_units::Rate;
use std::net::Ipv4Addr;

fn read(text: &str) -> Result<Parsed, ExpectError> {
    with_names(|names| parse(text, names))
}

/// Calls `read` with what can be named.
fn with_names<T>(read: impl FnOnce(&Names<'_>) -> T) -> T {
    let commands = [("transfer".to_owned(), 3, 0), ("ping-2".to_owned(), 5, 1)];
    let links = ["access", "backbone", "wifi", "field"].map(str::to_owned);
    let pipes = [[vec![], vec![]], [vec!["voip".to_owned()], vec![]], [vec![], vec![]], [vec![], vec![]]];
    let wifi = |stations: &[&str], has_signals| OnAir {
        stations: stations.iter().map(|name| (*name).to_owned()).collect(),
        has_signals,
    };
    let air = [None, None, Some(wifi(&["client", "server"], false)), Some(wifi(&["server", "phone"], true))];
    let nodes = [("client".to_owned(), Sampled { tcp: true, node: false }), ("server".to_owned(), Sampled::default())];
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let groups = vec![
        vec![("cc".to_owned(), values(&["bbr", "cubic"]))],
        vec![("rate".to_owned(), values(&["1 Mbit/s", "10 Mbit/s"])), ("delay".to_owned(), values(&["1 ms", "5 ms"]))],
    ];
    let here = vec![("cc".to_owned(), "bbr".to_owned())];
    let points = Points { groups: groups.into(), here };
    let addresses = Nodes {
        addresses: [("client".to_owned(), vec![Ipv4Addr::new(10, 0, 0, 1).into()])].into(),
        ..Default::default()
    };
    let mut names = Names {
        commands: &commands,
        links: &links,
        pipes: &pipes,
        nodes: &nodes,
        air: &air,
        figures: &[],
        points: &points,
        addresses: Some(&addresses),
    };
    let figure = |name: &str, text: &str, known: &Names<'_>| {
        let (term, unit) = parse_figure(text, known).expect("it is right");
        Figure { name: name.into(), line: 1, text: text.into(), term, unit }
    };
    let figures = [
        figure("printed", "transfer.json.end.bits in Mbit/s", &names),
        figure("late", "backbone.lateness.p99 during 1 s..2 s", &names),
    ];
    names.figures = &figures;
    read(&names)
}

fn parsed(text: &str) -> Result<Expectation, String> {
    match read(text) {
        Ok(Parsed::Run(term, test)) => Ok(Expectation { line: 1, text: text.to_owned(), term: *term, test }),
        Ok(Parsed::Runs(_)) => Err("it is of many runs".into()),
        Err(error) => Err(error.message),
    }
}

fn of_runs(text: &str) -> (Term, Test) {
    match read(text) {
        Ok(Parsed::Runs(RunsTest::Holds(term, test))) => (*term, test),
        other => panic!("{text}: {other:?}"),
    }
}

/// The text of what is wrong.
fn wrong_part(text: &str) -> String {
    let error = read(text).expect_err(text);
    text[error.at].to_owned()
}

fn right(text: &str) -> Expectation {
    parsed(text).unwrap_or_else(|message| panic!("{text}: {message}"))
}

#[test]
fn subjects_are_commands_and_links() {
    assert_eq!(right("transfer.exit == 0").term.subject, Subject::Command { event: 3, metric: CommandMetric::Exit });
    assert_eq!(
        right("ping-2.duration<5 s").term.subject,
        Subject::Command { event: 5, metric: CommandMetric::Duration }
    );
    let both =
        Subject::Link { link: 1, direction: None, pipe: None, metric: PipeMetric::Drops, station: None, only: None };
    assert_eq!(right("backbone.drops == 0").term.subject, both);
    let one = Subject::Link {
        link: 0,
        direction: Some(Direction::Backward),
        pipe: None,
        metric: PipeMetric::DelayP99,
        station: None,
        only: None,
    };
    assert_eq!(right("access.backward.delay_p99 < 5 ms").term.subject, one);
    let voip = |direction| Subject::Link {
        link: 1,
        direction,
        pipe: Some("voip".into()),
        metric: PipeMetric::Delay,
        station: None,
        only: None,
    };
    assert_eq!(right("backbone.voip.delay < 5 ms").term.subject, voip(None));
    assert_eq!(right("backbone.forward.voip.delay < 5 ms").term.subject, voip(Some(Direction::Forward)));
    let elsewhere = parsed("backbone.backward.voip.delay < 5 ms").expect_err("it has none there");
    assert!(elsewhere.contains("there is no metric `voip.delay`"), "{elsewhere}");
}

#[test]
fn a_json_path_has_fields_and_items() {
    let expectation = right("transfer.json.end.streams[1].sender.bytes > 9.5e7");
    let Subject::Command { metric: CommandMetric::Json(path), .. } = expectation.term.subject else {
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
    let window = right("backbone.forward.throughput within 2 % of 98 Mbit/s during 2 s..5 s").term.window;
    assert_eq!(window, Some(Window { from: Duration::from_secs(2), to: Duration::from_secs(5) }));
    assert_eq!(right("access.drops == 0 during 500 ms .. 1 s").term.window.map(|w| w.to), Some(Duration::from_secs(1)));
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
        let expected = right(expectation);
        let judgement = expected.settle(&mut |_| panic!("there is no other term")).unwrap().judge(&measured);
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
        ("", "this lab has no command, link, node or figure ``: write for example `backbone.forward.throughput`".to_owned()),
        ("transfr.exit == 0", "this lab has no command, link, node or figure `transfr`: did you mean `transfer`?".into()),
        ("transfer == 0", "command `transfer`: the metric is missing; known here: exit, duration, stdout, stderr, json, goodput, goodput_sent, goodput_received, cwnd, ssthresh, srtt, rttvar, min_rtt, rto, delivery_rate, pacing_rate, unacked, bytes_sent, bytes_acked, bytes_received, bytes_retransmitted, retransmissions, delivered, delivered_ce".into()),
        ("transfer.code == 0", "command `transfer`: there is no metric `code`; known here: exit, duration, stdout, stderr, json, goodput, goodput_sent, goodput_received, cwnd, ssthresh, srtt, rttvar, min_rtt, rto, delivery_rate, pacing_rate, unacked, bytes_sent, bytes_acked, bytes_received, bytes_retransmitted, retransmissions, delivered, delivered_ce".into()),
        ("transfer.json == 0", "`json` is not a path in a JSON document: write for example json.end.sum_received.bytes or json.list[0]".into()),
        ("transfer.exit", "nothing follows `transfer.exit`: write one of ==, !=, <=, >=, <, >, within, between, contains".into()),
        ("transfer.exit = 0", "`=` is not a comparison: write `==`".into()),
        ("transfer.exit is 0", "`is` is not a comparison: write one of ==, !=, <=, >=, <, >, within, between, contains".into()),
        ("transfer.exit == ", "nothing follows `==`".into()),
        ("transfer.exit == ok", "`transfer.exit`: \"ok\" is not a number: write for example 0 or 9.5e7, without a unit".into()),
        ("transfer.exit == 0 during 1 s..2 s", "`transfer.exit` is known for the whole run only: `during` is for links and TCP connections".into()),
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
    ];
    for (text, message) in cases {
        assert_eq!(parsed(text).err().as_deref(), Some(message.as_str()), "{text}");
    }
}

#[test]
fn functions_stand_before_or_behind() {
    let functions = |text: &str| right(text).term.functions;
    let p99 = vec![Function::Percentile(99.0)];
    assert_eq!(functions("p99(backbone.forward.delay) within 5 % of 20 ms"), p99);
    assert_eq!(functions("backbone.forward.delay.p99 within 5 % of 20 ms"), p99);
    assert_eq!(functions("backbone.lateness.p99.9 < 1 ms"), [Function::Percentile(99.9)]);
    assert_eq!(functions("transfer.cwnd.max < 200 packets during 2 s..5 s"), [Function::Max]);
    assert_eq!(functions("max( mean(client.flows.srtt) ) < 5 ms"), [Function::Mean, Function::Max]);
    assert_eq!(functions("transfer.json.end.max > 5"), []);
    let jain = right("jain(flows.goodput during 1 s..2 s) > 0.95").term;
    assert_eq!(jain.subject, Subject::Tcp { part: TcpPart::All, each: true, metric: TcpMetric::Goodput });
    assert_eq!((jain.steps(), jain.dimension), ((None, Some(Function::Jain)), Dimension::Number));
    assert_eq!(jain.window, Some(Window { from: Duration::from_secs(1), to: Duration::from_secs(2) }));
    let flows = right("jain(flows.srtt.mean) > 0.5").term;
    assert_eq!(flows.steps(), (Some(Function::Mean), Some(Function::Jain)));
    assert_eq!(right("transfer.retransmissions == 0").term.steps(), (None, None));
    assert_eq!(right("mean(backbone.forward.queue) < 20.5 packets").test, Test::Less(Wanted::Packets(20.5)));
}

#[test]
fn terms_stand_on_both_sides() {
    let test = right("access.forward.throughput > 0.5 * backbone.forward.throughput").test;
    let Test::More(Wanted::Term(0.5, term)) = &test else { panic!("{test:?}") };
    assert_eq!(term.text, "backbone.forward.throughput");
    let settled = test.settle(Dimension::Rate, &mut |_| Ok(9e6)).unwrap();
    let judged = settled.judge(&Measured::Number(4e6));
    assert!(!judged.met);
    let told = "measured 4 Mbit/s, wanted more than 0.5 * backbone.forward.throughput (4.5 Mbit/s)";
    assert_eq!(judged.explanation, told);
    assert!(settled.judge(&Measured::Number(4.6e6)).met);
    let missing = test.settle(Dimension::Rate, &mut |_| Err("it is gone".into()));
    assert_eq!(missing.err().as_deref(), Some("it is gone"));
    assert!(matches!(right("printed within 5 % of backbone.forward.throughput").test, Test::WithinShare(..)));
    assert!(matches!(right("printed between 1 kbit/s and backbone.forward.throughput").test, Test::Between(..)));
    assert_eq!(right("printed > 5 Mbit/s").term.factor, 1e6);
}

#[test]
fn expectations_of_many_runs() {
    let all = read("  all runs  as described ").unwrap();
    assert_eq!(all, Parsed::Runs(RunsTest::AllAsDescribed));
    let (term, _) = of_runs("mean(transfer.goodput) > 90 Mbit/s over runs");
    let over = term.over.unwrap();
    assert_eq!(
        (over.function, over.inner.as_str(), over.figure, over.is_here),
        (Function::Mean, "transfer.goodput", None, true)
    );
    assert_eq!(term.functions, []);
    let (nested, _) = of_runs("mean(p99(backbone.forward.delay)) < 30 ms during 1 s..2 s over runs");
    assert_eq!(nested.over.unwrap().inner, "p99(backbone.forward.delay) during 1 s..2 s");
    assert_eq!(nested.functions, [Function::Percentile(99.0)]);
    let (compared, test) = of_runs("median(printed | cc=bbr) > 1.2 * median(printed|cc = cubic, rate=10Mbit/s)");
    let here = compared.over.unwrap();
    assert_eq!((here.figure.as_deref(), here.is_here), (Some("printed"), true));
    assert_eq!(compared.dimension, Dimension::Rate);
    let other = test.terms().next().unwrap().over.clone().unwrap();
    assert_eq!((other.conditions[1].value.as_str(), other.is_here), ("10 Mbit/s", false));
    let (worst, _) = of_runs("max(late) < 1 ms over runs");
    assert_eq!(worst.over.unwrap().figure.as_deref(), Some("late"));
    for text in
        ["mean(a.b) > 1 over runs", "mean(x | y=z) > 1", "all runs as you like", "a.b > 3 over runs during 1 s..2 s"]
    {
        assert!(is_over_runs(text), "{text}");
    }
    for text in
        ["a.stdout contains \"x | over runs\"", "a.b > 3 during 1 s..2 s", "", "overall.exit == 0", "allruns.exit == 0"]
    {
        assert!(!is_over_runs(text), "{text}");
    }
}

/// What names something that other points have is no mistake here.
#[test]
fn terms_of_other_points_may_name_what_is_there_alone() {
    let kind = |text: &str| read(text).expect_err(text).kind;
    assert_eq!(kind("mean(n5.goodput | cc=cubic) > 1 Mbit/s"), Wrong::Elsewhere);
    assert_eq!(kind("mean(n5.goodput | cc=bbr) > 1 Mbit/s"), Wrong::Subject);
    assert_eq!(kind("mean(n5.goodput | cc=reno) > 1 Mbit/s"), Wrong::Subject);
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let cases = [
        ("transfr.exit == 0", "transfr"),
        ("p99(backbon.delay) < 5 ms", "backbon"),
        ("avg(backbone.delay) < 5 ms", "avg"),
        ("backbone.forward.dely < 5 ms", "forward.dely"),
        ("access.delay < 5 Mbit/s", "5 Mbit/s"),
        ("access.delay < 5 ms during 2 s", "during 2 s"),
        ("median(printed | cc=reno) > 1 Mbit/s", "cc=reno"),
        ("median(printed | c=bbr) > 1 Mbit/s", "c=bbr"),
        ("access.delay < backbone.forward.throughput", "backbone.forward.throughput"),
        ("access.delay < 2 * backbone.forward.dely", "forward.dely"),
        ("p99(backbone.delay < 5 ms", "< 5 ms"),
    ];
    for (text, part) in cases {
        assert_eq!(wrong_part(text), part, "{text}");
    }
}

/// Each text is wrong, and this is what is said of it.
fn assert_said(cases: &[(&str, &str)]) {
    for (text, message) in cases {
        assert_eq!(read(text).err().map(|error| error.message).as_deref(), Some(*message), "{text}");
    }
}

#[test]
fn wrong_functions_say_what_would_be_right() {
    assert_said(&[
        (
            "avg(backbone.delay) < 5 ms",
            "there is no function `avg`: known are mean, median, min, max, p1 to p99.9, sum, count, stddev, jain",
        ),
        (
            "medain(backbone.delay) < 5 ms",
            "there is no function `medain`: did you mean `median`? known are mean, median, min, max, p1 to p99.9, sum, count, stddev, jain",
        ),
        (
            "transfer.cwnd < 5 packets",
            "`transfer.cwnd` has many values in a run: say which one, for example max(transfer.cwnd), mean(transfer.cwnd) or p99(transfer.cwnd)",
        ),
        (
            "flows.goodput > 1 Mbit/s",
            "`flows.goodput` has a value for each flow: say what becomes of them, for example min(flows.goodput) or jain(flows.goodput)",
        ),
        (
            "max(flows.srtt) < 1 ms",
            "`flows.srtt` has a value for each flow: say what becomes of them, for example min(max(flows.srtt)) or jain(max(flows.srtt))",
        ),
        (
            "flows.srtt < 1 ms",
            "`flows.srtt` has many values for each flow: say what becomes of them, for example max(mean(flows.srtt))",
        ),
        (
            "mean(backbone.drops) < 3",
            "`backbone.drops` is one value in a run: mean needs many, as `over runs` at the end gives them",
        ),
        (
            "mean(p99(backbone.delay)) < 3 ms",
            "`backbone.delay` has one value left for mean, which needs many: `over runs` at the end gives them",
        ),
        ("jain(backbone.queue) > 1", "jain means nothing of `backbone.queue`: it is for flows and for runs"),
        ("jain(sum(flows.goodput)) > 1", "sum means nothing within a flow: it is for flows and for runs"),
        (
            "server.cwnd.max < 5 packets",
            "`cwnd` is of TCP connections, which are not sampled: write `measure: {tcp: 10 ms}` in this file, or in node `server`",
        ),
        (
            "ping-2.goodput > 1 Mbit/s",
            "`goodput` is of TCP connections, which are not sampled: write `measure: {tcp: 10 ms}` in this file, or in node `server`",
        ),
        (
            "transfer.goodput > 1 Mbit/s over runs",
            "`transfer.goodput` has a value in each run: say what becomes of them, for example mean(transfer.goodput) or min(transfer.goodput)",
        ),
        (
            "jain(flows.goodput) > 0.9 over runs",
            "`flows.goodput` has a value for each flow: say what becomes of them, for example min(flows.goodput) or jain(flows.goodput)",
        ),
    ]);
}

#[test]
fn wrong_conditions_and_terms_say_what_would_be_right() {
    assert_said(&[
        ("median(printed | c=bbr) > 1 Mbit/s", "there is no parameter `c`: `vary` has cc, rate, delay"),
        ("median(printed | cc=reno) > 1 Mbit/s", "`cc` never is `reno`: its values are bbr, cubic"),
        ("median(printed | rate=1 Mbit/s, delay=5 ms) > 1 Mbit/s", "no point of this sweep has these values together"),
        ("median(printed | cc) > 1 Mbit/s", "a condition is `PARAMETER=VALUE`, for example cc=bbr"),
        ("median(printed | cc=bbr, cc=cubic) > 1 Mbit/s", "`cc` has one value: this is another condition of it"),
        ("mean(median(printed | cc=bbr)) > 1 Mbit/s", "conditions stand in the outermost brackets only"),
        (
            "mean(transfer.stdout) contains \"a\" over runs",
            "`transfer.stdout` is a text, of which nothing can be reckoned",
        ),
        ("late < 1 ms during 1 s..2 s", "`late` is of a part of the run already"),
        ("printed.forward > 1 Mbit/s", "figure `printed` is of one direction: write `printed`"),
        ("printed.x > 1 Mbit/s", "figure `printed` has no `x`: write `printed`"),
        (
            "access.delay < backbone.forward.throughput",
            "`access.delay` is a duration, and `backbone.forward.throughput` is a rate",
        ),
        (
            "access.delay < backbone.delay",
            "`backbone.delay` is of both directions: write which one, as in link.forward",
        ),
        ("access.delay < x * backbone.forward.delay", "what stands before `*` is a number: 1.5 * TERM"),
        ("access.delay < 5 ms over night", "`over` what? Write `over runs`"),
        ("access.delay < 5 ms over runs over runs", "`over runs` stands here twice"),
        ("access.delay < 5 ms during 1 s..2 s during 2 s..3 s", "`during` stands here twice"),
        ("all runs are fine", "write `all runs as described`"),
        ("p99(backbone.delay < 5 ms", "`< 5 ms` does not belong here: write `p99(backbone.delay)`"),
        ("p99(backbone.delay", "the bracket is not closed: write `p99(backbone.delay)`"),
        ("mean(mean(mean(mean(mean(backbone.delay))))) < 1 ms", "these are too many functions in one another"),
    ]);
}

/// What expectations look like.
const TEXTS: [&str; 22] = [
    "transfer.exit == 0",
    "ping-2.stdout contains \"0% \\\"packet\\\" loss | over runs\"",
    "transfer.json.end.streams[1].sender.bytes > 9.5e7",
    "backbone.forward.throughput within 2 % of 98 Mbit/s during 2 s..5 s",
    "backbone.forward.voip.delay between 1.5 ms and 2 ms",
    "access.loss >= 0.5 %",
    "p99(backbone.forward.delay) within 500 us of 20 ms",
    "backbone.forward.delay.p99.9 < 25 ms during 1.25 s .. 1 min",
    "max(mean(flows.srtt during 1 s..2 s)) < 5 ms",
    "jain(client.flows.goodput) > 0.95",
    "transfer.cwnd.max < 200 packets during 2 s..5 s",
    "access.forward.throughput > 0.5 * backbone.forward.throughput",
    "printed between 1 kbit/s and 2e0 * backbone.forward.throughput",
    "all runs as described",
    "mean(transfer.goodput) > 90 Mbit/s over runs",
    "mean(p99(backbone.forward.delay)) < 30 ms during 1 s..2 s over runs",
    "median(printed | cc=bbr) > 1.2 * median(printed|cc = cubic, rate=\"10 Mbit/s\")",
    "stddev(late) < 1 ms over runs during 1 s..2 s",
    "sum(count(flows.bytes_acked)) != 3 over runs",
    "mean(n5.goodput | cc=cubic) <= 1 Mbit/s",
    "max(transfer.json.a.b) == 3 over runs",
    "ünïcode.exit == 0 during ∞..∞",
];

/// Whatever is done to an expectation: it is read, or what is wrong lies within it; and what each run is to tell of one over runs
/// is read as the figure that the sweep wants.
#[test]
fn fuzz_expectations() {
    let texts = netloom_fuzz::mutated(TEXTS.map(str::to_owned).to_vec());
    netloom_fuzz::fuzz("expectations", 4_000, &texts, |text| {
        let _ = is_over_runs(&text);
        with_names(|names| match parse(&text, names) {
            Err(error) => assert!(text.get(error.at.clone()).is_some(), "{text:?}: {:?} {}", error.at, error.message),
            Ok(Parsed::Run(..)) => assert!(!is_over_runs(&text), "{text:?} is of one run"),
            Ok(Parsed::Runs(RunsTest::AllAsDescribed)) => assert!(is_over_runs(&text), "{text:?}"),
            Ok(Parsed::Runs(RunsTest::Holds(left, test))) => {
                assert!(is_over_runs(&text), "{text:?} is of many runs");
                std::iter::once(&*left).chain(test.terms()).for_each(|term| is_told_by_runs(term, names));
            }
        });
    });
}

fn is_told_by_runs(term: &Term, names: &Names<'_>) {
    let over = term.over.as_ref().expect("it is of many runs");
    if let Some(figure) = &over.figure {
        let name = figure.split('.').next().unwrap_or_default();
        assert!(names.figures.iter().any(|known| known.name == name), "{figure}");
        return;
    }
    let (figure, _) =
        parse_figure(&over.inner, names).unwrap_or_else(|error| panic!("{}: {}", over.inner, error.message));
    assert_eq!((&figure.subject, &figure.functions, figure.window), (&term.subject, &term.functions, term.window));
}

#[test]
fn terms_of_links_are_limited_to_some_packets() {
    let only = |text: &str| match right(text).term.subject {
        Subject::Link { only: Some(only), .. } => *only,
        other => panic!("{text}: {other:?}"),
    };
    let found = only("access.forward.packets match (from client tcp to-port 80,443) > 3");
    assert_eq!((found.filter.protocol.as_deref(), found.sender), (Some(&[6][..]), None));
    assert_eq!(found.filter.from.as_ref().map(Vec::len), Some(1));
    assert_eq!(
        only("access.forward.loss match ({from: 10.0.0.0/8}) < 1 %").filter.from.as_ref().map(Vec::len),
        Some(1)
    );
    let kernels = only("p99(access.delay match (kernels icmpv6) during 1 s..2 s) < 5 ms");
    assert_eq!((kernels.sender, kernels.filter.protocol.as_deref()), (Some(Sender::Kernels), Some(&[58][..])));
    assert_eq!(only("access.packets match (programs) == 0").filter, netloom_link::Filter::default());
    let second = right("access.forward.packets match (programs) > 2 * backbone.forward.packets match (programs)");
    assert_eq!(second.terms().count(), 2);
    let text = second.terms().nth(1).map(|term| term.text.clone());
    assert_eq!(text.as_deref(), Some("backbone.forward.packets match (programs)"));
    let (term, _) = of_runs("mean(access.forward.packets match (programs)) > 3 over runs");
    assert_eq!(term.over.unwrap().inner, "access.forward.packets match (programs)");
}

#[test]
fn what_cannot_be_known_of_some_packets_is_told() {
    let told = |text: &str, part: &str| {
        let message = parsed(text).expect_err(text);
        assert!(message.contains(part), "{text}: {message}");
    };
    told("access.packets match > 3", "which packets?");
    told("access.packets match () > 3", "write for example `match (from client");
    told("access.packets match (icmp > 3", "the bracket is not closed");
    told("access.packets match (from clinet) > 3", "did you mean `client`?");
    told("access.packets match (icmp) match (tcp) > 3", "`match` stands here twice");
    told("transfer.exit match (icmp) == 0", "`match` is for links");
    told("max(access.queue match (icmp)) < 3 packets", "leave `match` out");
    told("p99(access.throughput match (icmp)) < 3 Mbit/s", "not at each sample");
    assert_eq!(wrong_part("access.packets match (from clinet) > 3"), "match (from clinet");
}
