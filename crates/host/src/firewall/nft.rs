//! Rules as nftables has them (nft(8)), in a table of their own for both families, which comes and goes as a whole.

use super::{Diversion, MARKS, PREFIX};
use std::ops::RangeInclusive;

/// The text that makes the table, in one transaction; one of that name is replaced.
pub(super) fn table(name: &str, diversion: &Diversion) -> String {
    let Diversion { queue, nft, made, .. } = diversion;
    // The priority of the table `mangle` of iptables, behind the tracking of connections.
    let hook = |hook: &str| format!("type filter hook {hook} priority -150; policy accept;");
    let joined = |parts: &[&str]| parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let to_queue = format!("queue num {queue} bypass");
    let own = format!("{:#x}", diversion.mark_of_connections());
    let (connections, conditions) = match made {
        Some(made) if made.alone => (String::new(), &made.nft),
        Some(_) => (format!("ct mark and {PREFIX:#x} == {own}"), nft),
        None => (String::new(), nft),
    };
    let mut lines = vec![format!("table inet {name}"), format!("delete table inet {name}")];
    lines.extend([format!("table inet {name} {{"), "chain divert {".to_owned()]);
    lines.push(format!("meta mark and {PREFIX:#x} == {MARKS:#x} return"));
    lines.extend(conditions.iter().map(|condition| joined(&[&connections, condition, &to_queue])));
    lines.extend(["}".to_owned(), "chain output {".to_owned(), hook("output")]);
    if let Some(made) = made.as_ref().filter(|made| !made.alone) {
        let marks = format!("ct mark set ct mark and {:#x} or {own}", !PREFIX);
        // The kernel forgets a connection whose first packet is taken out: what is sent in its place marks it again.
        lines.push(format!("meta mark {:#x} {marks}", diversion.mark()));
        let other = format!("meta mark and {PREFIX:#x} != {MARKS:#x}");
        lines.extend(made.nft.iter().map(|condition| joined(&[&other, condition, &marks])));
    }
    lines.push("jump divert\n}".to_owned());
    // Who made a packet that is received is not known.
    if made.as_ref().is_none_or(|made| !made.alone) {
        lines.extend(["chain prerouting {".to_owned(), hook("prerouting")]);
        lines.push("iifname != \"lo\" jump divert\n}".to_owned());
    }
    lines.push("}\n".to_owned());
    lines.join("\n")
}

/// The text that removes the table; none if `listed`, the names of tables, does not have it.
pub(super) fn removal(listed: &str, name: &str) -> Option<String> {
    let own = format!("table inet {name}");
    listed.lines().any(|line| line.trim() == own).then(|| format!("delete {own}\n"))
}

/// The queues that rules name.
pub(super) fn queues(ruleset: &str) -> Vec<RangeInclusive<u16>> {
    let behind = |line: &'_ str| line.split_once("queue ").map(|(_, words)| words.to_owned());
    let mut found = Vec::new();
    for words in ruleset.lines().filter_map(behind) {
        for word in words.split_ascii_whitespace() {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            if let (Ok(first), Ok(last)) = (first.parse(), last.parse()) {
                found.push(first..=last);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Made;
    use super::*;
    use std::num::NonZeroU16;

    #[test]
    fn the_table_diverts_each_packet_once_and_goes_as_a_whole() {
        let nft = vec!["ip daddr 10.0.0.0/8 meta l4proto 6".to_owned(), String::new()];
        let tag = NonZeroU16::new(0x4e4c).expect("it is not zero");
        let mut diversion = Diversion { queue: 7, tag, tables: [Vec::new(), Vec::new()], nft, made: None };
        assert_eq!(
            table("netloom-web", &diversion),
            "table inet netloom-web\ndelete table inet netloom-web\ntable inet netloom-web {\nchain divert {\n\
             meta mark and 0xffff0000 == 0x6e650000 return\nip daddr 10.0.0.0/8 meta l4proto 6 queue num 7 bypass\nqueue num 7 bypass\n}\n\
             chain output {\ntype filter hook output priority -150; policy accept;\njump divert\n}\n\
             chain prerouting {\ntype filter hook prerouting priority -150; policy accept;\n\
             iifname != \"lo\" jump divert\n}\n}\n"
        );
        let made = |alone| Made { tables: [Vec::new(), Vec::new()], nft: vec!["meta skuid 7".into()], alone };
        diversion.nft.truncate(1);
        diversion.made = Some(made(false));
        assert_eq!(
            table("netloom-web", &diversion),
            "table inet netloom-web\ndelete table inet netloom-web\ntable inet netloom-web {\nchain divert {\n\
             meta mark and 0xffff0000 == 0x6e650000 return\n\
             ct mark and 0xffff0000 == 0x4e4c0000 ip daddr 10.0.0.0/8 meta l4proto 6 queue num 7 bypass\n}\n\
             chain output {\ntype filter hook output priority -150; policy accept;\n\
             meta mark 0x6e654e4c ct mark set ct mark and 0xffff or 0x4e4c0000\n\
             meta mark and 0xffff0000 != 0x6e650000 meta skuid 7 ct mark set ct mark and 0xffff or 0x4e4c0000\njump divert\n}\n\
             chain prerouting {\ntype filter hook prerouting priority -150; policy accept;\n\
             iifname != \"lo\" jump divert\n}\n}\n"
        );
        diversion.made = Some(made(true));
        assert_eq!(
            table("netloom-web", &diversion),
            "table inet netloom-web\ndelete table inet netloom-web\ntable inet netloom-web {\nchain divert {\n\
             meta mark and 0xffff0000 == 0x6e650000 return\nmeta skuid 7 queue num 7 bypass\n}\n\
             chain output {\ntype filter hook output priority -150; policy accept;\njump divert\n}\n}\n"
        );
        let listed = "table ip filter\ntable inet netloom-web\n";
        assert_eq!(removal(listed, "netloom-web").as_deref(), Some("delete table inet netloom-web\n"));
        assert_eq!(removal(listed, "netloom-we"), None);
    }

    #[test]
    fn queues_of_others_are_seen_in_both_of_the_forms_that_nft_writes() {
        let listed = "tcp dport 80 queue num 5 bypass\n\t\tqueue flags bypass to 7-9 # handle 3\nqueue to 12\nip daddr 10.0.0.1\n";
        assert_eq!(queues(listed), [5..=5, 7..=9, 3..=3, 12..=12]);
    }
}
