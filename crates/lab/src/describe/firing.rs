//! What faults have done to packets, as JSON.

use crate::models::filter::write_protocol;
use crate::plan::{BY_HAND, Plan};
use crate::yaml::yaml_value;
use netloom_link::Firing;
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};

/// A firing of a fault, with the names of the plan: for the log of events.
pub fn firing(plan: &Plan, firing: &Firing) -> Value {
    let Firing { pipe, fault, action, flow, bytes, sequence, .. } = firing;
    let place = plan.pipes().nth(*pipe as usize);
    let end = |address: IpAddr, port: u16| match port {
        0 => address.to_string(),
        port => SocketAddr::new(address, port).to_string(),
    };
    json!({
        "link": place.as_ref().map(|place| place.link_name),
        "direction": place.as_ref().map(|place| place.direction.to_string()),
        "pipe": place.as_ref().and_then(|place| place.treatment).map(|treatment| &treatment.name),
        "line": (*fault != BY_HAND).then_some(fault),
        "do": yaml_value(&action.to_string()),
        "source": flow.map(|flow| end(flow.source, flow.source_port)),
        "destination": flow.map(|flow| end(flow.destination, flow.destination_port)),
        "protocol": flow.map(|flow| write_protocol(flow.protocol)),
        "bytes": bytes,
        "sequence": sequence,
    })
}
