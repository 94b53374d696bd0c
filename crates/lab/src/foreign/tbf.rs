//! `tc … tbf`: the token bucket of iproute2 (tc-tbf(8)), and VITO's `tb` (Hauser et al., section 3.3).

use super::Translation;
use super::number::{tc_rate, tc_size, tc_time};
use super::words::{Words, whole};
use netloom_units::{Bytes, Duration, Rate};

/// Linux's default MTU of the peak bucket.
const MINIMUM_BURST: &str = "its bucket holds one packet of the link's MTU";

/// The words that may be cut short, in the order in which iproute2 compares them.
const KNOWN: &[&str] = &["limit", "latency", "burst", "peakrate", "overhead", "linklayer"];

/// `burst 4542/8` also says the cell size of old rate tables, which means nothing any more.
fn without_cell(size: &str) -> Result<Bytes, String> {
    tc_size(size.split('/').next().unwrap_or(size))
}

#[derive(Default)]
struct Tbf {
    rate: Option<Rate>,
    burst: Option<Bytes>,
    latency: Option<Duration>,
    limit: Option<Bytes>,
    peak: Option<Rate>,
    peak_burst: Option<Bytes>,
}

pub(super) fn translate(text: &str) -> Result<Translation, String> {
    let mut words = Words::new(text);
    words.skip_to("tbf");
    let mut tbf = Tbf::default();
    while let Some(word) = words.take() {
        // iproute2 takes the beginning of some words.
        let exact = ["rate", "buffer", "maxburst", "mtu", "minburst", "mpu"];
        let is_exact = exact.contains(&word);
        match if is_exact { word } else { whole(KNOWN, word).unwrap_or(word) } {
            "rate" => tbf.rate = Some(tc_rate(words.need("a rate such as 50mbit")?)?),
            "burst" | "buffer" | "maxburst" => {
                tbf.burst = Some(without_cell(words.need("a size such as 4542")?)?);
            }
            "latency" => tbf.latency = Some(tc_time(words.need("a time such as 50ms")?)?),
            "limit" => tbf.limit = Some(tc_size(words.need("a size such as 30kb")?)?),
            "peakrate" => tbf.peak = Some(tc_rate(words.need("a rate such as 60mbit")?)?),
            "mtu" | "minburst" => tbf.peak_burst = Some(without_cell(words.need("a size such as 1540")?)?),
            "mpu" | "overhead" | "linklayer" => {
                return Err(format!("\"{word}\" has no equivalent in this string: use the key `overhead` of a link"));
            }
            other => {
                return Err(format!(
                    "unknown word \"{other}\": known are rate, burst, latency or limit, peakrate, mtu"
                ));
            }
        }
    }
    tbf.translate()
}

impl Tbf {
    fn translate(self) -> Result<Translation, String> {
        let rate = self.rate.ok_or("the rate is missing: write for example rate 50mbit")?;
        let burst = self.burst.ok_or("the burst is missing: write for example burst 4542")?;
        let limit = match (self.latency, self.limit) {
            (Some(_), Some(_)) => return Err("latency and limit set the same thing: leave one out".into()),
            (None, None) => return Err("the queue is missing: write for example latency 50ms, or limit 30kb".into()),
            (None, Some(limit)) => limit,
            (Some(latency), None) => {
                let bytes = rate.bytes_in(latency).get().checked_add(burst.get());
                Bytes::new(
                    bytes.ok_or_else(|| format!("a latency of {latency} at {rate} is more than any queue holds"))?,
                )
            }
        };
        let mut translation = Translation::default();
        let peak = match (self.peak, self.peak_burst) {
            (Some(peak), Some(most)) => format!(", peak: {peak}, peak_burst: {most}"),
            (Some(peak), None) => format!(", peak: {peak}"),
            (None, _) => String::new(),
        };
        translation.say("rate", format!("{{kind: token-bucket, rate: {rate}, burst: {burst}{peak}}}"));
        translation.say("queue", limit.to_string());
        if let Some(latency) = self.latency {
            translation.note(format!(
                "latency {latency}: tc turns it into a queue of rate x latency + burst = {limit}; so does this."
            ));
        }
        translation.note(
            "Linux counts the packet that waits for its tokens as queued; here it is on the transmitter, so the queue \
             holds one packet more.",
        );
        translation.note(
            "Linux charges the Ethernet header of 14 bytes to the bucket and to the queue; here packets count from \
             the IP header on. Add `overhead: {bytes: 14 B}` for the same rate.",
        );
        if self.peak.is_none() && self.peak_burst.is_some() {
            translation.note("mtu: it is the size of the bucket of `peakrate`, and means nothing without one.");
        }
        if self.peak.is_some() && self.peak_burst.is_none() {
            translation.note(format!("peakrate: {MINIMUM_BURST}."));
        }
        Ok(translation)
    }
}
