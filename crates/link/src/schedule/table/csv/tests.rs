use super::*;
use netloom_units::{Bytes, Duration, Limit, Probability, Rate};

#[test]
fn cells_are_read_in_the_units_of_their_columns() {
    let text =
        "# A comment.\r\ntime_ms, rate_Mbit_s,loss_percent,queue_packets,delay_us\r\n0,1.5,,7,250\r\n0.001,,0.1,,\r\n";
    let first = Step {
        at: Duration::ZERO,
        rate: Rate::from_bits_per_second(1_500_000),
        delay: Some(Duration::from_micros(250)),
        loss: None,
        queue: Some(Limit::Packets(7)),
    };
    let loss = Probability::from_parts_per_trillion(1_000_000_000);
    let second = Step { at: Duration::from_micros(1), loss, ..Step::default() };
    assert_eq!(steps(text), Ok(alloc::vec![first, second]));
    let limit = |table: &str| steps(table).expect("a table")[0].queue.expect("a limit");
    assert_eq!(limit("time_s,queue_bytes\n1,3000"), Limit::Bytes(Bytes::new(3_000)));
    assert_eq!(limit("queue_ms,time_s\n50,1"), Limit::Time(Duration::from_millis(50)));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let wrong = |text: &str| steps(text).expect_err("it is wrong").message;
    let with = |lines: &str| wrong(&format!("time_us,rate_bit_s,loss_percent\n{lines}"));
    for (told, why) in [
        (wrong(""), "the table is empty: begin with a line like `time_s,rate_Mbit_s`"),
        (wrong("time_s,rate_bit_s\n"), "the table has no line below the names of its columns"),
        (wrong("rate_bit_s\n5\n"), "line 1: it has no column of times: add time_s, time_ms, time_us or time_ns"),
        (wrong("time_s\n5\n"), "line 1: it has only times: add a column for rate, delay, loss or queue"),
        (
            wrong("time_s,rate_bit_s,rate_kbit_s\n"),
            "line 1: the columns `rate_bit_s` and `rate_kbit_s` say the same: leave one out",
        ),
        (with("1,2\n"), "line 2: not as many fields as columns: 2 and 3"),
        (with("\n"), "line 2: the line is empty"),
        (with(",5,1\n"), "line 2: time_us is empty: every line has its time"),
        (with("1,,\n# no step\n1,,\n"), "line 4: 1 us is not behind 1 us: times rise from line to line"),
        (with("1,5 k,\n"), "line 2: rate_bit_s: \"5 k\" is not a number"),
        (with("1,1e6,\n"), "line 2: rate_bit_s: \"1e6\" is not a number"),
        (
            with("1,0,\n"),
            "line 2: rate_bit_s: \"0 bit/s\" is zero and nothing would ever leave; to cut a link, write `down` in the timeline",
        ),
        (
            with("1,,101\n"),
            "line 2: loss_percent: \"101 %\" is more than 100 %: a probability lies between 0 % and 100 %",
        ),
    ] {
        assert_eq!(told, why);
    }
    assert!(wrong("time_s,rate_bps\n").starts_with("line 1: unknown column `rate_bps`: known are time_s, time_ms,"));
    assert!(with("0.0001,1,\n").starts_with("line 2: time_us: \"0.0001 us\" is not a whole number of nanoseconds"));
    assert!(with("-1,1,\n").starts_with("line 2: time_us: \"-1 us\" is below zero"));
}
