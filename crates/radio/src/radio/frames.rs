//! Records of what PPDUs with data carry.

use super::RadioMedium;
use super::signal::Signal;
use super::state::Exchange;
use crate::aired::{self, Aired, Control, Outline, Recorder};
use crate::category::AccessCategory;
use crate::decibels::Decibels;
use crate::power::Power;
use crate::transmission::Party;

/// One milliwatt.
const MILLIWATT: Decibels = Decibels(0.0);

impl<P> RadioMedium<P> {
    /// Starts recording what PPDUs with data carry, of which `copy` makes a copy; none stops recording. Records that are there are thrown away.
    pub fn record_frames(&mut self, copy: Option<fn(&P) -> P>) {
        self.recorder = copy.map(Recorder::new);
    }

    /// Whether PPDUs are recorded.
    pub fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns the records of PPDUs with data that ended since the last call, in order of their ends. What is sent again although it had
    /// arrived, because its acknowledgement was lost, is left out: the sender does not have it any more.
    pub fn frames(&mut self) -> impl Iterator<Item = Aired<P>> + '_ {
        self.recorder.iter_mut().flat_map(Recorder::take)
    }

    /// Notes what a PPDU with data carried that ends now, when it is decided what was decoded of it.
    pub(super) fn show(&mut self, signal: &Signal, exchange: &Exchange) {
        let Party { station, category, flow, to, mode, ppdu, load, has_rts, times, .. } = exchange.party;
        let power = signal.to.map(|receiver| signal.powers[receiver].over(Power::of(MILLIWATT)));
        let Self { recorder, stations, config, .. } = self;
        let queue = &mut stations[station].contenders[category].queue;
        if let Some(recorder) = recorder {
            let outline = Outline {
                from: station,
                to,
                category: config.phy.has_qos().then(|| AccessCategory::ALL[category]),
                mode,
                ppdu,
                size: load.size,
                start: signal.start,
                answer: times.whole - times.data,
                signal: power.map(aired::thousandths),
                control: Control::new(config, mode, has_rts),
            };
            recorder.begin(outline, queue.on_air(flow));
            recorder.end();
        }
        queue.note_sent(flow);
    }
}
