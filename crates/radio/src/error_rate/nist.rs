//! Error rates of convolutional codes in closed form.
//!
//! Source: Pei and Henderson, *Validation of OFDM error rate model in ns-3* (2010), after Miller, *Validation of 802.11a/UWB coexistence simulation* (NIST 2003):
//! the union bound on hard decisions, over additive white Gaussian noise and Gray-coded constellations. The weights are those of the code of IEEE 802.11-2020, 17.3.5.6
//! (generators 133 and 171), as Haccoun and Begin (1989) and Frenger and others (1998) define them; the test computes them from the generators.
//! Differs from the table: errors of bits are independent, so that a frame of twice the length is two frames, whatever its length, and a mode needs 3 to 5 dB more: hard decisions
//! know nothing of how sure a bit is.

use crate::decibels::Decibels;
use crate::phy::Mode;
use netloom_units::Bytes;

/// A rate of the convolutional code: how many bits of data a period of its puncturing has, and from which distance on how many errors of bits all paths of each
/// distance have together, by steps of one or two.
struct Code {
    period: f64,
    first: i32,
    step: i32,
    weights: [f64; 9],
}

const HALF: Code = Code {
    period: 1.0,
    first: 10,
    step: 2,
    weights: [36.0, 211.0, 1_404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0],
};
const TWO_THIRDS: Code = Code {
    period: 2.0,
    first: 6,
    step: 1,
    weights: [3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_835.0, 2_103_480.0],
};
const THREE_QUARTERS: Code = Code {
    period: 3.0,
    first: 5,
    step: 1,
    weights: [42.0, 201.0, 1_492.0, 10_469.0, 62_935.0, 379_546.0, 2_252_394.0, 13_064_540.0, 75_080_308.0],
};
const FIVE_SIXTHS: Code = Code {
    period: 5.0,
    first: 4,
    step: 1,
    weights: [92.0, 528.0, 8_694.0, 79_453.0, 791_795.0, 7_369_828.0, 67_809_347.0, 609_896_348.0, 5_416_272_113.0],
};

/// By MCS: the points of its constellation, and its code.
const SCHEMES: [(u16, Code); 12] = [
    (2, HALF),
    (4, HALF),
    (4, THREE_QUARTERS),
    (16, HALF),
    (16, THREE_QUARTERS),
    (64, TWO_THIRDS),
    (64, THREE_QUARTERS),
    (64, FIVE_SIXTHS),
    (256, THREE_QUARTERS),
    (256, FIVE_SIXTHS),
    (1_024, THREE_QUARTERS),
    (1_024, FIVE_SIXTHS),
];
/// By kilobits per second of OFDM without MCS.
const LEGACY: [(u64, u16, Code); 8] = [
    (6_000, 2, HALF),
    (9_000, 2, THREE_QUARTERS),
    (12_000, 4, HALF),
    (18_000, 4, THREE_QUARTERS),
    (24_000, 16, HALF),
    (36_000, 16, THREE_QUARTERS),
    (48_000, 64, TWO_THIRDS),
    (54_000, 64, THREE_QUARTERS),
];

/// The share of frames of this size that cannot be decoded; none of modes that have another code, such as DSSS.
pub(super) fn frame_error_rate(mode: Mode, snr: Decibels, size: Bytes) -> Option<f64> {
    let (points, code) = match mode {
        Mode::Mcs { index, .. } => SCHEMES.get(usize::from(index)).map(|(points, code)| (*points, code))?,
        Mode::Legacy(rate) => {
            let kilobits = rate.as_bits_per_second() / 1_000;
            LEGACY.iter().find(|(own, ..)| *own == kilobits).map(|(_, points, code)| (*points, code))?
        }
    };
    let decoded = code.bit_error_rate(raw_bit_error_rate(points, libm::pow(10.0, snr.0 / 10.0)));
    let bits = size.get() as f64 * 8.0;
    Some(-libm::expm1(bits * libm::log1p(-decoded)))
}

/// The share of bits on the air that are wrong. `snr`: as a ratio.
fn raw_bit_error_rate(points: u16, snr: f64) -> f64 {
    if points == 2 {
        return 0.5 * libm::erfc(libm::sqrt(snr));
    }
    let all = f64::from(points);
    let side = libm::sqrt(all);
    let share = (side - 1.0) / (side * 0.5 * libm::log2(all));
    // With four points: erfc(√(snr / 2)) / 2.
    share * libm::erfc(libm::sqrt(1.5 * snr / (all - 1.0)))
}

impl Code {
    /// The share of bits that are wrong when they are decoded, at most one half.
    fn bit_error_rate(&self, raw: f64) -> f64 {
        let distance = libm::sqrt(4.0 * raw * (1.0 - raw));
        let mut power = libm::pow(distance, f64::from(self.first));
        let step = libm::pow(distance, f64::from(self.step));
        let mut sum = 0.0;
        for weight in self.weights {
            sum += weight * power;
            power *= step;
        }
        (sum / (2.0 * self.period)).min(0.5)
    }
}

#[cfg(test)]
mod tests;
