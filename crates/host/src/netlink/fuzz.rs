//! Answers of a kernel that are nearly right: they are read or refused, and nobody waits for ever.

use std::os::fd::{AsRawFd, OwnedFd};

use ipnet::IpNet;
use netlink_packet_core::{DoneMessage, ErrorMessage, NLM_F_MULTIPART, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage, Stats64};
use netlink_packet_route::route::{RouteAttribute, RouteMessage, RouteType};
use netloom_fuzz::fuzz;
use nix::sys::socket::{AddressFamily, MsgFlags, Shutdown, SockFlag, SockType, send, shutdown, socketpair};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::events::read;
use super::{Netlink, Request, add_address};

/// What headers and lengths are made wrong with.
const VALUES: [u8; 14] = [0, 1, 2, 3, 4, 8, 15, 16, 17, 20, 0x7f, 0x80, 0xfe, 0xff];

/// What a kernel can answer to the first request of a socket.
#[derive(Clone, Debug)]
enum Answer {
    Link,
    Address,
    Route(bool),
    Done,
    Error(i32),
}

impl Answer {
    fn bytes(&self) -> Vec<u8> {
        let payload = match self {
            Self::Link => {
                let mut link = LinkMessage::default();
                link.header.index = 2;
                link.header.flags = LinkFlags::Up | LinkFlags::Running;
                link.attributes = vec![
                    LinkAttribute::IfName("eth0".to_owned()),
                    LinkAttribute::Mtu(1_500),
                    LinkAttribute::Address(vec![2, 0, 0, 0, 0, 1]),
                    LinkAttribute::Stats64(Stats64::default()),
                ];
                NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link))
            }
            Self::Address => {
                let mut address = AddressMessage::default();
                address.header.prefix_len = 24;
                address.attributes = vec![AddressAttribute::Local("10.0.0.1".parse().expect("an address"))];
                NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewAddress(address))
            }
            Self::Route(is_local) => {
                let mut route = RouteMessage::default();
                route.header.kind = if *is_local { RouteType::Local } else { RouteType::Unicast };
                route.attributes = vec![RouteAttribute::Oif(2)];
                NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewRoute(route))
            }
            Self::Done => NetlinkPayload::Done(DoneMessage::default()),
            Self::Error(code) => {
                let mut error = ErrorMessage::default();
                error.code = std::num::NonZeroI32::new(*code);
                // The header of the request, and an explanation (NLMSGERR_ATTR_MSG).
                error.header = [&[0; 16][..], &[8, 0, 1, 0], b"no!\0"].concat();
                NetlinkPayload::Error(error)
            }
        };
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_MULTIPART;
        header.sequence_number = 1;
        let mut message = NetlinkMessage::new(header, payload);
        message.finalize();
        let mut bytes = vec![0; message.buffer_len().next_multiple_of(4)];
        message.serialize(&mut bytes);
        bytes
    }
}

/// Datagrams of a few answers each, with some bytes that are wrong, and cut somewhere.
fn answers() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let answer = prop_oneof![
        3 => Just(Answer::Link),
        1 => Just(Answer::Address),
        2 => any::<bool>().prop_map(Answer::Route),
        1 => Just(Answer::Done),
        2 => select(vec![0, -1, -17, -19, i32::MIN, i32::MAX]).prop_map(Answer::Error),
    ];
    let wounds = vec((any::<prop::sample::Index>(), 0..2_usize, select(VALUES.to_vec())), 0..4);
    let cut = prop::option::weighted(0.2, any::<prop::sample::Index>());
    let datagram = (vec(answer, 1..5), wounds, cut).prop_map(|(answers, wounds, cut)| {
        let mut bytes: Vec<u8> = answers.iter().flat_map(Answer::bytes).collect();
        for (place, near, value) in wounds {
            // Half of them in the first header.
            let at = if near == 0 { place.index(bytes.len().min(32)) } else { place.index(bytes.len()) };
            bytes[at] = value;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len()) + 1));
        bytes
    });
    vec(datagram, 1..4)
}

/// A socket whose kernel has answered this already, and says nothing more. The other end is kept to hear the questions.
fn answered(datagrams: &[Vec<u8>]) -> (Netlink, OwnedFd) {
    let (socket, kernel) =
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::empty()).expect("a pair of sockets");
    for datagram in datagrams {
        send(kernel.as_raw_fd(), datagram, MsgFlags::empty()).expect("room");
    }
    shutdown(kernel.as_raw_fd(), Shutdown::Write).expect("an end");
    (Netlink::over(socket), kernel)
}

#[test]
fn fuzz_answers() {
    fuzz("netlink-answers", 500, &answers(), |datagrams| {
        let ask = |question: &dyn Fn(&mut Netlink)| {
            let (mut netlink, _kernel) = answered(&datagrams);
            question(&mut netlink);
        };
        ask(&|netlink| drop(netlink.links()));
        ask(&|netlink| drop(netlink.index_of("eth0")));
        ask(&|netlink| drop(netlink.is_own("10.0.0.1".parse().expect("an address"))));
        ask(&|netlink| drop(netlink.transact(requests())));
        for datagram in &datagrams {
            let mut seen = 0;
            read(datagram, &mut |_| seen += 1);
            assert!(seen <= datagram.len() / 16, "{seen} messages in {} bytes", datagram.len());
        }
    });
}

fn requests() -> Vec<Request> {
    let address: IpNet = "10.0.0.1/24".parse().expect("an address");
    vec![add_address(2, "eth0", address); 3]
}

/// A kernel that goes away in the middle of its answer.
#[test]
fn a_socket_at_its_end_is_an_error() {
    for before in [vec![], vec![Answer::Link.bytes()]] {
        let (mut netlink, _kernel) = answered(&before);
        let error = netlink.links().expect_err("no end of the table");
        assert!(error.to_string().contains("list the interfaces"), "{error}");
    }
}

/// Numbers of errors are negative; one that has no opposite is none of a kernel's.
#[test]
fn an_absurd_error_is_an_error() {
    let (mut netlink, _kernel) = answered(&[Answer::Error(i32::MIN).bytes()]);
    let error = netlink.links().expect_err("an error");
    assert!(error.to_string().contains("no!"), "{error}");
}
