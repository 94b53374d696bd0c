//! `netloom journal`

use super::{DONE, Failure, Outcome, is_read, print, print_json};
use crate::args::{JournalArgs, JournalFormat};
use crate::talk;
use netloom_judge::{ExitCode, quantity};
use netloom_results::journal::{
    AirAttempt, Fate, Happened, JOURNAL, JournalError, JournalPipe, JournalReader, PipeSummary, Record, Selection,
    Selector, Spread, Summary, attempts_heading, cause_name, csv_heading, csv_row, json_row, write_mahimahi,
};
use netloom_results::render::{Align, Table};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// So many packets a table shows unless more are asked for.
const SHOWN: u64 = 100;

pub(super) fn journal(args: &JournalArgs) -> Outcome {
    let path = file_of(&args.file)?;
    let reader = JournalReader::open(&path).map_err(|error| told(&path, &error))?;
    let selector = selection(args).among(reader.pipes());
    let selector = selector.map_err(|why| Failure::new(ExitCode::Usage, format!("--link: {why}")))?;
    let format = if args.json { JournalFormat::Json } else { args.format };
    if args.attempts && !reader.has_attempts() {
        let what = format!(
            "{} has no attempts on the air: a run keeps them if its lab file says `journal: {{attempts: true}}`",
            path.display()
        );
        return Err(Failure::new(ExitCode::Usage, what));
    }
    match format {
        JournalFormat::Mahimahi if args.attempts => Err(Failure::new(
            ExitCode::Usage,
            "--attempts: mahimahi logs packets: print attempts as a table, CSV or JSON",
        )),
        JournalFormat::Mahimahi => mahimahi(&path, reader.pipes(), &selector),
        _ if args.summary => summary(&path, reader, &selector, format),
        _ => packets(&path, reader, &selector, args, format),
    }
}

/// The journal in a folder of results, or itself.
fn file_of(path: &Path) -> Result<PathBuf, Failure> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let file = path.join(JOURNAL);
    let missing = || {
        let name = path.display();
        let what =
            format!("{name} has no {JOURNAL}: a run keeps a journal if its lab file says so, with `journal: all`");
        Failure::new(ExitCode::Usage, what)
    };
    if file.is_file() { Ok(file) } else { Err(missing()) }
}

fn told(path: &Path, error: &JournalError) -> Failure {
    Failure::new(ExitCode::Usage, format!("{}: {error}", path.display()))
}

fn selection(args: &JournalArgs) -> Selection {
    let happened = [(args.dropped, Happened::Dropped), (args.marked, Happened::Marked)];
    Selection {
        links: args.link.clone(),
        filter: args.filter.as_ref().map(|wanted| wanted.filter.clone()),
        arrived_ns: args.during.clone(),
        happened: happened.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, what)| what).collect(),
    }
}

type Reader = JournalReader<BufReader<File>>;

/// A row for each packet. What is before a damage is printed before the damage is reported.
fn packets(path: &Path, reader: Reader, selector: &Selector, args: &JournalArgs, format: JournalFormat) -> Outcome {
    let pipes = reader.pipes().to_vec();
    let most = args.limit.unwrap_or(if format == JournalFormat::Table { SHOWN } else { u64::MAX });
    let mut out = BufWriter::new(io::stdout().lock());
    let widths = Widths::of(&pipes);
    let heading = match format {
        JournalFormat::Csv if args.attempts => Some(attempts_heading()),
        JournalFormat::Table if args.attempts => Some(widths.attempts_heading()),
        JournalFormat::Csv => Some(csv_heading()),
        JournalFormat::Table => Some(widths.heading()),
        _ => None,
    };
    let mut state = heading.map_or(Ok(()), |heading| writeln!(out, "{heading}"));
    let (mut shown, mut damage) = (0, None);
    let mut more = false;
    let shown_rows = if args.attempts { reader.with_attempts() } else { reader };
    for record in shown_rows {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                damage = Some(told(path, &error));
                break;
            }
        };
        if !selector.selects(&record) || args.attempts != record.attempt.is_some() {
            continue;
        }
        if shown == most {
            more = true;
            break;
        }
        shown += 1;
        let pipe = &pipes[record.pipe as usize];
        state = state.and_then(|()| match format {
            JournalFormat::Csv => writeln!(out, "{}", csv_row(&record, pipe)),
            JournalFormat::Json => writeln!(out, "{}", json_row(&record, pipe)),
            _ => match &record.attempt {
                Some(attempt) => writeln!(out, "{}", widths.attempt(&record, attempt, pipe)),
                None => writeln!(out, "{}", widths.row(&record, pipe)),
            },
        });
        if state.is_err() {
            break;
        }
    }
    if !is_read(state.and_then(|()| out.flush()))? {
        return DONE;
    }
    if more && args.limit.is_none() {
        let what = if args.attempts { "attempts" } else { "packets" };
        talk::say(&format!("these are the first {most} {what}: `-n N` shows more, `--format csv` all"));
    }
    damage.map_or(DONE, Err)
}

/// The columns of a table that is printed as it is read.
struct Widths {
    pipe: usize,
}

impl Widths {
    fn of(pipes: &[JournalPipe]) -> Self {
        Self { pipe: pipes.iter().map(|pipe| name(pipe).chars().count()).max().unwrap_or(0).max(4) }
    }

    fn heading(&self) -> String {
        let pipe = self.pipe;
        format!(
            "{:<pipe$}  {:>13}  {:>9}  {:>9}  {:>6}  {:<14}  flow",
            "pipe", "arrived (s)", "waited", "in all", "bytes", "fate"
        )
    }

    fn attempts_heading(&self) -> String {
        let pipe = self.pipe;
        format!(
            "{:<pipe$}  {:>13}  {:>9}  {:>7}  {:>12}  {:>6}  {:<7}  {:<20}  flow",
            "pipe", "began (s)", "lasted", "attempt", "rate", "bytes", "outcome", "way"
        )
    }

    fn attempt(&self, record: &Record, attempt: &AirAttempt, pipe: &JournalPipe) -> String {
        let width = self.pipe;
        let lasted = record.sent_ns.map_or(0, |sent| u64::try_from(sent - record.arrived_ns).unwrap_or(0));
        let outcome = if matches!(record.fate, Fate::Delivered { .. }) { "decoded" } else { "lost" };
        format!(
            "{:<width$}  {:>13}  {:>9}  {:>7}  {:>12}  {:>6}  {:<7}  {:<20}  {}",
            name(pipe),
            seconds(record.arrived_ns),
            quantity::span(lasted),
            attempt.number,
            format!("{:.1} Mbit/s", f64::from(attempt.kilobits_per_second) / 1e3),
            record.size_bytes,
            outcome,
            format!("{} > {}", attempt.sender, attempt.receiver.as_deref().unwrap_or("all")),
            flow(record)
        )
    }

    fn row(&self, record: &Record, pipe: &JournalPipe) -> String {
        let width = self.pipe;
        let span =
            |ns: Option<i64>| ns.map_or_else(|| "-".to_owned(), |ns| quantity::span(u64::try_from(ns).unwrap_or(0)));
        let mark = if record.marked_ns.is_some() { ", marked" } else { "" };
        let fate = match record.fate {
            Fate::Delivered { .. } => format!("delivered{mark}"),
            Fate::Dropped { cause, .. } => format!("dropped: {}{mark}", cause_name(cause)),
            Fate::Inside => format!("inside{mark}"),
        };
        format!(
            "{:<width$}  {:>13}  {:>9}  {:>9}  {:>6}  {:<14}  {}",
            name(pipe),
            seconds(record.arrived_ns),
            span(record.waited_ns()),
            span(record.delay_ns()),
            record.size_bytes,
            fate,
            flow(record)
        )
    }
}

fn name(pipe: &JournalPipe) -> String {
    let further = pipe.pipe.as_ref().map_or_else(String::new, |name| format!(" {name}"));
    format!("{}.{}{further}", pipe.link, pipe.direction)
}

/// With all its digits.
fn seconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{}.{:09}", ns.unsigned_abs() / 1_000_000_000, ns.unsigned_abs() % 1_000_000_000)
}

fn flow(record: &Record) -> String {
    let Some(flow) = &record.flow else { return "-".into() };
    let end = |address: std::net::IpAddr, port: u16| {
        if port == 0 { address.to_string() } else { std::net::SocketAddr::new(address, port).to_string() }
    };
    let (from, to) = (end(flow.source, flow.source_port), end(flow.destination, flow.destination_port));
    let protocol = match flow.protocol {
        1 => "icmp".to_owned(),
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        58 => "icmpv6".to_owned(),
        other => other.to_string(),
    };
    let sequence = record.sequence.map_or_else(String::new, |sequence| format!(" {sequence}"));
    format!("{from} > {to} {protocol}{sequence}")
}

/// A row for each pipe with packets in the journal.
fn summary(path: &Path, reader: Reader, selector: &Selector, format: JournalFormat) -> Outcome {
    let mut summary = Summary::new(reader.pipes());
    let mut damage = None;
    for record in reader {
        match record {
            Ok(record) if selector.selects(&record) => summary.add(&record),
            Ok(_) => {}
            Err(error) => damage = Some(told(path, &error)),
        }
    }
    let mut rows = summary.rows();
    let mut place = 0..;
    rows.retain(|row| place.next().is_some_and(|place| selector.is_about(place)) && row.packets > 0);
    match format {
        JournalFormat::Json => print_json(&rows)?,
        JournalFormat::Csv => print(&summary_csv(&rows))?,
        _ if rows.is_empty() => print("the journal has no such packet")?,
        _ => print(summary_table(&rows).to_string().trim_end())?,
    };
    damage.map_or(DONE, Err)
}

fn summary_table(rows: &[PipeSummary]) -> Table {
    let right =
        ["packets", "delivered", "loss", "queue", "early", "down", "partition", "fault", "air", "inside", "marked"];
    let times = ["waited p50", "p99", "delay p50", "p99", "max"];
    let mut columns = vec![("pipe", Align::Left)];
    columns.extend(right.into_iter().chain(times).map(|name| (name, Align::Right)));
    let mut table = Table::new(&columns);
    for row in rows {
        let counts = [
            row.packets,
            row.delivered_packets,
            row.dropped_loss_packets,
            row.dropped_queue_packets,
            row.dropped_early_packets,
            row.dropped_down_packets,
            row.dropped_partition_packets,
            row.dropped_fault_packets,
            row.dropped_air_packets,
            row.inside_packets,
            row.marked_packets,
        ];
        let span = |spread: Option<Spread>, of: fn(Spread) -> u64| {
            spread.map_or_else(|| "-".to_owned(), |spread| quantity::span(of(spread)))
        };
        let mut cells = vec![name(&row.pipe)];
        cells.extend(counts.map(|count| count.to_string()));
        cells.extend([
            span(row.waited, |spread| spread.p50_ns),
            span(row.waited, |spread| spread.p99_ns),
            span(row.delay, |spread| spread.p50_ns),
            span(row.delay, |spread| spread.p99_ns),
            span(row.delay, |spread| spread.max_ns),
        ]);
        table.row(cells);
    }
    table
}

fn summary_csv(rows: &[PipeSummary]) -> String {
    let mut lines = vec![
        "link,direction,pipe,packets,bytes,in_flight_at_start_packets,delivered_packets,dropped_loss_packets,dropped_queue_packets,\
         dropped_early_packets,dropped_down_packets,dropped_partition_packets,dropped_fault_packets,dropped_air_packets,inside_packets,marked_packets,waited_mean_ns,\
         waited_p50_ns,waited_p99_ns,waited_max_ns,delay_mean_ns,delay_p50_ns,delay_p99_ns,delay_max_ns"
            .to_owned(),
    ];
    for row in rows {
        let JournalPipe { link, direction, pipe } = &row.pipe;
        let counts = [
            row.packets,
            row.bytes,
            row.in_flight_at_start_packets,
            row.delivered_packets,
            row.dropped_loss_packets,
            row.dropped_queue_packets,
            row.dropped_early_packets,
            row.dropped_down_packets,
            row.dropped_partition_packets,
            row.dropped_fault_packets,
            row.dropped_air_packets,
            row.inside_packets,
            row.marked_packets,
        ];
        let times = [row.waited, row.delay].into_iter().flat_map(|spread| match spread {
            Some(spread) => [spread.mean_ns, spread.p50_ns, spread.p99_ns, spread.max_ns].map(|ns| ns.to_string()),
            None => Default::default(),
        });
        let numbers: Vec<String> = counts.map(|count| count.to_string()).into_iter().chain(times).collect();
        lines.push(format!("{link},{direction},{},{}", pipe.as_deref().unwrap_or_default(), numbers.join(",")));
    }
    lines.join("\n")
}

fn mahimahi(path: &Path, pipes: &[JournalPipe], selector: &Selector) -> Outcome {
    let meant: Vec<usize> = (0..pipes.len()).filter(|pipe| selector.is_about(*pipe)).collect();
    let [pipe] = meant[..] else {
        let first = pipes.first().map_or_else(|| "LINK.forward".into(), name);
        let what = format!("mahimahi logs one direction of a link: say which one, for example --link {first}");
        return Err(Failure::new(ExitCode::Usage, what));
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let plan = path.with_file_name("plan.json");
    let written = write_mahimahi(path, &plan, pipe, selector, &mut out);
    let (state, damage) = match written {
        Ok(()) => (Ok(()), None),
        Err(JournalError::Io(error)) => (Err(error), None),
        Err(error) => (Ok(()), Some(told(path, &error))),
    };
    if !is_read(state.and_then(|()| out.flush()))? {
        return DONE;
    }
    damage.map_or(DONE, Err)
}
