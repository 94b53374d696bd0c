//! Settings that go from one value to another in steps.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::AboveZero;
use crate::keys::{MOST_TIMES, RAMP};
use crate::scalar::{duration_or_zero, probability_or_zero, quantity};
use crate::yaml::{Content, Node};
use netloom_link::{LossConfig, PipeChange, RateConfig};
use netloom_units::{Duration, Probability, Rate};

/// The steps of a ramp that does not say how long each takes.
const STEPS: u64 = 100;
/// What each of them takes at least.
const LEAST_STEP: Duration = Duration::from_millis(1);

/// The change at the beginning and those behind it, each with its time after the beginning. The last brings the last values.
pub(super) fn changes(node: &Node, errors: &mut Errors) -> Option<(PipeChange, Vec<(Duration, PipeChange)>)> {
    let before = errors.len();
    let fields = Fields::open(node, &RAMP, errors)?;
    let delay = pair(&fields, "delay", duration_or_zero, errors);
    let rate = pair(&fields, "rate", quantity::<Rate>, errors);
    let loss = pair(&fields, "loss", probability_or_zero, errors);
    let over = fields.form::<AboveZero<Duration>>("over", errors);
    let step = fields.form::<AboveZero<Duration>>("step", errors);
    if errors.len() > before {
        return None;
    }
    if delay.is_none() && rate.is_none() && loss.is_none() {
        return errors.reject(node.error("nothing changes: write for example `delay: [10 ms, 80 ms]`"));
    }
    let over = over?;
    let step = step.unwrap_or_else(|| LEAST_STEP.max(Duration::from_nanos(over.as_nanos() / STEPS)));
    let steps = over.as_nanos().div_ceil(step.as_nanos());
    if steps > MOST_TIMES {
        return errors
            .reject(node.error(format!("it has {steps} steps, more than {MOST_TIMES}: write a longer `step`")));
    }
    let at = |number: u64| {
        let passed = step.as_nanos().saturating_mul(number).min(over.as_nanos());
        let between = |ends: [u64; 2]| between(ends, passed, over.as_nanos());
        let change = PipeChange {
            delay: delay.map(|ends| Duration::from_nanos(between(ends.map(Duration::as_nanos))).into()),
            rate: rate.and_then(|ends| constant(between(ends.map(Rate::as_bits_per_second)))),
            loss: loss.and_then(|ends| independent(between(ends.map(Probability::as_parts_per_trillion)))),
            ..PipeChange::default()
        };
        (Duration::from_nanos(passed), change)
    };
    Some((at(0).1, (1..=steps).map(at).collect()))
}

/// The first and the last value.
fn pair<T>(
    fields: &Fields<'_>,
    key: &str,
    read: impl Fn(&Node) -> Result<T, Diagnostic>,
    errors: &mut Errors,
) -> Option<[T; 2]> {
    let node = fields.get(key)?;
    let Content::List(_) = &node.content else {
        return errors.reject(node.expected("the first and the last value, like `[10 ms, 80 ms]`"));
    };
    let values: Option<Vec<T>> = list(node, errors).iter().map(|value| keep(read(value), errors)).collect();
    let two = <[T; 2]>::try_from(values?).ok();
    if two.is_none() {
        errors.push(node.error("write two values, the first and the last"));
    }
    two
}

/// What lies between two numbers when so much of the whole has passed.
fn between([first, last]: [u64; 2], passed: u64, whole: u64) -> u64 {
    let (far, part) = (u128::from(first.abs_diff(last)), u128::from(passed));
    let gone = u64::try_from(far * part / u128::from(whole)).unwrap_or(u64::MAX);
    if first <= last { first.saturating_add(gone) } else { first.saturating_sub(gone) }
}

fn constant(bits_per_second: u64) -> Option<RateConfig> {
    Rate::from_bits_per_second(bits_per_second).map(RateConfig::Constant)
}

fn independent(parts: u64) -> Option<LossConfig> {
    let share = Probability::from_parts_per_trillion(parts)?;
    Some(if share.is_zero() { LossConfig::None } else { LossConfig::Independent(share) })
}
