use super::*;
use netloom_lab::Direction;
use netloom_link::Delays;
use std::fs;

const STEP: Duration = Duration::from_millis(10);

fn place(direction: Direction, pipe: Option<&str>) -> (String, PipePlace) {
    ("backbone".to_owned(), PipePlace { link: 0, direction, pipe: pipe.map(str::to_owned) })
}

fn sample(bytes: u64) -> PipeSample {
    let mut counters = PipeCounters::default();
    counters.departed.bytes = bytes;
    PipeSample { counters, rate: None, queueing: None, delays: None }
}

fn sampler(root: &Path) -> Sampler {
    let folder = Folder::existing(root.to_owned()).unwrap();
    let pipes = vec![place(Direction::Forward, None), place(Direction::Backward, Some("voip"))];
    Sampler::create(&folder, pipes, SampleSettings { step: STEP, delays: true }).unwrap()
}

#[test]
fn rows_appear_when_something_changed() {
    let root = tempfile::tempdir().unwrap();
    let mut sampler = sampler(root.path());
    sampler.sample(Duration::ZERO, [(0, sample(0)), (1, sample(0))]).unwrap();
    sampler.look().unwrap();
    assert_eq!(sampler.busiest(), None);
    let us = Duration::from_micros;
    let busy = PipeSample {
        rate: Rate::from_bits_per_second(8_000_000),
        queueing: Some(us(1_500)),
        delays: Some(Delays { packets: 9, p50: us(20_000), p99: us(21_000), max: us(22_000) }),
        ..sample(12_500)
    };
    sampler.sample(STEP, [(0, sample(0)), (1, busy)]).unwrap();
    sampler.look().unwrap();
    let busiest = sampler.busiest().unwrap();
    assert_eq!((busiest.direction.as_str(), busiest.bits_per_second), ("backward", 1e7));
    assert_eq!(sampler.counters()[1].departed.bytes, 12_500);
    // A pipe without a report is as it was.
    sampler.sample(Duration::from_millis(15), [(1, sample(12_501))]).unwrap();
    sampler.left_out(3);
    let report = sampler.finish().unwrap();
    assert_eq!((report.rows, report.left_out, report.step_ns, report.full_at_ns), (2, 3, 10_000_000, None));
    let text = fs::read_to_string(root.path().join("samples.csv")).unwrap();
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let zeros = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";
    assert_eq!(
        rows,
        [
            format!(
                "0.010,backbone,backward,voip,0,0,0,12500,{zeros},8000000,1500000,10000000,20000000,21000000,22000000"
            ),
            format!("0.015,backbone,backward,voip,0,0,0,12501,{zeros},,,1600,,,"),
        ]
    );
    assert!(text.lines().all(|line| line.split(',').count() == 39), "{text}");
}

#[test]
fn a_file_has_only_so_many_rows() {
    let root = tempfile::tempdir().unwrap();
    let mut sampler = sampler(root.path());
    sampler.report.rows = MOST_ROWS - 1;
    for step in 1..=3 {
        sampler.sample(Duration::from_millis(step), [(0, sample(step))]).unwrap();
    }
    let report = sampler.finish().unwrap();
    assert_eq!((report.rows, report.full_at_ns), (MOST_ROWS, Some(2_000_000)));
    assert_eq!(fs::read_to_string(root.path().join("samples.csv")).unwrap().lines().count(), 2);
}

#[test]
fn short_simulations_have_more_digits() {
    let texts = [0, 2, 2_346, 100_000, 12_000_500].map(|us| seconds(Duration::from_micros(us)));
    assert_eq!(texts, ["0.000", "0.000002", "0.002346", "0.100", "12.0005"]);
}

#[test]
fn how_far_samples_are_apart_is_known_of_all_results() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path();
    assert_eq!(sample_interval(path), INTERVAL);
    fs::write(path.join("report.json"), "{\"duration_ns\": 4000000000}").unwrap();
    assert_eq!(sample_interval(path), INTERVAL);
    fs::write(path.join("sources.json"), "[]").unwrap();
    assert_eq!(sample_interval(path), Duration::from_millis(10));
    let report = "{\"duration_ns\": 4000000000, \"samples\": {\"file\": \"samples.csv\", \"step_ns\": 500000, \
                  \"delays\": true, \"rows\": 7}}";
    fs::write(path.join("report.json"), report).unwrap();
    assert_eq!(sample_interval(path), Duration::from_micros(500));
}
