//! What is written down of packets, as JSON.

use crate::keyed::WrittenKeys;
use crate::plan::{CapturePlan, Direction, JournalPlan, Plan};
use crate::yaml::yaml_value;
use netloom_units::Bytes;
use serde_json::{Value, json};

impl Plan {
    pub(super) fn capture(&self, capture: &CapturePlan) -> Value {
        json!({
            "link": capture.link.map(|link| self.links[link].name.as_str()),
            "node": capture.node.map(|node| self.nodes[node].name.as_str()),
            "direction": capture.direction.map(|direction| direction.to_string()),
            "at": capture.at.map(|point| point.name(&capture.link.map(|link| self.ends_of(link)).unwrap_or_default())),
            "snaplen_bytes": capture.snaplen.map(Bytes::get),
            "match": capture.filter.as_ref().map(|filter| yaml_value(&filter.write_map())),
            "filter": capture.expression.as_ref().map(|expression| expression.text.as_str()),
            "ring_bytes": capture.ring.map(Bytes::get),
            "file": format!("captures/{}", capture.file),
        })
    }

    pub(super) fn journal(&self, journal: &JournalPlan) -> Value {
        let link = |(link, direction): &(usize, Option<Direction>)| {
            json!({
                "link": self.links[*link].name,
                "direction": direction.map(|direction| direction.to_string()),
            })
        };
        json!({
            "links": journal.links.as_ref().map(|links| links.iter().map(link).collect::<Vec<_>>()),
            "match": journal.filter.as_ref().map(|filter| yaml_value(&filter.write_map())),
            "limit_bytes": journal.limit.map(Bytes::get),
            "file": "journal.arrows",
        })
    }
}
