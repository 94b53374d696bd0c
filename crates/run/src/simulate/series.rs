//! What pipes carried and what waited in them, as time went by.

use netloom_link::PipeCounters;
use netloom_units::Instant;

/// One line of points per pipe.
#[derive(Debug)]
pub(super) struct Series {
    pipes: Vec<Vec<Point>>,
    latest: Option<(Instant, Vec<u64>)>,
}

/// A pipe between two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// When the span ended.
    pub(super) seconds: f64,
    /// What was handed out in it.
    pub(super) bits_per_second: f64,
    /// How many packets waited at its end.
    pub(super) queued: u64,
}

impl Series {
    pub(super) fn new(pipes: usize) -> Self {
        Self { pipes: vec![Vec::new(); pipes], latest: None }
    }

    pub(super) fn add(&mut self, at: Instant, counters: &[PipeCounters]) {
        let departed: Vec<u64> = counters.iter().map(|pipe| pipe.departed.bytes).collect();
        if let Some((before, bytes)) = &self.latest {
            let span = at.since(*before).as_secs_f64();
            for (number, pipe) in counters.iter().enumerate() {
                self.pipes[number].push(Point {
                    seconds: at.since(Instant::ZERO).as_secs_f64(),
                    bits_per_second: (departed[number] - bytes[number]) as f64 * 8.0 / span,
                    queued: pipe.queued.packets + pipe.cross.queued.packets,
                });
            }
        }
        self.latest = Some((at, departed));
    }

    pub(super) fn of(&self, pipe: usize) -> &[Point] {
        &self.pipes[pipe]
    }
}
