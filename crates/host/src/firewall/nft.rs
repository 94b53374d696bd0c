//! Rules as nftables has them (nft(8)), in a table of their own for both families, which comes and goes as a whole.

use super::Diversion;
use std::ops::RangeInclusive;

/// The text that makes the table, in one transaction; one of that name is replaced.
pub(super) fn table(name: &str, diversion: &Diversion) -> String {
    let Diversion { queue, mark, nft, .. } = diversion;
    // The priority of the table `mangle` of iptables, behind the tracking of connections.
    let hook = |hook: &str| format!("type filter hook {hook} priority -150; policy accept;");
    let mut lines = vec![format!("table inet {name}"), format!("delete table inet {name}")];
    lines.extend([format!("table inet {name} {{"), "chain divert {".to_owned()]);
    lines.push(format!("meta mark {mark:#x} return"));
    for condition in nft {
        let space = if condition.is_empty() { "" } else { " " };
        lines.push(format!("{condition}{space}queue num {queue} bypass"));
    }
    lines.extend(["}".to_owned(), "chain output {".to_owned(), hook("output"), "jump divert\n}".to_owned()]);
    lines.extend(["chain prerouting {".to_owned(), hook("prerouting")]);
    lines.push("iifname != \"lo\" jump divert\n}\n}\n".to_owned());
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
    use super::*;

    #[test]
    fn the_table_diverts_each_packet_once_and_goes_as_a_whole() {
        let nft = vec!["ip daddr 10.0.0.0/8 meta l4proto 6".to_owned(), String::new()];
        let diversion = Diversion { queue: 7, mark: 0x4e4c, tables: [Vec::new(), Vec::new()], nft };
        assert_eq!(
            table("netloom-web", &diversion),
            "table inet netloom-web\ndelete table inet netloom-web\ntable inet netloom-web {\nchain divert {\n\
             meta mark 0x4e4c return\nip daddr 10.0.0.0/8 meta l4proto 6 queue num 7 bypass\nqueue num 7 bypass\n}\n\
             chain output {\ntype filter hook output priority -150; policy accept;\njump divert\n}\n\
             chain prerouting {\ntype filter hook prerouting priority -150; policy accept;\n\
             iifname != \"lo\" jump divert\n}\n}\n"
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
