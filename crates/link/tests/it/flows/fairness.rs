//! What the papers promise of shares, checked over every interval in exact numbers.

use super::{Case, Event, Outcome, Sent, arrivals, play, sends as sends_of_any, timed};
use crate::flows::naive::{Fraction, Name};
use netloom_link::{ClassConfig, Division, DrrConfig, Filter, Ports, QueueConfig};
use netloom_testing::loads::Load;
use netloom_units::{Bytes, Instant, Limit};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;

/// Classes that all have packets from the beginning: a weight, and sizes.
type Backlog = Vec<(u32, Vec<usize>)>;

fn backlogs() -> impl Strategy<Value = Backlog> {
    vec((1..12_u32, vec(28..1_500_usize, 1..15)), 2..6)
}

/// The classes of a backlog. A packet of the last one holds the transmitter until all wait, if there is one.
fn division(backlog: &Backlog) -> Division {
    let rest = ("rest".to_owned(), None, 1);
    let from = |port| Filter { from_port: Some(vec![Ports::one(port)]), ..Filter::default() };
    let own = backlog.iter().zip(1..).map(|((weight, _), port)| (format!("c{port}"), Some(from(port)), *weight));
    let class = |(name, filter, weight)| ClassConfig { name, filter, weight, limit: Limit::Packets(1_000) };
    Division::Classes(own.chain([rest]).map(class).collect())
}

fn sends(backlog: &Backlog, first: Option<usize>) -> Vec<(Instant, Event)> {
    let send = |size, port| (Instant::ZERO, Event::Send(Sent { load: Load::Plain(size), port, capable: false }));
    let own = backlog.iter().zip(1..).flat_map(|((_, sizes), port)| sizes.iter().map(move |size| send(*size, port)));
    first.into_iter().map(|size| send(size, 99)).chain(own).collect()
}

/// Class (from zero) and size of what left, in order; behind the one that held the transmitter.
fn order(case: &Case, outcome: &Outcome, count: usize) -> Vec<(u64, usize, u64)> {
    let arrived = arrivals(case);
    let sent = outcome.left.iter().map(|(at, name, _)| {
        let segment = arrived.iter().find(|segment| segment.name == *name).expect("it arrived");
        (*at, usize::from(segment.flow.expect("a packet of UDP").1) - 1, segment.size)
    });
    sent.filter(|(_, class, _)| *class < count).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// Shreedhar and Varghese 1995, theorem 2: while two queues are never empty, what they send over their shares differs by
    /// no more than two maximal packets and one quantum, over every interval. Needs a quantum that no packet exceeds.
    #[test]
    fn drr_keeps_the_bound_of_its_paper(backlog in backlogs(), extra in 0..2_000_u64) {
        let most = backlog.iter().flat_map(|(_, sizes)| sizes).copied().max().expect("a packet") as u64;
        let quantum = Bytes::new(most + extra);
        let config = DrrConfig { quantum, division: division(&backlog) };
        let case = Case { queue: QueueConfig::Drr(config), events: sends(&backlog, Some(1_500)) };
        let sent = order(&case, &play(&case, None, false), backlog.len());
        // The smallest quantum is that of weight 1, or more.
        let smallest = backlog.iter().map(|(weight, _)| u64::from(*weight)).min().expect("a class");
        for begin in 0..sent.len() {
            let mut bytes = vec![0_u64; backlog.len()];
            for (end, (_, class, size)) in sent.iter().enumerate().skip(begin) {
                bytes[*class] += size;
                // Who has something left behind this one was never empty.
                let busy = |index: &usize| sent[end + 1..].iter().any(|(_, other, _)| other == index);
                let shares: Vec<u128> = (0..backlog.len())
                    .filter(busy)
                    .map(|index| u128::from(bytes[index]) * 1_000_000 * u128::from(smallest) / u128::from(backlog[index].0))
                    .collect();
                let spread = shares.iter().max().unwrap_or(&0) - shares.iter().min().unwrap_or(&0);
                let bound = u128::from(2 * most + quantum.get() * smallest) * 1_000_000;
                prop_assert!(spread <= bound, "{spread} > {bound} between {begin} and {end}");
            }
        }
    }

    /// Bennett and Zhang 1996, section 2: while all queues have something to send, none is more than one maximal packet behind
    /// the fluid system, nor more than its own maximal packet, less its share of that, ahead of it.
    #[test]
    fn wf2q_stays_within_one_packet_of_the_fluid_system(backlog in backlogs()) {
        let case = Case { queue: QueueConfig::Wf2q(only(&backlog)), events: sends(&backlog, None) };
        let outcome = play(&case, None, false);
        let sent = order(&case, &outcome, backlog.len());
        let most = backlog.iter().flat_map(|(_, sizes)| sizes).copied().max().expect("a packet") as u64;
        let total: u64 = backlog.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let (mut bytes, mut all) = (vec![0_u64; backlog.len()], 0);
        for (_, class, size) in &sent {
            bytes[*class] += size;
            all += size;
            for (index, (weight, sizes)) in backlog.iter().enumerate() {
                let whole: u64 = sizes.iter().map(|one| *one as u64).sum();
                let fluid = Fraction::new(u128::from(all) * u128::from(*weight), u128::from(total));
                if fluid > Fraction::from(whole) {
                    // The fluid system has emptied this queue, and shares are no longer those of the weights.
                    return Ok(());
                }
                let own = *sizes.iter().max().expect("a packet") as u64;
                let ahead = Fraction::new(u128::from(own) * u128::from(total - u64::from(*weight)), u128::from(total));
                let got = Fraction::from(bytes[index]);
                prop_assert!(fluid <= got + Fraction::from(most), "{index} is behind: {fluid:?}, {got:?}");
                prop_assert!(got <= fluid + ahead, "{index} is ahead: {fluid:?}, {got:?}");
            }
        }
    }

    /// Bennett and Zhang 1996, section 3.4: whatever the others send, a packet leaves no later than it would on a line of its
    /// class's own with its share of the rate, plus one maximal packet.
    #[test]
    fn wf2q_is_never_slower_than_a_line_of_ones_own(backlog in backlogs(), events in timed(sends_of_any())) {
        let Division::Classes(classes) = only(&backlog) else { unreachable!("these are classes") };
        let total: u32 = classes.iter().map(|class| class.weight).sum();
        let case = Case { queue: QueueConfig::Wf2q(Division::Classes(classes.clone())), events };
        let left: BTreeMap<Name, u64> =
            play(&case, None, false).left.into_iter().map(|(at, name, _)| (name, at)).collect();
        let arrived = arrivals(&case);
        let most = arrived.iter().map(|segment| segment.size).max().expect("a segment");
        let mut ends = vec![Fraction::from(0); classes.len()];
        for segment in arrived {
            let port = segment.flow.map_or(0, |(_, port)| usize::from(port));
            let class = if (1..classes.len()).contains(&port) { port - 1 } else { classes.len() - 1 };
            // One byte takes one nanosecond of the whole rate.
            let took = Fraction::new(u128::from(segment.size) * u128::from(total), u128::from(classes[class].weight));
            ends[class] = ends[class].max(Fraction::from(segment.arrival)) + took;
            let left = Fraction::from(left[&segment.name]);
            prop_assert!(left <= ends[class] + Fraction::from(most), "{segment:?} of {class} left at {left:?}");
        }
    }
}

/// The same classes without one for what holds the transmitter: the last takes the rest.
fn only(backlog: &Backlog) -> Division {
    let Division::Classes(mut classes) = division(backlog) else { unreachable!("these are classes") };
    classes.pop();
    classes.last_mut().expect("a class").filter = None;
    Division::Classes(classes)
}
