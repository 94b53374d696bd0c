//! The sample session of the dummynet paper (Rizzo, "Dummynet: a simple approach to the evaluation of network
//! protocols", 1997, section 2.4 and figure 5), with the window-limited sender in the place of ncftp.
//!
//! The session: 1 MB (1,048,576 bytes) over the loopback interface with an MTU of 576 bytes and "a 16KB window". Figure
//! 4a: there is a pipe on the way out of TCP and another on the way in, data and acknowledgements share both, and
//! "buffering and delays occur twice". `netloom sim` has no such loop, since the directions of its links are apart;
//! this test builds it of two pipes that both ways cross one after the other.
//!
//! What the paper does not say and is derived: a packet's headers are 60 bytes, IPv4 20, TCP 20, timestamps 12 (RFC
//! 1323, with padding) and connection count 8 (RFC 1644, with padding), since "the TCP header (including RFC1323 and
//! RFC1644 extensions) consumes a portion of the bandwidth"; the segment is then 576 - 60 = 516 bytes. Every second
//! segment is acknowledged, as 4.4BSD does (RFC 1122, section 4.2.3.2). "200 KB/s" is 200,000 bytes per second. ncftp's
//! K/s are 1,024 bytes per second: 1,048,576 bytes in 6.17 s are 169,947 B/s, printed as 166.10 K/s.

use netloom_fabric::{PipeSpec, PortId};
use netloom_lab::{Sends, WindowConfig};
use netloom_link::{PipeConfig, QueueConfig};
use netloom_sim::{FlowSpec, Hop, Network, SourceOutcome};
use netloom_units::{Bytes, Duration, Limit, Rate, Seed};
use std::net::Ipv4Addr;

const KIB: f64 = 1_024.0;

fn session(delay_ms: u64, queue: u32) -> SourceOutcome {
    let config = PipeConfig {
        rate: Rate::from_bits_per_second(1_600_000).into(),
        delay: Duration::from_millis(delay_ms).into(),
        queue: QueueConfig::DropTail(Limit::Packets(queue)),
        ..PipeConfig::default()
    };
    let pipe = |name: &str, from| PipeSpec {
        name: name.into(),
        config: config.clone(),
        coalesce: Duration::ZERO,
        from: PortId(from),
        filter: None,
        medium: Vec::new(),
        to: PortId(from + 1),
    };
    let way = vec![Hop { entry: PortId(0), exit: PortId(1) }, Hop { entry: PortId(2), exit: PortId(3) }];
    let flow = FlowSpec {
        name: "ftp".into(),
        sends: Sends::Window(WindowConfig {
            window: Bytes::new(16_384),
            segment: Bytes::new(516),
            headers: Bytes::new(60),
            amount: Some(Bytes::new(1_048_576)),
            acknowledge: 2,
            timeout: Duration::from_secs(1),
            start: Duration::ZERO,
            stop: None,
        }),
        path: way.clone(),
        back: way,
        addresses: [Ipv4Addr::new(127, 0, 0, 1); 2],
    };
    let network =
        Network::new(Seed::new(1), &[pipe("out", 0), pipe("in", 2)], vec![flow]).expect("it can be simulated");
    let outcome = network.run(Duration::from_secs(60), Duration::from_secs(1), &mut |_| ()).expect("time passes");
    let source = outcome.sources.into_iter().next().expect("the only source");
    assert_eq!(source.useful_bytes, 1_048_576);
    source
}

/// ncftp's figure: KiB per second.
fn kib_per_second(source: &SourceOutcome) -> f64 {
    source.goodput_bits_per_second() / 8.0 / KIB
}

/// "The second experiment limits the bandwidth to 200KB/s": 166.10 K/s. "In the third experiment a short propagation
/// delay is introduced, which has negligible effect": 165.01 K/s. The paper's own two figures differ by 0.7 %.
#[test]
fn the_channel_is_shared_by_data_and_acknowledgements() {
    for (delay_ms, paper) in [(0, 166.10), (1, 165.01)] {
        let measured = kib_per_second(&session(delay_ms, 1_000));
        assert!((measured / paper - 1.0).abs() < 0.01, "{delay_ms} ms: {measured} K/s against {paper} K/s");
    }
}

/// "Increasing the delay to 50 ms (making the RTT 200 ms) causes the connection to be limited by the window size (roughly
/// one window per RTT or 80 KB/s, with various overheads and the cost of slow start reducing the throughput even
/// further)": 65.96 K/s. Our sender has the overheads and no slow start, and so stands between the two figures.
#[test]
fn a_long_delay_makes_the_window_the_limit() {
    let source = session(50, 1_000);
    let measured = kib_per_second(&source);
    assert!((65.96..80_000.0 / KIB).contains(&measured), "{measured} K/s");
    // 31 segments fit into 16 KB. A round trip is 4 * 50 ms, twice 2.88 ms for a segment and twice 0.3 ms for an
    // acknowledgement, and another 2.88 ms since every second segment is acknowledged.
    let expected = 31.0 * 516.0 / 0.209_24 / KIB;
    assert!((measured / expected - 1.0).abs() < 0.03, "{measured} K/s against {expected} K/s");
}

/// "The next two experiments are run with very limited queue sizes: here, frequent overflows occur". How much they cost
/// is TCP's doing (36.56 and 94.09 K/s), which our sender does not imitate; that they occur, and cost throughput, shows.
#[test]
fn a_short_queue_overflows() {
    for (delay_ms, without) in [(50, session(50, 1_000)), (1, session(1, 1_000))] {
        let source = session(delay_ms, 7);
        assert!(source.resent_packets > 0, "{delay_ms} ms: nothing was lost");
        assert!(kib_per_second(&source) < kib_per_second(&without), "{delay_ms} ms");
    }
}
