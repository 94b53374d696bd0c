//! What clients have subscribed to.
//!
//! What happens and what programs write is in files, of which each client is given a piece when it has taken the one before: one
//! that reads slowly misses nothing, and takes no memory. Counters are of their instant, so a sample is left out while
//! anything waits for the client; of packets, the newest are kept for it. In each turn of the session one client is given one
//! piece, so that no number of clients keeps the lab waiting.

mod connections;
mod feeds;
mod happened;
mod output;
mod pace;
mod packets;
mod packets_feed;
mod tcp_feed;

use super::refusals::wrong;
use super::state::Requests;
use super::stats::stats;
use crate::session::context::Context;
use crate::session::programs::Programs;
pub(super) use feeds::Subscriptions;
use feeds::{Feeds, StatsFeed};
use happened::HappenedFeed;
use netloom_control::{ClientId, Event, Refused, Sample, Subscribe, Topic};
use netloom_judge::RunError;
use netloom_units::{Duration, Instant};
use output::OutputFeed;
use pace::Pace;
use packets_feed::PacketsFeed;
use std::time;
use tcp_feed::TcpFeed;

/// Samples come no more often than this,
const SHORTEST_STEP: Duration = Duration::from_millis(10);
/// and not more often than this for each pipe: to write the counters of one takes about a hundredth of it.
const STEP_PER_PIPE: Duration = Duration::from_micros(100);
/// How long the clients of a lab that ends may take for the rest, in wall time.
const FAREWELL: time::Duration = time::Duration::from_millis(100);

impl Requests {
    /// A client subscribes to something.
    pub(super) fn subscribe(
        &mut self,
        client: ClientId,
        wanted: &Subscribe,
        context: &mut Context<'_>,
        programs: &Programs,
    ) -> Result<Result<(), Refused>, RunError> {
        let begun = self.begin(client, wanted, context, programs);
        self.plan_samples(context).map(|()| begun)
    }

    fn begin(
        &mut self,
        client: ClientId,
        wanted: &Subscribe,
        context: &Context<'_>,
        programs: &Programs,
    ) -> Result<(), Refused> {
        let name = wanted.events.name();
        if self.subscriptions.clients.get(&client).is_some_and(|feeds| feeds.has(wanted.events)) {
            return Err(wrong("events", format!("this connection has a subscription to `{name}` already")));
        }
        let id = self.server.asked(client);
        let mut feeds = Feeds::default();
        match wanted.events {
            Topic::Lab => feeds.happened = Some(HappenedFeed::new(id, &context.events, wanted.from_start)),
            Topic::Stats => {
                let every = step(wanted, context.links.pipes().len())?;
                feeds.stats = Some(StatsFeed { id, pace: Pace::new(every, context.links.now()) });
            }
            Topic::Tcp => feeds.tcp = Some(TcpFeed::new(id, wanted, context, programs)?),
            Topic::Packets => {
                let every = step(wanted, context.links.pipes().len())?;
                feeds.packets = Some(PacketsFeed::new(id, Pace::new(every, context.links.now())));
            }
            Topic::Output => feeds.output = Some(OutputFeed::new(id, wanted, context.job, &programs.commands)?),
        }
        let all = self.subscriptions.clients.entry(client).or_default();
        all.happened = all.happened.take().or(feeds.happened);
        all.stats = all.stats.take().or(feeds.stats);
        all.tcp = all.tcp.take().or(feeds.tcp);
        all.packets = all.packets.take().or(feeds.packets);
        all.output = all.output.take().or(feeds.output);
        Ok(())
    }

    /// A client ends a subscription.
    pub(super) fn unsubscribe(
        &mut self,
        client: ClientId,
        topic: Topic,
        context: &mut Context<'_>,
    ) -> Result<Result<(), Refused>, RunError> {
        let feeds = self.subscriptions.clients.get_mut(&client).filter(|feeds| feeds.has(topic));
        let none = || wrong("events", format!("this connection has no subscription to `{}`", topic.name()));
        let ended = feeds.ok_or_else(none).map(|feeds| drop(feeds.end(topic)));
        self.plan_samples(context).map(|()| ended)
    }

    /// A client has gone.
    pub(super) fn forget_subscriptions(&mut self, client: ClientId, context: &mut Context<'_>) -> Result<(), RunError> {
        self.subscriptions.clients.remove(&client);
        self.plan_samples(context)
    }

    /// Subscriptions have changed: only what somebody wants to know is sampled.
    fn plan_samples(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        self.watch_connections(context);
        self.pick_packets(context)
    }

    /// When a sample is due.
    pub(crate) fn next_sample(&self) -> Option<Instant> {
        self.subscriptions.clients.values().flat_map(Feeds::next_samples).min()
    }

    /// For how long the session may wait at most, in wall time, before it is to tell more; none: for any time.
    pub(crate) fn patience(&self) -> Option<time::Duration> {
        if self.subscriptions.more {
            return Some(time::Duration::ZERO);
        }
        let clear = self.subscriptions.clients.iter().filter(|(client, _)| self.server.is_clear(**client));
        let next = clear.filter_map(|(_, feeds)| Some(feeds.output.as_ref()?.next_look())).min()?;
        Some(next.saturating_duration_since(time::Instant::now()))
    }

    /// Tells clients of what they have subscribed to: the samples that are due, and one piece of the rest. Gives the clients whose
    /// further requests are to be served now.
    pub(crate) fn report(&mut self, context: &mut Context<'_>, programs: &mut Programs) -> Vec<ClientId> {
        self.sample(context);
        self.sample_connections(context, programs);
        self.report_of_packets(context);
        let next = self.next_client(context);
        if let Some(client) = next
            && let Some(feeds) = self.subscriptions.clients.get_mut(&client)
        {
            self.subscriptions.last = client;
            if let Some((id, event)) = feeds.piece(context, programs) {
                self.server.report(client, id.as_ref(), &event);
            }
        }
        let answered = self.answer_arrived(context);
        self.subscriptions.more = self.next_client(context).is_some();
        answered
    }

    /// Whose turn it is to be given a piece: the first behind the last one who takes more.
    fn next_client(&self, context: &Context<'_>) -> Option<ClientId> {
        let Subscriptions { clients, last, .. } = &self.subscriptions;
        let (before, behind) = (clients.range(..=*last), clients.range(last + 1..));
        let mut turn = behind.chain(before).map(|(client, _)| *client);
        turn.find(|client| self.server.is_clear(*client) && self.has_news(*client, context))
    }

    /// Whether there is something to be read for a client.
    pub(super) fn has_news(&self, client: ClientId, context: &Context<'_>) -> bool {
        let now = time::Instant::now();
        self.subscriptions.clients.get(&client).is_some_and(|feeds| feeds.has_news(context, now))
    }

    /// What programs have written for a client is looked for at once.
    pub(super) fn look_for_output(&mut self, client: ClientId) {
        let feeds = self.subscriptions.clients.get_mut(&client);
        feeds.and_then(|feeds| feeds.output.as_mut()).into_iter().for_each(OutputFeed::look_now);
    }

    fn sample(&mut self, context: &mut Context<'_>) {
        let now = context.links.now();
        let is_due = |feeds: &Feeds| feeds.stats.as_ref().is_some_and(|feed| feed.pace.is_due(now));
        let mut clients = self.subscriptions.clients.iter_mut().filter(|(_, feeds)| is_due(feeds)).peekable();
        if clients.peek().is_none() {
            return;
        }
        let stats = stats(&mut context.links, &context.job.plan);
        let since_zero_ns = context.zero().map(|zero| now.since(zero).as_nanos());
        for (client, feeds) in clients {
            let Some(feed) = &mut feeds.stats else { continue };
            let Some(lost) = feed.pace.step(now, self.server.is_clear(*client)) else { continue };
            match &stats {
                Ok(stats) => {
                    let sample = Sample { since_zero_ns, lost, stats: stats.clone() };
                    self.server.report(*client, feed.id.as_ref(), &Event::Stats(sample));
                }
                // The session itself notices that the engine has died.
                Err(error) => {
                    let id = feeds.end(Topic::Stats);
                    let ended = Event::Ended { events: Topic::Stats, because: error.to_string() };
                    self.server.report(*client, id.as_ref(), &ended);
                }
            }
        }
    }

    /// The lab ends: clients receive the rest as far as they take it at once.
    pub(crate) fn farewell(&mut self, context: &mut Context<'_>, programs: &mut Programs) {
        let begun = time::Instant::now();
        self.subscriptions
            .clients
            .values_mut()
            .filter_map(|feeds| feeds.output.as_mut())
            .for_each(OutputFeed::look_now);
        loop {
            self.report(context, programs);
            if !self.subscriptions.more || begun.elapsed() >= FAREWELL {
                return;
            }
        }
    }
}

/// The step that a subscription to samples asks for.
fn step(wanted: &Subscribe, pipes: usize) -> Result<Duration, Refused> {
    let every = Duration::from_nanos(wanted.every_ns.unwrap_or_default());
    let shortest = SHORTEST_STEP.max(STEP_PER_PIPE * pipes as u64);
    if every >= shortest {
        return Ok(every);
    }
    let message =
        format!("`every_ns`: {every} is too short a step: with {pipes} pipes, this lab takes {shortest} and above");
    Err(wrong("every_ns", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscription(every_ns: u64) -> Subscribe {
        let (events, every_ns) = (Topic::Stats, Some(every_ns));
        Subscribe { events, every_ns, nodes: None, commands: None, stream: None, from_start: false }
    }

    #[test]
    fn a_step_has_a_least_length_that_grows_with_the_lab() {
        assert_eq!(step(&subscription(10_000_000), 100), Ok(SHORTEST_STEP));
        let refused = step(&subscription(10_000_000), 1_000).unwrap_err();
        assert_eq!(refused.key.as_deref(), Some("every_ns"));
        assert!(refused.message.contains("10 ms is too short") && refused.message.contains("100 ms and above"));
        assert!(step(&subscription(0), 0).is_err());
    }
}
