//! Filters as conditions of firewall rules. Where rules cannot say a filter exactly, they say less, and divert more than what matches: the
//! engine lets that go on at once.

mod nft;
mod shared;

use netloom_link::{Filter, Ports, Prefix};
pub use nft::of as nft;
use shared::{ICMP, WITH_PORTS, has_ports, with_answers};

/// More rules than that for one family would cost every packet too much.
const MOST: usize = 200;
/// More ports than that do not fit into one rule; a range counts as two (xt_multiport).
const MOST_PORTS: usize = 15;
/// Returns the conditions of each rule of iptables that is needed for packets of a family; none if no packet of the family matches.
pub fn tables(filter: &Filter, is_one_way: bool, is_v6: bool) -> Vec<String> {
    with_answers(filter, is_one_way, |filter| one_way(filter, is_v6))
}

fn one_way(filter: &Filter, is_v6: bool) -> Vec<String> {
    let ports = ports(filter);
    let parts = [
        addresses("-s", filter.from.as_deref(), is_v6),
        addresses("-d", filter.to.as_deref(), is_v6),
        protocols(filter, is_v6).iter().map(|protocol| joined(protocol, &ports)).collect(),
        filter.dscp.as_ref().map_or_else(
            || vec![String::new()],
            |all| all.iter().map(|dscp| format!("-m dscp --dscp {dscp}")).collect(),
        ),
    ];
    let mut all = vec![String::new()];
    for part in parts {
        if part.is_empty() {
            return Vec::new();
        }
        // The others can still be said.
        if all.len() * part.len() <= MOST {
            all = all.iter().flat_map(|before| part.iter().map(move |one| joined(before, one))).collect();
        }
    }
    all
}

fn joined(before: &str, one: &str) -> String {
    [before, one].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn addresses(word: &str, prefixes: Option<&[Prefix]>, is_v6: bool) -> Vec<String> {
    let Some(prefixes) = prefixes else { return vec![String::new()] };
    prefixes.iter().filter(|prefix| prefix.is_ipv6() == is_v6).map(|prefix| format!("{word} {prefix}")).collect()
}

fn protocols(filter: &Filter, is_v6: bool) -> Vec<String> {
    let has_ports = has_ports(filter);
    let all: Vec<u8> = match &filter.protocol {
        Some(all) => all.clone(),
        None if has_ports => WITH_PORTS.to_vec(),
        None => return vec![String::new()],
    };
    let other = ICMP[usize::from(!is_v6)];
    let is_meant = |protocol: &u8| *protocol != other && (!has_ports || WITH_PORTS.contains(protocol));
    all.into_iter().filter(is_meant).map(|protocol| format!("-p {protocol}")).collect()
}

fn ports(filter: &Filter) -> String {
    let list = |(word, ranges): (&str, &Option<Vec<Ports>>)| {
        let ranges = ranges.as_ref()?;
        let weight: usize = ranges.iter().map(|range| 1 + usize::from(range.first != range.last)).sum();
        let one =
            |Ports { first, last }: &Ports| if first == last { first.to_string() } else { format!("{first}:{last}") };
        let all: Vec<String> = ranges.iter().map(one).collect();
        (weight <= MOST_PORTS).then(|| format!("-m multiport {word} {}", all.join(",")))
    };
    let lists = [("--sports", &filter.from_port), ("--dports", &filter.to_port), ("--ports", &filter.port)];
    lists.into_iter().filter_map(list).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::parse_match;

    fn conditions(words: &str) -> [Vec<String>; 2] {
        let filter = parse_match(words).expect("a filter").filter;
        [tables(&filter, false, false), tables(&filter, false, true)]
    }

    #[test]
    fn what_matches_and_its_answers_are_diverted() {
        let none: [&str; 0] = [];
        assert_eq!(
            conditions("to 10.1.0.0/16 tcp port 443"),
            [
                vec!["-d 10.1.0.0/16 -p 6 -m multiport --ports 443", "-s 10.1.0.0/16 -p 6 -m multiport --ports 443"],
                none.to_vec()
            ]
        );
        assert_eq!(
            conditions("from fd00::1 to-port 53,5000-6000 udp dscp 46"),
            [
                none.to_vec(),
                vec![
                    "-s fd00::1/128 -p 17 -m multiport --dports 53,5000:6000 -m dscp --dscp 46",
                    "-d fd00::1/128 -p 17 -m multiport --sports 53,5000:6000 -m dscp --dscp 46"
                ]
            ]
        );
        // What is the same both ways is said once; each family has an ICMP of its own.
        assert_eq!(conditions("tcp"), [vec!["-p 6"], vec!["-p 6"]]);
        assert_eq!(conditions("icmp"), [vec!["-p 1"], none.to_vec()]);
        assert_eq!(conditions("icmpv6"), [none.to_vec(), vec!["-p 58"]]);
        assert_eq!(conditions("port 80")[0].len(), WITH_PORTS.len());
    }

    #[test]
    fn what_rules_cannot_say_is_left_out() {
        let ports: Vec<String> = (1..=16).map(|port| (port * 2).to_string()).collect();
        assert_eq!(conditions(&format!("tcp to-port {}", ports.join(",")))[0], ["-p 6"]);
        let hosts = |net: u8| (0..100).map(|host| format!("10.{net}.0.{host}")).collect::<Vec<_>>().join(",");
        let many = conditions(&format!("from {} to {} udp", hosts(1), hosts(2)));
        assert_eq!((many[0].len(), many[0][0].as_str()), (200, "-s 10.1.0.0/32 -p 17"));
        assert_eq!(tables(&Filter::default(), false, false), [""]);
    }

    #[test]
    fn answers_can_be_left_alone() {
        let filter = parse_match("to 10.1.0.0/16").expect("a filter").filter;
        assert_eq!(tables(&filter, true, false), ["-d 10.1.0.0/16"]);
    }
}
