use super::*;
use netloom_units::Duration as LabTime;
use std::collections::BTreeMap;
use std::fs;

const HEADER: &str = "time_s,link,direction,pipe,departed_bytes,dropped_queue_packets,dropped_loss_packets,\
dropped_early_packets,dropped_down_packets,queue_packets,queue_bytes,cross_queue_packets,cross_queue_bytes\n";

const TENTH: LabTime = LabTime::from_millis(100);

fn key(link: &str) -> Key {
    (link.into(), "forward".into(), String::new())
}

fn written(rows: &str) -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("samples.csv");
    fs::write(&path, format!("{HEADER}{rows}")).unwrap();
    (root, path)
}

#[test]
fn samples_are_rates_between_instants_and_silence_is_none() {
    // What had departed before time zero, two busy tenths, a pause in which four packets wait, and one tenth more.
    let rows = "0.002,l,forward,,500,0,0,0,0,0,0,0,0\n0.100,l,forward,,1500,1,0,0,0,3,3000,1,1000\n\
                0.200,m,forward,,9,0,0,0,0,0,0,0,0\n0.200,l,forward,,2500,1,0,2,0,3,3000,1,1000\n\
                1.000,l,forward,,3500,1,0,2,5,0,0,0,0\n1.100,l,forw";
    let (_root, path) = written(rows);
    let totals = totals(&path).unwrap();
    assert_eq!(totals, [(key("l"), 3508), (key("m"), 9)].into());
    let traffic = samples::read(&path, &[key("l")], (TENTH, MOST_SPANS), Some(1.2)).unwrap();
    let told: Vec<_> =
        traffic[0].spans.iter().map(|span| (span.to, span.bits, span.queued_packets, span.dropped)).collect();
    let expected = [
        (0.1, 8000.0, 4, [1, 0, 0, 0, 0, 0, 0]),
        (0.2, 8000.0, 4, [0, 2, 0, 0, 0, 0, 0]),
        (0.9, 0.0, 4, [0; 7]),
        (1.0, 8000.0, 4, [0, 0, 0, 5, 0, 0, 0]),
        (1.2, 0.0, 0, [0; 7]),
    ];
    assert_eq!(told, expected);
    let starts: Vec<f64> = traffic[0].spans.iter().map(|span| span.from).collect();
    assert_eq!(starts, [0.0, 0.1, 0.2, 0.9, 1.0], "without gaps");
}

#[test]
fn a_long_run_is_drawn_with_as_many_points_as_a_short_one() {
    let rows: String = (1..=100_000)
        .map(|n| format!("{:.1},l,forward,,{},0,0,0,0,{},0,0,0\n", f64::from(n) / 10.0, n * 1000, n % 7))
        .collect();
    let (_root, path) = written(&rows);
    let traffic = samples::read(&path, &[key("l")], (TENTH, MOST_SPANS), None).unwrap().remove(0);
    assert!((300..=400).contains(&traffic.spans.len()), "{}", traffic.spans.len());
    assert_eq!(traffic.spans.iter().map(|span| span.bits).sum::<f64>(), 8e8);
    assert!(traffic.spans.iter().all(|span| span.queued_packets == 6));
}

#[test]
fn samples_that_are_none_are_refused_with_their_line() {
    for (rows, expected) in [
        ("0.1,l,forward\n", "line 2: this is not a row of samples"),
        ("0.1,l,forward,,1,0,0,0,0,0,0,0,0\nNaN,l,forward,,1,0,0,0,0,0,0,0,0\n", "line 3: this is not a row"),
        ("0.1,l,forward,,-1,0,0,0,0,0,0,0,0\n", "line 2: this is not a row"),
    ] {
        let (_root, path) = written(rows);
        let error = totals(&path).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("samples.csv"), "a,b\n1,2\n").unwrap();
    let error = totals(&root.path().join("samples.csv")).unwrap_err().to_string();
    assert!(error.contains("line 1: there is no column `time_s`"), "{error}");
}

fn subject(link: &str, direction: &'static str) -> Subject {
    let name = |text: &str| text.to_owned();
    Subject {
        link: name(link),
        direction,
        further: None,
        from: name("a"),
        to: name("b"),
        rate: Some(8),
        models: BTreeMap::new(),
    }
}

#[test]
fn marks_are_what_happened_to_the_pipe_and_programs() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("events.jsonl");
    let mut lines = vec![
        r#"{"time_ns":null,"event":"started","command":"sink"}"#.to_owned(),
        r#"{"time_ns":1000000000,"event":"link changed","link":"l","direction":null,"pipe":null,"set":{"rate":"5 bit/s"}}"#.into(),
        r#"{"time_ns":500000000,"event":"started","command":"bulk"}"#.into(),
        r#"{"time_ns":2000000000,"event":"link down","link":"l","direction":"backward","pipe":null}"#.into(),
        r#"{"time_ns":3000000000,"event":"link changed","link":"m","direction":null,"pipe":null,"set":{"rate":"6 bit/s"}}"#.into(),
        r#"{"time_ns":3500000000,"event":"log","text":"rush hour"}"#.into(),
        r#"{"time_ns":4000000000,"event":"ended","command":"bulk","exit_code":3}"#.into(),
        r#"{"time_ns":5000000000,"event":"the end begins","because":"it came to its end"}"#.into(),
        r#"{"time_ns":5100000000,"event":"ended","command":"sink","signal":15}"#.into(),
    ];
    fs::write(&path, lines.join("\n")).unwrap();
    let log = events::read(&path).unwrap();
    assert_eq!(log.end, Some(5.0));
    let marks = |direction| {
        let marks = log.marks(&subject("l", direction));
        marks.shown.iter().map(|(at, text)| format!("{at} {text}")).collect::<Vec<_>>()
    };
    assert_eq!(marks("forward"), ["0.5 bulk starts", "1 rate: 5 bit/s", "3.5 rush hour", "4 bulk ends with 3"]);
    assert_eq!(
        marks("backward"),
        ["0.5 bulk starts", "1 rate: 5 bit/s", "2 down", "3.5 rush hour", "4 bulk ends with 3"]
    );
    assert_eq!(log.rates(&subject("l", "forward")), [(0.0, Some(8)), (1.0, Some(5))]);
    // A link's own changes come before the programs of a large lab.
    lines.truncate(2);
    lines.extend((0..50).map(|n| format!(r#"{{"time_ns":{n},"event":"started","command":"c{n}"}}"#)));
    fs::write(&path, lines.join("\n")).unwrap();
    let long = events::read(&path).unwrap();
    let few = long.marks(&subject("l", "forward"));
    assert_eq!((few.shown.len(), few.others), (14, 37));
    assert_eq!(few.shown.last().unwrap().1, "rate: 5 bit/s");
    assert_eq!(events::read(&root.path().join("none")).unwrap(), Log::default());
}

/// A results folder with this much traffic on each of three links.
fn results(loads: [u64; 3]) -> tempfile::TempDir {
    let (root, path) = written("");
    let links = "{a: {ends: [x, y], rate: 1 Mbit/s}, b: {ends: [x, y]}, c: {ends: [x, y]}}";
    let lab = netloom_lab::parse(&format!("name: three\nnodes: [x, y]\nlinks: {links}\n"), "three.yaml").unwrap();
    fs::write(root.path().join("plan.json"), lab.plan.describe().to_string()).unwrap();
    let row = |(link, bytes): (&str, u64)| format!("0.100,{link},forward,,{bytes},1,0,0,0,2,9,0,0\n");
    let rows: String = ["a", "b", "c"].into_iter().zip(loads).filter(|(_, bytes)| *bytes > 0).map(row).collect();
    fs::write(path, format!("{HEADER}{rows}")).unwrap();
    root
}

#[test]
fn the_busiest_pipes_are_drawn_and_the_page_says_so() {
    let root = results([1_000, 3_000, 0]);
    let request = |links: &[&str], most| PlotRequest {
        folder: root.path().to_owned(),
        links: links.iter().map(|link| (*link).to_owned()).collect(),
        most,
    };
    let plots = plot_results(&request(&[], None)).unwrap().unwrap();
    assert_eq!((plots.pictures, plots.busy), (vec!["b-forward.svg".to_owned(), "a-forward.svg".to_owned()], 2));
    let svg = fs::read_to_string(root.path().join("plots/a-forward.svg")).unwrap();
    for words in ["a: x &gt; y", "described rate 1 Mbit/s", "queue in packets, most 2", "dropped, queue full: 1"] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    let few = plot_results(&request(&[], Some(1))).unwrap().unwrap();
    assert_eq!((few.pictures.len(), few.busy), (1, 2));
    assert_eq!(few.extent(), "1 of 2 pipes, those that carried most");
    let one = plot_results(&request(&["a"], None)).unwrap().unwrap();
    assert_eq!(one.pictures, ["a-forward.svg"]);
    assert_eq!(plot_results(&request(&["c"], None)).unwrap(), None);
    // A run that ended before time zero.
    fs::rename(root.path().join("samples.csv"), root.path().join("no-samples.csv")).unwrap();
    assert_eq!(plot_results(&request(&[], None)).unwrap(), None);
    let unknown = plot_results(&request(&["d"], None)).unwrap_err();
    assert!(unknown.to_string().contains("no link is called `d`"), "{unknown}");
    let error = plot_results(&PlotRequest { folder: root.path().join("plots"), ..PlotRequest::default() }).unwrap_err();
    assert!(error.to_string().contains("is not a results folder"), "{error}");
}

/// Which pipes are the busiest is known from the table that a run writes at its end, and otherwise from the samples.
#[test]
fn the_busiest_pipes_are_those_of_the_table() {
    let root = results([1_000, 3_000, 0]);
    let row = |link: &str, bytes: u64, dropped: u64| {
        serde_json::json!({ "link": link, "direction": "forward", "pipe": null, "departed_bytes": bytes,
            "dropped_queue_packets": dropped, "dropped_loss_packets": 0, "dropped_early_packets": 1, "dropped_down_packets": 2 })
    };
    let idle = serde_json::json!({ "link": "c", "direction": "forward", "pipe": null, "departed_bytes": 0 });
    let rows = serde_json::json!([row("a", 4_000, 5), row("b", 3_000, 0), idle]);
    assert_eq!(totals_of_rows(&rows), Some([(key("a"), 4_008), (key("b"), 3_003)].into()));
    assert_eq!(totals_of_rows(&Value::Null), None);
    let pictures = || {
        let request = PlotRequest { folder: root.path().to_owned(), ..PlotRequest::default() };
        plot_results(&request).unwrap().unwrap().pictures
    };
    assert_eq!(pictures(), ["b-forward.svg", "a-forward.svg"]);
    fs::write(root.path().join("pipes.json"), rows.to_string()).unwrap();
    assert_eq!(pictures(), ["a-forward.svg", "b-forward.svg"]);
    fs::write(root.path().join("pipes.json"), "[{").unwrap();
    assert_eq!(pictures(), ["b-forward.svg", "a-forward.svg"], "a damaged table");
}

#[test]
fn plan_and_results_folder_tell_of_the_same_pipes() {
    let text = "name: p\nnodes: [x, y]\nlinks:\n  b: {ends: [x, y]}\n  a:\n    ends: [x, y]\n    rate: 1 Mbit/s\n    \
                forward: {pipes: {voip: {match: {protocol: udp}, rate: 2 Mbit/s}}}\n";
    let plan = netloom_lab::parse(text, "p.yaml").unwrap().plan;
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("plan.json"), plan.describe().to_string()).unwrap();
    let mut of_folder = data::of_folder(root.path()).unwrap().pipes;
    let mut of_plan = data::of_plan(&plan);
    let voip = of_folder.iter().find(|subject| subject.further.is_some()).unwrap();
    assert_eq!(voip.models["rate"], "2 Mbit/s");
    // Only pages want to know the words of the file.
    of_folder.iter_mut().for_each(|subject| subject.models.clear());
    of_folder.sort_by_key(Subject::key);
    of_plan.sort_by_key(Subject::key);
    assert_eq!(of_folder.len(), 5);
    assert_eq!(of_folder, of_plan);
}
