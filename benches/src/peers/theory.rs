//! What a run has to come to, from what its programs print: rates and headers, round trips, and what was asked for.

use serde_json::Value;

/// Payload of a packet of 1,500 bytes on the wire with time stamps in its TCP header.
const PAYLOAD: f64 = 1_448.0 / 1_500.0;

/// What has to come out.
#[derive(Clone, Copy)]
pub(super) enum Theory {
    /// One TCP flow has nearly all that the rate leaves for payload: slow start takes some.
    Flow { mbit: f64 },
    /// So have 25 flows in the mean, which are shorter.
    Flows,
    /// 1,000 files, and none in less than its bytes and two round trips take.
    Files,
    /// 72,000 datagrams came back, after two delays there and back and at most a tenth of a millisecond more.
    Pings,
    /// So many packets arrived; a simulator may leave the last on the wire.
    Packets(u32),
    /// 540 keys were put in each run.
    Keys,
    /// Nothing is printed.
    Nothing,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) is_fine: bool,
    pub(super) words: String,
}

impl Theory {
    /// What these lines of all programs come to.
    pub(super) fn told(self, lines: &[Value]) -> Told {
        let all = |key: &str| lines.iter().filter_map(|line| line[key].as_f64()).collect::<Vec<f64>>();
        let (is_fine, words) = match self {
            Self::Flow { mbit } => flow(mbit, lines),
            Self::Flows => flows(lines),
            Self::Files => {
                let (files, seconds) = (sum(&all("good")), all("mean_s"));
                let least = 0.4 + 0.08;
                let fast = seconds.iter().filter(|one| **one < least).count();
                let fine = (files - 1_000.0).abs() < 0.5 && fast == 0;
                (fine, format!("{files:.0} files, {:.3} s each", mean(&seconds)))
            }
            Self::Pings => {
                let (count, lost, us) = (sum(&all("pings")), sum(&all("lost")), mean(&all("mean_us")));
                let fine = (count - 72_000.0).abs() < 0.5 && lost < 0.5 && (20_000.0..20_100.0).contains(&us);
                (fine, format!("{count:.0} datagrams, {lost:.0} lost, {us:.1} us"))
            }
            Self::Packets(wanted) => {
                // `netloom sim` tells it of each source.
                let sources = lines.iter().filter_map(|line| line["sources"][0]["received_packets"].as_f64());
                let got = all("received").into_iter().chain(sources).fold(0.0, f64::max);
                ((got - f64::from(wanted)).abs() < 1.5, format!("{got:.0} packets"))
            }
            Self::Keys => {
                let puts = all("puts");
                let fine = !puts.is_empty() && puts.iter().all(|one| (one - 540.0).abs() < 0.5);
                (fine, format!("{:.0} puts, {:.1} ms each", sum(&puts), mean(&all("mean_ms"))))
            }
            Self::Nothing => (true, String::new()),
        };
        Told { is_fine, words }
    }
}

/// Of `sink` and `bulk`, or of iperf3, whose receiver counts.
fn flow(mbit: f64, lines: &[Value]) -> (bool, String) {
    let own = lines.iter().find_map(|line| line["goodput_mbit"].as_f64());
    let iperf3 = lines.iter().map(|line| &line["end"]);
    let theirs = iperf3.clone().find_map(|end| Some(end["sum_received"]["bits_per_second"].as_f64()? / 1e6));
    let goodput = own.or(theirs).unwrap_or_default();
    let again = lines.iter().find_map(|line| line["retransmits"].as_f64());
    let again = again.or_else(|| iperf3.clone().find_map(|end| end["sum_sent"]["retransmits"].as_f64()));
    // iperf3 counts ten seconds from its own start on; ns-3's device adds two bytes, others none.
    let least = if own.is_some() { 0.9 } else { 0.85 };
    let is_fine = (least * mbit..=PAYLOAD * mbit * 1.001).contains(&goodput);
    let sent_again = again.map_or_else(String::new, |count| format!(", {count:.0} retransmissions"));
    (is_fine, format!("{goodput:.1} Mbit/s{sent_again}"))
}

/// Each flow says its goodput, or the bytes that it has got.
fn flows(lines: &[Value]) -> (bool, String) {
    let all = |key: &str| lines.iter().filter_map(|line| line[key].as_f64()).collect::<Vec<f64>>();
    let (rates, bytes) = (all("goodput_mbit"), all("bytes"));
    let is_whole = bytes.len() == 25 && bytes.iter().all(|count| (count - 6e6).abs() < 0.5);
    let is_fast = rates.is_empty() || (8.5..=10.0 * PAYLOAD * 1.001).contains(&mean(&rates));
    let rate = if rates.is_empty() { String::new() } else { format!(", {:.2} Mbit/s each", mean(&rates)) };
    (is_whole && is_fast, format!("{} flows{rate}", bytes.len()))
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len().max(1) as f64
}

/// All documents of JSON in what a program has written, which may say something else before.
pub(super) fn documents(text: &str) -> Vec<Value> {
    let Some(start) = text.find('{') else { return Vec::new() };
    serde_json::Deserializer::from_str(&text[start..]).into_iter().map_while(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_flow_is_judged_by_its_rate_whoever_measures() {
        let theory = Theory::Flow { mbit: 100.0 };
        let own = theory.told(&[json!({"retransmits": 7}), json!({"bytes": 1, "goodput_mbit": 95.5})]);
        assert_eq!(own, Told { is_fine: true, words: "95.5 Mbit/s, 7 retransmissions".into() });
        let iperf3 = json!({"end": {"sum_received": {"bits_per_second": 97e6}, "sum_sent": {"retransmits": 0}}});
        assert_eq!(theory.told(&[iperf3]), Told { is_fine: false, words: "97.0 Mbit/s, 0 retransmissions".into() });
        assert!(!theory.told(&[]).is_fine);
    }

    #[test]
    fn what_is_missing_is_not_fine() {
        for theory in [Theory::Flows, Theory::Files, Theory::Pings, Theory::Packets(5), Theory::Keys] {
            assert!(!theory.told(&[]).is_fine);
        }
        let pings = vec![json!({"pings": 3600, "lost": 0, "mean_us": 20_030.0}); 20];
        assert!(Theory::Pings.told(&pings).is_fine && !Theory::Pings.told(&pings[1..]).is_fine);
        let flows = vec![json!({"bytes": 6_000_000, "goodput_mbit": 9.2}); 25];
        assert!(Theory::Flows.told(&flows).is_fine && !Theory::Flows.told(&flows[1..]).is_fine);
        assert!(Theory::Packets(5).told(&[json!({"sources": [{"received_packets": 5}]})]).is_fine);
        assert!(!Theory::Keys.told(&[json!({"puts": 540}), json!({"puts": 12})]).is_fine);
    }

    #[test]
    fn documents_are_found_behind_other_words() {
        assert_eq!(documents("hello\n{\"a\": 1}\n{\"a\": 2}\nbye").len(), 2);
        assert!(documents("").is_empty());
    }
}
