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
    ("burst", "a burst belongs to `rate: {kind: token-bucket, …}`"),
];

pub(super) fn translate(text: &str) -> Result<Translation, String> {
    let mut words = Words::new(text);
    words.skip_to("config");
    let mut translation = Translation::default();
    while let Some(word) = words.take() {
        match word {
            "bw" | "bandwidth" => bandwidth(words.need("a bandwidth such as 2.6Mbit/s")?, &mut translation)?,
            "delay" => {
                let delay = ipfw_time(words.need("a delay in milliseconds such as 45ms")?)?;
                translation.say("delay", delay.to_string());
            }
            "queue" => queue(words.need("a length such as 30 or 30KB")?, &mut translation)?,
            "plr" => loss(words.need("a probability from 0 to 1 such as 0.01")?, &mut translation)?,
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
    Ok(translation)
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
        None => format!("unknown word \"{word}\": known are bw, delay, queue, plr, noerror, buckets"),
    }
}
