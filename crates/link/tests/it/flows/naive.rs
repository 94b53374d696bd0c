//! Disciplines by their definition, without any of the library's code: lists that are searched from the beginning, and
//! exact fractions. Quadratic, and obviously right.

use netloom_link::{Cause, ClassConfig, CodelControl, Division, DrrConfig, FqCodelConfig, QueueConfig};
use netloom_units::{Limit, Seed};
use std::collections::{BTreeMap, VecDeque};

/// A segment: the number of its packet and its place in that.
pub(crate) type Name = (u32, u32);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) name: Name,
    pub(crate) size: u64,
    pub(crate) arrival: u64,
    /// Protocol and source port; none for what is not IP.
    pub(crate) flow: Option<(u8, u16)>,
    pub(crate) capable: bool,
    pub(crate) marked: bool,
}

/// What was dropped: when, what, why.
pub(crate) type Drops = Vec<(u64, Name, Cause)>;

/// A queue that sees every arrival.
pub(crate) trait Naive {
    fn push(&mut self, segment: Segment, is_idle: bool, drops: &mut Drops);
    fn pop(&mut self, now: u64, drops: &mut Drops) -> Option<Segment>;
}

pub(crate) fn queue(config: &QueueConfig, seed: Seed) -> Box<dyn Naive> {
    match config.clone() {
        QueueConfig::Codel(config) => {
            Box::new(Codel { limit: config.limit, control: config.control, law: Law::default(), waiting: Vec::new() })
        }
        QueueConfig::FqCodel(config) => Box::new(FqCodel { config, seed, ..FqCodel::default() }),
        QueueConfig::Drr(DrrConfig { quantum, division }) => {
            let divided = Divided::new(division, seed);
            let deficits = vec![0; divided.queues.len()];
            Box::new(Drr { divided, quantum: quantum.get(), deficits, active: VecDeque::new(), current: None })
        }
        QueueConfig::Wf2q(division) => {
            let divided = Divided::new(division, seed);
            let tags = vec![(Fraction::from(0), Fraction::from(0)); divided.queues.len()];
            Box::new(Wf2q { divided, tags, now: Fraction::from(0), serving: None })
        }
        QueueConfig::Priority(classes) => Box::new(Priority(Divided::new(Division::Classes(classes), seed))),
        other => unreachable!("{other:?} has a test of its own"),
    }
}

fn bytes(waiting: &[Segment]) -> u64 {
    waiting.iter().map(|segment| segment.size).sum()
}

fn fits(waiting: &[Segment], size: u64, limit: Limit) -> bool {
    match limit {
        Limit::Packets(most) => waiting.len() < most as usize,
        Limit::Bytes(most) => bytes(waiting) + size <= most.get(),
        Limit::Time(_) => unreachable!("not drawn"),
    }
}

/// The state of RFC 8289, section 5.2, with the names of its pseudo-code.
#[derive(Clone, Debug, Default)]
struct Law {
    first_above_time: Option<u64>,
    drop_next: u64,
    count: u64,
    lastcount: u64,
    dropping: bool,
}

impl Law {
    fn dodequeue(&mut self, now: u64, control: &CodelControl, waiting: &mut Vec<Segment>) -> (Option<Segment>, bool) {
        if waiting.is_empty() {
            self.first_above_time = None;
            return (None, false);
        }
        let head = waiting.remove(0);
        if now - head.arrival < control.target.as_nanos() || bytes(waiting) <= control.mtu.get() {
            self.first_above_time = None;
            return (Some(head), false);
        }
        let Some(first_above_time) = self.first_above_time else {
            self.first_above_time = Some(now + control.interval.as_nanos());
            return (Some(head), false);
        };
        (Some(head), now >= first_above_time)
    }

    /// `from` plus the largest whole number whose square times the count is no more than the square of the interval.
    fn control_law(&self, from: u64, control: &CodelControl) -> u64 {
        let interval = u128::from(control.interval.as_nanos());
        let (mut low, mut high) = (0, interval);
        while low < high {
            let middle = (low + high).div_ceil(2);
            let is_below = middle * middle * u128::from(self.count) <= interval * interval;
            (low, high) = if is_below { (middle, high) } else { (low, middle - 1) };
        }
        from + u64::try_from(low).expect("no more than the interval")
    }

    fn dequeue(
        &mut self,
        now: u64,
        control: &CodelControl,
        waiting: &mut Vec<Segment>,
        drops: &mut Drops,
    ) -> Option<Segment> {
        let (mut head, mut ok_to_drop) = self.dodequeue(now, control, waiting);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                let late = head.expect("what may be dropped is there");
                if control.ecn && late.capable {
                    self.drop_next = self.control_law(self.drop_next, control);
                    return Some(Segment { marked: true, ..late });
                }
                drops.push((now, late.name, Cause::Early));
                (head, ok_to_drop) = self.dodequeue(now, control, waiting);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next, control);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            let late = head.expect("what may be dropped is there");
            if control.ecn && late.capable {
                head = Some(Segment { marked: true, ..late });
            } else {
                drops.push((now, late.name, Cause::Early));
                (head, _) = self.dodequeue(now, control, waiting);
            }
            self.dropping = true;
            let delta = self.count - self.lastcount;
            let is_recent = i128::from(now) - i128::from(self.drop_next) < 16 * i128::from(control.interval.as_nanos());
            self.count = if delta > 1 && is_recent { delta } else { 1 };
            self.drop_next = self.control_law(now, control);
            self.lastcount = self.count;
        }
        head
    }
}

struct Codel {
    limit: Limit,
    control: CodelControl,
    law: Law,
    waiting: Vec<Segment>,
}

impl Naive for Codel {
    fn push(&mut self, segment: Segment, _: bool, drops: &mut Drops) {
        if fits(&self.waiting, segment.size, self.limit) {
            self.waiting.push(segment);
        } else {
            drops.push((segment.arrival, segment.name, Cause::Full));
        }
    }

    fn pop(&mut self, now: u64, drops: &mut Drops) -> Option<Segment> {
        self.law.dequeue(now, &self.control, &mut self.waiting, drops)
    }
}

/// The finalizer of SplitMix64.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The queue of a flow between the addresses 0.0.0.0, or the one behind them for what is not IP.
fn bucket(flow: Option<(u8, u16)>, count: u32, seed: Seed) -> usize {
    let Some((protocol, port)) = flow else { return count as usize };
    let hash = mix(mix(mix(seed.get())) ^ (u64::from(protocol) << 32 | u64::from(port) << 16));
    usize::try_from((u128::from(hash) * u128::from(count)) >> 64).expect("few queues")
}

#[derive(Default)]
struct FqCodel {
    config: FqCodelConfig,
    seed: Seed,
    flows: BTreeMap<usize, (Vec<Segment>, Law, i64)>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl FqCodel {
    fn is_full(&self) -> bool {
        let packets: usize = self.flows.values().map(|(waiting, ..)| waiting.len()).sum();
        let all: u64 = self.flows.values().map(|(waiting, ..)| bytes(waiting)).sum();
        packets > self.config.limit as usize || all > self.config.memory.get()
    }
}

impl Naive for FqCodel {
    /// RFC 8290, section 4.1: enqueue, then drop while too much waits; but half of the bytes, as in Linux.
    fn push(&mut self, segment: Segment, _: bool, drops: &mut Drops) {
        let index = bucket(segment.flow, self.config.flows, self.seed);
        let flow = self.flows.entry(index).or_default();
        if !self.new.contains(&index) && !self.old.contains(&index) {
            self.new.push_back(index);
            flow.2 = i64::try_from(self.config.quantum.get()).expect("a small quantum");
        }
        flow.0.push(segment);
        while self.is_full() {
            let most = self.flows.values().map(|(waiting, ..)| bytes(waiting)).max().expect("a flow");
            let fattest = self.flows.values_mut().find(|(waiting, ..)| bytes(waiting) == most).expect("a flow");
            let mut gone = 0;
            for count in 1.. {
                let head = fattest.0.remove(0);
                gone += head.size;
                drops.push((segment.arrival, head.name, Cause::Full));
                if gone >= most / 2 || count == 64 {
                    break;
                }
            }
        }
    }

    /// RFC 8290, section 4.2.
    fn pop(&mut self, now: u64, drops: &mut Drops) -> Option<Segment> {
        loop {
            let is_new = !self.new.is_empty();
            let index = *self.new.front().or(self.old.front())?;
            let (waiting, law, credits) = self.flows.get_mut(&index).expect("a listed flow");
            let mut moves_back = *credits <= 0;
            if moves_back {
                *credits += i64::try_from(self.config.quantum.get()).expect("a small quantum");
            } else if let Some(segment) = law.dequeue(now, &self.config.control, waiting, drops) {
                *credits -= i64::try_from(segment.size).expect("a small packet");
                return Some(segment);
            } else {
                moves_back = is_new;
            }
            if is_new {
                self.new.pop_front()
            } else {
                self.old.pop_front()
            };
            if moves_back {
                self.old.push_back(index);
            }
        }
    }
}

/// Drop-tail queues side by side.
struct Divided {
    division: Division,
    seed: Seed,
    queues: Vec<Vec<Segment>>,
}

impl Divided {
    fn new(division: Division, seed: Seed) -> Self {
        let count = match &division {
            Division::Flows { count, .. } => *count as usize + 1,
            Division::Classes(classes) => classes.len(),
        };
        Self { division, seed, queues: vec![Vec::new(); count] }
    }

    fn weight(&self, index: usize) -> u64 {
        match &self.division {
            Division::Flows { .. } => 1,
            Division::Classes(classes) => u64::from(classes[index].weight),
        }
    }

    /// Filters of these tests ask for a range of source ports.
    fn index(&self, segment: &Segment) -> usize {
        let classes = match &self.division {
            Division::Flows { count, .. } => return bucket(segment.flow, *count, self.seed),
            Division::Classes(classes) => classes,
        };
        let is_meant = |class: &&ClassConfig| {
            let ports = class.filter.as_ref().and_then(|filter| filter.from_port.as_ref());
            segment.flow.is_some_and(|(_, port)| ports.is_some_and(|p| (p[0].first..=p[0].last).contains(&port)))
        };
        let found = classes.iter().find(is_meant).or(classes.iter().find(|class| class.filter.is_none()));
        let name = &found.expect("a class for the rest").name;
        classes.iter().position(|class| class.name == *name).expect("it is there")
    }

    /// Where the segment waits now, if it does.
    fn push(&mut self, segment: Segment, drops: &mut Drops) -> Option<usize> {
        let index = self.index(&segment);
        let limit = match &self.division {
            Division::Flows { limit, .. } => *limit,
            Division::Classes(classes) => classes[index].limit,
        };
        if fits(&self.queues[index], segment.size, limit) {
            self.queues[index].push(segment);
            return Some(index);
        }
        drops.push((segment.arrival, segment.name, Cause::Full));
        None
    }

    fn is_empty(&self) -> bool {
        self.queues.iter().all(Vec::is_empty)
    }
}

/// Shreedhar and Varghese 1995, section 3.1.
struct Drr {
    divided: Divided,
    quantum: u64,
    deficits: Vec<u64>,
    active: VecDeque<usize>,
    /// The queue that was taken off the list.
    current: Option<usize>,
}

impl Naive for Drr {
    fn push(&mut self, segment: Segment, _: bool, drops: &mut Drops) {
        let Some(index) = self.divided.push(segment, drops) else { return };
        if !self.active.contains(&index) && self.current != Some(index) {
            self.active.push_back(index);
        }
    }

    fn pop(&mut self, _: u64, _: &mut Drops) -> Option<Segment> {
        loop {
            let index = match self.current {
                Some(index) => index,
                None => {
                    let index = self.active.pop_front()?;
                    self.deficits[index] += self.quantum * self.divided.weight(index);
                    index
                }
            };
            self.current = Some(index);
            let waiting = &mut self.divided.queues[index];
            if waiting[0].size <= self.deficits[index] {
                let head = waiting.remove(0);
                self.deficits[index] -= head.size;
                if waiting.is_empty() {
                    self.deficits[index] = 0;
                    self.current = None;
                }
                return Some(head);
            }
            self.active.push_back(index);
            self.current = None;
        }
    }
}

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fraction {
    over: u128,
    under: u128,
}

impl Fraction {
    pub(crate) fn new(over: u128, under: u128) -> Self {
        let gcd = |mut a: u128, mut b: u128| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let common = gcd(over, under);
        Self { over: over / common, under: under / common }
    }
}

impl From<u64> for Fraction {
    fn from(whole: u64) -> Self {
        Self { over: u128::from(whole), under: 1 }
    }
}

impl std::ops::Add for Fraction {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.over * other.under + other.over * self.under, self.under * other.under)
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.over * other.under).cmp(&(other.over * self.under))
    }
}

/// Bennett and Zhang 1996, section 3.4, with start and finish tags of the head of each queue.
struct Wf2q {
    divided: Divided,
    tags: Vec<(Fraction, Fraction)>,
    now: Fraction,
    /// The queue that is being served and the bytes of its segment, which count when its service ends.
    serving: Option<(usize, u64)>,
}

impl Wf2q {
    fn tag(&mut self, index: usize, start: Fraction) {
        let head = u128::from(self.divided.queues[index][0].size);
        self.tags[index] = (start, start + Fraction::new(head, u128::from(self.divided.weight(index))));
    }

    fn backlogged(&self) -> impl Iterator<Item = usize> {
        (0..self.tags.len()).filter(|index| !self.divided.queues[*index].is_empty())
    }
}

impl Naive for Wf2q {
    fn push(&mut self, segment: Segment, is_idle: bool, drops: &mut Drops) {
        if is_idle && self.divided.is_empty() {
            self.now = Fraction::from(0);
            self.tags.fill((Fraction::from(0), Fraction::from(0)));
            self.serving = None;
        }
        let Some(index) = self.divided.push(segment, drops) else { return };
        let is_served = self.serving.is_some_and(|(served, _)| served == index);
        if self.divided.queues[index].len() == 1 && !is_served {
            self.tag(index, self.tags[index].1.max(self.now));
        }
    }

    fn pop(&mut self, _: u64, _: &mut Drops) -> Option<Segment> {
        if let Some((index, size)) = self.serving.take() {
            let total: u64 = (0..self.tags.len()).map(|each| self.divided.weight(each)).sum();
            self.now = self.now + Fraction::new(u128::from(size), u128::from(total));
            if !self.divided.queues[index].is_empty() {
                self.tag(index, self.tags[index].1);
            }
        }
        let first = self.backlogged().map(|index| self.tags[index].0).min()?;
        self.now = self.now.max(first);
        let eligible = self.backlogged().filter(|index| self.tags[*index].0 <= self.now);
        let index = eligible.min_by_key(|index| (self.tags[*index].1, *index))?;
        let head = self.divided.queues[index].remove(0);
        self.serving = Some((index, head.size));
        Some(head)
    }
}

struct Priority(Divided);

impl Naive for Priority {
    fn push(&mut self, segment: Segment, _: bool, drops: &mut Drops) {
        self.0.push(segment, drops);
    }

    fn pop(&mut self, _: u64, _: &mut Drops) -> Option<Segment> {
        let first = self.0.queues.iter_mut().find(|queue| !queue.is_empty())?;
        Some(first.remove(0))
    }
}
