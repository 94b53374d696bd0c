//! Messages of the kernel in a file: the bytes in which it speaks them.

use netlink_packet_core::{NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::AddressMessage;
use netlink_packet_route::neighbour::NeighbourMessage;
use netlink_packet_route::route::RouteMessage;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A message that can be written and read.
pub(super) trait Spoken: Clone + Sized {
    fn wrapped(self) -> RouteNetlinkMessage;
    fn found(message: RouteNetlinkMessage) -> Option<Self>;
}

macro_rules! spoken {
    ($message:ty, $kind:ident) => {
        impl Spoken for $message {
            fn wrapped(self) -> RouteNetlinkMessage {
                RouteNetlinkMessage::$kind(self)
            }

            fn found(message: RouteNetlinkMessage) -> Option<Self> {
                if let RouteNetlinkMessage::$kind(own) = message { Some(own) } else { None }
            }
        }
    };
}

spoken!(AddressMessage, NewAddress);
spoken!(RouteMessage, NewRoute);
spoken!(NeighbourMessage, NewNeighbour);

pub(super) fn serialize<M: Spoken, S: Serializer>(messages: &[M], serializer: S) -> Result<S::Ok, S::Error> {
    let all: Vec<Vec<u8>> = messages.iter().cloned().map(|message| bytes(message.wrapped())).collect();
    all.serialize(serializer)
}

pub(super) fn deserialize<'de, M: Spoken, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<M>, D::Error> {
    let one = |bytes: Vec<u8>| {
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&bytes).map_err(D::Error::custom)?;
        let found = match message.payload {
            NetlinkPayload::InnerMessage(inner) => M::found(inner),
            _ => None,
        };
        found.ok_or_else(|| D::Error::custom("a message of another kind"))
    };
    Vec::<Vec<u8>>::deserialize(deserializer)?.into_iter().map(one).collect()
}

fn bytes(message: RouteNetlinkMessage) -> Vec<u8> {
    let mut message = NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::InnerMessage(message));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}
