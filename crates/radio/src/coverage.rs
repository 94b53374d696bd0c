//! What arrives of a sender anywhere on a map: path loss, walls and the gain of its antenna, without what varies by chance.

use crate::antenna::AntennaPattern;
use crate::decibels::Decibels;
use crate::position::Position;
use crate::radio::RadioConfig;
use crate::wall;

/// The power that arrives of a sender, on average over shadowing and fading.
#[derive(Clone, Copy, Debug)]
pub struct Coverage<'a> {
    /// The path loss and the walls.
    pub radio: &'a RadioConfig,
    /// Where the sender is.
    pub position: Position,
    /// The power in dBm with which it sends, without the gain of its antenna.
    pub power: Decibels,
    /// The gain of its antenna by direction.
    pub pattern: AntennaPattern,
}

impl Coverage<'_> {
    /// Returns the power in dBm at a receiver whose antenna has no gain.
    pub fn at(&self, receiver: Position) -> Decibels {
        let loss = self.radio.propagation.loss(self.position, receiver, self.radio.hertz);
        let walls = Decibels(wall::loss(&self.radio.walls, self.position, receiver));
        self.power + self.pattern.towards(self.position, receiver) - loss - walls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_loss::Metres;
    use crate::propagation::Propagation;

    /// Free space at 2.412 GHz: 80.095 dB at 100 m.
    #[test]
    fn it_is_power_less_loss() {
        let radio = RadioConfig { propagation: Propagation::FreeSpace, ..RadioConfig::new(2_412_000_000) };
        let at = |x| Position { x: Metres(x), y: Metres(0.0), z: Metres(1.5) };
        let sender =
            Coverage { radio: &radio, position: at(0.0), power: Decibels(20.0), pattern: AntennaPattern::default() };
        assert!(libm::fabs(sender.at(at(100.0)).0 + 60.095) < 1e-3);
    }
}
