//! Plays a scenario and writes down what comes out.

use crate::golden::scenario::{Input, Scenario};
use netloom_link::{Cause, Departure, DropLog, Dropped as Drop, Pipe, PipeCounters};
use netloom_packet::{Ecn, Pool};
use netloom_testing::loads::{alone, first_segment, number};
use netloom_units::{Duration, Instant};
use std::collections::BTreeSet;

/// How the pipe is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driving {
    /// At every event.
    Punctual,
    /// Departures are only asked for at multiples of this span, after the inputs until then.
    Late(Duration),
    /// At every event, each segment of a super-packet pushed alone: so each drop has one cause.
    Alone,
}

/// What came out.
#[derive(Debug)]
pub(crate) struct Played {
    /// What left, and when.
    pub(crate) departures: Vec<(Instant, String)>,
    /// What was dropped at which input and why.
    drops: Vec<Dropped>,
    /// How many segments each packet had.
    segments: Vec<u32>,
    /// What each packet was when it came in.
    sent: Vec<Vec<u8>>,
    pub(crate) counters: PipeCounters,
}

#[derive(Debug)]
struct Dropped {
    at: Instant,
    number: u32,
    first: u32,
    count: u32,
    cause: Cause,
}

pub(crate) fn play(scenario: &Scenario, driving: Driving) -> Played {
    let mut player = Player {
        pipe: Pipe::new(&scenario.config, scenario.coalesce, scenario.seed),
        pool: Pool::default(),
        driving,
        played: Played {
            departures: Vec::new(),
            drops: Vec::new(),
            segments: Vec::new(),
            sent: Vec::new(),
            counters: PipeCounters::default(),
        },
        counted: 0,
    };
    for (at, input) in &scenario.inputs {
        player.depart_until(Some(*at));
        player.input(*at, input);
    }
    player.depart_until(None);
    player.played.counters = *player.pipe.counters();
    player.played
}

struct Player {
    pipe: Pipe,
    pool: Pool,
    driving: Driving,
    played: Played,
    /// How many segments were dropped.
    counted: u64,
}

impl Player {
    fn input(&mut self, at: Instant, input: &Input) {
        match input {
            Input::Send(load, ecn, port) => {
                let count = u32::try_from(self.played.segments.len()).expect("few packets");
                let packet = load.packet_of(&mut self.pool, count + 1, *ecn, *port);
                self.played.segments.push(packet.segments());
                self.played.sent.push(packet.bytes().to_vec());
                let pieces = if self.driving == Driving::Alone { alone(packet) } else { vec![packet] };
                for piece in pieces {
                    self.event(at, |pipe, drop_log| pipe.push(at, piece, drop_log));
                }
            }
            Input::Change(change) => self.event(at, |pipe, drop_log| pipe.change(at, change, drop_log)),
            Input::Up(up) => self.event(at, |pipe, drop_log| pipe.set_up(at, *up, drop_log)),
        }
    }

    fn event(&mut self, at: Instant, act: impl FnOnce(&mut Pipe, &mut DropLog)) {
        let mut drop_log = DropLog::new();
        act(&mut self.pipe, &mut drop_log);
        self.dropped(at, &drop_log);
    }

    fn dropped(&mut self, now: Instant, drop_log: &DropLog) {
        let counters = self.pipe.counters();
        assert!(counters.balance(), "at {now}: {counters:?}");
        for dropped in drop_log {
            self.counted += u64::from(dropped.packet.segments());
            self.played.dropped(dropped);
        }
        assert_eq!(self.counted, counters.dropped.packets(), "at {now}");
    }

    /// Asks for all departures before `end`, or for all there are.
    fn depart_until(&mut self, end: Option<Instant>) {
        while let Some(wake) = self.pipe.next_wake() {
            let call = match self.driving {
                Driving::Late(step) => Instant::from_nanos(wake.as_nanos().next_multiple_of(step.as_nanos())),
                Driving::Punctual | Driving::Alone => wake,
            };
            if end.is_some_and(|end| call >= end) {
                return;
            }
            let mut drop_log = DropLog::new();
            while let Some(departure) = self.pipe.pop(call, &mut drop_log) {
                assert!(departure.due <= call, "{departure:?} leaves early");
                self.played.departed(&departure);
            }
            self.dropped(call, &drop_log);
        }
    }
}

impl Played {
    fn departed(&mut self, departure: &Departure) {
        let Departure { packet, due, first_due, .. } = departure;
        let name = self.name(number(packet), first_segment(packet), packet.segments());
        let since = if first_due < due { format!(", first due {first_due}") } else { String::new() };
        let ecn = if packet.ecn() == Some(Ecn::Congested) { ", CE" } else { "" };
        let is_corrupted = packet.bytes() != self.sent[number(packet) as usize - 1];
        let how = if is_corrupted { ", corrupted" } else { "" };
        self.departures.push((*due, format!("out {name}, {} B{ecn}{since}{how}", packet.size().get())));
    }

    fn dropped(&mut self, dropped: &Drop) {
        let Drop { packet, at, cause } = dropped;
        let (at, cause) = (*at, *cause);
        let (packet_number, first, count) = (number(packet), first_segment(packet), packet.segments());
        if let Some(last) = self.drops.last_mut() {
            let continues = (last.at, last.number, last.first + last.count) == (at, packet_number, first);
            if continues && last.cause == cause {
                last.count += count;
                return;
            }
        }
        self.drops.push(Dropped { at, number: packet_number, first, count, cause });
    }

    /// `#3` for a whole packet, `#3.1` for one of its segments, `#3.2-5` for several; segments count from one.
    fn name(&self, number: u32, first: u32, count: u32) -> String {
        let whole = self.segments[number as usize - 1];
        match count {
            all if all == whole => format!("#{number}"),
            1 => format!("#{number}.{}", first + 1),
            several => format!("#{number}.{}-{}", first + 1, first + several),
        }
    }

    /// Every dropped segment by number, whatever the cause.
    pub(crate) fn lost(&self) -> BTreeSet<(u32, u32)> {
        self.drops.iter().flat_map(|drop| (drop.first..drop.first + drop.count).map(|at| (drop.number, at))).collect()
    }

    /// The output half of a golden file.
    pub(crate) fn lines(&self) -> String {
        let dropped = |drop: &Dropped| {
            let name = self.name(drop.number, drop.first, drop.count);
            (drop.at, format!("dropped {name} by {}", drop.cause))
        };
        let mut events: Vec<_> = self.drops.iter().map(dropped).chain(self.departures.iter().cloned()).collect();
        events.sort_by_key(|(at, _)| *at);
        let mut text: String = events.iter().map(|(at, line)| format!("{at} {line}\n")).collect();
        let PipeCounters { arrived, departed, dropped: drops, marked, queue_peak, .. } = self.counters;
        let marks = if marked.packets > 0 { format!("{} marked, ", marked.packets) } else { String::new() };
        text += &format!(
            "end: {} arrived, {} departed, {} dropped, {marks}queue peak {queue_peak}\n",
            arrived.packets,
            departed.packets,
            drops.packets()
        );
        let cross = self.counters.cross;
        if cross.arrived.packets > 0 {
            let (sent, lost) = (cross.departed.packets, cross.dropped.packets);
            text += &format!("cross traffic: {} arrived, {sent} departed, {lost} dropped\n", cross.arrived.packets);
        }
        text
    }
}
