//! Whether kernels stood still while the lab ran. In virtual time that makes no difference: lab time waits for them.

use netloom_guest::node::{Pulse, Pump};
use netloom_judge::verdict::Standstill;
use netloom_lab::Plan;
use netloom_provision::cpu_shares::pause;
use std::time::{Duration, Instant};

/// Kernels are asked for a heartbeat twice within what they may stand still, so that a standstill of one and a half times
/// that is always found; but all of them together not more often than this.
const MOST_PER_SECOND: u32 = 1000;

/// Kernels that may stand still for ever are asked, too.
const LONGEST: Duration = Duration::from_secs(10);

/// What serves the kernels' agents, and listens to their heartbeats.
pub(super) struct Heartbeats {
    /// None in virtual time, and in labs without kernels.
    pump: Option<Pump>,
    began: Instant,
    /// What was heard, when the end began.
    heard: Vec<Pulse>,
}

impl Heartbeats {
    pub(super) fn new(pump: Option<Pump>) -> Self {
        Self { pump, began: Instant::now(), heard: Vec::new() }
    }

    /// Time zero.
    pub(super) fn begin(&mut self, plan: &Plan) {
        self.began = Instant::now();
        if let Some(pump) = &self.pump {
            pump.listen_to_heartbeats(interval(plan));
        }
    }

    /// The node at this place in the plan stands still by request, or goes on.
    pub(super) fn let_rest(&self, plan: &Plan, node: usize, rests: bool) {
        let place = plan.nodes[..node].iter().filter(|before| before.stack.is_own()).count();
        if let Some(pump) = &self.pump {
            pump.let_rest(place, rests);
        }
    }

    /// The end begins, in which kernels may stand still.
    pub(super) fn end(&mut self) {
        self.heard = self.pump.as_ref().map(Pump::pulses).unwrap_or_default();
    }

    /// The longest standstill of each node, by its place, and of which it is not known.
    pub(super) fn standstills(&self, plan: &Plan) -> (Vec<Option<Standstill>>, Option<String>) {
        let dilation = plan.clock.dilation().unwrap_or_default();
        let mut heard = self.heard.iter();
        let (mut all, mut silent) = (Vec::new(), Vec::new());
        for node in &plan.nodes {
            let pulse = if node.stack.is_own() { heard.next() } else { None };
            if pulse == Some(&Pulse::None) {
                silent.push(node.name.as_str());
            }
            all.push(match pulse {
                Some(Pulse::Beats(longest)) => Some(Standstill {
                    began_ns: dilation.to_lab(longest.began.saturating_duration_since(self.began)).as_nanos(),
                    lasted_ns: dilation.to_lab(longest.lasted).as_nanos(),
                    described_ns: dilation.to_lab(pause(node.cpus, dilation)).as_nanos(),
                }),
                Some(Pulse::None) | None => None,
            });
        }
        let what = "whether they stood still: their kernels answered no heartbeat";
        (all, (!silent.is_empty()).then(|| format!("nodes {}: {what}", silent.join(", "))))
    }
}

/// How often kernels are asked; wall time.
fn interval(plan: &Plan) -> Duration {
    let kernels = plan.nodes.iter().filter(|node| node.stack.is_own()).count();
    let bound = plan.clock.dilation().unwrap_or_default().to_real(plan.bounds.standstill);
    let least = Duration::from_secs(1) * u32::try_from(kernels).unwrap_or(u32::MAX) / MOST_PER_SECOND;
    (bound / 2).min(LONGEST).max(least).max(Duration::from_millis(1))
}
