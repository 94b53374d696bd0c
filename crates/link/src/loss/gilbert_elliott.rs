//! The Gilbert-Elliott model: the link is good or bad, and loses packets with one probability in each state.
//!
//! Each packet is lost with the probability of the state that it finds; then the state changes: from good to bad with
//! probability p, from bad to good with probability r. The first state is the good one.
//! Range: 0 < p ≤ 1, 0 < r ≤ 1; loss 0 to 1 in each state, by default 0 in the good and 1 in the bad one.
//! In the long run the share p / (p + r) of the packets finds the bad state, and it lasts for 1 / r packets in the mean.
//! Source: Elliott 1963, "Estimates of error rates for codes on burst-noise channels"; the parameters of netem's
//! `gemodel` (p, r, 1-h for loss in the bad state, 1-k for loss in the good state), after Hasslinger and Hohlfeld 2008.
//! Differs from netem, where r is 1 - p if it is left out; here both are needed.

use crate::ConfigError;
use netloom_units::Probability;

/// Loss that depends on a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GilbertElliottConfig {
    /// With which probability the bad state follows the good one behind a packet: p.
    pub p: Probability,
    /// With which probability the good state follows the bad one behind a packet: r.
    pub r: Probability,
    /// Loss in the good state: 1 - k.
    pub good: Probability,
    /// Loss in the bad state: 1 - h.
    pub bad: Probability,
}

impl GilbertElliottConfig {
    /// Whether both states are entered and left again.
    ///
    /// # Errors
    /// The parameter that does not allow it.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.p.is_zero() {
            return Err(ConfigError::new(
                "p",
                "the bad state could never be entered: write a probability above 0 %, or plain independent loss",
            ));
        }
        if self.r.is_zero() {
            return Err(ConfigError::new("r", "the bad state could never be left: write a probability above 0 %"));
        }
        Ok(())
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct GilbertElliott {
    config: GilbertElliottConfig,
    is_bad: bool,
}

impl GilbertElliott {
    pub(crate) fn new(config: GilbertElliottConfig) -> Self {
        Self { config, is_bad: false }
    }

    /// Whether the packet is lost, by the number `fate`; and then into the next state, by the number `change`.
    pub(crate) fn takes(&mut self, fate: u64, change: u64) -> bool {
        let GilbertElliottConfig { p, r, good, bad } = self.config;
        let (loss, leave) = if self.is_bad { (bad, r) } else { (good, p) };
        self.is_bad ^= leave.happens(change);
        loss.happens(fate)
    }
}
