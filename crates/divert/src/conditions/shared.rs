//! What rules of iptables and of nftables have in common.

use netloom_link::Filter;

/// The protocols with ports, by IANA's numbers.
pub(super) const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];
/// ICMP of each family.
pub(super) const ICMP: [u8; 2] = [1, 58];

/// Those of what matches, and, unless it is one way only, those of the opposite direction.
pub(super) fn with_answers(
    filter: &Filter,
    is_one_way: bool,
    conditions: impl Fn(&Filter) -> Vec<String>,
) -> Vec<String> {
    let mut all = conditions(filter);
    let answers = if is_one_way { Vec::new() } else { conditions(&filter.reversed()) };
    for condition in answers {
        if !all.contains(&condition) {
            all.push(condition);
        }
    }
    // One rule without a condition says all.
    if all.iter().any(String::is_empty) { vec![String::new()] } else { all }
}

/// Whether a filter asks for ports.
pub(super) fn has_ports(filter: &Filter) -> bool {
    filter.port.is_some() || filter.from_port.is_some() || filter.to_port.is_some()
}
