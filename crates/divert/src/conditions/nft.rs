//! Filters as conditions of nftables (nft(8)), which has sets of addresses, ports and protocols: so a rule says it exactly.

use super::shared::{ICMP, WITH_PORTS, has_ports, with_answers};
use netloom_link::{Filter, Ports};
use std::fmt::Display;

/// The conditions of each rule, for packets of both families.
pub fn of(filter: &Filter, is_one_way: bool) -> Vec<String> {
    with_answers(filter, is_one_way, one_way)
}

fn one_way(filter: &Filter) -> Vec<String> {
    let names_a_family = filter.from.is_some() || filter.to.is_some() || filter.dscp.is_some();
    let families: &[Option<bool>] = if names_a_family { &[Some(false), Some(true)] } else { &[None] };
    families.iter().filter_map(|family| of_family(filter, *family)).flatten().collect()
}

/// None if no packet of the family matches.
fn of_family(filter: &Filter, is_v6: Option<bool>) -> Option<Vec<String>> {
    let family = if is_v6 == Some(true) { "ip6" } else { "ip" };
    let mut parts = Vec::new();
    for (word, prefixes) in [("saddr", &filter.from), ("daddr", &filter.to)] {
        let Some(prefixes) = prefixes else { continue };
        let own = prefixes.iter().filter(|prefix| is_v6 == Some(prefix.is_ipv6()));
        parts.push(format!("{family} {word} {}", set(own)?));
    }
    if let Some(protocols) = protocols(filter) {
        let other = is_v6.map(|is_v6| ICMP[usize::from(!is_v6)]);
        parts.push(format!("meta l4proto {}", set(protocols.iter().filter(|protocol| Some(**protocol) != other))?));
    }
    for (word, ports) in [("sport", &filter.from_port), ("dport", &filter.to_port)] {
        if let Some(ports) = ports {
            parts.push(format!("th {word} {}", set(ports.iter().map(range))?));
        }
    }
    if let Some(dscp) = &filter.dscp {
        parts.push(format!("{family} dscp {}", set(dscp.iter())?));
    }
    let said = parts.join(" ");
    let Some(ports) = &filter.port else { return Some(vec![said]) };
    let either = set(ports.iter().map(range))?;
    Some(["sport", "dport"].map(|word| format!("{said} th {word} {either}")).to_vec())
}

fn protocols(filter: &Filter) -> Option<Vec<u8>> {
    match &filter.protocol {
        None => has_ports(filter).then(|| WITH_PORTS.to_vec()),
        Some(all) if has_ports(filter) => Some(all.iter().copied().filter(|one| WITH_PORTS.contains(one)).collect()),
        Some(all) => Some(all.clone()),
    }
}

fn range(Ports { first, last }: &Ports) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// None if there is nothing in it.
fn set(values: impl Iterator<Item = impl Display>) -> Option<String> {
    let all: Vec<String> = values.map(|value| value.to_string()).collect();
    match &all[..] {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("{{ {} }}", several.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::parse_match;

    fn conditions(words: &str) -> Vec<String> {
        of(&parse_match(words).expect("a filter").filter, false)
    }

    #[test]
    fn what_matches_and_its_answers_are_diverted() {
        assert_eq!(
            conditions("to 10.1.0.0/16 tcp port 443"),
            [
                "ip daddr 10.1.0.0/16 meta l4proto 6 th sport 443",
                "ip daddr 10.1.0.0/16 meta l4proto 6 th dport 443",
                "ip saddr 10.1.0.0/16 meta l4proto 6 th sport 443",
                "ip saddr 10.1.0.0/16 meta l4proto 6 th dport 443"
            ]
        );
        assert_eq!(
            conditions("from 10.0.0.1,fd00::1 to-port 53,5000-6000 udp dscp 46"),
            [
                "ip saddr 10.0.0.1/32 meta l4proto 17 th dport { 53, 5000-6000 } ip dscp 46",
                "ip6 saddr fd00::1/128 meta l4proto 17 th dport { 53, 5000-6000 } ip6 dscp 46",
                "ip daddr 10.0.0.1/32 meta l4proto 17 th sport { 53, 5000-6000 } ip dscp 46",
                "ip6 daddr fd00::1/128 meta l4proto 17 th sport { 53, 5000-6000 } ip6 dscp 46"
            ]
        );
        assert_eq!(conditions("tcp"), ["meta l4proto 6"]);
        let icmp = Filter { protocol: Some(vec![1]), ..parse_match("to fd00::1").expect("a filter").filter };
        assert_eq!(of(&icmp, false), [] as [&str; 0], "each family has an ICMP of its own");
        assert_eq!(conditions("to-port 80")[0], "meta l4proto { 6, 17, 33, 132, 136 } th dport 80");
        assert_eq!(of(&Filter::default(), true), [""]);
    }
}
