//! DualPI2: a low-latency queue for senders with scalable congestion control (L4S), coupled to a classic queue for all
//! others.
//!
//! Source: RFC 9332, appendix A, in the version with overload handling (A.2, figures 7 and 8); the pseudo-code is quoted
//! at each line. See [`DualPi2Config`] for the parameters. Choices that the RFC leaves open:
//! - The scheduler is a weighted round robin by bytes (section 4.2.2 allows any with conditional priority): while both
//!   queues hold packets the classic one gets its share, and the other all the rest, beginning with the latter.
//! - `recur` is the deterministic one of figure 4, so that nothing is left to chance.
//! - `lq.time()` at a departure is what the leaving packet has waited, and `lq.len()` counts that packet too. At an
//!   update, the time of a queue is the age of its head.
//! - The buffer is full when the packet itself, not one of MTU size, does not fit.
//!
//! The base probability is updated at multiples of the update period since the run began.

use super::Transmission;
use super::checks;
use super::fifo::{Fifo, each_segment, has_room};
use super::numbers::seconds_longer;
use super::ticks::Ticks;
use crate::ConfigError;
use crate::cause::Cause;
use crate::ledger::Ledger;
use alloc::vec::Vec;
use netloom_packet::{Ecn, Packet};
use netloom_units::{Bytes, Duration, Instant, Limit, Probability};

/// Th_len and p_Lmax of figure 2.
const LEAST_PACKETS: u64 = 1;
const P_L_MAX: f64 = 1.0;

/// The parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Config {
    /// How much may wait in both queues together.
    pub limit: Limit,
    /// The delay of the classic queue to steer for, above 0.
    pub target: Duration,
    /// The period of updates, above 0: Tupdate.
    pub update: Duration,
    /// The longest round trip that is expected, above 0; the gains follow from it.
    pub rtt_max: Duration,
    /// How much more often the low-latency queue is marked than the square root of the classic probability: k, 1 to 255.
    pub coupling: u8,
    /// From this delay on, packets of the low-latency queue are marked: minTh.
    pub min: Duration,
    /// Over how much more delay the marks go from none to all: the ramp; 0 is a step.
    pub range: Duration,
    /// The share of the rate that is kept for the classic queue while both have packets, below 1.
    pub classic_share: Probability,
    /// The handling of overload, when the low-latency queue cannot be marked more often.
    pub overload: Overload,
}

/// The handling of overload: from k p' = 1 on, every packet of the low-latency queue is marked already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overload {
    /// RFC 9332, figure 7: packets of the low-latency queue are dropped with p'^2, and the others marked with k p', out of one memory;
    /// classic packets are dropped and no longer marked.
    #[default]
    Rfc,
    /// Linux, `net/sched/sch_dualpi2.c` with `drop_on_overload`, its default: packets of the low-latency queue are dropped with p'^2, and
    /// all others marked; classic packets are dropped and no longer marked.
    Linux,
    /// Linux with `overflow`: p' grows to 1/k only, and all packets of the low-latency queue are marked until the buffer is full.
    Overflow,
}

impl Default for DualPi2Config {
    /// Figure 2 of the RFC; the update period and the share are those of the Linux qdisc by its authors, tc-dualpi2(8).
    /// Figure 2 has 15 ms, the lesser of the target and a third of RTT_max; appendix A.1 tells of 16 ms in Linux.
    fn default() -> Self {
        Self {
            limit: Limit::Time(Duration::from_millis(250)),
            target: Duration::from_millis(15),
            update: Duration::from_millis(16),
            rtt_max: Duration::from_millis(100),
            coupling: 2,
            min: Duration::from_micros(800),
            range: Duration::from_micros(400),
            classic_share: Probability::from_parts_per_trillion(100_000_000_000).expect("10 % is below 1"),
            overload: Overload::Rfc,
        }
    }
}

impl DualPi2Config {
    /// Whether these parameters make sense.
    ///
    /// # Errors
    /// The limit, the coupling or a time that must be above zero is zero, or the classic share is all.
    pub fn check(&self) -> Result<(), ConfigError> {
        checks::limit(self.limit)?;
        if self.target.is_zero() {
            return Err(ConfigError::new("target", "the target delay must be above zero"));
        }
        if self.update.is_zero() {
            return Err(ConfigError::new("update", "the period of updates must be above zero"));
        }
        if self.rtt_max.is_zero() {
            return Err(ConfigError::new("rtt_max", "the longest round trip must be above zero"));
        }
        if self.coupling == 0 {
            return Err(ConfigError::new("coupling", "the coupling must be from 1 to 255"));
        }
        if self.classic_share == Probability::ONE {
            return Err(ConfigError::new("classic_share", "the share of the classic queue must be below 100 %"));
        }
        Ok(())
    }
}

/// One of the two queues and its memory of marks.
#[derive(Clone, Debug, Default)]
struct Half {
    waiting: Fifo,
    /// Figure 4: q.count.
    count: f64,
    /// The same of drops where they are drawn apart from marks.
    drops: f64,
}

/// Figure 4, `recur`: true with a certain likelihood, evenly spaced.
fn recur(count: &mut f64, likelihood: f64) -> bool {
    // q.count += likelihood; if (q.count > 1) { q.count -= 1; return TRUE }
    *count += likelihood;
    let is_due = *count > 1.0;
    if is_due {
        *count -= 1.0;
    }
    is_due
}

impl Half {
    fn age(&self, now: Instant) -> Duration {
        self.waiting.head_arrival().map_or(Duration::ZERO, |arrival| now.since(arrival))
    }
}

/// The queue; see the module. Variables are called as in the RFC.
#[derive(Clone, Debug)]
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    ticks: Ticks,
    /// p', the base probability.
    p: f64,
    prevq: Duration,
    lq: Half,
    cq: Half,
    /// What the classic queue may send before the other, in bytes times parts per trillion.
    credit: i64,
}

impl DualPi2 {
    pub(crate) fn new(config: &DualPi2Config) -> Self {
        Self {
            config: *config,
            ticks: Ticks::new(config.update),
            p: 0.0,
            prevq: Duration::ZERO,
            lq: Half::default(),
            cq: Half::default(),
            credit: 0,
        }
    }

    /// Takes other parameters. The controller goes on where it is; the latest arrivals are dropped until what waits fits.
    pub(crate) fn configure(
        &mut self,
        now: Instant,
        config: &DualPi2Config,
        transmission: Transmission,
        ledger: &mut Ledger<'_>,
    ) {
        self.catch_up(now);
        self.config = *config;
        self.ticks.set_period(config.update);
        let mut all_fit = true;
        for (arrival, train) in self.take() {
            each_segment(train, |segment| {
                all_fit = all_fit && self.has_room(&segment, transmission);
                if all_fit {
                    self.wait(arrival, segment);
                } else {
                    ledger.evict(segment, Cause::Full);
                }
            });
        }
    }

    /// Takes all that waits in both queues, in order of arrival.
    fn take(&mut self) -> Vec<(Instant, Packet)> {
        self.credit = 0;
        let mut all: Vec<_> = self.lq.waiting.take().into_iter().chain(self.cq.waiting.take()).collect();
        all.sort_by_key(|(arrival, _)| *arrival);
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        // lq.byt() + cq.byt() > 0
        self.lq.waiting.is_empty() && self.cq.waiting.is_empty()
    }

    /// Figure 3, `dualpi2_enqueue`, for each segment of `train`.
    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        self.catch_up(now);
        each_segment(train, |segment| self.admit(now, segment, transmission, ledger));
    }

    fn admit(&mut self, now: Instant, segment: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        // if ( lq.byt() + cq.byt() + MTU > limit) drop(pkt)
        if !self.has_room(&segment, transmission) {
            return ledger.refuse(segment, Cause::Full);
        }
        ledger.admit(&segment);
        self.wait(now, segment);
    }

    fn has_room(&self, segment: &Packet, transmission: Transmission) -> bool {
        let packets = self.lq.waiting.packets() + self.cq.waiting.packets();
        let bytes = Bytes::new(self.lq.waiting.bytes().get() + self.cq.waiting.bytes().get());
        has_room(self.config.limit, packets, bytes, segment.size(), transmission)
    }

    /// Figure 3: the queue of a segment that found room.
    fn wait(&mut self, now: Instant, segment: Packet) {
        // if ( ecn(pkt) modulo 2 == 1 ) lq.enqueue(pkt), else cq.enqueue(pkt)
        match segment.ecn() {
            Some(Ecn::Capable1 | Ecn::Congested) => self.lq.waiting.push(now, segment),
            None | Some(Ecn::NotCapable | Ecn::Capable0) => self.cq.waiting.push(now, segment),
        }
    }

    /// Figure 7, `dualpi2_dequeue`.
    pub(crate) fn pop(&mut self, now: Instant, ledger: &mut Ledger<'_>) -> Option<Packet> {
        self.catch_up(now);
        // while ( lq.byt() + cq.byt() > 0 )
        loop {
            // if ( scheduler() == lq )
            let is_low_latency = self.is_turn_of_low_latency()?;
            let half = if is_low_latency { &mut self.lq } else { &mut self.cq };
            let len = half.waiting.packets();
            let (arrival, mut packet) = half.waiting.pop()?;
            let is_kept = if is_low_latency {
                self.treat_low_latency(now.since(arrival), len, &mut packet, ledger)
            } else {
                self.treat_classic(&mut packet, ledger)
            };
            if is_kept {
                ledger.release(&packet);
                // return(pkt)
                return Some(packet);
            }
            // drop(pkt); continue
            ledger.evict(packet, Cause::Early);
        }
    }

    /// The scheduler: whose turn it is; none if both queues are empty. Of every packet that one queue sends while the
    /// other waits, that other is credited its share.
    fn is_turn_of_low_latency(&mut self) -> Option<bool> {
        let (low, classic) = (self.lq.waiting.head_size(), self.cq.waiting.head_size());
        let (Some(low), Some(classic)) = (low, classic) else {
            self.credit = 0;
            return if low.is_some() { Some(true) } else { classic.map(|_| false) };
        };
        let parts = self.config.classic_share.as_parts_per_trillion();
        let rest = Probability::ONE.as_parts_per_trillion() - parts;
        let is_low_latency = self.credit <= 0;
        if is_low_latency {
            self.credit = self.credit.saturating_add_unsigned(low.get().saturating_mul(parts));
        } else {
            self.credit = self.credit.saturating_sub_unsigned(classic.get().saturating_mul(rest));
        }
        Some(is_low_latency)
    }

    /// Figure 7, what happens to a packet of the low-latency queue; whether it is kept.
    fn treat_low_latency(&mut self, wait: Duration, len: u64, packet: &mut Packet, ledger: &mut Ledger<'_>) -> bool {
        let (p_cl, p_c) = (self.p_cl(), self.p_c());
        // if ( p_CL < p_Lmax )
        let is_marked = if p_cl < P_L_MAX {
            // if (lq.len()>Th_len) p'_L = laqm(lq.time()), else p'_L = 0
            let native = if len > LEAST_PACKETS { self.laqm(wait) } else { 0.0 };
            // p_L = MAX(p'_L, p_CL); if ( recur(lq, p_L) ) mark(pkt)
            recur(&mut self.lq.count, native.max(p_cl))
        } else {
            // Overload saturation: if ( recur(lq, p_C) ) drop(pkt)
            let is_dropped = match self.config.overload {
                Overload::Rfc => recur(&mut self.lq.count, p_c),
                Overload::Linux => recur(&mut self.lq.drops, p_c),
                Overload::Overflow => false,
            };
            if is_dropped {
                return false;
            }
            // if ( recur(lq, p_CL) ) mark(pkt)
            self.config.overload != Overload::Rfc || recur(&mut self.lq.count, p_cl)
        };
        if is_marked {
            ledger.mark(packet);
        }
        true
    }

    /// Figure 7, what happens to a packet of the classic queue; whether it is kept.
    fn treat_classic(&mut self, packet: &mut Packet, ledger: &mut Ledger<'_>) -> bool {
        let p_c = self.p_c();
        // if ( recur(cq, p_C) ) { if ( (ecn(pkt) == 0) OR (p_C >= p_Cmax) ) drop(pkt), else mark(pkt) }
        let can_mark = p_c < self.p_c_max() || self.config.overload == Overload::Overflow;
        !recur(&mut self.cq.count, p_c) || (can_mark && ledger.mark(packet))
    }

    /// Figure 5: the native probability of the low-latency queue.
    fn laqm(&self, qdelay: Duration) -> f64 {
        let above = qdelay - self.config.min;
        // if (qdelay >= maxTh) return 1
        if qdelay >= self.config.min + self.config.range {
            return 1.0;
        }
        // else if (qdelay > minTh) return (qdelay - minTh)/range, else return 0
        if above.is_zero() {
            return 0.0;
        }
        above.as_nanos() as f64 / self.config.range.as_nanos() as f64
    }

    /// Figure 8: p_CL = k * p'.
    fn p_cl(&self) -> f64 {
        f64::from(self.config.coupling) * self.p
    }

    /// Figure 8: p_C = p'^2.
    fn p_c(&self) -> f64 {
        self.p * self.p
    }

    /// Figure 2: p_Cmax = min(1/k^2, 1).
    fn p_c_max(&self) -> f64 {
        let k = f64::from(self.config.coupling);
        1.0 / (k * k)
    }

    /// Makes all updates until `now`.
    fn catch_up(&mut self, now: Instant) {
        while let Some(at) = self.ticks.take(now) {
            self.update(at);
            if self.is_empty() && self.p == 0.0 && self.prevq.is_zero() {
                // Nothing happens until `now`: all updates until then leave it at that.
                self.ticks.skip(now);
            }
        }
    }

    /// Figure 8, `dualpi2_update`.
    fn update(&mut self, at: Instant) {
        // curq = MAX(cq.time(), lq.time())
        let curq = self.cq.age(at).max(self.lq.age(at));
        // p' = p' + alpha * (curq - target) + beta * (curq - prevq), within 0 and 1
        let (alpha, beta) = self.gains();
        let step = alpha * seconds_longer(curq, self.config.target) + beta * seconds_longer(curq, self.prevq);
        let most = if self.config.overload == Overload::Overflow { 1.0 / f64::from(self.config.coupling) } else { 1.0 };
        self.p = (self.p + step).clamp(0.0, most);
        // prevq = curq
        self.prevq = curq;
    }

    /// Figure 2: alpha = 0.1 * Tupdate / RTT_max^2 and beta = 0.3 / RTT_max, in 1/s.
    fn gains(&self) -> (f64, f64) {
        let rtt_max = self.config.rtt_max.as_secs_f64();
        (0.1 * self.config.update.as_secs_f64() / (rtt_max * rtt_max), 0.3 / rtt_max)
    }

    /// Everything that waits, in order of arrival; the queue is empty afterwards.
    pub(crate) fn drain(&mut self, now: Instant) -> Vec<Packet> {
        self.catch_up(now);
        self.take().into_iter().map(|(_, train)| train).collect()
    }
}
