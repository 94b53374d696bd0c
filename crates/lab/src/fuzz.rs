//! Whatever is done to a model, a string of another tool or a trace: it is read or refused, and what is read can be written
//! down and read again.

use crate::models::written_change;
use crate::{Dialect, EXAMPLES, parse_change, translate};
use netloom_fuzz::{fuzz, mutated};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::path::{Path, PathBuf};

/// What the netem, dummynet and token-bucket strings of manuals look like.
const STRINGS: [&str; 14] = [
    "delay 100ms 10ms 25% distribution normal loss gemodel 1% 10% 70% 0.1% rate 10mbit",
    "delay 20ms 5ms 10% distribution pareto",
    "delay 20ms 5ms distribution paretonormal reorder 25% 50% gap 5",
    "loss 1% 25% duplicate 1% corrupt 0.1% 10%",
    "loss random 1 limit 12500 rate 1mbit 20 46 -8",
    "loss state 1% 30% 5% 50% 0.1%",
    "slot 1ms 2ms packets 5 bytes 3000 seed 7 ecn",
    "qdisc add dev eth0 root netem delay 10ms",
    "bw 2.6Mbit/s delay 45ms queue 30 plr 0.01",
    "pipe 1 config bw 300Kbit/s queue 30KBytes delay 50 burst 100KBytes",
    "bw 50KByte/s noerror",
    "rate 50mbit burst 4542 latency 50ms",
    "rate 1gibit burst 32kb/8 limit 10mb",
    "tc qdisc add dev eth0 root tbf rate 1mbit burst 32kbit limit 10kb peakrate 2mbit mtu 1540",
];

/// Files that models read, and the values that name them.
const TRACES: [(&str, &str, &str); 7] = [
    ("rate", "tests/files/three.trace", "{kind: delivery-trace, file: FILE}"),
    ("rate", "tests/files/cell.light", "{kind: cell-trace, light: FILE, heavy: tests/files/three.trace}"),
    ("schedule", "tests/files/schedule.csv", "{file: FILE, interpolation: linear, repeat: true}"),
    ("loss", "tests/files/loss.txt", "{kind: replay, file: FILE}"),
    ("delay", "tests/models/delay-samples.txt", "{kind: samples, file: FILE}"),
    ("delay", "tests/models/delay-histogram.csv", "{kind: histogram, file: FILE}"),
    ("delay", "tests/models/delay.dist", "{kind: table, file: FILE, mean: 20 ms, deviation: 2 ms}"),
];

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// If a value is read, what is written of it is read as the same.
fn is_written_as_it_was_read(key: &str, value: &str) {
    let Ok(change) = parse_change(key, value) else { return };
    for (written_key, written) in written_change(&change) {
        match parse_change(written_key, &written) {
            Ok(again) => assert_eq!(again, change, "{key}: {value} is written as {written}"),
            Err(error) => panic!("{key}: {value} is written as {written_key}: {written}, and refused: {error}"),
        }
    }
}

#[test]
fn fuzz_models() {
    let values = select(EXAMPLES.to_vec()).prop_flat_map(|(key, values)| (Just(key), mutated(owned(values))));
    fuzz("models", 2_000, &values, |(key, value)| is_written_as_it_was_read(key, &value));
}

#[test]
fn fuzz_strings_of_other_tools() {
    fuzz("strings-of-other-tools", 2_000, &mutated(owned(&STRINGS)), |text| {
        for dialect in Dialect::ALL {
            let Ok(translation) = translate(dialect, &text) else { continue };
            for (key, value) in translation.keys {
                is_written_as_it_was_read(key, &value);
            }
        }
    });
}

/// A file that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("netloom-fuzz-{}-{name}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is not there if nothing was written.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

#[test]
fn fuzz_traces() {
    let file = Scratch::new("trace");
    let texts = select(TRACES.to_vec()).prop_flat_map(|(key, path, value)| {
        let text = String::from_utf8(read(path)).expect("a text");
        (Just((key, value)), mutated(vec![text]))
    });
    for (key, path, value) in TRACES {
        std::fs::write(&file.0, read(path)).expect("a file");
        let value = value.replace("FILE", &file.0.display().to_string());
        parse_change(key, &value).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    fuzz("traces", 1_000, &texts, |((key, value), text)| {
        std::fs::write(&file.0, text).expect("a file");
        is_written_as_it_was_read(key, &value.replace("FILE", &file.0.display().to_string()));
    });
}

#[test]
fn fuzz_recorded_packets() {
    let file = Scratch::new("pcap");
    let whole = read("../../tests/golden/pcap/four.pcap");
    let wounds = prop::collection::vec((any::<Index>(), select(vec![0, 1, 2, 0x7f, 0x80, 0xff]), 1..5_usize), 0..6);
    let inputs = (wounds, prop::option::of(any::<Index>()), any::<bool>());
    fuzz("recorded-packets", 1_000, &inputs, |(wrong, cut, repeat)| {
        let mut bytes = whole.clone();
        for (place, value, count) in wrong {
            let at = place.index(bytes.len());
            let end = (at + count).min(bytes.len());
            bytes[at..end].fill(value);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        std::fs::write(&file.0, bytes).expect("a file");
        let value = format!("[{{kind: pcap, file: '{}', repeat: {repeat}}}]", file.0.display());
        is_written_as_it_was_read("cross", &value);
    });
}
