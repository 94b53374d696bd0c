//! Runs fuzz targets: a property, and generators of inputs that are nearly right.
//!
//! A target is a test whose name begins with `fuzz_`. As a part of the suite it tries a fixed number of inputs, the same in
//! every run. With `NETLOOM_FUZZ_SECONDS` it tries others for so long (`make fuzz`). What it finds is made as small as it
//! can be, and printed with the seed that finds it again: `NETLOOM_FUZZ_SEED`.
//!
//! An input fails that makes its target panic, that takes a minute, or that takes gigabytes of memory.

mod quiet;
mod text;
mod watchdog;

pub use text::{labs, mutated, numbers};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use watchdog::Watchdog;

/// Inputs of a round when a target runs by the clock.
const ROUND: u32 = 256;
/// The seed of the inputs that the suite tries.
const USUAL_SEED: u64 = 7;

/// Tries `property` with `inputs`: so many, unless the environment says otherwise. A property that fails panics.
///
/// # Panics
/// With the smallest input that was found for which `property` panics.
pub fn fuzz<S: Strategy>(name: &str, count: u32, inputs: &S, property: impl Fn(S::Value)) {
    let watchdog = Watchdog::start(name);
    let is_again = number("NETLOOM_FUZZ_SEED").is_some();
    let round = |seed, cases| {
        let config = Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(seed), ..Config::default() };
        watchdog.begin_round(seed);
        let (result, place) = quiet::quietly(|| {
            TestRunner::new(config).run(inputs, |input| {
                watchdog.begin_input(is_again.then(|| format!("{input:#?}")));
                property(input);
                Ok(())
            })
        });
        match result {
            Ok(()) => {}
            Err(TestError::Fail(why, input)) => {
                panic!("{name}: {why} ({place})\nNETLOOM_FUZZ_SEED={seed} finds it again\nthe input: {input:#?}")
            }
            Err(TestError::Abort(why)) => panic!("{name}: no more inputs: {why}"),
        }
    };
    match (number("NETLOOM_FUZZ_SEED"), number("NETLOOM_FUZZ_SECONDS")) {
        (None, None) => round(USUAL_SEED, count),
        (Some(seed), None) => round(seed, ROUND.max(count)),
        (seed, Some(seconds)) => {
            let end = Instant::now() + Duration::from_secs(seconds);
            let mut seed = seed.unwrap_or_else(any_seed);
            let mut rounds = 0;
            while Instant::now() < end {
                round(seed, ROUND);
                seed = seed.wrapping_add(1);
                rounds += 1;
            }
            println!("{name}: {rounds} rounds of {ROUND} inputs");
        }
    }
}

/// Another one in each run.
fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs() << 20
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, not a number")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::any;

    #[test]
    fn what_fails_is_made_small_and_told_with_its_seed() {
        let found = std::panic::catch_unwind(|| {
            fuzz("numbers", 10_000, &any::<u32>(), |number| assert!(number < 1_000, "{number} is large"));
        });
        let said = *found.expect_err("a number").downcast::<String>().expect("words");
        assert!(said.contains("1000 is large") && said.contains("NETLOOM_FUZZ_SEED="), "{said}");
        fuzz("numbers", 10_000, &(0..1_000_u32), |number| assert!(number < 1_000));
    }
}
