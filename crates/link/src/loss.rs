//! Loss: which packets vanish before they reach the queue. One module per model, and the choice between them.
//!
//! Independent loss drops each packet (each segment of a train) with one probability p, 0 ≤ p ≤ 1, default 0.
//! Source: dummynet (Rizzo 1997, section 2), GINE section 3.2 ("independent constant packet loss probability").
//! Differs from dummynet, which drops at the end of the delay line: a packet that will be lost is dropped on arrival
//! and takes no room in the queue and no time on the wire. This holds for all models of loss.

mod bit_error;
mod every;
mod gilbert;
mod gilbert_elliott;
mod markov;
mod packets;
mod sequence;

pub use every::EveryConfig;
pub use gilbert::GilbertConfig;
pub use gilbert_elliott::GilbertElliottConfig;
pub use markov::MarkovConfig;
pub use packets::PacketsConfig;
pub use sequence::{SequenceConfig, Then};

use crate::ConfigError;
use crate::chance::{ChanceConfig, CorrelatedUniform};
use bit_error::BitError;
use every::Every;
use gilbert::Gilbert;
use gilbert_elliott::GilbertElliott;
use markov::Markov;
use netloom_packet::Packet;
use netloom_units::{BitErrorRate, Probability, Seed};
use packets::Packets;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sequence::Sequence;

/// How packets are lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossConfig {
    /// None is.
    #[default]
    None,
    /// Each packet with the same probability, independently of all others.
    Independent(Probability),
    /// Each packet with the same probability, and neighbours alike.
    Correlated(ChanceConfig),
    /// Each packet of which at least one bit is wrong, so that long packets are lost more often.
    BitError(BitErrorRate),
    /// In bursts with a mean length, which make up a share of all packets.
    Gilbert(GilbertConfig),
    /// With one probability while the link is good and another while it is bad.
    GilbertElliott(GilbertElliottConfig),
    /// In bursts within which some packets pass, and alone between them.
    Markov(MarkovConfig),
    /// Every n-th.
    Every(EveryConfig),
    /// Those with certain numbers.
    Packets(PacketsConfig),
    /// As a sequence says for packet after packet.
    Sequence(SequenceConfig),
}

impl LossConfig {
    /// Whether the description makes sense.
    ///
    /// # Errors
    /// The parameter that does not, and what would be right.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::None | Self::Independent(_) | Self::BitError(_) => Ok(()),
            Self::Correlated(config) => config.check(),
            Self::Gilbert(config) => config.check(),
            Self::GilbertElliott(config) => config.check(),
            Self::Markov(config) => config.check(),
            Self::Every(config) => config.check(),
            Self::Packets(config) => config.check(),
            Self::Sequence(config) => config.check(),
        }
    }
}

/// A loss model and its generator.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    model: Model,
    random: Xoshiro256PlusPlus,
}

/// A model at work; each decides over one packet after the other.
#[derive(Clone, Debug)]
enum Model {
    None,
    Independent(Probability),
    Correlated(Probability, CorrelatedUniform),
    BitError(BitError),
    Gilbert(Gilbert),
    GilbertElliott(GilbertElliott),
    Markov(Markov),
    Every(Every),
    Packets(Packets),
    Sequence(Sequence),
}

impl Model {
    fn new(config: LossConfig) -> Self {
        match config {
            LossConfig::None => Self::None,
            LossConfig::Independent(probability) => Self::Independent(probability),
            LossConfig::Correlated(config) => {
                Self::Correlated(config.probability, CorrelatedUniform::new(config.correlation))
            }
            LossConfig::BitError(rate) => Self::BitError(BitError::new(rate)),
            LossConfig::Gilbert(config) => Self::Gilbert(Gilbert::new(config)),
            LossConfig::GilbertElliott(config) => Self::GilbertElliott(GilbertElliott::new(config)),
            LossConfig::Markov(config) => Self::Markov(Markov::new(config)),
            LossConfig::Every(config) => Self::Every(Every::new(config)),
            LossConfig::Packets(config) => Self::Packets(Packets::new(config)),
            LossConfig::Sequence(config) => Self::Sequence(Sequence::new(config)),
        }
    }
}

impl Loss {
    pub(crate) fn new(config: LossConfig, seed: Seed) -> Self {
        Self { model: Model::new(config), random: Xoshiro256PlusPlus::seed_from_u64(seed.get()) }
    }

    /// Whether nothing is lost, and nothing needs to be drawn.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.model, Model::None)
    }

    /// Begins the new model at its beginning, with the same generator.
    pub(crate) fn configure(&mut self, config: LossConfig) {
        self.model = Model::new(config);
    }

    /// Of the segments of `train`, how many pass before one is lost; all of them if none is.
    ///
    /// Each segment is decided over once: the one behind the survivors is lost and must not be asked for again.
    pub(crate) fn survivors(&mut self, train: &Packet) -> u32 {
        let segments = train.segments();
        (0..segments).find(|index| self.takes(train, *index)).unwrap_or(segments)
    }

    fn takes(&mut self, train: &Packet, index: u32) -> bool {
        let random = &mut self.random;
        match &mut self.model {
            Model::None => false,
            Model::Independent(probability) => probability.happens(random.next_u64()),
            Model::Correlated(probability, numbers) => probability.happens(numbers.next(random)),
            Model::BitError(model) => model.takes(train.segment_size(index), random.next_u64()),
            Model::Gilbert(model) => model.takes(random.next_u64()),
            Model::GilbertElliott(model) => model.takes(random.next_u64(), random.next_u64()),
            Model::Markov(model) => model.takes(random.next_u64()),
            Model::Every(model) => model.takes(),
            Model::Packets(model) => model.takes(),
            Model::Sequence(model) => model.takes(),
        }
    }
}
