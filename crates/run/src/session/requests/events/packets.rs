//! What becomes of some packets of each pipe.
//!
//! Packets are picked while somebody wants to know, by the step that the number of pipes allows. What has become of them is fetched
//! when a client is due, and kept for each client until it takes it, as far as there is room.

use crate::session::context::Context;
use crate::session::requests::state::Requests;
use netloom_control::{Event, PacketDrop, PacketFlow, PacketRecord, Topic};
use netloom_judge::RunError;
use netloom_lab::write_protocol;
use netloom_link::{SampledPacket, SampledPackets, Sent};
use netloom_packet::Flow;
use netloom_provision::links::Links;
use netloom_results::journal::cause_name;
use netloom_units::{Duration, Instant};
use std::net::{IpAddr, SocketAddr};

/// Each pipe picks packets that are at least so far apart in lab time,
const SHORTEST_STEP: Duration = Duration::from_millis(20);
/// and, with many pipes, so far for each of them: of all together there are 4,000 in a second at most, as a pipe picks packets that it
/// drops at once apart from the others.
const STEP_PER_PIPE: Duration = Duration::from_micros(500);
/// How far apart packets are that a pipe picks in a lab with so many.
fn picking_step(pipes: usize) -> Duration {
    SHORTEST_STEP.max(STEP_PER_PIPE * pipes as u64)
}

impl Requests {
    /// Has packets picked as long as somebody subscribes to them.
    pub(super) fn pick_packets(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        let wanted = self.subscriptions.clients.values().any(|feeds| feeds.has(Topic::Packets));
        if std::mem::replace(&mut self.subscriptions.picks_packets, wanted) == wanted {
            return Ok(());
        }
        let step = wanted.then(|| picking_step(context.links.pipes().len()));
        Ok(context.links.sample_packets(step)?)
    }

    /// If a client of packets is due, what has become of them is fetched for all.
    pub(super) fn report_of_packets(&mut self, context: &mut Context<'_>) {
        let begun = context.links.now();
        let mut packet_feeds = self.subscriptions.clients.values().filter_map(|feeds| feeds.packets.as_ref());
        if !packet_feeds.any(|feed| feed.pace.is_due(begun)) {
            return;
        }
        let fetched = fetch(&mut context.links);
        let (now, zero) = (context.links.now(), context.zero());
        for (client, feeds) in &mut self.subscriptions.clients {
            let Some(feed) = &mut feeds.packets else { continue };
            match &fetched {
                Ok((records, lost)) => {
                    feed.put(records, *lost);
                    if let Some(sample) = feed.take_due(now, zero, self.server.is_clear(*client)) {
                        self.server.report(*client, feed.id.as_ref(), &Event::Packets(sample));
                    }
                }
                // The session itself notices that the engine has died.
                Err(because) => {
                    let id = feeds.end(Topic::Packets);
                    let ended = Event::Ended { events: Topic::Packets, because: because.clone() };
                    self.server.report(*client, id.as_ref(), &ended);
                }
            }
        }
    }
}

/// What has become of picked packets since the last call, and how many are missing.
fn fetch(links: &mut Links) -> Result<(Vec<PacketRecord>, u64), String> {
    let SampledPackets { packets, lost } = links.sampled_packets().map_err(|error| error.to_string())?;
    Ok((packets.iter().map(record).collect(), lost))
}

fn record(sampled: &SampledPacket) -> PacketRecord {
    let SampledPacket { pipe, number, entered, sent, dropped, size, segments, flow } = *sampled;
    let instant = |which: fn(Sent) -> Instant| sent.map(which).map(Instant::as_nanos);
    PacketRecord {
        pipe,
        packet: number,
        entered_ns: entered.as_nanos(),
        start_ns: instant(|how| how.start),
        sent_ns: instant(|how| how.end),
        due_ns: instant(|how| how.due),
        dropped: dropped.map(|(at, cause)| PacketDrop { at_ns: at.as_nanos(), cause: cause_name(cause).into() }),
        bytes: size.get(),
        segments,
        flow: flow.as_ref().map(whose),
    }
}

fn whose(flow: &Flow) -> PacketFlow {
    PacketFlow {
        source: address(flow.source, flow.source_port),
        destination: address(flow.destination, flow.destination_port),
        protocol: write_protocol(flow.protocol),
    }
}

/// With its port, if it has one.
fn address(address: IpAddr, port: u16) -> String {
    if port > 0 { SocketAddr::new(address, port).to_string() } else { address.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_link::Cause;
    use netloom_units::Bytes;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn all_pipes_together_pick_a_bounded_number() {
        assert_eq!(picking_step(0), Duration::from_millis(20));
        assert_eq!(picking_step(40), Duration::from_millis(20));
        assert_eq!(picking_step(8_000), Duration::from_secs(4));
        for pipes in [1, 39, 41, 1_000, 8_000] {
            let second = Duration::from_secs(1).as_nanos();
            assert!(2 * pipes as u64 * second / picking_step(pipes).as_nanos() <= 4_000, "{pipes}");
        }
    }

    #[test]
    fn records_say_what_journals_say() {
        let flow = Flow {
            source: "fd00::1".parse().unwrap(),
            destination: "fd00::2".parse().unwrap(),
            protocol: 17,
            source_port: 9,
            destination_port: 0,
            dscp: 0,
        };
        let sampled = SampledPacket {
            pipe: 3,
            number: 7,
            entered: ms(1),
            sent: Some(Sent { start: ms(2), end: ms(3), due: ms(4) }),
            dropped: Some((ms(5), Cause::Early)),
            size: Bytes::new(100),
            segments: 2,
            flow: Some(flow),
        };
        let told = record(&sampled);
        assert_eq!((told.start_ns, told.sent_ns, told.due_ns), (Some(2_000_000), Some(3_000_000), Some(4_000_000)));
        assert_eq!(told.dropped.unwrap(), PacketDrop { at_ns: 5_000_000, cause: "early".into() });
        let whose = told.flow.unwrap();
        assert_eq!((&*whose.source, &*whose.destination, &*whose.protocol), ("[fd00::1]:9", "fd00::2", "udp"));
        assert_eq!(record(&SampledPacket { sent: None, ..sampled }).start_ns, None);
    }
}
