//! The end of a run in words: a table of pipes, the commands, the expectations and the verdict.
//!
//! The text has ANSI colours; the caller strips them where they are not wanted.

mod doctor;
mod effort;
mod groups;
mod simulation;
mod stall;
mod stations;
mod table;
mod tasks;
mod timeline;

use anstyle::{AnsiColor, Style};
pub use doctor::examination;
use netloom_judge::quantity::{figure, rate, span};
use netloom_judge::{
    CommandRow, ExpectationRow, FigureRow, Judgement, PipeRow, Report, RouterRow, SwitchRow, TunnelRow, Verdict,
    telling_columns,
};
pub use simulation::simulation;
pub use stall::stall;
use std::fmt::Write;
use std::path::Path;
pub use table::{Align, Table};
pub use tasks::tasks;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const CAUTION: Style = AnsiColor::Yellow.on_default();
const FAINT: Style = Style::new().dimmed();

/// A report of more rows than this shows only the most important ones; `pipes.csv` has them all.
const ROWS_SHOWN: usize = 40;

/// More findings than these are left to `verdict.json`: the worst come first.
const FINDINGS_SHOWN: usize = 10;

/// Of how many failed commands the last lines of output are shown; `report.json` has those of all.
const QUOTED: usize = 10;

/// Returns the whole report for a terminal of at least 100 columns.
pub fn report(report: &Report) -> String {
    let mut text = String::new();
    text.push_str(&pipes(&report.pipes));
    section(&mut text, "transit routers", &routers(&report.routers));
    section(&mut text, "switches", &switches(&report.switches, "in switches.json"));
    section(&mut text, "stations", &stations::stations(&report.stations, report.duration_ns));
    section(&mut text, "tunnels", &tunnels(&report.tunnels));
    section(&mut text, "commands", &commands(&report.commands));
    section(&mut text, "expectations", &expectations(&report.expectations));
    section(&mut text, "figures", &figures(&report.figures));
    section(&mut text, "tasks", &report.exercise.as_ref().map(tasks).unwrap_or_default());
    for warning in &report.warnings {
        push_line(&mut text, &format!("{CAUTION}warning{CAUTION:#}: {warning}"));
    }
    if !report.warnings.is_empty() {
        text.push('\n');
    }
    if let Some(error) = &report.error {
        push_line(&mut text, &format!("{BAD}failed{BAD:#}: {error}"));
    }
    if report.wall_limit_reached {
        push_line(
            &mut text,
            &format!("{CAUTION}ended by its wall limit{CAUTION:#} after {} of lab time", span(report.duration_ns)),
        );
    }
    if report.interrupted {
        push_line(&mut text, &format!("{CAUTION}interrupted{CAUTION:#} after {}", span(report.duration_ns)));
    }
    text.push_str(&verdict(&report.verdict));
    text.push_str(&timeline::timeline(&report.events));
    if let Some(cost) = &report.effort {
        text.push_str(&effort::effort(cost, report.duration_ns));
    }
    push_line(&mut text, &results(&report.results, report.page.as_deref()));
    if !report.attempts.is_empty() {
        text.push('\n');
        section(&mut text, "all runs", &effort::attempts(&report.attempts));
    }
    text
}

/// Returns what was measured on a link without a lab, and the verdict.
pub fn link(report: &Report) -> String {
    format!("{}{}", pipes(&report.pipes), verdict(&report.verdict))
}

/// Returns the verdict, what was not met, and where the results are: what a script wants to have in its log.
pub fn conclusion(report: &Report) -> String {
    let mut text = String::new();
    let mut quoted = QUOTED;
    for row in report.commands.iter().filter(|row| row.failed) {
        push_line(&mut text, &format!("{BAD}failed{BAD:#}  {} on {}: {}", row.name, row.node, row.ending()));
        push_last_words(&mut text, row, &mut quoted);
    }
    let unmet: Vec<ExpectationRow> = report.expectations.iter().filter(|row| !row.met).cloned().collect();
    text.push_str(&expectations(&unmet));
    text.push_str(&verdict(&report.verdict));
    push_line(&mut text, &format!("results: {}", report.results.display()));
    section(&mut text, "all runs", &effort::attempts(&report.attempts));
    text.trim_end().to_owned()
}

/// Where everything is.
fn results(folder: &Path, page: Option<&Path>) -> String {
    let page = page.map(|page| format!("\nreport: {}", folder.join(page).display()));
    format!("results: {}{}", folder.display(), page.unwrap_or_default())
}

fn section(text: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        push_line(text, &format!("{FAINT}{title}{FAINT:#}"));
        text.push_str(body);
        text.push('\n');
    }
}

fn push_line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to a string");
}

/// Per link and direction: described against measured.
fn pipes(rows: &[PipeRow]) -> String {
    let shown = worth_showing(rows);
    let telling = telling_columns(shown.iter().map(|row| &row.effects));
    let heads = PipeRow::default().effects.headed();
    let mut columns = vec![
        ("link", Align::Left),
        ("rate", Align::Right),
        ("achieved", Align::Right),
        ("delay", Align::Right),
        ("measured", Align::Right),
        ("queue", Align::Right),
        ("drops", Align::Right),
        ("late p50/p99", Align::Right),
    ];
    columns.extend(telling.iter().map(|column| (heads[*column].0, Align::Right)));
    let mut table = Table::new(&columns);
    for row in &shown {
        let effects = row.effects.headed();
        let told =
            telling.iter().map(|column| if row.joined_in_kernel { dash() } else { effects[*column].1.to_string() });
        table.row(pipe_cells(row).into_iter().chain(told).collect());
    }
    let mut text = table.to_string();
    if shown.len() < rows.len() {
        push_line(&mut text, &format!("... {} more in pipes.csv", rows.len() - shown.len()));
    }
    text.push('\n');
    text
}

/// All rows, or of a large lab those with drops first and then those that carried most.
fn worth_showing(rows: &[PipeRow]) -> Vec<&PipeRow> {
    let mut kept: Vec<(usize, &PipeRow)> = rows.iter().enumerate().collect();
    kept.sort_by_key(|(_, row)| std::cmp::Reverse((row.dropped_packets() > 0, row.departed_bytes)));
    kept.truncate(ROWS_SHOWN);
    kept.sort_by_key(|(index, _)| *index);
    kept.into_iter().map(|(_, row)| row).collect()
}

fn pipe_cells(row: &PipeRow) -> Vec<String> {
    let name = pipe_name(&row.link, row.pipe.as_deref(), &row.from, &row.to);
    if row.joined_in_kernel {
        return [vec![name, "in the kernel".into()], vec![dash(); 6]].concat();
    }
    vec![
        name,
        row.rate_bits_per_second.map_or_else(dash, |bits| rate(bits as f64)),
        achieved(row),
        span(row.delay_ns),
        row.measured_delay_mean_ns.map_or_else(dash, span),
        row.queue_peak_packets.to_string(),
        drops(row),
        lateness(row),
    ]
}

/// Returns the name of a pipe in a table: `backbone a>b`, or `backbone.voip a>b`.
pub fn pipe_name(link: &str, further: Option<&str>, from: &str, to: &str) -> String {
    let further = further.map_or_else(String::new, |pipe| format!(".{pipe}"));
    format!("{link}{further} {from}>{to}")
}

/// What is not judged is not shown beside what is: it would look as if it had been.
fn achieved(row: &PipeRow) -> String {
    match row.achieved_bits_per_second {
        Some(_) if !row.rate_judged => format!("{FAINT}not judged{FAINT:#}"),
        achieved => achieved.map_or_else(dash, rate),
    }
}

fn dash() -> String {
    "-".into()
}

fn drops(row: &PipeRow) -> String {
    let causes = [
        ("full", row.dropped_queue_packets),
        ("early", row.dropped_early_packets),
        ("loss", row.dropped_loss_packets),
        ("down", row.dropped_down_packets),
        ("partition", row.dropped_partition_packets),
        ("fault", row.dropped_fault_packets),
        ("air", row.dropped_air_packets),
    ];
    let named: Vec<String> =
        causes.iter().filter(|(_, count)| *count > 0).map(|(cause, count)| format!("{cause} {count}")).collect();
    if named.is_empty() { "0".into() } else { named.join(" ") }
}

fn lateness(row: &PipeRow) -> String {
    match (row.lateness_p50_ns, row.lateness_p99_ns) {
        (Some(median), Some(tail)) => format!("{}/{}", netloom_judge::quantity::bare(median, tail), span(tail)),
        _ => dash(),
    }
}

/// What each transit router did; of many, those that dropped most and then those that carried most.
fn routers(rows: &[RouterRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut kept: Vec<(usize, &RouterRow)> = rows.iter().enumerate().collect();
    kept.sort_by_key(|(_, row)| std::cmp::Reverse((row.dropped_packets(), row.forwarded_packets)));
    kept.truncate(ROWS_SHOWN);
    kept.sort_by_key(|(index, _)| *index);
    let heads = ["forwarded", "answered", "TTL expired", "no route", "too big"].map(|head| (head, Align::Right));
    let mut table = Table::new(&[&[("router", Align::Left)][..], &heads].concat());
    for (_, row) in &kept {
        let counted = [
            row.forwarded_packets,
            row.answered_packets,
            row.expired_packets,
            row.unroutable_packets,
            row.too_big_packets,
        ];
        table.row([row.node.clone()].into_iter().chain(counted.map(|count| count.to_string())).collect());
    }
    let mut text = table.to_string();
    if kept.len() < rows.len() {
        push_line(&mut text, &format!("... {} more in routers.json", rows.len() - kept.len()));
    }
    text
}

/// The paths of tunnels to other machines, a row for each direction. How long datagrams took there, and which were lost, the far end tells.
fn tunnels(rows: &[TunnelRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let heads = ["least", "median", "99 %", "most", "frames", "lost"].map(|head| (head, Align::Right));
    let columns: Vec<_> = [("tunnel", Align::Left), ("path", Align::Left)].into_iter().chain(heads).collect();
    let mut table = Table::new(&columns);
    for row in rows {
        let there = [span(row.base_ns), String::new(), String::new(), String::new(), row.sent_frames.to_string()];
        let names = [row.node.clone(), format!("to {}", row.remote)];
        table.row(names.into_iter().chain(there).chain([String::new()]).collect());
        let back = [row.path_min_ns, row.path_p50_ns, row.path_p99_ns, row.path_max_ns].map(span);
        let counts = [row.received_frames, row.lost_frames].map(|count| count.to_string());
        let begin = [String::new(), format!("from {}", row.remote)];
        table.row(begin.into_iter().chain(back).chain(counts).collect());
    }
    table.to_string()
}

/// Returns a table with the counters of each switch port. Of many ports, it shows those that dropped most and then
/// those that carried most; `rest` says where the others are.
pub fn switches(rows: &[SwitchRow], rest: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut kept: Vec<(usize, &SwitchRow)> = rows.iter().enumerate().collect();
    kept.sort_by_key(|(_, row)| std::cmp::Reverse((row.dropped_frames(), row.received_frames + row.sent_frames)));
    kept.truncate(ROWS_SHOWN);
    kept.sort_by_key(|(index, _)| *index);
    let heads = ["received", "sent", "flooded", "dropped", "learned", "moved"].map(|head| (head, Align::Right));
    // Only where there is a spanning tree.
    let in_tree = rows.iter().any(|row| row.tree.is_some()).then_some(("spanning tree", Align::Left));
    // Only where one looks at groups of multicast.
    let snoops = rows.iter().any(|row| row.snooping.is_some()).then_some(("groups", Align::Left));
    let names = [("switch", Align::Left), ("link", Align::Left)];
    let columns: Vec<_> = names.into_iter().chain(heads).chain(in_tree).chain(snoops).collect();
    let mut table = Table::new(&columns);
    let mut last = None;
    for (_, row) in &kept {
        let name = if last.replace(&row.node) == Some(&row.node) { String::new() } else { row.node.clone() };
        let counted = [
            row.received_frames,
            row.sent_frames,
            row.flooded_frames,
            row.dropped_frames(),
            row.learned_addresses,
            row.moved_addresses,
        ];
        let tree =
            in_tree.map(|_| row.tree.as_ref().map_or_else(String::new, |tree| format!("{} {}", tree.role, tree.state)));
        let counted = counted.map(|count| count.to_string());
        let groups = snoops.map(|_| row.snooping.as_ref().map_or_else(String::new, groups::of_port));
        table.row([name, row.link.clone()].into_iter().chain(counted).chain(tree).chain(groups).collect());
    }
    let mut text = table.to_string();
    if kept.len() < rows.len() {
        push_line(&mut text, &format!("... {} more {rest}", rows.len() - kept.len()));
    }
    text + &groups::groups(rows, rest)
}

fn commands(rows: &[CommandRow]) -> String {
    let mut table = Table::bare(&[Align::Left, Align::Left, Align::Left, Align::Right, Align::Left]);
    for row in rows {
        let (style, word) = match row {
            CommandRow { failed: true, .. } => (BAD, "failed"),
            CommandRow { interrupted: true, .. } => (CAUTION, "cut short"),
            CommandRow { start_ns: None, .. } => (FAINT, "not run"),
            _ => (GOOD, "ok"),
        };
        table.row(vec![
            format!("{style}{word}{style:#}"),
            row.name.clone(),
            format!("on {}", row.node),
            duration_of(row),
            row.ending(),
        ]);
    }
    let mut text = String::new();
    let mut quoted = QUOTED;
    for (line, row) in table.to_string().lines().zip(rows) {
        push_line(&mut text, line);
        push_last_words(&mut text, row, &mut quoted);
    }
    text
}

/// The last lines that a failed command wrote; those of the `quoted` first ones.
fn push_last_words(text: &mut String, row: &CommandRow, quoted: &mut usize) {
    if row.stderr_tail.is_empty() || *quoted == 0 {
        return;
    }
    *quoted -= 1;
    for line in &row.stderr_tail {
        push_line(text, &format!("        {FAINT}|{FAINT:#} {line}"));
    }
}

fn duration_of(row: &CommandRow) -> String {
    match (row.start_ns, row.end_ns) {
        (Some(start), Some(end)) => span(u64::try_from(end - start).unwrap_or(0)),
        _ => dash(),
    }
}

/// Returns a list of the expectations, each with what was measured.
pub fn expectations(rows: &[ExpectationRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let (style, word) = if row.met { (GOOD, "met") } else { (BAD, "NOT met") };
        push_line(&mut text, &format!("{style}{word}{style:#}  {}", row.text));
        push_line(&mut text, &format!("     {FAINT}{}{FAINT:#}", row.explanation));
    }
    text
}

fn figures(rows: &[FigureRow]) -> String {
    let mut table = Table::bare(&[Align::Left, Align::Right]);
    for row in rows {
        let missing = || format!("none: {}", row.missing.as_deref().unwrap_or("it was not measured"));
        table.row(vec![row.name.clone(), row.value.map_or_else(missing, |value| figure(value, &row.unit))]);
    }
    table.to_string()
}

/// Returns the verdict, with what speaks against it.
pub fn verdict(verdict: &Verdict) -> String {
    let style = match verdict {
        Verdict { judgement: Judgement::AsDescribed, .. } => GOOD,
        Verdict { findings, .. } if findings.is_empty() => CAUTION,
        _ => BAD,
    };
    let mut text = format!("verdict: {style}{}{style:#}\n", verdict.headline());
    for finding in verdict.findings.iter().take(FINDINGS_SHOWN).skip(1) {
        push_line(&mut text, &format!("  {}: {}", finding.subject, finding.text));
    }
    if verdict.findings.len() > FINDINGS_SHOWN {
        push_line(&mut text, &format!("  ... {} more in verdict.json", verdict.findings.len() - FINDINGS_SHOWN));
    }
    for cause in &verdict.causes {
        push_line(&mut text, &format!("  cause: {cause}"));
    }
    if let Some(proposal) = verdict.proposal() {
        push_line(&mut text, &format!("  {proposal}"));
    }
    if let Some(machine) = &verdict.machine {
        push_line(&mut text, &format!("  {machine}"));
    }
    if let Some(bound) = verdict.one_way_bound_ns.filter(|bound| *bound > 0) {
        push_line(&mut text, &format!("  one-way delays between machines: off by {} at most", span(bound)));
    }
    for note in &verdict.notes {
        push_line(&mut text, &format!("  {FAINT}not judged: {note}{FAINT:#}"));
    }
    text
}

#[cfg(test)]
mod tests;
