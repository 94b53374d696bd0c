//! Random networks of transit routers, each with a host at its side.

use crate::network::mac;
use netloom_fabric::{DeviceSpec, Neighbor, NextHop, PipeSpec, PortId, RouterInterface, RouterSpec};
use netloom_link::{PipeConfig, Prefix};
use netloom_units::{Bytes, Duration};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

/// Links 0 to `routers` - 1 lead from the host with the same number to the router with the same number; the others are
/// between routers. Port 2 i is the first end of link i, and pipe 2 i leads away from it.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    pub(crate) pipes: Vec<PipeSpec>,
    pub(crate) routers: Vec<DeviceSpec>,
}

impl Mesh {
    /// `between`: the routers that are joined; every router must be reachable.
    pub(crate) fn new(routers: usize, between: &[[usize; 2]], mut model: impl FnMut(bool) -> PipeConfig) -> Self {
        let links: Vec<[usize; 2]> =
            (0..routers).map(|router| [router, router]).chain(between.iter().copied()).collect();
        let mut pipes = Vec::new();
        for link in 0..links.len() {
            for end in 0..2 {
                pipes.push(PipeSpec {
                    name: format!("{link}.{end}"),
                    config: model(link >= routers),
                    coalesce: if end == 1 && link < routers { Duration::from_micros(20) } else { Duration::ZERO },
                    from: port(link, end),
                    filter: None,
                    medium: Vec::new(),
                    to: port(link, 1 - end),
                });
            }
        }
        let routers = (0..routers).map(|router| router_spec(router, routers, &links)).collect();
        Self { pipes, routers }
    }
}

pub(crate) fn port(link: usize, end: usize) -> PortId {
    PortId(u32::try_from(2 * link + end).unwrap())
}

pub(crate) fn address(link: usize, end: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(10 << 24 | u32::try_from(4 * link + end + 1).unwrap())
}

fn subnet(link: usize) -> Prefix {
    Prefix::new(Ipv4Addr::from_bits(10 << 24 | u32::try_from(4 * link).unwrap()).into(), 30).unwrap()
}

fn router_spec(router: usize, routers: usize, links: &[[usize; 2]]) -> DeviceSpec {
    // A host is at the first end of its link, its router at the second.
    let is_own = |link: usize, end: usize| links[link][end] == router && (link >= routers || end == 1);
    let all = (0..links.len()).flat_map(|link| [(link, 0), (link, 1)]);
    let own: Vec<(usize, usize)> = all.filter(|(link, end)| is_own(*link, *end)).collect();
    let interface = |&(link, end): &(usize, usize)| RouterInterface {
        port: port(link, end),
        mac: mac(port(link, end).0),
        mtu: Bytes::new(1_500),
        addresses: vec![IpAddr::V4(address(link, end))],
        is_shared: false,
        neighbors: vec![Neighbor {
            mac: mac(port(link, 1 - end).0),
            addresses: vec![IpAddr::V4(address(link, 1 - end))],
        }],
        subnets: vec![subnet(link)],
    };
    let routes = (0..routers).filter(|host| *host != router).map(|host| {
        let first = towards(router, host, routers, links);
        let place = own.iter().position(|(link, _)| *link == first).unwrap();
        (subnet(host), NextHop::by(place))
    });
    let interfaces = own.iter().map(interface).collect();
    DeviceSpec::Router(RouterSpec { interfaces, routes: routes.collect(), ..RouterSpec::default() })
}

/// The first link on a shortest way between two routers.
fn towards(from: usize, to: usize, routers: usize, links: &[[usize; 2]]) -> usize {
    let mut first = vec![None; routers];
    let mut reached = VecDeque::from([from]);
    while let Some(here) = reached.pop_front() {
        for (link, ends) in links.iter().enumerate().skip(routers).filter(|(_, ends)| ends.contains(&here)) {
            let there = if ends[0] == here { ends[1] } else { ends[0] };
            if there != from && first[there].is_none() {
                first[there] = first[here].or(Some(link));
                reached.push_back(there);
            }
        }
    }
    first[to].unwrap()
}
