//! Random combinations of all models, described as in lab files. One of them names a file, as seen from the folder of a crate.

use crate::loads::{Load, Transport};
use netloom_link::{PipeChange, PipeConfig};
use proptest::collection::vec;
use proptest::prelude::*;

/// The keys and values of a direction: each model in a form that does something within the few milliseconds of a case.
pub const MODELS: &[(&str, &[&str])] = &[
    (
        "rate",
        &[
            "unlimited",
            "10 Mbit/s",
            "7 Gbit/s",
            "{kind: token-bucket, rate: 50 Mbit/s, burst: 4542 B}",
            "{kind: token-bucket, rate: 5 Mbit/s, burst: 64 kB, peak: 1 Gbit/s}",
            "{kind: delivery-trace, file: ../lab/tests/files/three.trace}",
            "{kind: slots, every: {kind: uniform, from: 100 us, to: 1 ms}, packets: 3}",
            "{kind: slots, every: 400 us, bytes: 4 kB, rate: 100 Mbit/s}",
        ],
    ),
    (
        "delay",
        &[
            "0",
            "3 ms",
            "{kind: uniform, from: 0, to: 5 ms}",
            "{kind: exponential, shift: 1 ms, mean: 1 ms, correlation: 80 %}",
            "{kind: normal, mean: 2 ms, deviation: 500 us, order: free}",
            "{kind: gamma, shape: 0.7, scale: 1 ms, correlation: -50 %, order: free}",
        ],
    ),
    (
        "queue",
        &[
            "0 packets",
            "5 packets",
            "{kind: fifo, limit: 5 kB, drop: head}",
            "1 ms",
            "{kind: red, limit: 20 packets, min: 2 packets, max: 10 packets, weight: 20 %, ecn: true}",
            "{kind: codel, target: 100 us, interval: 1 ms, limit: 30 packets}",
            "{kind: pie, target: 1 ms, update: 1 ms, burst: 0, limit: 30 packets}",
            "{kind: dualpi2, limit: 50 packets, target: 1 ms, update: 1 ms}",
            "{kind: fq_codel, limit: 20 packets, target: 100 us, interval: 1 ms, flows: 4}",
            "{kind: drr, quantum: 500 B, flows: 8, limit: 20 packets}",
            "{kind: wf2q, classes: {web: {match: {protocol: tcp}, weight: 3}, rest: {limit: 5 packets}}}",
            "{kind: priority, classes: {web: {match: {protocol: udp}}, rest: {limit: 5 kB}}}",
        ],
    ),
    (
        "loss",
        &[
            "0",
            "10 %",
            "{kind: bit-error, rate: 1e-5}",
            "{kind: gilbert, share: 10 %, burst: 3 packets}",
            "{kind: markov, p13: 10 %, p31: 30 %, p32: 20 %, p23: 60 %, p14: 5 %}",
            "{kind: every, n: 7}",
            "{kind: correlated, probability: 20 %, correlation: 50 %}",
        ],
    ),
    ("corrupt", &["0", "10 %"]),
    ("duplicate", &["0", "10 %", "{probability: 10 %, correlation: 50 %}"]),
    ("reorder", &["0", "10 %", "{probability: 50 %, by: 1 ms, gap: 2}"]),
    ("overhead", &["none", "ethernet", "atm"]),
    (
        "schedule",
        &[
            "none",
            "{steps: [{at: 0, rate: 10 Mbit/s}, {at: 2 ms, rate: 100 Mbit/s, delay: 1 ms, loss: 5 %}, {at: 5 ms}], \
             repeat: true}",
            "{steps: [{at: 0, rate: 1 Mbit/s, delay: 3 ms}, {at: 10 ms, rate: 1 Gbit/s, delay: 0}], \
             interpolation: linear}",
        ],
    ),
    (
        "state",
        &[
            "none",
            "{on_cut: lost, flap: {up: 3 ms, down: 1 ms}}",
            "{flap: {up: {mean: 2 ms}, down: {mean: 1 ms}, start: 1 ms}}",
        ],
    ),
    (
        "cross",
        &[
            "none",
            "[{kind: constant, rate: 5 Mbit/s, size: 700 B}]",
            "[{kind: poisson, rate: 8 Mbit/s, size: imix, stop: 8 ms}, {kind: on-off, rate: 2 Mbit/s, size: 64 B, on: 1 ms, \
             off: 1 ms}]",
        ],
    ),
];

/// Reads a model as a lab file has it.
///
/// # Panics
/// If it is none.
pub fn change(key: &str, value: &str) -> PipeChange {
    netloom_lab::parse_change(key, value).unwrap_or_else(|error| panic!("{key}: {value}: {error}"))
}

/// Draws one model in one of its forms.
pub fn changes() -> impl Strategy<Value = PipeChange> {
    (0..MODELS.len(), any::<prop::sample::Index>()).prop_map(|(model, form)| {
        let (key, forms) = MODELS[model];
        change(key, forms[form.index(forms.len())])
    })
}

/// Draws some models; a schedule comes without a queue that has no single limit.
pub fn configs() -> impl Strategy<Value = PipeConfig> {
    vec(changes(), 0..7)
        .prop_map(|changes| changes.iter().fold(PipeConfig::default(), |config, change| change.applied_to(&config)))
}

/// Draws a packet or a train.
pub fn loads() -> impl Strategy<Value = Load> {
    let transport = prop_oneof![Just(Transport::Tcp), Just(Transport::Udp)];
    let train =
        (transport, 1..12_usize, 1..1_448_usize, 0..1_448_usize).prop_map(|(transport, full, payload, last)| {
            Load::Train { transport, full, payload, last: last.min(payload - 1) }
        });
    prop_oneof![(28..1_500_usize).prop_map(Load::Plain), train]
}
