//! Requests to the kernel for what a plan describes, as bytes (linux/rtnetlink.h and its like).

use serde_json::Value;
use std::net::IpAddr;

const CREATE: i32 = libc::NLM_F_REQUEST | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
const REPLACE: i32 = libc::NLM_F_REQUEST | libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
/// The first number of a node's interfaces, and of those in the middle: far from one another, as in a lab.
const FIRST: u32 = 100;
const MIDDLE: u32 = 1 << 16;
const VETH_INFO_PEER: u16 = 1;
const PERMANENT: u16 = 0x80;

/// An interface of a node; the other end of its pair is in the middle, where an engine would find it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct End {
    pub(crate) node: usize,
    index: u32,
    mtu: u32,
    mac: [u8; 6],
    name: [u8; 16],
}

/// Bytes of one in a file.
pub(crate) const SIZE_OF_END: usize = 34;

impl End {
    pub(crate) fn read(record: &[u8]) -> Self {
        let number = |at: usize| u32::from_ne_bytes(std::array::from_fn(|byte| record[at + byte]));
        let (mac, name) =
            (std::array::from_fn(|byte| record[12 + byte]), std::array::from_fn(|byte| record[18 + byte]));
        Self { node: number(0) as usize, index: number(4), mtu: number(8), mac, name }
    }

    fn write(&self) -> Vec<u8> {
        let numbers = [self.node as u32, self.index, self.mtu].map(u32::to_ne_bytes);
        [numbers.as_flattened(), &self.mac, &self.name].concat()
    }

    /// The request for the pair whose far end is in the namespace of a process.
    pub(crate) fn create(&self, number: u32, process: i32) -> Vec<u8> {
        let one_queue = [attribute(libc::IFLA_NUM_TX_QUEUES, &1_u32), attribute(libc::IFLA_NUM_RX_QUEUES, &1_u32)];
        let mtu = attribute(libc::IFLA_MTU, &self.mtu);
        let peer = [
            interface(self.index, false),
            bytes(libc::IFLA_IFNAME, &self.name),
            mtu.clone(),
            one_queue.concat(),
            bytes(libc::IFLA_ADDRESS, &self.mac),
            attribute(libc::IFLA_NET_NS_PID, &process.unsigned_abs()),
        ];
        let peer = bytes(VETH_INFO_PEER, &peer.concat());
        let kind = [bytes(libc::IFLA_INFO_KIND, b"veth"), bytes(libc::IFLA_INFO_DATA, &peer)];
        let name = format!("p{number}\0");
        let near = [
            interface(MIDDLE + number, true),
            bytes(libc::IFLA_IFNAME, name.as_bytes()),
            mtu,
            one_queue.concat(),
            bytes(libc::IFLA_LINKINFO, &kind.concat()),
        ];
        request(libc::RTM_NEWLINK, CREATE, &near.concat())
    }
}

/// The file of all that a plan, as `netloom check --json` prints it, needs of the kernel.
pub(crate) fn file(plan: &Value) -> Option<Vec<u8>> {
    let nodes = plan["nodes"].as_array()?;
    let mut ends = Vec::new();
    let mut requests = Vec::new();
    for (place, node) in nodes.iter().enumerate() {
        let interfaces = node["interfaces"].as_array()?;
        for (interface, index) in interfaces.iter().zip(FIRST..) {
            let mut name = [0; 16];
            let text = interface["name"].as_str()?.as_bytes();
            name.get_mut(..text.len())?.copy_from_slice(text);
            let mtu = u32::try_from(interface["mtu_bytes"].as_u64()?).ok()?;
            ends.push(End { node: place, index, mtu, mac: mac(&interface["mac"])?, name });
        }
        requests.push(requests_of(node, interfaces)?);
    }
    let mut file = [nodes.len() as u32, ends.len() as u32].map(u32::to_ne_bytes).concat();
    file.extend(requests.iter().flat_map(|own| (own.len() as u32).to_ne_bytes()));
    file.extend(ends.iter().flat_map(End::write));
    file.extend(requests.concat());
    Some(file)
}

/// Bring up, addresses, neighbours, routes.
fn requests_of(node: &Value, interfaces: &[Value]) -> Option<Vec<u8>> {
    let mut all = request(libc::RTM_NEWLINK, libc::NLM_F_REQUEST, &interface(1, true));
    for (described, index) in interfaces.iter().zip(FIRST..) {
        all.extend(request(libc::RTM_NEWLINK, libc::NLM_F_REQUEST, &interface(index, true)));
        for net in described["addresses"].as_array()? {
            all.extend(address(index, net.as_str()?)?);
        }
        for neighbor in described["neighbors"].as_array()? {
            let at = octets(neighbor["address"].as_str()?.parse().ok()?);
            let head = [&[family(&at), 0, 0, 0], &index.to_ne_bytes()[..], &PERMANENT.to_ne_bytes(), &[0, 1]].concat();
            let body = [head, bytes(libc::NDA_DST, &at), bytes(libc::NDA_LLADDR, &mac(&neighbor["mac"])?)];
            all.extend(request(libc::RTM_NEWNEIGH, REPLACE, &body.concat()));
        }
    }
    for route in node["routes"].as_array()? {
        let (to, length) = net(route["destination"].as_str()?)?;
        let via = octets(route["via"].as_str()?.parse().ok()?);
        let index = (FIRST..).zip(interfaces).find(|(_, one)| one["name"] == route["interface"])?.0;
        let head = vec![
            family(&to),
            length,
            0,
            0,
            libc::RT_TABLE_MAIN,
            libc::RTPROT_STATIC,
            libc::RT_SCOPE_UNIVERSE,
            libc::RTN_UNICAST,
            0,
            0,
            0,
            0,
        ];
        let ways = [bytes(libc::RTA_DST, &to), bytes(libc::RTA_GATEWAY, &via), attribute(libc::RTA_OIF, &index)];
        all.extend(request(libc::RTM_NEWROUTE, CREATE, &[head, ways.concat()].concat()));
    }
    Some(all)
}

fn address(index: u32, text: &str) -> Option<Vec<u8>> {
    let (own, length) = net(text)?;
    let flags = if own.len() == 4 { 0 } else { libc::IFA_F_NODAD as u8 };
    let head = [&[family(&own), length, flags, libc::RT_SCOPE_UNIVERSE], &index.to_ne_bytes()[..]].concat();
    let body = [head, bytes(libc::IFA_LOCAL, &own), bytes(libc::IFA_ADDRESS, &own)];
    Some(request(libc::RTM_NEWADDR, CREATE, &body.concat()))
}

/// `ifinfomsg` of an interface, which is brought up or left as it is.
fn interface(index: u32, up: bool) -> Vec<u8> {
    let flag = if up { libc::IFF_UP as u32 } else { 0 };
    [0, index, flag, flag].map(u32::to_ne_bytes).concat()
}

fn request(kind: u16, flags: i32, body: &[u8]) -> Vec<u8> {
    let length = (16 + body.len()) as u32;
    [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &(flags as u16).to_ne_bytes(), &[0; 8], body].concat()
}

fn attribute(kind: u16, value: &u32) -> Vec<u8> {
    bytes(kind, &value.to_ne_bytes())
}

fn bytes(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = (4 + value.len()) as u16;
    let mut all = [&length.to_ne_bytes(), &kind.to_ne_bytes()[..], value].concat();
    all.resize(all.len().next_multiple_of(4), 0);
    all
}

fn net(text: &str) -> Option<(Vec<u8>, u8)> {
    let (address, length) = text.split_once('/')?;
    Some((octets(address.parse().ok()?), length.parse().ok()?))
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

fn family(address: &[u8]) -> u8 {
    if address.len() == 4 { libc::AF_INET as u8 } else { libc::AF_INET6 as u8 }
}

fn mac(text: &Value) -> Option<[u8; 6]> {
    let parts: Vec<u8> =
        text.as_str()?.split(':').map(|part| u8::from_str_radix(part, 16)).collect::<Result<_, _>>().ok()?;
    parts.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_holds_every_interface_and_the_requests_of_every_node() {
        let interface = json!({"name": "eth0", "mac": "02:00:00:00:00:01", "mtu_bytes": 1500,
            "addresses": ["10.0.0.1/30", "fd00::1/64"], "neighbors": [{"address": "10.0.0.2", "mac": "02:00:00:00:00:02"}]});
        let route = json!({"destination": "0.0.0.0/0", "via": "10.0.0.2", "interface": "eth0"});
        let plan = json!({"nodes": [{"interfaces": [interface], "routes": [route]}]});
        let file = file(&plan).unwrap();
        let length = u32::from_ne_bytes(file[8..12].try_into().unwrap()) as usize;
        assert_eq!(file.len(), 12 + SIZE_OF_END + length);
        let end = End::read(&file[12..12 + SIZE_OF_END]);
        assert_eq!((end.node, end.index, end.mtu, &end.name[..5]), (0, FIRST, 1_500, &b"eth0\0"[..]));
        let mut rest = &file[12 + SIZE_OF_END..];
        let mut kinds = Vec::new();
        while !rest.is_empty() {
            kinds.push(u16::from_ne_bytes([rest[4], rest[5]]));
            rest = &rest[u32::from_ne_bytes(rest[..4].try_into().unwrap()) as usize..];
        }
        let address = libc::RTM_NEWADDR;
        let up = libc::RTM_NEWLINK;
        assert_eq!(kinds, [up, up, address, address, libc::RTM_NEWNEIGH, libc::RTM_NEWROUTE]);
    }
}
