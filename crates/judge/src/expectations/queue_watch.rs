//! The most packets that waited at once within a window.
//!
//! A pipe counts the most that ever waited. Between two samples, either that record was broken, and the new one is the
//! peak; or it was not, and the length of the queue at the sample stands for the span between them.

use netloom_lab::{PipeMetric, Plan, Subject, Window};
use netloom_link::PipeCounters;
use netloom_units::Duration;

/// The windows of all expectations about the length of a queue.
#[derive(Clone, Debug, Default)]
pub struct QueueWatches {
    windows: Vec<Watch>,
    /// The records of the sample before.
    records: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Watch {
    window: Window,
    /// One per pipe.
    peaks: Vec<u64>,
}

impl QueueWatches {
    /// The windows that the expectations of `plan` name.
    pub fn of(plan: &Plan) -> Self {
        let asked = plan.expect.iter().map(|expectation| (&expectation.subject, expectation.window));
        let asked = asked.chain(plan.figures.iter().map(|figure| (&figure.subject, figure.window)));
        let watched = asked.filter_map(|(subject, window)| match subject {
            Subject::Link { metric: PipeMetric::QueueMax, .. } => window,
            _ => None,
        });
        let pipes = plan.pipes().count();
        let windows = watched.map(|window| Watch { window, peaks: vec![0; pipes] }).collect();
        Self { windows, records: vec![0; pipes] }
    }

    /// Takes in the sample that was taken `elapsed` after time zero.
    pub fn sample(&mut self, elapsed: Duration, counters: &[PipeCounters]) {
        for (pipe, now) in counters.iter().enumerate() {
            let record = std::mem::replace(&mut self.records[pipe], now.queue_peak);
            let waited = if now.queue_peak > record { now.queue_peak } else { now.queued.packets };
            for watch in self.windows.iter_mut().filter(|watch| watch.holds(elapsed)) {
                watch.peaks[pipe] = watch.peaks[pipe].max(waited);
            }
        }
    }

    /// The most packets that waited in `pipe` within `window`.
    pub fn peak(&self, pipe: usize, window: Window) -> u64 {
        let watch = self.windows.iter().find(|watch| watch.window == window);
        watch.map_or(0, |watch| watch.peaks[pipe])
    }
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
        let mut watches = QueueWatches { windows: vec![Watch { window, peaks: vec![0] }], records: vec![0] };
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
