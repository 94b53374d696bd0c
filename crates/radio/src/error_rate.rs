//! Error models: how many frames get lost at a ratio of signal to noise.
//!
//! The curves go through points: the ratios at which 50, 10 and 1 % of frames with 1,458 bytes get lost over additive white Gaussian noise,
//! and the ratios for 10 % of frames with 32 bytes. Between and beyond the points, the normal quantile of the error rate is
//! a straight line over decibels. Source of the points: the tables of ns-3's default model, which are link simulations for TGax (11-14/0571,
//! Box 0), to a hundredth of a decibel; of DSSS the signal table that wmediumd has from the same source, to a whole one.
//! Differs from the source: curves of LDPC and of short frames have the shape of BCC with 1,458 bytes, moved to their points;
//! 9 Mbit/s have the curve of 18 Mbit/s with half the power. [`Coding::Nist`] has a closed form instead.

mod nist;

use crate::decibels::Decibels;
use crate::phy::Mode;
use netloom_units::{Bytes, Probability};

/// The code that corrects errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// Convolutional, which all standards have.
    #[default]
    Bcc,
    /// Low-density parity check, of n, ac and ax.
    Ldpc,
    /// Convolutional, in closed form in the place of tables: what ns-3 calls the NIST model. DSSS has its table all the same.
    Nist,
}

/// Standard normal quantiles of 50, 90 and 99 %, and of 96 %.
const QUANTILES: [f64; 3] = [0.0, 1.281_551_565_544_600_5, 2.326_347_874_040_841];
const QUANTILE_96: f64 = 1.750_686_071_252_17;

/// By MCS: decibels at which 50, 10 and 1 % of long frames get lost; BCC.
const LONG: [[f64; 3]; 10] = [
    [0.30, 0.92, 1.56],
    [3.30, 3.94, 4.60],
    [5.78, 6.43, 7.11],
    [8.92, 9.70, 10.48],
    [12.02, 12.80, 13.56],
    [16.22, 17.04, 17.98],
    [17.52, 18.38, 19.31],
    [18.80, 19.63, 20.50],
    [22.77, 23.71, 24.76],
    [24.26, 25.15, 26.16],
];
/// By MCS: decibels at which 10 % of short frames get lost; BCC.
const SHORT: [f64; 10] = [-0.36, 2.61, 5.10, 8.06, 11.28, 15.31, 16.61, 18.08, 21.73, 23.29];
/// By MCS: decibels at which 10 % of long frames get lost; LDPC.
const LDPC: [f64; 12] = [-0.62, 2.39, 4.86, 7.92, 10.93, 15.13, 16.48, 18.00, 21.68, 23.48, 26.80, 28.89];
/// Decibels at which 4 % of frames get lost, by kilobits per second of DSSS.
const DSSS: [(u64, f64); 4] = [(1_000, -2.0), (2_000, 0.0), (5_500, 0.0), (11_000, 3.0)];

/// The bytes of long and of short frames, and where the latter end.
const LONG_SIZE: f64 = 1_458.0;
const SHORT_SIZE: f64 = 32.0;
const SHORT_END: u64 = 400;
/// Half the power.
const HALF: f64 = 3.010_299_956_639_812;

/// A curve: the MCS whose shape it has, moved by so many decibels, for frames of so many bytes.
struct Curve {
    shape: usize,
    moved: f64,
    size: f64,
}

/// Returns the probability that a frame of this size cannot be decoded; none if no curve is known for the mode.
pub fn packet_error_rate(mode: Mode, coding: Coding, snr: Decibels, size: Bytes) -> Option<Probability> {
    if coding == Coding::Nist
        && let Some(rate) = nist::frame_error_rate(mode, snr, size)
    {
        return parts(rate);
    }
    let curve = match mode {
        Mode::Mcs { index, .. } => scheme(usize::from(index), coding, size)?,
        Mode::Legacy(rate) => legacy(rate.as_bits_per_second() / 1_000, size)?,
    };
    let whole = error_rate(LONG[curve.shape], snr.0 - curve.moved);
    let rate = 1.0 - libm::pow(1.0 - whole, size.get() as f64 / curve.size);
    parts(rate)
}

fn parts(rate: f64) -> Option<Probability> {
    Probability::from_parts_per_trillion((rate.clamp(0.0, 1.0) * 1e12) as u64)
}

/// Returns the highest MCS up to `highest` at which at most 10 % of frames with 1,458 bytes get lost, as an ideal rate control chooses it;
/// none if even MCS 0 loses more.
pub fn best_mcs(highest: u8, coding: Coding, snr: Decibels) -> Option<u8> {
    let is_enough = |index: &u8| {
        let place = usize::from(*index);
        match coding {
            Coding::Ldpc => LDPC.get(place).is_some_and(|needed| snr.0 >= *needed),
            Coding::Bcc => LONG.get(place).is_some_and(|points| snr.0 >= points[1]),
            Coding::Nist => {
                let lost = nist::frame_error_rate(Mode::mcs(*index), snr, Bytes::new(LONG_SIZE as u64));
                lost.is_some_and(|lost| lost <= 0.1)
            }
        }
    };
    (0..=highest).rev().find(is_enough)
}

fn scheme(index: usize, coding: Coding, size: Bytes) -> Option<Curve> {
    // No points of BCC are known for the two schemes with 1,024 points.
    let shape = index.min(LONG.len() - 1);
    let is_short = size.get() < SHORT_END;
    let (at_ten_percent, bytes) = match coding {
        Coding::Ldpc => (*LDPC.get(index)?, LONG_SIZE),
        Coding::Bcc | Coding::Nist if is_short => (*SHORT.get(index)?, SHORT_SIZE),
        Coding::Bcc | Coding::Nist => (LONG.get(index)?[1], LONG_SIZE),
    };
    Some(Curve { shape, moved: at_ten_percent - LONG[shape][1], size: bytes })
}

fn legacy(kilobits: u64, size: Bytes) -> Option<Curve> {
    const OFDM: [u64; 7] = [6_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000];
    if kilobits == 9_000 {
        let curve = scheme(2, Coding::Bcc, size)?;
        return Some(Curve { moved: curve.moved - HALF, ..curve });
    }
    if let Some(index) = OFDM.iter().position(|one| *one == kilobits) {
        return scheme(index, Coding::Bcc, size);
    }
    let (_, at_four_percent) = DSSS.iter().find(|(one, _)| *one == kilobits)?;
    // Of MCS 0, 4 % get lost here.
    let [_, ten, one] = LONG[0];
    let own = ten + (one - ten) * (QUANTILE_96 - QUANTILES[1]) / (QUANTILES[2] - QUANTILES[1]);
    Some(Curve { shape: 0, moved: at_four_percent - own, size: LONG_SIZE })
}

/// The error rate at `snr` on the curve through three points.
fn error_rate(points: [f64; 3], snr: f64) -> f64 {
    let first = if snr < points[1] { 0 } else { 1 };
    let slope = (QUANTILES[first + 1] - QUANTILES[first]) / (points[first + 1] - points[first]);
    let quantile = QUANTILES[first] + slope * (snr - points[first]);
    0.5 * libm::erfc(quantile * core::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_loss::{Metres, PathLoss, noise_floor};
    use alloc::vec::Vec;

    fn rate(mode: Mode, coding: Coding, snr: f64, size: u64) -> f64 {
        packet_error_rate(mode, coding, Decibels(snr), Bytes::new(size)).expect("there is a curve").as_f64()
    }

    #[test]
    fn curves_go_through_their_points() {
        for (index, points) in (0..).zip(LONG) {
            for (point, expected) in points.into_iter().zip([0.5, 0.1, 0.01]) {
                let found = rate(Mode::mcs(index), Coding::Bcc, point, 1_458);
                assert!(libm::fabs(found / expected - 1.0) < 1e-6, "MCS {index} at {point} dB: {found}");
            }
        }
        assert!(libm::fabs(rate(Mode::mcs(11), Coding::Ldpc, 28.89, 1_458) / 0.1 - 1.0) < 1e-6);
        assert!(libm::fabs(rate(Mode::mcs(4), Coding::Bcc, 11.28, 32) / 0.1 - 1.0) < 1e-6);
        assert!(libm::fabs(rate(Mode::kilobits(11_000), Coding::Bcc, 3.0, 1_458) / 0.04 - 1.0) < 1e-6);
        assert_eq!(packet_error_rate(Mode::mcs(10), Coding::Bcc, Decibels(40.0), Bytes::new(1_458)), None);
    }

    #[test]
    fn more_signal_loses_less_and_longer_frames_lose_more() {
        for index in 0..10 {
            let at = |tenths: i32, size| rate(Mode::mcs(index), Coding::Bcc, f64::from(tenths) / 10.0, size);
            let all: Vec<f64> = (-100..400).map(|tenths| at(tenths, 1_458)).collect();
            assert!(all.is_sorted_by(|one, next| one >= next) && all[0] > 0.999 && all[499] < 1e-9, "MCS {index}");
            assert!((-100..400).all(|tenths| at(tenths, 3_000) >= at(tenths, 1_000)));
        }
        // Two frames of a length get through as one of twice the length.
        let (once, twice) =
            (rate(Mode::mcs(7), Coding::Ldpc, 18.0, 1_458), rate(Mode::mcs(7), Coding::Ldpc, 18.0, 2_916));
        assert!(libm::fabs(twice - (1.0 - (1.0 - once) * (1.0 - once))) < 1e-9);
    }

    /// ns-3's example: 1 dBm over 50 m of free space at 5.18 GHz, 20 MHz, a noise figure of 7 dB. A ratio of 14.25 dB carries MCS 0 to 4.
    #[test]
    fn a_ratio_decides_on_the_scheme() {
        let loss = PathLoss::FreeSpace.loss(Metres(50.0), 5_180_000_000);
        let snr = Decibels(1.0) - loss - noise_floor(20_000_000, Decibels(7.0));
        assert!(libm::fabs(snr.0 - 14.25) < 0.03, "{}", snr.0);
        assert_eq!(best_mcs(9, Coding::Bcc, snr), Some(4));
        assert_eq!(best_mcs(11, Coding::Ldpc, Decibels(40.0)), Some(11));
        assert_eq!(best_mcs(11, Coding::Bcc, Decibels(-3.0)), None);
    }
}
