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

/// Saturated stations: the attempts of every packet are numbered, the last one alone arrives, and together they are those that the counters have. Whoever does not ask for them reads what
/// a journal without them has.
#[test]
fn a_journal_tells_of_every_attempt_on_the_air() {
    for medium in
        ["standard: a", "standard: n, rate: {mcs: 3}, rts_above: 500 B", "standard: a, access: radio, rate: 54 Mbit/s"]
    {
        let root = tempfile::tempdir().unwrap();
        let lab = |journal: &str| {
            format!(
                "name: chain\nnodes: {{ap: {{position: [0 m, 0 m]}}, s: {{position: [5 m, 0 m]}}, t: {{position: [-5 m, 0 m]}}}}\n\
                 links: {{wifi: {{ends: [ap, s, t], medium: {{kind: wifi, access_point: ap, limit: 40, beacons: 102.4 ms, {medium}}}}}}}\n\
                 traffic:\n  - {{from: s, to: ap, kind: constant, rate: 40 Mbit/s, size: 1500 B}}\n  \
                 - {{from: t, to: s, kind: constant, rate: 20 Mbit/s, size: 1500 B}}\njournal: {journal}\n"
            )
        };
        let reports = ["{attempts: true}", "{attempts: true}", "all"]
            .map(|journal| simulate(&request(&lab(journal), root.path()), &mut |_| ()).unwrap());
        let file = |report: &SimReport| fs::read(report.results.join(JOURNAL)).unwrap();
        assert!(file(&reports[0]) == file(&reports[1]));
        let read = |report: &SimReport| JournalReader::open(&report.results.join(JOURNAL)).unwrap();
        let packets: Vec<_> = read(&reports[0]).map(Result::unwrap).collect();
        assert!(packets == read(&reports[2]).map(Result::unwrap).collect::<Vec<_>>(), "{medium}");
        let own = reports[0].journal.clone().unwrap();
        let (mut tried, mut decoded, mut last) = (BTreeMap::new(), 0, i64::MIN);
        let mut number = 0;
        for record in read(&reports[0]).with_attempts().map(Result::unwrap) {
            let Some(attempt) = &record.attempt else { continue };
            number += 1;
            assert!(record.arrived_ns < record.sent_ns.unwrap() && record.sent_ns.unwrap() >= last, "{record:?}");
            last = record.sent_ns.unwrap();
            // Each hop of a packet counts for itself. Packets of a source are told apart by their flow and sender only, so that numbers are compared.
            let known: &mut u64 = tried.entry((attempt.sender.clone(), attempt.number)).or_default();
            *known += 1;
            decoded += u64::from(matches!(record.fate, netloom_results::journal::Fate::Delivered { .. }));
            assert!(attempt.kilobits_per_second >= 6_000 && attempt.receiver.is_some(), "{attempt:?}");
        }
        assert_eq!((own.attempts, own.packets), (Some(number), packets.len() as u64));
        let pipe = &reports[0].pipes[0];
        // Nobody is tried a second time who was not tried once.
        for ((sender, place), count) in &tried {
            assert!(*place == 1 || tried[&(sender.clone(), place - 1)] >= *count, "{medium}: {tried:?}");
        }
        // Behind RTS nothing collides.
        let is_repeated = tried.keys().any(|(_, place)| *place > 1);
        assert_eq!(is_repeated, !medium.contains("rts_above"), "{medium}: {tried:?}");
        assert!(decoded >= pipe.departed_packets && decoded <= pipe.departed_packets * 2, "{decoded}, {pipe:?}");
    }
}
