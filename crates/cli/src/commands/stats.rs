//! `netloom stats`

use super::{DONE, Outcome, print_on};
use crate::args::StatsArgs;
use netloom_control::{Client, LabStats, PipeStats, only_lab};
use netloom_host::terminal::{WindowSize, window_size};
use netloom_judge::quantity::{rate, span};
use netloom_judge::telling_columns;
use netloom_results::render::{Align, Table, pipe_name, switches};
use std::io::{IsTerminal, stdout};
use std::thread::sleep;
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);

/// Moves the cursor home and clears what is below, so that the table is drawn over the last one.
const REDRAW: &str = "\x1b[H\x1b[J";

pub(super) fn stats(args: &StatsArgs) -> Outcome {
    let lab = args.lab.clone().map_or_else(only_lab, Ok)?;
    let mut client = Client::connect(&lab)?;
    if args.json {
        return repeat(&mut client, args.once, &mut |stats, _| {
            serde_json::to_string(stats).expect("statistics have string keys only")
        });
    }
    let redraw = if stdout().is_terminal() && !args.once { REDRAW } else { "" };
    let before = client.stats()?;
    sleep(PERIOD);
    repeat_from(before, &mut client, args.once, &mut |now, earlier| {
        // Asked anew every time: somebody may have changed it.
        let size = if redraw.is_empty() { None } else { window_size(stdout()) };
        format!("{redraw}{}", fitted(now, earlier, size))
    })
}

/// The columns that are left out on a narrow terminal, in this order.
const DISPENSABLE: [&str; 6] = ["packets/s", "delay", "drops/s", "rate", "state", "load"];

/// The part of the table that fits: a wider or longer one would scroll the terminal and leave copies behind.
fn fitted(now: &LabStats, before: &LabStats, size: Option<WindowSize>) -> String {
    let Some(WindowSize { rows, columns }) = size.filter(|size| size.rows > 2 && size.columns > 0) else {
        return table(now, before, &[]);
    };
    let (rows, columns) = (usize::from(rows), usize::from(columns));
    let heads = PipeStats::default().effects.headed();
    let order: Vec<&str> = heads.iter().rev().map(|(head, _)| *head).chain(DISPENSABLE).collect();
    let is_narrow = |text: &String| text.lines().all(|line| plain(line).chars().count() <= columns);
    let mut texts = (0..=order.len()).map(|count| table(now, before, &order[..count]));
    let text = texts.clone().find(is_narrow).or(texts.next_back()).unwrap_or_default();
    let count = text.lines().count();
    // The line behind the last is the cursor's.
    let shown = if count < rows { count } else { rows - 2 };
    let cut = |line: &str| {
        if plain(line).chars().count() <= columns {
            line.to_owned()
        } else {
            plain(line).chars().take(columns).collect()
        }
    };
    let mut lines: Vec<String> = text.lines().take(shown).map(cut).collect();
    if shown < count {
        let rest = format!("and {} more: `netloom stats --once` shows all", count - shown);
        lines.push(rest.chars().take(columns).collect());
    }
    lines.join("\n")
}

/// Without colours.
fn plain(line: &str) -> String {
    anstream::adapter::strip_str(line).to_string()
}

type Format<'a> = &'a mut dyn FnMut(&LabStats, &LabStats) -> String;

fn repeat(client: &mut Client, once: bool, format: Format<'_>) -> Outcome {
    let first = client.stats()?;
    if !print_on(&format(&first, &first))? || once {
        return DONE;
    }
    sleep(PERIOD);
    repeat_from(first, client, once, format)
}

/// Prints until the lab ends, the reader closes the output, or Ctrl-C is pressed.
fn repeat_from(mut before: LabStats, client: &mut Client, once: bool, format: Format<'_>) -> Outcome {
    while let Ok(now) = client.stats() {
        if !print_on(&format(&now, &before))? || once {
            break;
        }
        before = now;
        sleep(PERIOD);
    }
    DONE
}

/// The table without these columns.
fn table(now: &LabStats, before: &LabStats, without: &[&str]) -> String {
    let telling = telling_columns(now.pipes.iter().map(|pipe| &pipe.effects));
    let heads = PipeStats::default().effects.headed();
    let mut columns = vec![
        ("link", Align::Left),
        ("state", Align::Left),
        ("rate", Align::Right),
        ("delay", Align::Right),
        ("carries", Align::Right),
        ("load", Align::Right),
        ("packets/s", Align::Right),
        ("queue", Align::Right),
        ("drops/s", Align::Right),
        ("drops", Align::Right),
    ];
    columns.extend(telling.iter().map(|column| (heads[*column].0, Align::Right)));
    let kept: Vec<bool> = columns.iter().map(|(head, _)| !without.contains(head)).collect();
    let of_kept =
        |cells: Vec<String>| cells.into_iter().zip(&kept).filter_map(|(cell, kept)| kept.then_some(cell)).collect();
    let mut table =
        Table::new(&columns.iter().zip(&kept).filter_map(|(column, kept)| kept.then_some(*column)).collect::<Vec<_>>());
    let seconds = (now.at_ns.saturating_sub(before.at_ns)) as f64 / 1e9;
    for (pipe, earlier) in now.pipes.iter().zip(&before.pipes) {
        let effects = pipe.effects.headed();
        let told =
            telling.iter().map(|column| if pipe.joined_in_kernel { dash() } else { effects[*column].1.to_string() });
        table.row(of_kept(cells(pipe, earlier, seconds.max(f64::EPSILON)).into_iter().chain(told).collect()));
    }
    let switches = switches(&now.switches, "with --json");
    let rest = if switches.is_empty() { String::new() } else { format!("\n\n{}", switches.trim_end()) };
    format!("{}{rest}", table.to_string().trim_end())
}

fn cells(pipe: &PipeStats, before: &PipeStats, seconds: f64) -> Vec<String> {
    let name = pipe_name(&pipe.link, pipe.pipe.as_deref(), &pipe.from, &pipe.to);
    if pipe.joined_in_kernel {
        // Nothing of it is measured, and zeros would say that it is idle.
        return [vec![name, "in the kernel".into()], vec![dash(); 8]].concat();
    }
    let per_second = |after: u64, earlier: u64| after.saturating_sub(earlier) as f64 / seconds;
    let carries = per_second(pipe.departed_bytes, before.departed_bytes) * 8.0;
    let load = pipe.rate_bits_per_second.map(|described| carries / described as f64 * 100.0);
    vec![
        name,
        if pipe.up { "up".into() } else { "down".into() },
        pipe.rate_bits_per_second.map_or_else(dash, |bits| rate(bits as f64)),
        span(pipe.delay_ns),
        rate(carries),
        load.map_or_else(dash, |percent| format!("{percent:.1} %")),
        format!("{:.0}", per_second(pipe.departed_packets, before.departed_packets)),
        pipe.queued_packets.to_string(),
        format!("{:.0}", per_second(drops(pipe), drops(before))),
        drops(pipe).to_string(),
    ]
}

fn dash() -> String {
    "-".into()
}

fn drops(pipe: &PipeStats) -> u64 {
    pipe.dropped_queue_packets
        + pipe.dropped_loss_packets
        + pipe.dropped_early_packets
        + pipe.dropped_down_packets
        + pipe.dropped_partition_packets
        + pipe.dropped_fault_packets
        + pipe.dropped_air_packets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_differences_over_time() {
        let before = PipeStats { link: "l".into(), from: "a".into(), to: "b".into(), up: true, ..PipeStats::default() };
        let now = PipeStats {
            rate_bits_per_second: Some(1_000_000),
            departed_bytes: 125_000,
            dropped_loss_packets: 4,
            ..before.clone()
        };
        let stats = |at_ns, pipe: &PipeStats| LabStats {
            at_ns,
            pipes: vec![pipe.clone()],
            switches: Vec::new(),
            stations: Vec::new(),
        };
        let text = table(&stats(3_000_000_000, &now), &stats(1_000_000_000, &before), &[]);
        let row: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row.join(" "), "l a>b up 1 Mbit/s 0 ns 500 kbit/s 50.0 % 0 0 2 4");
        let joined = PipeStats { joined_in_kernel: true, ..now.clone() };
        let unseen = table(&stats(3_000_000_000, &joined), &stats(1_000_000_000, &before), &[]);
        let unseen: Vec<&str> = unseen.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(unseen.join(" "), "l a>b in the kernel - - - - - - - -");
        let mut crossed = now;
        crossed.effects.cross_arrived_packets = 77;
        let wider = table(&stats(3_000_000_000, &crossed), &stats(1_000_000_000, &before), &[]);
        assert!(wider.lines().next().unwrap().contains("drops  cross"), "{wider}");
        assert!(wider.ends_with("  4     77"), "{wider}");
    }

    #[test]
    fn a_table_fits_its_terminal() {
        let pipe = |number: u32| PipeStats {
            link: format!("link-{number}"),
            from: "client".into(),
            to: "server".into(),
            rate_bits_per_second: Some(100_000_000),
            ..PipeStats::default()
        };
        let stats =
            |at_ns| LabStats { at_ns, pipes: (0..50).map(pipe).collect(), switches: Vec::new(), stations: Vec::new() };
        let (now, before) = (stats(3_000_000_000), stats(1_000_000_000));
        for (rows, columns) in [(24, 80), (10, 40), (60, 200), (3, 10)] {
            let text = fitted(&now, &before, Some(WindowSize { rows, columns }));
            let lines: Vec<String> = text.lines().map(plain).collect();
            assert!(lines.len() < usize::from(rows), "{} lines on {rows}", lines.len());
            assert!(lines.iter().all(|line| line.chars().count() <= usize::from(columns)), "{text}");
        }
        let narrow = fitted(&now, &before, Some(WindowSize { rows: 24, columns: 80 }));
        assert!(
            narrow.contains("drops") && narrow.ends_with("and 29 more: `netloom stats --once` shows all"),
            "{narrow}"
        );
        assert_eq!(fitted(&now, &before, Some(WindowSize { rows: 60, columns: 200 })), table(&now, &before, &[]));
    }
}
