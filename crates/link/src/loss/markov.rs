//! The four-state Markov model of Salsano, Ludovici, Ordine and Giannuzzi: "Definition of a general and intuitive loss
//! model for packet networks and its implementation in the Netem module in the Linux kernel", version 3.1, section 4.1.
//!
//! | state | meaning | goes to |
//! |---|---|---|
//! | 1 | received, between bursts | 3 with p13, 4 with p14, else stays |
//! | 2 | received, within a burst | 3 with p23, else stays |
//! | 3 | lost, within a burst | 1 with p31, 2 with p32, else stays |
//! | 4 | lost alone, between bursts | 1 always |
//!
//! For each packet the state changes first, and the new state is the packet's fate. The chain begins in state 1.
//! Range: p13 + p14 ≤ 1, p31 + p32 ≤ 1, and every state that can be entered can be left. Default: p31, p13 none;
//! p32 0, p23 1, p14 0, which are netem's.
//! Differs from netem before its fix of April 2026 ("fix probability gaps in 4-state loss model"): there a number that equalled p14 or p13 + p14 (in state
//! 3: p32 or p31 + p32) changed nothing, and let the packet pass even in state 3. Here the ranges join.

use crate::ConfigError;
use netloom_units::Probability;

/// Transition probabilities of the four-state model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkovConfig {
    /// A burst begins.
    pub p13: Probability,
    /// A burst ends.
    pub p31: Probability,
    /// Packets pass within a burst.
    pub p32: Probability,
    /// They are lost again.
    pub p23: Probability,
    /// A packet is lost alone.
    pub p14: Probability,
}

impl MarkovConfig {
    /// Whether the probabilities of leaving each state are at most 1 and no state is without entry or exit.
    ///
    /// # Errors
    /// The parameter to change.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |key, message: &str| Err(ConfigError::new(key, message));
        let exceed = |a: Probability, b: Probability| {
            let parts = a.as_parts_per_trillion() + b.as_parts_per_trillion();
            Probability::from_parts_per_trillion(parts).is_none()
        };
        if exceed(self.p13, self.p14) {
            return wrong("p14", "p13 + p14 is more than 100 %: state 1 is left in these two ways");
        }
        if exceed(self.p31, self.p32) {
            return wrong("p32", "p31 + p32 is more than 100 %: state 3 is left in these two ways");
        }
        if self.p13.is_zero() {
            return wrong("p13", "state 3 could never be entered: write a probability above 0 %");
        }
        if self.p31.is_zero() {
            return wrong("p31", "a burst could never end: write a probability above 0 %");
        }
        if self.p23.is_zero() && !self.p32.is_zero() {
            return wrong("p23", "state 2 could be entered and never left: write a probability above 0 %");
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    ReceivedInGap,
    ReceivedInBurst,
    LostInBurst,
    LostInGap,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Markov {
    config: MarkovConfig,
    state: State,
}

impl Markov {
    pub(crate) fn new(config: MarkovConfig) -> Self {
        Self { config, state: State::ReceivedInGap }
    }

    pub(crate) fn takes(&mut self, drawn: u64) -> bool {
        self.state = self.next(drawn);
        matches!(self.state, State::LostInBurst | State::LostInGap)
    }

    /// The order of the ranges is netem's: below p14 to state 4, above it up to p13 + p14 to state 3; below p32 to
    /// state 2, above it up to p31 + p32 to state 1.
    fn next(&self, drawn: u64) -> State {
        let MarkovConfig { p13, p31, p32, p23, p14 } = self.config;
        match self.state {
            State::ReceivedInGap if p14.happens(drawn) => State::LostInGap,
            State::ReceivedInGap if Probability::either_happens(&[p14, p13], drawn) => State::LostInBurst,
            State::ReceivedInGap => State::ReceivedInGap,
            State::ReceivedInBurst if p23.happens(drawn) => State::LostInBurst,
            State::ReceivedInBurst => State::ReceivedInBurst,
            State::LostInBurst if p32.happens(drawn) => State::ReceivedInBurst,
            State::LostInBurst if Probability::either_happens(&[p32, p31], drawn) => State::ReceivedInGap,
            State::LostInBurst => State::LostInBurst,
            State::LostInGap => State::ReceivedInGap,
        }
    }
}
