use super::*;

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn backbone() -> PipeRow {
    PipeRow {
        link: "backbone".into(),
        direction: "forward".into(),
        from: "router1".into(),
        to: "router2".into(),
        rate_bits_per_second: Some(100_000_000),
        achieved_bits_per_second: Some(99_998_000.0),
        rate_judged: true,
        delay_ns: 20_000_000,
        measured_delay_mean_ns: Some(20_004_000),
        queue_peak_packets: 1_000,
        dropped_queue_packets: 1_234,
        dropped_loss_packets: 5,
        lateness_p50_ns: Some(4_200),
        lateness_p99_ns: Some(131_000),
        ..PipeRow::default()
    }
}

#[test]
fn the_table_fits_a_hundred_columns() {
    let text = plain(&pipes(&[backbone()]));
    let expected = "\
link                              rate      achieved  delay      measured  queue              drops  late p50/p99
backbone router1>router2  100 Mbit/s  100 Mbit/s  20 ms  20 ms   1000  full 1234 loss 5  4.2/131 us
";
    for line in text.lines() {
        assert!(line.chars().count() <= 110, "{line}");
    }
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn what_was_not_judged_does_not_look_as_if() {
    let short = PipeRow { achieved_bits_per_second: Some(40_000_000.0), rate_judged: false, ..backbone() };
    let text = plain(&pipes(&[short]));
    assert!(text.contains("100 Mbit/s  not judged  20 ms"), "{text}");
}

/// Only those columns appear that have something to say.
#[test]
fn marks_and_cross_traffic_have_columns_where_there_are_any() {
    let mut row = backbone();
    row.dropped_early_packets = 17;
    row.effects.marked_packets = 4_321;
    row.effects.cross_arrived_packets = 98_765;
    let text = plain(&pipes(&[row, PipeRow::default()]));
    let head = text.lines().next().unwrap();
    assert!(head.ends_with("late p50/p99  marks  cross"), "{head}");
    let first = text.lines().nth(1).unwrap();
    assert!(first.contains("full 1234 early 17 loss 5") && first.ends_with(" 4321  98765"), "{first}");
}

#[test]
fn a_link_in_the_kernel_has_no_figures() {
    let lan =
        PipeRow { link: "lan".into(), from: "a".into(), to: "b".into(), joined_in_kernel: true, ..PipeRow::default() };
    let text = plain(&pipes(&[backbone(), lan]));
    let row = text.lines().nth(2).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(row, "lan a>b in the kernel - - - - - -");
}

#[test]
fn a_large_lab_shows_the_rows_that_say_something() {
    let mut rows = vec![PipeRow::default(); 100];
    rows[77] = backbone();
    let text = plain(&pipes(&rows));
    assert!(text.contains("backbone"), "{text}");
    assert!(text.contains("60 more in pipes.csv"), "{text}");
}

#[test]
fn what_was_not_met_is_said_in_capitals() {
    let row = ExpectationRow {
        text: "transfer.exit == 0".into(),
        line: 20,
        met: false,
        explanation: "measured 1, wanted 0".into(),
    };
    assert_eq!(plain(&expectations(&[row])), "NOT met  transfer.exit == 0\n     measured 1, wanted 0\n");
}

#[test]
fn the_verdict_names_the_worst_finding_and_what_would_help() {
    let finding = |subject: &str, text: &str| netloom_judge::Finding {
        subject: subject.into(),
        text: text.into(),
        slowing: None,
    };
    let bad = Verdict {
        one_way_bound_ns: Some(38_000),
        judgement: Judgement::NotAsDescribed,
        findings: vec![finding("backbone forward", "12 ms late"), finding("engine", "3 packets lost")],
        causes: vec!["the engine waited".into()],
        dilation: Some(12),
        machine: Some("netloom doctor says why".into()),
        notes: vec!["the CPU share of r1: no controller".into()],
    };
    assert_eq!(
        plain(&verdict(&bad)),
        "verdict: NOT as described: backbone forward: 12 ms late (and 1 more)\n  engine: 3 packets lost\n  \
         cause: the engine waited\n  a dilation of 12 would fit: --clock 12, or --auto-dilate\n  netloom doctor says why\n  \
         one-way delays between machines: off by 38 us at most\n  not judged: the CPU share of r1: no controller\n"
    );
    let good = Verdict { judgement: Judgement::AsDescribed, ..Verdict::default() };
    assert_eq!(plain(&verdict(&good)), "verdict: as described\n");
    assert_eq!(plain(&verdict(&Verdict::default())), "verdict: not judged: no link carried a packet\n");
}

/// What was measured of one direction does not stand beside what was measured of the other.
#[test]
fn a_tunnel_has_a_row_for_each_direction() {
    let row = TunnelRow {
        node: "far".into(),
        remote: "192.0.2.2".into(),
        base_ns: 8_005_000,
        path_min_ns: 3_001_000,
        path_p50_ns: 3_031_000,
        path_p99_ns: 3_100_000,
        path_max_ns: 3_200_000,
        sent_frames: 1_200,
        received_frames: 1_203,
        lost_frames: 2,
        ..TunnelRow::default()
    };
    let text = plain(&tunnels(&[row]));
    let words: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["far", "to", "192.0.2.2", "8.005", "ms", "1200"], "{text}");
    assert_eq!(words[1][..2], ["from", "192.0.2.2"], "{text}");
    assert!(words[1].ends_with(&["1203", "2"]) && !words[1].contains(&"8.005"), "{text}");
}
