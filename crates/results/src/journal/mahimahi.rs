//! A direction of a link as mahimahi's `mm-link` would have logged it.
//!
//! Source: mm-link(1) of mahimahi, section "output"; [`crate::MahimahiLog`] says more. A packet leaves there when its transmission
//! ends, since the delay is another program's. Here drops have their own instants.

use super::read::{JournalError, JournalReader};
use super::record::{Fate, Record};
use super::select::Selector;
use crate::mahimahi::{ARRIVAL, DEPARTURE, HEADER, OPPORTUNITY};
use netloom_units::Rate;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Lines that wait to be put in order, by millisecond and kind.
type Lines = BTreeMap<(i64, u8), Vec<String>>;

/// Writes the log of one pipe of a journal, by its place there. `plan`: the file plan.json beside it, from which the link's capacity
/// is known if its rate is constant.
///
/// # Errors
/// A journal that cannot be read to its end; what is before has been written.
pub fn write_mahimahi(
    path: &Path,
    plan: &Path,
    pipe: usize,
    selector: &Selector,
    out: &mut dyn Write,
) -> Result<(), JournalError> {
    let meant = |record: &Record| record.pipe as usize == pipe && selector.selects(record);
    // Records come by when they ended. So arrivals can be put in order over the longest stay; what never ends is known before.
    let mut longest = 0;
    let mut lines = Lines::new();
    let reader = JournalReader::open(path)?;
    let named = reader.pipes()[pipe].clone();
    for record in reader.map_while(Result::ok).filter(&meant) {
        match ended_ns(&record) {
            Some(ended) => longest = longest.max(ended - record.arrived_ns),
            None => arrive(&record, &mut lines),
        }
    }
    let mut capacity = Capacity::of(plan, &named.link, &named.direction);
    let way = if named.direction == "backward" { "Downlink" } else { "Uplink" };
    let head =
        format!("# mahimahi mm-link ({way}) [netloom {}.{}] > -\n# base timestamp: 0\n", named.link, named.direction);
    out.write_all(head.as_bytes()).map_err(JournalError::Io)?;
    let mut latest = 0;
    for record in JournalReader::open(path)? {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                put(&mut lines, i64::MAX, &mut capacity, latest, out)?;
                return Err(error);
            }
        };
        let Some(ended) = ended_ns(&record).filter(|_| meant(&record)) else { continue };
        arrive(&record, &mut lines);
        end(&record, &mut lines);
        latest = latest.max(milliseconds(ended));
        put(&mut lines, milliseconds(ended - longest) - 1, &mut capacity, latest, out)?;
    }
    put(&mut lines, i64::MAX, &mut capacity, latest, out)
}

/// When it left the queue, one way or the other; none if it did not.
fn ended_ns(record: &Record) -> Option<i64> {
    match record.fate {
        Fate::Dropped { at_ns, .. } => Some(at_ns),
        Fate::Delivered { .. } | Fate::Inside => record.sent_ns,
    }
}

fn milliseconds(ns: i64) -> i64 {
    ns.div_euclid(1_000_000)
}

fn arrive(record: &Record, lines: &mut Lines) {
    let (at, size) = (milliseconds(record.arrived_ns), u64::from(record.size_bytes) + HEADER);
    lines.entry((at, ARRIVAL)).or_default().push(format!("{at} + {size}"));
}

fn end(record: &Record, lines: &mut Lines) {
    let size = u64::from(record.size_bytes) + HEADER;
    if let Fate::Dropped { at_ns, .. } = record.fate {
        let at = milliseconds(at_ns);
        lines.entry((at, ARRIVAL)).or_default().push(format!("{at} d 1 {size}"));
    } else if let Some(sent) = record.sent_ns {
        let (at, delay) = (milliseconds(sent), milliseconds(sent) - milliseconds(record.arrived_ns));
        lines.entry((at, DEPARTURE)).or_default().push(format!("{at} - {size} {delay}"));
    }
}

/// Writes the lines up to this millisecond, with what the link could have sent until `latest`.
fn put(
    lines: &mut Lines,
    until: i64,
    capacity: &mut Capacity,
    latest: i64,
    out: &mut dyn Write,
) -> Result<(), JournalError> {
    while let Some((at, bytes)) = capacity.next_until(until.min(latest)) {
        lines.entry((at, OPPORTUNITY)).or_default().push(format!("{at} # {bytes}"));
    }
    while let Some(first) = lines.first_entry().filter(|first| first.key().0 <= until) {
        for line in first.remove() {
            writeln!(out, "{line}").map_err(JournalError::Io)?;
        }
    }
    Ok(())
}

/// What a link of constant rate can send, millisecond by millisecond.
struct Capacity {
    rate: Option<Rate>,
    next_ms: i64,
    /// What was no whole byte, in thousandths of a bit.
    left: u64,
}

impl Capacity {
    /// That of a direction of a link, if its rate is known and nothing changes it.
    fn of(plan: &Path, link: &str, direction: &str) -> Self {
        let plan: Option<Value> = crate::regular::read(plan).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let rate = plan.as_ref().and_then(|plan| constant_rate(plan, link, direction));
        Self { rate, next_ms: 0, left: 0 }
    }

    fn next_until(&mut self, last_ms: i64) -> Option<(i64, u64)> {
        let rate = self.rate.filter(|_| self.next_ms <= last_ms)?;
        // A bit per second is a thousandth of a bit per millisecond.
        let thousandths = self.left + rate.as_bits_per_second();
        let bytes = thousandths / 8_000;
        self.left = thousandths % 8_000;
        let at = self.next_ms;
        self.next_ms += 1;
        Some((at, bytes))
    }
}

fn constant_rate(plan: &Value, link: &str, direction: &str) -> Option<Rate> {
    let own = plan["links"].as_array()?.iter().find(|own| own["name"] == link)?;
    let is_changed = |event: &Value| event["set"]["link"] == link && !event["set"]["change"]["rate"].is_null();
    let described = &own[direction]["described"];
    if plan["timeline"].as_array()?.iter().any(is_changed) || !described["schedule"].is_null() {
        return None;
    }
    described["rate"].as_str()?.parse().ok()
}
