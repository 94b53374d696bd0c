//! The stations of radio media.

use super::{Align, ROWS_SHOWN, Table, dash, push_line, rate};
use netloom_judge::StationRow;

/// A table of what each station did; of many, those that had the medium for longest.
pub(super) fn stations(rows: &[StationRow], duration_ns: u64) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut kept: Vec<(usize, &StationRow)> = rows.iter().enumerate().collect();
    kept.sort_by_key(|(_, row)| std::cmp::Reverse(row.airtime_ns));
    kept.truncate(ROWS_SHOWN);
    kept.sort_by_key(|(index, _)| *index);
    let heads = ["airtime", "attempts", "collisions", "retries", "drops", "mean rate"].map(|head| (head, Align::Right));
    let mut table = Table::new(&[&[("medium", Align::Left), ("station", Align::Left)][..], &heads].concat());
    let mut last = None;
    for (_, row) in &kept {
        let medium = if last.replace(&row.link) == Some(&row.link) { String::new() } else { row.link.clone() };
        table.row(vec![
            medium,
            row.node.clone(),
            format!("{:.1} %", row.airtime_ns as f64 * 100.0 / duration_ns.max(1) as f64),
            row.attempts.to_string(),
            row.collisions.to_string(),
            row.retries.to_string(),
            (row.dropped_queue_packets + row.dropped_air_packets).to_string(),
            row.mean_rate_bits_per_second.map_or_else(dash, rate),
        ]);
    }
    let mut text = table.to_string();
    if kept.len() < rows.len() {
        push_line(&mut text, &format!("... {} more in stations.json", rows.len() - kept.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_show_their_share_of_the_time() {
        let row = StationRow {
            link: "wifi".into(),
            node: "sta1".into(),
            airtime_ns: 250_000_000,
            attempts: 1_000,
            collisions: 30,
            retries: 31,
            mean_rate_bits_per_second: Some(54e6),
            dropped_air_packets: 2,
            ..StationRow::default()
        };
        let silent = StationRow { link: "wifi".into(), node: "sta2".into(), ..StationRow::default() };
        let shown = anstream::adapter::strip_str(&stations(&[row, silent], 1_000_000_000)).to_string();
        let words: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[1][..7], ["wifi", "sta1", "25.0", "%", "1000", "30", "31"], "{shown}");
        assert_eq!(words[1][7..], ["2", "54", "Mbit/s"], "{shown}");
        // The medium is named once.
        assert_eq!(words[2], ["sta2", "0.0", "%", "0", "0", "0", "0", "-"], "{shown}");
        assert!(stations(&[], 1).is_empty());
    }
}
