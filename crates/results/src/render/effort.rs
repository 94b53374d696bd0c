//! What a run cost, and the runs of a search for a dilation side by side.

use super::{Align, BAD, GOOD, Table, dash, push_line, span};
use netloom_judge::{Attempt, Effort, Phases, SchedulerEffort};
use std::fmt::Write;

/// What a run in dilated or virtual time cost, in two lines; nothing for others.
pub(super) fn effort(effort: &Effort, duration_ns: u64) -> String {
    let mut text = String::new();
    let took = format!("{} of lab time took {} of wall time", span(duration_ns), span(effort.wall_ns));
    if let Some(scheduler) = &effort.scheduler {
        push_line(&mut text, &format!("virtual time: {took}; {}", scheduled(scheduler)));
        text.push_str(&effort.phases.map_or_else(String::new, phases));
    } else if let Some(dilation) = effort.dilation.filter(|dilation| *dilation > 1.0) {
        let engine = effort.engine_cpu_share.map_or_else(String::new, |share| format!("; engine {}", percent(share)));
        push_line(&mut text, &format!("dilation {dilation}: {took}{engine}{}", busiest(effort)));
        text.push_str(&effort.phases.map_or_else(String::new, phases));
    }
    if let [_, _, ..] = &effort.engine_thread_shares[..] {
        let shares: Vec<String> = effort.engine_thread_shares.iter().map(|share| percent(*share)).collect();
        push_line(&mut text, &format!("engine: {} shards, {} of a processor", shares.len(), shares.join(" + ")));
    }
    text
}

fn scheduled(scheduler: &SchedulerEffort) -> String {
    let SchedulerEffort { packets, packets_per_wall_second, windows, .. } = scheduler;
    format!("{packets} packets sent, {packets_per_wall_second:.0} per second of wall time, in {windows} windows")
}

/// The wall time by phases, in a line.
pub(super) fn phases(phases: Phases) -> String {
    let Phases { setup_ns, boot_ns, lab_ns, end_ns, results_ns } = phases;
    let all = [("set-up", setup_ns), ("boot", boot_ns), ("lab", lab_ns), ("end", end_ns), ("results", results_ns)];
    let words = all.iter().filter(|(_, ns)| *ns > 0).map(|(name, ns)| format!("{name} {}", rounded(*ns)));
    let total = all.iter().map(|(_, ns)| ns).sum();
    format!("wall time: {} ({})\n", rounded(total), words.collect::<Vec<_>>().join(", "))
}

/// A span to a tenth of a millisecond: below that, wall time is chance.
fn rounded(ns: u64) -> String {
    const TENTH_NS: u64 = 100_000;
    span(ns.saturating_add(TENTH_NS / 2) / TENTH_NS * TENTH_NS)
}

/// The node that used most of its processor.
fn busiest(effort: &Effort) -> String {
    let busiest = effort.nodes.iter().max_by(|a, b| a.ran_share.total_cmp(&b.ran_share));
    busiest.map_or_else(String::new, |node| format!(", node {} {} of a processor", node.node, percent(node.ran_share)))
}

/// All runs of a search; nothing without one.
pub(super) fn attempts(attempts: &[Attempt]) -> String {
    if attempts.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("clock", Align::Left),
        ("verdict", Align::Left),
        ("late p99", Align::Right),
        ("rate off by", Align::Right),
        ("engine", Align::Right),
        ("took", Align::Right),
        ("results", Align::Left),
    ]);
    for attempt in attempts {
        table.row(cells(attempt));
    }
    table.to_string()
}

fn cells(attempt: &Attempt) -> Vec<String> {
    let (style, word) = if attempt.as_described { (GOOD, "as described") } else { (BAD, "NOT as described") };
    let mut verdict = String::new();
    write!(verdict, "{style}{word}{style:#}").expect("writing to a string");
    let folder = attempt.results.file_name().map_or_else(dash, |name| name.to_string_lossy().into_owned());
    vec![
        match attempt.dilation {
            Some(dilation) if attempt.clock != "real" => format!("dilation {dilation}"),
            _ => attempt.clock.clone(),
        },
        verdict,
        attempt.lateness_p99_ns.map_or_else(dash, span),
        attempt.worst_rate_error.map_or_else(dash, percent),
        attempt.engine_cpu_share.map_or_else(dash, percent),
        span(attempt.wall_ns),
        folder,
    ]
}

fn percent(share: f64) -> String {
    if share < 0.1 { format!("{:.1} %", share * 100.0) } else { format!("{:.0} %", share * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn runs_stand_side_by_side() {
        let real = Attempt {
            clock: "real".into(),
            dilation: Some(1.0),
            as_described: false,
            verdict: "NOT as described: it was late".into(),
            lateness_p99_ns: Some(12_000_000),
            worst_rate_error: Some(0.25),
            engine_cpu_share: Some(0.051),
            wall_ns: 5_000_000_000,
            results: "/results/lab/one".into(),
        };
        let slower = Attempt {
            clock: "{dilation: 10}".into(),
            dilation: Some(10.0),
            as_described: true,
            results: "/results/lab/two".into(),
            worst_rate_error: None,
            ..real.clone()
        };
        let text = plain(&attempts(&[real, slower]));
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1].join(" "), "real NOT as described 12 ms 25 % 5.1 % 5 s one");
        assert_eq!(lines[2].join(" "), "dilation 10 as described 12 ms - 5.1 % 5 s two");
        assert_eq!(attempts(&[]), "");
    }

    #[test]
    fn virtual_time_tells_its_packets_and_real_time_nothing() {
        let scheduler = SchedulerEffort {
            packets: 1_000,
            packets_per_wall_second: 2_000.4,
            windows: 7,
            ..SchedulerEffort::default()
        };
        let phases =
            Phases { setup_ns: 20_000_000, boot_ns: 0, lab_ns: 500_000_000, end_ns: 1_049_000, results_ns: 9_000_000 };
        let cost =
            Effort { wall_ns: 500_000_000, scheduler: Some(scheduler), phases: Some(phases), ..Effort::default() };
        assert_eq!(
            effort(&cost, 2_000_000_000),
            "virtual time: 2 s of lab time took 500 ms of wall time; 1000 packets sent, 2000 per second of wall time, in 7 windows\n\
             wall time: 530 ms (set-up 20 ms, lab 500 ms, end 1 ms, results 9 ms)\n"
        );
        let real = Effort { clock: "real".into(), dilation: Some(1.0), ..Effort::default() };
        assert_eq!(effort(&real, 2_000_000_000), "");
        let sharded = Effort { engine_thread_shares: vec![0.25, 0.013], ..real };
        assert_eq!(effort(&sharded, 2_000_000_000), "engine: 2 shards, 25 % + 1.3 % of a processor\n");
    }
}
