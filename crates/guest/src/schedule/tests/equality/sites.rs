//! Labs of several sites, with links without delay or with some inside them, and between them links that have one.

use super::{Lab, configs, joined};
use crate::schedule::Device;
use crate::schedule::tests::script::Act;
use netloom_link::PipeConfig;
use netloom_units::Duration;
use proptest::collection::vec;
use proptest::prelude::*;

/// The machines of a lab: machine *n* is at site *n* mod 4.
pub(in crate::schedule::tests) const MACHINES: usize = 8;

/// Delays of links between sites, in the language of lab files.
const DELAYS: [&str; 4] = ["20 us", "300 us", "2 ms", "{kind: uniform, from: 10 us, to: 2 ms}"];

/// Other values of such a link.
const OTHERS: [(&str, &str); 4] =
    [("rate", "20 Mbit/s"), ("loss", "5 %"), ("queue", "3 packets"), ("duplicate", "10 %")];

fn change(key: &str, value: &str, config: &PipeConfig) -> PipeConfig {
    let change = netloom_lab::parse_change(key, value).unwrap_or_else(|error| panic!("{key}: {value}: {error}"));
    change.applied_to(config)
}

fn far() -> impl Strategy<Value = PipeConfig> {
    (0..DELAYS.len(), vec(0..OTHERS.len(), 0..2)).prop_map(|(delay, others)| {
        let config = others
            .into_iter()
            .fold(PipeConfig::default(), |config, other| change(OTHERS[other].0, OTHERS[other].1, &config));
        change("delay", DELAYS[delay], &config)
    })
}

/// Sites whose machines answer what reaches them, as the ends of a connection do, and wait for answers otherwise.
pub(in crate::schedule::tests) fn sites() -> impl Strategy<Value = Lab> {
    let near = (0..MACHINES / 4, 0..MACHINES / 4, configs(), configs(), Just(0));
    let near = (0..4_usize, near)
        .prop_map(|(site, (a, b, there, back, coalesce))| (site + 4 * a, site + 4 * b, there, back, coalesce));
    let far = (0..MACHINES, 0..MACHINES, far(), far(), prop_oneof![Just(0), 0..300_000_u64])
        .prop_filter("it leads to another site", |(a, b, ..)| a % 4 != b % 4);
    let act = (0..1_000_000_u64, 1..4_u16, any::<u32>())
        .prop_map(|(at, device, number)| (at, Act::Send(Device(device), number)));
    let node = (vec(act, 0..3), prop_oneof![3 => Just((0, 0)), 1 => (0..20_000_u64, 0..9_000_u64)]);
    (vec(near, 1..6), vec(far, 1..6), vec(node, MACHINES))
        .prop_map(|(near, far, machines)| joined(near.into_iter().chain(far).collect(), machines, converse))
}

/// Answers a frame, at once or later, until the numbers end; and passes some on.
fn converse(seed: u64, device: Device, number: u32) -> Vec<(Duration, Act)> {
    let mut mixed = (u64::from(number) << 20 ^ u64::from(device.0) << 8 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut draw = |below: u64| {
        mixed = mixed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (mixed >> 33) % below
    };
    if number.is_multiple_of(200) {
        return Vec::new();
    }
    let later = [0, 0, draw(1_000), draw(300_000)][draw(4) as usize];
    let other = Device(u16::try_from(1 + draw(3)).expect("small"));
    let out = if draw(3) == 0 { other } else { device };
    let mut acts = vec![(Duration::from_nanos(later), Act::Send(out, number - 1))];
    if draw(4) == 0 {
        acts.push((Duration::from_nanos(later + draw(3_000_000)), Act::Tick));
    }
    acts
}
