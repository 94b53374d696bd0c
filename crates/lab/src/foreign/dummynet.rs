//! `ipfw pipe … config`: dummynet (Rizzo 1997, section 4; ipfw(8), "TRAFFIC SHAPER CONFIGURATION").

use super::Translation;
use super::number::{count, fraction, ipfw_bandwidth, ipfw_time, tc_size};
use super::words::Words;

/// Words that have no equivalent, and why.
const REFUSED: &[(&str, &str)] = &[
    ("mask", "netloom makes no pipe per flow: describe links, or `pipes` with filters"),
    ("profile", "delay profiles are written as `delay: {kind: histogram, …}` with a file of their own"),
    ("sched", "schedulers are written as `queue: {kind: …, classes: …}`"),
    ("weight", "weights belong to the classes of `queue: {kind: wf2q, classes: …}`"),
    ("pie", "write `queue: {kind: pie, …}` of a link"),
    ("droptail", "it is what `queue` means without another word"),
    ("burst", "a burst belongs to `rate: {kind: token-bucket, …}`"),
];

/// What a queue does beside holding packets.
enum Discipline {
    Red(Red),
    /// Keys of `kind: codel`.
    Codel(String),
}

/// `red` or `gred w_q/min_th/max_th/max_p [ecn]`.
struct Red {
    weight: String,
    thresholds: [u64; 2],
    probability: String,
    is_gentle: bool,
    marks: bool,
}

pub(super) fn translate(text: &str) -> Result<Translation, String> {
    let mut words = Words::new(text);
    words.skip_to("config");
    let mut translation = Translation::default();
    let mut discipline = None;
    while let Some(word) = words.take() {
        match word {
            "bw" | "bandwidth" => bandwidth(words.need("a bandwidth such as 2.6Mbit/s")?, &mut translation)?,
            "delay" => {
                let delay = ipfw_time(words.need("a delay in milliseconds such as 45ms")?)?;
                translation.say("delay", delay.to_string());
            }
            "queue" => queue(words.need("a length such as 30 or 30KB")?, &mut translation)?,
            "plr" => loss(words.need("a probability from 0 to 1 such as 0.01")?, &mut translation)?,
            "red" | "gred" => discipline = Some(red(word, &mut words)?),
            "codel" => discipline = Some(codel(&mut words)?),
            "buckets" => drop(count(words.need("a number")?)?),
            "noerror" => translation.note(
                "noerror: dummynet hides its drops from the local sender with this; here they are always hidden, as \
                 on a real link.",
            ),
            other => return Err(unknown(other)),
        }
    }
    if !translation.keys.iter().any(|(key, _)| *key == "queue") {
        translation.say("queue", "50 packets");
        translation.note("queue: dummynet's default is 50 slots; netloom's is 1000 packets.");
    }
    if let Some(discipline) = discipline {
        manage(&discipline, &mut translation);
    }
    Ok(translation)
}

fn red(word: &str, words: &mut Words<'_>) -> Result<Discipline, String> {
    let text = words.need("w_q/min_th/max_th/max_p such as 0.002/5/15/0.1")?;
    let wrong = || format!("\"{text}\" is not w_q/min_th/max_th/max_p: write for example {word} 0.002/5/15/0.1");
    let [weight, min, max, probability] = text.split('/').collect::<Vec<_>>()[..] else { return Err(wrong()) };
    Ok(Discipline::Red(Red {
        weight: fraction(weight)?.to_string(),
        thresholds: [count(min)?, count(max)?],
        probability: fraction(probability)?.to_string(),
        is_gentle: word == "gred",
        marks: words.is("ecn"),
    }))
}

/// `codel [target TIME] [interval TIME] [ecn | noecn]`
fn codel(words: &mut Words<'_>) -> Result<Discipline, String> {
    let mut keys = String::new();
    loop {
        let key = match () {
            () if words.is("target") => "target",
            () if words.is("interval") => "interval",
            () if words.is("ecn") => {
                keys.push_str(", ecn: true");
                continue;
            }
            () if words.is("noecn") => continue,
            () => return Ok(Discipline::Codel(keys)),
        };
        let text = words.need("a time such as 5ms")?;
        if text.ends_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("\"{text}\" has no unit: write for example {key} 5ms"));
        }
        keys.push_str(&format!(", {key}: {}", ipfw_time(text)?));
    }
}

/// The queue is managed: what was said of its length is the limit, whose unit is that of the thresholds.
fn manage(discipline: &Discipline, translation: &mut Translation) {
    let Some((_, queue)) = translation.keys.iter_mut().find(|(key, _)| *key == "queue") else { return };
    let is_in_packets = queue.contains("packet");
    match discipline {
        Discipline::Codel(keys) => *queue = format!("{{kind: codel, limit: {queue}{keys}}}"),
        Discipline::Red(Red { weight, thresholds, probability, is_gentle, marks }) => {
            let [min, max] = thresholds.map(|length| match (is_in_packets, length) {
                (true, 1) => "1 packet".to_owned(),
                (true, _) => format!("{length} packets"),
                (false, _) => format!("{length} B"),
            });
            *queue = format!(
                "{{kind: red, limit: {queue}, min: {min}, max: {max}, probability: {probability}, weight: {weight}, gentle: \
                 {is_gentle}, ecn: {marks}, byte_mode: {}, mean_packet: 512 B}}",
                !is_in_packets
            );
            translation.note(
                "red: idle time counts in packets of 512 B, as by net.inet.ip.dummynet.red_avg_pkt_size. With thresholds in \
                 bytes, dummynet compares a packet with the largest (red_max_pkt_size, 1,500 B); here it is compared with \
                 `mean_packet`.",
            );
        }
    }
}

fn bandwidth(text: &str, translation: &mut Translation) -> Result<(), String> {
    let rate = ipfw_bandwidth(text)?;
    translation.say("rate", rate.map_or_else(|| "unlimited".to_owned(), |rate| rate.to_string()));
    translation.note(
        "bw: dummynet moves packets at the ticks of its timer (HZ); here every packet leaves at its computed \
         nanosecond.",
    );
    Ok(())
}

fn queue(text: &str, translation: &mut Translation) -> Result<(), String> {
    if let Ok(slots) = count(text) {
        translation.say("queue", if slots == 1 { "1 packet".into() } else { format!("{slots} packets") });
    } else {
        let lower = text.to_ascii_lowercase();
        let trimmed = lower.trim_end_matches("ytes").trim_end_matches("yte");
        translation.say("queue", tc_size(trimmed)?.to_string());
    }
    translation.note(
        "queue: in the paper a packet stays in the queue until its transmission ends (section 2, step 2); here it \
         leaves when its transmission begins, so that one packet more can be in the pipe before its wire.",
    );
    Ok(())
}

fn loss(text: &str, translation: &mut Translation) -> Result<(), String> {
    translation.say("loss", fraction(text)?.to_string());
    translation.note(
        "plr: a packet that will be lost is dropped on arrival, and takes no room in the queue and no time on the \
         wire, as in today's dummynet; the paper's dropped it at the end of the delay line.",
    );
    Ok(())
}

fn unknown(word: &str) -> String {
    match REFUSED.iter().find(|(name, _)| *name == word) {
        Some((_, why)) => format!("\"{word}\" is not translated: {why}"),
        None => format!("unknown word \"{word}\": known are bw, delay, queue, plr, red, gred, codel, noerror, buckets"),
    }
}
