//! The lateness of the events of the timeline.

use netloom_lab::Bounds;
use netloom_units::Duration;
use serde::{Deserialize, Serialize};

/// The kind of an event that happens at an instant that the lab file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A link is changed, cut or joined.
    LinkChange,
    /// A window of an expectation begins or ends, or the run does.
    Measurement,
    /// A program is started.
    ProgramStart,
    /// A program is asked to end, or killed.
    Signal,
}

/// The events of a run by kinds. Spans are of lab time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Punctuality {
    /// Links changed, cut and restored.
    pub link_changes: Lateness,
    /// Beginnings and ends of windows, and the end of the run.
    pub measurements: Lateness,
    /// Programs started.
    pub program_starts: Lateness,
    /// Programs asked to end, or killed.
    pub signals: Lateness,
}

/// How late events of one kind were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// The number of events.
    pub count: u64,
    /// The number of events that were later than the lab file allows.
    pub late_count: u64,
    /// The largest lateness; none without events.
    pub worst_ns: Option<u64>,
    /// The event with the largest lateness.
    pub worst: Option<String>,
}

impl Punctuality {
    /// Records an event that happened so `late`. It is judged if the lab file names its instant; `name` says which it was.
    pub fn record(
        &mut self,
        kind: Kind,
        late: Duration,
        bounds: &Bounds,
        is_judged: bool,
        name: impl FnOnce() -> String,
    ) {
        let bound = match kind {
            Kind::LinkChange | Kind::Measurement => bounds.events,
            Kind::ProgramStart | Kind::Signal => bounds.starts,
        };
        let lateness = match kind {
            Kind::LinkChange => &mut self.link_changes,
            Kind::Measurement => &mut self.measurements,
            Kind::ProgramStart => &mut self.program_starts,
            Kind::Signal => &mut self.signals,
        };
        lateness.count += 1;
        lateness.late_count += u64::from(is_judged && late > bound);
        if lateness.worst_ns.is_none_or(|worst| worst < late.as_nanos()) {
            lateness.worst_ns = Some(late.as_nanos());
            lateness.worst = Some(name());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_kept_and_those_that_are_too_late_are_counted() {
        let (mut all, bounds) = (Punctuality::default(), Bounds::default());
        let ms = Duration::from_millis;
        for (late, name) in [(ms(1), "first"), (bounds.events + ms(1), "second"), (ms(2), "third")] {
            all.record(Kind::LinkChange, late, &bounds, true, || name.to_owned());
        }
        all.record(Kind::ProgramStart, bounds.starts + ms(1), &bounds, false, || "whenever".to_owned());
        let worst_ns = Some((bounds.events + ms(1)).as_nanos());
        let expected = Lateness { count: 3, late_count: 1, worst_ns, worst: Some("second".into()) };
        assert_eq!(all.link_changes, expected);
        assert_eq!((all.program_starts.count, all.program_starts.late_count), (1, 0));
    }
}
