//! What is watched of pipes while a run goes on: the longest queues within windows, and series.
//!
//! A pipe counts the most that ever waited. Between two samples, either that record was broken, and the new one is the
//! peak; or it was not, and the length of the queue at the sample stands for the span between them.

use netloom_lab::{PipeMetric, Plan, Subject, Term, Window};
use netloom_link::PipeCounters;
use netloom_units::Duration;

/// The longest queues and the series of pipes that the expectations and figures of a lab need.
#[derive(Clone, Debug, Default)]
pub struct Watches {
    pub(super) windows: Vec<Watch>,
    /// The records of the sample before.
    pub(super) records: Vec<u64>,
    /// The samples of each pipe of which a series is wanted.
    pub(super) series: Vec<Option<Vec<Sample>>>,
}

#[derive(Clone, Debug)]
pub(super) struct Watch {
    pub(super) window: Window,
    /// One per pipe.
    pub(super) peaks: Vec<u64>,
}

/// What a pipe had counted at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// After time zero.
    pub(super) at: Duration,
    pub(super) arrived_bytes: u64,
    pub(super) departed_bytes: u64,
    pub(super) queued_packets: u64,
}

impl Sample {
    pub(super) fn new(at: Duration, counted: &PipeCounters) -> Self {
        Self {
            at,
            arrived_bytes: counted.arrived.bytes,
            departed_bytes: counted.departed.bytes,
            queued_packets: counted.queued.packets,
        }
    }
}

impl Watches {
    /// Creates the watches that the expectations and figures of `plan` need.
    pub fn of(plan: &Plan) -> Self {
        let pipes: Vec<usize> = plan.pipes().map(|pipe| pipe.link).collect();
        let windows = plan.terms().filter(|term| is_longest_queue(term)).filter_map(|term| term.window);
        let windows = windows.map(|window| Watch { window, peaks: vec![0; pipes.len()] }).collect();
        let is_wanted = |own: usize| {
            plan.terms()
                .any(|term| matches!(&term.subject, Subject::Link { link, .. } if *link == own && is_series(term)))
        };
        let series = pipes.iter().map(|link| is_wanted(*link).then(Vec::new)).collect();
        Self { windows, records: vec![0; pipes.len()], series }
    }

    /// Takes in the sample that was taken `elapsed` after time zero.
    pub fn sample(&mut self, elapsed: Duration, counters: &[PipeCounters]) {
        for (pipe, now) in counters.iter().enumerate() {
            let record = std::mem::replace(&mut self.records[pipe], now.queue_peak);
            let waited = if now.queue_peak > record { now.queue_peak } else { now.queued.packets };
            for watch in self.windows.iter_mut().filter(|watch| watch.holds(elapsed)) {
                watch.peaks[pipe] = watch.peaks[pipe].max(waited);
            }
            if let Some(Some(series)) = self.series.get_mut(pipe) {
                series.push(Sample::new(elapsed, now));
            }
        }
    }

    /// The most packets that waited in `pipe` within `window`.
    pub fn peak(&self, pipe: usize, window: Window) -> u64 {
        let watch = self.windows.iter().find(|watch| watch.window == window);
        watch.map_or(0, |watch| watch.peaks[pipe])
    }

    /// The samples of a pipe.
    pub(super) fn series(&self, pipe: usize) -> &[Sample] {
        self.series.get(pipe).and_then(Option::as_deref).unwrap_or_default()
    }
}

/// Whether a term wants the longest queue, which is known exactly.
pub(super) fn is_longest_queue(term: &Term) -> bool {
    let Subject::Link { metric, .. } = &term.subject else { return false };
    *metric == PipeMetric::QueueMax
        || *metric == PipeMetric::Queue && term.steps().0 == Some(netloom_lab::Function::Max)
}

/// Whether a term wants what was seen at each sample.
fn is_series(term: &Term) -> bool {
    let Subject::Link { metric, .. } = &term.subject else { return false };
    let has_steps =
        matches!(metric, PipeMetric::Throughput | PipeMetric::Offered | PipeMetric::Utilization | PipeMetric::Queue);
    has_steps && term.steps().0.is_some() && !is_longest_queue(term)
}

impl Watch {
    fn holds(&self, elapsed: Duration) -> bool {
        (self.window.from..=self.window.to).contains(&elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_record_or_the_length_at_the_sample_counts() {
        let ms = Duration::from_millis;
        let window = Window { from: ms(200), to: ms(400) };
        let mut watches =
            Watches { windows: vec![Watch { window, peaks: vec![0] }], records: vec![0], ..Watches::default() };
        let mut sample = |at, queued, record| {
            let mut counters = PipeCounters { queue_peak: record, ..PipeCounters::default() };
            counters.queued.packets = queued;
            watches.sample(ms(at), &[counters]);
            watches.peak(0, window)
        };
        assert_eq!(sample(100, 3, 50), 0);
        assert_eq!(sample(200, 7, 50), 7);
        assert_eq!(sample(300, 5, 60), 60);
        assert_eq!(sample(400, 9, 60), 60);
        assert_eq!(sample(500, 90, 90), 60);
    }
}
