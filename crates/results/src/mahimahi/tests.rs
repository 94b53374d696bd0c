use super::*;
use netloom_link::RateConfig;

fn log(folder: &std::path::Path, text: &str, once: bool) -> MahimahiLog {
    let file = folder.join("trace");
    std::fs::write(&file, text).unwrap();
    let rate = format!("{{kind: delivery-trace, file: {}}}", file.display());
    let config = netloom_lab::parse_pipe(&[("rate".into(), rate)]).unwrap();
    let RateConfig::DeliveryTrace(trace) = config.rate else { panic!("it is a trace") };
    MahimahiLog {
        file: folder.join("log"),
        direction: Direction::Forward,
        trace_name: "trace".into(),
        trace,
        once,
        command_line: "'mm-link' 'trace'".into(),
        queue: "droptail [packets=1]".into(),
        around: Some("[delay 40 ms] ".into()),
    }
}

fn seen(leaves: bool, at_us: u64, frame: usize, segments: u32, size: u64) -> Seen {
    let first_size = if segments == 1 { size } else { 1500 };
    Seen {
        direction: Direction::Forward,
        leaves,
        at: Instant::from_nanos(at_us * 1000),
        frame,
        segments,
        size,
        first_size,
    }
}

/// The lines of a log after its header.
fn lines(folder: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("log")).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn a_log_has_mahimahis_header_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut book = Book::open(log(folder.path(), "2\n5\n", false), 1_700_000_000_123).unwrap();
    book.take(seen(false, 1_900, 1, 1, 100));
    book.take(seen(false, 2_100, 2, 2, 2_900));
    book.take(seen(true, 2_000, 1, 1, 100));
    book.take(seen(true, 5_000, 2, 1, 1_500));
    book.take(seen(true, 7_000, 2, 1, 1_400));
    book.write_until(4).unwrap();
    book.end(8).unwrap();
    let header = std::fs::read_to_string(folder.path().join("log")).unwrap();
    let first = format!(
        "# mahimahi mm-link (Uplink) [trace] > {}\n# command line: 'mm-link' 'trace'\n# queue: droptail [packets=1]\n\
         # init timestamp: 1700000000123\n# base timestamp: 0\n# mahimahi config: [delay 40 ms] \n",
        folder.path().join("log").display()
    );
    assert!(header.starts_with(&first), "{header}");
    let expected = [
        "1 + 104",
        "2 + 1504",
        "2 + 1404",
        "2 # 1504",
        "2 - 104 1",
        "5 # 1504",
        "5 - 1504 3",
        "7 # 1504",
        "7 - 1404 5",
    ];
    assert_eq!(lines(folder.path()), expected);
}

#[test]
fn what_was_dropped_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let mut book = Book::open(log(folder.path(), "100\n", true), 0).unwrap();
    for (at_us, frame) in [(1_000, 1), (2_000, 2), (3_000, 3), (4_000, 2)] {
        book.take(seen(false, at_us, frame, 1, 1_000));
    }
    // The first has its buffer still; the second's holds another packet; the third leaves.
    book.take(seen(true, 9_000, 3, 1, 1_000));
    book.end(250).unwrap();
    let expected =
        ["1 + 1004", "1 d 1 1004", "2 + 1004", "2 d 1 1004", "3 + 1004", "4 + 1004", "9 - 1004 6", "100 # 1504"];
    assert_eq!(lines(folder.path()), expected);
}

#[test]
fn traces_are_repeated_as_mahimahi_does() {
    let folder = tempfile::tempdir().unwrap();
    let mut opportunities = Opportunities::of(&log(folder.path(), "0\n3\n", false));
    let all: Vec<u64> = std::iter::from_fn(|| opportunities.next_until(7)).collect();
    assert_eq!(all, [0, 3, 3, 6, 6]);
}
