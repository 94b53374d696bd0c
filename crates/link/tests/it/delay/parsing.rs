//! Files with delays: what is read of them, and that no text breaks the reading.

use super::{MS, draws, free, ms};
use netloom_link::{Bins, ConfigError, Correlation, Distribution, Histogram, Samples, Table, TableDelay, Values};
use netloom_units::Duration;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn message<T: std::fmt::Debug>(parsed: Result<T, ConfigError>) -> String {
    parsed.expect_err("it is wrong").to_string()
}

/// What the files may hold, and other things.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("10 ms".to_owned()),
        Just("-8192".to_owned()),
        Just("12 ms, 3".to_owned()),
        Just("15 ms, 0".to_owned()),
        Just("# note".to_owned()),
        Just("\n".to_owned()),
        (-40_000..40_000_i32).prop_map(|number| number.to_string()),
        (0..u64::MAX, 0.0..1e308).prop_map(|(from, weight)| format!("\n{from} ns, {weight}\n")),
        "\\PC{0,6}",
    ];
    vec(word, 0..30).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_text_breaks_the_reading(text in texts()) {
        let file = String::new;
        let table = Table::parse(&text).map(|table| {
            Distribution::Table(TableDelay { mean: ms(20), deviation: ms(3), table, file: file() })
        });
        let bins = Bins::parse(&text).map(|bins| Distribution::Histogram(Histogram { bins, file: file() }));
        let samples = Values::parse(&text).map(|values| {
            Distribution::Samples(Samples { values, file: file(), replay: false })
        });
        for distribution in [table, bins, samples].into_iter().flatten() {
            prop_assert_eq!(draws(20, free(distribution, "0 %"), 1).len(), 20);
        }
        let _ = text.parse::<Correlation>();
    }

    #[test]
    fn a_correlation_is_written_as_it_is_read(parts in 0..=1_000_000_000_000_u64, below in any::<bool>()) {
        let size = netloom_units::Probability::from_parts_per_trillion(parts).expect("at most 1");
        let correlation = Correlation::new(size, below);
        prop_assert_eq!(correlation.to_string().parse(), Ok(correlation));
        prop_assert!((-1.0..=1.0).contains(&correlation.as_f64()));
    }

    #[test]
    fn a_histogram_stays_within_its_bins(
        begin in 0..1_000_u64, widths in vec((1..1_000_u64, 0..1_000_u32), 1..20), seed in any::<u64>(),
    ) {
        let mut text = String::new();
        let mut bins = Vec::new();
        let mut from = begin;
        for (width, weight) in &widths {
            text += &format!("{from} us, {weight}\n");
            bins.push((from, from + width, *weight));
            from += width;
        }
        text += &format!("{from} us, 0\n");
        prop_assume!(bins.iter().any(|bin| bin.2 > 0));
        let bins_read = Bins::parse(&text).expect("bins");
        let histogram = Distribution::Histogram(Histogram { bins: bins_read, file: String::new() });
        for delay in draws(50, free(histogram, "0 %"), seed) {
            let inside = |bin: &(u64, u64, u32)| delay >= bin.0 as f64 * 1e3 && delay <= bin.1 as f64 * 1e3 && bin.2 > 0;
            prop_assert!(bins.iter().any(inside), "{delay} lies in no bin of {text}");
        }
    }
}

#[test]
fn comments_and_empty_lines_do_not_count() {
    let table = Table::parse("# netem\n\n 8192 # one deviation\n").expect("a table");
    let delay = TableDelay { mean: ms(20), deviation: ms(3), table, file: String::new() };
    assert_eq!(draws(2, free(Distribution::Table(delay), "0 %"), 1), [23.0 * MS, 23.0 * MS]);
    assert_eq!(Values::parse("# none\n\n1 ms # one\n"), Values::parse("1 ms"));
    assert_eq!(Bins::parse("\n1 ms, 2 # one\n2 ms,0\n"), Bins::parse("1 ms,2\n2 ms,0"));
}

/// Linux takes up to 16,384 values (`NETEM_DIST_MAX`).
#[test]
fn a_table_has_one_to_16384_values() {
    let values = |count: usize| "0 ".repeat(count);
    for right in [1, 4_096, 16_384] {
        Table::parse(&values(right)).expect("a table");
    }
    assert_eq!(message(Table::parse("")), "file: it has no values: a table has 1 to 16384");
    let long = "file: line 1: the table goes on after 16384 values, which netem allows";
    assert_eq!(message(Table::parse(&values(16_385))), long);
}

#[test]
fn errors_name_the_line() {
    assert!(message(Table::parse("0 1\n\n2 x")).starts_with("file: line 3: \"x\" is not a whole number"));
    assert!(message(Bins::parse("1 ms, 2\n1 ms, 0")).starts_with("file: line 2: 1 ms does not come after"));
    assert!(message(Values::parse("1 ms\n2")).starts_with("file: line 2: \"2\" has no unit"));
}

#[test]
fn a_replay_begins_again_and_has_no_correlation() {
    let values = Values::parse("3 ms\n1 ms\n2 ms").expect("values");
    let samples = Distribution::Samples(Samples { values, file: String::new(), replay: true });
    let mut delay = free(samples, "0 %");
    assert_eq!(draws(5, delay.clone(), 1), [3.0, 1.0, 2.0, 3.0, 1.0].map(|time| time * MS));
    assert_eq!(delay.mean(), Duration::from_millis(2));
    delay.correlation = "10 %".parse().expect("a correlation");
    assert_eq!(delay.check().expect_err("it is refused").key, "correlation");
}
