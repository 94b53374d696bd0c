use super::*;

fn keys(dialect: Dialect, text: &str) -> Vec<(&'static str, String)> {
    translate(dialect, text).unwrap_or_else(|error| panic!("{text}: {error}")).keys
}

fn wrong(dialect: Dialect, text: &str) -> String {
    translate(dialect, text).expect_err(text).to_string()
}

fn pairs(pairs: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    pairs.iter().map(|(key, value)| (*key, (*value).to_owned())).collect()
}

/// Whatever is translated can stand in a lab file.
#[test]
fn every_translation_is_a_lab_file() {
    let strings = [
        (Dialect::Netem, "delay 100ms 10ms 25% distribution normal loss gemodel 1% 10% 70% 0.1% rate 10mbit"),
        (Dialect::Netem, "delay 20ms 5ms"),
        (Dialect::Netem, "delay 10ms 20ms"),
        (Dialect::Dummynet, "bw 1Mbit/s queue 60 gred 0.002/20/30/0.1"),
        (Dialect::Dummynet, "bw 1Mbit/s queue 60KB red 0.002/20000/30000/0.1 ecn"),
        (Dialect::Dummynet, "bw 1Mbit/s codel target 15ms interval 300ms ecn"),
        (Dialect::Netem, "delay 20ms 5ms 10% distribution pareto"),
        (Dialect::Netem, "delay 20ms 5ms distribution paretonormal reorder 25% 50% gap 5"),
        (Dialect::Netem, "loss 1% 25% duplicate 1% corrupt 0.1% 10%"),
        (Dialect::Netem, "loss random 1"),
        (Dialect::Netem, "loss state 1% 30% 5% 50% 0.1%"),
        (Dialect::Netem, "loss state 1%"),
        (Dialect::Netem, "rate 1mbit 20 limit 50"),
        (Dialect::Netem, "qdisc add dev eth0 root netem delay 10ms"),
        (Dialect::Dummynet, "bw 2.6Mbit/s delay 45ms queue 30 plr 0.01"),
        (Dialect::Dummynet, "pipe 1 config bw 300Kbit/s queue 30KBytes delay 50"),
        (Dialect::Dummynet, "bw 50KByte/s noerror"),
        (Dialect::Tbf, "rate 50mbit burst 4542 latency 50ms"),
        (Dialect::Tbf, "tc qdisc add dev eth0 root tbf rate 1mbit burst 32kbit limit 10kb peakrate 2mbit mtu 1540"),
    ];
    for (dialect, text) in strings {
        for (key, value) in keys(dialect, text) {
            if let Err(error) = crate::parse_change(key, &value) {
                panic!("{text}: {key}: {value}: {error}");
            }
        }
    }
}

#[test]
fn netem_means_what_its_manual_says() {
    assert_eq!(
        keys(Dialect::Netem, "delay 100ms 10ms 25% distribution normal loss gemodel 1% 10% 70% 0.1% rate 10mbit"),
        pairs(&[
            ("delay", "{kind: normal, mean: 100 ms, deviation: 10 ms, correlation: 25 %, order: free}"),
            ("loss", "{kind: gilbert-elliott, p: 1 %, r: 10 %, bad: 70 %, good: 0.1 %}"),
            ("rate", "10 Mbit/s"),
            ("queue", "1000 packets"),
        ])
    );
    // Without a unit a time is in microseconds, and a share in percent.
    assert_eq!(keys(Dialect::Netem, "delay 1500 loss 0.3"), pairs(&[("delay", "1.5 ms"), ("loss", "0.3 %")]));
    assert_eq!(
        keys(Dialect::Netem, "delay 20ms 5ms"),
        pairs(&[("delay", "{kind: uniform, from: 15 ms, to: 25 ms, order: free}")])
    );
    assert_eq!(
        keys(Dialect::Netem, "loss gemodel 1%"),
        pairs(&[("loss", "{kind: gilbert-elliott, p: 1 %, r: 99 %, bad: 100 %, good: 0 %}")])
    );
    // (X - 3/2) x 4/3 x 6 ms + 20 ms = 8 ms + 8 ms x X.
    assert_eq!(
        keys(Dialect::Netem, "delay 20ms 6ms distribution pareto"),
        pairs(&[("delay", "{kind: pareto, shift: 8 ms, scale: 8 ms, shape: 3, order: free}")])
    );
    // As long as times can be.
    assert!(keys(Dialect::Netem, "delay 18446744073s 9223372036s distribution pareto")[0].1.contains("shape: 3"));
    // In tc, kbps are kilobytes.
    assert_eq!(keys(Dialect::Netem, "rate 1mbps")[0], ("rate", "8 Mbit/s".to_owned()));
}

#[test]
fn dummynet_means_what_its_manual_says() {
    assert_eq!(
        keys(Dialect::Dummynet, "bw 2.6Mbit/s delay 45ms queue 30 plr 0.01"),
        pairs(&[("rate", "2.6 Mbit/s"), ("delay", "45 ms"), ("queue", "30 packets"), ("loss", "1 %")])
    );
    // Milliseconds without a unit, 50 slots without a word, no limit for zero.
    assert_eq!(
        keys(Dialect::Dummynet, "bw 0 delay 50"),
        pairs(&[("rate", "unlimited"), ("delay", "50 ms"), ("queue", "50 packets")])
    );
}

#[test]
fn tbf_means_what_its_manual_says() {
    // 50 Mbit/s for 50 ms are 312,500 bytes, and 4,542 of the bucket.
    assert_eq!(
        keys(Dialect::Tbf, "rate 50mbit burst 4542 latency 50ms"),
        pairs(&[("rate", "{kind: token-bucket, rate: 50 Mbit/s, burst: 4.542 kB}"), ("queue", "317.042 kB")])
    );
}

/// What tc and the kernel make of these was looked at with `tc qdisc show`.
#[test]
fn strings_are_taken_as_tc_takes_them() {
    let uniform = |value: &str| pairs(&[("delay", value)]);
    // From 10 - 20 ms to 10 + 20 ms.
    let wide = "{kind: uniform, from: 0 s, below: 10 ms, to: 30 ms, order: free}";
    assert_eq!(keys(Dialect::Netem, "delay 10ms 20ms"), uniform(wide));
    assert_eq!(keys(Dialect::Netem, "delay 100ms 0ms 25%"), uniform("100 ms"));
    let normal = [
        ("delay", "{kind: normal, mean: 100 ms, deviation: 10 ms, order: free}"),
        ("loss", "1 %"),
        ("duplicate", "2 %"),
    ];
    for text in ["delay 100ms 10ms distribution normal loss 1% duplicate 2%", "lat 100ms 10ms lo 1% du 2% dist normal"]
    {
        assert_eq!(keys(Dialect::Netem, text), pairs(&normal), "{text}");
    }
    for text in ["rate 1e6", "rate 1E+6bit", "rate 10e-1mbit", "rate 0.001e3mbit", "ra 1000kbit"] {
        assert_eq!(keys(Dialect::Netem, text)[0], ("rate", "1 Mbit/s".to_owned()), "{text}");
    }
    let peak = "rate 256kbit burst 16000 limit 30000 peakrate 512kbit mtu 3000";
    let bucket = "{kind: token-bucket, rate: 256 kbit/s, burst: 16 kB, peak: 512 kbit/s, peak_burst: 3 kB}";
    assert_eq!(keys(Dialect::Tbf, peak), pairs(&[("rate", bucket), ("queue", "30 kB")]));
    assert_eq!(keys(Dialect::Tbf, &peak.replace("mtu", "minburst").replace("limit", "lim")), keys(Dialect::Tbf, peak));
}

#[test]
fn dummynet_manages_queues() {
    let queue = |text: &str| keys(Dialect::Dummynet, text).into_iter().find(|(key, _)| *key == "queue").unwrap().1;
    let red = "{kind: red, limit: 60 packets, min: 20 packets, max: 30 packets, probability: 10 %, weight: 0.2 %, gentle: true, \
               ecn: false, byte_mode: false, mean_packet: 512 B}";
    assert_eq!(queue("gred 0.002/20/30/0.1 queue 60"), red);
    let codel = "{kind: codel, limit: 50 packets, target: 15 ms, ecn: true}";
    assert_eq!(queue("codel target 15ms ecn"), codel);
}

#[test]
fn netem_has_slots() {
    let rate = |text: &str| keys(Dialect::Netem, text).into_iter().find(|(key, _)| *key == "rate").unwrap().1;
    assert_eq!(rate("slot 800us"), "{kind: slots, every: 800 us}");
    assert_eq!(
        rate("slot 1ms 2ms packets 5 bytes 3000 delay 10ms rate 10mbit"),
        "{kind: slots, every: {kind: uniform, from: 1 ms, to: 2 ms}, packets: 5, bytes: 3 kB, rate: 10 Mbit/s}"
    );
    assert_eq!(
        rate("rate 10mbit slot distribution normal 1ms 100us bytes 64k"),
        "{kind: slots, every: {kind: normal, mean: 1 ms, deviation: 100 us}, bytes: 65.536 kB, rate: 10 Mbit/s}"
    );
    assert_eq!(keys(Dialect::Netem, "slot 1ms limit 50")[1], ("queue", "50 packets".to_owned()));
}

#[test]
fn errors_name_the_word() {
    assert_eq!(wrong(Dialect::Netem, "delay"), "netem: \"delay\" is the last word: a time such as 100ms must follow");
    assert!(wrong(Dialect::Netem, "dealy 5ms").contains("unknown word \"dealy\""));
    assert!(wrong(Dialect::Netem, "delay 5ms 1ms distribution norml").contains("unknown distribution \"norml\""));
    assert!(wrong(Dialect::Netem, "rate 1e99mbit").contains("without an exponent"));
    assert!(wrong(Dialect::Dummynet, "red 0.002/5/15").contains("write for example red 0.002/5/15/0.1"));
    assert!(wrong(Dialect::Dummynet, "codel target 5").contains("has no unit"));
    assert!(wrong(Dialect::Netem, "loss 170%").contains("more than 100 %"));
    assert!(wrong(Dialect::Netem, "seed 7").contains("not translated"));
    assert!(wrong(Dialect::Netem, "slot distribution normal 1ms").contains("must follow"));
    assert!(wrong(Dialect::Dummynet, "bw 1Mbit/s mask src-ip 0xff").contains("not translated"));
    assert!(wrong(Dialect::Dummynet, "plr 1.5").contains("more than 100 %"));
    assert!(wrong(Dialect::Tbf, "rate 1mbit latency 5ms").contains("burst is missing"));
    assert!(wrong(Dialect::Tbf, "rate 1mbit burst 5kb latency 5ms limit 3kb").contains("leave one out"));
    assert!(wrong(Dialect::Netem, "").contains("sets nothing"));
    let absurd = "rate 4294967295mbit burst 4542 latency 4294967295ms";
    assert!(wrong(Dialect::Tbf, absurd).contains("more than any queue holds"));
}

/// Words that the dialects know, and some that they do not.
const VOCABULARY: &[&str] = &[
    "delay",
    "loss",
    "gemodel",
    "state",
    "random",
    "corrupt",
    "duplicate",
    "reorder",
    "gap",
    "rate",
    "limit",
    "distribution",
    "normal",
    "pareto",
    "bw",
    "queue",
    "plr",
    "burst",
    "latency",
    "peakrate",
    "config",
    "netem",
    "tbf",
    "10ms",
    "10",
    "5%",
    "101%",
    "0",
    "0.0000000000001",
    "99999999999999999999",
    "1mbit",
    "30KB",
    "2.6Mbit/s",
    "-1",
    "1e9",
    "..",
    "%",
    "ms",
    "µs",
    "50/8",
];

proptest::proptest! {
    /// Any string is translated to something that can stand in a lab file, or refused.
    #[test]
    fn no_string_is_too_strange(words in proptest::collection::vec(0..VOCABULARY.len(), 0..12)) {
        let text: Vec<&str> = words.into_iter().map(|index| VOCABULARY[index]).collect();
        for dialect in Dialect::ALL {
            if let Ok(translation) = translate(dialect, &text.join(" ")) {
                proptest::prop_assert!(!translation.keys.is_empty());
            }
        }
    }

    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,40}") {
        for dialect in Dialect::ALL {
            let _ = translate(dialect, &text);
        }
    }
}

/// The Python package reads the same table.
#[test]
fn values_of_tc_are_read_as_in_the_table() {
    let table = include_str!("../../../../tests/golden/exact.csv");
    let mut read = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [kind, text, value] = fields[..] else { panic!("{line:?} has three fields") };
        let found = match kind {
            "tc-time" => number::tc_time(text).ok().map(netloom_units::Duration::as_nanos),
            "tc-rate" => number::tc_rate(text).ok().map(netloom_units::Rate::as_bits_per_second),
            "tc-size" => number::tc_size(text).ok().map(netloom_units::Bytes::get),
            _ => continue,
        };
        assert_eq!(found, value.parse().ok(), "{line:?}");
        read += 1;
    }
    assert!(read > 15, "{read} lines");
}
