//! Filters against a naive model: every address is a text of bits, every range is counted through.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

use netloom_link::{Filter, Ports, Prefix};
use netloom_packet::Flow;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Few addresses, close to one another and to the ends of their families, so that prefixes tell them apart.
fn addresses(ipv6: bool) -> BoxedStrategy<IpAddr> {
    if ipv6 {
        let ends = prop_oneof![Just(0_u128), Just(u128::MAX), Just(0xfd00 << 112)];
        (ends, 0..4_u128).prop_map(|(end, low)| IpAddr::V6(Ipv6Addr::from(end ^ low))).boxed()
    } else {
        let ends = prop_oneof![Just(0_u32), Just(u32::MAX), Just(0x0a00_0000)];
        (ends, 0..4_u32).prop_map(|(end, low)| IpAddr::V4(Ipv4Addr::from(end ^ low))).boxed()
    }
}

fn bits(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("{:032b}", u32::from(address)),
        IpAddr::V6(address) => format!("{:0128b}", u128::from(address)),
    }
}

fn prefixes() -> impl Strategy<Value = Prefix> {
    let lengths = prop_oneof![Just(0_u8), Just(1), Just(8), Just(29), Just(30), Just(31), Just(32)];
    (any::<bool>(), lengths).prop_flat_map(|(ipv6, length)| {
        let length = if ipv6 { length * 4 } else { length };
        addresses(ipv6).prop_map(move |address| {
            let cut: String = bits(address).chars().take(usize::from(length)).collect();
            let whole = if ipv6 { format!("{cut:0<128}") } else { format!("{cut:0<32}") };
            let number = u128::from_str_radix(&whole, 2).expect("these are bits");
            let first = match u32::try_from(number) {
                Ok(number) if !ipv6 => IpAddr::V4(number.into()),
                _ => IpAddr::V6(number.into()),
            };
            Prefix::new(first, length).expect("nothing is set behind the prefix")
        })
    })
}

fn ports() -> impl Strategy<Value = Ports> {
    (1..12_u16, 0..6_u16).prop_map(|(first, more)| Ports { first, last: first + more })
}

const PROTOCOLS: [u8; 4] = [6, 17, 47, 132];

fn filters() -> impl Strategy<Value = Filter> {
    let addresses = || weighted(0.4, vec(prefixes(), 1..3));
    let some_ports = || weighted(0.3, vec(ports(), 1..3));
    let protocols = weighted(0.3, vec(proptest::sample::select(&PROTOCOLS), 1..3));
    let dscp = weighted(0.3, vec(0..3_u8, 1..3));
    (addresses(), addresses(), protocols, some_ports(), some_ports(), some_ports(), dscp).prop_map(
        |(from, to, protocol, from_port, to_port, port, dscp)| Filter {
            from,
            to,
            protocol,
            from_port,
            to_port,
            port,
            dscp,
            share: None,
        },
    )
}

fn flows() -> impl Strategy<Value = Flow> {
    let pair = any::<bool>().prop_flat_map(|ipv6| (addresses(ipv6), addresses(ipv6)));
    (pair, proptest::sample::select(&PROTOCOLS), 1..20_u16, 1..20_u16, 0..4_u8).prop_map(
        |((source, destination), protocol, source_port, destination_port, dscp)| {
            // 47 is GRE, which has no ports.
            let port = |port| if protocol == 47 { 0 } else { port };
            let (source_port, destination_port) = (port(source_port), port(destination_port));
            Flow { source, destination, protocol, source_port, destination_port, dscp }
        },
    )
}

fn naive(filter: &Filter, flow: &Flow) -> bool {
    let among = |list: &Option<Vec<Prefix>>, address: IpAddr| {
        let Some(list) = list else { return true };
        list.iter().any(|prefix| {
            let text = prefix.to_string();
            let (first, length) = text.split_once('/').expect("prefixes are written with their length");
            let first: IpAddr = first.parse().expect("it begins with an address");
            let length: usize = length.parse().expect("it ends with a number");
            first.is_ipv4() == address.is_ipv4() && bits(first)[..length] == bits(address)[..length]
        })
    };
    let in_ranges = |list: &Option<Vec<Ports>>, wanted: &[u16]| {
        let Some(list) = list else { return true };
        list.iter().any(|ports| (ports.first..=ports.last).any(|port| wanted.contains(&port)))
    };
    let (source, destination) = (flow.source_port, flow.destination_port);
    among(&filter.from, flow.source)
        && among(&filter.to, flow.destination)
        && filter.protocol.as_ref().is_none_or(|list| list.contains(&flow.protocol))
        && in_ranges(&filter.from_port, &[source])
        && in_ranges(&filter.to_port, &[destination])
        && in_ranges(&filter.port, &[source, destination])
        && filter.dscp.as_ref().is_none_or(|list| list.contains(&flow.dscp))
}

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(23), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn matching_is_as_counted_through(filter in filters(), flows in vec(flows(), 40)) {
        for flow in &flows {
            prop_assert_eq!(filter.matches(Some(flow)), naive(&filter, flow), "{:?}", flow);
        }
        prop_assert_eq!(filter.matches(None), filter == Filter::default());
    }

    /// The answer to what matches is what the reversed filter matches.
    #[test]
    fn answers_match_the_reversed_filter(filter in filters(), flows in vec(flows(), 40)) {
        for flow in &flows {
            let answer = Flow {
                source: flow.destination,
                destination: flow.source,
                source_port: flow.destination_port,
                destination_port: flow.source_port,
                ..*flow
            };
            prop_assert_eq!(filter.reversed().matches(Some(&answer)), filter.matches(Some(flow)), "{:?}", flow);
        }
        prop_assert_eq!(filter.reversed().reversed(), filter);
    }

    /// What is refused matches nothing.
    #[test]
    fn a_refused_filter_never_matches(filter in filters(), flows in vec(flows(), 40)) {
        if filter.check().is_err() {
            for flow in &flows {
                prop_assert!(!filter.matches(Some(flow)), "{:?}", flow);
            }
        }
    }

    /// What is said to be covered is.
    #[test]
    fn covering_is_sound(mut wide in filters(), narrow in filters(), keep in 0..4_u8, flows in vec(flows(), 40)) {
        // Two filters that know nothing of one another hardly ever cover one another: some keys are taken over.
        let taken = narrow.clone();
        if keep & 1 == 0 { wide.from = taken.from; }
        if keep & 2 == 0 { wide.to = taken.to; wide.port = taken.to_port; wide.to_port = None; }
        if wide.covers(&narrow) {
            for flow in &flows {
                prop_assert!(!narrow.matches(Some(flow)) || wide.matches(Some(flow)), "{:?}", flow);
            }
        }
    }

    /// With every key that is left out, a filter covers what it was.
    #[test]
    fn less_said_covers_more_said(filter in filters(), left_out in 0..7_u8) {
        prop_assert!(filter.covers(&filter));
        let mut wide = filter.clone();
        match left_out {
            0 => wide.from = None,
            1 => wide.to = None,
            2 => wide.protocol = None,
            3 => wide.from_port = None,
            4 => wide.to_port = None,
            5 => wide.port = None,
            _ => wide.dscp = None,
        }
        prop_assert!(wide.covers(&filter));
        // `port` may say no more than `from_port` and `to_port` do.
        prop_assert!(filter.covers(&wide) == (filter == wide) || left_out == 5);
        prop_assert!(Filter::default().covers(&filter));
    }
}

fn v4(text: &str, length: u8) -> Prefix {
    Prefix::new(text.parse().expect("an address"), length).expect("a prefix")
}

#[test]
fn covering_knows_prefixes_and_ranges() {
    let to = |prefix| Filter { to: Some(vec![prefix]), ..Filter::default() };
    assert!(to(v4("10.0.0.0", 8)).covers(&to(v4("10.1.0.0", 16))));
    assert!(!to(v4("10.1.0.0", 16)).covers(&to(v4("10.0.0.0", 8))));
    assert!(!to(v4("0.0.0.0", 0)).covers(&to(v4("::", 0))));
    let either = Filter { port: Some(vec![Ports { first: 5_000, last: 6_000 }]), ..Filter::default() };
    let source = Filter { from_port: Some(vec![Ports::one(5_500)]), ..Filter::default() };
    assert!(either.covers(&source) && !source.covers(&either));
}

/// Prefixes are written as they are meant: nothing is cut off in silence.
#[test]
fn a_prefix_has_nothing_behind_it() {
    let wrong = |text: &str, length| Prefix::new(text.parse().expect("an address"), length).expect_err("it is wrong");
    assert_eq!(wrong("10.0.1.7", 24).to_string(), "10.0.1.7/24 has bits set after its prefix: write 10.0.1.0/24");
    assert_eq!(wrong("fd00::1", 0).to_string(), "fd00::1/0 has bits set after its prefix: write ::/0");
    assert_eq!(wrong("10.0.0.0", 33).to_string(), "the prefix of 10.0.0.0 has at most 32 bits");
    assert_eq!(Prefix::host("10.0.0.1".parse().expect("an address")), v4("10.0.0.1", 32));
}

#[test]
fn what_can_never_match_is_refused() {
    let wrong = |filter: Filter| filter.check().expect_err("it can never match").to_string();
    let ports = || Some(vec![Ports::one(53)]);
    let (four, six) = (Some(vec![v4("10.0.0.0", 8)]), Some(vec![v4("fd00::", 64)]));
    let empty = "from: an empty list matches nothing: leave the key out, or name something";
    assert_eq!(wrong(Filter { from: Some(vec![]), ..Filter::default() }), empty);
    let backwards = Filter { port: Some(vec![Ports { first: 9, last: 8 }]), ..Filter::default() };
    assert_eq!(wrong(backwards), "port: the range 9-8 ends before it begins: write 8-9");
    let zero = Filter { to_port: Some(vec![Ports { first: 0, last: 8 }]), ..Filter::default() };
    assert_eq!(wrong(zero), "to_port: 0 is not a port: they go from 1 to 65535");
    let portless = Filter { protocol: Some(vec![1, 47]), from_port: ports(), ..Filter::default() };
    let only = "from_port: these protocols have no ports: only TCP, UDP, DCCP, SCTP and UDP-Lite have";
    assert_eq!(wrong(portless), only);
    let mixed = Filter { from: four.clone(), to: six.clone(), ..Filter::default() };
    assert_eq!(wrong(mixed), "to: `from` and `to` must both be IPv4 or both be IPv6");
    let icmp = |number, to| Filter { protocol: Some(vec![number]), to, ..Filter::default() };
    assert_eq!(wrong(icmp(1, six)), "protocol: icmp belongs to IPv4: write icmpv6 for IPv6 addresses");
    assert_eq!(wrong(icmp(58, four)), "protocol: icmpv6 belongs to IPv6: write icmp for IPv4 addresses");
    let dscp = Filter { dscp: Some(vec![0, 64]), ..Filter::default() };
    assert_eq!(wrong(dscp), "dscp: 64 is not a code point: they go from 0 to 63");
    let partly = Filter { protocol: Some(vec![1, 17]), port: ports(), ..Filter::default() };
    assert_eq!(partly.check(), Ok(()), "UDP has ports");
}
