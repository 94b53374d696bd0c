//! The gamma distribution: its incomplete function, and powers that are as rare in it as others are in the exponential one.
//!
//! Source: NIST's Digital Library of Mathematical Functions, 8.11.4 (the series) and 8.9.2 (the continued fraction, here by the recurrence of Lentz
//! in the form of Thompson and Barnett 1986). All functions are those of `libm`, and the number of steps follows from the arguments, so that the bits
//! are the same on every machine.

/// The least power of the exponential distribution that is looked at: -300 dB.
const LEAST: f64 = 1e-30;
/// Steps after which nothing changes any more: the series and the fraction need about 60 for the shapes and powers that occur.
const TERMS: u32 = 500;
const STEPS: u32 = 100;
/// The smallest change of a sum that counts, and of a logarithm.
const NEGLIGIBLE: f64 = 1e-16;
const EXACT: f64 = 1e-13;

/// Returns the power of the gamma distribution with this shape and mean 1 that is as rare as a power of the exponential distribution with mean 1.
pub(super) fn as_rare(shape: f64, power: f64) -> f64 {
    let power = power.max(LEAST);
    // The logarithm of the odds of being below: that of e^p - 1, which is p to all digits far above one.
    let wanted = if power > 40.0 { power } else { libm::log(libm::expm1(power)) };
    let (mut low, mut high) = (-800.0, 12.0);
    let mut log = libm::log(shape);
    for _ in 0..STEPS {
        let (odds, slope) = log_odds(shape, libm::exp(log), log);
        let off = odds - wanted;
        if off > 0.0 {
            high = log;
        } else {
            low = log;
        }
        let next = log - off / slope;
        // Outside of what is still possible, Newton's step is left for half of the rest.
        let next = if next > low && next < high { next } else { low + (high - low) / 2.0 };
        let is_done = libm::fabs(next - log) < EXACT;
        log = next;
        if is_done {
            break;
        }
    }
    libm::exp(log) / shape
}

/// The logarithm of the odds of being below a value of the gamma distribution with scale 1, and its slope over the value's logarithm.
fn log_odds(shape: f64, value: f64, log: f64) -> (f64, f64) {
    let front = shape * log - value - libm::lgamma(shape);
    let (below, above) = if value < shape + 1.0 {
        let below = front + libm::log(series(shape, value));
        (below, libm::log1p(-libm::exp(below)))
    } else {
        let above = front + libm::log(fraction(shape, value));
        (libm::log1p(-libm::exp(above)), above)
    };
    (below - above, libm::exp(front - below) + libm::exp(front - above))
}

/// The sum over n of x^n / (a (a + 1) … (a + n)).
fn series(shape: f64, value: f64) -> f64 {
    let mut term = 1.0 / shape;
    let mut sum = term;
    for number in 1..TERMS {
        term *= value / (shape + f64::from(number));
        sum += term;
        if term < sum * NEGLIGIBLE {
            break;
        }
    }
    sum
}

/// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - …))).
fn fraction(shape: f64, value: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let kept = |number: f64| if libm::fabs(number) < TINY { TINY } else { number };
    let mut start = value + 1.0 - shape;
    let mut upper = 1.0 / TINY;
    let mut lower = 1.0 / kept(start);
    let mut found = lower;
    for number in 1..TERMS {
        let number = f64::from(number);
        let factor = -number * (number - shape);
        start += 2.0;
        lower = 1.0 / kept(factor * lower + start);
        upper = kept(start + factor / upper);
        let step = lower * upper;
        found *= step;
        if libm::fabs(step - 1.0) < NEGLIGIBLE {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_one_is_the_exponential_distribution() {
        for power in [1e-30, 1e-12, 1e-3, 0.5, 1.0, 1.9, 2.1, 10.0, 39.9, 40.1, 64.0] {
            let found = as_rare(1.0, power);
            assert!(libm::fabs(found / power - 1.0) < 1e-9, "{found} instead of {power}");
        }
    }

    /// With m = 1/2 the power is the square of a normal number, and with m = 2 it is below x with 1 - (1 + 2 x) exp(-2 x).
    #[test]
    fn other_shapes_are_as_rare_as_their_distributions_say() {
        for power in [1e-6, 0.01, 0.3, 1.0, 3.0, 9.0, 30.0] {
            let (below, above) = (-libm::expm1(-power), libm::exp(-power));
            let half = as_rare(0.5, power);
            let expected = libm::erfc(libm::sqrt(half / 2.0));
            assert!(libm::fabs(expected / above - 1.0) < 1e-9, "{power}: {expected} instead of {above}");
            let two = as_rare(2.0, power);
            let rest = (1.0 + 2.0 * two) * libm::exp(-2.0 * two);
            assert!(libm::fabs(rest / above - 1.0) < 1e-9, "{power}: {rest} instead of {above}");
            assert!(libm::fabs((1.0 - rest) / below - 1.0) < 1e-4, "{power}: {} instead of {below}", 1.0 - rest);
        }
    }

    #[test]
    fn all_shapes_and_powers_have_an_answer() {
        for shape in [0.5, 0.75, 1.5, 3.0, 10.0, 50.0, 100.0] {
            let powers = (0..=308).map(|step| as_rare(shape, libm::pow(10.0, f64::from(step) / 10.0 - 29.0)));
            assert!(powers.is_sorted_by(|one, other| one.is_finite() && one < other), "m = {shape}");
        }
    }
}
