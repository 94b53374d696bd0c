//! Fading: how the power of a signal varies within wavelengths, as echoes add up or cancel out.
//!
//! A sum of sinusoids whose frequencies are those of echoes from all around a moving station (Jakes 1974; the form of Zheng and Xiao 2003,
//! equations 6 to 8), with a constant part beside it for a line of sight. Over pairs, the power is exponentially distributed
//! without a constant part (Rayleigh), and its amplitude after Rice with one. Two things change it: what is around moves, with a speed v, and the ends of
//! the pair do, which changes the phase of each echo by 2 π / λ times the way in its direction. So the correlation of the amplitude's parts after a time τ, in
//! which one end has moved by d against the other, is J0(2 π fd τ) J0(2 π d / λ), where the Doppler shift fd = v f / c (the product is that of Akki and
//! Haber 1986 for two ends that move apart from each other): a pair that moves with u against each other has a Doppler shift of u / λ, and whoever comes
//! back to a place finds the echoes of that place. With Nakagami's distribution (1960), the power is that of the gamma distribution with shape m and mean 1 which is as
//! rare as the power of the echoes is in theirs: it rises and falls as they do. It is a pure function of seed, places and instant: the order in which
//! anybody asks makes no difference.
//! Parameters: the power of the constant part over that of the echoes, K (3 to 10 dB); m (0.5 to 100; 1 is Rayleigh; ns-3 has 1.5 up to 80 m and
//! 0.75 beyond); the speed of what is around, in m/s. Echoes come from all directions of the map: going up or down changes nothing.

mod gamma;

use crate::decibels::Decibels;
use crate::path_loss::Metres;
use crate::position::Position;
use netloom_units::{Instant, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SINUSOIDS: usize = 16;
const TURN: f64 = 2.0 * core::f64::consts::PI;
const LIGHT: f64 = 299_792_458.0;
/// The cosines of 22.5, 45 and 67.5 degrees.
const PARTS: [f64; 3] = [0.923_879_532_511_286_7, core::f64::consts::FRAC_1_SQRT_2, 0.382_683_432_365_089_8];
/// The cosines of the directions of echoes, all around; the sine of each is the cosine a quarter of a turn before.
const COSINES: [f64; SINUSOIDS] = {
    let [a, b, c] = PARTS;
    [1.0, a, b, c, 0.0, -c, -b, -a, -1.0, -a, -b, -c, 0.0, c, b, a]
};

/// The distribution of a signal's power over places and times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FadingModel {
    /// Echoes alone.
    Rayleigh,
    /// A line of sight with so much more power than all echoes together.
    Rice(Decibels),
    /// Nakagami's distribution with this m: 0.5 for the deepest fades, 100 for hardly any.
    Nakagami(f64),
}

/// The fading between two stations.
#[derive(Clone, Debug)]
pub struct Fading {
    /// The ratio K.
    constant: f64,
    /// The shape of Nakagami's distribution.
    shape: Option<f64>,
    /// Radians per second of the fastest echo.
    doppler: f64,
    /// The angle by which the directions of all echoes are turned.
    angle: f64,
    /// The phases of both parts of the echoes, and of the constant part.
    phases: [f64; 3],
    /// The weights of the echoes, as angles.
    weights: [f64; SINUSOIDS],
    /// Radians per metre of way.
    wave_number: f64,
    /// The angle by which the directions on the map are turned.
    heading: f64,
}

/// The way on the map from one end of a pair to the other: to the east, and to the north.
pub(crate) fn apart(from: Position, to: Position) -> (Metres, Metres) {
    (Metres(to.x.0 - from.x.0), Metres(to.y.0 - from.y.0))
}

impl Fading {
    /// Creates the fading of a pair around which everything moves at so many metres per second, at so many hertz.
    pub fn new(model: FadingModel, metres_per_second: f64, hertz: u64, seed: Seed) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.get());
        let mut angle = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 * TURN;
        Self {
            constant: if let FadingModel::Rice(line_of_sight) = model { line_of_sight.ratio() } else { 0.0 },
            shape: if let FadingModel::Nakagami(shape) = model { Some(shape) } else { None },
            doppler: TURN * metres_per_second * hertz as f64 / LIGHT,
            angle: angle(),
            phases: core::array::from_fn(|_| angle()),
            weights: core::array::from_fn(|_| angle()),
            wave_number: TURN * hertz as f64 / LIGHT,
            heading: angle(),
        }
    }

    /// Returns the gain at an instant, which is 0 dB on average over powers; far below in a fade.
    ///
    /// `apart`: how far the second end of the pair is from the first, to the east and to the north.
    pub fn gain(&self, at: Instant, apart: (Metres, Metres)) -> Decibels {
        let (in_phase, quadrature) = self.echoes(at.as_nanos() as f64 / 1e9, apart);
        if let Some(shape) = self.shape {
            let echoes = in_phase * in_phase + quadrature * quadrature;
            return Decibels::of_ratio(gamma::as_rare(shape, echoes));
        }
        let scale = libm::sqrt(1.0 / (self.constant + 1.0));
        let sight = libm::sqrt(self.constant) * scale;
        let (real, imaginary) = (
            in_phase * scale + sight * libm::cos(self.phases[2]),
            quadrature * scale + sight * libm::sin(self.phases[2]),
        );
        Decibels::of_ratio(real * real + imaginary * imaginary)
    }

    /// Both parts of the echoes' sum, whose power is one on average.
    fn echoes(&self, seconds: f64, (east, north): (Metres, Metres)) -> (f64, f64) {
        let turned = self.doppler * seconds;
        let (cosine, sine) = (libm::cos(self.heading) * self.wave_number, libm::sin(self.heading) * self.wave_number);
        let ahead = (east.0 * cosine + north.0 * sine, north.0 * cosine - east.0 * sine);
        let (mut in_phase, mut quadrature) = (0.0, 0.0);
        for (number, weight) in (0_u8..).zip(self.weights) {
            let arrival =
                (TURN * (f64::from(number) + 0.5) + self.angle - core::f64::consts::PI) / (4.0 * SINUSOIDS as f64);
            let place = usize::from(number);
            let moved = ahead.0 * COSINES[place] + ahead.1 * COSINES[(place + SINUSOIDS * 3 / 4) % SINUSOIDS];
            in_phase += libm::cos(weight) * libm::cos(turned * libm::cos(arrival) + moved + self.phases[0]);
            quadrature += libm::sin(weight) * libm::cos(turned * libm::sin(arrival) + moved + self.phases[1]);
        }
        let scale = libm::sqrt(2.0 / SINUSOIDS as f64);
        (in_phase * scale, quadrature * scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Duration;

    const PAIRS: u64 = 4_000;
    const AT_ONE_PLACE: (Metres, Metres) = (Metres(0.0), Metres(0.0));

    fn pair(line_of_sight: Option<f64>, seed: u64) -> Fading {
        let model = line_of_sight.map_or(FadingModel::Rayleigh, |ratio| FadingModel::Rice(Decibels(ratio)));
        Fading::new(model, 1.5, 5_180_000_000, Seed::new(seed))
    }

    /// The mean of a gamma distribution is 1 here, and its variance 1 / m; with m = 1 it is that of Rayleigh, value by value.
    #[test]
    fn powers_of_nakagami_have_their_moments() {
        let nakagami = |shape, seed| Fading::new(FadingModel::Nakagami(shape), 1.5, 5_180_000_000, Seed::new(seed));
        let at = Instant::ZERO + Duration::from_millis(700);
        for (shape, within) in [(0.75, 0.12), (1.5, 0.08), (4.0, 0.06)] {
            let powers = (0..PAIRS).map(|seed| nakagami(shape, seed).gain(at, AT_ONE_PLACE).ratio());
            let mean = powers.clone().sum::<f64>() / PAIRS as f64;
            let variance = powers.map(|power| (power - mean) * (power - mean)).sum::<f64>() / PAIRS as f64;
            assert!(libm::fabs(mean - 1.0) < within / 2.0, "m = {shape}: mean {mean}");
            assert!(libm::fabs(variance * shape - 1.0) < within, "m = {shape}: variance {variance}");
        }
        for seed in 0..100 {
            let gain = |own: Fading| own.gain(at, AT_ONE_PLACE).ratio();
            let (found, expected) = (gain(nakagami(1.0, seed)), gain(pair(None, seed)));
            assert!(libm::fabs(found / expected - 1.0) < 1e-9, "{found} instead of {expected}");
        }
    }

    fn share(line_of_sight: Option<f64>, below: f64, at: Instant) -> f64 {
        let faded = (0..PAIRS).filter(|seed| pair(line_of_sight, *seed).gain(at, AT_ONE_PLACE).ratio() < below);
        faded.count() as f64 / PAIRS as f64
    }

    #[test]
    fn power_is_one_on_average() {
        for (line_of_sight, seconds) in [(None, 0), (None, 1_000), (Some(6.0), 7)] {
            let at = Instant::ZERO + Duration::from_secs(seconds);
            let gain = |seed| pair(line_of_sight, seed).gain(at, (Metres(80.0), Metres(seconds as f64))).ratio();
            let mean = (0..PAIRS).map(gain).sum::<f64>() / PAIRS as f64;
            assert!(libm::fabs(mean - 1.0) < 0.06, "{mean}");
        }
    }

    #[test]
    fn deep_fades_are_as_frequent_as_in_the_distribution() {
        let at = Instant::ZERO + Duration::from_secs(3);
        for below in [0.1, 0.5, 1.0, 2.0] {
            let (found, expected) = (share(None, below, at), 1.0 - libm::exp(-below));
            assert!(libm::fabs(found - expected) < 0.03, "{found} instead of {expected}");
        }
        // With a line of sight of 10 dB, fades of 10 dB are rare.
        assert!(share(Some(10.0), 0.1, at) < 0.01);
    }

    /// The correlation of the parts of the amplitude after so many microseconds and so many millimetres in a direction.
    fn correlation(micros: u32, millimetres: u32, direction: f64) -> f64 {
        let way = f64::from(millimetres) / 1e3;
        let (here, there) = (
            (Metres(30.0), Metres(-7.0)),
            (Metres(30.0 + way * libm::cos(direction)), Metres(way * libm::sin(direction) - 7.0)),
        );
        let product = |seed| {
            let own = pair(None, seed);
            let ((a, b), (c, d)) = (own.echoes(2.0, here), own.echoes(2.0 + f64::from(micros) / 1e6, there));
            a * c + b * d
        };
        (0..PAIRS).map(product).sum::<f64>() / PAIRS as f64
    }

    /// The Doppler shift of what is around is 25.918 Hz, and the wavelength 57.875 mm.
    #[test]
    fn correlation_is_the_bessel_function() {
        let cases = [0_u32, 2_000, 5_000, 10_000, 20_000].map(|micros| (micros, 0));
        let moved = [5_u32, 10, 22, 35, 60, 100, 500].map(|millimetres| (0, millimetres));
        let both = [(5_000, 10), (2_000, 5), (10_000, 60)];
        for (micros, millimetres) in cases.into_iter().chain(moved).chain(both) {
            let of_time = libm::j0(TURN * 25.918 * f64::from(micros) / 1e6);
            let expected = of_time * libm::j0(TURN * f64::from(millimetres) / 57.875);
            for direction in [0.4, 4.0] {
                let found = correlation(micros, millimetres, direction);
                let off = libm::fabs(found - expected);
                assert!(off < 0.06, "{micros} us, {millimetres} mm: {found} instead of {expected}");
            }
        }
    }
}
