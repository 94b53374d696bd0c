use super::*;

/// A message with this header behind the common one, and these attributes.
fn message(kind: u16, header: &[u8], attributes: &[(u16, &[u8])]) -> Vec<u8> {
    let mut body = header.to_vec();
    for (attribute, value) in attributes {
        let length = u16::try_from(4 + value.len()).unwrap();
        body.extend([length.to_ne_bytes(), attribute.to_ne_bytes()].concat());
        body.extend(*value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    let length = u32::try_from(HEADER + body.len()).unwrap();
    [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10], &body].concat()
}

fn seen(datagram: &[u8]) -> Vec<Seen> {
    let mut all = Vec::new();
    read(datagram, &mut |seen| all.push(seen));
    all
}

#[test]
fn messages_are_read_one_after_the_other() {
    let mut header = [0; LINK];
    header[4..8].copy_from_slice(&7_u32.to_ne_bytes());
    header[8..12].copy_from_slice(&1_u32.to_ne_bytes());
    let mtu = 1_400_u32.to_ne_bytes();
    let up = message(libc::RTM_NEWLINK, &header, &[(IFLA_IFNAME, b"eth0\0"), (IFLA_MTU, &mtu)]);
    let gone = message(libc::RTM_DELLINK, &header, &[]);
    let mut port = header;
    port[0] = 7;
    let bridged = message(libc::RTM_DELLINK, &port, &[]);
    let mut tc = [0; TC];
    tc[4..8].copy_from_slice(&7_u32.to_ne_bytes());
    let queue = message(libc::RTM_NEWQDISC, &tc, &[(TCA_KIND, b"tbf\0")]);
    let before = message(libc::RTM_DELQDISC, &tc, &[(TCA_KIND, b"noqueue\0")]);
    let all = seen(&[up, gone, bridged, before, queue].concat());
    let (name, kind) = ("eth0".to_owned(), "tbf".to_owned());
    assert_eq!(all[0], Seen::Link { index: 7, name, mac: Vec::new(), mtu: 1_400, up: true, xdp: false });
    assert_eq!(all[1..], [Seen::LinkGone { index: 7 }, Seen::Discipline { index: 7, kind }]);
}

/// An attribute by itself.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap();
    let mut bytes = [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

#[test]
fn what_stands_in_the_way_of_packets_is_told() {
    let mut tc = [0; TC];
    tc[4..8].copy_from_slice(&7_u32.to_ne_bytes());
    let own = message(libc::RTM_NEWTFILTER, &tc, &[(TCA_KIND, b"matchall\0")]);
    tc[4..8].copy_from_slice(&SHARED.to_ne_bytes());
    let shared = message(libc::RTM_NEWTFILTER, &tc, &[(TCA_KIND, b"u32\0")]);
    let filter = |index, kind: &str| Seen::Filter { index, kind: kind.to_owned() };
    assert_eq!(seen(&[own, shared].concat()), [filter(Some(7), "matchall"), filter(None, "u32")]);
    let mut header = [0; LINK];
    header[4..8].copy_from_slice(&7_u32.to_ne_bytes());
    let attached = |how: u8| attribute(IFLA_XDP_ATTACHED, &[how]);
    let link = |how: u8| message(libc::RTM_NEWLINK, &header, &[(IFLA_XDP, &attached(how))]);
    let has_xdp = |how| matches!(&seen(&link(how))[..], [Seen::Link { xdp: true, .. }]);
    assert!(!has_xdp(0) && has_xdp(1) && has_xdp(2));
}

#[test]
fn chains_at_an_interface_are_told_once_each() {
    let devices = [attribute(NFTA_DEVICE_NAME, b"eth0\0"), attribute(NFTA_DEVICE_PREFIX, b"wan")].concat();
    let hook = [attribute(1, &[0, 0, 0, 0]), attribute(NFTA_HOOK_DEV, b"eth0\0"), attribute(NFTA_HOOK_DEVS, &devices)];
    let chain = message(NEW_CHAIN, &[5, 0, 0, 0], &[(1, b"t\0"), (NFTA_CHAIN_HOOK | 0x8000, &hook.concat())]);
    let plain = message(NEW_CHAIN, &[2, 0, 0, 0], &[(1, b"t\0"), (NFTA_CHAIN_HOOK, &attribute(1, &[0, 0, 0, 3]))]);
    let mut all = Vec::new();
    read_chains(&[plain, chain].concat(), &mut |seen| all.push(seen));
    let at = |name: &str, is_prefix| Seen::Chain { interface: name.to_owned(), is_prefix };
    assert_eq!(all, [at("eth0", false), at("wan", true)]);
}

#[test]
fn addresses_of_the_link_alone_are_not_told() {
    let header = |scope: u8| [2, 24, 0, scope, 3, 0, 0, 0];
    let one = message(libc::RTM_NEWADDR, &header(0), &[(IFA_ADDRESS, &[10, 0, 0, 9]), (IFA_LOCAL, &[10, 0, 0, 1])]);
    let other = message(libc::RTM_DELADDR, &header(253), &[(IFA_ADDRESS, &[10, 0, 0, 1])]);
    let address = IpAddr::from([10, 0, 0, 1]);
    assert_eq!(seen(&[one, other].concat()), [Seen::Address { index: 3, address, is_new: true }]);
}

#[test]
fn carriers_are_told_of_interfaces_that_are_up() {
    let counted: Vec<u8> = (0..25_u64).flat_map(u64::to_ne_bytes).collect();
    let seen_with = |flags: u32| {
        let mut header = [0; LINK];
        header[4..8].copy_from_slice(&7_u32.to_ne_bytes());
        header[8..12].copy_from_slice(&flags.to_ne_bytes());
        let all = seen(&message(libc::RTM_NEWLINK, &header, &[(IFLA_STATS64, &counted)]));
        all.into_iter().find(|one| matches!(one, Seen::Carrier { .. }))
    };
    // tx_errors is the sixth number, tx_dropped the eighth.
    let told = |on| Some(Seen::Carrier { index: 7, on, unsent: 5 + 7 });
    let up = libc::IFF_UP.cast_unsigned();
    assert_eq!([up, up | HAS_CARRIER, HAS_CARRIER].map(seen_with), [told(false), told(true), None]);
}

#[test]
fn what_is_cut_off_is_not_read() {
    let whole = message(libc::RTM_NEWQDISC, &[0; TC], &[(TCA_KIND, b"fq_codel\0")]);
    for length in 0..whole.len() {
        seen(&whole[..length]);
    }
}
