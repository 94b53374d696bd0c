//! What clients have subscribed to, and what is next for each.

use super::happened::HappenedFeed;
use super::output::OutputFeed;
use super::pace::Pace;
use super::packets_feed::PacketsFeed;
use super::tcp_feed::TcpFeed;
use crate::session::context::Context;
use crate::session::programs::Programs;
use netloom_control::{ClientId, Event, Id, Topic};
use netloom_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::time;

/// The subscriptions of all clients.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    pub(super) clients: BTreeMap<ClientId, Feeds>,
    /// Whom the last piece was for.
    pub(super) last: ClientId,
    /// Whether somebody takes more at once.
    pub(super) more: bool,
    /// How often kernels in virtual time are to hand over their connections, by nodes.
    pub(super) watched: BTreeMap<usize, Duration>,
    /// Whether packets are picked.
    pub(super) picks_packets: bool,
}

/// What a client has subscribed to.
#[derive(Debug, Default)]
pub(super) struct Feeds {
    pub(super) happened: Option<HappenedFeed>,
    pub(super) stats: Option<StatsFeed>,
    pub(super) tcp: Option<TcpFeed>,
    pub(super) packets: Option<PacketsFeed>,
    pub(super) output: Option<OutputFeed>,
}

/// Samples of the counters.
#[derive(Debug)]
pub(super) struct StatsFeed {
    pub(super) id: Option<Id>,
    pub(super) pace: Pace,
}

impl Feeds {
    /// Whether a topic is among them.
    pub(super) fn has(&self, topic: Topic) -> bool {
        match topic {
            Topic::Lab => self.happened.is_some(),
            Topic::Stats => self.stats.is_some(),
            Topic::Tcp => self.tcp.is_some(),
            Topic::Packets => self.packets.is_some(),
            Topic::Output => self.output.is_some(),
        }
    }

    /// Ends a subscription; its identifier.
    pub(super) fn end(&mut self, topic: Topic) -> Option<Id> {
        match topic {
            Topic::Lab => self.happened.take().and_then(|feed| feed.id),
            Topic::Stats => self.stats.take().and_then(|feed| feed.id),
            Topic::Tcp => self.tcp.take().and_then(|feed| feed.id),
            Topic::Packets => self.packets.take().and_then(|feed| feed.id),
            Topic::Output => self.output.take().and_then(|feed| feed.id),
        }
    }

    /// When samples are due.
    pub(super) fn next_samples(&self) -> impl Iterator<Item = Instant> {
        let paces = [
            self.stats.as_ref().map(|feed| &feed.pace),
            self.tcp.as_ref().map(|feed| &feed.pace),
            self.packets.as_ref().map(|feed| &feed.pace),
        ];
        paces.into_iter().flatten().map(Pace::next)
    }

    /// Whether it is worth the while to ask for a piece.
    pub(super) fn has_news(&self, context: &Context<'_>, now: time::Instant) -> bool {
        self.happened.as_ref().is_some_and(|feed| feed.has_news(&context.events))
            || self.output.as_ref().is_some_and(|feed| feed.next_look() <= now)
    }

    /// The next piece of what is in files, with the identifier of its subscription; what happened comes before what was
    /// written.
    pub(super) fn piece(&mut self, context: &Context<'_>, programs: &Programs) -> Option<(Option<Id>, Event)> {
        let (topic, piece) = match (&mut self.happened, &mut self.output) {
            (Some(feed), _) if feed.has_news(&context.events) => {
                (Topic::Lab, feed.next().map(|event| (&feed.id, event)))
            }
            (_, Some(feed)) => (Topic::Output, feed.next(&programs.commands).map(|event| (&feed.id, event))),
            _ => return None,
        };
        match piece {
            Ok((id, event)) => Some((id.clone(), event?)),
            Err(because) => Some((self.end(topic), Event::Ended { events: topic, because })),
        }
    }
}
