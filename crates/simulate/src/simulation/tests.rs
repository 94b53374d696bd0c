use super::*;
use netloom_results::journal::{JOURNAL, JournalReader, Summary};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const LAB: &str = "name: chain\nnodes: {a: {}, r: {kind: router}, b: {}}\nlinks:\n  \
    one: {ends: [a, r], rate: 10 Mbit/s}\n  two: {ends: [r, b], rate: 2 Mbit/s, delay: 20 ms, loss: 1 %}\ntraffic:\n  \
    - {from: a, to: b, as: video, kind: poisson, rate: 1.5 Mbit/s, size: 1000 B}\n  \
    - {from: b, to: a, as: bulk, kind: window, window: 16 kB}\n";

fn request(lab: &str, results: &Path) -> SimRequest {
    let plan = netloom_lab::parse(lab, "chain.yaml").expect("a lab").plan;
    let run = RunRequest {
        begun: time::Instant::now(),
        plan: plan.into(),
        lab_file: "chain.yaml".into(),
        lab_text: lab.into(),
        warnings: Vec::new(),
        results: results.to_owned(),
        command_line: Vec::new(),
        plots: true,
        page: true,
        wall_limit: None,
        stop_at: None,
        gate: None,
        part: None,
        stays: false,
        kernel: None,
        parent: None,
        root: None,
    };
    SimRequest { run, duration: Duration::from_secs(5) }
}

/// Every file but the provenance, which tells the time, and the report and the page, which name the folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for place in [folder.to_owned(), folder.join("plots")] {
        for entry in fs::read_dir(&place).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
            let name = entry.file_name().into_string().unwrap();
            if !["provenance.json", "report.json", "summary.txt", "report.html"].contains(&name.as_str()) {
                found.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    let [first, second] = [(), ()].map(|()| simulate(&request(LAB, root.path()), &mut |_| ()).unwrap());
    let (mine, yours) = (files(&first.results), files(&second.results));
    assert_eq!(mine, yours);
    let names: Vec<&str> = mine.keys().map(String::as_str).collect();
    let expected = [
        "delay-bulk.svg",
        "delay-video.svg",
        "delays.json",
        "hosts",
        "lab.svg",
        "lab.yaml",
        "one-backward.svg",
        "one-forward.svg",
        "pipes.csv",
        "pipes.json",
        "plan.json",
        "samples.csv",
        "sources.csv",
        "sources.json",
        "two-backward.svg",
        "two-forward.svg",
    ];
    assert_eq!(names, expected);
    let provenance = fs::read_to_string(first.results.join("provenance.json")).unwrap();
    assert!(provenance.contains("\"clock\": \"virtual\""), "{provenance}");
}

#[test]
fn nothing_is_written_when_there_is_nothing_to_simulate() {
    let root = tempfile::tempdir().unwrap();
    let lab = &LAB[..LAB.find("traffic").unwrap()];
    let error = simulate(&request(lab, root.path()), &mut |_| ()).unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::Usage);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn header_and_rows_of_sources_have_as_many_fields() {
    let root = tempfile::tempdir().unwrap();
    let report = simulate(&request(LAB, root.path()), &mut |_| ()).unwrap();
    let text = fs::read_to_string(report.results.join("sources.csv")).unwrap();
    let counts: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(counts, [18, 18, 18]);
}

/// What came in was delivered, dropped, or is inside, as the counters have it; and another run has the same bytes.
#[test]
fn a_journal_tells_of_every_packet() {
    let root = tempfile::tempdir().unwrap();
    let lab = format!("{LAB}journal: all\ntimeline: [{{at: 2 s, link: two, down: 100 ms}}]\n");
    let [first, second] = [(), ()].map(|()| simulate(&request(&lab, root.path()), &mut |_| ()).unwrap());
    let file = |report: &SimReport| fs::read(report.results.join(JOURNAL)).unwrap();
    assert!(file(&first) == file(&second));
    let reader = JournalReader::open(&first.results.join(JOURNAL)).unwrap();
    let mut summary = Summary::new(reader.pipes());
    let mut last = i64::MIN;
    for record in reader.map(Result::unwrap) {
        summary.add(&record);
        if let Some(ended) = record.ended_ns() {
            assert!(ended >= last && record.arrived_ns >= 0);
            last = ended;
        }
    }
    let rows = summary.rows();
    assert_eq!(rows.len(), first.pipes.len());
    for (told, counted) in rows.iter().zip(&first.pipes) {
        let dropped = [
            told.dropped_loss_packets,
            told.dropped_queue_packets,
            told.dropped_early_packets,
            told.dropped_down_packets,
        ];
        let all = told.delivered_packets + told.inside_packets + dropped.iter().sum::<u64>();
        assert_eq!((told.packets, told.bytes), (counted.arrived_packets, counted.arrived_bytes));
        assert_eq!((all, told.delivered_packets), (told.packets, counted.departed_packets));
        assert_eq!(told.dropped_loss_packets, counted.dropped_loss_packets);
        assert_eq!(told.dropped_down_packets, counted.dropped_down_packets);
    }
    assert_eq!(rows.iter().map(|row| row.packets).sum::<u64>(), first.journal.unwrap().packets);
    assert!(rows.iter().any(|row| row.dropped_loss_packets > 0) && rows.iter().any(|row| row.dropped_down_packets > 0));
}
