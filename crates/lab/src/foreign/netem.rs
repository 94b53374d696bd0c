//! `tc … netem` (tc-netem(8)).

use super::Translation;
use super::number::{count, tc_percent, tc_rate, tc_size, tc_time};
use super::words::{Words, whole};
use netloom_units::{Duration, Probability};

/// Words that have no equivalent, and why.
const REFUSED: &[(&str, &str)] = &[
    ("seed", "the lab's own `seed` makes a run repeatable"),
    ("ecn", "marks belong to queues: use `queue: {kind: red, ecn: true, …}` or another discipline with `ecn`"),
];

/// The words in the order in which iproute2 compares them with what may be the beginning of one.
const KNOWN: &[&str] = &[
    "limit",
    "latency",
    "delay",
    "loss",
    "drop",
    "ecn",
    "reorder",
    "corrupt",
    "gap",
    "duplicate",
    "distribution",
    "rate",
    "slot",
    "seed",
];

#[derive(Default)]
struct Netem {
    limit: Option<u64>,
    has_rate: bool,
    /// The keys of slots, but for the rate.
    slots: Option<String>,
    delays: bool,
    translation: Translation,
}

pub(super) fn translate(text: &str) -> Result<Translation, String> {
    let mut words = Words::new(text);
    words.skip_to("netem");
    let mut netem = Netem::default();
    while let Some(word) = words.take() {
        match whole(KNOWN, word).unwrap_or(word) {
            "limit" => netem.limit = Some(count(words.need("a number of packets")?)?),
            "delay" | "latency" => netem.delay(&mut words)?,
            "loss" | "drop" => netem.loss(&mut words)?,
            "corrupt" => netem.chance("corrupt", &mut words)?,
            "duplicate" => netem.chance("duplicate", &mut words)?,
            "reorder" => netem.reorder(&mut words)?,
            "rate" => netem.rate(&mut words)?,
            "slot" => netem.slot(&mut words)?,
            "gap" | "distribution" => return Err(format!("\"{word}\" belongs behind `reorder` or `delay`")),
            other => return Err(unknown(other)),
        }
    }
    netem.finish();
    Ok(netem.translation)
}

impl Netem {
    /// `delay TIME [JITTER [CORRELATION]] [distribution NAME]`
    fn delay(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        self.delays = true;
        let mean = tc_time(words.need("a time such as 100ms")?)?;
        let jitter = words.maybe(tc_time);
        let correlation = jitter.and_then(|_| words.maybe(tc_percent)).filter(|share| !share.is_zero());
        let jitter = jitter.filter(|jitter| !jitter.is_zero());
        let distribution = match words.begins("distribution") {
            true => Some(words.need("its name")?),
            false => words.take_later("distribution"),
        };
        let Some(jitter) = jitter else {
            self.translation.say("delay", mean.to_string());
            return Ok(());
        };
        let mut parts = shape(distribution, mean, jitter)?;
        if let Some(share) = correlation {
            parts.push_str(&format!(", correlation: {share}"));
            self.translation.note(
                "delay's correlation: netem correlates the random number before the table is looked up, which also \
                 squeezes its spread; here GINE's equation 4.1 correlates the delays themselves.",
            );
        }
        self.translation.say("delay", format!("{{{parts}, order: free}}"));
        self.translation.note(
            "delay: netem lets a packet with a shorter delay overtake the others, and so does `order: free`; leave it \
             out for a link that keeps order.",
        );
        if distribution.is_some() {
            self.translation.note(
                "distribution: netem draws from a table that ends at four deviations or less; here the distribution \
                 itself is drawn from. A draw below zero counts as no delay in both. For the table itself write \
                 `{kind: table, file: normal.dist, …}`.",
            );
        }
        Ok(())
    }

    /// `loss PERCENT [CORRELATION]`, `loss random …`, `loss state p13 …`, `loss gemodel p …`
    fn loss(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        if words.is("state") {
            return self.markov(words);
        }
        if words.is("gemodel") {
            return self.gilbert_elliott(words);
        }
        words.is("random");
        self.chance("loss", words)
    }

    /// `loss gemodel p [r [1-h [1-k]]]`
    fn gilbert_elliott(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let p = tc_percent(words.need("p, a share such as 1%")?)?;
        let r = words.maybe(tc_percent).unwrap_or(others(&[p]));
        let bad = words.maybe(tc_percent).unwrap_or(Probability::ONE);
        let good = words.maybe(tc_percent).unwrap_or(Probability::ZERO);
        self.translation.say("loss", format!("{{kind: gilbert-elliott, p: {p}, r: {r}, bad: {bad}, good: {good}}}"));
        Ok(())
    }

    /// `loss state p13 [p31 [p32 [p23 [p14]]]]`
    fn markov(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let p13 = tc_percent(words.need("p13, a share such as 1%")?)?;
        let p31 = words.maybe(tc_percent).unwrap_or(others(&[p13]));
        let p32 = words.maybe(tc_percent).unwrap_or(Probability::ZERO);
        let p23 = words.maybe(tc_percent).unwrap_or(Probability::ONE);
        let p14 = words.maybe(tc_percent).unwrap_or(Probability::ZERO);
        self.translation
            .say("loss", format!("{{kind: markov, p13: {p13}, p31: {p31}, p32: {p32}, p23: {p23}, p14: {p14}}}"));
        Ok(())
    }

    /// `PERCENT [CORRELATION]`
    fn chance(&mut self, key: &'static str, words: &mut Words<'_>) -> Result<(), String> {
        let share = tc_percent(words.need("a share such as 0.1%")?)?;
        let value = match words.maybe(tc_percent).filter(|correlation| !correlation.is_zero()) {
            None => share.to_string(),
            Some(correlation) => {
                self.correlation_differs(key);
                let kind = if key == "loss" { "kind: correlated, " } else { "" };
                format!("{{{kind}probability: {share}, correlation: {correlation}}}")
            }
        };
        self.translation.say(key, value);
        Ok(())
    }

    /// `reorder PERCENT [CORRELATION] [gap DISTANCE]`
    fn reorder(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let share = tc_percent(words.need("a share such as 25%")?)?;
        let correlation = words.maybe(tc_percent).filter(|correlation| !correlation.is_zero());
        let gap = match words.begins("gap") {
            true => Some(words.need("a number of packets")?),
            false => words.take_later("gap"),
        };
        let gap = gap.map(count).transpose()?;
        if correlation.is_some() {
            self.correlation_differs("reorder");
        }
        let value = match (correlation, gap.filter(|gap| *gap > 1)) {
            (None, None) => share.to_string(),
            (lag, distance) => {
                let lag = lag.map_or_else(String::new, |lag| format!(", correlation: {lag}"));
                let distance = distance.map_or_else(String::new, |packets| format!(", gap: {packets}"));
                format!("{{probability: {share}{lag}{distance}}}")
            }
        };
        self.translation.say("reorder", value);
        Ok(())
    }

    /// `rate RATE [PACKETOVERHEAD [CELLSIZE [CELLOVERHEAD]]]`
    fn rate(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        self.has_rate = true;
        let rate = tc_rate(words.need("a rate such as 10mbit")?)?;
        self.translation.say("rate", rate.to_string());
        let overhead = words.maybe(tc_size).map_or(0, netloom_units::Bytes::get);
        if words.maybe(tc_size).is_some_and(|cell| cell.get() > 0) {
            return Err(
                "cells have no equivalent in this string: use `overhead: {cell: …, payload: …}` of a link".into()
            );
        }
        if overhead > 0 {
            self.translation.say("overhead", format!("{{bytes: {overhead} B}}"));
        }
        self.translation.note(format!(
            "rate: netem charges the Ethernet header of 14 bytes; here packets count from the IP header on. Add \
             `overhead: {{bytes: {} B}}` for the same rate.",
            overhead + 14
        ));
        Ok(())
    }

    /// `slot MIN [MAX]` or `slot distribution NAME DELAY JITTER`, and behind that `[packets PACKETS] [bytes BYTES]`
    fn slot(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let every = if words.begins("distribution") {
            let name = words.need("the name of a distribution")?;
            let mean = tc_time(words.need("a time such as 800us")?)?;
            let jitter = tc_time(words.need("a time such as 100us")?)?;
            if jitter.is_zero() { mean.to_string() } else { format!("{{{}}}", shape(Some(name), mean, jitter)?) }
        } else {
            let least = tc_time(words.need("a time such as 800us")?)?;
            match words.maybe(tc_time).filter(|most| *most > least) {
                Some(most) => format!("{{kind: uniform, from: {least}, to: {most}}}"),
                None => least.to_string(),
            }
        };
        let mut keys = format!("kind: slots, every: {every}");
        loop {
            if words.begins("packets") {
                keys.push_str(&format!(", packets: {}", count(words.need("a number of packets")?)?));
            } else if words.begins("bytes") {
                keys.push_str(&format!(", bytes: {}", tc_size(words.need("a size")?)?));
            } else {
                break;
            }
        }
        self.slots = Some(keys);
        self.translation.note(
            "slot: netem's slots are behind the delay and the rate; here they are in front of the delay, which makes no \
             difference where that is constant, and packets that come while others are sent in a slot join them.",
        );
        Ok(())
    }

    /// Slots are a rate; what was said of one holds in them.
    fn settle_slots(&mut self) {
        let Some(slots) = self.slots.take() else { return };
        match self.translation.keys.iter_mut().find(|(key, _)| *key == "rate") {
            Some((_, rate)) => *rate = format!("{{{slots}, rate: {rate}}}"),
            None => self.translation.say("rate", format!("{{{slots}}}")),
        }
        self.has_rate = true;
    }

    fn correlation_differs(&mut self, key: &str) {
        self.translation.note(format!(
            "{key}'s correlation: netem mixes successive random numbers, which changes how often it happens; here the \
             probability stays what was written."
        ));
    }

    /// netem's limit counts all it holds, packets that travel included; its default is 1,000.
    fn finish(&mut self) {
        self.settle_slots();
        if self.has_rate {
            let limit = self.limit.unwrap_or(1_000);
            self.translation.say("queue", if limit == 1 { "1 packet".into() } else { format!("{limit} packets") });
        }
        if self.limit.is_some() || self.has_rate || self.delays {
            self.translation.note(
                "limit: netem's limit counts packets that travel as well, so that a long delay at a high rate drops \
                 packets; here the delay line is never full, and the limit bounds what waits for the rate.",
            );
        }
    }
}

/// The distribution that netem means, without the closing brace.
fn shape(distribution: Option<&str>, mean: Duration, jitter: Duration) -> Result<String, String> {
    let kind = match distribution {
        None | Some("uniform") => {
            if jitter > mean {
                let most = mean.as_nanos().checked_add(jitter.as_nanos()).map(Duration::from_nanos);
                let most = most.ok_or("the delay is longer than any can be")?;
                return Ok(format!("kind: uniform, from: 0 s, below: {}, to: {most}", jitter - mean));
            }
            return Ok(format!("kind: uniform, from: {}, to: {}", mean - jitter, mean + jitter));
        }
        Some("normal") => "normal",
        Some("pareto") => return pareto(mean, jitter),
        Some("paretonormal") => "pareto-normal",
        Some(other) => {
            return Err(format!(
                "unknown distribution \"{other}\": write uniform, normal, pareto or paretonormal; tables of your own \
                 are written as `delay: {{kind: table, file: …}}`"
            ));
        }
    };
    Ok(format!("kind: {kind}, mean: {mean}, deviation: {jitter}"))
}

/// iproute2's `pareto.c` scales a Pareto variable X of shape 3 as (X - 3/2) x 4/3, and netem makes mean + jitter x that.
fn pareto(mean: Duration, jitter: Duration) -> Result<String, String> {
    let below = jitter * 2;
    if below > mean {
        return Err(format!("a jitter of {jitter} with this distribution reaches {below} below the mean of {mean}"));
    }
    // To the next nanosecond: a third of one is not worth an error.
    let scale = jitter + Duration::from_nanos(jitter.as_nanos().div_ceil(3));
    Ok(format!("kind: pareto, shift: {}, scale: {scale}, shape: 3", mean - below))
}

/// What is left of 1.
fn others(shares: &[Probability]) -> Probability {
    let sum: u64 = shares.iter().map(|share| share.as_parts_per_trillion()).sum();
    let rest = Probability::ONE.as_parts_per_trillion().saturating_sub(sum);
    Probability::from_parts_per_trillion(rest).unwrap_or(Probability::ZERO)
}

fn unknown(word: &str) -> String {
    match REFUSED.iter().find(|(name, _)| *name == word) {
        Some((_, why)) => format!("\"{word}\" is not translated: {why}"),
        None => format!(
            "unknown word \"{word}\": known are delay, loss, duplicate, corrupt, reorder, rate, slot, limit (and behind \
             them distribution and gap)"
        ),
    }
}
