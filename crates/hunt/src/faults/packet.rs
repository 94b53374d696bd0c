//! Faults of single packets, of name servers and of TCP connections.

use super::ground::{Drawn, Ground, Window};
use super::links::{delays_of, direction, link_of};
use crate::choices::Choices;
use netloom_lab::{NameFaults, SinglePackets, SingleTreatment};
use netloom_link::FaultAction;

/// Which of the packets behind the instant is treated.
const ORDINALS: [u64; 10] = [1, 2, 3, 4, 5, 7, 10, 20, 50, 100];
/// How many packets of a link are treated, one behind the other.
const COUNTS: [u64; 4] = [1, 2, 3, 5];

/// How many messages of DNS are treated, one behind the other. Who gets no answer asks again, mostly another server, so the first few are not enough
/// to make a name fail.
const MESSAGES: [&str; 5] = ["1", "2", "3", "5", "all"];

/// Treats one packet of a link, or a few.
pub(super) fn single(ground: &Ground, choices: &mut Choices, window: Window, packets: &SinglePackets) -> Drawn {
    let link = link_of(ground, choices, &packets.links);
    let treatment = packets.treatments[choices.place(packets.treatments.len())];
    let nth = ORDINALS[choices.place(ORDINALS.len())];
    let count = COUNTS[choices.place(COUNTS.len())];
    let what = match treatment {
        SingleTreatment::Hold => {
            let times = delays_of(packets.hold);
            format!("{{hold: {}}}", times[choices.place(times.len())])
        }
        other => other.name().to_owned(),
    };
    let direction = direction(choices, link).map_or_else(String::new, |name| format!(", direction: {name}"));
    let matching = packets.matching.as_ref().map(|own| format!("match: {own}"));
    let counted = [("nth", nth), ("count", count)].into_iter().filter(|(_, number)| *number > 1);
    let keys: Vec<String> =
        matching.into_iter().chain(counted.map(|(key, number)| format!("{key}: {number}"))).collect();
    let (at, length, name) = (window.at(), window.length(), &link.name);
    let entry =
        format!("{{at: {at}, link: {name}, packet: {{{}}}, do: {what}, for: {length}{direction}}}", keys.join(", "));
    (Vec::new(), vec![entry])
}

/// Lets a name server fail, as those see it who ask over a link: for a few messages, or for all.
pub(super) fn names(ground: &Ground, choices: &mut Choices, window: Window, names: &NameFaults) -> Drawn {
    let link = link_of(ground, choices, &names.links);
    let way = names.ways[choices.place(names.ways.len())];
    let question = (!names.questions.is_empty()).then(|| &names.questions[choices.place(names.questions.len())]);
    let count = MESSAGES[choices.place(MESSAGES.len())];
    let question = question.map_or_else(String::new, |name| format!("question: {name}, "));
    let (at, length, name) = (window.at(), window.length(), &link.name);
    let entry = format!(
        "{{at: {at}, link: {name}, packet: {{{question}count: {count}}}, do: {}, for: {length}}}",
        FaultAction::Dns(way),
    );
    (Vec::new(), vec![entry])
}

/// Resets all TCP connections over a link.
pub(super) fn reset(ground: &Ground, choices: &mut Choices, window: Window, links: &[usize]) -> Drawn {
    let link = link_of(ground, choices, links);
    (Vec::new(), vec![format!("{{at: {}, link: {}, reset: true}}", window.at(), link.name)])
}
