//! How late the events of the timeline were, in one line.

use super::span;
use netloom_judge::{Lateness, Punctuality};

/// Nothing without events.
pub(super) fn timeline(events: &Punctuality) -> String {
    let kinds = [
        (&events.link_changes, "link change", "link changes"),
        (&events.measurements, "measurement", "measurements"),
        (&events.program_starts, "program start", "program starts"),
        (&events.signals, "signal", "signals"),
    ];
    let told: Vec<String> = kinds.into_iter().filter_map(|(lateness, one, many)| told(lateness, one, many)).collect();
    if told.is_empty() { String::new() } else { format!("timeline: {}\n", told.join(", ")) }
}

fn told(lateness: &Lateness, one: &str, many: &str) -> Option<String> {
    let worst = span(lateness.worst_ns?);
    Some(match lateness.count {
        1 => format!("1 {one} {worst} late"),
        count => format!("{count} {many} at most {worst} late"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_each_kind_is_told() {
        let lateness = |count, worst_ns| Lateness { count, worst_ns: Some(worst_ns), ..Lateness::default() };
        let events = Punctuality {
            link_changes: lateness(1, 45_000),
            program_starts: lateness(60, 120_000_000),
            ..Punctuality::default()
        };
        assert_eq!(timeline(&events), "timeline: 1 link change 45 us late, 60 program starts at most 120 ms late\n");
        assert_eq!(timeline(&Punctuality::default()), "");
    }
}
