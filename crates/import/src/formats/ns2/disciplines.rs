//! Disciplines of queues with what is set on them, and ns-2's own values where nothing is.
//!
//! Source: ns-2.35, queue/red.cc (`REDQueue::initialize_params`, `reset`, `enque`, `drop_early`, `modify_p`), queue/drop-tail.cc, queue/drr.cc.

use super::defaults::built_in;
use super::objects::Attributes;
use super::units::time;
use crate::notes::Notes;
use crate::quantity;
use crate::source::Place;
use crate::value::{Content, Map, Origin, Value};
use netloom_units::{Bytes, Duration, Probability, Rate};

/// The queue of a direction.
#[derive(Clone, Debug)]
pub(super) struct QueueOf {
    /// `Queue/RED`.
    pub(super) class: String,
    pub(super) attributes: Attributes,
    /// Where something was said of it last.
    pub(super) place: Place,
}

impl QueueOf {
    /// The value of the lab's key `queue`, in a direction with these settings.
    pub(super) fn value(&self, settings: &Map, notes: &mut Notes) -> Value {
        let kind = self.class.strip_prefix("Queue/").unwrap_or_default();
        let text = match kind {
            "RED" => return self.red(settings, notes),
            "DropTail" if self.flag("drop_front_") => {
                format!("{{kind: fifo, limit: {}, drop: head}}", self.drop_tail("limit_", notes))
            }
            "DropTail" => self.drop_tail("limit_", notes),
            "DRR" => {
                notes.add(self.place, "the limit of DRR is that of each flow here, and of all flows in ns-2");
                let [quantum, limit] = ["quantum_", "blimit_"].map(|name| Bytes::new(self.whole(name, notes)));
                format!("{{kind: drr, quantum: {quantum}, flows: {}, limit: {limit}}}", self.whole("buckets_", notes))
            }
            "CoDel" => {
                let span =
                    |name: &str| self.attributes.get(name).or_else(|| built_in(&self.class, name)).and_then(time);
                let (target, interval) = (span("target_"), span("interval_"));
                let target = target.unwrap_or(Duration::from_millis(5));
                let interval = interval.unwrap_or(Duration::from_millis(100));
                let limit = self.drop_tail("limit_", notes);
                format!("{{kind: codel, limit: {limit}, target: {target}, interval: {interval}}}")
            }
            other => {
                notes.add(self.place, format!("the queue `{other}` is drop-tail here"));
                self.drop_tail(if other == "SFQ" { "maxqueue_" } else { "limit_" }, notes)
            }
        };
        Value::plain(text)
    }

    /// A number of this queue, or ns-2's.
    fn number(&self, name: &str, notes: &mut Notes) -> f64 {
        let usual = built_in(&self.class, name).and_then(|text| text.parse().ok()).unwrap_or(0.0);
        self.attributes.number(name, usual).unwrap_or_else(|| {
            let said = self.attributes.get(name).unwrap_or_default();
            notes.add(self.place, format!("{said:?} is no number: `{name}` is {usual}, as in ns-2"));
            usual
        })
    }

    /// A whole number above zero of this queue, or ns-2's.
    fn whole(&self, name: &str, notes: &mut Notes) -> u64 {
        let value = self.number(name, notes).round();
        if (1.0..=1e9).contains(&value) { value as u64 } else { 1 }
    }

    fn drop_tail(&self, name: &str, notes: &mut Notes) -> String {
        let limit = match self.attributes.number(name, if name == "maxqueue_" { 40.0 } else { 50.0 }) {
            Some(limit) if (1.0..4e9).contains(&limit) => limit.round() as u64,
            _ => {
                let said = self.attributes.get(name).unwrap_or_default();
                notes.add(self.place, format!("{said:?} is no length of a queue in packets"));
                50
            }
        };
        // Statistics that ns-2 prints.
        self.attributes.get("summarystats_");
        let is_in_bytes = self.class == "Queue/DropTail" && self.attributes.flag("queue_in_bytes_", false);
        amount(if is_in_bytes { limit * self.whole("mean_pktsize_", notes) } else { limit }, is_in_bytes)
    }

    fn flag(&self, name: &str) -> bool {
        self.attributes.flag(name, built_in(&self.class, name) == Some("true"))
    }

    /// RED. What it computes by itself, it computes once, from the link's first rate and delay.
    fn red(&self, settings: &Map, notes: &mut Notes) -> Value {
        let mean = self.whole("mean_pktsize_", notes);
        // Packets of that size that the link sends in a second.
        let rate = said(settings, "rate").and_then(|text| text.parse::<Rate>().ok());
        let packets = rate.map_or(1.0, |rate| rate.as_bits_per_second() as f64 / (8.0 * mean as f64));
        let mut least = self.number("thresh_", notes);
        if least <= 0.0 {
            least = (self.number("targetdelay_", notes) * packets / 2.0).max(5.0);
        }
        let mut most = self.number("maxthresh_", notes);
        if most <= 0.0 {
            most = 3.0 * least;
        }
        let is_in_bytes = self.flag("queue_in_bytes_");
        let level = |value: f64| (value * if is_in_bytes { mean as f64 } else { 1.0 }).round().clamp(0.0, 4e9) as u64;
        let (limit, min, max) = (level(self.whole("limit_", notes) as f64), level(least), level(most));
        let mut probability = 1.0 / self.number("linterm_", notes).max(1.0);
        if min >= max || limit <= min {
            let why = "RED drops nothing early: its limit_ is not above thresh_, or maxthresh_ is not";
            notes.add(self.place, format!("{why}; it is drop-tail here"));
            return Value::plain(amount(limit, is_in_bytes));
        }
        let mut words = String::new();
        if limit < max {
            // The average never gets above the limit. Up to there the slope is the same.
            probability *= (limit - min) as f64 / (max - min) as f64;
            words = format!("maxthresh_ would be {}, above the limit", amount(max, is_in_bytes));
        }
        self.note_red(1.0 / self.number("linterm_", notes).max(1.0), notes);
        let mut text = format!(
            "{{kind: red, limit: {}, min: {}, max: {}, probability: {}, weight: {}",
            amount(limit, is_in_bytes),
            amount(min, is_in_bytes),
            amount(max.min(limit), is_in_bytes),
            share(probability),
            self.weight(packets, settings, notes),
        );
        for (key, name) in [("gentle", "gentle_"), ("ecn", "setbit_"), ("byte_mode", "bytes_"), ("wait", "wait_")] {
            if self.flag(name) {
                text.push_str(&format!(", {key}: true"));
            }
        }
        text.push_str(&format!(", mean_packet: {}}}", Bytes::new(mean)));
        Value::plain(text).because(Origin { place: None, words })
    }

    /// Notes what RED of ns-2 does beyond that of a lab, with what follows from it. `most` is the probability below the upper threshold.
    fn note_red(&self, most: f64, notes: &mut Notes) {
        let is_on = |name: &str| self.number(name, &mut Notes::default()) != 0.0 || self.flag(name);
        let (is_marking, is_limited) = (self.flag("setbit_"), self.flag("use_mark_p_"));
        let mark = self.number("mark_p_", notes);
        if is_marking && is_limited && (mark - most).abs() > 1e-9 {
            let said = format!(
                "RED of ns-2 marks while its probability is below `mark_p_`, {mark}: here it marks up to maxthresh_, where it is {most}"
            );
            notes.add(self.place, said);
        } else if is_marking && !is_limited && self.flag("gentle_") {
            notes.add(self.place, "RED of ns-2 marks above maxthresh_, too (`use_mark_p_`): here it drops there");
        }
        let adapts = ["alpha_", "beta_", "interval_", "top_", "bottom_", "feng_adaptive_"];
        // They mean nothing as long as this does not.
        if !is_on("adaptive_") {
            for name in adapts {
                let _read = self.attributes.get(name);
            }
        } else {
            let said = "RED adapts its probability to the queue in ns-2 (`adaptive_`): here it stays 1/linterm_, so that the queue may \
                        settle at another length";
            notes.add(self.place, said);
        }
        match self.number("cautious_", notes) as i64 {
            0 => drop(self.attributes.get("idle_pktsize_")),
            3 => notes.add(self.place, "the average of RED falls faster on an idle link in ns-2 (`cautious_` 3)"),
            _ => notes.add(self.place, "RED drops less in ns-2 while the queue is far below its average (`cautious_`)"),
        }
        for (name, what) in [("drop_front_", "at the head of the queue"), ("drop_rand_", "at a random place of it")] {
            if is_on(name) {
                let said = format!(
                    "where the queue is full, ns-2 drops the packet {what} (`{name}`): here the one that comes"
                );
                notes.add(self.place, said);
            }
        }
        // Statistics that ns-2 prints, where its thresholds are shown, and what has no effect without the other.
        for name in [
            "summarystats_",
            "thresh_queue_",
            "maxthresh_queue_",
            "drop_tail_",
            "ave_",
            "prob1_",
            "curq_",
            "cur_max_p_",
        ] {
            self.attributes.get(name);
        }
    }

    /// The weight of a sample in RED's average: of the link's speed, unless it is said.
    fn weight(&self, packets: f64, settings: &Map, notes: &mut Notes) -> Probability {
        let said_weight = self.number("q_weight_", notes);
        let delay = said(settings, "delay").and_then(|text| text.parse::<Duration>().ok()).unwrap_or(Duration::ZERO);
        let round_trip = (3.0 * (delay.as_secs_f64() + 1.0 / packets)).max(0.1);
        let rate = match said_weight {
            -1.0 => 1.0 / (10.0 * round_trip * packets),
            0.0 => 1.0 / packets,
            -2.0 => 10.0 / packets,
            _ => {
                let exact = self.attributes.get("q_weight_").and_then(|text| quantity::probability(text, 0));
                return exact.map_or_else(|| share(said_weight), |exact| exact.value);
            }
        };
        share(-libm::expm1(-rate))
    }
}

/// A share, above zero.
fn share(value: f64) -> Probability {
    let parts = (value * 1e12).round().clamp(1.0, 1e12) as u64;
    Probability::from_parts_per_trillion(parts).unwrap_or(Probability::ONE)
}

/// A number of packets or bytes.
fn amount(count: u64, is_in_bytes: bool) -> String {
    match count {
        _ if is_in_bytes => Bytes::new(count).to_string(),
        1 => "1 packet".to_owned(),
        _ => format!("{count} packets"),
    }
}

/// What is written under a key.
pub(super) fn said<'a>(settings: &'a Map, key: &str) -> Option<&'a str> {
    settings.iter().find(|(name, _)| name == key).and_then(|(_, value)| match &value.content {
        Content::Plain(text) => Some(text.as_str()),
        _ => None,
    })
}
